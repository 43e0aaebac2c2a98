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
    why: "about a tie, because the long files are far apart in the list, so rayon's leaves have nearly as many bytes as each other",
    source: include_str!("wc.rs"),
    case: |size| {
        reads(TextFolder::new(size), [sequential::run, rayon::run, furcate::run], |folder, counts| {
            let bytes: u64 =
                folder.files.iter().filter_map(|file| Some(fs::metadata(file).ok()?.len())).sum();
            equal(&counts.bytes, &(bytes as usize))?;
            equal(counts, &sequential::run(folder))
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
