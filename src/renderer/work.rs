//! What the last frame did, for reports and tests.
//!
//! In: the last frame's plan, the models on the GPU, and the transient vertex buffer. Out: [`DrawCounts`], the vertices and
//! triangles that were skinned and drawn, and the skinned vertices of a pose. Nothing is counted or copied while a frame is
//! drawn, so this costs nothing unless somebody wants it.

use ash::vk;
use bytemuck::Pod;

use super::assembly::Renderer;
use super::error::Result;
use super::passes::crowd_draw::Eye;
use super::passes::shadow_pass::casts_shadow;
use super::resident::model::GpuDraw;
use super::settings::{ByteCounts, Skinning};
use super::slot::FrameSlot;
use super::slot::buffers::Page;
use super::times::PassTimes;
use crate::crowd::Batch;
use crate::model::Topology;
use crate::shader_types::{JointMatrix, SkinnedVertex};
use crate::vulkan::barrier::Access;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::recorder::Recorder;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViewCounts {
    pub instances: u64,
    /// The number of vertices of all drawn instances, in their levels of detail. The vertex shader runs at least once for each.
    pub vertices: u64,
    /// The number of drawn triangles, before culling and clipping.
    pub triangles: u64,
    /// The number of instances in each level of detail, finest first; in the shadow map, in the finest level of their draws.
    /// The length is that of the longest chain of all models; divide by `instances` for shares.
    pub by_level: Vec<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DrawCounts {
    pub camera: ViewCounts,
    /// The shadow map. All counts are 0 without shadows.
    pub light: ViewCounts,
    /// The number of vertices that `skin.comp` skins. 0 with [`Skinning::Vertex`].
    pub skinned_vertices: u64,
}

impl Renderer {
    /// Returns the GPU times from [`Self::gpu_times_lag`] frames ago.
    pub fn gpu_times(&self) -> Option<PassTimes> {
        self.gpu_times
    }

    /// Returns the number of frames after which the GPU times of a frame arrive: a slot's next frame copies them out, and the one
    /// after that reads the copy.
    pub fn gpu_times_lag(&self) -> usize {
        2 * self.slots.len()
    }

    /// Reads the GPU times that the last frame of `slot` has copied out. That frame has finished.
    pub(super) fn collect_gpu_times(&mut self, slot: usize) {
        let mut times = PassTimes::default();
        if let Some(Some(timestamps)) = self.slots.get(slot).map(|slot| &slot.timestamps)
            // SAFETY: the caller has waited for the slot's last frame.
            && unsafe { timestamps.read(&mut times.0) }
        {
            self.gpu_times = Some(times);
        }
    }

    /// Waits for the last frame. Returns its pixels if captured: RGBA, rows from the top. Images of a window are not read back.
    pub fn wait_for_pixels(&mut self) -> Result<&[u8]> {
        self.wait()?;
        // SAFETY: all frames have finished, and the next one is submitted through `&mut self`.
        Ok(unsafe { self.output.pixels() })
    }

    /// Returns the name of the pass that ran last in the oldest frame in flight: after the loss of the device, the pass that
    /// probably caused it. `None` if no frame is in flight, or if the driver does not say.
    pub fn last_pass(&self) -> Option<&'static str> {
        let oldest = self.slots.iter().filter_map(FrameSlot::last_pass).min_by_key(|&(value, _)| value);
        oldest.map(|(_, pass)| pass.name())
    }

    /// Returns the sizes of the last frame's data and of the device memory in use.
    pub fn byte_counts(&self) -> ByteCounts {
        let of_batch = |batch: &Batch| {
            let size = self.pose_sizes.get(batch.model as usize);
            u64::from(batch.pose_count) * size.map_or(0, |size| size.skinned_bytes(batch.vertex_count))
        };
        ByteCounts {
            palette: u64::from(self.plan.joint_count) * size_of::<JointMatrix>() as u64,
            skinned_vertices: match self.skinning {
                Skinning::Compute => self.plan.batches.iter().map(of_batch).sum(),
                Skinning::Vertex => 0,
            },
            static_data: self.models.iter().map(|model| model.static_bytes).sum(),
            total_device: self.device.allocated_bytes(),
        }
    }

    /// Returns the work of the last frame that [`Self::begin_frame`] has planned. It does not depend on timings or threads.
    pub fn draw_counts(&self) -> DrawCounts {
        let levels = self.pose_sizes.iter().map(|size| size.levels.len()).max().unwrap_or(1);
        let view = ViewCounts { by_level: vec![0; levels], ..ViewCounts::default() };
        let mut counts = DrawCounts { camera: view.clone(), light: view, skinned_vertices: 0 };
        for batch in &self.plan.batches {
            self.add(batch, Eye::Camera, |_| true, &mut counts.camera);
            if self.shadow_map_size().is_some() {
                self.add(batch, Eye::Light, casts_shadow, &mut counts.light);
            }
            if self.skinning == Skinning::Compute {
                counts.skinned_vertices += u64::from(batch.pose_count) * u64::from(batch.vertex_count);
            }
        }
        counts
    }

    /// Adds the part of a batch that `eye` sees, with the draws that it draws.
    fn add(&self, batch: &Batch, eye: Eye, is_drawn: fn(&GpuDraw) -> bool, counts: &mut ViewCounts) {
        let Some(model) = self.models.get(batch.model as usize) else { return };
        let instances: u64 = eye.sees(batch).iter().map(|range| u64::from(range.count)).sum();
        let triangles = model.draws.iter().filter(|draw| draw.topology == Topology::Triangles && is_drawn(draw));
        let triangles: u64 = triangles.map(|draw| u64::from(draw.indices(eye.level(batch, draw)).count / 3)).sum();
        counts.instances += instances;
        let level = model.draws.iter().map(|draw| eye.level(batch, draw)).min().unwrap_or(0);
        counts.vertices += instances * u64::from(model.size.level(level).vertex_count);
        counts.triangles += instances * triangles;
        if let Some(in_level) = counts.by_level.get_mut(level as usize) {
            *in_level += instances;
        }
    }

    /// Returns the skinned vertices of a visible pose of the last frame, in its finest level of detail. Empty if the frame was
    /// skipped, and with [`Skinning::Vertex`], which writes none.
    pub fn read_skinned_vertices(&mut self, pose: u32) -> Result<Vec<SkinnedVertex>> {
        self.read_skinned(pose, |page| &page.vertices)
    }

    /// Returns the packed tangents of a visible pose of the last frame. Empty if its model has none.
    pub fn read_skinned_tangents(&mut self, pose: u32) -> Result<Vec<u32>> {
        let model = self.plan.batch_of(pose).map(|batch| batch.model as usize);
        if model.and_then(|model| self.pose_sizes.get(model)).is_some_and(|size| size.has_tangents) {
            return self.read_skinned(pose, |page| &page.tangents);
        }
        Ok(Vec::new())
    }

    /// Reads one element for each vertex of a pose, from a buffer of its page.
    fn read_skinned<T: Pod>(&mut self, pose: u32, buffer_of: fn(&Page) -> &Buffer) -> Result<Vec<T>> {
        self.wait()?;
        let Some(batch) = self.plan.batch_of(pose) else { return Ok(Vec::new()) };
        let slot = self.drawn_slot.and_then(|slot| self.slots.get(slot));
        let page = slot.and_then(|slot| slot.pages.get(batch.page as usize));
        let Some(page) = page else { return Ok(Vec::new()) };
        let element_bytes = size_of::<T>() as u64;
        let size_bytes = u64::from(batch.vertex_count) * element_bytes;
        if size_bytes == 0 {
            return Ok(Vec::new());
        }
        let name = "skinned vertices readback";
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let readback = Buffer::new(&self.device, name, size_bytes, usage, BufferMemory::Readback)?;
        let first_vertex = self.plan.records.get(pose as usize).map_or(0, |record| record.skinned_vertex_offset);
        let src_offset = u64::from(first_vertex) * element_bytes;
        let copy = |recorder: Recorder| {
            // The copy reads the vertices that the skin pass wrote (RAW). The CPU's wait for the frame orders both, but does
            // not make the writes visible to the copy.
            recorder.memory_barrier(Access::COMPUTE_WRITE, Access::TRANSFER_READ);
            let region = vk::BufferCopy { src_offset, dst_offset: 0, size: size_bytes };
            recorder.copy_buffer(buffer_of(page), &readback, region);
            // The CPU reads the copy (RAW).
            recorder.memory_barrier(Access::TRANSFER_WRITE, Access::HOST_READ);
            Ok(())
        };
        // SAFETY: both buffers outlive the call, and the region lies within them.
        unsafe { submit_and_wait(&self.device, name, copy) }?;
        // SAFETY: the copy has finished.
        let bytes = unsafe { readback.mapped_for_reading() };
        Ok(bytemuck::pod_collect_to_vec(bytes.get(..size_bytes as usize).unwrap_or(&[])))
    }
}
