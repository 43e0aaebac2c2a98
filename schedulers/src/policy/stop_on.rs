use super::stop::{Reason, Stop, stops};
use crate::waker_list::WakerList;
use furcate_pool::sync::machine::atomic::{AtomicBool, Ordering};
use furcate_pool::sync::machine::{Mutex, MutexGuard};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Tells computations to end: from another thread, or from within.
///
/// Clones are the same token. A token that is cancelled stays cancelled.
///
/// ```
/// use furcate::policy::CancelToken;
/// use furcate::prelude::*;
///
/// let token = CancelToken::new();
/// let done = (0..1_000_000_u64).into_par_iter().stop_on(&token).for_each(|x| {
///     if x == 1000 {
///         token.cancel(); // enough
///     }
/// });
/// assert!(done.is_err());
/// ```
///
/// Cost: an allocation for the token. A look at the token is a load. `cancel` is a store, a look at the list of futures
/// that [wait](Self::cancelled) for the token, and an allocation for each computation after `io_await` that it stops.
/// The futures of such a computation are dropped by workers, not by the thread that cancels.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    shared: Arc<TokenState>,
}

#[derive(Debug, Default)]
struct TokenState {
    cancelled: AtomicBool,
    /// The futures that wait for the token.
    waiting: Mutex<WakerList>,
}

impl TokenState {
    fn waiting(&self) -> MutexGuard<'_, WakerList> {
        self.waiting.lock().expect("nobody panics with this lock")
    }
}

impl CancelToken {
    /// Returns a token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the token and all its clones, for ever.
    pub fn cancel(&self) {
        // Release: pairs with the load in `is_cancelled`. A thread that sees the cancellation also sees the canceller's
        // writes before it; with Relaxed, a token could not stand for "the answer is there".
        self.shared.cancelled.store(true, Ordering::Release);
        // A waiting future looks at the flag under the lock. If it looked before this line, it is woken here; if after,
        // it saw the flag.
        let wakers = self.shared.waiting().call_all();
        wakers.for_each(Waker::wake);
    }

    /// Returns a future that is ready when the token is cancelled.
    ///
    /// ```
    /// use furcate::policy::CancelToken;
    /// let token = CancelToken::new();
    /// let waits = furcate::spawn_future(token.cancelled());
    /// token.cancel();
    /// furcate::block_on(waits);
    /// ```
    pub fn cancelled(&self) -> Cancelled {
        Cancelled { token: self.clone(), number: None }
    }

    /// Whether the token has been cancelled.
    ///
    /// ```
    /// use furcate::policy::CancelToken;
    /// let token = CancelToken::new();
    /// let other = token.clone();
    /// other.cancel();
    /// assert!(token.is_cancelled());
    /// ```
    #[inline]
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Acquire) // pairs with the store in `cancel`
    }
}

/// The future of a cancellation: see [`CancelToken::cancelled`].
#[must_use = "futures do nothing unless they are polled"]
#[derive(Debug)]
pub struct Cancelled {
    token: CancelToken,
    /// Key of this future's waker in the token's list, if it has one there.
    number: Option<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        // Cloned and dropped without the lock: a waker's methods are foreign code.
        let waker = context.waker().clone();
        let mut waiting = this.token.shared.waiting();
        if this.token.is_cancelled() {
            drop((waiting, waker));
            return Poll::Ready(());
        }
        let number = *this.number.get_or_insert_with(|| waiting.number());
        let before = waiting.wait(number, waker);
        drop((waiting, before));
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let waker = self.token.shared.waiting().leave(number);
            // Without the lock: a waker's drop is foreign code.
            drop(waker);
        }
    }
}

/// Ends the computation when a [`CancelToken`] is cancelled.
///
/// This policy passes on all divisions. Named by the method `stop_on`, it makes a result that says whether all items
/// were processed. Named by `with_policy`, as any other policy, it makes a result that does not say so.
///
/// ```
/// use furcate::policy::{CancelToken, StopOn};
/// use furcate::prelude::*;
///
/// let token = CancelToken::new();
/// token.cancel();
/// assert_eq!((0..1000).into_par_iter().with_policy(StopOn::new(&token)).count(), 0);
/// ```
///
/// Cost: one load before a task and between its steps.
#[derive(Clone, Debug)]
pub struct StopOn {
    token: CancelToken,
}

impl StopOn {
    /// Ends the computation when `token` is cancelled.
    #[must_use]
    pub fn new(token: &CancelToken) -> Self {
        StopOn { token: token.clone() }
    }
}

impl Stop for StopOn {
    #[inline]
    fn reason(&self) -> Option<Reason> {
        self.token.is_cancelled().then_some(Reason::Cancelled)
    }
}

stops!(StopOn: |stop| token(&stop.token));

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::{Wake, Waker};

    /// A waker that runs code of its own when it is dropped, as wakers of other executors do.
    struct Cancels(CancelToken);

    impl Wake for Cancels {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for Cancels {
        fn drop(&mut self) {
            self.0.cancel();
        }
    }

    #[test]
    fn wakers_are_dropped_without_the_lock() {
        let token = CancelToken::new();
        let mut cancelled = token.cancelled();
        let mut poll =
            |waker: Waker| Pin::new(&mut cancelled).poll(&mut Context::from_waker(&waker)).is_ready();
        assert!(!poll(Arc::new(Cancels(token)).into()));
        // The last clone of the first waker is dropped here.
        assert!(!poll(Waker::noop().clone()));
        assert!(poll(Waker::noop().clone()));
    }
}
