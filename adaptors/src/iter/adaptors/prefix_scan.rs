//! The adaptors `inclusive_scan` and `exclusive_scan`: every item becomes the combination of all items up to it.
//!
//! # Two passes
//!
//! The combination of all items before an item is known only when everything to its left is done. So there are two
//! passes, with a short walk over the tasks between them:
//!
//! ```text
//!   items              a  b  c | d  e | f  g  h        three tasks of the first pass
//!   1. scanned alone   a ab abc| d de | f fg fgh       in parallel; the last value is the task's total
//!   2. totals before     --    | abc  | abcde          in turn, one operation per task
//!   3. handed out      a ab abc|abcd..|abcdef..        in parallel, as the items are asked for
//! ```
//!
//! The first pass runs when a terminal asks for the producer, under the schedule that was chained before the scan. It
//! is a [`Reduction`], so its blocks are the tasks that the policy and the scheduler make, whatever the base is (a
//! `filter` too). The producer that is lent owns the blocks' values. Its cuts are exact, also inside a block.
//!
//! # Invariants
//!
//! 1. The operation is applied to neighbors only, the left one first: it need not be commutative.
//! 2. The values lie in the iterator's buffers, and are owned by the parts that are lent ([`Owned`]). Each value is
//!    handed out or dropped once, also if the operation panics.
//! 3. An exclusive scan is the inclusive one, with `init` as a block of its own in front of it, and without the last
//!    value.

use super::chain::Counted;
use crate::iter::collect::{Lists, concat, exact_len};
use crate::iter::copies::copies;
use crate::iter::mapped::{MapItem, Mapped};
use crate::iter::{
    IndexedParallelIterator, ParallelIterator, PeekParallelIterator, indexed_is_peek, inherit_schedule,
    producer_is_indexed,
};
use crate::vec::{Owned, OwnedIter};
use furcate_schedulers::{
    Divisible, Facts, IndexedProducer, PeekProducer, Plan, Producer, Reduction, Schedule, Scheduler,
};
use std::alloc::Layout;
use std::collections::{LinkedList, VecDeque, vec_deque};
use std::fmt;
use std::iter::Flatten;
use std::ops::ControlFlow;

/// A prefix scan: see [`inclusive_scan`](ParallelIterator::inclusive_scan) and
/// [`exclusive_scan`](ParallelIterator::exclusive_scan).
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::PrefixScan<_, _> = (1..5).into_par_iter().inclusive_scan(|a, b| a + b);
/// assert_eq!(it.collect::<Vec<_>>(), [1, 3, 6, 10]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone)]
pub struct PrefixScan<I: ParallelIterator, F> {
    base: I,
    op: F,
    /// Start of an exclusive scan; `None` in an inclusive one.
    init: Option<I::Item>,
    /// Values of the first pass; empty until they are lent.
    scanned: Vec<Vec<I::Item>>,
}

impl<I: ParallelIterator, F> PrefixScan<I, F> {
    pub(crate) fn new(base: I, op: F, init: Option<I::Item>) -> Self {
        PrefixScan { base, op, init, scanned: Vec::new() }
    }
}

impl<I: ParallelIterator + fmt::Debug, F> fmt::Debug for PrefixScan<I, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrefixScan").field("base", &self.base).finish_non_exhaustive()
    }
}

/// Returns, for each block, the total of all blocks before it and of the start of an exclusive scan.
fn preceding<T: Clone>(op: impl Fn(T, T) -> T, init: Option<T>, blocks: &[Vec<T>]) -> Vec<Option<T>> {
    let mut preceding = vec![init];
    for block in blocks.iter().take(blocks.len().saturating_sub(1)) {
        let before = preceding.last().cloned().flatten();
        let total = block.last().cloned();
        preceding.push(combine(&op, before, total));
    }
    preceding
}

#[cold]
fn no_room() -> ! {
    panic!(
        "a scan keeps all items, and there is no memory for so many: cut the iterator before the scan, by `take` or a \
            shorter range, not after it"
    )
}

/// Combines two neighbors (invariant 1), if both are there.
fn combine<T>(op: impl Fn(T, T) -> T, left: Option<T>, right: Option<T>) -> Option<T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(op(left, right)),
        (left, right) => left.or(right),
    }
}

impl<I, F> ParallelIterator for PrefixScan<I, F>
where
    I: ParallelIterator,
    I::Item: Clone,
    F: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
{
    type Item = I::Item;
    type Producer<'a>
        = ScanProducer<'a, I::Item, F>
    where
        Self: 'a;

    inherit_schedule!(base: I);

    /// Runs the first pass, and computes the total before each of its blocks.
    fn producer(&mut self) -> Self::Producer<'_> {
        if exact_len(&self.base).is_some_and(|len| Layout::array::<I::Item>(len).is_err()) {
            no_room();
        }
        let Plan { policy, scheduler, executor } = self.base.schedule().into_plan();
        let scan = ScanAlone { op: &self.op };
        let tasks = scheduler.schedule((self.base.producer(), policy, scan), &executor);
        self.scanned = tasks.into_iter().collect();
        let mut preceding = preceding(&self.op, self.init.clone(), &self.scanned);
        if let (Some(init), Some(last)) = (&self.init, self.scanned.last_mut()) {
            last.pop();
            self.scanned.insert(0, vec![init.clone()]);
            preceding.insert(0, None);
        }
        let op = &self.op;
        let blocks = self.scanned.iter_mut().zip(preceding);
        ScanProducer::new(
            blocks.map(|(values, before)| ScanBlock { values: Owned::take(values), before, op }).collect(),
        )
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
}

impl<I, F> IndexedParallelIterator for PrefixScan<I, F>
where
    I: IndexedParallelIterator,
    I::Item: Clone,
    F: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
{
    producer_is_indexed!();

    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
}

/// A look applies the operation.
impl<I, F> PeekParallelIterator for PrefixScan<I, F>
where
    I: IndexedParallelIterator,
    I::Item: Clone,
    F: Fn(I::Item, I::Item) -> I::Item + Sync + Send,
{
    indexed_is_peek!();
}

/// The first pass: a task scans its items alone, and delivers the values as one block.
struct ScanAlone<'a, F> {
    op: &'a F,
}

copies!(impl[F] ScanAlone<'_, F>);

impl<T, F> Reduction<T> for ScanAlone<'_, F>
where
    T: Clone + Send,
    F: Fn(T, T) -> T + Sync,
{
    type Accumulator = Vec<T>;
    type Output = LinkedList<Vec<T>>;

    const GATHERS: bool = true;

    fn start(&self) -> Vec<T> {
        Vec::new()
    }

    #[inline]
    fn fold_item(&self, mut values: Vec<T>, item: T) -> ControlFlow<Vec<T>, Vec<T>> {
        let value = match values.last().cloned() {
            Some(before) => (self.op)(before, item),
            None => item,
        };
        values.push(value);
        ControlFlow::Continue(values)
    }

    #[inline]
    fn fold<I: Iterator<Item = T>>(&self, mut values: Vec<T>, items: I) -> Vec<T> {
        if values.try_reserve(items.size_hint().0).is_err() {
            no_room();
        }
        let mut last = values.last().cloned();
        // Not `extend`, which asks for one item after the other: this loop is the items' own.
        items.for_each(|item| {
            let value = match last.take() {
                Some(before) => (self.op)(before, item),
                None => item,
            };
            last = Some(value.clone());
            values.push(value);
        });
        values
    }

    #[inline]
    fn finish(&self, values: Vec<T>) -> LinkedList<Vec<T>> {
        Lists::new(Vec::is_empty).only(values)
    }

    #[inline]
    fn reduce(&self, left: LinkedList<Vec<T>>, right: LinkedList<Vec<T>>) -> LinkedList<Vec<T>> {
        concat(left, right)
    }
}

/// Neighboring values of one task, and the total before that task.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct ScanBlock<'a, T, F> {
    values: Owned<'a, T>,
    before: Option<T>,
    op: &'a F,
}

impl<T: Clone, F> ScanBlock<'_, T, F> {
    fn divide_at(self, index: usize) -> (Self, Self) {
        let ScanBlock { values, before, op } = self;
        let (left, right) = values.divide_at(index);
        (ScanBlock { values: left, before: before.clone(), op }, ScanBlock { values: right, before, op })
    }
}

impl<'a, T, F> IntoIterator for ScanBlock<'a, T, F>
where
    T: Clone,
    F: Fn(T, T) -> T,
{
    type Item = T;
    type IntoIter = Mapped<OwnedIter<'a, T>, After<'a, T, F>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        Mapped::new(self.values.into_iter(), After { before: self.before, op: self.op })
    }
}

/// Combines the total before a task with a value of that task.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct After<'a, T, F> {
    before: Option<T>,
    op: &'a F,
}

impl<T: Clone, F: Fn(T, T) -> T> MapItem<T> for After<'_, T, F> {
    type Output = T;

    #[inline]
    fn map_item(&mut self, value: T) -> T {
        match &self.before {
            Some(before) => (self.op)(before.clone(), value),
            None => value,
        }
    }
}

/// The producer of [`PrefixScan`]: results of the first pass for neighboring items.
#[allow(missing_debug_implementations, reason = "a borrowed closure")]
pub struct ScanProducer<'a, T, F> {
    blocks: VecDeque<ScanBlock<'a, T, F>>,
    len: usize,
}

impl<'a, T, F> ScanProducer<'a, T, F> {
    fn new(blocks: VecDeque<ScanBlock<'a, T, F>>) -> Self {
        let len = blocks.iter().map(|block| block.values.size()).sum();
        ScanProducer { blocks, len }
    }

    /// Returns the number of the block that holds a place, and the place in that block; `None` past the end.
    fn find(&self, index: usize) -> Option<(usize, usize)> {
        let mut end = 0;
        self.blocks.iter().enumerate().find_map(|(number, block)| {
            let place = index - end;
            end += block.values.size();
            (index < end).then_some((number, place))
        })
    }
}

/// Cuts between values. Cost: a step per block, and a clone of the total before the block that is cut.
impl<T: Clone, F> Divisible for ScanProducer<'_, T, F> {
    #[inline]
    fn size(&self) -> usize {
        self.len
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let Some((number, place)) = self.find(index) else {
            return (self, ScanProducer::new(VecDeque::new()));
        };
        let mut left = self.blocks;
        let mut right = left.split_off(number);
        if place > 0 {
            if let Some(block) = right.pop_front() {
                let (head, tail) = block.divide_at(place);
                left.push_back(head);
                right.push_front(tail);
            }
        }
        (ScanProducer::new(left), ScanProducer::new(right))
    }
}

impl<'a, T, F> IntoIterator for ScanProducer<'a, T, F>
where
    T: Clone,
    F: Fn(T, T) -> T,
{
    type Item = T;
    type IntoIter = Counted<Flatten<vec_deque::IntoIter<ScanBlock<'a, T, F>>>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        Counted { items: self.blocks.into_iter().flatten(), len: self.len }
    }
}

impl<T, F> Producer for ScanProducer<'_, T, F>
where
    T: Clone + Send,
    F: Fn(T, T) -> T + Sync,
{
    const FACTS: Facts = Facts::ITEMS;
}

impl<T, F> IndexedProducer for ScanProducer<'_, T, F>
where
    T: Clone + Send,
    F: Fn(T, T) -> T + Sync,
{
}

impl<T, F> PeekProducer for ScanProducer<'_, T, F>
where
    T: Clone + Send,
    F: Fn(T, T) -> T + Sync,
{
    fn peek(&self, index: usize) -> T {
        let (number, place) = self.find(index).expect("a look past the end of a scan");
        let ScanBlock { values, before, op } = &self.blocks[number];
        combine(op, before.clone(), Some(values.peek(place))).expect("there is a value")
    }
}
