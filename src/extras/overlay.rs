//! The overlay (`overlay.vert`, `overlay.frag`): a program's triangles over the tone-mapped picture.
//!
//! In: [`Triangles`], whose meaning nobody here knows, and their atlas, the image with the shapes of letters. Out: the output's
//! image, in the rendering that tone mapping has begun. Everything is built when the program sets an atlas. `render` and `bench`
//! never do.

use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use bytemuck::{Pod, Zeroable};

use crate::renderer::Renderer;
use crate::renderer::error;
use crate::renderer::passes::PassInput;
use crate::renderer::passes::tone_map_pass::{SampledImage, output_constants};
use crate::renderer::passes::vertex_input::attribute;
use crate::vulkan::Result;
use crate::vulkan::barrier::{Access, ImageBarrier, SAMPLED, TRANSFER_TARGET, discarded};
use crate::vulkan::buffer::Buffer;
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo};
use crate::vulkan::pipeline::{Blend, GraphicsPipelineInfo, Pipeline, PipelineBuilder, VertexInput};
use crate::vulkan::spirv;

/// One vertex of the overlay.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct OverlayVertex {
    /// The position in pixels from the top left.
    pub position_pixels: [f32; 2],
    /// The texture coordinates in the atlas.
    pub tex_coords: [f32; 2],
    /// sRGB-encoded RGBA multiplied by alpha, four unsigned normalised bytes, red lowest.
    pub color_unorm8: u32,
}

/// Push constants of `overlay.vert`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct OverlayConstants {
    /// 2 / size of the image in pixels.
    pub clip_from_pixels: [f32; 2],
}

/// The usual size of an overlay in bytes: an atlas of letters of 2048 x 256 texels, its copy, and triangles.
pub const BYTES: u64 = 8 << 20;

/// The vertex input.
pub const VERTICES: VertexInput<'_> = VertexInput {
    bindings: &[vk::VertexInputBindingDescription {
        binding: 0,
        stride: size_of::<OverlayVertex>() as u32,
        input_rate: vk::VertexInputRate::VERTEX,
    }],
    attributes: &[
        attribute(0, 0, vk::Format::R32G32_SFLOAT, offset_of!(OverlayVertex, position_pixels)),
        attribute(0, 1, vk::Format::R32G32_SFLOAT, offset_of!(OverlayVertex, tex_coords)),
        attribute(0, 2, vk::Format::R8G8B8A8_UNORM, offset_of!(OverlayVertex, color_unorm8)),
    ],
};

/// Triangles over the picture. They are drawn in order, and may be kept for several frames.
#[derive(Debug, Default)]
pub struct Triangles {
    /// The vertices of all triangles.
    pub vertices: Vec<OverlayVertex>,
    /// Three indices of vertices for each triangle.
    pub indices: Vec<u32>,
    /// Which part of the image each range of triangles may cover.
    pub draws: Vec<OverlayDraw>,
}

/// The next triangles.
#[derive(Debug, Clone, Copy)]
pub struct OverlayDraw {
    /// The part of the image that they may cover, in pixels.
    pub clip: vk::Rect2D,
    /// The number of their indices.
    pub index_count: u32,
}

impl Triangles {
    /// Removes all triangles.
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.indices.clear();
        self.draws.clear();
    }

    /// Returns whether there is nothing to draw.
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

/// The overlay, if there is one.
#[derive(Default)]
pub struct Overlay {
    /// What the next frames draw.
    pub triangles: Triangles,
    /// `None` before the program sets an atlas.
    drawing: Option<Drawing>,
}

/// The pipeline, the atlas and the buffers of each slot.
struct Drawing {
    /// The pipeline, and the format of the images that it draws to. `None` before the first frame.
    pipeline: Option<(Pipeline, vk::Format)>,
    /// The atlas, as the triangles sample it.
    input: SampledImage,
    slots: Vec<SlotBuffers>,
    /// The slot of the frame.
    slot: usize,
    atlas: Image,
    /// The rows of the atlas that the next frame copies, and their texels.
    changed_rows: Range<u32>,
    changed_texels: Vec<u8>,
    device: Arc<Device>,
}

impl Overlay {
    /// Sets the image that the texture coordinates refer to: RGBA, rows from the top, sRGB-encoded, multiplied by alpha. Only
    /// `changed_rows` differ from the last call with this size. The next frame copies them.
    pub fn set_atlas(
        &mut self,
        renderer: &mut Renderer,
        size: [u32; 2],
        rgba: &[u8],
        changed_rows: Range<u32>,
    ) -> error::Result<()> {
        match &mut self.drawing {
            Some(drawing) if drawing.atlas_size() == size => drawing.change_atlas(rgba, changed_rows),
            _ => {
                // Frames in flight use the old atlas.
                renderer.wait()?;
                let drawing = self.drawing.insert(Drawing::new(renderer.device(), size)?);
                drawing.change_atlas(rgba, 0..size[1]);
            }
        }
        Ok(())
    }

    /// Copies the triangles and the changed rows of the atlas to the buffers of a slot, and builds the pipeline for the format of
    /// the image if there is none.
    pub fn fit(&mut self, renderer: &mut Renderer, slot: usize) -> error::Result<()> {
        let (Some(drawing), Some((_, format))) = (&mut self.drawing, renderer.image()) else { return Ok(()) };
        if self.triangles.is_empty() {
            return Ok(());
        }
        if drawing.pipeline.as_ref().is_none_or(|(_, built_for)| *built_for != format) {
            // Frames in flight use the old pipeline.
            renderer.wait()?;
            drawing.pipeline = Some((drawing.build(renderer.building().builder, format)?, format));
        }
        drawing.slot = slot;
        // SAFETY: the slot's last frame has finished.
        Ok(unsafe { drawing.fill_slot(&self.triangles) }?)
    }

    /// Notes that a frame was submitted, which copies the changed rows.
    pub fn submitted(&mut self) {
        if let Some(drawing) = self.drawing.as_mut().filter(|_| !self.triangles.is_empty()) {
            drawing.changed_rows = 0..0;
        }
    }

    /// Drops the pipeline, whose shaders may have changed, after all frames have finished. The next frame builds it again.
    pub fn drop_pipeline(&mut self) {
        if let Some(drawing) = &mut self.drawing {
            drawing.pipeline = None;
        }
    }

    /// Copies the changed rows of the atlas, outside of a rendering.
    pub fn record_atlas(&self, input: &PassInput) {
        let Some(drawing) = self.shown() else { return };
        let (recorder, rows) = (input.recorder, &drawing.changed_rows);
        let Some(SlotBuffers { rows: Some(buffer), .. }) = drawing.slots.get(drawing.slot) else {
            return;
        };
        if rows.is_empty() {
            return;
        }
        let [width, height] = drawing.atlas_size();
        // Fragment shaders of earlier frames have read the atlas (WAR). Before all rows are written, it has no contents.
        let last_use = Access::SAMPLED_READ.finished();
        let is_whole = *rows == (0..height);
        let from = if is_whole { discarded(last_use) } else { (last_use, SAMPLED.1) };
        recorder.image_barriers([ImageBarrier::new(&drawing.atlas, from, TRANSFER_TARGET)]);
        let region = drawing
            .atlas
            .first_level()
            .image_offset(vk::Offset3D { x: 0, y: rows.start as i32, z: 0 })
            .image_extent(vk::Extent3D { width, height: rows.end - rows.start, depth: 1 });
        recorder.copy_buffer_to_image(buffer, &drawing.atlas, region);
        // Fragment shaders sample the copy (RAW).
        recorder.image_barriers([ImageBarrier::new(&drawing.atlas, TRANSFER_TARGET, SAMPLED)]);
    }

    /// Draws the triangles, inside a rendering.
    pub fn record(&self, input: &PassInput) {
        let Some(drawing) = self.shown() else { return };
        let PassInput { recorder, extent, .. } = *input;
        let Some((pipeline, _)) = &drawing.pipeline else { return };
        let Some(SlotBuffers { vertices: Some(vertices), indices: Some(indices), .. }) =
            drawing.slots.get(drawing.slot)
        else {
            return;
        };
        drawing.input.bind(recorder, pipeline);
        let clip_from_pixels = [2.0 / extent.width as f32, 2.0 / extent.height as f32];
        recorder.push_constants(&drawing.input.layout, &OverlayConstants { clip_from_pixels });
        recorder.bind_vertex_buffer(0, vertices, 0);
        recorder.bind_index_buffer(indices, vk::IndexType::UINT32);
        let mut first_index = 0;
        for draw in &self.triangles.draws {
            recorder.set_scissor(draw.clip);
            recorder.draw_indexed((first_index, draw.index_count), (0, 1));
            first_index += draw.index_count;
        }
    }

    /// Returns what draws this frame's triangles.
    fn shown(&self) -> Option<&Drawing> {
        self.drawing.as_ref().filter(|_| !self.triangles.is_empty())
    }
}

impl Drawing {
    /// Creates an atlas without contents.
    fn new(device: &Arc<Device>, [width, height]: [u32; 2]) -> Result<Self> {
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let info = ImageInfo::color(vk::Format::R8G8B8A8_UNORM, vk::Extent2D { width, height }, usage);
        let atlas = Image::new(device, "overlay atlas", info)?;
        let push_constants = (vk::ShaderStageFlags::VERTEX, size_of::<OverlayConstants>());
        // Letters lie on whole pixels, so no filter is needed.
        let input = SampledImage::new(device, "overlay", &atlas, push_constants)?;
        Ok(Self {
            pipeline: None,
            input,
            slots: Vec::new(),
            slot: 0,
            atlas,
            changed_rows: 0..0,
            changed_texels: Vec::new(),
            device: Arc::clone(device),
        })
    }

    fn atlas_size(&self) -> [u32; 2] {
        let vk::Extent2D { width, height } = self.atlas.info().extent;
        [width, height]
    }

    /// Keeps rows of the whole atlas `rgba` for the next frame, with those that were kept before. The first call has all rows.
    fn change_atlas(&mut self, rgba: &[u8], rows: Range<u32>) {
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

    /// Writes the triangles and the changed rows of the atlas to the buffers of the slot.
    ///
    /// # Safety
    /// The slot's last frame has finished.
    unsafe fn fill_slot(&mut self, triangles: &Triangles) -> Result<()> {
        let slot = self.slot;
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, SlotBuffers::default);
        }
        let Some(SlotBuffers { vertices, indices, rows }) = self.slots.get_mut(slot) else { return Ok(()) };
        // SAFETY: the caller promises that the slot's last frame has finished.
        unsafe {
            fill(
                &self.device,
                vertices,
                ("overlay vertices", vk::BufferUsageFlags::VERTEX_BUFFER),
                &triangles.vertices,
            )?;
            fill(&self.device, indices, ("overlay indices", vk::BufferUsageFlags::INDEX_BUFFER), &triangles.indices)?;
            if !self.changed_rows.is_empty() {
                let usage = vk::BufferUsageFlags::TRANSFER_SRC;
                fill(&self.device, rows, ("overlay atlas rows", usage), &self.changed_texels)?;
            }
        }
        Ok(())
    }

    fn build(&self, builder: &PipelineBuilder, format: vk::Format) -> Result<Pipeline> {
        builder.graphics(&GraphicsPipelineInfo {
            fragment: Some(&spirv::OVERLAY_FRAG),
            constants: &output_constants(format).words(),
            vertex_input: VERTICES,
            color_format: Some(format),
            blend: Some(Blend::Premultiplied),
            ..GraphicsPipelineInfo::new("overlay", &self.input.layout, &spirv::OVERLAY_VERT)
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
    names: (&str, vk::BufferUsageFlags),
    data: &[T],
) -> Result<()> {
    let size_bytes = size_of_val(data) as u64;
    // Room to grow, so that few frames replace a buffer.
    Buffer::make_room(buffer, device, names, (size_bytes, 2 * size_bytes))?;
    if let Some(buffer) = buffer {
        // SAFETY: the caller makes the promise.
        unsafe { buffer.mapped_for_writing(data.len()) }.write_copy_of_slice(data);
    }
    Ok(())
}
