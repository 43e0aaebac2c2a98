//! Models of latches: the waiter sees the result, is woken, and may free the latch as soon as it sees the latch set.

use super::{JobCount, Latch, LockLatch};
use crate::models::explore;
use crate::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use crate::sync::parker::Parker;
use crate::sync::{Arc, Mutex};
use loom::cell::UnsafeCell;
use loom::thread;

/// A job, its latch, and its waiter.
struct Job {
    latch: Latch,
    result: UnsafeCell<u32>,
}

/// A waiter, with the lock of the slots.
struct Waiter {
    is_blocked: Mutex<bool>,
    parker: Parker,
}

impl Waiter {
    fn new() -> Self {
        Waiter { is_blocked: Mutex::new(false), parker: Parker::new() }
    }

    /// As `Registry::block`.
    fn block(&self, latch: &Latch) {
        let mut is_blocked = self.is_blocked.lock().unwrap();
        if !latch.will_wait() {
            return;
        }
        *is_blocked = true;
        while *is_blocked {
            drop(is_blocked);
            self.parker.park();
            is_blocked = self.is_blocked.lock().unwrap();
        }
    }

    /// As `Registry::resume`.
    fn resume(&self) {
        *self.is_blocked.lock().unwrap() = false;
        self.parker.unpark();
    }
}

/// A pointer to a job, on its way to the thief.
struct Pointer(*const Job);

// SAFETY: the latch is shared, and the result is written before the latch is set.
unsafe impl Send for Pointer {}

/// The thief sets the latch while the waiter looks at it, or blocks. The waiter frees the job at once.
#[test]
fn a_waiter_sees_the_result_and_may_free_the_latch() {
    explore(None, || {
        let waiter = Arc::new(Waiter::new());
        let job = Box::new(Job { latch: Latch::new(), result: UnsafeCell::new(0) });
        let thief = {
            let (waiter, job) = (Arc::clone(&waiter), Pointer(&raw const *job));
            thread::spawn(move || {
                let job = job;
                // SAFETY: the waiter keeps the job until the latch is set.
                unsafe {
                    (*job.0).latch.started_by(3);
                    (*job.0).result.with_mut(|result| *result = 7);
                    Latch::set(&raw const (*job.0).latch, || waiter.resume());
                }
            })
        };
        while !job.latch.is_set() {
            assert!(matches!(job.latch.thief(), None | Some(3)));
            waiter.block(&job.latch);
        }
        // SAFETY: the latch is set.
        assert_eq!(job.result.with(|result| unsafe { *result }), 7);
        drop(job);
        thief.join().unwrap();
    });
}

/// A waker signals between two polls: as in `block_on`.
#[test]
fn a_signaled_waiter_polls_again() {
    explore(None, || {
        let (waiter, latch) = (Arc::new(Waiter::new()), Arc::new(Latch::new()));
        let is_ready = Arc::new(AtomicBool::new(false));
        let wakes = {
            let (waiter, latch, is_ready) = (Arc::clone(&waiter), Arc::clone(&latch), Arc::clone(&is_ready));
            thread::spawn(move || {
                for last in [false, true] {
                    is_ready.store(last, Relaxed);
                    if latch.signal() {
                        waiter.resume();
                    }
                }
            })
        };
        loop {
            latch.reset();
            if is_ready.load(Relaxed) {
                break;
            }
            if !latch.is_set() {
                waiter.block(&latch);
            }
        }
        wakes.join().unwrap();
    });
}

/// The caller sees the result, and frees a `LockLatch` at once.
#[test]
fn a_caller_outside_the_pool_is_woken() {
    explore(None, || {
        struct Call(LockLatch, UnsafeCell<u32>);
        struct Pointer(*const Call);
        // SAFETY: the caller keeps the call until its latch is set.
        unsafe impl Send for Pointer {}
        let call = Box::new(Call(LockLatch::new(), UnsafeCell::new(0)));
        let setter = {
            let call = Pointer(&raw const *call);
            thread::spawn(move || {
                let call = call;
                // SAFETY: written before the latch is set, which happens once.
                unsafe {
                    (*call.0).1.with_mut(|result| *result = 7);
                    LockLatch::set(&raw const (*call.0).0);
                }
            })
        };
        call.0.wait();
        // SAFETY: the latch is set.
        assert_eq!(call.1.with(|result| unsafe { *result }), 7);
        drop(call);
        setter.join().unwrap();
    });
}

/// A job announces another one. The last one to arrive, and no other, sees the writes of all.
#[test]
fn the_last_one_to_arrive_sees_all_writes() {
    explore(None, || {
        let shared =
            Arc::new((JobCount::new(2), UnsafeCell::new(0), UnsafeCell::new(0), AtomicUsize::new(0)));
        let arrive = |shared: &(JobCount, UnsafeCell<u32>, UnsafeCell<u32>, AtomicUsize)| {
            if shared.0.arrive() {
                // SAFETY: all have arrived.
                let sum = shared.1.with(|a| unsafe { *a }) + shared.2.with(|b| unsafe { *b });
                assert_eq!(sum, 3);
                shared.3.fetch_add(1, Relaxed);
            }
        };
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                // SAFETY: this thread alone writes it, before it arrives.
                shared.1.with_mut(|a| unsafe { *a = 1 });
                // A third party announces itself while the other ones are counted.
                shared.0.announce();
                assert!(!shared.0.arrive());
                arrive(&shared);
            })
        };
        // SAFETY: as above.
        shared.2.with_mut(|b| unsafe { *b = 2 });
        arrive(&shared);
        other.join().unwrap();
        assert_eq!(shared.3.load(Relaxed), 1);
        assert!(!shared.0.try_announce());
    });
}
