//! From the vertices of all primitives to one vertex array without duplicates.
//!
//! Many files are not indexed, or repeat vertices. Without welding, each duplicate would be skinned again for every instance in
//! every frame. Two vertices are the same if all their attributes have the same bits, so welding does not change the image.
//!
//! The hash table holds only hashes and indices; attributes are compared in the geometry. The hashes have a new random
//! key in each run of the program, so that no file can be made to fill one bucket. The order of the vertices does not
//! depend on the hashes: it is the order in which they are pushed.

use std::hash::{BuildHasher, Hasher};

use bytemuck::{bytes_of, cast_slice};
use glam::{Vec2, Vec3, Vec4};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::model::{Geometry, Influence, MorphDelta};

/// All attributes of a vertex. Functions that must not miss one take this struct apart by name.
#[derive(Clone, Copy)]
pub(super) struct Vertex<'i> {
    pub position: Vec3,
    pub normal: Vec3,
    pub tangent: Vec4,
    pub tex_coords: [Vec2; 2],
    pub color: [u8; 4],
    pub influences: &'i [Influence],
    pub morph_deltas: &'i [MorphDelta],
}

impl<'g> Vertex<'g> {
    fn of(geometry: &'g Geometry, index: u32) -> Self {
        let index = index as usize;
        Self {
            position: geometry.positions[index],
            normal: geometry.normals[index],
            tangent: geometry.tangents[index],
            tex_coords: geometry.tex_coords[index],
            color: geometry.colors[index],
            influences: geometry.influences_of(index),
            morph_deltas: geometry.morph_deltas_of(index),
        }
    }

    fn bytes(&self) -> [&[u8]; 7] {
        let Self { position, normal, tangent, tex_coords, color, influences, morph_deltas } = self;
        let [position, normal] = [position, normal].map(bytes_of);
        let (tangent, tex_coords) = (bytes_of(tangent), bytes_of(tex_coords));
        [position, normal, tangent, tex_coords, color, cast_slice(influences), cast_slice(morph_deltas)]
    }

    /// Whether all bits are equal. Empty lists are not compared: reading at the address of one takes longer than all the rest.
    fn is_same(&self, other: &Vertex) -> bool {
        let mut pairs = self.bytes().into_iter().zip(other.bytes());
        pairs.all(|(own, other)| own.len() == other.len() && (own.is_empty() || own == other))
    }

    fn hash(&self, keys: &DefaultHashBuilder) -> u64 {
        let mut hasher = keys.build_hasher();
        self.bytes().iter().for_each(|bytes| hasher.write(bytes));
        hasher.finish()
    }
}

/// A vertex of the geometry, with its hash, so that a growing table does not read all vertices again.
struct SeenVertex {
    hash: u32,
    index: u32,
}

/// Spreads a hash over the 64 bits that the table takes.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

pub(super) struct Welder {
    /// The geometry. The caller fills the index array, the draw ranges and the source primitives.
    pub geometry: Geometry,
    seen: HashTable<SeenVertex>,
    keys: DefaultHashBuilder,
}

impl Welder {
    pub fn new() -> Self {
        let geometry = Geometry { influence_starts: vec![0], morph_delta_starts: vec![0], ..Geometry::default() };
        Self { geometry, seen: HashTable::new(), keys: DefaultHashBuilder::default() }
    }

    /// Returns the index of `vertex`, which is appended if it is new.
    pub fn push(&mut self, vertex: &Vertex) -> u32 {
        let Self { geometry, seen, keys } = self;
        let hash = vertex.hash(keys) as u32;
        let is_same = |seen: &SeenVertex| seen.hash == hash && vertex.is_same(&Vertex::of(geometry, seen.index));
        if let Some(seen) = seen.find(spread(hash), is_same) {
            return seen.index;
        }
        let index = geometry.positions.len() as u32;
        seen.insert_unique(spread(hash), SeenVertex { hash, index }, |seen| spread(seen.hash));
        let Vertex { position, normal, tangent, tex_coords, color, influences, morph_deltas } = *vertex;
        extend(&mut geometry.positions, &[position]);
        extend(&mut geometry.normals, &[normal]);
        extend(&mut geometry.tangents, &[tangent]);
        extend(&mut geometry.tex_coords, &[tex_coords]);
        extend(&mut geometry.colors, &[color]);
        extend(&mut geometry.influences, influences);
        extend(&mut geometry.influence_starts, &[geometry.influences.len() as u32]);
        extend(&mut geometry.morph_deltas, morph_deltas);
        extend(&mut geometry.morph_delta_starts, &[geometry.morph_deltas.len() as u32]);
        index
    }
}

fn extend<T: Copy>(list: &mut Vec<T>, values: &[T]) {
    reserve(list, values.len());
    list.extend_from_slice(values);
}

/// Makes room for `more` elements, growing by an eighth, where `Vec` would double. Unused capacity counts if memory is limited.
pub(super) fn reserve<T>(list: &mut Vec<T>, more: usize) {
    /// The smallest growth, so that short lists do not grow by single elements.
    const LEAST: usize = 64;
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 8).max(LEAST));
    }
}
