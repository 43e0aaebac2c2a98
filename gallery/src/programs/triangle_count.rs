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
    schedule: ".adaptive()",
    why: "the lists differ much in length, and `adaptive` divides at each steal, but rayon makes enough parts to balance two threads",
    source: include_str!("triangle_count.rs"),
    case: |size| {
        let graph = Graph::new(&inputs::power_law_edges(size));
        reads(graph, [sequential::run, rayon::run, furcate::run], |graph, count| {
            equal(count, &sequential::run(graph))
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
        lists.par_iter().map(triangles).adaptive().sum()
    }
}
