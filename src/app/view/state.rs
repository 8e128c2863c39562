//! The state that a person controls: scene, clock, clip and camera. It survives the loss of the window's surface.
//!
//! In: the arguments of the command, then actions and [`Controls`]. Out: the next frame's scene and time. Nothing here knows
//! the window or the renderer.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use glam::Vec2;

use super::clock::Clock;
use super::controls::{Controls, CrowdControls, DrawingControls};
use crate::app::gpu::window_settings;
use crate::app::scene::{Scene, load_models};
use crate::cli::{CameraArg, CrowdArgs, ViewArgs};
use crate::crowd::{ClipChoice, ShownInstance};
use crate::model::Model;
use crate::view::{DebugView, Ray};
use crate::vulkan::device::Device;

/// The state.
pub struct State {
    /// The options as they are now. `None` stands for a default that depends on other options.
    pub args: ViewArgs,
    /// The scene.
    pub scene: Scene,
    /// The clock of the animation. The crowd itself plays at a speed of 1.
    pub clock: Clock,
    repeats: bool,
    /// The number of the selected instance.
    selection: Option<u32>,
    framed: Framed,
}

/// Whether the camera still frames the crowd. Until the user moves it, it follows the shape of the window.
#[derive(Clone, Copy)]
enum Framed {
    /// It does, from this direction, or from the default one.
    Yes(Option<CameraArg>),
    No,
}

impl State {
    /// Loads the models and places the crowd.
    ///
    /// # Errors
    /// A file cannot be loaded, or no model has the clip.
    pub fn new(args: &ViewArgs) -> Result<Self> {
        let mut args = args.clone();
        // The clock has the speed, so that it can change without a jump.
        let speed = std::mem::replace(&mut args.crowd.speed, 1.0);
        args.crowd.time *= speed;
        let models = load_models(&args.crowd)?;
        let mut scene = Scene::new(models, &placed(&args), args.count, args.gpu.size.aspect())?;
        scene.lod_error_pixels = args.gpu.lod_error as f32;
        let (clock, framed) = (Clock::new(args.crowd.time, speed), Framed::Yes(args.crowd.camera));
        Ok(Self { args, scene, clock, repeats: true, selection: None, framed })
    }

    /// Loads other models, or the same ones again. The caller shows the scene with [`Self::show_scene`] once a renderer has
    /// accepted it. Everything else that a person has set stays, except that a clip or joint may not exist any more.
    ///
    /// # Errors
    /// A file cannot be loaded.
    pub fn load(&self, models: Vec<PathBuf>) -> Result<(ViewArgs, Scene)> {
        let mut args = self.args.clone();
        args.crowd.models = models;
        let models = load_models(&args.crowd)?;
        let place = |args: &ViewArgs, models| {
            self.scene.with_models(models, &placed(args), args.count.instances(&args.crowd), args.gpu.size.aspect())
        };
        let scene = place(&args, Arc::clone(&models)).or_else(|_| {
            (args.crowd.clip, args.crowd.show.joint) = (ClipChoice::Index(0), None);
            place(&args, models)
        })?;
        Ok((args, scene))
    }

    /// Returns the files of the models: those that were named, and the buffers and images that they refer to.
    pub fn model_files(&self) -> Vec<PathBuf> {
        let named = self.args.crowd.models.iter();
        named.chain(self.scene.models.iter().flat_map(|model| &model.source.files)).cloned().collect()
    }

    /// Shows a loaded scene.
    pub fn show_scene(&mut self, (args, scene): (ViewArgs, Scene), aspect: f32) {
        let old = std::mem::replace(&mut self.scene, scene);
        let same_files = self.args.crowd.models == args.crowd.models;
        self.selection = self.selection.filter(|_| same_files);
        self.args = args;
        self.scene.look = old.look;
        self.scene.lod_error_pixels = old.lod_error_pixels;
        let has_joint = self.args.crowd.show.joint.is_some();
        if has_joint || old.show.view != DebugView::Heat {
            self.scene.show = old.show;
        }
        if same_files {
            self.scene.camera = old.camera;
        } else {
            self.framed = Framed::Yes(None);
        }
        self.follow_window(aspect);
    }

    /// Returns the time of the next frame.
    pub fn advance(&mut self) -> f64 {
        let before = self.clock.time_seconds();
        let after = self.clock.advance();
        let duration = self.duration_seconds();
        if !self.repeats && duration > 0.0 && !self.clock.is_paused() {
            let first = (before / duration).floor() * duration;
            if after >= first + duration {
                self.clock.stop_at(first + duration * LAST_SHARE);
            } else if after < first {
                self.clock.stop_at(first);
            }
        }
        self.clock.time_seconds()
    }

    /// Pauses, or continues. A clip that does not repeat starts again from its end.
    pub fn toggle_pause(&mut self) {
        let duration = self.duration_seconds();
        let is_at_end = self.time_in_clip(duration) >= duration * LAST_SHARE;
        if self.clock.is_paused() && !self.repeats && is_at_end && self.clock.speed() > 0.0 {
            self.clock.seek(0.0);
        }
        self.clock.toggle_pause();
    }

    /// Returns the values of the panel. The device decides those that are automatic.
    pub fn controls(&self, device: &Device) -> Controls {
        let Self { args, scene, clock, .. } = self;
        let settings = window_settings(&args.gpu, device);
        let duration_seconds = self.duration_seconds();
        let instances = args.count.instances(&args.crowd);
        Controls {
            is_paused: clock.is_paused(),
            time_seconds: self.time_in_clip(duration_seconds),
            duration_seconds,
            speed: clock.speed(),
            repeats: self.repeats,
            clip: args.crowd.clip.clone(),
            crowd: CrowdControls {
                instances,
                layout: args.crowd.layout,
                seed: args.crowd.seed,
                variety: args.crowd.settings(instances).variety,
                travel: travels(args),
            },
            view: scene.show.view,
            skeleton: scene.show.skeleton,
            joint: args.crowd.show.joint.clone(),
            look: scene.look,
            lod_error_pixels: scene.lod_error_pixels,
            drawing: DrawingControls {
                skinning: args.gpu.skinning,
                upload: args.gpu.upload,
                samples: settings.samples,
                shadows: settings.shadow_map_size.is_some(),
            },
        }
    }

    /// Applies the differences between two values of the panel, except those of [`Controls::drawing`].
    ///
    /// # Errors
    /// A crowd, a clip or a joint is not possible. All other changes were applied.
    pub fn apply(&mut self, old: &Controls, new: &Controls) -> Result<()> {
        if new.is_paused != old.is_paused {
            self.toggle_pause();
        }
        if new.speed != old.speed {
            self.clock.set_speed(new.speed);
        }
        self.repeats = new.repeats;
        if new.time_seconds != old.time_seconds {
            self.clock.seek(new.time_seconds);
        }
        (self.scene.look, self.scene.lod_error_pixels) = (new.look, new.lod_error_pixels);
        self.scene.show.skeleton = new.skeleton;
        if new.view != old.view {
            self.choose_view(new.view);
        } else if new.joint != old.joint {
            self.scene.show_joint(new.joint.as_deref())?;
            self.args.crowd.show.joint.clone_from(&new.joint);
        }
        if new.clip != old.clip {
            self.choose_clip(new.clip.clone());
        }
        if new.crowd != old.crowd { self.place(&old.crowd, &new.crowd) } else { Ok(()) }
    }

    fn place(&mut self, old: &CrowdControls, new: &CrowdControls) -> Result<()> {
        let mut args = self.args.clone();
        (args.count.instances, args.crowd.layout, args.crowd.seed) = (Some(new.instances), new.layout, new.seed);
        if new.variety != old.variety {
            args.crowd.variety = Some(f64::from(new.variety));
        }
        if new.travel != old.travel {
            args.crowd.travel = Some(new.travel);
        }
        self.scene.place(&placed(&args).settings(new.instances))?;
        // The instances have new numbers.
        self.selection = None;
        self.args = args;
        Ok(())
    }

    /// Returns the length of the longest clip that is played, in seconds; 0 if nothing moves.
    pub fn duration_seconds(&self) -> f64 {
        let longest = |model: &Model| {
            let clips = &model.clips;
            let duration = |index: usize| clips.get(index).or(clips.first()).map(|clip| clip.duration_seconds);
            match &self.args.crowd.clip {
                ClipChoice::None => None,
                ClipChoice::All => clips.iter().map(|clip| clip.duration_seconds).max_by(f32::total_cmp),
                ClipChoice::Index(index) => duration(*index),
                ClipChoice::Name(name) => {
                    duration(clips.iter().position(|clip| clip.name.as_ref() == Some(name)).unwrap_or(0))
                }
            }
        };
        f64::from(self.scene.models.iter().filter_map(longest).fold(0.0, f32::max))
    }

    fn time_in_clip(&self, duration_seconds: f64) -> f64 {
        if duration_seconds > 0.0 { self.clock.time_seconds().rem_euclid(duration_seconds) } else { 0.0 }
    }

    /// Chooses the clip before or after the present one.
    pub fn step_clip(&mut self, step: isize) {
        let count = self.scene.models.iter().map(|model| model.clips.len()).max().unwrap_or(0);
        let now = match &self.args.crowd.clip {
            ClipChoice::Index(index) => *index as isize,
            ClipChoice::Name(name) => {
                let mut names = self.scene.models.iter().flat_map(|model| model.clips.iter().enumerate());
                names.find(|(_, clip)| clip.name.as_ref() == Some(name)).map_or(0, |(index, _)| index as isize)
            }
            // From the mix or the rest pose the step leads to the first clip or to the last one.
            ClipChoice::All | ClipChoice::None => -isize::from(step > 0),
        };
        if count > 0 {
            self.choose_clip(ClipChoice::Index((now + step).rem_euclid(count as isize) as usize));
        }
    }

    /// Plays a clip, and blends into it unless the animation is paused. A number without a clip changes nothing.
    pub fn choose_clip(&mut self, choice: ClipChoice) {
        // In seconds of animation, as the crowd counts them.
        let fade_seconds = if self.clock.is_paused() { 0.0 } else { self.args.fade * self.clock.speed().abs() };
        if self.scene.crowd.crossfade(&choice, self.clock.time_seconds(), fade_seconds).is_ok() {
            self.args.crowd.clip = choice;
        }
    }

    fn choose_view(&mut self, view: DebugView) {
        self.scene.show.view = view;
        self.args.crowd.show.joint = None;
    }

    /// Shows the next debug view that `is_supported`.
    pub fn show_next_view(&mut self, mut is_supported: impl FnMut(&Self) -> bool) {
        for _ in DebugView::ALL {
            self.choose_view(self.scene.show.view.next());
            if is_supported(self) {
                return;
            }
        }
    }

    /// Points the camera at the selected character, or otherwise at the crowd from the front.
    pub fn focus_or_frame(&mut self, aspect: f32) {
        if !self.focus(aspect) {
            self.frame_crowd(aspect);
        }
    }

    /// Points the camera at the crowd from the front.
    pub fn frame_crowd(&mut self, aspect: f32) {
        self.framed = Framed::Yes(None);
        self.follow_window(aspect);
    }

    /// Points the camera at the crowd as it was at first.
    pub fn reset_camera(&mut self, aspect: f32) {
        self.framed = Framed::Yes(self.args.crowd.camera);
        self.follow_window(aspect);
    }

    /// Frames the crowd in a window of another shape, unless the user has moved the camera.
    pub fn follow_window(&mut self, aspect: f32) {
        if let Framed::Yes(direction) = self.framed {
            self.scene.frame(direction, self.clock.time_seconds(), aspect);
        }
    }

    /// Selects the character at a point of the image ([`Ray::through`]) and focuses the camera on it. Without a character
    /// there, nothing is selected.
    pub fn select(&mut self, point: Vec2, aspect: f32) {
        let ray = Ray::through(&self.scene.camera, aspect, point);
        let picked = self.scene.crowd.pick(&ray, self.clock.time_seconds());
        self.selection = picked.map(|picked| picked.instance);
        self.focus(aspect);
    }

    /// Points the camera at the selected character, from the present direction. Returns false if there is none.
    pub fn focus(&mut self, aspect: f32) -> bool {
        let Some(shown) = self.selected() else { return false };
        let sphere = self.scene.crowd.posed_sphere(shown.number, self.clock.time_seconds());
        let (center, radius) = sphere.unwrap_or((shown.center_world, shown.radius));
        self.scene.camera.focus_on(center, radius, aspect);
        self.camera_was_moved();
        true
    }

    /// Returns the selected character, if there is one.
    pub fn selected(&self) -> Option<ShownInstance> {
        self.scene.crowd.shown_instance(self.selection?, self.clock.time_seconds())
    }

    /// Selects nothing.
    pub fn deselect(&mut self) {
        self.selection = None;
    }

    /// Comes closer to a point of the image ([`Ray::through`]), by this many lines of a wheel.
    pub fn zoom(&mut self, point: Vec2, aspect: f32, lines: f32) {
        const FACTOR_PER_LINE: f32 = 0.9;
        self.scene.zoom_at(point, aspect, FACTOR_PER_LINE.powf(lines), self.clock.time_seconds());
        self.camera_was_moved();
    }

    /// Notes that the user has moved the camera, which then stays where it is.
    pub fn camera_was_moved(&mut self) {
        self.framed = Framed::No;
    }
}

/// The share of a clip at which a clip that does not repeat stops. At its very end it would start again.
const LAST_SHARE: f64 = 1.0 - 1e-5;

/// Returns the options of the crowd, with the values of those that were not given.
fn placed(args: &ViewArgs) -> CrowdArgs {
    CrowdArgs { travel: Some(travels(args)), ..args.crowd.clone() }
}

/// Returns whether instances that walk go somewhere.
fn travels(args: &ViewArgs) -> bool {
    /// A smaller crowd would be lost on a ring that is large enough for feet that do not slide.
    const LEAST_TO_TRAVEL: u32 = 24;
    args.crowd.travel.unwrap_or(args.count.instances(&args.crowd) >= LEAST_TO_TRAVEL)
}
