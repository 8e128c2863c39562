//! Properties: what must hold for every clip, tree, vertex and number, tried on random ones.
//!
//! The same ones in every run: a test that fails now and then is of no use to whoever changed something else. For
//! others set `PROPTEST_RNG_SEED`, for more `PROPTEST_CASES`. Fuzzing looks for what nobody thought of: fuzz/README.md.

mod accessors;
#[path = "../import/builder.rs"]
#[allow(dead_code, reason = "the tests of import use the rest of it")]
mod builder;
mod hierarchy;
mod lanes;
#[path = "../../fuzz/src/reference.rs"]
mod reference;
mod sampling;
mod skinning;

use proptest::test_runner::{Config, RngSeed};

/// What every property here is tried with.
fn config() -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(20_261);
    }
    config
}
