//! The decks of fannkuch-redux, and the computation over all of them.
//!
//! The checksum adds the flips of permutations at even places and subtracts those at odd ones. A permutation follows
//! from the one before in a few moves, but computing the i-th one from scratch takes longer. So this is not a fold over
//! independent items: a task keeps a permutation, which is computed once at the beginning of the task. `work` is made
//! for such tasks (Kvik, Section 3.6.1).

use furcate::prelude::*;
use std::ops::Range;

/// State that a task keeps from one step to the next.
struct Deck {
    n: usize,
    permutation: [u8; 16],
    /// Number of rotations of the first i + 1 numbers.
    rotations: [u8; 16],
    outcome: Outcome,
}

/// The result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) checksum: i64,
    pub(crate) max_flips: u32,
}

impl Outcome {
    /// Combines the outcomes of two parts of the order.
    pub(crate) fn and(self, right: Self) -> Self {
        Outcome { checksum: self.checksum + right.checksum, max_flips: self.max_flips.max(right.max_flips) }
    }
}

impl Deck {
    /// Makes the deck with the permutation at a place of the order.
    fn at(n: usize, place: u64) -> Self {
        let mut deck = Deck { n, permutation: [0; 16], rotations: [0; 16], outcome: Outcome::default() };
        for (number, slot) in (0_u8..).zip(&mut deck.permutation) {
            *slot = number;
        }
        let (mut rest, mut of_smaller) = (place, factorial(n));
        for i in (1..n).rev() {
            of_smaller /= i as u64 + 1;
            let rotated = (rest / of_smaller) as usize;
            rest %= of_smaller;
            deck.rotations[i] = rotated as u8;
            deck.permutation[..=i].rotate_left(rotated);
        }
        deck
    }

    /// Counts the flips of the permutations at a range of places.
    fn flip(&mut self, places: Range<u64>) {
        for place in places {
            let flips = flips(self.permutation);
            let sign = if place % 2 == 0 { 1 } else { -1 };
            let here = Outcome { checksum: sign * i64::from(flips), max_flips: flips };
            self.outcome = self.outcome.and(here);
            self.advance();
        }
    }

    /// Moves on to the next permutation.
    fn advance(&mut self) {
        for i in 1..self.n {
            self.permutation[..=i].rotate_left(1);
            self.rotations[i] += 1;
            if usize::from(self.rotations[i]) <= i {
                return;
            }
            self.rotations[i] = 0;
        }
    }
}

fn flips(mut permutation: [u8; 16]) -> u32 {
    let mut flips = 0;
    loop {
        let first = usize::from(permutation[0]);
        if first == 0 {
            return flips;
        }
        permutation[..=first].reverse();
        flips += 1;
    }
}

/// Computes one of several parts of the same length without a schedule: one deck, in one loop.
#[allow(dead_code, reason = "what the parallel ones are measured against")]
pub(crate) fn in_one_loop(n: usize, part: u64, parts: u64) -> Outcome {
    let cut = |part| (u128::from(factorial(n)) * u128::from(part) / u128::from(parts)) as u64;
    let mut deck = Deck::at(n, cut(part));
    deck.flip(cut(part)..cut(part + 1));
    deck.outcome
}

fn factorial(n: usize) -> u64 {
    (1..=n as u64).product()
}

/// Makes a parallel computation, still without a schedule.
pub(crate) fn fannkuch(n: usize) -> impl ParallelIterator<Item = Outcome> {
    (0..factorial(n)).work(
        move |places| Deck::at(n, places.start),
        |deck, places, count| {
            let end = places.end.min(places.start.saturating_add(count as u64));
            deck.flip(places.start..end);
            places.start = end;
        },
        |deck| deck.outcome,
    )
}

/// Runs the computation.
pub(crate) fn total(parts: impl ParallelIterator<Item = Outcome>) -> Outcome {
    parts.reduce(Outcome::default, Outcome::and)
}
