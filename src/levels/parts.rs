//! The connected parts of a surface: a body, an eye, a buckle.

use std::collections::{BTreeMap, HashMap};

use glam::Vec3A;

use super::triangles::used_vertices;

/// A connected part of a surface.
pub(super) struct Part {
    pub triangles: Vec<[u32; 3]>,
    /// The vertices, sorted, each once.
    pub vertices: Vec<u32>,
}

/// Divides triangles into connected parts. Vertices at the same position are connected.
pub(super) fn parts(triangles: &[[u32; 3]], reference: &[Vec3A]) -> Vec<Part> {
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
    let mut parts = BTreeMap::<u32, Vec<[u32; 3]>>::new();
    for &corners in triangles {
        parts.entry(root(&mut parents, number_of[corners[0] as usize])).or_default().push(corners);
    }
    parts.into_values().map(|triangles| Part { vertices: used_vertices(&triangles), triangles }).collect()
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
