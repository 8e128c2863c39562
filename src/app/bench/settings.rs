//! The settings that rows of a sweep may differ in, by name and in words.

use super::report::Run;
use crate::app::text::{counted, name};

/// A setting of a row.
pub(super) struct Setting {
    /// The name of its column.
    pub(super) header: &'static str,
    /// The value in a column.
    pub(super) value: fn(&Run) -> String,
    /// The value in a sentence. It may be empty.
    pub(super) words: fn(&Run) -> String,
}

/// The settings, except for the number of instances.
pub(super) const SETTINGS: [Setting; 7] = [
    Setting { header: "size", value: size, words: size },
    Setting { header: "msaa", value: |run| run.msaa.to_string(), words: |run| format!("msaa {}", run.msaa) },
    Setting {
        header: "shadows",
        value: |run| on_off(run.shadows).to_owned(),
        words: |run| format!("shadows {}", on_off(run.shadows)),
    },
    Setting {
        header: "skinning",
        value: |run| run.skinning.clone(),
        words: |run| format!("{} skinning", name(&run.skinning)),
    },
    Setting { header: "upload", value: |run| run.upload.clone(), words: |run| format!("{} upload", name(&run.upload)) },
    Setting { header: "threads", value: |run| run.threads.to_string(), words: |run| counted(run.threads, "thread") },
    Setting {
        header: "serialize",
        value: |run| on_off(run.serialize).to_owned(),
        words: |run| if run.serialize { "one pass at a time".to_owned() } else { String::new() },
    },
];

impl Setting {
    /// Returns whether the setting differs between rows.
    pub(super) fn varies(&self, runs: &[Run]) -> bool {
        runs.windows(2).any(|pair| matches!(pair, [left, right] if (self.value)(left) != (self.value)(right)))
    }
}

/// Returns whether two rows have the same settings.
pub(super) fn same(left: &Run, right: &Run) -> bool {
    SETTINGS.iter().all(|setting| (setting.value)(left) == (setting.value)(right))
}

/// Describes a row by the settings that `choose` selects.
pub(super) fn in_words(run: &Run, choose: impl Fn(&Setting) -> bool) -> String {
    let words = SETTINGS.iter().filter(|setting| choose(setting)).map(|setting| (setting.words)(run));
    words.filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ")
}

fn size(run: &Run) -> String {
    format!("{}x{}", run.width, run.height)
}

fn on_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}
