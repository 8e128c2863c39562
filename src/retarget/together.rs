//! Clips together: several clips of a model in one, which plays all of them at once.
//!
//! In: a model, and the clips to join. Out: an ordinary [`Clip`]. Blender writes a clip for each object, so that one machine has
//! many clips, each of which moves a part of it.
//!
//! The tracks of all parts stand side by side. Of several tracks for the same property of a node, the one of the last part counts.
//! The joined clip is as long as its longest part. A shorter part repeats as often as it fits, and then stays at its end until the
//! joined clip starts again: lengths that differ by a frame or two are common.

use std::collections::HashSet;

use crate::model::{Clip, Interpolation, Model, MorphTrack, Track};

/// The largest number of keys of a timeline of a part that repeats. A longer one plays once, and stays at its end.
const MOST_KEYS: usize = 1 << 16;

/// A key of a part that repeats: its time, the key of the part, and whether the value stays from there on, or until there.
type Key = (f32, usize, bool);

/// Joins some clips of a model, by index, and returns how many tracks do not count because of later ones.
pub fn join(model: &Model, parts: &[usize], name: &str) -> (Clip, usize) {
    let parts: Vec<&Clip> = parts.iter().filter_map(|&part| model.clips.get(part)).collect();
    let duration_seconds = parts.iter().map(|part| part.duration_seconds).fold(0.0, f32::max);
    let mut joined = Clip { name: Some(name.to_owned()), duration_seconds, ..Clip::default() };
    let mut replaced = 0;
    for part in parts {
        let first = joined.timelines.len() as u32;
        let keys: Vec<Vec<Key>> = part.timelines.iter().map(|times| repeated(times, part, duration_seconds)).collect();
        joined.timelines.extend(keys.iter().map(|keys| keys.iter().map(|(time, ..)| *time).collect::<Vec<f32>>()));
        let vectors = |track: &Track<_>| moved(track, &keys, first);
        replaced += put(&mut joined.translations, part.translations.iter().map(vectors), |track| track.node);
        replaced += put(&mut joined.scales, part.scales.iter().map(vectors), |track| track.node);
        let rotations = part.rotations.iter().map(|track| moved(track, &keys, first));
        replaced += put(&mut joined.rotations, rotations, |track| track.node);
        let weights = part.morph_weights.iter().map(|track| MorphTrack {
            timeline: first + track.timeline,
            values: values(
                track.interpolation,
                &track.values,
                track.weight_count as usize,
                &keys[track.timeline as usize],
            ),
            ..*track
        });
        replaced += put(&mut joined.morph_weights, weights, |track| track.first_weight);
    }
    (joined, replaced)
}

/// Returns whether clips are the parts of one take: there are several, and no two of them move the same property.
pub fn are_parts(clips: &[Clip]) -> bool {
    let mut moved = HashSet::new();
    let mut is_new = |property: u8, index: u32| moved.insert((property, index));
    clips.len() > 1
        && clips.iter().all(|clip| {
            clip.translations.iter().all(|track| is_new(0, track.node))
                && clip.rotations.iter().all(|track| is_new(1, track.node))
                && clip.scales.iter().all(|track| is_new(2, track.node))
                && clip.morph_weights.iter().all(|track| is_new(3, track.first_weight))
        })
}

/// Appends tracks in place of those of the same property. Returns the number of these.
fn put<T>(tracks: &mut Vec<T>, new: impl Iterator<Item = T>, property: impl Fn(&T) -> u32) -> usize {
    let new: Vec<T> = new.collect();
    let properties: HashSet<u32> = new.iter().map(&property).collect();
    let before = tracks.len();
    tracks.retain(|track| !properties.contains(&property(track)));
    let replaced = before - tracks.len();
    tracks.extend(new);
    replaced
}

/// Repeats the keys of a part as often as it fits into the whole. Where a turn begins after 0 or ends early, its value stays.
fn repeated(times: &[f32], part: &Clip, whole_seconds: f32) -> Vec<Key> {
    /// Lengths that differ by less, as a share, are equal.
    const TOLERANCE: f32 = 1e-4;
    let turn_seconds = part.duration_seconds;
    let turns = (whole_seconds / turn_seconds + TOLERANCE).floor();
    let fits = turns * (times.len() as f32 + 2.0) <= MOST_KEYS as f32;
    if !(turns > 1.0 && fits && times.first().is_some_and(|first| *first >= 0.0)) {
        return times.iter().zip(0..).map(|(&time, key)| (time, key, false)).collect();
    }
    let mut keys = Vec::new();
    for turn in 0..turns as u32 {
        let at = |seconds: f32| (turn as f32 * turn_seconds + seconds).min(whole_seconds);
        keys.extend(times.first().filter(|first| **first > 0.0).map(|_| (at(0.0), 0, true)));
        keys.extend(times.iter().zip(0..).map(|(&time, key)| (at(time), key, false)));
        keys.extend(
            times.last().filter(|last| **last < turn_seconds).map(|_| (at(turn_seconds), times.len() - 1, true)),
        );
    }
    keys
}

fn moved<T: Copy + Default>(track: &Track<T>, keys: &[Vec<Key>], first_timeline: u32) -> Track<T> {
    let values = values(track.interpolation, &track.values, 1, &keys[track.timeline as usize]);
    Track { timeline: first_timeline + track.timeline, values, ..*track }
}

/// Returns the values of keys, each of which has `width` of them, or three times as many for splines.
fn values<T: Copy + Default>(interpolation: Interpolation, values: &[T], width: usize, keys: &[Key]) -> Vec<T> {
    let per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let mut all = Vec::with_capacity(keys.len() * width * per_key);
    for &(_, key, stays) in keys {
        let first = all.len();
        all.extend_from_slice(&values[key * width * per_key..(key + 1) * width * per_key]);
        if stays && per_key == 3 {
            // No tangents.
            all[first..first + width].fill(T::default());
            all[first + 2 * width..].fill(T::default());
        }
    }
    all
}
