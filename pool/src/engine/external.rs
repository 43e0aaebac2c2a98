//! External threads: threads that no pool has started, and that take part in a pool for the time of their own call.

use crate::engine::registry::Registry;
use crate::engine::settings::runtime::Entered;
use crate::engine::worker::{Current, Worker};
use crate::trace::{self, Kind};
use std::cell::Cell;
use std::sync::atomic::Ordering::Release;

/// An external thread in one of a pool's slots. It runs only the jobs that its own call forks and spawns, under every wait rule.
struct External<'a> {
    worker: &'a Worker,
    /// Whether the worker is given back at the end of the call. Otherwise the thread keeps it for its next call.
    returned: bool,
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
        let (worker, returned) = registry.external_worker();
        registry.occupy_slot_soon(worker);
        worker.call.begins();
        trace::record(Kind::CallBegin, 0);
        worker.watch_forks();
        // SAFETY: the value borrows the registry, which owns the worker; `external_worker` has given it to this thread alone.
        let current = Some(unsafe { Current::enter(worker) });
        External { worker, returned, current, _entered: registry.enter_runtime() }
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
        if self.returned {
            self.worker.give_back();
        }
    }
}

/// The calling thread's part in a pool while the value lives: as a worker of the pool, or as an external thread.
///
/// For calls that need the worker as a value. Forks look up the thread's worker themselves, and call
/// [`on_worker_from_outside`](Participant::on_worker_from_outside) if there is none.
pub(crate) struct Participant<'a> {
    worker: *const Worker,
    _external: Option<External<'a>>,
}

impl<'a> Participant<'a> {
    /// Takes part in the pool that the thread is in, else in the global one. Returns the global pool as `Err` if the thread is in no
    /// pool and the global one lets no caller take part. Then the caller has to [hand the call over](Registry::inside) to that pool.
    #[inline(always)]
    pub(crate) fn of_current() -> Result<Self, &'static Registry> {
        let worker = Worker::current();
        if worker.is_null() { Participant::of_global() } else { Ok(Participant { worker, _external: None }) }
    }

    /// Takes part in the given pool. Returns `None` if the call has to be [handed over](Registry::inside) to the pool's threads: the
    /// pool lets no caller take part, or the thread is another pool's worker. (Such a worker must serve its own pool meanwhile. It does
    /// so while it waits for a call; as an external thread it would not.)
    #[inline(always)]
    pub(crate) fn of(registry: &'a Registry) -> Option<Self> {
        let worker = Worker::current();
        if worker.is_null() {
            return Participant::of_external(registry);
        }
        // SAFETY: see `worker`.
        unsafe { &*worker }.is_of(registry).then_some(Participant { worker, _external: None })
    }

    /// Calls `f` for a thread that is in no pool, as a call of the global one: in this thread, or on the pool's threads. `f` gets the
    /// worker, and whether the worker is another thread than the caller.
    ///
    /// Out of line, so that a fork inside a pool only checks that the thread has a worker.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_worker_from_outside<R: Send>(f: impl FnOnce(&Worker, bool) -> R + Send) -> R {
        let (mut f, mut result) = (Some(f), None);
        Participant::run_from_outside(&mut |worker, moved| {
            if let Some(f) = f.take() {
                result = Some(f(worker, moved));
            }
        });
        result.expect("a call that has returned was run")
    }

    /// [`on_worker_from_outside`](Participant::on_worker_from_outside), compiled once for all closures.
    fn run_from_outside(f: &mut (dyn FnMut(&Worker, bool) + Send)) {
        match Participant::of_global() {
            Ok(part) => f(part.worker(), false),
            Err(registry) => registry.inside(|worker| f(worker, true)),
        }
    }

    #[cold]
    #[inline(never)]
    fn of_global() -> Result<Self, &'static Registry> {
        let registry = crate::engine::global::registry();
        // Where there are no threads, the pool has just made this one its own.
        let worker = Worker::current();
        if !worker.is_null() {
            return Ok(Participant { worker, _external: None });
        }
        Participant::of_external(registry).ok_or(registry)
    }

    #[cold]
    #[inline(never)]
    fn of_external(registry: &'a Registry) -> Option<Self> {
        if !registry.caller_takes_part() {
            return None;
        }
        let external = External::enter(registry);
        Some(Participant { worker: external.worker, _external: Some(external) })
    }

    #[inline(always)]
    pub(crate) fn worker(&self) -> &Worker {
        // SAFETY: the worker of the `External`, which borrows the registry; or this thread's current worker. The registry of the
        // current worker is kept alive by the thread's main function, by the `External` further up the stack, or by the list of
        // adopters.
        unsafe { &*self.worker }
    }
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

thread_local! {
    static KEPT: KeptWorker = const { KeptWorker(Cell::new(None)) };
}

impl Registry {
    /// Returns a worker for the calling thread, and whether the thread has to give it back after the call.
    fn external_worker(&self) -> (&Worker, bool) {
        let Some(global) = crate::engine::global::get().filter(|global| std::ptr::eq(*global, self)) else {
            return (self.take_external_worker(), true);
        };
        // The global pool never ends, so a thread keeps the worker of its first call.
        let kept = KEPT.try_with(|kept| {
            let worker = kept.0.take().unwrap_or_else(|| global.take_external_worker());
            // The worker is not in use: a thread in the pool does not enter the pool again.
            kept.0.set(Some(worker));
            worker
        });
        match kept {
            Ok(worker) => (worker, false),
            // The thread is ending.
            Err(_) => (self.take_external_worker(), true),
        }
    }
}

impl Worker {
    /// Gives an external thread's worker back, for other threads to use.
    fn give_back(&self) {
        // Release pairs with the acquire in `take`: the next thread finds the deque in the state in which this thread has left it.
        self.taken.store(false, Release);
    }
}
