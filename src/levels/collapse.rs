//! From few triangles to fewer, one edge at a time, by distances in several poses.
//!
//! Quadrics know the mean distance from planes. They hardly notice the loss of a thin end, such as a foot, an ear or the tip
//! of a sword, whose triangles are almost parallel to the way along which it shrinks. Of a small surface, the distances
//! themselves can be measured. Each triangle has samples: the points of the surface that were nearest to it when they were
//! lost. The cost of a collapse is the largest distance of the samples around it from the new triangles in any pose, and the
//! change of attributes at the lost point. The cheapest collapse is done, and costs around it are computed again.
//!
//! A collapse moves all vertices of one point to vertices of a neighbouring point, so no crack opens. Vertices of an open
//! border stay on it. Vertices between draw ranges stay between them, so triangles keep their draw range.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use glam::Vec3A;
use rayon::prelude::*;

use super::simplify::Reference;
use super::surface::{Place, nearest_place};
use super::triangles::{Triangles, position_bits};

/// The largest number of samples of a triangle. The nearest ones are left out.
const MOST_SAMPLES: usize = 16;
/// The share of the edge's length in a cost, so that short edges collapse first where the surface is flat.
const LENGTH_SHARE: f32 = 1e-3;
/// The weight of a change of attributes, compared with a distance of the collapsed edge's length.
const ATTRIBUTE_SHARE: f32 = 4.0;
/// A cost is computed until it exceeds the next candidate's by this factor.
const LIMIT_FACTOR: f32 = 1.2;
/// The largest number of triangles around a point that collapses, which bounds the time.
const MOST_AROUND: usize = 48;
/// The number of times that all candidates are looked up for a level.
const ROUNDS: usize = 3;
/// A triangle may turn until the cosine between its old and its new normal is this.
const LEAST_COSINE: f32 = 0.25;

/// A sample of the surface: the middle between two vertices, or a vertex.
type Sample = [u32; 2];

struct Triangle {
    corners: [u32; 3],
    range: u32,
    samples: Vec<Sample>,
    is_alive: bool,
}

/// A collapse of one point onto another: the bits of the cost, whether it is more than a lower bound, the versions of both
/// points, and the points.
type Candidate = Reverse<(u32, bool, u32, u32, u32)>;

/// A surface that becomes simpler.
pub(super) struct Collapser<'r> {
    reference: &'r Reference,
    /// The positions in the poses in which distances are measured besides those of the reference.
    poses: Vec<Vec<Vec3A>>,
    triangles: Vec<Triangle>,
    alive_count: usize,
    /// The number of draw ranges.
    range_count: usize,
    /// The point of each vertex of the geometry.
    point_of: Vec<u32>,
    /// The triangles around each point.
    around: Vec<Vec<u32>>,
    /// Changes when a triangle around the point does.
    versions: Vec<u32>,
    candidates: BinaryHeap<Candidate>,
}

/// The part of a cost that is computed.
#[derive(Debug, Clone, Copy)]
enum Effort {
    None,
    RestPose,
    /// All poses, unless the cost exceeds a limit before.
    Until(f32),
}

/// A collapse that is possible.
struct Collapse {
    /// The cost, or a lower bound.
    cost: f32,
    is_exact: bool,
    /// The triangles that move, with their new corners.
    moved: Vec<(u32, [u32; 3])>,
    /// The triangles that vanish.
    gone: Vec<u32>,
}

impl<'r> Collapser<'r> {
    pub fn new(reference: &'r Reference, poses: Vec<Vec<Vec3A>>, start: &Triangles) -> Self {
        let mut point_at = HashMap::<[u32; 3], u32>::new();
        let mut point_of = vec![u32::MAX; reference.positions.len()];
        let mut around: Vec<Vec<u32>> = Vec::new();
        let mut triangles = Vec::with_capacity(start.count());
        for range in 0..start.ranges.len() {
            for &corners in start.of_range(range) {
                for vertex in corners {
                    let bits = position_bits(reference.positions[vertex as usize]);
                    let point = *point_at.entry(bits).or_insert_with(|| {
                        around.push(Vec::new());
                        around.len() as u32 - 1
                    });
                    point_of[vertex as usize] = point;
                }
                let [a, b, c] = corners.map(|vertex| point_of[vertex as usize]);
                if a != b && b != c && c != a {
                    [a, b, c].iter().for_each(|&point| around[point as usize].push(triangles.len() as u32));
                    triangles.push(Triangle { corners, range: range as u32, samples: Vec::new(), is_alive: true });
                }
            }
        }
        Self {
            reference,
            poses,
            alive_count: triangles.len(),
            range_count: start.ranges.len(),
            point_of,
            versions: vec![0; around.len()],
            around,
            triangles,
            candidates: BinaryHeap::new(),
        }
    }

    /// Collapses edges until about `target` triangles are left, if the surface allows that.
    pub fn reduce(&mut self, target: usize) -> Triangles {
        let mut rounds_left = ROUNDS;
        while self.alive_count > target {
            let Some(Reverse((_, is_exact, versions, from, to))) = self.candidates.pop() else {
                // A collapse that was not possible may have become possible.
                if rounds_left == 0 {
                    break;
                }
                rounds_left -= 1;
                self.find_all();
                continue;
            };
            // Few candidates come to the top, so the others need no more than a lower bound.
            if versions != self.versions_of(from, to) {
                self.add(from, to, Effort::RestPose);
            } else if !is_exact {
                let next = self.candidates.peek().map_or(f32::INFINITY, |Reverse((bits, ..))| f32::from_bits(*bits));
                self.add(from, to, Effort::Until(LIMIT_FACTOR * next));
            } else if let Some(collapse) = self.collapse(from, to, Effort::None) {
                self.apply(&collapse, from, to);
            }
        }
        self.level()
    }

    fn level(&self) -> Triangles {
        let mut level = Triangles::default();
        for range in 0..self.range_count {
            let first = level.indices.len();
            let own = self.triangles.iter().filter(|triangle| triangle.is_alive && triangle.range == range as u32);
            level.indices.extend(own.flat_map(|triangle| triangle.corners));
            level.ranges.push(first..level.indices.len());
        }
        level
    }

    /// Returns the positions in all poses that count, the rest pose first, and then those that matter most.
    fn poses(&self) -> impl Iterator<Item = &[Vec3A]> {
        let mut own = self.reference.poses();
        own.next().into_iter().chain(self.poses.iter().map(Vec::as_slice)).chain(own)
    }

    fn versions_of(&self, from: u32, to: u32) -> u32 {
        self.versions[from as usize] + self.versions[to as usize]
    }

    fn points(&self, corners: [u32; 3]) -> [u32; 3] {
        corners.map(|vertex| self.point_of[vertex as usize])
    }

    /// Returns the points that share an edge with `point`, with the number of triangles at the edge.
    fn neighbours(&self, point: u32) -> Vec<(u32, u32)> {
        let mut neighbours: Vec<(u32, u32)> = Vec::with_capacity(8);
        for &triangle in &self.around[point as usize] {
            for other in self.points(self.triangles[triangle as usize].corners) {
                match neighbours.iter_mut().find(|(known, _)| *known == other) {
                    _ if other == point => {}
                    Some((_, count)) => *count += 1,
                    None => neighbours.push((other, 1)),
                }
            }
        }
        neighbours
    }

    fn find_all(&mut self) {
        let all: Vec<Vec<Candidate>> = (0..self.around.len() as u32)
            .into_par_iter()
            .with_min_len(16)
            .map(|from| {
                let is_open = self.around[from as usize].len() <= MOST_AROUND;
                let neighbours = if is_open { self.neighbours(from) } else { Vec::new() };
                neighbours.into_iter().filter_map(|(to, _)| self.candidate(from, to, Effort::RestPose)).collect()
            })
            .collect();
        self.candidates = all.into_iter().flatten().collect();
    }

    fn candidate(&self, from: u32, to: u32, effort: Effort) -> Option<Candidate> {
        let Collapse { cost, is_exact, .. } = self.collapse(from, to, effort)?;
        // Costs are not negative, so their bits have the same order.
        Some(Reverse((cost.to_bits(), is_exact, self.versions_of(from, to), from, to)))
    }

    fn add(&mut self, from: u32, to: u32, effort: Effort) {
        self.candidates.extend(self.candidate(from, to, effort));
    }

    /// Returns the collapse of a point onto a neighbour, if it is possible.
    fn collapse(&self, from: u32, to: u32, effort: Effort) -> Option<Collapse> {
        let around = &self.around[from as usize];
        if around.len().max(self.around[to as usize].len()) > MOST_AROUND {
            return None;
        }
        let triangle = |index: u32| &self.triangles[index as usize];
        let has = |index: u32, point: u32| self.points(triangle(index).corners).contains(&point);
        let (gone, rest): (Vec<u32>, Vec<u32>) = around.iter().partition(|&&index| has(index, to));
        if gone.is_empty() || !around.iter().all(|&i| gone.iter().any(|&j| triangle(j).range == triangle(i).range)) {
            return None;
        }
        let neighbours = self.neighbours(from);
        // The ends of a border, or of an edge of three or more triangles, stay on it.
        let mut border = neighbours.iter().filter(|(_, count)| *count != 2);
        if let Some((_, count)) = border.next() {
            let is_along = neighbours.iter().any(|(other, own)| *other == to && own == count);
            if !is_along || border.next().is_none_or(|(_, other)| other != count) || border.next().is_some() {
                return None;
            }
        }
        // Where both points have another neighbour in common, the surface would touch itself.
        if !rest.is_empty() {
            let of_target = self.neighbours(to);
            let is_common = |point: u32| of_target.iter().any(|(other, _)| *other == point);
            let touches = |&(point, _): &(u32, u32)| {
                point != to && is_common(point) && !gone.iter().any(|&index| has(index, point))
            };
            if neighbours.iter().any(touches) {
                return None;
            }
        }
        let mut moved = Vec::with_capacity(rest.len());
        for index in rest {
            let Triangle { corners, range, .. } = *triangle(index);
            let mut new = corners;
            for corner in &mut new {
                if self.point_of[*corner as usize] == from {
                    *corner = self.target(*corner, range, to, &gone)?;
                }
            }
            if self.turns(corners, new) {
                return None;
            }
            moved.push((index, new));
        }
        let (cost, is_exact) = self.cost_of(from, to, effort, &moved);
        cost.is_finite().then_some(Collapse { cost, is_exact, moved, gone })
    }

    /// Returns the vertex at `to` that takes the place of `vertex`: the one with which it shares an edge of a triangle that
    /// vanishes, or the one with the nearest attributes.
    fn target(&self, vertex: u32, range: u32, to: u32, gone: &[u32]) -> Option<u32> {
        let at_target = |index: &u32| {
            let triangle = &self.triangles[*index as usize];
            let corner = triangle.corners.into_iter().find(|&corner| self.point_of[corner as usize] == to);
            corner.filter(|_| triangle.range == range)
        };
        let shared = gone.iter().filter(|&&index| self.triangles[index as usize].corners.contains(&vertex));
        let nearest = || {
            let all = self.around[to as usize].iter().filter_map(at_target);
            let difference = |other: &u32| self.reference.attribute_difference(vertex, *other);
            all.min_by(|a, b| difference(a).total_cmp(&difference(b)).then(a.cmp(b)))
        };
        shared.filter_map(at_target).next().or_else(nearest)
    }

    /// Returns whether a triangle turns too far in the reference pose.
    fn turns(&self, old: [u32; 3], new: [u32; 3]) -> bool {
        let normal = |corners: [u32; 3]| {
            let [a, b, c] = corners.map(|corner| self.reference.positions[corner as usize]);
            (b - a).cross(c - a)
        };
        let (old, new) = (normal(old), normal(new));
        old.dot(new) < LEAST_COSINE * old.length() * new.length()
    }

    /// Returns the cost or a lower bound, and whether it is the cost.
    fn cost_of(&self, from: u32, to: u32, effort: Effort, moved: &[(u32, [u32; 3])]) -> (f32, bool) {
        let (pose_count, limit) = match effort {
            Effort::None => return (0.0, false),
            Effort::RestPose => (1, f32::INFINITY),
            Effort::Until(limit) => (usize::MAX, limit),
        };
        let around = &self.around[from as usize];
        let vertex_at = |index: u32, point: u32| {
            let corners = self.triangles[index as usize].corners;
            corners.into_iter().find(|&corner| self.point_of[corner as usize] == point).unwrap_or(corners[0])
        };
        let (own, target) = (vertex_at(around[0], from), vertex_at(self.around[to as usize][0], to));
        let old = around.iter().flat_map(|&index| &self.triangles[index as usize].samples);
        let lost = [own; 2];
        let mut worst_squared = 0.0f32;
        let mut is_exact = pose_count > 1;
        for pose in self.poses().take(pose_count) {
            if worst_squared > limit * limit {
                is_exact = false;
                break;
            }
            // The lost point first: it is often the farthest one, and then few others need more than one triangle.
            for &sample in std::iter::once(&lost).chain(old.clone()) {
                let position = middle(pose, sample);
                let squared = if moved.is_empty() {
                    position.distance_squared(pose[target as usize])
                } else {
                    least_squared(pose, position, moved.iter().map(|(_, corners)| *corners), worst_squared)
                };
                worst_squared = worst_squared.max(squared);
            }
            for &(_, corners) in moved {
                // The middle of each new edge, once.
                let first = corners.iter().position(|&corner| self.point_of[corner as usize] == to).unwrap_or(0);
                let position = middle(pose, [corners[first], corners[(first + 1) % 3]]);
                let old = around.iter().map(|&index| self.triangles[index as usize].corners);
                worst_squared = worst_squared.max(least_squared(pose, position, old, worst_squared));
            }
        }
        let rest = &self.reference.positions;
        let length = rest[own as usize].distance(rest[target as usize]);
        (worst_squared.sqrt() + length * (LENGTH_SHARE + ATTRIBUTE_SHARE * self.change(from, moved)), is_exact)
    }

    /// Returns the largest change of the attributes of a lost point's vertices. Each side of a seam is compared with the
    /// triangles on the same side.
    fn change(&self, from: u32, moved: &[(u32, [u32; 3])]) -> f32 {
        let rest = &self.reference.positions;
        let mut nearest_of: Vec<(u32, Place, f32)> = Vec::with_capacity(2);
        for &(index, corners) in moved {
            let old = self.triangles[index as usize].corners;
            let lost = old.into_iter().find(|&corner| self.point_of[corner as usize] == from).unwrap_or(old[0]);
            let (place, squared) = nearest_place(rest, rest[lost as usize], corners);
            match nearest_of.iter_mut().find(|(vertex, ..)| *vertex == lost) {
                Some(known) if squared < known.2 => *known = (lost, place, squared),
                Some(_) => {}
                None => nearest_of.push((lost, place, squared)),
            }
        }
        let changes = nearest_of.iter().map(|(lost, place, _)| self.reference.attribute_change(*lost, place));
        changes.fold(0.0, f32::max)
    }

    fn apply(&mut self, collapse: &Collapse, from: u32, to: u32) {
        let own = self.triangles[self.around[from as usize][0] as usize].corners;
        let own = own.into_iter().find(|&corner| self.point_of[corner as usize] == from);
        let mut samples: Vec<Sample> = own.into_iter().map(|own| [own; 2]).collect();
        for index in std::mem::take(&mut self.around[from as usize]) {
            samples.append(&mut self.triangles[index as usize].samples);
        }
        for &index in &collapse.gone {
            self.triangles[index as usize].is_alive = false;
            for point in self.points(self.triangles[index as usize].corners) {
                self.around[point as usize].retain(|&other| other != index);
            }
        }
        self.alive_count -= collapse.gone.len();
        for &(index, corners) in &collapse.moved {
            self.triangles[index as usize].corners = corners;
            self.around[to as usize].push(index);
        }
        let around = self.around[to as usize].clone();
        let rest = &self.reference.positions;
        let distance = |index: u32, triangles: &[Triangle], sample: Sample| {
            nearest_place(rest, middle(rest, sample), triangles[index as usize].corners).1
        };
        for sample in samples {
            let squared = |&index: &u32| (distance(index, &self.triangles, sample), index);
            let nearest = around.iter().map(squared).min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, index)) = nearest {
                self.triangles[index as usize].samples.push(sample);
            }
        }
        for &index in &around {
            let mut samples = std::mem::take(&mut self.triangles[index as usize].samples);
            if samples.len() > MOST_SAMPLES {
                // Squared distances are not negative, so their bits have the same order.
                samples.sort_by_cached_key(|&sample| Reverse(distance(index, &self.triangles, sample).to_bits()));
                samples.truncate(MOST_SAMPLES);
            }
            self.triangles[index as usize].samples = samples;
        }
        self.versions[to as usize] += 1;
        let neighbours = self.neighbours(to);
        for &(point, _) in &neighbours {
            self.versions[point as usize] += 1;
        }
        for (point, _) in neighbours {
            self.add(point, to, Effort::RestPose);
            self.add(to, point, Effort::RestPose);
        }
    }
}

/// Returns the position of a sample.
fn middle(positions: &[Vec3A], [a, b]: Sample) -> Vec3A {
    0.5 * (positions[a as usize] + positions[b as usize])
}

/// Returns the squared distance from the nearest of some triangles, or from any triangle that is near enough.
fn least_squared(
    positions: &[Vec3A],
    point: Vec3A,
    triangles: impl Iterator<Item = [u32; 3]>,
    enough_squared: f32,
) -> f32 {
    let mut least = f32::INFINITY;
    for corners in triangles {
        least = least.min(nearest_place(positions, point, corners).1);
        if least <= enough_squared {
            break;
        }
    }
    least
}
