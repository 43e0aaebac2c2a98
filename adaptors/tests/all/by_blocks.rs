//! `by_blocks` and similar methods: the items that are evaluated, and the units in which blocks are counted.

use crate::support::LENGTHS;
use furcate::policy::{AnyPolicy, ForceDepth, SizeLimit};
use furcate::prelude::*;
use furcate::{Doubling, Inline};
use proptest::prelude::*;
use std::iter::repeat;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::on_pools;

/// Returns the end of the block that holds a place, counted from the end at which the search begins.
fn end_of_block(sizes: &[usize], len: usize, place: usize) -> usize {
    let mut end = 0;
    for &size in sizes {
        end += size.max(1);
        if end > place {
            return end.min(len);
        }
    }
    len
}

/// Number of evaluations of each item.
struct Looks(Vec<AtomicUsize>);

impl Looks {
    fn new(len: usize) -> Self {
        Looks((0..len).map(|_| AtomicUsize::new(0)).collect())
    }
    fn at(&self, x: usize) {
        self.0[x].fetch_add(1, Relaxed);
    }
    fn counts(self) -> Vec<usize> {
        self.0.into_iter().map(AtomicUsize::into_inner).collect()
    }
    /// Asserts that all items in the first range were evaluated once, none outside of the second one, and others at
    /// most once.
    #[track_caller]
    fn assert(self, all: std::ops::Range<usize>, at_most: std::ops::Range<usize>) {
        for (x, count) in self.counts().into_iter().enumerate() {
            assert!(count <= usize::from(at_most.contains(&x)), "{x} was evaluated {count} times");
            assert!(count == 1 || !all.contains(&x), "{x} was not evaluated");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// I4: nothing behind the block of the hit is evaluated, at whichever end the search begins.
    #[test]
    fn nothing_behind_the_block_of_the_hit(
        len in 1_usize..2000,
        place in 0_usize..2000,
        sizes in proptest::collection::vec(0_usize..200, 0..30),
    ) {
        let hit = place % len;
        let end = end_of_block(&sizes, len, hit);
        let begin = len - end_of_block(&sizes, len, len - 1 - hit);
        on_pools(|| {
            macro_rules! check {
                ($items:ident, |$it:ident, $see:ident| $search:expr, $all:expr, $at_most:expr) => {{
                    let looks = Looks::new(len);
                    let $see = |x: usize| {
                        looks.at(x);
                        x == hit
                    };
                    let $it = $items();
                    assert!($search, "hit at {hit} of {len}, {}: {}", stringify!($items), stringify!($search));
                    looks.assert($all, $at_most);
                }};
            }
            macro_rules! first_any_last {
                ($items:ident) => {
                    check!($items, |it, see| it.find_first(|&x| see(x)) == Some(hit), 0..hit + 1, 0..end);
                    check!($items, |it, see| it.any(see), hit..hit + 1, 0..end);
                    check!($items, |it, see| it.find_last(|&x| see(x)) == Some(hit), hit..len, begin..len);
                };
            }
            let by_default = || (0..len).into_par_iter().size_limit(16).by_blocks(sizes.clone());
            first_any_last!(by_default);
            check!(by_default, |it, see| it.position_first(see) == Some(hit), 0..hit + 1, 0..end);
            check!(by_default, |it, see| it.find_map_first(|x| see(x).then_some(x)) == Some(hit), 0..hit + 1, 0..end);
            check!(by_default, |it, see| !it.all(|x| !see(x)), hit..hit + 1, 0..end);
            check!(by_default, |it, see| it.position_any(see) == Some(hit), hit..hit + 1, 0..end);
            check!(by_default, |it, see| it.position_last(see) == Some(hit), hit..len, begin..len);
            check!(by_default, |it, see| it.rev().find_first(|&x| see(x)) == Some(hit), hit..len, begin..len);
            check!(by_default, |it, see| it.rev().find_last(|&x| see(x)) == Some(hit), 0..hit + 1, 0..end);
            check!(by_default, |it, see| it.rev().position_last(see) == Some(len - 1 - hit), 0..hit + 1, 0..end);
            let depjoin = || (0..len).into_par_iter().size_limit(16).depjoin().by_blocks(sizes.clone());
            first_any_last!(depjoin);
            let adaptive = || (0..len).into_par_iter().adaptive().nano_blocks(1, 8).by_blocks(sizes.clone());
            first_any_last!(adaptive);
            let sequential = || (0..len).into_par_iter().sequential().by_blocks(sizes.clone());
            first_any_last!(sequential);
        });
    }

    /// Blocks are counted before the filter, wherever they are named, and at whichever end the search begins.
    #[test]
    fn with_filter(len in 1_usize..1000, size in 1_usize..100, threshold in 0_usize..1000) {
        let kept = |x: usize| x % 7 == 3;
        let first = (0..len).find(|&x| kept(x) && x >= threshold);
        let end = first.map_or(len, |hit| (hit + 1).next_multiple_of(size).min(len));
        let last = (0..len).rfind(|&x| kept(x) && x < threshold);
        let begin = last.map_or(0, |hit| len - (len - hit).next_multiple_of(size).min(len));
        on_pools(|| {
            macro_rules! check {
                (|$it:ident| $chain:expr, $search:expr, $found:expr, $all:expr, $at_most:expr) => {{
                    let looks = Looks::new(len);
                    let see = |x: &usize| {
                        looks.at(*x);
                        kept(*x)
                    };
                    let source = || (0..len).into_par_iter();
                    macro_rules! search {
                        ($source:expr) => {{
                            let $it = $source;
                            $search
                        }};
                    }
                    let found = match $chain {
                        "blocks, filter" => search!(source().by_uniform_blocks(size).filter(see)),
                        "filter, blocks" => search!(source().filter(see).by_uniform_blocks(size)),
                        "adaptive, filter, blocks" => search!(source().adaptive().filter(see).by_uniform_blocks(size)),
                        "rev, blocks, filter" => search!(source().rev().by_uniform_blocks(size).filter(see)),
                        _ => search!(source().by_uniform_blocks(size).rev().filter(see)),
                    };
                    assert_eq!(found, $found, "{}: {}", $chain, stringify!($search));
                    looks.assert($all, $at_most);
                }};
            }
            for chain in ["blocks, filter", "filter, blocks", "adaptive, filter, blocks"] {
                let all = || 0..first.map_or(len, |hit| hit + 1);
                check!(|it| chain, it.find_first(|&x| x >= threshold), first, all(), 0..end);
                let all = || last.unwrap_or(0)..len;
                check!(|it| chain, it.find_last(|&x| x < threshold), last, all(), begin..len);
            }
            for chain in ["rev, blocks, filter", "blocks, rev, filter"] {
                let all = || 0..first.map_or(len, |hit| hit + 1);
                check!(|it| chain, it.find_last(|&x| x >= threshold), first, all(), 0..end);
                let all = || last.unwrap_or(0)..len;
                check!(|it| chain, it.find_first(|&x| x < threshold), last, all(), begin..len);
            }
        });
    }

    /// Blocks are counted in the units that are divided, also where an item becomes many.
    #[test]
    fn with_flat_map(len in 1_usize..500, size in 1_usize..50, place in 0_usize..500) {
        let hit = place % len;
        let (end, begin) = (
            (hit + 1).next_multiple_of(size).min(len),
            len - (len - hit).next_multiple_of(size).min(len),
        );
        on_pools(|| {
            let looks = Looks::new(len);
            let twice = |x: usize| {
                looks.at(x);
                [2 * x, 2 * x + 1]
            };
            let found = (0..len).into_par_iter().flat_map_iter(twice).by_uniform_blocks(size).find_first(|&x| x > 2 * hit);
            assert_eq!(found, Some(2 * hit + 1));
            looks.assert(0..hit + 1, 0..end);
            let looks = Looks::new(len);
            let twice = |x: usize| {
                looks.at(x);
                [2 * x, 2 * x + 1]
            };
            let found = (0..len).into_par_iter().by_uniform_blocks(size).flat_map_iter(twice).find_last(|&x| x <= 2 * hit);
            assert_eq!(found, Some(2 * hit));
            looks.assert(hit..len, begin..len);
        });
    }

    /// Every terminal's result is the sequential one, in order.
    #[test]
    fn results(v: Vec<i16>, sizes in proptest::collection::vec(0_usize..50, 0..10)) {
        let sizes = || sizes.clone();
        let text: String = v.iter().map(|x| x.to_string()).collect();
        on_pools(|| {
            macro_rules! check {
                ($expected:expr, $source:expr, |$it:ident| $result:expr) => {{
                    let expected = &$expected;
                    macro_rules! under {
                        ($chosen:expr) => {{
                            let $it = $chosen;
                            assert_eq!(&$result, expected, stringify!($chosen));
                        }};
                    }
                    for policy in [AnyPolicy::default(), SizeLimit::new(1).into(), ForceDepth::new(2).into()] {
                        under!($source.with_policy(policy.clone()));
                        under!($source.with_policy(policy.clone()).depjoin());
                        under!($source.with_policy(policy).adaptive().nano_blocks(1, 2));
                    }
                }};
            }
            check!(v, v.par_iter(), |it| it.by_blocks(sizes()).copied().collect::<Vec<_>>());
            check!(text, v.par_iter(), |it| {
                it.by_blocks(sizes()).map(|x| x.to_string()).reduce(String::new, |a, b| a + &b)
            });
            check!(v.iter().max(), v.par_iter(), |it| it.by_exponential_blocks().max());
            let kept: Vec<i16> = v.iter().copied().filter(|x| x % 3 == 0).collect();
            check!(kept, v.clone().into_par_iter(), |it| {
                it.by_blocks(sizes()).filter(|x| x % 3 == 0).collect::<Vec<_>>()
            });
            let pairs: Vec<_> = v.iter().zip(&v[v.len() / 2..]).rev().map(|(&a, &b)| (a, b)).collect();
            check!(pairs, v.par_iter(), |it| {
                it.zip(&v[v.len() / 2..]).rev().by_blocks(sizes()).map(|(&a, &b)| (a, b)).collect::<Vec<_>>()
            });
        });
    }
}

#[test]
fn every_length() {
    for len in LENGTHS {
        on_pools(|| {
            for sizes in
                [vec![], vec![0], vec![1, 2], vec![len], vec![len / 2, 0, usize::MAX], vec![usize::MAX]]
            {
                let sum = (0..len).into_par_iter().by_blocks(sizes.clone()).sum::<usize>();
                assert_eq!(sum, (0..len).sum());
                let mut v: Vec<usize> = (0..len).collect();
                v.par_iter_mut().by_blocks(sizes).for_each(|x| *x += 1);
                assert!(v.into_iter().eq(1..=len));
            }
            assert_eq!((0..len).into_par_iter().by_blocks(repeat(0)).count(), len);
            assert!((0..len).into_par_iter().by_exponential_blocks().eq(0..len));
        });
    }
}

/// Iterators with more items than `usize` can count, and endless ones (I2).
#[test]
fn near_the_maximum() {
    on_pools(|| {
        for start in [0, u128::MAX - 5000] {
            let hit =
                (start..u128::MAX).into_par_iter().by_uniform_blocks(100).find_first(|x| x - start == 3210);
            assert_eq!(hit, Some(start + 3210));
        }
        let last =
            (u64::MAX - 999..=u64::MAX).into_par_iter().by_exponential_blocks().find_last(|x| x % 2 == 0);
        assert_eq!(last, Some(u64::MAX - 1));
        let tried = AtomicUsize::new(0);
        let endless =
            furcate::iter::repeat(1).by_uniform_blocks(10).find_any(|_| tried.fetch_add(1, Relaxed) == 1234);
        assert_eq!(endless, Some(1));
        let first = (0..u128::MAX).into_par_iter().find_first(|&x| x == 1_000_000); // by default
        assert_eq!(first, Some(1_000_000));
    });
}

/// The pieces of a `wrap_iter` are cut by blocks only where blocks are named.
#[test]
fn pieces() {
    on_pools(|| {
        let pieces = || (0..100).wrap_iter().bound_depth(1);
        let expected = [0..5, 5..10, 10..20, 20..30, 30..65, 65..100];
        assert_eq!(pieces().by_blocks([10, 20]).collect::<Vec<_>>(), expected);
        assert_eq!(pieces().find_first(|piece| piece.end > 20), Some(0..50));
        assert_eq!(pieces().map(|piece| piece.end).find_first(|&end| end > 20), Some(50));
        assert_eq!(pieces().chain(pieces()).find_last(|piece| piece.end == 100), Some(0..100));
        assert_eq!((0..0).wrap_iter().by_blocks([1]).count(), 1);
        // An accumulator per task is such a piece, too.
        let sums = || (0..100).into_par_iter().bound_depth(1).fold(|| 0, |sum, x| sum + x);
        assert_eq!(sums().find_first(|_| true), Some((0..50).sum()));
    });
}

/// By default a search looks at little behind its hit, and an explicit scheduler is obeyed.
#[test]
fn searches_go_by_blocks_unless_a_scheduler_is_named() {
    let len = 1 << 20;
    for pool in testkit::pools() {
        pool.install(|| {
            for hit in [0, 10, 1000, len / 8] {
                // A block is at most sixteen times as long as the one before it, and twice as long from 4096 items per thread on. (How
                // much less it is depends on the time.)
                let threads = pool.current_num_threads();
                let most = hit + 1 + (16 * (hit + threads)).min(4096 * threads).max(2 * hit);
                let looks = Looks::new(len);
                let found = (0..len).into_par_iter().find_first(|&x| {
                    looks.at(x);
                    x == hit
                });
                assert_eq!(found, Some(hit));
                looks.assert(0..hit + 1, 0..most);
                let looks = Looks::new(len);
                let found = (0..len).into_par_iter().find_last(|&x| {
                    looks.at(x);
                    x == len - 1 - hit
                });
                assert_eq!(found, Some(len - 1 - hit));
                looks.assert(len - 1 - hit..len, len.saturating_sub(most)..len);
            }
        });
    }
    // `Join` begins at the front of both halves, also when it searches for the last hit, so the front half is evaluated
    // in vain.
    let looks = AtomicUsize::new(0);
    let see = |x: usize| looks.fetch_add(1, Relaxed) < len && x == len - 1;
    let last = (0..len).into_par_iter().size_limit(len / 2).join().on(Inline).find_last(|&x| see(x));
    assert_eq!((last, looks.swap(0, Relaxed)), (Some(len - 1), len));
    let last = (0..len).into_par_iter().sequential().on(Inline).find_last(|&x| see(x));
    assert_eq!((last, looks.swap(0, Relaxed)), (Some(len - 1), len));
    let last = (0..len).into_par_iter().size_limit(len / 2).on(Inline).find_last(|&x| see(x));
    assert_eq!((last, looks.swap(0, Relaxed)), (Some(len - 1), 1));
}

/// Sizes of blocks change no result, so 0 counts as 1 wherever it is named. (Rayon refuses it in `by_uniform_blocks`.)
#[test]
fn a_size_of_0_counts_as_1() {
    let blocks = std::sync::Mutex::new(vec![]);
    let list = |piece: std::ops::Range<usize>| blocks.lock().unwrap().push(piece);
    let source = || (0..5_usize).wrap_iter().sequential();
    source().by_uniform_blocks(0).for_each(list);
    source().by_blocks([0, 2]).for_each(list);
    assert_eq!(*blocks.lock().unwrap(), [0..1, 1..2, 2..3, 3..4, 4..5, 0..1, 1..3, 3..5]);
}

/// Items in the blocks behind a hit are dropped, and none is dropped twice (P2).
#[test]
fn what_is_not_reached_is_dropped() {
    use testkit::drops::{Ledger, assert_dropped_once};
    let ledger = Ledger::default();
    on_pools(|| {
        let hit =
            ledger.values(1000).into_par_iter().by_blocks(Doubling).find_first(|value| value.number == 100);
        assert_eq!((hit.map(|value| value.number), ledger.alive()), (Some(100), 0));
        let hit = ledger.values(1000).into_par_iter().find_last(|value| value.number == 800);
        assert_eq!((hit.map(|value| value.number), ledger.alive()), (Some(800), 0));
    });
    ledger.assert_settled("");
    assert_dropped_once(40, |values, fuse| {
        let items = values.into_par_iter().size_limit(4).by_blocks([3, 5, 20]).inspect(|_| fuse.burn());
        let kept: Vec<_> = items.collect();
        assert_eq!(kept.len(), 40);
    });
}
