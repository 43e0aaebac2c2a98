//! Slices that are in order already, or in reverse.

use furcate_pool::Executor;
use std::mem::swap;

/// So many elements tell, for most slices that are not one run, that they are not.
const SAMPLE_LEN: usize = 64;

/// Sorts a slice that is one run, ascending or strictly descending; was it one? If not, it is as it was.
pub(super) fn settle<T, L, E>(slice: &mut [T], is_less: &L, grain: usize, executor: &E) -> bool
where
    T: Send,
    L: Fn(&T, &T) -> bool + Sync,
    E: Executor,
{
    let in_order = |a: &T, b: &T| !is_less(b, a);
    let in_reverse = |a: &T, b: &T| is_less(b, a);
    if is_run(slice, &in_order, grain, executor) {
        return true;
    }
    if !is_run(slice, &in_reverse, grain, executor) {
        return false;
    }
    let (front, back) = slice.split_at_mut(slice.len() / 2);
    let middle = back.len() - front.len();
    reverse(front, &mut back[middle..], grain, executor);
    true
}

/// Does this hold for all neighbours?
fn is_run<T, F, E>(slice: &mut [T], holds: &F, grain: usize, executor: &E) -> bool
where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
    E: Executor,
{
    slice[..slice.len().min(SAMPLE_LEN)].is_sorted_by(holds) && all_neighbours(slice, holds, grain, executor)
}

fn all_neighbours<T, F, E>(slice: &mut [T], holds: &F, grain: usize, executor: &E) -> bool
where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
    E: Executor,
{
    if slice.len() <= grain.max(1) {
        return slice.is_sorted_by(holds);
    }
    let mid = slice.len() / 2;
    let (left, right) = slice.split_at_mut(mid);
    let (in_left, in_right) = executor.join_context(
        |_| all_neighbours(left, holds, grain, executor),
        |_| all_neighbours(right, holds, grain, executor),
    );
    in_left && in_right && holds(&slice[mid - 1], &slice[mid])
}

/// Swaps the first element in front with the last one behind, and so on; both are of the same length.
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
    use super::settle;
    use furcate_pool::Inline;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn runs_are_settled_and_nothing_else() {
        for len in 0..300_u32 {
            for grain in [1, 7, 64, 1000] {
                let settled = |v: &mut Vec<u32>| settle(v, &|a, b| a / 2 < b / 2, grain, &Inline);
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

    /// Elements need not be `Sync`, and random ones are looked at no further than they are in order.
    #[test]
    fn disorder_is_noticed_at_once() {
        let comparisons = AtomicUsize::new(0);
        let mut v: Vec<Cell<usize>> = (0..100_000).map(|i| Cell::new(i * 7919 % 10_007)).collect();
        let is_less = |a: &Cell<usize>, b: &Cell<usize>| {
            comparisons.fetch_add(1, SeqCst);
            a.get() < b.get()
        };
        assert!(!settle(&mut v, &is_less, 100, &Inline));
        assert!(comparisons.load(SeqCst) < 10);
    }
}
