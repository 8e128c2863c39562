//! Characters (`character.vert`, `character.frag`): one instanced draw per batch and draw range.
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
//! Measurements decided this: 1,000 foxes (`bench Fox.glb --instances 1000 --msaa 1 --shadows off`), Mesa lavapipe 22.3.6
//! on two threads, November 2026. The figures are the draw pass in milliseconds, medians of runs taken in turns, three for
//! the first four rows and nine for the others.
//!
//! | | 64x64 | 1280x720 |
//! |---|---|---|
//! | everything from storage buffers, one instanced draw | 45.0 | 83.4 |
//! | placement and static attributes as attributes, skinned vertex from a storage buffer, one instanced draw (this) | 42.6 | 83.0 |
//! | the same, with the skinned vertex read as one `uvec4` | 41.5 | 81.7 |
//! | everything as attributes, one draw per instance with the page bound at its vertices | 41.6 | 80.2 |
//! | *another day:* this | 42.2 | 78.2 |
//! | skinned vertex and placement as attributes, one indirect draw per instance with its `vertexOffset` | 48.7 | 80.6 |
//! | the same, with a recorded draw per instance | 54.8 | 81.6 |
//!
//! Single runs differ by a few percent, and the second and third row by no more: 41.6 and 74.7 against 41.3 and 73.2 in
//! nine more runs. At 64x64, attributes for placement and static data save 5 %. Skinned vertices as attributes save another
//! 2 %, but not with indirect draws: `vertexOffset` moves all attributes with vertex rate, so the static ones must come
//! from a storage buffer, and the driver sets up a thousand small draws. At 10,000 foxes, this layout and indirect draws
//! take the same time (376 and 380 ms, 519 and 513 ms). At 64x64, two thirds of a profile's samples are outside the
//! shaders: clipping, binning and rasterising 576,000 triangles. No discrete GPU has been measured yet.
//!
//! The position in the world is a varying of every material (`shaders/varyings.glsl`). The fragment shader could find it from
//! the pixel and its depth. In turns (five, least times), the draw of 1,000 foxes then took 38.8 ms instead of 38.2 at 64x64,
//! and 69.9 ms instead of 67.4 at 1280x720: on a software driver, reading the camera for each pixel costs more than a
//! smaller triangle saves. Instances that are drawn from near to far take as long as in the order of their levels and numbers
//! (1.01), which is almost that order already.
//!
//! # Triangles that cover no pixel
//!
//! Compute shaders could leave out triangles that face away or cover no sample, and write the indices of the others for one
//! indirect draw per batch. This was measured with three dispatches that keep the order of triangles, so the picture stays the
//! same: test (a bit for each triangle), sum, write. In turns, frames of foxes took this share of the time without it:
//!
//! | | 1,000, 64x64 | 1,000, 1280x720 | 10,000, 1280x720 |
//! |---|---|---|---|
//! | full detail | 0.45 | 0.92 | 0.54 |
//! | levels of detail, 1 pixel | 0.89 | 0.96 | 0.87 |
//!
//! With levels of detail there are fewer triangles to leave out, so it gains little. It would need 12 bytes for each triangle
//! of each visible instance, in each frame in flight and for each view, because all of them may cover pixels: 0.7 GB for
//! 100,000 foxes in full detail. Its vertex shader would read everything from storage buffers, because one draw has many
//! instances. So there is no such pass. For crowds in full detail on a software driver, it would pay.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;

use super::crowd_draw::{self, Eye};
use super::{PassInput, vertex_input};
use crate::model::Topology;
use crate::renderer::layouts::Layouts;
use crate::renderer::output::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::renderer::resident::model::{GpuDraw, GpuModel, SkinVariant};
use crate::renderer::settings::Skinning;
use crate::shader_types::material_features;
use crate::vulkan::Result;
use crate::vulkan::pipeline::{Blend, GraphicsPipelineInfo, Pipeline, PipelineBuilder};
use crate::vulkan::spirv;

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
    ///
    /// # Errors
    /// The driver cannot build a pipeline.
    pub fn new(
        builder: &PipelineBuilder,
        layouts: &Layouts,
        samples: vk::SampleCountFlags,
        (skinning, picture): (Skinning, u32),
        models: &[GpuModel],
    ) -> Result<Self> {
        let build = |(topology, features, variant): CharacterKey| {
            let blended = features & material_features::BLENDED != 0;
            let alpha_adds = features & (material_features::UNLIT | material_features::TRANSPARENT) != 0;
            let info = GraphicsPipelineInfo {
                name: &format!("characters: {topology:?}, features {features}, {variant:?}"),
                vertex: match variant.skinning {
                    Skinning::Compute => &spirv::CHARACTER_VERT,
                    Skinning::Vertex => &spirv::CHARACTER_SKINNING_VERT,
                },
                fragment: Some(&spirv::CHARACTER_FRAG),
                // Debug views have two more.
                constants: &[
                    features,
                    variant.influence_count,
                    variant.has_morphs.into(),
                    material_features::varying_count(features),
                ],
                vertex_input: vertex_input::CHARACTERS,
                topology: vertex_input::primitive(topology),
                polygon_mode: vk::PolygonMode::FILL,
                layout: &layouts.scene,
                color_format: Some(HDR_FORMAT),
                // Reversed Z: greater is nearer. Blended fragments are tested but do not write depth.
                depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, !blended)),
                samples,
                // The output's alpha is coverage, or the share that bypasses tone mapping: see tone_map.frag.
                blend: blended.then_some(if alpha_adds { Blend::AlphaAdds } else { Blend::AlphaFades }),
                depth_bias: None,
            };
            builder.graphics(&info)
        };
        let draws = models.iter().flat_map(|model| &model.draws);
        let keys: BTreeSet<CharacterKey> = draws.map(|draw| key(draw, skinning, picture)).collect();
        let pipelines = keys.into_iter().map(|key| Ok((key, build(key)?))).collect::<Result<_>>()?;
        Ok(Self { pipelines, skinning, picture })
    }

    /// Draws the opaque (`blended` false) or the blended parts of all visible instances.
    pub fn record(&self, input: &PassInput, blended: bool) {
        crowd_draw::record(input, Eye::Camera, |_, draw| match draw.is_blended() == blended {
            true => self.pipelines.get(&key(draw, self.skinning, self.picture)),
            false => None,
        });
    }
}

fn key(draw: &GpuDraw, skinning: Skinning, picture: u32) -> CharacterKey {
    // Only a normal map needs tangents.
    let unused = if draw.features & material_features::NORMAL_TEXTURE == 0 { material_features::TANGENTS } else { 0 };
    (draw.topology, draw.features & !unused | picture, draw.skin_variant(skinning))
}
