//! Parkers: a thread sleeps on its parker until another thread wakes it.

use crate::sync::{Condvar, Mutex, MutexGuard};
use std::mem;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// The parker of one thread. A call of [`unpark`](Parker::unpark) before [`park`](Parker::park) is not lost.
///
/// The pool does not use `std::thread::park`: there is one token for each thread, and jobs may use it for their own purposes.
#[derive(Debug)]
pub(crate) struct Parker {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Whether `unpark` was called since the last `park`.
    token: bool,
    /// Wakes the thread, if it waits elsewhere: see [`poll_park`](Parker::poll_park).
    waker: Option<Waker>,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Parker { state: Mutex::new(State { token: false, waker: None }), changed: Condvar::new() }
    }

    /// Blocks until there is a token, and takes it.
    pub(crate) fn park(&self) {
        let mut state = self.lock();
        while !state.token {
            state = self.changed.wait(state).expect("nobody panics with this lock");
        }
        state.token = false;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panics with this lock")
    }

    /// As `park`, but blocks for `time` at most. Returns `false` if there was no token.
    #[cfg(not(loom))]
    pub(crate) fn park_timeout(&self, time: Duration) -> bool {
        let (mut state, _) = self
            .changed
            .wait_timeout_while(self.lock(), time, |state| !state.token)
            .expect("nobody panics with this lock");
        mem::take(&mut state.token)
    }

    /// As `park`: loom has no time, so no model may depend on a timeout.
    #[cfg(loom)]
    pub(crate) fn park_timeout(&self, _: Duration) -> bool {
        self.park();
        true
    }

    /// As `park`, for a thread that waits elsewhere until its waker is called. If there is no token, takes the waker, and returns `false`.
    pub(crate) fn poll_park(&self, waker: &mut Option<Waker>) -> bool {
        let mut state = self.lock();
        let has_token = mem::take(&mut state.token);
        if !has_token {
            debug_assert!(state.waker.is_none(), "the last one was called or taken back");
            state.waker = waker.take();
        }
        has_token
    }

    /// Takes the token, if there is one, and returns the waker, if it was not called.
    pub(crate) fn take_back(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.token = false;
        state.waker.take()
    }

    /// Leaves a token, and wakes the thread if it is parked. If the thread has left a waker instead, returns it: the caller calls it, without a lock.
    pub(crate) fn unpark(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.token = true;
        let waker = state.waker.take();
        drop(state);
        if waker.is_none() {
            self.changed.notify_one();
        }
        waker
    }
}

/// Polls a future until it is ready, and blocks the thread meanwhile.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Parker);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.wake_by_ref();
        }

        fn wake_by_ref(self: &Arc<Self>) {
            // The thread below leaves no waker.
            _ = self.0.unpark();
        }
    }
    let mut future = pin!(Some(future));
    let unpark = Arc::new(Unpark(Parker::new()));
    let waker = Waker::from(Arc::clone(&unpark));
    let mut context = Context::from_waker(&waker);
    loop {
        let polled = future.as_mut().as_pin_mut().map(|future| future.poll(&mut context));
        if let Some(Poll::Ready(output)) = polled {
            // Dropped before the return value is made: a panic in this drop would leak that value.
            future.set(None);
            return output;
        }
        unpark.0.park();
    }
}
