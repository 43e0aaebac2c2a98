//! Text, divided at separators.

use crate::random::Random;
use crate::{Case, Size};
use rayon::prelude::*;

/// Lines of words, 1 to 12 letters each.
fn text(size: Size) -> String {
    let mut random = Random(5);
    let bytes = size.pick(40_000_000, 20_000);
    let mut text = String::with_capacity(bytes + 20);
    while text.len() < bytes {
        (0..1 + random.below(12)).for_each(|_| text.push((b'a' + random.below(26) as u8) as char));
        text.push(if random.below(10) == 0 { '\n' } else { ' ' });
    }
    text
}

pub(super) fn split(size: Size) -> Case {
    let text = text(size);
    let expected = text.split(' ').filter(|word| word.len() > 6).count();
    Case::of(expected, move || text.par_split(' ').filter(|word| word.len() > 6).count())
}

pub(super) fn lines(size: Size) -> Case {
    let text = text(size);
    let longest = |line: &str| line.split(' ').map(str::len).max();
    let expected: Vec<_> = text.lines().map(longest).collect();
    Case::of(expected, move || text.par_lines().map(longest).collect::<Vec<_>>())
}

pub(super) fn chars(size: Size) -> Case {
    let text = text(size);
    let is_vowel = |letter: &char| "aeiou".contains(*letter);
    Case::of(text.chars().filter(is_vowel).count(), move || text.par_chars().filter(is_vowel).count())
}
