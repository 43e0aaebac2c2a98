//! Fannkuch-redux: how often must the first n numbers of a deck be turned over, until the first one is 1?
//!
//! Of all permutations of 1 to n, in a given order: the largest number of flips, and a checksum; see [`deck`]. Any
//! schedule gives the same outcome, and takes its own time.

mod deck;

use deck::{Outcome, fannkuch, total};
use furcate::prelude::*;
use std::time::Instant;

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

fn timed(name: &str, run: impl Fn() -> Outcome) -> Outcome {
    let start = Instant::now();
    let outcome = run();
    eprintln!("{name}: {:?}", start.elapsed());
    outcome
}
