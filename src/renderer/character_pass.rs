//! Characters (`character.vert`, `character.frag`): one instanced draw per batch and material.
//!
//! The vertex shader pulls skinned vertices from the page by instance and index, or, with `--skinning vertex`
//! (`character_skinning.vert`), skins them itself from the same palette.

use std::sync::Arc;

use ash::vk;

use super::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use super::layouts::Layouts;
use super::visible_crowd::VisibleCrowd;
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

/// Pipelines for opaque and for blended materials.
pub struct CharacterPass {
    opaque: Pipeline,
    blended: Pipeline,
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
    ) -> Result<Self> {
        let vertex = match skinning {
            Skinning::Compute => &spirv::CHARACTER_VERT,
            Skinning::Vertex => &spirv::CHARACTER_SKINNING_VERT,
        };
        let build = |name, blend: bool| {
            // Reversed Z: nearer is greater. Blended surfaces are hidden by opaque ones but hide nothing.
            let depth = Some((DEPTH_FORMAT, vk::CompareOp::GREATER, !blend));
            let info = GraphicsPipelineInfo {
                name,
                vertex,
                fragment: Some(&spirv::CHARACTER_FRAG),
                fragment_constant: 0,
                layout: &layouts.scene,
                color_format: Some(HDR_FORMAT),
                depth,
                samples,
                blend,
                depth_bias: None,
            };
            Pipeline::graphics(device, cache, &info)
        };
        Ok(Self { opaque: build("characters", false)?, blended: build("blended characters", true)? })
    }

    /// Draws the opaque (`blend` false) or the blended parts of all visible instances.
    pub fn cmd_draw(&self, crowd: &VisibleCrowd, blend: bool) {
        crowd.cmd_draw(if blend { &self.blended } else { &self.opaque }, blend);
    }
}
