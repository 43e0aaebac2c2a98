//! Spawned roots: computations that no thread waits for.

use crate::Executor;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A computation that owns the data that its parts borrow, so no thread need wait for it: see
/// [`Executor::spawn_detached`].
///
/// ```
/// use furcate::detach::{SpawnedOutcome, Unattended};
/// use furcate::{DefaultExecutor, Executor};
/// use std::sync::mpsc::{Sender, channel};
///
/// /// Sends the length of a text.
/// struct Length(String, usize, Sender<usize>);
///
/// impl<E: Executor> Unattended<E> for Length {
///     // Parts that are made with the scope may borrow the text, and write to the length.
///     fn begin<'s>(&'s mut self, _scope: &E::Scope<'s>) {
///         self.1 = self.0.len();
///     }
///     fn end(self, end: SpawnedOutcome<()>) {
///         assert!(matches!(end, SpawnedOutcome::Done(())));
///         self.2.send(self.1).unwrap();
///     }
/// }
///
/// let (sender, receiver) = channel();
/// DefaultExecutor::default().spawn_detached(Length("furcate".into(), 0, sender));
/// assert_eq!(receiver.recv(), Ok(7));
/// ```
///
/// Data that the parts borrow cannot escape from the computation:
///
/// ```compile_fail
/// use furcate::Executor;
/// use furcate::detach::{SpawnedOutcome, Unattended};
///
/// struct Keeps(String, Option<&'static str>);
///
/// impl<E: Executor> Unattended<E> for Keeps {
///     fn begin<'s>(&'s mut self, _scope: &E::Scope<'s>) {
///         self.1 = Some(&self.0);
///     }
///     fn end(self, _: SpawnedOutcome<()>) {}
/// }
/// ```
pub trait Unattended<E: Executor>: Send + Sized + 'static {
    /// Makes the computation's parts, and runs any of them. The parts may borrow from `self`: all of them are dropped
    /// before [`end`](Self::end) is called.
    fn begin<'s>(&'s mut self, scope: &E::Scope<'s>);

    /// Takes the outcome. Called once, when all parts have ended, for whatever reason.
    fn end(self, end: SpawnedOutcome<()>);
}

/// Outcome of a spawned root (a computation that no thread waits for), or of a spawned future.
#[derive(Debug)]
pub enum SpawnedOutcome<T> {
    /// All parts have run to their end. Holds the result.
    Done(T),
    /// A panic: holds the payload of the first one, of [`begin`](Unattended::begin) or of a part.
    Panicked(Box<dyn Any + Send>),
    /// It was dropped before its end: it was cancelled, or its pool or scope ended. Suspended tasks were dropped, and some parts may not
    /// have run.
    Cancelled,
}

impl<T> SpawnedOutcome<T> {
    /// Returns the same outcome, with the result mapped by `map`.
    ///
    /// ```
    /// use furcate::detach::SpawnedOutcome;
    /// assert!(matches!(SpawnedOutcome::Done(2).map(|x| x + 1), SpawnedOutcome::Done(3)));
    /// ```
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> SpawnedOutcome<U> {
        match self {
            SpawnedOutcome::Done(made) => SpawnedOutcome::Done(map(made)),
            SpawnedOutcome::Panicked(payload) => SpawnedOutcome::Panicked(payload),
            SpawnedOutcome::Cancelled => SpawnedOutcome::Cancelled,
        }
    }
}

/// Runs a computation in the calling thread, which blocks until its end.
pub fn run_blocking<E: Executor, C: Unattended<E>>(executor: &E, mut computation: C) {
    let begun = &mut computation;
    // Unwind-safe: the panic is passed to the computation's `end`.
    let end = catch_unwind(AssertUnwindSafe(|| executor.detached(move |scope| begun.begin(scope))));
    computation.end(end.map_or_else(SpawnedOutcome::Panicked, SpawnedOutcome::Done));
}
