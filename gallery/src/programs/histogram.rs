//! Counts how often each key occurs (PBBS: histogram).

use crate::inputs;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "histogram",
    suite: "PBBS",
    what: "the count of each of 65,536 keys",
    unit: "keys",
    size: 1 << 25,
    quick: 1 << 20,
    schedule: ".adaptive()",
    why: "about a tie: a table of counts is expensive to make and to add; rayon's column cuts the keys into a chunk for each thread, and `adaptive` makes one table, and one more for each steal",
    source: include_str!("histogram.rs"),
    case: |size| {
        let keys = inputs::skewed_numbers(size, KEYS as u32);
        reads(keys, [sequential::run, rayon::run, furcate::run], |keys, counts| {
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            let mut expected = vec![0; KEYS];
            sorted.chunk_by(u32::eq).for_each(|group| expected[group[0] as usize] = group.len() as u32);
            equal(counts, &expected)
        })
    },
};

const KEYS: usize = 1 << 16;

mod sequential {
    use super::KEYS;
    use crate::counts::count;

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        count(keys, KEYS)
    }
}

mod rayon {
    use super::KEYS;
    use crate::counts::{add, count};
    use rayon::prelude::*;

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        let chunks = keys.par_chunks(keys.len().div_ceil(rayon::current_num_threads()));
        chunks.map(|keys| count(keys, KEYS)).reduce_with(add).unwrap_or_default()
    }
}

mod furcate {
    use super::KEYS;
    use crate::counts::add;
    use furcate::prelude::*;

    pub(super) fn run(keys: &Vec<u32>) -> Vec<u32> {
        let counts = keys.par_iter().fold(
            || vec![0; KEYS],
            |mut counts, &key| {
                counts[key as usize] += 1;
                counts
            },
        );
        // A part is divided when a thief asks, so there are few tables to add.
        counts.adaptive().reduce_with(add).unwrap_or_default()
    }
}
