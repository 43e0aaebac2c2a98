//! Parkers: a thread sleeps on its parker until another thread wakes it.

use crate::sync::{Condvar, Mutex};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// The parker of one thread. A call of [`unpark`](Parker::unpark) before [`park`](Parker::park) is not lost.
///
/// The pool does not use `std::thread::park`: there is one token for each thread, and jobs may use it for their own purposes.
#[derive(Debug)]
pub(crate) struct Parker {
    /// Whether `unpark` was called since the last `park`.
    token: Mutex<bool>,
    changed: Condvar,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Parker { token: Mutex::new(false), changed: Condvar::new() }
    }

    /// Blocks until there is a token, and takes it.
    pub(crate) fn park(&self) {
        let mut token = self.token.lock().expect("nobody panics with this lock");
        while !*token {
            token = self.changed.wait(token).expect("nobody panics with this lock");
        }
        *token = false;
    }

    /// As `park`, but blocks for `time` at most. Returns `false` if there was no token.
    #[cfg(not(loom))]
    pub(crate) fn park_timeout(&self, time: Duration) -> bool {
        let token = self.token.lock().expect("nobody panics with this lock");
        let (mut token, _) = self
            .changed
            .wait_timeout_while(token, time, |token| !*token)
            .expect("nobody panics with this lock");
        std::mem::take(&mut *token)
    }

    /// As `park`: loom has no time, so no model may depend on a timeout.
    #[cfg(loom)]
    pub(crate) fn park_timeout(&self, _: Duration) -> bool {
        self.park();
        true
    }

    /// Leaves a token, and wakes the thread if it is parked.
    pub(crate) fn unpark(&self) {
        *self.token.lock().expect("nobody panics with this lock") = true;
        self.changed.notify_one();
    }
}

/// Polls a future until it is ready, and blocks the thread meanwhile.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Parker);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }

        fn wake_by_ref(self: &Arc<Self>) {
            self.0.unpark();
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
