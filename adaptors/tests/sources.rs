//! Every source gives what std's iterator over the same thing gives, on every schedule.

#![allow(clippy::reversed_empty_ranges, reason = "reversed ranges are cases to be tested")]

mod support;

use furcate::iter::{Empty, empty, once, repeat, repeat_n};
use furcate::prelude::*;
use furcate::{IndexedProducer, Reduction};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use support::{LENGTHS, assert_schedules, on_pools};

// ----------------------------------------------------------------------------------------------------- ranges

/// A leaf walked from both ends, with skips, as std's iterator over the same items.
fn walks_as_std<P: IndexedProducer<Item: PartialEq + Debug>>(
    leaf: P,
    mut std: impl DoubleEndedIterator<Item = P::Item> + Clone,
    steps: &[(bool, usize)],
) {
    let mut leaf = leaf.into_iter();
    for &(front, skip) in steps {
        assert_eq!(leaf.len(), std.clone().count());
        assert_eq!(leaf.size_hint(), (leaf.len(), Some(leaf.len())));
        match (front, skip) {
            (true, 0) => assert_eq!(leaf.next(), std.next()),
            (false, 0) => assert_eq!(leaf.next_back(), std.next_back()),
            (true, _) => assert_eq!(leaf.nth(skip), std.nth(skip)),
            (false, _) => assert_eq!(leaf.nth_back(skip), std.nth_back(skip)),
        }
    }
    let rest: Vec<_> = std.collect();
    assert_eq!(
        leaf.rfold(Vec::new(), |mut all, item| {
            all.insert(0, item);
            all
        }),
        rest
    );
}

/// An indexed source that is small enough to be gone through, in all its uses.
fn as_std<S, T>(source: S)
where
    S: Clone + Iterator<Item = T> + IntoParallelIterator<Item = T, Iter: IndexedParallelIterator>,
    T: Copy + PartialEq + Debug + Send,
{
    let items = || source.clone().into_par_iter();
    let all: Vec<_> = source.clone().collect();
    let reversed: Vec<_> = all.iter().copied().enumerate().rev().collect();
    assert_eq!(items().opt_len(), Some(all.len()));
    assert_eq!(items().len(), all.len());
    assert_schedules!(all, items(), |it| it.collect::<Vec<_>>());
    // Unindexed, hence not in place.
    assert_schedules!(all, items(), |it| it.filter(|_| true).collect::<Vec<_>>());
    assert_schedules!(reversed, items(), |it| it.enumerate().rev().collect::<Vec<_>>());
}

macro_rules! ranges {
    ($($int:ident),+) => {$(
        mod $int {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(24))]
                #[test]
                fn anywhere(start: $int, len in 0..100_u8) {
                    let end = start.saturating_add(len as $int); // of an `i8`, also before the start
                    on_pools(|| {
                        as_std(start..end);
                        as_std(start..=end);
                    });
                }

                #[test]
                fn leaves(start: $int, len in 0..100_u8, steps: [(bool, u8); 6]) {
                    let end = start.saturating_add(len as $int);
                    let steps = steps.map(|(front, skip)| (front, usize::from(skip / 16)));
                    walks_as_std((start..end).into_par_iter().indexed_producer(), start..end, &steps);
                    walks_as_std((start..=end).into_par_iter().indexed_producer(), start..=end, &steps);
                }
            }

            /// I2.
            #[test]
            fn extremes() {
                const MIN: $int = $int::MIN;
                const MAX: $int = $int::MAX;
                for n in [0, 1, 2, 3, 63, 64, 65] {
                    as_std(MIN..MIN + n);
                    as_std(MIN..=MIN + n);
                    as_std(MAX - n..MAX);
                    as_std(MAX - n..=MAX);
                }
                as_std(MAX..MIN);
                as_std(MAX..=MIN);
                as_std(MAX..MAX - 1);
                let mut used_up = MAX - 1..=MAX;
                used_up.by_ref().for_each(drop);
                as_std(used_up);
            }
        }
    )+};
}

ranges!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

#[test]
fn whole_types() {
    as_std(u8::MIN..=u8::MAX);
    as_std(i8::MIN..=i8::MAX);
    as_std(i8::MIN..i8::MAX);
    as_std(i16::MIN..=i16::MAX);
    let sum: i64 = (i32::MIN..=i32::MIN + 70_000).into_par_iter().map(i64::from).sum();
    assert_eq!(sum, (i32::MIN..=i32::MIN + 70_000).map(i64::from).sum());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn characters(start: char, end: char, near in 0..200_u32, steps: [(bool, u8); 6]) {
        let steps = steps.map(|(front, skip)| (front, usize::from(skip / 16)));
        let end = if near < 150 { char::from_u32(u32::from(start) + near).unwrap_or(end) } else { end };
        if (start..end).size() < 5000 {
            as_std(start..end);
            as_std(start..=end);
            walks_as_std((start..end).into_par_iter().indexed_producer(), start..end, &steps);
            walks_as_std((start..=end).into_par_iter().indexed_producer(), start..=end, &steps);
        } else {
            prop_assert_eq!((start..end).into_par_iter().len(), (start..end).count());
        }
    }
}

/// The surrogates lie in the middle, at the start and at the end; then the last character of all.
#[test]
fn characters_around_the_gap() {
    for (start, end) in [
        ('\u{D700}', '\u{E0FF}'),
        ('\u{D7FF}', '\u{E000}'),
        ('\u{D7FF}', '\u{E001}'),
        ('\u{E000}', '\u{E002}'),
        ('\u{10FFF0}', char::MAX),
        (char::MAX, char::MAX),
        ('b', 'a'),
    ] {
        as_std(start..end);
        as_std(start..=end);
    }
    let all: Vec<char> = ('\0'..=char::MAX).into_par_iter().collect();
    assert!(all.into_iter().eq('\0'..=char::MAX));
}

/// The first and last item of every leaf, without going through it.
#[derive(Clone)]
struct Ends;

impl<T: Copy + Send> Reduction<T> for Ends {
    type Accumulator = Vec<(T, T)>;
    type Output = Vec<(T, T)>;

    fn start(&self) -> Self::Accumulator {
        Vec::new()
    }

    fn step(&self, _: Vec<(T, T)>, _: T) -> ControlFlow<Vec<(T, T)>, Vec<(T, T)>> {
        unreachable!("whole leaves only")
    }

    fn fold<I: Iterator<Item = T>>(&self, mut ends: Vec<(T, T)>, mut items: I) -> Vec<(T, T)> {
        if let Some(first) = items.next() {
            ends.push((first, items.last().unwrap_or(first)));
        }
        ends
    }

    fn finish(&self, ends: Vec<(T, T)>) -> Vec<(T, T)> {
        ends
    }

    fn reduce(&self, mut left: Vec<(T, T)>, right: Vec<(T, T)>) -> Vec<(T, T)> {
        left.extend(right);
        left
    }
}

/// Lengths that do not fit: unindexed everything works, and the parts are about the same size.
#[test]
fn too_long_for_usize() {
    macro_rules! parts {
        ($first:expr, $last:expr, $range:expr) => {{
            let items = $range.into_par_iter();
            assert_eq!(items.opt_len(), None);
            let ends = items.bound_depth(3).drive(Ends);
            assert_eq!(ends.len(), 8);
            assert_eq!((ends[0].0, ends[7].1), ($first, $last));
            assert!(ends.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
            let lengths = ends.iter().map(|(first, last)| last - first);
            assert!(lengths.clone().max().unwrap() - lengths.min().unwrap() <= 1);
        }};
    }
    parts!(0, u64::MAX, 0..=u64::MAX);
    parts!(0, u128::MAX - 1, 0..u128::MAX);
    parts!(0, u128::MAX, 0..=u128::MAX);
    parts!(3, (1 << 100) - 1, 3..1_u128 << 100);
    parts!(i128::MIN / 2, i128::MAX / 3, i128::MIN / 2..=i128::MAX / 3);

    // A search that ends early goes through none of it.
    let hit = AtomicBool::new(false);
    (0..u128::MAX).into_par_iter().drive(Stop { hit: &hit });
    assert!(hit.into_inner());
}

/// Ends at the first item.
#[derive(Clone)]
struct Stop<'a> {
    hit: &'a AtomicBool,
}

impl<T> Reduction<T> for Stop<'_> {
    type Accumulator = ();
    type Output = ();
    const INTERRUPTIBLE: bool = true;

    fn start(&self) {}

    fn step(&self, (): (), _: T) -> ControlFlow<(), ()> {
        self.hit.store(true, Relaxed);
        ControlFlow::Break(())
    }

    fn finish(&self, (): ()) {}

    fn reduce(&self, (): (), (): ()) {}

    fn stopped(&self) -> bool {
        self.hit.load(Relaxed)
    }
}

#[test]
fn the_longest_that_fits() {
    let len = usize::MAX;
    assert_eq!((0..len as u64).into_par_iter().opt_len(), Some(len));
    assert_eq!((5..5 + len as u128).into_par_iter().len(), len);
    assert_eq!((1..=len as u64).into_par_iter().len(), len);
    assert_eq!((1..=len).into_par_iter().len(), len);
    assert_eq!((0..=len).into_par_iter().opt_len(), None);
    assert_eq!((0..=len as u128).into_par_iter().opt_len(), None);
    assert_eq!((0..len as u128 + 1).into_par_iter().opt_len(), None);
    assert_eq!((i64::MIN..i64::MAX).into_par_iter().opt_len(), Some((i64::MIN..i64::MAX).size()));
    // Positions far out.
    let mut back = (i64::MIN..i64::MAX).into_par_iter().rev().enumerate();
    let mut leaf = back.indexed_producer().into_iter();
    assert_eq!(leaf.next(), Some((0, i64::MAX - 1)));
    assert_eq!(leaf.next_back(), Some((usize::MAX - 1, i64::MIN)));
}

#[test]
#[should_panic(expected = "more than usize::MAX items")]
fn len_of_what_does_not_fit() {
    (0..u128::MAX).into_par_iter().len();
}

#[test]
#[should_panic(expected = "more than usize::MAX items")]
fn positions_of_what_does_not_fit() {
    (0..=usize::MAX).into_par_iter().zip(vec![1, 2]).map(|(a, b)| a + b).sum::<usize>();
}

#[test]
fn ranges_know_as_much_as_rayons() {
    fn rayons<R: rayon::iter::IntoParallelIterator>(range: R) -> Option<usize> {
        rayon::iter::ParallelIterator::opt_len(&range.into_par_iter())
    }
    macro_rules! same {
        ($($range:expr),+) => {$(assert_eq!($range.into_par_iter().opt_len(), rayons($range));)+};
    }
    same!(
        3..9_u8,
        i8::MIN..i8::MAX,
        0..=u16::MAX,
        0..u64::MAX,
        i64::MIN..=i64::MAX,
        0..u128::MAX,
        0..=9_i128
    );
    same!('a'..'y', '\0'..=char::MAX, 0..usize::MAX, 9..3_u64, 9..=3_i32, 0..=u32::MAX);
}

/// A literal's type is inferred as in a sequential loop.
#[test]
fn literals_are_i32() {
    let sum = (0..4).into_par_iter().map(|x| x - 2).sum::<i32>() + (0..=4).into_par_iter().sum::<i32>();
    assert_eq!(sum, 8);
    let bytes: Vec<u8> = (0..4).into_par_iter().collect();
    let v = [10, 20, 30];
    let indexed: Vec<i32> = (0..v.len()).into_par_iter().map(|i| v[i]).collect();
    assert_eq!((bytes.len(), indexed), (4, v.to_vec()));
}

// ----------------------------------------------------------------------------- arrays, boxes, options, results

#[test]
fn arrays_and_boxes() {
    fn check<const N: usize>() {
        let array: [String; N] = std::array::from_fn(|i| i.to_string());
        let expected = array.to_vec();
        let shared: Vec<_> = array.iter().collect();
        let mut changed = array.clone();
        on_pools(|| {
            assert_schedules!(expected, array.clone().into_par_iter(), |it| it.collect::<Vec<_>>());
            assert_schedules!(shared, array.par_iter(), |it| it.collect::<Vec<_>>());
            let boxed: Box<[String]> = array.clone().into();
            assert_schedules!(expected, boxed.clone().into_par_iter(), |it| it.collect::<Vec<_>>());
            assert_schedules!(shared, boxed.par_iter(), |it| it.collect::<Vec<_>>());
        });
        assert_eq!(array.clone().into_par_iter().len(), N);
        let pushed: usize = changed.par_iter_mut().map(|s| s.push('!')).map(|()| 1).sum();
        let pushed_boxed: usize = Box::<[_]>::from(&mut changed[..]).par_iter_mut().map(|s| s.len()).sum();
        assert_eq!(pushed, N);
        assert_eq!(pushed_boxed, expected.iter().map(|s| s.len() + 1).sum());
        assert!(changed.iter().zip(&array).all(|(new, old)| *new == format!("{old}!")));
    }
    check::<0>();
    check::<1>();
    check::<2>();
    check::<31>();
    check::<33>();
}

#[test]
fn options_and_results() {
    for mut option in [None, Some(7)] {
        let mut result = option.ok_or("nothing");
        let expected: Vec<i32> = option.into_iter().collect();
        let positions: Vec<_> = option.into_iter().enumerate().rev().collect();
        assert_schedules!(expected, option.into_par_iter(), |it| it.collect::<Vec<_>>());
        assert_schedules!(expected, option.par_iter(), |it| it.map(|&x| x).collect::<Vec<_>>());
        assert_schedules!(expected, result.into_par_iter(), |it| it.collect::<Vec<_>>());
        assert_schedules!(expected, result.par_iter(), |it| it.map(|&x| x).collect::<Vec<_>>());
        assert_schedules!(positions, option.into_par_iter(), |it| it.enumerate().rev().collect::<Vec<_>>());
        assert_schedules!(positions, result.into_par_iter(), |it| it.enumerate().rev().collect::<Vec<_>>());
        let zipped: Vec<_> = option.into_iter().zip(1..9).collect();
        assert_schedules!(zipped, option.into_par_iter(), |it| it.zip(1..9).collect::<Vec<_>>());
        assert_eq!(option.par_iter_mut().map(|x| *x += 1).len(), expected.len());
        option.par_iter_mut().map(|x| *x += 1).map(|()| 1).sum::<i32>();
        result.par_iter_mut().map(|x| *x += 1).map(|()| 1).sum::<i32>();
        assert_eq!(option, expected.first().map(|x| x + 1));
        assert_eq!(result.ok(), option);
    }
}

// ------------------------------------------------------------------------------------------------ collections

/// By value, `&` and (where given) `&mut`, in the order of std's iterator.
macro_rules! collection_as_std {
    ($collection:expr $(, mut |$item:pat_param| $change:expr)?) => {{
        let collection = $collection;
        let by_value: Vec<_> = collection.clone().into_iter().collect();
        let by_reference: Vec<_> = collection.iter().collect();
        on_pools(|| {
            assert_schedules!(by_value, collection.clone().into_par_iter(), |it| it.collect::<Vec<_>>());
            assert_schedules!(by_reference, collection.par_iter(), |it| it.collect::<Vec<_>>());
            assert_schedules!(by_reference, collection.par_iter(), |it| it.clone().filter(|_| true).collect::<Vec<_>>());
        });
        assert_eq!(collection.par_iter().opt_len(), Some(by_value.len()));
        $({
            let (mut expected, mut changed) = (collection.clone(), collection.clone());
            expected.iter_mut().for_each(|$item| $change);
            changed.par_iter_mut().size_limit(3).map(|$item| $change).map(|()| 1).sum::<usize>();
            assert_eq!(changed, expected);
        })?
    }};
}

type FixedState = BuildHasherDefault<DefaultHasher>;

#[test]
fn collections() {
    for len in LENGTHS {
        let len = len as u32;
        let numbers = || (0..len).map(|i| i.wrapping_mul(2_654_435_761) >> 7);
        let pairs = || numbers().zip(0_u32..);
        collection_as_std!(numbers().collect::<Vec<_>>(), mut |x| *x += 1);
        collection_as_std!(numbers().collect::<LinkedList<_>>(), mut |x| *x += 1);
        collection_as_std!(numbers().collect::<BTreeSet<_>>());
        collection_as_std!(numbers().collect::<HashSet<_>>());
        collection_as_std!(numbers().collect::<HashSet<_, FixedState>>());
        collection_as_std!(pairs().collect::<BTreeMap<_, _>>(), mut |(_, x)| *x += 1);
        collection_as_std!(pairs().collect::<HashMap<_, _>>(), mut |(_, x)| *x += 1);
        collection_as_std!(pairs().collect::<HashMap<_, _, FixedState>>(), mut |(_, x)| *x += 1);
        collection_as_std!(numbers().collect::<BinaryHeap<_>>());
    }
}

/// A queue whose items lie in two pieces of the given lengths.
fn ring(front: usize, back: usize) -> VecDeque<usize> {
    let mut ring = VecDeque::with_capacity(front + back);
    ring.extend(front..front + back);
    (0..front).rev().for_each(|i| ring.push_front(i));
    ring
}

#[test]
fn queues_in_two_pieces() {
    for (front, back) in [(0, 0), (1, 0), (1, 1), (3, 5), (64, 1), (1, 64), (500, 497)] {
        let queue = ring(front, back);
        assert!(
            front == 0 || back == 0 || !queue.as_slices().1.is_empty(),
            "the test's queue has two pieces"
        );
        collection_as_std!(queue.clone(), mut |x| *x *= 3);
        let reversed: Vec<_> = queue.iter().enumerate().rev().collect();
        assert_schedules!(reversed, queue.par_iter(), |it| it.enumerate().rev().collect::<Vec<_>>());
    }
}

#[test]
fn what_is_a_vector_inside_is_indexed() {
    let heap = BinaryHeap::from([3, 1, 2]);
    let placed: Vec<_> = heap.iter().enumerate().map(|(i, &x)| (i, x)).collect();
    assert_eq!(heap.par_iter().enumerate().map(|(i, &x)| (i, x)).collect::<Vec<_>>(), placed);
    assert_eq!(heap.into_par_iter().enumerate().collect::<Vec<_>>(), placed);
    let mut queue = ring(2, 2);
    assert_eq!(queue.par_iter_mut().rev().map(|x| *x).collect::<Vec<_>>(), [3, 2, 1, 0]);
    assert_eq!(queue.par_drain(1..).rev().collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(queue.into_par_iter().len(), 1);
}

// ------------------------------------------------------------------------------------- empty, once and repeat

#[test]
fn empty_and_once() {
    assert_schedules!(Vec::<i32>::new(), empty::<i32>(), |it| it.collect::<Vec<_>>());
    assert_schedules!(vec![(0, 'x')], once('x'), |it| it.enumerate().rev().collect::<Vec<_>>());
    assert_eq!((empty::<u8>().len(), once(1).len()), (0, 1));
    assert_eq!((empty::<u8>().opt_len(), once(1).opt_len()), (Some(0), Some(1)));
    assert_eq!(format!("{:?}", empty::<u8>().clone()), "Empty");
    fn shared<T: Sync>(_: &T) {}
    shared(&empty::<std::cell::Cell<u8>>());
    assert_eq!(size_of::<Empty<String>>(), 0);
}

#[test]
fn repetitions() {
    for n in LENGTHS {
        let expected: Vec<String> = std::iter::repeat_n("again".to_string(), n).collect();
        let positions: Vec<_> = expected.clone().into_iter().enumerate().rev().collect();
        on_pools(|| {
            let repeated = || repeat_n("again".to_string(), n);
            assert_schedules!(expected, repeated(), |it| it.collect::<Vec<_>>());
            assert_schedules!(expected, repeated(), |it| it.filter(|_| true).collect::<Vec<_>>());
            assert_schedules!(positions, repeated(), |it| it.enumerate().rev().collect::<Vec<_>>());
        });
        assert_eq!(repeat("again".to_string()).take(n).collect::<Vec<_>>(), expected);
        let zipped: Vec<_> = repeat('x').zip(vec![7; n]).collect();
        assert_eq!(zipped, vec![('x', 7); n]);
        assert_eq!(repeat_n((), n).len(), n);
    }
    assert_eq!(repeat_n((), usize::MAX).len(), usize::MAX);
    walks_as_std(
        repeat_n(5, 9).indexed_producer(),
        [5; 9].into_iter(),
        &[(true, 2), (false, 1), (true, 0), (false, 0), (true, 9), (true, 0)],
    );
}

/// Endless, but every policy comes to a leaf that a search can end in.
#[test]
fn an_endless_repetition_can_be_searched() {
    assert_eq!(repeat(1).opt_len(), None);
    on_pools(|| {
        macro_rules! found {
            ($items:expr) => {{
                let hit = AtomicBool::new(false);
                $items.drive(Stop { hit: &hit });
                assert!(hit.into_inner());
            }};
        }
        found!(repeat(1));
        found!(repeat(1).filter(|_| true).sequential());
        found!(repeat(1).size_limit(1));
        found!(repeat(1).force_depth(5));
        found!(repeat(1).bound_depth(70));
    });
    let (left, right) = repeat('x').producer().divide_at(3);
    assert_eq!((left.size(), right.size()), (3, usize::MAX));
    assert_eq!(left.into_iter().count(), 3);
    let (left, right) = right.divide_at(0);
    assert_eq!((left.into_iter().count(), right.size()), (0, usize::MAX));
}
