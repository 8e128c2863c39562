//! From positions, normals and texture coordinates to tangents, for primitives with a normal map but without tangents.
//!
//! The algorithm is MikkTSpace, as glTF 2.0 (3.7.2.1) requires, because bakers of normal maps use it. It works on the corners
//! of triangles. A vertex whose corners get different tangents, on a mirror seam of the texture, becomes several vertices.
//!
//! The run time and recursion depth of the algorithm grow with the square of the number of triangles around a vertex, and with
//! the product of the numbers of degenerate and valid triangles. So the triangles around each vertex are counted before, and
//! degenerate ones are left out: no file can make it run long or exhaust the stack. The crate forbids unsafe code.

use std::collections::HashMap;

use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::{Vec2, Vec3, Vec4};

/// The largest number of triangles around a vertex. Real models have fewer.
const MOST_AROUND_A_VERTEX: u64 = 1024;
/// The limit of the sum, over all vertices, of the squared number of triangles, for each corner. A regular mesh has 6.
const MOST_SQUARES_PER_CORNER: u64 = 64;
/// The sum that is always allowed.
const SQUARES_FOR_ALL: u64 = 1 << 20;

/// The vertices of a primitive after splitting, so that each has one tangent.
pub(super) struct SplitVertices {
    /// The original index of each vertex. The original vertices come first, in their order.
    pub source: Vec<u32>,
    /// A unit vector and the handedness; zero for vertices that no triangle uses.
    pub tangents: Vec<Vec4>,
    /// The triangles, as indices of split vertices.
    pub indices: Vec<u32>,
}

/// Generates tangents for all corners of a list of triangles, whose indices are in range. The arrays by vertex have equal length,
/// and the normal map is sampled at the texture coordinates. Returns `None` if too many triangles share a vertex.
pub(super) fn generate(
    positions: &[Vec3],
    normals: &[Vec3],
    tex_coords: &[Vec2],
    indices: &[u32],
) -> Option<SplitVertices> {
    let (triangles, _) = indices.as_chunks();
    // The corners have different positions. If not, the triangle takes the tangents of its neighbours.
    let is_valid = |triangle: &usize| {
        let [a, b, c] = triangles[*triangle].map(|vertex| positions[vertex as usize]);
        a != b && b != c && c != a
    };
    let valid = (0..triangles.len()).filter(is_valid).collect();
    let tangents = vec![[Vec4::ZERO; 3]; triangles.len()];
    let mut work = Work { positions, normals, tex_coords, triangles, valid, tangents };
    if !work.is_cheap() {
        return None;
    }
    generate_tangents(&mut work).ok()?;
    Some(split(positions.len(), triangles, &work.tangents))
}

/// The interface between the algorithm and our arrays.
struct Work<'a> {
    positions: &'a [Vec3],
    normals: &'a [Vec3],
    tex_coords: &'a [Vec2],
    triangles: &'a [[u32; 3]],
    /// The triangles that the algorithm gets.
    valid: Vec<usize>,
    /// The generated tangents of the three corners of each triangle.
    tangents: Vec<[Vec4; 3]>,
}

impl Work<'_> {
    fn is_cheap(&self) -> bool {
        let mut around: HashMap<[u32; 8], u64> = HashMap::new();
        for &vertex in self.valid.iter().flat_map(|&triangle| &self.triangles[triangle]) {
            *around.entry(self.key(vertex as usize)).or_default() += 1;
        }
        let squares: u64 = around.values().map(|&count| count.saturating_mul(count)).fold(0, u64::saturating_add);
        let corner_count = 3 * self.valid.len() as u64;
        let most = corner_count.saturating_mul(MOST_SQUARES_PER_CORNER).saturating_add(SQUARES_FOR_ALL);
        squares <= most && around.values().all(|&count| count <= MOST_AROUND_A_VERTEX)
    }

    /// Returns the bits that are equal for two vertices that the algorithm treats as one.
    fn key(&self, vertex: usize) -> [u32; 8] {
        let (p, n, t) = (self.positions[vertex], self.normals[vertex], self.tex_coords[vertex]);
        [p.x, p.y, p.z, n.x, n.y, n.z, t.x, t.y].map(f32::to_bits)
    }

    fn vertex(&self, face: usize, corner: usize) -> usize {
        self.triangles[self.valid[face]][corner] as usize
    }
}

impl Geometry for Work<'_> {
    fn num_faces(&self) -> usize {
        self.valid.len()
    }

    fn num_vertices_of_face(&self, _face: usize) -> usize {
        3
    }

    fn position(&self, face: usize, corner: usize) -> [f32; 3] {
        self.positions[self.vertex(face, corner)].to_array()
    }

    fn normal(&self, face: usize, corner: usize) -> [f32; 3] {
        self.normals[self.vertex(face, corner)].to_array()
    }

    fn tex_coord(&self, face: usize, corner: usize) -> [f32; 2] {
        self.tex_coords[self.vertex(face, corner)].to_array()
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, corner: usize) {
        let Some([x, y, z, sign]) = space.map(|space| space.tangent_encoded()) else { return };
        // The algorithm expects v to point up; in glTF it points down, which inverts the handedness.
        if let Some(unit) = Vec3::new(x, y, z).try_normalize() {
            self.tangents[self.valid[face]][corner] = unit.extend(-sign);
        }
    }
}

/// Adds a vertex for each further tangent of a vertex. Corners without a tangent take the first one of their vertex.
fn split(vertex_count: usize, triangles: &[[u32; 3]], tangents: &[[Vec4; 3]]) -> SplitVertices {
    let mut source: Vec<u32> = (0..vertex_count as u32).collect();
    let mut of_vertex = vec![Vec4::ZERO; vertex_count];
    let mut further: HashMap<(u32, [u32; 4]), u32> = HashMap::new();
    let corners = || triangles.iter().flatten().zip(tangents.iter().flatten());
    for (&vertex, &tangent) in corners() {
        let first = &mut of_vertex[vertex as usize];
        if *first == Vec4::ZERO {
            *first = tangent;
        }
    }
    let mut indices = Vec::with_capacity(3 * triangles.len());
    for (&vertex, &tangent) in corners() {
        let first = of_vertex[vertex as usize];
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
    // If texture coordinates coincide, they have no direction, and any tangent will do.
    for &vertex in &indices {
        let tangent = &mut of_vertex[vertex as usize];
        if *tangent == Vec4::ZERO {
            *tangent = Vec3::X.extend(1.0);
        }
    }
    SplitVertices { source, tangents: of_vertex, indices }
}
