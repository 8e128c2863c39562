//! Shadows (`shadow.vert`, `shadow.frag`): the depth of the crowd as the light sees it.
//!
//! In: the instances and the skinned vertices (or the palette, with `--skinning vertex`). Out: one orthographic depth map, that
//! of [`Lighting`](crate::renderer::resident::lighting::Lighting). Closed surfaces cast their shadows with their far sides
//! (`GpuDraw::casts_with_far_side`). Blended materials, lines and points cast no shadow. `shadow.frag` cuts the holes of masked
//! materials out of their shadows.

use ash::vk;

use super::crowd_draw::{self, CrowdPipelines, Eye};
use super::{Building, PassInput, vertex_input};
use crate::model::Topology;
use crate::renderer::output::attachments::DEPTH_FORMAT;
use crate::renderer::resident::model::GpuDraw;
use crate::shader_types::material_features;
use crate::vulkan::Result;
use crate::vulkan::pipeline::GraphicsPipelineInfo;
use crate::vulkan::recorder::Rendering;
use crate::vulkan::spirv::{self, Spirv};

/// The pipelines of the shadow map. Without shadows there are none.
pub struct ShadowPass(CrowdPipelines);

impl ShadowPass {
    pub fn new(building: Building) -> Result<Self> {
        let vertex = building.skinning.choose([&spirv::SHADOW_VERT, &spirv::SHADOW_SKINNING_VERT]);
        depth_pipelines(building, "shadows", vertex, casts_shadow).map(Self)
    }

    /// Clears the map to "lit" and draws all opaque parts of the crowd into it.
    pub fn record(&self, input: &PassInput) {
        let depth = Some(&input.lighting.shadow_map);
        let rendering = Rendering { depth, keeps_depth: true, y_up: true, ..Rendering::default() };
        input.recorder.rendering(rendering, || crowd_draw::record(input, Eye::Light, &self.0));
    }
}

/// Builds pipelines that draw depth alone, with a vertex shader for the way of skinning.
pub fn depth_pipelines(
    building: Building,
    name: &str,
    vertex: &Spirv,
    is_drawn: fn(&GpuDraw) -> bool,
) -> Result<CrowdPipelines> {
    let constants_of = |draw: &GpuDraw| is_drawn(draw).then(|| draw.constants(building.skinning, depth_features(draw)));
    CrowdPipelines::new(building, constants_of, |features| GraphicsPipelineInfo {
        fragment: (features & material_features::MASKED != 0).then_some(&spirv::SHADOW_FRAG),
        vertex_input: vertex_input::CHARACTERS,
        depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, true)),
        ..GraphicsPipelineInfo::new(name, &building.layouts.scene, vertex)
    })
}

/// Returns whether a draw is part of the shadow map. Lines and points are too thin for a shadow map.
pub fn casts_shadow(draw: &GpuDraw) -> bool {
    draw.topology == Topology::Triangles && !draw.is_blended()
}

/// Returns the features of a draw that its depth depends on. There are none without a mask.
pub fn depth_features(draw: &GpuDraw) -> u32 {
    use material_features::{BASE_COLOR_TEXTURE, COLOR_FACTOR, MASKED, TEX_COORDS_VARY};
    let features = if draw.features & MASKED == 0 { 0 } else { draw.features };
    features & (MASKED | TEX_COORDS_VARY | BASE_COLOR_TEXTURE | COLOR_FACTOR)
}
