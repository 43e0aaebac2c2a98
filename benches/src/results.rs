//! The results of `furcate-bench`: a file, a report, and the comparison of two files.

use crate::processors;
use crate::record::{Row, Table};
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};
use std::{fs, io};

/// The file's version: a program that reads another one says so.
const FORMAT: u32 = 1;

/// All tables of a run, with the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    format: u32,
    /// Where the times were taken.
    pub machine: Machine,
    /// Whether the run was a short one.
    pub quick: bool,
    /// The tables.
    pub tables: Vec<Table>,
}

/// A machine, as far as times depend on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Hardware threads.
    pub threads: usize,
    /// The operating system and the architecture.
    pub system: String,
    /// The compiler.
    pub rustc: String,
    /// The commit, if the sources are a clone.
    pub commit: String,
    /// Seconds since 1970.
    pub date: u64,
}

impl Machine {
    /// Looks at this machine.
    #[must_use]
    pub fn this() -> Machine {
        let output = |program: &str, arguments: &[&str]| {
            let output =
                Command::new(program).args(arguments).output().ok().filter(|out| out.status.success());
            output.map_or_else(
                || "unknown".into(),
                |out| String::from_utf8_lossy(&out.stdout).trim().to_owned(),
            )
        };
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let processor = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("model name").and_then(|rest| rest.split_once(": ")))
            .map_or_else(|| "unknown".to_owned(), |(_, name)| name.to_owned());
        Machine {
            processor,
            threads: processors(),
            system: format!("{}, {}", std::env::consts::OS, std::env::consts::ARCH),
            rustc: output("rustc", &["--version"]),
            commit: output("git", &["describe", "--always", "--dirty"]),
            date: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        }
    }

    /// Returns the machine in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let Machine { processor, threads, system, rustc, commit, .. } = self;
        format!("{processor}, {threads} hardware threads, {system}; {rustc}; commit {commit}")
    }
}

/// A median with its quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// A quarter of the values is at most this.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// A quarter of the values is at least this.
    pub high: f64,
}

impl Spread {
    /// Returns the median and the quartiles, or `None` if there is no value.
    #[must_use]
    pub fn of(mut values: Vec<f64>) -> Option<Spread> {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let [low, high] = [last / 4, last - last / 4].map(|place| values[place]);
        // For an even number of values, the mean of the two in the middle.
        let median = f64::midpoint(values[last / 2], values[values.len() / 2]);
        Some(Spread { low, median, high })
    }
}

/// Names of rows that others are compared with: a program without forks, and rayon's.
const PLAIN: [&str; 6] = ["plain", "serial", "loop", "one loop", "std", "serial, without waits"];
const RAYON: [&str; 2] = ["rayon", "peer"];

impl Table {
    /// Returns how many times as long as another row a row takes, round by round.
    #[must_use]
    pub fn ratio(&self, row: &Row, to: &Row) -> Option<Spread> {
        Spread::of(row.ns.iter().zip(&to.ns).map(|(a, b)| a / b).collect())
    }

    /// Returns the row of one of the names. The second row of a name is compared with the second one of the other name (the programs on
    /// two threads).
    fn reference(&self, names: &[&str], of: &Row) -> Option<&Row> {
        let number = of.name.rfind(" (").map_or("", |place| &of.name[place..]);
        let find = |wanted: String| self.rows.iter().find(|row| row.name == wanted);
        let numbered = names.iter().find_map(|name| find(format!("{name}{number}")));
        numbered.or_else(|| names.iter().find_map(|name| find((*name).to_owned())))
    }

    /// Returns the ratio to rayon's row; if there is none, to the row without forks.
    fn main_ratio(&self, row: &Row) -> Option<Spread> {
        let reference = self.reference(&RAYON, row).or_else(|| self.reference(&PLAIN, row))?;
        if reference.name == row.name { None } else { self.ratio(row, reference) }
    }
}

impl Results {
    /// Makes results of these tables.
    #[must_use]
    pub fn new(quick: bool, tables: Vec<Table>) -> Results {
        Results { format: FORMAT, machine: Machine::this(), quick, tables }
    }

    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or holds something else.
    pub fn read(path: &Path) -> Result<Results, String> {
        let name = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| format!("{name}: {error}; `furcate-bench run` writes such a file"))?;
        let results: Results = serde_json::from_str(&text)
            .map_err(|error| format!("{name} holds no results of furcate-bench: {error}"))?;
        if results.format == FORMAT {
            Ok(results)
        } else {
            Err(format!("{name} has the format {}, and this program reads {FORMAT}", results.format))
        }
    }

    /// Writes a file, with the folders that it needs.
    ///
    /// # Errors
    ///
    /// If that is not possible.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, serde_json::to_string(self).map_err(io::Error::other)?)
    }

    /// Returns the report, in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "{}{}.\n\n\
             Times are medians of interleaved rounds. Ratios are medians of the rounds' ratios, with their quartiles: below 1 a row is \
             faster.\n",
            self.machine.line(),
            if self.quick { "; a short run" } else { "" }
        );
        let mut family = "";
        for table in &self.tables {
            if table.family != family {
                family = &table.family;
                let _ = write!(text, "\n## {family}\n");
            }
            let _ = write!(text, "\n{}\n", self.table(table));
        }
        text
    }

    /// Returns a text in which each table between the lines `<!-- furcate-bench FAMILY: TITLE -->` and `<!-- end -->` is this run's.
    ///
    /// # Errors
    ///
    /// If a table was not measured, or has no end.
    pub fn fill(&self, text: &str) -> Result<String, String> {
        const BEGIN: &str = "<!-- furcate-bench ";
        const END: &str = "<!-- end -->";
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once(BEGIN) {
            let (name, after) = after.split_once(" -->").ok_or("a comment does not end")?;
            let (_, after) =
                after.split_once(END).ok_or_else(|| format!("the table `{name}` has no `{END}`"))?;
            let is_it = |table: &&Table| format!("{}: {}", table.family, table.title) == name;
            let table = self.tables.iter().find(is_it).ok_or_else(|| {
                let known: Vec<_> =
                    self.tables.iter().map(|t| format!("{}: {}", t.family, t.title)).collect();
                format!("the table `{name}` was not measured; there are {}", known.join("; "))
            })?;
            let _ = write!(filled, "{before}{BEGIN}{name} -->\n{}\n{END}", self.table(table));
            rest = after;
        }
        Ok(filled + rest)
    }

    fn table(&self, table: &Table) -> String {
        let has = |names: &[&str]| table.rows.iter().any(|row| names.contains(&row.name.as_str()));
        let columns: Vec<(&str, &[&str])> = [("plain", &PLAIN[..]), ("rayon", &RAYON[..])]
            .into_iter()
            .filter(|(_, names)| has(names))
            .map(|(kind, names)| {
                let name = names.iter().find(|name| table.rows.iter().any(|row| row.name == **name));
                (name.copied().unwrap_or(kind), names)
            })
            .collect();
        let mut text = format!("| {} | median |", table.title);
        columns.iter().for_each(|(name, _)| _ = write!(text, " to {name} |"));
        text.push_str("\n|---|--:|");
        columns.iter().for_each(|_| text.push_str("--:|"));
        for row in &table.rows {
            let median = Spread::of(row.ns.clone()).map_or(f64::NAN, |spread| spread.median);
            let _ = write!(text, "\n| {} | {} |", row.name, time(median));
            for (_, names) in &columns {
                let ratio = table.reference(names, row).and_then(|reference| table.ratio(row, reference));
                match ratio {
                    Some(Spread { low, median, high }) => {
                        _ = write!(text, " {median:.2} ({low:.2} to {high:.2}) |");
                    }
                    None => text.push_str(" |"),
                }
            }
        }
        text
    }

    /// Returns the changes since other results beyond the spread, in Markdown. Compared are ratios to rayon, or to the program without
    /// forks, since times of different runs say little on a shared machine.
    #[must_use]
    pub fn against(&self, old: &Results) -> String {
        let mut text = String::new();
        if self.machine.processor != old.machine.processor || self.quick != old.quick {
            let _ =
                writeln!(text, "The results are of different machines, or one of them is of a short run.\n");
        }
        let (mut changes, mut same, mut missing) = (Vec::new(), 0, Vec::new());
        for before in &old.tables {
            let is_it = |table: &&Table| table.family == before.family && table.title == before.title;
            let Some(now) = self.tables.iter().find(is_it) else {
                missing.push(format!("{}: {}", before.family, before.title));
                continue;
            };
            for row in &before.rows {
                let Some(row_now) = now.rows.iter().find(|other| other.name == row.name) else { continue };
                if let (Some(was), Some(is)) = (before.main_ratio(row), now.main_ratio(row_now)) {
                    // Beyond the spread: the boxes do not overlap.
                    if is.low > was.high || is.high < was.low {
                        changes.push((is.median / was.median, before, row, was, is));
                    } else {
                        same += 1;
                    }
                }
            }
        }
        changes.sort_by(|a, b| b.0.total_cmp(&a.0));
        let _ = writeln!(text, "{} rows changed beyond the spread, {same} did not.", changes.len());
        if !changes.is_empty() {
            text.push_str("\n| row | was | is | change |\n|---|--:|--:|--:|\n");
        }
        for (change, table, row, was, is) in changes {
            let _ = writeln!(
                text,
                "| {}: {}: {} | {:.2} ({:.2} to {:.2}) | {:.2} ({:.2} to {:.2}) | {:+.0} % |",
                table.family,
                table.title,
                row.name,
                was.median,
                was.low,
                was.high,
                is.median,
                is.low,
                is.high,
                (change - 1.0) * 100.0
            );
        }
        if !missing.is_empty() {
            let _ = writeln!(text, "\nNot measured now: {}.", missing.join("; "));
        }
        text
    }
}

/// Writes nanoseconds in a unit of which there are few.
fn time(ns: f64) -> String {
    match ns {
        0.0..1e3 => format!("{ns:.1} ns"),
        0.0..1e6 => format!("{:.2} us", ns / 1e3),
        0.0..1e9 => format!("{:.2} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn results(rows: &[(&'static str, &[u64])]) -> Results {
        let rows =
            rows.iter().map(|(name, ms)| (*name, ms.iter().map(|ms| Duration::from_millis(*ms)).collect()));
        Results::new(false, vec![Table::new("family", "title", rows)])
    }

    #[test]
    fn names_are_told_apart() {
        let table =
            Table::new("", "", [("a", Vec::new()), ("b", Vec::new()), ("a", Vec::new()), ("a", Vec::new())]);
        let names: Vec<_> = table.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "a (2)", "a (3)"]);
    }

    #[test]
    fn quartiles_are_values() {
        let spread = |values: &[f64]| Spread::of(values.to_vec()).map(|s| (s.low, s.median, s.high));
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[3.0]), Some((3.0, 3.0, 3.0)));
        assert_eq!(spread(&[5.0, 1.0, 2.0, 4.0, 3.0]), Some((2.0, 3.0, 4.0)));
    }

    /// Ratios are taken round by round, and rows on two threads are compared with rayon on two threads.
    #[test]
    fn a_report_has_the_ratios_of_rounds() {
        let results = results(&[
            ("plain", &[10, 20, 30]),
            ("rayon", &[20, 40, 60]),
            ("rayon", &[10, 10, 10]),
            ("furcate", &[10, 20, 30]),
            ("furcate", &[5, 5, 5]),
        ]);
        let text = results.markdown();
        assert!(text.contains("| title | median | to plain | to rayon |"), "{text}");
        assert!(
            text.contains("| furcate | 20.00 ms | 1.00 (1.00 to 1.00) | 0.50 (0.50 to 0.50) |"),
            "{text}"
        );
        assert!(
            text.contains("| furcate (2) | 5.00 ms | 0.25 (0.17 to 0.50) | 0.50 (0.50 to 0.50) |"),
            "{text}"
        );
    }

    #[test]
    fn changes_beyond_the_spread_are_named() {
        let old = results(&[("rayon", &[10, 10, 10]), ("same", &[5, 6, 7]), ("slower", &[5, 5, 5])]);
        let new = results(&[("rayon", &[20, 20, 20]), ("same", &[11, 12, 13]), ("slower", &[15, 15, 15])]);
        let text = new.against(&old);
        assert!(text.contains("1 rows changed beyond the spread, 1 did not."), "{text}");
        assert!(
            text.contains("family: title: slower | 0.50 (0.50 to 0.50) | 0.75 (0.75 to 0.75) | +50 %"),
            "{text}"
        );
        assert!(old.against(&new).contains("-33 %"));
        let mut less = new.clone();
        less.tables.clear();
        assert!(less.against(&old).contains("Not measured now: family: title"));
    }

    #[test]
    fn a_text_gets_the_tables() {
        let results = results(&[("rayon", &[1]), ("furcate", &[2])]);
        let text = "a\n<!-- furcate-bench family: title -->\nold\n<!-- end -->\nb\n";
        let filled = results.fill(text).unwrap();
        assert!(
            filled.starts_with("a\n<!-- furcate-bench family: title -->\n| title | median | to rayon |"),
            "{filled}"
        );
        assert!(
            filled.ends_with("| 2.00 (2.00 to 2.00) |\n<!-- end -->\nb\n") && !filled.contains("old"),
            "{filled}"
        );
        assert_eq!(results.fill(&filled).unwrap(), filled);
        assert_eq!(results.fill("nothing").unwrap(), "nothing");
        let error = results.fill("<!-- furcate-bench family: other --><!-- end -->").unwrap_err();
        assert!(error.contains("`family: other` was not measured; there are family: title"), "{error}");
        assert!(results.fill("<!-- furcate-bench family: title -->").unwrap_err().contains("has no"));
    }

    #[test]
    fn a_file_is_read_back() {
        let results = results(&[("rayon", &[1, 2])]);
        let path =
            std::env::temp_dir().join(format!("furcate-bench-{}", std::process::id())).join("results.json");
        results.write(&path).unwrap();
        assert_eq!(Results::read(&path).unwrap(), results);
        fs::write(&path, "[]").unwrap();
        assert!(Results::read(&path).unwrap_err().contains("holds no results"));
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        assert!(Results::read(&path).unwrap_err().contains("furcate-bench run"));
    }
}
