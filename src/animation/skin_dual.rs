//! The CPU twin of `blend_dual.glsl`: joint matrices are blended as dual quaternions.

use glam::{Mat3, Quat, Vec3, Vec4, Vec4Swizzles};

use crate::shader_types::{GpuInfluence, JointMatrix};

/// The other way to blend: a joint matrix is a stretch, a rotation and a translation, in this order. Stretches are blended
/// like matrices; rotations with their translations are blended as dual quaternions, which bends around joints with less loss
/// of volume (Kavan et al., "Geometric Skinning with Approximate Dual Quaternion Blending", 2008).
pub fn blend_dual_quaternions(influences: impl Iterator<Item = GpuInfluence>, palette: &[JointMatrix]) -> JointMatrix {
    let (mut real, mut dual) = (Vec4::ZERO, Vec4::ZERO);
    let mut stretch = Mat3::ZERO;
    for GpuInfluence { joint, weight } in influences {
        let rows = palette[joint as usize].rows.map(Vec4::from);
        let linear = Mat3::from_cols(rows[0].xyz(), rows[1].xyz(), rows[2].xyz()).transpose();
        let translation = Vec3::new(rows[0].w, rows[1].w, rows[2].w);
        // Gram-Schmidt. A matrix that mirrors or has collapsed is a stretch alone.
        let (x, z) = (linear.x_axis, linear.x_axis.cross(linear.y_axis));
        let mut rotation = Mat3::IDENTITY;
        if z.dot(linear.z_axis) > 0.0 && x.dot(x).min(z.dot(z)) > 1e-30 {
            rotation = Mat3::from_cols(x.normalize(), z.normalize().cross(x.normalize()), z.normalize());
        }
        stretch += weight * (rotation.transpose() * linear);
        // Of the two quaternions of a rotation, the one on the side of the sum.
        let mut q = Vec4::from(Quat::from_mat3(&rotation));
        q *= if real.dot(q) < 0.0 { -weight } else { weight };
        real += q;
        dual += 0.5 * (q.w * translation + translation.cross(q.xyz())).extend(-translation.dot(q.xyz()));
    }
    let scale = real.length_recip();
    real *= scale;
    dual *= scale;
    let translation = 2.0 * (real.w * dual.xyz() - dual.w * real.xyz() + real.xyz().cross(dual.xyz()));
    let rows = (Mat3::from_quat(Quat::from_vec4(real)) * stretch).transpose();
    let row = |axis: Vec3, translation: f32| axis.extend(translation).to_array();
    JointMatrix {
        rows: [row(rows.x_axis, translation.x), row(rows.y_axis, translation.y), row(rows.z_axis, translation.z)],
    }
}
