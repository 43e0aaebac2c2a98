//! Appending the vectors of many leaves to one vector, in parallel.
//!
//! # Invariants
//!
//! 1. The room of a list is as long as the list, and no two rooms overlap: room and lists are parted at the same places.
//! 2. A list that has been moved is empty. So no element has two owners: at first its list owns an element, and once the vector's length
//!    has grown, the vector. (If an engine panics, elements that have been moved leak.)
//! 3. The vector's length grows only if all lists have been moved: as many elements as there is room for.
#![allow(unsafe_code)]

use furcate_pool::Executor;
use std::mem::{MaybeUninit, take};
use std::ptr::copy_nonoverlapping;

/// Number of bytes above which moving in parallel pays: a fork that is stolen costs some microseconds.
const LARGE: usize = 1 << 18;

/// Whether so many elements are worth several threads.
pub(super) fn is_large<T>(len: usize) -> bool {
    len.saturating_mul(size_of::<T>()) >= LARGE
}

/// Appends all lists, in order.
pub(super) fn append_in_parallel<T: Send, E: Executor>(vec: &mut Vec<T>, lists: &mut [Vec<T>], executor: &E) {
    let len = total(lists);
    vec.reserve(len);
    let moved = move_all(lists, &mut vec.spare_capacity_mut()[..len], executor);
    assert!(moved == len, "an engine has run only one side of a fork");
    // SAFETY: all of the room has been filled (invariant 3).
    unsafe { vec.set_len(vec.len() + len) };
}

fn total<T>(lists: &[Vec<T>]) -> usize {
    lists.iter().map(Vec::len).sum()
}

/// Moves all elements to the room, and returns their number.
fn move_all<T: Send, E: Executor>(lists: &mut [Vec<T>], room: &mut [MaybeUninit<T>], executor: &E) -> usize {
    match lists {
        [] => 0,
        [list] => {
            let list = &mut take(list);
            let len = list.len();
            assert!(len == room.len());
            // SAFETY: both have the length, and the vector's buffer is not the room's (invariant 1). The list gives the elements up
            // (invariant 2).
            unsafe {
                list.set_len(0);
                copy_nonoverlapping(list.as_ptr(), room.as_mut_ptr().cast(), len);
            }
            len
        }
        _ => {
            let (left, right) = lists.split_at_mut(lists.len() / 2);
            let (left_room, right_room) = room.split_at_mut(total(left));
            let (left, right) = executor.join_context(
                |_| move_all(left, left_room, executor),
                |_| move_all(right, right_room, executor),
            );
            left + right
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furcate_pool::{Inline, ThreadPoolBuilder};
    use std::sync::Arc;

    #[test]
    fn lists_are_appended_in_order_and_nothing_is_lost() {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let alive = Arc::new(());
        for lengths in [&[][..], &[0], &[3], &[0, 0, 5, 1], &[1; 17], &[1000, 0, 1, 20_000, 3]] {
            let mut number = 0..;
            let mut lists = || -> Vec<Vec<(usize, Arc<()>)>> {
                let list =
                    |len: &usize| number.by_ref().take(*len).map(|x| (x, Arc::clone(&alive))).collect();
                lengths.iter().map(list).collect()
            };
            let mut vec = vec![(usize::MAX, Arc::clone(&alive))];
            let (mut first, mut second) = (lists(), lists());
            append_in_parallel(&mut vec, &mut first, &Inline);
            append_in_parallel(&mut vec, &mut second, &&pool);
            assert!(vec[1..].iter().map(|element| element.0).eq(0..2 * lengths.iter().sum::<usize>()));
            assert_eq!(Arc::strong_count(&alive), vec.len() + 1);
            assert!(first.iter().chain(&second).all(Vec::is_empty));
            drop(vec);
            assert_eq!(Arc::strong_count(&alive), 1);
        }
    }
}
