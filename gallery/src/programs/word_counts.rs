//! Counts how often each word of a text occurs (PBBS: wordCounts).

use crate::inputs::Vocabulary;
use crate::program::{Program, equal, reads, sample};
use std::collections::HashMap;

pub(super) const PROGRAM: Program = Program {
    name: "word_counts",
    suite: "PBBS",
    what: "the count of each word of a text",
    unit: "bytes",
    size: 1 << 26,
    quick: 1 << 20,
    schedule: ".adaptive()",
    why: "somewhat faster, with less memory: a map is expensive to merge; on two threads, `adaptive` makes about five maps, and rayon 16, because its `par_split_whitespace` has no `with_min_len`",
    source: include_str!("word_counts.rs"),
    case: |size| {
        let text = Vocabulary::new().text(size);
        reads(text, [sequential::run, rayon::run, furcate::run], |text, counts| {
            let words: usize = counts.iter().map(|(_, count)| count).sum();
            equal(&words, &text.split(' ').flat_map(str::lines).filter(|word| !word.is_empty()).count())?;
            equal(counts, &sequential::run(text))?;
            let occurs = |word: &str| text.split_whitespace().filter(|it| *it == word).count();
            sample(counts.iter(), 4).try_for_each(|(word, count)| equal(count, &occurs(word)))
        })
    },
};

type Counts<'a> = HashMap<&'a str, usize>;

fn count<'a>(mut counts: Counts<'a>, word: &'a str) -> Counts<'a> {
    *counts.entry(word).or_default() += 1;
    counts
}

mod sequential {
    use super::{Counts, count};

    pub(super) fn run(text: &String) -> Vec<(String, usize)> {
        let counts = text.split_whitespace().fold(Counts::new(), count);
        let mut sorted: Vec<_> = counts.into_iter().map(|(word, count)| (word.to_owned(), count)).collect();
        sorted.sort_unstable();
        sorted
    }
}

mod rayon {
    use super::{Counts, count};
    use crate::counts::merge;
    use rayon::prelude::*;

    pub(super) fn run(text: &String) -> Vec<(String, usize)> {
        let counts = text.par_split_whitespace().fold(Counts::new, count);
        let counts = counts.reduce(Counts::new, merge).into_par_iter();
        let mut sorted: Vec<_> = counts.map(|(word, count)| (word.to_owned(), count)).collect();
        sorted.par_sort_unstable();
        sorted
    }
}

mod furcate {
    use super::{Counts, count};
    use crate::counts::merge;
    use furcate::prelude::*;

    pub(super) fn run(text: &String) -> Vec<(String, usize)> {
        // A part is divided when a thief asks, so there are few maps to merge.
        let counts = text.par_split_whitespace().fold(Counts::new, count).adaptive();
        let counts = counts.reduce(Counts::new, merge).into_par_iter();
        let mut sorted: Vec<_> = counts.map(|(word, count)| (word.to_owned(), count)).collect();
        sorted.par_sort_unstable();
        sorted
    }
}
