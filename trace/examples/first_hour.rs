//! The program of the book's first hour: a list of numbers, nearly all of which are cheap to factor.
//!
//! `cargo run --release -p furcate-trace --example first_hour -- [loop | adaptive | size_limit]` runs a loop,
//! or the chain with this word, or without another word. With `FURCATE_TRACE=trace.json` the program leaves the trace that the book's pictures are drawn from.

use furcate::prelude::*;
use std::time::Instant;

/// Returns the smallest factor of `n`, which is `n` itself if `n` is prime.
fn smallest_factor(n: u64) -> u64 {
    let mut d = 2;
    while d * d <= n {
        if n % d == 0 {
            return d;
        }
        d += 1;
    }
    n
}

/// 4000 numbers. 16 of them, next to each other, are primes of thirteen digits.
fn numbers() -> Vec<u64> {
    (0..4000).map(|i| if (2600..2616).contains(&i) { 9_999_999_999_971 } else { 1000 + i }).collect()
}

fn main() {
    let numbers = numbers();
    let word = std::env::args().nth(1);
    let start = Instant::now();
    let sum: u64 = match word.as_deref() {
        None => numbers.par_iter().map(|&n| smallest_factor(n)).sum(),
        Some("adaptive") => numbers.par_iter().map(|&n| smallest_factor(n)).adaptive().sum(),
        Some("size_limit") => numbers.par_iter().map(|&n| smallest_factor(n)).size_limit(1).sum(),
        Some("loop") => numbers.iter().map(|&n| smallest_factor(n)).sum(),
        Some(other) => panic!(
            "`{other}` is no schedule of this example: write `loop`, `adaptive`, `size_limit`, or nothing"
        ),
    };
    println!("{sum} in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
}
