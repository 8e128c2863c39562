//! Animations: keyframes as the file has them, with everything that sampling may rely on proven here.
//!
//! After this: key times are finite, never negative and never decreasing; each track has the number of values that
//! its interpolation needs; rotations are unit quaternions (integers and careless exporters need that), while spline
//! tangents stay as they are; a node's property has one track at most.
//!
//! A clip lasts to the last key of any of its channels that has a target, ignored ones included: otherwise a
//! character would loop at another moment than the file means.
//!
//! Source: glTF 2.0, 3.11 (animations), appendix C (interpolation).

use std::collections::HashMap;
use std::fmt::Arguments;

use glam::{Vec3, Vec4};
use gltf::json;
use gltf::json::animation::{Interpolation as JsonInterpolation, Property};
use gltf::json::validation::Checked;

use super::nodes::{NodeTree, make_unit};
use crate::model::import::decode::{Accessor, Document, NOWHERE};
use crate::model::import::error::{Fault, Result, Warnings};
use crate::model::import::limits::Budget;
use crate::model::{Clip, Interpolation, MorphTrack, MorphedNode, Track};

/// Reads every animation of the file.
pub fn read(document: &Document, tree: &NodeTree, warnings: &mut Warnings) -> Result<Vec<Clip>> {
    let mut budget = Budget::key_values(document.purse());
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
            budget: &mut budget,
            warnings,
        };
        for (number, channel) in entry.channels.iter().enumerate() {
            reader.add_channel(number, channel)?;
        }
        let mut clip = reader.clip;
        clip.timelines = reader.timelines.list;
        clips.push(clip);
    }
    Ok(clips)
}

struct ClipReader<'a, 'f> {
    document: &'a Document<'f>,
    tree: &'a NodeTree,
    entry: &'a json::Animation,
    /// JSON path of the animation. Those below it are only written out where somebody reads them: a model may have ten
    /// thousand channels.
    at: &'a str,
    timelines: Timelines,
    /// Place of the track of a node's property in its list, for the case that there is a second one.
    tracks: HashMap<(u32, PropertyKey), usize>,
    clip: Clip,
    budget: &'a mut Budget,
    warnings: &'a mut Warnings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum PropertyKey {
    Translation,
    Rotation,
    Scale,
    MorphWeights,
}

impl<'a> ClipReader<'a, '_> {
    fn add_channel(&mut self, number: usize, channel: &json::animation::Channel) -> Result<()> {
        let animation = self.at;
        let at = format_args!("{animation}.channels[{number}]");
        if channel.target.node.value() == NOWHERE as usize {
            return Ok(());
        }
        let Checked::Valid(path) = channel.target.path else {
            self.warnings.add(at, "unknown target path, ignored");
            return Ok(());
        };
        let (index, samplers) = (channel.sampler.value(), &self.entry.samplers);
        let Some(sampler) = samplers.get(index) else {
            return Err(Fault::dangling(at, "samplers", index, samplers.len()));
        };
        let at_sampler = format_args!("{animation}.samplers[{index}]");
        let times = self.timelines.read(self.document, sampler, at_sampler, self.budget, self.warnings)?;
        self.clip.duration_seconds = self.clip.duration_seconds.max(times.last_seconds);
        let property = match path {
            Property::Translation => PropertyKey::Translation,
            Property::Rotation => PropertyKey::Rotation,
            Property::Scale => PropertyKey::Scale,
            Property::MorphTargetWeights => PropertyKey::MorphWeights,
        };
        let Some(node) = self.target_node(channel.target.node.value(), property, at)? else { return Ok(()) };
        let interpolation = interpolation_of(sampler, at_sampler)?;
        let morphed = if property == PropertyKey::MorphWeights { self.tree.morphed_node(node) } else { None };
        let width = morphed.map_or(1, |morphed| morphed.weight_count as usize);
        let output = self.open_output(sampler, at_sampler, times.key_count, interpolation, width)?;
        let place = self.tracks.get(&(node, property)).copied();
        if place.is_some() {
            self.warnings.add(at, "a second channel for the same property of the same node; the last one counts");
        }
        let timeline = times.index;
        let place = match property {
            PropertyKey::Rotation => {
                let values = read_rotations(&output, interpolation, self.warnings)?;
                put(&mut self.clip.rotations, place, Track { node, timeline, interpolation, values })
            }
            PropertyKey::Translation => {
                let values = read_vectors(&output)?;
                put(&mut self.clip.translations, place, Track { node, timeline, interpolation, values })
            }
            PropertyKey::Scale => {
                let values = read_vectors(&output)?;
                put(&mut self.clip.scales, place, Track { node, timeline, interpolation, values })
            }
            PropertyKey::MorphWeights => {
                let Some(MorphedNode { first_weight, weight_count, .. }) = morphed else { return Ok(()) };
                let values = read_numbers(&output)?;
                let track = MorphTrack { first_weight, weight_count, timeline, interpolation, values };
                put(&mut self.clip.morph_weights, place, track)
            }
        };
        self.tracks.insert((node, property), place);
        Ok(())
    }

    /// Skeleton node of a channel's target, or `None` (with a warning) where animating it shows nothing.
    fn target_node(&mut self, source: usize, property: PropertyKey, at: Arguments) -> Result<Option<u32>> {
        let Some(&node) = self.tree.skeleton_node.get(source) else {
            let count = self.tree.skeleton_node.len();
            return Err(Fault::dangling(format_args!("{at}.target.node"), "nodes", source, count));
        };
        let Some(node) = node else {
            self.warnings.add(at, format_args!("nodes[{source}] is neither in the scene nor a joint; ignored"));
            return Ok(None);
        };
        if property == PropertyKey::MorphWeights {
            if self.tree.morphed_node(node).is_none() {
                self.warnings.add(at, format_args!("nodes[{source}] shows no morph targets; ignored"));
                return Ok(None);
            }
            return Ok(Some(node));
        }
        if self.tree.skeleton.fixed_locals.binary_search_by_key(&node, |fixed| fixed.node).is_ok() {
            self.warnings.add(at, format_args!("nodes[{source}] has a matrix and cannot be animated; ignored"));
            return Ok(None);
        }
        Ok(Some(node))
    }

    /// The sampler's output, proven to have the right number of elements and paid for. `width` is the number of
    /// elements of one value: 1, but for morph weights, which are scalars in the file.
    fn open_output(
        &mut self,
        sampler: &json::animation::Sampler,
        at_sampler: Arguments,
        key_count: usize,
        interpolation: Interpolation,
        width: usize,
    ) -> Result<Accessor<'a>> {
        let output = Accessor::open(self.document, sampler.output.value(), format_args!("{at_sampler}.output"))?;
        let values_per_key = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let expected = key_count.saturating_mul(values_per_key).saturating_mul(width);
        if output.count != expected {
            let each = if width == 1 { String::new() } else { format!(" of {width} morph weights") };
            let problem = format!(
                "{} elements, expected {expected}: {key_count} {interpolation:?} keys, {values_per_key} for each{each}",
                output.count
            );
            return Err(Fault::content(&output.at, problem));
        }
        self.budget.take(4 * output.count as u64, &output.at)?;
        Ok(output)
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

/// Replaces the track at `place` or appends one; returns where it is.
fn put<T>(tracks: &mut Vec<T>, place: Option<usize>, track: T) -> usize {
    match place.and_then(|place| tracks.get_mut(place).map(|slot| (place, slot))) {
        Some((place, slot)) => {
            *slot = track;
            place
        }
        None => {
            tracks.push(track);
            tracks.len() - 1
        }
    }
}

fn read_vectors(output: &Accessor) -> Result<Vec<Vec3>> {
    let values: Vec<Vec3> = output.floats::<3>()?.into_iter().map(Vec3::from).collect();
    match values.iter().position(|value| !value.is_finite()) {
        Some(value) => Err(Fault::content(&output.at, format_args!("value {value} is not finite"))),
        None => Ok(values),
    }
}

fn read_numbers(output: &Accessor) -> Result<Vec<f32>> {
    let values: Vec<f32> = output.floats::<1>()?.into_iter().flatten().collect();
    match values.iter().position(|value| !value.is_finite()) {
        Some(value) => Err(Fault::content(&output.at, format_args!("value {value} is not finite"))),
        None => Ok(values),
    }
}

fn read_rotations(output: &Accessor, interpolation: Interpolation, warnings: &mut Warnings) -> Result<Vec<Vec4>> {
    let mut values: Vec<Vec4> = output.floats::<4>()?.into_iter().map(Vec4::from).collect();
    if let Some(value) = values.iter().position(|value| !value.is_finite()) {
        return Err(Fault::content(&output.at, format_args!("value {value} is not finite")));
    }
    let is_tangent = |index: usize| interpolation == Interpolation::CubicSpline && index % 3 != 1;
    let rotations = values.iter_mut().enumerate().filter(|(index, _)| !is_tangent(*index)).map(|(_, value)| value);
    make_unit(rotations, &output.at, warnings);
    Ok(values)
}

/// The distinct timelines of one clip.
#[derive(Default)]
struct Timelines {
    list: Vec<Vec<f32>>,
    by_accessor: HashMap<usize, Times>,
    /// By the bits of all times: exporters like to repeat them.
    by_content: HashMap<Vec<u32>, Times>,
}

/// What a channel needs to know of its timeline.
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
        budget: &mut Budget,
        warnings: &mut Warnings,
    ) -> Result<Times> {
        let accessor = sampler.input.value();
        if let Some(&times) = self.by_accessor.get(&accessor) {
            return Ok(times);
        }
        let input = Accessor::open(document, accessor, format_args!("{at_sampler}.input"))?;
        budget.take(input.count as u64, &input.at)?;
        let seconds: Vec<f32> = input.floats::<1>()?.into_iter().flatten().collect();
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

/// Returns the last time. Key times must strictly increase (3.11.1). Where they are equal the meaning is plain, a jump,
/// and exporters that place one write it; where they decrease it is anybody's guess.
fn check_times(seconds: &[f32], at: &str, warnings: &mut Warnings) -> Result<f32> {
    let (Some(&first), Some(&last)) = (seconds.first(), seconds.last()) else {
        return Err(Fault::content(at, "no keyframes, expected at least one"));
    };
    if let Some(key) = seconds.iter().position(|time| !time.is_finite()) {
        return Err(Fault::content(at, format_args!("key {key} is at {} seconds", seconds[key])));
    }
    if first < 0.0 {
        return Err(Fault::content(at, format_args!("key 0 is at {first} seconds, expected 0 or later")));
    }
    if let Some(key) = seconds.windows(2).position(|pair| pair[1] < pair[0]) {
        let (earlier, later) = (seconds[key], seconds[key + 1]);
        let problem = format!("key {} is at {later} seconds, which is before {earlier}", key + 1);
        return Err(Fault::content(at, problem));
    }
    let repeated_count = seconds.windows(2).filter(|pair| pair[1] == pair[0]).count();
    if repeated_count > 0 {
        warnings.add(at, format_args!("{repeated_count} keys have the time of the key before; the last one counts"));
    }
    Ok(last)
}
