//! Accumulators of tasks some of whose items have to be waited for.

use crate::NanoFold;
use std::ops::ControlFlow;

/// The accumulator of a task that can be told of items that are not there yet: futures.
///
/// It is what [`Producer::suspending_fold`](crate::Producer::suspending_fold) folds to, and comes from a scheduler, such as
/// [`Suspending`](crate::Suspending). Everything that waits ends before `'s` does.
pub trait Suspendable<'s>: Sized {
    /// Folds what futures give, in their order. Every future is polled, in this call or, if there are too many in flight,
    /// later; what those give that are not ready then is folded by a clone of `fold`, when it is there. (An output that `fold` waits for
    /// again is kept until there is room for the next future: so it may change threads.)
    ///
    /// `Break` if nothing more is needed.
    fn wait_for<I, F>(self, futures: I, fold: &mut F) -> ControlFlow<Self, Self>
    where
        I: Iterator<Item: IntoFuture<Output: Send + 's, IntoFuture: Send + 's>>,
        F: NanoFold<<I::Item as IntoFuture>::Output, Self, Self> + Clone + Send + 's;

    /// Nothing that is waited for in the whole call is needed any more, nor what would be: it is dropped.
    fn cancel(&self);
}
