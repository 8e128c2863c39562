//! What a user can do about an error. The layers below name objects and figures in their own language; the advice names
//! the options of the command line.

use ash::vk;

use crate::crowd::PlanError;
use crate::renderer::memory::{Resource, TooLarge};
use crate::renderer::{self, Setting};
use crate::vulkan;

/// Takes less of everything that a frame needs.
const LESS: &str = "fewer --instances or a smaller --size take less";

/// Returns the advice for an error, or `None` if its text is enough.
pub fn advice(error: &anyhow::Error) -> Option<String> {
    use renderer::Error::{Image, NoSkinnedVertices, Plan, StreamOverLimit, Unsupported, Vulkan};
    if let Some(TooLarge(forecast)) = error.downcast_ref() {
        return Some(match (forecast.fitting_instances, forecast.resource) {
            (0, _) => "a smaller --size or --msaa 1 takes less".to_owned(),
            (most, Resource::DeviceMemory) => {
                format!("about {most} visible --instances fit; --share-poses HZ or --skinning vertex takes less")
            }
            (most, Resource::StorageRange) => {
                format!("about {most} visible --instances fit, or more with --share-poses HZ")
            }
            (most, Resource::BufferSize) => format!("about {most} visible --instances fit"),
        });
    }
    let advice = match error.downcast_ref() {
        Some(Plan(PlanError::PoseLargerThanPage { .. })) => "use a model with fewer vertices, or --skinning vertex",
        Some(Plan(PlanError::TooManyElements)) => "use fewer --instances, or --share-poses HZ",
        Some(StreamOverLimit { instances, size_bytes, limit_bytes, .. }) => {
            let fitting = u128::from(*instances) * u128::from(*limit_bytes) / u128::from(*size_bytes).max(1);
            return Some(format!("at most {fitting} visible --instances fit, or more with --share-poses HZ"));
        }
        Some(Unsupported { setting: Setting::ImageSize(_), .. }) => "use another --size",
        Some(Unsupported { setting: Setting::Samples(_), .. }) => "use another --msaa",
        Some(Unsupported { setting: Setting::View(_), .. }) => "use another --debug-view",
        Some(NoSkinnedVertices(_)) => "use --skinning compute, or another --debug-view",
        Some(Image { .. }) => return None,
        Some(Vulkan(_)) | None => return vulkan_error(error).and_then(advice_of_vulkan),
    };
    Some(advice.to_owned())
}

/// Returns the failure of Vulkan, if it is one.
pub fn vulkan_error(error: &anyhow::Error) -> Option<&vulkan::Error> {
    match error.downcast_ref() {
        Some(renderer::Error::Vulkan(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

fn advice_of_vulkan(error: &vulkan::Error) -> Option<String> {
    use vulkan::Error::{Allocation, Call, Loader, MissingValidationLayer, NoSuchDevice, NoSuitableDevice, OverLimit};
    let advice = match error {
        Loader(_) => "install a Vulkan driver (on Linux: ./setup.sh)",
        MissingValidationLayer => {
            "install the Vulkan validation layers (on Linux: ./setup.sh), or leave out --validation"
        }
        NoSuitableDevice(obstacles) if obstacles.is_empty() => {
            "install a driver (on Linux, ./setup.sh installs Mesa's software driver)"
        }
        Allocation { .. } | OverLimit { .. } => LESS,
        Call { result: vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY, .. } => LESS,
        Call { result: vk::Result::ERROR_INITIALIZATION_FAILED | vk::Result::ERROR_INCOMPATIBLE_DRIVER, .. } => {
            "there may be no usable driver; on Linux, ./setup.sh installs Mesa's software driver"
        }
        Call { .. } | NoSuitableDevice(_) | NoSuchDevice { .. } => return None,
    };
    Some(advice.to_owned())
}

/// Returns an error in one line, with its causes and the advice.
pub fn in_one_line(error: &anyhow::Error) -> String {
    advice(error).map_or_else(|| format!("{error:#}"), |advice| format!("{error:#}; {advice}"))
}
