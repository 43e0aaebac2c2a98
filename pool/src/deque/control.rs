//! The states of a deque, and its transitions. (What each state means: the crate's `README.md`.)
//!
//! | from | to | when |
//! |---|---|---|
//! | free | active | a worker takes the deque from the unused ones |
//! | active | free | the deque is empty, and its worker mugs another deque |
//! | active | suspended | the task that its worker runs has to wait, and the deque has jobs |
//! | suspended | resumable | the task is woken |
//! | suspended | muggable | the task is dropped, and the deque is listed |
//! | suspended | free | the task is dropped, and the deque is not listed |
//! | resumable | muggable | a thief steals a job; the task stays, perhaps with more jobs |
//! | resumable | free | a thief finds no job, and takes the task |
//! | muggable | active | a thief whose own deque is empty mugs the deque, with the task, if it is still there |
//! | muggable | free | the entry's holder finds no job left, and the task was dropped or taken |
//!
//! A thief whose own deque is not empty may not leave its jobs, so it mugs no deque. Such a thief takes the task of a
//! muggable deque, and leaves the jobs there. If the task is gone, the thief steals a job.
//!
//! # Invariants
//!
//! 1. *One entry.* A `listed` deque has one entry. The entry is in one stealable set, or in the hand of one thread. That
//!    thread puts the entry into a set, or drops it. A deque that is not listed has no entry. Only the thread that has
//!    the entry in its hand mugs the deque or takes its task. So two muggers never meet.
//! 2. Free and active deques are not listed. A suspended deque is listed until a thief settles it and finds it empty. The
//!    deque then needs no entry until its task is woken, because no job is pushed to a suspended deque. Resumable and
//!    muggable deques are listed.
//! 3. The owner's methods of a deque are called by the worker whose active deque it is. The deque changes hands by a
//!    change of this state, under its lock.

use std::mem;

/// The state of a deque. `T` is a task.
#[derive(Debug)]
pub(crate) struct Control<T> {
    state: DequeState<T>,
    listed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DequeState<T> {
    Free,
    Active,
    Suspended,
    /// With its task, which lies at the bottom.
    Resumable(T),
    /// With its task, unless the task was dropped, or taken by a worker whose own deque was not empty.
    Muggable(Option<T>),
}

/// The first action of a thief that holds an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum FirstAction<T> {
    /// The thief owns the deque. It goes on with the task, if there is one.
    Mugged(Option<T>),
    /// The thief steals the oldest job, and [settles](Control::settle).
    Steal,
}

/// The last action of a thief that holds an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Settle<T> {
    /// Put the entry into a set again.
    List,
    /// Drop the entry.
    Forget,
    /// Free the deque, and run the task, if there is one.
    Free(Option<T>),
}

/// The action of the thread that wakes the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum ResumeAction {
    /// Put an entry into a set.
    List,
    /// Nothing: there is an entry.
    Listed,
}

/// The action of the thread that drops the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Orphan {
    Free,
    /// Nothing: there is an entry.
    Listed,
}

impl<T: Copy> Control<T> {
    pub(crate) const fn free() -> Self {
        Control { state: DequeState::Free, listed: false }
    }

    /// Makes the deque a worker's own.
    pub(crate) fn activate(&mut self) {
        debug_assert!(matches!(self.state, DequeState::Free) && !self.listed);
        self.state = DequeState::Active;
    }

    /// Frees the deque, which is empty and was a worker's own.
    pub(crate) fn retire(&mut self) {
        debug_assert!(matches!(self.state, DequeState::Active) && !self.listed);
        self.state = DequeState::Free;
    }

    /// Suspends the deque, because its task waits. The caller, who owns it, puts an entry into a set.
    pub(crate) fn suspend(&mut self) {
        debug_assert!(matches!(self.state, DequeState::Active) && !self.listed);
        (self.state, self.listed) = (DequeState::Suspended, true);
    }

    /// Makes the deque resumable: its task was woken.
    pub(crate) fn resume(&mut self, task: T) -> ResumeAction {
        debug_assert!(matches!(self.state, DequeState::Suspended));
        self.state = DequeState::Resumable(task);
        if mem::replace(&mut self.listed, true) { ResumeAction::Listed } else { ResumeAction::List }
    }

    /// Forgets the suspended task, which was dropped.
    pub(crate) fn orphan(&mut self) -> Orphan {
        debug_assert!(matches!(self.state, DequeState::Suspended));
        if self.listed {
            self.state = DequeState::Muggable(None);
            Orphan::Listed
        } else {
            self.state = DequeState::Free;
            Orphan::Free
        }
    }

    /// Begins a steal. The caller holds the deque's entry.
    pub(crate) fn open(&mut self) -> FirstAction<T> {
        debug_assert!(self.listed);
        match self.state {
            DequeState::Muggable(task) => {
                (self.state, self.listed) = (DequeState::Active, false);
                FirstAction::Mugged(task)
            }
            DequeState::Suspended | DequeState::Resumable(_) => FirstAction::Steal,
            DequeState::Free | DequeState::Active => unreachable!("a deque that is listed waits, or did"),
        }
    }

    /// As [`open`](Self::open), for a thief whose own deque is not empty, so that it mugs none. Returns the task of a
    /// muggable deque, if the task is still there. If this returns `None`, the caller steals the oldest job. The caller
    /// [settles](Self::settle) in both cases.
    pub(crate) fn open_beside(&mut self) -> Option<T> {
        debug_assert!(self.listed);
        match &mut self.state {
            DequeState::Muggable(task) => task.take(),
            DequeState::Suspended | DequeState::Resumable(_) => None,
            DequeState::Free | DequeState::Active => unreachable!("a deque that is listed waits, or did"),
        }
    }

    /// Ends a steal. `stolen` says whether the caller, which holds the entry, has stolen a job; a task from
    /// [`open_beside`](Self::open_beside) does not count. `is_empty` says that no job is left. Also returns whether the
    /// deque was resumable.
    pub(crate) fn settle(&mut self, stolen: bool, is_empty: bool) -> (Settle<T>, bool) {
        debug_assert!(self.listed);
        match self.state {
            DequeState::Suspended if is_empty => {
                self.listed = false;
                (Settle::Forget, false)
            }
            DequeState::Suspended => (Settle::List, false),
            DequeState::Resumable(task) if stolen => {
                self.state = DequeState::Muggable(Some(task));
                (Settle::List, true)
            }
            DequeState::Resumable(task) => {
                (self.state, self.listed) = (DequeState::Free, false);
                (Settle::Free(Some(task)), true)
            }
            // Its task was dropped meanwhile, or taken.
            DequeState::Muggable(_) if is_empty => {
                (self.state, self.listed) = (DequeState::Free, false);
                (Settle::Free(None), false)
            }
            DequeState::Muggable(_) => (Settle::List, false),
            DequeState::Free | DequeState::Active => unreachable!("a deque that is listed waits, or did"),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
