//! The adaptor `flatten`.

use super::FlatMap;
use super::flat::Itself;
use crate::iter::schedule::pass_items;
use crate::iter::{IntoParallelIterator, ParallelIterator, inherit_schedule};

/// The items of items that are parallel iterators, one after the other: see [`ParallelIterator::flatten`].
///
/// ```
/// use furcate::prelude::*;
/// let it: furcate::iter::Flatten<_> = [vec![1, 2], vec![3]].into_par_iter().flatten();
/// assert_eq!(it.collect::<Vec<_>>(), [1, 2, 3]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct Flatten<I: ParallelIterator<Item: IntoParallelIterator>> {
    base: FlatMap<I, Itself>,
}

impl<I: ParallelIterator<Item: IntoParallelIterator>> Flatten<I> {
    pub(crate) fn new(base: I) -> Self {
        Flatten { base: FlatMap::new(base, Itself) }
    }
}

impl<I: ParallelIterator<Item: IntoParallelIterator>> ParallelIterator for Flatten<I> {
    pass_items!(base: FlatMap<I, Itself>);
    inherit_schedule!(base: FlatMap<I, Itself>);
}
