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
use furcate_schedulers::Reduction;
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// The end to which a search wants the nearest hit.
pub(crate) trait HitEnd: Copy + Send {
    /// Whether the end is the back.
    const IS_BACK: bool;
}

/// The end where the items begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Front;

/// The end where the items end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Back;

impl HitEnd for Front {
    const IS_BACK: bool = false;
}

impl HitEnd for Back {
    const IS_BACK: bool = true;
}

/// Ends with the first or the last `Some`, in the order of the items, that `search` returns.
#[derive(Debug)]
pub(crate) struct Outermost<E, F> {
    end: E,
    search: F,
    nearest: Nearest,
}

impl<E: HitEnd, F> Outermost<E, F> {
    pub(crate) fn new(end: E, search: F) -> Self {
        Outermost { end, search, nearest: Nearest::new() }
    }

    pub(crate) fn reduction(&self) -> OutermostHit<'_, E, F> {
        OutermostHit::new(self.end, &self.search, &self.nearest)
    }
}

/// The reduction of [`Outermost`].
#[derive(Debug)]
pub(crate) struct OutermostHit<'a, E, F> {
    search: &'a F,
    nearest: &'a Nearest,
    end: PhantomData<E>,
    place: Range<usize>,
}

impl<'a, E: HitEnd, F> OutermostHit<'a, E, F> {
    fn new(_end: E, search: &'a F, nearest: &'a Nearest) -> Self {
        OutermostHit { search, nearest, end: PhantomData, place: 0..usize::MAX }
    }

    fn at(&self, place: Range<usize>) -> Self {
        OutermostHit { place, ..*self }
    }
}

impl<E: HitEnd, F> Clone for OutermostHit<'_, E, F> {
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

impl<T, H, E, F> Reduction<T> for OutermostHit<'_, E, F>
where
    E: HitEnd,
    H: Send,
    F: Fn(T) -> Option<H> + Sync,
{
    type Accumulator = Option<H>;
    type Output = Option<H>;

    const INTERRUPTIBLE: bool = true;

    const SEARCH: bool = true;

    const BACKWARD: bool = E::IS_BACK;

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
        let hit = if E::IS_BACK {
            search_loop.search::<true, _, _, _, _>(items, self.search)
        } else {
            search_loop.search::<false, _, _, _, _>(items, self.search)
        };
        let Some(hit) = hit else { return ControlFlow::Continue(before) };
        if before.is_none() {
            // Later hits of the task would announce the same number: dividing for the back keeps the last one.
            self.nearest.announce(self.place.end - 1);
        }
        if E::IS_BACK { ControlFlow::Continue(Some(hit)) } else { ControlFlow::Break(Some(hit)) }
    }

    #[inline]
    fn finish(&self, hit: Option<H>) -> Option<H> {
        hit
    }

    #[inline]
    fn reduce(&self, left: Option<H>, right: Option<H>) -> Option<H> {
        if E::IS_BACK { right.or(left) } else { left.or(right) }
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        let (near, far) = parted(self.place.clone(), self.place.len() / 2, true);
        if E::IS_BACK { (self.at(far), self.at(near)) } else { (self.at(near), self.at(far)) }
    }

    /// Divides the place, with the item as the left part.
    #[inline]
    fn divide_item(self) -> (Self, Self) {
        let (near, far) = parted(self.place.clone(), share_of_item(self.place.len()), !E::IS_BACK);
        if E::IS_BACK { (self.at(far), self.at(near)) } else { (self.at(near), self.at(far)) }
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
