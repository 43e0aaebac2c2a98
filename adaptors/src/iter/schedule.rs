//! The adaptors that say *when*, *how* and *where*: they pass the items through and change the scheduler's settings.

use super::{IndexedParallelIterator, ParallelIterator, PeekParallelIterator};
use furcate_pool::{AtPriority, Executor, Priority};
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

/// Declares the schedule of an adaptor: what it makes of the plan of its base.
macro_rules! change_schedule {
    ($base:ident: $I:ty, |$adaptor:ident, $plan:ident| $change:expr => $Plan:ty) => {
        $crate::iter::inherit_scopes!($base: $I);

        type Schedule = $Plan;

        #[inline]
        fn schedule(&self) -> Self::Schedule {
            let $adaptor = self;
            let $plan = furcate_schedulers::Schedule::into_plan(self.$base.schedule());
            $change
        }
    };
}
pub(crate) use change_schedule;

/// The schedule of a parallel iterator with one policy more.
pub type PlanWith<I, P> = Plan<Both<PolicyOf<I>, P>, SchedulerOf<I>, ExecutorOf<I>>;

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

/// Declares an iterator with the items of its base and another schedule.
macro_rules! replan {
    (
        $(#[$doc:meta])*
        $Name:ident<I, $Change:ident> { $field:ident }
        impl[$($Param:ident: $Bound:ident),*] for $Changes:ty => $Plan:ty = |$it:ident, $base:ident| $change:expr
    ) => {
        $(#[$doc])*
        #[must_use = "iterators do nothing until a terminal drives them"]
        #[derive(Clone, Debug)]
        pub struct $Name<I, $Change> {
            #[doc(hidden)]
            pub base: I,
            $field: $Change,
        }

        impl<I, $Change> $Name<I, $Change> {
            pub(crate) fn new(base: I, $field: $Change) -> Self {
                $Name { base, $field }
            }

            #[allow(dead_code, reason = "not asked of every one")]
            pub(crate) fn into_parts(self) -> (I, $Change) {
                (self.base, self.$field)
            }
        }

        impl<I: ParallelIterator, $($Param: $Bound),*> ParallelIterator for $Name<I, $Changes> {
            pass_items!(base: I);
            change_schedule!(base: I, |$it, $base| $change => $Plan);
        }

        impl<I: IndexedParallelIterator, $($Param: $Bound),*> IndexedParallelIterator for $Name<I, $Changes> {
            pass_indexed!(base: I);
        }

        impl<I: PeekParallelIterator, $($Param: $Bound),*> PeekParallelIterator for $Name<I, $Changes> {
            type PeekProducer<'p>
                = I::PeekProducer<'p>
            where
                Self: 'p;

            #[inline]
            fn peek_producer(&mut self) -> Self::PeekProducer<'_> {
                self.base.peek_producer()
            }
        }
    };
}

replan! {
    /// An iterator with one policy more: see [`ParallelIterator::with_policy`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::WithPolicy<_, _> = (0..1000).into_par_iter().bound_depth(3);
    /// assert_eq!(it.sum::<i32>(), 499_500);
    /// ```
    WithPolicy<I, P> { policy }
    impl[P: Policy] for P => PlanWith<I, P> = |it, base| base.with_policy(it.policy.clone())
}

replan! {
    /// An iterator with another scheduler: see [`ParallelIterator::with_scheduler`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::WithScheduler<_, _> = (0..1000).into_par_iter().sequential();
    /// assert_eq!(it.sum::<i32>(), 499_500);
    /// ```
    WithScheduler<I, S> { scheduler }
    impl[S: Scheduler] for S => Plan<PolicyOf<I>, S, ExecutorOf<I>> = |it, base| {
        Plan { policy: base.policy, scheduler: it.scheduler.clone(), executor: base.executor }
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

replan! {
    /// An iterator on another executor: see [`ParallelIterator::on`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::On<_, _> = (0..1000).into_par_iter().on(furcate::Inline);
    /// assert_eq!(it.sum::<i32>(), 499_500);
    /// ```
    On<I, E> { executor }
    impl[E: Executor] for E => Plan<PolicyOf<I>, SchedulerOf<I>, E> = |it, base| base.on(it.executor.clone())
}

replan! {
    /// An iterator whose computation has a priority: see [`ParallelIterator::priority`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::Priority;
    /// let it: furcate::iter::WithPriority<_, _> = (0..1000).into_par_iter().priority(Priority::Background);
    /// assert_eq!(it.sum::<i32>(), 499_500);
    /// ```
    WithPriority<I, P> { priority }
    impl[] for Priority => Plan<PolicyOf<I>, SchedulerOf<I>, AtPriority<ExecutorOf<I>>> = |it, base| base.priority(it.priority)
}

replan! {
    /// An iterator with a whole schedule: see [`ParallelIterator::with`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::Plan;
    /// let it: furcate::iter::With<_, Plan> = (0..1000).into_par_iter().with(Plan::new());
    /// assert_eq!(it.sum::<i32>(), 499_500);
    /// ```
    With<I, S> { plan }
    impl[P: Policy, S: Scheduler, E: Executor] for Plan<P, S, E> => Plan<Both<PolicyOf<I>, P>, S, E> = |it, base| {
        let Plan { policy, scheduler, executor } = it.plan.clone();
        Plan { policy: Both::new(base.policy, policy), scheduler, executor }
    }
}
