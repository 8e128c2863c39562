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

/// A descriptor set layout. Binding `i` has the type of the `i`-th entry and one descriptor.
pub struct DescriptorSetLayout {
    pub(super) raw: vk::DescriptorSetLayout,
    bindings: Vec<vk::DescriptorType>,
    device: Arc<Device>,
}

impl DescriptorSetLayout {
    /// Creates a layout.
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
        device.register(raw, name);
        let bindings = bindings.iter().map(|&(descriptor_type, _)| descriptor_type).collect();
        Ok(Self { raw, bindings, device: Arc::clone(device) })
    }
}

impl Drop for DescriptorSetLayout {
    fn drop(&mut self) {
        // SAFETY: the owner no longer uses it.
        unsafe { self.device.raw.destroy_descriptor_set_layout(self.raw, None) };
    }
}

/// The resource of a binding.
#[derive(Clone, Copy)]
pub enum Binding<'a> {
    /// A whole uniform or storage buffer.
    Buffer(&'a Buffer),
    /// A part of a buffer: its offset and its size in bytes.
    Part(&'a Buffer, u64, u64),
    /// An image in the layout `SHADER_READ_ONLY_OPTIMAL`, with its sampler.
    Texture(&'a Image, &'a Sampler),
}

/// The memory of an owner's descriptor sets.
pub struct DescriptorPool {
    handle: Arc<PoolHandle>,
}

/// The pool, which lives as long as its last set.
struct PoolHandle {
    raw: vk::DescriptorPool,
    device: Arc<Device>,
}

impl DescriptorPool {
    /// Creates a pool with room for a number of sets of each layout, at least one in all.
    pub fn new(device: &Arc<Device>, name: &str, sets: &[(&DescriptorSetLayout, usize)]) -> Result<Self> {
        let size = |&(layout, count): &(&DescriptorSetLayout, usize)| {
            let size = move |ty| vk::DescriptorPoolSize { ty, descriptor_count: count as u32 };
            layout.bindings.clone().into_iter().map(size)
        };
        let sizes: Vec<_> = sets.iter().filter(|(_, count)| *count > 0).flat_map(size).collect();
        let count: usize = sets.iter().map(|(_, count)| count).sum();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(count as u32).pool_sizes(&sizes);
        // SAFETY: a valid create info.
        let raw =
            unsafe { device.raw.create_descriptor_pool(&info, None) }.context_for("vkCreateDescriptorPool", name)?;
        device.register(raw, name);
        Ok(Self { handle: Arc::new(PoolHandle { raw, device: Arc::clone(device) }) })
    }

    /// Allocates one of the sets that the pool was made for, and writes its bindings.
    pub fn allocate(
        &mut self,
        name: &str,
        layout: &DescriptorSetLayout,
        bindings: &[Binding],
    ) -> Result<DescriptorSet> {
        let PoolHandle { raw: pool, device } = &*self.handle;
        let layouts = [layout.raw];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(*pool).set_layouts(&layouts);
        // SAFETY: pool and layout are alive. `&mut self` makes this the only call that uses the pool.
        let sets = unsafe { device.raw.allocate_descriptor_sets(&info) };
        let raw = sets.context_for("vkAllocateDescriptorSets", name)?.into_iter().next().unwrap_or_default();
        device.register(raw, name);
        let set = DescriptorSet { raw, types: layout.bindings.clone(), pool: Arc::clone(&self.handle) };
        // SAFETY: no command uses the new set yet.
        unsafe { set.write(bindings) };
        Ok(set)
    }
}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        // SAFETY: every set holds an `Arc` of its pool, so none is left.
        unsafe { self.device.raw.destroy_descriptor_pool(self.raw, None) };
    }
}

/// A descriptor set.
pub struct DescriptorSet {
    pub(super) raw: vk::DescriptorSet,
    types: Vec<vk::DescriptorType>,
    pool: Arc<PoolHandle>,
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
        for (index, (binding, &descriptor_type)) in bindings.iter().zip(&self.types).enumerate() {
            let write = vk::WriteDescriptorSet::default()
                .dst_set(self.raw)
                .dst_binding(index as u32)
                .descriptor_type(descriptor_type);
            let (buffers, images);
            let write = match *binding {
                Binding::Buffer(&Buffer { raw: buffer, .. }) => {
                    buffers = [vk::DescriptorBufferInfo { buffer, offset: 0, range: vk::WHOLE_SIZE }];
                    write.buffer_info(&buffers)
                }
                Binding::Part(&Buffer { raw: buffer, .. }, offset, range) => {
                    buffers = [vk::DescriptorBufferInfo { buffer, offset, range }];
                    write.buffer_info(&buffers)
                }
                Binding::Texture(&Image { view: image_view, .. }, &Sampler { raw: sampler, .. }) => {
                    let image_layout = vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL;
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
