//! Blocks: their cuts, their ends, and that each one is divided and reduced as a computation of its own.

use crate::support::{Collect, Piece, Place, Plant, Tree};
use furcate_schedulers::policy::{Auto, BoundDepth, Cap, SizeLimit};
use furcate_schedulers::{
    Blocks, ByBlocks, ByTerminal, DefaultExecutor, Divisible, Doubling, Ends, Facts, Join, Node, Policy,
    Producer, Reduction, Scheduler, Sequential, Verdict,
};
use proptest::prelude::*;
use std::iter::repeat;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use testkit::{LONG, within};

/// The trees of blocks that were reduced one after the other.
fn blocks(mut tree: Tree, blocks: usize) -> Vec<Tree> {
    let mut found = vec![];
    for _ in 1..blocks {
        let Tree::Fork(before, last) = tree else { panic!("fewer than {blocks} blocks") };
        found.push(*last);
        tree = *before;
    }
    found.push(tree);
    found.reverse();
    found
}

fn range(tree: &Tree) -> std::ops::Range<usize> {
    let leaves = tree.leaves();
    leaves[0].range.start..leaves[leaves.len() - 1].range.end
}

/// In Kvik's code the first block uses up a policy's depth, and later blocks are sequential.
#[test]
fn every_block_is_divided_as_the_policy_says() {
    for place in Place::ALL {
        let tree = place.run(ByBlocks::new(Join, [64, 256]), Piece::whole(1000), BoundDepth::new(3), Plant);
        let blocks = blocks(tree, 3);
        assert_eq!(blocks.iter().map(range).collect::<Vec<_>>(), [0..64, 64..320, 320..1000]);
        for block in &blocks {
            assert_eq!((block.leaves().len(), block.divided().len()), (8, 7));
        }
    }
}

/// Every block is forked, and its forks can be stolen: with as many threads as leaves, all leaves of a block run at
/// once.
#[test]
fn every_block_runs_in_parallel() {
    #[derive(Clone, Copy)]
    struct Meet<'a>(&'a AtomicUsize);
    impl Reduction<usize> for Meet<'_> {
        type Accumulator = usize;
        type Output = usize;
        fn start(&self) -> usize {
            0
        }
        fn fold_item(&self, count: usize, item: usize) -> ControlFlow<usize, usize> {
            // The first item of each half of a block of 4 waits for the other half's.
            if item.is_multiple_of(2) {
                self.0.fetch_add(1, SeqCst);
                while self.0.load(SeqCst) < item / 4 * 2 + 2 {
                    std::thread::yield_now();
                }
            }
            ControlFlow::Continue(count + 1)
        }
        fn finish(&self, count: usize) -> usize {
            count
        }
        fn reduce(&self, left: usize, right: usize) -> usize {
            left + right
        }
    }
    within(LONG, || {
        let (blocks, together) = (ByBlocks::new(Join, repeat(4_usize)), AtomicUsize::new(0));
        let run =
            || blocks.schedule((0..40, BoundDepth::new(1), Meet(&together)), &DefaultExecutor::default());
        // Both slots are needed, so no other test may use the pool.
        assert_eq!(testkit::pool(2).install(run), 40);
    });
}

#[test]
fn the_inner_scheduler_runs_the_blocks() {
    let tree =
        Place::Pool(3).run(ByBlocks::new(Sequential, [10, 20]), Piece::whole(100), BoundDepth::new(3), Plant);
    assert_eq!(tree.leaves().iter().map(|leaf| leaf.range.len()).collect::<Vec<_>>(), [10, 20, 70]);
    // Blocks of blocks: the inner ones lie within the outer ones.
    let inner = ByBlocks::new(Sequential, repeat(20));
    let tree = Place::Inline.run(ByBlocks::new(inner, repeat(50)), Piece::whole(100), Auto::new(), Plant);
    assert_eq!(
        tree.leaves().iter().map(|leaf| leaf.range.len()).collect::<Vec<_>>(),
        [20, 20, 10, 20, 20, 10]
    );
}

/// After the last size, the remaining units are one last block. A 0 counts as 1. An empty whole is one block.
#[test]
fn sizes() {
    fn lengths(sizes: impl IntoIterator<Item = usize>, len: usize) -> Vec<usize> {
        Blocks::new(0..len, sizes.into_iter()).map(|block| block.size()).collect()
    }
    assert_eq!(lengths([], 10), [10]);
    assert_eq!(lengths([3], 10), [3, 7]);
    assert_eq!(lengths([0, 0, 2], 10), [1, 1, 2, 6]);
    assert_eq!(lengths([10], 10), [10]);
    assert_eq!(lengths([11], 10), [10]);
    assert_eq!(lengths([9, 5], 10), [9, 1]);
    assert_eq!(lengths([usize::MAX], 10), [10]);
    assert_eq!(lengths(std::iter::repeat_n(0, 3), 10), [1, 1, 1, 7]);
    assert_eq!(lengths(repeat(0), 4), [1, 1, 1, 1]);
    assert_eq!(lengths(repeat(5), 0), [0]);
    assert_eq!(lengths(repeat(5), 1), [1]);
}

/// Ranges with more than `usize::MAX` units, and sizes near the maximum (I2).
#[test]
fn more_than_can_be_said() {
    let mut blocks = Blocks::new(0..u128::MAX, repeat(1000));
    assert_eq!(blocks.nth(5000), Some(5_000_000..5_001_000));
    let mut blocks = Blocks::new(0..u128::MAX, repeat(1000));
    assert_eq!(
        blocks.next_from_back(),
        Some(u128::MAX - 1000..u128::MAX),
        "halved until the last part can be counted"
    );
    assert_eq!(blocks.next_from_back(), Some(u128::MAX - 2000..u128::MAX - 1000));
    assert_eq!(blocks.next(), Some(0..1000), "the front is where it was");
    assert_eq!(blocks.next(), Some(1000..2000));
    assert_eq!(blocks.next_from_back(), Some(u128::MAX - 3000..u128::MAX - 2000));
    let mut blocks = Blocks::new(0..usize::MAX - 1, repeat(10));
    assert_eq!(blocks.next_from_back(), Some(usize::MAX - 11..usize::MAX - 1));
    let doubling = Blocks::new(0..usize::MAX, ByDoubling::sizes());
    let mut end = 0;
    for block in doubling {
        assert_eq!(block.start, end);
        end = block.end;
    }
    assert_eq!(end, usize::MAX);
    let tail = u64::MAX - 100..u64::MAX;
    let collected =
        Place::Pool(2).run(ByBlocks::new(Join, Doubling), tail.clone(), SizeLimit::new(1), Collect);
    assert!(collected.into_iter().eq(tail));
}

struct ByDoubling;
impl ByDoubling {
    fn sizes() -> impl Iterator<Item = usize> {
        furcate_schedulers::BlockSizes::block_sizes(&Doubling, 2)
    }
}

/// A producer whose size never shrinks may be cut twice more.
#[test]
fn cuts_that_get_nowhere_end() {
    #[derive(Clone, Debug)]
    struct Same(usize);
    impl Divisible for Same {
        fn size(&self) -> usize {
            self.0
        }
        fn divide_at(self, _: usize) -> (Self, Self) {
            (self.clone(), self)
        }
    }
    for size in [2, 1000, usize::MAX] {
        assert_eq!(Blocks::new(Same(size), repeat(1)).count(), 3, "{size}");
        let mut blocks = Blocks::new(Same(size), repeat(1));
        let from_back = std::iter::from_fn(|| blocks.next_from_back()).count();
        // What is endless is halved no more often than a range of 128 bits.
        assert_eq!(from_back, if size == usize::MAX { 129 } else { 3 });
    }
}

/// Ends when the sum is large enough. Counts the items that it has seen.
#[derive(Clone, Copy)]
struct Enough<'a, const BACK: bool> {
    enough: usize,
    shown: &'a AtomicUsize,
}

impl<const BACK: bool> Reduction<usize> for Enough<'_, BACK> {
    type Accumulator = Vec<usize>;
    type Output = Vec<usize>;
    const ENDS: Ends = Ends { backward: BACK, ..Ends::NEVER };
    fn start(&self) -> Vec<usize> {
        vec![]
    }
    fn fold_item(&self, items: Vec<usize>, item: usize) -> ControlFlow<Vec<usize>, Vec<usize>> {
        self.shown.fetch_add(1, SeqCst);
        Collect.fold_item(items, item)
    }
    fn finish(&self, items: Vec<usize>) -> Vec<usize> {
        items
    }
    fn reduce(&self, left: Vec<usize>, right: Vec<usize>) -> Vec<usize> {
        Collect.reduce(left, right)
    }
    fn is_final(&self, items: &Vec<usize>) -> bool {
        items.len() >= self.enough
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For any sizes, the blocks are the whole, in order, from either end.
    #[test]
    fn blocks_are_the_whole(len in 0_usize..500, sizes in proptest::collection::vec(0_usize..100, 0..20)) {
        for place in [Place::Inline, Place::Pool(3)] {
            let collected = place.run(ByBlocks::new(Join, sizes.clone()), 0..len, SizeLimit::new(7), Collect);
            prop_assert!(collected.into_iter().eq(0..len));
        }
        let mut from_back: Vec<_> = {
            let mut blocks = Blocks::new(0..len, sizes.iter().copied());
            std::iter::from_fn(|| blocks.next_from_back()).collect()
        };
        from_back.reverse();
        prop_assert!(from_back.into_iter().flatten().eq(0..len));
    }

    /// The reduced outputs of all blocks so far decide: after a final one no block is begun (I4).
    #[test]
    fn a_final_output_ends_it(len in 1_usize..500, enough in 1_usize..600, size in 1_usize..60) {
        for place in [Place::Inline, Place::Pool(3)] {
            let blocks = ByBlocks::new(Join, repeat(size));
            let expected = enough.next_multiple_of(size).min(len);
            let shown = AtomicUsize::new(0);
            let front = place.run(blocks.clone(), 0..len, Auto::new(), Enough::<false> { enough, shown: &shown });
            prop_assert!(front.into_iter().eq(0..expected));
            let back = place.run(blocks, 0..len, Auto::new(), Enough::<true> { enough, shown: &shown });
            prop_assert!(back.into_iter().eq(len - expected..len));
            prop_assert_eq!(shown.into_inner(), 2 * expected);
        }
    }
}

/// A policy that stops ends the computation between two blocks. If it has stopped before, no block begins.
#[test]
fn a_policy_ends_it() {
    #[derive(Clone)]
    struct Until<'a>(&'a AtomicBool);
    impl Policy for Until<'_> {
        const STOPS: bool = true;
        fn stopped(&self) -> bool {
            self.0.load(SeqCst)
        }
        fn wants_split(&mut self, task: &Node) -> Verdict {
            BoundDepth::new(2).wants_split(task)
        }
    }
    #[derive(Clone, Copy)]
    struct StopAt<'a>(usize, &'a AtomicBool);
    impl Reduction<usize> for StopAt<'_> {
        type Accumulator = Vec<usize>;
        type Output = Vec<usize>;
        fn start(&self) -> Vec<usize> {
            vec![]
        }
        fn fold_item(&self, items: Vec<usize>, item: usize) -> ControlFlow<Vec<usize>, Vec<usize>> {
            self.1.fetch_or(item == self.0, SeqCst);
            Collect.fold_item(items, item)
        }
        fn finish(&self, items: Vec<usize>) -> Vec<usize> {
            items
        }
        fn reduce(&self, left: Vec<usize>, right: Vec<usize>) -> Vec<usize> {
            Collect.reduce(left, right)
        }
    }
    for place in Place::ALL {
        let stop = AtomicBool::new(false);
        let items = place.run(ByBlocks::new(Join, repeat(10)), 0..1000, Until(&stop), StopAt(25, &stop));
        assert!(items.starts_with(&(0..20).collect::<Vec<_>>()) && items.iter().all(|&item| item < 30));
        let again = place.run(ByBlocks::new(Join, repeat(10)), 0..1000, Until(&stop), StopAt(25, &stop));
        assert_eq!(again, []);
    }
}

/// Tokens come back from every block.
#[test]
fn a_cap_holds_for_every_block() {
    for place in Place::ALL {
        let cap = Cap::new(3);
        let chain = furcate_schedulers::policy::Both::new(SizeLimit::new(5), cap.clone());
        assert_eq!(place.run(ByBlocks::new(Join, repeat(40)), 0..400, chain, Collect).len(), 400);
        assert_eq!(cap.available(), 3);
    }
}

/// The default scheduler makes blocks for reductions that may end early, but never of pieces. A block is not walked in
/// blocks again.
#[test]
fn the_default_goes_by_the_terminal() {
    #[derive(Clone, Copy)]
    struct Sizes<const INTERRUPTIBLE: bool>;
    impl<const INTERRUPTIBLE: bool> Reduction<Piece> for Sizes<INTERRUPTIBLE> {
        type Accumulator = Vec<usize>;
        type Output = Vec<usize>;
        const ENDS: Ends = if INTERRUPTIBLE { Ends { search: true, ..Ends::EARLY } } else { Ends::NEVER };
        fn start(&self) -> Vec<usize> {
            vec![0]
        }
        fn fold_item(&self, mut sizes: Vec<usize>, piece: Piece) -> ControlFlow<Vec<usize>, Vec<usize>> {
            sizes[0] += piece.range.len(); // all items of one task, in any number of steps
            ControlFlow::Continue(sizes)
        }
        fn finish(&self, sizes: Vec<usize>) -> Vec<usize> {
            sizes
        }
        fn reduce(&self, left: Vec<usize>, right: Vec<usize>) -> Vec<usize> {
            Collect.reduce(left, right)
        }
    }
    struct OnePiece(Piece);
    impl Divisible for OnePiece {
        fn size(&self) -> usize {
            self.0.size()
        }
        fn divide_at(self, index: usize) -> (Self, Self) {
            let (left, right) = self.0.divide_at(index);
            (OnePiece(left), OnePiece(right))
        }
    }
    impl IntoIterator for OnePiece {
        type Item = Piece;
        type IntoIter = std::iter::Once<Piece>;
        fn into_iter(self) -> Self::IntoIter {
            std::iter::once(self.0)
        }
    }
    impl Producer for OnePiece {
        const FACTS: Facts = Facts { pieces: true, steps_cut: true, ..Facts::ITEMS };
    }
    let depth = || BoundDepth::new(0);
    let place = Place::Pool(2);
    assert_eq!(place.run(ByTerminal, Piece::whole(10), depth(), Sizes::<false>), [10]);
    assert_eq!(place.run(ByTerminal, Piece::whole(10), depth(), Sizes::<true>), [2, 4, 4]);
    assert_eq!(place.run(ByTerminal, OnePiece(Piece::whole(1000)), depth(), Sizes::<true>), [1000]);
    let tree = place.run(ByBlocks::new(ByTerminal, [5]), OnePiece(Piece::whole(15)), depth(), Sizes::<true>);
    assert_eq!(tree, [5, 10]);
    const { assert!(!ByTerminal::FACTS.blocks && <ByBlocks<Join>>::FACTS.blocks) };
}
