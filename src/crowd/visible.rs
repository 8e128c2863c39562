//! Who is visible, to the camera or to the light, and in which poses: rebuilt in place each frame, without allocating.
//!
//! Two kinds of things are counted here. A *pose* is what is evaluated and skinned; an *instance* is what is drawn.
//! Usually there is one pose for each instance; with shared poses, several instances show one. Instances that the camera
//! may see come first; those of which it may see only the shadow follow, and only the light draws them. What the camera
//! sees always casts its shadow, too.
//!
//! Invariants: instances are sorted by pose, so both lists are, and poses are grouped by model and by clip.

use glam::Vec3;

use super::update::Block;
use super::{Crowd, Instance};
use crate::model::Model;
use crate::view::Frustum;

/// What the frustum may hold: see the module.
#[derive(Debug, Default)]
pub(super) struct Visible {
    /// For each visible pose, one of the instances that show it.
    pub poses: Vec<u32>,
    /// By model.
    pub pose_counts: Vec<u32>,
    /// Instances that the camera may see, ascending.
    pub seen: Vec<u32>,
    /// Instances of which it may see only the shadow, ascending.
    pub shadows_only: Vec<u32>,
    /// For each visible pose, and once more at the end: the first of its instances in `seen`.
    pub seen_starts: Vec<u32>,
    /// As `seen_starts`, for `shadows_only`, counted from the end of `seen` on.
    pub shadow_starts: Vec<u32>,
    /// By model: instances of both lists.
    pub instance_counts: Vec<u32>,
    /// Of all visible poses.
    pub joint_count: usize,
    /// Of all visible poses.
    pub morph_weight_count: usize,
    /// Partition of `poses` into runs of one model and clip.
    pub blocks: Vec<Block>,
}

impl Visible {
    /// Room for all instances in poses of their own.
    pub fn with_capacity(instances: usize, models: &[Model]) -> Self {
        let clips = models.iter().map(|model| 1 + model.clips.len()).sum();
        Self {
            poses: Vec::with_capacity(instances),
            pose_counts: vec![0; models.len()],
            seen: Vec::with_capacity(instances),
            shadows_only: Vec::with_capacity(instances),
            seen_starts: Vec::with_capacity(instances + 1),
            shadow_starts: Vec::with_capacity(instances + 1),
            instance_counts: vec![0; models.len()],
            blocks: Vec::with_capacity(Block::most(instances, clips)),
            ..Self::default()
        }
    }

    fn clear(&mut self) {
        self.poses.clear();
        self.pose_counts.fill(0);
        self.seen.clear();
        self.shadows_only.clear();
        self.seen_starts.clear();
        self.shadow_starts.clear();
        self.instance_counts.fill(0);
    }

    /// Appends an instance. They come in ascending order.
    fn push(&mut self, index: u32, instances: &[Instance], is_seen: bool) {
        let instance = &instances[index as usize];
        let last = self.poses.last().map(|&last| instances[last as usize].pose);
        if last != Some(instance.pose) {
            self.poses.push(index);
            self.pose_counts[instance.model as usize] += 1;
            self.seen_starts.push(self.seen.len() as u32);
            self.shadow_starts.push(self.shadows_only.len() as u32);
        }
        self.instance_counts[instance.model as usize] += 1;
        if is_seen { self.seen.push(index) } else { self.shadows_only.push(index) }
    }

    fn finish(&mut self, models: &[Model], instances: &[Instance]) {
        let seen_count = self.seen.len() as u32;
        self.seen_starts.push(seen_count);
        self.shadow_starts.push(self.shadows_only.len() as u32);
        self.shadow_starts.iter_mut().for_each(|start| *start += seen_count);
        let counts = self.pose_counts.iter().zip(models);
        let sum = |of_model: fn(&Model) -> usize| {
            counts.clone().map(|(&count, model)| count as usize * of_model(model)).sum()
        };
        self.joint_count = sum(|model| model.palette.len());
        self.morph_weight_count = sum(Model::morph_weight_count);
        Block::cut(&self.poses, instances, &mut self.blocks);
    }
}

impl Crowd {
    /// Lists the instances whose bounding spheres the frustum may hold; `None` lists all. With `to_light`, the unit
    /// vector towards the light, also those whose shadow on the ground it may hold. Order and grouping by model are the
    /// same in every frame.
    pub fn cull(&mut self, frustum: Option<&Frustum>, to_light: Option<Vec3>) {
        let ground_height = self.ground_height();
        let to_light = to_light.filter(|to_light| to_light.y > 0.0);
        let Self { models, instances, visible, .. } = self;
        visible.clear();
        for (index, instance) in instances.iter().enumerate() {
            let (center, radius) = (instance.center_world, instance.radius);
            let is_seen = frustum.is_none_or(|frustum| frustum.intersects_sphere(center, radius));
            let throws_shadow_into = |frustum: &Frustum, to_light: Vec3| {
                let sweep = to_light * ((ground_height - center.y).min(0.0) / to_light.y);
                frustum.intersects_swept_sphere(center, sweep, radius)
            };
            if is_seen || frustum.zip(to_light).is_some_and(|(frustum, light)| throws_shadow_into(frustum, light)) {
                visible.push(index as u32, instances, is_seen);
            }
        }
        visible.finish(models, instances);
    }

    /// Number of visible instances of each model, those included of which only the shadow is.
    #[must_use]
    pub fn visible_counts(&self) -> &[u32] {
        &self.visible.instance_counts
    }

    /// Number of visible poses of each model: what [`Crowd::evaluate`] writes, in this order.
    #[must_use]
    pub fn pose_counts(&self) -> &[u32] {
        &self.visible.pose_counts
    }

    /// Where the instances of each pose that the camera may see begin, over all models in order, and where the last
    /// ones end: those of pose `p` are `seen_starts()[p]..seen_starts()[p + 1]` of [`Crowd::write_instances`].
    #[must_use]
    pub fn seen_starts(&self) -> &[u32] {
        &self.visible.seen_starts
    }

    /// As [`Crowd::seen_starts`], for the instances of which the camera may see only the shadow: they follow the others.
    #[must_use]
    pub fn shadow_starts(&self) -> &[u32] {
        &self.visible.shadow_starts
    }

    /// Length of the palette that [`Crowd::evaluate`] writes.
    #[must_use]
    pub fn visible_joint_count(&self) -> usize {
        self.visible.joint_count
    }

    /// Number of pieces of work that [`Crowd::evaluate`] can share out.
    #[must_use]
    pub fn visible_block_count(&self) -> usize {
        self.visible.blocks.len()
    }

    /// Number of morph weights that [`Crowd::evaluate`] writes.
    #[must_use]
    pub fn visible_morph_weight_count(&self) -> usize {
        self.visible.morph_weight_count
    }
}
