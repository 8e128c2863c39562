//! The state that a person controls: scene, clock, clip and camera. It survives the loss of the window's surface.
//!
//! In: the arguments of the command, then the actions of keys, mouse and panel. Out: the next frame's scene and time. Nothing
//! here knows the window or the renderer.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use glam::Vec2;

use super::clock::Clock;
use super::moves::Moves;
use crate::app::aim::Shows;
use crate::app::hide::NONE;
use crate::app::inspect::odd;
use crate::app::models::load_models;
use crate::app::scene::{Scene, SceneOptions};
use crate::cli::files::named_files;
use crate::cli::{CameraArgs, CrowdArgs, MorphArg, Size, ViewArgs};
use crate::crowd::{ClipChoice, Crowd, CrowdSettings, Layout, ShownInstance};
use crate::extras::DebugView;
use crate::model::{Clip, Model};
use crate::renderer::ShaderOverride;
use crate::retarget::NoFit;
use crate::view::{OrbitCamera, Ray};

pub struct State {
    /// The options as they are now. `None` stands for a default that depends on other options.
    pub args: ViewArgs,
    pub scene: Scene,
    /// What an artist asks about its models first, in lines.
    pub facts: Vec<String>,
    /// The clock of the animation. The crowd itself plays at a speed of 1.
    pub clock: Clock,
    /// The shaders that `--watch` has compiled.
    pub shaders: Vec<ShaderOverride>,
    /// Whether the clip starts again at its end. Otherwise the animation pauses there.
    pub repeats: bool,
    aspect: f32,
    /// The share of the window's width that the panel covers, from the left.
    covered: f32,
    /// The number of the selected instance.
    selection: Option<u32>,
    /// What the camera frames. Until the user moves it, it follows the shape of the window.
    framed: Option<Shows>,
    moves: Moves,
}

/// The settings of a crowd. A change places all instances again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CrowdControls {
    pub instances: u32,
    pub layout: Layout,
    pub seed: u64,
    /// How much instances differ, 0 to 1.
    pub variety: f32,
    pub travel: bool,
}

impl State {
    pub fn new(args: &ViewArgs) -> Result<Self> {
        let mut args = args.clone();
        // The clock has the speed, so that it can change without a jump.
        let speed = std::mem::replace(&mut args.crowd.speed, 1.0);
        args.crowd.time *= speed;
        let models = load_models(&args.crowd)?;
        let scene = Scene::new(models, SceneOptions::new(&placed(&args), args.count, &args.gpu))?;
        let (clock, framed) = (Clock::new(args.crowd.time, speed), Some(Shows::Asked));
        let aspect = args.gpu.size.aspect();
        let (shaders, repeats, covered, selection) = (Vec::new(), true, 0.0, None);
        let moves = Moves::new(scene.camera);
        let facts = odd::lines(&scene.models);
        let mut state = Self { args, scene, facts, clock, shaders, repeats, aspect, covered, selection, framed, moves };
        state.frame();
        Ok(state)
    }

    /// Loads other models, or the same ones again, with the clips of these files. The caller shows the scene with
    /// [`Self::show_scene`] once a renderer has accepted it. Everything else that a person has set stays, except that a clip,
    /// a joint or a camera may not exist any more, and that other models have other morph targets. Added clips that do not
    /// fit other models are no longer added.
    pub fn load(&self, models: Vec<PathBuf>, clips: Vec<PathBuf>) -> Result<(ViewArgs, Scene)> {
        let mut args = self.args.clone();
        if args.crowd.models != models {
            // Other models have other targets and parts.
            args.crowd.morphs.clear();
            args.crowd.hide.retain(|pattern| pattern == NONE);
        }
        (args.crowd.models, args.crowd.clips.files) = (models, clips);
        let adds_clips = args.crowd.clips.files != self.args.crowd.clips.files;
        let models = load_models(&args.crowd).or_else(|error| {
            if adds_clips || !error.is::<NoFit>() {
                return Err(error);
            }
            args.crowd.clips.files.clear();
            load_models(&args.crowd)
        })?;
        let place = |args: &ViewArgs, models| {
            self.scene.with_models(models, SceneOptions::new(&placed(args), args.count, &args.gpu))
        };
        let scene = place(&args, Arc::clone(&models)).or_else(|_| {
            (args.crowd.clip, args.crowd.show.joint) = (ClipChoice::Auto, None);
            args.crowd.camera = CameraArgs::default();
            place(&args, models)
        })?;
        Ok((args, scene))
    }

    /// Returns the files of the models: those that were named, and the buffers and images that they refer to.
    pub fn model_files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = named_files(&self.args.crowd.models).into_iter().map(|(path, _)| path).collect();
        files.extend_from_slice(&self.args.crowd.clips.files);
        files.extend(self.scene.models.iter().flat_map(|model| &model.source.files).cloned());
        files
    }

    pub fn show_scene(&mut self, args: ViewArgs, scene: Scene) {
        let old = std::mem::replace(&mut self.scene, scene);
        let same_files = self.args.crowd.models == args.crowd.models;
        self.selection = self.selection.filter(|_| same_files);
        self.args = args;
        self.facts = odd::lines(&self.scene.models);
        self.scene.look = old.look;
        self.scene.lod_error_pixels = old.lod_error_pixels;
        let has_joint = self.args.crowd.show.joint.is_some();
        if has_joint || old.show.view != DebugView::Heat {
            (self.scene.show.view, self.scene.show.bones) = (old.show.view, old.show.bones);
        }
        if same_files {
            self.scene.camera = old.camera;
            self.frame();
        } else {
            self.framed = Some(Shows::Crowd);
            self.frame();
            self.moves = Moves::new(self.scene.camera);
        }
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
        let is_at_end = self.time_in_clip() >= self.duration_seconds() * LAST_SHARE;
        if self.clock.is_paused() && !self.repeats && is_at_end && self.clock.speed() > 0.0 {
            self.clock.seek(0.0);
        }
        self.clock.toggle_pause();
    }

    pub fn crowd_controls(&self) -> CrowdControls {
        let args = &self.args.crowd;
        let instances = self.scene.crowd.instance_count() as u32;
        let CrowdSettings { layout, variety, seed, .. } = args.settings(instances, self.scene.models.len());
        CrowdControls { instances, layout, seed, variety, travel: travels(&self.args) }
    }

    /// Places the crowd again.
    ///
    /// # Errors
    /// The crowd is not possible. The present one stays.
    pub fn place(&mut self, new: &CrowdControls) -> Result<()> {
        let old = self.crowd_controls();
        let mut args = self.args.clone();
        (args.count.instances, args.crowd.seed) = (Some(new.instances), new.seed);
        // The defaults of the others depend on the number, so they stay as long as nobody changes them.
        args.crowd.layout = (new.layout != old.layout).then_some(new.layout).or(args.crowd.layout);
        args.crowd.variety = (new.variety != old.variety).then_some(new.variety.into()).or(args.crowd.variety);
        args.crowd.travel = (new.travel != old.travel).then_some(new.travel).or(args.crowd.travel);
        let models = Arc::clone(&self.scene.models);
        let settings = placed(&args).settings(new.instances, models.len());
        self.scene.crowd = Crowd::new(models, &settings)?;
        // The instances have new numbers.
        self.selection = None;
        self.args = args;
        self.frame();
        Ok(())
    }

    /// Returns the longest clip that is played, and the index of its model.
    fn longest_clip(&self) -> Option<(usize, &Clip)> {
        let played = |model: &'_ Model| match &self.args.crowd.clip {
            ClipChoice::None => 0..0,
            ClipChoice::All => 0..model.clips.len(),
            choice => choice.index_in(model).map_or(0..1, |index| index..index + 1),
        };
        let models = self.scene.models.iter().enumerate();
        let clips = models
            .flat_map(|(at, model)| model.clips.get(played(model)).into_iter().flatten().map(move |clip| (at, clip)));
        clips.max_by(|(_, a), (_, b)| a.duration_seconds.total_cmp(&b.duration_seconds))
    }

    /// Returns the length of the longest clip that is played, in seconds; 0 if nothing moves.
    pub fn duration_seconds(&self) -> f64 {
        self.longest_clip().map_or(0.0, |(_, clip)| clip.duration_seconds.max(0.0).into())
    }

    /// Iterates over the times of the keys of that clip, in seconds and in no order: of the joint whose weights are shown, or
    /// else of everything.
    pub fn key_times(&self) -> impl Iterator<Item = f32> {
        self.longest_clip().into_iter().flat_map(|(model, clip)| {
            let joint = self.scene.show.joint_nodes.get(model).copied().flatten();
            let of_nodes = clip.node_tracks().filter(move |track| joint.is_none_or(|joint| joint == track.node));
            let of_morphs = clip.morph_weights.iter().filter(move |_| joint.is_none()).map(|track| track.timeline);
            let timelines: BTreeSet<u32> = of_nodes.map(|track| track.timeline).chain(of_morphs).collect();
            timelines.into_iter().filter_map(|timeline| clip.timelines.get(timeline as usize)).flatten().copied()
        })
    }

    /// Pauses at the next key, or at the one before.
    pub fn step_key(&mut self, forward: bool) {
        /// Times nearer than this are the same.
        const SAME_SECONDS: f64 = 1e-4;
        let now = self.time_in_clip();
        let times = self.key_times().map(f64::from);
        let key = if forward {
            times.filter(|time| *time > now + SAME_SECONDS).min_by(f64::total_cmp)
        } else {
            times.filter(|time| *time < now - SAME_SECONDS).max_by(f64::total_cmp)
        };
        if let Some(key) = key {
            self.clock.stop_at(key);
        }
    }

    /// Returns whether the next frame differs from this one although nobody does anything.
    pub fn is_moving(&self) -> bool {
        let is_animated = self.duration_seconds() > 0.0 || self.scene.crowd.is_fading(self.clock.time_seconds());
        is_animated && !self.clock.is_paused() && self.clock.speed() != 0.0
    }

    /// Returns the time in the longest clip that is played.
    pub fn time_in_clip(&self) -> f64 {
        let duration_seconds = self.duration_seconds();
        if duration_seconds > 0.0 { self.clock.time_seconds().rem_euclid(duration_seconds) } else { 0.0 }
    }

    /// Chooses the clip before or after the present one.
    pub fn step_clip(&mut self, step: isize) {
        let models = &self.scene.models;
        let count = models.iter().map(|model| model.clips.len()).max().unwrap_or(0);
        let now = models.iter().find_map(|model| self.args.crowd.clip.index_in(model));
        // From the mix or the rest pose the step leads to the first clip or to the last one.
        let now = now.map_or(-isize::from(step > 0), |index| index as isize);
        if count > 0 {
            self.choose_clip(ClipChoice::Index((now + step).rem_euclid(count as isize) as usize));
        }
    }

    pub fn clip_name(&self) -> String {
        match &self.args.crowd.clip {
            ClipChoice::None => "rest pose".to_owned(),
            ClipChoice::All => "all clips".to_owned(),
            ClipChoice::Name(name) => name.clone(),
            choice => {
                let clip =
                    |model: &Model| choice.index_in(model).and_then(|at| Some(clip_name(at, model.clips.get(at)?)));
                self.scene.models.iter().find_map(clip).unwrap_or_default()
            }
        }
    }

    /// Plays a clip, and blends into it unless the animation is paused. A number without a clip changes nothing.
    pub fn choose_clip(&mut self, choice: ClipChoice) {
        // In seconds of animation, as the crowd counts them.
        let fade_seconds = if self.clock.is_paused() { 0.0 } else { self.args.fade * self.clock.speed().abs() };
        if self.scene.crowd.crossfade(&choice, self.clock.time_seconds(), fade_seconds).is_ok() {
            self.args.crowd.clip = choice;
            if let Some(shows) = self.framed {
                self.frame_crowd(shows);
            }
        }
    }

    /// Shows a debug view. A joint's weights are then hidden.
    pub fn choose_view(&mut self, view: DebugView) {
        self.scene.show.view = view;
        self.args.crowd.show.joint = None;
    }

    /// Shows the weights of a joint, or no weights.
    ///
    /// # Errors
    /// No model has such a joint. The present view stays.
    pub fn show_joint(&mut self, joint: Option<String>) -> Result<()> {
        self.scene.show_joint(joint.as_deref())?;
        self.args.crowd.show.joint = joint;
        Ok(())
    }

    pub fn hold_morph(&mut self, name: &str, weight: Option<f32>) {
        self.scene.hold_morph(name, weight);
        let morphs = &mut self.args.crowd.morphs;
        morphs.retain(|morph| morph.name != name);
        morphs.extend(weight.map(|weight| MorphArg { name: name.to_owned(), weight }));
    }

    /// Points the camera at the crowd, or at what the options ask for.
    pub fn frame_crowd(&mut self, shows: Shows) {
        self.moves.jump(Instant::now());
        let before = self.scene.camera;
        self.framed = Some(shows);
        self.frame();
        self.moves.placed(before);
    }

    /// Notes the window's shape, and the panel's share of its width. The crowd stays framed unless the user moved the camera.
    pub fn follow_window(&mut self, size: Size, covered: f32) {
        if (self.aspect, self.covered) != (size.aspect(), covered) {
            (self.aspect, self.covered) = (size.aspect(), covered);
            self.frame();
        }
    }

    /// Returns the width over the height of the part of the window beside the panel.
    fn free_aspect(&self) -> f32 {
        self.aspect * (1.0 - self.covered)
    }

    fn frame(&mut self) {
        if let Some(shows) = self.framed {
            self.scene.frame_clips(shows, self.clock.time_seconds(), self.free_aspect());
            self.scene.camera.target_x = self.covered;
            self.moves.placed(self.scene.camera);
        }
    }

    /// Selects the character at a point of the image ([`Ray::through`]). Without a character there, nothing is selected.
    pub fn select(&mut self, point: Vec2) {
        let ray = Ray::through(&self.scene.camera, self.aspect, point);
        let picked = self.scene.crowd.pick(&ray, self.clock.time_seconds());
        self.selection = picked.map(|picked| picked.instance);
    }

    /// Points the camera at the selected character, from the present direction. Returns false if there is none.
    pub fn focus(&mut self) -> bool {
        let Some(shown) = self.selected() else { return false };
        let sphere = self.scene.crowd.posed_sphere(shown.number, self.clock.time_seconds());
        let (center, radius) = sphere.unwrap_or((shown.center_world, shown.radius));
        let aspect = self.free_aspect();
        self.moves.jump(Instant::now());
        self.scene.camera.focus_on(center, radius, aspect);
        self.scene.camera.target_x = self.covered;
        self.camera_was_moved();
        true
    }

    pub fn selected(&self) -> Option<ShownInstance> {
        self.scene.crowd.shown_instance(self.selection?, self.clock.time_seconds())
    }

    pub fn deselect(&mut self) {
        self.selection = None;
    }

    /// Comes closer to a point of the image ([`Ray::through`]), by this many lines of a wheel.
    pub fn zoom(&mut self, point: Vec2, lines: f32) {
        const FACTOR_PER_LINE: f32 = 0.9;
        self.scene.zoom_at(point, self.aspect, FACTOR_PER_LINE.powf(lines), self.clock.time_seconds());
        self.camera_was_moved();
    }

    pub fn undo_move(&mut self) {
        if let Some(camera) = self.moves.back(Instant::now()) {
            self.scene.camera = camera;
            self.camera_was_moved();
        }
    }

    /// Returns the camera that a frame shows, and whether it moves on by itself.
    pub fn shown_camera(&mut self) -> (OrbitCamera, bool) {
        let now = Instant::now();
        (self.moves.follow(self.scene.camera, now), self.moves.is_moving(now))
    }

    /// Notes that the user has moved the camera, which then stays where it is.
    pub fn camera_was_moved(&mut self) {
        self.framed = None;
    }
}

/// Returns the name of a clip. Clips without a name have their index.
pub fn clip_name(index: usize, clip: &Clip) -> String {
    clip.name.clone().unwrap_or_else(|| format!("clip {index}"))
}

/// The share of a clip at which a clip that does not repeat stops. At its very end it would start again.
const LAST_SHARE: f64 = 1.0 - 1e-5;

/// Returns the options of the crowd, with the values of those that were not given.
pub fn placed(args: &ViewArgs) -> CrowdArgs {
    CrowdArgs { travel: Some(travels(args)), ..args.crowd.clone() }
}

fn travels(args: &ViewArgs) -> bool {
    /// A smaller crowd would be lost on a ring that is large enough for feet that do not slide.
    const LEAST_TO_TRAVEL: u32 = 24;
    args.crowd.travel.unwrap_or(args.count.instances.is_some_and(|count| count >= LEAST_TO_TRAVEL))
}
