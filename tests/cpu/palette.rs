//! The palette of a model pose, and the CPU twin of `skin.comp`, which applies it, where `assets/conformance` does not ask.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_3};
use std::mem::MaybeUninit;

use bytemuck::Zeroable;
use glam::{Affine3A, Quat, Vec3};
use throng::animation::{BindPose, Pose, skin_vertex, write_palette};
use throng::model::Geometry;
use throng::shader_types::{BindVertex, GpuInfluence, JointMatrix, pack_octahedral, unpack_octahedral};

use crate::common::pose::layout;

fn assert_close(actual: Vec3, expected: Vec3) {
    assert!((actual - expected).length() < 1e-4, "{actual} instead of {expected}");
}

#[test]
#[should_panic(expected = "room for 2 joint matrices of 1")]
fn a_palette_that_is_too_long_is_refused() {
    write_palette(&layout([(0, Affine3A::IDENTITY)], true), &[Affine3A::IDENTITY], &mut [MaybeUninit::uninit(); 2]);
}

/// Makes a model of one vertex that follows `joint_count` joints equally.
fn bind_pose(position: Vec3, normal: Vec3, joint_count: u32) -> BindPose {
    let (position, normal_octahedral) = (position.into(), pack_octahedral(normal));
    let vertex = BindVertex { position, normal_octahedral, influence_count: joint_count, ..BindVertex::zeroed() };
    let weight = 1.0 / joint_count as f32;
    BindPose {
        bind_vertices: vec![vertex],
        influences: (0..joint_count).map(|joint| GpuInfluence { joint, weight }).collect(),
        has_normals: true,
        ..BindPose::new(&Geometry::default())
    }
}

/// Returns the position and the normal of the skinned vertex.
fn skin(bind_pose: &BindPose, palette: &[JointMatrix]) -> (Vec3, Vec3) {
    let (skinned, tangent) = skin_vertex(bind_pose, 0, Pose { palette, ..Pose::default() }, false);
    assert_eq!(tangent, 0);
    (skinned.position.into(), unpack_octahedral(skinned.normal_octahedral))
}

#[test]
fn a_model_without_normals_keeps_the_normal_that_is_packed_as_0() {
    let palette = [JointMatrix::from(Affine3A::from_rotation_x(1.0))];
    let mut bind_pose = bind_pose(Vec3::Y, Vec3::Z, 1);
    let turned = skin(&bind_pose, &palette);
    assert!(turned.1.distance(Vec3::Z) > 0.5);
    bind_pose.has_normals = false;
    assert_eq!(skin(&bind_pose, &palette), (turned.0, Vec3::Z));
}

#[test]
fn dual_quaternions_blend_rotations_about_their_axis_and_stretches_like_matrices() {
    let skin_by = |palette: [Affine3A; 2], position: Vec3| {
        let bind_pose = BindPose { with_dual_quaternions: true, ..bind_pose(position, Vec3::X, 2) };
        skin(&bind_pose, &palette.map(JointMatrix::from))
    };
    let about = |pivot: Vec3, rotation: Quat| {
        Affine3A::from_rotation_translation(rotation, pivot) * Affine3A::from_translation(-pivot)
    };
    // Half of a 120° turn about a distant axis is one of 60°: the vertex keeps its distance of 1. By matrices it is half as far.
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
