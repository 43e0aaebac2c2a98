//! The loop of a search, in three variants, and the choice of the fastest one.
//!
//! Two variants end right at the hit. They have a branch per item, so no compiler turns them into vector instructions.
//! *Inside*, the iterator has the loop (`find_map`), and can have one for each part of a `chain`. *One by one*, the loop
//! is here, and ends behind `next`: what the predicate reads stays in registers, which halves the time of a search for
//! a position. *In groups* the search looks at [`GROUP`] items and only then checks for a hit among them. Simple
//! predicates become vector code, twice as fast and more. But a predicate that mostly ends at its first test must now do
//! all tests. The types do not tell which variant is best. So the search times all of them on its first long loops, and
//! keeps the best one.
//!
//! # Invariants
//!
//! 1. Every item is searched at most once, in order. Behind a hit, fewer than [`GROUP`] further items are searched.
//! 2. Groups are made only of loops of [`LONG`] items and more. Steps are that long only if they end within some
//!    100 µs. So searching in vain costs less than 2 µs, and a short or a slow search ends right at its hit.
//! 3. The trials affect only the time. All variants find the same hit.

use furcate_pool::sync::clock::Instant;
use furcate_pool::sync::machine::atomic::{AtomicU32, Ordering};

/// Number of items in a group.
const GROUP: usize = 16;

/// Least number of items of a loop that is worth groups (invariant 2).
const LONG: usize = 1024;

/// Number of trial loops, by turns of the variants. The best time of each variant counts, so that one disturbed
/// loop does not decide.
const TRIALS: u32 = 9;

/// Number of variants.
const WAYS: usize = 3;

/// Indices of the variants.
const INSIDE: usize = 0;
const ONE_BY_ONE: usize = 1;
const IN_GROUPS: usize = 2;

/// State that all tasks of a search share about its loops.
#[derive(Debug)]
pub(crate) struct SearchLoop {
    /// Number of trials that have begun.
    trials: AtomicU32,
    /// Best time of each variant, in picoseconds per item.
    best: [AtomicU32; WAYS],
}

impl SearchLoop {
    pub(crate) const fn new() -> Self {
        SearchLoop { trials: AtomicU32::new(0), best: [const { AtomicU32::new(u32::MAX) }; WAYS] }
    }

    /// Returns the first hit among some items, or the last one.
    #[inline]
    pub(crate) fn search<const LAST: bool, T, H, I, F>(&self, items: I, search: F) -> Option<H>
    where
        I: Iterator<Item = T>,
        F: Fn(T) -> Option<H>,
    {
        // A group lies on the stack. Large items gain nothing from a group, because moving them costs too much.
        const SMALL: usize = 32;
        let len = items.size_hint().0;
        if size_of::<T>() > SMALL || size_of::<Option<H>>() > SMALL || len < LONG {
            return inside::<LAST, _, _, _, _>(items, search);
        }
        // Relaxed, here and below: only the time depends on these values (invariant 3).
        if self.trials.load(Ordering::Relaxed) < TRIALS {
            let way = self.trials.fetch_add(1, Ordering::Relaxed) as usize % WAYS;
            let begun = Instant::now();
            let hit = go::<LAST, _, _, _, _>(way, items, search);
            if hit.is_none() || LAST {
                let time = begun.elapsed().as_nanos() * 1000 / len as u128;
                self.best[way].fetch_min(u32::try_from(time).unwrap_or(u32::MAX), Ordering::Relaxed);
            }
            return hit;
        }
        go::<LAST, _, _, _, _>(self.best(), items, search)
    }

    /// Returns the best variant, by the times so far.
    #[inline]
    fn best(&self) -> usize {
        // Of equal ones the first.
        let time = |way: &usize| self.best[*way].load(Ordering::Relaxed);
        (INSIDE..WAYS).min_by_key(time).unwrap_or(INSIDE)
    }
}

#[inline]
fn go<const LAST: bool, T, H, I, F>(way: usize, items: I, search: F) -> Option<H>
where
    I: Iterator<Item = T>,
    F: Fn(T) -> Option<H>,
{
    match way {
        IN_GROUPS => in_groups::<LAST, _, _, _, _>(items, search),
        ONE_BY_ONE => one_by_one::<LAST, _, _, _, _>(items, search),
        _ => inside::<LAST, _, _, _, _>(items, search),
    }
}

#[inline]
fn inside<const LAST: bool, T, H, I, F>(mut items: I, search: F) -> Option<H>
where
    I: Iterator<Item = T>,
    F: Fn(T) -> Option<H>,
{
    if LAST {
        return items.fold(None, |last, item| search(item).or(last));
    }
    let hit = items.find_map(search);
    // Dropped before the return value is made: a panic in this drop would leak that value.
    drop(items);
    hit
}

/// Not inlined, as [`in_groups`].
#[inline(never)]
fn one_by_one<const LAST: bool, T, H, I, F>(mut items: I, search: F) -> Option<H>
where
    I: Iterator<Item = T>,
    F: Fn(T) -> Option<H>,
{
    let (mut item, mut found) = (items.next(), None);
    while let Some(this) = item {
        if let Some(hit) = search(this) {
            found = Some(hit);
            if !LAST {
                break;
            }
        }
        item = items.next();
    }
    drop(items); // as above
    found
}

/// Not inlined into the loop's caller: the loop decides the time, and needs the registers for itself.
#[inline(never)]
fn in_groups<const LAST: bool, T, H, I, F>(mut items: I, search: F) -> Option<H>
where
    I: Iterator<Item = T>,
    F: Fn(T) -> Option<H>,
{
    let mut last = None;
    while items.size_hint().0 >= GROUP {
        let group: [T; GROUP] = std::array::from_fn(|_| {
            items.next().expect("an iterator has at least as many items as its size_hint says")
        });
        let hits = group.map(&search);
        // All of them are checked: a loop that ends early would not be vector code.
        if hits.iter().fold(false, |any, hit| any | hit.is_some()) {
            let mut hits = hits.into_iter().flatten();
            if LAST {
                last = hits.next_back();
            } else {
                let hit = hits.next();
                drop((hits, items)); // as above
                return hit;
            }
        }
    }
    let rest = inside::<LAST, _, _, _, _>(items, search);
    if LAST { rest.or(last) } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// All variants, for lengths around the group length, with hits at every few places.
    #[test]
    fn every_way_finds_the_same() {
        for len in [0, 1, 15, 16, 17, 31, 32, 33, 100] {
            for first in 0..=len {
                for last in first..=len {
                    let hits = |x: usize| (x == first || x == last).then_some(x);
                    let expected = (0..len).find_map(hits);
                    for way in 0..WAYS {
                        assert_eq!(go::<false, _, _, _, _>(way, 0..len, hits), expected);
                    }
                    let expected = (0..len).rev().find_map(hits);
                    for way in 0..WAYS {
                        assert_eq!(go::<true, _, _, _, _>(way, 0..len, hits), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn items_are_searched_once_and_few_behind_a_hit() {
        for hit in 0..100 {
            let seen = RefCell::new(vec![]);
            let found = in_groups::<false, _, _, _, _>(0..100, |x| {
                seen.borrow_mut().push(x);
                (x == hit).then_some(x)
            });
            let seen = seen.into_inner();
            assert_eq!(found, Some(hit));
            assert!(
                seen.iter().copied().eq(0..seen.len()) && (hit + 1..hit + 1 + GROUP).contains(&seen.len())
            );
        }
    }

    /// Iterators that do not know their length, or report less, are searched to their end.
    #[test]
    fn the_rest_is_searched() {
        let unknown = (0..100).filter(|x| x % 2 == 0);
        assert_eq!(in_groups::<false, _, _, _, _>(unknown, |x| (x == 98).then_some(x)), Some(98));
        let more = (0..40).chain((40..100).filter(|_| true));
        assert_eq!(in_groups::<true, _, _, _, _>(more, |x| (x == 99 || x == 3).then_some(x)), Some(99));
    }

    #[test]
    fn short_loops_are_not_tried_and_long_ones_are_until_all_is_known() {
        let search = SearchLoop::new();
        let none = |_: usize| None::<usize>;
        assert_eq!(search.search::<false, _, _, _, _>(0..LONG - 1, none), None);
        assert_eq!(search.trials.load(Ordering::Relaxed), 0);
        for _ in 0..20 {
            assert_eq!(search.search::<false, _, _, _, _>(0..LONG, none), None);
        }
        assert_eq!(search.trials.load(Ordering::Relaxed), TRIALS);
        assert!(search.best.iter().all(|best| best.load(Ordering::Relaxed) < u32::MAX));
        // Large items are never moved into groups.
        let search = SearchLoop::new();
        search.search::<false, _, _, _, _>((0..LONG).map(|x| [x; 5]), |_| None::<()>);
        assert_eq!(search.trials.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_best_way_wins_and_what_is_unknown_does_not() {
        let with =
            |best: [u32; WAYS]| SearchLoop { trials: AtomicU32::new(TRIALS), best: best.map(AtomicU32::new) };
        assert_eq!(with([3, 3, 2]).best(), IN_GROUPS);
        assert_eq!(with([3, 2, 3]).best(), ONE_BY_ONE);
        assert_eq!(with([3, 2, 2]).best(), ONE_BY_ONE);
        assert_eq!(with([2, 2, 2]).best(), INSIDE);
        assert_eq!(with([2, u32::MAX, u32::MAX]).best(), INSIDE);
        assert_eq!(SearchLoop::new().best(), INSIDE);
    }
}
