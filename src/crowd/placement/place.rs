//! The placement of one instance: a position, a rotation about +Y and a scale. It is half as large as a matrix, and turning
//! it about the centre of the crowd takes eight products.

use glam::{Affine3A, Mat3A, Vec2, Vec3};

use crate::shader_types::JointMatrix;

/// The placement of one instance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::crowd) struct Placement {
    /// The position of the model's origin in the world.
    pub position: Vec3,
    /// The cosine and the sine of the rotation about +Y. An instance without rotation faces +Z.
    pub heading: Vec2,
    /// The uniform scale.
    pub scale: f32,
}

impl Placement {
    /// The placement at the origin, with the scale and the heading of the file.
    pub const ORIGIN: Self = Self { position: Vec3::ZERO, heading: Vec2::X, scale: 1.0 };

    pub fn new(position: Vec2, yaw_radians: f32) -> Self {
        Self { position: Vec3::new(position.x, 0.0, position.y), heading: heading(yaw_radians), scale: 1.0 }
    }

    /// Returns the placement after a turn about the world's Y axis.
    #[inline]
    pub fn turned(self, turn: Vec2) -> Self {
        let (position, heading) = (turned(self.position, turn), self.heading);
        let heading = Vec2::new(heading.x * turn.x - heading.y * turn.y, heading.x * turn.y + heading.y * turn.x);
        Self { position, heading, ..self }
    }

    /// Returns the rows of the matrix.
    #[inline]
    pub fn rows(&self) -> JointMatrix {
        let Self { position, heading, scale } = *self;
        let (cos, sin) = (heading.x * scale, heading.y * scale);
        JointMatrix { rows: [[cos, 0.0, sin, position.x], [0.0, scale, 0.0, position.y], [-sin, 0.0, cos, position.z]] }
    }

    /// Returns the matrix.
    pub fn world_from_model(&self) -> Affine3A {
        let Self { position, heading, scale } = *self;
        let (cos, sin) = (heading.x * scale, heading.y * scale);
        let columns = [Vec3::new(cos, 0.0, -sin), Vec3::new(0.0, scale, 0.0), Vec3::new(sin, 0.0, cos)];
        let [x, y, z] = columns.map(Into::into);
        Affine3A { matrix3: Mat3A::from_cols(x, y, z), translation: position.into() }
    }
}

/// Returns the cosine and the sine of a rotation about +Y.
pub(in crate::crowd) fn heading(yaw_radians: f32) -> Vec2 {
    let (sin, cos) = yaw_radians.sin_cos();
    Vec2::new(cos, sin)
}

/// Turns a point about the Y axis, by a cosine and a sine.
#[inline]
pub(in crate::crowd) fn turned(point: Vec3, turn: Vec2) -> Vec3 {
    Vec3::new(point.x * turn.x + point.z * turn.y, point.y, point.z * turn.x - point.x * turn.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_matrix_and_turns_agree() {
        let placement = Placement { position: Vec3::new(3.0, 0.5, -2.0), heading: heading(0.4), scale: 1.3 };
        let expected = Affine3A::from_scale_rotation_translation(
            Vec3::splat(1.3),
            glam::Quat::from_rotation_y(0.4),
            Vec3::new(3.0, 0.5, -2.0),
        );
        assert!(placement.world_from_model().abs_diff_eq(expected, 1e-6), "{placement:?}");
        assert_eq!(Affine3A::from(placement.rows()), placement.world_from_model());
        let turned = Affine3A::from_rotation_y(0.7) * expected;
        assert!(placement.turned(heading(0.7)).world_from_model().abs_diff_eq(turned, 1e-6), "{placement:?}");
        // Instances that stand are turned by nothing, and must not move at all.
        assert_eq!(placement.turned(Vec2::X), placement);
    }
}
