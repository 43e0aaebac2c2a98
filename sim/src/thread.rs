//! Threads: virtual ones in a simulation, else std's.

use crate::world::{self, ThreadNumber, Waits};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// As [`std::thread::Result`].
pub type Result<T> = std::thread::Result<T>;

/// As [`std::thread::ThreadId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(Id);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Id {
    Real(std::thread::ThreadId),
    Virtual(ThreadNumber),
}

/// As [`std::thread::Thread`].
#[derive(Clone, Debug)]
pub struct Thread(Which);

#[derive(Clone, Debug)]
enum Which {
    Real(std::thread::Thread),
    Virtual(ThreadNumber, Option<String>),
}

impl Thread {
    /// As [`std::thread::Thread::id`].
    #[must_use]
    pub fn id(&self) -> ThreadId {
        ThreadId(match &self.0 {
            Which::Real(thread) => Id::Real(thread.id()),
            Which::Virtual(number, _) => Id::Virtual(*number),
        })
    }

    /// As [`std::thread::Thread::name`].
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match &self.0 {
            Which::Real(thread) => thread.name(),
            Which::Virtual(_, name) => name.as_deref(),
        }
    }

    /// As [`std::thread::Thread::unpark`].
    pub fn unpark(&self) {
        match &self.0 {
            Which::Real(thread) => thread.unpark(),
            Which::Virtual(number, _) => world::with(|world| {
                let world = world.expect("a virtual thread's handle stays in its world");
                world.point();
                if !world.wake_of(Waits::Unpark, *number) {
                    world.thread(*number, |it| it.token = true);
                }
            }),
        }
    }
}

/// As [`std::thread::current`].
#[must_use]
pub fn current() -> Thread {
    Thread(world::with(|world| match world {
        None => Which::Real(std::thread::current()),
        Some(world) => {
            let number = world.current();
            Which::Virtual(number, world.thread(number, |it| it.name.clone()))
        }
    }))
}

/// As [`std::thread::sleep`].
#[track_caller]
pub fn sleep(time: Duration) {
    let at = Location::caller();
    world::with(|world| match world {
        None => std::thread::sleep(time),
        Some(world) => {
            world.point();
            world.block(Waits::Time, Some(world.after(time)), at);
        }
    });
}

/// As [`std::thread::park_timeout`].
#[track_caller]
pub fn park_timeout(time: Duration) {
    let at = Location::caller();
    world::with(|world| match world {
        None => std::thread::park_timeout(time),
        Some(world) => {
            world.point();
            let me = world.current();
            if !world.thread(me, |it| std::mem::take(&mut it.token)) {
                world.block(Waits::Unpark, Some(world.after(time)), at);
            }
        }
    });
}

/// As [`std::thread::yield_now`].
pub fn yield_now() {
    world::with(|world| match world {
        None => std::thread::yield_now(),
        Some(world) => world.yield_now(),
    });
}

/// As [`std::thread::panicking`].
#[must_use]
pub fn panicking() -> bool {
    world::with(|world| world.map_or_else(std::thread::panicking, world::World::panicking))
}

/// As [`std::thread::available_parallelism`]: the cores of the simulated machine.
///
/// # Errors
///
/// As std's function.
pub fn available_parallelism() -> io::Result<NonZero<usize>> {
    world::with(|world| match world {
        None => std::thread::available_parallelism(),
        Some(world) => Ok(world.cores()),
    })
}

/// Returns the socket and the cluster of the core that the calling virtual thread runs on, unless all cores are in one cluster.
#[must_use]
pub fn place() -> Option<(usize, usize)> {
    world::with(|world| world.and_then(world::World::place))
}

/// Returns a processor for the calling virtual thread, if its wake-up might have to wait for one: the thread's own one of two in explored schedules.
#[must_use]
pub fn processor() -> Option<usize> {
    world::with(|world| world.and_then(world::World::processor))
}

/// The processor time of a virtual thread, and whether it sleeps, for other threads to ask.
#[derive(Debug, Default)]
pub struct ThreadClock {
    /// The thread's number plus 1; 0 for none.
    number: AtomicUsize,
}

impl ThreadClock {
    /// Sets the value to the calling thread's clock, if that is a virtual thread.
    pub fn set_to_current(&self) {
        let current = world::with(|world| world.map(world::World::current));
        self.number.store(current.map_or(0, |number| number + 1), Relaxed);
    }

    /// Calls `f` with the world and the thread's number; returns `None` if there is no virtual thread, or it has ended.
    fn look<R>(&self, f: impl FnOnce(&world::World, ThreadNumber) -> R) -> Option<R> {
        let number = self.number.load(Relaxed).checked_sub(1)?;
        world::with(|world| world.filter(|world| !world.has_ended(number)).map(|world| f(world, number)))
    }

    /// Returns the processor time that the thread has used.
    #[must_use]
    pub fn used(&self) -> Option<Duration> {
        self.look(world::World::used)
    }

    /// Whether the thread sleeps.
    #[must_use]
    pub fn sleeps(&self) -> Option<bool> {
        self.look(world::World::is_blocked)
    }

    /// Returns the system's number of the thread: a virtual one has none.
    #[must_use]
    pub fn thread(&self) -> Option<i32> {
        None
    }
}

/// As [`std::thread::Builder`]. The sizes of virtual stacks are the world's.
#[derive(Debug)]
pub struct Builder {
    name: Option<String>,
    real: std::thread::Builder,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// As [`std::thread::Builder::new`].
    #[must_use]
    pub fn new() -> Self {
        Builder { name: None, real: std::thread::Builder::new() }
    }

    /// As [`std::thread::Builder::name`].
    #[must_use]
    pub fn name(self, name: String) -> Self {
        Builder { name: Some(name.clone()), real: self.real.name(name) }
    }

    /// As [`std::thread::Builder::stack_size`].
    #[must_use]
    pub fn stack_size(self, size: usize) -> Self {
        Builder { real: self.real.stack_size(size), ..self }
    }

    /// As [`std::thread::Builder::spawn`].
    ///
    /// # Errors
    ///
    /// As std's method.
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: the closure borrows nothing.
        unsafe { self.spawn_unchecked(f) }
    }

    /// As [`std::thread::Builder::spawn_scoped`], without a handle.
    ///
    /// # Errors
    ///
    /// As std's method.
    pub fn spawn_scoped<'scope, F>(self, scope: &'scope Scope<'scope, '_>, f: F) -> io::Result<()>
    where
        F: FnOnce() + Send + 'scope,
    {
        // SAFETY: the scope joins the thread before it ends.
        let thread = unsafe { self.spawn_unchecked(f) }?;
        scope.threads.borrow_mut().push(thread);
        Ok(())
    }

    /// As [`std::thread::Builder::spawn_unchecked`].
    unsafe fn spawn_unchecked<'a, F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'a,
        T: Send + 'a,
    {
        world::with(|world| {
            let Some(world) = world else {
                // SAFETY: the caller's.
                return Ok(JoinHandle(Handle::Real(unsafe { self.real.spawn_unchecked(f) }?)));
            };
            let outcome = Arc::new(Mutex::new(None));
            let told = Arc::clone(&outcome);
            let main: Box<dyn FnOnce() + 'a> = Box::new(move || {
                let result = catch_unwind(AssertUnwindSafe(f));
                *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            });
            // SAFETY: the types differ in a lifetime only; the caller sees to it that the thread ends within it.
            let main = unsafe { std::mem::transmute::<Box<dyn FnOnce() + 'a>, Box<dyn FnOnce()>>(main) };
            let thread = world.spawn(self.name.clone(), main);
            world.point();
            Ok(JoinHandle(Handle::Virtual { thread, name: self.name, outcome }))
        })
    }
}

/// As [`std::thread::spawn`].
///
/// # Panics
///
/// As std's function.
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(f).expect("a thread can be started")
}

/// As [`std::thread::JoinHandle`].
pub struct JoinHandle<T>(Handle<T>);

enum Handle<T> {
    Real(std::thread::JoinHandle<T>),
    Virtual { thread: ThreadNumber, name: Option<String>, outcome: Arc<Mutex<Option<Result<T>>>> },
}

impl<T> JoinHandle<T> {
    /// As [`std::thread::JoinHandle::join`].
    ///
    /// # Errors
    ///
    /// As std's method.
    #[track_caller]
    pub fn join(self) -> Result<T> {
        let at = Location::caller();
        match self.0 {
            Handle::Real(handle) => handle.join(),
            Handle::Virtual { thread, outcome, .. } => world::with(|world| {
                let world = world.expect("a virtual thread's handle stays in its world");
                world.point();
                while !world.has_ended(thread) {
                    world.block(Waits::End(thread), None, at);
                }
                let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
                outcome.expect("a thread that has ended has an outcome")
            }),
        }
    }

    /// As [`std::thread::JoinHandle::is_finished`].
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match &self.0 {
            Handle::Real(handle) => handle.is_finished(),
            Handle::Virtual { thread, .. } => {
                world::with(|world| world.is_some_and(|world| world.has_ended(*thread)))
            }
        }
    }

    /// As [`std::thread::JoinHandle::thread`].
    #[must_use]
    pub fn thread(&self) -> Thread {
        Thread(match &self.0 {
            Handle::Real(handle) => Which::Real(handle.thread().clone()),
            Handle::Virtual { thread, name, .. } => Which::Virtual(*thread, name.clone()),
        })
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JoinHandle").field(&self.thread().id()).finish()
    }
}

/// As [`std::thread::Scope`], but only the thread that made the scope starts threads in it, by [`Builder::spawn_scoped`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    threads: RefCell<Vec<JoinHandle<()>>>,
    _lifetimes: PhantomData<(&'scope mut &'scope (), &'env mut &'env ())>,
}

/// As [`std::thread::scope`].
///
/// # Panics
///
/// If `f` or a thread panics.
pub fn scope<'env, R>(f: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> R {
    let scope = Scope { threads: RefCell::default(), _lifetimes: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let threads = scope.threads.take();
    let ends: Vec<_> = threads.into_iter().map(JoinHandle::join).collect();
    let result = result.unwrap_or_else(|payload| resume_unwind(payload));
    if let Some(Err(payload)) = ends.iter().find(|end| end.is_err()) {
        panic!("a scoped thread panicked: {}", message(&**payload));
    }
    result
}

/// The value of a thread-local has been dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessError(());

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the thread ends, and has dropped the value")
    }
}

impl std::error::Error for AccessError {}

/// As [`std::thread::LocalKey`]; made by [`thread_local!`](crate::thread_local).
pub struct LocalKey<T: 'static> {
    real: &'static std::thread::LocalKey<T>,
    init: fn() -> T,
}

impl<T: 'static> LocalKey<T> {
    /// For the macro.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(real: &'static std::thread::LocalKey<T>, init: fn() -> T) -> Self {
        LocalKey { real, init }
    }

    /// As [`std::thread::LocalKey::with`].
    ///
    /// # Panics
    ///
    /// As std's method.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f).expect("the thread's values are not dropped yet")
    }

    /// As [`std::thread::LocalKey::try_with`].
    ///
    /// # Errors
    ///
    /// As std's method.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> std::result::Result<R, AccessError> {
        let value = world::with(|world| match world {
            None => Ok(None),
            Some(world) => {
                world.local(std::ptr::from_ref(self).addr(), self.init).ok_or(AccessError(())).map(Some)
            }
        })?;
        match value {
            None => self.real.try_with(f).map_err(|_| AccessError(())),
            // SAFETY: the value lies in a box that the current thread drops at its end, after its main function. A value's drop that
            // uses this key finds it dropped.
            Some(value) => Ok(f(unsafe { &*value })),
        }
    }
}

impl<T: Copy + 'static> LocalKey<Cell<T>> {
    /// As std's method.
    pub fn get(&'static self) -> T {
        self.with(Cell::get)
    }
}

impl<T: 'static> LocalKey<Cell<T>> {
    /// As std's method.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// As std's method.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }

    /// As std's method.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalKey").finish_non_exhaustive()
    }
}

/// As [`std::thread_local!`].
#[macro_export]
macro_rules! thread_local {
    () => {};
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = const $value:block $(; $($rest:tt)*)?) => {
        $crate::thread_local!(@ [$(#[$attribute])*] $visible $name, $type, $value, { const $value });
        $($crate::thread_local!($($rest)*);)?
    };
    ($(#[$attribute:meta])* $visible:vis static $name:ident: $type:ty = $value:expr $(; $($rest:tt)*)?) => {
        $crate::thread_local!(@ [$(#[$attribute])*] $visible $name, $type, $value, { $value });
        $($crate::thread_local!($($rest)*);)?
    };
    (@ [$(#[$attribute:meta])*] $visible:vis $name:ident, $type:ty, $value:expr, { $($real:tt)* }) => {
        $(#[$attribute])*
        $visible static $name: $crate::thread::LocalKey<$type> = {
            fn init() -> $type { $value }
            ::std::thread_local! { static REAL: $type = $($real)*; }
            $crate::thread::LocalKey::new(&REAL, init)
        };
    };
}

/// A static of which each world has its own value, and the process one for threads outside all worlds.
pub struct Static<T: 'static> {
    real: std::sync::OnceLock<T>,
    init: fn() -> T,
}

impl<T: 'static> Static<T> {
    /// Makes a static whose values are made by `init` when they are first used.
    pub const fn new(init: fn() -> T) -> Self {
        Static { real: std::sync::OnceLock::new(), init }
    }
}

impl<T: 'static> std::ops::Deref for Static<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match world::with(|world| {
            world.map(|world| world.of_world(std::ptr::from_ref(self).addr(), self.init))
        }) {
            None => self.real.get_or_init(self.init),
            // SAFETY: the value lies in a box that is never dropped.
            Some(value) => unsafe { &*value },
        }
    }
}

impl<T: 'static> fmt::Debug for Static<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Static").finish_non_exhaustive()
    }
}

/// The payload of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("a value that is no text")
}
