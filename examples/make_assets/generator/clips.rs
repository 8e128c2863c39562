//! Samples functions of time into keyframes.
//!
//! In each clip, all rotations and the hips' translation share one LINEAR timeline of 30 keys per second, so a player
//! finds the key once for all joints. Two tracks differ on purpose, so that one character uses all of glTF's
//! interpolations. The eyes blink by STEP on their scale, and the waving hand uses CUBICSPLINE between fewer keys. The
//! last key of every track equals the first to the bit, so clips loop.

use glam::DQuat;
use serde_json::{Value, json};

use super::document::{Document, Usage, snap_all};
use super::gait::{RUN, WALK};
use super::pose::Pose;
use super::skeleton::{JOINTS, Joint, Side};
use super::stand::{IDLE_SECONDS, WAVE_SECONDS, idle, wave, waving_hand};
use super::walker::{joint_node, length};

const KEYS_PER_SECOND: f64 = 30.0;
/// The interval between keys of the spline.
const SPLINE_SECONDS: f64 = 0.1;
/// How long a blink shuts the eyes.
const BLINK_SECONDS: f64 = 0.12;
/// The binary grids of rotations (about the precision of an f32) and of their slopes. Times are exact and need no grid.
const ROTATION_BITS: i32 = 22;
const SLOPE_BITS: i32 = 18;

/// Generates the walker's animations. "Walk" is the first.
pub fn clips(document: &mut Document) -> Vec<Value> {
    let mut clips = vec![];
    for (name, gait) in [("Walk", WALK), ("Run", RUN)] {
        let mut clip = Clip::new(document, name, gait.duration_seconds);
        clip.key_poses(|time| gait.pose(time / gait.duration_seconds), None);
        clips.push(clip.finish(json!({ "groundSpeedMetresPerSecond": gait.speed })));
    }
    let mut clip = Clip::new(document, "Idle", IDLE_SECONDS);
    clip.key_poses(idle, None);
    clip.key_blinks(&[0.5, 2.2, 2.45]);
    clips.push(clip.finish(json!({ "groundSpeedMetresPerSecond": 0.0 })));

    let hand = Joint::Hand(Side::Right);
    let mut clip = Clip::new(document, "Wave", WAVE_SECONDS);
    clip.key_poses(wave, Some(hand));
    clip.key_spline(hand, waving_hand);
    clip.key_blinks(&[0.3]);
    clips.push(clip.finish(json!({ "groundSpeedMetresPerSecond": 0.0 })));
    clips
}

/// An animation under construction.
struct Clip<'a> {
    document: &'a mut Document,
    name: &'static str,
    duration_seconds: f64,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl<'a> Clip<'a> {
    fn new(document: &'a mut Document, name: &'static str, duration_seconds: f64) -> Self {
        Self { document, name, duration_seconds, samplers: vec![], channels: vec![] }
    }

    /// Adds LINEAR keys for every joint that moves, except for one.
    fn key_poses(&mut self, pose_at: impl Fn(f64) -> Pose, except: Option<Joint>) {
        let interval_count = (self.duration_seconds * KEYS_PER_SECOND).round() as u32;
        let times = (0..=interval_count).map(|key| f64::from(key) / KEYS_PER_SECOND).collect::<Vec<_>>();
        let mut poses = times.iter().map(|time| pose_at(*time)).collect::<Vec<_>>();
        poses[times.len() - 1] = poses[0].clone();
        let input = self.key_times(&times);

        let translations = poses.iter().map(|pose| length(pose.hips_position)).collect::<Vec<_>>();
        let output = self.document.floats(&translations, Usage::Plain);
        self.add_track(Joint::Hips, "translation", "LINEAR", [input, output]);
        for joint in JOINTS.into_iter().filter(|joint| Some(*joint) != except) {
            let rotations = poses.iter().map(|pose| rotation(pose.rotations[joint.index()])).collect::<Vec<_>>();
            if rotations.iter().any(|rotation| *rotation != [0.0, 0.0, 0.0, 1.0]) {
                let output = self.document.floats(&rotations, Usage::Plain);
                self.add_track(joint, "rotation", "LINEAR", [input, output]);
            }
        }
    }

    /// Adds STEP keys that shut the eyes at the given times.
    fn key_blinks(&mut self, blink_times: &[f64]) {
        let (open, shut) = ([1.0; 3], [1.0, 0.125, 1.0]);
        let (mut times, mut scales) = (vec![0.0], vec![open]);
        for time in blink_times {
            times.extend([*time, time + BLINK_SECONDS]);
            scales.extend([shut, open]);
        }
        times.push(self.duration_seconds);
        scales.push(open);
        let input = self.key_times(&times);
        let output = self.document.floats(&scales, Usage::Plain);
        self.add_track(Joint::Eyes, "scale", "STEP", [input, output]);
    }

    /// Adds CUBICSPLINE keys for one joint's rotation: in-tangent, value, out-tangent. The tangents are the function's
    /// slopes.
    fn key_spline(&mut self, joint: Joint, rotation_at: impl Fn(f64) -> DQuat) {
        let interval_count = (self.duration_seconds / SPLINE_SECONDS).round() as u32;
        let times = (0..=interval_count).map(|key| f64::from(key) * SPLINE_SECONDS).collect::<Vec<_>>();
        let tiny = 1e-3;
        let mut keys = vec![];
        for time in &times {
            // The slope is the same on both sides, also where the clip loops: the function is at rest there.
            let slope = (rotation_at(time + tiny) - rotation_at(time - tiny)) / (2.0 * tiny);
            let slope = snap_all(slope.to_array(), SLOPE_BITS);
            keys.extend([slope, rotation(rotation_at(*time)), slope]);
        }
        let input = self.key_times(&times);
        let output = self.document.floats(&keys, Usage::Plain);
        self.add_track(joint, "rotation", "CUBICSPLINE", [input, output]);
    }

    fn key_times(&mut self, times: &[f64]) -> usize {
        let times = times.iter().map(|time| [*time as f32]).collect::<Vec<_>>();
        self.document.floats(&times, Usage::KeyTimes)
    }

    fn add_track(&mut self, joint: Joint, path: &str, interpolation: &str, [input, output]: [usize; 2]) {
        let target = json!({ "node": joint_node(joint), "path": path });
        self.channels.push(json!({ "sampler": self.samplers.len(), "target": target }));
        self.samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
    }

    fn finish(self, extras: Value) -> Value {
        json!({ "name": self.name, "samplers": self.samplers, "channels": self.channels, "extras": extras })
    }
}

/// Converts a rotation to the file's form. A positive w keeps neighbouring keys on the same side, without jumps of
/// sign.
fn rotation(rotation: DQuat) -> [f32; 4] {
    let rotation = if rotation.w < 0.0 { -rotation } else { rotation };
    snap_all(rotation.normalize().to_array(), ROTATION_BITS)
}
