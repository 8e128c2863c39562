//! Levels of detail: simpler surfaces over the first vertices of a model, each with an error that holds in all poses.
//!
//! In: a [`Model`]. Out: its [`coarser_levels`](crate::model::Geometry::coarser_levels), and its vertices in an order in
//! which each level uses a prefix. The steps, one file each:
//!
//! 1. `moments` chooses poses that differ: the rest pose, ends of morph targets, and times of all clips;
//! 2. `simplify` makes each level from the level before, so a level's vertices are among those of the finer one;
//! 3. `error` measures the distance between the surfaces in all moments;
//! 4. [`order`](crate::model::order) numbers the vertices, those of the coarsest level first.
//!
//! `triangles` is the list that they hand on, and `surface` finds nearest points.
//!
//! Levels of models without many triangles do not pay, so such a model has none. Neither has a model whose rest pose
//! overflows. Blended triangles keep their order; lines and points are in all levels.

mod error;
mod moments;
mod simplify;
mod surface;
mod triangles;

use glam::Vec3A;

use crate::model::order::{OrderingEffort, number_by_use, order_triangles};
use crate::model::{AlphaMode, Model};
use error::{errors, positions};
use moments::{Moment, Poser, moments};
use simplify::{MOST_POSES, Reference, extent};
use triangles::{Triangles, used_vertices};

/// Models with fewer triangles have no coarser levels.
const LEAST_TRIANGLES: usize = 32;
/// The coarsest level has about this many triangles, if the surface allows that.
const COARSEST_TRIANGLES: usize = 16;
/// The largest number of coarser levels. Of models with very many triangles, a level has less than half of the finer one's.
const MOST_LEVELS: usize = 8;
/// A level with a larger share of the finer one's triangles does not pay.
const LARGEST_SHARE: f32 = 0.8;
/// The number of vertices that all moments together may skin, which bounds the time.
const POSED_VERTICES: usize = 1 << 18;
/// The number of moments of large and of small models.
const MOMENTS: std::ops::RangeInclusive<usize> = 8..=128;

/// Fills [`Geometry::coarser_levels`](crate::model::Geometry::coarser_levels), and renumbers the vertices.
pub fn build(model: &mut Model) {
    model.geometry.coarser_levels.clear();
    let full = Triangles::of(&model.geometry);
    if full.count() < LEAST_TRIANGLES {
        return;
    }
    let used = used_vertices(full.indices.as_chunks().0);
    let most_moments = (POSED_VERTICES / used.len()).clamp(*MOMENTS.start(), *MOMENTS.end());
    let moments = moments(model, &used, most_moments);
    let (reference, levels) = simplified(model, &full, &moments);
    let errors = errors(model, &full, &levels, &reference.positions, &moments);
    let levels = levels.into_iter().zip(errors).filter(|(_, error)| error.is_finite());
    let levels = levels.map(|(mut triangles, error)| {
        order(model, &mut triangles);
        triangles.into_level(&model.geometry, error)
    });
    model.geometry.coarser_levels = levels.collect();
    number_by_use(&mut model.geometry);
}

/// Returns the chain of simplified triangles, finest first, and the reference pose.
fn simplified(model: &Model, full: &Triangles, moments: &[Moment]) -> (Reference, Vec<Triangles>) {
    let mut poser = Poser::new(model);
    let rest = positions(model, &mut poser, Moment::Rest);
    let extent = extent(&rest);
    let posed: Vec<Vec<Vec3A>> =
        moments[1..].iter().take(MOST_POSES).map(|&moment| positions(model, &mut poser, moment)).collect();
    let reference = Reference::new(model, poser.pose(Moment::Rest), rest, &posed);
    let mut levels: Vec<Triangles> = Vec::new();
    if !(extent > 0.0 && extent.is_finite()) {
        return (reference, levels);
    }
    let ratio = (COARSEST_TRIANGLES as f32 / full.count() as f32).powf(1.0 / MOST_LEVELS as f32).min(0.5);
    while levels.len() < MOST_LEVELS {
        let finer = levels.last().unwrap_or(full);
        if finer.count() <= COARSEST_TRIANGLES {
            break;
        }
        let target = (finer.count() as f32 * ratio) as usize;
        let pays =
            |level: &Triangles| level.count() > 0 && level.count() as f32 <= LARGEST_SHARE * finer.count() as f32;
        let level = [true, false]
            .into_iter()
            .find_map(|holds_seams| reference.simplify(finer, target, holds_seams).filter(pays));
        let Some(level) = level else { break };
        levels.push(level);
    }
    (reference, levels)
}

/// Orders the triangles of a level for the vertex cache. Blended ones keep their order, which the author may have chosen.
fn order(model: &Model, triangles: &mut Triangles) {
    let mut effort = OrderingEffort::new();
    for (drawn, own) in model.geometry.draw_ranges.iter().zip(&triangles.ranges) {
        let material = model.materials.get(drawn.material as usize);
        if material.is_some_and(|material| material.alpha_mode != AlphaMode::Blend) {
            order_triangles(&mut triangles.indices[own.clone()], &mut effort);
        }
    }
}
