//! Clips of other files: the same rig, humanoids of any rig, and everything else.

#[cfg(feature = "app")]
mod bare;
mod contact;
mod in_place;
mod pairs;
mod roles;
#[cfg(feature = "app")]
mod together;

use glam::{Quat, Vec3, Vec4};
use serde_json::{Value, json};
use throng::model::humanoid::{Limb, Side};
use throng::model::{Clip, Interpolation, Model, Role, Track};
use throng::retarget::standing::rotation_of;
use throng::retarget::{NoFit, Way, borrow_clips, exercise, humanoid_of};

use self::roles::{LEGS, TORSO, biped, rig};
use crate::common::assets::{STRIP, WALKER, asset};
use crate::common::builder::{Gltf, check_invariants};
use crate::common::pose::posed;

fn is_finger(role: Role) -> bool {
    ["Thumb", "Index", "Middle", "Ring", "Little"].iter().any(|finger| role.name().contains(finger))
}

/// Nodes in a row, each the parent of the next one, and a clip that turns the last one.
fn chain(names: &[&str]) -> Model {
    let mut gltf = Gltf::triangle();
    for (rank, name) in names.iter().enumerate() {
        let mut node = json!({"name": name, "translation": [0.0, 1.0, 0.0]});
        if rank + 1 < names.len() {
            node["children"] = json!([rank + 2]);
        }
        gltf.push("nodes", node);
    }
    gltf.json["scenes"][0]["nodes"] = json!([0, 1]);
    gltf.animate(names.len(), "rotation", "LINEAR", &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8]);
    gltf.load().unwrap()
}

/// Also if the body has a matrix where a clip needs a translation, a rotation and a scale.
#[test]
fn a_body_with_clips_of_its_own_rig_is_like_one_file_bit_for_bit() {
    let mut both = Gltf::skinned([[1, 0, 0, 0]; 3], [[1.0, 0.0, 0.0, 0.0]; 3]);
    both.json["nodes"][2]["rotation"] = json!([0.0, 0.0, 0.5f32.sqrt(), 0.5f32.sqrt()]);
    both.animate(2, "translation", "LINEAR", &[0.0, 1.0], &[0.0, 1.0, 0.0, 0.0, 3.0, 0.0]);
    both.animate(1, "rotation", "LINEAR", &[0.0, 1.0], &[0.0, 0.0, 0.0, 1.0, 0.0, 0.6, 0.0, 0.8]);
    let matrix = json!([0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1]);
    let [no_rotation, no_translation] = ["rotation", "translation"].map(|key| format!("nodes/2/{key}"));
    let body = both.with(&[
        ("animations", json!([])),
        (&no_rotation, Value::Null),
        (&no_translation, Value::Null),
        ("nodes/2/matrix", matrix),
    ]);
    let (both, mut body) = (both.model(), body.model());
    assert_eq!(borrow_clips(&mut body, &both).unwrap().way, Way::SameRig);
    assert_eq!(body.clips.len(), 2);
    for (own, other) in body.clips.iter().zip(&both.clips) {
        for seconds in (0..=10).map(|tenth| f64::from(tenth) / 10.0) {
            assert_eq!(posed(&body, Some(own), seconds), posed(&both, Some(other), seconds), "{seconds} s");
        }
    }
}

#[test]
fn other_skeletons_share_clips_by_the_names_of_nodes() {
    let source = chain(&["base", "arm", "claw"]);
    let mut model = chain(&["stand", "claw"]);
    let clips = model.clips.len();
    // The arm is missing, so the rig is another one; the claw has the same name.
    let borrowed = borrow_clips(&mut model, &source).unwrap();
    assert_eq!((borrowed.way, borrowed.clip_count, model.clips.len()), (Way::ByName, 1, clips + 1));
    assert_eq!(model.clips[clips].file.as_deref(), Some(&*source.name));
    check_invariants(&model);
    // Without a node of the model, the message has the names of the file.
    let mut model = chain(&["stand", "wheel"]);
    let Err(NoFit::NoNode { names, .. }) = borrow_clips(&mut model, &source) else { panic!("it fits") };
    assert_eq!(names, "claw");
    assert_eq!(borrow_clips(&mut model, &Model { clips: Vec::new(), ..source }), Err(NoFit::NoClips));
}

/// Two nodes of the file with one name cannot both move the only node of the model with that name.
#[test]
fn a_node_is_the_counterpart_of_one_namesake() {
    let mut source = chain(&["claw", "claw"]);
    let mut again = source.clips[0].rotations[0].clone();
    again.node -= 1;
    source.clips[0].rotations.push(again);
    let mut model = chain(&["stand", "claw"]);
    let borrowed = borrow_clips(&mut model, &source).unwrap();
    assert_eq!((borrowed.way, model.clips.last().unwrap().rotations.len()), (Way::ByName, 1));
    assert_eq!(borrowed.warnings.len(), 1);
    check_invariants(&model);
}

/// Those that stay in the rest pose do not count.
#[test]
fn every_joint_that_moves_is_found_or_missing_and_half_of_them_are_enough() {
    let names: Vec<String> = (0..40).map(|number| format!("bone_{number}")).collect();
    let mut names: Vec<&str> = names.iter().map(|name| &**name).collect();
    (names[0], names[1], names[2]) = ("tail", "left_leg_01", "left_leg_02");
    let mut source = chain(&names);
    let last = source.clips[0].rotations[0].clone();
    source.clips[0].rotations = (1..=40).map(|node| Track { node, ..last.clone() }).collect();
    source.clips[0].rotations[39].values = vec![Vec4::W, -Vec4::W];
    let no_fit = borrow_clips(&mut chain(&["tail"]), &source).unwrap_err().to_string();
    let expected =
        "1 of 39 joints that move were found. Nodes were looked for by these names: left_leg_01, left_leg_02, bone_3";
    assert!(no_fit.contains(expected) && no_fit.ends_with("bone_8 and 30 more"), "{no_fit}");
    let borrowed = borrow_clips(&mut chain(&names[19..]), &source).unwrap();
    assert_eq!((borrowed.way, borrowed.joints.len()), (Way::ByName, 39));
    assert_eq!(borrowed.joints[0], ("tail".to_owned(), None));
    assert_eq!(borrowed.joints[38], ("bone_38".to_owned(), Some("bone_38".to_owned())));
    assert!(borrowed.warnings[0].starts_with("20 of 39 joints that move were found; not: tail, left_leg_01"));
    assert_eq!(borrowed.warnings[1..], ["limbs that move and are not in the model: left leg"]);
    assert!(borrow_clips(&mut chain(&names[20..]), &source).is_err());
}

#[test]
fn joints_of_humanoids_are_found_by_their_parts_of_the_body() {
    let (mut body, _) = rig(&[&TORSO.replace("*hand", "*nail"), LEGS], |name, number| biped(name, number, "nail"));
    let borrowed = borrow_clips(&mut body, &asset(WALKER)).unwrap();
    assert_eq!(borrowed.way, Way::Retargeted);
    let own = |name: &str| borrowed.joints.iter().find(|(joint, _)| joint == name).unwrap().1.as_deref();
    let joints = ["hips", "chest", "forearm.L", "foot.R", "head", "hand.L", "toe.R"];
    let expected = ["Bip01 Pelvis", "Bip01 chest", "Bip01 L forearm", "Bip01 R foot", "Bip01 head"].map(Some);
    assert_eq!(joints.map(own)[..5], expected);
    assert_eq!(joints.map(own)[5..], [None, None]);
    let missing = "not: eyes, antenna, scarf.001, scarf.002, hand.L, hand.R, toe.L, toe.R";
    let limbs = "limbs that move and are not in the model: left hand, right hand";
    assert_eq!(borrowed.warnings, [&format!("17 of 25 joints that move were found; {missing}"), limbs]);
}

#[test]
fn an_exercise_turns_each_joint_out_and_back() {
    let mut model = asset(STRIP);
    let clip = exercise(&model).unwrap();
    assert_eq!(clip.rotations.len(), model.palette.len());
    let posed = |seconds: f64| posed(&model, Some(&clip), seconds).0;
    let (first, last) = (posed(0.0), posed(f64::from(clip.duration_seconds)));
    assert_eq!(first, last, "it ends as it began");
    for (rank, track) in clip.rotations.iter().enumerate() {
        let middle = posed(0.4 * rank as f64 + 0.4);
        let turn = Quat::from_mat3a(&middle[track.node as usize].matrix3);
        assert!(turn.angle_between(Quat::from_mat3a(&first[track.node as usize].matrix3)) > 0.5);
    }
    model.clips.push(clip);
    check_invariants(&model);
}

/// A body of VRM 0.x faces -Z in its file: there its left hand is at -X, and here at +X.
#[test]
fn a_body_that_faces_backwards_is_turned_round() {
    let gltf = |extension: &str| {
        let mut gltf = Gltf::triangle();
        gltf.json["nodes"][0]["translation"] = json!([-1.0, 0.0, 2.0]);
        gltf.json["extensionsUsed"] = json!([extension]);
        gltf.json["extensionsRequired"] = json!([extension, "VRMC_springBone"]);
        let bones = match extension {
            "VRM" => json!([{"bone": "leftHand", "node": 0}]),
            _ => json!({"leftHand": {"node": 0}}),
        };
        gltf.json["extensions"] = json!({extension: {"humanoid": {"humanBones": bones}}});
        gltf.load().unwrap()
    };
    for (extension, place) in [("VRM", [1.0, 0.0, -2.0]), ("VRMC_vrm", [-1.0, 0.0, 2.0])] {
        let model = gltf(extension);
        assert_eq!(model.skeleton.rest.translations[0].to_array(), place, "{extension}");
        let humanoid = model.humanoid.as_deref().unwrap();
        assert_eq!(humanoid.limb(Side::Left, Limb::Hand), Some(0));
        // One hand is no humanoid.
        assert_eq!(humanoid_of(&model), None);
    }
}

#[test]
fn wrong_roles_of_a_file_are_named() {
    let mut gltf = Gltf::triangle();
    gltf.json["extensionsUsed"] = json!(["VRMC_vrm"]);
    for (bones, message) in [
        (json!({"head": {"node": 7}}), "humanBones.head.node: nodes[7] does not exist"),
        (json!({"head": {"node": -1}}), "humanBones.head.node: names no node"),
        (json!([{"bone": "head"}]), "humanBones[0].node: names no node"),
        (json!(4), "humanBones: expected an object or a list of bones"),
    ] {
        gltf.json["extensions"] = json!({"VRMC_vrm": {"humanoid": {"humanBones": bones}}});
        gltf.model_that_warns(&[&format!("extensions.VRMC_vrm.humanoid.{message}")]);
    }
}

#[test]
fn the_walker_has_its_roles_and_no_other_asset_has_any() {
    let humanoid = humanoid_of(&asset(WALKER)).unwrap();
    let names = asset(WALKER).skeleton.names;
    let name = |role: Role| humanoid.node(role).map_or("", |node| &*names[node as usize]);
    let [forearm, toe] = [Role::limb(Side::Left, Limb::LowerArm), Role::limb(Side::Right, Limb::Toes)];
    let roles = [Role::HIPS, Role::SPINE, Role::CHEST, Role::HEAD, forearm, toe];
    assert_eq!(roles.map(name), ["hips", "spine", "chest", "head", "forearm.L", "toe.R"]);
    assert_eq!(humanoid_of(&asset(STRIP)), None);
}

/// Returns the node of a part of the left arm or leg.
fn left(model: &Model, limb: Limb) -> usize {
    humanoid_of(model).unwrap().limb(Side::Left, limb).unwrap() as usize
}

fn turn_and_place(model: &Model, clip: Option<&Clip>, node: usize) -> (Quat, Vec3) {
    let matrix = posed(model, clip, 0.0).0[node];
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
        let along = (turn_and_place(&source, None, to).1 - turn_and_place(&source, None, from).1).normalize();
        let own = turn_and_place(&source, None, node).0.inverse() * along;
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
        let [own, carrier] = [node, carrier].map(|node| turn_and_place(&target, Some(&target.clips[0]), node).0);
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
