//! The statistics of measurements in pairs.
//!
//! In: the medians of each pair of turns. Out: the ratio of each time, its interval, and the verdict.
//!
//! The ratio of a row is the median of the pairs' ratios. Its interval lies between the second lowest and the second
//! highest pair. With 12 pairs it contains the true median in 99 of 100 cases, for any distribution: otherwise at least
//! 11 pairs lie on one side of it, which 2 × (1 + 12) of 4096 cases do. A change counts if the interval does not contain 1.

use std::path::Path;

use super::compare::ComparedRow;
use super::summary::median_of;
use super::verdict::Change;
use crate::app::text::{Group, counted, grouped, number, paragraph};
use crate::model::text::printable;

/// Fewer pairs have no interval.
const FEWEST_PAIRS: usize = 12;
/// Smaller differences are not worth a word.
const LEAST: f64 = 0.01;
/// Shorter times are mostly the clock's and the scheduler's.
const SHORTEST_MS: f64 = 0.02;
/// A row that both programs have measured.
pub(super) struct Row {
    pub(super) description: String,
    /// The frame, its stages and its passes.
    pub(super) lines: Vec<Line>,
}

/// The medians of a time, one for each turn.
pub(super) struct Line {
    name: &'static str,
    this_ms: Vec<f64>,
    other_ms: Vec<f64>,
}

/// Adds the medians of a pair of turns to those of its row.
pub(super) fn add(rows: &mut Vec<Row>, compared: &ComparedRow<'_>) {
    let description = compared.describe();
    let index = rows.iter().position(|row| row.description == description).unwrap_or_else(|| {
        let line = |(name, _): &(&'static str, _)| Line { name, this_ms: Vec::new(), other_ms: Vec::new() };
        rows.push(Row { description, lines: compared.lines.iter().map(line).collect() });
        rows.len() - 1
    });
    let Some(row) = rows.get_mut(index) else { return };
    for (line, (_, evidence)) in row.lines.iter_mut().zip(&compared.lines) {
        line.other_ms.push(evidence.old.median);
        line.this_ms.push(evidence.new.median);
    }
}

impl Line {
    /// Returns the ratios of the pairs in ascending order.
    fn ratios(&self) -> Vec<f64> {
        let pairs = self.this_ms.iter().zip(&self.other_ms).filter(|(_, other)| **other > 0.0);
        let mut ratios: Vec<f64> = pairs.map(|(this, other)| this / other).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }

    pub(super) fn ratio(&self) -> f64 {
        median_of(self.ratios())
    }

    /// Returns the interval of the ratio, if there are enough pairs.
    fn interval(&self) -> Option<(f64, f64)> {
        let ratios = self.ratios();
        let (low, high) = (ratios.get(1)?, ratios.len().checked_sub(2).and_then(|index| ratios.get(index))?);
        (ratios.len() >= FEWEST_PAIRS).then_some((*low, *high))
    }

    pub(super) fn change(&self) -> Change {
        if median_of(self.this_ms.clone()).max(median_of(self.other_ms.clone())) < SHORTEST_MS {
            return Change::None;
        }
        let Some((low, high)) = self.interval() else { return Change::TooFewFrames };
        match self.ratio() {
            ratio if low > 1.0 && ratio > 1.0 + LEAST => Change::Slower,
            ratio if high < 1.0 && ratio < 1.0 - LEAST => Change::Faster,
            _ => Change::None,
        }
    }
}

/// Returns the comparison as text.
pub(super) fn as_text(other: &Path, rows: &[Row], frames: u32, columns: u16) -> String {
    let mut text = paragraph(
        columns,
        &format!(
            "In turns with {}: {} of each program, {} each. Medians in milliseconds; a ratio below 1 means that this \
             program is faster. Its interval is right in 99 of 100 cases.",
            printable(&other.display().to_string()),
            counted(rows.first().and_then(|row| row.lines.first()).map_or(0, |line| line.this_ms.len()), "process"),
            counted(frames as usize, "frame"),
        ),
    );
    for row in rows {
        let column = |header, of: &dyn Fn(&Line) -> String| (header, row.lines.iter().map(of).collect());
        let interval = |line: &Line| {
            line.interval().map_or_else(|| "-".to_owned(), |(low, high)| format!("{low:.3} to {high:.3}"))
        };
        let changes = vec![
            column("other", &|line| number(median_of(line.other_ms.clone()))),
            column("this", &|line| number(median_of(line.this_ms.clone()))),
            column("ratio", &|line| {
                if line.ratios().is_empty() { "-".to_owned() } else { format!("{:.3}", line.ratio()) }
            }),
            column("interval", &interval),
            column("", &|line| line.change().word().to_owned()),
        ];
        let names = ("", row.lines.iter().map(|line| line.name.to_owned()).collect());
        text += &format!("\n{}", paragraph(columns, &row.description));
        text += &grouped(columns, &Group { title: "", columns: vec![names] }, &[Group { title: "", columns: changes }]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(this_ms: [f64; 12], other_ms: [f64; 12]) -> Line {
        Line { name: "frame", this_ms: this_ms.into(), other_ms: other_ms.into() }
    }

    /// A machine that slows down by half from the first pair to the last one, with some noise.
    const OTHER: [f64; 12] = [10.0, 10.5, 10.9, 11.4, 11.6, 12.1, 12.4, 13.2, 13.3, 13.9, 14.6, 15.0];

    #[test]
    fn drift_cancels_out() {
        let noise = [1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.01, 0.99];
        let scaled = |factor: f64| std::array::from_fn(|index| OTHER[index] * noise[index] * factor);
        for (factor, expected) in
            [(1.0, Change::None), (1.01, Change::None), (1.04, Change::Slower), (0.96, Change::Faster)]
        {
            let line = line(scaled(factor), OTHER);
            assert_eq!(line.change(), expected, "{factor}: {:?}", line.interval());
            assert!((line.ratio() / factor - 1.0).abs() < 0.01, "{}", line.ratio());
        }
    }

    #[test]
    fn one_odd_pair_on_each_side_does_not_matter_and_two_do() {
        let mut this = OTHER.map(|ms| ms * 1.1);
        (this[3], this[7]) = (5.0, 90.0);
        assert_eq!(line(this, OTHER).change(), Change::Slower);
        this[8] = 5.0;
        assert_eq!(line(this, OTHER).change(), Change::None);
    }

    #[test]
    fn few_pairs_and_short_times_have_no_verdict() {
        let few = Line { name: "frame", this_ms: vec![2.0; 11], other_ms: vec![1.0; 11] };
        assert_eq!(few.change(), Change::TooFewFrames);
        assert_eq!(line([0.002; 12], [0.001; 12]).change(), Change::None);
        // A pass that does not run has no ratio.
        assert_eq!(line([0.0; 12], [0.0; 12]).change(), Change::None);
    }
}
