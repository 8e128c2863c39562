//! Bones: from each joint to the next, for the skeleton that is drawn.

use glam::{Affine3A, Vec3};
use throng::model::bones::bones;
use throng::model::{Bone, Geometry, NO_PARENT, PaletteLayout, Skeleton};

fn skeleton(parents: &[u32]) -> Skeleton {
    Skeleton { parents: parents.to_vec(), ..Skeleton::default() }
}

fn palette(joints: &[(u32, Affine3A)]) -> PaletteLayout {
    PaletteLayout {
        nodes: joints.iter().map(|joint| joint.0).collect(),
        joint_from_mesh: joints.iter().map(|joint| joint.1).collect(),
        is_joint: vec![true; joints.len()],
    }
}

fn bound_at(y: f32) -> Affine3A {
    Affine3A::from_translation(Vec3::new(0.0, -y, 0.0))
}

fn ends(bones: &[Bone]) -> Vec<(u32, u32, f32, f32)> {
    bones.iter().map(|bone| (bone.base, bone.tip, bone.mesh_from_base.translation.y, bone.tip_mesh.y)).collect()
}

#[test]
fn bones_lead_to_the_next_joint_and_the_last_one_is_short() {
    // Node 1 is no joint. Entries are in another order than nodes.
    let palette = palette(&[(2, bound_at(3.0)), (0, bound_at(1.0))]);
    let bones = bones(&skeleton(&[NO_PARENT, 0, 1]), &palette, &Geometry::default());
    assert_eq!(ends(&bones), [(0, 0, 3.0, 4.0), (1, 0, 1.0, 3.0)]);
    assert!((bones[1].axis_length - 0.3 * 2.0).abs() < 1e-6);
}

#[test]
fn joints_without_a_bind_matrix_are_skipped() {
    let collapsed = Affine3A::from_scale(Vec3::new(1.0, 0.0, 1.0));
    let palette = palette(&[(0, bound_at(0.0)), (1, collapsed), (2, bound_at(2.0))]);
    let bones = bones(&skeleton(&[NO_PARENT, 0, 1]), &palette, &Geometry::default());
    assert_eq!(ends(&bones), [(0, 2, 0.0, 2.0), (2, 2, 2.0, 3.0)]);
    let all_singular = self::palette(&[(0, collapsed)]);
    assert_eq!(self::bones(&skeleton(&[NO_PARENT]), &all_singular, &Geometry::default()), []);
}

#[test]
fn rigid_entries_and_repeated_joints_have_no_bones() {
    let mut palette = palette(&[(0, bound_at(0.0)), (0, bound_at(5.0)), (1, bound_at(1.0))]);
    palette.is_joint[2] = false;
    let geometry = Geometry { positions: vec![Vec3::ZERO, Vec3::new(0.0, 4.0, 0.0)], ..Geometry::default() };
    let bones = bones(&skeleton(&[NO_PARENT, NO_PARENT]), &palette, &geometry);
    assert_eq!(ends(&bones), [(0, 0, 0.0, 0.05 * 4.0)]);
    assert!(palette.joints().eq([0, 1]));
}
