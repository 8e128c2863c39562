//! A set of triangles, and the nearest point on it in any pose.
//!
//! In: triangles over the vertices of a model, and the positions of all vertices in a pose. Out: for a point, the nearest
//! triangle with the barycentric coordinates of the nearest point. A [`Tree`] of boxes leaves out most triangles. Its structure
//! is that of the reference pose. In another pose only the boxes differ ([`Tree::boxes`]), so a new pose costs
//! one walk over the boxes.
//!
//! Source of the nearest point on a triangle: Ericson, "Real-Time Collision Detection", 5.1.5.

use glam::Vec3A;

use super::triangles::limits;

/// The largest number of triangles in a leaf.
const LEAF: usize = 4;

/// A place on a surface: a triangle, and the barycentric coordinates of a point on it. It stays on the surface in any pose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub corners: [u32; 3],
    pub weights: [f32; 3],
}

impl Place {
    pub fn of_vertex(vertex: u32) -> Self {
        Self { corners: [vertex; 3], weights: [1.0, 0.0, 0.0] }
    }

    #[inline]
    pub fn position(&self, positions: &[Vec3A]) -> Vec3A {
        let [a, b, c] = self.corners.map(|corner| positions[corner as usize]);
        self.weights[0] * a + self.weights[1] * b + self.weights[2] * c
    }

    pub fn distance(&self, other: &Self, positions: &[Vec3A]) -> f32 {
        self.position(positions).distance(other.position(positions))
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct NodeBox {
    min: Vec3A,
    max: Vec3A,
}

impl NodeBox {
    fn of_triangle([a, b, c]: [Vec3A; 3]) -> Self {
        Self { min: a.min(b).min(c), max: a.max(b).max(c) }
    }

    fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    fn squared_distance(&self, point: Vec3A) -> f32 {
        (point - point.clamp(self.min, self.max)).length_squared()
    }
}

/// A node: either a leaf with consecutive triangles, or two consecutive nodes.
#[derive(Debug, Clone, Copy)]
struct Node {
    first: u32,
    /// The number of triangles of a leaf; 0 for an inner node.
    count: u32,
}

/// Triangles in a binary tree. Children come after their parent.
#[derive(Debug, Default)]
pub(super) struct Tree {
    triangles: Vec<[u32; 3]>,
    nodes: Vec<Node>,
}

impl Tree {
    /// Sorts triangles into a tree by their positions in the reference pose.
    pub fn new(mut triangles: Vec<[u32; 3]>, positions: &[Vec3A]) -> Self {
        let centre = |corners: &[u32; 3]| corners.iter().map(|&corner| positions[corner as usize]).sum::<Vec3A>();
        let mut nodes = vec![Node { first: 0, count: triangles.len() as u32 }];
        let mut next = 0;
        while let Some(&Node { first, count }) = nodes.get(next) {
            let own = &mut triangles[first as usize..(first + count) as usize];
            if own.len() > LEAF {
                let (min, max) = limits(own.iter().map(centre));
                let axis = (max - min).max_position();
                let half = own.len() / 2;
                own.select_nth_unstable_by(half, |a, b| centre(a)[axis].total_cmp(&centre(b)[axis]).then(a.cmp(b)));
                nodes[next] = Node { first: nodes.len() as u32, count: 0 };
                let half = half as u32;
                nodes.extend([Node { first, count: half }, Node { first: first + half, count: count - half }]);
            }
            next += 1;
        }
        Self { triangles, nodes }
    }

    pub fn boxes(&self, positions: &[Vec3A]) -> Vec<NodeBox> {
        let mut boxes = vec![NodeBox { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY }; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let first = node.first as usize;
            boxes[index] = if node.count == 0 && first > 0 {
                boxes[first].union(boxes[first + 1])
            } else {
                let own = self.triangles[first..first + node.count as usize].iter();
                let corners = own.map(|corners| corners.map(|corner| positions[corner as usize]));
                corners.map(NodeBox::of_triangle).fold(boxes[index], NodeBox::union)
            };
        }
        boxes
    }

    /// Returns the nearest place to `point`, unless there are no triangles. The search is short if it starts with a triangle
    /// that is near, such as that of a neighbouring point.
    pub fn nearest(
        &self,
        boxes: &[NodeBox],
        positions: &[Vec3A],
        point: Vec3A,
        start: Option<[u32; 3]>,
    ) -> Option<Place> {
        /// Enough for 2^60 triangles, since each node has half of its parent's.
        const DEPTH: usize = 64;
        let place = |corners: [u32; 3]| {
            let triangle = corners.map(|corner| positions[corner as usize]);
            let place = Place { corners, weights: nearest_on_triangle(point, triangle) };
            (place, place.position(positions).distance_squared(point))
        };
        let (mut best, mut best_squared) = match start.map(place) {
            Some((place, squared)) => (Some(place), squared),
            None => (None, f32::INFINITY),
        };
        let mut left = [(0u32, 0.0f32); DEPTH];
        left[0] = (0, boxes[0].squared_distance(point));
        let mut left_count = 1;
        while left_count > 0 {
            left_count -= 1;
            let (index, squared) = left[left_count];
            if squared >= best_squared {
                continue;
            }
            let node = self.nodes[index as usize];
            let first = node.first as usize;
            if node.count == 0 {
                let children = [node.first, node.first + 1];
                let mut children = children.map(|child| (child, boxes[child as usize].squared_distance(point)));
                // The nearer child is visited first, because it may rule out the other.
                if children[0].1 < children[1].1 {
                    children.swap(0, 1);
                }
                left[left_count..left_count + 2].copy_from_slice(&children);
                left_count += 2;
                continue;
            }
            for &corners in &self.triangles[first..first + node.count as usize] {
                let triangle = corners.map(|corner| positions[corner as usize]);
                // A box is cheaper than a triangle.
                if NodeBox::of_triangle(triangle).squared_distance(point) >= best_squared {
                    continue;
                }
                let (place, squared) = place(corners);
                if squared < best_squared {
                    (best, best_squared) = (Some(place), squared);
                }
            }
        }
        best
    }
}

/// Returns the barycentric coordinates of the nearest point on a triangle, which may have no area.
fn nearest_on_triangle(point: Vec3A, [a, b, c]: [Vec3A; 3]) -> [f32; 3] {
    let share = |part: f32, whole: f32| if whole > 0.0 { part / whole } else { 0.0 };
    let (ab, ac, ap) = (b - a, c - a, point - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = point - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = share(d1, d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let cp = point - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = share(d2, d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let w = share(d4 - d3, (d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let v = share(vb, va + vb + vc);
    let w = share(vc, va + vb + vc);
    [1.0 - v - w, v, w]
}
