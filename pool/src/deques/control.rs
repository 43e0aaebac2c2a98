//! A deque's state, and who may make it another one.
//!
//! ```text
//!                       taken from those that are free
//!   FREE ────────────────────────────────────────────────────────────> ACTIVE ──┐ a worker's own
//!    ^ ^                                                               │     ^  │
//!    │ │ the task was dropped, nothing else in it      its task waits, │     │  │ empty, and its worker has
//!    │ └──────────────────────────────────────────┐  and it is         │     │  │ mugged another one
//!    │                                            │  not empty         v     │  │
//!    │ a thief takes its task, the last it had    └─────────────── SUSPENDED │  │
//!    │                                                      task woken │   │ │  │
//!    ├──────────────────────────────────────────── RESUMABLE <─────────┘   │ │  │
//!    │                                              │ a thief takes a job,  │ │  │
//!    │                                              v and leaves a rest     │ │  │
//!    │                                             MUGGABLE <───────────────┘ │  │
//!    │                                              │ task dropped            │  │
//!    │                                              └────────────────────────┘  │
//!    └───────────────────────────────────────────────mugged─────────────────────┘
//! ```
//!
//! A thief that has a deque of its own, with jobs that it may not leave, mugs none: it takes the task of one that is muggable, and
//! leaves the rest so.
//!
//! # Invariants
//!
//! 1. *One entry.* What is `listed` has one entry, which is in one stealable set, or in the hand of the one thread that has taken
//!    it from there and will settle it. What is not listed has none. So nobody else takes a listed deque's task, and two muggers
//!    never meet.
//! 2. An active deque is not listed. A suspended one is, unless it was found empty: nothing is pushed to it any more.
//!    Resumable and muggable ones are.
//! 3. Its owner's side is used by the worker whose active deque it is. It changes hands through this state, under its lock.

use std::mem;

/// The state. `T` is a task.
#[derive(Debug)]
pub(crate) struct Control<T> {
    state: State<T>,
    listed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State<T> {
    Free,
    Active,
    Suspended,
    /// With its task, at its bottom.
    Resumable(T),
    /// With its task, unless that was dropped, or taken by a worker that had a deque of its own.
    Muggable(Option<T>),
}

/// What a thief that has an entry in its hand does first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Open<T> {
    /// The deque is its own: it goes on with the task, if there is one.
    Mugged(Option<T>),
    /// It steals the oldest job, and [settles](Control::settle).
    Steal,
}

/// What such a thief does at last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Settle<T> {
    /// It puts the entry in a set again.
    List,
    /// It forgets it.
    Forget,
    /// It frees the deque, and runs that task, if there is one.
    Free(Option<T>),
}

/// What who wakes the task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Resume {
    /// It puts an entry in a set.
    List,
    /// There is an entry.
    Listed,
}

/// What who drops the task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Orphan {
    Free,
    /// There is an entry.
    Listed,
}

impl<T: Copy> Control<T> {
    pub(super) const fn free() -> Self {
        Control { state: State::Free, listed: false }
    }

    /// It becomes a worker's own.
    pub(super) fn activate(&mut self) {
        debug_assert!(matches!(self.state, State::Free) && !self.listed);
        self.state = State::Active;
    }

    /// It is empty, and no worker's any more.
    pub(super) fn retire(&mut self) {
        debug_assert!(matches!(self.state, State::Active) && !self.listed);
        self.state = State::Free;
    }

    /// Its task waits. The caller, whose it is, puts an entry in a set.
    pub(super) fn suspend(&mut self) {
        debug_assert!(matches!(self.state, State::Active) && !self.listed);
        (self.state, self.listed) = (State::Suspended, true);
    }

    /// Its task was woken.
    pub(super) fn resume(&mut self, task: T) -> Resume {
        debug_assert!(matches!(self.state, State::Suspended));
        self.state = State::Resumable(task);
        if mem::replace(&mut self.listed, true) { Resume::Listed } else { Resume::List }
    }

    /// Its task, which waited, is no more.
    pub(super) fn orphan(&mut self) -> Orphan {
        debug_assert!(matches!(self.state, State::Suspended));
        if self.listed {
            self.state = State::Muggable(None);
            Orphan::Listed
        } else {
            self.state = State::Free;
            Orphan::Free
        }
    }

    /// The caller has its entry.
    pub(super) fn open(&mut self) -> Open<T> {
        debug_assert!(self.listed);
        match self.state {
            State::Muggable(task) => {
                (self.state, self.listed) = (State::Active, false);
                Open::Mugged(task)
            }
            State::Suspended | State::Resumable(_) => Open::Steal,
            State::Free | State::Active => unreachable!("a deque that is listed waits, or did"),
        }
    }

    /// As [`open`](Self::open), for who has a deque that is not empty, and so mugs none: of what could be mugged the caller takes
    /// the task, if there is one, and leaves the rest; else it steals. In both cases it [settles](Self::settle).
    pub(super) fn open_beside(&mut self) -> Option<T> {
        debug_assert!(self.listed);
        match &mut self.state {
            State::Muggable(task) => task.take(),
            State::Suspended | State::Resumable(_) => None,
            State::Free | State::Active => unreachable!("a deque that is listed waits, or did"),
        }
    }

    /// The caller has its entry, and has stolen a job, or found none. Also says whether that was from a resumable deque.
    pub(super) fn settle(&mut self, stolen: bool, is_empty: bool) -> (Settle<T>, bool) {
        debug_assert!(self.listed);
        match self.state {
            State::Suspended if is_empty => {
                self.listed = false;
                (Settle::Forget, false)
            }
            State::Suspended => (Settle::List, false),
            State::Resumable(task) if stolen => {
                self.state = State::Muggable(Some(task));
                (Settle::List, true)
            }
            State::Resumable(task) => {
                (self.state, self.listed) = (State::Free, false);
                (Settle::Free(Some(task)), true)
            }
            // Its task was dropped meanwhile, or taken.
            State::Muggable(_) if is_empty => {
                (self.state, self.listed) = (State::Free, false);
                (Settle::Free(None), false)
            }
            State::Muggable(_) => (Settle::List, false),
            State::Free | State::Active => unreachable!("a deque that is listed waits, or did"),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
