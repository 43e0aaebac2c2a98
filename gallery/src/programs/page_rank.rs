//! Ranks vertices by the ranks of their neighbors (classic: PageRank).

use crate::graph::Graph;
use crate::inputs;
use crate::program::{Program, close, reads};

pub(super) const PROGRAM: Program = Program {
    name: "page_rank",
    suite: "classic",
    what: "the ranks of the vertices of a power-law graph, by 20 rounds of PageRank",
    unit: "vertices",
    size: 1 << 19,
    quick: 1 << 14,
    schedule: "",
    why: "somewhat faster in most runs: the program waits for memory, and furcate's caller takes part in its loops, while rayon's sleeps; both libraries make enough parts to balance vertices of different degrees",
    source: include_str!("page_rank.rs"),
    case: |size| {
        let graph = Graph::new(&inputs::power_law_edges(size));
        reads(graph, [sequential::run, rayon::run, furcate::run], |graph, ranks| {
            close(ranks, &sequential::run(graph), 1e-9)?;
            // Vertices with neighbors pass on all that they have, so their average stays 1. The others keep 0.15.
            let expected = |vertex| if graph.degree(vertex) > 0 { 1.0 } else { 0.15 };
            close(&[ranks.iter().sum()], &[graph.vertices().map(expected).sum()], 1e-9)
        })
    },
};

const ROUNDS: usize = 20;

/// Returns the rank of a vertex, from the shares that its neighbors give. Ranks are scaled so that their average is about 1.
#[inline(never)]
fn rank(graph: &Graph, vertex: u32, shares: &[f64]) -> f64 {
    let received: f64 = graph.neighbors(vertex).iter().map(|&neighbor| shares[neighbor as usize]).sum();
    0.15 + 0.85 * received
}

/// Returns a vertex's share for each of its neighbors. Where there are no neighbors, it is infinite, and is not used.
fn share(graph: &Graph, vertex: u32, ranks: &[f64]) -> f64 {
    ranks[vertex as usize] / graph.degree(vertex) as f64
}

mod sequential {
    use super::{Graph, ROUNDS, rank, share};

    pub(super) fn run(graph: &Graph) -> Vec<f64> {
        let mut ranks = vec![1.0; graph.vertex_count()];
        for _ in 0..ROUNDS {
            let shares: Vec<f64> = graph.vertices().map(|vertex| share(graph, vertex, &ranks)).collect();
            ranks = graph.vertices().map(|vertex| rank(graph, vertex, &shares)).collect();
        }
        ranks
    }
}

mod rayon {
    use super::{Graph, ROUNDS, rank, share};
    use rayon::prelude::*;

    pub(super) fn run(graph: &Graph) -> Vec<f64> {
        let vertices = || graph.vertices().into_par_iter();
        let mut ranks = vec![1.0; graph.vertex_count()];
        for _ in 0..ROUNDS {
            let shares: Vec<f64> = vertices().map(|vertex| share(graph, vertex, &ranks)).collect();
            ranks = vertices().map(|vertex| rank(graph, vertex, &shares)).collect();
        }
        ranks
    }
}

mod furcate {
    use super::{Graph, ROUNDS, rank, share};
    use furcate::prelude::*;

    pub(super) fn run(graph: &Graph) -> Vec<f64> {
        let vertices = || graph.vertices().into_par_iter();
        let mut ranks = vec![1.0; graph.vertex_count()];
        for _ in 0..ROUNDS {
            let shares: Vec<f64> = vertices().map(|vertex| share(graph, vertex, &ranks)).collect();
            ranks = vertices().map(|vertex| rank(graph, vertex, &shares)).collect();
        }
        ranks
    }
}
