//! Figures from invented times.

use super::{FIGURES, Figure, Run, Source, Value, X};
use crate::record::Table;
use std::collections::BTreeSet;
use std::time::Duration;

fn table(title: &str, rows: &[(&str, u64)]) -> Table {
    Table::new("", title, rows.iter().map(|&(name, ms)| (name, vec![Duration::from_millis(ms); 3])))
}

fn figure(x: X, value: Value) -> Figure {
    Figure {
        paper: "none",
        place: "Figure 1",
        shows: "invented times",
        source: Source::Bench { bench: "none", words: &["a"], x, value, rows: &["furcate", "rayon"] },
        published: &[("theirs", &[(1.0, 0.5), (48.0, 20.0)])],
        differs: "",
    }
}

fn runs() -> [Run; 2] {
    [1, 2].map(|threads| {
        let of = |title, ms| table(title, &[("plain", 100), ("furcate", ms), ("rayon, 4 threads", 200)]);
        let tables = vec![of("a 1", 100 / threads), of("a 2", 200 / threads), of("b", 1)];
        Run { threads: threads as usize, tables }
    })
}

/// Speedups are means over the tables of the figure; the paper's values stand beside them.
#[test]
fn curves_over_threads() {
    let drawn = figure(X::Threads("a"), Value::Speedup("plain")).drawn(&runs()).unwrap();
    let lines: Vec<_> = drawn.table.lines().collect();
    assert_eq!(lines[0], "| speedup over `plain`; threads: | 1 | 2 | 48 |");
    assert_eq!(lines[2], "| furcate | 0.750 | 1.50 | |");
    assert_eq!(lines[3], "| rayon | 0.500 | 0.500 | |");
    assert_eq!(lines[4], "| theirs (paper) | 0.500 | | 20.0 |");
    let svg = drawn.plot.svg();
    assert!(svg.contains("theirs (paper)") && svg.contains("Figure 1, invented times"));
}

/// Curves over a quantity of the titles come from the run on most threads.
#[test]
fn curves_over_tables() {
    let x = X::Tables("size", &[(10.0, "a 1"), (20.0, "a 2")]);
    let drawn = figure(x, Value::Overhead("plain")).drawn(&runs()).unwrap();
    assert!(drawn.table.contains("| furcate | | 0.500 | 1.00 | |"), "{}", drawn.table);
    let drawn = figure(X::Threads("a 1"), Value::Seconds).drawn(&runs()).unwrap();
    assert!(drawn.table.contains("| furcate | 0.100 | 0.050 | |"), "{}", drawn.table);
    let drawn = figure(X::Threads("a"), Value::Scaling).drawn(&runs()).unwrap();
    assert!(drawn.table.contains("| furcate | 1.00 | 2.00 | |"), "{}", drawn.table);
    assert!(figure(X::Threads("c"), Value::Seconds).drawn(&runs()).is_none());
}

/// Each figure has a file of its own, and says how it differs.
#[test]
fn figures_are_told_apart() {
    let files: BTreeSet<_> = FIGURES.iter().map(Figure::file).collect();
    assert_eq!(files.len(), FIGURES.len());
    for figure in FIGURES {
        assert!(!figure.differs.is_empty(), "{}", figure.file());
    }
}
