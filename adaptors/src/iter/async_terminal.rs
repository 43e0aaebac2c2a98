//! Terminals that return a future: the `async_*` methods.
//!
//! The future holds the whole computation, boxed, until it is first polled. Then the computation is spawned. The two
//! sides share the place of the result, and a token that says that the result is not needed any more.
//!
//! ```text
//!   New(computation) ── first poll ──> Begun ── the computation's end ──> awaited: its result, or its panic
//!        │ drop                          │ drop
//!        ▼                               ▼
//!      nothing was done                the token is cancelled: tasks end, pending futures are dropped, the rest by the pool
//! ```
//!
//! # Invariants
//!
//! 1. The place is filled once: with the end that the computation reports, or, if the computation is dropped without a
//!    report, with the mark that there is no result.
//! 2. A waker is kept only while the place is empty. The side that fills the place takes the waker out under the lock,
//!    and wakes afterwards. No code of a waker runs under the lock.
//! 3. When the result is there, everything that the chain owned is gone: it is dropped before.

mod owned;

pub(crate) use owned::{Collecting, Folded, OwnedTerminal, Searched, SearchedFrom, Sorted, TryFolded};

use super::{ParallelIterator, PolicyOf};
use furcate_pool::detach::SpawnedOutcome;
use furcate_schedulers::policy::{Both, CancelToken, StopOn};
use furcate_schedulers::{Computation, Plan, Schedule, Scheduler};
use std::any::Any;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

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
    New(Box<dyn BeginErased<T>>),
    Begun(Arc<TerminalShared<T>>),
    Over,
}

/// State that the future and the computation share.
struct TerminalShared<T> {
    place: Mutex<ResultPlace<T>>,
    /// Cancelled when the future is dropped.
    token: CancelToken,
}

/// The place of the result.
enum ResultPlace<T> {
    Empty(Option<Waker>),
    Laid(SpawnedOutcome<T>),
}

impl<T> TerminalShared<T> {
    fn lock(&self) -> MutexGuard<'_, ResultPlace<T>> {
        self.place.lock().expect("nobody panics with this lock")
    }

    fn lay(&self, end: SpawnedOutcome<T>) {
        let before = mem::replace(&mut *self.lock(), ResultPlace::Laid(end));
        if let ResultPlace::Empty(Some(waker)) = before {
            waker.wake();
        }
    }
}

/// The computation's side of the shared state: it fills the place.
struct Layer<T>(Option<Arc<TerminalShared<T>>>);

impl<T> Layer<T> {
    fn token(&self) -> Option<&CancelToken> {
        self.0.as_ref().map(|shared| &shared.token)
    }

    /// Fills the place and wakes (invariants 1 and 2). If the future is gone, a panic is raised here.
    fn lay(mut self, end: SpawnedOutcome<T>) {
        let Some(shared) = self.0.take() else { return };
        match end {
            SpawnedOutcome::Panicked(payload) if shared.token.is_cancelled() => resume_unwind(payload),
            end => shared.lay(end),
        }
    }
}

impl<T> Drop for Layer<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.lay(SpawnedOutcome::Cancelled);
        }
    }
}

impl<T> Future for AsyncTerminal<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let state = &mut self.get_mut().state;
        if let TerminalState::New(_) = state {
            let shared = Arc::new(TerminalShared {
                place: Mutex::new(ResultPlace::Empty(Some(context.waker().clone()))),
                token: CancelToken::new(),
            });
            if let TerminalState::New(begin) = mem::replace(state, TerminalState::Over) {
                // If `begin` panics, the computation has not begun.
                begin.begin(Layer(Some(Arc::clone(&shared))));
            }
            *state = TerminalState::Begun(shared);
        }
        let TerminalState::Begun(shared) = state else {
            panic!("an `AsyncTerminal` is polled after it was ready")
        };
        // Cloned, and dropped, without the lock: a waker is foreign code (invariant 2).
        let mut clone = None;
        let mut place = loop {
            let mut place = shared.lock();
            let ResultPlace::Empty(waker) = &mut *place else { break place };
            if waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
                return Poll::Pending;
            }
            let before = clone.take().map(|clone| waker.replace(clone));
            drop(place);
            if before.is_some() {
                return Poll::Pending;
            }
            clone = Some(context.waker().clone());
        };
        let laid = mem::replace(&mut *place, ResultPlace::Empty(None));
        drop(place);
        *state = TerminalState::Over;
        match laid {
            ResultPlace::Laid(SpawnedOutcome::Done(output)) => Poll::Ready(output),
            ResultPlace::Laid(SpawnedOutcome::Panicked(payload)) => resume_unwind(payload),
            ResultPlace::Laid(SpawnedOutcome::Cancelled) => {
                panic!("the pool was dropped before the computation's end")
            }
            ResultPlace::Empty(_) => unreachable!("it was laid"),
        }
    }
}

impl<T> Drop for AsyncTerminal<T> {
    fn drop(&mut self) {
        if let TerminalState::Begun(shared) = &self.state {
            shared.token.cancel();
        }
    }
}

impl<T> fmt::Debug for AsyncTerminal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            TerminalState::New(_) => "AsyncTerminal(not begun)",
            TerminalState::Begun(_) => "AsyncTerminal(begun)",
            TerminalState::Over => "AsyncTerminal(over)",
        })
    }
}

/// A computation with erased types.
trait BeginErased<T>: Send {
    fn begin(self: Box<Self>, layer: Layer<T>);
}

/// A computation that has not begun.
struct New<I, O, F> {
    items: I,
    terminal: O,
    finish: F,
}

impl<T> AsyncTerminal<T> {
    /// Runs a terminal over some items. `finish` turns the terminal's output into the result, on a worker.
    pub(crate) fn new<I, O, F>(items: I, terminal: O, finish: F) -> Self
    where
        I: ParallelIterator + 'static,
        O: OwnedTerminal<I::Item>,
        F: FnOnce(O::Output) -> T + Send + 'static,
        T: Send + 'static,
    {
        AsyncTerminal { state: TerminalState::New(Box::new(New { items, terminal, finish })) }
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
        AsyncTerminal::new(items.map(Some), Folded { identity: || None, op }, finish)
    }
}

impl<I, O, F, T> BeginErased<T> for New<I, O, F>
where
    I: ParallelIterator + 'static,
    O: OwnedTerminal<I::Item>,
    F: FnOnce(O::Output) -> T + Send + 'static,
    T: Send + 'static,
{
    fn begin(self: Box<Self>, layer: Layer<T>) {
        let New { items, terminal, finish } = *self;
        let Plan { scheduler, executor, .. } = items.schedule().into_plan();
        scheduler.spawn(Begun { items, terminal, finish, layer }, &executor);
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
    O: OwnedTerminal<I::Item>,
    F: FnOnce(O::Output) -> T + Send + 'static,
    T: Send + 'static,
{
    type Item = I::Item;
    type Output = O::Output;
    type Producer<'a> = I::Producer<'a>;
    type Policy = Both<PolicyOf<I>, StopOn>;
    type Reduction<'a> = O::Reduction<'a>;

    fn parts(&mut self) -> (I::Producer<'_>, Self::Policy, O::Reduction<'_>) {
        let token = self.layer.token().expect("nothing has been laid");
        let policy = Both::new(self.items.policy(), StopOn::new(token));
        (self.items.producer(), policy, self.terminal.reduction())
    }

    fn end(self, end: SpawnedOutcome<O::Output>) {
        let Begun { items, terminal, finish, layer } = self;
        let needed = layer.token().is_some_and(|token| !token.is_cancelled());
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
