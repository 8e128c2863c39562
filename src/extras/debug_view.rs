//! Debug views (`debug_view.vert`, `debug_view_skinning.vert`, `debug_view.frag`): characters that show data instead of light.
//!
//! In: the instances and the same skinned vertices as the character pass, the influences of the bind-pose vertices, and the
//! palette entries of each model. Out: colour and depth. Blended materials are opaque here, so the front surface is seen.
//!
//! The character pass has other shaders, so it pays nothing for the views. Each combination of view, topology, material features
//! and skinning variant has its own pipeline. Pipelines are built when a view is first drawn, so most programs build none.

use std::collections::BTreeMap;

use ash::vk;
use bytemuck::{Pod, Zeroable};

use crate::crowd::{Batch, Crowd};
use crate::model::{Model, Topology};
use crate::renderer::Renderer;
use crate::renderer::error::{Error, Result, Setting};
use crate::renderer::layouts::VERTICES_SET;
use crate::renderer::output::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::renderer::passes::crowd_draw::{self, CrowdPipelines, Eye};
use crate::renderer::passes::{Building, PassInput, vertex_input};
use crate::renderer::resident::model::{GpuDraw, GpuModel};
use crate::shader_types::material_features;
use crate::vulkan;
use crate::vulkan::buffer::Buffer;
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::pipeline::{GraphicsPipelineInfo, PipelineLayout};
use crate::vulkan::spirv;

/// The set of a model's data for debug views. It takes the place of the light.
pub const DEBUG_SET: u32 = 2;

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct PaletteEntry {
    /// Index of the entry's node in the skeleton.
    pub node: u32,
    /// 1 if the entry is a joint of a skin, 0 if it belongs to a rigid mesh.
    pub is_joint: u32,
}

/// What the views show of a batch: push constants.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
pub struct DebugConstants {
    /// The node whose weights are shown as heat; no node if it is `u32::MAX`.
    pub shown_node: u32,
    /// The level of detail in the camera's view.
    pub level: u32,
    pub coarsest_level: u32,
}

/// The data that the surfaces of characters show. All views draw the same skinned vertices. Each has the number that
/// `debug_views.glsl` has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum DebugView {
    #[default]
    Lit = 0,
    Normals = 1,
    /// The vertex tangents in world space; grey without tangents.
    Tangents = 2,
    TexCoords = 3,
    /// The colours of the vertices (COLOR_0), times the tint of the instance; white without them.
    Colors = 13,
    Weights = 4,
    Joints = 5,
    /// The number of joints of each vertex: 0 for rigid meshes.
    Influences = 6,
    /// The weight of one joint of each model, as heat.
    Heat = 7,
    Instances = 8,
    Poses = 9,
    Lod = 12,
    /// The way of each vertex in world space since the last frame: red is x, green is y, blue is z.
    Motion = 14,
    Wireframe = 11,
}

impl DebugView {
    /// The value of `DEBUG_VIEW` for the surface below the wires.
    pub const CLAY: u32 = 10;
    /// The value of `DEBUG_VIEW` for the edges of triangles.
    pub const WIRES: u32 = Self::Wireframe as u32;

    /// All views that need no further choice, in the order in which `view` shows them.
    pub const ALL: [Self; 13] = {
        use DebugView::*;
        [
            Lit, Weights, Joints, Influences, Normals, Tangents, TexCoords, Colors, Instances, Poses, Lod, Motion,
            Wireframe,
        ]
    };

    /// Returns the name that options and titles use.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    pub fn legend(self) -> Option<&'static str> {
        Some(self.facts().1).filter(|legend| !legend.is_empty())
    }

    /// Returns the name, the meaning of the colours, and the values of `DEBUG_VIEW` that are drawn one over the other. The views
    /// without such a value are drawn elsewhere.
    fn facts(self) -> (&'static str, &'static str, &'static [u32]) {
        match self {
            Self::Lit => ("lit", "", &[]),
            Self::Normals => ("normals", "x red, y green, z blue; grey is 0", &[Self::Normals as u32]),
            Self::Tangents => ("tangents", "x red, y green, z blue; grey: no tangents", &[Self::Tangents as u32]),
            Self::TexCoords => ("texcoords", "u red, v green", &[Self::TexCoords as u32]),
            Self::Colors => ("colors", "the colours of the vertices; white: none", &[Self::Colors as u32]),
            Self::Weights => ("weights", "the colours of the joints, mixed by weight", &[Self::Weights as u32]),
            Self::Joints => ("joints", "the colour of the strongest joint", &[Self::Joints as u32]),
            Self::Influences => (
                "influences",
                "joints: 1 blue, 2 cyan, 3 green, 4 yellow, more red; 0 grey",
                &[Self::Influences as u32],
            ),
            Self::Heat => ("heat", "grey 0, then blue, green (half), yellow, red 1", &[Self::Heat as u32]),
            Self::Instances => ("instances", "a colour for each instance", &[Self::Instances as u32]),
            Self::Poses => ("poses", "the same colour: the same pose", &[Self::Poses as u32]),
            Self::Lod => ("lod", "grey: full detail, then green to red: coarser", &[Self::Lod as u32]),
            Self::Motion => ("motion", "way since the last frame: x red, y green, z blue; grey 0; black: unknown", &[]),
            // The surface hides the edges behind it.
            Self::Wireframe => ("wireframe", "", &[Self::CLAY, Self::WIRES]),
        }
    }

    /// Returns the view after this one, and the first one after the last.
    pub fn next(self) -> Self {
        let at = Self::ALL.iter().position(|&view| view == self).map_or(0, |at| (at + 1) % Self::ALL.len());
        Self::ALL[at]
    }
}

#[derive(Default)]
pub struct DebugViews {
    /// `None` before a view is first drawn.
    drawing: Option<Drawing>,
}

struct Drawing {
    /// The pipelines for each value of `DEBUG_VIEW` that has been drawn.
    pipelines: BTreeMap<u32, CrowdPipelines>,
    layout: PipelineLayout,
    models: Vec<DebugModel>,
}

struct DebugModel {
    /// Bind-pose vertices, influences, palette entries.
    set: DescriptorSet,
    coarsest_level: u32,
    _palette_entries: Buffer,
}

impl DebugViews {
    /// Builds the pipelines of a view that has not been shown before.
    ///
    /// # Errors
    /// The device draws no edges, no memory, or the driver cannot build a pipeline.
    pub fn plan(&mut self, renderer: &Renderer, crowd: &Crowd, view: DebugView) -> Result<()> {
        let (building, physical) = (renderer.building(), &renderer.device().physical);
        if view == DebugView::Wireframe && !physical.fill_mode_non_solid {
            let names = DebugView::ALL.into_iter().filter(|&view| view != DebugView::Wireframe).map(DebugView::name);
            return Err(Error::Unsupported {
                setting: Setting::View("the debug view wireframe"),
                device: physical.name.clone(),
                supported: names.collect::<Vec<_>>().join(", "),
            });
        }
        for &layer in view.facts().2 {
            let drawing = match &mut self.drawing {
                Some(drawing) => drawing,
                None => self.drawing.insert(Drawing::new(building, crowd.models())?),
            };
            drawing.prepare(building, layer)?;
        }
        Ok(())
    }

    /// Draws all visible instances, and returns true, if the view draws something. `joint_nodes` has the node of each model whose
    /// weights [`DebugView::Heat`] shows.
    pub fn record(&self, input: &PassInput, view: DebugView, joint_nodes: &[Option<u32>]) -> bool {
        let layers = view.facts().2;
        let Some(Drawing { pipelines, layout, models }) = self.drawing.as_ref().filter(|_| !layers.is_empty()) else {
            return false;
        };
        let PassInput { recorder, slot, .. } = *input;
        let bind_vertices = |batch: &Batch, model: &GpuModel| {
            // Vertex skinning has no pages.
            let page = slot.pages.get(batch.page as usize);
            recorder.bind_set(layout, VERTICES_SET, page.map_or(&model.set, |page| &page.set));
            let Some(debug) = models.get(batch.model as usize) else { return };
            recorder.bind_set(layout, DEBUG_SET, &debug.set);
            let node = joint_nodes.get(batch.model as usize).copied().flatten();
            let constants = DebugConstants {
                shown_node: node.unwrap_or(u32::MAX),
                level: batch.levels.camera,
                coarsest_level: debug.coarsest_level,
            };
            recorder.push_constants(layout, &constants);
        };
        for pipelines in layers.iter().filter_map(|layer| pipelines.get(layer)) {
            crowd_draw::record_with(input, layout, Eye::Camera, bind_vertices, pipelines);
        }
        true
    }
}

impl Drawing {
    fn new(building: Building, models: &[Model]) -> vulkan::Result<Self> {
        let Building { builder, layouts, skinning, .. } = building;
        let device = builder.device();
        let bindings = [(vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::VERTEX); 3];
        let set_layout = DescriptorSetLayout::new(device, "debug set layout", &bindings)?;
        let sets = [&layouts.frame, skinning.choose([&layouts.page, &layouts.model]), &set_layout, &layouts.material];
        let (stage, constants_bytes) = (vk::ShaderStageFlags::VERTEX, size_of::<DebugConstants>());
        let layout = PipelineLayout::new(device, "debug pipeline layout", stage, &sets, constants_bytes)?;
        let debug_model = |(model, gpu): (&Model, &GpuModel)| {
            let name = format!("{}: palette entries", model.name);
            let entry = |(&node, &is_joint): (&u32, &bool)| PaletteEntry { node, is_joint: is_joint.into() };
            let entries: Vec<_> = model.palette.nodes.iter().zip(&model.palette.is_joint).map(entry).collect();
            let entries = Buffer::filled(device, &name, vk::BufferUsageFlags::STORAGE_BUFFER, &entries)?;
            let [bind_vertices, influences, ..] = &gpu.buffers;
            let bindings = [bind_vertices, influences, &entries].map(Binding::Buffer);
            let set = DescriptorSet::new(device, &name, &set_layout, &bindings)?;
            let coarsest_level = model.geometry.coarser_levels.len() as u32;
            Ok(DebugModel { set, coarsest_level, _palette_entries: entries })
        };
        let models = models.iter().zip(building.models).map(debug_model).collect::<vulkan::Result<_>>()?;
        Ok(Self { pipelines: BTreeMap::new(), layout, models })
    }

    /// Builds the pipelines for a value of `DEBUG_VIEW`, if they do not exist yet.
    fn prepare(&mut self, building: Building, layer: u32) -> vulkan::Result<()> {
        if self.pipelines.contains_key(&layer) {
            return Ok(());
        }
        let Building { skinning, samples, .. } = building;
        let vertex = skinning.choose([&spirv::DEBUG_VIEW_VERT, &spirv::DEBUG_VIEW_SKINNING_VERT]);
        let name = format!("debug view {layer}");
        let is_wires = layer == DebugView::WIRES;
        let is_drawn = |draw: &GpuDraw| !is_wires || draw.topology == Topology::Triangles;
        let constants_of = |draw: &GpuDraw| is_drawn(draw).then(|| draw.constants(skinning, draw.features & FEATURES));
        let pipelines = CrowdPipelines::new(building, constants_of, |_| GraphicsPipelineInfo {
            fragment: Some(&spirv::DEBUG_VIEW_FRAG),
            constants: std::slice::from_ref(&layer),
            vertex_input: vertex_input::NUMBERED_CHARACTERS,
            polygon_mode: if is_wires { vk::PolygonMode::LINE } else { vk::PolygonMode::FILL },
            color_format: Some(HDR_FORMAT),
            depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, !is_wires)),
            samples,
            // Slightly nearer than the surface.
            depth_bias: is_wires.then_some((64.0, 1.0)),
            ..GraphicsPipelineInfo::new(&name, &self.layout, vertex)
        })?;
        self.pipelines.insert(layer, pipelines);
        Ok(())
    }
}

/// The material features that matter without light.
const FEATURES: u32 = {
    use material_features::*;
    FLAT | THIN | MASKED | TEX_COORDS_VARY | BASE_COLOR_TEXTURE | COLOR_FACTOR | MIRRORED_BY_CLIPS | TANGENTS
};

/// Returns the size of the palette entries of models in bytes, which all views but the lit one need.
pub fn bytes(view: DebugView, models: &[Model]) -> u64 {
    let entries = models.iter().map(|model| (model.palette.len() * size_of::<PaletteEntry>()) as u64).sum();
    if view.facts().2.is_empty() { 0 } else { entries }
}
