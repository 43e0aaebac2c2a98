//! Furcate beside a loop and rayon, on six small programs, in some seconds: `cargo run --release -p furcate-demo`.
//!
//! Each program is the same chain in rayon and in furcate, except for the words that the last column shows. Each contender runs several times, in
//! turn with the others, and the median counts. All contenders must have the same result.

mod chains;

use std::fmt::Debug;
use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Time for one program and all its contenders.
const BUDGET: Duration = Duration::from_millis(700);

/// Most rounds of a program. There is at least one.
const MOST: usize = 25;

type Run<'a, R> = &'a dyn Fn() -> R;

fn main() -> ExitCode {
    if let Some(argument) = std::env::args_os().nth(1) {
        println!(
            "cargo run --release -p furcate-demo: compares a loop, rayon and furcate. It takes no arguments."
        );
        return if argument == "--help" { ExitCode::SUCCESS } else { ExitCode::from(2) };
    }
    match show() {
        // The reader wants no more.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("furcate-demo: standard output cannot be written: {error}");
            ExitCode::FAILURE
        }
        Ok(()) => ExitCode::SUCCESS,
    }
}

fn show() -> io::Result<()> {
    let threads = furcate::current_num_threads();
    let mut table = Table(io::stdout().lock());
    writeln!(
        table.0,
        "{:<46}{:>10}{:>10}{:>10}  of rayon's time",
        format!("on {threads} threads"),
        "a loop",
        "rayon",
        "furcate"
    )?;

    let pages = 100;
    table.row(
        "100 answers that come after 20 ms, and work",
        None,
        &|| chains::fetch_by_rayon(pages),
        &|| chains::fetch_by_furcate(pages),
        ".map(fetch).io_await()",
    )?;

    let hay: Vec<u32> = (0..20_000_000).collect();
    // Nothing is known about the numbers when the loops are compiled.
    let (hay, needle) = (&black_box(hay)[..], hay_position(20_000_000));
    table.row(
        "the first hit, in the middle of 20 million",
        Some(&|| hay.iter().position(|x| *x == needle)),
        &|| chains::find_by_rayon(hay, needle),
        &|| chains::find_by_furcate(hay, needle),
        ".position_first(..), as in rayon",
    )?;

    let costs = chains::uneven_costs(4000);
    table.row(
        "4000 items, ten of which take half of the time",
        Some(&|| costs.iter().map(|&cost| chains::burn(cost)).fold(0, u64::wrapping_add)),
        &|| chains::uneven_by_rayon(&costs),
        &|| chains::uneven_by_furcate(&costs),
        ".adaptive()",
    )?;

    table.row(
        "a tree of 2 million calls of `join`",
        Some(&|| chains::fib(black_box(31))),
        &|| chains::fib_by_rayon(black_box(31)),
        &|| chains::fib_by_furcate(black_box(31)),
        "furcate::join(..)",
    )?;

    let tree = chains::Node::tree(16);
    table.row(
        "a tree whose nodes are small parallel loops",
        Some(&|| tree.sum()),
        &|| tree.sum_by_rayon(),
        &|| tree.sum_by_furcate(),
        ".par_iter(), as in rayon",
    )?;

    let numbers: Vec<u64> = black_box((0..10_000_000).collect());
    table.row(
        "a sum over 10 million numbers",
        Some(&|| numbers.iter().map(|x| chains::mixed(*x)).fold(0, u64::wrapping_add)),
        &|| chains::sum_by_rayon(&numbers),
        &|| chains::sum_by_furcate(&numbers),
        ".par_iter(), as in rayon",
    )?;
    writeln!(
        table.0,
        "\nThe programs are in demo/src/chains.rs. Where the work is even and its parts are long, rayon is as fast: the last row."
    )
}

fn hay_position(len: u32) -> u32 {
    black_box(len / 2 - 1)
}

/// Rows that are written when they are known.
struct Table<W>(W);

impl<W: Write> Table<W> {
    fn row<R: PartialEq + Debug>(
        &mut self,
        name: &str,
        by_loop: Option<Run<'_, R>>,
        by_rayon: Run<'_, R>,
        by_furcate: Run<'_, R>,
        words: &str,
    ) -> io::Result<()> {
        write!(self.0, "{name:<46}")?;
        self.0.flush()?;
        let contenders: Vec<_> = by_loop.into_iter().chain([by_rayon, by_furcate]).collect();
        let times = medians(&contenders);
        let [.., rayon, furcate] = times[..] else { unreachable!("two contenders at least") };
        let by_loop = if times.len() == 3 { text(times[0]) } else { "-".to_owned() };
        let ratio = furcate.as_secs_f64() / rayon.as_secs_f64();
        writeln!(self.0, "{by_loop:>10}{:>10}{:>10}  {ratio:<6.2}{words}", text(rayon), text(furcate))
    }
}

/// Returns the median time of each contender. They run in turn, so that a second in which the machine does something else counts against all of them.
fn medians<R: PartialEq + Debug>(contenders: &[Run<'_, R>]) -> Vec<Duration> {
    let expected = contenders[0]();
    let mut times = vec![Vec::new(); contenders.len()];
    let begun = Instant::now();
    for round in 0..MOST {
        // Unless another round of this length fits.
        if round > 0 && begun.elapsed().mul_f64((round + 1) as f64 / round as f64) > BUDGET {
            break;
        }
        for (contender, times) in contenders.iter().zip(&mut times) {
            let start = Instant::now();
            let result = contender();
            times.push(start.elapsed());
            assert_eq!(result, expected, "the contenders must have the same result");
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    times.iter_mut().map(median).collect()
}

fn text(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    let digits = if ms < 10.0 {
        2
    } else if ms < 100.0 {
        1
    } else {
        0
    };
    format!("{ms:.digits$} ms")
}
