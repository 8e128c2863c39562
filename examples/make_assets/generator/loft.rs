//! Closed skins from a few cross-sections. All parts of the walker are made this way.
//!
//! A [`Loft`] is a path with a superellipse at each station. Between stations, centres and radii follow Catmull-Rom
//! splines. Both ends are rounded off and meet in a pole. Parts overlap instead of being stitched together: a sleeve
//! begins inside the torso, a hand inside its cuff. So each part is watertight by itself, no bend opens a hole, and no
//! part depends on its neighbours.
//!
//! Texture coordinate u is the angle from the part's front: it goes from 0 to 1 and *back again* on the other side. v
//! is the arc length along the path. Because u is mirrored, a ring closes without a seam of doubled vertices.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec2, DVec3};

use super::skeleton::Joint;
use super::texture::Swatch;

/// The joints and weights of one vertex, in any order, not normalised.
pub type Pull = Vec<(Joint, f64)>;

/// A cross-section.
#[derive(Clone, Copy)]
pub struct Station {
    /// The position on the path, in metres.
    pub center: DVec3,
    /// Half the extent across the path and the front, in metres.
    pub half_width: f64,
    /// Half the extent along the front direction, in metres.
    pub half_depth: f64,
}

/// A path to sweep.
pub struct Loft {
    /// The cross-sections: at least two, or three if closed.
    pub stations: Vec<Station>,
    /// The direction in which u is 0. It need not be perpendicular to the path.
    pub front: DVec3,
    /// The exponent of the superellipse: 2 is an ellipse, 4 a box with soft edges.
    pub squareness: f64,
    /// The number of vertices around the path.
    pub segments: usize,
    /// The number of rings between two stations.
    pub rings_per_stretch: u32,
    /// How far the rounding extends beyond the first and last station, in metres. 0 is a flat end, for ends that are
    /// hidden inside other parts.
    pub cap_lengths: [f64; 2],
    /// Whether the path returns to the first station. A closed loft has no caps.
    pub closed: bool,
    /// Points below this height are lifted to it, which gives a flat sole.
    pub floor: f64,
    /// The material.
    pub swatch: Swatch,
}

impl Loft {
    /// An open loft without a floor. Change other fields by struct update.
    #[must_use]
    pub fn new(front: DVec3, swatch: Swatch, stations: Vec<Station>) -> Self {
        Self {
            stations,
            front,
            squareness: 2.0,
            segments: 16,
            rings_per_stretch: 2,
            cap_lengths: [0.02; 2],
            closed: false,
            floor: f64::NEG_INFINITY,
            swatch,
        }
    }
}

/// The number of rings that round off one end, without the pole.
const CAP_RINGS: u32 = 3;

/// A mesh under construction. The per-vertex arrays have equal lengths.
#[derive(Default)]
pub struct Mesh {
    pub positions: Vec<DVec3>,
    pub normals: Vec<DVec3>,
    pub tex_coords: Vec<DVec2>,
    pub joints: Vec<[u8; 4]>,
    /// Normalised bytes. The four add up to 255.
    pub weights: Vec<[u8; 4]>,
    /// Triangles are counter-clockwise seen from outside.
    pub triangles: Vec<[usize; 3]>,
}

/// One ring of the sweep: a station with its frame.
#[derive(Clone, Copy)]
struct Ring {
    station: Station,
    /// The direction of the path.
    direction: DVec3,
}

impl Mesh {
    /// Sweeps `loft`. `pull` gives the influences at a bind-pose position.
    pub fn add(&mut self, loft: &Loft, pull: &dyn Fn(DVec3) -> Pull) {
        let rings = rings_of(loft);
        let first_vertex = self.positions.len();
        let mut arc_lengths = Vec::with_capacity(rings.len());
        let mut arc_length = 0.0;
        for (index, ring) in rings.iter().enumerate() {
            if index > 0 {
                arc_length += ring_distance(&rings[index - 1], ring);
            }
            arc_lengths.push(arc_length);
        }
        let mut front = loft.front;
        for (ring, along) in rings.iter().zip(&arc_lengths) {
            // Parallel transport: the front turns with the path and never twists around it.
            front = front.reject_from_normalized(ring.direction).normalize();
            let across = front.cross(ring.direction);
            let vertex_count = if is_pole(ring) { 1 } else { loft.segments };
            for segment in 0..vertex_count {
                let angle = TAU * segment as f64 / loft.segments as f64;
                let depth = superellipse(angle.cos(), loft.squareness) * ring.station.half_depth;
                let width = superellipse(angle.sin(), loft.squareness) * ring.station.half_width;
                let mut position = ring.station.center + front * depth - across * width;
                position.y = position.y.max(loft.floor);
                let around = 1.0 - (1.0 - angle / PI).abs();
                let along = if loft.closed { 1.0 - (1.0 - 2.0 * along / arc_length).abs() } else { along / arc_length };
                self.push_vertex(position, loft.swatch.tex_coord(around, along), &pull(position));
            }
        }
        let first_triangle = self.triangles.len();
        self.stitch(first_vertex, &rings, loft);
        self.smooth_normals(first_vertex, first_triangle);
    }

    fn push_vertex(&mut self, position: DVec3, tex_coord: DVec2, pull: &Pull) {
        let (joints, weights) = quantized(pull);
        self.positions.push(position);
        self.tex_coords.push(tex_coord);
        self.joints.push(joints);
        self.weights.push(weights);
    }

    /// Adds the triangles between neighbouring rings, with fans at the poles.
    fn stitch(&mut self, first_vertex: usize, rings: &[Ring], loft: &Loft) {
        let segments = loft.segments;
        let mut start = first_vertex;
        for (index, ring) in rings.iter().enumerate() {
            let next_ring = match rings.get(index + 1) {
                Some(next) => next,
                None if loft.closed => &rings[0],
                None => break,
            };
            let (here_count, next_count) =
                (if is_pole(ring) { 1 } else { segments }, if is_pole(next_ring) { 1 } else { segments });
            let next_start = if index + 1 < rings.len() { start + here_count } else { first_vertex };
            for segment in 0..segments {
                let [a, b] = [segment, (segment + 1) % segments].map(|s| start + s % here_count);
                let [c, d] = [segment, (segment + 1) % segments].map(|s| next_start + s % next_count);
                if a != b {
                    self.triangles.push([a, b, d]);
                }
                if c != d {
                    self.triangles.push([a, d, c]);
                }
            }
            start = next_start;
        }
    }

    /// Computes the normals of one part. A vertex normal is the sum of its triangles' normals, weighted by their angles
    /// at the vertex. So it does not depend on how quads are cut into triangles.
    fn smooth_normals(&mut self, first_vertex: usize, first_triangle: usize) {
        self.normals.resize(self.positions.len(), DVec3::ZERO);
        for triangle in &self.triangles[first_triangle..] {
            let corners = triangle.map(|index| self.positions[index]);
            let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
            for corner in 0..3 {
                let [to_next, to_previous] = [1, 2].map(|step| corners[(corner + step) % 3] - corners[corner]);
                self.normals[triangle[corner]] += normal * to_next.angle_between(to_previous);
            }
        }
        for normal in &mut self.normals[first_vertex..] {
            *normal = normal.normalize();
        }
    }
}

/// Evaluates the splines between the stations and adds the caps.
fn rings_of(loft: &Loft) -> Vec<Ring> {
    let stations = &loft.stations;
    let stretch_count = if loft.closed { stations.len() } else { stations.len() - 1 };
    let mut between = Vec::new();
    for stretch in 0..stretch_count {
        let four = [-1, 0, 1, 2].map(|step| stations[neighbour(stretch, step, stations.len(), loft.closed)]);
        for step in 0..loft.rings_per_stretch {
            between.push(catmull_rom(four, f64::from(step) / f64::from(loft.rings_per_stretch)));
        }
    }
    if !loft.closed {
        between.push(stations[stations.len() - 1]);
    }
    let ring_count = between.len();
    let direction_at = |ring: usize| {
        let [before, after] = [-1, 1].map(|step| between[neighbour(ring, step, ring_count, loft.closed)].center);
        (after - before).normalize()
    };
    let mut rings =
        (0..ring_count).map(|ring| Ring { station: between[ring], direction: direction_at(ring) }).collect::<Vec<_>>();
    if !loft.closed {
        let start_cap = cap(rings[0], -loft.cap_lengths[0]);
        let end_cap = cap(rings[ring_count - 1], loft.cap_lengths[1]);
        rings.splice(0..0, start_cap.into_iter().rev());
        rings.extend(end_cap);
    }
    rings
}

/// Returns `index + step`, wrapped on closed paths and clamped to the ends on open ones.
fn neighbour(index: usize, step: isize, count: usize, closed: bool) -> usize {
    let moved = index as isize + step;
    let count = count as isize;
    (if closed { moved.rem_euclid(count) } else { moved.clamp(0, count - 1) }) as usize
}

/// Returns a quarter of an ellipse from `ring` to a pole, `length` along its direction (backwards if negative).
fn cap(ring: Ring, length: f64) -> Vec<Ring> {
    let first_step = if length == 0.0 { CAP_RINGS + 1 } else { 1 };
    (first_step..=CAP_RINGS + 1)
        .map(|step| {
            let angle = FRAC_PI_2 * f64::from(step) / f64::from(CAP_RINGS + 1);
            // The scale is exactly zero at the pole. cos(pi / 2) is not.
            let scale = if step > CAP_RINGS { 0.0 } else { angle.cos() };
            let station = Station {
                center: ring.station.center + ring.direction * (length * angle.sin()),
                half_width: ring.station.half_width * scale,
                half_depth: ring.station.half_depth * scale,
            };
            Ring { station, direction: ring.direction }
        })
        .collect()
}

fn is_pole(ring: &Ring) -> bool {
    ring.station.half_width == 0.0
}

/// The distance of two rings on the skin, from the path's step and the change of radius.
fn ring_distance(a: &Ring, b: &Ring) -> f64 {
    let step = a.station.center.distance(b.station.center);
    step.hypot(a.station.half_depth - b.station.half_depth)
}

fn catmull_rom(stations: [Station; 4], t: f64) -> Station {
    let weights = [
        ((2.0 - t) * t - 1.0) * t / 2.0,
        ((3.0 * t - 5.0) * t * t + 2.0) / 2.0,
        ((4.0 - 3.0 * t) * t + 1.0) * t / 2.0,
        (t - 1.0) * t * t / 2.0,
    ];
    let mut blended = Station { center: DVec3::ZERO, half_width: 0.0, half_depth: 0.0 };
    for (station, weight) in stations.iter().zip(weights) {
        blended.center += station.center * weight;
        blended.half_width += station.half_width * weight;
        blended.half_depth += station.half_depth * weight;
    }
    blended
}

/// Returns a coordinate of a superellipse, from the cosine or sine of its parameter.
fn superellipse(coordinate: f64, squareness: f64) -> f64 {
    coordinate.abs().powf(2.0 / squareness) * coordinate.signum()
}

/// Returns the four strongest influences as normalised bytes that add up to exactly 255, strongest first.
fn quantized(pull: &Pull) -> ([u8; 4], [u8; 4]) {
    let mut strongest = pull.iter().filter(|(_, weight)| *weight > 0.004).copied().collect::<Vec<_>>();
    strongest.sort_by(|a, b| b.1.total_cmp(&a.1));
    strongest.truncate(4);
    let sum = strongest.iter().map(|(_, weight)| weight).sum::<f64>();
    let (mut joints, mut weights) = ([0; 4], [0; 4]);
    let mut left = 255;
    for (slot, (joint, weight)) in strongest.iter().enumerate().skip(1) {
        let bytes = (weight / sum * 255.0).round() as u8;
        // A joint with weight zero should be joint 0 (glTF 2.0, 3.7.3.1).
        joints[slot] = if bytes > 0 { joint.index() as u8 } else { 0 };
        weights[slot] = bytes;
        left -= bytes;
    }
    // The strongest influence takes the rounding error, where it matters least.
    joints[0] = strongest[0].0.index() as u8;
    weights[0] = left;
    (joints, weights)
}
