//! The panel over the picture, with egui.
//!
//! In: winit's events and the [`Facts`] of a frame. Out: an overlay for the renderer, a changed [`State`], and [`Wishes`]. The
//! files: [`contents`] with the [`panel`], its [`lists`] and its [`graph`], and [`paint`](crate::app::paint), the way to the renderer.
//!
//! Invariants: a hidden panel costs nothing. A shown one is laid out after events, and otherwise a few times a second. In
//! between, the same triangles are drawn.

pub mod contents;
pub mod graph;
pub mod lists;
pub mod panel;
mod parts;

use std::time::{Duration, Instant};

use anyhow::Result;
use egui::{Context, Event, FullOutput, Order, Pos2, RawInput, Rect, Ui, pos2, vec2};
use egui_winit::State as Input;
use winit::event::{ElementState, WindowEvent};
use winit::window::Window as OsWindow;

use super::state::State;
use super::words;
use crate::app::paint::{fill, send_letters};
use crate::extras::Equipped;
use contents::{COVERED, Contents};

pub use graph::Figures;
pub use panel::{Facts, Notice, Wishes};

/// The panel is laid out again after this time although nothing has happened, for the graph and the time.
const PERIOD: Duration = Duration::from_millis(100);

pub struct Hud {
    context: Context,
    input: Input,
    has_letters: bool,
    pub contents: Contents,
    /// Whether a movement of the cursor over the picture changes what is shown: the name of a joint.
    follows_cursor: bool,
    cursor: Pos2,
    /// Whether a mouse button is held that was pressed over the panel.
    holds_button: bool,
    has_events: bool,
    laid_out: Option<(Instant, [u32; 2])>,
    start: Instant,
}

impl Hud {
    pub fn new(window: &OsWindow, shows_panel: bool) -> Self {
        let context = Context::default();
        Contents::prepare(&context);
        let id = context.viewport_id();
        let input = Input::new(context.clone(), id, window, Some(window.scale_factor() as f32), None, None);
        Self {
            context,
            input,
            has_letters: false,
            contents: Contents::new(shows_panel),
            follows_cursor: false,
            cursor: Pos2::ZERO,
            holds_button: false,
            has_events: true,
            laid_out: None,
            start: Instant::now(),
        }
    }

    /// Takes an event. Returns whether it belongs to the panel alone.
    pub fn takes(&mut self, window: &OsWindow, event: &WindowEvent) -> bool {
        // The panel's keys are those of the program, except while a text is typed.
        let is_key = matches!(event, WindowEvent::KeyboardInput { .. });
        if !self.contents.is_visible() || is_key && !self.context.text_edit_focused() {
            return false;
        }
        let response = self.input.on_window_event(window, event);
        if let WindowEvent::CursorMoved { position, .. } = event {
            let scale = egui_winit::pixels_per_point(&self.context, window);
            self.cursor = pos2(position.x as f32 / scale, position.y as f32 / scale);
        }
        // Not egui's own answers, which are those of the last layout: the cursor may have moved since.
        let layer = self.context.layer_id_at(self.cursor);
        let is_over = layer.is_some_and(|layer| layer.order != Order::Background);
        let ours = match event {
            WindowEvent::MouseInput { state: ElementState::Pressed, .. } => {
                self.holds_button = is_over;
                is_over
            }
            WindowEvent::MouseInput { state: ElementState::Released, .. } => std::mem::take(&mut self.holds_button),
            WindowEvent::MouseWheel { .. } | WindowEvent::PinchGesture { .. } => is_over,
            WindowEvent::KeyboardInput { .. } | WindowEvent::Ime(_) => true,
            _ => false,
        };
        if response.repaint && !matches!(event, WindowEvent::RedrawRequested) {
            let moves_outside =
                matches!(event, WindowEvent::CursorMoved { .. }) && !self.context.is_pointer_over_egui();
            if !moves_outside || self.follows_cursor {
                window.request_redraw();
            }
            self.has_events = true;
        }
        ours
    }

    /// Returns the share of a window's width that the panel covers, from the left; at most a half.
    pub fn covered(&self, window: &OsWindow, image_width: u32) -> f32 {
        let points = if self.contents.shows_panel { COVERED } else { 0.0 };
        (points * egui_winit::pixels_per_point(&self.context, window) / image_width.max(1) as f32).min(0.5)
    }

    pub fn copy(&mut self, text: String) {
        self.input.set_clipboard_text(text);
    }

    /// Notes that something has changed that the panel shows.
    pub fn changed(&mut self) {
        self.has_events = true;
    }

    /// Notes that the renderer is a new one, which has no letters.
    pub fn renderer_was_replaced(&mut self) {
        self.has_letters = false;
        self.laid_out = None;
    }

    /// Returns whether the panel is visible and its triangles are out of date.
    pub fn needs_layout(&self, image_size: [u32; 2]) -> bool {
        let is_fresh = |&(since, size): &(Instant, [u32; 2])| size == image_size && since.elapsed() < PERIOD;
        self.contents.is_visible() && (self.has_events || !self.laid_out.as_ref().is_some_and(is_fresh))
    }

    /// Removes the triangles of a panel that is hidden.
    pub fn clear(&mut self, renderer: &mut Equipped) {
        if self.laid_out.take().is_some() {
            renderer.overlay_mut().clear();
        }
    }

    /// Lays out the panel and hands its triangles to the renderer. Returns the wishes of the person, and the time after which
    /// the panel wants to be drawn again. `None`: after the next event.
    pub fn lay_out(
        &mut self,
        window: &OsWindow,
        renderer: &mut Equipped,
        image_size: [u32; 2],
        facts: &Facts,
        state: &mut State,
    ) -> Result<(Wishes, Option<Duration>)> {
        let mut wishes = Wishes::default();
        let pixels_per_point = egui_winit::pixels_per_point(&self.context, window);
        let size = vec2(image_size[0] as f32, image_size[1] as f32) / pixels_per_point;
        // Not `take_egui_input`: on X11 winit asks the server for the size, and panics if another client destroyed the window.
        let raw = self.input.egui_input_mut();
        raw.time = Some(self.start.elapsed().as_secs_f64());
        raw.screen_rect = Some(Rect::from_min_size(pos2(0.0, 0.0), size));
        let viewport = raw.viewports.entry(raw.viewport_id).or_default();
        viewport.native_pixels_per_point = Some(window.scale_factor() as f32);
        let mut raw = raw.take();
        let Self { context, contents, .. } = self;
        let mut show = |ui: &mut Ui| contents.show(ui.ctx(), facts, state, &mut wishes);
        let mut output = FullOutput::default();
        let mut later = std::mem::take(&mut raw.events);
        loop {
            let mut events = later;
            later = split_after_press(&mut events);
            output.append(context.run_ui(RawInput { events, ..raw.clone() }, &mut show));
            if later.is_empty() {
                break;
            }
        }
        self.laid_out = Some((Instant::now(), image_size));
        self.follows_cursor = words::character_with_names(state).is_some();
        let delay = output.viewport_output.values().map(|viewport| viewport.repaint_delay).min();
        let redraw_after = delay.filter(|delay| *delay < Duration::from_secs(60));
        self.has_events = redraw_after == Some(Duration::ZERO);
        self.input.handle_platform_output(window, output.platform_output);
        // The panel has no other images than the atlas of letters, which seldom changes. So the whole atlas is sent then.
        self.has_letters &= output.textures_delta.set.is_empty();
        output.textures_delta.clear();
        let primitives = self.context.tessellate(output.shapes, output.pixels_per_point);
        fill(renderer.overlay_mut(), &primitives, output.pixels_per_point, image_size);
        if !self.has_letters {
            send_letters(&self.context, renderer)?;
            self.has_letters = true;
        }
        Ok((wishes, redraw_after))
    }
}

/// Removes the events after the first press of a mouse button, and returns them.
///
/// They are for another pass of egui: a slider sees only which buttons are held when a pass starts, and after a slow frame
/// press and release come together.
pub fn split_after_press(events: &mut Vec<Event>) -> Vec<Event> {
    let is_press = |event: &Event| matches!(event, Event::PointerButton { pressed: true, .. });
    let end = events.iter().position(is_press).map_or(events.len(), |press| press + 1);
    events.split_off(end)
}
