//! Computations that may end early, and report it.
//!
//! # Protocol
//!
//! [`Interruptible::run`] makes one [`Report`] on the heap, which holds the policy that may stop. Clones of
//! [`Reporting`] ride down the division tree with the chain's own policy. A scheduler asks a policy only where work is
//! left, and leaves that work out after a yes ([`Policy::stopped`]). So the report holds a reason exactly if some work
//! was left out. The report is read after the terminal has returned.

mod forwarded;

use super::async_terminals::terminals;
use super::{
    AsyncTerminal, AsyncTerminals, FromParallelIterator, ParallelExtend, ParallelIterator, PlanWith,
    ProductOf, SumOf, Try, change_schedule,
};
use either::Either;
use furcate_pool::sync::machine::OnceLock;
use furcate_pool::trace;
use furcate_schedulers::policy::{Both, CancelToken, Deadline, Reason, Stop, StopOn, StopSignals};
use furcate_schedulers::{Node, Policy, Verdict};
use std::cmp::Ordering;
use std::collections::LinkedList;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

/// A computation that a [`CancelToken`] or a deadline may end: see [`ParallelIterator::stop_on`] and
/// [`ParallelIterator::deadline`].
///
/// It is not a parallel iterator, but has the adaptors and the terminals of one. (The positions of the processed items
/// are not known, so terminals that need positions are left out.) Adaptors, policies and schedulers may be named before
/// the stop or behind it: the stop holds for the whole computation. Terminals return `Ok` if all items were processed,
/// though the token may have been cancelled just then. Else they return [`Interrupted`], which holds the partial result
/// and the reason.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::policy::{CancelToken, Reason};
/// use std::time::{Duration, Instant};
///
/// let token = CancelToken::new();
/// let soon = Instant::now() + Duration::from_millis(5);
/// let spin = |_: &u64| std::thread::sleep(Duration::from_micros(50));
/// let sum = (0..1_000_000).into_par_iter().inspect(spin).stop_on(&token).deadline(soon).sum::<u64>();
/// let interrupted = sum.unwrap_err();
/// assert_eq!(interrupted.reason(), Reason::DeadlineExceeded);
/// assert!(interrupted.into_done() < 499_999_500_000);
/// ```
///
/// # What a stop does
///
/// After a token was cancelled, or a deadline has passed, no new item is evaluated. A running task ends between two
/// items: within about 0.1 ms while items cost about the same, else after its current item. Behind `io_await` each task
/// checks before an item, so that none begins after the stop, however many have been woken. A single item is never
/// interrupted; nor is a piece of a [`wrap_iter`](super::WrapIter), or a short inner iterator of a `flat_map` (a stop
/// named inside its closure does interrupt that). The first pass of a scan is not interrupted either, nor prevented: it
/// runs before the stop is first checked.
///
/// Cost: an allocation per computation; per step, of which there are few in 0.1 ms, a load or, for a deadline, a
/// look at the clock.
#[must_use = "nothing is done until a terminal is called"]
#[derive(Clone, Debug)]
pub struct Interruptible<I, S> {
    base: I,
    stop: S,
}

impl<I: ParallelIterator, S: Stop> Interruptible<I, S> {
    pub(crate) fn new(base: I, stop: S) -> Self {
        Interruptible { base, stop }
    }

    /// Ends the computation also when another token is cancelled.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::policy::{CancelToken, Reason};
    /// let (one, other) = (CancelToken::new(), CancelToken::new());
    /// other.cancel();
    /// let count = (0..10).into_par_iter().stop_on(&one).stop_on(&other).count();
    /// assert_eq!(count.unwrap_err().reason(), Reason::Cancelled);
    /// ```
    pub fn stop_on(self, token: &CancelToken) -> Interruptible<I, Both<S, StopOn>> {
        Interruptible { base: self.base, stop: Both::new(self.stop, StopOn::new(token)) }
    }

    /// Ends the computation also at another point in time.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::policy::{CancelToken, Reason};
    /// use std::time::Instant;
    /// let count = (0..10).into_par_iter().stop_on(&CancelToken::new()).deadline(Instant::now()).count();
    /// assert_eq!(count.unwrap_err().reason(), Reason::DeadlineExceeded);
    /// ```
    pub fn deadline(self, at: Instant) -> Interruptible<I, Both<S, Deadline>> {
        Interruptible { base: self.base, stop: Both::new(self.stop, Deadline::new(at)) }
    }

    /// Runs any terminal, with any adaptors before it.
    ///
    /// The closure gets the items as a parallel iterator without a known length. It returns the result, complete or
    /// partial.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::policy::CancelToken;
    /// let halves = (0..10).into_par_iter().stop_on(&CancelToken::new()).run(|items| {
    ///     items.map(|x| x * 2).partition::<Vec<_>, Vec<_>, _>(|x| *x < 10)
    /// });
    /// assert_eq!(halves, Ok((vec![0, 2, 4, 6, 8], vec![10, 12, 14, 16, 18])));
    /// ```
    pub fn run<T>(self, terminal: impl FnOnce(Partial<I, S>) -> T) -> Result<T, Interrupted<T>> {
        let (items, report) = self.begin();
        report.of(terminal(items))
    }

    fn begin(self) -> (Partial<I, S>, Arc<Report<S>>) {
        let report = Arc::new(Report { stop: self.stop, reason: OnceLock::new() });
        (Partial { base: self.base, report: Arc::clone(&report) }, report)
    }
}

impl<I, S> Interruptible<I, S>
where
    I: ParallelIterator,
    S: Stop + 'static,
{
    /// Runs any terminal that is awaited, such as [`async_sum`](AsyncTerminals::async_sum), with any adaptors before
    /// it: [`run`](Self::run), as a future.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// use furcate::policy::{CancelToken, Reason};
    ///
    /// let token = CancelToken::new();
    /// let endless = (0..100_u32).into_par_iter().map(|_| std::future::pending::<()>()).io_await();
    /// let count = endless.stop_on(&token).async_run(|items| items.async_count());
    /// token.cancel();
    /// assert_eq!(futures_lite::future::block_on(count).unwrap_err().reason(), Reason::Cancelled);
    /// ```
    pub fn async_run<T: Send + 'static>(
        self,
        terminal: impl FnOnce(Partial<I, S>) -> AsyncTerminal<T>,
    ) -> AsyncInterruptible<T> {
        let report = Arc::new(Report { stop: self.stop, reason: OnceLock::new() });
        let done = terminal(Partial { base: self.base, report: Arc::clone(&report) });
        Box::pin(async move { report.of(done.await) })
    }
}

/// The result of an [`Interruptible`]'s awaited terminal, for any executor. Dropping it cancels the computation, as
/// with an [`AsyncTerminal`].
///
/// ```
/// use furcate::prelude::*;
/// use furcate::iter::AsyncInterruptible;
/// use std::time::{Duration, Instant};
///
/// let deadline = Instant::now() + Duration::from_secs(60);
/// let max: AsyncInterruptible<Option<u32>> = (0..10).into_par_iter().deadline(deadline).async_max();
/// assert_eq!(futures_lite::future::block_on(max), Ok(Some(9)));
/// ```
pub type AsyncInterruptible<T> = Pin<Box<dyn Future<Output = Result<T, Interrupted<T>>> + Send>>;

/// The partial result of a computation that ended early: the error of an [`Interruptible`]'s terminals.
///
/// The processed items are some of all, in order: each task has processed its items from the first up to some item.
/// With several threads these are not a prefix of all items. So a sum is one of some items, and a `collect`ed vector
/// has gaps. But a hit of `find_any` is a hit.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::policy::{CancelToken, Reason};
/// use furcate::iter::Interrupted;
///
/// let token = CancelToken::new();
/// let seen: Result<Vec<u32>, Interrupted<Vec<u32>>> = (0..1_000_000_u32)
///     .into_par_iter()
///     .inspect(|&x| if x == 10 { token.cancel() })
///     .stop_on(&token)
///     .collect();
/// let interrupted = seen.unwrap_err();
/// assert_eq!(interrupted.reason(), Reason::Cancelled);
/// assert_eq!(interrupted.to_string(), "interrupted before all was done: cancelled");
/// let seen = interrupted.into_done();
/// assert!(seen.len() < 1_000_000 && seen.contains(&10) && seen.is_sorted());
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Interrupted<T> {
    done: T,
    reason: Reason,
}

impl<T> Interrupted<T> {
    /// Returns the partial result.
    pub fn done(&self) -> &T {
        &self.done
    }

    /// Returns the partial result, by value.
    pub fn into_done(self) -> T {
        self.done
    }

    /// Returns the reason why the computation ended.
    pub fn reason(&self) -> Reason {
        self.reason
    }
}

impl<T> fmt::Debug for Interrupted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupted").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Interrupted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interrupted before all was done: {}", self.reason)
    }
}

impl<T> std::error::Error for Interrupted<T> {}

/// The stop of one run, and the reason if it has stopped anything.
#[derive(Debug)]
struct Report<S> {
    stop: S,
    reason: OnceLock<Reason>,
}

impl<S> Report<S> {
    /// Returns the result as `Ok`, or as `Interrupted` if some work was left out.
    fn of<T>(&self, done: T) -> Result<T, Interrupted<T>> {
        match self.reason.get() {
            None => Ok(done),
            Some(&reason) => Err(Interrupted { done, reason }),
        }
    }
}

/// A [`Stop`] that reports: the policy of a [`Partial`].
#[derive(Debug)]
pub struct Reporting<S> {
    report: Arc<Report<S>>,
}

impl<S> Clone for Reporting<S> {
    fn clone(&self) -> Self {
        Reporting { report: Arc::clone(&self.report) }
    }
}

impl<S: Stop> Policy for Reporting<S> {
    const STOPS: bool = true;
    const DECIDES: bool = false;

    #[inline]
    fn stopped(&self) -> bool {
        let Report { stop, reason } = &*self.report;
        if reason.get().is_some() {
            return true;
        }
        let Some(now) = stop.reason() else { return false };
        // The first one counts.
        if reason.set(now).is_ok() {
            trace::call_stopped(now == Reason::DeadlineExceeded);
        }
        true
    }

    fn watch(&self, signals: &mut StopSignals) {
        self.report.stop.watch(signals);
    }

    #[inline]
    fn wants_split(&mut self, _task: &Node) -> Verdict {
        Verdict::Pass
    }
}

/// The items of an [`Interruptible`], all or some: the argument of the closure of [`run`](Interruptible::run).
///
/// ```
/// use furcate::prelude::*;
/// use furcate::iter::Partial;
/// use furcate::policy::CancelToken;
/// let sum = (1..=3).into_par_iter().stop_on(&CancelToken::new()).run(|items: Partial<_, _>| items.sum::<i32>());
/// assert_eq!(sum, Ok(6));
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
#[derive(Debug)]
pub struct Partial<I, S> {
    base: I,
    report: Arc<Report<S>>,
}

impl<I: ParallelIterator, S: Stop> ParallelIterator for Partial<I, S> {
    type Item = I::Item;
    type Producer<'a>
        = I::Producer<'a>
    where
        Self: 'a;

    change_schedule!(
        base: I,
        |it, base| base.with_policy(Reporting { report: Arc::clone(&it.report) }) => PlanWith<I, Reporting<S>>
    );

    #[inline]
    fn producer(&mut self) -> Self::Producer<'_> {
        self.base.producer()
    }
}

/// Declares terminals of [`ParallelIterator`] for [`Interruptible`], in two forms: blocking and awaited.
macro_rules! interruptible {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident, $async_name:ident[$($Param:ident),*]($($arg:ident: $Arg:ty),*) -> $Out:ty
        where [$($bounds:tt)*] $([$($async_bounds:tt)*])?
        by |$of:ident| $body:expr;
        example $items:literal, $call:literal => $result:literal;
    )+) => {
        /// The terminals of a parallel iterator.
        impl<I: ParallelIterator, S: Stop> Interruptible<I, S> {$(
            #[doc = concat!("[`ParallelIterator::", stringify!($name), "`] of the processed items.")]
            ///
            /// ```
            /// use furcate::prelude::*;
            /// use furcate::policy::CancelToken;
            /// let token = CancelToken::new();
            #[doc = concat!("let result = ", $items, ".stop_on(&token).", $call, ";")]
            #[doc = concat!("assert_eq!(result, Ok(", $result, "));")]
            /// ```
            #[track_caller]
            pub fn $name<$($Param),*>(self $(, $arg: $Arg)*) -> Result<$Out, Interrupted<$Out>>
            where
                $($bounds)*
            {
                let (items, report) = self.begin();
                report.of(items.$name($($arg),*))
            }
        )+}

        /// The terminals of a parallel iterator, awaited: see [`AsyncTerminal`] and [`async_run`](Interruptible::async_run).
        impl<I: ParallelIterator + 'static, S: Stop + 'static> Interruptible<I, S> {$(
            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), "), as a future: see")]
            #[doc = concat!("[`AsyncTerminals::", stringify!($async_name), "`].")]
            ///
            /// ```
            /// use furcate::prelude::*;
            /// use furcate::policy::CancelToken;
            /// let token = CancelToken::new();
            #[doc = concat!("let result = ", $items, ".stop_on(&token).async_", $call, ";")]
            #[doc = concat!("assert_eq!(futures_lite::future::block_on(result), Ok(", $result, "));")]
            /// ```
            pub fn $async_name<$($Param),*>(self $(, $arg: $Arg)*) -> AsyncInterruptible<$Out>
            where
                $($Param: 'static,)*
                $($bounds)*
                $(, $($async_bounds)*)?
            {
                self.async_run(|items| items.$async_name($($arg),*))
            }
        )+}
    };
}

terminals!(interruptible, I);
