//! Vulkan objects that are destroyed with their owners.

use std::sync::Arc;

use ash::vk;

use super::device::Device;

type Destroy<H> = unsafe fn(&ash::Device, H, Option<&vk::AllocationCallbacks<'_>>);

/// One object of a device, which is destroyed on drop. Fields are dropped in order, so an object comes before what it needs.
pub(super) struct Owned<H: vk::Handle + Copy> {
    pub raw: H,
    pub device: Arc<Device>,
    destroy: Destroy<H>,
}

impl<H: vk::Handle + Copy> Owned<H> {
    /// Takes over an object, counts it and names it.
    ///
    /// # Safety
    /// `raw` was made from this device. `destroy` destroys it, and nothing else does.
    pub unsafe fn new(device: &Arc<Device>, name: &str, raw: H, destroy: Destroy<H>) -> Self {
        device.register(raw, name);
        Self { raw, device: Arc::clone(device), destroy }
    }
}

impl<H: vk::Handle + Copy> Drop for Owned<H> {
    fn drop(&mut self) {
        // SAFETY: the owner no longer uses the object, nor does the GPU (see `Device`).
        unsafe { (self.destroy)(&self.device.raw, self.raw, None) };
    }
}
