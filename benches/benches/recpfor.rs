//! Recursive parallel loops under `join`, `depjoin` and `adaptive`: how long, and how often somebody has to wait.
//!
//! `cargo bench -p furcate-benches --bench recpfor`; `ROUNDS=n` for more or fewer rounds, `QUICK=1` for small sizes.
//!
//! RecPFor: some parallel loops over n uneven items, one after the other, then a parallel loop over two halves, each of
//! which does the same with n/2 items; and so on. So there are many loops inside of each other, each with an end at which
//! somebody waits. Times are of one interleaved run, `serial/it` and `rayon/it` how many times faster than these a row is:
//! below 1 it has lost.
//!
//! Counters are of one more run per row, in which every task takes note of the time. Of a *stolen fork* (its halves began
//! on different threads) one half is done first: from then on, until it is reduced, its join is *outstanding*. The part of
//! this after the second half is done is *late*: nothing is missing, but who is to reduce is busy elsewhere, or asleep.
//! Likewise a *call* is late from when its result is there until its caller goes on. All are given as the mean number at a
//! moment, joins also as the greatest, and late ones as the longest time in microseconds. `steals`, `parks` and
//! `handovers` are the pool's counts for that run.

use furcate::prelude::*;
use furcate::{Adaptive, DepJoin, Join, Reduction, Scheduler};
use furcate_benches::{Contender, interleave, quick, rounds};
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Loops one after the other on each level.
const LOOPS: u64 = 3;

/// The shortest loop.
const SHORTEST: u64 = 16;

fn main() {
    let n = if quick() { 256 } else { 1 << 14 };
    let rounds = rounds(if quick() { 1 } else { 7 });
    println!("recpfor({n}), medians of {rounds} interleaved rounds");
    for threads in [2, 8] {
        table(n, rounds, threads);
    }
}

/// A loop over numbers, and the sum of what its body returns.
trait Loop: Sync {
    fn sum(&self, numbers: std::ops::Range<u64>, body: impl Fn(u64) -> u64 + Sync + Send) -> u64;
}

/// The program, on any loop.
fn recpfor(on: &impl Loop, n: u64, seed: u64) -> u64 {
    let loops = (0..LOOPS).map(|i| on.sum(0..n, |x| item(seed ^ (x * LOOPS + i))));
    let here = loops.fold(0, u64::wrapping_add);
    if n <= SHORTEST {
        return here;
    }
    here.wrapping_add(on.sum(0..2, |half| recpfor(on, n / 2, seed * 2 + half)))
}

/// An item of some 50 to 500 ns.
fn item(x: u64) -> u64 {
    let mut hash = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for _ in 0..32 + (hash >> 32) % 256 {
        hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    hash >> 32
}

struct Serial;

impl Loop for Serial {
    fn sum(&self, numbers: std::ops::Range<u64>, body: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        numbers.map(body).sum()
    }
}

struct Rayon;

impl Loop for Rayon {
    fn sum(&self, numbers: std::ops::Range<u64>, body: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        use rayon::iter::{IntoParallelIterator, ParallelIterator as _};
        IntoParallelIterator::into_par_iter(numbers).map(body).sum()
    }
}

/// Loops on a scheduler, with the default policy or with a task for every item.
struct Furcate<S> {
    scheduler: S,
    single: bool,
}

impl<S: Scheduler + Sync> Loop for Furcate<S> {
    fn sum(&self, numbers: std::ops::Range<u64>, body: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        let sums = numbers.into_par_iter().map(body).with_scheduler(self.scheduler.clone());
        if self.single { sums.size_limit(1).sum() } else { sums.sum() }
    }
}

/// The same, with counters.
struct Counted<'c, S> {
    furcate: Furcate<S>,
    counters: &'c Counters,
}

impl<S: Scheduler + Sync> Loop for Counted<'_, S> {
    fn sum(&self, numbers: std::ops::Range<u64>, body: impl Fn(u64) -> u64 + Sync + Send) -> u64 {
        let Furcate { scheduler, single } = &self.furcate;
        let sums = numbers.into_par_iter().map(body).with_scheduler(scheduler.clone());
        let counting = Counting(self.counters);
        let part = if *single { sums.size_limit(1).drive(counting) } else { sums.drive(counting) };
        self.counters.calls.lock().unwrap().push([part.done, Instant::now()]);
        part.sum
    }
}

/// When everything happened.
#[derive(Default)]
struct Counters {
    /// Of each stolen fork: one half done, both done, reduced.
    forks: Mutex<Vec<[Instant; 3]>>,
    /// Of each call: its result there, its caller going on.
    calls: Mutex<Vec<[Instant; 2]>>,
}

/// A sum that takes note of the time.
#[derive(Clone, Copy)]
struct Counting<'c>(&'c Counters);

/// A part's sum, when it was there, and on which thread its first item began.
struct Part {
    sum: u64,
    began_on: std::thread::ThreadId,
    done: Instant,
}

impl Reduction<u64> for Counting<'_> {
    type Accumulator = (std::thread::ThreadId, u64);
    type Output = Part;

    fn start(&self) -> Self::Accumulator {
        (std::thread::current().id(), 0)
    }
    fn step(
        &self,
        (thread, sum): Self::Accumulator,
        item: u64,
    ) -> ControlFlow<Self::Accumulator, Self::Accumulator> {
        ControlFlow::Continue((thread, sum.wrapping_add(item)))
    }
    fn finish(&self, (began_on, sum): Self::Accumulator) -> Part {
        Part { sum, began_on, done: Instant::now() }
    }
    fn reduce(&self, left: Part, right: Part) -> Part {
        let now = Instant::now();
        if left.began_on != right.began_on {
            let (first, second) = (left.done.min(right.done), left.done.max(right.done));
            self.0.forks.lock().unwrap().push([first, second, now]);
        }
        Part { sum: left.sum.wrapping_add(right.sum), began_on: left.began_on, done: now }
    }
}

/// The mean number at a moment of what begins and ends so, the greatest number, and the longest time.
fn at_a_moment(of: Duration, spans: &[[Instant; 2]]) -> (f64, usize, Duration) {
    let times = || spans.iter().map(|[begin, end]| *end - *begin);
    let mean = times().sum::<Duration>().as_secs_f64() / of.as_secs_f64();
    let mut changes: Vec<(Instant, bool)> =
        spans.iter().flat_map(|[begin, end]| [(*begin, true), (*end, false)]).collect();
    // What ends at the moment at which another begins comes first.
    changes.sort();
    let (mut now, mut greatest) = (0_usize, 0);
    for (_, begins) in changes {
        now = if begins { now + 1 } else { now.saturating_sub(1) };
        greatest = greatest.max(now);
    }
    (mean, greatest, times().max().unwrap_or_default())
}

fn table(n: u64, rounds: usize, threads: usize) {
    let ours =
        furcate::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let theirs =
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let join = |single| Furcate { scheduler: Join, single };
    let depjoin = |single| Furcate { scheduler: DepJoin, single };
    let adaptive = || Furcate { scheduler: Adaptive::new(), single: false };
    let n = black_box(n);

    let mut contenders: [Contender<'_, u64>; 7] = [
        ("serial", Box::new(|| recpfor(&Serial, n, 1))),
        ("rayon", Box::new(|| theirs.install(|| recpfor(&Rayon, n, 1)))),
        ("join", Box::new(|| ours.install(|| recpfor(&join(false), n, 1)))),
        ("depjoin", Box::new(|| ours.install(|| recpfor(&depjoin(false), n, 1)))),
        ("adaptive", Box::new(|| ours.install(|| recpfor(&adaptive(), n, 1)))),
        ("join, a task per item", Box::new(|| ours.install(|| recpfor(&join(true), n, 1)))),
        ("depjoin, a task per item", Box::new(|| ours.install(|| recpfor(&depjoin(true), n, 1)))),
    ];
    let medians = interleave(rounds, &mut contenders);
    let expected = contenders[0].1();
    println!("\n{threads} threads");
    println!(
        "{:<26} {:>8} {:>9} {:>9} {:>8} {:>18} {:>18} {:>18} {:>8} {:>8} {:>9}",
        "",
        "ms",
        "serial/it",
        "rayon/it",
        "stolen",
        "outstanding, max",
        "late joins, us",
        "late calls, us",
        "steals",
        "parks",
        "handovers"
    );
    for (row, (name, median)) in medians.rows.iter().enumerate() {
        let [serial, rayon] = [0, 1].map(|peer| medians.rows[peer].1.as_secs_f64() / median.as_secs_f64());
        print!("{name:<26} {:>8.2} {serial:>9.2} {rayon:>9.2}", median.as_secs_f64() * 1e3);
        match row {
            2 => count(&ours, n, expected, join(false)),
            3 => count(&ours, n, expected, depjoin(false)),
            4 => count(&ours, n, expected, adaptive()),
            5 => count(&ours, n, expected, join(true)),
            6 => count(&ours, n, expected, depjoin(true)),
            _ => println!(),
        }
    }
}

/// Runs it once more, and prints the counters.
fn count<S: Scheduler + Sync>(pool: &furcate::ThreadPool, n: u64, expected: u64, furcate: Furcate<S>) {
    let counters = Counters::default();
    let before = pool.stats().total();
    let start = Instant::now();
    let counted = Counted { furcate, counters: &counters };
    assert_eq!(pool.install(|| recpfor(&counted, n, 1)), expected, "counting changes nothing");
    let elapsed = start.elapsed();
    let after = pool.stats().total();

    let forks = counters.forks.into_inner().unwrap();
    let outstanding: Vec<_> = forks.iter().map(|[first, _, reduced]| [*first, *reduced]).collect();
    let late: Vec<_> = forks.iter().map(|[_, second, reduced]| [*second, *reduced]).collect();
    let calls = counters.calls.into_inner().unwrap();
    let (outstanding, greatest, _) = at_a_moment(elapsed, &outstanding);
    let (late_joins, _, longest_join) = at_a_moment(elapsed, &late);
    let (late_calls, _, longest_call) = at_a_moment(elapsed, &calls);
    let steals = |stats: &furcate::WorkerStats| stats.steals.iter().map(|victim| victim.won).sum::<u64>();
    println!(
        " {:>8} {:>18} {:>18} {:>18} {:>8} {:>8} {:>9}",
        forks.len(),
        format!("{outstanding:.2}, {greatest}"),
        format!("{late_joins:.3}, {}", longest_join.as_micros()),
        format!("{late_calls:.3}, {}", longest_call.as_micros()),
        steals(&after) - steals(&before),
        after.parks - before.parks,
        after.handovers - before.handovers,
    );
}
