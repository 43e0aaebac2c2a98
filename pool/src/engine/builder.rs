//! The builder of pools.

use crate::engine::registry::main_loop::MainLoop;
use crate::engine::registry::{MAX_THREADS, Registry, Setup};
#[cfg(feature = "tokio")]
use crate::engine::settings::runtime::Runtime;
use crate::engine::settings::{Fairness, Saturation, Suspension};
use crate::engine::worker::{WaitRule, Worker};
use crate::process::report;
use crate::slots::{Token, TokenSource};
use crate::sync::machine::thread;
use crate::sync::stack;
use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::{Arc, Once};

/// Number of threads that a pool starts by default, at most, to stand in for waiting threads; tokio's default for blocking threads.
const MAX_BLOCKING_THREADS: usize = 512;

/// Makes a [`ThreadPool`](crate::ThreadPool), or the global pool: rayon's builder, with more settings.
///
/// ```
/// let pool = furcate::ThreadPoolBuilder::new()
///     .num_threads(3)
///     .thread_name(|i| format!("crunch-{i}"))
///     .build()
///     .unwrap();
/// let name = pool.install(|| std::thread::current().name().unwrap().to_owned());
/// assert!(name.starts_with("crunch-"));
/// ```
#[must_use = "a builder does nothing until it builds"]
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    settings: Settings,
    spawn: S,
}

/// Settings of any builder, however it has its threads started.
#[derive(Default)]
struct Settings {
    threads: usize,
    name: Option<Box<dyn FnMut(usize) -> String>>,
    stack_size: Option<usize>,
    use_current_thread: bool,
    /// See [`caller_takes_part`](Self::caller_takes_part). If `None`, the other settings decide.
    caller_takes_part: Option<bool>,
    /// A setting without an effect, which `Debug` prints.
    breadth_first: bool,
    tokens: Option<StartSource>,
    setup: Setup,
}

/// Makes a source of tokens, which passes each of them to the given closure.
type StartSource = Box<dyn FnOnce(Box<dyn Fn(Token) + Send + Sync>) -> io::Result<TokenSource>>;

/// Has the threads started by `std::thread`.
#[derive(Clone, Copy, Debug, Default)]
pub struct DefaultSpawn(());

/// Has the threads started by a closure, see [`ThreadPoolBuilder::spawn_handler`].
#[derive(Clone, Copy, Debug)]
pub struct CustomSpawn<F>(F);

/// A thread that a [spawn handler](ThreadPoolBuilder::spawn_handler) has to start.
pub struct ThreadBuilder {
    name: Option<String>,
    stack_size: Option<usize>,
    number: usize,
    main: Box<dyn FnOnce() + Send>,
}

impl ThreadBuilder {
    /// Returns the thread's number among the pool's threads.
    #[must_use]
    pub fn index(&self) -> usize {
        self.number
    }

    /// Returns the name that the thread should have, if any.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the size in bytes that the thread's stack should have, if it was set.
    #[must_use]
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Runs the thread's work, until the pool ends.
    pub fn run(self) {
        (self.main)();
    }

    /// Runs the thread's work on a thread that was started as [`configured`](Self::configured).
    fn begin(self) {
        self.note_stack();
        self.run();
    }

    /// Notes the size of the stack of a thread that was started as [`configured`](Self::configured).
    pub(crate) fn note_stack(&self) {
        stack::begin(self.stack_size);
    }

    /// Returns a `std` builder with the thread's name and stack size.
    pub(crate) fn configured(&self) -> thread::Builder {
        let mut builder = thread::Builder::new();
        if let Some(name) = &self.name {
            builder = builder.name(name.clone());
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("index", &self.number)
            .field("name", &self.name)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}

/// The reason why a pool could not be made.
///
/// `Display` uses rayon's words for the errors that rayon has. `Debug`, which `unwrap` and `expect` print, also names a remedy.
///
/// ```
/// furcate::join(|| (), || ()); // makes the global pool
/// let error = furcate::ThreadPoolBuilder::new().build_global().unwrap_err();
/// assert_eq!(error.to_string(), "The global thread pool has already been initialized.");
/// assert!(format!("{error:?}").contains("build the global pool once, before its first use"));
/// ```
pub struct ThreadPoolBuildError(BuildErrorReason);

#[derive(Debug)]
enum BuildErrorReason {
    AlreadyInitialized,
    AlreadyInPool,
    Thread { number: usize, of: usize, error: io::Error },
}

impl ThreadPoolBuildError {
    pub(crate) fn already_initialized() -> Self {
        ThreadPoolBuildError(BuildErrorReason::AlreadyInitialized)
    }

    /// Returns the reason and the remedy.
    fn texts(&self) -> (Cow<'static, str>, &'static str) {
        match &self.0 {
            // Rayon's words: programs compare them.
            BuildErrorReason::AlreadyInitialized => (
                "The global thread pool has already been initialized.".into(),
                "build the global pool once, before its first use, or make a pool of your own with `build`",
            ),
            BuildErrorReason::AlreadyInPool => (
                "The current thread is already part of another thread pool.".into(),
                "call `use_current_thread` in a thread that is in no pool, or leave it out",
            ),
            BuildErrorReason::Thread { number, of, error } => (
                format!("thread {} of {of} could not be started: {error}", number + 1).into(),
                if self.is_unsupported() {
                    "this target has no threads: make the caller's thread the pool's only one \
                     (`num_threads(1).use_current_thread()`), or use the global pool, which does so by itself"
                } else {
                    "ask for fewer threads (`num_threads`) or smaller stacks (`stack_size`), or raise the system's limits"
                },
            ),
        }
    }

    /// Whether the target has no threads.
    pub(crate) fn is_unsupported(&self) -> bool {
        matches!(&self.0, BuildErrorReason::Thread { error, .. } if error.kind() == io::ErrorKind::Unsupported)
    }
}

impl fmt::Display for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts().0)
    }
}

impl fmt::Debug for ThreadPoolBuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reason, instead) = self.texts();
        write!(f, "ThreadPoolBuildError({reason:?}, {instead:?})")
    }
}

impl Error for ThreadPoolBuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            BuildErrorReason::Thread { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        ThreadPoolBuilder { settings: Settings::default(), spawn: DefaultSpawn(()) }
            .max_blocking_threads(MAX_BLOCKING_THREADS)
    }
}

impl ThreadPoolBuilder {
    /// Makes a builder with the defaults: as many threads as the machine can run at once.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The manner in which the threads of a pool are started. Sealed: [`DefaultSpawn`], or a closure.
pub trait Spawn: sealed::Sealed {}

mod sealed {
    use super::{CustomSpawn, DefaultSpawn, ThreadBuilder};
    use crate::sync::machine::thread::JoinHandle;
    use std::io;

    pub trait Sealed {
        /// Starts a thread. Returns its handle if the pool has to join it.
        fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<Option<JoinHandle<()>>>;
        /// Whether the pool may start spare threads later on.
        const SPARES: bool;
    }

    impl Sealed for DefaultSpawn {
        fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<Option<JoinHandle<()>>> {
            thread.configured().spawn(|| thread.begin()).map(Some)
        }
        const SPARES: bool = true;
    }

    impl<F: FnMut(ThreadBuilder) -> io::Result<()>> Sealed for CustomSpawn<F> {
        fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<Option<JoinHandle<()>>> {
            (self.0)(thread).map(|()| None)
        }
        const SPARES: bool = false;
    }
}

impl Spawn for DefaultSpawn {}
impl<F: FnMut(ThreadBuilder) -> io::Result<()>> Spawn for CustomSpawn<F> {}

impl<S> ThreadPoolBuilder<S> {
    /// Sets how many threads run jobs at once: the pool's number of *slots*. With 0, the default, the environment variable
    /// `FURCATE_NUM_THREADS` or `RAYON_NUM_THREADS` sets the number; without them it is as many as the machine can run.
    /// (`RAYON_RS_NUM_CPUS`, the old name of the second variable, counts if the second one is not set.)
    pub fn num_threads(mut self, threads: usize) -> Self {
        self.settings.threads = threads;
        self
    }

    /// Sets the threads' names: `name` is called once with each thread's number, before any of them is started. (A spare thread, see
    /// [`WaitRule`], has the name and number of one of the pool's own, here and in the handlers.)
    pub fn thread_name<F>(mut self, name: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.settings.name = Some(Box::new(name));
        self
    }

    /// Sets the size of the threads' stacks, in bytes. The default is that of `std::thread`. Where a division is lopsided, as that of a list, the
    /// forks of a chain nest up to 128 deep for each 512 KiB. (40 in a debug build, where a fork takes more.)
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.settings.stack_size = Some(bytes);
        self
    }

    /// Sets a handler that every thread calls with its number when it starts. If the handler panics, the [panic
    /// handler](Self::panic_handler) is called.
    pub fn start_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.settings.setup.start = Some(Box::new(handler));
        self
    }

    /// Sets a handler that every thread calls with its number when it ends. If the handler panics, the [panic
    /// handler](Self::panic_handler) is called. Other threads of the pool may have ended by then: a `broadcast` would wait for them for
    /// ever.
    pub fn exit_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.settings.setup.exit = Some(Box::new(handler));
        self
    }

    /// Sets a handler that runs each thread's main loop, a future: a reactor's `block_on`. So the threads drive the reactor while they rest, and a task whose
    /// I/O is ready runs on the thread that has seen it.
    ///
    /// Without a handler, each such task is woken by the reactor's own thread, and runs on another one. Where waits are short (a cache or a database near
    /// by), that switch costs more than the rest of the request.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::time::Duration;
    ///
    /// let pool = furcate::ThreadPoolBuilder::new().main_handler(|main| async_io::block_on(main)).build().unwrap();
    /// let wait = |i: u64| async move {
    ///     async_io::Timer::after(Duration::from_millis(1)).await;
    ///     i
    /// };
    /// let sum: u64 = (0..100_u64).into_par_iter().map(wait).io_await().on(&pool).sum();
    /// assert_eq!(sum, 4950);
    /// ```
    ///
    /// At most one thread of the pool is in the reactor at a time. When it is kept by a long job, another thread that has nothing to do takes its place
    /// within a millisecond (three, if all processors are busy). While all threads are busy, none is in the reactor; async-io then drives its reactor on a
    /// thread of its own, after some 20 ms at most. It also does so when other parts of the program use the reactor, until the pool's next task is woken.
    ///
    /// The future runs the pool's jobs when it is polled. It is pending only while its thread rests, and ready when the pool ends. Some reactors do not fit:
    /// - A reactor needs a thread of its own for the times in which no thread is in its `block_on`. async-io has one.
    /// - tokio's `block_on` leaves the I/O to tokio's threads (a multi-thread runtime), or keeps it from other threads while the future is polled (a
    ///   current-thread one).
    ///
    /// The handler is to poll the future at once, and whenever its waker was called. Neither the handler nor the waker may wait for this pool otherwise. If the handler returns
    /// early or panics, its thread sleeps without it from then on. The panic, and one of the waker, goes to the [panic handler](Self::panic_handler). A
    /// thread that [built the pool](Self::use_current_thread) is not the pool's to run: the handler is not called there.
    pub fn main_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(MainLoop<'_>) + Send + Sync + 'static,
    {
        self.settings.setup.main = Some(Box::new(handler));
        self
    }

    /// Sets a handler that gets the payload of each panic that no caller receives.
    ///
    /// Without a handler, the consequence depends on the code that panicked:
    ///
    /// - A spawned closure ([`spawn`](crate::spawn)), a start, exit or main handler, or a main handler's waker: the process is aborted, as with rayon.
    /// - A future or a computation whose result was given up ([`spawn_future`](crate::spawn_future) with its handle dropped,
    ///   an awaited terminal that was dropped): the panic hook has printed the message, and the process goes on.
    ///
    /// If the handler panics itself, the process is aborted.
    pub fn panic_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.settings.setup.panic = Some(Box::new(handler));
        self
    }

    /// Makes the thread that builds the pool one of the pool's threads, number 0. It runs jobs only while it waits in `join`,
    /// `scope` and the like. It stays one of the pool's threads until it ends, or drops the pool outside of the pool's own jobs. After its end, nothing
    /// runs its parts of broadcasts and its jobs of [`spawn_on`](crate::ThreadPool::spawn_on), and a thread that waits for one of them waits for ever.
    pub fn use_current_thread(mut self) -> Self {
        self.settings.use_current_thread = true;
        self
    }

    /// Sets how many threads the pool may start, besides its own, to stand in for threads that wait in the middle of a job: in
    /// [`block_on`](crate::block_on()), or for a stolen half of a `join`, or for a scope. The default is 512, as in tokio.
    ///
    /// The pool starts such a *spare* thread when a job waits and no idle thread can take the slot, and keeps the thread until the
    /// pool ends. Each spare thread takes memory for its stack. Waiting without a thread is much cheaper, see
    /// [`block_on`](crate::block_on()).
    ///
    /// If the bound is reached and no thread is idle, a waiting job keeps its slot. It goes on as soon as it can, but the slot runs
    /// no other job meanwhile. If jobs are queued then, the wait is
    /// [counted](crate::WorkerStats::saturated), and the first such wait is [reported](Self::saturation_handler).
    ///
    /// Waiting jobs may depend on queued ones. So there are two kinds of threads beyond the bound. One thread polls the queued
    /// [futures](crate::spawn_future), in the slots of waiting jobs. And if waiting jobs keep every slot for some 0.1 s while jobs are
    /// queued, the pool starts one more thread. (While there are futures to poll, it does so after a second or so.)
    ///
    /// No such threads are started where the [wait rule](Self::wait_rule) is [`Leapfrog`](WaitRule::Leapfrog) or
    /// [`RandomLeapfrog`](WaitRule::RandomLeapfrog), or where a [spawn handler](Self::spawn_handler) starts the threads. If all threads of such a pool wait, one of them runs queued jobs on
    /// top of the waiting job. That is counted and reported as well.
    ///
    /// ```
    /// let pool = furcate::ThreadPoolBuilder::new().num_threads(2).max_blocking_threads(8).build().unwrap();
    /// assert_eq!(pool.install(|| furcate::block_on(async { 1 })), 1);
    /// ```
    pub fn max_blocking_threads(mut self, threads: usize) -> Self {
        self.settings.setup.max_blocking_threads = threads;
        self
    }

    /// Sets a handler that is called once, when a waiting job keeps its slot although jobs are queued, because no further thread may or
    /// can be started: see [`max_blocking_threads`](Self::max_blocking_threads). [`Saturation::cause`] is the reason why there is no
    /// further thread. Without a handler a warning is printed on stderr.
    ///
    /// The handler runs in the thread that waits. If it panics, the [panic handler](Self::panic_handler) is called.
    ///
    /// ```
    /// let pool = furcate::ThreadPoolBuilder::new()
    ///     .max_blocking_threads(100)
    ///     .saturation_handler(|saturation| eprintln!("the pool is saturated: {saturation}"))
    ///     .build()
    ///     .unwrap();
    /// # drop(pool);
    /// ```
    pub fn saturation_handler<H>(mut self, handler: H) -> Self
    where
        H: Fn(&Saturation) + Send + Sync + 'static,
    {
        self.settings.setup.saturation = Some(Box::new(handler));
        self
    }

    /// Sets whether an external thread, which is no pool's worker, takes part in its own calls.
    ///
    /// - `true`: the caller occupies one of the pool's slots for the time of its call, with that slot's
    ///   [index](crate::current_thread_index), and runs jobs of this call alone, on its own stack. If all slots are taken, the
    ///   caller blocks until it gets one. A small call costs some hundred nanoseconds.
    /// - `false`: the caller blocks, and the pool's threads run the call, as in rayon. A call costs a hand-over to another thread
    ///   and back: some 10 microseconds.
    ///
    /// In both cases every job of the call occupies a slot while it runs. So at most [`num_threads`](Self::num_threads) jobs of the
    /// pool run at once, and each has an index. (Exception: while a job blocks on a lock or in a system call, another thread may [take
    /// its slot over](crate::WorkerStats::slots_taken_over).)
    ///
    /// The default is `true`, unless another setting promises a property of the threads that a caller's thread does not have: a
    /// [stack size](Self::stack_size), [names](Self::thread_name), a [start](Self::start_handler) or [exit
    /// handler](Self::exit_handler), a [spawn handler](Self::spawn_handler), or [pinning](Self::pin_threads). With `true` and one
    /// of these, the promise holds for the pool's own threads only.
    ///
    /// The setting is about `join`, `scope` and iterators. [`ThreadPool::install`](crate::ThreadPool::install) and most other methods of [`ThreadPool`](crate::ThreadPool) always run
    /// on the pool's threads. Two kinds of code run in a calling external thread under both settings, occupy no slot, and have no
    /// index: the body of an [`in_place_scope`](crate::in_place_scope), and a chain that is
    /// [`sequential`](https://docs.rs/furcate/latest/furcate/struct.Sequential.html). Such code does not count as a job above.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use std::thread;
    ///
    /// let here = thread::current().id();
    /// for takes_part in [true, false] {
    ///     let pool =
    ///         furcate::ThreadPoolBuilder::new().num_threads(2).caller_takes_part(takes_part).build().unwrap();
    ///     let ran_here = (0..1).into_par_iter().on(&pool).all(|_| thread::current().id() == here);
    ///     assert_eq!(ran_here, takes_part);
    /// }
    /// ```
    pub fn caller_takes_part(mut self, takes_part: bool) -> Self {
        self.settings.caller_takes_part = Some(takes_part);
        self
    }

    /// Sets whether dropping the pool waits until its spawned jobs have run and its threads have ended. The default is `true`.
    ///
    /// With `false` the drop returns at once, as in rayon. Spawned jobs still run, and then the threads end. A thread that [is made one
    /// of the pool's](Self::use_current_thread) remains so until it ends.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    ///
    /// let (go, gone) = (channel(), channel());
    /// let pool = furcate::ThreadPoolBuilder::new().num_threads(1).wait_on_drop(false).build().unwrap();
    /// pool.spawn(move || gone.0.send(go.1.recv().unwrap()).unwrap());
    /// drop(pool); // would wait for the job
    /// go.0.send(7).unwrap();
    /// assert_eq!(gone.1.recv(), Ok(7));
    /// ```
    pub fn wait_on_drop(mut self, wait: bool) -> Self {
        self.settings.setup.drop_does_not_wait = !wait;
        self
    }

    /// Pins thread number i to the i-th logical processor (modulo their number) that the process may use, one of each core first: on a
    /// machine with two processors to a core, half as many threads have a core each. (Linux tells which processors share a core;
    /// elsewhere the order is the system's.)
    pub fn pin_threads(mut self) -> Self {
        self.settings.setup.pin = true;
        self
    }

    /// Has every thread enter a tokio runtime while it is one of the pool's: the pool's own, and external threads that take
    /// part in their own calls. Futures of tokio, and of libraries built on it, then work in `io_await` and in spawned tasks,
    /// whichever thread starts the call: that runtime drives their timers and sockets. (A thread that
    /// [is made](Self::use_current_thread) one of the pool's has to enter the runtime itself.) The runtime must outlive
    /// such futures. It may be a current-thread runtime, as long as its thread drives it.
    ///
    /// A pool without this setting uses, for each call, the runtime in which the call is started. So a task of tokio needs no setting.
    /// Call this method if threads that have entered no runtime start calls.
    ///
    /// ```
    /// # #[cfg(feature = "tokio")] {
    /// use furcate::prelude::*;
    /// use std::time::Duration;
    ///
    /// let runtime = tokio::runtime::Runtime::new().unwrap();
    /// let pool = furcate::ThreadPoolBuilder::new().num_threads(2).tokio(runtime.handle().clone()).build().unwrap();
    /// let request = |x: u64| async move {
    ///     tokio::time::sleep(Duration::from_millis(20)).await;
    ///     x
    /// };
    /// let sum = (0..100).into_par_iter().map(request).io_await().on(&pool).sum::<u64>();
    /// assert_eq!(sum, 4950);
    /// # }
    /// ```
    #[cfg(feature = "tokio")]
    pub fn tokio(mut self, runtime: tokio::runtime::Handle) -> Self {
        self.settings.setup.runtime = Runtime::new(runtime);
        self
    }

    /// Has the pool take part in make's jobserver, which bounds the number of busy processors over many processes. (As do cargo, rustc and gcc.)
    ///
    /// One slot needs no token: the process has started with one. Before the pool uses a further slot, it acquires a token, and gives the
    /// token back when it has no work for the slot: at once, or within 20 ms in the middle of a call. So at most
    /// [`num_threads`](Self::num_threads) jobs run at once, and at most one more than there are tokens. While other processes have all tokens,
    /// calls go on in one slot. If the jobserver's pipe fails, the pool goes on with the slots that it has.
    ///
    /// - Drop the pool before the process exits. A process that exits while its pool has a token takes the token along, and make complains. So
    ///   this is not for a global pool whose calls last until the end.
    /// - A worker that blocks in a `join` gives its token back, unless another one wants the slot at that moment.
    /// - A thread that waits for tokens starts with the pool. On Unix it takes `SIGUSR1`: a handler that the program has set before is
    ///   replaced, and one that it sets later is called when the pool ends. See [`into_helper_thread`](jobserver::Client::into_helper_thread).
    /// - If several pools share the tokens, each has one slot without a token.
    /// - A pool with a [spawn handler](Self::spawn_handler) starts no threads beside its own, nor does one with the wait rule `Leapfrog`. While a slot lacks its
    ///   token, such a pool may run queued jobs on top of a job that waits for other threads. So hold no lock across that wait which other jobs want.
    ///
    /// ```
    /// use furcate::prelude::*;
    ///
    /// // In a process that make or cargo has started: `unsafe { jobserver::Client::from_env() }`.
    /// let client = jobserver::Client::new(3).unwrap();
    /// let pool = furcate::ThreadPoolBuilder::new().num_threads(8).jobserver(client.clone()).build().unwrap();
    /// let sum: u64 = (0..1000_u64).into_par_iter().on(&pool).sum(); // on four threads at most
    /// assert_eq!(sum, 499_500);
    /// drop(pool);
    /// assert_eq!(client.available().unwrap(), 3);
    /// ```
    #[cfg(feature = "jobserver")]
    pub fn jobserver(mut self, client: jobserver::Client) -> Self {
        self.settings.tokens = Some(Box::new(|bring| {
            // After an error, no token comes any more.
            let bring = move |token: io::Result<_>| _ = token.map(|token| bring(Box::new(token)));
            let helper = client.into_helper_thread(bring)?;
            Ok(Arc::new(move || helper.request_token()))
        }));
        self
    }

    /// As `jobserver`, with the simulator's tokens.
    #[cfg(furcate_sim)]
    #[doc(hidden)]
    pub fn tokens_by(mut self, start: StartSource) -> Self {
        self.settings.tokens = Some(start);
        self
    }

    /// Sets the jobs that a worker may run while it waits.
    pub fn wait_rule(mut self, rule: WaitRule) -> Self {
        self.settings.setup.wait_rule = rule;
        self
    }

    /// Sets the treatment of a worker's deque when the task that the worker runs suspends. A [scope](crate::Scope::set_suspension) can
    /// override the setting for its tasks. Without this call, tasks suspend [proactively](Suspension::Proactive), and the items of a chain
    /// parsimoniously.
    pub fn suspension(mut self, suspension: Suspension) -> Self {
        self.settings.setup.suspension = Some(suspension);
        self
    }

    /// Sets whether a worker whose deques are empty chooses among all slots uniformly, its own included, as ProWS-R does. The default is `false`.
    ///
    /// By default the worker looks into the stealable set of its own slot first, which costs less, and takes the oldest woken task there. (Under
    /// [`Fairness::Balanced`]; the other orders look into all sets anyway.) And on a machine whose processors do not all share a cache, most looks begin with
    /// workers that ran nearby when they last searched: those that share a cache with the thief, then those of its socket. The statistics count
    /// [`far_steals`](crate::WorkerStats::far_steals). Linux tells which processors share what; elsewhere all are taken to be near.
    pub fn uniform_victims(mut self, uniform: bool) -> Self {
        self.settings.setup.uniform_victims = uniform;
        self
    }

    /// Sets the order in which workers look for their next job.
    ///
    /// ```
    /// use furcate::{Fairness, ThreadPoolBuilder};
    /// let pool = ThreadPoolBuilder::new().num_threads(2).fairness(Fairness::WokenFirst).build().unwrap();
    /// assert_eq!(pool.install(|| furcate::block_on(async { 42 })), 42);
    /// ```
    pub fn fairness(mut self, fairness: Fairness) -> Self {
        self.settings.setup.fairness = fairness;
        self
    }

    /// Sets whether the pool measures how long tasks are awake before they run: see
    /// [`WorkerStats::wake_to_run`](crate::WorkerStats::wake_to_run). Measuring costs two looks at the clock for each wake. The default
    /// is `false`.
    pub fn measure_wakes(mut self, measure: bool) -> Self {
        self.settings.setup.measures_wakes = measure;
        self
    }

    /// Makes every job stealable by ordinary fences: forks and pops cost several times as much, and no steal ever
    /// interrupts other cores. On systems without `membarrier`, all pools work in this way.
    pub fn ordinary_fences(mut self) -> Self {
        self.settings.setup.always_shared = true;
        self
    }

    /// Does nothing: a hint of early versions of rayon.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    pub fn breadth_first(mut self) -> Self {
        self.settings.breadth_first = true;
        self
    }

    /// Has threads started by a closure, which calls [`ThreadBuilder::run`] in each of them. Such a pool has no spare
    /// threads, and does not join its threads when it is dropped.
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder { settings: self.settings, spawn: CustomSpawn(spawn) }
    }
}

impl<S: Spawn> ThreadPoolBuilder<S> {
    /// Makes a pool's registry, and starts the pool's threads.
    pub(crate) fn build_registry(self) -> Result<Arc<Registry>, ThreadPoolBuildError> {
        let ThreadPoolBuilder { mut settings, mut spawn } = self;
        let threads = if settings.threads > 0 { settings.threads } else { default_threads() };
        let threads = threads.min(MAX_THREADS);
        let in_pool = Worker::with_current(|worker| worker.is_some());
        if settings.use_current_thread && in_pool {
            return Err(ThreadPoolBuildError(BuildErrorReason::AlreadyInPool));
        }
        // Settings that a caller's own thread cannot honor.
        let promised = settings.stack_size.is_some()
            || settings.name.is_some()
            || settings.setup.start.is_some()
            || settings.setup.exit.is_some()
            || settings.setup.pin
            || !S::SPARES;
        settings.setup.caller_takes_part = settings.caller_takes_part.unwrap_or(!promised);
        // Spare threads are started under a lock, where no closure of the user may be called. So all names are made here.
        let names = settings.name.map_or_else(Vec::new, |name| (0..threads).map(name).collect());
        let (names, stack_size) = (Arc::<[String]>::from(names), settings.stack_size);
        let thread = move |number, main| {
            let name = names.get(number % threads).cloned();
            ThreadBuilder { name, stack_size, number, main }
        };
        if S::SPARES && !matches!(settings.setup.wait_rule, WaitRule::Leapfrog | WaitRule::RandomLeapfrog) {
            let spare = thread.clone();
            settings.setup.spares = Some(Box::new(move |number, main| {
                let thread = spare(number, main);
                thread.configured().spawn(|| thread.begin())
            }));
        }
        let registry = Registry::new(threads, settings.setup);
        let unfinished = Unfinished(&registry);
        if let Some(start) = settings.tokens {
            let weak = Arc::downgrade(&registry);
            let bring = move |token| _ = weak.upgrade().map(|registry| registry.receive(token));
            // The source has a thread, too.
            let refused = |error| BuildErrorReason::Thread { number: threads, of: threads + 1, error };
            registry
                .use_tokens(start(Box::new(bring)).map_err(|error| ThreadPoolBuildError(refused(error)))?);
        }
        // Before any thread is started: no other thread can wake this thread's worker yet.
        if settings.use_current_thread {
            registry.adopt_current_thread();
        }
        let first = usize::from(settings.use_current_thread);
        for number in first..threads {
            let shared = Arc::clone(&registry);
            let main = Box::new(move || shared.run_thread(number));
            let handle = spawn.spawn(thread(number, main)).map_err(|error| {
                ThreadPoolBuildError(BuildErrorReason::Thread { number, of: threads, error })
            })?;
            handle.into_iter().for_each(|handle| registry.keep(handle));
        }
        std::mem::forget(unfinished);
        Ok(registry)
    }
}

/// A pool whose threads are being started. Its drop ends the started threads: a further one cannot be started, or the closure that
/// starts them panics.
struct Unfinished<'a>(&'a Registry);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { setup, .. } = &self.settings;
        let closure = |is_set: bool| is_set.then_some(format_args!("<closure>"));
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.settings.threads)
            .field("use_current_thread", &self.settings.use_current_thread)
            .field("get_thread_name", &closure(self.settings.name.is_some()))
            .field("panic_handler", &closure(setup.panic.is_some()))
            .field("stack_size", &self.settings.stack_size)
            .field("start_handler", &closure(setup.start.is_some()))
            .field("exit_handler", &closure(setup.exit.is_some()))
            .field("breadth_first", &self.settings.breadth_first)
            .field("wait_rule", &setup.wait_rule)
            .field("suspension", &setup.suspension)
            .field("fairness", &setup.fairness)
            .finish_non_exhaustive()
    }
}

/// Returns the number of threads of a pool that is built without a number.
pub(crate) fn default_threads() -> usize {
    const OURS: &str = "FURCATE_NUM_THREADS";
    static WARNED: Once = Once::new();
    let said = |variable| std::env::var(variable).ok()?.parse::<usize>().ok();
    let ours = said(OURS);
    let threads = ours
        .filter(|&threads| threads > 0)
        // As in rayon: a 0 here hides the old name of the variable.
        .or_else(|| said("RAYON_NUM_THREADS").or_else(|| said("RAYON_RS_NUM_CPUS")))
        .filter(|&threads| threads > 0)
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    if let (None, Some(text)) = (ours, std::env::var_os(OURS).filter(|text| !text.is_empty())) {
        WARNED.call_once(|| {
            report(format_args!(
                "warning: {OURS} is {text:?}, which is no number, so pools have {threads} threads; write `{OURS}=4`, for instance"
            ));
        });
    }
    threads
}
