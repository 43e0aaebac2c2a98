//! Panics in detached computations: they reach the root when all parts have ended, and every part is dropped once.

use crate::support::detached::*;
use crate::support::*;
use furcate_pool::detach::{Detach, Offers, RightPart};
use furcate_pool::{Context, Executor};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

#[test]
fn panics_reach_the_root() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        for (left_panics, right_panics) in [(true, false), (false, true), (true, true)] {
            for waits in [false, true] {
                let (begun, ended, dropped) = (Flag::default(), AtomicUsize::new(0), AtomicUsize::new(0));
                let right = |_: Context| {
                    begun.set();
                    spin(Duration::from_micros(200));
                    add(&ended);
                    assert!(!right_panics, "on purpose: right");
                };
                let caught = payload(|| {
                    engine.detached(|scope| {
                        let left = || {
                            if waits {
                                give_time(threads, || begun.is_set());
                            }
                            assert!(!left_panics, "on purpose: left");
                        };
                        if let ((), RightPart::Back(right)) = scope.fork(left, Act::new(&dropped, right)) {
                            let Act { act, dropped, .. } = right;
                            let _dropped = dropped;
                            act(Context::new(false));
                            assert!(right_panics, "on purpose: neither");
                        }
                        if !left_panics && !right_panics {
                            panic!("on purpose: nobody");
                        }
                    });
                });
                let said = message(caught);
                let about =
                    format!("{about}, {threads} threads, {left_panics} {right_panics} {waits}: {said}");
                assert!(
                    (left_panics && said.ends_with("left")) || (right_panics && said.ends_with("right")),
                    "{about}"
                );
                assert_eq!(dropped.into_inner(), 1, "{about}");
                assert_eq!(
                    ended.into_inner(),
                    usize::from(begun.is_set()),
                    "what has begun has ended: {about}"
                );
                if threads == 1 && left_panics {
                    assert!(!begun.is_set() && said.ends_with("left"), "{about}");
                }
                assert_eq!(engine.join_context(|_| 1, |_| 2), (1, 2), "{about}");
            }
        }
    }
    everywhere!(check);
}

/// P3: panics when dropped.
struct Loud;

impl Drop for Loud {
    fn drop(&mut self) {
        panic_any(3);
    }
}

#[test]
fn drops_that_panic_give_way_to_the_first_panic() {
    fn check<E: Executor>(engine: &E, _: usize, about: &str) {
        quiet_panics();
        let dropped = AtomicUsize::new(0);
        let part = || {
            let loud = Loud;
            Act::new(&dropped, move |_: Context| std::mem::forget(loud))
        };
        // While the thread unwinds, a part that no thief has is dropped unrun. A panic in that drop would abort the
        // process.
        let in_fork = payload(|| {
            engine.detached(|scope| {
                scope.fork(|| panic_any("on purpose"), part());
            });
        });
        let on_offer = payload(|| {
            engine.detached(|scope| {
                scope.offers(|offers| {
                    let _meeting = offers.offer(part());
                    panic_any("on purpose");
                })
            });
        });
        assert!(in_fork.is::<&str>() && on_offer.is::<&str>(), "{about}");
        assert_eq!(dropped.load(SeqCst), 2, "{about}");
        assert_eq!(engine.join_context(|_| 1, |_| 2), (1, 2), "{about}");
    }
    everywhere!(check);
}

#[test]
fn payloads_whose_drop_panics_are_not_dropped_on_the_way() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        let (begun, dropped) = (Flag::default(), AtomicUsize::new(0));
        let caught = payload(|| {
            engine.detached(|scope| {
                let left = || {
                    give_time(threads, || begun.is_set());
                    panic_any(Loud);
                };
                let right = |_: Context| {
                    begun.set();
                    panic_any(Loud);
                };
                scope.fork(left, Act::new(&dropped, right));
            });
        });
        assert!(caught.is::<Loud>(), "{about}: one of the two");
        std::mem::forget(caught);
        assert_eq!(dropped.into_inner(), 1, "{about}");
        assert_eq!(engine.join_context(|_| 1, |_| 2), (1, 2), "{about}");
    }
    everywhere!(check);
}

#[test]
fn a_panic_in_any_item_reaches_the_root() {
    fn check<E: Executor>(engine: &E, _: usize, about: &str) {
        quiet_panics();
        for how in [How::Forks, How::Offers, How::Mixed(3)] {
            for bad in 0..20 {
                let log = Log { bad, ..Log::new(20) };
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    engine.detached(|scope| Stretch { range: 0..20, how, log: &log }.sum(scope))
                }));
                assert_eq!(message(caught.expect_err("a panic")), "on purpose", "{about}");
                assert!(log.runs.iter().all(|runs| runs.load(SeqCst) <= 1), "{about}");
                assert_eq!(log.runs[bad].load(SeqCst), 1, "{about}");
            }
            sum_of(engine, 20, how, about);
        }
    }
    everywhere!(check);
}
