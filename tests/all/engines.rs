//! A pool of one's own is an engine, whether it is borrowed or shared.
#![cfg(not(furcate_rayon))]

use furcate::prelude::*;
use furcate::{ThreadPool, ThreadPoolBuilder, block_on};
use std::sync::Arc;

fn pool() -> ThreadPool {
    testkit::pool(3)
}

/// Returns the size of the pool in which this function runs: another pool makes another sum.
fn threads(_: usize) -> u64 {
    furcate::current_num_threads() as u64
}

#[test]
fn a_pool_is_borrowed_or_shared() {
    let (pool, shared) = (pool(), Arc::new(pool()));
    let numbers = || (0..100_usize).into_par_iter().map(threads);
    assert_eq!(numbers().on(&pool).sum::<u64>(), 300);
    assert_eq!(numbers().on(&*shared).sum::<u64>(), 300);
    assert_eq!(numbers().on(&shared).sum::<u64>(), 300);
    assert_eq!(numbers().on(Arc::clone(&shared)).sum::<u64>(), 300);
    // Also behind every other choice, and on chains that are indexed or allow looks.
    assert_eq!(numbers().adaptive().on(&shared).by_blocks(furcate::Doubling).sum::<u64>(), 300);
    assert_eq!(numbers().on(&shared).rev().zip(0..100).map(|(threads, _)| threads).sum::<u64>(), 300);
    let ready = |x| async move { threads(x) };
    assert_eq!((0..100).into_par_iter().map(ready).io_await().on(&shared).sum::<u64>(), 300);
}

#[test]
fn an_awaited_terminal_takes_a_shared_pool_by_reference() {
    struct Server {
        pool: Arc<ThreadPool>,
    }
    impl Server {
        fn answer(&self) -> impl Future<Output = u64> + Send + 'static {
            let ready = |x| async move { threads(x) };
            (0..100).into_par_iter().map(ready).io_await().on(&self.pool).async_sum()
        }
    }
    let server = Server { pool: Arc::new(pool()) };
    let answer = server.answer();
    drop(server);
    assert_eq!(block_on(answer), 300, "the chain has a share of the pool");
}

#[test]
fn streams_take_a_shared_pool_by_reference() {
    use futures_lite::StreamExt;
    let pool = Arc::new(pool());
    let stream = (0..100).into_par_iter().map(threads).on(&pool).into_stream(8);
    assert_eq!(futures_lite::future::block_on(stream.fold(0, |sum, x| sum + x)), 300);
}

/// Waits for a timer, so that the item is suspended and resumed. Returns the size of the pool that polls it last.
async fn waits(x: usize) -> u64 {
    async_io::Timer::after(std::time::Duration::from_millis(1)).await;
    threads(x)
}

/// Every terminal runs on the pool that the chain names, however it is called: no job, fork, spawn or poll is counted in
/// the pool of the caller.
#[test]
fn a_call_leaves_the_pool_of_its_caller_alone() {
    use futures_lite::StreamExt;
    use futures_lite::future::block_on;

    let (named, callers) = (Arc::new(pool()), ThreadPoolBuilder::new().num_threads(1).build().unwrap());
    let plan = furcate::Plan::new().on(&named);
    let plain = || (0..20_usize).into_par_iter().map(threads).with(&plan);
    let awaited = || (0..20_usize).into_par_iter().map(waits).io_await().on(&named);
    let items = |stream: furcate::stream::IntoStream<u64>| block_on(stream.fold(0, |sum, x| sum + x));
    let calls: [(&str, &(dyn Fn() -> u64 + Sync)); 15] = [
        ("sum", &|| plain().sum()),
        ("collect", &|| plain().collect::<Vec<_>>().into_iter().sum()),
        ("blocks_iter", &|| plain().blocks_iter([3, 4]).items().sum()),
        ("by_blocks", &|| plain().by_blocks([3, 4]).sum()),
        ("async_sum", &|| block_on(plain().async_sum())),
        ("async_collect", &|| block_on(plain().async_collect::<Vec<_>>()).into_iter().sum()),
        ("into_stream", &|| items(plain().into_stream(4))),
        ("into_stream_unordered", &|| items(plain().into_stream_unordered(4))),
        ("io_await", &|| awaited().sum()),
        ("io_await, collect", &|| awaited().collect::<Vec<_>>().into_iter().sum()),
        ("io_await, io_await", &|| awaited().map(|_| waits(1)).io_await().sum()),
        ("io_await, async_sum", &|| block_on(awaited().async_sum())),
        ("io_await, async_find_any", &|| 20 * block_on(awaited().async_find_any(|_| true)).unwrap()),
        ("io_await, into_stream", &|| items(awaited().into_stream(4))),
        ("io_await, into_stream_unordered", &|| items(awaited().into_stream_unordered(4))),
    ];
    for (name, call) in calls {
        let (sum, before, after) = callers.install(|| {
            let before = callers.stats().total();
            (call(), before, callers.stats().total())
        });
        assert_eq!(sum, 60, "{name}: some item ran in another pool");
        let counts = |of: furcate::WorkerStats| [of.jobs, of.forks, of.spawns, of.polls];
        assert_eq!(counts(after), counts(before), "{name}: jobs, forks, spawns, polls in the caller's pool");
    }
}
