//! A slot: everything that one frame in flight owns, so that the CPU can write one frame while the GPU draws another.
//!
//! In: the frame plan. Out: mapped memory for the CPU half of the frame, and buffers and descriptor sets for the GPU half.
//! The module is private. The renderer hands out the slot's memory only between [`FrameSlot::wait`] and the submission, so safe
//! code outside of it cannot write memory that the GPU still reads. Each slot has whole buffers, not slices of shared ones,
//! because synchronization validation tracks buffers.

pub mod buffers;

use std::mem::MaybeUninit;
use std::sync::Arc;

use ash::vk;

use self::buffers::{Page, StreamBuffer, StreamInfo, ensure_pages};
use crate::animation::PoseStreams;
use crate::crowd::FramePlan;
use crate::renderer::error::Result;
use crate::renderer::layouts::Layouts;
use crate::renderer::memory::MemoryLimits;
use crate::renderer::settings::UploadPath;
use crate::renderer::times::Pass;
use crate::shader_types::{FrameData, InstanceData, JointMatrix, PoseRecord};
use crate::vulkan;
use crate::vulkan::barrier::Access;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::CommandPool;
use crate::vulkan::descriptors::{Binding, DescriptorSet};
use crate::vulkan::device::Device;
use crate::vulkan::recorder::Recorder;
use crate::vulkan::sync::{BinarySemaphore, Fence, TimelineSemaphore};
use crate::vulkan::timestamps::Timestamps;

/// The memory that the CPU half of a frame fills. The GPU has finished with it.
pub struct FrameMemory<'a> {
    /// The joint matrices and morph weights of all visible poses, at the offsets of their records.
    pub streams: PoseStreams<'a>,
    /// One element for each visible instance.
    pub instances: &'a mut [MaybeUninit<InstanceData>],
}

/// One frame in flight.
pub struct FrameSlot {
    /// The commands that do not need the output's image: upload, skin, shadow, draw.
    pub scene_commands: CommandPool,
    /// The commands that write the output's image.
    pub output_commands: CommandPool,
    /// The frame set: frame data, pose records, palette, morph weights, instances.
    pub set: DescriptorSet,
    pub pages: Vec<Page>,
    /// The timestamps of the passes; `None` if the queue has none.
    pub timestamps: Option<Timestamps>,
    /// Signalled when the window system has released an image.
    pub image_available: BinarySemaphore,
    records: StreamBuffer,
    palette: StreamBuffer,
    morph_weights: StreamBuffer,
    instances: StreamBuffer,
    /// Signalled with the timeline, under validation only: see [`Fence`].
    finished: Option<Fence>,
    /// The value of the timeline that ends the slot's last frame; `None` after a wait for it.
    in_flight_until: Option<u64>,
    frame_data: Buffer,
    /// Whether the frame set was not written yet, or a buffer was replaced since.
    set_is_stale: bool,
    serialize: bool,
    index: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct SlotSettings {
    /// How streams reach the GPU.
    pub path: UploadPath,
    pub limits: MemoryLimits,
    /// Whether each pass waits for the end of the pass before.
    pub serialize: bool,
}

impl FrameSlot {
    /// Creates slot `index` with room for a small crowd.
    pub fn new(device: &Arc<Device>, layouts: &Layouts, index: usize, settings: SlotSettings) -> Result<Self> {
        let SlotSettings { path, limits, serialize } = settings;
        let stream = |name, more_usage| {
            let (name, usage) = (format!("{name} {index}"), vk::BufferUsageFlags::STORAGE_BUFFER | more_usage);
            StreamBuffer::new(device, StreamInfo { name, path, usage, limit_bytes: limits.storage_bytes })
        };
        let storage = |name| stream(name, vk::BufferUsageFlags::empty());
        let frame_data = Buffer::new(
            device,
            &format!("frame data {index}"),
            size_of::<FrameData>() as u64,
            vk::BufferUsageFlags::UNIFORM_BUFFER,
            BufferMemory::Upload,
        )?;
        let finished = || Fence::new(device, &format!("frame {index} finished"));
        Ok(Self {
            scene_commands: CommandPool::new(device, &format!("frame {index}: scene"))?,
            output_commands: CommandPool::new(device, &format!("frame {index}: output"))?,
            set: DescriptorSet::new(device, &format!("frame set {index}"), &layouts.frame, &[])?,
            pages: Vec::new(),
            timestamps: Timestamps::new(device, &format!("timestamps {index}"), Pass::COUNT as u32 + 1)?,
            image_available: BinarySemaphore::new(device, &format!("image available {index}"))?,
            records: storage("pose records")?,
            palette: storage("palette")?,
            morph_weights: storage("morph weights")?,
            instances: stream("instances", vk::BufferUsageFlags::VERTEX_BUFFER)?,
            finished: device.instance.is_validating().then(finished).transpose()?,
            in_flight_until: None,
            frame_data,
            set_is_stale: true,
            serialize,
            index,
        })
    }

    /// Waits until the GPU has finished the slot's last frame. Only then may its memory be written.
    pub fn wait(&mut self, timeline: &TimelineSemaphore) -> vulkan::Result<()> {
        if let Some(value) = self.in_flight_until {
            timeline.wait(value)?;
            self.finished.as_ref().map_or(Ok(()), Fence::wait_and_reset)?;
            self.in_flight_until = None;
        }
        Ok(())
    }

    /// Asserts that [`Self::wait`] was called since the slot's last frame was submitted. The CPU may write the slot's memory.
    pub fn assert_finished(&self) {
        assert!(self.in_flight_until.is_none(), "the GPU may still read this slot: call FrameSlot::wait first");
    }

    /// Returns the pass of the slot's frame in flight that ran last, and the timeline value that ends the frame.
    pub fn last_pass(&self) -> Option<(u64, Pass)> {
        let written = self.timestamps.as_ref()?.written_count()?;
        Some((self.in_flight_until?, Pass::after_timestamps(written)))
    }

    /// Returns the fence that the slot's next submission signals, or a null handle.
    pub fn fence(&self) -> vk::Fence {
        self.finished.as_ref().map_or(vk::Fence::null(), Fence::raw)
    }

    /// Records that a submission signals the timeline with `value`.
    pub fn submitted(&mut self, value: u64) {
        self.in_flight_until = Some(value);
        if let Some(timestamps) = &mut self.timestamps {
            timestamps.submitted();
        }
    }

    /// Makes room for a frame, and writes its pose records. Call it after [`Self::wait`]. In a steady frame the buffers are large
    /// enough; for a growing crowd they are replaced by larger ones.
    pub fn prepare(
        &mut self,
        device: &Arc<Device>,
        layouts: &Layouts,
        plan: &FramePlan,
        page_bytes: Option<u64>,
    ) -> Result<()> {
        self.assert_finished();
        let bytes = |count: u32, size: usize| u64::from(count) * size as u64;
        let instances = plan.instance_count;
        // A field, because the set stays stale if one of the buffers cannot be enlarged.
        self.set_is_stale |=
            self.palette.ensure(device, bytes(plan.joint_count, size_of::<JointMatrix>()), instances)?;
        self.set_is_stale |=
            self.morph_weights.ensure(device, bytes(plan.morph_weight_count, size_of::<f32>()), instances)?;
        self.set_is_stale |= self.records.ensure(device, size_of_val(&plan.records[..]) as u64, instances)?;
        self.set_is_stale |= self.instances.ensure(device, bytes(instances, size_of::<InstanceData>()), instances)?;
        let streams = [&self.records, &self.palette, &self.morph_weights, &self.instances];
        let buffers = streams.map(StreamBuffer::read_by_shaders);
        if let (true, [Some(records), Some(palette), Some(morph_weights), Some(instances)]) =
            (self.set_is_stale, buffers)
        {
            let bindings = [&self.frame_data, records, palette, morph_weights, instances].map(Binding::Buffer);
            // SAFETY: the slot's last frame, the only user of the set, has finished.
            unsafe { self.set.write(&bindings) };
            self.set_is_stale = false;
        }
        if let Some(page_bytes) = page_bytes {
            ensure_pages(&mut self.pages, device, layouts, (self.index, &plan.pages, page_bytes))?;
        }
        // SAFETY: the slot's last frame has finished.
        let records = unsafe { self.records.elements::<PoseRecord>() };
        records.write_copy_of_slice(&plan.records);
        Ok(())
    }

    /// Returns the memory for the frame that [`Self::prepare`] has made room for.
    pub fn memory(&mut self) -> FrameMemory<'_> {
        self.assert_finished();
        let Self { palette, morph_weights, instances, .. } = self;
        // SAFETY: the slot's last frame has finished, and the next one is submitted through `&mut self`.
        unsafe {
            let memory = palette.memory_kind();
            let streams = PoseStreams { palette: palette.elements(), morph_weights: morph_weights.elements(), memory };
            FrameMemory { streams, instances: instances.elements() }
        }
    }

    /// Writes camera, light, ground and look of the frame.
    pub fn write_frame_data(&mut self, data: FrameData) {
        self.assert_finished();
        // SAFETY: the slot's last frame has finished.
        if let [element] = unsafe { self.frame_data.mapped_for_writing(1) } {
            element.write(data);
        }
    }

    pub fn instances(&self) -> Option<&Buffer> {
        self.instances.read_by_shaders()
    }

    /// Copies the streams of the staged path from mapped to device memory.
    pub fn record_upload(&self, recorder: Recorder) {
        let streams = [&self.records, &self.palette, &self.morph_weights, &self.instances];
        let mut is_staged = false;
        for (from, to, size) in streams.into_iter().filter_map(StreamBuffer::pending_copy) {
            recorder.copy_buffer(from, to, vk::BufferCopy { src_offset: 0, dst_offset: 0, size });
            is_staged = true;
        }
        if is_staged {
            // Skinning, vertex shaders and vertex attributes read the copies (RAW).
            let readers = Access::COMPUTE_READ.and(Access::VERTEX_READ).and(Access::ATTRIBUTE_READ);
            recorder.memory_barrier(Access::TRANSFER_WRITE, readers);
        }
    }

    /// Copies out this slot's previous timestamps, then resets the query pool. Recorded before the first pass.
    pub fn begin_timing(&self, recorder: Recorder) {
        if let Some(timestamps) = &self.timestamps {
            timestamps.cmd_begin(recorder);
            timestamps.cmd_write(recorder, vk::PipelineStageFlags2::NONE, 0);
        }
    }

    /// Records one pass, with its label and its timestamp. With `serialize`, everything after the pass waits for its end.
    pub fn pass(&self, recorder: Recorder, pass: Pass, record: impl FnOnce()) {
        recorder.labelled(pass.label(), record);
        if self.serialize {
            recorder.memory_barrier(Access::EVERYTHING, Access::EVERYTHING);
        }
        if let Some(timestamps) = &self.timestamps {
            timestamps.cmd_write(recorder, pass.last_stage(), pass as u32 + 1);
        }
    }
}
