//! The work of a scheduler, as one value.

use crate::{Policy, Producer, Reduction};

/// The work of a [`Scheduler`](crate::Scheduler): a producer, a policy and a reduction. The trait is implemented for the tuple of the
/// three.
///
/// ```
/// use furcate::policy::SizeLimit;
/// use furcate::{Executor, Scheduler, Workload};
///
/// /// Runs everything by another scheduler, in leaves of at most so many units.
/// #[derive(Clone)]
/// struct Limited<S>(S, usize);
///
/// impl<S: Scheduler> Scheduler for Limited<S> {
///     fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output {
///         let (producer, _policy, reduction) = work.parts();
///         self.0.schedule((producer, SizeLimit::new(self.1), reduction), executor)
///     }
/// }
/// # use furcate::prelude::*;
/// # let limited = Limited(furcate::Join, 250);
/// # assert_eq!((0..1000).wrap_iter().with_scheduler(limited).count(), 4);
/// ```
pub trait Workload: Sized + Send {
    /// Item type of the producer.
    type Item;
    /// Result type of a task, and of the whole.
    type Output: Send;
    /// The data that are divided.
    type Producer: Producer<Item = Self::Item>;
    /// Says when to divide.
    type Policy: Policy;
    /// Folds the items.
    type Reduction: Reduction<Self::Item, Output = Self::Output>;

    /// Returns the three.
    fn parts(self) -> (Self::Producer, Self::Policy, Self::Reduction);
}

impl<P: Producer, L: Policy, R: Reduction<P::Item>> Workload for (P, L, R) {
    type Item = P::Item;
    type Output = R::Output;
    type Producer = P;
    type Policy = L;
    type Reduction = R;

    #[inline]
    fn parts(self) -> Self {
        self
    }
}
