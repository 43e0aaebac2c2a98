//! The recording: invariants 2 and 3 of [`trace`](crate::trace).

use super::ring::Ring;
use super::{AlreadyRunning, Kind, ThreadTrace, TimedEvent, Trace};
use crate::sync::clock::{Instant, since_1970};
use crate::sync::machine::{Mutex, MutexGuard, machine_static};
use crate::sync::ticks;
use furcate_trace::recording::{Recorder, decode, encode, set_recorder};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, Weak};

/// Whether a recording is under way. Relaxed: a hint; what depends on it is under the lock of [`RECORDING`].
static ON: AtomicBool = AtomicBool::new(false);

/// The number of the recording under way, or of the last one. Written under the lock of [`RECORDING`]; relaxed, as for [`ON`].
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Whether forks are recorded however often they come. Relaxed, as for [`ON`].
static EVERY_FORK: AtomicBool = AtomicBool::new(false);

/// The ticks at the start of the recording. Relaxed, as for [`ON`].
static BEGIN: AtomicU64 = AtomicU64::new(0);

machine_static! {
    static RECORDING: Mutex<Option<Recording>> = Mutex::new(None);
}

machine_static! {
    /// The pools, which are poked when a recording starts, and whatever else is in a [dump].
    static TRACED: Mutex<Vec<Weak<dyn Traced>>> = Mutex::new(Vec::new());
}

/// A recording under way.
struct Recording {
    settings: Settings,
    begin: Instant,
    /// At most [`MOST_RINGS`].
    rings: Vec<Arc<Ring>>,
    /// Number of threads that came later.
    left_out: u64,
    /// Whether it was started by `FURCATE_TRACE`, so that no [`stop`] ends it.
    of_program: bool,
}

/// The most threads that a recording has rings for: the rings of threads that have ended stay until the recording ends.
const MOST_RINGS: usize = 1024;

/// Something that a recording and a [dump] look at: a pool, a limit.
#[doc(hidden)]
pub trait Traced: Send + Sync {
    /// Has all workers look up at their next fork, if there are any. Called when a recording starts.
    fn poke_workers(&self) {}
    /// Writes lines that say who waits here for what.
    fn dump(&self, out: &mut String);
}

crate::sync::machine::thread_local! {
    /// The number of the recording in which this thread has last written an event, and its ring in that recording, if it has one.
    static RING: RefCell<(u64, Option<Arc<Ring>>)> = const { RefCell::new((0, None)) };

    /// Whether the thread is inside a recorded fork, and leaves out the forks, leaves and reductions in it.
    static LEAVES_OUT: Cell<bool> = const { Cell::new(false) };

    /// The job of the fork that the thread has taken back last; 0 if its right half has been marked.
    static RIGHT: Cell<u64> = const { Cell::new(0) };
}

/// Notes that this thread has taken back a recorded fork of a chain, whose right half it runs next.
pub(crate) fn set_right(job: u64) {
    RIGHT.set(job);
}

/// Returns the fork of the last [`set_right`], once.
pub(crate) fn take_right() -> Option<u64> {
    Some(RIGHT.take()).filter(|job| *job != 0)
}

/// Whether this thread leaves out forks, leaves and reductions at present.
pub(crate) fn leaves_out() -> bool {
    LEAVES_OUT.get()
}

/// Sets whether this thread leaves out forks, leaves and reductions from now on.
pub(crate) fn set_leaves_out(leaves_out: bool) {
    LEAVES_OUT.set(leaves_out);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a trace is recorded.
///
/// ```
/// use furcate::trace::{self, Settings};
///
/// Settings::new().every_fork(true).events_per_thread(1 << 20).start().unwrap();
/// furcate::join(|| (), || ());
/// assert_eq!(trace::stop().unwrap().lost(), 0);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a recording begins with `start`"]
pub struct Settings {
    events: usize,
    every_fork: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { events: 1 << 18, every_fork: false }
    }
}

impl Settings {
    /// Returns the settings of [`start`]: 2^18 events per thread, and the forks for which there is time.
    pub fn new() -> Self {
        Settings::default()
    }

    /// Sets how many events a thread's ring holds, before the oldest are lost: `1 ..= 2^26`, rounded up to a power of two of at least
    /// 1024. An event takes 16 bytes. Memory is allocated as the ring fills.
    ///
    /// # Panics
    ///
    /// If the number is out of range.
    pub fn events_per_thread(mut self, events: usize) -> Self {
        assert!((1..=1 << 26).contains(&events), "a ring holds 1 to 2^26 events, not {events}");
        self.events = events;
        self
    }

    /// Sets whether every fork is recorded, however often forks come. A fork then takes some 100 ns.
    pub fn every_fork(mut self, every: bool) -> Self {
        self.every_fork = every;
        self
    }

    /// Begins to record.
    ///
    /// # Errors
    ///
    /// If a recording is under way.
    pub fn start(self) -> Result<(), AlreadyRunning> {
        self.start_for(false)
    }

    pub(super) fn start_for(self, of_program: bool) -> Result<(), AlreadyRunning> {
        set_recorder(RECORDER);
        {
            let mut recording = lock(&RECORDING);
            if recording.is_some() {
                return Err(AlreadyRunning);
            }
            EVERY_FORK.store(self.every_fork, Relaxed);
            NUMBER.store(NUMBER.load(Relaxed) + 1, Relaxed);
            let begin = Instant::now();
            BEGIN.store(ticks::read(), Relaxed);
            *recording =
                Some(Recording { settings: self, begin, rings: Vec::new(), left_out: 0, of_program });
            ON.store(true, Relaxed);
        }
        traced().iter().for_each(|pool| pool.poke_workers());
        Ok(())
    }
}

/// The recorder, for `furcate_trace::Comparison`, whose crate does not depend on the pool.
pub(super) const RECORDER: Recorder = Recorder { start, stop };

/// Begins to record what all threads do, in all pools. Forks of a worker that is in the middle of a job are recorded from its
/// next look at the other workers on.
///
/// # Errors
///
/// If a recording is under way.
pub fn start() -> Result<(), AlreadyRunning> {
    Settings::new().start()
}

/// Ends the recording that [`start`] has begun, and returns it; `None` if there is none.
///
/// Events that other threads record at the same time may be missing.
#[must_use]
pub fn stop() -> Option<Trace> {
    stop_for(false)
}

pub(super) fn stop_for(of_program: bool) -> Option<Trace> {
    let recording = {
        let mut recording = lock(&RECORDING);
        let recording = recording.take_if(|recording| recording.of_program == of_program)?;
        ON.store(false, Relaxed);
        recording
    };
    Some(recording.trace())
}

/// Returns the program's events so far, if `FURCATE_TRACE` is set.
#[cfg(unix)]
pub(super) fn of_program_so_far() -> Option<Trace> {
    let recording = lock(&RECORDING);
    recording.as_ref().filter(|recording| recording.of_program).map(Recording::trace)
}

impl Recording {
    /// Returns the events up to now. Threads may go on recording.
    fn trace(&self) -> Trace {
        let (duration, now) = (self.begin.elapsed(), since_1970());
        let ticks = ticks::read().wrapping_sub(BEGIN.load(Relaxed)).max(1);
        let nanos_per_tick = duration.as_nanos() as f64 / ticks as f64;
        let threads = self.rings.iter().map(|ring| {
            let (words, lost) = ring.read();
            let events = words.into_iter().filter_map(decode).map(|(ticks, event)| TimedEvent {
                at: std::time::Duration::from_nanos((ticks as f64 * nanos_per_tick) as u64),
                event,
            });
            let name = ring.name().map(str::to_owned);
            ThreadTrace::from_parts(name, events.collect(), lost, ring.processor_time())
        });
        Trace::from_parts(threads.collect(), self.left_out, duration, now.saturating_sub(duration))
    }
}

/// Whether a recording is under way. One relaxed load.
#[inline]
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Whether every fork is to be recorded.
pub(crate) fn wants_every_fork() -> bool {
    EVERY_FORK.load(Relaxed)
}

/// Records an event of this thread, if a recording is under way.
#[doc(hidden)]
#[inline]
pub fn record(kind: Kind, payload: u64) {
    if is_on() {
        record_now(kind, payload);
    }
}

#[cold]
fn record_now(kind: Kind, payload: u64) {
    let ticks = ticks::read().saturating_sub(BEGIN.load(Relaxed));
    // A thread that is ending has no ring any more; and an allocator that forks, while the ring is made, records nothing.
    let _ = RING.try_with(|ring| {
        let Ok(mut ring) = ring.try_borrow_mut() else { return };
        let number = NUMBER.load(Relaxed);
        if ring.0 != number {
            *ring = (number, begin_ring(number));
        }
        if let Some(ring) = &ring.1 {
            ring.push(encode(ticks, kind, payload));
        }
    });
}

/// Makes a ring for this thread, if that recording is under way, and has a ring left.
fn begin_ring(number: u64) -> Option<Arc<Ring>> {
    let mut recording = lock(&RECORDING);
    let recording = recording.as_mut().filter(|_| NUMBER.load(Relaxed) == number)?;
    if recording.rings.len() == MOST_RINGS {
        recording.left_out += 1;
        return None;
    }
    let ring = Arc::new(Ring::new(recording.settings.events));
    recording.rings.push(Arc::clone(&ring));
    Some(ring)
}

/// Notes a pool or a limit that begins, for recordings and dumps.
#[doc(hidden)]
pub fn register(new: Weak<dyn Traced>) {
    let mut all = lock(&TRACED);
    // When it is full, and so seldom that each one looks at few others: the list has room for as many again as live.
    if all.len() == all.capacity() {
        all.retain(|one| one.strong_count() > 0);
        let living = all.len();
        all.reserve(living);
    }
    all.push(new);
}

fn traced() -> Vec<Arc<dyn Traced>> {
    lock(&TRACED).iter().filter_map(Weak::upgrade).collect()
}

/// Returns a text that says who waits for what at present, in all pools: what is queued, what each thread of a pool does or waits for, how many
/// tasks are suspended, and how many wait for a [limit](https://docs.rs/furcate/latest/furcate/struct.Limit.html).
///
/// For programs that hang, or do less than they should. With `FURCATE_TRACE`, the signal SIGQUIT (Ctrl-\) prints it, and then ends the program as
/// ever.
///
/// ```
/// let pool = furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// let text = pool.install(furcate::trace::dump);
/// assert!(text.contains("pool of 2 threads"));
/// ```
///
/// A snapshot: the threads go on meanwhile, so that its lines may be of different moments. No thread has to answer. Cost: some microseconds for each
/// thread, and a tenth of a second for a pool whose lock another thread holds all the time.
#[must_use]
pub fn dump() -> String {
    let mut out = String::new();
    traced().iter().for_each(|one| one.dump(&mut out));
    out
}
