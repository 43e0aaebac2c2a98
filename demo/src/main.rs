//! Furcate beside a loop and rayon, on six small programs, in some seconds: `cargo run --release -p furcate-demo`.
//!
//! Each program is the same one in rayon and in furcate, except for the words that the last column shows. (Rayon's threads sleep where furcate's
//! tasks wait for a timer.) Each contender runs several times, in
//! turn with the others, and the median counts. All contenders must have the same result.

mod chains;
#[allow(dead_code, reason = "the examples use all of it")]
#[path = "../../examples/common/output.rs"]
mod output;

use output::line;
use std::fmt::Debug;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Time for one program and all its contenders.
const BUDGET: Duration = Duration::from_millis(700);

/// Most rounds of a program. There is at least one.
const MOST: usize = 25;

type Run<'a, R> = &'a dyn Fn() -> R;

fn main() -> ExitCode {
    if let Some(argument) = std::env::args_os().nth(1) {
        line(
            "cargo run --release -p furcate-demo: compares a loop, rayon and furcate. It takes no arguments.",
        );
        return if argument == "--help" { ExitCode::SUCCESS } else { ExitCode::from(2) };
    }
    let head = format!("on {} threads", furcate::current_num_threads());
    line(format_args!("{head:<46}{:>10}{:>10}{:>10}  of rayon's time", "a loop", "rayon", "furcate"));

    let pages = 100;
    row(
        "100 answers that come after 20 ms, and work",
        None,
        &|| chains::fetch_by_rayon(pages),
        &|| chains::fetch_by_furcate(pages),
        ".map(fetch).io_await()",
    );

    let hay: Vec<u32> = (0..20_000_000).collect();
    // Nothing is known about the numbers when the loops are compiled.
    let (hay, needle) = (&black_box(hay)[..], black_box(20_000_000 / 2 - 1));
    row(
        "the first hit, in the middle of 20 million",
        Some(&|| hay.iter().position(|x| *x == needle)),
        &|| chains::find_by_rayon(hay, needle),
        &|| chains::find_by_furcate(hay, needle),
        ".position_first(..), as in rayon",
    );

    let costs = chains::uneven_costs(4000);
    row(
        "4000 items, ten of which take half of the time",
        Some(&|| costs.iter().map(|&cost| chains::burn(cost)).fold(0, u64::wrapping_add)),
        &|| chains::uneven_by_rayon(&costs),
        &|| chains::uneven_by_furcate(&costs),
        ".adaptive()",
    );

    row(
        "a tree of 2 million calls of `join`",
        Some(&|| chains::fib(black_box(31))),
        &|| chains::fib_by_rayon(black_box(31)),
        &|| chains::fib_by_furcate(black_box(31)),
        "furcate::join(..)",
    );

    let tree = chains::Node::tree(16);
    row(
        "a tree whose nodes are small parallel loops",
        Some(&|| tree.sum()),
        &|| tree.sum_by_rayon(),
        &|| tree.sum_by_furcate(),
        ".par_iter(), as in rayon",
    );

    let numbers: Vec<u64> = black_box((0..10_000_000).collect());
    row(
        "a sum over 10 million numbers",
        Some(&|| numbers.iter().map(|x| chains::mixed(*x)).fold(0, u64::wrapping_add)),
        &|| chains::sum_by_rayon(&numbers),
        &|| chains::sum_by_furcate(&numbers),
        ".par_iter(), as in rayon",
    );
    line(
        "\nThe first hit: half of rayon's threads search behind it, in vain. The two trees: their work is so small that a loop is right; the rows show\n\
         what a fork and a short parallel loop cost. Where the work is even and its parts are long, rayon is as fast: the last row.\n\
         The programs are in demo/src/chains.rs.",
    );
    ExitCode::SUCCESS
}

/// Measures a program, and writes its row.
fn row<R: PartialEq + Debug>(
    name: &str,
    by_loop: Option<Run<'_, R>>,
    by_rayon: Run<'_, R>,
    by_furcate: Run<'_, R>,
    words: &str,
) {
    let contenders: Vec<_> = by_loop.into_iter().chain([by_rayon, by_furcate]).collect();
    let times = medians(&contenders);
    let [.., rayon, furcate] = times[..] else { unreachable!("two contenders at least") };
    let by_loop = if times.len() == 3 { text(times[0]) } else { "-".to_owned() };
    let ratio = furcate.as_secs_f64() / rayon.as_secs_f64();
    let (rayon, furcate) = (text(rayon), text(furcate));
    line(format_args!("{name:<46}{by_loop:>10}{rayon:>10}{furcate:>10}  {ratio:<6.2}{words}"));
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
