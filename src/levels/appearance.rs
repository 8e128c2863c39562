//! What a level changes of the appearance although no point moves: normals, texture coordinates and colours.
//!
//! In: the triangles of a level. Out: a number from 0 to 1, the mean over the surface in full detail. Points
//! are spread evenly over its area, and each is compared with the nearest place on the level in the reference pose. Draw
//! ranges are compared with themselves, because each has its own textures and its own way of shading.
//!
//! The largest change would say little. Almost every level has some point with another normal than before, at a crease or a
//! seam. The mean is what the picture of a small character shows.

use glam::Vec3A;

use super::simplify::Reference;
use super::surface::{NodeBox, Place, Tree};
use super::triangles::Triangles;
use crate::model::DrawRange;

/// The number of points that are compared.
const SAMPLES: usize = 1024;

/// The difference between normals one radian apart, approximately.
const NORMAL_SHARE: f32 = 0.5;

/// A point of the surface in full detail, and its draw range.
type Sample = (usize, Place);

/// Full detail, prepared for comparisons with levels.
pub(super) struct Looks<'m> {
    draw_ranges: &'m [DrawRange],
    reference: &'m Reference,
    samples: Vec<Sample>,
}

impl<'m> Looks<'m> {
    /// Spreads the points over full detail.
    pub fn new(draw_ranges: &'m [DrawRange], reference: &'m Reference, full: &Triangles) -> Self {
        Self { draw_ranges, reference, samples: samples(full, &reference.positions) }
    }

    /// Returns the mean change of a level.
    pub fn change(&self, level: &Triangles) -> f32 {
        let (reference, positions) = (self.reference, &self.reference.positions);
        let surfaces: Vec<Option<(Tree, Vec<NodeBox>)>> = (0..level.ranges.len())
            .map(|range| {
                let triangles = level.of_range(range);
                let tree = (!triangles.is_empty()).then(|| Tree::new(triangles.to_vec(), positions))?;
                let boxes = tree.boxes(positions);
                Some((tree, boxes))
            })
            .collect();
        let change = |&(range, point): &Sample| {
            let surface = surfaces[range].as_ref();
            let nearest = surface.and_then(|(tree, boxes)| {
                tree.nearest(boxes, positions, point.position(positions), (f32::INFINITY, 0.0))
            });
            // Where nothing is left, everything has changed.
            let Some((nearest, _)) = nearest else { return 1.0 };
            let is_flat = self.draw_ranges[range].flat_shaded;
            let appearance = |at: &Place| appearance(reference, at, range, is_flat);
            difference(appearance(&point), appearance(&nearest))
        };
        self.samples.iter().map(change).sum::<f32>() / self.samples.len().max(1) as f32
    }
}

/// The appearance of a place: its normal, and its texture coordinates and colour.
type Appearance = (Vec3A, [f32; Reference::LOOKS]);

fn appearance(reference: &Reference, place: &Place, range: usize, flat_shaded: bool) -> Appearance {
    let normal = if flat_shaded {
        let [a, b, c] = place.corners.map(|corner| reference.positions[corner as usize]);
        (b - a).cross(c - a)
    } else {
        reference.normal_at(place)
    };
    (normal.normalize_or_zero(), reference.looks_at(place, range))
}

/// Returns the difference between two appearances, from 0 to 1. Textures a whole texture apart have nothing in common, and
/// neither have black and another colour of full strength.
fn difference((normal_a, looks_a): Appearance, (normal_b, looks_b): Appearance) -> f32 {
    let looks = looks_a.iter().zip(&looks_b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt();
    (NORMAL_SHARE * normal_a.distance(normal_b) + looks).min(1.0)
}

/// Returns points that are evenly spread over the area of the triangles. Always the same ones.
fn samples(full: &Triangles, positions: &[Vec3A]) -> Vec<Sample> {
    let area = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|corner| positions[corner as usize]);
        f64::from((b - a).cross(c - a).length())
    };
    let triangles =
        || (0..full.ranges.len()).flat_map(|range| full.of_range(range).iter().map(move |corners| (range, corners)));
    let step = triangles().map(|(_, corners)| area(corners)).sum::<f64>() / SAMPLES as f64;
    let mut samples = Vec::with_capacity(SAMPLES);
    let mut area_so_far = 0.0;
    for (range, corners) in triangles() {
        area_so_far += area(corners);
        while samples.len() < SAMPLES && (samples.len() as f64 + 0.5) * step < area_so_far {
            samples.push((range, Place { corners: *corners, weights: spread_weights(samples.len()) }));
        }
    }
    samples
}

/// Returns barycentric coordinates of the R2 sequence (Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences").
fn spread_weights(index: usize) -> [f32; 3] {
    let (u, v) = ((index as f32 * 0.754_877_7).fract(), (index as f32 * 0.569_840_3).fract());
    let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
    [1.0 - u - v, u, v]
}
