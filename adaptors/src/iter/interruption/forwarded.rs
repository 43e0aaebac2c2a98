//! Adaptors, policies, schedulers and engines that are named behind `stop_on` and `deadline`.
//!
//! A stop holds for the whole computation, wherever in the chain it is named. So each method in this module changes the
//! base, and keeps the stop.

use super::Interruptible;
use crate::iter::adaptors::{
    Chain, Chunks, Cloned, Copied, Enumerate, ExponentialBlocks, Filter, FilterMap, FlatMap, FlatMapIter,
    Flatten, FlattenIter, Fold, FoldChunks, FoldChunksWith, FoldWith, Inspect, Interleave,
    InterleaveShortest, Intersperse, IoAwait, Log, Map, MapInit, MapWith, MaxLen, Merge, MergeBy, MergeByKey,
    MinLen, PanicFuse, Positions, PrefixScan, Progress, ProgressSink, Rev, Skip, SkipAny, SkipAnyWhile,
    StepBy, Take, TakeAny, TakeAnyWhile, Timeouts, TryFold, TryFoldWith, UniformBlocks, Update, WhileSome,
    Zip, ZipEq,
};
use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, On, ParallelIterator, PeekParallelIterator, SchedulerOf,
    Stage, Staged, Try, With, WithPolicy, WithPriority, WithScheduler,
};
use furcate_pool::{IntoExecutor, Priority};
use furcate_schedulers::policy::{
    BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, SizeLimit, Stop, ThiefSplitting,
};
use furcate_schedulers::{
    Adaptive, BlockSizes, ByBlocks, DepJoin, Join, Limit, PlanOf, Policy, Schedule, Scheduler, Sequential,
};
use std::cmp::Ordering;
use std::time::Duration;

/// Declares adaptors of `I` for [`Interruptible`]: name, generics, arguments, the adaptor, bounds.
macro_rules! adaptors {
    ($Trait:ident {$(
        fn $name:ident[$($Param:tt)*]($($arg:ident: $Arg:ty),*) -> $Out:ty $(where [$($bounds:tt)*])?;
    )+}) => {$(
        #[doc = concat!("[`", stringify!($Trait), "::", stringify!($name), "`], under the same stop.")]
        #[inline]
        #[track_caller]
        pub fn $name<$($Param)*>(self $(, $arg: $Arg)*) -> Interruptible<$Out, S>
        where
            I: $Trait,
            $($($bounds)*)?
        {
            Interruptible { base: self.base.$name($($arg),*), stop: self.stop }
        }
    )+};
}

/// The adaptors of a parallel iterator. The stop holds for the whole computation, so it may be named before them or behind.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::policy::CancelToken;
/// let token = CancelToken::new();
/// let sum = (0..10).into_par_iter().stop_on(&token).map(|x| x * x).filter(|x| x % 2 == 0).bound_depth(3).sum::<i32>();
/// assert_eq!(sum, (0..10).into_par_iter().map(|x| x * x).filter(|x| x % 2 == 0).stop_on(&token).sum::<i32>());
/// ```
impl<I: ParallelIterator, S: Stop> Interruptible<I, S> {
    adaptors! { ParallelIterator {
        fn with_policy[P](policy: P) -> WithPolicy<I, P> where [P: Policy];
        fn bound_depth[](depth: u32) -> WithPolicy<I, BoundDepth>;
        fn force_depth[](depth: u32) -> WithPolicy<I, ForceDepth>;
        fn even_levels[]() -> WithPolicy<I, EvenLevels>;
        fn size_limit[](limit: usize) -> WithPolicy<I, SizeLimit>;
        fn cap[](tasks: usize) -> WithPolicy<I, Cap>;
        fn join_context_policy[](depth: u32) -> WithPolicy<I, JoinContext>;
        fn thief_splitting[](levels: u32) -> WithPolicy<I, ThiefSplitting>;
        fn with_min_len[](min: usize) -> MinLen<I>;
        fn with_max_len[](max: usize) -> MaxLen<I>;
        fn with[T](schedule: T) -> With<I, PlanOf<T>> where [T: Schedule];
        fn with_scheduler[T](scheduler: T) -> WithScheduler<I, T> where [T: Scheduler];
        fn sequential[]() -> WithScheduler<I, Sequential>;
        fn join[]() -> WithScheduler<I, Join>;
        fn depjoin[]() -> WithScheduler<I, DepJoin>;
        fn adaptive[]() -> WithScheduler<I, Adaptive>;
        fn by_blocks[Z](sizes: Z) -> WithScheduler<I, ByBlocks<SchedulerOf<I>, Z>> where [Z: BlockSizes];
        fn by_exponential_blocks[]() -> ExponentialBlocks<I>;
        fn by_uniform_blocks[](block_size: usize) -> UniformBlocks<I>;
        fn on[E](executor: E) -> On<I, E::Executor> where [E: IntoExecutor];
        fn priority[](priority: Priority) -> WithPriority<I, Priority>;
        fn stage[T](stage: T) -> Staged<I, T> where [T: Stage<I::Item, Item: Send>];
        fn map[F, R](map_op: F) -> Map<I, F> where [F: Fn(I::Item) -> R + Sync + Send, R: Send];
        fn filter[P](predicate: P) -> Filter<I, P> where [P: Fn(&I::Item) -> bool + Sync + Send];
        fn filter_map[P, R](filter_op: P) -> FilterMap<I, P> where [P: Fn(I::Item) -> Option<R> + Sync + Send, R: Send];
        fn flat_map[F, PI](map_op: F) -> FlatMap<I, F> where [F: Fn(I::Item) -> PI + Sync + Send, PI: IntoParallelIterator];
        fn flat_map_iter[F, SI](map_op: F) -> FlatMapIter<I, F> where [F: Fn(I::Item) -> SI + Sync + Send, SI: IntoIterator<Item: Send>];
        fn flatten[]() -> Flatten<I> where [I::Item: IntoParallelIterator];
        fn flatten_iter[]() -> FlattenIter<I> where [I::Item: IntoIterator<Item: Send>];
        fn cloned['a, T]() -> Cloned<I> where [T: 'a + Clone + Send, I: ParallelIterator<Item = &'a T>];
        fn copied['a, T]() -> Copied<I> where [T: 'a + Copy + Send, I: ParallelIterator<Item = &'a T>];
        fn inspect[OP](inspect_op: OP) -> Inspect<I, OP> where [OP: Fn(&I::Item) + Sync + Send];
        fn log[](name: &'static str) -> Log<I>;
        fn progress[T](sink: T) -> Progress<I, T> where [T: ProgressSink];
        fn update[F](update_op: F) -> Update<I, F> where [F: Fn(&mut I::Item) + Sync + Send];
        fn io_await[]() -> IoAwait<I> where [I::Item: IntoFuture<Output: Send, IntoFuture: Send>];
        fn map_with[F, T, R](init: T, map_op: F) -> MapWith<I, T, F> where [F: Fn(&mut T, I::Item) -> R + Sync + Send, T: Send + Clone, R: Send];
        fn map_init[F, INIT, T, R](init: INIT, map_op: F) -> MapInit<I, INIT, F> where [F: Fn(&mut T, I::Item) -> R + Sync + Send, INIT: Fn() -> T + Sync + Send, R: Send];
        fn fold[T, ID, F](identity: ID, fold_op: F) -> Fold<I, ID, F> where [F: Fn(T, I::Item) -> T + Sync + Send, ID: Fn() -> T + Sync + Send, T: Send];
        fn fold_with[F, T](init: T, fold_op: F) -> FoldWith<I, T, F> where [F: Fn(T, I::Item) -> T + Sync + Send, T: Send + Clone];
        fn try_fold[T, R, ID, F](identity: ID, fold_op: F) -> TryFold<I, R, ID, F> where [F: Fn(T, I::Item) -> R + Sync + Send, ID: Fn() -> T + Sync + Send, R: Try<Output = T> + Send];
        fn try_fold_with[F, T, R](init: T, fold_op: F) -> TryFoldWith<I, R, F> where [F: Fn(T, I::Item) -> R + Sync + Send, R: Try<Output = T> + Send, T: Clone + Send];
        fn while_some[T]() -> WhileSome<I> where [I: ParallelIterator<Item = Option<T>>, T: Send];
        fn take_any[](n: usize) -> TakeAny<I>;
        fn skip_any[](n: usize) -> SkipAny<I>;
        fn take_any_while[P](predicate: P) -> TakeAnyWhile<I, P> where [P: Fn(&I::Item) -> bool + Sync + Send];
        fn skip_any_while[P](predicate: P) -> SkipAnyWhile<I, P> where [P: Fn(&I::Item) -> bool + Sync + Send];
        fn panic_fuse[]() -> PanicFuse<I>;
        fn inclusive_scan[F](op: F) -> PrefixScan<I, F> where [F: Fn(I::Item, I::Item) -> I::Item + Sync + Send, I::Item: Clone];
        fn exclusive_scan[F](init: I::Item, op: F) -> PrefixScan<I, F> where [F: Fn(I::Item, I::Item) -> I::Item + Sync + Send, I::Item: Clone];
        fn chain[C](chain: C) -> Chain<I, C::Iter> where [C: IntoParallelIterator<Item = I::Item>];
        fn intersperse[](element: I::Item) -> Intersperse<I> where [I::Item: Clone];
    } }
}

/// The adaptors of an iterator with positions.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::policy::CancelToken;
/// let token = CancelToken::new();
/// let last = [3, 5].par_iter().stop_on(&token).enumerate().skip(1).collect::<Vec<_>>();
/// assert_eq!(last, Ok(vec![(1, &5)]));
/// ```
impl<I: ParallelIterator, S: Stop> Interruptible<I, S> {
    adaptors! { IndexedParallelIterator {
        fn enumerate[]() -> Enumerate<I>;
        fn rev[]() -> Rev<I>;
        fn skip[](n: usize) -> Skip<I>;
        fn take[](n: usize) -> Take<I>;
        fn step_by[](step: usize) -> StepBy<I>;
        fn chunks[](chunk_size: usize) -> Chunks<I>;
        fn fold_chunks[T, ID, F](chunk_size: usize, identity: ID, fold_op: F) -> FoldChunks<I, ID, F> where [ID: Fn() -> T + Send + Sync, F: Fn(T, I::Item) -> T + Send + Sync, T: Send];
        fn fold_chunks_with[T, F](chunk_size: usize, init: T, fold_op: F) -> FoldChunksWith<I, T, F> where [T: Send + Clone, F: Fn(T, I::Item) -> T + Send + Sync];
        fn positions[P](predicate: P) -> Positions<I, P> where [P: Fn(I::Item) -> bool + Sync + Send];
        fn zip[Z](other: Z) -> Zip<I, Z::Iter> where [Z: IntoParallelIterator, Z::Iter: IndexedParallelIterator];
        fn zip_eq[Z](other: Z) -> ZipEq<I, Z::Iter> where [Z: IntoParallelIterator, Z::Iter: IndexedParallelIterator];
        fn interleave[J](other: J) -> Interleave<I, J::Iter> where [J: IntoParallelIterator<Item = I::Item>, J::Iter: IndexedParallelIterator];
        fn interleave_shortest[J](other: J) -> InterleaveShortest<I, J::Iter> where [J: IntoParallelIterator<Item = I::Item>, J::Iter: IndexedParallelIterator];
        fn merge[J](other: J) -> Merge<I, J::Iter> where [I: PeekParallelIterator, J: IntoParallelIterator<Item = I::Item>, J::Iter: PeekParallelIterator, I::Item: Ord];
        fn merge_by[J, F](other: J, compare: F) -> MergeBy<I, J::Iter, F> where [I: PeekParallelIterator, J: IntoParallelIterator<Item = I::Item>, J::Iter: PeekParallelIterator, F: Fn(&I::Item, &I::Item) -> Ordering + Sync + Send];
        fn merge_by_key[J, K, F](other: J, key: F) -> MergeByKey<I, J::Iter, F> where [I: PeekParallelIterator, J: IntoParallelIterator<Item = I::Item>, J::Iter: PeekParallelIterator, K: Ord, F: Fn(&I::Item) -> K + Sync + Send];
    } }
}

/// Bounds on futures in flight, right behind `io_await`.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::policy::CancelToken;
/// let token = CancelToken::new();
/// let requests = (0..10).into_par_iter().map(|x| async move { x }).stop_on(&token).io_await().max_in_flight(3);
/// assert_eq!(requests.sum::<i32>(), Ok(45));
/// ```
impl<I: ParallelIterator, S: Stop> Interruptible<IoAwait<I>, S> {
    /// [`IoAwait::max_in_flight`], under the same stop.
    ///
    /// # Panics
    ///
    /// If `n` is 0.
    #[track_caller]
    pub fn max_in_flight(self, n: usize) -> Self {
        Interruptible { base: self.base.max_in_flight(n), ..self }
    }

    /// [`IoAwait::limit`], under the same stop.
    pub fn limit(self, limit: &Limit) -> Self {
        Interruptible { base: self.base.limit(limit), ..self }
    }

    /// [`IoAwait::unbounded`], under the same stop.
    pub fn unbounded(self) -> Self {
        Interruptible { base: self.base.unbounded(), ..self }
    }

    /// [`IoAwait::timeout`], under the same stop.
    pub fn timeout(self, time: Duration) -> Interruptible<IoAwait<Timeouts<I>>, S>
    where
        I: ParallelIterator<Item: IntoFuture<Output: Send, IntoFuture: Send>>,
    {
        Interruptible { base: self.base.timeout(time), stop: self.stop }
    }
}
