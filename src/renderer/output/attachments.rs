//! The attachments of the scene: linear HDR colour and reversed-Z depth, with one or more samples per pixel.
//!
//! All frames in flight share them. Frames follow each other on one queue, and barriers order them.

use std::sync::Arc;

use ash::vk;

use crate::vulkan::Result;
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo};
use crate::vulkan::recorder::Recorder;

/// Linear colour above 1. Every driver supports blending and multisampling in this format.
pub const HDR_FORMAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// The size of a sample of [`HDR_FORMAT`] in bytes.
pub const HDR_BYTES: u64 = 8;
/// Floating-point depth: with reversed Z its precision is spread evenly over distance.
pub const DEPTH_FORMAT: vk::Format = vk::Format::D32_SFLOAT;
/// The size of a sample of [`DEPTH_FORMAT`] in bytes.
pub const DEPTH_BYTES: u64 = 4;

/// The scene's images.
pub struct Attachments {
    /// Single-sampled colour, which tone mapping reads.
    pub hdr: Image,
    /// Multisampled colour, resolved into `hdr`; `None` with one sample.
    pub multisampled: Option<Image>,
    /// Depth, with as many samples as colour.
    pub depth: Image,
    /// The size of all images.
    pub extent: vk::Extent2D,
}

impl Attachments {
    /// Creates the images.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>, extent: vk::Extent2D, samples: vk::SampleCountFlags) -> Result<Self> {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
        let color = ImageInfo::color(HDR_FORMAT, extent, usage);
        let transient = vk::ImageUsageFlags::TRANSIENT_ATTACHMENT;
        let multisampled = (samples != vk::SampleCountFlags::TYPE_1)
            .then(|| {
                let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | transient;
                Image::new(device, "multisampled colour", ImageInfo { samples, usage, ..color })
            })
            .transpose()?;
        let depth = ImageInfo {
            format: DEPTH_FORMAT,
            samples,
            usage: vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | transient,
            aspect: vk::ImageAspectFlags::DEPTH,
            ..color
        };
        Ok(Self {
            hdr: Image::new(device, "HDR colour", color)?,
            multisampled,
            depth: Image::new(device, "depth", depth)?,
            extent,
        })
    }

    /// Records the scene: `record` draws into cleared depth, and multisampled colour is resolved at the end. Without a
    /// `clear_color`, `record` covers every pixel.
    pub fn rendering(&self, recorder: Recorder, clear_color: Option<[f32; 4]>, record: impl FnOnce()) {
        let load_op = if clear_color.is_some() { vk::AttachmentLoadOp::CLEAR } else { vk::AttachmentLoadOp::DONT_CARE };
        let clear_color = vk::ClearValue { color: vk::ClearColorValue { float32: clear_color.unwrap_or_default() } };
        let far = vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 0.0, stencil: 0 } };
        let color = vk::RenderingAttachmentInfo::default()
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(load_op)
            .clear_value(clear_color);
        let color = match &self.multisampled {
            None => color.image_view(self.hdr.view).store_op(vk::AttachmentStoreOp::STORE),
            Some(multisampled) => color
                .image_view(multisampled.view)
                .store_op(vk::AttachmentStoreOp::DONT_CARE)
                .resolve_mode(vk::ResolveModeFlags::AVERAGE)
                .resolve_image_view(self.hdr.view)
                .resolve_image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL),
        };
        let depth = vk::RenderingAttachmentInfo::default()
            .image_view(self.depth.view)
            .image_layout(vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::DONT_CARE)
            .clear_value(far);
        let colors = [color];
        let info = vk::RenderingInfo::default()
            .render_area(vk::Rect2D { offset: vk::Offset2D::default(), extent: self.extent })
            .layer_count(1)
            .color_attachments(&colors)
            .depth_attachment(&depth);
        recorder.rendering(&info, true, record);
    }
}
