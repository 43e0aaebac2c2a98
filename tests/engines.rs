//! A pool of one's own is an engine, whether it is borrowed or shared.
#![cfg(not(furcate_rayon))]

use furcate::prelude::*;
use furcate::{ThreadPool, ThreadPoolBuilder, block_on};
use std::sync::Arc;

fn pool() -> ThreadPool {
    ThreadPoolBuilder::new().num_threads(3).build().unwrap()
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
