//! Calls from outside a pool: short ones, and spawned jobs.
//!
//! `cargo bench -p furcate-benches --bench calls`; `ROUNDS=n` for more or fewer rounds.
//!
//! *small*: `par_iter().map().sum()` of n numbers, called from the main thread, against the sequential loop and against
//! rayon. Each contender makes 200 calls in a row, then the next one does, in turn; a call's time is the median of all.
//!
//! *lengths*: calls that compute for 5 to 700 microseconds, in items of one, at once after each other and 1 ms apart: time and processor time
//! beside rayon. Between two calls that are apart, the caller sleeps, and so do the workers.
//!
//! *spawns*: 100,000 jobs spawned from outside, until the last one has run.

use furcate_benches::fork::Serial;
use furcate_benches::latency::{Cpu, cpu_time};
use furcate_benches::record::record;
use furcate_benches::{Choice, Contender, interleave, rounds, wait_for_sleep};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

/// Calls in a row.
const CALLS: usize = 200;
const SPAWNS: usize = 100_000;

fn main() {
    let rounds = rounds(11);
    let mut choice = Choice::from_args();
    if choice.has("small") {
        small(rounds);
    }
    if choice.has("lengths") {
        lengths(rounds);
    }
    if choice.has("spawns") {
        spawns(rounds);
    }
    choice.finish();
}

/// The computation on an item: a microsecond.
static ITEM: LazyLock<Cpu> = LazyLock::new(|| Cpu::serial(Duration::from_micros(1)));

fn compute(item: u64) -> u64 {
    ITEM.compute(&Serial, item)
}

/// Returns the median in microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn computed_by_furcate(items: u64) -> u64 {
    use furcate::prelude::*;
    (0..items).into_par_iter().map(compute).sum()
}

fn computed_by_rayon(items: u64) -> u64 {
    use rayon::prelude::*;
    (0..items).into_par_iter().map(compute).sum()
}

fn lengths(rounds: usize) {
    println!("lengths: microseconds a call, medians of {rounds} x calls; processor time a call");
    println!(
        "{:>20} {:>9} {:>9} {:>7} {:>12} {:>12} {:>7}  wake-ups a call",
        "", "furcate", "rayon", "ratio", "cpu furcate", "cpu rayon", "ratio"
    );
    for (apart, pause) in [("in a row", None), ("apart", Some(Duration::from_millis(1)))] {
        for micros in [5, 10, 20, 50, 100, 300, 700] {
            let ways: [fn(u64) -> u64; 2] = [computed_by_furcate, computed_by_rayon];
            let (mut times, mut cpu) = ([const { Vec::new() }; 2], [Duration::ZERO; 2]);
            let wakeups = furcate::global_stats().total().wakeups;
            for _ in 0..rounds {
                for (way, (times, cpu)) in ways.iter().zip(times.iter_mut().zip(&mut cpu)) {
                    wait_for_sleep();
                    let before = cpu_time().unwrap_or_default();
                    for _ in 0..CALLS {
                        pause.into_iter().for_each(thread::sleep);
                        let start = Instant::now();
                        black_box(way(micros));
                        times.push(start.elapsed());
                    }
                    *cpu += cpu_time().unwrap_or_default() - before;
                }
            }
            let calls = (rounds * CALLS) as f64;
            let wakeups = (furcate::global_stats().total().wakeups - wakeups) as f64 / calls;
            let title = format!("{micros} us, {apart}");
            record(&format!("calls of {title}"), ["furcate", "rayon"].into_iter().zip(times.clone()));
            let [ours, theirs] = times.map(median);
            let [our_cpu, their_cpu] = cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / calls);
            println!(
                "{title:>20} {ours:>9.2} {theirs:>9.2} {:>7.2} {our_cpu:>12.2} {their_cpu:>12.2} {:>7.2}  {wakeups:.4}",
                ours / theirs,
                our_cpu / their_cpu
            );
        }
    }
    println!();
}

fn map(x: &u64) -> u64 {
    x.wrapping_mul(x ^ 7) & 0xffff
}

fn by_loop(v: &[u64]) -> u64 {
    v.iter().map(map).sum()
}

fn by_furcate(v: &[u64]) -> u64 {
    use furcate::prelude::*;
    v.par_iter().map(map).sum()
}

fn by_rayon(v: &[u64]) -> u64 {
    use rayon::prelude::*;
    v.par_iter().map(map).sum()
}

/// The median time of a call, over rounds of calls in a row.
fn small(rounds: usize) {
    println!("small: microseconds a call, medians of {rounds} x {CALLS}");
    println!(
        "{:>9} {:>9} {:>9} {:>9} {:>7} {:>8}  wake-ups a call",
        "n", "loop", "furcate", "rayon", "ratio", "more"
    );
    for n in [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000_u64] {
        let v: Vec<u64> = (0..n).collect();
        let ways: [fn(&[u64]) -> u64; 3] = [by_loop, by_furcate, by_rayon];
        let mut times = [const { Vec::new() }; 3];
        let wakeups = furcate::global_stats().total().wakeups;
        for _ in 0..rounds {
            for (way, times) in ways.iter().zip(&mut times) {
                for _ in 0..CALLS {
                    let start = Instant::now();
                    assert_ne!(black_box(way(black_box(&v))), u64::MAX);
                    times.push(start.elapsed());
                }
            }
        }
        let wakeups = furcate::global_stats().total().wakeups - wakeups;
        record(&format!("sum of {n} numbers"), ["loop", "furcate", "rayon"].into_iter().zip(times.clone()));
        let [plain, ours, theirs] = times.map(median);
        println!(
            "{n:>9} {plain:>9.2} {ours:>9.2} {theirs:>9.2} {:>7.2} {:>+8.2}  {:.4}",
            ours / plain,
            ours - plain,
            wakeups as f64 / (rounds * CALLS) as f64
        );
    }
    println!();
}

fn until_all_have_run(spawn: impl Fn(Arc<AtomicUsize>)) {
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..SPAWNS {
        spawn(Arc::clone(&done));
    }
    while done.load(Relaxed) < SPAWNS {
        thread::sleep(Duration::from_micros(100));
    }
}

fn spawns(rounds: usize) {
    let furcate = furcate::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let rayon = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let count = |done: Arc<AtomicUsize>| {
        done.fetch_add(1, Relaxed);
    };
    let mut contenders: [Contender<'_, ()>; 2] = [
        ("furcate", Box::new(|| until_all_have_run(|done| furcate.spawn(move || count(done))))),
        ("rayon", Box::new(|| until_all_have_run(|done| rayon.spawn(move || count(done))))),
    ];
    let medians = interleave("spawns from outside", rounds, &mut contenders);
    println!("spawns: {SPAWNS} from outside, medians of {rounds} interleaved rounds");
    for (name, time) in &medians.rows {
        println!("{name:<12} {:>9.1} ms", time.as_secs_f64() * 1e3);
    }
    println!("furcate / rayon {:.2}", medians.ratio_to("rayon"));
}
