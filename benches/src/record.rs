//! Times for `furcate-bench`: each table that a bench prints is also appended to a file, as one line of JSON.
//!
//! The file is named by `FURCATE_BENCH_RECORD`. Without that variable nothing is recorded.

use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::Write;
use std::time::Duration;

/// The variable that names the file.
pub const FILE: &str = "FURCATE_BENCH_RECORD";

/// The variable that names the family.
pub const FAMILY: &str = "FURCATE_BENCH_FAMILY";

/// The times of contenders that took turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The bench that has taken them.
    pub family: String,
    /// The computation.
    pub title: String,
    /// The contenders.
    pub rows: Vec<Row>,
}

/// One contender's times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its name, which no other row of the table has.
    pub name: String,
    /// Nanoseconds of each round. Rows of the same table were measured in turn, so that times with the same index belong together.
    pub ns: Vec<f64>,
}

impl Table {
    /// Makes a table. A name that is there already gets a number.
    #[must_use]
    pub fn new<'n>(
        family: &str,
        title: &str,
        rows: impl IntoIterator<Item = (&'n str, Vec<Duration>)>,
    ) -> Table {
        let mut table = Table { family: family.into(), title: title.into(), rows: Vec::new() };
        for (name, times) in rows {
            let same = |row: &Row| row.name == name || row.name.starts_with(&format!("{name} ("));
            let before = table.rows.iter().filter(|row| same(row)).count();
            let name = if before == 0 { name.to_owned() } else { format!("{name} ({})", before + 1) };
            let ns = times.iter().map(|time| time.as_secs_f64() * 1e9).collect();
            table.rows.push(Row { name, ns });
        }
        table
    }
}

/// Records a table, if the bench is run by `furcate-bench`. Without a title, nothing is recorded.
///
/// # Panics
///
/// If the file cannot be written.
pub fn record<'n>(title: &str, rows: impl IntoIterator<Item = (&'n str, Vec<Duration>)>) {
    let Some(path) = std::env::var_os(FILE).filter(|_| !title.is_empty()) else { return };
    let family = std::env::var(FAMILY).unwrap_or_default();
    let mut line = serde_json::to_string(&Table::new(&family, title, rows)).expect("times are numbers");
    line.push('\n');
    let file = OpenOptions::new().append(true).create(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("cannot record times in {}: {error}", path.to_string_lossy()));
}
