//! The tokio runtime of a pool or of a call, and the call's [span](crate::trace::CallSpan): its jobs enter both.
//!
//! Futures of tokio, and of libraries built on it, look for their runtime in the thread that polls, makes or drops
//! them. A runtime can be named in two ways:
//!
//! - *By a pool* that was [built with one](crate::ThreadPoolBuilder::tokio). Its threads have entered that runtime all
//!   the time.
//! - *By a call*: a scope, a spawned future, or `install`. In a pool that was built without a runtime, the call keeps
//!   the runtime that its caller has entered, if there is one. Every job of the call enters that runtime on the worker
//!   that runs it: once for each run of a task, a part or a spawned job, not once for each poll.
//!
//! Cost: a look at a thread-local for each call; if a runtime is found, 20 ns for each of those jobs. Without the
//! feature `tokio` there is no cost.

#[cfg(feature = "tokio")]
use crate::quiet_drop::{ask, drop_quietly};
use crate::trace::{CallSpan, InSpan};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;
#[cfg(feature = "tokio")]
use tokio::runtime::{EnterGuard, Handle};

/// A runtime, or none; and a span, or none. A pool's own has no span.
#[derive(Default)]
pub(crate) struct Runtime {
    #[cfg(feature = "tokio")]
    handle: Option<Handle>,
    span: CallSpan,
}

/// Guard of a thread that has entered the runtime and the span, if there are any. Its drop leaves both.
///
/// Neither entering nor leaving unwinds, since counts of jobs depend on code around them. Tokio's guard panics in its drop if a job has
/// forgotten another one, and tokio enters nothing in a thread that ends.
pub(crate) struct Entered<'r> {
    #[cfg(feature = "tokio")]
    guard: Option<EnterGuard<'r>>,
    _span: InSpan<'r>,
}

impl Entered<'_> {
    /// Leaves both. Without the features `tokio` and `tracing` there is nothing to leave.
    #[inline]
    pub(crate) fn leave(self) {}
}

#[cfg(feature = "tokio")]
impl Drop for Entered<'_> {
    fn drop(&mut self) {
        drop_quietly(self.guard.take());
    }
}

impl Runtime {
    #[cfg(feature = "tokio")]
    pub(crate) fn new(handle: Handle) -> Self {
        Runtime { handle: Some(handle), span: CallSpan::default() }
    }

    /// Returns the runtime and the span that this thread has entered, for a call of that pool. If the pool's threads have entered a runtime already, returns none.
    pub(crate) fn of_call(_pool: &Runtime) -> Self {
        Runtime {
            #[cfg(feature = "tokio")]
            handle: if _pool.handle.is_some() { None } else { Handle::try_current().ok() },
            span: CallSpan::current(),
        }
    }

    /// Whether there is a runtime or a span.
    pub(crate) fn is_some(&self) -> bool {
        #[cfg(feature = "tokio")]
        if self.handle.is_some() {
            return true;
        }
        self.span.is_some()
    }

    #[inline]
    pub(crate) fn enter(&self) -> Entered<'_> {
        Entered {
            #[cfg(feature = "tokio")]
            guard: self.handle.as_ref().and_then(|handle| ask(|| handle.enter())),
            _span: self.span.enter(),
        }
    }
}

/// Beginning of the message with which tokio panics in a thread that has entered no runtime.
const NO_REACTOR: &str = "there is no reactor running";

#[cfg(not(feature = "tokio"))]
const HINT: &str = "a worker has polled a future that needs a tokio runtime, and furcate is built without its \
    feature `tokio`, so its workers enter none. Write `furcate = { .., features = [\"tokio\"] }` in Cargo.toml, and start \
    the call inside a runtime, or build the pool with `ThreadPoolBuilder::tokio(handle)`";
#[cfg(feature = "tokio")]
const HINT: &str = "a worker has polled a future that needs a tokio runtime, and the call was started outside of \
    every tokio runtime. Start it inside one (`let _entered = runtime.enter();`), or build the pool with \
    `ThreadPoolBuilder::tokio(handle)`";

/// Calls `f`. If `f` panics, unwinds with the [explained](explain) payload.
pub(crate) fn explaining<R>(f: impl FnOnce() -> R) -> R {
    // Unwind-safe: the panic goes on.
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| resume_unwind(explain(payload)))
}

/// Returns the payload of a panic. If the payload says that tokio has missed its runtime, adds a hint how to mend that.
/// The first time the hint is also printed, since the panic's own message has been printed already.
pub(crate) fn explain(payload: Box<dyn Any + Send>) -> Box<dyn Any + Send> {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    match text {
        Some(text) if text.starts_with(NO_REACTOR) && !text.ends_with(HINT) => {
            static PRINTED: Once = Once::new();
            PRINTED.call_once(|| crate::process::report(format_args!("{HINT}")));
            Box::new(format!("{text}\nfurcate: {HINT}"))
        }
        _ => payload,
    }
}
