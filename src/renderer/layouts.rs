//! The four descriptor sets, by how often they change: per frame in flight, model, page, material.

use std::sync::Arc;

use ash::vk;

use crate::shader_types::{JointMatrix, SkinConstants, StreamWindow, surface};
use crate::vulkan::Result;
use crate::vulkan::descriptors::DescriptorSetLayout;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::PipelineLayout;

/// Set numbers, as in `shaders/shared.glsl`.
pub const FRAME_SET: u32 = 0;
/// One for each model.
pub const MODEL_SET: u32 = 1;
/// One for each page of the transient vertex buffer.
pub const PAGE_SET: u32 = 2;
/// One for each material.
pub const MATERIAL_SET: u32 = 3;

/// The dynamic offsets with which the frame's set is bound: where the windows into palette and morph weights begin.
#[must_use]
pub fn window_offsets(window: StreamWindow) -> [u32; 2] {
    // In range: buffers of streams are no larger than 4 GiB.
    [window.first_joint * size_of::<JointMatrix>() as u32, window.first_morph_weight * size_of::<f32>() as u32]
}

/// All set layouts and the two pipeline layouts that combine them.
pub struct Layouts {
    /// Frame data, palette, morph weights, shadow map.
    pub frame: DescriptorSetLayout,
    /// Bind-pose vertices, influences, morph deltas, tangents and their deltas.
    pub model: DescriptorSetLayout,
    /// Skinned vertices.
    pub page: DescriptorSetLayout,
    /// Numbers of a material, and its textures.
    pub material: DescriptorSetLayout,
    /// Of `skin.comp`.
    pub skin: PipelineLayout,
    /// Of everything that draws the scene. `--skinning vertex` leaves the page set unused.
    pub scene: PipelineLayout,
}

impl Layouts {
    /// Creates them.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        use vk::DescriptorType as Type;
        use vk::ShaderStageFlags as Stage;
        let skinning = Stage::COMPUTE | Stage::VERTEX;
        let frame = DescriptorSetLayout::new(
            device,
            "frame set layout",
            &[
                (Type::UNIFORM_BUFFER, skinning | Stage::FRAGMENT),
                // Each batch binds the window that it reads.
                (Type::STORAGE_BUFFER_DYNAMIC, skinning),
                (Type::STORAGE_BUFFER_DYNAMIC, skinning),
                (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT),
            ],
        )?;
        let model = DescriptorSetLayout::new(device, "model set layout", &[(Type::STORAGE_BUFFER, skinning); 5])?;
        let page = DescriptorSetLayout::new(device, "page set layout", &[(Type::STORAGE_BUFFER, skinning); 2])?;
        let mut bindings = vec![(Type::UNIFORM_BUFFER, Stage::FRAGMENT)];
        bindings.extend(surface::TEXTURES.map(|_| (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT)));
        let material = DescriptorSetLayout::new(device, "material set layout", &bindings)?;
        let skin = PipelineLayout::new(
            device,
            "skin pipeline layout",
            &[&frame, &model, &page],
            Some((Stage::COMPUTE, size_of::<SkinConstants>())),
        )?;
        let scene = PipelineLayout::new(
            device,
            "scene pipeline layout",
            &[&frame, &model, &page, &material],
            Some((Stage::VERTEX, size_of::<StreamWindow>())),
        )?;
        Ok(Self { frame, model, page, material, skin, scene })
    }
}
