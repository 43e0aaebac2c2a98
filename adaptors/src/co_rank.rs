//! Co-ranking: where to cut two sorted sides, so that their merge is cut at a given place.
//!
//! ```text
//!   left    1  3  3 | 5  8        rank 5: 3 is the least l for which right[rank - 1 - l] < left[l] (2 < 5);
//!   right   2  2 | 3  9                   for 2 there is 3, to the right of which 3 does not go before 3
//! ```
//!
//! Varman, Iyer, Haderle, Dunn: *Parallel merging: algorithm and implementation results*, Parallel Computing 15, 1990;
//! Siebert, Träff: *Perfectly load-balanced, optimal, stable, parallel merge*, 2013.

/// Returns how many of the first `rank` elements of the stable merge of two sorted slices come from the left one.
///
/// Of equal elements the left slice's go first. The result is at most `rank` and `left.len()`, and `rank` minus the
/// result is at most `right.len()`, even if the slices are not sorted or the order contradicts itself. So a merge can
/// be cut into parts of any sizes: the first `rank` elements are the merge of `left[..l]` and `right[..rank - l]`, the
/// others are the merge of the rests of both slices.
///
/// Cost: a binary search in the shorter slice.
///
/// ```
/// use furcate::slice::co_rank;
/// assert_eq!(co_rank(5, &[1, 3, 3, 5, 8], &[2, 2, 3, 9], |a, b| a < b), 3);
/// assert_eq!(co_rank(1, &[7], &[7], |a, b| a < b), 1, "of equal ones the left one goes first");
/// ```
///
/// # Panics
///
/// If `rank` is more than the lengths together, or `is_less` panics.
pub fn co_rank<T>(rank: usize, left: &[T], right: &[T], is_less: impl Fn(&T, &T) -> bool) -> usize {
    let rest = rank.saturating_sub(left.len());
    assert!(rest <= right.len(), "rank {rank} of a merge of {} and {} elements", left.len(), right.len());
    co_rank_by(rank, left.len(), right.len(), |r, l| is_less(&right[r], &left[l]))
}

/// Computes [`co_rank`] for two sides of given lengths. `right_first` says whether the right side's element at a place
/// goes before the left side's element at a place.
///
/// `rank` is at most the lengths together, and places are in bounds.
#[inline]
pub(crate) fn co_rank_by(
    rank: usize,
    left_len: usize,
    right_len: usize,
    mut right_first: impl FnMut(usize, usize) -> bool,
) -> usize {
    let (mut low, mut high) = (rank.saturating_sub(right_len), rank.min(left_len));
    while low < high {
        let middle = low.midpoint(high);
        // If the left side's element goes before the competing element of the right side, it is among the first `rank`.
        if right_first(rank - 1 - middle, middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::co_rank;

    /// Every cut of every merge of short runs, against the merge itself.
    #[test]
    fn cuts_as_the_stable_merge_does() {
        let runs = |bits: u32| (0..7).filter(move |i| bits >> i & 1 == 1).map(|i| i / 2).collect::<Vec<_>>();
        for left in (0..128).map(runs) {
            for right in (0..128).map(runs) {
                let mut merged: Vec<(u32, bool)> = left.iter().map(|&x| (x, false)).collect();
                merged.extend(right.iter().map(|&x| (x, true)));
                merged.sort_by_key(|&(x, _)| x);
                for rank in 0..=merged.len() {
                    let expected = merged[..rank].iter().filter(|(_, of_right)| !of_right).count();
                    assert_eq!(
                        co_rank(rank, &left, &right, |a, b| a < b),
                        expected,
                        "{left:?} {right:?} {rank}"
                    );
                }
            }
        }
    }

    #[test]
    fn any_order_gives_a_cut_in_bounds() {
        for (l, r) in [(0, 0), (0, 5), (5, 0), (1, 1), (3, 9), (9, 3), (8, 8)] {
            let (left, right) = (vec![(); l], vec![(); r]);
            for rank in 0..=l + r {
                for answers in 0..64_u32 {
                    let bits = std::cell::Cell::new(answers);
                    let cut = co_rank(rank, &left, &right, |_, _| bits.replace(bits.get() >> 1) & 1 == 1);
                    assert!(cut <= rank && cut <= l && rank - cut <= r);
                }
            }
        }
    }

    #[test]
    #[should_panic = "rank 4 of a merge of 1 and 2 elements"]
    fn a_rank_past_the_end() {
        co_rank(4, &[1], &[2, 3], |a, b| a < b);
    }
}
