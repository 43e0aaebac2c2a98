//! The scheduler that does not divide.

use crate::tree::branch::Branch;
use crate::tree::call::Call;
use crate::{Scheduler, Suspending, Workload};
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
    fn schedule<W: Workload, E: Executor>(&self, work: W, _executor: &E) -> W::Output {
        Branch::root(work, &Call::default()).fold()
    }
}
