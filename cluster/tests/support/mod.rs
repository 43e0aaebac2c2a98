//! Shared by the tests of this crate.
#![allow(dead_code, reason = "each test uses a part of the module")]

pub(crate) mod other;

use std::any::Any;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// A generator of random numbers (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

/// Runs a test, and fails if it takes longer than anything that still makes progress would.
pub(crate) fn within_a_minute<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    let test = thread::spawn(move || {
        let result = test();
        let _ = sender.send(());
        result
    });
    let end = receiver.recv_timeout(Duration::from_secs(60));
    assert_ne!(end, Err(std::sync::mpsc::RecvTimeoutError::Timeout), "the test hangs");
    test.join().unwrap_or_else(|payload| std::panic::resume_unwind(payload))
}

/// Keeps the processor busy for some time that depends on the item.
pub(crate) fn busy(turns: u64) -> u64 {
    (0..turns).fold(turns, |x, i| std::hint::black_box(x.wrapping_mul(31).wrapping_add(i)))
}

/// The text of a panic.
pub(crate) fn text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or(payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("?")
}
