//! Levels of detail: simpler surfaces over the first vertices of a model, each with an error that holds in all poses.
//!
//! In: a [`Model`]. Out: its [`coarser_levels`](crate::model::Geometry::coarser_levels), and its vertices in an order in
//! which each level uses a prefix. The steps, one file each:
//!
//! 1. `moments` chooses poses that differ: the rest pose, ends of morph targets, and times of all clips;
//! 2. `chain` makes each level from the level before, so its vertices are among those of the finer one: levels with many
//!    triangles by `simplify`, and those with few by `collapse`, in the poses that `extremes` finds;
//! 3. `comparison_points` chooses points of each level and of full detail, and `appearance` says what the level changes of
//!    normals, texture coordinates and colours; both while the next level is made;
//! 4. `error` measures the distance between the surfaces in all moments, at the points that `comparison` maps to the other
//!    surface;
//! 5. [`order`](crate::model::order) numbers the vertices, those of the coarsest level first.
//!
//! `triangles` is the list that they hand on, `surface` finds nearest points, `points` finds the vertices that are one point,
//! `edges` numbers the edges, and `parts` finds what is connected. `placed` chooses where meshes with several placements are measured.
//!
//! Levels of models without many triangles do not pay, so such a model has none. Neither has a model whose rest pose
//! overflows or has no extent. Blended triangles keep their order; lines and points are in all levels.

mod appearance;
mod chain;
mod collapse;
mod comparison;
mod comparison_points;
mod edges;
mod error;
mod extremes;
mod moments;
mod parts;
mod placed;
mod points;
mod simplify;
mod surface;
mod triangles;

use std::sync::OnceLock;

use glam::Vec3A;

use crate::model::order::{OrderingEffort, number_by_use, order_triangles};
use crate::model::{AlphaMode, Model};
use appearance::Looks;
use chain::{Chain, MOST_LEVELS};
use comparison_points::FullSurface;
use error::{Level, errors};
use moments::{Moment, Poser, candidates, different};
use placed::Largest;
use simplify::{MOST_POSES, Reference, extent};
use triangles::{Triangles, used_vertices};

/// Models with fewer triangles have no coarser levels.
const LEAST_TRIANGLES: usize = 32;
/// The number of vertices that all moments together may skin, which bounds the time.
const POSED_VERTICES: usize = 1 << 18;
/// The number of moments of large and of small models.
const MOMENTS: std::ops::RangeInclusive<usize> = 8..=16;

/// The extents of models whose squared distances neither overflow nor vanish.
const EXTENTS: std::ops::Range<f32> = 1e-12..1e12;

/// Fills [`Geometry::coarser_levels`](crate::model::Geometry::coarser_levels), and renumbers the vertices.
pub fn build(model: &mut Model) {
    model.geometry.coarser_levels.clear();
    let largest = Largest::of(model);
    if !largest.error_factor.is_finite() {
        return;
    }
    largest.exchange(model);
    build_at_first_placements(model);
    largest.exchange(model);
    model.geometry.coarser_levels.iter_mut().for_each(|level| level.error *= largest.error_factor);
}

fn build_at_first_placements(model: &mut Model) {
    let full = Triangles::of(&model.geometry);
    if full.count() < LEAST_TRIANGLES {
        return;
    }
    let used = used_vertices(full.indices.as_chunks().0);
    let rest = Poser::new(model).positions(Moment::Rest);
    let is_finite = used.iter().all(|&vertex| rest[vertex as usize].is_finite());
    if !(is_finite && EXTENTS.contains(&extent(&rest))) {
        return;
    }
    let most_moments = (POSED_VERTICES / used.len()).clamp(*MOMENTS.start(), *MOMENTS.end());
    let candidates = candidates(model);
    let moments = different(model, &candidates, &used, most_moments);
    let reference = reference(model, rest, &moments);
    let mut chain = Chain::new(model, &reference, &candidates, &full);
    let (mut next, surface) =
        rayon::join(|| chain.next(), || FullSurface::new(&model.geometry, &full, &reference.positions));
    let looks = Looks::new(&model.geometry.draw_ranges, &reference, &full);
    let prepare = |finer: &Triangles, mut triangles: Triangles| {
        order(model, &mut triangles);
        let (surface, change) = rayon::join(|| surface.level(finer, triangles.clone()), || looks.change(&triangles));
        (triangles, Level { surface, change })
    };
    // meshoptimizer and the collapses take one thread. The others meanwhile prepare the levels that are there.
    let prepared: [OnceLock<(Triangles, Level)>; MOST_LEVELS] = [const { OnceLock::new() }; MOST_LEVELS];
    rayon::scope(|scope| {
        let mut finer = full.clone();
        for prepared in &prepared {
            let Some(level) = next.take() else { break };
            let (triangles, finer) = (level.clone(), std::mem::replace(&mut finer, level));
            scope.spawn(move |_| _ = prepared.set(prepare(&finer, triangles)));
            next = chain.next();
        }
    });
    let (triangles, levels): (Vec<Triangles>, Vec<Level>) =
        prepared.into_iter().filter_map(OnceLock::into_inner).unzip();
    let errors = errors(model, &reference, surface, levels, [&moments, &chain.extremes, &candidates]);
    let levels = triangles.into_iter().zip(errors).filter(|(_, error)| error.is_finite());
    let levels = levels.map(|(triangles, error)| triangles.into_level(&model.geometry, error)).collect();
    model.geometry.coarser_levels = levels;
    number_by_use(&mut model.geometry);
}

/// Returns the rest pose with all attributes, as the simplifier sees it.
fn reference(model: &Model, rest: Vec<Vec3A>, moments: &[Moment]) -> Reference {
    let mut poser = Poser::new(model);
    let posed = moments[1..].iter().take(MOST_POSES).map(|&moment| poser.positions(moment));
    let posed: Vec<Vec<Vec3A>> = posed.collect();
    Reference::new(model, poser.pose(Moment::Rest), rest, posed)
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
