//! Models, crowd and camera, and how a frame of them is drawn: what `view`, `render` and `bench` share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};

use super::memory::VisibleCount;
use crate::animation::PoseStreams;
use crate::cli::{CameraArg, CrowdSizeArgs, SceneArg, SceneArgs, Switch};
use crate::crowd::{Crowd, CrowdSettings, Work, thread_pool, with_threads_awake};
use crate::model::{Model, import};
use crate::renderer::{FrameMemory, FrameOutcome, Renderer, StreamCounts, VisiblePoses};
use crate::shader_types::FrameData;
use crate::view::sun::{self, ShadowView};
use crate::view::{Frustum, OrbitCamera};

/// The character that needs no file.
const BUNDLED: (&str, &[u8]) = ("walker.glb", include_bytes!("../../assets/walker.glb"));

/// What is shown.
pub struct Scene {
    /// By index in the crowd.
    pub models: Arc<[Model]>,
    /// All instances.
    pub crowd: Crowd,
    /// Frames the crowd at first.
    pub camera: OrbitCamera,
    pool: Arc<rayon::ThreadPool>,
    cull: bool,
}

/// What becomes of the joint matrices of a frame.
#[derive(Debug, Clone, Copy)]
enum Motion {
    /// They are evaluated at a time, in seconds.
    At(f64),
    /// [`Crowd::store_only`].
    OnlyStored,
}

/// Time that the CPU took for each stage of a frame, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuTimes {
    /// Choosing the visible instances.
    pub cull_ms: f64,
    /// Waiting for the GPU to finish the slot's last frame, and planning where vertices go.
    pub wait_ms: f64,
    /// Clips to joint matrices, written to mapped memory.
    pub animate_ms: f64,
    /// Writing the instances, recording and submitting, and presenting.
    pub record_ms: f64,
}

impl Scene {
    /// Loads the models and places the crowd.
    ///
    /// # Errors
    /// A file that cannot be loaded, or a clip that no model has.
    pub fn load(args: &SceneArgs, size: CrowdSizeArgs, aspect: f32) -> Result<Self> {
        Self::new(load_models(&args.models, &args.scene)?, args, size, aspect)
    }

    /// Places a crowd of loaded models.
    ///
    /// # Errors
    /// A clip that no model has.
    pub fn new(models: Arc<[Model]>, args: &SceneArgs, size: CrowdSizeArgs, aspect: f32) -> Result<Self> {
        let instance_count = size.instances;
        let settings = CrowdSettings {
            instance_count,
            spacing_metres: args.spacing.map(|metres| metres as f32),
            seed: args.seed,
            phase: args.phase_mode(instance_count),
            clip: args.clip.clone(),
            speed: args.speed as f32,
            share_poses_hz: args.share_poses,
        };
        let crowd = Crowd::new(Arc::clone(&models), &settings)?;
        for note in crowd.notes() {
            tracing::warn!("{note}");
        }
        let camera = camera(&crowd, args.camera, aspect);
        let pool = pool(size.threads)?;
        Ok(Self { models, crowd, camera, pool, cull: args.cull == Switch::On })
    }

    /// Frames the crowd anew, for a picture of another shape.
    pub fn frame(&mut self, args: &SceneArgs, aspect: f32) {
        self.camera = camera(&self.crowd, args.camera, aspect);
    }

    /// Animates on so many threads from now on, of which the calling one is one where it belongs to no others.
    ///
    /// # Errors
    /// Where the threads cannot be started.
    pub fn set_threads(&mut self, threads: u32) -> Result<()> {
        self.pool = pool(Some(threads))?;
        Ok(())
    }

    /// Threads that animate.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// One frame: cull, wait for memory, animate into it, record and submit.
    ///
    /// # Errors
    /// Device lost, no memory, or beyond a limit of the device.
    pub fn draw(
        &mut self,
        renderer: &mut Renderer,
        time_seconds: f64,
        aspect: f32,
        capture: bool,
    ) -> Result<(FrameOutcome, CpuTimes)> {
        self.draw_in_company(renderer, Motion::At(time_seconds), aspect, capture)
    }

    /// A frame whose joint matrices are only stored, not evaluated: what memory alone takes of its animation.
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn draw_only_stored(&mut self, renderer: &mut Renderer, aspect: f32) -> Result<CpuTimes> {
        let (_, times) = self.draw_in_company(renderer, Motion::OnlyStored, aspect, false)?;
        Ok(times)
    }

    /// A frame, beside which the threads that animate are woken.
    fn draw_in_company(
        &mut self,
        renderer: &mut Renderer,
        motion: Motion,
        aspect: f32,
        capture: bool,
    ) -> Result<(FrameOutcome, CpuTimes)> {
        // As many as the last frame had work for, beside this one.
        let companions = self.crowd.visible_block_count().saturating_sub(1);
        let pool = Arc::clone(&self.pool);
        let slot_free = renderer.next_slot_free();
        // Where the GPU is lost the frame says so; its companions need not.
        let slot_is_free = || slot_free.as_ref().map_or((), |point| drop(point.wait()));
        let frame = |work: &Work| self.draw_beside(work, renderer, motion, aspect, capture);
        with_threads_awake(&pool, companions, slot_is_free, frame)
    }

    /// The frame itself. `work` tells threads that were woken when there is something to do.
    fn draw_beside(
        &mut self,
        work: &Work,
        renderer: &mut Renderer,
        motion: Motion,
        aspect: f32,
        capture: bool,
    ) -> Result<(FrameOutcome, CpuTimes)> {
        let mut stopwatch = Stopwatch::start();

        self.cull(aspect, renderer.shadow_map_size().is_some());
        let cull_ms = stopwatch.lap_ms();

        let data = self.frame_data(aspect, renderer.shadow_map_size());
        let streams = StreamCounts {
            joint_matrices: self.crowd.visible_joint_count(),
            morph_weights: self.crowd.visible_morph_weight_count(),
        };
        let visible = VisiblePoses {
            pose_counts: self.crowd.pose_counts(),
            seen_starts: self.crowd.seen_starts(),
            shadow_starts: self.crowd.shadow_starts(),
        };
        let mut frame = renderer.begin_frame(visible, streams)?;
        let wait_ms = stopwatch.lap_ms();

        let FrameMemory { palette, morph_weights, instances, plan } = frame.memory();
        work.begins();
        let streams = PoseStreams { palette, morph_weights };
        match motion {
            Motion::At(time_seconds) => self.crowd.evaluate(&self.pool, time_seconds, streams),
            Motion::OnlyStored => self.crowd.store_only(&self.pool, streams),
        }
        let animate_ms = stopwatch.lap_ms();

        self.crowd.write_instances(instances, |model, k| plan.skinned_vertex_offset(model, k));
        let outcome = frame.submit(data, capture)?;
        let record_ms = stopwatch.lap_ms();
        Ok((outcome, CpuTimes { cull_ms, wait_ms, animate_ms, record_ms }))
    }

    /// Chooses what the camera sees, and what throws a shadow into its view.
    fn cull(&mut self, aspect: f32, shadows: bool) {
        let frustum = self.cull.then(|| Frustum::from_clip_from_world(self.camera.clip_from_world(aspect)));
        self.crowd.cull(frustum.as_ref(), shadows.then(sun::to_light));
    }

    /// What a frame would draw of each model, as the camera stands.
    pub fn visible(&mut self, aspect: f32, shadows: bool) -> Vec<VisibleCount> {
        self.cull(aspect, shadows);
        self.visible_counts()
    }

    /// What the last frame drew of each model.
    #[must_use]
    pub fn visible_counts(&self) -> Vec<VisibleCount> {
        let counts = self.crowd.visible_counts().iter().zip(self.crowd.pose_counts());
        counts.map(|(&instances, &poses)| VisibleCount { instances, poses }).collect()
    }

    /// Camera, light and ground of a frame.
    fn frame_data(&self, aspect: f32, shadow_map_size: Option<u32>) -> FrameData {
        let clip_from_world = self.camera.clip_from_world(aspect);
        let bounds = self.crowd.bounds();
        let map_texels = shadow_map_size.unwrap_or(1);
        let strength = if shadow_map_size.is_some() { 1.0 } else { 0.0 };
        let shadows = ShadowView::fit(&bounds, &self.camera, map_texels);
        FrameData {
            clip_from_world: clip_from_world.to_cols_array_2d(),
            world_from_clip: clip_from_world.inverse().to_cols_array_2d(),
            camera_position: self.camera.position().extend(1.0).to_array(),
            to_light: sun::to_light().extend(0.0).to_array(),
            light_color: sun::COLOR.extend(0.0).to_array(),
            ground: [self.crowd.ground_height(), bounds.radius(), grid_spacing(bounds.radius()), 0.0],
            shadow_from_world: shadows.shadow_from_world.to_cols_array_2d(),
            shadow: [1.0 / map_texels as f32, shadows.texel_metres, strength, 0.0],
        }
    }
}

/// Where the crowd is seen from at first.
fn camera(crowd: &Crowd, wanted: Option<CameraArg>, aspect: f32) -> OrbitCamera {
    let Some(CameraArg { yaw_degrees, pitch_degrees, zoom }) = wanted else {
        return OrbitCamera::framing(&crowd.bounds(), aspect);
    };
    let (yaw, pitch) = (yaw_degrees.to_radians(), pitch_degrees.to_radians());
    let mut camera = OrbitCamera::framing_from(&crowd.bounds(), aspect, yaw, pitch);
    camera.zoom(zoom);
    camera
}

fn pool(threads: Option<u32>) -> Result<Arc<rayon::ThreadPool>> {
    let pool = thread_pool(threads.map(|threads| threads as usize)).context("cannot start the threads that animate")?;
    Ok(Arc::new(pool))
}

/// Spacing of the ground's fine grid: the power of ten that is a hundredth to a tenth of the crowd's radius.
fn grid_spacing(radius: f32) -> f32 {
    10f32.powf((radius.max(1e-6) / 10.0).log10().floor())
}

struct Stopwatch(Instant);

impl Stopwatch {
    fn start() -> Self {
        Self(Instant::now())
    }

    fn lap_ms(&mut self) -> f64 {
        let now = Instant::now();
        let elapsed = now - self.0;
        self.0 = now;
        elapsed.as_secs_f64() * 1e3
    }
}

/// Loads the files, or the bundled character where there is none. Warnings go to standard error.
///
/// # Errors
/// The first file that cannot be loaded, or that has no such scene.
pub fn load_models(paths: &[PathBuf], scene: &SceneArg) -> Result<Arc<[Model]>> {
    let models = if paths.is_empty() {
        vec![load_model(None, scene)?]
    } else {
        paths.iter().map(|path| load_model(Some(path), scene)).collect::<Result<Vec<_>>>()?
    };
    for model in &models {
        for warning in &model.warnings {
            tracing::warn!("{}: {warning}", model.name);
        }
    }
    Ok(models.into())
}

/// Loads one file, or the bundled character.
///
/// # Errors
/// If the file cannot be loaded, or has no such scene.
pub fn load_model(path: Option<&PathBuf>, scene: &SceneArg) -> Result<Model> {
    Ok(match path {
        None => import::load_glb_scene(BUNDLED.0, BUNDLED.1, &scene.choice())?,
        Some(path) => import::load_scene(path, &scene.choice())?,
    })
}
