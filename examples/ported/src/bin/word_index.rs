//! Makes an index of the words in files: for each word, the lines in which it stands.

// The line that differs from a program on rayon.
#[cfg(not(feature = "rayon"))]
use furcate as rayon;

use clap::Parser;
use rayon::prelude::*;
use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// Makes an index of the words in the files of folders, and prints the most frequent words.
#[derive(Parser)]
struct Arguments {
    /// Folders and files
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,
    /// How often the files are read, to make the work longer
    #[arg(long, default_value_t = 1)]
    repeat: usize,
}

/// The lines of each word: number of the file, and number of the line.
type Index = HashMap<String, Vec<(usize, usize)>>;

fn index(number: usize, path: &Path) -> Index {
    let mut index = Index::new();
    // Files that are no text have no words.
    let Ok(text) = fs::read_to_string(path) else { return index };
    for (line, text) in text.lines().enumerate() {
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            index.entry(word.to_lowercase()).or_default().push((number, line + 1));
        }
    }
    index
}

fn merge(mut left: Index, mut right: Index) -> Index {
    if left.len() < right.len() {
        std::mem::swap(&mut left, &mut right);
    }
    for (word, lines) in right {
        left.entry(word).or_default().extend(lines);
    }
    left
}

fn main() -> Result<(), Box<dyn Error>> {
    let Arguments { paths, repeat } = Arguments::parse();
    let mut files = Vec::new();
    for path in &paths {
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry?;
            if entry.file_type().is_file() {
                files.push(entry.into_path());
            }
        }
    }
    let files: Vec<_> = std::iter::repeat_n(files, repeat).flatten().collect();
    let mut words: Vec<_> = ported::timed(|| {
        let index =
            files.par_iter().enumerate().map(|(number, path)| index(number, path)).reduce(Index::new, merge);
        let mut words: Vec<_> = index.into_par_iter().collect();
        words.par_iter_mut().for_each(|(_, lines)| lines.sort_unstable());
        words.par_sort_by(|(a, ours), (b, others)| others.len().cmp(&ours.len()).then_with(|| a.cmp(b)));
        words
    });
    println!("result {} words in {} files", words.len(), files.len());
    words.truncate(10);
    for (word, lines) in words {
        let (file, line) = lines[0];
        println!("{:8} {word}: first in {}, line {line}", lines.len(), files[file].display());
    }
    Ok(())
}
