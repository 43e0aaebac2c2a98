//! Factors a positive definite matrix into a triangular one and its transpose, tile by tile (classic: Cholesky's factorization).

use crate::inputs;
use crate::program::{Program, changes, close};

pub(super) const PROGRAM: Program = Program {
    name: "cholesky",
    suite: "classic",
    what: "Cholesky's factorization of a matrix in tiles",
    unit: "rows (a multiple of 64)",
    size: 2560,
    quick: 768,
    schedule: "",
    why: "about a tie: both libraries divide the two parallel loops of each step alike, and the last steps have few tiles for either",
    source: include_str!("cholesky.rs"),
    case: |size| {
        assert!(size >= SIZE, "give at least {SIZE} rows");
        changes(Matrix::random(size), [sequential::run, rayon::run, furcate::run], check)
    },
};

/// The number of rows, and of columns, of a tile.
const SIZE: usize = 64;

/// A tile, by columns. The entries of a diagonal tile above the diagonal have no meaning.
#[derive(Clone)]
struct Tile {
    row: usize,
    column: usize,
    columns: Box<[[f64; SIZE]; SIZE]>,
}

/// The lower half of a symmetric or of a triangular matrix: its tiles from the diagonal downward, column by column.
#[derive(Clone)]
struct Matrix {
    tiles: Vec<Tile>,
}

impl Matrix {
    /// Makes a random matrix. A large diagonal makes the matrix positive definite.
    fn random(size: usize) -> Matrix {
        let count = size / SIZE;
        let places = (0..count).flat_map(|column| (column..count).map(move |row| (row, column)));
        let tiles = places.enumerate().map(|(index, (row, column))| {
            let mut columns = Box::new([[0.0; SIZE]; SIZE]);
            columns.as_flattened_mut().copy_from_slice(&inputs::random_floats(SIZE * SIZE, index as u64));
            if row == column {
                (0..SIZE).for_each(|i| columns[i][i] += size as f64);
            }
            Tile { row, column, columns }
        });
        Matrix { tiles: tiles.collect() }
    }

    /// Calls a function with the row, the column and the value of each entry on the diagonal and below.
    fn each_entry(&self, mut see: impl FnMut(usize, usize, f64)) {
        for tile in &self.tiles {
            for (column, entries) in (tile.column * SIZE..).zip(tile.columns.iter()) {
                let below = (tile.row * SIZE..).zip(entries).filter(|(row, _)| *row >= column);
                below.for_each(|(row, entry)| see(row, column, *entry));
            }
        }
    }
}

/// Subtracts the other columns from a column, each one times its factor. Four columns are subtracted at a time.
fn subtract(column: &mut [f64; SIZE], others: &[[f64; SIZE]], factor: impl Fn(usize) -> f64) {
    let mut fours = others.chunks_exact(4);
    for (four, others) in fours.by_ref().enumerate() {
        let factors: [f64; 4] = std::array::from_fn(|i| factor(4 * four + i));
        for (row, entry) in column.iter_mut().enumerate() {
            *entry -= factors[0] * others[0][row]
                + factors[1] * others[1][row]
                + (factors[2] * others[2][row] + factors[3] * others[3][row]);
        }
    }
    let done = others.len() - fours.remainder().len();
    for (index, other) in fours.remainder().iter().enumerate() {
        let factor = factor(done + index);
        column.iter_mut().zip(other).for_each(|(entry, other)| *entry -= factor * other);
    }
}

/// Factors a diagonal tile.
#[inline(never)]
fn factor_diagonal(tile: &mut Tile) {
    for index in 0..SIZE {
        let (done, rest) = tile.columns.split_at_mut(index);
        subtract(&mut rest[0], done, |other| done[other][index]);
        let root = rest[0][index].sqrt();
        rest[0].iter_mut().for_each(|entry| *entry /= root);
    }
}

/// Divides a tile by the transpose of the factored diagonal tile above it.
#[inline(never)]
fn divide(tile: &mut Tile, diagonal: &Tile) {
    for index in 0..SIZE {
        let (done, rest) = tile.columns.split_at_mut(index);
        subtract(&mut rest[0], done, |other| diagonal.columns[other][index]);
        rest[0].iter_mut().for_each(|entry| *entry /= diagonal.columns[index][index]);
    }
}

/// Subtracts a product from a tile: the divided tile in the same row, times the transpose of the divided tile whose row is the tile's column.
#[inline(never)]
fn update(tile: &mut Tile, divided: &[Tile]) {
    let of = |row: usize| &divided[row - divided[0].row];
    let (a, b) = (of(tile.row), of(tile.column));
    for (index, column) in tile.columns.iter_mut().enumerate() {
        subtract(column, &a.columns[..], |other| b.columns[other][index]);
    }
}

/// Checks that the factor times its transpose maps a random vector to the same vector as the matrix does.
fn check(matrix: &Matrix, result: &Matrix) -> Result<(), String> {
    let size = matrix.tiles.last().map_or(0, |tile| (tile.row + 1) * SIZE);
    let vector = inputs::random_floats(size, 1);
    let mut expected = vec![0.0; size];
    matrix.each_entry(|row, column, entry| {
        expected[row] += entry * vector[column];
        if row != column {
            expected[column] += entry * vector[row];
        }
    });
    let (mut between, mut is) = (vec![0.0; size], vec![0.0; size]);
    result.each_entry(|row, column, entry| between[column] += entry * vector[row]);
    result.each_entry(|row, column, entry| is[row] += entry * between[column]);
    close(&is, &expected, 1e-9)
}

mod sequential {
    use super::{Matrix, divide, factor_diagonal, update};

    /// Each step finishes the first column of tiles, and goes on with the rest.
    pub(super) fn run(matrix: &mut Matrix) {
        let mut rest = &mut matrix.tiles[..];
        while !rest.is_empty() {
            let height = rest.iter().take_while(|tile| tile.column == rest[0].column).count();
            let (column, right) = rest.split_at_mut(height);
            let (diagonal, below) = column.split_at_mut(1);
            factor_diagonal(&mut diagonal[0]);
            below.iter_mut().for_each(|tile| divide(tile, &diagonal[0]));
            right.iter_mut().for_each(|tile| update(tile, below));
            rest = right;
        }
    }
}

mod rayon {
    use super::{Matrix, divide, factor_diagonal, update};
    use rayon::prelude::*;

    /// Each step finishes the first column of tiles, and goes on with the rest.
    pub(super) fn run(matrix: &mut Matrix) {
        let mut rest = &mut matrix.tiles[..];
        while !rest.is_empty() {
            let height = rest.iter().take_while(|tile| tile.column == rest[0].column).count();
            let (column, right) = rest.split_at_mut(height);
            let (diagonal, below) = column.split_at_mut(1);
            factor_diagonal(&mut diagonal[0]);
            below.par_iter_mut().for_each(|tile| divide(tile, &diagonal[0]));
            right.par_iter_mut().for_each(|tile| update(tile, below));
            rest = right;
        }
    }
}

mod furcate {
    use super::{Matrix, divide, factor_diagonal, update};
    use furcate::prelude::*;

    /// Each step finishes the first column of tiles, and goes on with the rest.
    pub(super) fn run(matrix: &mut Matrix) {
        let mut rest = &mut matrix.tiles[..];
        while !rest.is_empty() {
            let height = rest.iter().take_while(|tile| tile.column == rest[0].column).count();
            let (column, right) = rest.split_at_mut(height);
            let (diagonal, below) = column.split_at_mut(1);
            factor_diagonal(&mut diagonal[0]);
            below.par_iter_mut().for_each(|tile| divide(tile, &diagonal[0]));
            right.par_iter_mut().for_each(|tile| update(tile, below));
            rest = right;
        }
    }
}
