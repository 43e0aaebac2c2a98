//! Sorts the suffixes of a text: first by eight letters, then by twice as many letters in each round (PBBS: suffixArray/parallelRange).

use crate::inputs::Vocabulary;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "suffix_array",
    suite: "PBBS",
    what: "the suffixes of a text, sorted",
    unit: "letters",
    size: 1 << 22,
    quick: 1 << 17,
    schedule: "",
    why: "somewhat faster: furcate's sort takes less time, most of all for the many tiny groups of the later rounds",
    source: include_str!("suffix_array.rs"),
    case: |size| {
        let text = Vocabulary::new().text(size).into_bytes();
        reads(text, [sequential::run, rayon::run, furcate::run], |text, suffixes| {
            equal(&suffixes.len(), &text.len())?;
            let suffix = |start: u32| &text[start as usize..];
            equal(&suffixes.windows(2).find(|pair| suffix(pair[0]) >= suffix(pair[1])), &None)
        })
    },
};

/// A suffix of the text. All suffixes of a group have the same rank: the place of the group in the sorted array.
struct Suffix {
    start: u32,
    rank: u32,
    /// The key by which the suffixes of a group are sorted in this round.
    key: u64,
}

/// Returns a suffix whose key is its first eight letters.
fn suffix(text: &[u8], start: usize) -> Suffix {
    let letters = text[start..].iter().chain([0; 8].iter()).take(8);
    let key = letters.fold(0, |key, letter| key << 8 | u64::from(*letter));
    Suffix { start: start as u32, rank: 0, key }
}

/// Divides a group, which is sorted by keys, into groups of equal keys. Returns whether each of these has only one suffix.
fn rank(group: &mut [Suffix]) -> bool {
    let first = group[0].rank;
    let mut distinct = true;
    for place in 1..group.len() {
        let equal = group[place - 1].key == group[place].key;
        group[place].rank = if equal { group[place - 1].rank } else { first + place as u32 };
        distinct &= !equal;
    }
    distinct
}

// For the programs that begin with a suffix array.

pub(super) fn by_loops(text: &Vec<u8>) -> Vec<u32> {
    sequential::run(text)
}

pub(super) fn by_rayon(text: &Vec<u8>) -> Vec<u32> {
    rayon::run(text)
}

pub(super) fn by_furcate(text: &Vec<u8>) -> Vec<u32> {
    furcate::run(text)
}

mod sequential {
    use super::{Suffix, rank, suffix};

    pub(super) fn run(text: &Vec<u8>) -> Vec<u32> {
        let mut suffixes: Vec<Suffix> = (0..text.len()).map(|start| suffix(text, start)).collect();
        let mut ranks = vec![0; text.len()];
        let mut letters = 8;
        while !sort_groups(&mut suffixes) {
            for suffix in &suffixes {
                ranks[suffix.start as usize] = suffix.rank;
            }
            for suffix in &mut suffixes {
                let rest = ranks.get(suffix.start as usize + letters);
                suffix.key = rest.map_or(0, |rank| 1 + u64::from(*rank));
            }
            letters *= 2;
        }
        suffixes.iter().map(|suffix| suffix.start).collect()
    }

    fn sort_groups(suffixes: &mut [Suffix]) -> bool {
        let groups = suffixes.chunk_by_mut(|a, b| a.rank == b.rank);
        let distinct = groups.map(|group| {
            group.sort_unstable_by_key(|suffix| suffix.key);
            rank(group)
        });
        // Not `all`: each group must be sorted.
        distinct.fold(true, |a, b| a & b)
    }
}

mod rayon {
    use super::{Suffix, rank, suffix};
    use crate::graph::shared_numbers;
    use rayon::prelude::*;
    use std::sync::atomic::Ordering::Relaxed;

    pub(super) fn run(text: &Vec<u8>) -> Vec<u32> {
        let mut suffixes: Vec<Suffix> =
            (0..text.len()).into_par_iter().map(|start| suffix(text, start)).collect();
        let ranks = shared_numbers(text.len(), 0);
        let mut letters = 8;
        while !sort_groups(&mut suffixes) {
            suffixes.par_iter().for_each(|suffix| ranks[suffix.start as usize].store(suffix.rank, Relaxed));
            suffixes.par_iter_mut().for_each(|suffix| {
                let rest = ranks.get(suffix.start as usize + letters);
                suffix.key = rest.map_or(0, |rank| 1 + u64::from(rank.load(Relaxed)));
            });
            letters *= 2;
        }
        suffixes.par_iter().map(|suffix| suffix.start).collect()
    }

    fn sort_groups(suffixes: &mut [Suffix]) -> bool {
        let groups = suffixes.par_chunk_by_mut(|a, b| a.rank == b.rank);
        let distinct = groups.map(|group| {
            group.par_sort_unstable_by_key(|suffix| suffix.key);
            rank(group)
        });
        // Not `all`: each group must be sorted.
        distinct.reduce(|| true, |a, b| a & b)
    }
}

mod furcate {
    use super::{Suffix, rank, suffix};
    use crate::graph::shared_numbers;
    use furcate::prelude::*;
    use std::sync::atomic::Ordering::Relaxed;

    pub(super) fn run(text: &Vec<u8>) -> Vec<u32> {
        let mut suffixes: Vec<Suffix> =
            (0..text.len()).into_par_iter().map(|start| suffix(text, start)).collect();
        let ranks = shared_numbers(text.len(), 0);
        let mut letters = 8;
        while !sort_groups(&mut suffixes) {
            suffixes.par_iter().for_each(|suffix| ranks[suffix.start as usize].store(suffix.rank, Relaxed));
            suffixes.par_iter_mut().for_each(|suffix| {
                let rest = ranks.get(suffix.start as usize + letters);
                suffix.key = rest.map_or(0, |rank| 1 + u64::from(rank.load(Relaxed)));
            });
            letters *= 2;
        }
        suffixes.par_iter().map(|suffix| suffix.start).collect()
    }

    fn sort_groups(suffixes: &mut [Suffix]) -> bool {
        let groups = suffixes.par_chunk_by_mut(|a, b| a.rank == b.rank);
        let distinct = groups.map(|group| {
            group.par_sort_unstable_by_key(|suffix| suffix.key);
            rank(group)
        });
        // Not `all`: each group must be sorted.
        distinct.reduce(|| true, |a, b| a & b)
    }
}
