//! Lists with a search field, as long as they are: the panel around them scrolls.

use std::collections::HashMap;

use egui::{Button, Key, Rect, TextEdit, Ui, pos2, vec2};

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
        mut mark: impl FnMut(&mut Ui, usize),
    ) -> Option<usize> {
        let (matching, is_entered) = self.field(ui, name, rows);
        let mut clicked = matching.first().copied().filter(|_| is_entered);
        let top = ui.next_widget_position().y;
        for_rows(ui, &matching, |ui, row| {
            ui.horizontal(|ui| {
                mark(ui, row);
                // The panel may be too narrow for a row.
                let button = Button::selectable(chosen == Some(row), &rows[row]).truncate();
                if ui.add(button).on_hover_text(&rows[row]).clicked() {
                    self.chosen.insert(name, row);
                    clicked = Some(row);
                }
            });
        });
        // A key may have chosen a row that is out of view, though others are seen.
        if let Some(row) = chosen
            && self.chosen.insert(name, row).is_some_and(|before| before != row)
            && let Some(place) = matching.iter().position(|&matching| matching == row)
        {
            let size = vec2(1.0, row_step(ui));
            let at = Rect::from_min_size(pos2(ui.min_rect().left(), top + place as f32 * size.y), size);
            if ui.is_rect_visible(Rect::from_x_y_ranges(at.x_range(), top..=ui.next_widget_position().y)) {
                ui.scroll_to_rect(at, None);
            }
        }
        if matching.is_empty() {
            ui.weak("nothing matches");
        }
        clicked
    }
}

/// The height of a row with the space below it.
fn row_step(ui: &Ui) -> f32 {
    ui.spacing().interact_size.y + ui.spacing().item_spacing.y
}

/// Shows rows of equal height. Those that the panel does not show now cost nothing but their room.
pub fn for_rows(ui: &mut Ui, rows: &[usize], mut show: impl FnMut(&mut Ui, usize)) {
    let (top, step, clip) = (ui.next_widget_position().y, row_step(ui), ui.clip_rect());
    let row_at = |y: f32| (((y - top) / step).max(0.0) as usize).min(rows.len());
    let (first, end) = (row_at(clip.top()), row_at(clip.bottom() + step));
    let skip = |ui: &mut Ui, count: usize| {
        if count > 0 {
            ui.allocate_space(vec2(1.0, count as f32 * step - ui.spacing().item_spacing.y));
        }
    };
    skip(ui, first);
    for &row in &rows[first..end] {
        show(ui, row);
    }
    skip(ui, rows.len() - end);
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
