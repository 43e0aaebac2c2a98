//! Selects the lightest edges that keep connected vertices connected (PBBS: minSpanningForest).

use crate::graph::Edges;
use crate::inputs;
use crate::program::{Program, equal, reads};
use crate::sets::{Sets, SharedSets};
use fastrand::Rng;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(super) const PROGRAM: Program = Program {
    name: "minimum_spanning_forest",
    suite: "PBBS",
    what: "a minimum spanning forest of a power-law graph: Kruskal's algorithm, and Borůvka's in parallel",
    unit: "vertices",
    size: 1 << 19,
    quick: 1 << 15,
    schedule: "",
    why: "somewhat faster: most of the time goes to filters that collect edges: rayon makes a vector for each leaf, and one thread copies them all together, while furcate copies them in parallel",
    source: include_str!("minimum_spanning_forest.rs"),
    case: |size| {
        let Edges { vertex_count, ends } = inputs::power_law_edges(size);
        let mut random = Rng::with_seed(5);
        let weighted = |(i, ends)| Edge { ends, weight: (u64::from(random.u32(..)) << 32) + i as u64 };
        let graph = Graph { vertex_count, edges: ends.into_iter().enumerate().map(weighted).collect() };
        reads(graph, [sequential::run, rayon::run, furcate::run], |graph, forest| {
            equal(forest, &sequential::run(graph))?;
            let mut sets = Sets::new(graph.vertex_count);
            graph.edges.iter().for_each(|edge| _ = sets.unite(edge.ends));
            let roots = (0..graph.vertex_count as u32).filter(|&vertex| sets.find(vertex) == vertex);
            equal(&forest.len(), &(graph.vertex_count - roots.count()))
        })
    },
};

/// An edge. All weights are different: their lower halves are the places in the graph's list.
#[derive(Clone, Copy)]
struct Edge {
    ends: [u32; 2],
    weight: u64,
}

impl Edge {
    /// Lowers the lightest weight of each end to the edge's own.
    fn bid(&self, lightest: &[AtomicU64]) {
        for place in self.ends.map(|end| &lightest[end as usize]) {
            if place.load(Relaxed) > self.weight {
                place.fetch_min(self.weight, Relaxed);
            }
        }
    }
}

struct Graph {
    vertex_count: usize,
    edges: Vec<Edge>,
}

impl Graph {
    /// Returns the ends of the edge with a weight.
    fn ends(&self, weight: u64) -> [u32; 2] {
        self.edges[weight as u32 as usize].ends
    }
}

mod sequential {
    use super::{Graph, Sets};

    /// Goes through the edges from the lightest to the heaviest one.
    pub(super) fn run(graph: &Graph) -> Vec<u64> {
        let mut sets = Sets::new(graph.vertex_count);
        let mut weights: Vec<u64> = graph.edges.iter().map(|edge| edge.weight).collect();
        weights.sort_unstable();
        weights.retain(|&weight| sets.unite(graph.ends(weight)));
        weights
    }
}

/// The weight of no edge: greater than all weights.
const NO_EDGE: u64 = u64::MAX;

mod rayon {
    use super::{Edge, Graph, NO_EDGE, SharedSets};
    use rayon::prelude::*;
    use std::borrow::Cow;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Unites each set with a neighbor, by the lightest edge that leaves the set, until no edge is left between two sets.
    pub(super) fn run(graph: &Graph) -> Vec<u64> {
        let sets = SharedSets::new(graph.vertex_count);
        let lightest: Vec<_> = (0..graph.vertex_count).map(|_| AtomicU64::new(NO_EDGE)).collect();
        // The graph's edges are not copied: the first round borrows them.
        let (mut forest, mut edges) = (Vec::new(), Cow::from(&graph.edges));
        let mut roots: Vec<u32> = (0..graph.vertex_count as u32).collect();
        while !edges.is_empty() {
            edges.par_iter().for_each(|edge| edge.bid(&lightest));
            let weights = roots.par_iter().map(|&root| lightest[root as usize].swap(NO_EDGE, Relaxed));
            // An edge may be the lightest one of two sets. `unite` returns true for it only once.
            forest.par_extend(weights.filter(|&weight| weight != NO_EDGE && sets.unite(graph.ends(weight))));
            roots = roots.into_par_iter().filter(|&root| sets.find(root) == root).collect();
            let between_sets = |edge: &Edge| {
                let [a, b] = edge.ends.map(|end| sets.find(end));
                (a != b).then_some(Edge { ends: [a, b], weight: edge.weight })
            };
            edges = Cow::Owned(edges.par_iter().filter_map(between_sets).collect());
        }
        forest.par_sort_unstable();
        forest
    }
}

mod furcate {
    use super::{Edge, Graph, NO_EDGE, SharedSets};
    use furcate::prelude::*;
    use std::borrow::Cow;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Unites each set with a neighbor, by the lightest edge that leaves the set, until no edge is left between two sets.
    pub(super) fn run(graph: &Graph) -> Vec<u64> {
        let sets = SharedSets::new(graph.vertex_count);
        let lightest: Vec<_> = (0..graph.vertex_count).map(|_| AtomicU64::new(NO_EDGE)).collect();
        // The graph's edges are not copied: the first round borrows them.
        let (mut forest, mut edges) = (Vec::new(), Cow::from(&graph.edges));
        let mut roots: Vec<u32> = (0..graph.vertex_count as u32).collect();
        while !edges.is_empty() {
            edges.par_iter().for_each(|edge| edge.bid(&lightest));
            let weights = roots.par_iter().map(|&root| lightest[root as usize].swap(NO_EDGE, Relaxed));
            // An edge may be the lightest one of two sets. `unite` returns true for it only once.
            forest.par_extend(weights.filter(|&weight| weight != NO_EDGE && sets.unite(graph.ends(weight))));
            roots = roots.into_par_iter().filter(|&root| sets.find(root) == root).collect();
            let between_sets = |edge: &Edge| {
                let [a, b] = edge.ends.map(|end| sets.find(end));
                (a != b).then_some(Edge { ends: [a, b], weight: edge.weight })
            };
            edges = Cow::Owned(edges.par_iter().filter_map(between_sets).collect());
        }
        forest.par_sort_unstable();
        forest
    }
}
