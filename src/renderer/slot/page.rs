//! The transient vertex buffer. In: a frame's page plans. Out: pages, which `skin.comp` writes and all later passes read.

use std::sync::Arc;

use ash::vk;

use crate::crowd::{PagePlan, TANGENT_BYTES};
use crate::renderer::layouts::Layouts;
use crate::renderer::memory::page_vertices;
use crate::shader_types::SkinnedVertex;
use crate::vulkan::Result;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::descriptors::{Binding, DescriptorSet};
use crate::vulkan::device::Device;

/// One page.
pub struct Page {
    /// The skinned vertices.
    pub vertices: Buffer,
    /// The packed tangents. One byte if no model in the page has tangents.
    pub tangents: Buffer,
    /// The descriptor set of both buffers.
    pub set: DescriptorSet,
}

/// Returns the sizes of the two buffers for this number of vertices.
fn sizes(vertex_count: u64, has_tangents: bool) -> [u64; 2] {
    let tangent_bytes = if has_tangents { TANGENT_BYTES } else { 0 };
    [size_of::<SkinnedVertex>() as u64, tangent_bytes].map(|bytes| vertex_count * bytes)
}

impl Page {
    fn new(device: &Arc<Device>, layouts: &Layouts, name: &str, [vertices, tangents]: [u64; 2]) -> Result<Self> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC;
        let vertices = Buffer::new(device, name, vertices, usage, BufferMemory::Device)?;
        let tangents = Buffer::new(device, &format!("{name}: tangents"), tangents, usage, BufferMemory::Device)?;
        let bindings = [&vertices, &tangents].map(|buffer| Binding::Buffer(buffer.descriptor()));
        let set = DescriptorSet::new(device, name, &layouts.page, &bindings)?;
        Ok(Self { vertices, tangents, set })
    }

    fn has_room_for(&self, plan: PagePlan) -> bool {
        let [vertices, tangents] = sizes(plan.vertex_count.into(), plan.has_tangents);
        vertices <= self.vertices.size_bytes && tangents <= self.tangents.size_bytes
    }
}

/// Makes room for the pages of a frame. The GPU must have finished with `pages`.
///
/// # Errors
/// No memory.
pub fn ensure(
    pages: &mut Vec<Page>,
    device: &Arc<Device>,
    layouts: &Layouts,
    (slot, plans, page_bytes): (usize, &[PagePlan], u64),
) -> Result<()> {
    for (index, &plan) in plans.iter().enumerate() {
        if pages.get(index).is_some_and(|page| page.has_room_for(plan)) {
            continue;
        }
        let vertex_count = page_vertices(plan.vertex_count.into(), index + 1 == plans.len(), page_bytes);
        let [mut vertices, mut tangents] = sizes(vertex_count, plan.has_tangents);
        if index < pages.len() {
            // The old page is freed first, because both together may not fit. No buffer becomes smaller, so frames that
            // take turns do not replace each other's pages.
            let old = pages.remove(index);
            vertices = vertices.max(old.vertices.size_bytes);
            tangents = tangents.max(old.tangents.size_bytes);
        }
        let name = format!("transient vertices {slot}, page {index}");
        pages.insert(index, Page::new(device, layouts, &name, [vertices, tangents])?);
    }
    Ok(())
}
