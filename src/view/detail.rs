//! The detail that a picture needs: how far a surface may be from its place before somebody sees it.
//!
//! In: the camera, the height of the image, the texel of the shadow map, and the allowed error in pixels. Out: the allowed
//! error in metres, for a sphere in the camera's view and for the shadow map.
//!
//! The perspective projection maps a length that is parallel to the image to `length * pixels_per_slope / depth` pixels.
//! The depth of a sphere is that of its nearest point, so the error holds for everything inside. The light's view is
//! orthographic, so its texels have one size everywhere. There the limit is the same number of texels.

use glam::Vec3;

use super::camera::OrbitCamera;

/// The distance from which the shadow of a surface reaches a point, in texels: a receiver is at most 4.5 texels from its
/// surface, and the corner of the filter's window is at most 2.9 texels from the receiver (`shadow.glsl`).
const SHADOW_REACH_TEXELS: f32 = 7.5;

/// The largest allowed errors of surfaces. See the module.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detail {
    eye: Vec3,
    forward: Vec3,
    /// The allowed error in metres for each metre of depth.
    error_by_depth: f32,
    pub shadow_error_metres: f32,
    /// The largest distance between a surface in full detail and the ray of light through a point that its shadow darkens, in
    /// metres.
    pub shadow_reach_metres: f32,
}

impl Detail {
    /// Full detail everywhere: no error is allowed.
    pub const FULL: Self = Self {
        eye: Vec3::ZERO,
        forward: Vec3::NEG_Z,
        error_by_depth: 0.0,
        shadow_error_metres: 0.0,
        shadow_reach_metres: 0.0,
    };

    /// Returns the detail of an image of this height. `error_pixels` is the allowed error in pixels; 0 is full detail.
    /// Shadows have full detail.
    pub fn new(camera: &OrbitCamera, height_pixels: u32, error_pixels: f32) -> Self {
        let pixels_per_slope = 0.5 * height_pixels.max(1) as f32 / (0.5 * camera.vertical_fov_radians).tan();
        Self {
            eye: camera.position(),
            forward: camera.forward(),
            error_by_depth: error_pixels / pixels_per_slope,
            ..Self::FULL
        }
    }

    /// Returns this detail, with the side of a texel of the shadow map and the allowed error of shadows in texels.
    pub fn with_shadow_texels(self, texel_metres: f32, error_texels: f32) -> Self {
        let shadow_reach_metres = (SHADOW_REACH_TEXELS + error_texels) * texel_metres;
        Self { shadow_error_metres: error_texels * texel_metres, shadow_reach_metres, ..self }
    }

    /// Returns the allowed error of a surface inside a sphere, as the camera sees it, in metres. Zero or less if the sphere
    /// reaches the plane of the eye.
    pub fn error_metres_in_view(&self, center: Vec3, radius: f32) -> f32 {
        ((center - self.eye).dot(self.forward) - radius) * self.error_by_depth
    }
}
