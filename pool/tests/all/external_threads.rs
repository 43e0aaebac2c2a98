//! Calls from threads that are no pool's workers: whether they take part, and what the pool promises them in either case.

use crate::support::*;
use furcate_pool::{
    Executor, Pool, ThreadPool, ThreadPoolBuilder, current_thread_index, join, join_context, join_with,
    scope, scope_fifo,
};
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Calls `closure` in every kind of call from outside to the global pool.
fn global_calls(closure: impl Fn() + Send + Sync + Copy) {
    join(closure, closure);
    join_context(|_| closure(), |_| closure());
    join_with(|_| closure(), |_| closure());
    scope(|s| {
        closure();
        s.spawn(|_| closure());
    });
    scope_fifo(|s| {
        closure();
        s.spawn_fifo(|_| closure());
    });
    Pool.enter(closure);
    Pool.join_context(|_| closure(), |_| closure());
    Pool.detached(|_| closure());
}

/// Calls `closure` in every kind of call from outside to `pool` as an engine.
fn calls(pool: &ThreadPool, closure: impl Fn() + Send + Sync + Copy) {
    Executor::enter(&pool, closure);
    Executor::join_context(&pool, |_| closure(), |_| closure());
    Executor::detached(&pool, |_| closure());
}

/// Uses about so many kilobytes of stack.
fn deep(kilobytes: usize) -> u8 {
    let block = std::hint::black_box([kilobytes as u8; 1024]);
    if kilobytes == 0 { 0 } else { deep(kilobytes - 1).wrapping_add(block[0]) }
}

fn threads_of(run: impl FnOnce(&Mutex<HashSet<ThreadId>>)) -> HashSet<ThreadId> {
    let seen = Mutex::default();
    run(&seen);
    seen.into_inner().unwrap()
}

#[test]
fn the_builder_says_whether_a_caller_takes_part() {
    within(LONG, || {
        let (plain, staged) = (ThreadPoolBuilder::new, || ThreadPoolBuilder::new().stack_size(8 << 20));
        let named = || ThreadPoolBuilder::new().thread_name(|number| number.to_string());
        let cases = [
            (plain(), true),
            (plain().caller_takes_part(true), true),
            (plain().caller_takes_part(false), false),
            (staged(), false),
            (staged().caller_takes_part(true), true),
            (named(), false),
            (named().caller_takes_part(true), true),
            (plain().start_handler(|_| ()), false),
            (plain().start_handler(|_| ()).caller_takes_part(true), true),
            (plain().exit_handler(|_| ()), false),
            (plain().pin_threads(), false),
            (plain().panic_handler(|_| ()), true),
        ];
        for (case, (builder, takes_part)) in cases.into_iter().enumerate() {
            let pool = builder.num_threads(2).build().expect("a pool");
            let threads = threads_of(|seen| {
                calls(&pool, || {
                    seen.lock().unwrap().insert(thread::current().id());
                });
            });
            assert_eq!(threads.contains(&thread::current().id()), takes_part, "case {case}");
        }
        let spawned = ThreadPoolBuilder::new().num_threads(2).build_scoped(
            |thread| thread.run(),
            |pool| {
                threads_of(|seen| {
                    calls(pool, || {
                        seen.lock().unwrap().insert(thread::current().id());
                    });
                })
            },
        );
        assert!(!spawned.expect("a pool").contains(&thread::current().id()), "a spawn handler");
    });
}

#[test]
fn callers_keep_to_the_number_of_threads_and_have_an_index() {
    within(LONG, || {
        for takes_part in [true, false] {
            for threads in [1, 2] {
                let builder = ThreadPoolBuilder::new().num_threads(threads);
                let pool = &builder.caller_takes_part(takes_part).build().expect("a pool");
                let (crowd, held) = (&Crowd::default(), &Mutex::new(HashSet::new()));
                thread::scope(|callers| {
                    for _ in 0..5 {
                        callers.spawn(|| {
                            for _ in 0..20 {
                                calls(pool, || {
                                    crowd.while_in(|| {
                                        let index = current_thread_index().expect("an index");
                                        assert!(index < threads);
                                        assert!(
                                            held.lock().unwrap().insert(index),
                                            "two threads have one index"
                                        );
                                        thread::sleep(Duration::from_micros(200));
                                        held.lock().unwrap().remove(&index);
                                    });
                                });
                            }
                        });
                    }
                });
                assert!(crowd.most() <= threads, "{} closures on {threads} threads", crowd.most());
            }
        }
    });
}

#[test]
fn the_global_pool_has_an_index_for_every_closure() {
    const TEST: &str = "external_threads::the_global_pool_has_an_index_for_every_closure";
    if plays("caller") {
        global_calls(|| assert_eq!(current_thread_index(), Some(0)));
        return;
    }
    good_child(TEST, "caller", &[("RAYON_NUM_THREADS", "1")]);
}

#[test]
fn the_global_pool_has_its_stacks_names_and_handlers_in_every_closure() {
    const TEST: &str = "external_threads::the_global_pool_has_its_stacks_names_and_handlers_in_every_closure";
    thread_local! {
        static PREPARED: Cell<bool> = const { Cell::new(false) };
    }
    if plays("caller") {
        ThreadPoolBuilder::new()
            .num_threads(2)
            .stack_size(64 << 20)
            .thread_name(|number| format!("mine-{number}"))
            .start_handler(|_| PREPARED.set(true))
            .build_global()
            .expect("the global pool");
        let ran = AtomicUsize::new(0);
        let run = || {
            assert!(PREPARED.get(), "the start handler has run in this thread");
            assert!(thread::current().name().is_some_and(|name| name.starts_with("mine-")));
            deep(8 << 10);
            add(&ran);
        };
        for _ in 0..50 {
            global_calls(run);
        }
        assert_eq!(ran.load(SeqCst), 50 * 14);
        return;
    }
    good_child(TEST, "caller", &[]);
}

#[test]
fn panics_of_a_call_handed_over_reach_the_caller() {
    within(LONG, || {
        let pool = &ThreadPoolBuilder::new().num_threads(2).caller_takes_part(false).build().expect("a pool");
        let left = payload(|| {
            Executor::join_context(&pool, |_| std::panic::panic_any("on purpose: left"), |_| ());
        });
        assert_eq!(message(left), "on purpose: left");
        let entered = payload(|| Executor::enter(&pool, || std::panic::panic_any("on purpose: entered")));
        assert_eq!(message(entered), "on purpose: entered");
        assert_eq!(Executor::join_context(&pool, |_| 1, |_| 2), (1, 2));
    });
}
