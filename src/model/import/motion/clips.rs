//! From animations to clips: the keyframes of the file, checked so that sampling need not check anything.
//!
//! Key times are finite and never decreasing. A clip begins at 0, also if keys are before that. Each track has the number of
//! values that its interpolation needs. Rotations are normalised, which integers and some exporters require; spline tangents
//! are not. A channel that is broken is left out. Each property of a node has at most one track.
//!
//! A clip ends at the last key of all channels with a target, even ignored ones, so that it loops when its author intended.
//!
//! Source: glTF 2.0, 3.11 (animations), appendix C (interpolation).

use std::collections::HashMap;
use std::fmt::Arguments;

use glam::{Vec3, Vec4};
use gltf::json;
use gltf::json::animation::{Interpolation as JsonInterpolation, Property};
use gltf::json::validation::Checked;

use super::nodes::{NodeTree, make_unit};
use crate::model::import::decode::{Accessor, Document};
use crate::model::import::error::{Fault, Result, Warnings, look_up};
use crate::model::import::file::json::NOWHERE;
use crate::model::import::limits::Counted;
use crate::model::{Clip, Interpolation, MorphTrack, MorphedNode, Track};

pub fn read(document: &Document, tree: &NodeTree, warnings: &mut Warnings) -> Result<Vec<Clip>> {
    let mut clips = Vec::new();
    for (index, entry) in document.root.animations.iter().enumerate() {
        let mut reader = ClipReader {
            document,
            tree,
            entry,
            at: &format!("animations[{index}]"),
            timelines: Timelines::default(),
            tracks: HashMap::new(),
            clip: Clip { name: entry.name.clone(), ..Clip::default() },
            warnings,
        };
        for (number, channel) in entry.channels.iter().enumerate() {
            let added = reader.add_channel(number, channel);
            reader.warnings.leave_out("channel", added)?;
        }
        clips.push(Clip { timelines: reader.timelines.list, ..reader.clip });
    }
    Ok(clips)
}

struct ClipReader<'a, 'f> {
    document: &'a Document<'f>,
    tree: &'a NodeTree,
    entry: &'a json::Animation,
    /// The JSON path of the animation. Paths below it are only formatted for messages: a model may have ten thousand channels.
    at: &'a str,
    timelines: Timelines,
    /// The index of the track of each node's property in its list, in case there is a second one.
    tracks: HashMap<(u32, u8), usize>,
    clip: Clip,
    warnings: &'a mut Warnings,
}

impl<'a> ClipReader<'a, '_> {
    fn add_channel(&mut self, number: usize, channel: &json::animation::Channel) -> Result<()> {
        let animation = self.at;
        let at = format_args!("{animation}.channels[{number}]");
        if channel.target.node.value() == NOWHERE as usize {
            return Ok(());
        }
        let Checked::Valid(property) = channel.target.path else {
            self.warnings.add(at, "unknown target path; ignored");
            return Ok(());
        };
        let index = channel.sampler.value();
        let sampler = look_up(&self.entry.samplers, "samplers", index, at)?;
        let at_sampler = format_args!("{animation}.samplers[{index}]");
        let times = self.timelines.read(self.document, sampler, at_sampler, self.warnings)?;
        self.clip.duration_seconds = self.clip.duration_seconds.max(times.last_seconds);
        let Some(node) = self.target_node(channel.target.node.value(), property, at)? else { return Ok(()) };
        let interpolation = interpolation_of(sampler, at_sampler)?;
        let morphed = if property == Property::MorphTargetWeights { self.tree.morphed_node(node) } else { None };
        let width = morphed.map(|morphed| morphed.weight_count as usize);
        let (output, found_width) = self.open_output(sampler, at_sampler, times.key_count, interpolation, width)?;
        let known = self.tracks.get(&(node, property as u8)).copied();
        if known.is_some() {
            self.warnings.add(at, "a second channel for the same property of the same node; the last one counts");
        }
        let timeline = times.index;
        let track_index = match property {
            Property::Rotation => {
                let values = read_rotations(&output, interpolation, self.warnings)?;
                put(&mut self.clip.rotations, known, Track { node, timeline, interpolation, values })
            }
            Property::Translation | Property::Scale => {
                let values = output.finite_floats::<3>("value")?.into_iter().map(Vec3::from).collect();
                let Clip { translations, scales, .. } = &mut self.clip;
                let tracks = if property == Property::Scale { scales } else { translations };
                put(tracks, known, Track { node, timeline, interpolation, values })
            }
            Property::MorphTargetWeights => {
                let Some(MorphedNode { first_weight, weight_count, .. }) = morphed else { return Ok(()) };
                let width = weight_count as usize;
                let mut values = output.finite_floats::<1>("value")?.into_flattened();
                if found_width != width {
                    // Missing weights are 0, and surplus ones are ignored.
                    let of_key =
                        |weights: &[f32]| (0..width).map(|at| weights.get(at).copied().unwrap_or(0.0)).collect();
                    values = values.chunks_exact(found_width).flat_map::<Vec<f32>, _>(of_key).collect();
                }
                let track = MorphTrack { first_weight, weight_count, timeline, interpolation, values };
                put(&mut self.clip.morph_weights, known, track)
            }
        };
        self.tracks.insert((node, property as u8), track_index);
        Ok(())
    }

    /// Returns the skeleton node of a channel's target, or `None` (with a warning) if animating it has no effect.
    fn target_node(&mut self, source: usize, property: Property, at: Arguments) -> Result<Option<u32>> {
        let tree = self.tree;
        let animates_weights = property == Property::MorphTargetWeights;
        let problem = match *look_up(&tree.skeleton_node, "nodes", source, format_args!("{at}.target.node"))? {
            None => "is neither in the scene nor a joint",
            Some(node) if animates_weights && tree.morphed_node(node).is_none() => "has no morph targets",
            Some(node) if !animates_weights && !tree.skeleton.is_free(node) => "has a matrix and cannot be animated",
            found => return Ok(found),
        };
        self.warnings.add(at, format_args!("nodes[{source}] {problem}; ignored"));
        Ok(None)
    }

    /// Opens the sampler's output, checks its number of elements, and charges it. A value has one element, or
    /// `weight_count` of them: each morph weight is an element. Also returns the number that it has in the file.
    fn open_output(
        &mut self,
        sampler: &json::animation::Sampler,
        at_sampler: Arguments,
        key_count: usize,
        interpolation: Interpolation,
        weight_count: Option<usize>,
    ) -> Result<(Accessor<'a>, usize)> {
        let output = Accessor::open(self.document, sampler.output.value(), format_args!("{at_sampler}.output"))?;
        let values_per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let width = weight_count.unwrap_or(1);
        let value_count = key_count.saturating_mul(values_per_key);
        let expected = value_count.saturating_mul(width);
        let mut found_width = width;
        if weight_count.is_some() && output.count != expected && output.count > 0 && output.count % value_count == 0 {
            found_width = output.count / value_count;
            let problem = format!("{found_width} weights for {width} morph targets; missing ones are 0");
            self.warnings.add(&output.at, problem);
        } else if output.count != expected {
            let each = if width == 1 { String::new() } else { format!(" of {width} morph weights") };
            let problem = format!(
                "{} elements, expected {expected}: {key_count} {interpolation:?} keys, {values_per_key} for each{each}",
                output.count
            );
            return Err(Fault::content(&output.at, problem));
        }
        self.document.take(Counted::KEY_VALUES, 4 * expected.max(output.count), &output.at)?;
        Ok((output, found_width))
    }
}

fn interpolation_of(sampler: &json::animation::Sampler, at_sampler: Arguments) -> Result<Interpolation> {
    match sampler.interpolation {
        Checked::Valid(JsonInterpolation::Linear) => Ok(Interpolation::Linear),
        Checked::Valid(JsonInterpolation::Step) => Ok(Interpolation::Step),
        Checked::Valid(JsonInterpolation::CubicSpline) => Ok(Interpolation::CubicSpline),
        Checked::Invalid => {
            let problem = "unknown, expected LINEAR, STEP or CUBICSPLINE";
            Err(Fault::content(format_args!("{at_sampler}.interpolation"), problem))
        }
    }
}

/// Replaces the track at index `known`, or appends one. Returns its index.
fn put<T>(tracks: &mut Vec<T>, known: Option<usize>, track: T) -> usize {
    let index = known.unwrap_or(tracks.len());
    match tracks.get_mut(index) {
        Some(old) => *old = track,
        None => tracks.push(track),
    }
    index
}

fn read_rotations(output: &Accessor, interpolation: Interpolation, warnings: &mut Warnings) -> Result<Vec<Vec4>> {
    let mut values: Vec<Vec4> = output.finite_floats::<4>("value")?.into_iter().map(Vec4::from).collect();
    let is_tangent = |index: usize| interpolation == Interpolation::CubicSpline && index % 3 != 1;
    let rotations = values.iter_mut().enumerate().filter(|(index, _)| !is_tangent(*index)).map(|(_, value)| value);
    make_unit(rotations, &output.at, warnings);
    Ok(values)
}

#[derive(Default)]
struct Timelines {
    list: Vec<Vec<f32>>,
    by_accessor: HashMap<usize, Times>,
    /// Keyed by the bits of all times, because exporters often repeat the times of a timeline.
    by_content: HashMap<Vec<u32>, Times>,
}

#[derive(Debug, Clone, Copy)]
struct Times {
    index: u32,
    key_count: usize,
    last_seconds: f32,
}

impl Timelines {
    fn read(
        &mut self,
        document: &Document,
        sampler: &json::animation::Sampler,
        at_sampler: Arguments,
        warnings: &mut Warnings,
    ) -> Result<Times> {
        let accessor = sampler.input.value();
        if let Some(&times) = self.by_accessor.get(&accessor) {
            return Ok(times);
        }
        let input = Accessor::open(document, accessor, format_args!("{at_sampler}.input"))?;
        document.take(Counted::KEY_VALUES, input.count, &input.at)?;
        let seconds: Vec<f32> = input.floats::<1>()?.into_flattened();
        let last_seconds = check_times(&seconds, &input.at, warnings)?;
        let bits = seconds.iter().map(|time| time.to_bits()).collect();
        let times = *self.by_content.entry(bits).or_insert_with(|| {
            let times = Times { index: self.list.len() as u32, key_count: seconds.len(), last_seconds };
            self.list.push(seconds);
            times
        });
        self.by_accessor.insert(accessor, times);
        Ok(times)
    }
}

/// Checks key times, and returns the last one. They must strictly increase and not be negative (3.11.1). Equal times are
/// accepted, because some exporters write a jump in this way, and so are keys before 0, of which a clip shows what follows 0.
/// Decreasing times have no clear meaning and are an error.
fn check_times(seconds: &[f32], at: &str, warnings: &mut Warnings) -> Result<f32> {
    let (Some(&first), Some(&last)) = (seconds.first(), seconds.last()) else {
        return Err(Fault::content(at, "no keyframes, expected at least one"));
    };
    if let Some(key) = seconds.iter().position(|time| !time.is_finite()) {
        return Err(Fault::content(at, format_args!("key {key} is at {} seconds", seconds[key])));
    }
    if first < 0.0 {
        warnings.add(at, format_args!("key 0 is at {first} seconds; the clip is played from 0 on"));
    }
    if let Some(key) = seconds.windows(2).position(|pair| pair[1] < pair[0]) {
        let (earlier, later) = (seconds[key], seconds[key + 1]);
        let problem = format!("key {} is at {later} seconds, which is before {earlier}", key + 1);
        return Err(Fault::content(at, problem));
    }
    let repeated_count = seconds.windows(2).filter(|pair| pair[1] == pair[0]).count();
    warnings.add_count(at, repeated_count, "keys have the same time as the key before; the last of them counts");
    Ok(last.max(0.0))
}
