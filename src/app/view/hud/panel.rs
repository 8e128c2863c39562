//! The panel at the left edge of the window, with all facts and controls.
//!
//! In: [`Facts`] and the [`State`]. Out: a changed state, and [`Wishes`] that need the window or the renderer.

use anyhow::Result;
use egui::{
    Button, CollapsingHeader, Color32, ComboBox, DragValue, Frame, Margin, RichText, ScrollArea, Slider,
    SliderClamping, Ui,
};

use super::graph::{self, Figures};
use super::lists::Searches;
use crate::app::joint::joints;
use crate::app::morphs::names_of_morphs;
use crate::app::view::state::{State, clip_name};
use crate::app::view::words;
use crate::cli::keys::{self, Action};
use crate::crowd::{ClipChoice, Layout, ShownInstance};
use crate::extras::DebugView;
use crate::model::text::printable;
use crate::renderer::{Skinning, UploadPath};
use crate::view::{Background, Ground, SunDirection};

/// The largest number of morph targets that the panel lists.
const MOST_MORPHS: usize = 1000;
/// The largest number of warnings that the panel lists.
const MOST_WARNINGS: usize = 200;
/// The width of the panel in points.
pub const WIDTH: f32 = 292.0;

/// The facts of a frame that the panel shows and the [`State`] does not know.
pub struct Facts<'a> {
    /// The names of the files that can be opened.
    pub files: &'a [String],
    /// The index of the file that is shown, unless several are.
    pub file: Option<usize>,
    /// The times of the last frames.
    pub figures: &'a Figures,
    /// Device, memory, visible instances and triangles, one line each.
    pub lines: &'a [String],
    /// The upload path that the device's memory types suggest.
    pub automatic_upload: UploadPath,
    /// The number of samples per pixel.
    pub samples: u32,
    /// The sum of all numbers of samples that the device has.
    pub sample_counts: u32,
    /// The side of the shadow map in texels, if there is one.
    pub shadow_map_size: Option<u32>,
    /// The largest crowd for which the device has room.
    pub most_instances: u32,
    /// Returns the device memory that a number of instances would take.
    pub memory: &'a dyn Fn(u32) -> String,
    /// The last message: an error, or the name of a written file.
    pub notice: Option<&'a Notice>,
}

/// A message to the user.
#[derive(Debug, Clone)]
pub struct Notice {
    /// The text.
    pub text: String,
    /// Whether something has failed.
    pub is_error: bool,
}

impl Notice {
    /// Returns the text in the colour of its kind.
    pub fn rich_text(&self) -> RichText {
        let color = if self.is_error { Color32::from_rgb(255, 140, 110) } else { Color32::from_rgb(140, 215, 150) };
        RichText::new(&self.text).color(color)
    }
}

/// The wishes of the person that the panel cannot fulfil itself.
#[derive(Debug, Default)]
pub struct Wishes {
    /// Open the file with this index.
    pub open: Option<usize>,
    /// Do what a key does.
    pub action: Option<Action>,
    /// Hold the morph targets with these names at a weight, or let them go.
    pub morphs: Vec<(String, Option<f32>)>,
    /// The crowd was placed again, or a joint was chosen, with this result.
    pub done: Option<Result<()>>,
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
    pub fn show(&mut self, ui: &mut Ui, facts: &Facts, state: &mut State, wishes: &mut Wishes) {
        ui.horizontal(|ui| {
            ui.label(RichText::new("Throng").strong().size(17.0));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                for (text, action) in
                    [("Keys (H)", Action::Help), ("Mesh (O)", Action::Mesh), ("Picture (P)", Action::Picture)]
                {
                    let tip = keys::SHORTCUTS.iter().find(|(_, other, _)| *other == action).map_or("", |(.., tip)| tip);
                    if ui.small_button(text).on_hover_text(tip).clicked() {
                        wishes.action = Some(action);
                    }
                }
            });
        });
        ui.separator();
        playback(ui, state);
        if let Some(selected) = state.selected() {
            section(ui, "Selected", true, |ui| {
                for line in words::instance(&state.scene, &selected) {
                    ui.label(line);
                }
                ui.horizontal(|ui| {
                    if ui.button("Focus (F)").clicked() {
                        state.focus();
                    }
                    if ui.button("Deselect").clicked() {
                        state.deselect();
                    }
                });
                self.morphs(ui, state, &selected, wishes);
            });
        }
        section(ui, "Clip", true, |ui| self.clips(ui, state));
        if facts.files.len() > 1 {
            section(ui, "Model", false, |ui| {
                wishes.open = self.searches.list(ui, "models", facts.files, facts.file, 130.0).or(wishes.open);
            });
        }
        section(ui, "Crowd", true, |ui| self.crowd(ui, facts, state, wishes));
        section(ui, "Look", false, |ui| self.look(ui, state, wishes));
        section(ui, "Drawing", false, |ui| drawing(ui, facts, state));
        let warnings = || state.scene.models.iter().flat_map(|model| &model.warnings);
        if warnings().next().is_some() {
            section(ui, &format!("Warnings about the files ({})", warnings().count()), true, |ui| {
                ScrollArea::vertical().id_salt("warnings").max_height(130.0).auto_shrink([false, true]).show(
                    ui,
                    |ui| {
                        for warning in warnings().take(MOST_WARNINGS) {
                            ui.label(RichText::new(printable(warning)).small());
                        }
                    },
                );
            });
        }
        section(ui, "Frame time", true, |ui| graph::show(ui, facts.figures, WIDTH));
        ui.separator();
        for line in facts.lines {
            ui.label(RichText::new(line).small());
        }
    }

    fn clips(&mut self, ui: &mut Ui, state: &mut State) {
        let Some(longest) = state.scene.models.iter().max_by_key(|model| model.clips.len()) else { return };
        if longest.clips.is_empty() {
            ui.weak("no clips in this file; drop one that has some");
            return;
        }
        let special = ["all clips, mixed".to_owned(), "rest pose".to_owned()];
        let clips = longest.clips.iter().enumerate();
        let clips = clips.map(|(index, clip)| {
            let file = clip.file.as_deref().map_or_else(String::new, |file| format!("  from {file}"));
            let first = if longest.first_clips.first() == Some(&(index as u32)) { ", shown first" } else { "" };
            format!("{}  ({:.2} s{first}){file}", clip_name(index, clip), clip.duration_seconds)
        });
        let rows: Vec<String> = special.into_iter().chain(clips).collect();
        let chosen = match &state.args.crowd.clip {
            ClipChoice::All => Some(0),
            ClipChoice::None => Some(1),
            choice => choice.index_in(longest).map(|index| index + 2),
        };
        if let Some(row) = self.searches.list(ui, "clips", &rows, chosen, 108.0) {
            state.choose_clip(match row {
                0 => ClipChoice::All,
                1 => ClipChoice::None,
                row => ClipChoice::Index(row - 2),
            });
        }
    }

    /// Shows a slider for each morph target of the selected character.
    fn morphs(&mut self, ui: &mut Ui, state: &State, selected: &ShownInstance, wishes: &mut Wishes) {
        let Some(model) = state.scene.models.get(selected.model as usize) else { return };
        let skeleton = &model.skeleton;
        let rows: Vec<String> = names_of_morphs(model).into_iter().take(MOST_MORPHS).map(str::to_owned).collect();
        if rows.is_empty() {
            return;
        }
        CollapsingHeader::new(format!("morph targets ({})", rows.len())).id_salt("morphs").show(ui, |ui| {
            let (matching, _) = self.searches.field(ui, "morph targets", &rows);
            ui.spacing_mut().slider_width = 90.0;
            ScrollArea::vertical().id_salt("morphs").max_height(130.0).auto_shrink([false, true]).show(ui, |ui| {
                for name in matching.into_iter().filter_map(|row| rows.get(row)) {
                    let Some(index) = skeleton.morph_names.iter().position(|other| **other == **name) else { continue };
                    let held = skeleton.held_morphs.iter().find(|(other, _)| *other as usize == index);
                    let rest = skeleton.rest.morph_weights.get(index).copied().unwrap_or(0.0);
                    let mut weight = held.map_or(rest, |(_, weight)| *weight);
                    let slider = Slider::new(&mut weight, 0.0..=1.0).max_decimals(2).clamping(SliderClamping::Edits);
                    if ui.add(slider.text(name)).changed() {
                        wishes.morphs.push((name.clone(), Some(weight)));
                    }
                }
            });
            if !skeleton.held_morphs.is_empty() && ui.button("let all go").clicked() {
                wishes.morphs.extend(rows.into_iter().map(|name| (name, None)));
            }
        });
    }

    fn crowd(&mut self, ui: &mut Ui, facts: &Facts, state: &mut State, wishes: &mut Wishes) {
        let old = state.crowd_controls();
        let mut crowd = old;
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
            for (name, layout) in Layout::ALL {
                ui.selectable_value(&mut crowd.layout, layout, name);
            }
            let name = ui.label("seed").id;
            ui.add(DragValue::new(&mut crowd.seed).speed(0.1)).labelled_by(name);
        });
        ui.add(
            Slider::new(&mut crowd.variety, 0.0..=1.0).text("variety").max_decimals(2).clamping(SliderClamping::Edits),
        );
        ui.checkbox(&mut crowd.travel, "travel: walkers go somewhere");
        if crowd != old {
            wishes.done = Some(state.place(&crowd));
        }
    }

    fn look(&mut self, ui: &mut Ui, state: &mut State, wishes: &mut Wishes) {
        ui.horizontal(|ui| {
            let name = ui.label("surfaces show").id;
            let mut chosen = state.scene.show.view;
            let views = ComboBox::from_id_salt("view").selected_text(chosen.name()).show_ui(ui, |ui| {
                for view in DebugView::ALL {
                    ui.selectable_value(&mut chosen, view, view.name());
                }
            });
            views.response.labelled_by(name);
            if chosen != state.scene.show.view {
                state.choose_view(chosen);
            }
        });
        if let Some(legend) = state.scene.show.view.legend() {
            ui.label(RichText::new(legend).small().weak());
        }
        ui.checkbox(&mut state.scene.show.bones, "skeleton");
        CollapsingHeader::new(match &state.args.crowd.show.joint {
            Some(joint) => format!("weights of the joint {joint}"),
            None => "weights of a joint".to_owned(),
        })
        .id_salt("joint")
        .show(ui, |ui| self.joints(ui, state, wishes));
        let look = &mut state.scene.look;
        ui.horizontal(|ui| {
            ui.label("background");
            ui.selectable_value(&mut look.background, Background::Sky, "sky");
            let plain = matches!(look.background, Background::Color(_));
            if ui.selectable_label(plain, "colour").clicked() && !plain {
                look.background = Background::Color([0x30, 0x36, 0x40]);
            }
            if let Background::Color(color) = &mut look.background {
                ui.color_edit_button_srgb(color).on_hover_text("the colour of the background");
            }
            ui.selectable_value(&mut look.background, Background::None, "none");
        });
        ui.horizontal(|ui| {
            ui.label("ground");
            for (name, ground) in Ground::ALL {
                ui.selectable_value(&mut look.ground, ground, name);
            }
        });
        ui.spacing_mut().slider_width = 120.0;
        let exposure = Slider::new(&mut look.exposure_ev, -4.0..=4.0).text("stops of exposure").max_decimals(1);
        ui.add(exposure.clamping(SliderClamping::Edits));
        let SunDirection { azimuth_degrees, elevation_degrees } = &mut look.sun;
        let around = Slider::new(azimuth_degrees, -180.0..=180.0).text("sun around").suffix("°").max_decimals(0);
        ui.add(around.clamping(SliderClamping::Edits));
        let above = Slider::new(elevation_degrees, SunDirection::LOWEST_DEGREES..=90.0).text("sun above").suffix("°");
        ui.add(above.max_decimals(0).clamping(SliderClamping::Edits));
    }

    fn joints(&mut self, ui: &mut Ui, state: &mut State, wishes: &mut Wishes) {
        // Names may repeat within a model and between models. One row shows the joint of all models.
        let mut rows = vec!["none".to_owned()];
        for model in state.scene.models.iter() {
            for node in joints(model) {
                let name = model.skeleton.names.get(node as usize);
                let name = name.cloned().unwrap_or_else(|| node.to_string());
                if !rows.contains(&name) {
                    rows.push(name);
                }
            }
        }
        let chosen = match &state.args.crowd.show.joint {
            None => Some(0),
            Some(joint) => rows.iter().skip(1).position(|row| row == joint).map(|row| row + 1),
        };
        if let Some(row) = self.searches.list(ui, "joints", &rows, chosen, 108.0) {
            wishes.done = Some(state.show_joint(rows.get(row).filter(|_| row > 0).cloned()));
        }
    }
}

fn section(ui: &mut Ui, title: &str, is_open: bool, show: impl FnOnce(&mut Ui)) {
    let title = RichText::new(title).strong();
    CollapsingHeader::new(title).default_open(is_open).show_unindented(ui, show);
}

fn playback(ui: &mut Ui, state: &mut State) {
    ui.horizontal(|ui| {
        if ui.add(Button::new("‹")).on_hover_text("one frame back (,)").clicked() {
            state.clock.step(-1);
        }
        let (symbol, text) =
            if state.clock.is_paused() { ("Play", "play (Space)") } else { ("Pause", "pause (Space)") };
        if ui.add(Button::new(symbol).min_size([84.0, 0.0].into())).on_hover_text(text).clicked() {
            state.toggle_pause();
        }
        if ui.add(Button::new("›")).on_hover_text("one frame on (.)").clicked() {
            state.clock.step(1);
        }
        ui.checkbox(&mut state.repeats, "repeat");
    });
    let (old, duration) = (state.time_in_clip(), state.duration_seconds());
    let mut time_seconds = old;
    ui.spacing_mut().slider_width = 170.0;
    let scrub = Slider::new(&mut time_seconds, 0.0..=duration.max(1e-3)).fixed_decimals(2).suffix(" s");
    // Without this, each layout would round the time, and the clock would go back to it.
    let scrub = scrub.clamping(SliderClamping::Edits);
    ui.add_enabled(duration > 0.0, scrub).on_hover_text("the time in the clip");
    if time_seconds != old {
        state.clock.seek(time_seconds);
    }
    let old = state.clock.speed();
    let mut speed = old;
    let slider = Slider::new(&mut speed, -2.0..=2.0).clamping(SliderClamping::Never);
    ui.add(slider.max_decimals(2).suffix(" ×").text("speed"));
    if speed != old {
        state.clock.set_speed(speed);
    }
}

fn drawing(ui: &mut Ui, facts: &Facts, state: &mut State) {
    let gpu = &mut state.args.gpu;
    ui.horizontal(|ui| {
        ui.label("skinning");
        for skinning in [Skinning::Compute, Skinning::Vertex] {
            ui.selectable_value(&mut gpu.skinning, skinning, skinning.name());
        }
    });
    ui.horizontal(|ui| {
        ui.label("upload");
        ui.selectable_value(&mut gpu.upload, None, format!("auto ({})", facts.automatic_upload.name()));
        for path in [UploadPath::Direct, UploadPath::Staged] {
            ui.selectable_value(&mut gpu.upload, Some(path), path.name());
        }
    });
    ui.horizontal(|ui| {
        ui.label("samples per pixel");
        for samples in [1, 2, 4, 8] {
            let is_chosen = facts.samples == samples;
            ui.add_enabled_ui(facts.sample_counts & samples != 0, |ui| {
                if ui.selectable_label(is_chosen, samples.to_string()).clicked() && !is_chosen {
                    gpu.quality.msaa = Some(samples);
                }
            });
        }
    });
    let (text, mut shadows) = match facts.shadow_map_size {
        Some(side) => (format!("shadows, a map of {side} × {side}"), true),
        None => ("shadows".to_owned(), false),
    };
    if ui.checkbox(&mut shadows, text).changed() {
        gpu.quality.shadows = shadows;
    }
    ui.spacing_mut().slider_width = 120.0;
    let error = Slider::new(&mut state.scene.lod_error_pixels, 0.0..=8.0).max_decimals(1);
    ui.add(error.clamping(SliderClamping::Edits).text("pixels of detail error"))
        .on_hover_text("how far a simplified surface may be away; 0: full detail");
}
