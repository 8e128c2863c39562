//! Which vertices are the same point of the surface.
//!
//! meshoptimizer moves all vertices at equal positions together, because they are usually the sides of a seam. So the
//! positions of vertices become equal if and only if they are the same point: if they have the same bind position and are
//! near each other in all poses. Such positions may differ by rounding, if their influences are in another order, and would
//! be ends of a crack. Other vertices are at equal positions by chance, such as two swords in one hand. They part in other
//! poses, so they are moved apart a little.

use std::collections::HashMap;

use glam::Vec3A;

use super::parts::position_bits;
use crate::model::Geometry;

/// The largest distance between vertices that are the same point, as a share of the extent: in the rest pose, and in other
/// poses, where the sides of a seam may have slightly different influences.
const NEAR_SHARE: f32 = 1e-5;
const POSED_NEAR_SHARE: f32 = 1e-2;
/// The largest number of vertices with which a vertex is compared, which bounds the time.
const MOST_COMPARED: usize = 32;

/// Makes positions in the rest pose equal if and only if they are the same point. `posed` has the positions in other poses.
pub(super) fn separate_points(geometry: &Geometry, positions: &mut [Vec3A], posed: &[Vec<Vec3A>], extent: f32) {
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
