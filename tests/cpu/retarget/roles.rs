//! The roles of all sample models.

use glam::{Quat, Vec3};
use serde_json::json;
use throng::model::humanoid::{Limb, Side};
use throng::model::{Humanoid, Model, Role, import};
use throng::retarget::humanoid_of;
use throng::retarget::names::{Word, evidence_of};

use super::is_finger;
use crate::common::assets::{WALKER, asset, sample_files, sample_path};
use crate::common::builder::Gltf;

/// The humanoids by file, with the names of hips, first spine, head, left upper and lower arm, right upper and lower leg.
const HUMANOIDS: &str = "\
CesiumMan/CesiumMan.glb: Skeleton_torso_joint_1 Skeleton_torso_joint_2 Skeleton_neck_joint_2 Skeleton_arm_joint_L__4_ Skeleton_arm_joint_L__3_ leg_joint_R_1 leg_joint_R_2
Elf_Maya/elf.gltf: mixamorig:Hips mixamorig:Spine mixamorig:Head mixamorig:LeftArm mixamorig:LeftForeArm mixamorig:RightUpLeg mixamorig:RightLeg
KayKit_Knight/Knight.glb: hips spine head upperarm.l lowerarm.l upperleg.r lowerleg.r
Mannequiny/mannequiny.glb: pelvis spine_01 head upperarm.l lowerarm.l thigh.r calf.r
PBRTest_Joints1/pbrTest.gltf: Armature_Bone Armature_Bone.001 Armature_Bone.002 Armature_Bone.003 Armature_Bone.004 Armature_Bone.007 Armature_Bone.008
RiggedFigure/RiggedFigure.glb: torso_joint_1 torso_joint_2 neck_joint_2 arm_joint_L_1 arm_joint_L_2 leg_joint_R_1 leg_joint_R_2
RobotExpressive_raylib/robot.glb: Body Hips Head UpperArm.L LowerArm.L UpperLeg.R LowerLeg.R
avatars/bitmoji/bitmoji.glb: C_spine0001_bind_JNT C_spine0002_bind_JNT C_head0001_bind_JNT L_armUpper0001_bind_JNT L_armLower0001_bind_JNT R_legUpper0001_bind_JNT R_legLower0001_bind_JNT
avatars/bitmoji/jump-flip.glb: C_spine0001_bind_JNT C_spine0006_bind_JNT C_head0001_bind_JNT L_armUpper0001_bind_JNT L_armLower0001_bind_JNT R_legUpper0001_bind_JNT R_legLower0001_bind_JNT
avatars/bitmoji/walk.glb: C_spine0001_bind_JNT C_spine0002_bind_JNT C_head0001_bind_JNT L_armUpper0001_bind_JNT L_armLower0001_bind_JNT R_legUpper0001_bind_JNT R_legLower0001_bind_JNT
avatars/market/male/model.gltf: Hips Spine Head LeftArm LeftForeArm RightUpLeg RightLeg
avatars/market/zombie-1/model.gltf: Hips Spine Head LeftArm LeftForeArm RightUpLeg RightLeg
derived/RiggedFigure-draco.glb: torso_joint_1 torso_joint_2 neck_joint_2 arm_joint_L_1 arm_joint_L_2 leg_joint_R_1 leg_joint_R_2
derived/RiggedFigure-meshopt.glb: torso_joint_1 torso_joint_2 neck_joint_2 arm_joint_L_1 arm_joint_L_2 leg_joint_R_1 leg_joint_R_2
derived/RiggedFigure-quantized.glb: torso_joint_1 torso_joint_2 neck_joint_2 arm_joint_L_1 arm_joint_L_2 leg_joint_R_1 leg_joint_R_2
avatars/vrm/Example.vrm: hips spine head upper_arm.L lower_arm.L upper_leg.R lower_leg.R
avatars/vrm/armature_transform.vrm: hips spine head upper_arm.L lower_arm.L upper_leg.R lower_leg.R
";

fn names(model: &Model) -> Option<String> {
    let humanoid = humanoid_of(model)?;
    let limb = Role::limb;
    let roles = [
        Role::HIPS,
        Role::SPINE,
        Role::HEAD,
        limb(Side::Left, Limb::UpperArm),
        limb(Side::Left, Limb::LowerArm),
        limb(Side::Right, Limb::UpperLeg),
        limb(Side::Right, Limb::LowerLeg),
    ];
    Some(roles.map(|role| humanoid.node(role).map_or("", |node| &*model.skeleton.names[node as usize])).join(" "))
}

#[test]
#[cfg_attr(not(sample_models), ignore = "set THRONG_SAMPLE_MODELS to the folder of sample models")]
fn every_humanoid_of_the_sample_models_is_recognised_and_nothing_else() {
    let mut failures = Vec::new();
    for path in sample_files(&["glb", "gltf", "vrm"]) {
        let Ok(model) = import::load(&path) else { continue };
        let file = path.strip_prefix(sample_path("")).unwrap().to_string_lossy().replace('\\', "/");
        let expected = HUMANOIDS.lines().filter_map(|line| line.split_once(": ")).find(|(name, _)| *name == file);
        let found = names(&model);
        if found.as_deref() != expected.map(|(_, names)| names) {
            failures.push(format!("{file}: {found:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Conventions, two lines each: the words for both sides and the names of hips, spine, chest, neck and head; then the names of
/// shoulder, upper arm, forearm, hand, thigh, shin, foot and toe, with `*` in place of the side.
const CONVENTIONS: &str = "\
Left Right: mixamorig:Hips mixamorig:Spine mixamorig:Spine1 mixamorig:Neck mixamorig:Head
mixamorig:*Shoulder_07 mixamorig:*Arm_08 mixamorig:*ForeArm_09 mixamorig:*Hand_010 mixamorig:*UpLeg_055 mixamorig:*Leg_056 mixamorig:*Foot_057 mixamorig:*ToeBase_058
L R: DEF-spine DEF-spine.001 DEF-spine.002 DEF-spine.004 DEF-spine.006
DEF-shoulder.* DEF-upper_arm.* DEF-forearm.* DEF-hand.* DEF-thigh.* DEF-shin.* DEF-foot.* DEF-toe.*
l r: pelvis spine_01 spine_02 neck_01 head
clavicle_* upperarm_* lowerarm_* hand_* thigh_* calf_* foot_* ball_*
L R: J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_Neck J_Bip_C_Head
J_Bip_*_Shoulder J_Bip_*_UpperArm J_Bip_*_LowerArm J_Bip_*_Hand J_Bip_*_UpperLeg J_Bip_*_LowerLeg J_Bip_*_Foot J_Bip_*_ToeBase
Left Right: Hips Spine Chest Neck Head
*,shoulder *,arm *,elbow *,wrist *,leg *,knee *,ankle *,toe
Left Right: HipsBone SpineBone ChestBone NeckBone HeadBone
*ShoulderBone *UpperArmBone *LowerArmBone *HandBone *UpperLegBone *LowerLegBone *FootBone *ToesBone
L R: Bip01,Pelvis Bip01,Spine Bip01,Spine1 Bip01,Neck Bip01,Head
Bip01,*,Clavicle Bip01,*,UpperArm Bip01,*,Forearm Bip01,*,Hand Bip01,*,Thigh Bip01,*,Calf Bip01,*,Foot Bip01,*,Toe0
L R: CC_Base_Hip CC_Base_Waist CC_Base_Spine01 CC_Base_NeckTwist01 CC_Base_Head
CC_Base_*_Clavicle CC_Base_*_Upperarm CC_Base_*_Forearm CC_Base_*_Hand CC_Base_*_Thigh CC_Base_*_Calf CC_Base_*_Foot CC_Base_*_ToeBase
l r: hip abdomenLower chestLower neckLower head
*Collar *ShldrBend *ForearmBend *Hand *ThighBend *Shin *Foot *Toe
Left Right: mPelvis mTorso mChest mNeck mHead
mCollar* mShoulder* mElbow* mWrist* mHip* mKnee* mAnkle* mToe*
L R: Pelvis Spine1 Spine2 Neck Head
*_Collar *_Shoulder *_Elbow *_Wrist *_Hip *_Knee *_Ankle *_Foot
L R: ValveBiped.Bip01_Pelvis ValveBiped.Bip01_Spine ValveBiped.Bip01_Spine2 ValveBiped.Bip01_Neck1 ValveBiped.Bip01_Head1
ValveBiped.Bip01_*_Clavicle ValveBiped.Bip01_*_UpperArm ValveBiped.Bip01_*_Forearm ValveBiped.Bip01_*_Hand ValveBiped.Bip01_*_Thigh ValveBiped.Bip01_*_Calf ValveBiped.Bip01_*_Foot ValveBiped.Bip01_*_Toe0
lft rgt: root_hips spine_a spine_b neck_a head_a
*_shoulder_jnt *_arm_jnt *_forearm_jnt *_hand_jnt *_leg_jnt *_lowleg_jnt *_foot_jnt *_toe_jnt
L R: C_spine0001_bind_JNT C_spine0002_bind_JNT C_spine0003_bind_JNT C_neck0001_bind_JNT C_head0001_bind_JNT
*_clavicle0001_bind_JNT *_armUpper0001_bind_JNT *_armLower0001_bind_JNT *_hand0001_bind_JNT *_legUpper0001_bind_JNT *_legLower0001_bind_JNT *_foot0001_bind_JNT *_toe0001_bind_JNT
Left Right: Hips Spine Spine2 Neck Head
*Clavicle *UpperArm *LowerArm *Hand *UpperLeg *LowerLeg *Foot *Toes
L R: Torso Abdomen Chest Neck Head
Shoulder.* UpperArm.* LowerArm.* Fist.* UpperLeg.* LowerLeg.* Foot.* Toe.*
";

/// The walker's nodes get the names of each convention, and one arm another direction, so that the tree alone says nothing.
#[test]
fn humanoids_of_many_conventions_are_recognised_by_name() {
    let mut body = asset(WALKER);
    let of_walker = humanoid_of(&body).unwrap();
    body.skins.clear();
    let arm = of_walker.limb(Side::Left, Limb::UpperArm).unwrap();
    body.skeleton.rest.rotations[arm as usize] *= Quat::from_rotation_z(1.5) * Quat::from_rotation_x(1.0);
    body.skeleton.names.iter_mut().for_each(|name| "x".clone_into(name));
    assert_eq!(humanoid_of(&body), None, "without names");
    let mut failures = Vec::new();
    for [torso, limbs] in CONVENTIONS.lines().collect::<Vec<_>>().as_chunks::<2>().0 {
        let (sides, torso) = torso.split_once(": ").unwrap();
        let mut names = vec![String::from("x"); body.skeleton.len()];
        let mut set = |role: Role, name: &str| {
            if let Some(node) = of_walker.node(role) {
                names[node as usize] = name.replace(',', " ");
            }
        };
        let torso_roles = [Role::HIPS, Role::SPINE, Role::CHEST, Role::NECK, Role::HEAD];
        torso_roles.into_iter().zip(torso.split(' ')).for_each(|(role, name)| set(role, name));
        for (side, word) in Side::BOTH.into_iter().zip(sides.split(' ')) {
            for (limb, name) in Limb::ALL.into_iter().zip(limbs.split(' ')) {
                set(Role::limb(side, limb), &name.replace('*', word));
            }
        }
        body.skeleton.names = names;
        if torso.starts_with("DEF") {
            // The rig's controls are joints too, and come first in the tree.
            let controls = ["shoulder.L", "hand.R", "toe.R"];
            for (control, node) in controls.iter().zip(of_walker.node(Role::HIPS).unwrap() + 5..) {
                assert_eq!(body.skeleton.names[node as usize], "x");
                (*control).clone_into(&mut body.skeleton.names[node as usize]);
            }
        }
        let found = humanoid_of(&body);
        let nodes = |humanoid: &Humanoid| {
            let required = Role::all().filter(|&role| !is_finger(role));
            required.map(|role| humanoid.node(role)).collect::<Vec<_>>()
        };
        let wrong = found.as_ref().map_or("no humanoid".to_owned(), |found| {
            let differs = |role: &Role| found.node(*role) != of_walker.node(*role);
            Role::all().filter(differs).map(Role::name).collect::<Vec<_>>().join(" ")
        });
        if found.as_ref().map(nodes) != Some(nodes(&of_walker)) {
            failures.push(format!("{limbs}: {wrong}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What the tables above do not ask: fingers, sides at any place, and joints that only help.
#[test]
fn names_tell_fingers_sides_and_helpers() {
    use Side::{Left, Right};
    for (name, side, word) in [
        ("mixamorig:LeftForeArm_08", Some(Left), Some(Word::LowerArm)),
        ("Left elbow", Some(Left), Some(Word::LowerArm)),
        ("R_handPointer0002_bind_JNT", Some(Right), Some(Word::Finger(1))),
        ("f_index.01.R", Some(Right), Some(Word::Finger(1))),
        ("LArm", Some(Left), Some(Word::Arm)),
        ("little.distal.L", Some(Left), Some(Word::Finger(4))),
        ("leg_joint_R_5", Some(Right), Some(Word::Leg)),
        ("Armature_Bone.003", None, None),
        ("spine_01", None, None),
    ] {
        let evidence = evidence_of(name);
        assert_eq!((evidence.side, evidence.word, evidence.is_helper), (side, word, false), "{name}");
    }
    for name in "LeftFootIK RightHeelRoll Head_end kneeIK.l control-foot-roll.l ORG-thigh.L handslot.r".split(' ') {
        assert!(evidence_of(name).is_helper, "{name}");
    }
}

/// Nodes, each with its name, that of its parent, and its place. A star stands for `l` and `r`; x is that of the left one.
pub const TORSO: &str = "hips - 0 1 0, spine hips 0 1.2 0, chest spine 0 1.4 0, neck chest 0 1.5 0, head neck 0 1.6 0,
    *clavicle chest .05 1.45 0, *upperarm *clavicle .2 1.45 0, *forearm *upperarm .25 1.15 0, *hand *forearm .27 .9 .05";
pub const LEGS: &str = "*thigh hips .1 .95 0, *calf *thigh .1 .5 .02, *foot *calf .1 .1 0";

/// Returns a skeleton of such nodes, and their names in the lines. `name` gives each its name, by that and by its number.
pub fn rig(lines: &[&str], name: impl Fn(&str, usize) -> String) -> (Model, Vec<String>) {
    let mut gltf = Gltf::new();
    let (mut names, mut places) = (Vec::<String>::new(), Vec::new());
    for line in lines.iter().flat_map(|lines| lines.split(',')) {
        for side in if line.contains('*') { &["l", "r"][..] } else { &[""] } {
            let line = line.replace('*', side);
            let [own, above, x, y, z] = line.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
            let place = Vec3::from([x, y, z].map(|number| number.parse::<f32>().unwrap()));
            let place = if *side == "r" { place * Vec3::new(-1.0, 1.0, 1.0) } else { place };
            let parent = names.iter().position(|name| name == above);
            let way = place - parent.map_or(Vec3::ZERO, |parent| places[parent]);
            let node = json!({"name": name(own, names.len()), "translation": way.to_array(), "children": []});
            let node = json!(gltf.push("nodes", node));
            let above = parent.map_or("/scenes/0/nodes".to_owned(), |parent| format!("/nodes/{parent}/children"));
            gltf.json.pointer_mut(&above).unwrap().as_array_mut().unwrap().push(node);
            names.push(own.to_owned());
            places.push(place);
        }
    }
    let model = gltf.load().unwrap();
    let names = model.skeleton.source_nodes.iter().map(|&node| names[node as usize].clone()).collect();
    (model, names)
}

/// Returns Biped's name of a part, unless it is one of these.
pub fn biped(name: &str, number: usize, unnamed: &str) -> String {
    let (side, part) = name.split_at(1);
    match name {
        "hips" => "Bip01 Pelvis".to_owned(),
        "spine" | "chest" | "neck" | "head" => format!("Bip01 {name}"),
        _ if unnamed.contains(part) => format!("Bone{number}"),
        _ => format!("Bip01 {} {part}", side.to_uppercase()),
    }
}

#[test]
fn the_tree_decides_where_names_do_not() {
    let toes = "*toe *foot .1 .02 .12, *nub *toe .1 .01 .2, *heel *foot .1 0 -.04";
    let back = "*toe *foot .1 .02 -.12, *nub *toe .1 .01 -.2";
    let horse = "*thigh hips .1 .95 0, *calf *thigh .1 .6 .1, *link *calf .1 .35 -.1, *foot *link .1 .08 0";
    let socket = "*socket hips .05 1 0, *thigh *socket .1 .95 0, *calf *thigh .1 .5 .02, *foot *calf .1 .1 0";
    let tail = "tail1 hips 0 1 -.1, tail2 tail1 0 .5 -.4, tail3 tail2 0 -.1 -.6, *tip tail3 .1 -.2 -.7";
    let skirt = "*skirt1 hips .2 .9 0, *skirt2 *skirt1 .3 .4 0, *skirt3 *skirt2 .35 .15 0";
    let long_skirt = "*skirt1 hips .2 .9 0, *skirt2 *skirt1 .3 .4 0, *skirt3 *skirt2 .35 -.1 0";
    let coat = "*coat1 hips .1 .9 -.15, *coat2 *coat1 .1 .4 -.3, *coat3 *coat2 .1 -.02 -.4";
    let flap = "*flap1 *thigh .15 .9 0, *flap2 *flap1 .2 .4 0, *flap3 *flap2 .2 .05 0";
    let weapon = "grip rhand -.27 .85 .1, blade grip -.27 .6 1.4";
    let unnamed = |_: &str, number: usize| format!("Bone_{number:03}");
    let feetless = |name: &str, number: usize| biped(name, number, "foot toe nub heel link flap1 flap2 flap3");
    let only_legs = |name: &str, number: usize| match (&name[..1], &name[1..]) {
        (side, part @ ("thigh" | "calf" | "foot")) => {
            let part = part.replace("thigh", "leg_01").replace("calf", "leg_02");
            format!("{}_{part}", if side == "l" { "left" } else { "right" })
        }
        _ => unnamed(name, number),
    };
    let backwards = |name: &str, number: usize| match &name[1..] {
        "forearm" => format!("Bone_{}_{number:03}", if name.starts_with('l') { "R" } else { "L" }),
        _ => unnamed(name, number),
    };
    let whole = "spine chest neck head lclavicle lupperarm lforearm lhand lthigh lcalf lfoot ltoe";
    let toeless = whole.strip_suffix(" ltoe").unwrap();
    let mut failures = Vec::new();
    for (names, parts, expected) in [
        (&feetless as &dyn Fn(&str, usize) -> String, &[TORSO, LEGS, toes][..], whole),
        (&feetless, &[TORSO, LEGS], toeless),
        (&feetless, &[TORSO, horse, toes], whole),
        (&feetless, &[TORSO, tail, LEGS, flap, toes], whole),
        (&only_legs, &[TORSO, tail, LEGS, flap, toes], whole),
        (&only_legs, &[TORSO, long_skirt, coat, LEGS], toeless),
        (&unnamed, &[TORSO, LEGS, toes], whole),
        (&unnamed, &[TORSO, LEGS], toeless),
        (&unnamed, &[TORSO, horse, toes], whole),
        (&unnamed, &[TORSO, socket], toeless),
        (&unnamed, &[TORSO, tail, LEGS, flap, toes], whole),
        (&unnamed, &[TORSO, LEGS, toes, skirt, coat], whole),
        (&unnamed, &[TORSO, skirt, tail, coat, socket, toes, weapon], whole),
        (&unnamed, &[TORSO, LEGS, back], &whole.replace(" l", " r")),
        (&backwards, &[TORSO, LEGS], &toeless.replace(" l", " r")),
    ] {
        let (model, own) = rig(parts, names);
        let limbs = Limb::ALL.map(|limb| Role::limb(Side::Left, limb));
        let found = humanoid_of(&model).map(|humanoid| {
            let roles = [Role::SPINE, Role::CHEST, Role::NECK, Role::HEAD].into_iter().chain(limbs);
            let nodes = roles.filter_map(|role| humanoid.node(role));
            nodes.map(|node| &*own[node as usize]).collect::<Vec<_>>().join(" ")
        });
        if found.as_deref() != Some(expected) {
            failures.push(format!("{parts:?} {:?}: {found:?}", model.skeleton.names));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
