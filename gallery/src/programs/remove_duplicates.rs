//! Keeps the first of equal keys (PBBS: removeDuplicates).

use crate::inputs;
use crate::program::{Program, equal, reads};
use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

pub(super) const PROGRAM: Program = Program {
    name: "remove_duplicates",
    suite: "PBBS",
    what: "the distinct keys, in the order in which they first occur",
    unit: "keys",
    size: 1 << 22,
    quick: 1 << 18,
    schedule: "",
    why: "there are many blocks and buckets of about equal length, so rayon divides them as well as furcate does",
    source: include_str!("remove_duplicates.rs"),
    case: |size| {
        let keys = inputs::skewed_numbers(size, size as u32);
        reads(keys, [sequential::run, rayon::run, furcate::run], |keys, distinct| {
            equal(distinct, &sequential::run(keys))
        })
    },
};

const BUCKETS: usize = 256;
const BLOCK: usize = 1 << 16;

/// The keys of a block with their positions, by buckets. Equal keys are in the same bucket.
type Buckets = Vec<Vec<(u32, usize)>>;

fn distribute((number, block): (usize, &[u32])) -> Buckets {
    let capacity = 2 * block.len() / BUCKETS;
    let mut buckets: Buckets = (0..BUCKETS).map(|_| Vec::with_capacity(capacity)).collect();
    for (key, position) in block.iter().zip(number * BLOCK..) {
        buckets[*key as usize % BUCKETS].push((*key, position));
    }
    buckets
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
    use super::{AtomicBool, BLOCK, BUCKETS, Buckets, Relaxed, distribute, mark_first};
    use rayon::prelude::*;

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        let blocks: Vec<Buckets> = keys.par_chunks(BLOCK).enumerate().map(distribute).collect();
        let is_first: Vec<AtomicBool> = keys.par_iter().map(|_| AtomicBool::new(false)).collect();
        (0..BUCKETS).into_par_iter().for_each(|bucket| mark_first(bucket, &blocks, &is_first));

        let first = keys.par_iter().zip(&is_first).filter(|(_, is_first)| is_first.load(Relaxed));
        first.map(|(key, _)| *key).collect()
    }
}

mod furcate {
    use super::{AtomicBool, BLOCK, BUCKETS, Buckets, Relaxed, distribute, mark_first};
    use furcate::prelude::*;

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        let blocks: Vec<Buckets> = keys.par_chunks(BLOCK).enumerate().map(distribute).collect();
        let is_first: Vec<AtomicBool> = keys.par_iter().map(|_| AtomicBool::new(false)).collect();
        (0..BUCKETS).into_par_iter().for_each(|bucket| mark_first(bucket, &blocks, &is_first));

        let first = keys.par_iter().zip(&is_first).filter(|(_, is_first)| is_first.load(Relaxed));
        first.map(|(key, _)| *key).collect()
    }
}
