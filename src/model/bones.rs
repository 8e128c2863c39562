//! The bones of a model's skins: pairs of joints, for drawing a skeleton.
//!
//! glTF has joints but no bones: a joint is a space, and nothing says how long a limb is. A bone leads from a joint (its
//! *base*) to the next joint below it (its *tip*), even if nodes that are not joints lie between them. A joint without
//! joints below it has a short bone, which continues the bone above. Therefore each joint is the base of a bone.
//!
//! Both ends are points of mesh space, at the time of binding. The palette moves them like vertices: a joint lies at the
//! origin of its space, so `model_from_joint * joint_from_mesh * mesh_from_joint` times the origin is where the joint is.
//! For that, the bind matrix `mesh_from_joint` must exist. Joints with a singular inverse bind matrix are left out, and the
//! joints below them continue from the next joint above.

use glam::{Affine3A, Mat3A, Vec3};

use super::{Geometry, PaletteLayout, Skeleton};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bone {
    /// The palette entry of the joint at the thick end.
    pub base: u32,
    /// The palette entry that moves the thin end: the next joint, or `base` for the last bone of a chain.
    pub tip: u32,
    /// The bind matrix of the joint at the base. Its axes may have any length.
    pub mesh_from_base: Affine3A,
    /// The thin end at the time of binding, in mesh space.
    pub tip_mesh: Vec3,
    /// The length in mesh space at which the axes of the base are drawn. It is 0 for all but the first bone of a joint.
    pub axis_length: f32,
}

/// Length of a joint's axes as a share of its longest bone.
const AXIS_SHARE: f32 = 0.3;
/// Length of a last bone as a share of the bone above.
const LAST_BONE_SHARE: f32 = 0.5;
/// Length of a bone as a share of the model's size, if no other bone suggests one.
const DEFAULT_SHARE: f32 = 0.05;

/// Returns the bones of all skins in use. A node that is a joint of several skins counts once, with its first bind matrix.
pub fn bones(skeleton: &Skeleton, palette: &PaletteLayout, geometry: &Geometry) -> Vec<Bone> {
    let joints = joints(skeleton, palette);
    let joint_of_node = |node: u32| joints.get(node as usize).copied().flatten().map(bone_of_joint);
    let nodes: Vec<Option<u32>> = (0..).zip(&joints).map(|(node, joint)| joint.map(|_| node)).collect();
    let parents = skeleton.nearest_above(&nodes);
    let positions = || geometry.positions.iter().copied();
    let bounds = positions().reduce(Vec3::min).zip(positions().reduce(Vec3::max));
    let default_length = DEFAULT_SHARE * bounds.map_or(0.0, |(min, max)| (max - min).max_element());
    let mut bones: Vec<Bone> = Vec::new();
    // The length of the bone that ends in each node, and of the longest bone that begins there.
    let mut length_above = vec![0.0f32; skeleton.len()];
    let mut longest_below = vec![0.0f32; skeleton.len()];
    for (node, &parent) in (0..).zip(&parents) {
        let (Some(tip), Some(parent)) = (joint_of_node(node), parent) else { continue };
        let Some(base) = joint_of_node(parent) else { continue };
        let length = tip.tip_mesh.distance(base.tip_mesh);
        length_above[node as usize] = length;
        longest_below[parent as usize] = longest_below[parent as usize].max(length);
        bones.push(Bone { tip: tip.base, tip_mesh: tip.tip_mesh, ..base });
    }
    let mut has_children = vec![false; skeleton.len()];
    parents.iter().flatten().for_each(|&parent| has_children[parent as usize] = true);
    for (node, &parent) in (0..).zip(&parents) {
        let Some(last) = joint_of_node(node).filter(|_| !has_children[node as usize]) else { continue };
        let above = length_above[node as usize];
        let (direction, length) = match parent.and_then(joint_of_node).filter(|_| above > 0.0) {
            Some(parent) => ((last.tip_mesh - parent.tip_mesh) / above, LAST_BONE_SHARE * above),
            None => (Vec3::from(last.mesh_from_base.matrix3.y_axis).normalize_or(Vec3::Y), default_length),
        };
        longest_below[node as usize] = length;
        bones.push(Bone { tip_mesh: last.tip_mesh + direction * length, ..last });
    }
    // Differences of numbers near the limits of `f32` overflow.
    bones.retain(|bone| bone.tip_mesh.is_finite());
    // Bones of one joint follow each other, and the first one carries the axes.
    bones.sort_by_key(|bone| bone.base);
    let mut last_base = None;
    for bone in &mut bones {
        if last_base.replace(bone.base) != Some(bone.base) {
            let node = palette.nodes[bone.base as usize] as usize;
            let longest = longest_below[node].max(length_above[node]);
            let length = if longest > 0.0 { AXIS_SHARE * longest } else { default_length };
            bone.axis_length = if length.is_finite() { length } else { 0.0 };
        }
    }
    bones
}

/// Returns a bone of length 0 at a joint, given by its palette entry and its bind matrix.
fn bone_of_joint((entry, mesh_from_base): (u32, Affine3A)) -> Bone {
    Bone { base: entry, tip: entry, mesh_from_base, tip_mesh: mesh_from_base.translation.into(), axis_length: 0.0 }
}

/// Returns, for each node that is a joint with a bind matrix, its first palette entry with one, and the matrix.
pub fn joints(skeleton: &Skeleton, palette: &PaletteLayout) -> Vec<Option<(u32, Affine3A)>> {
    let mut joints = vec![None; skeleton.len()];
    for entry in palette.joints() {
        let bind = || Some((entry, bind_matrix(&palette.joint_from_mesh[entry as usize])?));
        let joint = &mut joints[palette.nodes[entry as usize] as usize];
        *joint = joint.or_else(bind);
    }
    joints
}

/// Returns the inverse of an inverse bind matrix, or `None` if it is singular.
pub fn bind_matrix(joint_from_mesh: &Affine3A) -> Option<Affine3A> {
    /// The largest error of an element of the product, which should be the identity.
    const TOLERANCE: f32 = 1e-2;
    let mesh_from_joint = joint_from_mesh.inverse();
    let product = joint_from_mesh.matrix3 * mesh_from_joint.matrix3;
    let is_inverse = mesh_from_joint.is_finite() && product.abs_diff_eq(Mat3A::IDENTITY, TOLERANCE);
    is_inverse.then_some(mesh_from_joint)
}
