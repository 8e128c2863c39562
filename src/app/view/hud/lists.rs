//! Lists with a search field.

use std::collections::HashMap;

use egui::{Button, Key, ScrollArea, TextEdit, Ui};

/// Lists that are shorter need no search field.
const LEAST_TO_SEARCH: usize = 8;

/// The search texts of all lists, and the rows that were chosen when they were last shown, by name.
#[derive(Debug, Default)]
pub struct Searches {
    texts: HashMap<&'static str, String>,
    chosen: HashMap<&'static str, usize>,
}

impl Searches {
    /// Shows the search field of a long list. Returns the rows that match, and whether Enter was pressed.
    pub fn field(&mut self, ui: &mut Ui, name: &'static str, rows: &[String]) -> (Vec<usize>, bool) {
        if rows.len() < LEAST_TO_SEARCH {
            return ((0..rows.len()).collect(), false);
        }
        let search = self.texts.entry(name).or_default();
        let hint = format!("search {name}");
        let field = ui.add(TextEdit::singleline(search).hint_text(&hint).desired_width(f32::INFINITY));
        let field = field.on_hover_text(hint);
        (matches(rows, search), field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter)))
    }

    /// Shows a list. Returns the row that was clicked. Of a long list, only the rows that contain the text of the search
    /// field are shown, in any case of letters. Enter chooses the first of them. `mark` adds something before a row.
    pub fn list(
        &mut self,
        ui: &mut Ui,
        name: &'static str,
        rows: &[String],
        chosen: Option<usize>,
        height: f32,
        mut mark: impl FnMut(&mut Ui, usize),
    ) -> Option<usize> {
        let (matching, is_entered) = self.field(ui, name, rows);
        let mut clicked = matching.first().copied().filter(|_| is_entered);
        let row_height = ui.spacing().interact_size.y;
        let mut area =
            ScrollArea::vertical().id_salt(name).max_height(height).auto_shrink([false, rows.len() < LEAST_TO_SEARCH]);
        // A key may have chosen a row that is out of view.
        if let Some(row) = chosen
            && self.chosen.insert(name, row) != Some(row)
            && let Some(place) = matching.iter().position(|&matching| matching == row)
        {
            let row_step = row_height + ui.spacing().item_spacing.y;
            area = area.vertical_scroll_offset((place as f32 * row_step - 0.5 * height).max(0.0));
        }
        area.show_rows(ui, row_height, matching.len(), |ui, range| {
            ui.set_min_width(ui.available_width());
            for &row in matching.get(range).unwrap_or_default() {
                let Some(text) = rows.get(row) else { continue };
                ui.horizontal(|ui| {
                    mark(ui, row);
                    // The panel may be too narrow for a row.
                    let button = Button::selectable(chosen == Some(row), text).truncate();
                    if ui.add(button).on_hover_text(text).clicked() {
                        self.chosen.insert(name, row);
                        clicked = Some(row);
                    }
                });
            }
        });
        if matching.is_empty() {
            ui.weak("nothing matches");
        }
        clicked
    }
}

/// Returns the rows that contain all words of a text.
pub fn matches(rows: &[String], search: &str) -> Vec<usize> {
    let words: Vec<String> = search.split_whitespace().map(str::to_lowercase).collect();
    let contains_all = |row: &String| {
        let row = row.to_lowercase();
        words.iter().all(|word| row.contains(word))
    };
    (0..rows.len()).filter(|&row| rows.get(row).is_some_and(contains_all)).collect()
}
