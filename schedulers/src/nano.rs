//! Nano-loops (the *steps* of a task): how a running task stays in touch with its scheduler.
//!
//! A task that folds all its items at one go cannot give away a part of its work, nor learn that it is no longer
//! needed. So a scheduler may let a producer fold in short loops
//! ([`Producer::partial_fold`](crate::Producer::partial_fold)). The producer asks the scheduler before each loop for
//! the next action (Kvik, Section 3.6).
//!
//! ```text
//!             partial_fold
//!   scheduler ------------> producer            for ever:
//!             <------------ next(size)            what now?
//!             ------------> Fold(n)                fold the next n units
//!             ------------> Divide                 give the right half away: take(right)
//!             ------------> Give                   give all that is left away: take(rest); end
//!             ------------> Stop                   drop the rest
//!             <------------ take_back()          nothing left: is what was given away last still there?
//!             ------------> Some(right)            go on with it
//!             ------------> None
//!             <------------ accumulator
//! ```
//!
//! A [`NanoFold`] folds the items of one loop: it gets a std iterator over them, so each loop runs as fast as a
//! sequential one.
//!
//! The producer stays in one call from the task's first item to its last. Data that an adaptor keeps for a task (the
//! state of a `map_init`, the accumulator of a `fold`) are therefore local variables of that call: made once per task,
//! never sent to another thread, dropped by unwinding after a panic.

use std::ops::ControlFlow;

/// The next action of a task.
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
    /// Fold the next units, so many, in one loop (0 counts as 1).
    Fold(usize),
    /// Give away the right half of the remaining units: see [`NanoLoops::take`].
    Divide,
    /// Give away all remaining units ([`NanoLoops::take`]), and end here.
    Give,
    /// End here, and drop the remaining units.
    Stop,
}

/// Folds the items of a nano-loop.
///
/// A closure that folds one item implements this trait. A reduction that has a better loop than one item after the
/// other (std's `sum`, say) implements the trait itself, and gets all items of a loop at once.
///
/// ```
/// use furcate::{Nano, NanoFold, NanoLoops, Producer};
/// use std::ops::ControlFlow;
///
/// /// Adds the items up with std's own loop.
/// struct Sum;
///
/// impl NanoFold<u64, u64, ()> for Sum {
///     fn fold<I: Iterator<Item = u64>>(&mut self, sum: u64, items: I) -> ControlFlow<(), u64> {
///         ControlFlow::Continue(sum + items.sum::<u64>())
///     }
/// }
///
/// struct Hundreds;
/// impl<P> NanoLoops<P> for Hundreds {
///     fn next(&mut self, _size: usize) -> Nano {
///         Nano::Fold(100)
///     }
///     fn take(&mut self, _right: P) {}
/// }
/// assert_eq!((0..1000).partial_fold(0, Sum, &mut Hundreds), ControlFlow::Continue(499_500));
/// ```
pub trait NanoFold<T, B, C> {
    /// Whether the items that reach this fold are the only items of the call. If so, an adaptor that lets no further
    /// items through may [cancel](crate::Suspendable::cancel) the items that wait before this fold, unless a later
    /// fold [waits](Self::WAITS). A fold that wraps another one passes this constant on, as it does `WAITS`.
    const IS_WHOLE: bool = false;

    /// Whether the fold gives futures to [wait for](crate::Suspendable::wait_for). A fold that wraps another one passes
    /// this constant on.
    ///
    /// If this constant is false and the fold [waits](crate::Suspendable::wait_for) all the same, an item that goes on
    /// after a wait panics: a fold that does not wait has no room for the item there.
    const WAITS: bool = false;

    /// Whether an item that waits again here, after a future that was pending, goes on before new items begin. A fold
    /// that wraps another one passes this constant on.
    ///
    /// By default, items take permits in turns, so that as many futures as allowed are in flight. Then an item's next
    /// future may wait for the first futures of other items. Set this constant if that wait may take any time (new
    /// items come from a stream), or if the item may end the call.
    const GOES_FIRST: bool = false;

    /// Folds the items of one loop. `Break` ends the task.
    fn fold<I: Iterator<Item = T>>(&mut self, accumulator: B, items: I) -> ControlFlow<C, B>;
}

impl<T, B, C, F: FnMut(B, T) -> ControlFlow<C, B>> NanoFold<T, B, C> for F {
    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, accumulator: B, mut items: I) -> ControlFlow<C, B> {
        let folded = items.try_fold(accumulator, self);
        // Dropped before the return value is made: a panic in this drop would leak that value.
        drop(items);
        folded
    }
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
    /// Whether the task can be divided between its loops. If not, the loops only look for an early end, and items that
    /// each need a cut (pieces of a `wrap_iter`) are folded in one loop.
    const DIVIDES: bool = true;

    /// Whether the loops may take a task that has [grown](Self::grown). If not, producers need not call
    /// [`grown`](Self::grown).
    const GROWS: bool = false;

    /// Returns the next action, with `size` units left.
    fn next(&mut self, size: usize) -> Nano;

    /// Takes a part that the producer gives away. After a [`Nano::Divide`] the part is the right half: it is a task of
    /// its own, and the producer goes on with the left half. After a [`Nano::Give`] the part is everything that was
    /// left.
    fn take(&mut self, right: P);

    /// Returns the part that was given away last, if no other worker has taken it. Called when a producer has no units
    /// left: the task then goes on with that part, as if it had not been divided.
    #[inline]
    fn take_back(&mut self) -> Option<P> {
        None
    }

    /// Whether a task that holds more than its size has said is to be divided now. `size` is the number of remaining
    /// units.
    ///
    /// A producer calls this between two items, when it has found much more to do (a long inner iterator of a
    /// `flat_map`, say). If the answer is yes, the producer gives away everything that is left, as after a
    /// [`Nano::Give`]: it calls [`take`](Self::take) and ends. If not, it goes on.
    #[inline]
    fn grown(&mut self, size: usize) -> bool {
        let _ = size;
        false
    }

    /// Returns the same loops, for the base `Q` of a producer that wraps it. Adaptors pass their loops on this way.
    /// `wrap` makes a part of the wrapper from a part of the base; `unwrap` is its inverse.
    #[inline]
    fn wrapping<Q, W, U>(&mut self, wrap: W, unwrap: U) -> Wrapping<'_, Self, W, U, P>
    where
        Self: Sized,
        W: FnMut(Q) -> P,
        U: FnMut(P) -> Option<Q>,
    {
        Wrapping { loops: self, wrap, unwrap, wrapped: std::marker::PhantomData }
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
/// let mut inner: Wrapping<'_, _, _, _, _> = loops.wrapping(|right| (right, "wrapped"), |(right, _)| Some(right));
/// inner.take(5..10);
/// assert_eq!(loops.0, [(5..10, "wrapped")]);
/// ```
#[derive(Debug)]
pub struct Wrapping<'l, L, W, U, P> {
    loops: &'l mut L,
    wrap: W,
    unwrap: U,
    wrapped: std::marker::PhantomData<fn() -> P>,
}

impl<P, Q, L, W, U> NanoLoops<Q> for Wrapping<'_, L, W, U, P>
where
    L: NanoLoops<P>,
    W: FnMut(Q) -> P,
    U: FnMut(P) -> Option<Q>,
{
    const DIVIDES: bool = L::DIVIDES;
    const GROWS: bool = L::GROWS;

    #[inline]
    fn next(&mut self, size: usize) -> Nano {
        self.loops.next(size)
    }

    #[inline]
    fn grown(&mut self, size: usize) -> bool {
        self.loops.grown(size)
    }

    #[inline]
    fn take(&mut self, right: Q) {
        self.loops.take((self.wrap)(right));
    }

    #[inline]
    fn take_back(&mut self) -> Option<Q> {
        self.loops.take_back().and_then(&mut self.unwrap)
    }
}
