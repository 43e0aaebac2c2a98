//! Collecting in place: every leaf writes its items to where they will stay, once.
//!
//! The spare capacity of the target vector is cut at the same places as the producer. A leaf fills its part and
//! delivers a [`Run`], which owns the elements it wrote; neighbours' runs are joined, and the root's run is given to the
//! vector if it is complete.
//!
//! # Invariants
//!
//! 1. [`Slots`] are a part of the target's spare capacity, which outlives them (`'a`). No two `Slots` overlap, and none
//!    overlaps a [`Run`]. All are derived from one pointer to the whole, so that neighbours can be joined.
//! 2. A [`Run`] owns the `len` initialised elements from `start` on, which were written to slots. No two runs overlap.
//! 3. Within a leaf, elements are written to consecutive slots from the run's end on, and counted one by one after
//!    they are written: a panic leaves a run that owns exactly what has been written.
//! 4. Two runs are joined only if the right one starts where the left one ends; else the right one's elements are
//!    dropped. (That is how a producer that lies about its length shows: too few items leave a gap, which is found here
//!    or at the root; too many find no slot and are dropped.)
//! 5. The vector's length grows only by a root run that starts at its old length and has the expected length.
#![allow(unsafe_code)]

use crate::iter::ParallelIterator;
use furcate_schedulers::{Divisible, Producer, Reduction, Scheduler};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;

/// Appends exactly `len` items in place.
///
/// # Panics
///
/// If the iterator gives fewer or more items than its cuts promised: it (or a producer in it) is wrong.
pub(crate) fn append_exact<I: ParallelIterator>(vec: &mut Vec<I::Item>, len: usize, mut items: I) {
    vec.reserve(len);
    let old_len = vec.len();
    let (policy, scheduler, executor) = (items.policy(), items.scheduler(), items.executor());
    let slots = Slots::spare(vec, len);
    let whole = slots.start;
    let run = scheduler.schedule(Filling::new(items.producer(), slots), policy, JoinRuns, &executor);
    let written = run.map_or(0, |run| run.accept(whole, len));
    assert!(
        written == len,
        "a parallel iterator promised {len} items and delivered {written}; its length or its cuts are wrong"
    );
    // SAFETY: the `len` elements after the old length are initialised, and their run has given them up (invariant 5).
    unsafe { vec.set_len(old_len + len) };
}

/// Room for elements (invariant 1).
#[derive(Debug)]
struct Slots<'a, T> {
    start: *mut T,
    len: usize,
    target: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: slots are a `&mut [MaybeUninit<T>]` (invariant 1).
unsafe impl<T: Send> Send for Slots<'_, T> {}

impl<'a, T> Slots<'a, T> {
    /// The first `len` slots behind a vector's elements.
    fn spare(vec: &'a mut Vec<T>, len: usize) -> Self {
        let spare = &mut vec.spare_capacity_mut()[..len];
        Slots { start: spare.as_mut_ptr().cast(), len, target: PhantomData }
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let index = index.min(self.len);
        // SAFETY: the index is at most the length: the pointer stays inside the spare capacity (invariant 1).
        let middle = unsafe { self.start.add(index) };
        (
            Slots { start: self.start, len: index, target: PhantomData },
            Slots { start: middle, len: self.len - index, target: PhantomData },
        )
    }

    /// The slots as a slice.
    fn as_mut(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: invariant 1; `MaybeUninit` needs no initialisation.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.len) }
    }
}

/// Initialised elements in the target (invariant 2).
#[derive(Debug)]
struct Run<'a, T> {
    start: *mut T,
    len: usize,
    target: PhantomData<&'a mut [T]>,
}

// SAFETY: a run is a `&mut [T]` that owns its elements (invariant 2); sending it sends the elements.
unsafe impl<T: Send> Send for Run<'_, T> {}

impl<'a, T> Run<'a, T> {
    fn empty(slots: &Slots<'a, T>) -> Self {
        Run { start: slots.start, len: 0, target: PhantomData }
    }

    /// Gives up the elements if they are all that were expected, else drops them. How many there are.
    fn accept(self, start: *mut T, len: usize) -> usize {
        if !std::ptr::eq(self.start, start) {
            return 0;
        }
        let written = self.len;
        if written == len {
            std::mem::forget(self);
        }
        written
    }

    /// Writes items to the slots that follow the run, until either ends; what is left of the slots comes back.
    #[inline]
    fn fill(&mut self, items: impl Iterator<Item = T>, mut slots: Slots<'a, T>) -> Slots<'a, T> {
        debug_assert!(std::ptr::eq(slots.start, self.start.wrapping_add(self.len)));
        let before = self.len;
        // Items first: once there is no item, no slot is passed by.
        items.zip(slots.as_mut()).for_each(|(item, slot)| {
            slot.write(item);
            self.len += 1; // invariant 3
        });
        slots.divide_at(self.len - before).1
    }

    /// Joins two runs (invariant 4).
    fn join(mut self, right: Self) -> Self {
        if std::ptr::eq(self.start.wrapping_add(self.len), right.start) {
            self.len += right.len;
            std::mem::forget(right);
        }
        self
    }
}

impl<T> Drop for Run<'_, T> {
    fn drop(&mut self) {
        // SAFETY: invariant 2: the elements are initialised, owned by this run, and nobody else's.
        unsafe { std::ptr::slice_from_raw_parts_mut(self.start, self.len).drop_in_place() }
    }
}

/// A producer of items together with the slots they go to: a leaf fills its slots and gives one [`Run`].
struct Filling<'a, P: IntoIterator> {
    items: P,
    slots: Slots<'a, P::Item>,
    /// What earlier nano-loops of this task have written, just before `slots`.
    run: Run<'a, P::Item>,
}

impl<'a, P: IntoIterator> Filling<'a, P> {
    fn new(items: P, slots: Slots<'a, P::Item>) -> Self {
        let run = Run::empty(&slots);
        Filling { items, slots, run }
    }
}

impl<P: Producer> Divisible for Filling<'_, P> {
    #[inline]
    fn size(&self) -> usize {
        self.items.size()
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.items.should_be_divided()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let Filling { items, slots, run } = self;
        let (left_items, right_items) = items.divide_at(index);
        let (left_slots, right_slots) = slots.divide_at(index);
        (Filling { items: left_items, slots: left_slots, run }, Filling::new(right_items, right_slots))
    }
}

impl<'a, P: IntoIterator> IntoIterator for Filling<'a, P> {
    type Item = Run<'a, P::Item>;
    type IntoIter = std::iter::Once<Run<'a, P::Item>>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let Filling { items, slots, mut run } = self;
        run.fill(items.into_iter(), slots);
        std::iter::once(run)
    }
}

impl<P> Producer for Filling<'_, P>
where
    P: Producer,
    P::Item: Send,
{
    fn partial_fold<B, C, F>(self, init: B, _fold_op: F, limit: usize) -> ControlFlow<C, (B, Self)>
    where
        F: FnMut(B, Self::Item) -> ControlFlow<C, B>,
    {
        let Filling { items, slots, mut run } = self;
        let (head, items) = items.divide_at(limit);
        let slots = run.fill(head.into_iter(), slots);
        ControlFlow::Continue((init, Filling { items, slots, run }))
    }
}

/// Joins the runs of a task and of neighbours.
#[derive(Clone, Copy)]
struct JoinRuns;

impl<'a, T: Send> Reduction<Run<'a, T>> for JoinRuns {
    type Accumulator = Option<Run<'a, T>>;
    type Output = Option<Run<'a, T>>;

    fn start(&self) -> Self::Accumulator {
        None
    }

    fn step(
        &self,
        before: Self::Accumulator,
        run: Run<'a, T>,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        ControlFlow::Continue(self.reduce(before, Some(run)))
    }

    fn finish(&self, run: Self::Accumulator) -> Self::Output {
        run
    }

    fn reduce(&self, left: Self::Output, right: Self::Output) -> Self::Output {
        match (left, right) {
            (Some(left), Some(right)) => Some(left.join(right)),
            (left, right) => left.or(right),
        }
    }
}
