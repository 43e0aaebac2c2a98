//! Spawned jobs, which no thread waits for.

use crate::support::*;
use furcate_pool::{
    JoinHandle, Scope, ThreadPool, ThreadPoolBuilder, block_on, scope, spawn, spawn_fifo, spawn_handle,
};
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;
use testkit::drops::Ledger;

const SIZES: [usize; 4] = [1, 2, 3, 8];

fn counter() -> (Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    (Arc::clone(&count), count)
}

#[test]
fn spawned_jobs_run() {
    within(LONG, || {
        for threads in SIZES {
            let (pool, (count, total)) = (pool(threads), counter());
            let one = move || add(&count);
            pool.spawn(one.clone());
            pool.spawn_fifo(one.clone());
            let (a, b) = (one.clone(), one.clone());
            pool.install(move || (spawn(a), spawn_fifo(b)));
            let c = one.clone();
            pool.spawn(move || spawn(move || spawn_fifo(c)));
            spawn(one.clone());
            spawn_fifo(one);
            until(|| total.load(SeqCst) == 7);
        }
    });
}

#[test]
fn a_hundred_thousand_from_outside_all_run() {
    // S3.
    const JOBS: usize = 100_000;
    within(LONG, || {
        for threads in [1, 2, 8] {
            let (pool, (count, total)) = (pool(threads), counter());
            for _ in 0..JOBS {
                let count = Arc::clone(&count);
                pool.spawn(move || add(&count));
            }
            until(|| total.load(SeqCst) == JOBS);
        }
    });
}

#[test]
fn work_that_comes_before_the_workers_have_parked() {
    // S2: posted while the threads start.
    within(LONG, || {
        for round in 0..300 {
            let (pool, (send, receive)) = (pool(SIZES[round % 4]), mpsc::channel());
            pool.spawn(move || send.send(round).unwrap());
            assert_eq!(receive.recv(), Ok(round));
        }
    });
}

#[test]
fn a_pool_that_is_dropped_runs_its_jobs_first() {
    within(LONG, || {
        for round in 0..40 {
            let (pool, (count, total)) = (pool(SIZES[round % 4]), counter());
            for _ in 0..100 {
                let count = Arc::clone(&count);
                pool.spawn(move || {
                    let more = Arc::clone(&count);
                    spawn(move || add(&more));
                    count.fetch_add(1, SeqCst);
                });
            }
            drop(pool);
            assert_eq!(total.load(SeqCst), 200, "round {round}");
        }
    });
}

#[test]
fn jobs_spawned_before_a_long_one_are_found() {
    // A job spawns others and then keeps its thread.
    within(LONG, || {
        for threads in [2, 3, 8] {
            let (pool, (count, total)) = (pool(threads), counter());
            let all = Arc::clone(&total);
            pool.install(move || {
                for _ in 0..100 {
                    let count = Arc::clone(&count);
                    spawn(move || add(&count));
                }
                until(|| all.load(SeqCst) == 100);
            });
        }
    });
}

#[test]
fn jobs_outlive_claims_on_their_spawners_place() {
    // Another thread claims the slot of a worker with spawned jobs in its deque. The worker leaves these jobs to other
    // workers.
    within(LONG, || {
        let (pool, other, (count, total)) = (Arc::new(pool(1)), pool(1), counter());
        let (abroad, home) = (Flag::default(), Arc::new(Flag::default()));
        thread::scope(|callers| {
            callers.spawn(|| {
                pool.install(|| {
                    other.install(|| {
                        abroad.set();
                        home.wait();
                    });
                });
            });
            abroad.wait();
            let home = Arc::clone(&home);
            pool.spawn(move || {
                for _ in 0..3 {
                    let count = Arc::clone(&count);
                    spawn(move || add(&count));
                }
                home.set();
                // Until the first worker wants its slot again.
                thread::sleep(Duration::from_millis(20));
            });
        });
        until(|| total.load(SeqCst) == 3);
    });
}

#[test]
fn the_order_on_one_thread() {
    within(LONG, || {
        let (pool, order) = (pool(1), Arc::new(Mutex::new(vec![])));
        let note = |i: u32| {
            let order = Arc::clone(&order);
            move || order.lock().unwrap().push(i)
        };
        let done = |i: u32| order.lock().unwrap().last() == Some(&i);
        pool.install(|| (0..500).for_each(|i| spawn_fifo(note(i))));
        until(|| done(499));
        pool.install(|| (0..500).rev().for_each(|i| spawn(note(i))));
        until(|| order.lock().unwrap().len() == 1000);
        let expected: Vec<u32> = (0..500).chain(0..500).collect();
        assert_eq!(*order.lock().unwrap(), expected);
    });
}

#[test]
fn panics_go_to_the_handler() {
    // P1, P3.
    quiet_panics();
    within(LONG, || {
        for threads in SIZES {
            let (builder, receive) = telling(threads);
            let pool = builder.build().expect("a pool");
            pool.spawn(|| panic_any("on purpose: outside"));
            assert_eq!(receive.recv().unwrap(), "on purpose: outside");
            pool.install(|| spawn(|| panic_any("on purpose: inside")));
            assert_eq!(receive.recv().unwrap(), "on purpose: inside");
            pool.spawn_fifo(|| panic_any("on purpose: fifo"));
            assert_eq!(receive.recv().unwrap(), "on purpose: fifo");
            pool.spawn_broadcast(|_| panic_any("on purpose: broadcast"));
            (0..threads).for_each(|_| assert_eq!(receive.recv().unwrap(), "on purpose: broadcast"));
            assert_eq!(pool.install(|| furcate_pool::join(|| 1, || 2)), (1, 2));
        }
    });
}

/// Waits in a process that is about to end itself.
fn wait_for_the_end() -> ! {
    thread::sleep(LONG);
    panic!("still alive");
}

#[test]
fn without_a_handler_the_process_aborts() {
    // P3.
    const TEST: &str = "spawn::without_a_handler_the_process_aborts";
    if plays("victim") {
        pool(2).spawn(|| panic!("in a job"));
        wait_for_the_end();
    }
    aborted_child(TEST, "victim", "furcate: a panic handler, or a job without one, panicked; aborting");
}

/// A future with its handle dropped is like a detached thread: its panic ends nothing else.
#[test]
fn without_a_handler_the_process_outlives_a_future_that_nobody_awaits() {
    const TEST: &str = "spawn::without_a_handler_the_process_outlives_a_future_that_nobody_awaits";
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a payload's drop");
        }
    }
    if plays("victim") {
        let pool = pool(2);
        drop(pool.spawn_future(async { panic!("in a future") }));
        drop(pool.spawn_future(async { panic_any(Bomb) }));
        let handle = pool.spawn_future(async { panic!("awaited") });
        let awaited =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| furcate_pool::block_on(handle)));
        assert!(awaited.is_err(), "whoever awaits it has the panic");
        assert_eq!(pool.install(|| 7), 7);
        // Dropping the pool waits for the first two futures.
        drop(pool);
        return;
    }
    good_child(TEST, "victim", &[]);
}

#[test]
fn a_handler_that_panics_aborts_the_process() {
    // P3: the handler itself, or the payload's drop in it.
    const TEST: &str = "spawn::a_handler_that_panics_aborts_the_process";
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a payload's drop");
        }
    }
    let build = |handler: fn()| {
        ThreadPoolBuilder::new().num_threads(1).panic_handler(move |_| handler()).build().expect("a pool")
    };
    if plays("handler") {
        build(|| panic!("in the handler")).spawn(|| panic!("in a job"));
        wait_for_the_end();
    }
    if plays("payload") {
        build(|| ()).spawn(|| panic_any(Bomb));
        wait_for_the_end();
    }
    aborted_child(TEST, "handler", "a panic handler, or a job without one, panicked; aborting");
    aborted_child(TEST, "payload", "a panic handler, or a job without one, panicked; aborting");
}

#[test]
fn jobs_may_block_each_other_across_threads() {
    // Two jobs that wait for each other need two threads, and have them.
    within(LONG, || {
        let pool = pool(2);
        for _ in 0..200 {
            let (send, receive) = mpsc::channel();
            let (back, answer) = mpsc::channel();
            pool.spawn(move || send.send(()).unwrap());
            pool.spawn(move || {
                receive.recv_timeout(Duration::from_secs(30)).unwrap();
                back.send(()).unwrap();
            });
            answer.recv_timeout(Duration::from_secs(30)).unwrap();
        }
    });
}

/// Sets a flag when it is dropped.
struct SetsOnDrop(Arc<Flag>);

impl Drop for SetsOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Makes a pool whose threads all run jobs until the flag is set, by the test or by the end of the pool, which drops a pending future.
/// No other thread takes their slots over. When all of them run, each calls `then` with a scope.
fn occupied(
    builder: ThreadPoolBuilder,
    then: impl Fn(&Scope<'static>) + Send + Sync + 'static,
) -> (ThreadPool, Arc<Flag>) {
    let pool = builder.max_blocking_threads(0).build().expect("a pool");
    let threads = pool.current_num_threads();
    let (polled, release) = (Arc::new(Flag::default()), Arc::new(Flag::default()));
    let (polls, sets) = (Arc::clone(&polled), SetsOnDrop(Arc::clone(&release)));
    drop(pool.spawn_future(async move {
        polls.set();
        std::future::pending::<()>().await;
        drop(sets);
    }));
    polled.wait();
    let (begun, ready, then) = (counter().0, counter().0, Arc::new(then));
    for _ in 0..threads {
        let (begun, ready, then) = (Arc::clone(&begun), Arc::clone(&ready), Arc::clone(&then));
        let release = Arc::clone(&release);
        pool.spawn(move || {
            scope(|s| {
                add(&begun);
                until(|| begun.load(SeqCst) == threads);
                then(s);
                add(&ready);
                release.wait();
            });
        });
    }
    until(|| ready.load(SeqCst) == threads);
    (pool, release)
}

fn one_thread() -> ThreadPoolBuilder {
    ThreadPoolBuilder::new().num_threads(1)
}

#[test]
fn handles_give_what_closures_return() {
    fn sum(from: u64, to: u64) -> u64 {
        if to - from == 1 {
            return from;
        }
        let middle = from.midpoint(to);
        let [left, right] = [(from, middle), (middle, to)].map(|(a, b)| spawn_handle(move || sum(a, b)));
        block_on(left) + block_on(right)
    }
    within(LONG, || {
        for threads in SIZES {
            let pool = pool(threads);
            let handles: Vec<_> = (0..100).map(|i| pool.spawn_handle(move || i)).collect();
            assert_eq!(handles.into_iter().map(block_on).sum::<u64>(), 4950);
            // Jobs that block on the handles of the jobs that they spawn.
            assert_eq!(pool.install(|| sum(0, 32)), 496);
            assert_eq!(block_on(pool.spawn_future(async { spawn_handle(|| 7).await })), 7);
        }
        assert_eq!(sum(0, 32), 496, "from outside");
    });
}

#[test]
fn a_cancelled_closure_does_not_begin() {
    within(LONG, || {
        let (pool, release) = occupied(one_thread(), |_| ());
        let ledger = Ledger::default();
        let (value, (count, total)) = (ledger.value(0), counter());
        let handle = pool.spawn_handle(move || {
            drop(value);
            add(&count);
        });
        assert!(!handle.is_finished());
        handle.cancel();
        release.set();
        until(|| handle.is_finished());
        assert!(message(payload(|| block_on(handle))).contains("it was cancelled"));
        assert_eq!((total.load(SeqCst), ledger.alive()), (0, 0));
        // One that has begun is not interrupted.
        let (begun, release) = (Arc::new(Flag::default()), Arc::new(Flag::default()));
        let handle = pool.spawn_handle({
            let (begun, release) = (Arc::clone(&begun), Arc::clone(&release));
            move || {
                begun.set();
                release.wait();
                7
            }
        });
        begun.wait();
        handle.cancel();
        assert!(!handle.is_finished());
        release.set();
        assert_eq!(block_on(handle), 7);
    });
}

#[test]
fn a_closures_panic_is_raised_by_its_handle() {
    quiet_panics();
    within(LONG, || {
        for threads in SIZES {
            let (builder, receive) = telling(threads);
            let pool = builder.build().expect("a pool");
            let handle = pool.spawn_handle(|| panic_any("on purpose: awaited"));
            assert_eq!(message(payload(|| block_on(handle))), "on purpose: awaited");
            let dropped = Arc::new(Flag::default());
            let waits = Arc::clone(&dropped);
            drop(pool.spawn_handle(move || {
                waits.wait();
                panic_any("on purpose: not awaited")
            }));
            dropped.set();
            assert_eq!(receive.recv().unwrap(), "on purpose: not awaited");
        }
    });
}

#[test]
fn a_dropped_pool_drops_closures_with_handles_that_have_not_begun() {
    within(LONG, || {
        let (pool, _release) = occupied(one_thread(), |_| ());
        let (ledger, ran) = (Ledger::default(), Arc::new(Flag::default()));
        let (value, runs) = (ledger.value(0), Arc::clone(&ran));
        let handle = pool.spawn_handle(move || {
            drop(value);
            runs.set();
        });
        drop(pool);
        assert!(handle.is_finished() && !ran.is_set());
        assert!(message(payload(|| block_on(handle))).contains("its pool was dropped"));
        assert_eq!(ledger.alive(), 0);
    });
}

#[test]
fn an_abandoned_pool_drops_what_has_not_begun() {
    within(LONG, || {
        for threads in SIZES {
            let (ledger, ran, (scoped, in_scopes)) =
                (Ledger::default(), Arc::new(Flag::default()), counter());
            let job = {
                let (ledger, ran) = (ledger.clone(), Arc::clone(&ran));
                move || {
                    let (value, ran) = (ledger.value(0), Arc::clone(&ran));
                    move || {
                        drop(value);
                        ran.set();
                    }
                }
            };
            let builder = ThreadPoolBuilder::new().num_threads(threads);
            let (pool, _release) = occupied(builder, {
                let job = job.clone();
                move |s| {
                    // In the workers' own queues. The scope's job runs after the begin of the end, and spawns a job.
                    let (late, scoped) = (job(), Arc::clone(&scoped));
                    s.spawn(move |_| {
                        add(&scoped);
                        spawn(late);
                    });
                    spawn(job());
                    spawn_fifo(job());
                }
            });
            let mut handles = vec![];
            for index in 0..threads {
                pool.spawn(job());
                pool.spawn_fifo(job());
                pool.spawn_on(index, job());
                handles.push(pool.spawn_handle(job()));
            }
            let (value, runs) = (ledger.value(0), Arc::clone(&ran));
            pool.spawn_broadcast(move |_| {
                let _ = &value;
                runs.set();
            });
            assert_eq!(pool.abandon(), 7 * threads);
            assert!(!ran.is_set());
            assert_eq!((in_scopes.load(SeqCst), ledger.alive()), (threads, 0));
            assert_eq!(ledger.born(), 7 * threads + 1);
            assert!(handles.iter().all(JoinHandle::is_finished));
        }
    });
}

#[test]
fn values_whose_drops_panic_are_abandoned_too() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic_any("on purpose: in a drop");
        }
    }
    quiet_panics();
    within(LONG, || {
        let (builder, receive) = telling(1);
        let (pool, _release) = occupied(builder, |_| ());
        let bomb = Bomb;
        pool.spawn(move || std::mem::forget(bomb));
        pool.spawn(|| ());
        assert_eq!(pool.abandon(), 2);
        assert_eq!(receive.iter().collect::<Vec<_>>(), ["on purpose: in a drop"]);
    });
}

#[test]
fn a_pool_without_queued_jobs_can_be_abandoned() {
    within(LONG, || {
        for threads in SIZES {
            assert_eq!(pool(threads).abandon(), 0);
            let builder = ThreadPoolBuilder::new().num_threads(threads).use_current_thread();
            assert_eq!(builder.build().unwrap().abandon(), 0);
            // By one of its own threads, for which it does not wait.
            let (give, take) = mpsc::channel::<ThreadPool>();
            let (send, receive) = mpsc::channel();
            let pool = pool(threads);
            pool.spawn(move || send.send(take.recv().unwrap().abandon()).unwrap());
            give.send(pool).unwrap();
            assert_eq!(receive.recv(), Ok(0));
        }
    });
}
