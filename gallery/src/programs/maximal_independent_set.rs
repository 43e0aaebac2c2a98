//! Selects vertices, no two of which are neighbors, until no vertex can be added (PBBS: maximalIndependentSet).

use crate::graph::Graph;
use crate::inputs;
use crate::program::{Program, equal, reads};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

pub(super) const PROGRAM: Program = Program {
    name: "maximal_independent_set",
    suite: "PBBS",
    what: "the maximal independent set that a greedy loop finds in a cubic grid, in random order of vertices",
    unit: "vertices",
    size: 1 << 21,
    quick: 1 << 18,
    schedule: "",
    why: "faster: one thread copies the undecided vertices together in rayon; the sequential column wins, because it skips the neighbors of most vertices",
    source: include_str!("maximal_independent_set.rs"),
    case: |size| {
        let graph = Graph::new(&inputs::grid_edges(size));
        reads(graph, [sequential::run, rayon::run, furcate::run], |graph, selected| {
            let mut is_selected = vec![false; graph.vertex_count()];
            selected.iter().for_each(|&vertex| is_selected[vertex as usize] = true);
            // A vertex is selected if and only if no neighbor before it is selected.
            let wrong = |&vertex: &u32| {
                let mut before = graph.neighbors(vertex).iter().take_while(|other| **other < vertex);
                is_selected[vertex as usize] == before.any(|&other| is_selected[other as usize])
            };
            equal(&graph.vertices().find(wrong), &None)?;
            equal(&selected.is_sorted_by(|a, b| a < b), &true)
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

/// The states of the vertices, which threads share.
struct States<'a> {
    graph: &'a Graph,
    states: Vec<AtomicU8>,
}

impl States<'_> {
    fn undecided(graph: &Graph) -> States<'_> {
        States { graph, states: graph.vertices().map(|_| AtomicU8::new(UNDECIDED)).collect() }
    }

    fn is(&self, state: u8, vertex: u32) -> bool {
        self.states[vertex as usize].load(Relaxed) == state
    }

    /// Decides a vertex if the neighbors before it allow that. Returns whether the vertex stays undecided. Other threads may decide neighbors
    /// meanwhile: a decision is final, and depends on decisions only, so their order changes nothing.
    fn stays_undecided(&self, vertex: u32) -> bool {
        let before = || self.graph.neighbors(vertex).iter().take_while(|other| **other < vertex);
        if before().any(|&other| self.is(SELECTED, other)) {
            self.states[vertex as usize].store(REFUSED, Relaxed);
        } else if before().all(|&other| self.is(REFUSED, other)) {
            self.states[vertex as usize].store(SELECTED, Relaxed);
        }
        self.is(UNDECIDED, vertex)
    }
}

mod rayon {
    use super::{BLOCK, Graph, SELECTED, States};
    use rayon::prelude::*;

    pub(super) fn run(graph: &Graph) -> Vec<u32> {
        let states = States::undecided(graph);
        for block in graph.vertices().step_by(BLOCK) {
            let end = graph.vertices().end.min(block + BLOCK as u32);
            let mut waiting: Vec<u32> = (block..end).collect();
            while !waiting.is_empty() {
                waiting = waiting.into_par_iter().filter(|&vertex| states.stays_undecided(vertex)).collect();
            }
        }
        graph.vertices().into_par_iter().filter(|&vertex| states.is(SELECTED, vertex)).collect()
    }
}

mod furcate {
    use super::{BLOCK, Graph, SELECTED, States};
    use furcate::prelude::*;

    pub(super) fn run(graph: &Graph) -> Vec<u32> {
        let states = States::undecided(graph);
        for block in graph.vertices().step_by(BLOCK) {
            let end = graph.vertices().end.min(block + BLOCK as u32);
            let mut waiting: Vec<u32> = (block..end).collect();
            while !waiting.is_empty() {
                waiting = waiting.into_par_iter().filter(|&vertex| states.stays_undecided(vertex)).collect();
            }
        }
        graph.vertices().into_par_iter().filter(|&vertex| states.is(SELECTED, vertex)).collect()
    }
}
