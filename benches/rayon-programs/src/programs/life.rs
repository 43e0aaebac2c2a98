//! Conway's game of life on a torus: a short parallel call per generation.

use crate::random::Random;
use crate::{Case, Size};
use rayon::prelude::*;

#[derive(Clone, PartialEq)]
struct Board {
    width: usize,
    cells: Vec<bool>,
}

impl Board {
    fn random(width: usize) -> Self {
        let mut random = Random(3);
        Board { width, cells: (0..width * width).map(|_| random.below(3) == 0).collect() }
    }

    fn next(&self, index: usize) -> bool {
        let (row, column) = (index / self.width, index % self.width);
        let around = |i: usize| [(i + self.width - 1) % self.width, i, (i + 1) % self.width];
        let rows = around(row);
        let neighbors: u32 = around(column)
            .iter()
            .flat_map(|column| rows.iter().map(move |row| row * self.width + column))
            .map(|i| u32::from(self.cells[i]))
            .sum();
        neighbors == 3 || neighbors == 4 && self.cells[index]
    }

    fn after(&self, cells: Vec<bool>) -> Self {
        Board { width: self.width, cells }
    }
}

fn case(width: usize, generations: usize, step: impl Fn(&Board) -> Board + 'static) -> Case {
    let start = Board::random(width);
    let in_turn = |board: Board, _| board.after((0..board.cells.len()).map(|i| board.next(i)).collect());
    let expected = (0..generations).fold(start.clone(), in_turn);
    Case::of(expected, move || (0..generations).fold(start.clone(), |board, _| step(&board)))
}

/// A parallel loop over all cells.
pub(super) fn cells(size: Size) -> Case {
    case(200, size.pick(500, 3), |board| {
        board.after((0..board.cells.len()).into_par_iter().map(|i| board.next(i)).collect())
    })
}

/// A parallel loop over the rows.
pub(super) fn rows(size: Size) -> Case {
    case(200, size.pick(500, 3), |board| {
        let mut cells = vec![false; board.cells.len()];
        cells.par_chunks_mut(board.width).enumerate().for_each(|(row, cells)| {
            cells.iter_mut().enumerate().for_each(|(i, cell)| *cell = board.next(row * board.width + i));
        });
        board.after(cells)
    })
}

/// The rows, handed out one by one by a sequential iterator.
pub(super) fn bridge(size: Size) -> Case {
    case(200, size.pick(500, 3), |board| {
        let mut cells = vec![false; board.cells.len()];
        cells.chunks_mut(board.width).enumerate().par_bridge().for_each(|(row, cells)| {
            cells.iter_mut().enumerate().for_each(|(i, cell)| *cell = board.next(row * board.width + i));
        });
        board.after(cells)
    })
}
