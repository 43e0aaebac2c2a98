//! *How* the parts are run and reduced.

use crate::computation::Awaited;
use crate::{Computation, Limit, Policy, Producer, Reduction};
use furcate_pool::Executor;

/// Runs a computation: divides the producer where the policy says so, runs the parts on the executor, folds the
/// leaves and reduces their results.
///
/// # Contract
///
/// 1. Every item is folded once, unless the reduction ends early; items of one task in order.
/// 2. Outputs are reduced in order: the result equals the sequential one for every associative reduction.
/// 3. A panic of user code reaches the caller once nothing of the call runs any more.
///
/// ```
/// use furcate::Inline;
/// use furcate::{Join, Policy, Producer, Reduction, Scheduler, Sequential};
///
/// fn run<S: Scheduler, P: Producer, L: Policy, R: Reduction<P::Item>>(s: S, p: P, l: L, r: R) -> R::Output {
///     s.schedule(p, l, r, &Inline)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how parts are run",
    note = "schedulers are named by methods: `.join()`, `.depjoin()`, `.adaptive()`, `.by_blocks(sizes)`, `.sequential()`; `with_scheduler` takes their types (`Join`, `DepJoin` ...), or one of your own that implements `Scheduler`"
)]
pub trait Scheduler: Clone + Send {
    /// Does it run [blocks](crate::ByBlocks) by another scheduler? Then it is a mistake to choose that one afterwards, in
    /// its place.
    const BLOCKS: bool = false;

    /// Does it suspend tasks that wait for futures? Then it is a mistake to choose one that does not afterwards: its workers
    /// would wait.
    const SUSPENDS: bool = false;

    /// Whether the scheduler divides on demand. If so, it is a mistake to name `io_await` behind it: `io_await` suspends tasks and
    /// divides them as the policy says, so demand would have no effect.
    const ON_DEMAND: bool = false;

    /// Returns how many futures the scheduler lets be in flight at once, if it [suspends](Self::SUSPENDS) tasks. Later `io_await`s of
    /// the chain keep to the same bound, unless they name another one.
    fn in_flight(&self) -> Option<usize> {
        None
    }

    /// Returns the limit that the call's futures share with other calls, if there is one. As with
    /// [`in_flight`](Self::in_flight), later stages keep to it.
    fn limit(&self) -> Option<&Limit> {
        None
    }

    /// Does it divide at all? If not, an `io_await` that is named behind it does not either.
    fn divides(&self) -> bool {
        true
    }

    /// Runs the whole computation and returns its result.
    fn schedule<P, L, R, E>(&self, producer: P, policy: L, reduction: R, executor: &E) -> R::Output
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
        E: Executor;

    /// Runs a whole computation, for which nobody waits: it is told when it has ended.
    ///
    /// [`Suspending`](crate::Suspending), [`DepJoin`](crate::DepJoin) and [`Adaptive`](crate::Adaptive) need no thread while it
    /// waits for something. By default a job of the executor [runs](Self::schedule) it, and waits for its parts.
    fn spawn<C, E>(&self, computation: C, executor: &E)
    where
        Self: 'static,
        C: Computation,
        E: Executor + 'static,
    {
        executor.spawn_detached(Awaited::new(computation, self.clone(), executor.clone()));
    }

    /// Runs one of the blocks that another scheduler walks. By default as any computation; a scheduler that would choose
    /// blocks by itself does not do so again.
    #[inline]
    fn schedule_block<P, L, R, E>(&self, block: P, policy: L, reduction: R, executor: &E) -> R::Output
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
        E: Executor,
    {
        self.schedule(block, policy, reduction, executor)
    }
}
