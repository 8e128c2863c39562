//! The frame-time graph: a column for each of the last frames, stacked by CPU stage, and below it by GPU pass.

use egui::{Color32, Mesh, Rect, RichText, Sense, Shape, Ui, Vec2, pos2, vec2};

use super::figures::{Figures, FrameTimes, MOST_FRAMES};
use crate::app::text::number;
use crate::renderer::{CpuStage, Pass};

const HEIGHT: f32 = 44.0;

/// The name and the colour of a stage or a pass.
type Part = (&'static str, [u8; 3]);

/// Draws both graphs with the medians of their parts.
pub fn show(ui: &mut Ui, figures: &Figures, width: f32) {
    let stages = CpuStage::ALL.map(|stage| (stage.name(), stage.color()));
    let passes = Pass::ALL.map(|pass| (pass.name(), pass.color()));
    show_one(ui, width, figures, ("CPU", &stages), |frame| &frame.stages.0);
    if figures.medians().passes.0.iter().any(|&ms| ms > 0.0) {
        show_one(ui, width, figures, ("GPU", &passes), |frame| &frame.passes.0);
    }
}

fn show_one(
    ui: &mut Ui,
    width: f32,
    figures: &Figures,
    (title, parts): (&str, &[Part]),
    times_ms: fn(&FrameTimes) -> &[f64],
) {
    let highest = figures.frames().map(|frame| times_ms(frame).iter().sum()).fold(0.0, f64::max) as f32;
    let full_ms = round_up(highest);
    let (response, painter) = ui.allocate_painter(vec2(width, HEIGHT), Sense::hover());
    let area = response.rect;
    painter.rect_filled(area, 2.0, Color32::from_black_alpha(90));
    let mut mesh = Mesh::default();
    let column_width = area.width() / MOST_FRAMES as f32;
    let first = MOST_FRAMES - figures.frames().len();
    for (column, frame) in figures.frames().enumerate() {
        let left = area.left() + (first + column) as f32 * column_width;
        let mut bottom = area.bottom();
        for (&ms, &(_, [red, green, blue])) in times_ms(frame).iter().zip(parts) {
            let top = (bottom - ms as f32 / full_ms * area.height()).max(area.top());
            let color = Color32::from_rgb(red, green, blue);
            mesh.add_colored_rect(Rect::from_min_max(pos2(left, top), pos2(left + column_width, bottom)), color);
            bottom = top;
        }
    }
    painter.add(Shape::mesh(mesh));
    let label = format!("{title}: {} ms high; medians below", number(f64::from(full_ms)));
    let font = egui::TextStyle::Small.resolve(ui.style());
    painter.text(area.left_top() + vec2(4.0, 2.0), egui::Align2::LEFT_TOP, label, font, ui.visuals().text_color());
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(3.0, 0.0);
        let medians = figures.medians();
        for (&(name, [red, green, blue]), &ms) in parts.iter().zip(times_ms(&medians)) {
            let (rect, _) = ui.allocate_exact_size(Vec2::splat(8.0), Sense::hover());
            ui.painter().rect_filled(rect, 2.0, Color32::from_rgb(red, green, blue));
            ui.label(RichText::new(format!("{name} {}", number(ms))).small());
            ui.add_space(4.0);
        }
    });
}

/// Returns the next of 1, 2, 5, 10 and so on, so that the scale of the graph seldom changes.
fn round_up(ms: f32) -> f32 {
    let decade = 10f32.powf(ms.max(1e-3).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    steps.into_iter().map(|step| step * decade).find(|&step| step >= ms).unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_round_numbers() {
        let rounded = [0.0, 0.3, 1.0, 1.1, 4.9, 7.0, 16.7, 201.0].map(round_up);
        let expected = [0.001, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 500.0];
        assert!(rounded.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3 * b), "{rounded:?}");
    }
}
