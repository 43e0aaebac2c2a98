//! Random numbers that are the same in every run: SplitMix64 (Steele, Lea and Flood).

/// A generator with its state.
#[derive(Clone, Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns the next 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which is not 0. (It is slightly biased, which does not matter here.)
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.bits() % bound
    }
}
