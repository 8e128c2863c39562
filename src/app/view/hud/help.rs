//! The help page: all keys and gestures, from the table of `cli::keys`.

use egui::{Align2, Area, Context, Frame, Grid, Id, Rect, RichText, ScrollArea};

use crate::cli::keys;

/// The width of the page with its frame, in points. It follows from the texts.
const WIDTH: f32 = 560.0;

/// Shows the page in the middle of the first area, which is beside the panel. Where that is too narrow, the page is in the
/// middle of the second one, over the panel. In a low window the page scrolls.
pub fn show(context: &Context, frame: Frame, [beside_panel, whole]: [Rect; 2]) {
    // The page may be over the panel, whose texts would be seen through it.
    let frame = frame.fill(frame.fill.to_opaque());
    let area = if beside_panel.width() < WIDTH { whole } else { beside_panel };
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
