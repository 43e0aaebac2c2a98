//! The outcome of a computation, from the worker that ends it to the one future that awaits it.
//!
//! ```text
//!   OneShotSender ── deliver(SpawnedOutcome) ──> OneShot ── poll ──> Some(SpawnedOutcome), once; then None
//!        └── dropped: SpawnedOutcome::Cancelled ──┘
//! ```
//!
//! # Invariants
//!
//! 1. The sender delivers one [`SpawnedOutcome`]: a value, a panic, or, if it is dropped before, that there will be none.
//! 2. A waker is kept only while nothing has been delivered. The thread that delivers takes the waker out under the
//!    lock, and calls it afterwards. No code of a waker runs under the lock.

use crate::detach::SpawnedOutcome;
use crate::sync::machine::{Mutex, MutexGuard};
use std::any::Any;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Place of an outcome that is delivered once and taken once.
#[derive(Debug)]
pub struct OneShot<T>(Mutex<OneShotState<T>>);

#[derive(Debug)]
enum OneShotState<T> {
    /// Nothing has been delivered. Holds the waker of the future that waits.
    Open(Option<Waker>),
    Delivered(SpawnedOutcome<T>),
    Taken,
}

impl<T> OneShot<T> {
    /// Makes the place of an outcome, and the sender that delivers it.
    #[must_use]
    pub fn new() -> (Arc<Self>, OneShotSender<T>) {
        let place = Arc::new(OneShot(Mutex::new(OneShotState::Open(None))));
        (Arc::clone(&place), OneShotSender(Some(place)))
    }

    fn lock(&self) -> MutexGuard<'_, OneShotState<T>> {
        self.0.lock().expect("nobody panics with this lock")
    }

    /// Delivers the outcome and wakes the task that waits (invariants 1 and 2).
    fn deliver(&self, end: SpawnedOutcome<T>) {
        let before = mem::replace(&mut *self.lock(), OneShotState::Delivered(end));
        if let OneShotState::Open(Some(waker)) = before {
            waker.wake();
        }
    }

    /// Whether the outcome has been delivered.
    pub fn is_delivered(&self) -> bool {
        !matches!(*self.lock(), OneShotState::Open(_))
    }

    /// Takes the outcome when it has been delivered; `None` if it was taken before. One task polls at a time.
    #[inline]
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<Option<SpawnedOutcome<T>>> {
        // Cloned, and dropped, without the lock: a waker is foreign code (invariant 2).
        let mut clone = None;
        let mut outcome = loop {
            let mut outcome = self.lock();
            let OneShotState::Open(waker) = &mut *outcome else { break outcome };
            if waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                return Poll::Pending;
            }
            let before = clone.take().map(|clone| waker.replace(clone));
            drop(outcome);
            if before.is_some() {
                return Poll::Pending;
            }
            clone = Some(context.waker().clone());
        };
        let taken = mem::replace(&mut *outcome, OneShotState::Taken);
        drop(outcome);
        Poll::Ready(match taken {
            OneShotState::Delivered(end) => Some(end),
            OneShotState::Open(_) | OneShotState::Taken => None,
        })
    }
}

/// Delivers the outcome of a computation. If the sender is dropped before, the outcome is [`SpawnedOutcome::Cancelled`].
#[derive(Debug)]
pub struct OneShotSender<T>(
    /// `None` once an outcome has been delivered.
    Option<Arc<OneShot<T>>>,
);

impl<T> OneShotSender<T> {
    /// Delivers the outcome and wakes the task that waits, unless an outcome was delivered before.
    #[inline]
    pub fn deliver(&mut self, end: SpawnedOutcome<T>) {
        if let Some(place) = self.0.take() {
            place.deliver(end);
        }
    }

    /// Delivers a panic. Returns the payload if none can receive it: the future has been dropped, or an outcome was delivered before.
    pub fn deliver_panic(&mut self, payload: Box<dyn Any + Send>) -> Option<Box<dyn Any + Send>> {
        if self.0.as_ref().is_none_or(|place| Arc::strong_count(place) == 1) {
            self.0 = None;
            return Some(payload);
        }
        self.deliver(SpawnedOutcome::Panicked(payload));
        None
    }
}

impl<T> Drop for OneShotSender<T> {
    #[inline]
    fn drop(&mut self) {
        self.deliver(SpawnedOutcome::Cancelled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::task::Wake;

    /// Counts wakes. Polls the place when it is dropped, as a foreign waker may.
    struct Polls(AtomicUsize, Arc<OneShot<u8>>);

    impl Wake for Polls {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    impl Drop for Polls {
        fn drop(&mut self) {
            let _ = self.1.is_delivered();
        }
    }

    fn poll(place: &OneShot<u8>, waker: &Arc<Polls>) -> Poll<Option<SpawnedOutcome<u8>>> {
        place.poll(&mut Context::from_waker(&Arc::clone(waker).into()))
    }

    #[test]
    fn an_outcome_is_delivered_once_and_taken_once() {
        let (place, mut sender) = OneShot::new();
        let waker = Arc::new(Polls(AtomicUsize::new(0), Arc::clone(&place)));
        assert!(poll(&place, &waker).is_pending() && poll(&place, &waker).is_pending());
        assert_eq!(Arc::strong_count(&waker), 2, "the same waker is kept once");
        assert!(!place.is_delivered());
        sender.deliver(SpawnedOutcome::Done(1));
        assert_eq!((Arc::strong_count(&waker), waker.0.load(Relaxed)), (1, 1));
        sender.deliver(SpawnedOutcome::Done(2));
        drop(sender);
        assert!(place.is_delivered());
        assert!(matches!(poll(&place, &waker), Poll::Ready(Some(SpawnedOutcome::Done(1)))));
        assert!(matches!(poll(&place, &waker), Poll::Ready(None)));
        assert_eq!(waker.0.load(Relaxed), 1);
    }

    #[test]
    fn a_waker_that_is_replaced_is_dropped_without_the_lock() {
        let (place, sender) = OneShot::new();
        let [first, second] = [(); 2].map(|()| Arc::new(Polls(AtomicUsize::new(0), Arc::clone(&place))));
        assert!(poll(&place, &first).is_pending());
        let weak = Arc::downgrade(&first);
        drop(first);
        assert!(poll(&place, &second).is_pending());
        assert!(weak.upgrade().is_none(), "it was dropped, and could look at the place");
        drop(sender);
        assert_eq!(second.0.load(Relaxed), 1);
        assert!(matches!(poll(&place, &second), Poll::Ready(Some(SpawnedOutcome::Cancelled))));
    }

    #[test]
    fn a_panic_that_no_future_can_receive_comes_back() {
        let (place, mut sender) = OneShot::<u8>::new();
        assert!(sender.deliver_panic(Box::new("heard")).is_none());
        assert!(sender.deliver_panic(Box::new("a second one")).is_some());
        let taken = place.poll(&mut Context::from_waker(Waker::noop()));
        assert!(
            matches!(taken, Poll::Ready(Some(SpawnedOutcome::Panicked(payload))) if payload.is::<&str>())
        );
        let (place, mut sender) = OneShot::<u8>::new();
        drop(place);
        assert!(sender.deliver_panic(Box::new("unheard")).is_some());
    }
}
