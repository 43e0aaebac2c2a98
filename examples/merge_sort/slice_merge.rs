//! The merge of two sorted slices into a third, step by step.

use furcate::Divisible;
use furcate::slice::co_rank;
use std::cmp::Ordering;
use std::mem::take;

/// Blocks of fewer elements are not worth the searches that cut them into [`LANES`].
const SHORT: usize = 256;

/// Number of places in which a block is merged in turn. The outcome of one comparison decides which elements a merge
/// compares next, so a single merge would leave the processor idle.
const LANES: usize = 4;

/// Elements that are still to be merged. `to` is as long as `left` and `right` together.
pub(crate) struct SliceMerge<'a, T, F> {
    left: &'a [T],
    right: &'a [T],
    to: &'a mut [T],
    compare: &'a F,
}

impl<'a, T, F> SliceMerge<'a, T, F>
where
    T: Copy,
    F: Fn(&T, &T) -> Ordering,
{
    pub(crate) fn new(left: &'a [T], right: &'a [T], to: &'a mut [T], compare: &'a F) -> Self {
        assert_eq!(left.len() + right.len(), to.len());
        SliceMerge { left, right, to, compare }
    }

    /// Merges the first `count` elements.
    pub(crate) fn step(&mut self, count: usize) {
        let (block, rest) = self.take().divide_at(count);
        *self = rest;
        block.run();
    }

    fn take(&mut self) -> Self {
        SliceMerge {
            left: take(&mut self.left),
            right: take(&mut self.right),
            to: take(&mut self.to),
            compare: self.compare,
        }
    }

    fn run(self) {
        let compare = self.compare;
        if self.to.len() < SHORT {
            return Lane::new(self).finish(compare);
        }
        let (front, back) = self.divide();
        let ((first, second), (third, fourth)) = (front.divide(), back.divide());
        let mut lanes: [Lane<'_, T>; LANES] = [first, second, third, fourth].map(Lane::new);
        while let Some(steps @ 1..) = lanes.iter().map(Lane::sure_steps).min() {
            for _ in 0..steps {
                for lane in &mut lanes {
                    lane.step(compare);
                }
            }
        }
        for lane in lanes {
            lane.finish(compare);
        }
    }
}

/// Cuts where the merge is to be cut.
impl<T, F> Divisible for SliceMerge<'_, T, F>
where
    F: Fn(&T, &T) -> Ordering,
{
    fn size(&self) -> usize {
        self.to.len()
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let compare = self.compare;
        let index = index.min(self.to.len());
        let from_left = co_rank(index, self.left, self.right, |right, left| compare(right, left).is_lt());
        let (left, left_rest) = self.left.split_at(from_left);
        let (right, right_rest) = self.right.split_at(index - from_left);
        let (to, to_rest) = self.to.split_at_mut(index);
        (
            SliceMerge { left, right, to, compare },
            SliceMerge { left: left_rest, right: right_rest, to: to_rest, compare },
        )
    }
}

/// A merge that has begun.
struct Lane<'a, T> {
    left: &'a [T],
    right: &'a [T],
    to: &'a mut [T],
    /// Numbers of elements that have been taken from the left and from the right side.
    of_left: usize,
    of_right: usize,
}

impl<'a, T: Copy> Lane<'a, T> {
    fn new<F>(merge: SliceMerge<'a, T, F>) -> Self {
        let SliceMerge { left, right, to, .. } = merge;
        Lane { left, right, to, of_left: 0, of_right: 0 }
    }

    /// Number of steps that can be made before a side is used up.
    #[inline]
    fn sure_steps(&self) -> usize {
        (self.left.len() - self.of_left).min(self.right.len() - self.of_right)
    }

    /// Takes one element, without a branch on the comparison. Neither side is used up.
    #[inline(always)]
    fn step(&mut self, compare: &impl Fn(&T, &T) -> Ordering) {
        let (left, right) = (&self.left[self.of_left], &self.right[self.of_right]);
        let from_right = compare(right, left).is_lt();
        self.to[self.of_left + self.of_right] = if from_right { *right } else { *left };
        self.of_left += usize::from(!from_right);
        self.of_right += usize::from(from_right);
    }

    /// Merges to the end.
    fn finish(mut self, compare: &impl Fn(&T, &T) -> Ordering) {
        while let steps @ 1.. = self.sure_steps() {
            for _ in 0..steps {
                self.step(compare);
            }
        }
        let (left, right) = (&self.left[self.of_left..], &self.right[self.of_right..]);
        let (to_left, to_right) = self.to[self.of_left + self.of_right..].split_at_mut(left.len());
        to_left.copy_from_slice(left);
        to_right.copy_from_slice(right);
    }
}

#[cfg(test)]
mod tests {
    use super::SliceMerge;
    use furcate::Divisible;
    use std::cmp::Ordering;

    fn by_key(a: &(u8, usize), b: &(u8, usize)) -> Ordering {
        a.0.cmp(&b.0)
    }

    /// A side of sorted keys, whose tags are all different.
    fn side(len: usize, distinct: usize, first_tag: usize) -> Vec<(u8, usize)> {
        let mut keys: Vec<u8> = (0..len).map(|i| (i * i % 251 % distinct) as u8).collect();
        keys.sort_unstable();
        keys.into_iter().zip(first_tag..).collect()
    }

    /// The result is the stable merge: in steps of all sizes, as a whole, and after cuts.
    #[test]
    fn steps_and_cuts_make_the_stable_merge() {
        let lens = [
            (0, 0),
            (0, 300),
            (300, 0),
            (1, 1),
            (5, 3),
            (128, 128),
            (127, 128),
            (600, 2),
            (2, 600),
            (500, 411),
        ];
        for (left_len, right_len) in lens {
            for distinct in [1, 3, 200] {
                let left = side(left_len, distinct, 0);
                let right = side(right_len, distinct, left_len);
                let mut expected = [&left[..], &right].concat();
                expected.sort_by(by_key);
                for count in [1, 2, 7, 64, 255, 256, 257, 500, usize::MAX] {
                    let mut to = vec![(0, usize::MAX); expected.len()];
                    let mut merge = SliceMerge::new(&left, &right, &mut to, &by_key);
                    while merge.size() > 0 {
                        let before = merge.size();
                        merge.step(count);
                        assert_eq!(merge.size(), before.saturating_sub(count));
                    }
                    assert_eq!(to, expected, "{left_len} and {right_len} in steps of {count}");

                    let mut to = vec![(0, usize::MAX); expected.len()];
                    let (mut head, mut tail) =
                        SliceMerge::new(&left, &right, &mut to, &by_key).divide_at(count);
                    assert_eq!(head.size(), count.min(expected.len()));
                    tail.step(usize::MAX);
                    head.step(usize::MAX);
                    assert_eq!(to, expected, "{left_len} and {right_len} cut at {count}");
                }
            }
        }
    }
}
