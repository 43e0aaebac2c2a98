//! Urgent calls of 100 us beside background loads that keep all threads busy.
//!
//! `cargo bench -p furcate-benches --bench priorities [-- WORD...]`; a word selects the loads whose titles contain it. `ROUNDS=n` sets the number of calls of
//! each contender (1000, or as many as fit into 10 s), `QUICK=1` a few, `THREADS=n` the number of threads.
//!
//! A thread outside the pools calls every 3 ms or so. The call forks 16 leaves of some 6 us. `begins` is the time from the call to its first leaf, `ends` the time to its end:
//! median and 99th percentile in microseconds. `load` is the leaves of the load in a second, beside the calls, over those of the first row.
//!
//! Contenders: one pool with priorities; the same pool without; two pools of furcate's, whose threads the system schedules; and the same with rayon, where `io_await`'s
//! load does not exist.

use furcate::{Priority, with_priority};
use furcate_benches::{Choice, quick, rounds, threads};
use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// What keeps the threads busy: the leaves' length, and how the work comes.
#[derive(Clone, Copy)]
enum Load {
    /// A loop of such leaves.
    Loop(Duration),
    /// 100,000 queued jobs.
    Jobs,
    /// 1024 futures in flight, each of which waits for a millisecond.
    Waits,
}

impl Load {
    fn leaf(self) -> Duration {
        match self {
            Load::Loop(leaf) => leaf,
            Load::Jobs | Load::Waits => Duration::from_micros(100),
        }
    }
}

/// A pool of one of the two libraries.
trait Engine: Sync {
    /// Keeps all threads busy until `ends`.
    fn load(&self, load: Load, done: &'static AtomicU64, ends: &'static AtomicBool);
    /// The call. Returns when its first leaf began.
    fn call(&self) -> Instant;
}

const LEAVES: usize = 16;

/// The number of items of a load, of which so many are many.
fn size(many: usize) -> usize {
    if quick() { many / 100 } else { many }
}

/// Computes for so long, if nothing interrupts the thread. (A loop that looks at the clock would count the time of others.)
fn spin_for(time: Duration) {
    static ROUNDS_PER_US: OnceLock<f64> = OnceLock::new();
    let run = |rounds: u64| _ = black_box((0..rounds).fold(1_u64, |x, i| black_box(x.wrapping_mul(i | 1))));
    let rate = ROUNDS_PER_US.get_or_init(|| {
        const ROUNDS: u64 = 2_000_000;
        let fastest = (0..9).map(|_| {
            let start = Instant::now();
            run(ROUNDS);
            start.elapsed()
        });
        ROUNDS as f64 / (fastest.min().expect("nine").as_secs_f64() * 1e6)
    });
    run((time.as_secs_f64() * 1e6 * rate) as u64);
}

fn leaf() {
    spin_for(Duration::from_micros(6));
}

struct Furcate(furcate::ThreadPool, Priority, Priority);

impl Engine for Furcate {
    fn load(&self, load: Load, done: &'static AtomicU64, ends: &'static AtomicBool) {
        use furcate::prelude::*;
        let work = move || {
            if !ends.load(Relaxed) {
                spin_for(load.leaf());
                done.fetch_add(1, Relaxed);
            }
        };
        with_priority(self.1, || match load {
            Load::Loop(_) => {
                while !ends.load(Relaxed) {
                    self.0.install(|| (0..size(1_000)).into_par_iter().with_max_len(1).for_each(|_| work()));
                }
            }
            Load::Jobs => {
                while !ends.load(Relaxed) {
                    self.0.scope(|s| (0..size(100_000)).for_each(|_| s.spawn(|_| work())));
                }
            }
            Load::Waits => {
                while !ends.load(Relaxed) {
                    let wait = |_| async_io::Timer::after(Duration::from_millis(1));
                    (0..size(10_000)).into_par_iter().map(wait).io_await().on(&self.0).for_each(|_| work());
                }
            }
        });
    }

    fn call(&self) -> Instant {
        use furcate::prelude::*;
        let first = AtomicU64::new(0);
        let start = Instant::now();
        with_priority(self.2, || {
            self.0.install(|| {
                first.store(start.elapsed().as_nanos() as u64, Relaxed);
                (0..LEAVES).into_par_iter().with_max_len(1).for_each(|_| leaf());
            });
        });
        start + Duration::from_nanos(first.into_inner())
    }
}

struct Rayon(rayon::ThreadPool);

impl Engine for Rayon {
    fn load(&self, load: Load, done: &'static AtomicU64, ends: &'static AtomicBool) {
        use rayon::prelude::*;
        let work = move || {
            if !ends.load(Relaxed) {
                spin_for(load.leaf());
                done.fetch_add(1, Relaxed);
            }
        };
        while !ends.load(Relaxed) {
            match load {
                Load::Loop(_) => {
                    self.0.install(|| (0..size(1_000)).into_par_iter().with_max_len(1).for_each(|_| work()));
                }
                _ => self.0.scope(|s| (0..size(100_000)).for_each(|_| s.spawn(move |_| work()))),
            }
        }
    }

    fn call(&self) -> Instant {
        use rayon::prelude::*;
        let first = AtomicU64::new(0);
        let start = Instant::now();
        self.0.install(|| {
            first.store(start.elapsed().as_nanos() as u64, Relaxed);
            (0..LEAVES).into_par_iter().with_max_len(1).for_each(|_| leaf());
        });
        start + Duration::from_nanos(first.into_inner())
    }
}

/// Time after which no further call begins.
const LIMIT: Duration = Duration::from_secs(10);

/// Returns the times to the first leaf and to the end, in microseconds, sorted, and the load's leaves in a second.
fn measure(load: Load, loaded: &dyn Engine, called: &dyn Engine, calls: usize) -> ([Vec<f64>; 2], f64) {
    let done: &'static AtomicU64 = Box::leak(Box::default());
    let ends: &'static AtomicBool = Box::leak(Box::default());
    thread::scope(|threads| {
        threads.spawn(|| loaded.load(load, done, ends));
        thread::sleep(Duration::from_millis(30));
        let (since, before) = (Instant::now(), done.load(Relaxed));
        let mut times = [Vec::new(), Vec::new()];
        for call in 0..calls {
            if since.elapsed() > LIMIT {
                break;
            }
            thread::sleep(Duration::from_micros(2500 + (call * 617 % 1000) as u64));
            let start = Instant::now();
            let first = called.call();
            times[0].push((first - start).as_secs_f64() * 1e6);
            times[1].push(start.elapsed().as_secs_f64() * 1e6);
        }
        let rate = (done.load(Relaxed) - before) as f64 / since.elapsed().as_secs_f64();
        ends.store(true, Relaxed);
        times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
        (times, rate)
    })
}

fn main() {
    spin_for(Duration::ZERO);
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
