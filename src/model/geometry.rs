//! The geometry in its bind pose: one vertex array, one index array, and draw ranges by material.

use glam::{Vec2, Vec3, Vec4};

use super::source::SourcePrimitive;

#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Influence {
    /// The index of an entry of the model's [`PaletteLayout`](super::PaletteLayout).
    pub joint: u32,
    /// The share of this joint, in (0, 1]. The weights of a vertex sum to one.
    pub weight: f32,
}

/// The change of one vertex by one morph target of weight 1 (glTF 2.0, 3.7.2.2). A target has no delta for a vertex
/// that it does not change: most targets of a face move a small part of it.
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct MorphDelta {
    /// The index of the target's weight in [`LocalPose::morph_weights`](super::LocalPose::morph_weights).
    pub weight_index: u32,
    /// The change of the bind position, in mesh space, before skinning.
    pub position: Vec3,
    /// The change of the bind normal; zero if the file has none.
    pub normal: Vec3,
    /// The change of the bind tangent; zero if the file has none.
    pub tangent: Vec3,
}

/// The elements that consecutive indices form. Strips, loops and fans have become lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topology {
    #[default]
    Triangles,
    Lines,
    Points,
}

impl Topology {
    /// Returns the number of indices of a triangle, line or point.
    pub fn corner_count(self) -> usize {
        match self {
            Self::Triangles => 3,
            Self::Lines => 2,
            Self::Points => 1,
        }
    }
}

/// Triangles, lines or points that share a material and are drawn by one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DrawRange {
    pub topology: Topology,
    /// The first index of the range in [`Geometry::indices`].
    pub first_index: u32,
    /// The number of indices, a multiple of the topology's corners.
    pub index_count: u32,
    pub material: u32,
    /// Whether the file has no normals here. The fragment shader shades such triangles flat, as 3.7.2.1 requires.
    pub flat_shaded: bool,
    /// Whether there are tangents for the material's normal map, from the file or by MikkTSpace.
    pub has_tangents: bool,
    /// Whether the rest pose mirrors these triangles (negative determinant), so that their winding is clockwise (3.7.4).
    pub mirrored: bool,
}

/// Starts and influences of many vertices: those of vertex `v` are the elements `starts[v]..starts[v + 1]` of the second list.
pub type Influences<'g> = (&'g [u32], &'g [Influence]);

/// A level of detail: fewer triangles over the first vertices of the same geometry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CoarserLevel {
    /// The number of vertices. The level uses the vertices `0..vertex_count`, so that a pose of a coarse level is a prefix
    /// of the pose in full detail.
    pub vertex_count: u32,
    /// The corners of all triangles, lines and points of the level.
    pub indices: Vec<u32>,
    /// The part of `indices` for each of [`Geometry::draw_ranges`]. It may be empty.
    pub ranges: Vec<std::ops::Range<u32>>,
    /// How much a picture loses, as a distance in units of model space, at least that of the finer level. No lost vertex is
    /// farther from the level's surface, in any pose of any clip; and it grows with the mean distance between both surfaces.
    pub error: f32,
    /// The number of joint matrices. The vertices follow only the first entries of the palette.
    pub joint_count: u32,
    /// The influences of the level's vertices, like those of [`Geometry`]. Vertices of a coarse level may follow fewer joints:
    /// fingers follow the hand. Empty if they are the same as in full detail.
    pub influence_starts: Vec<u32>,
    /// The influences of all of the level's vertices, if they are its own.
    pub influences: Vec<Influence>,
}

/// All vertices, triangles, lines and points of a model. The arrays by vertex have equal length, but `tangents` may be
/// empty. The vertices of coarser levels come first, and else they stand in the order of their first use.
#[derive(Debug, Clone, Default)]
pub struct Geometry {
    /// The bind positions in mesh space, to which inverse bind matrices apply.
    pub positions: Vec<Vec3>,
    /// Unit normals in mesh space; +Z if the file has none.
    pub normals: Vec<Vec3>,
    /// Unit tangents in mesh space. w is 1, or -1 if the bitangent is `-cross(normal, tangent)`. Tangents are zero for
    /// draw ranges without them, and the array is empty if no draw range has tangents.
    pub tangents: Vec<Vec4>,
    /// The two sets that the material's textures use, without transforms; [`MaterialTexture`](super::MaterialTexture)
    /// has the set and transform of each texture. Finite; zero if the file has none.
    pub tex_coords: Vec<[Vec2; 2]>,
    /// COLOR_0, linear, as unsigned normalised bytes; white if the file has none.
    pub colors: Vec<[u8; 4]>,
    /// The influences of vertex `v` are `influences[influence_starts[v]..influence_starts[v + 1]]`, largest weight
    /// first. There is one element more than there are vertices.
    pub influence_starts: Vec<u32>,
    /// The influences of all vertices; no weight is zero.
    pub influences: Vec<Influence>,
    /// The deltas of vertex `v` are `morph_deltas[morph_delta_starts[v]..morph_delta_starts[v + 1]]`, by weight index.
    /// There is one element more than there are vertices.
    pub morph_delta_starts: Vec<u32>,
    /// The deltas of all vertices; none is zero.
    pub morph_deltas: Vec<MorphDelta>,
    /// The corners of all triangles, lines and points.
    pub indices: Vec<u32>,
    /// The partition of `indices`, in the file's order.
    pub draw_ranges: Vec<DrawRange>,
    /// The primitives of the file, sorted by node and primitive.
    pub source_primitives: Vec<SourcePrimitive>,
    /// The coarser levels of detail, finest first. Level 0 is `indices`; level `k` is element `k - 1`. Vertex counts never
    /// ascend and errors never descend. Empty after import.
    pub coarser_levels: Vec<CoarserLevel>,
    /// Whether joints are blended as dual quaternions instead of matrices.
    pub with_dual_quaternions: bool,
}

impl Geometry {
    /// Returns the number of vertices after welding.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Returns the number of vertices that something drawn uses. They come first. The others have no place in the picture, so
    /// nothing that is measured counts them.
    pub fn drawn_vertex_count(&self) -> usize {
        self.indices.iter().max().map_or(0, |&last| last as usize + 1)
    }

    /// Returns the number of vertices of each level of detail, full detail first, and the influences of levels that have
    /// their own.
    pub fn levels(&self) -> impl Iterator<Item = (u32, Option<Influences<'_>>)> {
        let coarser = self.coarser_levels.iter().map(|level| {
            let is_own = !level.influence_starts.is_empty();
            (level.vertex_count, is_own.then_some((&level.influence_starts[..], &level.influences[..])))
        });
        std::iter::once((self.vertex_count() as u32, None)).chain(coarser)
    }

    /// Returns the morph deltas of one vertex.
    ///
    /// # Panics
    /// Panics if `vertex` is out of range.
    pub fn morph_deltas_of(&self, vertex: usize) -> &[MorphDelta] {
        &self.morph_deltas[self.morph_delta_starts[vertex] as usize..self.morph_delta_starts[vertex + 1] as usize]
    }

    /// Returns the influences of one vertex.
    ///
    /// # Panics
    /// Panics if `vertex` is out of range.
    pub fn influences_of(&self, vertex: usize) -> &[Influence] {
        &self.influences[self.influence_starts[vertex] as usize..self.influence_starts[vertex + 1] as usize]
    }
}
