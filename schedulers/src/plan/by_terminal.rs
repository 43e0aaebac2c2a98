//! The default scheduler.

use crate::blocks::BlockSizes;
use crate::{
    Adaptive, ByBlocks, Divisible, Join, Policy, Producer, Reduction, Scheduler, SchedulerFacts, Workload,
};
use furcate_pool::Executor;
use furcate_pool::sync::clock::Instant;
use std::marker::PhantomData;
use std::mem;
use std::time::Duration;

/// The default scheduler, which chooses by the terminal and the data.
///
/// - Searches (`find_first`, `any`, `all`, `position_last`, comparisons ...): [by blocks](ByBlocks), from the end at
///   which the search begins. The first block is of P items on P threads. Sizes double, or grow faster. From 4096 items per thread on, blocks are of an eighth of
///   the items searched so far, of what takes 100 us, or of 4096 items per thread, whichever is most. So a search that ends early does no more in vain than that, or
///   than it must do. From the back of iterators that [can be unfolded](crate::Facts::unfolds), the first block is the last item. (A search for
///   any hit makes no blocks of more items than can be counted, nor of iterators that are flattened: these might never come to where the hits are.)
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
        ByBlocks::new(ByTerminal, Search)
            .with_last_unit_first()
            .schedule((producer, policy, reduction), executor)
    }
}

/// The blocks of a search. Their sizes double while they are small, or grow up to [`FAST`] times if that takes [`NOTHING`]. Later a block
/// is one [`PART`]th of the items searched so far, or as many items as take [`WORTH`] at the pace of the block before, if these are more.
///
/// Doubling to the end would be wasteful with a hit in the middle of a block: the workers that search the second half
/// do nothing for the result, and the first half is as long as all earlier blocks together.
#[derive(Clone, Copy)]
struct Search;

/// See [`Search`].
const PART: usize = 8;

/// The greatest size that is always doubled, per thread.
const SHORT: usize = 4096;

/// The time of a block to which the wait at its end, of some 2 us on two threads, adds nearly nothing.
const WORTH: Duration = Duration::from_micros(100);

/// The time of a block that may be in vain, whatever its size: then sizes grow up to [`FAST`] times.
const NOTHING: Duration = Duration::from_micros(4);

/// See [`NOTHING`]. The pace of a few items says little about that of thousands.
const FAST: usize = 16;

impl BlockSizes for Search {
    type Sizes = SearchSizes;

    #[inline]
    fn block_sizes(&self, threads: usize) -> SearchSizes {
        SearchSizes { threads: threads.max(1), last: 0, begun: Instant::now(), searched: 0 }
    }
}

/// The sizes of the blocks of a [`Search`]. Each is asked for when the block before it has been searched.
struct SearchSizes {
    threads: usize,
    /// The size of the last block; 0 before the first one.
    last: usize,
    /// When the last block began.
    begun: Instant,
    searched: usize,
}

impl SearchSizes {
    /// Returns the size of the block after the last one, which has been searched.
    fn following(&mut self) -> usize {
        let (doubled, short) = (self.last.saturating_mul(2), self.threads.saturating_mul(SHORT));
        let now = Instant::now();
        let took = now - mem::replace(&mut self.begun, now);
        if doubled <= short {
            units_in(NOTHING, self.last, took).clamp(doubled, self.last.saturating_mul(FAST)).min(short)
        } else {
            doubled.min(units_in(WORTH, self.last, took).max(short).max(self.searched / PART))
        }
    }
}

/// Returns the number of units that take a time, if some units took another time.
fn units_in(time: Duration, units: usize, took: Duration) -> usize {
    (units as f64 * time.as_secs_f64() / took.as_secs_f64()) as usize // as many as can be counted, if they took none
}

impl Iterator for SearchSizes {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.last = if self.last == 0 { self.threads } else { self.following() };
        self.searched = self.searched.saturating_add(self.last);
        Some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Sizes grow, and no block is of fewer items than the eighth, nor than those that are always doubled.
    #[test]
    fn blocks_of_a_search() {
        for threads in [1, 2, 3, 64, usize::MAX] {
            let (mut searched, mut before) = (0_usize, 0_usize);
            for size in Search.block_sizes(threads).take(500) {
                assert!(size >= 1 && (before == 0 || size <= before.saturating_mul(FAST)));
                assert!(size >= before.saturating_mul(2).min(short_or_part(threads, searched)));
                (searched, before) = (searched.saturating_add(size), size);
            }
            assert_eq!(searched, usize::MAX, "there are not many blocks");
        }
    }

    /// After a long block, the next one is of an eighth of all items searched so far.
    #[test]
    fn long_blocks_of_a_search_do_not_double() {
        let (mut sizes, mut searched) = (Search.block_sizes(2), 0);
        while searched < 1_000_000 {
            let size = sizes.next().unwrap();
            assert!(size <= short_or_part(2, searched) || size == 2, "{size} after {searched}");
            searched += size;
            if size > SHORT {
                thread::sleep(2 * WORTH);
            }
        }
        assert_eq!(units_in(WORTH, 1000, 4 * WORTH), 250);
        assert_eq!(units_in(WORTH, usize::MAX, Duration::ZERO), usize::MAX);
    }

    fn short_or_part(threads: usize, searched: usize) -> usize {
        threads.saturating_mul(SHORT).max(searched / PART)
    }
}
