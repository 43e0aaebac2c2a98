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
//! 3. *No permit lies idle while a task waits.* A permit that is given back goes straight to a waiting task, which is
//!    queued before (nearly) all tasks that were woken earlier. A waiting task that is dropped hands its permit on. While a task waits, other tasks
//!    cannot take permits. So every task that waits gets a permit, however many items wait.
//! 4. *First come, first served* within a line. A permit goes to a new item while at most n begun items wait; else to a begun one.
//!    In a search, items that have begun go first, because each of them may end the search.
//! 5. *At most 2n items have begun* and have another future to come: n in flight, and n in line. For an item joins the line in the
//!    critical section that gives its permit to another one, and no new item begins while n + 1 are in line. (Not counted
//!    are the futures that one item begins beside its first.)
//! 6. The word is `WAITING` exactly if a task waits, whenever the lock is free. Then there are no free permits, and the word
//!    is changed by the holder of the lock only.

use furcate_pool::detach::{wake_first, wake_soon};
use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{self, Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// The semaphore that all tasks of a call share, or all items of a pipeline's stage.
///
/// The tokens of `cap` and the quota of `take_any` only look alike: no task waits for them, so they are a number without a line.
#[derive(Debug)]
pub struct InFlight {
    /// Number of free permits, or [`WAITING`].
    word: AtomicUsize,
    /// Number of permits.
    permits: usize,
    unbounded: bool,
    waiting: Mutex<PermitWaiters>,
}

/// The word while a task waits.
const WAITING: usize = 1 << (usize::BITS - 1);

/// Tasks that wait for permits.
#[derive(Debug, Default)]
struct PermitWaiters {
    first: Line,
    begun: Line,
    new: Line,
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
    fn line(&mut self, kind: LineKind) -> &mut Line {
        match kind {
            LineKind::First => &mut self.first,
            LineKind::Begun => &mut self.begun,
            LineKind::New => &mut self.new,
        }
    }

    fn is_empty(&self) -> bool {
        // The first ticket of a line was not given up.
        [&self.first, &self.begun, &self.new].into_iter().all(|line| line.wakers.is_empty())
    }

    /// Serves one ticket, if there are `permits` permits in all (invariant 4).
    fn serve(&mut self, permits: usize) -> Option<(LineKind, Waker)> {
        // The length counts tickets that were given up, too: only calls that end have such tickets.
        let mut order = LineKind::order(self.begun.wakers.len(), permits).into_iter();
        order.find_map(|kind| Some((kind, self.line(kind).serve()?)))
    }
}

/// The right to one future; given back when dropped.
#[derive(Debug)]
pub(super) struct InFlightPermit<'s>(&'s InFlight);

impl InFlight {
    /// Makes a semaphore. A number of permits that reaches the bit `WAITING` is no bound.
    #[must_use]
    pub fn new(permits: usize) -> Self {
        let unbounded = permits >= WAITING;
        let free = if unbounded { 0 } else { permits };
        InFlight { word: AtomicUsize::new(free), permits, unbounded, waiting: Mutex::default() }
    }

    /// Takes so many permits, or as many as there are. Returns how many: none while a task waits.
    ///
    /// Acquire: pairs with the release in `give_back`. The task sees results found by the permit's last holder (invariant 6 of the
    /// scheduler). With Relaxed it might begin an item that is not needed any more, and wait for it for ever. A permit that is handed
    /// to a waiting task goes through the lock, which orders the two as well.
    pub(super) fn take(&self, most: usize) -> usize {
        if self.unbounded {
            return most;
        }
        let taken = |word: usize| if word == WAITING { 0 } else { word.min(most) };
        let take = |word: usize| match taken(word) {
            0 => None,
            taken => Some(word - taken),
        };
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
        let add = |word: usize| (word != WAITING).then(|| word + permits);
        if self.word.fetch_update(Ordering::Release, Relaxed, add).is_ok() {
            return;
        }
        for given in 0..permits {
            let waker = {
                let mut waiting = self.waiting();
                let waker = waiting.serve(self.permits);
                if waker.is_none() {
                    // None waits any more.
                    self.word.fetch_add(permits - given, Ordering::Release);
                    return;
                }
                self.end_if_empty(&waiting);
                waker
            };
            waker.into_iter().for_each(|(kind, waker)| kind.wake(waker));
        }
    }

    /// Sets the word to 0 if no task waits any more (invariant 6).
    fn end_if_empty(&self, waiting: &PermitWaiters) {
        if waiting.is_empty() && self.word.load(Relaxed) == WAITING {
            // Relaxed: this hands out no permits.
            self.word.store(0, Relaxed);
        }
    }

    /// Returns a permit if one is free and no task waits.
    pub(super) fn try_acquire(&self) -> Option<InFlightPermit<'_>> {
        (self.take(1) > 0).then(|| InFlightPermit(self))
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self, kind: LineKind) -> InFlightAcquire<'_> {
        InFlightAcquire { from: self, kind, ticket: None, gives: None }
    }

    /// Waits for a permit of a stage, where items come and are served in one line. The permit is given back when it is dropped.
    pub fn permit(&self) -> impl Future<Output = impl Send> + Send {
        self.acquire(LineKind::New)
    }

    /// Waits for a permit for the next future of an item whose last future had `permit`. If no task waits, that is the same one; else
    /// it goes to one of those, in the critical section in which the item joins the line (invariant 5).
    pub(super) fn exchange<'s>(&'s self, permit: InFlightPermit<'s>, kind: LineKind) -> InFlightAcquire<'s> {
        InFlightAcquire { from: self, kind, ticket: None, gives: Some(permit) }
    }

    /// Returns the number of permits, free or not.
    pub(super) fn permits(&self) -> usize {
        self.permits
    }

    /// Whether a task waits for a permit: a hint.
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
        if self.unbounded { usize::MAX } else { self.word.load(Relaxed) & !WAITING }
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
    /// Its ticket while it waits.
    ticket: Option<u64>,
    /// The permit that it gives for another one, before its first poll.
    gives: Option<InFlightPermit<'s>>,
}

impl<'s> Future for InFlightAcquire<'s> {
    type Output = InFlightPermit<'s>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<InFlightPermit<'s>> {
        let from = self.from;
        // Wakers are not ours: they are cloned and dropped without the lock.
        let waker = context.waker().clone();
        let mut waiting = from.waiting();
        if let Some(ticket) = self.ticket {
            if let Some(place) = waiting.line(self.kind).waker(ticket) {
                let before = place.replace(waker);
                drop((waiting, before));
                return Poll::Pending;
            }
            drop((waiting, waker));
            self.ticket = None;
            return Poll::Ready(InFlightPermit(from));
        }
        if let Some(permit) = self.gives.take() {
            // The word is this thread's if it is `WAITING`: the lock is held.
            if !from.is_wanted() {
                drop((waiting, waker));
                return Poll::Ready(permit);
            }
            self.ticket = Some(waiting.line(self.kind).join(waker));
            let served = waiting.serve(from.permits);
            drop(waiting);
            mem::forget(permit);
            served.into_iter().for_each(|(kind, waker)| kind.wake(waker));
            return Poll::Pending;
        }
        loop {
            if let Some(permit) = from.try_acquire() {
                drop((waiting, waker));
                return Poll::Ready(permit);
            }
            // From here on a permit that is given back is handed to a waiting task. A permit that was given back before is in the word.
            // Relaxed: the changes of one word have one order.
            if from.word.load(Relaxed) == WAITING
                || from.word.compare_exchange(0, WAITING, Relaxed, Relaxed).is_ok()
            {
                break;
            }
        }
        self.ticket = Some(waiting.line(self.kind).join(waker));
        Poll::Pending
    }
}

impl Drop for InFlightAcquire<'_> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut waiting = self.from.waiting();
        let waker = waiting.line(self.kind).leave(ticket);
        self.from.end_if_empty(&waiting);
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

    #[test]
    fn as_many_as_there_are() {
        let in_flight = InFlight::new(2);
        let (one, two) = (in_flight.try_acquire(), in_flight.try_acquire());
        assert!(one.is_some() && two.is_some() && in_flight.try_acquire().is_none());
        drop(one);
        assert_eq!(in_flight.free(), 1);
        let unbounded = InFlight::new(usize::MAX);
        assert!((0..1000).all(|_| unbounded.try_acquire().is_some_and(|_| unbounded.free() == usize::MAX)));
    }

    #[test]
    fn whoever_waits_is_woken_once() {
        let (in_flight, count) = (InFlight::new(1), WakeCount::new());
        let permit = in_flight.try_acquire();
        let (mut first, mut second) =
            (pin!(in_flight.acquire(LineKind::New)), pin!(in_flight.acquire(LineKind::New)));
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
                for _ in 0..THREADS {
                    threads.spawn(|| {
                        for round in 0..2000 {
                            let permit = furcate_pool::block_on(in_flight.acquire(LineKind::New));
                            assert!(held.fetch_add(1, Relaxed) < permits);
                            if round % 8 == 0 {
                                std::thread::yield_now();
                            }
                            held.fetch_sub(1, Relaxed);
                            drop(permit);
                        }
                    });
                }
            });
            assert_eq!(in_flight.free(), permits);
            assert_eq!(in_flight.word.into_inner(), permits, "nobody waits any more");
        }
    }

    #[test]
    fn an_item_keeps_its_permit_if_nobody_waits() {
        let (in_flight, count) = (InFlight::new(1), WakeCount::new());
        let exchange = in_flight.exchange(in_flight.try_acquire().unwrap(), LineKind::Begun);
        assert!(poll(pin!(exchange), &count), "the permit, which is dropped at once");
        drop(in_flight.exchange(in_flight.try_acquire().unwrap(), LineKind::Begun));
        assert_eq!((in_flight.free(), in_flight.is_wanted()), (1, false), "dropped before it was polled");
    }

    /// Two permits. New items begin while at most two begun ones wait; then begun ones go on, first come, first served.
    #[test]
    fn items_get_permits_in_turns() {
        const ITEMS: usize = 5;
        let (in_flight, new) = (InFlight::new(2), WakeCount::new());
        let mut in_use = vec![in_flight.try_acquire().unwrap(), in_flight.try_acquire().unwrap()];
        // A task that begins one new item after the other.
        let mut first = Box::pin(in_flight.acquire(LineKind::New));
        assert!(!poll(first.as_mut(), &new));
        let mut begun: Vec<_> = Vec::new();
        for item in 0..ITEMS {
            let count = WakeCount::new();
            let mut exchange = Box::pin(in_flight.exchange(in_use.remove(0), LineKind::Begun));
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
                first.set(in_flight.acquire(LineKind::New));
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
        let permit = in_flight.try_acquire();
        let mut next = pin!(in_flight.acquire(LineKind::New));
        let mut first = pin!(in_flight.acquire(LineKind::First));
        assert!(!poll(next.as_mut(), &new) && !poll(first.as_mut(), &begun));
        drop(permit);
        assert_eq!((new.get(), begun.get()), (0, 1));
        assert!(poll(first, &begun), "the permit, which is dropped at once");
        assert!(poll(next, &new));
    }

    #[test]
    fn a_wake_is_passed_on() {
        let (in_flight, count) = (InFlight::new(1), WakeCount::new());
        let permit = in_flight.try_acquire();
        let mut first = Box::pin(in_flight.acquire(LineKind::New));
        let mut second = pin!(in_flight.acquire(LineKind::New));
        assert!(!poll(first.as_mut(), &count) && !poll(second.as_mut(), &count));
        drop(permit);
        drop(first);
        assert_eq!(count.get(), 2, "it was woken, and did not take the permit");
        assert!(poll(second, &count));
    }
}
