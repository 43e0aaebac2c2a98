//! String slices: cut between characters, sized in bytes.

use crate::Divisible;

/// Returns the first character boundary at or after `index`, at most the length.
#[inline]
pub(crate) fn cut(text: &str, index: usize) -> usize {
    (index..text.len()).find(|&i| text.is_char_boundary(i)).unwrap_or(text.len())
}

/// Cut between characters; the size is in bytes. A cut inside a character moves to its end, unless that would leave
/// nothing to the right although there is a boundary further left.
///
/// ```
/// use furcate::Divisible;
/// assert_eq!("añb".divide_at(2), ("añ", "b"));
/// assert!(!"ñ".should_be_divided());
/// ```
impl Divisible for &str {
    #[inline]
    fn size(&self) -> usize {
        self.len()
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.chars().next().is_some_and(|first| first.len_utf8() < self.len())
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        self.split_at(cut(self, index))
    }

    fn divide(self) -> (Self, Self) {
        let half = cut(self, self.len() / 2);
        if half < self.len() {
            return self.split_at(half);
        }
        // One character reaches from before the middle to the end, so the cut is before that character.
        self.split_at(self.char_indices().next_back().map_or(0, |(last, _)| last))
    }
}
