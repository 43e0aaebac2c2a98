//! Spawned greedy computations. No thread waits for them, so the call and the root lie beside the computation, and not
//! in a caller's frame.

use super::{Leaves, Root, lock, start, tell_stop};
use crate::tree::call::Call;
use crate::{Computation, Policy};
use furcate_pool::Executor;
use furcate_pool::detach::{SpawnedOutcome, Unattended};

/// Makes the leaves of a spawned computation, and owns the data that they borrow.
pub(crate) trait LeafPlan: Send + Sync + 'static {
    /// Says how leaves are run.
    type Leaves<'s>: Leaves;

    fn leaves(&self) -> Self::Leaves<'_>;
}

/// Leaves that borrow nothing.
impl<F: Leaves + 'static> LeafPlan for F {
    type Leaves<'s> = F;

    fn leaves(&self) -> F {
        *self
    }
}

/// Runs a whole computation without a thread that waits for it.
pub(crate) fn spawn<C: Computation, E: Executor, N: LeafPlan>(computation: C, executor: &E, plan: N) {
    let (call, root) = (Call::default(), Root::default());
    executor.spawn_detached(Spawned { call, root, plan, stop: None, computation });
}

struct Spawned<C: Computation, N> {
    call: Call,
    root: Root<C::Output>,
    plan: N,
    /// The policy, if it may stop the computation.
    stop: Option<C::Policy>,
    computation: C,
}

impl<C: Computation, N: LeafPlan, E: Executor> Unattended<E> for Spawned<C, N> {
    fn begin<'s>(&'s mut self, scope: &E::Scope<'s>) {
        let Spawned { call, root, plan, stop, computation } = self;
        let work = computation.parts();
        *stop = C::Policy::STOPS.then(|| work.1.clone());
        let output = start(work, (call, root), plan.leaves(), scope);
        if output.is_some() {
            *lock(&root.output) = output;
        }
    }

    fn end(self, end: SpawnedOutcome<()>) {
        let Spawned { call, root, stop, computation, .. } = self;
        tell_stop(stop.as_ref(), &call);
        computation.end(end.map(|()| root.into_output()));
    }
}
