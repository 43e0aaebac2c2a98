//! Leaves: std's sorts, without their panic if an order contradicts itself.
//!
//! An order is often wrong by accident: `a.partial_cmp(b).unwrap_or(Equal)` is, where there is a NaN. Rayon's sorts then
//! leave some order. std's sorts may find the contradiction and panic, but only for elements without interior
//! mutability: for others they use simpler loops for short parts, which do not notice. So a leaf that has panicked in this way is sorted
//! once more as elements with interior mutability.
//!
//! The panic is made and caught, so the panic hook tells the user of the wrong order; and a program that aborts at panics aborts.

#![allow(unsafe_code)]

use std::any::Any;
use std::cell::UnsafeCell;
use std::cmp::Ordering::{self, Greater, Less};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// An element of which std does not know that it has no interior mutability.
#[repr(transparent)]
struct Veiled<T>(T, UnsafeCell<()>);

fn veil<T>(slice: &mut [T]) -> &mut [Veiled<T>] {
    // SAFETY: `Veiled<T>` is `T` with a field of size zero, and `repr(transparent)`.
    unsafe { &mut *(std::ptr::from_mut(slice) as *mut [Veiled<T>]) }
}

fn compare<'a, T>(is_less: impl Fn(&T, &T) -> bool + 'a) -> impl Fn(&Veiled<T>, &Veiled<T>) -> Ordering + 'a {
    // std asks for `Less` only.
    move |a, b| if is_less(&a.0, &b.0) { Less } else { Greater }
}

/// Sorts by std's stable sort `sort`. If that finds that `is_less`, the same order, contradicts itself, leaves some order.
pub(super) fn stable<T>(slice: &mut [T], is_less: impl Fn(&T, &T) -> bool, sort: impl Fn(&mut [T])) {
    if finds_contradiction(|| sort(slice)) {
        veil(slice).sort_by(compare(is_less));
    }
}

/// As [`stable`], with an unstable sort.
pub(super) fn unstable<T>(slice: &mut [T], is_less: impl Fn(&T, &T) -> bool, sort: impl Fn(&mut [T])) {
    if finds_contradiction(|| sort(slice)) {
        veil(slice).sort_unstable_by(compare(is_less));
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
                    if is_stable {
                        stable(&mut v, &is_less, sort)
                    } else {
                        unstable(&mut v, &is_less, sort)
                    }
                    contradictions += usize::from(panics.get());
                    v.sort_unstable();
                    assert!(v.into_iter().eq(0..len));
                }
            }
        }
        assert!(contradictions > 100, "std has found only {contradictions}; has its panic another text?");
    }

    #[test]
    fn other_panics_go_on() {
        let mut v = [3, 1, 2];
        let panics = catch_unwind(AssertUnwindSafe(|| {
            stable(
                &mut v,
                |_, _| resume_unwind(Box::new("mine")),
                |v| v.sort_by(|_, _| resume_unwind(Box::new("mine"))),
            );
        }));
        assert_eq!(panics.unwrap_err().downcast_ref(), Some(&"mine"));
    }
}
