//! Memory and processor time of this process.

use std::time::Duration;

/// The greatest resident memory of this process so far, in bytes, as Linux tells it.
#[must_use]
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Returns the processor time of all of this process's threads so far.
#[cfg(unix)]
#[must_use]
pub fn cpu_time() -> Option<Duration> {
    rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).try_into().ok()
}

/// Returns the processor time of all of this process's threads so far.
#[cfg(not(unix))]
#[must_use]
pub fn cpu_time() -> Option<Duration> {
    None
}
