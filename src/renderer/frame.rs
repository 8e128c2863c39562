//! One frame, from waiting for its slot to submitting it. [`Frame::record`] is the diagram of the program.

use std::mem::MaybeUninit;

use ash::vk;

use super::character_pass::CharacterDraws;
use super::frame_slot::FrameSlot;
use super::target::TargetImage;
use super::upload_pass::cmd_upload;
use super::{FramePlan, Output, Renderer, Skinning};
use crate::shader_types::{FrameData, InstanceData, JointMatrix};
use crate::vulkan::barrier::{Access, ImageBarrier, cmd_image_barriers, cmd_memory_barrier};
use crate::vulkan::{Context, Result};

use vk::AccessFlags2 as A;
use vk::ImageLayout as Layout;
use vk::PipelineStageFlags2 as S;

/// Stages that read palette and instances.
const STREAM_READERS: S = S::from_raw(S::COMPUTE_SHADER.as_raw() | S::VERTEX_SHADER.as_raw());
const COLOR_WRITE: Access = Access::new(S::COLOR_ATTACHMENT_OUTPUT, A::COLOR_ATTACHMENT_WRITE);
const DEPTH_STAGES: S = S::from_raw(S::EARLY_FRAGMENT_TESTS.as_raw() | S::LATE_FRAGMENT_TESTS.as_raw());
const DEPTH_ACCESS: A =
    A::from_raw(A::DEPTH_STENCIL_ATTACHMENT_READ.as_raw() | A::DEPTH_STENCIL_ATTACHMENT_WRITE.as_raw());

/// Memory of a frame that is being prepared, lent for writing: the GPU has finished with it.
pub struct FrameMemory<'a> {
    /// One joint matrix for each joint of each visible instance.
    pub palette: &'a mut [MaybeUninit<JointMatrix>],
    /// One element for each visible instance.
    pub instances: &'a mut [MaybeUninit<InstanceData>],
    /// Says where each instance's skinned vertices go.
    pub plan: &'a FramePlan,
}

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameOutcome {
    /// Submitted and, for a window, presented.
    Drawn,
    /// The window had no area or no free image: nothing was submitted.
    Skipped,
}

/// A frame between [`Renderer::begin_frame`] and [`Frame::submit`].
pub struct Frame<'r> {
    renderer: &'r mut Renderer,
    slot: usize,
}

impl Renderer {
    /// Waits for the oldest frame in flight, plans `counts[m]` visible instances of each model `m` with `joint_count`
    /// joint matrices in all, and lends the memory for them.
    ///
    /// # Errors
    /// Device lost, no memory, or beyond a limit of the device.
    pub fn begin_frame(&mut self, counts: &[u32], joint_count: usize) -> Result<Frame<'_>> {
        let index = (self.frame_number % self.slots.len() as u64) as usize;
        let slot = &mut self.slots[index];
        slot.wait(&self.timeline)?;
        self.plan.rebuild(&self.model_sizes, counts, self.limits)?;
        let needs_pages = self.settings.0 == Skinning::Compute;
        slot.ensure(&self.device, &self.layouts, &self.plan, joint_count, self.limits.page_bytes, needs_pages)?;
        self.collect_gpu_times(index)?;
        Ok(Frame { renderer: self, slot: index })
    }
}

impl Frame<'_> {
    /// The memory to fill before [`Self::submit`].
    pub fn memory(&mut self) -> FrameMemory<'_> {
        let (palette, instances) = self.renderer.slots[self.slot].memory();
        FrameMemory { palette, instances, plan: &self.renderer.plan }
    }

    /// Records and submits the frame, and presents it if there is a window. `capture` copies an offscreen image for
    /// [`Renderer::wait_for_pixels`].
    ///
    /// # Errors
    /// Device or surface lost, no memory.
    pub fn submit(self, data: FrameData, capture: bool) -> Result<FrameOutcome> {
        let Frame { renderer, slot: index } = self;
        let next_value = renderer.frame_number + 1;
        let available = &renderer.slots[index].image_available;
        let acquired = renderer.target.acquire(&renderer.device, available, &renderer.timeline, next_value)?;
        let Some((image, format)) = acquired else { return Ok(FrameOutcome::Skipped) };
        renderer.fit_output(image.extent, format)?;
        renderer.slots[index].write_frame_data(data);
        let commands = renderer.slots[index].commands.begin()?;
        renderer.record(commands, index, &image, capture);
        renderer.slots[index].commands.end()?;
        renderer.submit(commands, index, &image, next_value)?;
        renderer.frame_number = next_value;
        renderer.slots[index].submitted(next_value);
        renderer.target.present(&image)?;
        Ok(FrameOutcome::Drawn)
    }
}

impl Renderer {
    /// The whole frame: one call for each pass, each barrier right before the pass that needs it.
    fn record(&mut self, commands: vk::CommandBuffer, index: usize, image: &TargetImage, capture: bool) {
        let Some(Output { attachments, tone_map, .. }) = &self.output else { return };
        let (device, layouts, models, plan) = (&*self.device, &self.layouts, &self.models, &self.plan);
        if let Some(timestamps) = &mut self.slots[index].timestamps {
            timestamps.cmd_reset(commands);
        }
        let slot = &self.slots[index];
        cmd_timestamp(slot, commands, S::NONE, 0);

        // Joint matrices and instances, where the CPU could not write them in place.
        device.cmd_labelled(commands, c"upload", || cmd_upload(device, commands, slot));
        cmd_timestamp(slot, commands, S::COPY, 1);
        // The copies are read by skinning, or by the vertex shader itself (RAW). Nothing to wait for on the direct path;
        // but Mesa's software driver takes a timestamp at its next flush, and would count skinning as upload without it.
        let copies = Access::new(S::COPY, A::TRANSFER_WRITE);
        cmd_memory_barrier(device, commands, copies, Access::new(STREAM_READERS, A::SHADER_STORAGE_READ));

        // Every visible instance's vertices, once, for all passes that follow.
        if self.settings.0 == Skinning::Compute {
            device.cmd_labelled(commands, c"skin", || {
                self.skin_pass.cmd_skin(device, commands, layouts, models, plan, slot);
            });
            // Skinned vertices are read by the vertex shader (RAW). Pages belong to the slot: no earlier reader.
            let skinned = Access::new(S::COMPUTE_SHADER, A::SHADER_STORAGE_WRITE);
            cmd_memory_barrier(device, commands, skinned, Access::new(S::VERTEX_SHADER, A::SHADER_STORAGE_READ));
        }
        cmd_timestamp(slot, commands, S::COMPUTE_SHADER, 2);

        // The crowd as the light sees it, into a map that the last frame wrote (WAW) and its fragment shaders read (WAR).
        let draws = CharacterDraws { device, commands, layouts, models, plan, slot };
        let fresh = |access| (access, Layout::UNDEFINED);
        let depth = (Access::new(DEPTH_STAGES, DEPTH_ACCESS), Layout::DEPTH_ATTACHMENT_OPTIMAL);
        let sampled = Access::new(S::FRAGMENT_SHADER, A::SHADER_SAMPLED_READ);
        let to_read = (sampled, Layout::SHADER_READ_ONLY_OPTIMAL);
        let shadow_map = self.shadow_pass.map.raw;
        let last_shadows = Access::new(DEPTH_STAGES | S::FRAGMENT_SHADER, A::DEPTH_STENCIL_ATTACHMENT_WRITE);
        cmd_image_barriers(device, commands, [ImageBarrier::depth(shadow_map, fresh(last_shadows), depth)]);
        device.cmd_labelled(commands, c"shadow", || self.shadow_pass.cmd_draw(&draws));
        // The map is read wherever light arrives (RAW).
        let written = (Access::new(DEPTH_STAGES, A::DEPTH_STENCIL_ATTACHMENT_WRITE), depth.1);
        cmd_image_barriers(device, commands, [ImageBarrier::depth(shadow_map, written, to_read)]);
        cmd_timestamp(slot, commands, S::LATE_FRAGMENT_TESTS, 3);

        // The scene, into images that the last frame has written (WAW) and whose colour its tone mapping has read (WAR).
        let scene_color = (COLOR_WRITE, Layout::COLOR_ATTACHMENT_OPTIMAL);
        let last_scene = Access::new(S::COLOR_ATTACHMENT_OUTPUT | S::FRAGMENT_SHADER, A::COLOR_ATTACHMENT_WRITE);
        let last_depth = Access::new(DEPTH_STAGES, A::DEPTH_STENCIL_ATTACHMENT_WRITE);
        cmd_image_barriers(
            device,
            commands,
            [
                ImageBarrier::color(attachments.hdr.raw, fresh(last_scene), scene_color),
                ImageBarrier::depth(attachments.depth.raw, fresh(last_depth), depth),
            ],
        );
        if let Some(multisampled) = &attachments.multisampled {
            let barrier = ImageBarrier::color(multisampled.raw, fresh(last_scene), scene_color);
            cmd_image_barriers(device, commands, [barrier]);
        }
        device.cmd_labelled(commands, c"draw", || {
            attachments.cmd_begin(device, commands);
            self.character_pass.cmd_draw(&draws, false);
            self.ground_pass.cmd_draw(device, commands, layouts, slot.set.raw);
            self.character_pass.cmd_draw(&draws, true);
            // SAFETY: ends the rendering begun above.
            unsafe { device.raw.cmd_end_rendering(commands) };
        });
        cmd_timestamp(slot, commands, S::COLOR_ATTACHMENT_OUTPUT, 4);

        // Tone mapping reads the scene's colour (RAW) and writes the target.
        cmd_image_barriers(device, commands, [ImageBarrier::color(attachments.hdr.raw, scene_color, to_read)]);
        self.target.cmd_begin(device, commands, image);
        device.cmd_labelled(commands, c"tone map", || {
            tone_map.cmd_draw(device, commands, image.view, image.extent);
        });
        self.target.cmd_finish(device, commands, image, capture);
        cmd_timestamp(slot, commands, S::COLOR_ATTACHMENT_OUTPUT, 5);
    }

    /// Hands the frame to the queue: waits for the window's image, signals the timeline and presentation's semaphore.
    fn submit(&self, commands: vk::CommandBuffer, index: usize, image: &TargetImage, value: u64) -> Result<()> {
        let semaphore = |raw, stages| vk::SemaphoreSubmitInfo::default().semaphore(raw).value(0).stage_mask(stages);
        let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
        // Only the target's first use waits for the window system: everything before may run already.
        let waits = [semaphore(self.slots[index].image_available.raw, S::COLOR_ATTACHMENT_OUTPUT)];
        let waits = if self.target.waits_for_image() { &waits[..] } else { &[] };
        let finished = semaphore(self.timeline.raw, S::ALL_COMMANDS).value(value);
        let presentable = self.target.render_finished(image).map(|raw| semaphore(raw, S::COLOR_ATTACHMENT_OUTPUT));
        let signals = [finished, presentable.unwrap_or_default()];
        let signals = if presentable.is_some() { &signals[..] } else { &signals[..1] };
        let info = vk::SubmitInfo2::default()
            .command_buffer_infos(&buffers)
            .wait_semaphore_infos(waits)
            .signal_semaphore_infos(signals);
        // SAFETY: all that the commands use lives until the timeline reaches `value`; one thread uses the queue.
        unsafe { self.device.raw.queue_submit2(self.device.queue, &[info], self.slots[index].fence()) }
            .context("vkQueueSubmit2")
    }
}

fn cmd_timestamp(slot: &FrameSlot, commands: vk::CommandBuffer, stage: S, index: u32) {
    if let Some(timestamps) = &slot.timestamps {
        timestamps.cmd_write(commands, stage, index);
    }
}
