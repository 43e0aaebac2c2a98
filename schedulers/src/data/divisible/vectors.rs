//! Owned vectors.

use crate::Divisible;

/// Cut between elements. Each cut allocates a vector for the right part and moves its elements; to divide without
/// moving anything, divide a slice, or iterate with `into_par_iter`.
///
/// ```
/// use furcate::Divisible;
/// assert_eq!(vec![1, 2, 3].divide(), (vec![1], vec![2, 3]));
/// ```
impl<T> Divisible for Vec<T> {
    fn size(&self) -> usize {
        self.len()
    }

    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let right = self.split_off(index.min(self.len()));
        (self, right)
    }
}

/// Cut between characters. Each cut allocates a string for the right part.
///
/// ```
/// use furcate::Divisible;
/// assert_eq!("abc".to_string().divide(), ("a".to_string(), "bc".to_string()));
/// ```
impl Divisible for String {
    fn size(&self) -> usize {
        self.len()
    }

    fn should_be_divided(&self) -> bool {
        self.as_str().should_be_divided()
    }

    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let right = self.split_off(super::strings::cut(&self, index));
        (self, right)
    }
}
