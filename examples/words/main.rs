//! Word frequencies, counted under several schedules: the same chain of adaptors, with one word changed.
//!
//! ```text
//! cargo run --release --example words -- [PATH...]     the text files below the paths; default: this repository
//! cargo run --release --example words -- --skewed      thousands of small files and a huge one, generated
//! cargo run --release --example words -- --compare page.html      a page for a browser, too
//! ```
//!
//! The program prints the most frequent words, a table that compares a sequential loop, rayon and furcate under several
//! policies, and one sentence about the chain that won. Even text is easy to divide, so that the schedules tie. With
//! `--skewed` an item is a whole file, and the choice matters.

#[path = "../common/mod.rs"]
mod common;
mod corpus;
mod count;
mod verdict;

use clap::Parser;
use clap::builder::{PathBufValueParser, TypedValueParser};
use common::arguments::{Bounds, reject};
use common::output::{grouped, line};
use common::table::{Cell, Table};
use common::timing::{Times, interleaved, timed};
use corpus::Corpus;
use count::{Chain, Part};
use furcate_trace::Comparison;
use std::cmp::Reverse;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicUsize;
use verdict::{Measured, verdict};

/// Fewer rounds have no quartiles.
const ROUNDS: Bounds<usize> = Bounds::new(3, 1000);
const FILES: Bounds<usize> = Bounds::new(2, 100_000);
const MEGABYTES: Bounds<usize> = Bounds::new(1, 1000);

/// Size in bytes below which the times of a text say little.
const SMALL: usize = 100_000;

/// Counts the words of texts, and compares a loop, rayon and furcate under several policies.
#[derive(Parser)]
#[command(name = "words")]
struct Arguments {
    /// Text files, or folders with text files [default: this repository]
    #[arg(value_name = "PATH", value_parser = PathBufValueParser::new().try_map(existing))]
    paths: Vec<PathBuf>,

    /// Generate the text: a huge file among thousands of small ones, each of which is one item
    #[arg(long, conflicts_with = "paths")]
    skewed: bool,

    #[arg(long, requires = "skewed", default_value_t = 4000,
          value_parser = FILES.parser(), help = FILES.help("Number of generated files"))]
    files: usize,

    #[arg(long, requires = "skewed", default_value_t = 8,
          value_parser = MEGABYTES.parser(), help = MEGABYTES.help("Generated text in megabytes"))]
    megabytes: usize,

    #[arg(long, default_value_t = 9, value_parser = ROUNDS.parser(), help = ROUNDS.help("Times that each chain runs"))]
    rounds: usize,

    /// Write a page for a browser, too: box plots of all chains, and the graph of each one's median run
    #[arg(long, value_name = "PAGE")]
    compare: Option<PathBuf>,
}

fn existing(path: PathBuf) -> Result<PathBuf, String> {
    if path.exists() {
        Ok(path)
    } else {
        Err("there is no such file or folder; give a path that exists".into())
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let threads = furcate::current_num_threads();
    if arguments.skewed {
        let corpus = Corpus::skewed(arguments.files, 1_000_000 * arguments.megabytes, threads);
        line(&corpus);
        line(format_args!("the longest file has {} bytes", grouped(corpus.longest())));
        let chains = count::of_files(corpus.files.len());
        compare(&corpus.files[..], &chains, arguments.rounds);
        return draw(&corpus.files[..], &chains, &arguments);
    }
    let here = [PathBuf::from(env!("CARGO_MANIFEST_DIR"))];
    let roots = if arguments.paths.is_empty() { &here[..] } else { &arguments.paths };
    let corpus = Corpus::read(roots);
    let text = corpus.joined();
    if count::words(&text).next().is_none() {
        reject::<Arguments>(format_args!(
            "no words found ({corpus}); give the path of a UTF-8 text file, or of a folder with some"
        ));
    }
    line(&corpus);
    let chains = count::of_words(text.len());
    compare(&text[..], &chains, arguments.rounds);
    if text.len() < SMALL {
        line("\nSo little text is counted in less time than it takes to wake a thread; try more.");
    }
    draw(&text[..], &chains, &arguments)
}

/// Writes the page, if there is to be one.
fn draw<T: ?Sized>(corpus: &T, chains: &[Chain<T>], arguments: &Arguments) -> ExitCode {
    let Some(page) = &arguments.compare else { return ExitCode::SUCCESS };
    let mut comparison = Comparison::new("Words");
    for chain in chains {
        comparison.add(chain.name, || (chain.run)(corpus, &AtomicUsize::new(0)));
    }
    let written = comparison.run(arguments.rounds).map_err(|error| error.to_string()).and_then(|compared| {
        compared.write_html(page).map_err(|error| format!("{}: {error}", page.display()))
    });
    match written {
        Ok(()) => {
            line(format_args!("\nopen {} in a browser", page.display()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs all chains in turn, checks that they agree, and prints the table and the sentence. The first chain is the loop.
fn compare<T: ?Sized>(corpus: &T, chains: &[Chain<T>], rounds: usize) {
    let mut runs: Vec<_> = chains.iter().map(|chain| (chain, Part::default(), 0, Vec::new())).collect();
    let times = interleaved("counting", rounds, &mut runs, |(chain, part, tasks, busiest)| {
        let created = AtomicUsize::new(0);
        let (counted, time) = timed(|| (chain.run)(corpus, &created));
        *part = counted;
        *tasks = created.into_inner();
        busiest.push(part.busiest());
        time
    });
    let expected = &runs[0].1.counts;
    for (chain, part, ..) in &runs {
        assert!(part.counts == *expected, "`{}` counts differently from the loop", chain.name);
    }

    let mut words: Vec<(&str, u64)> = expected.iter().map(|(&word, &count)| (word, count)).collect();
    words.sort_by_key(|&(word, count)| (Reverse(count), word));
    line(format_args!("\n{:>10}  word", "count"));
    for (word, count) in words.iter().take(20) {
        line(format_args!("{:>10}  {word}", grouped(*count)));
    }

    let measured: Vec<Measured<'_>> = times
        .iter()
        .zip(&runs)
        .map(|(times, (chain, _, tasks, busiest))| Measured {
            name: chain.name,
            times: times.clone(),
            tasks: *tasks,
            busiest: median(busiest),
        })
        .collect();
    let table = table(&times[0], &measured);
    line(format_args!(
        "\nAll chains found the same {} different words, on {} threads. Medians of {rounds} interleaved rounds:\n\n{table}",
        grouped(words.len()),
        furcate::current_num_threads()
    ));
    line(format_args!("\n{}", verdict(&times[0], &measured[1..])));
}

fn table(sequential: &Times, measured: &[Measured<'_>]) -> Table {
    let mut table = Table::new(["time", "speed-up", "tasks", "busiest thread"]);
    for chain in measured {
        let speed_up = sequential.median().as_secs_f64() / chain.times.median().as_secs_f64();
        let busiest = Cell::Text(format!("{:.0} %", 100.0 * chain.busiest));
        table.row(
            chain.name,
            [
                Cell::Time(chain.times.median()),
                Cell::Ratio(speed_up),
                Cell::Count(chain.tasks as u64),
                busiest,
            ],
        );
    }
    table
}

fn median(shares: &[f64]) -> f64 {
    let mut shares = shares.to_vec();
    shares.sort_by(f64::total_cmp);
    shares[shares.len() / 2]
}
