//! async-executor, whose threads drive async-io's reactor in turn, as smol's users have it.

use super::gates::Gates;
use super::sweep::{Sweep, leaves};
use super::{Engine, Load};
use crate::fork::Serial;
use ::async_executor::Executor;
use async_io::Timer;
use futures_channel::oneshot;
use futures_util::FutureExt;
use std::pin::Pin;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::sync::Semaphore;

/// A task per item, under a semaphore, that computes inline.
#[derive(Debug)]
pub struct AsyncExecutor {
    executor: Arc<Executor<'static>>,
    /// Dropped, it ends the threads.
    stop: Option<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl AsyncExecutor {
    /// Makes an executor, and starts its threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let executor = Arc::new(Executor::new());
        let (stop, stopped) = oneshot::channel();
        let stopped = stopped.shared();
        let thread = |_| {
            let (executor, stopped) = (Arc::clone(&executor), stopped.clone());
            thread::spawn(move || {
                // An error says that the sender is gone.
                let _gone = async_io::block_on(executor.run(stopped));
            })
        };
        let threads = (0..threads).map(thread).collect();
        AsyncExecutor { executor, stop: Some(stop), threads }
    }

    /// Waits for items, and adds up their results.
    fn sum<T>(&self, n: u64, item: impl Fn(u64) -> T + Send + 'static) -> u64
    where
        T: Future<Output = u64> + Send + 'static,
    {
        let executor = Arc::clone(&self.executor);
        let all = self.executor.spawn(async move {
            let items: Vec<_> = (0..n).map(|number| executor.spawn(item(number))).collect();
            let mut sum = 0;
            for item in items {
                sum += item.await;
            }
            sum
        });
        futures_lite::future::block_on(all)
    }
}

impl Drop for AsyncExecutor {
    fn drop(&mut self) {
        self.stop = None;
        for thread in self.threads.drain(..) {
            thread.join().expect("no task panics");
        }
    }
}

impl Engine for AsyncExecutor {
    fn name(&self) -> String {
        "async-executor".into()
    }

    fn load(&self, load: Load) -> Option<u64> {
        let permits = (load.cap < load.n as usize).then(|| Arc::new(Semaphore::new(load.cap)));
        Some(self.sum(load.n, move |mut item| {
            let permits = permits.clone();
            async move {
                for _ in 0..load.awaits {
                    let permit = match &permits {
                        Some(permits) => Some(permits.acquire().await.expect("it is not closed")),
                        None => None,
                    };
                    Timer::after(load.latency).await;
                    drop(permit);
                    item = load.compute(&Serial, item);
                }
                item
            }
        }))
    }

    fn sweep(&self, sweep: Sweep) -> Option<u64> {
        type Walk = Pin<Box<dyn Future<Output = u64> + Send>>;
        fn walk(executor: Arc<Executor<'static>>, sweep: Sweep, n: u32, first: u64) -> Walk {
            Box::pin(async move {
                if n < 2 {
                    let leaf = sweep.leaf(first, n);
                    if let Some(latency) = leaf.latency {
                        Timer::after(latency).await;
                    }
                    return leaf.value();
                }
                let behind = first + leaves(n - 1);
                let right = executor.spawn(walk(Arc::clone(&executor), sweep, n - 2, behind));
                walk(executor, sweep, n - 1, first).await + right.await
            })
        }
        let all = self.executor.spawn(walk(Arc::clone(&self.executor), sweep, sweep.n, 0));
        Some(futures_lite::future::block_on(all))
    }

    fn gates(&self, gates: &'static Gates) -> Option<u64> {
        let gate = move |number| async move { gates.pass(gates.gate(number as usize).await) };
        Some(self.sum(gates.n() as u64, gate))
    }
}
