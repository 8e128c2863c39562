//! Seeded random numbers: the same on every platform, in every build, with any number of threads.

/// The streams of random numbers. Each purpose has its own.
pub(super) mod stream {
    pub const MODELS: u64 = 1;
    pub const PLACEMENTS: u64 = 2;
    pub const PHASES: u64 = 3;
    pub const CLIPS: u64 = 4;
    pub const VARIETY: u64 = 5;
    pub const RINGS: u64 = 6;
}

/// SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014): small, fast, and
/// good with any seed.
#[derive(Debug, Clone)]
pub(super) struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Returns the generator for one purpose. Each purpose has its own stream, so that, for example, a change in the
    /// choice of clips does not move any instance.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mut streams = Self { state: stream };
        Self { state: seed ^ streams.next_u64() }
    }

    fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns an evenly distributed number in [0, 1), in steps of 2^-24.
    pub(super) fn unit(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// Returns an evenly distributed number in [-1, 1).
    pub(super) fn signed_unit(&mut self) -> f32 {
        self.unit() * 2.0 - 1.0
    }

    /// Shuffles by Fisher and Yates. The index is the high half of a product (Lemire, "Fast Random Integer Generation in an
    /// Interval", 2019). Its bias is below 2^-32 for up to 2^32 items.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let choice = (u128::from(self.next_u64()) * (last as u128 + 1)) >> 64;
            items.swap(last, choice as usize);
        }
    }
}
