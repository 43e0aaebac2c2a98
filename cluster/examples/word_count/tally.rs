//! The count of some files, which travels between ranks.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;

/// Words of some files, in lower case, and how often each occurs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    counts: HashMap<String, u64>,
    bytes: u64,
    /// Number of files that are left out because they are not UTF-8 text.
    binary: u64,
    /// Files that cannot be read, with the errors, in the order of the list.
    unreadable: Vec<String>,
}

impl Tally {
    /// Adds the words of a file.
    pub(crate) fn file(mut self, path: &Path) -> Self {
        match std::fs::read(path).map(String::from_utf8) {
            Ok(Ok(text)) => {
                self.bytes += text.len() as u64;
                let text = text.to_lowercase();
                for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                    match self.counts.get_mut(word) {
                        Some(count) => *count += 1,
                        None => _ = self.counts.insert(word.to_owned(), 1),
                    }
                }
            }
            Ok(Err(_)) => self.binary += 1,
            Err(error) => self.unreadable.push(format!("{}: {error}", path.display())),
        }
        self
    }

    /// Adds the words of the files to the right. The smaller table is moved into the larger one.
    pub(crate) fn merge(mut self, mut right: Self) -> Self {
        self.unreadable.append(&mut right.unreadable);
        self.bytes += right.bytes;
        self.binary += right.binary;
        if self.counts.len() < right.counts.len() {
            std::mem::swap(&mut self.counts, &mut right.counts);
        }
        for (word, count) in right.counts {
            *self.counts.entry(word).or_default() += count;
        }
        self
    }

    /// Returns the most frequent words, and of equally frequent ones the first in the alphabet.
    pub(crate) fn top(&self, number: usize) -> Vec<(&str, u64)> {
        let mut words: Vec<_> = self.counts.iter().map(|(word, count)| (&word[..], *count)).collect();
        words.sort_unstable_by_key(|&(word, count)| (Reverse(count), word));
        words.truncate(number);
        words
    }

    /// Returns the number of words.
    pub(crate) fn words(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Returns the number of different words.
    pub(crate) fn different(&self) -> usize {
        self.counts.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns a line for each reason why files were left out.
    pub(crate) fn left_out(&self) -> Vec<String> {
        let binary = (self.binary > 0).then(|| format!("left out because not UTF-8: {}", self.binary));
        let unreadable = self.unreadable.iter().map(|error| format!("could not be read: {error}"));
        binary.into_iter().chain(unreadable).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_read_is_told() {
        let tally = Tally::default().file(Path::new("no/such/file"));
        let lines = tally.left_out();
        assert!(lines.len() == 1 && lines[0].starts_with("could not be read: no/such/file: "), "{lines:?}");
    }

    #[test]
    fn frequent_words_come_first() {
        let counts = [("b", 2), ("c", 7), ("a", 2)].map(|(word, count)| (word.to_owned(), count));
        let tally = Tally { counts: counts.into(), ..Tally::default() };
        assert_eq!(tally.top(2), [("c", 7), ("a", 2)]);
        assert_eq!((tally.words(), tally.different()), (11, 3));
    }
}
