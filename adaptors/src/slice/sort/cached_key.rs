//! Sorting by keys that are computed once.

use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator,
};
use crate::slice::ParallelSliceMut;
use std::mem::replace;

/// Sorts a slice stably by keys, each computed once and in parallel.
#[track_caller]
pub(crate) fn sort_by_cached_key<T, K, F>(slice: &mut [T], key: F)
where
    T: Send,
    K: Ord + Send,
    F: Fn(&T) -> K + Sync,
{
    if slice.len() < 2 {
        return;
    }
    // If keys are small, indices are half of the moved data. So indices are no larger than necessary.
    if u32::try_from(slice.len()).is_ok() {
        by_index::<_, _, u32>(slice, key, |index| index as u32, |index| index as usize);
    } else {
        by_index::<_, _, usize>(slice, key, |index| index, |index| index);
    }
}

#[track_caller]
fn by_index<T, K, I>(
    slice: &mut [T],
    key: impl Fn(&T) -> K + Sync,
    narrow: impl Fn(usize) -> I + Sync,
    widen: impl Fn(I) -> usize,
) where
    T: Send,
    K: Ord + Send,
    I: Copy + Ord + Send,
{
    let mut keyed: Vec<(K, I)> =
        slice.par_iter_mut().enumerate().map(|(index, element)| (key(element), narrow(index))).collect();
    // Stable: equal keys keep the order of their indices. No two pairs are equal, so an unstable sort will do.
    keyed.par_sort_unstable();
    // In parallel, as dropping keys may cost as much as making them.
    let mut order: Vec<I> = keyed.into_par_iter().map(|(_, index)| index).collect();
    // Element `order[i]` belongs at `i`. The loop walks once around each cycle of that permutation.
    for start in 0..slice.len() {
        let mut at = start;
        loop {
            let from = widen(replace(&mut order[at], narrow(at)));
            if from == start {
                break;
            }
            slice.swap(at, from);
            at = from;
        }
    }
}
