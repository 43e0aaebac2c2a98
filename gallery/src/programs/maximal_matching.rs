//! Selects edges, no two of which share an end, until no edge can be added (PBBS: maximalMatching).

use crate::graph::Edges;
use crate::inputs;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "maximal_matching",
    suite: "PBBS",
    what: "the maximal matching that a greedy loop finds in a power-law graph, in random order of edges",
    unit: "vertices",
    size: 1 << 21,
    quick: 1 << 18,
    schedule: "",
    why: "the first rounds of a block are long and wait for memory under both libraries; the last ones are short and cost less in furcate",
    source: include_str!("maximal_matching.rs"),
    case: |size| {
        let edges = inputs::power_law_edges(size);
        reads(edges, [sequential::run, rayon::run, furcate::run], |edges, partners| {
            equal(partners, &sequential::run(edges))
        })
    },
};

/// The partner of a vertex that has no partner.
const NOBODY: u32 = u32::MAX;

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

mod rayon {
    use super::{BLOCK, Edges, NO_EDGE, NOBODY};
    use crate::graph::{into_numbers, shared_numbers};
    use rayon::prelude::*;
    use std::sync::atomic::Ordering::Relaxed;

    pub(super) fn run(edges: &Edges) -> Vec<u32> {
        let partners = shared_numbers(edges.vertex_count, NOBODY);
        let holders = shared_numbers(edges.vertex_count, NO_EDGE);
        let ends = |edge: u32| edges.ends[edge as usize].map(|end| end as usize);
        let bids = |&edge: &u32| {
            let are_free = ends(edge).iter().all(|&end| partners[end].load(Relaxed) == NOBODY);
            if are_free {
                for holder in ends(edge).map(|end| &holders[end]) {
                    if holder.load(Relaxed) > edge {
                        holder.fetch_min(edge, Relaxed);
                    }
                }
            }
            are_free
        };
        let loses = |&edge: &u32| {
            let [a, b] = ends(edge);
            let held = [a, b].map(|end| holders[end].load(Relaxed) == edge);
            if held == [true, true] {
                partners[a].store(b as u32, Relaxed);
                partners[b].store(a as u32, Relaxed);
                return false;
            }
            for (end, is_held) in [a, b].into_iter().zip(held) {
                if is_held {
                    holders[end].store(NO_EDGE, Relaxed);
                }
            }
            true
        };
        for block in (0..edges.ends.len()).step_by(BLOCK) {
            let end = edges.ends.len().min(block + BLOCK);
            let mut waiting: Vec<u32> = (block as u32..end as u32).collect();
            while !waiting.is_empty() {
                waiting = waiting.into_par_iter().filter(bids).collect();
                waiting = waiting.into_par_iter().filter(loses).collect();
            }
        }
        into_numbers(partners)
    }
}

mod furcate {
    use super::{BLOCK, Edges, NO_EDGE, NOBODY};
    use crate::graph::{into_numbers, shared_numbers};
    use furcate::prelude::*;
    use std::sync::atomic::Ordering::Relaxed;

    pub(super) fn run(edges: &Edges) -> Vec<u32> {
        let partners = shared_numbers(edges.vertex_count, NOBODY);
        let holders = shared_numbers(edges.vertex_count, NO_EDGE);
        let ends = |edge: u32| edges.ends[edge as usize].map(|end| end as usize);
        let bids = |&edge: &u32| {
            let are_free = ends(edge).iter().all(|&end| partners[end].load(Relaxed) == NOBODY);
            if are_free {
                for holder in ends(edge).map(|end| &holders[end]) {
                    if holder.load(Relaxed) > edge {
                        holder.fetch_min(edge, Relaxed);
                    }
                }
            }
            are_free
        };
        let loses = |&edge: &u32| {
            let [a, b] = ends(edge);
            let held = [a, b].map(|end| holders[end].load(Relaxed) == edge);
            if held == [true, true] {
                partners[a].store(b as u32, Relaxed);
                partners[b].store(a as u32, Relaxed);
                return false;
            }
            for (end, is_held) in [a, b].into_iter().zip(held) {
                if is_held {
                    holders[end].store(NO_EDGE, Relaxed);
                }
            }
            true
        };
        for block in (0..edges.ends.len()).step_by(BLOCK) {
            let end = edges.ends.len().min(block + BLOCK);
            let mut waiting: Vec<u32> = (block as u32..end as u32).collect();
            while !waiting.is_empty() {
                waiting = waiting.into_par_iter().filter(bids).collect();
                waiting = waiting.into_par_iter().filter(loses).collect();
            }
        }
        into_numbers(partners)
    }
}
