//! Producers and reductions that several tests use.

use furcate_schedulers::{Divisible, Facts, Producer, Reduction};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A range that counts its divisions.
pub(crate) struct Counted<'c>(pub(crate) Range<usize>, pub(crate) &'c AtomicUsize);

impl Divisible for Counted<'_> {
    fn size(&self) -> usize {
        self.0.len()
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.divide_at(index);
        (Counted(left, self.1), Counted(right, self.1))
    }
    fn divide(self) -> (Self, Self) {
        self.1.fetch_add(1, Relaxed);
        let half = self.0.len() / 2;
        self.divide_at(half)
    }
}

impl IntoIterator for Counted<'_> {
    type Item = usize;
    type IntoIter = Range<usize>;
    fn into_iter(self) -> Range<usize> {
        self.0
    }
}

impl Producer for Counted<'_> {
    const FACTS: Facts = Facts::ITEMS;
}

/// Counts items; panics at one.
#[derive(Clone)]
pub(crate) struct Count {
    pub(crate) bad: Option<usize>,
}

impl Reduction<usize> for Count {
    type Accumulator = usize;
    type Output = usize;
    fn start(&self) -> usize {
        0
    }
    fn fold_item(&self, count: usize, item: usize) -> ControlFlow<usize, usize> {
        if Some(item) == self.bad {
            std::panic::resume_unwind(Box::new("planned"));
        }
        ControlFlow::Continue(count + 1)
    }
    fn finish(&self, count: usize) -> usize {
        count
    }
    fn reduce(&self, left: usize, right: usize) -> usize {
        left + right
    }
}

/// The items and the tree of reductions.
#[derive(Clone)]
pub(crate) struct Text;

impl Reduction<usize> for Text {
    type Accumulator = String;
    type Output = String;
    fn start(&self) -> String {
        String::new()
    }
    fn fold_item(&self, text: String, item: usize) -> ControlFlow<String, String> {
        ControlFlow::Continue(text + " " + &item.to_string())
    }
    fn finish(&self, text: String) -> String {
        text
    }
    fn reduce(&self, left: String, right: String) -> String {
        format!("({left}{right})")
    }
}
