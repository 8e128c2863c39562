//! The bundled tube, bent and twisted with either blend of its joints.

use std::error::Error;
use std::path::Path;

use glam::Vec3;
use throng::animation::{PoseScratch, pose_model, skinned_positions};
use throng::model::{Model, import};

/// The place of the upper joint.
const JOINT: Vec3 = Vec3::Y;

/// A tube of which the clip `Twist` turns the upper half about its own axis by 180 degrees, and `Bend` by 120 degrees.
pub fn load() -> Result<Model, Box<dyn Error>> {
    Ok(import::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/tube.gltf"))?)
}

/// Prints how far rings of the tube are from its axis when it is twisted, and how far the outside of the bend is from the
/// joint.
pub fn numbers(tube: &Model) -> String {
    let mut lines = vec!["height  weight  twisted: linear  dual quaternion  bent: linear  dual quaternion".to_owned()];
    let posed = |clip: &str, with_dual_quaternions: bool| {
        let mut model = tube.clone();
        model.geometry.with_dual_quaternions = with_dual_quaternions;
        let clip = model.clips.iter().find(|one| one.name.as_deref() == Some(clip));
        let mut positions = Vec::new();
        let mut scratch = PoseScratch::for_model(&model);
        skinned_positions(&model, pose_model(&model, clip, 1.0, &mut scratch), &mut positions);
        positions
    };
    let all = ["Twist", "Bend"].map(|clip| [false, true].map(|dual| posed(clip, dual)));
    for height in [0.6_f32, 0.7, 0.8, 0.9, 1.0] {
        // The outside of the bend is at -x.
        let outside = |position: &&Vec3| (position.y - height).abs() < 1e-3 && position.x < -0.2499;
        let Some(vertex) = tube.geometry.positions.iter().position(|position| outside(&position)) else { continue };
        let upper = tube.geometry.influences_of(vertex).iter().find(|influence| influence.joint == 1);
        let weight = upper.map_or(0.0, |influence| influence.weight);
        let [twisted, bent] = &all;
        let radius = |positions: &Vec<Vec3>| positions[vertex].x.hypot(positions[vertex].z);
        let distance = |positions: &Vec<Vec3>| positions[vertex].distance(JOINT);
        let [[a, b], [c, d]] = [twisted.each_ref().map(radius), bent.each_ref().map(distance)];
        lines.push(format!("{height:>6.1}{weight:>8.3}{a:>17.4}{b:>17.4}{c:>14.4}{d:>17.4}"));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
