//! Which nodes of a graph can be reached from a node, and in how many steps at most?
//!
//! A traversal is no fold over items: what there is to do grows while it is done. The work is a list of nodes; a step
//! takes some off, and puts their neighbours on that nobody has visited yet. All tasks share one set of visited nodes;
//! the list is cut in two where the scheduler wants a task more.

use furcate::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

/// A graph without a structure that anybody could make use of: every node has a few neighbours anywhere.
struct Graph {
    neighbours: Vec<Vec<u32>>,
}

impl Graph {
    fn new(nodes: usize, degree: usize) -> Self {
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % nodes as u64) as u32
        };
        // Some nodes lead nowhere.
        let mut list =
            |node: usize| (0..if node.is_multiple_of(3) { 0 } else { degree }).map(|_| next()).collect();
        Graph { neighbours: (0..nodes).map(&mut list).collect() }
    }
}

/// Nodes that have been seen, and whose neighbours have not.
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

/// How many nodes can be reached from some others, these included?
fn reachable(graph: &Graph, from: Vec<u32>, seen: &[AtomicBool]) -> usize {
    // Relaxed: who sets the flag visits the node; nothing else is told by it.
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
                    let neighbours = &graph.neighbours[node as usize];
                    frontier.0.extend(neighbours.iter().copied().filter(|&node| first(node)));
                    *visited += 1;
                    left -= 1;
                }
            },
            |visited| visited,
        )
        .adaptive() // a list that was cut before it has grown would be cut in the wrong place
        .sum()
}

/// The same, breadth first: level by level, each one a parallel `flat_map_iter`. How many levels are there?
fn levels(graph: &Graph, from: u32) -> (usize, usize) {
    let seen: Vec<AtomicBool> = unseen(graph);
    let first = |node: u32| !seen[node as usize].swap(true, Relaxed);
    let (mut level, mut nodes, mut levels) = (vec![from], 0, 0);
    first(from);
    while !level.is_empty() {
        (nodes, levels) = (nodes + level.len(), levels + 1);
        let neighbours = |&node: &u32| graph.neighbours[node as usize].iter().copied();
        level = level.par_iter().flat_map_iter(neighbours).filter(|&node| first(node)).collect();
    }
    (nodes, levels)
}

fn unseen(graph: &Graph) -> Vec<AtomicBool> {
    graph.neighbours.iter().map(|_| AtomicBool::new(false)).collect()
}

/// One after the other.
fn reachable_seq(graph: &Graph, from: &[u32]) -> usize {
    let mut seen = vec![false; graph.neighbours.len()];
    let mut frontier = from.to_vec();
    let mut visited = 0;
    while let Some(node) = frontier.pop() {
        if !std::mem::replace(&mut seen[node as usize], true) {
            visited += 1;
            frontier.extend(&graph.neighbours[node as usize]);
        }
    }
    visited
}

fn main() {
    let nodes = std::env::args().nth(1).map_or(300_000, |nodes| nodes.parse().expect("a number"));
    let graph = Graph::new(nodes, 4);
    let roots: Vec<u32> = (1..nodes as u32).step_by(nodes / 64 + 1).collect();

    let start = Instant::now();
    let expected = reachable_seq(&graph, &roots);
    let sequential = start.elapsed();
    let start = Instant::now();
    let visited = reachable(&graph, roots, &unseen(&graph));
    let parallel = start.elapsed();
    assert_eq!(visited, expected);

    let (from_one, levels) = levels(&graph, 1);
    assert_eq!(from_one, reachable_seq(&graph, &[1]));

    // A search that ends all tasks: between two steps they look whether they are still needed.
    let steps = AtomicUsize::new(0);
    let found = Frontier((0..nodes as u32).collect()).work(
        |_frontier| None,
        |found, frontier, count| {
            steps.fetch_add(1, Relaxed);
            let from = frontier.0.len().saturating_sub(count);
            *found = frontier.0.drain(from..).rev().find(|&node| node % 1000 == 999).or(*found);
            if found.is_some() {
                frontier.0.clear();
            }
        },
        |found| found,
    );
    assert_eq!(found.find_map_any(|found| found).map(|node| node % 1000), Some(999));

    println!("{visited} of {nodes} nodes are reachable; from node 1, {from_one} in {levels} levels");
    eprintln!(
        "sequential {sequential:?}, in parallel {parallel:?}, a search in {} steps",
        steps.into_inner()
    );
}
