//! Finds the score of the best local alignment of two sequences, by blocks along the anti-diagonals (classic: Smith and Waterman).

use std::mem;

use crate::inputs;
use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "smith_waterman",
    suite: "classic",
    what: "the score of the best local alignment of two sequences",
    unit: "letters",
    size: 12_000,
    quick: 1500,
    schedule: "",
    why: "each anti-diagonal is a short loop over expensive blocks with a wait at its end, and furcate begins and ends such a loop faster",
    source: include_str!("smith_waterman.rs"),
    case: |size| {
        reads(
            inputs::similar_sequences(size),
            [sequential::run, rayon::run, furcate::run],
            |sequences, score| {
                equal(score, &sequential::run(sequences))?;
                // A part of long sequences has at most the same score.
                let [first, second] = sequences.each_ref().map(|letters| &letters[..letters.len().min(PART)]);
                let of_part = by_matrix(first, second);
                let is_long = sequences[0].len() > PART;
                equal(score, &if is_long { of_part.max(*score) } else { of_part })
            },
        )
    },
};

/// The side of a block.
const BLOCK: usize = 256;

/// The check fills a whole matrix for this number of letters.
const PART: usize = 2000;

/// Returns the score by a whole matrix, for the check.
fn by_matrix(first: &[u8], second: &[u8]) -> i32 {
    let mut matrix = vec![vec![0; second.len() + 1]; first.len() + 1];
    for (row, a) in first.iter().enumerate() {
        for (column, b) in second.iter().enumerate() {
            let matched = matrix[row][column] + if a == b { 2 } else { -1 };
            let left_out = matrix[row][column + 1].max(matrix[row + 1][column]) - 1;
            matrix[row + 1][column + 1] = matched.max(left_out).max(0);
        }
    }
    matrix.into_iter().flatten().max().unwrap_or(0)
}

/// Some rows of the matrix. Blocks are filled from left to right.
struct Rows<'a> {
    letters: &'a [u8],
    /// The scores in the last column that is filled.
    right: Vec<i32>,
    /// The score above that column.
    corner: i32,
    best: i32,
}

impl<'a> Rows<'a> {
    fn new(letters: &'a [u8]) -> Self {
        Rows { letters, right: vec![0; letters.len()], corner: 0, best: 0 }
    }
}

/// Some columns of the matrix. Blocks are filled downward.
struct Columns<'a> {
    letters: &'a [u8],
    /// The scores in the last row that is filled.
    bottom: Vec<i32>,
}

impl<'a> Columns<'a> {
    fn new(letters: &'a [u8]) -> Self {
        Columns { letters, bottom: vec![0; letters.len()] }
    }
}

/// Fills the block where rows and columns meet. Equal letters score 2, different letters -1, and each letter left out -1.
fn fill(rows: &mut Rows, columns: &mut Columns) {
    let above_the_end = columns.bottom.last().copied().unwrap_or(0);
    let mut corner = mem::replace(&mut rows.corner, above_the_end);
    for (letter, right) in rows.letters.iter().zip(&mut rows.right) {
        let (mut diagonal, mut left) = (corner, *right);
        for (other, above) in columns.letters.iter().zip(&mut columns.bottom) {
            let matched = diagonal + if letter == other { 2 } else { -1 };
            left = matched.max(left - 1).max(*above - 1).max(0);
            diagonal = mem::replace(above, left);
            rows.best = rows.best.max(left);
        }
        corner = mem::replace(right, left);
    }
}

/// Returns the rows and the columns of an anti-diagonal's blocks. The last of these rows meets the first of these columns.
fn anti_diagonal<'s, R, C>(
    number: usize,
    rows: &'s mut [R],
    columns: &'s mut [C],
) -> (&'s mut [R], &'s mut [C]) {
    let (begin, end) = ((number + 1).saturating_sub(columns.len()), rows.len().min(number + 1));
    (&mut rows[begin..end], &mut columns[number + 1 - end..number + 1 - begin])
}

mod sequential {
    use super::{Columns, Rows, fill};

    pub(super) fn run([first, second]: &[Vec<u8>; 2]) -> i32 {
        let mut rows = Rows::new(first);
        fill(&mut rows, &mut Columns::new(second));
        rows.best
    }
}

mod rayon {
    use super::{BLOCK, Columns, Rows, anti_diagonal, fill};
    use rayon::prelude::*;

    pub(super) fn run([first, second]: &[Vec<u8>; 2]) -> i32 {
        let mut rows: Vec<Rows> = first.chunks(BLOCK).map(Rows::new).collect();
        let mut columns: Vec<Columns> = second.chunks(BLOCK).map(Columns::new).collect();
        for number in 0..(rows.len() + columns.len()).saturating_sub(1) {
            let (rows, columns) = anti_diagonal(number, &mut rows, &mut columns);
            let blocks = rows.par_iter_mut().rev().zip(columns.par_iter_mut());
            blocks.for_each(|(rows, columns)| fill(rows, columns));
        }
        rows.iter().map(|rows| rows.best).max().unwrap_or(0)
    }
}

mod furcate {
    use super::{BLOCK, Columns, Rows, anti_diagonal, fill};
    use furcate::prelude::*;

    pub(super) fn run([first, second]: &[Vec<u8>; 2]) -> i32 {
        let mut rows: Vec<Rows> = first.chunks(BLOCK).map(Rows::new).collect();
        let mut columns: Vec<Columns> = second.chunks(BLOCK).map(Columns::new).collect();
        for number in 0..(rows.len() + columns.len()).saturating_sub(1) {
            let (rows, columns) = anti_diagonal(number, &mut rows, &mut columns);
            let blocks = rows.par_iter_mut().rev().zip(columns.par_iter_mut());
            blocks.for_each(|(rows, columns)| fill(rows, columns));
        }
        rows.iter().map(|rows| rows.best).max().unwrap_or(0)
    }
}
