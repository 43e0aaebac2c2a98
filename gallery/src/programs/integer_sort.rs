//! Sorts integers by one digit after the other, from the least significant one on (PBBS: integerSort/parallelRadixSort).

use crate::inputs;
use crate::program::{Program, changes, equal};
use std::mem;
use std::slice::IterMut;

pub(super) const PROGRAM: Program = Program {
    name: "integer_sort",
    suite: "PBBS",
    what: "a radix sort of 32-bit integers",
    unit: "keys",
    size: 1 << 24,
    quick: 1 << 20,
    schedule: "",
    why: "about a tie: all blocks cost the same, and the program waits for memory",
    source: include_str!("integer_sort.rs"),
    case: |size| {
        let keys = inputs::skewed_numbers(size, u32::MAX);
        changes(keys, [sequential::run, rayon::run, furcate::run], |keys, sorted| {
            let mut expected = keys.clone();
            expected.sort_unstable();
            equal(sorted, &expected)
        })
    },
};

const DIGITS: usize = 256;
const BLOCK: usize = 1 << 17;

fn digit(key: u32, shift: u32) -> usize {
    (key >> shift) as usize % DIGITS
}

fn count_digits(keys: &[u32], shift: u32) -> [usize; DIGITS] {
    let mut counts = [0; DIGITS];
    keys.iter().for_each(|&key| counts[digit(key, shift)] += 1);
    counts
}

/// For each digit, the places of a block's keys with this digit.
type Places<'a> = Vec<IterMut<'a, u32>>;

/// Returns each block's places. Places are in the order of the digits, and for equal digits in the order of the blocks.
fn cut_places<'a>(mut to: &'a mut [u32], counts: &[[usize; DIGITS]]) -> Vec<Places<'a>> {
    let mut places: Vec<Places> = counts.iter().map(|_| Vec::with_capacity(DIGITS)).collect();
    for digit in 0..DIGITS {
        for (places, counts) in places.iter_mut().zip(counts) {
            let (place, rest) = mem::take(&mut to).split_at_mut(counts[digit]);
            places.push(place.iter_mut());
            to = rest;
        }
    }
    places
}

fn scatter(block: &[u32], shift: u32, mut places: Places) {
    for &key in block {
        *places[digit(key, shift)].next().expect("a place for each key was counted") = key;
    }
}

mod sequential {
    use super::{DIGITS, count_digits, digit};

    pub(super) fn run(keys: &mut Vec<u32>) {
        let mut other = vec![0; keys.len()];
        for shift in [0, 16] {
            sort_by_digit(keys, &mut other, shift);
            sort_by_digit(&other, keys, shift + 8);
        }
    }

    fn sort_by_digit(from: &[u32], to: &mut [u32], shift: u32) {
        let mut next = [0; DIGITS];
        let mut sum = 0;
        for (next, count) in next.iter_mut().zip(count_digits(from, shift)) {
            *next = sum;
            sum += count;
        }
        for &key in from {
            let next = &mut next[digit(key, shift)];
            to[*next] = key;
            *next += 1;
        }
    }
}

mod rayon {
    use super::{BLOCK, count_digits, cut_places, scatter};
    use rayon::prelude::*;

    pub(super) fn run(keys: &mut Vec<u32>) {
        let mut other = vec![0; keys.len()];
        for shift in [0, 16] {
            sort_by_digit(keys, &mut other, shift);
            sort_by_digit(&other, keys, shift + 8);
        }
    }

    fn sort_by_digit(from: &[u32], to: &mut [u32], shift: u32) {
        let counts: Vec<_> = from.par_chunks(BLOCK).map(|block| count_digits(block, shift)).collect();
        let places = cut_places(to, &counts);
        from.par_chunks(BLOCK).zip(places).for_each(|(block, places)| scatter(block, shift, places));
    }
}

mod furcate {
    use super::{BLOCK, count_digits, cut_places, scatter};
    use furcate::prelude::*;

    pub(super) fn run(keys: &mut Vec<u32>) {
        let mut other = vec![0; keys.len()];
        for shift in [0, 16] {
            sort_by_digit(keys, &mut other, shift);
            sort_by_digit(&other, keys, shift + 8);
        }
    }

    fn sort_by_digit(from: &[u32], to: &mut [u32], shift: u32) {
        let counts: Vec<_> = from.par_chunks(BLOCK).map(|block| count_digits(block, shift)).collect();
        let places = cut_places(to, &counts);
        from.par_chunks(BLOCK).zip(places).for_each(|(block, places)| scatter(block, shift, places));
    }
}
