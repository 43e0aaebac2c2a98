//! Sorts pairs by their keys, and keeps the order of equal keys: a merge sort whose merges are parallel, too (classic: merge sort).

use crate::program::{Program, changes, equal};
use fastrand::Rng;

pub(super) const PROGRAM: Program = Program {
    name: "merge_sort",
    suite: "classic",
    what: "a stable sort of pairs",
    unit: "pairs",
    size: 1 << 23,
    quick: 1 << 18,
    schedule: "",
    why: "a tie, because sorting or merging a leaf takes much longer than a fork",
    source: include_str!("merge_sort.rs"),
    case: |size| {
        let mut random = Rng::with_seed(1);
        let pairs: Vec<Pair> = (0..size as u32).map(|place| (random.u32(0..1 << 20), place)).collect();
        changes(pairs, [sequential::run, rayon::run, furcate::run], |pairs, sorted| {
            let mut expected = pairs.clone();
            // The second parts are the places, so that the order of whole pairs is the stable order of the keys.
            expected.sort_unstable();
            equal(sorted, &expected)
        })
    },
};

/// A key, and a value that goes with it.
type Pair = (u32, u32);

/// Lists of at most this length are sorted or merged by one thread.
const LEAF: usize = 1 << 15;

/// Returns where to cut two sorted lists, so that the first parts and the second parts can be merged independently. The longer list is cut in
/// the middle.
fn cut(left: &[Pair], right: &[Pair]) -> (usize, usize) {
    if left.len() >= right.len() {
        let middle = left.len() / 2;
        (middle, right.partition_point(|pair| pair.0 < left[middle].0))
    } else {
        let middle = right.len() / 2;
        (left.partition_point(|pair| pair.0 <= right[middle].0), middle)
    }
}

fn merge_by_loop(left: &[Pair], right: &[Pair], merged: &mut [Pair]) {
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        let (a, b) = (left[l], right[r]);
        let is_left = a.0 <= b.0;
        merged[l + r] = if is_left { a } else { b };
        // Additions in place of a branch, which would be mispredicted half of the time.
        l += usize::from(is_left);
        r += usize::from(!is_left);
    }
    let (rest_of_left, rest_of_right) = merged[l + r..].split_at_mut(left.len() - l);
    rest_of_left.copy_from_slice(&left[l..]);
    rest_of_right.copy_from_slice(&right[r..]);
}

mod sequential {
    use super::Pair;

    pub(super) fn run(pairs: &mut Vec<Pair>) {
        pairs.sort_by_key(|pair| pair.0);
    }
}

mod rayon {
    use super::{LEAF, Pair, cut, merge_by_loop};

    pub(super) fn run(pairs: &mut Vec<Pair>) {
        let mut buffer = pairs.clone();
        sort(pairs, &mut buffer, false);
    }

    /// Sorts a list. The result is in the list or in the buffer.
    fn sort(list: &mut [Pair], buffer: &mut [Pair], into_buffer: bool) {
        if list.len() <= LEAF {
            list.sort_by_key(|pair| pair.0);
            if into_buffer {
                buffer.copy_from_slice(list);
            }
            return;
        }
        let middle = list.len() / 2;
        let ((left, right), (left_buffer, right_buffer)) =
            (list.split_at_mut(middle), buffer.split_at_mut(middle));
        rayon::join(|| sort(left, left_buffer, !into_buffer), || sort(right, right_buffer, !into_buffer));
        if into_buffer {
            merge(left, right, buffer);
        } else {
            merge(left_buffer, right_buffer, list);
        }
    }

    fn merge(left: &[Pair], right: &[Pair], merged: &mut [Pair]) {
        if merged.len() <= LEAF {
            return merge_by_loop(left, right, merged);
        }
        let (l, r) = cut(left, right);
        let (first, second) = merged.split_at_mut(l + r);
        rayon::join(|| merge(&left[..l], &right[..r], first), || merge(&left[l..], &right[r..], second));
    }
}

mod furcate {
    use super::{LEAF, Pair, cut, merge_by_loop};

    pub(super) fn run(pairs: &mut Vec<Pair>) {
        let mut buffer = pairs.clone();
        sort(pairs, &mut buffer, false);
    }

    /// Sorts a list. The result is in the list or in the buffer.
    fn sort(list: &mut [Pair], buffer: &mut [Pair], into_buffer: bool) {
        if list.len() <= LEAF {
            list.sort_by_key(|pair| pair.0);
            if into_buffer {
                buffer.copy_from_slice(list);
            }
            return;
        }
        let middle = list.len() / 2;
        let ((left, right), (left_buffer, right_buffer)) =
            (list.split_at_mut(middle), buffer.split_at_mut(middle));
        furcate::join(|| sort(left, left_buffer, !into_buffer), || sort(right, right_buffer, !into_buffer));
        if into_buffer {
            merge(left, right, buffer);
        } else {
            merge(left_buffer, right_buffer, list);
        }
    }

    fn merge(left: &[Pair], right: &[Pair], merged: &mut [Pair]) {
        if merged.len() <= LEAF {
            return merge_by_loop(left, right, merged);
        }
        let (l, r) = cut(left, right);
        let (first, second) = merged.split_at_mut(l + r);
        furcate::join(|| merge(&left[..l], &right[..r], first), || merge(&left[l..], &right[r..], second));
    }
}
