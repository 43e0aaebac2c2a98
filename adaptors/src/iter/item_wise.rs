//! The skeleton of all adaptors that treat every item by itself: `map`, `filter`, `flat_map_iter`, `inspect` and so on.
//!
//! Such an adaptor says one thing ([`ItemWise`]): into which iterator a leaf, or the items of a step, are turned.
//! Division, sizes and steps are the base's, and are passed on here, once.

use super::adaptor::divide_by_cut;
use furcate_schedulers::{
    Divisible, IndexedProducer, NanoFold, NanoLoops, PeekProducer, Producer, Suspendable,
};
use std::ops::ControlFlow;

/// The operation of an item-wise adaptor on items of type `T`.
pub trait ItemWise<T>: Copy + Send {
    /// Whether the operation may be applied to an item more than once, at no cost and with no effect.
    const FREE: bool = false;

    /// Whether the adaptor makes at most one item of each item: see [`Producer::SINGLE`].
    const SINGLE: bool = true;

    /// Whether an item goes on before new ones begin: see [`NanoFold::GOES_FIRST`].
    const GOES_FIRST: bool = false;

    /// Item type that comes out.
    type Output;

    /// Iterator over an adapted leaf.
    type Leaf<I: Iterator<Item = T>>: Iterator<Item = Self::Output>;

    /// Adapts a leaf.
    fn leaf<I: Iterator<Item = T>>(self, base: I) -> Self::Leaf<I>;

    /// Folds the adapted items of a step.
    #[inline]
    fn fold_loop<I, B, C, F>(self, accumulator: B, items: I, fold: &mut F) -> ControlFlow<C, B>
    where
        I: Iterator<Item = T>,
        F: NanoFold<Self::Output, B, C>,
    {
        fold.fold(accumulator, self.leaf(items))
    }
}

/// Declares a reference to a closure that lies in the adaptor. The producer's parts hold the reference.
macro_rules! borrowed_op {
    ($Op:ident) => {
        #[allow(missing_debug_implementations, reason = "a borrowed closure")]
        pub struct $Op<'a, F>(&'a F);

        $crate::iter::copies::copies!(impl[F] $Op<'_, F>);
    };
}
pub(crate) use borrowed_op;

/// Implements [`ParallelIterator`](super::ParallelIterator) and, for adaptors that map items one to one,
/// [`IndexedParallelIterator`](super::IndexedParallelIterator) for an adaptor of a `base: I`:
///
/// ```text
/// adapt_items! {
///     impl[I, F, R] Map<I, F> by MapOp<F>(map_op) => R, indexed
///     where [I: ParallelIterator, F: Fn(I::Item) -> R + Sync + Send, R: Send]
/// }
/// ```
///
/// reads: the pieces of a `Map<I, F>` hold a `MapOp`, which borrows the field `map_op` and gives items `R`.
macro_rules! adapt_items {
    (
        impl[$($generics:tt)*] $Name:ident<$($param:ident),*>
        by $Op:ident $(<$F:ident>($op:ident))? => $Item:ty
        where [$($bounds:tt)*]
    ) => {
        $crate::iter::item_wise::adapt_items! {
            @parallel [$($generics)*] $Name<$($param),*>, $Item, $Op $(<$F>($op))?, [$($bounds)*], {}
        }
    };
    (
        impl[$($generics:tt)*] $Name:ident<$($param:ident),*>
        by $Op:ident $(<$F:ident>($op:ident))? => $Item:ty, indexed
        where [$($bounds:tt)*]
    ) => {
        $crate::iter::item_wise::adapt_items! {
            @parallel [$($generics)*] $Name<$($param),*>, $Item, $Op $(<$F>($op))?, [$($bounds)*], {
                #[inline]
                fn opt_len(&self) -> Option<usize> {
                    self.base.opt_len()
                }
            }
        }

        impl<$($generics)*> $crate::iter::IndexedParallelIterator for $Name<$($param),*>
        where
            I: $crate::iter::IndexedParallelIterator,
            $($bounds)*
        {
            type IndexedProducer<'a>
                = $crate::iter::item_wise::Adapted<I::IndexedProducer<'a>, $Op $(<'a, $F>)?>
            where
                Self: 'a;

            #[inline]
            fn indexed_producer(&mut self) -> Self::IndexedProducer<'_> {
                $crate::iter::item_wise::Adapted::new(self.base.indexed_producer(), $Op $((&self.$op))?)
            }

            #[inline]
            fn len(&self) -> usize {
                self.base.len()
            }
        }

        impl<$($generics)*> $crate::iter::PeekParallelIterator for $Name<$($param),*>
        where
            I: $crate::iter::PeekParallelIterator,
            $($bounds)*
        {
            type PeekProducer<'a>
                = $crate::iter::item_wise::Adapted<I::PeekProducer<'a>, $Op $(<'a, $F>)?>
            where
                Self: 'a;

            #[inline]
            fn peek_producer(&mut self) -> Self::PeekProducer<'_> {
                $crate::iter::item_wise::Adapted::new(self.base.peek_producer(), $Op $((&self.$op))?)
            }
        }
    };
    (
        @parallel [$($generics:tt)*] $Name:ident<$($param:ident),*>, $Item:ty,
        $Op:ident $(<$F:ident>($op:ident))?, [$($bounds:tt)*], {$($opt_len:tt)*}
    ) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $Name<$($param),*>
        where
            $($bounds)*
        {
            type Item = $Item;
            type Producer<'a>
                = $crate::iter::item_wise::Adapted<I::Producer<'a>, $Op $(<'a, $F>)?>
            where
                Self: 'a;

            $crate::iter::inherit_schedule!(base: I);

            #[inline]
            fn producer(&mut self) -> Self::Producer<'_> {
                $crate::iter::item_wise::Adapted::new(self.base.producer(), $Op $((&self.$op))?)
            }

            #[inline]
            fn units(&self) -> Option<usize> {
                self.base.units()
            }

            $($opt_len)*
        }
    };
}
pub(crate) use adapt_items;

/// The producer of an item-wise adaptor.
#[derive(Debug)]
pub struct Adapted<P, S> {
    base: P,
    shape: S,
}

impl<P, S> Adapted<P, S> {
    #[inline]
    pub(crate) fn new(base: P, shape: S) -> Self {
        Adapted { base, shape }
    }

    /// Returns a function that wraps parts of the base. It is for [`wrapping`](NanoLoops::wrapping): a closure written
    /// there would contain the whole type of the loops, twice in every adaptor of a chain, and make names of gigabytes
    /// for debuggers.
    #[inline]
    fn wrap(shape: S) -> impl FnMut(P) -> Self
    where
        S: Copy,
    {
        move |base| Adapted { base, shape }
    }

    /// Returns the base: the inverse of [`wrap`](Self::wrap).
    #[inline]
    fn unwrap(self) -> Option<P> {
        Some(self.base)
    }

    #[inline]
    fn cut(self, cut_base: impl FnOnce(P) -> (P, P)) -> (Self, Self)
    where
        S: Copy,
    {
        let (left, right) = cut_base(self.base);
        (Adapted::new(left, self.shape), Adapted::new(right, self.shape))
    }
}

impl<P: Divisible, S: Copy> Divisible for Adapted<P, S> {
    #[inline]
    fn size(&self) -> usize {
        self.base.size()
    }

    #[inline]
    fn should_be_divided(&self) -> bool {
        self.base.should_be_divided()
    }

    divide_by_cut!(P);
}

impl<P: IntoIterator, S: ItemWise<P::Item>> IntoIterator for Adapted<P, S> {
    type Item = S::Output;
    type IntoIter = S::Leaf<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.shape.leaf(self.base.into_iter())
    }
}

impl<P: Producer, S: ItemWise<P::Item>> Producer for Adapted<P, S> {
    const PIECES: bool = P::PIECES;
    const LOOPS_CUT: bool = P::LOOPS_CUT;
    const GROWS: bool = P::GROWS;
    const SINGLE: bool = P::SINGLE && S::SINGLE;
    const COSTLY_CUTS: bool = P::COSTLY_CUTS;
    const IN_ORDER: bool = P::IN_ORDER;

    #[inline]
    fn partial_fold<B, C, F, L>(self, init: B, fold: F, loops: &mut L) -> ControlFlow<C, B>
    where
        F: NanoFold<Self::Item, B, C>,
        L: NanoLoops<Self>,
    {
        let Adapted { base, shape } = self;
        let mut loops = loops.wrapping(Self::wrap(shape), Self::unwrap);
        base.partial_fold(init, AdaptedFold { fold, shape }, &mut loops)
    }

    #[inline]
    fn suspending_fold<'s, B, F, L>(self, init: B, fold: F, loops: &mut L) -> ControlFlow<B, B>
    where
        Self: 's,
        B: Suspendable<'s>,
        F: NanoFold<Self::Item, B, B> + Clone + Send + 's,
        L: NanoLoops<Self>,
    {
        let Adapted { base, shape } = self;
        let mut loops = loops.wrapping(Self::wrap(shape), Self::unwrap);
        base.suspending_fold(init, AdaptedFold { fold, shape }, &mut loops)
    }
}

/// Adapts the items of a step.
#[derive(Clone)]
struct AdaptedFold<F, S> {
    fold: F,
    shape: S,
}

impl<T, B, C, F, S> NanoFold<T, B, C> for AdaptedFold<F, S>
where
    S: ItemWise<T>,
    F: NanoFold<S::Output, B, C>,
{
    const IS_WHOLE: bool = F::IS_WHOLE;
    const WAITS: bool = F::WAITS;
    const GOES_FIRST: bool = F::GOES_FIRST || S::GOES_FIRST;

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, accumulator: B, items: I) -> ControlFlow<C, B> {
        self.shape.fold_loop(accumulator, items, &mut self.fold)
    }
}

impl<P, S> IndexedProducer for Adapted<P, S>
where
    P: IndexedProducer,
    S: ItemWise<P::Item>,
    S::Leaf<P::IntoIter>: ExactSizeIterator + DoubleEndedIterator,
{
}

/// A look at an item adapts the item, as taking it does.
impl<P, S> PeekProducer for Adapted<P, S>
where
    P: PeekProducer,
    S: ItemWise<P::Item>,
    S::Leaf<P::IntoIter>: ExactSizeIterator + DoubleEndedIterator,
{
    const LOOKS_ARE_ITEMS: bool = P::LOOKS_ARE_ITEMS && S::FREE;

    #[inline]
    fn peek(&self, index: usize) -> S::Output {
        let item = std::iter::once(self.base.peek(index));
        self.shape.leaf(item).next().expect("an adaptor with positions makes one item of each")
    }
}
