//! The cost of waiting in direct style: the 5000 leaves of a tree, each of which waits for 50 ms, on 2 workers.
//!
//! `cargo bench -p furcate-benches --bench direct`; `QUICK=1` for few leaves.
//!
//! *join, block_on*: Cilk-L's `distMapReduce`, with a thread for each leaf that waits, at most 512 besides the pool's own.
//! *join_async*: the same tree of futures. *io_await*: the same leaves as items of an iterator.

use furcate::prelude::*;
use furcate::{ScopeHandle, ThreadPool, ThreadPoolBuilder, block_on, join};
use furcate_benches::quick;
use std::ops::Range;
use std::pin::Pin;
use std::time::{Duration, Instant};

const THREADS: usize = 2;

async fn fetch(x: u64) -> u64 {
    async_io::Timer::after(Duration::from_millis(50)).await;
    x
}

fn split(range: Range<u64>) -> (Range<u64>, Range<u64>) {
    let middle = range.start + (range.end - range.start) / 2;
    (range.start..middle, middle..range.end)
}

fn direct(range: Range<u64>) -> u64 {
    if range.end - range.start == 1 {
        return block_on(fetch(range.start));
    }
    let (left, right) = split(range);
    let (left, right) = join(|| direct(left), || direct(right));
    left + right
}

fn stackless<'s>(
    handle: ScopeHandle<'s>,
    range: Range<u64>,
) -> Pin<Box<dyn Future<Output = u64> + Send + 's>> {
    Box::pin(async move {
        if range.end - range.start == 1 {
            return fetch(range.start).await;
        }
        let (left, right) = split(range);
        let halves = handle.join_async(stackless(handle.clone(), left), stackless(handle.clone(), right));
        let (left, right) = halves.await;
        left + right
    })
}

fn main() {
    let leaves = if quick() { 20 } else { 5000 };
    println!("direct: {THREADS} workers, {leaves} leaves that wait for 50 ms");
    println!("{:<28} {:>10} {:>8} {:>10}", "form", "ms", "threads", "saturated");
    row(leaves, "join, block_on", |pool| pool.install(|| direct(0..leaves)));
    row(leaves, "join_async", |pool| pool.scope(|s| block_on(stackless(s.handle(), 0..leaves))));
    row(leaves, "io_await, unbounded", |pool| {
        (0..leaves).into_par_iter().map(fetch).io_await().unbounded().on(pool).sum()
    });
    row(leaves, "io_await", |pool| (0..leaves).into_par_iter().map(fetch).io_await().on(pool).sum());
}

/// Prints the median of three runs, each on a new pool.
fn row(leaves: u64, form: &str, run: impl Fn(&ThreadPool) -> u64) {
    let mut runs = [(); 3].map(|()| {
        let builder = ThreadPoolBuilder::new().num_threads(THREADS).saturation_handler(|_| ());
        let pool = builder.build().expect("a pool");
        let start = Instant::now();
        assert_eq!(run(&pool), leaves * (leaves - 1) / 2);
        let time = start.elapsed();
        let stats = pool.stats();
        (time, stats.workers.len(), stats.total().saturated)
    });
    runs.sort();
    let (time, threads, saturated) = runs[1];
    println!("{form:<28} {:>10.1} {threads:>8} {saturated:>10}", time.as_secs_f64() * 1e3);
}
