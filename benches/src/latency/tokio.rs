//! tokio, one task per item, which computes inline or on rayon's pool.

use super::gates::Gates;
use super::sweep::{Sweep, leaves};
use super::{Engine, Load, after};
use crate::fork::{RayonFork, Serial};
use futures_channel::oneshot;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// A task per item, under a semaphore, that computes inline.
#[derive(Debug)]
pub struct Tokio(pub(super) Runtime);

/// A task per item, under a semaphore, that computes on rayon's pool and waits for it.
#[derive(Debug)]
pub struct TokioRayon(Runtime, Arc<rayon::ThreadPool>);

/// Makes a runtime with this many threads.
pub(super) fn runtime(threads: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(threads).enable_time().build().expect("threads can be started")
}

impl Tokio {
    /// Makes a runtime.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Tokio(runtime(threads))
    }
}

impl TokioRayon {
    /// Makes a runtime, and a pool.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        TokioRayon(runtime(threads), Arc::new(super::blocking::pool(threads)))
    }
}

/// Waits for items on a runtime, and adds up their results.
fn sum<T>(runtime: &Runtime, n: u64, item: impl Fn(u64) -> T + Send + 'static) -> u64
where
    T: Future<Output = u64> + Send + 'static,
{
    // Spawned onto the runtime, since tasks that a worker spawns go to that worker's own queue.
    let all = runtime.spawn(async move {
        let mut items = JoinSet::new();
        (0..n).for_each(|number| {
            items.spawn(item(number));
        });
        let mut sum = 0;
        while let Some(item) = items.join_next().await {
            sum += item.expect("no task panics");
        }
        sum
    });
    runtime.block_on(all).expect("no task panics")
}

/// Runs a load on a runtime, with `compute` for the computations.
fn load<T>(runtime: &Runtime, load: Load, compute: impl Fn(u64) -> T + Clone + Send + Sync + 'static) -> u64
where
    T: Future<Output = u64> + Send,
{
    let permits = (load.cap < load.n as usize).then(|| Arc::new(Semaphore::new(load.cap)));
    sum(runtime, load.n, move |mut item| {
        let (permits, compute) = (permits.clone(), compute.clone());
        async move {
            for _ in 0..load.awaits {
                let permit = match &permits {
                    Some(permits) => Some(permits.acquire().await.expect("it is not closed")),
                    None => None,
                };
                tokio::time::sleep(load.latency).await;
                drop(permit);
                item = compute(item).await;
            }
            item
        }
    })
}

impl Engine for Tokio {
    fn name(&self) -> String {
        "tokio".into()
    }

    fn load(&self, wanted: Load) -> Option<u64> {
        Some(load(&self.0, wanted, move |item| async move { wanted.compute(&Serial, item) }))
    }

    fn sweep(&self, sweep: Sweep) -> Option<u64> {
        fn walk(sweep: Sweep, n: u32, first: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
            Box::pin(async move {
                if n < 2 {
                    let leaf = sweep.leaf(first, n);
                    if let Some(latency) = leaf.latency {
                        tokio::time::sleep(latency).await;
                    }
                    return leaf.value();
                }
                let right = tokio::spawn(walk(sweep, n - 2, first + leaves(n - 1)));
                walk(sweep, n - 1, first).await + right.await.expect("no task panics")
            })
        }
        let all = self.0.spawn(walk(sweep, sweep.n, 0));
        Some(self.0.block_on(all).expect("no task panics"))
    }

    fn gates(&self, gates: &'static Gates) -> Option<u64> {
        let gate = move |number| async move { gates.pass(gates.gate(number as usize).await) };
        Some(sum(&self.0, gates.n() as u64, gate))
    }

    fn collect(&self, n: u64, latency: Duration) -> Option<usize> {
        let items = (0..n).map(move |item| after(tokio::time::sleep, latency, item));
        let all = async move { items.collect::<JoinSet<_>>().join_all().await };
        Some(self.0.block_on(self.0.spawn(all)).expect("no task panics").len())
    }
}

impl Engine for TokioRayon {
    fn name(&self) -> String {
        "tokio + rayon".into()
    }

    fn load(&self, wanted: Load) -> Option<u64> {
        let pool = Arc::clone(&self.1);
        Some(load(&self.0, wanted, move |item| elsewhere(&pool, move || wanted.compute(&RayonFork, item))))
    }
}

/// Computes on rayon's pool, and waits for the result.
pub(super) fn elsewhere<F: FnOnce() -> u64 + Send + 'static>(
    pool: &rayon::ThreadPool,
    compute: F,
) -> impl Future<Output = u64> + Send + use<F> {
    let (sender, receiver) = oneshot::channel();
    pool.spawn(move || {
        // The receiver still exists.
        sender.send(compute()).expect("it is waited for");
    });
    async { receiver.await.expect("the job does not panic") }
}
