//! The rows of a sweep and the order of their measurements.
//!
//! There is a row for each combination of the lists, in the order of the lists; the number of instances varies fastest.
//! Combinations that are equal on this device (`--upload auto` is one of the other two) are one row.
//!
//! A machine slows down and recovers during a sweep, by more than the differences to be measured. Several rows are
//! therefore measured in *turns*: each round measures a share of every row's frames, so a slow minute hits all rows.

use crate::app::text::counted;
use crate::cli::{Size, SweepArgs};
use crate::renderer::{Skinning, UploadPath};

/// The rounds of a sweep of several rows. Each repeats the warm-up of every row.
const ROUNDS: u32 = 3;

/// The settings of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) renderer: RendererChoice,
    pub(super) threads: u32,
    pub(super) instances: u32,
}

/// The settings that need another renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RendererChoice {
    pub(super) size: Size,
    pub(super) skinning: Skinning,
    pub(super) upload: UploadPath,
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
        let RendererChoice { size, skinning, upload } = self.renderer;
        format!(
            "{}, {}x{}, {} skinning, {} upload, {}",
            counted(self.instances as usize, "instance"),
            size.width,
            size.height,
            skinning.name(),
            upload.name(),
            counted(self.threads as usize, "thread")
        )
    }
}

/// Returns all combinations without duplicates.
pub(super) fn rows(sweep: &SweepArgs, defaults: Defaults) -> Vec<Settings> {
    let threads = if sweep.threads.is_empty() { vec![defaults.threads] } else { sweep.threads.clone() };
    let mut rows = Vec::new();
    for &size in &sweep.size {
        for &skinning in &sweep.skinning {
            for upload in &sweep.upload {
                let renderer = RendererChoice { size, skinning, upload: upload.unwrap_or(defaults.upload) };
                for &threads in &threads {
                    for &instances in &sweep.instances {
                        let row = Settings { renderer, threads, instances };
                        if !rows.contains(&row) {
                            rows.push(row);
                        }
                    }
                }
            }
        }
    }
    rows
}

/// Groups rows, given by index, that share a renderer. Small crowds come first: buffers grow and never shrink, so each
/// crowd has the buffers that it would have alone.
pub(super) fn by_renderer(rows: &[Settings]) -> Vec<(RendererChoice, Vec<usize>)> {
    let mut groups: Vec<(RendererChoice, Vec<usize>)> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        match groups.iter_mut().find(|(choice, _)| *choice == row.renderer) {
            Some((_, members)) => members.push(index),
            None => groups.push((row.renderer, vec![index])),
        }
    }
    for (_, members) in &mut groups {
        members.sort_by_key(|&index| rows.get(index).map(|row| row.instances));
    }
    groups
}

/// A round's share of each row's frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) first_frame: u32,
    pub(super) frames: u32,
}

/// Divides the frames into rounds of almost equal size, none of them empty.
pub(super) fn rounds(row_count: usize, frames: u32) -> Vec<Share> {
    let count = if row_count > 1 { ROUNDS.min(frames).max(1) } else { 1 };
    let start = |round: u32| (u64::from(frames) * u64::from(round) / u64::from(count)) as u32;
    (0..count).map(|round| Share { first_frame: start(round), frames: start(round + 1) - start(round) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULTS: Defaults = Defaults { upload: UploadPath::Direct, threads: 4 };
    const HD: Size = Size { width: 1280, height: 720 };

    fn sweep() -> SweepArgs {
        SweepArgs {
            instances: vec![1, 100],
            skinning: vec![Skinning::Compute],
            upload: vec![None],
            threads: Vec::new(),
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
        let rows = rows(&sweep, DEFAULTS);
        let found: Vec<_> = rows.iter().map(|row| (row.renderer.skinning, row.threads, row.instances)).collect();
        let (v, c) = (Skinning::Vertex, Skinning::Compute);
        assert_eq!(
            found,
            [(v, 1, 100), (v, 1, 1), (v, 2, 100), (v, 2, 1), (c, 1, 100), (c, 1, 1), (c, 2, 100), (c, 2, 1)]
        );
        let groups = by_renderer(&rows);
        assert_eq!(groups.iter().map(|(_, members)| members.clone()).collect::<Vec<_>>(), [[1, 3, 0, 2], [5, 7, 4, 6]]);
    }

    #[test]
    fn equal_combinations_are_one_row() {
        let sweep = SweepArgs {
            instances: vec![1, 100, 1],
            upload: vec![None, Some(UploadPath::Direct), Some(UploadPath::Staged)],
            threads: vec![4, 4],
            size: vec![HD, HD],
            ..sweep()
        };
        let rows = rows(&sweep, DEFAULTS);
        let found: Vec<_> = rows.iter().map(|row| (row.renderer.upload, row.threads, row.instances)).collect();
        let (direct, staged) = (UploadPath::Direct, UploadPath::Staged);
        assert_eq!(found, [(direct, 4, 1), (direct, 4, 100), (staged, 4, 1), (staged, 4, 100)]);
    }

    #[test]
    fn rounds_share_all_frames() {
        for (rows, frames, expected) in
            [(1, 60, vec![60]), (2, 60, vec![20; 3]), (2, 5, vec![1, 2, 2]), (9, 1, vec![1])]
        {
            let shares = rounds(rows, frames);
            assert_eq!(shares.iter().map(|share| share.frames).collect::<Vec<_>>(), expected);
            let mut next = 0;
            for share in shares {
                assert_eq!(share.first_frame, next);
                next += share.frames;
            }
            assert_eq!(next, frames);
        }
    }
}
