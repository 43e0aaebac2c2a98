//! The n queens problem by exhaustive search: few, uneven children, and a little work in each.

use std::hint::black_box;

use super::Program;
use crate::fork::Fork;

/// Counts the ways to put `n` queens on an `n` x `n` board, forking over the columns of every row.
#[derive(Clone, Copy, Debug)]
pub struct Queens(pub usize);

/// The largest board.
const MAX: usize = 16;

/// Numbers of solutions, from `n = 0`.
const SOLUTIONS: [u64; MAX + 1] =
    [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2_680, 14_200, 73_712, 365_596, 2_279_184, 14_772_512];

/// The columns of the queens in the first rows.
#[derive(Clone, Copy)]
struct Board {
    columns: [u8; MAX],
    placed: usize,
}

impl Board {
    const EMPTY: Self = Self { columns: [0; MAX], placed: 0 };

    /// Adds a queen in the next row, if none attacks it.
    fn place(mut self, column: usize) -> Option<Self> {
        let attacked = self.columns[..self.placed].iter().enumerate().any(|(row, &other)| {
            let across = usize::from(other).abs_diff(column);
            across == 0 || across == self.placed - row
        });
        self.columns[self.placed] = column as u8;
        self.placed += 1;
        (!attacked).then_some(self)
    }
}

fn plain(n: usize, board: &Board) -> u64 {
    if board.placed == n {
        return 1;
    }
    (0..n).filter_map(|column| board.place(column)).map(|board| plain(n, &board)).sum()
}

fn forked<F: Fork>(fork: &F, n: usize, board: &Board) -> u64 {
    if board.placed == n { 1 } else { in_columns(fork, n, board, 0, n) }
}

/// Solutions with the next queen in one of the columns from `first` to before `last`.
fn in_columns<F: Fork>(fork: &F, n: usize, board: &Board, first: usize, last: usize) -> u64 {
    if last - first == 1 {
        return board.place(first).map_or(0, |board| forked(fork, n, &board));
    }
    let middle = first + (last - first) / 2;
    let (a, b) = fork.join(
        |fork| in_columns(fork, n, board, first, middle),
        |fork| in_columns(fork, n, board, middle, last),
    );
    a + b
}

impl Program for Queens {
    type Input = usize;
    type Output = u64;

    fn name(&self) -> String {
        format!("queens({})", self.0)
    }

    fn input(&self) -> usize {
        black_box(self.0)
    }

    fn serial(&self, n: usize) -> u64 {
        plain(n, &Board::EMPTY)
    }

    fn forked<F: Fork>(&self, fork: &F, n: usize) -> u64 {
        forked(fork, n, &Board::EMPTY)
    }

    fn check(&self, output: &u64) {
        assert_eq!(*output, SOLUTIONS[self.0]);
    }
}
