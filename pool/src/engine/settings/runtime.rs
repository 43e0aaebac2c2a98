//! The tokio runtime of a pool, or of a call.
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

use std::any::Any;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;
#[cfg(feature = "tokio")]
use tokio::runtime::{EnterGuard, Handle};

/// A runtime, or none.
#[derive(Default)]
pub(crate) struct Runtime {
    #[cfg(feature = "tokio")]
    handle: Option<Handle>,
}

/// Guard of a thread that has entered the runtime, if there is one. Its drop leaves the runtime.
pub(crate) struct Entered<'r> {
    #[cfg(feature = "tokio")]
    _guard: Option<EnterGuard<'r>>,
    _runtime: PhantomData<&'r Runtime>,
}

impl Entered<'_> {
    /// Leaves the runtime. Without the feature `tokio` there is none to leave.
    #[inline]
    pub(crate) fn leave(self) {}
}

impl Runtime {
    #[cfg(feature = "tokio")]
    pub(crate) fn new(handle: Handle) -> Self {
        Runtime { handle: Some(handle) }
    }

    /// Returns the runtime that this thread has entered.
    pub(crate) fn current() -> Self {
        Runtime {
            #[cfg(feature = "tokio")]
            handle: Handle::try_current().ok(),
        }
    }

    /// Whether there is a runtime.
    pub(crate) fn is_some(&self) -> bool {
        #[cfg(feature = "tokio")]
        return self.handle.is_some();
        #[cfg(not(feature = "tokio"))]
        false
    }

    #[inline]
    pub(crate) fn enter(&self) -> Entered<'_> {
        Entered {
            #[cfg(feature = "tokio")]
            _guard: self.handle.as_ref().map(Handle::enter),
            _runtime: PhantomData,
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
