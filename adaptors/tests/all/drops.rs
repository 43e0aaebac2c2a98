//! Every item of an owning source is dropped exactly once, whatever happens to the iterator (P2).

#![allow(clippy::mutable_key_type, reason = "an item's drop count is no part of its key")]

use furcate::iter::{ParallelDrainFull, ParallelDrainRange, once, repeat_n};
use furcate::policy::{AnyPolicy, BoundDepth, SizeLimit};
use furcate::prelude::*;
use furcate::{Ends, Reduction};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::mem::forget;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use testkit::drops::{DropCounter, Fuse, Ledger, assert_dropped_once};
use testkit::panics::{planned_panic, survives};
use testkit::pools;

/// A treatment of an iterator.
trait Fate {
    fn meet<I: ParallelIterator<Item = DropCounter>>(&self, items: I);

    /// Checks the ledger afterwards, when the collection is gone, too.
    fn judge(&self, about: &str, ledger: &Ledger) {
        ledger.assert_settled(about);
    }
}

/// Applies a fate to every owning source, with `len` items.
fn every_source(fate: &impl Fate, len: usize) {
    macro_rules! source {
        ($about:literal, |$items:ident| $iterator:expr) => {{
            let (ledger, $items) = Ledger::items(len);
            survives(|| fate.meet($iterator));
            fate.judge($about, &ledger);
        }};
        (drained $about:literal, |$items:ident| $collection:expr, $range:tt) => {{
            let (ledger, $items) = Ledger::items(len);
            {
                let mut collection = $collection;
                survives(|| fate.meet(collection.par_drain $range));
                assert_eq!(collection.len(), 0, $about);
            }
            fate.judge($about, &ledger);
        }};
    }
    let ring = |items: Vec<DropCounter>| {
        let mut ring = VecDeque::with_capacity(len);
        for item in items {
            // The larger half lies in front of the buffer's start.
            if item.number % 3 == 0 { ring.push_back(item) } else { ring.push_front(item) }
        }
        ring
    };
    fn array<const N: usize>(items: Vec<DropCounter>) -> [DropCounter; N] {
        items.try_into().unwrap()
    }

    source!("vec", |items| items.into_par_iter());
    source!("boxed slice", |items| items.into_boxed_slice().into_par_iter());
    match len {
        0 => source!("array", |items| array::<0>(items).into_par_iter()),
        1 => source!("array", |items| array::<1>(items).into_par_iter()),
        LEN => source!("array", |items| array::<LEN>(items).into_par_iter()),
        _ => {}
    }
    source!("vec_deque", |items| ring(items).into_par_iter());
    source!("binary_heap", |items| BinaryHeap::from(items).into_par_iter());
    source!("btree_set", |items| BTreeSet::from_iter(items).into_par_iter());
    source!("btree_map", |items| {
        items
            .into_iter()
            .map(|item| (item.number, item))
            .collect::<BTreeMap<_, _>>()
            .into_par_iter()
            .map(|(_, item)| item)
    });
    source!("hash_set", |items| HashSet::<DropCounter>::from_iter(items).into_par_iter());
    source!("hash_map", |items| {
        items
            .into_iter()
            .map(|item| (item, ()))
            .collect::<HashMap<_, _>>()
            .into_par_iter()
            .map(|(item, ())| item)
    });
    source!("linked_list", |items| LinkedList::from_iter(items).into_par_iter());
    source!("option", |items| items.into_iter().next().into_par_iter());
    source!("result", |items| items.into_iter().next().ok_or(()).into_par_iter());
    if len > 0 {
        source!("once", |items| once(items.into_iter().next().unwrap()));
    }
    source!("zip", |items| {
        let (_, other) = Ledger::items(len / 2);
        items.into_par_iter().zip(other).map(|(item, _)| item)
    });
    source!("rev", |items| items.into_par_iter().rev());

    source!(drained "vec::Drain", |items| items, (..));
    source!(drained "vec_deque::Drain", |items| ring(items), (..));
    source!(drained "binary_heap::Drain", |items| BinaryHeap::from(items), ());
    source!(drained "hash_set::Drain", |items| HashSet::<DropCounter>::from_iter(items), ());
}

/// Runs a fate on all sources, for some lengths, on a small and a large pool.
fn check(fate: &(impl Fate + Sync)) {
    for pool in [&pools()[0], &pools()[2]] {
        pool.install(|| {
            [0, 1, LEN].into_iter().for_each(|len| every_source(fate, len));
        });
    }
}

const LEN: usize = 13;

struct DroppedUndriven;

impl Fate for DroppedUndriven {
    fn meet<I: ParallelIterator<Item = DropCounter>>(&self, items: I) {
        drop(items);
    }
}

#[test]
fn dropped_undriven() {
    check(&DroppedUndriven);
}

/// The producer is cut and dropped, and a second call lends nothing.
struct LentAndDropped;

impl Fate for LentAndDropped {
    fn meet<I: ParallelIterator<Item = DropCounter>>(&self, mut items: I) {
        let (left, right) = items.producer().divide();
        let (middle, right) = right.divide_at(2);
        let mut leaf = right.into_iter();
        leaf.next();
        drop((left, middle, leaf));
        assert_eq!(items.producer().size(), 0);
    }
}

#[test]
fn lent_and_dropped() {
    check(&LentAndDropped);
}

struct Driven;

impl Fate for Driven {
    fn meet<I: ParallelIterator<Item = DropCounter>>(&self, items: I) {
        items.size_limit(2).map(|item| item.number).sum::<usize>();
    }
}

#[test]
fn driven() {
    check(&Driven);
}

/// Items are collected, and are dropped with the vector, not before.
struct Collected;

impl Fate for Collected {
    fn meet<I: ParallelIterator<Item = DropCounter>>(&self, items: I) {
        let vec: Vec<DropCounter> = items.collect();
        for item in &vec {
            assert_eq!(item.drops(), 0);
        }
    }
}

#[test]
fn collected() {
    check(&Collected);
}

/// A closure panics at one item, under a policy.
struct Panics {
    at: usize,
    policy: AnyPolicy,
    collect: bool,
}

impl Fate for Panics {
    fn meet<I: ParallelIterator<Item = DropCounter>>(&self, items: I) {
        let items = items.with_policy(self.policy.clone());
        let items = items.map(|item| if item.number == self.at { planned_panic() } else { item });
        if self.collect {
            drop(items.collect::<Vec<_>>());
        } else {
            items.map(|item| item.number).sum::<usize>();
        }
    }
}

#[test]
fn a_panic_at_every_position() {
    for collect in [false, true] {
        for policy in [AnyPolicy::default(), BoundDepth::new(0).into(), SizeLimit::new(1).into()] {
            for at in 0..LEN {
                check(&Panics { at, policy: policy.clone(), collect });
            }
        }
    }
}

/// Folds up to an item, and stops all other tasks there.
#[derive(Clone)]
struct Until<'a> {
    id: usize,
    found: &'a AtomicBool,
}

impl Reduction<DropCounter> for Until<'_> {
    type Accumulator = ();
    type Output = ();
    const ENDS: Ends = Ends::EARLY;

    fn start(&self) {}

    fn fold_item(&self, (): (), item: DropCounter) -> ControlFlow<(), ()> {
        if item.number == self.id {
            self.found.store(true, SeqCst);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn finish(&self, (): ()) {}

    fn reduce(&self, (): (), (): ()) {}

    fn stopped(&self) -> bool {
        self.found.load(SeqCst)
    }
}

struct EndsEarly {
    at: usize,
    limit: usize,
}

impl Fate for EndsEarly {
    fn meet<I: ParallelIterator<Item = DropCounter>>(&self, items: I) {
        items.size_limit(self.limit).drive(Until { id: self.at, found: &AtomicBool::new(false) });
    }
}

#[test]
fn an_early_end_at_every_position() {
    for limit in [1, 3, LEN] {
        for at in 0..LEN {
            check(&EndsEarly { at, limit });
        }
    }
    // More than one step.
    for at in [0, 15, 16, 17, 47, 48, 199] {
        every_source(&EndsEarly { at, limit: 200 }, 200);
    }
}

/// Nothing may be dropped twice; leaks are allowed.
struct Forgotten {
    lent: bool,
}

impl Fate for Forgotten {
    fn meet<I: ParallelIterator<Item = DropCounter>>(&self, mut items: I) {
        if self.lent {
            let (left, right) = items.producer().divide();
            forget(left);
            drop(right);
        } else {
            forget(items);
        }
    }

    fn judge(&self, about: &str, ledger: &Ledger) {
        assert!(ledger.counts().iter().all(|&drops| drops <= 1), "{about}: {:?}", ledger.counts());
    }
}

#[test]
fn forgotten() {
    check(&Forgotten { lent: false });
    check(&Forgotten { lent: true });
}

/// A value whose drop may panic.
struct Burning<'f>(DropCounter, &'f Fuse);

impl Drop for Burning<'_> {
    fn drop(&mut self) {
        self.1.burn();
    }
}

/// A call that ends early drops its other items unseen. One of these drops may panic, whichever: the hit, or the failure, is dropped all
/// the same.
#[test]
fn after_an_early_end_the_drop_of_an_item_panics() {
    const HIT: usize = 5;
    fn burning(values: Vec<DropCounter>, fuse: &Fuse) -> furcate::vec::IntoIter<Burning<'_>> {
        values.into_iter().map(|value| Burning(value, fuse)).collect::<Vec<_>>().into_par_iter()
    }
    fn is_hit(item: &Burning) -> bool {
        item.0.number == HIT
    }
    macro_rules! ends {
        ($(|$items:ident| $end:expr;)+) => {$(
            assert_dropped_once(12, |values, fuse| {
                let $items = burning(values, fuse).sequential();
                let _end = $end;
            });
            assert_dropped_once(12, |values, fuse| {
                let $items = burning(values, fuse).size_limit(9);
                let _end = $end;
            });
            assert_dropped_once(12, |values, fuse| {
                let $items = burning(values, fuse).map(|item| async move { item }).io_await();
                let _end = $end;
            });
        )+};
    }
    fn outcome(item: Burning<'_>) -> Result<Burning<'_>, Burning<'_>> {
        if is_hit(&item) { Err(item) } else { Ok(item) }
    }
    ends! {
        |items| items.find_any(is_hit);
        |items| items.find_first(is_hit);
        |items| items.find_last(is_hit);
        |items| items.find_map_any(|item| outcome(item).err());
        |items| items.find_map_first(|item| outcome(item).err());
        |items| items.any(|item| is_hit(&item));
        |items| items.try_for_each(|item| outcome(item).map(drop));
        |items| items.map(outcome).try_reduce_with(|left, right| {
            drop(right);
            Ok(left)
        });
        |items| items.map(outcome).collect::<Result<Vec<_>, _>>();
        |items| items.map(|item| outcome(item).ok()).collect::<Option<Vec<_>>>();
        |items| items.map(|item| outcome(item).map(|_| 1)).sum::<Result<u64, _>>();
        |items| items.map(|item| outcome(item).map(|_| 1)).product::<Result<u64, _>>();
        |items| items.map(|item| outcome(item).ok()).while_some().collect::<Vec<_>>();
        |items| items.take_any(3).collect::<Vec<_>>();
        |items| items.take_any_while(|item| !is_hit(item)).collect::<Vec<_>>();
    }
}

#[test]
fn an_array_iterator_clones_and_shows_what_it_holds() {
    let (ledger, items) = Ledger::items(3);
    let array: [Arc<DropCounter>; 3] =
        items.into_iter().map(Arc::new).collect::<Vec<_>>().try_into().unwrap();
    let mut items = array.into_par_iter();
    assert!(format!("{items:?}").contains("id: 2"));
    let mut copy = items.clone();
    drop(items.producer());
    drop(items.clone()); // nothing is left in it
    assert_eq!(format!("{items:?}"), "IntoIter { array: None }");
    assert_eq!((items.len(), copy.len()), (0, 3));
    assert_eq!(ledger.counts(), [0, 0, 0]);
    assert_eq!(copy.producer().into_iter().map(|item| item.number).collect::<Vec<_>>(), [0, 1, 2]);
    ledger.assert_settled("the copy has been used up");
}

/// Counts its clones and drops.
#[derive(Debug)]
struct Counting<'a> {
    clones: &'a AtomicUsize,
    drops: &'a AtomicUsize,
}

impl Clone for Counting<'_> {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, SeqCst);
        Counting { ..*self }
    }
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        self.drops.fetch_add(1, SeqCst);
    }
}

/// I4: the item itself is the last copy, however the work is cut.
#[test]
fn repeat_n_clones_one_time_less_than_it_repeats() {
    for n in [0, 1, 2, 3, 16, 17, 1000] {
        let (clones, drops) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        let check = |about: &str, made: usize| {
            assert_eq!(clones.swap(0, SeqCst), made.saturating_sub(1), "{about}, n = {n}");
            assert_eq!(drops.swap(0, SeqCst), made.max(1), "{about}, n = {n}");
        };
        let repeated = || repeat_n(Counting { clones, drops }, n);
        drop(repeated());
        check("undriven", 1);
        repeated().size_limit(1).map(|_| 1).sum::<usize>();
        check("cut up", n);
        repeated().sequential().map(|_| 1).sum::<usize>();
        check("whole", n);
        // Cut to length first, which takes all of it.
        repeated().zip(vec![(); n]).size_limit(1).map(|_| 1).sum::<usize>();
        check("zipped", n);
        let vec: Vec<_> = repeated().bound_depth(2).collect();
        assert_eq!((vec.len(), drops.load(SeqCst)), (n, usize::from(n == 0)));
        drop(vec);
        check("collected", n);
        let mut leaf = repeated().producer();
        leaf.nth(n / 2);
        leaf.next_back();
        drop(leaf);
        assert!(clones.swap(0, SeqCst) <= 2, "skipped copies are not made");
        drops.store(0, SeqCst);
    }
}

// ------------------------------------------------------------------------------------------------ vec's drain
