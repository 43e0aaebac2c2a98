//! Texts whose words are counted: read from files, or generated.

use super::common::random::Random;
use std::fmt;
use std::path::{Path, PathBuf};

/// Number of different words in a generated text.
const VOCABULARY: u64 = 5000;

/// Place of the huge file among the generated ones: so early that much work is queued behind it.
const HUGE: usize = 10;

/// The texts, in lower case.
#[derive(Default)]
pub(crate) struct Corpus {
    pub(crate) files: Vec<String>,
    /// Number of files that are left out because they are not UTF-8 text.
    binary: usize,
    /// The paths that cannot be read, with the errors.
    unreadable: Vec<String>,
}

impl Corpus {
    /// Reads all text files below the paths.
    pub(crate) fn read(roots: &[PathBuf]) -> Self {
        let mut corpus = Corpus::default();
        for root in roots {
            corpus.add(root);
        }
        corpus
    }

    /// Generates `files` files with `bytes` bytes altogether. One of them is as long as a thread's fair share.
    pub(crate) fn skewed(files: usize, bytes: usize, threads: usize) -> Self {
        let huge = bytes / threads.max(2);
        let small = (bytes - huge) / (files - 1);
        let mut random = Random(1);
        let position = HUGE.min(files - 1);
        let file = |i| text(if i == position { huge } else { small }, &mut random);
        Corpus { files: (0..files).map(file).collect(), ..Corpus::default() }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.files.iter().map(String::len).sum()
    }

    /// Returns the length of the longest file in bytes.
    pub(crate) fn longest(&self) -> usize {
        self.files.iter().map(String::len).max().unwrap_or(0)
    }

    /// Joins all texts.
    pub(crate) fn joined(&self) -> String {
        self.files.join("\n")
    }

    /// Adds a file, or all files below a folder except hidden ones, those below `target`, and links.
    fn add(&mut self, path: &Path) {
        if path.is_dir() {
            match std::fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
                Ok(mut entries) => {
                    entries.sort_by_key(std::fs::DirEntry::file_name);
                    for entry in entries {
                        let name = entry.file_name();
                        let skip = name.as_encoded_bytes().starts_with(b".") || name == "target";
                        if !skip && !entry.path().is_symlink() {
                            self.add(&entry.path());
                        }
                    }
                }
                Err(error) => self.unreadable.push(format!("{}: {error}", path.display())),
            }
            return;
        }
        if !path.is_file() {
            return; // reading a pipe or a device might never end
        }
        match std::fs::read(path).map(String::from_utf8) {
            Ok(Ok(text)) => self.files.push(text.to_lowercase()),
            Ok(Err(_)) => self.binary += 1,
            Err(error) => self.unreadable.push(format!("{}: {error}", path.display())),
        }
    }
}

impl fmt::Display for Corpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "text files: {}, bytes: {}", self.files.len(), self.bytes())?;
        if self.binary > 0 {
            write!(f, ", left out because not UTF-8: {}", self.binary)?;
        }
        for error in &self.unreadable {
            write!(f, "\ncould not be read: {error}")?;
        }
        Ok(())
    }
}

/// Generates words up to about `bytes` bytes. Some words are much more frequent than others, as in natural text.
fn text(bytes: usize, random: &mut Random) -> String {
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        let mut number = random.below(VOCABULARY) * random.below(VOCABULARY) / VOCABULARY;
        // The number's digits, as syllables.
        loop {
            let digit = (number % 10) as usize;
            text.push_str(["ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru"][digit]);
            number /= 10;
            if number == 0 {
                break;
            }
        }
        text.push(' ');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::Corpus;

    #[test]
    fn one_file_has_a_threads_fair_share() {
        for (files, threads) in [(2, 1), (2, 2), (100, 4), (1000, 64)] {
            let corpus = Corpus::skewed(files, 1_000_000, threads);
            assert_eq!(corpus.files.len(), files);
            let share = corpus.longest() * threads.max(2);
            assert!((1_000_000..1_010_000).contains(&share), "{files} files, {threads} threads: {share}");
        }
    }
}
