//! Tables and maps of counts, and the sums of two of them.

use std::collections::HashMap;
use std::hash::Hash;
use std::mem;
use std::ops::AddAssign;

/// Counts how often each key below a bound occurs.
#[must_use]
pub fn count(keys: &[u32], bound: usize) -> Vec<u32> {
    let mut counts = vec![0; bound];
    for &key in keys {
        counts[key as usize] += 1;
    }
    counts
}

/// Adds two tables of counts.
#[must_use]
pub fn add(mut counts: Vec<u32>, others: Vec<u32>) -> Vec<u32> {
    counts.iter_mut().zip(others).for_each(|(count, other)| *count += other);
    counts
}

/// Adds the values of the smaller map to the larger one.
#[must_use]
pub fn merge<K: Eq + Hash, V: AddAssign + Default>(
    mut a: HashMap<K, V>,
    mut b: HashMap<K, V>,
) -> HashMap<K, V> {
    if a.len() < b.len() {
        mem::swap(&mut a, &mut b);
    }
    b.into_iter().for_each(|(key, value)| *a.entry(key).or_default() += value);
    a
}
