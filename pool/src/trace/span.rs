//! Spans of the crate `tracing` (feature `tracing`): the jobs of a call run inside the span in which the call was made.
//!
//! | work | where the span is kept | entered |
//! |---|---|---|
//! | jobs, tasks and detached parts of a scope, calls that are handed over, spawned futures | beside the call's [runtime](crate::engine::settings::runtime) | once for each run of a job, each poll of a task |
//! | jobs of [`spawn`](crate::spawn()) | in the job | once |
//! | right halves of a chain's forks | in the state that the whole call shares | if the half was stolen |
//! | halves of `join` | nowhere | never |
//!
//! A fork keeps no span, so its cost is the same. That is why a half of `join` is not in one: to know the current span, a fork would ask the
//! subscriber, which takes longer than the fork.
//!
//! # Invariants
//!
//! 1. A guard is dropped by the thread that has made it, before the job's last count arrives. So the value that it borrows is there, and the call is not over
//!    while a job of it is in the span.
//! 2. A thread that runs a job on top of a frame that waits is in that frame's span, too. A job of a call with a span is in its own span, as the
//!    innermost one. (Exception: a fork of the waiting thread itself, which it takes back while it waits.)
//! 3. Without the feature, both types have no size and no drop.
//! 4. *A subscriber that panics* stops no job. The panic is caught here, and the job runs outside the span: counts of jobs depend on code around
//!    these calls.

#[cfg(feature = "tracing")]
use crate::quiet_drop::{ask, drop_quietly};
use std::marker::PhantomData;

/// The span of a call, or none.
#[derive(Debug, Default)]
pub struct CallSpan {
    #[cfg(feature = "tracing")]
    span: Option<tracing::Span>,
}

/// Guard of a thread that has entered a call's span. Its drop leaves the span.
#[derive(Debug)]
#[must_use = "the span is left at once"]
pub struct InSpan<'s> {
    #[cfg(feature = "tracing")]
    guard: Option<tracing::span::Entered<'s>>,
    _span: PhantomData<&'s CallSpan>,
}

#[cfg(not(feature = "tracing"))]
const _: () = assert!(size_of::<CallSpan>() + size_of::<InSpan<'_>>() == 0, "invariant 3");

impl CallSpan {
    /// Returns the span that this thread is in.
    #[inline]
    #[must_use]
    pub fn current() -> Self {
        CallSpan {
            #[cfg(feature = "tracing")]
            span: ask(tracing::Span::current).filter(|span| !span.is_none()),
        }
    }

    /// Whether there is a span.
    pub(crate) fn is_some(&self) -> bool {
        #[cfg(feature = "tracing")]
        return self.span.is_some();
        #[cfg(not(feature = "tracing"))]
        false
    }

    /// Has this thread enter the span, if there is one.
    #[inline]
    pub fn enter(&self) -> InSpan<'_> {
        InSpan {
            #[cfg(feature = "tracing")]
            guard: self.span.as_ref().and_then(|span| ask(|| span.enter())),
            _span: PhantomData,
        }
    }

    /// Calls `f` in the span, and gives the span up.
    pub(crate) fn run<R>(self, f: impl FnOnce() -> R) -> R {
        let _in_span = self.enter();
        f()
    }
}

#[cfg(feature = "tracing")]
impl Drop for CallSpan {
    fn drop(&mut self) {
        drop_quietly(self.span.take());
    }
}

#[cfg(feature = "tracing")]
impl Drop for InSpan<'_> {
    fn drop(&mut self) {
        drop_quietly(self.guard.take());
    }
}
