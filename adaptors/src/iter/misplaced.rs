//! Methods that are named too late in a chain: each is an error that names the right place.
//!
//! For example, a scheduler named after `by_blocks` would replace the blocks. The types of such a chain fit together all the same,
//! because generic code knows of a chain only that it is a [`ParallelIterator`](crate::iter::ParallelIterator). But if the compiler
//! knows the receiver's type, an inherent method goes before the trait's method of the same name. The inherent methods here have a
//! bound that no type meets, so that `cargo check` prints the bound's message. The commonest adaptors have the same methods if their
//! base's scheduler refuses the method. Behind other adaptors, and in generic code, an assertion in the trait's method says the same,
//! later, in `cargo build`.

use super::adaptors::{
    Chain, Chunks, Cloned, Copied, Enumerate, Filter, FilterMap, FlatMapIter, FlattenIter, Fold, FoldWith,
    Inspect, IoAwait, Log, Map, MapInit, MapWith, PanicFuse, Progress, Rev, Skip, SkipAny, SkipAnyWhile,
    StepBy, Take, TakeAny, TakeAnyWhile, Update, WhileSome, Zip,
};
use super::{
    IndexedParallelIterator, Interruptible, On, ParallelIterator, SchedulerOf, With, WithPolicy,
    WithScheduler,
};
use furcate_pool::Executor;
use furcate_schedulers::policy::{Cap, Stop};
use furcate_schedulers::{
    Adaptive, BlockSizes, ByBlocks, Plan, PlanOf, Policy, Schedule, Scheduler, Suspending,
};

/// The bound of a misplaced method; no type has it.
#[diagnostic::on_unimplemented(
    message = "a scheduler named after `by_blocks` takes the blocks' place: name it before, as in `.join().by_blocks(..)`",
    label = "named after `by_blocks`"
)]
pub trait SchedulerBeforeBlocks {}

/// The bound of a misplaced method; no type has it.
#[diagnostic::on_unimplemented(
    message = "blocks of blocks: they run one after the other anyway, so name all sizes in one `by_blocks(..)`",
    label = "named after `by_blocks`"
)]
pub trait BlocksOnce {}

/// The bound of a misplaced method; no type has it.
#[diagnostic::on_unimplemented(
    message = "blocks are named behind `io_await`: `.io_await().by_blocks(..)`",
    label = "named after `by_blocks`"
)]
pub trait AwaitBeforeBlocks {}

/// The bound of a misplaced method; no type has it.
#[diagnostic::on_unimplemented(
    message = "a scheduler named behind `io_await` would have its workers wait: `io_await` schedules what waits by itself, and \
               policies say how it is divided",
    label = "named behind `io_await`",
    note = "leave the scheduler out, or name a policy instead: `.io_await().thief_splitting(4)`"
)]
pub trait NoSchedulerBehindAwait {}

/// A scheduler that may replace the one that `io_await` names. (A scheduler of your own is named by
/// `ParallelIterator::with_scheduler(chain, scheduler)`.)
#[diagnostic::on_unimplemented(
    message = "a scheduler named behind `io_await` would have its workers wait: `io_await` schedules what waits by itself, and \
               policies say how it is divided",
    label = "named behind `io_await`",
    note = "leave the scheduler out, or name a policy instead: `.io_await().thief_splitting(4)`"
)]
pub trait SuspendsToo {}

impl SuspendsToo for Suspending {}
impl<S: SuspendsToo, Z> SuspendsToo for ByBlocks<S, Z> {}

/// The bound of a misplaced method; no type has it.
#[diagnostic::on_unimplemented(
    message = "`adaptive` before `io_await` would have no effect: `io_await` schedules what waits by itself, and policies say \
               how it is divided",
    label = "named after `adaptive`",
    note = "leave `adaptive()` out, or name a policy instead: `.thief_splitting(4).io_await()`"
)]
pub trait NotOnDemandBeforeAwait {}

/// The bound of a misplaced method; no type has it.
#[diagnostic::on_unimplemented(
    message = "`cap` beside `io_await` cannot be kept: each future that was pending goes on as a task of its own, on any worker",
    label = "a cap on tasks, in a chain that waits",
    note = "bound the futures in flight instead: `.io_await().max_in_flight(n)`",
    note = "or bound the items that are computed at once with a pool of n threads: `.on(&pool)`"
)]
pub trait NoCapBesideAwait {}

/// The bound of a misplaced method; no type has it.
#[diagnostic::on_unimplemented(
    message = "behind `stop_on` and `deadline` nobody knows how many items will have been done: this method needs all of them",
    label = "not behind a stop",
    note = "number the items first, and search for a pair: `.enumerate().stop_on(&token).find_first(..)`",
    note = "or collect the processed items, and continue with those: `.stop_on(&token).collect::<Vec<_>>()`"
)]
pub trait AllItems {}

/// The bound of a misplaced method; no type has it.
#[diagnostic::on_unimplemented(
    message = "a stream, or a loop over blocks, has no result that could say whether a stop has ended it",
    label = "not behind a stop",
    note = "drop the stream, or leave the loop, where the computation is to end; to end single futures, write `.io_await().timeout(..)`"
)]
pub trait HasResult {}

/// Declares methods with a bound that no type meets. Here and below, the bounds and the methods' names stand where a macro is called, and not in
/// the macro: so a message shows their lines, and nothing of the macros.
macro_rules! misplaced {
    ($(
        impl[$($generics:tt)*] $Type:ty where $bound:tt {
            $(fn $name:ident $(<$($Param:ident),+>)? ($($Arg:ty),*) $(where [$($bounds:tt)*])?;)+
        }
    )+) => {$(
        impl<$($generics)*> $Type {$(
            misplaced! { @method $bound $name [$($($Param)+)?] [$($Arg)*] [$($($bounds)*)?] }
        )+}
    )+};
    (@method [$($bound:tt)*] $name:ident [$($Param:ident)*] [$($Arg:ty)*] [$($bounds:tt)*]) => {
        #[doc(hidden)]
        #[allow(clippy::needless_pass_by_value, clippy::return_self_not_must_use, reason = "never called")]
        pub fn $name<$($Param),*>(self $(, _: $Arg)*) -> Self
        where
            $($bound)*,
            $($bounds)*
        {
            self
        }
    };
}

misplaced! {
    impl[I: ParallelIterator, S: Scheduler, Z: BlockSizes] WithScheduler<I, ByBlocks<S, Z>> where [Self: SchedulerBeforeBlocks] {
        fn join();
        fn depjoin();
        fn adaptive();
        fn sequential();
        fn with_scheduler<T>(T) where [T: Scheduler];
        fn with<T>(T) where [T: Schedule];
    }

    impl[I: ParallelIterator, S: Scheduler, Z: BlockSizes] WithScheduler<I, ByBlocks<S, Z>> where [Self: BlocksOnce] {
        fn by_blocks<Y>(Y) where [Y: BlockSizes];
        fn by_exponential_blocks();
        fn by_uniform_blocks(usize);
    }

    impl[I: ParallelIterator, S: Scheduler, Z: BlockSizes] WithScheduler<I, ByBlocks<S, Z>> where [Self: AwaitBeforeBlocks] {
        fn io_await();
    }

    impl[I: ParallelIterator] WithScheduler<I, Adaptive> where [Self: NotOnDemandBeforeAwait] {
        fn io_await();
    }

    impl[I: ParallelIterator, P: Policy, S: Scheduler, Z: BlockSizes, E: Executor] With<I, Plan<P, ByBlocks<S, Z>, E>> where [Self: SchedulerBeforeBlocks] {
        fn join();
        fn depjoin();
        fn adaptive();
        fn sequential();
        fn with_scheduler<T>(T) where [T: Scheduler];
        fn with<T>(T) where [T: Schedule];
    }

    impl[I: ParallelIterator, P: Policy, S: Scheduler, Z: BlockSizes, E: Executor] With<I, Plan<P, ByBlocks<S, Z>, E>> where [Self: BlocksOnce] {
        fn by_blocks<Y>(Y) where [Y: BlockSizes];
        fn by_exponential_blocks();
        fn by_uniform_blocks(usize);
    }

    impl[I: ParallelIterator, P: Policy, S: Scheduler, Z: BlockSizes, E: Executor] With<I, Plan<P, ByBlocks<S, Z>, E>> where [Self: AwaitBeforeBlocks] {
        fn io_await();
    }

    impl[I: ParallelIterator, P: Policy, E: Executor] With<I, Plan<P, Adaptive, E>> where [Self: NotOnDemandBeforeAwait] {
        fn io_await();
    }

    impl[I: ParallelIterator] IoAwait<I> where [Self: NoSchedulerBehindAwait] {
        fn join();
        fn depjoin();
        fn adaptive();
        fn sequential();
    }

    impl[I: ParallelIterator] IoAwait<I> where [Self: NoCapBesideAwait] {
        fn cap(usize);
    }

    impl[I: ParallelIterator] WithPolicy<I, Cap> where [Self: NoCapBesideAwait] {
        fn io_await();
    }

    impl[I: ParallelIterator, S: Stop] Interruptible<I, S> where [Self: AllItems] {
        fn position_any<P>(P) where [P: Fn(I::Item) -> bool];
        fn position_first<P>(P) where [P: Fn(I::Item) -> bool];
        fn position_last<P>(P) where [P: Fn(I::Item) -> bool];
        fn cmp<J>(J);
        fn partial_cmp<J>(J);
        fn eq<J>(J);
        fn ne<J>(J);
        fn lt<J>(J);
        fn le<J>(J);
        fn gt<J>(J);
        fn ge<J>(J);
        fn collect_into_vec(&mut Vec<I::Item>);
        fn unzip_into_vecs<A, B>(&mut Vec<A>, &mut Vec<B>);
    }

    impl[I: ParallelIterator, S: Stop] Interruptible<I, S> where [Self: HasResult] {
        fn into_stream(usize);
        fn into_stream_unordered(usize);
        fn blocks_iter<Z>(Z) where [Z: BlockSizes];
    }
}

/// Methods that need positions, behind an adaptor without them. The message is that of [`IndexedParallelIterator`].
macro_rules! without_positions {
    ($bound:tt $methods:tt $($Adaptor:ident<$($Param:ident),+>),+ $(,)?) => {$(
        misplaced! { impl[$($Param),+] $Adaptor<$($Param),+> where $bound $methods }
    )+};
}

without_positions!(
    [Self: IndexedParallelIterator]
    {
        fn enumerate();
        fn rev();
        fn zip<J>(J);
        fn zip_eq<J>(J);
        fn take(usize);
        fn skip(usize);
        fn step_by(usize);
        fn chunks(usize);
    }
    Filter<I, P>,
    FilterMap<I, P>,
    FlatMapIter<I, F>,
    FlattenIter<I>,
    Fold<I, ID, F>,
    FoldWith<I, T, F>,
    WhileSome<I>,
    TakeAny<I>,
    SkipAny<I>,
    TakeAnyWhile<I, P>,
    SkipAnyWhile<I, P>,
);

// Methods behind another adaptor. An inherent method is a candidate only if the bounds of its block hold. So the
// methods below exist only for chains with a scheduler that refuses them. In generic code, where the scheduler of a
// chain is not known, the trait's methods are called, with their assertions.

/// A scheduler behind which `io_await` is a mistake.
pub trait RefusesAwait {}

impl RefusesAwait for Adaptive {}
impl<S, Z> RefusesAwait for ByBlocks<S, Z> {}

// Of two messages, the one that does not apply is switched off by an implementation.
impl<S, Z> NotOnDemandBeforeAwait for ByBlocks<S, Z> {}
impl AwaitBeforeBlocks for Adaptive {}

/// A scheduler that no other scheduler may replace.
pub trait RefusesSchedulers {}

impl RefusesSchedulers for Suspending {}
impl<S, Z> RefusesSchedulers for ByBlocks<S, Z> {}

impl<S, Z> NoSchedulerBehindAwait for ByBlocks<S, Z> {}
impl SchedulerBeforeBlocks for Suspending {}

/// Declares the methods behind other adaptors: for chains whose scheduler is [`RefusesAwait`] or [`RefusesSchedulers`], and for chains that wait.
/// The last group of these, which name a scheduler, exists right behind `io_await`, too.
macro_rules! misplaced_behind {
    ($await:tt $schedulers:tt $cap:tt $functions:tt $($Adaptor:ident<I $(, $Param:ident)*>),+ $(,)?) => {
        misplaced_behind! { @functions impl[I: ParallelIterator] IoAwait<I> $functions }
        $(
        misplaced_behind! {
            @methods impl[I: ParallelIterator<Schedule: Schedule<Scheduler: RefusesAwait>> $(, $Param)*] $Adaptor<I $(, $Param)*> $await
        }
        misplaced_behind! {
            @methods impl[I: ParallelIterator<Schedule: Schedule<Scheduler: RefusesSchedulers>> $(, $Param)*] $Adaptor<I $(, $Param)*>
            $schedulers
        }
        misplaced_behind! {
            @methods impl[I: ParallelIterator<Schedule: Schedule<Scheduler = Suspending>> $(, $Param)*] $Adaptor<I $(, $Param)*> $cap
        }

        misplaced_behind! {
            @functions impl[I: ParallelIterator<Schedule: Schedule<Scheduler = Suspending>> $(, $Param)*] $Adaptor<I $(, $Param)*>
            $functions
        }
        )+
    };
    (@functions impl[$($generics:tt)*] $Type:ty { $($function:tt)+ }) => {
        impl<$($generics)*> $Type { $($function)+ }
    };
    (@methods impl[$($generics:tt)*] $Type:ty [$bound:tt $methods:tt]) => {
        misplaced! { impl[$($generics)*] $Type where $bound $methods }
    };
}

misplaced_behind!(
    [
        [SchedulerOf<I>: NotOnDemandBeforeAwait + AwaitBeforeBlocks]
        { fn io_await(); }
    ]
    [
        [SchedulerOf<I>: SchedulerBeforeBlocks + NoSchedulerBehindAwait]
        {
            fn join();
            fn depjoin();
            fn adaptive();
            fn sequential();
        }
    ]
    [
        [Self: NoCapBesideAwait]
        { fn cap(usize); }
    ]
    {
        #[doc(hidden)]
        pub fn with_scheduler<New: Scheduler + SuspendsToo>(self, scheduler: New) -> WithScheduler<Self, New> {
            WithScheduler::new(self, scheduler)
        }

        #[doc(hidden)]
        pub fn with<New: Schedule<Scheduler: SuspendsToo>>(self, schedule: New) -> With<Self, PlanOf<New>> {
            With::new(self, schedule.into_plan())
        }
    }
    Map<I, F>,
    Filter<I, P>,
    FilterMap<I, P>,
    FlatMapIter<I, F>,
    FlattenIter<I>,
    Inspect<I, F>,
    Log<I>,
    Progress<I, S>,
    Update<I, F>,
    Cloned<I>,
    Copied<I>,
    MapInit<I, INIT, F>,
    MapWith<I, T, F>,
    Fold<I, ID, F>,
    FoldWith<I, T, F>,
    WhileSome<I>,
    PanicFuse<I>,
    TakeAny<I>,
    SkipAny<I>,
    TakeAnyWhile<I, P>,
    SkipAnyWhile<I, P>,
    Enumerate<I>,
    Rev<I>,
    Skip<I>,
    Take<I>,
    StepBy<I>,
    Chunks<I>,
    Zip<I, J>,
    Chain<I, J>,
    On<I, E>,
);
