//! What stands over the picture: the panel, the name of the joint under the cursor, the last message, and the page of keys.
//!
//! In: egui's context with the events of a pass, the [`Facts`] of a frame and the [`State`]. Out: a changed state, and
//! [`Wishes`]. No window and no renderer takes part, so that tests can click on all of it.

use std::time::{Duration, Instant};

use egui::{
    Align2, Area, Context, FontId, Grid, Id, Label, Order, Rect, RichText, ScrollArea, TextStyle, Window, pos2, vec2,
};
use glam::Vec2;

use super::panel::{self, Facts, Panel, Wishes, frame};
use crate::app::view::state::State;
use crate::app::view::words;
use crate::cli::keys;
use crate::extras::DebugView;

/// The distance between the panel's edge and its contents, above and below, in points.
const PADDING: f32 = 10.0;
/// The least distance between the panel or the help page and the window's edges, in points.
const MARGIN: f32 = 8.0;
/// The width of the panel with its distances to both sides, in points.
pub const COVERED: f32 = panel::WIDTH + 2.0 * (MARGIN + PADDING);
/// How long the name of a debug view stands over the picture.
const ANNOUNCED: Duration = Duration::from_secs(2);
/// The width of the help page with its frame, in points. It follows from the texts.
const HELP_WIDTH: f32 = 560.0;

#[derive(Debug, Default)]
pub struct Contents {
    panel: Panel,
    pub shows_panel: bool,
    pub shows_help: bool,
    /// The debug view whose name stands over the picture, and since when.
    announced: Option<(DebugView, Instant)>,
}

impl Contents {
    pub fn new(shows_panel: bool) -> Self {
        Self { shows_panel, ..Self::default() }
    }

    /// Shows the name of a debug view over the picture for a while, also where the panel is hidden.
    pub fn announce(&mut self, view: DebugView) {
        self.announced = Some((view, Instant::now()));
    }

    pub fn is_visible(&self) -> bool {
        let is_announced = self.announced.is_some_and(|(_, since)| since.elapsed() < ANNOUNCED);
        self.shows_panel || self.shows_help || is_announced
    }

    /// Prepares a context: dark, with larger letters than egui's own, and nothing that moves by itself.
    pub fn prepare(context: &Context) {
        context.set_theme(egui::Theme::Dark);
        context.all_styles_mut(style);
        // Such discs would be scaled, and the atlas is not filtered.
        context.tessellation_options_mut(|options| options.prerasterized_discs = false);
    }

    pub fn show(&mut self, context: &Context, facts: &Facts, state: &mut State, wishes: &mut Wishes) {
        let whole = context.content_rect();
        let mut beside_panel = whole;
        if self.shows_panel {
            let shown = Window::new("panel")
                .title_bar(false)
                .resizable(false)
                .movable(false)
                .frame(frame())
                .fixed_pos(pos2(MARGIN, MARGIN))
                .fixed_size(vec2(panel::WIDTH, whole.height() - 2.0 * MARGIN - 2.0 * PADDING))
                .vscroll(true)
                .show(context, |ui| {
                    ui.set_width(panel::WIDTH);
                    self.panel.show(ui, facts, state, wishes);
                });
            if let Some(shown) = shown {
                beside_panel.min.x = shown.response.rect.right().min(beside_panel.max.x);
            }
        }
        let over = |name: &str| Area::new(Id::unique(name)).order(Order::Tooltip).interactable(false);
        let outside = context.pointer_hover_pos().filter(|_| !context.is_pointer_over_egui());
        let size_pixels = Vec2::new(whole.width(), whole.height()) * context.pixels_per_point();
        if let Some(at) = outside
            && let Some(name) = words::joint_at(state, Vec2::new(at.x, at.y) * context.pixels_per_point(), size_pixels)
        {
            let place = over("joint").fixed_pos(at + vec2(16.0, 8.0));
            place.show(context, |ui| frame().show(ui, |ui| ui.add(Label::new(name).extend())));
        }
        if let Some((view, since)) = self.announced
            && let Some(left) = ANNOUNCED.checked_sub(since.elapsed())
        {
            let place = over("view").anchor(Align2::CENTER_TOP, [0.5 * beside_panel.min.x, MARGIN]);
            place.show(context, |ui| {
                frame().show(ui, |ui| {
                    ui.label(RichText::new(view.name()).strong().size(17.0));
                    view.legend().map(|legend| ui.label(legend));
                })
            });
            context.request_repaint_after(left);
        }
        // In the lower right corner, where it pushes no control away.
        if let Some(notice) = facts.notice {
            let place = over("notice").anchor(Align2::RIGHT_BOTTOM, [-MARGIN, -MARGIN]);
            place.show(context, |ui| {
                ui.set_max_width(beside_panel.width() - 4.0 * MARGIN);
                frame().show(ui, |ui| ui.label(notice.rich_text()))
            });
        }
        if self.shows_help {
            show_help(context, [beside_panel, whole].map(|area| area.shrink(MARGIN)));
        }
    }
}

/// Shows all keys and gestures in the middle of the first area, which is beside the panel. Where that is too narrow, the page
/// is in the middle of the second one, over the panel. In a low window the page scrolls.
fn show_help(context: &Context, [beside_panel, whole]: [Rect; 2]) {
    let frame = frame();
    // The page may be over the panel, whose texts would be seen through it.
    let frame = frame.fill(frame.fill.to_opaque());
    let area = if beside_panel.width() < HELP_WIDTH { whole } else { beside_panel };
    let page = Area::new(Id::unique("help")).movable(false).constrain_to(area).default_size(area.size());
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
