//! The attachments of the scene: linear HDR colour and reversed-Z depth, with one or more samples per pixel.
//!
//! All frames in flight share them. Frames follow each other on one queue, and barriers order them.

use std::sync::Arc;

use ash::vk;

use crate::vulkan::Result;
use crate::vulkan::device::Device;
use crate::vulkan::image::{Image, ImageInfo};
use crate::vulkan::recorder::{Recorder, Rendering};

/// Linear colour above 1. Every driver supports blending and multisampling in this format.
pub const HDR_FORMAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
pub const HDR_BYTES: u64 = 8;
/// Floating-point depth: with reversed Z its precision is spread evenly over distance.
pub const DEPTH_FORMAT: vk::Format = vk::Format::D32_SFLOAT;
pub const DEPTH_BYTES: u64 = 4;

pub fn depth_map(device: &Arc<Device>, name: &str, extent: vk::Extent2D) -> Result<Image> {
    let usage = vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    let color = ImageInfo::color(DEPTH_FORMAT, extent, usage);
    Image::new(device, name, ImageInfo { aspect: vk::ImageAspectFlags::DEPTH, ..color })
}

pub struct Attachments {
    /// Single-sampled colour, which tone mapping reads.
    pub hdr: Image,
    /// Multisampled colour, resolved into `hdr`; `None` with one sample.
    pub multisampled: Option<Image>,
    /// Depth, with as many samples as colour.
    pub depth: Image,
    pub extent: vk::Extent2D,
}

impl Attachments {
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
        let depth = Some(&self.depth);
        let rendering = match &self.multisampled {
            None => Rendering { color: Some(&self.hdr), ..Rendering::default() },
            Some(color) => Rendering { color: Some(color), resolved: Some(&self.hdr), ..Rendering::default() },
        };
        recorder.rendering(Rendering { clear_color, depth, y_up: true, ..rendering }, record);
    }
}
