//! One vertex array in which no vertex stands twice.
//!
//! Many files are not indexed, or repeat vertices; every repeated one would be skinned again for every instance in
//! every frame. Vertices are the same if all they are made of has the same bits, so welding changes no picture.

use std::collections::HashMap;

use glam::{Vec2, Vec3, Vec4};

use crate::model::{Geometry, Influence, MorphDelta};

/// A vertex with everything that tells it from another.
pub(super) struct Vertex<'i> {
    pub position: Vec3,
    pub normal: Vec3,
    pub tangent: Vec4,
    pub tex_coords: [Vec2; 2],
    pub color: [u8; 4],
    pub influences: &'i [Influence],
    pub morph_deltas: &'i [MorphDelta],
}

/// Fills a [`Geometry`].
pub(super) struct Welder {
    /// Vertices, their influences; whatever else the caller puts in.
    pub geometry: Geometry,
    index_of: HashMap<Box<[u8]>, u32>,
    /// The bytes of the vertex at hand, kept for its memory.
    key: Vec<u8>,
}

impl Welder {
    pub fn new() -> Self {
        let geometry = Geometry { influence_starts: vec![0], morph_delta_starts: vec![0], ..Geometry::default() };
        Self { geometry, index_of: HashMap::new(), key: Vec::new() }
    }

    /// Index of `vertex`, which is appended if it is new.
    pub fn push(&mut self, vertex: &Vertex) -> u32 {
        self.key.clear();
        self.key.extend_from_slice(bytemuck::bytes_of(&vertex.position));
        self.key.extend_from_slice(bytemuck::bytes_of(&vertex.normal));
        self.key.extend_from_slice(bytemuck::bytes_of(&vertex.tangent));
        self.key.extend_from_slice(bytemuck::bytes_of(&vertex.tex_coords));
        self.key.extend_from_slice(&vertex.color);
        for influence in vertex.influences {
            self.key.extend_from_slice(&influence.joint.to_ne_bytes());
            self.key.extend_from_slice(&influence.weight.to_ne_bytes());
        }
        // The number of influences, so that none of them can be taken for a delta.
        self.key.extend_from_slice(&(vertex.influences.len() as u32).to_ne_bytes());
        for delta in vertex.morph_deltas {
            self.key.extend_from_slice(&delta.weight.to_ne_bytes());
            self.key.extend_from_slice(bytemuck::bytes_of(&delta.position));
            self.key.extend_from_slice(bytemuck::bytes_of(&delta.normal));
            self.key.extend_from_slice(bytemuck::bytes_of(&delta.tangent));
        }
        if let Some(&index) = self.index_of.get(self.key.as_slice()) {
            return index;
        }
        let geometry = &mut self.geometry;
        let index = geometry.positions.len() as u32;
        self.index_of.insert(self.key.as_slice().into(), index);
        geometry.positions.push(vertex.position);
        geometry.normals.push(vertex.normal);
        geometry.tangents.push(vertex.tangent);
        geometry.tex_coords.push(vertex.tex_coords);
        geometry.colors.push(vertex.color);
        geometry.influences.extend_from_slice(vertex.influences);
        geometry.influence_starts.push(geometry.influences.len() as u32);
        geometry.morph_deltas.extend_from_slice(vertex.morph_deltas);
        geometry.morph_delta_starts.push(geometry.morph_deltas.len() as u32);
        index
    }
}
