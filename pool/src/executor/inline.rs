//! The engine without threads.

use crate::detach::Alone;
use crate::{Context, Executor};

/// Runs both halves of every fork in the calling thread, the left one first.
///
/// For targets without threads, for debugging, and as the oracle that parallel engines are tested against.
///
/// ```
/// use furcate::{Executor, Inline};
/// let log = std::sync::Mutex::new(vec![]);
/// Inline.join_context(|_| log.lock().unwrap().push(1), |_| log.lock().unwrap().push(2));
/// assert_eq!(log.into_inner().unwrap(), [1, 2]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inline;

impl Executor for Inline {
    type Scope<'scope> = Alone;

    #[inline]
    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        body(&Alone)
    }

    #[inline]
    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let left = left(Context::new(false));
        (left, right(Context::new(false)))
    }

    #[inline]
    fn num_threads(&self) -> usize {
        1
    }
}
