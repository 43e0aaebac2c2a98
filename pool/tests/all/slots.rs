//! A worker may end a job that other threads wait for while it is in the middle of another job. It keeps its slot for that job, and
//! thieves find the jobs that it spawns and forks afterwards.

use crate::support::suspended::*;
use crate::support::*;
use furcate_pool::{ThreadPool, current_thread_index, scope};
use std::sync::atomic::AtomicUsize;
use std::thread;
use std::time::Duration;

/// Time for a worker to give its slot away.
const A_WHILE: Duration = Duration::from_millis(3);

/// The way in which the inner scope ends.
#[derive(Clone, Copy, Debug)]
enum By {
    Handle,
    Cancellation,
}

/// A worker waits for an inner scope. A job of the outer scope ends the inner one, and then spawns.
fn ended_from_outside(pool: &ThreadPool, by: By) -> usize {
    let ran = AtomicUsize::new(0);
    pool.scope(|outer| {
        let ran = &ran;
        scope(|inner| {
            let gate = Gate::default();
            let handle = inner.handle();
            let waits = handle.spawn_future(async move { gate.wait().await });
            let handle = matches!(by, By::Handle).then_some(handle);
            outer.spawn(move |outer| {
                thread::sleep(A_WHILE);
                waits.cancel();
                thread::sleep(A_WHILE);
                drop(handle);
                assert!(current_thread_index().is_some(), "it holds its place");
                for _ in 0..8 {
                    outer.spawn(|_| add(ran));
                }
            });
        });
    });
    ran.into_inner()
}

#[test]
fn who_ends_a_scope_of_others_keeps_its_place() {
    within(LONG, || {
        for rule in RULES {
            for threads in [1, 2, 4] {
                for by in [By::Handle, By::Cancellation] {
                    let pool = ruled(threads, rule);
                    for _ in 0..5 {
                        assert_eq!(ended_from_outside(&pool, by), 8, "{rule:?}, {threads} threads, {by:?}");
                    }
                    settled(&pool);
                }
            }
        }
    });
}
