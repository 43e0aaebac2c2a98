//! Calls of a priority.

use crate::support::suspended::Gate;
use crate::support::{Flag, LONG, add, pool, spin, take_part, until, within};
use furcate_pool::Priority::{Background, Normal, Urgent};
use furcate_pool::{
    Priority, ThreadPool, block_on, current_priority, join, scope, spawn, spawn_future, with_priority,
};
use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

/// Forks until `ends`, with leaves of some 100 us.
fn forks(leaves: &AtomicUsize, ends: &AtomicBool) {
    fn tree(depth: u32, leaves: &AtomicUsize) {
        if depth == 0 {
            add(leaves);
            return spin(Duration::from_micros(100));
        }
        join(|| tree(depth - 1, leaves), || tree(depth - 1, leaves));
    }
    while !ends.load(SeqCst) {
        tree(4, leaves);
    }
}

/// Calls `f` while another thread's call of that priority keeps all of a pool's threads busy. `f` gets the number of leaves that have begun.
fn beside(priority: Priority, threads: usize, f: impl FnOnce(&ThreadPool, &AtomicUsize)) {
    let (pool, leaves, ends) = (pool(threads), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|callers| {
        for _ in 0..threads {
            callers.spawn(|| with_priority(priority, || pool.install(|| forks(&leaves, &ends))));
        }
        until(|| leaves.load(SeqCst) > 20);
        f(&pool, &leaves);
        ends.store(true, SeqCst);
    });
}

#[test]
fn all_that_a_call_starts_has_its_priority() {
    within(LONG, || {
        let pool = pool(2);
        for priority in Priority::ALL {
            let check = move || assert_eq!(current_priority(), priority);
            let forked = move || {
                // The right half may be stolen.
                for _ in 0..100 {
                    join(|| spin(Duration::from_micros(20)), check);
                }
                scope(|s| (0..10).for_each(|_| s.spawn(move |_| check())));
            };
            with_priority(priority, || {
                check();
                pool.install(forked);
                pool.scope(|s| s.spawn(|_| forked()));
                pool.install(|| with_priority(Normal, || assert_eq!(current_priority(), Normal)));
                let task = async move {
                    check();
                    block_on(async move { spawn_future(async move { check() }).await });
                };
                block_on(pool.spawn_future(task));
                let ran = Arc::new(Flag::default());
                let runs = Arc::clone(&ran);
                pool.spawn(move || {
                    check();
                    spawn(move || {
                        check();
                        runs.set();
                    });
                });
                ran.wait();
            });
            assert_eq!(current_priority(), Normal);
            assert_eq!(pool.install(current_priority), Normal);
            let panics = || with_priority(priority, || pool.install(|| panic!("on purpose")));
            assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
            assert_eq!(current_priority(), Normal);
        }
    });
}

/// An urgent call from outside waits for the end of a leaf, and no turn of a millisecond, which is ten leaves.
#[test]
fn an_urgent_call_waits_for_no_turn() {
    within(LONG, || {
        for other in [Background, Normal] {
            beside(other, 2, |pool, leaves| {
                let waits_for_leaves = || {
                    let before = leaves.load(SeqCst);
                    with_priority(Urgent, || pool.install(|| leaves.load(SeqCst) - before))
                };
                assert!((0..1_000).any(|_| waits_for_leaves() <= 4));
            });
        }
        // So does a normal one beside background work.
        beside(Background, 2, |pool, leaves| {
            let waits_for_leaves = || {
                let before = leaves.load(SeqCst);
                pool.install(|| leaves.load(SeqCst) - before)
            };
            assert!((0..1_000).any(|_| waits_for_leaves() <= 4));
        });
    });
}

/// An urgent job, and a task, on a pool whose threads do not come back to their queues.
#[test]
fn urgent_jobs_begin_in_the_middle_of_other_calls() {
    within(LONG, || {
        beside(Normal, 2, |pool, leaves| {
            let waits_for_leaves = |spawns: &dyn Fn(Arc<Flag>)| {
                let (before, begun) = (leaves.load(SeqCst), Arc::new(Flag::default()));
                with_priority(Urgent, || spawns(Arc::clone(&begun)));
                begun.wait();
                leaves.load(SeqCst) - before
            };
            let job = |begun: Arc<Flag>| pool.spawn(move || begun.set());
            assert!((0..1_000).any(|_| waits_for_leaves(&job) <= 12));
            let task = |begun: Arc<Flag>| drop(pool.spawn_future(async move { begun.set() }));
            assert!((0..1_000).any(|_| waits_for_leaves(&task) <= 12));
        });
    });
}

/// One thread, which is held until all is queued, tells the order of the jobs.
fn order(jobs: impl IntoIterator<Item = Priority>) -> Vec<Priority> {
    let (pool, open, order) = (pool(1), Arc::new(Flag::default()), Arc::new(Mutex::new(Vec::new())));
    let opens = Arc::clone(&open);
    pool.spawn(move || opens.wait());
    let mut count = 0;
    for priority in jobs {
        let order = Arc::clone(&order);
        with_priority(priority, || pool.spawn(move || order.lock().unwrap().push(priority)));
        count += 1;
    }
    open.set();
    until(|| order.lock().unwrap().len() == count);
    Arc::try_unwrap(order).unwrap().into_inner().unwrap()
}

#[test]
fn queued_jobs_begin_by_priority() {
    within(LONG, || {
        let sorted: Vec<_> = [Urgent, Normal, Background].into_iter().flat_map(|it| vec![it; 100]).collect();
        // If it takes long to queue the jobs, another thread stands in for the held one.
        assert!((0..100).any(|_| order((0..300).map(|n| Priority::ALL[n % 3])) == sorted));
    });
}

/// Spawns itself again and again, until the flag is set.
fn again(ends: Arc<Flag>) {
    if !ends.is_set() {
        spawn(move || again(ends));
    }
}

#[test]
fn background_jobs_do_not_starve() {
    within(LONG, || {
        // Jobs that spawn again and again; and a call that never comes back to the queues.
        let (first, ends) = (pool(1), Arc::new(Flag::default()));
        let jobs_end = Arc::clone(&ends);
        first.spawn(move || again(jobs_end));
        with_priority(Background, || first.spawn(move || ends.set()));
        beside(Normal, 2, |pool, _| {
            let ran = Arc::new(Flag::default());
            let runs = Arc::clone(&ran);
            with_priority(Background, || pool.spawn(move || runs.set()));
            ran.wait();
            with_priority(Background, || pool.install(|| ()));
            with_priority(Background, || block_on(pool.spawn_future(async {})));
        });
        drop(first);
    });
}

/// A task that is woken in each of its polls, until the flag is set.
async fn wakes_itself(until: Arc<Flag>) {
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if until.is_set() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// On one thread, a task that is queued again and again is of the same priority as the other work, or of more.
#[test]
fn work_of_less_priority_does_not_starve_beside_tasks_that_wake_themselves() {
    within(LONG, || {
        for (first, second) in
            [(Urgent, Normal), (Urgent, Background), (Normal, Background), (Background, Background)]
        {
            let (pool, ends) = (pool(1), Arc::new(Flag::default()));
            let task = with_priority(first, || pool.spawn_future(wakes_itself(Arc::clone(&ends))));
            with_priority(second, || pool.spawn(move || ends.set()));
            block_on(task);
        }
    });
}

/// A queued job of normal priority does not wait for background calls that come one after the other.
#[test]
fn background_calls_give_way_to_queued_jobs() {
    within(LONG, || {
        let (pool, ends, calls) = (pool(1), AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|callers| {
            for _ in 0..3 {
                callers.spawn(|| {
                    while !ends.load(SeqCst) {
                        with_priority(Background, || pool.install(|| spin(Duration::from_millis(1))));
                        add(&calls);
                    }
                });
            }
            until(|| calls.load(SeqCst) > 3);
            for _ in 0..20 {
                let ran = Arc::new(Flag::default());
                let runs = Arc::clone(&ran);
                pool.spawn(move || runs.set());
                ran.wait();
            }
            ends.store(true, SeqCst);
        });
    });
}

/// A thief that steals the right half while the left one is in a call of another priority.
#[test]
fn a_call_does_not_change_the_priority_of_older_forks() {
    within(LONG, || {
        let pool = pool(2);
        for priority in [Background, Urgent] {
            let stolen = || {
                let (begun, seen) = (Flag::default(), Mutex::new(None));
                pool.install(|| {
                    let left = || {
                        with_priority(priority, || {
                            // Forks, so that the worker shares what it has.
                            until(|| {
                                join(|| (), || ());
                                begun.is_set()
                            });
                        })
                    };
                    let right = || {
                        *seen.lock().unwrap() = Some(current_priority());
                        begun.set();
                    };
                    join(left, right);
                });
                seen.into_inner().unwrap().unwrap()
            };
            // The thief takes a hint, which is outdated if it is preempted just then.
            let right = (0..20).filter(|_| stolen() == Normal).count();
            assert!(right > 10, "{right} of 20");
        }
    });
}

/// A worker that waits for a scope finds the scope's background tasks, though many others are queued.
#[test]
fn a_background_scope_ends_beside_other_background_work() {
    within(LONG, || {
        for threads in [1, 2] {
            let pool = pool(threads);
            let ran = Arc::new(AtomicUsize::new(0));
            with_priority(Background, || {
                for _ in 0..1_000 {
                    let ran = Arc::clone(&ran);
                    pool.spawn(move || add(&ran));
                }
                pool.scope(|s| {
                    let tasks: Vec<_> = (0..100)
                        .map(|n| {
                            s.spawn_future(async move {
                                // Woken once.
                                let mut pending = true;
                                poll_fn(|context| {
                                    context.waker().wake_by_ref();
                                    if mem::take(&mut pending) { Poll::Pending } else { Poll::Ready(()) }
                                })
                                .await;
                                n
                            })
                        })
                        .collect();
                    let sum: usize = tasks.into_iter().map(block_on).sum();
                    assert_eq!(sum, 4950);
                });
            });
            until(|| ran.load(SeqCst) == 1_000);
        }
    });
}

/// Starts work of each priority and kind, one after the other, which has to begin. Jobs for a certain thread only if the threads come back to their queues.
fn every_kind_begins(pool: &ThreadPool, of_threads: bool) {
    for priority in Priority::ALL {
        with_priority(priority, || {
            for kind in 0..5 {
                let ran = Arc::new(Flag::default());
                let runs = Arc::clone(&ran);
                match kind {
                    0 => pool.spawn(move || runs.set()),
                    1 => drop(pool.spawn_future(async move { runs.set() })),
                    2 => _ = take_part(pool, || (), || runs.set()),
                    3 if of_threads => pool.spawn_on(0, move || runs.set()),
                    4 if of_threads => _ = pool.broadcast(|_| runs.set()),
                    _ => runs.set(),
                }
                ran.wait();
            }
        });
    }
}

#[test]
fn an_urgent_job_that_spawns_itself_again_and_again_starves_nothing() {
    within(LONG, || {
        for threads in [1, 2] {
            let (pool, ends) = (pool(threads), Arc::new(Flag::default()));
            for _ in 0..threads {
                let ends = Arc::clone(&ends);
                with_priority(Urgent, || pool.spawn(move || again(ends)));
            }
            every_kind_begins(&pool, true);
            ends.set();
        }
    });
}

#[test]
fn urgent_calls_that_keep_all_threads_busy_starve_nothing() {
    within(LONG, || {
        beside(Urgent, 2, |pool, _| every_kind_begins(pool, false));
        // Calls that come one after the other, so that one always waits.
        let (pool, ends) = (pool(1), AtomicBool::new(false));
        thread::scope(|callers| {
            for _ in 0..4 {
                callers.spawn(|| {
                    while !ends.load(SeqCst) {
                        with_priority(Urgent, || {
                            take_part(&pool, || spin(Duration::from_micros(100)), || ())
                        });
                    }
                });
            }
            every_kind_begins(&pool, true);
            ends.store(true, SeqCst);
        });
    });
}

/// A computation gives its slot for all queued jobs of more priority, and not for a turn of them after each of its leaves.
#[test]
fn urgent_jobs_run_one_after_the_other() {
    within(LONG, || {
        beside(Normal, 1, |pool, leaves| {
            let leaves_between = || {
                let (before, left) = (leaves.load(SeqCst), Arc::new(AtomicUsize::new(100)));
                for _ in 0..100 {
                    let left = Arc::clone(&left);
                    let job = move || {
                        spin(Duration::from_micros(100));
                        left.fetch_sub(1, SeqCst);
                    };
                    with_priority(Urgent, || pool.spawn(job));
                }
                until(|| left.load(SeqCst) == 0);
                leaves.load(SeqCst) - before
            };
            assert!((0..100).any(|_| leaves_between() <= 6));
        });
    });
}

/// A worker in a long leaf lends its slot to woken tasks. Tasks of less priority than the leaf's job get no loan.
#[test]
fn an_urgent_job_lends_its_slot_to_urgent_tasks_only() {
    within(LONG, || {
        for (leaf, task) in [(Background, Normal), (Normal, Normal), (Urgent, Urgent), (Urgent, Normal)] {
            let (pool, gate, ran) = (pool(1), Arc::new(Gate::default()), Arc::new(Flag::default()));
            let (opens, runs) = (gate.wait_for(), Arc::clone(&ran));
            let future = async move {
                opens.await;
                runs.set();
            };
            with_priority(task, || drop(pool.spawn_future(future)));
            until(|| gate.waiting() == 1);
            let is_kept = leaf == Urgent && task == Normal;
            let leaf_of_call = || {
                gate.open();
                // A loan is made after some milliseconds.
                let since = Instant::now();
                while !(ran.is_set() || is_kept && since.elapsed() >= Duration::from_millis(80)) {
                    spin(Duration::from_micros(100));
                }
                ran.is_set()
            };
            let runs_meanwhile = with_priority(leaf, || pool.install(leaf_of_call));
            assert_eq!(runs_meanwhile, !is_kept, "a leaf of priority {leaf:?}, a task of priority {task:?}");
        }
    });
}

/// Also one in which the caller would take part in the pool.
#[test]
fn an_urgent_call_from_outside_begins_beside_a_long_leaf() {
    within(LONG, || {
        let (pool, in_leaf, begun) = (pool(1), Flag::default(), Flag::default());
        let leaf = || {
            in_leaf.set();
            while !begun.is_set() {
                spin(Duration::from_micros(100));
            }
        };
        thread::scope(|callers| {
            callers.spawn(|| pool.install(leaf));
            in_leaf.wait();
            with_priority(Urgent, || take_part(&pool, || begun.set(), || ()));
        });
    });
}
