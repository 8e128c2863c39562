//! Visibility: which instances the camera and the light see, in which level of detail, and which poses these instances show.
//!
//! In: the frustum, the direction of the light, and the [`Detail`] that the picture needs. Out: the visible poses and the
//! visible instances, rebuilt in place each frame without allocating. Usually each instance has its own pose. With shared
//! poses, several instances show one. The instances that the camera may see come first. Those of which only the shadow may be
//! visible follow, and only the light draws them.
//!
//! All of it takes all threads, in two steps ([`parts`](super::parts)): they look at the instances of one part of the crowd
//! each and count what they find, and then they sort.
//!
//! # Levels of detail
//!
//! An instance needs the coarsest level whose error is small enough ([`sight`](super::sight)). The camera and the light each
//! choose one. Instances that share a pose share the finest level that any of them needs, because they share its vertices.
//! A level depends on nothing but the frame, so pictures do not depend on the frames before.
//!
//! Invariants: poses are sorted by model, then by the camera's level, by the light's level, by clip and by pose. Both parts
//! of the list of instances are in the order of their poses, and ascend within a pose. So consecutive poses of one model with the same
//! levels have consecutive instances, and within them poses of one clip are neighbours.

use glam::{Vec3, Vec4};
use rayon::ThreadPool;

use super::parts::{Keys, Lists, Part, Sorted, level_errors};
use super::sight::{Run, Views, VisiblePose};
use super::{Crowd, Instance};
use crate::model::Model;
use crate::view::{Detail, Frustum};

#[derive(Debug, Default)]
pub(super) struct Visible {
    pub lists: Lists,
    pub pose_counts: Vec<u32>,
    pub instance_counts: Vec<u32>,
    /// The clips of all instances, in order.
    pub runs: Vec<Run>,
    pub parts: Vec<Part>,
    sorted: Sorted,
    keys: Vec<Keys>,
    /// The errors of the coarser levels of each model.
    errors: Vec<Vec<Vec4>>,
}

impl Visible {
    /// Allocates room for the case that all instances are visible and each has its own pose.
    pub fn with_capacity(instances: usize, models: &[Model]) -> Self {
        Self {
            lists: Lists::with_capacity(instances),
            pose_counts: vec![0; models.len()],
            instance_counts: vec![0; models.len()],
            keys: Keys::of(models.iter().map(|model| 1 + model.geometry.coarser_levels.len() as u32)),
            errors: models.iter().map(level_errors).collect(),
            ..Self::default()
        }
    }

    /// Divides the instances. Their clips have changed, or the instances are in another order.
    fn divide(&mut self, instances: &[Instance], mut has_morphs: impl FnMut(usize, Option<u32>) -> bool) {
        self.runs.clear();
        let mut end = 0;
        for alike in instances.chunk_by(|a, b| a.clips() == b.clips()) {
            let clips = alike[0].clips();
            let has_morphs = [clips.from, clips.to].iter().any(|&clip| has_morphs(clips.model as usize, clip));
            end += alike.len() as u32;
            self.runs.push(Run { clips, end, has_morphs });
        }
        Part::divide(instances, &self.keys, &mut self.parts);
        self.sorted.make_room(&self.parts, instances.len());
    }
}

impl Crowd {
    /// Lists the instances whose bounding spheres may intersect the frustum; `None` lists all. With `to_light`, the unit
    /// vector towards the light, it also lists the instances that may shade the ground or another instance in the frustum.
    /// `detail` decides the level of each instance, and says how far the filter of shadows reaches. The order depends only on
    /// the instances and their levels. Without a pool, this thread does all the work.
    pub fn cull(
        &mut self,
        pool: Option<&ThreadPool>,
        frustum: Option<&Frustum>,
        to_light: Option<Vec3>,
        detail: &Detail,
    ) {
        let to_light = to_light.filter(|to_light| to_light.y > 0.0);
        let Self { instances, routes, visible, bounds, .. } = self;
        // Shadows fall on the ground, and on feet that are below it.
        let floor = bounds.min.y.min(0.0);
        let casters = frustum.zip(to_light).map(|(frustum, to_light)| frustum.with_casters(to_light, floor));
        let Visible { lists, pose_counts, instance_counts, runs, parts, sorted, keys, errors, .. } = visible;
        let views = Views { instances, routes, errors, frustum, casters, has_shadows: to_light.is_some(), detail };
        Part::look_at_all(pool, parts, runs, keys, &views);
        sorted.count(parts, keys, pose_counts, instance_counts);
        sorted.fill(pool, parts, lists);
    }

    /// Lets all instances be visible, in full detail, until the next [`Crowd::cull`]. Call it after each change of clips.
    pub(super) fn show_all(&mut self) {
        let Self { models, instances, repertoire, visible, .. } = self;
        visible.divide(instances, |model, clip| repertoire.has_morphs(models, model, clip));
        self.cull(None, None, None, &Detail::FULL);
    }

    /// Returns the visible poses, in the order of their [`PoseRecord`](crate::shader_types::PoseRecord)s.
    pub fn visible_poses(&self) -> &[VisiblePose] {
        &self.visible.lists.poses
    }

    /// Returns the number of visible instances of each model, including those of which only the shadow is visible.
    pub fn visible_counts(&self) -> &[u32] {
        &self.visible.instance_counts
    }

    /// Returns the number of visible poses of each model.
    pub fn pose_counts(&self) -> &[u32] {
        &self.visible.pose_counts
    }
}
