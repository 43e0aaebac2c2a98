//! Pseudo-random numbers: xorshift (Marsaglia 2003).

use std::cell::Cell;

/// State of the random numbers of one thread.
#[derive(Debug)]
pub(crate) struct Random(Cell<u64>);

impl Random {
    /// Makes the `nth` sequence; on a simulated machine, one of the machine's seed.
    pub(crate) fn nth(nth: usize) -> Self {
        let number = (nth as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        #[cfg(furcate_sim)]
        let number = furcate_sim::random().unwrap_or(number);
        // An odd number is not 0, and no later state is 0 then.
        Random(Cell::new(number | 1))
    }

    /// Returns a random number below `end`.
    pub(crate) fn below(&self, end: usize) -> usize {
        let mut x = self.0.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0.set(x);
        (x >> 32) as usize % end
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_from_the_first_on() {
        for nth in 0..4 {
            let random = Random::nth(nth);
            let mut counts = [0; 8];
            (0..800).for_each(|_| counts[random.below(8)] += 1);
            assert!(counts.iter().all(|count| (50..200).contains(count)), "{counts:?}");
        }
    }
}
