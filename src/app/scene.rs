//! A scene: models, crowd, camera and threads, from the command line's options. `view`, `render` and `bench` share it.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};

use super::joint::nodes_of_joint;
use crate::animation::{Stage, apply_bind_pose};
use crate::cli::{CameraArg, CrowdArgs, CrowdSizeArgs, FileSceneArgs, ShowArgs};
use crate::crowd::{Crowd, thread_pool};
use crate::model::{Model, import};
use crate::renderer::{CpuTimes, FrameOutcome, Renderer, Shot};
use crate::view::{DebugView, Frustum, Look, OrbitCamera, Show};

/// The bundled character.
const BUNDLED: (&str, &[u8]) = ("walker.glb", include_bytes!("../../assets/walker.glb"));

/// A scene.
pub struct Scene {
    /// The models, by index in the crowd.
    pub models: Arc<[Model]>,
    /// The instances.
    pub crowd: Crowd,
    /// The camera, which frames the crowd at first.
    pub camera: OrbitCamera,
    /// Background, ground, exposure and sun.
    pub look: Look,
    /// Debug view and skeleton.
    pub show: Show,
    /// The node of each model whose weights are shown, if `--joint` names one.
    joint_nodes: Vec<Option<u32>>,
    pool: Arc<rayon::ThreadPool>,
    cull: bool,
}

impl Scene {
    /// Loads the models and places the crowd.
    ///
    /// # Errors
    /// A file cannot be loaded, or no model has the clip.
    pub fn load(args: &CrowdArgs, size: CrowdSizeArgs, aspect: f32) -> Result<Self> {
        Self::new(load_models(args)?, args, size, aspect)
    }

    /// Places a crowd of loaded models.
    ///
    /// # Errors
    /// No model has the clip.
    pub fn new(models: Arc<[Model]>, args: &CrowdArgs, size: CrowdSizeArgs, aspect: f32) -> Result<Self> {
        let crowd = Crowd::new(Arc::clone(&models), &args.settings(size.instances))?;
        for note in crowd.notes() {
            tracing::warn!("{note}");
        }
        let camera = camera(&crowd, args.camera, aspect);
        let pool = pool(size.threads)?;
        let (joint_nodes, view) = match &args.show.joint {
            Some(joint) => (nodes_of_joint(&models, joint)?, DebugView::Heat),
            None => (vec![None; models.len()], args.show.debug_view),
        };
        let look = args.look.look();
        let show = Show { view, skeleton: args.show.skeleton };
        let stage_has_ground = args.show.stage == Stage::World;
        let look = Look { ground: args.look.ground.unwrap_or(look.ground && stage_has_ground), ..look };
        Ok(Self { models, crowd, camera, look, show, joint_nodes, pool, cull: args.cull })
    }

    /// Resets the camera so that it frames the crowd in an image of another shape.
    pub fn frame(&mut self, args: &CrowdArgs, aspect: f32) {
        self.camera = camera(&self.crowd, args.camera, aspect);
    }

    /// Changes the number of threads that animate. The calling thread is one of them, unless it belongs to another pool.
    ///
    /// # Errors
    /// The system cannot start the threads.
    pub fn set_threads(&mut self, threads: u32) -> Result<()> {
        self.pool = pool(Some(threads))?;
        Ok(())
    }

    /// Draws a frame at a time.
    ///
    /// # Errors
    /// Device lost, no memory, or a limit of the device.
    pub fn draw(
        &mut self,
        renderer: &mut Renderer,
        time_seconds: f64,
        aspect: f32,
        capture: bool,
    ) -> Result<(FrameOutcome, CpuTimes)> {
        let Self { camera, look, show, cull, .. } = *self;
        let shot = Shot { camera, look, show, aspect, cull, time_seconds: Some(time_seconds), capture };
        renderer.show_nodes(&self.joint_nodes);
        Ok(renderer.draw(&mut self.crowd, &self.pool, &shot)?)
    }

    /// Draws a frame whose joint matrices are stored but not evaluated. Its time is the part of animation that memory takes.
    ///
    /// # Errors
    /// The errors of [`Self::draw`].
    pub fn draw_only_stored(&mut self, renderer: &mut Renderer, aspect: f32) -> Result<CpuTimes> {
        let Self { camera, look, show, cull, .. } = *self;
        let shot = Shot { camera, look, show, aspect, cull, time_seconds: None, capture: false };
        renderer.show_nodes(&self.joint_nodes);
        let (_, times) = renderer.draw(&mut self.crowd, &self.pool, &shot)?;
        Ok(times)
    }

    /// Returns the numbers of instances and poses of each model that a frame draws, as the camera stands.
    pub fn visible_counts(&mut self, aspect: f32, shadows: bool) -> (&[u32], &[u32]) {
        let frustum = self.cull.then(|| Frustum::from_clip_from_world(self.camera.clip_from_world(aspect)));
        self.crowd.cull(frustum.as_ref(), shadows.then(|| self.look.sun.to_light()));
        (self.crowd.visible_counts(), self.crowd.pose_counts())
    }
}

/// Returns the first camera.
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

/// Loads the files, or the bundled character if there are none, as the options show them. Warnings go to standard error.
///
/// # Errors
/// A file cannot be loaded, or has no such scene.
pub fn load_models(args: &CrowdArgs) -> Result<Arc<[Model]>> {
    let CrowdArgs { models: paths, file_scene, show, .. } = args;
    let mut models = if paths.is_empty() {
        vec![load_model(None, file_scene)?]
    } else {
        paths.iter().map(|path| load_model(Some(path), file_scene)).collect::<Result<Vec<_>>>()?
    };
    models.iter_mut().for_each(|model| apply(show, model));
    for model in &models {
        for warning in &model.warnings {
            tracing::warn!("{}: {warning}", model.name);
        }
    }
    Ok(models.into())
}

/// Changes a model so that it stops at the stage of `--stage`, or stays in the bind pose.
pub fn apply(show: &ShowArgs, model: &mut Model) {
    if show.bind_pose {
        apply_bind_pose(model);
    }
    show.stage.apply(model);
}

/// Loads one file, or the bundled character.
///
/// # Errors
/// The file cannot be loaded, or has no such scene.
pub fn load_model(path: Option<&PathBuf>, file_scene: &FileSceneArgs) -> Result<Model> {
    Ok(match path {
        None => import::load_glb_scene(BUNDLED.0, BUNDLED.1, &file_scene.choice())?,
        Some(path) => import::load_scene(path, &file_scene.choice())?,
    })
}
