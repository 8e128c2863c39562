//! The price of shared poses: how far a vertex may be from where its own pose would have it. For reports; frames do not use it.

use super::playback::{clip_of, shared_pose_count};
use super::{Crowd, Instance};
use crate::measure::worst_displacement;

/// The largest error of a vertex position that is caused by sharing poses.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SharingError {
    /// The error in world space.
    pub metres: f32,
    /// The error as a share of the diameter of the instance's bounding sphere.
    pub share_of_size: f32,
}

impl Crowd {
    /// Returns the largest error over all clips that are played, at sample times spread over each clip. `None` if poses are
    /// not shared. If a clip jumps where it repeats, some instances jump a little early or late, which is not counted.
    pub fn sharing_error(&self) -> Option<SharingError> {
        let share_hz = self.share_hz?;
        let mut worst = SharingError::default();
        let same_clip = |a: &Instance, b: &Instance| (a.model, a.clip) == (b.model, b.clip);
        for instances in self.instances.chunk_by(same_clip) {
            let instance = &instances[0];
            let model = &self.models[instance.model as usize];
            let clip = clip_of(model, instance.clip);
            let Some(clip) = clip.filter(|_| instances.iter().any(|instance| instance.phase != 0.0)) else { continue };
            // Rounding moves a start time by at most half of the distance to the next one.
            let shift_seconds = 0.5 * f64::from(clip.duration_seconds) / shared_pose_count(Some(clip), share_hz);
            let displacement = worst_displacement(model, clip, shift_seconds);
            let largest = instances.iter().map(|instance| instance.placement.scale).fold(0.0, f32::max);
            worst.metres = worst.metres.max(largest * displacement);
            let share_of_size = instance.placement.scale * displacement / (2.0 * instance.radius);
            if share_of_size.is_finite() {
                worst.share_of_size = worst.share_of_size.max(share_of_size);
            }
        }
        Some(worst)
    }
}
