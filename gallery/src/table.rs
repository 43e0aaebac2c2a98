//! The table in a terminal.

use crate::measure::{Measured, Settings};
use crate::program::Column;
use crate::programs::PROGRAMS;
use std::fmt::Write;
use std::time::Duration;

/// A ratio to rayon's above which a row is named as one that loses.
const LOSES: f64 = 1.05;

/// Returns the list of the programs.
#[must_use]
pub fn list() -> String {
    let mut text = format!("{:<32}{:<9}{:>14}  size\n", "program", "from", "code lines");
    for program in PROGRAMS {
        let lines = program.all_lines();
        let size = format!("{} {}", program.size, program.unit);
        let _ = writeln!(
            text,
            "{:<32}{:<9}{lines:>14}  {size}\n    {}",
            program.name, program.suite, program.what
        );
    }
    text
}

/// Returns the lines above the table.
#[must_use]
pub fn head(settings: &Settings) -> String {
    let Settings { threads, rounds, quick, inside, .. } = settings;
    let place = if *inside { ", called inside the pools" } else { "" };
    let size = if *quick { "; small sizes, whose times say nothing" } else { "" };
    format!(
        "{threads} threads, {rounds} rounds{place}{size}. Times are medians; ratios are furcate's over rayon's, with the quartiles of the rounds.\n\n\
         {:<32}{:>11}{:>11}{:>11}  {:<20}{:>9}{:>9}{:>9}{:>7}  schedule\n",
        "program", "sequential", "rayon", "furcate", "of rayon's time", "MiB", "rayon", "furcate", "ratio"
    )
}

/// Returns a program's row, with the sentence that says why.
#[must_use]
pub fn row(measured: &Measured) -> String {
    let program = measured.program;
    let [sequential, rayon, furcate] = Column::ALL.map(|column| time(measured.time(column)));
    let [s, r, f] = Column::ALL.map(|column| measured.peak(column) as f64 / 1024.0);
    format!(
        "{:<32}{sequential:>11}{rayon:>11}{furcate:>11}  {:<20}{s:>9.1}{r:>9.1}{f:>9.1}{:>7.2}  {}\n    {}\n",
        program.name,
        of_rayon(measured),
        measured.memory_ratio(),
        program.schedule,
        program.why
    )
}

/// Returns furcate's time over rayon's: the median, and the quartiles of the rounds.
pub(crate) fn of_rayon(measured: &Measured) -> String {
    let [low, median, high] = quartiles(&measured.ratios(Column::Furcate));
    format!("{median:.2} ({low:.2} to {high:.2})")
}

/// Returns the lines below the table: the medians of all rows, and the rows that lose.
#[must_use]
pub fn summary(all: &[Measured]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let ratio = |measured: &Measured| quartiles(&measured.ratios(Column::Furcate))[1];
    let mut ratios: Vec<f64> = all.iter().map(ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let mut memory: Vec<f64> = all.iter().map(Measured::memory_ratio).collect();
    memory.sort_unstable_by(f64::total_cmp);
    let named = |loses: &dyn Fn(&Measured) -> f64| {
        let rows = all.iter().filter(|row| loses(row) > LOSES);
        let names: Vec<_> = rows.map(|row| format!("{} ({:.2})", row.program.name, loses(row))).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    format!(
        "\n{} programs. Of rayon's time, the median is {:.2}; of its memory, {:.2}.\nAbove {LOSES} of the time: {}.\nAbove {LOSES} of the memory: {}.\n",
        all.len(),
        quartiles(&ratios)[1],
        quartiles(&memory)[1],
        named(&ratio),
        named(&Measured::memory_ratio)
    )
}

/// Returns the quartiles of sorted values.
#[must_use]
pub fn quartiles(sorted: &[f64]) -> [f64; 3] {
    let Some(last) = sorted.len().checked_sub(1) else { return [f64::NAN; 3] };
    [sorted[last / 4], f64::midpoint(sorted[last / 2], sorted[sorted.len() / 2]), sorted[last - last / 4]]
}

/// Writes a time in a unit of which there are few.
#[must_use]
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        0.001.. => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{:.1} us", seconds * 1e6),
    }
}
