//! Debug views (`debug_view.vert`, `motion.vert`, `debug_view.frag`): characters whose colours show data instead of light.
//!
//! In: the instances and the same skinned vertices as the character pass, and the influences of the bind-pose vertices. Out:
//! colour and depth. Blended materials are opaque here, so that the data of the front surface is seen.
//!
//! The character pass has other shaders, so it pays nothing for the views. Each combination of view, topology, material
//! features and skinning variant has its own pipeline. Pipelines are built when a view is first drawn, so most programs
//! build none.

use std::collections::btree_map::{BTreeMap, Entry};

use ash::vk;

use super::crowd_draw::{self, Eye};
use super::{PassInput, vertex_input};
use crate::model::Topology;
use crate::renderer::error::{Error, Result, Setting};
use crate::renderer::layouts::Layouts;
use crate::renderer::output::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::renderer::resident::model::{GpuDraw, GpuModel, SkinVariant};
use crate::renderer::settings::Skinning;
use crate::shader_types::{SpecializationConstants, debug_views, material_features};
use crate::view::DebugView;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, PipelineBuilder};
use crate::vulkan::{self, spirv};

/// The key of a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DebugViewKey {
    /// The value of `DEBUG_VIEW`.
    view: u32,
    topology: Topology,
    features: u32,
    variant: SkinVariant,
}

/// The pipelines of all views that have been drawn.
pub struct DebugViewPass {
    pipelines: BTreeMap<DebugViewKey, Pipeline>,
    samples: vk::SampleCountFlags,
    skinning: Skinning,
    /// The view of which all pipelines exist.
    ready: Option<DebugView>,
}

impl DebugViewPass {
    /// Returns a pass without pipelines.
    #[must_use]
    pub fn new(samples: vk::SampleCountFlags, skinning: Skinning) -> Self {
        Self { pipelines: BTreeMap::new(), samples, skinning, ready: None }
    }

    /// Builds the pipelines of a view that do not exist yet.
    ///
    /// # Errors
    /// The device draws no edges, no skinned vertices are kept, or the driver cannot build a pipeline.
    pub fn prepare(
        &mut self,
        builder: &PipelineBuilder,
        layouts: &Layouts,
        models: &[GpuModel],
        view: DebugView,
    ) -> Result<()> {
        if view == DebugView::Lit || self.ready == Some(view) {
            return Ok(());
        }
        if view == DebugView::Wireframe && !builder.device().physical.fill_mode_non_solid {
            let names = DebugView::ALL.into_iter().filter(|&view| view != DebugView::Wireframe).map(DebugView::name);
            return Err(Error::Unsupported {
                setting: Setting::Wireframe,
                device: builder.device().physical.name.clone(),
                supported: names.collect::<Vec<_>>().join(", "),
            });
        }
        if view == DebugView::Motion && self.skinning == Skinning::Vertex {
            return Err(Error::NoSkinnedVertices);
        }
        for model in models {
            for draw in &model.draws {
                for &layer in layers(view) {
                    let Some(key) = self.key(draw, layer) else { continue };
                    let pipeline = || build(builder, layouts, key, self.samples);
                    if let Entry::Vacant(entry) = self.pipelines.entry(key) {
                        entry.insert(pipeline()?);
                    }
                }
            }
        }
        self.ready = Some(view);
        Ok(())
    }

    /// Draws all visible instances. [`Self::prepare`] has built the pipelines of the view.
    pub fn record(&self, input: &PassInput, view: DebugView) {
        for &layer in layers(view) {
            crowd_draw::record(input, Eye::Camera, |draw| self.pipelines.get(&self.key(draw, layer)?));
        }
    }

    /// Returns the pipeline of a draw, or `None` if this layer does not show the draw.
    fn key(&self, draw: &GpuDraw, view: u32) -> Option<DebugViewKey> {
        if view == debug_views::WIRES && draw.topology != Topology::Triangles {
            return None;
        }
        Some(DebugViewKey {
            view,
            topology: draw.topology,
            features: draw.features & FEATURES,
            variant: draw.skin_variant(self.skinning),
        })
    }
}

/// The material features that matter without light.
const FEATURES: u32 = material_features::FLAT
    | material_features::THIN
    | material_features::MASKED
    | material_features::TEX_COORDS_VARY
    | material_features::BASE_COLOR_TEXTURE
    | material_features::COLOR_FACTOR
    | material_features::MIRRORED_BY_CLIPS
    | material_features::TANGENTS;

/// Returns the values of `DEBUG_VIEW` that are drawn one over the other.
fn layers(view: DebugView) -> &'static [u32] {
    match view {
        DebugView::Lit => &[],
        DebugView::Normals => &[debug_views::NORMALS],
        DebugView::Tangents => &[debug_views::TANGENTS],
        DebugView::TexCoords => &[debug_views::TEX_COORDS],
        DebugView::Colors => &[debug_views::COLORS],
        DebugView::Weights => &[debug_views::WEIGHTS],
        DebugView::Joints => &[debug_views::JOINTS],
        DebugView::Influences => &[debug_views::INFLUENCES],
        DebugView::Heat => &[debug_views::HEAT],
        DebugView::Instances => &[debug_views::INSTANCES],
        DebugView::Poses => &[debug_views::POSES],
        DebugView::Lod => &[debug_views::LOD],
        DebugView::Motion => &[debug_views::MOTION],
        // The surface hides the edges behind it.
        DebugView::Wireframe => &[debug_views::CLAY, debug_views::WIRES],
    }
}

fn build(
    builder: &PipelineBuilder,
    layouts: &Layouts,
    key: DebugViewKey,
    samples: vk::SampleCountFlags,
) -> vulkan::Result<Pipeline> {
    let DebugViewKey { view, topology, features, variant } = key;
    let is_wires = view == debug_views::WIRES;
    let name = format!("debug view: {key:?}");
    let (vertex, layout) = match variant.skinning {
        Skinning::Compute if view == debug_views::MOTION => (&spirv::MOTION_VERT, &layouts.motion),
        Skinning::Compute => (&spirv::DEBUG_VIEW_VERT, &layouts.scene),
        Skinning::Vertex => (&spirv::DEBUG_VIEW_SKINNING_VERT, &layouts.scene),
    };
    builder.graphics(&GraphicsPipelineInfo {
        fragment: Some(&spirv::DEBUG_VIEW_FRAG),
        constants: &SpecializationConstants { features, debug_view: view, ..variant.constants() }.words(),
        vertex_input: vertex_input::NUMBERED_CHARACTERS,
        topology: vertex_input::primitive(topology),
        polygon_mode: if is_wires { vk::PolygonMode::LINE } else { vk::PolygonMode::FILL },
        color_format: Some(HDR_FORMAT),
        depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, !is_wires)),
        samples,
        // Slightly nearer than the surface.
        depth_bias: is_wires.then_some((64.0, 1.0)),
        ..GraphicsPipelineInfo::new(&name, layout, vertex)
    })
}
