//! Selects vertices, no two of which are neighbors, until no vertex can be added (PBBS: maximalIndependentSet).

use crate::graph::Graph;
use crate::inputs;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "maximal_independent_set",
    suite: "PBBS",
    what: "the maximal independent set that a greedy loop finds in a cubic grid, in random order of vertices",
    unit: "vertices",
    size: 1 << 21,
    quick: 1 << 18,
    schedule: "",
    why: "each block ends with some very short parallel loops, which cost less in furcate; the sequential column wins, because it skips the neighbors of most vertices",
    source: include_str!("maximal_independent_set.rs"),
    case: |size| {
        let graph = Graph::new(&inputs::grid_edges(size));
        reads(graph, [sequential::run, rayon::run, furcate::run], |graph, selected| {
            equal(selected, &sequential::run(graph))
        })
    },
};

mod sequential {
    use super::Graph;

    pub(super) fn run(graph: &Graph) -> Vec<u32> {
        let mut is_free = vec![true; graph.vertex_count()];
        let mut selected = Vec::new();
        for vertex in graph.vertices() {
            if is_free[vertex as usize] {
                selected.push(vertex);
                for &neighbor in graph.neighbors(vertex) {
                    is_free[neighbor as usize] = false;
                }
            }
        }
        selected
    }
}

// Vertices are decided in blocks. In a round, each undecided vertex of the block looks at the neighbors before it: if one is selected, the
// vertex is refused; if all are refused, the vertex is selected; otherwise, the vertex waits for another round. Vertices are numbered in random
// order, so few vertices of a block are neighbors.
const BLOCK: usize = 1 << 16;
const UNDECIDED: u8 = 0;
const REFUSED: u8 = 1;
const SELECTED: u8 = 2;

mod rayon {
    use super::{BLOCK, Graph, REFUSED, SELECTED, UNDECIDED};
    use rayon::prelude::*;
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

    pub(super) fn run(graph: &Graph) -> Vec<u32> {
        let states: Vec<AtomicU8> = graph.vertices().map(|_| AtomicU8::new(UNDECIDED)).collect();
        let state = |vertex: u32| states[vertex as usize].load(Relaxed);
        let stays_undecided = |&vertex: &u32| {
            let before = || graph.neighbors(vertex).iter().take_while(|other| **other < vertex);
            if before().any(|&other| state(other) == SELECTED) {
                states[vertex as usize].store(REFUSED, Relaxed);
            } else if before().all(|&other| state(other) == REFUSED) {
                states[vertex as usize].store(SELECTED, Relaxed);
            }
            state(vertex) == UNDECIDED
        };
        for block in graph.vertices().step_by(BLOCK) {
            let end = graph.vertices().end.min(block + BLOCK as u32);
            let mut undecided: Vec<u32> = (block..end).collect();
            while !undecided.is_empty() {
                undecided = undecided.into_par_iter().filter(stays_undecided).collect();
            }
        }
        graph.vertices().into_par_iter().filter(|&vertex| state(vertex) == SELECTED).collect()
    }
}

mod furcate {
    use super::{BLOCK, Graph, REFUSED, SELECTED, UNDECIDED};
    use furcate::prelude::*;
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

    pub(super) fn run(graph: &Graph) -> Vec<u32> {
        let states: Vec<AtomicU8> = graph.vertices().map(|_| AtomicU8::new(UNDECIDED)).collect();
        let state = |vertex: u32| states[vertex as usize].load(Relaxed);
        let stays_undecided = |&vertex: &u32| {
            let before = || graph.neighbors(vertex).iter().take_while(|other| **other < vertex);
            if before().any(|&other| state(other) == SELECTED) {
                states[vertex as usize].store(REFUSED, Relaxed);
            } else if before().all(|&other| state(other) == REFUSED) {
                states[vertex as usize].store(SELECTED, Relaxed);
            }
            state(vertex) == UNDECIDED
        };
        for block in graph.vertices().step_by(BLOCK) {
            let end = graph.vertices().end.min(block + BLOCK as u32);
            let mut undecided: Vec<u32> = (block..end).collect();
            while !undecided.is_empty() {
                undecided = undecided.into_par_iter().filter(stays_undecided).collect();
            }
        }
        graph.vertices().into_par_iter().filter(|&vertex| state(vertex) == SELECTED).collect()
    }
}
