//! Keeps the first of equal keys (PBBS: removeDuplicates).

use crate::blocks::{self, BLOCK, BUCKETS};
use crate::inputs;
use crate::program::{Program, equal, reads};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(super) const PROGRAM: Program = Program {
    name: "remove_duplicates",
    suite: "PBBS",
    what: "the distinct keys, in the order in which they first occur",
    unit: "keys",
    size: 1 << 22,
    quick: 1 << 18,
    schedule: "",
    why: "somewhat faster: the last filter makes a vector for each leaf of rayon, and one thread copies them all together, while furcate copies them in parallel; both libraries divide the buckets alike",
    source: include_str!("remove_duplicates.rs"),
    case: |size| {
        let keys = inputs::skewed_numbers(size, size as u32);
        reads(keys, [sequential::run, rayon::run, furcate::run], |keys, distinct| {
            let (mut sorted, mut expected) = (distinct.clone(), keys.clone());
            sorted.sort_unstable();
            expected.sort_unstable();
            expected.dedup();
            equal(&sorted, &expected)?;
            equal(distinct, &sequential::run(keys))
        })
    },
};

/// The keys of a block with their positions, by buckets. Equal keys are in the same bucket.
type Buckets = Vec<Vec<(u32, usize)>>;

fn distribute((number, block): (usize, &[u32])) -> Buckets {
    let positions = (0..block.len()).map(|place| (block[place], number * BLOCK + place));
    blocks::distribute(positions, |(key, _)| *key as usize % BUCKETS)
}

/// Marks the position of each key of a bucket where the key occurs first.
fn mark_first(bucket: usize, blocks: &[Buckets], is_first: &[AtomicBool]) {
    let mut seen = HashSet::new();
    for &(key, position) in blocks.iter().flat_map(|block| &block[bucket]) {
        if seen.insert(key) {
            is_first[position].store(true, Relaxed);
        }
    }
}

mod sequential {
    use std::collections::HashSet;

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        let mut seen = HashSet::new();
        keys.iter().copied().filter(|key| seen.insert(*key)).collect()
    }
}

mod rayon {
    use super::{BLOCK, BUCKETS, Buckets, distribute, mark_first};
    use rayon::prelude::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        let blocks: Vec<Buckets> = keys.par_chunks(BLOCK).enumerate().map(distribute).collect();
        let is_first: Vec<AtomicBool> = keys.iter().map(|_| AtomicBool::new(false)).collect();
        (0..BUCKETS).into_par_iter().for_each(|bucket| mark_first(bucket, &blocks, &is_first));

        let first = keys.par_iter().zip(&is_first).filter(|(_, is_first)| is_first.load(Relaxed));
        first.map(|(key, _)| *key).collect()
    }
}

mod furcate {
    use super::{BLOCK, BUCKETS, Buckets, distribute, mark_first};
    use furcate::prelude::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        let blocks: Vec<Buckets> = keys.par_chunks(BLOCK).enumerate().map(distribute).collect();
        let is_first: Vec<AtomicBool> = keys.iter().map(|_| AtomicBool::new(false)).collect();
        (0..BUCKETS).into_par_iter().for_each(|bucket| mark_first(bucket, &blocks, &is_first));

        let first = keys.par_iter().zip(&is_first).filter(|(_, is_first)| is_first.load(Relaxed));
        first.map(|(key, _)| *key).collect()
    }
}
