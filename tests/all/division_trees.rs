//! The division trees in the book's pictures are those that the library makes.
//!
//! `book/trees.txt` has a line for each tree: the call, and the parts from left to right, parents first. A star marks a
//! part that another worker runs. `book/pictures.py` draws the pictures from this file. After a change of a policy,
//! `FURCATE_TREES=write cargo test -p furcate-tests division_trees::` writes the file anew.
#![cfg(not(furcate_rayon))]

use furcate::detach::Alone;
use furcate::prelude::*;
use furcate::{Context, Executor, ThreadPoolBuilder};
use std::cell::Cell;
use std::fmt::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Mutex};

thread_local! {
    /// Whether this thread plays the thief, that is, runs the part that `Script` calls stolen.
    static THIEF: Cell<bool> = const { Cell::new(false) };
}

/// The parts seen so far, and whether a thief ran them.
type Parts = Arc<Mutex<Vec<(Range<usize>, bool)>>>;

/// A range that records its divisions. (Blocks are cut off by `divide_at`, which is no division.)
#[derive(Clone)]
struct Traced(Range<usize>, Parts);

impl Traced {
    fn record(&self) {
        self.1.lock().unwrap().push((self.0.clone(), THIEF.get()));
    }
}

impl Divisible for Traced {
    fn size(&self) -> usize {
        self.0.len()
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.divide_at(index);
        (Traced(left, Arc::clone(&self.1)), Traced(right, self.1))
    }
    fn divide(self) -> (Self, Self) {
        self.record();
        let half = self.size() / 2;
        self.divide_at(half)
    }
}

/// An engine of two threads in name. One thread runs everything, and says of one fork that it was stolen.
#[derive(Clone)]
struct Script {
    stolen: Option<usize>,
    forks: Arc<AtomicUsize>,
}

impl Executor for Script {
    type Scope<'scope> = Alone;

    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        body(&Alone)
    }

    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let stolen = self.stolen == Some(self.forks.fetch_add(1, Relaxed));
        let left = left(Context::new(false));
        let before = THIEF.replace(stolen || THIEF.get());
        let right = right(Context::new(stolen));
        THIEF.set(before);
        (left, right)
    }

    fn num_threads(&self) -> usize {
        2
    }
}

/// The engine on which the fork of that number (0 is the first) is stolen.
fn stolen(fork: impl Into<Option<usize>>) -> Script {
    Script { stolen: fork.into(), forks: Arc::default() }
}

/// The line of a tree: `run` gets a range to divide.
fn tree(call: &str, items: usize, run: impl FnOnce(Traced)) -> String {
    let parts = Parts::default();
    run(Traced(0..items, Arc::clone(&parts)));
    let mut parts = parts.lock().unwrap().clone();
    parts.sort_by_key(|(part, _)| (part.start, usize::MAX - part.end));
    parts.into_iter().fold(format!("{call}:"), |mut line, (part, stolen)| {
        write!(line, " {part:?}{}", if stolen { "*" } else { "" }).unwrap();
        line
    })
}

/// The tree of a chain on `Script`.
macro_rules! scripted {
    ($call:literal, $items:literal, $fork:expr, $($word:ident($($argument:expr),*)).+) => {
        tree($call, $items, |whole| {
            whole.wrap_iter().on(stolen($fork)).$($word($($argument),*)).+.for_each(|leaf: Traced| leaf.record());
        })
    };
}

/// Both leaves of the tree under `cap(2)` wait for each other. So each has a worker, and no token comes back early.
fn capped() -> String {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (caller, both) = (std::thread::current().id(), Barrier::new(2));
    tree("size_limit(300).cap(2), two workers", 1000, |whole| {
        whole.wrap_iter().on(&pool).size_limit(300).cap(2).for_each(|leaf| {
            THIEF.set(std::thread::current().id() != caller);
            both.wait();
            leaf.record();
        });
    })
}

#[test]
fn the_book_shows_the_trees_that_the_library_makes() {
    let lines = [
        scripted!("no policy, two threads", 1000, None, join()),
        scripted!("no policy, last part stolen", 1000, 2, join()),
        scripted!("bound_depth(2)", 1000, None, bound_depth(2)),
        scripted!("bound_depth(2), right half stolen", 1000, 0, bound_depth(2)),
        scripted!("bound_depth(1).force_depth(2)", 1000, None, bound_depth(1).force_depth(2)),
        scripted!("size_limit(300)", 1000, None, size_limit(300)),
        scripted!("bound_depth(1).even_levels()", 1000, None, bound_depth(1).even_levels()),
        scripted!("join_context_policy(3)", 1000, None, join_context_policy(3)),
        scripted!("join_context_policy(3), right half stolen", 1000, 0, join_context_policy(3)),
        scripted!("thief_splitting(1)", 1000, None, thief_splitting(1)),
        scripted!("thief_splitting(1), right half stolen", 1000, 0, thief_splitting(1)),
        capped(),
        scripted!("bound_depth(1).by_exponential_blocks()", 62, None, bound_depth(1).by_exponential_blocks()),
    ];
    let made = lines.join("\n") + "\n";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../book/trees.txt");
    if std::env::var_os("FURCATE_TREES").is_some_and(|value| value == "write") {
        std::fs::write(file, &made).unwrap();
    }
    let committed = std::fs::read_to_string(file).expect("book/trees.txt; FURCATE_TREES=write makes it");
    assert_eq!(made, committed, "then run book/pictures.py");
}
