//! Computations that nobody waits for.

use crate::Executor;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A computation that owns what its parts borrow, so that no thread need wait for it: see
/// [`Executor::spawn_detached`].
///
/// ```
/// use furcate::detach::{End, Unattended};
/// use furcate::{DefaultExecutor, Executor};
/// use std::sync::mpsc::{Sender, channel};
///
/// /// Sends the length of a text.
/// struct Length(String, usize, Sender<usize>);
///
/// impl<E: Executor> Unattended<E> for Length {
///     // What is made with the scope may borrow the text, and write to the length.
///     fn begin<'s>(&'s mut self, _scope: &E::Scope<'s>) {
///         self.1 = self.0.len();
///     }
///     fn end(self, end: End<()>) {
///         assert!(matches!(end, End::Done(())));
///         self.2.send(self.1).unwrap();
///     }
/// }
///
/// let (sender, receiver) = channel();
/// DefaultExecutor::default().spawn_detached(Length("furcate".into(), 0, sender));
/// assert_eq!(receiver.recv(), Ok(7));
/// ```
///
/// What its parts borrow does not outlive them:
///
/// ```compile_fail
/// use furcate::Executor;
/// use furcate::detach::{End, Unattended};
///
/// struct Keeps(String, Option<&'static str>);
///
/// impl<E: Executor> Unattended<E> for Keeps {
///     fn begin<'s>(&'s mut self, _scope: &E::Scope<'s>) {
///         self.1 = Some(&self.0);
///     }
///     fn end(self, _: End<()>) {}
/// }
/// ```
pub trait Unattended<E: Executor>: Send + Sized + 'static {
    /// Makes the computation's parts, and runs what it likes of them. They may borrow from `self`: all of them are gone
    /// before [`end`](Self::end) is called.
    fn begin<'s>(&'s mut self, scope: &E::Scope<'s>);

    /// Called once, when all parts have ended, whatever they have ended by.
    fn end(self, end: End<()>);
}

/// How a computation has ended that nobody waits for.
#[derive(Debug)]
pub enum End<T> {
    /// All parts have come to their end; this is what they have made.
    Done(T),
    /// With the payload of the first panic, of [`begin`](Unattended::begin) or of a part.
    Panicked(Box<dyn Any + Send>),
    /// Its pool was dropped before its end: what waited was dropped, and perhaps not all was done.
    Cancelled,
}

impl<T> End<T> {
    /// The same end, with something else made.
    ///
    /// ```
    /// use furcate::detach::End;
    /// assert!(matches!(End::Done(2).map(|x| x + 1), End::Done(3)));
    /// ```
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> End<U> {
        match self {
            End::Done(made) => End::Done(map(made)),
            End::Panicked(payload) => End::Panicked(payload),
            End::Cancelled => End::Cancelled,
        }
    }
}

/// Runs a computation in the calling thread, which waits for it after all.
pub fn run_blocking<E: Executor, C: Unattended<E>>(executor: &E, mut computation: C) {
    let begun = &mut computation;
    // Unwind-safe: the computation is told.
    let end = catch_unwind(AssertUnwindSafe(|| executor.detached(move |scope| begun.begin(scope))));
    computation.end(end.map_or_else(End::Panicked, End::Done));
}
