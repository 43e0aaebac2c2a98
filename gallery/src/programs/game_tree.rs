//! Finds the value of each first move in Connect Four, by a search that stops at a move that proves the bound (classic: game tree).

use crate::program::{Program, equal, reads};
use std::collections::HashMap;

pub(super) const PROGRAM: Program = Program {
    name: "game_tree",
    suite: "classic",
    what: "the value of each first move in Connect Four on a board of five columns",
    unit: "squares",
    size: 21,
    quick: 19,
    schedule: ".join()",
    why: "a few percent slower on two threads: loops over a few moves, one within the other, between which a thread is idle for 6 % of the time, and for 3 % with rayon; `join` looks at all moves at once, as rayon does, while a search without a word goes by blocks; with eight threads on two cores it takes two thirds of rayon's time",
    source: include_str!("game_tree.rs"),
    case: |size| {
        let board = Board { squares: size, mine: 0, all: 0 };
        reads(board, [sequential::run, rayon::run, furcate::run], |board, values| {
            equal(values, &sequential::run(board))?;
            // With these numbers of squares, the board is symmetric, and so are the values.
            if let 0 | 1 | 3 = board.squares % WIDTH {
                equal(&[values.get(1), values.get(3)], &[values.get(2), values.get(4)])?;
            }
            if board.squares > TABLE {
                return Ok(());
            }
            let mut table = HashMap::new();
            equal(values, &board.moves().map(|next| by_table(next, &mut table)).collect())
        })
    },
};

const WIDTH: usize = 5;

/// The columns, from the middle outward: moves in the middle are often the best ones.
const COLUMNS: [usize; WIDTH] = [2, 1, 3, 0, 4];

/// With at most this number of free squares, one thread searches the rest of the game.
const SHORT: usize = 12;

/// The check fills a table of all boards with at most this number of squares.
const TABLE: usize = 19;

/// The number of bits of a column. The uppermost bit stays 0, so that no line of four continues in the next column.
const BITS: usize = 8;

/// A board. Columns in the middle may have one square more than the others.
#[derive(Clone, Copy)]
struct Board {
    squares: usize,
    /// The stones of the player whose turn it is.
    mine: u64,
    /// The stones of both players.
    all: u64,
}

impl Board {
    fn free(self) -> usize {
        self.squares - self.all.count_ones() as usize
    }

    /// Whether the other player has four in a row.
    fn is_lost(self) -> bool {
        let other = self.all ^ self.mine;
        [1, BITS - 1, BITS, BITS + 1].into_iter().any(|step| {
            let pairs = other & other >> step;
            pairs & pairs >> (2 * step) != 0
        })
    }

    /// The boards after each move that is possible.
    fn moves(self) -> impl Iterator<Item = Board> {
        COLUMNS.into_iter().enumerate().filter_map(move |(rank, column)| {
            let height = (self.squares + WIDTH - 1 - rank) / WIDTH;
            let lowest = 1 << (column * BITS);
            let squares = ((1 << height) - 1) * lowest;
            let stone = (self.all + lowest) & squares;
            let next = Board { mine: self.all ^ self.mine, all: self.all | stone, ..self };
            (stone != 0).then_some(next)
        })
    }
}

/// Returns the board's value for the player whose turn it is, by a table of all boards, for the check.
fn by_table(board: Board, table: &mut HashMap<[u64; 2], i32>) -> i32 {
    if board.is_lost() {
        return -1;
    }
    let key = [board.mine, board.all];
    if let Some(value) = table.get(&key) {
        return *value;
    }
    let value = board.moves().map(|next| -by_table(next, table)).max().unwrap_or(0);
    table.insert(key, value);
    value
}

mod sequential {
    use super::Board;

    /// Returns the value of each first move for the other player: 1 is a win, 0 a draw, and -1 a loss.
    pub(super) fn run(board: &Board) -> Vec<i32> {
        let value = |next| [1, 0].into_iter().find(|&bound| reaches(next, bound)).unwrap_or(-1);
        board.moves().map(value).collect()
    }

    /// Whether the board's value for the player whose turn it is is at least the bound, 0 or 1.
    ///
    /// A move's value for me is at least `bound` if its value for the other player is below `1 - bound`.
    pub(super) fn reaches(board: Board, bound: i32) -> bool {
        if board.is_lost() || board.free() == 0 {
            return !board.is_lost() && bound == 0;
        }
        board.moves().any(|next| !reaches(next, 1 - bound))
    }
}

mod rayon {
    use super::{Board, SHORT, sequential};
    use rayon::prelude::*;

    pub(super) fn run(board: &Board) -> Vec<i32> {
        let value = |next| [1, 0].into_iter().find(|&bound| reaches(next, bound)).unwrap_or(-1);
        board.moves().map(value).collect()
    }

    fn reaches(board: Board, bound: i32) -> bool {
        if board.is_lost() || board.free() <= SHORT {
            return sequential::reaches(board, bound);
        }
        // In most cases, the first move proves the bound. If not, the others are searched in parallel.
        let moves: Vec<Board> = board.moves().collect();
        !reaches(moves[0], 1 - bound) || moves[1..].par_iter().any(|&next| !reaches(next, 1 - bound))
    }
}

mod furcate {
    use super::{Board, SHORT, sequential};
    use furcate::prelude::*;

    pub(super) fn run(board: &Board) -> Vec<i32> {
        let value = |next| [1, 0].into_iter().find(|&bound| reaches(next, bound)).unwrap_or(-1);
        board.moves().map(value).collect()
    }

    fn reaches(board: Board, bound: i32) -> bool {
        if board.is_lost() || board.free() <= SHORT {
            return sequential::reaches(board, bound);
        }
        // In most cases, the first move proves the bound. If not, the others are searched in parallel: `join` forks them down to single moves.
        let moves: Vec<Board> = board.moves().collect();
        !reaches(moves[0], 1 - bound) || moves[1..].par_iter().join().any(|&next| !reaches(next, 1 - bound))
    }
}
