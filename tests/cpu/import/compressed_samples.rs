//! Real models compared with versions that public tools have quantised, compressed, reordered and welded. Vertices no
//! longer correspond one to one, so each pose is compared as a cloud of points, in both directions: every vertex of one
//! has a vertex of the other nearby. The allowed distance follows from the rounding of the tools, see [`allowance`].

use glam::{Affine3A, Vec3};
use throng::animation::{PoseScratch, pose_model};
use throng::model::{Clip, Model};

use super::samples::sample;

/// All tools round positions to 14 bits along the longest edge of the bind pose. One tool does so on both sides of the
/// middle, which gives two steps fewer, and then rounds again to 16 bits for storage.
const POSITION_STEPS: [f32; 2] = [16_382.0, 65_534.0];
/// The tools store weights as bytes; Draco stores them in 12 bits.
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

    /// Returns, for each influence of a vertex, the position that its joint alone would give, the weight, and the
    /// joint's node.
    fn contributions(&self, vertex: usize) -> impl Iterator<Item = (Vec3, f32, u32)> {
        let position = self.model.geometry.positions[vertex];
        self.model.geometry.influences_of(vertex).iter().map(move |influence| {
            let joint = influence.joint as usize;
            (self.model_from_mesh[joint].transform_point3(position), influence.weight, self.model.palette.nodes[joint])
        })
    }

    fn positions(&self) -> Vec<Vec3> {
        let blend = |vertex| self.contributions(vertex).map(|(position, weight, _)| position * weight).sum();
        (0..self.model.geometry.vertex_count()).map(blend).collect()
    }
}

/// Returns the largest distance by which any vertex of the original model may have moved in this pose, the sum of:
///
/// * half a step of the position along each axis, in the bind pose, whose edge is the longest of the model;
/// * four weights, each rounded by half a step, with the remainder to one added to some of them: in total the weights
///   move by four steps, two from some joints to others, and each step moves the vertex at most by the distance between
///   the positions that these joints give it;
/// * the rotation of every joint above the vertex, wrong by `angle_radians` at the joint's distance.
fn allowance(original: &Posed, angle_radians: f32) -> f32 {
    let Model { geometry, skeleton, .. } = original.model;
    let (low, high) = geometry.positions.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), &p| (l.min(p), h.max(p)));
    let step: f32 = POSITION_STEPS.iter().map(|steps| (high - low).max_element() / steps).sum();
    let half_step_diagonal = 0.5 * 3.0_f32.sqrt() * step;
    let of_vertex = |vertex: usize| {
        let contributions: Vec<(Vec3, f32, u32)> = original.contributions(vertex).collect();
        let spread =
            contributions.iter().flat_map(|a| contributions.iter().map(|b| a.0.distance(b.0))).fold(0.0, f32::max);
        let turned = |&(position, weight, node): &(Vec3, f32, u32)| {
            let (mut lever_sum, mut at) = (0.0, Some(node as usize));
            while let Some(joint) = at {
                lever_sum += position.distance(original.model_from_node[joint].translation.into());
                at = skeleton.parents.get(joint).map(|&parent| parent as usize).filter(|&p| p < skeleton.len());
            }
            angle_radians * weight * lever_sum
        };
        2.0 / WEIGHT_STEPS * spread + contributions.iter().map(turned).sum::<f32>()
    };
    half_step_diagonal + (0..geometry.vertex_count()).map(of_vertex).fold(0.0, f32::max)
}

/// Returns the largest distance from a point of `from` to the nearest of `to`.
fn farthest(from: &[Vec3], to: &[Vec3]) -> f32 {
    from.iter().map(|a| to.iter().map(|b| a.distance(*b)).fold(f32::INFINITY, f32::min)).fold(0.0, f32::max)
}

/// Compares `changed` with `original` in the rest pose and in every clip at the times that `times_of` returns.
fn compare(original: &str, changed: &str, angle_radians: f32, times_of: impl Fn(f32) -> Vec<f64>) {
    let (original, changed) = (sample(original), sample(&format!("derived/{changed}")));
    assert_eq!(original.clips.len(), changed.clips.len());
    let mut poses = vec![(None, None, 0.0)];
    for (a, b) in original.clips.iter().zip(&changed.clips) {
        poses.extend(times_of(a.duration_seconds).into_iter().map(|time| (Some(a), Some(b), time)));
    }
    let mut closest = (0.0_f32, 0.0, 0.0);
    for (a, b, time) in poses {
        let (a, b) = (Posed::new(&original, a, time), Posed::new(&changed, b, time));
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

/// Returns times at the keys and between them.
fn anywhere(duration: f32) -> Vec<f64> {
    [0.0, 0.1, 0.37, 0.5, 0.9, 1.0].map(|share| share * f64::from(duration)).to_vec()
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn quantised_and_compressed_models_keep_their_poses() {
    // Animations are unchanged in these files.
    for changed in ["Fox-quantized.glb", "Fox-meshopt.glb", "Fox-draco.glb"] {
        compare("Fox/Fox.glb", changed, 0.0, anywhere);
    }
    for changed in ["RiggedFigure-quantized.glb", "RiggedFigure-meshopt.glb", "RiggedFigure-draco.glb"] {
        compare("RiggedFigure/RiggedFigure.glb", changed, 0.0, anywhere);
    }
}

/// The animations of these files are resampled 30 times a second. At the new keys, and only there, the only loss is
/// rounding.
#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn resampled_models_keep_their_poses_at_their_keys() {
    // Each of the four components of a quaternion is rounded by half a step of 1/32767, which is half the error of the
    // angle.
    let angle_radians = 2.0 * (4.0_f32 * 0.25).sqrt() / 32_767.0;
    let frames =
        |duration: f32| (0..=(duration * 30.0) as u32).step_by(5).map(|frame| f64::from(frame) / 30.0).collect();
    for changed in ["Fox-gltfpack-quantized.glb", "Fox-gltfpack-c.glb"] {
        compare("Fox/Fox.glb", changed, angle_radians, frames);
    }
}
