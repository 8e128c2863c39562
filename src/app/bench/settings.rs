//! The settings in which rows may differ, except for the number of instances.

use super::report::Run;
use crate::app::text::{counted, name};

/// The number of settings.
pub(super) const SETTINGS: usize = 8;

/// The column of `--lod-error`.
const LOD: &str = "lod";

/// A setting of a row.
pub(super) struct Setting {
    /// The name of its column.
    pub(super) header: &'static str,
    /// The value in its column.
    pub(super) value: String,
    /// The value in a sentence. It may be empty.
    words: String,
}

/// Returns the settings of a row. Every row has them in the same order.
pub(super) fn settings(run: &Run) -> [Setting; SETTINGS] {
    let (size, shadows, serialize) =
        (format!("{}x{}", run.width, run.height), on_off(run.shadows), on_off(run.serialize));
    let lod_error = run.lod_error_pixels.unwrap_or(0.0).to_string();
    [
        ("size", size.clone(), size),
        ("msaa", run.msaa.to_string(), format!("msaa {}", run.msaa)),
        ("shadows", shadows.to_owned(), format!("shadows {shadows}")),
        (LOD, lod_error.clone(), format!("lod {lod_error}")),
        ("skinning", run.skinning.clone(), format!("{} skinning", name(&run.skinning))),
        ("upload", run.upload.clone(), format!("{} upload", name(&run.upload))),
        ("threads", run.threads.to_string(), counted(run.threads, "thread")),
        ("serialize", serialize.to_owned(), if run.serialize { "one pass at a time" } else { "" }.to_owned()),
    ]
    .map(|(header, value, words)| Setting { header, value, words })
}

/// Returns whether two rows have the same settings. A row of a program without levels of detail may be compared with every
/// level.
pub(super) fn same(left: &Run, right: &Run) -> bool {
    let has_levels = left.lod_error_pixels.is_some() && right.lod_error_pixels.is_some();
    let counts = |setting: &Setting| has_levels || setting.header != LOD;
    settings(left).iter().zip(&settings(right)).all(|(left, right)| !counts(left) || left.value == right.value)
}

/// Returns which settings differ between rows.
pub(super) fn varying(runs: &[Run]) -> [bool; SETTINGS] {
    let values = |run: &Run| settings(run).map(|setting| setting.value);
    let first = runs.first().map(values).unwrap_or_default();
    std::array::from_fn(|index| runs.iter().any(|run| values(run).get(index) != first.get(index)))
}

/// Describes a row by its settings, or by those that are `chosen`.
pub(super) fn in_words(run: &Run, chosen: [bool; SETTINGS]) -> String {
    let words = settings(run).into_iter().zip(chosen).filter(|(setting, chosen)| *chosen && !setting.words.is_empty());
    words.map(|(setting, _)| setting.words).collect::<Vec<_>>().join(", ")
}

fn on_off(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}
