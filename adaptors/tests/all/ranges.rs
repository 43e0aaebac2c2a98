//! Ranges yield the same as std's ranges, under every schedule, up to the ends of their types.

#![allow(clippy::reversed_empty_ranges, reason = "reversed ranges are cases to be tested")]

use crate::support::assert_schedules;
use crate::support::cuts::{assert_cuts, walks_as_std};
use furcate::prelude::*;
use furcate::{Ends, Reduction};
use proptest::prelude::*;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use testkit::on_pools;

/// Compares an indexed source, small enough to be walked, with std in all its uses.
fn as_std<S, T>(source: S)
where
    S: Clone + Iterator<Item = T> + IntoParallelIterator<Item = T, Iter: IndexedParallelIterator>,
    T: Copy + PartialEq + Debug + Send,
{
    let items = || source.clone().into_par_iter();
    let all: Vec<_> = source.clone().collect();
    cut_as_std(source.clone());
    // Not indexed, so not in place.
    assert_schedules!(all, items(), |it| it.filter(|_| true).collect::<Vec<_>>());
    let reversed: Vec<_> = all.iter().copied().enumerate().rev().collect();
    assert_schedules!(reversed, items(), |it| it.enumerate().rev().collect::<Vec<_>>());
}

/// Compares lengths and cuts, which each type has of its own, with std's. The schedules see only these.
fn cut_as_std<S, T>(source: S)
where
    S: Clone + Iterator<Item = T> + IntoParallelIterator<Item = T, Iter: IndexedParallelIterator>,
    T: Copy + PartialEq + Debug + Send,
{
    let items = || source.clone().into_par_iter();
    let all: Vec<_> = source.clone().collect();
    assert_eq!(items().opt_len(), Some(all.len()));
    assert_eq!(items().len(), all.len());
    if all.len() < 300 {
        assert_cuts!(all, items());
    }
    assert_eq!(items().size_limit(7).collect::<Vec<_>>(), all);
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
                    cut_as_std(start..end);
                    cut_as_std(start..=end);
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
                    cut_as_std(MIN..MIN + n);
                    cut_as_std(MIN..=MIN + n);
                    cut_as_std(MAX - n..MAX);
                    cut_as_std(MAX - n..=MAX);
                }
                cut_as_std(MAX..MIN);
                cut_as_std(MAX..=MIN);
                cut_as_std(MAX..MAX - 1);
                let mut used_up = MAX - 1..=MAX;
                used_up.by_ref().for_each(drop);
                cut_as_std(used_up);
            }
        }
    )+};
}

ranges!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

#[test]
fn whole_types() {
    on_pools(|| {
        for len in [0, 1, 2, 100] {
            as_std(u32::MAX - len..u32::MAX);
            as_std(i128::MIN..=i128::MIN + i128::from(len));
        }
    });
    cut_as_std(u8::MIN..=u8::MAX);
    cut_as_std(i8::MIN..=i8::MAX);
    cut_as_std(i8::MIN..i8::MAX);
    cut_as_std(i16::MIN..=i16::MAX);
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

/// Returns the first and last item of every leaf, without walking it.
#[derive(Clone)]
struct FirstAndLast;

impl<T: Copy + Send> Reduction<T> for FirstAndLast {
    type Accumulator = Vec<(T, T)>;
    type Output = Vec<(T, T)>;

    fn start(&self) -> Self::Accumulator {
        Vec::new()
    }

    fn fold_item(&self, _: Vec<(T, T)>, _: T) -> ControlFlow<Vec<(T, T)>, Vec<(T, T)>> {
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

/// Lengths that do not fit a `usize`: everything without positions works, and the parts are about the same size.
#[test]
fn too_long_for_usize() {
    macro_rules! parts {
        ($first:expr, $last:expr, $range:expr) => {{
            let items = $range.into_par_iter();
            assert_eq!(items.opt_len(), None);
            let ends = items.bound_depth(3).drive(FirstAndLast);
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

    // A search that ends early walks none of it.
    let hit = AtomicBool::new(false);
    (0..u128::MAX).into_par_iter().drive(Stop { hit: &hit });
    assert!(hit.into_inner());
}

/// A reduction that ends at the first item.
#[derive(Clone)]
struct Stop<'a> {
    hit: &'a AtomicBool,
}

impl<T> Reduction<T> for Stop<'_> {
    type Accumulator = ();
    type Output = ();
    const ENDS: Ends = Ends::EARLY;

    fn start(&self) {}

    fn fold_item(&self, (): (), _: T) -> ControlFlow<(), ()> {
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
