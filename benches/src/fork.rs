//! Fork-join engines behind one trait, so that a program is written once and compiled for each of them.
//!
//! A program takes a [`Fork`], the handle with which an engine forks; the program is monomorphized per engine, without
//! a virtual call. An [`Engine`] is a pool that gives such a handle to programs. To add one, implement both and name it
//! in [`each`]. The engines of [`forms`] measure the price of safety.
//!
//! In every engine the left half runs at once, on the worker that forks, and other workers can take the right half.

#[cfg(feature = "forte")]
mod forte;

mod chase_lev;
mod chili;
mod furcate;
mod rayon;
mod serial;
mod split;

#[cfg(test)]
mod tests;

pub use self::chase_lev::ChaseLev;
pub use self::chili::Chili;
#[cfg(feature = "forte")]
pub use self::forte::Forte;
pub use self::furcate::{Furcate, FurcateFences, FurcateHandle};
pub use self::rayon::Rayon;
pub use self::serial::Serial;
pub use self::split::{Boxed, Form, Guarded, Split, SplitFork, Unsafe};

use crate::programs::{Fib, Program};
use std::hint::black_box;
use std::time::{Duration, Instant};

pub(crate) use self::furcate::FurcateFork;
pub(crate) use self::rayon::RayonFork;

/// The stack of a pool's threads, in bytes: unbalanced trees are searched as deep as they grow.
pub const STACK: usize = 256 << 20;

/// The handle with which a worker forks.
///
/// The handle is passed down, as the engines with the cheapest forks require. Engines that find their worker through a
/// thread-local pass a value without size.
pub trait Fork {
    /// Runs both halves, perhaps in parallel, and returns both results.
    fn join<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(&Self) -> RA + Send,
        B: FnOnce(&Self) -> RB + Send,
        RA: Send,
        RB: Send;
}

/// A pool of workers. Dropping it ends its threads.
pub trait Engine: Sized {
    /// The name in tables and on command lines.
    const NAME: &'static str;

    /// Whether there are workers at all. Without workers, only one thread can be measured.
    const PARALLEL: bool = true;

    /// The handle with which the engine's workers fork.
    type Fork: Fork;

    /// Makes a pool in which `threads` threads work, among them the caller of [`run`](Self::run) if it takes part.
    fn new(threads: usize) -> Self;

    /// Runs `body` on a worker and returns its result. Must not be called inside `body`.
    fn run<R, F>(&self, body: F) -> R
    where
        R: Send,
        F: FnOnce(&Self::Fork) -> R + Send;
}

/// Keeps an engine forking for long enough that all its threads take part, each on a processor of its own: after a few
/// milliseconds threads that never slept may still share one.
pub fn warm_up(engine: &impl Engine) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(20) {
        let program = Fib(20);
        black_box(engine.run(|fork| program.forked(fork, program.input())));
    }
}

/// An action on every engine: a closure that is generic over [`Engine`].
pub trait Visit {
    /// Acts on one engine.
    fn visit<E: Engine>(&mut self);
}

/// Visits all engines, in the order of the tables.
pub fn each(visitor: &mut impl Visit) {
    visitor.visit::<Serial>();
    visitor.visit::<Furcate>();
    visitor.visit::<FurcateHandle>();
    visitor.visit::<FurcateFences>();
    visitor.visit::<Rayon>();
    visitor.visit::<Chili>();
    #[cfg(feature = "forte")]
    visitor.visit::<Forte>();
    visitor.visit::<ChaseLev>();
}

/// Visits the forms of a split deque with more and more safety. They run on one worker.
pub fn forms(visitor: &mut impl Visit) {
    visitor.visit::<Split<Unsafe>>();
    visitor.visit::<Split<Guarded>>();
    visitor.visit::<Split<Boxed>>();
}
