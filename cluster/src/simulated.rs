//! Ranks that are virtual threads of one simulation.
//!
//! Each rank has a virtual thread, which is the only worker of its pool. A message carries the virtual time of its arrival. [`poll`](Transport::poll)
//! returns the messages that have arrived, and [`wait`](Transport::wait) sleeps until the next arrival.
//!
//! | message | takes |
//! |---|---|
//! | a request, a refusal, and all others | half of a steal that fails, and more for each byte |
//! | a share, a frame that can be run | a steal that succeeds, less the request, and more for each byte |
//!
//! # Invariants
//!
//! 1. The arrivals of the messages of one pair of ranks have the order of their sends, whatever the faults (the transport's contract, 1).
//! 2. No lock of a mailbox is held across an access of the simulation: these locks are std's, and cost no virtual time.
//! 3. A rank looks at its mailbox when all ranks have come up to its time, less the shortest time of a message. So any message that has arrived
//!    is there. [`Machine::RANKS`](furcate_sim::Machine::RANKS) lets ranks run ahead by less than that.
//! 4. A rank that dies sends nothing and takes nothing from then on. Its program unwinds with [`Died`].

use crate::transport::{Envelope, Malformed, Message, Transport};
use crate::world::World;
use furcate_pool::ThreadPoolBuilder;
use furcate_pool::sync::clock::Instant;
use furcate_pool::sync::machine::thread;
use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Times that messages take.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    /// From a request to the share, if the victim replies at once.
    pub steal: Duration,
    /// From a request to the refusal.
    pub failed_steal: Duration,
    /// Picoseconds of each byte.
    pub per_byte: u64,
}

impl Latency {
    /// Values of Shiina and Taura (IEEE Cluster 2022), on ITO-A.
    pub const PAPER: Latency = Latency {
        steal: Duration::from_micros(30),
        failed_steal: Duration::from_nanos(8_500),
        per_byte: 700,
    };
}

/// Faults of messages and ranks: none by default. No message is duplicated, because a [transport](crate::Transport) delivers each one once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// Seed of all random choices.
    pub seed: u64,
    /// The longest delay of a message. Messages of different pairs overtake one another.
    pub delay: Duration,
    /// One of so many messages is delayed; 0: none.
    pub delayed: u64,
    /// One of so many messages is damaged: its last byte is missing, which every receiver notices (the transport's contract, 5); 0: none.
    pub damaged: u64,
    /// A rank that stops once, the time from the begin of the run, and for how long.
    pub stops: Option<(usize, Duration, Duration)>,
    /// A rank that is slow, and the time that each of its looks at the mail takes.
    pub slow: Option<(usize, Duration)>,
    /// A rank that dies, and the time from the begin of the run.
    pub dies: Option<(usize, Duration)>,
}

/// Payload of the panic of a rank that [dies](Faults::dies).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Died;

/// Runs a program on several ranks, which are virtual threads: inside [`furcate_sim::simulate`], or [`furcate_sim::check`], under `--cfg furcate_sim`.
#[derive(Clone, Copy, Debug)]
#[must_use = "nothing is done until `run` is called"]
pub struct Simulated {
    ranks: usize,
    latency: Latency,
    faults: Faults,
    timeout: Duration,
}

impl Simulated {
    /// So many ranks, with the latency of [`Latency::PAPER`] and without faults.
    ///
    /// # Panics
    ///
    /// If there are no ranks.
    pub fn new(ranks: usize) -> Self {
        assert!(ranks > 0, "a world needs a rank");
        Simulated { ranks, latency: Latency::PAPER, faults: Faults::default(), timeout: TIMEOUT }
    }

    /// Sets the times that messages take.
    ///
    /// # Panics
    ///
    /// If a message takes less than 4 us, by which ranks run ahead of each other (invariant 3): half of a failed steal.
    pub fn latency(self, latency: Latency) -> Self {
        let shortest = latency.failed_steal / 2;
        assert!(
            shortest >= Duration::from_micros(4),
            "a message takes at least 4 us: choose a failed steal of 8 us or more"
        );
        Simulated { latency, ..self }
    }

    /// Sets the faults.
    pub fn faults(self, faults: Faults) -> Self {
        Simulated { faults, ..self }
    }

    /// Sets the time after which a rank that hears nothing gives the call up: ten minutes by default. See [`World::with_timeout`].
    pub fn timeout(self, timeout: Duration) -> Self {
        Simulated { timeout, ..self }
    }

    /// Runs the program on all ranks. Returns the results in the order of the ranks.
    ///
    /// # Panics
    ///
    /// If a rank panics. Of several panics the one of the lowest rank goes on.
    pub fn run<T: Send>(self, program: impl Fn(&World) -> T + Sync) -> Vec<T> {
        let results = self.try_run(program).into_iter();
        results.map(|result| result.unwrap_or_else(|payload| resume_unwind(payload))).collect()
    }

    /// Runs the program on all ranks. Returns the result of each, or its panic.
    ///
    /// # Panics
    ///
    /// If the calling thread is not a virtual one, or a pool cannot be built.
    pub fn try_run<T: Send>(self, program: impl Fn(&World) -> T + Sync) -> Vec<thread::Result<T>> {
        assert!(furcate_sim::is_simulated(), "simulated ranks run inside `furcate_sim::simulate` or `check`");
        let net = Arc::new(Net {
            begin: Instant::now(),
            latency: self.latency,
            faults: self.faults,
            mail: (0..self.ranks).map(|_| Mailbox::default()).collect(),
        });
        let results: Vec<_> = (0..self.ranks).map(|_| Mutex::new(None)).collect();
        thread::scope(|scope| {
            for (rank, result) in results.iter().enumerate() {
                let transport = Virtual { rank, net: Arc::clone(&net), random: AtomicU64::new(rank as u64) };
                let program = &program;
                let main = move || {
                    let run = || {
                        let world = World::new(transport).with_timeout(self.timeout);
                        // Without spare threads, whose table would be most of a rank's memory.
                        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
                        let pool =
                            pool.spawn_handler(|_| Err(std::io::ErrorKind::Unsupported.into())).build();
                        let pool = pool.expect("a rank needs its thread");
                        pool.install(|| program(&world))
                    };
                    let end = catch_unwind(AssertUnwindSafe(run));
                    *lock(result) = Some(end);
                };
                let name = format!("rank {rank}");
                let started = thread::Builder::new().name(name).spawn_scoped(scope, main);
                started.expect("a rank needs its thread");
            }
        });
        let ends =
            results.into_iter().map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner));
        ends.map(|end| end.unwrap_or_else(|| Err(Box::new("the rank has not run") as Box<dyn Any + Send>)))
            .collect()
    }
}

/// The time after which a rank gives up, unless it is set otherwise.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Picoseconds since the begin of the run.
type Time = u64;

/// No arrival.
const NEVER: Time = Time::MAX;

/// The network of all ranks.
struct Net {
    begin: Instant,
    latency: Latency,
    faults: Faults,
    mail: Box<[Mailbox]>,
}

/// A message: its arrival, its number in the mailbox, its sender and its encoding.
type Mail = (Time, u64, usize, Vec<u8>);

/// The messages that a rank has not taken yet.
#[derive(Default)]
struct Queue {
    /// The earliest arrival first, then the lowest number.
    messages: BinaryHeap<Reverse<Mail>>,
    number: u64,
    /// The latest arrival of each sender's messages (invariant 1).
    latest: HashMap<usize, Time>,
    /// The rank's thread, while it waits for mail, and the time at which its wait ends.
    sleeper: Option<(Time, thread::Thread)>,
}

struct Mailbox {
    queue: Mutex<Queue>,
    /// The earliest arrival, or [`NEVER`].
    first: AtomicU64,
    is_dead: AtomicBool,
    has_stopped: AtomicBool,
}

impl Default for Mailbox {
    fn default() -> Self {
        Mailbox {
            queue: Mutex::default(),
            first: AtomicU64::new(NEVER),
            is_dead: AtomicBool::new(false),
            has_stopped: AtomicBool::new(false),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that can panic is done with these locks, except allocations.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn picoseconds(time: Duration) -> Time {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1_000)
}

/// A rank's side of the transport.
struct Virtual {
    rank: usize,
    net: Arc<Net>,
    /// State of the generator of delays.
    random: AtomicU64,
}

impl fmt::Debug for Virtual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Virtual").field("rank", &self.rank).finish_non_exhaustive()
    }
}

impl Virtual {
    fn mailbox(&self) -> &Mailbox {
        &self.net.mail[self.rank]
    }

    /// Returns the time, when the other ranks have come up to it (invariant 3).
    fn now(&self) -> Time {
        furcate_sim::work(Duration::ZERO);
        picoseconds(self.net.begin.elapsed())
    }

    /// Returns the time, and has the rank suffer the faults that are due.
    fn look(&self) -> Time {
        let Faults { stops, slow, dies, .. } = self.net.faults;
        if let Some((rank, time)) = slow {
            if rank == self.rank {
                furcate_sim::work(time);
            }
        }
        let now = self.now();
        if let Some((rank, at, time)) = stops {
            if rank == self.rank && now >= picoseconds(at) && !self.mailbox().has_stopped.swap(true, Relaxed)
            {
                thread::sleep(time);
                return self.now();
            }
        }
        if let Some((rank, at)) = dies {
            if rank == self.rank && now >= picoseconds(at) && !self.mailbox().is_dead.swap(true, Relaxed) {
                // Invariant 4.
                panic_any(Died);
            }
        }
        now
    }

    /// Returns the time that a message takes.
    fn takes(&self, message: &Message, bytes: usize) -> Time {
        let Latency { steal, failed_steal, per_byte } = self.net.latency;
        let half = failed_steal / 2;
        let time = match message {
            Message::Share { .. } => steal.saturating_sub(half),
            // The first variant of the frames' mail is a frame that can be run.
            Message::Frame(bytes) if bytes.first() == Some(&0) => steal.saturating_sub(half),
            _ => half,
        };
        picoseconds(time) + per_byte * bytes as u64 + self.delay()
    }

    /// Returns the delay of the next message.
    fn delay(&self) -> Time {
        let Faults { delay, delayed, .. } = self.net.faults;
        self.drawn(delayed).map_or(0, |random| random % picoseconds(delay).max(1))
    }

    /// Draws a random number, by splitmix64: in one of `n` cases, at random.
    fn drawn(&self, n: u64) -> Option<u64> {
        if n == 0 {
            return None;
        }
        let seed = self.net.faults.seed;
        let drawn = self.random.fetch_add(1 << 24, Relaxed);
        let mut x = (drawn ^ seed.rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
        (x % n == 0).then_some(x >> 20)
    }
}

impl Transport for Virtual {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.net.mail.len()
    }

    fn send(&self, to: usize, envelope: &Envelope) -> usize {
        let mut bytes = envelope.encode();
        let len = bytes.len();
        if self.drawn(self.net.faults.damaged).is_some() {
            bytes.pop();
        }
        if self.mailbox().is_dead.load(Relaxed) || self.net.mail[to].is_dead.load(Relaxed) {
            return len;
        }
        let now = self.now();
        let arrival = now + self.takes(&envelope.message, len);
        let mailbox = &self.net.mail[to];
        let mut queue = lock(&mailbox.queue);
        // Senders whose messages have arrived are forgotten: their next ones arrive later in any case (invariant 3).
        if queue.latest.len() == queue.latest.capacity() {
            queue.latest.retain(|_, latest| *latest > now);
        }
        let latest = queue.latest.entry(self.rank).or_default();
        let arrival = arrival.max(*latest + 1);
        *latest = arrival;
        queue.number += 1;
        let number = queue.number;
        queue.messages.push(Reverse((arrival, number, self.rank, bytes)));
        mailbox.first.fetch_min(arrival, Relaxed);
        let sleeper = queue.sleeper.take_if(|(end, _)| arrival < *end);
        drop(queue);
        if let Some((_, sleeper)) = sleeper {
            sleeper.unpark();
        }
        len
    }

    fn has_mail(&self) -> bool {
        self.mailbox().first.load(Relaxed) <= self.look()
    }

    fn poll(&self) -> Option<(usize, Result<Envelope, Malformed>)> {
        let now = self.look();
        let mailbox = self.mailbox();
        if mailbox.is_dead.load(Relaxed) || mailbox.first.load(Relaxed) > now {
            return None;
        }
        let mut queue = lock(&mailbox.queue);
        let Reverse((_, _, from, bytes)) = queue.messages.pop()?;
        let first = queue.messages.peek().map_or(NEVER, |Reverse((arrival, ..))| *arrival);
        mailbox.first.store(first, Relaxed);
        drop(queue);
        Some((from, Envelope::decode(&bytes)))
    }

    fn timeout(&self) -> Option<Duration> {
        Some(TIMEOUT)
    }

    /// Six steals that fail, because each rank has its own core. More for thousands of ranks, whose simulation would else be one of requests: all together
    /// send some 12 in a microsecond.
    fn longest_pause(&self) -> Duration {
        (6 * self.net.latency.failed_steal).max(Duration::from_nanos(80 * self.size() as u64))
    }

    /// All ranks run the program of this process.
    fn build(&self) -> u64 {
        1
    }

    fn wait(&self, at_most: Duration) {
        let mailbox = self.mailbox();
        let end = self.now().saturating_add(picoseconds(at_most));
        let me = thread::current();
        loop {
            let now = self.now();
            let first = mailbox.first.load(Relaxed);
            if first <= now || end <= now {
                return;
            }
            let wake = first.min(end);
            lock(&mailbox.queue).sleeper = Some((wake, me.clone()));
            thread::park_timeout(Duration::from_nanos((wake - now).div_ceil(1_000)));
            lock(&mailbox.queue).sleeper = None;
        }
    }
}
