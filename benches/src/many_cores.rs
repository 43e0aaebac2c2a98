//! Charts of the table that `furcate-sim`'s example `many_cores` writes (`--csv`): programs on simulated machines with more and more cores.
//!
//! A table of a real run is refused, because every chart's title says that its values are simulated.

use crate::plot::{Plot, Scale};
use std::collections::HashMap;
use std::io;
use std::path::Path;

/// The programs of the overview, in the order of its legend.
pub const OVERVIEW: [&str; 6] =
    ["tree, leaves of 10 us", "loop, items of 10 us", "uts, geometric", "recpfor", "merge sort", "server"];

/// A program's run with a number of workers.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The program's name.
    pub program: String,
    /// Number of workers.
    pub workers: f64,
    /// The greedy bound over the time of the run.
    pub efficiency: f64,
    /// Waits for cache lines, as a share of the time of all workers.
    pub lines: f64,
    /// Waits for locks, as a share of the time of all workers.
    pub locks: f64,
}

/// Places of the columns that the charts need.
struct Columns {
    titles: Vec<String>,
    efficiency: usize,
    workers: usize,
    time: usize,
    begun: usize,
    lines: usize,
    locks: usize,
}

impl Columns {
    fn of(header: &str) -> Result<Self, String> {
        let titles: Vec<String> = header.split(',').map(|title| title.trim().to_owned()).collect();
        let place = |wanted: &str| {
            titles.iter().position(|title| title == wanted).ok_or_else(|| {
                format!("line 1: no column is called `{wanted}`: this is no table of the example `many_cores`, as its `--csv` writes it")
            })
        };
        if place("program")? != 0 {
            return Err("line 1: `program` is not the first column".into());
        }
        Ok(Columns {
            workers: place("workers")?,
            efficiency: place("efficiency")?,
            time: place("TP us")?,
            begun: place("begun")?,
            lines: place("lines us")?,
            locks: place("locks us")?,
            titles,
        })
    }

    fn row(&self, line: &str) -> Result<Row, String> {
        // The name is in quotes, because it may contain commas; the other values contain none.
        let (program, rest) = line
            .strip_prefix('"')
            .and_then(|line| line.split_once("\","))
            .ok_or("the row does not begin with a program's name in quotes")?;
        let values: Vec<&str> = rest.split(',').map(str::trim).collect();
        if values.len() + 1 != self.titles.len() {
            return Err(format!("{} values, but {} columns", values.len() + 1, self.titles.len()));
        }
        if values[self.begun - 1] == "-" {
            return Err("the row is of a real run, and these charts are of simulated ones: build `many_cores` with RUSTFLAGS=\"--cfg furcate_sim\"".into());
        }
        let value = |column: usize| {
            let (title, text) = (&self.titles[column], values[column - 1]);
            let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
            value.ok_or_else(|| format!("`{title}` is `{text}`, but must be a number of 0 or more"))
        };
        let positive = |column: usize| {
            let found = value(column)?;
            if found > 0.0 { Ok(found) } else { Err(format!("`{}` must not be 0", self.titles[column])) }
        };
        let workers = positive(self.workers)?;
        let of_all = workers * positive(self.time)?;
        Ok(Row {
            program: program.to_owned(),
            workers,
            efficiency: value(self.efficiency)?,
            lines: value(self.lines)? / of_all,
            locks: value(self.locks)? / of_all,
        })
    }
}

/// Reads a table, or several tables one after the other.
///
/// # Errors
///
/// If it is no table of simulated runs, or has a program twice with the same number of workers. The error names the line.
pub fn read(table: &str) -> Result<Vec<Row>, String> {
    let mut lines = table.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let (header, _) = lines.next().ok_or("the table is empty")?;
    let columns = Columns::of(header)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut known = HashMap::new();
    for (line, number) in lines.filter(|(line, _)| *line != header) {
        let row = columns.row(line).map_err(|error| format!("line {number}: {error}"))?;
        if let Some(first) = known.insert((row.program.clone(), row.workers.to_bits()), number) {
            let Row { program, workers, .. } = row;
            return Err(format!("line {number}: `{program}` with {workers} workers is in line {first}, too"));
        }
        rows.push(row);
    }
    if rows.is_empty() { Err("the table has no rows".into()) } else { Ok(rows) }
}

/// Returns the charts with their names for files: the overview first, then one of each program.
#[must_use]
pub fn charts(rows: &[Row]) -> Vec<(String, Plot)> {
    let plot = |title: &str, y: &str| {
        Plot::new(
            format!("simulated: {title}"),
            ("workers, each on a core", Scale::Doubling),
            (y, Scale::FromZero),
        )
    };
    let mut overview = plot("efficiency of six programs", "greedy bound / time of the run");
    for program in OVERVIEW {
        let rows = rows.iter().filter(|row| row.program == program);
        rows.for_each(|row| overview.add(program, row.workers, row.efficiency));
    }
    let mut charts = vec![("simulated-efficiency".to_owned(), overview)];
    for row in rows {
        let name = row.program.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let file = format!(
            "simulated-{}",
            name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
        );
        let place = charts.iter().position(|(other, _)| *other == file).unwrap_or_else(|| {
            charts.push((file, plot(&row.program, "efficiency; share of all workers' time")));
            charts.len() - 1
        });
        let chart = &mut charts[place].1;
        chart.add("efficiency", row.workers, row.efficiency);
        chart.add("waits for cache lines", row.workers, row.lines);
        chart.add("waits for locks", row.workers, row.locks);
        chart.add_reference("greedy bound", row.workers, 1.0);
    }
    charts
}

/// Draws a table's charts into a folder, or only the overview.
///
/// # Errors
///
/// If the table cannot be read, a file cannot be written, or the overview would be empty.
pub fn draw(table: &str, folder: &Path, only_overview: bool) -> Result<(), String> {
    let rows = read(table)?;
    let missing: Vec<_> =
        OVERVIEW.into_iter().filter(|name| !rows.iter().any(|row| row.program == *name)).collect();
    if only_overview && missing.len() == OVERVIEW.len() {
        return Err(format!("the table has none of the overview's programs: {}", OVERVIEW.join("; ")));
    }
    if !missing.is_empty() {
        eprintln!("the overview is without: {}", missing.join("; "));
    }
    let charts = charts(&rows);
    let wanted = if only_overview { &charts[..1] } else { &charts[..] };
    let written: io::Result<Vec<_>> = wanted.iter().map(|(name, plot)| plot.write(folder, name)).collect();
    written.map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(())
}

#[cfg(test)]
mod tests;
