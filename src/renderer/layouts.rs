//! The descriptor set layouts, one for each rate of change (frame, model, page, material), and the pipeline layouts.

use std::sync::Arc;

use ash::vk;

use crate::shader_types::{SkinConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::descriptors::DescriptorSetLayout;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::PipelineLayout;

/// The set of a frame in flight. `shaders/shared.glsl` has the same numbers.
pub const FRAME_SET: u32 = 0;
/// The set of a model.
pub const MODEL_SET: u32 = 1;
/// The set of a page of the transient vertex buffer.
pub const PAGE_SET: u32 = 2;
/// The set of a material.
pub const MATERIAL_SET: u32 = 3;

/// All set layouts, and the two pipeline layouts that combine them.
pub struct Layouts {
    /// Frame data, pose records, palette, morph weights, shadow map, irradiance table, specular table, split-sum table.
    pub frame: DescriptorSetLayout,
    /// Bind-pose vertices, influences, morph deltas, tangents, morph deltas of tangents, palette entries, bones, skin order.
    pub model: DescriptorSetLayout,
    /// Skinned vertices and tangents.
    pub page: DescriptorSetLayout,
    /// The factors of a material, and its textures.
    pub material: DescriptorSetLayout,
    /// The layout of `skin.comp`.
    pub skin: PipelineLayout,
    /// The layout of all passes that draw the scene. `--skinning vertex` does not use the page set.
    pub scene: PipelineLayout,
}

impl Layouts {
    /// Creates all layouts.
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
                (Type::STORAGE_BUFFER, skinning),
                (Type::STORAGE_BUFFER, skinning),
                (Type::STORAGE_BUFFER, skinning),
                (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT),
                (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT),
                (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT),
                (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT),
            ],
        )?;
        let model = DescriptorSetLayout::new(device, "model set layout", &[(Type::STORAGE_BUFFER, skinning); 8])?;
        let page = DescriptorSetLayout::new(device, "page set layout", &[(Type::STORAGE_BUFFER, skinning); 2])?;
        let mut bindings = vec![(Type::UNIFORM_BUFFER, Stage::FRAGMENT)];
        bindings.extend(material_features::TEXTURES.map(|_| (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT)));
        let material = DescriptorSetLayout::new(device, "material set layout", &bindings)?;
        let skin = PipelineLayout::new(
            device,
            "skin pipeline layout",
            vk::PipelineBindPoint::COMPUTE,
            &[&frame, &model, &page],
            Some((Stage::COMPUTE, size_of::<SkinConstants>())),
        )?;
        let scene = PipelineLayout::new(
            device,
            "scene pipeline layout",
            vk::PipelineBindPoint::GRAPHICS,
            &[&frame, &model, &page, &material],
            None,
        )?;
        Ok(Self { frame, model, page, material, skin, scene })
    }
}
