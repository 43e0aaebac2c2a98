//! The adaptors that say *when*, *how* and *where*: they pass the items through and change the scheduler's settings.

use super::{IndexedParallelIterator, ParallelIterator, PeekParallelIterator, inherit_scopes};
use furcate_pool::Executor;
use furcate_schedulers::policy::Both;
use furcate_schedulers::{Adaptive, Plan, Policy, Schedule, Scheduler};

/// Policy of a parallel iterator's schedule.
pub type PolicyOf<I> = <<I as ParallelIterator>::Schedule as Schedule>::Policy;

/// Scheduler of a parallel iterator's schedule.
pub type SchedulerOf<I> = <<I as ParallelIterator>::Schedule as Schedule>::Scheduler;

/// Executor of a parallel iterator's schedule.
pub type ExecutorOf<I> = <<I as ParallelIterator>::Schedule as Schedule>::Executor;

/// Declares the schedule of a source: the default one.
macro_rules! default_schedule {
    () => {
        type Schedule = furcate_schedulers::Plan;

        #[inline]
        fn schedule(&self) -> furcate_schedulers::Plan {
            furcate_schedulers::Plan::new()
        }
    };
}
pub(crate) use default_schedule;

/// Declares the schedule of an adaptor: that of its base, or of the first of two.
macro_rules! inherit_schedule {
    ($base:ident: $I:ty $(, and $second:ident: $J:ty)?) => {
        $crate::iter::inherit_scopes!($base: $I $(, $second: $J)?);

        type Schedule = <$I as $crate::iter::ParallelIterator>::Schedule;

        #[inline]
        fn schedule(&self) -> Self::Schedule {
            self.$base.schedule()
        }
    };
}
pub(crate) use inherit_schedule;

/// Declares the schedule of an adaptor of which each unit is several units of its base.
macro_rules! schedule_in_batches {
    ($base:ident: $I:ty, of $units:ident) => {
        $crate::iter::inherit_scopes!($base: $I);

        type Schedule = furcate_schedulers::PlanOf<<$I as $crate::iter::ParallelIterator>::Schedule>;

        #[inline]
        fn schedule(&self) -> Self::Schedule {
            let base = furcate_schedulers::Schedule::into_plan(self.$base.schedule());
            furcate_schedulers::Plan {
                policy: furcate_schedulers::Policy::in_batches(base.policy, self.$units),
                scheduler: base.scheduler,
                executor: base.executor,
            }
        }
    };
}
pub(crate) use schedule_in_batches;

/// Declares the schedule of an adaptor: that of its base, with one policy more.
macro_rules! schedule_with_policy {
    ($base:ident: $I:ty, |$adaptor:ident| $policy:expr => $Policy:ty) => {
        $crate::iter::inherit_scopes!($base: $I);

        type Schedule = furcate_schedulers::Plan<
            furcate_schedulers::policy::Both<$crate::iter::PolicyOf<$I>, $Policy>,
            $crate::iter::SchedulerOf<$I>,
            $crate::iter::ExecutorOf<$I>,
        >;

        #[inline]
        fn schedule(&self) -> Self::Schedule {
            let $adaptor = self;
            let base = furcate_schedulers::Schedule::into_plan($adaptor.$base.schedule());
            furcate_schedulers::Plan {
                policy: furcate_schedulers::policy::Both::new(base.policy, $policy),
                scheduler: base.scheduler,
                executor: base.executor,
            }
        }
    };
}
pub(crate) use schedule_with_policy;

/// Implements `Debug` for an adaptor: it shows the base, not the closures.
macro_rules! debug_base {
    ($Name:ident<I, $($param:ident),*>) => {
        impl<I: std::fmt::Debug, $($param),*> std::fmt::Debug for $Name<I, $($param),*> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($Name)).field("base", &self.base).finish_non_exhaustive()
            }
        }
    };
}
pub(crate) use debug_base;

/// Forwards the items of the base, unchanged.
macro_rules! pass_items {
    ($base:ident: $I:ty) => {
        type Item = <$I as $crate::iter::ParallelIterator>::Item;
        type Producer<'p>
            = <$I as $crate::iter::ParallelIterator>::Producer<'p>
        where
            Self: 'p;

        #[inline]
        fn producer(&mut self) -> Self::Producer<'_> {
            self.$base.producer()
        }
        #[inline]
        fn opt_len(&self) -> Option<usize> {
            self.$base.opt_len()
        }
        #[inline]
        fn units(&self) -> Option<usize> {
            self.$base.units()
        }
    };
}
pub(crate) use pass_items;

/// Forwards the length and the positions of the base, unchanged.
macro_rules! pass_indexed {
    ($base:ident: $I:ty) => {
        type IndexedProducer<'p>
            = <$I as $crate::iter::IndexedParallelIterator>::IndexedProducer<'p>
        where
            Self: 'p;

        #[inline]
        fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
            self.$base.indexed_producer()
        }
        #[inline]
        fn len(&self) -> usize {
            self.$base.len()
        }
    };
}
pub(crate) use pass_indexed;

/// Forwards the looks at the items of the base, unchanged.
macro_rules! pass_peek {
    ($base:ident: $I:ty) => {
        type PeekProducer<'p>
            = <$I as $crate::iter::PeekParallelIterator>::PeekProducer<'p>
        where
            Self: 'p;

        #[inline]
        fn peek_producer(&mut self) -> Self::PeekProducer<'_> {
            self.$base.peek_producer()
        }
    };
}

/// Uses the producer, which is indexed, as the indexed producer.
macro_rules! producer_is_indexed {
    () => {
        type IndexedProducer<'p>
            = Self::Producer<'p>
        where
            Self: 'p;

        #[inline]
        fn indexed_producer(&mut self) -> Self::Producer<'_> {
            $crate::iter::ParallelIterator::producer(self)
        }
    };
}
pub(crate) use producer_is_indexed;

/// An iterator with one policy more: see [`ParallelIterator::with_policy`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::WithPolicy<_, _> = (0..1000).into_par_iter().bound_depth(3);
/// assert_eq!(it.sum::<i32>(), 499_500);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct WithPolicy<I, P> {
    #[doc(hidden)]
    pub base: I,
    policy: P,
}

impl<I, P> WithPolicy<I, P> {
    pub(crate) fn new(base: I, policy: P) -> Self {
        WithPolicy { base, policy }
    }

    pub(crate) fn into_parts(self) -> (I, P) {
        (self.base, self.policy)
    }
}

impl<I: ParallelIterator, P: Policy> ParallelIterator for WithPolicy<I, P> {
    pass_items!(base: I);
    schedule_with_policy!(base: I, |this| this.policy.clone() => P);
}

impl<I: IndexedParallelIterator, P: Policy> IndexedParallelIterator for WithPolicy<I, P> {
    pass_indexed!(base: I);
}

impl<I: PeekParallelIterator, P: Policy> PeekParallelIterator for WithPolicy<I, P> {
    pass_peek!(base: I);
}

/// An iterator with another scheduler: see [`ParallelIterator::with_scheduler`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::WithScheduler<_, _> = (0..1000).into_par_iter().sequential();
/// assert_eq!(it.sum::<i32>(), 499_500);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct WithScheduler<I, S> {
    #[doc(hidden)]
    pub base: I,
    scheduler: S,
}

impl<I, S> WithScheduler<I, S> {
    pub(crate) fn new(base: I, scheduler: S) -> Self {
        WithScheduler { base, scheduler }
    }
}

impl<I> WithScheduler<I, Adaptive> {
    /// Sets how many items the [adaptive](ParallelIterator::adaptive) scheduler folds between two checks for thieves:
    /// `min`, then twice as many each time, up to `max`. (A `min` of 0 counts as 1, and a `max` below `min` as `min`.)
    /// See [`Adaptive::nano_blocks`].
    ///
    /// Name it right after `adaptive()`. Behind other adaptors, policies or blocks it is not available.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sum: i32 = (0..1000).into_par_iter().adaptive().nano_blocks(16, 64).map(|x| x * 2).by_blocks([100]).sum();
    /// assert_eq!(sum, 999_000);
    /// ```
    pub fn nano_blocks(self, min: usize, max: usize) -> Self {
        WithScheduler { scheduler: self.scheduler.nano_blocks(min, max), ..self }
    }
}

impl<I: ParallelIterator, S: Scheduler> ParallelIterator for WithScheduler<I, S> {
    pass_items!(base: I);
    inherit_scopes!(base: I);

    type Schedule = Plan<PolicyOf<I>, S, ExecutorOf<I>>;

    #[inline]
    fn schedule(&self) -> Self::Schedule {
        let base = self.base.schedule().into_plan();
        Plan { policy: base.policy, scheduler: self.scheduler.clone(), executor: base.executor }
    }
}

impl<I: IndexedParallelIterator, S: Scheduler> IndexedParallelIterator for WithScheduler<I, S> {
    pass_indexed!(base: I);
}

impl<I: PeekParallelIterator, S: Scheduler> PeekParallelIterator for WithScheduler<I, S> {
    pass_peek!(base: I);
}

/// An iterator on another executor: see [`ParallelIterator::on`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::On<_, _> = (0..1000).into_par_iter().on(furcate::Inline);
/// assert_eq!(it.sum::<i32>(), 499_500);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct On<I, E> {
    #[doc(hidden)]
    pub base: I,
    executor: E,
}

impl<I, E> On<I, E> {
    pub(crate) fn new(base: I, executor: E) -> Self {
        On { base, executor }
    }

    pub(crate) fn into_parts(self) -> (I, E) {
        (self.base, self.executor)
    }
}

impl<I: ParallelIterator, E: Executor> ParallelIterator for On<I, E> {
    pass_items!(base: I);
    inherit_scopes!(base: I);

    type Schedule = Plan<PolicyOf<I>, SchedulerOf<I>, E>;

    #[inline]
    fn schedule(&self) -> Self::Schedule {
        let base = self.base.schedule().into_plan();
        Plan { policy: base.policy, scheduler: base.scheduler, executor: self.executor.clone() }
    }
}

impl<I: IndexedParallelIterator, E: Executor> IndexedParallelIterator for On<I, E> {
    pass_indexed!(base: I);
}

impl<I: PeekParallelIterator, E: Executor> PeekParallelIterator for On<I, E> {
    pass_peek!(base: I);
}

/// An iterator with a whole schedule: see [`ParallelIterator::with`].
///
/// ```
/// use furcate::prelude::*;
/// use furcate::Plan;
/// let it: furcate::iter::With<_, Plan> = (0..1000).into_par_iter().with(Plan::new());
/// assert_eq!(it.sum::<i32>(), 499_500);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct With<I, S> {
    #[doc(hidden)]
    pub base: I,
    plan: S,
}

impl<I, S> With<I, S> {
    pub(crate) fn new(base: I, plan: S) -> Self {
        With { base, plan }
    }
}

impl<I: ParallelIterator, P: Policy, S: Scheduler, E: Executor> ParallelIterator for With<I, Plan<P, S, E>> {
    pass_items!(base: I);
    inherit_scopes!(base: I);

    type Schedule = Plan<Both<PolicyOf<I>, P>, S, E>;

    #[inline]
    fn schedule(&self) -> Self::Schedule {
        let Plan { policy, scheduler, executor } = self.plan.clone();
        Plan { policy: Both::new(self.base.policy(), policy), scheduler, executor }
    }
}

impl<I, P: Policy, S: Scheduler, E: Executor> IndexedParallelIterator for With<I, Plan<P, S, E>>
where
    I: IndexedParallelIterator,
{
    pass_indexed!(base: I);
}

impl<I, P: Policy, S: Scheduler, E: Executor> PeekParallelIterator for With<I, Plan<P, S, E>>
where
    I: PeekParallelIterator,
{
    pass_peek!(base: I);
}
