//! Tables and figures of the papers behind Furcate, each next to what the paper states.
//!
//! A [`Figure`] names the bench that measures the same, and the rows that belong to it. `furcate-bench papers` runs the bench once for each
//! number of threads, from one to all processors, and [`Figure::drawn`] makes a table and a plot of the times that were recorded.

use crate::plot::{Plot, Scale};
use crate::record::{Row, Table};
use crate::results::Spread;
use std::fmt::Write;

mod figures;

pub use figures::FIGURES;

/// A table or a figure of a paper.
#[derive(Debug)]
pub struct Figure {
    /// The paper: `kvik`, `lace`, `prows`, `cilk` or `distributed`.
    pub paper: &'static str,
    /// Its place there.
    pub place: &'static str,
    /// The experiment.
    pub shows: &'static str,
    /// The command that repeats it.
    pub source: Source,
    /// Lines that the paper's text or tables state. Points are pairs of x and the value. Plots whose points are not stated have none.
    pub published: &'static [(&'static str, &'static [(f64, f64)])],
    /// The differences to the paper's experiment, with their reasons.
    pub differs: &'static str,
}

/// The command of a figure.
#[derive(Debug)]
pub enum Source {
    /// A bench, run with some words.
    Bench {
        /// The bench.
        bench: &'static str,
        /// The words, which choose tables.
        words: &'static [&'static str],
        /// The tables' part in the figure.
        x: X,
        /// The value of a row.
        value: Value,
        /// Names of the rows, without the numbers of threads that some names contain.
        rows: &'static [&'static str],
    },
    /// Arguments of cargo for a program that prints the whole table. `{threads}` stands for the greatest number of threads.
    Program(&'static [&'static str]),
}

/// The horizontal axis.
#[derive(Debug)]
pub enum X {
    /// Numbers of threads. The value is the mean over all tables with this text in the title.
    Threads(&'static str),
    /// A quantity that the tables' titles contain, on all processors: a label, and each value with the text that stands for it.
    Tables(&'static str, &'static [(f64, &'static str)]),
}

/// The value of a row, always of the same round as the row that it refers to.
#[derive(Debug)]
pub enum Value {
    /// How many times faster than that row.
    Speedup(&'static str),
    /// How many times faster than the row itself on the least number of threads.
    Scaling,
    /// How many times as long as that row.
    Overhead(&'static str),
    /// The median time, in seconds.
    Seconds,
}

impl Value {
    fn label(&self) -> String {
        match self {
            Value::Speedup(over) => format!("speedup over `{over}`"),
            Value::Scaling => "T1 / TP".into(),
            Value::Overhead(over) => format!("time / time of `{over}`"),
            Value::Seconds => "seconds".into(),
        }
    }

    /// Returns the value of a row. A name of a row stands for all that begin with it.
    fn of(&self, table: &Table, name: &str) -> Option<f64> {
        let find = |name: &str| table.rows.iter().find(|row| row.name.starts_with(name));
        let exact = |name: &str| table.rows.iter().find(|row| row.name == name).or_else(|| find(name));
        let row = exact(name)?;
        let ratio = |a: &Row, b: &Row| table.ratio(a, b).map(|spread| spread.median);
        match self {
            Value::Speedup(over) => ratio(exact(over)?, row),
            Value::Overhead(over) => ratio(row, exact(over)?),
            Value::Scaling | Value::Seconds => Spread::of(row.ns.clone()).map(|spread| spread.median / 1e9),
        }
    }
}

/// The times of one run of a bench.
#[derive(Debug)]
pub struct Run {
    /// Number of threads.
    pub threads: usize,
    /// The tables that were recorded.
    pub tables: Vec<Table>,
}

/// A figure with its values.
#[derive(Debug)]
pub struct Drawn {
    /// Table in Markdown: a line for each row, and for each line of the paper's.
    pub table: String,
    /// The plot.
    pub plot: Plot,
}

impl Figure {
    /// Returns a name for files.
    #[must_use]
    pub fn file(&self) -> String {
        let place: String = self
            .place
            .chars()
            .map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
            .collect();
        format!("{}-{place}", self.paper)
    }

    /// Whether a word of the command line names the figure, or its paper: a part of the name for files.
    #[must_use]
    pub fn is_of(&self, word: &str) -> bool {
        self.file().contains(word)
    }

    /// Makes the table and the plot. Returns `None` if the figure is another program's, or no row was measured.
    #[must_use]
    pub fn drawn(&self, runs: &[Run]) -> Option<Drawn> {
        let Source::Bench { x, value, rows, .. } = &self.source else { return None };
        let label = match x {
            X::Threads(_) => "threads",
            X::Tables(label, _) => label,
        };
        let (first, last) = (runs.first()?, runs.last()?);
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        let mut without = Vec::new();
        for row in *rows {
            let points = match x {
                X::Threads(title) => {
                    let at =
                        |run: &Run| Some((run.threads as f64, self.mean(run, first, title, row, value)?));
                    runs.iter().filter_map(at).collect::<Vec<_>>()
                }
                X::Tables(_, tables) => {
                    let at =
                        |&(x, title): &(f64, &str)| Some((x, self.mean(last, first, title, row, value)?));
                    tables.iter().filter_map(at).collect()
                }
            };
            if points.is_empty() {
                without.push(*row);
            } else {
                lines.push(((*row).into(), points));
            }
        }
        if lines.is_empty() {
            return None;
        }
        let ours = lines.len();
        lines
            .extend(self.published.iter().map(|(name, points)| (format!("{name} (paper)"), points.to_vec())));

        let mut plot = Plot::new(
            format!("{}, {}", self.place, self.shows),
            (label, Scale::Linear),
            (&value.label(), Scale::Linear),
        );
        for (number, (name, points)) in lines.iter().enumerate() {
            let add = if number < ours { Plot::add } else { Plot::add_reference };
            points.iter().for_each(|&(x, y)| add(&mut plot, name, x, y));
        }
        let mut columns: Vec<f64> =
            lines.iter().flat_map(|(_, points)| points.iter().map(|point| point.0)).collect();
        columns.sort_by(f64::total_cmp);
        columns.dedup();
        let mut table = format!("| {}; {label}: |", value.label());
        columns.iter().for_each(|x| _ = write!(table, " {x} |"));
        table.push_str("\n|---|");
        columns.iter().for_each(|_| table.push_str("--:|"));
        for (name, points) in &lines {
            let _ = write!(table, "\n| {name} |");
            for x in &columns {
                match points.iter().find(|point| point.0 == *x) {
                    Some((_, value)) => _ = write!(table, " {} |", short(*value)),
                    None => table.push_str(" |"),
                }
            }
        }
        if !without.is_empty() {
            let _ = write!(
                table,
                "\n\nNot measured, because it takes too long or needs what this machine lacks: {}.",
                without.join("; ")
            );
        }
        Some(Drawn { table, plot })
    }

    /// Returns the mean of a row's values over the tables of the figure whose titles contain a text.
    fn mean(&self, run: &Run, first: &Run, title: &str, row: &str, value: &Value) -> Option<f64> {
        let Source::Bench { words, .. } = &self.source else { return None };
        let chosen = |table: &&Table| {
            (words.is_empty() || words.iter().any(|word| table.title.contains(word)))
                && table.title.contains(title)
        };
        let of = |table: &Table| {
            let here = value.of(table, row)?;
            let Value::Scaling = value else { return Some(here) };
            let same = first.tables.iter().find(|other| other.title == table.title)?;
            Some(value.of(same, row)? / here)
        };
        let values: Vec<f64> = run.tables.iter().filter(chosen).filter_map(of).collect();
        if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
    }
}

/// Writes a value with three digits.
fn short(value: f64) -> String {
    match value {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests;
