//! Counts the triangles of a graph, each one at its vertex of the least degree (classic: triangle counting).

use crate::graph::Graph;
use crate::inputs;
use crate::program::{Program, equal, reads};
use std::cmp::Ordering;

pub(super) const PROGRAM: Program = Program {
    name: "triangle_count",
    suite: "classic",
    what: "the number of triangles of a power-law graph, by intersections of sorted lists",
    unit: "vertices",
    size: 1 << 17,
    quick: 1 << 13,
    schedule: "",
    why: "a tie: both libraries make enough parts to balance the few vertices with long lists",
    source: include_str!("triangle_count.rs"),
    case: |size| {
        let graph = Graph::new(&inputs::power_law_edges(size));
        reads(graph, [sequential::run, rayon::run, furcate::run], |graph, count| {
            equal(count, &by_table(graph))
        })
    },
};

/// Returns the neighbors of greater degree, in ascending order. Of two vertices of one degree, the greater number counts as greater.
fn greater_neighbors(graph: &Graph, vertex: u32) -> Vec<u32> {
    let rank = |vertex: u32| (graph.degree(vertex), vertex);
    graph.neighbors(vertex).iter().copied().filter(|&other| rank(other) > rank(vertex)).collect()
}

/// Counts the numbers that two ascending lists have in common.
fn common(mut left: &[u32], mut right: &[u32]) -> u64 {
    let mut count = 0;
    while let ([a, left_rest @ ..], [b, right_rest @ ..]) = (left, right) {
        match a.cmp(b) {
            Ordering::Less => left = left_rest,
            Ordering::Greater => right = right_rest,
            Ordering::Equal => {
                count += 1;
                (left, right) = (left_rest, right_rest);
            }
        }
    }
    count
}

/// Counts the triangles by a table of one vertex's neighbors at a time, for the check. Each triangle is found at each of its edges.
fn by_table(graph: &Graph) -> u64 {
    let mut is_neighbor = vec![false; graph.vertex_count()];
    let mut count = 0;
    for vertex in graph.vertices() {
        let neighbors = graph.neighbors(vertex);
        neighbors.iter().for_each(|&other| is_neighbor[other as usize] = true);
        // At the end of greater degree, the edge's other list is the shorter one.
        let is_less = |other: u32| (graph.degree(other), other) < (graph.degree(vertex), vertex);
        for &other in neighbors.iter().filter(|other| is_less(**other)) {
            let thirds = graph.neighbors(other).iter();
            count += thirds.filter(|third| is_neighbor[**third as usize]).count() as u64;
        }
        neighbors.iter().for_each(|&other| is_neighbor[other as usize] = false);
    }
    count / 3
}

mod sequential {
    use super::{Graph, common, greater_neighbors};

    pub(super) fn run(graph: &Graph) -> u64 {
        let lists: Vec<_> = graph.vertices().map(|vertex| greater_neighbors(graph, vertex)).collect();
        let triangles =
            |list: &Vec<u32>| -> u64 { list.iter().map(|&other| common(list, &lists[other as usize])).sum() };
        lists.iter().map(triangles).sum()
    }
}

mod rayon {
    use super::{Graph, common, greater_neighbors};
    use rayon::prelude::*;

    pub(super) fn run(graph: &Graph) -> u64 {
        let vertices = graph.vertices().into_par_iter();
        let lists: Vec<_> = vertices.map(|vertex| greater_neighbors(graph, vertex)).collect();
        let triangles =
            |list: &Vec<u32>| -> u64 { list.iter().map(|&other| common(list, &lists[other as usize])).sum() };
        lists.par_iter().map(triangles).sum()
    }
}

mod furcate {
    use super::{Graph, common, greater_neighbors};
    use furcate::prelude::*;

    pub(super) fn run(graph: &Graph) -> u64 {
        let vertices = graph.vertices().into_par_iter();
        let lists: Vec<_> = vertices.map(|vertex| greater_neighbors(graph, vertex)).collect();
        let triangles =
            |list: &Vec<u32>| -> u64 { list.iter().map(|&other| common(list, &lists[other as usize])).sum() };
        lists.par_iter().map(triangles).sum()
    }
}
