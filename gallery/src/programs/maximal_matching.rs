//! Selects edges, no two of which share an end, until no edge can be added (PBBS: maximalMatching).

use crate::graph::{Edges, shared_numbers};
use crate::inputs;
use crate::program::{Program, equal, reads};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub(super) const PROGRAM: Program = Program {
    name: "maximal_matching",
    suite: "PBBS",
    what: "the maximal matching that a greedy loop finds in a power-law graph, in random order of edges",
    unit: "vertices",
    size: 1 << 21,
    quick: 1 << 18,
    schedule: "",
    why: "faster: one thread copies the filtered edges together in rayon; in the long first rounds of each block the program waits for memory under both; the sequential column wins, because it looks at each edge once",
    source: include_str!("maximal_matching.rs"),
    case: |size| {
        let edges = inputs::power_law_edges(size);
        reads(edges, [sequential::run, rayon::run, furcate::run], check)
    },
};

/// The partner of a vertex that has no partner.
const NOBODY: u32 = u32::MAX;

/// Checks that partners are the ends of an edge, and that no edge can be added.
fn check(edges: &Edges, partners: &Vec<u32>) -> Result<(), String> {
    equal(partners, &sequential::run(edges))?;
    let partner = |vertex: u32| partners[vertex as usize];
    let mut is_paired = vec![false; edges.vertex_count];
    for &[a, b] in &edges.ends {
        if partner(a) == NOBODY && partner(b) == NOBODY {
            return Err(format!("{a} and {b} can be partners"));
        }
        if partner(a) == b && partner(b) == a {
            [a, b].iter().for_each(|&end| is_paired[end as usize] = true);
        }
    }
    equal(&is_paired, &partners.iter().map(|&partner| partner != NOBODY).collect())
}

mod sequential {
    use super::{Edges, NOBODY};

    pub(super) fn run(edges: &Edges) -> Vec<u32> {
        let mut partners = vec![NOBODY; edges.vertex_count];
        for &[a, b] in &edges.ends {
            if partners[a as usize] == NOBODY && partners[b as usize] == NOBODY {
                partners[a as usize] = b;
                partners[b as usize] = a;
            }
        }
        partners
    }
}

// Edges are decided in blocks. In a round, each edge of the block whose ends are both free bids for its ends. For each end, the first
// edge in the order wins. Then the edges that have won both ends are selected, and the others release an end that they have won.
const BLOCK: usize = 1 << 18;
const NO_EDGE: u32 = u32::MAX;

/// A matching that threads share.
struct Matching<'a> {
    edges: &'a Edges,
    partners: Vec<AtomicU32>,
    /// For each vertex, the first edge that bids for it in this round.
    holders: Vec<AtomicU32>,
}

impl Matching<'_> {
    fn new(edges: &Edges) -> Matching<'_> {
        let numbers = |number| shared_numbers(edges.vertex_count, number);
        Matching { edges, partners: numbers(NOBODY), holders: numbers(NO_EDGE) }
    }

    fn ends(&self, edge: u32) -> [usize; 2] {
        self.edges.ends[edge as usize].map(|end| end as usize)
    }

    /// Bids for an edge's ends if both are free. Returns whether they are.
    fn bids(&self, edge: u32) -> bool {
        let ends = self.ends(edge);
        let are_free = ends.iter().all(|&end| self.partners[end].load(Relaxed) == NOBODY);
        if are_free {
            for holder in ends.map(|end| &self.holders[end]) {
                if holder.load(Relaxed) > edge {
                    holder.fetch_min(edge, Relaxed);
                }
            }
        }
        are_free
    }

    /// Selects an edge that has won both ends. Any other edge releases an end that it has won. Returns whether the edge has lost an end.
    fn loses(&self, edge: u32) -> bool {
        let [a, b] = self.ends(edge);
        let held = [a, b].map(|end| self.holders[end].load(Relaxed) == edge);
        if held == [true, true] {
            self.partners[a].store(b as u32, Relaxed);
            self.partners[b].store(a as u32, Relaxed);
            return false;
        }
        for (end, is_held) in [a, b].into_iter().zip(held) {
            if is_held {
                self.holders[end].store(NO_EDGE, Relaxed);
            }
        }
        true
    }
}

mod rayon {
    use super::{BLOCK, Edges, Matching};
    use crate::graph::into_numbers;
    use rayon::prelude::*;

    pub(super) fn run(edges: &Edges) -> Vec<u32> {
        let matching = Matching::new(edges);
        for block in (0..edges.ends.len()).step_by(BLOCK) {
            let end = edges.ends.len().min(block + BLOCK);
            let mut waiting: Vec<u32> = (block as u32..end as u32).collect();
            while !waiting.is_empty() {
                waiting = waiting.into_par_iter().filter(|&edge| matching.bids(edge)).collect();
                waiting = waiting.into_par_iter().filter(|&edge| matching.loses(edge)).collect();
            }
        }
        into_numbers(matching.partners)
    }
}

mod furcate {
    use super::{BLOCK, Edges, Matching};
    use crate::graph::into_numbers;
    use furcate::prelude::*;

    pub(super) fn run(edges: &Edges) -> Vec<u32> {
        let matching = Matching::new(edges);
        for block in (0..edges.ends.len()).step_by(BLOCK) {
            let end = edges.ends.len().min(block + BLOCK);
            let mut waiting: Vec<u32> = (block as u32..end as u32).collect();
            while !waiting.is_empty() {
                waiting = waiting.into_par_iter().filter(|&edge| matching.bids(edge)).collect();
                waiting = waiting.into_par_iter().filter(|&edge| matching.loses(edge)).collect();
            }
        }
        into_numbers(matching.partners)
    }
}
