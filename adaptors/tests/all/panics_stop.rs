//! P5: after a panic the rest of a parallel call stops soon.

use furcate::policy::CancelToken;
use furcate::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};
use testkit::panics::{planned_panic, survives};

/// Tasks that have not begun do not begin: after the panic, every thread finishes its current items, and evaluates no
/// more.
#[test]
fn what_has_not_begun_does_not_begin() {
    for pool in testkit::pools() {
        macro_rules! check {
            ($schedule:literal, $source:expr) => {
                for at in [0, 1000] {
                    let (panicked, after) = (AtomicBool::new(false), AtomicUsize::new(0));
                    let survived = survives(|| {
                        pool.install(|| {
                            $source.for_each(|x| {
                                if panicked.load(Relaxed) {
                                    after.fetch_add(1, Relaxed);
                                }
                                if x == at {
                                    panicked.store(true, Relaxed);
                                    planned_panic();
                                }
                                sleep(Duration::from_micros(10));
                            });
                        });
                    });
                    assert!(!survived, $schedule);
                    // The flag is raised a little later than the test's own: other threads continue while the panic
                    // unwinds.
                    let (after, threads) = (after.into_inner(), pool.current_num_threads());
                    assert!(after <= 2000 * threads, "{after} items on {threads} threads under {}", $schedule);
                }
            };
        }
        check!("join", (0..40_000).into_par_iter().size_limit(1).join());
        check!("depjoin", (0..40_000).into_par_iter().size_limit(1).depjoin());
        check!("adaptive", (0..40_000).into_par_iter().adaptive());
        check!("blocks", (0..40_000).into_par_iter().by_blocks(std::iter::repeat(10)).size_limit(1));
    }
}

/// Tasks that can end early do end at their next step.
#[test]
fn what_is_interruptible_ends() {
    type Visit<'a> = dyn Fn(usize) + Sync + 'a;
    const LEN: usize = 2000;
    let pool = testkit::pool(2);
    let check = |about: &str, run: &(dyn Fn(&Visit) + Sync)| {
        let looks = AtomicUsize::new(0);
        let survived = survives(|| {
            pool.install(|| {
                run(&|x| {
                    if x == 0 {
                        // The other half is under way from here on, if another thread has it.
                        let long_enough = Instant::now() + Duration::from_millis(500);
                        while looks.load(Relaxed) < 3 && Instant::now() < long_enough {
                            yield_now();
                        }
                        planned_panic();
                    }
                    if x >= LEN {
                        looks.fetch_add(1, Relaxed);
                        sleep(Duration::from_micros(500));
                    }
                });
            });
        });
        let looks = looks.into_inner();
        assert!(!survived && looks < LEN / 4, "{about}: {looks} slow items after the panic");
    };
    let halves = || (0..2 * LEN).into_par_iter().bound_depth(1);
    let token = CancelToken::new();
    check("join", &|look| {
        halves().join().find_any(|&x| {
            look(x);
            false
        });
    });
    check("depjoin", &|look| {
        halves().depjoin().all(|x| {
            look(x);
            true
        });
    });
    check("a policy that stops", &|look| drop(halves().stop_on(&token).for_each(look)));
    check("something that may fail", &|look| {
        let _: Option<()> = halves().join().try_for_each(|x| {
            look(x);
            Some(())
        });
    });
    check("adaptive", &|look| (0..2 * LEN).into_par_iter().adaptive().for_each(look));
}

/// A panic in a reduction is a panic of the call, too, whichever worker reduces.
#[test]
fn a_panic_in_a_reduction_stops_the_rest() {
    for pool in testkit::pools() {
        macro_rules! check {
            ($schedule:literal, $source:expr) => {
                let (panicked, after) = (AtomicBool::new(false), AtomicUsize::new(0));
                let survived = survives(|| {
                    pool.install(|| {
                        let items = $source.map(|x| {
                            if panicked.load(Relaxed) {
                                after.fetch_add(1, Relaxed);
                            }
                            sleep(Duration::from_micros(10));
                            x + 1
                        });
                        // A task's sum is folded without a panic: only the reduction of two sums panics.
                        let sums = items.fold(|| 0_usize, |sum, x| sum + x).map(|sum| (true, sum));
                        let _: Option<(bool, usize)> = sums.reduce_with(|_, _| {
                            panicked.store(true, Relaxed);
                            planned_panic()
                        });
                    });
                });
                let (after, threads) = (after.into_inner(), pool.current_num_threads());
                assert!(!survived, $schedule);
                assert!(after <= 2000 * threads, "{after} items on {threads} threads under {}", $schedule);
            };
        }
        check!("join", (0..40_000).into_par_iter().size_limit(1).join());
        check!("depjoin", (0..40_000).into_par_iter().size_limit(1).depjoin());
        check!("adaptive", (0..40_000).into_par_iter().force_depth(5).adaptive());
    }
}

/// If a call within a call panics, it ends. The outer call, which has caught the panic, does not.
#[test]
fn a_panic_that_is_caught_stops_the_inner_call_only() {
    for pool in testkit::pools() {
        macro_rules! check {
            ($schedule:literal, |$source:ident| $scheduled:expr) => {
                let (outer, inner) = (AtomicUsize::new(0), AtomicUsize::new(0));
                pool.install(|| {
                    let $source = (0..20).into_par_iter();
                    $scheduled.for_each(|_| {
                        outer.fetch_add(1, Relaxed);
                        let $source = (0..1000).into_par_iter();
                        let survived = survives(|| {
                            $scheduled.for_each(|x| {
                                inner.fetch_add(1, Relaxed);
                                if x == 0 {
                                    planned_panic();
                                }
                                sleep(Duration::from_micros(10));
                            });
                        });
                        assert!(!survived, $schedule);
                    });
                });
                let (outer, inner) = (outer.into_inner(), inner.into_inner());
                assert_eq!(outer, 20, $schedule);
                assert!(inner < 20 * 500, "{inner} items of inner calls under {}", $schedule);
            };
        }
        check!("join", |source| source.size_limit(1).join());
        check!("depjoin", |source| source.size_limit(1).depjoin());
        check!("adaptive", |source| source.adaptive());
    }
}
