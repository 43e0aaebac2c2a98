//! Where a thread sleeps until another one wakes it.

use crate::sync::{Condvar, Mutex};
use std::time::Duration;

/// One thread's bed. A call of [`unpark`](Parker::unpark) before [`park`](Parker::park) is not lost.
///
/// Not `std::thread::park`: its token is the thread's, and jobs may use it for themselves.
#[derive(Debug)]
pub(crate) struct Parker {
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

    /// As `park`, but not for longer than `time`. False if there was no token.
    #[cfg(not(loom))]
    pub(crate) fn park_timeout(&self, time: Duration) -> bool {
        let token = self.token.lock().expect("nobody panics with this lock");
        let (mut token, _) = self
            .changed
            .wait_timeout_while(token, time, |token| !*token)
            .expect("nobody panics with this lock");
        std::mem::take(&mut *token)
    }

    /// loom has no time: no model may depend on it passing.
    #[cfg(loom)]
    pub(crate) fn park_timeout(&self, _: Duration) -> bool {
        self.park();
        true
    }

    /// Leaves a token.
    pub(crate) fn unpark(&self) {
        *self.token.lock().expect("nobody panics with this lock") = true;
        self.changed.notify_one();
    }
}
