//! Fannkuch-redux: how often must the first n numbers of a deck be turned over, until the first one is 1?
//!
//! Of all permutations of 1 to n, in a given order: the largest number of flips, and a checksum, which adds the flips of
//! even places and subtracts those of odd ones. A permutation follows from the one before in a few moves, but making
//! the i-th one from nothing takes longer. So this is not a fold over items that stand for themselves: a task keeps a
//! permutation, which is made once where it begins. That is what `work` is for (Kvik, Section 3.6.1).

use furcate::prelude::*;
use std::ops::Range;
use std::time::Instant;

/// What a task keeps from one step to the next.
struct Deck {
    n: usize,
    permutation: [u8; 16],
    /// How far the first i + 1 numbers have been rotated.
    rotations: [u8; 16],
    outcome: Outcome,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Outcome {
    checksum: i64,
    max_flips: u32,
}

impl Outcome {
    fn and(self, right: Self) -> Self {
        Outcome { checksum: self.checksum + right.checksum, max_flips: self.max_flips.max(right.max_flips) }
    }
}

impl Deck {
    /// The permutation at a place of the order.
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

    /// Counts the flips of so many permutations from a place on.
    fn flip(&mut self, places: Range<u64>) {
        for place in places {
            let flips = flips(self.permutation);
            let sign = if place % 2 == 0 { 1 } else { -1 };
            let here = Outcome { checksum: sign * i64::from(flips), max_flips: flips };
            self.outcome = self.outcome.and(here);
            self.advance();
        }
    }

    /// Goes on to the next permutation.
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

fn factorial(n: usize) -> u64 {
    (1..=n as u64).product()
}

/// A parallel computation, still without a schedule.
fn fannkuch(n: usize) -> impl ParallelIterator<Item = Outcome> {
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

fn main() {
    let n = std::env::args().nth(1).map_or(9, |n| n.parse().expect("a number"));
    assert!((3..=12).contains(&n), "n is 3 to 12");
    for (n, checksum, max_flips) in [(7, 228, 16), (9, 8629, 30)] {
        let expected = Outcome { checksum, max_flips };
        // Any schedule gives the same.
        assert_eq!(total(fannkuch(n)), expected);
        assert_eq!(total(fannkuch(n).adaptive()), expected);
        assert_eq!(total(fannkuch(n).size_limit(1000).cap(2)), expected);
        assert_eq!(total(fannkuch(n).bound_depth(3).depjoin().by_uniform_blocks(10_000)), expected);
    }

    let result = timed("one task", || total(fannkuch(n).sequential()));
    for depth in [1, 3, 5, 7] {
        let parts = timed(&format!("{} parts", 1 << depth), || total(fannkuch(n).bound_depth(depth)));
        assert_eq!(parts, result);
    }
    assert_eq!(timed("adaptive", || total(fannkuch(n).adaptive())), result);
    println!("{}\nPfannkuchen({n}) = {}", result.checksum, result.max_flips);
}

fn total(parts: impl ParallelIterator<Item = Outcome>) -> Outcome {
    parts.reduce(Outcome::default, Outcome::and)
}

fn timed(name: &str, run: impl Fn() -> Outcome) -> Outcome {
    let start = Instant::now();
    let outcome = run();
    eprintln!("{name}: {:?}", start.elapsed());
    outcome
}
