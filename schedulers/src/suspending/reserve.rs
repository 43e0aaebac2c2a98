//! The permits of a task.
//!
//! # Invariants
//!
//! 1. *No task holds more than it can use*: a task has the permits that the futures of its next step need, while the loop lasts.
//! 2. *An item that waits again exchanges its permit.* Where there is a rate, a permit is spent when its future is ready. The item
//!    keeps the spent permit until it makes its next future. If it gave the permit back before, a new item could take it. That item may
//!    come only when this one is done. If the item makes none, the task's next item uses the spent permit, or the next step gives it
//!    back.
//! 3. *The last permit of an item comes back before the item is folded*, where there is a limit: the code behind `io_await` may call
//!    chains under the same limit. Not so in a search, of which the item may be the end.

use super::room::{Acquire, Permit, Room};
use super::semaphore::{LineKind, Place};
use std::cell::{Cell, RefCell};
use std::mem;

/// Permits that a task has for the futures that it is about to make; given back when dropped.
#[derive(Debug)]
pub(super) struct Reserve<'s> {
    from: &'s Room,
    /// The place of the task's new items.
    place: Place,
    permits: Cell<usize>,
    /// The permit of the last future that was ready, if it is good for no other one (invariant 2).
    spent: RefCell<Option<Permit<'s>>>,
}

impl<'s> Reserve<'s> {
    /// Makes a reserve with the permit, if there is one.
    pub(super) fn new(from: &'s Room, permit: Option<Permit<'s>>, place: Place) -> Self {
        let permits = Cell::new(permit.is_some().into());
        debug_assert!(permit.as_ref().is_none_or(|permit| std::ptr::eq(permit.source(), from)));
        mem::forget(permit);
        Reserve { from, place, permits, spent: RefCell::default() }
    }

    /// Notes that the task has begun so many items.
    pub(super) fn has_begun(&self, items: usize) {
        self.from.has_begun(self.place, items);
    }

    /// Fills the reserve up to `most` permits, or as far as permits are free. Returns how many there are. Called
    /// between items.
    pub(super) fn fill(&self, most: usize) -> usize {
        drop(self.spent.take());
        let permits = self.permits.get();
        if permits < most {
            self.permits.set(permits + self.from.take(most - permits, self.place));
        }
        self.permits.get()
    }

    /// Takes a permit: one of the reserve, the spent one if it can be renewed, or a free one.
    #[inline]
    pub(super) fn take(&self) -> Option<Permit<'s>> {
        if let Some(permits) = self.permits.get().checked_sub(1) {
            self.permits.set(permits);
            return Some(self.from.held());
        }
        let Some(spent) = self.spent.take() else { return self.from.try_acquire(self.place) };
        if self.from.renew() {
            return Some(spent);
        }
        drop(self.spent.replace(Some(spent)));
        None
    }

    /// Waits for a permit, after [`take`](Self::take) has returned none. The spent permit is given for it.
    pub(super) fn acquire(&self, kind: LineKind) -> Acquire<'s> {
        match self.spent.take() {
            Some(spent) => self.from.exchange(spent, kind, self.place),
            None => self.from.acquire(kind, self.place),
        }
    }

    /// Takes a permit back from a future that is ready. `keeps` says whether the item keeps it, for its next future or for the end of a
    /// search. Without a limit the reserve keeps every permit, because only this call's own items wait for them.
    #[inline]
    pub(super) fn put(&self, permit: Permit<'s>, keeps: bool) {
        debug_assert!(std::ptr::eq(permit.source(), self.from));
        if self.from.allows_reuse() && (keeps || !self.from.is_shared()) {
            mem::forget(permit);
            self.permits.set(self.permits.get() + 1);
        } else if keeps {
            drop(self.spent.replace(Some(permit)));
        }
    }

    /// Gives all permits back.
    pub(super) fn empty(&self) {
        drop(self.spent.take());
        self.from.give_back_unused(self.permits.take());
    }
}

impl Drop for Reserve<'_> {
    fn drop(&mut self) {
        self.empty();
    }
}
