//! The clip of each instance and the time at which it starts. Both are decided when the crowd is built and when another
//! clip is chosen.
//!
//! In: the clips of each model, and the seed. Out: instances, sorted by model, by clip and, if poses are shared, by pose,
//! so instances that are evaluated together are neighbours. Sharing quantises the start time of each instance, once, but
//! not the current time. So the motion stays smooth, and instances that share a pose always share it.

use super::random::{SplitMix64, stream};
use super::settings::ModelClips;
use super::{Crowd, Instance};
use crate::animation::lanes::LaneClip;
use crate::measure::{Gait, PosedBounds, gait_of, posed_bounds, worst_displacement};
use crate::model::{Clip, Model};

/// The largest number of shared poses of a clip; no crowd has more instances.
const MAX_SHARED_POSES: f64 = 4_194_304.0;

/// The data of a clip or a rest pose that the crowd needs. Each part is computed when it is first needed.
#[derive(Debug, Clone, Default)]
struct Playable {
    bounds: Option<PosedBounds>,
    /// The clip for the lanes, once it is played. `Some(None)`: it does not fit them, and instances are evaluated one by one.
    lanes: Option<Option<LaneClip>>,
    gait: Option<Gait>,
}

/// All clips of the models. Those that are played are filled in.
#[derive(Debug, Clone)]
pub(super) struct Repertoire {
    /// The rest pose of each model, followed by its clips.
    by_model: Vec<Vec<Playable>>,
}

impl Repertoire {
    pub fn new(models: &[Model]) -> Self {
        Self { by_model: models.iter().map(|model| vec![Playable::default(); 1 + model.clips.len()]).collect() }
    }

    fn playable(&mut self, model: usize, clip: Option<u32>) -> &mut Playable {
        &mut self.by_model[model][clip.map_or(0, |clip| clip as usize + 1)]
    }

    /// Returns the bounds of a model throughout a clip.
    pub fn bounds(&mut self, models: &[Model], model: usize, clip: Option<u32>) -> PosedBounds {
        let model_clip = clip_of(&models[model], clip);
        *self.playable(model, clip).bounds.get_or_insert_with(|| posed_bounds(&models[model], model_clip))
    }

    /// Forgets all bounds: the models have changed.
    pub fn forget_bounds(&mut self) {
        self.by_model.iter_mut().flatten().for_each(|playable| playable.bounds = None);
    }

    /// Returns the gait of a clip.
    pub fn gait(&mut self, models: &[Model], model: usize, clip: u32) -> Gait {
        let Some(model_clip) = clip_of(&models[model], Some(clip)) else { return Gait::default() };
        *self.playable(model, Some(clip)).gait.get_or_insert_with(|| gait_of(&models[model], model_clip))
    }

    /// Compiles a clip for the lanes.
    pub fn prepare(&mut self, models: &[Model], model: usize, clip: Option<u32>) {
        let model_clip = clip_of(&models[model], clip);
        self.playable(model, clip).lanes.get_or_insert_with(|| LaneClip::compile(&models[model], model_clip));
    }

    /// Returns the clip for the lanes, if it was prepared and fits them.
    pub fn lane_clip(&self, model: usize, clip: Option<u32>) -> Option<&LaneClip> {
        self.by_model[model][clip.map_or(0, |clip| clip as usize + 1)].lanes.as_ref()?.as_ref()
    }

    /// Returns all clips that have been compiled for the lanes.
    pub fn lane_clips(&self) -> impl Iterator<Item = &LaneClip> {
        self.by_model.iter().flatten().filter_map(|playable| playable.lanes.as_ref()?.as_ref())
    }
}

/// Returns the clip with this index. `None` is the rest pose.
pub(super) fn clip_of(model: &Model, clip: Option<u32>) -> Option<&Clip> {
    clip.and_then(|clip| model.clips.get(clip as usize))
}

/// Returns the duration of a clip; 0 for the rest pose.
pub(super) fn duration_of(clip: Option<&Clip>) -> f64 {
    clip.map_or(0.0, |clip| f64::from(clip.duration_seconds))
}

/// Wraps a time into a repeating clip. A time from 0 to `duration_seconds`, both included, does not change, so the last
/// key can be shown. Returns 0 if the clip has no duration or the time is not finite.
#[must_use]
pub fn wrap_seconds(time_seconds: f64, duration_seconds: f64) -> f64 {
    // Enough for hours, and few enough that the product below loses no visible precision.
    const MAX_LAPS: f64 = 65_536.0;
    if (0.0..=duration_seconds).contains(&time_seconds) {
        return time_seconds;
    }
    let laps = time_seconds / duration_seconds;
    if duration_seconds > 0.0 && laps.abs() < MAX_LAPS {
        // The remainder, faster than `rem_euclid`.
        let rest = time_seconds - (laps as i32) as f64 * duration_seconds;
        let rest = if rest < 0.0 { rest + duration_seconds } else { rest };
        if rest < duration_seconds { rest } else { 0.0 }
    } else if duration_seconds > 0.0 && time_seconds.is_finite() {
        time_seconds.rem_euclid(duration_seconds)
    } else {
        0.0
    }
}

/// Returns the time in a clip at which an instance starts and, if poses are shared, its number among the start times of the
/// clip.
pub(super) fn start_in(clip: Option<&Clip>, phase: f32, share_hz: Option<f64>) -> (f64, u32) {
    let (duration_seconds, phase) = (duration_of(clip), f64::from(phase));
    let Some(share_hz) = share_hz else { return (phase * duration_seconds, 0) };
    let count = shared_pose_count(clip, share_hz);
    // A phase of 1 is the same as a phase of 0.
    let quantised = (phase * count).round() % count;
    (quantised / count * duration_seconds, quantised as u32)
}

/// Returns the number of start times of a clip if poses are shared. They are evenly spread over the clip, at least
/// `share_hz` for each second.
fn shared_pose_count(clip: Option<&Clip>, share_hz: f64) -> f64 {
    (duration_of(clip) * share_hz).ceil().clamp(1.0, MAX_SHARED_POSES)
}

/// The largest error of a vertex position that is caused by sharing poses.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SharingError {
    /// The error in world space.
    pub metres: f32,
    /// The error as a share of the diameter of the instance's bounding sphere.
    pub share_of_size: f32,
}

impl Crowd {
    /// Gives each instance a clip, and sorts the instances. In a crossfade, which begins at a time and has a duration,
    /// instances that travel stay where they are if they can.
    pub(super) fn assign_clips(&mut self, clips: &[ModelClips], crossfade: Option<(f64, f64)>) {
        // Clips are dealt out by rank, so the result does not depend on the clips that were played before.
        self.instances.sort_unstable_by_key(|instance| (instance.model, instance.rank));
        let mut random = SplitMix64::new(self.seed, stream::CLIPS);
        for (model, clips) in clips.iter().enumerate() {
            let range = self.instances_of(model);
            let mut deal: Vec<Option<u32>> = clips.iter().copied().cycle().take(range.len()).collect();
            random.shuffle(&mut deal);
            for (index, clip) in range.zip(deal) {
                self.repertoire.prepare(&self.models, model, clip);
                self.instances[index].clip = clip;
            }
        }
        let stay = |crowd: &mut Self| crossfade.is_some_and(|(start, duration)| crowd.change_pace(start, duration));
        if self.travel && !stay(self) {
            self.arrange();
        }
        self.sort_by_clips();
        // The scratches may be too small for the new clips.
        self.scratches.clear();
    }

    /// Sorts the instances by their clips and poses, and computes everything that depends on it. Allocates only if instances
    /// blend.
    pub(super) fn sort_by_clips(&mut self) {
        self.assign_poses();
        self.compile_blends();
        self.measure();
    }

    /// Returns the time in seconds after which the animation of the whole crowd repeats. `None` if nothing moves, if clips of
    /// different durations are played, or if instances travel.
    #[must_use]
    pub fn loop_seconds(&self) -> Option<f64> {
        if self.travel {
            return None;
        }
        let clip = |instance: &Instance| clip_of(&self.models[instance.model as usize], instance.clip);
        let mut durations = self.instances.iter().filter_map(clip).map(|clip| clip.duration_seconds);
        let first = durations.next()?;
        let seconds = f64::from(first) / f64::from(self.speed.abs());
        (first > 0.0 && seconds.is_finite() && durations.all(|duration| duration == first)).then_some(seconds)
    }

    /// Decides when in its clip each instance starts, and which instances share a pose. Instances that blend share it if both
    /// clips start at the same time.
    fn assign_poses(&mut self) {
        let Self { models, instances, index_of_rank, crossfade, share_hz, .. } = self;
        let start_of = |instance: &Instance, clip: Option<u32>| {
            start_in(clip_of(&models[instance.model as usize], clip), instance.phase, *share_hz)
        };
        for instance in instances.iter_mut() {
            (instance.start_seconds, instance.pose) = start_of(instance, instance.clip);
        }
        let key = |instance: &Instance| {
            let clips = crossfade.clips(instance);
            let start_before = if clips.from == clips.to { 0.0 } else { start_of(instance, clips.from).0 };
            // Times that are not negative are in the order of their bits.
            (clips, instance.pose, start_before.to_bits())
        };
        instances.sort_unstable_by_key(|instance| (key(instance), instance.rank));
        // The number of the pose takes the place of the number of the start time, which is compared before that.
        let mut pose = 0;
        for index in 0..instances.len() {
            let is_new = |next: &Instance| share_hz.is_none() || key(&instances[index]) != key(next);
            let step = u32::from(instances.get(index + 1).is_some_and(is_new));
            instances[index].pose = pose;
            index_of_rank[instances[index].rank as usize] = index as u32;
            pose += step;
        }
    }

    /// Returns the largest error over all clips that are played, at sample times spread over each clip. `None` if poses are
    /// not shared. If a clip jumps where it repeats, some instances jump a little early or late, which is not counted.
    #[must_use]
    pub fn sharing_error(&self) -> Option<SharingError> {
        let share_hz = self.share_hz?;
        let mut worst = SharingError::default();
        let same_clip = |a: &Instance, b: &Instance| (a.model, a.clip) == (b.model, b.clip);
        for instances in self.instances.chunk_by(same_clip) {
            let (Some(instance), true) = (instances.first(), instances.iter().any(|instance| instance.phase != 0.0))
            else {
                continue;
            };
            let model = &self.models[instance.model as usize];
            if let Some(clip) = clip_of(model, instance.clip) {
                // Rounding moves a start time by at most half of the distance to the next one.
                let shift_seconds = 0.5 * f64::from(clip.duration_seconds) / shared_pose_count(Some(clip), share_hz);
                let displacement = worst_displacement(model, clip, shift_seconds);
                let largest = instances.iter().map(|instance| instance.placement.scale).fold(0.0, f32::max);
                worst.metres = worst.metres.max(largest * displacement);
                let share_of_size = instance.placement.scale * displacement / (2.0 * instance.radius);
                if share_of_size.is_finite() {
                    worst.share_of_size = worst.share_of_size.max(share_of_size);
                }
            }
        }
        Some(worst)
    }
}
