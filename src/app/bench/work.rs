//! The speed of the machine's processors: a fixed amount of arithmetic on all of them at once.
//!
//! Each turn of a row measures it before its first frame and after its last one. A comparison with another run can then
//! tell a slower program from a slower machine: other processes and lower clock rates slow down both.

use std::hint::black_box;
use std::time::Instant;

/// The steps of each thread. They take about ten milliseconds.
const STEPS: u32 = 4_000_000;

/// Returns the milliseconds until every processor has done its part.
pub(super) fn work_ms() -> f64 {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let started = Instant::now();
    std::thread::scope(|scope| {
        // Without a thread for each processor less is done, which is the same in every run of this machine.
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, steps).ok();
        let started: Vec<_> = (1..threads).map(start).collect();
        steps();
        drop(started);
    });
    started.elapsed().as_secs_f64() * 1e3
}

/// A chain of multiplications and additions. Each step needs the result of the one before it.
fn steps() {
    let mut value = black_box(0.5_f32);
    for _ in 0..STEPS {
        value = value * 0.999 + 0.001;
    }
    black_box(value);
}
