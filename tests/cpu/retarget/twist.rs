//! Bones that share the twist of a hand and of an upper arm.

use glam::{Quat, Vec3, Vec4};
use throng::animation::{PoseScratch, pose_model};
use throng::model::humanoid::{Limb, Side};
use throng::model::{Clip, Interpolation, Model, Track};
use throng::retarget::standing::rotation_of;
use throng::retarget::{Way, borrow_clips, humanoid_of};

use crate::common::assets::{WALKER, asset};
use crate::common::builder::check_invariants;

/// Returns the node of a part of the left arm or leg.
fn left(model: &Model, limb: Limb) -> usize {
    humanoid_of(model).unwrap().limb(Side::Left, limb).unwrap() as usize
}

/// Returns the rotation of a node in model space, and its place.
fn posed(model: &Model, clip: Option<&Clip>, node: usize) -> (Quat, Vec3) {
    let mut scratch = PoseScratch::for_model(model);
    let matrix = pose_model(model, clip, 0.0, &mut scratch).model_from_node[node];
    (rotation_of(&matrix), matrix.translation.into())
}

/// Adds a node without a mesh, at a share of the way from one node to another.
fn add(model: &mut Model, name: &str, [from, to]: [usize; 2], share: f32) -> usize {
    let skeleton = &mut model.skeleton;
    skeleton.names.push(name.to_owned());
    skeleton.parents.push(from as u32);
    skeleton.source_nodes.push(skeleton.source_node_count);
    skeleton.source_node_count += 1;
    skeleton.in_scene.push(skeleton.in_scene[from]);
    skeleton.rest.translations.push(share * skeleton.rest.translations[to]);
    skeleton.rest.rotations.push(Quat::IDENTITY);
    skeleton.rest.scales.push(Vec3::ONE);
    skeleton.len() - 1
}

#[test]
fn twist_bones_share_the_turns_of_hands_and_upper_arms() {
    let mut source = asset(WALKER);
    let [arm, forearm, hand] = [Limb::UpperArm, Limb::LowerArm, Limb::Hand].map(|limb| left(&source, limb));
    // Turns a node around the bone between two nodes.
    let rolled = |node: usize, [from, to]: [usize; 2], degrees: f32| {
        let along = (posed(&source, None, to).1 - posed(&source, None, from).1).normalize();
        let own = posed(&source, None, node).0.inverse() * along;
        let turned = source.skeleton.rest.rotations[node] * Quat::from_axis_angle(own, degrees.to_radians());
        let values = vec![Vec4::from(turned.normalize())];
        Track { node: node as u32, timeline: 0, interpolation: Interpolation::Linear, values }
    };
    let rotations = vec![rolled(arm, [arm, forearm], 60.0), rolled(hand, [forearm, hand], 80.0)];
    source.clips = vec![Clip { timelines: vec![vec![0.0]], rotations, ..Clip::default() }];

    let mut target = asset(WALKER);
    target.skeleton.names.iter_mut().for_each(|name| name.insert_str(0, "body:"));
    target.clips.clear();
    let of_forearm = add(&mut target, "lowerarm_twist_01_l", [forearm, hand], 0.75);
    let of_arm = add(&mut target, "UpperArmRoll.L", [arm, forearm], 0.25);
    let other = add(&mut target, "sleeve.L", [arm, forearm], 0.25);
    assert_eq!(borrow_clips(&mut target, &source).unwrap().way, Way::Retargeted);
    check_invariants(&target);
    let turn = |node: usize, carrier: usize| {
        let [own, carrier] = [node, carrier].map(|node| posed(&target, Some(&target.clips[0]), node).0);
        own.angle_between(carrier).to_degrees()
    };
    // 60 degrees of 80, and a quarter of the upper arm's 60: three quarters are taken back.
    for (what, found, expected) in [
        ("of the forearm", turn(of_forearm, forearm), 60.0),
        ("of the upper arm", turn(of_arm, arm), 45.0),
        ("no twist bone", turn(other, arm), 0.0),
    ] {
        assert!((found - expected).abs() < 1.0, "{what}: {found} degrees, not {expected}");
    }
}
