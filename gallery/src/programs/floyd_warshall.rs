//! Finds the lengths of the shortest paths between all pairs of vertices (classic: Floyd and Warshall).

use crate::program::{Program, changes, equal};
use fastrand::Rng;

pub(super) const PROGRAM: Program = Program {
    name: "floyd_warshall",
    suite: "classic",
    what: "the shortest paths between all pairs of vertices",
    unit: "vertices",
    size: 1200,
    quick: 384,
    schedule: "",
    why: "there are a thousand parallel loops of a fraction of a millisecond each, so the cost to begin and end a loop shows, but only a little",
    source: include_str!("floyd_warshall.rs"),
    case: |size| {
        changes(random_lengths(size), [sequential::run, rayon::run, furcate::run], |lengths, paths| {
            let mut expected = lengths.clone();
            sequential::run(&mut expected);
            equal(&paths.cells, &expected.cells)
        })
    },
};

/// The lengths of paths between all pairs, row by row.
#[derive(Clone)]
struct Matrix {
    size: usize,
    cells: Vec<i32>,
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

/// Shortens the paths from one vertex, where the path by way of the vertex `way` is shorter. `paths` are the paths from `way`.
fn shorten(row: &mut [i32], way: usize, paths: &[i32]) {
    let first = row[way];
    for (length, rest) in row.iter_mut().zip(paths) {
        *length = (*length).min(first + rest);
    }
}

mod sequential {
    use super::{Matrix, shorten};

    pub(super) fn run(matrix: &mut Matrix) {
        let size = matrix.size;
        for way in 0..size {
            let paths = matrix.cells[way * size..][..size].to_vec();
            matrix.cells.chunks_mut(size).for_each(|row| shorten(row, way, &paths));
        }
    }
}

mod rayon {
    use super::{Matrix, shorten};
    use rayon::prelude::*;

    pub(super) fn run(matrix: &mut Matrix) {
        let size = matrix.size;
        for way in 0..size {
            let paths = matrix.cells[way * size..][..size].to_vec();
            matrix.cells.par_chunks_mut(size).for_each(|row| shorten(row, way, &paths));
        }
    }
}

mod furcate {
    use super::{Matrix, shorten};
    use furcate::prelude::*;

    pub(super) fn run(matrix: &mut Matrix) {
        let size = matrix.size;
        for way in 0..size {
            let paths = matrix.cells[way * size..][..size].to_vec();
            matrix.cells.par_chunks_mut(size).for_each(|row| shorten(row, way, &paths));
        }
    }
}
