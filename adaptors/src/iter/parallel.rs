//! The parallel iterator.

#[cfg(feature = "rayon")]
use super::IntoRayonUnindexed;
use super::collect::{into_lists, unzip_into_lists};
use super::extend::{extended_by, partition_into_lists};
use super::flag::Flag;
use super::quota::Quota;
use super::scoped::{Scopes, in_scopes};
use super::terminals::{
    Aggregated, AnyHit, Count, First, Last, Max, MaxBy, Min, MinBy, Product, Reduce, ReduceWith, Sum, Totals,
    TryReduce, effects,
};
use super::{
    BlocksIter, Chain, Cloned, Copied, ExecutorOf, ExponentialBlocks, Filter, FilterMap, FlatMap,
    FlatMapIter, Flatten, FlattenIter, Fold, FoldWith, FromParallelIterator, Inspect, Interruptible,
    Intersperse, IntoParallelIterator, IoAwait, Log, Map, MapInit, MapWith, MaxLen, MinLen, On, PanicFuse,
    ParallelExtend, PolicyOf, PrefixScan, ProductOf, Progress, ProgressSink, SchedulerOf, SkipAny,
    SkipAnyWhile, Stage, Staged, SumOf, TakeAny, TakeAnyWhile, Try, TryFold, TryFoldWith, UniformBlocks,
    Update, WhileSome, With, WithPolicy, WithPriority, WithScheduler,
};
#[cfg(feature = "stream")]
use crate::stream::{BlockingIter, IntoStream};
use either::Either;
use furcate_pool::{Executor, IntoExecutor, Priority, trace};
use furcate_schedulers::policy::{
    BoundDepth, CancelToken, Cap, Deadline, EvenLevels, ForceDepth, JoinContext, SizeLimit, StopOn,
    ThiefSplitting,
};
use furcate_schedulers::{
    Adaptive, BlockSizes, ByBlocks, DepJoin, Doubling, Join, Plan, PlanOf, Policy, Producer, Reduction,
    Schedule, Scheduler, Sequential,
};
use std::cmp::Ordering;
use std::collections::LinkedList;
use std::panic::Location;
use std::time::Instant;

/// A parallel computation over items: a source, adaptors, and a schedule.
///
/// The methods are rayon's, with rayon's meaning. The methods of the section *scheduling* are furcate's own. Iterators
/// are lazy: nothing runs before a terminal (`for_each`, `sum`, `collect`, ...) is called.
///
/// # Methods
///
/// The methods stand below in this order, in groups. Numbers, pairs, chunks, `merge` and comparisons need positions: see
/// [`IndexedParallelIterator`](super::IndexedParallelIterator).
///
/// | you want | methods |
/// |---|---|
/// | to say how the work is scheduled | [`with`](Self::with), [`with_policy`](Self::with_policy), [`bound_depth`](Self::bound_depth), [`force_depth`](Self::force_depth), [`even_levels`](Self::even_levels), [`size_limit`](Self::size_limit), [`cap`](Self::cap), [`join_context_policy`](Self::join_context_policy), [`thief_splitting`](Self::thief_splitting), [`with_min_len`](Self::with_min_len), [`with_max_len`](Self::with_max_len), [`with_scheduler`](Self::with_scheduler), [`sequential`](Self::sequential), [`join`](Self::join), [`depjoin`](Self::depjoin), [`adaptive`](Self::adaptive), [`by_blocks`](Self::by_blocks), [`by_exponential_blocks`](Self::by_exponential_blocks), [`by_uniform_blocks`](Self::by_uniform_blocks), [`blocks_iter`](Self::blocks_iter), [`on`](Self::on) |
/// | to stop it before its last item | [`stop_on`](Self::stop_on), [`deadline`](Self::deadline) |
/// | to change, drop or unfold items | [`stage`](Self::stage), [`map`](Self::map), [`filter`](Self::filter), [`filter_map`](Self::filter_map), [`flat_map`](Self::flat_map), [`flat_map_iter`](Self::flat_map_iter), [`flatten`](Self::flatten), [`flatten_iter`](Self::flatten_iter), [`cloned`](Self::cloned), [`copied`](Self::copied), [`inspect`](Self::inspect), [`log`](Self::log), [`progress`](Self::progress), [`update`](Self::update) |
/// | to wait for futures, or to make a stream or a sequential iterator | [`io_await`](Self::io_await), `into_stream`, `into_stream_unordered`, `into_iter_ordered`, `into_iter_unordered` |
/// | to keep a state for every task | [`map_with`](Self::map_with), [`map_init`](Self::map_init), [`fold`](Self::fold), [`fold_with`](Self::fold_with), [`try_fold`](Self::try_fold), [`try_fold_with`](Self::try_fold_with) |
/// | to end early, or to begin late | [`while_some`](Self::while_some), [`take_any`](Self::take_any), [`skip_any`](Self::skip_any), [`take_any_while`](Self::take_any_while), [`skip_any_while`](Self::skip_any_while), [`panic_fuse`](Self::panic_fuse) |
/// | prefix sums, with any operation | [`inclusive_scan`](Self::inclusive_scan), [`exclusive_scan`](Self::exclusive_scan) |
/// | to join two iterators, or to put separators between items | [`chain`](Self::chain), [`intersperse`](Self::intersperse) |
/// | one value of all items | [`for_each`](Self::for_each), [`for_each_with`](Self::for_each_with), [`for_each_init`](Self::for_each_init), [`reduce`](Self::reduce), [`reduce_with`](Self::reduce_with), [`sum`](Self::sum), [`product`](Self::product), [`count`](Self::count), [`min`](Self::min), [`max`](Self::max), [`min_by`](Self::min_by), [`max_by`](Self::max_by), [`min_by_key`](Self::min_by_key), [`max_by_key`](Self::max_by_key) |
/// | the same, up to the first failure | [`try_for_each`](Self::try_for_each), [`try_for_each_with`](Self::try_for_each_with), [`try_for_each_init`](Self::try_for_each_init), [`try_reduce`](Self::try_reduce), [`try_reduce_with`](Self::try_reduce_with) |
/// | to search | [`any`](Self::any), [`all`](Self::all), [`find_any`](Self::find_any), [`find_first`](Self::find_first), [`find_last`](Self::find_last), [`find_map_any`](Self::find_map_any), [`find_map_first`](Self::find_map_first), [`find_map_last`](Self::find_map_last) |
/// | a collection | [`collect`](Self::collect), [`collect_vec_list`](Self::collect_vec_list), [`unzip`](Self::unzip), [`partition`](Self::partition), [`partition_map`](Self::partition_map) |
/// | the same, without a thread that waits | `async_` and the terminal's name: the trait [`AsyncTerminals`](super::AsyncTerminals) |
///
/// # Scheduling
///
/// | question | answered by | default |
/// |---|---|---|
/// | *when* is work divided | [`with_policy`](Self::with_policy), [`bound_depth`](Self::bound_depth), [`thief_splitting`](Self::thief_splitting) ... | [`Auto`](furcate_schedulers::policy::Auto) |
/// | *how* are parts run and reduced | [`with_scheduler`](Self::with_scheduler), [`join`](Self::join), [`depjoin`](Self::depjoin), [`adaptive`](Self::adaptive), [`by_blocks`](Self::by_blocks), [`sequential`](Self::sequential) | [`ByTerminal`](furcate_schedulers::ByTerminal): by blocks for searches, on demand for merges, else [`Join`] |
/// | *where* do they run | [`on`](Self::on) | [`DefaultExecutor`](furcate_schedulers::DefaultExecutor) |
///
/// The three answers together are one value, the chain's [`schedule`](Self::schedule). [`with`](Self::with) gives all three at once.
///
/// A schedule can be named anywhere in a chain and holds for the whole chain. When two iterators are combined (`zip`,
/// `chain` ...), the schedule of the first one is used.
///
/// # Implementing it
///
/// A new source lends a [`Producer`] and has a schedule, usually the default [`Plan`]; an adaptor passes on the schedule of
/// its base.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::Plan;
///
/// /// The numbers of a deck of cards.
/// struct Deck;
///
/// impl ParallelIterator for Deck {
///     type Item = u32;
///     type Producer<'a> = std::ops::Range<u32>;
///     type Schedule = Plan;
///
///     fn producer(&mut self) -> Self::Producer<'_> {
///         0..52
///     }
///     fn schedule(&self) -> Plan {
///         Plan::new()
///     }
/// }
/// assert_eq!(Deck.map(|card| card % 13).sum::<u32>(), 4 * 78);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a parallel iterator",
    note = "call `par_iter()`, `par_iter_mut()`, `into_par_iter()` or `wrap_iter()` to make one; behind `stop_on` and `deadline`, pass it by \
            `.run(|it| ..)`"
)]
#[must_use = "iterators do nothing until a terminal drives them"]
pub trait ParallelIterator: Sized + Send {
    /// Item type.
    type Item: Send;

    /// Producer that the iterator lends to the scheduler. It may borrow the closures and the data of the iterator.
    type Producer<'a>: Producer<Item = Self::Item>
    where
        Self: 'a;

    /// Schedule: when the work is divided, how parts are run, and where.
    type Schedule: Schedule;

    /// Lends all items. A second call lends either nothing or the same items again. Terminals call this method once.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut it = (0..10).into_par_iter().map(|x| x * x);
    /// let (left, right) = it.producer().divide_at(3);
    /// assert!(left.into_iter().eq([0, 1, 4]) && right.size() == 7);
    /// ```
    fn producer(&mut self) -> Self::Producer<'_>;

    /// Returns the schedule: a [`Plan`], for all chains of this library.
    ///
    /// A chain's schedule can be given to another chain. (A terminal that returns a stream or a future may need the
    /// chain to own its data: see [`on`](Self::on).)
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let first = (0..1000).wrap_iter().bound_depth(2).on(furcate::Inline);
    /// let second = (0..10).wrap_iter().with(first.schedule());
    /// assert_eq!((first.count(), second.count()), (4, 4));
    /// ```
    fn schedule(&self) -> Self::Schedule;

    /// Returns the chosen policy, fresh for one run.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::policy::{Auto, BoundDepth, Both};
    /// let it = (0..10).into_par_iter().bound_depth(3).map(|x| x + 1);
    /// let _: Both<Auto, BoundDepth> = it.policy();
    /// ```
    #[inline]
    fn policy(&self) -> PolicyOf<Self> {
        self.schedule().into_plan().policy
    }

    /// Returns the chosen scheduler.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it = (0..10).into_par_iter().sequential().map(|x| x + 1);
    /// assert_eq!(it.scheduler(), furcate::Sequential);
    /// ```
    #[inline]
    fn scheduler(&self) -> SchedulerOf<Self> {
        self.schedule().into_plan().scheduler
    }

    /// Returns the chosen executor.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it = (0..10).into_par_iter().on(furcate::Inline).map(|x| x + 1);
    /// assert_eq!(it.executor(), furcate::Inline);
    /// ```
    #[inline]
    fn executor(&self) -> ExecutorOf<Self> {
        self.schedule().into_plan().executor
    }

    /// Returns the exact number of items, if that number is known **and** the producer's cuts are exact. In that case
    /// `collect` writes in place.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..10).into_par_iter().map(|x| x + 1).opt_len(), Some(10));
    /// assert_eq!((0..10).into_par_iter().filter(|x| x % 2 == 0).opt_len(), None);
    /// ```
    #[inline]
    fn opt_len(&self) -> Option<usize> {
        None
    }

    /// Returns the [size](furcate_schedulers::Divisible::size) of the producer, if it is known before the producer is
    /// lent. The size of a `filter` is the size of its base.
    ///
    /// `flat_map` reads this number to decide whether an inner iterator is long enough to be divided. The default is
    /// [`opt_len`](Self::opt_len).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..10).into_par_iter().filter(|x| x % 2 == 0).units(), Some(10));
    /// ```
    #[inline]
    fn units(&self) -> Option<usize> {
        self.opt_len()
    }

    /// Runs the computation with a reduction of your own, as all terminals do with theirs.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::Reduction;
    /// use std::ops::ControlFlow;
    ///
    /// /// How many leaves were there?
    /// #[derive(Clone)]
    /// struct Leaves;
    /// impl<T> Reduction<T> for Leaves {
    ///     type Accumulator = ();
    ///     type Output = usize;
    ///     fn start(&self) {}
    ///     fn fold_item(&self, _: (), _: T) -> ControlFlow<(), ()> {
    ///         ControlFlow::Continue(())
    ///     }
    ///     fn finish(&self, _: ()) -> usize {
    ///         1
    ///     }
    ///     fn reduce(&self, left: usize, right: usize) -> usize {
    ///         left + right
    ///     }
    /// }
    /// assert_eq!((0..1000).into_par_iter().bound_depth(3).drive(Leaves), 8);
    /// ```
    #[track_caller]
    #[inline]
    fn drive<R: Reduction<Self::Item>>(mut self, reduction: R) -> R::Output {
        let _call = trace::chain(Location::caller());
        if Self::SCOPED {
            return in_scopes(self, |mut chain| {
                let Plan { policy, scheduler, executor } = chain.schedule().into_plan();
                scheduler.schedule((chain.producer(), policy, reduction), &executor)
            });
        }
        let Plan { policy, scheduler, executor } = self.schedule().into_plan();
        scheduler.schedule((self.producer(), policy, reduction), &executor)
    }

    /// Whether a source of the chain has its producer only while a callback runs: in a scope.
    #[doc(hidden)]
    const SCOPED: bool = false;

    /// Adds the scopes of the chain's sources. Called once, before the chain is lent in these scopes.
    #[doc(hidden)]
    fn scopes<'scope>(&mut self, scopes: &mut Scopes<'scope>)
    where
        Self: 'scope,
    {
        let _ = scopes;
    }

    /// Makes a parallel iterator of rayon's, for a function that wants one. It does not know its length.
    ///
    /// The chain's schedule holds: rayon's consumer folds and reduces, and the chain's policy, scheduler and executor say how and where. A
    /// chain behind `io_await` suspends its tasks as always. For an iterator that rayon can zip or enumerate, see
    /// [`into_rayon`](super::IndexedParallelIterator::into_rayon).
    ///
    /// ```
    /// use furcate::prelude::*;
    ///
    /// fn total(numbers: impl rayon::iter::ParallelIterator<Item = u64>) -> u64 {
    ///     numbers.sum()
    /// }
    /// let even = (0..1000_u64).into_par_iter().filter(|x| x % 2 == 0).adaptive();
    /// assert_eq!(total(even.into_rayon_unindexed()), 249_500);
    /// ```
    #[cfg(feature = "rayon")]
    fn into_rayon_unindexed(self) -> IntoRayonUnindexed<Self> {
        IntoRayonUnindexed::new(self)
    }

    // ---------------------------------------------------------------------------------------------- scheduling

    /// Gives the chain a whole schedule: a [`Plan`], by value or by reference, or any other [`Schedule`].
    ///
    /// The meaning is that of `.with_policy(plan.policy).with_scheduler(plan.scheduler).on(plan.executor)`:
    ///
    /// - The policies of the schedule and of the chain add up. Their order makes no difference.
    /// - The scheduler and the executor replace those named before. A schedule answers all questions: a plan that does
    ///   not name a scheduler names the default one.
    /// - A schedule stands where a scheduler may stand. After [`by_blocks`](Self::by_blocks) or [`io_await`](Self::io_await)
    ///   it does not compile, nor after [`priority`](Self::priority): name it before them.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::Plan;
    ///
    /// let plan = Plan::new().size_limit(100).on(furcate::Inline); // in a struct, for many chains
    /// let pieces = |n: usize| (0..n).wrap_iter().with(&plan).count();
    /// assert_eq!((pieces(100), pieces(200), pieces(400)), (1, 2, 4));
    ///
    /// // The chain's own policies count, too.
    /// assert_eq!((0..400).wrap_iter().with_min_len(200).with(&plan).count(), 2);
    /// ```
    #[inline]
    fn with<S: Schedule>(self, schedule: S) -> With<Self, PlanOf<S>> {
        const { takes_the_place::<Self, S::Scheduler>() }
        const { no_cap_behind_io_await::<Self, S::Policy>() };
        const { keeps_priority::<Self>() };
        With::new(self, schedule.into_plan())
    }

    /// Adds a policy to those named before: one of your own, or one from [`policy`](furcate_schedulers::policy).
    ///
    /// The strongest verdict of all policies counts, whatever their order. The first policy that says how to divide
    /// replaces the default policy. See [`policy`](furcate_schedulers::policy).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::{Node, Verdict};
    ///
    /// #[derive(Clone)]
    /// struct Pages;
    /// impl Policy for Pages {
    ///     fn wants_split(&mut self, node: &Node) -> Verdict {
    ///         (node.len > 4096).into()
    ///     }
    /// }
    /// let pages = (0..10_000)
    ///     .wrap_iter()
    ///     .with_policy(Pages)
    ///     .count();
    /// assert_eq!(pages, 4);
    /// ```
    #[inline]
    fn with_policy<P: Policy>(self, policy: P) -> WithPolicy<Self, P> {
        const { no_cap_behind_io_await::<Self, P>() };
        WithPolicy::new(self, policy)
    }

    /// Divides down to a depth: 2^`depth` parts, if there is enough to divide. See [`BoundDepth`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..1000).wrap_iter().bound_depth(3).count(), 8);
    /// ```
    #[inline]
    fn bound_depth(self, depth: u32) -> WithPolicy<Self, BoundDepth> {
        self.with_policy(BoundDepth::new(depth))
    }

    /// Divides at least down to a depth, whatever other policies say. See [`ForceDepth`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..1000).wrap_iter().size_limit(500).force_depth(3).count(), 8);
    /// ```
    #[inline]
    fn force_depth(self, depth: u32) -> WithPolicy<Self, ForceDepth> {
        self.with_policy(ForceDepth::new(depth))
    }

    /// Allows leaves only at even depths. See [`EvenLevels`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..1000).wrap_iter().bound_depth(3).even_levels().count(), 16);
    /// ```
    #[inline]
    fn even_levels(self) -> WithPolicy<Self, EvenLevels> {
        self.with_policy(EvenLevels)
    }

    /// Divides every part that is larger than a limit, counted as in [`with_min_len`](Self::with_min_len). See [`SizeLimit`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..1000).wrap_iter().size_limit(250).count(), 4);
    /// ```
    #[inline]
    fn size_limit(self, limit: usize) -> WithPolicy<Self, SizeLimit> {
        self.with_policy(SizeLimit::new(limit))
    }

    /// Limits the number of live tasks. See [`Cap`], also for a cap that several computations share.
    ///
    /// With `io_await` in the chain this does not compile. An item that has waited continues as a task of its own, and
    /// no policy is asked about such tasks. Behind `io_await`, [`max_in_flight`](IoAwait::max_in_flight) bounds the
    /// futures in flight.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    ///
    /// let live = AtomicUsize::new(0);
    /// (0..1000).wrap_iter().size_limit(10).cap(2).for_each(|_piece| {
    ///     assert!(live.fetch_add(1, SeqCst) < 2);
    ///     live.fetch_sub(1, SeqCst);
    /// });
    /// ```
    ///
    /// # Panics
    ///
    /// If `tasks` is 0.
    #[track_caller]
    #[inline]
    fn cap(self, tasks: usize) -> WithPolicy<Self, Cap> {
        const { no_cap_behind_io_await::<Self, Cap>() };
        self.with_policy(Cap::new(tasks))
    }

    /// Always divides left parts, and divides right parts only when they have migrated, down to a depth. See
    /// [`JoinContext`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::Inline; // nobody steals there
    /// let pieces: Vec<_> = (0..16).wrap_iter().join_context_policy(3).on(Inline).collect();
    /// assert_eq!(pieces, [0..2, 2..4, 4..8, 8..16]);
    /// ```
    #[inline]
    fn join_context_policy(self, depth: u32) -> WithPolicy<Self, JoinContext> {
        self.with_policy(JoinContext::new(depth))
    }

    /// Divides `levels` times, and as often again in every stolen part. See [`ThiefSplitting`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert!((0..1000).wrap_iter().thief_splitting(4).count() >= 16);
    /// ```
    #[inline]
    fn thief_splitting(self, levels: u32) -> WithPolicy<Self, ThiefSplitting> {
        self.with_policy(ThiefSplitting::new(levels))
    }

    /// Refuses every division that would leave a part shorter than `min`: the policy
    /// [`MinLen`](furcate_schedulers::policy::MinLen).
    ///
    /// Like every policy it holds for the whole chain. Lengths are counted in the units of the place where the policy is named: a minimum of
    /// 32 in front of `chunks(4)` is one of 8 chunks.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sum: usize = (0..100).into_par_iter().with_min_len(50).sum(); // at most two leaves
    /// assert_eq!(sum, 4950);
    /// ```
    #[inline]
    fn with_min_len(self, min: usize) -> MinLen<Self> {
        self.with_policy(furcate_schedulers::policy::MinLen::new(min))
    }

    /// Divides every part longer than `max`: the policy [`MaxLen`](furcate_schedulers::policy::MaxLen).
    ///
    /// The policy holds for the whole chain, as [`with_min_len`](Self::with_min_len) does. Its verdict is *must*, so it
    /// also overrules `with_min_len` (in rayon it is the other way round).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sum: usize = (0..100).into_par_iter().with_max_len(10).sum(); // at least ten leaves
    /// assert_eq!(sum, 4950);
    /// ```
    #[inline]
    fn with_max_len(self, max: usize) -> MaxLen<Self> {
        self.with_policy(furcate_schedulers::policy::MaxLen::new(max))
    }

    /// Chooses the scheduler. It replaces the one that was chosen before.
    ///
    /// After [`by_blocks`](Self::by_blocks) this does not compile, because the blocks would be lost. Name the scheduler
    /// for the blocks before them: `.sequential().by_blocks(..)`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::Join;
    /// assert_eq!((0..10).into_par_iter().with_scheduler(Join).sum::<i32>(), 45);
    /// ```
    #[inline]
    fn with_scheduler<S: Scheduler>(self, scheduler: S) -> WithScheduler<Self, S> {
        const { takes_the_place::<Self, S>() }
        WithScheduler::new(self, scheduler)
    }

    /// Runs everything as one task in the calling thread. See [`Sequential`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..1000).wrap_iter().sequential().count(), 1);
    /// ```
    #[inline]
    fn sequential(self) -> WithScheduler<Self, Sequential> {
        const { takes_the_place::<Self, Sequential>() }
        WithScheduler::new(self, Sequential)
    }

    /// Divides, forks and reduces, also in searches. See [`Join`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..10).into_par_iter().sequential().join().sum::<i32>(), 45);
    /// ```
    #[inline]
    fn join(self) -> WithScheduler<Self, Join> {
        const { takes_the_place::<Self, Join>() }
        WithScheduler::new(self, Join)
    }

    /// Divides and forks as [`join`](Self::join) does, but the worker that finishes last reduces: no worker waits for a
    /// stolen part. See [`DepJoin`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let text = ["to", "get", "her"].par_iter().map(|s| s.to_string()).depjoin().reduce(String::new, |a, b| a + &b);
    /// assert_eq!(text, "together");
    /// ```
    #[inline]
    fn depjoin(self) -> WithScheduler<Self, DepJoin> {
        const { takes_the_place::<Self, DepJoin>() }
        WithScheduler::new(self, DepJoin)
    }

    /// Divides a task only when another worker wants a part of it. See [`Adaptive`], also for the effect of policies
    /// named in the same chain.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let tasks = (0..1000).into_par_iter().fold(|| 0, |sum, x| sum + x).adaptive();
    /// let sums: Vec<i32> = tasks.collect(); // one, and one more for every steal
    /// assert_eq!(sums.iter().sum::<i32>(), 499_500);
    /// ```
    ///
    /// [`nano_blocks`](super::WithScheduler::nano_blocks) sets how many items a task folds between two looks at the
    /// scheduler:
    ///
    /// ```
    /// # use furcate::prelude::*;
    /// assert_eq!((0..1000).into_par_iter().adaptive().nano_blocks(16, 64).sum::<i32>(), 499_500);
    /// ```
    #[inline]
    fn adaptive(self) -> WithScheduler<Self, Adaptive> {
        const { takes_the_place::<Self, Adaptive>() }
        WithScheduler::new(self, Adaptive::new())
    }

    /// Runs blocks of given sizes one after the other. Each block runs in parallel under the policy and the scheduler
    /// of the chain. See [`ByBlocks`].
    ///
    /// A computation that ends early (a search) does nothing behind the block in which it ends. Sizes are anything that
    /// gives numbers ([`BlockSizes`]). When the sizes end, the remaining units are one more block. A size of 0 counts
    /// as 1. Sizes count the units that are divided: before a `filter`, wherever `by_blocks` is named.
    ///
    /// A policy holds for each block as for a computation of its own, wherever the policy is named. A scheduler is
    /// named before the blocks that it runs. After them it would replace them, so that is a compile error. Blocks of
    /// blocks are a compile error, too: all of them would run one after the other, and one list of sizes can say the
    /// same.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let hit = (0..100_000).into_par_iter().filter(|x| x % 3 == 0).by_blocks([100, 1000]).find_first(|&x| x > 500);
    /// assert_eq!(hit, Some(501)); // and nothing from 1100 on has been looked at
    /// let pieces: Vec<_> = (0..100).wrap_iter().bound_depth(1).by_blocks([20, 40]).collect();
    /// assert_eq!(pieces, [0..10, 10..20, 20..40, 40..60, 60..80, 80..100]);
    /// ```
    #[inline]
    fn by_blocks<Z: BlockSizes>(self, sizes: Z) -> WithScheduler<Self, ByBlocks<SchedulerOf<Self>, Z>> {
        const { no_blocks_of_blocks::<Self>() }
        in_blocks(self, sizes)
    }

    /// Calls [`by_blocks`](Self::by_blocks) with blocks of P, 2P, 4P ... units on P threads.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..1000).into_par_iter().by_exponential_blocks().find_last(|x| x % 7 == 6), Some(993));
    /// ```
    #[inline]
    fn by_exponential_blocks(self) -> ExponentialBlocks<Self> {
        const { no_blocks_of_blocks::<Self>() }
        in_blocks(self, Doubling)
    }

    /// Calls [`by_blocks`](Self::by_blocks) with blocks of one size. A size of 0 counts as 1, as it does there. (Rayon
    /// panics.)
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert!((0..1000).into_par_iter().by_uniform_blocks(64).any(|x| x == 600));
    /// ```
    #[inline]
    fn by_uniform_blocks(self, block_size: usize) -> UniformBlocks<Self> {
        const { no_blocks_of_blocks::<Self>() }
        in_blocks(self, std::iter::repeat(block_size))
    }

    /// Cuts the computation into blocks that a sequential loop consumes one after the other. Each block is a parallel
    /// iterator.
    ///
    /// The returned value owns the blocks: [`iter`](BlocksIter::iter) lends them, [`items`](BlocksIter::items) lends
    /// their items. Both are std iterators, lazy and in order. A block is computed in parallel when the loop asks for
    /// it, and no later block is computed. Sizes are as in [`by_blocks`](Self::by_blocks).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::Doubling;
    ///
    /// let mut seen = 0;
    /// for block in &mut (0..u64::MAX).into_par_iter().map(|x| x * x).blocks_iter(Doubling) {
    ///     seen += 1;
    ///     if block.max() > Some(10_000) {
    ///         break; // nothing from the next block on is computed
    ///     }
    /// }
    /// assert!(seen < 10);
    ///
    /// let mut squares = (0..1000).into_par_iter().map(|x| x * x).blocks_iter(std::iter::repeat(100));
    /// assert_eq!(squares.items().skip(10).step_by(10).next(), Some(100));
    /// ```
    #[inline]
    fn blocks_iter<Z: BlockSizes>(self, sizes: Z) -> BlocksIter<Self, Z> {
        BlocksIter::new(self, sizes)
    }

    /// Chooses the executor: `&pool`, where `pool` is a [`ThreadPool`](furcate_pool::ThreadPool) or an `Arc` of one, or any
    /// other [`Executor`](furcate_pool::Executor).
    ///
    /// The `async_*` terminals and streams need an engine that owns its share of the pool: a pool in an `Arc`, by value or by
    /// reference.
    ///
    /// All tasks of the chain run on this executor: parts, futures, and the task that feeds a stream. (An engine that cannot
    /// suspend tasks would keep a thread for each feed. The feed of its streams is a task of furcate's pool.)
    ///
    /// Cost: `&pool` of an `Arc<ThreadPool>` clones the `Arc`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::{Inline, ThreadPoolBuilder};
    /// use std::sync::Arc;
    ///
    /// assert_eq!((0..10).into_par_iter().on(Inline).sum::<i32>(), 45);
    /// let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// assert_eq!((0..10).into_par_iter().on(&pool).sum::<i32>(), 45);
    /// let shared = Arc::new(pool);
    /// let sum = (0..10).into_par_iter().on(&shared).async_sum::<i32>(); // `'static`
    /// assert_eq!(furcate::block_on(sum), 45);
    /// ```
    #[inline]
    fn on<E: IntoExecutor>(self, executor: E) -> On<Self, E::Executor> {
        const { keeps_priority::<Self>() };
        On::new(self, executor.into_executor())
    }

    /// Gives the computation a priority, wherever it runs: see [`with_priority`](furcate_pool::with_priority). All that the computation forks, spawns and awaits
    /// has it. Behind it, `.on(..)` and `.with(..)` do not compile: they would take its place.
    ///
    /// Cost: none for a fork.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::Priority;
    /// let sum: i32 = (0..1000).into_par_iter().map(|x| 2 * x).priority(Priority::Urgent).sum();
    /// assert_eq!(sum, 999_000);
    /// ```
    #[inline]
    fn priority(self, priority: Priority) -> WithPriority<Self, Priority> {
        const { keeps_priority::<Self>() };
        WithPriority::new(self, priority)
    }

    // ---------------------------------------------------------------------------------------------- interruption

    /// Ends the computation when a token is cancelled. A running task ends soon, between two items; a task that has not
    /// begun does not begin.
    ///
    /// The result is not a parallel iterator, so that an early end cannot be overlooked. Its terminals return `Ok` if
    /// all items were processed, else [`Interrupted`](super::Interrupted) with the partial result. See
    /// [`Interruptible`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::policy::CancelToken;
    ///
    /// let token = CancelToken::new();
    /// assert_eq!((0..10).into_par_iter().stop_on(&token).sum::<i32>(), Ok(45));
    /// token.cancel();
    /// let interrupted = (0..10).into_par_iter().stop_on(&token).sum::<i32>().unwrap_err();
    /// assert_eq!(interrupted.into_done(), 0);
    /// ```
    #[inline]
    fn stop_on(self, token: &CancelToken) -> Interruptible<Self, StopOn> {
        Interruptible::new(self, StopOn::new(token))
    }

    /// Ends the computation at a point in time, as [`stop_on`](Self::stop_on) does for a token.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::time::{Duration, Instant};
    ///
    /// let in_time = Instant::now() + Duration::from_secs(60);
    /// assert_eq!((0..10).into_par_iter().deadline(in_time).sum::<i32>(), Ok(45));
    /// assert!((0..10).into_par_iter().deadline(Instant::now()).sum::<i32>().is_err());
    /// ```
    #[inline]
    fn deadline(self, at: Instant) -> Interruptible<Self, Deadline> {
        Interruptible::new(self, Deadline::new(at))
    }

    // ------------------------------------------------------------------- adaptors that treat each item by itself

    /// Applies an item-wise operation of your own: an adaptor that turns the std iterator over a leaf into another one.
    ///
    /// See [`Stage`], which is all that such an adaptor has to implement. The result has no positions: use
    /// `enumerate` or `zip` before it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::iter::Stage;
    /// use std::iter::Fuse;
    ///
    /// /// Fuses leaves.
    /// #[derive(Clone)]
    /// struct Fused;
    /// impl<T> Stage<T> for Fused {
    ///     type Item = T;
    ///     type Iter<I: Iterator<Item = T>> = Fuse<I>;
    ///     fn apply<I: Iterator<Item = T>>(self, items: I) -> Fuse<I> {
    ///         items.fuse()
    ///     }
    /// }
    /// assert_eq!((0..10).into_par_iter().stage(Fused).sum::<i32>(), 45);
    /// ```
    #[inline]
    fn stage<S>(self, stage: S) -> Staged<Self, S>
    where
        S: Stage<Self::Item, Item: Send>,
    {
        Staged::new(self, stage)
    }

    /// Transforms every item.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let doubled: Vec<i32> = [1, 2, 3].par_iter().map(|x| x * 2).collect();
    /// assert_eq!(doubled, [2, 4, 6]);
    /// ```
    #[inline]
    fn map<F, R>(self, map_op: F) -> Map<Self, F>
    where
        F: Fn(Self::Item) -> R + Sync + Send,
        R: Send,
    {
        Map::new(self, map_op)
    }

    /// Keeps the items for which a predicate is true.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let even: Vec<i32> = (0..6).into_par_iter().filter(|x| x % 2 == 0).collect();
    /// assert_eq!(even, [0, 2, 4]);
    /// ```
    #[inline]
    fn filter<P>(self, predicate: P) -> Filter<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        Filter::new(self, predicate)
    }

    /// Applies a function to every item and keeps the values of the `Some`s that it returns.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let numbers: Vec<u32> = ["1", "x", "3"].par_iter().filter_map(|text| text.parse().ok()).collect();
    /// assert_eq!(numbers, [1, 3]);
    /// ```
    #[inline]
    fn filter_map<P, R>(self, filter_op: P) -> FilterMap<Self, P>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        FilterMap::new(self, filter_op)
    }

    /// Makes a parallel iterator of every item, and yields the items of all these iterators, in order.
    ///
    /// The tasks share out the outer items. A task walks short inner iterators itself. It divides a long one, together
    /// with the outer items behind it: under [`adaptive`](Self::adaptive) on demand, else where the policy wants it
    /// (see [`Node::grown`](furcate_schedulers::Node)). The inner iterator's own schedule is not used. An inner
    /// iterator is long if it has more than 256 [units](Self::units) (64 under `adaptive`), and twice as many as the
    /// last one that was divided.
    ///
    /// Up to 4096 inner iterators, those that are divided, are kept to the end of the call. Up to 63 outer items are
    /// made before the long inner iterator in front of them has been walked. An [`io_await`](Self::io_await) inside is
    /// an error: wait behind, as in `.flat_map(|x| requests(x)).io_await()`.
    ///
    /// Cost: a comparison per inner iterator, and an allocation per call, for up to 64 slots.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let below: Vec<u32> = [2, 0, 3].par_iter().flat_map(|&end| 0..end).collect();
    /// assert_eq!(below, [0, 1, 0, 1, 2]);
    /// ```
    #[inline]
    fn flat_map<F, PI>(self, map_op: F) -> FlatMap<Self, F>
    where
        F: Fn(Self::Item) -> PI + Sync + Send,
        PI: IntoParallelIterator,
    {
        const { inner_does_not_wait::<PI::Iter>() }
        FlatMap::new(self, map_op)
    }

    /// Makes a sequential iterator of every item, and yields the items of all these iterators, in order.
    ///
    /// The tasks share out the outer items. Each task walks its inner iterators itself, so they need not be `Send`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let letters: String = ["ab", "c"].par_iter().flat_map_iter(|word| word.chars()).collect::<Vec<_>>().iter().collect();
    /// assert_eq!(letters, "abc");
    /// ```
    #[inline]
    fn flat_map_iter<F, SI>(self, map_op: F) -> FlatMapIter<Self, F>
    where
        F: Fn(Self::Item) -> SI + Sync + Send,
        SI: IntoIterator<Item: Send>,
    {
        FlatMapIter::new(self, map_op)
    }

    /// Yields the items of items that are parallel iterators, as [`flat_map`](Self::flat_map) without a closure.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let all: Vec<i32> = vec![vec![1, 2], vec![], vec![3]].into_par_iter().flatten().collect();
    /// assert_eq!(all, [1, 2, 3]);
    /// ```
    #[inline]
    fn flatten(self) -> Flatten<Self>
    where
        Self::Item: IntoParallelIterator,
    {
        const { inner_does_not_wait::<<Self::Item as IntoParallelIterator>::Iter>() }
        Flatten::new(self)
    }

    /// Yields the items of items that are sequential iterators, as [`flat_map_iter`](Self::flat_map_iter) without a
    /// closure.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let there: Vec<i32> = vec![Some(1), None, Some(3)].into_par_iter().flatten_iter().collect();
    /// assert_eq!(there, [1, 3]);
    /// ```
    #[inline]
    fn flatten_iter(self) -> FlattenIter<Self>
    where
        Self::Item: IntoIterator<Item: Send>,
    {
        FlattenIter::new(self)
    }

    /// Clones the value behind each item, where items are references.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let words = ["a".to_string(), "b".to_string()];
    /// let again: Vec<String> = words.par_iter().cloned().collect();
    /// assert_eq!(again, words);
    /// ```
    #[inline]
    fn cloned<'a, T>(self) -> Cloned<Self>
    where
        T: 'a + Clone + Send,
        Self: ParallelIterator<Item = &'a T>,
    {
        Cloned::new(self)
    }

    /// Copies the value behind each item, where items are references.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sum: i32 = [1, 2, 3].par_iter().copied().sum();
    /// assert_eq!(sum, 6);
    /// ```
    #[inline]
    fn copied<'a, T>(self) -> Copied<Self>
    where
        T: 'a + Copy + Send,
        Self: ParallelIterator<Item = &'a T>,
    {
        Copied::new(self)
    }

    /// Calls a function with a reference to every item and passes the item on.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let seen = AtomicUsize::new(0);
    /// let even = (0..10).into_par_iter().inspect(|_| { seen.fetch_add(1, Relaxed); }).filter(|x| x % 2 == 0);
    /// assert_eq!(even.sum::<i32>(), 20);
    /// assert_eq!(seen.into_inner(), 10);
    /// ```
    #[inline]
    fn inspect<OP>(self, inspect_op: OP) -> Inspect<Self, OP>
    where
        OP: Fn(&Self::Item) + Sync + Send,
    {
        Inspect::new(self, inspect_op)
    }

    /// Names this place of the chain in [traces](furcate_pool::trace). The trace then shows a slice of that name for each leaf, or step of a
    /// task, in which items pass, and the summary says how long these took. (Kvik's `log`.)
    ///
    /// While nothing is recorded, it costs one relaxed load for each leaf or step.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::trace;
    ///
    /// trace::start().unwrap();
    /// let sum: u64 = (0..1000_u64).into_par_iter().map(|x| x * x).log("squares").sum();
    /// let summary = trace::stop().unwrap().summary();
    /// assert_eq!(sum, 332_833_500);
    /// assert_eq!(summary.logs[0].name, "squares");
    /// ```
    #[inline]
    fn log(self, name: &'static str) -> Log<Self> {
        Log::new(self, trace::Name::of(name))
    }

    /// Tells a progress bar, or a counter, how many items are done: see [`ProgressSink`].
    ///
    /// An item is done when what stands behind `progress` in the chain has dealt with it. The sink is told
    /// of the first item, and then between fifty and a thousand times per second, as long as the items' cost does not change suddenly. At the
    /// end of the call the count is exact: items that were not looked at, because a search has ended or the call was stopped, are
    /// not counted, and neither is an item whose work has panicked.
    ///
    /// Behind [`io_await`](Self::io_await) the sink is told of each future that is ready, at once. How many are in flight, the sink can ask
    /// the futures' [`Limit`](furcate_schedulers::Limit::in_use); how many have failed, an [`inspect`](Self::inspect) before it can count.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::sync::atomic::AtomicU64;
    ///
    /// let done = AtomicU64::new(0);
    /// let sum: u64 = (0..1000_u64).into_par_iter().map(|x| x * x).progress(&done).sum();
    /// assert_eq!((sum, done.into_inner()), (332_833_500, 1000));
    /// ```
    ///
    /// An item is what this iterator yields: a node behind [`walk_tree_prefix`](crate::iter::walk_tree_prefix), one for each task behind
    /// [`work`](crate::iter::WrapIter::work).
    ///
    /// With the feature `indicatif`, a bar:
    ///
    /// ```
    /// # #[cfg(feature = "indicatif")]
    /// # fn main() {
    /// use furcate::prelude::*;
    ///
    /// let bar = indicatif::ProgressBar::new(1000);
    /// (0..1000_u64).into_par_iter().progress(&bar).for_each(|x| { std::hint::black_box(x * x); });
    /// assert_eq!(bar.position(), 1000);
    /// bar.finish();
    /// # }
    /// # #[cfg(not(feature = "indicatif"))]
    /// # fn main() {}
    /// ```
    #[doc(alias = "progress_with")]
    #[doc(alias = "indicatif")]
    #[inline]
    fn progress<S: ProgressSink>(self, sink: S) -> Progress<Self, S> {
        Progress::new(self, super::adaptors::Meter::new(sink))
    }

    /// Changes every item in place and passes it on.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let words = vec!["a".to_string(), "b".to_string()];
    /// let louder: Vec<String> = words.into_par_iter().update(|word| word.push('!')).collect();
    /// assert_eq!(louder, ["a!", "b!"]);
    /// ```
    #[inline]
    fn update<F>(self, update_op: F) -> Update<Self, F>
    where
        F: Fn(&mut Self::Item) + Sync + Send,
    {
        Update::new(self, update_op)
    }

    // ------------------------------------------------------------------------------------------- waiting for I/O

    /// Awaits the futures that are the items, without blocking a worker. The outputs of the futures are the items from
    /// here on, in order.
    ///
    /// Every future is polled once, on the worker that made it. If the future is ready, there is nothing more to do. If
    /// it is pending, it becomes a task that holds neither a stack nor a thread, and the worker continues with the next
    /// item. When the future is ready, *any* worker continues with its item. So the chain behind `io_await` is as
    /// parallel as the chain before it. This does not depend on which worker made the future, nor on whether the
    /// futures become ready all at once or one by one.
    ///
    /// Items may be any futures that are [`Send`] (or [`IntoFuture`]). They and everything else may borrow, as in any
    /// other chain: the terminal returns, or unwinds, only when all futures have been dropped. The calling thread takes
    /// part. Inside the pool it runs only tasks of this call while it waits.
    ///
    /// Behind `io_await`, items come in any order and on any thread, one by one, but results are reduced in order.
    /// Methods that need positions (`zip`, `enumerate`, `rev` ...) are not available there. `fold`, `map_init` and
    /// similar methods make a state for each item or for a few items. Policies say how the work before `io_await` is
    /// divided. Blocks that are named behind it (`.io_await().by_blocks(..)`) say how many items are begun before the
    /// first ones are awaited. `io_await` is a [scheduler](furcate_schedulers::Suspending) of its own, which replaces
    /// one named before it. Behind [`sequential`](Self::sequential) one task begins all futures, in their order. A
    /// chain may have several `io_await`s.
    ///
    /// A terminal that ends early (`any`, `find_any`, `try_for_each` ...), and a panic, drop the futures that are still
    /// pending. So do adaptors that let no more items pass (`take_any`, `while_some` ..., a collected `Result` that is
    /// an error), with two exceptions: if another `io_await` follows, or if the adaptor is in one side of a `chain`,
    /// pending futures are awaited. `find_first` and similar searches drop pending futures as soon as their hit is
    /// certain to be the first one: when no future before it (for `find_last`: behind it) is pending any more.
    ///
    /// The number of futures that wait at once is [bounded](IoAwait::max_in_flight).
    ///
    /// On engines that cannot suspend (`Inline`, `Rayon`) a pending future blocks its thread.
    ///
    /// Cost: a pending future costs an allocation for itself and the chain behind it. One pending future in four costs
    /// another allocation, for their places in the order. (Allocations that a future makes itself are not counted.) An
    /// item that reaches a second `io_await` costs two more. (ProWS-R: ProWS for Rust. Neil Weidinger, "Need
    /// for Speed: Latency-Hiding Work-Stealing", 2022, after Singer, Xu and Lee, PPoPP 2019.)
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::time::Duration;
    ///
    /// // Ten seconds of waiting, in a tenth of one.
    /// let names = ["Ada", "Barbara", "Grace"].repeat(33);
    /// let fetch = |name: &&'static str| {
    ///     let name = *name;
    ///     async move {
    ///         async_io::Timer::after(Duration::from_millis(100)).await;
    ///         name.to_uppercase()
    ///     }
    /// };
    /// let letters: usize = names.par_iter().map(fetch).io_await().map(|page| page.len()).sum();
    /// assert_eq!(letters, 33 * 15);
    /// ```
    #[doc(alias = "then")]
    #[doc(alias = "buffered")]
    #[doc(alias = "buffer_unordered")]
    #[doc(alias = "for_each_concurrent")]
    #[doc(alias = "join_all")]
    #[doc(alias = "try_join_all")]
    #[doc(alias = "spawn_blocking")]
    #[inline]
    fn io_await(self) -> IoAwait<Self>
    where
        Self::Item: IntoFuture<Output: Send, IntoFuture: Send>,
    {
        const { may_await::<Self>() };
        IoAwait::new(self)
    }

    /// Turns the computation into a stream of the items, in order. A task of any runtime can consume it.
    ///
    /// The computation runs in the pool that the calling thread is in, else in the global one (or [where the chain
    /// says](Self::on)), and begins at once. It may outlive the caller, so it borrows nothing that is not `'static`. At
    /// any time, at most **`capacity` items** have been made and not yet taken. (Where one item of the source becomes
    /// several, as with [`flat_map_iter`](Self::flat_map_iter), the source's items are counted.) Dropping the stream
    /// cancels the computation.
    ///
    /// Behind [`io_await`](Self::io_await) items begin in order. An item begins when there is room for its result: up
    /// to `capacity` futures are in flight, or done and not taken, as with `buffered(capacity)` of the futures crate.
    /// The work of the chain runs on all workers. An item that is ready costs about a microsecond. (While the next
    /// items are ready in the buffer, the chain is woken once for an eighth of the capacity.)
    ///
    /// Any other chain runs block by block: half of `capacity` items are computed, in parallel, as soon as there is
    /// room for them, while others wait to be taken. (The first blocks are shorter, so that the first items come soon.) Each block costs as much as a
    /// parallel call. The items of a [sequential iterator](super::ParallelBridge) are fetched for a whole block before its first one is worked on.
    ///
    /// While there is no room, or nothing is ready, the computation is a suspended task and holds no thread. So ten
    /// thousand waiting streams hold no thread either. (Engines that cannot suspend tasks,
    /// [`Inline`](furcate_pool::Inline) and `Rayon`, block their threads.)
    ///
    /// Inside the pool that computes the stream, wait for an item in a task, or with [`furcate::block_on`]. Otherwise,
    /// if all workers wait, no worker is left to compute the item.
    ///
    /// [`furcate::block_on`]: furcate_pool::block_on
    ///
    /// # Panics
    ///
    /// If `capacity` is 0. A panic of the computation is raised where the stream is polled, behind the items that had come before
    /// it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use futures_lite::{StreamExt, future};
    ///
    /// let mut squares = (0..u64::MAX).into_par_iter().map(|x| x * x).into_stream(100);
    /// let sum = future::block_on(async {
    ///     let mut sum = 0;
    ///     while let Some(square) = squares.next().await {
    ///         if square > 100 {
    ///             break;
    ///         }
    ///         sum += square;
    ///     }
    ///     sum
    /// });
    /// assert_eq!(sum, 385);
    /// ```
    #[doc(alias = "buffered")]
    #[cfg(feature = "stream")]
    #[track_caller]
    fn into_stream(self, capacity: usize) -> IntoStream<Self::Item>
    where
        Self: 'static,
    {
        assert!(capacity > 0, "{NO_CAPACITY}");
        IntoStream::of(self, capacity)
    }

    /// Turns the computation into a stream, as [`into_stream`](Self::into_stream) does, but the items come as they are
    /// made, in no order.
    ///
    /// If the chain waits for futures ([`io_await`](Self::io_await)), up to `capacity` futures are in flight (or as
    /// many as [`max_in_flight`](IoAwait::max_in_flight) says, if that is less), and none of them waits for its
    /// neighbors. Up to `capacity` further items wait to be taken. So at most **twice `capacity` items** have been made
    /// and not yet taken. An item that finds no room stays with its task, which is suspended until there is room.
    ///
    /// Any other chain runs block by block, with at most **`capacity` items**.
    ///
    /// The computation holds no thread while it waits, for futures or for room. (Engines that cannot suspend tasks,
    /// [`Inline`](furcate_pool::Inline) and `Rayon`, block their threads.)
    ///
    /// # Panics
    ///
    /// If `capacity` is 0. A panic of the computation is raised where the stream is polled, behind the items that came before.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use futures_lite::{StreamExt, future};
    ///
    /// let squares = (0..100_u64).into_par_iter().map(|x| x * x).into_stream_unordered(16);
    /// assert_eq!(future::block_on(squares.fold(0, |sum, x| sum + x)), 328_350);
    /// ```
    #[doc(alias = "buffer_unordered")]
    #[cfg(feature = "stream")]
    #[track_caller]
    fn into_stream_unordered(self, capacity: usize) -> IntoStream<Self::Item>
    where
        Self: 'static,
    {
        assert!(capacity > 0, "{NO_CAPACITY}");
        IntoStream::unordered(self, capacity)
    }

    /// Turns the computation into a sequential iterator of the items, in order, which computes ahead of its consumer.
    ///
    /// The iterator is an [`into_stream(capacity)`](Self::into_stream) whose `next` blocks until there is an item. So
    /// the computation begins at once, and borrows nothing that is not `'static`: it could go on after the iterator was
    /// leaked. (To borrow, consume the items [block by block](Self::blocks_iter); nothing is computed between blocks.)
    ///
    /// At any time, at most **`capacity` items** have begun and were not yet returned by `next`. (Where one item of the
    /// source becomes several, the source's items are counted.) Chains without [`io_await`](Self::io_await) run in
    /// blocks, soon of half the capacity. So `capacity` is at least twice the number of threads, better ten times; with 1 or
    /// 2, one item is computed at a time.
    ///
    /// While the consumer is slow, the computation is a suspended task, which holds no thread. (Engines that cannot
    /// suspend tasks block their threads: see `into_stream`.) Dropping the iterator cancels the computation, and does
    /// not wait for items that have begun: each worker ends [as at a stop](Self::stop_on). (A sequential iterator behind
    /// [`par_bridge`](super::ParallelBridge::par_bridge) may still be asked for the rest of a block. If it is slow, choose a small capacity.)
    ///
    /// `next` waits as [`furcate::block_on`] does. So the consumer may be a job of the same pool, even of a pool of one
    /// thread: the job gives its slot away while it waits. (Not so on a thread of `Rayon`, which has no other thread to
    /// give: a consumer there must not be a job of the pool that computes.) In an `async` function, use `into_stream`,
    /// which blocks nothing.
    ///
    /// For the other direction, from a sequential iterator to a parallel one, see
    /// [`par_bridge().ordered()`](super::IterBridge::ordered). Both together make a parallel `map` between two
    /// sequential iterators: `iter.par_bridge().ordered().map(f).into_iter_ordered(n)`.
    ///
    /// # Cost
    ///
    /// A lock for an item that is there. Waiting for an item costs an allocation and a switch of threads. Each block
    /// costs as much as a parallel call, so for cheap items choose a capacity in the thousands.
    ///
    /// # Panics
    ///
    /// If `capacity` is 0. A panic of the computation is raised in `next`, behind the items of the blocks before (behind
    /// `io_await`: behind all items before). The other items of the panic's block are dropped. `next` also panics if
    /// the pool was dropped before the end.
    ///
    /// [`furcate::block_on`]: furcate_pool::block_on
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::io::Write;
    ///
    /// let mut file = Vec::new();
    /// let lines = (0..1000).into_par_iter().map(|x: u64| format!("{}\n", x * x));
    /// for line in lines.into_iter_ordered(100) {
    ///     file.write_all(line.as_bytes())?;
    /// }
    /// assert!(file.starts_with(b"0\n1\n4\n"));
    /// # std::io::Result::Ok(())
    /// ```
    #[doc(alias = "par_map")]
    #[doc(alias = "seq_iter")]
    #[doc(alias = "ser_bridge")]
    #[cfg(feature = "stream")]
    #[track_caller]
    fn into_iter_ordered(self, capacity: usize) -> BlockingIter<Self::Item>
    where
        Self: 'static,
    {
        BlockingIter(self.into_stream(capacity))
    }

    /// Turns the computation into a sequential iterator, as [`into_iter_ordered`](Self::into_iter_ordered) does, but
    /// the items come as they are made, in no order.
    ///
    /// The iterator is an [`into_stream_unordered(capacity)`](Self::into_stream_unordered) whose `next` blocks. The
    /// bound is that stream's: `capacity` items, and behind [`io_await`](Self::io_await) twice as many.
    ///
    /// # Panics
    ///
    /// As `into_iter_ordered`. Items of the panic's block that were done before it come before it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let squares = (0..100_u64).into_par_iter().map(|x| x * x).into_iter_unordered(16);
    /// assert_eq!(squares.sum::<u64>(), 328_350);
    /// ```
    #[cfg(feature = "stream")]
    #[track_caller]
    fn into_iter_unordered(self, capacity: usize) -> BlockingIter<Self::Item>
    where
        Self: 'static,
    {
        BlockingIter(self.into_stream_unordered(capacity))
    }

    // ---------------------------------------------------------------------- adaptors with a state for every task

    /// Transforms every item with the help of a value. Every task has its own clone of that value.
    ///
    /// Cost: a clone for every division. A task that the scheduler interrupts on its way makes one more. A task's
    /// changes to its clone are invisible to other tasks.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::sync::mpsc::channel;
    ///
    /// let (sender, receiver) = channel();
    /// let sent: usize = (0..5).into_par_iter().map_with(sender, |sender, x| sender.send(x).map_or(0, |()| 1)).sum();
    /// let mut received: Vec<i32> = receiver.iter().collect();
    /// received.sort();
    /// assert_eq!((sent, received), (5, vec![0, 1, 2, 3, 4]));
    /// ```
    #[inline]
    fn map_with<F, T, R>(self, init: T, map_op: F) -> MapWith<Self, T, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Send + Clone,
        R: Send,
    {
        MapWith::new(self, Some(init), map_op)
    }

    /// Transforms every item with the help of a state that every task makes for itself: a buffer, a random number
    /// generator, a connection.
    ///
    /// A task makes its state once and keeps it to its end, also if it is folded in several steps. (Behind a `rev` or a
    /// `zip` a task that is folded in several steps may make a state more often.)
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::fmt::Write;
    ///
    /// let digits: usize = (0..100)
    ///     .into_par_iter()
    ///     .map_init(String::new, |buffer, x| {
    ///         buffer.clear();
    ///         write!(buffer, "{x}").unwrap();
    ///         buffer.len()
    ///     })
    ///     .sum();
    /// assert_eq!(digits, 190);
    /// ```
    ///
    /// A state never leaves the thread that made it, so it need not be `Send`.
    #[inline]
    fn map_init<F, INIT, T, R>(self, init: INIT, map_op: F) -> MapInit<Self, INIT, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
        R: Send,
    {
        MapInit::new(self, init, map_op)
    }

    /// Folds the items of every task to one, so that there are as many items as tasks, in order.
    ///
    /// The policy decides how many tasks there are. So a fold is mostly followed by a reduction. Unlike a reduction, a
    /// fold may change the item type. If there are no items, the one task yields the identity.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let parts: Vec<String> = (0..8)
    ///     .into_par_iter()
    ///     .bound_depth(1)
    ///     .fold(String::new, |text, x| text + &x.to_string())
    ///     .collect();
    /// assert_eq!(parts, ["0123", "4567"]);
    /// ```
    #[inline]
    fn fold<T, ID, F>(self, identity: ID, fold_op: F) -> Fold<Self, ID, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        T: Send,
    {
        Fold::new(self, identity, fold_op)
    }

    /// Folds the items of every task to one, starting from a clone of a value: [`fold`](Self::fold) for a value that
    /// can be cloned but not shared.
    ///
    /// Cost: a clone for every division. A task that the scheduler interrupts on its way makes one more.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let total: u32 = [1_u8, 2, 3].par_iter().fold_with(0, |sum: u32, &x| sum + u32::from(x)).sum();
    /// assert_eq!(total, 6);
    /// ```
    #[inline]
    fn fold_with<F, T>(self, init: T, fold_op: F) -> FoldWith<Self, T, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        T: Send + Clone,
    {
        FoldWith::new(self, Some(init), fold_op)
    }

    /// Folds the items of every task to one, as [`fold`](Self::fold) does, until the closure fails. That task then yields
    /// the failure, and skips its further items.
    ///
    /// Other tasks continue. A terminal that fails, `try_reduce` for example, ends all tasks.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sum = |items: &[u8]| {
    ///     items
    ///         .par_iter()
    ///         .try_fold(|| 0_u8, |sum, &x| sum.checked_add(x))
    ///         .try_reduce(|| 0, |a, b| a.checked_add(b))
    /// };
    /// assert_eq!(sum(&[1, 2, 3]), Some(6));
    /// assert_eq!(sum(&[1, 200, 100]), None);
    /// ```
    #[inline]
    fn try_fold<T, R, ID, F>(self, identity: ID, fold_op: F) -> TryFold<Self, R, ID, F>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        R: Try<Output = T> + Send,
    {
        TryFold::new(self, identity, fold_op)
    }

    /// Folds as [`try_fold`](Self::try_fold) does, starting from clones of a value, as [`fold_with`](Self::fold_with)
    /// does.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sums = [1_u8, 2, 3].par_iter().try_fold_with(0_u8, |sum, &x| sum.checked_add(x));
    /// assert_eq!(sums.while_some().sum::<u8>(), 6);
    /// ```
    #[inline]
    fn try_fold_with<F, T, R>(self, init: T, fold_op: F) -> TryFoldWith<Self, R, F>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        R: Try<Output = T> + Send,
        T: Clone + Send,
    {
        TryFoldWith::new(self, init, fold_op)
    }

    // ------------------------------------------------------------------------------ adaptors that end, or begin late

    /// Unwraps the `Some`s until a `None` occurs anywhere. The `None` ends all tasks soon.
    ///
    /// So it is not known which items before the `None` come out, and some items behind it may come out.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    ///
    /// let seen = AtomicU32::new(0);
    /// let small = (0..10_000).into_par_iter().map(|x| (x < 5000).then_some(x)).while_some();
    /// small.for_each(|x| {
    ///     seen.fetch_max(x, Relaxed);
    /// });
    /// assert!(seen.into_inner() < 5000);
    /// ```
    #[inline]
    fn while_some<T>(self) -> WhileSome<Self>
    where
        Self: ParallelIterator<Item = Option<T>>,
        T: Send,
    {
        WhileSome::new(self, Flag::default())
    }

    /// Keeps any `n` items, the first ones in time, or all if there are fewer. They come out in order. The remaining
    /// items are not computed, except for those that the tasks are working on.
    ///
    /// Cost: every item that is taken changes a number that all tasks share. If it matters which items are taken, or if
    /// the length is known, use [`take`](super::IndexedParallelIterator::take).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let some: Vec<i32> = (0..1000).into_par_iter().filter(|x| x % 2 == 0).take_any(5).collect();
    /// assert_eq!(some.len(), 5);
    /// ```
    #[inline]
    fn take_any(self, n: usize) -> TakeAny<Self> {
        TakeAny::new(self, Quota::new(n))
    }

    /// Leaves out any `n` items, the first ones in time, or all if there are fewer.
    ///
    /// Cost: every item that is left out changes a number that all tasks share.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let rest = (0..1000).into_par_iter().filter(|x| x % 2 == 0).skip_any(5).count();
    /// assert_eq!(rest, 495);
    /// ```
    #[inline]
    fn skip_any(self, n: usize) -> SkipAny<Self> {
        SkipAny::new(self, Quota::new(n))
    }

    /// Keeps items until a predicate is false for one, anywhere. That item ends all tasks soon.
    ///
    /// So it is not known which items before that one come out. Items behind it may come out, if the predicate is true
    /// for them.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let some: Vec<i32> = (0..1000).into_par_iter().take_any_while(|&x| x < 500).collect();
    /// assert!(some.iter().all(|&x| x < 500) && some.is_sorted());
    /// ```
    #[inline]
    fn take_any_while<P>(self, predicate: P) -> TakeAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        TakeAnyWhile::new(self, predicate, Flag::default())
    }

    /// Leaves items out until a predicate is false for one, anywhere. Soon after that no item is left out any more.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let rest: Vec<i32> = (0..1000).into_par_iter().skip_any_while(|&x| x < 500).collect();
    /// assert!(rest.ends_with(&[500, 501]) || rest.len() >= 500);
    /// ```
    #[inline]
    fn skip_any_while<P>(self, predicate: P) -> SkipAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        SkipAnyWhile::new(self, predicate, Flag::default())
    }

    /// Ends all tasks at their next item when one of them panics.
    ///
    /// Cost: a look at a flag for every item. Without this adaptor a panic reaches the caller, too, but later.
    ///
    /// ```should_panic
    /// use furcate::prelude::*;
    /// (0..1_000_000).into_par_iter().panic_fuse().for_each(|x| assert_ne!(x, 77));
    /// ```
    #[inline]
    fn panic_fuse(self) -> PanicFuse<Self> {
        PanicFuse::new(self, Flag::default())
    }

    // ---------------------------------------------------------------------------------- adaptors: prefix scans

    /// Scans the items: each becomes the combination, by `op`, of all items up to and including itself.
    ///
    /// The order is kept: `op` has to be associative, but need not be commutative. If `op` is only nearly associative,
    /// as the sum of floats is, the values depend a little on the division of the work.
    ///
    /// Like every adaptor it is lazy, and it has as many items as its base. It needs two passes. Once a terminal is
    /// called, the base is scanned in parallel, each task by itself, under the schedule chained *before* the scan. The
    /// terminal then runs over these values, under its own schedule. Each value is combined with the total of all
    /// preceding tasks when the terminal asks for that item.
    ///
    /// Cost: a buffer for all items, whatever the terminal asks for (`take` too); two applications of `op` and two
    /// clones per item, except for the first task's items; and, between the passes, one application per task of the
    /// first pass. So a policy with very small tasks is a bad choice here.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let balance: Vec<i64> = [100, -30, 50, -80].into_par_iter().inclusive_scan(|a, b| a + b).collect();
    /// assert_eq!(balance, [100, 70, 120, 40]);
    ///
    /// // Not commutative: the composition of x -> a * x + b.
    /// let maps = [(2, 1), (3, 0), (1, 5)].into_par_iter();
    /// let composed = maps.inclusive_scan(|(a, b), (c, d)| (a * c, b * c + d));
    /// assert_eq!(composed.collect::<Vec<_>>(), [(2, 1), (6, 3), (6, 8)]);
    /// ```
    ///
    /// # Panics
    ///
    /// When driven, if there is no memory for so many items (`0..u64::MAX`): a `take` has to come before the scan.
    #[inline]
    fn inclusive_scan<F>(self, op: F) -> PrefixScan<Self, F>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
        Self::Item: Clone,
    {
        PrefixScan::new(self, op, None)
    }

    /// Scans the items, each without itself: an item becomes the combination, by `op`, of `init` and all items before
    /// it. The first item becomes `init`; the last item of the base has no effect.
    ///
    /// In all other respects it works as [`inclusive_scan`](Self::inclusive_scan).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// // Where does each word begin?
    /// let lengths = ["to", "be", "or", "not"].par_iter().map(|word| word.len());
    /// let starts: Vec<usize> = lengths.exclusive_scan(0, |a, b| a + b).collect();
    /// assert_eq!(starts, [0, 2, 4, 6]);
    /// ```
    #[inline]
    fn exclusive_scan<F>(self, init: Self::Item, op: F) -> PrefixScan<Self, F>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
        Self::Item: Clone,
    {
        PrefixScan::new(self, op, Some(init))
    }

    // ------------------------------------------------------------------------- adaptors that combine iterators

    /// Yields the items of this iterator, and then those of another one.
    ///
    /// Both are divided as one whole, so that the parts are of about the same size, however unequal the two iterators
    /// are.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let all: Vec<i32> = (0..3).into_par_iter().chain(7..9).collect();
    /// assert_eq!(all, [0, 1, 2, 7, 8]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the number of items does not fit a `usize`, when that number is asked for
    /// ([`len`](super::IndexedParallelIterator::len), `zip`, `rev` ...).
    #[inline]
    fn chain<C>(self, chain: C) -> Chain<Self, C::Iter>
    where
        C: IntoParallelIterator<Item = Self::Item>,
    {
        Chain::new(self, chain.into_par_iter())
    }

    /// Puts clones of an element between the items: one between every two, none at the ends.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let text: Vec<&str> = ["a", "b", "c"].par_iter().map(|&s| s).intersperse(", ").collect();
    /// assert_eq!(text.concat(), "a, b, c");
    /// ```
    ///
    /// If the number of items is not known in advance ([`opt_len`](Self::opt_len); it is unknown after a `filter`,
    /// say), a part cannot know whether it holds the first item before every part to its left is done. In this case all
    /// items are collected before any is passed on, in parallel, under the schedule chained *before* `intersperse`:
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let few: Vec<i32> = (0..100).into_par_iter().filter(|x| *x > 97).intersperse(0).collect();
    /// assert_eq!(few, [98, 0, 99]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`chain`](Self::chain), if the number of items and separators does not fit a `usize`.
    #[inline]
    fn intersperse(self, element: Self::Item) -> Intersperse<Self>
    where
        Self::Item: Clone,
    {
        Intersperse::new(self, element)
    }

    // ----------------------------------------------------------------------------------------- terminals: folds

    /// Calls a closure with every item, in parallel and in no particular order of tasks.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut v = [1, 2, 3];
    /// v.par_iter_mut().for_each(|x| *x += 1);
    /// assert_eq!(v, [2, 3, 4]);
    /// ```
    #[track_caller]
    #[inline]
    fn for_each<F>(self, op: F)
    where
        F: Fn(Self::Item) + Sync + Send,
    {
        self.drive(effects(|| (), |(): &mut (), item| op(item)));
    }

    /// Calls a closure with every item and a value of the task's own, which is a clone of the given one.
    ///
    /// Cost: every task clones the value, and so does every division. If the value is costly to clone, use
    /// [`for_each_init`](Self::for_each_init), which makes exactly one value per task.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// (0..5).into_par_iter().for_each_with(sender, |sender, x| sender.send(x).unwrap());
    /// assert_eq!(receiver.iter().sum::<i32>(), 10);
    /// ```
    #[track_caller]
    #[inline]
    fn for_each_with<F, T>(self, init: T, op: F)
    where
        F: Fn(&mut T, Self::Item) + Sync + Send,
        T: Send + Clone,
    {
        self.map_with(init, op).for_each(drop);
    }

    /// Calls a closure with every item and a value of the task's own, which `init` makes: one value per task.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let buffers = AtomicUsize::new(0);
    /// let new_buffer = || {
    ///     buffers.fetch_add(1, Relaxed);
    ///     String::new()
    /// };
    /// (0..1000).into_par_iter().bound_depth(2).for_each_init(new_buffer, |buffer, x| {
    ///     buffer.clear();
    ///     buffer.push_str(&x.to_string());
    /// });
    /// assert_eq!(buffers.into_inner(), 4);
    /// ```
    #[track_caller]
    #[inline]
    fn for_each_init<F, INIT, T>(self, init: INIT, op: F)
    where
        F: Fn(&mut T, Self::Item) + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
    {
        self.drive(effects(&init, &op));
    }

    /// Reduces all items with an operation. Every task starts from an identity, so `identity` is called once per task.
    ///
    /// The result is the sequential one if the operation is associative (it need not commute) and `identity` returns a
    /// neutral value.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let text = ["to", "get", "her"].par_iter().map(|s| s.to_string()).reduce(String::new, |a, b| a + &b);
    /// assert_eq!(text, "together");
    /// ```
    #[track_caller]
    #[inline]
    fn reduce<OP, ID>(self, identity: ID, op: OP) -> Self::Item
    where
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
        ID: Fn() -> Self::Item + Sync + Send,
    {
        self.drive(&Reduce { identity, op })
    }

    /// Reduces all items with an associative operation; `None` if there are none.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..4).into_par_iter().reduce_with(|a, b| a.max(b)), Some(3));
    /// assert_eq!((0..0).into_par_iter().reduce_with(|a, b| a + b), None);
    /// ```
    #[track_caller]
    #[inline]
    fn reduce_with<OP>(self, op: OP) -> Option<Self::Item>
    where
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
    {
        self.drive(&Aggregated(ReduceWith(&op)))
    }

    /// Adds all items up, in order within every task. The sum of no items is the type's zero.
    ///
    /// A sum of `Option`s or `Result`s ends early at a `None` or `Err`, as [`collect`](Self::collect) into them does:
    /// all tasks stop, and pending futures are dropped. If several items fail, the result is the first failure among
    /// those that were found. A task looks for a failure elsewhere before every item that it adds.
    ///
    /// Any type's own [`Sum`](std::iter::Sum) can be used. It is called once per task under the schedulers that fold a
    /// task in one step, and behind a [`flat_map`](Self::flat_map) once per inner iterator. Such a type is not known to
    /// fail, even if it wraps an `Option` or a `Result`, so all items are added up. To end early there, sum the
    /// `Option`s or `Result`s and wrap the total, or use [`try_reduce`](Self::try_reduce). A sum of floats depends on
    /// the division, because their addition rounds. With [`bound_depth`](Self::bound_depth) it is the same on any
    /// number of threads.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((1..=100).into_par_iter().sum::<u32>(), 5050);
    ///
    /// let parsed = ["1", "2", "three"].into_par_iter().map(str::parse::<u32>);
    /// assert!(parsed.sum::<Result<u32, _>>().is_err());
    /// ```
    #[track_caller]
    #[inline]
    fn sum<S>(self) -> S
    where
        S: SumOf<Self::Item>,
    {
        self.drive(&Totals::new(Sum::new()))
    }

    /// Multiplies all items, in order within every task. The product of no items is the type's one. A product of
    /// `Option`s or `Result`s ends at the first failure. A type of your own does not, even if it wraps one of them: see
    /// [`sum`](Self::sum).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((1..6_u32).into_par_iter().product::<u32>(), 120);
    /// ```
    #[track_caller]
    #[inline]
    fn product<P>(self) -> P
    where
        P: ProductOf<Self::Item>,
    {
        self.drive(&Totals::new(Product::new()))
    }

    /// Counts the items.
    ///
    /// Like std's `count`, it need not compute the items if their number is known: of a slice, for example.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..10).into_par_iter().filter(|x| x % 3 == 0).count(), 4);
    /// ```
    #[track_caller]
    #[inline]
    fn count(self) -> usize {
        self.drive(&Aggregated(Count))
    }

    /// Returns the least item; of several equal ones, the first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([3, 1, 2].par_iter().min(), Some(&1));
    /// ```
    #[track_caller]
    #[inline]
    fn min(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.drive(&Aggregated(Min))
    }

    /// Returns the greatest item; of several equal ones, the last.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([3, 1, 2].par_iter().max(), Some(&3));
    /// ```
    #[track_caller]
    #[inline]
    fn max(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        self.drive(&Aggregated(Max))
    }

    /// Returns the least item by a comparison; of several equal ones, the first.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([0.3, 0.1, 0.2_f64].par_iter().min_by(|a, b| a.total_cmp(b)), Some(&0.1));
    /// ```
    #[track_caller]
    #[inline]
    fn min_by<F>(self, compare: F) -> Option<Self::Item>
    where
        F: Sync + Send + Fn(&Self::Item, &Self::Item) -> Ordering,
    {
        self.drive(&Aggregated(MinBy(&compare)))
    }

    /// Returns the greatest item by a comparison; of several equal ones, the last.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([0.3, 0.1, 0.2_f64].par_iter().max_by(|a, b| a.total_cmp(b)), Some(&0.3));
    /// ```
    #[track_caller]
    #[inline]
    fn max_by<F>(self, compare: F) -> Option<Self::Item>
    where
        F: Sync + Send + Fn(&Self::Item, &Self::Item) -> Ordering,
    {
        self.drive(&Aggregated(MaxBy(&compare)))
    }

    /// Returns the item with the least key; of several, the first. Every key is computed once.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([-3_i32, 1, -1].par_iter().min_by_key(|x| x.abs()), Some(&1));
    /// ```
    #[track_caller]
    #[inline]
    fn min_by_key<K, F>(self, key: F) -> Option<Self::Item>
    where
        K: Ord + Send,
        F: Sync + Send + Fn(&Self::Item) -> K,
    {
        self.map(|item| (key(&item), item)).min_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, item)| item)
    }

    /// Returns the item with the greatest key; of several, the last. Every key is computed once.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([-3_i32, 3, 1].par_iter().max_by_key(|x| x.abs()), Some(&3));
    /// ```
    #[track_caller]
    #[inline]
    fn max_by_key<K, F>(self, key: F) -> Option<Self::Item>
    where
        K: Ord + Send,
        F: Sync + Send + Fn(&Self::Item) -> K,
    {
        self.map(|item| (key(&item), item)).max_by(|(a, _), (b, _)| a.cmp(b)).map(|(_, item)| item)
    }

    // ------------------------------------------------------------------------ terminals: folds that may fail

    /// Calls a closure with every item until the closure fails. Then everything stops soon, and the failure is
    /// returned.
    ///
    /// If several items fail before all tasks have stopped, the failure of the first one, in the order of the items, is
    /// returned. So it need not be the failure that ends a sequential loop.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let parsed = ["1", "2", "x"].par_iter().try_for_each(|s| s.parse::<u32>().map(drop));
    /// assert!(parsed.is_err());
    /// ```
    #[track_caller]
    #[inline]
    fn try_for_each<OP, R>(self, op: OP) -> R
    where
        OP: Fn(Self::Item) -> R + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        self.map(op).try_reduce(|| (), |(), ()| R::from_output(()))
    }

    /// Does the same as [`try_for_each`](Self::try_for_each), with a value of the task's own, as
    /// [`for_each_with`](Self::for_each_with).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let sent = (0..5).into_par_iter().try_for_each_with(sender, |sender, x| sender.send(x));
    /// assert_eq!((sent, receiver.iter().sum::<i32>()), (Ok(()), 10));
    /// ```
    #[track_caller]
    #[inline]
    fn try_for_each_with<OP, T, R>(self, init: T, op: OP) -> R
    where
        OP: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Send + Clone,
        R: Try<Output = ()> + Send,
    {
        self.map_with(init, op).try_reduce(|| (), |(), ()| R::from_output(()))
    }

    /// Does the same as [`try_for_each`](Self::try_for_each), with a value that every task makes, as
    /// [`for_each_init`](Self::for_each_init).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::fmt::Write;
    /// let written = (0..100).into_par_iter().try_for_each_init(String::new, |text, x| write!(text, "{x}"));
    /// assert_eq!(written, Ok(()));
    /// ```
    #[track_caller]
    #[inline]
    fn try_for_each_init<OP, INIT, T, R>(self, init: INIT, op: OP) -> R
    where
        OP: Fn(&mut T, Self::Item) -> R + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        self.map_init(init, op).try_reduce(|| (), |(), ()| R::from_output(()))
    }

    /// Reduces the values in the items, as [`reduce`](Self::reduce) does, until an item is a failure or the operation
    /// returns one. Then everything stops soon, and that failure is returned. For several failures see
    /// [`try_for_each`](Self::try_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sum = |items: &[&str]| {
    ///     items.par_iter().map(|s| s.parse::<u8>().ok()).try_reduce(|| 0, |a, b| a.checked_add(b))
    /// };
    /// assert_eq!(sum(&["1", "2", "3"]), Some(6));
    /// assert_eq!((sum(&["1", "x"]), sum(&["200", "100"])), (None, None));
    /// ```
    #[track_caller]
    #[inline]
    fn try_reduce<T, OP, ID>(self, identity: ID, op: OP) -> Self::Item
    where
        OP: Fn(T, T) -> Self::Item + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        self.drive(&TryReduce::new(|| Some(identity()), op)).expect("every task begins with an identity")
    }

    /// Reduces the values in the items, as [`reduce_with`](Self::reduce_with) does, until an item is a failure or the
    /// operation returns one. Returns `None` if there are no items.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let product = |items: &[u8]| items.par_iter().map(|&x| Some(x)).try_reduce_with(|a, b| a.checked_mul(b));
    /// assert_eq!(product(&[2, 3, 4]), Some(Some(24)));
    /// assert_eq!(product(&[200, 100]), Some(None));
    /// assert_eq!(product(&[]), None);
    /// ```
    #[track_caller]
    #[inline]
    fn try_reduce_with<T, OP>(self, op: OP) -> Option<Self::Item>
    where
        OP: Fn(T, T) -> Self::Item + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        self.drive(&TryReduce::new(|| None, op))
    }

    // ---------------------------------------------------------------------------------------- terminals: searches

    /// Whether a predicate is true for any item. All tasks stop soon after the first hit.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert!([1, 2, 3].par_iter().any(|&x| x == 2));
    /// assert!(![1, 2, 3].par_iter().any(|&x| x == 4));
    /// ```
    #[track_caller]
    #[inline]
    fn any<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.find_map_any(|item| predicate(item).then_some(())).is_some()
    }

    /// Whether a predicate is true for all items. All tasks stop soon after the first item for which it is false.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert!([1, 2, 3].par_iter().all(|&x| x < 4));
    /// assert!(![1, 2, 3].par_iter().all(|&x| x < 3));
    /// ```
    #[track_caller]
    #[inline]
    fn all<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        !self.any(|item| !predicate(item))
    }

    /// Returns an item for which a predicate is true: the first that is found in time. All tasks stop soon after it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let hit = (0..100).into_par_iter().find_any(|x| x % 10 == 7);
    /// assert_eq!(hit.map(|x| x % 10), Some(7));
    /// ```
    #[track_caller]
    #[inline]
    fn find_any<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_any(|item| predicate(&item).then_some(item))
    }

    /// Returns the first item, in order, for which a predicate is true. A hit soon stops the tasks behind it, and only
    /// those. (Behind [`io_await`](Self::io_await) the search does not wait for items behind the hit either. Once all
    /// items before the hit have come, pending futures are dropped.)
    ///
    /// By default the search runs by blocks, so that nothing behind the hit's block is looked at; see
    /// [`ByTerminal`](furcate_schedulers::ByTerminal). Within that block, as in all searches, the predicate is called
    /// at most once for each item, also for some items behind the hit: by other threads, and in long runs of cheap
    /// items by the same thread for up to 15 items, so that simple predicates compile to vector code.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..100).into_par_iter().find_first(|x| x % 10 == 7), Some(7));
    /// ```
    #[track_caller]
    #[inline]
    fn find_first<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_first(|item| predicate(&item).then_some(item))
    }

    /// Returns the last item, in order, for which a predicate is true. A hit soon stops the tasks that lie before its
    /// task, and only those.
    ///
    /// Cost: a task knows its last hit only at its end. If the length is known, `rev().find_first()` does less work.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!((0..100).into_par_iter().find_last(|x| x % 10 == 7), Some(97));
    /// ```
    #[track_caller]
    #[inline]
    fn find_last<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.find_map_last(|item| predicate(&item).then_some(item))
    }

    /// Applies a closure to the items and returns the first `Some` in time. All tasks stop soon after it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let number = ["a", "4", "b"].par_iter().find_map_any(|s| s.parse::<u32>().ok());
    /// assert_eq!(number, Some(4));
    /// ```
    #[track_caller]
    #[inline]
    fn find_map_any<P, R>(self, search: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        self.drive(&AnyHit::new(search))
    }

    /// Applies a closure to the items and returns the first `Some` in the order of the items: see
    /// [`find_first`](Self::find_first).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let number = ["a", "4", "5"].par_iter().find_map_first(|s| s.parse::<u32>().ok());
    /// assert_eq!(number, Some(4));
    /// ```
    #[track_caller]
    #[inline]
    fn find_map_first<P, R>(self, search: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        self.drive(First::new(search).reduction())
    }

    /// Applies a closure to the items and returns the last `Some` in the order of the items: see
    /// [`find_last`](Self::find_last).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let number = ["a", "4", "5"].par_iter().find_map_last(|s| s.parse::<u32>().ok());
    /// assert_eq!(number, Some(5));
    /// ```
    #[track_caller]
    #[inline]
    fn find_map_last<P, R>(self, search: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        self.drive(Last::new(search).reduction())
    }

    // ------------------------------------------------------------------------------------- terminals: collections

    /// Collects all items, in order where the collection has one.
    ///
    /// If the number of items is known ([`opt_len`](Self::opt_len)), a vector is filled in place, and no item is moved
    /// twice.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let squares: Vec<usize> = (0..4).into_par_iter().map(|x| x * x).collect();
    /// assert_eq!(squares, [0, 1, 4, 9]);
    /// ```
    #[track_caller]
    #[inline]
    fn collect<C>(self) -> C
    where
        C: FromParallelIterator<Self::Item>,
    {
        C::from_par_iter(self)
    }

    /// Collects all items, in order, into the vectors that the tasks have filled, without moving them together. None of
    /// the vectors is empty. If the number of items is known, there is one vector.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let lists = (0..100).into_par_iter().filter(|x| x % 2 == 0).collect_vec_list();
    /// assert_eq!(lists.into_iter().flatten().count(), 50);
    /// ```
    #[track_caller]
    #[inline]
    fn collect_vec_list(self) -> LinkedList<Vec<Self::Item>> {
        into_lists(self)
    }

    /// Collects the halves of pairs into two collections, in one pass.
    ///
    /// Cost: the halves are first written to vectors. A new `Vec` takes over such a vector if there is only one, as is
    /// the case if the number of pairs is known. To reuse vectors, see
    /// [`IndexedParallelIterator::unzip_into_vecs`](super::IndexedParallelIterator::unzip_into_vecs).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let (numbers, squares): (Vec<_>, Vec<_>) = (0..4).into_par_iter().map(|x| (x, x * x)).unzip();
    /// assert_eq!((numbers, squares), (vec![0, 1, 2, 3], vec![0, 1, 4, 9]));
    /// ```
    #[track_caller]
    #[inline]
    fn unzip<A, B, FromA, FromB>(self) -> (FromA, FromB)
    where
        Self: ParallelIterator<Item = (A, B)>,
        FromA: Default + Send + ParallelExtend<A>,
        FromB: Default + Send + ParallelExtend<B>,
        A: Send,
        B: Send,
    {
        extended_by(unzip_into_lists(self))
    }

    /// Collects the items for which a predicate is true into one collection, all others into another, in one pass.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let (even, odd): (Vec<_>, Vec<_>) = (0..6).into_par_iter().partition(|x| x % 2 == 0);
    /// assert_eq!((even, odd), (vec![0, 2, 4], vec![1, 3, 5]));
    /// ```
    #[track_caller]
    #[inline]
    fn partition<A, B, P>(self, predicate: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<Self::Item>,
        B: Default + Send + ParallelExtend<Self::Item>,
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        self.partition_map(|item| if predicate(&item) { Either::Left(item) } else { Either::Right(item) })
    }

    /// Collects the results of a closure into two collections, in one pass.
    ///
    /// ```
    /// use either::Either;
    /// use furcate::prelude::*;
    /// let (small, large): (Vec<u8>, Vec<i32>) = (254..258).into_par_iter().partition_map(|x: i32| match u8::try_from(x) {
    ///     Ok(small) => Either::Left(small),
    ///     Err(_) => Either::Right(x),
    /// });
    /// assert_eq!((small, large), (vec![254, 255], vec![256, 257]));
    /// ```
    #[track_caller]
    #[inline]
    fn partition_map<A, B, P, L, R>(self, classify: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<L>,
        B: Default + Send + ParallelExtend<R>,
        P: Fn(Self::Item) -> Either<L, R> + Sync + Send,
        L: Send,
        R: Send,
    {
        extended_by(partition_into_lists(self, classify))
    }
}

#[cfg(feature = "stream")]
const NO_CAPACITY: &str =
    "a stream of capacity 0 would have no room for any item: pass a capacity of 1 or more";

fn in_blocks<I: ParallelIterator, Z: BlockSizes>(
    base: I,
    sizes: Z,
) -> WithScheduler<I, ByBlocks<SchedulerOf<I>, Z>> {
    let blocks = ByBlocks::new(base.scheduler(), sizes);
    WithScheduler::new(base, blocks)
}

// These checks stand in every method that names a scheduler or blocks, so that the compiler's message points at that
// method's caller.

/// Refuses a scheduler that replaces blocks, and one that replaces a suspending scheduler but cannot suspend.
const fn takes_the_place<I: ParallelIterator, S: Scheduler>() {
    assert!(
        !SchedulerOf::<I>::FACTS.blocks,
        "a scheduler named after `by_blocks` takes the blocks' place: name it before, as in `.join().by_blocks(..)`"
    );
    assert!(
        !SchedulerOf::<I>::FACTS.suspends || S::FACTS.suspends,
        "a scheduler named behind `io_await` or `par_bridge_async` would have its workers wait: these two schedule what waits by \
         themselves, and policies say how it is divided; leave the scheduler out, or name a policy instead, as in \
         `.io_await().thief_splitting(4)`"
    );
}

/// Refuses an engine, a schedule with its engine, or a priority that takes the place of a priority.
const fn keeps_priority<I: ParallelIterator>() {
    assert!(
        !ExecutorOf::<I>::HAS_PRIORITY,
        "an engine, a plan or a priority named after `priority` takes its place: name one priority behind them, as in `.on(..).priority(..)`"
    );
}

/// Refuses an inner iterator that waits for futures: it would block the worker for one future after the other.
const fn inner_does_not_wait<I: ParallelIterator>() {
    assert!(
        !SchedulerOf::<I>::FACTS.suspends,
        "an `io_await` or `par_bridge_async` inside `flat_map` or `flatten` would have the worker wait for one future after the \
         other: make the futures inside and wait for them behind, as in `.flat_map(|x| requests(x)).io_await()`"
    );
}

/// Why a cap is refused: tasks that wait are not made by forks, so it would not bound them.
const NO_CAP: &str = "`cap` beside `io_await` or `par_bridge_async` cannot be kept: each future that was pending goes on as a task of its \
     own, on any worker; bound the futures in flight with `.max_in_flight(n)` right behind it instead, or the items that are \
     computed at once with a pool of n threads, `.on(&pool)`";

/// Refuses a cap behind `io_await`.
const fn no_cap_behind_io_await<I: ParallelIterator, P: Policy>() {
    assert!(!(SchedulerOf::<I>::FACTS.suspends && P::CAPS), "{}", NO_CAP);
}

/// Refuses before `io_await` what would not hold behind it.
const fn may_await<I: ParallelIterator>() {
    assert!(!PolicyOf::<I>::CAPS, "{}", NO_CAP);
    assert!(
        !SchedulerOf::<I>::FACTS.blocks,
        "blocks are named behind `io_await`: `.io_await().by_blocks(..)`"
    );
    assert!(
        !SchedulerOf::<I>::FACTS.on_demand,
        "`adaptive` before `io_await` would have no effect: `io_await` schedules what waits by itself, and policies say how it \
         is divided; leave `adaptive()` out, or name a policy instead, as in `.thief_splitting(4).io_await()`"
    );
}

/// Refuses blocks of blocks: they would run one after the other anyway.
const fn no_blocks_of_blocks<I: ParallelIterator>() {
    assert!(
        !SchedulerOf::<I>::FACTS.blocks,
        "blocks of blocks: they run one after the other anyway, so name all sizes in one `by_blocks(..)`"
    );
}
