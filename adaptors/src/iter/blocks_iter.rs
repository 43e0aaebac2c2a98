//! `blocks_iter`: blocks that a sequential consumer asks for, each one computed in parallel.
//!
//! # Invariants
//!
//! 1. *Lazy.* A block is cut off when it is asked for, and run by a terminal of its own. No later block is cut off
//!    before.
//! 2. *Order.* Blocks come in the order of the items, and so do the items of a block that is collected.
//!
//! Pieces borrow from the iterator that lends them, so that iterator has to stay somewhere while they are used. Its
//! place is [`BlocksIter`], which therefore is not an `Iterator` itself, but lends two.

use super::{IndexedParallelIterator, ParallelIterator};
use furcate_schedulers::{BlockSizes, Blocks, Divisible, IndexedProducer, PlanOf, Schedule};
use std::fmt;
use std::iter::FusedIterator;
use std::vec;

/// Blocks that are consumed one after the other: see [`ParallelIterator::blocks_iter`].
///
/// ```
/// use furcate::prelude::*;
/// let mut blocks = (1..=100_u32).into_par_iter().map(|x| x * x).blocks_iter([10, 20]);
/// let sums: Vec<u32> = blocks.iter().map(|block| block.sum()).collect();
/// assert_eq!(sums.len(), 3); // 10 items, 20, and the rest
/// ```
#[must_use = "iterators do nothing until they are asked for something"]
#[derive(Clone, Debug)]
pub struct BlocksIter<I, Z> {
    base: I,
    sizes: Z,
}

impl<I: ParallelIterator, Z: BlockSizes> BlocksIter<I, Z> {
    pub(crate) fn new(base: I, sizes: Z) -> Self {
        BlocksIter { base, sizes }
    }

    /// Returns the blocks. Each is a parallel iterator, with the policy, the scheduler and the executor of the chain.
    ///
    /// A block that no terminal drives is dropped, with its items. If items are borrowed, a second call begins again.
    /// If they are owned (a vector's items), they are gone with the first call. The items of a `par_bridge` go on behind the last block.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// // How many blocks of 1000 does it take until their squares' sum is too large?
    /// let mut squares = (0..u64::MAX).into_par_iter().map(|x| x * x).blocks_iter(std::iter::repeat(1000));
    /// let sums = squares.iter().map(|block| block.sum::<u64>());
    /// assert_eq!(sums.take_while(|&sum| sum < 1 << 40).count(), 33);
    /// ```
    #[inline]
    pub fn iter(&mut self) -> LentBlocks<'_, I, Z> {
        let plan = self.base.schedule().into_plan();
        let exact = self.base.opt_len().is_some();
        let sizes = self.sizes.block_sizes(furcate_pool::Executor::num_threads(&plan.executor));
        let blocks = Blocks::new(self.base.producer(), sizes);
        LentBlocks { blocks, plan, exact }
    }

    /// Returns the items, in order. A block is computed, in parallel, when its first item is asked for.
    ///
    /// ```
    /// use furcate::prelude::*;
    /// fn is_prime(n: &u32) -> bool {
    ///     *n > 1 && (2..).take_while(|d| d * d <= *n).all(|d| n % d != 0)
    /// }
    /// let mut primes = (0..u32::MAX).into_par_iter().filter(is_prime).blocks_iter(std::iter::repeat(100));
    /// assert!(primes.items().take(6).eq([2, 3, 5, 7, 11, 13])); // nothing from 100 on has been looked at
    /// ```
    #[inline]
    pub fn items(&mut self) -> BlockItems<'_, I, Z> {
        BlockItems { blocks: self.iter(), items: Vec::new().into_iter() }
    }
}

impl<'a, I: ParallelIterator, Z: BlockSizes> IntoIterator for &'a mut BlocksIter<I, Z> {
    type Item = Block<'a, I>;
    type IntoIter = LentBlocks<'a, I, Z>;

    #[inline]
    fn into_iter(self) -> LentBlocks<'a, I, Z> {
        self.iter()
    }
}

/// The iterator over blocks: see [`BlocksIter::iter`].
#[must_use = "iterators do nothing until they are asked for something"]
pub struct LentBlocks<'a, I: ParallelIterator + 'a, Z: BlockSizes> {
    blocks: Blocks<I::Producer<'a>, Z::Sizes>,
    plan: PlanOf<I::Schedule>,
    exact: bool,
}

impl<'a, I: ParallelIterator, Z: BlockSizes> Iterator for LentBlocks<'a, I, Z> {
    type Item = Block<'a, I>;

    fn next(&mut self) -> Option<Block<'a, I>> {
        // For `Blocks` an empty whole is one block, too. Here it is none.
        let block = self.blocks.find(|block| block.size() > 0)?;
        Some(Block { block: Some(block), plan: self.plan.clone(), exact: self.exact })
    }
}

impl<I: ParallelIterator, Z: BlockSizes> FusedIterator for LentBlocks<'_, I, Z> {}

impl<I: ParallelIterator, Z: BlockSizes> fmt::Debug for LentBlocks<'_, I, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LentBlocks").finish_non_exhaustive()
    }
}

/// The iterator over the items of blocks: see [`BlocksIter::items`].
#[must_use = "iterators do nothing until they are asked for something"]
pub struct BlockItems<'a, I: ParallelIterator + 'a, Z: BlockSizes> {
    blocks: LentBlocks<'a, I, Z>,
    items: vec::IntoIter<I::Item>,
}

impl<I: ParallelIterator, Z: BlockSizes> Iterator for BlockItems<'_, I, Z> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        loop {
            if let Some(item) = self.items.next() {
                return Some(item);
            }
            self.items = self.blocks.next()?.collect::<Vec<_>>().into_iter();
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.items.len(), None)
    }
}

impl<I: ParallelIterator, Z: BlockSizes> FusedIterator for BlockItems<'_, I, Z> {}

impl<I: ParallelIterator, Z: BlockSizes> fmt::Debug for BlockItems<'_, I, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockItems").finish_non_exhaustive()
    }
}

/// A block: a parallel iterator over some neighboring items of another one, with its schedule.
///
/// ```
/// use furcate::prelude::*;
/// let words = ["one", "fish", "two", "fish"];
/// let mut lines = vec![];
/// for line in &mut words.par_iter().blocks_iter([2, 2]) {
///     lines.push(line.map(|word| word.len()).collect::<Vec<_>>());
/// }
/// assert_eq!(lines, [[3, 4], [3, 4]]);
/// ```
#[must_use = "iterators do nothing until a terminal drives them"]
pub struct Block<'a, I: ParallelIterator + 'a> {
    /// Producer of the block; `None` once it has been lent.
    block: Option<I::Producer<'a>>,
    plan: PlanOf<I::Schedule>,
    /// Whether the block's size is the number of its items.
    exact: bool,
}

impl<I: ParallelIterator> fmt::Debug for Block<'_, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("size", &self.block.size()).finish_non_exhaustive()
    }
}

impl<'a, I: ParallelIterator> ParallelIterator for Block<'a, I> {
    type Item = I::Item;
    type Producer<'p>
        = I::Producer<'a>
    where
        Self: 'p;
    type Schedule = PlanOf<I::Schedule>;

    /// # Panics
    ///
    /// If it has been lent before.
    #[inline]
    fn producer(&mut self) -> I::Producer<'a> {
        self.block.take().expect("a block is lent once")
    }

    #[inline]
    fn schedule(&self) -> PlanOf<I::Schedule> {
        self.plan.clone()
    }

    #[inline]
    fn opt_len(&self) -> Option<usize> {
        self.exact.then(|| self.block.size())
    }
}

impl<'a, I> IndexedParallelIterator for Block<'a, I>
where
    I: IndexedParallelIterator,
    I::Producer<'a>: IndexedProducer,
{
    type IndexedProducer<'p>
        = I::Producer<'a>
    where
        Self: 'p;

    #[inline]
    fn indexed_producer(&mut self) -> I::Producer<'a> {
        self.producer()
    }

    #[inline]
    fn len(&self) -> usize {
        self.block.size()
    }
}
