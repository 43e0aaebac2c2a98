//! Room for futures: the bound of a call, and the limit that it shares with others, if there is one.
//!
//! # Invariants
//!
//! 1. A permit stands for one of the call's [own](InFlight) and one of the [limit](Limit). Both are given back together.
//! 2. A task that waits gets one of the call's own first, then a ticket at the limit. So the call has no more tickets there than
//!    permits of its own. A task that waits for one of the call's own holds no permit of the limit.
//! 3. *No task holds more than it can use*: a task has the permits that the futures of its next step need, while the loop lasts.
//! 4. *An item that waits again exchanges its permit.* Where the limit has a rate, a permit is spent when its future is ready. The item
//!    keeps the spent permit until it makes its next future. If it gave the permit back before, a new item could take it. That item may
//!    come only when this one is done. If the item makes none, the task's next item uses the spent permit, or the next step gives it
//!    back.
//! 5. *The last permit of an item comes back before the item is folded*, where there is a limit: the code behind `io_await` may call
//!    chains under the same limit. Not so in a search, of which the item may be the end.

use super::in_flight::{self, InFlight, LineKind, Place};
use super::limit::{Limit, Member, Ticket};
use furcate_pool::clock::Instant;
use std::cell::{Cell, RefCell};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The permits of a call: its tasks share them.
#[derive(Debug)]
pub(crate) struct Room {
    own: InFlight,
    limit: Option<Member>,
}

/// The right to one future; given back when dropped.
#[derive(Debug)]
pub(super) struct Permit<'s>(&'s Room);

impl Room {
    /// Makes the room of a call: for `permits` futures of its own, under the limit.
    pub(super) fn new(permits: usize, limit: Option<&Limit>) -> Self {
        Room { own: InFlight::new(permits), limit: limit.map(Limit::join) }
    }

    /// The call's own permits.
    pub(super) fn own(&self) -> &InFlight {
        &self.own
    }

    /// Takes `most` permits for new items at this place, or as many as are free. Returns how many.
    fn take(&self, most: usize, place: Place) -> usize {
        let own = self.own.take(most, place);
        let Some(limit) = self.limit.as_ref().filter(|_| own > 0) else { return own };
        let taken = limit.take(own);
        self.own.give_back(own - taken);
        taken
    }

    /// Gives permits back.
    #[inline]
    fn give_back(&self, permits: usize) {
        // The limit's first: a task that gets one of the call's own permits then asks for one of the limit's.
        if let Some(limit) = &self.limit {
            limit.give_back(permits);
        }
        self.own.give_back(permits);
    }

    /// Gives back permits with which no future has begun.
    fn give_back_unused(&self, permits: usize) {
        if let Some(limit) = &self.limit {
            limit.give_back_unused(permits);
        }
        self.own.give_back(permits);
    }

    /// Whether a permit that a future has had may be used for another one.
    pub(super) fn allows_reuse(&self) -> bool {
        !self.limit.as_ref().is_some_and(Member::has_rate)
    }

    fn try_acquire(&self, place: Place) -> Option<Permit<'_>> {
        (self.take(1, place) > 0).then(|| Permit(self))
    }

    /// Makes the permit of a ready future valid for another one. Fails if the rate does not allow another future now,
    /// or if a ticket waits.
    fn renew(&self) -> bool {
        self.limit.as_ref().is_none_or(Member::renew)
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self, kind: LineKind, place: Place) -> Acquire<'_> {
        Acquire { room: self, kind, place, waits: WaitsAt::ForOwn(self.own.acquire(kind, place)) }
    }

    /// Whether the permit of a future that is ready is to be [exchanged](Self::exchange) before the item's next future is made.
    pub(super) fn is_wanted(&self) -> bool {
        self.own.is_wanted() || self.limit.as_ref().is_some_and(|limit| limit.has_rate() || limit.is_wanted())
    }

    /// Waits for a permit for the next future of an item whose last future had `permit`.
    pub(super) fn exchange<'s>(&'s self, permit: Permit<'s>, kind: LineKind, place: Place) -> Acquire<'s> {
        debug_assert!(std::ptr::eq(permit.0, self));
        Acquire { room: self, kind, place, waits: WaitsAt::Exchanges(permit) }
    }
}

impl<'s> Permit<'s> {
    /// Returns the room that the permit comes from.
    pub(super) fn source(&self) -> &'s Room {
        self.0
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.give_back(1);
    }
}

/// The future of a [`Permit`].
#[derive(Debug)]
pub(super) struct Acquire<'s> {
    room: &'s Room,
    kind: LineKind,
    place: Place,
    waits: WaitsAt<'s>,
}

/// The semaphore at which it waits (invariant 2).
#[derive(Debug)]
enum WaitsAt<'s> {
    /// Waits for nothing yet: it holds the permit of a ready future.
    Exchanges(Permit<'s>),
    ForOwn(in_flight::InFlightAcquire<'s>),
    ForLimit(Ticket<'s>, in_flight::InFlightPermit<'s>),
    Done,
}

impl<'s> Future for Acquire<'s> {
    type Output = Permit<'s>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit<'s>> {
        let (room, kind, place) = (self.room, self.kind, self.place);
        if matches!(self.waits, WaitsAt::Exchanges(_)) {
            let WaitsAt::Exchanges(permit) = mem::replace(&mut self.waits, WaitsAt::Done) else {
                unreachable!("just seen")
            };
            // The two permits part: one of the call's own, and one of the limit.
            mem::forget(permit);
            let own = room.own.held();
            self.waits = match &room.limit {
                // The item will wait for a permit of the call's own: the permit of the limit goes first (invariant 2). Where the limit is
                // the narrower bound, the item waits there, so that the limit says how many items begin; and so does an item that
                // goes first, so that no new one can take its permit.
                Some(limit)
                    if kind != LineKind::First
                        && room.own.permits() <= limit.permits()
                        && room.own.is_wanted() =>
                {
                    limit.give_back(1);
                    WaitsAt::ForOwn(room.own.exchange(own, kind, place))
                }
                Some(limit) => WaitsAt::ForLimit(Ticket::exchange(limit, kind), own),
                None => WaitsAt::ForOwn(room.own.exchange(own, kind, place)),
            };
        }
        if let WaitsAt::ForOwn(acquire) = &mut self.waits {
            let own = ready!(Pin::new(acquire).poll(context));
            let Some(limit) = &room.limit else {
                self.waits = WaitsAt::Done;
                mem::forget(own);
                return Poll::Ready(Permit(room));
            };
            self.waits = WaitsAt::ForLimit(Ticket::of(limit, kind), own);
        }
        if let WaitsAt::ForLimit(ticket, _) = &mut self.waits {
            ready!(ticket.poll(context));
        }
        if let WaitsAt::ForLimit(_, own) = mem::replace(&mut self.waits, WaitsAt::Done) {
            // Both are the permit's now.
            mem::forget(own);
        }
        Poll::Ready(Permit(room))
    }
}

/// Permits that a task has for the futures that it is about to make; given back when dropped.
#[derive(Debug)]
pub(super) struct Reserve<'s> {
    from: &'s Room,
    /// The place of the task's new items.
    place: Place,
    permits: Cell<usize>,
    /// The permit of the last future that was ready, if it is good for no other one (invariant 4).
    spent: RefCell<Option<Permit<'s>>>,
}

impl<'s> Reserve<'s> {
    /// Makes a reserve with the permit, if there is one.
    pub(super) fn new(from: &'s Room, permit: Option<Permit<'s>>, place: Place) -> Self {
        let permits = Cell::new(permit.is_some().into());
        debug_assert!(permit.as_ref().is_none_or(|permit| std::ptr::eq(permit.0, from)));
        mem::forget(permit);
        Reserve { from, place, permits, spent: RefCell::default() }
    }

    /// Whether the time of the task's steps counts.
    pub(super) fn is_timed(&self) -> bool {
        self.from.own.is_timed(self.place)
    }

    /// Notes that the task has begun so many items since that time.
    pub(super) fn has_begun(&self, items: usize, since: Instant) {
        self.from.own.has_begun(self.place, items, since);
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
    pub(super) fn take(&self) -> Option<Permit<'s>> {
        if let Some(permits) = self.permits.get().checked_sub(1) {
            self.permits.set(permits);
            return Some(Permit(self.from));
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
    pub(super) fn put(&self, permit: Permit<'s>, keeps: bool) {
        debug_assert!(std::ptr::eq(permit.0, self.from));
        if self.from.allows_reuse() && (keeps || self.from.limit.is_none()) {
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

#[cfg(test)]
mod tests;
