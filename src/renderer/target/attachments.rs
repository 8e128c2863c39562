//! What the scene is drawn into: a linear HDR colour target and a reversed-Z depth buffer, multisampled or not.
//!
//! One set for all frames in flight: frames follow each other on the one queue, and barriers order them.

use std::sync::Arc;

use ash::vk;

use crate::vulkan::Result;
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo};

/// Linear colour with headroom; blending and multisampling are required of every driver.
pub const HDR_FORMAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Bytes of a sample of it.
pub const HDR_BYTES: u64 = 8;
/// Reversed Z wants floating point: its precision is where the distance is.
pub const DEPTH_FORMAT: vk::Format = vk::Format::D32_SFLOAT;
/// Bytes of a sample of it.
pub const DEPTH_BYTES: u64 = 4;

/// The scene's images.
pub struct Attachments {
    /// Single-sampled colour: what tone mapping reads.
    pub hdr: Image,
    /// Multisampled colour, resolved into `hdr`; `None` with one sample.
    pub multisampled: Option<Image>,
    /// Depth, as many samples as colour.
    pub depth: Image,
    /// Of all of them.
    pub extent: vk::Extent2D,
}

impl Attachments {
    /// Creates the images.
    ///
    /// # Errors
    /// No memory.
    pub fn new(device: &Arc<Device>, extent: vk::Extent2D, samples: vk::SampleCountFlags) -> Result<Self> {
        let color = ImageInfo {
            format: HDR_FORMAT,
            extent,
            mip_levels: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            usage: vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED,
            aspect: vk::ImageAspectFlags::COLOR,
        };
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

    /// Begins drawing the scene: colour and depth cleared, multisampled colour resolved at the end.
    pub fn cmd_begin(&self, device: &Device, commands: vk::CommandBuffer) {
        let clear_color = vk::ClearValue { color: vk::ClearColorValue { float32: [0.0; 4] } };
        let far = vk::ClearValue { depth_stencil: vk::ClearDepthStencilValue { depth: 0.0, stencil: 0 } };
        let color = vk::RenderingAttachmentInfo::default()
            .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
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
        // SAFETY: `commands` is being recorded; the images are alive and in the layouts named (the frame's barriers).
        unsafe { device.raw.cmd_begin_rendering(commands, &info) };
        cmd_set_viewport(device, commands, self.extent, true);
    }

    /// Ends drawing the scene.
    pub fn cmd_end(&self, device: &Device, commands: vk::CommandBuffer) {
        // SAFETY: ends the rendering that `cmd_begin` began.
        unsafe { device.raw.cmd_end_rendering(commands) };
    }
}

/// Sets viewport and scissor to the whole extent. `y_up` turns Vulkan's viewport over, so that clip space has +Y up as
/// cameras and glTF's winding expect.
pub fn cmd_set_viewport(device: &Device, commands: vk::CommandBuffer, extent: vk::Extent2D, y_up: bool) {
    let (width, height) = (extent.width as f32, extent.height as f32);
    let viewport = vk::Viewport {
        x: 0.0,
        y: if y_up { height } else { 0.0 },
        width,
        height: if y_up { -height } else { height },
        min_depth: 0.0,
        max_depth: 1.0,
    };
    let scissor = vk::Rect2D { offset: vk::Offset2D::default(), extent };
    // SAFETY: `commands` is being recorded.
    unsafe {
        device.raw.cmd_set_viewport(commands, 0, &[viewport]);
        device.raw.cmd_set_scissor(commands, 0, &[scissor]);
    }
}
