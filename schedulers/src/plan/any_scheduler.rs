//! A scheduler that is chosen at run time.

use crate::{
    Adaptive, ByTerminal, Computation, DepJoin, Join, Scheduler, SchedulerFacts, Sequential, Suspending,
    Workload,
};
use furcate_pool::Executor;

/// One of furcate's schedulers, chosen at run time: by a command line, a configuration or the size of the input.
///
/// The chain is written once. It is compiled for each of the schedulers, so it takes about four times the code of a
/// chain whose scheduler is chosen at compile time. The choice costs one branch per call.
///
/// Name blocks after `with_scheduler`. Block sizes can be chosen at run time, too: `by_blocks(Vec::new())` is one
/// block.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::policy::{AnyPolicy, BoundDepth, SizeLimit};
/// use furcate::{Adaptive, AnyScheduler};
///
/// fn sum(v: &[u64], scheduler: AnyScheduler, policy: AnyPolicy) -> u64 {
///     v.par_iter().map(|x| x * x).with_policy(policy).with_scheduler(scheduler).sum()
/// }
///
/// let v = vec![2; 1000];
/// for (scheduler, policy) in [
///     (AnyScheduler::Sequential, AnyPolicy::default()),
///     (AnyScheduler::Join, SizeLimit::new(100).into()),
///     (AnyScheduler::DepJoin, BoundDepth::new(3).into()),
///     (Adaptive::new().nano_blocks(16, 64).into(), AnyPolicy::default()),
/// ] {
///     assert_eq!(sum(&v, scheduler, policy), 4000);
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnyScheduler {
    /// [`ByTerminal`], the default scheduler.
    #[default]
    ByTerminal,
    /// [`Join`].
    Join,
    /// [`DepJoin`].
    DepJoin,
    /// [`Adaptive`], with its steps.
    Adaptive(Adaptive),
    /// [`Sequential`].
    Sequential,
}

macro_rules! from_schedulers {
    ($($Scheduler:ident => $pattern:pat => $any:expr;)+) => {$(
        impl From<$Scheduler> for AnyScheduler {
            fn from($pattern: $Scheduler) -> Self {
                $any
            }
        }
    )+};
}

from_schedulers! {
    ByTerminal => ByTerminal => AnyScheduler::ByTerminal;
    Join => Join => AnyScheduler::Join;
    DepJoin => DepJoin => AnyScheduler::DepJoin;
    Adaptive => adaptive => AnyScheduler::Adaptive(adaptive);
    Sequential => Sequential => AnyScheduler::Sequential;
}

/// Evaluates an expression with the chosen scheduler.
macro_rules! chosen {
    ($any:expr, |$scheduler:ident| $result:expr) => {
        match $any {
            AnyScheduler::ByTerminal => {
                let $scheduler = ByTerminal;
                $result
            }
            AnyScheduler::Join => {
                let $scheduler = Join;
                $result
            }
            AnyScheduler::DepJoin => {
                let $scheduler = DepJoin;
                $result
            }
            AnyScheduler::Adaptive($scheduler) => $result,
            AnyScheduler::Sequential => {
                let $scheduler = Sequential;
                $result
            }
        }
    };
}

impl Scheduler for AnyScheduler {
    /// `Adaptive` may have been chosen.
    const FACTS: SchedulerFacts = SchedulerFacts { on_demand: true, ..SchedulerFacts::FORKS };

    fn for_futures(&self) -> Suspending {
        chosen!(*self, |scheduler| scheduler.for_futures())
    }

    fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output {
        chosen!(*self, |scheduler| scheduler.schedule(work, executor))
    }

    fn spawn<C: Computation, E: Executor + 'static>(&self, computation: C, executor: &E) {
        chosen!(*self, |scheduler| scheduler.spawn(computation, executor));
    }

    fn schedule_block<W: Workload, E: Executor>(&self, block: W, executor: &E) -> W::Output {
        chosen!(*self, |scheduler| scheduler.schedule_block(block, executor))
    }
}
