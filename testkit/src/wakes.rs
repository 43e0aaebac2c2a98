//! Wakers that count.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll, Wake};

/// How often its wakers were called.
#[derive(Debug, Default)]
pub struct WakeCount(AtomicUsize);

impl WakeCount {
    pub fn new() -> Arc<WakeCount> {
        Arc::default()
    }

    pub fn get(&self) -> usize {
        self.0.load(Relaxed)
    }

    /// Polls a future with a waker of this count.
    pub fn poll<F: Future + Unpin>(self: &Arc<Self>, mut future: F) -> Poll<F::Output> {
        self.with(|context| Pin::new(&mut future).poll(context))
    }

    /// Calls `f` with a waker of this count.
    pub fn with<R>(self: &Arc<Self>, f: impl FnOnce(&mut Context<'_>) -> R) -> R {
        f(&mut Context::from_waker(&Arc::clone(self).into()))
    }
}

impl Wake for WakeCount {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}
