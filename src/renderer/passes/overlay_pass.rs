//! The overlay (`overlay.vert`, `overlay.frag`): a program's triangles over the tone-mapped picture.
//!
//! In: an [`Overlay`], whose meaning the renderer does not know, and its atlas, the image with the shapes of letters. Out: the
//! output's image, in the rendering that tone mapping has begun. The pass is built when the program sets an atlas. `render`
//! and `bench` never do.

use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use bytemuck::Pod;

use crate::shader_types::{OverlayConstants, OverlayVertex, SpecializationConstants};
use crate::vulkan::Result;
use crate::vulkan::barrier::{Access, ImageBarrier, SAMPLED, TRANSFER_TARGET, discarded};
use crate::vulkan::buffer::{Buffer, BufferMemory};
use crate::vulkan::descriptors::{Binding, DescriptorSet, DescriptorSetLayout};
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo, Sampler};
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
#[derive(Default)]
struct SlotBuffers {
    vertices: Option<Buffer>,
    indices: Option<Buffer>,
    /// The changed rows of the atlas.
    rows: Option<Buffer>,
}

/// The pipeline, the atlas and the buffers of each slot.
pub struct OverlayPass {
    /// The pipeline, and the format of the images that it draws to. `None` before the first frame.
    pipeline: Option<(Pipeline, vk::Format)>,
    layout: PipelineLayout,
    set: DescriptorSet,
    slots: Vec<SlotBuffers>,
    atlas: Image,
    /// The rows of the atlas that the next frame copies, and their texels.
    changed_rows: Range<u32>,
    changed_texels: Vec<u8>,
    _sampler: Sampler,
    _set_layout: DescriptorSetLayout,
    device: Arc<Device>,
}

impl OverlayPass {
    /// Creates an atlas without contents.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>, [width, height]: [u32; 2]) -> Result<Self> {
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
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let info = ImageInfo::color(vk::Format::R8G8B8A8_UNORM, vk::Extent2D { width, height }, usage);
        let atlas = Image::new(device, "overlay atlas", info)?;
        // Letters lie on whole pixels, so no filter is needed.
        let sampler = Sampler::clamped(device, "overlay sampler", vk::Filter::NEAREST)?;
        let set = DescriptorSet::new(device, "overlay set", &set_layout, &[Binding::Texture(&atlas, &sampler)])?;
        Ok(Self {
            pipeline: None,
            layout,
            set,
            slots: Vec::new(),
            atlas,
            changed_rows: 0..0,
            changed_texels: Vec::new(),
            _sampler: sampler,
            _set_layout: set_layout,
            device: Arc::clone(device),
        })
    }

    /// Returns the size of the atlas.
    #[must_use]
    pub fn atlas_size(&self) -> [u32; 2] {
        let vk::Extent2D { width, height } = self.atlas.info().extent;
        [width, height]
    }

    /// Keeps rows of the whole atlas `rgba` for the next frame, with those that were kept before. The first call has all rows.
    pub fn change_atlas(&mut self, rgba: &[u8], rows: Range<u32>) {
        let [width, height] = self.atlas_size();
        let kept = &self.changed_rows;
        let rows = if kept.is_empty() { rows } else { kept.start.min(rows.start)..kept.end.max(rows.end) };
        let row_bytes = 4 * width as usize;
        let texels = rgba.get(rows.start as usize * row_bytes..rows.end as usize * row_bytes);
        if let Some(texels) = texels.filter(|_| rows.end <= height) {
            self.changed_texels.clear();
            self.changed_texels.extend_from_slice(texels);
            self.changed_rows = rows;
        }
    }

    /// Notes that a frame was submitted, which copies the changed rows.
    pub fn submitted(&mut self) {
        self.changed_rows = 0..0;
    }

    /// Drops the pipeline, whose shaders may have changed. The next frame builds it again.
    ///
    /// # Safety
    /// All frames have finished.
    pub unsafe fn drop_pipeline(&mut self) {
        self.pipeline = None;
    }

    /// Copies an overlay and the changed rows of the atlas to the buffers of a slot, and builds the pipeline for images of
    /// `format` if there is none.
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
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, SlotBuffers::default);
        }
        let Some(SlotBuffers { vertices, indices, rows }) = self.slots.get_mut(slot) else { return Ok(()) };
        // SAFETY: the caller promises that the slot's last frame has finished.
        unsafe {
            fill(&self.device, vertices, ("overlay vertices", vk::BufferUsageFlags::VERTEX_BUFFER), &overlay.vertices)?;
            fill(&self.device, indices, ("overlay indices", vk::BufferUsageFlags::INDEX_BUFFER), &overlay.indices)?;
            if !self.changed_rows.is_empty() {
                let usage = vk::BufferUsageFlags::TRANSFER_SRC;
                fill(&self.device, rows, ("overlay atlas rows", usage), &self.changed_texels)?;
            }
        }
        Ok(())
    }

    /// Copies the changed rows of the atlas that [`Self::prepare`] has written for this slot, outside of a rendering.
    pub fn record_atlas(&self, recorder: Recorder, slot: usize) {
        let (Some(SlotBuffers { rows: Some(buffer), .. }), rows) = (self.slots.get(slot), &self.changed_rows) else {
            return;
        };
        if rows.is_empty() {
            return;
        }
        let [width, height] = self.atlas_size();
        // Fragment shaders of earlier frames have read the atlas (WAR). Before all rows are written, it has no contents.
        let last_use = Access::SAMPLED_READ.finished();
        let is_whole = *rows == (0..height);
        let from = if is_whole { discarded(last_use) } else { (last_use, SAMPLED.1) };
        recorder.image_barriers([ImageBarrier::new(&self.atlas, from, TRANSFER_TARGET)]);
        let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
        let region = vk::BufferImageCopy::default()
            .image_subresource(layers)
            .image_offset(vk::Offset3D { x: 0, y: rows.start as i32, z: 0 })
            .image_extent(vk::Extent3D { width, height: rows.end - rows.start, depth: 1 });
        recorder.copy_buffer_to_image(buffer, &self.atlas, region);
        // Fragment shaders sample the copy (RAW).
        recorder.image_barriers([ImageBarrier::new(&self.atlas, TRANSFER_TARGET, SAMPLED)]);
    }

    /// Draws the overlay that [`Self::prepare`] has copied for this slot, inside a rendering.
    pub fn record(&self, recorder: Recorder, extent: vk::Extent2D, slot: usize, overlay: &Overlay) {
        let Some((pipeline, _)) = &self.pipeline else { return };
        let Some(SlotBuffers { vertices: Some(vertices), indices: Some(indices), .. }) = self.slots.get(slot) else {
            return;
        };
        recorder.bind_pipeline(pipeline);
        recorder.bind_set(&self.layout, 0, &self.set);
        recorder.set_culling(vk::CullModeFlags::NONE, vk::FrontFace::COUNTER_CLOCKWISE);
        let clip_from_pixels = [2.0 / extent.width as f32, 2.0 / extent.height as f32];
        recorder.push_constants(&self.layout, &OverlayConstants { clip_from_pixels });
        recorder.bind_vertex_buffer(0, vertices, 0);
        recorder.bind_index_buffer(indices, vk::IndexType::UINT32);
        let mut first_index = 0;
        for draw in &overlay.draws {
            recorder.set_scissor(draw.clip);
            recorder.draw_indexed((first_index, draw.index_count), (0, 1));
            first_index += draw.index_count;
        }
    }

    fn build(&self, builder: &PipelineBuilder, format: vk::Format) -> Result<Pipeline> {
        builder.graphics(&GraphicsPipelineInfo {
            fragment: Some(&spirv::OVERLAY_FRAG),
            constants: &SpecializationConstants {
                encodes_srgb: (!encodes_srgb(format)).into(),
                ..SpecializationConstants::default()
            }
            .words(),
            vertex_input: VERTICES,
            color_format: Some(format),
            blend: Some(Blend::Premultiplied),
            ..GraphicsPipelineInfo::new("overlay", &self.layout, &spirv::OVERLAY_VERT)
        })
    }
}

/// Writes an array to a buffer that grows with it.
///
/// # Safety
/// The GPU does not use the buffer.
unsafe fn fill<T: Pod>(
    device: &Arc<Device>,
    buffer: &mut Option<Buffer>,
    (name, usage): (&str, vk::BufferUsageFlags),
    data: &[T],
) -> Result<()> {
    let size_bytes = size_of_val(data) as u64;
    if buffer.as_ref().is_none_or(|buffer| buffer.size_bytes() < size_bytes) {
        *buffer = None;
        // Room to grow, so that few frames replace a buffer.
        *buffer = Some(Buffer::new(device, name, 2 * size_bytes, usage, BufferMemory::Upload)?);
    }
    if let Some(buffer) = buffer {
        // SAFETY: the caller makes the promise.
        unsafe { buffer.mapped_for_writing(data.len()) }.write_copy_of_slice(data);
    }
    Ok(())
}
