//! Characters (`character.vert`, `character.frag`, and `character_masked.frag`): one instanced draw per batch and draw range.
//!
//! In: the instances, the skinned vertices (or the palette, with `--skinning vertex`), materials, the shadow map and the light
//! of the surroundings. Out: linear colour and depth. Each combination of topology, material features
//! ([`material_features`]) and skinning variant has its own pipeline, built once.
//!
//! # How vertices reach the shader
//!
//! Placement, pose index and tint are attributes with instance rate. Texture coordinates and colours are attributes with vertex
//! rate. The index of a skinned vertex depends on the pose and on the vertex, so the shader reads the vertex from the page.
//! With `--skinning vertex` (`character_skinning.vert`) the shader skins it itself, from the same pose record and palette.
//!
//! Levels of few vertices are drawn as [`Copies`](crate::renderer::resident::copies::Copies), which read placement, pose index and
//! tint from a storage buffer.
//!
//! So one instanced draw serves a whole batch, and static data is never copied. Skinned vertices as attributes would need a
//! draw for each instance. Triangles that cover no pixel are left to the rasteriser, because levels of detail leave few of
//! them. The figures are in `docs/measurements.md`.

use ash::vk;

use super::crowd_draw::{self, CrowdPipelines, Eye};
use super::{Building, PassInput, vertex_input};
use crate::renderer::layouts::LIGHT_SET;
use crate::renderer::output::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::renderer::resident::model::GpuDraw;
use crate::shader_types::material_features;
use crate::vulkan::Result;
use crate::vulkan::pipeline::{Blend, GraphicsPipelineInfo};
use crate::vulkan::spirv::{self, Spirv};

pub struct CharacterPass {
    opaque: CrowdPipelines,
    blended: CrowdPipelines,
}

impl CharacterPass {
    /// Builds the pipelines that the models need. `picture` holds [`material_features::SHADOWED`] if there is a shadow map, and
    /// [`material_features::TRANSPARENT`] if alpha is coverage.
    pub fn new(building: Building, picture: u32) -> Result<Self> {
        let Building { layouts, skinning, samples, .. } = building;
        let vertex = skinning.choose([&spirv::CHARACTER_VERT, &spirv::CHARACTER_SKINNING_VERT]);
        let info_of = |features: u32| {
            let blended = features & material_features::BLENDED != 0;
            let alpha_adds = features & (material_features::UNLIT | material_features::TRANSPARENT) != 0;
            GraphicsPipelineInfo {
                fragment: Some(fragment_shader(features)),
                vertex_input: vertex_input::CHARACTERS,
                color_format: Some(HDR_FORMAT),
                // Reversed Z: greater is nearer. Blended fragments are tested but do not write depth.
                depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, !blended)),
                samples,
                // The output's alpha is coverage, or the share that bypasses tone mapping: see tone_map.frag.
                blend: blended.then_some(if alpha_adds { Blend::AlphaAdds } else { Blend::AlphaFades }),
                ..GraphicsPipelineInfo::new("characters", &layouts.scene, vertex)
            }
        };
        let pipelines = |blended| {
            let constants = |draw: &GpuDraw| draw.constants(skinning, features_of(draw) | picture);
            CrowdPipelines::new(building, |draw| (draw.is_blended() == blended).then(|| constants(draw)), info_of)
        };
        Ok(Self { opaque: pipelines(false)?, blended: pipelines(true)? })
    }

    /// Draws the opaque (`blended` false) or the blended parts of all visible instances.
    pub fn record(&self, input: &PassInput, blended: bool) {
        input.recorder.bind_set(&input.layouts.scene, LIGHT_SET, &input.lighting.set);
        crowd_draw::record(input, Eye::Camera, if blended { &self.blended } else { &self.opaque });
    }
}

/// Returns the fragment shader of a draw: with a mask, the depth test comes last.
pub fn fragment_shader(features: u32) -> &'static Spirv {
    if features & material_features::MASKED == 0 { &spirv::CHARACTER_FRAG } else { &spirv::CHARACTER_MASKED_FRAG }
}

/// Returns the features of a draw that its pipeline depends on: only a normal map needs tangents.
fn features_of(draw: &GpuDraw) -> u32 {
    let unused = if draw.features & material_features::NORMAL_TEXTURE == 0 { material_features::TANGENTS } else { 0 };
    draw.features & !unused
}
