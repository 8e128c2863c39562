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
    /// `None` for fewer than [`FEWEST_FOR_P95`] frames.
    #[serde(default)]
    pub(super) p95: Option<f64>,
    /// `None` for fewer than [`FEWEST_FOR_P99`] frames.
    #[serde(default)]
    pub(super) p99: Option<f64>,
    pub(super) max: f64,
}

/// A percentile counts if at least three frames lie above it. Otherwise one or two late frames would decide it.
pub(super) const FEWEST_FOR_P95: usize = 60;
/// See [`FEWEST_FOR_P95`].
pub(super) const FEWEST_FOR_P99: usize = 300;

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
            p95: (count >= FEWEST_FOR_P95).then(|| rank(0.95)),
            p99: (count >= FEWEST_FOR_P99).then(|| rank(0.99)),
            max: rank(1.0),
        }
    }

    /// Returns the bounds of the middle half of the sample, or wider ones for a file without quartiles.
    pub(super) fn middle_half(&self) -> (f64, f64) {
        (self.q1.unwrap_or(self.min), self.q3.or(self.p95).unwrap_or(self.max))
    }

    /// Returns the highest statistic that a single slow frame does not move.
    pub(super) fn high(&self) -> f64 {
        self.p95.or(self.q3).unwrap_or(self.max)
    }

    /// Returns each statistic with its name, in ascending order.
    pub(super) fn statistics(&self) -> [(&'static str, Option<f64>); 7] {
        [
            ("min", Some(self.min)),
            ("q1", Some(self.q1.unwrap_or(self.min))),
            ("median", Some(self.median)),
            ("q3", Some(self.q3.unwrap_or(self.max))),
            ("p95", self.p95),
            ("p99", self.p99),
            ("max", Some(self.max)),
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
        let few =
            |[min, q1, median, q3, max]: [f64; 5]| [Some(min), Some(q1), Some(median), Some(q3), None, None, Some(max)];
        for (summary, expected) in [
            (of(1..=300), [1.0, 75.0, 150.5, 225.0, 285.0, 297.0, 300.0].map(Some)),
            (of(1..=60), [Some(1.0), Some(15.0), Some(30.5), Some(45.0), Some(57.0), None, Some(60.0)]),
            (of(1..=4), few([1.0, 1.0, 2.5, 3.0, 4.0])),
            (of(1..=3), few([1.0, 1.0, 2.0, 3.0, 3.0])),
            (of(1..=2), few([1.0, 1.0, 1.5, 2.0, 2.0])),
            (of(7..=7), few([7.0; 5])),
            (Summary::new(Vec::new()), few([0.0; 5])),
        ] {
            let expected: Vec<(&str, Option<f64>)> = names.into_iter().zip(expected).collect();
            assert_eq!(summary.statistics()[..], expected[..]);
        }
        assert_eq!(of(1..=100).middle_half(), (25.0, 75.0));
        assert_eq!([of(1..=60).high(), of(1..=4).high()], [57.0, 3.0]);
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
