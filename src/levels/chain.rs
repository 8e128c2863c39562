//! From full detail to the coarsest level, each simplified from the level before.
//!
//! Levels with many triangles are made by `simplify`, in which each level is simplified by quadrics, and those with few by
//! `collapse`, which measures distances in several poses and takes longer.

use super::collapse::Collapser;
use super::simplify::Reference;
use super::triangles::Triangles;

/// The coarsest level has about this many triangles, if the surface allows that.
const COARSEST_TRIANGLES: usize = 16;
/// The largest number of coarser levels. Of models with very many triangles, a level has less than half of the finer one's.
const MOST_LEVELS: usize = 8;
/// The largest share of the finer level's triangles that a level is made for.
const LARGEST_RATIO: f32 = 0.7;
/// A level with a larger share of the finer one's triangles does not pay.
const LARGEST_SHARE: f32 = 0.8;
/// The largest number of triangles of a surface whose edges are collapsed one by one.
const SMALL: usize = 600;
/// The share of a small surface's triangles that are left in the simpler surface that shows which poses count.
const TRIAL_SHARE: f32 = 0.3;

/// Returns the coarser levels, finest first. `add_poses` adds the poses in which two surfaces differ most to the reference.
pub(super) fn chain(
    reference: &mut Reference,
    full: &Triangles,
    add_poses: impl FnOnce(&mut Reference, [&Triangles; 2]),
) -> Vec<Triangles> {
    let ratio = (COARSEST_TRIANGLES as f32 / full.count() as f32).powf(1.0 / MOST_LEVELS as f32).min(LARGEST_RATIO);
    let pays =
        |level: &Triangles, finer: usize| level.count() > 0 && level.count() as f32 <= LARGEST_SHARE * finer as f32;
    let mut levels: Vec<Triangles> = Vec::new();
    while levels.len() < MOST_LEVELS {
        let finer = levels.last().unwrap_or(full);
        let target = (finer.count() as f32 * ratio) as usize;
        if finer.count() <= SMALL {
            break;
        }
        let Some(level) = reference.simplify(finer, target).filter(|level| pays(level, finer.count())) else { break };
        levels.push(level);
    }
    let start = levels.last().unwrap_or(full).clone();
    if start.count() > SMALL {
        return levels;
    }
    if let Some(trial) = reference.simplify(&start, (start.count() as f32 * TRIAL_SHARE) as usize) {
        add_poses(reference, [&start, &trial]);
    }
    let mut small = Collapser::new(reference, &start);
    let mut count = start.count();
    while levels.len() < MOST_LEVELS && count > COARSEST_TRIANGLES {
        let level = small.reduce((count as f32 * ratio) as usize);
        if !pays(&level, count) {
            break;
        }
        count = level.count();
        levels.push(level);
    }
    levels
}
