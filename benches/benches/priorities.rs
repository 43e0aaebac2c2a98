//! Urgent calls of 100 us beside background loads that keep all threads busy.
//!
//! `cargo bench -p furcate-benches --bench priorities [-- WORD...]`; a word selects the loads whose titles contain it. `ROUNDS=n` sets the number of calls of
//! each contender (1000, or as many as fit into 10 s), `QUICK=1` a few, `THREADS=n` the number of threads.
//!
//! A thread outside the pools calls every 3 ms or so. The call forks 16 leaves of some 6 us. `begins` is the time from the call to its first leaf, `ends` the time to its end:
//! median and 99th percentile in microseconds. `load` is the number of leaves of the load in a second, divided by that of the first row.
//!
//! Contenders: one pool with priorities; the same pool without; two pools of furcate's, whose threads the system schedules; and the same with rayon, where `io_await`'s
//! load does not exist.

use furcate::{Priority, with_priority};
use furcate_benches::fork::Serial;
use furcate_benches::latency::Cpu;
use furcate_benches::{Choice, quick, rounds, threads};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// A load: the length of its leaves, and the way in which the work comes.
#[derive(Clone, Copy)]
enum Load {
    /// A loop of such leaves.
    Loop(Duration),
    /// A loop of 20,000 items, without a policy: its leaves take a long time.
    Plain,
    /// 100,000 queued jobs.
    Jobs,
    /// 1024 futures in flight, each of which waits for a millisecond.
    Waits,
}

impl Load {
    fn leaf(self) -> Duration {
        match self {
            Load::Loop(leaf) => leaf,
            Load::Plain | Load::Jobs | Load::Waits => Duration::from_micros(100),
        }
    }
}

/// A pool of one of the two libraries.
trait Engine: Sync {
    /// Keeps all threads busy until the load ends.
    fn load(&self, load: Load, leaves: Leaves);
    /// The call. Returns when its first leaf began.
    fn call(&self, leaf: Cpu) -> Instant;
}

const LEAVES: usize = 16;

/// The number of items of a load, of which so many are many.
fn size(many: usize) -> usize {
    if quick() { many / 100 } else { many }
}

/// A leaf of a load or of a call: it does not look at the clock, which would count the time of others.
fn run(leaf: Cpu) {
    black_box(leaf.compute(&Serial, 1));
}

/// The leaves of a load, until it ends.
#[derive(Clone, Copy)]
struct Leaves {
    leaf: Cpu,
    done: &'static AtomicU64,
    ends: &'static AtomicBool,
}

impl Leaves {
    fn have_ended(self) -> bool {
        self.ends.load(Relaxed)
    }

    fn run(self) {
        if !self.have_ended() {
            run(self.leaf);
            self.done.fetch_add(1, Relaxed);
        }
    }
}

struct Furcate(furcate::ThreadPool, Priority, Priority);

impl Engine for Furcate {
    fn load(&self, load: Load, leaves: Leaves) {
        use furcate::prelude::*;
        let once = || match load {
            Load::Loop(_) => self.0.install(|| {
                (0..size(1_000)).into_par_iter().with_max_len(1).for_each(|_| leaves.run());
            }),
            Load::Plain => self.0.install(|| (0..size(20_000)).into_par_iter().for_each(|_| leaves.run())),
            Load::Jobs => self.0.scope(|s| (0..size(100_000)).for_each(|_| s.spawn(|_| leaves.run()))),
            Load::Waits => {
                let wait = |_| async_io::Timer::after(Duration::from_millis(1));
                (0..size(10_000)).into_par_iter().map(wait).io_await().on(&self.0).for_each(|_| leaves.run());
            }
        };
        with_priority(self.1, || {
            while !leaves.have_ended() {
                once();
            }
        });
    }

    fn call(&self, leaf: Cpu) -> Instant {
        use furcate::prelude::*;
        let first = AtomicU64::new(0);
        let start = Instant::now();
        with_priority(self.2, || {
            self.0.install(|| {
                first.store(start.elapsed().as_nanos() as u64, Relaxed);
                (0..LEAVES).into_par_iter().with_max_len(1).for_each(|_| run(leaf));
            });
        });
        start + Duration::from_nanos(first.into_inner())
    }
}

struct Rayon(rayon::ThreadPool);

impl Engine for Rayon {
    fn load(&self, load: Load, leaves: Leaves) {
        use rayon::prelude::*;
        while !leaves.have_ended() {
            match load {
                Load::Loop(_) => {
                    self.0.install(|| {
                        (0..size(1_000)).into_par_iter().with_max_len(1).for_each(|_| leaves.run())
                    });
                }
                Load::Plain => {
                    self.0.install(|| (0..size(20_000)).into_par_iter().for_each(|_| leaves.run()));
                }
                _ => self.0.scope(|s| (0..size(100_000)).for_each(|_| s.spawn(move |_| leaves.run()))),
            }
        }
    }

    fn call(&self, leaf: Cpu) -> Instant {
        use rayon::prelude::*;
        let first = AtomicU64::new(0);
        let start = Instant::now();
        self.0.install(|| {
            first.store(start.elapsed().as_nanos() as u64, Relaxed);
            (0..LEAVES).into_par_iter().with_max_len(1).for_each(|_| run(leaf));
        });
        start + Duration::from_nanos(first.into_inner())
    }
}

/// Time after which no further call begins.
const LIMIT: Duration = Duration::from_secs(10);

/// Returns the times to the first leaf and to the end, in microseconds, sorted, and the load's leaves in a second.
fn measure(load: Load, loaded: &dyn Engine, called: &dyn Engine, calls: usize) -> ([Vec<f64>; 2], f64) {
    let [leaf, calls_leaf] = [load.leaf(), Duration::from_micros(6)].map(Cpu::serial);
    let leaves = Leaves { leaf, done: Box::leak(Box::default()), ends: Box::leak(Box::default()) };
    thread::scope(|threads| {
        threads.spawn(|| loaded.load(load, leaves));
        thread::sleep(Duration::from_millis(30));
        let (since, before) = (Instant::now(), leaves.done.load(Relaxed));
        let mut times = [Vec::new(), Vec::new()];
        for call in 0..calls {
            if since.elapsed() > LIMIT {
                break;
            }
            thread::sleep(Duration::from_micros(2500 + (call * 617 % 1000) as u64));
            let start = Instant::now();
            let first = called.call(calls_leaf);
            times[0].push((first - start).as_secs_f64() * 1e6);
            times[1].push(start.elapsed().as_secs_f64() * 1e6);
        }
        let rate = (leaves.done.load(Relaxed) - before) as f64 / since.elapsed().as_secs_f64();
        leaves.ends.store(true, Relaxed);
        times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
        (times, rate)
    })
}

fn main() {
    let calls = rounds(if quick() { 5 } else { 1000 });
    let threads = threads().unwrap_or(2);
    let mut choice = Choice::from_args();
    let furcate = |load, call| {
        let pool = furcate::ThreadPoolBuilder::new().num_threads(threads).build();
        Furcate(pool.expect("threads can be started"), load, call)
    };
    let rayon = || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        Rayon(pool.expect("threads can be started"))
    };
    println!("urgent calls of 100 us beside loads, {calls} calls each, {threads} threads; microseconds");
    println!("{:<42} {:>17} {:>17} {:>6}", "", "begins, 50 / 99 %", "ends, 50 / 99 %", "load");
    let loads = [
        ("leaves of 20 us", Load::Loop(Duration::from_micros(20))),
        ("leaves of 5 ms", Load::Loop(Duration::from_millis(5))),
        ("a loop without a policy", Load::Plain),
        ("100,000 queued jobs of 100 us", Load::Jobs),
        ("1024 waits in flight", Load::Waits),
    ];
    for (title, load) in loads {
        if !choice.has(title) {
            continue;
        }
        println!("{title}");
        let mut first_rate = None;
        let mut row = |name: &str, loaded: &dyn Engine, called: &dyn Engine| {
            let ([begins, ends], rate) = measure(load, loaded, called, calls);
            let at =
                |times: &[f64], percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
            println!(
                "  {name:<40} {:>8.0} {:>8.0} {:>8.0} {:>8.0} {:>6.2}",
                at(&begins, 50),
                at(&begins, 99),
                at(&ends, 50),
                at(&ends, 99),
                rate / *first_rate.get_or_insert(rate)
            );
        };
        let ranked = furcate(Priority::Background, Priority::Urgent);
        row("furcate, background and urgent", &ranked, &ranked);
        drop(ranked);
        let plain = furcate(Priority::Normal, Priority::Normal);
        row("furcate, without priorities", &plain, &plain);
        row("furcate, two pools", &plain, &furcate(Priority::Normal, Priority::Normal));
        drop(plain);
        if !matches!(load, Load::Waits) {
            let plain = rayon();
            row("rayon", &plain, &plain);
            row("rayon, two pools", &plain, &rayon());
        }
    }
    choice.finish();
}
