//! Tuples of parallel iterators: items side by side.

use super::zip::ZipProducer;
use crate::iter::mapped::{MapItem, Mapped};
use crate::iter::scoped::Scopes;
use crate::iter::stage::{Adapted, PerItem, Stage, StageFacts};
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, PeekParallelIterator};

/// A parallel iterator over tuples: one item of each of 1 to 12 iterators. A tuple of things that become indexed parallel iterators becomes
/// one of these, and so does a shared or a mutable reference to such a tuple.
///
/// It is as long as the shortest of its iterators. The schedule is that of the first one, as in
/// [`zip`](IndexedParallelIterator::zip).
///
/// ```
/// use furcate::prelude::*;
///
/// let (names, ages) = (["Ada", "Bob", "Eve"], vec![36, 41, 29]);
/// let mut seen = [false; 3];
/// let it: furcate::iter::MultiZip<_> = (&names, &ages, &mut seen).into_par_iter();
/// it.for_each(|(name, age, seen)| *seen = name.len() == 3 && *age > 30);
/// assert_eq!(seen, [true, true, false]);
///
/// // By reference to the tuple:
/// let columns = (vec![1, 2, 3], vec![10, 20, 30]);
/// assert_eq!(columns.par_iter().map(|(a, b)| a * b).sum::<i32>(), 140);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Clone, Debug)]
pub struct MultiZip<T> {
    iters: T,
}

/// Makes flat tuples of `N` items from nested pairs.
#[derive(Clone, Copy, Debug)]
pub struct Unnest<const N: usize>;

impl<T: Send, const N: usize> Stage<T> for Unnest<N>
where
    Unnest<N>: MapItem<T>,
{
    const FACTS: StageFacts = StageFacts { free: true, ..StageFacts::ONE };
    type Item = <Unnest<N> as MapItem<T>>::Output;
    type Iter<I: Iterator<Item = T>> = Mapped<I, Unnest<N>>;

    #[inline]
    fn apply<I: Iterator<Item = T>>(self, items: I) -> Mapped<I, Unnest<N>> {
        Mapped::new(items, self)
    }
}

/// The pair of a pair of a pair ... of producers.
macro_rules! nested_producers {
    ($P:ty) => { $P };
    ($P:ty, $Q:ty $(, $R:ty)*) => { nested_producers!(ZipProducer<$P, $Q> $(, $R)*) };
}

/// The type of a pair of a pair of a pair ...
macro_rules! nested_type {
    ($T:ty) => { $T };
    ($T:ty, $U:ty $(, $V:ty)*) => { nested_type!(($T, $U) $(, $V)*) };
}

/// The pattern of a pair of a pair of a pair ...
macro_rules! nested_pattern {
    ($a:pat) => { $a };
    ($a:pat, $b:pat $(, $c:pat)*) => { nested_pattern!(($a, $b) $(, $c)*) };
}

macro_rules! zip_producers {
    ($a:expr) => { $a };
    ($a:expr, $b:expr $(, $c:expr)*) => { zip_producers!(ZipProducer::new($a, $b) $(, $c)*) };
}

macro_rules! multi_zip {
    ($($n:literal: $first:ident $First:ident $(, $rest:ident $Rest:ident)*;)+) => {$(
        impl<$First, $($Rest),*> MapItem<nested_type!($First $(, $Rest)*)> for Unnest<$n> {
            type Output = ($First, $($Rest,)*);

            #[inline]
            fn map_item(&mut self, nested_pattern!($first $(, $rest)*): nested_type!($First $(, $Rest)*)) -> Self::Output {
                ($first, $($rest,)*)
            }
        }

        impl<$First, $($Rest),*> ParallelIterator for MultiZip<($First, $($Rest,)*)>
        where
            $First: IndexedParallelIterator,
            $($Rest: IndexedParallelIterator,)*
        {
            type Item = ($First::Item, $($Rest::Item,)*);
            type Producer<'a>
                = Adapted<
                    nested_producers!($First::IndexedProducer<'a> $(, $Rest::IndexedProducer<'a>)*),
                    PerItem<Unnest<$n>>,
                >
            where
                Self: 'a;
            type Schedule = $First::Schedule;

            const SCOPED: bool = $First::SCOPED $(|| $Rest::SCOPED)*;

            fn scopes<'scope>(&mut self, scopes: &mut Scopes<'scope>)
            where
                Self: 'scope,
            {
                let ($first, $($rest,)*) = &mut self.iters;
                $first.scopes(scopes);
                $($rest.scopes(scopes);)*
            }

            #[inline]
            fn schedule(&self) -> Self::Schedule {
                self.iters.0.schedule()
            }

            #[inline]
            fn producer(&mut self) -> Self::Producer<'_> {
                self.indexed_producer()
            }

            #[inline]
            fn opt_len(&self) -> Option<usize> {
                Some(self.len())
            }
        }

        impl<$First, $($Rest),*> IndexedParallelIterator for MultiZip<($First, $($Rest,)*)>
        where
            $First: IndexedParallelIterator,
            $($Rest: IndexedParallelIterator,)*
        {
            type IndexedProducer<'a>
                = Self::Producer<'a>
            where
                Self: 'a;

            #[inline]
            fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
                let ($first, $($rest,)*) = &mut self.iters;
                Adapted::new(zip_producers!($first.indexed_producer() $(, $rest.indexed_producer())*), PerItem(Unnest))
            }

            #[inline]
            fn len(&self) -> usize {
                let ($first, $($rest,)*) = &self.iters;
                $first.len()$(.min($rest.len()))*
            }
        }

        impl<$First, $($Rest),*> PeekParallelIterator for MultiZip<($First, $($Rest,)*)>
        where
            $First: PeekParallelIterator,
            $($Rest: PeekParallelIterator,)*
        {
            type PeekProducer<'a>
                = Adapted<
                    nested_producers!($First::PeekProducer<'a> $(, $Rest::PeekProducer<'a>)*),
                    PerItem<Unnest<$n>>,
                >
            where
                Self: 'a;

            #[inline]
            fn peek_producer(&mut self) -> Self::PeekProducer<'_> {
                let ($first, $($rest,)*) = &mut self.iters;
                Adapted::new(zip_producers!($first.peek_producer() $(, $rest.peek_producer())*), PerItem(Unnest))
            }
        }

        impl<$First, $($Rest),*> IntoParallelIterator for ($First, $($Rest,)*)
        where
            $First: IntoParallelIterator<Iter: IndexedParallelIterator>,
            $($Rest: IntoParallelIterator<Iter: IndexedParallelIterator>,)*
        {
            type Iter = MultiZip<($First::Iter, $($Rest::Iter,)*)>;
            type Item = ($First::Item, $($Rest::Item,)*);

            #[inline]
            fn into_par_iter(self) -> Self::Iter {
                let ($first, $($rest,)*) = self;
                MultiZip { iters: ($first.into_par_iter(), $($rest.into_par_iter(),)*) }
            }
        }

        impl<'data, $First, $($Rest),*> IntoParallelIterator for &'data ($First, $($Rest,)*)
        where
            &'data $First: IntoParallelIterator<Iter: IndexedParallelIterator>,
            $(&'data $Rest: IntoParallelIterator<Iter: IndexedParallelIterator>,)*
        {
            type Iter = <(&'data $First, $(&'data $Rest,)*) as IntoParallelIterator>::Iter;
            type Item = <(&'data $First, $(&'data $Rest,)*) as IntoParallelIterator>::Item;

            #[inline]
            fn into_par_iter(self) -> Self::Iter {
                let ($first, $($rest,)*) = self;
                ($first, $($rest,)*).into_par_iter()
            }
        }

        impl<'data, $First, $($Rest),*> IntoParallelIterator for &'data mut ($First, $($Rest,)*)
        where
            &'data mut $First: IntoParallelIterator<Iter: IndexedParallelIterator>,
            $(&'data mut $Rest: IntoParallelIterator<Iter: IndexedParallelIterator>,)*
        {
            type Iter = <(&'data mut $First, $(&'data mut $Rest,)*) as IntoParallelIterator>::Iter;
            type Item = <(&'data mut $First, $(&'data mut $Rest,)*) as IntoParallelIterator>::Item;

            #[inline]
            fn into_par_iter(self) -> Self::Iter {
                let ($first, $($rest,)*) = self;
                ($first, $($rest,)*).into_par_iter()
            }
        }
    )+};
}

multi_zip! {
    1: a A;
    2: a A, b B;
    3: a A, b B, c C;
    4: a A, b B, c C, d D;
    5: a A, b B, c C, d D, e E;
    6: a A, b B, c C, d D, e E, f F;
    7: a A, b B, c C, d D, e E, f F, g G;
    8: a A, b B, c C, d D, e E, f F, g G, h H;
    9: a A, b B, c C, d D, e E, f F, g G, h H, i I;
    10: a A, b B, c C, d D, e E, f F, g G, h H, i I, j J;
    11: a A, b B, c C, d D, e E, f F, g G, h H, i I, j J, k K;
    12: a A, b B, c C, d D, e E, f F, g G, h H, i I, j J, k K, l L;
}
