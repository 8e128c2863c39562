//! Visibility: which instances the camera and the light see, and which poses these instances show.
//!
//! In: the frustum and the direction of the light. Out: the visible poses and the visible instances, rebuilt in place each
//! frame without allocating. Usually each instance has its own pose. With shared poses, several instances show one. The
//! list of instances that the camera may see comes first. The second list has the instances of which only the shadow may be
//! visible, and only the light draws them.
//!
//! Invariant: instances are sorted by pose, so both lists are too, and poses are grouped by model and by clip.

use glam::Vec3;

use super::placement::turned;
use super::{Crowd, Instance};
use crate::animation::lanes::GROUP_INSTANCES;
use crate::model::Model;
use crate::view::Frustum;

/// The largest number of poses in a block: whole groups of lanes, and few enough to divide 100 poses among threads.
pub(super) const BLOCK_POSES: usize = 2 * GROUP_INSTANCES;

/// A pose that at least one visible instance shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisiblePose {
    /// Index of the model.
    pub model: u32,
    /// The number of its instances that the camera may see.
    pub seen_count: u32,
    /// The number of its instances of which only the shadow may be visible.
    pub shadow_only_count: u32,
    /// One of its instances, whose clip and start time are those of the pose.
    pub(super) instance: u32,
}

impl VisiblePose {
    /// Returns a pose for a frame plan without a crowd. [`Crowd::evaluate`] does not accept it.
    #[must_use]
    pub fn new(model: u32, seen_count: u32, shadow_only_count: u32) -> Self {
        Self { model, seen_count, shadow_only_count, instance: u32::MAX }
    }
}

/// An instance in the lists of visible instances.
#[derive(Debug, Clone, Copy)]
pub(super) struct VisibleInstance {
    /// Index of the instance in the crowd.
    pub instance: u32,
    /// Index of its pose among the visible poses.
    pub pose: u32,
}

/// Consecutive visible poses of one model and clip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Index of the model.
    pub model: u32,
    /// Index of the clip; `None` is the rest pose.
    pub clip: Option<u32>,
    /// Index of the first pose.
    pub first: u32,
    /// The number of poses, at most [`BLOCK_POSES`].
    pub count: u32,
}

impl Block {
    /// Returns the largest number of blocks of a crowd: full blocks, and one partial block for each clip of each model.
    fn max_count(pose_count: usize, clip_count: usize) -> usize {
        pose_count / BLOCK_POSES + clip_count.min(pose_count)
    }

    /// Refills `blocks` for visible poses, which are grouped by model and clip.
    fn divide(poses: &[VisiblePose], instances: &[Instance], blocks: &mut Vec<Self>) {
        blocks.clear();
        for (pose, visible) in poses.iter().enumerate() {
            let Instance { model, clip, .. } = instances[visible.instance as usize];
            match blocks.last_mut() {
                Some(last) if (last.model, last.clip) == (model, clip) && last.count < BLOCK_POSES as u32 => {
                    last.count += 1;
                }
                _ => blocks.push(Self { model, clip, first: pose as u32, count: 1 }),
            }
        }
    }
}

/// The visible part of a crowd. See the module.
#[derive(Debug, Default)]
pub(super) struct Visible {
    /// The visible poses, grouped by model and clip.
    pub poses: Vec<VisiblePose>,
    /// The instances that the camera may see, in ascending order.
    pub seen: Vec<VisibleInstance>,
    /// The instances of which only the shadow may be visible, in ascending order.
    pub shadow_only: Vec<VisibleInstance>,
    /// The number of visible poses of each model.
    pub pose_counts: Vec<u32>,
    /// The number of visible instances of each model, in both lists.
    pub instance_counts: Vec<u32>,
    /// The poses, divided into blocks.
    pub blocks: Vec<Block>,
}

impl Visible {
    /// Allocates room for the case that all instances are visible and each has its own pose.
    pub fn with_capacity(instances: usize, models: &[Model]) -> Self {
        let clips = models.iter().map(|model| 1 + model.clips.len()).sum();
        Self {
            poses: Vec::with_capacity(instances),
            seen: Vec::with_capacity(instances),
            shadow_only: Vec::with_capacity(instances),
            pose_counts: vec![0; models.len()],
            instance_counts: vec![0; models.len()],
            blocks: Vec::with_capacity(Block::max_count(instances, clips)),
        }
    }

    fn clear(&mut self) {
        self.poses.clear();
        self.seen.clear();
        self.shadow_only.clear();
        self.pose_counts.fill(0);
        self.instance_counts.fill(0);
    }

    /// Appends an instance. Instances are appended in ascending order.
    fn push(&mut self, index: u32, instances: &[Instance], is_seen: bool) {
        let Instance { model, pose, .. } = instances[index as usize];
        if self.poses.last().is_none_or(|last| instances[last.instance as usize].pose != pose) {
            self.poses.push(VisiblePose { model, seen_count: 0, shadow_only_count: 0, instance: index });
            self.pose_counts[model as usize] += 1;
        }
        self.instance_counts[model as usize] += 1;
        let visible = VisibleInstance { instance: index, pose: self.poses.len() as u32 - 1 };
        if let Some(last) = self.poses.last_mut() {
            if is_seen {
                last.seen_count += 1;
                self.seen.push(visible);
            } else {
                last.shadow_only_count += 1;
                self.shadow_only.push(visible);
            }
        }
    }
}

impl Crowd {
    /// Lists the instances whose bounding spheres may intersect the frustum; `None` lists all. With `to_light`, the unit
    /// vector towards the light, it also lists the instances whose shadows on the ground may be in the frustum. The order
    /// is the same in every frame.
    pub fn cull(&mut self, frustum: Option<&Frustum>, to_light: Option<Vec3>) {
        let to_light = to_light.filter(|to_light| to_light.y > 0.0);
        let Self { instances, rings, visible, .. } = self;
        visible.clear();
        for (index, instance) in instances.iter().enumerate() {
            let center = turned(instance.center_world, rings[instance.ring as usize].turn);
            let radius = instance.radius;
            let is_seen = frustum.is_none_or(|frustum| frustum.intersects_sphere(center, radius));
            let casts_shadow_into = |frustum: &Frustum, to_light: Vec3| {
                let sweep = to_light * ((-center.y).min(0.0) / to_light.y);
                frustum.intersects_swept_sphere(center, sweep, radius)
            };
            if is_seen || frustum.zip(to_light).is_some_and(|(frustum, light)| casts_shadow_into(frustum, light)) {
                visible.push(index as u32, instances, is_seen);
            }
        }
        Block::divide(&visible.poses, instances, &mut visible.blocks);
    }

    /// Returns the visible poses, in the order of their [`PoseRecord`](crate::shader_types::PoseRecord)s.
    #[must_use]
    pub fn visible_poses(&self) -> &[VisiblePose] {
        &self.visible.poses
    }

    /// Returns the number of visible instances of each model, including those of which only the shadow is visible.
    #[must_use]
    pub fn visible_counts(&self) -> &[u32] {
        &self.visible.instance_counts
    }

    /// Returns the number of visible poses of each model.
    #[must_use]
    pub fn pose_counts(&self) -> &[u32] {
        &self.visible.pose_counts
    }
}
