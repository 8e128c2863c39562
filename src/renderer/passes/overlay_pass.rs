//! The overlay (`overlay.vert`, `overlay.frag`): a program's triangles over the tone-mapped picture.
//!
//! In: an [`Overlay`], whose meaning the renderer does not know, and its atlas, the image with the shapes of letters. Out: the output's image, in the rendering that tone mapping has begun, so no barrier is
//! needed. The pass is built when the program sets an atlas. `render` and `bench` never do.

use std::mem::offset_of;
use std::sync::Arc;

use ash::vk;

use crate::renderer::resident::texture::upload_plain;
use crate::shader_types::{OverlayConstants, OverlayVertex};
use crate::vulkan::Result;
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, Sampler};
use crate::vulkan::pipeline::{Blend, GraphicsPipelineInfo, Pipeline, PipelineBuilder, PipelineLayout, VertexInput};
use crate::vulkan::recorder::Recorder;
use crate::vulkan::spirv;
use crate::vulkan::swapchain::encodes_srgb;

/// The vertex input.
pub const VERTICES: VertexInput<'_> = VertexInput {
    bindings: &[vk::VertexInputBindingDescription {
        binding: 0,
        stride: size_of::<OverlayVertex>() as u32,
        input_rate: vk::VertexInputRate::VERTEX,
    }],
    attributes: &[
        attribute(0, vk::Format::R32G32_SFLOAT, offset_of!(OverlayVertex, position_pixels)),
        attribute(1, vk::Format::R32G32_SFLOAT, offset_of!(OverlayVertex, tex_coords)),
        attribute(2, vk::Format::R8G8B8A8_UNORM, offset_of!(OverlayVertex, color_unorm8)),
    ],
};

const fn attribute(location: u32, format: vk::Format, offset: usize) -> vk::VertexInputAttributeDescription {
    vk::VertexInputAttributeDescription { location, binding: 0, format, offset: offset as u32 }
}

/// Triangles over the picture. They are drawn in order, and may be kept for several frames.
#[derive(Debug, Default)]
pub struct Overlay {
    /// The vertices of all triangles.
    pub vertices: Vec<OverlayVertex>,
    /// Three indices of vertices for each triangle.
    pub indices: Vec<u32>,
    /// Which part of the image each range of triangles may cover.
    pub draws: Vec<OverlayDraw>,
}

/// The next triangles of an overlay.
#[derive(Debug, Clone, Copy)]
pub struct OverlayDraw {
    /// The part of the image that they may cover, in pixels.
    pub clip: vk::Rect2D,
    /// The number of their indices.
    pub index_count: u32,
}

impl Overlay {
    /// Removes all triangles.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.indices.clear();
        self.draws.clear();
    }

    /// Returns whether there is nothing to draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }
}

/// The buffers of one frame slot. They grow with the overlay.
struct SlotBuffers {
    vertices: Buffer,
    indices: Buffer,
}

/// The pipeline, the atlas and the buffers of each slot.
pub struct OverlayPass {
    /// The pipeline, and the format of the targets that it draws to. `None` before the first frame.
    pipeline: Option<(Pipeline, vk::Format)>,
    layout: PipelineLayout,
    set: DescriptorSet,
    slots: Vec<Option<SlotBuffers>>,
    _atlas: Image,
    _sampler: Sampler,
    _set_layout: DescriptorSetLayout,
    device: Arc<Device>,
}

impl OverlayPass {
    /// Uploads the atlas: RGBA, rows from the top, sRGB-encoded, multiplied by alpha.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>, size: [u32; 2], rgba: &[u8]) -> Result<Self> {
        let set_layout = DescriptorSetLayout::new(
            device,
            "overlay set layout",
            &[(vk::DescriptorType::COMBINED_IMAGE_SAMPLER, vk::ShaderStageFlags::FRAGMENT)],
        )?;
        let layout = PipelineLayout::new(
            device,
            "overlay pipeline layout",
            vk::PipelineBindPoint::GRAPHICS,
            &[&set_layout],
            Some((vk::ShaderStageFlags::VERTEX, size_of::<OverlayConstants>())),
        )?;
        let atlas = upload_plain(device, "overlay atlas", size, rgba)?;
        // Letters lie on whole pixels, so no filter is needed. On a software driver it would cost a millisecond.
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(vk::Filter::NEAREST)
            .min_filter(vk::Filter::NEAREST)
            .address_mode_u(vk::SamplerAddressMode::CLAMP_TO_EDGE)
            .address_mode_v(vk::SamplerAddressMode::CLAMP_TO_EDGE);
        let sampler = Sampler::new(device, "overlay sampler", &info)?;
        let binding = Binding::Texture(vk::DescriptorImageInfo {
            sampler: sampler.raw,
            image_view: atlas.view,
            image_layout: vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        });
        let set = DescriptorSet::new(device, "overlay set", &set_layout, &[binding])?;
        Ok(Self {
            pipeline: None,
            layout,
            set,
            slots: Vec::new(),
            _atlas: atlas,
            _sampler: sampler,
            _set_layout: set_layout,
            device: Arc::clone(device),
        })
    }

    /// Drops the pipeline, whose shaders may have changed. The next frame builds it again.
    ///
    /// # Safety
    /// All frames have finished.
    pub unsafe fn drop_pipeline(&mut self) {
        self.pipeline = None;
    }

    /// Copies an overlay to the buffers of a slot, and builds the pipeline for targets of `format` if there is none.
    ///
    /// # Errors
    /// No memory, or the driver cannot build the pipeline.
    ///
    /// # Safety
    /// The slot's last frame has finished. If the format has changed, all frames have finished.
    pub unsafe fn prepare(
        &mut self,
        builder: &PipelineBuilder,
        format: vk::Format,
        slot: usize,
        overlay: &Overlay,
    ) -> Result<()> {
        if self.pipeline.as_ref().is_none_or(|(_, built_for)| *built_for != format) {
            self.pipeline = Some((self.build(builder, format)?, format));
        }
        while self.slots.len() <= slot {
            self.slots.push(None);
        }
        let Some(buffers) = self.slots.get_mut(slot) else { return Ok(()) };
        let sizes = [size_of_val(&overlay.vertices[..]), size_of_val(&overlay.indices[..])].map(|size| size as u64);
        let fits =
            |buffers: &SlotBuffers| buffers.vertices.size_bytes >= sizes[0] && buffers.indices.size_bytes >= sizes[1];
        if !buffers.as_ref().is_some_and(fits) {
            let buffer = |name: &str, size_bytes: u64, usage| {
                // Room to grow, so that few frames replace a buffer.
                Buffer::new(&self.device, &format!("{name} {slot}"), 2 * size_bytes, usage, BufferMemory::Upload)
            };
            *buffers = None;
            *buffers = Some(SlotBuffers {
                vertices: buffer("overlay vertices", sizes[0], vk::BufferUsageFlags::VERTEX_BUFFER)?,
                indices: buffer("overlay indices", sizes[1], vk::BufferUsageFlags::INDEX_BUFFER)?,
            });
        }
        if let Some(SlotBuffers { vertices, indices }) = buffers {
            // SAFETY: the caller promises that the slot's last frame has finished.
            unsafe {
                vertices.mapped_for_writing(overlay.vertices.len()).write_copy_of_slice(&overlay.vertices);
                indices.mapped_for_writing(overlay.indices.len()).write_copy_of_slice(&overlay.indices);
            }
        }
        Ok(())
    }

    /// Draws the overlay that [`Self::prepare`] has copied for this slot, inside a rendering.
    pub fn record(&self, recorder: Recorder, extent: vk::Extent2D, slot: usize, overlay: &Overlay) {
        let (Some((pipeline, _)), Some(Some(buffers))) = (&self.pipeline, self.slots.get(slot)) else { return };
        recorder.bind_pipeline(pipeline);
        recorder.bind_set(&self.layout, 0, &self.set);
        recorder.set_culling(vk::CullModeFlags::NONE, vk::FrontFace::COUNTER_CLOCKWISE);
        let clip_from_pixels = [2.0 / extent.width as f32, 2.0 / extent.height as f32];
        recorder.push_constants(&self.layout, &OverlayConstants { clip_from_pixels });
        recorder.bind_vertex_buffer(0, &buffers.vertices, 0);
        recorder.bind_index_buffer(&buffers.indices, vk::IndexType::UINT32);
        let mut first_index = 0;
        for draw in &overlay.draws {
            recorder.set_scissor(draw.clip);
            recorder.draw_indexed((first_index, draw.index_count), (0, 1));
            first_index += draw.index_count;
        }
    }

    fn build(&self, builder: &PipelineBuilder, format: vk::Format) -> Result<Pipeline> {
        builder.graphics(&GraphicsPipelineInfo {
            name: "overlay",
            vertex: &spirv::OVERLAY_VERT,
            fragment: Some(&spirv::OVERLAY_FRAG),
            constants: &[u32::from(encodes_srgb(format))],
            vertex_input: VERTICES,
            topology: vk::PrimitiveTopology::TRIANGLE_LIST,
            polygon_mode: vk::PolygonMode::FILL,
            layout: &self.layout,
            color_format: Some(format),
            depth: None,
            samples: vk::SampleCountFlags::TYPE_1,
            blend: Some(Blend::Premultiplied),
            depth_bias: None,
        })
    }
}
