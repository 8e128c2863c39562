//! Order statistics of a sample, which a single slow frame cannot spoil.

use serde::{Deserialize, Serialize};

/// Order statistics of a sample, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) min: f64,
    /// A quarter of the sample lies below. `None` in files of older versions.
    #[serde(default)]
    pub(super) q1: Option<f64>,
    pub(super) median: f64,
    /// A quarter of the sample lies above.
    #[serde(default)]
    pub(super) q3: Option<f64>,
    pub(super) p95: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

impl Summary {
    /// Computes nearest-rank percentiles. The median of an even count is the mean of the middle two.
    pub(super) fn new(mut sample: Vec<f64>) -> Self {
        sample.sort_by(f64::total_cmp);
        let count = sample.len();
        let rank = |share: f64| {
            let rank = ((share * count as f64).ceil() as usize).clamp(1, count.max(1));
            sample.get(rank - 1).copied().unwrap_or(0.0)
        };
        Self {
            min: rank(0.0),
            q1: Some(rank(0.25)),
            median: median(&sample),
            q3: Some(rank(0.75)),
            p95: rank(0.95),
            p99: rank(0.99),
            max: rank(1.0),
        }
    }

    /// Returns the bounds of the middle half of the sample, or wider ones for a file without quartiles.
    pub(super) fn middle_half(&self) -> (f64, f64) {
        (self.q1.unwrap_or(self.min), self.q3.unwrap_or(self.p95))
    }

    /// Returns each statistic with its name.
    pub(super) fn statistics(&self) -> [(&'static str, f64); 7] {
        [
            ("min", self.min),
            ("q1", self.q1.unwrap_or(self.min)),
            ("median", self.median),
            ("q3", self.q3.unwrap_or(self.max)),
            ("p95", self.p95),
            ("p99", self.p99),
            ("max", self.max),
        ]
    }
}

/// Returns the median of a sorted sample: the mean of the middle two for an even count, 0 for an empty sample.
fn median(sorted: &[f64]) -> f64 {
    let middle = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
    (middle(sorted.len().saturating_sub(1) / 2) + middle(sorted.len() / 2)) / 2.0
}

/// Returns the median of a sample in any order.
pub(super) fn median_of(mut sample: Vec<f64>) -> f64 {
    sample.sort_by(f64::total_cmp);
    median(&sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: std::ops::RangeInclusive<u32>) -> Summary {
        Summary::new(values.rev().map(f64::from).collect())
    }

    #[test]
    fn summaries_are_order_statistics() {
        let names = ["min", "q1", "median", "q3", "p95", "p99", "max"];
        for (summary, expected) in [
            (of(1..=100), [1.0, 25.0, 50.5, 75.0, 95.0, 99.0, 100.0]),
            (of(1..=4), [1.0, 1.0, 2.5, 3.0, 4.0, 4.0, 4.0]),
            (of(1..=3), [1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0]),
            (of(1..=2), [1.0, 1.0, 1.5, 2.0, 2.0, 2.0, 2.0]),
            (of(7..=7), [7.0; 7]),
            (Summary::new(Vec::new()), [0.0; 7]),
        ] {
            let expected: Vec<(&str, f64)> = names.into_iter().zip(expected).collect();
            assert_eq!(summary.statistics()[..], expected[..]);
        }
        assert_eq!(of(1..=100).middle_half(), (25.0, 75.0));
        assert_eq!(median_of(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median_of(Vec::new()), 0.0);
    }

    #[test]
    fn older_files_have_no_quartiles() {
        let old = r#"{ "min": 1, "median": 2, "p95": 4, "p99": 5, "max": 6 }"#;
        let summary: Summary = serde_json::from_str(old).unwrap();
        assert_eq!(summary.middle_half(), (1.0, 4.0));
    }
}
