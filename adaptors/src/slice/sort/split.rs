//! Co-ranking: where to cut two sorted runs, so that their merge is cut at a given place.

/// How many of the first `rank` elements of the stable merge of two runs are of the left one.
///
/// Binary search, about log2 of the shorter run's length in comparisons. The result is at most `rank` and `left.len()`,
/// and `rank` minus it at most `right.len()`, even if the order contradicts itself. `rank` must be at most the sum of
/// both lengths.
///
/// Varman, Iyer, Haderle, Dunn: *Parallel merging: algorithm and implementation results*, Parallel Computing 15, 1990;
/// Siebert, Träff: *Perfectly load-balanced, optimal, stable, parallel merge*, 2013.
pub(super) fn co_rank<T>(rank: usize, left: &[T], right: &[T], is_less: &impl Fn(&T, &T) -> bool) -> usize {
    let mut low = rank.saturating_sub(right.len());
    let mut high = rank.min(left.len());
    while low < high {
        let mid = low + (high - low) / 2;
        // If the left run's element `mid` comes before the right run's that competes for the last place, it is in.
        if is_less(&right[rank - 1 - mid], &left[mid]) {
            high = mid;
        } else {
            low = mid + 1;
        }
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
                        co_rank(rank, &left, &right, &|a, b| a < b),
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
                    let cut = co_rank(rank, &left, &right, &|_, _| bits.replace(bits.get() >> 1) & 1 == 1);
                    assert!(cut <= rank && cut <= l && rank - cut <= r);
                }
            }
        }
    }
}
