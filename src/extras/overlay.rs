//! The overlay (`overlay.vert`, `overlay.frag`): a program's triangles over the tone-mapped picture.
//!
//! In: [`Triangles`], whose meaning nobody here knows, and their atlas of letters. Out: the output's image, in the rendering
//! that tone mapping has begun. Everything is built when the program sets an atlas. `render` and `bench` never do.

use std::mem::offset_of;
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
use crate::vulkan::commands::submit_and_wait;
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo};
use crate::vulkan::pipeline::{Blend, GraphicsPipelineInfo, Pipeline, VertexInput};
use crate::vulkan::recorder::Recorder;
use crate::vulkan::spirv;

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub struct OverlayVertex {
    /// The position in pixels from the top left.
    pub position_pixels: [f32; 2],
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
    pub index_count: u32,
}

impl Triangles {
    pub fn clear(&mut self) {
        self.vertices.clear();
        self.indices.clear();
        self.draws.clear();
    }
}

#[derive(Default)]
pub struct Overlay {
    pub triangles: Triangles,
    /// `None` before the program sets an atlas.
    drawing: Option<Drawing>,
}

struct Drawing {
    /// The pipeline, and the format of the images that it draws to. `None` before the first frame.
    pipeline: Option<(Pipeline, vk::Format)>,
    /// The atlas, as the triangles sample it.
    input: SampledImage,
    _atlas: Image,
    /// The vertices and the indices of each slot, in buffers that grow with the overlay.
    slots: Vec<[Option<Buffer>; 2]>,
    slot: usize,
}

impl Overlay {
    /// Sets the image that the texture coordinates refer to: RGBA, rows from the top, sRGB-encoded, multiplied by alpha. It waits
    /// for all frames, so a program sets it only when letters have changed. An image with too few texels changes nothing.
    pub fn set_atlas(&mut self, renderer: &mut Renderer, size: [u32; 2], rgba: &[u8]) -> error::Result<()> {
        let texels = size.iter().try_fold(4, |bytes: usize, &side| bytes.checked_mul(side as usize));
        let Some(texels) = texels.and_then(|bytes| rgba.get(..bytes)) else { return Ok(()) };
        let device = renderer.device();
        let atlas = upload(device, size, texels)?;
        if let Some(drawing) = &mut self.drawing {
            // Frames in flight use the old atlas.
            renderer.wait()?;
            // SAFETY: all frames have finished.
            unsafe { drawing.input.replace(&atlas) };
            drawing._atlas = atlas;
        } else {
            let push_constants = (vk::ShaderStageFlags::VERTEX, size_of::<OverlayConstants>());
            // Letters lie on whole pixels, so no filter is needed.
            let input = SampledImage::new(device, "overlay", &atlas, push_constants)?;
            self.drawing = Some(Drawing { pipeline: None, input, _atlas: atlas, slots: Vec::new(), slot: 0 });
        }
        Ok(())
    }

    /// Copies the triangles to the buffers of a slot, and builds the pipeline for the format of the image if there is none.
    pub fn fit(&mut self, renderer: &mut Renderer, slot: usize) -> error::Result<()> {
        let (Some(drawing), Some((_, format))) = (&mut self.drawing, renderer.image()) else { return Ok(()) };
        if self.triangles.indices.is_empty() {
            return Ok(());
        }
        if drawing.pipeline.as_ref().is_none_or(|(_, built_for)| *built_for != format) {
            // Frames in flight use the old pipeline.
            renderer.wait()?;
            let pipeline = renderer.building().builder.graphics(&GraphicsPipelineInfo {
                fragment: Some(&spirv::OVERLAY_FRAG),
                constants: &output_constants(format).words(),
                vertex_input: VERTICES,
                color_format: Some(format),
                blend: Some(Blend::Premultiplied),
                ..GraphicsPipelineInfo::new("overlay", &drawing.input.layout, &spirv::OVERLAY_VERT)
            })?;
            drawing.pipeline = Some((pipeline, format));
        }
        drawing.slot = slot;
        drawing.slots.resize_with(renderer.slot_count(), Default::default);
        let (device, [vertices, indices]) = (renderer.device(), &mut drawing.slots[slot]);
        let Triangles { vertices: all_vertices, indices: all_indices, .. } = &self.triangles;
        // SAFETY: the slot's last frame has finished.
        unsafe {
            fill(device, vertices, ("overlay vertices", vk::BufferUsageFlags::VERTEX_BUFFER), all_vertices)?;
            fill(device, indices, ("overlay indices", vk::BufferUsageFlags::INDEX_BUFFER), all_indices)?;
        }
        Ok(())
    }

    /// Drops the pipeline, whose shaders may have changed, after all frames have finished. The next frame builds it again.
    pub fn drop_pipeline(&mut self) {
        if let Some(drawing) = &mut self.drawing {
            drawing.pipeline = None;
        }
    }

    /// Draws the triangles, inside a rendering.
    pub fn record(&self, input: &PassInput) {
        let Some(drawing) = self.drawing.as_ref().filter(|_| !self.triangles.indices.is_empty()) else { return };
        let PassInput { recorder, extent, .. } = *input;
        let Some((pipeline, _)) = &drawing.pipeline else { return };
        let Some([Some(vertices), Some(indices)]) = drawing.slots.get(drawing.slot) else { return };
        drawing.input.bind(recorder, pipeline);
        let clip_from_pixels = [2.0 / extent.width as f32, 2.0 / extent.height as f32];
        recorder.push_constants(&drawing.input.layout, &OverlayConstants { clip_from_pixels });
        recorder.bind_vertex_buffer(0, vertices);
        recorder.bind_index_buffer(indices, vk::IndexType::UINT32);
        let mut first_index = 0;
        for draw in &self.triangles.draws {
            recorder.set_scissor(draw.clip);
            recorder.draw_indexed((first_index, draw.index_count), 0, (0, 1));
            first_index += draw.index_count;
        }
    }
}

fn upload(device: &Arc<Device>, [width, height]: [u32; 2], rgba: &[u8]) -> Result<Image> {
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let info = ImageInfo::color(vk::Format::R8G8B8A8_UNORM, vk::Extent2D { width, height }, usage);
    let atlas = Image::new(device, "overlay atlas", info)?;
    let texels = Buffer::filled(device, "overlay atlas (staging)", vk::BufferUsageFlags::TRANSFER_SRC, rgba)?;
    let copy = |recorder: Recorder| {
        // The memory may be that of an earlier atlas, which fragment shaders have sampled (WAR).
        let last_use = discarded(Access::SAMPLED_READ.finished());
        recorder.image_barriers([ImageBarrier::new(&atlas, last_use, TRANSFER_TARGET)]);
        recorder.copy_buffer_to_image(&texels, &atlas, atlas.first_level());
        // Fragment shaders sample the copy (RAW).
        recorder.image_barriers([ImageBarrier::new(&atlas, TRANSFER_TARGET, SAMPLED)]);
        Ok(())
    };
    // SAFETY: the image and the buffer outlive the call.
    unsafe { submit_and_wait(device, "overlay atlas", copy) }?;
    Ok(atlas)
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
