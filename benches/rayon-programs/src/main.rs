//! Programs written for rayon, and for nothing else. `../rayon-programs.sh` runs them on rayon-core, and on furcate's pool in
//! rayon-core's place.
//!
//! `rayon-programs` prints the programs' names; if `REGISTRY` is set, only of the features `registry` and `large`. `rayon-programs NAME RUNS`
//! prints a line for each run of a program: wall time and processor time of the process in microseconds, voluntary context switches,
//! units of work, and the process's peak memory until then in KiB. Units of work are 0 if the program does the same work in every
//! run; the peak is 0 if the system does not tell. Each run's result is compared with a sequential oracle. `QUICK=1` takes sizes that only show that the
//! results agree.

mod measure;
mod programs;
mod random;

use measure::Snapshot;
use std::process::ExitCode;

/// A program with its input.
struct Case {
    /// Makes the input of the next run.
    ready: Box<dyn FnMut()>,
    /// Runs the program once. Only this is measured.
    run: Box<dyn FnMut() -> Check>,
}

/// The check of a run's result.
struct Check {
    /// Whether the result is the oracle's.
    is_right: Box<dyn FnOnce() -> bool>,
    /// How many units of work the run took, if that depends on the schedule; else 0.
    work: u64,
}

impl Case {
    fn new(run: impl FnMut() -> Check + 'static) -> Self {
        Case { ready: Box::new(|| ()), run: Box::new(run) }
    }

    /// A program whose result is compared with one that is known before.
    fn of<R: PartialEq + 'static>(expected: R, run: impl Fn() -> R + 'static) -> Self {
        let expected = std::rc::Rc::new(expected);
        Case::new(move || {
            let (result, expected) = (run(), std::rc::Rc::clone(&expected));
            Check::new(move || result == *expected)
        })
    }
}

impl Check {
    fn new(is_right: impl FnOnce() -> bool + 'static) -> Self {
        Check { is_right: Box::new(is_right), work: 0 }
    }
}

/// How large a program's input is.
#[derive(Clone, Copy)]
struct Size {
    is_quick: bool,
}

impl Size {
    /// `full`, or `quick` where only the results matter.
    fn pick<T>(self, full: T, quick: T) -> T {
        if self.is_quick { quick } else { full }
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let registry = programs::REGISTRY.iter().copied().flatten();
    let Some(name) = arguments.next() else {
        let own = if std::env::var_os("REGISTRY").is_some() { &programs::ALL[..0] } else { programs::ALL };
        own.iter().chain(registry).for_each(|(name, _)| println!("{name}"));
        return ExitCode::SUCCESS;
    };
    let mut all = programs::ALL.iter().chain(registry);
    let Some((_, prepare)) = all.find(|(known, _)| *known == name) else {
        eprintln!("rayon-programs: there is no program `{name}`; without arguments all names are printed");
        return ExitCode::FAILURE;
    };
    let runs: usize =
        arguments.next().map_or(1, |runs| runs.parse().expect("the number of runs is a number"));
    let mut case = prepare(Size { is_quick: std::env::var_os("QUICK").is_some() });
    // The first run starts the pool, and is not printed.
    for run in 0..=runs {
        (case.ready)();
        let before = Snapshot::now();
        let check = (case.run)();
        let used = Snapshot::now().since(before);
        let work = check.work;
        if !(check.is_right)() {
            eprintln!("rayon-programs: the result of `{name}` differs from the sequential oracle's");
            return ExitCode::FAILURE;
        }
        if run > 0 {
            let (wall, processor) = (used.wall.as_micros(), used.processor.as_micros());
            println!("{wall} {processor} {} {work} {}", used.switches, measure::peak_memory());
        }
    }
    ExitCode::SUCCESS
}
