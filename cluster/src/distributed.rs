//! A vector that lies on all ranks: each rank keeps the items that it made.
//!
//! The terminal [`collect_into`](Spread::collect_into) numbers the items, and reduces them by [`Keep`]. The accumulator of a task is a segment: the
//! position of its first item, and the items. The output of a segment is its number of items, so nothing else travels. The items stay
//! in a list of the rank.
//!
//! # Invariants
//!
//! 1. The segments of a rank are sorted by their positions, are not empty, and do not overlap. No two of them are neighbors: such segments are one.
//! 2. Every position lies on at most one rank. If the call was not interrupted, it lies on exactly one.

use crate::call::Search;
use crate::portable::{ByPosition, Portable};
use crate::spread::{Spread, SpreadOver};
use crate::world::World;
use furcate_adaptors::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use furcate_pool::sync::machine::Mutex;
use furcate_schedulers::Reduction;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::ControlFlow::{self, Continue};
use std::sync::PoisonError;

/// Neighboring items, with the position of the first one.
type Segment<T> = (usize, Vec<T>);

/// A vector that lies on all ranks. Each rank has the items that it made, with their positions: see [`Spread::collect_into`].
///
/// An item lies on one rank. If no part was stolen, a rank has one segment, its share of the source; else it has several segments.
///
/// ```
/// use furcate::prelude::*;
/// use furcate_cluster::{Distributed, SpreadOver, Threads};
///
/// let whole = Threads::new(2).run(|world| {
///     let mut squares = Distributed::new();
///     (0..1000_u64).into_par_iter().map(|x| x * x).spread(world).collect_into(&mut squares);
///     for (position, square) in squares.iter() {
///         assert_eq!(*square, (position * position) as u64);
///     }
///     assert_eq!(squares.total_len(), 1000);
///     squares.gather(world)
/// });
/// assert_eq!(whole[0].as_ref().unwrap()[999], 998_001);
/// assert_eq!(whole[1], None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distributed<T> {
    segments: Vec<Segment<T>>,
    total: usize,
}

impl<T> Default for Distributed<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Distributed<T> {
    /// Makes a vector without items.
    #[must_use]
    pub const fn new() -> Self {
        Distributed { segments: Vec::new(), total: 0 }
    }

    /// Returns the number of items on this rank.
    #[must_use]
    pub fn len(&self) -> usize {
        self.segments.iter().map(|(_, items)| items.len()).sum()
    }

    /// Whether this rank has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns the number of items on all ranks together.
    #[must_use]
    pub fn total_len(&self) -> usize {
        self.total
    }

    /// Returns the item at a position, if it lies on this rank.
    #[must_use]
    pub fn get(&self, position: usize) -> Option<&T> {
        let behind = self.segments.partition_point(|(first, _)| *first <= position);
        let (first, items) = &self.segments[..behind].last()?;
        items.get(position - first)
    }

    /// Returns the items of this rank with their positions, in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.segments.iter().flat_map(|(first, items)| (*first..).zip(items))
    }

    /// Returns the items of this rank with their positions, in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        self.segments.iter_mut().flat_map(|(first, items)| (*first..).zip(items))
    }

    /// Returns the segments of this rank in order: the position of the first item, and the items.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = (usize, &[T])> {
        self.segments.iter().map(|(first, items)| (*first, &items[..]))
    }

    /// Returns the segments of this rank in order, as [`segments`](Self::segments) does, with their items.
    #[must_use]
    pub fn into_segments(self) -> Vec<(usize, Vec<T>)> {
        self.segments
    }

    /// Sends all items to rank 0. Returns them in order there, and `None` on the other ranks. A collective call.
    ///
    /// The items of an interrupted call may have holes between them. The holes are left out.
    pub fn gather(self, world: &World) -> Option<Vec<T>>
    where
        T: Serialize + DeserializeOwned + Send,
    {
        let own = Mutex::new(self.segments);
        let segments = ranks(world, &own).spread(world).to_root(|spread| spread.collect::<Vec<_>>());
        segments.map(in_one)
    }

    /// Sends all items to all ranks, and returns them in order, as [`gather`](Self::gather) does. A collective call.
    pub fn all_gather(self, world: &World) -> Vec<T>
    where
        T: Serialize + DeserializeOwned + Send,
    {
        let own = Mutex::new(self.segments);
        in_one(ranks(world, &own).spread(world).collect::<Vec<_>>())
    }
}

/// One item for each rank, which that rank makes of its own segments. (A share of one unit is not divided, so no rank makes the
/// item of another one.)
fn ranks<T: Send>(
    world: &World,
    own: &Mutex<Vec<Segment<T>>>,
) -> impl Portable<Item = Vec<Segment<T>>, Form = ByPosition> {
    let take = |_| std::mem::take(&mut *own.lock().unwrap_or_else(PoisonError::into_inner));
    (0..world.size()).into_par_iter().map(take)
}

/// Returns the items of all ranks, in order.
fn in_one<T>(ranks: Vec<Vec<Segment<T>>>) -> Vec<T> {
    let mut segments: Vec<_> = ranks.into_iter().flatten().collect();
    segments.sort_unstable_by_key(|(first, _)| *first);
    let len = segments.iter().map(|(_, items)| items.len()).sum();
    append(Vec::with_capacity(len), segments)
}

/// Moves the items of all segments to the end of a vector.
fn append<T>(mut all: Vec<T>, segments: impl IntoIterator<Item = Segment<T>>) -> Vec<T> {
    segments.into_iter().for_each(|(_, mut items)| all.append(&mut items));
    all
}

/// Sorts segments, and makes one of neighbors (invariant 1). Each item is moved once at most.
fn merged<T>(mut segments: Vec<Segment<T>>) -> Vec<Segment<T>> {
    segments.sort_unstable_by_key(|(first, _)| *first);
    let mut ends = Vec::new();
    for (index, (first, items)) in segments.iter().enumerate() {
        let is_next = ends.last().is_some_and(|&(_, end, _)| end == *first);
        if !is_next {
            ends.push((index, *first, 0));
        }
        let (_, end, len) = ends.last_mut().expect("there is one");
        *end = *first + items.len();
        *len += items.len();
    }
    let mut rest = segments.into_iter();
    let mut merged = Vec::with_capacity(ends.len());
    for (run, &(index, _, len)) in ends.iter().enumerate() {
        let behind = ends.get(run + 1).map_or(usize::MAX, |next| next.0);
        let Some((first, items)) = rest.next() else { break };
        let more = rest.by_ref().take(behind.saturating_sub(index + 1));
        if items.len() == len {
            debug_assert_eq!(more.count(), 0);
            merged.push((first, items));
            continue;
        }
        let all = append(Vec::with_capacity(len), [(first, items)]);
        merged.push((first, append(all, more)));
    }
    merged
}

impl<I: Portable<Form = ByPosition> + IndexedParallelIterator> Spread<'_, I> {
    /// Collects all items into a vector that lies on all ranks: each rank keeps the items that it made, with their positions. Only numbers
    /// travel. So the items need not be encoded, and may be more than one rank has memory for. What the vector held before is dropped.
    ///
    /// Positions are positions in the source, so the chain has to be indexed: behind a `filter` no rank knows the number of items on the others,
    /// and the call does not compile. (Map to an `Option` instead.)
    ///
    /// The items of a stolen part stay on the thief. So the ranks may have different numbers of items, and another run may place them
    /// elsewhere. If a token or a deadline ends the call, each rank has the items that it made before, and
    /// [`total_len`](Distributed::total_len) counts those of all ranks. If the call panics, the vector is empty.
    ///
    /// The number of items reaches all ranks, also under [`to_root`](Self::to_root).
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate_cluster::{Distributed, SpreadOver, Threads};
    ///
    /// let lens = Threads::new(4).run(|world| {
    ///     let mut texts = Distributed::new();
    ///     (0..100).into_par_iter().map(|x| x.to_string()).spread(world).collect_into(&mut texts);
    ///     texts.len()
    /// });
    /// assert_eq!(lens.iter().sum::<usize>(), 100);
    /// ```
    ///
    /// ```compile_fail,E0599
    /// use furcate::prelude::*;
    /// use furcate_cluster::{Distributed, SpreadOver, Threads};
    ///
    /// Threads::new(4).run(|world| {
    ///     let mut even = Distributed::new();
    ///     (0..100).into_par_iter().filter(|x| x % 2 == 0).spread(world).collect_into(&mut even);
    /// });
    /// ```
    #[track_caller]
    pub fn collect_into(self, target: &mut Distributed<I::Item>) {
        *target = Distributed::new();
        let kept = Mutex::default();
        let numbered = self.of_all(I::enumerate);
        let total = numbered.call("collect_into", Search::No, Keep(&kept));
        let segments = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        *target = Distributed { segments: merged(segments), total: total as usize };
    }
}

/// `collect_into`: keeps numbered items on their rank.
#[derive(Debug)]
struct Keep<'k, T>(&'k Mutex<Vec<Segment<T>>>);

impl<T> Clone for Keep<'_, T> {
    fn clone(&self) -> Self {
        Keep(self.0)
    }
}

/// The accumulator of a task: its last segment, and the number of items before that.
struct Kept<T> {
    before: u64,
    segment: Segment<T>,
}

impl<T> Keep<'_, T> {
    /// Ends a segment. Returns the number of items until here.
    fn end(&self, kept: Kept<T>) -> u64 {
        let Kept { before, segment } = kept;
        let len = segment.1.len() as u64;
        if len > 0 {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(segment);
        }
        before + len
    }
}

impl<T: Send> Reduction<(usize, T)> for Keep<'_, T> {
    type Accumulator = Kept<T>;
    type Output = u64;

    fn start(&self) -> Kept<T> {
        Kept { before: 0, segment: (0, Vec::new()) }
    }

    #[inline]
    fn fold_item(&self, kept: Kept<T>, item: (usize, T)) -> ControlFlow<Kept<T>, Kept<T>> {
        Continue(self.fold(kept, std::iter::once(item)))
    }

    #[inline]
    fn fold<I: Iterator<Item = (usize, T)>>(&self, mut kept: Kept<T>, items: I) -> Kept<T> {
        kept.segment.1.reserve(items.size_hint().0);
        for (position, item) in items {
            // The items of a task are neighbors, unless it took a part back after others had ended theirs.
            if position != kept.segment.0 + kept.segment.1.len() {
                let before = self.end(kept);
                kept = Kept { before, segment: (position, Vec::new()) };
            }
            kept.segment.1.push(item);
        }
        kept
    }

    fn finish(&self, kept: Kept<T>) -> u64 {
        self.end(kept)
    }

    fn reduce(&self, left: u64, right: u64) -> u64 {
        left + right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_become_one_segment() {
        let segments = |list: &[(usize, usize)]| -> Vec<Segment<usize>> {
            list.iter().map(|&(first, len)| (first, (first..first + len).collect())).collect()
        };
        for (list, expected) in [
            (&[][..], &[][..]),
            (&[(5, 2)], &[(5, 2)]),
            (&[(3, 1), (0, 3), (4, 6)], &[(0, 10)]),
            (&[(8, 2), (0, 3), (4, 1), (5, 2)], &[(0, 3), (4, 3), (8, 2)]),
            (&[(9, 1), (0, 1), (10, 5), (1, 1), (30, 1)], &[(0, 2), (9, 6), (30, 1)]),
        ] {
            assert_eq!(merged(segments(list)), segments(expected));
        }
    }

    #[test]
    fn items_that_are_no_neighbors_begin_a_segment() {
        let kept = Mutex::default();
        let keep = Keep(&kept);
        let items = [(7, 'a'), (8, 'b'), (3, 'c'), (0, 'd'), (1, 'e')];
        assert_eq!(keep.finish(keep.fold(keep.start(), items.into_iter())), 5);
        let expected = [(0, vec!['d', 'e']), (3, vec!['c']), (7, vec!['a', 'b'])];
        assert_eq!(merged(kept.into_inner().unwrap()), expected);
    }

    #[test]
    fn items_are_found_by_their_positions() {
        let vector = Distributed { segments: vec![(2, vec!['a', 'b']), (9, vec!['c'])], total: 12 };
        let found: String = (0..12).filter_map(|position| vector.get(position)).collect();
        assert_eq!(found, "abc");
        assert!([2, 3, 9].into_iter().all(|position| vector.get(position).is_some()));
        assert!(vector.iter().eq([(2, &'a'), (3, &'b'), (9, &'c')]));
        assert_eq!((vector.len(), vector.total_len(), vector.is_empty()), (3, 12, false));
    }
}
