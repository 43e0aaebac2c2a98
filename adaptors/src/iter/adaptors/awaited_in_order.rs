//! Positions behind `io_await` and adaptors that keep the order.
//!
//! Right behind `io_await` numbers, partners and chunks are given to the futures before anything waits
//! (`await_in_order`). An adaptor in between makes one item of each, so the numbering can move in front of it:
//! `.io_await().map(f).enumerate()` is `.io_await().enumerate().map(|(n, x)| (n, f(x)))`.

use super::{Cloned, Copied, Inspect, IoAwait, Log, Map, Progress, ProgressSink, Update};
use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, On, ParallelIterator, WithPolicy, WithPriority,
};
use furcate_pool::{Executor, Priority};
use furcate_schedulers::Policy;

/// Outputs of futures whose order is known: an indexed iterator behind [`io_await`](ParallelIterator::io_await), with
/// `map`, `inspect`, `update`, `cloned` and `copied` behind that.
///
/// Any other adaptor (`filter`, `flat_map_iter`, `fold` ...) ends this: behind it, positions are unknown until all
/// futures are ready. There is nothing to implement.
///
/// Cost: as the methods of [`IoAwait`](super::IoAwait).
///
/// ```
/// use furcate::prelude::*;
/// let squares = (1..4).into_par_iter().map(|x| async move { x }).io_await().map(|x| x * x);
/// assert_eq!(squares.enumerate().skip(1).collect::<Vec<_>>(), [(1, 4), (2, 9)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not know how many items it has, and where each is",
    note = "behind `io_await`, `enumerate`, `zip`, `take`, `skip` and `chunks` need the order of the futures: only `map`, `inspect`, \
            `update`, `cloned` and `copied` may stand in between",
    note = "number the items before: `.enumerate().map(|(n, x)| async move {{ (n, request(x).await) }}).io_await()`"
)]
pub trait AwaitedInOrder: ParallelIterator {
    /// Numbers the outputs in the order of the futures: see [`IndexedParallelIterator::enumerate`].
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let pages = ["a", "bc"].into_par_iter().map(|url| async move { url.len() }).io_await().inspect(|_| ());
    /// assert_eq!(pages.enumerate().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    /// ```
    fn enumerate(self) -> impl AwaitedInOrder<Item = (usize, Self::Item)>;

    /// Pairs the outputs with the items of another iterator, up to the end of the shorter one: see
    /// [`IndexedParallelIterator::zip`]. A future without a partner is not begun.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let pages = ["a", "bc"].into_par_iter().map(|url| async move { url.len() }).io_await().map(|n| n * 10);
    /// assert_eq!(pages.zip([1, 2]).collect::<Vec<_>>(), [(10, 1), (20, 2)]);
    /// ```
    fn zip<Z>(self, other: Z) -> impl AwaitedInOrder<Item = (Self::Item, Z::Item)>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>;

    /// Keeps the outputs of the first `n` futures: see [`IndexedParallelIterator::take`]. No other future is begun.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let squares = (0..9).into_par_iter().map(|x| async move { x }).io_await().map(|x| x * x);
    /// assert_eq!(squares.take(3).collect::<Vec<_>>(), [0, 1, 4]);
    /// ```
    fn take(self, n: usize) -> impl AwaitedInOrder<Item = Self::Item>;

    /// Leaves out the outputs of the first `n` futures: see [`IndexedParallelIterator::skip`]. Those futures are not
    /// begun.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let squares = (0..9).into_par_iter().map(|x| async move { x }).io_await().map(|x| x * x);
    /// assert_eq!(squares.skip(6).collect::<Vec<_>>(), [36, 49, 64]);
    /// ```
    fn skip(self, n: usize) -> impl AwaitedInOrder<Item = Self::Item>;

    /// Puts the outputs of every `size` neighboring futures into a vector. Their futures wait together, in one task:
    /// see [`IoAwait::chunks`](super::IoAwait::chunks). Adaptors between `io_await` and this method are applied to the
    /// outputs when all of them are ready.
    ///
    /// # Panics
    ///
    /// If `size` is 0.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let squares = (0..5).into_par_iter().map(|x| async move { x }).io_await().map(|x| x * x);
    /// assert_eq!(squares.chunks(2).collect::<Vec<_>>(), [vec![0, 1], vec![4, 9], vec![16]]);
    /// ```
    #[track_caller]
    fn chunks(self, size: usize) -> impl AwaitedInOrder<Item = Vec<Self::Item>>;
}

impl<I> AwaitedInOrder for IoAwait<I>
where
    I: IndexedParallelIterator<Item: IntoFuture<Output: Send, IntoFuture: Send>>,
{
    fn enumerate(self) -> impl AwaitedInOrder<Item = (usize, Self::Item)> {
        IoAwait::enumerate(self)
    }

    fn zip<Z>(self, other: Z) -> impl AwaitedInOrder<Item = (Self::Item, Z::Item)>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        IoAwait::zip(self, other)
    }

    fn take(self, n: usize) -> impl AwaitedInOrder<Item = Self::Item> {
        IoAwait::take(self, n)
    }

    fn skip(self, n: usize) -> impl AwaitedInOrder<Item = Self::Item> {
        IoAwait::skip(self, n)
    }

    #[track_caller]
    fn chunks(self, size: usize) -> impl AwaitedInOrder<Item = Vec<Self::Item>> {
        IoAwait::chunks(self, size)
    }
}

/// Implements the trait for an adaptor of a base: every method moves in front of the adaptor. `again` makes the adaptor of the base behind
/// the method. If the adaptor has an operation, `one` applies it to the item in a pair, and to the items of a chunk.
macro_rules! in_order {
    (
        impl[$($generics:tt)*] $Adaptor:ty where [$($bounds:tt)*]
        |$base:ident $(, $op:ident)?; $item:ident| again $again:expr, one $one:expr
    ) => {
        in_order! {
            impl[$($generics)*] $Adaptor where [$($bounds)*]
            |$base $(, $op)?| again $again,
            numbered $base.map(move |(number, $item)| (number, $one)),
            paired $base.map(move |($item, other)| ($one, other)),
            chunked $base.map(move |items| items.into_iter().map(|$item| $one).collect::<Vec<_>>())
        }
    };
    (
        impl[$($generics:tt)*] $Adaptor:ty where [$($bounds:tt)*]
        |$base:ident $(, $op:ident)?| again $again:expr, numbered $numbered:expr, paired $paired:expr, chunked $chunked:expr
    ) => {
        impl<$($generics)*> AwaitedInOrder for $Adaptor
        where
            $($bounds)*
        {
            fn enumerate(self) -> impl AwaitedInOrder<Item = (usize, Self::Item)> {
                let ($base, $($op)?) = self.into_parts();
                let $base = AwaitedInOrder::enumerate($base);
                $numbered
            }

            fn zip<Z>(self, other: Z) -> impl AwaitedInOrder<Item = (Self::Item, Z::Item)>
            where
                Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
            {
                let ($base, $($op)?) = self.into_parts();
                let $base = AwaitedInOrder::zip($base, other);
                $paired
            }

            fn take(self, n: usize) -> impl AwaitedInOrder<Item = Self::Item> {
                let ($base, $($op)?) = self.into_parts();
                let $base = AwaitedInOrder::take($base, n);
                $again
            }

            fn skip(self, n: usize) -> impl AwaitedInOrder<Item = Self::Item> {
                let ($base, $($op)?) = self.into_parts();
                let $base = AwaitedInOrder::skip($base, n);
                $again
            }

            #[track_caller]
            fn chunks(self, size: usize) -> impl AwaitedInOrder<Item = Vec<Self::Item>> {
                let ($base, $($op)?) = self.into_parts();
                let $base = AwaitedInOrder::chunks($base, size);
                $chunked
            }
        }
    };
    (impl[$($generics:tt)*] $Adaptor:ty where [$($bounds:tt)*] |$base:ident, $how:ident| again $again:expr) => {
        in_order! {
            impl[$($generics)*] $Adaptor where [$($bounds)*]
            |$base, $how| again $again, numbered $again, paired $again, chunked $again
        }
    };
}

in_order! {
    impl[I, F, R] Map<I, F> where [I: AwaitedInOrder, F: Fn(I::Item) -> R + Sync + Send, R: Send]
    |base, op; item| again base.map(op), one op(item)
}

in_order! {
    impl[I, F] Inspect<I, F> where [I: AwaitedInOrder, F: Fn(&I::Item) + Sync + Send]
    |base, op; item| again base.inspect(op), one {
        op(&item);
        item
    }
}

in_order! {
    impl[I] Log<I> where [I: AwaitedInOrder]
    |base, name; item| again Log::new(base, name), one {
        let _mark = furcate_pool::trace::log(name);
        item
    }
}

in_order! {
    impl[I, S] Progress<I, S> where [I: AwaitedInOrder, S: ProgressSink]
    |base, meter; item| again Progress::new(base, meter), one {
        meter.one();
        item
    }
}

in_order! {
    impl[I, F] Update<I, F> where [I: AwaitedInOrder, F: Fn(&mut I::Item) + Sync + Send]
    |base, op; item| again base.update(op), one {
        let mut item = item;
        op(&mut item);
        item
    }
}

in_order! {
    impl['a, I, T] Cloned<I> where [I: AwaitedInOrder<Item = &'a T>, T: Clone + Send + Sync + 'a]
    |base; item| again base.cloned(), one item.clone()
}

in_order! {
    impl['a, I, T] Copied<I> where [I: AwaitedInOrder<Item = &'a T>, T: Copy + Send + Sync + 'a]
    |base; item| again base.copied(), one *item
}

in_order! {
    impl[I, P] WithPolicy<I, P> where [I: AwaitedInOrder, P: Policy]
    |base, policy| again WithPolicy::new(base, policy)
}

in_order! {
    impl[I, E] On<I, E> where [I: AwaitedInOrder, E: Executor]
    |base, executor| again On::new(base, executor)
}

in_order! {
    impl[I] WithPriority<I, Priority> where [I: AwaitedInOrder]
    |base, priority| again WithPriority::new(base, priority)
}
