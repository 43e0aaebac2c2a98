//! Tables whose columns are aligned, with one unit for all times.

use super::output::grouped;
use std::fmt;
use std::time::Duration;

/// The content of a cell.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// Printed in the table's unit, which the column's head names.
    Time(Duration),
    Count(u64),
    /// Printed as `1.25x`.
    Ratio(f64),
    Text(String),
    Empty,
}

/// Named rows of cells.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    heads: Vec<&'static str>,
    rows: Vec<(String, Vec<Cell>)>,
}

impl Table {
    /// Makes a table with a head for each column. The column of the rows' names has none.
    pub(crate) fn new<const N: usize>(heads: [&'static str; N]) -> Self {
        Table { heads: heads.into(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// If there are not as many cells as heads.
    pub(crate) fn row<const N: usize>(&mut self, name: impl Into<String>, cells: [Cell; N]) {
        assert_eq!(N, self.heads.len(), "a row has a cell for each head");
        self.rows.push((name.into(), cells.into()));
    }

    /// Returns the unit of all times in the table, by its least time. A time of 0 is below the clock's resolution.
    fn unit(&self) -> Unit {
        let cells = self.rows.iter().flat_map(|(_, cells)| cells);
        let times = cells.filter_map(|cell| if let Cell::Time(time) = cell { Some(*time) } else { None });
        Unit::of(times.filter(|time| !time.is_zero()).min().unwrap_or_default())
    }

    /// Returns a column's head and cells as texts.
    fn column(&self, i: usize) -> Vec<String> {
        let unit = self.unit();
        let cells = || self.rows.iter().map(|(_, cells)| &cells[i]);
        let mut head = self.heads[i].to_owned();
        if cells().any(|cell| matches!(cell, Cell::Time(_))) {
            head += &format!(" [{}]", unit.name);
        }
        let text = |cell: &Cell| match cell {
            Cell::Time(time) => unit.text(*time),
            Cell::Count(count) => grouped(*count),
            Cell::Ratio(ratio) => format!("{ratio:.2}x"),
            Cell::Text(text) => text.clone(),
            Cell::Empty => String::new(),
        };
        std::iter::once(head).chain(cells().map(text)).collect()
    }
}

/// No newline at the end, as [`output::line`](super::output::line) adds one.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
        let names: Vec<String> =
            std::iter::once(String::new()).chain(self.rows.iter().map(|row| row.0.clone())).collect();
        let columns: Vec<Vec<String>> = (0..self.heads.len()).map(|i| self.column(i)).collect();
        for (i, name) in names.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{name:<0$}", width(&names))?;
            for column in &columns {
                write!(f, "  {:>1$}", column[i], width(column))?;
            }
        }
        Ok(())
    }
}

/// A unit of time, and the number of decimal places of its numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    name: &'static str,
    nanoseconds: f64,
    decimals: usize,
}

impl Unit {
    /// Returns the unit for a table with this least time, so that the least time has three significant digits.
    fn of(least: Duration) -> Self {
        let nanoseconds = least.as_nanos() as f64;
        let units = [("s", 1e9), ("ms", 1e6), ("us", 1e3)];
        let (name, unit) =
            units.into_iter().find(|(_, unit)| nanoseconds >= unit / 10.0).unwrap_or(("ns", 1.0));
        let decimals = match nanoseconds / unit {
            _ if unit == 1.0 => 0,
            value if value >= 100.0 => 0,
            value if value >= 10.0 => 1,
            value if value >= 1.0 => 2,
            _ => 3,
        };
        Unit { name, nanoseconds: unit, decimals }
    }

    fn text(self, time: Duration) -> String {
        format!("{:.*}", self.decimals, time.as_nanos() as f64 / self.nanoseconds)
    }
}

/// Formats a time with its unit, for a sentence: `12.3 ms`.
pub(crate) fn time(time: Duration) -> String {
    let unit = Unit::of(time);
    format!("{} {}", unit.text(time), unit.name)
}
