//! Recursive matrix multiplication: few, even, coarse leaves.
//!
//! Matrices are stored by quadrants, recursively, down to row-major tiles. So a quadrant is a slice, and four of them
//! can be written at a time without `unsafe`.

use super::Program;
use crate::fork::Fork;

/// The side of a tile, the recursion's base case.
const TILE: usize = 64;

/// Multiplies two `n` x `n` matrices of `f32`; the four quadrants of the product are forked.
#[derive(Debug)]
pub struct Matmul {
    n: usize,
    a: Vec<f32>,
    b: Vec<f32>,
}

impl Matmul {
    /// Makes two matrices of small integers, whose product is exact.
    ///
    /// # Panics
    ///
    /// If `n` is not 64 times a power of two.
    #[must_use]
    pub fn new(n: usize) -> Self {
        assert!(n % TILE == 0 && (n / TILE).is_power_of_two(), "64 times a power of two");
        let matrix = |entry: fn(usize, usize) -> usize| {
            let mut matrix = vec![0.0; n * n];
            for row in 0..n {
                for column in 0..n {
                    matrix[offset(row, column)] = (entry(row, column) % 8) as f32 - 3.0;
                }
            }
            matrix
        };
        Self {
            n,
            a: matrix(|row, column| row * 7 + column * 3 + row * column),
            b: matrix(|row, column| row * 5 + column + row * row),
        }
    }
}

/// Returns the index of an entry: quadrant within quadrant, then row by row in its tile.
fn offset(row: usize, column: usize) -> usize {
    let (mut tile, mut place) = (0, 0);
    let (mut i, mut j) = (row / TILE, column / TILE);
    while i | j != 0 {
        tile |= ((i & 1) << 1 | (j & 1)) << place;
        (i, j, place) = (i / 2, j / 2, place + 2);
    }
    tile * TILE * TILE + (row % TILE) * TILE + column % TILE
}

/// Returns the quadrants, row by row.
fn quadrants(matrix: &[f32]) -> [&[f32]; 4] {
    let (upper, lower) = matrix.split_at(matrix.len() / 2);
    let (a, b) = upper.split_at(upper.len() / 2);
    let (c, d) = lower.split_at(lower.len() / 2);
    [a, b, c, d]
}

/// Returns the quadrants, row by row.
fn quadrants_mut(matrix: &mut [f32]) -> [&mut [f32]; 4] {
    let (upper, lower) = matrix.split_at_mut(matrix.len() / 2);
    let (a, b) = upper.split_at_mut(upper.len() / 2);
    let (c, d) = lower.split_at_mut(lower.len() / 2);
    [a, b, c, d]
}

/// `c += a * b` for tiles.
fn multiply_tiles(c: &mut [f32], a: &[f32], b: &[f32]) {
    for (c, a) in c.chunks_exact_mut(TILE).zip(a.chunks_exact(TILE)) {
        for (a, b) in a.iter().zip(b.chunks_exact(TILE)) {
            for (c, b) in c.iter_mut().zip(b) {
                *c += a * b;
            }
        }
    }
}

/// `c += a * b`.
fn plain(c: &mut [f32], a: &[f32], b: &[f32]) {
    if c.len() == TILE * TILE {
        return multiply_tiles(c, a, b);
    }
    let [a11, a12, a21, a22] = quadrants(a);
    let [b11, b12, b21, b22] = quadrants(b);
    let [c11, c12, c21, c22] = quadrants_mut(c);
    for (c, row, column) in [
        (c11, [a11, a12], [b11, b21]),
        (c12, [a11, a12], [b12, b22]),
        (c21, [a21, a22], [b11, b21]),
        (c22, [a21, a22], [b12, b22]),
    ] {
        plain(c, row[0], column[0]);
        plain(c, row[1], column[1]);
    }
}

/// Computes `c += a * b` with forks.
fn forked<F: Fork>(fork: &F, c: &mut [f32], a: &[f32], b: &[f32]) {
    if c.len() == TILE * TILE {
        return multiply_tiles(c, a, b);
    }
    let [a11, a12, a21, a22] = quadrants(a);
    let [b11, b12, b21, b22] = quadrants(b);
    let [c11, c12, c21, c22] = quadrants_mut(c);
    let quadrant = |fork: &F, c: &mut [f32], row: [&[f32]; 2], column: [&[f32]; 2]| {
        forked(fork, c, row[0], column[0]);
        forked(fork, c, row[1], column[1]);
    };
    fork.join(
        |fork| {
            fork.join(
                |fork| quadrant(fork, c11, [a11, a12], [b11, b21]),
                |fork| quadrant(fork, c12, [a11, a12], [b12, b22]),
            )
        },
        |fork| {
            fork.join(
                |fork| quadrant(fork, c21, [a21, a22], [b11, b21]),
                |fork| quadrant(fork, c22, [a21, a22], [b12, b22]),
            )
        },
    );
}

impl Program for Matmul {
    type Input = Vec<f32>;
    type Output = Vec<f32>;

    fn name(&self) -> String {
        format!("matmul({})", self.n)
    }

    /// Returns the product before anything is added.
    fn input(&self) -> Vec<f32> {
        vec![0.0; self.n * self.n]
    }

    fn serial(&self, mut c: Vec<f32>) -> Vec<f32> {
        plain(&mut c, &self.a, &self.b);
        c
    }

    fn forked<F: Fork>(&self, fork: &F, mut c: Vec<f32>) -> Vec<f32> {
        forked(fork, &mut c, &self.a, &self.b);
        c
    }

    /// Holds three rows, in the first tile, in the middle and in the last tile, against the definition.
    fn check(&self, output: &Vec<f32>) {
        for row in [1, self.n / 2, self.n - 1] {
            for column in 0..self.n {
                let entry = |k| self.a[offset(row, k)] * self.b[offset(k, column)];
                let expected: f32 = (0..self.n).map(entry).sum();
                assert!(output[offset(row, column)] == expected, "entry {row}, {column}");
            }
        }
    }
}
