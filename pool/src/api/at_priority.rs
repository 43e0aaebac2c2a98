//! An engine whose computations have a priority.

use crate::detach::{SpawnedOutcome, Unattended};
use crate::{Context, Executor, Priority, with_priority};

/// An engine of which every computation has a [`Priority`]: what `.priority(..)` makes of the engine of a chain or a plan.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::{AtPriority, Pool, Priority};
///
/// let pool = AtPriority::new(Pool, Priority::Urgent);
/// assert_eq!((0..100).into_par_iter().on(pool).sum::<u32>(), 4950);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct AtPriority<E> {
    executor: E,
    priority: Priority,
}

impl<E> AtPriority<E> {
    /// Gives the computations of an engine that priority. On an engine other than furcate's pools it has no effect.
    pub const fn new(executor: E, priority: Priority) -> Self {
        AtPriority { executor, priority }
    }
}

impl<E: Executor> Executor for AtPriority<E> {
    type Scope<'scope> = E::Scope<'scope>;

    const HAS_PRIORITY: bool = true;

    /// Forks are made in [`enter`](Executor::enter), so they have the priority.
    #[inline(always)]
    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.executor.join_context(left, right)
    }

    fn enter<F, R>(&self, f: F) -> R
    where
        F: FnOnce() -> R + Send,
        R: Send,
    {
        with_priority(self.priority, || self.executor.enter(f))
    }

    fn is_entered(&self) -> bool {
        self.executor.is_entered()
    }

    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        with_priority(self.priority, || self.executor.detached(body))
    }

    fn spawn_detached<C: Unattended<Self>>(&self, computation: C) {
        with_priority(self.priority, || self.executor.spawn_detached(Inner(computation)));
    }

    fn num_threads(&self) -> usize {
        self.executor.num_threads()
    }
}

/// A computation of an engine with a priority, as one of the engine.
struct Inner<C>(C);

impl<E: Executor, C: Unattended<AtPriority<E>>> Unattended<E> for Inner<C> {
    fn begin<'s>(&'s mut self, scope: &E::Scope<'s>) {
        self.0.begin(scope);
    }

    fn end(self, end: SpawnedOutcome<()>) {
        self.0.end(end);
    }
}
