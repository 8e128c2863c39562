//! What `skin.comp` wrote, read back for tests and for `throng pose --on gpu`.

use ash::vk;
use bytemuck::Pod;

use crate::renderer::Renderer;
use crate::renderer::slot::Page;
use crate::shader_types::SkinnedVertex;
use crate::vulkan::Result;
use crate::vulkan::barrier::{Access, cmd_memory_barrier};
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::submit_and_wait;

impl Renderer {
    /// Reads the skinned vertices of the `k`-th visible pose of a model back from the transient vertex buffer of
    /// the last frame. Empty with [`Skinning::Vertex`](crate::renderer::Skinning::Vertex), which writes none.
    ///
    /// # Errors
    /// Device lost, no memory.
    pub fn read_skinned_vertices(&mut self, model: usize, k: u32) -> Result<Vec<SkinnedVertex>> {
        self.read_skinned(model, k, |page| &page.buffer)
    }

    /// Likewise its tangents, packed; empty for a model that has none.
    ///
    /// # Errors
    /// Device lost, no memory.
    pub fn read_skinned_tangents(&mut self, model: usize, k: u32) -> Result<Vec<u32>> {
        if self.model_sizes.get(model).is_some_and(|size| size.has_tangents) {
            return self.read_skinned(model, k, |page| &page.tangents);
        }
        Ok(Vec::new())
    }

    /// One element for each vertex of a pose, from a buffer of the page that it is in.
    fn read_skinned<T: Pod>(&mut self, model: usize, k: u32, buffer_of: fn(&Page) -> &Buffer) -> Result<Vec<T>> {
        self.wait()?;
        let slot = self.slots.get(self.frame_number.saturating_sub(1) as usize % self.slots.len());
        let page =
            self.plan.batch_of(model, k).and_then(|batch| slot.and_then(|slot| slot.pages.get(batch.page as usize)));
        let (Some(page), Some(size)) = (page, self.model_sizes.get(model)) else { return Ok(Vec::new()) };
        let source = buffer_of(page);
        let element_bytes = size_of::<T>() as u64;
        let size_bytes = u64::from(size.vertex_count) * element_bytes;
        if size_bytes == 0 {
            return Ok(Vec::new());
        }
        let usage = vk::BufferUsageFlags::TRANSFER_DST;
        let readback =
            Buffer::new(&self.device, "skinned vertices readback", size_bytes, usage, BufferMemory::Readback)?;
        let src_offset = u64::from(self.plan.skinned_vertex_offset(model, k)) * element_bytes;
        submit_and_wait(&self.device, "skinned vertices readback", |commands| {
            let regions = [vk::BufferCopy { src_offset, dst_offset: 0, size: size_bytes }];
            // SAFETY: both buffers are alive and that large; the frame that wrote the page is finished.
            unsafe { self.device.raw.cmd_copy_buffer(commands, source.raw, readback.raw, &regions) };
            // The CPU reads the copy (RAW).
            cmd_memory_barrier(&self.device, commands, Access::TRANSFER_WRITE, Access::HOST_READ);
            Ok(())
        })?;
        Ok(bytemuck::pod_collect_to_vec(readback.mapped_for_reading().get(..size_bytes as usize).unwrap_or(&[])))
    }
}
