//! The advice of the validation layer: its general one, and that for GPUs of AMD, Arm, Imagination and NVIDIA.
//!
//! Frames with either way of skinning and of uploading get no advice but that of [`LEFT`]. Debian's layer 1.3.239 crashes when
//! it advises. So the test needs a current layer, that of `setup.sh --drivers`, and runs in a step of `.ci/run`.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::sync::Arc;

use ash::vk;
use throng::extras::{DebugView, Show};
use throng::renderer::{RendererSettings, Skinning, UploadPath};
use throng::vulkan::instance::{Instance, InstanceOptions};

use crate::common::gpu::{TestDevice, list_gpu_tests};
use crate::common::scene::{self, Shown};
use crate::gpu::loader::{P, VALIDATION_LAYER, above_validation, layer_has_settings, next, replacements};

list_gpu_tests![the_layer_has_no_other_advice [ignored if !layer_has_settings()]];

/// The advice that the program does not take, and why.
const LEFT: [&str; 5] = [
    // The shaders environment_*.comp have the sky as push constants, 20 words. They run only when the sky changes.
    "BestPractices-AMD-CreatePipelinesLayout-KeepLayoutSmall",
    // The layer reads the start of the memory as indices, but the buffer shares the memory and starts later. So it finds indices
    // that are sparse, or that miss the cache, in numbers that mean nothing.
    ARM_INDICES,
    // gpu-allocator has no priorities, and each frame needs nearly all of the memory.
    "BestPractices-NVIDIA-AllocateMemory-SetPriority",
    // Reversed depth is exact at all distances in floats alone, and these formats have 32 bits.
    "BestPractices-NVIDIA-CreateImage-Depth32Format",
    // The layer takes all frames before a presentation for one, and nothing is presented here. No frame gets it alone.
    SORT_AND_BIND,
];
const SORT_AND_BIND: &str = "BestPractices-Pipeline-SortAndBind";
/// The start of two ids.
const ARM_INDICES: &str = "BestPractices-Arm-vkCmdDrawIndexed";

fn the_layer_has_no_other_advice(device: &TestDevice) {
    let compute = RendererSettings { upload: Some(UploadPath::Direct), ..RendererSettings::default() };
    let vertex = RendererSettings { skinning: Skinning::Vertex, upload: Some(UploadPath::Staged), ..compute };
    let steady = [(compute, DebugView::Lit), (vertex, DebugView::Lit), (compute, DebugView::Weights)];
    let messages: Vec<_> = steady.into_iter().flat_map(|(settings, view)| advice(device, settings, view, 3)).collect();
    let ids: BTreeSet<&str> = messages.iter().map(|message| id(message)).collect();
    assert!(ids == BTreeSet::from(LEFT), "{ids:#?}\n{}", messages.join("\n\n"));
    let of_one_frame = advice(device, compute, DebugView::Lit, 1);
    assert!(of_one_frame.iter().all(|message| id(message) != SORT_AND_BIND), "{}", of_one_frame.join("\n\n"));
}

fn advice(device: &TestDevice, settings: RendererSettings, view: DebugView, frames: u32) -> Vec<String> {
    let options = InstanceOptions { validation: true, surface_extensions: &[] };
    let instance = Instance::with_entry(above_validation(replacement), options).expect("an instance");
    let messages = Arc::clone(&instance.validation_messages);
    let device = device.open_on(&instance).expect("a device");
    let options = "--size 320x180 --instances 30 --clip all";
    let Shown { mut scene, mut renderer } = Shown::new(&device, &scene::models(), options, settings);
    scene.show = Show { view, bones: true, ..Show::default() };
    for frame in 0..frames {
        scene.draw(&mut renderer, f64::from(frame), true).expect("a frame");
    }
    renderer.wait_for_pixels().expect("pixels");
    drop((renderer, device, instance));
    messages.all()
}

/// Returns the id of a message about best practices, or another message as it is.
fn id(message: &str) -> &str {
    let Some(start) = message.find("BestPractices-") else { return message };
    let id = &message[start..];
    if id.starts_with(ARM_INDICES) {
        return ARM_INDICES;
    }
    &id[..id.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(id.len())]
}

const SETTINGS: [&CStr; 5] = [
    c"validate_best_practices",
    c"validate_best_practices_amd",
    c"validate_best_practices_arm",
    c"validate_best_practices_img",
    c"validate_best_practices_nvidia",
];

replacements! {
    |next|
    vkCreateInstance(info: *const vk::InstanceCreateInfo<'_>, allocator: P, made: P) -> vk::Result {
        let on = vk::TRUE.to_ne_bytes();
        let settings = SETTINGS.map(|name| {
            let mut setting = vk::LayerSettingEXT::default()
                .layer_name(VALIDATION_LAYER)
                .setting_name(name)
                .ty(vk::LayerSettingTypeEXT::BOOL32)
                .values(&on);
            // ash counts bytes, Vulkan counts values.
            setting.value_count = 1;
            setting
        });
        let mut settings = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
        // The create info enables the extension.
        next(&(*info).push_next(&mut settings), allocator, made)
    }
}
