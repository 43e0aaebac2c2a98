//! Workers that are busy inside a computation give their slots, for a while, to woken tasks and to threads that have
//! waited too long.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::{Executor, ThreadPool, ThreadPoolBuilder, WaitRule, block_on, join, yield_now};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// A fork-join computation that ends when `done` returns true, or after `limit`. Returns whether it was `done`.
fn busy_until(done: &(impl Fn() -> bool + Sync), limit: Duration) -> bool {
    let since = Instant::now();
    while !done() {
        if since.elapsed() > limit {
            return false;
        }
        fib(18);
    }
    true
}

/// A gate, and tasks of the pool that wait for it and then count.
fn waiting_tasks(pool: &ThreadPool, tasks: usize) -> (Arc<Gate>, Arc<AtomicUsize>) {
    let (gate, done) = (Arc::<Gate>::default(), Arc::<AtomicUsize>::default());
    for _ in 0..tasks {
        let (waits, done) = (gate.wait_for(), Arc::clone(&done));
        drop(pool.spawn_future(async move {
            waits.await;
            add(&done);
        }));
    }
    until(|| gate.waiting() == tasks);
    (gate, done)
}

/// Runs on one thread, too, where there is no thief.
#[test]
fn tasks_woken_beside_a_fork_join_run_while_it_goes_on() {
    const TASKS: usize = 100;
    within(LONG, || {
        for threads in [1, 2, 3] {
            let pool = pool(threads);
            let (gate, done) = waiting_tasks(&pool, TASKS);
            let opener = thread::spawn(move || {
                thread::sleep(Duration::from_millis(100));
                gate.open();
            });
            let all = || done.load(SeqCst) == TASKS;
            let in_time = pool.install(|| busy_until(&all, LONG / 4));
            assert!(in_time, "{} of {TASKS} ran beside it, on {threads} threads", done.load(SeqCst));
            opener.join().unwrap();
        }
    });
}

/// A thread from outside takes part in its own call, and gives its slot as the pool's own threads do.
#[test]
fn tasks_woken_beside_calls_from_outside_run_while_these_go_on() {
    const TASKS: usize = 100;
    within(LONG, || {
        let pool = pool(2);
        let (gate, done) = waiting_tasks(&pool, TASKS);
        let all = || done.load(SeqCst) == TASKS;
        thread::scope(|threads| {
            let calls: Vec<_> = (0..2)
                .map(|_| threads.spawn(|| take_part(&pool, || busy_until(&all, LONG / 4), || ()).0))
                .collect();
            thread::sleep(Duration::from_millis(100));
            gate.open();
            assert!(calls.into_iter().all(|call| call.join().unwrap()), "{} of {TASKS}", done.load(SeqCst));
        });
    });
}

/// As many tasks as one slot can run: the fork-join goes on all the same.
#[test]
fn a_fork_join_goes_on_beside_tasks_that_are_woken_again_and_again() {
    within(LONG, || {
        for threads in [1, 2] {
            let pool = pool(threads);
            let over = Arc::new(Flag::default());
            for _ in 0..4 {
                let over = Arc::clone(&over);
                drop(pool.spawn_future(async move {
                    while !over.is_set() {
                        spin(Duration::from_micros(100));
                        Restless(1).await;
                    }
                }));
            }
            let since = Instant::now();
            let sum = pool.install(|| (0..20).map(|_| fib(16)).sum::<u64>());
            over.set();
            assert_eq!(sum, 20 * 987);
            assert!(since.elapsed() < LONG / 4);
        }
    });
}

/// A lock is held across a fork that gives the slot away, and the task that gets it wants the lock.
#[test]
fn who_gives_its_slot_holding_a_lock_gets_one_again() {
    within(LONG, || {
        for threads in [1, 2] {
            let pool = pool(threads);
            let lock = Arc::new(Mutex::new(0));
            let (gate, done) = (Arc::<Gate>::default(), Arc::<AtomicUsize>::default());
            for _ in 0..4 {
                let (waits, done, lock) = (gate.wait_for(), Arc::clone(&done), Arc::clone(&lock));
                drop(pool.spawn_future(async move {
                    waits.await;
                    *lock.lock().unwrap() += 1;
                    add(&done);
                }));
            }
            until(|| gate.waiting() == 4);
            pool.install(|| {
                let mut locked = lock.lock().unwrap();
                gate.open();
                let since = Instant::now();
                while since.elapsed() < Duration::from_millis(100) {
                    fib(16);
                }
                *locked += 1;
            });
            until(|| done.load(SeqCst) == 4);
            assert_eq!(*lock.lock().unwrap(), 5);
        }
    });
}

/// Never more jobs at once than the pool has slots, however slots are given away.
#[test]
fn slots_that_are_given_remain_as_many() {
    within(LONG, || {
        for threads in [1, 2, 3] {
            let pool = pool(threads);
            let crowd = Arc::new(Crowd::default());
            let (gate, done) = (Arc::<Gate>::default(), Arc::<AtomicUsize>::default());
            for _ in 0..200 {
                let (waits, done, crowd) = (gate.wait_for(), Arc::clone(&done), Arc::clone(&crowd));
                drop(pool.spawn_future(async move {
                    waits.await;
                    crowd.while_in(|| spin(Duration::from_micros(200)));
                    add(&done);
                }));
            }
            until(|| gate.waiting() == 200);
            gate.open();
            let leaves = |_: u64| crowd.while_in(|| spin(Duration::from_micros(20)));
            fn tree(depth: u32, leaf: &(impl Fn(u64) + Sync)) {
                if depth == 0 {
                    return leaf(0);
                }
                join(|| tree(depth - 1, leaf), || tree(depth - 1, leaf));
            }
            let since = Instant::now();
            pool.install(|| {
                while done.load(SeqCst) < 200 && since.elapsed() < LONG / 4 {
                    tree(8, &leaves);
                }
            });
            until(|| done.load(SeqCst) == 200);
            assert!(crowd.most() <= threads, "{} at once on {threads} threads", crowd.most());
        }
    });
}

/// Every slot's job blocks outside the pool, with jobs in its worker's deque. Those jobs and jobs from outside run meanwhile.
#[test]
fn slots_of_threads_that_block_outside_the_pool_are_taken_over() {
    within(LONG, || {
        for threads in [1, 2] {
            let pool = pool(threads);
            let (ran, release) = (Arc::<AtomicUsize>::default(), Arc::new(Mutex::new(())));
            let held = release.lock().unwrap();
            let blocked = Arc::<AtomicUsize>::default();
            for _ in 0..threads {
                let (ran, release, blocked) = (Arc::clone(&ran), Arc::clone(&release), Arc::clone(&blocked));
                pool.spawn(move || {
                    let inner = Arc::clone(&ran);
                    furcate_pool::spawn(move || add(&inner));
                    add(&blocked);
                    drop(release.lock());
                    // The thread has no slot now. Its forks and spawned jobs run all the same.
                    assert_eq!(fib(10), 55);
                    furcate_pool::spawn(move || add(&ran));
                });
            }
            until(|| blocked.load(SeqCst) == threads);
            for _ in 0..10 {
                let ran = Arc::clone(&ran);
                pool.spawn(move || add(&ran));
            }
            // By a call from outside, which needs a slot itself, too.
            assert_eq!(pool.install(|| fib(10)), 55);
            until(|| ran.load(SeqCst) == 10 + threads);
            assert!(pool.stats().total().slots_taken_over > 0);
            drop(held);
            until(|| ran.load(SeqCst) == 10 + 2 * threads);
        }
    });
}

/// A thread that computes does not count as blocked, however long it takes, and however many other threads want its
/// core.
#[test]
fn slots_of_threads_that_compute_are_not_taken_over() {
    within(LONG, || {
        let pool = pool(2);
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| pool.install(|| spin(Duration::from_millis(100))));
            }
        });
        assert_eq!(pool.stats().total().slots_taken_over, 0);
    });
}

/// The worker that serves overdue queues has a broadcast job to run, too.
#[test]
fn a_broadcast_reaches_the_worker_that_serves_queues() {
    within(LONG, || {
        let (pool, over) = (pool(1), AtomicUsize::new(0));
        let is_over = || over.load(SeqCst) > 0;
        thread::scope(|scope| {
            let outside = scope.spawn(|| (&pool).enter(|| busy_until(&is_over, LONG)));
            for _ in 0..20 {
                pool.spawn(|| spin(Duration::from_millis(2)));
                thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(pool.broadcast(|_| 7), [7]);
            over.store(1, SeqCst);
            assert!(outside.join().unwrap(), "the broadcast waited for the call from outside");
        });
    });
}

/// A worker that is to run a broadcast job takes the slot of a thread that waits for exactly that job.
#[test]
fn a_broadcast_takes_over_the_slot_of_a_blocked_caller() {
    within(LONG, || {
        let pool = pool(1);
        let (sender, receiver) = mpsc::channel();
        let (sender, receiver) = (Mutex::new(sender), Mutex::new(receiver));
        thread::scope(|scope| {
            scope.spawn(|| (&pool).enter(|| receiver.lock().unwrap().recv().unwrap()));
            thread::sleep(Duration::from_millis(20));
            pool.broadcast(|_| sender.lock().unwrap().send(()).unwrap());
        });
    });
}

/// A job whose slot was taken over while it slept, and which then yields, does not run other jobs without a slot.
#[test]
fn who_yields_without_a_slot_runs_nothing() {
    within(LONG, || {
        let pool = pool(1);
        let [running, most, done] = [(); 3].map(|()| Arc::<AtomicUsize>::default());
        let has_ended = Arc::clone(&done);
        pool.spawn(move || {
            thread::sleep(Duration::from_millis(100));
            while has_ended.load(SeqCst) < 10 {
                yield_now();
            }
        });
        thread::sleep(Duration::from_millis(5));
        for _ in 0..10 {
            let (running, most, done) = (Arc::clone(&running), Arc::clone(&most), Arc::clone(&done));
            pool.spawn(move || {
                most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                spin(Duration::from_millis(30));
                running.fetch_sub(1, SeqCst);
                done.fetch_add(1, SeqCst);
            });
        }
        until(|| done.load(SeqCst) == 10);
        assert_eq!(most.load(SeqCst), 1);
    });
}

/// If no thread can stand in for a waiting one, its own forks are a last resort, even after another worker has left
/// some.
#[test]
fn the_last_fork_is_run_where_all_wait() {
    within(LONG, || {
        let pool =
            ThreadPoolBuilder::new().num_threads(1).wait_rule(WaitRule::Leapfrog).build().expect("a pool");
        let (outer, inner) = (Arc::<Gate>::default(), Arc::<Gate>::default());
        let inner_join = || {
            join(|| block_on(inner.wait_for()), || inner.open());
            outer.open();
        };
        pool.join_context(|_| block_on(outer.wait_for()), |_| inner_join());
    });
}
