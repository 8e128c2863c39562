//! The rows of a sweep and the order of their measurements.
//!
//! There is a row for each combination of the lists, in the order of the lists; the number of instances varies fastest.
//! Combinations that are equal on this device (`--upload auto` is one of the other two) are one row.
//!
//! A machine slows down and recovers during a sweep, by more than the differences to be measured. Several rows are
//! therefore measured in *turns*: each round measures a share of every row's frames, so a slow minute hits all rows.

use crate::app::text::counted;
use crate::cli::{QualityArgs, Size, SweepArgs};
use crate::renderer::{Skinning, UploadPath};

/// The rounds of a sweep. Each repeats the warm-up of every row. Their medians say how much the machine changes from one
/// round to the next: a comparison needs to know it.
const ROUNDS: u32 = 6;

/// The settings of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    pub(super) renderer: RendererChoice,
    /// The largest error of a level of detail in pixels.
    pub(super) lod_error: f64,
    pub(super) threads: u32,
    pub(super) instances: u32,
}

/// The settings that need another renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RendererChoice {
    pub(super) size: Size,
    pub(super) skinning: Skinning,
    pub(super) upload: UploadPath,
    pub(super) quality: QualityArgs,
}

/// The values of options that are not given.
#[derive(Debug, Clone, Copy)]
pub(super) struct Defaults {
    pub(super) upload: UploadPath,
    pub(super) threads: u32,
}

impl Settings {
    /// Describes the row for messages.
    pub(super) fn describe(&self) -> String {
        let RendererChoice { size, skinning, upload, .. } = self.renderer;
        format!(
            "{}, {}x{}, lod {}, {} skinning, {} upload, {}",
            counted(self.instances as usize, "instance"),
            size.width,
            size.height,
            self.lod_error,
            skinning.name(),
            upload.name(),
            counted(self.threads as usize, "thread")
        )
    }
}

/// Returns the number of combinations, with duplicates.
pub(super) fn row_count(sweep: &SweepArgs) -> u64 {
    let SweepArgs { instances, skinning, upload, threads, lod_error, size } = sweep;
    [instances.len(), skinning.len(), upload.len(), threads.len().max(1), lod_error.len(), size.len()]
        .into_iter()
        .fold(1, |product, length| product.saturating_mul(length as u64))
}

/// Returns all combinations without duplicates.
pub(super) fn rows(sweep: &SweepArgs, quality: QualityArgs, defaults: Defaults) -> Vec<Settings> {
    let threads = if sweep.threads.is_empty() { vec![defaults.threads] } else { sweep.threads.clone() };
    let mut rows = Vec::new();
    for &size in &sweep.size {
        for &skinning in &sweep.skinning {
            for upload in &sweep.upload {
                let renderer = RendererChoice { size, skinning, upload: upload.unwrap_or(defaults.upload), quality };
                for &threads in &threads {
                    for &lod_error in &sweep.lod_error {
                        for &instances in &sweep.instances {
                            let row = Settings { renderer, lod_error, threads, instances };
                            if !rows.contains(&row) {
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

/// Groups rows, given with their indices, that share a renderer. Small crowds come first: buffers grow and never shrink,
/// so each crowd has the buffers that it would have alone.
pub(super) fn by_renderer(rows: &[(usize, Settings)]) -> Vec<(RendererChoice, Vec<usize>)> {
    let mut sorted = rows.to_vec();
    // A larger error takes less memory.
    sorted.sort_by(|(_, a), (_, b)| a.instances.cmp(&b.instances).then(b.lod_error.total_cmp(&a.lod_error)));
    let mut groups: Vec<(RendererChoice, Vec<usize>)> = Vec::new();
    // The order of the groups is that of the rows.
    for (_, row) in rows {
        if !groups.iter().any(|(choice, _)| *choice == row.renderer) {
            groups.push((row.renderer, Vec::new()));
        }
    }
    for (index, row) in sorted {
        if let Some((_, members)) = groups.iter_mut().find(|(choice, _)| *choice == row.renderer) {
            members.push(index);
        }
    }
    groups
}

/// A round's share of each row's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) first_frame: u32,
    pub(super) frames: u32,
    /// The frames before them, which are not measured.
    pub(super) warmup: u32,
    /// The time after which no further frame is measured, except for the second one.
    pub(super) most_ms: Option<u32>,
}

/// Divides the frames into rounds of almost equal size, none of them empty.
pub(super) fn rounds(frames: u32, warmup: u32) -> Vec<Share> {
    let count = ROUNDS.min(frames).max(1);
    let start = |round: u32| (u64::from(frames) * u64::from(round) / u64::from(count)) as u32;
    let share =
        |round| Share { first_frame: start(round), frames: start(round + 1) - start(round), warmup, most_ms: None };
    (0..count).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULTS: Defaults = Defaults { upload: UploadPath::Direct, threads: 4 };
    const QUALITY: QualityArgs = QualityArgs { msaa: Some(1), shadows: Some(false) };
    const HD: Size = Size { width: 1280, height: 720 };

    fn sweep() -> SweepArgs {
        SweepArgs {
            instances: vec![1, 100],
            skinning: vec![Skinning::Compute],
            upload: vec![None],
            threads: Vec::new(),
            lod_error: vec![1.0],
            size: vec![HD],
        }
    }

    #[test]
    fn lists_multiply_in_their_order() {
        let sweep = SweepArgs {
            instances: vec![100, 1],
            skinning: vec![Skinning::Vertex, Skinning::Compute],
            threads: vec![1, 2],
            ..sweep()
        };
        let rows = rows(&sweep, QUALITY, DEFAULTS);
        let found: Vec<_> = rows.iter().map(|row| (row.renderer.skinning, row.threads, row.instances)).collect();
        let (v, c) = (Skinning::Vertex, Skinning::Compute);
        assert_eq!(
            found,
            [(v, 1, 100), (v, 1, 1), (v, 2, 100), (v, 2, 1), (c, 1, 100), (c, 1, 1), (c, 2, 100), (c, 2, 1)]
        );
        let groups = by_renderer(&rows.iter().copied().enumerate().collect::<Vec<_>>());
        assert_eq!(groups.iter().map(|(_, members)| members.clone()).collect::<Vec<_>>(), [[1, 3, 0, 2], [5, 7, 4, 6]]);
    }

    #[test]
    fn equal_combinations_are_one_row() {
        let sweep = SweepArgs {
            instances: vec![1, 100, 1],
            upload: vec![None, Some(UploadPath::Direct), Some(UploadPath::Staged)],
            lod_error: vec![1.0, 1.0],
            threads: vec![4, 4],
            size: vec![HD, HD],
            ..sweep()
        };
        let rows = rows(&sweep, QUALITY, DEFAULTS);
        let found: Vec<_> = rows.iter().map(|row| (row.renderer.upload, row.threads, row.instances)).collect();
        let (direct, staged) = (UploadPath::Direct, UploadPath::Staged);
        assert_eq!(found, [(direct, 4, 1), (direct, 4, 100), (staged, 4, 1), (staged, 4, 100)]);
    }

    #[test]
    fn rounds_share_all_frames() {
        for (frames, expected) in [(60, vec![10; 6]), (8, vec![1, 1, 2, 1, 1, 2]), (5, vec![1; 5]), (1, vec![1])] {
            let shares = rounds(frames, 3);
            assert_eq!(shares.iter().map(|share| share.frames).collect::<Vec<_>>(), expected);
            let mut next = 0;
            for share in shares {
                assert_eq!((share.first_frame, share.warmup), (next, 3));
                next += share.frames;
            }
            assert_eq!(next, frames);
        }
    }
}
