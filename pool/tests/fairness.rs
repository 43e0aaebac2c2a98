//! Jobs that spawn others again and again do not keep tasks waiting that were woken, nor deques that wait.

mod support;

use furcate_pool::Scope;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use support::suspended::*;
use support::*;

/// Spawns itself until that is done.
fn again<'s>(scope: &Scope<'s>, done: &'s Flag, turns: &'s AtomicUsize) {
    add(turns);
    if !done.is_set() {
        scope.spawn(move |scope| again(scope, done, turns));
    }
}

#[test]
fn a_woken_task_of_a_scope_has_its_turn() {
    within(LONG, || {
        for rule in RULES {
            let pool = ruled(1, rule);
            let (gate, done, turns) = (Gate::default(), Flag::default(), AtomicUsize::new(0));
            thread::scope(|threads| {
                threads.spawn(|| {
                    until(|| gate.waiting() == 1 && turns.load(SeqCst) > 100);
                    gate.open();
                });
                pool.scope(|s| {
                    let (gate, done, turns) = (&gate, &done, &turns);
                    s.spawn(move |s| again(s, done, turns));
                    drop(s.spawn_future(async move {
                        gate.wait().await;
                        done.set();
                    }));
                });
            });
            assert!(turns.load(SeqCst) > 100);
            settled(&pool);
        }
    });
}

#[test]
fn a_woken_task_of_no_scope_has_its_turn() {
    within(LONG, || {
        fn again(done: Arc<Flag>, turns: Arc<AtomicUsize>) {
            add(&turns);
            if !done.is_set() {
                furcate_pool::spawn(move || again(done, turns));
            }
        }
        let (pool, gate) = (pool(1), Arc::new(Gate::default()));
        let (done, turns) = (Arc::new(Flag::default()), Arc::new(AtomicUsize::new(0)));
        let (waits, over) = (gate.wait_for(), Arc::clone(&done));
        drop(pool.spawn_future(async move {
            waits.await;
            over.set();
        }));
        pool.spawn({
            let (done, turns) = (Arc::clone(&done), Arc::clone(&turns));
            move || again(done, turns)
        });
        until(|| gate.waiting() == 1 && turns.load(SeqCst) > 100);
        gate.open();
        done.wait();
    });
}

#[test]
fn what_waits_with_a_deque_has_its_turn() {
    within(LONG, || {
        for rule in RULES {
            let pool = ruled(1, rule);
            let (gate, done, turns) = (Gate::default(), Flag::default(), AtomicUsize::new(0));
            pool.scope(|s| {
                let (gate, done, turns, handle) = (&gate, &done, &turns, s.handle());
                s.spawn(move |s| again(s, done, turns));
                drop(s.spawn_future(async move {
                    for i in 0..4 {
                        drop(handle.spawn_future(async move {
                            if i == 1 {
                                gate.open();
                            }
                        }));
                    }
                    drop(handle);
                    gate.wait().await;
                    done.set();
                }));
            });
            assert_eq!(pool.stats().total().suspended_deques, 1);
            settled(&pool);
        }
    });
}
