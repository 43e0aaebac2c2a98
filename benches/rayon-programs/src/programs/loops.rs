//! Numeric loops.

use crate::random::{Random, mix, mix_often};
use crate::{Case, Size};
use rayon::prelude::*;

/// Bound by computing.
pub(super) fn sum(size: Size) -> Case {
    let count: u64 = size.pick(200_000_000, 100_000);
    Case::of((0..count).map(mix).fold(0, u64::wrapping_add), move || {
        (0..count).into_par_iter().map(mix).reduce(|| 0, u64::wrapping_add)
    })
}

/// Bound by memory.
pub(super) fn dot(size: Size) -> Case {
    let mut random = Random(8);
    let count = size.pick(20_000_000, 100_000);
    let mut vector = || (0..count).map(|_| random.below(1000)).collect::<Vec<_>>();
    let (a, b) = (vector(), vector());
    const TIMES: usize = 8;
    let expected: u64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
    Case::of(vec![expected; TIMES], move || {
        (0..TIMES).map(|_| a.par_iter().zip(&b).map(|(a, b)| a * b).sum::<u64>()).collect()
    })
}

/// A few items take most of the time.
pub(super) fn uneven(size: Size) -> Case {
    let count: u64 = size.pick(200_000, 2000);
    let f = |i: u64| mix_often(i, if mix(i).is_multiple_of(1000) { 200_000 } else { 100 });
    Case::of((0..count).map(f).fold(0, u64::wrapping_add), move || {
        (0..count).into_par_iter().map(f).reduce(|| 0, u64::wrapping_add)
    })
}

/// A short loop in each turn of a loop.
pub(super) fn nested(size: Size) -> Case {
    let (outer, inner) = (size.pick(20_000_u64, 100), 1000_u64);
    let item = move |i: u64, k: u64| mix(i * inner + k);
    let expected = (0..outer * inner).map(mix).fold(0, u64::wrapping_add);
    Case::of(expected, move || {
        (0..outer)
            .into_par_iter()
            .map(|i| (0..inner).into_par_iter().map(|k| item(i, k)).reduce(|| 0, u64::wrapping_add))
            .reduce(|| 0, u64::wrapping_add)
    })
}
