//! From many triangles to fewer, over a part of the same vertices, by quadrics.
//!
//! meshoptimizer collapses edges onto one of their ends, the cheapest first. The cost is measured by quadrics of the
//! positions in the reference pose and of attributes (Garland and Heckbert 1997; Hoppe 1999). The attributes are normals,
//! texture coordinates, colours, and the positions in other poses. An attribute's quadric measures the departure from
//! linear interpolation across the surface, so that of a posed position measures the error in that pose (Mohr and Gleicher,
//! "Deformation Sensitive Decimation", 2003).
//!
//! Seams of texture coordinates may be collapsed (`Permissive`), at the cost of the attributes. Otherwise models with hard
//! edges or many charts would hardly shrink: most of their vertices are on seams.
//!
//! All draw ranges are simplified in one call. A vertex that several ranges use is a vertex for each of them here, so a
//! border between ranges is a seam of vertices at equal positions. Such vertices are protected: they move along the border,
//! both sides alike, so borders between materials do not open and no triangle changes its range.

use std::collections::HashMap;

use glam::{Vec3, Vec3A};
use meshopt::{SimplifyOptions, SimplifyVertex, VertexDataAdapter};

use super::moments::{Moment, MomentPoser};
use super::triangles::{Triangles, limits, position_bits};
use crate::animation::blended_matrix;
use crate::model::{Geometry, Model};

/// The weight of a unit normal, compared with a distance of the model's extent.
const NORMAL_WEIGHT: f32 = 0.3;
/// The weight of texture coordinates, where 1 is the size of the texture.
const TEX_COORD_WEIGHT: f32 = 0.3;
/// The weight of a colour's channel.
const COLOR_WEIGHT: f32 = 0.3;
/// The weight of all posed positions together.
const POSED_WEIGHT: f32 = 1.0;
/// The numbers of each vertex before the posed positions: normal, two texture coordinates, colour.
const FIXED: usize = 11;
/// The number of poses whose positions are attributes. Six leave no smaller errors than three, and take longer.
/// meshoptimizer has at most 32 attributes.
const MOST_POSES: usize = 3;

/// The largest distance between vertices that are the same point, as a share of the extent: in the rest pose, and in other
/// poses, where the sides of a seam may have slightly different influences.
const NEAR_SHARE: f32 = 1e-5;
const POSED_NEAR_SHARE: f32 = 1e-2;
/// The largest number of vertices with which a vertex is compared, which bounds the time.
const MOST_COMPARED: usize = 32;

/// The vertices of a model as the simplifier sees them.
pub(super) struct Reference {
    /// The positions in the reference pose, in model space.
    pub positions: Vec<Vec3A>,
    /// The largest side of the box around them.
    extent: f32,
    /// The attributes of each vertex, one vertex after the other.
    attributes: Vec<f32>,
    weights: Vec<f32>,
    /// Which of the two texture coordinates the material of each draw range samples.
    sampled: Vec<[bool; 2]>,
}

impl Reference {
    /// Prepares the vertices. `positions` are those of the rest pose, the first of the `moments`. Their extent is not 0,
    /// because points are moved apart by a share of it.
    pub fn new(model: &Model, mut positions: Vec<Vec3A>, moments: &[Moment]) -> Self {
        let geometry = &model.geometry;
        let mut poser = MomentPoser::new(model);
        let posed = moments[1..].iter().take(MOST_POSES).map(|&moment| poser.positions(moment));
        let posed: Vec<Vec<Vec3A>> = posed.collect();
        let extent = extent(&positions);
        separate_points(geometry, &mut positions, &posed, extent);
        let mut weights = vec![NORMAL_WEIGHT; 3];
        weights.resize(7, TEX_COORD_WEIGHT);
        weights.resize(FIXED, COLOR_WEIGHT);
        let pose_weight = POSED_WEIGHT / extent / (posed.len().max(1) as f32).sqrt();
        weights.resize(FIXED + 3 * posed.len(), pose_weight);
        let mut attributes = Vec::with_capacity(positions.len() * weights.len());
        let rest = poser.pose(Moment::Rest);
        for vertex in 0..positions.len() {
            let matrix = blended_matrix(geometry, vertex, rest);
            attributes.extend(matrix.transform_normal(geometry.normals[vertex]).normalize_or_zero().to_array());
            attributes.extend(geometry.tex_coords[vertex].iter().flat_map(|uv| uv.to_array()));
            attributes.extend(geometry.colors[vertex].map(|channel| f32::from(channel) / 255.0));
            attributes.extend(posed.iter().flat_map(|positions| positions[vertex].to_array()));
        }
        for attribute in attributes.iter_mut().filter(|attribute| !attribute.is_finite()) {
            *attribute = 0.0;
        }
        let sampled = geometry.draw_ranges.iter().map(|range| {
            let samples = |set| model.materials.get(range.material as usize).is_some_and(|m| m.samples(set));
            [0, 1].map(samples)
        });
        Self { positions, extent, attributes, weights, sampled: sampled.collect() }
    }

    /// Returns about `target` triangles, over a part of the vertices. `None` if a triangle would change its draw range.
    pub fn simplify(&self, triangles: &Triangles, target: usize) -> Option<Triangles> {
        let split = SplitVertices::new(triangles, self.positions.len());
        let positions: Vec<Vec3> =
            split.vertices.iter().map(|&vertex| self.positions[vertex as usize].into()).collect();
        let stride = self.weights.len();
        let mut attributes = Vec::with_capacity(split.vertices.len() * stride);
        for (&vertex, &range) in split.vertices.iter().zip(&split.ranges) {
            let first = attributes.len();
            attributes.extend_from_slice(&self.attributes[vertex as usize * stride..][..stride]);
            for (set, is_sampled) in self.sampled[range as usize].into_iter().enumerate() {
                if !is_sampled {
                    attributes[first + 3 + 2 * set..][..2].fill(0.0);
                }
            }
        }
        let locks = self.locks(&split);
        let adapter = VertexDataAdapter::new(bytemuck::cast_slice(&positions), size_of::<Vec3>(), 0).ok()?;
        let indices = meshopt::simplify_with_attributes_and_locks(
            &split.indices,
            &adapter,
            &attributes,
            &self.weights,
            stride * size_of::<f32>(),
            &locks,
            3 * target,
            self.extent,
            SimplifyOptions::ErrorAbsolute
                | SimplifyOptions::Permissive
                | SimplifyOptions::Prune
                | SimplifyOptions::PreserveFolds,
            None,
        );
        split.join(&indices, triangles.0.len())
    }

    /// Returns the protection of each split vertex. One such vertex decides for all at its position.
    fn locks(&self, split: &SplitVertices) -> Vec<SimplifyVertex> {
        let mut range_at = HashMap::<[u32; 3], u32>::with_capacity(split.vertices.len());
        let lock = |(vertex, &range): (&u32, &u32)| {
            let bits = position_bits(self.positions[*vertex as usize]);
            let is_border = *range_at.entry(bits).or_insert(range) != range;
            if is_border { SimplifyVertex::Protect } else { SimplifyVertex::None }
        };
        split.vertices.iter().zip(&split.ranges).map(lock).collect()
    }
}

/// The vertices of triangles, numbered from 0, once for each draw range.
struct SplitVertices {
    /// The vertex of the geometry for each split vertex.
    vertices: Vec<u32>,
    /// The draw range of each split vertex.
    ranges: Vec<u32>,
    /// The corners of the triangles as split vertices.
    indices: Vec<u32>,
}

impl SplitVertices {
    fn new(triangles: &Triangles, vertex_count: usize) -> Self {
        let mut split = Self { vertices: Vec::new(), ranges: Vec::new(), indices: Vec::new() };
        // The newest split vertex of each vertex.
        let mut newest = vec![u32::MAX; vertex_count];
        for (range, own) in triangles.0.iter().enumerate() {
            let first = split.vertices.len() as u32;
            for &vertex in own.as_flattened() {
                let newest = &mut newest[vertex as usize];
                if *newest < first || *newest == u32::MAX {
                    *newest = split.vertices.len() as u32;
                    split.vertices.push(vertex);
                    split.ranges.push(range as u32);
                }
                split.indices.push(*newest);
            }
        }
        split
    }

    /// Turns triangles of split vertices into triangles of the geometry.
    fn join(&self, indices: &[u32], range_count: usize) -> Option<Triangles> {
        let mut joined = vec![Vec::new(); range_count];
        for corners in indices.as_chunks::<3>().0 {
            let [a, b, c] = corners.map(|corner| self.ranges[corner as usize] as usize);
            if a != b || b != c {
                return None;
            }
            joined[a].push(corners.map(|corner| self.vertices[corner as usize]));
        }
        Some(Triangles(joined))
    }
}

/// Returns the largest side of the box around positions.
pub(super) fn extent(positions: &[Vec3A]) -> f32 {
    let (min, max) = limits(positions.iter().copied());
    (max - min).max_element()
}

/// Makes positions in the rest pose equal if and only if they are the same point of the surface. `posed`: those in other poses.
///
/// meshoptimizer moves all vertices at equal positions together, because they are usually the sides of a seam. Vertices are the
/// same point if they have the same bind position and are near each other in all poses. Their positions may differ by
/// rounding, if their influences are in another order, and would be ends of a crack. Other vertices are at equal positions by
/// chance, such as two swords in one hand. They part in other poses, so they are moved apart a little.
fn separate_points(geometry: &Geometry, positions: &mut [Vec3A], posed: &[Vec<Vec3A>], extent: f32) {
    let rest = positions.to_vec();
    let is_same = |a: usize, b: usize| {
        rest[a].distance(rest[b]) <= NEAR_SHARE * extent
            && posed.iter().all(|posed| posed[a].distance(posed[b]) <= POSED_NEAR_SHARE * extent)
    };
    // Vertices of the same bind position are in a row, and those near each other are close together in it.
    let binds: Vec<[u32; 3]> = geometry.positions.iter().map(|&bind| position_bits(bind.into())).collect();
    let mut order: Vec<usize> = (0..rest.len()).collect();
    let along = |a: usize, b: usize, axis: usize| rest[a][axis].total_cmp(&rest[b][axis]);
    order.sort_by(|&a, &b| binds[a].cmp(&binds[b]).then(along(a, b, 0)).then(along(a, b, 1)).then(along(a, b, 2)));
    // The number of points that were moved away from a position.
    let mut moved_from = HashMap::<[u32; 3], u32>::with_capacity(rest.len());
    for (index, &vertex) in order.iter().enumerate() {
        let before = order[..index].iter().rev().take(MOST_COMPARED).copied();
        let mut before = before.take_while(|&other| binds[other] == binds[vertex]);
        if let Some(other) = before.find(|&other| is_same(other, vertex)) {
            positions[vertex] = positions[other];
            continue;
        }
        let moved = &mut positions[vertex];
        while moved.is_finite() && moved_from.contains_key(&position_bits(*moved)) {
            let steps = moved_from.entry(position_bits(rest[vertex])).or_default();
            *steps += 1;
            moved.x = rest[vertex].x + *steps as f32 * f32::EPSILON * extent.max(rest[vertex].x.abs());
        }
        moved_from.insert(position_bits(*moved), 0);
    }
}
