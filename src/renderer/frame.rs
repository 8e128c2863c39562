//! One frame, from waiting for its slot to submitting it. `Renderer::record` is the diagram of the program.

use ash::vk;

use super::passes::upload_pass::cmd_upload;
use super::passes::visible_crowd::VisibleCrowd;
use super::slot::plan::VisiblePoses;
use super::slot::{FrameMemory, Pass, StreamCounts};
use super::target::TargetImage;
use super::{Output, Renderer, Skinning};
use crate::shader_types::FrameData;
use crate::vulkan::barrier::{
    Access, COLOR_TARGET, DEPTH_TARGET, ImageBarrier, SAMPLED, cmd_image_barriers, cmd_memory_barrier, discarded,
};
use crate::vulkan::image::Image;
use crate::vulkan::{Context, Result};
use vk::PipelineStageFlags2 as Stage;

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
    /// Waits for the oldest frame in flight, plans the visible poses and their instances with what they stream in all,
    /// and lends the memory for them.
    ///
    /// # Errors
    /// Device lost, no memory, or beyond a limit of the device.
    ///
    /// # Panics
    /// If the two lists of `visible` are not about the same poses.
    pub fn begin_frame(&mut self, visible: VisiblePoses<'_>, streams: StreamCounts) -> Result<Frame<'_>> {
        let index = self.next_slot();
        let slot = &mut self.slots[index];
        slot.wait(&self.timeline)?;
        self.plan.rebuild(&self.model_sizes, visible, self.limits)?;
        let needs_pages = self.skinning == Skinning::Compute;
        slot.ensure(&self.device, &self.layouts, &self.plan, streams, self.limits.page_bytes, needs_pages)?;
        self.collect_gpu_times(index);
        Ok(Frame { renderer: self, slot: index })
    }
}

impl Frame<'_> {
    /// The memory to fill before [`Self::submit`].
    pub fn memory(&mut self) -> FrameMemory<'_> {
        let Renderer { slots, plan, .. } = &mut *self.renderer;
        slots[self.slot].memory(plan)
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
        self.slots[index].cmd_begin_timing(commands);
        let (device, slot) = (&*self.device, &self.slots[index]);
        let (layouts, models, plan) = (&self.layouts, &self.models[..], &self.plan);
        let crowd = VisibleCrowd { device, commands, layouts, models, plan, slot };
        let memory = |from, to| cmd_memory_barrier(device, commands, from, to);
        let color = |image: &Image, from, to| {
            cmd_image_barriers(device, commands, [ImageBarrier::color(image.raw, from, to)]);
        };
        let depth = |image: &Image, from, to| {
            cmd_image_barriers(device, commands, [ImageBarrier::depth(image.raw, from, to)]);
        };

        // Joint matrices, morph weights and instances, where the CPU could not write them in place.
        slot.cmd_pass(device, Pass::Upload, || cmd_upload(device, commands, slot));

        // Copies are read by skinning, by the vertex shader itself, and as attributes (RAW). Nothing to wait for on the direct path; but
        // Mesa's software driver takes a timestamp at its next flush, and would count skinning as upload without it.
        memory(Access::TRANSFER_WRITE, Access::GEOMETRY_READ.and(Access::ATTRIBUTE_READ));
        // Every visible instance's vertices, once, for all passes that follow.
        slot.cmd_pass(device, Pass::Skin, || {
            if self.skinning == Skinning::Compute {
                self.skin_pass.cmd_skin(&crowd);
            }
        });

        // Skinned vertices are read by vertex shaders (RAW). Pages belong to the slot: nobody reads them still.
        memory(Access::COMPUTE_WRITE, Access::GEOMETRY_READ);
        // The last frame wrote the map (WAW) and its fragment shaders have read it (WAR).
        let last_use = Access::DEPTH_WRITE.and(Access::SAMPLED_READ.finished());
        depth(&self.shadow_pass.map, discarded(last_use), DEPTH_TARGET);
        // The crowd as the light sees it.
        slot.cmd_pass(device, Pass::Shadow, || self.shadow_pass.cmd_draw(&crowd));

        // The map is read wherever light arrives (RAW).
        depth(&self.shadow_pass.map, DEPTH_TARGET, SAMPLED);
        // The last frame wrote these (WAW), and its tone mapping has read the colour (WAR).
        let last_use = Access::COLOR_WRITE.and(Access::SAMPLED_READ.finished());
        color(&attachments.hdr, discarded(last_use), COLOR_TARGET);
        if let Some(multisampled) = &attachments.multisampled {
            color(multisampled, discarded(Access::COLOR_WRITE), COLOR_TARGET);
        }
        depth(&attachments.depth, discarded(Access::DEPTH_WRITE), DEPTH_TARGET);
        // The scene: what is opaque, then the ground, most of which that hides, then what is blended over both.
        slot.cmd_pass(device, Pass::Draw, || {
            attachments.cmd_begin(device, commands);
            self.character_pass.cmd_draw(&crowd, false);
            self.ground_pass.cmd_draw(&crowd);
            self.character_pass.cmd_draw(&crowd, true);
            attachments.cmd_end(device, commands);
        });

        // Tone mapping reads the scene's colour (RAW) and writes the target, whose last use depends on what it is.
        color(&attachments.hdr, COLOR_TARGET, SAMPLED);
        self.target.cmd_begin(device, commands, image);
        // From radiance to what a display shows; then to the window system, or to memory that the CPU reads.
        slot.cmd_pass(device, Pass::Post, || {
            tone_map.cmd_draw(device, commands, image.view, image.extent);
            self.target.cmd_finish(device, commands, image, capture);
        });
    }

    /// Hands the frame to the queue: waits for the window's image, signals the timeline and presentation's semaphore.
    fn submit(&self, commands: vk::CommandBuffer, index: usize, image: &TargetImage, value: u64) -> Result<()> {
        let semaphore = |raw, stages| vk::SemaphoreSubmitInfo::default().semaphore(raw).value(0).stage_mask(stages);
        let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
        // Colour writes wait for the window system's image; uploading, skinning and shadows run already.
        let waits = [semaphore(self.slots[index].image_available.raw, Stage::COLOR_ATTACHMENT_OUTPUT)];
        let waits = if self.target.waits_for_image() { &waits[..] } else { &[] };
        let finished = semaphore(self.timeline.raw, Stage::ALL_COMMANDS).value(value);
        let presentable = self.target.render_finished(image).map(|raw| semaphore(raw, Stage::COLOR_ATTACHMENT_OUTPUT));
        let signals = [finished, presentable.unwrap_or_default()];
        let signals = if presentable.is_some() { &signals[..] } else { &signals[..1] };
        let info = vk::SubmitInfo2::default()
            .command_buffer_infos(&buffers)
            .wait_semaphore_infos(waits)
            .signal_semaphore_infos(signals);
        let queue = self.device.queue();
        // SAFETY: all that the commands use lives until the timeline reaches `value`; the guard keeps others away.
        unsafe { self.device.raw.queue_submit2(*queue, &[info], self.slots[index].fence()) }.context("vkQueueSubmit2")
    }
}
