//! A semaphore that bounds the number of items in a stage.
//!
//! # Invariants
//!
//! 1. The number of permits, given out and free ones together, never changes.
//! 2. *No permit lies idle while a task waits.* A task that returns a permit calls a waiting one. A task that was
//!    called and does not take the permit calls the next one, or waits again.

use super::waiting::Waiting;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// The permits of a stage.
#[derive(Debug)]
pub(super) struct Permits {
    state: Mutex<PermitsState>,
}

#[derive(Debug)]
struct PermitsState {
    free: usize,
    waiting: Waiting,
}

impl Permits {
    pub(super) fn new(permits: usize) -> Self {
        Permits { state: Mutex::new(PermitsState { free: permits, waiting: Waiting::default() }) }
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self) -> StageAcquire<'_> {
        StageAcquire { permits: self, number: None }
    }

    fn lock(&self) -> MutexGuard<'_, PermitsState> {
        // A panic under the lock comes from a clone of a waker, and leaves the state as it was.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Calls a waiting task, if there is a permit (invariant 2).
fn call(mut state: MutexGuard<'_, PermitsState>) {
    let called = if state.free > 0 { state.waiting.call() } else { None };
    drop(state);
    if let Some((_, waker)) = called {
        waker.wake();
    }
}

/// A place in the stage, returned when dropped.
#[derive(Debug)]
#[must_use = "dropped, it is given back"]
pub(super) struct StagePermit<'a>(&'a Permits);

impl Drop for StagePermit<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.free += 1;
        call(state);
    }
}

/// Future of [`Permits::acquire`]: waits for a permit.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub(super) struct StageAcquire<'a> {
    permits: &'a Permits,
    /// Number among the waiting tasks, from the first wait until the future is ready.
    number: Option<u64>,
}

impl<'a> Future for StageAcquire<'a> {
    type Output = StagePermit<'a>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<StagePermit<'a>> {
        let permits = self.permits;
        let mut state = permits.lock();
        if state.free == 0 {
            let number = *self.number.get_or_insert_with(|| state.waiting.number());
            let before = state.waiting.wait(number, context.waker());
            drop(state);
            drop(before);
            return Poll::Pending;
        }
        state.free -= 1;
        let before = self.number.take().and_then(|number| state.waiting.leave(number));
        drop(state);
        drop(before);
        Poll::Ready(StagePermit(permits))
    }
}

impl Drop for StageAcquire<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let mut state = self.permits.lock();
            match state.waiting.leave(number) {
                // The task that waits here has been called, and does not take the permit (invariant 2).
                None => call(state),
                waker => {
                    drop(state);
                    drop(waker);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::task::Wake;

    #[derive(Default)]
    struct WakeCount(AtomicUsize);

    impl Wake for WakeCount {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    fn poll<'a>(acquire: &mut StageAcquire<'a>, count: &Arc<WakeCount>) -> Poll<StagePermit<'a>> {
        Pin::new(acquire).poll(&mut Context::from_waker(&Arc::clone(count).into()))
    }

    #[test]
    fn who_waits_is_called_once_and_passes_it_on() {
        let (permits, count) = (Permits::new(1), Arc::<WakeCount>::default());
        let Poll::Ready(permit) = poll(&mut permits.acquire(), &count) else { panic!("one is free") };
        let (mut first, mut second) = (permits.acquire(), permits.acquire());
        assert!(poll(&mut first, &count).is_pending() && poll(&mut second, &count).is_pending());
        assert!(poll(&mut first, &count).is_pending());
        drop(permit);
        assert_eq!(count.0.load(Relaxed), 1);
        drop(first);
        assert_eq!(count.0.load(Relaxed), 2);
        let permit = poll(&mut second, &count);
        assert!(permit.is_ready() && poll(&mut permits.acquire(), &count).is_pending());
        drop(permit);
        assert!(permits.lock().free == 1 && permits.lock().waiting.is_empty());
    }
}
