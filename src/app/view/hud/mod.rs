//! The panel over the picture, with egui.
//!
//! In: winit's events and the [`Facts`] of a frame. Out: an overlay for the renderer, a changed [`State`], and [`Wishes`]. The
//! files: [`panel`] with its [`lists`] and [`graph`], and [`paint`], the way to the renderer.
//!
//! Invariants: a hidden panel costs nothing. A shown one is laid out after events, and otherwise a few times a second. In
//! between, the same triangles are drawn.

pub mod graph;
pub mod lists;
pub mod paint;
mod panel;

use std::time::{Duration, Instant};

use anyhow::Result;
use egui::{
    Align2, Area, Context, Event, FontId, FullOutput, Grid, Id, Label, Order, Pos2, RawInput, Rect, RichText,
    ScrollArea, TextStyle, Ui, Window, pos2, vec2,
};
use egui_winit::State as Input;
use glam::Vec2;
use winit::event::{ElementState, WindowEvent};
use winit::window::Window as OsWindow;

use super::state::State;
use super::words;
use crate::cli::keys;
use crate::renderer::Renderer;
use paint::{Atlas, fill};
use panel::{Panel, frame};

pub use graph::Figures;
pub use panel::{Facts, Notice, Wishes};

/// The distance between the panel's edge and its contents, above and below, in points.
const PADDING: f32 = 10.0;
/// The least distance between the panel or the help page and the window's edges, in points.
const MARGIN: f32 = 8.0;
/// The width of the help page with its frame, in points. It follows from the texts.
const HELP_WIDTH: f32 = 560.0;
/// The panel is laid out again after this time although nothing has happened, for the graph and the time.
const PERIOD: Duration = Duration::from_millis(100);

/// The panel and its input.
pub struct Hud {
    context: Context,
    input: Input,
    atlas: Atlas,
    panel: Panel,
    shows_panel: bool,
    shows_help: bool,
    /// Whether a movement of the cursor over the picture changes what is shown: the name of a joint.
    follows_cursor: bool,
    /// The cursor in points.
    cursor: Pos2,
    /// Whether a mouse button is held that was pressed over the panel.
    holds_button: bool,
    has_events: bool,
    laid_out: Option<(Instant, [u32; 2])>,
    start: Instant,
}

impl Hud {
    /// Returns a panel for a window.
    pub fn new(window: &OsWindow, shows_panel: bool) -> Self {
        let context = Context::default();
        context.set_theme(egui::Theme::Dark);
        context.all_styles_mut(style);
        // Such discs would be scaled, and the atlas is not filtered.
        context.tessellation_options_mut(|options| options.prerasterized_discs = false);
        let id = context.viewport_id();
        let input = Input::new(context.clone(), id, window, Some(window.scale_factor() as f32), None, None);
        Self {
            context,
            input,
            atlas: Atlas::default(),
            panel: Panel::default(),
            shows_panel,
            shows_help: false,
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
        if !self.is_visible() {
            return false;
        }
        if matches!(event, WindowEvent::KeyboardInput { .. }) && !self.context.text_edit_focused() {
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

    /// Returns whether anything is drawn.
    pub fn is_visible(&self) -> bool {
        self.shows_panel || self.shows_help
    }

    /// Returns the share of a window's width that the panel covers, from the left; at most a half.
    pub fn covered(&self, window: &OsWindow, image_width: u32) -> f32 {
        let points = if self.shows_panel { panel::WIDTH + 2.0 * (MARGIN + PADDING) } else { 0.0 };
        (points * egui_winit::pixels_per_point(&self.context, window) / image_width.max(1) as f32).min(0.5)
    }

    /// Shows or hides the panel.
    pub fn toggle_panel(&mut self) {
        self.shows_panel = !self.shows_panel;
        self.has_events = true;
    }

    /// Puts a text on the clipboard.
    pub fn copy(&mut self, text: String) {
        self.input.set_clipboard_text(text);
    }

    /// Returns whether the help page is shown.
    pub fn shows_help(&self) -> bool {
        self.shows_help
    }

    /// Shows or hides the help page.
    pub fn toggle_help(&mut self) {
        self.shows_help = !self.shows_help;
        self.has_events = true;
    }

    /// Notes that something has changed that the panel shows.
    pub fn changed(&mut self) {
        self.has_events = true;
    }

    /// Notes that the renderer is a new one, which has no atlas.
    pub fn renderer_was_replaced(&mut self) {
        self.atlas.set_uploaded(false);
        self.laid_out = None;
    }

    /// Returns whether the panel is visible and its triangles are out of date.
    pub fn needs_layout(&self, image_size: [u32; 2]) -> bool {
        let is_fresh = |&(since, size): &(Instant, [u32; 2])| size == image_size && since.elapsed() < PERIOD;
        self.is_visible() && (self.has_events || !self.laid_out.as_ref().is_some_and(is_fresh))
    }

    /// Removes the triangles of a panel that is hidden.
    pub fn clear(&mut self, renderer: &mut Renderer) {
        if self.laid_out.take().is_some() {
            renderer.overlay_mut().clear();
        }
    }

    /// Lays out the panel and hands its triangles to the renderer. Returns the wishes of the person, and the time after which
    /// the panel wants to be drawn again. `None`: after the next event.
    pub fn lay_out(
        &mut self,
        window: &OsWindow,
        renderer: &mut Renderer,
        image_size: [u32; 2],
        facts: &Facts,
        state: &mut State,
    ) -> Result<(Wishes, Option<Duration>)> {
        let mut wishes = Wishes::default();
        let pixels_per_point = egui_winit::pixels_per_point(&self.context, window);
        let size = vec2(image_size[0] as f32, image_size[1] as f32) / pixels_per_point;
        // Not `take_egui_input`: on X11 winit asks the server for the size, and panics once another client has destroyed
        // the window.
        let raw = self.input.egui_input_mut();
        raw.time = Some(self.start.elapsed().as_secs_f64());
        raw.screen_rect = Some(Rect::from_min_size(pos2(0.0, 0.0), size));
        let viewport = raw.viewports.entry(raw.viewport_id).or_default();
        viewport.native_pixels_per_point = Some(window.scale_factor() as f32);
        let mut raw = raw.take();
        let Self { context, panel, shows_panel, shows_help, .. } = self;
        let mut show = |ui: &mut Ui| {
            let context = ui.ctx().clone();
            let mut beside_panel = context.content_rect();
            if *shows_panel {
                let shown = Window::new("panel")
                    .title_bar(false)
                    .resizable(false)
                    .movable(false)
                    .frame(frame())
                    .fixed_pos(pos2(MARGIN, MARGIN))
                    .fixed_size(vec2(panel::WIDTH, size.y - 2.0 * MARGIN - 2.0 * PADDING))
                    .vscroll(true)
                    .show(&context, |ui| {
                        ui.set_width(panel::WIDTH);
                        panel.show(ui, facts, state, &mut wishes);
                    });
                if let Some(shown) = shown {
                    beside_panel.min.x = shown.response.rect.right().min(beside_panel.max.x);
                }
            }
            let outside = context.pointer_hover_pos().filter(|_| !context.is_pointer_over_egui());
            if let Some(at) = outside
                && let Some(name) = words::joint_at(state, Vec2::new(at.x, at.y) * pixels_per_point, image_size)
            {
                let place = Area::new(Id::new("joint")).order(Order::Tooltip).interactable(false);
                place
                    .fixed_pos(at + vec2(16.0, 8.0))
                    .show(&context, |ui| frame().show(ui, |ui| ui.add(Label::new(name).extend())));
            }
            // In the lower right corner, where it pushes no control away.
            if let Some(notice) = facts.notice {
                let place = Area::new(Id::new("notice")).order(Order::Tooltip).interactable(false);
                let place = place.anchor(Align2::RIGHT_BOTTOM, [-MARGIN, -MARGIN]);
                place.show(&context, |ui| {
                    ui.set_max_width(beside_panel.width() - 4.0 * MARGIN);
                    frame().show(ui, |ui| ui.label(notice.rich_text()))
                });
            }
            if *shows_help {
                show_help(&context, [beside_panel, context.content_rect()].map(|area| area.shrink(MARGIN)));
            }
        };
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
        self.has_events = false;
        self.laid_out = Some((Instant::now(), image_size));
        self.follows_cursor = words::character_with_names(state).is_some();
        if wishes.help {
            self.toggle_help();
        }
        let delay = output.viewport_output.values().map(|viewport| viewport.repaint_delay).min();
        self.input.handle_platform_output(window, output.platform_output);
        self.atlas.apply(output.textures_delta);
        let primitives = self.context.tessellate(output.shapes, output.pixels_per_point);
        fill(renderer.overlay_mut(), &primitives, output.pixels_per_point, image_size);
        if let Some((size, rgba, rows)) = self.atlas.changed() {
            renderer.set_overlay_atlas(size, rgba, rows)?;
            self.atlas.set_uploaded(true);
        }
        let is_soon = |delay: &Duration| *delay < Duration::from_secs(60);
        let redraw_after = if self.has_events { Some(Duration::ZERO) } else { delay.filter(is_soon) };
        if redraw_after == Some(Duration::ZERO) {
            self.has_events = true;
        }
        Ok((wishes, redraw_after))
    }
}

/// Shows all keys and gestures in the middle of the first area, which is beside the panel. Where that is too narrow, the page
/// is in the middle of the second one, over the panel. In a low window the page scrolls.
fn show_help(context: &Context, [beside_panel, whole]: [Rect; 2]) {
    let frame = frame();
    // The page may be over the panel, whose texts would be seen through it.
    let frame = frame.fill(frame.fill.to_opaque());
    let area = if beside_panel.width() < HELP_WIDTH { whole } else { beside_panel };
    let page = Area::new(Id::new("help")).movable(false).constrain_to(area).default_size(area.size());
    let page = page.anchor(Align2::CENTER_CENTER, [0.0, 0.0]);
    page.show(context, |ui| {
        frame.show(ui, |ui| {
            ScrollArea::vertical().max_height(area.height() - frame.total_margin().sum().y).show(ui, |ui| {
                ui.label(RichText::new("Mouse and keys").strong().size(17.0));
                ui.add_space(4.0);
                Grid::new("keys").num_columns(2).spacing([18.0, 3.0]).show(ui, |ui| {
                    for (keys, text) in keys::rows() {
                        ui.label(RichText::new(keys).monospace().strong());
                        ui.label(text);
                        ui.end_row();
                    }
                });
            });
        });
    });
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

/// Larger letters than egui's own, light on dark, and nothing that moves by itself.
fn style(style: &mut egui::Style) {
    for (text, size) in [(TextStyle::Body, 13.5), (TextStyle::Button, 13.5), (TextStyle::Small, 11.5)] {
        style.text_styles.insert(text, FontId::proportional(size));
    }
    style.animation_time = 0.0;
    style.visuals.text_cursor.blink = false;
    style.visuals.override_text_color = Some(egui::Color32::from_gray(225));
    style.visuals.slider_trailing_fill = true;
    style.spacing.item_spacing = vec2(7.0, 4.0);
    style.visuals.window_shadow = egui::Shadow::NONE;
    style.visuals.popup_shadow = egui::Shadow::NONE;
}
