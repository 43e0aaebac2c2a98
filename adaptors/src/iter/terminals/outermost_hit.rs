//! `find_first`, `find_last` and similar searches: the hit nearest to one end of the items.
//!
//! A hit makes everything *farther* from that end needless, and nothing else. So every task has a range of numbers that
//! stands for its place. The root has all numbers, and a division gives the lower half of them to the part nearer to
//! the end, the upper half to the other part. (One item of a task that continues gets only a few of them, because there
//! may be many such items.) A hit announces the last number of its task in a number that all tasks share ([`Nearest`]:
//! the least one counts). A task stops if its first number is greater.
//!
//! # Invariants
//!
//! 1. *Places.* No range is empty. Two tasks' ranges are nested if one task descends from the other. Else the two were
//!    parted at a division, and then either the nearer task's numbers are all less than the farther one's; or
//! 2. *Exhaustion*: that division had a single number left to give (at depth 64 at the earliest), gave it to both
//!    parts, and both tasks have exactly this number.
//! 3. *Only tasks behind the hit are stopped.* Let `a..b` be the range of a task when it announced a hit, and `c..d`
//!    that of a task that the hit stops: `c > b - 1`, so `c >= b > a`. Neither range then contains the other, and they
//!    are not equal: the tasks were parted at a division that had numbers for both, and `c..d` is the farther one. In
//!    particular equal places never stop each other: exhaustion costs needless work, never the right result.
//! 4. *A task that divides while it runs* (as under adaptive schedulers) and has announced a hit may still find a
//!    better hit, in the part that it keeps or in the part that it gives away. The announcement stops neither: both
//!    ranges are nested in the announced one (3).
//! 5. *The result is the outermost hit.* No hit lies nearer to the end, so its task is not stopped before it (3);
//!    within a task the items come in order; outputs are reduced in order, and of two hits the nearer one is kept.
//! 6. *Blocks*, run one after the other from that end on, may all have all numbers, each as a root of its own. A hit is
//!    announced only by a task that returns a hit. So with a hit the block's output is final, and no further block sees
//!    the announcement.

use super::SearchLoop;
use furcate_pool::sync::machine::atomic::{AtomicUsize, Ordering};
use furcate_schedulers::{Ends, Reduction};
use std::ops::{ControlFlow, Range};

/// State that all tasks of a search share.
#[derive(Debug)]
struct Nearest {
    /// The least number that a hit has announced.
    number: AtomicUsize,
    search_loop: SearchLoop,
}

impl Nearest {
    fn new() -> Self {
        Nearest { number: AtomicUsize::new(usize::MAX), search_loop: SearchLoop::new() }
    }

    #[inline]
    fn announce(&self, number: usize) {
        // Relaxed: the number only tells others that they may stop. The hit itself travels as a task's output, which
        // the executor hands over, so nothing is published through the number. The number never grows, because one
        // atomic has a single modification order and the update is one read-modify-write.
        self.number.fetch_min(number, Ordering::Relaxed);
    }

    #[inline]
    fn is_before(&self, number: usize) -> bool {
        // Relaxed: no other memory access depends on it. A number seen late is too great: the task then stops later
        // than it might.
        self.number.load(Ordering::Relaxed) < number
    }
}

/// Ends with the first `Some`, in the order of the items, that `search` returns.
pub(crate) type First<F> = Outermost<F, false>;

/// Ends with the last `Some`, in the order of the items, that `search` returns.
pub(crate) type Last<F> = Outermost<F, true>;

/// Ends with the `Some` that is nearest to the front, or to the back.
#[derive(Debug)]
pub(crate) struct Outermost<F, const BACK: bool> {
    search: F,
    nearest: Nearest,
}

impl<F, const BACK: bool> Outermost<F, BACK> {
    pub(crate) fn new(search: F) -> Self {
        Outermost { search, nearest: Nearest::new() }
    }

    pub(crate) fn reduction(&self) -> OutermostHit<'_, F, BACK> {
        OutermostHit::new(&self.search, &self.nearest)
    }
}

/// The reduction of [`Outermost`].
#[derive(Debug)]
pub(crate) struct OutermostHit<'a, F, const BACK: bool> {
    search: &'a F,
    nearest: &'a Nearest,
    place: Range<usize>,
}

impl<'a, F, const BACK: bool> OutermostHit<'a, F, BACK> {
    fn new(search: &'a F, nearest: &'a Nearest) -> Self {
        OutermostHit { search, nearest, place: 0..usize::MAX }
    }

    fn at(&self, place: Range<usize>) -> Self {
        OutermostHit { place, ..*self }
    }
}

impl<F, const BACK: bool> Clone for OutermostHit<'_, F, BACK> {
    #[inline]
    fn clone(&self) -> Self {
        self.at(self.place.clone())
    }
}

/// Parts a place in two, the nearer one first. One of the two gets `share` numbers, or the only number there is: the
/// nearer one if `of_nearer`, else the farther one (invariants 1 and 2).
#[inline]
fn parted(place: Range<usize>, share: usize, of_nearer: bool) -> (Range<usize>, Range<usize>) {
    if place.len() < 2 {
        return (place.clone(), place);
    }
    let middle = if of_nearer { place.start + share } else { place.end - share };
    (place.start..middle, middle..place.end)
}

/// Returns how many of so many numbers one item gets. The root's numbers are enough for 2^32 items and more (where
/// `usize` has 64 bits), each with as many numbers to divide.
#[inline]
fn share_of_item(numbers: usize) -> usize {
    (numbers >> (usize::BITS / 2)).max(1)
}

impl<T, H, F, const BACK: bool> Reduction<T> for OutermostHit<'_, F, BACK>
where
    H: Send,
    F: Fn(T) -> Option<H> + Sync,
{
    type Accumulator = Option<H>;
    type Output = Option<H>;

    const ENDS: Ends = Ends { search: true, backward: BACK, ..Ends::EARLY };

    #[inline]
    fn start(&self) -> Option<H> {
        None
    }

    #[inline]
    fn fold_item(&self, before: Option<H>, item: T) -> ControlFlow<Option<H>, Option<H>> {
        self.fold_step(before, std::iter::once(item))
    }

    #[inline]
    fn fold_step<I: Iterator<Item = T>>(
        &self,
        before: Option<H>,
        items: I,
    ) -> ControlFlow<Option<H>, Option<H>> {
        let search_loop = &self.nearest.search_loop;
        let hit = if BACK {
            search_loop.search::<true, _, _, _, _>(items, self.search)
        } else {
            search_loop.search::<false, _, _, _, _>(items, self.search)
        };
        let Some(hit) = hit else { return ControlFlow::Continue(before) };
        if before.is_none() {
            // Later hits of the task would announce the same number: dividing for the back keeps the last one.
            self.nearest.announce(self.place.end - 1);
        }
        if BACK { ControlFlow::Continue(Some(hit)) } else { ControlFlow::Break(Some(hit)) }
    }

    #[inline]
    fn finish(&self, hit: Option<H>) -> Option<H> {
        hit
    }

    #[inline]
    fn reduce(&self, left: Option<H>, right: Option<H>) -> Option<H> {
        if BACK { right.or(left) } else { left.or(right) }
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        let (near, far) = parted(self.place.clone(), self.place.len() / 2, true);
        if BACK { (self.at(far), self.at(near)) } else { (self.at(near), self.at(far)) }
    }

    /// Divides the place, with the item as the left part.
    #[inline]
    fn divide_item(self) -> (Self, Self) {
        let (near, far) = parted(self.place.clone(), share_of_item(self.place.len()), !BACK);
        if BACK { (self.at(far), self.at(near)) } else { (self.at(near), self.at(far)) }
    }

    /// True for a hit: no hit farther from the end can replace it.
    #[inline]
    fn is_final(&self, hit: &Option<H>) -> bool {
        hit.is_some()
    }

    #[inline]
    fn stopped(&self) -> bool {
        self.nearest.is_before(self.place.start)
    }
}

#[cfg(test)]
mod tests;
