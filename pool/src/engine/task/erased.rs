//! The part of a task that does not depend on its future's type: how tasks are woken, cancelled and released.
//!
//! The invariants are those of [tasks](super).

use super::list::{Links, NOWHERE, ShardNumber};
use crate::engine::scope::Scope;
use crate::engine::stats::Moment;
use crate::engine::worker::{DequeRef, Header, JobRef, SpawnHeader, Worker};
use crate::sync::machine::atomic::{AtomicU8, Ordering::Relaxed};
use crate::sync::task_state::{SuspendAction, TaskState, WakeAction};
use crate::trace::{self, Kind};
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// The first field of every task.
#[repr(C)]
pub(in crate::engine::task) struct Core {
    pub(super) header: SpawnHeader,
    table: &'static TaskTable,
    /// Null until `suspend`.
    pub(super) scope: *const Scope<'static>,
    /// Links of the scope's list, guarded by the list's lock.
    pub(super) links: UnsafeCell<Links>,
    /// The deque that is suspended with it, or the time of its wake: the [`flags`](Self::flags) say which. Accessed by the owner
    /// (invariant 6).
    beside: Cell<Beside>,
    pub(super) state: TaskState,
    /// Name of the worker after whose poll it was suspended last; accessed by the owner (invariant 1).
    pub(super) polled_by: Cell<Name>,
    /// Number of wakes while it was awake, since its last run.
    coalesced: AtomicU8,
    /// [`HAS_FUTURE`] and [`IS_WOKEN`], and above them the shard of the scope's list in which it is. Accessed by the owner (invariant 6).
    flags: Cell<u8>,
}

/// A task has a suspended deque while it waits, and the time of its wake from then until it runs: never both.
#[derive(Clone, Copy)]
union Beside {
    /// The deque that is suspended with the task, if there is one.
    deque: Option<DequeRef>,
    /// The time at which the task was woken last.
    woken: Moment,
}

/// The future is there.
const HAS_FUTURE: u8 = 1;
/// `beside` is the time of the last wake. Without this flag it is the deque, if there is one.
const IS_WOKEN: u8 = 2;
/// The shard's number begins at this bit.
const SHARD: u32 = 2;

// A million waiting tasks are a million of these.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Core>() == 64);

/// Short name of a worker.
pub(super) type Name = u16;

/// Name in a task that has not been suspended yet.
pub(super) const NOBODY: Name = Name::MAX;
/// Name of a thread that is not a worker of the pool.
pub(super) const OUTSIDE: Name = NOBODY - 1;

/// Returns the worker's name: its number. (Among tens of thousands of workers, the last ones share a name.)
pub(super) fn name(worker: &Worker) -> Name {
    Name::try_from(worker.number()).unwrap_or(Name::MAX).min(OUTSIDE - 1)
}

/// Functions for a task whose types are not known.
pub(super) struct TaskTable {
    /// Ends a task that belongs to the caller, without another poll. The worker, if any, is as for [`Scope::arrive`].
    pub(super) abandon: unsafe fn(NonNull<Core>, Option<&Worker>),
    /// Frees the memory.
    pub(super) free: unsafe fn(NonNull<Core>),
}

impl Core {
    /// Makes the core of a task that its maker is about to poll for the first time, and that no other thread knows.
    pub(super) fn new(header: SpawnHeader, table: &'static TaskTable, scope: &Scope<'_>) -> Self {
        Core {
            header,
            table,
            scope: ptr::from_ref(scope).cast(),
            links: UnsafeCell::default(),
            beside: Cell::new(Beside { deque: None }),
            state: TaskState::running(),
            coalesced: AtomicU8::new(0),
            polled_by: Cell::new(NOBODY),
            flags: Cell::new(NOWHERE << SHARD),
        }
    }

    fn has(&self, flag: u8) -> bool {
        self.flags.get() & flag != 0
    }

    /// The shard of the scope's list in which the task is, or [`NOWHERE`].
    ///
    /// # Safety
    ///
    /// The task is the caller's.
    pub(super) unsafe fn shard(&self) -> ShardNumber {
        self.flags.get() >> SHARD
    }

    /// Notes the shard.
    ///
    /// # Safety
    ///
    /// The task is the caller's.
    pub(super) unsafe fn set_shard(&self, shard: ShardNumber) {
        self.flags.set(self.flags.get() & (HAS_FUTURE | IS_WOKEN) | shard << SHARD);
    }

    /// Whether the future is there.
    ///
    /// # Safety
    ///
    /// The task is the caller's.
    pub(super) unsafe fn has_future(&self) -> bool {
        self.has(HAS_FUTURE)
    }

    /// Notes whether the future is there.
    ///
    /// # Safety
    ///
    /// The task is the caller's.
    pub(super) unsafe fn set_has_future(&self, is_there: bool) {
        let others = self.flags.get() & !HAS_FUTURE;
        self.flags.set(if is_there { others | HAS_FUTURE } else { others });
    }

    /// Takes the deque that is suspended with the task, if there is one.
    ///
    /// # Safety
    ///
    /// The task is the caller's, or was made scheduled by the caller and not queued yet (invariant 6).
    unsafe fn take_deque(&self) -> Option<DequeRef> {
        if self.has(IS_WOKEN) {
            return None;
        }
        // SAFETY: the flag says that it is a deque; the word is the caller's.
        unsafe { self.beside.replace(Beside { deque: None }).deque }
    }

    /// Suspends the deque of the worker that has polled the task with it.
    ///
    /// # Safety
    ///
    /// The task is the caller's; `worker` is this thread's.
    pub(super) unsafe fn suspend_deque(&self, worker: &Worker) {
        debug_assert!(!self.has(IS_WOKEN), "its run has taken the time of the wake");
        self.beside.set(Beside { deque: worker.suspend_deque(self.header.scope()) });
    }

    /// Detaches the task's deque, if there is one: the task will not be woken.
    ///
    /// # Safety
    ///
    /// The task is the caller's, and its scope is there.
    pub(super) unsafe fn leave_deque(&self) {
        // SAFETY: the caller's; the deque was one of a worker's of the scope's registry.
        unsafe {
            if let Some(deque) = self.take_deque() {
                (*self.scope).registry().orphan(deque);
            }
        }
    }

    /// Records how long the task has been awake before this run, if that is measured.
    ///
    /// # Safety
    ///
    /// The task is the caller's; `worker` is this thread's.
    pub(super) unsafe fn measure(&self, worker: &Worker) {
        if self.has(IS_WOKEN) {
            self.flags.set(self.flags.get() & !IS_WOKEN);
            // SAFETY: the flag says that it is the time; the word is the caller's.
            let woken = unsafe { self.beside.replace(Beside { deque: None }).woken };
            worker.counters.wake_to_run.add(woken.elapsed());
        }
    }

    /// Counts the wakes of the task while it was awake: 255 for each run at most. Wakes after the last run are not counted.
    ///
    /// # Safety
    ///
    /// The task is the caller's, and its scope is there.
    pub(super) unsafe fn count_coalesced(&self) {
        // Relaxed: it only counts.
        if self.coalesced.load(Relaxed) > 0 {
            // SAFETY: the caller's.
            let scope = unsafe { &*self.scope };
            scope.count(|counters| &counters.wakes_coalesced, self.coalesced.swap(0, Relaxed).into());
        }
    }

    /// Ends a poll that gave `Pending`: afterwards any thread may own the task, or none.
    ///
    /// # Safety
    ///
    /// The task is the caller's, who does not use it again. It is in its scope's list, or was. `worker` is this
    /// thread's.
    pub(super) unsafe fn settle(this: NonNull<Core>, worker: Option<&Worker>) {
        // SAFETY: by the caller's promise. After `suspend` the task is used only if the result of `suspend` says that
        // it is still this thread's.
        unsafe {
            let core = this.as_ref();
            if core.polled_by.get() == NOBODY {
                (*core.scope).count(|counters| &counters.suspensions, 1);
            }
            core.polled_by.set(worker.map_or(OUTSIDE, name));
            trace::record(Kind::Suspend, this.addr().get() as u64);
            match core.state.suspend() {
                SuspendAction::Suspended => {}
                SuspendAction::Again => {
                    if let Some(worker) = worker {
                        worker.counters.wakes_in_poll.add();
                    }
                    Self::submit(this);
                }
                SuspendAction::Cancelled => (core.table.abandon)(this, worker),
            }
        }
    }

    /// Ends a task that could not be suspended.
    ///
    /// # Safety
    ///
    /// As for [`TaskTable::abandon`]. The scope counts the caller, too, so it outlives this call.
    pub(super) unsafe fn abandon(this: NonNull<Core>) {
        // SAFETY: the caller's.
        unsafe {
            let (scope, abandon) = (&*this.as_ref().scope, this.as_ref().table.abandon);
            scope.with_worker(|worker| abandon(this, worker));
        }
    }

    /// Releases the task's own reference. The future is gone, and nothing else will happen to the task.
    ///
    /// # Safety
    ///
    /// The task is the caller's, who does not use it again; it is in no list.
    pub(super) unsafe fn finish(this: NonNull<Core>) {
        // SAFETY: by the caller's promise; the reference is the task's own (invariant 4). All data needed afterwards
        // are read before.
        unsafe {
            let free = this.as_ref().table.free;
            if this.as_ref().state.finish() {
                free(this);
            }
        }
    }

    /// Releases one reference.
    ///
    /// # Safety
    ///
    /// It is the caller's, who does not use the task again.
    pub(super) unsafe fn release(this: NonNull<Core>) {
        // SAFETY: the reference keeps the memory; all data needed afterwards are read before it is released.
        let free = unsafe { this.as_ref() }.table.free;
        // SAFETY: as above.
        if unsafe { this.as_ref() }.state.release() {
            // SAFETY: it was the last one (invariant 4).
            unsafe { free(this) };
        }
    }

    /// Wakes the task. Releases one reference if `releases` is set.
    ///
    /// # Safety
    ///
    /// The caller has a reference. If it is released, the caller does not use the task again.
    #[inline]
    pub(super) unsafe fn wake(this: NonNull<Core>, releases: bool) {
        // SAFETY: the reference keeps the memory until it is released. If this caller has made the task scheduled, the task's own
        // reference keeps it until it is in a queue, and its scope is there (invariant 5).
        unsafe {
            let core = this.as_ref();
            match if releases { core.state.wake_and_release() } else { core.state.wake() } {
                WakeAction::Submit => {
                    (*core.scope).count(|counters| &counters.wakes, 1);
                    trace::record(Kind::Wake, this.addr().get() as u64);
                    Self::submit(this);
                }
                WakeAction::Coalesced => {
                    // Relaxed: it only counts.
                    let _ = core.coalesced.fetch_update(Relaxed, Relaxed, |wakes| wakes.checked_add(1));
                    if releases {
                        Self::release(this);
                    }
                }
                WakeAction::InPoll => {}
            }
        }
    }

    /// Puts a task where workers find it.
    ///
    /// # Safety
    ///
    /// The caller has set the state to scheduled, and does not use the task again except by a reference of its own.
    pub(super) unsafe fn submit(this: NonNull<Core>) {
        // SAFETY: invariant 5.
        let registry = unsafe { (*this.as_ref().scope).registry() };
        // SAFETY: the caller has made it scheduled, and not queued it yet, so these fields are the caller's (invariant
        // 6).
        let core = unsafe { this.as_ref() };
        // SAFETY: as above.
        let deque = unsafe { core.take_deque() };
        if registry.measures_wakes() {
            core.beside.set(Beside { woken: Moment::now() });
            core.flags.set(core.flags.get() | IS_WOKEN);
        }
        Worker::with_current(|worker| {
            let worker = worker.filter(|worker| worker.is_of(registry));
            // Once other workers can find the task, it does not keep the registry alive. A worker does.
            let _kept = worker.is_none().then(|| registry.this());
            let job = JobRef::new(this.cast(), worker.map_or(ptr::null(), ptr::from_ref));
            // SAFETY: the deque is one of a worker's of the scope's registry.
            unsafe { registry.make_stealable(job, deque, worker) };
        });
    }

    /// Cancels a task: drops its future, or makes the future's owner drop it.
    ///
    /// # Safety
    ///
    /// The caller has a reference.
    pub(super) unsafe fn cancel(this: NonNull<Core>) {
        // The caller may be in the middle of a job of another scope. That job keeps its slot, even if a worker waits
        // for this task's scope.
        // SAFETY: the caller's. A task that is to be dropped is the caller's now, and has not arrived.
        unsafe {
            if this.as_ref().state.cancel() {
                (this.as_ref().table.abandon)(this, None);
            }
        }
    }
}

/// A task whose poll gave `Pending`, in its scope's list, that is not settled: see [`Suspend::hold`](crate::detach::Suspend::hold). Its drop
/// settles the task.
///
/// The scope counts the task, which cannot end before it is settled. So the scope is there as long as this value.
#[derive(Debug)]
pub struct Held<'scope> {
    /// `None` if the scope takes no tasks any more. Neither `Send` nor `Sync`: the value belongs to the thread that has polled the task.
    task: Option<NonNull<Core>>,
    _scope: PhantomData<fn(&'scope ()) -> &'scope ()>,
}

impl Held<'_> {
    /// Inserts a task whose poll gave `Pending` into its scope's list.
    ///
    /// # Safety
    ///
    /// The task is the caller's, who does not use it again; the scope counts it; it is in no list. The scope counts the caller, too, so it
    /// outlives this call. The scope's tasks are of the returned value's lifetime.
    pub(super) unsafe fn insert(task: NonNull<Core>) -> Self {
        // SAFETY: the caller's.
        let task = unsafe {
            if (*task.as_ref().scope).tasks().insert(task) {
                Some(task)
            } else {
                Core::abandon(task);
                None
            }
        };
        Held { task, _scope: PhantomData }
    }

    /// Calls `f` with the task and this thread's worker, if it is one of the task's pool.
    fn with_worker(&self, f: impl FnOnce(NonNull<Core>, Option<&Worker>)) {
        let Some(task) = self.task else { return };
        Worker::with_current(|current| {
            // SAFETY: the scope is there. No reference to it lives on in `f`, in which it may end.
            let worker = unsafe { (*task.as_ref().scope).mine(current) };
            f(task, worker);
        });
    }

    /// Suspends the worker's deque with the task, if the job on top may give the deque away, and settles the task.
    pub(crate) fn suspend_deque(self) {
        self.with_worker(|task, worker| {
            // SAFETY: the task is this value's.
            let core = unsafe { task.as_ref() };
            let worker = worker.filter(|worker| worker.frame().can_suspend && core.state.will_wait());
            // SAFETY: as above; `worker` is this thread's.
            worker.inspect(|worker| unsafe { core.suspend_deque(worker) });
        });
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // SAFETY: the task is this value's, which does not use it again; it is in its scope's list.
        self.with_worker(|task, worker| unsafe { Core::settle(task, worker) });
    }
}

/// A reference to a task. Its owner may cancel the task.
#[derive(Debug)]
pub(crate) struct Reference(pub(super) NonNull<Core>);

// SAFETY: any thread may retain, cancel and release a task.
unsafe impl Send for Reference {}
// SAFETY: as above.
unsafe impl Sync for Reference {}

impl Reference {
    /// Returns the task, as a job, which may have been run.
    pub(crate) fn job(&self) -> NonNull<Header> {
        self.0.cast()
    }

    /// Drops the future, if it is not at its end: at once, or, if it is being polled or in a queue, by the worker that
    /// has it.
    pub(crate) fn cancel(&self) {
        // SAFETY: its reference.
        unsafe { Core::cancel(self.0) };
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: its own reference.
        unsafe { Core::release(self.0) };
    }
}
