//! External threads: threads that no pool has started, and that take part in a pool for the time of their own call.

use crate::engine::global;
use crate::engine::registry::Registry;
use crate::engine::settings::current_priority;
use crate::engine::settings::runtime::Entered;
use crate::engine::worker::{Current, Worker};
use crate::sync::machine::atomic::Ordering::Release;
use crate::trace::{self, Kind};
use std::cell::Cell;

/// An external thread in one of a pool's slots. It runs only the jobs that its own call forks and spawns, under every wait rule.
struct External<'a> {
    worker: &'a Worker,
    /// The worker, if the thread keeps it for its next call. Otherwise it is given back at the end of the call.
    kept: Option<&'static Worker>,
    /// Makes the thread the worker until the end of the call.
    current: Option<Current>,
    _entered: Entered<'a>,
}

impl<'a> External<'a> {
    /// Has the calling thread, which is no worker, take part in a pool until the value is dropped. Waits for a slot if none is free.
    ///
    /// # Panics
    ///
    /// In a process forked from the one that made the pool.
    fn enter(registry: &'a Registry) -> Self {
        registry.check_generation();
        let priority = current_priority();
        let (worker, kept) = registry.external_worker();
        worker.set_priority(priority);
        registry.occupy_slot_soon(worker);
        worker.call.begins();
        trace::record(Kind::CallBegin, 0);
        worker.watch_forks();
        // SAFETY: the value borrows the registry, which owns the worker; `external_worker` has given it to this thread alone.
        let current = Some(unsafe { Current::enter(worker) });
        External { worker, kept, current, _entered: registry.enter_runtime() }
    }
}

impl Drop for External<'_> {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        self.worker.call.ends();
        trace::record(Kind::CallEnd, 0);
        self.worker.registry().release_slot(self.worker);
        self.current = None;
        match self.kept {
            Some(worker) => worker.keep(),
            None => self.worker.give_back(),
        }
    }
}

/// Calls `f` in the given pool; without one, in the pool that the calling thread is in, else in the global one. `f` gets the worker that
/// runs it, and whether the call comes from outside.
///
/// The calling thread runs `f` if it is one of the pool's workers, or may take part as an external thread. Otherwise the call is [handed
/// over](Registry::inside) to the pool's threads: the pool lets no caller take part, or the thread is another pool's worker. (Such a
/// worker must serve its own pool meanwhile. It does so while it waits for a call; as an external thread it would not.)
#[inline(always)]
pub(crate) fn call<R: Send>(registry: Option<&Registry>, f: impl FnOnce(&Worker, bool) -> R + Send) -> R {
    Worker::with_current(|current| match current {
        Some(worker) if is_in(worker, registry) => f(worker, false),
        _ => call_from_outside(registry, f),
    })
}

/// Whether the calling thread is in the given pool; without one, in any.
#[inline]
pub(crate) fn is_inside(registry: Option<&Registry>) -> bool {
    Worker::with_current(|current| current.is_some_and(|worker| is_in(worker, registry)))
}

#[inline(always)]
fn is_in(worker: &Worker, registry: Option<&Registry>) -> bool {
    registry.is_none_or(|registry| worker.is_of(registry))
}

/// [`call`] of a thread that is not in the pool.
///
/// Out of line, so that a fork inside a pool only checks that the thread has a worker.
#[cold]
#[inline(never)]
fn call_from_outside<R: Send>(registry: Option<&Registry>, f: impl FnOnce(&Worker, bool) -> R + Send) -> R {
    let (mut f, mut result) = (Some(f), None);
    run_from_outside(registry, &mut |worker, outside| {
        if let Some(f) = f.take() {
            result = Some(f(worker, outside));
        }
    });
    result.expect("a call that has returned was run")
}

/// [`call_from_outside`], compiled once for all closures.
pub(crate) fn run_from_outside(registry: Option<&Registry>, f: &mut (dyn FnMut(&Worker, bool) + Send)) {
    let registry = registry.unwrap_or_else(|| global::registry());
    Worker::with_current(|current| match current {
        // Where there are no threads, the global pool has just made this one its own.
        Some(worker) if worker.is_of(registry) => f(worker, false),
        None if registry.caller_takes_part() => {
            let external = External::enter(registry);
            f(external.worker, true);
        }
        _ => registry.inside(|worker| f(worker, true)),
    });
}

/// The worker that an external thread keeps for its next call of the global pool. It is given back when the thread ends.
struct KeptWorker(Cell<Option<&'static Worker>>);

impl Drop for KeptWorker {
    fn drop(&mut self) {
        if let Some(worker) = self.0.take() {
            worker.give_back();
        }
    }
}

crate::sync::machine::thread_local! {
    static KEPT: KeptWorker = const { KeptWorker(Cell::new(None)) };
}

impl Registry {
    /// Returns a worker for the calling thread. The global pool never ends, so a thread keeps the worker of its first call: returns it twice then.
    fn external_worker(&self) -> (&Worker, Option<&'static Worker>) {
        let Some(global) = global::get().filter(|global| std::ptr::eq(*global, self)) else {
            return (self.take_external_worker(), None);
        };
        // Taken out: a waker of other code may call the pool in the middle of a call.
        let kept = KEPT.try_with(|kept| kept.0.take()).ok().flatten();
        let worker = kept.unwrap_or_else(|| global.take_external_worker());
        (worker, Some(worker))
    }
}

impl Worker {
    /// Keeps an external thread's worker of the global pool for the thread's next call.
    fn keep(&'static self) {
        // If the thread is ending, nothing is kept.
        let other = KEPT.try_with(|kept| kept.0.replace(Some(self))).unwrap_or(Some(self));
        if let Some(other) = other {
            other.give_back();
        }
    }

    /// Gives an external thread's worker back, for other threads to use.
    fn give_back(&self) {
        // Release pairs with the acquire in `take`: the next thread finds the deque in the state in which this thread has left it.
        self.taken.store(false, Release);
    }
}
