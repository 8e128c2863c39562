//! The motion view (`motion_view.vert`, `motion_view.frag`): the way of each vertex in world space since the last frame.
//!
//! In: the crowd, the plan of a frame, and the pages of the frame before. Out: colour and depth. Nothing is copied: all that a
//! frame adds is a list of the place of each instance's vertices, by its number, with which the next frame reads the pages of
//! this one.
//!
//! Invariant: nobody writes a slot before the next frame has finished. So there is one slot more than frames in flight as soon as
//! motion was shown ([`Renderer::keep_last_slot`]).

use std::mem::MaybeUninit;
use std::sync::{Arc, Weak};

use ash::vk;
use bytemuck::{Pod, Zeroable};

use crate::crowd::{Batch, Crowd};
use crate::renderer::error::{Error, Result};
use crate::renderer::layouts::VERTICES_SET;
use crate::renderer::memory::Additions;
use crate::renderer::output::attachments::{DEPTH_FORMAT, HDR_FORMAT};
use crate::renderer::passes::crowd_draw::{self, CrowdPipelines, Eye};
use crate::renderer::passes::shadow_pass::depth_features;
use crate::renderer::passes::{Building, PassInput, vertex_input};
use crate::renderer::resident::model::{GpuDraw, GpuModel};
use crate::renderer::{Renderer, Shot, Skinning};
use crate::shader_types::{InstanceData, JointMatrix, SkinnedVertex};
use crate::vulkan;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::{GraphicsPipelineInfo, PipelineLayout};
use crate::vulkan::spirv;

/// The set of a page of the last frame. It takes the place of the light.
pub const LAST_PAGE_SET: u32 = 2;

/// Where a frame has an instance and its skinned vertices, so that the next frame can find them.
#[repr(C, align(16))]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct InstanceHistory {
    pub world_from_model: JointMatrix,
    pub page: u32,
    /// Index of the first vertex in the page.
    pub first_vertex: u32,
    /// The number of vertices: those of the pose's finest level of detail. 0 if the instance was not visible.
    pub vertex_count: u32,
    /// 0, to the end of 16 bytes.
    pub padding: u32,
}

/// Push constants of `motion_view.vert`: one page of the last frame.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct MotionConstants {
    pub page: u32,
    /// The way whose colour is half as strong as colours can be.
    pub half_way_metres: f32,
}

#[derive(Default)]
pub struct MotionView {
    /// What the next frame must know about the last frame of each slot.
    histories: Vec<History>,
    slot: usize,
    /// `None` before motion is first shown.
    drawing: Option<Drawing>,
}

/// What the next frame must know about a frame that shows motion.
#[derive(Default)]
struct History {
    /// The number of frames before this one.
    frame_number: u64,
    crowd: Weak<()>,
    time_seconds: f64,
    crowd_height_metres: f32,
    instances: Option<Buffer>,
    /// The number of each page, and the set with which the next frame reads it.
    pages: Vec<(u64, DescriptorSet)>,
}

struct Drawing {
    pipelines: CrowdPipelines,
    layout: PipelineLayout,
    set_layout: DescriptorSetLayout,
    /// The page of a frame that shows nothing.
    no_vertices: Buffer,
}

impl MotionView {
    /// Builds what is missing for the next frame, if it shows motion.
    ///
    /// # Errors
    /// No skinned vertices are kept, no memory, or the driver cannot build a pipeline.
    pub fn plan(&mut self, renderer: &mut Renderer, is_shown: bool) -> Result<()> {
        if !is_shown {
            // A frame that was skipped may have kept its places, and this one takes its number, its slot and its pages.
            self.histories.iter_mut().for_each(|history| history.crowd = Weak::new());
            return Ok(());
        }
        if renderer.building().skinning == Skinning::Vertex {
            return Err(Error::NoSkinnedVertices("the debug view motion"));
        }
        renderer.keep_last_slot()?;
        if self.drawing.is_none() {
            self.drawing = Some(Drawing::new(renderer.building())?);
        }
        Ok(())
    }

    /// Keeps the places of all vertices of the crowd in a slot, for a frame that shows motion.
    pub fn write(&mut self, renderer: &Renderer, slot: usize, crowd: &Crowd, shot: &Shot) -> Result<()> {
        let Some(drawing) = &self.drawing else { return Ok(()) };
        self.histories.resize_with(renderer.slot_count(), History::default);
        self.slot = slot;
        let bounds = crowd.bounds();
        let history = &mut self.histories[slot];
        history.frame_number = renderer.frame_number();
        history.crowd = Arc::downgrade(&crowd.identity);
        history.time_seconds = shot.time_seconds;
        history.crowd_height_metres = bounds.max.y - bounds.min.y;
        let needed_bytes = (crowd.instance_count() * size_of::<InstanceHistory>()) as u64;
        let names = ("instance history", vk::BufferUsageFlags::STORAGE_BUFFER);
        if Buffer::make_room(&mut history.instances, renderer.device(), names, (needed_bytes, needed_bytes))? {
            // Its sets refer to the old buffer.
            history.pages.clear();
        }
        let Some(instances) = &mut history.instances else { return Ok(()) };
        // SAFETY: the slot's last frame and the frame after it, which have read the buffer, have finished.
        let instances = unsafe { instances.mapped_for_writing::<InstanceHistory>(crowd.instance_count()) };
        instances.fill(MaybeUninit::zeroed());
        let plan = renderer.plan();
        for InstanceData { world_from_model, pose, numbers: [number, _], .. } in crowd.visible_instances() {
            let Some(&Batch { page, vertex_count, .. }) = plan.batch_of(pose) else { continue };
            let first_vertex = plan.records[pose as usize].skinned_vertex_offset;
            let history = InstanceHistory { world_from_model, page, first_vertex, vertex_count, padding: 0 };
            instances[number as usize].write(history);
        }
        let pages = renderer.pages(slot).iter().map(|page| (page.number, &page.vertices));
        let nothing = (pages.len() == 0).then_some((u64::MAX, &drawing.no_vertices));
        Ok(history.write_sets(renderer.device(), drawing, pages.chain(nothing))?)
    }

    /// Draws all visible instances. A shader reads one page of the last frame at a time.
    pub fn record(&self, input: &PassInput) {
        let Some(Drawing { pipelines, layout, .. }) = &self.drawing else { return };
        let PassInput { recorder, slot, .. } = *input;
        let count = self.histories.len();
        let (present, before) = (&self.histories[self.slot], &self.histories[(self.slot + count - 1) % count]);
        // Unless the last frame shows the motion of the same crowd, the present one takes its place: nothing has moved.
        let is_last = before.frame_number + 1 == present.frame_number && before.crowd.ptr_eq(&present.crowd);
        let past = if is_last { before } else { present };
        // The colours show speeds, because the time between two frames of a window is never the same.
        let seconds = (present.time_seconds - past.time_seconds).abs() as f32;
        let half_way_metres = (seconds * present.crowd_height_metres).max(f32::MIN_POSITIVE);
        let bind_vertices = |batch: &Batch, _: &GpuModel| {
            if let Some(page) = slot.pages.get(batch.page as usize) {
                recorder.bind_set(layout, VERTICES_SET, &page.set);
            }
        };
        for (page, (_, set)) in (0..).zip(&past.pages) {
            recorder.bind_set(layout, LAST_PAGE_SET, set);
            recorder.push_constants(layout, &MotionConstants { page, half_way_metres });
            crowd_draw::record_with(input, layout, Eye::Camera, bind_vertices, pipelines);
        }
    }
}

impl History {
    /// Makes the sets of all pages that have none yet, given the number and the vertices of each.
    fn write_sets<'a>(
        &mut self,
        device: &Arc<Device>,
        drawing: &Drawing,
        pages: impl Iterator<Item = (u64, &'a Buffer)>,
    ) -> vulkan::Result<()> {
        let Some(instances) = &self.instances else { return Ok(()) };
        let mut count = 0;
        for (number, vertices) in pages {
            if self.pages.get(count).is_none_or(|(own, _)| *own != number) {
                let bindings = [instances, vertices].map(Binding::Buffer);
                let set = DescriptorSet::new(device, "last page set", &drawing.set_layout, &bindings)?;
                self.pages.truncate(count);
                self.pages.push((number, set));
            }
            count += 1;
        }
        self.pages.truncate(count);
        Ok(())
    }
}

impl Drawing {
    fn new(building: Building) -> vulkan::Result<Self> {
        let Building { builder, layouts, skinning, samples, .. } = building;
        let device = builder.device();
        let bindings = [(vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::VERTEX); 2];
        let set_layout = DescriptorSetLayout::new(device, "last page set layout", &bindings)?;
        let sets = [&layouts.frame, &layouts.page, &set_layout, &layouts.material];
        let (stage, constants_bytes) = (vk::ShaderStageFlags::VERTEX, size_of::<MotionConstants>());
        let layout = PipelineLayout::new(device, "motion pipeline layout", stage, &sets, constants_bytes)?;
        let constants_of = |draw: &GpuDraw| Some(draw.constants(skinning, depth_features(draw)));
        let pipelines = CrowdPipelines::new(building, constants_of, |_| GraphicsPipelineInfo {
            fragment: Some(&spirv::MOTION_VIEW_FRAG),
            vertex_input: vertex_input::NUMBERED_CHARACTERS,
            color_format: Some(HDR_FORMAT),
            depth: Some((DEPTH_FORMAT, vk::CompareOp::GREATER, true)),
            samples,
            ..GraphicsPipelineInfo::new("motion", &layout, &spirv::MOTION_VIEW_VERT)
        })?;
        let (usage, memory) = (vk::BufferUsageFlags::STORAGE_BUFFER, BufferMemory::Device);
        let no_vertices = Buffer::new(device, "no vertices", size_of::<SkinnedVertex>() as u64, usage, memory)?;
        Ok(Self { pipelines, layout, set_layout, no_vertices })
    }
}

/// Returns what the view adds to the memory of frames: a slot, and a list for each slot, of which there are at most four.
pub fn additions(is_shown: bool, instances: u64) -> Additions {
    let slots = u64::from(is_shown);
    Additions { slots, bytes: slots * 4 * instances * size_of::<InstanceHistory>() as u64 }
}
