//! Counts the lines, words and bytes of files (classic: the command `wc`).

use crate::inputs::TextFolder;
use crate::program::{Program, equal, reads};
use std::fs;
use std::iter::Sum;
use std::path::Path;

pub(super) const PROGRAM: Program = Program {
    name: "wc",
    suite: "classic",
    what: "the lines, words and bytes of files of very different sizes",
    unit: "files",
    size: 8000,
    quick: 500,
    schedule: "",
    why: "about a tie: files differ in length, but the longest is a twentieth of all, so stealing evens out",
    source: include_str!("wc.rs"),
    case: |size| {
        reads(TextFolder::new(size), [sequential::run, rayon::run, furcate::run], |folder, counts| {
            let mut expected = Counts::default();
            for file in &folder.files {
                let text = fs::read_to_string(file).map_err(|error| error.to_string())?;
                expected.lines += text.matches('\n').count();
                expected.words += text.split_whitespace().count();
                expected.bytes += text.len();
            }
            equal(counts, &expected)
        })
    },
};

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    lines: usize,
    words: usize,
    bytes: usize,
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(counts: I) -> Counts {
        counts.fold(Counts::default(), |a, b| Counts {
            lines: a.lines + b.lines,
            words: a.words + b.words,
            bytes: a.bytes + b.bytes,
        })
    }
}

fn count(file: impl AsRef<Path>) -> Counts {
    let text = fs::read(file).expect("the file can be read");
    Counts {
        lines: text.iter().filter(|byte| **byte == b'\n').count(),
        words: text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count(),
        bytes: text.len(),
    }
}

mod sequential {
    use super::{Counts, TextFolder, count};

    pub(super) fn run(folder: &TextFolder) -> Counts {
        folder.files.iter().map(count).sum()
    }
}

mod rayon {
    use super::{Counts, TextFolder, count};
    use rayon::prelude::*;

    pub(super) fn run(folder: &TextFolder) -> Counts {
        folder.files.par_iter().map(count).sum()
    }
}

mod furcate {
    use super::{Counts, TextFolder, count};
    use furcate::prelude::*;

    pub(super) fn run(folder: &TextFolder) -> Counts {
        folder.files.par_iter().map(count).sum()
    }
}
