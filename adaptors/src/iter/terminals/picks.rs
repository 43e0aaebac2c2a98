//! `reduce_with`, `min`, `max` and similar terminals: one item out of all.

use super::Aggregate;
use std::cmp::Ordering;

/// Declares an [`Aggregate`] by the method that picks one item of an iterator. Of two results, the same method picks
/// again. Ties are broken as in std: `min` is the first of the least, `max` the last of the greatest.
macro_rules! picks {
    ($($Name:ident, $name:ident, [$($bound:tt)*] $(, $op:ident: $Op:ident($($arg:ty),*) -> $out:ty)?);+ $(;)?) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[derive(Debug)]
        pub(crate) struct $Name$(<'a, $Op>(pub(crate) &'a $Op))?;

        impl$(<$Op>)? Clone for $Name$(<'_, $Op>)? {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        impl$(<$Op>)? Copy for $Name$(<'_, $Op>)? {}

        impl<T: Send $($bound)* $(, $Op: Fn($($arg),*) -> $out + Sync)?> Aggregate<T> for $Name$(<'_, $Op>)? {
            type Output = Option<T>;

            #[inline]
            fn of<I: Iterator<Item = T>>(self, items: I) -> Option<T> {
                $(let $Name($op) = self;)?
                items.$name($(|left, right| $op(left, right))?)
            }

            #[inline]
            fn both(self, left: Option<T>, right: Option<T>) -> Option<T> {
                self.of(left.into_iter().chain(right))
            }
        }
    )+};
}

picks! {
    ReduceWith, reduce, [], op: F(T, T) -> T;
    Min, min, [+ Ord];
    Max, max, [+ Ord];
    MinBy, min_by, [], compare: F(&T, &T) -> Ordering;
    MaxBy, max_by, [], compare: F(&T, &T) -> Ordering;
}
