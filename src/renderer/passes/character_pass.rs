//! Characters (`character.vert`, `character.frag`, and `character_masked.frag`): one instanced draw per batch and draw range.
//!
//! In: the instances, the skinned vertices (or the palette, with `--skinning vertex`), materials, the shadow map and the light
//! of the surroundings. Out: linear colour and depth. Each combination of topology, material features
//! ([`material_features`]) and skinning variant has its own pipeline, built once.
//!
//! # How vertices reach the shader
//!
//! Placement, pose index and tint are attributes with instance rate. Texture coordinates and colours are attributes with
//! vertex rate. The index of a skinned vertex depends on the pose and on the vertex, so the shader reads the vertex from the
//! page. With `--skinning vertex` (`character_skinning.vert`) the shader skins it itself, from the same pose record and
//! palette.
//!
//! So one instanced draw serves a whole batch, and static data is never copied. Skinned vertices as attributes would need a
//! draw for each instance. Triangles that cover no pixel are left to the rasteriser, because levels of detail leave few of
//! them. The figures are in `docs/measurements.md`.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;

use super::crowd_draw::{self, Eye};
use super::{Building, PassInput, vertex_input};
use crate::model::Topology;
use crate::renderer::layouts::LIGHT_SET;
use crate::renderer::output::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::renderer::resident::model::GpuDraw;
use crate::renderer::resident::variant::SkinVariant;
use crate::renderer::settings::Skinning;
use crate::shader_types::{SpecializationConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::pipeline::{Blend, GraphicsPipelineInfo, Pipeline};
use crate::vulkan::spirv::{self, Spirv};

/// The key of a pipeline.
type CharacterKey = (Topology, u32, SkinVariant);

/// The graphics pipelines.
pub struct CharacterPass {
    pipelines: BTreeMap<CharacterKey, Pipeline>,
    skinning: Skinning,
    /// The features of the picture: [`material_features::SHADOWED`], [`material_features::TRANSPARENT`].
    picture: u32,
}

impl CharacterPass {
    /// Builds the pipelines that the models need. `picture` holds [`material_features::SHADOWED`] if there is a shadow map, and
    /// [`material_features::TRANSPARENT`] if alpha is coverage.
    pub fn new(building: Building, picture: u32) -> Result<Self> {
        let Building { builder, layouts, models, skinning, samples } = building;
        let build = |(topology, features, variant): CharacterKey| {
            let blended = features & material_features::BLENDED != 0;
            let alpha_adds = features & (material_features::UNLIT | material_features::TRANSPARENT) != 0;
            let name = format!("characters: {topology:?}, features {features}, {variant:?}");
            let vertex = match variant.skinning {
                Skinning::Compute => &spirv::CHARACTER_VERT,
                Skinning::Vertex => &spirv::CHARACTER_SKINNING_VERT,
            };
            builder.graphics(&GraphicsPipelineInfo {
                fragment: Some(fragment_shader(features)),
                constants: &SpecializationConstants { features, ..variant.constants() }.words(),
                vertex_input: vertex_input::CHARACTERS,
                topology: vertex_input::primitive(topology),
                color_format: Some(HDR_FORMAT),
                // Reversed Z: greater is nearer. Blended fragments are tested but do not write depth.
                depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, !blended)),
                samples,
                // The output's alpha is coverage, or the share that bypasses tone mapping: see tone_map.frag.
                blend: blended.then_some(if alpha_adds { Blend::AlphaAdds } else { Blend::AlphaFades }),
                ..GraphicsPipelineInfo::new(&name, &layouts.scene, vertex)
            })
        };
        let draws = models.iter().flat_map(|model| &model.draws);
        let keys: BTreeSet<CharacterKey> = draws.map(|draw| key(draw, skinning, picture)).collect();
        let pipelines = keys.into_iter().map(|key| Ok((key, build(key)?))).collect::<Result<_>>()?;
        Ok(Self { pipelines, skinning, picture })
    }

    /// Draws the opaque (`blended` false) or the blended parts of all visible instances.
    pub fn record(&self, input: &PassInput, blended: bool) {
        input.recorder.bind_set(&input.layouts.scene, LIGHT_SET, &input.lighting.set);
        crowd_draw::record(input, Eye::Camera, |draw| match draw.is_blended() == blended {
            true => self.pipelines.get(&key(draw, self.skinning, self.picture)),
            false => None,
        });
    }
}

/// Returns the fragment shader of a draw: with a mask, the depth test comes last.
pub fn fragment_shader(features: u32) -> &'static Spirv {
    if features & material_features::MASKED == 0 { &spirv::CHARACTER_FRAG } else { &spirv::CHARACTER_MASKED_FRAG }
}

fn key(draw: &GpuDraw, skinning: Skinning, picture: u32) -> CharacterKey {
    // Only a normal map needs tangents.
    let unused = if draw.features & material_features::NORMAL_TEXTURE == 0 { material_features::TANGENTS } else { 0 };
    (draw.topology, draw.features & !unused | picture, draw.skin_variant(skinning))
}
