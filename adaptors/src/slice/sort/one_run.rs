//! Slices that are in order already, or in reverse, or in order except for a few elements.

use super::run::swap_parts;
use furcate_pool::Executor;
use std::mem::swap;

/// Number of elements that are checked first. For most slices that are not one run, these show it.
const SAMPLE_LEN: usize = 64;

/// Whether two neighbors belong to an ascending run. One closure for all functions here, so that what they call is compiled once.
fn ascend<T, L: Fn(&T, &T) -> bool>(is_less: &L) -> impl Fn(&T, &T) -> bool + '_ {
    |a, b| !is_less(b, a)
}

/// Whether two neighbors belong to a strictly descending run.
fn descend<T, L: Fn(&T, &T) -> bool>(is_less: &L) -> impl Fn(&T, &T) -> bool + '_ {
    |a, b| is_less(b, a)
}

/// Sorts a slice that is one run, ascending or strictly descending. If it is not one run, the slice is unchanged, and
/// the error is the place of the first element that comes before its left neighbor.
pub(super) fn settle<T, L, E>(slice: &mut [T], is_less: &L, grain: usize, executor: &E) -> Result<(), usize>
where
    T: Send,
    L: Fn(&T, &T) -> bool + Sync,
    E: Executor,
{
    let Some(descent) = first_break(slice, &ascend(is_less), grain, executor) else { return Ok(()) };
    if first_break(slice, &descend(is_less), grain, executor).is_some() {
        return Err(descent);
    }
    reverse_all(slice, grain, executor);
    Ok(())
}

/// Reverses a slice.
pub(super) fn reverse_all<T: Send, E: Executor>(slice: &mut [T], grain: usize, executor: &E) {
    let (front, back) = slice.split_at_mut(slice.len() / 2);
    let middle = back.len() - front.len();
    reverse(front, &mut back[middle..], grain, executor);
}

/// Runs that are shorter on average are left to std: its sort takes no longer than merges of so many runs.
const LONG_RUN: usize = 256;

/// Number of short runs that are allowed at the start of a slice.
const SHORT_RUNS: usize = 16;

/// Returns the ends of a slice's runs, as long as they are long on average. Descending runs are reversed, which keeps the order of equal
/// elements. What follows the last end is no long run.
pub(super) fn long_runs<T>(slice: &mut [T], is_less: &impl Fn(&T, &T) -> bool) -> Vec<usize> {
    let (mut ends, mut long) = (Vec::new(), 0);
    let mut start = 0;
    while start < slice.len() {
        if ends.len() > SHORT_RUNS + start / LONG_RUN {
            ends.truncate(long);
            return ends;
        }
        let rest = &mut slice[start..];
        let ascending = run_len(rest, &ascend(is_less));
        let length = if ascending > 1 {
            ascending
        } else {
            let descending = run_len(rest, &descend(is_less));
            rest[..descending].reverse();
            descending
        };
        start += length;
        ends.push(start);
        if length >= LONG_RUN {
            long = ends.len();
        }
    }
    ends
}

/// Returns the length of the run at the start of a slice that is not empty.
fn run_len<T>(slice: &[T], holds: &impl Fn(&T, &T) -> bool) -> usize {
    // A run has to show its length before whole blocks are compared.
    let sample = slice.len().min(SAMPLE_LEN);
    if let Some(place) = first_break_here(&slice[..sample], holds) {
        return place;
    }
    let unbroken = (sample - 1) + unbroken_blocks(&slice[sample - 1..], holds);
    first_break_here(&slice[unbroken..], holds).map_or(slice.len(), |place| unbroken + place)
}

/// Greatest number of misplaced elements that are put in their place one by one.
const FEW: usize = 8;

/// Sorts a slice that is ascending except for a few elements, and returns whether it was such a slice. `descent` is the
/// first place that shows a misplaced element. If the result is `false`, some elements may have moved. Stable: elements move only past
/// others that differ from them, also then.
///
/// The algorithm is the partial insertion sort of pdqsort (Peters 2021), with binary searches and rotations. If whole
/// runs are out of place, which would cost most and gain nothing, it gives up before anything moves.
///
/// Elements move by swaps and rotations, between comparisons. So the slice holds each of them once, whatever a
/// comparison does.
pub(super) fn settle_few<T, L, E>(
    slice: &mut [T],
    mut descent: usize,
    is_less: &L,
    grain: usize,
    executor: &E,
) -> bool
where
    T: Send,
    L: Fn(&T, &T) -> bool + Sync,
    E: Executor,
{
    // All elements before `descent` are sorted.
    let mut moved = 0;
    for _ in 0..FEW {
        // No more than two passes over the slice, except for the last element.
        if moved / 2 > slice.len() || runs_meet(slice, descent, is_less) {
            return false;
        }
        slice.swap(descent - 1, descent);
        let (front, back) = slice.split_at_mut(descent);
        moved += settle_last(front, is_less) + settle_first(back, is_less);
        let sorted = descent - 1;
        match first_break(&mut slice[sorted..], &ascend(is_less), grain, executor) {
            None => return true,
            Some(next) => descent = sorted + next,
        }
    }
    false
}

/// Sorts a slice that consists of two ascending runs of which the second comes first, and returns whether it was such a slice. The first
/// run ends at `descent`. If the result is `false`, the slice is unchanged.
pub(super) fn settle_swapped<T, L, E>(
    slice: &mut [T],
    descent: usize,
    is_less: &L,
    grain: usize,
    executor: &E,
) -> bool
where
    T: Send,
    L: Fn(&T, &T) -> bool + Sync,
    E: Executor,
{
    let ([first, .., last], true) = (&*slice, descent < slice.len()) else { return false };
    if is_less(first, last) || first_break(&mut slice[descent..], &ascend(is_less), grain, executor).is_some()
    {
        return false;
    }
    swap_parts(slice, descent, grain, executor);
    true
}

/// Whether two runs meet at a descent. Then more than a few elements on its right descend, or are too small for more
/// than a few on its left.
fn runs_meet<T>(slice: &[T], descent: usize, is_less: impl Fn(&T, &T) -> bool) -> bool {
    let (left, right) = slice.split_at(descent);
    let (Some(large), Some(small)) = (left.last(), right.first()) else { return false };
    if left.len() <= FEW || right.len() <= FEW {
        return false;
    }
    let (left, right) = (&left[left.len() - FEW - 1..], &right[..=FEW]);
    right.is_sorted_by(|a, b| is_less(b, a))
        || (right.iter().all(|x| is_less(x, large)) && left.iter().all(|x| is_less(small, x)))
}

/// Puts the last element in its place, all others being sorted. Returns how far it has moved.
fn settle_last<T>(slice: &mut [T], is_less: impl Fn(&T, &T) -> bool) -> usize {
    let [rest @ .., last] = &*slice else { return 0 };
    let place = rest.partition_point(|x| !is_less(last, x));
    let distance = rest.len() - place;
    slice[place..].rotate_right(1);
    distance
}

/// Puts the first element at the first place where it does not come after its right neighbor. Returns how far it has
/// moved.
fn settle_first<T>(slice: &mut [T], is_less: impl Fn(&T, &T) -> bool) -> usize {
    let [first, rest @ ..] = &*slice else { return 0 };
    let place = rest.iter().position(|x| !is_less(x, first)).unwrap_or(rest.len());
    slice[..=place].rotate_left(1);
    place
}

/// Returns the first place where `holds` is false for an element and its left neighbor.
fn first_break<T, F, E>(slice: &mut [T], holds: &F, grain: usize, executor: &E) -> Option<usize>
where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
    E: Executor,
{
    let sample = slice.len().min(SAMPLE_LEN);
    first_break_here(&slice[..sample], holds).or_else(|| first_break_of_parts(slice, holds, grain, executor))
}

fn first_break_of_parts<T, F, E>(slice: &mut [T], holds: &F, grain: usize, executor: &E) -> Option<usize>
where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
    E: Executor,
{
    if slice.len() <= grain.max(1) {
        let unbroken = unbroken_blocks(slice, holds);
        return first_break_here(&slice[unbroken..], holds).map(|place| unbroken + place);
    }
    let mid = slice.len() / 2;
    let (left, right) = slice.split_at_mut(mid);
    let (in_left, in_right) = executor.join_context(
        |_| first_break_of_parts(left, holds, grain, executor),
        |_| first_break_of_parts(right, holds, grain, executor),
    );
    in_left
        .or_else(|| (!holds(&slice[mid - 1], &slice[mid])).then_some(mid))
        .or_else(|| in_right.map(|place| mid + place))
}

fn first_break_here<T>(slice: &[T], holds: &impl Fn(&T, &T) -> bool) -> Option<usize> {
    slice.windows(2).position(|pair| !holds(&pair[0], &pair[1])).map(|left| left + 1)
}

/// Number of neighbors that are compared before the outcomes are looked at. The compiler compares numbers many at once.
const BLOCK: usize = 32;

/// Returns the place up to which whole blocks of neighbors have no break.
fn unbroken_blocks<T>(slice: &[T], holds: &impl Fn(&T, &T) -> bool) -> usize {
    let mut start = 0;
    while let Some((block, _)) = slice[start..].split_first_chunk::<{ BLOCK + 1 }>() {
        let mut all = true;
        for i in 0..BLOCK {
            all &= holds(&block[i], &block[i + 1]);
        }
        if !all {
            break;
        }
        start += BLOCK;
    }
    start
}

/// Swaps the first element in front with the last one behind, and so on. Both slices have the same length.
fn reverse<T: Send, E: Executor>(front: &mut [T], back: &mut [T], grain: usize, executor: &E) {
    let len = front.len();
    if len <= grain.max(1) {
        return front.iter_mut().zip(back.iter_mut().rev()).for_each(|(a, b)| swap(a, b));
    }
    let (outer_front, inner_front) = front.split_at_mut(len / 2);
    let (inner_back, outer_back) = back.split_at_mut(len - len / 2);
    executor.join_context(
        |_| reverse(outer_front, outer_back, grain, executor),
        |_| reverse(inner_front, inner_back, grain, executor),
    );
}

#[cfg(test)]
mod tests {
    use super::{FEW, settle, settle_few, settle_swapped};
    use crate::slice::sort::tests::random;
    use furcate_pool::Inline;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn runs_are_settled_and_nothing_else() {
        for len in 0..300_u32 {
            for grain in [1, 7, 64, 1000] {
                let settled = |v: &mut Vec<u32>| settle(v, &|a, b| a / 2 < b / 2, grain, &Inline).is_ok();
                let ascending: Vec<u32> = (0..len).collect();
                let mut v = ascending.clone();
                assert!(settled(&mut v) && v == ascending, "equal neighbours stay");
                let mut v: Vec<u32> = ascending.iter().rev().map(|x| 2 * x).collect();
                assert!(
                    settled(&mut v)
                        && v.iter().eq(ascending.iter().map(|x| 2 * x).collect::<Vec<_>>().iter())
                );
                if len < 3 {
                    continue;
                }
                let mut v: Vec<u32> = ascending.iter().rev().copied().collect();
                assert!(
                    !settled(&mut v) && v.is_sorted_by(|a, b| a > b),
                    "equal neighbours are not reversed"
                );
                for odd in [0, len / 2, len - 1] {
                    let mut v: Vec<u32> =
                        (0..len).map(|i| if i == odd { 2 * (len - i) + 5 } else { 10 * i }).collect();
                    let before = v.clone();
                    if !settled(&mut v) {
                        assert_eq!(v, before);
                    }
                    assert!(v == before || v.is_sorted());
                }
            }
        }
    }

    fn settled<T: Send>(v: &mut [T], is_less: impl Fn(&T, &T) -> bool + Sync, grain: usize) -> bool {
        match settle(v, &is_less, grain, &Inline) {
            Ok(()) => true,
            Err(descent) => settle_few(v, descent, &is_less, grain, &Inline),
        }
    }

    /// A settled slice is sorted, and one that is not settled has lost nothing. A few elements are settled wherever
    /// they come from.
    #[test]
    fn a_few_out_of_place_are_settled() {
        let mut refused = 0;
        for len in [1, 2, 3, 20, 50, 1000_usize] {
            for count in 0..30 {
                for grain in [1, 7, 2000] {
                    let mut next = random((len * 100 + count) as u64);
                    let mut v: Vec<usize> = (0..len).collect();
                    for _ in 0..count {
                        let x = v.remove(next() as usize % len);
                        v.insert(next() as usize % len, x);
                    }
                    let settled = settled(&mut v, |a, b| a < b, grain);
                    // Three elements cost no more than three passes over the slice, so they are never too many.
                    assert!(settled || count > 3, "{count} of {len}");
                    assert!(!settled || v.is_sorted());
                    refused += usize::from(!settled);
                    v.sort_unstable();
                    assert!(v.into_iter().eq(0..len));
                }
            }
        }
        assert!(refused > 50, "only {refused}");
    }

    /// Short distances cost little: `FEW` elements may be that close to their places, at the ends too.
    #[test]
    fn elements_at_the_ends_are_settled() {
        for few in 0..=FEW {
            for grain in [1, 100] {
                let behind = (0..1000).chain((0..few).map(|i| 990 - 7 * i));
                let before = (0..few).map(|i| 10 + 7 * i).chain(0..1000);
                for mut v in [behind.collect::<Vec<usize>>(), before.collect()] {
                    assert!(settled(&mut v, |a, b| a < b, grain) && v.is_sorted());
                }
            }
        }
    }

    /// I4: one element costs a pass over the slice and one over its distance, in either direction.
    #[test]
    fn one_out_of_place_takes_two_passes() {
        let len = 10_000;
        for (from, to) in [(0, len - 1), (len - 1, 0), (len / 3, len - 9), (len - 9, len / 3), (777, 778)] {
            let mut v: Vec<usize> = (0..len).collect();
            let x = v.remove(from);
            v.insert(to, x);
            let comparisons = AtomicUsize::new(0);
            let is_less = |a: &usize, b: &usize| {
                comparisons.fetch_add(1, SeqCst);
                a < b
            };
            assert!(settled(&mut v, is_less, 100) && v.is_sorted());
            let comparisons = comparisons.into_inner();
            assert!(comparisons <= 3 * len + 300, "{comparisons} comparisons, {from} to {to}");
        }
    }

    #[test]
    fn two_runs_in_the_wrong_order_are_swapped() {
        for len in 2..100_usize {
            for mid in 1..len {
                for grain in [1, 7, 1000] {
                    let mut v: Vec<usize> = (mid..len).chain(0..mid).collect();
                    let swapped =
                        |v: &mut Vec<usize>| settle_swapped(v, len - mid, &|a, b| a < b, grain, &Inline);
                    assert!(swapped(&mut v) && v.is_sorted());
                    assert!(!swapped(&mut v) && v.is_sorted(), "what is sorted stays");
                    // One more that is out of place, in the second run.
                    let mut v: Vec<usize> = (mid..len).chain(0..mid).collect();
                    if mid > 2 {
                        v.swap(len - 1, len - 2);
                        let before = v.clone();
                        assert!(!swapped(&mut v) && v == before);
                    }
                }
            }
        }
    }

    /// I4: a few elements with a long distance are left where they are, after three of them.
    #[test]
    fn long_ways_have_an_end() {
        let n = 10_000;
        let mut v: Vec<usize> = (n..n + FEW).chain(0..n).collect();
        let comparisons = AtomicUsize::new(0);
        let is_less = |a: &usize, b: &usize| {
            comparisons.fetch_add(1, SeqCst);
            a < b
        };
        assert!(!settle_few(&mut v, FEW, &is_less, 100, &Inline));
        assert!(v[FEW..].iter().copied().eq((3..n).chain(n + FEW - 3..n + FEW)), "three are in their place");
        let comparisons = comparisons.into_inner();
        assert!(comparisons <= 3 * n + 300, "{comparisons} comparisons");
    }

    /// If whole runs meet, nothing moves, and only a few comparisons are repeated.
    #[test]
    fn runs_out_of_place_stay() {
        let n = 1000;
        let halves: Vec<usize> = (n / 2..n).chain(0..n / 2).collect();
        let saw: Vec<usize> = (0..n).map(|i| i % 100).collect();
        let pipe: Vec<usize> = (0..n).map(|i| i.min(n - i)).collect();
        let tail: Vec<usize> = (0..n).chain((0..50).map(|i| i * 7919 % 500)).collect();
        for v in [halves, saw, pipe, tail] {
            let mut w = v.clone();
            let descent = settle(&mut w, &|a, b| a < b, 10, &Inline).unwrap_err();
            assert!(v[descent] < v[descent - 1] && v[..descent].is_sorted());
            let comparisons = AtomicUsize::new(0);
            let is_less = |a: &usize, b: &usize| {
                comparisons.fetch_add(1, SeqCst);
                a < b
            };
            assert!(!settle_few(&mut w, descent, &is_less, 10, &Inline));
            assert!(v == w && comparisons.into_inner() <= 3 * FEW + 3);
        }
    }

    /// Elements need not be `Sync`, and random ones are compared only up to the first disorder.
    #[test]
    fn disorder_is_noticed_at_once() {
        let comparisons = AtomicUsize::new(0);
        let mut v: Vec<Cell<usize>> = (0..100_000).map(|i| Cell::new(i * 7919 % 10_007)).collect();
        let is_less = |a: &Cell<usize>, b: &Cell<usize>| {
            comparisons.fetch_add(1, SeqCst);
            a.get() < b.get()
        };
        let descent = settle(&mut v, &is_less, 100, &Inline).unwrap_err();
        assert!(comparisons.swap(0, SeqCst) < 10);
        assert!(!settle_few(&mut v, descent, &is_less, 100, &Inline));
        assert!(comparisons.into_inner() < 30 * FEW);
    }
}
