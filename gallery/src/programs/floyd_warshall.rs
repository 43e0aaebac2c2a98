//! Finds the lengths of the shortest paths between all pairs of vertices (classic: Floyd and Warshall).

use crate::program::{Program, changes, equal, sample};
use fastrand::Rng;

pub(super) const PROGRAM: Program = Program {
    name: "floyd_warshall",
    suite: "classic",
    what: "the shortest paths between all pairs of vertices",
    unit: "vertices",
    size: 1200,
    quick: 384,
    schedule: "",
    why: "faster: there are a thousand parallel loops of a fraction of a millisecond each; rayon hands a call from outside its pool over to a worker, while the caller sleeps, and furcate's caller takes part itself",
    source: include_str!("floyd_warshall.rs"),
    case: |size| {
        changes(random_lengths(size), [sequential::run, rayon::run, furcate::run], |lengths, paths| {
            let mut expected = lengths.clone();
            sequential::run(&mut expected);
            equal(&paths.cells, &expected.cells)?;
            sample(0..paths.size, 10)
                .try_for_each(|source| equal(paths.row(source), &by_dijkstra(lengths, source)))
        })
    },
};

/// The lengths of paths between all pairs, row by row.
#[derive(Clone)]
struct Matrix {
    size: usize,
    cells: Vec<i32>,
}

impl Matrix {
    fn row(&self, vertex: usize) -> &[i32] {
        &self.cells[vertex * self.size..][..self.size]
    }
}

/// The length of a path that does not exist. The sum of two such lengths does not overflow.
const NO_PATH: i32 = i32::MAX / 2;

/// Makes a graph in which each vertex has 16 edges on average.
fn random_lengths(size: usize) -> Matrix {
    let mut random = Rng::with_seed(6);
    let mut length = || if random.usize(..size) < 16 { random.i32(1..1000) } else { NO_PATH };
    let mut cells: Vec<i32> = (0..size * size).map(|_| length()).collect();
    for vertex in 0..size {
        cells[vertex * size + vertex] = 0;
    }
    Matrix { size, cells }
}

/// Shortens the paths from one vertex, where the path by way of the vertex `via` is shorter. `paths` are the paths from `via`.
#[inline(never)]
fn shorten(row: &mut [i32], via: usize, paths: &[i32]) {
    let first = row[via];
    for (length, rest) in row.iter_mut().zip(paths) {
        *length = (*length).min(first + rest);
    }
}

/// Returns the lengths of the shortest paths from one vertex, by Dijkstra's algorithm, for the check.
fn by_dijkstra(lengths: &Matrix, source: usize) -> Vec<i32> {
    let mut paths = lengths.row(source).to_vec();
    let mut left: Vec<usize> = (0..lengths.size).collect();
    while let Some(place) = (0..left.len()).min_by_key(|&place| paths[left[place]]) {
        let nearest = left.swap_remove(place);
        for &vertex in &left {
            paths[vertex] = paths[vertex].min(paths[nearest] + lengths.row(nearest)[vertex]);
        }
    }
    paths
}

mod sequential {
    use super::{Matrix, shorten};

    pub(super) fn run(matrix: &mut Matrix) {
        let size = matrix.size;
        for via in 0..size {
            let paths = matrix.row(via).to_vec();
            matrix.cells.chunks_mut(size).for_each(|row| shorten(row, via, &paths));
        }
    }
}

mod rayon {
    use super::{Matrix, shorten};
    use rayon::prelude::*;

    pub(super) fn run(matrix: &mut Matrix) {
        let size = matrix.size;
        for via in 0..size {
            let paths = matrix.row(via).to_vec();
            matrix.cells.par_chunks_mut(size).for_each(|row| shorten(row, via, &paths));
        }
    }
}

mod furcate {
    use super::{Matrix, shorten};
    use furcate::prelude::*;

    pub(super) fn run(matrix: &mut Matrix) {
        let size = matrix.size;
        for via in 0..size {
            let paths = matrix.row(via).to_vec();
            matrix.cells.par_chunks_mut(size).for_each(|row| shorten(row, via, &paths));
        }
    }
}
