//! Visibility: which instances the camera and the light see, in which level of detail, and which poses these instances show.
//!
//! In: the frustum, the direction of the light, and the [`Detail`] that the picture needs. Out: the visible poses and the
//! visible instances, rebuilt in place each frame without allocating. Usually each instance has its own pose. With shared
//! poses, several instances show one. The list of instances that the camera may see comes first. The second list has the
//! instances of which only the shadow may be visible, and only the light draws them.
//!
//! All threads look at the instances. The rest is a counting sort: models and levels are few, and within them the poses are in
//! order already.
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
use rayon::ThreadPool;

use super::crossfade::{ClipPair, Crossfade};
use super::placement::turned;
use super::{Crowd, Instance, tasks};
use crate::animation::lanes::GROUP_INSTANCES;
use crate::model::Model;
use crate::view::{Detail, Frustum};

/// The coarsest level that a [`Sight`] can name. Models have far fewer levels.
const COARSEST: usize = 254;

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
    /// Returns the finer one of both levels. Its vertices are skinned, and those of the other level are among them.
    #[must_use]
    pub fn finest(self) -> u32 {
        self.camera.min(self.light)
    }
}

/// Returns the levels of a pose in both views. A view that does not show the pose (255) gets the level of the other view, so that
/// it needs no separate batch.
fn settled(levels: [u8; 2]) -> [u8; 2] {
    let finest = levels[0].min(levels[1]);
    levels.map(|level| if level == u8::MAX { finest } else { level })
}

/// Returns the coarsest level of an instance whose error is allowed, if all finer levels are allowed too. `errors` are those
/// of the coarser levels in units of model space, each at least as large as the one before. If no error is allowed, the level
/// is 0 although another one may be exact. Nothing here branches on an error, because no processor could predict it.
fn coarsest_within(errors: &[f32], scale: f32, allowed_metres: f32) -> u8 {
    let count: u8 = errors.iter().map(|error| u8::from(error * scale <= allowed_metres)).sum();
    if allowed_metres > 0.0 { count } else { 0 }
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
    /// The first of its visible instances. Clip and start time are those of the pose.
    pub(super) instance: u32,
    /// Index of its clips in [`Visible::runs`].
    run: u32,
}

impl VisiblePose {
    /// Returns a pose in full detail, for a frame plan without a crowd. [`Crowd::evaluate`] does not accept it.
    #[must_use]
    pub fn new(model: u32, seen_count: u32, shadow_only_count: u32) -> Self {
        let levels = PoseLevels::default();
        Self { model, levels, seen_count, shadow_only_count, has_morphs: true, instance: u32::MAX, run: u32::MAX }
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
    fn divide(poses: &[VisiblePose], runs: &[Run], blocks: &mut Vec<Self>) {
        blocks.clear();
        let clips = |pose: &VisiblePose| runs[pose.run as usize].clips;
        let is_alike =
            |a: &VisiblePose, b: &VisiblePose| a.levels == b.levels && (a.run == b.run || clips(a) == clips(b));
        let mut first = 0;
        for alike in poses.chunk_by(is_alike) {
            for block in alike.chunks(BLOCK_POSES) {
                blocks.push(Self { clips: clips(&alike[0]), first, count: block.len() as u32 });
                first += block.len() as u32;
            }
        }
    }
}

/// The part of an instance that the views decide: whether it is visible, and in which levels.
#[derive(Debug, Clone, Copy)]
struct Sight {
    /// The pose that the instance shows.
    pose: u32,
    /// The levels that the instance needs in the camera's view and in the light's; 255 if the view does not show it.
    levels: [u8; 2],
    /// Whether the camera may see the instance.
    is_seen: bool,
    /// Whether the camera may see the instance or its shadow.
    is_visible: bool,
}

/// A visible pose before the sort.
#[derive(Debug, Clone, Copy, Default)]
struct FoundPose {
    /// The first of its visible instances.
    instance: u32,
    /// Index of its clips in [`Visible::runs`].
    run: u32,
    /// Its place in the [order of keys](Keys).
    key: u32,
    /// Its levels in the camera's view and in the light's.
    levels: [u8; 2],
    seen_count: u32,
    shadow_only_count: u32,
}

/// Consecutive instances of one model that show the same clips.
#[derive(Debug, Clone, Copy)]
struct Run {
    clips: ClipPair,
    /// The end of its instances.
    end: u32,
    /// Whether a morph target may be active.
    has_morphs: bool,
}

/// The keys of a model's poses: levels and morphs, in the order of the visible poses.
#[derive(Debug, Clone, Copy)]
struct Keys {
    /// The first key.
    first: u32,
    level_count: u32,
}

impl Keys {
    fn count(self) -> u32 {
        2 * self.level_count.pow(2)
    }

    fn key(self, [camera, light]: [u8; 2], has_morphs: bool) -> u32 {
        self.first + 2 * (u32::from(camera) * self.level_count + u32::from(light)) + u32::from(has_morphs)
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
    /// One element for each instance.
    sights: Vec<Sight>,
    /// The clips of all instances, in order.
    runs: Vec<Run>,
    /// The visible poses in the order of their instances.
    found: Vec<FoundPose>,
    /// The indices of `found` in the order of `poses`.
    order: Vec<u32>,
    /// The counts of the counting sort, one for each key.
    counts: Vec<u32>,
    /// The keys of each model.
    keys: Vec<Keys>,
    /// The errors of the coarser levels of each model, each at least as large as that of the level before.
    errors: Vec<Vec<f32>>,
    /// Whether the rest pose of each model, followed by its clips, has active morph targets.
    has_morphs: Vec<Vec<bool>>,
}

impl Visible {
    /// Allocates room for the case that all instances are visible and each has its own pose.
    pub fn with_capacity(instances: usize, models: &[Model]) -> Self {
        let errors = |model: &Model| {
            let mut greatest = 0.0f32;
            let levels = model.geometry.coarser_levels.iter().take(COARSEST);
            let errors = levels.map(|level| {
                greatest = greatest.max(level.error);
                greatest
            });
            errors.collect()
        };
        let has_morphs = |model: &Model| {
            let clips = std::iter::once(None).chain(model.clips.iter().map(Some));
            clips.map(|clip| model.has_active_morphs(clip)).collect()
        };
        let mut key_count = 0;
        let keys = |model: &Model| {
            let keys = Keys { first: key_count, level_count: 1 + model.geometry.coarser_levels.len() as u32 };
            key_count += keys.count();
            keys
        };
        Self {
            poses: Vec::with_capacity(instances),
            seen: Vec::with_capacity(instances),
            shadow_only: Vec::with_capacity(instances),
            pose_counts: vec![0; models.len()],
            instance_counts: vec![0; models.len()],
            blocks: Vec::with_capacity(Block::max_count(instances, models, [].into_iter())),
            sights: Vec::with_capacity(instances),
            runs: Vec::new(),
            found: Vec::with_capacity(instances),
            order: Vec::with_capacity(instances),
            keys: models.iter().map(keys).collect(),
            counts: vec![0; key_count as usize],
            errors: models.iter().map(errors).collect(),
            has_morphs: models.iter().map(has_morphs).collect(),
        }
    }

    /// Allocates room for the blocks of a crowd that blends. `blends` are the models of the blends.
    pub fn make_room(&mut self, instances: usize, models: &[Model], blends: impl Iterator<Item = u32>) {
        self.blocks.clear();
        self.blocks.reserve(Block::max_count(instances, models, blends));
    }

    /// Lists the clips of all instances. They have changed, or the instances are in another order.
    fn list_runs(&mut self, instances: &[Instance], crossfade: &Crossfade) {
        self.runs.clear();
        for (index, instance) in (0..).zip(instances) {
            let clips = crossfade.clips(instance);
            if self.runs.last().is_none_or(|last| last.clips != clips) {
                let has_morphs = &self.has_morphs[clips.model as usize];
                let of_clip = |clip: Option<u32>| has_morphs[clip.map_or(0, |clip| clip as usize + 1)];
                let has_morphs = of_clip(clips.from) || of_clip(clips.to);
                self.runs.push(Run { clips, end: index, has_morphs });
            }
            if let Some(last) = self.runs.last_mut() {
                last.end = index + 1;
            }
        }
    }

    /// Collects and counts the visible poses in the order of their instances.
    fn find(&mut self) {
        let Self { sights, runs, found, counts, keys, pose_counts, instance_counts, .. } = self;
        found.clear();
        for counts in [&mut *counts, pose_counts, instance_counts] {
            counts.fill(0);
        }
        let mut first = 0;
        for (run, &Run { clips, end, has_morphs }) in (0..).zip(&*runs) {
            let (keys, found_before, mut instance_count) = (keys[clips.model as usize], found.len(), 0);
            // The last pose with its number. More of its instances may follow.
            let mut last: Option<(u32, FoundPose)> = None;
            let mut finish = |last: Option<(u32, FoundPose)>| {
                let Some((_, pose)) = last else { return };
                let levels = settled(pose.levels);
                let key = keys.key(levels, has_morphs);
                counts[key as usize] += 1;
                found.push(FoundPose { key, levels, ..pose });
            };
            let visible = (first..end).zip(&sights[first as usize..end as usize]).filter(|(_, sight)| sight.is_visible);
            for (instance, sight) in visible {
                if last.is_none_or(|(number, _)| number != sight.pose) {
                    let pose = FoundPose { instance, run, levels: [u8::MAX; 2], ..FoundPose::default() };
                    finish(last.replace((sight.pose, pose)));
                }
                if let Some((_, pose)) = &mut last {
                    pose.levels = std::array::from_fn(|view| pose.levels[view].min(sight.levels[view]));
                    *(if sight.is_seen { &mut pose.seen_count } else { &mut pose.shadow_only_count }) += 1;
                }
                instance_count += 1;
            }
            finish(last);
            pose_counts[clips.model as usize] += (found.len() - found_before) as u32;
            instance_counts[clips.model as usize] += instance_count;
            first = end;
        }
    }

    /// Sorts the found poses by their keys.
    fn sort(&mut self, pool: Option<&ThreadPool>) {
        let Self { poses, found, order, counts, runs, .. } = self;
        let mut next = 0;
        counts.iter_mut().for_each(|count| next += std::mem::replace(count, next));
        order.resize(found.len(), 0);
        for (index, pose) in (0..).zip(&*found) {
            let place = &mut counts[pose.key as usize];
            order[*place as usize] = index;
            *place += 1;
        }
        let pose = |index: usize| {
            let FoundPose { instance, run, levels, seen_count, shadow_only_count, .. } = found[order[index] as usize];
            let Run { clips: ClipPair { model, .. }, has_morphs, .. } = runs[run as usize];
            let [camera, light] = levels.map(u32::from);
            let levels = PoseLevels { camera, light };
            VisiblePose { model, levels, seen_count, shadow_only_count, has_morphs, instance, run }
        };
        tasks::collect(pool, order.len(), pose, poses);
    }

    /// Lists the visible instances in the order of their poses.
    fn list_instances(&mut self) {
        let Self { poses, seen, shadow_only, sights, .. } = self;
        seen.clear();
        shadow_only.clear();
        for (record, pose) in (0..).zip(&*poses) {
            let from_first = (pose.instance..).zip(&sights[pose.instance as usize..]);
            let visible = from_first.filter(|(_, sight)| sight.is_visible);
            for (instance, sight) in visible.take((pose.seen_count + pose.shadow_only_count) as usize) {
                let list = if sight.is_seen { &mut *seen } else { &mut *shadow_only };
                list.push(VisibleInstance { instance, pose: record });
            }
        }
    }
}

impl Crowd {
    /// Lists the instances whose bounding spheres may intersect the frustum; `None` lists all. With `to_light`, the unit
    /// vector towards the light, it also lists the instances whose shadows on the ground may be in the frustum. `detail`
    /// decides the level of each instance. The order depends only on the instances and their levels. Without a pool, this thread
    /// does all the work.
    pub fn cull(
        &mut self,
        pool: Option<&ThreadPool>,
        frustum: Option<&Frustum>,
        to_light: Option<Vec3>,
        detail: &Detail,
    ) {
        let to_light = to_light.filter(|to_light| to_light.y > 0.0);
        let Self { instances, rings, visible, .. } = self;
        let errors = &visible.errors;
        let sight = |index: usize| {
            let instance = &instances[index];
            let center = turned(instance.center_world, rings[instance.ring as usize].turn);
            let radius = instance.radius;
            let is_seen = frustum.is_none_or(|frustum| frustum.intersects_sphere(center, radius));
            let casts_shadow_into = |frustum: &Frustum, to_light: Vec3| {
                let sweep = to_light * ((-center.y).min(0.0) / to_light.y);
                frustum.intersects_swept_sphere(center, sweep, radius)
            };
            let is_visible =
                is_seen || frustum.zip(to_light).is_some_and(|(frustum, light)| casts_shadow_into(frustum, light));
            let (errors, scale) = (&errors[instance.model as usize], instance.placement.scale);
            let level = |is_shown: bool, allowed_metres: f32| match is_shown {
                true => coarsest_within(errors, scale, allowed_metres),
                false => u8::MAX,
            };
            let camera = level(is_seen, detail.error_metres_in_view(center, radius));
            let light = level(is_visible && to_light.is_some(), detail.error_metres_in_shadow());
            Sight { pose: instance.pose, levels: [camera, light], is_seen, is_visible }
        };
        tasks::collect(pool, instances.len(), sight, &mut visible.sights);
        visible.find();
        visible.sort(pool);
        visible.list_instances();
        Block::divide(&visible.poses, &visible.runs, &mut visible.blocks);
    }

    /// Lets all instances be visible, in full detail, until the next [`Crowd::cull`]. Call it after each change of clips.
    pub(super) fn show_all(&mut self) {
        self.visible.list_runs(&self.instances, &self.crossfade);
        self.cull(None, None, None, &Detail::FULL);
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
