//! Building pools, and errors while they are built.

use crate::support::*;
use furcate_pool::{
    ThreadPool, ThreadPoolBuilder, broadcast, current_num_threads, current_thread_index, scope, spawn,
};
use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::io;
use std::panic::panic_any;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{self, ThreadId};

const SIZES: [usize; 4] = [1, 2, 3, 8];

/// Calls of a handler, by thread and number. (A spare thread has the number of one of the pool's own.)
type Counts = Arc<Mutex<HashMap<(ThreadId, usize), usize>>>;

fn count(counts: &Counts) -> impl Fn(usize) + Send + Sync + 'static {
    let counts = Arc::clone(counts);
    move |number| *counts.lock().unwrap().entry((thread::current().id(), number)).or_default() += 1
}

#[test]
fn threads_have_their_names_and_stacks() {
    within(LONG, || {
        /// Uses about so many kilobytes of stack.
        fn deep(kilobytes: usize) -> u8 {
            let block = std::hint::black_box([kilobytes as u8; 1024]);
            if kilobytes == 0 { 0 } else { deep(kilobytes - 1).wrapping_add(block[0]) }
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .thread_name(|number| format!("named-{number}"))
            .stack_size(64 << 20)
            .build()
            .expect("a pool");
        let mut names = pool.broadcast(|_| {
            // Far more than the default stack of a thread.
            deep(16 << 10);
            thread::current().name().expect("a name").to_owned()
        });
        names.sort();
        assert_eq!(names, ["named-0", "named-1", "named-2"]);
    });
}

#[test]
fn handlers_are_called_once_per_thread() {
    within(LONG, || {
        for threads in SIZES {
            let (started, ended) = (Counts::default(), Counts::default());
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .start_handler(count(&started))
                .exit_handler(count(&ended))
                .build()
                .expect("a pool");
            pool.broadcast(|_| ());
            let has_started = |number| started.lock().unwrap().keys().any(|&(_, other)| other == number);
            assert!((0..threads).all(has_started));
            assert!(ended.lock().unwrap().is_empty());
            drop(pool);
            // Spare threads, if any were started, have had both too.
            assert_eq!(*started.lock().unwrap(), *ended.lock().unwrap());
            assert!(ended.lock().unwrap().values().all(|&calls| calls == 1));
        }
    });
}

#[test]
fn handlers_may_use_the_pool() {
    // Z4: a thread's handlers run with no job around them, but all calls work there.
    within(LONG, || {
        for threads in SIZES {
            let sum = Arc::new(AtomicUsize::new(0));
            let handler = |sum: &Arc<AtomicUsize>| {
                let sum = Arc::clone(sum);
                move |_| {
                    let spawned = Arc::clone(&sum);
                    spawn(move || add(&spawned));
                    scope(|s| (0..10).for_each(|_| s.spawn(|_| add(&sum))));
                    assert_eq!(fib(10), 55);
                    add(&sum);
                }
            };
            let (started, ended) = (Counts::default(), Counts::default());
            let (at_start, at_end) = (handler(&sum), handler(&sum));
            let (count_start, count_end) = (count(&started), count(&ended));
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .start_handler(move |number| {
                    count_start(number);
                    at_start(number);
                })
                .exit_handler(move |number| {
                    count_end(number);
                    at_end(number);
                })
                .build()
                .expect("a pool");
            for _ in 0..20 {
                assert_eq!(pool.install(|| fib(12)), 144);
            }
            pool.broadcast(|_| ());
            drop(pool);
            let total = |counts: &Counts| counts.lock().unwrap().values().sum::<usize>();
            let calls = total(&started) + total(&ended);
            assert!(calls >= 2 * threads);
            until(|| sum.load(SeqCst) == 12 * calls);
        }
    });
}

#[test]
fn handlers_that_panic_go_to_the_panic_handler() {
    quiet_panics();
    within(LONG, || {
        let panics = Arc::new(Mutex::new(vec![]));
        let note = Arc::clone(&panics);
        let pool = ThreadPoolBuilder::new()
            .num_threads(2)
            .start_handler(|_| panic_any("on purpose: start"))
            .exit_handler(|_| panic_any("on purpose: exit"))
            .panic_handler(move |payload| note.lock().unwrap().push(message(payload)))
            .build()
            .expect("a pool");
        assert_eq!(pool.install(|| fib(10)), 55);
        drop(pool);
        let panics = panics.lock().unwrap();
        let said = |what: &str| panics.iter().filter(|text| text.ends_with(what)).count();
        assert!(said("start") >= 2 && said("start") == said("exit"), "{panics:?}");
    });
}

#[test]
fn spawn_handlers_start_the_threads() {
    within(LONG, || {
        for threads in SIZES {
            let ended = Arc::new(AtomicUsize::new(0));
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|number| format!("mine-{number}"))
                .stack_size(1 << 20)
                .spawn_handler(|thread| {
                    assert_eq!(thread.name(), Some(&*format!("mine-{}", thread.index())));
                    assert_eq!(thread.stack_size(), Some(1 << 20));
                    let ended = Arc::clone(&ended);
                    thread::Builder::new().spawn(move || {
                        thread.run();
                        add(&ended);
                    })?;
                    Ok(())
                })
                .build()
                .expect("a pool");
            assert_eq!(pool.install(|| fib(15)), 610);
            assert_eq!(pool.broadcast(|_| ()).len(), threads);
            drop(pool);
            until(|| ended.load(SeqCst) == threads);
        }
    });
}

#[test]
fn when_a_thread_cannot_be_started_the_others_end() {
    // Z1.
    within(LONG, || {
        for threads in SIZES {
            for k in 0..threads {
                let (started, ended) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
                let error = ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .spawn_handler(|thread| {
                        if thread.index() == k {
                            return Err(io::Error::other("no more of them"));
                        }
                        add(&started);
                        let ended = Arc::clone(&ended);
                        thread::spawn(move || {
                            thread.run();
                            add(&ended);
                        });
                        Ok(())
                    })
                    .build()
                    .expect_err("no pool");
                assert_eq!(
                    error.to_string(),
                    format!("thread {} of {threads} could not be started: no more of them", k + 1)
                );
                assert!(error.source().is_some());
                assert_eq!(started.into_inner(), k);
                until(|| ended.load(SeqCst) == k);
            }
        }
    });
}

#[test]
fn when_a_thread_cannot_be_named_the_others_end() {
    // Z1: a closure of the builder that panics; the scope around the threads would wait for them for ever.
    quiet_panics();
    within(LONG, || {
        for k in 0..3 {
            let payload = payload(|| {
                let _ = ThreadPoolBuilder::new()
                    .num_threads(3)
                    .thread_name(
                        move |number| if number == k { panic_any("on purpose: name") } else { String::new() },
                    )
                    .build_scoped(|thread| thread.run(), |_| ());
            });
            assert_eq!(message(payload), "on purpose: name");
        }
    });
}

/// Makes the pool start a spare thread, if it can: the pool's only thread waits for another pool while a job is queued.
fn have_a_spare_thread(pool: &ThreadPool) {
    let other = crate::support::pool(1);
    let gate = Arc::new(Barrier::new(2));
    pool.install(|| {
        other.install(|| {
            let there = Arc::clone(&gate);
            pool.spawn(move || {
                there.wait();
            });
            gate.wait();
        });
    });
}

#[test]
fn spare_threads_go_by_the_numbers_of_the_pools_own() {
    within(LONG, || {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (named, started) = (Arc::clone(&seen), Arc::clone(&seen));
        let pool = ThreadPoolBuilder::new()
            .num_threads(1)
            .thread_name(move |number| {
                named.lock().unwrap().push(("named", number));
                "the one".into()
            })
            .start_handler(move |number| {
                assert_eq!(thread::current().name(), Some("the one"));
                started.lock().unwrap().push(("started", number));
            })
            .build()
            .expect("a pool");
        have_a_spare_thread(&pool);
        drop(pool);
        let mut seen = seen.lock().unwrap().clone();
        seen.sort_unstable();
        assert_eq!(seen[..3], [("named", 0), ("started", 0), ("started", 0)]);
        // On a busy machine there may be more spare threads than one.
        assert!(seen[3..].iter().all(|&more| more == ("started", 0)), "{seen:?}");
    });
}

#[test]
fn names_are_asked_for_once_and_first() {
    // The closure is as in rayon: it may change what it has captured, and stays in this thread.
    within(LONG, || {
        let started = Arc::new(AtomicUsize::new(0));
        for current in [false, true] {
            let (numbers, first) = (Rc::new(RefCell::new(vec![])), Arc::clone(&started));
            let (asked, already) = (Rc::clone(&numbers), started.load(SeqCst));
            let mut builder = ThreadPoolBuilder::new().num_threads(4);
            if current {
                builder = builder.use_current_thread();
            }
            let pool = builder
                .thread_name(move |number| {
                    assert_eq!(first.load(SeqCst), already, "no thread has started");
                    asked.borrow_mut().push(number);
                    format!("once-{number}")
                })
                .start_handler({
                    let started = Arc::clone(&started);
                    move |number| {
                        add(&started);
                        assert_eq!(thread::current().name(), Some(&*format!("once-{number}")));
                    }
                })
                .build()
                .expect("a pool");
            assert_eq!(pool.install(|| fib(10)), 55);
            drop(pool);
            assert_eq!(*numbers.borrow(), [0, 1, 2, 3]);
        }
    });
}

#[test]
fn scoped_pools_borrow_and_end() {
    within(LONG, || {
        for threads in SIZES {
            let (numbers, ended) = ([1, 2, 3], AtomicUsize::new(0));
            let sum = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build_scoped(
                    |thread| {
                        thread.run();
                        add(&ended);
                    },
                    |pool| pool.install(|| (fib(12), numbers.iter().sum::<i32>())),
                )
                .expect("a pool");
            assert_eq!(sum, (144, 6));
            assert_eq!(ended.into_inner(), threads);
        }
        let payload = payload(|| {
            let _ = ThreadPoolBuilder::new()
                .num_threads(2)
                .build_scoped(|thread| thread.run(), |_| panic_any("on purpose: with the pool"));
        });
        assert_eq!(message(payload), "on purpose: with the pool");
    });
}

#[test]
fn the_current_thread_can_be_one_of_them() {
    for rule in RULES {
        for threads in SIZES {
            within(LONG, move || {
                let pool = ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .wait_rule(rule)
                    .use_current_thread()
                    .build()
                    .expect("a pool");
                assert!(pool.current_thread_index().is_some_and(|index| index < threads));
                let here = thread::current().id();
                assert_eq!(pool.install(|| thread::current().id()), here);
                assert_eq!(fib(15), 610);
                assert_eq!(pool.stats().total().forks, pool.stats().total().forks.max(900), "on this pool");
                let sum = Arc::new(AtomicUsize::new(0));
                scope(|s| (0..100).for_each(|_| s.spawn(|_| add(&sum))));
                assert_eq!(sum.load(SeqCst), 100);
                assert_eq!(broadcast(|_| ()).len(), threads);
                let again = ThreadPoolBuilder::new().use_current_thread().build();
                assert!(again.expect_err("a second pool").to_string().contains("already"));
                // Jobs that this thread has had no time to run.
                for _ in 0..10 {
                    let sum = Arc::clone(&sum);
                    spawn(move || add(&sum));
                }
                drop(pool);
                assert_eq!(sum.load(SeqCst), 110, "{rule:?}, {threads} threads");
                assert_eq!(current_thread_index(), None, "it is a thread like any other again");
                assert_eq!(fib(10), 55);
            });
        }
    }
}

#[test]
fn pinned_and_always_shared_pools_count_alike() {
    within(LONG, || {
        for threads in SIZES {
            let pinned = ThreadPoolBuilder::new().num_threads(threads).pin_threads().build().expect("a pool");
            assert_eq!(pinned.install(|| fib(15)), 610);
            let always_shared =
                ThreadPoolBuilder::new().num_threads(threads).ordinary_fences().build().expect("a pool");
            assert_eq!(always_shared.install(|| fib(15)), 610);
            assert_eq!(
                always_shared.stats().total().steals.iter().map(|steals| steals.won).sum::<u64>() > 0,
                always_shared.stats().total().migrated > 0
            );
        }
    });
}

#[test]
fn pinned_threads_stay_on_their_cores() {
    within(LONG, || {
        let pool = ThreadPoolBuilder::new().num_threads(2).pin_threads().build().expect("a pool");
        let cores = pool.broadcast(|_| thread::available_parallelism().expect("the cores").get());
        assert_eq!(cores, [1, 1]);
    });
}

#[test]
fn the_global_pool_is_made_once() {
    const TEST: &str = "builder::the_global_pool_is_made_once";
    if plays("first") {
        let failing =
            ThreadPoolBuilder::new().spawn_handler(|_| Err(io::Error::other("none"))).build_global();
        assert!(failing.is_err(), "and the way is free for another one");
        ThreadPoolBuilder::new().num_threads(3).build_global().expect("the global pool");
        assert_eq!(current_num_threads(), 3);
        let error = ThreadPoolBuilder::new().num_threads(2).build_global().expect_err("a second one");
        assert!(error.to_string().contains("already"), "{error}");
        assert_eq!((current_num_threads(), fib(12)), (3, 144));
        return;
    }
    if plays("used") {
        assert_eq!(fib(10), 55);
        ThreadPoolBuilder::new().build_global().expect_err("it is in use");
        return;
    }
    good_child(TEST, "first", &[]);
    good_child(TEST, "used", &[]);
}

#[test]
fn the_environment_says_how_many_threads() {
    const TEST: &str = "builder::the_environment_says_how_many_threads";
    let variables = ["FURCATE_NUM_THREADS", "RAYON_NUM_THREADS"];
    if plays("counter") {
        let said: usize = std::env::var("EXPECTED").expect("the parent says").parse().expect("a number");
        let expected =
            if said > 0 { said } else { thread::available_parallelism().expect("the cores").get() };
        assert_eq!(current_num_threads(), expected);
        assert_eq!(ThreadPoolBuilder::new().build().expect("a pool").current_num_threads(), expected);
        assert_eq!(ThreadPoolBuilder::new().num_threads(4).build().expect("a pool").current_num_threads(), 4);
        return;
    }
    let [furcate, rayon] = variables;
    good_child(TEST, "counter", &[(furcate, "3"), ("EXPECTED", "3")]);
    good_child(TEST, "counter", &[(rayon, "5"), ("EXPECTED", "5")]);
    good_child(TEST, "counter", &[(furcate, "3"), (rayon, "5"), ("EXPECTED", "3")]);
    good_child(TEST, "counter", &[(furcate, "0"), (rayon, "5"), ("EXPECTED", "5")]);
    let warned = child(TEST, "counter", &[(furcate, "many"), ("EXPECTED", "0")]);
    assert!(warned.status.success() && said(&warned).matches("is no number, so pools have").count() == 1);
    // The old name of rayon's variable counts if the new one says nothing.
    let old = "RAYON_RS_NUM_CPUS";
    good_child(TEST, "counter", &[(old, "6"), ("EXPECTED", "6")]);
    good_child(TEST, "counter", &[(old, "6"), (rayon, "many"), ("EXPECTED", "6")]);
    good_child(TEST, "counter", &[(old, "6"), (rayon, "5"), ("EXPECTED", "5")]);
    good_child(TEST, "counter", &[(old, "6"), (rayon, "0"), ("EXPECTED", "0")]);
    good_child(TEST, "counter", &[(old, "6"), (furcate, "3"), ("EXPECTED", "3")]);
    good_child(TEST, "counter", &[("EXPECTED", "0")]);
}
