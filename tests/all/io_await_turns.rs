//! Waits beside computations that keep all workers busy, and the forks around a leaf that waits.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{after, assert_settled, pool};
use furcate::prelude::*;
use furcate::{Fairness, Suspension, ThreadPool, ThreadPoolBuilder};
use futures_lite::future::yield_now;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};
use testkit::spin;
use testkit::time::until;

const WAITS: usize = 5;

/// Two threads call `compute` again and again, and a chain waits for 5 ms, `WAITS` times. Returns for each of these waits
/// how many calls of `compute` ended while it lasted.
fn calls_that_end_in_waits(pool: &ThreadPool, compute: impl Fn() + Sync) -> [usize; WAITS] {
    let (over, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                while !over.load(SeqCst) {
                    compute();
                    calls.fetch_add(1, SeqCst);
                }
            });
        }
        thread::sleep(Duration::from_millis(50));
        let ended = [(); WAITS].map(|()| {
            let before = calls.load(SeqCst);
            let count = (0..1).into_par_iter().map(|_| after(5)).io_await().on(pool).count();
            assert_eq!(count, 1);
            calls.load(SeqCst) - before
        });
        over.store(true, SeqCst);
        ended
    })
}

fn five_microseconds() {
    let since = Instant::now();
    while since.elapsed() < Duration::from_micros(5) {}
}

/// Each call computes for half a second on a pool of two threads, in leaves of half a millisecond. The ends of leaves are
/// cooperative points, so most waits begin and end within the same calls.
#[test]
fn a_short_wait_beside_calls_that_compute() {
    let undisturbed = || {
        let pool = pool(2);
        let ended = calls_that_end_in_waits(&pool, || {
            (0..100_000_u64).into_par_iter().size_limit(100).on(&pool).for_each(|_| five_microseconds());
        });
        println!("so many calls ended while each wait lasted: {ended:?}");
        ended.iter().filter(|&&ended| ended == 0).count()
    };
    // On a busy machine a waiting thread may be without a core while calls end.
    assert!((0..10).any(|_| undisturbed() > WAITS / 2), "most waits outlast calls in every try");
}

/// Calls with long leaves (an eighth of a second with the default policy) delay a wait until some leaf ends, but no wait
/// has to come after all calls.
#[test]
fn a_short_wait_beside_calls_with_long_leaves() {
    let pool = pool(2);
    let ended = calls_that_end_in_waits(&pool, || {
        (0..100_000_u64).into_par_iter().on(&pool).for_each(|_| five_microseconds());
    });
    assert!(ended.iter().all(|&ended| ended <= 4), "so many calls ended while each wait lasted: {ended:?}");
}

/// Each of 256 items, in 64 leaves, waits until all have begun: also on one worker, whatever the policy.
///
/// Parsimonious: the worker goes on with the leaf's next item, so no deque is suspended. Proactive, as in ProWS-R: the rest of the leaf, and
/// the parts that the worker has divided off, are suspended with the item, stolen from its deque, and mugged with it.
#[test]
fn what_a_pending_item_leaves_goes_with_it_or_not() {
    const ITEMS: usize = 256;
    const DEPTH: u32 = 6;
    for (suspension, threads) in [Suspension::Parsimonious, Suspension::Proactive]
        .into_iter()
        .flat_map(|it| [1, 2, 3, 8].map(|p| (it, p)))
    {
        let pool = ThreadPoolBuilder::new().num_threads(threads).suspension(suspension).build().unwrap();
        let begun = AtomicUsize::new(0);
        let sum = (0..ITEMS)
            .into_par_iter()
            .force_depth(DEPTH)
            .map(|x| {
                let begun = &begun;
                async move {
                    begun.fetch_add(1, SeqCst);
                    while begun.load(SeqCst) < ITEMS {
                        after(5).await;
                    }
                    // A late worker would find the timer over, and the last future ready at once.
                    yield_now().await;
                    after(1).await;
                    x
                }
            })
            .io_await()
            .map(|x| furcate::join(|| x, || 1).0) // forks of its own, after the wait
            .on(&pool)
            .sum::<usize>();
        assert_eq!(sum, ITEMS * (ITEMS - 1) / 2);
        let stats = pool.stats();
        let total = stats.total();
        assert_eq!((total.suspensions, total.resumes), (ITEMS as u64, ITEMS as u64));
        let (p, m) = (threads as u64, ITEMS as u64);
        let moved = [total.suspended_deques, total.steals_suspended, total.steals_resumable, total.mugs];
        if suspension == Suspension::Proactive {
            // Every item but the last of each leaf leaves a rest. (An item that is woken before it is suspended leaves it to its worker.)
            let rests = m - (1 << DEPTH);
            assert!(total.suspended_deques >= rests / 2, "{total:?}");
            // No deque is suspended empty. Its jobs are stolen, or mugged with the deque.
            let found = total.steals_suspended + total.steals_resumable + total.mugs;
            assert!(found >= total.suspended_deques, "{total:?}");
        } else {
            assert!(total.forks as usize >= (1 << DEPTH) - 1, "it was divided: {total:?}");
            assert_eq!(moved, [0; 4], "no deque was suspended");
            assert_eq!(stats.deques.peak, stats.workers.len() as u64, "one deque for each worker");
        }
        // The theory: O((P lg P + m) T∞) deviations, with m unordered waits, and T∞ a path through the divisions and a leaf.
        let span = u64::from(DEPTH) + (m >> DEPTH);
        let allowed = (p * u64::from(p.next_power_of_two().ilog2() + 1) + m) * span;
        assert!(total.deviations() <= allowed, "{} deviations, {allowed} allowed", total.deviations());
        assert_eq!(stats.deques.live(), stats.workers.len() as u64, "deques are given back");
        assert_settled(&pool);
    }
}

/// Woken tasks keep all workers busy, each of them for a millisecond and a half. A worker that returns to its main loop
/// after such a task serves the queue there. It releases its slot to no other thread, because a core would be idle for
/// a moment.
#[test]
fn workers_that_come_back_soon_give_no_slots_away() {
    const ITEMS: usize = 300;
    let compute = |x: usize| {
        let since = Instant::now();
        while since.elapsed() < Duration::from_micros(750) {}
        // A fork is a cooperative point.
        furcate::join(|| (), || ());
        while since.elapsed() < Duration::from_micros(1500) {}
        x
    };
    // Returns the number of slots that were given while the tasks ran.
    let run = || {
        let pool = pool(2);
        let sum: usize = (0..ITEMS)
            .into_par_iter()
            .map(|x| async move {
                after(5).await;
                x
            })
            .io_await()
            .map(compute)
            .on(&pool)
            .sum();
        assert_eq!(sum, ITEMS * (ITEMS - 1) / 2);
        assert_settled(&pool);
        pool.stats().total().slots_given
    };
    // On a busy machine a worker that is without a core does not come back soon.
    let are_few = (0..10).any(|_| run() < ITEMS as u64 / 10);
    assert!(are_few, "many slots were given while {ITEMS} tasks ran, in every try");
}

/// Runs so many tasks at once, each of which computes for 30 ms.
fn run_long_tasks(pool: &ThreadPool, count: usize) {
    let compute = |()| {
        for _ in 0..300 {
            spin(Duration::from_micros(100));
            // A fork is a cooperative point.
            furcate::join(|| (), || ());
        }
    };
    let done = (0..count).into_par_iter().map(|_| after(1)).io_await().map(compute).on(pool).count();
    assert_eq!(done, count);
    assert_settled(pool);
}

/// Tasks that are all long gain nothing by turns among each other: a slot is given to begin a task, and to go on with one that was begun before.
#[test]
fn long_tasks_take_few_turns_among_each_other() {
    const ITEMS: usize = 20;
    let pool = pool(1);
    run_long_tasks(&pool, ITEMS);
    // Two for an item, and hundreds if all threads take turns of a millisecond.
    let given = pool.stats().total().slots_given;
    assert!(given <= 4 * ITEMS as u64, "{given} slots were given while {ITEMS} tasks ran");
}

/// A job that has got a slot back after a wait keeps it from tasks that have given theirs: it may be about to end.
#[test]
fn a_job_that_has_waited_goes_on_before_long_tasks() {
    // Returns by how many milliseconds the job was late.
    let run = || {
        let pool = pool(1);
        let late = Arc::<AtomicUsize>::default();
        let job = {
            let late = Arc::clone(&late);
            move || {
                let since = Instant::now();
                furcate::block_on(after(150));
                (0..3).for_each(|_| _ = furcate::join(|| spin(Duration::from_millis(1)), || ()));
                late.store(since.elapsed().as_millis() as usize - 150, SeqCst);
            }
        };
        pool.spawn(job);
        run_long_tasks(&pool, 40);
        late.load(SeqCst)
    };
    // Some 10 ms; half a second if each of the begun tasks goes before it. On a busy machine the job may be without a core for longer than its turn.
    let late: Vec<_> = (0..5).map(|_| run()).take_while(|late| !(1..200).contains(late)).collect();
    assert!(late.len() < 5, "late by {late:?} ms, in every try");
}

/// A computation of leaves on all threads. Each leaf calls its argument, again and again or once.
type Load = (&'static str, fn(&(dyn Fn() + Sync)));

fn tree(depth: u32, leaf: &(dyn Fn() + Sync)) {
    if depth == 0 {
        return leaf();
    }
    furcate::join(|| tree(depth - 1, leaf), || tree(depth - 1, leaf));
}

const LOADS: [Load; 6] = [
    ("join", |leaf| tree(14, leaf)),
    ("par_iter", |leaf| (0..20_000).into_par_iter().for_each(|_| leaf())),
    ("adaptive", |leaf| (0..20_000).into_par_iter().adaptive().for_each(|_| leaf())),
    ("depjoin", |leaf| (0..20_000).into_par_iter().depjoin().for_each(|_| leaf())),
    ("a chain that waits", |leaf| {
        (0..200_000).into_par_iter().map(|_| async { leaf() }).io_await().for_each(drop)
    }),
    ("a sort", |leaf| {
        let mut v: Vec<u64> = (0..10_000).map(|x| x * 7919 % 10_007).collect();
        v.par_sort_by(|a, b| {
            leaf();
            a.cmp(b)
        });
    }),
];

/// A task that goes on in the middle of a turn is charged at once. So under fair queueing, small tasks do not wait for each task of a call that was
/// woken before: here the parts of a chain, which begin new items when there is room. (Unless charged, each of the dozen took a turn of its own.)
#[test]
fn small_tasks_wait_for_no_dozen_of_long_ones() {
    let late = || {
        let pool = ThreadPoolBuilder::new().num_threads(2).fairness(Fairness::FairQueueing).build().unwrap();
        let (begun, last) = (AtomicUsize::new(0), Arc::<AtomicUsize>::default());
        let mut tasks: Vec<_> = (0..100)
            .map(|_| {
                let last = Arc::clone(&last);
                pool.spawn_future(async move {
                    let since = Instant::now();
                    after(50).await;
                    last.fetch_max(since.elapsed().as_millis() as usize - 50, SeqCst);
                })
            })
            .collect();
        let leaf = || {
            if begun.fetch_add(1, SeqCst) < 60 {
                spin(Duration::from_millis(10));
            }
        };
        pool.install(|| (0..20_000).into_par_iter().map(|_| async { leaf() }).io_await().for_each(drop));
        tasks.drain(..).for_each(furcate::block_on);
        last.load(SeqCst)
    };
    let mut runs: Vec<_> = (0..5).map(|_| late()).collect();
    runs.sort_unstable();
    // About 10 ms; more than 170 ms, or till the end of the load, if each long task takes a turn.
    assert!(runs[2] < 100, "{runs:?} ms late");
}

/// Tasks that are woken beside a computation run while it goes on, though all workers are in its leaves. Prints how late the last one is.
#[test]
fn woken_tasks_run_beside_every_load() {
    const TASKS: usize = 100;
    const LIMIT: Duration = Duration::from_secs(100);
    for fairness in [Fairness::Balanced, Fairness::WokenFirst, Fairness::FairQueueing] {
        for threads in [1, 2, 4] {
            for (load, micros) in LOADS.into_iter().zip([100, 2000, 20_000].into_iter().cycle()) {
                let pool = ThreadPoolBuilder::new().num_threads(threads).fairness(fairness).build().unwrap();
                let [begun, done, last] = [(); 3].map(|()| Arc::<AtomicUsize>::default());
                let before = Instant::now();
                for _ in 0..TASKS {
                    let (begun, done, last) = (Arc::clone(&begun), Arc::clone(&done), Arc::clone(&last));
                    drop(pool.spawn_future(async move {
                        begun.fetch_add(1, SeqCst);
                        after(50).await;
                        last.fetch_max(before.elapsed().as_micros() as usize - 50_000, SeqCst);
                        done.fetch_add(1, SeqCst);
                    }));
                }
                until(|| begun.load(SeqCst) == TASKS);
                let since = Instant::now();
                let leaf = || {
                    if done.load(SeqCst) < TASKS && since.elapsed() < LIMIT {
                        spin(Duration::from_micros(micros));
                    }
                };
                pool.install(|| (load.1)(&leaf));
                let ran = done.load(SeqCst);
                let late = last.load(SeqCst) as f64 / 1e3;
                println!("{late:4.1} ms late: {fairness:?}, {}, {micros} us, {threads} threads", load.0);
                assert_eq!(ran, TASKS, "under {fairness:?}, beside {}, on {threads} threads", load.0);
                // Under 30 ms, but for the chain; seconds, or until the end of the load, without turns and loans.
                let most = if load.0 == "a chain that waits" { 20_000.0 } else { 2000.0 };
                assert!(late < most, "{late} ms late");
            }
        }
    }
}
