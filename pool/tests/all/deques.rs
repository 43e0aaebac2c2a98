//! Deques that suspend with their tasks: ProWS-R, step by step on one thread, and under load.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::detach::Suspend;
use furcate_pool::{
    Fairness, JoinHandle, ScopeHandle, Suspension, ThreadPool, ThreadPoolBuilder, WorkerStats, block_on,
};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// With one thread it measures wakes: a task has one word for its deque and the time of its wake.
fn with(threads: usize, suspension: Suspension) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads).suspension(suspension);
    builder.measure_wakes(threads == 1).build().expect("a pool")
}

/// Names of the jobs that ran, in order.
#[derive(Default)]
struct Log(Mutex<Vec<&'static str>>);

impl Log {
    fn add(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    fn read(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

/// Numbers of deque transitions: suspended, stolen from while suspended, stolen from while resumable, mugged.
fn transitions(pool: &ThreadPool) -> [u64; 4] {
    let WorkerStats { suspended_deques, steals_suspended, steals_resumable, mugs, .. } = pool.stats().total();
    [suspended_deques, steals_suspended, steals_resumable, mugs]
}

/// A task on a pool of one thread spawns these jobs, in this order, waits at the gate, and spawns no more. Returns the
/// names of the jobs that ran, and the transitions.
fn one_task(
    suspension: Suspension,
    jobs: impl for<'s> Fn(&ScopeHandle<'s>, &'s Log, &Arc<Gate>, &'s Mutex<Option<JoinHandle<()>>>)
    + Send
    + Sync
    + 'static,
) -> (Vec<&'static str>, [u64; 4]) {
    within(LONG, move || {
        let pool = with(1, suspension);
        let (log, gate, task) = (Log::default(), Arc::new(Gate::default()), Mutex::default());
        pool.scope(|s| {
            let (log, gate, jobs, handle) = (&log, &gate, &jobs, s.handle());
            let (slot, waits) = (&task, gate.wait_for());
            let spawned = s.spawn_future(async move {
                log.add("task");
                jobs(&handle, log, gate, slot);
                drop(handle);
                waits.await;
                log.add("resumed");
            });
            *slot.lock().unwrap() = Some(spawned);
        });
        settled(&pool);
        let total = pool.stats().total();
        assert_eq!(total.suspensions, 1);
        (log.read(), transitions(&pool))
    })
}

/// Checks that `run` gives these names of jobs and these transitions, in one of ten runs. If the only thread loses its
/// core for some milliseconds, queues are overdue, and the jobs run in another order.
#[track_caller]
fn gives(log: &[&'static str], transitions: [u64; 4], run: impl Fn() -> (Vec<&'static str>, [u64; 4])) {
    let mut given = run();
    for _ in 1..10 {
        if given.0 == log && given.1 == transitions {
            return;
        }
        given = run();
    }
    assert_eq!((&*given.0, given.1), (log, transitions));
}

/// A job that records its name.
fn named<'s>(handle: &ScopeHandle<'s>, log: &'s Log, name: &'static str) {
    drop(handle.spawn_future(async move { log.add(name) }));
}

#[test]
fn steal_before_mug() {
    // The oldest job is stolen, and wakes the task. The next oldest is stolen from the deque, which is resumable now.
    // Then the deque is mugged: the task goes on, and its remaining jobs come after it, the newest first.
    gives(&["task", "a", "b", "resumed", "d", "c"], [1, 1, 1, 1], || {
        one_task(Suspension::Proactive, |handle, log, gate, _| {
            let gate = Arc::clone(gate);
            drop(handle.spawn_future(async move {
                log.add("a");
                gate.open();
            }));
            ["b", "c", "d"].into_iter().for_each(|name| named(handle, log, name));
        })
    });
}

#[test]
fn a_parsimonious_worker_goes_on_with_its_deque() {
    gives(&["task", "c", "b", "a", "resumed"], [0; 4], || {
        one_task(Suspension::Parsimonious, |handle, log, gate, _| {
            ["a", "b"].into_iter().for_each(|name| named(handle, log, name));
            let gate = Arc::clone(gate);
            drop(handle.spawn_future(async move {
                log.add("c");
                gate.open();
            }));
        })
    });
}

#[test]
fn a_deque_that_was_found_empty_comes_back_with_its_task() {
    gives(&["task", "a", "resumed"], [1, 1, 1, 0], || {
        one_task(Suspension::Proactive, |handle, log, gate, _| {
            let gate = Arc::clone(gate);
            drop(handle.spawn_future(async move {
                log.add("a");
                gate.open();
            }));
        })
    });
}

#[test]
fn a_deque_with_nothing_else_in_it_is_not_suspended() {
    let (log, transitions) = one_task(Suspension::Proactive, |_, log, gate, _| {
        log.add("a");
        let gate = Arc::clone(gate);
        drop(thread::spawn(move || {
            until(|| gate.waiting() == 1);
            gate.open();
        }));
    });
    assert_eq!(log, ["task", "a", "resumed"]);
    assert_eq!(transitions, [0; 4]);
}

#[test]
fn what_a_cancelled_task_has_spawned_runs() {
    // W6: the task's deque is mugged without it.
    let (log, transitions) = one_task(Suspension::Proactive, |handle, log, _, task| {
        drop(handle.spawn_future(async move {
            log.add("a");
            task.lock().unwrap().take().unwrap().cancel();
        }));
        ["b", "c"].into_iter().for_each(|name| named(handle, log, name));
    });
    assert_eq!(log, ["task", "a", "c", "b"]);
    assert_eq!(transitions, [1, 1, 0, 1]);
}

#[test]
fn a_cancelled_task_that_has_nothing_else_frees_its_deque() {
    let (log, transitions) = one_task(Suspension::Proactive, |handle, log, _, task| {
        drop(handle.spawn_future(async move {
            log.add("a");
            task.lock().unwrap().take().unwrap().cancel();
        }));
    });
    assert_eq!(log, ["task", "a"]);
    assert_eq!(transitions, [1, 1, 0, 0]);
}

#[test]
fn a_task_that_was_woken_in_its_poll_keeps_its_deque() {
    within(LONG, || {
        let (pool, log) = (with(1, Suspension::Proactive), Log::default());
        pool.scope(|s| {
            let (handle, log) = (s.handle(), &log);
            drop(s.spawn_future(async move {
                named(&handle, log, "a");
                Restless(1).await;
                log.add("resumed");
            }));
        });
        assert_eq!(log.read(), ["a", "resumed"]);
        assert_eq!(transitions(&pool), [0; 4]);
        settled(&pool);
    });
}

#[test]
fn a_panic_drops_what_waits_with_a_deque() {
    within(LONG, || {
        let (pool, watch, gate) = (with(1, Suspension::Proactive), Watch::default(), Gate::default());
        let panic = payload(|| {
            pool.scope(|s| {
                let (handle, gate) = (s.handle(), &gate);
                drop(s.spawn_future(watch.on(async move {
                    drop(handle.spawn_future(async { std::panic::panic_any(7) }));
                    for _ in 0..3 {
                        drop(handle.spawn_future(async {}));
                    }
                    drop(handle);
                    gate.wait().await;
                })));
            });
        });
        assert_eq!(panic.downcast_ref(), Some(&7));
        watch.check(1);
        settled(&pool);
    });
}

#[test]
fn a_scope_decides_for_its_tasks() {
    within(LONG, || {
        let pool = with(1, Suspension::Proactive);
        let (log, gate) = (Log::default(), Arc::new(Gate::default()));
        pool.scope(|s| {
            s.set_suspension(Suspension::Parsimonious);
            let (handle, log, waits) = (s.handle(), &log, gate.wait_for());
            drop(s.spawn_future(async move {
                named(&handle, log, "a");
                let gate = Arc::clone(&gate);
                drop(handle.spawn_future(async move { gate.open() }));
                drop(handle);
                waits.await;
                log.add("resumed");
            }));
        });
        assert_eq!(log.read(), ["a", "resumed"]);
        assert_eq!(transitions(&pool), [0; 4]);
    });
}

/// A tree of tasks that wait for alarms before, between and after the tasks that they have spawned.
fn tree<'s>(
    depth: u32,
    seed: u64,
    alarm: &'s Alarm,
    ran: &'s AtomicUsize,
    handle: ScopeHandle<'s>,
) -> Pin<Box<dyn Future<Output = usize> + Send + 's>> {
    Box::pin(async move {
        ran.fetch_add(1, SeqCst);
        let mut random = Random(seed);
        let mut size = 1;
        if depth > 0 {
            let children: Vec<_> = (0..random.next() % 4)
                .map(|_| handle.spawn_future(tree(depth - 1, random.next(), alarm, ran, handle.clone())))
                .collect();
            if random.next() % 2 == 0 {
                alarm.future((random.next() % 3) as usize).await;
            }
            let (left, right) = (random.next(), random.next());
            let (left, right) = (
                tree(depth - 1, left, alarm, ran, handle.clone()),
                tree(depth - 1, right, alarm, ran, handle.clone()),
            );
            let (left, right) = handle.join_async(left, right).await;
            size += left + right;
            for (i, child) in children.into_iter().enumerate() {
                if i % 2 == 0 {
                    size += child.await;
                } else {
                    size += rested(child).await;
                }
            }
        } else {
            alarm.future((random.next() % 3) as usize).await;
        }
        size
    })
}

/// Awaits `child` after a wake of its own.
async fn rested(child: JoinHandle<usize>) -> usize {
    Restless(1).await;
    child.await
}

#[test]
fn everything_runs_once_under_every_policy() {
    // W6, W7: the states are checked at every transition (debug), the counts here.
    within(2 * LONG, || {
        let (mut suspended, mut mugged) = (0, 0);
        for seed in 0.. {
            // How many there are depends on the machine, too.
            if seed >= 20 && suspended > 100 && mugged > 10 {
                break;
            }
            for suspension in [Suspension::Proactive, Suspension::Parsimonious] {
                for threads in [1, 2, 4, 8] {
                    let (pool, alarm, ran) = (with(threads, suspension), Alarm::new(), AtomicUsize::new(0));
                    let size = pool.scope(|s| {
                        let root = s.spawn_future(tree(4, seed, &alarm, &ran, s.handle()));
                        block_on(root)
                    });
                    assert_eq!(size, ran.load(SeqCst), "{suspension:?}, {threads} threads, seed {seed}");
                    settled(&pool);
                    let [deques, _, _, mugs] = transitions(&pool);
                    let all = pool.stats();
                    let workers = all.workers.len() as u64;
                    assert!(all.deques.peak <= workers + deques, "{all:?}");
                    assert!(deques == 0 || suspension == Suspension::Proactive);
                    (suspended, mugged) = (suspended + deques, mugged + mugs);
                }
            }
        }
        println!("{suspended} deques suspended, {mugged} mugged");
    });
}

/// Runs one tree on the pool, with `block_on` inside the pool, or on the calling thread. Checks that every task runs
/// once.
fn grows(pool: &ThreadPool, seed: u64, from_within: bool) {
    let (alarm, ran) = (Alarm::new(), AtomicUsize::new(0));
    let size = if from_within {
        pool.scope(|s| block_on(s.spawn_future(tree(3, seed, &alarm, &ran, s.handle()))))
    } else {
        // The calling thread takes part, and runs tasks that the scope waits for.
        let size = Mutex::new(0);
        call(pool, |s| {
            let root = s.spawn_future(tree(3, seed, &alarm, &ran, s.handle()));
            start(s, root, |_, output, _| *size.lock().unwrap() = output);
        });
        size.into_inner().unwrap()
    };
    assert_eq!(size, ran.load(SeqCst), "seed {seed}");
    settled(pool);
}

#[test]
fn everything_runs_once_under_every_rule() {
    // Z7: also if each worker waits in its slot, or on top of other jobs; if all jobs are shared at once; and from
    // outside.
    within(2 * LONG, || {
        for rule in RULES {
            for ordinary in [false, true] {
                for threads in [1, 2, 8] {
                    let builder = ThreadPoolBuilder::new().num_threads(threads).wait_rule(rule);
                    let pool = if ordinary { builder.ordinary_fences() } else { builder }.build().unwrap();
                    for seed in 0..8 {
                        grows(&pool, seed, seed % 2 == 0);
                    }
                    // Several threads at once, none of them a worker of the pool.
                    thread::scope(|threads| {
                        for seed in 0..3 {
                            let pool = &pool;
                            threads.spawn(move || {
                                let (alarm, ran) = (Alarm::new(), AtomicUsize::new(0));
                                call(pool, |s| {
                                    drop(s.spawn_future(tree(3, seed, &alarm, &ran, s.handle())));
                                });
                                assert!(ran.load(SeqCst) > 0);
                            });
                        }
                    });
                    settled(&pool);
                }
            }
        }
    });
}

#[test]
fn the_thread_that_has_built_a_pool_grows_trees() {
    for rule in RULES {
        for threads in [1, 2, 3] {
            within(LONG, move || {
                let alive = Arc::default();
                {
                    let builder = ThreadPoolBuilder::new().num_threads(threads).wait_rule(rule);
                    let pool = builder.use_current_thread().build().unwrap();
                    for seed in 0..6 {
                        let (alarm, ran) = (Alarm::new(), AtomicUsize::new(0));
                        let size = furcate_pool::scope(|s| {
                            block_on(s.spawn_future(tree(3, seed, &alarm, &ran, s.handle())))
                        });
                        assert_eq!(size, ran.load(SeqCst), "{rule:?}, {threads} threads, seed {seed}");
                        settled(&pool);
                    }
                    for seed in 0..6 {
                        drop(furcate_pool::spawn_future(owned(4, seed, Arc::clone(&alive))));
                    }
                }
                // The pool has been dropped, and with it the suspended tasks.
                assert_eq!(alive.load(SeqCst), 0);
            });
        }
    }
}

/// Counts the values that are alive.
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        add(count);
        Alive(Arc::clone(count))
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[test]
fn trees_are_cancelled_while_they_run() {
    // W6, W9: tasks are dropped whose deques are suspended, resumable, or held by a thief.
    within(2 * LONG, || {
        let (mut cancelled, mut seeds) = (0, 0..30);
        // How many tasks wait when they are cancelled depends on the machine, too.
        while cancelled <= 100 {
            for rule in RULES {
                for (threads, measure) in [(1, true), (2, false), (2, true), (8, true)] {
                    let builder = ThreadPoolBuilder::new().num_threads(threads).wait_rule(rule);
                    // A task has one word for its deque and the time of its wake.
                    let pool = builder.measure_wakes(measure).build().expect("a pool");
                    for seed in seeds.clone() {
                        let (alarm, ran) = (Alarm::new(), AtomicUsize::new(0));
                        let alive = Arc::default();
                        thread::scope(|threads| {
                            pool.scope(|s| {
                                let guard = Alive::new(&alive);
                                let root = tree(4, seed, &alarm, &ran, s.handle());
                                let root = s.spawn_future(async move {
                                    let _guard = guard;
                                    root.await
                                });
                                let handle = s.handle();
                                threads.spawn(move || {
                                    thread::sleep(Duration::from_micros(seed % 30 * 40));
                                    if seed % 3 == 0 { root.cancel() } else { handle.cancel() }
                                });
                            });
                        });
                        assert_eq!(alive.load(SeqCst), 0);
                        settled(&pool);
                    }
                    cancelled += pool.stats().total().cancelled + pool.stats().outside.cancelled;
                }
            }
            seeds = seeds.end..seeds.end + 30;
        }
        println!("{cancelled} tasks cancelled");
    });
}

/// A tree that owns its data. It wakes itself, or waits for ever.
fn owned(depth: u32, seed: u64, alive: Arc<AtomicUsize>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let guard = Alive::new(&alive);
    Box::pin(async move {
        let _guard = guard;
        let mut random = Random(seed);
        let mut children = vec![];
        for _ in 0..random.below(4) * u64::from(depth.min(1)) {
            children.push(furcate_pool::spawn_future(owned(depth - 1, random.next(), Arc::clone(&alive))));
        }
        Restless(random.below(3) as usize).await;
        if random.below(8) == 0 {
            std::future::pending::<()>().await;
        }
        for child in children {
            if random.below(4) > 0 {
                child.await;
            }
        }
    })
}

#[test]
fn pools_are_dropped_while_trees_run() {
    // W15: suspended tasks are dropped, with their deques, and so are tasks that are spawned meanwhile.
    within(2 * LONG, || {
        for suspension in [Suspension::Proactive, Suspension::Parsimonious] {
            for threads in [1, 2, 8] {
                for seed in 0..30 {
                    let alive = Arc::default();
                    // Without a panic handler: a task that awaits a dropped task is dropped with it.
                    let pool = with(threads, suspension);
                    let handles: Vec<_> = (0..4)
                        .map(|i| pool.spawn_future(owned(4, 4 * seed + i, Arc::clone(&alive))))
                        .collect();
                    thread::sleep(Duration::from_micros(seed * 30));
                    drop(pool);
                    assert_eq!(alive.load(SeqCst), 0, "seed {seed}");
                    assert!(handles.iter().all(JoinHandle::is_finished));
                }
            }
        }
    });
}

#[test]
fn deques_wait_for_nobody() {
    // Thousands of deques, each with a job in it that is run at once.
    within(LONG, || {
        for threads in [1, 4] {
            let pool = with(threads, Suspension::Proactive);
            let (gate, ran) = (Gate::default(), AtomicUsize::new(0));
            const TASKS: usize = 2000;
            thread::scope(|threads| {
                threads.spawn(|| {
                    until(|| gate.waiting() == TASKS && ran.load(SeqCst) == 2 * TASKS);
                    gate.open();
                });
                pool.scope(|s| {
                    for _ in 0..TASKS {
                        let (handle, gate, ran) = (s.handle(), &gate, &ran);
                        drop(s.spawn_future(async move {
                            for _ in 0..2 {
                                drop(handle.spawn_future(async { add(ran) }));
                            }
                            drop(handle);
                            gate.wait().await;
                            add(ran);
                        }));
                    }
                });
            });
            assert_eq!(ran.load(SeqCst), 3 * TASKS);
            settled(&pool);
            assert!(transitions(&pool)[0] > 0);
        }
    });
}

#[test]
fn everything_runs_once_in_every_order_of_jobs() {
    within(2 * LONG, || {
        for fairness in [Fairness::Balanced, Fairness::WokenFirst, Fairness::FairQueueing] {
            for threads in [1, 2, 8] {
                let pool = ThreadPoolBuilder::new().num_threads(threads).fairness(fairness).build().unwrap();
                for seed in 0..8 {
                    grows(&pool, seed, seed % 2 == 0);
                }
            }
        }
    });
}
