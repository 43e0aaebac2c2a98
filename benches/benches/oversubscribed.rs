//! More threads than processors, as in containers with quotas, or where a program takes its number of threads from the machine: furcate and
//! rayon with 2, 8, 32 and 128 threads.
//!
//! `cargo bench -p furcate-benches --bench oversubscribed [-- WORD...]`; a word selects the rows whose titles contain it (`fib`, `"128 threads"`).
//! `ROUNDS=n` for more or fewer rounds, `QUICK=1` for small sizes, `THREADS=n` for n threads only.
//!
//! Each ratio is furcate's value over rayon's in the same round: the median, with the quartiles in brackets. Above 1 furcate has lost. One pool is
//! alive at a time; it is made and warmed up before its clock starts. Processor time is that of the whole process, and counts until 10 ms after
//! the program's end, so that it has in it what threads take that still search for work.
//!
//! The last columns are furcate's counts in the last round: steals, failed attempts, parks and naps of workers, and slots that a worker gave
//! to another thread.

use std::cell::RefCell;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use furcate_benches::fork::{Engine, Furcate, Rayon, warm_up};
use furcate_benches::latency::cpu_time;
use furcate_benches::programs::{Fib, Program, Tree};
use furcate_benches::record::{Row, Table, record};
use furcate_benches::results::Spread;
use furcate_benches::{Choice, Timed, interleave_timed, quick, rounds, threads};

/// Time for which threads may search for work after the program's end.
const AFTER: Duration = Duration::from_millis(10);

fn main() {
    let rounds = rounds(if quick() { 3 } else { 11 });
    let threads = threads().map_or_else(|| vec![2, 8, 32, 128], |threads| vec![threads]);
    let mut choice = Choice::from_args();
    let (fib, tree) = if quick() { (Fib(20), Tree::SMALL_T1) } else { (Fib(35), Tree::T1) };
    let [sums, calls] = if quick() { [3, 100] } else { [200, 10_000] };
    let numbers: Vec<u64> = (0..1_000_000).collect();

    println!("furcate / rayon, medians of {rounds} interleaved rounds [quartiles]");
    println!(
        "{:<46} {:>9} {:>19} {:>9} {:>19} {:>8} {:>9} {:>7} {:>6} {:>6}",
        "", "ms", "time", "cpu ms", "processor time", "steals", "failed", "parks", "naps", "given"
    );
    for threads in threads {
        let mut run = |title: &str, ours: &dyn Fn(&Furcate) -> u64, theirs: &dyn Fn(&Rayon) -> u64| {
            let title = format!("{title}, {threads} threads");
            if choice.has(&title) {
                row(&title, threads, rounds, ours, theirs);
            }
        };
        run(&fib.name(), &|pool| forked(&fib, pool), &|pool| forked(&fib, pool));
        run(&tree.name(), &|pool| forked(&tree, pool), &|pool| forked(&tree, pool));
        let title = format!("{sums} sums of {} numbers", numbers.len());
        run(&title, &|pool| furcate_calls(pool, sums, &numbers), &|pool| rayon_calls(pool, sums, &numbers));
        let short = &numbers[..1_000];
        let title = format!("{calls} calls of {} numbers", short.len());
        run(&title, &|pool| furcate_calls(pool, calls, short), &|pool| rayon_calls(pool, calls, short));
    }
    choice.finish();
}

fn forked<P: Program>(program: &P, pool: &impl Engine) -> P::Output {
    pool.run(|fork| program.forked(fork, program.input()))
}

fn map(x: &u64) -> u64 {
    x.wrapping_mul(x ^ 7) & 0xffff
}

/// Calls from outside the pool, one after the other.
fn furcate_calls(pool: &Furcate, calls: usize, numbers: &[u64]) -> u64 {
    use furcate::prelude::*;
    (0..calls).map(|_| pool.run(|_| black_box(numbers).par_iter().map(map).sum::<u64>())).sum()
}

/// The same calls.
fn rayon_calls(pool: &Rayon, calls: usize, numbers: &[u64]) -> u64 {
    use rayon::prelude::*;
    (0..calls).map(|_| pool.run(|_| black_box(numbers).par_iter().map(map).sum::<u64>())).sum()
}

/// Times a program on a pool. Returns the time, the processor time, and the result.
fn measured<E: Engine>(pool: &E, program: &dyn Fn(&E) -> u64) -> (Duration, Duration, u64) {
    let cpu = cpu_time().unwrap_or_default();
    let start = Instant::now();
    let result = program(pool);
    let time = start.elapsed();
    thread::sleep(AFTER);
    (time, cpu_time().unwrap_or_default() - cpu, result)
}

fn row(
    title: &str,
    threads: usize,
    rounds: usize,
    ours: &dyn Fn(&Furcate) -> u64,
    theirs: &dyn Fn(&Rayon) -> u64,
) {
    let (our_cpu, their_cpu) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let counts = RefCell::new([0; 5]);
    let mut contenders: [Timed<'_, u64>; 2] = [
        (
            "furcate",
            Box::new(|| {
                let pool = Furcate::new(threads);
                warm_up(&pool);
                thread::sleep(AFTER);
                let before = counts_of(&pool);
                let (time, cpu, result) = measured(&pool, ours);
                let after = counts_of(&pool);
                counts.replace(std::array::from_fn(|at| after[at] - before[at]));
                our_cpu.borrow_mut().push(cpu);
                (time, result)
            }),
        ),
        (
            "rayon",
            Box::new(|| {
                let pool = Rayon::new(threads);
                warm_up(&pool);
                thread::sleep(AFTER);
                let (time, cpu, result) = measured(&pool, theirs);
                their_cpu.borrow_mut().push(cpu);
                (time, result)
            }),
        ),
    ];
    let medians = interleave_timed(title, rounds, &mut contenders);
    drop(contenders);
    let wall = Table::new("", title, ["furcate", "rayon"].into_iter().zip(medians.times));
    // The first run of each does not count.
    let cpu = [our_cpu, their_cpu].map(|cpu| cpu.into_inner().split_off(1));
    let cpu_title = format!("{title}, processor time");
    record(&cpu_title, ["furcate", "rayon"].into_iter().zip(cpu.clone()));
    let cpu = Table::new("", &cpu_title, ["furcate", "rayon"].into_iter().zip(cpu));
    let ms = |row: &Row| Spread::of(row.ns.clone()).map_or(f64::NAN, |spread| spread.median / 1e6);
    let ratio = |table: &Table| {
        table
            .ratio(&table.rows[0], &table.rows[1])
            .map_or_else(String::new, |Spread { low, median, high }| {
                format!("{median:.2} [{low:.2}, {high:.2}]")
            })
    };
    let [steals, failed, parks, naps, given] = counts.into_inner();
    println!(
        "{title:<46} {:>9.1} {:>19} {:>9.1} {:>19} {steals:>8} {failed:>9} {parks:>7} {naps:>6} {given:>6}",
        ms(&wall.rows[0]),
        ratio(&wall),
        ms(&cpu.rows[0]),
        ratio(&cpu),
    );
}

/// Returns counts of a pool: steals that were won and that failed, parks, naps, and slots that were given away.
fn counts_of(pool: &Furcate) -> [u64; 5] {
    let total = pool.stats().total();
    let won = total.steals.iter().map(|victim| victim.won).sum();
    let failed = total.steals.iter().map(|victim| victim.empty + victim.requests + victim.lost).sum();
    [won, failed, total.parks, total.naps, total.slots_given]
}
