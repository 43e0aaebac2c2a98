//! Accumulators of tasks that wait for some of their items.

use crate::NanoFold;
use std::ops::ControlFlow;

/// The accumulator of a task that takes items as futures, before they are ready.
///
/// [`Producer::suspending_fold`](crate::Producer::suspending_fold) folds to such an accumulator. A scheduler makes it,
/// for instance [`Suspending`](crate::Suspending). All waiting items end before `'s` does.
pub trait Suspendable<'s>: Sized {
    /// Folds the outputs of futures, in their order. Every future is polled: in this call or, if too many are in
    /// flight, later. The output of a future that is not ready at once is folded when it arrives, by a clone of `fold`.
    /// (If `fold` waits for another future with an output, the output is kept until there is room for that future. So
    /// the output may change threads.)
    ///
    /// Returns `Break` if no further items are needed.
    fn wait_for<I, F>(self, futures: I, fold: &mut F) -> ControlFlow<Self, Self>
    where
        I: Iterator<Item: IntoFuture<Output: Send + 's, IntoFuture: Send + 's>>,
        F: NanoFold<<I::Item as IntoFuture>::Output, Self, Self> + Clone + Send + 's;

    /// Drops all futures that the whole call waits for, or would wait for later: they are no longer needed.
    fn cancel(&self);
}
