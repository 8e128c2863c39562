//! The bones and joint axes of every visible instance (`bone_view.vert`, `bone_view.frag`).
//!
//! In: the bones of each model, the palette and the instances. Out: colour, over everything that was drawn before. Depth is
//! cleared first, so that bones hide each other but nothing hides them. Each batch takes one draw without indices: its vertices
//! are the corners of all bones of the model, its instances those of the crowd. Everything is built when bones are first shown.

use ash::vk;
use bytemuck::{Pod, Zeroable};

use crate::crowd::Crowd;
use crate::model::{Bone, Model};
use crate::renderer::Renderer;
use crate::renderer::error::Result;
use crate::renderer::layouts::FRAME_SET;
use crate::renderer::output::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::renderer::passes::{Building, PassInput, vertex_input};
use crate::shader_types::JointMatrix;
use crate::vulkan;
use crate::vulkan::buffer::Buffer;
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::pipeline::{GraphicsPipelineInfo, Pipeline, PipelineLayout};
use crate::vulkan::spirv;

/// The vertex count of a bone, as in `bone_view.vert`: eight triangles of an octahedron, and three for each of three axes.
pub const VERTICES_PER_BONE: u32 = 24 + 3 * 9;

pub const BONES_SET: u32 = 1;

/// One bone of a model. See [`Bone`].
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct GpuBone {
    pub mesh_from_base: JointMatrix,
    /// The tip at the time of binding, in mesh space.
    pub tip_mesh: [f32; 3],
    /// The palette entry of the joint at the base, relative to the pose's `palette_offset`.
    pub base: u32,
    /// The palette entry that moves the tip, relative to the pose's `palette_offset`.
    pub tip: u32,
    /// The node of the base, which decides the colour.
    pub node: u32,
    /// The length of the axes in mesh space, 0 for none.
    pub axis_length: f32,
    /// Rounds the size up to 80 bytes.
    pub padding: u32,
}

#[derive(Default)]
pub struct BoneView {
    /// `None` before bones are first shown.
    drawing: Option<Drawing>,
}

struct Drawing {
    pipeline: Pipeline,
    layout: PipelineLayout,
    models: Vec<ModelBones>,
}

struct ModelBones {
    count: u32,
    set: DescriptorSet,
    _buffer: Buffer,
}

impl BoneView {
    /// Builds what is missing for the next frame, if it shows bones. They need the joints of all levels of detail.
    pub fn plan(&mut self, renderer: &mut Renderer, crowd: &Crowd, is_shown: bool) -> Result<()> {
        if is_shown {
            renderer.keep_all_joints();
            if self.drawing.is_none() {
                self.drawing = Some(Drawing::new(renderer.building(), crowd.models())?);
            }
        }
        Ok(())
    }

    pub fn record(&self, input: &PassInput) {
        let PassInput { recorder, plan, slot, extent, .. } = *input;
        let Some(Drawing { pipeline, layout, models }) = &self.drawing else { return };
        let Some(instances) = slot.instances() else { return };
        recorder.clear_depth(extent, 0.0);
        recorder.bind_pipeline(pipeline);
        recorder.bind_set(layout, FRAME_SET, &slot.set);
        recorder.bind_vertex_buffer(vertex_input::INSTANCE_BINDING, instances);
        recorder.set_culling(vk::CullModeFlags::NONE, vk::FrontFace::COUNTER_CLOCKWISE);
        for batch in plan.batches.iter().filter(|batch| batch.seen.count > 0) {
            let Some(model) = models.get(batch.model as usize).filter(|model| model.count > 0) else { continue };
            recorder.bind_set(layout, BONES_SET, &model.set);
            let vertex_count = model.count.saturating_mul(VERTICES_PER_BONE);
            recorder.draw(0..vertex_count, (batch.seen.first, batch.seen.count));
        }
    }
}

impl Drawing {
    fn new(building: Building, models: &[Model]) -> vulkan::Result<Self> {
        let device = building.builder.device();
        let bindings = [(vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::VERTEX)];
        let set_layout = DescriptorSetLayout::new(device, "bones set layout", &bindings)?;
        let sets = [&building.layouts.frame, &set_layout];
        let layout = PipelineLayout::new(device, "bones pipeline layout", vk::ShaderStageFlags::VERTEX, &sets, 0)?;
        let bones_of = |model: &Model| {
            let name = format!("{}: bones", model.name);
            let buffer = Buffer::filled(device, &name, vk::BufferUsageFlags::STORAGE_BUFFER, &gpu_bones(model))?;
            let set = DescriptorSet::new(device, &name, &set_layout, &[Binding::Buffer(&buffer)])?;
            Ok(ModelBones { count: model.bones.len() as u32, set, _buffer: buffer })
        };
        let models = models.iter().map(bones_of).collect::<vulkan::Result<_>>()?;
        let pipeline = building.builder.graphics(&GraphicsPipelineInfo {
            fragment: Some(&spirv::BONE_VIEW_FRAG),
            vertex_input: vertex_input::INSTANCES,
            color_format: Some(HDR_FORMAT),
            depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, true)),
            samples: building.samples,
            ..GraphicsPipelineInfo::new("bones", &layout, &spirv::BONE_VIEW_VERT)
        })?;
        Ok(Self { pipeline, layout, models })
    }
}

fn gpu_bones(model: &Model) -> Vec<GpuBone> {
    let gpu_bone = |bone: &Bone| GpuBone {
        mesh_from_base: bone.mesh_from_base.into(),
        tip_mesh: bone.tip_mesh.to_array(),
        base: bone.base,
        tip: bone.tip,
        node: model.palette.nodes[bone.base as usize],
        axis_length: bone.axis_length,
        padding: 0,
    };
    model.bones.iter().map(gpu_bone).collect()
}

/// Returns the size of the bones of models in bytes, if they are shown.
pub fn bytes(are_shown: bool, models: &[Model]) -> u64 {
    let shown = if are_shown { models } else { &[] };
    shown.iter().map(|model| (model.bones.len() * size_of::<GpuBone>()) as u64).sum()
}
