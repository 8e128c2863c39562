//! Levels of detail: simpler surfaces over the first vertices of a model, each with an error that holds in all poses.
//!
//! In: a [`Model`]. Out: its [`coarser_levels`](crate::model::Geometry::coarser_levels), and its vertices in an order in
//! which each level uses a prefix. The steps, one file each:
//!
//! 1. `moments` chooses poses that differ: the rest pose, ends of morph targets, and times of all clips;
//! 2. `Chain` makes each level from the level before, so its vertices are among those of the finer one: levels with many
//!    triangles by `simplify`, with quadrics, and those with few by `collapse`, which measures distances in the poses that
//!    `extremes` finds and takes longer;
//! 3. `comparison_points` chooses points of each level and of full detail, and `appearance` says what the level changes of
//!    normals, texture coordinates and colours; both while the next level is made;
//! 4. `error` measures the distance between the surfaces in all moments, at the points that `comparison` maps to the other
//!    surface;
//! 5. [`order`](crate::model::order) numbers the vertices, those of the coarsest level first.
//!
//! `triangles` is the list that they hand on, with its edges and connected components, and `surface` finds nearest points.
//!
//! Levels of models without many triangles do not pay, so such a model has none. Neither has a model whose rest pose
//! overflows or has no extent. Blended triangles keep their order; lines and points are in all levels.

#![forbid(unsafe_code)]

mod appearance;
mod collapse;
mod comparison;
mod comparison_points;
mod error;
mod extremes;
mod moments;
mod simplify;
mod surface;
mod triangles;

use std::sync::OnceLock;

use glam::Vec3A;

use crate::model::order::{OrderingEffort, number_by_use, order_triangles};
use crate::model::{AlphaMode, Model};
use appearance::Looks;
use collapse::Collapser;
use comparison_points::FullSurface;
use error::{Level, errors};
use extremes::extremes;
use moments::{Moment, MomentPoser, candidates, different};
use simplify::{MOST_POSES, Reference, extent};
use triangles::{Triangles, used_vertices};

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
/// The largest number of poses that count because simpler surfaces differ most in them.
const MOST_EXTREMES: usize = 8;
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
    let full = Triangles::of(&model.geometry);
    if full.count() < LEAST_TRIANGLES {
        return;
    }
    let used = used_vertices(full.indices.as_chunks().0);
    let rest = MomentPoser::new(model).positions(Moment::Rest);
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
    let mut poser = MomentPoser::new(model);
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

/// Makes one level after the other, so that each can be compared with full detail while the next one is made.
struct Chain<'m> {
    model: &'m Model,
    reference: &'m Reference,
    candidates: &'m [Moment],
    /// The share of the finer level's triangles that a level is made for.
    ratio: f32,
    /// The newest level, or full detail.
    finer: Triangles,
    level_count: usize,
    small: Option<Collapser<'m>>,
    /// The moments in which simpler surfaces differ most, once there is a small level.
    extremes: Vec<Moment>,
}

impl<'m> Chain<'m> {
    /// Starts with full detail. Small levels are made for some of the `candidates`.
    fn new(model: &'m Model, reference: &'m Reference, candidates: &'m [Moment], full: &Triangles) -> Self {
        let ratio = (COARSEST_TRIANGLES as f32 / full.count() as f32).powf(1.0 / MOST_LEVELS as f32).min(LARGEST_RATIO);
        let finer = full.clone();
        Self { model, reference, candidates, ratio, finer, level_count: 0, small: None, extremes: Vec::new() }
    }

    /// Returns the next coarser level, unless that would not pay.
    fn next(&mut self) -> Option<Triangles> {
        let count = self.finer.count();
        if self.level_count == MOST_LEVELS || count <= COARSEST_TRIANGLES {
            return None;
        }
        let target = (count as f32 * self.ratio) as usize;
        let level = if count > SMALL { self.reference.simplify(&self.finer, target)? } else { self.collapse(target) };
        if level.count() == 0 || level.count() as f32 > LARGEST_SHARE * count as f32 {
            return None;
        }
        self.level_count += 1;
        self.finer.clone_from(&level);
        Some(level)
    }

    fn collapse(&mut self, target: usize) -> Triangles {
        let small = self.small.take().unwrap_or_else(|| {
            self.extremes = self.find_extremes();
            let mut poser = MomentPoser::new(self.model);
            let poses = self.extremes.iter().map(|&moment| poser.positions(moment)).collect();
            Collapser::new(self.reference, poses, &self.finer)
        });
        self.small.insert(small).reduce(target)
    }

    /// Finds the moments in which a much simpler surface differs most from the newest level.
    fn find_extremes(&self) -> Vec<Moment> {
        let target = (self.finer.count() as f32 * TRIAL_SHARE) as usize;
        let Some(trial) = self.reference.simplify(&self.finer, target) else { return Vec::new() };
        extremes(self.model, &self.reference.positions, [&self.finer, &trial], self.candidates, MOST_EXTREMES)
    }
}
