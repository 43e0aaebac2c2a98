//! Furcate and its peers, side by side, in one command.
//!
//! ```text
//! cargo run --release -p furcate-benches --bin furcate-bench -- run --quick
//! ```

use clap::{Parser, Subcommand};
use furcate_benches::record::{FAMILY, FILE, Table};
use furcate_benches::results::Results;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// A family of tables: one bench, or some of its tables.
struct Family {
    name: &'static str,
    about: &'static str,
    bench: &'static str,
    /// Words that choose the tables: in a whole run, and in a short one. Without words, all tables; a short run without tables is none.
    words: &'static [&'static str],
    quick: Quick,
}

/// The tables of a short run.
enum Quick {
    /// These tables, in so many rounds.
    Tables(&'static [&'static str], usize),
    /// Nothing: the family takes too long.
    Nothing,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "forks",
        about: "fork-join programs on every engine, with one thread and (2) with two: fib, queens, UTS, matrix product, quicksort",
        bench: "fork_join",
        words: &["fib", "queens", "uts", "matmul", "quicksort"],
        quick: Quick::Tables(&["fib", "queens"], 3),
    },
    Family {
        name: "responsiveness",
        about: "how soon work reaches a second thread",
        bench: "fork_join",
        words: &["prompt"],
        quick: Quick::Tables(&["prompt"], 5),
    },
    Family {
        name: "small-calls",
        about: "a sum of 10 to 10^6 numbers, called from outside the pool; 10^5 spawns",
        bench: "calls",
        words: &[],
        quick: Quick::Tables(&[], 5),
    },
    Family {
        name: "calls",
        about: "57 calls that programs make, of 10 to 10^6 elements",
        bench: "common_calls",
        words: &[],
        quick: Quick::Nothing,
    },
    Family {
        name: "searches",
        about: "find_first, all, position_first, find_any, find_last (Kvik)",
        bench: "searches",
        words: &[],
        quick: Quick::Tables(&["find_first, 5000000"], 3),
    },
    Family {
        name: "sorts",
        about: "stable and unstable sorts of many shapes of data (Kvik)",
        bench: "sorts",
        words: &[],
        quick: Quick::Tables(&["10^7 u32, random", "String, random"], 3),
    },
    Family {
        name: "sums",
        about: "sums under every scheduler, and chains of three policies",
        bench: "sums",
        words: &[],
        quick: Quick::Tables(&["hashes"], 3),
    },
    Family {
        name: "fannkuch",
        about: "permutations by `work` (Kvik)",
        bench: "fannkuch",
        words: &[],
        quick: Quick::Nothing,
    },
    Family {
        name: "recpfor",
        about: "nested parallel loops, and lcs, a wavefront",
        bench: "recpfor",
        words: &[],
        quick: Quick::Tables(&["recpfor"], 3),
    },
    Family {
        name: "latency",
        about: "waiting and computing: MapReduceFib, serial computing after waits, sweeps, what ready futures cost (ProWS, Cilk-L)",
        bench: "latency",
        words: &["fib:", "serial:", "sweep:", "overhead:"],
        quick: Quick::Tables(&["fib:"], 1),
    },
    Family {
        name: "waits",
        about: "furcate's three rules for a worker that waits",
        bench: "wait_rules",
        words: &[],
        quick: Quick::Nothing,
    },
    Family {
        name: "leaves",
        about: "one leaf against the sequential loop, and whole calls against rayon's",
        bench: "foundation",
        words: &[],
        quick: Quick::Nothing,
    },
];

/// Runs furcate and its peers interleaved, and reports medians and ratios with their spread.
#[derive(Parser)]
#[command(name = "furcate-bench")]
struct Arguments {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Lists the families
    List,
    /// Measures families (by default all), and writes the results and the report
    Run {
        #[arg(value_name = "FAMILY", value_parser = family)]
        families: Vec<&'static Family>,
        /// A short run: some tables of most families, in few rounds; under three minutes, once all is built
        #[arg(long)]
        quick: bool,
        /// The file for the results
        #[arg(long, value_name = "FILE", default_value = RESULTS)]
        results: PathBuf,
    },
    /// Prints the report of earlier results, in Markdown
    Report {
        #[arg(long, value_name = "FILE", default_value = RESULTS)]
        results: PathBuf,
        /// Print instead the changes since these results, beyond the spread
        #[arg(long, value_name = "FILE")]
        against: Option<PathBuf>,
        /// Put the tables into this file, between `<!-- furcate-bench FAMILY: TITLE -->` and `<!-- end -->`
        #[arg(long, value_name = "FILE")]
        into: Option<PathBuf>,
        /// Write a box plot of each table to this folder, too
        #[arg(long, value_name = "FOLDER")]
        svg: Option<PathBuf>,
    },
}

const RESULTS: &str = "target/furcate-bench/results.json";

fn family(name: &str) -> Result<&'static Family, String> {
    FAMILIES
        .iter()
        .find(|family| family.name == name)
        .ok_or_else(|| "there is no such family; `furcate-bench list` shows them".into())
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Action::List => {
            for Family { name, about, .. } in FAMILIES {
                println!("{name:<16} {about}");
            }
            Ok(())
        }
        Action::Run { families, quick, results } => run(&families, quick, &results),
        Action::Report { results, against, into, svg } => {
            report(&results, against.as_deref(), into.as_deref(), svg.as_deref())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(families: &[&'static Family], quick: bool, results: &Path) -> Result<(), String> {
    let all: Vec<_> = FAMILIES.iter().collect();
    let families = if families.is_empty() { &all[..] } else { families };
    let begin = Instant::now();
    let (mut tables, mut failed) = (Vec::new(), Vec::new());
    for (family, number) in families.iter().zip(1..) {
        let (words, rounds) = match family.quick {
            Quick::Tables(words, rounds) if quick => (words, Some(rounds)),
            Quick::Nothing if quick => continue,
            _ => (family.words, None),
        };
        eprintln!("{number} of {}, {} s: {}", families.len(), begin.elapsed().as_secs(), family.name);
        match measure(family, words, rounds) {
            Ok(measured) => tables.extend(measured),
            Err(error) => {
                eprintln!("{error}");
                failed.push(family.name);
            }
        }
    }
    let found = Results::new(quick, tables);
    found.write(results).map_err(|error| format!("{}: {error}", results.display()))?;
    println!("{}", found.markdown());
    eprintln!("{} s; the results are in {}", begin.elapsed().as_secs(), results.display());
    if failed.is_empty() { Ok(()) } else { Err(format!("not measured: {}", failed.join(", "))) }
}

/// Runs the bench of a family, and returns the tables that it has recorded.
fn measure(family: &Family, words: &[&str], rounds: Option<usize>) -> Result<Vec<Table>, String> {
    let file =
        std::env::temp_dir().join(format!("furcate-bench-{}-{}.jsonl", std::process::id(), family.name));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["bench", "--quiet", "--package", "furcate-benches", "--bench", family.bench, "--"]);
    command.args(words).env(FILE, &file).env(FAMILY, family.name);
    if let Some(rounds) = rounds {
        command.env("ROUNDS", rounds.to_string());
    }
    // The bench prints tables of its own; the report comes at the end.
    let output = command.output().map_err(|error| format!("cargo cannot be started: {error}"))?;
    let text = fs::read_to_string(&file);
    let _ = fs::remove_file(&file);
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the bench {} failed:\n{words}", family.bench));
    }
    let text = text.map_err(|error| format!("the bench {} has recorded nothing: {error}", family.bench))?;
    let tables = text.lines().map(|line| serde_json::from_str(line).map_err(|error| error.to_string()));
    tables.collect()
}

fn report(
    results: &Path,
    against: Option<&Path>,
    into: Option<&Path>,
    svg: Option<&Path>,
) -> Result<(), String> {
    let found = Results::read(results)?;
    match against {
        Some(old) => println!("{}", found.against(&Results::read(old)?)),
        None => println!("{}", found.markdown()),
    }
    if let Some(path) = into {
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let filled = found.fill(&fs::read_to_string(path).map_err(failed)?)?;
        fs::write(path, filled).map_err(failed)?;
    }
    let Some(folder) = svg else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (table, number) in found.tables.iter().zip(1..) {
        let rows: Vec<_> = table
            .rows
            .iter()
            .map(|row| (row.name.as_str(), row.ns.iter().map(|ns| ns / 1e6).collect()))
            .collect();
        let picture = furcate_trace::box_plot(&format!("{}, ms", table.title), &rows);
        let path = folder.join(format!("{}-{number}.svg", table.family));
        fs::write(&path, picture).map_err(|error| format!("{}: {error}", path.display()))?;
        eprintln!("{}", path.display());
    }
    Ok(())
}
