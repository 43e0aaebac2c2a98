//! `Option`s of divisible values.

use crate::Divisible;

/// `None` is empty; `Some` is cut into two `Some`s.
///
/// ```
/// use furcate::Divisible;
/// assert_eq!(Some(0..10).divide(), (Some(0..5), Some(5..10)));
/// assert_eq!(None::<std::ops::Range<u8>>.divide(), (None, None));
/// ```
impl<D: Divisible> Divisible for Option<D> {
    #[inline]
    fn size(&self) -> usize {
        self.as_ref().map_or(0, D::size)
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.as_ref().is_some_and(D::should_be_divided)
    }

    #[inline]
    fn divide(self) -> (Self, Self) {
        self.map(D::divide).unzip()
    }

    #[inline]
    fn divide_at(self, index: usize) -> (Self, Self) {
        self.map(|inner| inner.divide_at(index)).unzip()
    }
}
