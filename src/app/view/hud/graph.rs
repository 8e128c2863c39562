//! The frame-time graph: a column for each of the last frames, stacked by CPU stage, and below it by GPU pass.
//!
//! In: the times of each frame, as `bench` measures them. Out: the graph, and the median of each stage and pass.

use std::collections::VecDeque;

use egui::{Color32, Mesh, Rect, RichText, Sense, Shape, Ui, Vec2, pos2, vec2};

use crate::app::bench::report::median_of;
use crate::app::colors;
use crate::app::text::number;
use crate::renderer::{CpuStage, Pass, PassTimes, StageTimes};

pub const MOST_FRAMES: usize = 120;
const HEIGHT: f32 = 44.0;

/// The times of one frame, and those of the GPU a few frames before, or zeros if the device has no timestamps.
type FrameTimes = (StageTimes, PassTimes);

#[derive(Debug, Default)]
pub struct Figures {
    frames: VecDeque<FrameTimes>,
}

impl Figures {
    /// Adds a frame, and forgets one that is too old.
    pub fn add(&mut self, stages: StageTimes, passes: Option<PassTimes>) {
        if self.frames.len() == MOST_FRAMES {
            self.frames.pop_front();
        }
        self.frames.push_back((stages, passes.unwrap_or_default()));
    }

    /// Forgets all frames: those of other settings do not count.
    pub fn clear(&mut self) {
        self.frames.clear();
    }

    fn medians(&self) -> FrameTimes {
        let median = |of: &dyn Fn(&FrameTimes) -> f64| median_of(self.frames.iter().map(of).collect());
        let stages = std::array::from_fn(|stage| median(&|(stages, _)| stages.0[stage]));
        (StageTimes(stages), PassTimes(std::array::from_fn(|pass| median(&|(_, passes)| passes.0[pass]))))
    }

    /// Returns the median of the CPU's time for a whole frame. `None` before the first one.
    pub fn median_frame_ms(&self) -> Option<f64> {
        let totals = self.frames.iter().map(|(stages, _)| stages.0.iter().sum());
        (!self.frames.is_empty()).then(|| median_of(totals.collect()))
    }
}

/// Draws both graphs with the medians of their parts.
pub fn show(ui: &mut Ui, figures: &Figures, width: f32) {
    let stages = CpuStage::ALL.map(|stage| (stage.name(), colors::STAGES[stage as usize]));
    let passes = Pass::ALL.map(|pass| (pass.name(), colors::PASSES[pass as usize]));
    show_one(ui, width, figures, "CPU", &stages, |(stages, _)| &stages.0);
    if figures.medians().1.0.iter().any(|&ms| ms > 0.0) {
        show_one(ui, width, figures, "GPU", &passes, |(_, passes)| &passes.0);
    }
}

/// Draws one graph. Each part has a name and a colour.
fn show_one(
    ui: &mut Ui,
    width: f32,
    figures: &Figures,
    title: &str,
    parts: &[(&str, [u8; 3])],
    times_ms: fn(&FrameTimes) -> &[f64],
) {
    let highest = figures.frames.iter().map(|frame| times_ms(frame).iter().sum()).fold(0.0, f64::max) as f32;
    let full_ms = round_up(highest);
    let (response, painter) = ui.allocate_painter(vec2(width, HEIGHT), Sense::hover());
    let area = response.rect;
    painter.rect_filled(area, 2.0, Color32::from_black_alpha(90));
    let mut mesh = Mesh::default();
    let column_width = area.width() / MOST_FRAMES as f32;
    let first = MOST_FRAMES - figures.frames.len();
    for (column, frame) in figures.frames.iter().enumerate() {
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
pub fn round_up(ms: f32) -> f32 {
    let decade = 10f32.powf(ms.max(1e-3).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    steps.into_iter().map(|step| step * decade).find(|&step| step >= ms).unwrap_or(10.0 * decade)
}
