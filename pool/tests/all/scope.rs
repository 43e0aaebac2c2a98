//! Scopes: everything spawned in them has ended when they do.

use crate::support::*;
use furcate_pool::detach::Suspend;
use furcate_pool::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, join, scope, scope_fifo};
use std::panic::panic_any;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

const SIZES: [usize; 4] = [1, 2, 3, 8];

/// A tree of jobs, each spawned by its parent.
fn tree<'s>(s: &Scope<'s>, depth: u32, count: &'s AtomicUsize) {
    count.fetch_add(1, SeqCst);
    if depth > 0 {
        s.spawn(move |s| tree(s, depth - 1, count));
        s.spawn(move |s| tree(s, depth - 1, count));
    }
}

#[test]
fn all_jobs_have_ended_at_the_end() {
    within(LONG, || {
        for threads in SIZES {
            let pool = pool(threads);
            for rule in 0..4 {
                let count = AtomicUsize::new(0);
                match rule {
                    0 => pool.scope(|s| tree(s, 10, &count)),
                    1 => pool.in_place_scope(|s| tree(s, 10, &count)),
                    2 => pool.install(|| in_place_scope(|s| tree(s, 10, &count))),
                    _ => scope(|s| tree(s, 10, &count)),
                }
                assert_eq!(count.into_inner(), (2 << 10) - 1, "{threads} threads, {rule}");
            }
        }
    });
}

#[test]
fn scopes_nest_and_spawn_into_each_other() {
    within(LONG, || {
        for rule in RULES {
            for threads in SIZES {
                let pool = ruled(threads, rule);
                let (outer, inner) = (AtomicUsize::new(0), AtomicUsize::new(0));
                pool.scope(|s| {
                    for _ in 0..50 {
                        s.spawn(|s| {
                            outer.fetch_add(1, SeqCst);
                            scope(|t| {
                                t.spawn(|_| add(&inner));
                                // This job lies above the inner scope's job, but belongs to the outer scope.
                                s.spawn(|_| add(&outer));
                                t.spawn(|_| add(&inner));
                                s.spawn(|_| add(&outer));
                            });
                        });
                    }
                });
                assert_eq!(
                    (outer.into_inner(), inner.into_inner()),
                    (150, 100),
                    "{rule:?}, {threads} threads"
                );
            }
        }
    });
}

#[test]
fn scopes_mix_with_joins_and_other_pools() {
    within(LONG, || {
        for threads in SIZES {
            let (a, b) = (pool(threads), pool(1));
            let count = AtomicUsize::new(0);
            let one = || add(&count);
            a.scope(|s| {
                for _ in 0..20 {
                    s.spawn(|s| {
                        join(|| s.spawn(|_| one()), || b.in_place_scope(|t| t.spawn(|_| s.spawn(|_| one()))));
                        b.scope(|t| t.spawn(|_| one()));
                    });
                }
            });
            assert_eq!(count.into_inner(), 60);
        }
    });
}

#[test]
fn the_order_on_one_thread() {
    // The job spawned last runs first; in a fifo scope the job spawned first. Jobs spawned by the body come after it.
    within(LONG, || {
        let pool = pool(1);
        let order = Mutex::new(vec![]);
        let mut sorted: Vec<u32> = (0..600).collect();
        let note = |i: u32| order.lock().unwrap().push(i);
        let taken = || std::mem::take(&mut *order.lock().unwrap());

        pool.scope_fifo(|s| (0..600).for_each(|i| s.spawn_fifo(move |_| note(i))));
        assert_eq!(taken(), sorted);
        pool.install(|| scope_fifo(|s| (0..600).for_each(|i| s.spawn_fifo(move |_| note(i)))));
        assert_eq!(taken(), sorted);
        pool.install(|| in_place_scope_fifo(|s| (0..600).for_each(|i| s.spawn_fifo(move |_| note(i)))));
        assert_eq!(taken(), sorted);
        // From outside: first in, first out, through the injector.
        pool.in_place_scope_fifo(|s| (0..600).for_each(|i| s.spawn_fifo(move |_| note(i))));
        assert_eq!(taken(), sorted);

        sorted.reverse();
        pool.scope(|s| (0..600).for_each(|i| s.spawn(move |_| note(i))));
        assert_eq!(taken(), sorted);
        pool.install(|| in_place_scope(|s| (0..600).for_each(|i| s.spawn(move |_| note(i)))));
        assert_eq!(taken(), sorted);

        // In the middle of a fifo scope's job: after the waiting jobs.
        pool.scope_fifo(|s| {
            s.spawn_fifo(|s| {
                note(0);
                s.spawn_fifo(|_| note(2));
            });
            s.spawn_fifo(|_| note(1));
        });
        assert_eq!(taken(), [0, 1, 2]);
    });
}

#[test]
fn jobs_borrow_and_write_results() {
    within(LONG, || {
        for threads in SIZES {
            let mut results = vec![0; 1000];
            let (sum, text) = pool(threads).scope(|s| {
                for (i, result) in results.iter_mut().enumerate() {
                    s.spawn(move |_| *result = i);
                }
                (6 * 7, String::from("the body's own result"))
            });
            assert_eq!((sum, &*text), (42, "the body's own result"));
            assert!(results.iter().enumerate().all(|(i, &result)| i == result));
        }
    });
}

/// Counts its drops.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn every_body_runs_and_is_dropped_once() {
    // P2: a panic at the n-th job, or in the body, for several n.
    within(LONG, || {
        for threads in SIZES {
            let pool = pool(threads);
            for n in [0, 1, 7, 49, 50] {
                let (made, dropped, run) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
                let payload = payload(|| {
                    pool.scope(|s| {
                        for i in 0..50 {
                            made.fetch_add(1, SeqCst);
                            let (counted, run) = (Counted(&dropped), &run);
                            s.spawn(move |_| {
                                let _counted = counted;
                                run.fetch_add(1, SeqCst);
                                if i == n {
                                    panic_any("on purpose: a job");
                                }
                            });
                        }
                        if n == 50 {
                            panic_any("on purpose: the body");
                        }
                    });
                });
                assert_eq!(
                    message(payload),
                    if n == 50 { "on purpose: the body" } else { "on purpose: a job" }
                );
                let counts = [made, dropped, run].map(AtomicUsize::into_inner);
                assert_eq!(counts, [50; 3], "{threads} threads, n = {n}");
                assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
            }
        }
    });
}

#[test]
fn the_first_panic_wins() {
    within(LONG, || {
        for threads in [3, 8] {
            let first = Flag::default();
            let payload = payload(|| {
                pool(threads).scope(|s| {
                    let handle = s.handle();
                    s.spawn(move |_| {
                        // After the other one's panic has been caught: it cancels the scope's tasks.
                        until(|| handle.is_cancelled());
                        panic_any("on purpose: second");
                    });
                    s.spawn(|_| {
                        let _set = OnDrop(&first);
                        panic_any("on purpose: first");
                    });
                    // On another thread than the body's.
                    first.wait();
                });
            });
            assert_eq!(message(payload), "on purpose: first");
        }
    });
}

struct OnDrop<'a>(&'a Flag);

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Panics when dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any("on purpose: dropped");
    }
}

#[test]
fn what_panics_when_dropped_does_not_stop_a_scope() {
    // P3: the body's result, the second payload, and data owned by jobs that run after a panic.
    within(LONG, || {
        for threads in SIZES {
            let pool = pool(threads);
            let payload = payload(|| {
                pool.scope(|s| {
                    s.spawn(|_| panic_any("on purpose: a job"));
                    until(|| furcate_pool::yield_now() != Some(furcate_pool::Yield::Idle) || threads > 1);
                    thread::sleep(Duration::from_millis(20));
                    for _ in 0..20 {
                        let bomb = Bomb;
                        s.spawn(move |_| drop(bomb));
                    }
                    s.spawn(|_| panic_any(Bomb));
                    Bomb
                });
            });
            let message = message(payload);
            assert!(message.starts_with("on purpose"), "{message}");
            assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
        }
    });
}

/// Counts its run. Panics if its number is `bad`.
fn job(number: usize, bad: Option<usize>, run: &AtomicUsize) {
    run.fetch_add(1, SeqCst);
    if Some(number) == bad {
        panic_any("on purpose: a job");
    }
}

/// Spawns 100 jobs, of which the one with the number `bad` panics; without one the body panics.
fn hundred<'s>(s: &Scope<'s>, bad: Option<usize>, run: &'s AtomicUsize) {
    // The newest runs first, on one thread: that is number 0.
    (0..100).rev().for_each(|number| s.spawn(move |_| job(number, bad, run)));
    if bad.is_none() {
        panic_any("on purpose: the body");
    }
}

fn hundred_fifo<'s>(s: &ScopeFifo<'s>, bad: Option<usize>, run: &'s AtomicUsize) {
    (0..100).for_each(|number| s.spawn_fifo(move |_| job(number, bad, run)));
    if bad.is_none() {
        panic_any("on purpose: the body");
    }
}

#[test]
fn after_a_panic_all_other_jobs_still_run() {
    within(LONG, || {
        for threads in SIZES {
            let pool = pool(threads);
            for kind in 0..6 {
                for bad in [Some(0), Some(50), Some(99), None] {
                    let run = AtomicUsize::new(0);
                    let payload = payload(|| match kind {
                        0 => pool.scope(|s| hundred(s, bad, &run)),
                        1 => pool.scope_fifo(|s| hundred_fifo(s, bad, &run)),
                        2 => pool.in_place_scope(|s| hundred(s, bad, &run)),
                        3 => pool.in_place_scope_fifo(|s| hundred_fifo(s, bad, &run)),
                        4 => scope(|s| hundred(s, bad, &run)),
                        _ => scope_fifo(|s| hundred_fifo(s, bad, &run)),
                    });
                    assert!(message(payload).starts_with("on purpose"));
                    assert_eq!(run.into_inner(), 100, "{threads} threads, scope {kind}, panic in {bad:?}");
                }
            }
        }
    });
}

#[test]
fn after_a_panic_a_broadcast_still_reaches_every_thread() {
    within(LONG, || {
        for threads in SIZES {
            let (pool, run) = (pool(threads), AtomicUsize::new(0));
            let payload = payload(|| {
                pool.scope(|s| {
                    let run = &run;
                    s.spawn_broadcast(move |_, _| _ = run.fetch_add(1, SeqCst));
                    panic_any("on purpose: the body");
                });
            });
            assert_eq!(message(payload), "on purpose: the body");
            assert_eq!(run.into_inner(), threads);
        }
    });
}

#[test]
fn jobs_that_a_job_spawns_after_a_panic_run_too() {
    within(LONG, || {
        for threads in SIZES {
            let (pool, count) = (pool(threads), AtomicUsize::new(0));
            let payload = payload(|| {
                pool.scope(|s| {
                    s.spawn(|s| tree(s, 8, &count));
                    panic_any("on purpose: the body");
                });
            });
            assert_eq!(message(payload), "on purpose: the body");
            assert_eq!(count.into_inner(), (2 << 8) - 1, "{threads} threads");
        }
    });
}

#[test]
fn thieves_reach_for_few_of_the_jobs_that_a_worker_has_spawned_before() {
    const JOBS: usize = 2000;
    within(LONG, || {
        let pool = pool(2);
        let begun = AtomicUsize::new(0);
        pool.scope(|scope| {
            for _ in 0..JOBS {
                scope.spawn(|_| {
                    // Each job waits for another one, so the worker and its thief run jobs in step.
                    let number = begun.fetch_add(1, SeqCst);
                    until(|| begun.load(SeqCst) > number | 1);
                });
            }
        });
        // The worker has spawned all jobs when it takes them back, so no push of its own tells it that a thief wants
        // some.
        let barriers = pool.stats().total().barriers;
        assert!(barriers <= 100, "{barriers} heavy fences for {JOBS} jobs");
    });
}
