//! Animation clips: keyframes as the file has them, grouped by what they animate.

use glam::{Vec3, Vec4};

/// glTF 2.0, 3.11 and appendix C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// The earlier key holds until the next one.
    Step,
    /// Componentwise, and along the short great arc for rotations.
    Linear,
    /// Hermite; the tangents are scaled by the length of the key interval.
    CubicSpline,
}

/// One animated property of one node.
///
/// `values` holds one element per key of the timeline, or, for [`Interpolation::CubicSpline`], three: in-tangent,
/// value, out-tangent.
#[derive(Debug, Clone, PartialEq)]
pub struct Track<T> {
    /// Index into the skeleton; never one of its fixed locals.
    pub node: u32,
    /// Index into [`Clip::timelines`].
    pub timeline: u32,
    /// How values between keys come about.
    pub interpolation: Interpolation,
    /// Keyed values, as described above.
    pub values: Vec<T>,
}

/// The animated morph weights of one node, all of them together as the file keys them.
///
/// `values` holds, for each key of the timeline, one number for each weight, or, for [`Interpolation::CubicSpline`],
/// three runs of them: in-tangents, values, out-tangents.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphTrack {
    /// First of the node's weights in [`LocalPose::morph_weights`](super::LocalPose::morph_weights).
    pub first_weight: u32,
    /// Number of the node's weights, at least 1.
    pub weight_count: u32,
    /// Index into [`Clip::timelines`].
    pub timeline: u32,
    /// How values between keys come about.
    pub interpolation: Interpolation,
    /// Keyed values, as described above; finite.
    pub values: Vec<f32>,
}

/// One glTF animation. At most one track per node and property.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clip {
    /// The file's name, if any.
    pub name: Option<String>,
    /// Time of the last key of any track; a clip starts at 0.
    pub duration_seconds: f32,
    /// Distinct key-time arrays, each non-empty, finite, never negative and never decreasing. Tracks share them. Where
    /// several keys have one time the last of them counts from that time on.
    pub timelines: Vec<Vec<f32>>,
    /// Animated translations.
    pub translations: Vec<Track<Vec3>>,
    /// Animated rotations as x, y, z, w. Values are unit quaternions; spline tangents are not.
    pub rotations: Vec<Track<Vec4>>,
    /// Animated scales.
    pub scales: Vec<Track<Vec3>>,
    /// Animated morph weights.
    pub morph_weights: Vec<MorphTrack>,
}

impl Clip {
    /// Number of animated properties.
    #[must_use]
    pub fn track_count(&self) -> usize {
        self.translations.len() + self.rotations.len() + self.scales.len() + self.morph_weights.len()
    }
}
