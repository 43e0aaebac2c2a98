//! The default scheduler.

use crate::blocks::BlockSizes;
use crate::{
    Adaptive, ByBlocks, Divisible, Join, Policy, Producer, Reduction, Scheduler, SchedulerFacts, Workload,
};
use furcate_pool::Executor;
use std::marker::PhantomData;

/// The default scheduler, which chooses by the terminal and the data.
///
/// - Searches (`find_first`, `any`, `all`, `position_last`, comparisons ...): [by blocks](ByBlocks), from the end at
///   which the search begins. Blocks are of P, 2P, 4P ... items on P threads, and later of an eighth of the items
///   searched so far. So a search that ends early looks at an eighth more items than it must. (A search for any hit makes no blocks
///   of more items than can be counted, nor of iterators that are flattened: these might never come to where the hits are.)
/// - Producers that are [costly to cut](crate::Facts::costly_cuts) (`merge`, and chains on it): [`Adaptive`], unless a
///   policy of the chain [says how to divide](Policy::DECIDES). The same holds for the blocks of searches in such
///   producers.
/// - Producers whose units have to be [fetched](crate::Facts::fetched) one after the other (`par_bridge`): [`Adaptive`], whatever the
///   terminal and the policies.
/// - Everything else: [`Join`].
///
/// Pieces (of a `wrap_iter`) are never cut into blocks: the policy decides how many pieces there are.
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
    /// A chain that names no scheduler has this one.
    const FACTS: SchedulerFacts = SchedulerFacts { spreads: true, ..SchedulerFacts::FORKS };

    #[inline]
    fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output {
        (Chosen::<W, E>::SCHEDULE)(work, executor)
    }

    #[inline]
    fn schedule_block<W: Workload, E: Executor>(&self, block: W, executor: &E) -> W::Output {
        (Chosen::<W, E>::SCHEDULE_BLOCK)(block, executor)
    }
}

/// Runs a computation by one of the schedulers.
type Run<W, E> = fn(W, &E) -> <W as Workload>::Output;

/// The choice of a scheduler, made in constants. An `if` in a function would choose the same, but costs more to compile: even if the
/// condition is a constant, the compiler visits all functions that either branch names. Of a constant it visits only the value.
struct Chosen<W: Workload, E>(PhantomData<(W, E)>);

impl<W: Workload, E: Executor> Chosen<W, E> {
    const SCHEDULE: Run<W, E> =
        if W::Reduction::ENDS.search && !W::Producer::FACTS.pieces && !W::Producer::FACTS.fetched {
            Self::by_blocks
        } else {
            Self::SCHEDULE_BLOCK
        };

    const SCHEDULE_BLOCK: Run<W, E> =
        if W::Producer::FACTS.fetched || W::Producer::FACTS.costly_cuts && !W::Policy::DECIDES {
            |work, executor| Adaptive::new().schedule_block(work, executor)
        } else {
            |work, executor| Join.schedule_block(work, executor)
        };

    #[inline]
    fn by_blocks(work: W, executor: &E) -> W::Output {
        let (producer, policy, reduction) = work.parts();
        if W::Reduction::ENDS.stops_all && (W::Producer::FACTS.grows || producer.size() == usize::MAX) {
            return ByTerminal.schedule_block((producer, policy, reduction), executor);
        }
        ByBlocks::new(ByTerminal, Search).schedule((producer, policy, reduction), executor)
    }
}

/// The blocks of a search. Their sizes double while they are small; later a block is one [`PART`]th of the items
/// searched so far.
///
/// Doubling to the end would be wasteful with a hit in the middle of a block: the workers that search the second half
/// do nothing for the result, and the first half is as long as all earlier blocks together.
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

/// The sizes of the blocks of a [`Search`].
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
