//! Counts the ways to place queens on a board, one in each row, none of which attacks another (classic: n queens).

use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "queens",
    suite: "classic",
    what: "the number of ways to place n queens",
    unit: "rows",
    size: 14,
    quick: 12,
    schedule: "",
    why: "a tie: forks stop at the last 8 rows, which keeps them rare; without that limit, forks would cost rayon much more than furcate",
    source: include_str!("queens.rs"),
    case: |size| {
        assert!(size < SOLUTIONS.len(), "give at most 16 rows");
        reads(size, [sequential::run, rayon::run, furcate::run], |&rows, count| {
            equal(count, &SOLUTIONS[rows])
        })
    },
};

/// The published numbers of solutions, by the number of rows.
const SOLUTIONS: [u64; 17] =
    [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14_200, 73_712, 365_596, 2_279_184, 14_772_512];

/// With at most this number of rows left, one thread counts the solutions.
const SHORT: u32 = 8;

/// A board whose first rows have queens. Each field is a set of columns, with a bit for each column.
#[derive(Clone, Copy)]
struct Board {
    all: u32,
    columns: u32,
    /// The columns where attacked diagonals meet the next row.
    to_left: u32,
    to_right: u32,
}

impl Board {
    fn empty(rows: usize) -> Board {
        Board { all: (1 << rows) - 1, columns: 0, to_left: 0, to_right: 0 }
    }

    fn is_full(self) -> bool {
        self.columns == self.all
    }

    fn rows_left(self) -> u32 {
        (self.all & !self.columns).count_ones()
    }

    /// Returns the squares of the next row that no queen attacks.
    fn free_squares(self) -> u32 {
        self.all & !(self.columns | self.to_left | self.to_right)
    }

    /// Returns the board with a queen in the next row.
    fn with(self, queen: u32) -> Board {
        Board {
            all: self.all,
            columns: self.columns | queen,
            to_left: (self.to_left | queen) << 1,
            to_right: (self.to_right | queen) >> 1,
        }
    }
}

/// Returns the first one of the squares, and the others.
fn split_first(squares: u32) -> (u32, u32) {
    let others = squares & (squares - 1);
    (squares ^ others, others)
}

mod sequential {
    use super::{Board, split_first};

    pub(super) fn run(rows: &usize) -> u64 {
        solutions(Board::empty(*rows))
    }

    pub(super) fn solutions(board: Board) -> u64 {
        if board.is_full() {
            return 1;
        }
        let (mut squares, mut count) = (board.free_squares(), 0);
        while squares != 0 {
            let (queen, others) = split_first(squares);
            count += solutions(board.with(queen));
            squares = others;
        }
        count
    }
}

mod rayon {
    use super::{Board, SHORT, sequential, split_first};

    pub(super) fn run(rows: &usize) -> u64 {
        solutions(Board::empty(*rows))
    }

    fn solutions(board: Board) -> u64 {
        if board.rows_left() <= SHORT {
            return sequential::solutions(board);
        }
        solutions_on(board.free_squares(), board)
    }

    /// Counts the solutions that have the next queen on one of these squares.
    fn solutions_on(squares: u32, board: Board) -> u64 {
        if squares == 0 {
            return 0;
        }
        let (queen, others) = split_first(squares);
        if others == 0 {
            return solutions(board.with(queen));
        }
        let (with, without) = rayon::join(|| solutions(board.with(queen)), || solutions_on(others, board));
        with + without
    }
}

mod furcate {
    use super::{Board, SHORT, sequential, split_first};

    pub(super) fn run(rows: &usize) -> u64 {
        solutions(Board::empty(*rows))
    }

    fn solutions(board: Board) -> u64 {
        if board.rows_left() <= SHORT {
            return sequential::solutions(board);
        }
        solutions_on(board.free_squares(), board)
    }

    /// Counts the solutions that have the next queen on one of these squares.
    fn solutions_on(squares: u32, board: Board) -> u64 {
        if squares == 0 {
            return 0;
        }
        let (queen, others) = split_first(squares);
        if others == 0 {
            return solutions(board.with(queen));
        }
        let (with, without) = furcate::join(|| solutions(board.with(queen)), || solutions_on(others, board));
        with + without
    }
}
