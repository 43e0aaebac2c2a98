//! The schedule of a chain: one value that answers *when*, *how* and *where*.
//!
//! | type | is |
//! |---|---|
//! | [`Schedule`] | the trait of all values that `.with(..)` takes |
//! | [`Plan`] | a policy, a scheduler and an executor: the value in which every schedule ends up |
//! | [`DynSchedule`](crate::DynSchedule) | a schedule that is chosen at run time: `Box<dyn DynSchedule>` |
//!
//! # Invariants
//!
//! 1. *Complete.* A schedule answers all three questions. A plan that is not told an answer has the default one.
//! 2. *One reading.* A terminal reads the schedule of its chain once, before the producer is lent.

use crate::policy::{
    Auto, Both, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, SizeLimit,
    ThiefSplitting,
};
use crate::{
    Adaptive, BlockSizes, ByBlocks, ByTerminal, DefaultExecutor, DepJoin, Doubling, Join, Policy, Scheduler,
    Sequential,
};
#[cfg(not(loom))]
use furcate_pool::{AtPriority, Priority};
use furcate_pool::{Executor, IntoExecutor};
use std::iter::{Repeat, repeat};
use std::sync::Arc;

/// When the work of a chain is divided, how its parts are run, and where.
///
/// [`Plan`] is the schedule that is put together from its three parts. References to schedules are schedules, so a
/// schedule can be stored once and given to many chains.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::{Plan, Schedule};
///
/// /// Sums under any schedule.
/// fn sum(v: &[u64], schedule: impl Schedule) -> u64 {
///     v.par_iter().map(|x| x * x).with(schedule).sum()
/// }
///
/// let schedule = Plan::new().bound_depth(3).adaptive();
/// assert_eq!(sum(&[1, 2, 3], &schedule), 14);
/// assert_eq!(sum(&[4, 5], schedule), 41);
/// ```
///
/// A type of your own is a schedule if it can make a plan:
///
/// ```
/// use furcate::prelude::*;
/// use furcate::policy::SizeLimit;
/// use furcate::{Inline, Join, Plan, Schedule};
///
/// struct Settings {
///     page: usize,
/// }
///
/// impl Schedule for Settings {
///     type Policy = SizeLimit;
///     type Scheduler = Join;
///     type Executor = Inline;
///
///     fn plan(&self) -> Plan<SizeLimit, Join, Inline> {
///         Plan { policy: SizeLimit::new(self.page), scheduler: Join, executor: Inline }
///     }
/// }
///
/// let pages = (0..1000).wrap_iter().with(Settings { page: 250 }).count();
/// assert_eq!(pages, 4);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a schedule",
    note = "`.with(..)` takes a schedule: `Plan::new().bound_depth(3).adaptive()`, a reference to one, or a type of your own that implements `Schedule`",
    note = "a policy alone is named by `.with_policy(..)`, a scheduler by `.with_scheduler(..)`, an executor by `.on(..)`"
)]
pub trait Schedule: Send {
    /// Policy: when the work is divided.
    type Policy: Policy;

    /// Scheduler: how parts are run and how their outputs are reduced.
    type Scheduler: Scheduler;

    /// Executor: where parts run.
    type Executor: Executor;

    /// Returns the three answers, with a policy that is fresh for one run.
    fn plan(&self) -> Plan<Self::Policy, Self::Scheduler, Self::Executor>;

    /// Returns the three answers. Unlike [`plan`](Self::plan), a plan that is its own answer is not cloned.
    #[inline]
    fn into_plan(self) -> Plan<Self::Policy, Self::Scheduler, Self::Executor>
    where
        Self: Sized,
    {
        self.plan()
    }
}

impl<S: Schedule + Sync + ?Sized> Schedule for &S {
    type Policy = S::Policy;
    type Scheduler = S::Scheduler;
    type Executor = S::Executor;

    #[inline]
    fn plan(&self) -> Plan<S::Policy, S::Scheduler, S::Executor> {
        (**self).plan()
    }
}

impl<S: Schedule + ?Sized> Schedule for Box<S> {
    type Policy = S::Policy;
    type Scheduler = S::Scheduler;
    type Executor = S::Executor;

    #[inline]
    fn plan(&self) -> Plan<S::Policy, S::Scheduler, S::Executor> {
        (**self).plan()
    }
}

impl<S: Schedule + Sync + ?Sized> Schedule for Arc<S> {
    type Policy = S::Policy;
    type Scheduler = S::Scheduler;
    type Executor = S::Executor;

    #[inline]
    fn plan(&self) -> Plan<S::Policy, S::Scheduler, S::Executor> {
        (**self).plan()
    }
}

/// Plan with the answers of a schedule.
pub type PlanOf<S> = Plan<<S as Schedule>::Policy, <S as Schedule>::Scheduler, <S as Schedule>::Executor>;

/// A policy, a scheduler and an executor: a [`Schedule`] as a value.
///
/// The methods have the names and the meaning of the methods of a chain. `chain.with(plan)` gives the chain all three
/// answers of the plan, the defaults included. See `ParallelIterator::with`.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::policy::{Auto, BoundDepth, Both};
/// use furcate::{Adaptive, Plan};
///
/// /// A service with the schedule of its queries.
/// struct Service {
///     queries: Plan<Both<Auto, BoundDepth>, Adaptive>,
/// }
///
/// let service = Service { queries: Plan::new().bound_depth(3).adaptive() };
/// let hits = (0..1000).into_par_iter().filter(|x| x % 10 == 3).with(&service.queries).count();
/// assert_eq!(hits, 100);
/// ```
#[must_use = "a plan does nothing until a chain runs with it"]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan<P = Auto, S = ByTerminal, E = DefaultExecutor> {
    /// When the work is divided.
    pub policy: P,
    /// How parts are run and how their outputs are reduced.
    pub scheduler: S,
    /// Where parts run.
    pub executor: E,
}

impl Plan {
    /// Returns the default plan: the policy [`Auto`], the scheduler [`ByTerminal`], and the [`DefaultExecutor`].
    #[inline]
    pub fn new() -> Self {
        Plan { policy: Auto::new(), scheduler: ByTerminal, executor: DefaultExecutor::default() }
    }
}

impl<P: Policy, S: Scheduler, E: Executor> Schedule for Plan<P, S, E> {
    type Policy = P;
    type Scheduler = S;
    type Executor = E;

    #[inline]
    fn plan(&self) -> Self {
        self.clone()
    }

    #[inline]
    fn into_plan(self) -> Self {
        self
    }
}

impl<P: Policy, S: Scheduler, E: Executor> Plan<P, S, E> {
    /// Adds a policy to those named before: the strongest verdict of all of them counts.
    ///
    /// ```
    /// use furcate::policy::{BoundDepth, MinLen};
    /// use furcate::prelude::*;
    /// let plan = furcate::Plan::new().with_policy(BoundDepth::new(3)).with_policy(MinLen::new(250));
    /// assert_eq!((0..1000).wrap_iter().with(plan).count(), 4);
    /// ```
    #[inline]
    pub fn with_policy<Q: Policy>(self, policy: Q) -> Plan<Both<P, Q>, S, E> {
        const { no_cap_beside_suspension::<Q, S>() };
        Plan { policy: Both::new(self.policy, policy), scheduler: self.scheduler, executor: self.executor }
    }

    /// Divides down to a depth: the policy [`BoundDepth`].
    #[inline]
    pub fn bound_depth(self, depth: u32) -> Plan<Both<P, BoundDepth>, S, E> {
        self.with_policy(BoundDepth::new(depth))
    }

    /// Divides at least down to a depth: the policy [`ForceDepth`].
    #[inline]
    pub fn force_depth(self, depth: u32) -> Plan<Both<P, ForceDepth>, S, E> {
        self.with_policy(ForceDepth::new(depth))
    }

    /// Allows leaves only at even depths: the policy [`EvenLevels`].
    #[inline]
    pub fn even_levels(self) -> Plan<Both<P, EvenLevels>, S, E> {
        self.with_policy(EvenLevels)
    }

    /// Divides every part that is larger than a limit: the policy [`SizeLimit`].
    #[inline]
    pub fn size_limit(self, limit: usize) -> Plan<Both<P, SizeLimit>, S, E> {
        self.with_policy(SizeLimit::new(limit))
    }

    /// Limits the number of live tasks: the policy [`Cap`]. All calls under the same plan share its tokens.
    ///
    /// # Panics
    ///
    /// If `tasks` is 0.
    #[track_caller]
    #[inline]
    pub fn cap(self, tasks: usize) -> Plan<Both<P, Cap>, S, E> {
        const { no_cap_beside_suspension::<Cap, S>() };
        self.with_policy(Cap::new(tasks))
    }

    /// Always divides left parts, and right parts only when they have migrated: the policy [`JoinContext`].
    #[inline]
    pub fn join_context_policy(self, depth: u32) -> Plan<Both<P, JoinContext>, S, E> {
        self.with_policy(JoinContext::new(depth))
    }

    /// Divides `levels` times, and as often again in every stolen part: the policy [`ThiefSplitting`].
    #[inline]
    pub fn thief_splitting(self, levels: u32) -> Plan<Both<P, ThiefSplitting>, S, E> {
        self.with_policy(ThiefSplitting::new(levels))
    }

    /// Refuses every division that would leave a part shorter than `min`: the policy [`MinLen`].
    #[inline]
    pub fn with_min_len(self, min: usize) -> Plan<Both<P, MinLen>, S, E> {
        self.with_policy(MinLen::new(min))
    }

    /// Divides every part longer than `max`: the policy [`MaxLen`].
    #[inline]
    pub fn with_max_len(self, max: usize) -> Plan<Both<P, MaxLen>, S, E> {
        self.with_policy(MaxLen::new(max))
    }

    /// Chooses the scheduler, in place of the one chosen before. As in a chain, a scheduler after blocks does not
    /// compile.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let plan = furcate::Plan::new().with_scheduler(furcate::DepJoin);
    /// assert_eq!((0..10).into_par_iter().with(plan).sum::<i32>(), 45);
    /// ```
    #[inline]
    pub fn with_scheduler<T: Scheduler>(self, scheduler: T) -> Plan<P, T, E> {
        const { takes_the_place::<P, S, T>() };
        Plan { policy: self.policy, scheduler, executor: self.executor }
    }

    /// Runs everything as one task in the calling thread: the scheduler [`Sequential`].
    #[inline]
    pub fn sequential(self) -> Plan<P, Sequential, E> {
        const { takes_the_place::<P, S, Sequential>() };
        self.with_scheduler(Sequential)
    }

    /// Divides, forks and reduces, also in searches: the scheduler [`Join`].
    #[inline]
    pub fn join(self) -> Plan<P, Join, E> {
        const { takes_the_place::<P, S, Join>() };
        self.with_scheduler(Join)
    }

    /// The worker that finishes last reduces: the scheduler [`DepJoin`].
    #[inline]
    pub fn depjoin(self) -> Plan<P, DepJoin, E> {
        const { takes_the_place::<P, S, DepJoin>() };
        self.with_scheduler(DepJoin)
    }

    /// Divides a task only when another worker wants a part of it: the scheduler [`Adaptive`].
    #[inline]
    pub fn adaptive(self) -> Plan<P, Adaptive, E> {
        const { takes_the_place::<P, S, Adaptive>() };
        self.with_scheduler(Adaptive::new())
    }

    /// Runs blocks of given sizes one after the other, each by the scheduler chosen before: the scheduler [`ByBlocks`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let plan = furcate::Plan::new().adaptive().by_blocks([100, 1000]);
    /// assert_eq!((0..100_000).into_par_iter().with(&plan).find_first(|x| x % 7 == 6), Some(6));
    /// ```
    #[inline]
    pub fn by_blocks<Z: BlockSizes>(self, sizes: Z) -> Plan<P, ByBlocks<S, Z>, E> {
        const { no_blocks_of_blocks::<S>() };
        Plan { policy: self.policy, scheduler: ByBlocks::new(self.scheduler, sizes), executor: self.executor }
    }

    /// Calls [`by_blocks`](Self::by_blocks) with blocks of P, 2P, 4P ... units on P threads.
    #[inline]
    pub fn by_exponential_blocks(self) -> Plan<P, ByBlocks<S>, E> {
        const { no_blocks_of_blocks::<S>() };
        self.by_blocks(Doubling)
    }

    /// Calls [`by_blocks`](Self::by_blocks) with blocks of one size.
    #[inline]
    pub fn by_uniform_blocks(self, block_size: usize) -> Plan<P, ByBlocks<S, Repeat<usize>>, E> {
        const { no_blocks_of_blocks::<S>() };
        self.by_blocks(repeat(block_size))
    }

    /// Chooses the executor, in place of the one chosen before.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let plan = furcate::Plan::new().bound_depth(4).on(furcate::Inline);
    /// assert_eq!((0..1000).wrap_iter().with(plan).count(), 16);
    /// ```
    #[inline]
    pub fn on<F: IntoExecutor>(self, executor: F) -> Plan<P, S, F::Executor> {
        const { keeps_priority::<E>() };
        Plan { policy: self.policy, scheduler: self.scheduler, executor: executor.into_executor() }
    }
}

/// Furcate's own engines know priorities, so models, which have none of them, have no such plans.
#[cfg(not(loom))]
impl<P: Policy, S: Scheduler, E: Executor> Plan<P, S, E> {
    /// Runs the computation with that priority: see [`with_priority`](furcate_pool::with_priority).
    pub fn priority(self, priority: Priority) -> Plan<P, S, AtPriority<E>> {
        const { keeps_priority::<E>() };
        let Plan { policy, scheduler, executor } = self;
        Plan { policy, scheduler, executor: AtPriority::new(executor, priority) }
    }
}

impl<P, E> Plan<P, Adaptive, E> {
    /// Sets how many items the scheduler folds between two checks for thieves: see [`Adaptive::nano_blocks`].
    #[inline]
    pub fn nano_blocks(self, min: usize, max: usize) -> Self {
        Plan { scheduler: self.scheduler.nano_blocks(min, max), ..self }
    }
}

// As in a chain, these checks stand in every method that names a scheduler, so that the compiler's message points at that
// method's caller.

/// Refuses a scheduler that replaces blocks, and one that suspends tasks beside a cap.
const fn takes_the_place<P: Policy, S: Scheduler, T: Scheduler>() {
    assert!(
        !S::FACTS.blocks,
        "a scheduler named after `by_blocks` takes the blocks' place: name it before, as in `.join().by_blocks(..)`"
    );
    no_cap_beside_suspension::<P, T>();
}

/// Refuses a cap beside a scheduler that suspends tasks.
const fn no_cap_beside_suspension<P: Policy, S: Scheduler>() {
    assert!(
        !(S::FACTS.suspends && P::CAPS),
        "`cap` beside a scheduler that suspends tasks cannot be kept: bound the futures in flight with \
         `Suspending::new().max_in_flight(n)` instead"
    );
}

/// Refuses an engine or a priority that takes the place of a priority.
const fn keeps_priority<E: Executor>() {
    assert!(
        !E::HAS_PRIORITY,
        "an engine, a plan or a priority named after `priority` takes its place: name one priority behind them, as in `.on(..).priority(..)`"
    );
}

/// Refuses blocks of blocks: they would run one after the other anyway.
const fn no_blocks_of_blocks<S: Scheduler>() {
    assert!(
        !S::FACTS.blocks,
        "blocks of blocks: they run one after the other anyway, so name all sizes in one `by_blocks(..)`"
    );
}
