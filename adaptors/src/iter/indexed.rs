//! Iterators that know how many items they have, and the position of each.

#[cfg(feature = "rayon")]
use super::IntoRayon;
use super::adaptors::{By, ByKey, Natural, batch_len};
use super::collect::{append, append_unzipped};
use super::terminals::{AnyHit, First};
use super::{
    AsyncTerminal, AsyncTerminals, Chunks, Enumerate, FoldChunks, FoldChunksWith, Interleave,
    InterleaveShortest, IntoParallelIterator, Merge, MergeBy, MergeByKey, ParallelIterator,
    PeekParallelIterator, Positions, Rev, Skip, StepBy, Take, Zip, ZipEq,
};
use furcate_schedulers::IndexedProducer;
use std::cmp::Ordering;
use std::convert;

/// Declares terminals that say whether the order of two iterators is one of some, and those that are awaited.
macro_rules! comparisons {
    ($($(#[$doc:meta])* fn $name:ident, $(#[$async_doc:meta])* fn $async_name:ident: $holds:path;)+) => {$(
        $(#[$doc])*
        #[track_caller]
        #[inline]
        fn $name<I>(self, other: I) -> bool
        where
            I: IntoParallelIterator<Iter: IndexedParallelIterator>,
            Self::Item: PartialOrd<I::Item>,
        {
            self.partial_cmp(other).is_some_and($holds)
        }

        $(#[$async_doc])*
        fn $async_name<I>(self, other: I) -> AsyncTerminal<bool>
        where
            Self: 'static,
            I: IntoParallelIterator<Iter: IndexedParallelIterator + 'static>,
            Self::Item: PartialOrd<I::Item>,
        {
            compared(self, other.into_par_iter(), |order| order.is_some_and($holds))
        }
    )+};
}

/// A parallel iterator with exact length and positions.
///
/// A `filter`, a `flat_map` and the characters of a string are not indexed.
///
/// The methods are rayon's, with rayon's meaning. They stand below in this order, in groups:
///
/// | you want | methods |
/// |---|---|
/// | numbers, an order, some of the items, chunks | [`enumerate`](Self::enumerate), [`rev`](Self::rev), [`skip`](Self::skip), [`take`](Self::take), [`step_by`](Self::step_by), [`chunks`](Self::chunks), [`fold_chunks`](Self::fold_chunks), [`fold_chunks_with`](Self::fold_chunks_with), [`positions`](Self::positions) |
/// | two iterators, item by item, or in order | [`zip`](Self::zip), [`zip_eq`](Self::zip_eq), [`interleave`](Self::interleave), [`interleave_shortest`](Self::interleave_shortest), [`merge`](Self::merge), [`merge_by`](Self::merge_by), [`merge_by_key`](Self::merge_by_key) |
/// | to compare two iterators | [`cmp`](Self::cmp), [`partial_cmp`](Self::partial_cmp), [`eq`](Self::eq), [`ne`](Self::ne), [`lt`](Self::lt), [`le`](Self::le), [`gt`](Self::gt), [`ge`](Self::ge) |
/// | the position of an item | [`position_any`](Self::position_any), [`position_first`](Self::position_first), [`position_last`](Self::position_last) |
/// | a vector that exists already | [`collect_into_vec`](Self::collect_into_vec), [`unzip_into_vecs`](Self::unzip_into_vecs) |
/// | the same, without a thread that waits | `async_` and the terminal's name: [`async_cmp`](Self::async_cmp), [`async_position_any`](Self::async_position_any) ... |
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not know how many items it has, and where each is",
    note = "`enumerate`, `zip`, `rev` and their like need exact lengths: call them before `filter` or `flat_map`, or collect first",
    note = "where futures are waited for, `enumerate`, `zip`, `take`, `skip` and `chunks` stand right behind `io_await`, or behind \
            `map`, `inspect`, `update`, `cloned` and `copied` there, and before `stop_on` and `deadline`; `rev` stands before `io_await`: \
            `.rev().map(request).io_await()`"
)]
#[must_use = "iterators do nothing until a terminal drives them"]
#[expect(clippy::len_without_is_empty, reason = "as rayon's; an iterator is not a collection")]
pub trait IndexedParallelIterator: ParallelIterator {
    /// Producer that the iterator lends to the scheduler, with exact length and cuts, and leaves that can be walked
    /// from both ends.
    type IndexedProducer<'a>: IndexedProducer<Item = Self::Item>
    where
        Self: 'a;

    /// Lends all items, as [`producer`](ParallelIterator::producer) does.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut it = [1, 2, 3].par_iter().rev();
    /// let leaf = it.indexed_producer().into_iter();
    /// assert!(leaf.rev().eq(&[1, 2, 3]));
    /// ```
    fn indexed_producer(&mut self) -> Self::IndexedProducer<'_>;

    /// Returns the exact number of items.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([1, 2, 3].par_iter().len(), 3);
    /// ```
    fn len(&self) -> usize;

    // ----------------------------------------------------------------------------------- adaptors: one iterator

    /// Makes an indexed parallel iterator of rayon's, for a function that wants one.
    ///
    /// rayon divides it, and runs the parts on its own pool: of the chain's schedule nothing holds.
    /// [`into_rayon_unindexed`](ParallelIterator::into_rayon_unindexed) keeps the schedule.
    ///
    /// ```
    /// use furcate::prelude::*;
    ///
    /// fn dot(a: impl rayon::iter::IndexedParallelIterator<Item = u64>, b: &[u64]) -> u64 {
    ///     rayon::iter::ParallelIterator::sum(rayon::iter::ParallelIterator::map(a.zip(b), |(x, y)| x * y))
    /// }
    /// let squares = (0..4_u64).into_par_iter().map(|x| x * x);
    /// assert_eq!(dot(squares.into_rayon(), &[1, 2, 3, 4]), 2 + 12 + 36);
    /// ```
    #[cfg(feature = "rayon")]
    fn into_rayon(self) -> IntoRayon<Self> {
        IntoRayon::new(self)
    }

    /// Pairs every item with its position, counted from 0.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let placed: Vec<_> = ['a', 'b'].par_iter().enumerate().collect();
    /// assert_eq!(placed, [(0, &'a'), (1, &'b')]);
    /// ```
    #[inline]
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate::new(self)
    }

    /// Yields the items from the back to the front.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let back: Vec<usize> = (0..3).into_par_iter().rev().collect();
    /// assert_eq!(back, [2, 1, 0]);
    /// ```
    #[inline]
    fn rev(self) -> Rev<Self> {
        Rev::new(self)
    }

    /// Leaves out the first `n` items, or all if there are fewer.
    ///
    /// Closures chained before `skip` are called for the skipped items, too, as std's and rayon's `skip` call them: by the calling thread, one
    /// after the other, before the other items, and no stop or deadline ends that. If such a closure is costly, chain it behind `skip`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let rest: Vec<usize> = (0..5).into_par_iter().skip(3).collect();
    /// assert_eq!(rest, [3, 4]);
    /// ```
    #[inline]
    fn skip(self, n: usize) -> Skip<Self> {
        Skip::new(self, n)
    }

    /// Keeps the first `n` items, or all if there are fewer. Nothing else is run.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let first: Vec<usize> = (0..5).into_par_iter().take(3).collect();
    /// assert_eq!(first, [0, 1, 2]);
    /// ```
    #[inline]
    fn take(self, n: usize) -> Take<Self> {
        Take::new(self, n)
    }

    /// Keeps the first item and then every `step`-th. The items between two kept ones are computed and dropped; those
    /// behind the last kept one are not computed.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let tens: Vec<usize> = (3..30).into_par_iter().step_by(10).collect();
    /// assert_eq!(tens, [3, 13, 23]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `step` is 0.
    #[track_caller]
    #[inline]
    fn step_by(self, step: usize) -> StepBy<Self> {
        StepBy::new(self, step)
    }

    /// Puts every `chunk_size` items into a vector; the last vector may be shorter.
    ///
    /// Every chunk is one unit of work and is never divided. Cost: one allocation per chunk.
    /// [`fold_chunks`](Self::fold_chunks) does without.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let chunks: Vec<Vec<usize>> = (0..5).into_par_iter().chunks(2).collect();
    /// assert_eq!(chunks, [vec![0, 1], vec![2, 3], vec![4]]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    #[inline]
    fn chunks(self, chunk_size: usize) -> Chunks<Self> {
        Chunks::new(self, chunk_size)
    }

    /// Folds every `chunk_size` items into one, each time from a value that `identity` returns.
    ///
    /// The items of a chunk are fixed, whereas the items of a fold per task are not. Nothing is allocated.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sums: Vec<usize> = (0..5).into_par_iter().fold_chunks(2, || 0, |sum, x| sum + x).collect();
    /// assert_eq!(sums, [1, 5, 4]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    #[inline]
    fn fold_chunks<T, ID, F>(self, chunk_size: usize, identity: ID, fold_op: F) -> FoldChunks<Self, ID, F>
    where
        ID: Fn() -> T + Send + Sync,
        F: Fn(T, Self::Item) -> T + Send + Sync,
        T: Send,
    {
        FoldChunks::new(self, batch_len(chunk_size), identity, fold_op)
    }

    /// Folds every `chunk_size` items into one, each time from a clone of `init`, which need not be `Sync`.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let words: Vec<String> =
    ///     ["fur", "cate", "d"].par_iter().fold_chunks_with(2, String::new(), |word, part| word + part).collect();
    /// assert_eq!(words, ["furcate", "d"]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `chunk_size` is 0.
    #[track_caller]
    #[inline]
    fn fold_chunks_with<T, F>(self, chunk_size: usize, init: T, fold_op: F) -> FoldChunksWith<Self, T, F>
    where
        T: Send + Clone,
        F: Fn(T, Self::Item) -> T + Send + Sync,
    {
        FoldChunksWith::new(self, batch_len(chunk_size), init, fold_op)
    }

    /// Yields the positions, counted from 0, of the items for which a predicate is true.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let odd: Vec<usize> = [1, 2, 3].par_iter().positions(|x| x % 2 == 1).collect();
    /// assert_eq!(odd, [0, 2]);
    /// ```
    #[inline]
    fn positions<P>(self, predicate: P) -> Positions<Self, P>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        Positions::new(self, predicate)
    }

    // ---------------------------------------------------------------------------------- adaptors: two iterators

    /// Pairs the items of two iterators, up to the end of the shorter one.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let dot: i32 = [1, 2, 3].par_iter().zip(&[4, 5, 6]).map(|(a, b)| a * b).sum();
    /// assert_eq!(dot, 32);
    /// ```
    #[inline]
    fn zip<Z>(self, other: Z) -> Zip<Self, Z::Iter>
    where
        Z: IntoParallelIterator,
        Z::Iter: IndexedParallelIterator,
    {
        Zip::new(self, other.into_par_iter())
    }

    /// Pairs the items of two iterators of the same length.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let sums: Vec<i32> = [1, 2].par_iter().zip_eq(vec![10, 20]).map(|(a, b)| a + b).collect();
    /// assert_eq!(sums, [11, 22]);
    /// ```
    ///
    /// # Panics
    ///
    /// At once, if the lengths differ.
    #[track_caller]
    #[inline]
    fn zip_eq<Z>(self, other: Z) -> ZipEq<Self, Z::Iter>
    where
        Z: IntoParallelIterator,
        Z::Iter: IndexedParallelIterator,
    {
        ZipEq::new(self, other.into_par_iter())
    }

    /// Yields the items of two iterators in turn, this one first. When one iterator ends, the rest of the other one
    /// follows.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let turns: Vec<i32> = (0..2).into_par_iter().interleave(10..14).collect();
    /// assert_eq!(turns, [0, 10, 1, 11, 12, 13]);
    /// ```
    ///
    /// # Panics
    ///
    /// When driven or asked for its length, if that does not fit a `usize`.
    #[inline]
    fn interleave<I>(self, other: I) -> Interleave<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item>,
        I::Iter: IndexedParallelIterator,
    {
        Interleave::new(self, other.into_par_iter())
    }

    /// Yields the items of two iterators in turn, this one first, until the iterator whose turn it is has ended.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let turns: Vec<i32> = (0..4).into_par_iter().interleave_shortest(10..12).collect();
    /// assert_eq!(turns, [0, 10, 1, 11, 2]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`interleave`](Self::interleave).
    #[inline]
    fn interleave_shortest<I>(self, other: I) -> InterleaveShortest<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item>,
        I::Iter: IndexedParallelIterator,
    {
        InterleaveShortest::new(self, other.into_par_iter())
    }

    /// Merges two sorted iterators into one sorted iterator. Of equal items those of this iterator come first, and each
    /// side keeps its order.
    ///
    /// A division is exact: binary search finds the places where the two sides are cut (Kvik, Section 3.6.1). So parts
    /// are of the same size whatever the data, and the merged iterator has positions itself: it can be merged again,
    /// zipped, walked from the back. If a side is not sorted, or its order is not a total one, every item still comes
    /// out once, in some order that depends on the division.
    ///
    /// A merge is divided *on demand*, as under [`adaptive`](ParallelIterator::adaptive), because a cut costs
    /// something. The same holds for adaptors behind it (`map`, `zip`, `rev` ...). A policy that says how to divide
    /// (`bound_depth`, `thief_splitting`, `size_limit`, `join_context_policy`, one of your own) or a scheduler replaces
    /// this default, whether it is chained before or after. Of the two sides, the schedule of this one is used, as
    /// everywhere.
    ///
    /// Cost: a comparison per item, and O(log n) of them per division. A division looks at items that are taken later.
    /// A mapped item is mapped again for every look, and an owned element is cloned for it (see
    /// [`PeekParallelIterator`]).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let (odd, even) = ([1, 3, 5], [2, 4, 6, 8]);
    /// let all: Vec<&i32> = odd.par_iter().merge(&even).collect();
    /// assert_eq!(all, [&1, &2, &3, &4, &5, &6, &8]);
    ///
    /// let down: Vec<i32> = (0..10).into_par_iter().merge(5..7).rev().take(5).collect();
    /// assert_eq!(down, [9, 8, 7, 6, 6]);
    ///
    /// let halves = (0..10).into_par_iter().merge(5..7).bound_depth(1).fold(Vec::new, |mut half, x| {
    ///     half.push(x);
    ///     half
    /// });
    /// assert_eq!(halves.collect::<Vec<_>>(), [[0, 1, 2, 3, 4, 5], [5, 6, 6, 7, 8, 9]]);
    /// ```
    ///
    /// # Panics
    ///
    /// When driven or asked for its length, if that does not fit a `usize`.
    #[inline]
    fn merge<I>(self, other: I) -> Merge<Self, I::Iter>
    where
        Self: PeekParallelIterator,
        I: IntoParallelIterator<Item = Self::Item>,
        I::Iter: PeekParallelIterator,
        Self::Item: Ord,
    {
        Merge::new(self, other.into_par_iter(), Natural)
    }

    /// Merges two iterators that are sorted by `compare`, as [`merge`](Self::merge) does.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let prices = [1.5, 2.5].into_par_iter().merge_by([0.5, 2.0], f64::total_cmp);
    /// assert_eq!(prices.collect::<Vec<_>>(), [0.5, 1.5, 2.0, 2.5]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`merge`](Self::merge).
    #[inline]
    fn merge_by<I, F>(self, other: I, compare: F) -> MergeBy<Self, I::Iter, F>
    where
        Self: PeekParallelIterator,
        I: IntoParallelIterator<Item = Self::Item>,
        I::Iter: PeekParallelIterator,
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Sync + Send,
    {
        Merge::new(self, other.into_par_iter(), By(compare))
    }

    /// Merges two iterators that are sorted by a key, as [`merge`](Self::merge) does. The key is computed twice for
    /// every comparison.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let words = ["fig", "plum"].par_iter().merge_by_key(&["nut", "apple"], |word| word.len());
    /// assert_eq!(words.collect::<Vec<_>>(), [&"fig", &"nut", &"plum", &"apple"]);
    /// ```
    ///
    /// # Panics
    ///
    /// As [`merge`](Self::merge).
    #[inline]
    fn merge_by_key<I, K, F>(self, other: I, key: F) -> MergeByKey<Self, I::Iter, F>
    where
        Self: PeekParallelIterator,
        I: IntoParallelIterator<Item = Self::Item>,
        I::Iter: PeekParallelIterator,
        K: Ord,
        F: Fn(&Self::Item) -> K + Sync + Send,
    {
        Merge::new(self, other.into_par_iter(), ByKey(key))
    }

    // ------------------------------------------------------------------------------------- terminals: comparisons

    /// Compares item by item. The first difference decides, else the length. Items behind a difference need not be
    /// computed.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::cmp::Ordering;
    /// assert_eq!([1, 2, 3].par_iter().cmp([1, 3].par_iter()), Ordering::Less);
    /// assert_eq!([1, 2, 3].par_iter().cmp([1, 2].par_iter()), Ordering::Greater);
    /// ```
    #[track_caller]
    #[inline]
    fn cmp<I>(self, other: I) -> Ordering
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
        Self::Item: Ord,
    {
        let other = other.into_par_iter();
        let lengths = self.len().cmp(&other.len());
        self.zip(other)
            .find_map_first(|(a, b)| Some(a.cmp(&b)).filter(|order| order.is_ne()))
            .unwrap_or(lengths)
    }

    /// Compares item by item, as [`cmp`](Self::cmp) does. Returns `None` if the first pair that is not equal cannot be
    /// compared.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::cmp::Ordering;
    /// assert_eq!([1.0, 2.0].par_iter().partial_cmp([1.0, 3.0].par_iter()), Some(Ordering::Less));
    /// assert_eq!([1.0, f64::NAN].par_iter().partial_cmp([1.0, 3.0].par_iter()), None);
    /// ```
    #[track_caller]
    #[inline]
    fn partial_cmp<I>(self, other: I) -> Option<Ordering>
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        let other = other.into_par_iter();
        let lengths = self.len().cmp(&other.len());
        self.zip(other)
            .find_map_first(|(a, b)| Some(a.partial_cmp(&b)).filter(|&order| order != Some(Ordering::Equal)))
            .unwrap_or(Some(lengths))
    }

    /// Whether the lengths are equal, and all items. All tasks stop soon after the first difference in time. If the
    /// lengths differ, no item is looked at.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert!([1, 2].par_iter().eq([1, 2].par_iter()));
    /// assert!(![1, 2].par_iter().eq([1, 2, 3].par_iter()));
    /// ```
    #[track_caller]
    #[inline]
    fn eq<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialEq<I::Item>,
    {
        let other = other.into_par_iter();
        self.len() == other.len() && self.zip(other).all(|(a, b)| a == b)
    }

    /// Whether any item, or the length, is different. See [`eq`](Self::eq).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert!([1, 2].par_iter().ne([1, 3].par_iter()));
    /// ```
    #[track_caller]
    #[inline]
    fn ne<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialEq<I::Item>,
    {
        !self.eq(other)
    }

    comparisons! {
        /// Whether this iterator is less than the other one, by [`partial_cmp`](Self::partial_cmp).
        ///
        /// ```
        /// use furcate::prelude::*;
        /// assert!([1, 2].par_iter().lt([1, 3].par_iter()));
        /// ```
        fn lt,
        /// [`lt`](Self::lt), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
        ///
        /// ```
        /// use furcate::prelude::*;
        /// let holds = [1, 2].into_par_iter().async_lt([1, 3]);
        /// assert!(futures_lite::future::block_on(holds));
        /// ```
        fn async_lt: Ordering::is_lt;

        /// Whether this iterator is less than or equal to the other one, by [`partial_cmp`](Self::partial_cmp).
        ///
        /// ```
        /// use furcate::prelude::*;
        /// assert!([1, 2].par_iter().le([1, 2].par_iter()));
        /// ```
        fn le,
        /// [`le`](Self::le), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
        ///
        /// ```
        /// use furcate::prelude::*;
        /// let holds = [1, 2].into_par_iter().async_le([1, 2]);
        /// assert!(futures_lite::future::block_on(holds));
        /// ```
        fn async_le: Ordering::is_le;

        /// Whether this iterator is greater than the other one, by [`partial_cmp`](Self::partial_cmp).
        ///
        /// ```
        /// use furcate::prelude::*;
        /// assert!([1, 3].par_iter().gt([1, 2].par_iter()));
        /// ```
        fn gt,
        /// [`gt`](Self::gt), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
        ///
        /// ```
        /// use furcate::prelude::*;
        /// let holds = [1, 2].into_par_iter().async_gt([1, 1]);
        /// assert!(futures_lite::future::block_on(holds));
        /// ```
        fn async_gt: Ordering::is_gt;

        /// Whether this iterator is greater than or equal to the other one, by [`partial_cmp`](Self::partial_cmp).
        ///
        /// ```
        /// use furcate::prelude::*;
        /// assert!([1, 2].par_iter().ge([1, 2].par_iter()));
        /// ```
        fn ge,
        /// [`ge`](Self::ge), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
        ///
        /// ```
        /// use furcate::prelude::*;
        /// let holds = [1, 2].into_par_iter().async_ge([1, 2]);
        /// assert!(futures_lite::future::block_on(holds));
        /// ```
        fn async_ge: Ordering::is_ge;
    }

    // ------------------------------------------------------------------------------------- terminals: positions

    /// Returns the position of an item for which a predicate is true: the first that is found in time. All tasks stop
    /// soon after it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([1, 2, 3].par_iter().position_any(|&x| x == 2), Some(1));
    /// ```
    #[track_caller]
    #[inline]
    fn position_any<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.enumerate().find_map_any(|(position, item)| predicate(item).then_some(position))
    }

    /// Returns the first position of an item for which a predicate is true. A hit soon stops the tasks behind it, and
    /// only those.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([1, 2, 2].par_iter().position_first(|&x| x == 2), Some(1));
    /// ```
    #[track_caller]
    #[inline]
    fn position_first<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.enumerate().find_map_first(|(position, item)| predicate(item).then_some(position))
    }

    /// Returns the last position of an item for which a predicate is true. Every task walks from the back, and a hit
    /// stops the tasks before it.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// assert_eq!([1, 2, 2].par_iter().position_last(|&x| x == 2), Some(2));
    /// ```
    #[track_caller]
    #[inline]
    fn position_last<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        self.enumerate().rev().find_map_first(|(position, item)| predicate(item).then_some(position))
    }

    // ------------------------------------------------------------------------------------- terminals: collections

    /// Collects into a vector in place. The vector is cleared first. Its buffer is kept if it is large enough.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let mut squares = vec![7; 100];
    /// (0..4_usize).into_par_iter().map(|x| x * x).collect_into_vec(&mut squares);
    /// assert_eq!(squares, [0, 1, 4, 9]);
    /// assert!(squares.capacity() >= 100);
    /// ```
    #[track_caller]
    #[inline]
    fn collect_into_vec(self, target: &mut Vec<Self::Item>) {
        target.clear();
        append(target, self);
    }

    /// Collects the halves of pairs into two vectors in place, in one pass. The vectors are cleared first. Their
    /// buffers are kept if they are large enough.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let (mut numbers, mut squares) = (vec![], vec![]);
    /// (0..4_usize).into_par_iter().map(|x| (x, x * x)).unzip_into_vecs(&mut numbers, &mut squares);
    /// assert_eq!((numbers, squares), (vec![0, 1, 2, 3], vec![0, 1, 4, 9]));
    /// ```
    #[track_caller]
    #[inline]
    fn unzip_into_vecs<A, B>(self, left: &mut Vec<A>, right: &mut Vec<B>)
    where
        Self: IndexedParallelIterator<Item = (A, B)>,
        A: Send,
        B: Send,
    {
        left.clear();
        right.clear();
        append_unzipped(left, right, self);
    }

    // ----------------------------------------------------------------------------------- terminals that are awaited

    /// [`cmp`](Self::cmp), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::cmp::Ordering;
    /// let order = [1, 2, 3].into_par_iter().async_cmp([1, 3]);
    /// assert_eq!(futures_lite::future::block_on(order), Ordering::Less);
    /// ```
    fn async_cmp<I>(self, other: I) -> AsyncTerminal<Ordering>
    where
        Self: 'static,
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator + 'static>,
        Self::Item: Ord,
    {
        let other = other.into_par_iter();
        let lengths = self.len().cmp(&other.len());
        let search = |(a, b): (Self::Item, Self::Item)| Some(a.cmp(&b)).filter(|order| order.is_ne());
        let search = First::new(search);
        AsyncTerminal::new(self.zip(other), search, move |first| first.unwrap_or(lengths))
    }

    /// [`partial_cmp`](Self::partial_cmp), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let order = [1.0, f64::NAN].into_par_iter().async_partial_cmp([1.0, 3.0]);
    /// assert_eq!(futures_lite::future::block_on(order), None);
    /// ```
    fn async_partial_cmp<I>(self, other: I) -> AsyncTerminal<Option<Ordering>>
    where
        Self: 'static,
        I: IntoParallelIterator<Iter: IndexedParallelIterator + 'static>,
        Self::Item: PartialOrd<I::Item>,
    {
        compared(self, other.into_par_iter(), convert::identity)
    }

    /// [`eq`](Self::eq), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let equal = [1, 2].into_par_iter().async_eq([1, 2]);
    /// assert!(futures_lite::future::block_on(equal));
    /// ```
    fn async_eq<I>(self, other: I) -> AsyncTerminal<bool>
    where
        Self: 'static,
        I: IntoParallelIterator<Iter: IndexedParallelIterator + 'static>,
        Self::Item: PartialEq<I::Item>,
    {
        equal(self, other.into_par_iter(), convert::identity)
    }

    /// [`ne`](Self::ne), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let different = [1, 2].into_par_iter().async_ne([1, 3]);
    /// assert!(futures_lite::future::block_on(different));
    /// ```
    fn async_ne<I>(self, other: I) -> AsyncTerminal<bool>
    where
        Self: 'static,
        I: IntoParallelIterator<Iter: IndexedParallelIterator + 'static>,
        Self::Item: PartialEq<I::Item>,
    {
        equal(self, other.into_par_iter(), |equal| !equal)
    }

    /// [`position_any`](Self::position_any), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let position = [1, 2, 3].into_par_iter().async_position_any(|x| x == 2);
    /// assert_eq!(futures_lite::future::block_on(position), Some(1));
    /// ```
    fn async_position_any<P>(self, predicate: P) -> AsyncTerminal<Option<usize>>
    where
        Self: 'static,
        P: Fn(Self::Item) -> bool + Sync + Send + 'static,
    {
        self.enumerate().async_find_map_any(move |(position, item)| predicate(item).then_some(position))
    }

    /// [`position_first`](Self::position_first), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let position = [1, 2, 3].into_par_iter().async_position_first(|x| x == 2);
    /// assert_eq!(futures_lite::future::block_on(position), Some(1));
    /// ```
    fn async_position_first<P>(self, predicate: P) -> AsyncTerminal<Option<usize>>
    where
        Self: 'static,
        P: Fn(Self::Item) -> bool + Sync + Send + 'static,
    {
        self.enumerate().async_find_map_first(move |(position, item)| predicate(item).then_some(position))
    }

    /// [`position_last`](Self::position_last), as a future: see [`async_for_each`](AsyncTerminals::async_for_each).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// let position = [1, 2, 3].into_par_iter().async_position_last(|x| x == 2);
    /// assert_eq!(futures_lite::future::block_on(position), Some(1));
    /// ```
    fn async_position_last<P>(self, predicate: P) -> AsyncTerminal<Option<usize>>
    where
        Self: 'static,
        P: Fn(Self::Item) -> bool + Sync + Send + 'static,
    {
        self.enumerate()
            .rev()
            .async_find_map_first(move |(position, item)| predicate(item).then_some(position))
    }
}

/// Compares by [`partial_cmp`](IndexedParallelIterator::partial_cmp), as a future. `finish` turns the order into the
/// result.
fn compared<A, B, T>(
    left: A,
    right: B,
    finish: impl FnOnce(Option<Ordering>) -> T + Send + 'static,
) -> AsyncTerminal<T>
where
    A: IndexedParallelIterator<Item: PartialOrd<B::Item>> + 'static,
    B: IndexedParallelIterator + 'static,
    T: Send + 'static,
{
    let lengths = left.len().cmp(&right.len());
    let search =
        |(a, b): (A::Item, B::Item)| Some(a.partial_cmp(&b)).filter(|&order| order != Some(Ordering::Equal));
    let search = First::new(search);
    AsyncTerminal::new(left.zip(right), search, move |first| finish(first.unwrap_or(Some(lengths))))
}

/// Compares by [`eq`](IndexedParallelIterator::eq), as a future. `finish` turns the answer into the result.
fn equal<A, B>(left: A, right: B, finish: impl FnOnce(bool) -> bool + Send + 'static) -> AsyncTerminal<bool>
where
    A: IndexedParallelIterator<Item: PartialEq<B::Item>> + 'static,
    B: IndexedParallelIterator + 'static,
{
    let same_length = left.len() == right.len();
    // If the lengths differ, no item is looked at.
    let pairs = left.zip(right).take(if same_length { usize::MAX } else { 0 });
    let search = AnyHit::new(|(a, b): (A::Item, B::Item)| (a != b).then_some(()));
    AsyncTerminal::new(pairs, search, move |difference| finish(same_length && difference.is_none()))
}
