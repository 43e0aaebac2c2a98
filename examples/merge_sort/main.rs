//! Merge sort under 18 schedules, from one source (Kvik, Section 3.6.1; measured there in Section 4.2).
//!
//! `MergeSort` (in `sort.rs`) is written with furcate's public API and without `unsafe`. It has two levels. The slice is
//! divided into leaves that std sorts; sorted neighbors are merged, each merge in parallel too. The program gives the
//! first level one of three policies and one of two schedulers, and the second one of three schedules. Merges are done
//! by slices and by iterators. All sorts are checked against std's stable sort, and timed against it.
//!
//! Slices have sorts of their own (`par_sort` and similar methods), which take any elements and need no choices. Read this
//! one, measure it, and change it for data that are not in a slice.
//!
//! ```text
//! cargo run --release --example merge_sort -- 10000000
//! ```

#[path = "../common/mod.rs"]
mod common;
mod run;
mod slice_merge;
pub(crate) mod sort;

use clap::Parser;
use common::arguments::Bounds;
use common::output::{grouped, line};
use common::progress::Progress;
use common::table::{Cell, Table as Lines, time};
use common::timing::timed;
use furcate::AnyPlan;
use furcate::prelude::*;
use sort::{MergeBy, MergeSort};
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
    fn measure(&mut self, name: &str, sort_level: &AnyPlan, merge_level: &AnyPlan) {
        let times = [MergeBy::Slices, MergeBy::Iterators].map(|merge_by| {
            let sort = MergeSort { sort_level, merge_level, merge_by };
            let time = self.time(|items| sort.sort_by(items, |a, b| a.0.cmp(&b.0)));
            if time < self.best.0 {
                self.best = (time, format!("{name}, merged by {merge_by:?}"));
            }
            time
        });
        self.print(name, times);
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
    let policies = [
        format!("bound_depth({depth})"),
        format!("join_context_policy({depth})"),
        format!("thief_splitting({})", depth - 1),
    ];
    let plan = |text: &str| text.parse::<AnyPlan>().expect("it names a plan");
    for policy in policies {
        for scheduler in ["join()", "depjoin()"] {
            let sorts = format!("{policy}.{scheduler}");
            for merges in ["adaptive()", "thief_splitting(3)", "sequential()"] {
                table.measure(&format!("{sorts}; {merges}"), &plan(&sorts), &plan(merges));
            }
        }
    }

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
