//! Forks in the [trace](crate::trace).
//!
//! While a trace is recorded, a worker [watches](crate::deque::Deque::watch) the pushes of its forks: each push takes the path that
//! otherwise only a request for jobs takes. There the fork is recorded, and the index that the forking frame gets is *marked*. A
//! pop with a marked index fails at the first comparison, as if the job was stolen, and so the join is recorded on the slow path, too.
//! So a fork has no instruction for the trace.
//!
//! A fork costs some 100 ns then, and programs fork every 10 ns. So a worker records only as many forks as it has *tokens* for: it has
//! some thousand, and gets one in 4 us. When they are used up, it records no forks below the depth at which that happened: in
//! the left half of a fork at the deepest recorded level, pushes are not watched. The depth grows again when tokens have gathered.

use super::{Header, Worker};
use crate::sync::latch::Latch;
use crate::sync::ticks::Ticks;
use crate::trace::{self, Kind};
use std::cell::Cell;
use std::ptr::NonNull;

/// The mark of an index whose fork was recorded. No deque holds so many jobs.
const MARK: u64 = 1 << 63;

/// The most tokens.
const TOKENS: u32 = 4096;

/// Time in which a worker gets a token, in us.
const MICROS: u32 = 4;

/// State of a worker's recorded forks.
#[derive(Debug)]
pub(super) struct TracedForks {
    /// Number of recorded forks that are not joined yet.
    open: Cell<u32>,
    /// Number of such forks at which no further one is recorded.
    most: Cell<u32>,
    tokens: Cell<u32>,
    /// Time up to which tokens were given out.
    since: Cell<Ticks>,
}

impl Default for TracedForks {
    fn default() -> Self {
        TracedForks {
            open: Cell::new(0),
            most: Cell::new(u32::MAX),
            tokens: Cell::new(TOKENS),
            since: Cell::new(Ticks::now()),
        }
    }
}

impl TracedForks {
    /// Gives out the tokens of the time that has passed.
    fn refill(&self) {
        let passed = self.since.get().elapsed();
        let more = passed.in_micros() / u64::from(MICROS);
        if more == 0 {
            return;
        }
        self.since.set(Ticks::now());
        let more = u32::try_from(more).unwrap_or(TOKENS);
        self.tokens.set(self.tokens.get().saturating_add(more).min(TOKENS));
    }

    /// Takes a token for a fork, if there is one.
    fn take_token(&self) -> bool {
        if trace::wants_every_fork() {
            return true;
        }
        self.refill();
        let tokens = self.tokens.get();
        self.tokens.set(tokens.saturating_sub(1));
        tokens > 0
    }

    /// Lets forks one level deeper be recorded if many tokens are left.
    fn deepen(&self) {
        self.refill();
        if trace::wants_every_fork() || self.tokens.get() > TOKENS / 2 {
            self.most.set(self.most.get().max(self.open.get().saturating_add(2)));
        }
    }
}

impl Worker {
    /// Watches pushes if a trace is recorded. Called when the worker begins a job or a call, and when it looks up.
    pub(crate) fn watch_forks(&self) {
        let watches = trace::is_on() && !trace::leaves_out();
        // SAFETY: this thread is the owner.
        unsafe { self.forks.watch(watches) };
    }

    /// Records a fork that was just pushed, if a trace is recorded and there is a token for it. Returns its index, marked if so.
    pub(super) fn record_fork(&self, index: u64, job: NonNull<Header>) -> u64 {
        let traced = &self.traced;
        if !trace::is_on() || trace::leaves_out() {
            self.watch_forks();
            return index;
        }
        let open = traced.open.get();
        // A fork that is in no recorded one takes a token if there is one, and is recorded in any case: else no join would be the
        // moment at which to go on.
        let has_token = traced.take_token();
        if open > 0 && !(has_token && open < traced.most.get()) {
            traced.most.set(open.min(traced.most.get()));
            trace::set_leaves_out(true);
            self.watch_forks();
            return index;
        }
        trace::record(Kind::Fork, job.addr().get() as u64);
        traced.open.set(open + 1);
        if open + 1 >= traced.most.get() {
            trace::set_leaves_out(true);
        }
        self.watch_forks();
        index | MARK
    }

    /// Pops a fork whose pop has failed, if it was only for the mark. Returns whether the fork is the caller's again.
    ///
    /// # Safety
    ///
    /// As for [`pop_fork`](Self::pop_fork).
    #[cold]
    pub(super) unsafe fn pop_recorded(&self, index: u64, job: NonNull<Header>) -> bool {
        if index & MARK == 0 {
            return false;
        }
        // SAFETY: the caller's.
        let popped = unsafe { self.forks.pop(index & !MARK) };
        let traced = &self.traced;
        traced.open.set(traced.open.get().saturating_sub(1));
        trace::set_leaves_out(false);
        traced.deepen();
        self.watch_forks();
        trace::record(if popped { Kind::Right } else { Kind::Stolen }, job.addr().get() as u64);
        popped
    }

    /// As [`pop_recorded`](Self::pop_recorded), for a caller that marks the right half by [`trace::right`].
    ///
    /// # Safety
    ///
    /// As for [`pop_fork`](Self::pop_fork).
    #[cold]
    pub(super) unsafe fn take_back_recorded(&self, index: u64, job: NonNull<Header>) -> bool {
        // SAFETY: the caller's.
        let popped = unsafe { self.pop_recorded(index, job) };
        if popped {
            trace::set_right(job.addr().get() as u64);
        }
        popped
    }

    /// Joins a fork of a frame whose pop has failed: runs the right half if it was not stolen, and waits for its end otherwise.
    /// Then the latch is set.
    ///
    /// # Safety
    ///
    /// As for [`pop_fork`](Self::pop_fork). The job is that of the fork of this index, and the latch is the job's.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn join_slowly(&self, index: u64, job: NonNull<Header>, latch: &Latch) {
        // SAFETY: the caller's.
        if unsafe { self.pop_recorded(index, job) } {
            // SAFETY: it has left the deque unrun, and is not used again before the latch is set.
            unsafe { super::JobRef::new(job, self).run(self) };
            trace::record(Kind::Joined, job.addr().get() as u64);
        } else {
            self.wait_for(latch);
        }
    }
}
