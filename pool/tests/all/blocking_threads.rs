//! Jobs that wait in direct style, with a thread each, and the bound on those threads.

use crate::support::*;
use async_io::Timer;
use furcate_pool::{
    Saturation, SaturationCause, ThreadPool, ThreadPoolBuilder, WaitRule, block_on, join, scope, spawn_future,
};
use std::collections::HashSet;
use std::future::{pending, poll_fn};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// A flag that a future waits for.
#[derive(Default)]
struct Signal(Mutex<(bool, Option<Waker>)>);

impl Signal {
    fn send(&self) {
        let waker = {
            let mut state = self.0.lock().unwrap();
            state.0 = true;
            state.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    async fn received(&self) {
        poll_fn(|context| {
            let mut state = self.0.lock().unwrap();
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Makes that many leaves. Each except one waits for a signal of its neighbor.
fn dependent_leaves(pool: &ThreadPool, count: usize, forwards: bool) {
    let signals: Vec<_> = (0..=count).map(|_| Signal::default()).collect();
    let done = AtomicUsize::new(0);
    signals[if forwards { count } else { 0 }].send();
    pool.install(|| {
        leaves(0..count, &|number| {
            let (from, to) = if forwards { (number + 1, number) } else { (number, number + 1) };
            block_on(signals[from].received());
            signals[to].send();
            add(&done);
        });
    });
    assert_eq!(done.into_inner(), count);
}

/// The reports of a pool.
type Reports = Arc<Mutex<Vec<Saturation>>>;

/// A builder of pools of so many threads, and the list of their reports.
fn reporting(threads: usize) -> (ThreadPoolBuilder, Reports) {
    let reports = Reports::default();
    let reported = Arc::clone(&reports);
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    (builder.saturation_handler(move |saturation| reported.lock().unwrap().push(*saturation)), reports)
}

/// A pool with such a bound, and the list of its reports.
fn bounded(threads: usize, bound: usize) -> (ThreadPool, Reports) {
    let (builder, reports) = reporting(threads);
    (builder.max_blocking_threads(bound).build().expect("a pool"), reports)
}

/// Pools of so many threads that start no further ones, and the lists of their reports.
fn fixed(threads: usize) -> [(ThreadPool, Reports); 2] {
    let (leapfrog, leapfrog_reports) = reporting(threads);
    let leapfrog = leapfrog.wait_rule(WaitRule::Leapfrog).build().expect("a pool");
    let (spawned, spawned_reports) = reporting(threads);
    let spawned = spawned
        .spawn_handler(|thread| thread::Builder::new().spawn(|| thread.run()).map(drop))
        .build()
        .expect("a pool");
    [(leapfrog, leapfrog_reports), (spawned, spawned_reports)]
}

#[test]
fn more_jobs_than_64_wait_for_each_other() {
    within(LONG, || {
        for forwards in [true, false] {
            let pool = pool(2);
            dependent_leaves(&pool, 150, forwards);
            assert_eq!(pool.stats().total().saturated, 0);
        }
    });
}

#[test]
fn jobs_that_wait_for_each_other_go_on_beyond_the_bound() {
    within(LONG, || {
        for threads in [1, 2, 3] {
            for bound in [0, 1, 2] {
                for forwards in [true, false] {
                    let (pool, reports) = bounded(threads, bound);
                    // Forwards, 4 of 10 leaves wait before the last one begins, and 5 of 20. So the threads never suffice.
                    let count = if threads + bound < 5 { 10 } else { 20 };
                    dependent_leaves(&pool, count, forwards);
                    let reports = reports.lock().unwrap();
                    assert!(reports.len() <= 1, "reported once: {reports:?}");
                    if forwards {
                        assert_eq!(reports.len(), 1, "{threads} threads, {bound} besides");
                    }
                }
            }
        }
    });
}

/// The waiting threads keep all slots, and none of them polls the tasks that they wait for.
#[test]
fn tasks_go_on_beyond_the_bound_without_further_threads() {
    const SHORT: Duration = Duration::from_secs(10);
    within(LONG, || {
        let (pool, _) = bounded(2, 4);
        let timer = || async { _ = Timer::after(Duration::from_millis(10)).await };
        let begin = Instant::now();
        pool.install(|| {
            leaves(0..400, &|number| match number % 2 {
                0 => block_on(spawn_future(timer())),
                _ => scope(|scope| block_on(scope.spawn_future(timer()))),
            });
        });
        let (time, threads) = (begin.elapsed(), pool.stats().workers.len());
        assert!(time < SHORT && threads < 100, "{time:?}, {threads} threads");
    });
}

/// Tasks that block take up the thread that polls tasks.
#[test]
fn tasks_that_wait_go_on_beyond_the_bound() {
    within(LONG, || {
        let (pool, _) = bounded(2, 1);
        let timer = || async { _ = Timer::after(Duration::from_millis(10)).await };
        pool.install(|| {
            leaves(0..20, &|_| block_on(spawn_future(async move { block_on(spawn_future(timer())) })));
        });
    });
}

/// One more thread is started for the forks, though there are tasks to poll all the time.
#[test]
fn tasks_do_not_keep_forks_waiting_beyond_the_bound() {
    within(LONG, || {
        let (pool, _) = bounded(2, 0);
        let tasks = pool.spawn_future(async {
            loop {
                Timer::after(Duration::from_millis(2)).await;
            }
        });
        dependent_leaves(&pool, 6, true);
        tasks.cancel();
    });
}

#[test]
fn jobs_that_wait_for_each_other_go_on_without_other_threads() {
    within(LONG, || {
        for threads in [1, 2] {
            let pool = ruled(threads, WaitRule::Leapfrog);
            dependent_leaves(&pool, 6, false);
        }
    });
}

/// Checks the threads and the report of a pool whose leaves wait. Returns `false` if there is nothing to check: on a busy
/// machine perhaps not all threads wait at once, or they wait for 0.1 s, when the pool may start one more.
fn stays_within_the_bound(threads: usize, bound: usize) -> bool {
    let (pool, reports) = bounded(threads, bound);
    let seen = Mutex::new(HashSet::new());
    let [now, most, longest] = [(); 3].map(|()| AtomicUsize::new(0));
    pool.install(|| {
        leaves(0..40, &|_| {
            seen.lock().unwrap().insert(thread::current().id());
            most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
            let since = Instant::now();
            block_on(Timer::after(Duration::from_millis(10)));
            longest.fetch_max(since.elapsed().as_millis() as usize, SeqCst);
            now.fetch_sub(1, SeqCst);
        });
    });
    let reports = reports.lock().unwrap();
    if longest.into_inner() >= 100 || reports.is_empty() {
        return false;
    }
    let (seen, most) = (seen.into_inner().unwrap().len(), most.into_inner());
    assert!(seen <= threads + bound, "{seen} threads, where {threads} + {bound} are allowed");
    assert!(most <= threads + bound, "{most} leaves waited at once");
    let [Saturation { num_threads, blocking_threads, cause, .. }] = reports[..] else {
        panic!("reported once: {reports:?}")
    };
    assert_eq!((num_threads, blocking_threads), (threads, bound));
    assert_eq!(cause, SaturationCause::BoundReached);
    assert!(pool.stats().total().saturated > 0);
    for word in ["block_on", "no more are allowed", "io_await", "join_async", "max_blocking_threads"] {
        assert!(reports[0].to_string().contains(word), "{word:?} in {}", reports[0]);
    }
    true
}

#[test]
fn no_more_threads_than_the_bound_stand_in_for_waiting_ones() {
    within(LONG, || {
        for (threads, bound) in [(2, 0), (2, 1), (2, 5), (1, 3)] {
            while !stays_within_the_bound(threads, bound) {}
        }
    });
}

/// Reported also if the job is queued long after the threads have begun to wait.
#[test]
fn a_job_that_is_queued_while_all_threads_wait_is_reported() {
    within(LONG, || {
        for threads in [1, 2] {
            let [leapfrog, spawned] = fixed(threads);
            for (pool, reports) in [leapfrog, spawned, bounded(threads, 0)] {
                let [begun, done] = [(); 2].map(|()| Arc::<AtomicUsize>::default());
                let signals: Vec<_> = (0..threads).map(|_| Arc::<Signal>::default()).collect();
                for signal in &signals {
                    let (begun, signal, done) = (Arc::clone(&begun), Arc::clone(signal), Arc::clone(&done));
                    pool.spawn(move || {
                        add(&begun);
                        // None waits while another one is still queued.
                        until(|| begun.load(SeqCst) == threads);
                        block_on(signal.received());
                        add(&done);
                    });
                }
                until(|| begun.load(SeqCst) == threads);
                thread::sleep(Duration::from_millis(20));
                assert!(reports.lock().unwrap().is_empty(), "no job is queued: {reports:?}");
                pool.spawn(move || signals.iter().for_each(|signal| signal.send()));
                until(|| done.load(SeqCst) == threads);
                assert_eq!(reports.lock().unwrap().len(), 1, "reported once: {reports:?}");
                let saturated = pool.stats().total().saturated;
                assert!((1..=threads as u64).contains(&saturated), "counted once for each wait: {saturated}");
            }
        }
    });
}

#[test]
fn a_fork_that_the_only_thread_waits_for_is_reported() {
    within(LONG, || {
        for (pool, reports) in fixed(1) {
            dependent_leaves(&pool, 2, true);
            assert_eq!(reports.lock().unwrap().len(), 1, "reported once: {reports:?}");
        }
    });
}

/// The queued job wants a lock that the waiting one holds, and no thread is left on which either could go on.
#[test]
fn a_pool_of_fixed_threads_that_hangs_has_said_why() {
    for ((pool, reports), cause) in
        fixed(1).into_iter().zip([SaturationCause::Leapfrog, SaturationCause::SpawnHandler])
    {
        // The pool's thread hangs, so the pool is not dropped, even if an assertion fails.
        let pool = ManuallyDrop::new(pool);
        let (lock, held) = (Arc::<Mutex<()>>::default(), Arc::<Flag>::default());
        let (locks, holds) = (Arc::clone(&lock), Arc::clone(&held));
        pool.spawn(move || {
            let _locked = locks.lock();
            holds.set();
            block_on(pending::<()>());
        });
        held.wait();
        pool.spawn(move || drop(lock.lock()));
        until(|| !reports.lock().unwrap().is_empty());
        let report = reports.lock().unwrap()[0];
        assert_eq!((report.num_threads, report.blocking_threads, report.cause), (1, 0, cause));
        let (says, advises) = match cause {
            SaturationCause::Leapfrog => {
                ("`WaitRule::Leapfrog` and `RandomLeapfrog` start no others", "`WaitRule::Descendants`")
            }
            _ => ("a pool with a spawn handler starts no others", "without a spawn handler"),
        };
        for word in ["block_on", "all of the pool's threads wait", says, "io_await", "join_async", advises] {
            assert!(report.to_string().contains(word), "{word:?} in {report}");
        }
    }
}

/// As long as one thread runs jobs, it gets to the queued ones.
#[test]
fn a_pool_of_fixed_threads_that_computes_reports_nothing() {
    within(LONG, || {
        for (pool, reports) in fixed(2) {
            let ran = Arc::<Flag>::default();
            pool.install(|| {
                let is_stolen = Flag::default();
                let queues = || {
                    is_stolen.set();
                    let runs = Arc::clone(&ran);
                    thread::scope(|threads| drop(threads.spawn(|| pool.spawn(move || runs.set())).join()));
                    until(|| pool.stats().total().waits > 0);
                    spin(Duration::from_millis(20));
                };
                join(|| is_stolen.wait(), queues);
            });
            ran.wait();
            assert!(pool.stats().total().waits > 0, "the left half's thread has waited for the right half");
            assert!(reports.lock().unwrap().is_empty(), "{reports:?}");
            assert_eq!(pool.stats().total().saturated, 0);
        }
    });
}

#[test]
fn a_pool_that_is_not_saturated_reports_nothing() {
    within(LONG, || {
        let (pool, reports) = bounded(2, 64);
        pool.install(|| leaves(0..30, &|_| _ = block_on(Timer::after(Duration::from_millis(2)))));
        assert!(reports.lock().unwrap().is_empty());
        assert_eq!(pool.stats().total().saturated, 0);
    });
}

#[test]
fn saturation_is_said_on_stderr_once() {
    const TEST: &str = "blocking_threads::saturation_is_said_on_stderr_once";
    if plays("saturated") {
        let pool = ThreadPoolBuilder::new().num_threads(2).max_blocking_threads(1).build().expect("a pool");
        let run =
            || pool.install(|| leaves(0..20, &|_| _ = block_on(Timer::after(Duration::from_millis(2)))));
        while pool.stats().total().saturated == 0 {
            run();
        }
        run();
        run();
        return;
    }
    let output = child(TEST, "saturated", &[]);
    assert!(output.status.success(), "{}", said(&output));
    let warning = "furcate: warning: a job waits";
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches(warning).count(), 1, "{}", said(&output));
}
