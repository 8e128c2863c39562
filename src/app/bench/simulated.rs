//! A simulated machine, for the tests of the search for the largest crowd.

use super::fit::{Effort, Machine};

/// Numbers without a pattern, from 0 to 1: the Lehmer generator of Park and Miller.
pub(super) struct Lehmer(u64);

impl Lehmer {
    pub(super) fn new(seed: u64) -> Self {
        Self((seed + 1) * 7919)
    }

    fn unit(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 0x7fff_ffff;
        self.0 as f64 / f64::from(0x7fff_ffff)
    }
}

/// A machine whose frames take `fixed + each × instances`, with noise.
pub(super) struct Simulated {
    pub(super) fixed_ms: f64,
    pub(super) each_ms: f64,
    /// A crowd of twice this size takes more than twice the time, as beyond a cache.
    pub(super) knee: f64,
    pub(super) holds: u32,
    /// The largest relative error of a full measurement. Quick ones have three times as much.
    pub(super) noise: f64,
    pub(super) random: Lehmer,
    /// The instances and efforts of all measurements.
    pub(super) tried: Vec<(u32, Effort)>,
}

impl Simulated {
    pub(super) fn new(fixed_ms: f64, each_ms: f64) -> Self {
        let (knee, holds, noise) = (f64::INFINITY, u32::MAX, 0.0);
        Self { fixed_ms, each_ms, knee, holds, noise, random: Lehmer::new(1), tried: Vec::new() }
    }

    pub(super) fn true_ms(&self, instances: u32) -> f64 {
        let count = f64::from(instances);
        self.fixed_ms + self.each_ms * (count + (count - self.knee).max(0.0) * 0.5)
    }
}

impl Machine for Simulated {
    type Error = String;

    fn holds(&mut self, instances: u32) -> Result<bool, String> {
        Ok(instances <= self.holds)
    }

    fn frame_ms(&mut self, instances: u32, effort: Effort) -> Result<f64, String> {
        assert!(instances >= 1 && instances <= self.holds, "{instances}");
        self.tried.push((instances, effort));
        let factor = if effort == Effort::Quick { 3.0 } else { 1.0 };
        let error = (self.random.unit() * 2.0 - 1.0) * self.noise * factor;
        Ok(self.true_ms(instances) * (1.0 + error))
    }
}
