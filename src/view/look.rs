//! The look of a picture, apart from the crowd and the camera: background, ground, exposure and the direction of the sun.
//!
//! In: the user's choices. Out: the numbers that [`FrameData`](crate::shader_types::FrameData) and the passes need. All of
//! them may change between two frames, except that only a renderer with
//! [`RendererSettings::transparent`](crate::renderer::RendererSettings::transparent) writes alpha.

use glam::Vec3;

use super::sky::Sky;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    #[default]
    Sky,
    /// Nothing. The image is transparent there, and black in a window.
    None,
    /// One colour, as a display shows it: sRGB, red first. Neither tone mapping nor exposure changes it.
    Color([u8; 3]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ground {
    /// It is drawn, with the shadows on it.
    #[default]
    On,
    /// It is drawn without its pattern.
    Plain,
    /// Only shadows on it are drawn: they darken a colour, or cover a transparent image. Over the sky this is [`Self::On`].
    Shadow,
    Off,
}

impl Ground {
    pub const ALL: [(&str, Self); 4] =
        [("on", Self::On), ("plain", Self::Plain), ("shadow", Self::Shadow), ("off", Self::Off)];
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Look {
    pub background: Background,
    pub ground: Ground,
    /// The exposure in stops, beside the one that fits the light ([`Look::exposure`]): each stop doubles the brightness of lit
    /// materials, ground and sky. Unlit materials keep their colours, which are meant for the display.
    pub exposure_ev: f32,
    pub sun: SunDirection,
}

impl Look {
    /// Returns the linear RGB colour and the alpha of the HDR image where nothing is drawn; `None` if the sky covers every
    /// pixel. An alpha of 1 means that a colour bypasses the tone curve (`tone_map.frag`). In a transparent image alpha is
    /// coverage, so `Background::None` is 0.
    pub fn clear_color(&self) -> Option<[f32; 4]> {
        match self.background {
            Background::Sky => None,
            Background::None => Some([0.0; 4]),
            Background::Color(srgb) => {
                let [red, green, blue] = srgb.map(linear_from_srgb);
                Some([red, green, blue, 1.0])
            }
        }
    }

    /// Returns whether the ground has a surface, and not only shadows.
    pub fn draws_ground(&self) -> bool {
        matches!(self.ground, Ground::On | Ground::Plain)
            || self.ground == Ground::Shadow && self.background == Background::Sky
    }

    /// Returns the factor of radiance before tone mapping. It follows the light, as an eye does: under a low sun a picture is
    /// as bright as under the default one.
    pub fn exposure(&self) -> f32 {
        let metered = |sun: SunDirection| Sky::clear(sun.to_light()).metered();
        self.exposure_ev.exp2() * (metered(SunDirection::default()) / metered(self.sun))
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SunDirection {
    /// The angle around +Y: 0 shines from the front (+Z), 90 from +X, like the camera's yaw.
    pub azimuth_degrees: f32,
    /// The angle above the horizon, at least [`Self::LOWEST_DEGREES`], at most 90.
    pub elevation_degrees: f32,
}

impl Default for SunDirection {
    /// A high sun on the left of the first camera, a little in front of the crowd.
    fn default() -> Self {
        Self { azimuth_degrees: -48.0, elevation_degrees: 53.0 }
    }
}

impl SunDirection {
    /// The lowest elevation. Below it shadows would be longer than fifty times the height of a character.
    pub const LOWEST_DEGREES: f32 = 1.0;

    /// Returns the unit vector from a lit point towards the sun.
    pub fn to_light(self) -> Vec3 {
        let (sin_azimuth, cos_azimuth) = self.azimuth_degrees.to_radians().sin_cos();
        let elevation_degrees = self.elevation_degrees.clamp(Self::LOWEST_DEGREES, 90.0);
        let (sin_elevation, cos_elevation) = elevation_degrees.to_radians().sin_cos();
        Vec3::new(sin_azimuth * cos_elevation, sin_elevation, cos_azimuth * cos_elevation)
    }
}

pub fn srgb_from_linear(linear: f32) -> u8 {
    let encoded = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (encoded * 255.0).round() as u8
}

/// Returns the linear value of an 8-bit sRGB value (IEC 61966-2-1).
fn linear_from_srgb(value: u8) -> f32 {
    let encoded = f32::from(value) / 255.0;
    if encoded <= 0.04045 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
}
