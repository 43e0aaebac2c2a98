//! Calls that start inside a tokio runtime poll tokio's futures there, although no pool is built with that runtime.
#![cfg(not(furcate_rayon))]

use furcate::ThreadPoolBuilder;
use furcate::prelude::*;
use futures_lite::{StreamExt, stream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle, Runtime};

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

async fn wait(x: u64) -> u64 {
    tokio::time::sleep(Duration::from_millis(1)).await;
    x
}

const N: u64 = 200;
const SUM: u64 = N * (N - 1) / 2;

#[test]
fn a_chain_that_blocks() {
    let runtime = runtime();
    let _entered = runtime.enter();
    assert_eq!((0..N).into_par_iter().map(wait).io_await().sum::<u64>(), SUM);
    // `sleep` asks for the runtime when it is made, which happens in the leaf.
    let sleeps = (0..N).into_par_iter().map(|_| tokio::time::sleep(Duration::from_millis(1)));
    assert_eq!(sleeps.io_await().count(), N as usize);
    // Also behind another await, and on stolen parts.
    let twice = (0..N).into_par_iter().with_max_len(1).map(wait).io_await().map(wait).io_await();
    assert_eq!(twice.sum::<u64>(), SUM);
}

#[test]
fn a_terminal_that_is_awaited() {
    runtime().block_on(async {
        assert_eq!((0..N).into_par_iter().map(wait).io_await().async_sum::<u64>().await, SUM);
        // Made in this thread, first polled in a task.
        let sum = (0..N).into_par_iter().map(wait).io_await().async_sum::<u64>();
        assert_eq!(tokio::spawn(sum).await.unwrap(), SUM);
    });
}

#[test]
fn a_terminal_made_outside_is_first_polled_inside() {
    let sum = (0..N).into_par_iter().map(wait).io_await().async_sum::<u64>();
    assert_eq!(runtime().block_on(sum), SUM);
}

#[test]
fn a_pool_of_ones_own() {
    let (runtime, pool) = (runtime(), ThreadPoolBuilder::new().num_threads(2).build().unwrap());
    let sum = || (0..N).into_par_iter().map(wait).io_await().on(&pool).sum::<u64>();
    let _entered = runtime.enter();
    assert_eq!(sum(), SUM);
    assert_eq!(pool.install(sum), SUM);
    assert_eq!(furcate::block_on(pool.spawn_future(wait(7))), 7);
    // A worker of one pool calls another one.
    let other = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(other.install(sum), SUM);
}

#[test]
fn spawned_futures_scopes_and_block_on() {
    let runtime = runtime();
    let _entered = runtime.enter();
    assert_eq!(furcate::block_on(wait(3)), 3);
    let spawned: Vec<_> = (0..N).map(|x| furcate::spawn_future(wait(x))).collect();
    assert_eq!(spawned.into_iter().map(furcate::block_on).sum::<u64>(), SUM);
    let sum = furcate::scope(|s| {
        let handle = s.handle();
        let both = s.spawn_future(async move { handle.join_async(wait(1), wait(2)).await });
        furcate::block_on(both)
    });
    assert_eq!(sum, (1, 2));
    let found = AtomicUsize::new(0);
    furcate::scope(|s| {
        for _ in 0..N {
            s.spawn(|_| _ = found.fetch_add(Handle::try_current().is_ok().into(), Relaxed));
        }
    });
    assert_eq!(found.into_inner(), N as usize, "its jobs too");
}

#[test]
fn streams_and_pipelines() {
    use furcate::stream::pipeline;
    runtime().block_on(async {
        let chain = || (0..N).into_par_iter().map(wait).io_await();
        assert_eq!(chain().into_stream(16).fold(0, |sum, x| sum + x).await, SUM);
        assert_eq!(chain().into_stream_unordered(16).fold(0, |sum, x| sum + x).await, SUM);
        let items = pipeline(stream::iter(0..N)).stage_async(wait).max_in_flight(16).into_stream(16);
        assert_eq!(items.fold(0, |sum, x| sum + x).await, SUM);
    });
    let runtime = runtime();
    let _entered = runtime.enter();
    let mut sum = 0;
    pipeline(stream::iter(0..N)).stage_async(wait).max_in_flight(16).for_each(|x| sum += x);
    assert_eq!(sum, SUM);
}

/// A server's handler in its simplest form: requests to another server, inside one of tokio's tasks.
#[test]
fn sockets_in_a_handler() {
    runtime().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut request = [0; 8];
                    socket.read_exact(&mut request).await.unwrap();
                    socket.write_all(&(u64::from_le_bytes(request) + 1).to_le_bytes()).await.unwrap();
                });
            }
        });
        let ask = move |x: u64| async move {
            let mut socket = TcpStream::connect(address).await.unwrap();
            socket.write_all(&x.to_le_bytes()).await.unwrap();
            let mut answer = [0; 8];
            socket.read_exact(&mut answer).await.unwrap();
            u64::from_le_bytes(answer)
        };
        let handler = async move {
            (0..50_u64).into_par_iter().map(ask).io_await().max_in_flight(8).async_sum::<u64>().await
        };
        assert_eq!(tokio::spawn(handler).await.unwrap(), 50 * 51 / 2);
    });
}

/// Connections that go back to their pool when they are dropped spawn a task for that.
#[test]
fn cancelled_futures_are_dropped_inside_the_runtime() {
    struct Connection(Arc<Mutex<Vec<bool>>>);
    impl Drop for Connection {
        fn drop(&mut self) {
            self.0.lock().unwrap().push(Handle::try_current().is_ok());
        }
    }
    let runtime = runtime();
    let dropped = Arc::new(Mutex::new(vec![]));
    let wait = |x: u64, dropped: &Arc<Mutex<Vec<bool>>>| {
        let connection = Connection(Arc::clone(dropped));
        async move {
            tokio::time::sleep(Duration::from_secs(if x == 7 { 0 } else { 3600 })).await;
            drop(connection);
            x
        }
    };
    {
        let _entered = runtime.enter();
        let hit = (0..20).into_par_iter().map(|x| wait(x, &dropped)).io_await().find_any(|&x| x == 7);
        assert_eq!(hit, Some(7));
        furcate::spawn_future(wait(0, &dropped)).cancel();
        let spawned = furcate::spawn_future(wait(1, &dropped));
        std::thread::sleep(Duration::from_millis(20));
        std::thread::scope(|threads| drop(threads.spawn(|| spawned.cancel())));
    }
    for _ in 0..1000 {
        if dropped.lock().unwrap().len() == 22 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(*dropped.lock().unwrap(), [true; 22]);
}

#[test]
fn nothing_is_entered_afterwards() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    {
        let runtime = runtime();
        let _entered = runtime.enter();
        let sum = (0..N).into_par_iter().map(wait).io_await().on(&pool).sum::<u64>();
        assert_eq!(sum, SUM);
    }
    assert!(Handle::try_current().is_err());
    let entered = pool.broadcast(|_| Handle::try_current().is_ok());
    assert_eq!(entered, [false, false]);
}

/// Tokio's guard panics in its drop if the thread has another runtime than before. The scope waits for its other jobs all the same.
#[test]
fn a_job_that_forgets_to_leave_a_runtime_harms_nobody() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    static BEGUN: AtomicBool = AtomicBool::new(false);
    static ENDED: AtomicBool = AtomicBool::new(false);
    pool.scope(|s| {
        // Stolen by the other thread.
        s.spawn(|_| {
            BEGUN.store(true, SeqCst);
            std::thread::sleep(Duration::from_millis(200));
            ENDED.store(true, SeqCst);
        });
        while !BEGUN.load(SeqCst) {
            std::thread::yield_now();
        }
        // Run by the thread that waits for the scope, and by a task.
        s.spawn(|_| std::mem::forget(Handle::current().enter()));
        drop(s.spawn_future(async { std::mem::forget(Handle::current().enter()) }));
    });
    assert!(ENDED.load(SeqCst), "the scope has waited for all its jobs");
    let sum = pool.install(|| (0..N).into_par_iter().map(wait).io_await().sum::<u64>());
    assert_eq!(sum, SUM, "the pool goes on");
}

/// Two runtimes share a pool: each call's futures are polled in the call's own runtime.
#[test]
fn calls_from_several_runtimes_keep_apart() {
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(2).build().unwrap());
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                let runtime = runtime();
                let own = runtime.handle().id();
                let _entered = runtime.enter();
                let is_own = |x| async move {
                    wait(x).await;
                    Handle::current().id() == own
                };
                assert!((0..N).into_par_iter().map(is_own).io_await().on(&*pool).all(|is_own| is_own));
            });
        }
    });
}

/// If a pool was built with a runtime, all its calls use that runtime.
#[test]
fn a_pool_built_with_a_runtime_keeps_to_it() {
    let (of_pool, of_caller) = (runtime(), runtime());
    let pool = ThreadPoolBuilder::new().num_threads(2).tokio(of_pool.handle().clone()).build().unwrap();
    let _entered = of_caller.enter();
    let id = |x| async move {
        wait(x).await;
        Handle::current().id()
    };
    let ids: Vec<_> = (0..N).into_par_iter().map(id).io_await().on(&pool).collect();
    assert!(ids.iter().all(|&id| id == of_pool.handle().id()));
}
