//! Every terminal has an awaited form, in every place that has terminals. The lists are read from the source, so that
//! no terminal is forgotten.

use std::collections::BTreeSet;

const PARALLEL: &str = include_str!("../../src/iter/parallel.rs");
const ASYNC: &str = include_str!("../../src/iter/async_terminals.rs");
const INDEXED: &str = include_str!("../../src/iter/indexed.rs");
const PIPELINE: &str = include_str!("../../src/stream/pipeline.rs");

/// Terminals that write to memory that the caller lends: a future can be forgotten, so it may borrow nothing.
const BORROWING: [&str; 2] = ["collect_into_vec", "unzip_into_vecs"];

/// Returns the methods of a trait in those sections, marked by lines of dashes, whose titles mention terminals.
fn terminals(source: &str) -> BTreeSet<&str> {
    let mut in_terminals = false;
    let mut names = BTreeSet::new();
    for line in source.lines().skip_while(|line| !line.starts_with("pub trait ")) {
        if line.starts_with("    // ----") {
            in_terminals = line.contains(" terminals");
        } else if line == "}" {
            in_terminals = false;
        }
        if in_terminals && let Some(name) = method(line.trim_start(), "fn ") {
            names.insert(name);
        }
    }
    names
}

fn method<'a>(line: &'a str, begin: &str) -> Option<&'a str> {
    line.strip_prefix(begin)?.split(['<', '(', '[', ',', ':']).next()
}

/// Asserts that every blocking terminal has an awaited one of the same name, and the other way round.
#[track_caller]
fn assert_pairs(names: &BTreeSet<&str>, at_least: usize) {
    let awaited: BTreeSet<&str> = names.iter().filter_map(|name| name.strip_prefix("async_")).collect();
    let blocking: BTreeSet<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.starts_with("async_") && !BORROWING.contains(name))
        .collect();
    assert_eq!(blocking, awaited);
    assert!(blocking.len() >= at_least, "the source is not read as it should be: {blocking:?}");
}

/// From one table, awaited terminals are made, and both forms behind `stop_on` and `deadline`.
#[test]
fn every_terminal_of_a_parallel_iterator_can_be_awaited_and_interrupted() {
    let table = ASYNC.lines().filter(|line| line.contains(", async_"));
    let table: BTreeSet<_> = table.filter_map(|line| method(line.trim_start(), "fn ")).collect();
    assert_eq!(terminals(PARALLEL), table);
    assert!(table.len() >= 30, "the source is not read as it should be: {table:?}");
}

#[test]
fn every_terminal_of_an_indexed_iterator_can_be_awaited() {
    assert_pairs(&terminals(INDEXED), 11);
    assert!(BORROWING.iter().all(|name| terminals(INDEXED).contains(name)));
}

#[test]
fn every_sink_of_a_pipeline_can_be_awaited() {
    let is_no_sink = |name: &&str| {
        ["stage", "filter", "and_then", "max_in_flight", "unordered", "into_stream"]
            .iter()
            .any(|other| name.starts_with(other))
    };
    let sinks =
        PIPELINE.lines().filter_map(|line| method(line, "    pub fn ")).filter(|name| !is_no_sink(name));
    assert_pairs(&sinks.collect(), 4);
}
