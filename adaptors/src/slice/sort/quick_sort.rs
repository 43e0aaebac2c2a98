//! The unstable sort: quicksort in place, until the parts are small enough for std's.
//!
//! # Invariants
//!
//! 1. Elements move only by swaps and rotations, so the slice holds each of them once at any time, whatever a comparison does.
//! 2. A partition is made by one thread: all its comparisons are with the pivot, and `T` need not be `Sync`. The loss
//!    (the first partition is sequential, the second ones have two threads) is small on few threads, since a partition
//!    costs about a thirtieth of the sort. In return there is no buffer.
//! 3. Parts shrink, but adversaries may choose how little. So a part whose ancestors were divided [too
//!    often](most_divisions) is left to std, whose worst case is O(n log n).

use super::leaf::elements;
use super::{drop_merge, one_run};
use furcate_pool::Executor;
use std::cmp::Ordering;
use std::ops::Range;

/// Number of elements of which a pivot is the median: on two threads, the larger part is then within a few percent of
/// half.
const SAMPLE: usize = 257;

/// The same for a part that is divided without a fork.
const SMALL_SAMPLE: usize = 9;

/// Parts of [large](LARGE) elements up to this length are left to std.
const LARGE_LEAF: usize = 256;

/// Whether other elements are smaller or greater than a median, by a sample.
enum Median {
    /// There are smaller elements.
    Inner,
    /// There are none, but there are greater ones.
    Smallest,
    /// All elements equal it. So it is with one of few distinct values, after the partitions.
    Only,
}

/// State that all tasks of a sort share.
pub(super) struct QuickSort<L, S, E> {
    pub(super) is_less: L,
    pub(super) sort_leaf: S,
    /// Size up to which a part is a leaf.
    pub(super) grain: usize,
    pub(super) executor: E,
}

impl<L, S, E: Executor> QuickSort<L, S, E> {
    pub(super) fn sort<T>(&self, slice: &mut [T])
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        let Err(descent) = one_run::settle(slice, &self.is_less, self.grain, &self.executor) else { return };
        if one_run::settle_few(slice, descent, &self.is_less, self.grain, &self.executor)
            || one_run::settle_swapped(slice, descent, &self.is_less, self.grain, &self.executor)
        {
            return;
        }
        if self.descends_mostly(slice) {
            // Most elements are in ascending order then, which leaves make use of.
            one_run::reverse_all(slice, self.grain, &self.executor);
        }
        self.sort_part(slice, most_divisions(slice.len(), self.grain));
    }

    /// Whether most of a sample's elements are greater than their right neighbors.
    fn descends_mostly<T>(&self, slice: &[T]) -> bool
    where
        L: Fn(&T, &T) -> bool,
    {
        let mut places = [0; SAMPLE];
        let sample = sample(slice.len() - 1, &mut places);
        let descents =
            sample.iter().filter(|&&place| (self.is_less)(&slice[place + 1], &slice[place])).count();
        descents > sample.len() / 8 * 7
    }

    fn sort_part<T>(&self, slice: &mut [T], divisions: u32)
    where
        T: Send,
        L: Fn(&T, &T) -> bool + Sync,
        S: Fn(&mut [T]) + Sync,
    {
        if slice.len() <= self.grain.max(1) || divisions == 0 {
            if !drop_merge::settle_most(slice, &self.is_less, &self.sort_leaf) {
                let divisions = if divisions == 0 { 0 } else { most_divisions(slice.len(), LARGE_LEAF) };
                self.sort_here(slice, divisions);
            }
        } else if let Some((left, right)) = self.divide::<T, SAMPLE>(slice) {
            self.executor.join_context(
                |_| self.sort_part(left, divisions - 1),
                |_| self.sort_part(right, divisions - 1),
            );
        }
    }

    /// Sorts a leaf. Large elements are divided further: std moves every element twice in each of its divisions, and blocks move half of them once.
    fn sort_here<T>(&self, slice: &mut [T], divisions: u32)
    where
        L: Fn(&T, &T) -> bool,
        S: Fn(&mut [T]),
    {
        if size_of::<T>() <= LARGE || slice.len() <= LARGE_LEAF || divisions == 0 {
            (self.sort_leaf)(slice);
        } else if let Some((left, right)) = self.divide::<T, SMALL_SAMPLE>(slice) {
            self.sort_here(left, divisions - 1);
            self.sort_here(right, divisions - 1);
        }
    }

    /// Divides a part around the median of a sample of N elements, at most. Returns the two sides without the elements that are in their
    /// place then; or `None` if all are.
    fn divide<'a, T, const N: usize>(&self, slice: &'a mut [T]) -> Option<(&'a mut [T], &'a mut [T])>
    where
        L: Fn(&T, &T) -> bool,
    {
        let (pivot, median) = self.choose_pivot::<T, N>(slice);
        if matches!(median, Median::Only) && slice.is_sorted_by(|a, b| !(self.is_less)(b, a)) {
            return None;
        }
        slice.swap(0, pivot);
        let (pivot, rest) = slice.split_first_mut()?;
        let front = match median {
            Median::Inner | Median::Only => partition(rest, |x| (self.is_less)(x, pivot)),
            Median::Smallest => partition(rest, |x| !(self.is_less)(pivot, x)),
        };
        slice.swap(0, front);
        let (left, right) = slice.split_at_mut(front);
        let (pivot, mut right) = right.split_first_mut()?;
        if let Median::Only = median {
            let equal = partition(right, |x| !(self.is_less)(pivot, x));
            right = &mut right[equal..];
        }
        Some((left, right))
    }

    /// Returns the index of a sample's median, and whether others are smaller or greater. No element moves, so that sorted parts of the
    /// slice remain sorted.
    fn choose_pivot<T, const N: usize>(&self, slice: &[T]) -> (usize, Median)
    where
        L: Fn(&T, &T) -> bool,
    {
        let mut places = [0; N];
        let sample = sample(slice.len(), &mut places);
        let mid = sample.len() / 2;
        let is_less = |a: usize, b: usize| (self.is_less)(&slice[a], &slice[b]);
        elements(sample).sort_unstable_by(|a, b| {
            let (a, b) = (**a, **b);
            if is_less(a, b) {
                Ordering::Less
            } else if is_less(b, a) {
                Ordering::Greater
            } else {
                Ordering::Equal
            }
        });
        let median = if is_less(sample[0], sample[mid]) {
            Median::Inner
        } else if is_less(sample[mid], sample[sample.len() - 1]) {
            Median::Smallest
        } else {
            Median::Only
        };
        (sample[mid], median)
    }
}

/// Returns how many times a part of this length may be divided until leaves have another length: twice as often as if all divisions were even, and a few
/// more.
fn most_divisions(len: usize, leaf: usize) -> u32 {
    2 * (len / leaf.max(1)).max(1).ilog2() + 4
}

/// Fills in places all over a slice, in order and at irregular distances, so that no period of the input agrees with
/// them. Their number is about the root of the slice's length, if there is room for so many. It is odd, so that there is a median.
fn sample(len: usize, places: &mut [usize]) -> &mut [usize] {
    let count = places.len().min(len.isqrt() | 1);
    let start = |i: usize| i * (len / count) + i * (len % count) / count;
    let mut random = len as u64 | 1;
    for (i, place) in places[..count].iter_mut().enumerate() {
        // Xorshift (Marsaglia 2003).
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        *place = start(i) + (random % (start(i + 1) - start(i)) as u64) as usize;
    }
    &mut places[..count]
}

/// Size in bytes above which elements are not moved without need.
const LARGE: usize = 16;

/// Brings the elements for which a predicate is true to the front. Returns their number.
fn partition<T>(slice: &mut [T], holds: impl Fn(&T) -> bool) -> usize {
    if size_of::<T>() > LARGE { partition_in_blocks(slice, holds) } else { partition_in_order(slice, holds) }
}

/// Lomuto's partition in Alexandrescu's form: no branch on the outcome. The elements at the front keep their order.
fn partition_in_order<T>(slice: &mut [T], holds: impl Fn(&T) -> bool) -> usize {
    let mut first = 0;
    for i in 0..slice.len() {
        let belongs = holds(&slice[i]);
        slice.swap(first, i);
        first += usize::from(belongs);
    }
    first
}

/// Number of elements of a block; their numbers fit into a byte.
const BLOCK: usize = 128;

/// Hoare's partition, in blocks from both ends (Edelkamp and Weiss, BlockQuicksort 2016). The places of the elements on
/// the wrong side are written down without a branch, and then swapped in pairs. So only these elements move, and only
/// once, except for the last block's.
fn partition_in_blocks<T>(slice: &mut [T], holds: impl Fn(&T) -> bool) -> usize {
    // `left..right` is undecided. At each end, a block of these lengths may be begun, whose misplaced elements are still to be swapped.
    let (mut left, mut right) = (0, slice.len());
    let (mut begun_left, mut begun_right) = (0, 0);
    let (mut in_left, mut in_right) = ([0; BLOCK], [0; BLOCK]);
    let (mut wrong_left, mut wrong_right) = (0..0, 0..0);
    while right - left > begun_left + begun_right {
        let unseen = right - left - begun_left - begun_right;
        if wrong_left.is_empty() {
            left += begun_left;
            // The last elements are shared between both ends.
            begun_left = BLOCK.min(if wrong_right.is_empty() { unseen.div_ceil(2) } else { unseen });
            wrong_left = wrong_places(&mut in_left, slice[left..left + begun_left].iter(), |x| !holds(x));
        }
        if wrong_right.is_empty() {
            right -= begun_right;
            begun_right = BLOCK.min(right - left - begun_left);
            wrong_right = wrong_places(&mut in_right, slice[right - begun_right..right].iter().rev(), &holds);
        }
        let pairs = wrong_left.len().min(wrong_right.len());
        let (front, back) = slice[left..right].split_at_mut(begun_left);
        for (&i, &j) in in_left[wrong_left.start..].iter().zip(&in_right[wrong_right.start..]).take(pairs) {
            let in_back = back.len() - 1 - usize::from(j);
            std::mem::swap(&mut front[usize::from(i)], &mut back[in_back]);
        }
        wrong_left.start += pairs;
        wrong_right.start += pairs;
    }
    // All are decided, and misplaced elements are left in one block at most: they go to its inner end.
    let mut border = left + begun_left;
    for &i in in_left[wrong_left].iter().rev() {
        border -= 1;
        slice.swap(left + usize::from(i), border);
    }
    for &j in in_right[wrong_right].iter().rev() {
        slice.swap(border, right - 1 - usize::from(j));
        border += 1;
    }
    border
}

/// Writes down the numbers of a block's elements for which `wrong` is true. Returns their range in `places`.
fn wrong_places<'a, T: 'a>(
    places: &mut [u8; BLOCK],
    block: impl Iterator<Item = &'a T>,
    wrong: impl Fn(&T) -> bool,
) -> Range<usize> {
    let mut count = 0;
    for (i, element) in block.enumerate() {
        places[count % BLOCK] = i as u8;
        count += usize::from(wrong(element));
    }
    0..count
}

#[cfg(test)]
mod tests {
    use super::{SAMPLE, partition_in_blocks, partition_in_order, sample};

    #[test]
    fn samples_lie_in_bounds_and_in_order() {
        for len in [1, 2, 8, 9, 15, 16, 17, 1000, 2055, 2056, 2057, 1 << 20, usize::MAX] {
            let mut places = [0; SAMPLE];
            let sample = sample(len, &mut places);
            assert!(sample.is_sorted_by(|a, b| a < b) && *sample.last().unwrap() < len);
            assert_eq!(sample.len(), SAMPLE.min(len.isqrt() | 1));
        }
    }

    #[test]
    fn a_partition_in_blocks_parts() {
        for len in [0, 1, 2, 3, 127, 128, 129, 255, 256, 257, 383, 384, 511, 512, 2000] {
            for (odd, every) in [(0, 1), (1, 2), (1, 3), (2, 7), (0, 1000), (5, 6)] {
                let mut v: Vec<usize> = (0..len).map(|i| i * 7919 % 10_007).collect();
                let mut sorted = v.clone();
                let count = partition_in_blocks(&mut v, |x| x % every > odd);
                assert!(
                    v[..count].iter().all(|x| x % every > odd) && v[count..].iter().all(|x| x % every <= odd)
                );
                v.sort_unstable();
                sorted.sort_unstable();
                assert_eq!(v, sorted);
            }
        }
        // A predicate that depends on time and not on the element loses nothing.
        let calls = std::cell::Cell::new(0);
        let mut v: Vec<usize> = (0..1000).collect();
        partition_in_blocks(&mut v, |_| calls.replace(calls.get() + 1) % 3 == 0);
        v.sort_unstable();
        assert!(v.into_iter().eq(0..1000));
    }

    #[test]
    fn a_partition_keeps_the_order_in_front() {
        for bits in 0..1_u32 << 10 {
            let mut v: Vec<u32> = (0..10).collect();
            let count = partition_in_order(&mut v, |i| bits >> i & 1 == 1);
            assert!(v[..count].iter().copied().eq((0..10).filter(|i| bits >> i & 1 == 1)));
            v.sort_unstable();
            assert!(v.into_iter().eq(0..10));
        }
    }
}
