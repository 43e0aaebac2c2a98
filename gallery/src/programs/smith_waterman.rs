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
    why: "slightly faster: each anti-diagonal is a short loop with a wait at its end; rayon hands a call from outside its pool over to a worker, while the caller sleeps, and furcate's caller takes part itself",
    source: include_str!("smith_waterman.rs"),
    case: |size| {
        reads(
            inputs::similar_sequences(size),
            [sequential::run, rayon::run, furcate::run],
            |sequences, score| equal(score, &by_rows(&sequences[0], &sequences[1])),
        )
    },
};

/// The side of a block.
const BLOCK: usize = 256;

/// Returns the score by the usual table of two rows, for the check.
fn by_rows(first: &[u8], second: &[u8]) -> i32 {
    let (mut row, mut best) = (vec![0; second.len() + 1], 0);
    for a in first {
        let above = row.clone();
        for (column, b) in second.iter().enumerate() {
            let matched = above[column] + if a == b { 2 } else { -1 };
            row[column + 1] = matched.max(above[column + 1].max(row[column]) - 1).max(0);
            best = best.max(row[column + 1]);
        }
    }
    best
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

mod sequential {
    use super::{Columns, Rows, fill};

    pub(super) fn run([first, second]: &[Vec<u8>; 2]) -> i32 {
        let mut rows = Rows::new(first);
        fill(&mut rows, &mut Columns::new(second));
        rows.best
    }
}

mod rayon {
    use super::{BLOCK, Columns, Rows, fill};
    use crate::blocks::anti_diagonal;
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
    use super::{BLOCK, Columns, Rows, fill};
    use crate::blocks::anti_diagonal;
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
