//! The descriptor set layouts, one for each rate of change (frame, model, page, material), and the pipeline layouts.

use std::sync::Arc;

use ash::vk;
use vk::{DescriptorType as Type, ShaderStageFlags as Stage};

use crate::shader_types::{ModelConstants, MotionConstants, SkinConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::descriptors::DescriptorSetLayout;
use crate::vulkan::device::Device;
use crate::vulkan::physical_device::STORAGE_BUFFERS_PER_STAGE;
use crate::vulkan::pipeline::PipelineLayout;

/// The set of a frame in flight. `shaders/shared.glsl` has the same numbers.
pub const FRAME_SET: u32 = 0;
/// The set of a model.
pub const MODEL_SET: u32 = 1;
/// The set of a page of the last frame, for the motion view. It takes the place of the model set.
pub const LAST_PAGE_SET: u32 = 1;
/// The set of a page of the transient vertex buffer.
pub const PAGE_SET: u32 = 2;
/// The set of a material.
pub const MATERIAL_SET: u32 = 3;

/// The stages that skin, with either skinning.
const SKINNING: Stage = Stage::from_raw(Stage::COMPUTE.as_raw() | Stage::VERTEX.as_raw());
const FRAME: [(Type, Stage); 8] = [
    (Type::UNIFORM_BUFFER, Stage::from_raw(SKINNING.as_raw() | Stage::FRAGMENT.as_raw())),
    (Type::STORAGE_BUFFER, SKINNING),
    (Type::STORAGE_BUFFER, SKINNING),
    (Type::STORAGE_BUFFER, SKINNING),
    (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT),
    (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT),
    (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT),
    (Type::COMBINED_IMAGE_SAMPLER, Stage::FRAGMENT),
];
const MODEL: [(Type, Stage); 8] = [
    (Type::STORAGE_BUFFER, SKINNING),
    (Type::STORAGE_BUFFER, SKINNING),
    (Type::STORAGE_BUFFER, SKINNING),
    (Type::STORAGE_BUFFER, SKINNING),
    (Type::STORAGE_BUFFER, SKINNING),
    (Type::STORAGE_BUFFER, Stage::VERTEX),
    (Type::STORAGE_BUFFER, Stage::VERTEX),
    (Type::STORAGE_BUFFER, Stage::COMPUTE),
];
const PAGE: [(Type, Stage); 2] = [(Type::STORAGE_BUFFER, SKINNING); 2];
const LAST_PAGE: [(Type, Stage); 2] = [(Type::STORAGE_BUFFER, Stage::VERTEX); 2];

/// Returns the number of storage buffers that a stage has in all sets together.
const fn storage_buffers(stage: Stage) -> u32 {
    const fn count(set: &[(Type, Stage)], stage: Stage) -> u32 {
        let [(ty, stages), rest @ ..] = set else { return 0 };
        let counts = ty.as_raw() == Type::STORAGE_BUFFER.as_raw() && stages.as_raw() & stage.as_raw() != 0;
        counts as u32 + count(rest, stage)
    }
    count(&FRAME, stage) + count(&MODEL, stage) + count(&PAGE, stage)
}

// Vertex shaders have the most: those that skin, and the views that show bones and weights.
const _: () = assert!(storage_buffers(Stage::VERTEX) == STORAGE_BUFFERS_PER_STAGE);
const _: () = assert!(storage_buffers(Stage::COMPUTE) <= STORAGE_BUFFERS_PER_STAGE);

/// All set layouts, and the three pipeline layouts that combine them.
pub struct Layouts {
    /// Frame data, pose records, palette, morph weights, shadow map, irradiance table, specular table, split-sum table.
    pub frame: DescriptorSetLayout,
    /// Bind-pose vertices, influences, morph deltas, tangents, morph deltas of tangents, palette entries, bones, skin order.
    pub model: DescriptorSetLayout,
    /// Skinned vertices and tangents.
    pub page: DescriptorSetLayout,
    /// Of the last frame: the history of each instance, and the skinned vertices of a page.
    pub last_page: DescriptorSetLayout,
    /// The factors of a material, and its textures.
    pub material: DescriptorSetLayout,
    /// The layout of `skin.comp`.
    pub skin: PipelineLayout,
    /// The layout of all passes that draw the scene. `--skinning vertex` does not use the page set.
    pub scene: PipelineLayout,
    /// The layout of the motion view.
    pub motion: PipelineLayout,
}

impl Layouts {
    /// Creates all layouts.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Arc<Device>) -> Result<Self> {
        let frame = DescriptorSetLayout::new(device, "frame set layout", &FRAME)?;
        let model = DescriptorSetLayout::new(device, "model set layout", &MODEL)?;
        let page = DescriptorSetLayout::new(device, "page set layout", &PAGE)?;
        let last_page = DescriptorSetLayout::new(device, "last page set layout", &LAST_PAGE)?;
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
        let drawing = |name, set_1, constants_bytes| {
            let sets = [&frame, set_1, &page, &material];
            let constants = Some((Stage::VERTEX, constants_bytes));
            PipelineLayout::new(device, name, vk::PipelineBindPoint::GRAPHICS, &sets, constants)
        };
        let scene = drawing("scene pipeline layout", &model, size_of::<ModelConstants>())?;
        let motion = drawing("motion pipeline layout", &last_page, size_of::<MotionConstants>())?;
        Ok(Self { frame, model, page, last_page, material, skin, scene, motion })
    }
}
