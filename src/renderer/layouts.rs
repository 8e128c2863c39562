//! The descriptor set layouts, one for each rate of change (frame, model, page, light, material), and the pipeline layouts.
//!
//! Skinning reads a model and writes a page. Drawing reads the vertices: the page, or with `--skinning vertex` the model itself.
//! So the same set number means "the vertices" in every draw, and the light has a set that all frames in flight share.

use std::sync::Arc;

use ash::vk;
use vk::{DescriptorType as Type, ShaderStageFlags as Stage};

use super::settings::Skinning;
use crate::shader_types::{CopyConstants, SkinConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::descriptors::DescriptorSetLayout;
use crate::vulkan::device::Device;
use crate::vulkan::physical_device::STORAGE_BUFFERS_PER_STAGE;
use crate::vulkan::pipeline::PipelineLayout;

/// The set of a frame in flight. `shaders/shared.glsl` has the same numbers.
pub const FRAME_SET: u32 = 0;
/// In `skin.comp`: the set of a model.
pub const MODEL_SET: u32 = 1;
/// In `skin.comp`: the set of a page of the transient vertex buffer.
pub const PAGE_SET: u32 = 2;
/// In draws: the set of a page, or with `--skinning vertex` that of a model.
pub const VERTICES_SET: u32 = 1;
/// In draws: the set of the light.
pub const LIGHT_SET: u32 = 2;
/// In draws: the set of a material.
pub const MATERIAL_SET: u32 = 3;

/// The stages that skin, with either skinning.
const SKINNING: Stage = Stage::from_raw(Stage::COMPUTE.as_raw() | Stage::VERTEX.as_raw());
/// A buffer that they read or write.
const SKINNED: (Type, Stage) = (Type::STORAGE_BUFFER, SKINNING);
/// The uniform buffer that all shaders of a frame read.
const SHARED: (Type, Stage) = (Type::UNIFORM_BUFFER, Stage::from_raw(SKINNING.as_raw() | Stage::FRAGMENT.as_raw()));
const FRAME: [(Type, Stage); 5] = [SHARED, SKINNED, SKINNED, SKINNED, (Type::STORAGE_BUFFER, Stage::VERTEX)];
const MODEL: [(Type, Stage); 6] = [SKINNED, SKINNED, SKINNED, SKINNED, SKINNED, (Type::STORAGE_BUFFER, Stage::COMPUTE)];
const PAGE: [(Type, Stage); 2] = [SKINNED; 2];
const LIGHT: [(Type, Stage); 4] = [(Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT); 4];

/// Returns the number of storage buffers that a stage has in all sets together.
const fn storage_buffers(stage: Stage) -> u32 {
    const fn count(set: &[(Type, Stage)], stage: Stage) -> u32 {
        let [(ty, stages), rest @ ..] = set else { return 0 };
        let counts = ty.as_raw() == Type::STORAGE_BUFFER.as_raw() && stages.as_raw() & stage.as_raw() != 0;
        counts as u32 + count(rest, stage)
    }
    count(&FRAME, stage) + count(&MODEL, stage) + count(&PAGE, stage)
}

// A vertex shader has the model or the page, and an extra may add three buffers to it.
const _: () = assert!(storage_buffers(Stage::COMPUTE) < STORAGE_BUFFERS_PER_STAGE);

/// All set layouts, and the pipeline layouts that combine them.
pub struct Layouts {
    /// Frame data, pose records, palette, morph weights, instances.
    pub frame: DescriptorSetLayout,
    /// Bind-pose vertices, influences, morph deltas, tangents, morph deltas of tangents, skin order.
    pub model: DescriptorSetLayout,
    /// Skinned vertices and tangents.
    pub page: DescriptorSetLayout,
    /// Shadow map, irradiance table, specular table, split-sum table.
    pub light: DescriptorSetLayout,
    /// The factors of a material, and its textures.
    pub material: DescriptorSetLayout,
    pub skin: PipelineLayout,
    /// The layout of all passes that draw the scene: frame, vertices, light, material. Draws of copies have push constants.
    pub scene: PipelineLayout,
}

impl Layouts {
    /// Creates all layouts. The stage that skins decides what the vertices of draws are.
    pub fn new(device: &Arc<Device>, skinning: Skinning) -> Result<Self> {
        let frame = DescriptorSetLayout::new(device, "frame set layout", &FRAME)?;
        let model = DescriptorSetLayout::new(device, "model set layout", &MODEL)?;
        let page = DescriptorSetLayout::new(device, "page set layout", &PAGE)?;
        let light = DescriptorSetLayout::new(device, "light set layout", &LIGHT)?;
        let mut bindings = vec![(Type::UNIFORM_BUFFER, Stage::FRAGMENT)];
        bindings.extend(material_features::TEXTURES.map(|_| (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT)));
        let material = DescriptorSetLayout::new(device, "material set layout", &bindings)?;
        let (sets, constants_bytes) = ([&frame, &model, &page], size_of::<SkinConstants>());
        let skin = PipelineLayout::new(device, "skin pipeline layout", Stage::COMPUTE, &sets, constants_bytes)?;
        let sets = [&frame, skinning.choose([&page, &model]), &light, &material];
        let scene =
            PipelineLayout::new(device, "scene pipeline layout", Stage::VERTEX, &sets, size_of::<CopyConstants>())?;
        Ok(Self { frame, model, page, light, material, skin, scene })
    }
}
