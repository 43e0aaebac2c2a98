//! Detached computations on real pools, by the pools' counters: waits, and numbers of tasks.
#![cfg(not(furcate_rayon))]

use crate::support::Collect;
use crate::support::samples::Counted;
use furcate_pool::{ThreadPool, ThreadPoolBuilder, WorkerStats, yield_now};
use furcate_schedulers::DefaultExecutor;
use furcate_schedulers::policy::{Auto, BoundDepth, SizeLimit};
use furcate_schedulers::{Adaptive, DepJoin, Join, Reduction, Scheduler};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use testkit::LONG;

fn new_pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

fn won(stats: &WorkerStats) -> u64 {
    stats.steals.iter().map(|steals| steals.won).sum()
}

/// Items that take so long that other threads steal, even on a busy machine.
#[derive(Clone)]
struct Slow<'c> {
    starts: &'c AtomicUsize,
    item: Duration,
    /// Whether items are fast as soon as another thread has stolen some.
    until_stolen: bool,
}

impl Reduction<usize> for Slow<'_> {
    type Accumulator = Vec<usize>;
    type Output = Vec<usize>;
    fn start(&self) -> Vec<usize> {
        self.starts.fetch_add(1, Relaxed);
        vec![]
    }
    fn fold_item(&self, mut items: Vec<usize>, item: usize) -> ControlFlow<Vec<usize>, Vec<usize>> {
        if !self.until_stolen || self.starts.load(Relaxed) < 2 {
            thread::sleep(self.item);
        }
        items.push(item);
        ControlFlow::Continue(items)
    }
    fn finish(&self, items: Vec<usize>) -> Vec<usize> {
        items
    }
    fn reduce(&self, mut left: Vec<usize>, mut right: Vec<usize>) -> Vec<usize> {
        left.append(&mut right);
        left
    }
}

/// Runs a computation of 64 parts at least twenty times, until there are ten steals and, if `waits`, a wait. Returns
/// the numbers of steals and of waits. On a busy machine thieves come too late for many of the short computations.
fn thefts_and_waits(threads: usize, how: impl Scheduler + Sync, waits: bool) -> (u64, u64) {
    let (pool, starts) = (new_pool(threads), AtomicUsize::new(0));
    let run = || {
        let slow = Slow { starts: &starts, item: Duration::from_micros(20), until_stolen: false };
        how.schedule((0..64, SizeLimit::new(1), slow), &DefaultExecutor::default())
    };
    let (mut rounds, since) = (0, Instant::now());
    loop {
        assert_eq!(pool.install(run), (0..64).collect::<Vec<_>>());
        rounds += 1;
        let total = pool.stats().total();
        let is_enough = total.migrated >= 10 && (!waits || total.waits > 0);
        if rounds >= 20 && (is_enough || since.elapsed() > LONG) {
            return (total.migrated, total.waits);
        }
    }
}

#[test]
fn nobody_waits_inside_a_greedy_reduction() {
    for threads in [2, 3, 4] {
        let (thefts, waits) = thefts_and_waits(threads, Join, true);
        assert!(thefts >= 10 && waits > 0, "a join waits: {thefts} thefts, {waits} waits");
        let (thefts, waits) = thefts_and_waits(threads, DepJoin, false);
        assert!(thefts >= 10 && waits == 0, "{thefts} thefts, {waits} waits");
        let (thefts, waits) = thefts_and_waits(threads, Adaptive::new(), false);
        assert!(thefts >= 10 && waits == 0, "{thefts} thefts, {waits} waits");
    }
}

/// I4: one task, and one for each theft, by the pool's own counters.
#[test]
fn adaptive_makes_a_task_per_theft_and_one() {
    for threads in [1, 2, 3, 8] {
        let pool = new_pool(threads);
        let (mut thefts, since) = (0, Instant::now());
        for round in 1.. {
            let (starts, divisions) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let before = pool.stats().total();
            let items = pool.install(|| {
                let slow = Slow { starts: &starts, item: Duration::from_micros(50), until_stolen: false };
                let source = Counted(0..200, &divisions);
                Adaptive::new()
                    .schedule((source, BoundDepth::new(u32::MAX), slow), &DefaultExecutor::default())
            });
            let after = pool.stats().total();
            assert_eq!(items, (0..200).collect::<Vec<_>>());
            let (won, migrated) = (won(&after) - won(&before), after.migrated - before.migrated);
            assert_eq!(starts.into_inner() as u64, won + 1, "{threads} threads");
            assert_eq!(won, migrated, "{threads} threads");
            assert!(divisions.load(Relaxed) as u64 >= won);
            if threads == 1 {
                assert_eq!((won, divisions.into_inner()), (0, 0));
            }
            thefts += won;
            if round >= 10 && (threads == 1 || thefts >= 5) {
                break;
            }
            assert!(since.elapsed() < LONG, "{thefts} thefts by {threads} threads");
        }
    }
}

/// Dear items that lie next to each other are shared, wherever they lie. (On a busy machine a thief may come late, but not each time.)
#[test]
fn an_adaptive_task_shares_a_cluster() {
    const DEAR: usize = 10;
    const LEN: usize = 2001;
    /// Counts the dear items of each task.
    #[derive(Clone)]
    struct CountDear(usize);
    impl Reduction<usize> for CountDear {
        type Accumulator = usize;
        type Output = Vec<(thread::ThreadId, usize)>;
        fn start(&self) -> usize {
            0
        }
        fn fold_item(&self, dear: usize, item: usize) -> ControlFlow<usize, usize> {
            let is_dear = (self.0..self.0 + DEAR).contains(&item);
            if is_dear {
                thread::sleep(Duration::from_millis(4));
            } else {
                let begun = Instant::now();
                while begun.elapsed() < Duration::from_micros(1) {}
            }
            ControlFlow::Continue(dear + usize::from(is_dear))
        }
        fn finish(&self, dear: usize) -> Self::Output {
            vec![(thread::current().id(), dear)]
        }
        fn reduce(&self, left: Self::Output, right: Self::Output) -> Self::Output {
            [left, right].concat()
        }
    }
    let pool = new_pool(2);
    for from in [0, LEN / 4, LEN / 2, LEN - DEAR] {
        let most_by_one_thread = || {
            let tasks = pool.install(|| {
                Adaptive::new().schedule((0..LEN, Auto::new(), CountDear(from)), &DefaultExecutor::default())
            });
            assert_eq!(tasks.iter().map(|task| task.1).sum::<usize>(), DEAR);
            let by = |id| tasks.iter().filter(|task| task.0 == id).map(|task| task.1).sum::<usize>();
            tasks.iter().map(|task| by(task.0)).max().unwrap()
        };
        let most = (0..20).map(|_| most_by_one_thread()).find(|&most| most <= 6);
        assert!(most.is_some(), "each time one thread has had more than six of the items from {from} on");
    }
}

/// Behind a cluster a task offers parts on demand again, and not one for each cheap item.
#[test]
fn behind_a_cluster_an_adaptive_task_goes_on_as_before() {
    const LEN: usize = 100_000;
    let pool = new_pool(2);
    let offers = || {
        let before = pool.stats().total().forks;
        let items = pool.install(|| {
            let starts = AtomicUsize::new(0);
            let first = Slow { starts: &starts, item: Duration::from_millis(1), until_stolen: true };
            Adaptive::new().schedule((0..LEN, Auto::new(), first), &DefaultExecutor::default())
        });
        assert_eq!(items.len(), LEN);
        pool.stats().total().forks - before
    };
    let most = (0..20).map(|_| offers()).max();
    assert!(most < Some(LEN as u64 / 10), "{most:?} offers");
}

/// Idle workers that sleep ask no one for work: a call from outside must know that they are there.
#[test]
fn adaptive_calls_from_outside_wake_those_who_rest() {
    for threads in [2, 4] {
        for ordinary in [false, true] {
            let builder = ThreadPoolBuilder::new().num_threads(threads);
            let pool = if ordinary { builder.ordinary_fences() } else { builder }.build().unwrap();
            for _ in 0..3 {
                // The workers sleep for short times during some 20 ms.
                thread::sleep(Duration::from_millis(60));
                let starts = AtomicUsize::new(0);
                // Without a thief this takes more than 10 s.
                let slow = Slow { starts: &starts, item: Duration::from_micros(50), until_stolen: true };
                let items = Adaptive::new().schedule((0..200_000, BoundDepth::new(u32::MAX), slow), &&pool);
                assert_eq!(items, (0..200_000).collect::<Vec<_>>());
                assert!(starts.into_inner() > 1, "{threads} threads, ordinary fences: {ordinary}");
            }
        }
    }
}

/// I6: calls inside calls. (In Kvik's code thieves spin on their own bait.)
#[test]
fn an_adaptive_call_within_an_adaptive_call_after_a_yield() {
    /// Makes a call of its own for every item.
    #[derive(Clone)]
    struct Inner;
    impl Reduction<usize> for Inner {
        type Accumulator = usize;
        type Output = usize;
        fn start(&self) -> usize {
            0
        }
        fn fold_item(&self, sum: usize, item: usize) -> ControlFlow<usize, usize> {
            yield_now();
            let how = Adaptive::new().nano_blocks(1, 1);
            let items = how.schedule((0..item, BoundDepth::new(9), Collect), &DefaultExecutor::default());
            yield_now();
            ControlFlow::Continue(sum + items.len())
        }
        fn finish(&self, sum: usize) -> usize {
            sum
        }
        fn reduce(&self, left: usize, right: usize) -> usize {
            left + right
        }
    }
    let (send, receive) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for threads in [1, 2, 8] {
            let pool = new_pool(threads);
            let since = Instant::now();
            while since.elapsed() < Duration::from_millis(200) {
                let how = Adaptive::new().nano_blocks(1, 4);
                let run = || how.schedule((0..100, BoundDepth::new(9), Inner), &DefaultExecutor::default());
                assert_eq!(pool.install(run), 100 * 99 / 2, "{threads} threads");
            }
        }
        send.send(()).unwrap();
    });
    receive.recv_timeout(Duration::from_secs(60)).expect("it does not hang");
}
