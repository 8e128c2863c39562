//! What each instance plays, and from where on: decided when the crowd is built and when another clip is chosen.
//!
//! Instances are sorted by model, by clip and, where poses are shared, by pose: what is evaluated together lies together.
//! Sharing quantises where in its clip an instance starts, once, not what time it is: all move as smoothly as ever, and
//! those that start together stay together.

use super::random::SplitMix64;
use super::settings::ModelClips;
use super::{Crowd, Instance, stream};
use crate::animation::PosedBounds;
use crate::animation::lanes::LaneClip;
use crate::animation::{posed_bounds, worst_displacement};
use crate::model::{Clip, Model};

/// Most poses that a clip is divided into where poses are shared: more than there can be instances.
const MAX_SHARED_POSES: f64 = 4_194_304.0;

/// A clip of a model, or its rest pose, as the crowd needs it: each part worked out when it is first needed.
#[derive(Debug, Clone, Default)]
pub(super) struct Playable {
    bounds: Option<PosedBounds>,
    evaluation: Option<Evaluation>,
}

/// How a clip is evaluated.
#[derive(Debug, Clone)]
pub(super) enum Evaluation {
    /// Many instances at a time.
    Lanes(Box<LaneClip>),
    /// Instance by instance: what the lanes cannot take.
    OneByOne,
}

impl Evaluation {
    fn new(model: &Model, clip: Option<&Clip>) -> Self {
        LaneClip::compile(model, clip).map_or(Self::OneByOne, |compiled| Self::Lanes(Box::new(compiled)))
    }
}

/// All clips of the models, those that are played filled in.
#[derive(Debug, Clone)]
pub(super) struct Repertoire {
    /// By model: the rest pose, then each clip.
    by_model: Vec<Vec<Playable>>,
}

impl Repertoire {
    pub fn new(models: &[Model]) -> Self {
        Self { by_model: models.iter().map(|model| vec![Playable::default(); 1 + model.clips.len()]).collect() }
    }

    fn playable(&mut self, model: usize, clip: Option<u32>) -> &mut Playable {
        &mut self.by_model[model][clip.map_or(0, |clip| clip as usize + 1)]
    }

    /// Computed once.
    pub fn bounds(&mut self, models: &[Model], model: usize, clip: Option<u32>) -> PosedBounds {
        let model_clip = clip_of(&models[model], clip);
        *self.playable(model, clip).bounds.get_or_insert_with(|| posed_bounds(&models[model], model_clip))
    }

    /// Has [`Repertoire::evaluation`] ready.
    pub fn prepare(&mut self, models: &[Model], model: usize, clip: Option<u32>) {
        let model_clip = clip_of(&models[model], clip);
        self.playable(model, clip).evaluation.get_or_insert_with(|| Evaluation::new(&models[model], model_clip));
    }

    /// Of a clip that was prepared; others are evaluated one by one.
    pub fn evaluation(&self, model: usize, clip: Option<u32>) -> &Evaluation {
        let playable = &self.by_model[model][clip.map_or(0, |clip| clip as usize + 1)];
        playable.evaluation.as_ref().unwrap_or(&Evaluation::OneByOne)
    }

    /// All that are ready for lanes.
    pub fn compiled(&self) -> impl Iterator<Item = &LaneClip> {
        self.by_model.iter().flatten().filter_map(|playable| match &playable.evaluation {
            Some(Evaluation::Lanes(compiled)) => Some(&**compiled),
            _ => None,
        })
    }
}

/// The clip with this index; `None` is the rest pose.
pub(super) fn clip_of(model: &Model, clip: Option<u32>) -> Option<&Clip> {
    clip.and_then(|clip| model.clips.get(clip as usize))
}

/// Number of moments at which instances of a clip start, where poses are shared: evenly spread over the clip, at least
/// `share_hz` a second.
fn shared_pose_count(clip: Option<&Clip>, share_hz: f64) -> f64 {
    let duration_seconds = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
    (duration_seconds * share_hz).ceil().clamp(1.0, MAX_SHARED_POSES)
}

/// How far off sharing poses puts a vertex at most.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SharingError {
    /// In the world.
    pub metres: f32,
    /// Of the diameter of the sphere that the character stays in throughout its clip.
    pub share_of_size: f32,
}

impl Crowd {
    pub(super) fn assign_clips(&mut self, clips: &[ModelClips]) {
        // The deal is by place, whatever was played before.
        self.instances.sort_unstable_by_key(|instance| (instance.model, instance.rank));
        let mut random = SplitMix64::new(self.seed, stream::CLIPS);
        for (model, &clips) in clips.iter().enumerate() {
            let range = self.instances_of(model);
            let mut deal: Vec<Option<u32>> = clips.candidates().cycle().take(range.len()).collect();
            random.shuffle(&mut deal);
            for (index, clip) in range.zip(deal) {
                let bounds = self.repertoire.bounds(&self.models, model, clip);
                self.repertoire.prepare(&self.models, model, clip);
                let instance = &mut self.instances[index];
                let scale = instance.world_from_model.matrix3.x_axis.length();
                instance.clip = clip;
                instance.center_world = instance.world_from_model.transform_point3(bounds.center());
                instance.radius = bounds.radius() * scale;
            }
        }
        self.assign_poses();
        self.measure();
        self.ground_height = self.find_ground(clips);
        // What they have room for may have changed.
        self.scratches.clear();
    }

    /// Where in its clip each instance starts, and which instances share a pose for it.
    fn assign_poses(&mut self) {
        let Self { models, instances, share_hz, .. } = self;
        for instance in instances.iter_mut() {
            let clip = clip_of(&models[instance.model as usize], instance.clip);
            let duration_seconds = clip.map_or(0.0, |clip| f64::from(clip.duration_seconds));
            let mut phase = f64::from(instance.phase);
            if let Some(share_hz) = *share_hz {
                let count = shared_pose_count(clip, share_hz);
                // The last moment is the first one again.
                let moment = (phase * count).round() % count;
                instance.pose = moment as u32;
                phase = moment / count;
            }
            instance.start_seconds = phase * duration_seconds;
        }
        let key = |instance: &Instance| (instance.model, instance.clip, instance.pose, instance.rank);
        instances.sort_unstable_by_key(key);
        let mut pose = 0;
        let mut last = None;
        for instance in instances.iter_mut() {
            let of_pose = (instance.model, instance.clip, instance.pose);
            pose += u32::from(last.is_some() && (share_hz.is_none() || last != Some(of_pose)));
            last = Some(of_pose);
            instance.pose = pose;
        }
    }

    /// The worst that sharing poses does, over all clips that are played, at moments spread over each. Where a clip
    /// starts again it may jump, and some then jump a little earlier than others: that is not counted. `None` where poses
    /// are not shared.
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
                // Half of the way from one moment to the next.
                let shift_seconds = 0.5 * f64::from(clip.duration_seconds) / shared_pose_count(Some(clip), share_hz);
                let scale = instance.world_from_model.matrix3.x_axis.length();
                let metres = scale * worst_displacement(model, clip, shift_seconds);
                worst.metres = worst.metres.max(metres);
                let share_of_size = metres / (2.0 * instance.radius);
                if share_of_size.is_finite() {
                    worst.share_of_size = worst.share_of_size.max(share_of_size);
                }
            }
        }
        Some(worst)
    }
}
