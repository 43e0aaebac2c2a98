//! A needle in a haystack: `find_first` and `all`, sequentially, with rayon, and under several schedules.
//!
//! `cargo run --release --example find_first -- [POSITION [LENGTH]]` hides a needle at a position (by default just before
//! the middle) and one at the very end. Each contender looks for the first needle. The table shows the time, and the
//! number of items that the contender looks at. A position behind the end hides no needle.

mod common;

use clap::Parser;
use common::arguments::Bounds;
use common::output::{grouped, line};
use common::progress::Progress;
use common::table::{Cell, Table};
use furcate::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

const NEEDLE: u32 = 7;

/// Number of searches of each contender; the median counts.
const ROUNDS: usize = 9;

/// Four bytes each.
const LENGTH: Bounds<usize> = Bounds::new(1, 500_000_000);
const POSITION: Bounds<usize> = Bounds::new(0, 500_000_000);

/// Searches a needle in a haystack, in a loop, with rayon, and under several schedules.
#[derive(Parser)]
struct Arguments {
    #[arg(value_parser = POSITION.parser(),
          help = POSITION.help("Position of the first needle, or one behind the end [default: before the middle]"))]
    position: Option<usize>,

    #[arg(default_value_t = 2_000_000, value_parser = LENGTH.parser(), help = LENGTH.help("Items of the haystack"))]
    length: usize,
}

/// Items that are not needles, except the one at `position` and the last one. A `position` behind the end hides none.
fn haystack(len: usize, position: usize) -> Vec<u32> {
    let mut items: Vec<u32> = (0..len).into_par_iter().map(|i| NEEDLE + 1 + (i % 1000) as u32).collect();
    if position < len {
        items[position] = NEEDLE;
        items[len - 1] = NEEDLE;
    }
    items
}

/// Finds the first needle. The schedule can be named anywhere: here it comes with the items.
fn first<'a>(items: impl ParallelIterator<Item = &'a u32>) -> Option<&'a u32> {
    items.find_first(|&&item| item == NEEDLE)
}

/// Whether no item is a needle.
fn only_hay<'a>(items: impl ParallelIterator<Item = &'a u32>) -> bool {
    items.all(|&item| item != NEEDLE)
}

fn main() {
    let Arguments { position, length } = Arguments::parse();
    let position = position.unwrap_or(length.saturating_sub(2) / 2);

    let progress = Progress::new("find_first", 6);
    let items = haystack(length, position);
    let (v, needle) = (&items[..], items.get(position));
    match needle {
        Some(_) => {
            line(format_args!("the first needle is at {} of {} items\n", grouped(position), grouped(length)))
        }
        None => line(format_args!("there is no needle among {} items\n", grouped(length))),
    }

    let rayon = {
        use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
        let looks = |count: &AtomicUsize| {
            IntoParallelRefIterator::par_iter(v).inspect(|_| add(count)).find_first(|&&x| x == NEEDLE);
        };
        Row {
            first: timed(|| IntoParallelRefIterator::par_iter(v).find_first(|&&x| x == NEEDLE)),
            all: timed(|| IntoParallelRefIterator::par_iter(v).all(|&x| x != NEEDLE)),
            looks: counted(looks),
        }
    };
    let sequential = Row {
        first: timed(|| v.iter().find(|&&x| x == NEEDLE)),
        all: timed(|| v.iter().all(|&x| x != NEEDLE)),
        looks: (position + 1).min(length),
    };
    /// The same searches under another schedule.
    macro_rules! scheduled {
        ($($schedule:tt)*) => {
            {
                progress.step();
                Row {
                first: timed(|| first(v.par_iter()$($schedule)*)),
                all: timed(|| only_hay(v.par_iter()$($schedule)*)),
                looks: counted(|count| {
                    first(v.par_iter()$($schedule)*.inspect(|_| add(count)));
                }),
            }}
        };
    }
    let default = scheduled!();
    // Blocks of 4096 items per thread, of an eighth of the items searched so far, or of what takes 100 us, but at most twice as long as the
    // one before: nothing behind the needle's block is looked at.
    let least_block = 4096 * furcate::current_num_threads();
    assert!(default.looks <= sequential.looks + least_block.max(2 * position));

    let mut table = Table::new(["find_first", "all", "items looked at"]);
    for (name, row) in [
        ("a loop", sequential),
        ("rayon", rayon),
        ("default: by blocks", default),
        (".join()", scheduled!(.join())),
        (".adaptive()", scheduled!(.adaptive())),
        (".adaptive().by_exponential_blocks()", scheduled!(.adaptive().by_exponential_blocks())),
    ] {
        row.check(needle);
        table.row(name, [Cell::Time(row.first.1), Cell::Time(row.all.1), Cell::Count(row.looks as u64)]);
    }
    drop(progress);
    line(table);
}

/// The result and the time of a contender, and the number of items that it looks at.
struct Row<'v> {
    first: (Option<&'v u32>, Duration),
    all: (bool, Duration),
    looks: usize,
}

impl Row<'_> {
    /// Compares addresses: an equal item elsewhere is not the first needle.
    fn check(&self, needle: Option<&u32>) {
        assert_eq!(self.first.0.map(std::ptr::from_ref), needle.map(std::ptr::from_ref));
        assert_eq!(self.all.0, needle.is_none());
    }
}

/// Returns a search's result, and its median time.
fn timed<T>(search: impl Fn() -> T) -> (T, Duration) {
    let mut runs: Vec<(T, Duration)> = (0..ROUNDS).map(|_| common::timing::timed(&search)).collect();
    runs.sort_by_key(|run| run.1);
    runs.swap_remove(ROUNDS / 2)
}

/// Returns the number of items that a search looks at. Searches are not timed while they count: all tasks write to one
/// counter.
fn counted(search: impl Fn(&AtomicUsize)) -> usize {
    let count = AtomicUsize::new(0);
    search(&count);
    count.into_inner()
}

fn add(count: &AtomicUsize) {
    count.fetch_add(1, Relaxed);
}
