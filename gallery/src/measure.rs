//! Times and memory of the three columns, taken in turn.
//!
//! Each column runs in a process of its own, so that its peak of memory is its own, and only its library has threads. A round has one process for
//! each column, in alternating order. A process makes the input, runs once without counting, and then as often as there is time, at least
//! three times. Its time is the median of these runs. Ratios are of times of the same round. The peak is that of the runs, with the
//! input, but without its making.

use crate::program::{Case, Column, Program};
use crate::programs;
use std::fmt::Display;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

/// The variable by which a process is told to run a column: its name and column, and the settings.
const COLUMN: &str = "FURCATE_GALLERY_COLUMN";

/// Number of runs that count, at least, and the time in which there may be more.
const LEAST: usize = 3;
const TIME: Duration = Duration::from_millis(500);

/// How programs are measured.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Threads of both libraries' pools.
    pub threads: usize,
    /// The size, if not the program's own.
    pub size: Option<usize>,
    /// Small sizes, one round, and a check after each run: whether all is right, not how fast.
    pub quick: bool,
    /// Number of rounds.
    pub rounds: usize,
    /// Whether a thread of the pool calls the programs, and not the main thread.
    pub inside: bool,
}

impl Settings {
    /// Returns the size with which a program runs.
    #[must_use]
    pub fn size_of(&self, program: &Program) -> usize {
        self.size.unwrap_or(if self.quick { program.quick } else { program.size })
    }
}

/// Times and memory of a program's three columns.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The program.
    pub program: &'static Program,
    /// Times of each column, round by round.
    pub times: [Vec<Duration>; 3],
    /// Peaks of the resident memory of each column's processes in KiB, round by round; 0 if the system does not tell.
    pub peaks: [Vec<u64>; 3],
}

impl Measured {
    /// Returns the median time of a column.
    #[must_use]
    pub fn time(&self, column: Column) -> Duration {
        median(&self.times[column as usize])
    }

    /// Returns the median peak of a column in KiB.
    #[must_use]
    pub fn peak(&self, column: Column) -> u64 {
        median(&self.peaks[column as usize])
    }

    /// Returns a column's times over rayon's, of each round, the least first.
    #[must_use]
    pub fn ratios(&self, column: Column) -> Vec<f64> {
        let of_rayon = self.times[column as usize].iter().zip(&self.times[Column::Rayon as usize]);
        let mut ratios: Vec<_> =
            of_rayon.map(|(time, rayon)| time.as_secs_f64() / rayon.as_secs_f64()).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        ratios
    }

    /// Returns furcate's median memory over rayon's.
    #[must_use]
    pub fn memory_ratio(&self) -> f64 {
        self.peak(Column::Furcate) as f64 / (self.peak(Column::Rayon) as f64).max(1.0)
    }
}

fn median<T: Ord + Copy + Default>(values: &[T]) -> T {
    let mut values = values.to_vec();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// Measures a program.
///
/// # Errors
///
/// If a column is wrong, or its process fails.
pub fn measure(program: &'static Program, settings: &Settings) -> Result<Measured, String> {
    let mut measured = Measured { program, times: Default::default(), peaks: Default::default() };
    for round in 0..settings.rounds {
        let mut columns = Column::ALL;
        if round % 2 == 1 {
            columns.reverse();
        }
        for column in columns {
            let output = run(program, column, settings, |_| {})?;
            let (time, peak) = output.split_once(' ').ok_or_else(|| format!("{}: no time", program.name))?;
            let parse = |text: &str| text.trim().parse::<u64>().map_err(|error| format!("{text}: {error}"));
            measured.times[column as usize].push(Duration::from_nanos(parse(time)?));
            measured.peaks[column as usize].push(parse(peak)?);
        }
    }
    Ok(measured)
}

/// Returns the picture of a program's run on furcate, with its quick size.
///
/// # Errors
///
/// If the run fails, or its trace cannot be read.
pub fn picture(program: &'static Program, settings: &Settings) -> Result<String, String> {
    let file = env::temp_dir().join(format!("furcate-gallery-{}-{}.json", std::process::id(), program.name));
    let settings = Settings { quick: true, size: None, ..*settings };
    let trace = run(program, Column::Furcate, &settings, |command| _ = command.env("FURCATE_TRACE", &file))
        .and_then(|_| read(&file));
    _ = fs::remove_file(&file);
    trace
}

fn read(file: &Path) -> Result<String, String> {
    let cannot = |error: &dyn Display| format!("{}: {error}", file.display());
    let trace = fs::File::open(file).map_err(|error| cannot(&error))?;
    let trace = furcate_trace::read_chrome(trace).map_err(|error| cannot(&error))?;
    Ok(furcate_trace::svg(&trace))
}

/// Runs a column in a process, and returns what that prints.
fn run(
    program: &Program,
    column: Column,
    settings: &Settings,
    set: impl FnOnce(&mut Command),
) -> Result<String, String> {
    let this = env::current_exe().map_err(|error| format!("this program's path is unknown: {error}"))?;
    let mut command = Command::new(this);
    let Settings { threads, quick, inside, .. } = settings;
    let size = settings.size_of(program);
    command.env(COLUMN, format!("{} {} {size} {threads} {quick} {inside}", program.name, column.name()));
    set(&mut command);
    let output = command.output().map_err(|error| format!("{} cannot be run: {error}", program.name))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        let error = String::from_utf8_lossy(&output.stderr);
        Err(format!("{} by {}, size {size}: {}", program.name, column.name(), error.trim()))
    }
}

/// Runs a column if this process was begun for that, and returns its result for the exit code. Called first by each program that measures.
#[must_use]
pub fn child() -> Option<Result<(), String>> {
    let order = env::var(COLUMN).ok()?;
    Some(run_column(&order))
}

fn run_column(order: &str) -> Result<(), String> {
    let words: Vec<&str> = order.split(' ').collect();
    let [name, column, size, threads, quick, inside] = words[..] else {
        return Err(format!("{COLUMN}={order}"));
    };
    let program = programs::named(name).ok_or("no such program")?;
    let column = Column::named(column).ok_or("no such column")?;
    let number = |text: &str| text.parse::<usize>().map_err(|error| format!("{text}: {error}"));
    let (size, threads) = (number(size)?, number(threads)?);
    let [quick, inside] = [quick, inside].map(|word| word == "true");
    match column {
        Column::Sequential => {}
        Column::Rayon => {
            let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
            built.map_err(|error| error.to_string())?;
        }
        Column::Furcate => {
            let built = furcate::ThreadPoolBuilder::new().num_threads(threads).build_global();
            built.map_err(|error| error.to_string())?;
        }
    }
    let mut case = (program.case)(size);
    let run = |case: &mut dyn Case| match column {
        Column::Rayon if inside => rayon::scope(|_| case.run(column)),
        Column::Furcate if inside => furcate::scope(|_| case.run(column)),
        _ => case.run(column),
    };
    forget_peak();
    if !quick {
        run(&mut *case);
    }
    let (begin, mut times) = (Instant::now(), Vec::new());
    while times.len() < LEAST || (!quick && begin.elapsed() < TIME) {
        if quick && !times.is_empty() {
            case.check()?;
        }
        times.push(run(&mut *case));
    }
    let peak = peak();
    case.check()?;
    println!("{} {peak}", median(&times).as_nanos());
    Ok(())
}

/// Sets the peak back to the memory that this process has now, where Linux allows it.
fn forget_peak() {
    _ = fs::write("/proc/self/clear_refs", "5");
}

/// Returns the most memory that this process has had, in KiB: Linux' `VmHWM`. 0 where there is none.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
