//! A call from outside the pool keeps the pool's promises: its number of threads, its index, its stacks and its handlers.
#![cfg(not(furcate_rayon))]

use crate::support::{LONG, pool, within};
use furcate::prelude::*;
use furcate::{DepJoin, Join, ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Runs chains that fork and chains that do not, under several schedulers. Each calls `item` for its items.
fn chains(pool: &ThreadPool, item: impl Fn() + Send + Sync + Copy) {
    for len in [1, 2, 40] {
        (0..len).into_par_iter().on(pool).for_each(|_| item());
        (0..len).into_par_iter().with_scheduler(Join).on(pool).for_each(|_| item());
        (0..len).into_par_iter().with_scheduler(DepJoin).on(pool).for_each(|_| item());
        (0..len).into_par_iter().adaptive().on(pool).for_each(|_| item());
        (0..len).into_par_iter().with_min_len(100).on(pool).for_each(|_| item());
        (0..len).into_par_iter().by_blocks([1, 2]).on(pool).for_each(|_| item());
        assert!(!(0..len).into_par_iter().on(pool).any(|_| {
            item();
            false
        }));
        let ready = (0..len).into_par_iter().map(|_| async move { item() }).io_await();
        assert_eq!(ready.on(pool).count(), len);
    }
}

#[test]
fn as_many_callers_as_there_are_run_no_more_closures_at_once_than_the_pool_has_threads() {
    within(LONG, || {
        for threads in [1, 2] {
            let pool = &pool(threads);
            let (now, most) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
            thread::scope(|callers| {
                for _ in 0..5 {
                    callers.spawn(move || {
                        chains(pool, || {
                            most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                            thread::sleep(Duration::from_micros(300));
                            now.fetch_sub(1, SeqCst);
                        });
                    });
                }
            });
            assert!(
                most.load(SeqCst) <= threads,
                "{} closures at once on {threads} threads",
                most.load(SeqCst)
            );
        }
    });
}

#[test]
fn every_closure_of_a_call_from_outside_has_an_index() {
    within(LONG, || {
        for threads in [1, 2, 3] {
            let pool = &pool(threads);
            let indices: Vec<_> =
                (0..3).into_par_iter().on(pool).map(|_| furcate::current_thread_index()).collect();
            assert!(indices.iter().all(|index| index.is_some_and(|index| index < threads)), "{indices:?}");
            chains(pool, || {
                assert!(pool.current_thread_index().expect("an index in every closure") < threads);
            });
        }
    });
}

#[test]
fn a_call_from_outside_occupies_a_thread_of_the_pool() {
    // So a program that probes whether the pool has a free thread gets the right answer. The crate jwalk does so: it
    // spawns a job and waits for it with a timeout.
    within(LONG, || {
        let pool = &pool(1);
        let began_beside: Vec<bool> = (0..1)
            .into_par_iter()
            .on(pool)
            .map(|_| {
                let (send, receive) = mpsc::channel();
                pool.spawn(move || _ = send.send(()));
                receive.recv_timeout(Duration::from_millis(300)).is_ok()
            })
            .collect();
        assert_eq!(began_beside, [false], "the only thread was occupied");
    });
}

thread_local! {
    static PREPARED: Cell<bool> = const { Cell::new(false) };
}

#[test]
fn threads_that_a_start_handler_prepares_run_every_item() {
    within(LONG, || {
        for threads in [1, 2] {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .start_handler(|_| PREPARED.set(true))
                .build()
                .expect("a pool");
            let missing = AtomicUsize::new(0);
            for _ in 0..20 {
                (0..1000).into_par_iter().with_max_len(1).on(&pool).for_each(|_| {
                    missing.fetch_add(usize::from(!PREPARED.get()), SeqCst);
                });
            }
            chains(&pool, || _ = missing.fetch_add(usize::from(!PREPARED.get()), SeqCst));
            assert_eq!(missing.into_inner(), 0, "items ran in threads without what the handler sets");
        }
    });
}

#[test]
fn items_run_in_threads_with_the_names_of_the_pool() {
    within(LONG, || {
        let pool = ThreadPoolBuilder::new()
            .num_threads(2)
            .thread_name(|number| format!("hello-{number}"))
            .build()
            .expect("a pool");
        let strange = AtomicUsize::new(0);
        let look = || {
            let named = thread::current().name().is_some_and(|name| name.starts_with("hello-"));
            strange.fetch_add(usize::from(!named), SeqCst);
        };
        (0..10_000).into_par_iter().on(&pool).for_each(|_| look());
        chains(&pool, look);
        assert_eq!(strange.into_inner(), 0);
    });
}

/// Uses about this many kilobytes of stack.
fn deep(kilobytes: usize) -> u8 {
    let block = std::hint::black_box([kilobytes as u8; 1024]);
    if kilobytes == 0 { 0 } else { deep(kilobytes - 1).wrapping_add(block[0]) }
}

#[test]
fn items_have_the_stacks_of_the_pool() {
    within(LONG, || {
        let pool = ThreadPoolBuilder::new().num_threads(2).stack_size(128 << 20).build().expect("a pool");
        // Far more stack than the calling thread has.
        chains(&pool, || _ = deep(32 << 10));
    });
}
