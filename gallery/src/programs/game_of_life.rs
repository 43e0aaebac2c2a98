//! Computes generations of Conway's game of life, row by row (classic: stencil).

use crate::program::{Program, equal, reads};
use fastrand::Rng;

pub(super) const PROGRAM: Program = Program {
    name: "game_of_life",
    suite: "classic",
    what: "2000 generations of the game of life",
    unit: "rows",
    size: 1024,
    quick: 200,
    schedule: "",
    why: "faster: each generation is a short parallel loop; rayon hands a call from outside its pool over to a worker, while the caller sleeps, and furcate's caller takes part itself",
    source: include_str!("game_of_life.rs"),
    case: |size| {
        reads(Board::random(size), [sequential::run, rayon::run, furcate::run], |start, board| {
            // The independent computation is slow, so it checks small boards only.
            let is_small = start.width <= 256;
            equal(board, &if is_small { by_neighbors(start) } else { sequential::run(start) })
        })
    },
};

const GENERATIONS: usize = 2000;

/// A square of cells, with a border of dead ones around it. A cell is 1 if it lives, and 0 otherwise.
#[derive(Clone, Debug, PartialEq)]
struct Board {
    /// The length of a row, with two cells of the border.
    width: usize,
    cells: Vec<u8>,
}

impl Board {
    fn random(side: usize) -> Board {
        let mut random = Rng::with_seed(1);
        let width = side + 2;
        let is_inside = |place: usize| (1..=side).contains(&place);
        let mut cell =
            |index| if is_inside(index / width) && is_inside(index % width) { random.u8(0..2) } else { 0 };
        Board { width, cells: (0..width * width).map(&mut cell).collect() }
    }

    /// Returns the rows without the border.
    fn rows_mut(&mut self) -> &mut [u8] {
        let (width, length) = (self.width, self.cells.len());
        &mut self.cells[width..length - width]
    }

    /// Computes the next generation of a row. The border does not count: row 0 is the second one of `cells`, so that the row above it is the first one.
    fn next_row(&self, row: usize, next: &mut [u8]) {
        let (above, rest) = self.cells[row * self.width..].split_at(self.width);
        let (same, below) = rest.split_at(self.width);
        let columns = above.windows(3).zip(same.windows(3)).zip(below.windows(3));
        for (next, ((above, same), below)) in next[1..].iter_mut().zip(columns) {
            let sum = |cells: &[u8]| cells[0] + cells[1] + cells[2];
            // The nine cells include this one.
            let living = sum(above) + sum(same) + sum(below);
            *next = u8::from(living == 3) | (u8::from(living == 4) & same[1]);
        }
    }
}

/// Computes the last generation cell by cell, as the rule says, for the check. This is slow.
fn by_neighbors(start: &Board) -> Board {
    let (width, mut board) = (start.width, start.clone());
    let inside: Vec<usize> =
        (width..start.cells.len() - width).filter(|i| ![0, width - 1].contains(&(i % width))).collect();
    for _ in 0..GENERATIONS {
        let cells = &board.cells;
        let is_living = |&i: &usize| {
            let row = |i: usize| cells[i - 1] + cells[i] + cells[i + 1];
            let neighbors = row(i - width) + row(i + width) + cells[i - 1] + cells[i + 1];
            matches!((cells[i], neighbors), (1, 2 | 3) | (0, 3))
        };
        let next: Vec<bool> = inside.iter().map(is_living).collect();
        inside.iter().zip(next).for_each(|(&i, lives)| board.cells[i] = lives.into());
    }
    board
}

mod sequential {
    use super::{Board, GENERATIONS};
    use std::mem;

    pub(super) fn run(start: &Board) -> Board {
        let (mut board, mut next) = (start.clone(), start.clone());
        for _ in 0..GENERATIONS {
            let rows = next.rows_mut().chunks_mut(board.width);
            rows.enumerate().for_each(|(index, row)| board.next_row(index, row));
            mem::swap(&mut board, &mut next);
        }
        board
    }
}

mod rayon {
    use super::{Board, GENERATIONS};
    use rayon::prelude::*;
    use std::mem;

    pub(super) fn run(start: &Board) -> Board {
        let (mut board, mut next) = (start.clone(), start.clone());
        for _ in 0..GENERATIONS {
            let rows = next.rows_mut().par_chunks_mut(board.width);
            rows.enumerate().for_each(|(index, row)| board.next_row(index, row));
            mem::swap(&mut board, &mut next);
        }
        board
    }
}

mod furcate {
    use super::{Board, GENERATIONS};
    use furcate::prelude::*;
    use std::mem;

    pub(super) fn run(start: &Board) -> Board {
        let (mut board, mut next) = (start.clone(), start.clone());
        for _ in 0..GENERATIONS {
            let rows = next.rows_mut().par_chunks_mut(board.width);
            rows.enumerate().for_each(|(index, row)| board.next_row(index, row));
            mem::swap(&mut board, &mut next);
        }
        board
    }
}
