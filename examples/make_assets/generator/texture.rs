//! One texture for the whole character: sixteen swatches on a 4 x 4 grid, each a small painting over (u, v).
//!
//! One texture means one material, and one material means one draw for the whole character, which suits a crowd. Within
//! a swatch, u is 0 at the part's front and 1 at its back, and v runs along the part (see [`super::loft`]). So a zip is
//! "u near 0" and a belt is "v near 0.3". Each swatch keeps a border of [`MARGIN_TEXELS`], filled with the continued
//! painting, so that filtering and the first mipmaps do not mix neighbours.

use std::io::Cursor;

use glam::{DVec2, DVec3, dvec2, dvec3};
use image::{ImageFormat, Rgb, RgbImage};

use super::body::smooth_step;

const TEXTURE_TEXELS: u32 = 256;
const SWATCH_TEXELS: u32 = 64;
const MARGIN_TEXELS: f64 = 4.0;

/// The material of a part. Its number is its cell on the grid, row by row.
#[derive(Clone, Copy)]
pub enum Swatch {
    Jacket,
    Sleeve,
    Trousers,
    BootShaft,
    Shoe,
    Glove,
    Helmet,
    VisorFrame,
    Visor,
    Eye,
    Scarf,
    Backpack,
    Pocket,
    Bedroll,
    Beacon,
    Metal,
}

use Swatch::{Backpack, Beacon, Bedroll, BootShaft, Eye, Glove, Helmet, Jacket, Metal, Pocket, Scarf, Shoe, Sleeve};
use Swatch::{Trousers, Visor, VisorFrame};

const SWATCHES: [Swatch; 16] = [
    Jacket, Sleeve, Trousers, BootShaft, Shoe, Glove, Helmet, VisorFrame, Visor, Eye, Scarf, Backpack, Pocket, Bedroll,
    Beacon, Metal,
];

const CREAM: u32 = 0xf4e9d6;
const TERRACOTTA: u32 = 0xe2702c;
const RUST: u32 = 0xb74f1c;
const NAVY: u32 = 0x3a4b70;
const LEATHER: u32 = 0x7a4a2c;
const DARK_LEATHER: u32 = 0x4a2e20;
const SOLE: u32 = 0x2b2421;
const MUSTARD: u32 = 0xeab046;
const TEAL: u32 = 0x1c9a92;
const MINT: u32 = 0xc6ece0;
const CANVAS: u32 = 0x93794c;
const SAND: u32 = 0xd8c59a;
const NIGHT: u32 = 0x0e1826;
const DUSK: u32 = 0x2d5673;
const GLOW: u32 = 0x5fe9ff;
const RED: u32 = 0xee3f34;
const STEEL: u32 = 0x59636e;

impl Swatch {
    /// Converts the (u, v) of a part, each 0 to 1, to the texture's coordinates.
    #[must_use]
    pub fn tex_coord(self, around: f64, along: f64) -> DVec2 {
        let corner = dvec2(f64::from(self as u32 % 4), f64::from(self as u32 / 4)) * f64::from(SWATCH_TEXELS);
        let inside = dvec2(around, along) * (f64::from(SWATCH_TEXELS) - 2.0 * MARGIN_TEXELS) + MARGIN_TEXELS;
        (corner + inside) / f64::from(TEXTURE_TEXELS)
    }

    /// Returns the sRGB colour, each channel 0 to 1.
    fn paint(self, u: f64, v: f64) -> DVec3 {
        match self {
            Jacket => jacket(u, v),
            Sleeve => shaded(TERRACOTTA, 1.04 - 0.14 * v).lerp(color(CREAM), band(v, 0.40, 0.47)),
            Trousers => shaded(NAVY, 1.1 - 0.2 * v)
                .lerp(shaded(NAVY, 0.8), band(u, 0.46, 0.50))
                .lerp(shaded(NAVY, 1.25), band(v, 0.50, 0.66) * band(u, -0.3, 0.30)),
            BootShaft => shaded(LEATHER, 1.1 - 0.2 * v).lerp(color(DARK_LEATHER), band(v, 0.45, 0.53)),
            Shoe => {
                shaded(LEATHER, 1.05).lerp(color(MUSTARD), band(v, 0.77, 1.2) * 0.25).lerp(color(SOLE), edge(u, 0.66))
            }
            Glove => shaded(MUSTARD, 1.05 - 0.1 * v).lerp(color(DARK_LEATHER), band(v, 0.25, 0.31)),
            Helmet => shaded(CREAM, 0.86 + 0.16 * v).lerp(color(TEAL), edge(u, 0.5) * band(v, 0.50, 0.60)),
            VisorFrame => shaded(TEAL, 1.0 - 0.25 * u),
            Visor => color(DUSK).lerp(color(NIGHT), smooth_step(0.0, 0.62, u)).lerp(color(MINT), 0.10 * (1.0 - u)),
            Eye => color(GLOW).lerp(DVec3::ONE, 0.75 * smooth_step(0.55, 1.0, v)),
            Scarf => shaded(TEAL, 0.95 + 0.15 * u).lerp(color(MINT), band(v, 0.80, 0.86) + band(v, 0.90, 0.96)),
            Backpack => shaded(CANVAS, 0.8 + 0.25 * v)
                .lerp(shaded(LEATHER, 1.0), edge(v, 0.66))
                .lerp(color(DARK_LEATHER), band(v, 0.63, 0.66) + band(u, 0.88, 0.92) * band(v, 0.4, 0.7)),
            Pocket => shaded(CANVAS, 1.12).lerp(color(DARK_LEATHER), band(v, 0.62, 0.68)),
            Bedroll => shaded(SAND, 1.0 - 0.1 * u).lerp(
                color(DARK_LEATHER),
                band(v, 0.27, 0.32) + band(v, 0.68, 0.73) + band(v, 0.06, 0.09) + band(v, 0.91, 0.94),
            ),
            Beacon => shaded(RED, 0.9 + 0.2 * v),
            Metal => shaded(STEEL, 0.9 + 0.3 * v),
        }
    }
}

/// The jacket: hem, belt, buckle, zip, backpack straps and collar. Below it is the seat of the trousers.
fn jacket(u: f64, v: f64) -> DVec3 {
    let cloth = shaded(TERRACOTTA, 0.90 + 0.14 * v).lerp(color(RUST), band(u, -0.1, 0.022) + band(v, 0.22, 0.245));
    let straps = band(v, 0.40, 0.89) * band(u, 0.19, 0.26);
    let belt = band(v, 0.345, 0.395);
    cloth
        .lerp(shaded(NAVY, 1.05), 1.0 - edge(v, 0.22))
        .lerp(color(LEATHER), straps)
        .lerp(color(DARK_LEATHER), belt + edge(v, 0.89))
        .lerp(color(MUSTARD), belt * band(u, -0.1, 0.055) + straps * band(v, 0.585, 0.625))
}

fn color(hex: u32) -> DVec3 {
    let channel = |shift: u32| f64::from((hex >> shift) & 0xff) / 255.0;
    dvec3(channel(16), channel(8), channel(0))
}

fn shaded(hex: u32, brightness: f64) -> DVec3 {
    (color(hex) * brightness).min(DVec3::ONE)
}

/// Rises from 0 to 1 at `start`, over about one texel.
fn edge(x: f64, start: f64) -> f64 {
    smooth_step(start - 0.01, start + 0.01, x)
}

/// Is 1 between `start` and `end`, and 0 outside.
fn band(x: f64, start: f64, end: f64) -> f64 {
    edge(x, start) * (1.0 - edge(x, end))
}

/// Returns the texture as PNG.
///
/// # Errors
/// If it cannot be encoded.
pub fn texture_png() -> anyhow::Result<Vec<u8>> {
    let texture = RgbImage::from_fn(TEXTURE_TEXELS, TEXTURE_TEXELS, |x, y| {
        let swatch = SWATCHES[(y / SWATCH_TEXELS * 4 + x / SWATCH_TEXELS) as usize];
        let inside = |texel: u32| {
            (f64::from(texel % SWATCH_TEXELS) + 0.5 - MARGIN_TEXELS) / (f64::from(SWATCH_TEXELS) - 2.0 * MARGIN_TEXELS)
        };
        let rgb = swatch.paint(inside(x).clamp(0.0, 1.0), inside(y).clamp(0.0, 1.0));
        Rgb((rgb.clamp(DVec3::ZERO, DVec3::ONE) * 255.0).to_array().map(|channel| channel.round() as u8))
    });
    let mut png = Cursor::new(Vec::new());
    texture.write_to(&mut png, ImageFormat::Png)?;
    Ok(png.into_inner())
}
