//! Times and context switches of a run, and memory of the process.

use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
pub(crate) struct Snapshot {
    at: Instant,
    processor: Duration,
    switches: i64,
}

pub(crate) struct Used {
    pub(crate) wall: Duration,
    /// User and system time of all threads of the process.
    pub(crate) processor: Duration,
    /// Voluntary context switches of all threads of the process.
    pub(crate) switches: i64,
}

impl Snapshot {
    pub(crate) fn now() -> Self {
        let mut usage = MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: the pointer is to memory of that type.
        assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) }, 0);
        // SAFETY: the call has succeeded, so it has written the value.
        let usage = unsafe { usage.assume_init() };
        let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
        Snapshot {
            at: Instant::now(),
            processor: time(usage.ru_utime) + time(usage.ru_stime),
            switches: usage.ru_nvcsw,
        }
    }

    pub(crate) fn since(self, before: Self) -> Used {
        Used {
            wall: self.at - before.at,
            processor: self.processor - before.processor,
            switches: self.switches - before.switches,
        }
    }
}

/// Peak of the process's resident memory in KiB, or 0 if the system does not tell.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
