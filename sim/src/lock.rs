//! Locks, condition variables and cells that are written once. A wait blocks the virtual thread, and not the thread that runs the world.

use crate::world::{self, Access, Waits, World};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};
use std::time::Duration;

/// As [`std::sync::Mutex`].
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    /// Whether a virtual thread has panicked with the lock. (Std's own mark counts the panics of all virtual threads.)
    poisoned: AtomicBool,
    inner: std::sync::Mutex<T>,
}

/// As [`std::sync::MutexGuard`].
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    /// Taken when the guard is dropped.
    inner: Option<std::sync::MutexGuard<'a, T>>,
    /// Whether the thread unwound already when it got the lock.
    unwound: bool,
}

impl<T> Mutex<T> {
    /// As [`std::sync::Mutex::new`].
    pub const fn new(value: T) -> Self {
        Mutex { poisoned: AtomicBool::new(false), inner: std::sync::Mutex::new(value) }
    }

    /// As [`std::sync::Mutex::into_inner`].
    ///
    /// # Errors
    ///
    /// As std's method.
    pub fn into_inner(self) -> LockResult<T> {
        let poisoned = self.poisoned.into_inner();
        marked(poisoned, self.inner.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T: ?Sized> Mutex<T> {
    fn address(&self) -> usize {
        std::ptr::from_ref(self).cast::<()>().addr()
    }

    fn guard<'a>(
        &'a self,
        world: Option<&World>,
        inner: std::sync::MutexGuard<'a, T>,
    ) -> LockResult<MutexGuard<'a, T>> {
        if let Some(world) = world {
            world.held(self.address());
        }
        let guard = MutexGuard { lock: self, inner: Some(inner), unwound: crate::thread::panicking() };
        marked(self.poisoned.load(Relaxed), guard)
    }

    /// As [`std::sync::Mutex::lock`].
    ///
    /// # Errors
    ///
    /// As std's method.
    #[track_caller]
    pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let at = Location::caller();
        world::with(|world| match world {
            None => self.guard(None, self.inner.lock().unwrap_or_else(PoisonError::into_inner)),
            Some(world) => self.lock_in(world, at),
        })
    }

    fn lock_in<'a>(&'a self, world: &World, at: &'static Location<'static>) -> LockResult<MutexGuard<'a, T>> {
        let (looks, since) = (world.looks(), world.time());
        let mut waited = false;
        loop {
            // As std's lock does: some looks before the thread sleeps, unless another one sleeps.
            for look in 0..=looks {
                world.access(self.address(), if look == 0 { Access::Swap } else { Access::Load }, at);
                if let Some(inner) = self.tried() {
                    if waited {
                        world.waited_for_lock(since, at);
                    }
                    return self.guard(Some(world), inner);
                }
                waited = true;
                if world.has_waiters(Waits::Lock(self.address())) {
                    break;
                }
                if look < looks {
                    world.spin();
                }
            }
            if !world.is_held(self.address()) {
                // A lock of the process, held by a thread outside this world.
                std::thread::yield_now();
                continue;
            }
            world.block(Waits::Lock(self.address()), None, at);
        }
    }

    /// As [`std::sync::Mutex::try_lock`].
    ///
    /// # Errors
    ///
    /// As std's method.
    #[track_caller]
    pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        let at = Location::caller();
        world::with(|world| {
            if let Some(world) = world {
                world.access(self.address(), Access::Swap, at);
            }
            let inner = self.tried().ok_or(TryLockError::WouldBlock)?;
            Ok(self.guard(world, inner)?)
        })
    }

    /// Tries to take std's lock; `None` if a thread holds it.
    fn tried(&self) -> Option<std::sync::MutexGuard<'_, T>> {
        match self.inner.try_lock() {
            Ok(inner) => Some(inner),
            Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// As [`std::sync::Mutex::get_mut`].
    ///
    /// # Errors
    ///
    /// As std's method.
    pub fn get_mut(&mut self) -> LockResult<&mut T> {
        marked(*self.poisoned.get_mut(), self.inner.get_mut().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Returns a value of a lock as std does: as an error if the lock is poisoned.
fn marked<T>(poisoned: bool, value: T) -> LockResult<T> {
    if poisoned { Err(PoisonError::new(value)) } else { Ok(value) }
}

fn wrap<T, U>(result: LockResult<T>, f: impl FnOnce(T) -> U) -> LockResult<U> {
    match result {
        Ok(value) => Ok(f(value)),
        Err(error) => Err(PoisonError::new(f(error.into_inner()))),
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    /// Releases the lock. No other thread runs between the release and the end of this method.
    fn release_in(&mut self, world: &World, at: &'static Location<'static>) {
        let address = self.lock.address();
        world.access(address, Access::Swap, at);
        world.released(address);
        drop(self.inner.take());
        world.wake_first(Waits::Lock(address));
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if !self.unwound && crate::thread::panicking() {
            self.lock.poisoned.store(true, Relaxed);
        }
        world::with(|world| match world {
            None => drop(self.inner.take()),
            Some(world) => self.release_in(world, Location::caller()),
        });
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.inner.as_ref().expect(HELD)
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect(HELD)
    }
}

const HELD: &str = "a guard holds the lock until it is dropped";

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// As [`std::sync::Condvar`].
#[derive(Debug, Default)]
pub struct Condvar(std::sync::Condvar);

/// Whether a wait has ended by its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// As [`std::sync::WaitTimeoutResult::timed_out`].
    #[must_use]
    pub fn timed_out(&self) -> bool {
        self.0
    }
}

impl Condvar {
    /// As [`std::sync::Condvar::new`].
    #[must_use]
    pub const fn new() -> Self {
        Condvar(std::sync::Condvar::new())
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// As [`std::sync::Condvar::wait`].
    ///
    /// # Errors
    ///
    /// As std's method.
    #[track_caller]
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> LockResult<MutexGuard<'a, T>> {
        wrap(self.wait_for(guard, None, Location::caller()), |(guard, _)| guard)
    }

    /// As [`std::sync::Condvar::wait_timeout`].
    ///
    /// # Errors
    ///
    /// As std's method.
    #[track_caller]
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        self.wait_for(guard, Some(time), Location::caller())
    }

    /// As [`std::sync::Condvar::wait_while`].
    ///
    /// # Errors
    ///
    /// As std's method.
    #[track_caller]
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<MutexGuard<'a, T>> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// As [`std::sync::Condvar::wait_timeout_while`].
    ///
    /// # Errors
    ///
    /// As std's method.
    #[track_caller]
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let begin = crate::time::Instant::now();
        loop {
            if !condition(&mut guard) {
                return Ok((guard, WaitTimeoutResult(false)));
            }
            let Some(rest) = time.checked_sub(begin.elapsed()).filter(|rest| !rest.is_zero()) else {
                return Ok((guard, WaitTimeoutResult(true)));
            };
            guard = self.wait_timeout(guard, rest)?.0;
        }
    }

    fn wait_for<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        time: Option<Duration>,
        at: &'static Location<'static>,
    ) -> LockResult<(MutexGuard<'a, T>, WaitTimeoutResult)> {
        let lock = guard.lock;
        world::with(|world| match world {
            None => {
                let inner = guard.inner.take().expect(HELD);
                let (inner, timed_out) = match time {
                    None => (self.0.wait(inner).unwrap_or_else(PoisonError::into_inner), false),
                    Some(time) => {
                        let waited = self.0.wait_timeout(inner, time).unwrap_or_else(PoisonError::into_inner);
                        (waited.0, waited.1.timed_out())
                    }
                };
                wrap(lock.guard(None, inner), |guard| (guard, WaitTimeoutResult(timed_out)))
            }
            Some(world) => {
                let until = time.map(|time| world.after(time));
                world.access(self.address(), Access::Load, at);
                // From the release to the switch in `block`, no other thread runs: so none can notify between the two.
                guard.release_in(world, at);
                std::mem::forget(guard);
                let woken = world.block(Waits::Notified(self.address()), until, at);
                wrap(lock.lock_in(world, at), |guard| (guard, WaitTimeoutResult(!woken)))
            }
        })
    }

    /// As [`std::sync::Condvar::notify_one`].
    #[track_caller]
    pub fn notify_one(&self) {
        self.notify(false, Location::caller());
    }

    /// As [`std::sync::Condvar::notify_all`].
    #[track_caller]
    pub fn notify_all(&self) {
        self.notify(true, Location::caller());
    }

    fn notify(&self, all: bool, at: &'static Location<'static>) {
        world::with(|world| match world {
            None if all => self.0.notify_all(),
            None => self.0.notify_one(),
            Some(world) => {
                world.access(self.address(), Access::Swap, at);
                // As std's, which asks the system whether a thread waits.
                world.system_call();
                while world.wake_first(Waits::Notified(self.address())) && all {}
            }
        });
    }
}

/// As [`std::sync::OnceLock`].
pub struct OnceLock<T> {
    value: std::sync::OnceLock<T>,
    /// Held while the value is made.
    making: Mutex<()>,
}

impl<T> OnceLock<T> {
    /// As [`std::sync::OnceLock::new`].
    #[must_use]
    pub const fn new() -> Self {
        OnceLock { value: std::sync::OnceLock::new(), making: Mutex::new(()) }
    }

    /// As [`std::sync::OnceLock::get`].
    #[track_caller]
    pub fn get(&self) -> Option<&T> {
        world::access(self, Access::Load);
        self.value.get()
    }

    /// As [`std::sync::OnceLock::set`].
    ///
    /// # Errors
    ///
    /// As std's method.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), T> {
        let mut value = Some(value);
        self.get_or_init(|| value.take().expect("it is made once"));
        value.map_or(Ok(()), Err)
    }

    /// As [`std::sync::OnceLock::get_or_init`].
    #[track_caller]
    pub fn get_or_init(&self, make: impl FnOnce() -> T) -> &T {
        if let Some(value) = self.get() {
            return value;
        }
        // A panic of an earlier `make` leaves no value.
        let _making = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        self.value.get_or_init(make)
    }

    /// As [`std::sync::OnceLock::into_inner`].
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }

    /// As [`std::sync::OnceLock::get_mut`].
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }
}

impl<T> Default for OnceLock<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
