//! The crossfades that have not ended: when each began, how long it takes, and which clips it fades out.
//!
//! In: changes of clips. Out: the clips that an instance shows, in the order in which they were chosen, and the weight of each
//! change at a time. An instance is known by its rank, because changing clips sorts the instances again.
//!
//! If clips change while a crossfade runs, the pose that is shown is a blend, and the next crossfade has to begin with it. It
//! could be stored, but then the character would freeze while it fades out, and each instance would need memory for a pose.
//! Instead the clips form a chain: all of them keep playing, and the pose is a function of the time. A clip takes eight bytes
//! for each instance. The chain is bounded: see [`MAX_FADES`].

use super::Instance;
use crate::animation::lanes::MAX_SOURCES;

/// The largest number of crossfades that run at the same time: more than a key that repeats 30 times a second starts within
/// [`DEFAULT_FADE_SECONDS`](super::DEFAULT_FADE_SECONDS). If there are more, the clip with the smallest share of the pose is
/// forgotten, and the pose jumps a little.
const MAX_FADES: usize = MAX_SOURCES - 1;

/// A crossfade of the whole crowd.
#[derive(Debug, Clone)]
struct Fade {
    start_seconds: f64,
    duration_seconds: f64,
    /// The clip that each instance fades out, by rank.
    clips_before: Vec<Option<u32>>,
}

impl Fade {
    /// Returns the share of the new clip. A time before the start is as good as one after the end: somebody has moved the time,
    /// and expects to see the clip that was chosen.
    fn weight(&self, time_seconds: f64) -> f32 {
        let share = (time_seconds - self.start_seconds) / self.duration_seconds;
        if (0.0..1.0).contains(&share) { share as f32 } else { 1.0 }
    }
}

/// All crossfades that have not ended, in the order of their starts.
#[derive(Debug, Clone, Default)]
pub(super) struct Fades(Vec<Fade>);

/// The share of each new clip at a time. The first element belongs to the clip that was shown before all crossfades.
pub(super) type Weights = [f32; MAX_SOURCES];

impl Fades {
    /// Whether no crossfade runs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether each crossfade has ended at a time.
    pub fn have_ended(&self, time_seconds: f64) -> bool {
        self.0.iter().all(|fade| fade.weight(time_seconds) >= 1.0)
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Begins a crossfade from the clips that the instances play now.
    pub fn begin(&mut self, instances: &[Instance], start_seconds: f64, duration_seconds: f64) {
        while self.0.first().is_some_and(|oldest| oldest.weight(start_seconds) >= 1.0) {
            self.0.remove(0);
        }
        if self.0.len() == MAX_FADES {
            self.forget_one(start_seconds);
        }
        let mut clips_before = vec![None; instances.len()];
        for instance in instances {
            clips_before[instance.rank as usize] = instance.clip;
        }
        self.0.push(Fade { start_seconds, duration_seconds, clips_before });
    }

    /// Removes the clip with the smallest share of the pose.
    fn forget_one(&mut self, time_seconds: f64) {
        let mut left = 1.0;
        // The share of the clip that each crossfade fades out, from the newest one on.
        let shares = self.0.iter().enumerate().rev().map(|(index, fade)| {
            left *= 1.0 - fade.weight(time_seconds);
            let own = if index == 0 { 1.0 } else { self.0[index - 1].weight(time_seconds) };
            (index, left * own)
        });
        let Some((index, _)) = shares.min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        let removed = self.0.remove(index);
        // The crossfade to the forgotten clip is forgotten, too. The one from it goes on from the clip before.
        if let Some(to_it) = index.checked_sub(1).and_then(|before| self.0.get_mut(before)) {
            (to_it.start_seconds, to_it.duration_seconds) = (removed.start_seconds, removed.duration_seconds);
        }
    }

    /// Returns the share of each new clip at a time.
    pub fn weights(&self, time_seconds: f64) -> Weights {
        let mut weights = [1.0; MAX_SOURCES];
        for (weight, fade) in weights[1..].iter_mut().zip(&self.0) {
            *weight = fade.weight(time_seconds);
        }
        weights
    }

    /// Returns the clips that an instance fades out, oldest first. Neighbours may be equal.
    pub fn clips_before<'f>(&'f self, instance: &Instance) -> impl Iterator<Item = Option<u32>> + use<'f> {
        let rank = instance.rank as usize;
        self.0.iter().map(move |fade| fade.clips_before[rank])
    }

    /// Returns the clips that an instance shows, oldest first, each with the index of its [`Weights`]. If the instance has no
    /// crossfade, there is one clip. A change that leaves the clip of an instance as it was is none.
    pub fn sources<'f>(&'f self, instance: &Instance) -> impl Iterator<Item = (usize, Option<u32>)> + use<'f> {
        let mut last = None;
        let clips = self.clips_before(instance).chain([instance.clip]).enumerate();
        clips.filter(move |&(_, clip)| last.replace(clip) != Some(clip))
    }
}
