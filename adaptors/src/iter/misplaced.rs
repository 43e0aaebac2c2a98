//! Methods that are named too late in a chain: each is an error that says where to name it.
//!
//! For example, a scheduler named after `by_blocks` would replace the blocks. The types of such a chain fit together all the same,
//! because generic code knows of a chain only that it is a [`ParallelIterator`](crate::iter::ParallelIterator). But if the compiler
//! knows the receiver's type, an inherent method goes before the trait's method of the same name. The inherent methods here have a
//! bound that no type meets, so that `cargo check` prints the bound's message. If another adaptor stands in between, an assertion in
//! the trait's method says the same, later, in `cargo build`.

use super::adaptors::IoAwait;
use super::{Interruptible, ParallelIterator, WithPolicy, WithScheduler};
use furcate_pool::Executor;
use furcate_schedulers::policy::{Cap, Stop};
use furcate_schedulers::{Adaptive, BlockSizes, ByBlocks, Policy, Scheduler};

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
    message = "adaptors, policies and schedulers are named before `stop_on` and `deadline`, terminals behind them",
    label = "named too late",
    note = "write `.map(..).stop_on(&token).sum()` instead of `.stop_on(&token).map(..).sum()`, and so on",
    note = "or give the rest of the chain to `run`: `.stop_on(&token).run(|items| items.map(..).sum())`"
)]
pub trait BeforeStop {}

/// Declares methods with a bound that no type meets.
macro_rules! misplaced {
    ($(
        impl[$($generics:tt)*] $Type:ty: $Bound:ident {
            $(fn $name:ident $(<$($Param:ident),+>)? ($($Arg:ty),*) $(where [$($bounds:tt)*])?;)+
        }
    )+) => {$(
        impl<$($generics)*> $Type {$(
            #[doc(hidden)]
            #[allow(clippy::needless_pass_by_value, clippy::return_self_not_must_use, reason = "never called")]
            pub fn $name $(<$($Param),+>)? (self $(, _: $Arg)*) -> Self
            where
                Self: $Bound,
                $($($bounds)*)?
            {
                self
            }
        )+}
    )+};
}

misplaced! {
    impl[I: ParallelIterator, S: Scheduler, Z: BlockSizes] WithScheduler<I, ByBlocks<S, Z>>: SchedulerBeforeBlocks {
        fn join();
        fn depjoin();
        fn adaptive();
        fn sequential();
        fn with_scheduler<T>(T) where [T: Scheduler];
    }

    impl[I: ParallelIterator, S: Scheduler, Z: BlockSizes] WithScheduler<I, ByBlocks<S, Z>>: BlocksOnce {
        fn by_blocks<Y>(Y) where [Y: BlockSizes];
        fn by_exponential_blocks();
        fn by_uniform_blocks(usize);
    }

    impl[I: ParallelIterator, S: Scheduler, Z: BlockSizes] WithScheduler<I, ByBlocks<S, Z>>: AwaitBeforeBlocks {
        fn io_await();
    }

    impl[I: ParallelIterator] WithScheduler<I, Adaptive>: NotOnDemandBeforeAwait {
        fn io_await();
    }

    impl[I: ParallelIterator] IoAwait<I>: NoSchedulerBehindAwait {
        fn join();
        fn depjoin();
        fn adaptive();
        fn sequential();
    }

    impl[I: ParallelIterator] IoAwait<I>: NoCapBesideAwait {
        fn cap(usize);
    }

    impl[I: ParallelIterator] WithPolicy<I, Cap>: NoCapBesideAwait {
        fn io_await();
    }

    impl[I: ParallelIterator, S: Stop] Interruptible<I, S>: BeforeStop {
        fn map<F, R>(F) where [F: Fn(I::Item) -> R];
        fn filter<F>(F) where [F: Fn(&I::Item) -> bool];
        fn filter_map<F, R>(F) where [F: Fn(I::Item) -> Option<R>];
        fn flat_map<F, R>(F) where [F: Fn(I::Item) -> R];
        fn flat_map_iter<F, R>(F) where [F: Fn(I::Item) -> R];
        fn inspect<F>(F) where [F: Fn(&I::Item)];
        fn fold<T, ID, F>(ID, F) where [ID: Fn() -> T, F: Fn(T, I::Item) -> T];
        fn io_await();
        fn enumerate();
        fn zip<J>(J);
        fn chain<J>(J);
        fn take(usize);
        fn skip(usize);
        fn chunks(usize);
        fn rev();
        fn copied();
        fn cloned();
        fn with_policy<P>(P) where [P: Policy];
        fn bound_depth(u32);
        fn force_depth(u32);
        fn even_levels();
        fn size_limit(usize);
        fn cap(usize);
        fn join_context_policy(u32);
        fn thief_splitting(u32);
        fn with_min_len(usize);
        fn with_max_len(usize);
        fn with_scheduler<T>(T) where [T: Scheduler];
        fn join();
        fn depjoin();
        fn adaptive();
        fn sequential();
        fn by_blocks<Y>(Y) where [Y: BlockSizes];
        fn by_exponential_blocks();
        fn by_uniform_blocks(usize);
        fn on<E>(E) where [E: Executor];
    }
}
