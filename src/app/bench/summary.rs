//! Order statistics of a sample, which a single slow frame cannot spoil.

use serde::Serialize;

/// Order statistics of a sample, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Summary {
    pub min: f64,
    /// A quarter of the sample lies below.
    pub q1: f64,
    pub median: f64,
    /// A quarter of the sample lies above.
    pub q3: f64,
    /// `None` for fewer than 60 frames. A percentile counts if at least three frames lie above it. Otherwise one or two
    /// late frames would decide it.
    pub p95: Option<f64>,
    /// `None` for fewer than 300 frames.
    pub p99: Option<f64>,
    pub max: f64,
}

impl Summary {
    /// Computes nearest-rank percentiles. The median of an even count is the mean of the middle two.
    pub fn new(mut sample: Vec<f64>) -> Self {
        sample.sort_by(f64::total_cmp);
        let count = sample.len();
        let rank = |share: f64| {
            let rank = ((share * count as f64).ceil() as usize).clamp(1, count.max(1));
            sample.get(rank - 1).copied().unwrap_or(0.0)
        };
        Self {
            min: rank(0.0),
            q1: rank(0.25),
            q3: rank(0.75),
            p95: (count >= 60).then(|| rank(0.95)),
            p99: (count >= 300).then(|| rank(0.99)),
            max: rank(1.0),
            median: median_of(sample),
        }
    }
}

/// Returns the median of a sample in any order: the mean of the middle two for an even count, 0 for an empty sample.
pub(in crate::app) fn median_of(mut sample: Vec<f64>) -> f64 {
    sample.sort_by(f64::total_cmp);
    let middle = |index: usize| sample.get(index).copied().unwrap_or(0.0);
    (middle(sample.len().saturating_sub(1) / 2) + middle(sample.len() / 2)) / 2.0
}
