//! The states of the model, and the functions of `pool/src/slots` that change them under the slot lock.

use crate::{Mutant, Op, Spec};

/// No worker, no job, no slot.
pub(crate) const NONE: u8 = u8::MAX;
/// Most threads: the workers, and the thread outside as the last one.
pub(crate) const THREADS: usize = 5;
/// Most jobs.
pub(crate) const JOBS: usize = 5;
/// Most slots.
pub(crate) const SLOTS: usize = 2;
/// The watchdog's number as an owner of the slot lock.
pub(crate) const WATCHDOG: u8 = 100;

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// Not published.
    Nowhere,
    /// In the store buffer of a thread, on the way to its deque.
    PushBuffered(u8),
    /// In the store buffer of a thread, on the way to the queue.
    InjectBuffered(u8),
    /// In the queue.
    Queue,
    /// In a worker's deque, its owner's.
    Private(u8),
    /// In a worker's deque, any thief's.
    Shared(u8),
    /// A thread runs it. (A latch that the thread outside sets is taken from the begin.)
    Taken,
    /// Its latch is set.
    Done,
}

/// `WorkerState`, and the state of a thread that has not been started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WorkerState {
    Unstarted,
    Active,
    TimedSearch,
    Parked,
    Blocked,
    Waiting,
    Watching,
}

/// What a thread does next. The table in the crate's documentation names the function of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pc {
    Sleep,
    Search,
    GiveUp,
    Nap,
    End1,
    End2,
    CheckFence,
    CheckCount,
    CheckFree,
    Look(u8),
    Split,
    HeavyFence,
    NotifyFence,
    NotifyCount,
    WakeTimed,
    WakeCount,
    WakeFree,
    WakeLock,
    WatchCheck,
    WatchLock,
    StopLook,
    Run,
    ForkLimit,
    Publish,
    ShareCount,
    Cooperate,
    JoinLock,
    WaitInSlot,
    SleepBlocked,
    Stuck,
    Resume(u8),
    JobEnd,
    Turn,
    Off,
}

/// Why a thread ends its search, or does a final check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Why {
    Found,
    Parks,
    Blocks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Thread {
    pub(crate) pc: Pc,
    /// Where the thread continues after a final check or a wake-up.
    pub(crate) then: Pc,
    pub(crate) why: Why,
    pub(crate) state: WorkerState,
    /// `Occupant::slot`: kept when the slot is taken over.
    pub(crate) slot: u8,
    /// The parker's token.
    pub(crate) token: bool,
    /// The deque's limit: 0 a split is requested, 1 poked, 2 neither.
    pub(crate) limit: u8,
    /// Whether the thread has added its group, and next increments `count`.
    pub(crate) adds: bool,
    /// Whether this is the look after the heavy fence.
    pub(crate) second: bool,
    /// Whether the worker counts as searching; no part of the protocol.
    pub(crate) counted: bool,
    /// Whether this former watcher is on turn.
    pub(crate) turn: bool,
    /// The job that runs, and its next operation.
    pub(crate) job: u8,
    pub(crate) op: u8,
}

/// A state of the pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(crate) threads: [Thread; THREADS],
    pub(crate) places: [Place; JOBS],
    /// The waiter of each job's latch.
    pub(crate) waiters: [u8; JOBS],
    /// The owner of the slot lock.
    pub(crate) lock: u8,
    pub(crate) holders: [u8; SLOTS],
    /// The list of free slots, as bits; `Searching::free` is their number.
    pub(crate) free: u8,
    pub(crate) claims: Vec<u8>,
    pub(crate) parked: Vec<u8>,
    pub(crate) shelved: u8,
    pub(crate) timed: u8,
    pub(crate) watcher: u8,
    pub(crate) watchdog: bool,
    /// Whether the watchdog has said that it stops, and looks once more.
    pub(crate) watchdog_stops: bool,
    pub(crate) watched: bool,
    pub(crate) count: i8,
    pub(crate) groups: [i8; 2],
    /// Whether the lock outside the pool, on which jobs block, is released.
    pub(crate) released: bool,
    /// Whether a worker was woken to search while another one searched.
    pub(crate) needless: bool,
}

impl Spec {
    pub(crate) fn workers(&self) -> u8 {
        self.parked + self.spares
    }

    /// The number of the thread outside.
    pub(crate) fn outside_number(&self) -> u8 {
        self.workers()
    }

    pub(crate) fn is(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    pub(crate) fn initial(&self) -> State {
        let thread = Thread {
            pc: Pc::Sleep,
            then: Pc::Run,
            why: Why::Found,
            state: WorkerState::Unstarted,
            slot: NONE,
            token: false,
            limit: 2,
            adds: false,
            second: false,
            counted: false,
            turn: false,
            job: NONE,
            op: 0,
        };
        let mut threads = [thread; THREADS];
        for worker in &mut threads[..usize::from(self.parked)] {
            worker.state = WorkerState::Parked;
        }
        threads[usize::from(self.outside_number())].pc = Pc::Run;
        let mut places = [Place::Nowhere; JOBS];
        for op in self.outside {
            if let Op::Set(job) = op {
                places[usize::from(*job)] = Place::Taken;
            }
        }
        State {
            threads,
            places,
            waiters: [NONE; JOBS],
            lock: NONE,
            holders: [NONE; SLOTS],
            free: (1 << self.slots) - 1,
            claims: Vec::new(),
            parked: (0..self.parked).rev().collect(),
            shelved: 0,
            timed: NONE,
            watcher: NONE,
            watchdog: false,
            watchdog_stops: false,
            watched: false,
            count: 0,
            groups: [0; 2],
            released: false,
            needless: false,
        }
    }
}

impl State {
    pub(crate) fn thread(&mut self, number: u8) -> &mut Thread {
        &mut self.threads[usize::from(number)]
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.places.contains(&Place::Queue)
    }

    /// `Deque::is_empty`, negated: jobs in store buffers are not seen.
    pub(crate) fn has_jobs(&self, worker: u8) -> bool {
        self.places.iter().any(|place| *place == Place::Private(worker) || *place == Place::Shared(worker))
    }

    pub(crate) fn holds_slot(&self, worker: u8) -> bool {
        let slot = self.threads[usize::from(worker)].slot;
        slot != NONE && self.holders[usize::from(slot)] == worker
    }

    /// Makes a thread's buffered store visible.
    pub(crate) fn drain(&mut self, thread: u8) {
        for place in &mut self.places {
            match *place {
                Place::PushBuffered(by) if by == thread => *place = Place::Private(by),
                Place::InjectBuffered(by) if by == thread => *place = Place::Queue,
                _ => {}
            }
        }
    }

    pub(crate) fn is_buffered(&self, thread: u8) -> bool {
        let is =
            |place: &Place| *place == Place::PushBuffered(thread) || *place == Place::InjectBuffered(thread);
        self.places.iter().any(is)
    }

    /// `Searching::begin`, by the thread `by`. With groups, the thread increments `count` in a step of its own.
    pub(crate) fn begin(&mut self, spec: &Spec, by: u8, worker: u8) {
        self.thread(worker).counted = true;
        if spec.groups == 0 {
            self.count += 1;
            return;
        }
        let group = &mut self.groups[usize::from(worker % spec.groups)];
        *group += 1;
        if *group == 1 {
            self.thread(by).adds = true;
        }
    }

    /// `Locked::occupy`, by the thread `by`.
    pub(crate) fn occupy(&mut self, spec: &Spec, by: u8, worker: u8, slot: u8) {
        let state = std::mem::replace(&mut self.thread(worker).state, WorkerState::Active);
        match state {
            WorkerState::Parked => {
                self.parked.retain(|&number| number != worker);
                self.begin(spec, by, worker);
            }
            WorkerState::TimedSearch => self.timed = NONE,
            WorkerState::Watching => {
                self.watch_is_over();
                self.begin(spec, by, worker);
            }
            WorkerState::Unstarted | WorkerState::Active | WorkerState::Blocked | WorkerState::Waiting => {}
        }
        self.claims.retain(|&number| number != worker);
        let thread = self.thread(worker);
        (thread.slot, thread.limit) = (slot, 1);
        self.holders[usize::from(slot)] = worker;
        self.shelved &= !(1 << worker);
        if state != WorkerState::Active {
            self.thread(worker).token = true;
        }
    }

    /// `Locked::take_free`.
    pub(crate) fn take_free(&mut self) -> Option<u8> {
        let slot = (self.free != 0).then(|| self.free.trailing_zeros() as u8)?;
        self.free &= !(1 << slot);
        Some(slot)
    }

    /// `Locked::occupy_free`.
    pub(crate) fn occupy_free(&mut self, spec: &Spec, by: u8, worker: u8) -> bool {
        self.take_free().map(|slot| self.occupy(spec, by, worker, slot)).is_some()
    }

    /// `Locked::shelve`.
    pub(crate) fn shelve(&mut self, worker: u8) {
        if self.has_jobs(worker) {
            self.shelved |= 1 << worker;
        }
    }

    /// `Locked::withdraw`.
    pub(crate) fn withdraw(&mut self, worker: u8) -> Option<u8> {
        let holds = self.holds_slot(worker);
        let slot = std::mem::replace(&mut self.thread(worker).slot, NONE);
        holds.then(|| {
            self.holders[usize::from(slot)] = NONE;
            slot
        })
    }

    /// `Locked::make_available`.
    pub(crate) fn make_available(&mut self, spec: &Spec, by: u8, slot: u8) {
        while !self.claims.is_empty() {
            let number = self.claims.remove(0);
            if self.thread(number).state != WorkerState::Active {
                return self.occupy(spec, by, number, slot);
            }
        }
        self.free |= 1 << slot;
    }

    /// `Locked::release`.
    pub(crate) fn release(&mut self, spec: &Spec, by: u8, worker: u8) {
        let slot = self.withdraw(worker);
        self.shelve(worker);
        if let Some(slot) = slot {
            self.make_available(spec, by, slot);
        }
    }

    /// `Locked::park`.
    pub(crate) fn park(&mut self, worker: u8) {
        self.thread(worker).state = WorkerState::Parked;
        self.parked.push(worker);
    }

    /// `Registry::spare_worker`: the last parked worker, or a new thread.
    pub(crate) fn spare_worker(&mut self, spec: &Spec) -> Option<u8> {
        self.parked.last().copied().or_else(|| self.start_thread(spec))
    }

    /// `Registry::start_thread`.
    pub(crate) fn start_thread(&mut self, spec: &Spec) -> Option<u8> {
        let number = (0..spec.workers()).find(|&number| self.may_start(number))?;
        self.thread(number).state = WorkerState::Parked;
        Some(number)
    }

    fn may_start(&self, number: u8) -> bool {
        self.threads[usize::from(number)].state == WorkerState::Unstarted
    }

    /// `Registry::could_be_relieved`, for a worker of the pool.
    pub(crate) fn could_be_relieved(&self, spec: &Spec) -> bool {
        let may_start = (0..spec.workers()).any(|number| self.may_start(number));
        spec.workers() > spec.slots && (may_start || !self.parked.is_empty() || self.timed != NONE)
    }

    /// `Locked::wake_searcher`, and what `Registry::wake_if_none_searches` does with its outcome.
    pub(crate) fn wake_searcher(&mut self, spec: &Spec, by: u8) {
        if self.count != 0 && !spec.is(Mutant::WakeWithoutLook) {
            return;
        }
        if self.free == 0 {
            return self.watch(spec);
        }
        let watcher = (self.watcher != NONE).then_some(self.watcher);
        let worker = watcher.or_else(|| self.spare_worker(spec));
        if let Some(worker) = worker {
            self.needless |= self.count != 0;
            self.occupy_free(spec, by, worker);
        }
    }

    /// `Locked::watch_is_over`.
    pub(crate) fn watch_is_over(&mut self) {
        self.watcher = NONE;
        self.watched = false;
    }

    /// `Locked::begin_watch`.
    pub(crate) fn begin_watch(&mut self, worker: u8) {
        self.parked.retain(|&number| number != worker);
        self.watched = true;
        self.watcher = worker;
        let thread = self.thread(worker);
        (thread.state, thread.token) = (WorkerState::Watching, true);
    }

    /// `Searching::needs_watcher`, and the look at the queue.
    pub(crate) fn needs_watcher(&self) -> bool {
        self.count == 0 && self.free == 0 && !self.watched && self.is_queued()
    }

    /// `Registry::watch`.
    pub(crate) fn watch(&mut self, spec: &Spec) {
        if self.needs_watcher() && !spec.is(Mutant::NoWatch) {
            match self.parked.last().copied() {
                Some(worker) => self.begin_watch(worker),
                None => (self.watchdog, self.watched) = (true, true),
            }
        }
    }

    /// `Locked::resume`.
    pub(crate) fn resume(&mut self, spec: &Spec, by: u8, waiter: u8, setter: Option<u8>) {
        match self.threads[usize::from(waiter)].state {
            WorkerState::Waiting => self.thread(waiter).token = true,
            WorkerState::Blocked => {
                if self.occupy_free(spec, by, waiter) {
                    return;
                }
                if let Some((setter, slot)) = setter.and_then(|setter| Some((setter, self.withdraw(setter)?)))
                {
                    self.shelve(setter);
                    return self.occupy(spec, by, waiter, slot);
                }
                if !spec.is(Mutant::ResumeWithoutClaim) {
                    self.claims.push(waiter);
                }
                self.thread(waiter).token = true;
            }
            _ => {}
        }
    }

    /// The slot of a stuck holder: `Locked::find_stuck`.
    pub(crate) fn find_stuck(&self, spec: &Spec) -> Option<u8> {
        let is_stuck = |slot: &u8| {
            let holder = self.holders[usize::from(*slot)];
            holder != NONE && self.threads[usize::from(holder)].pc == Pc::Stuck
        };
        (0..spec.slots).find(is_stuck)
    }

    /// `Locked::take_slot_over`.
    pub(crate) fn take_slot_over(&mut self, spec: &Spec, by: u8, worker: u8, slot: u8) {
        let holder = self.holders[usize::from(slot)];
        if !spec.is(Mutant::TakeOverWithoutShelf) {
            self.shelve(holder);
        }
        self.occupy(spec, by, worker, slot);
        self.thread(holder).limit = 1;
        self.drain(holder);
        if !spec.is(Mutant::TakeOverWithoutShelf) {
            self.shelve(holder);
        }
    }

    /// `Registry::sees_work`, in one step; where a look in several steps is meant, see `Pc::Look`.
    pub(crate) fn sees_work(&self) -> bool {
        self.is_queued()
            || self.shelved != 0
            || self.holders.iter().any(|&holder| holder != NONE && self.has_jobs(holder))
    }
}
