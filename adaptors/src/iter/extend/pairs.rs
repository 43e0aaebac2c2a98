//! Two collections from one iterator, in one pass.

use super::from_par_iter;
use crate::iter::collect::{Fillable, TwoLists, sort_into_lists, unzip_into_lists};
use crate::iter::{FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator};
use either::Either;

/// Sorts items into two vectors per task, by the result of `classify`.
#[track_caller]
pub(crate) fn partition_into_lists<I, L, R>(
    items: I,
    classify: impl Fn(I::Item) -> Either<L, R> + Sync,
) -> TwoLists<L, R>
where
    I: ParallelIterator,
    L: Send,
    R: Send,
{
    sort_into_lists(items, |item, left, right| match classify(item) {
        Either::Left(item) => left.put(item),
        Either::Right(item) => right.put(item),
    })
}

/// Sorts items into lists of left and of right ones.
#[track_caller]
fn eithers_into_lists<I, L, R>(items: I) -> TwoLists<L, R>
where
    I: ParallelIterator<Item = Either<L, R>>,
    L: Send,
    R: Send,
{
    partition_into_lists(items, |item| item)
}

/// Makes two collections, extended with the items that were sorted for them.
#[track_caller]
pub(crate) fn extended_by<L: Send, R: Send, A, B>((left, right): TwoLists<L, R>) -> (A, B)
where
    A: Default + ParallelExtend<L>,
    B: Default + ParallelExtend<R>,
{
    let (mut a, mut b) = (A::default(), B::default());
    a.par_extend_lists(left);
    b.par_extend_lists(right);
    (a, b)
}

/// Implements both traits for pairs of collections, given the closure that sorts the items.
macro_rules! pairs {
    ($([$L:ident, $R:ident] $Item:ty, $sort:expr;)+) => {$(
        impl<$L, $R, A, B> ParallelExtend<$Item> for (A, B)
        where
            $L: Send,
            $R: Send,
            A: Send + ParallelExtend<$L>,
            B: Send + ParallelExtend<$R>,
        {
            fn par_extend<I: IntoParallelIterator<Item = $Item>>(&mut self, items: I) {
                let (left, right) = $sort(items.into_par_iter());
                self.0.par_extend_lists(left);
                self.1.par_extend_lists(right);
            }
        }

        from_par_iter! {
            [$L: Send, $R: Send, A: Send + FromParallelIterator<$L>, B: Send + FromParallelIterator<$R>] (A, B): $Item, |items| {
                let (left, right) = $sort(items.into_par_iter());
                (A::from_par_lists(left), B::from_par_lists(right))
            };
        }
    )+};
}

pairs! {
    [L, R] (L, R), unzip_into_lists;
    [L, R] Either<L, R>, eithers_into_lists;
}
