//! Accumulators, as folds see them: they know how to wait for futures.

use crate::StepFold;
#[cfg(not(loom))]
use furcate_pool::block_on;
use std::ops::ControlFlow;

/// The models of schedulers wait for no future in place.
#[cfg(loom)]
fn block_on<F: Future>(_: F) -> F::Output {
    unreachable!("no model waits for a future")
}

/// The accumulator of a task. It decides how the task waits for items that are futures.
///
/// All waiting items end before `'s` does.
pub trait Suspendable<'s>: Sized {
    /// Whether the items after one that waits may be folded before it. False if the thread waits for one future after
    /// the other.
    const SUSPENDS: bool = true;

    /// Folds the outputs of futures, in their order. Every future is polled: in this call or, if too many are in
    /// flight, later. The output of a future that is not ready at once may be folded when it arrives, by
    /// [`fold.later()`](StepFold::later). (If that fold waits for another future with an output, the output is kept
    /// until there is room for that future. So the output may change threads.)
    ///
    /// Returns `Break` if no further items are needed.
    fn wait_for<I, F>(self, futures: I, fold: &mut F) -> ControlFlow<Self, Self>
    where
        I: Iterator<Item: IntoFuture<Output: Send + 's, IntoFuture: Send + 's>>,
        F: StepFold<'s, <I::Item as IntoFuture>::Output, Self>;

    /// Drops all futures that the whole call waits for, or would wait for later: they are no longer needed.
    fn cancel(&self);
}

/// An accumulator of a task that does not suspend: the thread waits for one future after the other.
///
/// ```
/// use furcate::{Blocking, Suspendable};
/// use std::future::ready;
/// use std::ops::ControlFlow;
///
/// let mut add = |sum, x: i32| ControlFlow::Continue(sum + x);
/// assert_eq!(Blocking(0).wait_for([ready(1), ready(2)].into_iter(), &mut add), ControlFlow::Continue(Blocking(3)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocking<A>(pub A);

impl<A> Blocking<A> {
    /// Wraps the accumulator at the end of a step.
    #[inline]
    pub fn of(end: ControlFlow<A, A>) -> ControlFlow<Self, Self> {
        end.map_continue(Blocking).map_break(Blocking)
    }

    /// Returns the accumulator at the end of a step, whether the task goes on or not.
    #[inline]
    pub fn at(end: ControlFlow<Self, Self>) -> A {
        let (ControlFlow::Continue(Blocking(folded)) | ControlFlow::Break(Blocking(folded))) = end;
        folded
    }
}

impl<'s, A> Suspendable<'s> for Blocking<A> {
    const SUSPENDS: bool = false;

    fn wait_for<I, F>(self, futures: I, fold: &mut F) -> ControlFlow<Self, Self>
    where
        I: Iterator<Item: IntoFuture<Output: Send + 's, IntoFuture: Send + 's>>,
        F: StepFold<'s, <I::Item as IntoFuture>::Output, Self>,
    {
        fold.fold(self, futures.map(|future| block_on(future.into_future())))
    }

    /// Nothing waits elsewhere.
    fn cancel(&self) {}
}
