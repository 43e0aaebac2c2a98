//! Lists the documents in which each word occurs (PBBS: invertedIndex).

use crate::inputs::Vocabulary;
use crate::program::{Program, equal, reads, sample};
use std::collections::HashMap;

pub(super) const PROGRAM: Program = Program {
    name: "inverted_index",
    suite: "PBBS",
    what: "the documents that contain each word",
    unit: "bytes",
    size: 1 << 25,
    quick: 1 << 20,
    schedule: ".adaptive()",
    why: "somewhat faster: an index is expensive to merge; `with_min_len` has the best length for rayon, two parts for each thread, which was found by trying; without it rayon takes 1.4 times as long as `adaptive`, which divides at a steal only",
    source: include_str!("inverted_index.rs"),
    case: |size| {
        let documents = Vocabulary::new().documents(size);
        reads(documents, [sequential::run, rayon::run, furcate::run], |documents, index| {
            equal(index, &sequential::run(documents))?;
            let search = |word: &str| {
                let contains = |number: &usize| documents[*number].split_whitespace().any(|it| it == word);
                (0..documents.len()).filter(contains).collect::<Vec<usize>>()
            };
            sample(index.iter(), 4).try_for_each(|(word, numbers)| equal(numbers, &search(word)))
        })
    },
};

/// The numbers of the documents that contain a word, in order.
type Index<'a> = HashMap<&'a str, Vec<usize>>;

fn add<'a>(mut index: Index<'a>, (number, document): (usize, &'a String)) -> Index<'a> {
    for word in document.split_whitespace() {
        let numbers = index.entry(word).or_default();
        if numbers.last() != Some(&number) {
            numbers.push(number);
        }
    }
    index
}

/// Appends the index of later documents to that of earlier ones.
fn merge<'a>(mut earlier: Index<'a>, later: Index<'a>) -> Index<'a> {
    if earlier.is_empty() {
        return later;
    }
    later.into_iter().for_each(|(word, mut numbers)| earlier.entry(word).or_default().append(&mut numbers));
    earlier
}

mod sequential {
    use super::{Index, add};

    pub(super) fn run(documents: &Vec<String>) -> Vec<(String, Vec<usize>)> {
        let index = documents.iter().enumerate().fold(Index::new(), add);
        let mut sorted: Vec<_> = index.into_iter().map(|(word, list)| (word.to_owned(), list)).collect();
        sorted.sort_unstable();
        sorted
    }
}

mod rayon {
    use super::{Index, add, merge};
    use rayon::prelude::*;

    pub(super) fn run(documents: &Vec<String>) -> Vec<(String, Vec<usize>)> {
        // The best length, found by trying: two parts for each thread.
        let share = documents.len() / rayon::current_num_threads() / 2;
        let index = documents.par_iter().enumerate().with_min_len(share).fold(Index::new, add);
        let index = index.reduce(Index::new, merge).into_par_iter();
        let mut sorted: Vec<_> = index.map(|(word, list)| (word.to_owned(), list)).collect();
        sorted.par_sort_unstable();
        sorted
    }
}

mod furcate {
    use super::{Index, add, merge};
    use furcate::prelude::*;

    pub(super) fn run(documents: &Vec<String>) -> Vec<(String, Vec<usize>)> {
        // A part is divided when a thief asks, so there are few indexes to merge.
        let index = documents.par_iter().enumerate().fold(Index::new, add).adaptive();
        let index = index.reduce(Index::new, merge).into_par_iter();
        let mut sorted: Vec<_> = index.map(|(word, list)| (word.to_owned(), list)).collect();
        sorted.par_sort_unstable();
        sorted
    }
}
