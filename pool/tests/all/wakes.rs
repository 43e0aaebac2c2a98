//! Counts of wakes, and the times from wakes to runs.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::{ThreadPoolBuilder, block_on};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Waker;
use std::thread;
use std::time::Duration;

#[test]
fn one_of_many_wakes_counts_as_one() {
    // W1: while the pool's only thread is held, so that the task cannot run in between.
    within(LONG, || {
        let (pool, gate, woken) = (pool(1), Gate::default(), AtomicUsize::new(0));
        thread::scope(|threads| {
            let (gate, woken) = (&gate, &woken);
            pool.scope(|s| {
                drop(s.spawn_future(async move {
                    until(|| gate.waiting() == 1);
                    let waker = gate.wakers().remove(0);
                    for _ in 0..5 {
                        let waker = waker.clone();
                        threads.spawn(move || {
                            waker.wake_by_ref();
                            add(woken);
                        });
                    }
                    // Not by the end of a scope of threads: a thread that blocks loses its slot.
                    until(|| woken.load(SeqCst) == 5);
                    waker.wake_by_ref();
                    gate.unlock();
                }));
                // The newest runs first.
                drop(s.spawn_future(gate.wait()));
            });
        });
        let stats = pool.stats();
        assert_eq!(stats.total().wakes, 1);
        assert_eq!(stats.total().wakes_coalesced, 5);
        settled(&pool);
    });
}

#[test]
fn wakes_in_polls_are_counted_by_who_polls() {
    on_pools(|pool| {
        let before = pool.stats().total();
        pool.scope(|s| drop(s.spawn_future(Restless(100))));
        let total = pool.stats().total();
        assert_eq!(total.wakes_in_poll - before.wakes_in_poll, 100);
        assert_eq!(total.wakes - before.wakes, 0);
    });
}

#[test]
fn every_poll_has_its_wake() {
    on_pools(|pool| {
        const FUTURES: usize = 500;
        let alarm = Alarm::new();
        pool.scope(|s| (0..FUTURES).for_each(|i| drop(s.spawn_future(alarm.future(i % 4)))));
        let total = pool.stats().total();
        // A task that is spawned is polled as if it was woken.
        assert_eq!(total.polls, FUTURES as u64 + total.wakes + total.wakes_in_poll);
        assert_eq!(total.wakes + total.wakes_in_poll, (0..FUTURES).map(|i| i as u64 % 4).sum());
        assert!(total.resumes_elsewhere <= total.resumes);
        assert!(total.deviations() >= total.resumes);
    });
}

#[test]
fn who_resumes_elsewhere_is_counted() {
    // The worker that has polled the task is held until another one has resumed it.
    within(LONG, || {
        for _ in 0..50 {
            let (pool, gate, resumed) = (pool(2), Gate::default(), Flag::default());
            let migrated = AtomicUsize::new(0);
            pool.scope(|s| {
                let (gate, resumed, migrated) = (&gate, &resumed, &migrated);
                drop(s.spawn_future(async move {
                    until(|| gate.waiting() == 1);
                    gate.open();
                    resumed.wait();
                }));
                drop(s.spawn_future(async move {
                    let before = thread::current().id();
                    gate.wait().await;
                    add_up(migrated, usize::from(thread::current().id() != before));
                    resumed.set();
                }));
            });
            settled(&pool);
            let total = pool.stats().total();
            assert_eq!((total.resumes, total.resumes_elsewhere), (1, migrated.into_inner() as u64));
        }
    });
}

#[test]
fn the_time_from_wake_to_run_is_measured_where_it_is_asked_for() {
    within(LONG, || {
        for measure in [false, true] {
            let pool = ThreadPoolBuilder::new().num_threads(1).measure_wakes(measure).build().unwrap();
            let (gate, waker) = (Gate::default(), AtomicUsize::new(0));
            pool.scope(|s| {
                let (gate, waker) = (&gate, &waker);
                // The task is awake for 20 ms before the only thread has time for it.
                drop(s.spawn_future(async move {
                    until(|| gate.waiting() == 1);
                    gate.wakers().iter().for_each(Waker::wake_by_ref);
                    gate.unlock();
                    add(waker);
                    thread::sleep(Duration::from_millis(20));
                }));
                drop(s.spawn_future(gate.wait()));
            });
            assert_eq!(waker.load(SeqCst), 1);
            let times = pool.stats().total().wake_to_run;
            if measure {
                assert!(times.quantile(1.0) >= Duration::from_millis(20), "{times:?}");
            } else {
                assert_eq!(times.count(), 0);
            }
            assert_eq!(pool.install(|| block_on(async { 1 })), 1);
        }
    });
}
