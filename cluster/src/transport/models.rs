//! How loom models of the transports are run, and memory for them.

use super::ring;
use furcate_pool::sync::Arc;
use furcate_pool::sync::atomic::AtomicU64;
use std::ops::Deref;

/// Explores a model, and prints how many interleavings it has. `preemptions` bounds how often a thread is interrupted that could go on.
pub(super) fn explore(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let explored = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check({
        let explored = std::sync::Arc::clone(&explored);
        move || {
            explored.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            model();
        }
    });
    let (model, explored) = (std::thread::current(), explored.load(std::sync::atomic::Ordering::Relaxed));
    println!(
        "{}: {explored} interleavings with at most {preemptions} preemptions",
        model.name().unwrap_or("a model")
    );
}

/// Memory that two processes share.
#[derive(Clone)]
pub(super) struct Memory(Arc<Vec<AtomicU64>>);

impl Memory {
    /// Memory for a ring with so many words of data.
    pub(super) fn ring(data: usize) -> Self {
        Memory(Arc::new((0..ring::words(data)).map(|_| AtomicU64::new(0)).collect()))
    }
}

impl Deref for Memory {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        &self.0
    }
}
