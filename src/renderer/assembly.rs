//! The renderer: its parts, and their construction.
//!
//! In: models, an output and [`RendererSettings`]. Out: a [`Renderer`] with everything that frames need.

use std::sync::Arc;

use ash::vk;

use super::error::Result;
use super::layouts::Layouts;
use super::memory::MemoryLimits;
use super::output::Output;
use super::output::attachments::Attachments;
use super::passes::Building;
use super::passes::character_pass::CharacterPass;
use super::passes::ground_pass::GroundPass;
use super::passes::shadow_pass::ShadowPass;
use super::passes::skin_pass::SkinPass;
use super::passes::tone_map_pass::ToneMapPass;
use super::resident::lighting::Lighting;
use super::resident::model::GpuModel;
use super::resident::texture::Samplers;
use super::settings::{RendererSettings, Shadows, Skinning, UploadPath, sample_flags};
use super::slot::buffers::Page;
use super::slot::{FrameSlot, SlotSettings};
use super::times::PassTimes;
use crate::crowd::{FramePlan, PoseSize};
use crate::model::Model;
use crate::shader_types::material_features as features;
use crate::vulkan;
use crate::vulkan::device::Device;
use crate::vulkan::pipeline::PipelineBuilder;
use crate::vulkan::sync::TimelineSemaphore;

/// Draws crowds. See the module [`renderer`](super).
pub struct Renderer {
    pub(super) device: Arc<Device>,
    pub(super) skinning: Skinning,
    pub(super) layouts: Layouts,
    pub(super) models: Vec<GpuModel>,
    pub(super) pose_sizes: Vec<PoseSize>,
    pub(super) skin_pass: SkinPass,
    shadows: Shadows,
    pub(super) shadow_pass: ShadowPass,
    pub(super) character_pass: CharacterPass,
    pub(super) ground_pass: GroundPass,
    /// The light of the surroundings. The first frame computes it, and each frame whose sky differs.
    pub(super) lighting: Lighting,
    /// Created by the first frame, and again when the size or format of the output changes.
    pub(super) framebuffer: Option<Framebuffer>,
    pub(super) output: Output,
    /// One for each frame in flight, and one more after [`Self::keep_last_slot`].
    pub(super) slots: Vec<FrameSlot>,
    pub(super) slot_settings: SlotSettings,
    pub(super) frames_in_flight: usize,
    pub(super) plan: FramePlan,
    pub(super) timeline: TimelineSemaphore,
    /// The number of submitted frames, and the timeline value that the last one signals.
    pub(super) frame_number: u64,
    /// The time that acquiring and presenting the last frame's image took, in milliseconds.
    pub(super) window_ms: f64,
    /// The slot of the last frame, to which the plan belongs. `None` before the first frame, and after a frame that was planned
    /// but not submitted.
    pub(super) drawn_slot: Option<usize>,
    /// Whether alpha is coverage.
    pub(super) transparent: bool,
    samples: vk::SampleCountFlags,
    pub(super) gpu_times: Option<PassTimes>,
    builder: PipelineBuilder,
}

/// The objects that depend on the size and format of the output.
pub(super) struct Framebuffer {
    pub attachments: Attachments,
    pub tone_map: ToneMapPass,
    format: vk::Format,
}

impl Renderer {
    /// Uploads the models and builds everything that frames need.
    ///
    /// # Errors
    /// No memory, a limit of the device, or a setting that the device does not support.
    pub fn new(device: &Arc<Device>, models: &[Model], output: Output, settings: RendererSettings) -> Result<Self> {
        let samples = sample_flags(device, settings.samples)?;
        let path = settings.upload.unwrap_or_else(|| UploadPath::best_for(&device.physical));
        let layouts = Layouts::new(device, settings.skinning)?;
        let builder = PipelineBuilder::new(device, settings.shaders);
        let draws_copies = settings.copies.unwrap_or(!device.physical.is_cpu());
        let mut samplers = Samplers::default();
        let upload = |model| GpuModel::new(device, &layouts, &mut samplers, model, draws_copies);
        let models = models.iter().map(upload).collect::<Result<Vec<_>>>()?;
        let pose_sizes: Vec<PoseSize> = models.iter().map(|model| model.size.clone()).collect();
        let largest_pose = pose_sizes.iter().map(|size| u64::from(size.level(0).vertex_count)).max().unwrap_or(0);
        let limits = MemoryLimits::new(device, &settings, largest_pose);
        let skinning = settings.skinning;
        let shadow_map_size = settings.shadows.map_size(device, output.size());
        let building = Building { builder: &builder, layouts: &layouts, models: &models, skinning, samples };
        let casters = if shadow_map_size.is_some() { &models[..] } else { &[] };
        let lighting = Lighting::new(&builder, &layouts, shadow_map_size.unwrap_or(1))?;
        let slot_settings = SlotSettings { path, limits, serialize: settings.serialize };
        let slots = (0..settings.slot_count())
            .map(|index| FrameSlot::new(device, &layouts, index, slot_settings))
            .collect::<Result<Vec<_>>>()?;
        let picture = if shadow_map_size.is_some() { features::SHADOWED } else { 0 }
            | if settings.transparent { features::TRANSPARENT } else { 0 };
        let [groups_x, groups_y, _] = device.limits().max_compute_work_group_count;
        let max_groups = [groups_x, groups_y].map(|count| count.min(settings.limit_caps.work_groups).max(1));
        Ok(Self {
            skinning,
            transparent: settings.transparent,
            samples,
            skin_pass: SkinPass::new(building, max_groups)?,
            shadows: settings.shadows,
            shadow_pass: ShadowPass::new(Building { models: casters, ..building })?,
            character_pass: CharacterPass::new(building, picture)?,
            ground_pass: GroundPass::new(building, shadow_map_size.is_some())?,
            lighting,
            framebuffer: None,
            pose_sizes,
            models,
            output,
            frames_in_flight: slots.len(),
            slots,
            slot_settings,
            plan: FramePlan::default(),
            timeline: TimelineSemaphore::new(device, "frames")?,
            frame_number: 0,
            window_ms: 0.0,
            drawn_slot: None,
            gpu_times: None,
            builder,
            layouts,
            device: Arc::clone(device),
        })
    }

    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Returns the number of frames that the CPU may be ahead of the GPU.
    pub fn frames_in_flight(&self) -> usize {
        self.frames_in_flight
    }

    pub fn upload_path(&self) -> UploadPath {
        self.slot_settings.path
    }

    /// Returns the side of the shadow map in texels, or `None` without shadows.
    pub fn shadow_map_size(&self) -> Option<u32> {
        (self.shadows != Shadows::Off).then_some(self.lighting.shadow_map.info().extent.width)
    }

    /// Returns what passes are built from.
    pub fn building(&self) -> Building<'_> {
        let Self { builder, layouts, models, skinning, samples, .. } = self;
        Building { builder, layouts, models, skinning: *skinning, samples: *samples }
    }

    pub fn frame_number(&self) -> u64 {
        self.frame_number
    }

    pub fn plan(&self) -> &FramePlan {
        &self.plan
    }

    pub fn pages(&self, slot: usize) -> &[Page] {
        self.slots.get(slot).map_or(&[], |slot| &slot.pages)
    }

    /// Returns the number of slots, of which each frame takes the next one.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// Plans all joint matrices of the next frame's poses in all levels of detail. Otherwise a pose has those that its level needs.
    pub fn keep_all_joints(&mut self) {
        self.plan.all_joints = true;
    }

    /// Keeps the slot of a frame until the next frame has finished, which can read it then: there is one slot more than frames in
    /// flight from now on.
    pub fn keep_last_slot(&mut self) -> Result<()> {
        let count = self.slots.len();
        if count == self.frames_in_flight {
            self.slots.push(FrameSlot::new(&self.device, &self.layouts, count, self.slot_settings)?);
        }
        Ok(())
    }

    /// Builds everything again on the same device, for other models or settings. The output stays. After an error the
    /// renderer is as it was. Waits for all frames.
    ///
    /// # Errors
    /// The errors of [`Self::new`].
    pub fn rebuild(&mut self, models: &[Model], settings: RendererSettings) -> Result<()> {
        self.wait()?;
        // The present output belongs to the old renderer until everything else exists.
        let placeholder = Output::offscreen(&self.device, vk::Extent2D { width: 1, height: 1 })?;
        // The shadow map is that of the present output at once.
        let side = settings.shadows.map_size(&self.device, self.output.size());
        let shadows = side.map_or(Shadows::Off, Shadows::Map);
        let mut new = Self::new(&self.device, models, placeholder, RendererSettings { shadows, ..settings })?;
        new.shadows = settings.shadows;
        std::mem::swap(&mut new.output, &mut self.output);
        new.output.restart_timeline();
        *self = new;
        Ok(())
    }

    /// Sets the new size of the window.
    pub fn resize(&mut self, width: u32, height: u32) {
        self.output.resize(vk::Extent2D { width, height });
    }

    /// Returns the size and the format of the last frame's image, or `None` before the first frame.
    pub fn image(&self) -> Option<(vk::Extent2D, vk::Format)> {
        self.framebuffer.as_ref().map(|framebuffer| (framebuffer.attachments.extent, framebuffer.format))
    }

    /// Waits until all frames have finished.
    pub fn wait(&mut self) -> vulkan::Result<()> {
        self.slots.iter_mut().try_for_each(|slot| slot.wait(&self.timeline))
    }

    /// Makes the shadow map as large as the output needs.
    pub(super) fn fit_shadow_map(&mut self) -> vulkan::Result<()> {
        match self.shadows.map_size(&self.device, self.output.size()) {
            Some(side) if self.shadow_map_size() != Some(side) => {
                // Frames in flight use the old map, and the set that refers to it.
                self.wait()?;
                // SAFETY: all frames have finished.
                unsafe { self.lighting.resize(&self.device, side) }
            }
            _ => Ok(()),
        }
    }

    /// Creates the objects that depend on the output, if its size or format has changed.
    pub(super) fn fit_framebuffer(&mut self, extent: vk::Extent2D, format: vk::Format) -> vulkan::Result<()> {
        if self.image() == Some((extent, format)) {
            return Ok(());
        }
        // Frames in flight may use the old attachments.
        self.wait()?;
        let old = self.framebuffer.take().map(|framebuffer| (framebuffer.tone_map, framebuffer.format));
        let attachments = Attachments::new(&self.device, extent, self.samples)?;
        let tone_map = match old {
            Some((tone_map, old_format)) if old_format == format => {
                // SAFETY: all frames have finished.
                unsafe { tone_map.input.replace(&attachments.hdr) };
                tone_map
            }
            _ => ToneMapPass::new(&self.builder, format, self.transparent, &attachments.hdr)?,
        };
        self.framebuffer = Some(Framebuffer { attachments, tone_map, format });
        Ok(())
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        // After this wait everything below can be destroyed. A lost device returns too, and an error changes nothing about
        // the destruction. The wait does not cover presentation, for which core Vulkan has no wait.
        let _ = self.device.wait_idle();
    }
}
