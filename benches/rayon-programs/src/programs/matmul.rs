//! Product of square matrices, divided into quadrants down to blocks.
//!
//! Matrices are stored by quadrants, recursively; blocks by rows. So a quadrant is a quarter of a slice.

use crate::random::Random;
use crate::{Case, Size};

/// Rows of a block.
const BLOCK: usize = 16;
const AREA: usize = BLOCK * BLOCK;

pub(super) fn matmul(size: Size) -> Case {
    let n: usize = size.pick(1024, 64);
    let mut random = Random(1);
    // Small whole numbers: sums are exact, in any order.
    let mut matrix = || (0..n * n).map(|_| random.below(16) as f32).collect::<Vec<_>>();
    let (a, b) = (matrix(), matrix());
    let expected = by_rows(n, &a, &b);
    Case::of(expected, move || {
        let mut c = vec![0.0; n * n];
        add_product(&mut c, &a, &b);
        c
    })
}

/// Adds the product of `a` and `b` to `c`.
fn add_product(c: &mut [f32], a: &[f32], b: &[f32]) {
    if c.len() == AREA {
        return add_block(c, a, b);
    }
    let (a, b) = (quadrants(a), quadrants(b));
    let (upper, lower) = c.split_at_mut(c.len() / 2);
    let half = upper.len() / 2;
    let ((c0, c1), (c2, c3)) = (upper.split_at_mut(half), lower.split_at_mut(half));
    let quadrant = |c: &mut [f32], row: usize, column: usize| {
        add_product(c, a[2 * row], b[column]);
        add_product(c, a[2 * row + 1], b[2 + column]);
    };
    rayon::join(
        || rayon::join(|| quadrant(c0, 0, 0), || quadrant(c1, 0, 1)),
        || rayon::join(|| quadrant(c2, 1, 0), || quadrant(c3, 1, 1)),
    );
}

fn quadrants(matrix: &[f32]) -> [&[f32]; 4] {
    let quarter = matrix.len() / 4;
    [0, 1, 2, 3].map(|i| &matrix[i * quarter..(i + 1) * quarter])
}

fn add_block(c: &mut [f32], a: &[f32], b: &[f32]) {
    for (c, a) in c.chunks_exact_mut(BLOCK).zip(a.chunks_exact(BLOCK)) {
        for (a, b) in a.iter().zip(b.chunks_exact(BLOCK)) {
            for (c, b) in c.iter_mut().zip(b) {
                *c += a * b;
            }
        }
    }
}

/// The oracle: the same storage, read one element at a time.
fn by_rows(n: usize, a: &[f32], b: &[f32]) -> Vec<f32> {
    let index: Vec<_> = (0..n * n).map(|i| place(n, i / n, i % n)).collect();
    let by_rows = |matrix: &[f32]| index.iter().map(|&i| matrix[i]).collect::<Vec<_>>();
    let (a, b) = (by_rows(a), by_rows(b));
    let mut c = vec![0.0; n * n];
    for row in 0..n {
        let mut sums = vec![0.0; n];
        for k in 0..n {
            let factor = a[row * n + k];
            sums.iter_mut().zip(&b[k * n..]).for_each(|(sum, b)| *sum += factor * b);
        }
        sums.iter().enumerate().for_each(|(column, sum)| c[index[row * n + column]] = *sum);
    }
    c
}

/// Where the element of that row and column lies.
fn place(n: usize, row: usize, column: usize) -> usize {
    if n == BLOCK {
        return row * BLOCK + column;
    }
    let half = n / 2;
    let quadrant = 2 * (row / half) + column / half;
    quadrant * half * half + place(half, row % half, column % half)
}
