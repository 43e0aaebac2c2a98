//! Inputs that are the same in every run.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Between 0 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn numbers(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.next()).collect()
    }

    /// Lines of words that are made of syllables.
    #[cfg(any(feature = "registry", feature = "large"))]
    pub(crate) fn lines(&mut self, count: usize) -> Vec<String> {
        const SYLLABLES: [&str; 16] = [
            "ba", "ke", "di", "lo", "mu", "nar", "pel", "sti", "tro", "un", "ver", "wa", "ex", "ry", "zim",
            "tion",
        ];
        let mut word = || -> String {
            let syllables = 1 + self.below(4);
            // Squares of small numbers make some syllables frequent.
            (0..syllables).map(|_| SYLLABLES[(self.below(4) * self.below(6)) as usize]).collect()
        };
        (0..count).map(|_| (0..30).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
    }
}

/// Some nanoseconds of computing.
#[inline]
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// `rounds` times some nanoseconds.
#[inline]
pub(crate) fn mix_often(x: u64, rounds: u32) -> u64 {
    (0..rounds).fold(x, |x, _| mix(x.wrapping_add(1)))
}
