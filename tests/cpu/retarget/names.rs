//! What the name of a joint says.

use throng::model::humanoid::Side;
use throng::retarget::names::{Word, evidence_of};

#[test]
fn names_of_many_conventions_are_read() {
    use Side::{Left, Right};
    for (name, side, word) in [
        ("mixamorig:LeftForeArm_08", Some(Left), Some(Word::LowerArm)),
        ("mixamorig:LeftArm", Some(Left), Some(Word::Arm)),
        ("mixamorig:RightToeBase", Some(Right), Some(Word::Toes)),
        ("DEF-upper_arm.L", Some(Left), Some(Word::UpperArm)),
        ("upperarm.l", Some(Left), Some(Word::UpperArm)),
        ("thigh_l", Some(Left), Some(Word::UpperLeg)),
        ("calf_r", Some(Right), Some(Word::LowerLeg)),
        ("J_Bip_L_UpperArm", Some(Left), Some(Word::UpperArm)),
        ("J_Bip_C_Hips", None, Some(Word::Hips)),
        ("Left elbow", Some(Left), Some(Word::LowerArm)),
        ("LeftUpperLegBone", Some(Left), Some(Word::UpperLeg)),
        ("L_armUpper0001_bind_JNT", Some(Left), Some(Word::UpperArm)),
        ("R_handPointer0002_bind_JNT", Some(Right), Some(Word::Finger(1))),
        ("Skeleton_arm_joint_L__4_", Some(Left), Some(Word::Arm)),
        ("Bip01 L Calf", Some(Left), Some(Word::LowerLeg)),
        ("CC_Base_L_Upperarm", Some(Left), Some(Word::UpperArm)),
        ("ValveBiped.Bip01_R_Hand", Some(Right), Some(Word::Hand)),
        ("f_index.01.R", Some(Right), Some(Word::Finger(1))),
        ("LArm", Some(Left), Some(Word::Arm)),
        ("little.distal.L", Some(Left), Some(Word::Finger(4))),
        ("leg_joint_R_5", Some(Right), Some(Word::Leg)),
        ("pelvis", None, Some(Word::Hips)),
        ("Armature_Bone.003", None, None),
        ("spine_01", None, None),
    ] {
        let evidence = evidence_of(name);
        assert_eq!((evidence.side, evidence.word, evidence.is_helper), (side, word, false), "{name}");
    }
    for name in
        ["LeftFootIK", "RightHeelRoll", "Head_end", "kneeIK.l", "control-foot-roll.l", "ORG-thigh.L", "handslot.r"]
    {
        assert!(evidence_of(name).is_helper, "{name}");
    }
}
