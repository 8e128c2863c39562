//! The buffers of a slot, which grow with the crowd: streams and pages.
//!
//! A stream is an array that the CPU writes in each frame and the GPU reads. On the direct path, mapped memory and the buffer
//! that shaders read are the same. On the staged path the upload pass copies one to the other. Each stream is one buffer, bound
//! as a whole: with 128 MiB, the smallest `maxStorageBufferRange` that Vulkan allows, a palette has 2.8 million joint matrices.
//!
//! A page is a part of the transient vertex buffer, which `skin.comp` writes and all later passes read.

use std::mem::MaybeUninit;
use std::sync::Arc;

use ash::vk;
use bytemuck::Pod;

use crate::animation::MemoryKind;
use crate::crowd::{PagePlan, TANGENT_BYTES};
use crate::renderer::error::{Error, Result};
use crate::renderer::layouts::Layouts;
use crate::renderer::settings::UploadPath;
use crate::shader_types::SkinnedVertex;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::descriptors::{Binding, DescriptorSet};
use crate::vulkan::device::Device;

/// The initial size of a stream: enough for a small crowd. The synchronization validation of 2023 takes the vertices of a draw
/// without indices for instances. With half of this size it reports hazards of the buffer behind the instances, if the bones of
/// the bundled character are drawn.
const FIRST_STREAM_BYTES: u64 = 128 << 10;

/// The properties of a stream that do not change.
#[derive(Debug, Clone)]
pub struct StreamInfo {
    pub name: String,
    pub path: UploadPath,
    pub usage: vk::BufferUsageFlags,
    /// `maxStorageBufferRange`.
    pub limit_bytes: u64,
}

pub struct StreamBuffer {
    info: StreamInfo,
    /// `None` only after an attempt to enlarge it has failed.
    memory: Option<StreamMemory>,
    used_bytes: u64,
}

struct StreamMemory {
    mapped: Buffer,
    /// The buffer that shaders read on the staged path.
    device_local: Option<Buffer>,
}

impl StreamMemory {
    fn new(device: &Arc<Device>, info: &StreamInfo, size_bytes: u64) -> Result<Self> {
        let StreamInfo { name, path, usage, .. } = info;
        if *path == UploadPath::Direct {
            let mapped = Buffer::new(device, name, size_bytes, *usage, BufferMemory::Upload)?;
            return Ok(Self { mapped, device_local: None });
        }
        let (source, target) = (vk::BufferUsageFlags::TRANSFER_SRC, vk::BufferUsageFlags::TRANSFER_DST);
        let staging_name = format!("{name} (staging)");
        Ok(Self {
            mapped: Buffer::new(device, &staging_name, size_bytes, source, BufferMemory::Staging)?,
            device_local: Some(Buffer::new(device, name, size_bytes, *usage | target, BufferMemory::Device)?),
        })
    }
}

impl StreamBuffer {
    /// Creates a stream with room for a small crowd.
    pub fn new(device: &Arc<Device>, info: StreamInfo) -> Result<Self> {
        let memory = Some(StreamMemory::new(device, &info, FIRST_STREAM_BYTES)?);
        Ok(Self { info, memory, used_bytes: 0 })
    }

    /// Sets the size of this frame's data, and enlarges the buffer if necessary. Returns true if the buffer was replaced,
    /// so that descriptors must be written again. The GPU must have finished with the stream.
    pub fn ensure(&mut self, device: &Arc<Device>, used_bytes: u64, instance_count: u32) -> Result<bool> {
        self.used_bytes = used_bytes;
        if self.memory.as_ref().is_some_and(|memory| used_bytes <= memory.mapped.size_bytes()) {
            return Ok(false);
        }
        let StreamInfo { ref name, limit_bytes, .. } = self.info;
        if used_bytes > limit_bytes {
            // The name without the number of the slot.
            let name = name.trim_end_matches(char::is_numeric).trim_end();
            return Err(Error::StreamOverLimit {
                stream: name.to_owned(),
                instances: instance_count.into(),
                size_bytes: used_bytes,
                limit: "maxStorageBufferRange",
                limit_bytes,
            });
        }
        // The old buffer is freed first, because both together may not fit.
        self.memory = None;
        // With room for half as much again, a slowly growing crowd does not reallocate in each frame.
        let size_bytes = used_bytes.saturating_add(used_bytes / 2).min(limit_bytes);
        self.memory = Some(StreamMemory::new(device, &self.info, size_bytes)?);
        Ok(true)
    }

    /// Returns the buffer that shaders read, or `None` after a failure.
    pub fn read_by_shaders(&self) -> Option<&Buffer> {
        self.memory.as_ref().map(|memory| memory.device_local.as_ref().unwrap_or(&memory.mapped))
    }

    /// Returns the memory for this frame's data, to be written once.
    ///
    /// # Safety
    /// The GPU has finished the slot's last frame, and the next one is not submitted while the slice is in use.
    pub unsafe fn elements<T: Pod>(&mut self) -> &mut [MaybeUninit<T>] {
        let count = (self.used_bytes / size_of::<T>() as u64) as usize;
        // SAFETY: the caller promises that the GPU does not access the buffer.
        self.memory.as_mut().map_or(&mut [], |memory| unsafe { memory.mapped.mapped_for_writing(count) })
    }

    pub fn memory_kind(&self) -> MemoryKind {
        let is_cached = self.memory.as_ref().is_none_or(|memory| memory.mapped.is_host_cached());
        if is_cached { MemoryKind::Cached } else { MemoryKind::WriteCombined }
    }

    /// Returns source, destination and size of the copy that the staged path needs, or `None` if there is none.
    pub fn pending_copy(&self) -> Option<(&Buffer, &Buffer, u64)> {
        let memory = self.memory.as_ref().filter(|_| self.used_bytes > 0)?;
        Some((&memory.mapped, memory.device_local.as_ref()?, self.used_bytes))
    }
}

pub struct Page {
    pub vertices: Buffer,
    /// The packed tangents. One byte if no model in the page has tangents.
    pub tangents: Buffer,
    pub set: DescriptorSet,
    /// A number that no other page of the device has.
    pub number: u64,
}

fn page_sizes(vertex_count: u64, has_tangents: bool) -> [u64; 2] {
    let tangent_bytes = if has_tangents { TANGENT_BYTES } else { 0 };
    [size_of::<SkinnedVertex>() as u64, tangent_bytes].map(|bytes| vertex_count * bytes)
}

impl Page {
    fn new(device: &Arc<Device>, layouts: &Layouts, name: &str, [vertices, tangents]: [u64; 2]) -> Result<Self> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC;
        let vertices = Buffer::new(device, name, vertices, usage, BufferMemory::Device)?;
        let tangents = Buffer::new(device, &format!("{name}: tangents"), tangents, usage, BufferMemory::Device)?;
        let bindings = [&vertices, &tangents].map(Binding::Buffer);
        let set = DescriptorSet::new(device, name, &layouts.page, &bindings)?;
        Ok(Self { vertices, tangents, set, number: device.created_count() })
    }

    fn has_room_for(&self, plan: PagePlan) -> bool {
        let [vertices, tangents] = page_sizes(plan.vertex_count.into(), plan.has_tangents);
        vertices <= self.vertices.size_bytes() && tangents <= self.tangents.size_bytes()
    }
}

/// Returns the number of vertices of a new page that holds `used` vertices. The number in the last page changes with the
/// visible instances, so it has room for a quarter more. All other pages are as large as they can be.
fn page_vertices(used: u64, is_last: bool, page_bytes: u64) -> u64 {
    let capacity = page_bytes / size_of::<SkinnedVertex>() as u64;
    if is_last { used.saturating_add(used / 4).min(capacity) } else { capacity }
}

/// Makes room for the pages of a frame. The GPU must have finished with `pages`.
pub fn ensure_pages(
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
        let [mut vertices, mut tangents] = page_sizes(vertex_count, plan.has_tangents);
        if index < pages.len() {
            // The old page is freed first, because both together may not fit. No buffer becomes smaller, so frames that
            // take turns do not replace each other's pages.
            let old = pages.remove(index);
            vertices = vertices.max(old.vertices.size_bytes());
            tangents = tangents.max(old.tangents.size_bytes());
        }
        let name = format!("transient vertices {slot}, page {index}");
        pages.insert(index, Page::new(device, layouts, &name, [vertices, tangents])?);
    }
    Ok(())
}
