//! Tasks whose polls block, fork, spawn or yield: scopes, `block_on`, calls of other pools.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::detach::Suspend;
use furcate_pool::{
    ScopeHandle, Suspension, ThreadPool, ThreadPoolBuilder, block_on, join, scope, yield_local, yield_now,
};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// Data that all tasks of a test use.
struct World {
    alarm: Alarm,
    begun: AtomicUsize,
    ended: AtomicUsize,
    /// Number of tasks that are begun before one panics.
    panics_at: usize,
    other: ThreadPool,
}

impl World {
    fn new() -> Self {
        let [begun, ended] = Default::default();
        World { alarm: Alarm::new(), begun, ended, panics_at: usize::MAX, other: pool(1) }
    }

    #[track_caller]
    fn check(&self) {
        assert_eq!(self.begun.load(SeqCst), self.ended.load(SeqCst));
        assert!(self.begun.load(SeqCst) > 0);
        settled(&self.other);
    }
}

type Task<'s> = Pin<Box<dyn Future<Output = ()> + Send + 's>>;

/// A task that does some of these things.
fn mixed<'s>(depth: u32, seed: u64, world: &'s World, handle: ScopeHandle<'s>) -> Task<'s> {
    Box::pin(async move {
        if world.begun.fetch_add(1, SeqCst) == world.panics_at {
            panic_any(world.panics_at);
        }
        let mut random = Random(seed);
        for _ in 0..3 {
            let next = random.next();
            let deeper = |next: u64| mixed(depth - 1, next, world, handle.clone());
            match random.below(if depth > 0 { 12 } else { 4 }) {
                0 => world.alarm.future(1).await,
                1 => Restless(2).await,
                2 => {
                    yield_now();
                    yield_local();
                }
                3 => drop(join(|| block_on(world.alarm.timer(1)), || block_on(Restless(1)))),
                4 => drop(handle.spawn_future(deeper(next))),
                5 => handle.spawn_future(deeper(next)).await,
                6 => drop(handle.join_async(deeper(next), deeper(next / 2)).await),
                7 => block_on(deeper(next)),
                8 => scope(|inner| {
                    for i in 0..2 {
                        drop(inner.spawn_future(mixed(depth - 1, next + i, world, inner.handle())));
                    }
                    inner.spawn(|_| {
                        yield_local();
                    });
                }),
                9 => block_on(handle.spawn_future(deeper(next))),
                10 => world.other.install(|| {
                    scope(|inner| drop(inner.spawn_future(mixed(depth - 1, next, world, inner.handle()))));
                }),
                _ => drop(join(
                    || scope(|inner| block_on(mixed(depth - 1, next, world, inner.handle()))),
                    || block_on(deeper(next / 3)),
                )),
            }
        }
        add(&world.ended);
    })
}

fn pools(mut test: impl FnMut(&ThreadPool, u64)) {
    let mut seed = 0;
    for rule in RULES {
        for suspension in [Suspension::Proactive, Suspension::Parsimonious] {
            for threads in [1, 2, 8] {
                let builder = ThreadPoolBuilder::new().num_threads(threads).wait_rule(rule);
                let pool = builder.suspension(suspension).build().unwrap();
                for _ in 0..6 {
                    seed += 1;
                    test(&pool, seed);
                    settled(&pool);
                }
            }
        }
    }
}

#[test]
fn whatever_tasks_do_they_come_to_their_end() {
    within(2 * LONG, || {
        pools(|pool, seed| {
            let world = World::new();
            if seed % 2 == 0 {
                pool.scope(|s| drop(s.spawn_future(mixed(3, seed, &world, s.handle()))));
            } else {
                call(pool, |s| drop(s.spawn_future(mixed(3, seed, &world, s.handle()))));
            }
            world.check();
        });
    });
}

#[test]
fn they_are_cancelled_in_the_midst_of_it() {
    within(2 * LONG, || {
        pools(|pool, seed| {
            let world = World::new();
            thread::scope(|threads| {
                pool.scope(|s| {
                    drop(s.spawn_future(mixed(3, seed, &world, s.handle())));
                    let handle = s.handle();
                    threads.spawn(move || {
                        thread::sleep(Duration::from_micros(seed % 10 * 50));
                        handle.cancel();
                    });
                });
            });
            settled(&world.other);
        });
    });
}

#[test]
fn a_panic_in_the_midst_of_it_is_raised() {
    within(2 * LONG, || {
        quiet_panics();
        let mut raised = 0;
        pools(|pool, seed| {
            let world = World { panics_at: (seed % 20) as usize, ..World::new() };
            let end = catch_unwind(AssertUnwindSafe(|| {
                pool.scope(|s| drop(s.spawn_future(mixed(3, seed, &world, s.handle()))));
            }));
            // A task that awaits a panicked task panics with "the future was dropped", perhaps before its scope raises
            // the panic.
            raised += usize::from(end.is_err());
            assert_eq!(end.is_err(), world.begun.load(SeqCst) > world.panics_at);
            settled(&world.other);
        });
        assert!(raised > 10, "{raised}: nothing to test");
    });
}
