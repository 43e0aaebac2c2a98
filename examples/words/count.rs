//! The computation, under each schedule.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{self, ThreadId};

/// Number of occurrences of each word. The words are slices of the corpus.
pub(crate) type Counts<'a> = HashMap<&'a str, u64>;

/// The table of a task, or of several tasks that have been merged.
#[derive(Default)]
pub(crate) struct Part<'a> {
    pub(crate) counts: Counts<'a>,
    /// Numbers of bytes that threads counted, in no order. A thread may occur several times.
    shares: Vec<(ThreadId, usize)>,
}

impl<'a> Part<'a> {
    /// The empty table of a new task. `tasks` counts the tasks.
    fn new(tasks: &AtomicUsize) -> Self {
        // Relaxed: a count that is read after the call.
        tasks.fetch_add(1, Relaxed);
        Part { counts: Counts::new(), shares: vec![(thread::current().id(), 0)] }
    }

    /// Counts one word.
    fn word(mut self, word: &'a str) -> Self {
        self.add(word);
        self
    }

    /// Counts the words of a text.
    fn text(mut self, text: &'a str) -> Self {
        words(text).for_each(|word| self.add(word));
        self
    }

    fn add(&mut self, word: &'a str) {
        *self.counts.entry(word).or_default() += 1;
        self.shares[0].1 += word.len();
    }

    /// Moves the smaller table into the larger one.
    fn merge(self, right: Self) -> Self {
        let (mut large, small) =
            if self.counts.len() < right.counts.len() { (right, self) } else { (self, right) };
        for (word, count) in small.counts {
            *large.counts.entry(word).or_default() += count;
        }
        large.shares.extend(small.shares);
        large
    }

    /// Returns the busiest thread's share of the bytes, from 0 to 1.
    pub(crate) fn busiest(&self) -> f64 {
        let mut threads = HashMap::new();
        for &(thread, bytes) in &self.shares {
            *threads.entry(thread).or_insert(0) += bytes;
        }
        let total: usize = threads.values().sum();
        threads.values().max().map_or(1.0, |&most| most as f64 / total.max(1) as f64)
    }
}

/// Returns the words of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_separator).filter(|word| !word.is_empty())
}

fn is_separator(c: char) -> bool {
    !c.is_alphanumeric()
}

/// A schedule: its name, and the count under it. The second argument counts tasks.
pub(crate) struct Chain<T: ?Sized> {
    pub(crate) name: &'static str,
    pub(crate) run: Run<T>,
}

pub(crate) type Run<T> = Box<dyn for<'a> Fn(&'a T, &AtomicUsize) -> Part<'a>>;

/// The chain of adaptors, with the words that schedule it.
macro_rules! chain {
    ($name:literal, $library:ident, $corpus:ident, $items:expr, $fold:expr $(, $word:ident($($argument:expr),*))*) => {
        Chain {
            name: $name,
            run: Box::new(move |$corpus, tasks| {
                use $library::prelude::*;
                $items$(.$word($($argument),*))*
                    .fold(|| Part::new(tasks), $fold)
                    .reduce(Part::default, Part::merge)
            }),
        }
    };
}

/// Schedules for one text, whose items are its words.
pub(crate) fn of_words(len: usize) -> Vec<Chain<str>> {
    macro_rules! of {
        ($name:literal, $library:ident $($schedule:tt)*) => {
            chain!(
                $name,
                $library,
                text,
                text.par_split(is_separator).filter(|word| !word.is_empty()),
                Part::word
                $($schedule)*
            )
        };
    }
    let piece = len / 64 + 1;
    let threads = furcate::current_num_threads();
    vec![
        Chain {
            name: "sequential loop",
            run: Box::new(|text, tasks| words(text).fold(Part::new(tasks), Part::word)),
        },
        of!("rayon", rayon),
        of!("furcate, no policy named", furcate),
        of!("bound_depth(4)", furcate, bound_depth(4)),
        of!("thief_splitting(3)", furcate, thief_splitting(3)),
        of!("join_context_policy(6)", furcate, join_context_policy(6)),
        of!("size_limit(len/64).cap(2 per thread)", furcate, size_limit(piece), cap(2 * threads)),
        of!("adaptive()", furcate, adaptive()),
    ]
}

/// Schedules for many texts, each of which is an item.
pub(crate) fn of_files(files: usize) -> Vec<Chain<[String]>> {
    macro_rules! of {
        ($name:literal, $library:ident $($schedule:tt)*) => {
            chain!($name, $library, files, files.par_iter().map(String::as_str), Part::text $($schedule)*)
        };
    }
    let piece = files / 64 + 1;
    let threads = furcate::current_num_threads();
    vec![
        Chain {
            name: "sequential loop",
            run: Box::new(|files, tasks| files.iter().map(String::as_str).fold(Part::new(tasks), Part::text)),
        },
        of!("rayon", rayon),
        of!("furcate, no policy named", furcate),
        of!("bound_depth(log2 of threads)", furcate, bound_depth(threads.ilog2())),
        of!("with_max_len(1)", furcate, with_max_len(1)),
        of!("thief_splitting(3)", furcate, thief_splitting(3)),
        of!("join_context_policy(6)", furcate, join_context_policy(6)),
        of!("size_limit(files/64).cap(2 per thread)", furcate, size_limit(piece), cap(2 * threads)),
        of!("adaptive()", furcate, adaptive()),
    ]
}
