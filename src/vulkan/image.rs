//! Images, their memory and one view each; samplers.

use std::sync::Arc;

use ash::vk;
use gpu_allocator::MemoryLocation;
use gpu_allocator::vulkan::Allocation;

use super::device::Device;
use super::error::{Context, Result};

/// The properties of an [`Image`].
#[derive(Debug, Clone, Copy)]
pub struct ImageInfo {
    /// The format of a texel.
    pub format: vk::Format,
    /// The size in texels.
    pub extent: vk::Extent2D,
    /// The size in the third dimension; 1 for a two-dimensional image.
    pub depth: u32,
    /// The number of mip levels, at least 1.
    pub mip_levels: u32,
    /// The number of samples per texel.
    pub samples: vk::SampleCountFlags,
    /// The uses of the image.
    pub usage: vk::ImageUsageFlags,
    /// Colour or depth.
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

/// An image and a view of all of its levels.
pub struct Image {
    pub(super) raw: vk::Image,
    pub(super) view: vk::ImageView,
    info: ImageInfo,
    /// The memory of the image. `None` if a swapchain owns the image.
    allocation: Option<Allocation>,
    device: Arc<Device>,
}

impl Image {
    /// Creates the image and its view.
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
        device.register(raw, name);
        match Self::bind(device, name, raw) {
            Ok(allocation) => Self::with_view(device, name, raw, info, Some(allocation)),
            Err(error) => {
                // SAFETY: nothing uses it.
                unsafe { device.raw.destroy_image(raw, None) };
                Err(error)
            }
        }
    }

    /// Takes over an image, creates its view, and destroys both on drop. Without an allocation, only the view.
    pub(super) fn with_view(
        device: &Arc<Device>,
        name: &str,
        raw: vk::Image,
        info: ImageInfo,
        allocation: Option<Allocation>,
    ) -> Result<Self> {
        // Without a view, the drop destroys the image: destroying the null handle does nothing.
        let mut image = Self { raw, view: vk::ImageView::null(), info, allocation, device: Arc::clone(device) };
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
        image.view = unsafe { device.raw.create_image_view(&create, None) }.context_for("vkCreateImageView", name)?;
        device.register(image.view, name);
        Ok(image)
    }

    /// Returns the properties.
    pub fn info(&self) -> &ImageInfo {
        &self.info
    }

    fn bind(device: &Arc<Device>, name: &str, raw: vk::Image) -> Result<Allocation> {
        // SAFETY: `raw` was just made from this device.
        let mut requirements = unsafe { device.raw.get_image_memory_requirements(raw) };
        requirements.memory_type_bits = device.physical.image_memory_types(requirements.memory_type_bits);
        let allocation = device.allocate(name, requirements, MemoryLocation::GpuOnly, false)?;
        // SAFETY: the memory is fresh, large enough and of an allowed type.
        let bound = unsafe { device.raw.bind_image_memory(raw, allocation.memory(), allocation.offset()) };
        match bound.context_for("vkBindImageMemory", name) {
            Ok(()) => Ok(allocation),
            Err(error) => {
                device.free(allocation);
                Err(error)
            }
        }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: the owner no longer uses the image, nor does the GPU (see `Device`).
        unsafe { self.device.raw.destroy_image_view(self.view, None) };
        if let Some(allocation) = self.allocation.take() {
            // SAFETY: as above. The view is destroyed.
            unsafe { self.device.raw.destroy_image(self.raw, None) };
            self.device.free(allocation);
        }
    }
}

/// A texture sampler.
pub struct Sampler {
    pub(super) raw: vk::Sampler,
    device: Arc<Device>,
}

impl Sampler {
    /// Creates a sampler that clamps coordinates to the edge and does not blend levels.
    pub fn clamped(device: &Arc<Device>, name: &str, filter: vk::Filter) -> Result<Self> {
        let edge = vk::SamplerAddressMode::CLAMP_TO_EDGE;
        let info = vk::SamplerCreateInfo::default().mag_filter(filter).min_filter(filter).max_lod(vk::LOD_CLAMP_NONE);
        Self::new(device, name, &info.address_mode_u(edge).address_mode_v(edge).address_mode_w(edge))
    }

    /// Creates a sampler.
    pub fn new(device: &Arc<Device>, name: &str, info: &vk::SamplerCreateInfo) -> Result<Self> {
        // SAFETY: a valid create info.
        let raw = unsafe { device.raw.create_sampler(info, None) }.context_for("vkCreateSampler", name)?;
        device.register(raw, name);
        Ok(Self { raw, device: Arc::clone(device) })
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // SAFETY: the owner no longer uses it, nor does the GPU (see `Device`).
        unsafe { self.device.raw.destroy_sampler(self.raw, None) };
    }
}
