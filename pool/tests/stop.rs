//! Stops from outside: they take effect at once, in any thread, and run no code of a future where they are made.

mod support;

use furcate_pool::detach::{End, Stopper, Suspend, Unattended};
use furcate_pool::{Executor, Scope, ThreadPool};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use support::suspended::*;
use support::*;

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
                let other = stopper.clone();
                thread::spawn(move || other.stop()).join().unwrap();
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

/// The thread that stops may hold a lock that a future needs to be dropped.
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

/// Stops that come when the last task of a scope ends, before it and after it: the scope may be gone in that moment.
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

/// As above, for computations that no thread waits for, and whose pool may be dropped.
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
        fn end(self, end: End<()>) {
            assert!(!matches!(end, End::Panicked(_)));
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
