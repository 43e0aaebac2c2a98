//! The atomic steps of the threads.

use crate::state::{NONE, Pc, Place, State, THREADS, Thread, WATCHDOG, Why, WorkerState};
use crate::{Mutant, Op, Spec};

/// A step of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The thread's next step.
    Step(u8),
    /// The thread's buffered store becomes visible.
    Drain(u8),
    /// A searching worker, or a former watcher on turn, takes a job.
    Take(u8, u8),
    /// A searching worker requests a split of a worker's deque.
    Request(u8, u8),
    /// A searching worker finds a worker without jobs on the shelf.
    Unshelve(u8, u8),
    /// A search, or a turn, ends without a job.
    GiveUp(u8),
    /// The timed searcher sees work after a sleep.
    TimedFinds(u8),
    /// The timed searcher parks.
    TimedParks(u8),
    /// A worker that has shared a fork pokes itself instead of waking the timed searcher.
    PokeSelf(u8),
    /// A busy worker at a cooperative point keeps its slot, because no thread is overdue.
    KeepSlot(u8),
    /// A waiting thread finds that a slot holder is stuck, and takes the slot over or has it taken over. If none is stuck, an overdue thread
    /// pokes the slot holders.
    TakeOver(u8),
    /// The watcher has found no job for some looks, and says that it stops. (A job may have been queued since its last look.)
    Quiet(u8),
    /// The watchdog finds a queue overdue, and has a worker watch. Or it finds that a worker watches, or looks once more.
    Watchdog,
    /// The watchdog has found no job for some looks, and says that it stops.
    WatchdogQuiet,
}

impl Spec {
    /// Adds the steps that may be possible; [`step`](Self::step) knows whether they are.
    pub(crate) fn candidates(&self, s: &State, actions: &mut Vec<Action>) {
        for t in 0..=self.outside_number() {
            let thread = &s.threads[usize::from(t)];
            if s.is_buffered(t) {
                actions.push(Action::Drain(t));
            }
            if thread.adds {
                actions.push(Action::Step(t));
                continue;
            }
            match thread.pc {
                Pc::Off => {}
                Pc::Search | Pc::Turn => {
                    actions.extend((0..self.jobs.len() as u8).map(|job| Action::Take(t, job)));
                    actions.push(Action::GiveUp(t));
                    if thread.pc == Pc::Search {
                        let others = (0..self.workers()).filter(|other| *other != t);
                        actions.extend(others.flat_map(|v| [Action::Request(t, v), Action::Unshelve(t, v)]));
                    }
                }
                Pc::Nap => {
                    actions.extend([Action::Step(t), Action::TimedFinds(t), Action::TimedParks(t)]);
                }
                Pc::Cooperate => actions.extend([Action::Step(t), Action::KeepSlot(t)]),
                Pc::ShareCount => actions.extend([Action::Step(t), Action::PokeSelf(t)]),
                Pc::Sleep | Pc::SleepBlocked => {
                    actions.extend([Action::Step(t), Action::TakeOver(t), Action::Quiet(t)]);
                }
                _ => actions.push(Action::Step(t)),
            }
        }
        if s.watchdog {
            actions.extend([Action::Watchdog, Action::WatchdogQuiet]);
        }
    }

    /// Returns the state after a step, unless the step is impossible.
    pub(crate) fn step(&self, before: &State, action: Action) -> Option<State> {
        let mut s = before.clone();
        let is_done = match action {
            Action::Step(t) => self.next(&mut s, t),
            Action::Drain(t) => {
                s.drain(t);
                true
            }
            Action::Take(t, job) => self.take(&mut s, t, job),
            Action::Request(_, of) => {
                let is_new = s.holders.contains(&of) && s.thread(of).limit != 0;
                s.thread(of).limit = 0;
                is_new
            }
            Action::Unshelve(_, of) => {
                let is_empty = s.lock == NONE && s.shelved & 1 << of != 0 && !s.has_jobs(of);
                s.shelved &= !(1 << of);
                is_empty
            }
            Action::GiveUp(t) => self.give_up(&mut s, t),
            Action::TimedFinds(t) => {
                s.lock == NONE
                    && s.thread(t).state == WorkerState::TimedSearch
                    && s.sees_work()
                    && s.occupy_free(self, t, t)
                    && goes(&mut s, t, Pc::Search)
            }
            Action::TimedParks(t) => {
                s.lock == NONE && s.thread(t).state == WorkerState::TimedSearch && {
                    s.timed = NONE;
                    self.begin_parking(&mut s, t)
                }
            }
            Action::PokeSelf(t) => {
                s.thread(t).limit = 1;
                s.count != 0 && s.timed != NONE && returns(&mut s, t)
            }
            Action::KeepSlot(t) => s.holds_slot(t) && goes(&mut s, t, Pc::Run),
            Action::TakeOver(t) => s.lock == NONE && self.take_over(&mut s, t),
            Action::Quiet(t) => {
                s.lock == NONE && s.thread(t).state == WorkerState::Watching && {
                    s.park(t);
                    s.watch_is_over();
                    s.lock = t;
                    goes(&mut s, t, Pc::StopLook)
                }
            }
            Action::Watchdog => self.watchdog_looks(&mut s),
            Action::WatchdogQuiet => {
                s.lock == NONE && s.watcher == NONE && {
                    s.watched = false;
                    (s.watchdog_stops, s.lock) = (true, WATCHDOG);
                    true
                }
            }
        };
        is_done.then(|| {
            debug_assert!(s.lock == NONE || s.lock == WATCHDOG || s.lock <= self.outside_number());
            s
        })
    }

    /// Takes a job that the thread sees. `Deque::steal`, `Deque::steal_private`, `Locked::steal_shelved`, `Injector::steal`.
    fn take(&self, s: &mut State, t: u8, job: u8) -> bool {
        let place = s.places[usize::from(job)];
        let is_seen = match place {
            Place::Queue => true,
            Place::Private(of) | Place::Shared(of) => {
                let is_shelved = s.shelved & 1 << of != 0;
                s.thread(t).pc == Pc::Search && (s.holders.contains(&of) || is_shelved && s.lock == NONE)
            }
            _ => false,
        };
        if !is_seen {
            return false;
        }
        s.places[usize::from(job)] = Place::Taken;
        if let Place::Private(of) | Place::Shared(of) = place {
            // A heavy fence, if the job was private.
            s.drain(of);
            if !s.has_jobs(of) {
                s.shelved &= !(1 << of);
            }
        }
        let thread = s.thread(t);
        (thread.job, thread.op) = (job, 0);
        if thread.pc == Pc::Turn {
            return goes(s, t, Pc::Run);
        }
        (thread.why, thread.then) = (Why::Found, Pc::Run);
        goes(s, t, Pc::End1)
    }

    fn give_up(&self, s: &mut State, t: u8) -> bool {
        if s.thread(t).pc == Pc::Search {
            return goes(s, t, Pc::GiveUp);
        }
        // `Locked::end_turn`.
        if s.lock != NONE {
            return false;
        }
        s.thread(t).turn = false;
        if s.holds_slot(t) && s.claims.is_empty() {
            s.begin(self, t, t);
            s.lock = t;
            return self.unlocks(s, t, Pc::Search);
        }
        s.release(self, t, t);
        if s.watcher == NONE {
            s.begin_watch(t);
        } else {
            s.park(t);
        }
        goes(s, t, Pc::Sleep)
    }

    /// `Registry::park_searcher`, with the lock that the thread takes here: the worker parks, and ends its search.
    fn begin_parking(&self, s: &mut State, t: u8) -> bool {
        s.lock = t;
        s.thread(t).why = Why::Parks;
        if self.is(Mutant::LookBeforeEnd) {
            // The final check is made before the search ends.
            s.thread(t).second = s.sees_work();
        }
        s.park(t);
        goes(s, t, Pc::End1)
    }

    /// Releases the lock, unless the thread still has to increment `count`.
    fn unlocks(&self, s: &mut State, t: u8, pc: Pc) -> bool {
        if !s.thread(t).adds {
            s.lock = NONE;
        }
        goes(s, t, pc)
    }

    fn watchdog_looks(&self, s: &mut State) -> bool {
        if s.watchdog_stops {
            // The second half of `Registry::stop_watching`.
            (s.watchdog_stops, s.watchdog, s.lock) = (false, false, NONE);
            if !self.is(Mutant::StopWithoutLook) {
                s.watch(self);
            }
            return true;
        }
        if s.lock != NONE {
            return false;
        }
        if s.watcher != NONE {
            s.watchdog = false;
            return true;
        }
        if !s.is_queued() {
            return false;
        }
        let Some(worker) = s.spare_worker(self) else { return false };
        s.watchdog = false;
        s.begin_watch(worker);
        true
    }

    /// `Locked::ask_for_slot` of a claimant or of the watcher, and `Registry::replace_stuck` of a worker that waits for a latch.
    fn take_over(&self, s: &mut State, t: u8) -> bool {
        let Some(slot) = s.find_stuck(self) else {
            let watches = s.watcher == t && s.is_queued();
            return (watches || s.claims.first() == Some(&t)) && self.poke_holders(s);
        };
        let (is_needed, state) = (s.is_queued(), s.thread(t).state);
        match state {
            WorkerState::Watching if is_needed => {
                // `Locked::begin_turn`.
                s.watch_is_over();
                let thread = s.thread(t);
                (thread.turn, thread.state) = (true, WorkerState::Blocked);
                s.take_slot_over(self, t, t, slot);
                (s.watchdog, s.watched) = (true, true);
                self.unlocks(s, t, Pc::Sleep)
            }
            WorkerState::Blocked if s.claims.first() == Some(&t) => {
                s.take_slot_over(self, t, t, slot);
                true
            }
            WorkerState::Blocked
                if s.free == 0 && s.count == 0 && s.sees_work() && !s.claims.contains(&t) =>
            {
                let by = s.spare_worker(self).unwrap_or(t);
                s.lock = t;
                s.take_slot_over(self, t, by, slot);
                self.unlocks(s, t, Pc::SleepBlocked)
            }
            _ => false,
        }
    }

    /// Pokes the slot holders. Returns whether that was new to one of them.
    fn poke_holders(&self, s: &mut State) -> bool {
        let before = s.clone();
        for holder in s.holders {
            if holder != NONE {
                s.thread(holder).limit = 1;
            }
        }
        *s != before
    }

    /// `Locked::give_turn`: the oldest claimant, or the watcher, gets the worker's slot, and the worker claims one.
    fn give_turn(&self, s: &mut State, t: u8) -> bool {
        let claimant = s.claims.first().copied();
        let watcher = (s.watcher != NONE && s.is_queued()).then_some(s.watcher);
        let Some(next) = claimant.or(watcher) else { return goes(s, t, Pc::Run) };
        if claimant.is_none() {
            s.watch_is_over();
            let thread = s.thread(next);
            (thread.turn, thread.state) = (true, WorkerState::Blocked);
            (s.watchdog, s.watched) = (true, true);
        }
        let slot = s.withdraw(t).expect("it holds one");
        s.thread(t).state = WorkerState::Blocked;
        s.occupy(self, t, next, slot);
        if !self.is(Mutant::GiveWithoutClaim) {
            s.claims.push(t);
        }
        goes(s, t, Pc::SleepBlocked)
    }

    /// The thread's next step. Returns `false` if it is impossible for now.
    fn next(&self, s: &mut State, t: u8) -> bool {
        if s.thread(t).adds {
            s.thread(t).adds = false;
            s.count += 1;
            if s.lock == t {
                s.lock = NONE;
            }
            return true;
        }
        let Thread { pc, why, state, second, .. } = *s.thread(t);
        let is_locked = s.lock != NONE && s.lock != t;
        match pc {
            Pc::Sleep | Pc::SleepBlocked | Pc::Nap => {
                if is_locked || !s.thread(t).token {
                    return false;
                }
                let thread = s.thread(t);
                thread.token = false;
                if state != WorkerState::Active {
                    return true;
                }
                let next = match pc {
                    Pc::SleepBlocked => Pc::Run,
                    _ if thread.turn => Pc::Turn,
                    _ => Pc::Search,
                };
                goes(s, t, next)
            }
            // `Registry::sleep_until_needed`.
            Pc::GiveUp => {
                if is_locked {
                    return false;
                }
                if s.thread(t).slot == NONE {
                    s.park(t);
                    s.lock = t;
                    let next = if s.occupy_free(self, t, t) { Pc::Search } else { Pc::Sleep };
                    return self.unlocks(s, t, next);
                }
                s.release(self, t, t);
                if self.timed && s.timed == NONE && s.free != 0 {
                    s.thread(t).state = WorkerState::TimedSearch;
                    s.timed = t;
                    for holder in s.holders {
                        if holder != NONE {
                            s.thread(holder).limit = 1;
                        }
                    }
                    return goes(s, t, Pc::Nap);
                }
                self.begin_parking(s, t)
            }
            // `Searching::end`.
            Pc::End1 => {
                s.thread(t).counted = false;
                if self.groups == 0 {
                    return goes(s, t, Pc::End2);
                }
                let group = usize::from(t % self.groups);
                if self.is(Mutant::CountBeforeGroup) {
                    let was = s.groups[group];
                    s.thread(t).second = was == 1;
                    s.count -= i8::from(was == 1);
                    return goes(s, t, Pc::End2);
                }
                s.groups[group] -= 1;
                if s.groups[group] == 0 { goes(s, t, Pc::End2) } else { self.ends_search(s, t, false) }
            }
            Pc::End2 => {
                if self.groups != 0 && self.is(Mutant::CountBeforeGroup) {
                    s.groups[usize::from(t % self.groups)] -= 1;
                    return self.ends_search(s, t, second && s.count == 0);
                }
                s.count -= 1;
                self.ends_search(s, t, s.count == 0)
            }
            // `Slots::final_check`. `Locked::park_searcher` calls `Searching::final_check` at once.
            Pc::CheckFence => {
                s.drain(t);
                let held = self.slots - s.free.count_ones() as u8;
                let others = held.saturating_sub(s.holds_slot(t).into());
                // Without other holders: no heavy fence, and one look.
                s.thread(t).second = why != Why::Parks && others == 0 && s.shelved == 0;
                goes(s, t, Pc::CheckCount)
            }
            Pc::CheckCount if s.count != 0 => self.checked(s, t, false),
            Pc::CheckCount => goes(s, t, Pc::CheckFree),
            Pc::CheckFree if s.free == 0 => self.checked(s, t, false),
            Pc::CheckFree => {
                if second {
                    s.thread(t).limit = 0;
                }
                goes(s, t, Pc::Look(0))
            }
            // `Registry::sees_work`: the queue and the shelf, then the holder of each slot.
            Pc::Look(0) => {
                if s.is_queued() || s.shelved != 0 {
                    return self.checked(s, t, true);
                }
                goes(s, t, Pc::Look(1))
            }
            Pc::Look(place) if place <= self.slots => {
                let holder = s.holders[usize::from(place - 1)];
                if holder != NONE && s.has_jobs(holder) {
                    return self.checked(s, t, true);
                }
                goes(s, t, Pc::Look(place + 1))
            }
            Pc::Look(_) if second => self.checked(s, t, false),
            Pc::Look(_) => goes(s, t, Pc::Split),
            Pc::Split => {
                for holder in s.holders {
                    if holder != NONE && !self.is(Mutant::NoSplit) {
                        s.thread(holder).limit = 0;
                    }
                }
                goes(s, t, Pc::HeavyFence)
            }
            Pc::HeavyFence => {
                if !self.is(Mutant::NoHeavyFence) {
                    (0..THREADS as u8).for_each(|thread| s.drain(thread));
                }
                s.thread(t).second = true;
                goes(s, t, Pc::Look(0))
            }
            // `Searching::notify`.
            Pc::NotifyFence => {
                if !self.is(Mutant::NoPublisherFence) {
                    s.drain(t);
                }
                goes(s, t, Pc::NotifyCount)
            }
            Pc::NotifyCount if s.count == 0 => goes(s, t, Pc::WakeCount),
            Pc::NotifyCount if s.timed != NONE => goes(s, t, Pc::WakeTimed),
            Pc::NotifyCount => returns(s, t),
            Pc::WakeTimed => {
                if is_locked {
                    return false;
                }
                s.drain(t);
                if s.timed != NONE {
                    s.occupy_free(self, t, s.timed);
                }
                returns(s, t)
            }
            // `Registry::wake_if_none_searches`.
            Pc::WakeCount if s.count != 0 => goes(s, t, Pc::WatchCheck),
            Pc::WakeCount => goes(s, t, Pc::WakeFree),
            Pc::WakeFree if s.free == 0 => goes(s, t, Pc::WatchCheck),
            Pc::WakeFree => goes(s, t, Pc::WakeLock),
            Pc::WakeLock => {
                if is_locked {
                    // `Registry::lock_while`.
                    return (s.count != 0 || s.free == 0) && goes(s, t, Pc::WatchCheck);
                }
                s.drain(t);
                s.lock = t;
                s.wake_searcher(self, t);
                let then = s.thread(t).then;
                self.unlocks(s, t, then)
            }
            // `Registry::watch_if_needed`.
            Pc::WatchCheck if s.needs_watcher() => goes(s, t, Pc::WatchLock),
            Pc::WatchCheck => returns(s, t),
            Pc::WatchLock => {
                if is_locked {
                    return false;
                }
                s.drain(t);
                s.watch(self);
                returns(s, t)
            }
            // The second half of `Registry::stop_watching`.
            Pc::StopLook => {
                if !self.is(Mutant::StopWithoutLook) {
                    s.watch(self);
                }
                self.unlocks(s, t, Pc::Sleep)
            }
            Pc::Run => self.run(s, t),
            // `Deque::push`: the owner loads the limit after its store. The store may still be in its buffer.
            Pc::ForkLimit if s.thread(t).limit <= 1 => goes(s, t, Pc::Publish),
            Pc::ForkLimit => goes(s, t, Pc::Run),
            // `Deque::publish`: the half of the private jobs, the oldest first.
            Pc::Publish => {
                s.drain(t);
                s.thread(t).limit = 2;
                let private = s.places.iter().filter(|place| **place == Place::Private(t)).count();
                let oldest = s.places.iter_mut().filter(|place| **place == Place::Private(t));
                oldest.take(private.div_ceil(2)).for_each(|place| *place = Place::Shared(t));
                s.thread(t).then = Pc::Cooperate;
                goes(s, t, Pc::ShareCount)
            }
            // `Registry::share`.
            Pc::ShareCount if s.count == 0 => goes(s, t, Pc::WakeCount),
            Pc::ShareCount if s.timed != NONE => goes(s, t, Pc::WakeTimed),
            Pc::ShareCount => returns(s, t),
            // `Registry::give_slot`.
            Pc::Cooperate => {
                if is_locked {
                    return false;
                }
                if s.holds_slot(t) {
                    return self.give_turn(s, t);
                }
                if s.occupy_free(self, t, t) {
                    return goes(s, t, Pc::ShareCount);
                }
                s.claims.push(t);
                let thread = s.thread(t);
                (thread.state, thread.slot) = (WorkerState::Blocked, NONE);
                goes(s, t, Pc::SleepBlocked)
            }
            // `Registry::block`.
            Pc::JoinLock => {
                if is_locked {
                    return false;
                }
                s.drain(t);
                let Op::Join(job) = self.op(s, t).expect("it joins") else { unreachable!("it joins") };
                if s.places[usize::from(job)] == Place::Done {
                    return goes(s, t, Pc::Run);
                }
                s.waiters[usize::from(job)] = t;
                if s.holds_slot(t) && s.claims.is_empty() && !s.could_be_relieved(self) {
                    s.thread(t).state = WorkerState::Waiting;
                    return goes(s, t, Pc::WaitInSlot);
                }
                s.thread(t).state = WorkerState::Blocked;
                s.lock = t;
                s.release(self, t, t);
                let thread = s.thread(t);
                (thread.why, thread.then) = (Why::Blocks, Pc::SleepBlocked);
                let next = if self.is(Mutant::BlockWithoutCheck) { Pc::SleepBlocked } else { Pc::CheckFence };
                self.unlocks(s, t, next)
            }
            // `Registry::wait_in_slot`: it sleeps for short times.
            Pc::WaitInSlot => {
                let Some(Op::Join(job)) = self.op(s, t) else { unreachable!("it joins") };
                let is_set = s.places[usize::from(job)] == Place::Done;
                if is_locked || !is_set && s.claims.is_empty() && !s.could_be_relieved(self) {
                    return false;
                }
                let thread = s.thread(t);
                (thread.state, thread.token) = (WorkerState::Active, false);
                goes(s, t, if is_set { Pc::Run } else { Pc::JoinLock })
            }
            Pc::Stuck => s.released && goes(s, t, Pc::Run),
            Pc::Resume(waiter) => {
                if is_locked {
                    return false;
                }
                let setter = s.holds_slot(t).then_some(t);
                s.lock = t;
                s.resume(self, t, waiter, setter);
                let then = s.thread(t).then;
                self.unlocks(s, t, then)
            }
            // `Registry::work`, after a job.
            Pc::JobEnd => {
                if s.thread(t).turn {
                    return goes(s, t, Pc::Turn);
                }
                if s.holds_slot(t) {
                    s.begin(self, t, t);
                    return goes(s, t, Pc::Search);
                }
                if is_locked {
                    return false;
                }
                s.thread(t).slot = NONE;
                goes(s, t, Pc::GiveUp)
            }
            Pc::Search | Pc::Turn | Pc::Off => false,
        }
    }

    /// The search has ended.
    fn ends_search(&self, s: &mut State, t: u8, last: bool) -> bool {
        let why = s.thread(t).why;
        if last && !self.is(Mutant::NoFinalCheck) && !(self.is(Mutant::LookBeforeEnd) && why == Why::Parks) {
            return goes(s, t, Pc::CheckFence);
        }
        if last && self.is(Mutant::LookBeforeEnd) {
            let sees = s.thread(t).second;
            return self.checked(s, t, sees);
        }
        if why == Why::Parks { self.unlocks(s, t, Pc::Sleep) } else { returns(s, t) }
    }

    /// The final check has ended, and sees work or not.
    fn checked(&self, s: &mut State, t: u8, sees_work: bool) -> bool {
        let thread = s.thread(t);
        thread.second = false;
        if thread.why != Why::Parks {
            return goes(s, t, if sees_work { Pc::WakeCount } else { Pc::WatchCheck });
        }
        if sees_work && s.occupy_free(self, t, t) {
            return self.unlocks(s, t, Pc::Search);
        }
        s.watch(self);
        self.unlocks(s, t, Pc::Sleep)
    }

    pub(crate) fn op(&self, s: &State, t: u8) -> Option<Op> {
        let Thread { job, op, .. } = s.threads[usize::from(t)];
        let ops = if t == self.outside_number() { self.outside } else { self.jobs.get(usize::from(job))? };
        ops.get(usize::from(op)).copied()
    }

    /// The next operation of the thread's job.
    fn run(&self, s: &mut State, t: u8) -> bool {
        let is_outside = t == self.outside_number();
        let Some(op) = self.op(s, t) else {
            if is_outside {
                return goes(s, t, Pc::Off);
            }
            let job = std::mem::replace(&mut s.thread(t).job, NONE);
            s.thread(t).op = 0;
            return self.set(s, t, job, Pc::JobEnd);
        };
        match op {
            Op::Fork(_) | Op::Inject(_) if s.is_buffered(t) => return false,
            // The latch is set: the join is over. Else the worker waits.
            Op::Join(job) => {
                let place = &mut s.places[usize::from(job)];
                match *place {
                    // Popped, and run on this worker: it is a leaf.
                    Place::PushBuffered(by) | Place::Private(by) | Place::Shared(by) if by == t => {
                        *place = Place::Done;
                    }
                    Place::Done => {}
                    _ => return goes(s, t, Pc::JoinLock),
                }
            }
            _ => {}
        }
        s.thread(t).op += 1;
        match op {
            Op::Fork(job) => {
                s.places[usize::from(job)] = Place::PushBuffered(t);
                goes(s, t, Pc::ForkLimit)
            }
            Op::Inject(job) => {
                s.places[usize::from(job)] = Place::InjectBuffered(t);
                s.thread(t).then = Pc::Run;
                goes(s, t, Pc::NotifyFence)
            }
            Op::Set(job) => self.set(s, t, job, Pc::Run),
            Op::Release => {
                s.released = true;
                true
            }
            Op::Outside => goes(s, t, Pc::Stuck),
            Op::Join(_) | Op::Leaf => true,
        }
    }

    /// Sets a job's latch, and resumes its waiter.
    fn set(&self, s: &mut State, t: u8, job: u8, then: Pc) -> bool {
        s.drain(t);
        s.places[usize::from(job)] = Place::Done;
        s.thread(t).then = then;
        match s.waiters[usize::from(job)] {
            NONE => goes(s, t, then),
            waiter => goes(s, t, Pc::Resume(waiter)),
        }
    }
}

fn goes(s: &mut State, t: u8, pc: Pc) -> bool {
    s.thread(t).pc = pc;
    true
}

fn returns(s: &mut State, t: u8) -> bool {
    let then = s.thread(t).then;
    goes(s, t, then)
}
