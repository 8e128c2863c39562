//! The state of each instance as plain data, for programs that draw or simulate the same crowd.

use glam::{Affine3A, Vec3};

use super::Crowd;

/// The state of one instance. At a time in seconds it shows its clip at `start_seconds + time * speed`, and the clip
/// repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InstanceState {
    /// The index of the model.
    pub model: u32,
    /// The index of the clip; `None` is the rest pose.
    pub clip: Option<u32>,
    /// The time in the clip at the time 0, in seconds.
    pub start_seconds: f64,
    /// The placement since the last [`Crowd::move_to`].
    pub world_from_model: Affine3A,
    /// The multiplier of the base colour, in linear RGB.
    pub tint: Vec3,
}

impl Crowd {
    /// Iterates over all instances, visible or not, sorted by model, by clip and by pose.
    pub fn instance_states(&self) -> impl Iterator<Item = InstanceState> {
        self.instances.iter().map(|instance| {
            let [red, green, blue, _] = instance.tint_unorm8.to_le_bytes();
            let turn = self.rings[instance.ring as usize].turn;
            InstanceState {
                model: instance.model,
                clip: instance.clip,
                start_seconds: instance.start_seconds,
                world_from_model: instance.placement.turned(turn).world_from_model(),
                tint: Vec3::from([red, green, blue].map(f32::from)) / 255.0,
            }
        })
    }
}
