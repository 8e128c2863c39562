//! Textures: sRGB for colours, linear for data, each with a full chain of mipmaps made on the GPU.

use std::collections::HashMap;
use std::sync::Arc;

use ash::vk;

use super::upload::staging_buffer;
use crate::model::{self, Filter, Model, TextureSampler, Wrap};
use crate::vulkan::Result;
use crate::vulkan::barrier::{Access, ImageBarrier, ImageUse, SAMPLED, TRANSFER_SOURCE, TRANSFER_TARGET, discarded};
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::descriptors::Binding;
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo, Sampler};

/// What the numbers in an image stand for; the same image may be used both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextureContent {
    /// sRGB-encoded colours.
    Color,
    /// Linear numbers.
    Data,
}

impl TextureContent {
    fn format(self) -> vk::Format {
        match self {
            Self::Color => vk::Format::R8G8B8A8_SRGB,
            Self::Data => vk::Format::R8G8B8A8_UNORM,
        }
    }
}

/// An image with its sampler.
pub struct Texture {
    image: Arc<Image>,
    sampler: Sampler,
}

impl Texture {
    /// For a descriptor set.
    #[must_use]
    pub fn binding(&self) -> Binding {
        Binding::Texture(vk::DescriptorImageInfo {
            sampler: self.sampler.raw,
            image_view: self.image.view,
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        })
    }
}

/// Uploads each image once for each content it is used as, however many materials use it.
pub struct TextureCache<'a> {
    device: &'a Arc<Device>,
    images: HashMap<Option<(u32, TextureContent)>, Arc<Image>>,
    textures: HashMap<Option<(model::Texture, TextureContent)>, Arc<Texture>>,
}

impl<'a> TextureCache<'a> {
    /// An empty cache.
    #[must_use]
    pub fn new(device: &'a Arc<Device>) -> Self {
        Self { device, images: HashMap::new(), textures: HashMap::new() }
    }

    /// The texture of a material's slot; the one white texel that all share where it has none.
    ///
    /// # Errors
    /// No memory.
    pub fn get(
        &mut self,
        model: &Model,
        texture: Option<model::Texture>,
        content: TextureContent,
    ) -> Result<Arc<Texture>> {
        let source = texture.and_then(|texture| model.images.get(texture.image as usize));
        // An index beyond the images falls back to white like no texture at all.
        let wanted = source.and(texture).map(|texture| (texture, content));
        if let Some(known) = self.textures.get(&wanted) {
            return Ok(Arc::clone(known));
        }
        let white = model::Image { name: "white".to_owned(), width: 1, height: 1, rgba: vec![255; 4] };
        let key = wanted.map(|(texture, content)| (texture.image, content));
        let image = match self.images.get(&key) {
            Some(image) => Arc::clone(image),
            None => {
                let image = Arc::new(upload(self.device, source.unwrap_or(&white), content.format())?);
                self.images.insert(key, Arc::clone(&image));
                image
            }
        };
        let sampler = wanted.map_or_else(TextureSampler::default, |(texture, _)| texture.sampler);
        let sampler = Sampler::new(self.device, "texture sampler", &sampler_info(self.device, sampler))?;
        let made = Arc::new(Texture { image, sampler });
        self.textures.insert(wanted, Arc::clone(&made));
        Ok(made)
    }

    /// All textures, for their owner to keep.
    #[must_use]
    pub fn into_textures(self) -> Vec<Arc<Texture>> {
        self.textures.into_values().collect()
    }
}

fn sampler_info(device: &Device, sampler: TextureSampler) -> vk::SamplerCreateInfo<'static> {
    const MOST_ANISOTROPY: f32 = 8.0;
    let filter = |filter| match filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    };
    let wrap = |wrap| match wrap {
        Wrap::Repeat => vk::SamplerAddressMode::REPEAT,
        Wrap::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Wrap::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    };
    let mipmap_mode = match sampler.mipmap {
        Some(Filter::Linear) => vk::SamplerMipmapMode::LINEAR,
        Some(Filter::Nearest) | None => vk::SamplerMipmapMode::NEAREST,
    };
    let anisotropic = device.physical.sampler_anisotropy && sampler.min == Filter::Linear && sampler.mipmap.is_some();
    vk::SamplerCreateInfo::default()
        .mag_filter(filter(sampler.mag))
        .min_filter(filter(sampler.min))
        .mipmap_mode(mipmap_mode)
        // Without mipmaps: a quarter keeps the minification filter in use, as the note to VkSamplerCreateInfo says.
        .max_lod(if sampler.mipmap.is_some() { vk::LOD_CLAMP_NONE } else { 0.25 })
        .address_mode_u(wrap(sampler.wrap_u))
        .address_mode_v(wrap(sampler.wrap_v))
        .anisotropy_enable(anisotropic)
        .max_anisotropy(if anisotropic { MOST_ANISOTROPY.min(device.limits().max_sampler_anisotropy) } else { 1.0 })
}

/// An image that fits the device: halved as often as its limit asks for.
fn fitted(device: &Device, source: &model::Image) -> Option<model::Image> {
    let most = device.limits().max_image_dimension2_d.max(1);
    let longest = source.width.max(source.height);
    if longest <= most {
        return None;
    }
    let halvings = longest.div_ceil(most).next_power_of_two().ilog2();
    let (width, height) = ((source.width >> halvings).max(1), (source.height >> halvings).max(1));
    let image = image::RgbaImage::from_raw(source.width, source.height, source.rgba.clone())?;
    let rgba = image::imageops::thumbnail(&image, width, height).into_raw();
    Some(model::Image { name: source.name.clone(), width, height, rgba })
}

fn upload(device: &Arc<Device>, source: &model::Image, format: vk::Format) -> Result<Image> {
    let fitted = fitted(device, source);
    let source = fitted.as_ref().unwrap_or(source);
    let mip_levels = source.width.max(source.height).max(1).ilog2() + 1;
    let image = Image::new(
        device,
        &source.name,
        ImageInfo {
            format,
            extent: vk::Extent2D { width: source.width, height: source.height },
            mip_levels,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST,
            aspect: vk::ImageAspectFlags::COLOR,
        },
    )?;
    let staging = staging_buffer(device, &source.name, &source.rgba)?;
    submit_and_wait(device, &source.name, |recorder| {
        let change = |first, count, from: ImageUse, to: ImageUse| {
            let aspect = vk::ImageAspectFlags::COLOR;
            let barrier = ImageBarrier { image: image.raw, aspect, levels: (first, count), from, to };
            recorder.image_barriers([barrier]);
        };
        // A new image: nothing to wait for.
        change(0, mip_levels, discarded(Access::NOTHING), TRANSFER_TARGET);
        let region = vk::BufferImageCopy::default().image_subresource(subresource(0)).image_extent(vk::Extent3D {
            width: source.width,
            height: source.height,
            depth: 1,
        });
        recorder.copy_buffer_to_image(&staging, &image, region);
        for level in 1..mip_levels {
            // The level above was just written by the copy or a blit, and is now read by this blit (RAW).
            change(level - 1, 1, TRANSFER_TARGET, TRANSFER_SOURCE);
            recorder.blit_level(&image, blit_to_level(image.info.extent, level));
        }
        // Blits have read all levels but the last, which was written: then fragment shaders read them all (RAW).
        change(mip_levels - 1, 1, TRANSFER_TARGET, SAMPLED);
        if mip_levels > 1 {
            change(0, mip_levels - 1, TRANSFER_SOURCE, SAMPLED);
        }
        Ok(())
    })?;
    Ok(image)
}

/// Returns the blit from the level above to this level.
fn blit_to_level(extent: vk::Extent2D, level: u32) -> vk::ImageBlit {
    let corner = |level: u32| vk::Offset3D {
        x: (extent.width >> level).max(1) as i32,
        y: (extent.height >> level).max(1) as i32,
        z: 1,
    };
    vk::ImageBlit {
        src_subresource: subresource(level - 1),
        src_offsets: [vk::Offset3D::default(), corner(level - 1)],
        dst_subresource: subresource(level),
        dst_offsets: [vk::Offset3D::default(), corner(level)],
    }
}

fn subresource(level: u32) -> vk::ImageSubresourceLayers {
    vk::ImageSubresourceLayers {
        aspect_mask: vk::ImageAspectFlags::COLOR,
        mip_level: level,
        base_array_layer: 0,
        layer_count: 1,
    }
}
