//! Terminals that return a future: the `async_*` methods.
//!
//! The future holds the whole computation, boxed, until it is first polled. Then the computation is spawned. The two
//! sides share the place of the result ([`OneShot`]), and a token that says that the result is not needed any more.
//!
//! ```text
//!   New(computation) ── first poll ──> Begun ── the computation's end ──> awaited: its result, or its panic
//!        │ drop                          │ drop
//!        ▼                               ▼
//!      nothing was done                the token is cancelled: tasks end, pending futures are dropped, the rest by the pool
//! ```
//!
//! # Invariant
//!
//! When the result is there, everything that the chain owned is gone: it is dropped before.

use super::terminals::{Reduce, Terminal};
use super::{ParallelIterator, PolicyOf};
use furcate_pool::detach::{OneShot, OneShotSender, SpawnedOutcome};
use furcate_schedulers::policy::{Both, CancelToken, StopOn};
use furcate_schedulers::{Computation, Plan, Schedule, Scheduler};
use std::any::Any;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The result of a computation for which no thread waits: the return type of the `async_*` terminals of a
/// [`ParallelIterator`].
///
/// It is a future for any executor. The computation begins when the future is first polled. From then on it runs in its
/// own pool, or waits there, whether the future is polled or not. When it has ended, everything that it owned has been
/// dropped.
///
/// *Dropping the future cancels the computation.* From that moment no item of it begins, however many are queued:
/// before each item a task looks whether the item is still needed. Running tasks end after their current item. (Without
/// `io_await`, where a task folds cheap items in steps, within about 0.1 ms.) A worker drops the computation's pending
/// futures before it begins another job. After that, the pool drops everything that the chain owns. A future that was
/// never polled has done nothing. If the future is forgotten instead of dropped, the computation runs to its end.
///
/// # Panics
///
/// Polling panics with the panic of the computation; if the pool was dropped before the computation's end; and after
/// the future was ready. If the future has been dropped, a panic of the computation goes to the pool's [panic
/// handler](furcate_pool::ThreadPoolBuilder::panic_handler). Without a handler it ends only the computation: the panic
/// hook has printed its message.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::iter::AsyncTerminal;
///
/// let sum: AsyncTerminal<u64> = (0..1000_u64).into_par_iter().map(|x| async move { 2 * x }).io_await().async_sum();
/// assert_eq!(futures_lite::future::block_on(sum), 999_000);
/// ```
#[must_use = "futures do nothing unless they are polled"]
pub struct AsyncTerminal<T> {
    state: TerminalState<T>,
}

enum TerminalState<T> {
    /// Begins the computation, whose types are erased here.
    New(Box<dyn FnOnce(Layer<T>) + Send>),
    Begun {
        place: Arc<OneShot<T>>,
        /// Cancelled when the future is dropped.
        token: CancelToken,
    },
    Over,
}

/// The computation's side: it delivers the result.
struct Layer<T> {
    sender: OneShotSender<T>,
    /// Cancelled when the future has been dropped.
    token: CancelToken,
}

impl<T> Layer<T> {
    /// Delivers the result. If the future is gone, a panic is raised here.
    fn lay(mut self, end: SpawnedOutcome<T>) {
        let unheard = match end {
            SpawnedOutcome::Panicked(payload) => self.sender.deliver_panic(payload),
            end => {
                self.sender.deliver(end);
                None
            }
        };
        if let Some(payload) = unheard {
            resume_unwind(payload);
        }
    }
}

impl<T> Future for AsyncTerminal<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let state = &mut self.get_mut().state;
        if matches!(state, TerminalState::New(_)) {
            let TerminalState::New(begin) = mem::replace(state, TerminalState::Over) else {
                unreachable!("just seen")
            };
            let ((place, sender), token) = (OneShot::new(), CancelToken::new());
            // If `begin` panics, the computation has not begun.
            begin(Layer { sender, token: token.clone() });
            *state = TerminalState::Begun { place, token };
        }
        let TerminalState::Begun { place, .. } = state else {
            panic!("an `AsyncTerminal` is polled after it was ready")
        };
        let end = ready!(place.poll(context));
        *state = TerminalState::Over;
        match end {
            Some(SpawnedOutcome::Done(output)) => Poll::Ready(output),
            Some(SpawnedOutcome::Panicked(payload)) => resume_unwind(payload),
            Some(SpawnedOutcome::Cancelled) => panic!("the pool was dropped before the computation's end"),
            None => unreachable!("the result is taken here"),
        }
    }
}

impl<T> Drop for AsyncTerminal<T> {
    fn drop(&mut self) {
        if let TerminalState::Begun { place, token } = mem::replace(&mut self.state, TerminalState::Over) {
            // First: a task that sees the token cancelled also finds that nobody receives its panic.
            drop(place);
            token.cancel();
        }
    }
}

impl<T> fmt::Debug for AsyncTerminal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            TerminalState::New(_) => "AsyncTerminal(not begun)",
            TerminalState::Begun { .. } => "AsyncTerminal(begun)",
            TerminalState::Over => "AsyncTerminal(over)",
        })
    }
}

impl<T> AsyncTerminal<T> {
    /// Runs a terminal over some items. `finish` turns the terminal's output into the result, on a worker.
    pub(crate) fn new<I, O, F>(items: I, terminal: O, finish: F) -> Self
    where
        I: ParallelIterator + 'static,
        O: Terminal<I::Item>,
        F: FnOnce(O::Output) -> T + Send + 'static,
        T: Send + 'static,
    {
        AsyncTerminal {
            state: TerminalState::New(Box::new(move |layer| {
                let Plan { scheduler, executor, .. } = items.schedule().into_plan();
                scheduler.spawn(Begun { items, terminal, finish, layer }, &executor);
            })),
        }
    }

    /// Reduces all items with an associative operation; `finish` gets `None` if there are no items.
    pub(crate) fn reduced<I, OP, F>(items: I, op: OP, finish: F) -> Self
    where
        I: ParallelIterator + 'static,
        OP: Fn(I::Item, I::Item) -> I::Item + Sync + Send + 'static,
        F: FnOnce(Option<I::Item>) -> T + Send + 'static,
        T: Send + 'static,
    {
        let op = move |left: Option<I::Item>, right: Option<I::Item>| match (left, right) {
            (Some(left), Some(right)) => Some(op(left, right)),
            (left, right) => left.or(right),
        };
        AsyncTerminal::new(items.map(Some), Reduce { identity: || None, op }, finish)
    }
}

/// A computation that has begun.
struct Begun<I, O, F, T> {
    items: I,
    terminal: O,
    finish: F,
    layer: Layer<T>,
}

impl<I, O, F, T> Computation for Begun<I, O, F, T>
where
    I: ParallelIterator + 'static,
    O: Terminal<I::Item>,
    F: FnOnce(O::Output) -> T + Send + 'static,
    T: Send + 'static,
{
    type Item = I::Item;
    type Output = O::Output;
    type Producer<'a> = I::Producer<'a>;
    type Policy = Both<PolicyOf<I>, StopOn>;
    type Reduction<'a> = O::Reduction<'a>;

    fn parts(&mut self) -> (I::Producer<'_>, Self::Policy, O::Reduction<'_>) {
        let policy = Both::new(self.items.policy(), StopOn::new(&self.layer.token));
        (self.items.producer(), policy, self.terminal.reduction())
    }

    fn end(self, end: SpawnedOutcome<O::Output>) {
        let Begun { items, terminal, finish, layer } = self;
        let needed = !layer.token.is_cancelled();
        let dropped = caught(|| drop((items, terminal)));
        let end = match (end, dropped) {
            (SpawnedOutcome::Panicked(payload), dropped) => {
                forget_payload(dropped);
                SpawnedOutcome::Panicked(payload)
            }
            (end, Err(payload)) => {
                forget_payload(caught(|| drop((end, finish))));
                SpawnedOutcome::Panicked(payload)
            }
            (SpawnedOutcome::Done(output), Ok(())) if needed => {
                caught(|| finish(output)).map_or_else(SpawnedOutcome::Panicked, SpawnedOutcome::Done)
            }
            // The result is never seen, and may be a partial one.
            (end, Ok(())) => caught(|| drop((end, finish)))
                .map_or_else(SpawnedOutcome::Panicked, |()| SpawnedOutcome::Cancelled),
        };
        layer.lay(end);
    }
}

fn caught<R>(f: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    // Unwind-safe: a value whose code has panicked is not used again.
    catch_unwind(AssertUnwindSafe(f))
}

/// Forgets the payload of a panic that is not the first one: its drop might panic in turn.
fn forget_payload(dropped: Result<(), Box<dyn Any + Send>>) {
    if let Err(payload) = dropped {
        mem::forget(payload);
    }
}
