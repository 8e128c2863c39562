//! A shot: how one frame shows the crowd.
//!
//! In: a camera, a look and a time. Out: the frame's uniform data: camera, light, sky, ground, background, exposure and the
//! view of the shadow map.

use glam::Vec3;

use crate::crowd::Crowd;
use crate::shader_types::FrameData;
use crate::view::{Detail, Look, OrbitCamera, ShadowScene, ShadowView, Show, Sky};

/// One picture of a crowd.
#[derive(Debug, Clone, Copy)]
pub struct Shot {
    /// The camera.
    pub camera: OrbitCamera,
    /// Background, ground, exposure and sun.
    pub look: Look,
    /// Debug view and skeleton.
    pub show: Show,
    /// Width / height of the image.
    pub aspect: f32,
    /// The largest error of a surface in pixels that a level of detail may have; in the shadow map in texels. 0: full detail.
    pub lod_error_pixels: f32,
    /// Whether instances outside the camera's view are left out.
    pub cull: bool,
    /// The time in seconds. `None`: joint matrices are stored but not evaluated ([`Crowd::store_only`]).
    pub time_seconds: Option<f64>,
    /// Whether an offscreen image is copied for [`Renderer::wait_for_pixels`](super::Renderer::wait_for_pixels).
    pub capture: bool,
}

impl Shot {
    /// Returns the detail that an image of this height needs. `data` has the texels of the shadow map.
    pub(super) fn detail(&self, height_pixels: u32, data: &FrameData) -> Detail {
        let [_, texel_metres, ..] = data.shadow;
        let detail = Detail::new(&self.camera, height_pixels, self.lod_error_pixels);
        detail.with_shadow_error(self.lod_error_pixels * texel_metres)
    }
}

/// Returns the uniform data of a frame. `shadow_map_size` is the side of the shadow map in texels.
/// `transparent` says whether alpha is coverage.
pub(super) fn frame_data(crowd: &Crowd, shot: &Shot, shadow_map_size: Option<u32>, transparent: bool) -> FrameData {
    let clip_from_world = shot.camera.clip_from_world(shot.aspect);
    let bounds = crowd.bounds();
    let map_texels = shadow_map_size.unwrap_or(1);
    let to_light = shot.look.sun.to_light();
    let scene = ShadowScene { crowd: &bounds, ground_height: 0.0, to_light, camera: &shot.camera, aspect: shot.aspect };
    let shadows = ShadowView::fit(&scene, map_texels);
    let mut data = FrameData {
        clip_from_world: clip_from_world.to_cols_array_2d(),
        world_from_clip: clip_from_world.inverse().to_cols_array_2d(),
        camera_position: shot.camera.position().extend(1.0).to_array(),
        ground: [bounds.radius(), grid_spacing(bounds.radius()), 0.0, 0.0],
        shadow_from_world: shadows.shadow_from_world.to_cols_array_2d(),
        shadow: [map_texels as f32, shadows.texel_metres, shadows.depth_per_texel, 0.0],
        shaded_ground: shadows.shaded_ground,
        picture: [f32::from(transparent), shot.look.exposure(), 0.0, 0.0],
        ..bytemuck::Zeroable::zeroed()
    };
    set_light(&mut data, &Sky::clear(to_light));
    if let Some(color) = shot.look.clear_color() {
        data.background = color;
    }
    data
}

/// Sets the light of a frame: the sun, the sky, and the ground in their light, which fades into the horizon.
pub fn set_light(data: &mut FrameData, sky: &Sky) {
    let vector = |v: Vec3| v.extend(0.0).to_array();
    data.to_light = vector(sky.to_sun);
    data.light_color = vector(sky.sun);
    [data.ground_sunlit, data.ground_ambient] = sky.ground_radiance().map(vector);
    data.background = vector(sky.horizon);
    data.sky = sky.data();
}

/// Returns the spacing of the ground's fine grid: the power of ten between a hundredth and a tenth of the crowd's radius.
fn grid_spacing(radius: f32) -> f32 {
    10f32.powf((radius.max(1e-6) / 10.0).log10().floor())
}
