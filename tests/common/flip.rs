//! Compares images as a person sees them: FLIP (Andersson et al., "FLIP: A Difference Evaluator for Alternating Images",
//! 2020) gives each pixel a difference from 0 to 1.
//!
//! Drivers differ little everywhere, or much in single pixels at edges. A mistake is a small difference nearly everywhere,
//! or a large one in a whole region. So two numbers are limited: the mean, and the largest mean in a small window.

use image::{RgbImage, Rgba, RgbaImage};
use nv_flip::{DEFAULT_PIXELS_PER_DEGREE, FlipImageRgb8};

const WINDOW: usize = 16;

pub struct Flip {
    width: usize,
    height: usize,
    /// A difference for each pixel, by rows.
    map: Vec<f32>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    pub mean: f32,
    pub worst_window: f32,
}

impl Statistics {
    pub fn within(self, most: Self) -> bool {
        self.mean <= most.mean && self.worst_window <= most.worst_window
    }
}

impl Flip {
    /// Compares two images of the same size. Transparent images are compared over black and over white.
    pub fn between(reference: &RgbaImage, test: &RgbaImage) -> Self {
        assert_eq!(reference.dimensions(), test.dimensions(), "images of different sizes");
        let (width, height) = reference.dimensions();
        let opaque = reference.pixels().chain(test.pixels()).all(|pixel| pixel[3] == u8::MAX);
        let backdrops: &[u8] = if opaque { &[0] } else { &[0, u8::MAX] };
        let mut map = vec![0.0_f32; (width * height) as usize];
        for &backdrop in backdrops {
            let [reference, test] =
                [reference, test].map(|image| FlipImageRgb8::with_data(width, height, &over(image, backdrop)));
            let differences = nv_flip::flip(reference, test, DEFAULT_PIXELS_PER_DEGREE).to_vec();
            map.iter_mut().zip(differences).for_each(|(most, difference)| *most = most.max(difference));
        }
        Self { width: width as usize, height: height as usize, map }
    }

    pub fn statistics(&self) -> Statistics {
        let Self { width, height, ref map } = *self;
        let mean = |columns: std::ops::Range<usize>, rows: std::ops::Range<usize>| -> f32 {
            let count = columns.len() * rows.len();
            let sum = rows.map(|y| map[y * width..][columns.clone()].iter().sum::<f32>()).sum::<f32>();
            sum / count as f32
        };
        let starts = |size: usize| (0..=size.saturating_sub(WINDOW)).step_by(WINDOW / 4);
        let windows = starts(height).flat_map(|y| starts(width).map(move |x| (x, y)));
        let worst_window =
            windows.map(|(x, y)| mean(x..(x + WINDOW).min(width), y..(y + WINDOW).min(height))).fold(0.0, f32::max);
        Statistics { mean: mean(0..width, 0..height), worst_window }
    }

    /// Returns the map as an image: black where nothing differs, yellow where everything does.
    pub fn picture(&self) -> RgbaImage {
        RgbaImage::from_fn(self.width as u32, self.height as u32, |x, y| {
            let difference = self.map[y as usize * self.width + x as usize];
            let level = |from: f32| (255.0 * ((difference - from) * 4.0).clamp(0.0, 1.0)) as u8;
            Rgba([level(0.0), level(0.25), level(0.75), u8::MAX])
        })
    }
}

fn over(image: &RgbaImage, backdrop: u8) -> RgbImage {
    RgbImage::from_fn(image.width(), image.height(), |x, y| {
        let Rgba([red, green, blue, alpha]) = *image.get_pixel(x, y);
        let blend = |color: u8| {
            let sum = u32::from(color) * u32::from(alpha) + u32::from(backdrop) * (255 - u32::from(alpha));
            ((sum + 127) / 255) as u8
        };
        image::Rgb([red, green, blue].map(blend))
    })
}
