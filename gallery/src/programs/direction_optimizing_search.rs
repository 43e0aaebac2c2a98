//! Breadth-first search that changes its direction: in most levels, vertices look for unreached neighbors; in wide levels, unreached vertices
//! look for a parent (PBBS: backForwardBFS).

use super::breadth_first_search::{UNREACHED, check};
use crate::graph::Graph;
use crate::inputs;
use crate::program::{Program, equal, reads};
use std::ops::Range;

pub(super) const PROGRAM: Program = Program {
    name: "direction_optimizing_search",
    suite: "PBBS",
    what: "breadth-first distances from 16 vertices of a power-law graph, by forward and backward steps",
    unit: "vertices",
    size: 1 << 19,
    quick: 1 << 15,
    schedule: "",
    why: "about a tie: the levels are few and long, and the program waits for memory; rayon's filters make a vector for each leaf, which one thread copies together, but most of the time goes to the search",
    source: include_str!("direction_optimizing_search.rs"),
    case: |size| {
        let graph = Graph::new(&inputs::power_law_edges(size.max(STARTS.len())));
        reads(graph, [sequential::run, rayon::run, furcate::run], |graph, distances| {
            equal(&distances.len(), &STARTS.len())?;
            STARTS.zip(distances).try_for_each(|(start, distances)| check(graph, start, distances))
        })
    },
};

/// The vertices from which searches start, one after the other.
const STARTS: Range<u32> = 0..16;

/// Whether a level is wide: `arcs` edges leave it, so many that unreached vertices should look for a parent in the level.
fn is_wide(arcs: usize, graph: &Graph) -> bool {
    arcs > graph.arc_count() / 20
}

mod sequential {
    use super::{Graph, STARTS, UNREACHED, is_wide};

    pub(super) fn run(graph: &Graph) -> Vec<Vec<u32>> {
        STARTS.map(|start| search(graph, start)).collect()
    }

    fn search(graph: &Graph, start: u32) -> Vec<u32> {
        let mut distances = vec![UNREACHED; graph.vertex_count()];
        distances[start as usize] = 0;
        let (mut level, mut distance) = (vec![start], 0);
        while !level.is_empty() {
            distance += 1;
            let arcs = level.iter().map(|&vertex| graph.degree(vertex)).sum();
            let mut next = Vec::new();
            if is_wide(arcs, graph) {
                for vertex in graph.vertices() {
                    let is_parent = |other: &u32| distances[*other as usize] == distance - 1;
                    if distances[vertex as usize] == UNREACHED
                        && graph.neighbors(vertex).iter().any(is_parent)
                    {
                        distances[vertex as usize] = distance;
                        next.push(vertex);
                    }
                }
            } else {
                for &neighbor in level.iter().flat_map(|&vertex| graph.neighbors(vertex)) {
                    if distances[neighbor as usize] == UNREACHED {
                        distances[neighbor as usize] = distance;
                        next.push(neighbor);
                    }
                }
            }
            level = next;
        }
        distances
    }
}

mod rayon {
    use super::{Graph, STARTS, UNREACHED, is_wide};
    use crate::graph::{into_numbers, shared_numbers};
    use rayon::prelude::*;
    use std::sync::atomic::Ordering::Relaxed;

    pub(super) fn run(graph: &Graph) -> Vec<Vec<u32>> {
        STARTS.map(|start| search(graph, start)).collect()
    }

    fn search(graph: &Graph, start: u32) -> Vec<u32> {
        let distances = shared_numbers(graph.vertex_count(), UNREACHED);
        let distance_of = |vertex: u32| distances[vertex as usize].load(Relaxed);
        distances[start as usize].store(0, Relaxed);
        let (mut level, mut distance) = (vec![start], 0);
        while !level.is_empty() {
            distance += 1;
            let arcs = level.par_iter().map(|&vertex| graph.degree(vertex)).sum();
            // If several threads reach a vertex, only one of them puts the vertex into the next level. (Backward, one thread sees each vertex.)
            let claim = |&vertex: &u32| {
                let place = &distances[vertex as usize];
                distance_of(vertex) == UNREACHED
                    && place.compare_exchange(UNREACHED, distance, Relaxed, Relaxed).is_ok()
            };
            level = if is_wide(arcs, graph) {
                let is_parent = |&other: &u32| distance_of(other) == distance - 1;
                let has_parent = |&vertex: &u32| {
                    distance_of(vertex) == UNREACHED && graph.neighbors(vertex).iter().any(is_parent)
                };
                graph.vertices().into_par_iter().filter(has_parent).filter(claim).collect()
            } else {
                let claimed = |&vertex: &u32| graph.neighbors(vertex).iter().copied().filter(claim);
                level.par_iter().flat_map_iter(claimed).collect()
            };
        }
        into_numbers(distances)
    }
}

mod furcate {
    use super::{Graph, STARTS, UNREACHED, is_wide};
    use crate::graph::{into_numbers, shared_numbers};
    use furcate::prelude::*;
    use std::sync::atomic::Ordering::Relaxed;

    pub(super) fn run(graph: &Graph) -> Vec<Vec<u32>> {
        STARTS.map(|start| search(graph, start)).collect()
    }

    fn search(graph: &Graph, start: u32) -> Vec<u32> {
        let distances = shared_numbers(graph.vertex_count(), UNREACHED);
        let distance_of = |vertex: u32| distances[vertex as usize].load(Relaxed);
        distances[start as usize].store(0, Relaxed);
        let (mut level, mut distance) = (vec![start], 0);
        while !level.is_empty() {
            distance += 1;
            let arcs = level.par_iter().map(|&vertex| graph.degree(vertex)).sum();
            // If several threads reach a vertex, only one of them puts the vertex into the next level. (Backward, one thread sees each vertex.)
            let claim = |&vertex: &u32| {
                let place = &distances[vertex as usize];
                distance_of(vertex) == UNREACHED
                    && place.compare_exchange(UNREACHED, distance, Relaxed, Relaxed).is_ok()
            };
            level = if is_wide(arcs, graph) {
                let is_parent = |&other: &u32| distance_of(other) == distance - 1;
                let has_parent = |&vertex: &u32| {
                    distance_of(vertex) == UNREACHED && graph.neighbors(vertex).iter().any(is_parent)
                };
                graph.vertices().into_par_iter().filter(has_parent).filter(claim).collect()
            } else {
                let claimed = |&vertex: &u32| graph.neighbors(vertex).iter().copied().filter(claim);
                level.par_iter().flat_map_iter(claimed).collect()
            };
        }
        into_numbers(distances)
    }
}
