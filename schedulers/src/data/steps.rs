//! The steps of a task (Kvik: nano-loops): how a running task stays in touch with its scheduler.
//!
//! A task that folds all its items at one go cannot give away a part of its work, nor learn that it is no longer
//! needed. So a scheduler may let a producer fold in short steps
//! ([`Producer::partial_fold`](crate::Producer::partial_fold)). The producer asks the scheduler before each step for
//! the next action (Kvik, Section 3.6).
//!
//! ```text
//!             partial_fold
//!   scheduler ------------> producer            for ever:
//!             <------------ next(size)            what now?
//!             ------------> Fold(n)                fold the next n units
//!             ------------> Fold(n), watch()       fold up to n units, one by one: ends_step() before each?
//!             ------------> Divide, keeps()        give the right half away, or all but some units: take(right)
//!             ------------> Give                   give all that is left away: take(rest); end
//!             ------------> Stop                   drop the rest
//!             <------------ take_back()          nothing left: is what was given away last still there?
//!             ------------> Some(right)            go on with it
//!             ------------> None
//!             <------------ accumulator
//! ```
//!
//! A [`StepFold`] folds the items of one step: it gets a std iterator over them, so each step runs as fast as a
//! sequential loop.
//!
//! The producer stays in one call from the task's first item to its last. Data that an adaptor keeps for a task (the
//! state of a `map_init`, the accumulator of a `fold`) therefore lie in that call's fold: made once per task,
//! never sent to another thread, dropped by unwinding after a panic.
//!
//! # Futures
//!
//! There is one fold for all chains. Only `io_await` and the scheduler know that an item may be a future: the fold of `io_await` gives a
//! step's futures to the accumulator, which [waits](crate::Suspendable::wait_for) for them. Under a scheduler that does
//! not suspend, the accumulator is [`Blocking`], and the calling thread waits. Under
//! [`Suspending`](crate::Suspending), the output of a pending future is folded by [`StepFold::later`]: the same fold
//! for a task of its own, with state of its own, in any thread.

use crate::Blocking;
use std::ops::ControlFlow;

/// The next action of a task.
///
/// ```
/// use furcate::{Blocking, NextStep, Steps, Producer};
/// use std::ops::ControlFlow;
///
/// /// Folds two units at a time, until six are left.
/// struct AllButSix;
///
/// impl<P> Steps<P> for AllButSix {
///     fn next(&mut self, size: usize) -> NextStep {
///         if size > 6 { NextStep::Fold(2) } else { NextStep::Stop }
///     }
///     fn take(&mut self, _right: P) {}
/// }
///
/// let sum = (0..10).partial_fold(Blocking(0), |sum, x| ControlFlow::Continue(sum + x), &mut AllButSix);
/// assert_eq!(sum, ControlFlow::Continue(Blocking(0 + 1 + 2 + 3)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Fold the next units, so many, in one step (0 counts as 1).
    Fold(usize),
    /// Give away the right half of the remaining units: see [`Steps::take`].
    Divide,
    /// Give away all remaining units ([`Steps::take`]), and end here.
    Give,
    /// End here, and drop the remaining units.
    Stop,
}

/// Folds the items of a task, step by step: all that follows a producer in its chain.
///
/// A closure that folds one item implements this trait, for an accumulator that is [`Blocking`]. A reduction that has a
/// better loop than one item after the other (std's `sum`, say) implements the trait itself, and gets all items of a
/// step at once.
///
/// Anything that the fold keeps for a task (the state of a `map_init`) lies in it. The fold is not sent to another thread.
///
/// ```
/// use furcate::{Blocking, FoldFacts, NextStep, StepFold, Steps, NeverLater, Producer};
/// use std::ops::ControlFlow;
///
/// /// Adds the items up with std's own loop.
/// struct Sum;
///
/// impl<'s> StepFold<'s, u64, Blocking<u64>> for Sum {
///     type Later = NeverLater;
///     const FACTS: FoldFacts = FoldFacts::NONE;
///     fn fold<I: Iterator<Item = u64>>(
///         &mut self,
///         Blocking(sum): Blocking<u64>,
///         items: I,
///     ) -> ControlFlow<Blocking<u64>, Blocking<u64>> {
///         ControlFlow::Continue(Blocking(sum + items.sum::<u64>()))
///     }
///     fn later(&self) -> NeverLater {
///         NeverLater::needed()
///     }
/// }
///
/// struct Hundreds;
/// impl<P> Steps<P> for Hundreds {
///     fn next(&mut self, _size: usize) -> NextStep {
///         NextStep::Fold(100)
///     }
///     fn take(&mut self, _right: P) {}
/// }
/// let sum = (0..1000).partial_fold(Blocking(0), Sum, &mut Hundreds);
/// assert_eq!(sum, ControlFlow::Continue(Blocking(499_500)));
/// ```
pub trait StepFold<'s, T, B> {
    /// The same fold for items that arrive later: without the state of this task, for any thread, until `'s` ends. For a
    /// fold that never waits, [`NeverLater`].
    type Later: StepFold<'s, T, B, Later = Self::Later> + Clone + Send + 's;

    /// Facts for the folds before this one. A fold that wraps another one passes its facts on.
    const FACTS: FoldFacts;

    /// Folds the items of one step. `Break` ends the task.
    fn fold<I: Iterator<Item = T>>(&mut self, accumulator: B, items: I) -> ControlFlow<B, B>;

    /// Returns the fold for an item that arrives later. Called by accumulators that [wait without
    /// blocking](crate::Suspendable::wait_for).
    fn later(&self) -> Self::Later;
}

/// Facts about a [`StepFold`], for the folds before it.
///
/// ```
/// use furcate::FoldFacts;
/// let awaits = FoldFacts { waits: true, ..FoldFacts::NONE };
/// assert!(awaits.waits && !awaits.is_whole && !awaits.goes_first);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoldFacts {
    /// Whether the items that reach this fold are the only items of the call. If so, an adaptor that lets no further
    /// items through may [cancel](crate::Suspendable::cancel) the items that wait before this fold, unless a later
    /// fold [waits](Self::waits).
    pub is_whole: bool,

    /// Whether the fold gives futures to [wait for](crate::Suspendable::wait_for).
    ///
    /// If this is false and the fold waits all the same, an item that goes on after a wait panics: a fold that does not
    /// wait has no room for the item there.
    pub waits: bool,

    /// Whether an item that waits again here, after a future that was pending, goes on before new items begin.
    ///
    /// By default, items take permits in turns, so that as many futures as allowed are in flight. Then an item's next
    /// future may wait for the first futures of other items. This is true where that wait may take any time (new items
    /// come from a stream), or where the item may end the call.
    pub goes_first: bool,
}

impl FoldFacts {
    /// The facts of a fold that neither waits nor gets all items of a call.
    pub const NONE: FoldFacts = FoldFacts { is_whole: false, waits: false, goes_first: false };

    /// The facts of the last fold of a call, which gets all items.
    pub const WHOLE: FoldFacts = FoldFacts { is_whole: true, ..FoldFacts::NONE };
}

/// The [later](StepFold::Later) fold of one that never waits. There is no value of this type.
#[derive(Clone, Copy, Debug)]
pub enum NeverLater {}

impl NeverLater {
    /// Implements [`StepFold::later`] for a fold whose accumulator is [`Blocking`], which waits in place.
    ///
    /// # Panics
    ///
    /// Always: such an accumulator does not ask.
    #[cold]
    pub fn needed() -> Self {
        panic!("this fold's accumulator waits in place, so nothing is folded later")
    }
}

impl<'s, T, B> StepFold<'s, T, B> for NeverLater {
    type Later = NeverLater;
    const FACTS: FoldFacts = FoldFacts::NONE;

    fn fold<I: Iterator<Item = T>>(&mut self, _: B, _: I) -> ControlFlow<B, B> {
        match *self {}
    }

    fn later(&self) -> NeverLater {
        *self
    }
}

impl<'s, T, A, F: FnMut(A, T) -> ControlFlow<A, A>> StepFold<'s, T, Blocking<A>> for F {
    type Later = NeverLater;
    const FACTS: FoldFacts = FoldFacts::NONE;

    #[inline]
    fn fold<I: Iterator<Item = T>>(
        &mut self,
        Blocking(accumulator): Blocking<A>,
        mut items: I,
    ) -> ControlFlow<Blocking<A>, Blocking<A>> {
        let folded = items.try_fold(accumulator, self);
        // Dropped before the return value is made: a panic in this drop would leak that value.
        drop(items);
        Blocking::of(folded)
    }

    fn later(&self) -> NeverLater {
        NeverLater::needed()
    }
}

/// The same fold for several producers, one after the other.
#[derive(Debug)]
pub struct ByRef<'f, F>(pub &'f mut F);

impl<'s, T, B, F: StepFold<'s, T, B>> StepFold<'s, T, B> for ByRef<'_, F> {
    type Later = F::Later;
    const FACTS: FoldFacts = F::FACTS;

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, accumulator: B, items: I) -> ControlFlow<B, B> {
        self.0.fold(accumulator, items)
    }

    fn later(&self) -> F::Later {
        self.0.later()
    }
}

/// The same fold for a part of its input: a side of a `chain`, or an inner iterator of a `flat_map`. Further items come to the
/// fold another way, so the part's end is not the end of the [whole](FoldFacts::is_whole).
#[derive(Clone, Debug)]
pub struct InPart<F>(pub F);

impl<'s, T, B, F: StepFold<'s, T, B>> StepFold<'s, T, B> for InPart<F> {
    type Later = InPart<F::Later>;
    const FACTS: FoldFacts = FoldFacts { is_whole: false, ..F::FACTS };

    #[inline]
    fn fold<I: Iterator<Item = T>>(&mut self, accumulator: B, items: I) -> ControlFlow<B, B> {
        self.0.fold(accumulator, items)
    }

    fn later(&self) -> Self::Later {
        InPart(self.0.later())
    }
}

/// A scheduler's side of the steps over producers of type `P`.
///
/// ```
/// use furcate::{Blocking, Divisible, NextStep, Steps, Producer};
/// use std::ops::ControlFlow;
///
/// /// Gives a half away after the first step.
/// struct GiveOnce<P> {
///     steps: usize,
///     given: Option<P>,
/// }
///
/// impl<P> Steps<P> for GiveOnce<P> {
///     fn next(&mut self, _size: usize) -> NextStep {
///         self.steps += 1;
///         if self.steps == 2 { NextStep::Divide } else { NextStep::Fold(2) }
///     }
///     fn take(&mut self, right: P) {
///         self.given = Some(right);
///     }
/// }
///
/// let mut steps = GiveOnce { steps: 0, given: None };
/// let sum = (0..10).partial_fold(Blocking(0), |sum, x| ControlFlow::Continue(sum + x), &mut steps);
/// assert_eq!(sum, ControlFlow::Continue(Blocking(0 + 1 + 2 + 3 + 4 + 5)));
/// assert_eq!(steps.given, Some(6..10));
/// ```
pub trait Steps<P> {
    /// The questions that a producer may ask of these steps.
    const FACTS: StepsFacts = StepsFacts::DIVIDING;

    /// Returns the next action, with `size` units left.
    fn next(&mut self, size: usize) -> NextStep;

    /// How many units the task keeps at a [`NextStep::Divide`]; `None`: half of them. (A producer with steps of its own may give half of its
    /// units away in any case.)
    #[inline]
    fn keeps(&self) -> Option<usize> {
        None
    }

    /// Takes a part that the producer gives away. After a [`NextStep::Divide`] the part is the right half: it is a task of
    /// its own, and the producer goes on with the left half. After a [`NextStep::Give`] the part is everything that was
    /// left.
    fn take(&mut self, right: P);

    /// How many of the `size` remaining units to fold in a watched step, in place of the step that [`next`](Self::next) has just named.
    /// `None` for an ordinary step. A producer that does not call this folds an ordinary one.
    #[inline]
    fn watch(&mut self, size: usize) -> Option<usize> {
        let _ = size;
        None
    }

    /// Whether a watched step is to end before its next unit.
    #[inline]
    fn ends_step(&mut self) -> bool {
        false
    }

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
    /// [`NextStep::Give`]: it calls [`take`](Self::take) and ends. If not, it goes on.
    #[inline]
    fn grown(&mut self, size: usize) -> bool {
        let _ = size;
        false
    }

    /// Whether the rest is to be given away now, before the units that are there are folded. `size` is the number of remaining units.
    ///
    /// A producer whose units have to be fetched one after the other calls this when it has fetched some: another worker can fetch the next ones
    /// meanwhile. If the answer is yes, it gives its other units away, or a share in them ([`take`](Self::take)), and goes on.
    #[inline]
    fn ahead(&mut self, size: usize) -> bool {
        let _ = size;
        false
    }

    /// Returns the same steps, for the base `Q` of a producer that wraps it. Adaptors pass their steps on this way.
    /// `wrap` makes a part of the wrapper from a part of the base; `unwrap` is its inverse.
    #[inline]
    fn wrapping<Q, W, U>(&mut self, wrap: W, unwrap: U) -> Wrapping<'_, Self, W, U, P>
    where
        Self: Sized,
        W: FnMut(Q) -> P,
        U: FnMut(P) -> Option<Q>,
    {
        Wrapping { steps: self, wrap, unwrap, wrapped: std::marker::PhantomData }
    }
}

/// The questions that a producer may ask of a task's [steps](Steps).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepsFacts {
    /// Whether the task can be divided between its steps. If not, the steps only look for an early end, and items that
    /// each need a cut (pieces of a `wrap_iter`) are folded in one step.
    pub divides: bool,

    /// Whether the steps may take a task that has [grown](Steps::grown). If not, producers need not call
    /// [`grown`](Steps::grown).
    pub grows: bool,

    /// Whether a step may be watched: the producer folds its units one by one, and asks before each further one whether the step
    /// [is to end](Steps::ends_step). If not, producers need not call [`watch`](Steps::watch).
    pub watches: bool,
}

impl StepsFacts {
    /// Steps between which the task can be divided.
    pub const DIVIDING: StepsFacts = StepsFacts { divides: true, grows: false, watches: false };

    /// Steps that only look for an early end.
    pub const LOOKING: StepsFacts = StepsFacts { divides: false, ..StepsFacts::DIVIDING };
}

/// The steps of a wrapping producer, as its base sees them: see [`Steps::wrapping`].
///
/// ```
/// use furcate_schedulers::{NextStep, Steps, Wrapping};
///
/// /// Keeps what it is given.
/// struct Keep<P>(Vec<P>);
///
/// impl<P> Steps<P> for Keep<P> {
///     fn next(&mut self, _size: usize) -> NextStep {
///         NextStep::Divide
///     }
///     fn take(&mut self, right: P) {
///         self.0.push(right);
///     }
/// }
///
/// // A base that is a range, seen through a wrapper that is a pair.
/// let mut steps = Keep(Vec::new());
/// let mut inner: Wrapping<'_, _, _, _, _> = steps.wrapping(|right| (right, "wrapped"), |(right, _)| Some(right));
/// inner.take(5..10);
/// assert_eq!(steps.0, [(5..10, "wrapped")]);
/// ```
#[derive(Debug)]
pub struct Wrapping<'l, L, W, U, P> {
    steps: &'l mut L,
    wrap: W,
    unwrap: U,
    wrapped: std::marker::PhantomData<fn() -> P>,
}

impl<P, Q, L, W, U> Steps<Q> for Wrapping<'_, L, W, U, P>
where
    L: Steps<P>,
    W: FnMut(Q) -> P,
    U: FnMut(P) -> Option<Q>,
{
    const FACTS: StepsFacts = L::FACTS;

    #[inline]
    fn next(&mut self, size: usize) -> NextStep {
        self.steps.next(size)
    }

    #[inline]
    fn keeps(&self) -> Option<usize> {
        self.steps.keeps()
    }

    #[inline]
    fn watch(&mut self, size: usize) -> Option<usize> {
        self.steps.watch(size)
    }

    #[inline]
    fn ends_step(&mut self) -> bool {
        self.steps.ends_step()
    }

    #[inline]
    fn grown(&mut self, size: usize) -> bool {
        self.steps.grown(size)
    }

    #[inline]
    fn ahead(&mut self, size: usize) -> bool {
        self.steps.ahead(size)
    }

    #[inline]
    fn take(&mut self, right: Q) {
        self.steps.take((self.wrap)(right));
    }

    #[inline]
    fn take_back(&mut self) -> Option<Q> {
        self.steps.take_back().and_then(&mut self.unwrap)
    }
}
