//! Characters (`character.vert`, `character.frag`): one instanced draw per batch and draw range.
//!
//! There is a pipeline for each kind of surface that the models have ([`surface`]), made once: what a surface lacks
//! (textures, a cutoff, light) is not in its shader.
//!
//! # How vertices reach the shader
//!
//! Placement and offsets are attributes that go on with the instance, surface attributes go on with the vertex; the
//! skinned vertex, whose place depends on both, is pulled from the page. With `--skinning vertex`
//! (`character_skinning.vert`) the shader skins it itself from the same palette.
//!
//! Decided by measurement: 1,000 foxes (`bench Fox.glb --instances 1000 --msaa 1 --shadows off`), Mesa lavapipe 22.3.6 on
//! two threads, November 2026; the draw pass in milliseconds, medians of runs taken in turns, three of the first kind and
//! nine of the second:
//!
//! | | 64x64 | 1280x720 |
//! |---|---|---|
//! | all of it pulled from storage buffers, one instanced draw | 45.0 | 83.4 |
//! | placement and surface as attributes, skinned vertex pulled, one instanced draw (this) | 42.6 | 83.0 |
//! | the same, with the skinned vertex read as one `uvec4` | 41.5 | 81.7 |
//! | all of it as attributes, a draw for each instance with the page bound at its vertices | 41.6 | 80.2 |
//! | *another day:* this | 42.2 | 78.2 |
//! | skinned vertex and placement as attributes, an indirect draw for each instance with its `vertexOffset` | 48.7 | 80.6 |
//! | the same, each draw recorded | 54.8 | 81.6 |
//!
//! Single runs differ by a few hundredths by themselves. Reading the vertex as four anonymous numbers is within that: 41.3
//! and 73.2 against 41.6 and 74.7 in nine more runs. Vertex input gains a twentieth at best, where vertices are all
//! that counts, and most of that is to be had without a draw for each instance. An indirect draw loses it again: its
//! `vertexOffset` moves every attribute that goes on with the vertex, so the surface, of which there is only one, has to
//! be pulled instead, and a thousand small draws are set up one by one. At 10,000 foxes both take the same time (376 and
//! 380 ms, 519 and 513). What is left at 64x64 is hardly the fetch: two thirds of a profile's samples are outside the
//! shaders, in clipping, binning and rasterising 576,000 triangles. No discrete GPU has been asked yet.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ash::vk;

use super::vertex_input;
use super::visible_crowd::{Eye, VisibleCrowd};
use crate::model::Topology;
use crate::renderer::layouts::Layouts;
use crate::renderer::resident::model::GpuModel;
use crate::renderer::target::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::shader_types::surface;
use crate::vulkan::Result;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::{Blend, GraphicsPipelineInfo, Pipeline};
use crate::vulkan::pipeline_cache::PipelineCache;
use crate::vulkan::spirv;

/// Where vertices are skinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Skinning {
    /// Once per frame, by `skin.comp`.
    Compute,
    /// In the vertex shader, by every pass that draws.
    Vertex,
}

impl Skinning {
    /// As in options and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Vertex => "vertex",
        }
    }
}

/// One pipeline for each topology and kind of surface.
pub struct CharacterPass {
    pipelines: BTreeMap<(Topology, u32), Pipeline>,
}

impl CharacterPass {
    /// Builds the pipelines for all surfaces of the models.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(
        device: &Arc<Device>,
        cache: &PipelineCache,
        layouts: &Layouts,
        samples: vk::SampleCountFlags,
        skinning: Skinning,
        models: &[GpuModel],
    ) -> Result<Self> {
        let vertex = match skinning {
            Skinning::Compute => &spirv::CHARACTER_VERT,
            Skinning::Vertex => &spirv::CHARACTER_SKINNING_VERT,
        };
        let build = |topology: Topology, kind: u32| {
            let blended = kind & surface::BLENDED != 0;
            let unlit = kind & surface::UNLIT != 0;
            let info = GraphicsPipelineInfo {
                name: &format!("characters: {topology:?}, surface {kind}"),
                vertex,
                fragment: Some(&spirv::CHARACTER_FRAG),
                constant: kind,
                vertex_input: vertex_input::CHARACTERS,
                topology: match topology {
                    Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
                    Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
                    Topology::Points => vk::PrimitiveTopology::POINT_LIST,
                },
                layout: &layouts.scene,
                color_format: Some(HDR_FORMAT),
                // Reversed Z: nearer is greater. Blended surfaces are hidden by opaque ones but hide nothing.
                depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, !blended)),
                samples,
                // Alpha in the target is what tone mapping leaves alone: see tone_map.frag.
                blend: blended.then_some(if unlit { Blend::AlphaAdds } else { Blend::AlphaFades }),
                depth_bias: None,
            };
            Pipeline::graphics(device, cache, &info)
        };
        let draws = models.iter().flat_map(|model| &model.draws);
        let kinds: BTreeSet<_> = draws.map(|draw| (draw.topology, draw.surface)).collect();
        let pipelines = kinds.into_iter().map(|kind| Ok((kind, build(kind.0, kind.1)?))).collect::<Result<_>>()?;
        Ok(Self { pipelines })
    }

    /// Draws the opaque (`blend` false) or the blended parts of all visible instances.
    pub fn cmd_draw(&self, crowd: &VisibleCrowd, blend: bool) {
        crowd.cmd_draw(Eye::Camera, |draw| match draw.is_blended() == blend {
            true => self.pipelines.get(&(draw.topology, draw.surface)),
            false => None,
        });
    }
}
