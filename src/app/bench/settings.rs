//! The settings of a row in files and in text.

use serde::{Deserialize, Serialize};

use super::sweep::Settings;
use crate::app::text::{counted, name, number};
use crate::cli::BenchArgs;
use crate::model::Model;

/// The number of settings in which rows may differ, except for the number of instances.
pub(super) const SETTINGS: usize = 8;

/// The settings of a row. Two programs have measured the same row if these are equal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunSettings {
    pub(super) models: Vec<String>,
    pub(super) instances: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) msaa: u32,
    pub(super) shadows: bool,
    /// The value of `--lod-error`.
    pub(super) lod_error_pixels: f64,
    /// The value of `--share-poses`. Without it each instance has its own pose.
    pub(super) share_poses_hz: Option<f64>,
    pub(super) skinning: String,
    pub(super) upload: String,
    pub(super) threads: u32,
    /// Whether each pass waited for the one before, so that its GPU time is its own.
    pub(super) serialize: bool,
}

/// A setting of a row: the name of its column, its value there, and its words in a sentence, which may be empty.
type Setting = (&'static str, String, String);

impl RunSettings {
    pub(super) fn new(args: &BenchArgs, models: &[Model], settings: &Settings) -> Self {
        Self {
            models: models.iter().map(|model| model.name.clone()).collect(),
            instances: settings.instances,
            width: settings.size.width,
            height: settings.size.height,
            msaa: args.quality.samples(),
            shadows: args.quality.has_shadows(),
            lod_error_pixels: settings.lod_error,
            share_poses_hz: args.crowd.share_poses,
            skinning: settings.skinning.name().to_owned(),
            upload: settings.upload.name().to_owned(),
            threads: settings.threads,
            serialize: args.serialize,
        }
    }

    /// Returns the settings in which rows may differ. Every row has them in the same order.
    pub(super) fn list(&self) -> [Setting; SETTINGS] {
        let on_off = |is_on| if is_on { "on" } else { "off" };
        let size = format!("{}x{}", self.width, self.height);
        let lod_error = self.lod_error_pixels.to_string();
        let one_pass = if self.serialize { "one pass at a time" } else { "" };
        [
            ("size", size.clone(), size),
            ("msaa", self.msaa.to_string(), format!("msaa {}", self.msaa)),
            ("shadows", on_off(self.shadows).to_owned(), format!("shadows {}", on_off(self.shadows))),
            ("lod", lod_error.clone(), format!("lod {lod_error}")),
            ("skinning", self.skinning.clone(), format!("{} skinning", name(&self.skinning))),
            ("upload", self.upload.clone(), format!("{} upload", name(&self.upload))),
            ("threads", self.threads.to_string(), counted(self.threads as usize, "thread")),
            ("serialize", on_off(self.serialize).to_owned(), one_pass.to_owned()),
        ]
    }

    /// Describes the settings that are `chosen`.
    pub(super) fn in_words(&self, chosen: [bool; SETTINGS]) -> String {
        let words = self.list().into_iter().zip(chosen).filter(|((.., words), chosen)| *chosen && !words.is_empty());
        words.map(|((.., words), _)| words).collect::<Vec<_>>().join(", ")
    }

    /// Describes the row.
    pub(super) fn describe(&self) -> String {
        let shared = self.share_poses_hz.map_or_else(String::new, |hz| format!(", poses at {} Hz", number(hz)));
        format!("{} of {}, {}{shared}", self.instances, self.model_names(), self.in_words([true; SETTINGS]))
    }

    /// Names the models, up to four of them.
    pub(super) fn model_names(&self) -> String {
        let more = self.models.len().saturating_sub(4);
        let names = self.models.iter().take(4).map(|model| name(model));
        let more = (more > 0).then(|| format!("{more} more"));
        names.chain(more).collect::<Vec<_>>().join(" + ")
    }
}

/// Returns which settings differ between rows.
pub(super) fn varying<'a>(rows: impl Iterator<Item = &'a RunSettings> + Clone) -> [bool; SETTINGS] {
    let values = |row: &RunSettings| row.list().map(|(_, value, _)| value);
    let first = rows.clone().next().map(values).unwrap_or_default();
    std::array::from_fn(|index| rows.clone().any(|row| values(row).get(index) != first.get(index)))
}
