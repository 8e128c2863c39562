//! From full detail to the coarsest level, each simplified from the level before.
//!
//! Quadrics hardly notice the loss of a thin end, such as a foot, an ear or the tip of a sword: all its triangles are almost
//! parallel to the way along which it shrinks. So a small level is made up to [`ATTEMPTS`] times. After each attempt, the
//! vertices that ended farthest from the new surface are locked for the next one. The best attempt counts.

use glam::Vec3A;

use super::simplify::Reference;
use super::surface::far_vertices;
use super::triangles::Triangles;

/// The coarsest level has about this many triangles, if the surface allows that.
const COARSEST_TRIANGLES: usize = 16;
/// The largest number of coarser levels. Of models with very many triangles, a level has less than half of the finer one's.
const MOST_LEVELS: usize = 8;
/// A level with a larger share of the finer one's triangles does not pay.
const LARGEST_SHARE: f32 = 0.8;
/// The number of times that a small level is made.
const ATTEMPTS: usize = 4;
/// The largest number of triangles of a small level.
const SMALL: usize = 600;
/// The number of triangles for each locked vertex, at least.
const TRIANGLES_PER_END: usize = 6;
/// A vertex is locked if it is at least this share of the largest distance away.
const END_SHARE: f32 = 0.6;

/// Returns the coarser levels, finest first.
pub(super) fn chain(reference: &Reference, full: &Triangles) -> Vec<Triangles> {
    let ratio = (COARSEST_TRIANGLES as f32 / full.count() as f32).powf(1.0 / MOST_LEVELS as f32).min(0.5);
    let mut levels: Vec<Triangles> = Vec::new();
    let mut ends = Vec::new();
    while levels.len() < MOST_LEVELS {
        let finer = levels.last().unwrap_or(full);
        if finer.count() <= COARSEST_TRIANGLES {
            break;
        }
        let target = (finer.count() as f32 * ratio) as usize;
        let Some(level) = best_attempt(reference, finer, target, &mut ends) else { break };
        levels.push(level);
    }
    levels
}

/// Returns the level whose surface stays nearest to the vertices of the finer one, if any pays. `ends` are the vertices to
/// lock; the function adds some.
fn best_attempt(reference: &Reference, finer: &Triangles, target: usize, ends: &mut Vec<u32>) -> Option<Triangles> {
    let most_ends = target / TRIANGLES_PER_END;
    ends.truncate(most_ends);
    let pays = |level: &Triangles| level.count() > 0 && level.count() as f32 <= LARGEST_SHARE * finer.count() as f32;
    let mut locked = ends.clone();
    let mut best: Option<(f32, Triangles)> = None;
    for _ in 0..ATTEMPTS {
        let Some(level) = reference.simplify(finer, target, &locked).filter(pays) else { break };
        if target > SMALL {
            return Some(level);
        }
        let far = far_vertices(&reference.positions, finer, &level);
        let worst = far.first().map_or(0.0, |&(squared, _)| squared);
        if best.as_ref().is_some_and(|(least, _)| worst >= *least) {
            break;
        }
        best = Some((worst, level));
        ends.clone_from(&locked);
        add_ends(&mut locked, &far, &reference.positions);
        if locked.len() > most_ends || locked.len() == ends.len() {
            break;
        }
    }
    // Without locked vertices, a level may still be possible.
    best.map(|(_, level)| level).or_else(|| reference.simplify(finer, target, &[]).filter(pays))
}

/// Adds the farthest vertices, but only one of those that are near each other.
fn add_ends(ends: &mut Vec<u32>, far: &[(f32, u32)], positions: &[Vec3A]) {
    let Some(&(worst, _)) = far.first() else { return };
    let mut added: Vec<u32> = Vec::new();
    for &(squared, vertex) in far {
        if squared <= END_SHARE * END_SHARE * worst {
            break;
        }
        let position = positions[vertex as usize];
        if added.iter().all(|&other| positions[other as usize].distance_squared(position) > worst) {
            added.push(vertex);
        }
    }
    ends.extend(added);
}
