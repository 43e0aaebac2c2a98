//! `find_any` and its kin: any hit ends the search everywhere.

use furcate_schedulers::Reduction;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Has anybody found something? It lies on the caller's stack; all tasks share it.
#[derive(Debug, Default)]
pub(crate) struct Found(AtomicBool);

impl Found {
    #[inline]
    fn announce(&self) {
        // Relaxed: the flag only says "you may stop". The hit itself travels as a task's output, which the executor
        // hands over, so nothing is published through the flag; who sees it late searches for longer.
        self.0.store(true, Ordering::Relaxed);
    }

    #[inline]
    fn is_announced(&self) -> bool {
        // Relaxed: as in `announce`, nothing is read on the strength of it.
        self.0.load(Ordering::Relaxed)
    }
}

/// Ends with the first thing that `search` makes of an item, in whichever task that is.
#[derive(Debug)]
pub(crate) struct AnyHit<'a, F> {
    pub(crate) search: &'a F,
    pub(crate) found: &'a Found,
}

impl<F> Clone for AnyHit<'_, F> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for AnyHit<'_, F> {}

impl<T, H, F> Reduction<T> for AnyHit<'_, F>
where
    H: Send,
    F: Fn(T) -> Option<H> + Sync,
{
    type Accumulator = Option<H>;
    type Output = Option<H>;

    const INTERRUPTIBLE: bool = true;

    #[inline]
    fn start(&self) -> Option<H> {
        None
    }

    #[inline]
    fn step(&self, _nothing: Option<H>, item: T) -> ControlFlow<Option<H>, Option<H>> {
        match (self.search)(item) {
            None => ControlFlow::Continue(None),
            hit => {
                self.found.announce();
                ControlFlow::Break(hit)
            }
        }
    }

    #[inline]
    fn finish(&self, hit: Option<H>) -> Option<H> {
        hit
    }

    #[inline]
    fn reduce(&self, left: Option<H>, right: Option<H>) -> Option<H> {
        left.or(right)
    }

    /// Any hit is as good as another.
    #[inline]
    fn is_final(&self, hit: &Option<H>) -> bool {
        hit.is_some()
    }

    #[inline]
    fn stopped(&self) -> bool {
        self.found.is_announced()
    }
}
