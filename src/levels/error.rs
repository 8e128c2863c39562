//! The error of each level: how much the picture loses, as a distance.
//!
//! In: the surfaces of all levels, and moments. Out: the mean and the largest distance of each level ([`Distances`]), and the
//! error in model units that follows from them. A distance that is as long as a pixel of the picture is called a pixel here.
//!
//! * The largest distance is that from a lost vertex to the surface of the level. Corners are vertices, so nothing that is larger
//!   than this vanishes: no sword, ear or strand of hair. An error of a pixel never allows more than a pixel in the rest pose. In
//!   other poses joints bend surfaces of few triangles at other places, so there it allows two pixels.
//! * The mean distance between both surfaces, at points that are spread evenly over both, is what the picture shows. Pictures of 15
//!   models with forced levels, from 10 to 250 pixels tall, were compared with the truth (`tests/common/truth.rs`). Their loss
//!   follows the mean distance in pixels, to the power 0.58, times the height of the character, to the power 0.14. Changes of
//!   normals, texture coordinates and colours besides it do not improve the prediction; the largest distance alone is much worse
//!   (`docs/measurements.md`).
//!
//! Distances are measured in several poses, to the nearest place of the same draw range. A connected part of which the level
//! has nothing left counts as if the level had a single point in its middle.

use glam::Vec3A;
use rayon::prelude::*;

use super::moments::{Moment, MomentPoser};
use super::surface::{NodeBox, Place, Tree};
use super::triangles::{Component, Triangles, components, limits, used_vertices};
use crate::model::Model;

/// The mean distance, in pixels, that an error of one pixel means for a character of [`TYPICAL_PIXELS`]. With it, pictures of
/// animated characters with one sample per pixel are at most 1.05 times as far from the truth as in full detail.
const MEAN_PIXELS: f32 = 0.036;
const TYPICAL_PIXELS: f32 = 60.0;
/// A character of half the size may have a mean distance in pixels that is larger by 2 to this power: 0.14 / 0.58.
const SIZE_EXPONENT: f32 = 0.24;
/// The share that counts of a largest distance in another pose than the rest pose.
const POSED_SHARE: f32 = 0.5;
/// The number of points that are spread over each surface.
const POINTS: usize = 256;
/// The number of lost vertices whose distances are measured for each level: those that were farthest when they were lost.
const MOST_VERTICES: usize = 128;
/// The number of poses in which the mean distance is measured. It differs little between poses.
const MEAN_POSES: usize = 3;

/// A point on a surface, with the number of the connected part in full detail, or of the draw range of a level.
#[derive(Debug, Clone, Copy)]
struct Point {
    place: Place,
    owner: usize,
}

/// A connected part of a draw range in full detail.
struct Part {
    range: usize,
    component: Component,
    /// The vertex nearest to the centre of its box.
    middle: u32,
}

/// The surfaces of the draw ranges.
struct Surface(Vec<Tree>);

/// A draw range, and the newest triangle of it that was near a point. Neighbouring points are near the same triangle.
type Newest = Option<(usize, [u32; 3])>;

impl Surface {
    fn new(triangles: &Triangles, reference: &[Vec3A]) -> Self {
        Self(triangles.0.iter().map(|own| Tree::new(own.clone(), reference)).collect())
    }

    fn boxes(&self, posed: &[Vec3A]) -> Vec<Vec<NodeBox>> {
        self.0.iter().map(|tree| tree.boxes(posed)).collect()
    }

    fn nearest(
        &self,
        range: usize,
        (boxes, posed): (&[Vec<NodeBox>], &[Vec3A]),
        position: Vec3A,
        newest: &mut Newest,
    ) -> Option<Place> {
        let start = newest.filter(|&(own, _)| own == range).map(|(_, corners)| corners);
        let nearest = self.0[range].nearest(&boxes[range], posed, position, start)?;
        *newest = Some((range, nearest.corners));
        Some(nearest)
    }
}

struct Level {
    surface: Surface,
    points: Vec<Point>,
    is_lost: Vec<bool>,
    /// The vertices that each draw range uses, sorted.
    used: Vec<Vec<u32>>,
    /// The lost vertices that are measured.
    vertices: Vec<Point>,
}

/// The distances between a level and full detail, in model units, in any pose.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Distances {
    /// The mean distance between both surfaces.
    pub mean: f32,
    /// The largest distance from a lost vertex to the level; half of it in other poses than the rest pose.
    pub largest: f32,
}

impl Distances {
    /// Returns the error. `extent` is the size of the model.
    pub fn error(self, extent: f32) -> f32 {
        // Solves mean * s * (extent * s / TYPICAL_PIXELS) ^ SIZE_EXPONENT = MEAN_PIXELS for 1 / s, the length of a pixel.
        let of_mean =
            (self.mean / MEAN_PIXELS * (extent / TYPICAL_PIXELS).powf(SIZE_EXPONENT)).powf(1.0 / (1.0 + SIZE_EXPONENT));
        of_mean.max(self.largest)
    }

    fn max(self, other: Self) -> Self {
        Self { mean: self.mean.max(other.mean), largest: self.largest.max(other.largest) }
    }
}

/// Full detail, prepared for the measurement.
pub(super) struct FullSurface<'m> {
    reference: &'m [Vec3A],
    poses: Vec<Vec<Vec3A>>,
    parts: Vec<Part>,
    surface: Surface,
    points: Vec<Point>,
    boxes: Vec<Vec<Vec<NodeBox>>>,
}

impl<'m> FullSurface<'m> {
    pub fn new(model: &Model, reference: &'m [Vec3A], full: &Triangles, moments: &[Moment]) -> Self {
        let mut poser = MomentPoser::new(model);
        let poses: Vec<Vec<Vec3A>> = moments.iter().map(|&moment| poser.positions(moment)).collect();
        let parts = parts(full, reference);
        let surface = Surface::new(full, reference);
        let points = spread(parts.iter().map(|part| &part.component.triangles[..]), reference);
        let boxes = poses.iter().take(MEAN_POSES).map(|posed| surface.boxes(posed)).collect();
        Self { reference, poses, parts, surface, points, boxes }
    }

    /// Returns the distances of each level, finest first. They never descend.
    pub fn distances(&self, levels: &[Triangles]) -> Vec<Distances> {
        let mut levels = prepare(&self.parts, levels, self.reference);
        choose_vertices(&self.parts, &mut levels, &self.poses, self.reference);
        let distances: Vec<Distances> = levels.par_iter().map(|level| self.distances_of(level)).collect();
        let mut least = Distances::default();
        let ascending = distances.into_iter().map(|distances| {
            least = least.max(distances);
            least
        });
        ascending.collect()
    }

    fn distances_of(&self, level: &Level) -> Distances {
        let mut worst = Distances::default();
        for (index, posed) in self.poses.iter().enumerate() {
            let boxes = level.surface.boxes(posed);
            let (mut newest, mut newest_in_full) = (None, None);
            let mut to_level = |point: &Point| {
                let nearest = level.nearest(&self.parts, point, (&boxes, posed), &mut newest);
                point.place.distance(&nearest, posed)
            };
            let share = if index == 0 { 1.0 } else { POSED_SHARE };
            let largest = share * level.vertices.iter().map(&mut to_level).fold(0.0, f32::max);
            let mut mean = 0.0;
            if let Some(full_boxes) = self.boxes.get(index) {
                let to_full = |&Point { place, owner }: &Point| {
                    let position = place.position(posed);
                    let nearest = self.surface.nearest(owner, (full_boxes, posed), position, &mut newest_in_full);
                    nearest.map_or(0.0, |nearest| place.distance(&nearest, posed))
                };
                let sum = self.points.iter().map(to_level).sum::<f32>() + level.points.iter().map(to_full).sum::<f32>();
                mean = sum / (self.points.len() + level.points.len()).max(1) as f32;
            }
            // A pose that overflows is never drawn.
            if mean.is_finite() && largest.is_finite() {
                worst = worst.max(Distances { mean, largest });
            }
        }
        worst
    }
}

impl Level {
    fn nearest(&self, parts: &[Part], point: &Point, pose: (&[Vec<NodeBox>], &[Vec3A]), newest: &mut Newest) -> Place {
        let Part { range, middle, .. } = parts[point.owner];
        let mut on_surface = || self.surface.nearest(range, pose, point.place.position(pose.1), newest);
        let nearest = if self.is_lost[point.owner] { None } else { on_surface() };
        nearest.unwrap_or_else(|| Place::of_vertex(middle))
    }
}

fn parts(full: &Triangles, reference: &[Vec3A]) -> Vec<Part> {
    let of_range = |(range, own): (usize, &Vec<[u32; 3]>)| {
        let part =
            move |component: Component| Part { range, middle: middle(&component.vertices, reference), component };
        components(own, reference).into_iter().map(part)
    };
    full.0.iter().enumerate().flat_map(of_range).collect()
}

fn prepare(parts: &[Part], levels: &[Triangles], reference: &[Vec3A]) -> Vec<Level> {
    let prepare = |triangles: &Triangles| {
        let used: Vec<Vec<u32>> = triangles.0.iter().map(used_vertices).collect();
        let is_lost =
            |part: &Part| part.component.vertices.iter().all(|vertex| used[part.range].binary_search(vertex).is_err());
        Level {
            surface: Surface::new(triangles, reference),
            points: spread(triangles.0.iter().map(Vec::as_slice), reference),
            is_lost: parts.iter().map(is_lost).collect(),
            used,
            vertices: Vec::new(),
        }
    };
    levels.par_iter().map(prepare).collect()
}

/// Chooses the lost vertices of each level: those that are farthest in any pose from the place that is nearest in the reference
/// pose. They are looked for at the first level without them. A vertex that is far then is far from all coarser levels too.
fn choose_vertices(parts: &[Part], levels: &mut [Level], poses: &[Vec<Vec3A>], reference: &[Vec3A]) {
    let mut left: Vec<Point> = Vec::new();
    for (owner, own) in parts.iter().enumerate() {
        left.extend(own.component.vertices.iter().map(|&vertex| Point { place: Place::of_vertex(vertex), owner }));
    }
    let mut lost: Vec<(f32, Point)> = Vec::new();
    for level in levels {
        let is_used =
            |point: &Point| level.used[parts[point.owner].range].binary_search(&point.place.corners[0]).is_ok();
        let (kept, now): (Vec<Point>, Vec<Point>) = left.into_iter().partition(is_used);
        left = kept;
        let boxes = level.surface.boxes(reference);
        let farthest = |point: Point, newest: &mut Newest| {
            let place = level.nearest(parts, &point, (&boxes, reference), newest);
            let squared = poses.iter().map(|posed| point.place.position(posed).distance_squared(place.position(posed)));
            (squared.filter(|squared| squared.is_finite()).fold(0.0, f32::max), point)
        };
        let of_some = |points: &[Point]| -> Vec<(f32, Point)> {
            let mut newest = None;
            points.iter().map(|&point| farthest(point, &mut newest)).collect()
        };
        lost.par_extend(now.par_chunks(POINTS).flat_map_iter(of_some));
        lost.sort_by(|a, b| b.0.total_cmp(&a.0));
        lost.truncate(MOST_VERTICES);
        level.vertices = lost.iter().map(|&(_, point)| point).collect();
        level.vertices.sort_by_key(|point| point.place.corners[0]);
    }
}

/// Returns points that are evenly spread over the area of triangles, each with the number of its list as owner. Always the same ones.
fn spread<'t>(lists: impl Iterator<Item = &'t [[u32; 3]]> + Clone, positions: &[Vec3A]) -> Vec<Point> {
    let area = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|corner| positions[corner as usize]);
        f64::from((b - a).cross(c - a).length())
    };
    let triangles =
        || lists.clone().enumerate().flat_map(|(number, list)| list.iter().map(move |corners| (number, corners)));
    let step = triangles().map(|(_, corners)| area(corners)).sum::<f64>() / POINTS as f64;
    let mut points = Vec::with_capacity(POINTS);
    let mut area_so_far = 0.0;
    for (owner, corners) in triangles() {
        area_so_far += area(corners);
        while points.len() < POINTS && (points.len() as f64 + 0.5) * step < area_so_far {
            let place = Place { corners: *corners, weights: spread_weights(points.len()) };
            points.push(Point { place, owner });
        }
    }
    points
}

/// Returns barycentric coordinates of the R2 sequence (Roberts, "The Unreasonable Effectiveness of Quasirandom Sequences").
fn spread_weights(index: usize) -> [f32; 3] {
    let (u, v) = ((index as f32 * 0.754_877_7).fract(), (index as f32 * 0.569_840_3).fract());
    let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
    [1.0 - u - v, u, v]
}

/// Returns the vertex nearest to the centre of the box around vertices.
fn middle(vertices: &[u32], reference: &[Vec3A]) -> u32 {
    let at = |vertex: &u32| reference[*vertex as usize];
    let (min, max) = limits(vertices.iter().map(at));
    let centre = 0.5 * (min + max);
    let squared = |vertex: &&u32| at(vertex).distance_squared(centre);
    vertices.iter().min_by(|a, b| squared(a).total_cmp(&squared(b))).copied().unwrap_or_default()
}
