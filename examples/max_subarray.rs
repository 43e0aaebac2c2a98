//! The maximum subarray sum, by divide and conquer over pieces (Kvik's Section 3.6).
//!
//! `wrap_iter()` makes a parallel iterator of the *pieces* of anything divisible. Each piece is solved sequentially;
//! two neighbours are joined by looking at the subarrays that cross their border. Which pieces there are is the
//! policy's business, not the algorithm's.

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

fn max_sum(data: &[i32]) -> i64 {
    Window::new(data)
        .wrap_iter()
        .map(|window| {
            let best = max_sum_seq(window.slice());
            (window, best)
        })
        // Each level of divisions costs another pass over its borders: few levels, and more only for thieves.
        .thief_splitting(1)
        .reduce_with(|(left, a), (right, b)| {
            let middle = middle_sum(&left, &right);
            (left.fuse(right), a.max(b).max(middle))
        })
        .map_or(0, |(_, best)| best)
}

fn main() {
    assert_eq!(max_sum(&[-2, 1, -3, 4, -1, 2, 1, -5, 4]), 6);

    // A multiplicative generator: the same data in every run.
    let mut state = 88_172_645_463_325_252_u64;
    let data: Vec<i32> = (0..10_000_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 59) as i32 - 16
        })
        .collect();

    let (expected, sequential) = median(|| max_sum_seq(black_box(&data)));
    let (found, parallel) = median(|| max_sum(black_box(&data)));
    assert_eq!(found, expected);
    println!("the best subarray of {} numbers sums to {found}", data.len());
    println!("sequential (Kadane, one pass) {sequential:.1?}");
    println!("divide and conquer over pieces (another pass for each level of borders) {parallel:.1?}");
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
