//! Pools are built.

use super::ThreadPool;
use crate::engine::builder::{Spawn, ThreadBuilder, ThreadPoolBuildError, ThreadPoolBuilder};
use crate::engine::worker::Worker;
use crate::sync::machine::{Condvar, Mutex, thread};
use std::error::Error;

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
        let running = RunningThreads::default();
        thread::scope(|threads| {
            let _all_end = AllEnd(&running);
            let (wrapper, running) = (&wrapper, &running);
            let pool = self
                .spawn_handler(move |thread| {
                    let builder = thread.configured();
                    let counted = running.begin();
                    let run = move || {
                        let _counted = counted;
                        thread.note_stack();
                        wrapper(thread);
                    };
                    builder.spawn_scoped(threads, run).map(drop)
                })
                .build()?;
            Ok(with_pool(&pool))
        })
    }
}

/// Number of a scoped pool's threads that have not ended.
#[derive(Default)]
struct RunningThreads {
    count: Mutex<usize>,
    none_runs: Condvar,
}

impl RunningThreads {
    fn begin(&self) -> RunningThread<'_> {
        *self.count.lock().expect(UNPOISONED) += 1;
        RunningThread(self)
    }
}

/// A thread that is counted until this is dropped.
struct RunningThread<'a>(&'a RunningThreads);

impl Drop for RunningThread<'_> {
    fn drop(&mut self) {
        *self.0.count.lock().expect(UNPOISONED) -= 1;
        self.0.none_runs.notify_all();
    }
}

const UNPOISONED: &str = "nobody panics with this lock";

/// Waits for the end of a scoped pool's threads, before the end of the scope around them. If the waiting thread is a worker of another
/// pool, that pool goes on meanwhile.
struct AllEnd<'a>(&'a RunningThreads);

impl Drop for AllEnd<'_> {
    fn drop(&mut self) {
        let wait = || {
            let count = self.0.count.lock().expect(UNPOISONED);
            drop(self.0.none_runs.wait_while(count, |count| *count > 0).expect(UNPOISONED));
        };
        Worker::with_current(|current| match current {
            Some(worker) => worker.elsewhere(wait),
            None => wait(),
        });
    }
}
