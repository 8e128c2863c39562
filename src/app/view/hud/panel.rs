//! The panel at the left edge of the window, with all facts and controls.
//!
//! In: [`Facts`], and [`Controls`] as they are. Out: the same controls as the person wants them, and a [`Request`].

use egui::{
    Button, CollapsingHeader, Color32, ComboBox, DragValue, Frame, Margin, RichText, Slider, SliderClamping, Ui,
};

use super::facts::Facts;
use super::graph;
use super::lists::Searches;
use crate::app::joint::joints;
use crate::app::view::controls::Controls;
use crate::crowd::{ClipChoice, Layout};
use crate::renderer::{Skinning, UploadPath};
use crate::view::{Background, DebugView};

/// The width of the panel in points.
pub const WIDTH: f32 = 292.0;

/// Something that the panel cannot do by changing a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Show the frame this many steps later.
    Step(i32),
    /// Open the file with this index.
    Open(usize),
    /// Show the help page.
    Help,
    /// Point the camera at the selected character.
    Focus,
    /// Select nothing.
    Deselect,
}

/// The state of the panel itself.
#[derive(Debug, Default)]
pub struct Panel {
    searches: Searches,
    /// The number of instances while the slider is held.
    held_instances: Option<u32>,
}

/// Returns the frame of the panel and of the help page: dark, and a little translucent.
pub fn frame() -> Frame {
    Frame::new()
        .fill(Color32::from_rgba_unmultiplied(18, 21, 26, 225))
        .inner_margin(Margin::symmetric(12, 10))
        .corner_radius(6)
}

impl Panel {
    /// Shows the panel.
    pub fn show(&mut self, ui: &mut Ui, facts: &Facts, controls: &mut Controls) -> Option<Request> {
        let mut request = None;
        ui.horizontal(|ui| {
            ui.label(RichText::new("Throng").strong().size(17.0));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if ui.button("Keys (H)").clicked() {
                    request = Some(Request::Help);
                }
                ui.label(RichText::new("Tab hides this").small().weak());
            });
        });
        if let Some(notice) = facts.notice {
            let color =
                if notice.is_error { Color32::from_rgb(255, 140, 110) } else { Color32::from_rgb(140, 215, 150) };
            ui.label(RichText::new(&notice.text).color(color));
        }
        ui.separator();
        request = playback(ui, controls).or(request);
        if !facts.selected.is_empty() {
            section(ui, "Selected", true, |ui| request = selected(ui, facts).or(request));
        }
        section(ui, "Clip", true, |ui| self.clips(ui, facts, controls));
        if facts.files.len() > 1 {
            section(ui, "Model", false, |ui| {
                if let Some(file) = self.searches.list(ui, "models", facts.files, facts.file, 130.0) {
                    request = Some(Request::Open(file));
                }
            });
        }
        section(ui, "Crowd", true, |ui| self.crowd(ui, facts, controls));
        section(ui, "Look", false, |ui| self.look(ui, facts, controls));
        section(ui, "Drawing", false, |ui| drawing(ui, facts, controls));
        section(ui, "Frame time", true, |ui| graph::show(ui, facts.figures, WIDTH));
        ui.separator();
        for line in facts.lines {
            ui.label(RichText::new(line).small());
        }
        request
    }

    fn clips(&mut self, ui: &mut Ui, facts: &Facts, controls: &mut Controls) {
        let longest = facts.models.iter().max_by_key(|model| model.clips.len());
        let clips = longest.map_or(&[][..], |model| &model.clips);
        let name = |(index, clip): (usize, &crate::model::Clip)| {
            let name = clip.name.clone().unwrap_or_else(|| format!("clip {index}"));
            format!("{name}  ({:.2} s)", clip.duration_seconds)
        };
        let special = ["all clips, mixed".to_owned(), "rest pose".to_owned()];
        let rows: Vec<String> = special.into_iter().chain(clips.iter().enumerate().map(name)).collect();
        let chosen = match &controls.clip {
            ClipChoice::All => Some(0),
            ClipChoice::None => Some(1),
            ClipChoice::Index(index) => Some(index + 2),
            ClipChoice::Name(name) => {
                clips.iter().position(|clip| clip.name.as_ref() == Some(name)).map(|index| index + 2)
            }
        };
        if let Some(row) = self.searches.list(ui, "clips", &rows, chosen, 108.0) {
            controls.clip = match row {
                0 => ClipChoice::All,
                1 => ClipChoice::None,
                row => ClipChoice::Index(row - 2),
            };
        }
    }

    fn crowd(&mut self, ui: &mut Ui, facts: &Facts, controls: &mut Controls) {
        let crowd = &mut controls.crowd;
        let mut count = self.held_instances.unwrap_or(crowd.instances);
        let most = facts.most_instances.max(crowd.instances);
        ui.spacing_mut().slider_width = 150.0;
        let slider = ui.add(Slider::new(&mut count, 1..=most).logarithmic(true).text("instances"));
        // The crowd changes when the slider is released, because each change places all instances again.
        let is_held = slider.dragged() || ui.ctx().text_edit_focused();
        self.held_instances = is_held.then_some(count);
        if !is_held {
            crowd.instances = count;
        }
        ui.label(RichText::new((facts.memory)(count)).small().weak());
        ui.horizontal(|ui| {
            for (layout, name) in [(Layout::Grid, "grid"), (Layout::Ring, "ring"), (Layout::Scatter, "scatter")] {
                ui.selectable_value(&mut crowd.layout, layout, name);
            }
            ui.label("seed");
            ui.add(DragValue::new(&mut crowd.seed).speed(0.1));
        });
        ui.add(
            Slider::new(&mut crowd.variety, 0.0..=1.0).text("variety").max_decimals(2).clamping(SliderClamping::Edits),
        );
        ui.checkbox(&mut crowd.travel, "travel: walkers go somewhere");
    }

    fn look(&mut self, ui: &mut Ui, facts: &Facts, controls: &mut Controls) {
        ui.horizontal(|ui| {
            ui.label("surfaces show");
            ComboBox::from_id_salt("view").selected_text(controls.view.name()).show_ui(ui, |ui| {
                for view in DebugView::ALL {
                    ui.selectable_value(&mut controls.view, view, view.name());
                }
            });
        });
        ui.checkbox(&mut controls.skeleton, "skeleton");
        CollapsingHeader::new(match &controls.joint {
            Some(joint) => format!("weights of the joint {joint}"),
            None => "weights of a joint".to_owned(),
        })
        .id_salt("joint")
        .show(ui, |ui| self.joints(ui, facts, controls));
        let look = &mut controls.look;
        ui.horizontal(|ui| {
            ui.label("background");
            ui.selectable_value(&mut look.background, Background::Sky, "sky");
            let plain = matches!(look.background, Background::Color(_));
            if ui.selectable_label(plain, "colour").clicked() && !plain {
                look.background = Background::Color([0x30, 0x36, 0x40]);
            }
            if let Background::Color(color) = &mut look.background {
                ui.color_edit_button_srgb(color);
            }
            ui.selectable_value(&mut look.background, Background::None, "none");
        });
        ui.checkbox(&mut look.ground, "ground");
        ui.spacing_mut().slider_width = 120.0;
        let exposure = Slider::new(&mut look.exposure_ev, -4.0..=4.0).text("stops of exposure").max_decimals(1);
        ui.add(exposure.clamping(SliderClamping::Edits));
    }

    fn joints(&mut self, ui: &mut Ui, facts: &Facts, controls: &mut Controls) {
        // Names may repeat within a model and between models. One row shows the joint of all models.
        let mut rows = vec!["none".to_owned()];
        for model in facts.models {
            for node in joints(model) {
                let name = model.skeleton.names.get(node as usize);
                let name = name.cloned().unwrap_or_else(|| node.to_string());
                if !rows.contains(&name) {
                    rows.push(name);
                }
            }
        }
        let chosen = match &controls.joint {
            None => Some(0),
            Some(joint) => rows.iter().skip(1).position(|row| row == joint).map(|row| row + 1),
        };
        if let Some(row) = self.searches.list(ui, "joints", &rows, chosen, 108.0) {
            controls.joint = rows.get(row).filter(|_| row > 0).cloned();
        }
    }
}

fn section(ui: &mut Ui, title: &str, is_open: bool, show: impl FnOnce(&mut Ui)) {
    let title = RichText::new(title).strong();
    CollapsingHeader::new(title).default_open(is_open).show_unindented(ui, show);
}

fn playback(ui: &mut Ui, controls: &mut Controls) -> Option<Request> {
    let mut request = None;
    ui.horizontal(|ui| {
        if ui.add(Button::new("⏮")).on_hover_text("one frame back (,)").clicked() {
            request = Some(Request::Step(-1));
        }
        let (symbol, text) =
            if controls.is_paused { ("▶  Play", "play (Space)") } else { ("⏸  Pause", "pause (Space)") };
        if ui.add(Button::new(symbol).min_size([84.0, 0.0].into())).on_hover_text(text).clicked() {
            controls.is_paused = !controls.is_paused;
        }
        if ui.add(Button::new("⏭")).on_hover_text("one frame on (.)").clicked() {
            request = Some(Request::Step(1));
        }
        ui.checkbox(&mut controls.repeats, "repeat");
    });
    let duration = controls.duration_seconds;
    ui.spacing_mut().slider_width = 170.0;
    let scrub = Slider::new(&mut controls.time_seconds, 0.0..=duration.max(1e-3)).fixed_decimals(2).suffix(" s");
    // Without this, each layout would round the time, and the clock would go back to it.
    let scrub = scrub.clamping(SliderClamping::Edits);
    ui.add_enabled(duration > 0.0, scrub).on_hover_text("the time in the clip");
    let speed = Slider::new(&mut controls.speed, -2.0..=2.0).clamping(SliderClamping::Never);
    ui.add(speed.max_decimals(2).suffix(" × speed"));
    request
}

fn selected(ui: &mut Ui, facts: &Facts) -> Option<Request> {
    for line in facts.selected {
        ui.label(line);
    }
    let mut request = None;
    ui.horizontal(|ui| {
        if ui.button("Focus (F)").clicked() {
            request = Some(Request::Focus);
        }
        if ui.button("Deselect").clicked() {
            request = Some(Request::Deselect);
        }
    });
    request
}

fn drawing(ui: &mut Ui, facts: &Facts, controls: &mut Controls) {
    let drawing = &mut controls.drawing;
    ui.horizontal(|ui| {
        ui.label("skinning");
        for skinning in [Skinning::Compute, Skinning::Vertex] {
            ui.selectable_value(&mut drawing.skinning, skinning, skinning.name());
        }
    });
    ui.horizontal(|ui| {
        ui.label("upload");
        ui.selectable_value(&mut drawing.upload, None, format!("auto ({})", facts.automatic_upload));
        for path in [UploadPath::Direct, UploadPath::Staged] {
            ui.selectable_value(&mut drawing.upload, Some(path), path.name());
        }
    });
    ui.horizontal(|ui| {
        ui.label("samples per pixel");
        for samples in [1, 2, 4, 8] {
            ui.selectable_value(&mut drawing.samples, samples, samples.to_string());
        }
    });
    let shadows = match facts.shadow_map_size {
        Some(side) => format!("shadows, a map of {side} × {side}"),
        None => "shadows".to_owned(),
    };
    ui.checkbox(&mut drawing.shadows, shadows);
    ui.spacing_mut().slider_width = 120.0;
    let error = Slider::new(&mut controls.lod_error_pixels, 0.0..=8.0).max_decimals(1);
    ui.add(error.clamping(SliderClamping::Edits).text("pixels of detail error"))
        .on_hover_text("how far a simplified surface may be away; 0: full detail");
}
