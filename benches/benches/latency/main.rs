//! Programs that wait for I/O and compute: `io_await` against tokio, async-executor, `buffer_unordered`, rayon
//! and (feature `forte`) forte.
//!
//! `cargo bench -p furcate-benches --bench latency`. Words after `--` choose tables whose titles contain one of them.
//! `ROUNDS=n` sets the rounds, and `THREADS=n` the threads of the pools (by default as many as there are processors).
//! `QUICK=1` takes small sizes and `PAPER=1` the papers'; by default there are just enough items that a row lasts some
//! 0.3 seconds. All tables take some eight minutes.
//!
//! | title | what |
//! |---|---|
//! | `fib` | MapReduceFib (ProWS-R, Section 5.2; Cilk-L's `map-reduce`): values come after a latency, each then costs a parallel fib(30) |
//! | `serial` | items of serial computing after 1 or 4 waits of 50 ms, of which so many are in flight |
//! | `sweep` | fib, forked to the base case; some of its leaves wait, and the others compute for as long (ProWS-R, Section 5.3) |
//! | `overhead` | fib(32) forked to a cutoff: futures that are ready at once, against the same computation without any. On Linux also with a read in each leaf that is ready at once, as in Cilk-L's figure 4: plainly, in a future, with epoll, by an I/O thread. The paper's ratios stand beside; its leaves take 6.6 ms each |
//! | `policy` | tasks that fork tasks, compute, wait and compute: proactive against parsimonious suspension |
//! | `cost` | futures that are woken by hand, or by themselves: what a suspension and a resumption cost |
//! | `wakes` | from a wake to the poll it is for, at a pace that leaves processors idle, and at 30 % load |
//! | `redis` | requests over loopback that are answered at once: processor time for each |
//! | `memory` | a million timers in flight; each engine in a process of its own |
//!
//! *Ideal* is max(T1/P, critical path, waits in turns of the cap), with T1 measured in the same rounds. If the first
//! two are alike, no schedule reaches the ideal, since nothing can be computed before the first wait is over: *bound*
//! is the greater of the ideal and a wait + T1/P. The row `threads that do not wait` says how near to T1/P one can come
//! here. `it/furcate` says how many times slower than furcate a row is: below 1 furcate has lost. `cpu/T1` is the
//! processor time of all threads over that of the computations alone, `busiest` the share of items that one thread has
//! computed. Rows in brackets are not run: threads that sleep would take at least so long. The sum of every row is
//! compared with the others'.
//!
//! `fib`, `serial`, `sweep`, `overhead` and `wakes` are drawn as well, as far as they are run: as SVG, in
//! `target/furcate-plots/`; the paths are printed at the end.

mod gates;
mod loads;
mod memory;
mod redis;
mod sweeps;
mod tasks;

use furcate_benches::latency::Engine;
use furcate_benches::plot::Plot;
use furcate_benches::{Choice, paper, processors, quick, rounds, threads};
use std::path::Path;
use std::time::Duration;

fn main() {
    let threads = threads().unwrap_or_else(processors);
    if let Ok(which) = std::env::var(memory::CHILD) {
        return memory::tell_memory(threads, &which);
    }
    let rounds = rounds(if quick() { 1 } else { 3 });
    let mut tables = Tables { rounds, threads, choice: Choice::from_args(), plots: Vec::new() };
    println!("medians of {rounds} interleaved rounds, {threads} threads");
    tables.fibs();
    tables.serial();
    tables.sweeps();
    tables.overheads();
    tables.policies();
    tables.costs();
    tables.wakes();
    tables.redis();
    tables.memory();
    tables.draw();
    tables.choice.finish();
}

/// Returns the limit: a row is not run if its threads would sleep for longer.
fn limit() -> Duration {
    millis(match quick() {
        true => 50,
        false if paper() => 60_000,
        false => 2_500,
    })
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

struct Tables {
    rounds: usize,
    threads: usize,
    choice: Choice,
    /// File names, and plots. The plots of tables that were not chosen, or have no such rows, are empty.
    plots: Vec<(String, Plot)>,
}

impl Tables {
    /// Writes the plots.
    fn draw(&self) {
        if self.plots.is_empty() {
            return;
        }
        let name = if quick() { "furcate-plots-quick" } else { "furcate-plots" };
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(name);
        println!("\nplots:");
        for (name, plot) in &self.plots {
            plot.write(&directory, &format!("latency-{name}")).expect("plots can be written");
        }
    }

    /// Returns the plot of that name, which may have other points already.
    fn plot(&mut self, name: String, new: impl FnOnce() -> Plot) -> &mut Plot {
        let at = self.plots.iter().position(|(other, _)| *other == name).unwrap_or_else(|| {
            self.plots.push((name, new()));
            self.plots.len() - 1
        });
        &mut self.plots[at].1
    }

    /// Returns the engines that are run, and those that are not, with the time they would take.
    fn choose(
        &self,
        engines: &[Box<dyn Engine>],
        waits: u64,
        latency: Duration,
    ) -> (Vec<usize>, Vec<(usize, Duration)>) {
        let foreseen = |i: usize| engines[i].foreseen(waits, latency);
        let (run, not): (Vec<usize>, Vec<usize>) = (0..engines.len()).partition(|&i| foreseen(i) <= limit());
        (run, not.into_iter().map(|i| (i, foreseen(i))).collect())
    }
}

fn print_not_run(engines: &[Box<dyn Engine>], not_run: &[(usize, Duration)]) {
    for &(i, foreseen) in not_run {
        let foreseen = format!("({:.0})", foreseen.as_secs_f64() * 1e3);
        println!("  {:<28} {foreseen:>10}", engines[i].name());
    }
}
