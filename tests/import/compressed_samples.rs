//! Real models beside what public tools made of them: quantised, compressed, reordered, welded. Vertices no longer
//! correspond one to one, so each pose is compared as a cloud of points, both ways: every vertex of the one has a
//! vertex of the other nearby. How near follows from what the tools rounded, see [`allowance`].

use glam::{Affine3A, Vec3};
use throng::animation::{PoseScratch, pose_model};
use throng::model::{Clip, Model};

use super::samples::sample;

/// All tools round positions to 14 bits along the longest edge of the bind pose. One of them does so on both sides of
/// its middle (thus two steps fewer) and then again to the 16 bits in which it stores them.
const POSITION_STEPS: [f32; 2] = [16_382.0, 65_534.0];
/// They store weights as bytes; Draco, in 12 bits.
const WEIGHT_STEPS: f32 = 255.0;

/// A model in one pose.
struct Posed<'m> {
    model: &'m Model,
    model_from_node: Vec<Affine3A>,
    model_from_mesh: Vec<Affine3A>,
}

impl<'m> Posed<'m> {
    fn new(model: &'m Model, clip: Option<&Clip>, time_seconds: f64) -> Self {
        let mut scratch = PoseScratch::for_model(model);
        let model_from_node = pose_model(model, clip, time_seconds, &mut scratch).model_from_node.to_vec();
        let entries = model.palette.nodes.iter().zip(&model.palette.joint_from_mesh);
        let model_from_mesh = entries.map(|(&node, &matrix)| model_from_node[node as usize] * matrix).collect();
        Self { model, model_from_node, model_from_mesh }
    }

    /// Where each joint that pulls at a vertex would put it, with the weight and the node of the joint.
    fn pulls(&self, vertex: usize) -> impl Iterator<Item = (Vec3, f32, u32)> {
        let position = self.model.geometry.positions[vertex];
        self.model.geometry.influences_of(vertex).iter().map(move |influence| {
            let joint = influence.joint as usize;
            (self.model_from_mesh[joint].transform_point3(position), influence.weight, self.model.palette.nodes[joint])
        })
    }

    fn positions(&self) -> Vec<Vec3> {
        let blend = |vertex| self.pulls(vertex).map(|(position, weight, _)| position * weight).sum();
        (0..self.model.geometry.vertex_count()).map(blend).collect()
    }
}

/// How far a vertex may have moved, at most over all vertices of the sound model in this pose:
///
/// * half a step of the position along each axis, in the bind pose, whose edge is the longest of the model;
/// * weights of four bytes are rounded by half a step each, and what then lacks from one is put on some of them: in
///   all the weights move by four steps, two from some joints and two to others, and each takes the vertex at most as
///   far as those joints' opinions of its place lie apart;
/// * every joint above the vertex turns it by `angle_radians` too much or too little, at its distance.
fn allowance(sound: &Posed, angle_radians: f32) -> f32 {
    let Model { geometry, skeleton, .. } = sound.model;
    let (low, high) = geometry.positions.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), &p| (l.min(p), h.max(p)));
    let step: f32 = POSITION_STEPS.iter().map(|steps| (high - low).max_element() / steps).sum();
    let half_step_diagonal = 0.5 * 3.0_f32.sqrt() * step;
    let of_vertex = |vertex: usize| {
        let pulls: Vec<(Vec3, f32, u32)> = sound.pulls(vertex).collect();
        let spread = pulls.iter().flat_map(|a| pulls.iter().map(|b| a.0.distance(b.0))).fold(0.0, f32::max);
        let turned = |&(position, weight, node): &(Vec3, f32, u32)| {
            let (mut lever_sum, mut at) = (0.0, Some(node as usize));
            while let Some(joint) = at {
                lever_sum += position.distance(sound.model_from_node[joint].translation.into());
                at = skeleton.parents.get(joint).map(|&parent| parent as usize).filter(|&p| p < skeleton.len());
            }
            angle_radians * weight * lever_sum
        };
        2.0 / WEIGHT_STEPS * spread + pulls.iter().map(turned).sum::<f32>()
    };
    half_step_diagonal + (0..geometry.vertex_count()).map(of_vertex).fold(0.0, f32::max)
}

/// The largest distance from a point of `from` to the nearest of `to`.
fn farthest(from: &[Vec3], to: &[Vec3]) -> f32 {
    from.iter().map(|a| to.iter().map(|b| a.distance(*b)).fold(f32::INFINITY, f32::min)).fold(0.0, f32::max)
}

/// Compares `changed` with `sound` in the rest pose and in every clip at `times_of` it.
fn compare(sound: &str, changed: &str, angle_radians: f32, times_of: impl Fn(f32) -> Vec<f64>) {
    let (sound, changed) = (sample(sound), sample(&format!("derived/{changed}")));
    assert_eq!(sound.clips.len(), changed.clips.len());
    let mut poses = vec![(None, None, 0.0)];
    for (a, b) in sound.clips.iter().zip(&changed.clips) {
        poses.extend(times_of(a.duration_seconds).into_iter().map(|time| (Some(a), Some(b), time)));
    }
    let mut closest = (0.0_f32, 0.0, 0.0);
    for (a, b, time) in poses {
        let (a, b) = (Posed::new(&sound, a, time), Posed::new(&changed, b, time));
        let (points, others) = (a.positions(), b.positions());
        let found = farthest(&points, &others).max(farthest(&others, &points));
        let allowed = allowance(&a, angle_radians);
        assert!(found <= allowed, "{} at {time}: {found} is more than {allowed}", changed.name);
        if found / allowed > closest.0 {
            closest = (found / allowed, found, allowed);
        }
    }
    println!("{}: at worst {} of {} allowed", changed.name, closest.1, closest.2);
}

/// At the keys and between them.
fn anywhere(duration: f32) -> Vec<f64> {
    [0.0, 0.1, 0.37, 0.5, 0.9, 1.0].map(|share| share * f64::from(duration)).to_vec()
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn quantised_and_compressed_models_keep_their_poses() {
    // Animations are stored as they were.
    for changed in ["Fox-quantized.glb", "Fox-meshopt.glb", "Fox-draco.glb"] {
        compare("Fox/Fox.glb", changed, 0.0, anywhere);
    }
    for changed in ["RiggedFigure-quantized.glb", "RiggedFigure-meshopt.glb", "RiggedFigure-draco.glb"] {
        compare("RiggedFigure/RiggedFigure.glb", changed, 0.0, anywhere);
    }
}

/// These are keyed anew, 30 times a second: at those times, and only there, nothing but rounding is lost.
#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn resampled_models_keep_their_poses_at_their_keys() {
    // Four components of a quaternion, each rounded by half a step of 1/32767, make half the angle's error.
    let angle_radians = 2.0 * (4.0_f32 * 0.25).sqrt() / 32_767.0;
    let frames =
        |duration: f32| (0..=(duration * 30.0) as u32).step_by(5).map(|frame| f64::from(frame) / 30.0).collect();
    for changed in ["Fox-gltfpack-quantized.glb", "Fox-gltfpack-c.glb"] {
        compare("Fox/Fox.glb", changed, angle_radians, frames);
    }
}
