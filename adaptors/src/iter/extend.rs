//! Types that can be collected into and extended: std's collections, strings, and wrappers of them.
//!
//! Vectors are written in place, and strings are put together per task. The calling thread fills all other collections
//! from the vectors that the tasks have filled, in order. So a collection treats equal keys as it does in a sequential
//! loop.

mod either;
mod fallible;
mod maps;
mod pairs;
mod sequences;
mod strings;
mod unit;

pub(crate) use pairs::{extended_by, partition_into_lists};

use super::{IntoParallelIterator, ParallelExtend};

/// Makes a new collection, extended with the items.
#[track_caller]
pub(crate) fn extended<C, I>(items: I) -> C
where
    I: IntoParallelIterator,
    C: Default + ParallelExtend<I::Item>,
{
    let mut collection = C::default();
    collection.par_extend(items);
    collection
}

/// Implements `ParallelExtend` for collections that the calling thread fills from vectors, after it has reserved room:
/// `extend_from_lists! { [generics] Collection: Item, |collection, lists| reserve; ... }`.
macro_rules! extend_from_lists {
    ($([$($generics:tt)*] $Collection:ty: $Item:ty $(, |$collection:ident, $lists:ident| $reserve:expr)?;)+) => {$(
        impl<$($generics)*> $crate::iter::ParallelExtend<$Item> for $Collection {
            fn par_extend<I: $crate::iter::IntoParallelIterator<Item = $Item>>(&mut self, items: I) {
                self.par_extend_lists($crate::iter::collect::into_lists(items.into_par_iter()));
            }

            fn par_extend_lists(&mut self, lists: std::collections::LinkedList<Vec<$Item>>) {
                $({
                    let ($collection, $lists) = (&mut *self, &lists);
                    $reserve;
                })?
                for list in lists {
                    self.extend(list);
                }
            }
        }
    )+};
}
use extend_from_lists;

/// Implements `FromParallelIterator` by way of another collection: `from_par_iter! { [generics] Collection: Item,
/// |items| expression; }`. A second closure says which items [decide](super::FromParallelIterator::is_decided_by) the
/// collection.
macro_rules! from_par_iter {
    ($(
        [$($generics:tt)*] $Collection:ty: $Item:ty, |$items:ident| $collection:expr
        $(, |$item:ident| $is_decided:expr)?;
    )+) => {$(
        impl<$($generics)*> $crate::iter::FromParallelIterator<$Item> for $Collection {
            fn from_par_iter<I: $crate::iter::IntoParallelIterator<Item = $Item>>($items: I) -> Self {
                $collection
            }
            $(
                #[inline]
                fn is_decided_by($item: &$Item) -> bool {
                    $is_decided
                }
            )?
        }
    )+};
}
use from_par_iter;
