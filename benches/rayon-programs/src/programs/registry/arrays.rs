//! Libraries of arrays and of linear algebra.

use super::{Bits, against_one_thread};
use crate::random::Random;
use crate::{Case, Check, Size};
use faer::Mat;
use ndarray::parallel::prelude::*;
use ndarray::{Array2, Axis, Zip};
use std::rc::Rc;

fn array(random: &mut Random, rows: usize, columns: usize) -> Array2<f64> {
    Array2::from_shape_simple_fn((rows, columns), || random.unit())
}

/// Small whole numbers, whose products have no rounding errors.
fn whole(random: &mut Random, rows: usize, columns: usize) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| random.below(16) as f64)
}

/// Some passes over three arrays of the same shape.
pub(super) fn zip(size: Size) -> Case {
    let side = size.pick(1000, 60);
    let mut random = Random(40);
    let (left, right) = (array(&mut random, side, side), array(&mut random, side, side));
    against_one_thread(move || {
        let mut sums = Array2::<f64>::zeros(left.raw_dim());
        for _ in 0..10 {
            Zip::from(&mut sums)
                .and(&left)
                .and(&right)
                .par_for_each(|sum, &left, &right| *sum = (*sum + left * right).sqrt());
        }
        Bits(sums.into_iter().collect::<Vec<f64>>())
    })
}

/// The softmax of each row.
pub(super) fn rows(size: Size) -> Case {
    let (rows, columns) = size.pick((4000, 1000), (40, 50));
    let logits = array(&mut Random(41), rows, columns);
    against_one_thread(move || {
        let mut shares = logits.clone();
        shares.axis_iter_mut(Axis(0)).into_par_iter().for_each(|mut row| {
            row.mapv_inplace(f64::exp);
            let sum = row.sum();
            row.mapv_inplace(|share| share / sum);
        });
        let squares = shares.axis_iter(Axis(0)).into_par_iter().map(|row| row.dot(&row));
        Bits(squares.collect::<Vec<f64>>())
    })
}

pub(super) fn product(size: Size) -> Case {
    let side = size.pick(1200, 80);
    let mut random = Random(42);
    let (left, right) = (whole(&mut random, side, side), whole(&mut random, side, side));
    against_one_thread(move || &left * &right)
}

/// Solves linear equations whose solution is known.
pub(super) fn lu(size: Size) -> Case {
    use faer::prelude::Solve;
    const COLUMNS: usize = 4;
    let side = size.pick(1200, 80);
    let mut random = Random(43);
    let mut matrix = whole(&mut random, side, side);
    (0..side).for_each(|i| matrix[(i, i)] += side as f64);
    let expected = Rc::new(whole(&mut random, side, COLUMNS));
    let right = &matrix * &*expected;
    Case::new(move || {
        let mut solution = right.clone();
        matrix.partial_piv_lu().solve_in_place(&mut solution);
        let expected = Rc::clone(&expected);
        // Rounding errors depend on the number of threads.
        let is_near = move |i: usize, j: usize| (solution[(i, j)] - expected[(i, j)]).abs() < 1e-6;
        Check::new(move || (0..side).all(|i| (0..COLUMNS).all(|j| is_near(i, j))))
    })
}

/// Multiplies a matrix with each of its columns.
pub(super) fn columns(size: Size) -> Case {
    use nalgebra::DMatrix;
    let side = size.pick(700, 40);
    let mut random = Random(44);
    let matrix = DMatrix::<f64>::from_fn(side, side, |_, _| random.unit());
    against_one_thread(move || {
        let norms = matrix.par_column_iter().map(|column| (&matrix * column).norm());
        Bits(norms.collect::<Vec<f64>>())
    })
}

/// Multiplies a sparse matrix with itself.
pub(super) fn sparse_product(size: Size) -> Case {
    use sprs::smmp::{ThreadingStrategy, mul_csr_csr, set_thread_threading_strategy};
    use sprs::{CsMat, TriMat};
    let side = size.pick(20_000, 2000);
    let mut random = Random(45);
    let mut triplets = TriMat::<f64>::new((side, side));
    for row in 0..side {
        for _ in 0..12 {
            triplets.add_triplet(row, random.below(side as u64) as usize, 1.0 + random.below(8) as f64);
        }
    }
    let matrix: CsMat<f64> = triplets.to_csr();
    let square = move || -> CsMat<f64> { mul_csr_csr(matrix.view(), matrix.view()) };
    set_thread_threading_strategy(ThreadingStrategy::Fixed(1));
    let expected = square();
    set_thread_threading_strategy(ThreadingStrategy::Automatic);
    Case::of(expected, square)
}

/// Groups points around the first of them.
pub(super) fn kmeans(size: Size) -> Case {
    use linfa::DatasetBase;
    use linfa::traits::Fit;
    use linfa_clustering::{KMeans, KMeansInit};
    const CLUSTERS: usize = 16;
    let count = size.pick(10_000, 500);
    let points = array(&mut Random(46), count, 8);
    let centers = points.slice(ndarray::s![..CLUSTERS, ..]).to_owned();
    let points = DatasetBase::from(points);
    against_one_thread(move || {
        let settings = KMeans::params(CLUSTERS)
            .init_method(KMeansInit::Precomputed(centers.clone()))
            .n_runs(1)
            .max_n_iterations(15)
            .tolerance(1e-12);
        let model = settings.fit(&points).expect("the settings are valid");
        Bits(model.centroids().iter().copied().collect::<Vec<f64>>())
    })
}
