//! Furcate and its peers, side by side, in one command.
//!
//! ```text
//! cargo run --release -p furcate-benches --bin furcate-bench -- run --quick
//! ```

use clap::{Parser, Subcommand};
use furcate_benches::many_cores::draw;
use furcate_benches::papers::{FIGURES, Figure, Run, Source};
use furcate_benches::processors;
use furcate_benches::record::{FAMILY, FILE, Table};
use furcate_benches::results::{Machine, Results};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{fs, io};

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
        about: "56 calls that programs make, of 10 to 10^6 elements",
        bench: "common_calls",
        words: &[],
        quick: Quick::Nothing,
    },
    Family {
        name: "searches",
        about: "find_first, all, position_first, find_any, find_last (Kvik)",
        bench: "searches",
        words: &[],
        quick: Quick::Tables(&["find_first, costly"], 3),
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
        name: "oversubscribed",
        about: "2, 8, 32 and 128 threads: fib, UTS, sums, short calls; time and processor time",
        bench: "oversubscribed",
        words: &[],
        quick: Quick::Nothing,
    },
    Family {
        name: "latency",
        about: "waiting and computing: MapReduceFib, serial computing after waits, sweeps, what ready futures cost (ProWS, Cilk-L)",
        bench: "latency",
        words: &["fib:", "serial:", "sweep:", "overhead:"],
        quick: Quick::Tables(&["coarse"], 1),
    },
    Family {
        name: "gallery",
        about: "classical algorithms, known from PBBS, the NAS benchmarks and elsewhere",
        bench: "gallery",
        words: &[],
        quick: Quick::Tables(&["histogram", "quickhull", "k_means"], 3),
    },
    Family {
        name: "waits",
        about: "furcate's four rules for a worker that waits, and counts of steals",
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
    /// Repeats the tables and figures of the papers behind Furcate, with 1, 2, 4 ... threads up to all processors
    Papers {
        /// Papers (kvik, lace, prows, cilk, distributed), or parts of the names of figures' files
        #[arg(value_name = "PAPER", value_parser = paper)]
        papers: Vec<String>,
        /// Prints the figures with their commands, and measures nothing
        #[arg(long)]
        list: bool,
        /// The papers' sizes (of the cluster's programs: by their own arguments): hours
        #[arg(long, conflicts_with = "quick")]
        full: bool,
        /// Sizes that only show that everything runs
        #[arg(long)]
        quick: bool,
        /// The numbers of threads
        #[arg(long, value_name = "LIST", value_delimiter = ',', default_values_t = up_to_all())]
        threads: Vec<usize>,
        /// The folder for the report and the plots
        #[arg(long, value_name = "FOLDER", default_value = "target/furcate-bench/papers")]
        folder: PathBuf,
    },
    /// Draws the table of the example `many_cores` of furcate-sim: efficiencies over simulated cores
    ManyCores {
        /// The table, which `many_cores --csv FILE` writes; by default, standard input
        #[arg(value_name = "FILE")]
        table: Option<PathBuf>,
        /// The folder for the charts: one of six programs, and one of each program
        #[arg(long, value_name = "FOLDER", default_value = "target/furcate-bench/many-cores")]
        out: PathBuf,
        /// Draw only the chart of six programs
        #[arg(long)]
        overview: bool,
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

fn paper(name: &str) -> Result<String, String> {
    if FIGURES.iter().any(|figure| figure.is_of(name)) {
        return Ok(name.into());
    }
    Err("there is no such paper or figure; `furcate-bench papers --list` shows them".into())
}

/// Returns 1, 2, 4 ... and the number of processors.
fn up_to_all() -> Vec<usize> {
    let all = processors();
    let smaller =
        std::iter::successors(Some(1), |threads| Some(2 * threads)).take_while(|threads| *threads < all);
    smaller.chain([all]).collect()
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
        Action::Papers { papers, list, full, quick, threads, folder } => {
            let is_chosen =
                |figure: &&Figure| papers.is_empty() || papers.iter().any(|paper| figure.is_of(paper));
            let figures: Vec<_> = FIGURES.iter().filter(is_chosen).collect();
            if list {
                figures.iter().for_each(|figure| println!("{:<34} {}", figure.file(), command(figure)));
                Ok(())
            } else {
                let size = if full { Some("PAPER") } else { quick.then_some("QUICK") };
                repeat(&figures, size, &threads, &folder)
            }
        }
        Action::ManyCores { table, out, overview } => many_cores(table.as_deref(), &out, overview),
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
        let rounds = rounds.map(|rounds| ("ROUNDS", rounds.to_string()));
        match measure(family.name, family.bench, words, rounds) {
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

/// Returns the command of a figure, as one would type it.
fn command(figure: &Figure) -> String {
    let quoted = |word: &&str| if word.contains(' ') { format!("\"{word}\"") } else { (*word).into() };
    match figure.source {
        Source::Bench { bench, words: [], .. } => format!("cargo bench -p furcate-benches --bench {bench}"),
        Source::Bench { bench, words, .. } => {
            let words: Vec<String> = words.iter().map(quoted).collect();
            format!("cargo bench -p furcate-benches --bench {bench} -- {}", words.join(" "))
        }
        Source::Program(arguments) => format!("cargo {}", arguments.join(" ")),
    }
}

/// Measures figures, and writes the report and the plots.
fn repeat(
    figures: &[&Figure],
    size: Option<&'static str>,
    threads: &[usize],
    folder: &Path,
) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let begin = Instant::now();
    let sizes = match size {
        Some("PAPER") => "the papers' sizes",
        Some(_) => "sizes that only show that everything runs",
        None => "smaller sizes than the papers'",
    };
    let mut report = format!(
        "# The papers' tables and figures\n\n{}; {sizes}. Lines marked (paper) are the published values, on the papers' machines.\n",
        Machine::this().line()
    );
    let (mut paper, mut differs, mut missing) = ("", "", Vec::new());
    // Figures that come from the same bench and words share its runs.
    let mut known: BTreeMap<String, Vec<Run>> = BTreeMap::new();
    for (figure, number) in figures.iter().zip(1..) {
        let (file, typed) = (figure.file(), command(figure));
        eprintln!("{number} of {}, {} s: {file}", figures.len(), begin.elapsed().as_secs());
        if paper != figure.paper {
            paper = figure.paper;
            report.push_str(&format!("\n## {paper}\n"));
        }
        report.push_str(&format!("\n### {}: {}\n\n`{typed}`\n\n", figure.place, figure.shows));
        match figure.source {
            Source::Bench { bench, words, .. } => {
                let runs = known.entry(typed).or_insert_with(|| runs(bench, words, size, threads));
                if let Some(drawn) = figure.drawn(runs) {
                    drawn.plot.write(folder, &file).map_err(|error| failed(folder, error))?;
                    report.push_str(&format!("{}\n\n![{}]({file}.svg)\n", drawn.table, figure.place));
                } else {
                    missing.push(file);
                }
            }
            Source::Program(arguments) => match output(arguments, size, threads) {
                Ok(text) => report.push_str(&format!("```text\n{}\n```\n", text.trim_end())),
                Err(error) => {
                    eprintln!("{error}");
                    missing.push(file);
                }
            },
        }
        if differs != figure.differs {
            differs = figure.differs;
            report.push_str(&format!("\n{differs}\n"));
        }
    }
    let path = folder.join("report.md");
    fs::write(&path, &report).map_err(|error| failed(&path, error))?;
    println!("{report}");
    eprintln!("{} s; the report is {}", begin.elapsed().as_secs(), path.display());
    if missing.is_empty() { Ok(()) } else { Err(format!("not measured: {}", missing.join(", "))) }
}

/// Runs a bench with each number of threads.
fn runs(bench: &str, words: &[&str], size: Option<&'static str>, threads: &[usize]) -> Vec<Run> {
    let mut runs = Vec::new();
    for &threads in threads {
        let number = threads.to_string();
        // The pools that a bench builds, and the ones that the libraries build.
        let variables =
            ["THREADS", "RAYON_NUM_THREADS", "FURCATE_NUM_THREADS"].map(|name| (name, number.clone()));
        let size = size.map(|size| (size, "1".to_owned()));
        match measure("papers", bench, words, variables.into_iter().chain(size)) {
            Ok(tables) => runs.push(Run { threads, tables }),
            Err(error) => eprintln!("{error}"),
        }
    }
    runs
}

/// Runs a program, and returns its output.
fn output(arguments: &[&str], size: Option<&'static str>, threads: &[usize]) -> Result<String, String> {
    let most = threads.iter().max().map_or_else(String::new, usize::to_string);
    let argument = |argument: &&str| argument.replace("{threads}", &most);
    let arguments: Vec<String> = arguments.iter().map(argument).collect();
    let output = cargo().args(&arguments).envs(size.map(|size| (size, "1"))).output();
    let output = output.map_err(|error| format!("cargo cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(format!("cargo {} failed:\n{}", arguments.join(" "), String::from_utf8_lossy(&output.stderr)))
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a bench, and returns the tables that it has recorded.
fn measure(
    family: &str,
    bench: &str,
    words: &[&str],
    variables: impl IntoIterator<Item = (&'static str, String)>,
) -> Result<Vec<Table>, String> {
    let file = std::env::temp_dir().join(format!("furcate-bench-{}-{family}.jsonl", std::process::id()));
    let mut command = cargo();
    command.args(["bench", "--quiet", "--package", "furcate-benches", "--bench", bench, "--"]);
    command.args(words).env(FILE, &file).env(FAMILY, family).envs(variables);
    // The bench prints tables of its own; the report comes at the end.
    let output = command.output().map_err(|error| format!("cargo cannot be started: {error}"))?;
    let text = fs::read_to_string(&file);
    let _ = fs::remove_file(&file);
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the bench {bench} failed:\n{words}"));
    }
    let text = text.map_err(|error| format!("the bench {bench} has recorded nothing: {error}"))?;
    let tables = text.lines().map(|line| serde_json::from_str(line).map_err(|error| error.to_string()));
    tables.collect()
}

/// Draws a table of simulated runs. Errors name the file, and the line.
fn many_cores(table: Option<&Path>, folder: &Path, only_overview: bool) -> Result<(), String> {
    let name = table.map_or_else(|| "standard input".into(), |path| path.display().to_string());
    let text = table.map_or_else(|| io::read_to_string(io::stdin()), fs::read_to_string);
    let text = text.map_err(|error| format!("{name}: {error}"))?;
    draw(&text, folder, only_overview).map_err(|error| format!("{name}: {error}"))
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
