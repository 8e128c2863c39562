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

/// The largest number of times and values that all repetitions add. A part for which none are left plays once, and stays at its
/// end: a short part of a hostile file would repeat a million times.
const MOST_VALUES: f64 = 4e6;

/// A key of a part that repeats: its time, the key of the part, and whether the value stays from there on, or until there.
type Key = (f32, usize, bool);

/// Joins some clips of a model, by index, and returns how many tracks do not count because of later ones.
pub fn join(model: &Model, parts: &[usize], name: &str) -> (Clip, usize) {
    let parts: Vec<&Clip> = parts.iter().filter_map(|&part| model.clips.get(part)).collect();
    let duration_seconds = parts.iter().map(|part| part.duration_seconds).fold(0.0, f32::max);
    let mut joined = Clip { name: Some(name.to_owned()), duration_seconds, ..Clip::default() };
    let (mut replaced, mut values_left) = (0, MOST_VALUES);
    for part in parts {
        let first = joined.timelines.len() as u32;
        let turns = turns_of(part, duration_seconds, &mut values_left);
        let repeat = |times: &Vec<f32>| repeated(times, part.duration_seconds, turns, duration_seconds);
        let keys: Vec<Vec<Key>> = part.timelines.iter().map(repeat).collect();
        joined.timelines.extend(keys.iter().map(|keys| keys.iter().map(|(time, ..)| *time).collect::<Vec<f32>>()));
        let vectors = |track: &Track<_>| moved(track, &keys, first);
        replaced += put(&mut joined.translations, part.translations.iter().map(vectors), |track| track.node);
        replaced += put(&mut joined.scales, part.scales.iter().map(vectors), |track| track.node);
        let rotations = part.rotations.iter().map(|track| moved(track, &keys, first));
        replaced += put(&mut joined.rotations, rotations, |track| track.node);
        let weights = part.morph_weights.iter().map(|track| {
            let (width, keys) = (track.weight_count as usize, &keys[track.timeline as usize]);
            let values = values(track.interpolation, &track.values, width, keys);
            MorphTrack { timeline: first + track.timeline, values, ..*track }
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

/// Returns how often a part fits into the whole, if that many values are left, and takes them.
fn turns_of(part: &Clip, whole_seconds: f32, values_left: &mut f64) -> u32 {
    /// Lengths that differ by less, as a share, are equal.
    const TOLERANCE: f32 = 1e-4;
    let turns = (whole_seconds / part.duration_seconds + TOLERANCE).floor();
    let of_morphs = part.morph_weights.iter().map(|track| track.values.len());
    let of_tracks = part.node_tracks().map(|track| track.value_count).chain(of_morphs);
    let count: usize = of_tracks.chain(part.timelines.iter().map(Vec::len)).sum();
    // At both ends of a turn a key may be added to those that there are, of which there is at least one.
    let added = f64::from(turns) * 3.0 * count as f64;
    let begins_early = part.timelines.iter().any(|times| times.first().is_some_and(|first| *first < 0.0));
    if !(turns > 1.0 && added <= *values_left) || begins_early {
        return 1;
    }
    *values_left -= added;
    turns as u32
}

/// Repeats the keys of a part. Where a turn begins after 0 or ends early, its value stays.
fn repeated(times: &[f32], turn_seconds: f32, turns: u32, whole_seconds: f32) -> Vec<Key> {
    if turns <= 1 {
        return times.iter().zip(0..).map(|(&time, key)| (time, key, false)).collect();
    }
    let mut keys = Vec::new();
    for turn in 0..turns {
        let at = |seconds: f32| (turn as f32 * turn_seconds + seconds).min(whole_seconds);
        keys.extend(times.first().filter(|first| **first > 0.0).map(|_| (at(0.0), 0, true)));
        keys.extend(times.iter().zip(0..).map(|(&time, key)| (at(time), key, false)));
        let early = times.last().filter(|last| **last < turn_seconds);
        keys.extend(early.map(|_| (at(turn_seconds), times.len() - 1, true)));
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
