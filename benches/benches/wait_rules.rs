//! Furcate's four wait rules (the jobs that a waiting worker may run) on irregular programs, with as many workers as
//! the machine has cores and with more.
//!
//! `cargo bench -p furcate-benches --bench wait_rules`; `ROUNDS=n`, `QUICK=1` as for `fork_join`.

use furcate::{Stats, ThreadPoolBuilder, WaitRule};
use furcate_benches::fork::STACK;
use furcate_benches::programs::{Program, Queens, Tree};
use furcate_benches::{Timed, interleave_timed, quick, rounds};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const RULES: [(&str, WaitRule); 4] = [
    ("descendants", WaitRule::Descendants),
    ("leapfrog", WaitRule::Leapfrog),
    ("random", WaitRule::RandomLeapfrog),
    ("any", WaitRule::Any),
];

fn main() {
    let quick = quick();
    let rounds = rounds(if quick { 3 } else { 7 });
    for threads in [2, 8] {
        if quick {
            compare(&Queens(9), threads, rounds);
            compare(&Tree::SMALL_T3, threads, rounds);
        } else {
            compare(&Queens(13), threads, rounds);
            compare(&Tree::T1, threads, rounds);
            compare(&Tree::T3, threads, rounds);
        }
    }
}

/// The table of one program on so many workers: times over that of the first rule.
fn compare<P: Program>(program: &P, threads: usize, rounds: usize) {
    let stats: RefCell<BTreeMap<&str, Stats>> = RefCell::default();
    let mut contenders: Vec<Timed<'_, P::Output>> = Vec::new();
    for (name, rule) in RULES {
        let stats = &stats;
        let run = move || {
            let input = program.input();
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .stack_size(STACK)
                .wait_rule(rule)
                .build()
                .unwrap();
            pool.install(|| std::thread::sleep(Duration::from_millis(1)));
            let start = Instant::now();
            let output = pool.join_with(|worker| program.forked(worker, input), |_| ()).0;
            let time = start.elapsed();
            stats.borrow_mut().insert(name, pool.stats());
            (time, output)
        };
        contenders.push((name, Box::new(run)));
    }
    let medians =
        interleave_timed(&format!("{} on {threads} workers", program.name()), rounds, &mut contenders);
    let best = medians.rows[0].1.as_secs_f64();
    println!("{} on {threads} workers, medians of {rounds} interleaved rounds", program.name());
    println!(
        "{:<12} {:>9} {:>6} {:>8} {:>10} {:>8}",
        "rule", "ms", "ratio", "steals", "handovers", "threads"
    );
    for (name, time) in &medians.rows {
        let stats = &stats.borrow()[name];
        let total = stats.total();
        println!(
            "{name:<12} {:>9.1} {:>6.2} {:>8} {:>10} {:>8}",
            time.as_secs_f64() * 1e3,
            time.as_secs_f64() / best,
            total.steals.iter().map(|victim| victim.won).sum::<u64>(),
            total.handovers,
            stats.workers.len(),
        );
    }
    println!();
}
