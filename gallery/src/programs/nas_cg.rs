//! Estimates an eigenvalue of a sparse matrix by the inverse power method, whose systems of equations are solved by conjugate gradients
//! (NAS: CG, conjugate gradient).

use crate::nas::{Generator, SEED};
use crate::program::{Program, close, reads};

pub(super) const PROGRAM: Program = Program {
    name: "nas_cg",
    suite: "NAS",
    what: "an eigenvalue of a sparse matrix by conjugate gradients",
    unit: "class: 0 = S, 1 = W, 2 = A",
    size: 2,
    quick: 0,
    schedule: "",
    why: "somewhat faster: each step is a handful of short loops one after the other; rayon hands a call from outside its pool over to a worker, while the caller sleeps, and furcate's caller takes part itself",
    source: include_str!("nas_cg.rs"),
    case: |size| {
        let class = CLASSES.get(size).expect("give the class as 0 (S), 1 (W) or 2 (A)");
        reads(Matrix::new(*class), [sequential::run, rayon::run, furcate::run], check)
    },
};

/// A class of the benchmark: the matrix's size, the number of elements of its random vectors, the shift of its eigenvalues, and the published
/// result.
#[derive(Clone, Copy)]
struct Class {
    size: usize,
    elements: usize,
    shift: f64,
    zeta: f64,
}

const CLASSES: [Class; 3] = [
    Class { size: 1400, elements: 7, shift: 10.0, zeta: 8.5971775078648 },
    Class { size: 7000, elements: 8, shift: 12.0, zeta: 10.362595087124 },
    Class { size: 14000, elements: 11, shift: 20.0, zeta: 17.130235054029 },
];

/// The number of steps of the power method.
const POWER_STEPS: usize = 15;

/// The number of steps of conjugate gradients in each step of the power method.
const GRADIENT_STEPS: usize = 25;

/// The least length of a part of a vector in the parallel columns, found by trying: with shorter parts, neither column is faster.
const LEAST_PART: usize = 8000;

/// A sparse matrix by rows.
struct Matrix {
    class: Class,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Matrix {
    /// Makes the matrix of a class: a weighted sum of the products of random sparse vectors with themselves, and a diagonal.
    fn new(class: Class) -> Matrix {
        let mut random = Generator::new(SEED).skip(1);
        let mut rows = vec![Vec::new(); class.size];
        let ratio = 0.1_f64.powf(1.0 / class.size as f64);
        let mut weight = 1.0;
        for index in 0..class.size {
            let vector = sparse_vector(class, index, &mut random);
            for &(row, a) in &vector {
                for &(column, b) in &vector {
                    let diagonal = if row == index && column == index { 0.1 - class.shift } else { 0.0 };
                    rows[row].push((column as u32, b * (weight * a) + diagonal));
                }
            }
            weight *= ratio;
        }

        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for mut row in rows {
            row.sort_by_key(|&(column, _)| column);
            for equals in row.chunk_by(|(a, _), (b, _)| a == b) {
                columns.push(equals[0].0);
                values.push(equals.iter().map(|(_, value)| value).sum());
            }
            starts.push(columns.len());
        }
        Matrix { class, starts, columns, values }
    }

    /// Returns the product of a row and a vector.
    fn row_times(&self, row: usize, vector: &[f64]) -> f64 {
        let range = self.starts[row]..self.starts[row + 1];
        let elements = self.columns[range.clone()].iter().zip(&self.values[range]);
        elements.map(|(&column, value)| value * vector[column as usize]).sum()
    }
}

/// Makes a vector of random elements at random places. The element at `index` is 1/2.
fn sparse_vector(class: Class, index: usize, random: &mut Generator) -> Vec<(usize, f64)> {
    let mut vector: Vec<(usize, f64)> = Vec::new();
    while vector.len() < class.elements {
        let value = random.draw();
        let place = (class.size.next_power_of_two() as f64 * random.draw()) as usize;
        if place < class.size && vector.iter().all(|&(other, _)| other != place) {
            vector.push((place, value));
        }
    }
    match vector.iter_mut().find(|(place, _)| *place == index) {
        Some((_, value)) => *value = 0.5,
        None => vector.push((index, 0.5)),
    }
    vector
}

/// Checks that the eigenvalue is the published one, and that the last system of equations is solved.
fn check(matrix: &Matrix, (zeta, residual): &(f64, f64)) -> Result<(), String> {
    close(&[*zeta], &[matrix.class.zeta], 1e-10)?;
    close(&[*residual], &[0.0], 1e-9)
}

mod sequential {
    use super::{GRADIENT_STEPS, Matrix, POWER_STEPS};

    pub(super) fn run(matrix: &Matrix) -> (f64, f64) {
        let mut x = vec![1.0; matrix.class.size];
        let (mut zeta, mut residual) = (0.0, 0.0);
        for _ in 0..POWER_STEPS {
            let z;
            (z, residual) = solve(matrix, &x);
            zeta = matrix.class.shift + 1.0 / dot(&x, &z);
            let length = dot(&z, &z).sqrt();
            x.iter_mut().zip(&z).for_each(|(x, z)| *x = z / length);
        }
        (zeta, residual)
    }

    /// Returns the solution z of Az = x, and the distance of Az from x.
    fn solve(matrix: &Matrix, x: &[f64]) -> (Vec<f64>, f64) {
        let (mut z, mut q) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let (mut r, mut p) = (x.to_vec(), x.to_vec());
        let mut rho = dot(&r, &r);
        for _ in 0..GRADIENT_STEPS {
            multiply(matrix, &p, &mut q);
            let alpha = rho / dot(&p, &q);
            let steps = z.iter_mut().zip(&mut r).zip(&p).zip(&q);
            steps.for_each(|(((z, r), p), q)| {
                *z += alpha * p;
                *r -= alpha * q;
            });
            let before = rho;
            rho = dot(&r, &r);
            let beta = rho / before;
            p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + beta * *p);
        }
        multiply(matrix, &z, &mut q);
        let squares: f64 = x.iter().zip(&q).map(|(x, q)| (x - q).powi(2)).sum();
        (z, squares.sqrt())
    }

    fn multiply(matrix: &Matrix, vector: &[f64], product: &mut [f64]) {
        let rows = product.iter_mut().enumerate();
        rows.for_each(|(row, element)| *element = matrix.row_times(row, vector));
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }
}

mod rayon {
    use super::{GRADIENT_STEPS, LEAST_PART, Matrix, POWER_STEPS};
    use rayon::prelude::*;

    pub(super) fn run(matrix: &Matrix) -> (f64, f64) {
        let mut x = vec![1.0; matrix.class.size];
        let (mut zeta, mut residual) = (0.0, 0.0);
        for _ in 0..POWER_STEPS {
            let z;
            (z, residual) = solve(matrix, &x);
            zeta = matrix.class.shift + 1.0 / dot(&x, &z);
            let length = dot(&z, &z).sqrt();
            x.par_iter_mut().zip(&z).with_min_len(LEAST_PART).for_each(|(x, z)| *x = z / length);
        }
        (zeta, residual)
    }

    /// Returns the solution z of Az = x, and the distance of Az from x.
    fn solve(matrix: &Matrix, x: &[f64]) -> (Vec<f64>, f64) {
        let (mut z, mut q) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let (mut r, mut p) = (x.to_vec(), x.to_vec());
        let mut rho = dot(&r, &r);
        for _ in 0..GRADIENT_STEPS {
            multiply(matrix, &p, &mut q);
            let alpha = rho / dot(&p, &q);
            let steps = z.par_iter_mut().zip(&mut r).zip(&p).zip(&q).with_min_len(LEAST_PART);
            steps.for_each(|(((z, r), p), q)| {
                *z += alpha * p;
                *r -= alpha * q;
            });
            let before = rho;
            rho = dot(&r, &r);
            let beta = rho / before;
            p.par_iter_mut().zip(&r).with_min_len(LEAST_PART).for_each(|(p, r)| *p = r + beta * *p);
        }
        multiply(matrix, &z, &mut q);
        let squares: f64 = x.par_iter().zip(&q).with_min_len(LEAST_PART).map(|(x, q)| (x - q).powi(2)).sum();
        (z, squares.sqrt())
    }

    fn multiply(matrix: &Matrix, vector: &[f64], product: &mut [f64]) {
        let rows = product.par_iter_mut().enumerate();
        rows.for_each(|(row, element)| *element = matrix.row_times(row, vector));
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.par_iter().zip(b).with_min_len(LEAST_PART).map(|(a, b)| a * b).sum()
    }
}

mod furcate {
    use super::{GRADIENT_STEPS, LEAST_PART, Matrix, POWER_STEPS};
    use furcate::prelude::*;

    pub(super) fn run(matrix: &Matrix) -> (f64, f64) {
        let mut x = vec![1.0; matrix.class.size];
        let (mut zeta, mut residual) = (0.0, 0.0);
        for _ in 0..POWER_STEPS {
            let z;
            (z, residual) = solve(matrix, &x);
            zeta = matrix.class.shift + 1.0 / dot(&x, &z);
            let length = dot(&z, &z).sqrt();
            x.par_iter_mut().zip(&z).with_min_len(LEAST_PART).for_each(|(x, z)| *x = z / length);
        }
        (zeta, residual)
    }

    /// Returns the solution z of Az = x, and the distance of Az from x.
    fn solve(matrix: &Matrix, x: &[f64]) -> (Vec<f64>, f64) {
        let (mut z, mut q) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let (mut r, mut p) = (x.to_vec(), x.to_vec());
        let mut rho = dot(&r, &r);
        for _ in 0..GRADIENT_STEPS {
            multiply(matrix, &p, &mut q);
            let alpha = rho / dot(&p, &q);
            let steps = z.par_iter_mut().zip(&mut r).zip(&p).zip(&q).with_min_len(LEAST_PART);
            steps.for_each(|(((z, r), p), q)| {
                *z += alpha * p;
                *r -= alpha * q;
            });
            let before = rho;
            rho = dot(&r, &r);
            let beta = rho / before;
            p.par_iter_mut().zip(&r).with_min_len(LEAST_PART).for_each(|(p, r)| *p = r + beta * *p);
        }
        multiply(matrix, &z, &mut q);
        let squares: f64 = x.par_iter().zip(&q).with_min_len(LEAST_PART).map(|(x, q)| (x - q).powi(2)).sum();
        (z, squares.sqrt())
    }

    fn multiply(matrix: &Matrix, vector: &[f64], product: &mut [f64]) {
        let rows = product.par_iter_mut().enumerate();
        rows.for_each(|(row, element)| *element = matrix.row_times(row, vector));
    }

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.par_iter().zip(b).with_min_len(LEAST_PART).map(|(a, b)| a * b).sum()
    }
}
