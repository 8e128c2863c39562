//! What a user can do about an error. The layers below name objects and figures; the advice names options of the command line.

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
            (most, Resource::Palette) => {
                format!("about {most} visible --instances fit, or more with --share-poses HZ")
            }
            (most, Resource::Instances) => format!("about {most} visible --instances fit"),
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

pub fn vulkan_error(error: &anyhow::Error) -> Option<&vulkan::Error> {
    match error.downcast_ref() {
        Some(renderer::Error::Vulkan(error)) => Some(error),
        _ => error.downcast_ref(),
    }
}

fn advice_of_vulkan(error: &vulkan::Error) -> Option<String> {
    use vulkan::Error::{Allocation, Call, Loader, MissingValidationLayer, NoSuchDevice, NoSuitableDevice, OverLimit};
    let advice = match error {
        Loader(_) => return Some(how_to_install(DRIVER)),
        MissingValidationLayer => return Some(format!("leave out --validation, or {}", how_to_install(LAYERS))),
        NoSuitableDevice(obstacles) if obstacles.is_empty() => return Some(how_to_install(DRIVER)),
        NoSuitableDevice(_) => {
            "update the driver, or the system that it comes with: Mesa's drivers have Vulkan 1.3 since version 22"
        }
        Allocation { .. } | OverLimit { .. } => LESS,
        Call { result: vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY, .. } => LESS,
        Call { result: vk::Result::ERROR_INITIALIZATION_FAILED | vk::Result::ERROR_INCOMPATIBLE_DRIVER, .. } => {
            return Some(format!("there may be no usable driver; {}", how_to_install(DRIVER)));
        }
        Call { .. } | NoSuchDevice { .. } => return None,
    };
    Some(advice.to_owned())
}

/// What can be missing, as a word and as packages in the order of [`MANAGERS`].
type Missing = (&'static str, [&'static str; MANAGERS.len()]);

/// The names of systems in `/etc/os-release`, and the command that installs packages there.
const MANAGERS: [(&[&str], &str); 4] = [
    (&["debian", "ubuntu"], "sudo apt install"),
    (&["fedora", "rhel"], "sudo dnf install"),
    (&["arch"], "sudo pacman -S"),
    (&["suse"], "sudo zypper install"),
];
/// The loader, and drivers for GPUs and for none.
pub const DRIVER: Missing = (
    "a Vulkan driver",
    [
        "libvulkan1 mesa-vulkan-drivers",
        "vulkan-loader mesa-vulkan-drivers",
        "vulkan-icd-loader vulkan-swrast",
        "libvulkan1 libvulkan_lvp",
    ],
);
pub const LAYERS: Missing = (
    "the Vulkan validation layers",
    ["vulkan-validationlayers", "vulkan-validation-layers", "vulkan-validation-layers", "vulkan-validationlayers"],
);
/// What the window opens at run time.
pub const WINDOW: Missing = (
    "the libraries of the window",
    [
        "libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2 libxkbcommon-x11-0 libwayland-client0",
        "libX11 libX11-xcb libXcursor libXi libXrandr libxkbcommon-x11 libwayland-client",
        "libx11 libxcursor libxi libxrandr libxkbcommon-x11 wayland",
        "libX11-6 libX11-xcb1 libXcursor1 libXi6 libXrandr2 libxkbcommon-x11-0 libwayland-client0",
    ],
);

pub fn how_to_install(missing: Missing) -> String {
    let os_release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    installation_on(&os_release, missing)
}

/// The same for a system that describes itself by the text of `/etc/os-release`.
pub fn installation_on(os_release: &str, (what, packages): Missing) -> String {
    let values = ["ID=", "ID_LIKE="]
        .into_iter()
        .flat_map(|key| os_release.lines().filter_map(move |line| line.strip_prefix(key)));
    let names: Vec<&str> = values.flat_map(|value| value.trim_matches(['"', '\'']).split(' ')).collect();
    let is_here = |(systems, _): &(&[&str], &str)| names.iter().any(|name| systems.contains(name));
    match MANAGERS.iter().position(is_here) {
        Some(at) => format!("install {what}: {} {}", MANAGERS[at].1, packages[at]),
        None => format!("install {what}"),
    }
}

/// Returns an error in one line, with its causes and the advice.
pub fn in_one_line(error: &anyhow::Error) -> String {
    advice(error).map_or_else(|| format!("{error:#}"), |advice| format!("{error:#}; {advice}"))
}
