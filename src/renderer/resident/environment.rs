//! The light of the surroundings (image-based light), computed on the GPU (`environment_*.comp`).
//!
//! In: a sky ([`SkyData`]). Out: the tables that `shaders/lighting.glsl` reads for diffuse and specular reflection:
//!
//! * the irradiance table: the light that a white Lambert surface reflects, by the direction of its normal, 32 x 32 texels
//!   of four half-precision numbers, 8 KiB;
//! * the specular table: the surroundings, blurred by the GGX lobe of a roughness, by direction and roughness, 128 x 128 x 6
//!   texels of four half-precision numbers, 768 KiB;
//! * the split-sum table: the share of uniform light that a surface reflects, 64 x 64 texels of two half-precision
//!   numbers, 16 KiB. It does not depend on the sky.
//!
//! The vertical plane through the sun mirrors the surroundings, so two numbers tell all that counts of a direction: how far it
//! points up, and how far towards the sun along the ground. So the first two are plain tables, which are smaller and cheaper to
//! sample than cube maps.
//!
//! Everything is computed at the start of the first frame, and of each frame whose sky has changed. Earlier frames may still
//! sample the tables: barriers order them, so the CPU does not wait. The images stay the same, and so does the light set.
//! The shaders write buffers that are copied to the images: unlike storage images, buffers need no optional formats.

use ash::vk;

use crate::shader_types::{EnvironmentConstants, SkyData};
use crate::vulkan::Result;
use crate::vulkan::barrier::{Access, ImageBarrier, ImageUse, SAMPLED, TRANSFER_TARGET, discarded};
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::image::{Image, ImageInfo, Sampler};
use crate::vulkan::pipeline::{Pipeline, PipelineBuilder, PipelineLayout};
use crate::vulkan::recorder::Recorder;
use crate::vulkan::spirv;

/// The side of the irradiance table in texels. `shaders/environment_sizes.glsl` has the same sizes.
pub const IRRADIANCE_SIDE: u32 = 32;
pub const SPECULAR_SIDE: u32 = 128;
/// The number of roughnesses in the specular table, from 0 to 1.
pub const ROUGHNESS_COUNT: u32 = 6;
pub const SPLIT_SUM_SIDE: u32 = 64;

/// The texels of light: their format, which every driver filters, and their size in bytes.
const LIGHT: (vk::Format, u64) = (vk::Format::R16G16B16A16_SFLOAT, 8);
/// The texels of the split-sum table: their format, which every driver filters, and their size in bytes.
const SPLIT_SUM: (vk::Format, u64) = (vk::Format::R16G16_SFLOAT, 4);
/// `local_size_x` in `environment.glsl`; `tests/repository/shader_layout.rs` compares both.
pub const GROUP_SIZE: u32 = 64;

/// The size of all images and buffers. Each image has a buffer of the same size.
pub const ENVIRONMENT_BYTES: u64 = 2
    * ((IRRADIANCE_SIDE * IRRADIANCE_SIDE) as u64 * LIGHT.1
        + (SPECULAR_SIDE * SPECULAR_SIDE * ROUGHNESS_COUNT) as u64 * LIGHT.1
        + (SPLIT_SUM_SIDE * SPLIT_SUM_SIDE) as u64 * SPLIT_SUM.1);

/// The light of the surroundings, and the pipelines that compute it.
pub struct Environment {
    /// The irradiance table, the specular table and the split-sum table, in the order of their bindings.
    tables: [Table; 3],
    sampler: Sampler,
    layout: PipelineLayout,
    set: DescriptorSet,
    /// The sky of the last computation that was submitted.
    sky: Option<SkyData>,
}

/// A table that shaders sample with linear interpolation.
struct Table {
    image: Image,
    /// The texels as the compute shader writes them.
    texels: Buffer,
    pipeline: Pipeline,
    work_groups: u32,
}

impl Environment {
    /// Creates the images and pipelines. The images have no contents before [`Self::record`].
    pub fn new(builder: &PipelineBuilder) -> Result<Self> {
        let device = builder.device();
        let storage = (vk::DescriptorType::STORAGE_BUFFER, vk::ShaderStageFlags::COMPUTE);
        let set_layout = DescriptorSetLayout::new(device, "environment set layout", &[storage; 3])?;
        let (name, constants_bytes) = ("environment pipeline layout", size_of::<EnvironmentConstants>());
        let layout = PipelineLayout::new(device, name, vk::ShaderStageFlags::COMPUTE, &[&set_layout], constants_bytes)?;
        let table = |name: &str, shader, (format, texel_bytes), (side, depth)| {
            let extent = vk::Extent2D { width: side, height: side };
            let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
            let info = ImageInfo { depth, ..ImageInfo::color(format, extent, usage) };
            let texel_count: u32 = side * side * depth;
            let size_bytes = u64::from(texel_count) * texel_bytes;
            let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_SRC;
            Ok(Table {
                image: Image::new(device, name, info)?,
                texels: Buffer::new(device, &format!("texels of the {name}"), size_bytes, usage, BufferMemory::Device)?,
                pipeline: builder.compute(name, (shader, &[]), &layout)?,
                work_groups: texel_count.div_ceil(GROUP_SIZE),
            })
        };
        let irradiance = &spirv::ENVIRONMENT_IRRADIANCE_COMP;
        let tables = [
            // One work group writes the whole table.
            Table { work_groups: 1, ..table("irradiance table", irradiance, LIGHT, (IRRADIANCE_SIDE, 1))? },
            table("specular table", &spirv::ENVIRONMENT_SPECULAR_COMP, LIGHT, (SPECULAR_SIDE, ROUGHNESS_COUNT))?,
            table("split-sum table", &spirv::ENVIRONMENT_BRDF_COMP, SPLIT_SUM, (SPLIT_SUM_SIDE, 1))?,
        ];
        let bindings = tables.each_ref().map(|table| Binding::Buffer(&table.texels));
        Ok(Self {
            sampler: Sampler::clamped(device, "environment sampler", vk::Filter::LINEAR)?,
            set: DescriptorSet::new(device, "environment set", &set_layout, &bindings)?,
            tables,
            layout,
            sky: None,
        })
    }

    /// Returns the irradiance table, the specular table and the split-sum table, for the light set.
    pub fn bindings(&self) -> [Binding<'_>; 3] {
        self.tables.each_ref().map(|table| Binding::Texture(&table.image, &self.sampler))
    }

    /// Notes that a frame with this sky was submitted.
    pub fn submitted(&mut self, sky: SkyData) {
        self.sky = Some(sky);
    }

    /// Computes the light of `sky`, unless the last frame had the same.
    pub fn record(&self, recorder: Recorder, sky: SkyData) {
        if self.sky != Some(sky) {
            recorder.labelled(c"environment", || self.record_tables(recorder, sky));
        }
    }

    fn record_tables(&self, recorder: Recorder, sky: SkyData) {
        // The shaders write the texels, which an earlier computation wrote (WAW) and copied (WAR).
        recorder.memory_barrier(Access::COMPUTE_WRITE.and(Access::TRANSFER_READ.finished()), Access::COMPUTE_WRITE);
        recorder.bind_set(&self.layout, 0, &self.set);
        recorder.push_constants(&self.layout, &EnvironmentConstants { sky });
        for table in &self.tables {
            recorder.bind_pipeline(&table.pipeline);
            recorder.dispatch([table.work_groups, 1]);
        }
        // Copies read the texels (RAW).
        recorder.memory_barrier(Access::COMPUTE_WRITE, Access::TRANSFER_READ);
        // Earlier frames sample the images (WAR).
        self.change_images(recorder, discarded(Access::SAMPLED_READ.finished()), TRANSFER_TARGET);
        for Table { image, texels, .. } in &self.tables {
            recorder.copy_buffer_to_image(texels, image, image.first_level());
        }
        // Fragment shaders sample the images (RAW).
        self.change_images(recorder, TRANSFER_TARGET, SAMPLED);
    }

    fn change_images(&self, recorder: Recorder, from: ImageUse, to: ImageUse) {
        let images = self.tables.each_ref().map(|table| &table.image);
        recorder.image_barriers(images.map(|image| ImageBarrier::new(image, from, to)));
    }
}
