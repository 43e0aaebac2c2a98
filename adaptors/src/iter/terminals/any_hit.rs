//! `find_any` and similar searches: any hit ends the search everywhere.

use super::SearchLoop;
use crate::iter::flag::Flag;
use furcate_schedulers::{Ends, Reduction};
use std::ops::ControlFlow;

/// Ends with the first `Some`, in time, that `search` returns for an item of any task.
#[derive(Debug)]
pub(crate) struct AnyHit<F> {
    search: F,
    /// Whether a task has found a hit.
    found: Flag,
    search_loop: SearchLoop,
}

impl<F> AnyHit<F> {
    pub(crate) fn new(search: F) -> Self {
        AnyHit { search, found: Flag::default(), search_loop: SearchLoop::new() }
    }
}

impl<T, H, F> Reduction<T> for &AnyHit<F>
where
    H: Send,
    F: Fn(T) -> Option<H> + Sync,
{
    type Accumulator = Option<H>;
    type Output = Option<H>;

    const ENDS: Ends = Ends { search: true, ..Ends::ALL };

    #[inline]
    fn start(&self) -> Option<H> {
        None
    }

    #[inline]
    fn fold_item(&self, nothing: Option<H>, item: T) -> ControlFlow<Option<H>, Option<H>> {
        self.fold_step(nothing, std::iter::once(item))
    }

    #[inline]
    fn fold_step<I: Iterator<Item = T>>(
        &self,
        _nothing: Option<H>,
        items: I,
    ) -> ControlFlow<Option<H>, Option<H>> {
        match self.search_loop.search::<false, _, _, _, _>(items, &self.search) {
            None => ControlFlow::Continue(None),
            hit => {
                self.found.raise();
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
        self.found.is_raised()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_hit_stops_everybody_and_is_final() {
        let one = &AnyHit::new(|x: u32| (x == 3).then_some(x));
        let other = one;
        assert_eq!(one.fold(None, 0..3), None);
        assert!(!Reduction::<u32>::is_final(&one, &None) && !Reduction::<u32>::stopped(&other));
        assert_eq!(one.fold(None, 0..9), Some(3));
        assert!(Reduction::<u32>::is_final(&one, &Some(3)) && Reduction::<u32>::stopped(&other));
    }
}
