//! The statistics of the benchmark.

use clap::Parser;
use throng::app::bench::against::Line;
use throng::app::bench::fit::largest;
use throng::app::bench::report::{Bound, Summary};
use throng::app::bench::sweep::{rounds, rows};
use throng::cli::{Cli, Command};
use throng::renderer::UploadPath;

/// A machine that slows down by half from the first pair to the last one.
const OTHER: [f64; 12] = [10.0, 10.5, 10.9, 11.4, 11.6, 12.1, 12.4, 13.2, 13.3, 13.9, 14.6, 15.0];

fn line(this_ms: impl Into<Vec<f64>>, other_ms: impl Into<Vec<f64>>) -> Line {
    Line { name: "frame", this_ms: this_ms.into(), other_ms: other_ms.into() }
}

#[test]
fn a_change_counts_if_nearly_all_pairs_agree() {
    let noise = [1.01, 0.99, 1.02, 0.98, 1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.01, 0.99];
    for (factor, expected) in [(1.0, "no change"), (1.01, "no change"), (1.04, "slower"), (0.96, "faster")] {
        let this: [f64; 12] = std::array::from_fn(|index| OTHER[index] * noise[index] * factor);
        assert_eq!(line(this, OTHER).verdict(), expected, "{factor}");
    }
    let mut this = OTHER.map(|ms| ms * 1.1);
    (this[3], this[7]) = (5.0, 90.0);
    assert_eq!(line(this, OTHER).verdict(), "slower");
    this[8] = 5.0;
    assert_eq!(line(this, OTHER).verdict(), "no change");
    assert_eq!(line([2.0; 11], [1.0; 11]).verdict(), "too few pairs");
    assert_eq!(line([0.002; 12], [0.001; 12]).verdict(), "no change");
}

#[test]
fn the_largest_crowd_is_right_below_its_bound() {
    for (fast, holds, most, expected) in [
        (0, 100, 1000, (1, Bound::OneIsTooSlow)),
        (1, 100, 1000, (1, Bound::Time)),
        (83, 100, 1000, (83, Bound::Time)),
        (100, 83, 1000, (83, Bound::Memory)),
        (100, 0, 1000, (1, Bound::Memory)),
        (5000, 5000, 1000, (1000, Bound::MostInstances)),
    ] {
        let found = largest(most, |instances| {
            Ok(match instances {
                instances if instances > holds => Some(Bound::Memory),
                instances if instances > fast => Some(Bound::Time),
                _ => None,
            })
        });
        assert_eq!(found.unwrap(), expected);
    }
    let (found, _) = largest(1_000_000, |n| Ok((n > 345_678).then_some(Bound::Time))).unwrap();
    assert!((342_000..=345_678).contains(&found), "{found}");
}

#[test]
fn summaries_are_order_statistics() {
    let of = |count: u32| Summary::new((1..=count).rev().map(f64::from).collect());
    let few = |[min, q1, median, q3, max]: [f64; 5]| Summary { min, q1, median, q3, max, p95: None, p99: None };
    let many = few([1.0, 75.0, 150.5, 225.0, 300.0]);
    assert_eq!(of(300), Summary { p95: Some(285.0), p99: Some(297.0), ..many });
    assert_eq!(of(60), Summary { p95: Some(57.0), ..few([1.0, 15.0, 30.5, 45.0, 60.0]) });
    assert_eq!(of(4), few([1.0, 1.0, 2.5, 3.0, 4.0]));
    assert_eq!(of(3), few([1.0, 1.0, 2.0, 3.0, 3.0]));
    assert_eq!(of(1), few([1.0; 5]));
    assert_eq!(of(0), few([0.0; 5]));
}

#[test]
fn rounds_share_all_frames() {
    for (frames, expected) in [(60, vec![10; 6]), (8, vec![1, 1, 2, 1, 1, 2]), (5, vec![1; 5]), (1, vec![1])] {
        let shares = rounds(frames, 3);
        assert_eq!(shares.iter().map(|share| share.frames).collect::<Vec<_>>(), expected);
        let ends = shares.iter().map(|share| share.first_frame + share.frames);
        assert!(shares.iter().skip(1).map(|share| share.first_frame).eq(ends.take(shares.len() - 1)));
    }
}

#[test]
fn long_sweeps_are_planned_at_once_without_duplicates() {
    let list = |most: u32| (1..=most).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    let line =
        format!("throng bench --upload auto,direct --lod-error {},0,-0,0.5,0.50 --threads {}", list(800), list(250));
    let Some(Command::Bench(args)) = Cli::try_parse_from(line.split(' ')).unwrap().command else { panic!("{line}") };
    throng::app::bench::check(&args).unwrap();
    assert_eq!([UploadPath::Direct, UploadPath::Staged].map(|best| rows(&args.sweep, best).len()), [200_500, 401_000]);
}
