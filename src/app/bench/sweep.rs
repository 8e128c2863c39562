//! The rows of a sweep, the rounds of their measurements, and their settings in files and in text.
//!
//! There is a row for each combination of the lists, in the order of the lists; the number of instances varies fastest.
//! Combinations that are equal on this device (`--upload auto` is one of the other two) are one row.
//!
//! A machine slows down and recovers during a sweep, by more than the differences to be measured. Several rows are
//! therefore measured in *turns*: each round measures a share of every row's frames, so a slow minute hits all rows.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::app::text::{counted, name, number};
use crate::cli::{BenchArgs, Size, SweepArgs};
use crate::model::Model;
use crate::renderer::{Skinning, UploadPath};

/// The rounds of a sweep. Each repeats the warm-up of every row.
const ROUNDS: u32 = 6;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    pub(super) size: Size,
    pub(super) skinning: Skinning,
    pub(super) upload: UploadPath,
    pub(super) threads: u32,
    /// The largest error of a level of detail in pixels.
    pub(super) lod_error: f64,
    pub(super) instances: u32,
}

impl Settings {
    /// Returns the settings in which rows with the same renderer agree.
    pub(super) fn renderer(&self) -> (Size, Skinning, UploadPath) {
        (self.size, self.skinning, self.upload)
    }
}

/// Returns the number of combinations, with duplicates.
pub(super) fn row_count(sweep: &SweepArgs) -> u64 {
    let SweepArgs { instances, skinning, upload, threads, lod_error, size } = sweep;
    let lengths = [instances.len(), skinning.len(), upload.len(), threads.len().max(1), lod_error.len(), size.len()];
    lengths.into_iter().fold(1, |product, length| product.saturating_mul(length as u64))
}

/// Returns all combinations without duplicates. `best_upload` stands for `--upload auto`.
pub fn rows(sweep: &SweepArgs, best_upload: UploadPath) -> Vec<Settings> {
    let cores = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let threads = if sweep.threads.is_empty() { vec![cores] } else { sweep.threads.clone() };
    let (mut rows, mut known) = (Vec::new(), HashSet::new());
    for &size in &sweep.size {
        for &skinning in &sweep.skinning {
            for upload in &sweep.upload {
                let upload = upload.unwrap_or(best_upload);
                for &threads in &threads {
                    for &lod_error in &sweep.lod_error {
                        for &instances in &sweep.instances {
                            let row = Settings { size, skinning, upload, threads, lod_error, instances };
                            // Zero has two signs.
                            if known.insert((row.renderer(), threads, (lod_error + 0.0).to_bits(), instances)) {
                                rows.push(row);
                            }
                        }
                    }
                }
            }
        }
    }
    rows
}

/// A round's share of each row's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    pub first_frame: u32,
    pub frames: u32,
    /// The frames before them, which are not measured.
    pub(super) warmup: u32,
}

/// Divides the frames into rounds of almost equal size, none of them empty.
pub fn rounds(frames: u32, warmup: u32) -> Vec<Share> {
    let count = ROUNDS.min(frames).max(1);
    let start = |round: u32| (u64::from(frames) * u64::from(round) / u64::from(count)) as u32;
    let share = |round| Share { first_frame: start(round), frames: start(round + 1) - start(round), warmup };
    (0..count).map(share).collect()
}

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
            shadows: args.quality.shadows,
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
