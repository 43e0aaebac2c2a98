//! Replaces each number by the sum of all numbers up to it (classic: prefix sums, or scan).

use crate::program::{Program, equal, reads};
use fastrand::Rng;
use std::mem;

pub(super) const PROGRAM: Program = Program {
    name: "prefix_sums",
    suite: "classic",
    what: "for each number, the sum of all numbers up to it",
    unit: "numbers",
    size: 1 << 26,
    quick: 1 << 21,
    schedule: "",
    why: "a tie: the program waits for memory; furcate's `inclusive_scan` would be one line, but takes longer, because its first pass fills a buffer",
    source: include_str!("prefix_sums.rs"),
    case: |size| {
        let mut random = Rng::with_seed(1);
        let numbers: Vec<u64> = (0..size).map(|_| random.u64(0..100)).collect();
        reads(numbers, [sequential::run, rayon::run, furcate::run], |numbers, sums| {
            equal(&sums.len(), &numbers.len())?;
            let mut before = 0;
            let mut steps = sums.iter().map(|sum| sum.wrapping_sub(mem::replace(&mut before, *sum)));
            equal(&numbers.iter().position(|number| steps.next() != Some(*number)), &None)
        })
    },
};

mod sequential {
    pub(super) fn run(numbers: &Vec<u64>) -> Vec<u64> {
        let mut sum = 0;
        let add = |number| {
            sum += number;
            sum
        };
        numbers.iter().map(add).collect()
    }
}

/// The number of numbers that are added up by one thread.
const BLOCK: usize = 1 << 16;

mod rayon {
    use super::BLOCK;
    use rayon::prelude::*;

    pub(super) fn run(numbers: &Vec<u64>) -> Vec<u64> {
        let mut before: Vec<u64> = numbers.par_chunks(BLOCK).map(|block| block.iter().sum()).collect();
        let mut sum = 0;
        for block in &mut before {
            (*block, sum) = (sum, sum + *block);
        }
        let mut sums = vec![0; numbers.len()];
        let blocks = sums.par_chunks_mut(BLOCK).zip(numbers.par_chunks(BLOCK)).zip(before);
        blocks.for_each(|((sums, numbers), mut sum)| {
            for (place, number) in sums.iter_mut().zip(numbers) {
                sum += number;
                *place = sum;
            }
        });
        sums
    }
}

mod furcate {
    use super::BLOCK;
    use furcate::prelude::*;

    pub(super) fn run(numbers: &Vec<u64>) -> Vec<u64> {
        let mut before: Vec<u64> = numbers.par_chunks(BLOCK).map(|block| block.iter().sum()).collect();
        let mut sum = 0;
        for block in &mut before {
            (*block, sum) = (sum, sum + *block);
        }
        let mut sums = vec![0; numbers.len()];
        let blocks = sums.par_chunks_mut(BLOCK).zip(numbers.par_chunks(BLOCK)).zip(before);
        blocks.for_each(|((sums, numbers), mut sum)| {
            for (place, number) in sums.iter_mut().zip(numbers) {
                sum += number;
                *place = sum;
            }
        });
        sums
    }
}
