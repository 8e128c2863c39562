//! Devices that Vulkan runs on by translation, like Apple's, lack features that Vulkan requires elsewhere
//! (VK_KHR_portability_subset). The driver claims such a subset below the validation layer ([`claims`]), which then reports
//! every use of a missing feature. The current layer (1.4.330) reports none of them, but Debian's 1.3.239 does.

use ash::vk;
use throng::extras::{DebugView, Show};
use throng::renderer::output::attachments::DEPTH_FORMAT;
use throng::renderer::{RendererSettings, Shadows, Skinning};
use throng::vulkan::pipeline::{GraphicsPipelineInfo, PipelineBuilder, PipelineLayout};
use throng::vulkan::spirv;

use crate::common::assets;
use crate::common::gpu::{Gpu, TestDevice, list_gpu_tests};
use crate::common::scene::Shown;
use crate::gpu::loader::claims::{self, Claims, Portability};
use crate::gpu::loader::layer_has_settings;

list_gpu_tests![
    no_model_needs_more_than_the_portability_subset [ignored if layer_has_settings() || cfg!(not(sample_models))],
    missing_features_are_seen [ignored if layer_has_settings()],
];

fn open(device: &TestDevice, portability: Portability) -> Gpu {
    claims::open(device, Claims { portability: Some(portability), ..Claims::NONE }).expect("a device")
}

/// One renderer draws all models, and builds the pipelines of two views. The others differ from the first in constants.
fn no_model_needs_more_than_the_portability_subset(device: &TestDevice) {
    let models = assets::samples();
    for portability in [Portability::MoltenVk, Portability::NoFeatures] {
        let gpu = open(device, portability);
        assert!(gpu.device().physical.is_portability);
        for skinning in [Skinning::Compute, Skinning::Vertex] {
            let settings = RendererSettings { skinning, shadows: Shadows::Map(256), ..RendererSettings::default() };
            let Shown { mut scene, mut renderer } = Shown::new(gpu.device(), &models, "--size 64x64", settings);
            scene.draw(&mut renderer, 0.0, false).expect("a frame");
            for view in [DebugView::Weights, DebugView::Wireframe] {
                renderer.try_show(&scene.crowd, &Show { view, bones: true, ..Show::default() }).expect("a view");
            }
        }
    }
}

/// A pipeline with triangle fans, which Metal does not have.
fn missing_features_are_seen(device: &TestDevice) {
    let mut gpu = open(device, Portability::MoltenVk);
    let stage = vk::ShaderStageFlags::VERTEX;
    let layout = PipelineLayout::new(gpu.device(), "layout", stage, &[], 0).expect("a layout");
    let fan = GraphicsPipelineInfo {
        topology: vk::PrimitiveTopology::TRIANGLE_FAN,
        depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, true)),
        ..GraphicsPipelineInfo::new("fan", &layout, &spirv::TONE_MAP_VERT)
    };
    drop(PipelineBuilder::new(gpu.device(), &[]).graphics(&fan).expect("a pipeline"));
    drop(layout);
    let message = gpu.close().expect_err("a message");
    assert!(message.contains("VUID-VkPipelineInputAssemblyStateCreateInfo-triangleFans-04452"), "{message}");
}
