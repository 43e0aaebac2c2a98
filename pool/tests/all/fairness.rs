//! Jobs that spawn other jobs again and again do not starve woken tasks or waiting deques.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::{Fairness, Scope, ThreadPoolBuilder};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

const FAIRNESSES: [Fairness; 3] = [Fairness::Balanced, Fairness::WokenFirst, Fairness::FairQueueing];

/// Spawns itself again until `done` is set.
fn again<'s>(scope: &Scope<'s>, done: &'s Flag, turns: &'s AtomicUsize) {
    add(turns);
    if !done.is_set() {
        scope.spawn(move |scope| again(scope, done, turns));
    }
}

#[test]
fn a_woken_task_of_a_scope_has_its_turn() {
    within(LONG, || {
        for rule in RULES {
            let pool = ruled(1, rule);
            let (gate, done, turns) = (Gate::default(), Flag::default(), AtomicUsize::new(0));
            thread::scope(|threads| {
                threads.spawn(|| {
                    until(|| gate.waiting() == 1 && turns.load(SeqCst) > 100);
                    gate.open();
                });
                pool.scope(|s| {
                    let (gate, done, turns) = (&gate, &done, &turns);
                    s.spawn(move |s| again(s, done, turns));
                    drop(s.spawn_future(async move {
                        gate.wait().await;
                        done.set();
                    }));
                });
            });
            assert!(turns.load(SeqCst) > 100);
            settled(&pool);
        }
    });
}

#[test]
fn a_woken_task_of_no_scope_has_its_turn() {
    within(LONG, || {
        fn again(done: Arc<Flag>, turns: Arc<AtomicUsize>) {
            add(&turns);
            if !done.is_set() {
                furcate_pool::spawn(move || again(done, turns));
            }
        }
        let (pool, gate) = (pool(1), Arc::new(Gate::default()));
        let (done, turns) = (Arc::new(Flag::default()), Arc::new(AtomicUsize::new(0)));
        let (waits, over) = (gate.wait_for(), Arc::clone(&done));
        drop(pool.spawn_future(async move {
            waits.await;
            over.set();
        }));
        pool.spawn({
            let (done, turns) = (Arc::clone(&done), Arc::clone(&turns));
            move || again(done, turns)
        });
        until(|| gate.waiting() == 1 && turns.load(SeqCst) > 100);
        gate.open();
        done.wait();
    });
}

#[test]
fn what_waits_with_a_deque_has_its_turn() {
    within(LONG, || {
        for rule in RULES {
            let pool = ruled(1, rule);
            let (gate, done, turns) = (Gate::default(), Flag::default(), AtomicUsize::new(0));
            pool.scope(|s| {
                let (gate, done, turns, handle) = (&gate, &done, &turns, s.handle());
                s.spawn(move |s| again(s, done, turns));
                drop(s.spawn_future(async move {
                    for i in 0..4 {
                        drop(handle.spawn_future(async move {
                            if i == 1 {
                                gate.open();
                            }
                        }));
                    }
                    drop(handle);
                    gate.wait().await;
                    done.set();
                }));
            });
            assert_eq!(pool.stats().total().suspended_deques, 1);
            settled(&pool);
        }
    });
}

/// Returns how many of ten spawned jobs have begun before a task goes on that was woken when they were spawned.
fn spawned_before_woken(fairness: Fairness) -> usize {
    let pool = ThreadPoolBuilder::new().num_threads(1).fairness(fairness).build().expect("a pool");
    let (gate, log) = (Arc::new(Gate::default()), Arc::new(Mutex::new(vec![])));
    let (waits, ended) = (gate.wait_for(), Arc::clone(&log));
    drop(pool.spawn_future(async move {
        waits.await;
        ended.lock().unwrap().push("woken");
    }));
    until(|| gate.waiting() == 1);
    pool.spawn({
        let log = Arc::clone(&log);
        move || {
            gate.open();
            for _ in 0..10 {
                let log = Arc::clone(&log);
                furcate_pool::spawn(move || log.lock().unwrap().push("spawned"));
            }
        }
    });
    until(|| log.lock().unwrap().len() == 11);
    let log = log.lock().unwrap();
    log.iter().position(|what| *what == "woken").expect("it was logged")
}

#[test]
fn woken_tasks_come_before_spawned_jobs_if_the_pool_is_built_so() {
    within(LONG, || {
        assert_eq!(spawned_before_woken(Fairness::WokenFirst), 0);
        // If the worker loses its core for some milliseconds after the wake, the woken task is overdue.
        assert!(
            (0..20).any(|_| spawned_before_woken(Fairness::Balanced) > 0),
            "by default, what is in the caches comes first"
        );
    });
}

/// A job from outside does not starve either, beside jobs that are stolen again and again, or tasks that are woken
/// again and again.
#[test]
fn a_job_from_outside_has_its_turn_beside_tasks_that_wake_themselves() {
    within(LONG, || {
        for fairness in FAIRNESSES {
            for threads in [1, 2, 3] {
                let pool =
                    ThreadPoolBuilder::new().num_threads(threads).fairness(fairness).build().expect("a pool");
                let (over, turns) = (Arc::new(Flag::default()), Arc::new(AtomicUsize::new(0)));
                for _ in 0..2 * threads {
                    let (over, turns) = (Arc::clone(&over), Arc::clone(&turns));
                    drop(pool.spawn_future(async move {
                        while !over.is_set() {
                            add(&turns);
                            spin(std::time::Duration::from_micros(50));
                            Restless(1).await;
                        }
                    }));
                }
                until(|| turns.load(SeqCst) > 100);
                for _ in 0..20 {
                    pool.install(|| ());
                }
                over.set();
            }
        }
    });
}

/// Returns how many of a large call's hundred tasks, of two milliseconds each, have begun before the one task of a
/// small call. All of them were woken before it.
fn tasks_before_the_small_call(fairness: Fairness) -> usize {
    const TASKS: usize = 100;
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(1).fairness(fairness).build().expect("a pool"));
    let (large, small) = (Gate::default(), Gate::default());
    let (begun, before) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let call = |tasks: usize, gate, each: &(dyn Fn() + Sync)| {
        pool.in_place_scope(|s| {
            for _ in 0..tasks {
                let gate: &Gate = gate;
                drop(s.spawn_future(async move {
                    gate.wait().await;
                    each();
                }));
            }
        });
    };
    thread::scope(|threads| {
        threads.spawn(|| {
            call(TASKS, &large, &|| {
                add(&begun);
                spin(std::time::Duration::from_millis(2));
            })
        });
        threads.spawn(|| call(1, &small, &|| before.store(begun.load(SeqCst), SeqCst)));
        until(|| large.waiting() == TASKS && small.waiting() == 1);
        // Both gates are opened while the only slot is busy.
        pool.install(|| {
            large.open();
            small.open();
        });
    });
    settled(&pool);
    before.load(SeqCst)
}

#[test]
fn a_small_call_does_not_wait_behind_a_large_one_if_the_pool_is_built_so() {
    within(LONG, || {
        assert!(tasks_before_the_small_call(Fairness::FairQueueing) <= 4);
        assert_eq!(tasks_before_the_small_call(Fairness::Balanced), 100, "the oldest task comes first");
    });
}
