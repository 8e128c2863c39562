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
use super::desk::Desk;
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
use crate::cli::keys::Action;
use crate::extras::Equipped;
use crate::renderer::{FrameOutcome, Shot};

/// The state of the command, and the window that shows it.
pub struct Viewer {
    state: State,
    renderer: Option<Equipped>,
    /// The window and its panel. `None` before the first window.
    desk: Option<Desk>,
    /// When the surface or the device was lost, unless it was replaced since.
    lost: Option<Instant>,
    /// Whether the window is covered, minimised or on another desktop. On Wayland winit holds back the redraws of such a window.
    is_hidden: bool,
    #[cfg(target_os = "linux")]
    mapped: Option<Mapped>,
    losses: Losses<'static>,
    pointer: Pointer,
    title: Title,
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
    pub fn new(state: State) -> Self {
        Self {
            state,
            renderer: None,
            desk: None,
            lost: None,
            is_hidden: false,
            #[cfg(target_os = "linux")]
            mapped: None,
            losses: Losses::new(Instant::now),
            pointer: Pointer::default(),
            title: Title::new(),
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
        print(format!("{} frames presented\n", self.presented))
    }

    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        event_loop.set_control_flow(ControlFlow::Wait);
        let Size { width, height } = self.state.args.gpu.size;
        let attributes =
            Window::default_attributes().with_title("Throng").with_inner_size(LogicalSize::new(width, height));
        let window = Arc::new(event_loop.create_window(attributes).context("cannot open a window")?);
        #[cfg(target_os = "linux")]
        {
            self.mapped = Mapped::new(&window);
        }
        self.desk = Some(Desk::new(window, &self.state));
        self.create_renderer()
    }

    fn create_renderer(&mut self) -> Result<()> {
        let Self { state: State { args, shaders, scene, .. }, desk: Some(desk), .. } = self else { return Ok(()) };
        self.renderer = Some(window_renderer(&args.gpu, shaders, scene, &desk.window, desk.size)?);
        desk.hud.renderer_was_replaced();
        desk.window.request_redraw();
        Ok(())
    }

    /// Creates a new renderer for a window that lost its surface or its device. On X11 a window that another client has
    /// destroyed looks the same until the event arrives, so a failure counts only after a while.
    fn recover(&mut self, since: Instant) -> Result<()> {
        const PATIENCE: Duration = Duration::from_secs(2);
        let created = self.create_renderer();
        if created.is_err() && since.elapsed() < PATIENCE {
            self.request_redraw();
            return Ok(());
        }
        self.lost = None;
        created
    }

    /// Ends the renderer, and keeps the validation error if there is one.
    fn end_renderer(&mut self) {
        if let Some(Err(error)) = self.renderer.take().map(finish) {
            self.error.get_or_insert(error);
        }
    }

    /// Ends the renderer, then the window.
    fn close(&mut self) {
        self.end_renderer();
        (self.desk, self.lost) = (None, None);
    }

    fn draw(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        if let Some(since) = self.lost {
            return self.recover(since);
        }
        let Some(desk) = &self.desk else { return Ok(()) };
        if desk.size.width == 0 || desk.size.height == 0 {
            // The window is minimised. The next resize requests a redraw.
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        if let Some(mapped) = &self.mapped {
            // X takes the focus from unmapped windows, so a window with the focus need not wait for the server's reply.
            self.is_hidden |= !desk.window.has_focus() && !mapped.is_mapped();
        }
        if self.is_hidden {
            // `Occluded(false)` requests a redraw.
            return Ok(());
        }
        self.fly();
        self.prepare(event_loop)?;
        let Self { state, desk: Some(desk), renderer: Some(renderer), .. } = self else { return Ok(()) };
        let (camera, moves_on) = state.shown_camera();
        if state.is_moving() || self.pointer.is_flying() || moves_on {
            desk.window.request_redraw();
        }
        let time_seconds = state.advance();
        state.scene.show.outlined = state.selected().map(|shown| shown.number);
        let shot = Shot { camera, ..state.scene.shot(time_seconds, false) };
        match state.scene.draw_shot(renderer, &shot) {
            Ok((FrameOutcome::Drawn, cpu_times)) => {
                self.presented += 1;
                desk.figures.add(cpu_times, renderer.gpu_times());
                self.title.count(&desk.window, state);
                if state.args.frames.is_some_and(|frames| self.presented >= frames) {
                    event_loop.exit();
                }
            }
            // There was no area or no free image: acquiring has already waited, or a resize follows.
            Ok((FrameOutcome::Skipped, _)) => desk.window.request_redraw(),
            Err(error) => {
                if vulkan_result(&error) != Some(vk::Result::ERROR_SURFACE_LOST_KHR) {
                    self.losses.forgive(error, renderer.last_pass())?;
                }
                // The next redraw creates another one.
                self.end_renderer();
                self.lost = Some(Instant::now());
                self.request_redraw();
            }
        }
        Ok(())
    }

    /// Brings panel and files up to date before a frame, and sets the time of the next look at them.
    fn prepare(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        self.open_dropped();
        self.look_at_files();
        let Self { state, desk: Some(desk), renderer: Some(renderer), .. } = self else { return Ok(()) };
        state.follow_window(desk.size, desk.hud.covered(&desk.window, desk.size.width));
        let (redraw_after, action) = desk.lay_out(state, renderer)?;
        if let Some(action) = action {
            act(action, 0, state, desk, renderer);
        }
        if redraw_after == Some(Duration::ZERO) {
            desk.window.request_redraw();
        }
        let next_look = state.args.watch.then_some(watch::PERIOD);
        let delay = redraw_after.filter(|delay| !delay.is_zero()).into_iter().chain(next_look).min();
        let flow = delay.map_or(ControlFlow::Wait, |delay| ControlFlow::WaitUntil(Instant::now() + delay));
        event_loop.set_control_flow(flow);
        Ok(())
    }

    /// Opens the files and folders that were dropped together. Those of clips are added to the shown models.
    fn open_dropped(&mut self) {
        let Self { state, desk: Some(desk), renderer: Some(renderer), pointer, dropped, .. } = self else { return };
        let mut models = Vec::new();
        for path in std::mem::take(dropped) {
            // Beside the bundled character a file of clips is shown by itself.
            let is_clips = is_clip_file(&path);
            if pointer.modifiers.shift_key() || is_clips && !state.args.crowd.models.is_empty() {
                desk.add_clips(path, state, renderer);
            } else if is_clips || is_model(&path) || path.is_dir() {
                models.push(path);
            } else {
                let what = "no .glb, .gltf, .vrm or .vrma file, and no folder of them";
                desk.notify(Err(anyhow!("{} is {what}", path.display())));
            }
        }
        if !models.is_empty() {
            desk.open(models, state, renderer);
        }
    }

    /// Opens the models again if their files have changed, and compiles changed shaders.
    fn look_at_files(&mut self) {
        let Self { state, desk: Some(desk), renderer: Some(renderer), files, .. } = self else { return };
        if state.args.watch && files.have_changed(&state.model_files(), Instant::now()) {
            desk.open(state.args.crowd.models.clone(), state, renderer);
        }
        #[cfg(feature = "shaderc")]
        if state.args.watch
            && let Some(compiled) = self.shaders.compile_changed(Instant::now())
        {
            desk.replace_shaders(compiled, state, renderer);
        }
    }

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
        let Self { state, desk: Some(desk), pointer, .. } = self else { return };
        state.zoom(pointer.cursor(desk.size), lines);
        desk.window.request_redraw();
    }

    fn key(&mut self, event_loop: &ActiveEventLoop, key: &Key) {
        let Some((action, index)) = key_name(key).and_then(|name| self.pointer.action(&name)) else { return };
        let Self { state, desk: Some(desk), renderer: Some(renderer), .. } = self else { return };
        let action = match action {
            Action::Close if desk.window.fullscreen().is_some() => Action::FullScreen,
            Action::Close if state.selected().is_some() => {
                state.deselect();
                desk.hud.changed();
                return desk.window.request_redraw();
            }
            Action::Close if desk.hud.contents.shows_help => Action::Help,
            action => action,
        };
        if matches!(action, Action::Close | Action::Quit) {
            event_loop.exit();
        }
        act(action, index, state, desk, renderer);
    }

    /// Ends the program if something has failed.
    fn check(&mut self, event_loop: &ActiveEventLoop, done: Result<()>) {
        if let Err(error) = done {
            self.error = Some(error);
            event_loop.exit();
        }
    }

    fn request_redraw(&self) {
        if let Some(desk) = &self.desk {
            desk.window.request_redraw();
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
        if self.desk.is_none() {
            let opened = self.open(event_loop);
            self.check(event_loop, opened);
        }
    }

    fn suspended(&mut self, _event_loop: &ActiveEventLoop) {
        // Android destroys the surface after this event.
        self.close();
    }

    fn exiting(&mut self, _event_loop: &ActiveEventLoop) {
        // The connection to the window system ends with the event loop, so the renderer must end before it.
        self.close();
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, window: WindowId, event: WindowEvent) {
        let Self { state, desk: Some(desk), renderer, pointer, .. } = self else { return };
        if desk.window.id() != window || desk.hud.takes(&desk.window, &event) {
            return;
        }
        match event {
            // `Destroyed` means that another client destroyed the window (`xdotool windowclose`).
            WindowEvent::CloseRequested | WindowEvent::Destroyed => event_loop.exit(),
            WindowEvent::Resized(PhysicalSize { width, height }) => {
                desk.size = Size { width, height };
                if let Some(renderer) = renderer {
                    renderer.resize(width, height);
                    desk.window.request_redraw();
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
                // These keys act again and again while they are held.
                let repeats =
                    matches!(&logical_key, Key::Character(text) if [",", ".", "[", "]"].contains(&text.as_str()));
                if pointer.flight_key(physical_key, state) {
                    desk.window.request_redraw();
                } else if state == ElementState::Pressed && (!repeat || repeats) {
                    self.key(event_loop, &logical_key);
                }
            }
            WindowEvent::ModifiersChanged(modifiers) => pointer.modifiers = modifiers.state(),
            WindowEvent::Focused(false) => pointer.release_all(),
            WindowEvent::MouseInput { state, button, .. } => {
                let is_click = pointer.press(button, state);
                if is_click {
                    self.state.select(pointer.cursor(desk.size));
                    desk.hud.changed();
                    desk.window.request_redraw();
                }
            }
            WindowEvent::CursorMoved { position, .. } => {
                let has_turned = pointer.moved(position, desk.size, &mut state.scene.camera);
                if has_turned {
                    state.camera_was_moved();
                    desk.window.request_redraw();
                }
            }
            WindowEvent::MouseWheel { delta: MouseScrollDelta::LineDelta(_, lines), .. } => self.zoom(lines),
            WindowEvent::MouseWheel { delta: MouseScrollDelta::PixelDelta(fingers), .. } => {
                let height = f64::from(desk.size.height.max(1));
                state.scene.camera.pan(-(fingers.x / height) as f32, (fingers.y / height) as f32);
                state.camera_was_moved();
                desk.window.request_redraw();
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
