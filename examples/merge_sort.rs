//! Merge sort under 18 schedules, from one source (Kvik, Section 4).
//!
//! `furcate::sort::MergeSort` has two levels: the slice is divided into leaves that std sorts; sorted neighbours are
//! merged, each merge in parallel too. Here the first level has one of three policies and one of two schedulers, and the
//! second one of three schedules; merges are done by slices and by iterators. All are checked against std's stable
//! sort, and timed against it.
//!
//! ```text
//! cargo run --release --example merge_sort -- 10000000
//! ```

use furcate::iter::empty;
use furcate::prelude::*;
use furcate::sort::{MergeBy, MergeSort};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Each sort is timed so many times; the shortest time counts.
const ROUNDS: usize = 3;

/// Numbers with their places: whether equal ones keep their order can be seen.
type Item = (u32, u32);

struct Table {
    items: Vec<Item>,
    sorted: Vec<Item>,
    std: Duration,
    best: (Duration, String),
}

impl Table {
    fn new(n: usize) -> Self {
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // Some keys are equal.
            (state >> 32) as u32 % (n as u32).max(1)
        };
        let items: Vec<Item> = (0..n as u32).map(|place| (next(), place)).collect();
        let mut sorted = items.clone();
        sorted.sort_by_key(|item| item.0);
        let mut table = Table { items, sorted, std: Duration::MAX, best: (Duration::MAX, String::new()) };
        table.std = table.time(|items| items.sort_by_key(|item| item.0));
        table
    }

    /// The time of a sort, which must do as std does.
    fn time(&self, sort: impl Fn(&mut [Item])) -> Duration {
        let run = || {
            let mut items = self.items.clone();
            let start = Instant::now();
            sort(black_box(&mut items));
            let elapsed = start.elapsed();
            assert!(items == self.sorted, "not as std sorts");
            elapsed
        };
        (0..ROUNDS).map(|_| run()).min().expect("there are rounds")
    }

    fn print(&self, name: &str, times: &[Duration]) {
        print!("{name:48}");
        for time in times {
            let ratio = self.std.as_secs_f64() / time.as_secs_f64();
            print!("{:9.1} ms {ratio:5.2}x", time.as_secs_f64() * 1e3);
        }
        println!();
    }

    /// A line of the table: a schedule for each level.
    fn line(
        &mut self,
        name: &str,
        sort_level: &(impl ParallelIterator + Clone + Sync),
        merge_level: impl ParallelIterator + Clone + Sync,
    ) {
        let sort = MergeSort::new().sort_level(|_| sort_level.clone()).merge_level(|_| merge_level);
        let times = [MergeBy::Slices, MergeBy::Iterators].map(|merge_by| {
            let sort = sort.clone().merge_by(merge_by);
            let time = self.time(|items| sort.sort_by_key(items, |item| item.0));
            if time < self.best.0 {
                self.best = (time, format!("{name}, merged by {merge_by:?}"));
            }
            time
        });
        self.print(name, &times);
    }

    /// A scheduler for the sorts, with three schedules for the merges.
    fn by_merges(&mut self, name: &str, sort_level: impl ParallelIterator + Clone + Sync) {
        let it = empty::<()>();
        self.line(&format!("{name}; adaptive"), &sort_level, it.clone().adaptive());
        self.line(&format!("{name}; thief_splitting"), &sort_level, it.clone().thief_splitting(3));
        self.line(&format!("{name}; sequential"), &sort_level, it.sequential());
    }

    /// A policy for the sorts, with two schedulers.
    fn by_schedulers(&mut self, name: &str, policy: impl ParallelIterator + Clone + Sync) {
        self.by_merges(&format!("{name}.join"), policy.clone().join());
        self.by_merges(&format!("{name}.depjoin"), policy.depjoin());
    }
}

fn main() {
    let n = std::env::args().nth(1).map_or(1_000_000, |n| n.parse().expect("a number"));
    let mut table = Table::new(n);
    println!("{n} pairs, by key; shortest of {ROUNDS} runs, and how many times faster than std");
    table.print("std's sort", &[table.std]);
    let par_sort = table.time(|items| items.par_sort_by_key(|item| item.0));
    table.print("par_sort", &[par_sort]);
    println!("{:48}{:>19}{:>19}", "sorts; merges", "by slices", "by iterators");

    // A few parts per thread: every level is a pass over all the data.
    let depth = (4 * furcate::current_num_threads()).ilog2();
    table.by_schedulers("bound_depth", empty::<()>().bound_depth(depth));
    table.by_schedulers("join_context_policy", empty::<()>().join_context_policy(depth));
    table.by_schedulers("thief_splitting", empty::<()>().thief_splitting(depth - 1));

    println!("best: {} ({:.2}x)", table.best.1, table.std.as_secs_f64() / table.best.0.as_secs_f64());
}
