//! Spawned futures: tasks in direct style.

use crate::support::suspended::Gate;
use crate::support::{LONG, until, within};
use furcate_pool::{JoinHandle, ScopeHandle, ThreadPoolBuilder, block_on, scope};
use futures_lite::future::yield_now;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use testkit::pool;

async fn after(time: Duration) {
    async_io::Timer::after(time).await;
}

/// A recursive task, as a boxed future.
fn fib<'s>(n: u32, handle: ScopeHandle<'s>) -> Pin<Box<dyn Future<Output = u64> + Send + 's>> {
    Box::pin(async move {
        if n < 2 {
            if n == 1 {
                yield_now().await;
            }
            return n.into();
        }
        let (a, b) = handle.join_async(fib(n - 1, handle.clone()), fib(n - 2, handle.clone())).await;
        a + b
    })
}

#[test]
fn join_async_is_a_join() {
    for threads in [1, 2, 3, 8] {
        let pool = pool(threads);
        assert_eq!(pool.install(|| scope(|s| block_on(fib(15, s.handle())))), 610);
        let total = pool.stats().total();
        assert_eq!(total.suspensions, total.resumes + total.cancelled, "{total:?}");
    }
    assert_eq!(scope(|s| block_on(fib(15, s.handle()))), 610, "from outside");
}

/// No thief takes the right half: it is run like the right half of a `join`.
#[test]
fn join_async_of_what_is_ready_suspends_nothing() {
    fn sum<'s>(n: u64, handle: ScopeHandle<'s>) -> Pin<Box<dyn Future<Output = u64> + Send + 's>> {
        Box::pin(async move {
            if n < 2 {
                return n;
            }
            let (a, b) = handle.join_async(sum(n / 2, handle.clone()), sum(n - n / 2, handle.clone())).await;
            a + b
        })
    }
    let pool = pool(1);
    assert_eq!(pool.install(|| scope(|s| block_on(sum(1000, s.handle())))), 1000);
    let total = pool.stats().total();
    assert_eq!((total.suspensions, total.suspended_deques), (0, 0), "{total:?}");
}

/// Right halves that are run in place nest on the stack, but only up to a limit.
#[test]
fn a_long_chain_of_right_halves_needs_no_deep_stack() {
    fn count<'s>(n: u64, handle: ScopeHandle<'s>) -> Pin<Box<dyn Future<Output = u64> + Send + 's>> {
        Box::pin(async move {
            if n == 0 {
                return 0;
            }
            let (one, rest) = handle.join_async(async { 1 }, count(n - 1, handle.clone())).await;
            one + rest
        })
    }
    for threads in [1, 3] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).stack_size(512 << 10).build().unwrap();
        assert_eq!(pool.install(|| scope(|s| block_on(count(20_000, s.handle())))), 20_000);
    }
}

#[test]
fn the_scope_waits_and_futures_borrow() {
    for threads in [1, 2, 8] {
        let pool = pool(threads);
        let mut parts = vec![0; 100];
        let calls = AtomicUsize::new(0);
        pool.scope(|s| {
            for (i, part) in parts.iter_mut().enumerate() {
                let calls = &calls;
                drop(s.spawn_future(async move {
                    after(Duration::from_millis(i as u64 % 5)).await;
                    *part = i;
                    calls.fetch_add(1, Relaxed);
                }));
            }
        });
        assert!(parts.iter().enumerate().all(|(i, part)| i == *part));
        assert_eq!(calls.into_inner(), 100);
        let total = pool.stats().total();
        assert_eq!(total.suspensions, total.resumes + total.cancelled, "{total:?}");
    }
}

#[test]
fn handles_give_what_their_futures_give() {
    let pool = pool(2);
    let sum = pool.install(|| {
        scope(|s| {
            let parts: Vec<JoinHandle<usize>> = (0..1000)
                .map(|i| {
                    s.spawn_future(async move {
                        if i % 2 == 0 {
                            yield_now().await;
                        }
                        i
                    })
                })
                .collect();
            block_on(async {
                let mut sum = 0;
                for part in parts {
                    sum += part.await;
                }
                sum
            })
        })
    });
    assert_eq!(sum, 499_500);
}

#[test]
fn a_panic_is_the_scopes() {
    for threads in [1, 2] {
        let pool = pool(threads);
        let begun = Instant::now();
        let payload = catch_unwind(AssertUnwindSafe(|| {
            pool.scope(|s| {
                drop(s.spawn_future(after(Duration::from_secs(600))));
                let waits = s.spawn_future(async { panic!("the first") });
                drop(s.spawn_future(async move {
                    let () = waits.await;
                    unreachable!("there is nothing to be awaited");
                }));
            });
        }))
        .unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"the first"));
        assert!(begun.elapsed() < Duration::from_secs(60), "what waits is dropped");
        assert_eq!(pool.install(|| block_on(async { 7 })), 7);
    }
}

#[test]
fn block_on_waits_wherever_it_is_called() {
    within(LONG, || {
        let slow = || async {
            after(Duration::from_millis(5)).await;
            1
        };
        assert_eq!(block_on(slow()), 1);
        let pool = pool(1);
        assert_eq!(pool.install(|| block_on(slow()) + block_on(slow())), 2);
        let nested = pool.install(|| block_on(async { block_on(slow()) + slow().await }));
        assert_eq!(nested, 2);
        // All at once: the only slot goes from one to the next.
        let gate = Gate::default();
        thread::scope(|threads| {
            threads.spawn(|| {
                until(|| gate.waiting() >= 20);
                gate.open();
            });
            pool.scope(|s| {
                for _ in 0..20 {
                    s.spawn(|_| block_on(gate.wait()));
                }
            });
        });
    });
    let caught = catch_unwind(|| block_on(async { panic!("inside") }));
    assert!(caught.is_err());
}

#[test]
fn a_handle_tells_when_it_is_finished() {
    scope(|s| {
        let handle = s.spawn_future(async { vec![1] });
        while !handle.is_finished() {
            // The calling thread may hold the pool's only slot.
            furcate_pool::yield_now();
        }
        assert!(format!("{handle:?}").contains("true"));
        assert_eq!(block_on(handle), [1]);
    });
}

#[test]
fn futures_that_nobody_waits_for() {
    let pool = pool(2);
    let (send, receive) = std::sync::mpsc::channel();
    drop(pool.spawn_future(async move {
        after(Duration::from_millis(5)).await;
        send.send(1).unwrap();
    }));
    assert_eq!(receive.recv_timeout(Duration::from_secs(60)), Ok(1));
    let inner = pool.spawn_future(async {
        let inner = furcate_pool::spawn_future(async { furcate_pool::current_thread_index().is_some() });
        (inner.await, 2)
    });
    assert_eq!(futures_lite::future::block_on(inner), (true, 2), "awaited by another executor");
    let payload = catch_unwind(AssertUnwindSafe(|| block_on(pool.spawn_future(async { panic!("its own") }))));
    assert_eq!(payload.unwrap_err().downcast_ref::<&str>(), Some(&"its own"));
    assert_eq!(block_on(pool.spawn_future(async { 3 })), 3, "others go on");
    // The first task's worker may count its resumption some time after the message.
    until(|| {
        let total = pool.stats().total();
        total.suspensions == total.resumes + total.cancelled
    });
}

#[test]
fn a_panic_that_nobody_awaits_is_handled() {
    let (send, receive) = std::sync::mpsc::channel();
    let send = std::sync::Mutex::new(send);
    let handler = move |payload: Box<dyn std::any::Any + Send>| {
        let text = payload.downcast_ref::<&str>().copied();
        send.lock().unwrap().send(text).unwrap();
    };
    let pool = ThreadPoolBuilder::new().num_threads(1).panic_handler(handler).build().unwrap();
    drop(pool.spawn_future(async {
        after(Duration::from_millis(5)).await;
        panic!("unseen");
    }));
    assert_eq!(receive.recv_timeout(Duration::from_secs(60)), Ok(Some("unseen")));
}

/// Counts its drop.
struct OnDrop(std::sync::Arc<AtomicUsize>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[test]
fn cancelled_futures_are_dropped() {
    let (pool, dropped) = (pool(2), std::sync::Arc::<AtomicUsize>::default());
    let waits = || {
        let guard = OnDrop(std::sync::Arc::clone(&dropped));
        pool.spawn_future(async move {
            let _guard = guard;
            after(Duration::from_secs(600)).await;
        })
    };
    for round in 1..=100 {
        let handle = waits();
        if round % 2 == 0 {
            thread::sleep(Duration::from_micros(50));
        }
        handle.cancel();
        let awaited = catch_unwind(AssertUnwindSafe(|| block_on(handle)));
        assert!(awaited.is_err());
        assert_eq!(dropped.load(Relaxed), round);
    }
    // A task that certainly waits is dropped by the thread that cancels it: this thread, which does not belong to the
    // pool.
    let before = pool.stats();
    let handle = waits();
    while pool.stats().total().suspensions == before.total().suspensions {
        thread::yield_now();
    }
    thread::sleep(Duration::from_millis(20));
    handle.cancel();
    assert_eq!(dropped.load(Relaxed), 101);
    assert_eq!(pool.stats().outside.cancelled, before.outside.cancelled + 1);
    let total = pool.stats().total();
    assert_eq!(total.suspensions, total.resumes + total.cancelled, "{total:?}");
}

#[test]
fn a_pool_drops_the_futures_that_wait() {
    for threads in [1, 3] {
        let dropped = std::sync::Arc::<AtomicUsize>::default();
        let pool = pool(threads);
        let handles: Vec<_> = (0..100)
            .map(|i| {
                let guard = OnDrop(std::sync::Arc::clone(&dropped));
                pool.spawn_future(async move {
                    let _guard = guard;
                    after(Duration::from_secs(if i % 10 == 0 { 0 } else { 600 })).await;
                })
            })
            .collect();
        let begun = Instant::now();
        drop(pool);
        assert!(begun.elapsed() < Duration::from_secs(60));
        assert_eq!(dropped.load(Relaxed), 100);
        assert!(handles.iter().all(JoinHandle::is_finished));
        handles.iter().for_each(JoinHandle::cancel);
    }
}

/// The last jobs may spawn the pool's first futures while the pool is dropped.
#[test]
fn a_pool_that_ends_drops_what_its_last_jobs_spawn() {
    for threads in [1, 2] {
        let (dropped, pool) = (std::sync::Arc::<AtomicUsize>::default(), pool(threads));
        let guard = OnDrop(std::sync::Arc::clone(&dropped));
        pool.spawn(move || {
            // Until the pool's handle has been dropped.
            thread::sleep(Duration::from_millis(20));
            drop(furcate_pool::spawn_future(async move {
                let _guard = guard;
                std::future::pending::<()>().await;
            }));
        });
        let (send, receive) = std::sync::mpsc::channel();
        thread::spawn(move || {
            drop(pool);
            send.send(()).unwrap();
        });
        assert_eq!(receive.recv_timeout(Duration::from_secs(30)), Ok(()), "the pool ends");
        assert_eq!(dropped.load(Relaxed), 1);
    }
}

#[cfg(feature = "tokio")]
#[test]
fn tokio_futures_work_in_a_pool_that_knows_the_runtime() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
    let pool = ThreadPoolBuilder::new().num_threads(2).tokio(runtime.handle().clone()).build().unwrap();
    let sleep = || tokio::time::sleep(Duration::from_millis(5));
    assert_eq!(
        block_on(pool.spawn_future(async move {
            sleep().await;
            1
        })),
        1
    );
    // A thread from outside has entered the runtime, too, while it takes part.
    let (left, right) = pool.join(|| tokio::runtime::Handle::try_current().is_ok(), || 0);
    assert!(left && right == 0);
    assert!(tokio::runtime::Handle::try_current().is_err(), "and not afterwards");
    // From a task of tokio's.
    let awaited = runtime.block_on(async { pool.spawn_future(async { 7 }).await });
    assert_eq!(awaited, 7);
}
