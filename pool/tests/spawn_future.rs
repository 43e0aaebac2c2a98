//! Spawned futures: tasks in direct style.

use furcate_pool::{JoinHandle, ScopeHandle, ThreadPool, ThreadPoolBuilder, block_on, scope};
use futures_lite::future::yield_now;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

async fn after(time: Duration) {
    async_io::Timer::after(time).await;
}

/// As a value, for recursion.
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
    let slow = || async {
        after(Duration::from_millis(5)).await;
        1
    };
    assert_eq!(block_on(slow()), 1);
    let pool = pool(1);
    assert_eq!(pool.install(|| block_on(slow()) + block_on(slow())), 2);
    let nested = pool.install(|| block_on(async { block_on(slow()) + slow().await }));
    assert_eq!(nested, 2);
    // All at once: the only place goes from one to the next.
    let begun = Instant::now();
    pool.scope(|s| {
        for _ in 0..20 {
            s.spawn(|_| block_on(after(Duration::from_millis(100))));
        }
    });
    assert!(begun.elapsed() < Duration::from_millis(1500), "{:?}", begun.elapsed());
    let caught = catch_unwind(|| block_on(async { panic!("inside") }));
    assert!(caught.is_err());
}

#[test]
fn a_handle_tells_when_it_is_finished() {
    scope(|s| {
        let handle = s.spawn_future(async { vec![1] });
        while !handle.is_finished() {
            thread::yield_now();
        }
        assert!(format!("{handle:?}").contains("true"));
        assert_eq!(block_on(handle), [1]);
    });
}
