//! Splitting slices at elements for which a predicate is true, and between neighbors for which it is false.

use crate::separated::{Between, Inclusive, Separator, Splits, Splitting};
use furcate_schedulers::Divisible;
use std::iter::{Chain, Flatten};
use std::ops::{Deref, Range};
use std::option;

/// Every element for which a predicate is true is a separator.
#[derive(Clone, Copy, Debug)]
pub struct Elements<F>(F);

impl<T, F: Fn(&T) -> bool + Sync + Send> Separator<[T]> for Elements<F> {
    fn find(&self, slice: &[T], range: Range<usize>) -> Option<Range<usize>> {
        let at = range.start + slice[range].iter().position(&self.0)?;
        Some(at..at + 1)
    }

    fn rfind(&self, slice: &[T], range: Range<usize>) -> Option<Range<usize>> {
        let at = range.start + slice[range].iter().rposition(&self.0)?;
        Some(at..at + 1)
    }
}

/// Every element that does not belong together with the next one is a separator: the last element of its run.
#[derive(Clone, Copy, Debug)]
pub struct RunEnds<F>(F);

impl<F> RunEnds<F> {
    /// Returns the elements of a range, each with the next one.
    fn pairs<T>(slice: &[T], range: Range<usize>) -> std::slice::Windows<'_, T> {
        slice[range.start..slice.len().min(range.end.saturating_add(1))].windows(2)
    }

    fn ends<T>(&self) -> impl Fn(&[T]) -> bool
    where
        F: Fn(&T, &T) -> bool,
    {
        |pair| matches!(pair, [last, next] if !(self.0)(last, next))
    }
}

impl<T, F: Fn(&T, &T) -> bool + Sync + Send> Separator<[T]> for RunEnds<F> {
    fn find(&self, slice: &[T], range: Range<usize>) -> Option<Range<usize>> {
        let at = range.start + Self::pairs(slice, range).position(self.ends())?;
        Some(at..at + 1)
    }

    fn rfind(&self, slice: &[T], range: Range<usize>) -> Option<Range<usize>> {
        let at = range.start + Self::pairs(slice, range).rposition(self.ends())?;
        Some(at..at + 1)
    }
}

/// Items that std finds, and one that is known.
type AndKnown<I> = Chain<Flatten<option::IntoIter<I>>, option::IntoIter<<I as Iterator>::Item>>;

/// Makes a leaf of a slice that has been searched from `unsearched` on: std splits the part in front of the last separator.
fn leaf<V, F, I>(
    slice: V,
    unsearched: usize,
    separator: &F,
    keeps_separators: bool,
    by_std: impl Fn(V) -> I,
) -> AndKnown<I>
where
    V: Divisible + Deref,
    F: Separator<V::Target>,
    I: Iterator<Item = V>,
{
    let (front, last) = if unsearched >= slice.size() {
        (Some(slice), None)
    } else {
        match separator.rfind(&slice, 0..unsearched) {
            None => (None, Some(slice)),
            Some(separator) => {
                let (front, last) = slice.divide_at(separator.end);
                let front = if keeps_separators { front } else { front.divide_at(separator.start).0 };
                (Some(front), Some(last))
            }
        }
    };
    front.map(by_std).into_iter().flatten().chain(last)
}

/// Kinds of splitting: std's iterators over shared and mutable slices.
macro_rules! kinds_of_splitting {
    ($($Kind:ident, $keeps:literal, $Separator:ident($($element:ty),+):
        $leaf:ident -> $Leaf:ident, $leaf_mut:ident -> $LeafMut:ident;)+) => {$(
        impl<'data, T, F> Splitting<&'data [T], $Separator<F>> for $Kind
        where
            F: Fn($($element),+) -> bool + Sync + Send,
        {
            const KEEPS_SEPARATORS: bool = $keeps;

            type Leaf<'a> = AndKnown<std::slice::$Leaf<'data, T, &'a F>> where F: 'a;

            #[inline]
            fn leaf<'a>(self, slice: &'data [T], unsearched: usize, separator: &'a $Separator<F>) -> Self::Leaf<'a> {
                leaf(slice, unsearched, separator, $keeps, |slice| slice.$leaf(&separator.0))
            }
        }

        impl<'data, T, F> Splitting<&'data mut [T], $Separator<F>> for $Kind
        where
            F: Fn($($element),+) -> bool + Sync + Send,
        {
            const KEEPS_SEPARATORS: bool = $keeps;

            type Leaf<'a> = AndKnown<std::slice::$LeafMut<'data, T, &'a F>> where F: 'a;

            #[inline]
            fn leaf<'a>(self, slice: &'data mut [T], unsearched: usize, separator: &'a $Separator<F>) -> Self::Leaf<'a> {
                leaf(slice, unsearched, separator, $keeps, |slice| slice.$leaf_mut(&separator.0))
            }
        }
    )+};
}

kinds_of_splitting! {
    Between, false, Elements(&T): split -> Split, split_mut -> SplitMut;
    Inclusive, true, Elements(&T): split_inclusive -> SplitInclusive, split_inclusive_mut -> SplitInclusiveMut;
    Inclusive, true, RunEnds(&T, &T): chunk_by -> ChunkBy, chunk_by_mut -> ChunkByMut;
}

impl<V, F> Splits<V, Between, Elements<F>> {
    pub(crate) fn between(slice: V, separator: F) -> Self {
        Splits::new(slice, Between, Elements(separator))
    }
}

impl<V, F> Splits<V, Inclusive, Elements<F>> {
    pub(crate) fn inclusive(slice: V, separator: F) -> Self {
        Splits::new(slice, Inclusive, Elements(separator))
    }
}

impl<V, F> Splits<V, Inclusive, RunEnds<F>> {
    pub(crate) fn runs(slice: V, together: F) -> Self {
        Splits::new(slice, Inclusive, RunEnds(together))
    }
}

/// A parallel iterator over the parts between separators: see
/// [`ParallelSlice::par_split`](super::ParallelSlice::par_split).
///
/// ```
/// use furcate::prelude::*;
/// let v = [1, 2, 0, 3];
/// let it: furcate::slice::Split<_, _> = v.par_split(|x| *x == 0);
/// assert_eq!(it.collect::<Vec<_>>(), [&[1, 2][..], &[3]]);
/// ```
pub type Split<'data, T, P> = Splits<&'data [T], Between, Elements<P>>;

/// A parallel iterator over the mutable parts between separators: see
/// [`ParallelSliceMut::par_split_mut`](super::ParallelSliceMut::par_split_mut).
///
/// ```
/// use furcate::prelude::*;
/// let mut v = [1, 2, 0, 3];
/// let it: furcate::slice::SplitMut<_, _> = v.par_split_mut(|x| *x == 0);
/// it.for_each(|part| part.reverse());
/// assert_eq!(v, [2, 1, 0, 3]);
/// ```
pub type SplitMut<'data, T, P> = Splits<&'data mut [T], Between, Elements<P>>;

/// A parallel iterator over subslices that end with a separator: see
/// [`ParallelSlice::par_split_inclusive`](super::ParallelSlice::par_split_inclusive).
///
/// ```
/// use furcate::prelude::*;
/// let v = [1, 2, 0, 3];
/// let it: furcate::slice::SplitInclusive<_, _> = v.par_split_inclusive(|x| *x == 0);
/// assert_eq!(it.collect::<Vec<_>>(), [&[1, 2, 0][..], &[3]]);
/// ```
pub type SplitInclusive<'data, T, P> = Splits<&'data [T], Inclusive, Elements<P>>;

/// A parallel iterator over mutable subslices that end with a separator: see
/// [`ParallelSliceMut::par_split_inclusive_mut`](super::ParallelSliceMut::par_split_inclusive_mut).
///
/// ```
/// use furcate::prelude::*;
/// let mut v = [1, 2, 0, 3];
/// let it: furcate::slice::SplitInclusiveMut<_, _> = v.par_split_inclusive_mut(|x| *x == 0);
/// it.for_each(|part| part.reverse());
/// assert_eq!(v, [0, 2, 1, 3]);
/// ```
pub type SplitInclusiveMut<'data, T, P> = Splits<&'data mut [T], Inclusive, Elements<P>>;

/// A parallel iterator over runs of elements that belong together: see
/// [`ParallelSlice::par_chunk_by`](super::ParallelSlice::par_chunk_by).
///
/// ```
/// use furcate::prelude::*;
/// let v = [1, 1, 2];
/// let it: furcate::slice::ChunkBy<_, _> = v.par_chunk_by(|a, b| a == b);
/// assert_eq!(it.collect::<Vec<_>>(), [&[1, 1][..], &[2]]);
/// ```
pub type ChunkBy<'data, T, P> = Splits<&'data [T], Inclusive, RunEnds<P>>;

/// A parallel iterator over mutable runs of elements that belong together: see
/// [`ParallelSliceMut::par_chunk_by_mut`](super::ParallelSliceMut::par_chunk_by_mut).
///
/// ```
/// use furcate::prelude::*;
/// let mut v = [1, 3, 2];
/// let it: furcate::slice::ChunkByMut<_, _> = v.par_chunk_by_mut(|a, b| a <= b);
/// it.for_each(|run| run.reverse());
/// assert_eq!(v, [3, 1, 2]);
/// ```
pub type ChunkByMut<'data, T, P> = Splits<&'data mut [T], Inclusive, RunEnds<P>>;
