//! The light: a sun, the sky that goes with it, and the ground that both shine on.
//!
//! In: the direction towards the sun. Out: colours for the sun's light, for the sky and the ground as the shaders draw them,
//! and for the light that they throw onto characters ([`SkyData`]).
//!
//! All colours are linear RGB. Radiance 1 is white on the display, before the tone curve compresses highlights. The sun is
//! warmer than white and the sky is bluer. With the default sun they nearly cancel out on a white surface that faces it:
//! textures keep their colours in the light, and shadows are bluish. The air around the sun is bright over half of the sky,
//! because gold that mirrors only blue is green. The ground is pale sand: metals that mirror it stay warm, and characters of
//! any colour stand out from it. A green ground turned gold into olive, and white into mint.

use std::f32::consts::PI;

use glam::Vec3;

use crate::shader_types::SkyData;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sky {
    /// The unit vector from a lit point towards the sun.
    pub to_sun: Vec3,
    /// The sun's irradiance on a surface that faces it.
    pub sun: Vec3,
    /// The radiance straight up.
    pub zenith: Vec3,
    pub horizon: Vec3,
    /// The radiance that the air around the sun adds, without the sun's disc.
    pub glow: Vec3,
    /// The share of light that the ground reflects.
    pub ground_albedo: Vec3,
}

impl Sky {
    /// Returns a clear sky with the sun in this direction. A low sun is dim and red.
    pub fn clear(to_sun: Vec3) -> Self {
        /// The optical depth of a vertical path through the air.
        const EXTINCTION: Vec3 = Vec3::new(0.05, 0.12, 0.28);
        /// The sun's irradiance above the air.
        const SUN: Vec3 = Vec3::new(2.61, 2.56, 2.55);
        /// The horizon below a high sun, and below a setting one.
        const BLUE_HORIZON: Vec3 = Vec3::new(0.44, 0.60, 0.81);
        const RED_HORIZON: Vec3 = Vec3::new(0.9, 0.62, 0.42);
        let elevation = to_sun.y.clamp(0.0, 1.0);
        // The length of the path in vertical paths. Near the horizon the earth's curvature ends its growth.
        let path = 1.0 / (elevation + 0.15 * (1.0 - elevation).powi(8)).max(0.05);
        let seen = (-EXTINCTION * path).exp();
        // The sky scatters what reaches it, so it darkens more slowly than the sun.
        let day = 0.25 + 0.75 * (elevation / 0.5).min(1.0);
        Self {
            to_sun,
            sun: SUN * seen,
            zenith: day * Vec3::new(0.13, 0.225, 0.38),
            horizon: day * BLUE_HORIZON.lerp(RED_HORIZON, 0.8 * (1.0 - elevation).powi(6)),
            glow: 0.9 * day * seen * seen,
            ground_albedo: Vec3::new(0.44, 0.375, 0.27),
        }
    }

    /// Returns the irradiance of the sky, without the sun, on open ground.
    pub fn irradiance_on_ground(&self) -> Vec3 {
        // The integrals of `sky_radiance` (shaders/sky.glsl) times the cosine. The narrow part of the glow is taken as if it
        // were all above the horizon, and the wide part as if haze hid the same share of it everywhere.
        let haze = 2.0 / 90.0;
        let sine = self.to_sun.y;
        let wide = PI * (1.0 / 4.0 + sine / 3.0 + (1.0 + sine * sine) / 16.0);
        let narrow = 2.0 * PI / 10.0 * sine.max(0.0);
        let glow = 0.8 * wide * (1.0 - haze) + 0.5 * narrow;
        PI * self.zenith.lerp(self.horizon, haze) + glow * self.glow
    }

    /// Returns the radiance of open ground in the sun's light, and in the sky's.
    pub fn ground_radiance(&self) -> [Vec3; 2] {
        let sun = self.sun * self.to_sun.y.max(0.0);
        [sun, self.irradiance_on_ground()].map(|irradiance| self.ground_albedo * irradiance / PI)
    }

    /// Returns what a light meter reads: the luminance of the irradiance of open ground, and of a ball that is seen with the sun
    /// behind the eye, in their geometric mean. Under a low sun the ground is dark, and what stands on it is not.
    pub fn metered(&self) -> f32 {
        /// Of linear RGB (IEC 61966-2-1).
        const LUMINANCE: Vec3 = Vec3::new(0.2126, 0.7152, 0.0722);
        /// The mean cosine of the lit side, and the share of the sky that a side of a ball sees.
        const BALL: [f32; 2] = [2.0 / 3.0, 0.5];
        let sky = self.irradiance_on_ground();
        let ground = self.sun * self.to_sun.y.max(0.0) + sky;
        let ball = BALL[0] * self.sun + BALL[1] * sky;
        (LUMINANCE.dot(ground) * LUMINANCE.dot(ball)).sqrt()
    }

    pub fn data(&self) -> SkyData {
        let [sunlit, ambient] = self.ground_radiance();
        SkyData {
            zenith: self.zenith.extend(0.0).to_array(),
            horizon: self.horizon.extend(0.0).to_array(),
            glow: self.glow.extend(0.0).to_array(),
            ground: (sunlit + ambient).extend(0.0).to_array(),
            to_sun: self.to_sun.extend(0.0).to_array(),
        }
    }
}
