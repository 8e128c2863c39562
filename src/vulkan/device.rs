//! The logical device: one queue, the memory allocator, object names, and a count of all created objects.
//!
//! Every resource of this layer holds an `Arc<Device>` and destroys itself on drop. Dropping a resource that the GPU may still
//! use is an error of the owner: nothing here waits. `renderer::Renderer` waits once, in its own drop.

use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::{ext, vk};
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc};
use gpu_allocator::{AllocatorDebugSettings, MemoryLocation};

use super::error::{Context, Error, Result};
use super::instance::Instance;
use super::physical_device::PhysicalDevice;

pub struct Device {
    pub raw: ash::Device,
    pub physical: PhysicalDevice,
    /// The functions of `VK_EXT_debug_utils`, or `None` if the extension is not enabled.
    pub(super) debug_utils: Option<ext::debug_utils::Device>,
    queue: Mutex<vk::Queue>,
    allocator: ManuallyDrop<Mutex<Allocator>>,
    created: AtomicU64,
    allocated_bytes: AtomicU64,
    pub instance: Arc<Instance>,
}

impl Device {
    /// Creates the device. It enables dynamic rendering, synchronization2, timeline semaphores, demotion to helper invocations
    /// and push constants without a value, which Vulkan 1.3 requires, and anisotropy if the device has it. `present` adds the swapchain extension,
    /// and fences of presentation if the device has them.
    pub fn new(instance: &Arc<Instance>, physical: PhysicalDevice, present: bool) -> Result<Arc<Self>> {
        let Some(queue_family) = physical.queue_family else {
            return Err(Error::NoSuitableDevice(vec![physical.name]));
        };
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(queue_family).queue_priorities(&[1.0])];
        let extensions: Vec<_> = physical.wanted_extensions(present).into_iter().map(std::ffi::CStr::as_ptr).collect();
        let mut vulkan12 =
            vk::PhysicalDeviceVulkan12Features::default().timeline_semaphore(true).separate_depth_stencil_layouts(true);
        let mut vulkan13 = vk::PhysicalDeviceVulkan13Features::default()
            .synchronization2(true)
            .dynamic_rendering(true)
            .maintenance4(true)
            .shader_demote_to_helper_invocation(true);
        let optional = vk::PhysicalDeviceFeatures::default()
            .sampler_anisotropy(physical.sampler_anisotropy)
            .fill_mode_non_solid(physical.fill_mode_non_solid);
        let mut features =
            vk::PhysicalDeviceFeatures2::default().features(optional).push_next(&mut vulkan12).push_next(&mut vulkan13);
        let mut info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut features);
        let mut present_fences =
            vk::PhysicalDeviceSwapchainMaintenance1FeaturesEXT::default().swapchain_maintenance1(true);
        if present && physical.has_present_fences {
            info = info.push_next(&mut present_fences);
        }
        // SAFETY: `info` and all that it points to live until the call returns.
        let raw = unsafe { instance.raw.create_device(physical.raw, &info, None) }.context("vkCreateDevice")?;
        // SAFETY: the family was in the create info with one queue.
        let queue = unsafe { raw.get_device_queue(queue_family, 0) };
        // The allocator does not log.
        let mut debug_settings = AllocatorDebugSettings::default();
        debug_settings.log_leaks_on_shutdown = false;
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.raw.clone(),
            device: raw.clone(),
            physical_device: physical.raw,
            debug_settings,
            buffer_device_address: false,
            allocation_sizes: gpu_allocator::AllocationSizes::default(),
        });
        let allocator = match allocator {
            Ok(allocator) => allocator,
            Err(error) => {
                // SAFETY: nothing was made from the device yet.
                unsafe { raw.destroy_device(None) };
                return Err(Error::allocation("the allocator", 0, &error));
            }
        };
        let debug_utils = instance.has_debug_utils.then(|| ext::debug_utils::Device::new(&instance.raw, &raw));
        Ok(Arc::new(Self {
            raw,
            queue: Mutex::new(queue),
            physical,
            debug_utils,
            allocator: ManuallyDrop::new(Mutex::new(allocator)),
            created: AtomicU64::new(0),
            allocated_bytes: AtomicU64::new(0),
            instance: Arc::clone(instance),
        }))
    }

    /// Locks and returns the one queue, for graphics, compute, transfer and presentation. Vulkan allows one thread at a time.
    pub fn queue(&self) -> MutexGuard<'_, vk::Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.physical.properties.limits
    }

    /// Returns the number of Vulkan objects and memory allocations created so far. A steady frame does not change it.
    pub fn created_count(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    /// Returns the size of the device memory in use by buffers and images.
    pub fn allocated_bytes(&self) -> u64 {
        self.allocated_bytes.load(Ordering::Relaxed)
    }

    /// Counts a created object and names it for captures and validation messages.
    pub(super) fn register<H: vk::Handle>(&self, handle: H, name: &str) {
        self.created.fetch_add(1, Ordering::Relaxed);
        if let Ok(name) = std::ffi::CString::new(name) {
            self.set_name(vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&name));
        }
    }

    /// Removes the name of an object that is not destroyed by a call of its own.
    pub(super) fn remove_name<H: vk::Handle>(&self, handle: H) {
        self.set_name(vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle));
    }

    fn set_name(&self, info: vk::DebugUtilsObjectNameInfoEXT) {
        if let Some(debug_utils) = &self.debug_utils {
            // SAFETY: the handle is alive and belongs to this device. A failure only loses the name.
            let _ = unsafe { debug_utils.set_debug_utils_object_name(&info) };
        }
    }

    pub(super) fn allocate(
        self: &Arc<Self>,
        name: &str,
        requirements: vk::MemoryRequirements,
        location: MemoryLocation,
        linear: bool,
    ) -> Result<Memory> {
        // gpu-allocator does not check this limit.
        let limit = ("maxMemoryAllocationSize", self.physical.max_allocation_bytes);
        Error::check_size(name, requirements.size, limit)?;
        let allocation = self
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .allocate(&AllocationCreateDesc {
                name,
                requirements,
                location,
                linear,
                allocation_scheme: AllocationScheme::GpuAllocatorManaged,
            })
            .map_err(|error| Error::allocation(name, requirements.size, &error))?;
        self.created.fetch_add(1, Ordering::Relaxed);
        self.allocated_bytes.fetch_add(allocation.size(), Ordering::Relaxed);
        Ok(Memory { allocation, device: Arc::clone(self) })
    }

    pub fn wait_idle(&self) -> Result<()> {
        let _queue = self.queue();
        // SAFETY: the guard keeps others from the queue.
        unsafe { self.raw.device_wait_idle() }.context("vkDeviceWaitIdle")
    }
}

/// The memory of a resource, which is freed on drop: after the resource.
pub(super) struct Memory {
    pub allocation: Allocation,
    device: Arc<Device>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        let allocation = std::mem::take(&mut self.allocation);
        self.device.allocated_bytes.fetch_sub(allocation.size(), Ordering::Relaxed);
        // Freeing fails only for an allocation of another allocator, which the types exclude.
        let _ = self.device.allocator.lock().unwrap_or_else(PoisonError::into_inner).free(allocation);
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: every resource holds an `Arc` of this device, so none is left. The allocator is dropped before the device
        // and not used again.
        unsafe {
            ManuallyDrop::drop(&mut self.allocator);
            self.raw.destroy_device(None);
        }
    }
}
