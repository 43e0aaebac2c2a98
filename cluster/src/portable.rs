//! Chains whose parts can be described to another process that has built the same chain.
//!
//! Two processes that run the same program build the same chain, each with closures and data of its own. So a part of the chain is
//! described without closures, in one of two forms:
//!
//! | form | a part is described by | chains over |
//! |---|---|---|
//! | [`ByPosition`] | the position of its first unit, and its size | ranges, slices, vectors: sources that every process has |
//! | [`ByValue`] | the piece itself, which has to be encoded | the pieces of [`wrap_iter`](furcate_adaptors::iter::WrapIter::wrap_iter) and [`work`](furcate_adaptors::iter::WrapIter::work) |
//!
//! # Invariants
//!
//! 1. *Equal cuts.* In the form `ByPosition`, the units of a producer are the same in every process, and a cut after `i` units is the
//!    same cut. Chains whose tasks share a count or a flag (`take_any`, `while_some`) are not portable, because the count
//!    would be that of one process. (The flag of `panic_fuse` is raised by a panic only.) Sources whose order may differ between processes are not
//!    portable either: hash maps and sets, whose hashers are random, and heaps.
//! 2. *Everything is in the value.* In the form `ByValue`, a part is its value and the chain's closures. A chain into which the
//!    value of a part has been [put](Portable::put) lends that part. So a chain that can be lent only once (`map_with`, `fold_with`) is portable in the
//!    form `ByPosition` only; `map_init` and `fold` can be lent again.

use furcate_adaptors::collections::{btree_map, btree_set, linked_list, vec_deque};
use furcate_adaptors::iter::{
    Chain, Chunks, Cloned, Copied, Empty, Enumerate, Filter, FilterMap, FlatMapIter, FlattenIter, Fold,
    FoldChunks, FoldChunksWith, FoldWith, FromProducer, Inspect, Interleave, InterleaveShortest, Intersperse,
    IoAwait, Log, Map, MapInit, MapWith, On, Once, PanicFuse, ParallelIterator, Positions, Progress,
    ProgressSink, RepeatN, Rev, Skip, Stage, Staged, StepBy, Take, Update, With, WithPolicy, WithScheduler,
    Work, Wrap, WrapIter, Zip, ZipEq,
};
use furcate_adaptors::slice::Chunked;
use furcate_adaptors::{array, option, range, range_inclusive, result, slice, vec};
use furcate_pool::Executor;
use furcate_schedulers::{Divisible, Plan, Policy, Scheduler};
use std::convert::Infallible;
use std::marker::PhantomData;

/// The form in which parts of a chain are described: [`ByPosition`] or [`ByValue`].
///
/// This trait is not implemented outside this crate.
pub trait Form: sealed::Sealed {
    /// The value that describes a part.
    type Value: Send;
}

/// A part is described by its position and its size. See [`Portable`].
#[derive(Clone, Copy, Debug)]
pub enum ByPosition {}

/// A part is described by a value of type `D`. See [`Portable`].
#[derive(Clone, Copy, Debug)]
pub struct ByValue<D>(PhantomData<fn() -> D>);

impl Form for ByPosition {
    type Value = Infallible;
}

impl<D: Send> Form for ByValue<D> {
    type Value = D;
}

mod sealed {
    /// Keeps `Form` from being implemented elsewhere.
    pub trait Sealed {}
    impl Sealed for super::ByPosition {}
    impl<D> Sealed for super::ByValue<D> {}
}

/// Type of the values that describe parts of a chain.
pub type ValueOf<I> = <<I as Portable>::Form as Form>::Value;

/// A chain whose parts can be described to another process that has built the same chain. Its parts can be sent to another rank: see
/// [`SpreadOver`](crate::SpreadOver).
///
/// A source of your own that every process has, and that is cut at exact positions, needs one line:
///
/// ```
/// use furcate::Plan;
/// use furcate::prelude::*;
/// use furcate_cluster::{ByPosition, Portable};
///
/// struct Deck;
///
/// impl ParallelIterator for Deck {
///     type Item = u32;
///     type Producer<'a> = std::ops::Range<u32>;
///     type Schedule = Plan;
///     fn producer(&mut self) -> Self::Producer<'_> {
///         0..52
///     }
///     fn schedule(&self) -> Plan {
///         Plan::new()
///     }
/// }
///
/// impl Portable for Deck {
///     type Form = ByPosition;
/// }
/// ```
///
/// A chain that can be lent only once has no parts by value:
///
/// ```compile_fail,E0271
/// use furcate::prelude::*;
/// use furcate_cluster::Portable;
///
/// fn portable<I: Portable>(_: I) {}
/// portable(vec![1].wrap_iter().map_with(0, |_, part: Vec<i32>| part.len()));
/// ```
#[diagnostic::on_unimplemented(
    message = "parts of `{Self}` cannot be described to another process",
    note = "positions in such a chain mean nothing elsewhere (hash maps, strings, bridges), or its tasks share a count or a flag \
            (`take_any`, `while_some`): the book's chapter on many machines says what to write instead",
    note = "a source of your own that is cut at exact positions needs one line: `impl Portable for .. {{ type Form = ByPosition; }}`"
)]
pub trait Portable: ParallelIterator {
    /// The form of the descriptions.
    type Form: Form;

    /// Replaces the whole by the value of a part, to be lent next. Called in the form [`ByValue`].
    fn put(&mut self, value: ValueOf<Self>) {
        let _ = value;
    }

    /// Returns the value of a part; `None` in the form [`ByPosition`], or if nothing is left of the part.
    fn value<'a>(part: Self::Producer<'a>) -> Option<ValueOf<Self>>
    where
        Self: 'a,
    {
        let _ = part;
        None
    }
}

/// Sources, and adaptors of bases (in the brackets) that have positions.
macro_rules! by_position {
    ($(impl[$($generics:tt)*] $Name:ty $(where [$($Base:ident),+])?;)+) => {$(
        impl<$($generics)*> Portable for $Name
        where
            Self: ParallelIterator,
            $($($Base: Portable<Form = ByPosition>,)+)?
        {
            type Form = ByPosition;
        }
    )+};
}

by_position! {
    impl[T] range::Iter<T>;
    impl[T] range_inclusive::Iter<T>;
    impl['data, T] slice::Iter<'data, T>;
    impl['data, T] slice::IterMut<'data, T>;
    impl[T] vec::IntoIter<T>;
    impl[T: Send] vec::Drain<'_, T>;
    impl[V, K] Chunked<V, K>;
    impl[T, const N: usize] array::IntoIter<T, N>;
    impl[T] vec_deque::IntoIter<T>;
    impl['data, T] vec_deque::Iter<'data, T>;
    impl['data, T] vec_deque::IterMut<'data, T>;
    impl[T] vec_deque::Drain<'_, T>;
    impl[T] linked_list::IntoIter<T>;
    impl['data, T] linked_list::Iter<'data, T>;
    impl['data, T] linked_list::IterMut<'data, T>;
    impl[K, V] btree_map::IntoIter<K, V>;
    impl['data, K, V] btree_map::Iter<'data, K, V>;
    impl['data, K, V] btree_map::IterMut<'data, K, V>;
    impl[T] btree_set::IntoIter<T>;
    impl['data, T] btree_set::Iter<'data, T>;
    impl[T] option::IntoIter<T>;
    impl['data, T] option::Iter<'data, T>;
    impl['data, T] option::IterMut<'data, T>;
    impl[T] result::IntoIter<T>;
    impl['data, T] result::Iter<'data, T>;
    impl['data, T] result::IterMut<'data, T>;
    impl[T] Empty<T>;
    impl[T] Once<T>;
    impl[T] RepeatN<T>;
    impl[P] FromProducer<P>;
    impl[I] Enumerate<I> where [I];
    impl[I] Rev<I> where [I];
    impl[I] Skip<I> where [I];
    impl[I] Take<I> where [I];
    impl[I] StepBy<I> where [I];
    impl[I] Chunks<I> where [I];
    impl[I] Intersperse<I> where [I];
    impl[I, D, F] FoldChunks<I, D, F> where [I];
    impl[I, T, F] FoldChunksWith<I, T, F> where [I];
    impl[I, P] Positions<I, P> where [I];
    impl[I, T, F] MapWith<I, T, F> where [I];
    impl[I, T, F] FoldWith<I, T, F> where [I];
    impl[A, B] Interleave<A, B> where [A, B];
    impl[A, B] InterleaveShortest<A, B> where [A, B];
    impl[A, B] Zip<A, B> where [A, B];
    impl[A, B] ZipEq<A, B> where [A, B];
    impl[A, B] Chain<A, B> where [A, B];
}

/// Adaptors that have the form of their base. `$base` turns a part into a part of the base.
macro_rules! as_base {
    ($(impl[$($generics:tt)*] $Name:ty where [$($bounds:tt)*] |$part:ident| $base:expr;)+) => {$(
        impl<$($generics)*> Portable for $Name
        where
            I: Portable,
            $($bounds)*
        {
            type Form = I::Form;

            fn put(&mut self, value: ValueOf<I>) {
                self.base.put(value);
            }

            fn value<'a>($part: Self::Producer<'a>) -> Option<ValueOf<I>>
            where
                Self: 'a,
            {
                I::value($base)
            }
        }
    )+};
}

as_base! {
    impl[I, F, R] Map<I, F> where [F: Fn(I::Item) -> R + Sync + Send, R: Send] |part| part.base;
    impl[I, P] Filter<I, P> where [P: Fn(&I::Item) -> bool + Sync + Send] |part| part.base;
    impl[I, F, R] FilterMap<I, F> where [F: Fn(I::Item) -> Option<R> + Sync + Send, R: Send] |part| part.base;
    impl[I, F] Inspect<I, F> where [F: Fn(&I::Item) + Sync + Send] |part| part.base;
    impl[I] Log<I> where [] |part| part.base;
    impl[I, S] Progress<I, S> where [S: ProgressSink] |part| part.base;
    impl[I, F] Update<I, F> where [F: Fn(&mut I::Item) + Sync + Send] |part| part.base;
    impl['data, T, I] Copied<I> where [I: ParallelIterator<Item = &'data T>, T: Copy + Send + Sync + 'data] |part| part.base;
    impl['data, T, I] Cloned<I> where [I: ParallelIterator<Item = &'data T>, T: Clone + Send + Sync + 'data] |part| part.base;
    impl[I] FlattenIter<I> where [I: ParallelIterator<Item: IntoIterator<Item: Send>>] |part| part.base;
    impl[I, F, S] FlatMapIter<I, F> where [F: Fn(I::Item) -> S + Sync + Send, S: IntoIterator<Item: Send>] |part| part.base;
    impl[I] PanicFuse<I> where [] |part| part.base;
    impl[I, S] Staged<I, S> where [S: Stage<I::Item, Item: Send>] |part| part.base;
    impl[I, N, F, T, R] MapInit<I, N, F> where [N: Fn() -> T + Sync + Send, F: Fn(&mut T, I::Item) -> R + Sync + Send, R: Send] |part| part.base;
    impl[I, D, F, T] Fold<I, D, F> where [D: Fn() -> T + Sync + Send, F: Fn(T, I::Item) -> T + Sync + Send, T: Send] |part| part.into_base()?;
    impl[I] IoAwait<I> where [I: ParallelIterator<Item: IntoFuture<Output: Send, IntoFuture: Send>>] |part| part.base;
    impl[I, P] WithPolicy<I, P> where [P: Policy] |part| part;
    impl[I, S] WithScheduler<I, S> where [S: Scheduler] |part| part;
    impl[I, E] On<I, E> where [E: Executor] |part| part;
    impl[I, P, S, E] With<I, Plan<P, S, E>> where [P: Policy, S: Scheduler, E: Executor] |part| part;
}

impl<D: Divisible + Send> Portable for Wrap<D> {
    type Form = ByValue<D>;

    fn put(&mut self, value: D) {
        *self = value.wrap_iter();
    }

    fn value<'a>(part: Self::Producer<'a>) -> Option<D>
    where
        Self: 'a,
    {
        part.into_iter().next()
    }
}

impl<D, A, T, S, F, E> Portable for Work<D, S, F, E>
where
    D: Divisible + Send,
    S: Fn(&D) -> A + Sync + Send,
    F: Fn(&mut A, &mut D, usize) + Sync + Send,
    E: Fn(A) -> T + Sync + Send,
    T: Send,
{
    type Form = ByValue<D>;

    fn put(&mut self, value: D) {
        self.whole = Some(value);
    }

    fn value<'a>(part: Self::Producer<'a>) -> Option<D>
    where
        Self: 'a,
    {
        part.piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use furcate_adaptors::prelude::*;

    /// Takes the right half out of a chain, and puts it into an equal chain.
    fn carried<I: Portable<Form = ByValue<D>>, D: Send>(mut here: I, mut there: I) -> Vec<I::Item> {
        let (left, right) = here.producer().divide();
        drop(left);
        let value = I::value(right).expect("the half is not empty");
        there.put(value);
        there.collect()
    }

    #[test]
    fn values_go_through_adaptors() {
        let chain = || {
            (0..10_u32)
                .wrap_iter()
                .map(|piece| (piece.start, piece.end))
                .filter(|_| true)
                .inspect(|_| ())
                .bound_depth(1)
                .map_init(|| 1, |one, (start, end)| start * 100 + end + *one - 1)
                .fold(Vec::new, |mut all, x| {
                    all.push(x);
                    all
                })
                .sequential()
                .on(furcate_pool::Inline)
        };
        assert_eq!(carried(chain(), chain()), [[510]]);
    }

    #[test]
    fn values_go_through_work() {
        let chain = || {
            (0..10_u32).work(
                |piece| (piece.start, 0),
                |state, piece, n| state.1 += piece.by_ref().take(n).count(),
                |state| state,
            )
        };
        assert_eq!(carried(chain(), chain()).iter().map(|x| x.1).sum::<usize>(), 5);
    }

    #[test]
    fn positions_have_no_value() {
        fn value<I: Portable<Form = ByPosition>>(mut chain: I) -> bool {
            I::value(chain.producer()).is_some()
        }
        assert!(!value((0..10).into_par_iter().map(|x| x + 1).enumerate()));
        assert!(!value([1, 2].par_iter().zip(vec![3, 4])));
    }
}
