//! Nano-loops: how a running task stays in touch with its scheduler.
//!
//! A task that folds everything at one go cannot be asked for a part of its work, nor told that it is no longer
//! needed. So a scheduler may have a producer fold in short loops
//! ([`Producer::partial_fold`](crate::Producer::partial_fold)), and is asked before each of them what is to come next
//! (Kvik, Section 3.4).
//!
//! ```text
//!             partial_fold
//!   scheduler ------------> producer            for ever:
//!             <------------ next(size)            what now?
//!             ------------> Fold(n)                fold the next n units
//!             ------------> Divide                 give the right half away: take(right)
//!             ------------> Stop                   drop the rest
//!             <------------ accumulator
//! ```
//!
//! The producer stays in one call from the task's first item to its last. What an adaptor keeps for a task (the state
//! of a `map_init`, the accumulator of a `fold`) is therefore a local variable of that call: made once per task,
//! never sent to another thread, dropped by unwinding if something panics.

/// What a task is to do next.
///
/// ```
/// use furcate::{Nano, NanoLoops, Producer};
/// use std::ops::ControlFlow;
///
/// /// Folds two units at a time, until six are left.
/// struct AllButSix;
///
/// impl<P> NanoLoops<P> for AllButSix {
///     fn next(&mut self, size: usize) -> Nano {
///         if size > 6 { Nano::Fold(2) } else { Nano::Stop }
///     }
///     fn take(&mut self, _right: P) {}
/// }
///
/// let sum: ControlFlow<(), u32> =
///     (0..10_u32).partial_fold(0, |sum, x| ControlFlow::Continue(sum + x), &mut AllButSix);
/// assert_eq!(sum, ControlFlow::Continue(0 + 1 + 2 + 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nano {
    /// Fold the next units, so many, in one loop (0 is as 1).
    Fold(usize),
    /// Give the right half of what is left away: see [`NanoLoops::take`].
    Divide,
    /// End here; the rest is dropped.
    Stop,
}

/// A scheduler's side of the nano-loops over producers of type `P`.
///
/// ```
/// use furcate::{Divisible, Nano, NanoLoops, Producer};
/// use std::ops::ControlFlow;
///
/// /// Gives a half away after the first loop.
/// struct GiveOnce<P> {
///     loops: usize,
///     given: Option<P>,
/// }
///
/// impl<P> NanoLoops<P> for GiveOnce<P> {
///     fn next(&mut self, _size: usize) -> Nano {
///         self.loops += 1;
///         if self.loops == 2 { Nano::Divide } else { Nano::Fold(2) }
///     }
///     fn take(&mut self, right: P) {
///         self.given = Some(right);
///     }
/// }
///
/// let mut loops = GiveOnce { loops: 0, given: None };
/// let sum: ControlFlow<(), u32> =
///     (0..10_u32).partial_fold(0, |sum, x| ControlFlow::Continue(sum + x), &mut loops);
/// assert_eq!(sum, ControlFlow::Continue(0 + 1 + 2 + 3 + 4 + 5));
/// assert_eq!(loops.given, Some(6..10));
/// ```
pub trait NanoLoops<P> {
    /// What next, with so many units left?
    fn next(&mut self, size: usize) -> Nano;

    /// Takes the right half, after a [`Nano::Divide`]. It is a task of its own; the producer goes on with the left
    /// half.
    fn take(&mut self, right: P);

    /// The same loops, seen by the base `Q` of a producer that wraps it: how adaptors pass them on.
    #[inline]
    fn wrapping<Q, W: FnMut(Q) -> P>(&mut self, wrap: W) -> Wrapping<'_, Self, W, P>
    where
        Self: Sized,
    {
        Wrapping { loops: self, wrap, wrapped: std::marker::PhantomData }
    }
}

/// The nano-loops of a wrapping producer, as its base sees them: see [`NanoLoops::wrapping`].
///
/// ```
/// use furcate_schedulers::{Nano, NanoLoops, Wrapping};
///
/// /// Keeps what it is given.
/// struct Keep<P>(Vec<P>);
///
/// impl<P> NanoLoops<P> for Keep<P> {
///     fn next(&mut self, _size: usize) -> Nano {
///         Nano::Divide
///     }
///     fn take(&mut self, right: P) {
///         self.0.push(right);
///     }
/// }
///
/// // A base that is a range, seen through a wrapper that is a pair.
/// let mut loops = Keep(Vec::new());
/// let mut inner: Wrapping<'_, _, _, _> = loops.wrapping(|right| (right, "wrapped"));
/// inner.take(5..10);
/// assert_eq!(loops.0, [(5..10, "wrapped")]);
/// ```
#[derive(Debug)]
pub struct Wrapping<'l, L, W, P> {
    loops: &'l mut L,
    wrap: W,
    wrapped: std::marker::PhantomData<fn() -> P>,
}

impl<P, Q, L: NanoLoops<P>, W: FnMut(Q) -> P> NanoLoops<Q> for Wrapping<'_, L, W, P> {
    #[inline]
    fn next(&mut self, size: usize) -> Nano {
        self.loops.next(size)
    }

    #[inline]
    fn take(&mut self, right: Q) {
        self.loops.take((self.wrap)(right));
    }
}
