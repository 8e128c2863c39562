//! The clips that are shown without a choice. Packs of clips are often in the order of the alphabet, and begin with a death.

use glam::Vec3A;

use super::names::words_of;
use crate::animation::{PoseScratch, pose_model};
use crate::model::{Clip, Model};

/// Words in the names of clips that a character may play all the time, the best first.
const WORDS: [&[&str]; 3] = [&["idle", "stand", "standing", "rest"], &["walk", "walking"], &["run", "running"]];
/// The largest number of clips of which the ends are compared.
const MOST_COMPARED: usize = 64;

/// Returns the clips that stand still, walk and run, by their names. Of several, the one with the shortest name counts. Without
/// any it is the first one that repeats without a jump, or the first one.
pub fn first_clips(model: &Model) -> Vec<u32> {
    let clips = || (0..).zip(&model.clips);
    let named = |words: &&[&str]| {
        let names = clips().filter_map(|(index, clip)| Some((clip.name.as_deref()?, index)));
        let of_kind = names.filter(|(name, _)| words_of(name).iter().any(|word| words.contains(&&**word)));
        of_kind.min_by_key(|(name, index)| (name.len(), *index)).map(|(_, index)| index)
    };
    let found: Vec<u32> = WORDS.iter().filter_map(named).collect();
    if !found.is_empty() {
        return found;
    }
    let mut scratch = PoseScratch::for_model(model);
    let looping = clips().take(MOST_COMPARED).find(|(_, clip)| jump_of(model, clip, &mut scratch).is_small);
    looping.map(|(index, _)| index).into_iter().collect()
}

/// How far a clip ends from where it began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jump {
    /// The longest distance between both places of a joint, in metres.
    pub metres: f32,
    /// Whether that is less than a hundredth of the body's size, which nobody sees.
    pub is_small: bool,
}

pub fn jump_of(model: &Model, clip: &Clip, scratch: &mut PoseScratch) -> Jump {
    let mut places = |seconds: f64| -> Vec<Vec3A> {
        let pose = pose_model(model, Some(clip), seconds, scratch).model_from_node;
        let drawn = model.palette.nodes.iter().map(|&node| pose[node as usize].translation);
        // A file without a mesh has no palette.
        if model.palette.is_empty() { pose.iter().map(|node| node.translation).collect() } else { drawn.collect() }
    };
    let (first, last) = (places(0.0), places(clip.duration_seconds.into()));
    let extreme = |of: fn(Vec3A, Vec3A) -> Vec3A| first.iter().copied().reduce(of).unwrap_or_default();
    let size = (extreme(Vec3A::max) - extreme(Vec3A::min)).max_element();
    let metres = first.iter().zip(&last).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    // What is left of rounding is no distance.
    let metres = if metres <= 1e-6 * size { 0.0 } else { metres };
    Jump { metres, is_small: clip.duration_seconds > 0.0 && metres <= 0.01 * size }
}
