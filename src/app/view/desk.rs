//! The panel at work: it gets the facts of a frame, and its changes reach the state and the renderer.
//!
//! In: a shown window and the [`State`]. Out: the panel's triangles in the renderer, a changed state, and notices about
//! everything that was not possible. After a failure the state is as it was.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use glam::Vec2;

use super::controls::{Controls, DrawingControls};
use super::fact_lines::fact_lines;
use super::hud::facts::{Facts, Notice};
use super::hud::figures::Figures;
use super::hud::{Hud, Request};
use super::library::Library;
use super::room::{Room, describe};
use super::selection;
use super::shown::Shown;
use super::state::State;
use crate::app::advice::in_one_line;
use crate::app::gpu::rebuild_for_window;
use crate::cli::GpuArgs;
use crate::model::text::printable;
use crate::renderer::{ShaderOverride, StageTimes, UploadPath};

/// The time for which a notice is shown.
const NOTICE_LASTS: Duration = Duration::from_secs(8);

/// The panel and everything that it shows.
pub struct Desk {
    /// The panel.
    pub hud: Hud,
    figures: Figures,
    library: Library,
    room: Room,
    notice: Option<(Notice, Instant)>,
}

/// Shaders that were compiled while the window shows others.
pub struct CompiledShaders {
    /// The file names of the new ones.
    pub names: Vec<String>,
    /// All shaders that replace embedded ones.
    pub overrides: Vec<ShaderOverride>,
}

impl Desk {
    /// Returns a desk with a panel.
    pub fn new(hud: Hud, state: &State) -> Self {
        Self {
            hud,
            figures: Figures::default(),
            library: Library::new(&state.args.crowd.models),
            room: Room::default(),
            notice: None,
        }
    }

    /// Adds the times of a drawn frame.
    pub fn add_frame(&mut self, cpu: StageTimes, shown: &Shown) {
        self.figures.add(cpu, shown.renderer.gpu_times());
    }

    /// Shows a message for some seconds. An error comes with all of its causes.
    pub fn notify(&mut self, result: Result<String>, shown: &Shown) {
        let notice = match result {
            Ok(text) => Notice { text, is_error: false },
            Err(error) => Notice { text: printable(&in_one_line(&error)), is_error: true },
        };
        if notice.is_error {
            // The panel shows it for some seconds only, or not at all.
            tracing::warn!("{}", notice.text);
        }
        self.notice = Some((notice, Instant::now()));
        self.hud.changed();
        if self.hud.is_visible() {
            shown.window.request_redraw();
        }
    }

    /// Lays out the panel if it is out of date, and does what the person wants. Returns when the panel wants to be drawn
    /// again.
    ///
    /// # Errors
    /// The panel's letters cannot be uploaded.
    pub fn lay_out(&mut self, state: &mut State, shown: &mut Shown) -> Result<Option<Duration>> {
        let size = shown.image_size();
        let image_size = [size.width, size.height];
        if !self.hud.is_visible() {
            self.hud.clear(&mut shown.renderer);
        }
        if !self.hud.needs_layout(image_size) {
            return Ok(None);
        }
        if self.notice.as_ref().is_some_and(|(_, since)| since.elapsed() > NOTICE_LASTS) {
            self.notice = None;
        }
        let device = Arc::clone(shown.renderer.device());
        let controls = state.controls(&device);
        let (args, models) = (&state.args.gpu, &state.scene.models);
        let selected = state.selected();
        let shows_joints = selected.filter(|_| state.scene.show.skeleton);
        self.hud.follow_cursor(shows_joints.is_some());
        let size_pixels = Vec2::new(size.width as f32, size.height as f32);
        let time_seconds = state.clock.time_seconds();
        let most_instances = self.room.most_instances(&device, args, models, size);
        let facts = Facts {
            models,
            files: self.library.names(),
            file: self.library.index_of(&state.args.crowd.models),
            figures: &self.figures,
            lines: &fact_lines(state.scene.crowd.instance_count(), &shown.renderer, self.figures.median_frame_ms()),
            automatic_upload: UploadPath::best_for(&device.physical).name(),
            shadow_map_size: shown.renderer.shadow_map_size(),
            most_instances,
            memory: &|instances| describe(&device, args, models, (instances, most_instances), size),
            selected: &selected.map_or(Vec::new(), |shown| selection::describe(&state.scene, &shown)),
            joint_at: &|point| {
                selection::joint_at(&state.scene, &shows_joints?, time_seconds, Vec2::from(point), size_pixels)
            },
            notice: self.notice.as_ref().map(|(notice, _)| notice),
        };
        let wishes = self.hud.lay_out(&shown.window, &mut shown.renderer, image_size, &facts, controls.clone())?;
        match wishes.request {
            Some(Request::Step(steps)) => state.clock.step(steps),
            Some(Request::Open(file)) => {
                if let Some(path) = self.library.path(file) {
                    self.open(vec![path.clone()], state, shown);
                }
            }
            Some(Request::Focus) => {
                state.focus(shown.aspect());
            }
            Some(Request::Deselect) => state.deselect(),
            Some(Request::Help) | None => {}
        }
        if wishes.controls != controls {
            self.apply(&controls, &wishes.controls, state, shown);
        }
        if wishes.controls == controls && wishes.request.is_none() {
            return Ok(wishes.redraw_after);
        }
        // The panel then shows the result.
        self.hud.changed();
        Ok(Some(Duration::ZERO))
    }

    /// Applies the changes of the panel.
    fn apply(&mut self, old: &Controls, new: &Controls, state: &mut State, shown: &mut Shown) {
        let mut done = state.apply(old, new);
        if let Err(error) = shown.renderer.show(state.scene.show) {
            state.scene.show.view = old.view;
            done = Err(error.into());
        }
        if new.crowd != old.crowd {
            self.figures.clear();
            state.follow_window(shown.aspect());
        }
        if new.drawing != old.drawing && done.is_ok() {
            let before = state.args.gpu.clone();
            change_drawing(&mut state.args.gpu, &old.drawing, &new.drawing);
            let size = shown.image_size();
            done = rebuild_for_window(&mut shown.renderer, &state.args.gpu, &mut state.scene, size);
            if done.is_err() {
                state.args.gpu = before;
            }
            self.figures.clear();
        }
        if let Err(error) = done {
            self.notify(Err(error), shown);
        }
    }

    /// Builds the pipelines again from compiled shaders. If that fails, the present ones stay.
    pub fn replace_shaders(&mut self, compiled: Result<CompiledShaders>, state: &mut State, shown: &mut Shown) {
        let size = shown.image_size();
        let done = compiled.and_then(|CompiledShaders { names, overrides }| {
            let before = std::mem::replace(&mut state.args.gpu.shaders, overrides);
            rebuild_for_window(&mut shown.renderer, &state.args.gpu, &mut state.scene, size)
                .inspect_err(|_| state.args.gpu.shaders = before)?;
            Ok(format!("compiled {}", names.join(", ")))
        });
        self.figures.clear();
        self.notify(done, shown);
    }

    /// Opens other models, or the same ones again. If that fails, the present ones stay.
    pub fn open(&mut self, paths: Vec<PathBuf>, state: &mut State, shown: &mut Shown) {
        let (size, aspect) = (shown.image_size(), shown.aspect());
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let known = paths.clone();
        let opened = state.load(paths).and_then(|(args, mut scene)| {
            rebuild_for_window(&mut shown.renderer, &args.gpu, &mut scene, size)?;
            state.show_scene((args, scene), aspect);
            known.iter().for_each(|path| self.library.add(path));
            Ok(format!("opened {}", names.join(", ")))
        });
        self.figures.clear();
        self.notify(opened, shown);
    }
}

/// Changes the options that need a new renderer. Those that the person did not change may stay automatic.
fn change_drawing(args: &mut GpuArgs, old: &DrawingControls, new: &DrawingControls) {
    (args.skinning, args.upload) = (new.skinning, new.upload);
    if new.samples != old.samples {
        args.quality.msaa = Some(new.samples);
    }
    if new.shadows != old.shadows {
        args.quality.shadows = Some(new.shadows);
    }
}
