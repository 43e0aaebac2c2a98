//! The maximum subarray sum, by divide and conquer over pieces (Kvik, Section 3.4).
//!
//! `wrap_iter()` makes a parallel iterator of the *pieces* of any divisible value. Each piece is solved sequentially.
//! Two neighbors are joined by looking at the subarrays that cross their border. The policy, not the algorithm, decides
//! which pieces there are. The scheduler decides which worker joins them, and when.
//!
//! `cargo run --release --example max_subarray -- [LENGTH]` compares schedules on so many numbers.

mod common;

use clap::Parser;
use common::arguments::Bounds;
use common::output::{grouped, line};
use common::progress::Progress;
use common::random::Random;
use common::table::{Cell, Table};
use common::timing::{Times, timed};
use furcate::prelude::*;
use furcate::slice::{SharedPart, fuse_slices};
use std::hint::black_box;
use std::time::Duration;

/// Number of runs of each schedule; the median counts.
const ROUNDS: usize = 7;

/// Four bytes each.
const LENGTH: Bounds<usize> = Bounds::new(1, 500_000_000);

/// Finds the subarray with the greatest sum, under several schedules.
#[derive(Parser)]
struct Arguments {
    #[arg(default_value_t = 10_000_000, value_parser = LENGTH.parser(), help = LENGTH.help("Numbers in the array"))]
    length: usize,
}

/// Kadane's sequential algorithm. The sum of the empty subarray is 0.
fn max_sum_seq(slice: &[i32]) -> i64 {
    let mut best = 0;
    let mut ending_here = 0;
    for &x in slice {
        ending_here = (ending_here + i64::from(x)).max(0);
        best = best.max(ending_here);
    }
    best
}

/// Returns the best sum of a prefix, in parallel. A part's neighbor only needs the part's sum and its best prefix.
fn best_prefix<'a>(items: impl ParallelIterator<Item = &'a i32>) -> i64 {
    let (_sum, best) = items
        .fold(
            || (0, 0),
            |(sum, best): (i64, i64), &x| {
                let sum = sum + i64::from(x);
                (sum, best.max(sum))
            },
        )
        .reduce(
            || (0, 0),
            |(left, left_best), (right, right_best)| (left + right, left_best.max(left + right_best)),
        );
    best
}

/// Returns the best sum of a subarray that crosses the border of two neighbors.
fn middle_sum(left: &[i32], right: &[i32]) -> i64 {
    best_prefix(left.par_iter().rev()) + best_prefix(right.par_iter())
}

/// Divide and conquer: parts are divided, solved, and fused again.
fn max_sum(data: &[i32]) -> i64 {
    // Each level of divisions costs another pass over its borders. So there are few levels, and more only for thieves.
    best_of(SharedPart::new(data).wrap_iter().thief_splitting(1))
}

/// Returns the best sum of parts, under their own schedule.
fn best_of<'a>(parts: impl ParallelIterator<Item = SharedPart<'a, i32>>) -> i64 {
    parts
        .map(|part| (part, max_sum_seq(&part)))
        .reduce_with(|(left, a), (right, b)| {
            let middle = middle_sum(&left, &right);
            (fuse_slices(left, right), a.max(b).max(middle))
        })
        .map_or(0, |(_, best)| best)
}

/// The facts about a part that its neighbors need, so that its items are not looked at again.
#[derive(Clone, Copy, Debug, Default)]
struct Summary {
    sum: i64,
    best: i64,
    best_prefix: i64,
    best_suffix: i64,
}

impl Summary {
    /// Adds one item at the end.
    fn push(self, x: i32) -> Self {
        let x = i64::from(x);
        let (sum, best_suffix) = (self.sum + x, (self.best_suffix + x).max(0));
        let (best, best_prefix) = (self.best.max(best_suffix), self.best_prefix.max(sum));
        Summary { sum, best, best_prefix, best_suffix }
    }

    /// Joins two neighbors.
    fn and(self, right: Self) -> Self {
        Summary {
            sum: self.sum + right.sum,
            best: self.best.max(right.best).max(self.best_suffix + right.best_prefix),
            best_prefix: self.best_prefix.max(self.sum + right.best_prefix),
            best_suffix: right.best_suffix.max(self.best_suffix + right.sum),
        }
    }
}

/// Solves the problem in one pass. Joining summaries costs next to nothing, so any number of pieces is fine, also the
/// steps of `adaptive`.
fn max_sum_one_pass<'a>(pieces: impl ParallelIterator<Item = &'a [i32]>) -> i64 {
    pieces
        .map(|piece| piece.iter().fold(Summary::default(), |summary, &x| summary.push(x)))
        .reduce(Summary::default, Summary::and)
        .best
}

fn main() {
    let Arguments { length } = Arguments::parse();
    let small = [-2, 1, -3, 4, -1, 2, 1, -5, 4];
    assert_eq!(max_sum(&small), 6);
    assert_eq!(max_sum_one_pass(small.wrap_iter().force_depth(9)), 6);

    let progress = Progress::new("max_subarray", 8);
    let mut random = Random(1);
    let data: Vec<i32> = (0..length).map(|_| random.below(32) as i32 - 16).collect();
    let data = &data[..];
    progress.step();

    let (expected, sequential) = median(|| max_sum_seq(black_box(data)));
    progress.step();
    let mut table = Table::new(["time"]);
    table.row("sequential (Kadane, one pass)", [Cell::Time(sequential)]);

    let parts = || SharedPart::new(black_box(data)).wrap_iter();
    let pieces = || black_box(data).wrap_iter();
    let mut row = |name: &str, (found, time): (i64, Duration)| {
        assert_eq!(found, expected);
        table.row(name, [Cell::Time(time)]);
        progress.step();
    };
    row("parts: .thief_splitting(1)", median(|| max_sum(black_box(data))));
    row("parts: .thief_splitting(1).depjoin()", median(|| best_of(parts().thief_splitting(1).depjoin())));
    row("parts: .bound_depth(3)", median(|| best_of(parts().bound_depth(3))));
    row("summaries: the default", median(|| max_sum_one_pass(pieces())));
    row(
        "summaries: .bound_depth(3).depjoin()",
        median(|| max_sum_one_pass(pieces().bound_depth(3).depjoin())),
    );
    row("summaries: .adaptive()", median(|| max_sum_one_pass(pieces().adaptive())));
    drop(progress);
    line(format_args!(
        "the best subarray of {} numbers sums to {}\n\n{table}",
        grouped(length),
        grouped(expected)
    ));
    line("\nParts are fused with another pass over each level of borders; summaries are joined in one pass.");
}

/// Returns the result of several runs, and their median time.
fn median(run: impl Fn() -> i64) -> (i64, Duration) {
    let (results, times): (Vec<i64>, Vec<Duration>) = (0..ROUNDS).map(|_| timed(&run)).unzip();
    (results[0], Times::new(times).median())
}
