//! Finds the length of the longest common subsequence of two texts, by blocks along anti-diagonals (classic: LCS).

use crate::program::{Program, equal, reads};
use fastrand::Rng;

pub(super) const PROGRAM: Program = Program {
    name: "longest_common_subsequence",
    suite: "classic",
    what: "the length of the longest common subsequence of two texts",
    unit: "letters",
    size: 1 << 14,
    quick: 1 << 11,
    schedule: "",
    why: "slightly faster: each anti-diagonal is a short loop with a wait at its end; rayon hands a call from outside its pool over to a worker, while the caller sleeps, and furcate's caller takes part itself",
    source: include_str!("longest_common_subsequence.rs"),
    case: |size| {
        let mut random = Rng::with_seed(1);
        let mut text = || (0..size).map(|_| random.u8(b'a'..=b'd')).collect::<Vec<u8>>();
        let texts = [text(), text()];
        reads(texts, [sequential::run, rayon::run, furcate::run], |[a, b], length| {
            equal(length, &by_rows(a, b))
        })
    },
};

/// The side of a block.
const BLOCK: usize = 256;

/// Fills a block of the table of lengths.
///
/// The lengths of neighbors differ by 0 or 1, and only these differences are stored: in `down` between the rows at the block's left edge, in
/// `along` between the columns at its upper edge. Afterward, they are the differences at the right and at the lower edge.
#[inline(never)]
fn fill(a: &[u8], b: &[u8], down: &mut [u8], along: &mut [u8]) {
    for (x, last) in a.iter().zip(down) {
        let mut down = *last;
        for (y, along) in b.iter().zip(along.iter_mut()) {
            let step = u8::from(x == y) | down | *along;
            (down, *along) = (step - *along, step - down);
        }
        *last = down;
    }
}

/// Returns the sum of the differences.
fn length(along: &[u8]) -> usize {
    along.iter().map(|&step| usize::from(step)).sum()
}

/// Returns the length by the usual table of two rows, for the check.
fn by_rows(a: &[u8], b: &[u8]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let above = row.clone();
        for (column, y) in b.iter().enumerate() {
            row[column + 1] = if x == y { above[column] + 1 } else { above[column + 1].max(row[column]) };
        }
    }
    row[b.len()]
}

mod sequential {
    use super::{fill, length};

    pub(super) fn run([a, b]: &[Vec<u8>; 2]) -> usize {
        let (mut down, mut along) = (vec![0; a.len()], vec![0; b.len()]);
        fill(a, b, &mut down, &mut along);
        length(&along)
    }
}

mod rayon {
    use super::{BLOCK, fill, length};
    use crate::blocks::anti_diagonal;
    use rayon::prelude::*;

    pub(super) fn run([a, b]: &[Vec<u8>; 2]) -> usize {
        let (mut down, mut along) = (vec![0; a.len()], vec![0; b.len()]);
        let mut rows: Vec<_> = a.chunks(BLOCK).zip(down.chunks_mut(BLOCK)).collect();
        let mut columns: Vec<_> = b.chunks(BLOCK).zip(along.chunks_mut(BLOCK)).collect();
        for number in 0..(rows.len() + columns.len()).saturating_sub(1) {
            let (rows, columns) = anti_diagonal(number, &mut rows, &mut columns);
            let blocks = rows.par_iter_mut().rev().zip(columns.par_iter_mut());
            blocks.for_each(|((a, down), (b, along))| fill(a, b, down, along));
        }
        length(&along)
    }
}

mod furcate {
    use super::{BLOCK, fill, length};
    use crate::blocks::anti_diagonal;
    use furcate::prelude::*;

    pub(super) fn run([a, b]: &[Vec<u8>; 2]) -> usize {
        let (mut down, mut along) = (vec![0; a.len()], vec![0; b.len()]);
        let mut rows: Vec<_> = a.chunks(BLOCK).zip(down.chunks_mut(BLOCK)).collect();
        let mut columns: Vec<_> = b.chunks(BLOCK).zip(along.chunks_mut(BLOCK)).collect();
        for number in 0..(rows.len() + columns.len()).saturating_sub(1) {
            let (rows, columns) = anti_diagonal(number, &mut rows, &mut columns);
            let blocks = rows.par_iter_mut().rev().zip(columns.par_iter_mut());
            blocks.for_each(|((a, down), (b, along))| fill(a, b, down, along));
        }
        length(&along)
    }
}
