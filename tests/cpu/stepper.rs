//! A character of boxes that takes steps, with one clip: a gait whose velocity is known exactly, or a motion that is none.
//!
//! A foot stands for a share of the cycle ([`Motion::duty`]) and moves backwards, then swings forwards above the ground. The
//! second foot is half a cycle later. All keys are linear.

use std::f32::consts::{PI, TAU};

use glam::{Vec2, Vec3};
use serde_json::json;
use throng::model::Model;

use crate::common::builder::Gltf;

/// The number of keys of a cycle, without the last one, which repeats the first.
pub const KEYS: usize = 96;
const CYCLE_SECONDS: f32 = 0.8;
const FEET: [f32; 2] = [0.1, -0.1];

#[derive(Debug, Clone, Copy, Default)]
pub struct Motion {
    pub velocity: Vec2,     // The velocity at which the feet do not slide.
    pub duty: f32,          // The share of the cycle for which a foot stands.
    pub lift: f32,          // The height to which a foot is lifted.
    pub bounce: f32,        // The height of the path of the body.
    pub noise: f32,         // The amplitude of noise on the keys of the feet.
    pub hand: f32,          // How far a hand swings down from 1 metre above the soles, and forwards.
    pub limp: f32,          // How far the second foot sinks below the floor while it stands.
    pub rise: f32,          // The height of the soles above the floor while they stand.
    pub jump: f32,          // The height of a jump of the whole character.
    pub sway: f32,          // The amplitude of the body from side to side.
    pub feet_sway: bool,    // Whether the feet sway with the body.
    pub moves_root: bool,   // Whether the clip itself moves the character by its velocity.
    pub circles: f32,       // The radius of an upright circle on which the whole character moves.
    pub is_hanging: bool,   // Whether the hand stays down, and holds the character.
    pub lost_frames: usize, // The number of keys that are missing at the end.
}

/// Builds the character: two feet, a body and a hand.
pub fn stepper(motion: &Motion) -> Model {
    let mut gltf = Gltf::new();
    let rest = [Vec3::new(FEET[0], 0.0, 0.0), Vec3::new(FEET[1], 0.0, 0.0), Vec3::Y, Vec3::new(0.35, 1.0, 0.0)];
    let foot = ([-0.05, 0.0, -0.1], [0.05, 0.12, 0.15]);
    let boxes = [foot, foot, ([-0.25, -0.4, -0.15], [0.25, 0.8, 0.15]), ([-0.04, 0.0, -0.04], [0.04, 0.3, 0.04])];
    let add = |(origin, (low, high)): (&Vec3, _)| gltf.cuboid(low, high, json!({"translation": origin.to_array()}));
    let mut nodes: Vec<usize> = rest.iter().zip(boxes).map(add).collect();
    let root = gltf.push("nodes", json!({"children": nodes}));
    gltf.json["scenes"][0]["nodes"] = json!([root]);
    nodes.push(root);

    let keys = KEYS + 1 - motion.lost_frames;
    let phases = || (0..keys).map(|key| key as f32 / KEYS as f32);
    let input = gltf.f32s("SCALAR", &phases().map(|phase| phase * CYCLE_SECONDS).collect::<Vec<_>>());
    let (mut samplers, mut channels) = (Vec::new(), Vec::new());
    for (part, &node) in nodes.iter().enumerate() {
        let place = |phase: f32| rest.get(part).copied().unwrap_or_default() + motion.offset(part, phase);
        let output = gltf.f32s("VEC3", &phases().flat_map(|phase| place(phase).to_array()).collect::<Vec<_>>());
        channels.push(json!({"sampler": part, "target": {"node": node, "path": "translation"}}));
        samplers.push(json!({"input": input, "output": output}));
    }
    gltf.push("animations", json!({"samplers": samplers, "channels": channels}));
    gltf.load().unwrap()
}

impl Motion {
    /// Returns the distance of a part from its rest position: 0 and 1 are the feet, 2 is the body, 3 the hand, 4 the root.
    fn offset(&self, part: usize, phase: f32) -> Vec3 {
        let flat = |v: Vec2| Vec3::new(v.x, 0.0, v.y);
        let sway = Vec3::X * self.sway * (TAU * phase).sin();
        match part {
            0 | 1 => {
                let foot = self.foot((phase + 0.5 * part as f32).fract());
                let sink = if part == 1 { -self.limp } else { 0.0 };
                let hanging = if self.is_hanging { 0.5 } else { 0.0 };
                let noise = self.noise * noise(part, (phase * KEYS as f32).round() as usize % KEYS);
                foot + noise + if self.feet_sway { sway } else { Vec3::ZERO } + Vec3::Y * (sink + hanging + self.rise)
            }
            2 => sway + Vec3::Y * self.bounce * (2.0 * TAU * phase).cos(),
            3 => {
                let (sin, cos) = (TAU * phase).sin_cos();
                let down = if self.is_hanging { 1.0 } else { 0.5 - 0.5 * cos };
                Vec3::new(0.0, -self.hand * down, 0.5 * self.hand * sin)
            }
            _ => {
                let way = if self.moves_root { flat(self.velocity) * phase * CYCLE_SECONDS } else { Vec3::ZERO };
                let (sin, cos) = (TAU * phase).sin_cos();
                let circle = self.circles * Vec3::new(0.0, cos, sin);
                way + circle + Vec3::Y * self.jump * (PI * (2.0 * phase - 0.5).clamp(0.0, 1.0)).sin()
            }
        }
    }

    /// Returns the way of a foot: backwards on the ground, then forwards above it.
    fn foot(&self, phase: f32) -> Vec3 {
        let stride = self.velocity * self.duty * CYCLE_SECONDS;
        let (ahead, height) = if phase < self.duty {
            (0.5 - phase / self.duty, 0.0)
        } else {
            let swing = (phase - self.duty) / (1.0 - self.duty);
            (swing * swing * (3.0 - 2.0 * swing) - 0.5, self.lift * (PI * swing).sin())
        };
        Vec3::new(stride.x * ahead, height, stride.y * ahead)
    }
}

/// Returns numbers from -1 to 1 that depend on the foot and the key alone.
fn noise(foot: usize, key: usize) -> Vec3 {
    let number = |axis: usize| {
        let angle = ((foot * KEYS + key) * 3 + axis + 1) as f32 * 12.9898;
        2.0 * (43_758.547 * angle.sin()).rem_euclid(1.0) - 1.0
    };
    Vec3::new(number(0), number(1), number(2))
}
