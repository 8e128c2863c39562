//! The panel at work: it gets the facts of a frame, and its changes reach the state and the renderer.
//!
//! In: a window, its renderer and the [`State`]. Out: the panel's triangles in the renderer, a changed state, and notices about
//! everything that was not possible. After a failure the state is as it was.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Error, Result};
use winit::dpi::PhysicalSize;
use winit::window::Window;

use super::hud::{Facts, Figures, Hud, Notice};
use super::library::Library;
#[cfg(feature = "shaderc")]
use super::shaders::CompiledShaders;
use super::state::State;
use super::words;
use crate::app::advice::in_one_line;
use crate::app::gpu::{forecast, rebuild_for_window, window_settings};
use crate::app::models::choice_of;
use crate::app::output::print;
use crate::app::text::{format_bytes, thousands};
use crate::cli::files::named_files;
use crate::cli::keys::Action;
use crate::cli::{GpuArgs, Size};
use crate::crowd::{ClipChoice, MAX_INSTANCES};
use crate::extras::{DebugView, Equipped};
use crate::model::text::{printable, shortened};
use crate::renderer::UploadPath;
use crate::renderer::memory::Forecast;

const NOTICE_LASTS: Duration = Duration::from_secs(8);

/// A window, the panel over it, and everything that the panel shows. All of it outlives a lost renderer.
pub struct Desk {
    pub window: Arc<Window>,
    /// The last event's size, in pixels. On X11 winit would ask the server, and panic if another client destroyed the window.
    pub size: Size,
    pub hud: Hud,
    pub figures: Figures,
    library: Library,
    notice: Option<(Notice, Instant)>,
}

impl Desk {
    pub fn new(window: Arc<Window>, state: &State) -> Self {
        let PhysicalSize { width, height } = window.inner_size();
        let (hud, library) = (Hud::new(&window, state.args.panel), Library::new(&state.args.crowd.models));
        Self { window, size: Size { width, height }, hud, figures: Figures::default(), library, notice: None }
    }

    /// Prints a message and shows it for some seconds.
    pub fn say(&mut self, result: Result<String>) {
        let result = result.and_then(|text| print(format!("{text}\n")).map(|()| text));
        self.notify(result);
    }

    /// Shows a message for some seconds. An error comes with all of its causes.
    pub fn notify(&mut self, result: Result<String>) {
        let notice = match result {
            Ok(text) => Notice { text, is_error: false },
            Err(error) => {
                let text = printable(&in_one_line(&error));
                // The panel shows it for some seconds only, or not at all.
                tracing::warn!("{text}");
                Notice { text, is_error: true }
            }
        };
        self.notice = Some((notice, Instant::now()));
        self.hud.changed();
        self.window.request_redraw();
    }

    /// Lays out the panel if it is out of date, and does what the person wants. Returns the time after which the panel wants to
    /// be drawn again, and what is left to do.
    pub fn lay_out(
        &mut self,
        state: &mut State,
        renderer: &mut Equipped,
    ) -> Result<(Option<Duration>, Option<Action>)> {
        let size = self.size;
        let image_size = [size.width, size.height];
        if !self.hud.contents.is_visible() {
            self.hud.clear(renderer);
        }
        if !self.hud.needs_layout(image_size) {
            return Ok((None, None));
        }
        if self.notice.as_ref().is_some_and(|(_, since)| since.elapsed() > NOTICE_LASTS) {
            self.notice = None;
        }
        let device = Arc::clone(renderer.device());
        let (args, models) = (state.args.gpu.clone(), Arc::clone(&state.scene.models));
        let settings = window_settings(&args, &[], &device);
        let show = state.scene.show.clone();
        let memory = |instances| forecast(&device, &settings, &models, &show, instances, size);
        let frame_ms = self.figures.median_frame_ms();
        let facts = Facts {
            files: &self.library.names,
            file: self.library.index_of(&state.args.crowd.models),
            figures: &self.figures,
            lines: &words::frame_and_device(state.scene.crowd.instance_count(), renderer, frame_ms),
            automatic_upload: UploadPath::best_for(&device.physical),
            samples: settings.samples,
            sample_counts: device.physical.sample_counts().as_raw(),
            shadow_map_size: renderer.shadow_map_size(),
            most_instances: memory(1000).fitting_instances.clamp(1, MAX_INSTANCES.into()) as u32,
            memory: &|instances| {
                let Forecast { needed_bytes, available_bytes, fitting_instances, .. } = memory(instances);
                let [needed, available] = [needed_bytes, available_bytes].map(format_bytes);
                format!("up to {needed} of {available}; {} instances fit", thousands(fitting_instances))
            },
            notice: self.notice.as_ref().map(|(notice, _)| notice),
        };
        let (wishes, redraw_after) = self.hud.lay_out(&self.window, renderer, image_size, &facts, state)?;
        drop(models);
        for (name, weight) in wishes.morphs {
            state.hold_morph(&name, weight);
        }
        if let Some(path) = wishes.open.and_then(|file| self.library.paths.get(file)) {
            self.open(vec![path.clone()], state, renderer);
        }
        if let Some(parts) = wishes.together {
            self.play_together(&parts, state, renderer);
        }
        if let Some(patterns) = wishes.hide {
            self.hide(patterns, state, renderer);
        }
        if let Some(done) = wishes.done {
            self.figures.clear();
            self.report(done);
        }
        let drawing = |args: &GpuArgs| (args.skinning, args.upload, args.quality);
        if drawing(&state.args.gpu) != drawing(&args) {
            let built = self.rebuild(state, args, renderer);
            self.report(built);
        }
        let shows = renderer.try_show(&state.scene.crowd, &state.scene.show).map_err(Error::from);
        self.report(shows.inspect_err(|_| state.choose_view(DebugView::Lit)));
        Ok((redraw_after, wishes.action))
    }

    fn report(&mut self, done: Result<()>) {
        if let Err(error) = done {
            self.notify(Err(error));
        }
    }

    /// Builds a renderer with changed options. If that fails, the options become those `before`.
    fn rebuild(&mut self, state: &mut State, before: GpuArgs, renderer: &mut Equipped) -> Result<()> {
        self.figures.clear();
        let State { args, shaders, scene, .. } = state;
        rebuild_for_window(renderer, &args.gpu, shaders, scene, self.size).inspect_err(|_| args.gpu = before)
    }

    /// Builds the pipelines again from compiled shaders. If that fails, the present ones stay.
    #[cfg(feature = "shaderc")]
    pub fn replace_shaders(&mut self, compiled: Result<CompiledShaders>, state: &mut State, renderer: &mut Equipped) {
        let done = compiled.and_then(|CompiledShaders { names, overrides }| {
            let before = std::mem::replace(&mut state.shaders, overrides);
            let args = state.args.gpu.clone();
            self.rebuild(state, args, renderer).inspect_err(|_| state.shaders = before)?;
            Ok(format!("compiled {}", names.join(", ")))
        });
        self.notify(done);
    }

    /// Opens other models, or the same ones again. If that fails, the present ones stay.
    pub fn open(&mut self, paths: Vec<PathBuf>, state: &mut State, renderer: &mut Equipped) {
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        self.load(paths, state.args.crowd.clips.files.clone(), state, renderer, format!("opened {}", names.join(", ")));
    }

    pub fn add_clips(&mut self, path: PathBuf, state: &mut State, renderer: &mut Equipped) {
        let told = format!("added the clips of {}", path.display());
        let mut clips = state.args.crowd.clips.files.clone();
        clips.push(path);
        let counts = |state: &State| state.scene.models.iter().map(|model| model.clips.len()).collect::<Vec<_>>();
        let before = counts(state);
        if self.load(state.args.crowd.models.clone(), clips, state, renderer, told)
            && let Some((first, _)) = before.iter().zip(counts(state)).find(|(before, now)| **before < *now)
        {
            // The clips of later files are behind those of the model and of earlier files.
            state.choose_clip(ClipChoice::Index(*first));
        }
    }

    /// Plays clips together. Several are joined when the models are loaded.
    fn play_together(&mut self, parts: &[usize], state: &mut State, renderer: &mut Equipped) {
        let Some(longest) = state.scene.models.iter().max_by_key(|model| model.clips.len()) else { return };
        let choice = choice_of(longest, parts);
        if parts.len() < 2 {
            return state.choose_clip(choice);
        }
        let before = std::mem::replace(&mut state.args.crowd.clip, choice);
        if !self.load_again(state, renderer, format!("playing {}", state.clip_name())) {
            state.args.crowd.clip = before;
        }
    }

    /// Loads the models again without the parts that these patterns name.
    fn hide(&mut self, patterns: Vec<String>, state: &mut State, renderer: &mut Equipped) {
        let told = if patterns.is_empty() { "shown as by default".to_owned() } else { patterns.join(", ") };
        let before = std::mem::replace(&mut state.args.crowd.hide, patterns);
        if !self.load_again(state, renderer, format!("--hide: {}", shortened(&printable(&told), 60))) {
            state.args.crowd.hide = before;
        }
    }

    fn load_again(&mut self, state: &mut State, renderer: &mut Equipped, told: String) -> bool {
        let (models, clips) = (state.args.crowd.models.clone(), state.args.crowd.clips.files.clone());
        self.load(models, clips, state, renderer, told)
    }

    /// Returns whether the files could be loaded.
    fn load(
        &mut self,
        models: Vec<PathBuf>,
        clips: Vec<PathBuf>,
        state: &mut State,
        renderer: &mut Equipped,
        told: String,
    ) -> bool {
        let opened = state.load(models, clips).and_then(|(args, mut scene)| {
            rebuild_for_window(renderer, &args.gpu, &state.shaders, &mut scene, self.size)?;
            named_files(&args.crowd.models).iter().for_each(|(path, _)| self.library.add(path));
            state.show_scene(args, scene);
            Ok(told)
        });
        self.figures.clear();
        let is_open = opened.is_ok();
        self.notify(opened);
        is_open
    }
}
