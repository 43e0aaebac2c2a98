//! What accesses, system calls and wake-ups cost on a machine, and the machines that are at hand.
//!
//! Each constant names its source: *measured* values are those that `cargo run --release -p furcate-sim --example costs` prints on the machine of
//! the preset; others are published.

use crate::world::{NS, Time};
use std::fmt;

/// A machine to simulate.
#[derive(Clone, Copy)]
pub struct Machine {
    /// Number of cores.
    pub cores: usize,
    /// Cores that share the nearest common cache.
    pub per_cluster: usize,
    /// Cores of a socket.
    pub per_socket: usize,
    pub(crate) costs: Costs,
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cores, per_cluster, per_socket, .. } = self;
        write!(f, "{cores} cores, {per_cluster} in a cluster, {per_socket} on a socket")
    }
}

/// Costs in picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    /// An access of a line that the core has, with the instructions around it.
    pub(crate) hit: Time,
    /// A read-modify-write of a line that the core has.
    pub(crate) swap: Time,
    /// A full fence.
    pub(crate) fence: Time,
    /// Getting a line from another core of the cluster, of the socket, of another socket.
    pub(crate) miss: [Time; 3],
    /// A look at the system's clock.
    pub(crate) clock: Time,
    /// A pause instruction.
    pub(crate) pause: Time,
    /// A system call that yields, and finds no other thread.
    pub(crate) yields: Time,
    /// A system call that wakes no thread.
    pub(crate) call: Time,
    /// The caller's side of a wake-up.
    pub(crate) wakes: Time,
    /// Time until a thread that is woken on an idle core runs: the quantiles at 1/16, 3/16, ... of wake-ups.
    pub(crate) wakeup: [Time; 8],
    /// Going to sleep.
    pub(crate) sleeps: Time,
    /// Switching a core to another thread.
    pub(crate) switch: Time,
    /// A membarrier on an otherwise idle machine.
    pub(crate) barrier: Time,
    /// More of it for each core that is interrupted.
    pub(crate) per_interruption: Time,
    /// Time that an interruption takes on the core that is interrupted.
    pub(crate) interruption: Time,
    /// How much later than asked a sleep ends.
    pub(crate) slack: Time,
    /// Time that a thread runs before another one that waits for its core gets it.
    pub(crate) slice: Time,
    /// Time by which a thread may run ahead of the others. On a machine whose cores affect each other only after that time, as by messages, nothing is
    /// seen too late, and the simulation switches less. If it is not 0, the cores share no memory, and all lines are theirs.
    pub(crate) ahead: Time,
}

impl Machine {
    /// The two cores on which this project is measured.
    pub const HERE: Machine = Machine { cores: 2, per_cluster: 2, per_socket: 2, costs: MEASURED };

    /// A desktop with 16 cores: two clusters of 8 that share a cache each.
    pub const DESKTOP_16: Machine = Machine { cores: 16, per_cluster: 8, per_socket: 16, costs: ON_CHIPLETS };

    /// 64 cores on a socket, in clusters of 8.
    pub const SOCKET_64: Machine = Machine { cores: 64, per_cluster: 8, per_socket: 64, costs: ON_CHIPLETS };

    /// Two sockets of 64 cores.
    pub const SOCKETS_2_64: Machine =
        Machine { cores: 128, per_cluster: 8, per_socket: 64, costs: ON_CHIPLETS };

    /// Ranks of a cluster, one core each, that poll: a core waits without going to sleep, so wake-ups and sleeps cost nothing, and no core
    /// interrupts another one. Messages take the time that the transport gives them: at least 4 us, by which a
    /// core may be simulated ahead of the others.
    pub const RANKS: Machine = Machine { cores: 1, per_cluster: 1, per_socket: 1, costs: POLLING };

    /// Returns the machine with another number of cores, in clusters and sockets of the same sizes.
    #[must_use]
    pub fn with_cores(self, cores: usize) -> Self {
        Machine { cores, ..self }
    }
}

/// Measured by the example `costs` on the machine of [`Machine::HERE`]: two cores of a virtual machine (Intel Xeon, Linux 6.18), where an interruption of
/// another core is a call of the hypervisor. A wake-up is counted from the end of the caller's part. `sleeps` is assumed to be two switches.
const MEASURED: Costs = Costs {
    hit: 250,
    swap: 8_100,
    fence: 5_900,
    miss: [60 * NS; 3],
    clock: 18 * NS,
    pause: 9_200,
    yields: 167 * NS,
    call: 79 * NS,
    wakes: 15_400 * NS,
    wakeup: [
        22_800 * NS,
        26_700 * NS,
        28_800 * NS,
        30_800 * NS,
        33_400 * NS,
        37_000 * NS,
        42_600 * NS,
        52_200 * NS,
    ],
    sleeps: 1_000 * NS,
    switch: 510 * NS,
    barrier: 113 * NS,
    per_interruption: 15_900 * NS,
    interruption: 8_000 * NS,
    slack: 102_000 * NS,
    slice: 3_970_000 * NS,
    ahead: 0,
};

/// Processors of several chips without a hypervisor. The ways between caches: AnandTech's core-to-core latencies of AMD EPYC 7763 (2021), in a
/// chip, between chips, between sockets. `swap`, `fence` and `pause`: Agner Fog's tables for Zen 3, at 3.5 GHz. **Assumed**, for want of a source:
/// the caller's part of a wake-up, and a heavy fence, which takes 1.5 us and 0.1 us more for each core that it interrupts for 1.5 us. The rest, wake-ups of
/// some 30 us among it, is measured here.
const ON_CHIPLETS: Costs = Costs {
    swap: 5_000,
    fence: 5_000,
    pause: 11_000,
    miss: [25 * NS, 90 * NS, 200 * NS],
    wakes: 2_000 * NS,
    barrier: 1_500 * NS,
    per_interruption: 100 * NS,
    interruption: 1_500 * NS,
    ..MEASURED
};

/// As [`ON_CHIPLETS`], with all that the system does for a thread for nothing: a rank has its core alone, and polls.
const POLLING: Costs = Costs {
    wakes: 0,
    wakeup: [0; 8],
    sleeps: 0,
    switch: 0,
    slack: 0,
    barrier: 100 * NS,
    per_interruption: 0,
    interruption: 0,
    ahead: 4_000 * NS,
    ..ON_CHIPLETS
};
