//! The levels of detail, with the error of each.

use serde::Serialize;

use super::bounds_facts::BoundsFacts;
use crate::model::{Geometry, Model, Topology};

/// A level of detail.
#[derive(Debug, Serialize)]
pub(super) struct LevelFacts {
    /// 0 is full detail.
    pub level: usize,
    pub triangles: usize,
    /// The number of vertices that a pose of the level skins.
    pub vertices: usize,
    /// The largest distance from full detail in any pose, in units of model space.
    pub error: f32,
    /// The error as a share of the height of the rest pose; `None` if that has no height.
    pub error_by_height: Option<f32>,
}

impl LevelFacts {
    /// Describes full detail and all coarser levels. `bounds` is the box of the rest pose.
    pub fn of(model: &Model, bounds: Option<BoundsFacts>) -> Vec<Self> {
        let geometry = &model.geometry;
        let height = bounds.map(|bounds| bounds.height).filter(|&height| height > 0.0);
        let full = Self {
            level: 0,
            triangles: geometry.triangle_count(),
            vertices: geometry.vertex_count(),
            error: 0.0,
            error_by_height: height.map(|_| 0.0),
        };
        let coarser = geometry.coarser_levels.iter().enumerate().map(|(index, level)| Self {
            level: index + 1,
            triangles: triangle_count(geometry, &level.ranges),
            vertices: level.vertex_count as usize,
            error: level.error,
            error_by_height: height.map(|height| level.error / height),
        });
        std::iter::once(full).chain(coarser).collect()
    }
}

fn triangle_count(geometry: &Geometry, ranges: &[std::ops::Range<u32>]) -> usize {
    let ranges = geometry.draw_ranges.iter().zip(ranges).filter(|(drawn, _)| drawn.topology == Topology::Triangles);
    ranges.map(|(_, range)| range.len() / 3).sum()
}
