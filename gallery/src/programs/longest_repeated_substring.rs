//! Finds the longest substring that occurs twice: the longest common prefix of neighbors in a suffix array (PBBS: longestRepeatedSubstring).

use super::suffix_array;
use crate::inputs::Vocabulary;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "longest_repeated_substring",
    suite: "PBBS",
    what: "the longest substring that occurs twice",
    unit: "letters",
    size: 1 << 21,
    quick: 1 << 16,
    schedule: "",
    why: "faster: most of the time goes to the suffix array, whose many short sorts cost less in furcate",
    source: include_str!("longest_repeated_substring.rs"),
    case: |size| {
        // A passage of the text is repeated at the end.
        let mut text = Vocabulary::new().text(size.max(4 * PASSAGE) - PASSAGE).into_bytes();
        let start = text.len() / 3;
        text.extend_from_within(start..start + PASSAGE);
        reads(text, [sequential::run, rayon::run, furcate::run], |text, longest| {
            equal(&longest.ends_with(&text[text.len() - PASSAGE..]), &true)?;
            equal(longest, &sequential::run(text))
        })
    },
};

/// The length of a passage that occurs twice.
const PASSAGE: usize = 1000;

/// Returns the length of the common beginning of two suffixes, and the place where the first of them starts.
fn common(text: &[u8], pair: &[u32]) -> (usize, u32) {
    let [a, b] = [pair[0], pair[1]].map(|start| &text[start as usize..]);
    (a.iter().zip(b).take_while(|(a, b)| a == b).count(), pair[0])
}

/// Returns the substring with a length and a start.
fn substring(text: &[u8], (length, start): (usize, u32)) -> Vec<u8> {
    text[start as usize..][..length].to_vec()
}

mod sequential {
    use super::suffix_array::by_loops;
    use super::{common, substring};

    pub(super) fn run(text: &Vec<u8>) -> Vec<u8> {
        let suffixes = by_loops(text);
        let longest = suffixes.windows(2).map(|pair| common(text, pair)).max();
        substring(text, longest.unwrap_or_default())
    }
}

mod rayon {
    use super::suffix_array::by_rayon;
    use super::{common, substring};
    use rayon::prelude::*;

    pub(super) fn run(text: &Vec<u8>) -> Vec<u8> {
        let suffixes = by_rayon(text);
        let longest = suffixes.par_windows(2).map(|pair| common(text, pair)).max();
        substring(text, longest.unwrap_or_default())
    }
}

mod furcate {
    use super::suffix_array::by_furcate;
    use super::{common, substring};
    use furcate::prelude::*;

    pub(super) fn run(text: &Vec<u8>) -> Vec<u8> {
        let suffixes = by_furcate(text);
        let longest = suffixes.par_windows(2).map(|pair| common(text, pair)).max();
        substring(text, longest.unwrap_or_default())
    }
}
