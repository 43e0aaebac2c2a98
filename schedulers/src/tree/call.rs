//! State that all tasks of one call share: whether one of them has panicked, and whether the call was stopped.
//!
//! After a panic the call's result is lost, so tasks that have not begun do not begin. The rest of the call ends soon.

use crate::policy::StopSignals;
use crate::tree::alarm::Alarm;
use crate::{Reduction, Workload};
use furcate_pool::detach::Stopper;
use furcate_pool::sync::machine::OnceLock;
use furcate_pool::sync::machine::atomic::{AtomicBool, Ordering::Relaxed};
use furcate_pool::trace::{CallSpan, InSpan};
use furcate_pool::{Context, Executor};
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::sync::Arc;

/// One run of a scheduler. It lies in the frame that waits for it.
#[derive(Debug, Default)]
pub(crate) struct Call {
    /// Number of the executor's threads, for [`Join`](crate::Join) and schedulers of parts; 0 in greedy calls.
    pub(crate) threads: usize,
    /// Whether the call counts as one from outside the executor: see [`is_from_outside`].
    pub(crate) from_outside: bool,
    /// The span of the call, for the schedulers with a number of threads. (A scope keeps the span of its parts itself.)
    span: CallSpan,
    failed: AtomicBool,
    /// Stops the suspended tasks; unset if the call has no signals that may stop it.
    alarm: OnceLock<Arc<Alarm>>,
    /// Whether an item was left out because its task was cancelled.
    left_out: AtomicBool,
}

/// Whether a call counts as one from outside, which [`Auto`](crate::policy::Auto) divides into more parts. On one thread, what
/// [gathers](Reduction::GATHERS) its items would only copy them once more.
#[inline]
pub(crate) fn is_from_outside<W: Workload>(executor: &impl Executor) -> bool {
    !(executor.is_entered() || (W::Reduction::GATHERS && executor.num_threads() == 1))
}

impl Call {
    /// Makes a call on so many threads, whose tasks cannot be suspended. So it has no alarm, and there is nothing to drop. (With a drop a
    /// nested call is not inlined, and takes a third more.)
    #[inline]
    pub(crate) fn on_threads(threads: usize, from_outside: bool) -> OnThreads {
        let mut call = Call::new(from_outside);
        call.threads = threads;
        call.span = CallSpan::current();
        OnThreads(ManuallyDrop::new(call))
    }

    /// Makes a call whose tasks may be suspended.
    #[inline]
    pub(crate) fn new(from_outside: bool) -> Self {
        let mut call = Call::default();
        call.from_outside = from_outside;
        call
    }

    /// Has this thread enter the call's span, if the part that it begins was stolen. The other parts run where the span is entered.
    #[inline]
    pub(crate) fn enter_span(&self, context: Context) -> Option<InSpan<'_>> {
        context.migrated().then(|| self.span.enter())
    }

    /// Whether a task has panicked. Relaxed, here and below: a hint, since the executor brings the panic itself to the caller.
    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Relaxed)
    }

    /// Runs a part of the call; if it unwinds, the call has failed.
    #[inline]
    pub(crate) fn watch<R>(&self, part: impl FnOnce() -> R) -> R {
        struct Unwinding<'c>(&'c Call);
        impl Drop for Unwinding<'_> {
            fn drop(&mut self) {
                self.0.failed.store(true, Relaxed);
            }
        }
        let unwinding = Unwinding(self);
        let result = part();
        mem::forget(unwinding);
        result
    }

    /// Makes the first of the signals stop the call's tasks, until the call is over. Called once.
    pub(crate) fn stop_on(&self, signals: StopSignals, stopper: Stopper) {
        if !signals.is_empty() {
            self.alarm.get_or_init(|| Alarm::set(signals, stopper));
        }
    }

    /// Whether the deadline is over. If so, the call's tasks are stopped, whether the timer has noticed or not.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        // Most calls have no alarm.
        self.alarm.get().is_some_and(|alarm| alarm.rings_if_due())
    }

    /// Records that an item is left out because its task was cancelled.
    pub(crate) fn leave_out(&self) {
        // Relaxed: the flag is read when all tasks have ended, which orders the two. Read before it is written, so that
        // of many tasks that are dropped at once only one writes.
        if !self.left_out.load(Relaxed) {
            self.left_out.store(true, Relaxed);
        }
    }

    /// Whether an output may lack items, because a task has panicked or was cancelled. (A panic in a suspended future is known to the
    /// executor, which cancels the other tasks.)
    ///
    /// Relaxed is enough for the thread that holds an output which lacks items. The task that left them out has read or written `true`. Then it
    /// put its output under the lock of a join node, where the thread has taken it. The lock orders the two accesses, so the thread reads
    /// `true`, too.
    pub(crate) fn may_lack_items(&self) -> bool {
        self.has_failed() || self.left_out.load(Relaxed)
    }

    /// Whether items were left out because a signal came. If not, the call's result is that of all items. Called when all tasks have
    /// ended.
    pub(crate) fn was_stopped(&self) -> bool {
        self.left_out.load(Relaxed) && self.alarm.get().is_some_and(|alarm| alarm.has_rung())
    }
}

/// A call of which only the span is dropped.
#[derive(Debug)]
pub(crate) struct OnThreads(ManuallyDrop<Call>);

impl Deref for OnThreads {
    type Target = Call;

    #[inline]
    fn deref(&self) -> &Call {
        &self.0
    }
}

#[cfg(feature = "tracing")]
impl Drop for OnThreads {
    fn drop(&mut self) {
        self.0.span = CallSpan::default();
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(alarm) = self.alarm.get() {
            alarm.switch_off();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn only_unwinding_fails() {
        let call = Call::default();
        assert_eq!(call.watch(|| 1), 1);
        assert!(!call.has_failed());
        let caught = catch_unwind(AssertUnwindSafe(|| call.watch(|| panic!("once"))));
        assert!(caught.is_err() && call.has_failed());
    }
}
