//! A pool's part of a [dump](crate::trace::dump): who waits for what.

use super::Registry;
use crate::engine::stats::WorkerStats;
use crate::engine::worker::{Awaited, Worker};
use crate::slots::WorkerState;
use crate::sync::machine::atomic::Ordering::Relaxed;
use crate::trace;
use std::fmt::{self, Write};
use std::time::Duration;

impl Registry {
    /// Writes what is queued, and a line for each worker that runs, waits or sleeps. A snapshot, taken while the pool goes on.
    pub(super) fn write_dump(&self, out: &mut String) -> fmt::Result {
        // Suspended and not resumed. (No lock is waited for here: a thread that hangs may hold it.) A task may be suspended by one worker and
        // resumed by another one while the counters are read, so that only the resumption is seen.
        let suspended = |counters: WorkerStats| {
            counters.suspensions.wrapping_sub(counters.resumes + counters.cancelled) as i64
        };
        let of_workers = self.slots.workers().map(|worker| suspended(worker.stats()));
        let suspended = of_workers.fold(suspended(self.outside.read()), i64::wrapping_add).max(0);
        let unended = self.pending.get().saturating_sub(usize::from(!self.is_ending.load(Relaxed)));
        writeln!(
            out,
            "pool of {} threads; urgent jobs: {}, background jobs: {}, jobs from outside: {}, woken tasks and suspended deques: {}, tasks that wait or are woken: {suspended}, \
             spawned jobs and futures: {unended}",
            self.num_threads(),
            self.urgent.len(),
            self.background.len(),
            self.injector.len(),
            self.stealable.total_len(),
        )?;
        let locked = (0..100).find_map(|_| {
            self.slots.try_lock().or_else(|| {
                crate::sync::machine::thread::sleep(Duration::from_millis(1));
                None
            })
        });
        let states: Vec<_> =
            self.slots.workers().map(|worker| (worker, locked.as_ref().map(|l| l.state(worker)))).collect();
        drop(locked);
        for (worker, state) in states {
            let awaited = worker.awaited();
            let is_idle = worker.slot().is_none() && matches!(state, None | Some(WorkerState::Active));
            // An external thread outside of calls, or a thread that has not begun.
            if is_idle && awaited == Awaited::Nothing {
                continue;
            }
            self.write_worker(out, worker, state, awaited)?;
        }
        Ok(())
    }

    fn write_worker(
        &self,
        out: &mut String,
        worker: &Worker,
        state: Option<WorkerState>,
        awaited: Awaited,
    ) -> fmt::Result {
        write!(out, "  {}", self.name_of(worker.number()))?;
        // A caller that waits for its first slot has not said yet which thread it is.
        let is_known = !worker.is_external() || worker.slot().is_some() || awaited != Awaited::Nothing;
        let thread = worker.clock.thread().filter(|_| is_known);
        if let Some(thread) = thread {
            write!(out, ", thread {thread}")?;
        }
        match worker.slot() {
            Some(slot) if self.holds_slot(worker) => write!(out, ", in slot {slot}: ")?,
            Some(slot) => write!(out, ", whose slot {slot} was taken over: ")?,
            None => out.write_str(", without a slot: ")?,
        }
        match awaited {
            Awaited::Nothing => {}
            Awaited::Half(Some(thief)) => {
                write!(out, "waits for the half of a join that {} has stolen", self.name_of(thief))?
            }
            Awaited::Half(None) => out.write_str("waits for the half of a join that was stolen")?,
            Awaited::Scope(scope) => write!(out, "waits for the jobs of scope {scope}")?,
            Awaited::Future => out.write_str("waits for a future, in `block_on`")?,
            Awaited::Others => out.write_str("waits for threads of another pool, or for a broadcast")?,
        }
        // The thread that the signal has interrupted sleeps until this text is written.
        let is_blocked = || thread != trace::interrupted_thread() && worker.clock.sleeps() == Some(true);
        out.write_str(match (state, awaited) {
            (Some(WorkerState::Active), Awaited::Nothing) if is_blocked() => {
                "runs a job whose thread sleeps: on a lock, or in a system call"
            }
            (Some(WorkerState::Active), Awaited::Nothing) => "runs a job, or looks for one",
            (Some(WorkerState::Active), _) if is_blocked() => {
                "; meanwhile runs a job whose thread sleeps: on a lock, or in a system call"
            }
            (Some(WorkerState::Active), _) => "; meanwhile runs a job, or looks for one",
            (Some(WorkerState::TimedSearch), _) => "has found no job, and looks again in short intervals",
            (Some(WorkerState::Parked), _) => "parked, has nothing to do",
            (Some(WorkerState::Watching), _) => "watches the queues",
            (Some(WorkerState::Blocked), Awaited::Nothing) => "waits for a slot",
            (Some(WorkerState::Blocked | WorkerState::Waiting), _) => "",
            (None, _) => " (its state is not known: another thread holds the pool's lock)",
        })?;
        if worker.has_jobs() {
            out.write_str("; has jobs that others can steal")?;
        }
        out.write_char('\n')
    }

    /// Returns the words for a worker.
    fn name_of(&self, number: usize) -> String {
        match number.checked_sub(self.first_external) {
            Some(caller) => format!("caller {caller} from outside"),
            None => format!("worker {number}"),
        }
    }
}
