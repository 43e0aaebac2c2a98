//! The bound on futures in flight: a fair semaphore.
//!
//! Tasks wait for permits in two lines. A call begins with new items, and gives the permits that come back to items in turns:
//!
//! ```text
//!   future of item a is ready ─> exchange: a gives its permit ──┬─> first new item    if at most n begun items wait
//!                                a joins the line of begun ─┐   └─> first begun item  otherwise
//!                                                           └─ ... a's turn: a makes its next future, with that permit
//! ```
//!
//! If each item kept its permit over all of its futures, the last permits would lie idle: of 100 items with 4 futures each and
//! 64 permits, 64 items take four turns, and the other 36 take four more. In turns they take seven.
//!
//! # Invariants
//!
//! Let n be the number of permits.
//!
//! 1. Permits given out and free permits are together n.
//! 2. *No task holds more permits than it can use.* It holds those for the futures of its next step, while the loop lasts.
//! 3. *No permit lies idle while a task waits*, but for those that are kept for the front (7). A permit that is given back goes straight to a
//!    waiting task, which is queued before (nearly) all tasks that were woken earlier. A waiting task that is dropped hands its permit on.
//!    While a task waits, other tasks cannot take permits. So every task that waits gets a permit, however many items wait.
//! 4. *First come, first served* within a line, but for the first items (7). A permit goes to a new item while at most n begun items wait;
//!    else to a begun one. In a search, items that have begun go first, because each of them may end the search.
//! 5. *At most 2n items have begun* and have another future to come: n in flight, and n in line. For an item joins the line in the
//!    critical section that gives its permit to another one, and no new item begins while n + 1 are in line. (Not counted
//!    are the futures that one item begins beside its first.)
//! 6. Whenever the lock is free: the word is `WAITING` exactly if a task waits that may have any permit. Then there are no free permits, and
//!    the word is changed by the holder of the lock only. Else it has the bit `BEHIND` exactly if a task waits, and no more permits are free
//!    than that task leaves to the front.
//! 7. *From the front.* The *front* is the first branch with an item that has not begun. A branch that is in front stays there until all its
//!    items have begun. As long as fewer than n items have begun there, the permits for the rest of the n are kept, and tasks wait for
//!    permits in the order of their places. The result of a first item may end the call. So the owner of the left half begins it before a
//!    thief takes permits for the right half. (If the front takes long to begin items, because of
//!    computations, no more permits are kept.)

use furcate_pool::clock::Instant;
use furcate_pool::detach::{wake_first, wake_soon};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::mem;
use std::pin::Pin;
use std::sync::atomic::Ordering::{self, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The semaphore that all tasks of a call share, or all items of a pipeline's stage.
///
/// The tokens of `cap` and the quota of `take_any` only look alike: no task waits for them, so they are a number without a line.
#[derive(Debug)]
pub struct InFlight {
    /// Number of free permits, with the bit `BEHIND`; or [`WAITING`].
    word: AtomicUsize,
    /// Number of permits.
    permits: usize,
    unbounded: bool,
    /// The place of the front, or more than any place if no branch has entered. Written with the lock held.
    front: AtomicU64,
    /// Number of permits that are kept for the front (invariant 7). Never grows. Written with the lock held.
    kept: AtomicUsize,
    /// Number of the front's last steps that were slow. Accessed with the lock held.
    slow_steps: AtomicU32,
    waiting: Mutex<PermitWaiters>,
}

/// The word while a task waits that may have any permit.
const WAITING: usize = 1 << (usize::BITS - 1);

/// Set while only tasks wait that leave some permits to the front.
const BEHIND: usize = WAITING >> 1;

/// Time for each item of a step after which the step is slow.
const SLOW: Duration = Duration::from_micros(50);

/// Number of slow steps in a row after which no permits are kept for the front. (One may be slow because its thread lacks a core.)
const PATIENCE: u32 = 3;

/// The place of a branch in the division tree: the greater the place, the later the branch's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(u64);

impl Place {
    /// The place of the whole, and of the first part of every division of it.
    pub(super) const FIRST: Place = Place(0);

    /// The place in the line when places mean nothing any more.
    const LAST: Place = Place(u64::MAX);

    /// Returns the place of the right part, where the branch is divided after `depth` divisions. Below 64 divisions, parts share a place.
    pub(super) fn right(self, depth: u8) -> Place {
        Place(self.0 | (1_u64 << 63).checked_shr(depth.into()).unwrap_or(0))
    }
}

/// Tasks that wait for permits, and branches with items that have not begun.
#[derive(Debug, Default)]
struct PermitWaiters {
    first: Line,
    begun: Line,
    new: Line,
    /// New items that have waited since places meant something, by their places and tickets. They go before the others.
    placed: BTreeMap<(Place, u64), Waker>,
    /// Ticket of the next one of these.
    next: u64,
    branches: BTreeSet<Place>,
}

/// Tasks that wait for permits, first come, first served.
#[derive(Debug, Default)]
struct Line {
    /// Number of tickets that were served, or given up: ticket `served` is the first of the line.
    served: u64,
    /// Wakers by ticket. `None` for tickets given up: the first one is not.
    wakers: VecDeque<Option<Waker>>,
}

/// The line in which a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// For an item of a search that has begun: it has waited for a future before. It goes before all others.
    First,
    /// For any other item that has begun. It goes in turns with new ones.
    Begun,
    /// For the first future of an item.
    New,
}

impl LineKind {
    /// Returns the order in which lines are served, if `begun` items wait for one of `permits` permits (invariant 4).
    pub(super) fn order(begun: usize, permits: usize) -> [LineKind; 3] {
        if begun <= permits {
            [LineKind::First, LineKind::New, LineKind::Begun]
        } else {
            [LineKind::First, LineKind::Begun, LineKind::New]
        }
    }

    /// Wakes a task of this line that was served. It has waited longer than the tasks that were woken before.
    pub(super) fn wake(self, waker: Waker) {
        match self {
            LineKind::First | LineKind::Begun => wake_first(waker),
            // Often a task that makes a future for each permit: not one task more for each permit that comes back.
            LineKind::New => wake_soon(waker),
        }
    }
}

impl Line {
    fn join(&mut self, waker: Waker) -> u64 {
        self.wakers.push_back(Some(waker));
        self.served + self.wakers.len() as u64 - 1
    }

    /// Returns the waker of a ticket, unless the ticket was served.
    fn waker(&mut self, ticket: u64) -> Option<&mut Option<Waker>> {
        let index = ticket.checked_sub(self.served)?;
        self.wakers.get_mut(index as usize)
    }

    /// Serves the first ticket.
    fn serve(&mut self) -> Option<Waker> {
        let first = self.wakers.pop_front()?;
        self.served += 1;
        self.skip();
        first
    }

    /// Removes a ticket that was not served. Returns its waker.
    fn leave(&mut self, ticket: u64) -> Option<Waker> {
        let waker = self.waker(ticket)?.take();
        self.skip();
        waker
    }

    /// Skips tickets that were removed.
    fn skip(&mut self) {
        while self.wakers.front().is_some_and(Option::is_none) {
            self.wakers.pop_front();
            self.served += 1;
        }
    }
}

impl PermitWaiters {
    /// Returns the line of an item; `None` if it waits by its place.
    fn line(&mut self, kind: LineKind, place: Place) -> Option<&mut Line> {
        match kind {
            LineKind::First => Some(&mut self.first),
            LineKind::Begun => Some(&mut self.begun),
            LineKind::New if place == Place::LAST => Some(&mut self.new),
            LineKind::New => None,
        }
    }

    fn join(&mut self, kind: LineKind, place: Place, waker: Waker) -> u64 {
        if let Some(line) = self.line(kind, place) {
            return line.join(waker);
        }
        self.next += 1;
        self.placed.insert((place, self.next), waker);
        self.next
    }

    /// Puts another waker in the place of a ticket's. Returns the one before; gives `waker` back if the ticket was served.
    fn replace(&mut self, kind: LineKind, place: Place, ticket: u64, waker: Waker) -> Result<Waker, Waker> {
        let before = match self.line(kind, place) {
            Some(line) => line.waker(ticket).and_then(Option::as_mut),
            None => self.placed.get_mut(&(place, ticket)),
        };
        match before {
            Some(before) => Ok(mem::replace(before, waker)),
            None => Err(waker),
        }
    }

    /// Removes a ticket that was not served. Returns its waker.
    fn leave(&mut self, kind: LineKind, place: Place, ticket: u64) -> Option<Waker> {
        match self.line(kind, place) {
            Some(line) => line.leave(ticket),
            None => self.placed.remove(&(place, ticket)),
        }
    }

    /// Serves the first ticket of a line.
    fn serve(&mut self, kind: LineKind) -> Option<Waker> {
        let place = if self.placed.is_empty() { Place::LAST } else { Place::FIRST };
        match self.line(kind, place) {
            Some(line) => line.serve(),
            None => self.placed.pop_first().map(|(_, waker)| waker),
        }
    }

    /// The place of the first new item.
    fn first_new(&self) -> Option<Place> {
        let placed = self.placed.first_key_value().map(|(&(place, _), _)| place);
        placed.or_else(|| (!self.new.wakers.is_empty()).then_some(Place::LAST))
    }
}

/// The right to one future; given back when dropped.
#[derive(Debug)]
pub(super) struct InFlightPermit<'s>(&'s InFlight);

impl InFlight {
    /// Makes a semaphore. A number of permits that reaches the bit `BEHIND` is no bound.
    #[must_use]
    pub fn new(permits: usize) -> Self {
        let unbounded = permits >= BEHIND;
        let free = if unbounded { 0 } else { permits };
        InFlight {
            word: AtomicUsize::new(free),
            permits,
            unbounded,
            front: AtomicU64::new(u64::MAX),
            kept: AtomicUsize::new(permits),
            slow_steps: AtomicU32::new(0),
            waiting: Mutex::default(),
        }
    }

    /// Returns the number of permits that a new item at this place leaves to the front (invariant 7). A hint without the lock.
    fn kept(&self, kind: LineKind, place: Place) -> usize {
        // Relaxed: a branch that was in front stays there. One that does not know yet that it is in front looks again, under the lock.
        let is_free = kind != LineKind::New || place.0 <= self.front.load(Relaxed);
        if is_free { 0 } else { self.kept.load(Relaxed) }
    }

    /// Takes so many permits for new items at this place, or as many as there are. Returns how many: none while a task waits that may have
    /// any.
    ///
    /// Acquire: pairs with the release in `give_back`. The task sees results found by the permit's last holder (invariant 6 of the
    /// scheduler). With Relaxed it might begin an item that is not needed any more, and wait for it for ever. A permit that is handed
    /// to a waiting task goes through the lock, which orders the two as well.
    pub(super) fn take(&self, most: usize, place: Place) -> usize {
        if self.unbounded { most } else { self.take_beside(most, self.kept(LineKind::New, place)) }
    }

    /// Takes so many permits, or as many as there are beside `kept` ones.
    fn take_beside(&self, most: usize, kept: usize) -> usize {
        let taken = |word: usize| match word {
            WAITING => 0,
            word => (word & !BEHIND).saturating_sub(kept).min(most),
        };
        let take = |word: usize| Some(taken(word)).filter(|&taken| taken > 0).map(|taken| word - taken);
        self.word.fetch_update(Ordering::Acquire, Relaxed, take).map_or(0, taken)
    }

    /// Gives permits back: to tasks that wait, if there are any.
    #[inline]
    pub(super) fn give_back(&self, permits: usize) {
        if permits > 0 && !self.unbounded {
            self.give_back_bounded(permits);
        }
    }

    fn give_back_bounded(&self, permits: usize) {
        let add = |word: usize| (word < BEHIND).then(|| word + permits);
        if self.word.fetch_update(Ordering::Release, Relaxed, add).is_ok() {
            return;
        }
        for _ in 0..permits {
            let mut waiting = self.waiting();
            let mut served = if self.is_wanted() { self.serve(&mut waiting) } else { None };
            if served.is_none() {
                // By invariant 6 it is not `WAITING`, a bit that no sum may touch.
                debug_assert!(!self.is_wanted());
                self.word.fetch_add(1, Ordering::Release);
                served = self.serve_beside(&mut waiting);
            }
            self.settle(&waiting);
            drop(waiting);
            served.into_iter().for_each(|(kind, waker)| kind.wake(waker));
        }
    }

    /// Serves one ticket with a permit that the caller has (invariant 4).
    fn serve(&self, waiting: &mut PermitWaiters) -> Option<(LineKind, Waker)> {
        // The length counts tickets that were given up, too: only calls that end have such tickets.
        let mut order = LineKind::order(waiting.begun.wakers.len(), self.permits).into_iter();
        order.find_map(|kind| {
            let is_free = kind != LineKind::New || self.is_first_new_free(waiting);
            Some((kind, is_free.then(|| waiting.serve(kind))??))
        })
    }

    /// Serves the first new item with a free permit, if there is one beside those that the item leaves to the front.
    fn serve_beside(&self, waiting: &mut PermitWaiters) -> Option<(LineKind, Waker)> {
        let kept = self.kept(LineKind::New, waiting.first_new()?);
        if self.take_beside(1, kept) == 0 {
            return None;
        }
        waiting.serve(LineKind::New).map(|waker| (LineKind::New, waker))
    }

    /// Whether the first new item that waits may have any permit.
    fn is_first_new_free(&self, waiting: &PermitWaiters) -> bool {
        waiting.first_new().is_some_and(|place| self.kept(LineKind::New, place) == 0)
    }

    /// Makes the word agree with the lines (invariant 6).
    fn settle(&self, waiting: &PermitWaiters) {
        let [first, begun] = [&waiting.first, &waiting.begun].map(|line| !line.wakers.is_empty());
        let is_wanted = first || begun || self.is_first_new_free(waiting);
        let settled = |word: usize| {
            let free = if word == WAITING { 0 } else { word & !BEHIND };
            let settled = match (is_wanted, waiting.first_new()) {
                (true, _) if free == 0 => WAITING,
                (_, Some(_)) => free | BEHIND,
                (_, None) => free,
            };
            Some(settled).filter(|&settled| settled != word)
        };
        // Relaxed: this hands out no permits.
        let _ = self.word.fetch_update(Relaxed, Relaxed, settled);
    }

    /// Whether permits are kept for the front. If not, no branch need enter any more, nor leave. A hint, which never becomes true again.
    pub(super) fn keeps_some(&self) -> bool {
        // Relaxed: see above.
        !self.unbounded && self.kept.load(Relaxed) > 0
    }

    /// Keeps no permits, because there are enough for all items. Called before any branch enters.
    pub(super) fn keep_none(&self) {
        let _waiting = self.waiting();
        self.kept.store(0, Relaxed);
    }

    /// Whether the time of the branch's steps counts: it is in front, and permits are kept for it.
    pub(super) fn is_timed(&self, branch: Place) -> bool {
        // Relaxed: written with the lock held; see `kept`.
        self.keeps_some() && branch.0 == self.front.load(Relaxed)
    }

    /// Notes branches with items that have not begun.
    pub(super) fn enter(&self, branches: [Place; 2]) {
        if self.keeps_some() {
            let mut waiting = self.waiting();
            waiting.branches.extend(branches);
            self.set_front(waiting);
        }
    }

    /// Notes that all items of a branch have begun, or are left out.
    pub(super) fn leave(&self, branch: Place) {
        // Relaxed: the branch has entered before, if any has, and the caller knows of that.
        if self.keeps_some() && self.front.load(Relaxed) != u64::MAX {
            let mut waiting = self.waiting();
            waiting.branches.remove(&branch);
            self.set_front(waiting);
        }
    }

    /// Notes that a branch has begun so many items since that time.
    pub(super) fn has_begun(&self, branch: Place, items: usize, since: Instant) {
        let is_slow = since.elapsed() > SLOW.saturating_mul(u32::try_from(items).unwrap_or(u32::MAX));
        let waiting = self.waiting();
        if self.is_timed(branch) {
            // Relaxed: written with the lock held.
            let slow_steps = if is_slow { self.slow_steps.load(Relaxed) + 1 } else { 0 };
            let kept = self.kept.load(Relaxed).saturating_sub(items);
            self.slow_steps.store(slow_steps, Relaxed);
            self.kept.store(if slow_steps < PATIENCE { kept } else { 0 }, Relaxed);
            self.set_front(waiting);
        }
    }

    /// Sets the front, and serves those that may have more permits now.
    fn set_front(&self, mut waiting: MutexGuard<'_, PermitWaiters>) {
        // Relaxed: written with the lock held; see `kept`.
        self.front.store(waiting.branches.first().map_or(u64::MAX, |front| front.0), Relaxed);
        let served: Vec<_> = std::iter::from_fn(|| self.serve_beside(&mut waiting)).collect();
        self.settle(&waiting);
        drop(waiting);
        served.into_iter().for_each(|(kind, waker)| kind.wake(waker));
    }

    /// Returns a permit if one is free and no task waits.
    fn try_acquire(&self, kind: LineKind, place: Place) -> Option<InFlightPermit<'_>> {
        let taken = self.unbounded || self.take_beside(1, self.kept(kind, place)) > 0;
        taken.then(|| InFlightPermit(self))
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self, kind: LineKind, place: Place) -> InFlightAcquire<'_> {
        InFlightAcquire { from: self, kind, place, ticket: None, gives: None }
    }

    /// Waits for a permit of a stage, where items come and are served in one line. The permit is given back when it is dropped.
    pub fn permit(&self) -> impl Future<Output = impl Send> + Send {
        self.acquire(LineKind::New, Place::FIRST)
    }

    /// Waits for a permit for the next future of an item whose last future had `permit`. If no task waits, that is the same one; else
    /// it goes to one of those, in the critical section in which the item joins the line (invariant 5).
    pub(super) fn exchange<'s>(
        &'s self,
        permit: InFlightPermit<'s>,
        kind: LineKind,
        place: Place,
    ) -> InFlightAcquire<'s> {
        InFlightAcquire { from: self, kind, place, ticket: None, gives: Some(permit) }
    }

    /// Returns the number of permits, free or not.
    pub(super) fn permits(&self) -> usize {
        self.permits
    }

    /// Whether a task waits that may have any permit: a hint.
    pub(super) fn is_wanted(&self) -> bool {
        // Relaxed: a caller that acts on it looks again, under the lock.
        self.word.load(Relaxed) == WAITING
    }

    /// Returns a permit that the caller holds, and that no other value represents.
    pub(super) fn held(&self) -> InFlightPermit<'_> {
        InFlightPermit(self)
    }

    fn waiting(&self) -> MutexGuard<'_, PermitWaiters> {
        self.waiting.lock().expect("nobody panics with this lock")
    }

    /// Returns the number of free permits. A hint.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        if self.unbounded { usize::MAX } else { self.word.load(Relaxed) & !(WAITING | BEHIND) }
    }
}

impl Drop for InFlightPermit<'_> {
    fn drop(&mut self) {
        self.0.give_back(1);
    }
}

/// The future of a [`InFlightPermit`].
#[derive(Debug)]
pub(super) struct InFlightAcquire<'s> {
    from: &'s InFlight,
    kind: LineKind,
    place: Place,
    /// Its ticket while it waits.
    ticket: Option<u64>,
    /// The permit that it gives for another one, before its first poll.
    gives: Option<InFlightPermit<'s>>,
}

impl<'s> Future for InFlightAcquire<'s> {
    type Output = InFlightPermit<'s>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<InFlightPermit<'s>> {
        let (from, kind) = (self.from, self.kind);
        // Wakers are not ours: they are cloned and dropped without the lock.
        let waker = context.waker().clone();
        let mut waiting = from.waiting();
        if let Some(ticket) = self.ticket {
            let replaced = waiting.replace(kind, self.place, ticket, waker);
            drop(waiting);
            if replaced.is_ok() {
                return Poll::Pending;
            }
            self.ticket = None;
            return Poll::Ready(InFlightPermit(from));
        }
        if !from.keeps_some() {
            self.place = Place::LAST;
        }
        let place = self.place;
        if let Some(permit) = self.gives.take() {
            // The word is this thread's if it is `WAITING`: the lock is held.
            if !from.is_wanted() {
                drop((waiting, waker));
                return Poll::Ready(permit);
            }
            self.ticket = Some(waiting.join(kind, place, waker));
            let served = from.serve(&mut waiting);
            from.settle(&waiting);
            drop(waiting);
            if let Some((kind, waker)) = served {
                mem::forget(permit);
                kind.wake(waker);
            }
            return Poll::Pending;
        }
        let kept = from.kept(kind, place);
        loop {
            if let Some(permit) = from.try_acquire(kind, place) {
                drop((waiting, waker));
                return Poll::Ready(permit);
            }
            // From here on a permit that is given back is handed to a waiting task. A permit that was given back before is in the word.
            // Relaxed: the changes of one word have one order.
            let word = from.word.load(Relaxed);
            let joined = if kept == 0 { WAITING } else { word | BEHIND };
            let is_free = word != WAITING && word & !BEHIND > kept;
            let is_set = word == WAITING || word == joined;
            if !is_free && (is_set || from.word.compare_exchange(word, joined, Relaxed, Relaxed).is_ok()) {
                break;
            }
        }
        self.ticket = Some(waiting.join(kind, place, waker));
        Poll::Pending
    }
}

impl Drop for InFlightAcquire<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut waiting = self.from.waiting();
        let waker = waiting.leave(self.kind, self.place, ticket);
        self.from.settle(&waiting);
        drop(waiting);
        if waker.is_none() {
            // The ticket was served with a permit, which is not taken.
            self.from.give_back(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::Arc;
    use testkit::wakes::WakeCount;

    fn poll(acquire: Pin<&mut InFlightAcquire<'_>>, count: &Arc<WakeCount>) -> bool {
        count.poll(acquire).is_ready()
    }

    fn take_new(in_flight: &InFlight) -> Option<InFlightPermit<'_>> {
        in_flight.try_acquire(LineKind::New, Place::FIRST)
    }

    #[test]
    fn as_many_as_there_are() {
        let in_flight = InFlight::new(2);
        let (one, two) = (take_new(&in_flight), take_new(&in_flight));
        assert!(one.is_some() && two.is_some() && take_new(&in_flight).is_none());
        drop(one);
        assert_eq!(in_flight.free(), 1);
        let unbounded = InFlight::new(usize::MAX);
        assert!((0..1000).all(|_| { take_new(&unbounded).is_some_and(|_| unbounded.free() == usize::MAX) }));
    }

    #[test]
    fn whoever_waits_is_woken_once() {
        let (in_flight, count) = (InFlight::new(1), WakeCount::new());
        let permit = take_new(&in_flight);
        let (mut first, mut second) = (
            pin!(in_flight.acquire(LineKind::New, Place::FIRST)),
            pin!(in_flight.acquire(LineKind::New, Place::FIRST)),
        );
        assert!(!poll(first.as_mut(), &count) && !poll(second.as_mut(), &count));
        assert_eq!(count.get(), 0);
        drop(permit);
        assert_eq!(count.get(), 1);
        assert!(poll(first, &count), "the permit, which is dropped at once");
        assert_eq!(count.get(), 2);
        assert!(poll(second, &count));
    }

    /// Permits go from thread to thread: no thread waits for ever, and no permit is lost.
    #[cfg(not(loom))] // models have no pool
    #[test]
    fn nobody_waits_while_there_are_permits() {
        const THREADS: usize = 4;
        for permits in [1, 2, 3] {
            let (in_flight, held) = (InFlight::new(permits), AtomicUsize::new(0));
            std::thread::scope(|threads| {
                // Each thread begins the items of one branch. The first thread's branch is the front.
                let places: Vec<_> = (0..THREADS as u64).map(Place).collect();
                places.windows(2).for_each(|two| in_flight.enter([two[0], two[1]]));
                for place in places {
                    let (in_flight, held) = (&in_flight, &held);
                    threads.spawn(move || {
                        for round in 0..2000 {
                            let permit = furcate_pool::block_on(in_flight.acquire(LineKind::New, place));
                            assert!(held.fetch_add(1, Relaxed) < permits);
                            if round % 8 == 0 {
                                std::thread::yield_now();
                            }
                            held.fetch_sub(1, Relaxed);
                            drop(permit);
                        }
                        in_flight.leave(place);
                    });
                }
            });
            assert_eq!(in_flight.free(), permits);
            assert_eq!(in_flight.word.into_inner(), permits, "nobody waits any more");
        }
    }

    const RIGHT: Place = Place(1 << 63);

    #[test]
    fn permits_are_kept_for_the_front() {
        let (in_flight, count) = (InFlight::new(5), WakeCount::new());
        assert_eq!(
            (in_flight.take(1, RIGHT), Place::FIRST.right(0)),
            (1, RIGHT),
            "nothing is known of a front"
        );
        in_flight.enter([Place::FIRST, RIGHT]);
        assert_eq!(in_flight.take(9, RIGHT), 0);
        let mut behind = Box::pin(in_flight.acquire(LineKind::New, RIGHT));
        assert!(!poll(behind.as_mut(), &count));
        assert_eq!((in_flight.take(2, Place::FIRST), in_flight.free(), in_flight.is_wanted()), (2, 2, false));
        in_flight.give_back(1);
        assert_eq!((in_flight.free(), count.get()), (3, 0), "it is kept, too");
        in_flight.has_begun(Place::FIRST, 3, Instant::now());
        assert_eq!((in_flight.free(), count.get()), (2, 1), "two are kept");
        assert!(poll(behind.as_mut(), &count), "the permit, which is dropped at once");
        assert_eq!(in_flight.free(), 3);
        in_flight.leave(Place::FIRST);
        assert_eq!(in_flight.take(9, RIGHT), 3, "it is in front now");
    }

    #[test]
    fn new_items_are_served_from_the_front() {
        let (in_flight, count) = (InFlight::new(1), WakeCount::new());
        in_flight.enter([Place::FIRST, RIGHT]);
        in_flight.enter([Place::FIRST, Place::FIRST.right(1)]);
        assert_eq!(in_flight.take(1, Place::FIRST), 1);
        let [mut last, mut middle, mut first] = [RIGHT, Place::FIRST.right(1), Place::FIRST]
            .map(|place| Box::pin(in_flight.acquire(LineKind::New, place)));
        assert!([&mut last, &mut middle, &mut first].into_iter().all(|wait| !poll(wait.as_mut(), &count)));
        in_flight.give_back(1);
        assert!(count.get() == 1 && !poll(last.as_mut(), &count) && !poll(middle.as_mut(), &count));
        assert!(poll(first.as_mut(), &count), "the permit, which is dropped at once");
        assert_eq!((in_flight.free(), count.get()), (1, 1), "it is kept");
        in_flight.leave(Place::FIRST);
        assert!(count.get() == 2 && !poll(last.as_mut(), &count), "the middle one is in front now");
        drop(middle);
        in_flight.leave(Place::FIRST.right(1));
        assert!(count.get() == 3 && poll(last.as_mut(), &count));
        in_flight.leave(RIGHT);
        assert_eq!(in_flight.word.load(Relaxed), 1);
    }

    #[test]
    fn nothing_is_kept_once_the_first_items_have_begun() {
        let (in_flight, count) = (InFlight::new(10), WakeCount::new());
        in_flight.enter([Place::FIRST, RIGHT]);
        assert_eq!((in_flight.take(3, Place::FIRST), in_flight.take(9, RIGHT)), (3, 0));
        let mut behind = Box::pin(in_flight.acquire(LineKind::New, RIGHT));
        assert!(!poll(behind.as_mut(), &count));
        in_flight.has_begun(RIGHT, 5, Instant::now());
        in_flight.has_begun(Place::FIRST, 3, Instant::now());
        assert_eq!(count.get(), 0, "the other seven are kept");
        in_flight.has_begun(Place::FIRST, 4, Instant::now());
        assert!(count.get() == 1 && poll(behind.as_mut(), &count), "three are kept, of seven that are free");
        assert_eq!(in_flight.take(9, RIGHT), 4);
        in_flight.has_begun(Place::FIRST, 3, Instant::now());
        assert!(!in_flight.keeps_some());
        assert_eq!(in_flight.take(9, RIGHT), 3);
        // First come, first served from now on.
        let [mut one, mut other] =
            [RIGHT, Place::FIRST].map(|place| Box::pin(in_flight.acquire(LineKind::New, place)));
        assert!(!poll(one.as_mut(), &count) && !poll(other.as_mut(), &count));
        in_flight.give_back(1);
        assert!(poll(one.as_mut(), &count));
    }

    #[test]
    fn nothing_is_kept_for_a_front_that_is_slow() {
        let (in_flight, count) = (InFlight::new(2), WakeCount::new());
        in_flight.enter([Place::FIRST, RIGHT]);
        assert_eq!(in_flight.take(2, RIGHT), 0);
        let mut behind = Box::pin(in_flight.acquire(LineKind::New, RIGHT));
        assert!(!poll(behind.as_mut(), &count));
        let long_ago = Instant::now() - Duration::from_secs(1);
        in_flight.has_begun(RIGHT, 1, long_ago);
        assert_eq!((count.get(), in_flight.take(1, RIGHT)), (0, 0), "it is not in front");
        (0..PATIENCE).for_each(|_| in_flight.has_begun(Place::FIRST, 1, long_ago));
        assert!(count.get() == 1 && poll(behind.as_mut(), &count));
        assert_eq!(in_flight.take(9, RIGHT), 2);
    }

    #[test]
    fn an_item_keeps_its_permit_if_nobody_waits() {
        let (in_flight, count) = (InFlight::new(1), WakeCount::new());
        let exchange = in_flight.exchange(take_new(&in_flight).unwrap(), LineKind::Begun, Place::FIRST);
        assert!(poll(pin!(exchange), &count), "the permit, which is dropped at once");
        drop(in_flight.exchange(take_new(&in_flight).unwrap(), LineKind::Begun, Place::FIRST));
        assert_eq!((in_flight.free(), in_flight.is_wanted()), (1, false), "dropped before it was polled");
    }

    /// Two permits. New items begin while at most two begun ones wait; then begun ones go on, first come, first served.
    #[test]
    fn items_get_permits_in_turns() {
        const ITEMS: usize = 5;
        let (in_flight, new) = (InFlight::new(2), WakeCount::new());
        let mut in_use = vec![take_new(&in_flight).unwrap(), take_new(&in_flight).unwrap()];
        // A task that begins one new item after the other.
        let mut first = Box::pin(in_flight.acquire(LineKind::New, Place::FIRST));
        assert!(!poll(first.as_mut(), &new));
        let mut begun: Vec<_> = Vec::new();
        for item in 0..ITEMS {
            let count = WakeCount::new();
            let mut exchange = Box::pin(in_flight.exchange(in_use.remove(0), LineKind::Begun, Place::FIRST));
            assert!(!poll(exchange.as_mut(), &count));
            begun.push((exchange, count));
            let woken =
                |begun: &[(_, Arc<WakeCount>)]| begun.iter().filter(|(_, count)| count.get() > 0).count();
            if item < 2 {
                assert_eq!((new.get(), woken(&begun)), (item + 1, 0), "a new item begins");
                let Poll::Ready(permit) = first.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
                    panic!()
                };
                in_use.push(permit);
                first.set(in_flight.acquire(LineKind::New, Place::FIRST));
                assert!(!poll(first.as_mut(), &new));
            } else {
                assert_eq!((new.get(), woken(&begun)), (2, item - 1), "a begun item goes on");
                let (exchange, count) = &mut begun[item - 2];
                assert_eq!(count.get(), 1, "the one that has waited longest");
                let Poll::Ready(permit) = exchange.as_mut().poll(&mut Context::from_waker(Waker::noop()))
                else {
                    panic!()
                };
                in_use.push(permit);
            }
        }
        drop(in_use);
        assert_eq!(new.get(), 3, "an item has ended");
        drop((first, begun));
        assert_eq!((in_flight.free(), in_flight.is_wanted()), (2, false));
    }

    #[test]
    fn items_of_a_search_that_have_begun_go_first() {
        let (in_flight, new, begun) = (InFlight::new(1), WakeCount::new(), WakeCount::new());
        let permit = take_new(&in_flight);
        let mut next = pin!(in_flight.acquire(LineKind::New, Place::FIRST));
        let mut first = pin!(in_flight.acquire(LineKind::First, Place::FIRST));
        assert!(!poll(next.as_mut(), &new) && !poll(first.as_mut(), &begun));
        drop(permit);
        assert_eq!((new.get(), begun.get()), (0, 1));
        assert!(poll(first, &begun), "the permit, which is dropped at once");
        assert!(poll(next, &new));
    }

    #[test]
    fn a_wake_is_passed_on() {
        let (in_flight, count) = (InFlight::new(1), WakeCount::new());
        let permit = take_new(&in_flight);
        let mut first = Box::pin(in_flight.acquire(LineKind::New, Place::FIRST));
        let mut second = pin!(in_flight.acquire(LineKind::New, Place::FIRST));
        assert!(!poll(first.as_mut(), &count) && !poll(second.as_mut(), &count));
        drop(permit);
        drop(first);
        assert_eq!(count.get(), 2, "it was woken, and did not take the permit");
        assert!(poll(second, &count));
    }
}
