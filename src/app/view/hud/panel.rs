//! The panel at the left edge of the window, with all facts and controls.
//!
//! In: [`Facts`] and the [`State`]. Out: a changed state, and [`Wishes`] that need the window or the renderer.

use anyhow::Result;
use egui::{
    Button, CollapsingHeader, Color32, ComboBox, DragValue, Frame, Margin, Rangef, Rect, RichText, Slider,
    SliderClamping, Stroke, Ui,
};

use super::graph::{self, Figures};
use super::lists::{Searches, for_rows};
use super::parts;
use crate::app::joint::joints;
use crate::app::models::parts_in;
use crate::app::morphs::names_of_morphs;
use crate::app::view::state::{State, clip_name};
use crate::app::view::words;
use crate::cli::keys::{self, Action};
use crate::crowd::{ClipChoice, Layout, ShownInstance};
use crate::extras::DebugView;
use crate::model::text::printable;
use crate::model::{Clip, JOIN, Model, TOGETHER};
use crate::renderer::{Skinning, UploadPath};
use crate::view::{Background, Ground, SunDirection};

const MOST_MORPHS: usize = 1000;
const MOST_WARNINGS: usize = 200;
pub const WIDTH: f32 = 292.0;

/// The facts of a frame that the panel shows and the [`State`] does not know.
pub struct Facts<'a> {
    /// The names of the files that can be opened.
    pub files: &'a [String],
    /// The index of the file that is shown, unless several are.
    pub file: Option<usize>,
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

#[derive(Debug, Clone)]
pub struct Notice {
    pub text: String,
    pub is_error: bool,
}

impl Notice {
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
    /// Play the clips with these indices together, in this order.
    pub together: Option<Vec<usize>>,
    /// Hold the morph targets with these names at a weight, or let them go.
    pub morphs: Vec<(String, Option<f32>)>,
    /// Load the models again with these patterns of `--hide`.
    pub hide: Option<Vec<String>>,
    /// The crowd was placed again, or a joint was chosen, with this result.
    pub done: Option<Result<()>>,
}

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
        section(ui, "Clip", true, |ui| self.clips(ui, state, wishes));
        if facts.files.len() > 1 {
            section(ui, "Model", false, |ui| {
                wishes.open = self.searches.list(ui, "models", facts.files, facts.file, |_, _| {}).or(wishes.open);
            });
        }
        section(ui, "Crowd", true, |ui| self.crowd(ui, facts, state, wishes));
        section(ui, "Look", false, |ui| self.look(ui, state, wishes));
        section(ui, "Drawing", false, |ui| drawing(ui, facts, state));
        if state.scene.models.iter().map(|model| model.source.parts.len()).sum::<usize>() > 1 {
            section(ui, "Parts", false, |ui| parts::show(&mut self.searches, ui, state, &mut wishes.hide));
        }
        section(ui, "File", true, |ui| {
            for line in &state.facts {
                ui.label(RichText::new(line).small());
            }
        });
        let warnings = || state.scene.models.iter().flat_map(|model| &model.warnings);
        if warnings().next().is_some() {
            section(ui, &format!("Warnings about the files ({})", warnings().count()), true, |ui| {
                for warning in warnings().take(MOST_WARNINGS) {
                    ui.label(RichText::new(printable(warning)).small());
                }
            });
        }
        section(ui, "Frame time", true, |ui| graph::show(ui, facts.figures, WIDTH));
        ui.separator();
        for line in facts.lines {
            ui.label(RichText::new(line).small());
        }
    }

    fn clips(&mut self, ui: &mut Ui, state: &mut State, wishes: &mut Wishes) {
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
        let parts = parts_of(longest, &state.args.crowd.clip);
        let mark = |ui: &mut Ui, row: usize| {
            // A clip that is made of others is no part.
            let Some(index) = row.checked_sub(2).filter(|&index| !is_joined(&longest.clips[index])) else { return };
            let mut is_part = parts.contains(&index);
            let tip = "play it together with the other marked clips";
            if ui.checkbox(&mut is_part, "").on_hover_text(tip).changed() {
                let mut parts = parts.clone();
                parts.retain(|part| *part != index);
                parts.extend(is_part.then_some(index));
                wishes.together = Some(parts);
            }
        };
        if let Some(row) = self.searches.list(ui, "clips", &rows, chosen, mark) {
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
            for_rows(ui, &matching, |ui, row| {
                let name = &rows[row];
                let Some(index) = skeleton.morph_names.iter().position(|other| **other == **name) else { return };
                let held = skeleton.held_morphs.iter().find(|(other, _)| *other as usize == index);
                let rest = skeleton.rest.morph_weights.get(index).copied().unwrap_or(0.0);
                let mut weight = held.map_or(rest, |(_, weight)| *weight);
                let slider = Slider::new(&mut weight, 0.0..=1.0).max_decimals(2).clamping(SliderClamping::Edits);
                if ui.add(slider.text(name)).changed() {
                    wishes.morphs.push((name.clone(), Some(weight)));
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
        ui.horizontal_wrapped(|ui| {
            for (name, layout) in Layout::ALL {
                ui.selectable_value(&mut crowd.layout, layout, name);
            }
            ui.end_row();
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
        if let Some(row) = self.searches.list(ui, "joints", &rows, chosen, |_, _| {}) {
            wishes.done = Some(state.show_joint(rows.get(row).filter(|_| row > 0).cloned()));
        }
    }
}

fn is_joined(clip: &Clip) -> bool {
    clip.name.as_deref().is_some_and(|name| name == TOGETHER || name.contains(JOIN))
}

/// Returns the clips that a choice plays.
fn parts_of(model: &Model, choice: &ClipChoice) -> Vec<usize> {
    let chosen = choice.index_in(model);
    match chosen.and_then(|index| model.clips.get(index)?.name.as_deref()) {
        Some(TOGETHER) => (0..model.clips.len()).filter(|&index| !is_joined(&model.clips[index])).collect(),
        Some(name) if name.contains(JOIN) => parts_in(model, name).unwrap_or_default(),
        _ => chosen.into_iter().collect(),
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
    let bar = ui.add_enabled(duration > 0.0, scrub).on_hover_text("the time in the clip");
    if time_seconds != old {
        state.clock.stop_at(time_seconds);
    }
    ui.horizontal(|ui| {
        for (text, tip, forward) in [("‹ key", "back to the key before", false), ("key ›", "on to the next key", true)]
        {
            if ui.add_enabled(duration > 0.0, Button::new(text).small()).on_hover_text(tip).clicked() {
                state.step_key(forward);
            }
        }
        let joint = state.args.crowd.show.joint.as_deref();
        let of = joint.map_or("all keys".to_owned(), |joint| format!("keys of {}", printable(joint)));
        ui.label(RichText::new(format!("marks: {of}")).small().weak());
    });
    mark_keys(ui, bar.rect, state, duration as f32);
    let old = state.clock.speed();
    let mut speed = old;
    let slider = Slider::new(&mut speed, -2.0..=2.0).clamping(SliderClamping::Never);
    ui.add(slider.max_decimals(2).suffix(" ×").text("speed"));
    if speed != old {
        state.clock.set_speed(speed);
    }
}

/// Draws a mark at each key below the time bar, of which the slider is the left part. Marks that would touch are one.
fn mark_keys(ui: &Ui, bar: Rect, state: &State, duration_seconds: f32) {
    /// The least distance between two marks in points.
    const STEP: f32 = 2.0;
    let radius = bar.height() / 2.5;
    let length = ui.spacing().slider_width - 2.0 * radius;
    let mut is_marked = vec![false; (length / STEP) as usize + 1];
    for time in state.key_times().filter(|_| duration_seconds > 0.0) {
        if let Some(mark) = is_marked.get_mut((time / duration_seconds * length / STEP) as usize) {
            *mark = true;
        }
    }
    let color = ui.visuals().weak_text_color();
    for (mark, _) in is_marked.into_iter().enumerate().filter(|(_, is_marked)| *is_marked) {
        let x = bar.left() + radius + mark as f32 * STEP;
        ui.painter().vline(x, Rangef::new(bar.bottom() - 2.0, bar.bottom() + 2.0), Stroke::new(1.0, color));
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
