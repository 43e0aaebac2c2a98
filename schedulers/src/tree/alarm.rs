//! The alarm, which stops a call while its tasks wait. Tokens and a deadline set it off, without a task.
//!
//! A task that waited for the token would be queued after the tasks that were woken before, and these are the tasks
//! that it is to stop. So the token, or the timer, has the alarm as its waker. The alarm [stops](Stopper) the call's
//! tasks at once, on the waking thread.
//!
//! ```text
//!   token.cancel() ──┐ wake                    ┌─> flag, read before every poll and every fold
//!   timer ───────────┴──────> Alarm ── stop ───┤
//!                                              └─> a worker drops suspended tasks
//! ```
//!
//! # Invariants
//!
//! 1. *No stop without a reason.* A waker may be called without a reason. So the alarm looks at the token and at the clock.
//! 2. *No cycle.* The alarm owns futures that have the alarm as their waker. They are dropped when the call ends, or when they are
//!    ready.
//! 3. *Late timers.* The thread of the timers may be busy. So tasks that go on look at the clock, too: [`is_due`](Alarm::is_due).

use crate::policy::{StopSignals, Stopped};
use furcate_pool::detach::Stopper;
use furcate_pool::sync::clock;
use furcate_pool::sync::machine::{Mutex, MutexGuard};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Instant;

/// Stops the tasks of a call when the first of its signals comes.
#[derive(Debug)]
pub(crate) struct Alarm {
    stopper: Stopper,
    deadline: Option<Instant>,
    /// `None` once it is ready, or the call is over.
    stopped: Mutex<Option<Stopped>>,
}

impl Alarm {
    /// Sets an alarm. It goes off at once if one of the signals has come already.
    pub(crate) fn set(signals: StopSignals, stopper: Stopper) -> Arc<Self> {
        let deadline = signals.first_deadline();
        let alarm = Arc::new(Alarm { stopper, deadline, stopped: Mutex::new(Some(signals.wait())) });
        alarm.look();
        alarm
    }

    /// Whether the deadline has passed. (Tokens wake the alarm, and are never late.)
    fn is_due(&self) -> bool {
        self.deadline.is_some_and(|at| clock::now() >= at)
    }

    /// If the deadline is over, stops the tasks and returns `true`.
    pub(crate) fn rings_if_due(&self) -> bool {
        let is_due = self.is_due();
        if is_due {
            self.ring();
        }
        is_due
    }

    /// Stops the tasks.
    fn ring(&self) {
        self.stopper.stop();
    }

    /// Whether the alarm was the first to stop the tasks. Exact when the call's tasks are gone.
    pub(crate) fn has_rung(&self) -> bool {
        self.stopper.has_stopped()
    }

    /// Looks for a signal (invariant 1).
    fn look(self: &Arc<Self>) {
        let ready = {
            let mut stopped = self.lock();
            let Some(waiting) = &mut *stopped else { return };
            let waker = Waker::from(Arc::clone(self));
            if Pin::new(waiting).poll(&mut Context::from_waker(&waker)).is_pending() {
                return;
            }
            stopped.take()
        };
        self.ring();
        // Without the lock: it has wakers.
        drop(ready);
    }

    /// Ends the alarm with the call (invariant 2).
    pub(crate) fn switch_off(&self) {
        let stopped = self.lock().take();
        drop(stopped);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Stopped>> {
        self.stopped.lock().expect("nobody panics with this lock")
    }
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.look();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.look();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::policy::CancelToken;
    use std::time::Duration;

    fn signals(token: &CancelToken, at: Option<Instant>) -> StopSignals {
        let mut signals = StopSignals::default();
        signals.token(token);
        at.into_iter().for_each(|at| signals.deadline(at));
        signals
    }

    /// References to the alarm: this test's, and the token's until the alarm is switched off.
    #[test]
    fn an_alarm_that_is_switched_off_is_known_to_nobody() {
        let token = CancelToken::new();
        let alarm = Alarm::set(signals(&token, None), Stopper::default());
        assert!(Arc::strong_count(&alarm) > 1);
        alarm.switch_off();
        assert_eq!(Arc::strong_count(&alarm), 1);
        token.cancel();
        let alarm = Alarm::set(signals(&token, None), Stopper::default());
        assert_eq!(Arc::strong_count(&alarm), 1, "it has gone off");
    }

    #[test]
    fn a_wake_for_nothing_is_no_stop() {
        let token = CancelToken::new();
        let alarm = Alarm::set(signals(&token, None), Stopper::default());
        Arc::clone(&alarm).wake();
        assert!(alarm.lock().is_some());
        token.cancel();
        assert!(alarm.lock().is_none());
    }

    #[test]
    fn a_deadline_is_due_whatever_the_timer_does() {
        let at = |at| Alarm::set(signals(&CancelToken::new(), Some(at)), Stopper::default());
        assert!(at(clock::now()).is_due());
        assert!(!at(clock::now() + Duration::from_secs(3600)).is_due());
    }
}
