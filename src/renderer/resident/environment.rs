//! The light of the surroundings (image-based light), computed on the GPU (`environment_*.comp`).
//!
//! In: a sky ([`SkyData`]). Out: the data that `shaders/lighting.glsl` reads for diffuse and specular reflection:
//!
//! * the irradiance from all sides as nine terms of spherical harmonics, 144 bytes;
//! * the specular cube map: the surroundings, blurred by the GGX lobe of a roughness in each mip level, 128 x 128 texels a
//!   face and six levels of four half-precision numbers, 1.0 MiB;
//! * the split-sum table: the share of uniform light that a surface reflects, 64 x 64 texels of two half-precision
//!   numbers, 16 KiB. It does not depend on the sky.
//!
//! Everything is computed in one submission, before the first frame and again when the sky changes. The images stay the
//! same, so descriptor sets stay valid. The shaders write buffers that are copied to the images: unlike storage images,
//! buffers need neither optional formats nor a view of each level.

use std::sync::Arc;

use ash::vk;

use crate::shader_types::{EnvironmentConstants, IrradianceData, SkyData};
use crate::vulkan::Result;
use crate::vulkan::barrier::{Access, ImageBarrier, ImageUse, SAMPLED, TRANSFER_TARGET, discarded};
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo, Sampler};
use crate::vulkan::pipeline::{Pipeline, PipelineLayout};
use crate::vulkan::pipeline_cache::PipelineCache;
use crate::vulkan::recorder::Recorder;
use crate::vulkan::spirv;

/// The side of a face of the cube map's first level, in texels. `environment_specular.comp` has the same number.
const SPECULAR_SIDE: u32 = 128;
/// The number of levels, from roughness 0 to 1. `environment_specular.comp` and `lighting.glsl` have the same number.
const SPECULAR_LEVELS: u32 = 6;
/// Every driver filters this format.
const SPECULAR_FORMAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
const SPECULAR_TEXEL_BYTES: u64 = 8;
/// The side of the split-sum table in texels. `environment_brdf.comp` has the same number.
const TABLE_SIDE: u32 = 64;
/// Every driver filters this format.
const TABLE_FORMAT: vk::Format = vk::Format::R16G16_SFLOAT;
const TABLE_TEXEL_BYTES: u64 = 4;
/// `local_size_x` in `environment.glsl`; `tests/shader_layout.rs` compares both.
pub const GROUP_SIZE: u32 = 64;

/// The size of all images and buffers. Each image has a buffer of the same size.
pub const ENVIRONMENT_BYTES: u64 = 2
    * (specular_texels_before(SPECULAR_LEVELS) * SPECULAR_TEXEL_BYTES
        + (TABLE_SIDE * TABLE_SIDE) as u64 * TABLE_TEXEL_BYTES)
    + size_of::<IrradianceData>() as u64;

/// The light of the surroundings, and the pipelines that compute it.
pub struct Environment {
    irradiance: Buffer,
    specular_texels: Buffer,
    specular: Image,
    table_texels: Buffer,
    table: Image,
    sampler: Sampler,
    layout: PipelineLayout,
    set: DescriptorSet,
    irradiance_pipeline: Pipeline,
    specular_pipeline: Pipeline,
    table_pipeline: Pipeline,
    /// The sky of the last computation.
    sky: Option<SkyData>,
    device: Arc<Device>,
    _set_layout: DescriptorSetLayout,
}

impl Environment {
    /// Creates the images and pipelines. The images have no contents before [`Self::light`].
    ///
    /// # Errors
    /// No memory, or the driver cannot build a pipeline.
    pub fn new(device: &Arc<Device>, cache: &PipelineCache) -> Result<Self> {
        let buffer = |name: &str, size_bytes, usage| {
            let usage = usage | vk::BufferUsageFlags::STORAGE_BUFFER;
            Buffer::new(device, name, size_bytes, usage, BufferMemory::Device)
        };
        let copied = vk::BufferUsageFlags::TRANSFER_SRC;
        let specular_bytes = specular_texels_before(SPECULAR_LEVELS) * SPECULAR_TEXEL_BYTES;
        let table_bytes = u64::from(TABLE_SIDE * TABLE_SIDE) * TABLE_TEXEL_BYTES;
        let irradiance =
            buffer("irradiance", size_of::<IrradianceData>() as u64, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
        let specular_texels = buffer("specular texels", specular_bytes, copied)?;
        let table_texels = buffer("split-sum texels", table_bytes, copied)?;

        let image = |name, format, side, cube_levels: Option<u32>| {
            let extent = vk::Extent2D { width: side, height: side };
            let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
            let (mip_levels, is_cube) = (cube_levels.unwrap_or(1), cube_levels.is_some());
            Image::new(device, name, ImageInfo { mip_levels, is_cube, ..ImageInfo::color(format, extent, usage) })
        };
        let sampler = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::LINEAR)
            .min_filter(vk::Filter::LINEAR)
            .mipmap_mode(vk::SamplerMipmapMode::LINEAR)
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .max_lod(vk::LOD_CLAMP_NONE);

        let storage = (vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::COMPUTE);
        let set_layout = DescriptorSetLayout::new(device, "environment set layout", &[storage; 3])?;
        let bindings =
            [&irradiance, &specular_texels, &table_texels].map(|buffer| Binding::Buffer(buffer.descriptor()));
        let layout = PipelineLayout::new(
            device,
            "environment pipeline layout",
            vk::PipelineBindPoint::COMPUTE,
            &[&set_layout],
            Some((vk::ShaderStageFlags::COMPUTE, size_of::<EnvironmentConstants>())),
        )?;
        let pipeline = |name, shader| Pipeline::compute(device, cache, name, (shader, &[]), &layout);
        Ok(Self {
            specular: image("specular cube map", SPECULAR_FORMAT, SPECULAR_SIDE, Some(SPECULAR_LEVELS))?,
            table: image("split-sum table", TABLE_FORMAT, TABLE_SIDE, None)?,
            sampler: Sampler::new(device, "environment sampler", &sampler)?,
            set: DescriptorSet::new(device, "environment set", &set_layout, &bindings)?,
            irradiance_pipeline: pipeline("irradiance", &spirv::ENVIRONMENT_IRRADIANCE_COMP)?,
            specular_pipeline: pipeline("specular cube map", &spirv::ENVIRONMENT_SPECULAR_COMP)?,
            table_pipeline: pipeline("split-sum table", &spirv::ENVIRONMENT_BRDF_COMP)?,
            irradiance,
            specular_texels,
            table_texels,
            layout,
            sky: None,
            device: Arc::clone(device),
            _set_layout: set_layout,
        })
    }

    /// Returns the irradiance, the specular cube map and the split-sum table, for the frame set.
    #[must_use]
    pub fn bindings(&self) -> [Binding; 3] {
        let texture = |image: &Image| {
            Binding::Texture(vk::DescriptorImageInfo {
                sampler: self.sampler.raw,
                image_view: image.view,
                image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
            })
        };
        [Binding::Buffer(self.irradiance.descriptor()), texture(&self.specular), texture(&self.table)]
    }

    /// Whether the last computation was for this sky.
    #[must_use]
    pub fn is_lit_by(&self, sky: &SkyData) -> bool {
        self.sky.as_ref() == Some(sky)
    }

    /// Computes the light of `sky` and waits for it.
    ///
    /// # Errors
    /// Device lost, or out of memory.
    ///
    /// # Safety
    /// No frame is in flight.
    pub unsafe fn light(&mut self, sky: SkyData) -> Result<()> {
        // SAFETY: everything that is recorded belongs to `self`. No frame reads the results meanwhile.
        unsafe {
            submit_and_wait(&self.device, "environment", |recorder| {
                recorder.labelled(c"environment", || self.record(recorder, sky));
                Ok(())
            })
        }?;
        self.sky = Some(sky);
        Ok(())
    }

    fn record(&self, recorder: Recorder, sky: SkyData) {
        recorder.bind_set(&self.layout, 0, &self.set);
        recorder.push_constants(&self.layout, &EnvironmentConstants { sky });
        let dispatch = |pipeline, invocations: u32| {
            recorder.bind_pipeline(pipeline);
            recorder.dispatch([invocations.div_ceil(GROUP_SIZE), 1]);
        };
        dispatch(&self.irradiance_pipeline, GROUP_SIZE);
        dispatch(&self.specular_pipeline, specular_texels_before(SPECULAR_LEVELS) as u32);
        dispatch(&self.table_pipeline, TABLE_SIDE * TABLE_SIDE);

        // Copies read the texels, and fragment shaders the irradiance (RAW).
        recorder.memory_barrier(Access::COMPUTE_WRITE, Access::TRANSFER_READ.and(Access::UNIFORM_READ));
        // The images are new, or all frames that have sampled them have finished.
        self.change_images(recorder, discarded(Access::NOTHING), TRANSFER_TARGET);
        for level in 0..SPECULAR_LEVELS {
            let offset_bytes = specular_texels_before(level) * SPECULAR_TEXEL_BYTES;
            let region = copy(&self.specular.info, level, offset_bytes);
            recorder.copy_buffer_to_image(&self.specular_texels, &self.specular, region);
        }
        recorder.copy_buffer_to_image(&self.table_texels, &self.table, copy(&self.table.info, 0, 0));
        // Fragment shaders sample the images (RAW).
        self.change_images(recorder, TRANSFER_TARGET, SAMPLED);
    }

    fn change_images(&self, recorder: Recorder, from: ImageUse, to: ImageUse) {
        recorder.image_barriers([&self.specular, &self.table].map(|image| ImageBarrier {
            levels: (0, image.info.mip_levels),
            ..ImageBarrier::color(image.raw, from, to)
        }));
    }
}

/// Returns the number of texels of the cube map in the levels before `level`.
const fn specular_texels_before(level: u32) -> u64 {
    let (mut texels, mut before) = (0, 0);
    while before < level {
        let side = (SPECULAR_SIDE >> before) as u64;
        texels += 6 * side * side;
        before += 1;
    }
    texels
}

/// Returns the copy of all layers of a level.
fn copy(info: &ImageInfo, level: u32, offset_bytes: u64) -> vk::BufferImageCopy {
    let vk::Extent2D { width, height } = info.extent;
    let subresource = vk::ImageSubresourceLayers {
        aspect_mask: info.aspect,
        mip_level: level,
        base_array_layer: 0,
        layer_count: info.layer_count(),
    };
    vk::BufferImageCopy::default()
        .buffer_offset(offset_bytes)
        .image_subresource(subresource)
        .image_extent(vk::Extent3D { width: width >> level, height: height >> level, depth: 1 })
}
