//! Merge sort under 18 schedules, from one source (Kvik, Section 4).
//!
//! `furcate::sort::MergeSort` has two levels. The slice is divided into leaves that std sorts; sorted neighbors are
//! merged, each merge in parallel too. This example gives the first level one of three policies and one of two
//! schedulers, and the second one of three schedules. Merges are done by slices and by iterators. All sorts are checked
//! against std's stable sort, and timed against it.
//!
//! ```text
//! cargo run --release --example merge_sort -- 10000000
//! ```

mod common;

use clap::Parser;
use common::arguments::Bounds;
use common::output::{grouped, line};
use common::progress::Progress;
use common::table::{Cell, Table as Lines, time};
use common::timing::timed;
use furcate::iter::empty;
use furcate::prelude::*;
use furcate::sort::{MergeBy, MergeSort};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

/// Number of times that each sort is timed; the shortest time counts.
const ROUNDS: usize = 3;

/// Eight bytes each, in three copies and a buffer.
const LENGTH: Bounds<usize> = Bounds::new(1, 100_000_000);

/// Sorts pairs by their keys under eighteen schedules, and compares them with the standard library's sort.
#[derive(Parser)]
struct Arguments {
    #[arg(default_value_t = 1_000_000, value_parser = LENGTH.parser(), help = LENGTH.help("Pairs to sort"))]
    length: usize,
}

/// A number with its place, which shows whether equal numbers keep their order.
type Item = (u32, u32);

struct Table {
    items: Vec<Item>,
    sorted: Vec<Item>,
    std: Duration,
    best: (Duration, String),
    lines: Lines,
    progress: Progress,
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
        let mut table = Table {
            items,
            sorted,
            std: Duration::MAX,
            best: (Duration::MAX, String::new()),
            lines: Lines::new(["by slices", "", "by iterators", ""]),
            progress: Progress::new("merge_sort", 20),
        };
        table.std = table.time(|items| items.sort_by_key(|item| item.0));
        table
    }

    /// Returns the time of a sort, which must have the same result as std's.
    fn time(&self, sort: impl Fn(&mut [Item])) -> Duration {
        let run = || {
            let mut items = self.items.clone();
            let ((), elapsed) = timed(|| sort(black_box(&mut items)));
            assert!(items == self.sorted, "the order is not that of std's stable sort");
            elapsed
        };
        (0..ROUNDS).map(|_| run()).min().expect("there are rounds")
    }

    fn print(&mut self, name: &str, times: [Duration; 2]) {
        let [slices, iterators] = times;
        let ratio = |time: Duration| Cell::Ratio(self.std.as_secs_f64() / time.as_secs_f64());
        self.lines.row(name, [Cell::Time(slices), ratio(slices), Cell::Time(iterators), ratio(iterators)]);
        self.progress.step();
    }

    /// Adds a line for a sort that has no choice between slices and iterators.
    fn print_one(&mut self, name: &str, time: Duration) {
        let ratio = Cell::Ratio(self.std.as_secs_f64() / time.as_secs_f64());
        self.lines.row(name, [Cell::Time(time), ratio, Cell::Empty, Cell::Empty]);
        self.progress.step();
    }

    /// Adds a line to the table, for a schedule for each level.
    fn measure(
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
        self.print(name, times);
    }

    /// Measures a scheduler for the sorts, with three schedules for the merges.
    fn by_merges(&mut self, name: &str, sort_level: impl ParallelIterator + Clone + Sync) {
        let it = empty::<()>();
        self.measure(&format!("{name}; adaptive"), &sort_level, it.clone().adaptive());
        self.measure(&format!("{name}; thief_splitting"), &sort_level, it.clone().thief_splitting(3));
        self.measure(&format!("{name}; sequential"), &sort_level, it.sequential());
    }

    /// Measures a policy for the sorts, with two schedulers.
    fn by_schedulers(&mut self, name: &str, policy: impl ParallelIterator + Clone + Sync) {
        self.by_merges(&format!("{name}.join"), policy.clone().join());
        self.by_merges(&format!("{name}.depjoin"), policy.depjoin());
    }
}

fn main() -> ExitCode {
    let Arguments { length } = Arguments::parse();
    let mut table = Table::new(length);
    table.print_one("std's sort", table.std);
    let par_sort = table.time(|items| items.par_sort_by_key(|item| item.0));
    table.print_one("par_sort", par_sort);

    // A few parts per thread: every level is a pass over all the data.
    let depth = (4 * furcate::current_num_threads()).ilog2();
    table.by_schedulers("bound_depth", empty::<()>().bound_depth(depth));
    table.by_schedulers("join_context_policy", empty::<()>().join_context_policy(depth));
    table.by_schedulers("thief_splitting", empty::<()>().thief_splitting(depth - 1));

    let Table { lines, best, std, progress, .. } = table;
    drop(progress);
    line(format_args!(
        "{} pairs, by key; shortest of {ROUNDS} runs, and how many times faster than std\n\n{lines}\n\nbest: {} in {} ({:.2}x)",
        grouped(length),
        best.1,
        time(best.0),
        std.as_secs_f64() / best.0.as_secs_f64()
    ));
    ExitCode::SUCCESS
}
