//! The processor time of a thread, and whether it sleeps, for other threads to see.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::time::Duration;

/// The clock that counts a thread's processor time, for other threads to read.
///
/// Only Linux has such clocks; elsewhere [`used`](Self::used) is `None`.
#[derive(Debug)]
pub(crate) struct ThreadClock(AtomicI32);

/// Clock id of a value that has not been set to a thread's clock.
const NO_CLOCK: i32 = i32::MAX;

impl Default for ThreadClock {
    fn default() -> Self {
        ThreadClock(AtomicI32::new(NO_CLOCK))
    }
}

impl ThreadClock {
    /// Sets the value to the calling thread's clock.
    pub(crate) fn set_to_current(&self) {
        #[cfg(target_os = "linux")]
        {
            let mut clock = NO_CLOCK;
            // SAFETY: the calling thread is alive, and the pointer is to a clock id.
            if unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) } == 0 {
                // Relaxed: readers get a number that the system checks.
                self.0.store(clock, Relaxed);
            }
        }
    }

    /// Returns the processor time that the thread has used. `None` if the thread has ended, or on systems without such clocks.
    pub(crate) fn used(&self) -> Option<Duration> {
        #[cfg(target_os = "linux")]
        {
            let clock = self.0.load(Relaxed);
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the pointer is to a timespec. The system refuses clock ids of threads that have ended.
            let known = clock != NO_CLOCK && unsafe { libc::clock_gettime(clock, &raw mut time) } == 0;
            known.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Returns the system's number of the thread. `None` if the value has not been set, or on systems without such clocks.
    pub(crate) fn thread(&self) -> Option<i32> {
        let clock = self.0.load(Relaxed);
        // The clock id of a thread is made of the thread's number: `MAKE_THREAD_CPUCLOCK` in the system's sources.
        (clock != NO_CLOCK).then_some(!(clock >> 3))
    }

    /// Whether the thread sleeps in the system: on a lock, in a system call. `None` if the system does not say.
    pub(crate) fn sleeps(&self) -> Option<bool> {
        #[cfg(target_os = "linux")]
        {
            let thread = self.thread()?;
            let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat")).ok()?;
            // The name, in parentheses, may contain anything.
            let state = stat.rsplit(')').next()?.trim_start().chars().next()?;
            Some(state != 'R')
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}
