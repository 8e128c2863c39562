//! The window: events become actions, and actions become frames.
//!
//! In: winit's events and the [`State`]. Out: presented frames. Drawing starts in winit's `resumed` and ends in `suspended`
//! or `exiting`. The renderer owns the surface and is dropped before the window. A frame is drawn only if something moves, a
//! key flies, or an event has changed something, and only if the window is not hidden. Time goes on while it is hidden, as
//! with a film that plays behind another window. The clock needs no rule for this.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use ash::vk;
use winit::application::ApplicationHandler;
use winit::dpi::{LogicalSize, PhysicalSize};
use winit::event::{ElementState, KeyEvent, MouseScrollDelta, StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow};
use winit::keyboard::Key;
use winit::window::{Window, WindowId};

use super::actions::act;
use super::desk::{Desk, Shown};
use super::hud::Hud;
use super::library::is_clip_file;
#[cfg(target_os = "linux")]
use super::mapped::Mapped;
use super::pointer::{Pointer, key_name};
#[cfg(feature = "shaderc")]
use super::shaders::Shaders;
use super::state::State;
use super::watch::{self, ModelFiles};
use super::words::Title;
use crate::app::gpu::{finish, window_renderer};
use crate::app::output::print;
use crate::app::rebuild::{Losses, vulkan_result};
use crate::cli::Size;
use crate::cli::files::is_model;
use crate::cli::keys::{self, Action};
use crate::extras::Equipped;
use crate::renderer::{FrameOutcome, Shot};

/// A window whose surface or device was lost and not yet replaced.
struct Lost {
    window: Arc<Window>,
    size: PhysicalSize<u32>,
    since: Instant,
}

/// The state of the command, and the window that shows it.
pub struct Viewer {
    state: State,
    shown: Option<Shown>,
    lost: Option<Lost>,
    /// Whether the window is covered, minimised or on another desktop. On Wayland winit holds back the redraws of such a window.
    is_hidden: bool,
    #[cfg(target_os = "linux")]
    mapped: Option<Mapped>,
    losses: Losses<'static>,
    pointer: Pointer,
    title: Title,
    /// The panel at work. `None` before the first window.
    desk: Option<Desk>,
    files: ModelFiles,
    /// Files that were dropped on the window since the last frame.
    dropped: Vec<PathBuf>,
    #[cfg(feature = "shaderc")]
    shaders: Shaders,
    /// The time of the last frame, while keys fly.
    flown: Option<Instant>,
    presented: u64,
    error: Option<anyhow::Error>,
}

impl Viewer {
    /// Returns a viewer without a window.
    pub fn new(state: State) -> Self {
        Self {
            state,
            shown: None,
            lost: None,
            is_hidden: false,
            #[cfg(target_os = "linux")]
            mapped: None,
            losses: Losses::default(),
            pointer: Pointer::default(),
            title: Title::new(),
            desk: None,
            files: ModelFiles::default(),
            dropped: Vec::new(),
            #[cfg(feature = "shaderc")]
            shaders: Shaders::default(),
            flown: None,
            presented: 0,
            error: None,
        }
    }

    /// Says how many frames were presented.
    pub fn finish(self) -> Result<()> {
        self.error.map_or(Ok(()), Err)?;
        print(&format!("{} frames presented\n", self.presented))
    }

    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        event_loop.set_control_flow(ControlFlow::Wait);
        let Size { width, height } = self.state.args.gpu.size;
        let attributes =
            Window::default_attributes().with_title("Throng").with_inner_size(LogicalSize::new(width, height));
        let window = Arc::new(event_loop.create_window(attributes).context("cannot open a window")?);
        let size = window.inner_size();
        let renderer = self.renderer_for(&window, size)?;
        #[cfg(target_os = "linux")]
        {
            self.mapped = Mapped::new(&window);
        }
        self.desk = Some(Desk::new(Hud::new(&window, self.state.args.panel), &self.state));
        self.start(Shown { renderer, window, size });
        Ok(())
    }

    fn start(&mut self, shown: Shown) {
        shown.window.request_redraw();
        if let Some(desk) = &mut self.desk {
            desk.hud.renderer_was_replaced();
        }
        self.shown = Some(shown);
    }

    fn renderer_for(&mut self, window: &Arc<Window>, size: PhysicalSize<u32>) -> Result<Equipped> {
        let extent = Size { width: size.width, height: size.height };
        window_renderer(&self.state.args.gpu, &self.state.shaders, &mut self.state.scene, window, extent)
    }

    /// Ends the renderer of a window that lost its surface or its device. The next redraw creates new ones.
    fn lose(&mut self) {
        self.lost = self.hide();
        if let Some(lost) = &self.lost {
            lost.window.request_redraw();
        }
    }

    /// Creates a new surface and renderer for a window that lost them. On X11 a window that another client has
    /// destroyed looks the same until the event arrives, so a failure counts only after a while.
    fn recover(&mut self, lost: Lost) -> Result<()> {
        const PATIENCE: Duration = Duration::from_secs(2);
        match self.renderer_for(&lost.window, lost.size) {
            Ok(renderer) => self.start(Shown { renderer, window: lost.window, size: lost.size }),
            Err(_) if lost.since.elapsed() < PATIENCE => {
                lost.window.request_redraw();
                self.lost = Some(lost);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Ends the renderer, keeps the validation error if there is one, and returns the window.
    fn hide(&mut self) -> Option<Lost> {
        let Shown { renderer, window, size } = self.shown.take()?;
        if let Err(error) = finish(renderer) {
            self.error.get_or_insert(error);
        }
        Some(Lost { window, size, since: Instant::now() })
    }

    fn draw(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        if let Some(lost) = self.lost.take() {
            return self.recover(lost);
        }
        if self.shown.as_ref().is_none_or(|shown| shown.size.width == 0 || shown.size.height == 0) {
            // The window is minimised. The next resize requests a redraw.
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        if let (Some(shown), Some(mapped)) = (&self.shown, &self.mapped) {
            // X takes the focus from unmapped windows, so a window with the focus need not wait for the server's reply.
            self.is_hidden |= !shown.window.has_focus() && !mapped.is_mapped();
        }
        if self.is_hidden {
            // `Occluded(false)` requests a redraw.
            return Ok(());
        }
        self.fly();
        self.prepare(event_loop)?;
        let Self { state, shown: Some(shown), desk: Some(desk), .. } = self else { return Ok(()) };
        let (camera, moves_on) = state.shown_camera();
        if state.is_moving() || self.pointer.is_flying() || moves_on {
            shown.window.request_redraw();
        }
        let time_seconds = state.advance();
        state.scene.show.outlined = state.selected().map(|shown| shown.number);
        let shot = Shot { camera, ..state.scene.shot(time_seconds, false) };
        match state.scene.draw_shot(&mut shown.renderer, &shot) {
            Ok((FrameOutcome::Drawn, cpu_times)) => {
                self.presented += 1;
                desk.figures.add(cpu_times, shown.renderer.gpu_times());
                self.title.count(&shown.window, state);
                if state.args.frames.is_some_and(|frames| self.presented >= frames) {
                    event_loop.exit();
                }
            }
            // There was no area or no free image: acquiring has already waited, or a resize follows.
            Ok((FrameOutcome::Skipped, _)) => shown.window.request_redraw(),
            Err(error) => {
                if vulkan_result(&error) != Some(vk::Result::ERROR_SURFACE_LOST_KHR) {
                    self.losses.forgive(error, shown.renderer.last_pass())?;
                }
                self.lose();
            }
        }
        Ok(())
    }

    /// Brings panel and files up to date before a frame, and sets the time of the next look at them.
    fn prepare(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        self.open_dropped();
        self.look_at_files();
        let Self { state, shown: Some(shown), desk: Some(desk), .. } = self else { return Ok(()) };
        let size = shown.image_size();
        state.follow_window(size, desk.hud.covered(&shown.window, size.width));
        let (redraw_after, action) = desk.lay_out(state, shown)?;
        if let Some(action) = action {
            act(action, 0, state, shown, desk);
        }
        if redraw_after == Some(Duration::ZERO) {
            shown.window.request_redraw();
        }
        let next_look = state.args.watch.then_some(watch::PERIOD);
        let delay = redraw_after.filter(|delay| !delay.is_zero()).into_iter().chain(next_look).min();
        let flow = delay.map_or(ControlFlow::Wait, |delay| ControlFlow::WaitUntil(Instant::now() + delay));
        event_loop.set_control_flow(flow);
        Ok(())
    }

    /// Opens the files and folders that were dropped together. Those of clips are added to the shown models.
    fn open_dropped(&mut self) {
        let Self { state, shown: Some(shown), desk: Some(desk), pointer, dropped, .. } = self else { return };
        let mut models = Vec::new();
        for path in std::mem::take(dropped) {
            // Beside the bundled character a file of clips is shown by itself.
            let is_clips = is_clip_file(&path);
            if pointer.is_shifted() || is_clips && !state.args.crowd.models.is_empty() {
                desk.add_clips(path, state, shown);
            } else if is_clips || is_model(&path) || path.is_dir() {
                models.push(path);
            } else {
                let what = "no .glb, .gltf, .vrm or .vrma file, and no folder of them";
                desk.notify(Err(anyhow!("{} is {what}", path.display())), shown);
            }
        }
        if !models.is_empty() {
            desk.open(models, state, shown);
        }
    }

    /// Opens the models again if their files have changed, and compiles changed shaders.
    fn look_at_files(&mut self) {
        let Self { state, shown: Some(shown), desk: Some(desk), files, .. } = self else { return };
        if state.args.watch && files.have_changed(&state.model_files(), Instant::now()) {
            desk.open(state.args.crowd.models.clone(), state, shown);
            shown.window.request_redraw();
        }
        #[cfg(feature = "shaderc")]
        if state.args.watch
            && let Some(compiled) = self.shaders.compile_changed(Instant::now())
        {
            desk.replace_shaders(compiled, state, shown);
            shown.window.request_redraw();
        }
    }

    /// Moves the camera by the keys that are held.
    fn fly(&mut self) {
        if !self.pointer.is_flying() {
            self.flown = None;
            return;
        }
        let now = Instant::now();
        if let Some(last) = self.flown.replace(now) {
            self.pointer.fly((now - last).as_secs_f32(), &mut self.state.scene.camera);
            self.state.camera_was_moved();
        }
    }

    /// Comes closer to the point under the cursor, by this many lines of a wheel.
    fn zoom(&mut self, lines: f32) {
        self.state.zoom(self.pointer.cursor(self.size()), lines);
        self.request_redraw();
    }

    fn key(&mut self, event_loop: &ActiveEventLoop, key: &Key) {
        let Some(name) = key_name(key) else { return };
        let shifted = self.pointer.is_shifted().then(|| keys::action(&format!("Shift {name}"))).flatten();
        let Some((action, index)) = shifted.or_else(|| keys::action(&name)) else { return };
        let is_help_shown = self.desk.as_ref().is_some_and(|desk| desk.hud.shows_help());
        let action = if action == Action::Close && is_help_shown { Action::Help } else { action };
        if action == Action::Close {
            event_loop.exit();
        }
        let Self { state, shown: Some(shown), desk: Some(desk), .. } = self else { return };
        act(action, index, state, shown, desk);
    }

    /// Ends the program if something has failed.
    fn check(&mut self, event_loop: &ActiveEventLoop, done: Result<()>) {
        if let Err(error) = done {
            self.error = Some(error);
            event_loop.exit();
        }
    }

    fn size(&self) -> PhysicalSize<u32> {
        self.shown.as_ref().map_or(PhysicalSize::new(1, 1), |shown| shown.size)
    }

    fn request_redraw(&self) {
        if let Some(shown) = &self.shown {
            shown.window.request_redraw();
        }
    }
}

impl ApplicationHandler for Viewer {
    fn new_events(&mut self, event_loop: &ActiveEventLoop, cause: StartCause) {
        if !matches!(cause, StartCause::ResumeTimeReached { .. }) {
            return;
        }
        // The panel wants to be drawn now, for example to show a tip, or it is time to look at the files.
        if self.state.args.watch && !self.state.is_moving() {
            self.look_at_files();
            event_loop.set_control_flow(ControlFlow::WaitUntil(Instant::now() + watch::PERIOD));
        } else {
            // The next frame sets the next time. A hidden window may draw it much later, and would wake up all the time.
            event_loop.set_control_flow(ControlFlow::Wait);
            self.request_redraw();
        }
    }

    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.shown.is_none() {
            let opened = self.open(event_loop);
            self.check(event_loop, opened);
        }
    }

    fn suspended(&mut self, _event_loop: &ActiveEventLoop) {
        // Android destroys the surface after this event.
        self.hide();
    }

    fn exiting(&mut self, _event_loop: &ActiveEventLoop) {
        // The connection to the window system ends with the event loop, so the renderer must end before it.
        self.hide();
        self.lost = None;
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, window: WindowId, event: WindowEvent) {
        let ours = self.shown.as_ref().map(|shown| &shown.window).or(self.lost.as_ref().map(|lost| &lost.window));
        if ours.is_none_or(|ours| ours.id() != window) {
            return;
        }
        if let Self { shown: Some(shown), desk: Some(desk), .. } = self
            && desk.hud.takes(&shown.window, &event)
        {
            return;
        }
        match event {
            // `Destroyed` means that another client destroyed the window (`xdotool windowclose`).
            WindowEvent::CloseRequested | WindowEvent::Destroyed => event_loop.exit(),
            WindowEvent::Resized(size) => {
                if let Some(shown) = &mut self.shown {
                    shown.size = size;
                    shown.renderer.resize(size.width, size.height);
                    shown.window.request_redraw();
                } else if let Some(lost) = &mut self.lost {
                    lost.size = size;
                }
            }
            WindowEvent::Occluded(is_hidden) => {
                let was_hidden = std::mem::replace(&mut self.is_hidden, is_hidden);
                if was_hidden && !is_hidden {
                    // The pace in the title is that of visible frames.
                    self.title = Title::new();
                    self.request_redraw();
                }
            }
            WindowEvent::RedrawRequested => {
                let drawn = self.draw(event_loop);
                self.check(event_loop, drawn);
            }
            WindowEvent::KeyboardInput { event: KeyEvent { logical_key, physical_key, state, repeat, .. }, .. } => {
                if self.pointer.flight_key(physical_key, state) {
                    self.request_redraw();
                } else if state == ElementState::Pressed && (!repeat || repeats(&logical_key)) {
                    self.key(event_loop, &logical_key);
                }
            }
            WindowEvent::ModifiersChanged(modifiers) => self.pointer.set_modifiers(modifiers.state()),
            WindowEvent::Focused(false) => self.pointer.release_all(),
            WindowEvent::MouseInput { state, button, .. } => {
                let is_click = self.pointer.press(button, state);
                let Self { state, shown: Some(shown), desk: Some(desk), pointer, .. } = self else { return };
                if is_click {
                    state.select(pointer.cursor(shown.size));
                    desk.hud.changed();
                    shown.window.request_redraw();
                }
            }
            WindowEvent::CursorMoved { position, .. } => {
                let size = self.size();
                if self.pointer.moved(position, size, &mut self.state.scene.camera) {
                    self.state.camera_was_moved();
                    self.request_redraw();
                }
            }
            WindowEvent::MouseWheel { delta: MouseScrollDelta::LineDelta(_, lines), .. } => self.zoom(lines),
            WindowEvent::MouseWheel { delta: MouseScrollDelta::PixelDelta(fingers), .. } => {
                let height = f64::from(self.size().height.max(1));
                self.state.scene.camera.pan(-(fingers.x / height) as f32, (fingers.y / height) as f32);
                self.state.camera_was_moved();
                self.request_redraw();
            }
            WindowEvent::PinchGesture { delta, .. } => {
                /// The lines of a wheel for fingers that move to twice their distance.
                const LINES_PER_DOUBLING: f32 = 7.0;
                self.zoom(LINES_PER_DOUBLING * delta as f32);
            }
            WindowEvent::DroppedFile(path) => {
                self.dropped.push(path);
                self.request_redraw();
            }
            _ => {}
        }
    }
}

/// Returns whether a key acts again and again while it is held.
fn repeats(key: &Key) -> bool {
    matches!(key, Key::Character(text) if [",", ".", "[", "]"].contains(&text.as_str()))
}
