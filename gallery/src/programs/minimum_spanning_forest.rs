//! Selects the lightest edges that keep connected vertices connected (PBBS: minSpanningForest).

use crate::graph::Edges;
use crate::inputs;
use crate::program::{Program, equal, reads};
use crate::sets::{Sets, SharedSets};
use fastrand::Rng;

pub(super) const PROGRAM: Program = Program {
    name: "minimum_spanning_forest",
    suite: "PBBS",
    what: "a minimum spanning forest of a power-law graph: Kruskal's algorithm, and Borůvka's in parallel",
    unit: "vertices",
    size: 1 << 19,
    quick: 1 << 15,
    schedule: "",
    why: "the lists of edges and roots shrink with each round, so the last loops over them are short and cost less in furcate",
    source: include_str!("minimum_spanning_forest.rs"),
    case: |size| {
        let Edges { vertex_count, ends } = inputs::power_law_edges(size);
        let mut random = Rng::with_seed(5);
        let weighted = |(i, ends)| Edge { ends, weight: (u64::from(random.u32(..)) << 32) + i as u64 };
        let graph = Graph { vertex_count, edges: ends.into_iter().enumerate().map(weighted).collect() };
        reads(graph, [sequential::run, rayon::run, furcate::run], |graph, forest| {
            equal(forest, &sequential::run(graph))
        })
    },
};

/// An edge. All weights are different: their lower halves are the places in the graph's list.
#[derive(Clone, Copy)]
struct Edge {
    ends: [u32; 2],
    weight: u64,
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
        weights.retain(|&weight| {
            let [a, b] = graph.ends(weight);
            sets.unite(a, b)
        });
        weights
    }
}

/// The weight of no edge: greater than all weights.
const NO_EDGE: u64 = u64::MAX;

mod rayon {
    use super::{Edge, Graph, NO_EDGE, SharedSets};
    use rayon::prelude::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Unites each set with a neighbor, by the lightest edge that leaves the set, until no edge is left between two sets.
    pub(super) fn run(graph: &Graph) -> Vec<u64> {
        let sets = SharedSets::new(graph.vertex_count);
        let lightest: Vec<_> = (0..graph.vertex_count).map(|_| AtomicU64::new(NO_EDGE)).collect();
        let (mut forest, mut edges) = (Vec::new(), graph.edges.clone());
        let mut roots: Vec<u32> = (0..graph.vertex_count as u32).collect();
        while !edges.is_empty() {
            edges.par_iter().for_each(|edge| {
                for place in edge.ends.map(|end| &lightest[end as usize]) {
                    if place.load(Relaxed) > edge.weight {
                        place.fetch_min(edge.weight, Relaxed);
                    }
                }
            });
            let weights = roots.par_iter().map(|&root| lightest[root as usize].swap(NO_EDGE, Relaxed));
            // An edge may be the lightest one of two sets. `unite` returns true for it only once.
            forest.par_extend(weights.filter(|&weight| {
                weight != NO_EDGE && {
                    let [a, b] = graph.ends(weight);
                    sets.unite(a, b)
                }
            }));
            roots = roots.into_par_iter().filter(|&root| sets.find(root) == root).collect();
            let between_sets = |edge: Edge| {
                let [a, b] = edge.ends.map(|end| sets.find(end));
                (a != b).then_some(Edge { ends: [a, b], weight: edge.weight })
            };
            edges = edges.into_par_iter().filter_map(between_sets).collect();
        }
        forest.par_sort_unstable();
        forest
    }
}

mod furcate {
    use super::{Edge, Graph, NO_EDGE, SharedSets};
    use furcate::prelude::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Unites each set with a neighbor, by the lightest edge that leaves the set, until no edge is left between two sets.
    pub(super) fn run(graph: &Graph) -> Vec<u64> {
        let sets = SharedSets::new(graph.vertex_count);
        let lightest: Vec<_> = (0..graph.vertex_count).map(|_| AtomicU64::new(NO_EDGE)).collect();
        let (mut forest, mut edges) = (Vec::new(), graph.edges.clone());
        let mut roots: Vec<u32> = (0..graph.vertex_count as u32).collect();
        while !edges.is_empty() {
            edges.par_iter().for_each(|edge| {
                for place in edge.ends.map(|end| &lightest[end as usize]) {
                    if place.load(Relaxed) > edge.weight {
                        place.fetch_min(edge.weight, Relaxed);
                    }
                }
            });
            let weights = roots.par_iter().map(|&root| lightest[root as usize].swap(NO_EDGE, Relaxed));
            // An edge may be the lightest one of two sets. `unite` returns true for it only once.
            forest.par_extend(weights.filter(|&weight| {
                weight != NO_EDGE && {
                    let [a, b] = graph.ends(weight);
                    sets.unite(a, b)
                }
            }));
            roots = roots.into_par_iter().filter(|&root| sets.find(root) == root).collect();
            let between_sets = |edge: Edge| {
                let [a, b] = edge.ends.map(|end| sets.find(end));
                (a != b).then_some(Edge { ends: [a, b], weight: edge.weight })
            };
            edges = edges.into_par_iter().filter_map(between_sets).collect();
        }
        forest.par_sort_unstable();
        forest
    }
}
