//! Pools that come and go, one inside another, and at the edges of threads' and processes' lives.

use crate::support::suspended::Gate;
use crate::support::*;
use furcate_pool::detach::{SpawnedOutcome, Stopper, Suspend, Unattended};
use furcate_pool::{Executor, Scope, ThreadPool, ThreadPoolBuilder, WaitRule, join, scope, spawn};
use std::cell::RefCell;
use std::future::pending;
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Number of threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("the process's threads").count()
}

/// Number of bytes of memory that this process uses.
fn memory() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("the process's memory");
    let pages: usize = statm.split(' ').nth(1).expect("resident pages").parse().expect("a number");
    pages * 4096
}

#[test]
#[cfg(target_os = "linux")]
fn a_thousand_pools_leave_nothing_behind() {
    // Z2.
    const TEST: &str = "lifetime::a_thousand_pools_leave_nothing_behind";
    fn round(round: usize) {
        let pool = pool(1 + round % 3);
        assert_eq!(pool.install(|| fib(8)), 21);
        pool.scope(|s| (0..10).for_each(|_| s.spawn(|_| ())));
        pool.spawn(|| ());
        assert_eq!(take_part(&pool, || 1, || 2), (1, 2));
    }
    if plays("maker") {
        (0..100).for_each(round);
        let before = (threads(), memory());
        (0..1000).for_each(round);
        // The process's watchdog thread ends a moment after the last pool that it watched.
        let since = Instant::now();
        while threads() > before.0 && since.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(1));
        }
        let after = (threads(), memory());
        assert!(after.0 <= before.0, "threads: {before:?}, then {after:?}");
        assert!(after.1 <= before.1 + (8 << 20), "memory: {before:?}, then {after:?}");
        return;
    }
    good_child(TEST, "maker", &[]);
}

#[test]
fn a_pool_dropped_by_its_own_worker_ends() {
    // Z2.
    within(LONG, || {
        for threads in [1, 2, 3, 8] {
            let ended = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&ended);
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .exit_handler(move |number| {
                    if number < threads {
                        add(&count);
                    }
                })
                .build()
                .expect("a pool");
            let pool = Arc::new(pool);
            let mine = Arc::clone(&pool);
            let (send, receive) = mpsc::channel();
            pool.spawn(move || {
                receive.recv().unwrap();
                scope(|s| s.spawn(|_| drop(mine)));
                // The pool lives on until this job, and the jobs that it spawns, are done.
                assert_eq!(fib(10), 55);
                spawn(|| assert_eq!(fib(10), 55));
            });
            drop(pool);
            send.send(()).unwrap();
            // Spare threads have the same numbers.
            until(|| ended.load(SeqCst) >= threads);
        }
    });
}

#[test]
fn spawns_race_with_the_drop() {
    // Z2: every job spawned before the drop runs, from wherever it is spawned.
    within(LONG, || {
        for round in 0..300 {
            let count = Arc::new(AtomicUsize::new(0));
            let pool = Arc::new(pool(1 + round % 3));
            thread::scope(|callers| {
                for _ in 0..3 {
                    let (pool, count) = (Arc::clone(&pool), Arc::clone(&count));
                    callers.spawn(move || {
                        for _ in 0..10 {
                            let count = Arc::clone(&count);
                            pool.spawn(move || add(&count));
                        }
                        // The last one of these drops the pool.
                        drop(pool);
                    });
                }
                drop(pool);
            });
            assert_eq!(count.load(SeqCst), 30);
        }
    });
}

#[test]
fn a_pool_dropped_by_another_ones_worker_may_call_back() {
    // Z2, Z4: while it waits for the pool's last job, and that job needs the dropping thread's own pool.
    within(LONG, || {
        for _ in 0..20 {
            let outer = Arc::new(pool(1));
            let again = Arc::clone(&outer);
            outer.install(move || {
                let inner = pool(1);
                inner.spawn(move || assert_eq!(again.install(|| fib(8)), 21));
                drop(inner);
            });
        }
    });
}

#[test]
fn pools_end_right_after_their_last_call() {
    // L1, L2: the call's latch, its frame and the whole pool are gone the moment the latch is set.
    within(LONG, || {
        for round in 0..2500 {
            let pool = pool(1 + round % 2);
            match round % 5 {
                0 => assert_eq!(pool.install(|| 1), 1),
                1 => pool.scope(|s| s.spawn(|s| s.spawn(|_| ()))),
                2 => pool.in_place_scope(|s| s.spawn(|_| ())),
                3 => assert_eq!(take_part(&pool, || 1, || 2), (1, 2)),
                _ => drop(pool.broadcast(|_| ())),
            }
        }
    });
}

#[test]
fn latches_are_freed_the_moment_they_are_set() {
    // L1: every half of these joins is stolen, each time from a frame at another depth, reused at once.
    fn descend(n: u32, halves: &AtomicUsize) {
        if n == 0 {
            return;
        }
        let begun = Flag::default();
        join(
            || {
                while !begun.is_set() {
                    std::hint::spin_loop();
                    thread::yield_now();
                }
            },
            || {
                begun.set();
                add(halves);
            },
        );
        descend(n - 1, halves);
    }
    within(LONG, || {
        for rule in RULES {
            let (pool, halves) = (ruled(2, rule), AtomicUsize::new(0));
            for round in 0..300 {
                pool.install(|| descend(round % 10, &halves));
            }
            assert_eq!(halves.into_inner(), 30 * 45, "{rule:?}");
        }
    });
}

#[test]
fn workers_of_other_pools_are_told_and_gone() {
    // L2: the waiter's own pool ends as soon as the other pool's job is done.
    within(LONG, || {
        let other = Arc::new(pool(2));
        for round in 0..1000 {
            let (other, count) = (Arc::clone(&other), AtomicUsize::new(0));
            let pool = pool(1);
            pool.install(|| match round % 4 {
                0 => other.install(|| add(&count)),
                1 => other.in_place_scope(|s| s.spawn(|_| add(&count))),
                2 => drop(other.broadcast(|context| {
                    if context.index() == 0 {
                        add(&count)
                    }
                })),
                _ => _ = take_part(&other, || (), || add(&count)),
            });
            drop(pool);
            assert_eq!(count.into_inner(), 1);
        }
    });
}

/// Returns how the child ended, from `waitpid`.
#[cfg(unix)]
fn status_of(child: libc::pid_t) -> i32 {
    assert!(child > 0, "no child");
    let (mut status, since) = (0, Instant::now());
    loop {
        // SAFETY: waits for the child just made.
        match unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } {
            0 => thread::sleep(Duration::from_micros(50)),
            ended => {
                assert_eq!(ended, child);
                return status;
            }
        }
        if since.elapsed() > Duration::from_secs(20) {
            // SAFETY: the child still exists, since no `waitpid` has reaped it.
            unsafe { libc::kill(child, libc::SIGKILL) };
            panic!("the forked child hangs");
        }
    }
}

/// Runs `job` in a forked child, which then exits with `code`. Returns how the child ended, from `waitpid`.
#[cfg(unix)]
fn forked(code: i32, job: impl FnOnce()) -> i32 {
    // SAFETY: the child calls nothing but `job` and `_exit`. The system's allocator works in a forked child.
    match unsafe { libc::fork() } {
        0 => {
            job();
            // SAFETY: ends the child, which has nothing to clean up.
            unsafe { libc::_exit(code) }
        }
        child => status_of(child),
    }
}

/// The parent's watchdog is at work on busy pools when the process forks. The child has a watchdog of its own, for its
/// own pools.
#[test]
#[cfg(unix)]
fn a_forked_child_leaves_busy_pools_to_the_parent() {
    const TEST: &str = "lifetime::a_forked_child_leaves_busy_pools_to_the_parent";
    const SAID: i32 = 7;
    /// A pool whose only thread is busy for some time, with a job that waits in the queue meanwhile.
    fn busy(time: Duration, ran: &Arc<AtomicUsize>) -> ThreadPool {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let begun = Arc::<Flag>::default();
        let begins = Arc::clone(&begun);
        pool.spawn(move || {
            begins.set();
            spin(time);
        });
        begun.wait();
        let runs = Arc::clone(ran);
        pool.spawn(move || add(&runs));
        pool
    }
    if plays("forker") {
        let ran = Arc::<AtomicUsize>::default();
        for round in 0..5 {
            let pools = [(); 2].map(|()| busy(Duration::from_millis(300), &ran));
            // From now on the watchdog looks at the pools, and finds their queues overdue after some milliseconds.
            thread::sleep(Duration::from_micros(500 * round));
            let status = forked(SAID, || {
                let at_fork = ran.load(SeqCst);
                let own = Arc::<AtomicUsize>::default();
                for _ in 0..3 {
                    drop(busy(Duration::from_millis(5), &own));
                }
                assert_eq!(own.load(SeqCst), 3, "a pool that is dropped runs its jobs first");
                drop(pools);
                assert_eq!(ran.load(SeqCst), at_fork, "the parent's jobs are not the child's");
            });
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == SAID, "{status:#x}");
            until(|| ran.load(SeqCst) == 2 * (round as usize + 1));
        }
        return;
    }
    good_child(TEST, "forker", &[]);
}

/// A worker of the parent holds a token at the fork. The child's thread, which is one of the pool's, leaves its slot when the child exits.
#[test]
#[cfg(unix)]
fn a_forked_child_gives_no_token_of_its_parent_back() {
    const TEST: &str = "lifetime::a_forked_child_gives_no_token_of_its_parent_back";
    if plays("builder") {
        let client = jobserver::Client::new(1).expect("a pipe");
        let builder = ThreadPoolBuilder::new().num_threads(2).use_current_thread();
        let pool = builder.jobserver(client.clone()).build().expect("a pool");
        let (begun, end) = (Arc::<Flag>::default(), Arc::<Flag>::default());
        let (begins, ends) = (Arc::clone(&begun), Arc::clone(&end));
        pool.spawn(move || {
            begins.set();
            ends.wait();
        });
        begun.wait();
        assert_eq!(client.available().expect("a pipe"), 0);
        let status = forked(0, || std::process::exit(7));
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7, "{status:#x}");
        assert_eq!(client.available().expect("a pipe"), 0);
        end.set();
        drop(pool);
        return assert_eq!(client.available().expect("a pipe"), 1);
    }
    good_child(TEST, "builder", &[]);
}

/// The pool's threads take and release its locks all the time. Some forks come while a thread holds a lock, and that thread stays in
/// the parent. A stop and a wake have no effect in the child.
#[test]
#[cfg(unix)]
fn a_forked_child_does_not_wait_for_a_lock_of_the_parent() {
    const TEST: &str = "lifetime::a_forked_child_does_not_wait_for_a_lock_of_the_parent";
    const DONE: i32 = 7;
    const ROUNDS: usize = 150;
    /// A computation that waits for ever, or for its stop.
    struct Waits(mpsc::Sender<Stopper>);
    impl Unattended<&ThreadPool> for Waits {
        fn begin<'s>(&'s mut self, scope: &Scope<'s>) {
            drop(scope.spawn_future(pending::<()>()));
            self.0.send(scope.handle().stopper()).expect("the test waits for it");
        }
        fn end(self, _: SpawnedOutcome<()>) {}
    }
    if plays("forker") {
        let (pool, over) = (&pool(3), &Flag::default());
        let (send, receive) = mpsc::channel();
        thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    while !over.is_set() {
                        pool.enter(|| ());
                    }
                });
            }
            for _ in 0..ROUNDS {
                pool.spawn_detached(Waits(send.clone()));
                let stopper = receive.recv().expect("it has begun");
                let gate = Arc::<Gate>::default();
                drop(pool.spawn_future(gate.wait_for()));
                until(|| gate.waiting() > 0);
                let status = forked(DONE, || {
                    stopper.stop();
                    gate.open();
                });
                assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == DONE, "{status:#x}");
                stopper.stop();
                gate.open();
            }
            over.set();
        });
        return;
    }
    good_child(TEST, "forker", &[]);
}

#[test]
#[cfg(unix)]
fn a_forked_child_says_so() {
    // Z3: in a process of its own, whose other threads the forked child does not have.
    const TEST: &str = "lifetime::a_forked_child_says_so";
    const SAID: i32 = 7;
    /// Forks in the left half of a join while the right one runs in another thread: the signal that ends the child.
    fn forked_in_a_join(pool: &ThreadPool) -> i32 {
        pool.install(|| {
            let (begun, go, mut child) = (Flag::default(), Flag::default(), 0);
            let mut signal = 0;
            join(
                || {
                    begun.wait();
                    // SAFETY: the child only returns to the join.
                    child = unsafe { libc::fork() };
                    if child > 0 {
                        signal = libc::WTERMSIG(status_of(child));
                        go.set();
                    }
                },
                || {
                    begun.set();
                    go.wait();
                },
            );
            if child == 0 {
                // SAFETY: ends the child.
                unsafe { libc::_exit(9) }
            }
            signal
        })
    }
    fn in_child(use_pool: impl FnOnce()) -> i32 {
        // SAFETY: the child calls nothing but the pool's code, the panic machinery and `_exit`; in this process no
        // other thread of the test is in the allocator.
        match unsafe { libc::fork() } {
            0 => {
                let text = message(payload(use_pool));
                let said = text.contains("a forked child must make its own pool");
                // SAFETY: ends the child, which has nothing to clean up.
                unsafe { libc::_exit(if said { SAID } else { 8 }) }
            }
            child => libc::WEXITSTATUS(status_of(child)),
        }
    }
    if plays("forker") {
        quiet_panics();
        let own = pool(2);
        assert_eq!((own.install(|| fib(10)), fib(10)), (55, 55));
        // No thread of the pool is in the middle of a job.
        thread::sleep(Duration::from_millis(100));
        assert_eq!(in_child(|| own.install(|| ())), SAID, "install");
        assert_eq!(in_child(|| own.spawn(|| ())), SAID, "spawn");
        assert_eq!(in_child(|| own.in_place_scope(|s| s.spawn(|_| ()))), SAID, "in_place_scope");
        assert_eq!(in_child(|| drop(own.broadcast(|_| ()))), SAID, "broadcast");
        assert_eq!(in_child(|| _ = take_part(&own, || (), || ())), SAID, "join_context");
        assert_eq!(in_child(|| _ = join(|| (), || ())), SAID, "join");
        assert_eq!(in_child(|| scope(|_| ())), SAID, "scope");
        assert_eq!(in_child(|| spawn(|| ())), SAID, "the global pool's spawn");
        let third = pool(1);
        assert_eq!(third.install(|| 1), 1);
        let dropped = in_child(|| {
            drop(third);
            panic!("a forked child must make its own pool, and drops this one");
        });
        assert_eq!(dropped, SAID, "drop");
        assert_eq!(forked_in_a_join(&own), libc::SIGABRT, "a half that the child does not have");
        let its_own = in_child(|| {
            assert_eq!(pool(2).install(|| fib(10)), 55);
            panic!("a forked child must make its own pool, and it works");
        });
        assert_eq!(its_own, SAID, "a pool of its own");
        assert_eq!((own.install(|| fib(10)), fib(10)), (55, 55), "the parent's go on");
        return;
    }
    good_child(TEST, "forker", &[]);
}

/// Ways to call a pool from a worker of another one.
const WAYS: usize = 4;

fn call(pool: &ThreadPool, way: usize, f: impl FnOnce() + Send) {
    match way {
        0 => pool.install(f),
        1 => pool.scope(|s| s.spawn(|_| f())),
        2 => pool.in_place_scope(|s| s.spawn(|_| f())),
        _ => _ = take_part(pool, || (), f),
    }
}

#[test]
fn pools_of_one_thread_nest() {
    // Z4: A -> B -> C -> ..., and A -> B -> A -> B -> ...
    fn descend(pools: &[ThreadPool], depth: usize, way: usize) -> usize {
        if depth == 0 {
            return 1;
        }
        let mut below = 0;
        let (_, here) =
            join(|| call(&pools[depth % pools.len()], way, || below = descend(pools, depth - 1, way)), || 1);
        below + here
    }
    within(LONG, || {
        for rule in RULES {
            for number in [1, 2, 5] {
                let pools: Vec<_> = (0..number).map(|_| ruled(1, rule)).collect();
                for way in 0..WAYS {
                    for depth in [1, 5, 10] {
                        assert_eq!(
                            descend(&pools, depth, way),
                            depth + 1,
                            "{rule:?}, {number} pools, way {way}"
                        );
                    }
                }
            }
        }
    });
}

#[test]
fn pools_without_spare_threads_nest() {
    // Z4: no thread can take a waiting worker's slot.
    within(LONG, || {
        let make = |_| {
            ThreadPoolBuilder::new()
                .num_threads(1)
                .spawn_handler(|thread| thread::Builder::new().spawn(|| thread.run()).map(drop))
                .build()
                .expect("a pool")
        };
        let pools: [ThreadPool; 2] = std::array::from_fn(make);
        for way in 0..WAYS {
            let (count, [a, b]) = (AtomicUsize::new(0), &pools);
            call(a, way, || {
                join(|| call(b, way, || call(a, way, || add(&count))), || add(&count));
            });
            assert_eq!(count.into_inner(), 2, "way {way}");
        }
    });
}

#[test]
fn more_calls_nest_than_there_are_spare_threads() {
    // Z4: each level leaves a forked half to a spare thread, and waits for it.
    fn descend(other: &ThreadPool, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let hop = || other.install(|| thread::sleep(Duration::from_micros(100)));
        join(hop, || 1 + descend(other, depth - 1)).1
    }
    within(LONG, || {
        let (a, b) = (pool(1), pool(1));
        assert_eq!(a.install(|| descend(&b, 150)), 150);
    });
}

#[test]
fn calls_from_both_sides_cross() {
    // Z4: A's workers call B while B's call A.
    within(LONG, || {
        for rule in [WaitRule::Descendants, WaitRule::Any] {
            for threads in [1, 2] {
                let (a, b) = (&ruled(threads, rule), &ruled(threads, rule));
                thread::scope(|callers| {
                    for caller in 0..4 {
                        callers.spawn(move || {
                            let (a, b) = if caller % 2 == 0 { (a, b) } else { (b, a) };
                            for way in 0..100 {
                                let mut done = false;
                                call(a, way % WAYS, || {
                                    call(b, (way / WAYS) % WAYS, || call(a, 0, || done = true))
                                });
                                assert!(done);
                            }
                        });
                    }
                });
            }
        }
    });
}

#[test]
fn thread_locals_may_call_when_they_end() {
    // Z4: on a thread that is ending, of a pool and of none. The thread-locals are first used after the pool's own, and
    // before them.
    struct Last(mpsc::Sender<u64>, Arc<ThreadPool>);
    impl Drop for Last {
        fn drop(&mut self) {
            scope(|s| s.spawn(|_| ()));
            let here = fib(10);
            let there = self.1.install(|| fib(10)) + take_part(&self.1, || 1, || 2).0;
            let _ = self.0.send(here + there);
        }
    }
    thread_local! {
        static LAST: RefCell<Option<Last>> = const { RefCell::new(None) };
    }
    within(LONG, || {
        let other = Arc::new(pool(1));
        for first in [true, false] {
            let (send, receive) = mpsc::channel();
            let last = Last(send.clone(), Arc::clone(&other));
            thread::spawn(move || {
                if first {
                    assert_eq!(fib(5), 5);
                }
                LAST.set(Some(last));
                assert_eq!(fib(5), 5);
            });
            assert_eq!(receive.recv(), Ok(111));
            let last = Last(send, Arc::clone(&other));
            let pool = pool(1);
            pool.install(move || LAST.set(Some(last)));
            drop(pool);
            assert_eq!(receive.recv(), Ok(111));
        }
    });
}

#[test]
fn drops_may_call_while_a_panic_unwinds() {
    // Z4.
    struct Calls<'a>(&'a ThreadPool, &'a AtomicUsize);
    impl Drop for Calls<'_> {
        fn drop(&mut self) {
            assert!(thread::panicking());
            let count = self.1;
            join(|| add(count), || add(count));
            scope(|s| s.spawn(|_| add(count)));
            self.0.install(|| join(|| add(count), || add(count)));
        }
    }
    within(LONG, || {
        for threads in [1, 2, 8] {
            let (pool, other) = (pool(threads), crate::support::pool(1));
            for target in [&pool, &other] {
                let count = AtomicUsize::new(0);
                let unwind = || {
                    let _calls = Calls(target, &count);
                    join(|| panic_any("on purpose: unwinds"), || add(&count)).0
                };
                assert_eq!(message(payload(|| pool.install(unwind))), "on purpose: unwinds");
                assert_eq!(message(payload(unwind)), "on purpose: unwinds");
                assert_eq!(count.into_inner(), 12);
            }
        }
    });
}

/// A pool that its adopted thread drops inside a scope of its own ends after the scope.
#[test]
fn pools_dropped_in_their_own_scopes() {
    for threads in [1, 2] {
        // Each time in a thread of its own.
        within(LONG, move || {
            let builder = ThreadPoolBuilder::new().num_threads(threads).use_current_thread();
            let (pool, ran) = (builder.build().expect("a pool"), AtomicUsize::new(0));
            scope(|s| {
                drop(pool);
                s.spawn(|_| {
                    ran.fetch_add(1, SeqCst);
                });
            });
            assert_eq!(ran.into_inner(), 1);
        });
    }
}

/// A worker of one pool that calls another one by its executor goes on serving its own.
#[test]
fn workers_serve_their_own_pool_during_calls_by_executor() {
    within(LONG, || {
        for rule in [WaitRule::Descendants, WaitRule::Leapfrog, WaitRule::Any] {
            let p = ThreadPoolBuilder::new().num_threads(1).wait_rule(rule).build().expect("a pool");
            let q = crate::support::pool(1);
            let broadcast = || p.broadcast(|context| context.index());
            let (back, seen) =
                p.install(|| Executor::join_context(&&q, |_| p.install(|| 1), |_| broadcast()));
            assert_eq!((back, seen), (1, vec![0]), "{rule:?}");
        }
    });
}

#[test]
fn a_drop_that_does_not_wait_returns_before_the_jobs_have_run() {
    within(LONG, || {
        for size in [1, 2, 8] {
            let (go, wait) = mpsc::channel();
            let (done, result) = mpsc::channel();
            let ended = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&ended);
            let pool = ThreadPoolBuilder::new()
                .num_threads(size)
                .wait_on_drop(false)
                .exit_handler(move |_| _ = count.fetch_add(1, SeqCst))
                .build()
                .expect("a pool");
            // The job waits for what happens after the drop, and spawns another one.
            pool.spawn(move || {
                let number: usize = wait.recv().expect("sent below");
                furcate_pool::spawn(move || done.send(number).expect("received below"));
            });
            drop(pool);
            go.send(size).expect("the job is there");
            assert_eq!(result.recv(), Ok(size));
            // Spare threads count, too.
            until(|| ended.load(SeqCst) >= size);
        }
    });
}

/// The pool's first future that no thread waits for is spawned after the pool was told to end.
#[test]
fn a_future_that_a_last_job_spawns_is_dropped() {
    struct Tells(mpsc::Sender<()>);
    impl Drop for Tells {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let pool = ThreadPoolBuilder::new().num_threads(1).wait_on_drop(false).build().unwrap();
    let (go, wait) = mpsc::channel::<()>();
    let (send, dropped) = mpsc::channel();
    pool.spawn(move || {
        wait.recv().unwrap();
        let tells = Tells(send);
        drop(furcate_pool::spawn_future(async move {
            pending::<()>().await;
            drop(tells);
        }));
    });
    drop(pool);
    go.send(()).unwrap();
    assert_eq!(dropped.recv_timeout(Duration::from_secs(10)), Ok(()));
}

#[test]
fn an_exit_handler_may_wait_for_the_thread_that_drops_a_pool_without_waiting() {
    within(LONG, || {
        let barrier = Arc::new(std::sync::Barrier::new(5));
        let handler = Arc::clone(&barrier);
        let pool = ThreadPoolBuilder::new().num_threads(4).wait_on_drop(false);
        drop(pool.exit_handler(move |_| _ = handler.wait()).build().expect("a pool"));
        barrier.wait();
    });
}

#[test]
#[cfg(target_os = "linux")]
fn pools_that_do_not_wait_leave_nothing_behind() {
    const TEST: &str = "lifetime::pools_that_do_not_wait_leave_nothing_behind";
    if !plays("maker") {
        // In a process of its own, where no other test starts threads.
        good_child(TEST, "maker", &[]);
        return;
    }
    let before = threads();
    for round in 0..200 {
        let pool = ThreadPoolBuilder::new().num_threads(4).wait_on_drop(false).build().expect("a pool");
        if round % 2 == 0 {
            pool.install(|| furcate_pool::join(|| (), || ()));
        }
    }
    until(|| threads() <= before);
}
