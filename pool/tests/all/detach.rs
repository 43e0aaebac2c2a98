//! Forks and offers that outlive their frames, on every engine: each part is run once or comes back, and the root
//! returns when all parts have ended.

use crate::support::detached::*;
use crate::support::*;
use furcate_pool::detach::{Detach, Detachable, Offers, RightPart};
use furcate_pool::{Context, Executor, Pool, ThreadPool, ThreadPoolBuilder, join};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn every_part_is_run_once_and_the_results_meet() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        for how in [How::Forks, How::Offers, How::Mixed(1), How::Mixed(2)] {
            for len in [0, 1, 2, 3, 500] {
                let thefts = sum_of(engine, len, how, about);
                assert!(thefts == 0 || threads > 1, "{about}: {thefts} thefts by nobody");
            }
        }
    }
    everywhere!(check);
}

#[test]
fn what_was_taken_has_migrated_and_does_not_come_back() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        let (taken, dropped) = (Flag::default(), AtomicUsize::new(0));
        let part = || {
            Act::new(&dropped, |context: Context| {
                assert!(context.migrated(), "{about}");
                taken.set();
            })
        };
        engine.detached(|scope| {
            let ((), right) = scope.fork(|| give_time(threads, || taken.is_set()), part());
            assert_eq!(matches!(right, RightPart::Taken(_)), threads > 1, "{about}");
        });
        assert_eq!((dropped.load(SeqCst), taken.is_set()), (1, threads > 1), "{about}");
        let (taken, dropped) = (Flag::default(), AtomicUsize::new(0));
        let part = || Act::new(&dropped, |_| taken.set());
        engine.detached(|scope| {
            scope.offers(|offers| {
                let _meeting = offers.offer(part());
                give_time(threads, || taken.is_set());
                assert_eq!(offers.is_taken(), threads > 1, "{about}");
                assert_eq!(offers.take_back().is_none(), threads > 1, "{about}");
                assert!(
                    !offers.is_taken() && offers.take_back().is_none(),
                    "{about}: it is asked about once"
                );
            });
        });
        assert_eq!((dropped.load(SeqCst), taken.is_set()), (1, threads > 1), "{about}");
    }
    everywhere!(check);
}

#[test]
fn what_is_on_offer_at_the_end_is_dropped_or_run() {
    fn check<E: Executor>(engine: &E, _: usize, about: &str) {
        for panics in [false, true] {
            let (run, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
            quiet_panics();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                engine.detached(|scope| {
                    for _ in 0..100 {
                        scope.offers(|offers| {
                            let _meeting = offers.offer(Act::new(&dropped, |_| add(&run)));
                            assert!(!panics || dropped.load(SeqCst) < 50, "on purpose");
                        });
                    }
                });
            }));
            assert_eq!(outcome.is_err(), panics, "{about}");
            let (run, dropped) = (run.into_inner(), dropped.into_inner());
            assert!(run <= dropped && (panics || dropped == 100), "{about}: {run} run, {dropped} dropped");
        }
    }
    everywhere!(check);
}

#[test]
fn one_part_is_on_offer_at_a_time() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        if threads > 1 {
            return; // The part would be stolen.
        }
        let dropped = AtomicUsize::new(0);
        let part = || Act::new(&dropped, |_: Context| ());
        let said = engine.detached(|scope| {
            scope.offers(|offers| {
                let _meeting = offers.offer(part());
                let said = message(payload(|| drop(offers.offer(part()))));
                assert!(offers.take_back().is_some(), "{about}: the first one is still there");
                said
            })
        });
        assert!(said.contains("one can be offered at a time"), "{about}: {said}");
        assert_eq!(dropped.into_inner(), 2, "{about}");
    }
    everywhere!(check);
}

/// Otherwise a part would be left in the deque, below the part of an offer that must come first.
#[test]
fn only_the_innermost_place_offers() {
    fn check<'s, S: Detach<'s>>(scope: &S, dropped: &'s AtomicUsize) {
        let part = || Act::new(dropped, |_: Context| ());
        scope.offers(|outer| {
            scope.offers(|inner| {
                let _meeting = inner.offer(part());
                let refused = message(payload(|| drop(outer.offer(part()))));
                assert!(refused.contains("last call of `offers`"), "{refused}");
            });
            let _meeting = outer.offer(part());
            scope.offers(|inner| {
                let _meeting = inner.offer(part());
                // The outer part lies below the inner one, if the inner one is still there.
                drop(outer.take_back());
            });
        });
    }
    within(LONG, || {
        for threads in [1, 2] {
            let (pool, dropped) = (pool(threads), AtomicUsize::new(0));
            pool.scope(|scope| check(scope, &dropped));
            assert_eq!(dropped.into_inner(), 4);
            assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
        }
    });
}

/// The worker gives its slot away, and with it the parts in its deque.
#[test]
fn parts_that_lie_ready_when_the_deque_is_spilled() {
    fn sum<'s, S: Detach<'s>>(scope: &S, how: How, log: &'s Log, wait: &(dyn Fn() + Sync)) -> usize {
        let part = |range| Stretch { range, how, log };
        let left = || {
            scope.offers(|offers| {
                let mut meeting = Some(offers.offer(part(32..48)));
                let innermost = || {
                    wait();
                    part(0..16).sum(scope)
                };
                let (mut sum, right) = scope.fork(innermost, part(16..32));
                if let Some(part) = offers.take_back() {
                    meeting = None;
                    sum += part.sum(scope);
                }
                if let Some(meeting) = meeting {
                    log.meet(&meeting, 0);
                }
                (sum, right)
            })
        };
        let ((mut sum, inner), outer) = scope.fork(left, part(48..64));
        for fork in [inner, outer] {
            match fork {
                RightPart::Back(part) => sum += part.sum(scope),
                RightPart::Taken(meeting) => log.meet(&meeting, 0),
            }
        }
        sum
    }
    within(LONG, || {
        for threads in [1, 2, 3] {
            let (here, other) = (pool(threads), pool(1));
            // Waits for another pool, which needs a thread of this one.
            let abroad = || other.install(|| here.install(|| spin(Duration::from_micros(100))));
            // Waits for a half that may be stolen, long enough to give its slot away.
            let stolen = || {
                let half = Duration::from_micros(100);
                join(|| thread::sleep(half), || spin(half * 5));
            };
            for how in [How::Forks, How::Offers] {
                for wait in [&abroad as &(dyn Fn() + Sync), &stolen] {
                    for _ in 0..20 {
                        let log = Log::new(64);
                        let rest = here.scope(|scope| sum(scope, how, &log, wait));
                        log.check(rest, "spilled");
                    }
                }
            }
        }
    });
}

#[test]
fn forks_nest_deeper_than_the_deque_has_room() {
    fn spine<'s, S: Detach<'s>>(scope: &S, depth: usize, log: &'s Log) -> usize {
        if depth == 0 {
            return 0;
        }
        let right = Stretch { range: depth - 1..depth, how: How::Forks, log };
        match scope.fork(|| spine(scope, depth - 1, log), right) {
            (left, RightPart::Back(right)) => left + right.sum(scope),
            (left, RightPart::Taken(meeting)) => {
                log.meet(&meeting, left);
                0
            }
        }
    }
    const DEEP: usize = 2000;
    within(LONG, || {
        for threads in SIZES {
            let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(64 << 20).build().unwrap();
            let log = Log::new(DEEP);
            let rest = pool.scope(|scope| spine(scope, DEEP, &log));
            log.check(rest, "deep");
        }
    });
}

#[test]
fn threads_that_are_none_of_the_pools_keep_their_parts() {
    within(LONG, || {
        let (here, other) = (pool(2), pool(2));
        let log = Log::new(100);
        let rest = here.in_place_scope(|scope| {
            let sum = |range, how| Stretch { range, how, log: &log }.sum(scope);
            let mine = sum(0..30, How::Forks) + sum(30..60, How::Offers);
            mine + other.install(|| sum(60..100, How::Mixed(5)))
        });
        assert_eq!(log.check(rest, "foreign"), 0);
    });
}

#[test]
fn calls_within_parts_have_their_own_root() {
    fn check<E: Executor>(engine: &E, _: usize, about: &str) {
        /// Each part runs a computation of its own.
        struct Outer<'s, E>(usize, &'s E, &'s AtomicUsize);
        impl<'s, S: Detach<'s>, E: Executor> Detachable<'s, S> for Outer<'s, E> {
            type Meeting = ();
            fn run(self, scope: &S, _: Arc<()>, _: Context) {
                self.go(scope);
            }
        }
        impl<'s, E: Executor> Outer<'s, E> {
            fn go<S: Detach<'s>>(self, scope: &S) {
                let Outer(depth, engine, calls) = self;
                if depth > 0 {
                    let half = || Outer(depth - 1, engine, calls);
                    if let ((), RightPart::Back(right)) = scope.fork(|| half().go(scope), half()) {
                        right.go(scope);
                    }
                } else {
                    sum_of(engine, 40, How::Mixed(calls.load(SeqCst) as u64), "within");
                    add(calls);
                }
            }
        }
        let calls = AtomicUsize::new(0);
        engine.detached(|scope| Outer(5, engine, &calls).go(scope));
        assert_eq!(calls.into_inner(), 32, "{about}");
    }
    everywhere!(check);
}

#[test]
fn under_load() {
    within(LONG, || {
        let until = Instant::now() + Duration::from_millis(1200);
        let pools: [ThreadPool; 2] = [ruled(3, RULES[0]), ruled(8, RULES[2])];
        thread::scope(|threads| {
            let pools = &pools;
            for caller in 0..4_u64 {
                threads.spawn(move || {
                    let (mut random, mut rounds) = (Random(caller), 0);
                    // At least one round of each kind.
                    while Instant::now() < until || rounds < 6 {
                        let engine = &pools[(random.next() % 2) as usize];
                        let len = random.below(300) as usize;
                        let how = How::Mixed(random.next());
                        if rounds % 5 == 4 && len > 0 {
                            let log = Log { bad: len / 2, ..Log::new(len) };
                            let caught = payload(|| {
                                let _: usize =
                                    engine.scope(|s| Stretch { range: 0..len, how, log: &log }.sum(s));
                            });
                            assert_eq!(message(caught), "on purpose");
                        } else if rounds % 2 == 0 {
                            sum_of(&engine, len, how, "from outside");
                        } else {
                            engine.install(|| {
                                join(|| sum_of(&Pool, len, how, ""), || sum_of(&Pool, len, how, ""))
                            });
                        }
                        rounds += 1;
                    }
                });
            }
        });
    });
}
