//! Pools are built.

use super::ThreadPool;
use crate::engine::builder::{Spawn, ThreadBuilder, ThreadPoolBuildError, ThreadPoolBuilder};
use crate::engine::worker::Worker;
use crate::sync::machine::Mutex;
use crate::sync::machine::thread;
use std::convert::Infallible;
use std::error::Error;
use std::sync::mpsc;

impl ThreadPool {
    /// Makes a pool, as in early versions of rayon. (Their `Configuration` is in the crate that stands in for rayon-core.)
    ///
    /// # Errors
    ///
    /// As [`ThreadPoolBuilder::build`].
    #[deprecated(note = "Use `ThreadPoolBuilder::build`")]
    pub fn new(configuration: impl Into<ThreadPoolBuilder>) -> Result<ThreadPool, Box<dyn Error>> {
        configuration.into().build().map_err(Box::from)
    }
}

impl<S: Spawn> ThreadPoolBuilder<S> {
    /// Makes the pool.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started. The started threads are ended before the method returns.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.build_registry().map(|registry| ThreadPool { registry })
    }
}

impl ThreadPoolBuilder {
    /// Makes a pool whose threads may borrow from the caller: calls `with_pool`, and ends the pool before it returns.
    ///
    /// Each thread calls `wrapper`, which has to [run](ThreadBuilder::run) the thread's work.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    ///
    /// ```
    /// let data = vec![1, 2, 3];
    /// let sum = furcate::ThreadPoolBuilder::new()
    ///     .num_threads(2)
    ///     .build_scoped(|thread| thread.run(), |pool| pool.install(|| data.iter().sum::<i32>()))
    ///     .unwrap();
    /// assert_eq!(sum, 6);
    /// ```
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        // Each thread keeps a sender until it ends.
        let (running, ended) = mpsc::channel::<Infallible>();
        let ended = Mutex::new(ended);
        thread::scope(|threads| {
            let _all_end = AllEnd(&ended);
            let wrapper = &wrapper;
            let pool = self
                .spawn_handler(move |thread| {
                    let (builder, running) = (thread.configured(), running.clone());
                    let run = move || {
                        let _running = running;
                        wrapper(thread);
                    };
                    builder.spawn_scoped(threads, run).map(drop)
                })
                .build()?;
            Ok(with_pool(&pool))
        })
    }
}

/// Waits for the end of a scoped pool's threads, before the end of the scope around them. If the waiting thread is a worker of another
/// pool, that pool goes on meanwhile.
struct AllEnd<'a>(&'a Mutex<mpsc::Receiver<Infallible>>);

impl Drop for AllEnd<'_> {
    fn drop(&mut self) {
        let wait = || _ = self.0.lock().expect("nobody panics with this lock").recv();
        Worker::with_current(|current| match current {
            Some(worker) => worker.elsewhere(wait),
            None => wait(),
        });
    }
}
