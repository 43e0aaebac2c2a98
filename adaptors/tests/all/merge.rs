//! `merge` and similar methods: order, stability, exact cuts, walks from both ends, sides that are not sorted.

use crate::support::cuts::{assert_cuts, walks_as_std};
use crate::support::{LENGTHS, assert_schedules};
use furcate::iter::PeekParallelIterator;
use furcate::policy::Auto;
use furcate::prelude::*;
use furcate::{Facts, IndexedProducer, Inline, Join, PeekProducer, Plan};
use proptest::prelude::*;
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use testkit::drops::{DropCounter, assert_dropped_once};
use testkit::lone::Lone;
use testkit::on_pools;

/// A key, and a tag that tells equal keys apart: the side and the place in that side. Only the key counts in
/// comparisons.
#[derive(Clone, Copy, Debug)]
struct Tagged {
    key: u8,
    tag: (char, usize),
}

impl PartialEq for Tagged {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for Tagged {}
impl PartialOrd for Tagged {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Tagged {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

/// The key and the tag of an item, which identify it.
type Id = (u8, (char, usize));

fn id(item: Tagged) -> Id {
    (item.key, item.tag)
}

fn side(name: char, mut keys: Vec<u8>) -> Vec<Tagged> {
    keys.sort_unstable();
    keys.into_iter().enumerate().map(|(place, key)| Tagged { key, tag: (name, place) }).collect()
}

/// Merges sequentially and stably: a stable sort of both sides.
fn merged(left: &[Tagged], right: &[Tagged]) -> Vec<Id> {
    let mut all = [left, right].concat();
    all.sort();
    all.into_iter().map(id).collect()
}

/// Sides of many shapes: one side is empty, one goes entirely before the other, all keys are equal, few are different.
fn sides() -> Vec<(Vec<Tagged>, Vec<Tagged>)> {
    let keys = |len: usize, first: usize, distinct: usize| {
        (0..len).map(|i| (first + i * 7 % distinct) as u8).collect::<Vec<_>>()
    };
    let mut sides = Vec::new();
    for len in [0, 1, 2, 7, 64, 301] {
        for other in [0, 1, len, 3 * len + 1] {
            for (first, distinct) in [(0, 1), (0, 5), (0, 50), (60, 50)] {
                sides.push((side('l', keys(len, first, distinct)), side('r', keys(other, 0, 50))));
                sides.push((side('l', keys(len, 0, distinct)), side('r', keys(other, first, 50))));
            }
        }
    }
    sides
}

#[test]
fn stable_under_every_schedule() {
    for (left, right) in sides() {
        let mut expected = merged(&left, &right);
        assert_schedules!(expected, left.par_iter(), |it| {
            it.merge(&right).map(|item| id(*item)).collect::<Vec<_>>()
        });
        assert_schedules!(expected, left.par_iter().copied(), |it| {
            it.merge_by(right.clone(), |a, b| a.key.cmp(&b.key)).map(id).collect::<Vec<_>>()
        });
        assert_schedules!(expected, left.clone().into_par_iter(), |it| {
            it.merge_by_key(right.par_iter().cloned(), |item| item.key).map(id).collect::<Vec<_>>()
        });
        expected.reverse();
        assert_schedules!(expected, left.par_iter(), |it| {
            it.merge(&right).rev().map(|item| id(*item)).collect::<Vec<_>>()
        });
    }
}

#[test]
fn telling_lengths_on_every_pool() {
    for len in LENGTHS {
        let evens: Vec<usize> = (0..len).map(|i| 2 * i).collect();
        let expected: usize = evens.iter().sum::<usize>() + (0..len).sum::<usize>();
        let mut all = [&evens[..], &(0..len).collect::<Vec<_>>()].concat();
        all.sort_unstable();
        on_pools(|| {
            let it = || evens.par_iter().copied().merge(0..len);
            assert_eq!(it().len(), 2 * len);
            assert_eq!(it().opt_len(), Some(2 * len));
            assert_eq!(it().sum::<usize>(), expected);
            assert_eq!(it().size_limit(5).collect::<Vec<_>>(), all);
            assert!(it().find_first(|x| *x >= len) == all.iter().copied().find(|x| *x >= len));
        });
    }
}

/// Cuts at every place, divisions to the bottom, steps, halves given away.
#[test]
fn cut_everywhere() {
    for (left, right) in sides().into_iter().filter(|(left, right)| left.len() + right.len() < 40) {
        let expected = merged(&left, &right);
        assert_cuts!(expected, left.par_iter().copied().merge(right.par_iter().copied()).map(id));
        assert_cuts!(expected, left.clone().into_par_iter().merge(right.clone()).map(id));
        let back: Vec<_> = expected.iter().copied().rev().collect();
        assert_cuts!(back, left.par_iter().copied().merge(right.par_iter().copied()).map(id).rev());
    }
}

/// A cut puts exactly `index` items to the left, and a division halves, however unequal the sides are.
#[test]
fn halves_are_equal() {
    let few = [500, 500, 501];
    let mut it = (0..1000_u32).into_par_iter().merge(few);
    let (left, right) = it.producer().divide();
    assert_eq!((left.size(), right.size()), (501, 502));
    let mut one_sided = (0..1000_u32).into_par_iter().merge(5000..6000);
    let (left, right) = one_sided.producer().divide();
    assert!(left.into_iter().eq(0..1000) && right.into_iter().eq(5000..6000));
}

/// Positions are those in the merged sequence.
#[test]
fn as_indexed_as_its_sides() {
    let odd: Vec<i32> = (0..500).map(|i| 2 * i + 1).collect();
    let even: Vec<i32> = (0..300).map(|i| 2 * i).collect();
    let mut all = [&odd[..], &even].concat();
    all.sort_unstable();
    let expected: Vec<(usize, (i32, usize))> =
        all.iter().copied().zip(100..).enumerate().skip(30).take(500).collect();
    assert_schedules!(expected, odd.par_iter().copied(), |it| {
        it.merge(even.clone()).zip(100..10_000).enumerate().skip(30).take(500).collect::<Vec<_>>()
    });
    let expected: Vec<i32> = all.iter().copied().rev().step_by(3).collect();
    assert_schedules!(expected, odd.par_iter().copied(), |it| {
        it.merge(even.clone()).rev().step_by(3).collect::<Vec<_>>()
    });
    let expected: Vec<i32> = all[..400].iter().rev().copied().collect();
    assert_schedules!(expected, odd.par_iter().copied(), |it| {
        it.merge(even.clone()).take(400).rev().collect::<Vec<_>>()
    });
}

/// Merges of merges: of equal items in four sides, the first side's go first.
#[test]
fn merges_nest() {
    let sides: Vec<Vec<Tagged>> =
        "abcd".chars().map(|name| side(name, (0..97_usize).map(|i| (i * i % 11) as u8).collect())).collect();
    let mut expected = sides.concat();
    expected.sort();
    let expected: Vec<Id> = expected.into_iter().map(id).collect();
    assert_schedules!(expected, sides[0].par_iter().copied(), |it| {
        let right = sides[2].par_iter().copied().merge(sides[3].clone());
        it.merge(sides[1].clone()).merge(right).map(id).collect::<Vec<_>>()
    });
    let expected: Vec<Id> = expected.into_iter().rev().collect();
    assert_schedules!(expected, sides[0].par_iter().copied(), |it| {
        let right = sides[1].par_iter().copied().merge(sides[2].clone()).merge(sides[3].clone());
        it.merge(right).map(id).rev().collect::<Vec<_>>()
    });
}

/// A look equals the item, for every iterator that allows looks.
#[test]
fn looks_are_items() {
    fn check<I>(mut it: I)
    where
        I: PeekParallelIterator + Clone,
        I::Item: PartialEq + std::fmt::Debug,
    {
        let expected: Vec<_> = it.clone().peek_producer().into_iter().collect();
        assert_eq!(it.len(), expected.len());
        for cut in [0, 1, 3, expected.len()] {
            let mut lent = it.clone();
            let (left, right) = lent.peek_producer().divide_at(cut);
            let looks = |part: &dyn Fn(usize) -> I::Item, size| (0..size).map(part).collect::<Vec<_>>();
            let mut all = looks(&|i| left.peek(i), left.size());
            all.extend(looks(&|i| right.peek(i), right.size()));
            assert_eq!(all, expected);
        }
        assert_eq!(it.peek_producer().into_iter().count(), expected.len());
    }
    let v: Vec<i32> = (0..17).collect();
    check(v.par_iter());
    check(v.clone().into_par_iter());
    check([3, 4, 5, 6].into_par_iter());
    check((5..13_u8).into_par_iter());
    check((250..=255_u8).into_par_iter());
    check((-3..9_i64).into_par_iter());
    check(('a'..='k').into_par_iter());
    check(v.par_iter().copied());
    check(v.par_iter().cloned().map(|x| x * x));
    check(v.clone().into_par_iter().inspect(|_| ()).update(|x| *x += 1));
    check(v.par_iter().rev().enumerate());
    check(v.par_iter().enumerate().rev());
    check(v.par_iter().zip(100..200));
    check(v.par_iter().step_by(4).rev());
    check(v.par_iter().skip(2).take(11));
    check(v.par_chunks(4));
    check(v.par_rchunks(4));
    check(v.par_chunks_exact(4));
    check(v.par_windows(3));
    check(v.par_iter().merge(&v).rev());
    check(v.par_iter().size_limit(3).sequential().on(Inline).with_min_len(2));
}

/// Sides that are not sorted, and orders that are not total: every item comes out once.
#[test]
fn unsorted_sides_lose_nothing() {
    let v: Vec<usize> = (0..1000).map(|i| i * 7919 % 1009).collect();
    let mut expected = [&v[..], &v].concat();
    expected.sort_unstable();
    let sorted = |mut items: Vec<usize>| {
        items.sort_unstable();
        items
    };
    assert_schedules!(expected, v.par_iter().copied(), |it| sorted(it.merge(v.clone()).collect()));
    assert_schedules!(expected, v.par_iter().copied(), |it| sorted(it.merge(v.clone()).rev().collect()));
    let calls = AtomicUsize::new(0);
    let whim = |_: &usize, _: &usize| match calls.fetch_add(1, SeqCst) * 7919 % 13 % 3 {
        0 => Ordering::Less,
        1 => Ordering::Equal,
        _ => Ordering::Greater,
    };
    assert_schedules!(expected, v.par_iter().copied(), |it| sorted(it.merge_by(v.clone(), whim).collect()));
    assert_schedules!(expected, v.par_iter().copied(), |it| {
        let right = v.par_iter().copied().merge_by(Vec::new(), whim);
        sorted(it.merge_by(right, whim).rev().collect())
    });
}

/// Looks and comparisons that panic anywhere: every element, and every clone, is dropped once (P2).
#[test]
fn drops_are_exact() {
    assert_dropped_once(7, |values, fuse| {
        let right = values[3..].to_vec();
        let compare = |a: &DropCounter, b: &DropCounter| {
            fuse.burn();
            a.number.cmp(&b.number)
        };
        let numbers: Vec<usize> = values
            .into_par_iter()
            .size_limit(2)
            .on(Inline)
            .merge_by(right, compare)
            .map(|value| value.number)
            .collect();
        assert_eq!(numbers, [0, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6]);
    });
    assert_dropped_once(5, |values, fuse| {
        let right = values.clone();
        let key = |value: &DropCounter| {
            fuse.burn();
            value.number
        };
        let back = values.into_par_iter().bound_depth(2).merge_by_key(right, key).rev().take(4);
        assert_eq!(back.collect::<Vec<_>>().len(), 4);
    });
}

/// Nothing is compared before a terminal. In one leaf every item except the last is compared at most once (I4).
#[test]
fn comparisons() {
    let calls = AtomicUsize::new(0);
    let it = || {
        (0..1000).into_par_iter().sequential().size_limit(2000).merge_by(500..600, |a, b| {
            calls.fetch_add(1, SeqCst);
            a.cmp(b)
        })
    };
    drop(it());
    assert_eq!((it().len(), calls.load(SeqCst)), (1100, 0));
    assert_eq!(it().map(|x| x).sum::<i32>(), 499_500 + 54_950);
    // Each comparison yields an item; after the right side's last item there are none.
    assert_eq!(calls.swap(0, SeqCst), 700);
    // A cut costs a binary search in the shorter side.
    let mut lent = it();
    let _parts = lent.producer().divide();
    assert!(calls.load(SeqCst) <= 7, "{calls:?} comparisons for a division");
}

/// Eight threads, of which only the caller's works: every division there is one without demand.
const LONELY: Lone = Lone { threads: 8, stolen: false };

/// Returns the number of tasks that fold an iterator.
fn tasks(it: impl ParallelIterator) -> usize {
    it.on(LONELY).fold(|| (), |(), _| ()).count()
}

/// I4: without demand a merge is one task, unless a policy says how to divide.
#[test]
fn divided_on_demand_by_default() {
    let odd = || (0..1000).into_par_iter().map(|x| 2 * x + 1);
    let even = || (0..1000).into_par_iter().map(|x| 2 * x);
    let merge = || odd().merge(even());
    assert!(tasks(odd()) > 8, "what costs nothing to cut is cut beforehand");

    assert_eq!(tasks(merge()), 1);
    assert_eq!(tasks(odd().merge_by(even(), |a, b| a.cmp(b))), 1);
    assert_eq!(tasks(odd().merge_by_key(even(), |x| *x)), 1);
    assert_eq!(merge().on(LONELY).collect_vec_list().len(), 1);
    // The same holds for adaptors behind a merge.
    assert_eq!(tasks(merge().map(|x| x + 1).rev().enumerate().skip(1).take(1900)), 1);
    assert_eq!(tasks(merge().filter(|x| x % 3 == 0).chain(even())), 1);
    assert_eq!(tasks(merge().step_by(3).chain(even()).chunks(7)), 1);
    assert_eq!(tasks(even().zip(merge()).map_init(|| 0, |_, x| x)), 1);
    assert_eq!(tasks(even().interleave(merge()).intersperse(7)), 1);
    assert_eq!(tasks(merge().take_any(1000)), 1);
    assert_eq!(tasks(merge().merge(even())), 1);

    // Policies that say how to divide, anywhere in the chain. Of the two sides the left one's count, as everywhere.
    assert_eq!(tasks(merge().bound_depth(3)), 8);
    assert_eq!(tasks(odd().bound_depth(3).merge(even())), 8);
    assert_eq!(tasks(odd().merge(even().bound_depth(3))), 1);
    assert_eq!(tasks(merge().map(|x| x + 1).size_limit(500).cap(1000)), 4);
    assert_eq!(tasks(merge().thief_splitting(2)), 4);
    assert_eq!(tasks(merge().join_context_policy(2)), 3);
    // Policies that only constrain: only forced divisions are made.
    assert_eq!(tasks(merge().cap(2)), 1);
    assert_eq!(tasks(merge().with_min_len(10)), 1);
    assert_eq!(tasks(merge().force_depth(2)), 4);
    assert_eq!(tasks(merge().with_max_len(250)), 8);
    // Schedulers: the last one counts, and of the two sides the left one's.
    assert!(tasks(merge().join()) > 8);
    assert!(tasks(odd().join().merge(even())) > 8);
    assert_eq!(tasks(odd().merge(even().join())), 1);
    assert_eq!(tasks(odd().join().merge(even()).adaptive()), 1);
    assert_eq!(tasks(merge().sequential().bound_depth(3)), 1);
}

/// A search runs by blocks, as every search does. Within a block nothing is divided without demand.
#[test]
fn searched_by_blocks() {
    let looks = AtomicUsize::new(0);
    let hit = (0..100_000_u32).into_par_iter().merge(0..100_000_u32).on(LONELY).find_first(|&x| {
        looks.fetch_add(1, SeqCst);
        x == 50
    });
    assert_eq!((hit, looks.into_inner()), (Some(50), 101));
    let blocks = (0..500).into_par_iter().merge(0..500).by_blocks([100, 400]);
    assert_eq!(tasks(blocks), 3);
}

/// Thieves that ask divide a merge, and the result is the same as without a division.
#[test]
fn divided_when_there_is_demand() {
    on_pools(|| {
        let len = 30_000_usize;
        let evens: Vec<usize> = (0..len).map(|i| 2 * i).collect();
        let mut expected = [&evens[..], &(0..len).collect::<Vec<_>>()].concat();
        expected.sort_unstable();
        assert_eq!(evens.par_iter().copied().merge(0..len).collect::<Vec<_>>(), expected);
        expected.reverse();
        assert_eq!(evens.par_iter().copied().merge(0..len).rev().collect::<Vec<_>>(), expected);
    });
}

/// I2: lengths up to the largest; a length that does not fit is a clear panic.
#[test]
fn the_largest_lengths() {
    const MAX: usize = usize::MAX;
    let all = || (0..MAX).into_par_iter();
    let half = || (0..MAX / 2).into_par_iter();
    assert_eq!(all().merge(0..0).len(), MAX);
    assert_eq!(half().merge(0..MAX / 2 + 1).skip(MAX - 2).collect::<Vec<_>>(), [MAX / 2 - 1, MAX / 2]);
    assert_eq!(half().merge(half()).skip(MAX / 2).take(2).collect::<Vec<_>>(), [MAX / 4, MAX / 4 + 1]);
    assert_eq!(half().map(|x| x * 2).merge(half()).rev().take(1).collect::<Vec<_>>(), [MAX - 3]);
    let panics = |run: &dyn Fn()| catch_unwind(AssertUnwindSafe(run)).is_err();
    assert!(panics(&|| assert_ne!(all().merge(0..1).len(), 0)));
    assert!(panics(&|| drop(all().merge(0..1).take(1).collect::<Vec<_>>())));
}

/// A producer that yields the identities of its items.
struct Ids<P>(P);
impl<P: IndexedProducer<Item = Tagged>> Divisible for Ids<P> {
    fn size(&self) -> usize {
        self.0.size()
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.divide_at(index);
        (Ids(left), Ids(right))
    }
}
impl<P: IndexedProducer<Item = Tagged>> IntoIterator for Ids<P> {
    type Item = Id;
    type IntoIter = std::iter::Map<P::IntoIter, fn(Tagged) -> Id>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(id)
    }
}
impl<P: IndexedProducer<Item = Tagged>> Producer for Ids<P> {
    const FACTS: Facts = Facts::ITEMS;
}
impl<P: IndexedProducer<Item = Tagged>> IndexedProducer for Ids<P> {}

/// Checks any sides, cut anywhere, walked from both ends, with looks everywhere.
fn check_against_a_stable_sort<I>(
    merge: impl Fn() -> I,
    expected: &[Id],
    cut: usize,
    steps: &[(bool, usize)],
) -> Result<(), TestCaseError>
where
    I: PeekParallelIterator<Item = Tagged>,
{
    prop_assert_eq!(&merge().size_limit(3).map(id).collect::<Vec<_>>(), expected);
    let place = cut.min(expected.len());
    let mut lent = merge();
    let (head, tail) = lent.peek_producer().divide_at(cut);
    prop_assert_eq!(head.size(), place);
    let looks: Vec<Id> = (0..tail.size()).map(|i| id(tail.peek(i))).collect();
    prop_assert_eq!(&looks, &expected[place..]);
    prop_assert_eq!(&head.into_iter().map(id).collect::<Vec<_>>(), &expected[..place]);
    let back: Vec<Id> = tail.into_iter().rev().map(id).collect();
    prop_assert_eq!(back, expected[place..].iter().rev().copied().collect::<Vec<_>>());
    walks_as_std(Ids(merge().peek_producer()), expected.iter().copied(), steps);
    // A walk from both ends that ends in a fold.
    let mut lent = merge();
    let (mut leaf, mut std) = (Ids(lent.peek_producer()).into_iter(), expected.iter().copied());
    for &(front, _) in steps {
        if front {
            prop_assert_eq!(leaf.next(), std.next());
        } else {
            prop_assert_eq!(leaf.next_back(), std.next_back());
        }
    }
    let rest = leaf.fold(Vec::new(), |mut all, item| {
        all.push(item);
        all
    });
    prop_assert_eq!(rest, std.collect::<Vec<_>>());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Compares with the sequential stable merge: leaves that look, and leaves that take.
    #[test]
    fn as_a_stable_sort(
        left in prop::collection::vec(0..12_u8, 0..60),
        right in prop::collection::vec(0..12_u8, 0..60),
        cut in 0..130_usize,
        steps in prop::collection::vec((any::<bool>(), 0..4_usize), 0..40),
    ) {
        let (left, right) = (side('l', left), side('r', right));
        let expected = merged(&left, &right);
        let looking = || left.par_iter().copied().merge(right.par_iter().copied());
        check_against_a_stable_sort(looking, &expected, cut, &steps)?;
        let taking = || left.par_iter().cloned().merge(right.clone());
        check_against_a_stable_sort(taking, &expected, cut, &steps)?;
    }
}

/// A source that claims to have ten items, of which every leaf yields three, however it is cut. A look returns anything
/// (I3).
#[derive(Clone)]
struct Liar<const LOOKS_ARE_ITEMS: bool> {
    looks: fn(usize) -> i32,
}

impl<const L: bool> ParallelIterator for Liar<L> {
    type Item = i32;
    type Producer<'a> = Liar<L>;
    type Schedule = Plan<Auto, Join, Inline>;
    fn producer(&mut self) -> Liar<L> {
        self.clone()
    }
    fn schedule(&self) -> Self::Schedule {
        Plan::new().join().on(Inline)
    }
}

impl<const L: bool> IndexedParallelIterator for Liar<L> {
    type IndexedProducer<'a> = Liar<L>;
    fn indexed_producer(&mut self) -> Liar<L> {
        self.clone()
    }
    fn len(&self) -> usize {
        10
    }
}

impl<const L: bool> PeekParallelIterator for Liar<L> {
    type PeekProducer<'a> = Liar<L>;
    fn peek_producer(&mut self) -> Liar<L> {
        self.clone()
    }
}

impl<const L: bool> Divisible for Liar<L> {
    fn size(&self) -> usize {
        10
    }
    fn divide_at(self, _: usize) -> (Self, Self) {
        (self.clone(), self)
    }
}

impl<const L: bool> IntoIterator for Liar<L> {
    type Item = i32;
    type IntoIter = std::iter::Take<std::iter::RepeatN<i32>>;
    fn into_iter(self) -> Self::IntoIter {
        std::iter::repeat_n(1, 3).take(3)
    }
}

impl<const L: bool> Producer for Liar<L> {
    const FACTS: Facts = Facts::ITEMS;
}
impl<const L: bool> IndexedProducer for Liar<L> {}
impl<const L: bool> PeekProducer for Liar<L> {
    const LOOKS_ARE_ITEMS: bool = L;
    fn peek(&self, index: usize) -> i32 {
        (self.looks)(index)
    }
}

#[test]
fn liars_end() {
    for looks in [|_| 0, |index| -(index as i32), |index| (index * 7919 % 13) as i32] {
        let taking = || Liar::<false> { looks }.bound_depth(3);
        assert!(taking().merge(0..20).sum::<i32>() > 0);
        assert!((0..20).into_par_iter().merge(taking()).rev().on(Inline).sum::<i32>() > 0);
        assert!(taking().merge(taking()).merge(vec![1; 7]).skip(1).take(9).count() > 0);
        // In place: the promised items do not come.
        assert!(catch_unwind(|| taking().merge(vec![1; 7]).collect::<Vec<_>>()).is_err());
        let looking = || Liar::<true> { looks }.bound_depth(3);
        assert!(looking().merge(0..20).count() >= 20);
        assert!((0..20).into_par_iter().merge(looking()).rev().on(Inline).count() >= 20);
        assert!(looking().merge(looking()).enumerate().skip(1).take(9).count() > 0);
        drop(catch_unwind(|| looking().merge(0..7).collect::<Vec<_>>()));
    }
    let panics =
        || Liar::<true> { looks: |_| panic!("no looks, please") }.bound_depth(3).merge(0..20).sum::<i32>();
    assert!(catch_unwind(panics).is_err());
}
