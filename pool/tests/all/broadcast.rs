//! Broadcasts: jobs that every thread runs once.

use crate::support::*;
use furcate_pool::detach::{OneShot, SpawnedOutcome};
use furcate_pool::{
    BroadcastContext, ThreadPool, ThreadPoolBuilder, WaitRule, block_on, broadcast, join, scope, spawn,
    spawn_broadcast,
};
use std::collections::HashSet;
use std::future::poll_fn;
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

const SIZES: [usize; 4] = [1, 2, 3, 8];

/// Broadcasts, and checks that each thread of the pool has run the job once.
fn check(
    threads: usize,
    broadcast: impl FnOnce(&(dyn Fn(BroadcastContext<'_>) -> usize + Sync)) -> Vec<usize>,
) {
    let here: Mutex<Vec<ThreadId>> = Mutex::default();
    let results = broadcast(&|context| {
        assert_eq!(context.num_threads(), threads);
        here.lock().unwrap().push(thread::current().id());
        context.index()
    });
    assert_eq!(results, (0..threads).collect::<Vec<_>>());
    let here = here.into_inner().unwrap();
    assert_eq!(here.len(), threads);
    assert_eq!(here.iter().collect::<HashSet<_>>().len(), threads, "a thread was there twice");
}

#[test]
fn every_thread_runs_it_once() {
    within(LONG, || {
        for threads in SIZES {
            let pool = pool(threads);
            for _ in 0..20 {
                check(threads, |op| pool.broadcast(op));
                pool.install(|| check(threads, |op| broadcast(op)));
            }
            // By a worker of another pool, and by an external thread of the global one.
            crate::support::pool(1).install(|| check(threads, |op| pool.broadcast(op)));
            join(|| check(threads, |op| pool.broadcast(op)), || ());
        }
    });
}

#[test]
fn external_threads_broadcast_on_the_global_pool() {
    within(LONG, || {
        let threads = furcate_pool::current_num_threads();
        for _ in 0..20 {
            check(threads, |op| broadcast(op));
            join(|| check(threads, |op| broadcast(op)), || check(threads, |op| broadcast(op)));
            scope(|s| s.spawn(|_| check(threads, |op| broadcast(op))));
        }
    });
}

#[test]
fn broadcasts_reach_threads_that_wait() {
    // Halves that broadcast while the owners of the other halves wait for them.
    fn tree(pool: &ThreadPool, depth: u32) -> usize {
        if depth == 0 {
            return pool.broadcast(|_| ()).len();
        }
        let (a, b) = join(|| tree(pool, depth - 1), || tree(pool, depth - 1));
        a + b
    }
    within(LONG, || {
        for rule in RULES {
            for threads in SIZES {
                let pool = ruled(threads, rule);
                assert_eq!(pool.install(|| tree(&pool, 5)), 32 * threads, "{rule:?}");
                let sum = AtomicUsize::new(0);
                pool.scope(|s| {
                    for _ in 0..20 {
                        s.spawn(|_| _ = sum.fetch_add(tree(&pool, 1), SeqCst));
                    }
                });
                assert_eq!(sum.into_inner(), 40 * threads, "{rule:?}");
            }
        }
    });
}

#[test]
fn broadcasts_reach_threads_that_wait_for_other_pools() {
    // Z4: a job of one pool calls another pool, and a job there broadcasts on the first.
    within(LONG, || {
        for rule in RULES {
            for threads in SIZES {
                let (a, b) = (ruled(threads, rule), pool(1));
                for _ in 0..10 {
                    a.install(|| b.install(|| check(threads, |op| a.broadcast(op))));
                    a.install(|| b.broadcast(|_| check(threads, |op| a.broadcast(op))));
                    a.install(|| b.in_place_scope(|s| s.spawn(|_| check(threads, |op| a.broadcast(op)))));
                }
            }
        }
    });
}

#[test]
fn many_broadcast_at_once() {
    within(LONG, || {
        for threads in SIZES {
            let pool = &pool(threads);
            thread::scope(|callers| {
                for _ in 0..4 {
                    callers.spawn(|| {
                        (0..50).for_each(|_| check(threads, |op| pool.broadcast(op)));
                        pool.install(|| (0..50).for_each(|_| check(threads, |op| broadcast(op))));
                    });
                }
            });
        }
    });
}

#[test]
fn broadcasts_broadcast() {
    within(LONG, || {
        for threads in SIZES {
            let pool = pool(threads);
            let sums = pool.broadcast(|_| pool.broadcast(|context| context.index()).iter().sum::<usize>());
            assert_eq!(sums, vec![(0..threads).sum(); threads]);
        }
    });
}

#[test]
fn panics_are_raised_when_all_are_done() {
    // P1, P2.
    within(LONG, || {
        for threads in SIZES {
            let pool = pool(threads);
            for n in 0..threads {
                let done = AtomicUsize::new(0);
                let payload = payload(|| {
                    pool.broadcast(|context| {
                        add(&done);
                        if context.index() == n {
                            panic_any("on purpose: one of them");
                        }
                    });
                });
                assert_eq!(message(payload), "on purpose: one of them");
                assert_eq!(done.into_inner(), threads);
            }
            check(threads, |op| pool.broadcast(op));
        }
    });
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any("on purpose: dropped");
    }
}

#[test]
fn results_and_payloads_whose_drops_panic_are_borne() {
    // P3: results and payloads that are not handed over are dropped quietly.
    within(LONG, || {
        for threads in [2, 3, 8] {
            let pool = pool(threads);
            let payload = payload(|| {
                pool.broadcast(|context| match context.index() {
                    0 => panic_any("on purpose: the first"),
                    1 => panic_any(Bomb),
                    _ => Bomb,
                });
            });
            assert_eq!(message(payload), "on purpose: the first");
            check(threads, |op| pool.broadcast(op));
        }
    });
}

#[test]
fn spawned_broadcasts_run_everywhere_and_before_the_pool_ends() {
    within(LONG, || {
        for threads in SIZES {
            let (pool, (send, receive)) = (pool(threads), mpsc::channel());
            let send = Arc::new(Mutex::new(send));
            let say = move |context: BroadcastContext<'_>| {
                send.lock().unwrap().send((context.index(), thread::current().id())).unwrap();
            };
            let (inside, again) = (say.clone(), say.clone());
            pool.spawn_broadcast(say);
            pool.install(move || spawn_broadcast(inside));
            pool.spawn_broadcast(move |_| spawn_broadcast(again.clone()));
            drop(pool);
            let all: Vec<_> = receive.iter().collect();
            assert_eq!(all.len(), threads * (threads + 2));
            let distinct: HashSet<_> = all.into_iter().collect();
            assert_eq!(distinct.len(), threads, "each index has its thread");
        }
    });
}

fn note<T: Eq + std::hash::Hash>(seen: &Mutex<HashSet<T>>, value: T) {
    assert!(seen.lock().unwrap().insert(value), "twice in the same thread");
}

#[test]
fn scopes_broadcast() {
    within(LONG, || {
        for threads in SIZES {
            let pool = pool(threads);
            let seen = Mutex::new(HashSet::new());
            pool.scope(|s| {
                s.spawn_broadcast(|_, context| note(&seen, (0, context.index())));
                s.spawn(|s| s.spawn_broadcast(|_, context| note(&seen, (1, context.index()))));
            });
            pool.in_place_scope_fifo(|s| {
                s.spawn_broadcast(|_, context| note(&seen, (2, context.index())));
            });
            assert_eq!(seen.into_inner().unwrap().len(), 3 * threads);
        }
    });
}

#[test]
fn busy_threads_run_it_when_they_are_done() {
    within(LONG, || {
        let pool = pool(2);
        let busy = Arc::new(Flag::default());
        let set = Arc::clone(&busy);
        pool.spawn(move || {
            thread::sleep(Duration::from_millis(20));
            set.set();
        });
        until(|| pool.stats().total().injected == 1);
        pool.broadcast(|_| ());
        assert!(busy.is_set(), "one of the threads was busy");
    });
}

/// Its caller may hold a lock that such a job wants.
#[test]
fn the_caller_runs_no_other_job_meanwhile_under_any_rule() {
    within(LONG, || {
        for rule in [WaitRule::Any, WaitRule::Descendants, WaitRule::Leapfrog] {
            let (pool, release) = (ruled(2, rule), Arc::new(Flag::default()));
            let (started, ran_by) = (Arc::new(Flag::default()), Arc::new(Mutex::new(None)));
            let mut caller = None;
            pool.install(|| {
                let (start, wait, note) = (Arc::clone(&started), Arc::clone(&release), Arc::clone(&ran_by));
                spawn(move || {
                    start.set();
                    wait.wait();
                });
                started.wait();
                spawn(move || *note.lock().unwrap() = Some(thread::current().id()));
                let later = Arc::clone(&release);
                let releases = thread::spawn(move || {
                    thread::sleep(Duration::from_millis(20));
                    later.set();
                });
                caller = Some(thread::current().id());
                broadcast(|_| assert_ne!(*ran_by.lock().unwrap(), caller, "{rule:?}"));
                releases.join().unwrap();
            });
        }
    });
}

/// Returns the thread that runs each of the jobs for a certain thread.
fn threads_of(pool: &ThreadPool, jobs: usize) -> Vec<Vec<ThreadId>> {
    let receivers: Vec<_> = (0..pool.current_num_threads())
        .map(|index| {
            let (send, receive) = mpsc::channel();
            for n in 0..jobs {
                let send = send.clone();
                pool.spawn_on(index, move || send.send((n, thread::current().id())).unwrap());
            }
            receive
        })
        .collect();
    let ran_by = |receive: mpsc::Receiver<(usize, ThreadId)>| {
        let (order, threads): (Vec<_>, Vec<_>) = receive.into_iter().unzip();
        assert_eq!(order, (0..jobs).collect::<Vec<_>>(), "first in, first out");
        threads
    };
    receivers.into_iter().map(ran_by).collect()
}

#[test]
fn jobs_for_a_thread_run_in_that_thread_in_order() {
    within(LONG, || {
        for rule in RULES {
            for threads in SIZES {
                let pool = ruled(threads, rule);
                let expected = pool.broadcast(|_| thread::current().id());
                let check = || {
                    for (ran_by, expected) in threads_of(&pool, 50).iter().zip(&expected) {
                        assert!(ran_by.iter().all(|id| id == expected), "{rule:?}");
                    }
                };
                check();
                // Beside other work, with threads that wait.
                thread::scope(|s| {
                    s.spawn(|| pool.install(|| fib(20)));
                    check();
                });
            }
        }
    });
}

/// Another thread stands in for the one that waits, and must not run the job.
#[test]
fn a_job_for_a_thread_that_waits_runs_there() {
    within(LONG, || {
        for threads in SIZES {
            let pool = pool(threads);
            let index = threads - 1;
            let here = pool.broadcast(|_| thread::current().id())[index];
            let waiting = Arc::new(Flag::default());
            let (place, mut sender) = OneShot::new();
            let (send, receive) = mpsc::channel();
            pool.spawn_on(index, {
                let waiting = Arc::clone(&waiting);
                move || {
                    let woken = block_on(poll_fn(|context| {
                        waiting.set();
                        place.poll(context)
                    }));
                    send.send((thread::current().id(), woken)).unwrap();
                }
            });
            waiting.wait();
            // All other slots, and that of the waiting thread, are in use.
            let (release, begun) = (Arc::new(Flag::default()), Arc::new(AtomicUsize::new(0)));
            for _ in 0..threads {
                let (release, begun) = (Arc::clone(&release), Arc::clone(&begun));
                pool.spawn(move || {
                    add(&begun);
                    release.wait();
                });
            }
            until(|| begun.load(SeqCst) == threads);
            pool.spawn_on(index, move || sender.deliver(SpawnedOutcome::Done(thread::current().id())));
            release.set();
            let (waiter, woken) = receive.recv().unwrap();
            assert_eq!(waiter, here);
            assert!(matches!(woken, Some(SpawnedOutcome::Done(by)) if by == here), "{woken:?}");
        }
    });
}

#[test]
fn a_pool_that_is_dropped_runs_the_jobs_for_its_threads() {
    within(LONG, || {
        for threads in SIZES {
            let count = Arc::new(AtomicUsize::new(0));
            let pool = pool(threads);
            for index in 0..threads {
                for _ in 0..100 {
                    let count = Arc::clone(&count);
                    pool.spawn_on(index, move || add(&count));
                }
            }
            drop(pool);
            assert_eq!(count.load(SeqCst), 100 * threads);
        }
    });
}

#[test]
fn jobs_for_the_thread_that_has_built_the_pool_run_there() {
    within(LONG, || {
        let pool = ThreadPoolBuilder::new().num_threads(2).use_current_thread().build().unwrap();
        let (send, receive) = mpsc::channel();
        pool.spawn_on(0, move || send.send(thread::current().id()).unwrap());
        drop(pool);
        assert_eq!(receive.recv(), Ok(thread::current().id()));
    });
}

#[test]
fn jobs_for_a_thread_that_fail() {
    quiet_panics();
    within(LONG, || {
        let (builder, receive) = telling(2);
        let pool = builder.build().unwrap();
        pool.spawn_on(1, || panic_any("on purpose: on one"));
        assert_eq!(receive.recv().unwrap(), "on purpose: on one");
        let text = message(payload(|| pool.spawn_on(2, || ())));
        assert!(text.contains("2 thread(s)") && text.contains("less than 2"), "{text}");
        // Does not wait for the job that was not made.
        drop(pool);
    });
}
