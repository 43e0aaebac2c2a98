//! A scheduler that runs blocks one after the other.
//!
//! ```text
//!   items    |--|----|--------|----------------| ...
//!   blocks    1   2       3            4             each run in parallel by the inner scheduler, under a policy of
//!                                                    its own; the next one begins when it is done
//! ```
//!
//! So a computation that may end early (a search) does little in vain: no item after the deciding block is evaluated
//! (Kvik, Section 3.5).
//!
//! # Invariants
//!
//! 1. *Order.* A block is run when all blocks before it are done. Outputs are reduced in the order of the items. If
//!    later items decide ([`Ends::backward`](crate::Ends::backward)), the blocks are walked from the back.
//! 2. *Each block is a computation of its own*: it gets a clone of the policy (a fresh one, by the policy's contract)
//!    and of the reduction. The reduction is not divided, because two blocks never run at the same time: one cannot
//!    wrongly stop the other, and their positions (in a search for the first hit) need not be told apart.
//! 3. *End.* No block is begun after an output that is [final](Reduction::is_final), or after the reduction or the
//!    policy has stopped.
//! 4. *Units that hold units.* An item of a flattened iterator may hold more items than can be walked. So the default scheduler divides the
//!    last one down to its [last item](last_unit). The parts in front have blocks of their own, each of sizes from the first one on.

use crate::blocks::{BlockSizes, Blocks, last_unit};
use crate::tree::branch::is_stopped;
use crate::{Divisible, Doubling, Producer, Reduction, Scheduler, SchedulerFacts, Suspending, Workload};
use furcate_pool::{Executor, trace};

/// Blocks one after the other, of the sizes that `Z` gives, each run by a scheduler `S`.
///
/// After the last size, the remaining units are one last block. See [`BlockSizes`] for the units.
///
/// Cost: one call of the inner scheduler per block, and the wait for its last task, during which other threads may be
/// idle. So a block should be long enough (some microseconds on every thread). Doubling blocks are few.
///
/// ```
/// use furcate::prelude::*;
/// use furcate::{ByBlocks, Join};
///
/// let blocks = ByBlocks::new(Join, std::iter::repeat(100));
/// let hit = (0..1_000_000).into_par_iter().with_scheduler(blocks).find_first(|x| x % 7 == 6);
/// assert_eq!(hit, Some(6)); // and nothing from 100 on has been looked at
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByBlocks<S, Z = Doubling> {
    inner: S,
    sizes: Z,
    last_unit_first: bool,
}

impl<S: Scheduler, Z: BlockSizes> ByBlocks<S, Z> {
    /// Runs blocks of these sizes by the scheduler `inner`.
    #[must_use]
    pub const fn new(inner: S, sizes: Z) -> Self {
        ByBlocks { inner, sizes, last_unit_first: false }
    }

    /// Has blocks from the back of flattened iterators begin with the last item of all (invariant 4).
    pub(crate) const fn with_last_unit_first(self) -> Self
    where
        Self: Copy,
    {
        ByBlocks { last_unit_first: true, ..self }
    }
}

impl<S: Scheduler, Z: BlockSizes> Scheduler for ByBlocks<S, Z> {
    const FACTS: SchedulerFacts = SchedulerFacts { blocks: true, spreads: S::FACTS.suspends, ..S::FACTS };

    fn for_futures(&self) -> Suspending {
        self.inner.for_futures()
    }

    fn schedule<W: Workload, E: Executor>(&self, work: W, executor: &E) -> W::Output {
        let by_blocks = self.clone();
        // Once for all blocks.
        executor.enter(move || walk(&by_blocks, work, executor))
    }
}

/// Runs the blocks of a computation, one after the other.
fn walk<S: Scheduler, Z: BlockSizes, W: Workload, E: Executor>(
    by_blocks: &ByBlocks<S, Z>,
    work: W,
    executor: &E,
) -> W::Output {
    let ByBlocks { inner, sizes, last_unit_first } = by_blocks;
    let (producer, policy, reduction) = work.parts();
    let is_backward = W::Reduction::ENDS.backward;
    let (mut fronts, mut part) = if *last_unit_first && is_backward && W::Producer::FACTS.unfolds {
        last_unit(producer, || !is_stopped::<W>(&policy, &reduction))
    } else {
        (Vec::new(), producer)
    };
    let run = |block: W::Producer| {
        let _block = trace::block(block.size(), is_backward);
        inner.schedule_block((block, policy.clone(), reduction.clone()), executor)
    };
    let mut output = None;
    'parts: loop {
        let mut blocks = Blocks::new(part, sizes.block_sizes(executor.num_threads()));
        let mut next = || if is_backward { blocks.next_from_back() } else { blocks.next() };
        // If no units are left, there is nothing to stop.
        while let Some(block) = next().filter(|block| output.is_none() || block.size() > 0) {
            if output.is_some() && is_stopped::<W>(&policy, &reduction) {
                break 'parts;
            }
            let further = run(block);
            let reduced = match output.take() {
                None => further,
                Some(output) if is_backward => reduction.reduce(further, output),
                Some(output) => reduction.reduce(output, further),
            };
            let is_final = reduction.is_final(&reduced);
            output = Some(reduced);
            if is_final {
                break 'parts;
            }
        }
        match fronts.pop() {
            Some(front) => part = front,
            None => break,
        }
    }
    // Dropped before the return value is made: a panic in this drop would leak that value.
    drop(fronts);
    output.expect("there is one block at least")
}
