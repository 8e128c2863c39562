//! The tracks of a clip, resampled to one common timeline: the input of the kernel.
//!
//! Between two neighbouring key times of *any* track, each track is one simple curve. A straight line cut in two is two
//! straight lines, and the same holds for great arcs and cubics. So all tracks fit onto the union of their timelines. A
//! *row* is the time from one of these keys to the next, and has one or two *cells* for each track. One search for the
//! row then serves all tracks of an instance, and their cells are adjacent in memory.
//!
//! A cell holds the start and the change of a track, so the kernel needs no second key. `t` goes from 0 to 1 within the row:
//!
//! | curve | cells | value at `t` |
//! |---|---|---|
//! | straight, or held | value, change | `value + t · change` |
//! | great arc | value, change | `value · cos(t‖change‖) + change · sin(t‖change‖) / ‖change‖`: `change` is perpendicular to `value` and as long as the angle |
//! | cubic | value, change; square, cube | `value + t · (change + t · (square + t · cube))` |
//!
//! The cells are computed in double precision, once for each clip that is played.

use std::collections::BTreeSet;

use glam::{DVec4, Vec3, Vec4};

use super::super::sample::find_interval;
use crate::model::{Clip, Interpolation, Track};

/// The curve of one track within one row. The fourth component is 0 for vectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(32))]
pub(super) struct Cell {
    /// The value at the row's start. In a cubic's second cell, the coefficient of `t²`.
    pub value: [f32; 4],
    /// The change until the row's end. In a cubic's second cell, the coefficient of `t³`.
    pub change: [f32; 4],
}

/// The largest number that the kernel accepts: the square of a larger one may exceed the range of `f32`.
const MAX_MAGNITUDE: f64 = 1e18;
/// The number of cells that any clip may have.
const FREE_CELLS: usize = 1 << 14;
/// The number of further cells for each value of the clip. Tracks that share no key time would otherwise make a table
/// of all times by all tracks.
const CELLS_PER_VALUE: usize = 4;
/// The largest number of cells, of 32 bytes each: twenty minutes of a hundred joints at 30 keys a second.
const MAX_CELLS: usize = 1 << 22;

/// The start of the first row, before the clip. There each track has the value of its first key. At 0 it may already
/// have the value of another key, because several keys may have the time 0.
const BEFORE: f64 = -1.0;

#[derive(Clone, Copy)]
pub(super) struct AnyTrack<'c> {
    timeline: usize,
    pub interpolation: Interpolation,
    values: Values<'c>,
}

#[derive(Clone, Copy)]
pub(super) enum Values<'c> {
    /// Translations or scales.
    Vectors(&'c [Vec3]),
    Rotations(&'c [Vec4]),
}

impl<'c> AnyTrack<'c> {
    pub fn new<T>(track: &'c Track<T>, values: fn(&'c [T]) -> Values<'c>) -> Self {
        Self { timeline: track.timeline as usize, interpolation: track.interpolation, values: values(&track.values) }
    }

    fn len(self) -> usize {
        match self.values {
            Values::Vectors(values) => values.len(),
            Values::Rotations(values) => values.len(),
        }
    }

    fn element(self, index: usize) -> DVec4 {
        match self.values {
            Values::Vectors(values) => values[index].as_dvec3().extend(0.0),
            Values::Rotations(values) => values[index].as_dvec4(),
        }
    }

    fn value(self, key: usize) -> DVec4 {
        let count = self.elements_per_key();
        self.element(count * key + count / 2)
    }

    pub(super) fn width(self) -> usize {
        if self.interpolation == Interpolation::CubicSpline { 2 } else { 1 }
    }

    /// Returns the track's value if it never changes.
    pub(super) fn constant(self) -> Option<DVec4> {
        let first = self.value(0);
        let is_tangent = |index: usize| self.interpolation == Interpolation::CubicSpline && index % 3 != 1;
        // The tangents of a single key are never used.
        let only_key = self.len() == self.elements_per_key();
        let holds = |(index, element): (usize, DVec4)| element == if is_tangent(index) { DVec4::ZERO } else { first };
        let is_constant = only_key || (0..self.len()).map(|index| (index, self.element(index))).all(holds);
        is_constant.then(|| match self.values {
            Values::Vectors(_) => first,
            Values::Rotations(_) => first.normalize_or(DVec4::W),
        })
    }

    fn elements_per_key(self) -> usize {
        if self.interpolation == Interpolation::CubicSpline { 3 } else { 1 }
    }

    /// Returns the cells of the track from `start` to `end`. The track has no key between these times.
    fn cells(self, keys: &[f32], start_seconds: f64, end_seconds: f64) -> [[DVec4; 2]; 2] {
        let at = find_interval(keys, start_seconds);
        let (a, b) = (self.value(at.key), self.value(at.next));
        if at.key == at.next || self.interpolation == Interpolation::Step {
            return [[a, DVec4::ZERO], [DVec4::ZERO; 2]];
        }
        let (first, span) = (f64::from(keys[at.key]), f64::from(keys[at.next]) - f64::from(keys[at.key]));
        // The start and the length of the row, as shares of the key interval.
        let (from, width) = ((start_seconds - first) / span, (end_seconds - start_seconds) / span);
        match self.values {
            _ if self.interpolation == Interpolation::CubicSpline => {
                let (leaving, arriving) = (self.element(3 * at.key + 2) * span, self.element(3 * at.next) * span);
                // Appendix C.5, as a polynomial.
                let square = 3.0 * (b - a) - 2.0 * leaving - arriving;
                let cube = 2.0 * (a - b) + leaving + arriving;
                let value = a + from * (leaving + from * (square + from * cube));
                let slope = leaving + from * (2.0 * square + 3.0 * from * cube);
                let bend = square + 3.0 * from * cube;
                [[value, width * slope], [width * width * bend, width * width * width * cube]]
            }
            Values::Vectors(_) => [[a + from * (b - a), width * (b - a)], [DVec4::ZERO; 2]],
            Values::Rotations(_) => {
                let (a, b) = (a.normalize_or(DVec4::W), b.normalize_or(DVec4::W));
                // Appendix C.4: along the shorter arc.
                let b = if a.dot(b) < 0.0 { -b } else { b };
                let across = b - a * a.dot(b);
                let angle = across.length().atan2(a.dot(b));
                let direction = across.normalize_or_zero();
                let (sine, cosine) = (from * angle).sin_cos();
                let change = (direction * cosine - a * sine) * (width * angle);
                [[a * cosine + direction * sine, change], [DVec4::ZERO; 2]]
            }
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    /// The start and the length of each row. The first and the last row are constant and infinitely long.
    spans_seconds: Vec<[f64; 2]>,
    /// Time is divided into equal buckets: for each, the last row that starts in an earlier bucket, and the last one that starts
    /// in an earlier bucket or in this one.
    buckets: Vec<[u32; 2]>,
    buckets_per_second: f64,
    pub columns: usize,
    pub cells: Vec<Cell>,
}

impl Rows {
    /// Computes the rows. The columns are in the order of `tracks`. Returns `None` if a number is too large, or if the
    /// table would be too large for the clip.
    pub(super) fn new(clip: &Clip, tracks: &[AnyTrack<'_>]) -> Option<Self> {
        let columns: usize = tracks.iter().map(|track| track.width()).sum();
        let used: BTreeSet<usize> = tracks.iter().map(|track| track.timeline).collect();
        let mut times: Vec<f32> = used.into_iter().flat_map(|timeline| &clip.timelines[timeline]).copied().collect();
        // A clip starts at 0, even if its first key is later, or earlier.
        times.retain(|&time| time > 0.0);
        times.push(0.0);
        times.sort_by(f32::total_cmp);
        times.dedup();
        let values: usize = tracks.iter().map(|track| track.len()).sum();
        let most_cells = CELLS_PER_VALUE.saturating_mul(values).saturating_add(FREE_CELLS).min(MAX_CELLS);
        if (times.len() + 1).checked_mul(columns)? > most_cells {
            return None;
        }
        let starts_seconds: Vec<f64> = std::iter::once(BEFORE).chain(times.into_iter().map(f64::from)).collect();
        let ends_seconds = starts_seconds.iter().copied().skip(1).chain([f64::INFINITY]);
        let mut rows = Self { columns, ..Self::default() };
        rows.cells.reserve_exact(starts_seconds.len() * columns);
        for (&start, end) in starts_seconds.iter().zip(ends_seconds.clone()) {
            for track in tracks {
                let cells = track.cells(&clip.timelines[track.timeline], start, end);
                for [value, change] in &cells[..track.width()] {
                    let is_moderate = |numbers: &DVec4| numbers.abs().max_element() <= MAX_MAGNITUDE;
                    if !(is_moderate(value) && is_moderate(change)) {
                        return None;
                    }
                    let [value, change] = [value, change].map(|numbers| numbers.as_vec4().to_array());
                    rows.cells.push(Cell { value, change });
                }
            }
        }
        rows.spans_seconds =
            starts_seconds.iter().zip(ends_seconds).map(|(start, end)| [*start, end - start]).collect();
        // The first row is constant, so its share of elapsed time stays 0.
        rows.spans_seconds[0][1] = f64::INFINITY;
        rows.fill_buckets();
        Some(rows)
    }

    /// Makes as many buckets as rows. If keys are evenly spread, as they usually are, each bucket holds about one row.
    fn fill_buckets(&mut self) {
        let count = self.spans_seconds.len();
        let last = self.spans_seconds.last().map_or(0.0, |[start, _]| *start);
        self.buckets_per_second = if last > 0.0 { count as f64 / last } else { 0.0 };
        self.buckets = vec![[0; 2]; self.bucket(last) + 1];
        for row in 0..count {
            // Rows are in ascending order, so the last write is the last row that starts in this bucket.
            let bucket = self.bucket(self.spans_seconds[row][0]);
            self.buckets[bucket][1] = row as u32;
        }
        let mut before = 0;
        for [first, last] in &mut self.buckets {
            *first = before;
            before = before.max(*last);
            *last = before;
        }
    }

    /// Returns the bucket of a time. A later time never has an earlier bucket, despite rounding.
    fn bucket(&self, time_seconds: f64) -> usize {
        (time_seconds * self.buckets_per_second) as u32 as usize
    }

    #[inline]
    pub(super) fn locate(&self, time_seconds: f64) -> (usize, f32) {
        let time_seconds = if time_seconds > BEFORE { time_seconds.min(f64::MAX) } else { BEFORE };
        let bucket = self.buckets.get(self.bucket(time_seconds)).or(self.buckets.last());
        let [from, to] = bucket.copied().unwrap_or_default().map(|row| row as usize);
        let row = match to - from {
            0 => from,
            1 if self.spans_seconds[to][0] <= time_seconds => to,
            1 => from,
            _ => from + self.spans_seconds[from + 1..=to].partition_point(|[start, _]| *start <= time_seconds),
        };
        let [start_seconds, span_seconds] = self.spans_seconds[row];
        (row, ((time_seconds - start_seconds) / span_seconds) as f32)
    }
}
