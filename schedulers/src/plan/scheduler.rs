//! The trait that says how parts are run and reduced.

use crate::plan::computation::AwaitedComputation;
use crate::{Computation, Suspending, Workload};
use furcate_pool::Executor;

/// Runs a computation: divides the producer where the policy says so, runs the parts on the executor, folds the leaves
/// and reduces their outputs.
///
/// # Contract
///
/// 1. Every item is folded once, unless the reduction ends early. A task folds its items in order.
/// 2. Outputs are reduced in order: for every associative reduction, the result equals the sequential one.
/// 3. A panic of user code reaches the caller once no task of the call runs any more.
///
/// ```
/// use furcate::Inline;
/// use furcate::{Scheduler, Workload};
///
/// fn run<S: Scheduler, W: Workload>(scheduler: S, work: W) -> W::Output {
///     scheduler.schedule(work, &Inline)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how parts are run",
    note = "schedulers are named by methods: `.join()`, `.depjoin()`, `.adaptive()`, `.by_blocks(sizes)`, `.sequential()`; `with_scheduler` takes their types (`Join`, `DepJoin` ...), or one of your own that implements `Scheduler`"
)]
pub trait Scheduler: Clone + Send {
    /// Facts about this scheduler, for the methods of a chain.
    const FACTS: SchedulerFacts = SchedulerFacts::FORKS;

    /// Returns the scheduler of an `io_await` behind this one. By default, one with the default bound. A scheduler that
    /// suspends returns itself, so that the whole chain keeps to one bound and one limit.
    fn for_futures(&self) -> Suspending {
        Suspending::new()
    }

    /// Runs the whole computation, a tuple of a producer, a policy and a reduction, and returns its result.
    fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output;

    /// Runs a whole computation without a thread that waits for it. [`Computation::end`] is called when it has ended.
    ///
    /// [`Suspending`](crate::Suspending), [`DepJoin`](crate::DepJoin) and [`Adaptive`](crate::Adaptive) occupy no
    /// thread while the computation waits. By default, a job of the executor [runs](Self::schedule) the computation,
    /// and waits for its parts.
    fn spawn<C, E>(&self, computation: C, executor: &E)
    where
        Self: 'static,
        C: Computation,
        E: Executor + 'static,
    {
        executor.spawn_detached(AwaitedComputation::new(computation, self.clone(), executor.clone()));
    }

    /// Runs one of the blocks that another scheduler walks. By default, a block is run like any other computation. A
    /// scheduler that would itself choose blocks does not do so again here.
    #[inline]
    fn schedule_block<W: Workload, E: Executor>(&self, block: W, executor: &E) -> W::Output {
        self.schedule(block, executor)
    }
}

/// Facts about a [`Scheduler`], for the methods of a chain that name another one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulerFacts {
    /// Whether the scheduler runs [blocks](crate::ByBlocks) by another scheduler. If so, it is a mistake to name
    /// another scheduler after it, in its place.
    pub blocks: bool,

    /// Whether the scheduler suspends tasks that wait for futures. If so, it is a mistake to choose a scheduler
    /// afterwards that does not suspend: its workers would block. Such a scheduler [spreads](Self::spreads), too.
    pub suspends: bool,

    /// Whether the scheduler divides on demand. If so, it is a mistake to name `io_await` after it: `io_await`
    /// suspends tasks and divides them as the policy says, so demand would have no effect.
    pub on_demand: bool,

    /// Whether a chain with the scheduler may run on several processes, each of which divides its part on demand. True if the chain has
    /// left the choice open, or has chosen to divide on demand, or waits for futures. Another scheduler would be replaced without a
    /// word.
    pub spreads: bool,
}

impl SchedulerFacts {
    /// The scheduler forks as the policy says, and does nothing else.
    pub const FORKS: SchedulerFacts =
        SchedulerFacts { blocks: false, suspends: false, on_demand: false, spreads: false };
}
