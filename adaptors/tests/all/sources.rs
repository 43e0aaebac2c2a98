//! Every source yields the same as std's iterator over the same value, under every schedule.

#![allow(clippy::reversed_empty_ranges, reason = "reversed ranges are cases to be tested")]

use crate::support::cuts::walks_as_std;
use crate::support::{LENGTHS, assert_schedules};
use furcate::iter::{Empty, empty, once, repeat, repeat_n};
use furcate::prelude::*;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasherDefault, DefaultHasher};
use testkit::on_pools;

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

/// Compares iteration by value, by `&` and (where given) by `&mut` with the order of std's iterator.
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

/// The source is endless, but every policy reaches a leaf in which a search can end.
#[test]
fn an_endless_repetition_can_be_searched() {
    assert_eq!(repeat(1).opt_len(), None);
    on_pools(|| {
        macro_rules! found {
            ($items:expr) => {{
                assert!($items.any(|one| one == 1));
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
