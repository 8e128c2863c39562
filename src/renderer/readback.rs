//! Readback of skinned vertices, for tests and for `throng pose --on gpu`.
//!
//! In: the index of a visible pose of the last frame. Out: its vertices, copied from the transient vertex buffer.

use ash::vk;
use bytemuck::Pod;

use super::error::Result;
use super::setup::Renderer;
use super::slot::buffers::Page;
use crate::shader_types::SkinnedVertex;
use crate::vulkan::barrier::Access;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::recorder::Recorder;

impl Renderer {
    /// Returns the skinned vertices of a visible pose of the last frame, in its finest level of detail. Empty if the frame was
    /// skipped, and with [`Skinning::Vertex`](super::Skinning::Vertex), which writes none.
    ///
    /// # Errors
    /// Device lost, no memory.
    pub fn read_skinned_vertices(&mut self, pose: u32) -> Result<Vec<SkinnedVertex>> {
        self.read_skinned(pose, |page| &page.vertices)
    }

    /// Returns the packed tangents of a visible pose of the last frame. Empty if its model has none.
    ///
    /// # Errors
    /// Device lost, no memory.
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
