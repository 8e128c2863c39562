//! Target `retarget`: clips of one skeleton on another one, both of any shape and with any names and roles.
//!
//! The bytes choose two skeletons. Each starts as a human body, or as a chain, and is then changed: nodes get other places,
//! turns, scales, names, parents and matrices, and any table of roles. The source has a clip of the target `sampling`, whose
//! numbers may be extreme.

use arbitrary::{Result, Unstructured};
use glam::{Affine3A, Quat, Vec3};
use throng::animation::{PoseScratch, pose_model};
use throng::model::humanoid::{ROLE_COUNT, RoleSource};
use throng::model::{
    FixedLocal, Humanoid, LocalPose, Model, MorphedNode, NO_PARENT, PaletteLayout, Role, Skeleton, Skin,
};
use throng::retarget::motion::MOST_KEYS;
use throng::retarget::{borrow_clips, exercise, humanoid_of};

use super::invariants::{check_clip, check_skeleton};
use super::sampling::{take_clip, take_number, take_share, take_vector};

const MAX_NODES: usize = 40;
const MAX_CHANGES: usize = 12;
/// The number of weights of the only morphed node, which the clips animate.
const WEIGHT_COUNT: u32 = 3;

/// The nodes of a body: the parent's index, the place relative to it, and a name for each convention.
const BODY: [(usize, [f32; 3], [&str; 3]); 17] = [
    (usize::MAX, [0.0, 1.0, 0.0], ["hips", "mixamorig:Hips", "Bip01 Pelvis"]),
    (0, [0.0, 0.1, 0.0], ["spine", "mixamorig:Spine", "Bip01 Spine"]),
    (1, [0.0, 0.2, 0.0], ["chest", "mixamorig:Spine1", "Bip01 Spine1"]),
    (2, [0.0, 0.2, 0.0], ["neck", "mixamorig:Neck", "Bip01 Neck"]),
    (3, [0.0, 0.1, 0.0], ["head", "mixamorig:Head", "Bip01 Head"]),
    (2, [0.2, 0.1, 0.0], ["upper_arm.L", "mixamorig:LeftArm", "Bip01 L UpperArm"]),
    (5, [0.3, 0.0, 0.0], ["forearm.L", "mixamorig:LeftForeArm", "Bip01 L Forearm"]),
    (6, [0.3, 0.0, 0.0], ["hand.L", "mixamorig:LeftHand", "Bip01 L Hand"]),
    (2, [-0.2, 0.1, 0.0], ["upper_arm.R", "mixamorig:RightArm", "Bip01 R UpperArm"]),
    (8, [-0.3, 0.0, 0.0], ["forearm.R", "mixamorig:RightForeArm", "Bip01 R Forearm"]),
    (9, [-0.3, 0.0, 0.0], ["hand.R", "mixamorig:RightHand", "Bip01 R Hand"]),
    (0, [0.1, -0.1, 0.0], ["thigh.L", "mixamorig:LeftUpLeg", "Bip01 L Thigh"]),
    (11, [0.0, -0.4, 0.0], ["shin.L", "mixamorig:LeftLeg", "Bip01 L Calf"]),
    (12, [0.0, -0.4, 0.0], ["foot.L", "mixamorig:LeftFoot", "Bip01 L Foot"]),
    (0, [-0.1, -0.1, 0.0], ["thigh.R", "mixamorig:RightUpLeg", "Bip01 R Thigh"]),
    (14, [0.0, -0.4, 0.0], ["shin.R", "mixamorig:RightLeg", "Bip01 R Calf"]),
    (15, [0.0, -0.4, 0.0], ["foot.R", "mixamorig:RightFoot", "Bip01 R Foot"]),
];

/// Names that changed nodes get.
const NAMES: [&str; 8] =
    ["", "Left elbow", "ORG-thigh.L", "L_armUpper0001_bind_JNT", "toe.R", "index.01.L", "spine", "€"];

/// Borrows the clips of one skeleton for another one. Returns whether that was possible.
///
/// # Panics
/// Panics if the result breaks a promise of `throng::model`.
pub fn run(data: &[u8]) -> bool {
    let mut bytes = Unstructured::new(data);
    take_models(&mut bytes).is_ok_and(|(source, mut target)| borrow(&source, &mut target))
}

fn borrow(source: &Model, target: &mut Model) -> bool {
    for model in [source, &*target] {
        if let Some(humanoid) = humanoid_of(model) {
            assert!(humanoid.is_whole() && humanoid.roles().all(|(_, node)| (node as usize) < model.skeleton.len()));
        }
        if let Some(clip) = exercise(model) {
            check_clip(&clip, &model.skeleton);
        }
    }
    let is_borrowed = borrow_clips(target, source).is_ok();
    check_skeleton(&target.skeleton);
    let mut scratch = PoseScratch::for_model(target);
    for clip in &target.clips {
        check_clip(clip, &target.skeleton);
        assert!(clip.timelines.iter().all(|keys| keys.len() <= MOST_KEYS));
        for time_seconds in [0.0, 0.4 * f64::from(clip.duration_seconds)] {
            pose_model(target, Some(clip), time_seconds, &mut scratch);
        }
    }
    is_borrowed
}

fn take_models(bytes: &mut Unstructured) -> Result<(Model, Model)> {
    let moderate = bytes.ratio(3, 4)?;
    let mut source = take_model(bytes, moderate)?;
    let mut target = if bytes.ratio(1, 4)? { source.clone() } else { take_model(bytes, moderate)? };
    (source.name, target.name) = ("source".into(), "target".into());
    let (mut clip, _) = take_clip(bytes, source.skeleton.len() as u32)?;
    clip.translations.retain(|track| source.skeleton.is_free(track.node));
    clip.rotations.retain(|track| source.skeleton.is_free(track.node));
    clip.scales.retain(|track| source.skeleton.is_free(track.node));
    source.clips.push(clip);
    Ok((source, target))
}

fn take_model(bytes: &mut Unstructured, moderate: bool) -> Result<Model> {
    let convention = bytes.int_in_range(0..=2)?;
    let mut skeleton = Skeleton::default();
    if bytes.ratio(7, 8)? {
        for (parent, place, names) in BODY {
            let parent = if parent == usize::MAX { NO_PARENT } else { parent as u32 };
            push(&mut skeleton, parent, Vec3::from(place), names[convention]);
        }
    }
    for _ in 0..bytes.int_in_range(0..=8)? {
        let parent = skeleton.len().checked_sub(1).map_or(Ok(NO_PARENT), |last| bytes.int_in_range(0..=last as u32))?;
        let (place, name) = (take_vector(bytes, moderate)?, *bytes.choose(&NAMES)?);
        push(&mut skeleton, parent, place, name);
    }
    if skeleton.is_empty() {
        push(&mut skeleton, NO_PARENT, Vec3::ZERO, "root");
    }
    assert!(skeleton.len() <= MAX_NODES);
    for _ in 0..bytes.int_in_range(0..=MAX_CHANGES)? {
        change(&mut skeleton, bytes, moderate)?;
    }
    skeleton.morphed_nodes = vec![
        MorphedNode { node: 0, first_weight: 0, weight_count: 1 },
        MorphedNode { node: 1, first_weight: 1, weight_count: WEIGHT_COUNT },
    ];
    skeleton.morphed_nodes.truncate(skeleton.len());
    skeleton.rest.morph_weights = vec![0.0; 1 + WEIGHT_COUNT as usize];
    let mut model = Model { skeleton, ..Model::default() };
    if bytes.ratio(1, 4)? {
        model.humanoid = Some(Box::new(take_roles(bytes, model.skeleton.len() as u32)?));
    }
    if bytes.ratio(1, 2)? {
        take_skin(&mut model, bytes, moderate)?;
    }
    Ok(model)
}

fn push(skeleton: &mut Skeleton, parent: u32, place: Vec3, name: &str) {
    let LocalPose { translations, rotations, scales, .. } = &mut skeleton.rest;
    translations.push(place);
    rotations.push(Quat::IDENTITY);
    scales.push(Vec3::ONE);
    skeleton.source_nodes.push(skeleton.parents.len() as u32);
    skeleton.parents.push(parent);
    skeleton.names.push(name.to_owned());
    skeleton.in_scene.push(true);
    skeleton.source_node_count += 1;
}

/// Changes a property of a node.
fn change(skeleton: &mut Skeleton, bytes: &mut Unstructured, moderate: bool) -> Result<()> {
    let node = bytes.int_in_range(0..=skeleton.len() - 1)?;
    let turn = take_turn(bytes)?;
    match bytes.int_in_range(0..=5)? {
        0 => skeleton.rest.translations[node] = take_vector(bytes, moderate)?,
        1 => skeleton.rest.rotations[node] = turn,
        2 => skeleton.rest.scales[node] = take_vector(bytes, moderate)?,
        3 => skeleton.names[node] = (*bytes.choose(&NAMES)?).to_owned(),
        4 if node > 0 => skeleton.parents[node] = bytes.int_in_range(0..=node as u32 - 1)?,
        _ => {
            let scale = if bytes.ratio(1, 2)? { Vec3::ONE } else { take_vector(bytes, moderate)? };
            let mut matrix = Affine3A::from_scale_rotation_translation(scale, turn, take_vector(bytes, moderate)?);
            matrix.matrix3.x_axis.y += if bytes.ratio(1, 2)? { 0.0 } else { take_number(bytes, moderate)? };
            if matrix.is_finite() {
                skeleton.fixed_locals.retain(|fixed| fixed.node != node as u32);
                skeleton.fixed_locals.push(FixedLocal { node: node as u32, parent_from_node: matrix });
                skeleton.fixed_locals.sort_by_key(|fixed| fixed.node);
            }
        }
    }
    Ok(())
}

fn take_turn(bytes: &mut Unstructured) -> Result<Quat> {
    let [x, y, z] = [take_share(bytes)?, take_share(bytes)?, take_share(bytes)?].map(|share| 6.0 * share);
    Ok(Quat::from_rotation_z(z) * Quat::from_rotation_y(y) * Quat::from_rotation_x(x))
}

/// Returns any table of roles in which a node has one role at most, as import makes sure.
fn take_roles(bytes: &mut Unstructured, node_count: u32) -> Result<Humanoid> {
    let mut humanoid = Humanoid::new(RoleSource::Extension("VRMC_vrm"));
    for node in 0..node_count {
        let role = bytes.int_in_range(0..=ROLE_COUNT)?;
        if let Some(role) = Role::all().nth(role) {
            humanoid.nodes[role.index()] = Some(node);
        }
    }
    Ok(humanoid)
}

/// Adds a skin of all nodes, bound as they stand or anyhow.
fn take_skin(model: &mut Model, bytes: &mut Unstructured, moderate: bool) -> Result<()> {
    let mut scratch = PoseScratch::for_model(model);
    let model_from_joint = pose_model(model, None, 0.0, &mut scratch).model_from_node.to_vec();
    let mut joint_from_mesh: Vec<Affine3A> = model_from_joint.iter().map(Affine3A::inverse).collect();
    for _ in 0..bytes.int_in_range(0..=3)? {
        let joint = bytes.int_in_range(0..=joint_from_mesh.len() - 1)?;
        joint_from_mesh[joint] = Affine3A::from_rotation_translation(take_turn(bytes)?, take_vector(bytes, moderate)?);
    }
    // Import refuses numbers that are not finite.
    joint_from_mesh.iter_mut().filter(|matrix| !matrix.is_finite()).for_each(|matrix| *matrix = Affine3A::IDENTITY);
    let joints: Vec<u32> = (0..model.skeleton.len() as u32).collect();
    model.palette = PaletteLayout {
        nodes: joints.clone(),
        joint_from_mesh: joint_from_mesh.clone(),
        is_joint: vec![true; joints.len()],
    };
    let inverse_bind_w = vec![1.0; joints.len()];
    let has_inverse_binds = bytes.arbitrary()?;
    model.skins = vec![Skin { name: None, joints, joint_from_mesh, inverse_bind_w, has_inverse_binds }];
    Ok(())
}
