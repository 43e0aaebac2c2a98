//! LCS: the longest common subsequence of two texts, by tiles (Shiina and Taura, IEEE Cluster 2022).
//!
//! The table of the dynamic program is cut into tiles. A tile needs the last row of the tile above and the last column of the tile to the left. It is begun by
//! its left neighbor, and waits for the future of the tile above. So the tiles run in waves along the diagonals, on any rank.
//!
//! `cargo run --release -p furcate-cluster --example lcs -- 16384 --ranks 2 --compare` checks the result against the sequential program.

#[path = "../../../examples/common/mod.rs"]
mod common;
#[path = "../support/efficiency.rs"]
mod efficiency;
#[path = "../support/joins.rs"]
mod joins;
#[path = "../support/progress.rs"]
mod progress;
#[path = "../support/ranks.rs"]
mod ranks;

use clap::Parser;
use common::arguments::Bounds;
use common::output::{grouped, line};
use common::random::Random;
use common::table::time;
use common::timing::timed;
use furcate_cluster::World;
use furcate_cluster::frame::{Frame, FrameContext, Future, Next};
use joins::{Published, VARIANTS, compare, measured};
use progress::Done;
use ranks::Ranks;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Up to the greater size of the paper, 2^22.
const LENGTH: Bounds<usize> = Bounds::new(1, 1 << 22);
const TILE: Bounds<usize> = Bounds::new(1, 1 << 20);

/// The paper's times on 576 cores, for tiles of 512.
const PUBLISHED: [Published; 6] = [
    ("published, 2^18: greedy", ["0.569 s", "", "", "", "", "", "", ""]),
    ("published, 2^18: stalling", ["3.44 s", "", "", "", "", "", "", ""]),
    ("published, 2^18: child", ["93.1 s", "", "", "", "", "", "", ""]),
    ("published, 2^22: greedy", ["45.9 s", "", "", "", "", "", "", ""]),
    ("published, 2^22: stalling", ["433 s", "", "", "", "", "", "", ""]),
    ("published, 2^22: child", ["21,100 s", "", "", "", "", "", "", ""]),
];

/// Finds the length of the longest common subsequence of two random texts.
#[derive(Parser)]
#[command(name = "lcs")]
struct Arguments {
    #[arg(default_value_t = 16_384, value_parser = LENGTH.parser(), help = LENGTH.help("Length of each text"))]
    n: usize,
    #[arg(long, default_value_t = 512, value_parser = TILE.parser(), help = TILE.help("Rows and columns of a tile"))]
    tile: usize,
    /// Compares continuation stealing with child stealing, and adds the published values.
    #[arg(long)]
    compare: bool,
    #[command(flatten)]
    ranks: Ranks,
}

/// The texts, which all ranks have.
struct Texts {
    down: Vec<u8>,
    right: Vec<u8>,
    tile: usize,
    done: Arc<Done>,
}

impl Texts {
    fn random(n: usize, tile: usize, done: &Arc<Done>) -> Self {
        let text = |seed| {
            let mut random = Random(seed);
            (0..n).map(|_| b"acgt"[random.below(4) as usize]).collect()
        };
        Texts { down: text(1), right: text(2), tile, done: Arc::clone(done) }
    }

    /// The sequential program: one tile after the other, row by row.
    fn sequential(&self) -> u32 {
        let tiles = 0..self.tiles();
        let width = |column| self.beside(0, column).1.len();
        let mut bottoms: Vec<_> = tiles.clone().map(|column| vec![0; width(column) + 1]).collect();
        for row in tiles {
            let mut left = vec![0; self.beside(row, 0).0.len()];
            for (column, bottom) in bottoms.iter_mut().enumerate() {
                let (down, right) = self.beside(row, column);
                (*bottom, left) = fill(down, right, std::mem::take(bottom), left);
            }
        }
        bottoms.last().and_then(|bottom| bottom.last()).copied().unwrap_or_default()
    }

    /// The texts beside a tile.
    fn beside(&self, row: usize, column: usize) -> (&[u8], &[u8]) {
        let part =
            |text: &'_ [u8], index: usize| index * self.tile..((index + 1) * self.tile).min(text.len());
        (&self.down[part(&self.down, row)], &self.right[part(&self.right, column)])
    }

    /// The number of rows of tiles, and of columns.
    fn tiles(&self) -> usize {
        self.down.len().div_ceil(self.tile)
    }
}

/// Fills a part of the table. Takes the row above, with the value at its left corner, and the column to the left. Returns the last row, with the
/// value to its left, and the last column. Not inlined, so that both programs run the same code.
#[inline(never)]
fn fill(down: &[u8], right: &[u8], above: Vec<u32>, left: Vec<u32>) -> (Vec<u32>, Vec<u32>) {
    let mut row = above;
    let mut last = left;
    for (a, edge) in down.iter().zip(&mut last) {
        let mut diagonal = std::mem::replace(&mut row[0], *edge);
        let mut before = *edge;
        for (b, value) in right.iter().zip(&mut row[1..]) {
            let longest = if a == b { diagonal + 1 } else { before.max(*value) };
            diagonal = std::mem::replace(value, longest);
            before = longest;
        }
        *edge = before;
    }
    (row, last)
}

/// The output of a tile: its last row, and the future of the next tile of the row.
#[derive(Serialize, Deserialize)]
struct Tile {
    bottom: Vec<u32>,
    next: Option<Future<Tile>>,
}

#[derive(Serialize, Deserialize)]
enum Lcs {
    /// A tile whose neighbor above is there.
    Fill { row: usize, column: usize, left: Vec<u32>, above: Tile },
    /// A tile that has waited for its neighbor above.
    After { row: usize, column: usize, left: Vec<u32> },
    /// Hands the last tile's output on.
    Last,
}

impl Frame for Lcs {
    type Output = Tile;
    type Data = Texts;

    fn step(self, results: Vec<Tile>, context: &mut FrameContext<'_, Self>) -> Next<Self> {
        let mut results = results.into_iter();
        let mut result = || results.next().expect("a frame gets what it has waited for");
        let (row, column, left, above) = match self {
            Lcs::Fill { row, column, left, above } => (row, column, left, above),
            Lcs::After { row, column, left } => (row, column, left, result()),
            Lcs::Last => return Next::Return(result()),
        };
        let texts = context.data();
        let (down, right) = texts.beside(row, column);
        let (bottom, last) = fill(down, right, above.bottom, left);
        texts.done.add(1);
        let next = (column + 1 < texts.tiles()).then(|| match above.next {
            Some(above) => context.fork_after([above], Lcs::After { row, column: column + 1, left: last }),
            None => {
                // The first row has zeros above.
                let width = texts.beside(row, column + 1).1.len();
                let above = Tile { bottom: vec![0; width + 1], next: None };
                context.fork(Lcs::Fill { row, column: column + 1, left: last, above })
            }
        });
        if row + 1 == texts.tiles() {
            return match next {
                Some(next) => Next::after([next], Lcs::Last),
                None => Next::Return(Tile { bottom, next }),
            };
        }
        if column > 0 {
            return Next::Return(Tile { bottom, next });
        }
        // The first tile of a row begins the next row, which leads to the last tile.
        let height = texts.beside(row + 1, 0).0.len();
        let above = Tile { bottom, next };
        Next::join([Lcs::Fill { row: row + 1, column: 0, left: vec![0; height], above }], Lcs::Last)
    }
}

fn main() {
    let Arguments { n, tile, compare: compares, ranks } = Arguments::parse();
    let root = |texts: &Texts| {
        let (down, right) = texts.beside(0, 0);
        let above = Tile { bottom: vec![0; right.len() + 1], next: None };
        Lcs::Fill { row: 0, column: 0, left: vec![0; down.len()], above }
    };
    // Not the last one: a tile waits for a future.
    let variants = if compares { &VARIANTS[..3] } else { &VARIANTS[..1] };
    let program = |world: &World, done: &Arc<Done>| {
        let texts = Texts::random(n, tile, done);
        measured(world, variants, || root(&texts), &texts)
    };
    let Some((runs, ranks, workers)) = ranks.run(("lcs", "tiles"), program) else { return };
    let texts = Texts::random(n, tile, &Arc::default());
    let (expected, serial) = timed(|| texts.sequential());
    let is_right = |tile: &Tile| tile.bottom.last() == Some(&expected);
    assert!(runs.iter().all(|run| is_right(&run.output)), "the sequential program's last value");
    line(format_args!(
        "a common subsequence of {} letters of {} in {} on {ranks}",
        grouped(expected),
        grouped(n),
        time(runs[0].time)
    ));
    line(format_args!("the sequential program takes {}", time(serial)));
    compare(&runs, (serial, workers), if compares { &PUBLISHED } else { &[] });
}
