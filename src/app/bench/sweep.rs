//! The rows of a sweep and the order of their measurements.
//!
//! There is a row for each combination of the lists, in the order of the lists; the number of instances varies fastest.
//! Combinations that are equal on this device (`--upload auto` is one of the other two) are one row.
//!
//! A machine slows down and recovers during a sweep, by more than the differences to be measured. Several rows are
//! therefore measured in *turns*: each round measures a share of every row's frames, so a slow minute hits all rows.

use crate::cli::{Size, SweepArgs};
use crate::renderer::{Skinning, UploadPath};

/// The rounds of a sweep. Each repeats the warm-up of every row.
const ROUNDS: u32 = 6;

/// The settings of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Settings {
    pub(super) size: Size,
    pub(super) skinning: Skinning,
    pub(super) upload: UploadPath,
    pub(super) threads: u32,
    /// The largest error of a level of detail in pixels.
    pub(super) lod_error: f64,
    pub(super) instances: u32,
}

/// Returns the number of combinations, with duplicates.
pub(super) fn row_count(sweep: &SweepArgs) -> u64 {
    let SweepArgs { instances, skinning, upload, threads, lod_error, size } = sweep;
    let lengths = [instances.len(), skinning.len(), upload.len(), threads.len().max(1), lod_error.len(), size.len()];
    lengths.into_iter().fold(1, |product, length| product.saturating_mul(length as u64))
}

/// Returns all combinations without duplicates. `best_upload` stands for `--upload auto`.
pub(super) fn rows(sweep: &SweepArgs, best_upload: UploadPath) -> Vec<Settings> {
    let cores = std::thread::available_parallelism().map_or(1, |count| count.get() as u32);
    let threads = if sweep.threads.is_empty() { vec![cores] } else { sweep.threads.clone() };
    let mut rows = Vec::new();
    for &size in &sweep.size {
        for &skinning in &sweep.skinning {
            for upload in &sweep.upload {
                let upload = upload.unwrap_or(best_upload);
                for &threads in &threads {
                    for &lod_error in &sweep.lod_error {
                        for &instances in &sweep.instances {
                            let row = Settings { size, skinning, upload, threads, lod_error, instances };
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
pub(super) fn by_renderer(rows: &[(usize, Settings)]) -> Vec<Vec<(usize, Settings)>> {
    let renderer = |(_, row): &(usize, Settings)| (row.size, row.skinning, row.upload);
    let mut groups: Vec<Vec<(usize, Settings)>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| group.iter().all(|other| renderer(other) == renderer(row))) {
            Some(group) => group.push(*row),
            None => groups.push(vec![*row]),
        }
    }
    for group in &mut groups {
        // A larger error takes less memory.
        group.sort_by(|(_, a), (_, b)| a.instances.cmp(&b.instances).then(b.lod_error.total_cmp(&a.lod_error)));
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
}

/// Divides the frames into rounds of almost equal size, none of them empty.
pub(super) fn rounds(frames: u32, warmup: u32) -> Vec<Share> {
    let count = ROUNDS.min(frames).max(1);
    let start = |round: u32| (u64::from(frames) * u64::from(round) / u64::from(count)) as u32;
    let share = |round| Share { first_frame: start(round), frames: start(round + 1) - start(round), warmup };
    (0..count).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_share_all_frames() {
        for (frames, expected) in [(60, vec![10; 6]), (8, vec![1, 1, 2, 1, 1, 2]), (5, vec![1; 5]), (1, vec![1])] {
            let shares = rounds(frames, 3);
            assert_eq!(shares.iter().map(|share| share.frames).collect::<Vec<_>>(), expected);
            let ends = shares.iter().map(|share| share.first_frame + share.frames);
            assert!(shares.iter().skip(1).map(|share| share.first_frame).eq(ends.take(shares.len() - 1)));
        }
    }
}
