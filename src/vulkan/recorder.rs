//! Recording commands.
//!
//! The compiler cannot check that the objects of a command outlive its execution. So one promise covers all functions of
//! [`Recorder`]. The caller of [`CommandPool::begin`](super::commands::CommandPool::begin), an `unsafe fn`, promises that
//! every recorded object lives until the GPU has executed the commands, and that Vulkan allows their order. Validation
//! checks the order in every test.

use std::ffi::CStr;
use std::ops::Range;

use ash::vk;
use bytemuck::Pod;

use super::barrier::{Access, ImageBarrier};
use super::buffer::Buffer;
use super::descriptors::DescriptorSet;
use super::device::Device;
use super::image::Image;
use super::pipeline::{Pipeline, PipelineLayout};

#[derive(Clone, Copy, Default)]
pub struct Rendering<'a> {
    /// The image that colours are drawn to. `None`: depth only.
    pub color: Option<&'a Image>,
    /// The image with one sample that `color` is resolved into. Only the resolved colours are kept.
    pub resolved: Option<&'a Image>,
    /// The colour before the first draw. `None`: all pixels are drawn over.
    pub clear_color: Option<[f32; 4]>,
    /// The depth, 0 before the first draw: with reversed Z, the far plane.
    pub depth: Option<&'a Image>,
    pub keeps_depth: bool,
    /// Whether +Y in clip space is up, as cameras and glTF's winding order expect.
    pub y_up: bool,
    /// The part of the images that is cleared and drawn to. `None`: all of them.
    pub part: Option<vk::Rect2D>,
}

/// A command buffer in the recording state. See the module for the promise behind its functions.
#[derive(Clone, Copy)]
pub struct Recorder<'a> {
    device: &'a Device,
    commands: vk::CommandBuffer,
}

impl<'a> Recorder<'a> {
    /// Returns a recorder for a command buffer.
    ///
    /// # Safety
    /// `commands` belongs to `device` and is in the recording state for as long as the recorder is used. Every recorded
    /// object lives until the GPU has executed the commands.
    pub(super) unsafe fn new(device: &'a Device, commands: vk::CommandBuffer) -> Self {
        Self { device, commands }
    }

    /// Returns the command buffer, for commands that this type does not offer.
    pub fn raw(&self) -> vk::CommandBuffer {
        self.commands
    }

    /// Runs `record` inside a region that captures and validation messages name `label`.
    pub fn labelled(&self, label: &CStr, record: impl FnOnce()) {
        let Some(debug_utils) = &self.device.debug_utils else { return record() };
        let info = vk::DebugUtilsLabelEXT::default().label_name(label);
        // SAFETY: the promise of `new`.
        unsafe { debug_utils.cmd_begin_debug_utils_label(self.commands, &info) };
        record();
        // SAFETY: the promise of `new`. The region was begun above.
        unsafe { debug_utils.cmd_end_debug_utils_label(self.commands) };
    }

    /// Orders all memory: `from` happens before `to`, and its writes are visible there.
    pub fn memory_barrier(&self, from: Access, to: Access) {
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(from.stages)
            .src_access_mask(from.access)
            .dst_stage_mask(to.stages)
            .dst_access_mask(to.access)];
        let info = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_pipeline_barrier2(self.commands, &info) };
    }

    /// Changes images from one use to another, in one command.
    pub fn image_barriers<const N: usize>(&self, barriers: [ImageBarrier; N]) {
        let barriers = barriers.map(|barrier| barrier.info());
        let info = vk::DependencyInfo::default().image_memory_barriers(&barriers);
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_pipeline_barrier2(self.commands, &info) };
    }

    pub fn copy_buffer(&self, from: &Buffer, to: &Buffer, region: vk::BufferCopy) {
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_copy_buffer(self.commands, from.handle.raw, to.handle.raw, &[region]) };
    }

    pub fn fill_buffer(&self, buffer: &Buffer, word: u32) {
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_fill_buffer(self.commands, buffer.handle.raw, 0, vk::WHOLE_SIZE, word) };
    }

    /// Copies texels from a buffer to an image in the layout `TRANSFER_DST_OPTIMAL`.
    pub fn copy_buffer_to_image(&self, from: &Buffer, to: &Image, region: vk::BufferImageCopy) {
        let layout = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_copy_buffer_to_image(self.commands, from.handle.raw, to.raw, layout, &[region]) };
    }

    /// Copies texels from an image in the layout `TRANSFER_SRC_OPTIMAL` to a buffer.
    pub fn copy_image_to_buffer(&self, from: &Image, to: &Buffer, region: vk::BufferImageCopy) {
        let layout = vk::ImageLayout::TRANSFER_SRC_OPTIMAL;
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_copy_image_to_buffer(self.commands, from.raw, layout, to.handle.raw, &[region]) };
    }

    /// Copies between levels of one image with linear filtering. The source is in the layout `TRANSFER_SRC_OPTIMAL`, the
    /// destination in `TRANSFER_DST_OPTIMAL`.
    pub fn blit_level(&self, image: &Image, blit: vk::ImageBlit) {
        // SAFETY: the promise of `new`.
        unsafe {
            self.device.raw.cmd_blit_image(
                self.commands,
                image.raw,
                vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                image.raw,
                vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                &[blit],
                vk::Filter::LINEAR,
            );
        }
    }

    /// Runs `record` inside a rendering (`vkCmdBeginRendering`) to these images, with a viewport of their size, and a
    /// scissor of the part that is drawn.
    pub fn rendering(&self, rendering: Rendering, record: impl FnOnce()) {
        let Rendering { color, resolved, clear_color, depth, keeps_depth, y_up, part } = rendering;
        let (discard, store) = (vk::AttachmentStoreOp::DONT_CARE, vk::AttachmentStoreOp::STORE);
        let color_info = color.map(|image| {
            let info = vk::RenderingAttachmentInfo::default()
                .image_view(image.view.raw)
                .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
                .load_op(clear_color.map_or(vk::AttachmentLoadOp::DONT_CARE, |_| vk::AttachmentLoadOp::CLEAR))
                .store_op(if resolved.is_some() { discard } else { store })
                .clear_value(vk::ClearValue {
                    color: vk::ClearColorValue { float32: clear_color.unwrap_or_default() },
                });
            let Some(resolved) = resolved else { return info };
            info.resolve_mode(vk::ResolveModeFlags::AVERAGE)
                .resolve_image_view(resolved.view.raw)
                .resolve_image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
        });
        let depth_info = depth.map(|image| {
            vk::RenderingAttachmentInfo::default()
                .image_view(image.view.raw)
                .image_layout(vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL)
                .load_op(vk::AttachmentLoadOp::CLEAR)
                .store_op(if keeps_depth { store } else { discard })
                .clear_value(vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 0.0, stencil: 0 } })
        });
        let extent = color.or(depth).map_or_else(vk::Extent2D::default, |image| image.info().extent);
        let mut info = vk::RenderingInfo::default()
            .render_area(part.unwrap_or(extent.into()))
            .layer_count(1)
            .color_attachments(color_info.as_slice());
        if let Some(depth_info) = &depth_info {
            info = info.depth_attachment(depth_info);
        }
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_begin_rendering(self.commands, &info) };
        let (width, height) = (extent.width as f32, extent.height as f32);
        let viewport = vk::Viewport {
            x: 0.0,
            y: if y_up { height } else { 0.0 },
            width,
            height: if y_up { -height } else { height },
            min_depth: 0.0,
            max_depth: 1.0,
        };
        // SAFETY: the promise of `new`.
        unsafe {
            self.device.raw.cmd_set_viewport(self.commands, 0, &[viewport]);
            self.device.raw.cmd_set_scissor(self.commands, 0, &[info.render_area]);
        }
        record();
        // SAFETY: the promise of `new`. The rendering was begun above.
        unsafe { self.device.raw.cmd_end_rendering(self.commands) };
    }

    pub fn bind_pipeline(&self, pipeline: &Pipeline) {
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_bind_pipeline(self.commands, pipeline.bind_point, pipeline.handle.raw) };
    }

    pub fn bind_set(&self, layout: &PipelineLayout, number: u32, set: &DescriptorSet) {
        let raw = &self.device.raw;
        // SAFETY: the promise of `new`.
        unsafe {
            raw.cmd_bind_descriptor_sets(self.commands, layout.bind_point, layout.handle.raw, number, &[set.raw], &[]);
        }
    }

    /// Sets the push constants of a pipeline layout, which has some of this size.
    pub fn push_constants<T: Pod>(&self, layout: &PipelineLayout, constants: &T) {
        let (raw, bytes) = (&self.device.raw, bytemuck::bytes_of(constants));
        // SAFETY: the promise of `new`.
        unsafe { raw.cmd_push_constants(self.commands, layout.handle.raw, layout.stage, 0, bytes) };
    }

    pub fn bind_vertex_buffer(&self, binding: u32, buffer: &Buffer) {
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_bind_vertex_buffers(self.commands, binding, &[buffer.handle.raw], &[0]) };
    }

    pub fn bind_index_buffer(&self, buffer: &Buffer, index_type: vk::IndexType) {
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_bind_index_buffer(self.commands, buffer.handle.raw, 0, index_type) };
    }

    pub fn set_culling(&self, cull_mode: vk::CullModeFlags, front_face: vk::FrontFace) {
        // SAFETY: the promise of `new`.
        unsafe {
            self.device.raw.cmd_set_cull_mode(self.commands, cull_mode);
            self.device.raw.cmd_set_front_face(self.commands, front_face);
        }
    }

    pub fn set_scissor(&self, part: vk::Rect2D) {
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_set_scissor(self.commands, 0, &[part]) };
    }

    /// Dispatches work groups along two axes.
    pub fn dispatch(&self, [x, y]: [u32; 2]) {
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_dispatch(self.commands, x, y, 1) };
    }

    /// Draws a range of vertices without indices, for a range of instances, `(first, count)`.
    pub fn draw(&self, vertices: Range<u32>, instances: (u32, u32)) {
        let (raw, count) = (&self.device.raw, vertices.len() as u32);
        // SAFETY: the promise of `new`.
        unsafe { raw.cmd_draw(self.commands, count, instances.1, vertices.start, instances.0) };
    }

    /// Sets the depth of all pixels, inside a rendering.
    pub fn clear_depth(&self, extent: vk::Extent2D, depth: f32) {
        let clear = vk::ClearAttachment::default()
            .aspect_mask(vk::ImageAspectFlags::DEPTH)
            .clear_value(vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth, stencil: 0 } });
        let area = vk::Rect2D { offset: vk::Offset2D::default(), extent };
        let rect = vk::ClearRect { rect: area, base_array_layer: 0, layer_count: 1 };
        // SAFETY: the promise of `new`.
        unsafe { self.device.raw.cmd_clear_attachments(self.commands, &[clear], &[rect]) };
    }

    /// Draws a range of indices, `(first, count)`, for a range of instances.
    pub fn draw_indexed(&self, indices: (u32, u32), first_vertex: u32, instances: (u32, u32)) {
        let raw = &self.device.raw;
        // SAFETY: the promise of `new`.
        unsafe {
            raw.cmd_draw_indexed(self.commands, indices.1, instances.1, indices.0, first_vertex as i32, instances.0)
        };
    }
}
