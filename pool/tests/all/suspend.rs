//! Tasks that wait: each goes on once, whichever thread wakes it, and at any time.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::detach::Suspend;
use furcate_pool::{Executor, Inline, Pool, Scope};
use std::future::{poll_fn, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

#[test]
fn what_is_ready_needs_no_task() {
    on_pools(|pool| {
        let sum = AtomicUsize::new(0);
        call(pool, |scope| {
            for i in 0..100 {
                assert!(start(scope, ready(i), |_, i, _| add_up(&sum, i)));
            }
        });
        assert_eq!(sum.into_inner(), 4950);
        let total = pool.stats().total();
        assert_eq!((total.polls, total.ready, total.suspensions), (100, 100, 0));
    });
}

#[test]
fn what_is_pending_goes_on_when_it_is_woken() {
    on_pools(|pool| {
        let (alarm, went_on) = (Alarm::new(), AtomicUsize::new(0));
        call(pool, |scope| assert!(!start(scope, alarm.future(1), |_, (), _| add(&went_on))));
        assert_eq!(went_on.into_inner(), 1);
        let total = pool.stats().total();
        assert_eq!((total.polls, total.ready, total.suspensions, total.resumes), (2, 0, 1, 1));
    });
}

#[test]
fn every_engine_goes_on() {
    fn check<E: Executor>(engine: &E, threads: usize, about: &str) {
        let (alarm, sum) = (Alarm::new(), AtomicUsize::new(0));
        engine.detached(|scope| {
            for i in 0..50 {
                let future = alarm.future(i % 4);
                start(scope, future, |_, (), _| add(&sum));
            }
        });
        assert_eq!(sum.into_inner(), 50, "{about}, {threads} threads");
    }
    detached::everywhere!(check);
    within(LONG, || {
        check(&Inline, 1, "inline");
        check(&Pool, 0, "the global pool");
    });
}

#[test]
fn many_wait_at_once() {
    on_pools(|pool| {
        let (gate, watch, sum) = (Gate::default(), Watch::default(), AtomicUsize::new(0));
        const MANY: usize = 3000;
        thread::scope(|threads| {
            threads.spawn(|| {
                until(|| gate.waiting() == MANY);
                gate.open();
            });
            call(pool, |scope| {
                for i in 0..MANY {
                    let sum = &sum;
                    start(scope, watch.on(gate.wait()), move |_, (), _| add_up(sum, i));
                }
            });
        });
        assert_eq!(sum.into_inner(), MANY * (MANY - 1) / 2);
        assert_eq!(gate.polls(), 2 * MANY);
        watch.check(MANY);
    });
}

#[test]
fn what_was_resumed_may_wait_again() {
    // A chain of tasks, each suspended by the one before; and a tree of them.
    fn chain<'s>(scope: &Scope<'s>, alarm: &'s Alarm, left: usize, ends: &'s AtomicUsize) {
        match left.checked_sub(1) {
            None => add(ends),
            Some(left) => {
                start(scope, alarm.future(1), move |scope: &Scope<'s>, (), _| {
                    chain(scope, alarm, left, ends)
                });
            }
        }
    }
    fn tree<'s>(scope: &Scope<'s>, alarm: &'s Alarm, depth: usize, ends: &'s AtomicUsize) {
        if depth == 0 {
            return add(ends);
        }
        for _ in 0..3 {
            start(scope, alarm.future(1), move |scope: &Scope<'s>, (), _| {
                tree(scope, alarm, depth - 1, ends)
            });
        }
    }
    on_pools(|pool| {
        let (alarm, ends) = (Alarm::new(), AtomicUsize::new(0));
        call(pool, |scope| {
            (0..10).for_each(|_| chain(scope, &alarm, 100, &ends));
            tree(scope, &alarm, 5, &ends);
        });
        assert_eq!(ends.into_inner(), 10 + 243);
    });
}

#[test]
fn many_wakes_are_one() {
    // W1: k threads wake one suspended task at once, while the poll that they cause is held back.
    on_pools(|pool| {
        for wakers in [2, 3, 8] {
            for _ in 0..20 {
                let (gate, went_on) = (Gate::default(), AtomicUsize::new(0));
                let begun = AtomicUsize::new(0);
                thread::scope(|threads| {
                    for _ in 0..wakers {
                        threads.spawn(|| {
                            until(|| gate.waiting() == 1);
                            let waker = gate.wakers().remove(0);
                            add(&begun);
                            until(|| begun.load(SeqCst) == wakers);
                            gate.unlock();
                            waker.wake_by_ref();
                            waker.wake();
                        });
                    }
                    call(pool, |scope| {
                        start(scope, gate.wait(), |_, (), _| add(&went_on));
                    });
                });
                assert_eq!((gate.polls(), went_on.into_inner()), (2, 1));
            }
        }
    });
}

#[test]
fn a_future_that_wakes_itself_is_polled_again_and_again() {
    // W2.
    let times = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    on_pools(move |pool| {
        let (went_on, before) = (AtomicUsize::new(0), pool.stats().total().polls);
        call(pool, |scope| {
            start(scope, Restless(times), |_, (), _| add(&went_on));
        });
        assert_eq!(went_on.into_inner(), 1);
        assert_eq!(pool.stats().total().polls - before, times as u64 + 1);
    });
}

#[test]
fn a_wake_in_a_poll_is_neither_lost_nor_early() {
    // W2: another thread wakes during a poll, which ends only after the wake; and between two polls, before the task is
    // suspended.
    on_pools(|pool| {
        thread::scope(|threads| {
            let (send, receive) = std::sync::mpsc::channel::<(Waker, Arc<Flag>)>();
            threads.spawn(move || {
                for (waker, woken) in receive {
                    waker.wake();
                    woken.set();
                }
            });
            let (in_poll, went_on) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let (in_poll, went_on) = (&in_poll, &went_on);
            call(pool, move |scope| {
                for _ in 0..100 {
                    let (send, mut left) = (send.clone(), 3);
                    let future = poll_fn(move |context| {
                        add(in_poll);
                        if left == 0 {
                            in_poll.fetch_sub(1, SeqCst);
                            return Poll::Ready(());
                        }
                        left -= 1;
                        let woken = Arc::new(Flag::default());
                        send.send((context.waker().clone(), Arc::clone(&woken))).unwrap();
                        woken.wait();
                        in_poll.fetch_sub(1, SeqCst);
                        Poll::Pending
                    });
                    start(scope, future, |_, (), _| add(went_on));
                }
                // The wake comes between the poll and the suspension.
                for _ in 0..100 {
                    let waker = Arc::new(Mutex::new(None::<Waker>));
                    let kept = Arc::clone(&waker);
                    let mut first = true;
                    let future = poll_fn(move |context| {
                        if !std::mem::take(&mut first) {
                            return Poll::Ready(());
                        }
                        *kept.lock().unwrap() = Some(context.waker().clone());
                        Poll::Pending
                    });
                    let pending = scope.handle().poll(&mut Default::default(), future, || {
                        waker.lock().unwrap().take().unwrap().wake();
                        Then { resume: |_: &Scope<'_>, (), _| add(went_on), cancelled: None }
                    });
                    assert_eq!(pending, None);
                }
            });
            assert_eq!(went_on.load(SeqCst), 200);
            assert_eq!(in_poll.load(SeqCst), 0);
        });
    });
}

#[test]
fn polls_exclude_each_other() {
    // W2: a future that several threads wake all the time is polled by one thread at a time, and sees the writes of the
    // last poll.
    on_pools(|pool| {
        let (gate, polled, ended) = (Gate::default(), AtomicBool::new(false), Flag::default());
        thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| {
                    while !ended.is_set() {
                        gate.wakers().into_iter().for_each(Waker::wake);
                        thread::yield_now();
                    }
                });
            }
            let mut count = 0_u64;
            let (gate, polled, ended) = (&gate, &polled, &ended);
            call(pool, |scope| {
                let future = poll_fn(move |context| {
                    assert!(!polled.swap(true, Relaxed), "polled by two at once");
                    if count == 0 {
                        gate.wakers.lock().unwrap().push(context.waker().clone());
                    }
                    count += 1;
                    polled.store(false, Relaxed);
                    if count < 3000 { Poll::Pending } else { Poll::Ready(count) }
                });
                start(scope, future, |_, count, _| {
                    assert_eq!(count, 3000);
                    ended.set();
                });
            });
        });
        assert!(ended.is_set());
    });
}

#[test]
fn two_sources_in_one_future() {
    // W2: joined by hand; each of the two is polled at every wake.
    on_pools(|pool| {
        let (alarms, both) = ([Alarm::new(), Alarm::new()], AtomicUsize::new(0));
        call(pool, |scope| {
            for round in 0..200 {
                let [one, two] = alarms.each_ref();
                let (mut one, mut two) = (one.timer(1 + round % 3), two.timer(1));
                let (mut first, mut second) = (false, false);
                let future = poll_fn(move |context| {
                    first = first || Pin::new(&mut one).poll(context).is_ready();
                    second = second || Pin::new(&mut two).poll(context).is_ready();
                    if first && second { Poll::Ready(()) } else { Poll::Pending }
                });
                start(scope, future, |_, (), _| add(&both));
            }
        });
        assert_eq!(both.into_inner(), 200);
    });
}

#[test]
fn wakers_outlive_everything() {
    // W3: cloned, woken and dropped in any order, by any thread, after the completion, the call and the pool.
    within(LONG, || {
        for threads in detached::SIZES {
            let (pool, gate) = (pool(threads), Gate::default());
            thread::scope(|others| {
                others.spawn(|| {
                    until(|| gate.waiting() == 50);
                    let wakers = gate.wakers();
                    gate.unlock();
                    wakers.iter().for_each(Waker::wake_by_ref);
                    // Two more for each waker: while its task goes on, or after that.
                    wakers.iter().cloned().for_each(Waker::wake);
                });
                call(&pool, |scope| {
                    for _ in 0..50 {
                        let data = Box::new(3);
                        let waits = gate.wait();
                        let future = async move {
                            waits.await;
                            *data
                        };
                        start(scope, future, |_, data, _| assert_eq!(data, 3));
                    }
                });
            });
            assert_eq!(gate.polls(), 100);
            let wakers = gate.wakers();
            wakers.iter().for_each(Waker::wake_by_ref);
            settled(&pool);
            drop(pool);
            wakers.iter().for_each(Waker::wake_by_ref);
            wakers.iter().cloned().for_each(Waker::wake);
            assert_eq!(gate.polls(), 100, "nobody polls what is done");
            // The last references are dropped by two threads at once.
            let mut halves = [wakers, gate.wakers()].map(Vec::into_iter);
            gate.wakers.lock().unwrap().clear();
            thread::scope(|threads| {
                for half in &mut halves {
                    threads.spawn(|| half.for_each(drop));
                }
            });
        }
    });
}

#[test]
fn a_stale_wake_wakes_nobody_else() {
    // W4: one slot for many futures. Ready futures leave wakers behind, which are woken while the next future waits.
    on_pools(|pool| {
        let (gate, stale) = (Gate::default(), Mutex::new(Vec::<Waker>::new()));
        thread::scope(|threads| {
            let (gate, stale) = (&gate, &stale);
            threads.spawn(move || {
                until(|| gate.waiting() == 1);
                for _ in 0..3 {
                    stale.lock().unwrap().iter().for_each(Waker::wake_by_ref);
                    thread::sleep(Duration::from_millis(2));
                }
                assert_eq!(gate.polls(), 1, "woken by another future's waker");
                gate.open();
            });
            let went_on = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&went_on);
            call(pool, move |scope| {
                let (handle, mut slot) = (scope.handle(), Default::default());
                for keeps in [true, true, false, true, false, false] {
                    // Always futures of the same type.
                    let ready = one_of(gate, keeps.then_some(stale), true);
                    let output = handle.poll(&mut slot, ready, || counted(&count));
                    assert_eq!(output, Some(()));
                }
                let waits = one_of(gate, None, false);
                assert_eq!(handle.poll(&mut slot, waits, || counted(&count)), None);
            });
            assert_eq!(went_on.load(SeqCst), 1);
        });
        assert_eq!(gate.polls(), 2);
        assert_eq!(stale.into_inner().unwrap().len(), 3);
    });
}

fn counted<'s>(
    count: &Arc<AtomicUsize>,
) -> Then<'s, impl FnOnce(&Scope<'s>, (), furcate_pool::Context) + Send + use<'s>> {
    let count = Arc::clone(count);
    Then { resume: move |_: &Scope<'s>, (), _| add(&count), cancelled: None }
}

/// A future that is ready at once, and leaves its waker there; or a future that waits for the gate.
async fn one_of(gate: &Gate, keep: Option<&Mutex<Vec<Waker>>>, is_ready: bool) {
    if is_ready {
        poll_fn(|context| {
            // The future is also woken in its poll. That wake must not reach the next one either.
            context.waker().wake_by_ref();
            keep.into_iter().for_each(|wakers| wakers.lock().unwrap().push(context.waker().clone()));
            Poll::Ready(())
        })
        .await;
    } else {
        gate.wait().await;
    }
}

#[test]
fn futures_wake_each_other() {
    // W5: from inside polls and drops, while a user's lock is held.
    on_pools(|pool| {
        const RING: usize = 20;
        const LAPS: usize = 100;
        // A token goes round: the task that has it wakes the next one.
        let ring: Mutex<(usize, Vec<Option<Waker>>)> = Mutex::new((0, vec![None; RING]));
        let (ring, done) = (&ring, &AtomicUsize::new(0));
        call(pool, |scope| {
            for me in 0..RING {
                let mut held = 0;
                let future = poll_fn(move |context| {
                    let mut ring = ring.lock().unwrap();
                    if ring.0 % RING == me {
                        ring.0 += 1;
                        held += 1;
                        let next = &ring.1[(me + 1) % RING];
                        next.iter().for_each(Waker::wake_by_ref);
                    }
                    if held == LAPS {
                        return Poll::Ready(());
                    }
                    ring.1[me] = Some(context.waker().clone());
                    Poll::Pending
                });
                start(scope, future, |_, (), _| add(done));
            }
        });
        assert_eq!(done.load(SeqCst), RING);
        assert_eq!(ring.lock().unwrap().0, RING * LAPS);
    });
}

#[test]
fn drops_may_wake_and_clone() {
    // W5: a future's drop wakes it, clones its waker, drops other wakers, and wakes other tasks.
    struct Last<'s>(Option<Waker>, &'s Gate, &'s Mutex<Vec<Waker>>);
    impl Drop for Last<'_> {
        fn drop(&mut self) {
            let waker = self.0.take().expect("it was polled");
            waker.wake_by_ref();
            self.2.lock().unwrap().push(waker.clone());
            waker.wake();
            self.1.open();
        }
    }
    on_pools(|pool| {
        let (gate, left, done) = (Gate::default(), Mutex::default(), AtomicUsize::new(0));
        let alarm = Alarm::new();
        call(pool, |scope| {
            start(scope, gate.wait(), |_, (), _| add(&done));
            for _ in 0..50 {
                let (mut last, mut alarmed) = (Last(None, &gate, &left), alarm.future(1));
                let future = async move {
                    poll_fn(|context| {
                        last.0 = Some(context.waker().clone());
                        Poll::Ready(())
                    })
                    .await;
                    poll_fn(|context| Pin::new(&mut alarmed).poll(context)).await;
                    drop(last);
                };
                start(scope, future, |_, (), _| add(&done));
            }
        });
        assert_eq!(done.into_inner(), 51);
        left.into_inner().unwrap().into_iter().for_each(Waker::wake);
    });
}

#[test]
fn a_hundred_thousand_wait_on_small_stacks() {
    // W11: a task that waits, is woken, or is resumed holds no stack.
    within(LONG, || {
        let pool =
            furcate_pool::ThreadPoolBuilder::new().num_threads(3).stack_size(64 << 10).build().unwrap();
        const MANY: usize = 100_000;
        let (gate, done) = (&Gate::default(), &AtomicUsize::new(0));
        pool.install(|| {
            call(&pool, |scope| {
                for _ in 0..MANY {
                    start(scope, gate.wait(), |_, (), _| add(done));
                }
                assert_eq!(gate.waiting(), MANY);
                gate.open();
            });
        });
        assert_eq!(done.load(SeqCst), MANY);
        settled(&pool);
    });
}
