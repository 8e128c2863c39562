//! The help page: all keys and gestures, from the table of `cli::keys`.

use egui::{Align2, Context, Frame, Grid, RichText, Window};

use crate::cli::keys;

/// Shows the page in the middle of the window.
pub fn show(context: &Context, frame: Frame) {
    let page = Window::new("help").title_bar(false).resizable(false).movable(false).frame(frame);
    page.anchor(Align2::CENTER_CENTER, [0.0, 0.0]).show(context, |ui| {
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
}
