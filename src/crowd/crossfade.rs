//! The crossfade: instances that change their clips blend from the clip that they show to the one that was chosen.
//!
//! In: a choice of clips, a time and a duration. Out: the [`Blend`] that each instance shows at a time, for evaluation and for
//! everything else that needs exact shapes, and the compiled blend of each pair of clips. Both clips keep playing. An instance
//! that keeps its clip does not blend. Once [`Crowd::move_to`] has passed the end, the crowd is as if the clips had been
//! changed at once, and a frame costs what it did before.
//!
//! One crossfade runs at a time. A choice that interrupts it waits for its end, and a newer choice takes its place. The running
//! crossfade then ends within [`DEFAULT_FADE_SECONDS`]. So an instance never shows more than two clips, and each crossfade
//! begins with one of them alone: no pose jumps. Blending from the blend would need a chain of clips that grows with each
//! choice, or a stored pose for each instance, which freezes while it fades out.

use super::playback::{ClipPair, clip_of, duration_of, start_in, wrap_seconds};
use super::settings::{ClipChoice, CrowdError, ModelClips, resolve_clips};
use super::{Crowd, Instance};
use crate::animation::lanes::LaneBlend;
use crate::animation::{Blend, Source};

pub const DEFAULT_FADE_SECONDS: f64 = 0.25;

/// The crossfade of a crowd, and how to evaluate it. Empty while no instance blends.
#[derive(Debug, Default)]
pub(super) struct Crossfade {
    running: Option<Fade>,
    /// The choice that waits for the end of the running crossfade, and the duration of the crossfade to it.
    waiting: Option<(Vec<ModelClips>, f64)>,
    /// The pairs of clips that instances blend and that fit the lanes, ascending.
    pub blends: Vec<(ClipPair, LaneBlend)>,
}

#[derive(Debug)]
struct Fade {
    start_seconds: f64,
    duration_seconds: f64,
}

impl Fade {
    /// Returns the share of the new clip. A time before the start is as good as one after the end: somebody has moved the time,
    /// and expects to see the clip that was chosen.
    fn weight(&self, time_seconds: f64) -> f32 {
        let share = (time_seconds - self.start_seconds) / self.duration_seconds;
        if (0.0..1.0).contains(&share) { share as f32 } else { 1.0 }
    }

    /// Lets the rest take at most [`DEFAULT_FADE_SECONDS`]. The weight at this time stays.
    fn hurry(&mut self, time_seconds: f64) {
        let share = (time_seconds - self.start_seconds) / self.duration_seconds;
        self.duration_seconds = self.duration_seconds.min(DEFAULT_FADE_SECONDS / (1.0 - share));
        self.start_seconds = time_seconds - share * self.duration_seconds;
    }
}

impl Crossfade {
    /// Returns the compiled blend of two clips, if they fit the lanes.
    pub fn lane_blend(&self, clips: ClipPair) -> Option<&LaneBlend> {
        let index = self.blends.binary_search_by_key(&clips, |(clips, _)| *clips).ok()?;
        Some(&self.blends[index].1)
    }

    /// Sets the weights of the blends for a frame, before its poses are evaluated.
    pub fn set_weights(&mut self, time_seconds: f64) {
        let Some(fade) = &self.running else { return };
        let weight = fade.weight(time_seconds);
        self.blends.iter_mut().for_each(|(_, blend)| blend.set_weight(weight));
    }
}

impl Crowd {
    /// Changes the clips like [`Crowd::set_clip`], but blends from the clips that are shown at `time_seconds` to the new
    /// ones, for `duration_seconds`. Instances that keep their clip do not change. Instances that travel change their speed,
    /// if all of them can stay on their routes, and are placed again otherwise. The crossfade ends in the first
    /// [`Crowd::move_to`] that is not within its time. If another one runs, it ends first, soon, and then this one begins.
    ///
    /// A duration of 0 changes the clips at once. So does a duration or a time that is not finite.
    ///
    /// # Errors
    /// [`CrowdError::UnknownClip`]. The crowd is then unchanged.
    pub fn crossfade(
        &mut self,
        choice: &ClipChoice,
        time_seconds: f64,
        duration_seconds: f64,
    ) -> Result<(), CrowdError> {
        let clips = resolve_clips(&self.models, choice, self.instances.len() > self.models.len())?;
        if !(duration_seconds > 0.0 && (time_seconds + duration_seconds).is_finite()) {
            return self.set_clip(choice);
        }
        match &mut self.crossfade.running {
            Some(fade) if fade.weight(time_seconds) < 1.0 => {
                fade.hurry(time_seconds);
                self.crossfade.waiting = Some((clips, duration_seconds));
            }
            _ => self.begin_crossfade(&clips, time_seconds, duration_seconds),
        }
        Ok(())
    }

    pub fn is_fading(&self, time_seconds: f64) -> bool {
        self.crossfade.running.as_ref().is_some_and(|fade| fade.weight(time_seconds) < 1.0)
    }

    fn begin_crossfade(&mut self, clips: &[ModelClips], start_seconds: f64, duration_seconds: f64) {
        let running = Some(Fade { start_seconds, duration_seconds });
        self.crossfade = Crossfade { running, ..Crossfade::default() };
        self.assign_clips(clips, Some((start_seconds, duration_seconds)));
        self.show_all();
    }

    pub fn is_blending(&self) -> bool {
        self.crossfade.running.is_some()
    }

    /// Forgets the crossfade if it has ended, and begins the one that waits for that. Otherwise the instances are in the
    /// order of their clips again.
    pub(super) fn end_crossfade(&mut self, time_seconds: f64) {
        if self.crossfade.running.as_ref().is_none_or(|fade| fade.weight(time_seconds) < 1.0) {
            return;
        }
        match std::mem::take(&mut self.crossfade).waiting {
            Some((clips, duration_seconds)) => self.begin_crossfade(&clips, time_seconds, duration_seconds),
            None => {
                self.instances.iter_mut().for_each(|instance| instance.clip_before = instance.clip);
                self.sort_by_clips();
                self.show_all();
            }
        }
    }

    pub(super) fn shown(&self, instance: &Instance, time_seconds: f64) -> Blend<'_> {
        let model = &self.models[instance.model as usize];
        let clip_seconds = self.clip_seconds(time_seconds);
        let source = |clip: Option<u32>, start_seconds: f64| {
            let clip = clip_of(model, clip);
            Source { clip, time_seconds: wrap_seconds(start_seconds + clip_seconds, duration_of(clip)) }
        };
        let own = source(instance.clip, instance.start_seconds);
        let ClipPair { from, to, .. } = instance.clips();
        match &self.crossfade.running {
            Some(fade) if from != to => {
                let (start_seconds, _) = start_in(clip_of(model, from), instance.phase, self.share_hz);
                Blend { from: source(from, start_seconds), to: Some((own, fade.weight(time_seconds))) }
            }
            _ => Blend { from: own, to: None },
        }
    }

    /// Compiles the blend of each pair of clips that instances show. The instances are sorted.
    pub(super) fn compile_blends(&mut self) {
        let Self { models, instances, repertoire, crossfade, .. } = self;
        if crossfade.running.is_none() {
            return;
        }
        let mut pairs: Vec<ClipPair> = instances.iter().map(Instance::clips).collect();
        pairs.dedup();
        pairs.retain(|clips| clips.from != clips.to);
        let compiled = |clips: ClipPair| {
            let model = clips.model as usize;
            let fit = [clips.from, clips.to].iter().all(|&clip| repertoire.lane_clip(model, clip).is_some());
            let sources = [clips.from, clips.to].map(|clip| clip_of(&models[model], clip));
            fit.then(|| (clips, LaneBlend::compile(&models[model], sources)))
        };
        if pairs.is_empty() {
            crossfade.running = None;
        }
        crossfade.blends = pairs.into_iter().filter_map(compiled).collect();
    }
}
