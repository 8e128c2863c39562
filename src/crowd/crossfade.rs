//! Crossfades: instances that change their clips blend from the pose that they show.
//!
//! In: a choice of clips, a time and a duration. Out: the sources that each instance blends at a time, for evaluation and for
//! everything else that needs exact shapes ([`ShownClips`]), and the compiled [`Blend`]s. The clips that are faded out keep
//! playing.
//!
//! Instances that show the same clips in the same order are neighbours and are evaluated together, so they fill the lanes. An
//! instance that keeps its clip does not blend. Once [`Crowd::move_to`] has passed the end, the crowd is as if the clips had
//! been changed at once, and a frame costs what it did before.

use std::ops::Deref;

use super::fades::{Fades, Weights};
use super::playback::{Evaluation, Repertoire, clip_of, start_in, wrap_seconds};
use super::settings::{ClipChoice, CrowdError, resolve_clips};
use super::{Crowd, Instance};
use crate::animation::Source;
use crate::animation::lanes::{LaneBlend, LaneClip, LaneSource, MAX_SOURCES};
use crate::measure::PosedBounds;
use crate::model::Model;
use crate::view::Detail;

/// The default duration of a crossfade.
pub const DEFAULT_FADE_SECONDS: f64 = 0.25;

/// The crossfades of a crowd, and how to evaluate them. Empty while no instance blends.
#[derive(Debug, Default)]
pub(super) struct Crossfades {
    pub fades: Fades,
    pub blends: Vec<Blend>,
    /// The index of each instance's blend, if it has one.
    pub blend_of: Vec<Option<u32>>,
}

/// A chain of clips that instances of one model blend.
#[derive(Debug, Clone)]
pub(super) struct Blend {
    model: u32,
    /// The clips, oldest first, with the index of their weights.
    sources: Vec<(usize, Option<u32>)>,
    /// `None` if a clip does not fit the lanes.
    pub compiled: Option<LaneBlend>,
}

impl Blend {
    /// Sets the weights of a frame, before its poses are evaluated.
    pub fn set_weights(&mut self, weights: &Weights) {
        let Some(compiled) = &mut self.compiled else { return };
        let mut own = [0.0; MAX_SOURCES];
        for (own, &(weight, _)) in own.iter_mut().zip(&self.sources) {
            *own = weights[weight];
        }
        compiled.set_weights(&own[..self.sources.len()]);
    }

    /// Returns the clips for the lanes, and their number. A clip's times are the first `count` elements of its row.
    pub fn lane_sources<'a>(
        &self,
        repertoire: &'a Repertoire,
        times_seconds: &'a [[f64; super::visible::BLOCK_POSES]],
        count: usize,
    ) -> Option<([LaneSource<'a>; MAX_SOURCES], usize)> {
        let lane_clip = |clip| match repertoire.evaluation(self.model as usize, clip) {
            Evaluation::Lanes(compiled) => Some(&**compiled),
            Evaluation::OneByOne => None,
        };
        let source =
            |clip: &'a LaneClip, index: usize| LaneSource { clip, times_seconds: &times_seconds[index][..count] };
        let (_, first) = *self.sources.first()?;
        let mut sources = [source(lane_clip(first)?, 0); MAX_SOURCES];
        for (index, (element, &(_, clip))) in sources.iter_mut().zip(&self.sources).enumerate() {
            *element = source(lane_clip(clip)?, index);
        }
        Some((sources, self.sources.len()))
    }
}

/// The clips that the instances show at one time.
#[derive(Clone, Copy)]
pub(super) struct ShownClips<'a> {
    models: &'a [Model],
    fades: &'a Fades,
    share_hz: Option<f64>,
    /// The time since the start, at the speed of the crowd.
    clip_seconds: f64,
    weights: Weights,
}

/// The clips that one instance shows: one, or several that it blends. A slice on the stack.
pub(super) struct Sources<'a> {
    all: [Source<'a>; MAX_SOURCES],
    count: usize,
}

impl<'a> Deref for Sources<'a> {
    type Target = [Source<'a>];

    fn deref(&self) -> &[Source<'a>] {
        &self.all[..self.count]
    }
}

impl<'a> ShownClips<'a> {
    /// Returns the clips that an instance shows, oldest first.
    pub fn sources(&self, instance: &Instance) -> Sources<'a> {
        let mut sources = Sources { all: [Source::default(); MAX_SOURCES], count: 0 };
        let model = &self.models[instance.model as usize];
        for (element, (weight, clip)) in sources.all.iter_mut().zip(self.fades.sources(instance)) {
            let clip = clip_of(model, clip);
            let (start_seconds, _) = start_in(clip, instance.phase, self.share_hz);
            let duration_seconds = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
            let time_seconds = wrap_seconds(start_seconds + self.clip_seconds, duration_seconds);
            *element = Source { clip, time_seconds, weight: self.weights[weight] };
            sources.count += 1;
        }
        sources
    }
}

impl Crowd {
    /// Changes the clips like [`Crowd::set_clip`], but blends from the pose that is shown at `time_seconds` to the new clips,
    /// for `duration_seconds`. Instances that keep their clip do not change. Instances that travel change their speed, if all of
    /// them can stay on their rings, and are placed again otherwise. The crossfade ends in the first [`Crowd::move_to`] that is
    /// not within its time.
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
        let clips = resolve_clips(&self.models, choice)?;
        let blends = duration_seconds > 0.0 && (time_seconds + duration_seconds).is_finite();
        if blends {
            self.crossfades.fades.begin(&self.instances, time_seconds, duration_seconds);
        } else {
            self.crossfades.fades.clear();
        }
        self.assign_clips(&clips, blends.then_some((time_seconds, duration_seconds)));
        self.cull(None, None, &Detail::FULL);
        Ok(())
    }

    /// Returns whether any instance blends clips.
    #[must_use]
    pub fn is_blending(&self) -> bool {
        !self.crossfades.blends.is_empty()
    }

    /// Forgets all crossfades if they have ended. The instances are then in the order of their clips again.
    pub(super) fn end_crossfades(&mut self, time_seconds: f64) {
        if self.crossfades.fades.is_empty() || !self.crossfades.fades.have_ended(time_seconds) {
            return;
        }
        self.crossfades.fades.clear();
        self.sort_by_clips();
        self.cull(None, None, &Detail::FULL);
    }

    /// Returns the clips that the instances show at a time.
    pub(super) fn shown_clips(&self, time_seconds: f64) -> ShownClips<'_> {
        ShownClips {
            models: &self.models,
            fades: &self.crossfades.fades,
            share_hz: self.share_hz,
            clip_seconds: self.clip_seconds(time_seconds),
            weights: self.crossfades.fades.weights(time_seconds),
        }
    }

    /// Finds the chain of clips of each instance, and compiles each chain once. The instances are sorted.
    pub(super) fn compile_blends(&mut self) {
        let Self { models, instances, repertoire, crossfades, visible, .. } = self;
        let Crossfades { fades, blends, blend_of } = crossfades;
        blends.clear();
        blend_of.clear();
        if fades.is_empty() {
            return;
        }
        blend_of.extend(instances.iter().map(|instance| {
            // Instances with one clip do not blend.
            fades.sources(instance).nth(1)?;
            let is_same =
                |last: &Blend| last.model == instance.model && last.sources.iter().copied().eq(fades.sources(instance));
            if !blends.last().is_some_and(is_same) {
                let model = &models[instance.model as usize];
                let sources: Vec<_> = fades.sources(instance).collect();
                let fits = |&(_, clip): &(usize, Option<u32>)| {
                    matches!(repertoire.evaluation(instance.model as usize, clip), Evaluation::Lanes(_))
                };
                let clips: Vec<_> = sources.iter().map(|&(_, clip)| clip_of(model, clip)).collect();
                let compiled = sources.iter().all(fits).then(|| LaneBlend::compile(model, &clips));
                blends.push(Blend { model: instance.model, sources, compiled });
            }
            Some(blends.len() as u32 - 1)
        }));
        if blends.is_empty() {
            fades.clear();
            blend_of.clear();
        }
        visible.make_room(instances.len(), models, blends.iter().map(|blend| blend.model));
    }

    /// Sets the bounding sphere of each instance: around the boxes of all clips that it shows. A blended limb may leave both
    /// boxes on its way from one to the other, but not the sphere, which reaches farther than the boxes in all directions but
    /// those of their corners.
    pub(super) fn set_spheres(&mut self) {
        let Self { models, instances, repertoire, crossfades, .. } = self;
        for instance in instances {
            let bounds = shown_bounds(repertoire, models, &crossfades.fades, instance);
            instance.center_world = instance.placement.world_from_model().transform_point3(bounds.center());
            instance.radius = bounds.radius() * instance.placement.scale;
        }
    }
}

/// Returns the box in model space of all clips that an instance shows.
pub(super) fn shown_bounds(
    repertoire: &mut Repertoire,
    models: &[Model],
    fades: &Fades,
    instance: &Instance,
) -> PosedBounds {
    let model = instance.model as usize;
    let bounds = repertoire.bounds(models, model, instance.clip);
    fades.clips_before(instance).fold(bounds, |bounds, clip| bounds.union(&repertoire.bounds(models, model, clip)))
}
