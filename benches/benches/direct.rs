//! The cost of waiting in direct style: n leaves of a tree, each waiting for 50 ms, on 8 workers.
//!
//! `cargo bench -p furcate-benches --bench direct`; `QUICK=1` for few leaves.
//!
//! *block_on*: `join(.., ..)` down to leaves that call `block_on`, with a thread for each leaf that waits; by default at most 512
//! besides the pool's own. *join_async*: the same tree of futures. *io_await*: the same leaves as items of an iterator.

use furcate::prelude::*;
use furcate::{ScopeHandle, ThreadPool, ThreadPoolBuilder, block_on, join};
use std::ops::Range;
use std::pin::Pin;
use std::time::{Duration, Instant};

const THREADS: usize = 8;

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
    let quick = std::env::var_os("QUICK").is_some();
    println!("direct: {THREADS} workers, leaves that wait for 50 ms");
    println!("{:>8} {:<28} {:>10} {:>8} {:>10}", "leaves", "form", "ms", "threads", "saturated");
    for leaves in if quick { vec![20] } else { vec![100, 610, 2000, 10_000] } {
        let bounded = |bound| move |builder: ThreadPoolBuilder| builder.max_blocking_threads(bound);
        if leaves <= 2000 {
            row(leaves, "join, block_on", |builder| builder, |pool| pool.install(|| direct(0..leaves)));
            row(leaves, "join, block_on, at most 64", bounded(64), |pool| pool.install(|| direct(0..leaves)));
        }
        row(
            leaves,
            "join_async",
            |builder| builder,
            |pool| pool.scope(|s| block_on(stackless(s.handle(), 0..leaves))),
        );
        row(
            leaves,
            "io_await",
            |builder| builder,
            |pool| (0..leaves).into_par_iter().map(fetch).io_await().on(pool).sum(),
        );
    }
}

fn row(
    leaves: u64,
    form: &str,
    build: impl Fn(ThreadPoolBuilder) -> ThreadPoolBuilder,
    run: impl Fn(&ThreadPool) -> u64,
) {
    let builder = ThreadPoolBuilder::new().num_threads(THREADS).saturation_handler(|_| ());
    let pool = build(builder).build().expect("a pool");
    let start = Instant::now();
    assert_eq!(run(&pool), leaves * (leaves - 1) / 2);
    let time = start.elapsed();
    let stats = pool.stats();
    println!(
        "{leaves:>8} {form:<28} {:>10.1} {:>8} {:>10}",
        time.as_secs_f64() * 1e3,
        stats.workers.len(),
        stats.total().saturated
    );
}
