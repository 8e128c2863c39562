//! One vertex array in which no vertex stands twice.
//!
//! Many files are not indexed, or repeat vertices; every repeated one would be skinned again for every instance in
//! every frame. Vertices are the same if all they are made of has the same bits, so welding changes no picture.
//!
//! The table of those seen holds their indices only; what they are made of is compared where it stands in the geometry.
//! Copies of whole runs, for the placements of a mesh, are neither hashed nor compared.
//! Its hashes are keyed anew in each run: no file can be made to fill one bucket. The order of the vertices is that in
//! which they come, whatever the hashes.

use std::hash::{BuildHasher, Hasher};
use std::ops::Range;

use glam::{Vec2, Vec3, Vec4};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::model::{Geometry, Influence, MorphDelta};

/// A vertex with everything that tells it from another.
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
    /// A vertex that the geometry has.
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

    /// Everything but the lists, bit for bit.
    fn fixed_bits(&self) -> [u32; 15] {
        let ([px, py, pz], [nx, ny, nz]) = (self.position.to_array(), self.normal.to_array());
        let [tx, ty, tz, tw] = self.tangent.to_array();
        let [Vec2 { x: u0, y: v0 }, Vec2 { x: u1, y: v1 }] = self.tex_coords;
        let [px, py, pz, nx, ny, nz] = [px, py, pz, nx, ny, nz].map(f32::to_bits);
        let [tx, ty, tz, tw, u0, v0, u1, v1] = [tx, ty, tz, tw, u0, v0, u1, v1].map(f32::to_bits);
        [px, py, pz, nx, ny, nz, tx, ty, tz, tw, u0, v0, u1, v1, u32::from_ne_bytes(self.color)]
    }

    fn influence_bits(&self) -> impl Iterator<Item = [u32; 2]> {
        self.influences.iter().map(|influence| [influence.joint, influence.weight.to_bits()])
    }

    fn morph_bits(&self) -> impl Iterator<Item = [u32; 10]> {
        self.morph_deltas.iter().map(|delta| {
            let [[px, py, pz], [nx, ny, nz], [tx, ty, tz]] =
                [delta.position, delta.normal, delta.tangent].map(|delta| delta.to_array().map(f32::to_bits));
            [delta.weight, px, py, pz, nx, ny, nz, tx, ty, tz]
        })
    }

    fn is_same(&self, other: &Vertex) -> bool {
        self.fixed_bits() == other.fixed_bits()
            && self.influence_bits().eq(other.influence_bits())
            && self.morph_bits().eq(other.morph_bits())
    }

    fn hash(&self, keys: &DefaultHashBuilder) -> u64 {
        let mut hasher = keys.build_hasher();
        hasher.write(bytemuck::bytes_of(&self.fixed_bits()));
        self.influence_bits().for_each(|bits| hasher.write(bytemuck::bytes_of(&bits)));
        self.morph_bits().for_each(|bits| hasher.write(bytemuck::bytes_of(&bits)));
        hasher.finish()
    }
}

/// Fills a [`Geometry`].
pub(super) struct Welder {
    /// Vertices, with their influences and morph deltas; whatever else the caller puts in.
    pub geometry: Geometry,
    seen: HashTable<u32>,
    keys: DefaultHashBuilder,
}

impl Welder {
    pub fn new() -> Self {
        let geometry = Geometry { influence_starts: vec![0], morph_delta_starts: vec![0], ..Geometry::default() };
        Self { geometry, seen: HashTable::new(), keys: DefaultHashBuilder::default() }
    }

    /// Index of `vertex`, which is appended if it is new.
    pub fn push(&mut self, vertex: &Vertex) -> u32 {
        let Self { geometry, seen, keys } = self;
        let hash = vertex.hash(keys);
        if let Some(&index) = seen.find(hash, |&index| vertex.is_same(&Vertex::of(geometry, index))) {
            return index;
        }
        let index = geometry.positions.len() as u32;
        seen.insert_unique(hash, index, |&index| Vertex::of(geometry, index).hash(keys));
        make_room(
            geometry,
            &RunSize { vertices: 1, influences: vertex.influences.len(), morph_deltas: vertex.morph_deltas.len() },
        );
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
    /// Appends the vertices of `run`, which all follow one joint, once for each of `joints`, which they follow instead.
    ///
    /// The table does not know the copies, and need not: only they follow their joint, so nothing that comes later can be
    /// the same as one of them.
    pub fn copy(&mut self, run: Range<usize>, joints: impl ExactSizeIterator<Item = u32>) {
        let size = self.size_of(&run);
        make_room(&mut self.geometry, &size.times(joints.len()));
        joints.for_each(|joint| self.copy_once(run.clone(), joint));
    }

    /// What a run of vertices has.
    pub fn size_of(&self, run: &Range<usize>) -> RunSize {
        let count = |starts: &[u32]| (starts[run.end] - starts[run.start]) as usize;
        RunSize {
            vertices: run.len(),
            influences: count(&self.geometry.influence_starts),
            morph_deltas: count(&self.geometry.morph_delta_starts),
        }
    }

    fn copy_once(&mut self, run: Range<usize>, joint: u32) {
        let geometry = &mut self.geometry;
        geometry.positions.extend_from_within(run.clone());
        geometry.normals.extend_from_within(run.clone());
        geometry.tangents.extend_from_within(run.clone());
        geometry.tex_coords.extend_from_within(run.clone());
        geometry.colors.extend_from_within(run.clone());
        let first_influence = geometry.influences.len();
        copy_lists(&mut geometry.influence_starts, &mut geometry.influences, &run);
        geometry.influences[first_influence..].iter_mut().for_each(|influence| influence.joint = joint);
        copy_lists(&mut geometry.morph_delta_starts, &mut geometry.morph_deltas, &run);
    }
}

/// Elements that a run of vertices has in each array.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunSize {
    pub vertices: usize,
    pub influences: usize,
    pub morph_deltas: usize,
}

impl RunSize {
    fn times(self, count: usize) -> Self {
        Self {
            vertices: self.vertices * count,
            influences: self.influences * count,
            morph_deltas: self.morph_deltas * count,
        }
    }
}

/// Appends the lists of a run of vertices, which stand one behind the other.
fn copy_lists<T: Copy>(starts: &mut Vec<u32>, values: &mut Vec<T>, run: &Range<usize>) {
    let (first, end) = (starts[run.start], starts[run.end]);
    let shift = values.len() as u32 - first;
    values.extend_from_within(first as usize..end as usize);
    starts.extend_from_within(run.start + 1..run.end + 1);
    let copied = starts.len() - run.len();
    starts[copied..].iter_mut().for_each(|start| *start += shift);
}

/// Makes room in all arrays of vertices.
fn make_room(geometry: &mut Geometry, more: &RunSize) {
    reserve(&mut geometry.positions, more.vertices);
    reserve(&mut geometry.normals, more.vertices);
    reserve(&mut geometry.tangents, more.vertices);
    reserve(&mut geometry.tex_coords, more.vertices);
    reserve(&mut geometry.colors, more.vertices);
    reserve(&mut geometry.influence_starts, more.vertices);
    reserve(&mut geometry.influences, more.influences);
    reserve(&mut geometry.morph_delta_starts, more.vertices);
    reserve(&mut geometry.morph_deltas, more.morph_deltas);
}

/// An eighth more than there is, where `Vec` would double: what is never filled is asked of the system all the same, and
/// counts where memory is limited.
pub(super) fn reserve<T>(list: &mut Vec<T>, more: usize) {
    /// So that short lists do not grow one by one.
    const LEAST: usize = 64;
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 8).max(LEAST));
    }
}
