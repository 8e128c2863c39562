//! The clip of each instance and the time at which it starts. Both are decided when the crowd is built and when another
//! clip is chosen.
//!
//! In: the clips of each model, and the seed. Out: instances, sorted by model, by clip and, if poses are shared, by pose,
//! so instances that are evaluated together are neighbours. Sharing quantises the start time of each instance, once, but
//! not the current time. So the motion stays smooth, and instances that share a pose always share it.

use super::random::{SplitMix64, stream};
use super::settings::ModelClips;
use super::{Crowd, Instance};
use crate::model::{Clip, Model};

/// The largest number of shared poses of a clip; no crowd has more instances.
const MAX_SHARED_POSES: f64 = 4_194_304.0;

/// The clips that instances of one model show. They differ while the instances blend. Instances are sorted by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClipPair {
    pub model: u32,
    /// The clip that was chosen; `None` is the rest pose.
    pub to: Option<u32>,
    /// The clip that is faded out.
    pub from: Option<u32>,
}

impl Instance {
    pub(super) fn clips(&self) -> ClipPair {
        ClipPair { model: self.model, to: self.clip, from: self.clip_before }
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
#[inline]
pub fn wrap_seconds(time_seconds: f64, duration_seconds: f64) -> f64 {
    // Enough for hours, and few enough that the product below loses no visible precision.
    const MAX_LAPS: f64 = 65_536.0;
    let laps = time_seconds / duration_seconds;
    if (0.0..=duration_seconds).contains(&time_seconds) {
        time_seconds
    } else if duration_seconds > 0.0 && laps.abs() < MAX_LAPS {
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
pub(super) fn shared_pose_count(clip: Option<&Clip>, share_hz: f64) -> f64 {
    (duration_of(clip) * share_hz).ceil().clamp(1.0, MAX_SHARED_POSES)
}

impl Crowd {
    /// Gives each instance a clip, and sorts the instances. With a `fade`, which begins at a time and has a duration, they
    /// blend from the clips that they have, and instances that travel stay where they are if they can.
    pub(super) fn assign_clips(&mut self, clips: &[ModelClips], fade: Option<(f64, f64)>) {
        // Clips are dealt out by rank, so the result does not depend on the clips that were played before.
        self.instances.sort_unstable_by_key(|instance| (instance.model, instance.rank));
        let mut random = SplitMix64::new(self.seed, stream::CLIPS);
        for instances in self.instances.chunk_by_mut(|a, b| a.model == b.model) {
            let model = instances[0].model as usize;
            let mut deal: Vec<Option<u32>> = clips[model].iter().copied().cycle().take(instances.len()).collect();
            random.shuffle(&mut deal);
            for (instance, clip) in instances.iter_mut().zip(deal) {
                self.repertoire.prepare(&self.models, model, clip);
                instance.clip_before = if fade.is_some() { instance.clip } else { clip };
                instance.clip = clip;
            }
        }
        let stay = |crowd: &mut Self| fade.is_some_and(|(start, duration)| crowd.change_pace(start, duration));
        if self.travel && !stay(self) {
            self.arrange();
        }
        self.follow(fade.map_or(0.0, |(start, _)| start));
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
        let Self { models, instances, index_of_rank, share_hz, .. } = self;
        let start_of = |instance: &Instance, clip: Option<u32>| {
            start_in(clip_of(&models[instance.model as usize], clip), instance.phase, *share_hz)
        };
        for instance in instances.iter_mut() {
            (instance.start_seconds, instance.pose) = start_of(instance, instance.clip);
        }
        let key = |instance: &Instance| {
            let clips = instance.clips();
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
}
