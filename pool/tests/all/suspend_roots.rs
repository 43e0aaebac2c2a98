//! Calls whose tasks wait: from anywhere, on pools of any size, with other work on the pool meanwhile.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::detach::Suspend;
use furcate_pool::{Context, Scope, ThreadPool, WaitRule, Yield, join, yield_local, yield_now};
use std::future::{poll_fn, ready};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// A call with tasks that wait, some more than once.
fn one_call(pool: &ThreadPool, alarm: &Alarm) {
    let sum = AtomicUsize::new(0);
    call(pool, |scope| {
        for i in 0..20 {
            let sum = &sum;
            start(scope, alarm.future(i % 3), move |_, (), _| add_up(sum, i));
        }
    });
    assert_eq!(sum.into_inner(), 190);
}

/// A task that only waits for a gate.
fn wait<'s>(scope: &Scope<'s>, gate: &'s Gate) {
    start(scope, gate.wait(), |_, (), _| ());
}

fn with_all_rules(test: impl Fn(&ThreadPool) + Send + 'static) {
    within(LONG, move || {
        for rule in RULES {
            for threads in detached::SIZES {
                let pool = ruled(threads, rule);
                test(&pool);
                settled(&pool);
            }
        }
    });
}

#[test]
fn called_from_outside() {
    // W14; several threads at once.
    with_all_rules(|pool| {
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    let alarm = Alarm::new();
                    (0..30).for_each(|_| one_call(pool, &alarm));
                });
            }
        });
    });
}

#[test]
fn called_from_inside() {
    // W14: by jobs of the pool: on one thread the worker that waits is the only one.
    with_all_rules(|pool| {
        let alarm = Alarm::new();
        pool.install(|| {
            (0..20).for_each(|_| one_call(pool, &alarm));
            join(|| one_call(pool, &alarm), || join(|| one_call(pool, &alarm), || one_call(pool, &alarm)));
        });
        pool.scope(|s| (0..5).for_each(|_| s.spawn(|_| one_call(pool, &alarm))));
        pool.broadcast(|_| one_call(pool, &alarm));
    });
}

#[test]
fn called_from_another_pool() {
    // W14: both ways at once, so that each pool's threads wait for the other pool.
    with_all_rules(|pool| {
        let (other, alarm) = (crate::support::pool(2), Alarm::new());
        thread::scope(|threads| {
            threads.spawn(|| other.install(|| (0..10).for_each(|_| one_call(pool, &alarm))));
            threads.spawn(|| pool.install(|| (0..10).for_each(|_| one_call(&other, &alarm))));
        });
        settled(&other);
    });
}

#[test]
fn called_from_a_poll() {
    // W14, W5: a future's poll, and its continuation, make calls of the same pool and of another one.
    with_all_rules(|pool| {
        let (other, alarm, done) = (crate::support::pool(1), Alarm::new(), AtomicUsize::new(0));
        call(pool, |scope| {
            for _ in 0..8 {
                let mut timer = alarm.future(2);
                let (other, alarm) = (&other, &alarm);
                let future = poll_fn(move |context| {
                    one_call(pool, alarm);
                    one_call(other, alarm);
                    Pin::new(&mut timer).poll(context)
                });
                start(scope, future, |_, (), _| {
                    one_call(pool, alarm);
                    add(&done);
                });
            }
        });
        assert_eq!(done.into_inner(), 8);
    });
}

#[test]
fn a_call_waits_for_its_own_tasks_only() {
    // The inner call returns although tasks of the outer call and of a third call wait or are queued.
    with_all_rules(|pool| {
        let (outer, alarm, done) = (Gate::default(), Alarm::new(), AtomicUsize::new(0));
        call(pool, |scope| {
            for _ in 0..500 {
                start(scope, outer.wait(), |_, (), _| add(&done));
            }
            one_call(pool, &alarm);
            outer.open();
            one_call(pool, &alarm);
        });
        assert_eq!(done.into_inner(), 500);
    });
}

#[test]
fn one_slot_for_several_calls() {
    // Even if the scopes lie at the same address: no memory of an earlier one is used.
    with_all_rules(|pool| {
        let (alarm, done, other) = (Alarm::new(), AtomicUsize::new(0), crate::support::pool(1));
        let mut slot = Default::default();
        let resume = |_: &Scope<'_>, (), _| add(&done);
        for round in 0..20 {
            let on = if round % 5 == 0 { &other } else { pool };
            call(on, |scope| {
                // A ready future first, so that there is memory to be used again.
                for times in [0, 1, 0] {
                    let then = Then { resume, cancelled: None };
                    scope.handle().poll(&mut slot, alarm.future(times), || then);
                }
            });
        }
        assert_eq!(done.load(SeqCst), 20);
        settled(&other);
    });
}

#[test]
fn handles_keep_the_call() {
    // A handle elsewhere may suspend tasks. The call ends when the last handle is dropped.
    on_pools(|pool| {
        let (alarm, done) = (Alarm::new(), AtomicUsize::new(0));
        thread::scope(|threads| {
            let done = &done;
            call(pool, |scope| {
                let handle = scope.handle();
                let timer = alarm.future(1);
                threads.spawn(move || {
                    thread::sleep(Duration::from_millis(2));
                    let copy = handle.clone();
                    drop(handle);
                    let resume = |_: &Scope<'_>, (), _| add(done);
                    copy.poll(&mut Default::default(), ready(()), || unreachable_then(resume));
                    add(done);
                    copy.poll(&mut Default::default(), timer, || Then { resume, cancelled: None });
                });
            });
            assert_eq!(done.load(SeqCst), 2);
        });
    });
}

fn unreachable_then<'s, R>(_: R) -> Then<'s, R> {
    unreachable!("it is ready")
}

#[test]
fn suspended_outside_resumed_inside() {
    // Suspended by a thread that does not belong to the pool, and resumed by the pool.
    within(LONG, || {
        for threads in detached::SIZES {
            let pool = pool(threads);
            let (alarm, done) = (Alarm::new(), AtomicUsize::new(0));
            thread::scope(|others| {
                pool.in_place_scope(|scope| {
                    for _ in 0..10 {
                        let handle = scope.handle();
                        let (timer, done) = (alarm.future(3), &done);
                        others.spawn(move || {
                            let resume = |_: &Scope<'_>, (), context: Context| {
                                assert!(context.migrated() || furcate_pool::current_thread_index().is_some());
                                add(done);
                            };
                            let then = || Then { resume, cancelled: None };
                            assert!(handle.poll(&mut Default::default(), timer, then).is_none());
                        });
                    }
                });
            });
            assert_eq!(done.into_inner(), 10);
            assert_eq!(pool.stats().outside.suspensions, 10);
            settled(&pool);
        }
    });
}

#[test]
fn continuations_are_jobs_like_others() {
    // Continuations fork and spawn. Idle workers run these jobs, and the code after the await (W12).
    on_pools(|pool| {
        let (alarm, done) = (Alarm::new(), AtomicUsize::new(0));
        call(pool, |scope| {
            for _ in 0..10 {
                let done = &done;
                start(scope, alarm.future(1), move |scope: &Scope<'_>, (), _| {
                    join(|| add(done), || add(done));
                    scope.spawn(move |_| add(done));
                    yield_now();
                });
            }
        });
        assert_eq!(done.into_inner(), 30);
    });
}

#[test]
fn continuations_are_told_whether_they_migrated() {
    // Migrated: relative to the worker that was the last to find the future pending.
    on_pools(|pool| {
        let (alarm, migrated) = (Alarm::new(), [AtomicUsize::new(0), AtomicUsize::new(0)]);
        let migrated = &migrated;
        for _ in 0..20 {
            call(pool, |scope| {
                for times in 1..20 {
                    let (mut timer, mut last) = (alarm.future(times % 3 + 1), None);
                    let future = poll_fn(move |context| match Pin::new(&mut timer).poll(context) {
                        Poll::Ready(()) => Poll::Ready(last.take().expect("it was pending")),
                        Poll::Pending => {
                            last = Some(thread::current().id());
                            Poll::Pending
                        }
                    });
                    start(scope, future, |_, last, context: Context| {
                        assert_eq!(context.migrated(), last != thread::current().id());
                        add(&migrated[usize::from(context.migrated())]);
                    });
                }
            });
        }
        let [stayed, migrated] = migrated.each_ref().map(|count| count.load(SeqCst));
        assert_eq!(stayed + migrated, 20 * 19);
        assert!(stayed > 0, "all have migrated");
    });
}

#[test]
fn those_woken_at_once_are_resumed_by_all() {
    // W12: one thread wakes all tasks. Tasks that wait for each other must run at once.
    within(LONG, || {
        for threads in [2, 3, 8] {
            let pool = pool(threads);
            for _ in 0..10 {
                let (gate, here) = (Gate::default(), AtomicUsize::new(0));
                call(&pool, |scope| {
                    for _ in 0..threads {
                        start(scope, gate.wait(), |_, (), _| {
                            add(&here);
                            until(|| here.load(SeqCst) == threads);
                        });
                    }
                    gate.open();
                });
            }
            settled(&pool);
        }
    });
}

#[test]
fn no_wake_is_lost_however_long_they_slept() {
    // S1: while the pool's threads search, sleep for short times, are about to park, and are parked.
    within(LONG, || {
        thread::scope(|pools| {
            for (number, threads) in [1, 2, 3, 8].into_iter().enumerate() {
                pools.spawn(move || {
                    let pool = pool(threads);
                    let mut random = Random(number as u64);
                    let since = Instant::now();
                    while since.elapsed() < Duration::from_millis(1500) {
                        let gap = match random.below(10) {
                            0..3 => 0,
                            3..7 => random.below(120),
                            7..9 => random.below(2_000),
                            _ => 19_000 + random.below(11_000),
                        };
                        let inside = random.below(2) == 0;
                        let (gate, began) = (Gate::default(), Instant::now());
                        thread::scope(|others| {
                            others.spawn(|| {
                                until(|| gate.waiting() == 3);
                                thread::sleep(Duration::from_micros(gap));
                                gate.open();
                            });
                            let body = || {
                                call(&pool, |scope| {
                                    (0..3).for_each(|_| wait(scope, &gate));
                                });
                            };
                            if inside { pool.install(body) } else { body() }
                        });
                        assert!(began.elapsed() < LONG / 2, "a wake waits too long on {threads} threads");
                    }
                    settled(&pool);
                });
            }
        });
    });
}

#[test]
fn the_only_woken_task_is_found() {
    // S5: in whichever of 64 sets it lies.
    within(LONG, || {
        let pool = pool(64);
        for round in 0..100 {
            let gate = Gate::default();
            thread::scope(|others| {
                others.spawn(|| {
                    until(|| gate.waiting() == 1);
                    thread::sleep(Duration::from_millis(if round % 10 == 0 { 25 } else { 0 }));
                    gate.open();
                });
                call(&pool, |scope| wait(scope, &gate));
            });
        }
        settled(&pool);
    });
}

#[test]
fn other_jobs_run_while_tasks_wait() {
    // A thread that waits for its tasks is not lost to the pool, even if it is the only one.
    on_pools(|pool| {
        let gate = Gate::default();
        thread::scope(|others| {
            others.spawn(|| {
                until(|| gate.waiting() == 1);
                assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
                gate.open();
            });
            pool.install(|| call(pool, |scope| wait(scope, &gate)));
        });
    });
}

#[test]
fn restless_tasks_let_others_run() {
    // Tasks wake themselves until another task, and jobs from outside, have run on the pool's threads, and not on the
    // caller. (The caller does not count the tasks that it suspends.)
    within(LONG, || {
        for threads in detached::SIZES {
            let pool = pool(threads);
            let (flags, polls) = ([Flag::default(), Flag::default(), Flag::default()], AtomicUsize::new(0));
            thread::scope(|others| {
                let (pool, flags, polls) = (&pool, &flags, &polls);
                others.spawn(|| {
                    until(|| polls.load(SeqCst) > 10);
                    pool.install(|| flags[1].set());
                    pool.in_place_scope(|s| s.spawn(|_| flags[2].set()));
                });
                pool.in_place_scope(|scope| {
                    for _ in 0..2 * threads {
                        let future = poll_fn(move |context| {
                            add(polls);
                            if flags.iter().all(Flag::is_set) {
                                return Poll::Ready(());
                            }
                            context.waker().wake_by_ref();
                            Poll::Pending
                        });
                        start(scope, future, |_, (), _| ());
                    }
                    start(scope, Restless(1), |_, (), _| flags[0].set());
                });
            });
        }
    });
}

#[test]
#[cfg(unix)]
fn a_pool_whose_tasks_all_wait_costs_nothing() {
    // S4: for any caller, and any wait rule of its thread.
    const TEST: &str = "suspend_roots::a_pool_whose_tasks_all_wait_costs_nothing";
    const LIMIT: Duration = Duration::from_millis(60);
    if plays("waiter") {
        let gate = Gate::default();
        let pools: Vec<_> = RULES.into_iter().flat_map(|rule| [1, 4].map(|n| ruled(n, rule))).collect();
        thread::scope(|threads| {
            for pool in &pools {
                let body = || {
                    call(pool, |scope| (0..100).for_each(|_| wait(scope, &gate)));
                };
                threads.spawn(body);
                threads.spawn(move || pool.install(body));
            }
            until(|| gate.waiting() == pools.len() * 200);
            thread::sleep(Duration::from_millis(300));
            let used = least_processor_time(Duration::from_secs(1), LIMIT);
            gate.open();
            println!("{used:?} of processor time");
            assert!(used < LIMIT, "all wait for 1 s, {used:?} of processor time");
        });
        return;
    }
    good_child(TEST, "waiter", &[]);
}

#[test]
fn a_wake_reaches_a_thread_that_sleeps() {
    // S1: the only thread waits in its slot, and has looked for work less and less often.
    within(LONG, || {
        for rule in [WaitRule::Leapfrog, WaitRule::Any] {
            let pool = ruled(1, rule);
            for _ in 0..12 {
                let gate = Gate::default();
                thread::scope(|others| {
                    others.spawn(|| {
                        until(|| gate.waiting() == 1);
                        thread::sleep(Duration::from_millis(40));
                        gate.open();
                    });
                    pool.install(|| call(&pool, |scope| wait(scope, &gate)));
                });
            }
        }
    });
}

#[test]
fn pools_end_while_wakers_are_left() {
    // W3, W15: pools are made, used and dropped in turn, while a thread wakes the remaining wakers of all of them.
    within(LONG, || {
        let (gates, ended) = (Mutex::new(Vec::<Waker>::new()), Flag::default());
        thread::scope(|others| {
            others.spawn(|| {
                while !ended.is_set() {
                    let wakers = gates.lock().unwrap().clone();
                    wakers.into_iter().for_each(Waker::wake);
                    thread::yield_now();
                }
            });
            for round in 0..60 {
                let (pool, gates) = (pool(1 + round % 3), &gates);
                call(&pool, |scope| {
                    for _ in 0..4 {
                        let mut left = 2;
                        let future = poll_fn(move |context| {
                            gates.lock().unwrap().push(context.waker().clone());
                            left -= 1;
                            if left == 0 { Poll::Ready(()) } else { Poll::Pending }
                        });
                        start(scope, future, |_, (), _| ());
                    }
                });
                settled(&pool);
                drop(pool);
                if round % 8 == 7 {
                    gates.lock().unwrap().clear();
                }
            }
            ended.set();
        });
    });
}

#[test]
fn who_yields_to_its_own_jobs_runs_none_that_others_have_woken() {
    within(LONG, || {
        let runs_it_by_yield_now = |_: u32| {
            let (pool, gate, executed) = (pool(1), Gate::default(), Flag::default());
            pool.scope(|s| {
                let (gate, executed) = (&gate, &executed);
                s.spawn(move |_| {
                    until(|| gate.waiting() == 1);
                    gate.open();
                    assert_eq!(yield_local(), Some(Yield::Idle));
                    if yield_now() == Some(Yield::Executed) {
                        executed.set();
                    }
                });
                // The newest runs first.
                drop(s.spawn_future(gate.wait()));
            });
            settled(&pool);
            executed.is_set()
        };
        // If the worker loses its core for some milliseconds after the wake, another worker may run the task.
        assert!((0..10).any(runs_it_by_yield_now), "the woken task was never there to be run");
    });
}
