//! Adaptors that pass or drop items by a state that all tasks share: `while_some`, `take_any`, `skip_any`,
//! `take_any_while`, `skip_any_while`, `panic_fuse`.

use crate::support::{LENGTHS, assert_schedules};
use furcate::prelude::*;
use furcate::{Inline, NextStep};
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};
use testkit::drops::assert_dropped_once;
use testkit::on_pools;
use testkit::panics::{planned_panic, survives};

/// Whether the items are some of `0..len`, in order.
fn are_some(items: &[usize], len: usize) -> bool {
    items.is_sorted_by(|a, b| a < b) && items.iter().all(|&x| x < len)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// One thread walks from the left to the right, whatever the policy. So there the adaptors equal std's.
    #[test]
    fn on_one_thread_as_in_std(len in 0..3000_usize, at in 0..4000_usize) {
        let source = || (0..len).into_par_iter().on(Inline);
        let before: Vec<_> = (0..len.min(at)).collect();
        let behind: Vec<_> = (at..len).collect();
        let below = |x: &usize| *x < at;
        assert_schedules!(Inline, before, source(), |it| it.map(|x| Some(x).filter(below)).while_some().collect::<Vec<_>>());
        assert_schedules!(Inline, before, source(), |it| it.take_any_while(below).collect::<Vec<_>>());
        assert_schedules!(Inline, before, source(), |it| it.take_any(at).collect::<Vec<_>>());
        assert_schedules!(Inline, behind, source(), |it| it.skip_any_while(below).collect::<Vec<_>>());
        assert_schedules!(Inline, behind, source(), |it| it.skip_any(at).collect::<Vec<_>>());
    }

    #[test]
    fn any_so_many(len in 0..1500_usize, n in 0..2000_usize) {
        let source = || (0..len).into_par_iter();
        on_pools(|| {
            let check = |items: Vec<usize>| (are_some(&items, len), items.len());
            assert_schedules!((true, len.min(n)), source(), |it| check(it.take_any(n).collect()));
            assert_schedules!((true, len.saturating_sub(n)), source(), |it| check(it.skip_any(n).collect()));
            // Also elsewhere in the chain.
            assert_schedules!((true, len.min(n)), source(), |it| check(it.filter(|_| true).take_any(n).map(|x| x).collect()));
            assert_schedules!(len.min(n), source(), |it| it.take_any(n).take_any(n + 1).count());
        });
    }

    #[test]
    fn until_one_does_not_pass(len in 1..3000_usize, at in 0..3000_usize) {
        let at = at.min(len - 1);
        let source = || (0..len).into_par_iter();
        on_pools(|| {
            let check = |items: Vec<usize>| are_some(&items, len) && !items.contains(&at);
            assert_schedules!(true, source(), |it| check(it.map(|x| (x != at).then_some(x)).while_some().collect()));
            assert_schedules!(true, source(), |it| check(it.take_any_while(|&x| x != at).collect()));
            // Every item for which the predicate is false is there. If it is true for all, no item is.
            let has_all = |items: Vec<usize>| are_some(&items, len) && items.ends_with(&(at..len).collect::<Vec<_>>());
            assert_schedules!(true, source(), |it| has_all(it.skip_any_while(|&x| x < at).collect()));
            assert_schedules!(0, source(), |it| it.skip_any_while(|_| true).count());
            assert_schedules!(len, source(), |it| it.take_any_while(|_| true).count());
            assert_schedules!(len, source(), |it| it.map(Some).while_some().count());
        });
    }
}

/// A gate ends the part of the chain before it: the other side of a `chain` continues.
#[test]
fn what_is_chained_goes_on() {
    for len in LENGTHS {
        let none = || (0..len).into_par_iter().map(|_| None::<usize>).while_some();
        let other = || (0..len).into_par_iter();
        let all: Vec<_> = (0..len).collect();
        on_pools(|| {
            assert_schedules!(all, none(), |it| it.chain(other()).collect::<Vec<_>>());
            assert_schedules!(all, other(), |it| it.chain(none()).collect::<Vec<_>>());
            assert_schedules!(3.min(len) + len, other(), |it| it.take_any(3).chain(other()).count());
            assert_schedules!(3.min(len) + len, other(), |it| it.chain(other().take_any(3)).count());
            assert_schedules!(2 * len, other(), |it| {
                it.take_any_while(|_| false).chain(other()).filter(|_| true).chain(other()).count()
            });
            let text: Result<Vec<_>, ()> = Ok(all.clone());
            assert_schedules!(text, none(), |it| it
                .chain(other())
                .map(Ok)
                .collect::<Result<Vec<usize>, ()>>());
        });
    }
}

/// On one thread nothing behind the end is computed. On several threads, only the items that they are working on.
#[test]
fn what_is_computed() {
    let computed = AtomicUsize::new(0);
    let compute = |x: usize| {
        computed.fetch_add(1, Relaxed);
        x
    };
    for n in [0, 1, 15, 16, 17, 500] {
        assert_schedules!(Inline, (n, n), (0..1000).into_par_iter().on(Inline), |it| {
            (it.map(compute).take_any(n).count(), computed.swap(0, Relaxed))
        });
        assert_schedules!(Inline, (n, n + 1), (0..1000).into_par_iter().on(Inline), |it| {
            (it.map(compute).take_any_while(|&x| x < n).count(), computed.swap(0, Relaxed))
        });
        assert_schedules!(Inline, (n, n + 1), (0..1000).into_par_iter().on(Inline), |it| {
            it.map(compute).map(|x| (x < n).then_some(x)).while_some().for_each(drop);
            (n, computed.swap(0, Relaxed))
        });
        for pool in testkit::pools() {
            let threads = pool.current_num_threads();
            let taken = pool.install(|| (0..100_000).into_par_iter().map(compute).take_any(n).count());
            assert_eq!(taken, n);
            let computed = computed.swap(0, Relaxed);
            assert!(computed <= n + threads, "{computed} items for {n} on {threads} threads");
        }
    }
}

/// A task whose items do not reach the gate notices its end between its steps.
#[test]
fn behind_a_filter() {
    const LEN: usize = 2000;
    let (looks, long_enough) = (AtomicUsize::new(0), Instant::now() + Duration::from_secs(1));
    let pool = testkit::pool(2);
    let count = pool.install(|| {
        let it = (0..2 * LEN).into_par_iter().bound_depth(1).filter(|&x| {
            if x >= LEN {
                looks.fetch_add(1, Relaxed);
                sleep(Duration::from_millis(1));
            }
            x == 0
        });
        it.map(|_| {
            // The other half is under way from here on.
            while looks.load(Relaxed) < 3 && Instant::now() < long_enough {
                std::thread::yield_now();
            }
            None::<usize>
        })
        .while_some()
        .count()
    });
    assert_eq!(count, 0);
    let looks = looks.into_inner();
    assert!(looks < LEN / 4, "{looks} slow items after the end");
}

/// In steps no item comes after the end, and parts that are given away know of it.
#[test]
fn by_hand() {
    for limit in [1, 2, 3, 7, 100] {
        let mut it = (0..100).into_par_iter().map(|x| (x != 20).then_some(x)).while_some();
        let steps = [NextStep::Fold(5), NextStep::Divide]
            .into_iter()
            .chain(std::iter::repeat_n(NextStep::Fold(limit), 200));
        let (items, outcome) = crate::support::steps::run_script(it.producer(), steps);
        assert!(items.into_iter().flatten().eq(0..20));
        let [given] = &outcome.given[..] else { panic!("one half is given away") };
        assert_eq!((given.size(), given.should_be_divided()), (0, false));
        let given = outcome.given.into_iter().next().unwrap();
        assert_eq!(given.into_iter().next(), None);
        // Another run begins with an open gate.
        assert!(it.producer().into_iter().eq(0..20) && it.clone().producer().size() == 100);
    }
}

#[test]
fn a_fuse_that_does_not_blow_lets_all_pass() {
    for len in LENGTHS {
        let all: Vec<_> = (0..len).collect();
        let back: Vec<_> = (0..len).rev().collect();
        on_pools(|| {
            assert_schedules!(all, (0..len).into_par_iter(), |it| it.panic_fuse().collect::<Vec<_>>());
            assert_schedules!(back, (0..len).into_par_iter(), |it| it.panic_fuse().rev().collect::<Vec<_>>());
            assert_schedules!(all, (0..len).into_par_iter(), |it| {
                let pairs = it.panic_fuse().enumerate().zip(all.par_iter().panic_fuse());
                pairs
                    .map(|((at, x), &y)| {
                        assert!(at == x && x == y);
                        x
                    })
                    .collect::<Vec<_>>()
            });
            assert_schedules!(len, (0..len).into_par_iter(), |it| it.filter(|_| true).panic_fuse().count());
        });
    }
}

/// P5: a panic ends the other tasks at their next item, even without steps.
#[test]
fn a_blown_fuse_ends_the_other_tasks() {
    const LEN: usize = 2000;
    for threads in [1, 2, 3, 8] {
        let (pool, looks) = (testkit::pool(threads), AtomicUsize::new(0));
        let blown = AtomicBool::new(false);
        let survived = survives(|| {
            pool.install(|| {
                (0..2 * LEN).into_par_iter().bound_depth(1).panic_fuse().for_each(|x| {
                    if x == 0 {
                        let long_enough = Instant::now() + Duration::from_millis(200);
                        while looks.load(Relaxed) < 3 && Instant::now() < long_enough {
                            std::thread::yield_now();
                        }
                        blown.store(true, Relaxed);
                        planned_panic();
                    }
                    if x >= LEN {
                        looks.fetch_add(1, Relaxed);
                        sleep(Duration::from_micros(500));
                    }
                });
            });
        });
        assert!(!survived);
        let looks = looks.into_inner();
        assert!(looks < LEN / 4, "{looks} slow items after the panic");
    }
}

/// A computation in a destructor that runs while its thread unwinds does not count as panicking.
#[test]
fn a_fuse_in_a_destructor() {
    struct Counts<'a>(&'a AtomicUsize);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            let count = (0..1000).into_par_iter().map(|x| x).panic_fuse().filter(|_| true).count();
            self.0.store(count, Relaxed);
        }
    }
    let count = AtomicUsize::new(0);
    assert!(!survives(|| {
        let _counts = Counts(&count);
        planned_panic();
    }));
    assert_eq!(count.into_inner(), 1000);
}

/// P2: with a panic at any call, every item is dropped once.
#[test]
fn everything_is_dropped_once() {
    for size in [3, 40] {
        assert_dropped_once(40, |values, fuse| {
            let values = values.into_par_iter().size_limit(size).map(|value| {
                fuse.burn();
                (value.number != 30).then_some(value)
            });
            assert!(values.while_some().collect::<Vec<_>>().len() < 40);
        });
        assert_dropped_once(40, |values, fuse| {
            let values = values.into_par_iter().size_limit(size).take_any_while(|value| {
                fuse.burn();
                value.number != 30
            });
            assert!(values.skip_any(3).take_any(20).collect::<Vec<_>>().len() <= 20);
        });
        assert_dropped_once(40, |values, fuse| {
            let values = values.into_par_iter().size_limit(size).panic_fuse().map(|value| {
                fuse.burn();
                value
            });
            assert_eq!(values.panic_fuse().collect::<Vec<_>>().len(), 40);
        });
    }
}
