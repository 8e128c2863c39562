//! The palette of a model pose, and the CPU twin of `skin.comp`, which applies it to vertices.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_3};
use std::mem::MaybeUninit;

use bytemuck::Zeroable;
use glam::{Affine3A, Quat, Vec3};
use throng::animation::{BindPose, Pose, joint_matrices, skin_vertex, write_palette};
use throng::model::{Geometry, PaletteLayout};
use throng::shader_types::{BindVertex, GpuInfluence, GpuMorphDelta, JointMatrix, pack_octahedral, unpack_octahedral};

use crate::common::lanes::{room, written};

fn assert_close(actual: Vec3, expected: Vec3) {
    assert!((actual - expected).length() < 1e-4, "{actual} instead of {expected}");
}

fn vertex(position: Vec3, normal: Vec3, first_influence: u32, influence_count: u32) -> BindVertex {
    let (position, normal_octahedral) = (position.into(), pack_octahedral(normal));
    BindVertex { position, normal_octahedral, first_influence, influence_count, ..BindVertex::zeroed() }
}

#[test]
fn entries_are_node_times_inverse_bind_with_repeats_and_rigid_parts() {
    let model_from_node = [
        Affine3A::from_translation(Vec3::new(0.0, 1.0, 0.0)),
        Affine3A::from_rotation_translation(Quat::from_rotation_z(FRAC_PI_2), Vec3::new(0.0, 2.0, 0.0)),
    ];
    let joint_from_mesh = Affine3A::from_translation(Vec3::new(0.0, -2.0, 0.0));
    // Joint 1 twice, with different inverse binds, and node 0 carrying a rigid mesh.
    let layout = PaletteLayout {
        nodes: vec![1, 0, 1],
        joint_from_mesh: vec![joint_from_mesh, Affine3A::IDENTITY, Affine3A::IDENTITY],
        is_joint: vec![true, false, true],
    };
    let matrices: Vec<JointMatrix> = joint_matrices(&layout, &model_from_node).collect();
    // (1, 2, 0) lies at (1, 0, 0) in the joint's space, turns to (0, 1, 0), and is raised by 2.
    assert_close(matrices[0].transform_point(Vec3::new(1.0, 2.0, 0.0)), Vec3::new(0.0, 3.0, 0.0));
    assert_eq!(matrices[1], JointMatrix::from(model_from_node[0]));
    assert_eq!(matrices[2], JointMatrix::from(model_from_node[1]));
    // Rows: 48 bytes, translation last in each.
    assert_eq!(bytemuck::bytes_of(&matrices[1]).len(), 48);
    assert_eq!(matrices[1].rows[1], [0.0, 1.0, 0.0, 1.0]);

    // A coarse level needs the first ones only.
    for count in [3, 2] {
        let mut out = room(count);
        write_palette(&layout, &model_from_node, &mut out);
        assert_eq!(written(&out), matrices[..count]);
    }
}

#[test]
#[should_panic(expected = "room for 2 joint matrices of 1")]
fn a_palette_that_is_too_long_is_refused() {
    let layout = PaletteLayout { nodes: vec![0], joint_from_mesh: vec![Affine3A::IDENTITY], is_joint: vec![true] };
    write_palette(&layout, &[Affine3A::IDENTITY], &mut [MaybeUninit::uninit(); 2]);
}

fn bind_pose(vertices: &[BindVertex], influences: &[GpuInfluence], morph_deltas: &[GpuMorphDelta]) -> BindPose {
    BindPose {
        bind_vertices: vertices.to_vec(),
        influences: influences.to_vec(),
        morph_deltas: morph_deltas.to_vec(),
        has_normals: true,
        ..BindPose::new(&Geometry::default())
    }
}

/// The influence of joint 0 alone.
const ONE: [GpuInfluence; 1] = [GpuInfluence { joint: 0, weight: 1.0 }];

fn unmorphed(palette: &[JointMatrix]) -> Pose<'_> {
    Pose { palette, ..Pose::default() }
}

/// Returns the position and the normal of one skinned vertex of a model without tangents.
fn skin(bind_pose: &BindPose, vertex: usize, pose: Pose<'_>) -> (Vec3, Vec3) {
    let (skinned, tangent) = skin_vertex(bind_pose, vertex, pose, false);
    assert_eq!(tangent, 0);
    (skinned.position.into(), unpack_octahedral(skinned.normal_octahedral))
}

#[test]
fn morph_targets_come_before_joints() {
    // The joint scales by 2 and turns by 90 degrees about z, so it also scales and turns the morph deltas.
    let palette = [JointMatrix::from(Affine3A::from_scale_rotation_translation(
        Vec3::splat(2.0),
        Quat::from_rotation_z(FRAC_PI_2),
        Vec3::new(0.0, 0.0, 5.0),
    ))];
    let delta = |weight, position: Vec3, normal: Vec3| GpuMorphDelta {
        weight_index: weight,
        position: position.to_array(),
        normal: normal.to_array(),
    };
    // The first delta belongs to another vertex, the other two to this one: those of targets 0 and 2.
    let morph_deltas = [
        delta(1, Vec3::ONE, Vec3::ONE),
        delta(0, 3.0 * Vec3::Y, Vec3::ZERO),
        delta(2, -Vec3::Z, Vec3::new(-1.0, 1.0, 0.0)),
    ];
    let vertices = [BindVertex { first_morph_delta: 1, morph_delta_count: 2, ..vertex(Vec3::X, Vec3::X, 0, 1) }];
    let bind_pose = bind_pose(&vertices, &ONE, &morph_deltas);
    let morphed =
        |morph_weights: &[f32]| skin(&bind_pose, 0, Pose { palette: &palette, morph_weights, ..Pose::default() });
    let (position, normal) = morphed(&[0.0, 9.0, 0.0]);
    assert_close(position, Vec3::new(0.0, 2.0, 5.0));
    assert_close(normal, Vec3::Y);
    // (1, 0, 0) + 0.5 · (0, 3, 0) + 1 · (0, 0, -1) = (1, 1.5, -1), turned and doubled (-3, 2, -2).
    let (position, normal) = morphed(&[0.5, 9.0, 1.0]);
    assert_close(position, Vec3::new(-3.0, 2.0, 3.0));
    assert_close(normal, -Vec3::X);
}

#[test]
fn a_model_without_normals_keeps_the_normal_that_is_packed_as_0() {
    let palette = [JointMatrix::from(Affine3A::from_rotation_x(1.0))];
    let mut bind_pose = bind_pose(&[vertex(Vec3::Y, Vec3::Z, 0, 1)], &ONE, &[]);
    let turned = skin(&bind_pose, 0, unmorphed(&palette));
    assert!(turned.1.distance(Vec3::Z) > 0.5);
    bind_pose.has_normals = false;
    assert_eq!(skin(&bind_pose, 0, unmorphed(&palette)), (turned.0, Vec3::Z));
}

#[test]
fn a_two_joint_strip_bends_as_calculated() {
    // The upper joint sits at y = 1 and turns by 90 degrees about z there; the lower one stays.
    let pivot = Vec3::new(0.0, 1.0, 0.0);
    let upper = Affine3A::from_rotation_translation(Quat::from_rotation_z(FRAC_PI_2), pivot)
        * Affine3A::from_translation(-pivot);
    let palette = [JointMatrix::IDENTITY, JointMatrix::from(upper)];
    let influences = [(0, 1.0), (0, 0.5), (1, 0.5), (1, 1.0)].map(|(joint, weight)| GpuInfluence { joint, weight });
    let vertices = [
        vertex(Vec3::new(0.5, 0.0, 0.0), Vec3::X, 0, 1),
        vertex(Vec3::new(0.5, 1.0, 0.0), Vec3::X, 1, 2),
        vertex(Vec3::new(0.5, 2.0, 0.0), Vec3::X, 3, 1),
    ];
    let bind_pose = bind_pose(&vertices, &influences, &[]);
    let diagonal = Vec3::new(1.0, 1.0, 0.0).normalize();
    // Upper: (0.5, 1) from the pivot turns to (-1, 0.5). Middle: the mean of (0.5, 0) and (0, 0.5) from the pivot.
    let expected = [
        (Vec3::new(0.5, 0.0, 0.0), Vec3::X),
        (Vec3::new(0.25, 1.25, 0.0), diagonal),
        (Vec3::new(-1.0, 1.5, 0.0), Vec3::Y),
    ];
    for (v, (position, normal)) in expected.into_iter().enumerate() {
        let skinned = skin(&bind_pose, v, unmorphed(&palette));
        assert_close(skinned.0, position);
        assert_close(skinned.1, normal);
    }
}

#[test]
fn dual_quaternions_blend_rotations_about_their_axis_and_stretches_like_matrices() {
    let skin_by = |palette: [Affine3A; 2], position: Vec3| {
        let influences = [0, 1].map(|joint| GpuInfluence { joint, weight: 0.5 });
        let vertices = [vertex(position, Vec3::X, 0, 2)];
        let mut bind_pose = bind_pose(&vertices, &influences, &[]);
        bind_pose.with_dual_quaternions = true;
        skin(&bind_pose, 0, unmorphed(&palette.map(JointMatrix::from)))
    };
    let about = |pivot: Vec3, rotation: Quat| {
        Affine3A::from_rotation_translation(rotation, pivot) * Affine3A::from_translation(-pivot)
    };
    // Half of a turn of 120 degrees about a distant axis is one of 60 degrees: the vertex keeps its distance of 1. By matrices
    // it would be half as far.
    let axis = Vec3::new(3.0, 1.0, 0.0);
    let twisted = about(axis, Quat::from_rotation_y(2.0 * FRAC_PI_3));
    let (position, normal) = skin_by([Affine3A::IDENTITY, twisted], axis + Vec3::X);
    let turned = Vec3::new(0.5, 0.0, -0.866_025_4);
    assert_close(position, axis + turned);
    assert_close(normal, turned);
    // The short way, although the quaternion of 270 degrees is on the other side.
    let (position, _) =
        skin_by([Affine3A::IDENTITY, about(axis, Quat::from_rotation_y(3.0 * FRAC_PI_2))], axis + Vec3::X);
    assert_close(position, axis + Vec3::new(FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2));
    // Files in centimetres: all joints scale by the same factor.
    let centimetres = Affine3A::from_scale(Vec3::splat(0.01));
    let (position, _) = skin_by([centimetres, twisted * centimetres], 100.0 * (axis + Vec3::X));
    assert_close(position, axis + turned);
    // Stretches without a rotation are blended like matrices, and so are mirror images and joints that have collapsed.
    let mean = |a: Vec3, b: Vec3| skin_by([a, b].map(Affine3A::from_scale), Vec3::ONE).0;
    assert_close(mean(Vec3::new(1.0, 2.0, 3.0), Vec3::new(3.0, 1.0, 1.0)), Vec3::new(2.0, 1.5, 2.0));
    assert_close(mean(Vec3::ONE, Vec3::new(-3.0, 1.0, 1.0)), Vec3::new(-1.0, 1.0, 1.0));
    assert_close(mean(Vec3::ONE, Vec3::ZERO), Vec3::splat(0.5));
    // Equal matrices are their own blend, with any shear.
    let shear = Affine3A::from_cols_array(&[1.0, 0.5, 0.0, 0.25, 2.0, 1.0, 0.0, -1.0, 1.0, 5.0, 6.0, 7.0]);
    assert_close(skin_by([shear; 2], Vec3::new(1.0, 2.0, 3.0)).0, shear.transform_point3(Vec3::new(1.0, 2.0, 3.0)));
}

#[test]
fn normals_go_by_the_cofactors_and_stay_outside_when_mirrored() {
    let normal = Vec3::new(0.6, 0.8, 0.0);
    let skinned_normal = |scale: Vec3| {
        let palette = [JointMatrix::from(Affine3A::from_scale(scale))];
        let vertices = [vertex(Vec3::ZERO, normal, 0, 1)];
        skin(&bind_pose(&vertices, &ONE, &[]), 0, unmorphed(&palette)).1
    };
    // Inverse transpose: x is stretched by 2, so the normal leans to y: (0.3, 0.8).
    assert_close(skinned_normal(Vec3::new(2.0, 1.0, 1.0)), Vec3::new(0.3, 0.8, 0.0).normalize());
    assert_close(skinned_normal(Vec3::new(-1.0, 1.0, 1.0)), Vec3::new(-0.6, 0.8, 0.0));
    assert_close(skinned_normal(Vec3::splat(-2.0)), Vec3::new(-0.6, -0.8, 0.0));
    assert_close(skinned_normal(Vec3::ZERO), normal);
}
