//! Furcate's four wait rules (the jobs that a waiting worker may run) on fork-join programs, with as many workers as
//! the machine has cores and with more: times, and the outcomes of steals as the paper on lace.rs counts them (section 5.2).
//!
//! `cargo bench -p furcate-benches --bench wait_rules [-- program...]`; `ROUNDS=n`, `QUICK=1`, `PAPER=1` and
//! `THREADS=n` as for `fork_join`.
//!
//! `tasks` are forks. A try to steal ends in one of four ways: `won`; `busy`, if another thief or the owner was faster; `empty`, if the
//! deque was; `private`, if it had private jobs only, so that the thief has requested a split. (The paper counts the last two as one.)
//! `leaps` counts the `won` tries in which a waiting worker has stolen from its thief.

use furcate::{StealStats, ThreadPoolBuilder, WaitRule, WorkerStats};
use furcate_benches::fork::STACK;
use furcate_benches::programs::{Fib, Matmul, Program, Queens, Tree};
use furcate_benches::{Choice, Timed, interleave_timed, paper, quick, rounds, thread_counts};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const RULES: [(&str, WaitRule); 4] = [
    ("descendants", WaitRule::Descendants),
    ("leapfrog", WaitRule::Leapfrog),
    ("random", WaitRule::RandomLeapfrog),
    ("any", WaitRule::Any),
];

/// The outcomes of steals that the paper states: medians of 50 runs with 48 workers, of its *safe* version with random leapfrogging and of
/// C Lace. Tasks, won, busy, empty.
type Published = [(&'static str, [u64; 4]); 2];

const FIB: Published = [
    ("safe, fib 45", [1_836_311_902, 8_788, 120, 2_255_302]),
    ("C Lace", [1_836_311_902, 7_722, 133, 852_365]),
];
const QUEENS: Published =
    [("safe, 14", [27_358_552, 3_990, 36, 2_021_738]), ("C Lace", [27_358_552, 2_541, 14, 249_034])];
const MATMUL: Published = [
    ("safe, 2048", [449_389, 185_886, 2_332, 108_877_330]),
    ("C Lace", [449_389, 199_361, 12_432, 670_047_466]),
];
const T2L: Published =
    [("safe, T2L", [96_793_509, 34_286, 231, 2_969_814]), ("C Lace", [96_793_509, 27_374, 178, 1_616_104])];
const T3L: Published = [
    ("safe, T3L", [111_345_630, 3_610_010, 40_908, 103_433_202]),
    ("C Lace", [111_345_630, 3_526_804, 30_873, 154_021_447]),
];

fn main() {
    let mut choice = Choice::from_args();
    let rounds = rounds(if quick() || paper() { 3 } else { 7 });
    let (fib, queens, matmul, trees) = match (quick(), paper()) {
        (true, _) => (25, 9, 256, [Tree::SMALL_T1, Tree::SMALL_T3]),
        (_, true) => (45, 14, 2_048, [Tree::T2L, Tree::T3L]),
        _ => (38, 13, 1_024, [Tree::T1, Tree::T3]),
    };
    // As many as there are processors, and more.
    for threads in thread_counts(|all| [all, 4 * all]) {
        let mut contest = Contest { choice: &mut choice, threads, rounds };
        contest.of(&Fib(fib), &FIB);
        contest.of(&Queens(queens), &QUEENS);
        contest.of(&Matmul::new(matmul), &MATMUL);
        contest.of(&trees[0], &T2L);
        contest.of(&trees[1], &T3L);
    }
    choice.finish();
}

struct Contest<'a> {
    choice: &'a mut Choice,
    threads: usize,
    rounds: usize,
}

impl Contest<'_> {
    /// The table of one program: times over that of the first rule, and medians of the counts.
    fn of<P: Program>(&mut self, program: &P, published: &Published) {
        let Contest { threads, rounds, .. } = *self;
        if !self.choice.has_beginning(&program.name()) {
            return;
        }
        let stats: RefCell<BTreeMap<&str, Vec<(WorkerStats, usize)>>> = RefCell::default();
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
                let counts = pool.stats();
                stats.borrow_mut().entry(name).or_default().push((counts.total(), counts.workers.len()));
                (time, output)
            };
            contenders.push((name, Box::new(run)));
        }
        let title = format!("{} on {threads} workers", program.name());
        let medians = interleave_timed(&title, rounds, &mut contenders);
        let best = medians.rows[0].1.as_secs_f64();
        println!("{title}, medians of {rounds} interleaved rounds");
        print!("{:<22} {:>8} {:>6} {:>10} {:>7} {:>6}", "rule", "ms", "ratio", "tasks", "won", "busy");
        println!(" {:>9} {:>8} {:>6} {:>9} {:>7}", "empty", "private", "leaps", "handovers", "threads");
        for (name, time) in &medians.rows {
            let runs = &stats.borrow()[name];
            let median = |count: &dyn Fn(&(WorkerStats, usize)) -> u64| {
                let mut counts: Vec<u64> = runs.iter().rev().take(rounds).map(count).collect();
                counts.sort_unstable();
                counts[counts.len() / 2]
            };
            let steals =
                |count: fn(&StealStats) -> u64| median(&|(total, _)| total.steals.iter().map(count).sum());
            let ms = time.as_secs_f64() * 1e3;
            println!(
                "{name:<22} {ms:>8.1} {:>6.2} {:>10} {:>7} {:>6} {:>9} {:>8} {:>6} {:>9} {:>7}",
                time.as_secs_f64() / best,
                median(&|(total, _)| total.forks),
                steals(|victim| victim.won),
                steals(|victim| victim.lost),
                steals(|victim| victim.empty),
                steals(|victim| victim.requests),
                median(&|(total, _)| total.leapfrogs),
                median(&|(total, _)| total.handovers),
                median(&|(_, threads)| *threads as u64),
            );
        }
        for (name, [tasks, won, busy, empty]) in published {
            let name = format!("{name} (paper)");
            println!("{name:<22} {:>8} {:>6} {tasks:>10} {won:>7} {busy:>6} {empty:>9}", "", "");
        }
        println!();
    }
}
