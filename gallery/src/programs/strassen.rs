//! Multiplies matrices by Strassen's recursion: seven products of half the size instead of eight (classic: Strassen).

use std::ops::{Add, Sub};

use crate::inputs;
use crate::program::{Program, close, reads};

pub(super) const PROGRAM: Program = Program {
    name: "strassen",
    suite: "classic",
    what: "a matrix product by Strassen's recursion",
    unit: "rows (rounded up to a power of 2)",
    size: 1024,
    quick: 512,
    schedule: "",
    why: "about a tie: the 343 products of small matrices take so long that the cost of a fork is hidden; one thread copies the quarters of the whole matrices, and combines those of the result",
    source: include_str!("strassen.rs"),
    case: |size| {
        let size = size.max(4).next_power_of_two();
        let matrix = |seed| Matrix { size, values: inputs::random_floats(size * size, seed) };
        reads((matrix(1), matrix(2)), [sequential::run, rayon::run, furcate::run], check)
    },
};

/// Matrices of at most this size are multiplied by loops.
const CUTOFF: usize = 128;

/// A square matrix, by rows.
struct Matrix {
    size: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// Returns copies of the quarters: upper left, upper right, lower left, lower right.
    fn quarters(&self) -> [Matrix; 4] {
        let size = self.size / 2;
        let quarter = |row: usize, column: usize| {
            let rows = self.values.chunks(self.size).skip(row).take(size);
            Matrix { size, values: rows.flat_map(|row| &row[column..column + size]).copied().collect() }
        };
        [quarter(0, 0), quarter(0, size), quarter(size, 0), quarter(size, size)]
    }

    fn from_quarters(quarters: [Matrix; 4]) -> Matrix {
        let size = quarters[0].size;
        let mut values = Vec::with_capacity(4 * size * size);
        for half in quarters.chunks(2) {
            for (left, right) in half[0].values.chunks(size).zip(half[1].values.chunks(size)) {
                values.extend_from_slice(left);
                values.extend_from_slice(right);
            }
        }
        Matrix { size: 2 * size, values }
    }

    /// Returns the product, by loops. Four rows of the other matrix are added at a time.
    fn times(&self, other: &Matrix) -> Matrix {
        let size = self.size;
        let mut values = vec![0.0; size * size];
        for (row, sums) in self.values.chunks_exact(size).zip(values.chunks_exact_mut(size)) {
            for (a, rows) in row.chunks_exact(4).zip(other.values.chunks_exact(4 * size)) {
                let ((b0, b1), (b2, b3)) = {
                    let (first, last) = rows.split_at(2 * size);
                    (first.split_at(size), last.split_at(size))
                };
                for ((((sum, b0), b1), b2), b3) in sums.iter_mut().zip(b0).zip(b1).zip(b2).zip(b3) {
                    *sum += a[0] * b0 + a[1] * b1 + (a[2] * b2 + a[3] * b3);
                }
            }
        }
        Matrix { size, values }
    }

    fn times_vector(&self, vector: &[f64]) -> Vec<f64> {
        let row_times = |row: &[f64]| row.iter().zip(vector).map(|(a, b)| a * b).sum();
        self.values.chunks(self.size).map(row_times).collect()
    }
}

impl Add for &Matrix {
    type Output = Matrix;
    fn add(self, other: &Matrix) -> Matrix {
        let values = self.values.iter().zip(&other.values).map(|(a, b)| a + b).collect();
        Matrix { size: self.size, values }
    }
}

impl Sub for &Matrix {
    type Output = Matrix;
    fn sub(self, other: &Matrix) -> Matrix {
        let values = self.values.iter().zip(&other.values).map(|(a, b)| a - b).collect();
        Matrix { size: self.size, values }
    }
}

/// Combines Strassen's seven products to the product of the whole matrices.
fn combine([m1, m2, m3, m4, m5, m6, m7]: [Matrix; 7]) -> Matrix {
    Matrix::from_quarters([&(&m1 + &m4) + &(&m7 - &m5), &m3 + &m5, &m2 + &m4, &(&m1 - &m2) + &(&m3 + &m6)])
}

/// Checks that the product maps a random vector to the same vector as the two matrices do one after the other.
fn check((a, b): &(Matrix, Matrix), product: &Matrix) -> Result<(), String> {
    let vector = inputs::random_floats(a.size, 3);
    close(&product.times_vector(&vector), &a.times_vector(&b.times_vector(&vector)), 1e-9)
}

mod sequential {
    use super::{CUTOFF, Matrix, combine};

    pub(super) fn run((a, b): &(Matrix, Matrix)) -> Matrix {
        multiply(a, b)
    }

    fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
        if a.size <= CUTOFF {
            return a.times(b);
        }
        let ([a11, a12, a21, a22], [b11, b12, b21, b22]) = &(a.quarters(), b.quarters());
        let m1 = || multiply(&(a11 + a22), &(b11 + b22));
        let m2 = || multiply(&(a21 + a22), b11);
        let m3 = || multiply(a11, &(b12 - b22));
        let m4 = || multiply(a22, &(b21 - b11));
        let m5 = || multiply(&(a11 + a12), b22);
        let m6 = || multiply(&(a21 - a11), &(b11 + b12));
        let m7 = || multiply(&(a12 - a22), &(b21 + b22));
        combine([m1(), m2(), m3(), m4(), m5(), m6(), m7()])
    }
}

mod rayon {
    use super::{CUTOFF, Matrix, combine};
    use rayon::join;

    pub(super) fn run((a, b): &(Matrix, Matrix)) -> Matrix {
        multiply(a, b)
    }

    fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
        if a.size <= CUTOFF {
            return a.times(b);
        }
        let ([a11, a12, a21, a22], [b11, b12, b21, b22]) = &(a.quarters(), b.quarters());
        let m1 = || multiply(&(a11 + a22), &(b11 + b22));
        let m2 = || multiply(&(a21 + a22), b11);
        let m3 = || multiply(a11, &(b12 - b22));
        let m4 = || multiply(a22, &(b21 - b11));
        let m5 = || multiply(&(a11 + a12), b22);
        let m6 = || multiply(&(a21 - a11), &(b11 + b12));
        let m7 = || multiply(&(a12 - a22), &(b21 + b22));
        let (((m1, m2), (m3, m4)), ((m5, m6), m7)) =
            join(|| join(|| join(m1, m2), || join(m3, m4)), || join(|| join(m5, m6), m7));
        combine([m1, m2, m3, m4, m5, m6, m7])
    }
}

mod furcate {
    use super::{CUTOFF, Matrix, combine};
    use furcate::join;

    pub(super) fn run((a, b): &(Matrix, Matrix)) -> Matrix {
        multiply(a, b)
    }

    fn multiply(a: &Matrix, b: &Matrix) -> Matrix {
        if a.size <= CUTOFF {
            return a.times(b);
        }
        let ([a11, a12, a21, a22], [b11, b12, b21, b22]) = &(a.quarters(), b.quarters());
        let m1 = || multiply(&(a11 + a22), &(b11 + b22));
        let m2 = || multiply(&(a21 + a22), b11);
        let m3 = || multiply(a11, &(b12 - b22));
        let m4 = || multiply(a22, &(b21 - b11));
        let m5 = || multiply(&(a11 + a12), b22);
        let m6 = || multiply(&(a21 - a11), &(b11 + b12));
        let m7 = || multiply(&(a12 - a22), &(b21 + b22));
        let (((m1, m2), (m3, m4)), ((m5, m6), m7)) =
            join(|| join(|| join(m1, m2), || join(m3, m4)), || join(|| join(m5, m6), m7));
        combine([m1, m2, m3, m4, m5, m6, m7])
    }
}
