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
    why: "each level is a parallel loop of a fraction of a millisecond, and furcate begins and ends such a loop faster",
    source: include_str!("breadth_first_search.rs"),
    case: |size| {
        let graph = Graph::new(&inputs::grid_edges(size.max(1)));
        reads(graph, [sequential::run, rayon::run, furcate::run], |graph, distances| {
            equal(distances, &sequential::run(graph))
        })
    },
};

/// The distance of a vertex that has not been reached.
pub(super) const UNREACHED: u32 = u32::MAX;

/// Returns the distances from a vertex, by a queue, for the check of another search.
pub(super) fn by_queue(graph: &Graph, start: u32) -> Vec<u32> {
    sequential::search(graph, start)
}

mod sequential {
    use super::{Graph, UNREACHED};
    use std::collections::VecDeque;

    pub(super) fn run(graph: &Graph) -> Vec<u32> {
        search(graph, 0)
    }

    pub(super) fn search(graph: &Graph, start: u32) -> Vec<u32> {
        let mut distances = vec![UNREACHED; graph.vertex_count()];
        distances[start as usize] = 0;
        let mut queue = VecDeque::from([start]);
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
            // If several threads find a vertex, only one of them puts the vertex into the next level.
            let is_new = |vertex: &u32| {
                let place = &distances[*vertex as usize];
                place.load(Relaxed) == UNREACHED
                    && place.compare_exchange(UNREACHED, distance, Relaxed, Relaxed).is_ok()
            };
            let new_neighbors = |&vertex: &u32| graph.neighbors(vertex).iter().copied().filter(is_new);
            level = level.par_iter().flat_map_iter(new_neighbors).collect();
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
            // If several threads find a vertex, only one of them puts the vertex into the next level.
            let is_new = |vertex: &u32| {
                let place = &distances[*vertex as usize];
                place.load(Relaxed) == UNREACHED
                    && place.compare_exchange(UNREACHED, distance, Relaxed, Relaxed).is_ok()
            };
            let new_neighbors = |&vertex: &u32| graph.neighbors(vertex).iter().copied().filter(is_new);
            level = level.par_iter().flat_map_iter(new_neighbors).collect();
        }
        into_numbers(distances)
    }
}
