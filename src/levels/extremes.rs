//! The moments in which simplified surfaces of a model are farthest from full detail.
//!
//! In: a surface, and a simpler one made without regard to poses. Out: a few moments. Each lost vertex, with the nearest place
//! on the simpler surface, is a probe. Where both follow different joints, some moment pulls them apart: a turned neck, a
//! bent knee. The moments are chosen one after the other, each so that the largest distances of all probes grow most.
//! `error` chooses moments for its own probes in the same way.

use std::ops::Range;

use glam::Vec3A;
use rayon::prelude::*;

use super::moments::{Moment, MomentPoser};
use super::surface::{Place, far_vertices};
use super::triangles::Triangles;
use crate::animation::skinned_position;
use crate::model::Model;

/// The largest number of probes.
const MOST_PROBES: usize = 128;
/// The largest number of moments in which probes are evaluated.
const MOST_PROBED: usize = 256;

/// A point and a place on another surface.
pub(super) type Probe = [Place; 2];

/// Returns at most `most` of the candidates.
pub(super) fn extremes(
    model: &Model,
    reference: &[Vec3A],
    [finer, simpler]: [&Triangles; 2],
    candidates: &[Moment],
    most: usize,
) -> Vec<Moment> {
    let far = far_vertices(reference, finer, simpler);
    let probes = far.iter().step_by(far.len().div_ceil(MOST_PROBES).max(1));
    let probes: Vec<Probe> = probes.map(|lost| [Place::of_vertex(lost.vertex), lost.nearest]).collect();
    let candidates = few(candidates);
    let distances = distances(model, &probes, &candidates);
    let mut largest = distances.first().cloned().unwrap_or_default();
    growing(&distances, 0..probes.len(), &mut largest, most).into_iter().map(|index| candidates[index]).collect()
}

/// Returns some of the candidates, evenly spread: few enough to evaluate probes in all of them.
pub(super) fn few(candidates: &[Moment]) -> Vec<Moment> {
    candidates.iter().copied().step_by(candidates.len().div_ceil(MOST_PROBED).max(1)).collect()
}

/// Returns the distances of all probes in each moment. In poses that overflow, they are 0.
pub(super) fn distances(model: &Model, probes: &[Probe], moments: &[Moment]) -> Vec<Vec<f32>> {
    let in_moment = |poser: &mut MomentPoser, &moment: &Moment| {
        let pose = poser.pose(moment);
        let position = |place: Place| -> Vec3A {
            let corners = place.corners.into_iter().zip(place.weights).filter(|&(_, weight)| weight != 0.0);
            let corner =
                |(vertex, weight)| weight * Vec3A::from(skinned_position(&model.geometry, vertex as usize, pose));
            corners.map(corner).sum()
        };
        let distance = |&[point, nearest]: &Probe| {
            let distance = position(point).distance(position(nearest));
            if distance.is_finite() { distance } else { 0.0 }
        };
        probes.iter().map(distance).collect()
    };
    moments.par_iter().map_init(|| MomentPoser::new(model), in_moment).collect()
}

/// Chooses moments one after the other, each so that the largest distances of the probes in a range grow most. Returns at most
/// `most` indices of `distances`, which has the distances of all probes in each moment. `largest` has those in the moments that
/// are known already, and then in the chosen ones too.
pub(super) fn growing(distances: &[Vec<f32>], probes: Range<usize>, largest: &mut [f32], most: usize) -> Vec<usize> {
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let growth = |own: &Vec<f32>| {
            let pairs = own[probes.clone()].iter().zip(&largest[probes.clone()]);
            pairs.map(|(own, largest)| (own - largest).max(0.0)).sum::<f32>()
        };
        let growths = distances.iter().map(growth).enumerate();
        let Some((index, growth)) = growths.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))) else { break };
        if growth == 0.0 {
            break;
        }
        enlarge(largest, &distances[index]);
        chosen.push(index);
    }
    chosen
}

/// Replaces each number by the one of `others` that is larger.
pub(super) fn enlarge(largest: &mut [f32], others: &[f32]) {
    largest.iter_mut().zip(others).for_each(|(largest, &other)| *largest = largest.max(other));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_like_a_chosen_one_is_not_chosen() {
        // Of three probes. The first two moments are neighbours: both are far from the first probe, and only there.
        let distances = [vec![9.0, 0.0, 0.0], vec![8.9, 0.1, 0.0], vec![1.0, 5.0, 7.0], vec![0.0, 0.0, 0.0]];
        let mut largest = [0.0; 3];
        assert_eq!(growing(&distances, 0..3, &mut largest, 2), [2, 0]);
        assert_eq!(largest, [9.0, 5.0, 7.0]);
        // Only the first two probes, with distances in known moments.
        assert_eq!(growing(&distances, 0..2, &mut [0.0, 5.0, 0.0], 4), [0]);
        assert_eq!(growing(&distances, 0..2, &mut [9.0, 5.0, 0.0], 4), [0; 0]);
    }
}
