//! Sorts by comparisons: a random sample divides the keys into buckets, and each bucket is sorted (PBBS: comparisonSort/sampleSort).

use crate::blocks::{self, BLOCK, BUCKETS};
use crate::inputs;
use crate::program::{Program, changes, equal};
use fastrand::Rng;
use std::mem;

pub(super) const PROGRAM: Program = Program {
    name: "comparison_sort",
    suite: "PBBS",
    what: "a sample sort of floats",
    unit: "keys",
    size: 1 << 23,
    quick: 1 << 18,
    schedule: "",
    why: "a tie: there are many blocks and buckets of about equal length, so both libraries keep all threads busy",
    source: include_str!("comparison_sort.rs"),
    case: |size| {
        let keys: Vec<f64> = inputs::skewed_numbers(size, u32::MAX).into_iter().map(f64::from).collect();
        changes(keys, [sequential::run, rayon::run, furcate::run], |keys, sorted| {
            let mut expected = keys.clone();
            expected.sort_by(f64::total_cmp);
            equal(sorted, &expected)
        })
    },
};

/// The keys of a block, by buckets.
type Buckets = Vec<Vec<f64>>;

/// Returns the keys that divide the buckets: every 32nd key of a sorted random sample. Buckets get about as many keys as each other.
fn choose_splitters(keys: &[f64]) -> Vec<f64> {
    let mut random = Rng::with_seed(4);
    let mut sample: Vec<f64> = (0..32 * BUCKETS).filter_map(|_| random.choice(keys)).copied().collect();
    sample.sort_unstable_by(f64::total_cmp);
    sample.into_iter().step_by(32).skip(1).collect()
}

fn distribute(block: &[f64], splitters: &[f64]) -> Buckets {
    blocks::distribute(block.iter().copied(), |key| splitters.partition_point(|splitter| splitter <= key))
}

/// Cuts the array of keys into one place for each bucket.
fn cut_places<'a>(mut keys: &'a mut [f64], blocks: &[Buckets]) -> Vec<&'a mut [f64]> {
    let buckets = blocks.first().map_or(0, Vec::len);
    let place = |bucket: usize| {
        let length = blocks.iter().map(|block| block[bucket].len()).sum();
        let (place, rest) = mem::take(&mut keys).split_at_mut(length);
        keys = rest;
        place
    };
    (0..buckets).map(place).collect()
}

/// Copies a bucket's keys from all blocks to the bucket's place, and sorts them there.
fn sort_bucket(bucket: usize, place: &mut [f64], blocks: &[Buckets]) {
    let keys = blocks.iter().flat_map(|block| &block[bucket]);
    place.iter_mut().zip(keys).for_each(|(to, from)| *to = *from);
    place.sort_unstable_by(f64::total_cmp);
}

mod sequential {
    pub(super) fn run(keys: &mut Vec<f64>) {
        keys.sort_unstable_by(f64::total_cmp);
    }
}

mod rayon {
    use super::{BLOCK, Buckets, choose_splitters, cut_places, distribute, sort_bucket};
    use rayon::prelude::*;

    pub(super) fn run(keys: &mut Vec<f64>) {
        let splitters = choose_splitters(keys);
        let blocks: Vec<Buckets> =
            keys.par_chunks(BLOCK).map(|block| distribute(block, &splitters)).collect();
        let places = cut_places(keys, &blocks).into_par_iter().enumerate();
        places.for_each(|(bucket, place)| sort_bucket(bucket, place, &blocks));
    }
}

mod furcate {
    use super::{BLOCK, Buckets, choose_splitters, cut_places, distribute, sort_bucket};
    use furcate::prelude::*;

    pub(super) fn run(keys: &mut Vec<f64>) {
        let splitters = choose_splitters(keys);
        let blocks: Vec<Buckets> =
            keys.par_chunks(BLOCK).map(|block| distribute(block, &splitters)).collect();
        let places = cut_places(keys, &blocks).into_par_iter().enumerate();
        places.for_each(|(bucket, place)| sort_bucket(bucket, place, &blocks));
    }
}
