use super::stop::{Reason, Stop, stops};
use std::collections::BTreeMap;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// Tells computations that they may end: from another thread, or from within.
///
/// Clones are the same token. What is cancelled stays so.
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
/// Cost: an allocation for the token. To look at it is a load. To cancel it is a store and a look at the list of futures that
/// [wait](Self::cancelled) for it, and an allocation for each computation behind `io_await` that it stops. Workers drop the futures of
/// such a computation, not the thread that cancels.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    waiting: Mutex<Waiting>,
}

/// Wakers of the futures that wait for the token.
#[derive(Debug, Default)]
struct Waiting {
    /// By the number of who waits.
    wakers: BTreeMap<u64, Waker>,
    next: u64,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("nobody panics with this lock")
    }
}

impl CancelToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels, for all clones and for ever.
    pub fn cancel(&self) {
        // Release: pairs with the load in `is_cancelled`. What its caller did before it cancelled is visible to who
        // has seen the cancellation; with Relaxed, a token could not stand for "the answer is there".
        self.shared.cancelled.store(true, Ordering::Release);
        // Who waits has looked at the flag under the lock: before this, and is woken; or after this, and has seen it.
        let wakers = mem::take(&mut self.shared.waiting().wakers);
        wakers.into_values().for_each(Waker::wake);
    }

    /// Waits until it is cancelled.
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

    /// Has it been cancelled?
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
    /// Of its waker, if it has one there.
    number: Option<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        // Cloned, and dropped, without the lock: a waker is somebody's code.
        let waker = context.waker().clone();
        let mut waiting = this.token.shared.waiting();
        if this.token.is_cancelled() {
            drop((waiting, waker));
            return Poll::Ready(());
        }
        let number = *this.number.get_or_insert(waiting.next);
        waiting.next = waiting.next.max(number + 1);
        let before = waiting.wakers.insert(number, waker);
        drop((waiting, before));
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let waker = self.token.shared.waiting().wakers.remove(&number);
            // Without the lock: a waker is somebody's code.
            drop(waker);
        }
    }
}

/// Ends the computation when a [`CancelToken`] is cancelled.
///
/// It has no word on divisions. Chained with `stop_on`, it makes a result that says whether all was done; as any other
/// policy (`with_policy`), one that does not say.
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
/// Cost: one load before a task and between its nano-loops.
#[derive(Clone, Debug)]
pub struct StopOn {
    token: CancelToken,
}

impl StopOn {
    /// Ends when `token` is cancelled.
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

    /// Wakers of other executors run code of theirs when they are dropped.
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
        // The first one's last clone is dropped here.
        assert!(!poll(Waker::noop().clone()));
        assert!(poll(Waker::noop().clone()));
    }
}
