//! What the pool does with 2 to 256 workers: on simulated machines, or on the machine at hand.
//!
//! ```console
//! RUSTFLAGS="--cfg furcate_sim" cargo run --release -p furcate-sim --example many_cores -- [PROGRAM ...] [--workers 2,8,16,64,256]
//! cargo run --release -p furcate-sim --example many_cores -- [PROGRAM ...] [--workers 1,2]
//! ```
//!
//! The first command simulates: all its values are simulated. The second one runs the same programs for real, which shows how true the simulation is:
//! compare it with `--machine here`. A leaf of `t` uses `t` of processor time in both. Columns that only a simulation can fill are "-" there.
//!
//! | column | is |
//! |---|---|
//! | T1, TP | the program's work, and the time of the run; of several runs, the one of the median time is shown |
//! | best | the shortest time of a run: on a machine that other processes use, compare this one |
//! | efficiency | `T1/min(P, cores) + Tinf`, which no greedy scheduler exceeds, divided by TP: 1 or more is as good as greedy |
//! | begun, all begun | how many threads worked, and when the last one of them began |
//! | steals, failed | steals that got a job, and attempts that got none |
//! | far | steals from workers on another socket |
//! | heavy | steals and final checks that interrupt other cores |
//! | interr., /s/core | interruptions of cores, and their rate per second and core |
//! | misses | accesses that had to get their cache line from another core |
//! | lines, locks | time that threads waited for cache lines and for locks, in all |

mod programs;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use furcate::{ThreadPool, ThreadPoolBuilder};
use furcate_sim::time::Instant;
use furcate_sim::{Begins, Machine, WaitsAt, simulate, thread};
use programs::{PROGRAMS, Program};
use std::fs::File;
use std::io::{self, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

const SIMULATED: bool = cfg!(furcate_sim);

/// Runs programs on a pool of many workers.
///
/// Columns: T1 and TP are the times on one core and on all; efficiency is the greedy bound over TP; `begun` counts the threads that have run a job, and
/// `all begun` is when the last of them did (in a loop of calls, at its end); heavy fences, the interruptions by them, and waits for lines and locks are simulated only.
#[derive(Parser)]
#[command(name = "many_cores")]
struct Arguments {
    /// Parts of the names of programs; by default, all programs run.
    #[arg(value_name = "PROGRAM")]
    programs: Vec<String>,

    /// Numbers of workers.
    #[arg(long, value_delimiter = ',', default_value = "2,8,16,64,256")]
    workers: Vec<NonZero<usize>>,

    /// Simulated cores; by default as many as workers, and 2 on the machine `here`. With fewer cores than workers, threads are preempted.
    #[arg(long)]
    cores: Option<NonZero<usize>>,

    /// The machine that is simulated. An ordinary build runs on the machine at hand.
    #[arg(long, value_parser = ["here", "desktop-16", "socket-64", "sockets-2x64"], default_value = "socket-64")]
    machine: String,

    /// Runs of each program, each with another seed; by default 1 in a simulation, else 5.
    #[arg(long)]
    repeat: Option<NonZero<u32>>,

    /// Prints the places with the longest waits for locks and cache lines, and those of heavy fences.
    #[arg(long)]
    waits: bool,

    /// Prints the times at which the 2nd, 3rd, 5th, 9th ... worker began.
    #[arg(long)]
    begins: bool,

    /// Has thieves choose among all workers alike. By default they look at those that share a cache or a socket with them first.
    #[arg(long)]
    uniform: bool,

    /// Has forks pass a full fence each, as rayon's do. With `--uniform`, a model of rayon's protocol but for its wake-ups.
    #[arg(long)]
    fences: bool,

    /// Writes the table to a file, too.
    #[arg(long)]
    csv: Option<PathBuf>,
}

impl Arguments {
    /// Returns the machine for a number of workers.
    fn machine(&self, workers: usize) -> Machine {
        let (machine, cores) = match &*self.machine {
            "here" => (Machine::HERE, Machine::HERE.cores),
            "desktop-16" => (Machine::DESKTOP_16, workers),
            "sockets-2x64" => (Machine::SOCKETS_2_64, workers),
            _ => (Machine::SOCKET_64, workers),
        };
        machine.with_cores(self.cores.map_or(cores, NonZero::get))
    }

    /// Returns the programs that are asked for, or says why there are none.
    fn selected(&self) -> Result<Vec<&'static Program>, String> {
        if !SIMULATED && (self.cores.is_some() || self.waits || self.begins) {
            return Err("`--cores`, `--waits` and `--begins` need a simulation: build this program with RUSTFLAGS=\"--cfg furcate_sim\"".into());
        }
        let has = |program: &Program, word: &String| program.name.contains(&**word);
        if let Some(word) = self.programs.iter().find(|word| !PROGRAMS.iter().any(|it| has(it, word))) {
            let names: Vec<_> = PROGRAMS.iter().map(|program| program.name).collect();
            return Err(format!(
                "no program's name contains `{word}`; there are:\n    {}",
                names.join("\n    ")
            ));
        }
        let wanted =
            |it: &&Program| self.programs.is_empty() || self.programs.iter().any(|word| has(it, word));
        Ok(PROGRAMS.iter().filter(wanted).collect())
    }
}

/// What a run has shown.
struct Shown {
    time: Duration,
    work: Duration,
    span: Duration,
    begins: Vec<Duration>,
    /// As [`counts`] returns them.
    pool: [u64; 6],
    interruptions: u64,
    misses: u64,
    /// Waits for locks and for lines, and heavy fences.
    waits: [Vec<WaitsAt>; 3],
    waited: [Duration; 3],
}

/// Returns counts of the pool: steals that were won, that failed, and that were far, parks, wake-ups, and barriers.
fn counts(pool: &ThreadPool) -> [u64; 6] {
    let total = pool.stats().total();
    let won = total.steals.iter().map(|victim| victim.won).sum();
    let failed = total.steals.iter().map(|victim| victim.empty + victim.requests + victim.lost).sum();
    [won, failed, total.far_steals, total.parks, total.wakeups, total.barriers]
}

/// Returns the waits and heavy fences of the simulation so far, and their times in all.
fn waits() -> ([Vec<WaitsAt>; 3], [Duration; 3]) {
    let waits = [furcate_sim::lock_waits(), furcate_sim::line_waits(), furcate_sim::heavy_fences()];
    let waited = waits.each_ref().map(|waits| waits.iter().map(|(.., time)| time).sum());
    (waits, waited)
}

fn run(
    program: fn(&ThreadPool) -> (Duration, Duration),
    workers: usize,
    [uniform, fences]: [bool; 2],
) -> Shown {
    let builder = ThreadPoolBuilder::new().num_threads(workers).uniform_victims(uniform);
    let pool = if fences { builder.ordinary_fences() } else { builder }.build().unwrap();
    // The threads have begun, and sleep.
    thread::sleep(Duration::from_millis(if SIMULATED { 200 } else { 50 }));
    let (counts_before, machine_before) = (counts(&pool), furcate_sim::counts());
    let (_, waited_before) = waits();
    let begins = Begins::watch();
    let begin = Instant::now();
    let (work, span) = program(&pool);
    let time = begin.elapsed();
    let (counts, machine) = (counts(&pool), furcate_sim::counts());
    let (waits, waited) = waits();
    Shown {
        time,
        work,
        span,
        begins: begins.times(),
        pool: std::array::from_fn(|at| counts[at] - counts_before[at]),
        interruptions: machine.interruptions - machine_before.interruptions,
        misses: machine.misses.iter().sum::<u64>() - machine_before.misses.iter().sum::<u64>(),
        waits,
        waited: std::array::from_fn(|at| waited[at] - waited_before[at]),
    }
}

/// Titles of the columns.
const COLUMNS: &str = "program,workers,cores,T1 us,TP us,best us,T1/TP,efficiency,begun,all begun us,steals,failed,far,\
    parks,wake-ups,heavy,interr.,/s/core,misses,lines us,locks us";

fn row(name: &str, workers: usize, cores: usize, runs: &[Shown]) -> Vec<String> {
    let shown = &runs[runs.len() / 2];
    let us = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e6);
    let simulated = |value: String| if SIMULATED { value } else { "-".into() };
    let (work, time) = (shown.work.as_secs_f64(), shown.time.as_secs_f64());
    let bound = work / workers.min(cores) as f64 + shown.span.as_secs_f64();
    let mut row = vec![
        name.into(),
        workers.to_string(),
        cores.to_string(),
        us(shown.work),
        us(shown.time),
        us(runs[0].time),
        format!("{:.2}", work / time),
        format!("{:.3}", bound / time),
        simulated(shown.begins.len().to_string()),
        simulated(us(shown.begins.last().copied().unwrap_or_default())),
    ];
    row.extend(shown.pool.map(|count| count.to_string()));
    row.extend([
        simulated(shown.interruptions.to_string()),
        simulated(format!("{:.0}", shown.interruptions as f64 / time / cores as f64)),
        simulated(shown.misses.to_string()),
        simulated(us(shown.waited[1])),
        simulated(us(shown.waited[0])),
    ]);
    row
}

fn print(row: &[String]) {
    print!("{:<31}", row[0]);
    for (cell, title) in row.iter().zip(COLUMNS.split(',')).skip(1) {
        print!(" {cell:>0$}", title.len().max(8));
    }
    println!();
}

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    let selected = arguments
        .selected()
        .unwrap_or_else(|problem| Arguments::command().error(ErrorKind::ValueValidation, problem).exit());
    let mut csv = arguments.csv.as_ref().map(File::create).transpose()?;
    let settings = [arguments.uniform, arguments.fences];
    let repeat = arguments.repeat.map_or(if SIMULATED { 1 } else { 5 }, NonZero::get);
    if !SIMULATED {
        programs::calibrate();
    }
    let here = thread::available_parallelism().map_or(1, NonZero::get);
    println!("{}", if SIMULATED { "simulated" } else { "real: on the machine at hand" });
    print(&COLUMNS.split(',').map(String::from).collect::<Vec<_>>());
    if let Some(csv) = &mut csv {
        writeln!(csv, "{COLUMNS}")?;
    }
    for &Program { name, run: program } in selected {
        for workers in arguments.workers.iter().map(|workers| workers.get()) {
            let machine = arguments.machine(workers);
            let run_once = |seed: u32| match SIMULATED {
                true => simulate(machine, seed.into(), move || run(program, workers, settings)).result,
                false => run(program, workers, settings),
            };
            let mut runs: Vec<_> = (1..=repeat).map(run_once).collect();
            runs.sort_by_key(|run| run.time);
            let row = row(name, workers, if SIMULATED { machine.cores } else { here }, &runs);
            let shown = &runs[runs.len() / 2];
            print(&row);
            if let Some(csv) = &mut csv {
                writeln!(csv, "\"{name}\",{}", row[1..].join(","))?;
            }
            if arguments.begins {
                let powers = (0..usize::BITS).map(|power| 1_usize << power);
                let times = powers.map_while(|n| Some((n + 1, shown.begins.get(n)?))).collect::<Vec<_>>();
                println!("{:31} begun: {times:?}", "");
            }
            for (waits, what) in shown
                .waits
                .iter()
                .zip(["waits for locks", "waits for lines", "heavy fences"])
                .filter(|_| arguments.waits)
            {
                for (at, count, time) in waits.iter().take(5) {
                    println!("{:31} {count} {what}, {:.1} us: {at}", "", time.as_secs_f64() * 1e6);
                }
            }
        }
    }
    Ok(())
}
