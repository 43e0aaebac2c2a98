//! `blocks_iter`: order, laziness, and blocks that are not asked for.

use crate::support::assert_schedules;
use furcate::prelude::*;
use furcate::{Doubling, Inline, Sequential};
use proptest::prelude::*;
use std::iter::repeat;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::drops::{Ledger, assert_dropped_once};
use testkit::on_pools;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn all_items_in_order(v: Vec<u16>, sizes in proptest::collection::vec(0_usize..30, 0..10)) {
        let sizes = || sizes.clone();
        let mapped: Vec<u32> = v.iter().map(|&x| u32::from(x) + 1).collect();
        let filtered: Vec<u16> = v.iter().copied().filter(|x| x % 3 == 1).collect();
        on_pools(|| {
            assert_schedules!(mapped, v.par_iter(), |it| {
                it.map(|&x| u32::from(x) + 1).blocks_iter(sizes()).items().collect::<Vec<_>>()
            });
            assert_schedules!(filtered, v.clone().into_par_iter(), |it| {
                it.filter(|x| x % 3 == 1).blocks_iter(sizes()).items().collect::<Vec<_>>()
            });
            assert_schedules!(mapped, v.par_iter(), |it| {
                let mut blocks = it.map(|&x| u32::from(x) + 1).blocks_iter(sizes());
                blocks.iter().flat_map(|block| block.collect::<Vec<_>>()).collect::<Vec<_>>()
            });
        });
    }
}

/// No item of a block is evaluated before the block is asked for, and no item of later blocks ever.
#[test]
fn nothing_past_the_consumed_block_is_evaluated() {
    on_pools(|| {
        let evaluated = AtomicUsize::new(0);
        let note = |x: usize| {
            evaluated.fetch_add(1, Relaxed);
            x
        };
        let mut blocks = (0..1_000_000_usize).into_par_iter().map(note).blocks_iter([10, 0, 100]);
        let mut items = blocks.items();
        assert_eq!(evaluated.load(Relaxed), 0, "nothing before the first item is asked for");
        for (next, done) in [(0, 10), (9, 10), (10, 11), (11, 111), (110, 111)] {
            assert_eq!(items.by_ref().find(|&x| x == next), Some(next));
            assert_eq!(evaluated.load(Relaxed), done, "when {next} has come");
        }
        evaluated.store(0, Relaxed);
        let mut again = blocks.iter();
        let (first, second) = (again.next().unwrap(), again.next().unwrap());
        assert_eq!((second.len(), evaluated.load(Relaxed)), (1, 0), "a block alone does nothing");
        assert_eq!(
            (second.sum::<usize>(), evaluated.load(Relaxed)),
            (10, 1),
            "and they can be run in any order"
        );
        assert_eq!((first.sum::<usize>(), evaluated.load(Relaxed)), (45, 11));
    });
}

/// A block is a parallel iterator like the whole: with its policy, scheduler and executor.
#[test]
fn blocks_have_the_schedule_of_the_whole() {
    let mut blocks = (0..100).wrap_iter().bound_depth(1).blocks_iter([40]);
    let pieces: Vec<_> = blocks.iter().map(|block| block.collect::<Vec<_>>()).collect();
    assert_eq!(pieces, [[0..20, 20..40], [40..70, 70..100]]);
    assert_eq!(blocks.iter().count(), 0, "the pieces are gone");
    let mut blocks = (0..100).wrap_iter().bound_depth(1).sequential().on(Inline).blocks_iter([40]);
    for block in &mut blocks {
        assert_eq!((block.scheduler(), block.executor()), (Sequential, Inline));
        assert_eq!(block.count(), 1);
    }
}

/// An empty iterator has no blocks.
#[test]
fn nothing() {
    let mut empty = Vec::<u8>::new().into_par_iter().blocks_iter(Doubling);
    assert_eq!(empty.iter().count(), 0);
    assert_eq!(empty.items().next(), None);
    let mut none = (0..100).into_par_iter().filter(|_| false).blocks_iter(repeat(10));
    assert_eq!(none.items().next(), None);
    assert_eq!(none.iter().count(), 10, "the filter is not known to leave nothing");
}

/// In-place collection of a block, also where lengths are large, and a search that ends in one block.
#[test]
fn terminals_of_a_block() {
    on_pools(|| {
        let mut blocks = (0..u64::MAX).into_par_iter().map(|x| x * 2).blocks_iter(repeat(1000));
        let mut blocks = blocks.iter().skip(10);
        let block = blocks.next().unwrap();
        assert_eq!(block.opt_len(), Some(1000));
        assert_eq!(block.collect::<Vec<_>>(), (10_000..11_000).map(|x| x * 2).collect::<Vec<_>>());
        assert_eq!(blocks.next().unwrap().find_last(|x| x % 3 == 0), Some(23_994));

        let mut blocks = (0..5000_u32).into_par_iter().blocks_iter(repeat(1000));
        let block = blocks.iter().nth(4).unwrap();
        assert_eq!((block.opt_len(), block.len()), (Some(1000), 1000));
        let placed: Vec<_> = block.enumerate().rev().take(2).collect();
        assert_eq!(placed, [(999, 4999), (998, 4998)]);
    });
}

/// Items in blocks of an owning iterator are dropped once: taken, not taken, or during a panic (P2).
#[test]
fn drops() {
    on_pools(|| {
        let ledger = Ledger::default();
        let mut blocks = ledger.values(100).into_par_iter().blocks_iter([10, 20]);
        let mut items = blocks.items();
        assert_eq!(items.nth(11).unwrap().number, 11);
        assert_eq!(ledger.alive(), 100 - 12);
        drop(items);
        assert_eq!(ledger.alive(), 0);
        assert_eq!(blocks.items().count(), 0, "they are gone");
        ledger.assert_settled("");

        let mut blocks = ledger.values(100).into_par_iter().blocks_iter(repeat(30));
        let kept: Vec<_> = blocks.iter().step_by(2).flat_map(|block| block.collect::<Vec<_>>()).collect();
        assert_eq!((kept.len(), ledger.alive()), (60, 60));
        drop(kept);
        ledger.assert_settled("");
    });
    assert_dropped_once(30, |values, fuse| {
        let mut blocks = values.into_par_iter().size_limit(4).inspect(|_| fuse.burn()).blocks_iter([7, 8]);
        assert_eq!(blocks.items().count(), 30);
    });
}

/// The blocks and their items follow all of std's iterator protocol.
#[test]
fn the_protocol_of_std() {
    let mut blocks = (0..10).into_par_iter().blocks_iter([3]);
    let mut items = blocks.items();
    assert_eq!(items.size_hint(), (0, None));
    assert_eq!(items.next(), Some(0));
    assert_eq!(items.size_hint(), (2, None));
    assert_eq!(items.by_ref().count(), 9);
    assert_eq!((items.next(), items.next()), (None, None));
    let mut lent = blocks.iter();
    assert_eq!(lent.by_ref().count(), 2);
    assert!(lent.next().is_none() && lent.next().is_none());
}
