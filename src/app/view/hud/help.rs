//! The help page: all keys and gestures, from the table of `cli::keys`.

use egui::{Align2, Area, Context, Frame, Grid, Id, Rect, RichText, ScrollArea};

use super::{MARGIN, PADDING};
use crate::cli::keys;

/// The width of the page with its frame, in points. It follows from the texts.
const WIDTH: f32 = 560.0;

/// Shows the page in the middle of `beside_panel`, the part of the window that the panel does not cover. Where that is too narrow,
/// the page is in the middle of the window, over the panel. In a low window the page scrolls.
pub fn show(context: &Context, frame: Frame, beside_panel: Rect) {
    let area = if beside_panel.width() < WIDTH + 2.0 * MARGIN { context.content_rect() } else { beside_panel };
    let area = area.shrink(MARGIN);
    let page = Area::new(Id::new("help")).movable(false).constrain_to(area).default_size(area.size());
    let page = page.anchor(Align2::CENTER_CENTER, [0.0, 0.0]);
    page.show(context, |ui| {
        frame.show(ui, |ui| {
            ScrollArea::vertical().max_height(area.height() - 2.0 * PADDING).show(ui, |ui| {
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
