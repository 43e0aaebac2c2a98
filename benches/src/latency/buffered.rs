//! `buffer_unordered`: one thread polls all futures, rayon's pool computes.

use super::gates::Gates;
use super::sweep::{Leaf, Sweep};
use super::tokio::elsewhere;
use super::{Engine, Load};
use crate::fork::RayonFork;
use async_io::Timer;
use futures_util::StreamExt;
use futures_util::stream::{self, FuturesUnordered};

/// `buffer_unordered` with rayon; without anything to compute, `FuturesUnordered` in the calling thread.
#[derive(Debug)]
pub struct Buffered(rayon::ThreadPool);

impl Buffered {
    /// Makes a pool.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Buffered(super::blocking::pool(threads))
    }
}

impl Engine for Buffered {
    fn name(&self) -> String {
        "buffer_unordered + rayon".into()
    }

    fn load(&self, load: Load) -> Option<u64> {
        let item = |mut item| async move {
            for _ in 0..load.awaits {
                Timer::after(load.latency).await;
                item = elsewhere(&self.0, move || load.compute(&RayonFork, item)).await;
            }
            item
        };
        let at_once = load.cap.min(load.n as usize);
        let items = stream::iter(0..load.n).map(item).buffer_unordered(at_once);
        Some(async_io::block_on(items.fold(0, |sum, item| async move { sum + item })))
    }

    fn sweep(&self, sweep: Sweep) -> Option<u64> {
        let leaf = |leaf: Leaf| async move {
            match leaf.latency {
                Some(latency) => {
                    Timer::after(latency).await;
                    leaf.value()
                }
                None => elsewhere(&self.0, move || leaf.value()).await,
            }
        };
        let leaves: FuturesUnordered<_> = sweep.flat().into_iter().map(leaf).collect();
        Some(async_io::block_on(leaves.fold(0, |sum, value| async move { sum + value })))
    }

    fn gates(&self, gates: &'static Gates) -> Option<u64> {
        let all: FuturesUnordered<_> = (0..gates.n()).map(|number| gates.gate(number)).collect();
        let passed = all.fold(0, |sum, number| async move { sum + gates.pass(number) });
        Some(futures_lite::future::block_on(passed))
    }
}
