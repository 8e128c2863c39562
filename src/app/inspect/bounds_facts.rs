//! The bounding box of the rest pose.

use glam::Vec3;
use serde::Serialize;

use crate::animation::{PoseScratch, pose_model, skinned_positions};
use crate::model::Model;

/// The axis-aligned box around all vertices of the rest pose, in metres: the unit of glTF. +Y is up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct BoundsFacts {
    pub min: [f32; 3],
    pub max: [f32; 3],
    /// The distance from the lowest to the highest vertex.
    pub height: f32,
}

impl BoundsFacts {
    /// Returns the box, or `None` for a model without vertices or with a rest pose that overflows.
    pub fn of(model: &Model) -> Option<Self> {
        let mut positions: Vec<Vec3> = Vec::new();
        skinned_positions(model, pose_model(model, None, 0.0, &mut PoseScratch::for_model(model)), &mut positions);
        let first = *positions.first()?;
        let (min, max) = positions.iter().fold((first, first), |(min, max), &p| (min.min(p), max.max(p)));
        // A NaN does not become the smallest or the largest coordinate.
        let is_finite = positions.iter().all(|position| position.is_finite()) && (max - min).is_finite();
        is_finite.then(|| Self { min: min.to_array(), max: max.to_array(), height: max.y - min.y })
    }
}
