//! `inclusive_scan` and `exclusive_scan`: against the sequential loop, with operations that do not commute.

use crate::support::cuts::{assert_cuts, walks_as_std};
use crate::support::steps::Every;
use crate::support::{LENGTHS, assert_schedules};
use furcate::prelude::*;
use furcate::{Blocking, Executor, IndexedProducer, PeekProducer, Producer, Reduction, Scheduler, Workload};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use testkit::drops::{DropCounter, assert_dropped_once};
use testkit::on_pools;

/// The map x -> a x + b. Of two maps the first is applied first.
type Affine = (u64, u64);

fn compose((a, b): Affine, (c, d): Affine) -> Affine {
    (a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d))
}

fn affine(i: usize) -> Affine {
    (2 * i as u64 + 3, i as u64 + 1)
}

/// Scans sequentially.
fn inclusive<T: Clone>(items: impl IntoIterator<Item = T>, op: impl Fn(T, T) -> T) -> Vec<T> {
    let mut values: Vec<T> = Vec::new();
    for item in items {
        let value = match values.last().cloned() {
            Some(last) => op(last, item),
            None => item,
        };
        values.push(value);
    }
    values
}

fn exclusive<T: Clone>(items: impl IntoIterator<Item = T>, init: T, op: impl Fn(T, T) -> T) -> Vec<T> {
    let mut values = inclusive(std::iter::once(init).chain(items), op);
    values.pop();
    values
}

fn concat(left: String, right: String) -> String {
    left + &right
}

#[test]
fn as_the_loop_under_every_schedule() {
    for len in LENGTHS {
        let maps: Vec<Affine> = (0..len).map(affine).collect();
        let check = || {
            assert_schedules!(inclusive(maps.clone(), compose), maps.par_iter().copied(), |it| it
                .inclusive_scan(compose)
                .collect::<Vec<_>>());
            assert_schedules!(exclusive(maps.clone(), (5, 7), compose), maps.clone().into_par_iter(), |it| {
                it.exclusive_scan((5, 7), compose).collect::<Vec<_>>()
            });
        };
        if len < 100 { on_pools(check) } else { check() }
    }
}

/// A schedule that is named after the scan holds for the second pass.
#[test]
fn schedules_of_the_second_pass() {
    let maps: Vec<Affine> = (0..1000).map(affine).collect();
    let expected = exclusive(maps.clone(), (1, 1), compose);
    let scan = || maps.par_iter().copied().size_limit(70).exclusive_scan((1, 1), compose);
    assert_schedules!(expected, scan(), |it| it.collect::<Vec<_>>());
    assert_schedules!(expected, scan(), |it| it.map(|map| map).filter(|_| true).collect::<Vec<_>>());
}

#[test]
fn text() {
    for len in [0, 1, 2, 9, 64] {
        let letters: Vec<String> = (b'a'..=b'z').cycle().take(len).map(|b| char::from(b).into()).collect();
        assert_schedules!(inclusive(letters.clone(), concat), letters.par_iter().cloned(), |it| {
            it.inclusive_scan(concat).collect::<Vec<_>>()
        });
        assert_schedules!(
            exclusive(letters.clone(), ">".into(), concat),
            letters.clone().into_par_iter(),
            |it| it.exclusive_scan(">".to_string(), concat).collect::<Vec<_>>()
        );
    }
}

/// After a `filter` the number of items is unknown, and whole tasks may have none.
#[test]
fn of_unknown_length() {
    for keep in [0, 1, 3, 500, 1000] {
        let items = |i: &usize| *i % 500 < keep || *i == 999;
        let expected = inclusive((0..1000).filter(items).map(affine), compose);
        assert_schedules!(expected, (0..1000_usize).into_par_iter(), |it| {
            let scan = it.filter(items).map(affine).inclusive_scan(compose);
            assert_eq!(scan.opt_len(), None);
            scan.collect::<Vec<_>>()
        });
        let none: [Affine; 0] = [];
        assert_schedules!(none, (0..1000_usize).into_par_iter(), |it| {
            it.filter(|_| false).map(affine).exclusive_scan((3, 3), compose).collect::<Vec<_>>()
        });
    }
}

#[test]
fn as_indexed_as_its_base() {
    let sums = exclusive(0..1000_usize, 10, |a, b| a + b);
    let it = || (0..1000_usize).into_par_iter();
    let scan = || it().size_limit(30).exclusive_scan(10, |a, b| a + b);
    assert_eq!((scan().len(), scan().opt_len()), (1000, Some(1000)));
    let expected: Vec<(usize, usize)> = sums.iter().copied().zip(7..1007).rev().skip(100).take(700).collect();
    assert_schedules!(expected, it(), |it| {
        it.exclusive_scan(10, |a, b| a + b).zip(7..1007).rev().skip(100).take(700).collect::<Vec<_>>()
    });
    let expected: Vec<(usize, usize)> = sums.iter().copied().enumerate().step_by(7).collect();
    assert_schedules!(expected, scan(), |it| it.enumerate().step_by(7).collect::<Vec<_>>());
    let chunks: Vec<Vec<usize>> = sums.chunks(9).map(<[_]>::to_vec).collect();
    assert_schedules!(chunks, scan(), |it| it.chunks(9).collect::<Vec<_>>());
    assert_schedules!(sums.iter().position(|sum| *sum > 99_000), scan(), |it| {
        it.enumerate().find_first(|(_, sum)| *sum > 99_000).map(|(place, _)| place)
    });
    // Scans of scans, and a merge of two (which are sorted).
    let twice = inclusive(sums.clone(), |a, b| a + b);
    assert_schedules!(twice, scan(), |it| it.inclusive_scan(|a, b| a + b).collect::<Vec<_>>());
    let mut both = [&sums[..], &sums].concat();
    both.sort_unstable();
    assert_schedules!(both, scan(), |it| it.merge(scan()).collect::<Vec<_>>());
}

/// Cuts at every place, inside tasks and between them, steps, halves given away.
#[test]
fn cut_everywhere() {
    for len in [0, 1, 2, 9, 23] {
        let maps: Vec<Affine> = (0..len).map(affine).collect();
        for limit in [1, 3, 100] {
            let expected = inclusive(maps.clone(), compose);
            assert_cuts!(expected, maps.par_iter().copied().size_limit(limit).inclusive_scan(compose));
            let expected = exclusive(maps.clone(), (2, 9), compose);
            assert_cuts!(
                expected,
                maps.clone().into_par_iter().size_limit(limit).exclusive_scan((2, 9), compose)
            );
        }
    }
}

/// One task, fed item by item in steps.
#[derive(Clone)]
struct Looping;

impl Scheduler for Looping {
    fn schedule<W: Workload, E: Executor>(&self, work: W, _: &E) -> W::Output {
        let (producer, _, reduction) = work.parts();
        let step = |folded, item| reduction.fold_item(folded, item);
        let end = producer.partial_fold(Blocking(reduction.start()), step, &mut Every(3));
        reduction.finish(Blocking::at(end))
    }
}

#[test]
fn under_a_scheduler_of_nano_loops() {
    let maps: Vec<Affine> = (0..100).map(affine).collect();
    let it = || maps.par_iter().copied().with_scheduler(Looping);
    assert_eq!(it().inclusive_scan(compose).collect::<Vec<_>>(), inclusive(maps.clone(), compose));
    assert_eq!(
        it().exclusive_scan((1, 2), compose).collect::<Vec<_>>(),
        exclusive(maps.clone(), (1, 2), compose)
    );
}

/// A scan that no memory can hold is refused at once, with a message that names the remedy.
#[test]
fn more_than_memory_holds() {
    let refused = |scan: &dyn Fn() -> Option<u64>| {
        let payload = catch_unwind(AssertUnwindSafe(scan)).unwrap_err();
        let message = payload.downcast_ref::<String>().map(String::as_str);
        let message = message.or(payload.downcast_ref::<&str>().copied()).unwrap();
        assert!(message.contains("before the scan"), "{message}");
    };
    let add = u64::wrapping_add;
    // Too large in all, or in one task; also if a scheduler asks for items one by one.
    for max in [u64::MAX, u64::MAX / 2, u64::MAX / 16 + 1] {
        refused(&|| (0..max).into_par_iter().inclusive_scan(add).max());
        refused(&|| (0..max).into_par_iter().exclusive_scan(7, add).find_any(|_| true));
        refused(&|| (0..max).into_par_iter().with_scheduler(Looping).inclusive_scan(add).max());
    }
    // The number of these items is unknown, but a single task has too many.
    refused(&|| (0..u128::MAX).into_par_iter().sequential().map(|x| x as u64).inclusive_scan(add).max());
    let first = (0..u64::MAX).into_par_iter().skip(5).map(|x| x as usize);
    assert_eq!(first.clone().take(4).inclusive_scan(|a, b| a + b).collect::<Vec<_>>(), [5, 11, 18, 26]);
}

/// Nothing runs before a terminal. Then every item of the base is computed once, and the operation is applied as often
/// as promised (I4).
#[test]
fn laziness_and_counts() {
    let (items, ops) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let base = || {
        (0..64_u64).into_par_iter().map(|x| {
            items.fetch_add(1, SeqCst);
            x
        })
    };
    let op = |a, b| {
        ops.fetch_add(1, SeqCst);
        a + b
    };
    let runs = || (items.swap(0, SeqCst), ops.swap(0, SeqCst));
    drop(base().inclusive_scan(op).map(|x| x + 1).rev());
    assert_eq!((base().exclusive_scan(1, op).len(), runs()), (64, (0, 0)));
    // One task.
    assert_eq!(base().bound_depth(0).inclusive_scan(op).max(), Some(2016));
    assert_eq!(runs(), (64, 63));
    // Four tasks: each scans 16 items alone, the totals before the third and the fourth are computed, and three are
    // applied.
    assert_eq!(base().bound_depth(2).inclusive_scan(op).max(), Some(2016));
    assert_eq!(runs(), (64, 4 * 15 + 2 + 3 * 16));
    // `init` precedes the first task, too. It is yielded as it is, and the last value is not yielded.
    assert_eq!(base().bound_depth(2).exclusive_scan(0, op).max(), Some(2016 - 63));
    assert_eq!(runs(), (64, 4 * 15 + 3 + 4 * 16 - 1));
    // Values that are not asked for are not finished.
    assert_eq!(base().bound_depth(2).inclusive_scan(op).skip(60).take(3).count(), 3);
    assert_eq!(runs(), (64, 4 * 15 + 2 + 3));
    assert_eq!((0..0_u64).into_par_iter().exclusive_scan(5, op).collect::<Vec<_>>(), []);
    assert_eq!(runs(), (0, 0));
}

/// The operation, or a closure behind it, panics at any call: every item and every clone is dropped once (P2).
#[test]
fn drops_are_exact() {
    fn op(fuse: &testkit::drops::Fuse, left: DropCounter, right: DropCounter) -> DropCounter {
        fuse.burn();
        if left.number > right.number { left } else { right }
    }
    assert_dropped_once(9, |values, fuse| {
        let it = values.into_par_iter().bound_depth(2).on(furcate::Inline);
        let all: Vec<_> = it.inclusive_scan(|a, b| op(fuse, a, b)).collect();
        assert!(all.iter().map(|value| value.number).eq(0..9));
    });
    assert_dropped_once(7, |values, fuse| {
        let init = values[0].clone();
        let it = values.into_par_iter().filter(|value| value.number != 3).size_limit(2);
        let scan = it.exclusive_scan(init, |a, b| op(fuse, a, b));
        let all: Vec<_> = scan.inspect(|_| fuse.burn()).collect();
        assert_eq!(all.len(), 6);
    });
    assert_dropped_once(6, |values, fuse| {
        let init = values[5].clone();
        let it = values.into_par_iter().bound_depth(1).exclusive_scan(init, |a, b| op(fuse, a, b));
        // Items that are cut off, walked from the back, or never taken.
        assert!(it.skip(1).rev().take(4).inspect(|_| fuse.burn()).find_any(|_| true).is_some());
    });
}

/// A second call lends the same again, or nothing; and a clone is another scan.
#[test]
fn clones_and_second_calls() {
    let mut it = (0..10_u32).into_par_iter().size_limit(3).exclusive_scan(100, |a, b| a + b);
    let expected = exclusive(0..10, 100, |a, b| a + b);
    for _ in 0..2 {
        assert!(it.producer().into_iter().eq(expected.clone()));
    }
    assert_eq!(it.clone().collect::<Vec<_>>(), expected);
    assert!(format!("{it:?}").starts_with("PrefixScan"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Any tasks in the first pass, any cut of the second, walked from both ends, with looks everywhere.
    #[test]
    fn as_the_loop(
        items in prop::collection::vec(any::<Affine>(), 0..60),
        limit in 1..70_usize,
        cut in 0..70_usize,
        steps in prop::collection::vec((any::<bool>(), 0..4_usize), 0..40),
    ) {
        let scan = || items.par_iter().copied().size_limit(limit).inclusive_scan(compose);
        let expected = inclusive(items.clone(), compose);
        let mut lent = scan();
        let (head, tail) = lent.producer().divide_at(cut);
        let place = cut.min(items.len());
        prop_assert_eq!((head.size(), tail.size()), (place, items.len() - place));
        let looks: Vec<Affine> = (0..tail.size()).map(|i| tail.peek(i)).collect();
        prop_assert_eq!(&looks, &expected[place..]);
        prop_assert_eq!(&head.into_iter().collect::<Vec<_>>(), &expected[..place]);
        let mut lent = scan();
        walks_as_std(lent.producer(), expected.clone().into_iter(), &steps);
        let mut lent = scan();
        let (_, tail) = lent.producer().divide_at(cut);
        walks_as_std(tail, expected[place..].iter().copied(), &steps);
    }
}

/// The producer is indexed, as its type says.
#[test]
fn lends_an_indexed_producer() {
    fn back<P: IndexedProducer>(producer: P) -> Option<P::Item> {
        producer.into_iter().next_back()
    }
    let mut it = (1..=4_u32).into_par_iter().filter(|x| *x != 4).inclusive_scan(|a, b| a * b);
    assert_eq!(back(it.producer()), Some(6));
}
