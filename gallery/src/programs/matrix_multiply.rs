//! Multiplies two matrices, quarter by quarter (classic: cache-oblivious matrix product).

use crate::inputs;
use crate::program::{Program, close, reads};

pub(super) const PROGRAM: Program = Program {
    name: "matrix_multiply",
    suite: "classic",
    what: "the product of two square matrices",
    unit: "rows (rounded up to a power of 2)",
    size: 1024,
    quick: 256,
    schedule: "",
    why: "a tie, because the product of two tiles takes a thousand times as long as a fork",
    source: include_str!("matrix_multiply.rs"),
    case: |size| {
        let size = size.max(TILE).next_power_of_two();
        let factors = [1, 2].map(|seed| inputs::random_floats(size * size, seed));
        reads(factors, [sequential::run, rayon::run, furcate::run], |[a, b], c| {
            let vector = inputs::random_floats(a.len().isqrt(), 3);
            close(&times(c, &vector), &times(a, &times(b, &vector)), 1e-9)
        })
    },
};

/// The side of the smallest matrix. Its numbers are stored row by row.
///
/// A larger matrix is stored as its four quarters one after the other: upper left, upper right, lower left, lower right.
const TILE: usize = 32;

fn quarters(matrix: &[f64]) -> [&[f64]; 4] {
    let (upper, lower) = matrix.split_at(matrix.len() / 2);
    let ((a, b), (c, d)) = (upper.split_at(upper.len() / 2), lower.split_at(lower.len() / 2));
    [a, b, c, d]
}

fn quarters_mut(matrix: &mut [f64]) -> [&mut [f64]; 4] {
    let (upper, lower) = matrix.split_at_mut(matrix.len() / 2);
    let (quarter, half) = (upper.len() / 2, lower.len() / 2);
    let ((a, b), (c, d)) = (upper.split_at_mut(quarter), lower.split_at_mut(half));
    [a, b, c, d]
}

/// Adds the product of the tiles `a` and `b` to the tile `c`.
fn add_tiles(a: &[f64], b: &[f64], c: &mut [f64]) {
    for (a_row, c_row) in a.chunks_exact(TILE).zip(c.chunks_exact_mut(TILE)) {
        for (x, b_row) in a_row.iter().zip(b.chunks_exact(TILE)) {
            for (sum, y) in c_row.iter_mut().zip(b_row) {
                *sum += x * y;
            }
        }
    }
}

/// Returns the product of a matrix and a vector, for the check.
fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    if vector.len() == TILE {
        return matrix
            .chunks_exact(TILE)
            .map(|row| row.iter().zip(vector).map(|(x, y)| x * y).sum())
            .collect();
    }
    let [a, b, c, d] = quarters(matrix);
    let (upper, lower) = vector.split_at(vector.len() / 2);
    let sums =
        |x, y| times(x, upper).into_iter().zip(times(y, lower)).map(|(x, y)| x + y).collect::<Vec<f64>>();
    [sums(a, b), sums(c, d)].concat()
}

mod sequential {
    use super::{TILE, add_tiles, quarters, quarters_mut};

    pub(super) fn run([a, b]: &[Vec<f64>; 2]) -> Vec<f64> {
        let mut c = vec![0.0; a.len()];
        add_product(a, b, &mut c);
        c
    }

    fn add_product(a: &[f64], b: &[f64], c: &mut [f64]) {
        if c.len() == TILE * TILE {
            return add_tiles(a, b, c);
        }
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (quarters(a), quarters(b));
        let [c0, c1, c2, c3] = quarters_mut(c);
        let add_two = |[a, a_next]: [&[f64]; 2], [b, b_next]: [&[f64]; 2], c: &mut [f64]| {
            add_product(a, b, c);
            add_product(a_next, b_next, c);
        };
        add_two([a0, a1], [b0, b2], c0);
        add_two([a0, a1], [b1, b3], c1);
        add_two([a2, a3], [b0, b2], c2);
        add_two([a2, a3], [b1, b3], c3);
    }
}

mod rayon {
    use super::{TILE, add_tiles, quarters, quarters_mut};

    pub(super) fn run([a, b]: &[Vec<f64>; 2]) -> Vec<f64> {
        let mut c = vec![0.0; a.len()];
        add_product(a, b, &mut c);
        c
    }

    fn add_product(a: &[f64], b: &[f64], c: &mut [f64]) {
        if c.len() == TILE * TILE {
            return add_tiles(a, b, c);
        }
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (quarters(a), quarters(b));
        let [c0, c1, c2, c3] = quarters_mut(c);
        let add_two = |[a, a_next]: [&[f64]; 2], [b, b_next]: [&[f64]; 2], c: &mut [f64]| {
            add_product(a, b, c);
            add_product(a_next, b_next, c);
        };
        rayon::join(
            || rayon::join(|| add_two([a0, a1], [b0, b2], c0), || add_two([a0, a1], [b1, b3], c1)),
            || rayon::join(|| add_two([a2, a3], [b0, b2], c2), || add_two([a2, a3], [b1, b3], c3)),
        );
    }
}

mod furcate {
    use super::{TILE, add_tiles, quarters, quarters_mut};

    pub(super) fn run([a, b]: &[Vec<f64>; 2]) -> Vec<f64> {
        let mut c = vec![0.0; a.len()];
        add_product(a, b, &mut c);
        c
    }

    fn add_product(a: &[f64], b: &[f64], c: &mut [f64]) {
        if c.len() == TILE * TILE {
            return add_tiles(a, b, c);
        }
        let ([a0, a1, a2, a3], [b0, b1, b2, b3]) = (quarters(a), quarters(b));
        let [c0, c1, c2, c3] = quarters_mut(c);
        let add_two = |[a, a_next]: [&[f64]; 2], [b, b_next]: [&[f64]; 2], c: &mut [f64]| {
            add_product(a, b, c);
            add_product(a_next, b_next, c);
        };
        furcate::join(
            || furcate::join(|| add_two([a0, a1], [b0, b2], c0), || add_two([a0, a1], [b1, b3], c1)),
            || furcate::join(|| add_two([a2, a3], [b0, b2], c2), || add_two([a2, a3], [b1, b3], c3)),
        );
    }
}
