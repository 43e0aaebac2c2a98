//! Restores the order of numbered tasks: each waits until all tasks before it have advanced.

use furcate_pool::sync::machine::{Mutex, MutexGuard};
use furcate_schedulers::WakerList;
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context, Poll};

/// Lets tasks pass by their numbers: 0, 1, 2 and so on, one at a time.
#[derive(Debug, Default)]
pub(super) struct InOrder {
    state: Mutex<OrderState>,
}

#[derive(Debug, Default)]
struct OrderState {
    /// Number of the task that has the turn.
    next: u64,
    waiting: WakerList,
}

impl InOrder {
    fn lock(&self) -> MutexGuard<'_, OrderState> {
        // A panic under the lock comes from a clone of a waker, and leaves the state as it was.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it is a task's turn.
    pub(super) fn turn(&self, number: u64) -> Turn<'_> {
        Turn { order: self, number }
    }

    /// Ends the turn of the task that has it. (A task that never ends its turn, because of a panic say, lets no other
    /// task follow.)
    pub(super) fn advance(&self) {
        let mut state = self.lock();
        state.next += 1;
        let next = state.next;
        let called = state.waiting.leave(next);
        drop(state);
        if let Some(waker) = called {
            waker.wake();
        }
    }
}

/// Future of [`InOrder::turn`]: waits for a turn.
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub(super) struct Turn<'a> {
    order: &'a InOrder,
    number: u64,
}

impl Future for Turn<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.order.lock();
        if state.next == self.number {
            return Poll::Ready(());
        }
        let before = state.waiting.wait(self.number, context.waker().clone());
        drop(state);
        drop(before);
        Poll::Pending
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let waker = self.order.lock().waiting.leave(self.number);
        drop(waker);
    }
}
