//! Limits that only a hang exceeds, waiting for other threads, and spinning.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for everything that a test waits for, however busy the machine is. Only a hang takes longer.
pub const LONG: Duration = Duration::from_secs(300);

/// Runs `test` in a thread of its own and fails, instead of hanging, if it takes longer than `limit`.
#[track_caller]
pub fn within<R: Send + 'static>(limit: Duration, test: impl FnOnce() -> R + Send + 'static) -> R {
    let (send, receive) = mpsc::channel();
    let name = thread::current().name().unwrap_or("test").to_owned();
    let runner = thread::Builder::new()
        .name(name)
        .spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(test));
            let _ = send.send(outcome);
        })
        .expect("a thread for the test");
    match receive.recv_timeout(limit) {
        Ok(outcome) => {
            // The thread's thread-locals have been dropped, too.
            runner.join().expect("the test's panic was caught");
            outcome.unwrap_or_else(|payload| resume_unwind(payload))
        }
        Err(RecvTimeoutError::Timeout) => panic!("hangs: not done after {limit:?}"),
        Err(RecvTimeoutError::Disconnected) => panic!("the test's thread is gone"),
    }
}

/// Waits until `done` returns true, by an action of other threads.
#[track_caller]
pub fn until(mut done: impl FnMut() -> bool) {
    let since = Instant::now();
    while !done() {
        assert!(since.elapsed() < LONG, "waited for in vain");
        thread::sleep(Duration::from_micros(50));
    }
}

/// Keeps the processor busy for about this time.
pub fn spin(time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        std::hint::spin_loop();
    }
}
