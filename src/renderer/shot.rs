//! A shot: how one frame shows the crowd.
//!
//! In: a camera, a look and a time. Out: the frame's uniform data: camera, light, sky, ground, background, exposure and the
//! view of the shadow map.

use glam::{Mat4, Vec3};

use crate::crowd::Crowd;
use crate::shader_types::FrameData;
use crate::view::{Detail, Ground, Look, OrbitCamera, ShadowScene, ShadowView, Sky};

/// The pattern of the ground repeats after as many cells (`ground.frag`).
const PATTERN_CELLS: f64 = 20.0;

#[derive(Debug, Clone, Copy)]
pub struct Shot {
    pub camera: OrbitCamera,
    /// Background, ground, exposure and sun.
    pub look: Look,
    /// The largest error of a surface in pixels that a level of detail may have; in the shadow map in texels. 0: full detail.
    pub lod_error_pixels: f32,
    /// Whether instances outside the camera's view are left out.
    pub cull: bool,
    pub time_seconds: f64,
    /// Whether the image is copied for [`Renderer::wait_for_pixels`](super::Renderer::wait_for_pixels).
    pub capture: bool,
}

impl Shot {
    /// Returns the detail that an image of this height needs. `data` has the texels of the shadow map.
    pub(super) fn detail(&self, height_pixels: u32, data: &FrameData) -> Detail {
        let detail = Detail::new(&self.camera, height_pixels, self.lod_error_pixels);
        detail.with_shadow_texels(data.shadow_texel_metres, self.lod_error_pixels)
    }
}

/// Returns the uniform data of a frame. `aspect` is width / height of the image. `shadow_map_size` is the side of the shadow map in texels.
/// `transparent` says whether alpha is coverage.
pub fn frame_data(
    crowd: &Crowd,
    shot: &Shot,
    aspect: f32,
    shadow_map_size: Option<u32>,
    transparent: bool,
) -> FrameData {
    let mut data = FrameData::new(&shot.camera, aspect, &shot.look);
    let (camera_position, bounds) = (shot.camera.position(), crowd.bounds());
    data.opaque_alpha = f32::from(transparent);
    // How far the ground reaches from the camera along each axis. Haze has hidden it there.
    data.ground_reach_metres = 120.0 * (bounds.radius() + camera_position.y.abs());
    // The power of ten between a hundredth and a tenth of the crowd's radius.
    let grid_spacing = 10f32.powf((bounds.radius().max(1e-6) / 10.0).log10().floor());
    // Cells that are much smaller than a pixel show the mean of the pattern.
    let cells_share = if shot.look.ground == Ground::Plain { 1e-6 } else { 1.0 };
    data.ground_cell_metres = cells_share * grid_spacing;
    if shot.look.draws_ground() {
        let direction_from_clip = Mat4::from_cols_array_2d(&data.direction_from_clip);
        data.hidden_sky_height = hidden_sky(camera_position, direction_from_clip, data.ground_reach_metres);
        let offset_cells = crowd.ground_metres(shot.time_seconds) / f64::from(data.ground_cell_metres);
        data.ground_offset_cells = offset_cells.map(|cells| cells.rem_euclid(PATTERN_CELLS)).as_vec2().to_array();
    }
    let map_texels = shadow_map_size.unwrap_or(1);
    let to_light = shot.look.sun.to_light();
    let scene = ShadowScene { crowd: &bounds, to_light, camera: &shot.camera, aspect };
    let shadows = ShadowView::fit(&scene, map_texels);
    data.shadow_from_world = shadows.shadow_from_world.to_cols_array_2d();
    data.shadow_map_texels = map_texels as f32;
    data.shadow_texel_metres = shadows.texel_metres;
    data.shadow_depth_per_texel = shadows.depth_per_texel;
    let [least_x, least_z, greatest_x, greatest_z] = shadows.shaded_ground;
    data.shaded_ground_least = [least_x, least_z];
    data.shaded_ground_greatest = [greatest_x, greatest_z];
    data
}

impl FrameData {
    /// Returns the data of a camera, in an image of a shape, and of a look: exposure, background, and the light of sun and sky.
    /// There is no ground and no shadow.
    pub fn new(camera: &OrbitCamera, aspect: f32, look: &Look) -> Self {
        let clip_from_world = camera.clip_from_world(aspect);
        let mut data = Self {
            clip_from_world: clip_from_world.to_cols_array_2d(),
            direction_from_clip: camera.direction_from_clip(aspect).to_cols_array_2d(),
            camera_position: camera.position().to_array(),
            exposure: look.exposure(),
            ..bytemuck::Zeroable::zeroed()
        };
        data.set_light(&Sky::clear(look.sun.to_light()));
        if let Some(color) = look.clear_color() {
            data.background = color;
        }
        data
    }

    /// Sets the light: the sun, the sky, and the ground in their light, which fades into the horizon.
    pub fn set_light(&mut self, sky: &Sky) {
        let along_ground = sky.to_sun.with_y(0.0).length();
        self.to_light = sky.to_sun.to_array();
        self.to_light_ground_scale = if along_ground > 0.0 { along_ground.recip() } else { 0.0 };
        self.light_color = sky.sun.to_array();
        [self.ground_sunlit, self.ground_ambient] = sky.ground_radiance().map(|radiance| radiance.to_array());
        self.background = sky.horizon.extend(0.0).to_array();
        self.sky = sky.data();
    }
}

/// Returns the height of the strip at the lower edge of the picture where the ground hides all of the sky, in clip space: 0 to
/// 2. The camera does not roll, so the height of a ray's end changes evenly with y.
fn hidden_sky(camera_position: Vec3, direction_from_clip: Mat4, ground_reach: f32) -> f32 {
    // The ground is not drawn from below, and it may have no pixel if the camera is too close to its plane.
    if camera_position.y < 1e-4 * ground_reach {
        return 0.0;
    }
    let ray = |x, y| direction_from_clip.project_point3(Vec3::new(x, y, 0.5));
    // A ray that falls by this much meets the ground before its end, even if it is as long as the ray of a corner.
    let longest = ray(1.0, 1.0).length().max(ray(1.0, -1.0).length());
    let fall = longest * camera_position.y / ground_reach;
    let middle = ray(0.0, 0.0).y;
    let rise = (ray(0.0, 1.0).y - middle).max(f32::MIN_POSITIVE);
    1.0 + ((-fall - middle) / rise).clamp(-1.0, 1.0)
}
