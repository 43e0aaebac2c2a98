//! Finds the distance of each vertex from the first one, level by level (PBBS: breadthFirstSearch).

use crate::graph::Graph;
use crate::inputs;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "breadth_first_search",
    suite: "PBBS",
    what: "breadth-first distances in a cubic grid, with a few hundred short levels",
    unit: "vertices",
    size: 1 << 21,
    quick: 200_000,
    schedule: "",
    why: "faster: each level is a parallel loop of a fraction of a millisecond; rayon hands a call from outside its pool over to a worker, while the caller sleeps, and furcate's caller takes part itself; besides, one thread copies each level together in rayon",
    source: include_str!("breadth_first_search.rs"),
    case: |size| {
        let graph = Graph::new(&inputs::grid_edges(size.max(1)));
        reads(graph, [sequential::run, rayon::run, furcate::run], |graph, distances| {
            check(graph, 0, distances)
        })
    },
};

/// The distance of a vertex that has not been reached.
pub(super) const UNREACHED: u32 = u32::MAX;

/// Checks that the start has distance 0, and each other vertex one more than its nearest neighbor.
pub(super) fn check(graph: &Graph, start: u32, distances: &[u32]) -> Result<(), String> {
    equal(&distances.len(), &graph.vertex_count())?;
    let expected = |vertex: u32| {
        let neighbors = graph.neighbors(vertex).iter().map(|&neighbor| distances[neighbor as usize]);
        if vertex == start { 0 } else { neighbors.min().unwrap_or(UNREACHED).saturating_add(1) }
    };
    equal(&graph.vertices().find(|&vertex| distances[vertex as usize] != expected(vertex)), &None)
}

mod sequential {
    use super::{Graph, UNREACHED};
    use std::collections::VecDeque;

    pub(super) fn run(graph: &Graph) -> Vec<u32> {
        let mut distances = vec![UNREACHED; graph.vertex_count()];
        distances[0] = 0;
        let mut queue = VecDeque::from([0]);
        while let Some(vertex) = queue.pop_front() {
            for &neighbor in graph.neighbors(vertex) {
                if distances[neighbor as usize] == UNREACHED {
                    distances[neighbor as usize] = distances[vertex as usize] + 1;
                    queue.push_back(neighbor);
                }
            }
        }
        distances
    }
}

mod rayon {
    use super::{Graph, UNREACHED};
    use crate::graph::{into_numbers, shared_numbers};
    use rayon::prelude::*;
    use std::sync::atomic::Ordering::Relaxed;

    pub(super) fn run(graph: &Graph) -> Vec<u32> {
        let distances = shared_numbers(graph.vertex_count(), UNREACHED);
        distances[0].store(0, Relaxed);
        let (mut level, mut distance) = (vec![0], 0);
        while !level.is_empty() {
            distance += 1;
            // If several threads reach a vertex, only one of them puts the vertex into the next level.
            let claim = |vertex: &u32| {
                let place = &distances[*vertex as usize];
                place.load(Relaxed) == UNREACHED
                    && place.compare_exchange(UNREACHED, distance, Relaxed, Relaxed).is_ok()
            };
            let claimed = |&vertex: &u32| graph.neighbors(vertex).iter().copied().filter(claim);
            level = level.par_iter().flat_map_iter(claimed).collect();
        }
        into_numbers(distances)
    }
}

mod furcate {
    use super::{Graph, UNREACHED};
    use crate::graph::{into_numbers, shared_numbers};
    use furcate::prelude::*;
    use std::sync::atomic::Ordering::Relaxed;

    pub(super) fn run(graph: &Graph) -> Vec<u32> {
        let distances = shared_numbers(graph.vertex_count(), UNREACHED);
        distances[0].store(0, Relaxed);
        let (mut level, mut distance) = (vec![0], 0);
        while !level.is_empty() {
            distance += 1;
            // If several threads reach a vertex, only one of them puts the vertex into the next level.
            let claim = |vertex: &u32| {
                let place = &distances[*vertex as usize];
                place.load(Relaxed) == UNREACHED
                    && place.compare_exchange(UNREACHED, distance, Relaxed, Relaxed).is_ok()
            };
            let claimed = |&vertex: &u32| graph.neighbors(vertex).iter().copied().filter(claim);
            level = level.par_iter().flat_map_iter(claimed).collect();
        }
        into_numbers(distances)
    }
}
