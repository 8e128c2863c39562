//! The parts of a crowd, and the sort of their visible poses and instances.
//!
//! In: a [`Sight`] of each instance. Out: the [`Lists`] of visible poses and instances, in the order that
//! [`visible`](super::visible) promises. It is a counting sort: models and levels are few, and within them the poses are in
//! order already. First, each part is sorted alone, and its poses of each key are counted, in a table for the few models that
//! it has. The counts give each such piece of a part its place in the lists. Then recursive halving gives each task some
//! pieces and their places, as in [`Crowd::evaluate`](super::Crowd::evaluate). So tasks share no memory, need no locks and do
//! not allocate, and the lists are the same for any number of threads.

use std::ops::{AddAssign, Range};

use glam::Vec4;
use rayon::ThreadPool;
use rayon::prelude::*;

use super::Instance;
use super::sight::{COARSEST, PoseLevels, Run, Sight, Views, VisibleInstance, VisiblePose};
use crate::model::{CoarserLevel, Model};

/// The smallest number of instances of a part: some ten microseconds of work.
const LEAST_INSTANCES: usize = 1024;
/// The largest number of parts. More would balance the work no better, and counting takes longer.
const MOST_PARTS: usize = 64;
/// Pieces with no more instances than this are one task.
const INSTANCES_PER_TASK: u32 = 1024;
/// The level of a pose in a view that does not show it.
const UNSEEN: u32 = u8::MAX as u32;

/// Returns the levels of a pose in both views. A view that does not show the pose (255) gets the level of the other view, so
/// that it needs no separate batch.
fn settled(levels: PoseLevels) -> PoseLevels {
    let settled = |level| if level == UNSEEN { levels.finest() } else { level };
    PoseLevels { camera: settled(levels.camera), light: settled(levels.light) }
}

/// Returns the errors of a model's coarser levels, as [`Views`] has them.
pub(super) fn level_errors(model: &Model) -> Vec<Vec4> {
    let levels = &model.geometry.coarser_levels;
    let four = |levels: &[CoarserLevel]| [0, 1, 2, 3].map(|k| levels.get(k).map_or(f32::NAN, |level| level.error));
    levels[..levels.len().min(COARSEST)].chunks(4).map(|levels| four(levels).into()).collect()
}

/// The keys of a model's poses: levels and morphs, in the order of the visible poses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keys {
    first: u32,
    level_count: u32,
}

impl Keys {
    pub fn of(level_counts: impl Iterator<Item = u32>) -> Vec<Self> {
        let mut first = 0;
        let keys = |level_count| {
            let keys = Self { first, level_count };
            first = keys.end();
            keys
        };
        level_counts.map(keys).collect()
    }

    pub fn end(self) -> u32 {
        self.first + 2 * self.level_count.pow(2)
    }

    fn key(self, PoseLevels { camera, light }: PoseLevels, has_morphs: bool) -> u32 {
        self.first + 2 * (camera * self.level_count + light) + u32::from(has_morphs)
    }
}

/// Numbers of elements of each list, or places in the lists.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    poses: u32,
    seen: u32,
    shadow_only: u32,
}

impl Counts {
    fn instances(self) -> u32 {
        self.seen + self.shadow_only
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.poses += other.poses;
        self.seen += other.seen;
        self.shadow_only += other.shadow_only;
    }
}

/// Consecutive instances of a crowd, of which one task at a time takes care. No pose is in two parts.
#[derive(Debug, Default)]
pub(super) struct Part {
    instances: Range<u32>,
    sights: Vec<Sight>,
    /// The visible poses in the order of their instances, each with the index of its key among those of the part.
    found: Vec<(u32, VisiblePose)>,
    /// The indices of `found` in the order of keys.
    order: Vec<u32>,
    first_key: u32,
    /// The counts of each key of these models, and the end of its elements in `order`.
    keys: Vec<(Counts, u32)>,
}

impl Part {
    /// Divides a crowd. Allocates room for the case that all instances are visible and each has its own pose.
    pub fn divide(instances: &[Instance], keys: &[Keys], parts: &mut Vec<Self>) {
        let length = LEAST_INSTANCES.max(instances.len().div_ceil(MOST_PARTS));
        let (mut count, mut first) = (0, 0);
        while first < instances.len() {
            let mut end = instances.len().min(first + length);
            while end < instances.len() && instances[end].pose == instances[end - 1].pose {
                end += 1;
            }
            if count == parts.len() {
                parts.push(Self::default());
            }
            let part = &mut parts[count];
            part.instances = first as u32..end as u32;
            part.sights.clear();
            part.sights.reserve(end - first);
            part.found.clear();
            part.found.reserve(end - first);
            part.order.clear();
            part.order.reserve(end - first);
            let keys_of = |instance: usize| keys[instances[instance].model as usize];
            part.first_key = keys_of(first).first;
            part.keys.resize((keys_of(end - 1).end() - part.first_key) as usize, Default::default());
            (count, first) = (count + 1, end);
        }
        parts.truncate(count);
    }

    /// Returns the pose of an instance that the camera may see.
    pub fn pose_of_seen(parts: &[Self], instance: u32) -> Option<VisiblePose> {
        let part = &parts[parts.partition_point(|part| part.instances.end <= instance)];
        let sight = &part.sights[(instance - part.instances.start) as usize];
        let next = part.found.partition_point(|(_, pose)| pose.instance <= instance);
        sight.is_seen.then(|| part.found[next - 1].1)
    }

    pub fn look_at_all(pool: Option<&ThreadPool>, parts: &mut [Self], runs: &[Run], keys: &[Keys], views: &Views<'_>) {
        let look = |part: &mut Self| part.look(runs, keys, views);
        match pool {
            Some(pool) if parts.len() > 1 => pool.install(|| parts.par_iter_mut().for_each(look)),
            _ => parts.iter_mut().for_each(look),
        }
    }

    /// Collects, counts and sorts the visible poses.
    fn look(&mut self, runs: &[Run], keys: &[Keys], views: &Views<'_>) {
        self.sights.clear();
        let instances = &views.instances[self.instances.start as usize..self.instances.end as usize];
        self.sights.extend(instances.iter().map(|instance| views.sight(instance)));
        self.found.clear();
        self.keys.fill_with(Default::default);
        let mut first = self.instances.start;
        let first_run = runs.partition_point(|run| run.end <= first);
        for (run, &Run { clips, end, has_morphs }) in (first_run as u32..).zip(&runs[first_run..]) {
            let end = end.min(self.instances.end);
            if first == end {
                break;
            }
            let new = VisiblePose { has_morphs, run, ..VisiblePose::new(clips.model, 0, 0) };
            let (first_found, mut last_pose) = (self.found.len(), None);
            let sights = &self.sights[(first - self.instances.start) as usize..(end - self.instances.start) as usize];
            for (instance, sight) in (first..end).zip(sights).filter(|(_, sight)| sight.is_visible) {
                let [camera, light] = sight.levels.map(u32::from);
                let (seen_count, shadow_only_count) = (u32::from(sight.is_seen), u32::from(!sight.is_seen));
                match self.found.last_mut() {
                    Some((_, pose)) if last_pose == Some(sight.pose) => {
                        pose.levels.camera = pose.levels.camera.min(camera);
                        pose.levels.light = pose.levels.light.min(light);
                        pose.seen_count += seen_count;
                        pose.shadow_only_count += shadow_only_count;
                    }
                    _ => {
                        let pose = VisiblePose { seen_count, shadow_only_count, instance, ..new };
                        self.found.push((0, pose.with_levels(camera, light)));
                    }
                }
                last_pose = Some(sight.pose);
            }
            let (keys, first_key, counts_of) = (keys[clips.model as usize], self.first_key, &mut self.keys[..]);
            for (key, pose) in &mut self.found[first_found..] {
                pose.levels = settled(pose.levels);
                *key = keys.key(pose.levels, has_morphs) - first_key;
                counts_of[*key as usize].0 +=
                    Counts { poses: 1, seen: pose.seen_count, shadow_only: pose.shadow_only_count };
            }
            first = end;
        }
        let mut next = 0;
        for (counts, end) in &mut self.keys {
            *end = next;
            next += counts.poses;
        }
        self.order.resize(self.found.len(), 0);
        let (order, keys) = (&mut self.order[..], &mut self.keys[..]);
        for (index, (key, _)) in (0..).zip(&self.found) {
            let (_, end) = &mut keys[*key as usize];
            order[*end as usize] = index;
            *end += 1;
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Lists {
    pub poses: Vec<VisiblePose>,
    /// The instances that the camera may see, followed by those of which only the shadow may be visible.
    pub instances: Vec<VisibleInstance>,
    pub seen_count: usize,
}

impl Lists {
    /// Allocates room for a crowd in which each instance has its own pose.
    pub fn with_capacity(instances: usize) -> Self {
        Self { poses: Vec::with_capacity(instances), instances: Vec::with_capacity(instances), seen_count: 0 }
    }
}

/// The poses of one part that have the same key, and their place in the lists.
#[derive(Debug, Clone, Copy)]
struct Piece {
    part: u32,
    /// The first one in the part's order.
    first: u32,
    counts: Counts,
    place: Counts,
}

/// The pieces of all parts, in the order of keys.
#[derive(Debug, Default)]
pub(super) struct Sorted {
    pieces: Vec<Piece>,
    all: Counts,
}

/// The places of some pieces in the lists.
struct Places<'a> {
    poses: &'a mut [VisiblePose],
    seen: &'a mut [VisibleInstance],
    shadow_only: &'a mut [VisibleInstance],
}

impl<'a> Places<'a> {
    fn split_off(&mut self, counts: Counts) -> Self {
        Self {
            poses: self.poses.split_off_mut(..counts.poses as usize).unwrap_or_default(),
            seen: self.seen.split_off_mut(..counts.seen as usize).unwrap_or_default(),
            shadow_only: self.shadow_only.split_off_mut(..counts.shadow_only as usize).unwrap_or_default(),
        }
    }
}

impl Sorted {
    /// Allocates room for all pieces that the parts of a crowd can have.
    pub fn make_room(&mut self, parts: &[Part], instances: usize) {
        self.pieces.clear();
        self.pieces.reserve(instances.min(parts.iter().map(|part| part.keys.len()).sum()));
    }

    /// Gives each piece its place, and counts the visible poses and instances of each model.
    pub fn count(&mut self, parts: &[Part], keys: &[Keys], pose_counts: &mut [u32], instance_counts: &mut [u32]) {
        self.pieces.clear();
        self.all = Counts::default();
        for (keys, (pose_count, instance_count)) in keys.iter().zip(pose_counts.iter_mut().zip(instance_counts)) {
            let before = self.all;
            // Both models and parts are in the order of instances, so few parts have instances of a model.
            let first_part = parts.partition_point(|part| part.first_key + part.keys.len() as u32 <= keys.first);
            let end_part = parts.partition_point(|part| part.first_key < keys.end());
            for key in keys.first..keys.end() {
                for (index, part) in (first_part as u32..).zip(&parts[first_part..end_part]) {
                    let (counts, end) = part.keys[(key - part.first_key) as usize];
                    if counts.poses > 0 {
                        let first = end - counts.poses;
                        self.pieces.push(Piece { part: index, first, counts, place: self.all });
                        self.all += counts;
                    }
                }
            }
            *pose_count = self.all.poses - before.poses;
            *instance_count = self.all.instances() - before.instances();
        }
    }

    pub fn fill(&self, pool: Option<&ThreadPool>, parts: &[Part], lists: &mut Lists) {
        lists.poses.resize(self.all.poses as usize, VisiblePose::new(0, 0, 0));
        lists.instances.resize(self.all.instances() as usize, VisibleInstance::default());
        lists.seen_count = self.all.seen as usize;
        let (seen, shadow_only) = lists.instances.split_at_mut(lists.seen_count);
        let places = Places { poses: &mut lists.poses, seen, shadow_only };
        match pool {
            Some(pool) if self.all.instances() > INSTANCES_PER_TASK => {
                pool.install(|| fill_in_tasks(parts, &self.pieces, places));
            }
            _ => fill(parts, &self.pieces, places),
        }
    }
}

/// Halves pieces and places until they are small.
fn fill_in_tasks(parts: &[Part], pieces: &[Piece], mut places: Places<'_>) {
    let instances = places.seen.len() + places.shadow_only.len();
    if pieces.len() <= 1 || instances <= INSTANCES_PER_TASK as usize {
        return fill(parts, pieces, places);
    }
    let (first, middle) = (pieces[0].place, (instances / 2) as u32);
    let half = pieces.partition_point(|piece| piece.place.instances() - first.instances() < middle);
    let (before, after) = pieces.split_at(half.clamp(1, pieces.len() - 1));
    let Counts { poses, seen, shadow_only } = after[0].place;
    let counts =
        Counts { poses: poses - first.poses, seen: seen - first.seen, shadow_only: shadow_only - first.shadow_only };
    let places_before = places.split_off(counts);
    rayon::join(|| fill_in_tasks(parts, before, places_before), || fill_in_tasks(parts, after, places));
}

fn fill(parts: &[Part], pieces: &[Piece], mut places: Places<'_>) {
    for &Piece { part, first, counts, place } in pieces {
        let Places { poses, seen, shadow_only } = places.split_off(counts);
        let (mut seen, mut shadow_only) = (seen.iter_mut(), shadow_only.iter_mut());
        let part = &parts[part as usize];
        let order = &part.order[first as usize..(first + counts.poses) as usize];
        for ((record, &index), out) in (place.poses..).zip(order).zip(poses) {
            *out = part.found[index as usize].1;
            let VisiblePose { instance, seen_count, shadow_only_count, .. } = *out;
            let mut put = |instance: u32, is_seen: bool| {
                if let Some(place) = if is_seen { seen.next() } else { shadow_only.next() } {
                    *place = VisibleInstance { instance, pose: record };
                }
            };
            let count = (seen_count + shadow_only_count) as usize;
            if count == 1 {
                // It shares the pose with no other visible instance, so no search is needed.
                put(instance, seen_count == 1);
                continue;
            }
            let sights = &part.sights[(instance - part.instances.start) as usize..];
            let visible = (instance..).zip(sights).filter(|(_, sight)| sight.is_visible).take(count);
            visible.for_each(|(instance, sight)| put(instance, sight.is_seen));
        }
    }
}
