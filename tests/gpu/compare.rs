//! Measures the difference of two images of the same size (RGBA, eight bits per channel).

use crate::common::gpu::note;

/// The difference of two images. Alpha counts like a colour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The mean absolute difference over all channels, in steps of 1/255.
    pub mean: f64,
    /// The share of the pixels with a channel whose difference exceeds the threshold.
    pub share_beyond: f64,
    pub most: u8,
}

impl Difference {
    /// Compares two images. `threshold` is in steps of 1/255.
    pub fn between(a: &[u8], b: &[u8], threshold: u8) -> Self {
        assert_eq!(a.len(), b.len(), "images of different sizes");
        let differences = || a.iter().zip(b).map(|(&a, &b)| a.abs_diff(b));
        let pixels = a.chunks_exact(4).zip(b.chunks_exact(4));
        let beyond = pixels.filter(|(a, b)| a.iter().zip(*b).any(|(&a, &b)| a.abs_diff(b) > threshold)).count();
        Self {
            mean: differences().map(f64::from).sum::<f64>() / a.len() as f64,
            share_beyond: beyond as f64 / (a.len() / 4) as f64,
            most: differences().max().unwrap_or(0),
        }
    }
}

pub fn assert_identical(what: &str, a: &[u8], b: &[u8]) {
    let difference = Difference::between(a, b, 0);
    assert!(difference.most == 0, "{what}: {difference:?}");
}

/// Asserts that compute and vertex skinning give the same image, except for the rounding of two shaders: a mean difference
/// of 0.2 steps of 1/255, and at most a thousandth of the pixels off by more than 8 steps.
pub fn assert_ways_agree(what: &str, compute: &[u8], vertex: &[u8]) {
    let difference = Difference::between(compute, vertex, 8);
    note!("{what}: compute and vertex skinning: {difference:?}");
    assert!(difference.mean <= 0.2 && difference.share_beyond <= 0.001, "{what}: {difference:?}");
}
