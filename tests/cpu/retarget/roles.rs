//! The roles of all sample models.

use std::path::Path;

use throng::model::humanoid::{Limb, Side};
use throng::model::{Model, Role, import};
use throng::retarget::humanoid_of;

use super::sample_path;
use crate::cpu::model_files::sample_models;

/// The humanoids by file, with the names of hips, first spine, head, left upper arm, left lower arm, right upper leg and right
/// lower leg.
const HUMANOIDS: &[(&str, &str)] = &[
    (
        "CesiumMan/CesiumMan.glb",
        "Skeleton_torso_joint_1 Skeleton_torso_joint_2 Skeleton_neck_joint_2 Skeleton_arm_joint_L__4_ Skeleton_arm_joint_L__3_ leg_joint_R_1 leg_joint_R_2",
    ),
    (
        "Elf_Maya/elf.gltf",
        "mixamorig:Hips mixamorig:Spine mixamorig:Head mixamorig:LeftArm mixamorig:LeftForeArm mixamorig:RightUpLeg mixamorig:RightLeg",
    ),
    ("KayKit_Knight/Knight.glb", "hips spine head upperarm.l lowerarm.l upperleg.r lowerleg.r"),
    ("Mannequiny/mannequiny.glb", "pelvis spine_01 head upperarm.l lowerarm.l thigh.r calf.r"),
    (
        "PBRTest_Joints1/pbrTest.gltf",
        "Armature_Bone Armature_Bone.001 Armature_Bone.002 Armature_Bone.003 Armature_Bone.004 Armature_Bone.007 Armature_Bone.008",
    ),
    (
        "RiggedFigure/RiggedFigure.glb",
        "torso_joint_1 torso_joint_2 neck_joint_2 arm_joint_L_1 arm_joint_L_2 leg_joint_R_1 leg_joint_R_2",
    ),
    ("RobotExpressive_raylib/robot.glb", "Body Hips Head UpperArm.L LowerArm.L UpperLeg.R LowerLeg.R"),
    (
        "avatars/bitmoji/bitmoji.glb",
        "C_spine0001_bind_JNT C_spine0002_bind_JNT C_head0001_bind_JNT L_armUpper0001_bind_JNT L_armLower0001_bind_JNT R_legUpper0001_bind_JNT R_legLower0001_bind_JNT",
    ),
    (
        "avatars/bitmoji/jump-flip.glb",
        "C_spine0001_bind_JNT C_spine0006_bind_JNT C_head0001_bind_JNT L_armUpper0001_bind_JNT L_armLower0001_bind_JNT R_legUpper0001_bind_JNT R_legLower0001_bind_JNT",
    ),
    (
        "avatars/bitmoji/walk.glb",
        "C_spine0001_bind_JNT C_spine0002_bind_JNT C_head0001_bind_JNT L_armUpper0001_bind_JNT L_armLower0001_bind_JNT R_legUpper0001_bind_JNT R_legLower0001_bind_JNT",
    ),
    ("avatars/market/male/model.gltf", "Hips Spine Head LeftArm LeftForeArm RightUpLeg RightLeg"),
    ("avatars/market/zombie-1/model.gltf", "Hips Spine Head LeftArm LeftForeArm RightUpLeg RightLeg"),
    (
        "derived/RiggedFigure-draco.glb",
        "torso_joint_1 torso_joint_2 neck_joint_2 arm_joint_L_1 arm_joint_L_2 leg_joint_R_1 leg_joint_R_2",
    ),
    (
        "derived/RiggedFigure-meshopt.glb",
        "torso_joint_1 torso_joint_2 neck_joint_2 arm_joint_L_1 arm_joint_L_2 leg_joint_R_1 leg_joint_R_2",
    ),
    (
        "derived/RiggedFigure-quantized.glb",
        "torso_joint_1 torso_joint_2 neck_joint_2 arm_joint_L_1 arm_joint_L_2 leg_joint_R_1 leg_joint_R_2",
    ),
    ("avatars/vrm/Example.vrm", "hips spine head upper_arm.L lower_arm.L upper_leg.R lower_leg.R"),
    ("avatars/vrm/armature_transform.vrm", "hips spine head upper_arm.L lower_arm.L upper_leg.R lower_leg.R"),
];

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
    let vrm = ["avatars/vrm/Example.vrm", "avatars/vrm/armature_transform.vrm"].map(sample_path);
    let mut failures = Vec::new();
    for path in sample_models().into_iter().chain(vrm) {
        let Ok(model) = import::load(&path) else { continue };
        let folder = sample_path("");
        let file = path.strip_prefix(&folder).unwrap_or(Path::new("")).to_string_lossy().replace('\\', "/");
        let expected = HUMANOIDS.iter().find(|(name, _)| *name == file).map(|(_, names)| *names);
        let found = names(&model);
        if found.as_deref() != expected {
            failures.push(format!("{file}: {found:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
