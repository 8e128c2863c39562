//! `--fit`: finds the largest crowd whose median frame stays below a limit.
//!
//! In: a [`Machine`] that measures crowds of any size. Out: the size, and the reason why it is not larger.
//!
//! The search has three steps. Crowds *grow* by a factor that the last two times suggest, until one is too slow, does
//! not fit into memory or is the largest that the program accepts. Interpolation then *narrows* the range. Both take few
//! frames each, because a wrong guess costs only another guess. The last step *confirms*: a candidate is measured with
//! all its frames, and the next candidate is where a line through this point meets the aim. The slope of that line is
//! the average cost of a character, which noise changes little. The search ends at a crowd that is below the limit by at
//! most [`WINDOW`]. So two searches on a steady machine agree within this window and the noise of one measurement.

/// The aim, as a share of the limit. It is in the middle of the accepted times.
const AIM: f64 = 0.985;
/// The part below the limit whose times are accepted.
const WINDOW: f64 = 0.03;
/// The largest growth from one crowd to the next. A crowd that is far too large costs time.
const MOST_GROWTH: u32 = 8;
/// Narrowing ends if the larger crowd is at most this much larger than the smaller one.
const NARROW: f64 = 1.15;
/// The number of candidates. Three are usual.
const MOST_CANDIDATES: usize = 10;

/// The care of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// A few frames.
    Quick,
    /// The frames of a row.
    Full,
}

/// Measures crowds. Errors end the search.
pub(super) trait Machine {
    type Error;
    /// Returns whether memory suffices for a crowd. Fails if the crowd cannot be created.
    fn holds(&mut self, instances: u32) -> Result<bool, Self::Error>;
    /// Returns the median frame time of a crowd that fits into memory. Fails if the crowd cannot be drawn.
    fn frame_ms(&mut self, instances: u32, effort: Effort) -> Result<f64, Self::Error>;
}

/// The reason why no larger crowd was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// A larger crowd takes more than the limit.
    Time,
    /// The device cannot hold a larger crowd.
    Memory,
    /// The program accepts no larger crowd.
    MostInstances,
    /// Even one instance takes longer than the limit.
    OneIsTooSlow,
    /// The machine's speed changed too much during the search.
    Unsteady,
}

impl Bound {
    /// Returns the name in files.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Memory => "memory",
            Self::MostInstances => "most instances",
            Self::OneIsTooSlow => "one is too slow",
            Self::Unsteady => "unsteady",
        }
    }
}

/// The result of a search. Its crowd was measured last, with full effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) instances: u32,
    pub(super) bound: Bound,
}

/// A crowd and its time.
#[derive(Debug, Clone, Copy)]
struct Point {
    instances: u32,
    ms: f64,
}

impl Point {
    /// Returns where the line to another point meets a time, or `None` if the line does not ascend.
    fn meets(self, other: Self, ms: f64) -> Option<f64> {
        let slope = (other.ms - self.ms) / (f64::from(other.instances) - f64::from(self.instances));
        (slope.is_finite() && slope > 0.0).then(|| f64::from(self.instances) + (ms - self.ms) / slope)
    }
}

/// Finds the largest crowd of at most `most` instances whose median frame stays below `limit_ms`.
///
/// # Errors
/// The machine's first error.
pub(super) fn largest<M: Machine>(limit_ms: f64, most: u32, machine: &mut M) -> Result<Found, M::Error> {
    if !machine.holds(1)? {
        return Ok(Found { instances: 1, bound: Bound::Memory });
    }
    let one = Point { instances: 1, ms: machine.frame_ms(1, Effort::Quick)? };
    let mut search = Search { limit_ms, most, bound: Bound::MostInstances, machine, one };
    match search.grow()? {
        Some((below, above)) => {
            let (below, above) = search.narrow(below, above)?;
            let middle = below.meets(above, limit_ms * AIM).unwrap_or(f64::from(below.instances));
            search.confirm(middle as u32)
        }
        // All crowds are fast enough, or none is.
        None => search.confirm(if one.ms < limit_ms { search.most } else { 1 }),
    }
}

struct Search<'m, M> {
    limit_ms: f64,
    /// The largest crowd that may be drawn, and the reason for it.
    most: u32,
    bound: Bound,
    machine: &'m mut M,
    one: Point,
}

impl<M: Machine> Search<'_, M> {
    /// Measures larger and larger crowds. Returns the last one below the limit and the first one above it, or `None` if
    /// the first or none is above it.
    fn grow(&mut self) -> Result<Option<(Point, Point)>, M::Error> {
        let (mut last, mut below) = (self.one, self.one);
        if below.ms >= self.limit_ms {
            return Ok(None);
        }
        while below.instances < self.most {
            let (least, most) = (below.instances.saturating_mul(2), below.instances.saturating_mul(MOST_GROWTH));
            // A little beyond the limit, so that the next time is more likely above it.
            let guess = last.meets(below, self.limit_ms * 1.1).map_or(most, |guess| guess as u32);
            let next = self.held(below.instances, guess.clamp(least, most).min(self.most))?;
            if next == below.instances {
                break;
            }
            let point = Point { instances: next, ms: self.machine.frame_ms(next, Effort::Quick)? };
            if point.ms >= self.limit_ms {
                return Ok(Some((below, point)));
            }
            (last, below) = (below, point);
        }
        Ok(None)
    }

    /// Returns `wanted`, or the largest crowd that memory holds, which then bounds the search. `fits` is a crowd that
    /// fits.
    fn held(&mut self, mut fits: u32, wanted: u32) -> Result<u32, M::Error> {
        if self.machine.holds(wanted)? {
            return Ok(wanted);
        }
        let mut too_large = wanted;
        // To one percent: plans are estimates, too.
        while too_large - fits > (fits / 100).max(1) {
            let middle = fits + (too_large - fits) / 2;
            if self.machine.holds(middle)? {
                fits = middle;
            } else {
                too_large = middle;
            }
        }
        (self.most, self.bound) = (fits, Bound::Memory);
        Ok(fits)
    }

    /// Brings a fast and a slow crowd closer together.
    fn narrow(&mut self, mut below: Point, mut above: Point) -> Result<(Point, Point), M::Error> {
        while f64::from(above.instances) > f64::from(below.instances) * NARROW && above.instances - below.instances > 1
        {
            let width = above.instances - below.instances;
            let guess = below.meets(above, self.limit_ms).unwrap_or(0.0) as u32;
            // Not next to an end, where the other end would hardly move.
            let (first, last) = (below.instances + (width / 8).max(1), above.instances - (width / 8).max(1));
            let next = guess.clamp(first.min(last), last);
            let point = Point { instances: next, ms: self.machine.frame_ms(next, Effort::Quick)? };
            if point.ms < self.limit_ms {
                below = point;
            } else {
                above = point;
            }
        }
        Ok((below, above))
    }

    /// Measures candidates with full effort until one is right below the limit.
    fn confirm(&mut self, first: u32) -> Result<Found, M::Error> {
        let mut next = first.clamp(1, self.most);
        // Known to be below the limit, and above it.
        let (mut below, mut above) = (None, None);
        for _ in 0..MOST_CANDIDATES {
            let point = Point { instances: next, ms: self.machine.frame_ms(next, Effort::Full)? };
            let found = |bound| Ok(Found { instances: next, bound });
            if point.ms < self.limit_ms {
                if next == self.most {
                    return found(self.bound);
                }
                if point.ms >= self.limit_ms * (1.0 - WINDOW) || above == next.checked_add(1) {
                    return found(Bound::Time);
                }
                below = below.max(Some(next));
            } else if next == 1 {
                return found(Bound::OneIsTooSlow);
            } else {
                above = Some(above.map_or(next, |above: u32| above.min(next)));
            }
            let aim = self.one.meets(point, self.limit_ms * AIM).unwrap_or(f64::from(next)) as u32;
            // A step of at least one character.
            let step = if point.ms < self.limit_ms { aim.max(next.saturating_add(1)) } else { aim.min(next - 1) };
            next = step.clamp(1, self.most);
            // The neighbours of both kinds are known.
            if let (Some(below), Some(above)) = (below, above)
                && above == below + 1
            {
                next = below;
            }
        }
        let instances = below.unwrap_or(next);
        self.machine.frame_ms(instances, Effort::Full)?;
        Ok(Found { instances, bound: Bound::Unsteady })
    }
}

#[cfg(test)]
mod tests {
    use super::super::simulated::{Lehmer, Simulated};
    use super::*;

    const MOST: u32 = 1_000_000;

    #[test]
    fn the_largest_crowd_is_right_below_the_limit() {
        for (fixed_ms, each_ms, limit_ms) in [
            (0.6, 0.09, 16.6),
            (20.0, 0.06, 33.3),
            (20.0, 0.045, 1000.0),
            (0.1, 0.001, 16.6),
            (12.0, 3.0, 33.3),
            (10.0, 7.0, 33.3),
            (1.0, 20.0, 33.3),
        ] {
            let mut machine = Simulated::new(fixed_ms, each_ms);
            let Found { instances, bound } = largest(limit_ms, MOST, &mut machine).unwrap();
            let what = format!("{fixed_ms} + {each_ms} n below {limit_ms}: {instances}, tried {:?}", machine.tried);
            assert_eq!(bound, Bound::Time, "{what}");
            assert!(machine.true_ms(instances) < limit_ms, "{what}");
            // Either the time is in the window or one more is too many.
            let is_close = machine.true_ms(instances) >= limit_ms * (1.0 - WINDOW);
            assert!(is_close || machine.true_ms(instances + 1) >= limit_ms, "{what}");
            assert_eq!(machine.tried.last(), Some(&(instances, Effort::Full)), "{what}");
            assert!(machine.tried.len() < 20, "{what}");
            // No crowd costs much more than the limit.
            assert!(machine.tried.iter().all(|&(count, _)| machine.true_ms(count) < 9.0 * limit_ms), "{what}");
        }
    }

    #[test]
    fn searches_with_noise_agree_within_five_percent() {
        let mut found = Vec::new();
        for seed in 0..40 {
            let mut machine = Simulated::new(20.0, 0.06);
            (machine.noise, machine.knee, machine.random) = (0.01, 300.0, Lehmer::new(seed));
            let result = largest(50.0, MOST, &mut machine).unwrap();
            assert_eq!(result.bound, Bound::Time, "{:?}", machine.tried);
            found.push(f64::from(result.instances));
        }
        found.sort_by(f64::total_cmp);
        let middle = found[20];
        assert!(found.iter().all(|count| (count / middle - 1.0).abs() < 0.05), "{found:?}");
    }

    #[test]
    fn other_bounds_are_named() {
        let found = |mut machine: Simulated, limit_ms| {
            let found = largest(limit_ms, MOST, &mut machine).unwrap();
            assert_eq!(machine.tried.last(), Some(&(found.instances, Effort::Full)));
            found
        };
        assert_eq!(found(Simulated::new(1.0, 1e-7), 16.0), Found { instances: MOST, bound: Bound::MostInstances });
        assert_eq!(found(Simulated::new(20.0, 0.1), 16.0), Found { instances: 1, bound: Bound::OneIsTooSlow });
        let small = Simulated { holds: 12_345, ..Simulated::new(1.0, 1e-4) };
        let Found { instances, bound } = found(small, 16.0);
        assert!(bound == Bound::Memory && (12_200..=12_345).contains(&instances), "{instances}");
        // Memory for none: nothing is drawn.
        let none = &mut Simulated { holds: 0, ..Simulated::new(1.0, 1.0) };
        assert_eq!(largest(16.0, MOST, none).unwrap(), Found { instances: 1, bound: Bound::Memory });
        assert!(none.tried.is_empty());
    }

    #[test]
    fn every_search_ends() {
        // Times without any relation to the crowd.
        for seed in 0..200 {
            let mut machine = Simulated::new(10.0, 0.001);
            (machine.noise, machine.random) = (0.9, Lehmer::new(seed));
            let found = largest(12.0, MOST, &mut machine).unwrap();
            assert!(found.instances >= 1 && found.instances <= MOST && machine.tried.len() < 100, "{found:?}");
            assert_eq!(machine.tried.last(), Some(&(found.instances, Effort::Full)));
        }
    }
}
