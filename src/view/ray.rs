//! The line of sight through a pixel: for picking.

use glam::{Vec2, Vec3};

use super::OrbitCamera;

/// A ray in world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// The start, in metres.
    pub origin: Vec3,
    /// A unit vector.
    pub direction: Vec3,
}

impl Ray {
    /// Returns the ray from the eye of a camera through a point of an image of width / height `aspect`. The point (0, 0) is the
    /// upper left corner of the image, and (1, 1) the lower right one. The centre of a pixel is half a pixel from its corner.
    #[must_use]
    pub fn through(camera: &OrbitCamera, aspect: f32, point: Vec2) -> Self {
        let (right, up, forward) = camera.axes();
        let half_height = (camera.vertical_fov_radians * 0.5).tan();
        let (x, y) = (2.0 * point.x - 1.0, 1.0 - 2.0 * point.y);
        let direction = forward + right * (x * half_height * aspect) + up * (y * half_height);
        Self { origin: camera.position(), direction: direction.normalize() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_ray_are_drawn_where_it_passes_through_the_image() {
        let camera = OrbitCamera { yaw_radians: 0.7, pitch_radians: 0.4, ..OrbitCamera::default() };
        for point in [Vec2::ZERO, Vec2::new(0.5, 0.5), Vec2::new(0.9, 0.2)] {
            let ray = Ray::through(&camera, 1.5, point);
            for distance in [0.5, 7.0] {
                let clip = camera.clip_from_world(1.5).project_point3(ray.origin + ray.direction * distance);
                let drawn = Vec2::new(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y);
                assert!(drawn.distance(point) < 1e-5, "{drawn} instead of {point}");
            }
        }
        assert!(Ray::through(&camera, 1.5, Vec2::splat(0.5)).direction.distance(camera.forward()) < 1e-6);
    }
}
