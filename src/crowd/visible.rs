//! Visibility: which instances the camera and the light see, in which level of detail, and which poses these instances show.
//!
//! In: the frustum, the direction of the light, and the [`Detail`] that the picture needs. Out: the visible poses and the
//! visible instances, rebuilt in place each frame without allocating. Usually each instance has its own pose. With shared
//! poses, several instances show one. The list of instances that the camera may see comes first. The second list has the
//! instances of which only the shadow may be visible, and only the light draws them.
//!
//! # Levels of detail
//!
//! An instance needs the coarsest level whose error is small enough ([`coarsest_within`]). The camera and the light each
//! choose one. Instances that share a pose share the finest level that any of them needs, because they share its vertices.
//! A level depends on nothing but the frame, so pictures do not depend on the frames before.
//!
//! Invariants: poses are sorted by model, then by the camera's level, by the light's level, by clip and by pose. Both lists
//! of instances are in the order of their poses, and ascend within a pose. So consecutive poses of one model with the same
//! levels have consecutive instances, and within them poses of one clip are neighbours.

use glam::Vec3;

use super::crossfade::{ClipPair, Crossfade};
use super::placement::turned;
use super::{Crowd, Instance};
use crate::animation::lanes::GROUP_INSTANCES;
use crate::model::Model;
use crate::view::{Detail, Frustum};

/// The largest number of poses in a block: whole groups of lanes, and few enough to divide 100 poses among threads.
pub(super) const BLOCK_POSES: usize = 2 * GROUP_INSTANCES;

/// The levels of detail in which the instances of a pose are drawn; 0 is full detail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PoseLevels {
    /// The level in the camera's view.
    pub camera: u32,
    /// The level in the shadow map.
    pub light: u32,
}

impl PoseLevels {
    /// The levels of a pose that no view shows. All others are finer.
    const UNSHOWN: Self = Self { camera: u32::MAX, light: u32::MAX };

    /// Returns the finer one of both levels. Its vertices are skinned, and those of the other level are among them.
    #[must_use]
    pub fn finest(self) -> u32 {
        self.camera.min(self.light)
    }

    /// Gives a view that does not show the pose the level of the other view, so that it needs no separate batch.
    fn settled(self) -> Self {
        let or_other = |level: u32| if level == u32::MAX { self.finest() } else { level };
        Self { camera: or_other(self.camera), light: or_other(self.light) }
    }
}

/// Returns the coarsest level of an instance whose error is allowed, if all finer levels are allowed too. `errors` are those
/// of the coarser levels in units of model space. If no error is allowed, the level is 0 although another one may be exact.
fn coarsest_within(errors: &[f32], scale: f32, allowed_metres: f32) -> u32 {
    let is_allowed = |&&error: &&f32| allowed_metres > 0.0 && error * scale <= allowed_metres;
    errors.iter().take_while(is_allowed).count() as u32
}

/// A pose that at least one visible instance shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisiblePose {
    /// Index of the model.
    pub model: u32,
    /// The levels of detail of its instances.
    pub levels: PoseLevels,
    /// The number of its instances that the camera may see.
    pub seen_count: u32,
    /// The number of its instances of which only the shadow may be visible.
    pub shadow_only_count: u32,
    /// Whether a morph target may be active. Other poses have no morph weights.
    pub has_morphs: bool,
    /// One of its instances, whose clip and start time are those of the pose.
    pub(super) instance: u32,
    /// Index of its first instance in [`Visible::found`].
    first_found: u32,
}

impl VisiblePose {
    /// Returns a pose in full detail, for a frame plan without a crowd. [`Crowd::evaluate`] does not accept it.
    #[must_use]
    pub fn new(model: u32, seen_count: u32, shadow_only_count: u32) -> Self {
        let levels = PoseLevels::default();
        let (instance, first_found) = (u32::MAX, u32::MAX);
        Self { model, levels, seen_count, shadow_only_count, has_morphs: true, instance, first_found }
    }

    /// Returns the same pose with other levels of detail.
    #[must_use]
    pub fn with_levels(self, camera: u32, light: u32) -> Self {
        Self { levels: PoseLevels { camera, light }, ..self }
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

/// Consecutive visible poses of one model that show the same clips in the same levels of detail, so they have equally many joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// The model and the clips.
    pub clips: ClipPair,
    /// Index of the first pose.
    pub first: u32,
    /// The number of poses, at most [`BLOCK_POSES`].
    pub count: u32,
}

impl Block {
    /// Returns the largest number of blocks of a crowd: full blocks, and one partial block for each clip of each model, and for
    /// each blend, in each pair of levels. `blends` are the models of the blends.
    fn max_count(pose_count: usize, models: &[Model], blends: impl Iterator<Item = u32>) -> usize {
        let pairs = |model: &Model| (1 + model.geometry.coarser_levels.len()).pow(2);
        let of_clips = models.iter().map(|model| (1 + model.clips.len()) * pairs(model)).sum::<usize>();
        let of_blends = blends.map(|model| pairs(&models[model as usize])).sum::<usize>();
        pose_count / BLOCK_POSES + (of_clips + of_blends).min(pose_count)
    }

    /// Refills `blocks` for visible poses.
    fn divide(poses: &[VisiblePose], instances: &[Instance], crossfade: &Crossfade, blocks: &mut Vec<Self>) {
        blocks.clear();
        for (pose, visible) in poses.iter().enumerate() {
            let clips = crossfade.clips(&instances[visible.instance as usize]);
            let continues = |last: &Self| {
                let levels = poses[last.first as usize].levels;
                last.clips == clips && levels == visible.levels && last.count < BLOCK_POSES as u32
            };
            match blocks.last_mut() {
                Some(last) if continues(last) => last.count += 1,
                _ => blocks.push(Self { clips, first: pose as u32, count: 1 }),
            }
        }
    }
}

/// The visible part of a crowd. See the module.
#[derive(Debug, Default)]
pub(super) struct Visible {
    /// The visible poses.
    pub poses: Vec<VisiblePose>,
    /// The instances that the camera may see.
    pub seen: Vec<VisibleInstance>,
    /// The instances of which only the shadow may be visible.
    pub shadow_only: Vec<VisibleInstance>,
    /// The number of visible poses of each model.
    pub pose_counts: Vec<u32>,
    /// The number of visible instances of each model, in both lists.
    pub instance_counts: Vec<u32>,
    /// The poses, divided into blocks.
    pub blocks: Vec<Block>,
    /// All visible instances in ascending order, and whether the camera may see them.
    found: Vec<(u32, bool)>,
    /// The errors of the coarser levels of each model.
    errors: Vec<Vec<f32>>,
    /// Whether the rest pose of each model, followed by its clips, has active morph targets.
    has_morphs: Vec<Vec<bool>>,
}

impl Visible {
    /// Allocates room for the case that all instances are visible and each has its own pose.
    pub fn with_capacity(instances: usize, models: &[Model]) -> Self {
        let errors = |model: &Model| model.geometry.coarser_levels.iter().map(|level| level.error).collect();
        let has_morphs = |model: &Model| {
            let clips = std::iter::once(None).chain(model.clips.iter().map(Some));
            clips.map(|clip| model.has_active_morphs(clip)).collect()
        };
        Self {
            poses: Vec::with_capacity(instances),
            seen: Vec::with_capacity(instances),
            shadow_only: Vec::with_capacity(instances),
            pose_counts: vec![0; models.len()],
            instance_counts: vec![0; models.len()],
            blocks: Vec::with_capacity(Block::max_count(instances, models, [].into_iter())),
            found: Vec::with_capacity(instances),
            errors: models.iter().map(errors).collect(),
            has_morphs: models.iter().map(has_morphs).collect(),
        }
    }

    /// Allocates room for the blocks of a crowd that blends. `blends` are the models of the blends.
    pub fn make_room(&mut self, instances: usize, models: &[Model], blends: impl Iterator<Item = u32>) {
        self.blocks.clear();
        self.blocks.reserve(Block::max_count(instances, models, blends));
    }

    fn clear(&mut self) {
        self.poses.clear();
        self.seen.clear();
        self.shadow_only.clear();
        self.pose_counts.fill(0);
        self.instance_counts.fill(0);
        self.found.clear();
    }

    /// Appends an instance that needs these levels. Instances are appended in ascending order.
    fn push(&mut self, index: u32, crowd: (&[Instance], &Crossfade), is_seen: bool, levels: PoseLevels) {
        let (instances, crossfade) = crowd;
        let Instance { model, pose, .. } = instances[index as usize];
        let first_found = self.found.len() as u32;
        self.found.push((index, is_seen));
        if self.poses.last().is_none_or(|last| instances[last.instance as usize].pose != pose) {
            let levels = PoseLevels::UNSHOWN;
            let ClipPair { from, to, .. } = crossfade.clips(&instances[index as usize]);
            let of_clip = |clip: Option<u32>| self.has_morphs[model as usize][clip.map_or(0, |clip| clip as usize + 1)];
            let has_morphs = of_clip(from) || of_clip(to);
            let pose =
                VisiblePose { levels, has_morphs, instance: index, first_found, ..VisiblePose::new(model, 0, 0) };
            self.poses.push(pose);
            self.pose_counts[model as usize] += 1;
        }
        self.instance_counts[model as usize] += 1;
        if let Some(VisiblePose { levels: all, seen_count, shadow_only_count, .. }) = self.poses.last_mut() {
            all.camera = all.camera.min(levels.camera);
            all.light = all.light.min(levels.light);
            *(if is_seen { seen_count } else { shadow_only_count }) += 1;
        }
    }

    /// Sorts the poses by their levels, and lists their instances in the same order.
    ///
    /// The sort is in place. No two poses have the same key, so an unstable sort has one result. It needs one pass if the
    /// poses are in order already, as they are in full detail.
    fn sort(&mut self) {
        self.poses.iter_mut().for_each(|pose| pose.levels = pose.levels.settled());
        self.poses.sort_unstable_by_key(|pose| (pose.model, pose.levels, pose.has_morphs, pose.instance));
        for (index, pose) in (0..).zip(&self.poses) {
            let count = pose.seen_count + pose.shadow_only_count;
            for &(instance, is_seen) in &self.found[pose.first_found as usize..(pose.first_found + count) as usize] {
                let list = if is_seen { &mut self.seen } else { &mut self.shadow_only };
                list.push(VisibleInstance { instance, pose: index });
            }
        }
    }
}

impl Crowd {
    /// Lists the instances whose bounding spheres may intersect the frustum; `None` lists all. With `to_light`, the unit
    /// vector towards the light, it also lists the instances whose shadows on the ground may be in the frustum. `detail`
    /// decides the level of each instance. The order depends only on the instances and their levels.
    pub fn cull(&mut self, frustum: Option<&Frustum>, to_light: Option<Vec3>, detail: &Detail) {
        let to_light = to_light.filter(|to_light| to_light.y > 0.0);
        let Self { instances, rings, visible, crossfade, .. } = self;
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
                let mut levels = PoseLevels::UNSHOWN;
                let (errors, scale) = (&visible.errors[instance.model as usize], instance.placement.scale);
                if is_seen {
                    levels.camera = coarsest_within(errors, scale, detail.error_metres_in_view(center, radius));
                }
                if to_light.is_some() {
                    levels.light = coarsest_within(errors, scale, detail.error_metres_in_shadow());
                }
                visible.push(index as u32, (instances, crossfade), is_seen, levels);
            }
        }
        visible.sort();
        Block::divide(&visible.poses, instances, crossfade, &mut visible.blocks);
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
