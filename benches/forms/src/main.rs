//! `forms LIBRARY FORM SIZE [ROUNDS]` runs a recursive program of some form on one worker, and prints the number of its forks and the
//! least time of a round in nanoseconds. `forms` prints the names of libraries and forms. `benches/forms.sh` runs it.

#[macro_use]
mod programs;

use programs::{Data, FORMS, Owned, Tree, forks};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Instant;

/// No fork at all.
macro_rules! serial {
    (move $c:tt, $left:expr, $right:expr) => {
        ($left, $right)
    };
    ($c:tt, $left:expr, $right:expr) => {
        ($left, $right)
    };
}
macro_rules! run_serial {
    ($c:tt, $call:expr) => {
        $call
    };
}
forms!(plain: (): (), serial, run_serial);

macro_rules! by_furcate {
    (move $c:tt, $left:expr, $right:expr) => {
        furcate::join(move || $left, move || $right)
    };
    ($c:tt, $left:expr, $right:expr) => {
        furcate::join(|| $left, || $right)
    };
}
macro_rules! run_furcate {
    ($c:tt, $call:expr) => {
        super::furcate_pool().install(|| $call)
    };
}
forms!(with_furcate: (): (), by_furcate, run_furcate);

macro_rules! by_handle {
    (move $c:tt, $left:expr, $right:expr) => {
        $c.join(move |$c| $left, move |$c| $right)
    };
    ($c:tt, $left:expr, $right:expr) => {
        $c.join(|$c| $left, |$c| $right)
    };
}
macro_rules! run_handle {
    ($c:tt, $call:expr) => {
        super::furcate_pool().install(|| furcate::join_with(|$c| $call, |_| ()).0)
    };
}
forms!(with_handle: c: &furcate::Worker, by_handle, run_handle);

macro_rules! by_rayon {
    (move $c:tt, $left:expr, $right:expr) => {
        rayon::join(move || $left, move || $right)
    };
    ($c:tt, $left:expr, $right:expr) => {
        rayon::join(|| $left, || $right)
    };
}
macro_rules! run_rayon {
    ($c:tt, $call:expr) => {
        super::rayon_pool().install(|| $call)
    };
}
forms!(with_rayon: (): (), by_rayon, run_rayon);

macro_rules! run_chili {
    ($c:tt, $call:expr) => {{
        let mut scope = super::chili_pool().scope();
        let $c = &mut scope;
        $call
    }};
}
forms!(with_chili: c: &mut chili::Scope<'_>, by_handle, run_chili);

#[cfg(feature = "forte")]
macro_rules! run_forte {
    ($c:tt, $call:expr) => {
        super::FORTE.with_worker(|$c| $call)
    };
}
#[cfg(feature = "forte")]
forms!(with_forte: c: &forte::Worker, by_handle, run_forte);

fn furcate_pool() -> &'static furcate::ThreadPool {
    static POOL: OnceLock<furcate::ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        furcate::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started")
    })
}

fn rayon_pool() -> &'static rayon::ThreadPool {
    static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can be started")
    })
}

fn chili_pool() -> &'static chili::ThreadPool {
    static POOL: OnceLock<chili::ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        let thread_count = std::num::NonZero::new(1);
        chili::ThreadPool::with_config(chili::Config { thread_count, ..chili::Config::default() })
    })
}

/// The caller is its one worker.
#[cfg(feature = "forte")]
static FORTE: forte::ThreadPool = forte::ThreadPool::new();

/// A run of a form with some library.
type Run = fn(&str, &mut Data) -> Option<u64>;

const LIBRARIES: &[(&str, Run)] = &[
    ("plain", plain::run),
    ("rayon", with_rayon::run),
    ("furcate", with_furcate::run),
    ("furcate-handle", with_handle::run),
    ("chili", with_chili::run),
    #[cfg(feature = "forte")]
    ("forte", with_forte::run),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (library, form, size, rounds) = match &args[..] {
        [library, form, size] => (library, form, size.parse(), Ok(1)),
        [library, form, size, rounds] => (library, form, size.parse(), rounds.parse()),
        _ => {
            let names: Vec<&str> = LIBRARIES.iter().map(|(name, _)| *name).collect();
            println!("{}\n{}", names.join(" "), FORMS.join(" "));
            return ExitCode::SUCCESS;
        }
    };
    let (Ok(size), Ok(rounds)) = (size, rounds) else {
        eprintln!("forms: a size and a number of rounds are expected, not `{}`", args[2..].join(" "));
        return ExitCode::FAILURE;
    };
    let Some((_, run)) = LIBRARIES.iter().find(|(name, _)| name == library) else {
        eprintln!("forms: there is no library {library}; call `forms` for their names");
        return ExitCode::FAILURE;
    };
    let mut data = Data::of(form, size);
    let mut least = u128::MAX;
    for _ in 0..rounds {
        let begin = Instant::now();
        let Some(sum) = run(form, black_box(&mut data)) else {
            eprintln!("forms: there is no form {form}; call `forms` for their names");
            return ExitCode::FAILURE;
        };
        black_box(sum);
        least = least.min(begin.elapsed().as_nanos());
    }
    println!("{} {least}", forks(form, size));
    ExitCode::SUCCESS
}
