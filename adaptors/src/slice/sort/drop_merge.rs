//! Slices of which most elements are in order: drop-merge sort (Ernerfeldt 2016), in place.
//!
//! One pass keeps an ascending subsequence at the front, and drops the other elements behind it. The dropped ones are sorted, and
//! merged with the kept ones by rotations (SymMerge: Kim and Kutzner 2004). That takes O(n + k log n) comparisons and O(n log k) moves for k
//! dropped elements.
//!
//! Elements move by swaps, rotations and reversals only, between comparisons. So the slice holds each of them once, whatever a comparison
//! does.

/// Number of elements that are dropped in a row before the last kept element is dropped instead of them.
const IN_A_ROW: usize = 8;

/// Number of kept elements that are dropped for one that can be kept. More would not help: what follows is small, wherever it belongs.
const TAKEN_BACK: usize = 16;

/// One in so many elements may be dropped. They may all be at the front: a partition brings those there that are too large for their place.
const ONE_IN: usize = 64;

/// Number of elements that may be dropped in any slice.
const FEW: usize = 32;

/// Sorts a slice of which most elements are in ascending order, and returns whether it was such a slice. `sort` sorts the
/// others. If the result is `false`, the elements are in any order. Not stable.
pub(super) fn settle_most<T>(
    slice: &mut [T],
    is_less: &impl Fn(&T, &T) -> bool,
    sort: impl FnOnce(&mut [T]),
) -> bool {
    let Some(kept) = keep_ascending(slice, is_less) else { return false };
    sort(&mut slice[kept..]);
    merge_in_place(slice, kept, is_less);
    true
}

/// Brings an ascending subsequence to the front, and returns its length. `None` if too many elements are not in it.
fn keep_ascending<T>(slice: &mut [T], is_less: impl Fn(&T, &T) -> bool) -> Option<usize> {
    // `..kept` is ascending, `kept..next` are the dropped elements, and the last `row` of them were dropped since an element was kept.
    let (mut kept, mut next, mut row, mut taken_back) = (0, 0, 0, 0);
    let most = FEW + slice.len() / ONE_IN;
    while next < slice.len() {
        if kept == 0 || !is_less(&slice[next], &slice[kept - 1]) {
            slice.swap(kept, next);
            kept += 1;
            next += 1;
            (row, taken_back) = (0, 0);
        } else if row < IN_A_ROW || taken_back == TAKEN_BACK {
            next += 1;
            row += 1;
        } else {
            // The last kept element is the one that is out of place. Those that were dropped because of it are looked at once more; they are
            // where they were.
            kept -= 1;
            next -= row;
            row = 0;
            taken_back += 1;
        }
        if next - kept > most {
            return None;
        }
    }
    Some(kept)
}

/// Merges `..mid` and `mid..`, which is meant to be short.
fn merge_in_place<T>(slice: &mut [T], mid: usize, is_less: &impl Fn(&T, &T) -> bool) {
    let (left, right) = slice.split_at(mid);
    if left.is_empty() || right.is_empty() {
        return;
    }
    // The right run's middle element, and what comes before it, goes where it belongs in the left run.
    let middle = right.len() / 2;
    let place = left.partition_point(|x| !is_less(&right[middle], x));
    slice[place..=mid + middle].rotate_left(mid - place);
    let (front, rear) = slice.split_at_mut(place + middle);
    merge_in_place(front, place, is_less);
    // The first element is the right run's middle one, and no other comes before it.
    merge_in_place(&mut rear[1..], mid - place, is_less);
}

#[cfg(test)]
mod tests {
    use super::{keep_ascending, merge_in_place, settle_most};
    use crate::slice::sort::tests::{random, shapes};

    #[test]
    fn most_elements_in_order_are_settled_and_nothing_is_lost() {
        let mut settled = 0;
        for len in [0, 1, 2, 3, 63, 64, 65, 500, 5000] {
            for (number, shape) in shapes(len).into_iter().enumerate() {
                let mut v = shape.clone();
                let done = settle_most(&mut v, &|a, b| a < b, |rest| rest.sort_unstable());
                assert!(!done || v.is_sorted(), "shape {number} of {len}");
                let mut sorted = shape;
                sorted.sort_unstable();
                v.sort_unstable();
                assert_eq!(v, sorted, "shape {number} of {len}");
                settled += usize::from(done);
            }
        }
        assert!(settled > 40, "only {settled}");
    }

    /// Elements that are swapped at random places are settled; a random slice is given up soon.
    #[test]
    fn swapped_elements_are_settled() {
        let len = 10_000;
        let mut next = random(5);
        let mut v: Vec<usize> = (0..len).collect();
        for _ in 0..50 {
            v.swap(next() as usize % len, next() as usize % len);
        }
        let comparisons = std::cell::Cell::new(0);
        let is_less = |a: &usize, b: &usize| {
            comparisons.set(comparisons.get() + 1);
            a < b
        };
        assert!(settle_most(&mut v, &is_less, |rest| rest.sort_unstable()) && v.is_sorted());
        assert!(comparisons.get() < 2 * len, "{}", comparisons.get());
        let mut next = random(6);
        let mut v: Vec<u64> = (0..len).map(|_| next()).collect();
        let comparisons = std::cell::Cell::new(0);
        let is_less = |a: &u64, b: &u64| {
            comparisons.set(comparisons.get() + 1);
            a < b
        };
        assert!(!settle_most(&mut v, &is_less, |_| panic!("most are out of order")));
        assert!(comparisons.get() < len / 8, "{}", comparisons.get());
    }

    #[test]
    fn one_large_element_is_dropped_instead_of_all_that_follow() {
        let mut v: Vec<u32> = (0..1000).collect();
        v[100] = 5000;
        let kept = keep_ascending(&mut v, |a, b| a < b).unwrap();
        assert_eq!((kept, v[999]), (999, 5000));
    }

    /// A partition brings small elements from everywhere to the end of the front part.
    #[test]
    fn small_elements_at_the_end_are_dropped() {
        let mut next = random(8);
        let mut v: Vec<u64> = (0..20_000).chain((0..200).map(|_| next() % 20_000)).collect();
        let kept = keep_ascending(&mut v, |a, b| a < b).unwrap();
        assert!(kept > 19_900, "{kept}");
    }

    #[test]
    fn two_runs_are_merged_in_place() {
        for left in 0..30_usize {
            for right in 0..30 {
                let mut next = random((left * 100 + right) as u64);
                let mut v: Vec<u64> = (0..left + right).map(|_| next() % 40).collect();
                v[..left].sort_unstable();
                v[left..].sort_unstable();
                let mut sorted = v.clone();
                sorted.sort_unstable();
                merge_in_place(&mut v, left, &|a, b| a < b);
                assert_eq!(v, sorted);
            }
        }
    }

    #[test]
    fn an_inconsistent_order_ends_and_loses_nothing() {
        for seed in 0..200 {
            let state = std::cell::RefCell::new(random(seed));
            let mut v: Vec<usize> = (0..500).collect();
            settle_most(&mut v, &|_, _| (state.borrow_mut())() % (2 + seed % 40) == 0, |_| ());
            v.sort_unstable();
            assert!(v.into_iter().eq(0..500));
        }
    }
}
