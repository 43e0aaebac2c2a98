//! A specification of the pool's sleep protocol, which a model checker ([stateright]) explores whole.
//!
//! Loom explores the lock-free parts one by one (`pool/src/slots/models.rs`, `searching/models`), and the simulator (`sim/`) runs the
//! whole pool under some schedules. The protocol of slots, searches, final checks and the monitor is larger than loom's models, and its
//! states are more than the schedules of a simulation. Here it is a state machine of small numbers, and the checker visits *every* state.
//!
//! # What stands for what
//!
//! A [`State`] has the fields of `SlotTable`, `Slots` and `Searching` under the same names. A critical section of the slot lock is one
//! step, unless other threads can see its middle without the lock. What the lock-free parts load and store, each in a step of its own:
//!
//! | step (`Pc`) | function of the pool |
//! |---|---|
//! | `Sleep`, `Nap`, `SleepBlocked`, `WaitInSlot` | `Registry::park`, `timed_search`, `sleep_blocked` and `wait_for_slot`, `wait_in_slot` |
//! | `Search`; [`Action::Take`], [`Action::Request`] | `Worker::search`: `Deque::steal`, `steal_private`, `request_split_once`, `Injector::steal` |
//! | `GiveUp` | `Registry::sleep_until_needed` |
//! | `End1`, `End2` | `Searching::end`: the group, then `count` |
//! | `CheckFence`, `CheckCount`, `CheckFree`, `Look`, `Split`, `HeavyFence` | `Slots::final_check`, `Searching::final_check`, `Registry::sees_work` |
//! | `NotifyFence`, `NotifyCount`, `WakeTimed` | `Searching::notify` |
//! | `WakeCount`, `WakeFree`, `WakeLock` | `Registry::wake_if_none_searches`, `Locked::wake_searcher` |
//! | `WatchCheck`, `WatchLock`, `StopLook`; [`Action::Quiet`], [`Action::Watchdog`], [`Action::WatchdogQuiet`] | `Registry::watch_if_needed`, `watch`, `stop_watching`, `look_after` |
//! | `ForkLimit`, `Publish`, `ShareCount`, `Cooperate` | `Deque::push` and `publish`, `Registry::share`, `give_slot` |
//! | `JoinLock` | `Registry::block` |
//! | `Resume` | `Registry::resume` |
//! | `JobEnd` | `Registry::work`, after a job |
//! | `Turn`; [`Action::TakeOver`] | `run_queued`, `Locked::end_turn`; `ask_for_slot`, `replace_stuck`, `take_slot_over` |
//!
//! # What is abstracted
//!
//! - *Memory.* A push or an injection is a store that stays in its thread's store buffer (one store for each thread) until any later moment,
//!   the thread's next fence, lock or latch, or a heavy fence of another thread. Other accesses are sequentially consistent. So the two pairs of
//!   fences are modelled, and no other weak ordering is.
//! - *Time.* A sleep with a time-out may end at any moment, and a search may end at any moment, whether it has found something or not. A
//!   thread that is overdue, or a queue, is so at any moment. A parked thread sleeps until it is woken.
//! - *Deques.* A pop, a steal and a steal of a private job are one step each: `pool/src/deque/models` has their parts. A stolen fork and a popped one
//!   are leaves, so a worker has one job at a time.
//! - *Left out of threads and slots:* external threads with slots, loans, the order of the line of overdue threads, cooperative points other than
//!   pushes, the attendant, and the end of the pool.
//! - *Left out of jobs:* broadcasts, spawn deques, woken tasks' own sets, and young calls.
//! - *Left out of wake-ups:* long sleepers, `wake_more`, the look at a worker's own group, the claim of the timed searcher, and wake-ups ahead.
//! - *Left out of blocked workers:* wake-ups at the bound on threads (`wake_blocked`, `all_wait`).
//! - *Left out of the choice of a worker to wake:* processors.
//! - *Size.* Turns are explored with one slot. With two slots and three workers, the checker did not end within 50 s.
//! - *No liveness.* A state in which no thread can do a step is checked. A cycle in which threads look at each other for ever is not.

mod properties;
mod state;
mod steps;

pub use properties::REACHED;
pub use state::State;
pub use steps::Action;

use stateright::{Model, Property};

/// An operation of a job, or of the thread outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Pushes a fork on the worker's deque. Workers only.
    Fork(u8),
    /// Pops the fork and runs it, or waits for its latch.
    Join(u8),
    /// Queues a job.
    Inject(u8),
    /// Computes for any time.
    Leaf,
    /// Blocks outside the pool until [`Release`](Self::Release).
    Outside,
    /// Ends all waits outside the pool.
    Release,
    /// Sets the latch of a job that only this thread runs. The thread outside only.
    Set(u8),
}

/// A fault in the protocol, which the checker must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutant {
    /// The last searching worker does no final check.
    NoFinalCheck,
    /// A publisher reads the count of searching workers without a fence before.
    NoPublisherFence,
    /// `Searching::end` decrements the count before the group.
    CountBeforeGroup,
    /// `park_searcher` looks for work before its search ends.
    LookBeforeEnd,
    /// The final check requests no splits.
    NoSplit,
    /// The final check passes no heavy fence.
    NoHeavyFence,
    /// `Locked::resume` makes no claim for a waiter that gets no slot.
    ResumeWithoutClaim,
    /// `Locked::wake_searcher` does not look again whether a worker searches.
    WakeWithoutLook,
    /// A worker that blocks and gives its slot does no final check.
    BlockWithoutCheck,
    /// A watcher that stops does not look once more.
    StopWithoutLook,
    /// `Locked::give_turn` makes no claim.
    GiveWithoutClaim,
    /// No thread watches queued jobs.
    NoWatch,
    /// `replace_holder` does not put the former holder on the shelf.
    TakeOverWithoutShelf,
}

/// A pool, the jobs that run on it, and the thread outside.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Number of slots: 1 or 2.
    pub slots: u8,
    /// Number of workers that are parked at the begin. With more workers than slots, the pool has spare threads.
    pub parked: u8,
    /// Number of workers whose threads can be started.
    pub spares: u8,
    /// Number of groups of searching workers: 0 (no groups), 1 or 2.
    pub groups: u8,
    /// Whether a worker becomes the timed searcher.
    pub timed: bool,
    /// The operations of each job.
    pub jobs: &'static [&'static [Op]],
    /// The operations of the thread outside.
    pub outside: &'static [Op],
    /// The fault, if there is one.
    pub mutant: Option<Mutant>,
}

impl Spec {
    /// Returns this pool with a fault.
    #[must_use]
    pub fn with(self, mutant: Mutant) -> Self {
        Spec { mutant: Some(mutant), ..self }
    }
}

impl Model for Spec {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![self.initial()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        self.candidates(state, actions);
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        self.step(before, action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::properties()
    }
}
