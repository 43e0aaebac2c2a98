//! Lines of a file that contain a text, found on all cores.
//!
//! `cargo run --release --example grep -- TEXT FILE` prints the lines in order. With `--compare` it counts them instead: by a loop, with rayon, and in two ways
//! with furcate. The table shows the times, beside that of reading the file. The programs of rayon and of `par_bridge` differ in one line, the `use`.

mod common;

use clap::Parser;
use common::arguments::Bounds;
use common::output::{finish, grouped, line};
use common::table::{Cell, Table};
use common::timing::interleaved;
use furcate::prelude::*;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const ROUNDS: Bounds<usize> = Bounds::new(3, 1000);

/// Prints the lines of a file that contain a text.
#[derive(Parser)]
struct Arguments {
    /// Text to look for.
    text: String,

    /// File to look in.
    file: PathBuf,

    /// Counts the lines in several ways, and shows the times.
    #[arg(long)]
    compare: bool,

    #[arg(long, requires = "compare", default_value_t = 5, value_parser = ROUNDS.parser(), help = ROUNDS.help("Rounds; the medians count"))]
    rounds: usize,
}

fn open(file: &Path) -> io::Result<BufReader<File>> {
    let open = File::open(file)
        .map_err(|error| io::Error::new(error.kind(), format!("FILE {}: {error}", file.display())));
    Ok(BufReader::with_capacity(64 << 10, open?))
}

/// The program: the lines that contain the text, in order.
fn found(reader: impl BufRead + Send, text: &str) -> io::Result<Vec<String>> {
    let lines = reader.par_lines().ordered();
    lines.filter(|line| line.as_ref().map_or(true, |line| line.contains(text))).collect()
}

/// The way to count lines.
type Count = fn(BufReader<File>, &str) -> io::Result<u64>;

fn only_read(mut reader: BufReader<File>, _text: &str) -> io::Result<u64> {
    let mut bytes = vec![0; 64 << 10];
    while reader.read(&mut bytes)? > 0 {}
    Ok(0)
}

fn by_loop(reader: BufReader<File>, text: &str) -> io::Result<u64> {
    reader.lines().map(|line| Ok(u64::from(line?.contains(text)))).sum()
}

fn by_rayon(reader: BufReader<File>, text: &str) -> io::Result<u64> {
    use rayon::prelude::{ParallelBridge, ParallelIterator};
    ParallelIterator::sum(ParallelIterator::map(ParallelBridge::par_bridge(reader.lines()), |line| {
        Ok(u64::from(line?.contains(text)))
    }))
}

fn by_bridge(reader: BufReader<File>, text: &str) -> io::Result<u64> {
    reader.lines().par_bridge().map(|line| Ok(u64::from(line?.contains(text)))).sum()
}

fn by_lines(reader: BufReader<File>, text: &str) -> io::Result<u64> {
    reader.par_lines().map(|line| Ok(u64::from(line?.contains(text)))).sum()
}

const WAYS: [(&str, Count); 5] = [
    ("reading only", only_read),
    ("a loop over lines()", by_loop),
    ("rayon: lines().par_bridge()", by_rayon),
    ("furcate: lines().par_bridge()", by_bridge),
    ("furcate: par_lines()", by_lines),
];

fn compare(Arguments { text, file, rounds, .. }: &Arguments) -> io::Result<()> {
    let expected = by_loop(open(file)?, text)?;
    let mut failure = None;
    let mut ways = WAYS;
    let times = interleaved("grep", *rounds, &mut ways, |(name, count)| {
        let begin = Instant::now();
        let lines = open(file).and_then(|reader| count(reader, text));
        let time = begin.elapsed();
        match lines {
            Ok(lines) => {
                assert!(lines == expected || *name == "reading only", "{name}: {lines} lines, not {expected}")
            }
            Err(error) => failure = Some(error),
        }
        time
    });
    if let Some(error) = failure {
        return Err(error);
    }
    line(format_args!("{} lines contain the text\n", grouped(expected)));
    let mut table = Table::new(["time", "against the loop"]);
    let of_loop = times[1].median();
    for ((name, _), times) in WAYS.iter().zip(&times) {
        let ratio = times.median().as_secs_f64() / of_loop.as_secs_f64();
        table.row(*name, [Cell::Time(times.median()), Cell::Ratio(ratio)]);
    }
    line(table);
    Ok(())
}

fn run(arguments: &Arguments) -> io::Result<()> {
    if arguments.compare {
        return compare(arguments);
    }
    for text in found(open(&arguments.file)?, &arguments.text)? {
        line(text);
    }
    Ok(())
}

fn main() -> ExitCode {
    finish("grep", run(&Arguments::parse()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_order() {
        let text: String = (0..5000).map(|i| format!("line {i}\n")).collect();
        let expected: Vec<_> = text.lines().filter(|line| line.contains('7')).collect();
        assert_eq!(found(text.as_bytes(), "7").unwrap(), expected);
        assert!(found(&b"ok\n\xff\n"[..], "7").is_err());
    }

    #[test]
    fn all_ways_count_the_same() {
        let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let counts: Vec<u64> =
            WAYS[1..].iter().map(|(_, count)| count(open(file).unwrap(), "workspace").unwrap()).collect();
        assert!(counts[0] > 10 && counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    }
}
