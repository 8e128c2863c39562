//! The pose in which a skeleton was modelled.
//!
//! In: a model. Out: the matrix of each node in that pose, in model space. Where there is a skin, its inverse bind matrices
//! say it: the pose that the file gives to the nodes may be the first frame of a clip, or the origin for all of them. Where
//! there is none, the rest pose has to do.

use glam::{Affine3A, Mat3, Quat, Vec3};

use crate::model::Model;
use crate::model::bones::bind_matrix;

/// Turns `model_from_mesh` to the nearest one that takes axes to axes, around a joint. Meshes are modelled along the axes of
/// some program; if the joint's rest pose leans, that is a pose.
fn upright(model_from_mesh: Affine3A, bind: Affine3A) -> Affine3A {
    /// A larger turn is no lean.
    const MOST_DEGREES: f32 = 44.0;
    let turn = rotation_of(&model_from_mesh);
    let Some(along_axes) = along_axes(turn, MOST_DEGREES) else { return model_from_mesh };
    let place = Vec3::from((model_from_mesh * bind).translation);
    let correction = Affine3A::from_quat((along_axes * turn.inverse()).normalize());
    Affine3A::from_translation(place) * correction * Affine3A::from_translation(-place) * model_from_mesh
}

/// Returns the nearest turn that takes axes to axes, unless it is further away than this.
pub fn along_axes(turn: Quat, most_degrees: f32) -> Option<Quat> {
    let axes = Mat3::from_quat(turn);
    let nearest = |direction: Vec3| {
        let axis = direction.abs().max_position();
        Vec3::AXES[axis] * direction[axis].signum()
    };
    let (x, y) = (nearest(axes.x_axis), nearest(axes.y_axis));
    let nearest = Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y)));
    (x.dot(y) == 0.0 && nearest.angle_between(turn) <= most_degrees.to_radians()).then_some(nearest)
}

/// Returns `model_from_node` of each node in the pose in which the skeleton was modelled.
///
/// A skin's bind matrices are in mesh space. The joint that comes first connects it with model space: with one of an earlier
/// skin, or with its rest pose. The largest skin comes first.
pub fn standing_matrices(model: &Model) -> Vec<Affine3A> {
    let rest = model.skeleton.rest_matrices();
    let mut bound: Vec<Option<Affine3A>> = vec![None; rest.len()];
    let mut skins: Vec<_> = model.skins.iter().filter(|skin| skin.has_inverse_binds).collect();
    skins.sort_by_key(|skin| std::cmp::Reverse(skin.joints.len()));
    for skin in skins {
        let joints = skin.joints.iter().map(|&joint| joint as usize).zip(&skin.joint_from_mesh);
        let joints: Vec<_> = joints.filter_map(|(node, matrix)| Some((node, bind_matrix(matrix)?))).collect();
        let known = joints.iter().find_map(|&(node, bind)| Some(bound[node]? * bind.inverse()));
        let first =
            joints.iter().min_by_key(|(node, _)| *node).map(|&(node, bind)| upright(rest[node] * bind.inverse(), bind));
        let Some(model_from_mesh) = known.or(first) else { continue };
        for (node, bind) in joints {
            bound[node] = bound[node].or(Some(model_from_mesh * bind));
        }
    }
    let mut standing: Vec<Affine3A> = Vec::with_capacity(rest.len());
    for node in 0..rest.len() {
        let moved = |parent: usize| standing[parent] * rest[parent].inverse() * rest[node];
        let below = model.skeleton.parent(node).map_or(rest[node], moved);
        let matrix = bound[node].unwrap_or(below);
        // A parent whose scale is 0 has no inverse.
        standing.push(if matrix.is_finite() { matrix } else { rest[node] });
    }
    standing
}

/// Returns the rotation of a matrix without its scale. A reflection counts as a scale of -1 of all axes.
pub fn rotation_of(matrix: &Affine3A) -> Quat {
    let mut axes = Mat3::from(matrix.matrix3);
    if axes.determinant() < 0.0 {
        axes = -axes;
    }
    let x = axes.x_axis.normalize_or(Vec3::X);
    let y = axes.y_axis.reject_from(x).normalize_or(x.any_orthonormal_vector());
    Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y)))
}
