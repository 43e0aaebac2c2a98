//! How many futures are in flight: a semaphore.
//!
//! # Invariants
//!
//! 1. Permits given out and free ones are as many as there were at the beginning.
//! 2. *Nobody holds more than it can use*: a task has those that the futures of its next nano-loop need, while the loop lasts.
//! 3. *No permit lies idle while somebody waits.* Who gives one back wakes one that waits; who was woken and does not take
//!    it (it was dropped, or another one was faster) wakes the next one, or waits again.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{self, Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// What all tasks of a call share.
#[derive(Debug)]
pub(super) struct InFlight {
    /// How many permits are free, and [`WAITING`].
    word: AtomicUsize,
    unbounded: bool,
    waiting: Mutex<VecDeque<Waker>>,
}

/// Somebody may wait: set before a waker lies in the queue, and until that is empty; written with the lock.
const WAITING: usize = 1 << (usize::BITS - 1);

/// The right to one future; given back when dropped.
#[derive(Debug)]
pub(super) struct Permit<'s>(&'s InFlight);

impl InFlight {
    /// So many that the bit is free are no bound.
    pub(super) fn new(permits: usize) -> Self {
        let unbounded = permits >= WAITING;
        let free = if unbounded { 0 } else { permits };
        InFlight { word: AtomicUsize::new(free), unbounded, waiting: Mutex::default() }
    }

    /// How many permits there are. A hint.
    pub(super) fn free(&self) -> usize {
        if self.unbounded { usize::MAX } else { self.word.load(Relaxed) & !WAITING }
    }

    /// Takes so many permits, or as many as there are. Returns how many.
    ///
    /// Acquire: pairs with the release in `give_back`. Who has a permit knows what was found with it before (invariant 6 of the
    /// scheduler); with Relaxed he might begin what he need not, and may wait for ever. All else is Relaxed, here and below.
    /// That no wake is missed, the word sees to: it has one order of changes, in which a permit is given back before somebody
    /// says that he waits, who then finds it, or behind that.
    pub(super) fn take(&self, most: usize) -> usize {
        if self.unbounded {
            return most;
        }
        let take = |word: usize| match (word & !WAITING).min(most) {
            0 => None,
            taken => Some(word - taken),
        };
        let taken = self.word.fetch_update(Ordering::Acquire, Relaxed, take);
        taken.map_or(0, |before| (before & !WAITING).min(most))
    }

    /// Gives permits back.
    pub(super) fn give_back(&self, permits: usize) {
        if permits == 0 || self.unbounded {
            return;
        }
        if self.word.fetch_add(permits, Ordering::Release) & WAITING == 0 {
            return;
        }
        for _ in 0..permits {
            if !self.wake_one() {
                return;
            }
        }
    }

    /// A permit, if there is one.
    pub(super) fn try_acquire(&self) -> Option<Permit<'_>> {
        (self.take(1) > 0).then(|| Permit(self))
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self) -> Acquire<'_> {
        Acquire { from: self, waits: false }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waker>> {
        self.waiting.lock().expect("nobody panics with this lock")
    }

    /// Wakes one that waits, if there are permits. Has it?
    fn wake_one(&self) -> bool {
        let waker = {
            let mut waiting = self.waiting();
            let waker = if self.free() == 0 { None } else { waiting.pop_front() };
            if waiting.is_empty() {
                self.word.fetch_and(!WAITING, Relaxed);
            }
            waker
        };
        waker.map(Waker::wake).is_some()
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
    from: &'s InFlight,
    /// Has it been waiting?
    waits: bool,
}

impl<'s> Future for Acquire<'s> {
    type Output = Permit<'s>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit<'s>> {
        let from = self.from;
        let mut waiting = from.waiting();
        loop {
            if let Some(permit) = from.try_acquire() {
                self.waits = false;
                return Poll::Ready(permit);
            }
            // From here on whoever gives one back looks who waits; one that was given back before is there.
            if from.word.fetch_or(WAITING, Relaxed) & !WAITING == 0 {
                break;
            }
        }
        self.waits = true;
        waiting.push_back(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        // It may have been woken for a permit that it does not take.
        if self.waits {
            let _ = self.from.wake_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn poll(acquire: Pin<&mut Acquire<'_>>, count: &Arc<Count>) -> bool {
        acquire.poll(&mut Context::from_waker(&Arc::clone(count).into())).is_ready()
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
        let (in_flight, count) = (InFlight::new(1), Arc::<Count>::default());
        let permit = in_flight.try_acquire();
        let (mut first, mut second) = (pin!(in_flight.acquire()), pin!(in_flight.acquire()));
        assert!(!poll(first.as_mut(), &count) && !poll(second.as_mut(), &count));
        assert_eq!(count.0.load(Relaxed), 0);
        drop(permit);
        assert_eq!(count.0.load(Relaxed), 1);
        assert!(poll(first, &count), "the permit, which is dropped at once");
        assert_eq!(count.0.load(Relaxed), 2);
        assert!(poll(second, &count));
    }

    /// Permits go from hand to hand among threads that wait for them: nobody waits for ever, and none is lost.
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
                            let permit = furcate_pool::block_on(in_flight.acquire());
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
    fn a_wake_is_passed_on() {
        let (in_flight, count) = (InFlight::new(1), Arc::<Count>::default());
        let permit = in_flight.try_acquire();
        let mut first = Box::pin(in_flight.acquire());
        let mut second = pin!(in_flight.acquire());
        assert!(!poll(first.as_mut(), &count) && !poll(second.as_mut(), &count));
        drop(permit);
        drop(first);
        assert_eq!(count.0.load(Relaxed), 2, "it was woken, and did not take the permit");
        assert!(poll(second, &count));
    }
}
