//! Counts the primes up to a number, segment by segment (classic: segmented sieve of Eratosthenes).

use crate::program::{Program, equal, reads};
use std::ops::Range;

pub(super) const PROGRAM: Program = Program {
    name: "sieve",
    suite: "classic",
    what: "the number of primes up to n",
    unit: "numbers",
    size: 500_000_000,
    quick: 10_000_000,
    schedule: "",
    why: "a tie, because the segments are long and cost about the same",
    source: include_str!("sieve.rs"),
    case: |size| {
        reads(size, [sequential::run, rayon::run, furcate::run], |&n, count| {
            let published = PUBLISHED.iter().find(|(limit, _)| *limit == n);
            equal(count, &published.map_or_else(|| by_a_list(n), |(_, primes)| *primes))
        })
    },
};

/// Published numbers of primes up to a limit.
const PUBLISHED: [(usize, usize); 5] = [
    (1_000_000, 78_498),
    (10_000_000, 664_579),
    (100_000_000, 5_761_455),
    (500_000_000, 26_355_867),
    (1_000_000_000, 50_847_534),
];

/// Counts the primes by a list of all numbers, for the check.
fn by_a_list(n: usize) -> usize {
    let mut is_prime = vec![true; n + 1];
    let primes = (2..=n).filter(|&number| {
        let prime = is_prime[number];
        if prime {
            (number..=n).step_by(number).for_each(|multiple| is_prime[multiple] = false);
        }
        prime
    });
    primes.count()
}

/// The length of a segment, an even number. The flags of a segment fit into a first-level or second-level cache.
const SEGMENT: usize = 1 << 17;

/// Returns a segment of the numbers up to `n`.
fn segment(index: usize, n: usize) -> Range<usize> {
    index * SEGMENT..((index + 1) * SEGMENT).min(n + 1)
}

fn segments(n: usize) -> usize {
    (n + 1).div_ceil(SEGMENT)
}

/// Returns the odd primes whose squares are at most `n`.
fn small_primes(n: usize) -> Vec<usize> {
    let mut primes = Vec::new();
    for odd in (3..=n.isqrt()).step_by(2) {
        if primes.iter().take_while(|&prime| prime * prime <= odd).all(|prime| odd % prime != 0) {
            primes.push(odd);
        }
    }
    primes
}

/// Counts the primes of a segment. There is a flag for each odd number. The flag of 1, which is no prime, counts for the prime 2.
fn count_primes(segment: Range<usize>, small_primes: &[usize]) -> usize {
    let mut is_prime = vec![true; segment.len() / 2];
    for &prime in small_primes.iter().take_while(|&prime| prime * prime < segment.end) {
        let multiple = segment.start.next_multiple_of(prime).max(prime * prime);
        let odd_multiple = if multiple % 2 == 0 { multiple + prime } else { multiple };
        let first = (odd_multiple - segment.start) / 2;
        for index in (first..is_prime.len()).step_by(prime) {
            is_prime[index] = false;
        }
    }
    is_prime.into_iter().filter(|flag| *flag).count()
}

mod sequential {
    use super::{count_primes, segment, segments, small_primes};

    pub(super) fn run(n: &usize) -> usize {
        let primes = small_primes(*n);
        (0..segments(*n)).map(|index| count_primes(segment(index, *n), &primes)).sum()
    }
}

mod rayon {
    use super::{count_primes, segment, segments, small_primes};
    use rayon::prelude::*;

    pub(super) fn run(n: &usize) -> usize {
        let primes = small_primes(*n);
        (0..segments(*n)).into_par_iter().map(|index| count_primes(segment(index, *n), &primes)).sum()
    }
}

mod furcate {
    use super::{count_primes, segment, segments, small_primes};
    use furcate::prelude::*;

    pub(super) fn run(n: &usize) -> usize {
        let primes = small_primes(*n);
        (0..segments(*n)).into_par_iter().map(|index| count_primes(segment(index, *n), &primes)).sum()
    }
}
