//! The frame: from joint matrices in mapped memory to a picture in a window or a file.
//!
//! Reading order: [`frame`] is the whole frame on one screen; then one file per pass, each beside its shaders
//! ([`upload_pass`], [`skin_pass`], [`shadow_pass`], [`character_pass`], [`ground_pass`], [`tone_map_pass`]); [`frame_slot`] is what a
//! frame in flight owns, [`stream_buffer`] what the CPU writes anew each frame, [`plan`] where each pose's vertices go, [`skin_runs`] which
//! vertices are skinned together, [`gpu_model`] and [`gpu_material`] what is uploaded once.
//!
//! Invariants: a slot's memory is written only after the GPU has finished the slot's last frame; a steady frame makes
//! no Vulkan object, allocates no memory and writes no descriptor; the renderer sees the plain
//! [`Model`], never a file format; it waits for the device once, in its `Drop`.

pub mod frame;
pub mod layouts;
pub mod memory;
pub mod passes;
pub mod resident;
pub mod slot;
pub mod target;

use std::path::Path;
use std::sync::Arc;

use ash::vk;

pub use self::frame::{Frame, FrameOutcome};
pub use self::passes::character_pass::Skinning;
pub use self::slot::plan::{FramePlan, VisiblePoses};
pub use self::slot::stream_buffer::UploadPath;
pub use self::slot::{FrameMemory, StreamCounts};
pub use self::target::Target;

use self::layouts::Layouts;
use self::passes::character_pass::CharacterPass;
use self::passes::ground_pass::GroundPass;
use self::passes::shadow_pass::ShadowPass;
use self::passes::skin_pass::SkinPass;
use self::passes::tone_map_pass::ToneMapPass;
use self::resident::model::GpuModel;
use self::slot::plan::{Batch, ModelSize, PlanLimits};
use self::slot::{FrameSlot, Pass};
use self::target::attachments::Attachments;
use crate::model::Model;
use crate::shader_types::SkinnedVertex;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline_cache::PipelineCache;
use crate::vulkan::sync::{TimelinePoint, TimelineSemaphore};
use crate::vulkan::{Error, Result};

/// What a [`Renderer`] is made with.
#[derive(Debug, Clone, Copy)]
pub struct RendererSettings<'a> {
    /// Where vertices are skinned.
    pub skinning: Skinning,
    /// `None`: by the device's memory types.
    pub upload: Option<UploadPath>,
    /// Samples per pixel: 1, 2, 4 or 8.
    pub samples: u32,
    /// 1 to 3.
    pub frames_in_flight: usize,
    /// Side of the shadow map in texels; `None`: no shadows.
    pub shadow_map_size: Option<u32>,
    /// Folder of the pipeline cache; `None`: not kept.
    pub cache_folder: Option<&'a Path>,
    /// Pages of the transient vertex buffer are no larger than this, unless one instance is; nor than the device allows.
    pub page_bytes: u64,
    /// For tests: how the renderer gets by on a device with less.
    pub limit_caps: LimitCaps,
}

/// Limits that are taken where the device's own are larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitCaps {
    /// `maxStorageBufferRange`, for joint matrices and morph weights. Vertices have `page_bytes`.
    pub stream_window_bytes: u64,
    /// `maxComputeWorkGroupCount`, along each axis.
    pub work_groups: u32,
}

impl LimitCaps {
    /// The device's own limits.
    pub const NONE: Self = Self { stream_window_bytes: u64::MAX, work_groups: u32::MAX };
}

impl Default for RendererSettings<'_> {
    fn default() -> Self {
        Self {
            skinning: Skinning::Compute,
            upload: None,
            samples: 4,
            frames_in_flight: 2,
            shadow_map_size: Some(2048),
            cache_folder: None,
            page_bytes: 128 << 20,
            limit_caps: LimitCaps::NONE,
        }
    }
}

/// Time that the GPU took for each pass, in milliseconds, from the end of the pass before: what a pass waits for counts
/// as its own (the shadow map, say, for the readers of the frame before).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GpuTimes {
    /// Staged copies.
    pub upload_ms: f64,
    /// `skin.comp`.
    pub skin_ms: f64,
    /// The shadow map.
    pub shadow_ms: f64,
    /// Characters, ground and sky, resolve.
    pub draw_ms: f64,
    /// Tone mapping and, where captured, the copy.
    pub post_ms: f64,
}

/// Bytes of a frame and of the device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByteCounts {
    /// Joint matrices of the last frame.
    pub palette: u64,
    /// Skinned vertices of the last frame.
    pub skinned_vertices: u64,
    /// Geometry and textures, uploaded once.
    pub static_data: u64,
    /// All device memory in use.
    pub total_device: u64,
}

/// Draws crowds. See the module's essay.
pub struct Renderer {
    device: Arc<Device>,
    skinning: Skinning,
    upload: UploadPath,
    samples: vk::SampleCountFlags,
    limits: PlanLimits,
    layouts: Layouts,
    models: Vec<GpuModel>,
    model_sizes: Vec<ModelSize>,
    skin_pass: SkinPass,
    shadow_pass: ShadowPass,
    character_pass: CharacterPass,
    ground_pass: GroundPass,
    /// Made by the first frame, and again when the target's size or format changes.
    output: Option<Output>,
    target: Target,
    slots: Vec<FrameSlot>,
    plan: FramePlan,
    timeline: Arc<TimelineSemaphore>,
    /// Frames submitted; also the timeline value that the last one signals.
    frame_number: u64,
    gpu_times: Option<GpuTimes>,
    pipeline_cache: PipelineCache,
}

/// What depends on the target.
struct Output {
    attachments: Attachments,
    tone_map: ToneMapPass,
    format: vk::Format,
}

impl Renderer {
    /// Uploads the models and builds everything that frames need.
    ///
    /// # Errors
    /// No memory, a limit of the device, or settings that it does not support.
    pub fn new(device: &Arc<Device>, models: &[Model], target: Target, settings: RendererSettings) -> Result<Self> {
        let samples = sample_flags(device, settings.samples)?;
        let path = settings.upload.unwrap_or_else(|| UploadPath::best_for(&device.physical));
        let layouts = Layouts::new(device)?;
        let pipeline_cache = PipelineCache::new(device, settings.cache_folder)?;
        let models = models.iter().map(|model| GpuModel::new(device, &layouts, model)).collect::<Result<Vec<_>>>()?;
        let shadow_pass =
            ShadowPass::new(device, &pipeline_cache, &layouts, settings.skinning, settings.shadow_map_size)?;
        let limits = device.limits();
        let window_bytes = u64::from(limits.max_storage_buffer_range).min(settings.limit_caps.stream_window_bytes);
        let [groups_x, groups_y, _] = limits.max_compute_work_group_count;
        let most_groups = [groups_x, groups_y].map(|count| count.min(settings.limit_caps.work_groups).max(1));
        let slots = (0..settings.frames_in_flight.clamp(1, 3))
            .map(|index| FrameSlot::new(device, &layouts, index, path, window_bytes, shadow_pass.binding()))
            .collect::<Result<Vec<_>>>()?;
        // One instance must fit into a page, so a large model makes pages larger. The vertex shader needs none at all.
        let largest_model = models.iter().map(|model| u64::from(model.size.vertex_count)).max().unwrap_or(0);
        let page_bytes = match settings.skinning {
            Skinning::Vertex => u64::MAX,
            Skinning::Compute => settings
                .page_bytes
                .max(largest_model * size_of::<SkinnedVertex>() as u64)
                .min(u64::from(limits.max_storage_buffer_range))
                .min(device.physical.max_allocation_bytes)
                .min(device.physical.max_buffer_bytes),
        };
        let window_alignment_bytes = limits.min_storage_buffer_offset_alignment;
        let plan_limits = PlanLimits { page_bytes, window_bytes, window_alignment_bytes };
        Ok(Self {
            skinning: settings.skinning,
            upload: path,
            samples,
            limits: plan_limits,
            skin_pass: SkinPass::new(device, &pipeline_cache, &layouts, &models, most_groups)?,
            shadow_pass,
            character_pass: CharacterPass::new(device, &pipeline_cache, &layouts, samples, settings.skinning, &models)?,
            ground_pass: GroundPass::new(device, &pipeline_cache, &layouts, samples)?,
            output: None,
            model_sizes: models.iter().map(|model| model.size).collect(),
            models,
            target,
            slots,
            plan: FramePlan::default(),
            timeline: Arc::new(TimelineSemaphore::new(device, "frames")?),
            frame_number: 0,
            gpu_times: None,
            pipeline_cache,
            layouts,
            device: Arc::clone(device),
        })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Frames that the CPU may be ahead of the GPU.
    #[must_use]
    pub fn frames_in_flight(&self) -> usize {
        self.slots.len()
    }

    /// The upload path in use.
    #[must_use]
    pub fn upload_path(&self) -> UploadPath {
        self.upload
    }

    /// Side of the shadow map in texels; `None`: no shadows.
    #[must_use]
    pub fn shadow_map_size(&self) -> Option<u32> {
        self.shadow_pass.map_size()
    }

    /// GPU times of the frame before the last one of the slot that [`Self::begin_frame`] took last: of twice as many
    /// frames ago as there are frames in flight.
    #[must_use]
    pub fn gpu_times(&self) -> Option<GpuTimes> {
        self.gpu_times
    }

    /// Memory in use.
    #[must_use]
    pub fn byte_counts(&self) -> ByteCounts {
        let newest = self.slots.get(self.frame_number.saturating_sub(1) as usize % self.slots.len());
        let of_batch = |batch: &Batch| {
            let size = self.model_sizes.get(batch.model as usize).copied().unwrap_or_default();
            u64::from(batch.pose_count) * size.skinned_bytes()
        };
        ByteCounts {
            palette: newest.map_or(0, |slot| slot.palette.used_bytes()),
            skinned_vertices: match self.skinning {
                Skinning::Compute => self.plan.batches.iter().map(of_batch).sum(),
                Skinning::Vertex => 0,
            },
            static_data: self.models.iter().map(|model| model.static_bytes).sum(),
            total_device: self.device.allocated_bytes(),
        }
    }

    /// What the next [`Self::begin_frame`] waits for, for other threads that want to be awake by then; `None`: nothing.
    #[must_use]
    pub fn next_slot_free(&self) -> Option<TimelinePoint> {
        let value = self.slots.get(self.next_slot())?.in_flight_until()?;
        Some(TimelinePoint { semaphore: Arc::clone(&self.timeline), value })
    }

    /// Index of the slot that the next frame takes.
    fn next_slot(&self) -> usize {
        (self.frame_number % self.slots.len() as u64) as usize
    }

    /// Tells that the window has a new size.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.target.resize(vk::Extent2D { width, height });
    }

    /// Waits for the last frame and returns its pixels, if it was captured: RGBA, rows from the top.
    ///
    /// # Errors
    /// Device lost.
    pub fn wait_for_pixels(&mut self) -> Result<&[u8]> {
        self.wait()?;
        Ok(self.target.pixels())
    }

    /// Waits until all frames are finished.
    ///
    /// # Errors
    /// Device lost.
    pub fn wait(&mut self) -> Result<()> {
        self.slots.iter_mut().try_for_each(|slot| slot.wait(&self.timeline))
    }

    /// Bytes of the pipeline cache that came from disk.
    #[must_use]
    pub fn pipeline_cache_bytes(&self) -> usize {
        self.pipeline_cache.loaded_bytes()
    }

    /// Reads the GPU times that the last frame of `slot`, which is finished, has handed over.
    fn collect_gpu_times(&mut self, slot: usize) {
        let mut intervals = [0.0; Pass::COUNT];
        if let Some(Some(timestamps)) = self.slots.get(slot).map(|slot| &slot.timestamps)
            && timestamps.read(&mut intervals)
        {
            let [upload_ms, skin_ms, shadow_ms, draw_ms, post_ms] = intervals;
            self.gpu_times = Some(GpuTimes { upload_ms, skin_ms, shadow_ms, draw_ms, post_ms });
        }
    }

    /// Makes or remakes what depends on the target's size and format.
    fn fit_output(&mut self, extent: vk::Extent2D, format: vk::Format) -> Result<()> {
        if self.output.as_ref().is_some_and(|output| output.attachments.extent == extent && output.format == format) {
            return Ok(());
        }
        // The old attachments may be in use by the frames before.
        self.wait()?;
        let old = self.output.take().map(|output| (output.tone_map, output.format));
        let attachments = Attachments::new(&self.device, extent, self.samples)?;
        let tone_map = match old {
            Some((tone_map, old_format)) if old_format == format => {
                tone_map.set_attachments(&attachments);
                tone_map
            }
            _ => ToneMapPass::new(&self.device, &self.pipeline_cache, format, &attachments)?,
        };
        self.output = Some(Output { attachments, tone_map, format });
        Ok(())
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        // The one wait that lets everything below be destroyed. A lost device answers too, and an error here changes
        // nothing about what has to be done. Presentation it does not cover: core Vulkan has no way to wait for that.
        let _ = self.device.wait_idle();
    }
}

fn sample_flags(device: &Device, samples: u32) -> Result<vk::SampleCountFlags> {
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
        option: format!("--msaa {samples}"),
        device: device.physical.name.clone(),
        supported: names.join(", "),
    })
}
