//! The errors of the Vulkan layer. They name objects, calls and figures; the program adds advice about its own options.
//!
//! Each function that returns a [`Result`] may run out of memory or lose the device. An `# Errors` section names other reasons.

use ash::vk;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no Vulkan loader was found ({0})")]
    Loader(String),
    #[error("{call} failed{}: {result}{}", of(.object), hint(*.result))]
    Call {
        /// The C name of the function.
        call: &'static str,
        /// The debug name of the object that was being made or used. Empty if it has none.
        object: String,
        result: vk::Result,
    },
    #[error("the validation layer VK_LAYER_KHRONOS_validation is not installed")]
    MissingValidationLayer,
    /// No device can run the program. Each line tells why one device cannot.
    #[error("no Vulkan device can run this program: {}", if .0.is_empty() { "there is none".to_owned() } else { .0.join("; ") })]
    NoSuitableDevice(Vec<String>),
    #[error("no Vulkan device matches '{wanted}'; there are: {}", .available.join(", "))]
    NoSuchDevice {
        wanted: String,
        /// Index and name of each device.
        available: Vec<String>,
    },
    /// Device memory ran out, or no memory type fits.
    #[error("no memory for {name} ({size_bytes} bytes): {reason}")]
    Allocation { name: String, size_bytes: u64, reason: String },
    #[error("{what} takes {size_bytes} bytes, but the device's {limit} is {limit_bytes}")]
    OverLimit {
        what: String,
        size_bytes: u64,
        /// The C name of the limit.
        limit: &'static str,
        limit_bytes: u64,
    },
}

impl Error {
    /// Refuses an object that is larger than a limit of the device. The limit has its C name.
    pub(crate) fn check_size(what: &str, size_bytes: u64, (limit, limit_bytes): (&'static str, u64)) -> Result<()> {
        match size_bytes <= limit_bytes {
            true => Ok(()),
            false => Err(Self::OverLimit { what: what.to_owned(), size_bytes, limit, limit_bytes }),
        }
    }

    pub(super) fn allocation(name: &str, size_bytes: u64, error: &gpu_allocator::AllocationError) -> Self {
        Self::Allocation { name: name.to_owned(), size_bytes, reason: error.to_string() }
    }

    /// Returns the failure of a call that concerns no named object.
    pub(super) fn call(call: &'static str, result: vk::Result) -> Self {
        Self::Call { call, object: String::new(), result }
    }
}

fn of(object: &str) -> String {
    if object.is_empty() { String::new() } else { format!(" for '{object}'") }
}

fn hint(result: vk::Result) -> &'static str {
    match result {
        vk::Result::ERROR_DEVICE_LOST => {
            " (the GPU stopped answering: another program, the driver or a too long frame may be the cause; start again)"
        }
        _ => "",
    }
}

/// Adds the name of the call to a Vulkan result.
pub trait Context<T>: Sized {
    /// Adds `call`, the C name of the function.
    fn context(self, call: &'static str) -> Result<T> {
        self.context_for(call, "")
    }

    /// Adds `call`, and the debug name of the object that the call makes or uses.
    fn context_for(self, call: &'static str, object: &str) -> Result<T>;
}

impl<T> Context<T> for Result<T, vk::Result> {
    fn context_for(self, call: &'static str, object: &str) -> Result<T> {
        self.map_err(|result| Error::Call { call, object: object.to_owned(), result })
    }
}
