//! Characters (`character.vert`, `character.frag`): one instanced draw per batch and draw range.
//!
//! The vertex shader pulls skinned vertices from the page by instance and index, or, with `--skinning vertex`
//! (`character_skinning.vert`), skins them itself from the same palette.

use std::sync::Arc;

use ash::vk;

use super::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use super::gpu_model::GpuModel;
use super::layouts::Layouts;
use super::visible_crowd::VisibleCrowd;
use crate::model::Topology;
use crate::vulkan::Result;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline};
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

/// Pipelines for opaque and for blended materials, for each topology that a model needs.
pub struct CharacterPass {
    pipelines: Vec<CharacterPipeline>,
}

struct CharacterPipeline {
    topology: Topology,
    blend: bool,
    pipeline: Pipeline,
}

impl CharacterPass {
    /// Builds the pipelines.
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
        let build = |name, topology: Topology, blend: bool| {
            // Reversed Z: nearer is greater. Blended surfaces are hidden by opaque ones but hide nothing.
            let depth = Some((DEPTH_FORMAT, vk::CompareOp::GREATER, !blend));
            let info = GraphicsPipelineInfo {
                name,
                vertex,
                fragment: Some(&spirv::CHARACTER_FRAG),
                fragment_constant: 0,
                topology: match topology {
                    Topology::Triangles => vk::PrimitiveTopology::TRIANGLE_LIST,
                    Topology::Lines => vk::PrimitiveTopology::LINE_LIST,
                    Topology::Points => vk::PrimitiveTopology::POINT_LIST,
                },
                layout: &layouts.scene,
                color_format: Some(HDR_FORMAT),
                depth,
                samples,
                blend,
                depth_bias: None,
            };
            let pipeline = Pipeline::graphics(device, cache, &info)?;
            Ok(CharacterPipeline { topology, blend, pipeline })
        };
        // Triangles always; lines and points are rare.
        let mut pipelines = vec![
            build("characters", Topology::Triangles, false)?,
            build("blended characters", Topology::Triangles, true)?,
        ];
        for draw in models.iter().flat_map(|model| &model.draws) {
            let (topology, blend) = (draw.topology, draw.blend);
            if !pipelines.iter().any(|built| (built.topology, built.blend) == (topology, blend)) {
                pipelines.push(build("lines or points of characters", topology, blend)?);
            }
        }
        Ok(Self { pipelines })
    }

    /// Draws the opaque (`blend` false) or the blended parts of all visible instances.
    pub fn cmd_draw(&self, crowd: &VisibleCrowd, blend: bool) {
        for built in self.pipelines.iter().filter(|built| built.blend == blend) {
            crowd.cmd_draw(&built.pipeline, built.topology, blend);
        }
    }
}
