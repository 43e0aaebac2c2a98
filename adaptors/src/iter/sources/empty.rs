//! `empty`

use crate::iter::indexed_iterator;
use crate::option::AtMostOne;
use std::fmt;
use std::marker::PhantomData;

/// Makes a parallel iterator without items.
///
/// ```
/// use furcate::prelude::*;
/// assert_eq!(furcate::iter::empty::<u32>().sum::<u32>(), 0);
/// ```
pub fn empty<T: Send>() -> Empty<T> {
    Empty { items: PhantomData }
}

/// A parallel iterator without items: see [`empty`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Empty<u32> = furcate::iter::empty();
/// assert_eq!(it.count(), 0);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
pub struct Empty<T> {
    /// Marker that holds no `T`: it is `Send` and `Sync` whatever `T` is.
    items: PhantomData<fn() -> T>,
}

impl<T> Clone for Empty<T> {
    fn clone(&self) -> Self {
        Empty { items: PhantomData }
    }
}

impl<T> fmt::Debug for Empty<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Empty")
    }
}

indexed_iterator! {
    impl[T] Empty<T> where [T: Send]
    type Item = T;
    type Producer<'a> = AtMostOne<T>;
    fn len(_this) { 0 }
    fn lend(_this) { AtMostOne::new(None) }
}
