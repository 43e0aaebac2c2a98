//! The longest common subsequence by quadrants: a wavefront, written with nested loops of two.
//!
//! `L[i][j]` is the length for the first i letters of one text and the first j of the other. It is computed block by
//! block; of a block that is done only its edges are kept, for the blocks at its right and below it.
//!
//! ```text
//!   1 2      quadrants 2 can run in parallel, after 1 and before 3; each is divided likewise
//!   2 3
//! ```

use super::{Loop, Nested};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Two texts of random letters of four, of a length that is a power of two.
#[derive(Debug)]
pub struct Lcs {
    texts: [Vec<u8>; 2],
    block: usize,
}

/// Known entries of `L`. The computation of a block is ordered after the computations of its neighbors, by the loops'
/// begins and ends; the atomics order nothing.
struct Edges {
    /// `L[i][j]` for each j, with the i of the last block done there.
    bottom: Vec<AtomicU32>,
    /// `L[i][j]` for each i, with the j of the last block done there.
    right: Vec<AtomicU32>,
    /// `L[i][j]` where blocks meet, row by row.
    corners: Vec<AtomicU32>,
}

impl Lcs {
    /// Makes two texts of `length` letters, to be computed by blocks of `block` times `block`.
    ///
    /// # Panics
    ///
    /// If these are no powers of two, or `block` is greater.
    #[must_use]
    pub fn new(length: usize, block: usize) -> Self {
        assert!(length.is_power_of_two() && block.is_power_of_two() && block <= length);
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut letter = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 60) as u8 & 3
        };
        let texts = [(); 2].map(|()| (0..length).map(|_| letter()).collect());
        Lcs { texts, block }
    }

    fn len(&self) -> usize {
        self.texts[0].len()
    }

    fn square(&self, on: &impl Loop, edges: &Edges, i: usize, j: usize, side: usize) {
        if side == self.block {
            return self.one_block(edges, i, j);
        }
        let half = side / 2;
        self.square(on, edges, i, j, half);
        on.sum(0..2, |second| {
            let (i, j) = if second == 0 { (i, j + half) } else { (i + half, j) };
            self.square(on, edges, i, j, half);
            0
        });
        self.square(on, edges, i + half, j + half, half);
    }

    /// Computes `L` for the letters from i and j on.
    fn one_block(&self, edges: &Edges, i: usize, j: usize) {
        let corner = |i: usize, j: usize| {
            &edges.corners[(i / self.block) * (self.len() / self.block + 1) + j / self.block]
        };
        let columns = j..j + self.block;
        let mut above: Vec<u32> =
            edges.bottom[columns.clone()].iter().map(|edge| edge.load(Relaxed)).collect();
        let mut above_left = corner(i, j).load(Relaxed);
        for row in i..i + self.block {
            let first = edges.right[row].load(Relaxed);
            let (mut left, mut diagonal) = (first, above_left);
            let letter = self.texts[0][row];
            for (above, &other) in above.iter_mut().zip(&self.texts[1][columns.clone()]) {
                left = if letter == other { diagonal + 1 } else { left.max(*above) };
                diagonal = std::mem::replace(above, left);
            }
            above_left = first;
            edges.right[row].store(left, Relaxed);
        }
        for (edge, &last) in edges.bottom[columns].iter().zip(&above) {
            edge.store(last, Relaxed);
        }
        corner(i + self.block, j + self.block).store(above[self.block - 1], Relaxed);
    }
}

impl Nested for Lcs {
    fn name(&self) -> String {
        format!("lcs({}, blocks of {})", self.len(), self.block)
    }

    fn run(&self, on: &impl Loop) -> u64 {
        let zeros = |count: usize| (0..count).map(|_| AtomicU32::new(0)).collect::<Vec<_>>();
        let blocks = self.len() / self.block + 1;
        let edges =
            Edges { bottom: zeros(self.len()), right: zeros(self.len()), corners: zeros(blocks * blocks) };
        self.square(on, &edges, 0, 0, self.len());
        u64::from(edges.bottom[self.len() - 1].load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Serial;
    use super::*;

    #[test]
    fn by_the_book() {
        for (length, block) in [(1, 1), (2, 1), (64, 1), (64, 4), (256, 256), (256, 32)] {
            let lcs = Lcs::new(length, block);
            let [a, b] = &lcs.texts;
            let mut table = vec![vec![0; length + 1]; length + 1];
            for i in 0..length {
                for j in 0..length {
                    table[i + 1][j + 1] =
                        if a[i] == b[j] { table[i][j] + 1 } else { table[i][j + 1].max(table[i + 1][j]) };
                }
            }
            assert_eq!(lcs.run(&Serial), table[length][length]);
        }
    }
}
