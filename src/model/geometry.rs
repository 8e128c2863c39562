//! Bind-pose geometry: one vertex array, one index array, and draw ranges by material.

use glam::{Vec2, Vec3, Vec4};

/// One joint's pull on one vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Influence {
    /// Index into the model's [`PaletteLayout`](super::PaletteLayout).
    pub joint: u32,
    /// In (0, 1]; the weights of a vertex sum to one.
    pub weight: f32,
}

/// How far one morph target moves one vertex where its weight is 1 (glTF 2.0, 3.7.2.2). Targets that leave a vertex
/// where it is have no delta for it: most targets of a face move a small part of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MorphDelta {
    /// Index into [`LocalPose::morph_weights`](super::LocalPose::morph_weights).
    pub weight: u32,
    /// Added to the bind pose's position, in mesh space, before skinning.
    pub position: Vec3,
    /// Added to the bind pose's normal; zero where the file has none.
    pub normal: Vec3,
    /// Added to the bind pose's tangent; zero where the file has none.
    pub tangent: Vec3,
}

/// What consecutive indices make up. Strips, loops and fans have become lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topology {
    /// Three indices each.
    Triangles,
    /// Two indices each.
    Lines,
    /// One index each.
    Points,
}

impl Topology {
    /// Indices of one triangle, line or point.
    #[must_use]
    pub fn corner_count(self) -> usize {
        match self {
            Self::Triangles => 3,
            Self::Lines => 2,
            Self::Points => 1,
        }
    }
}

/// Triangles, lines or points that share a material and are drawn by one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawRange {
    /// What the indices make up.
    pub topology: Topology,
    /// First index of the range, in [`Geometry::indices`].
    pub first_index: u32,
    /// Number of indices, a multiple of the topology's corners.
    pub index_count: u32,
    /// Index into the model's materials.
    pub material: u32,
    /// The file has no normals here: glTF asks for flat shading of triangles (3.7.2.1), which the fragment shader does.
    pub flat_shaded: bool,
    /// There are tangents, from the file or by MikkTSpace, for the material's normal map.
    pub has_tangents: bool,
    /// The rest pose mirrors these triangles (negative determinant), so that their winding is clockwise (3.7.4).
    pub mirrored: bool,
}

/// A primitive of the file, as one mesh node shows it: the way back from our vertices to the file's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourcePrimitive {
    /// glTF node index.
    pub node: u32,
    /// glTF mesh index.
    pub mesh: u32,
    /// Index of the primitive in its mesh.
    pub primitive: u32,
    /// Which of the node's placements it is (EXT_mesh_gpu_instancing); `None` where the node shows its mesh once.
    pub instance: Option<u32>,
    /// glTF skin index, for a skinned mesh node.
    pub skin: Option<u32>,
    /// Whether the file has normals for it.
    pub has_normals: bool,
    /// For each vertex of the file, in its order, our vertex (several may share one after welding).
    pub vertices: Vec<u32>,
}

/// All vertices, triangles, lines and points of a model; the per-vertex arrays have equal length, but for tangents that nothing needs.
#[derive(Debug, Clone, Default)]
pub struct Geometry {
    /// Bind pose, in mesh space (what inverse bind matrices expect).
    pub positions: Vec<Vec3>,
    /// Unit length, in mesh space; +Z where the file has none.
    pub normals: Vec<Vec3>,
    /// Unit length, in mesh space; w is 1, or -1 where the bitangent `cross(normal, tangent)` is turned round. Zero where
    /// no draw range needs them; empty where none at all does.
    pub tangents: Vec<Vec4>,
    /// The two sets that the material's textures use, as the file has them: which texture uses which, and how it changes
    /// them, says [`MaterialTexture`](super::MaterialTexture). Zero where the file has none. Finite.
    pub tex_coords: Vec<[Vec2; 2]>,
    /// COLOR_0, linear, as unsigned normalised bytes; white where the file has none.
    pub colors: Vec<[u8; 4]>,
    /// Influences of vertex `v` are `influences[influence_starts[v] .. influence_starts[v + 1]]`, heaviest first.
    /// One element more than there are vertices.
    pub influence_starts: Vec<u32>,
    /// All vertices' influences, none of weight zero.
    pub influences: Vec<Influence>,
    /// Deltas of vertex `v` are `morph_deltas[morph_delta_starts[v] .. morph_delta_starts[v + 1]]`, by weight.
    /// One element more than there are vertices.
    pub morph_delta_starts: Vec<u32>,
    /// All vertices' deltas, none of them zero.
    pub morph_deltas: Vec<MorphDelta>,
    /// Lists of triangles, lines and points, as the draw ranges say.
    pub indices: Vec<u32>,
    /// Partition of `indices`, in the file's order.
    pub draw_ranges: Vec<DrawRange>,
    /// In the order of (node, instance, primitive).
    pub source_primitives: Vec<SourcePrimitive>,
}

impl Geometry {
    /// Number of distinct vertices, as they are skinned.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Number of triangles.
    #[must_use]
    pub fn triangle_count(&self) -> usize {
        self.count_of(Topology::Triangles)
    }

    /// Number of triangles, lines or points.
    #[must_use]
    pub fn count_of(&self, topology: Topology) -> usize {
        let ranges = self.draw_ranges.iter().filter(|range| range.topology == topology);
        ranges.map(|range| range.index_count as usize / topology.corner_count()).sum()
    }

    /// Morph deltas of one vertex.
    ///
    /// # Panics
    /// If `vertex` is out of range.
    #[must_use]
    pub fn morph_deltas_of(&self, vertex: usize) -> &[MorphDelta] {
        &self.morph_deltas[self.morph_delta_starts[vertex] as usize..self.morph_delta_starts[vertex + 1] as usize]
    }

    /// Influences of one vertex.
    ///
    /// # Panics
    /// If `vertex` is out of range.
    #[must_use]
    pub fn influences_of(&self, vertex: usize) -> &[Influence] {
        &self.influences[self.influence_starts[vertex] as usize..self.influence_starts[vertex + 1] as usize]
    }
}
