//! The builder of pools.

use furcate_pool::{CustomSpawn, DefaultSpawn, Spawn, ThreadBuilder, ThreadPool, ThreadPoolBuildError};
use std::any::Any;
use std::fmt;
use std::io;

/// Makes a [`ThreadPool`], or the global one, as rayon does: dropping a pool waits neither for its jobs nor for its threads.
///
/// For furcate's other settings, which wait rule a pool has for instance, call `build_global` of furcate's own builder, or
/// `install` of a pool that it has made. Such a pool is one of rayon's, too:
///
/// ```
/// furcate::ThreadPoolBuilder::new().num_threads(3).fairness(furcate::Fairness::WokenFirst).build_global()?;
/// assert_eq!(rayon_core::current_num_threads(), 3);
/// # Ok::<(), furcate::ThreadPoolBuildError>(())
/// ```
#[must_use = "a builder does nothing until it builds"]
pub struct ThreadPoolBuilder<S = DefaultSpawn>(pub(crate) furcate_pool::ThreadPoolBuilder<S>);

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        ThreadPoolBuilder(furcate_pool::ThreadPoolBuilder::new().wait_on_drop(false))
    }
}

impl ThreadPoolBuilder {
    /// A builder with the defaults: as many threads as the machine can run at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a pool whose threads may borrow from the caller: calls `with_pool`, and ends the pool before it returns.
    ///
    /// `wrapper` is called in every thread, and has to [run](ThreadBuilder::run) it.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started.
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        self.0.build_scoped(wrapper, with_pool)
    }
}

impl<S: Spawn> ThreadPoolBuilder<S> {
    /// Makes the pool.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started: those that were are ended first.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        self.0.build()
    }

    /// Makes the global pool.
    ///
    /// # Errors
    ///
    /// If a thread cannot be started; or if there is a global pool: its first use makes it, with the defaults.
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        self.0.build_global()
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Has threads started by a closure, which calls [`ThreadBuilder::run`] in each of them.
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder(self.0.spawn_handler(spawn))
    }

    /// Names the threads, by their numbers.
    pub fn thread_name<F>(self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        ThreadPoolBuilder(self.0.thread_name(closure))
    }

    /// How many threads run jobs at once. 0, the default: as `RAYON_NUM_THREADS` in the environment says, else as many as the
    /// machine can run.
    pub fn num_threads(self, num_threads: usize) -> Self {
        ThreadPoolBuilder(self.0.num_threads(num_threads))
    }

    /// Makes the thread that builds the pool one of its threads, number 0, until that thread ends.
    pub fn use_current_thread(self) -> Self {
        ThreadPoolBuilder(self.0.use_current_thread())
    }

    /// Called with the payload of a panic that reaches no caller. Without a handler such a panic aborts the process.
    pub fn panic_handler<H>(self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        ThreadPoolBuilder(self.0.panic_handler(panic_handler))
    }

    /// The size of the threads' stacks, in bytes.
    pub fn stack_size(self, stack_size: usize) -> Self {
        ThreadPoolBuilder(self.0.stack_size(stack_size))
    }

    /// Does nothing: a hint of early versions of rayon.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    #[allow(deprecated)]
    pub fn breadth_first(self) -> Self {
        ThreadPoolBuilder(self.0.breadth_first())
    }

    /// Called by every thread when it starts, with its number.
    pub fn start_handler<H>(self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        ThreadPoolBuilder(self.0.start_handler(start_handler))
    }

    /// Called by every thread when it ends, with its number.
    pub fn exit_handler<H>(self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        ThreadPoolBuilder(self.0.exit_handler(exit_handler))
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
