//! Fork and join.

use crate::engine::external;
use crate::engine::job::by_pointer::{ByPointer, fits_registers, is_large};
use crate::engine::worker::Worker;
use crate::quiet_drop::Quiet;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

/// Facts that [`join_context`] passes to its closures: whether the closure has migrated.
///
/// It is rayon's type. An engine passes a [`Context`](crate::Context) to the closures of a fork: a value that may be copied and sent,
/// with a stricter meaning.
///
/// ```
/// let (left, _) = furcate::join_context(|context| context.migrated(), |_| ());
/// assert!(!left, "the calling thread runs it");
/// ```
///
/// It belongs to the thread that runs the closure, and cannot be sent to another one:
///
/// ```compile_fail,E0277
/// furcate::join_context(|context| furcate::join(move || context.migrated(), || ()), |_| ());
/// ```
#[derive(Debug)]
pub struct FnContext {
    migrated: bool,
    /// Marker: neither `Send` nor `Sync`.
    _this_thread: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    fn new(migrated: bool) -> Self {
        FnContext { migrated, _this_thread: PhantomData }
    }

    /// Returns whether another thread runs the closure than the one that called [`join_context`]. So it is true for both closures if
    /// the call comes from outside the pool and the pool [runs such calls on its own
    /// threads](crate::ThreadPoolBuilder::caller_takes_part).
    #[must_use]
    pub fn migrated(&self) -> bool {
        self.migrated
    }
}

/// Runs both closures, potentially in parallel, and returns both results.
///
/// The right closure can be stolen at any moment while the left one runs. If it is not stolen, the calling thread runs it afterwards. A
/// thread that is no worker takes part in the global pool for the time of the call, in one of the pool's slots: it runs this call's
/// jobs, and no others. (A pool may [run such calls on its own threads](crate::ThreadPoolBuilder::caller_takes_part) instead.)
///
/// Cost: a few instructions more than calling both, see `benches/README.md`; no allocation, no fence.
///
/// # Panics
///
/// If a closure panics, once both are done, with the closure's payload. If both panic, with the left one's payload.
///
/// ```
/// fn sum(numbers: &[u64]) -> u64 {
///     if numbers.len() < 1000 {
///         return numbers.iter().sum();
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (left, right) = furcate::join(|| sum(left), || sum(right));
///     left + right
/// }
/// assert_eq!(sum(&(0..10_000).collect::<Vec<_>>()), 49_995_000);
/// ```
#[inline(always)] // the fork is the function that is called
pub fn join<A, B, RA, RB>(left: A, right: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork(|_, _outside| left(), |_, _migrated, _outside| right())
}

/// Does the same as [`join`], and tells each closure whether it has [migrated](FnContext::migrated).
///
/// # Panics
///
/// As [`join`].
///
/// ```
/// let (a, b) = furcate::join_context(|c| (1, c.migrated()), |_| 2);
/// assert_eq!((a, b), ((1, false), 2));
/// ```
#[inline(always)] // the fork is the function that is called
pub fn join_context<A, B, RA, RB>(left: A, right: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork(
        |worker, outside| left(FnContext::new(outside && !worker.is_external())),
        |worker, migrated, outside| right(FnContext::new(migrated || outside && !worker.is_external())),
    )
}

/// Does the same as [`join_context`], but in a call from outside both closures count as migrated, also if the calling thread runs them: so does rayon, whose
/// iterators divide a call from outside into more parts for that.
#[doc(hidden)]
#[inline(always)] // the fork is the function that is called
pub fn join_context_as_in_rayon<A, B, RA, RB>(left: A, right: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork(
        |_, outside| left(FnContext::new(outside)),
        |_, migrated, outside| right(FnContext::new(migrated || outside)),
    )
}

/// Does the same as [`join`], and passes each closure a handle of the worker that runs it. Joins inside the closures then need no
/// look-up of a thread-local.
///
/// # Panics
///
/// As [`join`].
///
/// ```
/// let (a, b) = furcate::join_with(|w| w.join(|_| 1, |_| 2), |_| 3);
/// assert_eq!((a, b), ((1, 2), 3));
/// ```
#[inline(always)] // the fork is the function that is called
pub fn join_with<A, B, RA, RB>(left: A, right: B) -> (RA, RB)
where
    A: FnOnce(&Worker) -> RA + Send,
    B: FnOnce(&Worker) -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork(|worker, _outside| left(worker), |worker, _migrated, _outside| right(worker))
}

#[cfg(any(not(debug_assertions), furcate_inline_forks))]
pub(crate) use fork_inline as fork;

/// Forks on the calling thread's worker; for a thread from outside, as a call of the global pool.
///
/// The last argument of both halves is whether the fork is such a call. The right half is also told whether it has migrated.
///
/// An optimized build compiles a fork for its closures, so that the fork costs no call. In a debug build these forks would be most of
/// the code of a chain, so a debug build compiles one fork for all closures. `--cfg furcate_inline_forks` selects the optimized form
/// there too, for tests.
#[inline(always)]
pub(crate) fn fork_inline<A, B, RA, RB>(left: A, right: B) -> (RA, RB)
where
    A: FnOnce(&Worker, bool) -> RA + Send,
    B: FnOnce(&Worker, bool, bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    if const { fits_registers::<A>() && fits_registers::<B>() } {
        return fork_of_words(left, right);
    }
    if const { is_large::<A>() || is_large::<B>() } {
        return fork_here(left, right);
    }
    let (mut left, mut right) = (ManuallyDrop::new(left), ManuallyDrop::new(right));
    // SAFETY: neither is used below.
    let (left, right) = unsafe { (ByPointer::new(&mut left), ByPointer::new(&mut right)) };
    fork_of_words(
        |worker, outside| left.take()(worker, outside),
        |worker, migrated, outside| right.take()(worker, migrated, outside),
    )
}

/// A fork as a function of its own: see [`by_pointer`](crate::engine::job::by_pointer).
#[inline(never)]
fn fork_of_words<A, B, RA, RB>(left: A, right: B) -> (RA, RB)
where
    A: FnOnce(&Worker, bool) -> RA + Send,
    B: FnOnce(&Worker, bool, bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork_here(left, right)
}

/// A fork in the calling function.
#[inline(always)]
fn fork_here<A, B, RA, RB>(left: A, right: B) -> (RA, RB)
where
    A: FnOnce(&Worker, bool) -> RA + Send,
    B: FnOnce(&Worker, bool, bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    Worker::with_current(|current| match current {
        Some(worker) => {
            worker.fork(|worker| left(worker, false), |worker, migrated| right(worker, migrated, false))
        }
        None => fork_from_outside(left, right),
    })
}

/// [`fork_inline`], compiled once for all closures.
#[cfg(all(debug_assertions, not(furcate_inline_forks)))]
pub(crate) fn fork<A, B, RA, RB>(left: A, right: B) -> (RA, RB)
where
    A: FnOnce(&Worker, bool) -> RA + Send,
    B: FnOnce(&Worker, bool, bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork_erased(left, right, any_fork)
}

#[cfg(all(debug_assertions, not(furcate_inline_forks)))]
fn any_fork(left: Left<'_>, right: Right<'_>) {
    fork_inline(left, right);
}

/// Forks as a call of the global pool. One call of that kind is the root of many forks, so it is compiled once for all closures.
#[cold]
#[inline(never)]
fn fork_from_outside<A, B, RA, RB>(left: A, right: B) -> (RA, RB)
where
    A: FnOnce(&Worker, bool) -> RA + Send,
    B: FnOnce(&Worker, bool, bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    fork_erased(left, right, any_fork_from_outside)
}

fn any_fork_from_outside(left: Left<'_>, right: Right<'_>) {
    external::run_from_outside(None, &mut |worker, outside| {
        worker.fork(|worker| left(worker, outside), |worker, migrated| right(worker, migrated, outside));
    });
}

/// The left half of a fork, whatever its closure is. It is called once.
type Left<'f> = &'f mut (dyn FnMut(&Worker, bool) + Send);
/// The right half.
type Right<'f> = &'f mut (dyn FnMut(&Worker, bool, bool) + Send);

/// Forks by a function that knows no closure's type. It has to run both halves, or to unwind.
fn fork_erased<A, B, RA, RB>(left: A, right: B, fork: fn(Left<'_>, Right<'_>)) -> (RA, RB)
where
    A: FnOnce(&Worker, bool) -> RA + Send,
    B: FnOnce(&Worker, bool, bool) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let (mut left, mut right) = (Some(left), Some(right));
    // If the left half has panicked, the result of the right half is dropped without a second panic, as `Worker::fork` drops it.
    let (mut left_half, mut right_half) = (None, Quiet(None));
    fork(
        &mut |worker, outside| {
            if let Some(left) = left.take() {
                left_half = Some(left(worker, outside));
            }
        },
        &mut |worker, migrated, outside| {
            if let Some(right) = right.take() {
                right_half.0 = Some(right(worker, migrated, outside));
            }
        },
    );
    match (left_half, right_half.0.take()) {
        (Some(left), Some(right)) => (left, right),
        _ => unreachable!("a fork that has returned has run both halves"),
    }
}
