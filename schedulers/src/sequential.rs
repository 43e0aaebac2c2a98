//! The scheduler that does not divide.

use crate::branch::fold_leaf;
use crate::call::Call;
use crate::{Policy, Producer, Reduction, Scheduler, Suspending};
use furcate_pool::Executor;

/// Folds everything as one leaf in the calling thread: no division, no fork, whatever the policy says.
///
/// For comparing with the parallel schedulers, and for switching parallelism off at one place.
///
/// ```
/// # use furcate::{Scheduler, Sequential};
/// # fn any_scheduler(_: impl Scheduler) {}
/// any_scheduler(Sequential);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sequential;

impl Scheduler for Sequential {
    /// One that does not divide either.
    fn for_futures(&self) -> Suspending {
        Suspending::new().dividing(false)
    }

    #[inline]
    fn schedule<P, L, R, E>(&self, producer: P, policy: L, reduction: R, _executor: &E) -> R::Output
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
        E: Executor,
    {
        fold_leaf(producer, &policy, &reduction, &Call::default())
    }
}
