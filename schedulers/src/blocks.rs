//! Blocks: the parts of a producer that are run one after the other.
//!
//! # Invariants
//!
//! 1. The blocks are the whole, in order: all from the front, or all from the back of the remaining part.
//! 2. There is at least one block, even of an empty whole. All other blocks hold something.
//! 3. *Progress.* After two cuts in a row that leave no less than the least size so far, the remaining part is one
//!    block. If the size is `usize::MAX` (more than can be counted, as of an endless producer), a cut is progress if
//!    the part cut off is not empty and its own size is less than `usize::MAX`.
//! 4. The parts in `fronts`, in order, and then `rest` are the whole that has not been given yet.

mod by_blocks;

pub use by_blocks::ByBlocks;

use crate::Divisible;
use std::iter::{FusedIterator, Successors, successors};
use std::mem;

/// The sizes of a computation's blocks, one after the other: see [`ByBlocks`](crate::ByBlocks).
///
/// Any value that gives numbers, and can be cloned, implements this: a vector, a range, `std::iter::repeat(1000)`.
/// After the last number, the remaining units are one last block. A 0 counts as 1. The units are the units of
/// [`Divisible::size`]: items, or bytes of a string.
///
/// ```
/// use furcate::prelude::*;
/// let powers = std::iter::successors(Some(1000), |size| Some(size * 10));
/// assert_eq!((0..100_000).into_par_iter().by_blocks(powers).find_first(|x| x % 777 == 776), Some(776));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how large blocks are",
    note = "block sizes are anything that is `IntoIterator<Item = usize>`, `Clone` and `Send`: `vec![100, 1000]`, `std::iter::repeat(1000)`; or `Doubling`"
)]
pub trait BlockSizes: Clone + Send {
    /// Iterator over the sizes.
    type Sizes: Iterator<Item = usize>;

    /// Returns the sizes of the blocks on `threads` threads.
    fn block_sizes(&self, threads: usize) -> Self::Sizes;
}

impl<Z: IntoIterator<Item = usize> + Clone + Send> BlockSizes for Z {
    type Sizes = Z::IntoIter;

    #[inline]
    fn block_sizes(&self, _threads: usize) -> Z::IntoIter {
        self.clone().into_iter()
    }
}

/// Blocks of P, 2P, 4P ... units on P threads.
///
/// A computation that could have ended after n units does less than 2n units in vain after that point.
///
/// ```
/// use furcate::{BlockSizes, Doubling};
/// assert!(Doubling.block_sizes(3).take(4).eq([3, 6, 12, 24]));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubling;

impl BlockSizes for Doubling {
    type Sizes = Successors<usize, fn(&usize) -> Option<usize>>;

    #[inline]
    fn block_sizes(&self, threads: usize) -> Self::Sizes {
        successors(Some(threads.max(1)), |size| Some(size.saturating_mul(2)))
    }
}

/// Iterator over the blocks of a divisible, from the front.
///
/// ```
/// use furcate_schedulers::Blocks;
/// let blocks = Blocks::new(0..100, [10, 0, 50].into_iter());
/// assert!(blocks.eq([0..10, 10..11, 11..61, 61..100]));
/// ```
#[derive(Clone, Debug)]
pub struct Blocks<D, Z> {
    rest: Option<D>,
    /// Parts in front of `rest`, from which the back was halved off (invariant 4).
    fronts: Vec<D>,
    sizes: Z,
    /// The least size that the remaining part has had.
    least: usize,
    /// Number of cuts in a row that have left no less than `least` (invariant 3).
    fruitless: u8,
    /// Number of times that the back may still be halved off: the halves of an endless whole are endless too.
    halvings: u8,
}

/// More halvings than any range of 128 bits needs.
const HALVINGS: u8 = 128;

impl<D: Divisible, Z: Iterator<Item = usize>> Blocks<D, Z> {
    /// Makes blocks of these sizes, and a last block of the remaining units.
    #[inline]
    pub fn new(whole: D, sizes: Z) -> Self {
        Blocks {
            rest: Some(whole),
            fronts: Vec::new(),
            sizes,
            least: usize::MAX,
            fruitless: 0,
            halvings: HALVINGS,
        }
    }

    /// Cuts off and returns the last block of the remaining part. If the size of that part is `usize::MAX`, the position of its end is
    /// unknown: then it is halved first, until the last half can be counted. If that does not happen (its [halves](Divisible::divide) are
    /// endless too), the block is the last of these halves.
    ///
    /// ```
    /// use furcate_schedulers::Blocks;
    /// let mut blocks = Blocks::new(0..100, std::iter::repeat(40));
    /// assert_eq!(blocks.next_from_back(), Some(60..100));
    /// assert_eq!(blocks.next_from_back(), Some(20..60));
    /// assert_eq!(blocks.next_from_back(), Some(0..20));
    /// assert_eq!(blocks.next_from_back(), None);
    /// ```
    #[inline]
    pub fn next_from_back(&mut self) -> Option<D> {
        // A gate that has closed since the last block may have left nothing of the rest, but parts in front of it.
        while self.rest.as_ref().is_none_or(|rest| rest.size() == 0) {
            let Some(front) = self.fronts.pop() else { break };
            self.go_on_with(front);
        }
        if self.rest.as_ref().is_some_and(|rest| rest.size() == usize::MAX) {
            self.find_back();
        }
        self.cut_off(|whole, size, block| {
            if size == usize::MAX {
                return Err(whole);
            }
            let (rest, block) = whole.divide_at(size - block);
            Ok((block, rest))
        })
    }

    /// Returns the next block of the first part, where blocks have been cut off from the back before.
    #[cold]
    fn next_of_fronts(&mut self) -> Option<D> {
        let back = self.rest.replace(self.fronts.remove(0));
        self.least = usize::MAX;
        let block = self.cut_off(|whole, _size, block| Ok(whole.divide_at(block)));
        if let Some(rest) = mem::replace(&mut self.rest, back) {
            self.fronts.insert(0, rest);
        }
        block
    }

    /// Makes the last part of the rest that can be counted the rest, if there is one.
    #[cold]
    fn find_back(&mut self) {
        let Some(mut back) = self.rest.take() else { return };
        while self.halvings > 0 && back.size() == usize::MAX {
            self.halvings -= 1;
            let (front, right) = back.divide();
            if right.size() == 0 {
                back = front;
                break;
            }
            self.fronts.push(front);
            back = right;
        }
        self.go_on_with(back);
    }

    /// Makes another part the rest.
    fn go_on_with(&mut self, part: D) {
        (self.rest, self.least, self.fruitless) = (Some(part), usize::MAX, 0);
    }

    /// Returns the next block. `cut` cuts it off, or gives the whole back if it cannot.
    #[inline]
    fn cut_off(&mut self, cut: impl Fn(D, usize, usize) -> Result<(D, D), D>) -> Option<D> {
        let mut whole = self.rest.take()?;
        loop {
            let size = whole.size();
            self.least = self.least.min(size);
            let limit = match self.sizes.next() {
                Some(limit) if limit.max(1) < size && self.fruitless < 2 => limit.max(1),
                _ => return Some(whole),
            };
            let (block, rest) = match cut(whole, size, limit) {
                Ok(parts) => parts,
                Err(whole) => return Some(whole),
            };
            let (cut_off, left) = (block.size(), rest.size());
            if left == 0 {
                return Some(block);
            }
            let endless = left == usize::MAX && 0 < cut_off && cut_off < usize::MAX;
            self.fruitless = if left < self.least || endless { 0 } else { self.fruitless + 1 };
            if cut_off > 0 {
                self.rest = Some(rest);
                return Some(block);
            }
            whole = rest;
        }
    }
}

/// Most divisions on the way to the last unit.
const DESCENT: u16 = 512;

/// Divides a whole down to its last unit; if this can be divided further (an item of a flattened iterator may hold more items than can be walked), to the last
/// unit of it, and so on, while `goes_on`. Returns the parts in front, in order, and the last one. Units that hold nothing are left out.
pub(crate) fn last_unit<D: Divisible>(whole: D, goes_on: impl Fn() -> bool) -> (Vec<D>, D) {
    let (mut fronts, mut last) = (Vec::new(), whole);
    for _ in 0..DESCENT {
        if !last.should_be_divided() || !goes_on() {
            break;
        }
        let (front, back) = match last.size() {
            0 | 1 | usize::MAX => last.divide(),
            size => last.divide_at(size - 1),
        };
        if back.size() > 0 {
            if front.size() > 0 {
                fronts.push(front);
            }
            last = back;
        } else if front.size() > 0 {
            return (fronts, front); // It cannot be divided further.
        } else {
            // The unit holds nothing: the one before it counts.
            let Some(before) = fronts.pop() else { return (fronts, front) };
            last = before;
        }
    }
    (fronts, last)
}

impl<D: Divisible, Z: Iterator<Item = usize>> Iterator for Blocks<D, Z> {
    type Item = D;

    #[inline]
    fn next(&mut self) -> Option<D> {
        if !self.fronts.is_empty() {
            return self.next_of_fronts();
        }
        self.cut_off(|whole, _size, block| Ok(whole.divide_at(block)))
    }
}

impl<D: Divisible, Z: Iterator<Item = usize>> FusedIterator for Blocks<D, Z> {}
