//! `once`

use crate::iter::{IntoParallelIterator, newtype_iterator};
use crate::option;

/// Makes a parallel iterator with one item.
///
/// ```
/// use furcate::prelude::*;
/// let one: Vec<&str> = furcate::iter::once("only").collect();
/// assert_eq!(one, ["only"]);
/// ```
pub fn once<T: Send>(item: T) -> Once<T> {
    Once { base: Some(item).into_par_iter() }
}

newtype_iterator! {
    /// A parallel iterator with one item: see [`once`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let it: furcate::iter::Once<_> = furcate::iter::once(0);
    /// assert_eq!(it.chain(5..7).collect::<Vec<_>>(), [0, 5, 6]);
    /// ```
    #[derive(Clone, Debug)]
    Once<T: Send>(option::IntoIter<T>), indexed
}
