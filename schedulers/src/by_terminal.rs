//! The default scheduler.

use crate::blocks::BlockSizes;
use crate::{Adaptive, ByBlocks, Join, Policy, Producer, Reduction, Scheduler};
use furcate_pool::Executor;

/// What suits the terminal and the data: the default scheduler.
///
/// * Searches (`find_first`, `any`, `all`, `position_last`, comparisons ...): [by blocks](ByBlocks), from the end that the search begins with. Blocks are of P, 2P, 4P ... items on P
///   threads, later of an eighth of what has been searched: so a search that ends looks at an eighth more than it must.
/// * What it [costs](Producer::COSTLY_CUTS) something to cut (`merge`, and whatever is made of one), where no policy
///   that [says how to divide](Policy::DECIDES) is chained: [`Adaptive`]. So are the blocks of searches in such.
/// * Everything else: [`Join`].
///
/// Pieces (of a `wrap_iter`) are never cut into blocks: how many there are is the policy's business.
///
/// ```
/// use furcate::prelude::*;
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// let looks = AtomicUsize::new(0);
/// let hit = (0..1_000_000).into_par_iter().find_first(|&x| {
///     looks.fetch_add(1, Relaxed);
///     x == 10
/// });
/// assert_eq!(hit, Some(10));
/// assert!(looks.into_inner() <= 10_000, "whatever is searched");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByTerminal;

impl Scheduler for ByTerminal {
    #[inline]
    fn schedule<P, L, R, E>(&self, producer: P, policy: L, reduction: R, executor: &E) -> R::Output
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
        E: Executor,
    {
        if R::SEARCH && !P::PIECES {
            ByBlocks::new(ByTerminal, Search).schedule(producer, policy, reduction, executor)
        } else {
            self.schedule_block(producer, policy, reduction, executor)
        }
    }

    #[inline]
    fn schedule_block<P, L, R, E>(&self, block: P, policy: L, reduction: R, executor: &E) -> R::Output
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
        E: Executor,
    {
        if P::COSTLY_CUTS && !L::DECIDES {
            Adaptive::new().schedule_block(block, policy, reduction, executor)
        } else {
            Join.schedule_block(block, policy, reduction, executor)
        }
    }
}

/// The blocks of a search: they double as long as they are short, and are then one [`PART`]th of what has been searched.
///
/// Doubling to the end would be in vain with a hit in the middle of a block: who searches the second half does nothing
/// for the result, and the first half is as long as all that was there before.
#[derive(Clone, Copy)]
struct Search;

/// See [`Search`].
const PART: usize = 8;

/// The greatest size that is always doubled, per thread: about as many simple items as are worth a block.
const SHORT: usize = 4096;

impl BlockSizes for Search {
    type Sizes = SearchSizes;

    #[inline]
    fn block_sizes(&self, threads: usize) -> SearchSizes {
        SearchSizes { size: threads.max(1), searched: 0, short: threads.saturating_mul(SHORT) }
    }
}

/// The sizes that [`Search`] says.
struct SearchSizes {
    size: usize,
    searched: usize,
    short: usize,
}

impl Iterator for SearchSizes {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let size = self.size;
        self.searched = self.searched.saturating_add(size);
        self.size = size.saturating_mul(2).min(self.short.max(self.searched / PART));
        Some(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_a_search() {
        for threads in [1, 2, 3, 64, usize::MAX] {
            let (mut searched, mut before) = (0_usize, 0);
            for size in Search.block_sizes(threads).take(500) {
                assert!(size >= before.max(1) && (before == 0 || size <= before.saturating_mul(2)));
                assert!(size <= searched.saturating_add(threads) && size <= short_or_part(threads, searched));
                (searched, before) = (searched.saturating_add(size), size);
            }
            assert_eq!(searched, usize::MAX, "there are not many blocks");
        }
    }

    fn short_or_part(threads: usize, searched: usize) -> usize {
        threads.saturating_mul(SHORT).max(searched / PART)
    }
}
