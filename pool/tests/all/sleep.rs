//! Workers sleep when there is nothing to do, and never when there is.

use crate::support::*;
use furcate_pool::{ThreadPool, ThreadPoolBuilder, join};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

fn made(threads: usize, ordinary_fences: bool) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    if ordinary_fences { builder.ordinary_fences() } else { builder }.build().expect("a pool")
}

#[test]
fn a_hundred_thousand_single_posts() {
    // S3: each post is done before the next one comes, so that every one may meet a worker that is about to sleep.
    within(LONG, || {
        for ordinary_fences in [false, true] {
            for threads in [1, 2, 8] {
                let pool = made(threads, ordinary_fences);
                for i in 0..100_000 / 6 {
                    assert_eq!(pool.install(|| i), i);
                }
            }
        }
    });
}

/// A call finds the worker of the last one, which searches still. The other one, which sleeps for short times, sleeps on. (If each call woke it, a call of
/// some microseconds would take twice the time.)
#[test]
fn short_calls_in_a_row_wake_nobody() {
    within(LONG, || {
        let pool = made(2, false);
        let wakeups = || {
            let before = pool.stats().total().wakeups;
            (0..1_000).for_each(|_| pool.install(|| spin(Duration::from_micros(3))));
            pool.stats().total().wakeups - before
        };
        assert!((0..100).any(|_| wakeups() < 100));
    });
}

/// A source of work.
type Source = (&'static str, fn(&ThreadPool));

const SOURCES: [Source; 8] = [
    ("fork", |pool| {
        // By a worker that is in the middle of a job, while the others sleep; the left half needs the right one.
        pool.install(|| {
            thread::sleep(Duration::from_micros(300));
            force();
        });
    }),
    ("fork of an external thread", |pool| {
        let begun = Flag::default();
        // At least two threads: the external thread and the thief.
        take_part(pool, || begun.wait(), || begun.set());
    }),
    ("spawn inside", |pool| {
        pool.install(|| {
            let flag = Arc::new(Flag::default());
            let set = Arc::clone(&flag);
            furcate_pool::spawn(move || set.set());
            flag.wait();
        });
    }),
    ("spawn outside", |pool| {
        let flag = Arc::new(Flag::default());
        let set = Arc::clone(&flag);
        pool.spawn(move || set.set());
        flag.wait();
    }),
    ("install", |pool| pool.install(|| ())),
    ("broadcast", |pool| drop(pool.broadcast(|_| ()))),
    ("scope from outside", |pool| pool.in_place_scope(|s| s.spawn(|_| ()))),
    ("scope inside", |pool| {
        pool.scope(|s| {
            let flag = Arc::new(Flag::default());
            let set = Arc::clone(&flag);
            s.spawn(move |_| set.set());
            flag.wait();
        });
    }),
];

/// A join whose left half ends only when the right one has begun.
fn force() {
    let begun = Flag::default();
    join(|| begun.wait(), || begun.set());
}

#[test]
fn no_wakeup_is_lost_whatever_the_source() {
    // S1: random idle gaps, so that the workers search, sleep for short times, are about to park, or are parked when
    // the work comes.
    within(LONG, || {
        thread::scope(|pools| {
            for (number, ordinary_fences) in [false, true].into_iter().enumerate() {
                for threads in [2, 3, 8] {
                    pools.spawn(move || {
                        let pool = made(threads, ordinary_fences);
                        let mut random = Random(number as u64 * 10 + threads as u64);
                        let since = Instant::now();
                        while since.elapsed() < Duration::from_millis(2500) {
                            let (source, post) = SOURCES[random.below(SOURCES.len() as u64) as usize];
                            let began = Instant::now();
                            post(&pool);
                            assert!(
                                began.elapsed() < LONG / 2,
                                "{source} waits too long on {threads} threads"
                            );
                            // Most gaps are short. Gaps near the ends of searching, of timed waits and of timed
                            // searching are common, too.
                            let gap = match random.below(10) {
                                0..4 => 0,
                                4..7 => random.below(120),
                                7..9 => random.below(2_000),
                                _ => 19_000 + random.below(11_000),
                            };
                            thread::sleep(Duration::from_micros(gap));
                        }
                    });
                }
            }
        });
    });
}

#[test]
fn sources_follow_each_other_without_gaps() {
    // S1: thousands of posts of each kind, as fast as possible.
    within(LONG, || {
        for ordinary_fences in [false, true] {
            let pool = made(2, ordinary_fences);
            for (_, post) in SOURCES {
                (0..150).for_each(|_| post(&pool));
            }
        }
    });
}

#[test]
fn the_only_victim_is_found() {
    // S5: of 64 threads one has work, and does not end before other threads have taken it.
    within(LONG, || {
        let pool = made(64, false);
        for round in 0..30 {
            let begun = AtomicUsize::new(0);
            pool.scope(|s| {
                for _ in 0..3 {
                    s.spawn(|_| {
                        add(&begun);
                        until(|| begun.load(SeqCst) == 3);
                    });
                }
                // Sometimes all others are parked by now.
                thread::sleep(Duration::from_millis(if round % 5 == 0 { 25 } else { 0 }));
                until(|| begun.load(SeqCst) == 3);
            });
            pool.install(force);
        }
    });
}

#[test]
#[cfg(unix)]
fn an_idle_pool_costs_nothing() {
    // S4: for no less than 2 s, after the workers have had time to find out that there is no work.
    const TEST: &str = "sleep::an_idle_pool_costs_nothing";
    const LIMIT: Duration = Duration::from_millis(20);
    if plays("idler") {
        let pools = [made(8, false), made(2, true)];
        pools.iter().for_each(|pool| pool.install(force));
        pools.iter().for_each(|pool| pool.scope(|s| (0..100).for_each(|_| s.spawn(|_| ()))));
        join(|| (), || ());
        // A worker that waits for a long time sleeps, too, and so do the others.
        let (ending, rest) = (Arc::new(Flag::default()), &pools[0]);
        let end = Arc::clone(&ending);
        let (send, receive) = mpsc::channel::<()>();
        thread::scope(|threads| {
            threads.spawn(move || {
                rest.install(move || {
                    join(
                        || thread::sleep(Duration::from_millis(50)),
                        move || receive.recv().expect("sent below"),
                    )
                });
                end.set();
            });
            thread::sleep(Duration::from_millis(300));
            let used = least_processor_time(Duration::from_secs(2), LIMIT);
            let has_ended = ending.is_set();
            send.send(()).expect("received above");
            assert!(!has_ended);
            assert!(used < LIMIT, "idle for 2 s, {used:?} of processor time");
        });
        return;
    }
    good_child(TEST, "idler", &[]);
}

#[test]
fn workers_beyond_the_processors_run_for_those_that_sleep_or_spin() {
    within(LONG, || {
        let cores = thread::available_parallelism().expect("the cores").get();
        for begin in [forked as Begin, spawned] {
            let best = |more: usize, pause: fn()| {
                let times = (0..10).map(|_| meet(&made(cores + more, false), begin, cores + more, pause));
                times.min().expect("ten times")
            };
            // A timed search, at whose end a worker takes a fork in any case, lasts for 20 ms.
            let slept = best(12, || thread::sleep(Duration::from_millis(1)));
            assert!(slept < Duration::from_millis(15), "{slept:?}");
            // Spinning threads keep the processors busy. The others get their turn all the same.
            let spun = best(2, thread::yield_now);
            assert!(spun < Duration::from_millis(300), "{spun:?}");
        }
    });
}
