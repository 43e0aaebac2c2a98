//! The random numbers of the NAS parallel benchmarks (NASA reports RNR-94-007 and NAS-95-020).

/// The multiplier of the generator: 5^13.
const MULTIPLIER: u64 = 1_220_703_125;

/// The generator computes modulo 2^46.
const MODULUS: u64 = 1 << 46;

/// The seed of most of the benchmarks.
pub const SEED: u64 = 314_159_265;

/// A linear congruential generator: each state is the one before, times 5^13 modulo 2^46.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    state: u64,
}

impl Generator {
    /// Makes a generator. Its first number is the one after the seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next number, between 0 and 1.
    pub fn draw(&mut self) -> f64 {
        self.state = product(self.state, MULTIPLIER);
        self.state as f64 / MODULUS as f64
    }

    /// Skips `count` numbers, in a time that grows with the logarithm of `count`.
    #[must_use]
    pub fn skip(mut self, mut count: u64) -> Self {
        let mut power = MULTIPLIER;
        while count > 0 {
            if count % 2 == 1 {
                self.state = product(self.state, power);
            }
            power = product(power, power);
            count /= 2;
        }
        self
    }
}

/// Returns the product modulo 2^46. The 64-bit product may wrap, because 2^46 divides 2^64.
fn product(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) % MODULUS
}
