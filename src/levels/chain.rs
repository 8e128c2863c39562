//! From full detail to the coarsest level, each simplified from the level before.
//!
//! Levels with many triangles are made by `simplify`, in which each level is simplified by quadrics, and those with few by
//! `collapse`, which measures distances in several poses and takes longer. `extremes` finds the poses.

use super::collapse::Collapser;
use super::extremes::extremes;
use super::moments::{Moment, Poser};
use super::simplify::Reference;
use super::triangles::Triangles;
use crate::model::Model;

/// The coarsest level has about this many triangles, if the surface allows that.
const COARSEST_TRIANGLES: usize = 16;
/// The largest number of coarser levels. Of models with very many triangles, a level has less than half of the finer one's.
pub(super) const MOST_LEVELS: usize = 8;
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

/// Makes one level after the other, so that each can be compared with full detail while the next one is made.
pub(super) struct Chain<'m> {
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
    pub extremes: Vec<Moment>,
}

impl<'m> Chain<'m> {
    /// Starts with full detail. Small levels are made for some of the `candidates`.
    pub fn new(model: &'m Model, reference: &'m Reference, candidates: &'m [Moment], full: &Triangles) -> Self {
        let ratio = (COARSEST_TRIANGLES as f32 / full.count() as f32).powf(1.0 / MOST_LEVELS as f32).min(LARGEST_RATIO);
        let finer = full.clone();
        Self { model, reference, candidates, ratio, finer, level_count: 0, small: None, extremes: Vec::new() }
    }

    /// Returns the next coarser level, unless that would not pay.
    pub fn next(&mut self) -> Option<Triangles> {
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
            let mut poser = Poser::new(self.model);
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
