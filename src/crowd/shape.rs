//! The exact shape of the crowd at some time, skinned on the CPU in full detail, blends included: for framing, and to find out
//! what the camera looks at.
//!
//! In: a time, to which [`Crowd::move_to`] has moved the instances. Out: points in the world. The renderer does not need
//! any of this.

use std::collections::BTreeSet;
use std::f32::consts::TAU;

use glam::{Affine3A, Vec3};

use super::{Crowd, Instance};
use crate::animation::winding::mirrored_by_clips;
use crate::animation::{ModelPose, PoseScratch, pose_blend, skinned_positions};
use crate::model::{Model, Topology};
use crate::view::{Frustum, OrbitCamera, Outline, Ray};

/// The largest number of instances whose vertices form an outline.
const MAX_OUTLINE_INSTANCES: usize = 64;

pub(super) struct Skinner<'c> {
    crowd: &'c Crowd,
    scratch: PoseScratch,
    positions: Vec<Vec3>,
}

impl<'c> Skinner<'c> {
    pub fn new(crowd: &'c Crowd) -> Self {
        Self { crowd, scratch: PoseScratch::for_models(&crowd.models), positions: Vec::new() }
    }

    pub fn pose(&mut self, instance: &Instance, time_seconds: f64) -> ModelPose<'_> {
        let shown = self.crowd.shown(instance, time_seconds);
        pose_blend(&self.crowd.models[instance.model as usize], &shown, &mut self.scratch)
    }

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
        self.routes[instance.route as usize].placed(instance.placement).world_from_model()
    }

    /// Returns the outline of the crowd at `time_seconds`, for a camera that frames it: the vertices of a small crowd, or of
    /// the outermost instances of a large one, which surround the others.
    pub fn outline(&self, time_seconds: f64) -> Outline {
        let mut skinner = Skinner::new(self);
        let mut vertices = Vec::new();
        for index in self.outermost() {
            let of_instance = skinner.vertices_world(&self.instances[index], time_seconds);
            vertices.extend(of_instance.iter().filter(|vertex| vertex.is_finite()));
        }
        Outline::new(vertices, self.bounds)
    }

    /// Returns whether an image of a shape shows anything of a small crowd: a surface that faces the camera, or is seen from
    /// both sides. A large crowd does in any case.
    pub fn is_in_image(&self, camera: &OrbitCamera, aspect: f32, time_seconds: f64) -> bool {
        const MOST_INSTANCES: usize = 16;
        /// About a pixel, in steradians.
        const LEAST: f32 = 1e-6;
        let (frustum, eye) = (Frustum::from_clip_from_world(camera.clip_from_world(aspect)), camera.position());
        let mut skinner = Skinner::new(self);
        let is_seen = |instance: &Instance| {
            let Model { geometry, materials, .. } = &self.models[instance.model as usize];
            let is_either = mirrored_by_clips(&self.models[instance.model as usize]);
            let vertices = skinner.vertices_world(instance, time_seconds);
            let mut seen = 0.0;
            geometry.draw_ranges.iter().zip(is_either).any(|(range, is_either)| {
                let is_double = is_either || materials.get(range.material as usize).is_some_and(|own| own.double_sided);
                let first = range.first_index as usize;
                let indices = &geometry.indices[first..first + range.index_count as usize];
                let point = |index: &u32| vertices[*index as usize];
                if range.topology != Topology::Triangles {
                    return indices.iter().any(|index| frustum.intersects_sphere(point(index), 0.0));
                }
                indices.as_chunks::<3>().0.iter().any(|[a, b, c]| {
                    let [a, b, c] = [a, b, c].map(point);
                    let to_eye = eye - a;
                    let facing = (b - a).cross(c - a).dot(if range.mirrored { -to_eye } else { to_eye });
                    let area = if is_double { facing.abs() } else { facing.max(0.0) } / (2.0 * to_eye.length().powi(3));
                    if area > 0.0 && frustum.intersects_sphere(a, a.distance(b).max(a.distance(c))) {
                        seen += area;
                    }
                    seen > LEAST
                })
            })
        };
        self.instances.len() > MOST_INSTANCES || self.instances.iter().any(is_seen)
    }

    /// Returns the centre and the radius of a sphere around the instance with a number, as it is posed at `time_seconds`: the
    /// middle of its vertices, and the distance of the farthest one. `None` without such an instance or without vertices.
    pub fn posed_sphere(&self, number: u32, time_seconds: f64) -> Option<(Vec3, f32)> {
        let instance = &self.instances[self.index_of(number)?];
        let mut skinner = Skinner::new(self);
        let vertices = skinner.vertices_world(instance, time_seconds);
        let finite = || vertices.iter().copied().filter(|point| point.is_finite());
        let center = (finite().reduce(Vec3::min)? + finite().reduce(Vec3::max)?) * 0.5;
        Some((center, finite().map(|point| point.distance(center)).fold(0.0, f32::max)))
    }

    /// Returns `world_from_node`, and the radius of the character, of [`Self::middle_with`]. `None` if there is no such node,
    /// or if it is not at a finite place.
    pub fn node_in_world(&self, nodes: &[Option<u32>], time_seconds: f64) -> Option<(Affine3A, f32)> {
        let (instance, node) = self.middle_with(nodes)?;
        let model_from_node = *Skinner::new(self).pose(instance, time_seconds).model_from_node.get(node as usize)?;
        let world_from_node = self.world_from_model(instance) * model_from_node;
        world_from_node.is_finite().then_some((world_from_node, instance.radius))
    }

    /// Returns the outline of a limb: of the vertices that follow a joint or a node below it more than any other, of
    /// [`Self::middle_with`]. If these are most of the body, only those of the joint count. If there are none, it is around the
    /// joint itself.
    pub fn part_in_world(&self, nodes: &[Option<u32>], time_seconds: f64) -> Option<Outline> {
        /// The radius of a joint's surroundings, as a share of the character's.
        const SURROUNDINGS: f32 = 0.15;
        let (instance, node) = self.middle_with(nodes)?;
        let Model { geometry, palette, skeleton, .. } = &self.models[instance.model as usize];
        let strongest =
            |&first: &u32| palette.nodes.get(geometry.influences.get(first as usize)?.joint as usize).copied();
        // Parents come before their children.
        let mut below = vec![false; skeleton.len()];
        for other in 0..below.len() {
            below[other] = other == node as usize || skeleton.parent(other).is_some_and(|parent| below[parent]);
        }
        let mut skinner = Skinner::new(self);
        let vertices = skinner.vertices_world(instance, time_seconds).iter().zip(&geometry.influence_starts);
        let of = |belongs: &dyn Fn(u32) -> bool| -> Vec<Vec3> {
            let belonging = vertices.clone().filter(|(_, first)| strongest(first).is_some_and(belongs));
            belonging.map(|(vertex, _)| *vertex).filter(|vertex| vertex.is_finite()).collect()
        };
        let (limb, own) = (of(&|other| below[other as usize]), of(&|other| other == node));
        let is_most = 2 * limb.len() > geometry.vertex_count() && !own.is_empty();
        Outline::of_part(if is_most { own } else { limb }).or_else(|| {
            let (world_from_node, radius) = self.node_in_world(nodes, time_seconds)?;
            let (center, reach) = (Vec3::from(world_from_node.translation), Vec3::splat(SURROUNDINGS * radius));
            Outline::of_part(vec![center - reach, center + reach])
        })
    }

    /// Returns the instance next to the middle of the crowd, among those whose model has a node, with that node. `nodes` has
    /// the skeleton's node of each model.
    fn middle_with(&self, nodes: &[Option<u32>]) -> Option<(&Instance, u32)> {
        let middle = self.bounds.center();
        let from_middle = |instance: &Instance| (self.center_of(instance) - middle).with_y(0.0).length_squared();
        let node = |instance: &Instance| nodes.get(instance.model as usize).copied().flatten();
        let instances = self.instances.iter().filter_map(|instance| Some((instance, node(instance)?)));
        instances.min_by(|(a, _), (b, _)| from_middle(a).total_cmp(&from_middle(b)))
    }

    /// Returns the indices of the instances that reach farthest in some horizontal direction, or of all in a small crowd.
    fn outermost(&self) -> BTreeSet<usize> {
        if self.instances.len() <= MAX_OUTLINE_INSTANCES {
            return (0..self.instances.len()).collect();
        }
        let farthest = |step: usize| {
            let (sin, cos) = (TAU * step as f32 / MAX_OUTLINE_INSTANCES as f32).sin_cos();
            let reach = |instance: &Instance| self.center_of(instance).dot(Vec3::new(cos, 0.0, sin)) + instance.radius;
            let reaches = self.instances.iter().map(reach).enumerate();
            reaches.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
        };
        (0..MAX_OUTLINE_INSTANCES).filter_map(farthest).collect()
    }

    /// Returns the distance from `origin` to the first character or the ground along the unit vector `direction`, at
    /// `time_seconds`. `None` if the ray leaves the scene.
    pub fn distance_along(&self, origin: Vec3, direction: Vec3, time_seconds: f64) -> Option<f32> {
        let ground = -origin.y / direction.y;
        let ground = if ground > 0.0 { ground } else { f32::INFINITY };
        let character = self.first_hit(&Ray { origin, direction }, time_seconds, ground);
        let first = character.map_or(ground, |(_, distance)| distance);
        first.is_finite().then_some(first)
    }
}
