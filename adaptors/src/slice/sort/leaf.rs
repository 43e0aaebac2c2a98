//! Leaves: std's sorts, without their panic if an order contradicts itself.
//!
//! An order is often wrong by accident: `a.partial_cmp(b).unwrap_or(Equal)` is, where there is a NaN. Rayon's sorts then
//! leave some order. std's sorts may find the contradiction and panic. They leave every element in the slice then, so the leaf is sorted
//! once more, by heapsort, which looks for no contradiction. It is the sort with the least code: that code is compiled for
//! every type that is sorted, and almost never runs.
//!
//! The panic is made and caught, so the panic hook tells the user of the wrong order; and a program that aborts at panics aborts.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Sorts by std's sort `sort`. If that finds that `is_less`, the same order, contradicts itself, leaves some order.
pub(super) fn sort_leaf<T>(slice: &mut [T], is_less: impl Fn(&T, &T) -> bool, sort: impl Fn(&mut [T])) {
    if finds_contradiction(|| sort(slice)) {
        heapsort(slice, is_less);
    }
}

/// Sorts in place, without an allocation, in O(n log n) comparisons whatever they say.
#[cold]
#[inline(never)]
fn heapsort<T>(slice: &mut [T], is_less: impl Fn(&T, &T) -> bool) {
    let len = slice.len();
    // First `parent` goes down over all parents, so that each subtree becomes a heap, its largest element on top. Then the
    // largest element of all goes behind the rest, again and again.
    for step in (0..len / 2 + len).rev() {
        let (mut parent, end) = match step.checked_sub(len) {
            Some(parent) => (parent, len),
            None => {
                slice.swap(0, step);
                (0, step)
            }
        };
        loop {
            let mut child = 2 * parent + 1;
            if child >= end {
                break;
            }
            if child + 1 < end && is_less(&slice[child], &slice[child + 1]) {
                child += 1;
            }
            if !is_less(&slice[parent], &slice[child]) {
                break;
            }
            slice.swap(parent, child);
            parent = child;
        }
    }
}

/// Whether std's sort panics because the order contradicts itself. Other panics go on.
fn finds_contradiction(sort: impl FnOnce()) -> bool {
    // Unwind-safe: after a panic std's sorts leave every element in the slice once, and nothing else is looked at.
    let Err(payload) = catch_unwind(AssertUnwindSafe(sort)) else { return false };
    if !is_contradiction(&*payload) {
        resume_unwind(payload);
    }
    true
}

/// Whether it is the payload of std's panic. (A comparison may panic with the same payload, if it sorts by a wrong order itself. It
/// panics again then, in the second sort.)
fn is_contradiction(payload: &(dyn Any + Send)) -> bool {
    let text = payload.downcast_ref::<&str>();
    text.is_some_and(|text| {
        text.starts_with("user-provided comparison function does not correctly implement")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::cmp::Ordering::{Greater, Less};

    /// Pseudo-random answers, independent of the elements.
    fn random_order(seed: u64) -> impl Fn(&u64, &u64) -> bool {
        let state = Cell::new(seed * 2 + 1);
        move |_, _| {
            let mut x = state.get();
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            state.set(x);
            x.count_ones().is_multiple_of(2)
        }
    }

    #[test]
    fn random_orders_lose_nothing_and_do_not_panic() {
        let mut contradictions = 0;
        for seed in 0..200 {
            for len in [2, 20, 33, 200, 3000] {
                for is_stable in [true, false] {
                    let is_less = random_order(seed);
                    let panics = Cell::new(true);
                    let sort = |v: &mut [u64]| {
                        let order = |a: &u64, b: &u64| if is_less(a, b) { Less } else { Greater };
                        if is_stable {
                            v.sort_by(order)
                        } else {
                            v.sort_unstable_by(order)
                        }
                        panics.set(false);
                    };
                    let mut v: Vec<u64> = (0..len).collect();
                    sort_leaf(&mut v, &is_less, sort);
                    contradictions += usize::from(panics.get());
                    v.sort_unstable();
                    assert!(v.into_iter().eq(0..len));
                }
            }
        }
        assert!(contradictions > 100, "std has found only {contradictions}; has its panic another text?");
    }

    #[test]
    fn heapsort_sorts() {
        for seed in 0..40_u64 {
            let len = seed * seed;
            let mut v: Vec<u64> =
                (0..len).map(|n| (n + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) % (len / 2 + 1)).collect();
            let mut sorted = v.clone();
            sorted.sort_unstable();
            heapsort(&mut v, |a, b| a < b);
            assert_eq!(v, sorted);
        }
    }

    #[test]
    fn other_panics_go_on() {
        let mut v = [3, 1, 2];
        let panics = catch_unwind(AssertUnwindSafe(|| {
            sort_leaf(
                &mut v,
                |_, _| resume_unwind(Box::new("mine")),
                |v| v.sort_by(|_, _| resume_unwind(Box::new("mine"))),
            );
        }));
        assert_eq!(panics.unwrap_err().downcast_ref(), Some(&"mine"));
    }
}
