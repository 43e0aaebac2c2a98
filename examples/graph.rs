//! Graph traversal: which nodes can be reached from a set of roots, and in how many levels from one node.
//!
//! `cargo run --release --example graph -- [NODES]` traverses a random graph in a loop and in parallel.
//!
//! A traversal is not a fold over items, because the work grows while it is done. The work is a list of nodes. A step
//! takes some nodes off the list and puts their unvisited neighbors on it. All tasks share one set of visited nodes.
//! When the scheduler wants one more task, it cuts the list in two.

mod common;

use clap::Parser;
use common::arguments::Bounds;
use common::output::{grouped, line};
use common::progress::Progress;
use common::random::Random;
use common::table::{Cell, Table};
use common::timing::timed;
use furcate::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// 20 million nodes take about 2 GB.
const NODES: Bounds<usize> = Bounds::new(1, 20_000_000);

/// Counts the nodes of a random graph that can be reached from some roots, in a loop and in parallel.
#[derive(Parser)]
struct Arguments {
    #[arg(default_value_t = 300_000, value_parser = NODES.parser(), help = NODES.help("Nodes of the graph"))]
    nodes: usize,
}

/// A random graph: most nodes have a few neighbors anywhere in the graph.
struct Graph {
    neighbors: Vec<Vec<u32>>,
}

impl Graph {
    fn new(nodes: usize, degree: usize) -> Self {
        let mut random = Random(1);
        let mut next = || random.below(nodes as u64) as u32;
        // Every third node has no neighbors.
        let mut list = |node: usize| (0..if node % 3 == 0 { 0 } else { degree }).map(|_| next()).collect();
        Graph { neighbors: (0..nodes).map(&mut list).collect() }
    }
}

/// Nodes that are marked as seen, and whose neighbors have not been looked at.
struct Frontier(Vec<u32>);

impl Divisible for Frontier {
    fn size(&self) -> usize {
        self.0.len()
    }
    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let right = self.0.split_off(index.min(self.0.len()));
        (self, Frontier(right))
    }
}

/// Returns the number of nodes that can be reached from `from`, including these.
fn reachable(graph: &Graph, from: Vec<u32>, seen: &[AtomicBool]) -> usize {
    // Relaxed: the task that sets a node's flag visits the node. The flag publishes no other memory.
    let first = |node: u32| !seen[node as usize].swap(true, Relaxed);
    let frontier = Frontier(from.into_iter().filter(|&node| first(node)).collect());
    frontier
        .work(
            |_frontier| 0,
            |visited, frontier, nodes| {
                let mut left = nodes;
                while left > 0
                    && let Some(node) = frontier.0.pop()
                {
                    let neighbors = &graph.neighbors[node as usize];
                    frontier.0.extend(neighbors.iter().copied().filter(|&node| first(node)));
                    *visited += 1;
                    left -= 1;
                }
            },
            |visited| visited,
        )
        .adaptive() // a list that was cut before it has grown would be cut in the wrong place
        .sum()
}

/// Returns the number of nodes that can be reached from `from`, and the number of levels of a breadth-first traversal.
/// Each level is one parallel `flat_map_iter`.
fn levels(graph: &Graph, from: u32) -> (usize, usize) {
    let seen: Vec<AtomicBool> = unseen(graph);
    let first = |node: u32| !seen[node as usize].swap(true, Relaxed);
    let (mut level, mut nodes, mut levels) = (vec![from], 0, 0);
    first(from);
    while !level.is_empty() {
        (nodes, levels) = (nodes + level.len(), levels + 1);
        let neighbors = |&node: &u32| graph.neighbors[node as usize].iter().copied();
        level = level.par_iter().flat_map_iter(neighbors).filter(|&node| first(node)).collect();
    }
    (nodes, levels)
}

fn unseen(graph: &Graph) -> Vec<AtomicBool> {
    graph.neighbors.iter().map(|_| AtomicBool::new(false)).collect()
}

/// Returns the number of nodes that can be reached from `from`, counted in a loop.
fn reachable_seq(graph: &Graph, from: &[u32]) -> usize {
    let mut seen = vec![false; graph.neighbors.len()];
    let mut frontier = from.to_vec();
    let mut visited = 0;
    while let Some(node) = frontier.pop() {
        if !std::mem::replace(&mut seen[node as usize], true) {
            visited += 1;
            frontier.extend(&graph.neighbors[node as usize]);
        }
    }
    visited
}

fn main() {
    let Arguments { nodes } = Arguments::parse();
    let progress = Progress::new("graph", 5);
    let graph = Graph::new(nodes, 4);
    progress.step();
    let roots: Vec<u32> = (0..nodes as u32).step_by(nodes / 64 + 1).collect();

    let (expected, sequential) = timed(|| reachable_seq(&graph, &roots));
    progress.step();
    let seen = unseen(&graph);
    let (visited, parallel) = timed(|| reachable(&graph, roots, &seen));
    assert_eq!(visited, expected);
    progress.step();

    let start = nodes as u32 - 1;
    let (from_start, levels) = levels(&graph, start);
    assert_eq!(from_start, reachable_seq(&graph, &[start]));
    progress.step();

    // A search that ends all tasks: between two steps a task checks whether its work is still needed.
    let (wanted, steps) = (nodes as u32 / 2, AtomicUsize::new(0));
    let search = Frontier((0..nodes as u32).collect()).work(
        |_frontier| None,
        |found, frontier, count| {
            steps.fetch_add(1, Relaxed);
            let from = frontier.0.len().saturating_sub(count);
            *found = frontier.0.drain(from..).rev().find(|&node| node == wanted).or(*found);
            if found.is_some() {
                frontier.0.clear();
            }
        },
        |found| found,
    );
    let (found, searched) = timed(|| search.find_map_any(|found| found));
    assert_eq!(found, Some(wanted));
    drop(progress);

    let mut table = Table::new(["time"]);
    table.row("reachable from the roots, in a loop", [Cell::Time(sequential)]);
    table.row("reachable from the roots, in parallel", [Cell::Time(parallel)]);
    table.row(
        format!("a search in {} steps, in parallel", grouped(steps.into_inner())),
        [Cell::Time(searched)],
    );
    line(format_args!(
        "{} of {} nodes are reachable from the roots; from the last node, {} in {levels} levels\n\n{table}",
        grouped(visited),
        grouped(nodes),
        grouped(from_start)
    ));
}
