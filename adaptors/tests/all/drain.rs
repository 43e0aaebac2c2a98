//! Drains: the items around the range stay, whatever happens to the range (P2).

use furcate::iter::{ParallelDrainFull, ParallelDrainRange};
use furcate::prelude::*;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::mem::forget;
use std::ops::{Bound, RangeBounds};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use testkit::drops::{DropCounter, Ledger};
use testkit::panics::{planned_panic, survives};
use testkit::pools;

/// Long enough for several cuts.
const LEN: usize = 13;

/// Every kind of range over `0..=len + 2`, also ranges that lie outside or end before they start.
fn ranges(len: usize, mut check: impl FnMut((Bound<usize>, Bound<usize>))) {
    let bounds = |n| [Bound::Unbounded, Bound::Included(n), Bound::Excluded(n)];
    for start in 0..=len + 2 {
        for end in 0..=len + 2 {
            for start in bounds(start) {
                for end in bounds(end) {
                    check((start, end));
                }
            }
        }
    }
    for extreme in bounds(usize::MAX) {
        check((extreme, Bound::Unbounded));
        check((Bound::Unbounded, extreme));
        check((extreme, extreme));
    }
}

/// Compares one collection's drain with std's, for every range.
macro_rules! drains_as_std {
    ($collection:expr) => {
        ranges(5, |range| {
            let (mut expected_rest, mut rest, mut undriven) = ($collection, $collection, $collection);
            let std = catch_unwind(AssertUnwindSafe(|| expected_rest.drain(range).collect::<Vec<_>>())).ok();
            let ours =
                catch_unwind(AssertUnwindSafe(|| rest.par_drain(range).size_limit(1).collect::<Vec<_>>()))
                    .ok();
            assert_eq!(ours, std, "{range:?}");
            assert_eq!(rest, expected_rest, "{range:?}");
            let _ = catch_unwind(AssertUnwindSafe(|| drop(undriven.par_drain(range))));
            assert_eq!(undriven, expected_rest, "{range:?}, undriven");
        });
    };
}

#[test]
fn drains_every_form_of_range_as_std() {
    drains_as_std!(vec![0, 1, 2, 3, 4]);
    drains_as_std!({
        let mut ring = VecDeque::with_capacity(5);
        ring.extend([2, 3, 4]);
        ring.push_front(1);
        ring.push_front(0);
        ring
    });
}

#[test]
fn a_drain_knows_its_length() {
    let mut vec = vec![0; 9];
    let drain = vec.par_drain(2..=5);
    assert_eq!((drain.len(), drain.opt_len()), (4, Some(4)));
    drop(drain);
    assert_eq!(vec.len(), 5);
    assert_eq!(vec![(); 7].par_drain(..3).map(|()| 1).sum::<usize>(), 3);
}

/// Returns the ids of the items that are left in a vector, which must still work.
fn ids(vec: &[DropCounter]) -> Vec<usize> {
    vec.iter().map(|item| item.number).collect()
}

#[test]
fn a_drain_that_panics_keeps_what_lies_around_the_range() {
    for range in [0..LEN, 3..9, 0..4, 5..LEN] {
        for at in range.clone() {
            let (ledger, mut items) = Ledger::items(LEN);
            let survived = pools()[1].install(|| {
                survives(|| {
                    let drained = items.par_drain(range.clone()).size_limit(1);
                    drained.for_each(|item| {
                        if item.number == at {
                            planned_panic()
                        }
                    });
                })
            });
            assert!(!survived);
            let kept: Vec<usize> = (0..LEN).filter(|id| !range.contains(id)).collect();
            assert_eq!(ids(&items), kept, "{range:?} at {at}");
            drop(items);
            ledger.assert_settled("panic in a drain");
        }
    }
}

#[test]
fn a_forgotten_drain_leaves_the_items_before_the_range() {
    let (ledger, mut items) = Ledger::items(LEN);
    forget(items.par_drain(4..6));
    assert_eq!(ids(&items), [0, 1, 2, 3]);
    items.truncate(2);
    drop(items);
    assert_eq!(ledger.counts(), [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

/// A value that panics when it is dropped.
struct Grenade<'a> {
    armed: bool,
    drops: &'a AtomicUsize,
}

impl Drop for Grenade<'_> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, SeqCst);
        if self.armed {
            planned_panic();
        }
    }
}

#[test]
fn a_panic_in_an_items_drop_loses_neither_the_tail_nor_the_others() {
    for at in 2..5 {
        let drops = &AtomicUsize::new(0);
        let mut vec: Vec<_> = (0..8).map(|id| Grenade { armed: id == at, drops }).collect();
        assert!(!survives(|| drop(vec.par_drain(2..5))));
        assert_eq!((vec.len(), drops.load(SeqCst)), (5, 3));
        drop(vec);
        assert_eq!(drops.load(SeqCst), 8);

        let array: [_; 4] = std::array::from_fn(|id| Grenade { armed: id + 2 == at, drops });
        assert!(!survives(|| drop(array.into_par_iter())));
        assert_eq!(drops.load(SeqCst), 12);
    }
}

#[test]
fn drains_borrow_what_they_drain() {
    fn bounds<D: ParallelDrainRange<usize>>(drained: D, range: impl RangeBounds<usize>) -> D::Iter {
        drained.par_drain(range)
    }
    fn full<D: ParallelDrainFull>(drained: D) -> D::Iter {
        drained.par_drain()
    }
    let mut map = HashMap::from([(1, 2), (3, 4)]);
    let capacity = map.capacity();
    assert_eq!(full(&mut map).map(|(key, value)| key * value).sum::<i32>(), 14);
    assert_eq!((map.len(), map.capacity()), (0, capacity));
    let mut heap = BinaryHeap::from([1, 2, 3]);
    assert_eq!(full(&mut heap).len(), 3);
    assert!(heap.is_empty() && heap.capacity() >= 3);
    assert_eq!(bounds(&mut vec![1, 2, 3], 1..).sum::<i32>(), 5);
}
