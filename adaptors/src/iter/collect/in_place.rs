//! Collecting in place: every leaf writes its items to their final place, once.
//!
//! The spare capacity of the target vector is cut at the same places as the producer. A leaf fills its part and
//! delivers a [`FilledRun`], which owns the elements that the leaf wrote. Neighbors' runs are joined, and the root's run is
//! given to the vector if it is complete. For pairs, the halves go to two targets at once: two [`TargetSlots`] values are cut in
//! step and two runs grow in step. ([`TargetRoom`] and [`Written`] are the traits for one target and for two.)
//!
//! # Invariants
//!
//! 1. [`TargetSlots`] are a part of the target's spare capacity, which outlives them (`'a`). No two of them overlap, and none
//!    overlaps a [`FilledRun`]. All are derived from one pointer to the whole, so that neighbors can be joined.
//! 2. A [`FilledRun`] owns the `len` initialized elements from `start` on, which were written to slots. No two runs overlap.
//! 3. Within a task, elements are written to consecutive slots from the run's end on, and counted one by one right
//!    after they are written. So a panic leaves a run that owns exactly the elements that were written.
//! 4. Two runs are joined only if the right one starts where the left one ends (in both targets, if there are two);
//!    else the right one's elements are dropped. (This check finds a producer that lies about its length. Too few items
//!    leave a gap, which is found here or at the root. Too many items find no slot and are dropped. Elements of size
//!    zero all lie at one place: a gap among them is found at the root, by the number of elements.)
//! 5. The vector's length grows only by a root run that starts at its old length and has the expected length.
#![allow(unsafe_code)]

use crate::iter::ParallelIterator;
use crate::iter::scoped::in_scopes;
use furcate_pool::trace;
use furcate_schedulers::{
    Blocking, Divisible, Facts, FoldFacts, NeverLater, Plan, Producer, Reduction, Schedule, Scheduler,
    StepFold, Steps, Suspendable,
};
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::panic::Location;

/// Appends exactly `len` items in place: to a vector, or pairs to two.
///
/// Items beyond `len` are dropped.
///
/// # Panics
///
/// If the iterator yields fewer items than it or its cuts promised: it (or a producer in it) is wrong. The target then
/// has its old contents.
#[track_caller]
pub(crate) fn append_exact<I, T>(target: &mut T, len: usize, items: I)
where
    I: ParallelIterator,
    T: Target<Item = I::Item>,
{
    let _call = trace::chain(Location::caller());
    if I::SCOPED {
        return in_scopes(items, |items| append_lent(target, len, items));
    }
    append_lent(target, len, items);
}

/// [`append_exact`] inside the chain's scopes.
fn append_lent<I, T>(target: &mut T, len: usize, mut items: I)
where
    I: ParallelIterator,
    T: Target<Item = I::Item>,
{
    let Plan { policy, scheduler, executor } = items.schedule().into_plan();
    let room = target.room(len);
    let nothing = room.nothing();
    let run = scheduler.schedule((Filling { items: items.producer(), room }, policy, JoinRuns), &executor);
    let run = join(nothing, run);
    let written = run.len();
    assert!(
        written == len,
        "a parallel iterator promised {len} items and delivered {written}; its length or its cuts are wrong"
    );
    std::mem::forget(run);
    // SAFETY: the root run was joined to the (empty) one at the room's start and has `len` elements, which are
    // initialized. The run has given them up (invariant 5).
    unsafe { target.grow(len) };
}

/// A target to which items are appended.
pub(crate) trait Target {
    type Item;
    type TargetRoom<'a>: TargetRoom<Item = Self::Item>
    where
        Self: 'a;

    /// Returns room for `len` items behind the elements that are there.
    fn room(&mut self, len: usize) -> Self::TargetRoom<'_>;

    /// Takes over `len` elements.
    ///
    /// # Safety
    ///
    /// The `len` slots of the last [`room`](Self::room) are initialized and have no other owner (invariant 5).
    unsafe fn grow(&mut self, len: usize);
}

impl<T: Send> Target for Vec<T> {
    type Item = T;
    type TargetRoom<'a>
        = TargetSlots<'a, T>
    where
        T: 'a;

    fn room(&mut self, len: usize) -> TargetSlots<'_, T> {
        self.reserve(len);
        let spare = &mut self.spare_capacity_mut()[..len];
        TargetSlots { start: spare.as_mut_ptr().cast(), len, target: PhantomData }
    }

    unsafe fn grow(&mut self, len: usize) {
        let new_len = self.len() + len;
        // SAFETY: the room was the first `len` slots of the spare capacity; the caller promises the rest.
        unsafe { self.set_len(new_len) };
    }
}

/// Pairs go to two targets.
impl<A: Target, B: Target> Target for (&mut A, &mut B) {
    type Item = (A::Item, B::Item);
    type TargetRoom<'a>
        = (A::TargetRoom<'a>, B::TargetRoom<'a>)
    where
        Self: 'a;

    fn room(&mut self, len: usize) -> Self::TargetRoom<'_> {
        (self.0.room(len), self.1.room(len))
    }

    unsafe fn grow(&mut self, len: usize) {
        // SAFETY: the caller's promise, for both.
        unsafe {
            self.0.grow(len);
            self.1.grow(len);
        }
    }
}

/// Slots for items, in one target or in two.
pub(crate) trait TargetRoom: Send + Sized {
    type Item;
    type Written: Written;
    type Slot<'s>
    where
        Self: 's;

    fn len(&self) -> usize;

    fn divide_at(self, index: usize) -> (Self, Self);

    /// Returns an empty run at the first slot.
    fn nothing(&self) -> Self::Written;

    fn slots(&mut self) -> impl Iterator<Item = Self::Slot<'_>>;

    /// Writes an item to the slot that follows the run (invariant 3).
    fn write(slot: Self::Slot<'_>, item: Self::Item, run: &mut Self::Written);
}

/// The elements that were written to a [`TargetRoom`].
pub(crate) trait Written: Send {
    fn len(&self) -> usize;

    /// Whether the right run starts where this one ends.
    fn ends_at(&self, right: &Self) -> bool;

    /// Takes over the elements of the right run, if it starts where this one ends (invariant 4).
    fn absorb(&mut self, right: Self);
}

/// Joins two runs, or drops the right one (invariant 4).
fn join<W: Written>(mut left: W, right: Option<W>) -> W {
    if let Some(right) = right.filter(|right| left.ends_at(right)) {
        left.absorb(right);
    }
    left
}

/// Room for elements (invariant 1).
#[derive(Debug)]
pub(crate) struct TargetSlots<'a, T> {
    start: *mut T,
    len: usize,
    target: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: slots are a `&mut [MaybeUninit<T>]` (invariant 1).
unsafe impl<T: Send> Send for TargetSlots<'_, T> {}

impl<'a, T: Send> TargetRoom for TargetSlots<'a, T> {
    type Item = T;
    type Written = FilledRun<'a, T>;
    type Slot<'s>
        = &'s mut MaybeUninit<T>
    where
        Self: 's;

    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let index = index.min(self.len);
        // SAFETY: the index is at most the length, so the pointer stays inside the spare capacity (invariant 1).
        let middle = unsafe { self.start.add(index) };
        (
            TargetSlots { start: self.start, len: index, target: PhantomData },
            TargetSlots { start: middle, len: self.len - index, target: PhantomData },
        )
    }

    #[inline]
    fn nothing(&self) -> FilledRun<'a, T> {
        FilledRun { start: self.start, len: 0, target: PhantomData }
    }

    #[inline]
    fn slots(&mut self) -> impl Iterator<Item = &mut MaybeUninit<T>> {
        // SAFETY: invariant 1; `MaybeUninit` needs no initialization.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.len) }.iter_mut()
    }

    #[inline]
    fn write(slot: &mut MaybeUninit<T>, item: T, run: &mut FilledRun<'a, T>) {
        debug_assert!(std::ptr::eq(slot.as_ptr(), run.end()));
        slot.write(item);
        run.len += 1;
    }
}

impl<L: TargetRoom, R: TargetRoom> TargetRoom for (L, R) {
    type Item = (L::Item, R::Item);
    type Written = (L::Written, R::Written);
    type Slot<'s>
        = (L::Slot<'s>, R::Slot<'s>)
    where
        Self: 's;

    #[inline]
    fn len(&self) -> usize {
        self.0.len().min(self.1.len())
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left_head, left_tail) = self.0.divide_at(index);
        let (right_head, right_tail) = self.1.divide_at(index);
        ((left_head, right_head), (left_tail, right_tail))
    }

    #[inline]
    fn nothing(&self) -> Self::Written {
        (self.0.nothing(), self.1.nothing())
    }

    #[inline]
    fn slots(&mut self) -> impl Iterator<Item = Self::Slot<'_>> {
        self.0.slots().zip(self.1.slots())
    }

    #[inline]
    fn write(slot: Self::Slot<'_>, item: Self::Item, run: &mut Self::Written) {
        L::write(slot.0, item.0, &mut run.0);
        R::write(slot.1, item.1, &mut run.1);
    }
}

/// Initialized elements in the target (invariant 2).
#[derive(Debug)]
pub(crate) struct FilledRun<'a, T> {
    start: *mut T,
    len: usize,
    target: PhantomData<&'a mut [T]>,
}

// SAFETY: a run is a `&mut [T]` that owns its elements (invariant 2); sending it sends the elements.
unsafe impl<T: Send> Send for FilledRun<'_, T> {}

impl<T> FilledRun<'_, T> {
    fn end(&self) -> *const T {
        self.start.wrapping_add(self.len)
    }
}

impl<T: Send> Written for FilledRun<'_, T> {
    #[inline]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn ends_at(&self, right: &Self) -> bool {
        std::ptr::eq(self.end(), right.start)
    }

    #[inline]
    fn absorb(&mut self, right: Self) {
        if self.ends_at(&right) {
            self.len += right.len;
            std::mem::forget(right);
        }
    }
}

impl<T> Drop for FilledRun<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the elements are initialized, owned by this run, and have no other owner (invariant 2).
        unsafe { std::ptr::slice_from_raw_parts_mut(self.start, self.len).drop_in_place() }
    }
}

impl<L: Written, R: Written> Written for (L, R) {
    #[inline]
    fn len(&self) -> usize {
        // Both runs grow in step.
        self.0.len().min(self.1.len())
    }

    #[inline]
    fn ends_at(&self, right: &Self) -> bool {
        self.0.ends_at(&right.0) && self.1.ends_at(&right.1)
    }

    #[inline]
    fn absorb(&mut self, right: Self) {
        self.0.absorb(right.0);
        self.1.absorb(right.1);
    }
}

/// A producer of items together with their room. A task fills its slots and yields one run.
struct Filling<P, S> {
    items: P,
    room: S,
}

impl<P: Producer, S: TargetRoom> Divisible for Filling<P, S> {
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
        let (left_items, right_items) = self.items.divide_at(index);
        let (left_room, right_room) = self.room.divide_at(index);
        (Filling { items: left_items, room: left_room }, Filling { items: right_items, room: right_room })
    }
}

/// Writes items to the first slots, until there are no more items or slots.
///
/// Not by `zip`, which asks a reversed or chained slice for one item after the other: the compiler makes no vector instructions of that.
#[inline]
fn fill<S: TargetRoom>(mut items: impl Iterator<Item = S::Item>, room: &mut S, run: &mut S::Written) {
    let mut slots = room.slots();
    // Items first: once there is no item, no slot is skipped.
    let _filled = items.try_for_each(|item| slots.next().map(|slot| S::write(slot, item, run)));
}

impl<P: IntoIterator, S: TargetRoom<Item = P::Item>> IntoIterator for Filling<P, S> {
    type Item = S::Written;
    type IntoIter = std::iter::Once<S::Written>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        let Filling { items, mut room } = self;
        let mut run = room.nothing();
        fill(items.into_iter(), &mut room, &mut run);
        std::iter::once(run)
    }
}

impl<P: Producer, S: TargetRoom<Item = P::Item>> Producer for Filling<P, S> {
    const FACTS: Facts = Facts { pieces: true, single: false, free: false, ..P::FACTS };

    /// Folds in the items' own steps, which may keep a state for the task.
    fn partial_fold<'s, B, F, L>(self, init: B, mut fold: F, steps: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: StepFold<'s, Self::Item, B>,
        L: Steps<Self>,
    {
        let Filling { items, room } = self;
        let run = room.nothing();
        // The free slots of this task: the next items take slots from the front, a part that is given away takes its
        // own from the end.
        let free = Cell::new(Some(room));
        let give = |items: P| {
            let size = items.size();
            let room = take_free(&free);
            let kept = room.len().saturating_sub(size);
            let (left, right) = room.divide_at(kept);
            free.set(Some(left));
            Filling { items, room: right }
        };
        let take_back = |back: Self| {
            // If a length was a lie, the slots that were free before are lost: the next run will not fit then
            // (invariant 4).
            free.set(Some(back.room));
            Some(back.items)
        };
        let write = Write { free: &free };
        let end = items.partial_fold(Blocking(run), write, &mut steps.wrapping(give, take_back));
        fold.fold(init, std::iter::once(Blocking::at(end)))
    }
}

/// Takes the free slots of a task. The caller puts back the slots that it does not use.
fn take_free<S>(free: &Cell<Option<S>>) -> S {
    free.take().expect("it is put back at once")
}

/// Writes the items of a step to free slots.
struct Write<'f, S> {
    free: &'f Cell<Option<S>>,
}

impl<'s, S: TargetRoom> StepFold<'s, S::Item, Blocking<S::Written>> for Write<'_, S> {
    type Later = NeverLater;
    const FACTS: FoldFacts = FoldFacts::NONE;

    #[inline]
    fn fold<I>(
        &mut self,
        Blocking(mut run): Blocking<S::Written>,
        items: I,
    ) -> ControlFlow<Blocking<S::Written>, Blocking<S::Written>>
    where
        I: Iterator<Item = S::Item>,
    {
        let mut room = take_free(self.free);
        let mut next = room.nothing();
        fill(items, &mut room, &mut next);
        self.free.set(Some(room.divide_at(next.len()).1));
        run = join(run, Some(next));
        ControlFlow::Continue(Blocking(run))
    }

    fn later(&self) -> NeverLater {
        NeverLater::needed()
    }
}

/// Joins the runs of a task and of neighbors.
#[derive(Clone, Copy)]
struct JoinRuns;

impl<W: Written> Reduction<W> for JoinRuns {
    type Accumulator = Option<W>;
    type Output = Option<W>;

    fn start(&self) -> Option<W> {
        None
    }

    fn fold_item(&self, before: Option<W>, run: W) -> ControlFlow<Option<W>, Option<W>> {
        ControlFlow::Continue(self.reduce(before, Some(run)))
    }

    fn finish(&self, run: Option<W>) -> Option<W> {
        run
    }

    fn reduce(&self, left: Option<W>, right: Option<W>) -> Option<W> {
        match left {
            Some(left) => Some(join(left, right)),
            None => right,
        }
    }
}
