//! The tracks of a clip, their interpolation and their size.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::{Clip, Interpolation, Track};

#[derive(Debug, Serialize)]
pub(super) struct ClipFacts<'m> {
    pub name: Option<&'m str>,
    /// The duration in seconds.
    pub duration: f32,
    /// The number of tracks that move a node; the next fields count those of the other properties.
    pub translations: usize,
    pub rotations: usize,
    pub scales: usize,
    pub morph_weights: usize,
    /// The number of distinct lists of key times.
    pub timelines: usize,
    /// The number of tracks for each interpolation, by its name in glTF.
    pub interpolations: BTreeMap<&'static str, usize>,
    /// The number of keys of all tracks.
    pub keys: usize,
    /// The numbers of keys and of tracks of each list of key times.
    pub shared_timelines: Vec<TimelineFacts>,
    /// The size of key times and values.
    pub bytes: u64,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct TimelineFacts {
    pub keys: usize,
    pub tracks: usize,
}

impl<'m> ClipFacts<'m> {
    pub fn of(clip: &'m Clip) -> Self {
        let mut facts = Self {
            name: clip.name.as_deref(),
            duration: clip.duration_seconds,
            translations: clip.translations.len(),
            rotations: clip.rotations.len(),
            scales: clip.scales.len(),
            morph_weights: clip.morph_weights.len(),
            timelines: clip.timelines.len(),
            interpolations: BTreeMap::new(),
            keys: 0,
            shared_timelines: clip
                .timelines
                .iter()
                .map(|times| TimelineFacts { keys: times.len(), tracks: 0 })
                .collect(),
            bytes: clip.timelines.iter().map(|times| size_of_val(&times[..]) as u64).sum(),
        };
        for (timeline, interpolation, bytes) in tracks(clip) {
            *facts.interpolations.entry(name(interpolation)).or_insert(0) += 1;
            facts.bytes += bytes as u64;
            if let Some(timeline) = facts.shared_timelines.get_mut(timeline as usize) {
                timeline.tracks += 1;
                facts.keys += timeline.keys;
            }
        }
        facts
    }
}

/// Iterates over the timeline, the interpolation and the size in bytes of all tracks.
fn tracks(clip: &Clip) -> impl Iterator<Item = (u32, Interpolation, usize)> {
    fn of<T>(tracks: &[Track<T>]) -> impl Iterator<Item = (u32, Interpolation, usize)> {
        tracks.iter().map(|track| (track.timeline, track.interpolation, size_of_val(&track.values[..])))
    }
    let morphs = clip.morph_weights.iter();
    let morphs = morphs.map(|track| (track.timeline, track.interpolation, size_of_val(&track.values[..])));
    of(&clip.translations).chain(of(&clip.rotations)).chain(of(&clip.scales)).chain(morphs)
}

/// Returns the name that glTF has for an interpolation.
fn name(interpolation: Interpolation) -> &'static str {
    match interpolation {
        Interpolation::Step => "STEP",
        Interpolation::Linear => "LINEAR",
        Interpolation::CubicSpline => "CUBICSPLINE",
    }
}
