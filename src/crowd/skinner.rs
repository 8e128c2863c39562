//! One instance after the other, skinned on the CPU in full detail: for everything that needs exact shapes.
//!
//! In: an instance and a time. Out: its vertices as they are shown, blends included. The renderer does not need any of this.

use glam::{Affine3A, Vec3};

use super::{Crowd, Instance};
use crate::animation::{ModelPose, PoseScratch, pose_blend, skinned_positions};

/// Skins one instance at a time.
pub(super) struct Skinner<'c> {
    crowd: &'c Crowd,
    scratch: PoseScratch,
    positions: Vec<Vec3>,
}

impl<'c> Skinner<'c> {
    pub fn new(crowd: &'c Crowd) -> Self {
        Self { crowd, scratch: PoseScratch::for_models(&crowd.models), positions: Vec::new() }
    }

    /// Returns the pose that an instance shows.
    pub fn pose(&mut self, instance: &Instance, time_seconds: f64) -> ModelPose<'_> {
        let shown = self.crowd.shown(instance, time_seconds);
        pose_blend(&self.crowd.models[instance.model as usize], &shown, &mut self.scratch)
    }

    /// Returns the vertices of an instance in world space.
    pub fn vertices_world(&mut self, instance: &Instance, time_seconds: f64) -> &[Vec3] {
        let model = &self.crowd.models[instance.model as usize];
        let shown = self.crowd.shown(instance, time_seconds);
        skinned_positions(model, pose_blend(model, &shown, &mut self.scratch), &mut self.positions);
        let world_from_model = self.crowd.world_from_model(instance);
        for position in &mut self.positions {
            *position = world_from_model.transform_point3(*position);
        }
        &self.positions
    }
}

impl Crowd {
    /// Returns the placement of an instance since the last [`Crowd::move_to`].
    pub(super) fn world_from_model(&self, instance: &Instance) -> Affine3A {
        instance.placement.turned(self.rings[instance.ring as usize].turn).world_from_model()
    }
}
