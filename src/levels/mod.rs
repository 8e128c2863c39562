//! Levels of detail: simpler surfaces over the first vertices of a model, each with an error that holds in all poses.
//!
//! In: a [`Model`]. Out: its [`coarser_levels`](crate::model::Geometry::coarser_levels), and its vertices in an order in
//! which each level uses a prefix. The steps, one file each:
//!
//! 1. `moments` chooses poses that differ: the rest pose, ends of morph targets, and times of all clips;
//! 2. `simplify` makes each level from the level before, so its vertices are among those of the finer one;
//! 3. `error` measures how much the picture loses: the distances between the level and full detail in all moments;
//! 4. `joints` leaves joints out of levels that hardly need them;
//! 5. [`order`](crate::model::order) numbers the vertices and the joints, those of the coarsest level first.
//!
//! `triangles` is the list that they hand on, with its connected components, and `surface` finds nearest points.
//!
//! Levels of models without many triangles do not pay, so such a model has none. Neither has a model whose rest pose
//! overflows or has no extent. Blended triangles keep their order; lines and points are in all levels.

#![forbid(unsafe_code)]

mod error;
mod joints;
mod moments;
mod simplify;
mod surface;
mod triangles;

use rayon::prelude::*;

use crate::model::order::{ORDERING_EFFORT, number_by_use, number_joints, order_triangles};
use crate::model::{AlphaMode, Model};
use error::FullSurface;
use joints::stand_ins;
use moments::{Moment, MomentPoser, candidates, different};
use simplify::{Reference, extent};
use triangles::{Triangles, used_vertices};

/// The coarsest level has about this many triangles, if the surface allows that.
const COARSEST_TRIANGLES: usize = 16;
const MOST_LEVELS: usize = 16;
/// The largest share of the finer level's triangles that a level is made for.
const LARGEST_RATIO: f32 = 0.7;
/// A level with a larger share of the finer one's triangles does not pay.
const LARGEST_SHARE: f32 = 0.8;
/// Models with fewer triangles have no coarser levels.
const LEAST_TRIANGLES: usize = 32;
/// The largest number of poses in which distances are measured.
const MOST_MOMENTS: usize = 6;

/// The extents of models whose squared distances neither overflow nor vanish.
const EXTENTS: std::ops::Range<f32> = 1e-12..1e12;

/// Fills [`Geometry::coarser_levels`](crate::model::Geometry::coarser_levels), and renumbers the vertices.
pub fn build(model: &mut Model) {
    model.geometry.coarser_levels.clear();
    let full = Triangles::of(&model.geometry);
    if full.count() < LEAST_TRIANGLES {
        return;
    }
    let used = used_vertices(full.0.iter().flatten());
    let rest = MomentPoser::new(model).positions(Moment::Rest);
    let is_finite = used.iter().all(|&vertex| rest[vertex as usize].is_finite());
    let extent = extent(&rest);
    if !(is_finite && EXTENTS.contains(&extent)) {
        return;
    }
    let moments = different(model, &candidates(model), &used, MOST_MOMENTS);
    let reference = Reference::new(model, rest, &moments);
    // meshoptimizer takes one thread.
    let (mut levels, surface) =
        rayon::join(|| chain(&reference, &full), || FullSurface::new(model, &reference.positions, &full, &moments));
    levels.par_iter_mut().for_each(|level| order(model, level));
    let mut distances = surface.distances(&levels);
    let stand_ins = stand_ins(model, &levels, &mut distances, &moments, extent);
    let mut least = 0.0f32;
    let levels = levels.into_iter().zip(distances).map(|(triangles, distances)| {
        least = least.max(distances.error(extent));
        triangles.into_level(&model.geometry, least)
    });
    model.geometry.coarser_levels = levels.collect();
    number_by_use(&mut model.geometry);
    number_joints(model, &stand_ins);
}

/// Returns the triangles of the coarser levels, each made from the one before.
fn chain(reference: &Reference, full: &Triangles) -> Vec<Triangles> {
    let ratio = (COARSEST_TRIANGLES as f32 / full.count() as f32).powf(1.0 / MOST_LEVELS as f32).min(LARGEST_RATIO);
    let mut levels: Vec<Triangles> = Vec::new();
    while levels.len() < MOST_LEVELS {
        let finer = levels.last().unwrap_or(full);
        let count = finer.count();
        let level = reference.simplify(finer, (count as f32 * ratio) as usize);
        let pays = |level: &Triangles| level.count() > 0 && level.count() as f32 <= LARGEST_SHARE * count as f32;
        match level.filter(pays) {
            Some(level) if count > COARSEST_TRIANGLES => levels.push(level),
            _ => break,
        }
    }
    levels
}

/// Orders the triangles of a level for the vertex cache. Blended ones keep their order, which the author may have chosen.
fn order(model: &Model, triangles: &mut Triangles) {
    let mut effort = ORDERING_EFFORT;
    for (drawn, own) in model.geometry.draw_ranges.iter().zip(&mut triangles.0) {
        let material = model.materials.get(drawn.material as usize);
        if material.is_some_and(|material| material.alpha_mode != AlphaMode::Blend) {
            order_triangles(own.as_flattened_mut(), &mut effort);
        }
    }
}
