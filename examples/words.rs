//! Word frequencies over real text, scheduled in six ways.
//!
//! `cargo run --release --example words -- [PATH...]` counts the words of all text files below the paths (default: this
//! repository), prints the most frequent ones, and compares the sequential loop, rayon, and furcate under several
//! policies: the same chain of adaptors, of which one word is changed.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often each word occurs; the words are slices of the corpus.
type Counts<'a> = HashMap<&'a str, u64>;

/// How often every contender runs; the median counts.
const ROUNDS: usize = 9;

/// Bytes of text below which times say little.
const SMALL: usize = 100_000;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if arguments.iter().any(|a| a.as_os_str() == "--help" || a.as_os_str() == "-h") {
        println!(
            "usage: words [PATH...]\n\nCounts the words of all text files below the paths (default: this repository)."
        );
        return ExitCode::SUCCESS;
    }
    let roots =
        if arguments.is_empty() { vec![PathBuf::from(env!("CARGO_MANIFEST_DIR"))] } else { arguments };
    if let Some(option) = roots.iter().find(|root| root.as_os_str().as_encoded_bytes().starts_with(b"--")) {
        eprintln!("words: there is no option `{}`; see `words --help`", option.display());
        return ExitCode::FAILURE;
    }
    if let Some(missing) = roots.iter().find(|root| !root.exists()) {
        eprintln!("words: there is no file or directory `{}`; give paths that exist", missing.display());
        return ExitCode::FAILURE;
    }

    let corpus = Corpus::read(&roots);
    if !corpus.text.contains(|c| !is_separator(c)) {
        eprintln!(
            "{corpus}\nwords: no words found; give the path of a UTF-8 text file, or of a directory with some"
        );
        return ExitCode::FAILURE;
    }
    let results = compare(&corpus.text, &contenders(corpus.text.len()));
    match report(&mut std::io::stdout().lock(), &corpus, &results) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has read enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("words: the result could not be written: {error}");
            ExitCode::FAILURE
        }
    }
}

/// All text, in one string.
#[derive(Default)]
struct Corpus {
    text: String,
    files: usize,
    /// Files that are not UTF-8 text.
    binary: usize,
    /// What could not be read, and why.
    unreadable: Vec<String>,
}

impl Corpus {
    fn read(roots: &[PathBuf]) -> Self {
        let mut corpus = Corpus::default();
        for root in roots {
            corpus.add(root);
        }
        corpus
    }

    /// Adds a file, or what is below a directory but hidden entries, `target` and links.
    fn add(&mut self, path: &Path) {
        if path.is_dir() {
            match std::fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
                Ok(mut entries) => {
                    entries.sort_by_key(std::fs::DirEntry::file_name);
                    for entry in entries {
                        let name = entry.file_name();
                        let skip = name.as_encoded_bytes().starts_with(b".") || name == "target";
                        if !skip && !entry.path().is_symlink() {
                            self.add(&entry.path());
                        }
                    }
                }
                Err(error) => self.unreadable.push(format!("{}: {error}", path.display())),
            }
            return;
        }
        if !path.is_file() {
            return; // a pipe or a device: reading it might never end
        }
        match std::fs::read(path).map(String::from_utf8) {
            Ok(Ok(text)) => {
                self.text.push_str(&text.to_lowercase());
                self.text.push('\n');
                self.files += 1;
            }
            Ok(Err(_)) => self.binary += 1,
            Err(error) => self.unreadable.push(format!("{}: {error}", path.display())),
        }
    }
}

impl std::fmt::Display for Corpus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "text files: {}, bytes: {}", self.files, self.text.len())?;
        if self.binary > 0 {
            write!(f, ", left out because not UTF-8: {}", self.binary)?;
        }
        for error in &self.unreadable {
            write!(f, "\ncould not be read: {error}")?;
        }
        Ok(())
    }
}

fn is_separator(c: char) -> bool {
    !c.is_alphanumeric()
}

/// One more of a word.
fn count<'a>(mut counts: Counts<'a>, word: &'a str) -> Counts<'a> {
    *counts.entry(word).or_default() += 1;
    counts
}

/// The smaller map goes into the larger one.
fn merge<'a>(left: Counts<'a>, right: Counts<'a>) -> Counts<'a> {
    let (mut large, small) = if left.len() < right.len() { (right, left) } else { (left, right) };
    for (word, count) in small {
        *large.entry(word).or_default() += count;
    }
    large
}

/// A way to count: from the text and a counter of tasks.
type Count = Box<dyn for<'a> Fn(&'a str, &AtomicUsize) -> Counts<'a>>;

/// A fresh accumulator: every task makes exactly one.
fn new_task<'a>(tasks: &AtomicUsize) -> Counts<'a> {
    tasks.fetch_add(1, Ordering::Relaxed);
    Counts::new()
}

/// The computation, with the part of the chain that schedules it.
macro_rules! parallel_count {
    ($library:ident $(, $policy:ident($($argument:expr),*))*) => {
        Box::new(move |text, tasks| {
            use $library::prelude::*;
            text.par_split(is_separator)
                .filter(|word| !word.is_empty())
                $(.$policy($($argument),*))*
                .fold(|| new_task(tasks), count)
                .reduce(Counts::new, merge)
        })
    };
}

fn contenders(len: usize) -> Vec<(&'static str, Count)> {
    let sequential: Count = Box::new(|text, tasks| {
        text.split(is_separator).filter(|word| !word.is_empty()).fold(new_task(tasks), count)
    });
    let piece = len / 64 + 1;
    let threads = furcate::current_num_threads();
    vec![
        ("sequential loop", sequential),
        ("rayon", parallel_count!(rayon)),
        ("furcate, no policy named", parallel_count!(furcate)),
        ("bound_depth(4)", parallel_count!(furcate, bound_depth(4))),
        ("thief_splitting(3)", parallel_count!(furcate, thief_splitting(3))),
        ("join_context_policy(6)", parallel_count!(furcate, join_context_policy(6))),
        (
            "size_limit(len/64).cap(2 per thread)",
            parallel_count!(furcate, size_limit(piece), cap(2 * threads)),
        ),
    ]
}

struct Outcome<'a> {
    name: &'static str,
    counts: Counts<'a>,
    median: Duration,
    tasks: usize,
}

/// Runs all contenders in turn, several times, and checks that they agree.
fn compare<'a>(text: &'a str, contenders: &[(&'static str, Count)]) -> Vec<Outcome<'a>> {
    let mut times = vec![Vec::new(); contenders.len()];
    let mut tasks = vec![0; contenders.len()];
    let mut counts = vec![Counts::new(); contenders.len()];
    for _round in 0..ROUNDS {
        for (i, (_, run)) in contenders.iter().enumerate() {
            let created = AtomicUsize::new(0);
            let start = Instant::now();
            counts[i] = run(text, &created);
            times[i].push(start.elapsed());
            tasks[i] = created.into_inner();
        }
    }
    let mut outcomes = Vec::new();
    for (((&(name, _), counts), mut times), tasks) in contenders.iter().zip(counts).zip(times).zip(tasks) {
        times.sort();
        outcomes.push(Outcome { name, counts, median: times[ROUNDS / 2], tasks });
    }
    for outcome in &outcomes {
        assert!(outcome.counts == outcomes[0].counts, "`{}` counts differently from the loop", outcome.name);
    }
    outcomes
}

fn most_frequent<'a>(counts: &Counts<'a>, n: usize) -> Vec<(&'a str, u64)> {
    let mut words: Vec<(&str, u64)> = counts.iter().map(|(&word, &count)| (word, count)).collect();
    words.sort_by_key(|&(word, count)| (std::cmp::Reverse(count), word));
    words.truncate(n);
    words
}

/// The most frequent words and the table.
fn report(out: &mut impl Write, corpus: &Corpus, outcomes: &[Outcome<'_>]) -> std::io::Result<()> {
    writeln!(out, "{corpus}\n\n{:>10}  word", "count")?;
    for (word, count) in most_frequent(&outcomes[0].counts, 20) {
        writeln!(out, "{count:>10}  {word}")?;
    }
    writeln!(
        out,
        "\nAll contenders found the same; different words: {}, threads: {} (medians of {ROUNDS} interleaved rounds)\n",
        outcomes[0].counts.len(),
        furcate::current_num_threads()
    )?;
    writeln!(out, "{:<38} {:>10} {:>7} {:>9}", "", "time", "tasks", "speed-up")?;
    for outcome in outcomes {
        let speed_up = outcomes[0].median.as_secs_f64() / outcome.median.as_secs_f64();
        let milliseconds = outcome.median.as_secs_f64() * 1e3;
        writeln!(out, "{:<38} {milliseconds:>7.2} ms {:>7} {speed_up:>8.2}x", outcome.name, outcome.tasks)?;
    }
    if corpus.text.len() < SMALL {
        writeln!(out, "\nSo little text is counted in less time than it takes to wake a thread; try more.")?;
    }
    Ok(())
}
