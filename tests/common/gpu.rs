//! Runs GPU tests on each device of a list, under full validation, with a gate: any message of the layer, from the
//! creation of the instance to its destruction, fails the test.
//!
//! In: the functions that [`gpu_tests`] lists. Out: a test for each of them and for each device. Its name starts with the
//! device: `[llvmpipe (LLVM 15.0.6, 256 bits)] gpu::golden::walker`. The list of devices is the environment variable
//! [`DEVICES_VARIABLE`], or else the best device and, if it is installed, Mesa's lavapipe.
//!
//! The standard harness knows its tests at compile time, and devices are known at run time. So these test binaries use the
//! crate libtest-mimic, which has the same options and filters. It cannot capture what tests print, so they print figures
//! with [`note!`]. A test that is missing in its list is dead code, which clippy refuses.
//!
//! A test declares [`Gpu`] first, so it is dropped last, after every renderer and resource. Its drop destroys the
//! device and the instance, because those calls report leaks, and then reads the messages. `tests/gpu/validation.rs`
//! proves that the gate can fail.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use throng::vulkan::device::Device;
use throng::vulkan::error::Result;
use throng::vulkan::instance::{Instance, InstanceOptions, ValidationMessages, prepare_validation};
use throng::vulkan::physical_device::PhysicalDevice;

/// Indices or parts of names of devices, as `--device` takes them, separated by commas.
const DEVICES_VARIABLE: &str = "THRONG_TEST_DEVICES";

/// A device of this machine.
#[derive(Debug)]
pub struct TestDevice {
    index: usize,
    pub name: String,
}

impl TestDevice {
    /// Returns the value of `--device` that means this device and no other.
    pub fn selector(&self) -> String {
        self.index.to_string()
    }

    /// Opens the device, with or without validation.
    pub fn open(&self, validation: bool) -> Arc<Device> {
        let instance = Instance::new(InstanceOptions { validation, surface_extensions: &[] }).expect("an instance");
        let physical = PhysicalDevice::choose(&instance, Some(&self.selector()), None).expect("the device of the test");
        Device::new(&instance, physical, false).expect("a logical device")
    }
}

/// A device under validation. Dropping it fails the test if there was a message.
pub struct Gpu {
    /// `None` after [`Self::close`].
    device: Option<Arc<Device>>,
    messages: Arc<ValidationMessages>,
}

impl Gpu {
    pub fn new(device: &TestDevice) -> Self {
        let device = device.open(true);
        let messages = Arc::clone(device.instance().validation_messages());
        Self { device: Some(device), messages }
    }

    pub fn device(&self) -> &Arc<Device> {
        self.device.as_ref().expect("present until it is closed")
    }

    /// Destroys the device and the instance. Returns what is wrong: all messages, or resources that outlive the device.
    pub fn close(&mut self) -> std::result::Result<(), String> {
        let Some(device) = self.device.take() else { return Ok(()) };
        let instance = Arc::clone(device.instance());
        let device_users = Arc::strong_count(&device) - 1;
        drop(device);
        let instance_users = Arc::strong_count(&instance) - 1;
        drop(instance);
        let messages = self.messages.all();
        if !messages.is_empty() {
            return Err(format!("{} validation message(s):\n{}", messages.len(), messages.join("\n\n")));
        }
        if device_users + instance_users > 0 {
            let users = format!("{device_users} resources outlive the device's owner");
            return Err(format!("{users}: declare `Gpu` before what is made with it"));
        }
        Ok(())
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        let Err(problem) = self.close() else { return };
        // A second panic would end the process and hide the first.
        if std::thread::panicking() {
            eprintln!("{problem}");
        } else {
            panic!("{problem}");
        }
    }
}

/// A test of the list, which runs on each device.
pub struct Test {
    pub name: String,
    /// Whether it runs only with `--ignored` or `--include-ignored`.
    pub is_ignored: bool,
    pub run: Arc<dyn Fn(&TestDevice) + Send + Sync>,
}

/// Lists the tests of a binary. `[ignored if CONDITION]` after a test has the effect of `#[ignore]`.
macro_rules! gpu_tests {
    ($($test:path $([ignored if $condition:expr])?),* $(,)?) => {
        vec![$($crate::common::gpu::Test {
            name: concat!(module_path!(), "::", stringify!($test)).to_owned(),
            is_ignored: false $(|| $condition)?,
            run: std::sync::Arc::new($test),
        }),*]
    };
}
pub(crate) use gpu_tests;

/// Prints a figure with `--nocapture`.
macro_rules! note {
    ($($format:tt)*) => {
        if $crate::common::gpu::is_verbose() {
            println!($($format)*);
        }
    };
}
pub(crate) use note;

/// Returns whether the user wants to see figures.
pub fn is_verbose() -> bool {
    std::env::args().any(|argument| argument == "--nocapture")
}

/// Runs the tests that the arguments of the process choose, several at a time.
pub fn run(tests: Vec<Test>) -> ExitCode {
    run_with(&Arguments::from_args(), tests)
}

/// Runs one test at a time, for tests that measure the whole process.
pub fn run_one_at_a_time(tests: Vec<Test>) -> ExitCode {
    run_with(&Arguments { test_threads: Some(1), ..Arguments::from_args() }, tests)
}

fn run_with(arguments: &Arguments, tests: Vec<Test>) -> ExitCode {
    // SAFETY: this is the only thread.
    unsafe { prepare_validation() };
    let devices = match devices() {
        Ok(devices) => devices,
        Err(error) => {
            eprintln!("no device for the tests ({DEVICES_VARIABLE}): {error}");
            return ExitCode::FAILURE;
        }
    };
    let trials = tests.iter().flat_map(|test| devices.iter().map(|device| trial(test, device)));
    libtest_mimic::run(arguments, trials.collect()).exit_code()
}

/// Returns a trial that runs in a separate thread, as in the standard harness: a scene makes its thread a part of a pool.
fn trial(test: &Test, device: &Arc<TestDevice>) -> Trial {
    // Without the name of the test binary, as in the standard harness.
    let name = test.name.split_once("::").map_or(&*test.name, |(_, path)| path);
    let thread = std::thread::Builder::new().name(name.to_owned());
    let (run, shared) = (Arc::clone(&test.run), Arc::clone(device));
    let in_thread = move || match thread.spawn(move || run(&shared))?.join() {
        Ok(()) => Ok(()),
        Err(panic) => std::panic::resume_unwind(panic),
    };
    Trial::test(name, in_thread).with_kind(&device.name).with_ignored_flag(test.is_ignored)
}

/// Returns the devices to test on, each once.
///
/// # Errors
/// There is no driver, or no device has one of the names. The error lists the installed devices.
fn devices() -> Result<Vec<Arc<TestDevice>>> {
    let instance = Instance::new(InstanceOptions::default())?;
    let choose = |wanted: Option<&str>| PhysicalDevice::choose(&instance, wanted, None);
    let chosen: Vec<PhysicalDevice> = match std::env::var(DEVICES_VARIABLE) {
        Ok(list) => list.split(',').map(|wanted| choose(Some(wanted.trim()))).collect::<Result<_>>()?,
        Err(_) => [choose(None)?].into_iter().chain(choose(Some("llvmpipe")).ok()).collect(),
    };
    let mut devices: Vec<Arc<TestDevice>> = Vec::new();
    for PhysicalDevice { index, name, .. } in chosen {
        if devices.iter().all(|device| device.index != index) {
            devices.push(Arc::new(TestDevice { index, name }));
        }
    }
    Ok(devices)
}
