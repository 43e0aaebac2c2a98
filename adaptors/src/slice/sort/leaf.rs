//! Leaves: std's sorts, without their panic if an order contradicts itself.
//!
//! An order is often wrong by accident: `a.partial_cmp(b).unwrap_or(Equal)` is, where there is a NaN. Rayon's sorts then leave some order.
//! std's sorts may find the contradiction and panic, and where panics abort, that is the end of the program. They find it in one place: in
//! the branchless merges of their smallest parts. These are for types without interior mutability, as they copy an element before they
//! are done with comparing it. So a leaf is sorted as a slice of [cells](Element), which std sorts by insertion in the smallest parts, and
//! no contradiction is looked for. A test fails if a later std does otherwise.
//!
//! On integers and floats this takes 0.9 to 1.5 of the time, and on strings a few comparisons in a hundred more. So [std's own
//! orders](sort), which do not contradict themselves, have no cells.

#![allow(unsafe_code)]

use super::PARALLEL_LEN;
use std::any::type_name;
use std::cell::UnsafeCell;
use std::ops::Deref;

/// An element, as std's sorts see it.
#[repr(transparent)]
pub(in crate::slice) struct Element<T>(UnsafeCell<T>);

impl<T> Deref for Element<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: there is no way to change the content through a shared reference to the cell, and an exclusive reference to it is the
        // slice's.
        unsafe { &*self.0.get() }
    }
}

/// A leaf, as std's sorts are to see it.
pub(in crate::slice) fn elements<T>(leaf: &mut [T]) -> &mut [Element<T>] {
    // SAFETY: `Element` and `UnsafeCell` are `repr(transparent)`, so the layout is the same; and the borrow is exclusive.
    unsafe { &mut *(std::ptr::from_mut(leaf) as *mut [Element<T>]) }
}

/// Whether std alone sorts a slice by its elements' own order without the engine: the slice is short, and no code of a user's runs. To enter the engine takes
/// longer than to sort ten numbers.
#[inline]
pub(in crate::slice) fn is_enough<T>(slice: &[T]) -> bool {
    slice.len() < PARALLEL_LEN && has_std_order::<T>()
}

/// Sorts stably by the elements' own order.
pub(in crate::slice) fn sort<T: Ord>(leaf: &mut [T]) {
    if has_std_order::<T>() { leaf.sort() } else { elements(leaf).sort_by(|a, b| T::cmp(a, b)) }
}

/// Sorts in place by the elements' own order.
pub(in crate::slice) fn sort_unstable<T: Ord>(leaf: &mut [T]) {
    if has_std_order::<T>() {
        leaf.sort_unstable();
    } else {
        elements(leaf).sort_unstable_by(|a, b| T::cmp(a, b));
    }
}

/// Whether a type's order is std's own. A type of a user has its crate's name in its own. (std does not promise the text. With another
/// one, this would decide about speed, and about a panic that std's sorts document.)
fn has_std_order<T>() -> bool {
    matches!(
        type_name::<T>(),
        "u8" | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "usize"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "i128"
            | "isize"
            | "char"
            | "&str"
            | "alloc::string::String"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::cmp::Ordering::{Greater, Less};

    /// Pseudo-random answers, independent of the elements.
    fn random_order(seed: u64) -> impl Fn(&u64, &u64) -> std::cmp::Ordering {
        let state = Cell::new(seed * 2 + 1);
        move |_, _| {
            let mut x = state.get();
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            state.set(x);
            if x.count_ones().is_multiple_of(2) { Less } else { Greater }
        }
    }

    /// If one of std's sorts panics here, it looks for contradictions in sorts of cells, too.
    #[test]
    fn random_orders_lose_nothing_and_do_not_panic() {
        for seed in 0..200 {
            for len in [2, 20, 33, 200, 3000] {
                for is_stable in [true, false] {
                    let order = random_order(seed);
                    let mut v: Vec<u64> = (0..len).collect();
                    match is_stable {
                        true => elements(&mut v).sort_by(|a, b| order(a, b)),
                        false => elements(&mut v).sort_unstable_by(|a, b| order(a, b)),
                    }
                    v.sort_unstable();
                    assert!(v.into_iter().eq(0..len));
                }
            }
        }
    }

    #[test]
    fn std_orders_are_known() {
        assert!(has_std_order::<u32>() && has_std_order::<char>());
        assert!(has_std_order::<&str>() && has_std_order::<&'static str>() && has_std_order::<String>());
        assert!(
            !has_std_order::<Cell<u32>>() && !has_std_order::<(u32, u32)>() && !has_std_order::<&String>()
        );
    }
}
