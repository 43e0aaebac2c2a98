//! The maximum subarray sum, by divide and conquer over pieces (Kvik's Section 3.6).
//!
//! `wrap_iter()` makes a parallel iterator of the *pieces* of anything divisible. Each piece is solved sequentially;
//! two neighbours are joined by looking at the subarrays that cross their border. Which pieces there are is the
//! policy's business, not the algorithm's; who joins them, and when, is the scheduler's.

use furcate::prelude::*;
use std::hint::black_box;
use std::ops::Range;
use std::time::{Duration, Instant};

/// A part of the data that knows its neighbours: cutting it cuts the range.
#[derive(Clone, Debug, Divisible)]
struct Window<'a> {
    #[divide_by(clone)]
    data: &'a [i32],
    range: Range<usize>,
}

impl<'a> Window<'a> {
    fn new(data: &'a [i32]) -> Self {
        Window { data, range: 0..data.len() }
    }

    fn slice(&self) -> &'a [i32] {
        &self.data[self.range.clone()]
    }

    /// Two neighbours as one.
    fn fuse(self, right: Self) -> Self {
        assert_eq!(self.range.end, right.range.start, "only neighbours can be fused");
        Window { data: self.data, range: self.range.start..right.range.end }
    }
}

/// Kadane's sequential algorithm; the empty subarray counts 0.
fn max_sum_seq(slice: &[i32]) -> i64 {
    let mut best = 0;
    let mut ending_here = 0;
    for &x in slice {
        ending_here = (ending_here + i64::from(x)).max(0);
        best = best.max(ending_here);
    }
    best
}

/// The best sum of a prefix, in parallel: a part's sum and its best prefix are all that a neighbour needs to know.
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

/// The best sum of a subarray that crosses the border of two neighbours.
fn middle_sum(left: &Window<'_>, right: &Window<'_>) -> i64 {
    best_prefix(left.slice().par_iter().rev()) + best_prefix(right.slice().par_iter())
}

/// Divide and conquer: windows are divided, solved, and fused again.
fn max_sum(data: &[i32]) -> i64 {
    // Each level of divisions costs another pass over its borders: few levels, and more only for thieves.
    best_of(Window::new(data).wrap_iter().thief_splitting(1))
}

/// The best sum of windows, under the schedule that they come with.
fn best_of<'a>(windows: impl ParallelIterator<Item = Window<'a>>) -> i64 {
    windows
        .map(|window| {
            let best = max_sum_seq(window.slice());
            (window, best)
        })
        .reduce_with(|(left, a), (right, b)| {
            let middle = middle_sum(&left, &right);
            (left.fuse(right), a.max(b).max(middle))
        })
        .map_or(0, |(_, best)| best)
}

/// All that neighbours need to know of a part, so that nobody has to look at its items again.
#[derive(Clone, Copy, Debug, Default)]
struct Summary {
    sum: i64,
    best: i64,
    best_prefix: i64,
    best_suffix: i64,
}

impl Summary {
    /// One item more at the end.
    fn push(self, x: i32) -> Self {
        let x = i64::from(x);
        let (sum, best_suffix) = (self.sum + x, (self.best_suffix + x).max(0));
        let (best, best_prefix) = (self.best.max(best_suffix), self.best_prefix.max(sum));
        Summary { sum, best, best_prefix, best_suffix }
    }

    /// Two neighbours as one.
    fn and(self, right: Self) -> Self {
        Summary {
            sum: self.sum + right.sum,
            best: self.best.max(right.best).max(self.best_suffix + right.best_prefix),
            best_prefix: self.best_prefix.max(self.sum + right.best_prefix),
            best_suffix: right.best_suffix.max(self.best_suffix + right.sum),
        }
    }
}

/// In one pass. Joining summaries costs next to nothing, so any number of pieces will do, the steps of `adaptive` too.
fn max_sum_one_pass<'a>(pieces: impl ParallelIterator<Item = &'a [i32]>) -> i64 {
    pieces
        .map(|piece| piece.iter().fold(Summary::default(), |summary, &x| summary.push(x)))
        .reduce(Summary::default, Summary::and)
        .best
}

fn main() {
    let small = [-2, 1, -3, 4, -1, 2, 1, -5, 4];
    assert_eq!(max_sum(&small), 6);
    assert_eq!(max_sum_one_pass(small.wrap_iter().force_depth(9)), 6);

    // A multiplicative generator: the same data in every run.
    let mut state = 88_172_645_463_325_252_u64;
    let data: Vec<i32> = (0..10_000_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 59) as i32 - 16
        })
        .collect();
    let data = &data[..];

    let (expected, sequential) = median(|| max_sum_seq(black_box(data)));
    println!("the best subarray of {} numbers sums to {expected}", data.len());
    println!("{:<60}{sequential:>10.1?}", "sequential (Kadane, one pass)");

    let windows = || Window::new(black_box(data)).wrap_iter();
    let pieces = || black_box(data).wrap_iter();
    let report = |name: &str, (found, time): (i64, Duration)| {
        assert_eq!(found, expected);
        println!("{name:<60}{time:>10.1?}");
    };
    println!("\nwindows that are fused: another pass for each level of borders");
    report(".thief_splitting(1)", median(|| max_sum(black_box(data))));
    report(".thief_splitting(1).depjoin()", median(|| best_of(windows().thief_splitting(1).depjoin())));
    report(".bound_depth(3)", median(|| best_of(windows().bound_depth(3))));
    println!("\nsummaries that are joined: one pass");
    report("the default", median(|| max_sum_one_pass(pieces())));
    report(".bound_depth(3).depjoin()", median(|| max_sum_one_pass(pieces().bound_depth(3).depjoin())));
    report(".adaptive()", median(|| max_sum_one_pass(pieces().adaptive())));
}

/// The median time of some runs, and their result.
fn median(run: impl Fn() -> i64) -> (i64, Duration) {
    let mut times = Vec::new();
    let mut result = 0;
    for _ in 0..7 {
        let start = Instant::now();
        result = black_box(run());
        times.push(start.elapsed());
    }
    times.sort();
    (result, times[3])
}
