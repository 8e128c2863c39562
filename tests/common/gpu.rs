//! Runs GPU tests on each device of a list, under full validation, with a gate: any message of the layer, from the
//! creation of the instance to its destruction, fails the test.
//!
//! In: the functions that [`gpu_tests`] lists. Out: a test for each of them and for each device. Its name starts with the
//! device: `[llvmpipe (LLVM 15.0.6, 256 bits)] gpu::golden::walker`. The list of devices is the environment variable
//! [`DEVICES_VARIABLE`], or else the best device and, if it is installed, Mesa's lavapipe.
//!
//! The standard harness knows its tests at compile time, and devices are known at run time. So this test binary uses the
//! crate libtest-mimic, which has the same options and filters. It cannot capture what tests print, so they print figures
//! with [`note!`]. A test that is missing in its list is dead code, which clippy refuses.
//!
//! A test has its [`Gpu`] as an argument, so it is dropped after every renderer and resource. Its drop destroys device and
//! instance, because those calls report leaks, and then reads the messages. `tests/gpu/validation.rs` proves that it can fail.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use throng::vulkan::device::Device;
use throng::vulkan::error::Result;
use throng::vulkan::instance::{Instance, InstanceOptions, ValidationMessages, prepare_validation};
use throng::vulkan::physical_device::PhysicalDevice;

/// Indices or parts of names of devices, as `--device` takes them, separated by commas.
const DEVICES_VARIABLE: &str = "THRONG_TEST_DEVICES";
/// Set in a process that belongs to one test. In a debugger, set it by hand.
const OWN_PROCESS_VARIABLE: &str = "THRONG_TEST_OWN_PROCESS";

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

    pub fn open(&self, validation: bool) -> Arc<Device> {
        let instance = Instance::new(InstanceOptions { validation, surface_extensions: &[] }).expect("an instance");
        self.open_on(&instance).expect("the device of the test")
    }

    pub fn open_on(&self, instance: &Arc<Instance>) -> Result<Arc<Device>> {
        let physical = PhysicalDevice::choose(instance, Some(&self.selector()), None)?;
        Device::new(instance, physical, false)
    }
}

/// A device under validation. Dropping it fails the test if there was a message.
pub struct Gpu {
    /// `None` after [`Self::close`].
    device: Option<Arc<Device>>,
    messages: Arc<ValidationMessages>,
}

impl From<&TestDevice> for Gpu {
    fn from(device: &TestDevice) -> Self {
        Self::with_device(device.open(true))
    }
}

impl Gpu {
    /// Puts a device under the gate. Its instance validates.
    pub fn with_device(device: Arc<Device>) -> Self {
        let messages = Arc::clone(&device.instance.validation_messages);
        Self { device: Some(device), messages }
    }

    pub fn device(&self) -> &Arc<Device> {
        self.device.as_ref().expect("present until it is closed")
    }

    /// Destroys the device and the instance. Returns what is wrong: all messages, or resources that outlive the device.
    pub fn close(&mut self) -> std::result::Result<(), String> {
        let Some(device) = self.device.take() else { return Ok(()) };
        let instance = Arc::clone(&device.instance);
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
            return Err(format!("{users}: it is dropped before what is made with it"));
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

type Variable = (&'static str, &'static str);

pub struct Test {
    pub name: String,
    /// Whether it runs only with `--ignored` or `--include-ignored`.
    pub is_ignored: bool,
    /// The variables of the test's own process. If there are any, they name a driver, whose first device takes the place of
    /// the list. `None`: the test shares a process with others.
    pub own_process: Option<Vec<Variable>>,
    pub run: Arc<dyn Fn(&TestDevice) + Send + Sync>,
}

impl Test {
    fn has_own_driver(&self) -> bool {
        self.own_process.as_ref().is_some_and(|variables| !variables.is_empty())
    }
}

/// Gives each test a process of its own, because it measures the whole process or needs these variables.
pub fn in_own_processes(variables: &[Variable], tests: Vec<Test>) -> Vec<Test> {
    tests.into_iter().map(|test| Test { own_process: Some(variables.to_vec()), ..test }).collect()
}

/// Lists tests, which take a `&TestDevice` or a `Gpu`. `[ignored if CONDITION]` after a test has the effect of `#[ignore]`.
macro_rules! gpu_tests {
    ($($test:path $([ignored if $condition:expr])?),* $(,)?) => {
        vec![$($crate::common::gpu::Test {
            name: concat!(module_path!(), "::", stringify!($test)).to_owned(),
            is_ignored: false $(|| $condition)?,
            own_process: None,
            run: std::sync::Arc::new(|device: &$crate::common::gpu::TestDevice| $test(device.into())),
        }),*]
    };
}
pub(crate) use gpu_tests;

/// Defines the function `tests`, which lists the tests of a module as [`gpu_tests`] does.
macro_rules! list_gpu_tests {
    ($($list:tt)*) => {
        pub fn tests() -> Vec<$crate::common::gpu::Test> {
            $crate::common::gpu::gpu_tests![$($list)*]
        }
    };
}
pub(crate) use list_gpu_tests;

/// Prints a figure with `--nocapture`.
macro_rules! note {
    ($($format:tt)*) => {
        if $crate::common::gpu::is_verbose() {
            println!($($format)*);
        }
    };
}
pub(crate) use note;

pub fn is_verbose() -> bool {
    std::env::args().any(|argument| argument == "--nocapture")
}

/// Runs the tests that the arguments of the process choose, several at a time.
pub fn run(tests: Vec<Test>) -> ExitCode {
    // SAFETY: this is the only thread.
    unsafe { prepare_validation() };
    let devices = match devices() {
        Ok(devices) => devices,
        Err(error) => {
            eprintln!("no device for the tests ({DEVICES_VARIABLE}): {error}");
            return ExitCode::FAILURE;
        }
    };
    let trials = tests.iter().flat_map(|test| {
        let count = if test.has_own_driver() { 1 } else { devices.len() };
        devices.iter().take(count).map(|device| trial(test, device))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// Returns a trial in its own process, or in its own thread, because a scene makes its thread a part of a pool.
fn trial(test: &Test, device: &Arc<TestDevice>) -> Trial {
    // Without the name of the test binary, as in the standard harness.
    let name = test.name.split_once("::").map_or(&*test.name, |(_, path)| path).to_owned();
    let (run, shared, thread_name) = (Arc::clone(&test.run), Arc::clone(device), name.clone());
    let own_process = test.own_process.clone().filter(|_| std::env::var_os(OWN_PROCESS_VARIABLE).is_none());
    let trial = Trial::test(name, move || match own_process {
        Some(variables) => Ok(run_in_process(&thread_name, &shared, variables)?),
        None => match std::thread::Builder::new().name(thread_name).spawn(move || run(&shared))?.join() {
            Ok(()) => Ok(()),
            Err(panic) => std::panic::resume_unwind(panic),
        },
    });
    let kind = if test.has_own_driver() { "" } else { &*device.name };
    trial.with_kind(kind).with_ignored_flag(test.is_ignored)
}

fn run_in_process(name: &str, device: &TestDevice, variables: Vec<Variable>) -> std::result::Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = std::process::Command::new(program);
    command.args(["--exact", name, "--include-ignored"]).args(is_verbose().then_some("--nocapture"));
    let selector = if variables.is_empty() { device.selector() } else { "0".to_owned() };
    command.env(OWN_PROCESS_VARIABLE, "1").env(DEVICES_VARIABLE, selector).envs(variables);
    let ended = command.output().map_err(|error| error.to_string())?;
    let [said, errors] = [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    note!("{said}");
    if ended.status.success() { Ok(()) } else { Err(format!("{}\n{said}{errors}", ended.status)) }
}

/// Returns the devices to test on, each once. An error lists the installed devices.
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
