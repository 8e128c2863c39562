//! Tangents for primitives whose material has a normal map and which have none: MikkTSpace, as glTF 2.0 (3.7.2.1) asks,
//! because that is what the programs that bake normal maps use.
//!
//! MikkTSpace works on the corners of triangles. Where corners of one vertex get different tangents (the texture's
//! mirror seams) the vertex becomes several.
//!
//! The algorithm's cost grows with the square of the triangles that meet at a vertex, and with it the depth of a
//! recursion; and with the product of degenerate and sound triangles. So the former are counted beforehand, and the
//! latter left out: no file can make it run long or out of stack. It is a crate that forbids unsafe code.

use std::collections::HashMap;

use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::{Vec2, Vec3, Vec4};

/// More triangles than these do not meet at one vertex of a model that somebody made.
const MOST_AROUND_A_VERTEX: u64 = 1024;
/// Sum of the squares of the triangles around each vertex, for each corner; 6 in a regular mesh.
const MOST_SQUARES_PER_CORNER: u64 = 64;
/// What the sum may be in any case.
const SQUARES_FOR_ALL: u64 = 1 << 20;

/// What tangents depend on: one primitive's vertices and triangles.
pub(super) struct TangentInput<'a> {
    pub positions: &'a [Vec3],
    pub normals: &'a [Vec3],
    /// Where the normal map is sampled.
    pub tex_coords: &'a [Vec2],
    /// A triangle list; in range.
    pub indices: &'a [u32],
}

/// The vertices of a primitive, some of them several times, so that each has one tangent.
pub(super) struct SplitVertices {
    /// The file's vertex of each of ours; the first ones are the file's vertices in order.
    pub source: Vec<u32>,
    /// Unit length and handedness; zero for vertices that no triangle has.
    pub tangents: Vec<Vec4>,
    /// The triangles, of ours.
    pub indices: Vec<u32>,
}

impl TangentInput<'_> {
    /// Tangents for all corners; `None` where too many triangles meet.
    pub fn generate(&self) -> Option<SplitVertices> {
        let triangles: Vec<[u32; 3]> = self.indices.as_chunks().0.to_vec();
        let sound: Vec<usize> = (0..triangles.len()).filter(|&triangle| self.is_sound(triangles[triangle])).collect();
        if !self.is_cheap(&triangles, &sound) {
            return None;
        }
        let tangents = vec![[Vec4::ZERO; 3]; triangles.len()];
        let mut work = Work { input: self, triangles: &triangles, sound: &sound, tangents };
        generate_tangents(&mut work).ok()?;
        let tangents = work.tangents;
        Some(split(self.positions.len(), &triangles, &tangents))
    }

    /// A triangle with two corners in one place has no tangent; it takes those of its neighbours.
    fn is_sound(&self, triangle: [u32; 3]) -> bool {
        let [a, b, c] = triangle.map(|vertex| at(self.positions, vertex));
        a != b && b != c && c != a
    }

    fn is_cheap(&self, triangles: &[[u32; 3]], sound: &[usize]) -> bool {
        let mut around: HashMap<[u32; 8], u64> = HashMap::new();
        for &vertex in sound.iter().filter_map(|&triangle| triangles.get(triangle)).flatten() {
            *around.entry(self.key(vertex)).or_default() += 1;
        }
        let squares: u64 = around.values().map(|&count| count.saturating_mul(count)).fold(0, u64::saturating_add);
        let most = (3 * sound.len() as u64).saturating_mul(MOST_SQUARES_PER_CORNER).saturating_add(SQUARES_FOR_ALL);
        squares <= most && around.values().all(|&count| count <= MOST_AROUND_A_VERTEX)
    }

    /// What makes two vertices one for the algorithm.
    fn key(&self, vertex: u32) -> [u32; 8] {
        let (p, n, t) = (at(self.positions, vertex), at(self.normals, vertex), at(self.tex_coords, vertex));
        [p.x, p.y, p.z, n.x, n.y, n.z, t.x, t.y].map(f32::to_bits)
    }
}

/// Zero beyond the end, which checked indices never reach.
fn at<T: Copy + Default>(list: &[T], index: u32) -> T {
    list.get(index as usize).copied().unwrap_or_default()
}

/// What the algorithm reads from and writes to.
struct Work<'a> {
    input: &'a TangentInput<'a>,
    triangles: &'a [[u32; 3]],
    /// The triangles that it sees.
    sound: &'a [usize],
    /// By triangle and corner.
    tangents: Vec<[Vec4; 3]>,
}

impl Work<'_> {
    fn vertex(&self, face: usize, corner: usize) -> u32 {
        let triangle = self.sound.get(face).and_then(|&triangle| self.triangles.get(triangle));
        triangle.and_then(|triangle| triangle.get(corner)).copied().unwrap_or(u32::MAX)
    }
}

impl Geometry for Work<'_> {
    fn num_faces(&self) -> usize {
        self.sound.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        at(self.input.positions, self.vertex(face, corner)).to_array()
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        at(self.input.normals, self.vertex(face, corner)).to_array()
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        at(self.input.tex_coords, self.vertex(face, corner)).to_array()
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        let Some([x, y, z, sign]) = space.map(|space| space.tangent_encoded()) else { return };
        // The algorithm was made for v that points up; in glTF it points down, which turns the handedness round.
        let tangent = Vec3::new(x, y, z).try_normalize().map(|unit| unit.extend(-sign));
        let place = self.sound.get(face).and_then(|&triangle| self.tangents.get_mut(triangle)?.get_mut(corner));
        if let (Some(place), Some(tangent)) = (place, tangent) {
            *place = tangent;
        }
    }
}

/// Makes a vertex of its own for each further tangent of a vertex. Corners without one take the vertex's first.
fn split(vertex_count: usize, triangles: &[[u32; 3]], tangents: &[[Vec4; 3]]) -> SplitVertices {
    let mut source: Vec<u32> = (0..vertex_count as u32).collect();
    let mut of_vertex = vec![Vec4::ZERO; vertex_count];
    let mut further: HashMap<(u32, [u32; 4]), u32> = HashMap::new();
    let corners = || triangles.iter().flatten().zip(tangents.iter().flatten());
    for (&vertex, &tangent) in corners() {
        if let Some(first) = of_vertex.get_mut(vertex as usize).filter(|first| **first == Vec4::ZERO) {
            *first = tangent;
        }
    }
    let mut indices = Vec::with_capacity(3 * triangles.len());
    for (&vertex, &tangent) in corners() {
        let first = at(&of_vertex, vertex);
        indices.push(if tangent == Vec4::ZERO || tangent == first {
            vertex
        } else {
            *further.entry((vertex, tangent.to_array().map(f32::to_bits))).or_insert_with(|| {
                source.push(vertex);
                of_vertex.push(tangent);
                source.len() as u32 - 1
            })
        });
    }
    // Where the texture coordinates say nothing (all the same, or not to be told apart) any direction is as good.
    for &vertex in &indices {
        if let Some(tangent) = of_vertex.get_mut(vertex as usize).filter(|tangent| **tangent == Vec4::ZERO) {
            *tangent = Vec3::X.extend(1.0);
        }
    }
    SplitVertices { source, tangents: of_vertex, indices }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A square in the xy plane, u to the right and v down, its two halves meeting on the diagonal 1 to 2.
    fn square(tex_coords: [Vec2; 4]) -> SplitVertices {
        let positions = [Vec3::Y, Vec3::ONE.with_z(0.0), Vec3::ZERO, Vec3::X];
        let input = TangentInput {
            positions: &positions,
            normals: &[Vec3::Z; 4],
            tex_coords: &tex_coords,
            indices: &[0, 2, 1, 1, 2, 3],
        };
        input.generate().unwrap()
    }

    #[test]
    fn tangents_point_along_u_and_bitangents_against_v() {
        let upright = [Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE];
        let found = square(upright);
        assert_eq!((found.source, found.indices), (vec![0, 1, 2, 3], vec![0, 2, 1, 1, 2, 3]));
        for tangent in found.tangents {
            assert!(tangent.distance(Vec4::new(1.0, 0.0, 0.0, 1.0)) < 1e-6, "{tangent}");
        }
        for tangent in square(upright.map(|uv| Vec2::new(-uv.x, uv.y))).tangents {
            assert!(tangent.distance(Vec4::new(-1.0, 0.0, 0.0, -1.0)) < 1e-6, "{tangent}");
        }
    }

    #[test]
    fn vertices_on_a_mirror_seam_are_split() {
        // The second half is the first one's mirror image about the diagonal.
        let found = square([Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ZERO]);
        assert_eq!(found.source, [0, 1, 2, 3, 1, 2]);
        assert_eq!(found.indices, [0, 2, 1, 4, 5, 3]);
        let signs: Vec<f32> = found.tangents.iter().map(|tangent| tangent.w).collect();
        assert_eq!(signs, [1.0, 1.0, 1.0, -1.0, -1.0, -1.0]);
    }

    #[test]
    fn a_fan_of_too_many_triangles_is_refused() {
        let fan = |count: u32| {
            let rim = (0..=count).map(|k| Vec2::from_angle(k as f32 * 0.001).extend(0.0));
            let positions: Vec<Vec3> = std::iter::once(Vec3::ZERO).chain(rim).collect();
            let tex_coords: Vec<Vec2> = positions.iter().map(|p| p.truncate()).collect();
            let indices: Vec<u32> = (1..=count).flat_map(|k| [0, k, k + 1]).collect();
            let normals = vec![Vec3::Z; positions.len()];
            let input =
                TangentInput { positions: &positions, normals: &normals, tex_coords: &tex_coords, indices: &indices };
            input.generate().is_some()
        };
        assert!(fan(1024));
        assert!(!fan(1025));
        assert!(!fan(1_000_000));
    }

    proptest! {
        /// Few different numbers, so that vertices coincide, triangles degenerate and edges have many neighbours.
        #[test]
        fn no_triangles_are_too_odd(
            corners in prop::collection::vec((0..3_u8, 0..3_u8, 0..2_u8, 0..3_u8, 0..3_u8, 0..2_u8), 1..12),
            indices in prop::collection::vec(0..12_u32, 0..90),
            scale in prop::sample::select(vec![1.0, 1e-30, 1e30, f32::MAX / 2.0]),
        ) {
            let positions: Vec<Vec3> = corners.iter().map(|c| scale * Vec3::new(c.0.into(), c.1.into(), c.2.into())).collect();
            let tex_coords: Vec<Vec2> = corners.iter().map(|c| scale * Vec2::new(c.3.into(), c.4.into())).collect();
            let normals: Vec<Vec3> = corners.iter().map(|c| if c.5 == 0 { Vec3::Z } else { Vec3::X }).collect();
            let count = corners.len() as u32;
            let mut indices: Vec<u32> = indices.into_iter().map(|index| index % count).collect();
            indices.truncate(indices.len() / 3 * 3);
            let input = TangentInput {
                positions: &positions, normals: &normals, tex_coords: &tex_coords, indices: &indices,
            };
            let found = input.generate().unwrap();
            prop_assert_eq!(found.indices.len(), indices.len());
            prop_assert_eq!(found.source.len(), found.tangents.len());
            for (&index, &wanted) in found.indices.iter().zip(&indices) {
                prop_assert_eq!(found.source[index as usize], wanted);
            }
            for tangent in found.tangents.iter().filter(|&&tangent| tangent != Vec4::ZERO) {
                prop_assert!((tangent.truncate().length() - 1.0).abs() < 1e-4 && tangent.w.abs() == 1.0);
            }
        }
    }
}
