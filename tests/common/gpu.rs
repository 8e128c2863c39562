//! A Vulkan device under full validation, with a gate: any message of the layer, from the creation of the instance to
//! its destruction, fails the test.
//!
//! A test declares [`Gpu`] first, so it is dropped last, after every renderer and resource. Its drop destroys the
//! device and the instance, because those calls report leaks. Then it reads the messages, which outlive both. A missing
//! driver or layer fails the test in [`Gpu::new`].
//!
//! `tests/gpu_validation.rs` proves that the gate can fail.

use std::sync::{Arc, Once};

use throng::vulkan::device::Device;
use throng::vulkan::instance::{Instance, InstanceOptions, ValidationMessages, prepare_validation};
use throng::vulkan::physical_device::PhysicalDevice;

/// The best device of this machine, under validation. Dropping it fails the test if there was a message.
pub struct Gpu {
    device: Option<Arc<Device>>,
    messages: Arc<ValidationMessages>,
}

impl Gpu {
    pub fn new() -> Self {
        let device = device(true);
        let messages = Arc::clone(device.instance().validation_messages());
        Self { device: Some(device), messages }
    }

    pub fn device(&self) -> &Arc<Device> {
        self.device.as_ref().expect("present until the drop")
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        let leaked = self.device.take().and_then(|device| {
            let instance = Arc::clone(device.instance());
            let users = Arc::strong_count(&device) - 1;
            drop(device);
            let instance_users = Arc::strong_count(&instance) - 1;
            (users + instance_users > 0).then_some(users)
        });
        let messages = self.messages.all();
        // A second panic would end the process and hide the first.
        if std::thread::panicking() {
            messages.iter().for_each(|message| eprintln!("validation: {message}"));
            return;
        }
        assert_eq!(leaked, None, "resources outlive the device's owner: declare `Gpu` before what is made with it");
        assert!(messages.is_empty(), "{} validation message(s):\n{}", messages.len(), messages.join("\n\n"));
    }
}

/// Creates the best device, with or without validation.
pub fn device(validation: bool) -> Arc<Device> {
    static PREPARED: Once = Once::new();
    // SAFETY: other threads of a test access the environment through `std::env`; those of drivers do not exist yet.
    PREPARED.call_once(|| unsafe { prepare_validation() });
    let instance = Instance::new(InstanceOptions { validation, surface_extensions: &[] }).expect("an instance");
    let physical = PhysicalDevice::choose(&instance, None, None).expect("a device that can run the program");
    Device::new(&instance, physical, false).expect("a logical device")
}
