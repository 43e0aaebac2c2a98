//! Maps and collections.

use crate::random::{Random, mix, mix_often};
use crate::{Case, Size};
use rayon::prelude::*;
use std::collections::HashMap;

fn numbers(size: Size, full: usize) -> Vec<u64> {
    Random(7).numbers(size.pick(full, 30_000))
}

pub(super) fn map(size: Size) -> Case {
    let numbers = numbers(size, 8_000_000);
    let f = |x: &u64| mix_often(*x, 8);
    Case::of(numbers.iter().map(f).collect::<Vec<_>>(), move || numbers.par_iter().map(f).collect())
}

pub(super) fn filter(size: Size) -> Case {
    let numbers = numbers(size, 8_000_000);
    let f = |x: &u64| mix_often(*x, 4).is_multiple_of(3);
    Case::of(numbers.iter().copied().filter(f).collect::<Vec<_>>(), move || {
        numbers.par_iter().copied().filter(f).collect()
    })
}

pub(super) fn flat_map(size: Size) -> Case {
    let numbers = numbers(size, 2_000_000);
    let f = |x: &u64| {
        let x = *x;
        (0..x % 8).map(move |i| mix(x + i))
    };
    Case::of(numbers.iter().flat_map(f).collect::<Vec<_>>(), move || {
        numbers.par_iter().flat_map_iter(f).collect()
    })
}

pub(super) fn hash_map(size: Size) -> Case {
    let numbers = numbers(size, 800_000);
    let f = |x: &u64| (mix(*x), *x);
    Case::of(numbers.iter().map(f).collect::<HashMap<_, _>>(), move || numbers.par_iter().map(f).collect())
}

/// A histogram per task, added up.
pub(super) fn histogram(size: Size) -> Case {
    const PLACES: usize = 256;
    fn count(mut counts: Vec<u64>, x: &u64) -> Vec<u64> {
        counts[mix_often(*x, 4) as usize % PLACES] += 1;
        counts
    }
    let numbers = numbers(size, 20_000_000);
    let none = || vec![0; PLACES];
    Case::of(numbers.iter().fold(none(), count), move || {
        numbers.par_iter().fold(none, count).reduce(none, |mut a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        })
    })
}
