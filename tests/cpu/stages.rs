//! The stages of skinning (`--stage`, `--bind-pose`) place vertices where the product says, and bones end at joints.
//!
//! The expected positions come from the file's matrices and the formula of each stage, without the palette.

use glam::Vec3;
use throng::animation::{Stage, apply_bind_pose, joint_matrices};
use throng::model::Model;

use crate::common::assets::{STRIP, asset, models, sample};
use crate::common::pose::{palette, posed, skinned};

const SAMPLES: &str = "Fox/Fox.glb CesiumMan/CesiumMan.glb KayKit_Knight/Knight.glb Mannequiny/mannequiny.glb \
    RobotExpressive_raylib/robot.glb RecursiveSkeletons/RecursiveSkeletons.glb BoxAnimated/box_animated.gltf";
const TIME_SECONDS: f64 = 0.4;

fn positions(model: &Model) -> Vec<Vec3> {
    skinned(model, model.clips.first(), TIME_SECONDS)
}

/// Returns the position of a vertex in mesh space after morph targets of these weights.
fn morphed(model: &Model, vertex: usize, weights: &[f32]) -> Vec3 {
    let deltas = model.geometry.morph_deltas_of(vertex).iter();
    let moved = deltas.map(|delta| weights[delta.weight_index as usize] * delta.position);
    model.geometry.positions[vertex] + moved.sum::<Vec3>()
}

fn assert_near(what: &str, found: &[Vec3], expected: impl Fn(usize) -> Vec3) {
    let size = found.iter().map(|position| position.length()).fold(1e-3, f32::max);
    for (vertex, &found) in found.iter().enumerate().step_by(1 + found.len() / 500) {
        let expected = expected(vertex);
        assert!(found.distance(expected) <= 1e-4 * size, "{what}: vertex {vertex} at {found}, not {expected}");
    }
}

fn assert_stages(original: &Model) {
    let name = &original.name;
    let (_, weights) = posed(original, original.clips.first(), TIME_SECONDS);
    let staged = |stage: Stage| {
        let mut model = original.clone();
        stage.apply(&mut model);
        positions(&model)
    };
    assert_near(&format!("{name}, mesh"), &staged(Stage::Mesh), |vertex| morphed(original, vertex, &weights));
    assert_near(&format!("{name}, joint"), &staged(Stage::Joint), |vertex| {
        let position = morphed(original, vertex, &weights);
        let influences = original.geometry.influences_of(vertex).iter();
        let in_joint = |joint: u32| original.palette.joint_from_mesh[joint as usize].transform_point3(position);
        influences.map(|influence| influence.weight * in_joint(influence.joint)).sum()
    });
    let right = positions(original);
    assert_eq!(staged(Stage::Model), right);
    assert_eq!(staged(Stage::World), right);
}

fn assert_bind_pose(original: &Model) {
    let mut model = original.clone();
    apply_bind_pose(&mut model);
    let found = positions(&model);
    let nodes = &original.palette.nodes;
    let first_of_node = |entry: u32| original.palette.joints().find(|&e| nodes[e as usize] == nodes[entry as usize]);
    let rest = &original.skeleton.rest.morph_weights;
    assert_near(&format!("{}, bind pose", original.name), &found, |vertex| {
        let mut joints = original.geometry.influences_of(vertex).iter().map(|influence| influence.joint);
        // Rigid parts and further inverse bind matrices are where the first ones put the joints.
        let follows_one_skin = joints.all(|joint| first_of_node(joint) == Some(joint));
        if follows_one_skin { morphed(original, vertex, rest) } else { found[vertex] }
    });
}

/// The ends of bones are joints, whichever pose the skeleton takes.
fn assert_bones(model: &Model) {
    let (model_from_node, _) = posed(model, model.clips.first(), TIME_SECONDS);
    let palette: Vec<_> = joint_matrices(&model.palette, &model_from_node).collect();
    let joint_at = |entry: u32| Vec3::from(model_from_node[model.palette.nodes[entry as usize] as usize].translation);
    let size = model_from_node.iter().map(|matrix| matrix.translation.length()).fold(1e-3, f32::max);
    for bone in &model.bones {
        let base = palette[bone.base as usize].transform_point(bone.mesh_from_base.translation.into());
        assert!(base.distance(joint_at(bone.base)) <= 1e-3 * size, "{}: {bone:?}", model.name);
        if bone.tip != bone.base {
            let tip = palette[bone.tip as usize].transform_point(bone.tip_mesh);
            assert!(tip.distance(joint_at(bone.tip)) <= 1e-3 * size, "{}: {bone:?}", model.name);
        }
    }
    let bases: std::collections::BTreeSet<u32> = model.bones.iter().map(|bone| bone.base).collect();
    let with_axes = model.bones.iter().filter(|bone| bone.axis_length > 0.0).count();
    assert_eq!(with_axes, bases.len(), "{}: each joint has axes once", model.name);
}

#[test]
fn stages_bind_poses_and_bones_are_where_the_products_say() {
    let mut models = models().to_vec();
    assert_eq!(models[1].bones.len(), 2, "one bone between the strip's joints, and a last one");
    if cfg!(sample_models) {
        models.extend(SAMPLES.split(' ').map(sample));
    }
    for model in &models {
        assert_stages(model);
        assert_bind_pose(model);
        assert_bones(model);
    }
}

#[cfg(feature = "app")]
#[test]
fn options_choose_the_stage_and_the_bind_pose() {
    for (options, is_bound, stage) in
        [("", false, Stage::World), ("--stage joint", false, Stage::Joint), ("--bind-pose", true, Stage::World)]
    {
        let [mut found, mut expected] = [(); 2].map(|()| asset(STRIP));
        throng::app::models::apply(&crate::common::scene::arguments(options).crowd.show, &mut found);
        if is_bound {
            apply_bind_pose(&mut expected);
        }
        stage.apply(&mut expected);
        assert_eq!(positions(&found), positions(&expected), "{options}");
    }
}

/// In joint space all joints are at the origin, and each bone leads to where its joint has the next one.
#[test]
fn in_joint_space_bones_begin_at_the_origin() {
    let mut strip = asset(STRIP);
    Stage::Joint.apply(&mut strip);
    let palette = palette(&strip, strip.clips.first(), TIME_SECONDS);
    let ends = strip.bones.iter().map(|bone| {
        let ends = [bone.mesh_from_base.translation.into(), bone.tip_mesh];
        ends.map(|end| palette[bone.base as usize].transform_point(end))
    });
    assert_eq!(ends.collect::<Vec<_>>(), [[Vec3::ZERO, Vec3::Y], [Vec3::ZERO, 0.5 * Vec3::Y]]);
}
