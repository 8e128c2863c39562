//! A scene: models, crowd, camera and threads, from the command line's options. `view`, `render` and `bench` share it.

use std::sync::Arc;

use anyhow::{Context, Result};
use glam::Vec2;

use super::aim::{Aim, Shows};
use super::joint::nodes_of_joint;
use super::models::load_models;
use super::morphs::hold_morph;
use crate::cli::{CrowdArgs, CrowdSizeArgs, GpuArgs, RenderArgs, Size};
use crate::crowd::{Crowd, thread_pool};
use crate::extras::{DebugView, Equipped, Show};
use crate::model::Model;
use crate::renderer::{FrameOutcome, Shot, StageTimes};
use crate::view::{Detail, Frustum, Look, OrbitCamera, Outline, Ray};

#[derive(Debug, Clone, Copy)]
pub struct SceneOptions<'a> {
    pub crowd: &'a CrowdArgs,
    pub count: CrowdSizeArgs,
    /// The size of the image that the camera frames the crowd for.
    pub size: Size,
    /// The largest error of a level of detail in pixels.
    pub lod_error: f64,
}

impl<'a> From<&'a RenderArgs> for SceneOptions<'a> {
    fn from(args: &'a RenderArgs) -> Self {
        Self::new(&args.crowd, args.count, &args.gpu)
    }
}

impl<'a> SceneOptions<'a> {
    pub fn new(crowd: &'a CrowdArgs, count: CrowdSizeArgs, gpu: &GpuArgs) -> Self {
        Self { crowd, count, size: gpu.size, lod_error: gpu.lod_error }
    }
}

pub struct Scene {
    /// The models, by index in the crowd.
    pub models: Arc<[Model]>,
    pub crowd: Crowd,
    /// The camera, which frames the crowd at first.
    pub camera: OrbitCamera,
    pub aim: Aim,
    pub look: Look,
    pub show: Show,
    /// The largest error of a level of detail in pixels. It may change between frames.
    pub lod_error_pixels: f32,
    /// The threads that animate. The calling thread is one of them, unless it belongs to another pool.
    pub pool: Arc<rayon::ThreadPool>,
    cull: bool,
}

impl Scene {
    pub fn load(options: SceneOptions) -> Result<Self> {
        Self::new(load_models(options.crowd)?, options)
    }

    pub fn new(models: Arc<[Model]>, options: SceneOptions) -> Result<Self> {
        Self::with_threads(pool(options.count.threads)?, models, options)
    }

    /// Places a crowd of other models, with the threads of this scene. The calling thread cannot become a part of other ones.
    pub fn with_models(&self, models: Arc<[Model]>, options: SceneOptions) -> Result<Self> {
        Self::with_threads(Arc::clone(&self.pool), models, options)
    }

    fn with_threads(pool: Arc<rayon::ThreadPool>, models: Arc<[Model]>, options: SceneOptions) -> Result<Self> {
        let SceneOptions { crowd: args, count, size, lod_error } = options;
        let mut crowd = Crowd::new(Arc::clone(&models), &args.settings(count.instances(&models), models.len()))?;
        for note in crowd.notes() {
            tracing::warn!("{note}");
        }
        crowd.move_to(args.time);
        let aim = Aim::new(&models, &args.camera)?;
        let camera = aim.camera(Shows::Asked, &crowd, &crowd.outline(args.time), args.time, size.aspect());
        let show = Show { view: args.show.debug_view, bones: args.show.skeleton, ..Show::default() };
        let (mut look, lod_error_pixels, cull) = (args.look(), lod_error as f32, args.cull);
        // The default sun shines on the front.
        if args.look.sun.is_none() && aim.front_radians > 0.0 {
            look.sun.azimuth_degrees += 180.0;
        }
        let mut scene = Self { models, crowd, camera, aim, look, show, lod_error_pixels, pool, cull };
        if args.show.joint.is_some() {
            scene.show_joint(args.show.joint.as_deref())?;
        }
        Ok(scene)
    }

    /// Shows the weights of a joint, by name or by its glTF node index, or the view without a joint.
    ///
    /// # Errors
    /// No model has such a joint. The scene is then unchanged.
    pub fn show_joint(&mut self, joint: Option<&str>) -> Result<()> {
        self.show.joint_nodes = match joint {
            Some(joint) => nodes_of_joint(&self.models, "--joint", joint)?.into(),
            None => Arc::default(),
        };
        self.show.view = if joint.is_some() { DebugView::Heat } else { DebugView::Lit };
        Ok(())
    }

    /// Resets the camera so that it shows the crowd, as it is posed at a time, in an image of a shape.
    pub fn frame(&mut self, shows: Shows, time_seconds: f64, aspect: f32) {
        self.crowd.move_to(time_seconds);
        let outline = self.crowd.outline(time_seconds);
        self.camera = self.aim.camera(shows, &self.crowd, &outline, time_seconds, aspect);
    }

    /// Does as [`Self::frame`], for all times of the clips of a small crowd.
    pub fn frame_clips(&mut self, shows: Shows, time_seconds: f64, aspect: f32) {
        const TIMES: usize = 8;
        const MOST_VERTICES: usize = 500_000;
        let of_one = self.models.iter().map(|model| model.geometry.vertex_count()).max().unwrap_or(0);
        let times = (MOST_VERTICES / (of_one * self.crowd.instance_count()).max(1)).clamp(1, TIMES);
        let loop_seconds = self.crowd.loop_seconds().unwrap_or(0.0);
        let outlines = (0..times).map(|step| {
            let time_seconds = time_seconds + loop_seconds * step as f64 / times as f64;
            self.crowd.move_to(time_seconds);
            self.crowd.outline(time_seconds)
        });
        let Some(outline) = outlines.reduce(Outline::and) else { return };
        self.crowd.move_to(time_seconds);
        self.camera = self.aim.camera(shows, &self.crowd, &outline, time_seconds, aspect);
    }

    /// Returns the time of a still: `time_seconds`, unless nothing is in the image then and the person has not chosen it. Says so,
    /// or that there is nothing at any time.
    pub fn time_with_something(&mut self, time_seconds: f64, aspect: f32) -> f64 {
        const STEPS: u32 = 32;
        let is_seen = |scene: &Self, time_seconds| scene.crowd.is_in_image(&scene.camera, aspect, time_seconds);
        if is_seen(self, time_seconds) {
            return time_seconds;
        }
        let loop_seconds = self.crowd.loop_seconds().filter(|_| time_seconds == 0.0);
        for time in (1..STEPS).filter_map(|step| Some(loop_seconds? * f64::from(step) / f64::from(STEPS))) {
            self.frame(Shows::Asked, time, aspect);
            if is_seen(self, time) {
                tracing::warn!("nothing is in the image at {time_seconds} s; the picture shows {time:.2} s");
                return time;
            }
        }
        self.frame(Shows::Asked, time_seconds, aspect);
        let has_size = self.crowd.bounds().radius() > 0.0;
        tracing::warn!(
            "nothing is in the image: {}",
            if has_size {
                "all surfaces face away from the camera, or it looks past them; try --view back"
            } else {
                "the model has no size at any time of its clip"
            }
        );
        time_seconds
    }

    /// Resets the camera so that the crowd stays in the image in all its clips and, if `all_around`, while the camera orbits.
    pub fn frame_throughout(&mut self, time_seconds: f64, all_around: bool, aspect: f32) {
        let room = self.crowd.bounds();
        let outline = Outline::from(if all_around { room.swept_around() } else { room });
        self.camera = self.aim.camera(Shows::Asked, &self.crowd, &outline, time_seconds, aspect);
        if self.aim.target.is_some() {
            return;
        }
        // Around a point next to the axis the crowd would swing from side to side.
        let to_axis = (room.center() - self.camera.position()).with_y(0.0).length();
        self.camera.refocus(to_axis / self.camera.forward().with_y(0.0).length());
    }

    /// Moves the camera with the joint that it looks at, or with the node of the file that carries it.
    pub fn follow(&mut self, time_seconds: f64) {
        self.crowd.move_to(time_seconds);
        self.aim.follow(&mut self.camera, &self.crowd, time_seconds);
    }

    /// Does as [`hold_morph`], while the crowd is shown.
    pub fn hold_morph(&mut self, name: &str, weight: Option<f32>) {
        // Otherwise the crowd would have to copy the models.
        drop(std::mem::take(&mut self.models));
        self.crowd.hold_morphs(|models| {
            hold_morph(models, name, weight);
        });
        self.models = Arc::clone(self.crowd.models());
    }

    /// Zooms towards the character or the ground at a point of the image ([`Ray::through`]), which stays there. A factor below
    /// 1 comes closer.
    pub fn zoom_at(&mut self, point: Vec2, aspect: f32, factor: f32, time_seconds: f64) {
        self.crowd.move_to(time_seconds);
        let Self { camera, crowd, .. } = self;
        let Ray { origin, direction } = Ray::through(camera, aspect, point);
        let depth = crowd.distance_along(origin, direction, time_seconds);
        // A ray that meets nothing ends as far away as the target.
        camera.zoom_towards(origin + direction * depth.unwrap_or(camera.distance), factor);
    }

    pub fn draw(
        &mut self,
        renderer: &mut Equipped,
        time_seconds: f64,
        capture: bool,
    ) -> Result<(FrameOutcome, StageTimes)> {
        self.draw_shot(renderer, &self.shot(time_seconds, capture))
    }

    /// Draws one frame of a sequence. Returns its pixels: RGBA, eight bits each, the top row first, alpha not multiplied into the
    /// colours.
    pub fn draw_picture<'a>(&mut self, renderer: &'a mut Equipped, time_seconds: f64, fps: f64) -> Result<&'a [u8]> {
        if self.show.needs_frame_before() {
            // The frame before, also if it is not part of the sequence or belongs to another machine.
            self.draw(renderer, time_seconds - fps.recip(), false)?;
        }
        self.draw(renderer, time_seconds, true)?;
        Ok(renderer.wait_for_pixels()?)
    }

    pub fn draw_shot(&mut self, renderer: &mut Equipped, shot: &Shot) -> Result<(FrameOutcome, StageTimes)> {
        Ok(renderer.draw(&mut self.crowd, &self.pool, shot, &self.show)?)
    }

    pub fn shot(&self, time_seconds: f64, capture: bool) -> Shot {
        let Self { camera, look, lod_error_pixels, cull, .. } = *self;
        Shot { camera, look, lod_error_pixels, cull, time_seconds, capture }
    }

    /// Returns the numbers of instances and poses of each model that a frame draws, as the camera stands.
    pub fn visible_counts(&mut self, aspect: f32, shadows: bool) -> (&[u32], &[u32]) {
        let frustum = self.cull.then(|| Frustum::from_clip_from_world(self.camera.clip_from_world(aspect)));
        self.crowd.cull(Some(&self.pool), frustum.as_ref(), shadows.then(|| self.look.sun.to_light()), &Detail::FULL);
        (self.crowd.visible_counts(), self.crowd.pose_counts())
    }
}

/// Returns a pool of threads that animate, by default one for each core.
pub fn pool(threads: Option<u32>) -> Result<Arc<rayon::ThreadPool>> {
    let pool = thread_pool(threads.map(|threads| threads as usize)).context("cannot start the threads that animate")?;
    Ok(Arc::new(pool))
}
