//! `try_reduce`, `try_for_each`, `try_fold` and similar methods: their results, the choice of the failure, and the
//! items that they need not look at.

use crate::support::{LENGTHS, assert_schedules};
use furcate::Inline;
use furcate::prelude::*;
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::Poll;
use testkit::drops::{DropCounter, assert_dropped_once};
use testkit::on_pools;

/// Rayon's results.
mod peer {
    use rayon::prelude::*;
    use std::task::Poll;

    pub(crate) fn sum(v: &[Option<u8>]) -> Option<u8> {
        v.par_iter().copied().try_reduce(|| 0, u8::checked_add)
    }

    pub(crate) fn sum_with(v: &[Option<u8>]) -> Option<Option<u8>> {
        v.par_iter().copied().try_reduce_with(u8::checked_add)
    }

    pub(crate) fn ready(v: Vec<Poll<Result<u64, ()>>>) -> Poll<Result<u64, ()>> {
        v.into_par_iter().try_reduce(|| Poll::Ready(0), super::both)
    }
}

/// Adds two values if both are ready.
fn both(a: Poll<u64>, b: Poll<u64>) -> Poll<Result<u64, ()>> {
    match (a, b) {
        (Poll::Ready(a), Poll::Ready(b)) => Poll::Ready(Ok(a + b)),
        _ => Poll::Pending,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn as_in_rayon(v in proptest::collection::vec(proptest::option::weighted(0.99, 0..3_u8), 0..150)) {
        // Whatever fails, the result only shows `None`.
        let (sum, sum_with) = (peer::sum(&v), peer::sum_with(&v));
        on_pools(|| {
            assert_schedules!(sum, v.par_iter().copied(), |it| it.try_reduce(|| 0, u8::checked_add));
            assert_schedules!(sum_with, v.par_iter().copied(), |it| it.try_reduce_with(u8::checked_add));
            let add = |sum: u8, x: &Option<u8>| sum.checked_add((*x)?);
            assert_schedules!(sum, v.par_iter(), |it| it.try_fold(|| 0, add).try_reduce(|| 0, u8::checked_add));
            assert_schedules!(sum, v.par_iter(), |it| it.try_fold_with(0, add).try_reduce(|| 0, u8::checked_add));
        });
    }

    /// The operation does not commute: successes are reduced in order.
    #[test]
    fn in_order(v in proptest::collection::vec("[a-z]{0,3}", 0..200)) {
        let text: Result<String, ()> = Ok(v.concat());
        let join = |a: String, b: String| Ok::<_, ()>(a + &b);
        let push = |text: String, part: &String| Ok::<_, ()>(text + part);
        on_pools(|| {
            assert_schedules!(text, v.par_iter().cloned().map(Ok), |it| it.try_reduce(String::new, join));
            assert_schedules!(text, v.par_iter(), |it| it.try_fold(String::new, push).try_reduce(String::new, join));
            assert_schedules!(text, v.par_iter(), |it| it.try_fold_with(String::new(), push).try_reduce(String::new, join));
        });
    }

    /// A single failure is returned. Of several, one is returned: the first one if there is one thread.
    #[test]
    fn which_failure(len in 1..3000_usize, at in proptest::collection::btree_set(0..3000_usize, 1..5)) {
        let first = at.iter().next().copied().filter(|&at| at < len);
        let result = first.map_or(Ok(()), Err);
        let fail = |x: usize| if at.contains(&x) { Err(x) } else { Ok(()) };
        assert_schedules!(Inline, result, (0..len).into_par_iter().on(Inline), |it| it.try_for_each(fail));
        on_pools(|| {
            let one = (0..len).into_par_iter().size_limit(10).try_for_each(fail);
            assert_eq!(one.is_err(), first.is_some());
            assert!(one.is_ok() || one.is_err_and(|at| at < len && fail(at).is_err()));
            let only = |x| if Some(x) == first { ControlFlow::Break(x) } else { ControlFlow::Continue(()) };
            let broken = first.map_or(ControlFlow::Continue(()), ControlFlow::Break);
            assert_schedules!(broken, (0..len).into_par_iter(), |it| it.try_for_each(only));
            assert_schedules!(broken, (0..len).into_par_iter(), |it| it.try_for_each_with((), |(), x| only(x)));
            assert_schedules!(broken, (0..len).into_par_iter(), |it| it.try_for_each_init(|| (), |(), x| only(x)));
        });
    }
}

#[test]
fn what_is_not_ready() {
    let ready = |len: u64| (0..len).map(|x| Poll::Ready(Ok(x))).collect::<Vec<_>>();
    let mut cases = vec![ready(0), ready(100)];
    for other in [Poll::Pending, Poll::Ready(Err(()))] {
        let mut items = ready(100);
        items[37] = other;
        cases.push(items);
    }
    for items in cases {
        let expected = peer::ready(items.clone());
        on_pools(|| {
            assert_schedules!(expected, items.clone().into_par_iter(), |it| {
                it.try_reduce(|| Poll::Ready(0), both)
            });
        });
    }
}

/// A task evaluates no item behind its failure, and tasks that have not begun do not begin.
#[test]
fn nothing_behind_a_failure_is_evaluated() {
    for len in LENGTHS {
        for at in [0, 1, 5, 15, 16, 64, 999].into_iter().filter(|&at| at < len) {
            let looks = AtomicUsize::new(0);
            let look = |x: usize| {
                looks.fetch_add(1, Relaxed);
                if x == at { Err(x) } else { Ok(()) }
            };
            assert_schedules!(Inline, (Err(at), at + 1), (0..len).into_par_iter().on(Inline), |it| {
                (it.try_for_each(look), looks.swap(0, Relaxed))
            });
            // The same for an operation that fails: the sum exceeds 100 when the 101st item is added.
            let sum = (0..len).into_par_iter().on(Inline).sequential().map(|_| {
                looks.fetch_add(1, Relaxed);
                Some(1)
            });
            let sum = sum.try_reduce(|| 0, |a, b| Some(a + b).filter(|&sum: &usize| sum <= 100));
            assert_eq!(sum, Some(len).filter(|&len| len <= 100));
            assert_eq!(looks.swap(0, Relaxed), len.min(101));
        }
    }
}

/// A failed fold ends its own task, and no other: 8 tasks of 10 items, of which one ends at its 6th.
#[test]
fn a_failed_fold_ends_its_task() {
    let looks = AtomicUsize::new(0);
    let step = |count: usize, x: usize| {
        looks.fetch_add(1, Relaxed);
        if x == 25 { Err(x) } else { Ok(count + 1) }
    };
    let expected: Vec<_> = (0..8).map(|task| if task == 2 { Err(25) } else { Ok(10) }).collect();
    let tasks = || (0..80_usize).into_par_iter().bound_depth(3);
    on_pools(|| {
        assert_eq!(tasks().try_fold(|| 0, step).collect::<Vec<_>>(), expected);
        assert_eq!(looks.swap(0, Relaxed), 76);
        assert_eq!(tasks().try_fold_with(0, step).collect::<Vec<_>>(), expected);
        assert_eq!(looks.swap(0, Relaxed), 76);
        // In steps.
        assert_eq!(tasks().try_fold(|| 0, step).drive(testkit::collect::CollectInSteps), expected);
        assert_eq!(looks.swap(0, Relaxed), 76);
    });
}

/// Once an item has failed, every thread ends soon.
#[test]
fn other_threads_stop_soon() {
    let len = 1 << 20;
    for pool in testkit::pools() {
        let threads = pool.current_num_threads();
        let (failed, after) = (AtomicBool::new(false), AtomicUsize::new(0));
        let result = pool.install(|| {
            (0..len).into_par_iter().try_for_each(|x| {
                if failed.load(Relaxed) {
                    after.fetch_add(1, Relaxed);
                }
                let fails = x % 5000 == 4999;
                failed.fetch_or(fails, Relaxed);
                if fails { Err(x) } else { Ok(()) }
            })
        });
        assert!(result.is_err_and(|x| x % 5000 == 4999));
        // A thread that misses the failure has one of its own after 5000 items.
        let after = after.into_inner();
        assert!(after <= threads * 5000, "{after} items on {threads} threads");
    }
}

/// P2: items, identities, failures and results, with a panic at any call.
#[test]
fn everything_is_dropped_once() {
    type Outcome = Result<DropCounter, DropCounter>;
    for fails_at in [7, usize::MAX] {
        let outcome =
            |value: DropCounter| -> Outcome { if value.number == fails_at { Err(value) } else { Ok(value) } };
        for size in [1, 9, 100] {
            assert_dropped_once(30, |values, fuse| {
                let identity = values[0].clone();
                let result = values.into_par_iter().size_limit(size).map(outcome).try_reduce(
                    || {
                        fuse.burn();
                        DropCounter::clone(&identity)
                    },
                    |_, right| {
                        fuse.burn();
                        Ok(right)
                    },
                );
                assert_eq!(result.is_err(), fails_at == 7);
            });
            assert_dropped_once(30, |values, fuse| {
                let first = values[0].clone();
                let fold = |_: DropCounter, value: DropCounter| {
                    fuse.burn();
                    outcome(value)
                };
                let folded = values.into_par_iter().size_limit(size).try_fold_with(first, fold);
                let result = folded.try_reduce_with(|left, _| {
                    fuse.burn();
                    Ok(left)
                });
                assert_eq!(result.map(|result| result.is_err()), Some(fails_at == 7));
            });
        }
    }
}
