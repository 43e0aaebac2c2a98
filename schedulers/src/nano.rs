//! Nano-loops: how a running task stays in touch with its scheduler.
//!
//! A task that folds everything at one go cannot be asked for a part of its work, nor told that it is no longer
//! needed. So a scheduler may have a producer fold in short loops
//! ([`Producer::partial_fold`](crate::Producer::partial_fold)), and is asked before each of them what is to come next
//! (Kvik, Section 3.6).
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
//! What is done with the items of one loop is a [`NanoFold`]: it gets a std iterator over them, so that each loop runs
//! as fast as a sequential one.
//!
//! The producer stays in one call from the task's first item to its last. What an adaptor keeps for a task (the state
//! of a `map_init`, the accumulator of a `fold`) is therefore a local variable of that call: made once per task,
//! never sent to another thread, dropped by unwinding if something panics.

use std::ops::ControlFlow;

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
    /// Give all that is left away ([`NanoLoops::take`]), and end here.
    Give,
    /// End here; the rest is dropped.
    Stop,
}

/// What a task does with the items of a nano-loop.
///
/// A closure that folds one item is one. A reduction that has a better loop than one item after the other (std's `sum`,
/// say) implements it, and gets all items of a loop at once.
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
    /// Are the items that come here all that a call is about? Then who lets no more of them come may
    /// [cancel](crate::Suspendable::cancel) what waits before this fold, unless something [waits](Self::WAITS) behind it. A fold
    /// that wraps another one passes it on, as it does `WAITS`.
    const IS_WHOLE: bool = false;

    /// Whether the fold gives futures to be [waited for](crate::Suspendable::wait_for). A fold that wraps another one passes this
    /// constant on.
    ///
    /// A fold that is false here, and [waits](crate::Suspendable::wait_for) all the same, panics when an item goes on behind a
    /// wait: there a fold that does not wait has no room to.
    const WAITS: bool = false;

    /// Whether an item that waits here again, after a future that was pending, goes on before new items begin. A fold that wraps
    /// another one passes this constant on.
    ///
    /// By default items get permits in turns, so that as many futures are in flight as may be. Then the next future of an item may
    /// wait for the first futures of others. An item goes first if that may take any time, as it does where new items come from a
    /// stream; or if the item may end the call.
    const GOES_FIRST: bool = false;

    /// Folds the items of one loop; `Break` ends the task.
    fn fold<I: Iterator<Item = T>>(&mut self, accumulator: B, items: I) -> ControlFlow<C, B>;
}

impl<T, B, C, F: FnMut(B, T) -> ControlFlow<C, B>> NanoFold<T, B, C> for F {
    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, accumulator: B, mut items: I) -> ControlFlow<C, B> {
        let folded = items.try_fold(accumulator, self);
        // Not behind what is returned: a panic in their drop would leak that.
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
    /// Can the task be divided between its loops, so that a loop is a step towards a division? If not, the loops only
    /// look for an early end, and what must not be cut without need (a piece of a `wrap_iter`) is folded in one.
    const DIVIDES: bool = true;

    /// Whether the loops may take a task that has [grown](Self::grown). If not, [`grown`](Self::grown) need not be asked.
    const GROWS: bool = false;

    /// What next, with so many units left?
    fn next(&mut self, size: usize) -> Nano;

    /// Takes the right half, after a [`Nano::Divide`]. It is a task of its own; the producer goes on with the left
    /// half. Or takes all that is left, after a [`Nano::Give`].
    fn take(&mut self, right: P);

    /// Asked when a producer has nothing left: the part that was given away last, if nobody has taken it up. The task
    /// goes on with it, as if it had not been divided.
    #[inline]
    fn take_back(&mut self) -> Option<P> {
        None
    }

    /// Whether a task that holds more than its size has said is to be divided now. `size` is the number of units that are left.
    ///
    /// A producer asks between two items, when it has found that much more to do (a long inner iterator of a `flat_map`, say). If
    /// the answer is yes, the producer gives away all that is left, as after a [`Nano::Give`]: it calls [`take`](Self::take) and
    /// ends. If not, it goes on.
    #[inline]
    fn grown(&mut self, size: usize) -> bool {
        let _ = size;
        false
    }

    /// The same loops, seen by the base `Q` of a producer that wraps it: how adaptors pass them on.
    /// `wrap` makes a part of the base one of the wrapper, `unwrap` the other way round.
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
