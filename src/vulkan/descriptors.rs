//! Descriptor set layouts and sets.
//!
//! A pool has exactly the sets of one owner: of a model with its materials, of a frame in flight, of a page. Nothing is freed
//! one by one: the pool lives as long as its last set. A set is written when its owner is created or grows.

use std::sync::Arc;

use ash::vk;

use super::buffer::Buffer;
use super::device::Device;
use super::error::{Context, Result};
use super::image::{Image, Sampler};
use super::owned::Owned;

/// A descriptor set layout, which lives as long as its last set. Binding `i` has the type of entry `i` and one descriptor.
pub struct DescriptorSetLayout(Arc<LayoutHandle>);

struct LayoutHandle {
    owned: Owned<vk::DescriptorSetLayout>,
    types: Vec<vk::DescriptorType>,
}

impl DescriptorSetLayout {
    pub fn new(
        device: &Arc<Device>,
        name: &str,
        bindings: &[(vk::DescriptorType, vk::ShaderStageFlags)],
    ) -> Result<Self> {
        let infos: Vec<_> = bindings
            .iter()
            .enumerate()
            .map(|(binding, &(descriptor_type, stages))| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding as u32)
                    .descriptor_type(descriptor_type)
                    .descriptor_count(1)
                    .stage_flags(stages)
            })
            .collect();
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&infos);
        // SAFETY: a valid create info.
        let raw = unsafe { device.raw.create_descriptor_set_layout(&info, None) }
            .context_for("vkCreateDescriptorSetLayout", name)?;
        // SAFETY: it was just made.
        let owned = unsafe { Owned::new(device, name, raw, ash::Device::destroy_descriptor_set_layout) };
        let types = bindings.iter().map(|&(descriptor_type, _)| descriptor_type).collect();
        Ok(Self(Arc::new(LayoutHandle { owned, types })))
    }

    pub(super) fn raw(&self) -> vk::DescriptorSetLayout {
        self.0.owned.raw
    }
}

#[derive(Clone, Copy)]
pub enum Binding<'a> {
    /// A whole uniform or storage buffer.
    Buffer(&'a Buffer),
    /// A part of a buffer: its offset and its size in bytes.
    Part(&'a Buffer, u64, u64),
    /// An image in the layout `SHADER_READ_ONLY_OPTIMAL`, with its sampler.
    Texture(&'a Image, &'a Sampler),
}

/// The memory of an owner's descriptor sets, which lives as long as the last of them.
pub struct DescriptorPool(Arc<Owned<vk::DescriptorPool>>);

impl DescriptorPool {
    /// Creates a pool with room for a number of sets of each layout, at least one in all.
    pub fn new(device: &Arc<Device>, name: &str, sets: &[(&DescriptorSetLayout, usize)]) -> Result<Self> {
        let mut sizes = Vec::new();
        for &(layout, count) in sets.iter().filter(|(_, count)| *count > 0) {
            let descriptor_count = count as u32;
            sizes.extend(layout.0.types.iter().map(|&ty| vk::DescriptorPoolSize { ty, descriptor_count }));
        }
        let count: usize = sets.iter().map(|(_, count)| count).sum();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(count as u32).pool_sizes(&sizes);
        // SAFETY: a valid create info.
        let raw =
            unsafe { device.raw.create_descriptor_pool(&info, None) }.context_for("vkCreateDescriptorPool", name)?;
        // SAFETY: it was just made. Every set holds an `Arc` of it.
        Ok(Self(Arc::new(unsafe { Owned::new(device, name, raw, ash::Device::destroy_descriptor_pool) })))
    }

    /// Allocates one of the sets that the pool was made for, and writes its bindings.
    pub fn allocate(
        &mut self,
        name: &str,
        layout: &DescriptorSetLayout,
        bindings: &[Binding],
    ) -> Result<DescriptorSet> {
        let Owned { raw: pool, device, .. } = &*self.0;
        let layouts = [layout.raw()];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(*pool).set_layouts(&layouts);
        // SAFETY: pool and layout are alive. `&mut self` makes this the only call that uses the pool.
        let sets = unsafe { device.raw.allocate_descriptor_sets(&info) };
        let raw = sets.context_for("vkAllocateDescriptorSets", name)?.into_iter().next().unwrap_or_default();
        device.register(raw, name);
        let set = DescriptorSet { raw, layout: Arc::clone(&layout.0), pool: Arc::clone(&self.0) };
        // SAFETY: no command uses the new set yet.
        unsafe { set.write(bindings) };
        Ok(set)
    }
}

pub struct DescriptorSet {
    pub(super) raw: vk::DescriptorSet,
    layout: Arc<LayoutHandle>,
    pool: Arc<Owned<vk::DescriptorPool>>,
}

impl DescriptorSet {
    /// Creates the only set of a pool, and writes its bindings.
    pub fn new(device: &Arc<Device>, name: &str, layout: &DescriptorSetLayout, bindings: &[Binding]) -> Result<Self> {
        DescriptorPool::new(device, name, &[(layout, 1)])?.allocate(name, layout, bindings)
    }

    /// Replaces the resources of all bindings, in order.
    ///
    /// # Safety
    /// No submitted command that the GPU has not finished uses the set.
    pub unsafe fn write(&self, bindings: &[Binding]) {
        for (index, (binding, &descriptor_type)) in bindings.iter().zip(&self.layout.types).enumerate() {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(self.raw)
                .dst_binding(index as u32)
                .descriptor_type(descriptor_type);
            let (buffers, images);
            let write = match *binding {
                Binding::Buffer(buffer) => {
                    buffers = [vk::DescriptorBufferInfo::default().buffer(buffer.handle.raw).range(vk::WHOLE_SIZE)];
                    write.buffer_info(&buffers)
                }
                Binding::Part(buffer, offset, range) => {
                    buffers = [vk::DescriptorBufferInfo { buffer: buffer.handle.raw, offset, range }];
                    write.buffer_info(&buffers)
                }
                Binding::Texture(image, sampler) => {
                    let image_layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
                    let (sampler, image_view) = (sampler.0.raw, image.view.raw);
                    images = [vk::DescriptorImageInfo { sampler, image_view, image_layout }];
                    write.image_info(&images)
                }
            };
            // SAFETY: the caller promises that the set is not in use. The types are those of its layout.
            unsafe { self.pool.device.raw.update_descriptor_sets(&[write], &[]) };
        }
    }
}

impl Drop for DescriptorSet {
    fn drop(&mut self) {
        // Mesa 22.3 frees a set with its pool, but not the set's name: without this line each set leaks it.
        self.pool.device.remove_name(self.raw);
    }
}
