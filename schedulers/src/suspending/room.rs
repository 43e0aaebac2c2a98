//! The permits of a call: of a [semaphore] of its own, or of the one of a [limit](Limit).

use super::limit::Limit;
use super::semaphore::{Front, LineKind, Member, Place, Semaphore, State, WAITING};
use furcate_pool::sync::machine::MutexGuard;
use furcate_pool::sync::machine::atomic::Ordering::Relaxed;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A call's part in a semaphore: its tasks share it.
#[derive(Debug)]
pub(crate) struct Room {
    semaphore: Arc<Semaphore>,
    /// The call's number there.
    call: usize,
    /// Number of permits of the call.
    permits: usize,
    /// Whether other calls have part in the semaphore.
    is_shared: bool,
    /// Whether the permit of a ready future is good for another one. (A rate counts each of them.)
    allows_reuse: bool,
    /// Whether all that the call does with permits is done under the lock: it has a bound of its own, or there is a rate.
    is_locked: bool,
    front: Arc<Front>,
}

/// The right to one future; given back when dropped.
#[derive(Debug)]
pub(super) struct Permit<'s>(&'s Room);

impl Room {
    /// Makes the room of a call: for at most `most` futures, under the limit.
    pub(super) fn new(most: usize, limit: Option<&Limit>) -> Self {
        let semaphore = limit.map_or_else(|| Semaphore::new(most, None, None), Limit::semaphore);
        let permits = most.min(semaphore.permits());
        let (front, free) =
            (Arc::new(Front::new(permits)), Some(permits).filter(|&own| own < semaphore.permits()));
        let allows_reuse = !semaphore.has_rate();
        let is_locked = free.is_some() || !allows_reuse;
        let call = semaphore.lock().join(Member::new(Arc::clone(&front), permits, free));
        Room { semaphore, call, permits, is_shared: limit.is_some(), allows_reuse, is_locked, front }
    }

    /// Returns the number of permits, free or not.
    pub(super) fn permits(&self) -> usize {
        self.permits
    }

    /// Whether other calls may wait for the call's permits.
    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Whether the permit of a ready future is good for another one.
    #[inline]
    pub(super) fn allows_reuse(&self) -> bool {
        self.allows_reuse
    }

    /// Whether a new item would find no permit: none is free, or waiting tasks want the free ones. A hint.
    pub(super) fn is_full(&self) -> bool {
        self.semaphore.free() == 0 || self.is_wanted()
    }

    /// Takes permits for new items at this place: so many, or as many as there are. Returns how many: none while a task waits that may
    /// have any.
    pub(super) fn take(&self, most: usize, place: Place) -> usize {
        if self.is_locked {
            return self.take_locked(&mut self.semaphore.lock(), most, LineKind::New, place);
        }
        self.semaphore.take(most, self.front.kept(LineKind::New, place), WAITING)
    }

    fn take_locked(&self, state: &mut State, most: usize, kind: LineKind, place: Place) -> usize {
        let (own, kept) = state.member(self.call).beside(self.front.kept(kind, place));
        let most = most.min(own).min(self.semaphore.tokens(state));
        let taken = self.semaphore.take(most, kept, WAITING);
        state.spend(taken as isize);
        if let Some(free) = &mut state.member(self.call).free {
            *free -= taken;
            state.refresh(self.call);
        }
        taken
    }

    /// Takes a permit for a new item.
    pub(super) fn try_acquire(&self, place: Place) -> Option<Permit<'_>> {
        (self.take(1, place) > 0).then(|| Permit(self))
    }

    /// Gives permits back: to tasks that wait, if there are any.
    #[inline]
    pub(super) fn give_back(&self, permits: usize) {
        if permits > 0 && (self.is_locked || !self.semaphore.give_back(permits)) {
            let mut state = self.semaphore.lock();
            self.give_back_locked(&mut state, permits);
            self.semaphore.hand_out(state, permits);
        }
    }

    /// Gives permits back to the call. The caller hands out the semaphore's.
    fn give_back_locked(&self, state: &mut State, permits: usize) {
        if let Some(free) = &mut state.member(self.call).free {
            *free += permits;
            state.refresh(self.call);
        }
    }

    /// Gives back permits with which no future has begun.
    pub(super) fn give_back_unused(&self, permits: usize) {
        if permits > 0 && !self.allows_reuse {
            self.semaphore.lock().spend(-(permits as isize));
        }
        self.give_back(permits);
    }

    /// Makes the permit of a ready future valid for another one. Fails if the rate does not allow another future now,
    /// or if a task waits.
    pub(super) fn renew(&self) -> bool {
        self.renew_locked(&mut self.semaphore.lock())
    }

    fn renew_locked(&self, state: &mut State) -> bool {
        let is_renewed = !self.is_wanted_locked(state) && self.semaphore.tokens(state) > 0;
        if is_renewed {
            state.spend(1);
        }
        is_renewed
    }

    /// Whether the permit of a future that is ready is to be [exchanged](Self::exchange) before the item's next future is made. A hint.
    pub(super) fn is_wanted(&self) -> bool {
        if self.is_locked {
            self.is_wanted_locked(&mut self.semaphore.lock())
        } else {
            self.semaphore.is_wanted()
        }
    }

    fn is_wanted_locked(&self, state: &mut State) -> bool {
        let own = state.member(self.call);
        self.semaphore.is_wanted() || (own.free.is_some() && own.is_wanted())
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self, kind: LineKind, place: Place) -> Acquire<'_> {
        Acquire { room: self, kind, place, ticket: None, gives: None }
    }

    /// Waits for a permit for the next future of an item whose last future had `permit`. If no task waits, that is the same one; else
    /// it goes to one of those, in the critical section in which the item joins the line (invariant 5 of the [semaphore]).
    pub(super) fn exchange<'s>(&'s self, permit: Permit<'s>, kind: LineKind, place: Place) -> Acquire<'s> {
        debug_assert!(std::ptr::eq(permit.0, self));
        Acquire { gives: Some(permit), ..self.acquire(kind, place) }
    }

    /// Returns permits that the caller has taken.
    #[inline]
    pub(super) fn held(&self) -> Permit<'_> {
        Permit(self)
    }
}

/// The front (invariant 7 of the [semaphore]).
impl Room {
    /// Whether permits are kept for the front. If not, no branch need enter any more, nor leave. A hint, which never becomes true again.
    pub(super) fn keeps_some(&self) -> bool {
        self.front.keeps_some()
    }

    /// Keeps no permits, because there are enough for all items. Called before any branch enters.
    pub(super) fn keep_none(&self) {
        let _state = self.semaphore.lock();
        // Relaxed: written with the lock held; see `Front::kept`. The same holds below.
        self.front.kept.store(0, Relaxed);
    }

    /// Notes branches with items that have not begun.
    pub(super) fn enter(&self, branches: [Place; 2]) {
        if self.keeps_some() {
            let mut state = self.semaphore.lock();
            state.member(self.call).branches.extend(branches);
            self.set_front(state);
        }
    }

    /// Notes that all items of a branch have begun, or are left out.
    pub(super) fn leave(&self, branch: Place) {
        // The branch has entered before, if any has, and the caller knows of that.
        if self.keeps_some() && self.front.is_set() {
            let mut state = self.semaphore.lock();
            state.member(self.call).branches.remove(&branch);
            self.set_front(state);
        }
    }

    /// Notes that a branch has begun so many items.
    pub(super) fn has_begun(&self, branch: Place, items: usize) {
        if self.keeps_some() && self.front.is_at(branch) {
            let state = self.semaphore.lock();
            // Relaxed: written with the lock held; see `Front::kept`.
            self.front.kept.store(self.front.kept.load(Relaxed).saturating_sub(items), Relaxed);
            self.set_front(state);
        }
    }

    /// Sets the front, and serves those that may have more permits now.
    fn set_front(&self, mut state: MutexGuard<'_, State>) {
        let first = state.member(self.call).branches.first().copied();
        self.front.set(first);
        state.refresh(self.call);
        self.semaphore.hand_out(state, 0);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if self.is_shared {
            self.semaphore.lock().leave(self.call);
        }
    }
}

impl<'s> Permit<'s> {
    /// Returns the room that the permit comes from.
    #[inline]
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
    /// Its ticket while it waits.
    ticket: Option<u64>,
    /// The permit that it gives for another one, before its first poll.
    gives: Option<Permit<'s>>,
}

impl<'s> Future for Acquire<'s> {
    type Output = Permit<'s>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit<'s>> {
        let (room, kind) = (self.room, self.kind);
        let semaphore = &room.semaphore;
        if self.ticket.is_some_and(|ticket| room.front.has_served(kind, self.place, ticket)) {
            self.ticket = None;
            return Poll::Ready(Permit(room));
        }
        // Wakers are not ours: they are cloned and dropped without the lock.
        let mut waker = context.waker().clone();
        let mut state = semaphore.lock();
        if let Some(ticket) = self.ticket {
            let waiting = state.member(room.call).line(kind).waker(self.place, ticket);
            let waits = waiting.map(|before| mem::swap(before, &mut waker)).is_some();
            drop(state);
            if waits {
                return Poll::Pending;
            }
            self.ticket = None;
            return Poll::Ready(Permit(room));
        }
        if kind != LineKind::New || !room.keeps_some() {
            self.place = Place::LAST;
        }
        let held = match self.gives.take() {
            Some(permit) if room.renew_locked(&mut state) => {
                drop(state);
                return Poll::Ready(permit);
            }
            Some(permit) => {
                mem::forget(permit);
                room.give_back_locked(&mut state, 1);
                1
            }
            None if room.take_locked(&mut state, 1, kind, self.place) > 0 => {
                drop(state);
                return Poll::Ready(Permit(room));
            }
            None => 0,
        };
        self.ticket = Some(state.member(room.call).wait(kind, self.place, waker));
        state.refresh(room.call);
        semaphore.hand_out(state, held);
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let (room, mut state) = (self.room, self.room.semaphore.lock());
        let waker = state.member(room.call).line(self.kind).leave(self.place, ticket);
        state.refresh(room.call);
        room.semaphore.hand_out(state, 0);
        if waker.is_none() {
            // The ticket was served with a permit, which is not taken.
            room.give_back_unused(1);
        }
    }
}

#[cfg(test)]
mod tests;
