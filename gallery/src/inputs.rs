//! Inputs: the same ones in each run, by a seed.

use fastrand::Rng;

/// Returns numbers below a bound; small ones are more frequent (their density is that of a product of two random numbers).
#[must_use]
pub fn skewed_numbers(count: usize, bound: u32) -> Vec<u32> {
    let mut random = Rng::with_seed(1);
    (0..count).map(|_| (random.f64() * random.f64() * f64::from(bound)) as u32).collect()
}
