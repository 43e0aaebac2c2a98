//! Stops from outside: they take effect at once, from any thread, and run no code of a future on the stopping thread.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::detach::{SpawnedOutcome, Stopper, Suspend, Unattended};
use furcate_pool::{Executor, Scope, ThreadPool, ThreadPoolBuilder, WaitRule, block_on};
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

fn stopper(scope: &Scope<'_>) -> Stopper {
    scope.handle().stopper()
}

#[test]
fn what_waits_is_dropped_and_what_is_queued_is_not_polled() {
    for woken in [false, true] {
        within(LONG, move || {
            let (pool, gate, told) = (pool(1), Gate::default(), AtomicUsize::new(0));
            let stopper = call(&pool, |scope| {
                for _ in 0..500 {
                    start_or(scope, &told, gate.wait(), |_, (), _| panic!("resumed"));
                }
                if woken {
                    gate.open();
                }
                let stopper = stopper(scope);
                assert!(!stopper.has_stopped());
                let (other, stopped) = (stopper.clone(), Arc::<Flag>::default());
                let stops = Arc::clone(&stopped);
                drop(thread::spawn(move || {
                    other.stop();
                    stops.set();
                }));
                // Not by `join`: a thread that blocks loses its slot, and the next holder would drop the tasks.
                stopped.wait();
                assert!(scope.handle().is_cancelled());
                assert_eq!(told.load(SeqCst), 0, "nothing is dropped by the thread that stops");
                stopper
            });
            assert!(stopper.has_stopped());
            assert_eq!((told.into_inner(), gate.polls()), (500, 500));
            settled(&pool);
        });
    }
}

/// The worker that drops the suspended tasks is held up, while another worker takes the queued ones.
#[test]
fn what_is_queued_is_not_polled_while_what_waits_is_dropped() {
    struct HoldsUp<'f> {
        begun: &'f Flag,
        over: &'f Flag,
    }
    impl Drop for HoldsUp<'_> {
        fn drop(&mut self) {
            self.begun.set();
            self.over.wait();
        }
    }

    within(LONG, || {
        const TASKS: usize = 100;
        let (pool, gate, told) = (pool(2), Gate::default(), AtomicUsize::new(0));
        let (held_up, over) = (Flag::default(), Flag::default());
        let [is_busy, go] = [(); 2].map(|()| Arc::<Flag>::default());
        let (begins, goes) = (Arc::clone(&is_busy), Arc::clone(&go));
        pool.spawn(move || {
            begins.set();
            goes.wait();
        });
        is_busy.wait();
        thread::scope(|threads| {
            threads.spawn(|| {
                call(&pool, |scope| {
                    let holds_up = |_| {
                        let guard = HoldsUp { begun: &held_up, over: &over };
                        let waits = async move {
                            let _guard = guard;
                            pending::<()>().await;
                        };
                        start_or(scope, &told, waits, |_, (), _| panic!("resumed"));
                    };
                    // Before and after the others: the first task that is dropped holds up the worker, in any order of
                    // drops.
                    (0..20).for_each(holds_up);
                    for _ in 0..TASKS {
                        start_or(scope, &told, gate.wait(), |_, (), _| panic!("resumed"));
                    }
                    (0..20).for_each(holds_up);
                    // The other worker is busy, so the tasks are queued now.
                    gate.open();
                    stopper(scope).stop();
                });
            });
            held_up.wait();
            go.set();
            until(|| told.load(SeqCst) >= TASKS || gate.polls() > TASKS);
            over.set();
        });
        assert_eq!((told.into_inner(), gate.polls()), (TASKS + 40, TASKS));
        settled(&pool);
    });
}

/// The thread that stops may hold a lock that a future's drop needs.
#[test]
fn a_stop_under_a_lock() {
    struct Locks<'m>(&'m Mutex<usize>);
    impl Drop for Locks<'_> {
        fn drop(&mut self) {
            *self.0.lock().unwrap() += 1;
        }
    }

    on_pools(|pool| {
        let (dropped, gate, told) = (Mutex::new(0), Gate::default(), AtomicUsize::new(0));
        let (send, receive) = mpsc::channel();
        thread::scope(|threads| {
            threads.spawn(|| {
                call(pool, |scope| {
                    for _ in 0..100 {
                        let (guard, wait) = (Locks(&dropped), gate.wait());
                        let waits = async move {
                            let _guard = guard;
                            wait.await;
                        };
                        start_or(scope, &told, waits, |_, (), _| panic!("resumed"));
                    }
                    send.send(stopper(scope)).unwrap();
                });
            });
            let stopper: Stopper = receive.recv().unwrap();
            let locked = dropped.lock().unwrap();
            stopper.stop();
            assert_eq!(*locked, 0);
            drop(locked);
        });
        assert_eq!((dropped.into_inner().unwrap(), told.into_inner()), (100, 100));
    });
}

/// A worker that comes to the end of a job drops the suspended tasks before it runs jobs that were queued earlier.
#[test]
fn what_waits_is_dropped_before_queued_jobs() {
    within(LONG, || {
        let (pool, held) = (pool(1), Arc::<Flag>::default());
        let (gate, told, jobs) = (Gate::default(), AtomicUsize::new(0), Arc::<AtomicUsize>::default());
        let (send, receive) = mpsc::channel();
        thread::scope(|threads| {
            threads.spawn(|| {
                pool.in_place_scope(|scope| {
                    for _ in 0..100 {
                        start_or(scope, &told, gate.wait(), |_, (), _| panic!("resumed"));
                    }
                    send.send(stopper(scope)).unwrap();
                });
            });
            let stopper: Stopper = receive.recv().unwrap();
            let (hold, begun) = (Arc::clone(&held), Arc::<Flag>::default());
            let begins = Arc::clone(&begun);
            pool.spawn(move || {
                begins.set();
                hold.wait();
            });
            begun.wait();
            for _ in 0..1000 {
                let jobs = Arc::clone(&jobs);
                pool.spawn(move || add(&jobs));
            }
            stopper.stop();
            held.set();
            until(|| told.load(SeqCst) == 100);
            assert!(stopper.has_stopped());
        });
        until(|| jobs.load(SeqCst) == 1000);
    });
}

#[test]
fn a_stop_behind_the_end_does_nothing() {
    on_pools(|pool| {
        let stopper = call(pool, |scope| stopper(scope));
        stopper.stop();
        assert!(!stopper.has_stopped());
        let cancelled = call(pool, |scope| {
            scope.handle().cancel();
            let stopper = self::stopper(scope);
            stopper.stop();
            stopper
        });
        cancelled.stop();
        assert!(!cancelled.has_stopped(), "it was cancelled before");
    });
    Stopper::default().stop();
}

/// A pool without spare threads: one thread waits for the end of the stopped computation, and the other thread waits
/// for the first.
#[test]
fn a_stop_is_heard_where_no_thread_stands_in() {
    struct Waits {
        stopper: mpsc::Sender<Stopper>,
        gate: Arc<Gate>,
    }
    struct Opens(Arc<Gate>);
    impl Drop for Opens {
        fn drop(&mut self) {
            self.0.open();
        }
    }
    impl Unattended<&ThreadPool> for Waits {
        fn begin<'s>(&'s mut self, scope: &Scope<'s>) {
            let opens = Opens(Arc::clone(&self.gate));
            drop(scope.spawn_future(async move {
                let _opens = opens;
                pending::<()>().await;
            }));
            self.stopper.send(stopper(scope)).unwrap();
        }
        fn end(self, _: SpawnedOutcome<()>) {}
    }

    within(LONG, || {
        let leapfrog = ThreadPoolBuilder::new().num_threads(2).wait_rule(WaitRule::Leapfrog);
        let handler = ThreadPoolBuilder::new()
            .num_threads(2)
            .spawn_handler(|thread| thread::Builder::new().spawn(|| thread.run()).map(drop));
        for pool in [leapfrog.build(), handler.build()].map(|pool| pool.expect("a pool")) {
            let (gate, begun) = (Arc::<Gate>::default(), Arc::<Flag>::default());
            let (send, receive) = mpsc::channel();
            (&pool).spawn_detached(Waits { stopper: send, gate: Arc::clone(&gate) });
            let stopper = receive.recv().unwrap();
            let (release, released) = mpsc::channel::<()>();
            let begins = Arc::clone(&begun);
            pool.spawn(move || {
                begins.set();
                released.recv().unwrap();
            });
            begun.wait();
            let stops = thread::spawn({
                let gate = Arc::clone(&gate);
                move || {
                    until(|| gate.waiting() == 1);
                    stopper.stop();
                }
            });
            pool.install(|| {
                block_on(gate.wait());
                release.send(()).unwrap();
            });
            stops.join().unwrap();
        }
    });
}

/// Stops that come before, at and after the end of the last task of a scope: the scope may be gone at that moment.
#[test]
fn stops_race_with_the_end() {
    on_pools(|pool| {
        let (send, receive) = mpsc::channel::<Stopper>();
        let stops = thread::spawn(move || {
            for (i, stopper) in receive.into_iter().enumerate() {
                (0..i % 200).for_each(|_| std::hint::spin_loop());
                stopper.stop();
            }
        });
        for round in 0..2000 {
            let (resumed, told) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let stopper = call(pool, |scope| {
                let stopper = stopper(scope);
                send.send(stopper.clone()).unwrap();
                for i in 0..round % 4 {
                    start_or(scope, &told, Restless(i), |_, (), _| add(&resumed));
                }
                stopper
            });
            let (resumed, told) = (resumed.into_inner(), told.into_inner());
            assert_eq!(resumed + told, round % 4);
            assert!(told == 0 || stopper.has_stopped());
        }
        drop(send);
        stops.join().unwrap();
    });
}

/// As above, for spawned roots, whose pool may be dropped.
#[test]
fn stops_race_with_the_end_of_what_nobody_waits_for() {
    struct Waits {
        gate: Arc<Gate>,
        stoppers: mpsc::Sender<Stopper>,
        ended: Arc<AtomicUsize>,
        told: AtomicUsize,
    }
    impl Unattended<&ThreadPool> for Waits {
        fn begin<'s>(&'s mut self, scope: &Scope<'s>) {
            for _ in 0..3 {
                start_or(scope, &self.told, self.gate.wait_for(), |_, (), _| {});
            }
            self.stoppers.send(stopper(scope)).unwrap();
        }
        fn end(self, end: SpawnedOutcome<()>) {
            assert!(!matches!(end, SpawnedOutcome::Panicked(_)));
            add(&self.ended);
        }
    }

    within(LONG, || {
        let ended = Arc::<AtomicUsize>::default();
        for round in 0..300 {
            let pool = pool(1 + round % 3);
            let (stoppers, receive) = mpsc::channel();
            let gate = Arc::<Gate>::default();
            for _ in 0..3 {
                let (gate, ended) = (Arc::clone(&gate), Arc::clone(&ended));
                (&pool).spawn_detached(Waits {
                    gate,
                    stoppers: stoppers.clone(),
                    ended,
                    told: AtomicUsize::new(0),
                });
            }
            drop(stoppers);
            let stops = thread::spawn(move || receive.into_iter().for_each(|stopper| stopper.stop()));
            match round % 3 {
                0 => drop(pool),
                1 => gate.open(),
                _ => {}
            }
            stops.join().unwrap();
        }
        until(|| ended.load(SeqCst) == 900);
    });
}
