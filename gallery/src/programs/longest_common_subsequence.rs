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
    why: "each anti-diagonal is a parallel loop, and the first and last ones are short, which costs less in furcate",
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
#[inline(never)] // so that all columns run the same machine code
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

/// Returns the rows and the columns of an anti-diagonal's blocks, in letters: first row, end of rows, first column, end of columns.
fn anti_diagonal(index: usize, rows: usize, columns: usize) -> [usize; 4] {
    let first_row = (index + 1).saturating_sub(columns.div_ceil(BLOCK));
    let end_row = (index + 1).min(rows.div_ceil(BLOCK));
    let (first_column, end_column) = (index + 1 - end_row, index + 1 - first_row);
    [first_row * BLOCK, rows.min(end_row * BLOCK), first_column * BLOCK, columns.min(end_column * BLOCK)]
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
    use super::{BLOCK, anti_diagonal, fill, length};
    use rayon::prelude::*;

    pub(super) fn run([a, b]: &[Vec<u8>; 2]) -> usize {
        let (mut down, mut along) = (vec![0; a.len()], vec![0; b.len()]);
        for index in 0..a.len().div_ceil(BLOCK) + b.len().div_ceil(BLOCK) - 1 {
            let [top, bottom, left, right] = anti_diagonal(index, a.len(), b.len());
            let rows = a[top..bottom].par_chunks(BLOCK).zip(down[top..bottom].par_chunks_mut(BLOCK));
            let columns = b[left..right].par_chunks(BLOCK).zip(along[left..right].par_chunks_mut(BLOCK));
            rows.zip(columns.rev()).for_each(|((a, down), (b, along))| fill(a, b, down, along));
        }
        length(&along)
    }
}

mod furcate {
    use super::{BLOCK, anti_diagonal, fill, length};
    use furcate::prelude::*;

    pub(super) fn run([a, b]: &[Vec<u8>; 2]) -> usize {
        let (mut down, mut along) = (vec![0; a.len()], vec![0; b.len()]);
        for index in 0..a.len().div_ceil(BLOCK) + b.len().div_ceil(BLOCK) - 1 {
            let [top, bottom, left, right] = anti_diagonal(index, a.len(), b.len());
            let rows = a[top..bottom].par_chunks(BLOCK).zip(down[top..bottom].par_chunks_mut(BLOCK));
            let columns = b[left..right].par_chunks(BLOCK).zip(along[left..right].par_chunks_mut(BLOCK));
            rows.zip(columns.rev()).for_each(|((a, down), (b, along))| fill(a, b, down, along));
        }
        length(&along)
    }
}
