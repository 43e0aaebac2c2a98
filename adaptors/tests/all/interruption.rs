//! `stop_on` and `deadline`: the items that are processed, those that are not, and the report in the result.

use crate::support::{LENGTHS, assert_schedules};
use furcate::iter::Interrupted;
use furcate::policy::{CancelToken, Deadline, Reason, StopOn};
use furcate::prelude::*;
use furcate::{Inline, Node, Policy, Verdict};
use proptest::prelude::*;
use std::collections::LinkedList;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};
use testkit::drops::{Ledger, assert_dropped_once};
use testkit::on_pools;

/// The longest step.
const NANO_LOOP: usize = 1 << 14;

fn cancelled() -> CancelToken {
    let token = CancelToken::new();
    token.cancel();
    token
}

fn far() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

/// Splits a result into the value and the reason.
fn parts<T>(result: Result<T, Interrupted<T>>) -> (T, Option<Reason>) {
    match result {
        Ok(done) => (done, None),
        Err(interrupted) => {
            let reason = interrupted.reason();
            (interrupted.into_done(), Some(reason))
        }
    }
}

/// If nothing is interrupted, every terminal has the same result as without a stop.
#[test]
fn nothing_is_interrupted() {
    let token = CancelToken::new();
    for len in [0, 1, 65, 1000] {
        let v: Vec<u64> = (0..len).map(|x| x * 7919 % 1000).collect();
        macro_rules! same {
        ($($name:ident$(::<$T:ty>)?($($arg:expr),*);)+) => {$(
            assert_schedules!(Ok(v.par_iter().copied().$name$(::<$T>)?($($arg),*)), v.par_iter().copied(), |it| {
                it.stop_on(&token).$name$(::<$T>)?($($arg),*)
            });
        )+};
    }
        on_pools(|| {
            same! {
                for_each(|x| assert!(x < 1000));
                for_each_with(1, |one, x| assert!(*one == 1 && x < 1000));
                for_each_init(|| 1, |one, x| assert!(*one == 1 && x < 1000));
                reduce(|| 0, |a, b| a + b);
                reduce_with(|a, b| a + b);
                sum::<u64>();
                count();
                min();
                max();
                min_by(|a, b| (a % 10).cmp(&(b % 10)));
                max_by(|a, b| (a % 10).cmp(&(b % 10)));
                min_by_key(|x| x % 10);
                max_by_key(|x| x % 10);
                any(|x| x == 500);
                all(|x| x != 500);
                find_first(|x| x % 100 == 7);
                find_last(|x| x % 100 == 7);
                find_map_first(|x| (x % 100 == 7).then_some(x + 1));
                find_map_last(|x| (x % 100 == 7).then_some(x + 1));
                collect::<Vec<_>>();
                collect::<LinkedList<_>>();
            }
            let sum: u64 = v.iter().sum();
            assert_schedules!(Ok(sum), v.par_iter(), |it| it.deadline(far()).stop_on(&token).sum::<u64>());
            let found = (0..1000_u64).find(|x| v.contains(x)).is_some();
            assert_schedules!(Ok(found), v.par_iter(), |it| it
                .stop_on(&token)
                .find_any(|_| true)
                .map(|hit| hit.is_some())
                .map_err(drop));
            assert_schedules!(Ok(found), v.par_iter(), |it| it
                .stop_on(&token)
                .find_map_any(Some)
                .map(|hit| hit.is_some())
                .map_err(drop));
            assert_schedules!(Ok(Some(())), v.par_iter(), |it| it.stop_on(&token).try_for_each(|_| Some(())));
            let sum = Some(sum);
            let add = |a: u64, b: u64| a.checked_add(b);
            assert_schedules!(Ok(sum), v.par_iter().map(|&x| Some(x)), |it| it
                .stop_on(&token)
                .try_reduce(|| 0, add));
            assert_schedules!(Ok(5040), (1..8_u64).into_par_iter(), |it| it.stop_on(&token).product::<u64>());
            assert_schedules!(Ok(found.then_some(sum)), v.par_iter().map(|&x| Some(x)), |it| it
                .stop_on(&token)
                .try_reduce_with(add));
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Cancelled from inside: the result contains exactly the evaluated items, in order. It is `Ok` only if these are
    /// all.
    #[test]
    fn what_is_done_is_what_was_evaluated(len in 0..6_000_usize, at in 0..8_000_usize) {
        on_pools(|| {
            let evaluated = Mutex::new(Vec::new());
            assert_schedules!(true, (0..len).into_par_iter(), |it| {
                let token = CancelToken::new();
                let done = it.map(|x| {
                    if x == at {
                        token.cancel();
                    }
                    evaluated.lock().unwrap().push(x);
                    x
                });
                let (done, reason) = parts(done.stop_on(&token).collect::<Vec<_>>());
                let mut evaluated = std::mem::take(&mut *evaluated.lock().unwrap());
                evaluated.sort_unstable();
                (done == evaluated)
                    && (reason.is_some() == (done.len() < len))
                    && (reason.is_none() || (reason == Some(Reason::Cancelled) && done.contains(&at)))
            });
        });
    }
}

/// Stopped before it begins: no item is evaluated, and the result is that of no items. If there are no items, it is
/// complete.
#[test]
fn nothing_is_evaluated() {
    let token = cancelled();
    for len in LENGTHS {
        let reason = |reason| (len > 0).then_some(reason);
        let none: (Vec<usize>, _) = (vec![], reason(Reason::Cancelled));
        let never = |_: &usize| panic!("evaluated");
        let source = || (0..len).into_par_iter().inspect(never);
        on_pools(|| {
            assert_schedules!(none, source(), |it| parts(it.stop_on(&token).collect::<Vec<_>>()));
            assert_schedules!((0, none.1), source(), |it| parts(it.stop_on(&token).sum::<usize>()));
            assert_schedules!((None, none.1), source(), |it| parts(it.stop_on(&token).find_first(|_| true)));
            assert_schedules!((false, none.1), source(), |it| parts(it.stop_on(&token).any(|_| true)));
            assert_schedules!((None, reason(Reason::DeadlineExceeded)), source(), |it| {
                parts(it.deadline(Instant::now()).reduce_with(|a, b| a + b))
            });
            // Also with adaptors before and behind the stop.
            assert_schedules!(none, source(), |it| {
                parts(
                    it.filter(|_| true)
                        .map(|x| x)
                        .stop_on(&token)
                        .run(|it| it.map(|x| x + 1).collect::<Vec<_>>()),
                )
            });
        });
    }
}

/// Every stop of a chain counts. If there are several, the first one that is named gives the reason.
#[test]
fn reasons() {
    let (idle, over) = (CancelToken::new(), cancelled());
    let source = || (0..100).into_par_iter();
    let now = Instant::now();
    let reason = |result: Result<i32, Interrupted<i32>>| result.map_err(|interrupted| interrupted.reason());
    assert_eq!(reason(source().stop_on(&idle).deadline(far()).sum()), Ok(4950));
    assert_eq!(reason(source().stop_on(&over).deadline(far()).sum()), Err(Reason::Cancelled));
    assert_eq!(reason(source().deadline(far()).stop_on(&idle).stop_on(&over).sum()), Err(Reason::Cancelled));
    assert_eq!(reason(source().stop_on(&idle).deadline(now).sum()), Err(Reason::DeadlineExceeded));
    assert_eq!(reason(source().deadline(far()).deadline(now).sum()), Err(Reason::DeadlineExceeded));
    assert_eq!(reason(source().deadline(now).deadline(far()).sum()), Err(Reason::DeadlineExceeded));
    assert_eq!(reason(source().deadline(now).stop_on(&over).sum()), Err(Reason::DeadlineExceeded));
    assert_eq!(reason(source().stop_on(&over).deadline(now).sum()), Err(Reason::Cancelled));

    let error: Box<dyn std::error::Error> = source().stop_on(&over).sum::<i32>().unwrap_err().into();
    assert_eq!(error.to_string(), "interrupted before all was done: cancelled");
    let error = source().deadline(now).sum::<i32>().unwrap_err();
    assert_eq!(error.to_string(), "interrupted before all was done: the deadline is over");
    assert_eq!(
        (error.done(), format!("{error:?}")),
        (&0, "Interrupted { reason: DeadlineExceeded, .. }".into())
    );
}

/// A token that is cancelled after the last item has interrupted nothing.
#[test]
fn too_late() {
    for len in LENGTHS {
        assert_schedules!(Inline, Ok(len), (0..len).into_par_iter().on(Inline), |it| {
            let token = CancelToken::new();
            let last = |x: &usize| {
                if *x == len - 1 {
                    token.cancel();
                }
            };
            it.inspect(last).stop_on(&token).run(|it| it.map(|_| 1).sum())
        });
        // A last block that is full, and one that is not.
        for size in [1, len.max(2) / 2, len, 1000] {
            let token = CancelToken::new();
            let it = (0..len).into_par_iter().by_blocks(std::iter::repeat(size)).on(Inline).inspect(|&x| {
                if x == len - 1 {
                    token.cancel();
                }
            });
            assert_eq!(it.stop_on(&token).run(|it| it.map(|_| 1).sum()), Ok(len));
        }
    }
}

/// The number of items evaluated after a stop: on one thread at most a step, which is no longer than all steps
/// before it.
#[test]
fn soon() {
    for at in [0, 1, 2, 3, 100, 5000, 50_000] {
        let token = CancelToken::new();
        let evaluated = AtomicUsize::new(0);
        let it = (0..1_000_000_usize).into_par_iter().sequential().inspect(|&x| {
            evaluated.fetch_add(1, Relaxed);
            if x == at {
                token.cancel();
            }
        });
        let (count, reason) = parts(it.stop_on(&token).run(|it| it.filter(|_| true).count()));
        assert_eq!((count, reason), (evaluated.into_inner(), Some(Reason::Cancelled)));
        assert!(count > at && count <= at + 1 + NANO_LOOP.min(at + 1), "{count} items, cancelled at {at}");
    }
    // On several threads each may finish its own step; parts that have not begun do not begin.
    for pool in testkit::pools() {
        for size in [1, 100, 1_000_000] {
            let (token, after) = (CancelToken::new(), AtomicUsize::new(0));
            let result = pool.install(|| {
                let it = (0..1_000_000_usize).into_par_iter().size_limit(size).inspect(|&x| {
                    if token.is_cancelled() {
                        after.fetch_add(1, Relaxed);
                    } else if x == 3000 {
                        token.cancel();
                    }
                });
                it.stop_on(&token).for_each(drop)
            });
            assert!(result.is_err());
            let (after, threads) = (after.into_inner(), pool.current_num_threads());
            assert!(
                after <= threads * NANO_LOOP.min(size),
                "{after} items on {threads} threads, {size} at a time"
            );
        }
    }
}

/// A single task of slow items, cancelled by another thread: it ends within an item or two, not after a fixed number of
/// them.
#[test]
fn a_running_task_is_stopped() {
    fn check(run: impl FnOnce(&CancelToken, &AtomicUsize) -> bool + Send) {
        let (token, begun) = (CancelToken::new(), AtomicUsize::new(0));
        let at_stop = scope(|scope| {
            scope.spawn(|| assert!(run(&token, &begun), "interrupted"));
            while begun.load(Relaxed) < 20 {
                sleep(Duration::from_micros(200));
            }
            token.cancel();
            begun.load(Relaxed)
        });
        let after = begun.into_inner() - at_stop;
        assert!(after <= 3, "{after} items after the stop");
    }
    let item = |begun: &AtomicUsize| {
        begun.fetch_add(1, Relaxed);
        sleep(Duration::from_millis(1));
    };
    let items = || (0..20_000).into_par_iter();
    check(|token, begun| items().bound_depth(0).stop_on(token).for_each(|_| item(begun)).is_err());
    check(|token, begun| items().sequential().stop_on(token).for_each(|_| item(begun)).is_err());
    check(|token, begun| items().adaptive().on(Inline).stop_on(token).for_each(|_| item(begun)).is_err());
    check(|token, begun| {
        let it = items().bound_depth(0).filter(|_| {
            item(begun);
            false
        });
        it.stop_on(token).run(|it| it.collect::<Vec<i32>>()).is_err_and(|e| e.done().is_empty())
    });
    check(|token, begun| {
        let it = items().sequential().map_init(
            || 0,
            |_, x| {
                item(begun);
                x
            },
        );
        it.rev().stop_on(token).sum::<i32>().is_err()
    });
}

/// A deadline that passes while items are evaluated.
#[test]
fn a_deadline_passes() {
    on_pools(|| {
        let begin = Instant::now();
        let time = Duration::from_millis(300);
        let count = (0..400_000_usize).into_par_iter().inspect(|_| sleep(Duration::from_micros(100)));
        let interrupted = count.deadline(begin + time).run(|it| it.filter(|_| true).count());
        let interrupted = interrupted.unwrap_err();
        assert_eq!(interrupted.reason(), Reason::DeadlineExceeded);
        assert!((1..200_000).contains(interrupted.done()) && begin.elapsed() >= time);
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    });
}

/// A piece of a `wrap_iter` is one item: it is not interrupted, and not cut for the sake of a stop.
#[test]
fn pieces_are_items() {
    let token = CancelToken::new();
    let pieces = || (0..1000).wrap_iter().on(Inline).bound_depth(3);
    assert_eq!(pieces().stop_on(&token).count(), Ok(8));
    let counted = pieces().inspect(|piece| {
        if piece.contains(&300) {
            token.cancel();
        }
    });
    let (pieces, reason) = parts(counted.stop_on(&token).collect::<Vec<_>>());
    assert_eq!((pieces, reason), (vec![0..125, 125..250, 250..375], Some(Reason::Cancelled)));
}

/// Chained like any other policy, a stop makes partial results. Code that relies on exact lengths is not affected.
#[test]
fn as_a_policy() {
    for len in LENGTHS {
        let expected: Vec<_> = (0..len).collect();
        let (idle, over) = (CancelToken::new(), cancelled());
        let it = || (0..len).into_par_iter().with_policy(StopOn::new(&idle));
        let stopped = || (0..len).into_par_iter().with_policy(StopOn::new(&over));
        let (mut left, mut right) = (vec![7], vec![8]);
        on_pools_once(|| {
            assert_eq!(it().collect::<Vec<_>>(), expected);
            assert_eq!(it().enumerate().rev().map(|(at, _)| at).max(), len.checked_sub(1));
            it().collect_into_vec(&mut left);
            assert_eq!(left, expected);
            it().zip(it()).unzip_into_vecs(&mut left, &mut right);
            assert_eq!((&left, &right), (&expected, &expected));
            let (a, b): (Vec<_>, Vec<_>) = it().map(|x| (x, x)).unzip();
            assert_eq!((a, b), (expected.clone(), expected.clone()));

            stopped().collect_into_vec(&mut left);
            assert_eq!(left, []);
            stopped().enumerate().unzip_into_vecs(&mut left, &mut right);
            assert_eq!((&left[..], &right[..]), (&[][..], &[][..]));
            assert_eq!(stopped().enumerate().collect::<Vec<_>>(), []);
            assert_eq!(stopped().intersperse(1).rev().collect::<LinkedList<_>>().len(), 0);
            let (a, b): (Vec<_>, Vec<_>) = stopped().map(|x| (x, x)).unzip();
            assert_eq!((a, b), (vec![], vec![]));
            let at = Deadline::new(Instant::now());
            assert_eq!((0..len).into_par_iter().with_policy(at).collect::<Vec<_>>(), []);
        });
    }
    fn on_pools_once(check: impl FnOnce() + Send) {
        testkit::pools()[1].install(check);
    }
}

/// A policy of one's own that stops is noticed by every scheduler.
#[test]
fn a_stop_of_ones_own() {
    #[derive(Clone)]
    struct Until<'a>(&'a AtomicBool);
    impl Policy for Until<'_> {
        const STOPS: bool = true;
        fn stopped(&self) -> bool {
            self.0.load(Relaxed)
        }
        fn wants_split(&mut self, _task: &Node) -> Verdict {
            Verdict::Pass
        }
    }
    on_pools(|| {
        assert_schedules!(true, (0..1_000_000_usize).into_par_iter(), |it| {
            let stop = AtomicBool::new(false);
            let count = it.with_policy(Until(&stop)).filter(|&x| {
                stop.fetch_or(x == 0, Relaxed);
                true
            });
            count.count() < 1_000_000
        });
    });
}

/// P2: with a stop anywhere, and with a panic at any call, everything is dropped once.
#[test]
fn everything_is_dropped_once() {
    for at in 0..41 {
        for size in [1, 7, 100] {
            let (ledger, token) = (Ledger::default(), CancelToken::new());
            let it = ledger.values(40).into_par_iter().size_limit(size).inspect(|value| {
                if value.number == at {
                    token.cancel();
                }
            });
            let (done, reason) = parts(it.stop_on(&token).collect::<Vec<_>>());
            assert_eq!((done.len() < 40, ledger.alive()), (reason.is_some(), done.len()));
            drop(done);
            ledger.assert_settled("");
        }
    }
    assert_dropped_once(40, |values, fuse| {
        let token = CancelToken::new();
        let it = values.into_par_iter().size_limit(9).inspect(|value| {
            fuse.burn();
            if value.number == 30 {
                token.cancel();
            }
        });
        let (done, _) = parts(it.stop_on(&token).run(|it| it.map(Box::new).collect::<Vec<_>>()));
        assert!(done.len() > 1);
    });
}
