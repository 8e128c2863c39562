//! The models and the timing of all benchmarks. The models are the bundled walker and, if `THRONG_SAMPLE_MODELS` names
//! their folder, some real ones.

use std::path::{Path, PathBuf};
use std::time::Instant;

const SAMPLES: [&str; 4] =
    ["Fox/Fox.glb", "CesiumMan/CesiumMan.glb", "KayKit_Knight/Knight.glb", "Mannequiny/mannequiny.glb"];

/// Returns the files of the models.
pub fn model_paths() -> Vec<PathBuf> {
    let walker = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/walker.glb");
    let samples = std::env::var_os("THRONG_SAMPLE_MODELS").map(PathBuf::from);
    let samples = samples.iter().flat_map(|folder| SAMPLES.map(|sample| folder.join(sample)));
    std::iter::once(walker).chain(samples).collect()
}

/// Returns whether this run measures (`cargo bench`) rather than only tests the benchmark (`cargo test`).
#[allow(dead_code, reason = "not every benchmark compares")]
pub fn measures() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// Returns the nanoseconds that `job` takes.
#[allow(dead_code, reason = "not every benchmark compares")]
pub fn timed_ns(job: impl FnOnce()) -> f64 {
    let started = Instant::now();
    job();
    started.elapsed().as_secs_f64() * 1e9
}

/// Calls the contestants in turns, because machines drift, and returns the median of the times that each returns.
#[allow(dead_code, reason = "not every benchmark compares")]
pub fn interleaved<const N: usize>(mut contestants: [&mut dyn FnMut() -> f64; N]) -> [f64; N] {
    const ROUNDS: usize = 101;
    let mut samples = [const { Vec::new() }; N];
    for _ in 0..ROUNDS {
        for (contestant, samples) in contestants.iter_mut().zip(&mut samples) {
            samples.push(contestant());
        }
    }
    samples.map(|mut samples| {
        samples.sort_by(f64::total_cmp);
        samples[ROUNDS / 2]
    })
}
