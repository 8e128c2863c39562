//! Shadows (`shadow.vert`, `shadow.frag`): the depth of the crowd as the light sees it.
//!
//! In: the instances and the skinned vertices (or the palette, with `--skinning vertex`). Out: one orthographic depth map, that
//! of [`Lighting`](crate::renderer::resident::lighting::Lighting). Closed surfaces cast their shadows with their far sides
//! (`GpuDraw::casts_with_far_side`). Blended materials, lines and points cast no shadow. `shadow.frag` cuts the holes of masked
//! materials out of their shadows.

use std::collections::{BTreeMap, BTreeSet};

use ash::vk;

use super::crowd_draw::{self, Eye};
use super::{Building, PassInput, vertex_input};
use crate::model::Topology;
use crate::renderer::output::attachments::DEPTH_FORMAT;
use crate::renderer::resident::model::GpuDraw;
use crate::renderer::resident::variant::SkinVariant;
use crate::renderer::settings::Skinning;
use crate::shader_types::{SpecializationConstants, material_features};
use crate::vulkan::Result;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline};
use crate::vulkan::recorder::Rendering;
use crate::vulkan::spirv::{self, Spirv};

/// The features of a masked material that the shadow depends on (0: not masked), and how its vertices are skinned.
pub type CasterKey = (u32, SkinVariant);

/// The pipelines of the shadow map. Without shadows there are none.
pub struct ShadowPass {
    pipelines: BTreeMap<CasterKey, Pipeline>,
    skinning: Skinning,
}

impl ShadowPass {
    /// Builds the pipelines that the models need.
    pub fn new(building: Building) -> Result<Self> {
        let Building { models, skinning, .. } = building;
        let build = |key: CasterKey| {
            let vertex = match key.1.skinning {
                Skinning::Compute => &spirv::SHADOW_VERT,
                Skinning::Vertex => &spirv::SHADOW_SKINNING_VERT,
            };
            caster_pipeline(building, "shadows", vertex, key)
        };
        let draws = models.iter().flat_map(|model| &model.draws).filter(|draw| casts_shadow(draw));
        let keys: BTreeSet<CasterKey> = draws.map(|draw| caster_key(draw, skinning)).collect();
        Ok(Self { pipelines: keys.into_iter().map(|key| Ok((key, build(key)?))).collect::<Result<_>>()?, skinning })
    }

    /// Clears the map to "lit" and draws all opaque parts of the crowd into it.
    pub fn record(&self, input: &PassInput) {
        let depth = Some(&input.lighting.shadow_map);
        let rendering = Rendering { depth, keeps_depth: true, y_up: true, ..Rendering::default() };
        input.recorder.rendering(rendering, || {
            crowd_draw::record(input, Eye::Light, |draw| {
                if casts_shadow(draw) { self.pipelines.get(&caster_key(draw, self.skinning)) } else { None }
            });
        });
    }
}

/// Builds a pipeline that draws depth alone, with a vertex shader for its way of skinning.
pub fn caster_pipeline(
    building: Building,
    what: &str,
    vertex: &Spirv,
    (features, variant): CasterKey,
) -> Result<Pipeline> {
    let name = format!("{what}: features {features}, {variant:?}");
    building.builder.graphics(&GraphicsPipelineInfo {
        fragment: (features & material_features::MASKED != 0).then_some(&spirv::SHADOW_FRAG),
        constants: &SpecializationConstants { features, ..variant.constants() }.words(),
        vertex_input: vertex_input::CHARACTERS,
        depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, true)),
        ..GraphicsPipelineInfo::new(&name, &building.layouts.scene, vertex)
    })
}

/// Returns whether a draw is part of the shadow map. Lines and points are too thin for a shadow map.
pub fn casts_shadow(draw: &GpuDraw) -> bool {
    draw.topology == Topology::Triangles && !draw.is_blended()
}

/// Returns what the pipeline for the depth of a draw depends on.
pub fn caster_key(draw: &GpuDraw, skinning: Skinning) -> CasterKey {
    use material_features::{BASE_COLOR_TEXTURE, COLOR_FACTOR, MASKED, TEX_COORDS_VARY};
    let features = if draw.features & MASKED == 0 { 0 } else { draw.features };
    (features & (MASKED | TEX_COORDS_VARY | BASE_COLOR_TEXTURE | COLOR_FACTOR), draw.skin_variant(skinning))
}
