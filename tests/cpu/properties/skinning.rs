//! Weights, palettes and skinning.

use glam::{Affine3A, Quat, Vec3, Vec4};
use proptest::prelude::*;
use throng::animation::{BindPose, Pose, joint_matrices, skin_vertices};
use throng::model::PaletteLayout;
use throng::shader_types::{BindVertex, GpuInfluence, JointMatrix, SkinnedVertex, pack_octahedral, unpack_octahedral};

use crate::common::builder::Gltf;

const JOINT_COUNT: usize = 4;

fn rigid() -> impl Strategy<Value = Affine3A> {
    (prop::array::uniform4(-1.0_f32..1.0), prop::array::uniform3(-5.0_f32..5.0)).prop_map(|(rotation, translation)| {
        let rotation = Quat::from_vec4(Vec4::from(rotation).normalize_or(Vec4::W));
        Affine3A::from_rotation_translation(rotation, Vec3::from(translation))
    })
}

/// Vertices: a position, a normal, and the weights of all joints, which sum to one.
fn vertices() -> impl Strategy<Value = Vec<(Vec3, Vec3, [f32; JOINT_COUNT])>> {
    let position = prop::array::uniform3(-2.0_f32..2.0).prop_map(Vec3::from);
    let normal = prop::array::uniform3(-1.0_f32..1.0).prop_map(|n| Vec3::from(n).normalize_or(Vec3::Z));
    let weights = prop::array::uniform4(0.01_f32..1.0).prop_map(|weights| {
        let sum: f32 = weights.iter().sum();
        weights.map(|weight| weight / sum)
    });
    prop::collection::vec((position, normal, weights), 2..10)
}

fn skin(vertices: &[(Vec3, Vec3, [f32; JOINT_COUNT])], palette: &[JointMatrix]) -> Vec<SkinnedVertex> {
    let bind_vertex = |(index, (position, normal, _)): (usize, &(Vec3, Vec3, [f32; JOINT_COUNT]))| BindVertex {
        position: position.to_array(),
        normal_octahedral: pack_octahedral(*normal),
        first_influence: (index * JOINT_COUNT) as u32,
        influence_count: JOINT_COUNT as u32,
        first_morph_delta: 0,
        morph_delta_count: 0,
    };
    let influence = |(joint, &weight): (usize, &f32)| GpuInfluence { joint: joint as u32, weight };
    let bind_pose = BindPose {
        bind_vertices: vertices.iter().enumerate().map(bind_vertex).collect(),
        influences: vertices.iter().flat_map(|(_, _, w)| w.iter().enumerate().map(influence)).collect(),
        morph_deltas: Vec::new(),
        bind_tangents: Vec::new(),
        morph_tangents: Vec::new(),
        has_normals: true,
    };
    let mut out = vec![SkinnedVertex { position: [0.0; 3], normal_octahedral: 0 }; vertices.len()];
    skin_vertices(&bind_pose, Pose { palette, morph_weights: &[] }, &mut out);
    out
}

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn a_rigid_motion_keeps_distances_and_turns_normals(vertices in vertices(), motion in rigid()) {
        let skinned = skin(&vertices, &[JointMatrix::from(motion); JOINT_COUNT]);
        for (a, (position_a, normal, _)) in skinned.iter().zip(&vertices) {
            for (b, (position_b, ..)) in skinned.iter().zip(&vertices) {
                let (before, after) =
                    ((position_a - position_b).length(), (Vec3::from(a.position) - Vec3::from(b.position)).length());
                prop_assert!((before - after).abs() < 1e-5, "{before} became {after}");
            }
            let expected = motion.transform_vector3(*normal);
            // The normal was packed twice, with an error of 0.004 degrees each time.
            let off = (unpack_octahedral(a.normal_octahedral) - expected).length();
            prop_assert!(off < 3e-4, "the normal is off by {off}");
        }
    }

    #[test]
    fn moving_all_joints_moves_the_result(
        vertices in vertices(), joints in prop::array::uniform4(rigid()), motion in rigid(),
    ) {
        let still = skin(&vertices, &joints.map(JointMatrix::from));
        let moved = skin(&vertices, &joints.map(|joint| JointMatrix::from(motion * joint)));
        for (still, moved) in still.iter().zip(&moved) {
            let expected = motion.transform_point3(Vec3::from(still.position));
            let off = (Vec3::from(moved.position) - expected).length();
            prop_assert!(off < 2e-5, "off by {off}");
        }
    }

    #[test]
    fn a_skin_in_its_bind_pose_changes_nothing(vertices in vertices(), joints in prop::array::uniform4(rigid())) {
        let layout = PaletteLayout {
            nodes: (0..JOINT_COUNT as u32).collect(),
            joint_from_mesh: joints.iter().map(Affine3A::inverse).collect(),
            skins: Vec::new(),
        };
        let palette: Vec<JointMatrix> = joint_matrices(&layout, &joints).collect();
        for (vertex, (position, ..)) in skin(&vertices, &palette).iter().zip(&vertices) {
            let off = (Vec3::from(vertex.position) - position).length();
            prop_assert!(off < 2e-5, "{position} moved by {off}");
        }
    }

    #[test]
    fn weights_are_renormalised_in_proportion(
        weights in prop::array::uniform3(prop::array::uniform4(prop_oneof![Just(0.0_f32), 1e-3_f32..3.0])),
    ) {
        // Joints 0 and 1 are listed twice each, and their weights are summed.
        let model = Gltf::skinned([[0, 1, 1, 0]; 3], weights).model();
        let vertices = &model.geometry.source_primitives[0].vertices;
        for (&vertex, weights) in vertices.iter().zip(&weights) {
            let of_joints = [weights[0] + weights[3], weights[1] + weights[2]].map(f64::from);
            let sum = of_joints[0] + of_joints[1];
            for (joint, weight) in of_joints.into_iter().enumerate() {
                // A vertex without any weight follows its first joint.
                let expected = if sum > 0.0 { weight / sum } else { [1.0, 0.0][joint] };
                let influences = model.geometry.influences_of(vertex as usize).iter();
                let found: f64 =
                    influences.filter(|i| i.joint as usize == joint).map(|i| f64::from(i.weight)).sum();
                prop_assert!((found - expected).abs() < 1e-6, "joint {joint}: {found} instead of {expected}");
            }
        }
    }
}
