//! The exact shape of the crowd at some time, skinned on the CPU: for framing, and to find out what the camera looks at.
//!
//! In: a time, to which [`Crowd::move_to`] has moved the instances. Out: points in the world. The renderer does not need
//! any of this.

use std::f32::consts::TAU;

use glam::Vec3;

use super::placement::turned;
use super::{Crowd, Instance};
use crate::animation::{PoseScratch, pose_blend, skinned_positions};
use crate::model::Topology;
use crate::view::Outline;

/// The largest number of instances whose vertices form an outline.
const MAX_OUTLINE_INSTANCES: usize = 64;

/// Skins one instance at a time.
struct Skinner<'c> {
    crowd: &'c Crowd,
    scratch: PoseScratch,
    positions: Vec<Vec3>,
}

impl<'c> Skinner<'c> {
    fn new(crowd: &'c Crowd) -> Self {
        Self { crowd, scratch: PoseScratch::for_models(&crowd.models), positions: Vec::new() }
    }

    /// Returns the vertices of an instance in world space.
    fn vertices_world(&mut self, instance: &Instance, time_seconds: f64) -> &[Vec3] {
        let model = &self.crowd.models[instance.model as usize];
        let sources = self.crowd.shown_clips(time_seconds).sources(instance);
        let pose = pose_blend(model, &sources, &mut self.scratch);
        skinned_positions(model, pose, &mut self.positions);
        let turn = self.crowd.rings[instance.ring as usize].turn;
        let world_from_model = instance.placement.turned(turn).world_from_model();
        for position in &mut self.positions {
            *position = world_from_model.transform_point3(*position);
        }
        &self.positions
    }
}

impl Crowd {
    /// Returns the outline of the crowd at `time_seconds`, for a camera that frames it: the vertices of a small crowd, or of
    /// the outermost instances of a large one, which surround the others.
    #[must_use]
    pub fn outline(&self, time_seconds: f64) -> Outline {
        let mut skinner = Skinner::new(self);
        let mut vertices = Vec::new();
        for index in self.outermost() {
            let of_instance = skinner.vertices_world(&self.instances[index], time_seconds);
            vertices.extend(of_instance.iter().filter(|vertex| vertex.is_finite()));
        }
        Outline::new(vertices, self.bounds)
    }

    /// Returns the centre of an instance's bounding sphere in world space, where the instance is now.
    fn center_of(&self, instance: &Instance) -> Vec3 {
        turned(instance.center_world, self.rings[instance.ring as usize].turn)
    }

    /// Returns the indices of the instances that reach farthest in some horizontal direction, or of all in a small crowd.
    fn outermost(&self) -> Vec<usize> {
        if self.instances.len() <= MAX_OUTLINE_INSTANCES {
            return (0..self.instances.len()).collect();
        }
        let mut chosen: Vec<usize> = (0..MAX_OUTLINE_INSTANCES)
            .filter_map(|step| {
                let (sin, cos) = (TAU * step as f32 / MAX_OUTLINE_INSTANCES as f32).sin_cos();
                let reach =
                    |instance: &Instance| self.center_of(instance).dot(Vec3::new(cos, 0.0, sin)) + instance.radius;
                let reaches = self.instances.iter().map(reach).enumerate();
                reaches.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
            })
            .collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Returns the distance from `origin` to the first character or the ground along the unit vector `direction`, at
    /// `time_seconds`. `None` if the ray leaves the scene.
    #[must_use]
    pub fn distance_along(&self, origin: Vec3, direction: Vec3, time_seconds: f64) -> Option<f32> {
        let entry = |instance: &Instance| {
            let to_center = self.center_of(instance) - origin;
            let along = to_center.dot(direction);
            let inside = instance.radius.powi(2) - (to_center.length_squared() - along * along);
            (inside >= 0.0 && along + inside.sqrt() > 0.0).then(|| along - inside.sqrt())
        };
        let mut candidates: Vec<(f32, &Instance)> =
            self.instances.iter().filter_map(|instance| Some((entry(instance)?, instance))).collect();
        candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let ground = -origin.y / direction.y;
        let mut first = if ground > 0.0 { ground } else { f32::INFINITY };
        let mut skinner = Skinner::new(self);
        for (entry, instance) in candidates {
            if entry > first {
                break;
            }
            let geometry = &self.models[instance.model as usize].geometry;
            let vertices = skinner.vertices_world(instance, time_seconds);
            for range in geometry.draw_ranges.iter().filter(|range| range.topology == Topology::Triangles) {
                let start = range.first_index as usize;
                for corners in geometry.indices[start..start + range.index_count as usize].chunks_exact(3) {
                    let [a, b, c] = [0, 1, 2].map(|k| vertices[corners[k] as usize]);
                    first = distance_to_triangle(origin, direction, [a, b, c]).map_or(first, |hit| first.min(hit));
                }
            }
        }
        first.is_finite().then_some(first)
    }
}

/// Returns the distance to a triangle along a ray, from either side (Möller and Trumbore, "Fast, Minimum Storage
/// Ray/Triangle Intersection", 1997).
fn distance_to_triangle(origin: Vec3, direction: Vec3, [a, b, c]: [Vec3; 3]) -> Option<f32> {
    let (ab, ac) = (b - a, c - a);
    let across = direction.cross(ac);
    let inverse = ab.dot(across).recip();
    let from_a = origin - a;
    let u = from_a.dot(across) * inverse;
    let around = from_a.cross(ab);
    let v = direction.dot(around) * inverse;
    let distance = ac.dot(around) * inverse;
    (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0).then_some(distance)
}
