//! A pool that ends still serves the callers of its last jobs: the thread that drops it, and that thread's own pool.

use crate::support::*;
use furcate_pool::{
    ThreadPool, ThreadPoolBuilder, broadcast, current_thread_index, join, spawn, spawn_broadcast,
};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// Long enough for a thread that drops a pool meanwhile to block.
const A_WHILE: Duration = Duration::from_millis(20);

#[test]
fn the_thread_that_has_built_a_pool_takes_part_until_its_last_job() {
    within(LONG, || {
        let calls: [fn(Arc<AtomicUsize>); 2] =
            [|count| drop(broadcast(|_| add(&count))), |count| spawn_broadcast(move |_| add(&count))];
        for call in calls {
            for threads in [2, 3] {
                let pool =
                    ThreadPoolBuilder::new().num_threads(threads).use_current_thread().build().unwrap();
                let (count, begun) = (Arc::new(AtomicUsize::new(0)), Arc::new(Flag::default()));
                spawn({
                    let (count, begun) = (Arc::clone(&count), Arc::clone(&begun));
                    move || {
                        begun.set();
                        thread::sleep(A_WHILE);
                        call(count);
                    }
                });
                begun.wait();
                drop(pool);
                assert_eq!((count.load(SeqCst), current_thread_index()), (threads, None));
            }
        }
    });
}

#[test]
fn a_worker_that_drops_another_pool_serves_its_own() {
    within(LONG, || {
        for threads in [1, 2] {
            let (here, other) = (Arc::new(pool(threads)), pool(1));
            let (back, count) = (Arc::clone(&here), Arc::new(AtomicUsize::new(0)));
            let called = Arc::clone(&count);
            here.install(move || {
                other.spawn(move || {
                    thread::sleep(A_WHILE);
                    back.broadcast(|_| add(&called));
                    back.install(|| join(|| add(&called), || add(&called)));
                });
                drop(other);
            });
            assert_eq!(count.load(SeqCst), threads + 2);
        }
    });
}

#[test]
fn a_thread_whose_pool_is_not_made_is_none_of_its_threads() {
    within(LONG, || {
        for fails in 1..4 {
            let refused =
                ThreadPoolBuilder::new().num_threads(4).use_current_thread().spawn_handler(|builder| {
                    if builder.index() == fails {
                        return Err(io::Error::other("none"));
                    }
                    thread::Builder::new().spawn(|| builder.run()).map(drop)
                });
            assert!(refused.build().is_err());
            assert_eq!(current_thread_index(), None);
            let pool = ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().unwrap();
            assert_eq!((join(|| 1, || 2), current_thread_index()), ((1, 2), Some(0)));
            drop(pool);
        }
    });
}

#[test]
fn threads_that_lose_the_race_for_the_global_pool_are_none_of_its_threads() {
    if plays("racer") {
        let (go, won) = (Flag::default(), AtomicUsize::new(0));
        thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    go.wait();
                    match ThreadPoolBuilder::new().num_threads(2).use_current_thread().build_global() {
                        Ok(()) => add(&won),
                        Err(_) => assert_eq!(current_thread_index(), None),
                    }
                });
            }
            go.set();
        });
        assert_eq!(won.into_inner(), 1);
        return;
    }
    for _ in 0..3 {
        good_child(
            "endings::threads_that_lose_the_race_for_the_global_pool_are_none_of_its_threads",
            "racer",
            &[],
        );
    }
}

#[test]
fn a_worker_that_ends_a_scoped_pool_serves_its_own() {
    within(LONG, || {
        for threads in [1, 2] {
            let here = Arc::new(pool(threads));
            let (back, count) = (Arc::clone(&here), Arc::new(AtomicUsize::new(0)));
            let called = Arc::clone(&count);
            here.install(move || {
                let last_jobs = |scoped: &ThreadPool| {
                    scoped.spawn(move || {
                        thread::sleep(A_WHILE);
                        back.install(|| add(&called));
                        back.broadcast(|_| add(&called));
                    });
                };
                ThreadPoolBuilder::new()
                    .num_threads(1)
                    .build_scoped(|thread| thread.run(), last_jobs)
                    .expect("a pool");
            });
            assert_eq!(count.load(SeqCst), threads + 1);
        }
    });
}
