//! A needle in a haystack: `find_first` and `all`, sequentially, with rayon, and under several schedules.
//!
//! `cargo run --release --example find_first -- [POSITION [LENGTH]]` hides a needle at a position (by default just before the
//! middle) and one at the very end, lets everybody look for the first one, and prints how long that takes and how many
//! items are looked at. A position behind the end hides none.

use furcate::prelude::*;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

const NEEDLE: u32 = 7;

/// How often everybody searches; the median counts.
const ROUNDS: usize = 9;

/// Numbers that are no needles, but for the one at a position and the last one.
fn haystack(len: usize, position: usize) -> Vec<u32> {
    let mut items: Vec<u32> = (0..len).into_par_iter().map(|i| NEEDLE + 1 + (i % 1000) as u32).collect();
    if position < len {
        items[position] = NEEDLE;
        items[len - 1] = NEEDLE;
    }
    items
}

/// The first needle. Where the schedule is named is a matter of taste: here it comes with the items.
fn first<'a>(items: impl ParallelIterator<Item = &'a u32>) -> Option<&'a u32> {
    items.find_first(|&&item| item == NEEDLE)
}

/// Is there hay and nothing else?
fn only_hay<'a>(items: impl ParallelIterator<Item = &'a u32>) -> bool {
    items.all(|&item| item != NEEDLE)
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("a number"));
    let position: Option<usize> = arguments.next();
    let len: usize = arguments.next().unwrap_or(2_000_000);
    let position = position.unwrap_or(len.saturating_sub(2) / 2);

    let items = haystack(len, position);
    let (v, needle) = (&items[..], items.get(position));
    match needle {
        Some(_) => println!("the first needle is at {position} of {len} items"),
        None => println!("there is no needle among {len} items"),
    }

    println!("\n{:<36}{:>12}{:>12}{:>18}", "", "find_first", "all", "items looked at");
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
        looks: (position + 1).min(len),
    };
    /// The same searches under another schedule.
    macro_rules! scheduled {
        ($($schedule:tt)*) => {
            Row {
                first: timed(|| first(v.par_iter()$($schedule)*)),
                all: timed(|| only_hay(v.par_iter()$($schedule)*)),
                looks: counted(|count| {
                    first(v.par_iter()$($schedule)*.inspect(|_| add(count)));
                }),
            }
        };
    }
    let default = scheduled!();
    // Blocks of 4096 items per thread, or an eighth of what has been searched: nothing behind the needle's is looked at.
    let least_block = 4096 * furcate::current_num_threads();
    assert!(default.looks <= sequential.looks + least_block.max(position / 8));

    for (name, row) in [
        ("a loop", sequential),
        ("rayon", rayon),
        ("default: by blocks", default),
        (".join()", scheduled!(.join())),
        (".adaptive()", scheduled!(.adaptive())),
        (".adaptive().by_exponential_blocks()", scheduled!(.adaptive().by_exponential_blocks())),
    ] {
        row.check(needle);
        let (first, all) = (format!("{:.1?}", row.first.1), format!("{:.1?}", row.all.1));
        println!("{name:<36}{first:>12}{all:>12}{:>18}", row.looks);
    }
}

/// What everybody finds, and how long it takes.
struct Row<'v> {
    first: (Option<&'v u32>, Duration),
    all: (bool, Duration),
    looks: usize,
}

impl Row<'_> {
    /// It is the very needle that counts, not one that looks like it.
    fn check(&self, needle: Option<&u32>) {
        assert_eq!(self.first.0.map(std::ptr::from_ref), needle.map(std::ptr::from_ref));
        assert_eq!(self.all.0, needle.is_none());
    }
}

/// A search's result, and its median time.
fn timed<T>(search: impl Fn() -> T) -> (T, Duration) {
    let run = || {
        let begin = Instant::now();
        let found = black_box(search());
        (found, begin.elapsed())
    };
    let mut runs: Vec<(T, Duration)> = (0..ROUNDS).map(|_| run()).collect();
    runs.sort_by_key(|run| run.1);
    runs.swap_remove(ROUNDS / 2)
}

/// How many items a search looks at. (Not while it is timed: everybody counts in the same place.)
fn counted(search: impl Fn(&AtomicUsize)) -> usize {
    let count = AtomicUsize::new(0);
    search(&count);
    count.into_inner()
}

fn add(count: &AtomicUsize) {
    count.fetch_add(1, Relaxed);
}
