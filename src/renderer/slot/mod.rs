//! What one frame in flight owns, so that the CPU can write the next frame while the GPU draws this one.
//!
//! A slot's memory is lent for writing only after [`FrameSlot::wait`]: the borrow checker then makes a race between CPU
//! and GPU impossible to write. Whole buffers per slot, not slices of one buffer, also keep synchronization validation
//! honest: it tracks buffers.

pub mod plan;
pub mod readback;
pub mod stream_buffer;

use std::mem::MaybeUninit;
use std::sync::Arc;

use self::plan::{FramePlan, TANGENT_BYTES};
use self::stream_buffer::{StreamBuffer, UploadPath};
use crate::renderer::layouts::Layouts;
use crate::shader_types::{FrameData, InstanceData, JointMatrix, SkinnedVertex};
use crate::vulkan::Result;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::CommandPool;
use crate::vulkan::descriptors::{Binding, DescriptorSet};
use crate::vulkan::device::Device;
use crate::vulkan::sync::{BinarySemaphore, Fence, TimelineSemaphore};
use crate::vulkan::timestamps::Timestamps;
use ash::vk;

/// One page of the transient vertex buffer.
pub struct Page {
    /// Skinned vertices.
    pub buffer: Buffer,
    /// Their tangents, four bytes each; hardly anything where no model in the page has them.
    pub tangents: Buffer,
    /// The set that points to both.
    pub set: DescriptorSet,
}

impl Page {
    fn new(
        device: &Arc<Device>,
        layouts: &Layouts,
        name: &str,
        vertex_count: u64,
        with_tangents: bool,
    ) -> Result<Self> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC;
        let buffer =
            Buffer::new(device, name, vertex_count * size_of::<SkinnedVertex>() as u64, usage, BufferMemory::Device)?;
        let tangent_bytes = if with_tangents { vertex_count * TANGENT_BYTES } else { 0 };
        let tangents = Buffer::new(device, &format!("{name}: tangents"), tangent_bytes, usage, BufferMemory::Device)?;
        let bindings = [&buffer, &tangents].map(|buffer| Binding::Buffer(buffer.descriptor()));
        let set = DescriptorSet::new(device, name, &layouts.page, &bindings)?;
        Ok(Self { buffer, tangents, set })
    }

    /// Whether so many vertices fit.
    fn has_room_for(&self, vertex_count: u64, with_tangents: bool) -> bool {
        let tangent_bytes = if with_tangents { vertex_count * TANGENT_BYTES } else { 0 };
        vertex_count * size_of::<SkinnedVertex>() as u64 <= self.buffer.size_bytes
            && tangent_bytes <= self.tangents.size_bytes
    }
}

/// The passes of a frame, in order: what is labelled in captures and timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Copies of the staged path.
    Upload,
    /// `skin.comp`.
    Skin,
    /// The shadow map.
    Shadow,
    /// Characters, ground and sky.
    Draw,
    /// Tone mapping, and the copy for reading back.
    Post,
}

impl Pass {
    /// Number of passes.
    pub const COUNT: usize = 5;

    fn label(self) -> &'static std::ffi::CStr {
        match self {
            Self::Upload => c"upload",
            Self::Skin => c"skin",
            Self::Shadow => c"shadow",
            Self::Draw => c"draw",
            Self::Post => c"post",
        }
    }

    /// The stage after which the pass is over.
    fn last_stage(self) -> vk::PipelineStageFlags2 {
        match self {
            Self::Upload => vk::PipelineStageFlags2::COPY,
            Self::Skin => vk::PipelineStageFlags2::COMPUTE_SHADER,
            Self::Shadow => vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS,
            Self::Draw => vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT,
            // The copy for reading back comes after the colour.
            Self::Post => vk::PipelineStageFlags2::ALL_COMMANDS,
        }
    }
}

/// How much the visible poses of a frame stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamCounts {
    /// Of all poses together.
    pub joint_matrices: usize,
    /// Of all poses together.
    pub morph_weights: usize,
}

/// Memory of a frame that is being prepared, lent for writing: the GPU has finished with it.
pub struct FrameMemory<'a> {
    /// One joint matrix for each joint of each visible pose.
    pub palette: &'a mut [MaybeUninit<JointMatrix>],
    /// One weight for each morph target of each visible pose.
    pub morph_weights: &'a mut [MaybeUninit<f32>],
    /// One element for each visible instance.
    pub instances: &'a mut [MaybeUninit<InstanceData>],
    /// Says where each pose's skinned vertices go.
    pub plan: &'a FramePlan,
}

/// Everything that belongs to one frame in flight.
pub struct FrameSlot {
    /// Recorded anew each frame.
    pub commands: CommandPool,
    /// All visible poses' joint matrices.
    pub palette: StreamBuffer,
    /// All visible poses' morph weights.
    pub morph_weights: StreamBuffer,
    /// All visible instances.
    pub instances: StreamBuffer,
    /// Points to the buffers above and below, and to the shadow map.
    pub set: DescriptorSet,
    /// The transient vertex buffer.
    pub pages: Vec<Page>,
    /// GPU time of each pass.
    pub timestamps: Option<Timestamps>,
    /// Signalled when the window system hands out an image.
    pub image_available: BinarySemaphore,
    finished: Fence,
    /// Value of the timeline at which the GPU has finished with this slot; `None`: it has, and somebody has waited.
    in_flight_until: Option<u64>,
    frame_data: Buffer,
    shadow_map: Binding,
    index: usize,
}

impl FrameSlot {
    /// Creates slot `index` with room for a small crowd. Shaders see no more than `window_bytes` of a stream at a time.
    ///
    /// # Errors
    /// No memory.
    pub fn new(
        device: &Arc<Device>,
        layouts: &Layouts,
        index: usize,
        path: UploadPath,
        window_bytes: u64,
        shadow_map: Binding,
    ) -> Result<Self> {
        let stream = |name, window_bytes| StreamBuffer::new(device, format!("{name} {index}"), path, window_bytes);
        let palette = stream("palette", Some(window_bytes))?;
        let morph_weights = stream("morph weights", Some(window_bytes))?;
        let frame_data = Buffer::new(
            device,
            &format!("frame data {index}"),
            size_of::<FrameData>() as u64,
            vk::BufferUsageFlags::UNIFORM_BUFFER,
            BufferMemory::Upload,
        )?;
        let bindings =
            [Binding::Buffer(frame_data.descriptor()), palette.binding(), morph_weights.binding(), shadow_map];
        Ok(Self {
            commands: CommandPool::new(device, &format!("frame {index}"))?,
            set: DescriptorSet::new(device, &format!("frame set {index}"), &layouts.frame, &bindings)?,
            palette,
            morph_weights,
            instances: stream("instances", None)?,
            pages: Vec::new(),
            timestamps: Timestamps::new(device, &format!("timestamps {index}"), Pass::COUNT as u32 + 1)?,
            image_available: BinarySemaphore::new(device, &format!("image available {index}"))?,
            finished: Fence::new(device, &format!("frame {index} finished"))?,
            in_flight_until: None,
            frame_data,
            shadow_map,
            index,
        })
    }

    /// The timeline's value from which on the GPU has finished with this slot; `None`: somebody has waited for that.
    pub fn in_flight_until(&self) -> Option<u64> {
        self.in_flight_until
    }

    /// Waits until the GPU has finished this slot's last frame: only then may its memory be written.
    ///
    /// # Errors
    /// Device lost.
    pub fn wait(&mut self, timeline: &TimelineSemaphore) -> Result<()> {
        if let Some(value) = self.in_flight_until {
            timeline.wait(value)?;
            self.finished.wait_and_reset()?;
            self.in_flight_until = None;
        }
        Ok(())
    }

    /// The fence that this slot's next submission signals.
    #[must_use]
    pub fn fence(&self) -> vk::Fence {
        self.finished.raw
    }

    /// Notes that a submission signals the fence, and the timeline with `value`.
    pub fn submitted(&mut self, value: u64) {
        self.in_flight_until = Some(value);
    }

    /// Makes room for a frame. Steady frames find everything there; a growing crowd gets larger buffers, never fewer
    /// characters. Must follow [`Self::wait`].
    ///
    /// # Errors
    /// No memory, or beyond a limit of the device.
    pub fn ensure(
        &mut self,
        device: &Arc<Device>,
        layouts: &Layouts,
        plan: &FramePlan,
        streams: StreamCounts,
        page_limit_bytes: u64,
        needs_pages: bool,
    ) -> Result<()> {
        let palette_bytes = streams.joint_matrices as u64 * size_of::<JointMatrix>() as u64;
        let weight_bytes = streams.morph_weights as u64 * size_of::<f32>() as u64;
        let instance_bytes = u64::from(plan.instance_count) * size_of::<InstanceData>() as u64;
        let palette_grew = self.palette.ensure(device, palette_bytes, plan.instance_count)?;
        self.instances.ensure(device, instance_bytes, plan.instance_count)?;
        let weights_grew = self.morph_weights.ensure(device, weight_bytes, plan.instance_count)?;
        if palette_grew || weights_grew {
            self.set.write(&[
                Binding::Buffer(self.frame_data.descriptor()),
                self.palette.binding(),
                self.morph_weights.binding(),
                self.shadow_map,
            ]);
        }
        if !needs_pages {
            return Ok(());
        }
        let last = plan.page_vertices.len().saturating_sub(1);
        let most_vertices = page_limit_bytes / size_of::<SkinnedVertex>() as u64;
        for (page, (&used, &with_tangents)) in plan.page_vertices.iter().zip(&plan.page_tangents).enumerate() {
            let used = u64::from(used);
            if self.pages.get(page).is_some_and(|page| page.has_room_for(used, with_tangents)) {
                continue;
            }
            // How full a page gets depends on who is visible: all but the last are made as large as they can become.
            let vertex_count = if page < last { most_vertices } else { (used + used / 4).min(most_vertices) };
            if page < self.pages.len() {
                // Free the old one first: both together may not fit.
                drop(self.pages.remove(page));
            }
            let name = format!("transient vertices {}, page {page}", self.index);
            self.pages.insert(page, Page::new(device, layouts, &name, vertex_count, with_tangents)?);
        }
        Ok(())
    }

    /// Starts the clock of a frame's passes, and hands over what it said of this slot's last frame. Recorded before the first of them.
    pub fn cmd_begin_timing(&mut self, commands: vk::CommandBuffer) {
        if let Some(timestamps) = &mut self.timestamps {
            timestamps.cmd_begin(commands);
            timestamps.cmd_write(commands, vk::PipelineStageFlags2::NONE, 0);
        }
    }

    /// Records one pass of this slot's frame, labelled and timed.
    pub fn cmd_pass(&self, device: &Device, pass: Pass, record: impl FnOnce()) {
        let commands = self.commands.commands;
        device.cmd_labelled(commands, pass.label(), record);
        if let Some(timestamps) = &self.timestamps {
            timestamps.cmd_write(commands, pass.last_stage(), pass as u32 + 1);
        }
    }

    /// This frame's memory, to be written once.
    pub fn memory<'a>(&'a mut self, plan: &'a FramePlan) -> FrameMemory<'a> {
        FrameMemory {
            palette: self.palette.elements(),
            morph_weights: self.morph_weights.elements(),
            instances: self.instances.elements(),
            plan,
        }
    }

    /// Sets what is the same for the whole frame.
    pub fn write_frame_data(&mut self, data: FrameData) {
        if let [place] = self.frame_data.mapped_for_writing(1) {
            place.write(data);
        }
    }
}
