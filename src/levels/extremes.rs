//! The moments in which simplified surfaces of a model are farthest from full detail.
//!
//! In: a surface, and a simpler one made without regard to poses. Out: a few moments. Each lost vertex, with the nearest place
//! on the simpler surface, is a probe. Where both follow different joints, some moment pulls them apart: a turned neck, a
//! bent knee. The moments are chosen one after the other, each so that the largest distances of all probes grow most.

use glam::Vec3A;
use rayon::prelude::*;

use super::moments::{Moment, Poser};
use super::surface::{Place, far_vertices};
use super::triangles::Triangles;
use crate::animation::skinned_position;
use crate::model::Model;

/// The largest number of probes.
const MOST_PROBES: usize = 128;
/// The largest number of moments in which probes are evaluated.
const MOST_PROBED: usize = 256;

/// Returns at most `most` of the candidates.
pub(super) fn extremes(
    model: &Model,
    reference: &[Vec3A],
    [finer, simpler]: [&Triangles; 2],
    candidates: &[Moment],
    most: usize,
) -> Vec<Moment> {
    let far = far_vertices(reference, finer, simpler);
    let probes: Vec<(u32, Place)> =
        far.iter().step_by(far.len().div_ceil(MOST_PROBES).max(1)).map(|lost| (lost.vertex, lost.nearest)).collect();
    let step = candidates.len().div_ceil(MOST_PROBED).max(1);
    let candidates: Vec<Moment> = candidates.iter().copied().step_by(step).collect();
    let distances: Vec<Vec<f32>> = candidates
        .par_iter()
        .map_init(|| Poser::new(model), |poser, &moment| probe(model, &probes, poser, moment))
        .collect();
    let mut largest = distances.first().cloned().unwrap_or_default();
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let growth =
            |own: &Vec<f32>| own.iter().zip(&largest).map(|(own, largest)| (own - largest).max(0.0)).sum::<f32>();
        let growths = distances.iter().map(growth).enumerate();
        let Some((index, growth)) = growths.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))) else { break };
        if growth == 0.0 {
            break;
        }
        largest.iter_mut().zip(&distances[index]).for_each(|(largest, own)| *largest = largest.max(*own));
        chosen.push(candidates[index]);
    }
    chosen
}

/// Returns the distance of each probe in a moment. Poses that overflow have none.
fn probe(model: &Model, probes: &[(u32, Place)], poser: &mut Poser<'_>, moment: Moment) -> Vec<f32> {
    let pose = poser.pose(moment);
    let position = |vertex: u32| Vec3A::from(skinned_position(&model.geometry, vertex as usize, pose));
    let distance = |(vertex, place): &(u32, Place)| {
        let at_place: Vec3A = (0..3).map(|k| place.weights[k] * position(place.corners[k])).sum();
        let distance = position(*vertex).distance(at_place);
        if distance.is_finite() { distance } else { 0.0 }
    };
    probes.iter().map(distance).collect()
}
