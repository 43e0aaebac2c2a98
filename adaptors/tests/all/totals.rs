//! `sum` and `product` of `Option`s and `Result`s end at the first failure; all other types are summed as usual.

use crate::support::assert_schedules;
use furcate::Inline;
use furcate::prelude::*;
use std::iter::{Product, Sum};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};
use testkit::{on_pools, pool, pools};

const LEN: usize = 40_000;

/// Counts the items that are made, each of which takes a while.
#[derive(Default)]
struct Made(AtomicUsize);

impl Made {
    fn item(&self, x: usize) -> usize {
        self.0.fetch_add(1, Relaxed);
        sleep(Duration::from_micros(100));
        x
    }

    #[track_caller]
    fn assert_few(&self, of: usize, what: &str) {
        let made = self.0.swap(0, Relaxed);
        assert!(made <= of, "{what}: {made} items were made, not {of} at most");
    }
}

/// An item near the front fails: hardly more is computed than by `collect`.
#[test]
fn nothing_is_computed_long_after_a_failure() {
    let made = Made::default();
    let fails = |x| if made.item(x) == 10 { Err(x) } else { Ok(x) };
    for pool in pools() {
        let most = 1000 * pool.current_num_threads();
        pool.install(|| {
            let items = || (0..LEN).into_par_iter();
            assert_eq!(items().map(fails).collect::<Result<Vec<_>, _>>(), Err(10));
            made.assert_few(most, "collect");
            assert_eq!(items().map(fails).sum::<Result<usize, _>>(), Err(10));
            made.assert_few(most, "a sum of results");
            assert_eq!(items().map(fails).map(|x| x.map(|_| 1)).product::<Result<usize, _>>(), Err(10));
            made.assert_few(most, "a product of results");
            assert_eq!(items().map(|x| fails(x).ok()).sum::<Option<usize>>(), None);
            made.assert_few(most, "a sum of options");
            assert_eq!(items().map(|x| fails(x).ok().map(|_| 1)).product::<Option<usize>>(), None);
            made.assert_few(most, "a product of options");
            assert_eq!(items().map(fails).adaptive().sum::<Result<usize, _>>(), Err(10));
            made.assert_few(most, "an adaptive sum");
            assert_eq!(items().map(fails).size_limit(8).depjoin().sum::<Result<usize, _>>(), Err(10));
            made.assert_few(most, "a sum by depjoin");
            assert_eq!(items().map(fails).by_uniform_blocks(50).sum::<Result<usize, _>>(), Err(10));
            made.assert_few(most, "a sum by blocks");
        });
    }
}

/// One thread computes exactly the same items as std, in the same order.
#[test]
fn one_thread_computes_what_std_computes() {
    let made = AtomicUsize::new(0);
    let fails = |x| {
        made.fetch_add(1, Relaxed);
        if x == 700 { None } else { Some(x) }
    };
    let items = || (0..4000_usize).into_par_iter().map(fails).on(Inline);
    assert_schedules!(Inline, (None, 701), items(), |it| (it.sum::<Option<usize>>(), made.swap(0, Relaxed)));
}

/// A failure ends the tasks before it, too.
#[test]
fn a_failure_in_the_second_half_ends_the_first() {
    let (looks, begun) = (AtomicUsize::new(0), Instant::now());
    let sum = pool(2).install(|| {
        let items = (0..2 * LEN).into_par_iter().bound_depth(1).map(|x| {
            if x < LEN {
                looks.fetch_add(1, Relaxed);
                sleep(Duration::from_millis(1));
                return Ok(x);
            }
            while looks.load(Relaxed) < 3 && begun.elapsed() < Duration::from_secs(5) {
                yield_now();
            }
            Err("second half")
        });
        items.sum::<Result<usize, _>>()
    });
    let looks = looks.into_inner();
    assert_eq!(sum, Err("second half"));
    assert!(looks < LEN / 2, "{looks} items of the first half");
}

#[test]
fn without_a_failure_totals_are_those_of_std() {
    for len in [0, 1, 2, 7, 1000] {
        on_pools(|| {
            let (options, results) = (
                || (0..len).into_par_iter().map(Some),
                || (1..=len.min(20)).into_par_iter().map(Ok::<usize, String>),
            );
            assert_schedules!(Some((0..len).sum()), options(), |it| it.sum::<Option<usize>>());
            assert_schedules!(Ok((1..=len.min(20)).product()), results(), |it| it
                .product::<Result<usize, _>>());
        });
    }
}

/// The first item: its `Sum` looks at no other item, but items before it count.
#[derive(Clone, Debug, PartialEq)]
enum First {
    Nothing,
    Item(usize),
}

impl Sum<usize> for First {
    fn sum<I: Iterator<Item = usize>>(mut items: I) -> Self {
        items.next().map_or(First::Nothing, First::Item)
    }
}

impl Sum for First {
    fn sum<I: Iterator<Item = First>>(mut items: I) -> Self {
        items.find(|item| *item != First::Nothing).unwrap_or(First::Nothing)
    }
}

/// The first three.
#[derive(Debug, PartialEq)]
struct FirstThree(Vec<usize>);

impl Sum<usize> for FirstThree {
    fn sum<I: Iterator<Item = usize>>(items: I) -> Self {
        FirstThree(items.take(3).collect())
    }
}

impl Sum for FirstThree {
    fn sum<I: Iterator<Item = FirstThree>>(items: I) -> Self {
        FirstThree(items.flat_map(|part| part.0).take(3).collect())
    }
}

/// A product that uses the iterator's size hint.
#[derive(Debug, PartialEq)]
struct Hint(usize);

impl Product<usize> for Hint {
    fn product<I: Iterator<Item = usize>>(items: I) -> Self {
        let (least, most) = items.size_hint();
        let count = items.count();
        assert!(least <= count && most.is_none_or(|most| count <= most));
        Hint(count)
    }
}

impl Product for Hint {
    fn product<I: Iterator<Item = Hint>>(items: I) -> Self {
        Hint(items.map(|part| part.0).sum())
    }
}

/// A `Sum` of one's own may end early without deciding about the items before.
#[test]
fn sums_of_ones_own_that_end_early_are_not_cut_short() {
    let items = || (5..2000_usize).into_par_iter();
    on_pools(|| {
        assert_schedules!(First::Item(5), items(), |it| it.sum::<First>());
        assert_schedules!(Some(First::Item(5)), items(), |it| it.map(Some).sum::<Option<First>>());
        assert_schedules!(FirstThree(vec![5, 6, 7]), items(), |it| it.sum::<FirstThree>());
        assert_schedules!(Hint(1995), items(), |it| it.product::<Hint>());
    });
}

/// Sums of floats depend on how items are grouped: a leaf is one sum, whatever the machine's speed.
#[test]
fn float_sums_are_grouped_by_the_policy_alone() {
    let terms = || (0..100_000_u32).into_par_iter().map(|x| 1.0 / f64::from(x + 1)).bound_depth(4);
    let leaf = |part: u32| (0..6250).map(|x| 1.0 / f64::from(part * 6250 + x + 1)).sum::<f64>();
    fn tree(leaves: &[f64]) -> f64 {
        match leaves {
            [leaf] => *leaf,
            _ => {
                let (left, right) = leaves.split_at(leaves.len() / 2);
                [tree(left), tree(right)].iter().sum()
            }
        }
    }
    let expected = tree(&(0..16).map(leaf).collect::<Vec<_>>());
    on_pools(|| {
        assert_eq!(terms().sum::<f64>().to_bits(), expected.to_bits());
        assert_eq!(terms().map(Ok).sum::<Result<f64, ()>>().unwrap().to_bits(), expected.to_bits());
    });
}

/// A failure of the very last item, of every part, and of all items.
#[test]
fn wherever_it_fails() {
    for len in [1, 2, 3, 64, 65] {
        for at in 0..len {
            let items = || (0..len).into_par_iter().map(|x| (x != at).then_some(x).ok_or(x));
            on_pools(|| {
                assert_schedules!(Err(at), items(), |it| it.sum::<Result<usize, usize>>());
            });
        }
        let all = || (0..len).into_par_iter().map(|_| None::<usize>);
        on_pools(|| assert_schedules!(None, all(), |it| it.sum::<Option<usize>>()));
    }
}
