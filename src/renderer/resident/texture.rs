//! Textures: images with samplers and mipmaps.
//!
//! In: images, whose texels are freed as soon as they are staged. Out: sRGB textures for colours and linear ones for data,
//! with all mip levels generated on the GPU.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use ash::vk;

use super::upload::Uploader;
use crate::model::{self, Filter, Model, TextureSampler, Wrap};
use crate::renderer::error::{Error, Result};
use crate::vulkan::barrier::{Access, ImageBarrier, ImageUse, SAMPLED, TRANSFER_SOURCE, TRANSFER_TARGET, discarded};
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo, Sampler};

/// The format of images of sRGB-encoded colours. A model may use the same image in both formats.
pub const COLOR: vk::Format = vk::Format::R8G8B8A8_SRGB;
/// The format of images of linear numbers.
pub const DATA: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Returns the size of a texture with all of its mip levels, at four bytes per texel.
pub fn texture_bytes(width: u32, height: u32) -> u64 {
    let levels = width.max(height).max(1).ilog2() + 1;
    let texels = |level: u32| u64::from((width >> level).max(1)) * u64::from((height >> level).max(1));
    4 * (0..levels).map(texels).sum::<u64>()
}

/// An image with its sampler. Textures share both.
pub type Texture = (Arc<Image>, Arc<Sampler>);

/// One sampler for each distinct state: devices allow few of them, some 1,024, and models have thousands of textures.
pub type Samplers = HashMap<TextureSampler, Arc<Sampler>>;

/// Returns what a map has, or what `make` adds to it.
fn shared<K: Eq + Hash, V>(known: &mut HashMap<K, Arc<V>>, key: K, make: impl FnOnce() -> Result<V>) -> Result<Arc<V>> {
    if let Some(value) = known.get(&key) {
        return Ok(Arc::clone(value));
    }
    let made = Arc::new(make()?);
    known.insert(key, Arc::clone(&made));
    Ok(made)
}

/// Uploads each image once for each format, for any number of materials.
pub struct TextureCache<'a> {
    uploader: &'a mut Uploader,
    samplers: &'a mut Samplers,
    images: HashMap<Option<(u32, vk::Format)>, Arc<Image>>,
}

impl<'a> TextureCache<'a> {
    pub fn new(uploader: &'a mut Uploader, samplers: &'a mut Samplers) -> Self {
        Self { uploader, samplers, images: HashMap::new() }
    }

    /// Returns the texture of a material's slot. Slots without a texture share one white texel.
    pub fn get(&mut self, model: &Model, texture: Option<model::Texture>, format: vk::Format) -> Result<Texture> {
        let source = texture.and_then(|texture| model.images.get(texture.image as usize));
        // An index out of range gives white, like a missing texture.
        let wanted = source.and(texture);
        let white = model::Image::new("white", 1, 1, vec![255; 4]);
        let key = wanted.map(|texture| (texture.image, format));
        let image = shared(&mut self.images, key, || upload(self.uploader, source.unwrap_or(&white), format))?;
        let state = wanted.map_or_else(TextureSampler::default, |texture| texture.sampler);
        let device = self.uploader.device();
        let make = || Ok(Sampler::new(device, "texture sampler", &sampler_info(device, state))?);
        Ok((image, shared(self.samplers, state, make)?))
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
        // Without mipmaps, a maximum of 0.25 keeps the minification filter in use (note in VkSamplerCreateInfo).
        .max_lod(if sampler.mipmap.is_some() { vk::LOD_CLAMP_NONE } else { 0.25 })
        .address_mode_u(wrap(sampler.wrap_u))
        .address_mode_v(wrap(sampler.wrap_v))
        // Images have no third axis. Some GPUs sample faster if all modes are the same.
        .address_mode_w(wrap(sampler.wrap_u))
        .anisotropy_enable(anisotropic)
        .max_anisotropy(if anisotropic { MOST_ANISOTROPY.min(device.limits().max_sampler_anisotropy) } else { 1.0 })
}

/// Returns the texels of an image, with their width and height. Halves the image until the device allows its size.
fn fitted<'i>(device: &Device, source: &'i model::Image) -> Result<(Cow<'i, [u8]>, [u32; 2])> {
    let refused = |problem| Error::Image { name: source.name.clone(), problem };
    let texels = source.texels().map_err(refused)?;
    let most = device.limits().max_image_dimension2_d.max(1);
    let (size, longest) = ([source.width, source.height], source.width.max(source.height));
    if longest <= most {
        return Ok((texels, size));
    }
    let halvings = longest.div_ceil(most).next_power_of_two().ilog2();
    let [width, height] = size.map(|side| (side >> halvings).max(1));
    let image = image::RgbaImage::from_raw(source.width, source.height, texels.into_owned());
    let image = image.ok_or_else(|| refused("too few texels".to_owned()))?;
    Ok((image::imageops::thumbnail(&image, width, height).into_raw().into(), [width, height]))
}

fn upload(uploader: &mut Uploader, source: &model::Image, format: vk::Format) -> Result<Image> {
    let device = &Arc::clone(uploader.device());
    let (texels, [width, height]) = fitted(device, source)?;
    let mip_levels = width.max(height).max(1).ilog2() + 1;
    let extent = vk::Extent2D { width, height };
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST;
    let image = Image::new(device, &source.name, ImageInfo { mip_levels, ..ImageInfo::color(format, extent, usage) })?;
    let (recorder, staging) = uploader.stage(&source.name, &texels)?;
    let change = |first, count, from: ImageUse, to: ImageUse| {
        recorder.image_barriers([ImageBarrier { image: &image, levels: (first, count), from, to }]);
    };
    // The image is new, so there is nothing to wait for.
    change(0, mip_levels, discarded(Access::NOTHING), TRANSFER_TARGET);
    recorder.copy_buffer_to_image(staging, &image, image.first_level());
    for level in 1..mip_levels {
        // The copy or a blit wrote the level above, and this blit reads it (RAW).
        change(level - 1, 1, TRANSFER_TARGET, TRANSFER_SOURCE);
        recorder.blit_level(&image, blit_to_level(image.info().extent, level));
    }
    // Fragment shaders read all levels (RAW). The last level was written; blits have read the others.
    change(mip_levels - 1, 1, TRANSFER_TARGET, SAMPLED);
    if mip_levels > 1 {
        change(0, mip_levels - 1, TRANSFER_SOURCE, SAMPLED);
    }
    Ok(image)
}

fn blit_to_level(extent: vk::Extent2D, level: u32) -> vk::ImageBlit {
    let corner = |level: u32| vk::Offset3D {
        x: (extent.width >> level).max(1) as i32,
        y: (extent.height >> level).max(1) as i32,
        z: 1,
    };
    let color = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
    vk::ImageBlit {
        src_subresource: color.mip_level(level - 1),
        src_offsets: [vk::Offset3D::default(), corner(level - 1)],
        dst_subresource: color.mip_level(level),
        dst_offsets: [vk::Offset3D::default(), corner(level)],
    }
}
