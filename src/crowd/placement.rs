//! The places of the instances. Each layout lists its places from the centre outwards, so that the first ones of a large
//! crowd are those of a small crowd, as far as the layout allows.
//!
//! In: the width of each instance and random numbers. Out: [`Placement`]s around the origin, with y = 0 and a scale of 1. A
//! single instance is exactly at the origin and faces +Z, as glTF characters do. If all are equally wide, a million places
//! take O(n log n) time. Where widths differ, no lattice fits, and places are packed from the centre outwards.

use std::f32::consts::{FRAC_PI_2, TAU};

use glam::{Affine3A, Vec2, Vec3};

use super::random::SplitMix64;
use super::scatter;
use crate::shader_types::JointMatrix;

/// The largest displacement from the lattice along an axis, as a share of the spacing.
pub(super) const JITTER: f32 = 0.1;
/// The largest angle of an instance on the lattice from +Z, the direction that glTF characters face.
const MAX_YAW_RADIANS: f32 = 0.5;

/// The way in which instances are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// A hexagonal lattice with some jitter, which fills a disc. All instances face about the same way.
    #[default]
    Grid,
    /// Concentric rings. Instances face along their ring.
    Ring,
    /// Random places, none of them close to another. Instances face anywhere.
    Scatter,
    /// A straight row, in the order of the models, as close as their extents allow. All instances face +Z.
    Line,
    /// A street along Z, in rows: one side comes, the other side goes, and instances that go nowhere stand at the edges.
    March,
}

impl Layout {
    pub const ALL: [(&str, Self); 5] = [
        ("grid", Self::Grid),
        ("ring", Self::Ring),
        ("scatter", Self::Scatter),
        ("line", Self::Line),
        ("march", Self::March),
    ];
}

/// Returns a placement for an instance of each width, from the centre outwards.
pub(super) fn placements(layout: Layout, widths_metres: &[f32], random: &mut SplitMix64) -> Vec<Placement> {
    let Some(&first_metres) = widths_metres.first().filter(|_| widths_metres.len() > 1) else {
        return vec![Placement::ORIGIN; widths_metres.len()];
    };
    let (count, are_equal) = (widths_metres.len(), widths_metres.iter().all(|width| *width == first_metres));
    match layout {
        Layout::Grid | Layout::March if are_equal => grid(count, first_metres, random),
        Layout::Grid | Layout::March => {
            let points = scatter::packed(widths_metres, 1.0, random);
            let yaw = |point| Placement::new(point, random.signed_unit() * MAX_YAW_RADIANS);
            points.into_iter().map(yaw).collect()
        }
        Layout::Ring => rings(widths_metres, random),
        Layout::Scatter => {
            let points = if are_equal {
                let distance_metres = scatter::DISTANCE * first_metres;
                scatter::disc(count, random).into_iter().map(|point| point * distance_metres).collect()
            } else {
                scatter::packed(widths_metres, scatter::DISTANCE, random)
            };
            points.into_iter().map(|point| Placement::new(point, random.unit() * TAU)).collect()
        }
        Layout::Line => line(widths_metres.iter().map(|&width| Vec2::splat(0.5 * width))),
    }
}

/// Returns a row along +X whose middle is the origin. Each instance reaches from its own place to -X and +X by its two numbers.
pub(super) fn line(reaches: impl Iterator<Item = Vec2>) -> Vec<Placement> {
    /// The gap between neighbours, as a share of their mean width.
    const GAP: f32 = 0.1;
    let mut end = 0.0f32;
    let mut place = |reach: Vec2| {
        let at = end + 0.5 * GAP * reach.element_sum() + reach.x;
        end += (1.0 + GAP) * reach.element_sum();
        at
    };
    let places: Vec<f32> = reaches.map(&mut place).collect();
    places.into_iter().map(|x| Placement::new(Vec2::new(x - 0.5 * end, 0.0), 0.0)).collect()
}

/// The placement of one instance. It is half as large as a matrix, and turning it about the centre of the crowd takes eight
/// products.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placement {
    /// The position of the model's origin in the world.
    pub position: Vec3,
    /// The cosine and the sine of the rotation about +Y. An instance without rotation faces +Z.
    pub heading: Vec2,
    pub scale: f32,
}

impl Placement {
    /// The placement at the origin, with the scale and the heading of the file.
    pub const ORIGIN: Self = Self { position: Vec3::ZERO, heading: Vec2::X, scale: 1.0 };

    pub fn new(position: Vec2, yaw_radians: f32) -> Self {
        Self { position: Vec3::new(position.x, 0.0, position.y), heading: Vec2::from_angle(yaw_radians), scale: 1.0 }
    }

    /// Returns the placement of a model with a scale, of which the point `stand` is here.
    pub fn standing(self, stand: Vec3, scale: f32) -> Self {
        Self { position: self.position - turned(scale * stand, self.heading), scale, ..self }
    }

    /// Returns the placement after a turn about the world's Y axis.
    #[inline]
    pub fn turned(self, turn: Vec2) -> Self {
        Self { position: turned(self.position, turn), heading: turn.rotate(self.heading), ..self }
    }

    #[inline]
    pub fn rows(&self) -> JointMatrix {
        let Self { position, heading, scale } = *self;
        let (cos, sin) = (heading.x * scale, heading.y * scale);
        JointMatrix { rows: [[cos, 0.0, sin, position.x], [0.0, scale, 0.0, position.y], [-sin, 0.0, cos, position.z]] }
    }

    pub fn world_from_model(&self) -> Affine3A {
        self.rows().into()
    }
}

/// Turns a point about the Y axis, by a cosine and a sine.
#[inline]
pub(super) fn turned(point: Vec3, turn: Vec2) -> Vec3 {
    Vec3::new(point.x * turn.x + point.z * turn.y, point.y, point.z * turn.x - point.x * turn.y)
}

/// Returns the places of a hexagonal lattice that fills a disc, with some jitter, so that the crowd looks natural but ordered.
fn grid(count: usize, spacing_metres: f32, random: &mut SplitMix64) -> Vec<Placement> {
    let lattice = hexagonal_disc(count);
    // The outermost ring may be incomplete, which would move the crowd's centre to one side.
    let center = lattice.iter().sum::<Vec2>() / lattice.len().max(1) as f32;
    let placement = |point: Vec2| {
        let jitter = Vec2::new(random.signed_unit(), random.signed_unit()) * JITTER;
        Placement::new((point - center + jitter) * spacing_metres, random.signed_unit() * MAX_YAW_RADIANS)
    };
    lattice.into_iter().map(placement).collect()
}

/// Returns the `count` points of the hexagonal lattice with unit spacing that are closest to the origin.
///
/// Lattice coordinates (i, j) stand for i·(1, 0) + j·(1/2, √3/2). The squared distance i² + ij + j² is an integer, so
/// the order does not depend on rounding. Ties are ordered by row, middle rows first, then from left to right.
fn hexagonal_disc(count: usize) -> Vec<Vec2> {
    const ROW_DISTANCE: f32 = 0.866_025_4;
    // A disc of radius r holds about π r² / (√3/2) points. The searched rhombus must contain the disc, so i and j go up to
    // 2/√3 times the radius.
    let radius = (count as f64 * 0.866_025_4 / std::f64::consts::PI).sqrt() + 2.0;
    let reach = (radius * 1.154_700_6).ceil() as i64;
    let radius_squared = (radius * radius).ceil() as i64;
    let row = |j: i64| (-reach..=reach).map(move |i| (i * i + i * j + j * j, j, i));
    let is_near = |(distance_squared, ..): &(i64, i64, i64)| *distance_squared <= radius_squared;
    let mut points: Vec<(i64, i64, i64)> = (-reach..=reach).flat_map(row).filter(is_near).collect();
    points.sort_unstable_by_key(|&(distance_squared, j, i)| (distance_squared, j.abs(), j, i));
    points.truncate(count);
    points.into_iter().map(|(_, j, i)| Vec2::new(i as f32 + 0.5 * j as f32, j as f32 * ROW_DISTANCE)).collect()
}

/// Returns one place in the centre, and rings around it, which are full except for the last. A ring has room for the widest
/// of its instances everywhere.
fn rings(widths: &[f32], random: &mut SplitMix64) -> Vec<Placement> {
    let mut placements = vec![Placement::ORIGIN];
    let mut edge = 0.5 * widths[0];
    while placements.len() < widths.len() {
        let left = &widths[placements.len()..];
        let (mut count, mut widest) = (0, 0.0f32);
        // Each further instance may widen the ring, and then fewer fit.
        while let Some(width) = left.get(count) {
            let wider = widest.max(*width);
            if count >= ring_capacity(edge + 0.5 * wider, wider) {
                break;
            }
            (count, widest) = (count + 1, wider);
        }
        placements.extend(on_ring(count, edge + 0.5 * widest, random.unit() * TAU, FRAC_PI_2));
        edge += widest;
    }
    placements
}

/// Returns the largest number of points on a circle whose neighbours are at least `spacing` apart in a straight line.
pub(super) fn ring_capacity(radius: f32, spacing: f32) -> usize {
    let half_angle = (f64::from(spacing) / (2.0 * f64::from(radius))).min(1.0).asin();
    // Six neighbours fit exactly around a point, if rounding does not prevent it.
    ((std::f64::consts::PI / half_angle + 1e-6) as usize).max(1)
}

/// Returns `count` placements that are evenly spread on a circle, from `first_radians` on. `yaw_radians` is between the
/// direction from the centre and the instance's own; a quarter turn faces along the circle.
pub(super) fn on_ring(
    count: usize,
    radius: f32,
    first_radians: f32,
    yaw_radians: f32,
) -> impl Iterator<Item = Placement> {
    (0..count).map(move |index| {
        let around = first_radians + TAU * (index as f32 / count as f32);
        let (sin, cos) = around.sin_cos();
        Placement::new(radius * Vec2::new(sin, cos), around + yaw_radians)
    })
}
