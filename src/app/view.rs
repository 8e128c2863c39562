//! `view`: shows the crowd in a window.
//!
//! Without a display (on a server, in a container) the command renders one image instead, so that a newcomer's first
//! command always shows something. Drawing starts in winit's `resumed` and ends in `suspended` or `exiting`. The
//! renderer owns the surface and is dropped before the window.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ash::vk;
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::error::EventLoopError;
use winit::event::{ElementState, KeyEvent, MouseButton, MouseScrollDelta, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::{Window, WindowId};

use super::gpu::{finish, offscreen_renderer, window_renderer};
use super::output::print;
use super::rebuild::{Losses, vulkan_result};
use super::render::draw_to_png;
use super::scene::Scene;
use crate::cli::{CameraArg, Size, ViewArgs};
use crate::crowd::ClipChoice;
use crate::renderer::{FrameOutcome, Renderer};
use crate::view::{DebugView, OrbitCamera};

/// The image that is written when there is no display.
const FALLBACK_IMAGE: &str = "throng.png";

/// Runs the command.
///
/// # Errors
/// Loading or rendering fails.
pub fn run(args: &ViewArgs) -> Result<()> {
    /// A smaller crowd would be lost on a ring that is large enough for feet that do not slide.
    const LEAST_TO_TRAVEL: u32 = 24;
    let mut crowd = args.crowd.clone();
    crowd.travel.get_or_insert(args.count.instances >= LEAST_TO_TRAVEL);
    let mut scene = Scene::load(&crowd, args.count, args.gpu.size.aspect())?;
    scene.lod_error_pixels = args.gpu.lod_error as f32;
    match EventLoop::new() {
        Ok(event_loop) => {
            let mut viewer = Viewer::new(args, scene);
            event_loop.run_app(&mut viewer).context("the window system failed")?;
            viewer.finish()
        }
        Err(error) => {
            let mut renderer = offscreen_renderer(&args.gpu, &mut scene, 1)?;
            let path = Path::new(FALLBACK_IMAGE);
            draw_to_png(&mut scene, &mut renderer, args.crowd.time, args.gpu.size, path)?;
            let shown = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            print(&format!(
                "No display could be opened ({}), so here is one image instead of a window: {}\n`throng render` \
                 renders more images; `throng --help` lists all commands.\n",
                reason(&error),
                shown.display()
            ))?;
            finish(renderer)
        }
    }
}

/// Returns why there is no event loop. winit's message is "os error at FILE:LINE: REASON.".
fn reason(error: &EventLoopError) -> String {
    let text = error.to_string();
    let reason = text.split_once(": ").map_or(text.as_str(), |(_, reason)| reason);
    reason.trim_end_matches('.').to_owned()
}

/// An open window and its renderer. The renderer, which owns the surface, is dropped first.
struct Shown {
    renderer: Renderer,
    window: Window,
    /// The size in the last event. On X11 winit would ask the server, and panic once another client has destroyed the
    /// window.
    size: PhysicalSize<u32>,
}

/// A window whose surface or device was lost and not yet replaced.
struct Lost {
    window: Window,
    size: PhysicalSize<u32>,
    since: Instant,
}

/// The state of the command.
struct Viewer<'a> {
    args: &'a ViewArgs,
    scene: Scene,
    shown: Option<Shown>,
    lost: Option<Lost>,
    losses: Losses<'static>,
    clock: Clock,
    mouse: Mouse,
    framed: Framed,
    title: Title,
    clip: ClipChoice,
    presented: u64,
    error: Option<anyhow::Error>,
}

impl<'a> Viewer<'a> {
    fn new(args: &'a ViewArgs, scene: Scene) -> Self {
        let clock = Clock { time_seconds: args.crowd.time, last: Instant::now(), paused: false };
        Self {
            args,
            scene,
            shown: None,
            lost: None,
            losses: Losses::default(),
            clock,
            mouse: Mouse::default(),
            framed: Framed::Yes(args.crowd.camera),
            title: Title { since: Instant::now(), frames: 0 },
            clip: args.crowd.clip.clone(),
            presented: 0,
            error: None,
        }
    }

    fn finish(mut self) -> Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        print(&format!("{} frames presented\n", self.presented))
    }

    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        let Size { width, height } = self.args.gpu.size;
        let attributes =
            Window::default_attributes().with_title("Throng").with_inner_size(PhysicalSize::new(width, height));
        let window = event_loop.create_window(attributes).context("cannot open a window")?;
        let size = window.inner_size();
        let renderer = self.renderer_for(&window, size)?;
        self.start(Shown { renderer, window, size });
        Ok(())
    }

    fn start(&mut self, shown: Shown) {
        shown.window.request_redraw();
        self.shown = Some(shown);
    }

    fn renderer_for(&mut self, window: &Window, size: PhysicalSize<u32>) -> Result<Renderer> {
        let extent = Size { width: size.width, height: size.height };
        window_renderer(&self.args.gpu, &mut self.scene, window, extent)
    }

    /// Ends the renderer of a window that lost its surface or its device. The next redraw creates new ones.
    fn lose(&mut self) {
        let since = Instant::now();
        self.lost = self.hide().map(|(window, size)| Lost { window, size, since });
        if let Some(lost) = &self.lost {
            lost.window.request_redraw();
        }
    }

    /// Creates a new surface and renderer for a window that lost them. On X11 a window that another client has
    /// destroyed looks the same until the event arrives, so a failure counts only after a while.
    fn recover(&mut self, lost: Lost) -> Result<()> {
        const PATIENCE: Duration = Duration::from_secs(2);
        match self.renderer_for(&lost.window, lost.size) {
            Ok(renderer) => {
                self.start(Shown { renderer, window: lost.window, size: lost.size });
                Ok(())
            }
            Err(_) if lost.since.elapsed() < PATIENCE => {
                lost.window.request_redraw();
                self.lost = Some(lost);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the renderer, keeps the validation error if there is one, and returns the window.
    fn hide(&mut self) -> Option<(Window, PhysicalSize<u32>)> {
        let Shown { renderer, window, size } = self.shown.take()?;
        if let Err(error) = finish(renderer) {
            self.error.get_or_insert(error);
        }
        Some((window, size))
    }

    fn draw(&mut self, event_loop: &ActiveEventLoop) -> Result<()> {
        if let Some(lost) = self.lost.take() {
            return self.recover(lost);
        }
        let Some(shown) = &mut self.shown else { return Ok(()) };
        let size = shown.size;
        if size.width == 0 || size.height == 0 {
            // The window is minimised. The next resize requests a redraw.
            event_loop.set_control_flow(ControlFlow::Wait);
            return Ok(());
        }
        event_loop.set_control_flow(ControlFlow::Poll);
        shown.window.request_redraw();
        let time_seconds = self.clock.advance();
        let aspect = size.width as f32 / size.height as f32;
        let drawn = self.scene.draw(&mut shown.renderer, time_seconds, aspect, false);
        match drawn {
            Ok((FrameOutcome::Drawn, _)) => {
                self.presented += 1;
                self.title.count(&shown.window, &self.scene, &self.clip);
                if self.args.frames.is_some_and(|frames| self.presented >= frames) {
                    event_loop.exit();
                }
                Ok(())
            }
            // There was no area or no free image: acquiring has already waited, or a resize follows.
            Ok((FrameOutcome::Skipped, _)) => Ok(()),
            Err(error) => {
                if vulkan_result(&error) != Some(vk::Result::ERROR_SURFACE_LOST_KHR) {
                    self.losses.forgive(error, shown.renderer.last_pass())?;
                }
                self.lose();
                Ok(())
            }
        }
    }

    fn key(&mut self, event_loop: &ActiveEventLoop, key: &Key) {
        match key {
            Key::Named(NamedKey::Escape) => event_loop.exit(),
            Key::Named(NamedKey::Space) => self.clock.paused = !self.clock.paused,
            Key::Character(text) => match text.as_str() {
                "f" | "F" => {
                    self.framed = Framed::Yes(None);
                    self.frame_crowd();
                }
                "[" => self.step_clip(-1),
                "]" => self.step_clip(1),
                "0" => self.choose_clip(ClipChoice::All),
                "v" | "V" => self.show_next_view(),
                "k" | "K" => self.scene.show.skeleton = !self.scene.show.skeleton,
                digit => {
                    if let Ok(number @ 1..=9) = digit.parse::<usize>() {
                        self.choose_clip(ClipChoice::Index(number - 1));
                    }
                }
            },
            _ => {}
        }
    }

    /// Shows the next debug view. A view that the device does not support is left out.
    fn show_next_view(&mut self) {
        let Some(shown) = &mut self.shown else { return };
        let show = &mut self.scene.show;
        for _ in DebugView::ALL {
            show.view = show.view.next();
            if shown.renderer.show(*show).is_ok() {
                return;
            }
        }
    }

    /// Points the camera at the crowd as it is now, from the direction of `self.framed` if there is one.
    fn frame_crowd(&mut self) {
        if let Framed::Yes(direction) = self.framed {
            let size = self.shown.as_ref().map_or(PhysicalSize::new(16, 9), |shown| shown.size);
            let aspect = size.width.max(1) as f32 / size.height.max(1) as f32;
            self.scene.frame(direction, self.clock.time_seconds, aspect);
        }
    }

    fn step_clip(&mut self, step: isize) {
        let count = self.scene.models.iter().map(|model| model.clips.len()).max().unwrap_or(0);
        let now = match &self.clip {
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

    fn choose_clip(&mut self, choice: ClipChoice) {
        // A number without a clip changes nothing.
        if self.scene.crowd.set_clip(&choice).is_ok() {
            self.clip = choice;
        }
    }

    fn fail(&mut self, event_loop: &ActiveEventLoop, error: anyhow::Error) {
        self.error = Some(error);
        event_loop.exit();
    }
}

impl ApplicationHandler for Viewer<'_> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.shown.is_none()
            && let Err(error) = self.open(event_loop)
        {
            self.fail(event_loop, error);
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
        match event {
            // `Destroyed` means that another client destroyed the window (`xdotool windowclose`).
            WindowEvent::CloseRequested | WindowEvent::Destroyed => event_loop.exit(),
            WindowEvent::Resized(size) => {
                if let Some(shown) = &mut self.shown {
                    shown.size = size;
                    shown.renderer.resize(size.width, size.height);
                    shown.window.request_redraw();
                    self.frame_crowd();
                } else if let Some(lost) = &mut self.lost {
                    lost.size = size;
                }
            }
            WindowEvent::RedrawRequested => {
                if let Err(error) = self.draw(event_loop) {
                    self.fail(event_loop, error);
                }
            }
            WindowEvent::KeyboardInput {
                event: KeyEvent { logical_key, state: ElementState::Pressed, .. }, ..
            } => self.key(event_loop, &logical_key),
            WindowEvent::MouseInput { state, button, .. } => self.mouse.press(button, state),
            WindowEvent::CursorMoved { position, .. } => {
                let height = self.shown.as_ref().map_or(1, |shown| shown.size.height);
                if self.mouse.moved(position, height, &mut self.scene.camera) {
                    self.framed = Framed::No;
                }
            }
            WindowEvent::MouseWheel { delta, .. } => {
                const PIXELS_PER_LINE: f64 = 40.0;
                let lines = match delta {
                    MouseScrollDelta::LineDelta(_, lines) => lines,
                    MouseScrollDelta::PixelDelta(pixels) => (pixels.y / PIXELS_PER_LINE) as f32,
                };
                self.scene.zoom(0.9f32.powf(lines), self.clock.time_seconds);
                self.framed = Framed::No;
            }
            _ => {}
        }
    }
}

/// The animation time. It follows the wall clock, except while paused.
struct Clock {
    time_seconds: f64,
    last: Instant,
    paused: bool,
}

impl Clock {
    fn advance(&mut self) -> f64 {
        let now = Instant::now();
        if !self.paused {
            self.time_seconds += (now - self.last).as_secs_f64();
        }
        self.last = now;
        self.time_seconds
    }
}

/// Whether the camera still frames the crowd. Until the user moves it, it follows the shape of the window.
#[derive(Clone, Copy)]
enum Framed {
    /// It does, from this direction, or from the default one.
    Yes(Option<CameraArg>),
    No,
}

/// The buttons that are held, and the last position of the cursor.
#[derive(Default)]
struct Mouse {
    orbiting: bool,
    panning: bool,
    last: Option<PhysicalPosition<f64>>,
}

impl Mouse {
    fn press(&mut self, button: MouseButton, state: ElementState) {
        let pressed = state == ElementState::Pressed;
        match button {
            MouseButton::Left => self.orbiting = pressed,
            MouseButton::Right | MouseButton::Middle => self.panning = pressed,
            _ => {}
        }
    }

    /// Moves the camera if a button is held. Returns whether one is.
    fn moved(&mut self, position: PhysicalPosition<f64>, window_height: u32, camera: &mut OrbitCamera) -> bool {
        /// The camera's turn for a drag over the whole height of the window.
        const RADIANS_PER_HEIGHT: f32 = std::f32::consts::PI;
        if let Some(last) = self.last.replace(position) {
            let height = f64::from(window_height.max(1));
            let right = ((position.x - last.x) / height) as f32;
            let down = ((position.y - last.y) / height) as f32;
            if self.orbiting {
                camera.orbit(-right * RADIANS_PER_HEIGHT, down * RADIANS_PER_HEIGHT);
            } else if self.panning {
                camera.pan(-right, down);
            }
        }
        self.orbiting || self.panning
    }
}

/// The window's title: models, visible instances, clip and frame time.
struct Title {
    since: Instant,
    frames: u32,
}

impl Title {
    /// Counts a frame and updates the title four times a second.
    fn count(&mut self, window: &Window, scene: &Scene, clip: &ClipChoice) {
        const PERIOD: Duration = Duration::from_millis(250);
        self.frames += 1;
        let elapsed = self.since.elapsed();
        if elapsed < PERIOD {
            return;
        }
        let frame_ms = elapsed.as_secs_f64() * 1e3 / f64::from(self.frames);
        let names: Vec<&str> = scene.models.iter().map(|model| model.name.as_str()).collect();
        let clip = match clip {
            ClipChoice::None => "rest pose".to_owned(),
            ClipChoice::All => "all clips".to_owned(),
            ClipChoice::Name(name) => name.clone(),
            ClipChoice::Index(index) => {
                let clip = scene.models.iter().find_map(|model| model.clips.get(*index));
                clip.and_then(|clip| clip.name.clone()).unwrap_or_else(|| format!("clip {index}"))
            }
        };
        let visible: u32 = scene.crowd.visible_counts().iter().sum();
        let view = match scene.show.view {
            DebugView::Lit => String::new(),
            view => format!(" · {}", view.name()),
        };
        window.set_title(&format!(
            "Throng: {} · {visible} visible · {clip}{view} · {frame_ms:.1} ms ({:.0} fps)",
            names.join(" + "),
            1e3 / frame_ms
        ));
        self.since = Instant::now();
        self.frames = 0;
    }
}
