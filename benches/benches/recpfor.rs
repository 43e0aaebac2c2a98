//! Nested parallel loops under `join`, `depjoin` and `adaptive`: their times, and how often workers have to wait.
//!
//! `cargo bench -p furcate-benches --bench recpfor`; words after `--` choose programs, `recpfor` (recursive parallel
//! loops) or `lcs` (a wavefront by quadrants); `ROUNDS=n` more or fewer rounds, `THREADS=n` other pools, `QUICK=1` small sizes.
//!
//! Times are of one interleaved run, `serial/it` and `rayon/it` how many times faster than these a row is: below 1 it has
//! lost.
//!
//! Counters are from further runs of each row, in which every task records times. In a *stolen* fork (its halves began
//! on different threads) one half is done first. From then on, until it is reduced, the fork's join is *outstanding*.
//! After the second half is done the join is *late*: nothing is missing, but the worker that is to reduce is busy
//! elsewhere, or asleep. Likewise a *call* is late from the moment its result is there until its caller goes on. All
//! are given as the mean number at a moment, outstanding ones also as the greatest number, and late ones as the longest
//! time in microseconds. Stolen forks, and the pool's counts of `steals`, `parks` and `handovers`, are means of a run.

use furcate::{Adaptive, DepJoin, Join, Scheduler, ThreadPool, ThreadPoolBuilder, WorkerStats};
use furcate_benches::loops::{Counted, Counters, Furcate, Lcs, Nested, Rayon, RecPFor, Serial};
use furcate_benches::{Choice, Contender, interleave, quick, rounds, thread_counts};
use std::time::Instant;

fn main() {
    let rounds = rounds(if quick() { 1 } else { 7 });
    let mut choice = Choice::from_args();
    let (recpfor, lcs) = if quick() { (256, 512) } else { (1 << 14, 1 << 14) };
    if choice.has("recpfor") {
        program(&RecPFor(recpfor), rounds);
    }
    if choice.has("lcs") {
        program(&Lcs::new(lcs, 128), rounds);
    }
    choice.finish();
}

fn program(program: &impl Nested, rounds: usize) {
    // As many as there are processors, and more.
    for threads in thread_counts(|all| [all, 4 * all]) {
        table(program, rounds, threads);
    }
}

fn table(program: &impl Nested, rounds: usize, threads: usize) {
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let rayon = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
    let join = |single| Furcate { scheduler: Join, single };
    let depjoin = |single| Furcate { scheduler: DepJoin, single };
    let adaptive = Furcate { scheduler: Adaptive::new(), single: false };

    let mut contenders: [Contender<'_, u64>; 7] = [
        ("serial", Box::new(|| program.run(&Serial))),
        ("rayon", Box::new(|| rayon.install(|| program.run(&Rayon)))),
        ("join", Box::new(|| pool.install(|| program.run(&join(false))))),
        ("depjoin", Box::new(|| pool.install(|| program.run(&depjoin(false))))),
        ("adaptive", Box::new(|| pool.install(|| program.run(&adaptive)))),
        ("join, a task per item", Box::new(|| pool.install(|| program.run(&join(true))))),
        ("depjoin, a task per item", Box::new(|| pool.install(|| program.run(&depjoin(true))))),
    ];
    let medians = interleave(&format!("{}, {threads} threads", program.name()), rounds, &mut contenders);
    println!("{}, medians of {rounds} interleaved rounds, {threads} threads", program.name());
    println!(
        "{:<26} {:>8} {:>9} {:>9} {:>8} {:>16} {:>16} {:>16} {:>8} {:>8} {:>9}",
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
            2 => count(program, rounds, &pool, join(false)),
            3 => count(program, rounds, &pool, depjoin(false)),
            4 => count(program, rounds, &pool, adaptive),
            5 => count(program, rounds, &pool, join(true)),
            6 => count(program, rounds, &pool, depjoin(true)),
            _ => println!(),
        }
    }
    println!();
}

/// Runs it some times more, and prints the counters.
fn count<S: Scheduler + Sync>(program: &impl Nested, runs: usize, pool: &ThreadPool, furcate: Furcate<S>) {
    let counters = Counters::default();
    let counted = Counted { furcate, counters: &counters };
    let before = pool.stats().total();
    let start = Instant::now();
    for _ in 0..runs {
        pool.install(|| program.run(&counted));
    }
    let elapsed = start.elapsed();
    let after = pool.stats().total();

    let outstanding = counters.outstanding_joins();
    let stolen = outstanding.len();
    let (outstanding, greatest, _) = Counters::at_a_moment(elapsed, &outstanding);
    let (late_joins, _, longest_join) = Counters::at_a_moment(elapsed, &counters.late_joins());
    let (late_calls, _, longest_call) = Counters::at_a_moment(elapsed, &counters.late_calls());
    let of_a_run = |count: fn(&WorkerStats) -> u64| (count(&after) - count(&before)) as f64 / runs as f64;
    println!(
        " {:>8.1} {:>16} {:>16} {:>16} {:>8.1} {:>8.1} {:>9.1}",
        stolen as f64 / runs as f64,
        format!("{outstanding:.2}, {greatest}"),
        format!("{late_joins:.3}, {}", longest_join.as_micros()),
        format!("{late_calls:.3}, {}", longest_call.as_micros()),
        of_a_run(|stats| stats.steals.iter().map(|victim| victim.won).sum()),
        of_a_run(|stats| stats.parks),
        of_a_run(|stats| stats.handovers),
    );
}
