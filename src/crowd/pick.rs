//! Picking: the first character along a ray, exactly as it is posed; and the data of instances, for people and for other
//! programs.
//!
//! In: a ray, and a time to which [`Crowd::move_to`] has moved the instances. Out: the instance, and the point of its surface.
//! All triangles count, in full detail and from both sides. Materials do not matter.
//!
//! The ray is tested with the bounding spheres of all instances. Those that it enters are sorted by distance, skinned one
//! by one and tested triangle by triangle. The search stops at the first sphere that begins behind the best hit.

use glam::{Affine3A, Vec3};

use super::parts::{Lists, Part};
use super::playback::{clip_of, duration_of};
use super::shape::Skinner;
use super::sight::{VisibleInstance, VisiblePose};
use super::{Crowd, Instance};
use crate::measure::{first_hit, posed_triangles};
use crate::view::Ray;

/// The point of a character that a ray meets first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Picked {
    /// The number of the instance: see [`ShownInstance::number`].
    pub instance: u32,
    /// The distance from the start of the ray in metres.
    pub distance: f32,
    pub position_world: Vec3,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShownInstance {
    /// The number of the instance, counted from the centre of the crowd. It stays the same when the clips change, unlike the
    /// index in [`Crowd::instance_states`].
    pub number: u32,
    /// The index in [`Crowd::instance_states`], until the clips change.
    pub index: u32,
    pub model: u32,
    /// The index of the clip; `None` is the rest pose. In a crossfade it is the clip that was chosen last.
    pub clip: Option<u32>,
    pub clip_seconds: f64,
    /// The share of the clip's duration at which the instance starts, 0 to 1.
    pub phase: f32,
    /// The number of the pose. Instances that share a pose have the same number.
    pub pose: u32,
    /// The level of detail in the camera's view, if the last [`Crowd::cull`] found the instance there.
    pub level: Option<u32>,
    pub world_from_model: Affine3A,
    /// The centre of a sphere that contains the instance throughout its clips, in world space.
    pub center_world: Vec3,
    pub radius: f32,
}

/// The state of one instance. At a time in seconds it shows its clip at `start_seconds + time * speed`, and the clip repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InstanceState {
    pub model: u32,
    /// The index of the clip; `None` is the rest pose.
    pub clip: Option<u32>,
    /// The time in the clip at the time 0, in seconds.
    pub start_seconds: f64,
    /// The placement since the last [`Crowd::move_to`].
    pub world_from_model: Affine3A,
    /// The multiplier of the base colour, in linear RGB.
    pub tint: Vec3,
}

impl Crowd {
    /// Iterates over all instances, visible or not, sorted by model, by clip and by pose.
    pub fn instance_states(&self) -> impl Iterator<Item = InstanceState> {
        self.instances.iter().map(|instance| {
            let [red, green, blue, _] = instance.tint_unorm8.to_le_bytes();
            InstanceState {
                model: instance.model,
                clip: instance.clip,
                start_seconds: instance.start_seconds,
                world_from_model: self.world_from_model(instance),
                tint: Vec3::from([red, green, blue].map(f32::from)) / 255.0,
            }
        })
    }

    /// Returns the first character along `ray` at `time_seconds`, or `None` if the ray meets none.
    pub fn pick(&self, ray: &Ray, time_seconds: f64) -> Option<Picked> {
        let (index, distance) = self.first_hit(ray, time_seconds, f32::INFINITY)?;
        let position_world = ray.origin + ray.direction * distance;
        Some(Picked { instance: self.instances[index].rank, distance, position_world })
    }

    /// Returns the instance with a number at `time_seconds`, or `None` if there are fewer instances.
    pub fn shown_instance(&self, number: u32, time_seconds: f64) -> Option<ShownInstance> {
        let index = self.index_of(number)?;
        let instance = &self.instances[index];
        let clip = clip_of(&self.models[instance.model as usize], instance.clip);
        let clip_seconds = instance.start_seconds + self.clip_seconds(time_seconds);
        Some(ShownInstance {
            number,
            index: index as u32,
            model: instance.model,
            clip: instance.clip,
            clip_seconds: super::wrap_seconds(clip_seconds, duration_of(clip)),
            phase: instance.phase,
            pose: instance.pose,
            level: self.pose_of_seen(index as u32).map(|pose| pose.levels.camera),
            world_from_model: self.world_from_model(instance),
            center_world: self.center_of(instance),
            radius: instance.radius,
        })
    }

    /// Returns the index of the instance with a number among those that the last [`Crowd::cull`] found in the camera's view,
    /// in the order of [`Crowd::write_instances`]. The list is sorted by the keys of poses, and by instance within a key, so this
    /// takes logarithmic time.
    pub fn seen_index(&self, number: u32) -> Option<u32> {
        let Lists { poses, instances, seen_count } = &self.visible.lists;
        let key = |pose: &VisiblePose, instance: u32| (pose.model, pose.levels, pose.has_morphs, instance);
        let key_of = |seen: &VisibleInstance| key(&poses[seen.pose as usize], seen.instance);
        let instance = self.index_of(number)? as u32;
        let wanted = key(&self.pose_of_seen(instance)?, instance);
        instances[..*seen_count].binary_search_by_key(&wanted, key_of).ok().map(|index| index as u32)
    }

    fn pose_of_seen(&self, instance: u32) -> Option<VisiblePose> {
        Part::pose_of_seen(&self.visible.parts, instance)
    }

    /// Overwrites `positions_world` with the position of each node of the instance with a number, in the order of
    /// [`Skeleton::names`](crate::model::Skeleton::names), as it is posed at `time_seconds`. Without such an instance there
    /// are none.
    pub fn node_positions(&self, number: u32, time_seconds: f64, positions_world: &mut Vec<Vec3>) {
        positions_world.clear();
        let Some(instance) = self.index_of(number).map(|index| &self.instances[index]) else { return };
        let world_from_model = self.world_from_model(instance);
        let mut skinner = Skinner::new(self);
        let nodes = skinner.pose(instance, time_seconds).model_from_node;
        positions_world.extend(nodes.iter().map(|node| world_from_model.transform_point3(node.translation.into())));
    }

    pub(super) fn index_of(&self, number: u32) -> Option<usize> {
        self.index_of_rank.get(number as usize).map(|&index| index as usize)
    }

    /// Returns the centre of an instance's bounding sphere in world space, where the instance is now.
    pub(super) fn center_of(&self, instance: &Instance) -> Vec3 {
        self.routes[instance.route as usize].moved(instance.center_world, &instance.placement)
    }

    /// Returns the index of the first instance along a ray, and its distance, if it is nearer than `limit`.
    pub(super) fn first_hit(&self, ray: &Ray, time_seconds: f64, limit: f32) -> Option<(usize, f32)> {
        let entry = |instance: &Instance| {
            let to_center = self.center_of(instance) - ray.origin;
            let along = to_center.dot(ray.direction);
            // The distance from the centre, and not a difference of squares, which would be inexact far away.
            let inside = instance.radius.powi(2) - (to_center - ray.direction * along).length_squared();
            (inside >= 0.0 && along + inside.sqrt() > 0.0).then(|| along - inside.sqrt())
        };
        let mut candidates: Vec<(f32, usize)> =
            self.instances.iter().enumerate().filter_map(|(index, one)| Some((entry(one)?, index))).collect();
        candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (origin, direction) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
        let mut first = None;
        let mut nearest = f64::from(limit);
        let mut skinner = Skinner::new(self);
        for (entry, index) in candidates {
            if f64::from(entry) > nearest {
                break;
            }
            let instance = &self.instances[index];
            let geometry = &self.models[instance.model as usize].geometry;
            let vertices = skinner.vertices_world(instance, time_seconds);
            let hit = first_hit(posed_triangles(geometry, vertices), origin, direction);
            if let Some(distance) = hit.filter(|distance| *distance < nearest) {
                (nearest, first) = (distance, Some(index));
            }
        }
        first.map(|index| (index, nearest as f32))
    }
}
