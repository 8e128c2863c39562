//! What a model amounts to: counts, bytes, how open surfaces are, its tracks and ancestors, and the matrices of the rest pose.

use glam::{Affine3A, DVec3};

use super::clip::{Clip, Interpolation, Track};
use super::geometry::{CoarserLevel, DrawRange, Geometry, Topology};
use super::skeleton::{LocalPose, Skeleton};

/// What a track of a node says, apart from its values.
#[derive(Debug, Clone, Copy)]
pub struct NodeTrack {
    pub node: u32,
    pub timeline: u32,
    pub interpolation: Interpolation,
    pub value_count: usize,
}

impl Clip {
    /// Returns all tracks that move nodes, of any property.
    pub fn node_tracks(&self) -> impl Iterator<Item = NodeTrack> {
        fn of<T>(tracks: &[Track<T>]) -> impl Iterator<Item = NodeTrack> {
            tracks.iter().map(|&Track { node, timeline, interpolation, ref values }| NodeTrack {
                node,
                timeline,
                interpolation,
                value_count: values.len(),
            })
        }
        of(&self.translations).chain(of(&self.rotations)).chain(of(&self.scales))
    }
}

impl Skeleton {
    /// Returns the nodes above a node, the nearest one first.
    pub fn ancestors(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent(node), |&node| self.parent(node))
    }

    pub fn is_below(&self, node: usize, above: usize) -> bool {
        self.ancestors(node).any(|ancestor| ancestor == above)
    }

    /// Returns for each node the value of the nearest node above it that has one.
    pub fn nearest_above<T: Copy>(&self, values: &[Option<T>]) -> Vec<Option<T>> {
        let mut above: Vec<Option<T>> = Vec::with_capacity(self.len());
        for node in 0..self.len() {
            above.push(self.parent(node).and_then(|parent| values[parent].or(above[parent])));
        }
        above
    }

    /// Returns the nodes from `above`, which is left out, down to `below`, which must be below it.
    pub fn path(&self, above: usize, below: usize) -> Option<Vec<usize>> {
        let nodes = std::iter::once(below).chain(self.ancestors(below));
        let mut path: Vec<usize> = nodes.take_while(|&node| node != above).collect();
        path.reverse();
        self.is_below(below, above).then_some(path)
    }

    pub fn rest_locals(&self) -> impl Iterator<Item = Affine3A> {
        let LocalPose { translations, rotations, scales, .. } = &self.rest;
        let mut fixed = self.fixed_locals.iter().peekable();
        (0..self.len()).map(move |node| match fixed.next_if(|fixed| fixed.node as usize == node) {
            Some(fixed) => fixed.parent_from_node,
            None => Affine3A::from_scale_rotation_translation(scales[node], rotations[node], translations[node]),
        })
    }

    pub fn rest_matrices(&self) -> Vec<Affine3A> {
        let mut model_from_node: Vec<Affine3A> = Vec::with_capacity(self.len());
        for (&parent, parent_from_node) in self.parents.iter().zip(self.rest_locals()) {
            let model_from_parent = model_from_node.get(parent as usize).copied().unwrap_or(Affine3A::IDENTITY);
            model_from_node.push(model_from_parent * parent_from_node);
        }
        model_from_node
    }
}

impl Geometry {
    /// Returns the indices of a draw range, in full detail.
    pub fn indices_of(&self, range: &DrawRange) -> &[u32] {
        let first = range.first_index as usize;
        self.indices.get(first..first + range.index_count as usize).unwrap_or_default()
    }

    /// Returns the indices of each level of detail of a draw range, finest first, with the number of the level's vertices.
    pub fn levels_of(&self, range: usize) -> impl Iterator<Item = (u32, &[u32])> {
        let full = self.draw_ranges.get(range).map(|range| (self.vertex_count() as u32, self.indices_of(range)));
        let coarser = self.coarser_levels.iter().map(move |level| {
            let indices = level.ranges.get(range).map(|range| range.start as usize..range.end as usize);
            (level.vertex_count, indices.and_then(|indices| level.indices.get(indices)).unwrap_or_default())
        });
        full.into_iter().chain(coarser)
    }

    /// Returns how open the surface of the triangles in `range` is: the length of the sum of their area vectors, as a share
    /// of their area. It is 0 for a closed surface, 1 for a plane, and for a box without a bottom a fifth.
    pub fn openness(&self, range: &DrawRange) -> f32 {
        let (mut sum, mut area) = (DVec3::ZERO, 0.0);
        for corners in self.indices_of(range).as_chunks::<3>().0 {
            let [a, b, c] = corners.map(|corner| self.positions[corner as usize].as_dvec3());
            let area_vector = (b - a).cross(c - a);
            sum += area_vector;
            area += area_vector.length();
        }
        if area > 0.0 { (sum.length() / area) as f32 } else { 1.0 }
    }

    /// Returns whether the file has normals for any primitive. Without any, all of the model is shaded flat.
    pub fn has_normals(&self) -> bool {
        self.draw_ranges.iter().any(|range| !range.flat_shaded)
            || self.source_primitives.iter().any(|source| source.has_normals)
    }

    /// Leaves out the vertices that nothing drawn uses, which come last, and the file's own order of vertices.
    pub fn leave_out_unused(&mut self) {
        let count = self.drawn_vertex_count();
        self.source_primitives.iter_mut().for_each(|source| source.vertices = Vec::new());
        self.positions.truncate(count);
        self.normals.truncate(count);
        self.tangents.truncate(count);
        self.tex_coords.truncate(count);
        self.colors.truncate(count);
        self.influence_starts.truncate(count + 1);
        self.influences.truncate(self.influence_starts.last().map_or(0, |&end| end as usize));
        self.morph_delta_starts.truncate(count + 1);
        self.morph_deltas.truncate(self.morph_delta_starts.last().map_or(0, |&end| end as usize));
    }

    pub fn triangle_count(&self) -> usize {
        self.count_of(Topology::Triangles)
    }

    /// Returns the number of triangles in each level of detail, finest first.
    pub fn triangles_by_level(&self) -> impl Iterator<Item = usize> {
        let coarser = self.coarser_levels.iter().map(|level| {
            let ranges = self.draw_ranges.iter().zip(&level.ranges);
            ranges.filter(|(drawn, _)| drawn.topology == Topology::Triangles).map(|(_, range)| range.len() / 3).sum()
        });
        std::iter::once(self.triangle_count()).chain(coarser)
    }

    /// Returns the number of triangles, lines or points that are drawn.
    pub fn count_of(&self, topology: Topology) -> usize {
        let ranges = self.draw_ranges.iter().filter(|range| range.topology == topology);
        ranges.map(|range| range.index_count as usize / topology.corner_count()).sum()
    }

    pub fn bytes(&self) -> usize {
        let of_level = |level: &CoarserLevel| {
            let of_influences = size_of_val(&*level.influence_starts) + size_of_val(&*level.influences);
            size_of_val(&*level.indices) + size_of_val(&*level.ranges) + of_influences
        };
        let of_levels = self.coarser_levels.iter().map(of_level);
        let of_sources = self.source_primitives.iter().map(|source| size_of_val(&*source.vertices));
        size_of_val(&*self.positions)
            + size_of_val(&*self.normals)
            + size_of_val(&*self.tangents)
            + size_of_val(&*self.tex_coords)
            + size_of_val(&*self.colors)
            + size_of_val(&*self.influence_starts)
            + size_of_val(&*self.influences)
            + size_of_val(&*self.morph_delta_starts)
            + size_of_val(&*self.morph_deltas)
            + size_of_val(&*self.indices)
            + size_of_val(&*self.draw_ranges)
            + of_sources.sum::<usize>()
            + of_levels.sum::<usize>()
    }
}
