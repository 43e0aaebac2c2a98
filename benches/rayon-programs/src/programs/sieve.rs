//! Primes by Eratosthenes, over chunks that fit into a cache.

use crate::{Case, Size};
use rayon::prelude::*;

const CHUNK: usize = 1 << 16;

pub(super) fn sieve(size: Size) -> Case {
    let limit: usize = size.pick(60_000_000, 100_000);
    Case::of(in_turn(limit), move || in_chunks(limit))
}

/// Entry `i` stands for the odd number 2 i + 1. How many primes there are below the limit.
fn in_turn(limit: usize) -> usize {
    let mut is_prime = vec![true; limit / 2];
    is_prime[0] = false;
    let mut i = 1;
    while (2 * i + 1) * (2 * i + 1) < limit {
        if is_prime[i] {
            let prime = 2 * i + 1;
            is_prime[prime * prime / 2..].iter_mut().step_by(prime).for_each(|entry| *entry = false);
        }
        i += 1;
    }
    1 + is_prime.iter().filter(|entry| **entry).count()
}

fn in_chunks(limit: usize) -> usize {
    let root = (limit as f64).sqrt() as usize + 1;
    let small: Vec<usize> =
        (3..=root).step_by(2).filter(|n| (3..*n).take_while(|d| d * d <= *n).all(|d| n % d > 0)).collect();
    let mut is_prime = vec![true; limit / 2];
    is_prime[0] = false;
    is_prime.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, entries)| {
        let first = chunk * CHUNK;
        for &prime in &small {
            let square = prime * prime / 2;
            // The first odd multiple at or behind the chunk's first entry.
            let start =
                if square >= first { square - first } else { (prime - (first - square) % prime) % prime };
            if start < entries.len() {
                entries[start..].iter_mut().step_by(prime).for_each(|entry| *entry = false);
            }
        }
    });
    1 + is_prime.par_iter().filter(|entry| **entry).count()
}
