//! Descriptor set layouts and sets.
//!
//! Each set has its own small pool. There are few sets: one per frame in flight, model, material and page. A set lives as long
//! as its owner and is written when the owner is created or grows. A shared pool would only add bookkeeping.

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
    ///
    /// # Errors
    /// Out of memory.
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

/// A descriptor set and its pool.
pub struct DescriptorSet {
    pub(super) raw: vk::DescriptorSet,
    pool: vk::DescriptorPool,
    types: Vec<vk::DescriptorType>,
    device: Arc<Device>,
}

impl DescriptorSet {
    /// Allocates a set and writes its bindings.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Arc<Device>, name: &str, layout: &DescriptorSetLayout, bindings: &[Binding]) -> Result<Self> {
        let sizes: Vec<_> =
            layout.bindings.iter().map(|&ty| vk::DescriptorPoolSize::default().ty(ty).descriptor_count(1)).collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes);
        // SAFETY: a valid create info.
        let pool =
            unsafe { device.raw.create_descriptor_pool(&info, None) }.context_for("vkCreateDescriptorPool", name)?;
        let layouts = [layout.raw];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool has room for exactly this set.
        let raw =
            match unsafe { device.raw.allocate_descriptor_sets(&info) }.context_for("vkAllocateDescriptorSets", name) {
                Ok(sets) => sets.into_iter().next().unwrap_or_default(),
                Err(error) => {
                    // SAFETY: nothing was allocated from it.
                    unsafe { device.raw.destroy_descriptor_pool(pool, None) };
                    return Err(error);
                }
            };
        device.register(pool, name);
        device.register(raw, name);
        let set = Self { raw, pool, types: layout.bindings.clone(), device: Arc::clone(device) };
        // SAFETY: no command uses the new set yet.
        unsafe { set.write(bindings) };
        Ok(set)
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
            unsafe { self.device.raw.update_descriptor_sets(&[write], &[]) };
        }
    }
}

impl Drop for DescriptorSet {
    fn drop(&mut self) {
        // Mesa 22.3 frees a set with its pool, but not the set's name: without this line each set leaks it.
        self.device.remove_name(self.raw);
        // SAFETY: the owner no longer uses the set, nor does the GPU (see `Device`); the pool frees it.
        unsafe { self.device.raw.destroy_descriptor_pool(self.pool, None) };
    }
}
