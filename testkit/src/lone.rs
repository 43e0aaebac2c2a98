//! An engine of one thread that counts more.

use furcate_pool::detach::Alone;
use furcate_pool::{Context, Executor};

/// Runs everything in the calling thread, the left part of each fork first.
#[derive(Clone, Copy, Debug)]
pub struct Lone {
    /// The number of threads that policies and schedulers are told.
    pub threads: usize,
    /// Whether every right part seems to be stolen, by a thief that runs it on top of this stack.
    pub stolen: bool,
}

impl Executor for Lone {
    type Scope<'scope> = Alone;

    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        body(&Alone)
    }

    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        (left(Context::new(false)), right(Context::new(self.stolen)))
    }

    fn num_threads(&self) -> usize {
        self.threads
    }
}
