//! Other ends of suspended tasks: dropped after a panic, or because they were cancelled; never after their call.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::detach::{Resume, Suspend};
use furcate_pool::{Context, Scope, ThreadPool};
use std::future::{pending, poll_fn};
use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

#[test]
fn futures_stay_where_they_are() {
    // W9: from the first poll on, over many polls by many workers; they borrow from the caller's stack.
    on_pools(|pool| {
        let (alarm, watch, sum) = (Alarm::new(), Watch::default(), AtomicUsize::new(0));
        let data: Vec<usize> = (0..200).collect();
        call(pool, |scope| {
            for item in &data {
                let timer = alarm.future(item % 7);
                let future = watch.on(async move {
                    // Refers to itself across the await.
                    let (here, there) = ([*item; 4], item);
                    let inside = &here[3];
                    timer.await;
                    *inside + *there
                });
                start(scope, future, |_, twice, _| add_up(&sum, twice));
            }
        });
        watch.check(200);
        assert_eq!(sum.into_inner(), 199 * 200);
        assert_eq!(watch.polls.load(SeqCst), data.iter().map(|item| item % 7 + 1).sum());
    });
}

#[test]
fn nothing_waits_when_the_call_returns() {
    // W9: futures and continuations borrow from a frame that ends with the call.
    on_pools(|pool| {
        let alarm = Alarm::new();
        for _ in 0..50 {
            let (dropped, mut results) = (AtomicUsize::new(0), [0; 8]);
            call(pool, |scope| {
                for (i, result) in results.iter_mut().enumerate() {
                    let (guard, timer) = (Counted(&dropped), alarm.future(1));
                    let future = async move {
                        let _guard = guard;
                        timer.await;
                        i
                    };
                    start(scope, future, move |_, i, _| *result = i);
                }
            });
            assert_eq!(dropped.load(SeqCst), 8);
            assert_eq!(results, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    });
}

/// Counts its drop.
struct Counted<'s>(&'s AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        add(self.0);
    }
}

/// Where a task panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    FirstPoll,
    LaterPoll,
    Then,
    Resume,
    /// In the drop of a future that was ready at once.
    DropAtOnce,
    /// In the drop of a future that was ready later.
    DropLater,
    Cancelled,
    /// In the drop of a task that is dropped because a sibling has panicked.
    SiblingsDrop,
    Body,
}

const WHERES: [Where; 9] = [
    Where::FirstPoll,
    Where::LaterPoll,
    Where::Then,
    Where::Resume,
    Where::DropAtOnce,
    Where::DropLater,
    Where::Cancelled,
    Where::SiblingsDrop,
    Where::Body,
];

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any("on purpose: drop");
    }
}

/// A continuation that panics, or drops a value that does.
struct Panics<'s> {
    resumed: bool,
    cancelled: bool,
    _dropped: Counted<'s>,
}

impl<'s, S, T> Resume<'s, S, T> for Panics<'s> {
    fn resume(self, _: &S, _: T, _: Context) {
        if self.resumed {
            panic_any("on purpose: resume");
        }
    }

    fn cancelled(self, _: &S) {
        if self.cancelled {
            panic_any("on purpose: cancelled");
        }
    }
}

/// Starts siblings that wait for ever, and a task that panics at `at`. Returns the payload.
fn panic_at(pool: &ThreadPool, at: Where) -> String {
    let (alarm, watch, thens) = (Alarm::new(), Watch::default(), AtomicUsize::new(0));
    let siblings = 20;
    let said = payload(|| {
        call(pool, |scope| {
            let handle = scope.handle();
            let wait = |bomb: Option<Bomb>| {
                let future = watch.on(async move {
                    let _bomb = bomb;
                    pending::<()>().await;
                });
                let then = Panics { resumed: true, cancelled: true, _dropped: Counted(&thens) };
                assert!(!go_on(scope, &handle, future, then));
            };
            for i in 0..siblings {
                wait((at == Where::SiblingsDrop && i % 3 == 0).then(|| Bomb));
            }
            let timer = alarm.future(usize::from(!matches!(at, Where::FirstPoll | Where::DropAtOnce)));
            let bomb = matches!(at, Where::DropAtOnce | Where::DropLater).then(|| Bomb);
            let mut slot = Default::default();
            let mut timer = Box::pin(timer);
            let polls = matches!(at, Where::FirstPoll | Where::LaterPoll | Where::SiblingsDrop);
            let panicking = watch.on(poll_fn(move |context| {
                // The bomb lives in the future until the future is dropped.
                let _ = &bomb;
                let polled = timer.as_mut().poll(context);
                if polled.is_ready() && polls {
                    panic_any("on purpose: poll");
                }
                polled
            }));
            let polled = handle.poll(&mut slot, panicking, || {
                let then = Panics {
                    resumed: at == Where::Resume,
                    cancelled: at == Where::Cancelled,
                    _dropped: Counted(&thens),
                };
                if at == Where::Then {
                    panic_any("on purpose: then");
                }
                if at == Where::Cancelled {
                    // Of all cancelled continuations, the first one panics.
                    handle.cancel();
                }
                then
            });
            assert_eq!(polled, None);
            if at == Where::Body {
                panic_any("on purpose: body");
            }
        });
    });
    watch.check(siblings + 1);
    let none = matches!(at, Where::FirstPoll | Where::DropAtOnce);
    assert_eq!(thens.into_inner(), siblings + usize::from(!none), "{at:?}: continuations dropped");
    message(said)
}

#[test]
fn the_first_panic_is_raised_by_the_call() {
    // W10.
    on_pools(|pool| {
        for round in 0..5 {
            for at in WHERES {
                let expected = match at {
                    Where::FirstPoll | Where::LaterPoll | Where::SiblingsDrop => "poll",
                    Where::Then => "then",
                    Where::Resume => "resume",
                    Where::DropAtOnce | Where::DropLater => "drop",
                    Where::Cancelled => "cancelled",
                    Where::Body => "body",
                };
                assert_eq!(panic_at(pool, at), format!("on purpose: {expected}"), "{at:?}, {round}");
                // The pool still works.
                let (alarm, done) = (Alarm::new(), AtomicUsize::new(0));
                call(pool, |scope| {
                    (0..5).for_each(|_| assert!(!start(scope, alarm.future(1), |_, (), _| add(&done))));
                });
                assert_eq!(done.into_inner(), 5);
                settled(pool);
            }
        }
    });
}

#[test]
fn many_panics_at_once() {
    // W10: any one of the panics is raised; every future is dropped once.
    on_pools(|pool| {
        for _ in 0..20 {
            let (gate, watch) = (Gate::default(), Watch::default());
            let said = payload(|| {
                call(pool, |scope| {
                    for i in 0..100 {
                        let waits = gate.wait();
                        let future = watch.on(async move {
                            waits.await;
                            if i % 2 == 0 {
                                panic_any("on purpose: poll");
                            }
                        });
                        let resume = |_: &Scope<'_>, (), _| panic_any("on purpose: resume");
                        start(scope, future, resume);
                    }
                    gate.open();
                });
            });
            assert!(message(said).starts_with("on purpose"));
            watch.check(100);
            settled(pool);
        }
    });
}

#[test]
fn a_payload_whose_drop_panics() {
    // P3: the payload of a panic that is not the first one.
    on_pools(|pool| {
        let gate = Gate::default();
        let first = payload(|| {
            call(pool, |scope| {
                for _ in 0..4 {
                    start(scope, gate.wait(), |_, (), _| panic_any(Bomb));
                }
                gate.open();
            });
        });
        forget(first.downcast::<Bomb>().expect("the payload of one of them"));
    });
}

#[test]
fn a_slot_serves_again_after_a_panic() {
    // W10: the panic is caught around the poll; the future is dropped at once, also from the slot.
    on_pools(|pool| {
        let watches: Vec<_> = (0..30).map(|_| Watch::default()).collect();
        let done = AtomicUsize::new(0);
        call(pool, |scope| {
            let (handle, mut slot) = (scope.handle(), Default::default());
            for (round, watch) in watches.iter().enumerate() {
                let future = watch.on(poll_fn(move |context| match round % 3 {
                    0 => panic_any("on purpose: poll"),
                    _ => {
                        context.waker().wake_by_ref();
                        Poll::Pending
                    }
                }));
                let poll = || {
                    handle.poll(&mut slot, future, || {
                        if round % 3 == 1 {
                            panic_any("on purpose: then");
                        }
                        Panics { resumed: false, cancelled: false, _dropped: Counted(&done) }
                    })
                };
                quiet_panics();
                let polled = catch_unwind(AssertUnwindSafe(poll));
                if round % 3 == 2 {
                    assert_eq!(polled.unwrap(), None::<()>);
                    // The future wakes itself for ever.
                    handle.cancel();
                } else {
                    polled.unwrap_err();
                    // Dropped at once.
                    watch.check(1);
                }
            }
        });
        watches.iter().for_each(|watch| watch.check(1));
        assert_eq!(done.into_inner(), 10);
    });
}

#[test]
fn what_waits_is_cancelled() {
    on_pools(|pool| {
        let (gate, watch, told) = (Gate::default(), Watch::default(), AtomicUsize::new(0));
        call(pool, |scope| {
            let handle = scope.handle();
            let wait =
                || assert!(!start_or(scope, &told, watch.on(gate.wait()), |_, (), _| panic!("resumed")));
            (0..100).for_each(|_| wait());
            assert!(!handle.is_cancelled());
            handle.cancel();
            // No other worker holds any of the tasks.
            assert_eq!((told.load(SeqCst), watch.dropped.load(SeqCst)), (100, 100));
            assert!(handle.is_cancelled());
            // Tasks that come later are polled, and cancelled if they are pending.
            (0..10).for_each(|_| wait());
            assert_eq!(told.load(SeqCst), 110);
            handle.clone().cancel();
        });
        assert_eq!(told.into_inner(), 110);
        watch.check(110);
        gate.open();
    });
}

#[test]
fn what_is_queued_is_cancelled() {
    // The tasks are woken but still queued, since the only thread is busy. They are neither polled again nor resumed.
    within(LONG, || {
        let (pool, gate, told) = (pool(1), Gate::default(), AtomicUsize::new(0));
        pool.install(|| {
            call(&pool, |scope| {
                for _ in 0..50 {
                    start_or(scope, &told, gate.wait(), |_, (), _| panic!("resumed"));
                }
                gate.open();
                scope.handle().cancel();
            });
        });
        assert_eq!((told.into_inner(), gate.polls()), (50, 50));
        settled(&pool);
    });
}

#[test]
fn cancelled_from_anywhere() {
    // From a continuation, a poll, a drop: running tasks go on, and each waiting one is cancelled once.
    on_pools(|pool| {
        for from in 0..3 {
            let (gate, watch, told) = (Gate::default(), Watch::default(), AtomicUsize::new(0));
            let (alarm, went_on) = (Alarm::new(), AtomicUsize::new(0));
            struct OnDrop<F: FnMut()>(F);
            impl<F: FnMut()> Drop for OnDrop<F> {
                fn drop(&mut self) {
                    (self.0)();
                }
            }
            call(pool, |scope| {
                for _ in 0..50 {
                    start_or(scope, &told, watch.on(gate.wait()), |_, (), _| panic!("resumed"));
                }
                let (handle, timer) = (scope.handle(), alarm.future(1));
                let (in_poll, in_drop) = (handle.clone(), handle.clone());
                let future = watch.on(async move {
                    let _on_drop = (from == 2).then(|| OnDrop(|| in_drop.cancel()));
                    timer.await;
                    if from == 1 {
                        in_poll.cancel();
                    }
                });
                let again = (&gate, &watch, &told, &went_on);
                start_or(scope, &told, future, move |scope: &Scope<'_>, (), _| {
                    let (gate, watch, told, went_on) = again;
                    if from == 0 {
                        handle.cancel();
                    }
                    start_or(scope, told, watch.on(gate.wait()), |_, (), _| panic!("resumed"));
                    add(went_on);
                });
            });
            assert_eq!((told.into_inner(), went_on.into_inner()), (50 + 1, 1));
            watch.check(52);
        }
    });
}

/// Threads from outside do not count the tasks that they drop, so this test does not use `on_pools`.
#[test]
fn cancelled_while_all_are_woken() {
    within(LONG, || {
        for threads in detached::SIZES {
            let pool = pool(threads);
            for round in 0..60 {
                let (gate, watch) = (Gate::default(), Watch::default());
                let (told, went_on) = (AtomicUsize::new(0), AtomicUsize::new(0));
                const TASKS: usize = 64;
                thread::scope(|others| {
                    call(&pool, |scope| {
                        let handle = scope.handle();
                        for _ in 0..TASKS {
                            start_or(scope, &told, watch.on(gate.wait()), |_, (), _| add(&went_on));
                        }
                        others.spawn(|| {
                            // Some spuriously, some for good.
                            let wakers = gate.wakers();
                            wakers.iter().for_each(Waker::wake_by_ref);
                            gate.open();
                            wakers.into_iter().for_each(Waker::wake);
                        });
                        others.spawn(move || {
                            spin(Duration::from_micros(round * 3));
                            handle.cancel();
                        });
                        if round % 2 == 0 {
                            // Both race with tasks that are being suspended.
                            for _ in 0..TASKS {
                                start_or(scope, &told, watch.on(gate.wait()), |_, (), _| add(&went_on));
                            }
                        }
                    });
                });
                let all = if round % 2 == 0 { 2 * TASKS } else { TASKS };
                assert_eq!(told.into_inner() + went_on.into_inner(), all);
                watch.check(all);
            }
        }
    });
}

#[test]
fn the_rest_is_not_begun_after_a_panic() {
    // P5: tasks that are woken after a panic are dropped.
    on_pools(|pool| {
        let (gate, resumed) = (Gate::default(), AtomicUsize::new(0));
        let said = payload(|| {
            call(pool, |scope| {
                for _ in 0..100 {
                    start(scope, gate.wait(), |_, (), _| add(&resumed));
                }
                let caught = catch_unwind(|| panic_any("on purpose: body"));
                scope.spawn(|_| gate.open());
                resume_unwind(caught.unwrap_err());
            });
        });
        assert_eq!(message(said), "on purpose: body");
        assert!(resumed.into_inner() <= 100);
        assert!(gate.polls() <= 200);
    });
}

#[test]
fn forgotten_slots_and_wakers_expose_nothing() {
    // W15: their memory leaks, and that is all. (The sanitizers and the watch would detect a use after free.)
    on_pools(|pool| {
        let kept = Mutex::new(Vec::new());
        {
            let (watch, done) = (Watch::default(), AtomicUsize::new(0));
            let gate = Gate::default();
            call(pool, |scope| {
                let handle = scope.handle();
                for round in 0..4 {
                    let mut slot = Default::default();
                    let text = format!("{round}");
                    let (text, waits) = (&*Box::leak(text.into_boxed_str()), gate.wait());
                    let future = watch.on(poll_fn({
                        let (kept, mut waits) = (&kept, waits);
                        move |context| {
                            kept.lock().unwrap().push(context.waker().clone());
                            forget(context.waker().clone());
                            match std::pin::Pin::new(&mut waits).poll(context) {
                                Poll::Ready(()) => Poll::Ready(text.len()),
                                Poll::Pending => Poll::Pending,
                            }
                        }
                    }));
                    handle.poll(&mut slot, future, || Then {
                        resume: |_: &Scope<'_>, len, _: Context| add_up(&done, len),
                        cancelled: None,
                    });
                    forget(slot);
                }
                gate.open();
            });
            watch.check(4);
            assert_eq!(done.into_inner(), 4);
        }
        kept.into_inner().unwrap().into_iter().for_each(Waker::wake);
    });
}
