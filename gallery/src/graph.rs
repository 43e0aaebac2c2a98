//! Undirected graphs, as lists of edges and in compressed form.

use std::ops::Range;
use std::sync::atomic::AtomicU32;

/// A list of edges, in the generator's order. An edge may occur more than once. No edge connects a vertex with itself.
#[derive(Clone, Debug)]
pub struct Edges {
    /// The number of vertices. All ends are less than this number.
    pub vertex_count: usize,
    /// Both ends of each edge.
    pub ends: Vec<[u32; 2]>,
}

/// A graph in compressed form: one array with the neighbors of all vertices, and for each vertex the place where its neighbors begin.
///
/// Each edge is stored in both directions. A vertex's neighbors are in ascending order, each of them once.
#[derive(Clone, Debug)]
pub struct Graph {
    offsets: Vec<usize>,
    targets: Vec<u32>,
}

impl Graph {
    /// Makes a graph from a list of edges.
    #[must_use]
    pub fn new(edges: &Edges) -> Graph {
        let both_ways = |&[a, b]: &[u32; 2]| [[a, b], [b, a]];
        let mut arcs: Vec<[u32; 2]> = edges.ends.iter().flat_map(both_ways).collect();
        arcs.sort_unstable();
        arcs.dedup();
        let mut offsets = vec![0; edges.vertex_count + 1];
        for arc in &arcs {
            offsets[arc[0] as usize + 1] += 1;
        }
        for vertex in 0..edges.vertex_count {
            offsets[vertex + 1] += offsets[vertex];
        }
        Graph { offsets, targets: arcs.iter().map(|arc| arc[1]).collect() }
    }

    /// Returns the number of vertices.
    #[must_use]
    pub fn vertex_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of edges, counting both directions.
    #[must_use]
    pub fn arc_count(&self) -> usize {
        self.targets.len()
    }

    /// Returns all vertices.
    #[must_use]
    pub fn vertices(&self) -> Range<u32> {
        0..self.vertex_count() as u32
    }

    /// Returns the neighbors of a vertex, in ascending order.
    #[must_use]
    pub fn neighbors(&self, vertex: u32) -> &[u32] {
        &self.targets[self.offsets[vertex as usize]..self.offsets[vertex as usize + 1]]
    }

    /// Returns the number of neighbors of a vertex.
    #[must_use]
    pub fn degree(&self, vertex: u32) -> usize {
        self.neighbors(vertex).len()
    }
}

/// Makes an array of numbers that threads share.
#[must_use]
pub fn shared_numbers(count: usize, value: u32) -> Vec<AtomicU32> {
    (0..count).map(|_| AtomicU32::new(value)).collect()
}

/// Returns the numbers as a plain array.
#[must_use]
pub fn into_numbers(shared: Vec<AtomicU32>) -> Vec<u32> {
    shared.into_iter().map(AtomicU32::into_inner).collect()
}
