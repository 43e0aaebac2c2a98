use super::stop::{Reason, Stop, stops};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
/// Cost: an allocation; cancelling and looking are a store and a load.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
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
        self.cancelled.store(true, Ordering::Release);
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
        self.cancelled.load(Ordering::Acquire) // pairs with the store in `cancel`
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

stops!(StopOn);
