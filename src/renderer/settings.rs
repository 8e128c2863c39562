//! The settings of a renderer, and the figures that it reports.

use ash::vk;

use super::error::{Error, Result, Setting};
use crate::view::ShadowView;
use crate::vulkan::device::Device;
use crate::vulkan::physical_device::PhysicalDevice;
use crate::vulkan::spirv::ShaderOverride;

/// The shader stage that skins vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Skinning {
    /// `skin.comp`, once per frame.
    Compute,
    /// The vertex shader, in every pass that draws.
    Vertex,
}

impl Skinning {
    /// Returns the name that options and reports use.
    pub fn name(self) -> &'static str {
        self.choose(["compute", "vertex"])
    }

    /// Returns what belongs to this stage, of what belongs to the compute shader and to the vertex shader.
    pub fn choose<T: Copy>(self, of_stages: [T; 2]) -> T {
        of_stages[self as usize]
    }
}

/// How streams (palette, morph weights, pose records, instances) reach the memory that shaders read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UploadPath {
    /// The CPU writes mapped memory that shaders read, which is device-local if such a memory type exists.
    Direct,
    /// The CPU writes a mapped staging buffer, which the GPU copies to device memory at the start of the frame.
    Staged,
}

impl UploadPath {
    /// Returns the path that `--upload auto` chooses for a device.
    pub fn best_for(device: &PhysicalDevice) -> Self {
        if device.has_large_mappable_device_memory() { Self::Direct } else { Self::Staged }
    }

    /// Returns the name that options and reports use.
    pub fn name(self) -> &'static str {
        ["direct", "staged"][self as usize]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shadows {
    Off,
    /// The shadow map is large enough for the image.
    On,
    /// The shadow map has this many texels a side.
    Map(u32),
}

impl From<bool> for Shadows {
    fn from(are_on: bool) -> Self {
        if are_on { Self::On } else { Self::Off }
    }
}

impl Shadows {
    /// Returns the side of the shadow map in texels for an image of this size in pixels, or `None` without shadows.
    pub fn map_size(self, device: &Device, image: [u32; 2]) -> Option<u32> {
        let side = match self {
            Self::Off => return None,
            Self::On => ShadowView::map_texels_for(image),
            Self::Map(side) => side,
        };
        Some(side.clamp(1, device.limits().max_image_dimension2_d))
    }
}

#[derive(Debug, Clone, Copy)]
pub struct RendererSettings<'a> {
    pub skinning: Skinning,
    /// How streams reach the GPU. `None`: the device's memory types decide.
    pub upload: Option<UploadPath>,
    /// Whether levels of few vertices are drawn as [`Copies`](super::resident::copies::Copies). `None`: by GPUs alone, because
    /// a processor has no lanes without work.
    pub copies: Option<bool>,
    /// The number of samples per pixel: 1, 2, 4 or 8.
    pub samples: u32,
    /// The number of frames that the CPU may be ahead of the GPU, 1 to 3.
    pub frames_in_flight: usize,
    pub shadows: Shadows,
    /// Whether each pass waits for the end of the pass before. Passes then do not overlap, so each can be timed alone.
    pub serialize: bool,
    /// Whether the image's alpha is coverage: 0 where nothing is drawn. Otherwise images are opaque.
    pub transparent: bool,
    /// The shaders that replace embedded ones.
    pub shaders: &'a [ShaderOverride],
    /// The size of a page of the transient vertex buffer: larger if one pose needs more, and smaller if the device allows less.
    pub page_bytes: u64,
    /// Smaller limits than the device's own, for tests.
    pub limit_caps: LimitCaps,
}

impl RendererSettings<'_> {
    /// Returns the number of frames in flight that a renderer has: 1 to 3.
    pub fn slot_count(&self) -> usize {
        self.frames_in_flight.clamp(1, 3)
    }
}

/// Limits that replace larger limits of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitCaps {
    /// Replaces `maxStorageBufferRange` for streams. Pages have [`RendererSettings::page_bytes`].
    pub storage_range_bytes: u64,
    /// Replaces `maxComputeWorkGroupCount` along each axis.
    pub work_groups: u32,
}

impl LimitCaps {
    /// No caps: the device's own limits.
    pub const NONE: Self = Self { storage_range_bytes: u64::MAX, work_groups: u32::MAX };
}

impl Default for RendererSettings<'_> {
    fn default() -> Self {
        Self {
            skinning: Skinning::Compute,
            upload: None,
            copies: None,
            samples: 4,
            frames_in_flight: 2,
            shadows: Shadows::On,
            serialize: false,
            transparent: false,
            shaders: &[],
            page_bytes: 128 << 20,
            limit_caps: LimitCaps::NONE,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameOutcome {
    /// The frame was submitted and, in a window, presented.
    Drawn,
    /// The window had no area or no free image, so nothing was submitted.
    Skipped,
}

/// The size of a frame's data and of the device memory in use, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByteCounts {
    /// The joint matrices of the last frame.
    pub palette: u64,
    /// The skinned vertices of the last frame.
    pub skinned_vertices: u64,
    pub static_data: u64,
    pub total_device: u64,
}

pub(super) fn sample_flags(device: &Device, samples: u32) -> Result<vk::SampleCountFlags> {
    let wanted = vk::SampleCountFlags::from_raw(samples);
    let supported = device.physical.sample_counts();
    if samples.is_power_of_two() && supported.contains(wanted) {
        return Ok(wanted);
    }
    let names: Vec<String> = [1, 2, 4, 8]
        .into_iter()
        .filter(|&count| supported.contains(vk::SampleCountFlags::from_raw(count)))
        .map(|count: u32| count.to_string())
        .collect();
    Err(Error::Unsupported {
        setting: Setting::Samples(samples),
        device: device.physical.name.clone(),
        supported: names.join(", "),
    })
}
