//! What a crowd knows of each clip: its bounds, its gait, its morph targets, and its steps for the lanes. Each is computed once,
//! when it is first needed.

use super::playback::clip_of;
use crate::animation::lanes::LaneClip;
use crate::measure::{Gait, PosedBounds, gait_of, posed_bounds};
use crate::model::Model;

/// The data of a clip or a rest pose that the crowd needs.
#[derive(Debug, Clone, Default)]
struct Playable {
    bounds: Option<PosedBounds>,
    has_morphs: Option<bool>,
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

    pub fn bounds(&mut self, models: &[Model], model: usize, clip: Option<u32>) -> PosedBounds {
        let model_clip = clip_of(&models[model], clip);
        *self.playable(model, clip).bounds.get_or_insert_with(|| posed_bounds(&models[model], model_clip))
    }

    pub fn has_morphs(&mut self, models: &[Model], model: usize, clip: Option<u32>) -> bool {
        let model_clip = clip_of(&models[model], clip);
        *self.playable(model, clip).has_morphs.get_or_insert_with(|| models[model].has_active_morphs(model_clip))
    }

    /// Forgets all bounds and morph targets: the weights that the models hold have changed.
    pub fn forget_morphs(&mut self) {
        let playables = self.by_model.iter_mut().flatten();
        playables.for_each(|playable| (playable.bounds, playable.has_morphs) = (None, None));
    }

    pub fn gait(&mut self, models: &[Model], model: usize, clip: Option<u32>) -> Gait {
        let Some(model_clip) = clip_of(&models[model], clip) else { return Gait::default() };
        *self.playable(model, clip).gait.get_or_insert_with(|| gait_of(&models[model], model_clip))
    }

    pub fn prepare(&mut self, models: &[Model], model: usize, clip: Option<u32>) {
        let model_clip = clip_of(&models[model], clip);
        self.playable(model, clip).lanes.get_or_insert_with(|| LaneClip::compile(&models[model], model_clip));
    }

    /// Returns the clip for the lanes, if it was prepared and fits them.
    pub fn lane_clip(&self, model: usize, clip: Option<u32>) -> Option<&LaneClip> {
        self.by_model[model][clip.map_or(0, |clip| clip as usize + 1)].lanes.as_ref()?.as_ref()
    }

    pub fn lane_clips(&self) -> impl Iterator<Item = &LaneClip> {
        self.by_model.iter().flatten().filter_map(|playable| playable.lanes.as_ref()?.as_ref())
    }
}
