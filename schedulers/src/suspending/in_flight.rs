//! How many futures are in flight: a semaphore.
//!
//! # Invariants
//!
//! 1. Permits given out and free ones are as many as there were at the beginning.
//! 2. *No permit lies idle while somebody waits.* Who gives one back wakes one that waits; who was woken and does not take
//!    it (it was dropped, or another one was faster) wakes the next one, or waits again.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// What all tasks of a call share.
#[derive(Debug)]
pub(crate) struct InFlight {
    /// `usize::MAX`, and never changed, if there is no bound.
    free: AtomicUsize,
    waiting: Mutex<VecDeque<Waker>>,
}

/// The right to one future; given back when dropped.
#[derive(Debug)]
pub(super) struct Permit<'s>(&'s InFlight);

impl InFlight {
    pub(super) fn new(permits: usize) -> Self {
        InFlight { free: AtomicUsize::new(permits), waiting: Mutex::default() }
    }

    /// How many permits there are. A hint.
    pub(super) fn free(&self) -> usize {
        self.free.load(Relaxed)
    }

    /// A permit, if there is one.
    ///
    /// Relaxed, here and below: a permit publishes nothing. That no wake is missed, the lock sees to.
    pub(super) fn try_acquire(&self) -> Option<Permit<'_>> {
        let take = |free| match free {
            usize::MAX => Some(usize::MAX),
            free => usize::checked_sub(free, 1),
        };
        self.free.fetch_update(Relaxed, Relaxed, take).is_ok().then(|| Permit(self))
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self) -> Acquire<'_> {
        Acquire { from: self, waits: false }
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<Waker>> {
        self.waiting.lock().expect("nobody panics with this lock")
    }

    /// Wakes one that waits, if there are permits.
    fn wake_one(&self) {
        // With the lock: who waits has looked for a permit, under the lock, before, and finds it; or is woken.
        let waker = {
            let mut waiting = self.waiting();
            if self.free() == 0 { None } else { waiting.pop_front() }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if self.0.free() == usize::MAX {
            return;
        }
        self.0.free.fetch_add(1, Relaxed);
        self.0.wake_one();
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
        if let Some(permit) = from.try_acquire() {
            self.waits = false;
            return Poll::Ready(permit);
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
            self.from.wake_one();
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
