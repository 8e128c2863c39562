//! The triangles of one level, by draw range, with their connected components. Lines and points are the same in all
//! levels and are added at the end.

use std::collections::{BTreeMap, HashMap};

use glam::Vec3A;

use crate::model::{CoarserLevel, DrawRange, Geometry, Topology};

/// The corners of the triangles of one level, for each draw range of the geometry. Ranges of lines and points have none.
pub(super) struct Triangles(pub Vec<Vec<[u32; 3]>>);

impl Triangles {
    /// Returns the triangles in full detail.
    pub fn of(geometry: &Geometry) -> Self {
        let corners = |range: &DrawRange| match range.topology {
            Topology::Triangles => geometry.indices_of(range).as_chunks().0.to_vec(),
            Topology::Lines | Topology::Points => Vec::new(),
        };
        Self(geometry.draw_ranges.iter().map(corners).collect())
    }

    pub fn count(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    /// Returns the level with these triangles and all lines and points of the geometry.
    pub fn into_level(self, geometry: &Geometry, error: f32) -> CoarserLevel {
        let mut level = CoarserLevel { error, ..CoarserLevel::default() };
        for (range, own) in geometry.draw_ranges.iter().zip(&self.0) {
            let first = level.indices.len() as u32;
            level.indices.extend_from_slice(match range.topology {
                Topology::Triangles => own.as_flattened(),
                Topology::Lines | Topology::Points => geometry.indices_of(range),
            });
            level.ranges.push(first..level.indices.len() as u32);
        }
        level
    }
}

/// Returns the vertices of triangles, sorted, each once.
pub(super) fn used_vertices<'t>(triangles: impl IntoIterator<Item = &'t [u32; 3]>) -> Vec<u32> {
    let mut used: Vec<u32> = triangles.into_iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// A connected part of a surface: a body, an eye, a buckle.
pub(super) struct Component {
    pub triangles: Vec<[u32; 3]>,
    /// The vertices, sorted, each once.
    pub vertices: Vec<u32>,
}

/// Divides triangles into connected parts. Vertices at the same position are connected.
pub(super) fn components(triangles: &[[u32; 3]], reference: &[Vec3A]) -> Vec<Component> {
    let mut first_at = HashMap::<[u32; 3], u32>::new();
    let mut number_of = vec![u32::MAX; reference.len()];
    let mut parents: Vec<u32> = Vec::new();
    for &vertex in triangles.as_flattened() {
        let number = &mut number_of[vertex as usize];
        if *number == u32::MAX {
            *number = *first_at.entry(position_bits(reference[vertex as usize])).or_insert_with(|| {
                parents.push(parents.len() as u32);
                parents.len() as u32 - 1
            });
        }
    }
    for corners in triangles {
        let roots = corners.map(|vertex| root(&mut parents, number_of[vertex as usize]));
        let [a, b, c] = roots;
        for number in roots {
            parents[number as usize] = a.min(b).min(c);
        }
    }
    let mut components = BTreeMap::<u32, Vec<[u32; 3]>>::new();
    for &corners in triangles {
        components.entry(root(&mut parents, number_of[corners[0] as usize])).or_default().push(corners);
    }
    components.into_values().map(|triangles| Component { vertices: used_vertices(&triangles), triangles }).collect()
}

/// Returns the smallest and the largest coordinates of points.
pub(super) fn limits(points: impl Iterator<Item = Vec3A>) -> (Vec3A, Vec3A) {
    points.fold((Vec3A::INFINITY, Vec3A::NEG_INFINITY), |(min, max), point| (min.min(point), max.max(point)))
}

/// Returns the bits of a position, the same for equal positions.
pub(super) fn position_bits(position: Vec3A) -> [u32; 3] {
    // Adding zero turns -0 into 0.
    (position + 0.0).to_array().map(f32::to_bits)
}

/// Returns the smallest number that is connected to `number`.
fn root(parents: &mut [u32], mut number: u32) -> u32 {
    while parents[number as usize] != number {
        // Halves the way for the next search.
        parents[number as usize] = parents[parents[number as usize] as usize];
        number = parents[number as usize];
    }
    number
}
