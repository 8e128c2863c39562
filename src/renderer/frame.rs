//! The frame, on one page.
//!
//! In: a crowd and a [`Shot`]. Out: a submitted frame. [`Renderer::draw`] is the CPU half: show, move, cull, begin,
//! evaluate, write instances, submit. [`Renderer::record_scene`] and [`Renderer::record_output`] are the GPU half: one line
//! per pass, each barrier right before the pass that needs it. Everything else in this file waits or submits.
//!
//! The GPU half has two parts because the window system may release an image late. The scene's part needs no such image, so
//! skinning, shadows and drawing do not wait for its semaphore. Only tone mapping waits.

use ash::vk;
use rayon::ThreadPool;
use vk::PipelineStageFlags2 as Stage;

use super::assembly::{Framebuffer, Renderer};
use super::error::Result;
use super::extras::Extras;
use super::passes::PassInput;
use super::settings::{FrameOutcome, Skinning};
use super::shot::{Shot, frame_data};
use super::slot::FrameMemory;
use super::times::{Pass, StageTimes, Stopwatch};
use crate::crowd::{Crowd, FramePlan, VisiblePose};
use crate::shader_types::{FrameData, SkyData};
use crate::view::{Frustum, Look};
use crate::vulkan::barrier::{Access, COLOR_TARGET, DEPTH_TARGET, ImageBarrier, SAMPLED, discarded};
use crate::vulkan::image::{Image, ImageInfo};
use crate::vulkan::{self, Context};

/// A frame between [`Renderer::begin_frame`] and [`Frame::submit`].
pub struct Frame<'r> {
    renderer: &'r mut Renderer,
    slot: usize,
}

impl Renderer {
    /// Draws one frame of a crowd. The crowd's models are those of the renderer.
    ///
    /// # Errors
    /// Device lost, no memory, or a limit of the device. Offscreen, the next frame may be tried after that. In a window the
    /// renderer must be dropped: an image may be acquired that was not presented, and its semaphore cannot be used again.
    pub fn draw(
        &mut self,
        crowd: &mut Crowd,
        threads: &ThreadPool,
        shot: &Shot,
        extras: &mut dyn Extras,
    ) -> Result<(FrameOutcome, StageTimes)> {
        let mut stopwatch = Stopwatch::start();
        // After a resize only: waits for all frames, because they sample the old map.
        self.fit_shadow_map()?;
        let resize_ms = stopwatch.lap_ms();

        // Crowds that travel go to their places.
        crowd.move_to(shot.time_seconds);
        // Find the poses and instances that the camera sees, and those whose shadows it sees, each in the level of detail
        // that pixels and texels need.
        let aspect = self.output.aspect();
        let data = frame_data(crowd, shot, aspect, self.shadow_map_size(), self.transparent);
        let frustum = shot.cull.then(|| Frustum::from_clip_from_world(shot.camera.clip_from_world(aspect)));
        let to_light = self.shadow_map_size().map(|_| shot.look.sun.to_light());
        crowd.cull(Some(threads), frustum.as_ref(), to_light, &shot.detail(self.output.extent().height, &data));
        let cull_ms = stopwatch.lap_ms();

        // Wait for the oldest frame in flight, and plan where the data of each pose lies.
        extras.plan(self, crowd, shot)?;
        let mut frame = self.begin_frame(crowd.visible_poses())?;
        let wait_ms = resize_ms + stopwatch.lap_ms();

        // Clip × time ▶ joint matrices and morph weights, written straight into mapped memory.
        let (FrameMemory { streams, instances }, plan) = frame.memory();
        crowd.evaluate(threads, shot.time_seconds, plan, streams);
        let animate_ms = stopwatch.lap_ms();

        // Placement, pose index and tint of each visible instance. Then the GPU half.
        crowd.write_instances(threads, instances);
        extras.write(&*frame.renderer, frame.slot, crowd, shot)?;
        let outcome = frame.submit(data, shot.look, shot.capture, extras)?;
        let record_ms = stopwatch.lap_ms() - self.window_ms;
        Ok((outcome, StageTimes([cull_ms, wait_ms + self.window_ms, animate_ms, record_ms])))
    }

    /// Records the first part of the GPU half: everything that does not need the output's image.
    fn record_scene(
        &self,
        input: &PassInput,
        look: Look,
        Framebuffer { attachments, .. }: &Framebuffer,
        extras: &dyn Extras,
    ) {
        let PassInput { recorder, slot, .. } = *input;
        let shadow_map = |from, to| recorder.image_barriers([ImageBarrier::new(&self.lighting.shadow_map, from, to)]);

        // Streams to device memory, on the staged path. The direct path needs neither copies nor a barrier: the submission
        // makes the CPU's writes visible to the GPU.
        slot.pass(recorder, Pass::Upload, || slot.record_upload(recorder));

        // Skins the vertices of every visible pose once, for all passes that follow. Empty with vertex skinning.
        slot.pass(recorder, Pass::Skin, || {
            if self.skinning == Skinning::Compute {
                self.skin_pass.record(input);
            }
        });

        // Vertex shaders read the skinned vertices (RAW). Writes after the slot's previous frame has written and read them need no
        // barrier: `begin_frame` has waited for it.
        recorder.memory_barrier(Access::COMPUTE_WRITE, Access::VERTEX_READ);
        // The previous frame wrote the map (WAW), and its fragment shaders have read it (WAR).
        shadow_map(discarded(Access::DEPTH_WRITE.and(Access::SAMPLED_READ.finished())), DEPTH_TARGET);
        // Draws the crowd as the light sees it. Without shadows, clears a map of one texel to lit.
        slot.pass(recorder, Pass::Shadow, || self.shadow_pass.record(input));

        // Fragment shaders sample the map (RAW).
        shadow_map(DEPTH_TARGET, SAMPLED);
        // The previous frame wrote the attachments (WAW), and its tone mapping has read the colour (WAR).
        let last_use = Access::COLOR_WRITE.and(Access::SAMPLED_READ.finished());
        recorder.image_barriers([
            ImageBarrier::new(&attachments.hdr, discarded(last_use), COLOR_TARGET),
            ImageBarrier::new(&attachments.depth, discarded(Access::DEPTH_WRITE), DEPTH_TARGET),
        ]);
        if let Some(multisampled) = &attachments.multisampled {
            recorder.image_barriers([ImageBarrier::new(multisampled, discarded(Access::COLOR_WRITE), COLOR_TARGET)]);
        }
        // Draws opaque characters, then ground and sky (mostly rejected by the depth test), then blended materials.
        slot.pass(recorder, Pass::Draw, || {
            attachments.rendering(recorder, look.clear_color(), || {
                let are_lit = !extras.characters(input);
                if are_lit {
                    self.character_pass.record(input, false);
                }
                self.ground_pass.record(input, look);
                if are_lit {
                    self.character_pass.record(input, true);
                }
                extras.over_scene(input);
            });
            extras.after_scene(input);
        });
    }

    /// Records the second part of the GPU half: everything that writes the output's image.
    fn record_output(
        &self,
        input: &PassInput,
        image: &Image,
        (look, capture): (Look, bool),
        framebuffer: &Framebuffer,
        extras: &dyn Extras,
    ) {
        let PassInput { recorder, slot, .. } = *input;
        // Tone mapping samples the scene's colour (RAW). Barriers also order earlier submissions to the same queue.
        recorder.image_barriers([ImageBarrier::new(&framebuffer.attachments.hdr, COLOR_TARGET, SAMPLED)]);
        // The image becomes an attachment. Its last use depends on the output.
        self.output.begin(recorder, image);
        // Maps radiance to the display's range. Then changes the image for presentation, or copies it for the CPU.
        slot.pass(recorder, Pass::Post, || {
            framebuffer.tone_map.record(recorder, image, look.exposure(), || extras.over_picture(input));
            self.output.finish(recorder, image, capture);
        });
    }

    /// Waits for the oldest frame in flight, plans the next one, makes room for its data, and writes its pose records.
    ///
    /// # Errors
    /// Device lost, no memory, or a limit of the device.
    pub fn begin_frame(&mut self, poses: &[VisiblePose]) -> Result<Frame<'_>> {
        let count = self.slots.len();
        let index = (self.frame_number % count as u64) as usize;
        // The oldest frame in flight, and the slot's own last frame. They are the same, unless there is a slot more: then the
        // oldest frame in flight may still read the slot.
        for waited in [(index + count - self.frames_in_flight) % count, index] {
            self.slots[waited].wait(&self.timeline)?;
        }
        let slot = &mut self.slots[index];
        // The plan is that of the last frame no longer.
        self.drawn_slot = None;
        self.plan.rebuild(&self.pose_sizes, poses, self.slot_settings.limits.page_bytes)?;
        self.plan.all_joints = false;
        let page_bytes = (self.skinning == Skinning::Compute).then_some(self.slot_settings.limits.page_bytes);
        slot.prepare(&self.device, &self.layouts, &self.plan, page_bytes)?;
        self.collect_gpu_times(index);
        Ok(Frame { renderer: self, slot: index })
    }

    fn record(
        &self,
        index: usize,
        image: u32,
        (look, sky, capture): (Look, SkyData, bool),
        extras: &dyn Extras,
    ) -> vulkan::Result<()> {
        let slot = &self.slots[index];
        // `fit_framebuffer` has created the framebuffer, and the image was acquired.
        let (Some(framebuffer), Some(image)) = (&self.framebuffer, self.output.image(image)) else { return Ok(()) };
        let Self { layouts, lighting, models, plan, .. } = self;
        // SAFETY: `begin_frame` has waited for the slot's last frame. What is recorded belongs to the renderer, which drops or
        // replaces nothing before the GPU has finished with it, or to `extras`, whose trait promises the same.
        let recorder = unsafe { slot.scene_commands.begin() }?;
        slot.begin_timing(recorder);
        // The light of the surroundings, if the sky has changed.
        lighting.environment.record(recorder, sky);
        let extent = framebuffer.attachments.extent;
        let input = PassInput { recorder, layouts, lighting, models, plan, slot, extent };
        self.record_scene(&input, look, framebuffer, extras);
        // SAFETY: recording has begun above.
        unsafe { slot.scene_commands.end() }?;
        // SAFETY: as above.
        let recorder = unsafe { slot.output_commands.begin() }?;
        self.record_output(&PassInput { recorder, ..input }, image, (look, capture), framebuffer, extras);
        // SAFETY: recording has begun above.
        unsafe { slot.output_commands.end() }
    }

    /// Submits both parts in one call. The second part waits for the window's image, and signals the end of the frame. The
    /// slot's fence is for validation only.
    fn submit_commands(&self, index: usize, image: u32, value: u64) -> vulkan::Result<()> {
        let slot = &self.slots[index];
        let semaphore = |raw, stages| vk::SemaphoreSubmitInfo::default().semaphore(raw).value(0).stage_mask(stages);
        let commands = [&slot.scene_commands, &slot.output_commands]
            .map(|pool| [vk::CommandBufferSubmitInfo::default().command_buffer(pool.raw())]);
        let presentable = self.output.render_finished(image).map(|raw| semaphore(raw, Stage::COLOR_ATTACHMENT_OUTPUT));
        // Tone mapping's colour output waits for the image.
        let waits = [semaphore(slot.image_available.raw(), Stage::COLOR_ATTACHMENT_OUTPUT)];
        let waits = if presentable.is_some() { &waits[..] } else { &[] };
        let finished = semaphore(self.timeline.raw(), Stage::ALL_COMMANDS).value(value);
        let signals = [finished, presentable.unwrap_or_default()];
        let signals = if presentable.is_some() { &signals[..] } else { &signals[..1] };
        let submits = [
            vk::SubmitInfo2::default().command_buffer_infos(&commands[0]),
            vk::SubmitInfo2::default()
                .command_buffer_infos(&commands[1])
                .wait_semaphore_infos(waits)
                .signal_semaphore_infos(signals),
        ];
        let queue = self.device.queue();
        // SAFETY: everything that the commands use lives until the timeline reaches `value`. The guard locks the queue.
        unsafe { self.device.raw.queue_submit2(*queue, &submits, slot.fence()) }.context_for("vkQueueSubmit2", "frame")
    }
}

impl Frame<'_> {
    /// Returns the memory that the CPU half fills before [`Self::submit`], and the plan with the offsets in it.
    pub fn memory(&mut self) -> (FrameMemory<'_>, &FramePlan) {
        let Renderer { slots, plan, .. } = &mut *self.renderer;
        (slots[self.slot].memory(), plan)
    }

    /// Records and submits the GPU half, and presents the image if there is a window. `capture` copies the image for
    /// [`Renderer::wait_for_pixels`].
    pub fn submit(self, data: FrameData, look: Look, capture: bool, extras: &mut dyn Extras) -> Result<FrameOutcome> {
        let Self { renderer, slot } = self;
        let mut stopwatch = Stopwatch::start();
        let next_value = renderer.frame_number + 1;
        let available = &renderer.slots[slot].image_available;
        // SAFETY: the slot's last frame, which waited for the semaphore, has finished.
        let acquired = unsafe { renderer.output.acquire(&renderer.device, available, &renderer.timeline, next_value) }?;
        renderer.window_ms = stopwatch.lap_ms();
        // Without an image, the next `begin_frame` gets the same slot and writes it again.
        let Some(image) = acquired else { return Ok(FrameOutcome::Skipped) };
        let Some(&ImageInfo { extent, format, .. }) = renderer.output.image(image).map(Image::info) else {
            return Ok(FrameOutcome::Skipped);
        };
        renderer.fit_framebuffer(extent, format)?;
        extras.fit(renderer, slot)?;
        renderer.slots[slot].write_frame_data(data);
        renderer.record(slot, image, (look, data.sky, capture), extras)?;
        renderer.submit_commands(slot, image, next_value)?;
        renderer.frame_number = next_value;
        renderer.drawn_slot = Some(slot);
        renderer.slots[slot].submitted(next_value);
        renderer.lighting.environment.submitted(data.sky);
        stopwatch.lap_ms();
        // SAFETY: the image was acquired, and its commands were submitted.
        unsafe { renderer.output.present(image) }?;
        renderer.window_ms += stopwatch.lap_ms();
        Ok(FrameOutcome::Drawn)
    }
}
