//! Images, their memory and one view each; samplers.

use std::sync::Arc;

use ash::vk;
use gpu_allocator::MemoryLocation;

use super::device::{Device, Memory};
use super::error::{Context, Result};
use super::owned::Owned;

#[derive(Debug, Clone, Copy)]
pub struct ImageInfo {
    pub format: vk::Format,
    pub extent: vk::Extent2D,
    /// The size in the third dimension; 1 for a two-dimensional image.
    pub depth: u32,
    /// The number of mip levels, at least 1.
    pub mip_levels: u32,
    pub samples: vk::SampleCountFlags,
    pub usage: vk::ImageUsageFlags,
    pub aspect: vk::ImageAspectFlags,
}

impl ImageInfo {
    /// Returns the properties of a two-dimensional colour image with one mip level and one sample per texel.
    pub fn color(format: vk::Format, extent: vk::Extent2D, usage: vk::ImageUsageFlags) -> Self {
        Self {
            format,
            extent,
            depth: 1,
            mip_levels: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage,
            aspect: vk::ImageAspectFlags::COLOR,
        }
    }
}

pub struct Image {
    pub(super) raw: vk::Image,
    pub(super) view: Owned<vk::ImageView>,
    info: ImageInfo,
    _owned: Option<OwnedImage>,
}

/// The image itself and its memory, unless a swapchain owns the image.
type OwnedImage = (Owned<vk::Image>, Memory);

impl Image {
    pub fn new(device: &Arc<Device>, name: &str, info: ImageInfo) -> Result<Self> {
        let create = vk::ImageCreateInfo::default()
            .image_type(if info.depth > 1 { vk::ImageType::TYPE_3D } else { vk::ImageType::TYPE_2D })
            .format(info.format)
            .extent(vk::Extent3D { width: info.extent.width, height: info.extent.height, depth: info.depth })
            .mip_levels(info.mip_levels)
            .array_layers(1)
            .samples(info.samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(info.usage);
        // SAFETY: a valid create info.
        let raw = unsafe { device.raw.create_image(&create, None) }.context_for("vkCreateImage", name)?;
        // SAFETY: it was just made.
        let handle = unsafe { Owned::new(device, name, raw, ash::Device::destroy_image) };
        // SAFETY: as above.
        let mut requirements = unsafe { device.raw.get_image_memory_requirements(raw) };
        requirements.memory_type_bits = device.physical.image_memory_types(requirements.memory_type_bits);
        let memory = device.allocate(name, requirements, MemoryLocation::GpuOnly, false)?;
        let allocation = &memory.allocation;
        // SAFETY: the memory is fresh, large enough and of an allowed type.
        unsafe { device.raw.bind_image_memory(raw, allocation.memory(), allocation.offset()) }
            .context_for("vkBindImageMemory", name)?;
        Self::with_view(device, name, raw, info, Some((handle, memory)))
    }

    /// Creates the view of an image. A swapchain's image is not owned.
    pub(super) fn with_view(
        device: &Arc<Device>,
        name: &str,
        raw: vk::Image,
        info: ImageInfo,
        owned: Option<OwnedImage>,
    ) -> Result<Self> {
        let create = vk::ImageViewCreateInfo::default()
            .image(raw)
            .view_type(if info.depth > 1 { vk::ImageViewType::TYPE_3D } else { vk::ImageViewType::TYPE_2D })
            .format(info.format)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: info.aspect,
                base_mip_level: 0,
                level_count: info.mip_levels,
                base_array_layer: 0,
                layer_count: 1,
            });
        // SAFETY: the image is alive and has these levels.
        let view = unsafe { device.raw.create_image_view(&create, None) }.context_for("vkCreateImageView", name)?;
        // SAFETY: it was just made.
        let view = unsafe { Owned::new(device, name, view, ash::Device::destroy_image_view) };
        Ok(Self { raw, view, info, _owned: owned })
    }

    pub fn info(&self) -> &ImageInfo {
        &self.info
    }

    /// Returns the region of a copy between a buffer and all texels of the first level.
    pub fn first_level(&self) -> vk::BufferImageCopy {
        let ImageInfo { aspect, extent: vk::Extent2D { width, height }, depth, .. } = self.info;
        let subresource = vk::ImageSubresourceLayers::default().aspect_mask(aspect).layer_count(1);
        let extent = vk::Extent3D { width, height, depth };
        vk::BufferImageCopy::default().image_subresource(subresource).image_extent(extent)
    }
}

pub struct Sampler(pub(super) Owned<vk::Sampler>);

impl Sampler {
    /// Creates a sampler that clamps coordinates to the edge and does not blend levels.
    pub fn clamped(device: &Arc<Device>, name: &str, filter: vk::Filter) -> Result<Self> {
        let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
        let info = vk::SamplerCreateInfo::default().mag_filter(filter).min_filter(filter).max_lod(vk::LOD_CLAMP_NONE);
        Self::new(device, name, &info.address_mode_u(edge).address_mode_v(edge).address_mode_w(edge))
    }

    pub fn new(device: &Arc<Device>, name: &str, info: &vk::SamplerCreateInfo) -> Result<Self> {
        // SAFETY: a valid create info.
        let raw = unsafe { device.raw.create_sampler(info, None) }.context_for("vkCreateSampler", name)?;
        // SAFETY: it was just made.
        Ok(Self(unsafe { Owned::new(device, name, raw, ash::Device::destroy_sampler) }))
    }
}
