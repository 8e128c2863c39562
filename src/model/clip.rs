//! Animation clips: the keyframes of the file, grouped by the property that they animate.

use std::sync::Arc;

use glam::{Vec2, Vec3, Vec4};

/// The way to compute values between keys (glTF 2.0, 3.11 and appendix C).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The value of the earlier key, until the next one.
    Step,
    /// Linear by component; for rotations, along the shorter great arc.
    Linear,
    /// A Hermite spline, with tangents scaled by the length of the key interval.
    CubicSpline,
}

/// One animated property of one node.
///
/// `values` holds one element per key of the timeline, or three for [`Interpolation::CubicSpline`]: in-tangent, value,
/// out-tangent.
#[derive(Debug, Clone, PartialEq)]
pub struct Track<T> {
    /// The index of the node in the skeleton; never one of the fixed locals.
    pub node: u32,
    /// The index of the key times in [`Clip::timelines`].
    pub timeline: u32,
    pub interpolation: Interpolation,
    pub values: Vec<T>,
}

/// The animated morph weights of one node, all of which have the same keys.
///
/// `values` holds one number per weight for each key of the timeline. For [`Interpolation::CubicSpline`] there are
/// three lists of them for each key: in-tangents, values, out-tangents.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphTrack {
    /// The index of the node's first weight in [`LocalPose::morph_weights`](super::LocalPose::morph_weights).
    pub first_weight: u32,
    /// The number of the node's weights, at least 1.
    pub weight_count: u32,
    /// The index of the key times in [`Clip::timelines`].
    pub timeline: u32,
    pub interpolation: Interpolation,
    /// The keyed values, in the order given above; finite.
    pub values: Vec<f32>,
}

/// The name of the clip that joins all clips of a file.
pub const TOGETHER: &str = "together";

/// What stands between the names of clips that are joined.
pub const JOIN: char = '+';

/// One glTF animation, with at most one track for each property of a node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clip {
    pub name: Option<String>,
    /// The name of the file that the clip was borrowed from; `None` for a clip of the model's own file.
    pub file: Option<Arc<str>>,
    /// The time of the last key. A clip starts at 0.
    pub duration_seconds: f32,
    /// How far the clip carried the body in its duration, x and z of model space, before that was taken out of its tracks.
    pub drift: Vec2,
    /// The distinct arrays of key times, which tracks share. Each is non-empty, finite and never decreasing. If several keys
    /// have the same time, the last one counts from that time on.
    pub timelines: Vec<Vec<f32>>,
    pub translations: Vec<Track<Vec3>>,
    /// Animated rotations as x, y, z, w. Values are unit quaternions, but spline tangents are not.
    pub rotations: Vec<Track<Vec4>>,
    pub scales: Vec<Track<Vec3>>,
    pub morph_weights: Vec<MorphTrack>,
}
