//! The parts of the shown files: what each of them weighs, and whether it is hidden.

use egui::epaint::EllipseShape;
use egui::{Response, RichText, Role, Sense, Ui, WidgetInfo, vec2};

use super::lists::Searches;
use crate::app::hide::patterns_for;
use crate::app::text::{counted, format_bytes, name as name_of};
use crate::app::view::state::State;
use crate::model::source::Part;

const MOST_PARTS: usize = 1000;

/// Shows the list. Each change is a wish for other patterns of `--hide`.
pub fn show(searches: &mut Searches, ui: &mut Ui, state: &State, wish: &mut Option<Vec<String>>) {
    let models = state.scene.models.iter();
    let parts: Vec<Part> = models.flat_map(|model| &model.source.parts).take(MOST_PARTS).cloned().collect();
    let hidden = parts.iter().filter(|part| part.is_hidden).count();
    ui.horizontal(|ui| {
        let count = counted(parts.len(), "part");
        let text =
            if hidden > 0 { format!("{hidden} of {count} hidden") } else { format!("{count}; a name shows it alone") };
        ui.label(RichText::new(text).small().weak());
        if hidden > 0 && ui.small_button("show all").clicked() {
            *wish = Some(patterns_for(&parts, |_| false));
        }
    });
    let rows: Vec<String> = parts.iter().map(row).collect();
    let alone = parts.iter().position(|part| !part.is_hidden).filter(|_| hidden + 1 == parts.len());
    let mut mark = |ui: &mut Ui, row: usize| {
        let part = &parts[row];
        if eye(ui, part).clicked() {
            *wish = Some(if part.is_hidden {
                patterns_for(&parts, |other| other.is_hidden && other.name != part.name)
            } else {
                state.args.crowd.hide.iter().chain([&part.name]).cloned().collect()
            });
        }
    };
    if let Some(row) = searches.list(ui, "parts", &rows, alone, &mut mark) {
        let shows_all = alone == Some(row);
        *wish = Some(patterns_for(&parts, |part| !shows_all && part.name != parts[row].name));
    }
}

fn row(part: &Part) -> String {
    let Part { name, triangles, material, texture_bytes, .. } = part;
    let textures = if *texture_bytes > 0 { format!(", {}", format_bytes(*texture_bytes)) } else { String::new() };
    format!("{}  ({}{textures}, {material})", name_of(name), counted(*triangles, "triangle"))
}

/// Shows an eye, which is closed if the part is hidden.
fn eye(ui: &mut Ui, part: &Part) -> Response {
    let (rect, eye) = ui.allocate_exact_size(vec2(20.0, ui.spacing().interact_size.y), Sense::click());
    let stroke = ui.style().interact(&eye).fg_stroke;
    let [left, right] = [-7.0, 7.0].map(|x| rect.center() + vec2(x, 0.0));
    if part.is_hidden {
        ui.painter().line_segment([left, right], stroke);
    } else {
        ui.painter().add(EllipseShape::stroke(rect.center(), vec2(7.0, 4.5), stroke));
        ui.painter().circle_filled(rect.center(), 2.5, stroke.color);
    }
    let text = format!("{} {}", if part.is_hidden { "show" } else { "hide" }, name_of(&part.name));
    eye.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, !part.is_hidden, &text));
    eye.on_hover_text(text)
}
