//! Parts of slices against std and rayon.

use crate::support::cuts::{CountInNanoLoops, assert_cuts};
use crate::support::{LENGTHS, assert_schedules};
use furcate::Inline;
use furcate::prelude::*;
use proptest::prelude::*;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::on_pools;

/// Runs a check for every kind of chunks and windows: std's method and ours, shared and mutable.
macro_rules! for_all_chunks {
    ($check:ident) => {{
        $check!(chunks, par_chunks, chunks_mut, par_chunks_mut);
        $check!(chunks_exact, par_chunks_exact, chunks_exact_mut, par_chunks_exact_mut);
        $check!(rchunks, par_rchunks, rchunks_mut, par_rchunks_mut);
        $check!(rchunks_exact, par_rchunks_exact, rchunks_exact_mut, par_rchunks_exact_mut);
        $check!(windows, par_windows);
    }};
}

/// Runs a check for every kind of splitting.
macro_rules! for_all_splits {
    ($check:ident) => {{
        $check!(split, par_split, split_mut, par_split_mut, |x| *x == 0);
        $check!(split_inclusive, par_split_inclusive, split_inclusive_mut, par_split_inclusive_mut, |x| *x
            == 0);
        $check!(chunk_by, par_chunk_by, chunk_by_mut, par_chunk_by_mut, |x, y| x == y);
        $check!(chunk_by, par_chunk_by, chunk_by_mut, par_chunk_by_mut, |x, y| x < y);
    }};
}

fn to_vecs<'data>(parts: impl Iterator<Item = &'data [u8]>) -> Vec<Vec<u8>> {
    parts.map(<[u8]>::to_vec).collect()
}

/// Returns the parts as owned vectors, so that they can be compared whatever they borrow.
macro_rules! owned {
    ($parts:expr) => {
        $parts.map(|part| part.to_vec())
    };
}

#[test]
fn every_cut_of_chunks_and_windows() {
    for len in 0..=9_u8 {
        let mut slice: Vec<u8> = (0..len).collect();
        for size in [1, 2, 3, 4, 7, 8, 9, 10, usize::MAX] {
            macro_rules! check {
                ($std:ident, $par:ident $(, $std_mut:ident, $par_mut:ident)?) => {{
                    let expected = to_vecs(slice.$std(size));
                    assert_eq!(slice.$par(size).len(), expected.len());
                    assert_eq!(slice.$par(size).opt_len(), Some(expected.len()));
                    assert_cuts!(expected, owned!(slice.$par(size)));
                    $(assert_cuts!(expected, owned!(slice.$par_mut(size)));)?
                }};
            }
            for_all_chunks!(check);
        }
        assert_cuts!(to_vecs(slice.windows(3)), owned!(slice.par_array_windows::<3>()));
    }
}

/// Every slice of up to 6 elements of three values: separators at the ends, adjacent, alone; no element at all.
#[test]
fn every_cut_of_splits() {
    for (len, values) in (0..=6).map(|len| (len, 3_usize.pow(len))) {
        for value in 0..values {
            let mut slice: Vec<u8> =
                (0..len).map(|place| (value / 3_usize.pow(place) % 3).try_into().unwrap()).collect();
            macro_rules! check {
                ($std:ident, $par:ident, $std_mut:ident, $par_mut:ident, $separator:expr) => {{
                    let expected = to_vecs(slice.$std($separator));
                    assert_cuts!(expected, owned!(slice.$par($separator)));
                    assert_cuts!(expected, owned!(slice.$par_mut($separator)));
                }};
            }
            for_all_splits!(check);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn chunks_under_every_schedule(v: Vec<u8>, size in 1..12_usize) {
        macro_rules! check {
            ($std:ident, $par:ident $(, $std_mut:ident, $par_mut:ident)?) => {{
                let expected: Vec<_> = v.$std(size).collect();
                let rayons = rayon::slice::ParallelSlice::$par(&v[..], size);
                assert_eq!(rayon::iter::ParallelIterator::collect::<Vec<_>>(rayons), expected);
                let indexed: Vec<_> = expected.iter().copied().rev().enumerate().collect();
                on_pools(|| {
                    assert_schedules!(expected, v.$par(size), |it| it.collect::<Vec<_>>());
                    assert_schedules!(indexed, v.$par(size), |it| it.rev().enumerate().collect::<Vec<_>>());
                    $(
                        let mut copy = v.clone();
                        assert_schedules!(to_vecs(v.$std(size)), copy.$par_mut(size), |it| {
                            owned!(it).collect::<Vec<_>>()
                        });
                    )?
                });
            }};
        }
        for_all_chunks!(check);
    }

    #[test]
    fn splits_under_every_schedule(v in prop::collection::vec(0..4_u8, 0..60)) {
        macro_rules! check {
            ($std:ident, $par:ident, $std_mut:ident, $par_mut:ident, $separator:expr) => {{
                let expected: Vec<_> = v.$std($separator).collect();
                let rayons = rayon::slice::ParallelSlice::$par(&v[..], $separator);
                assert_eq!(rayon::iter::ParallelIterator::collect::<Vec<_>>(rayons), expected);
                on_pools(|| {
                    assert_schedules!(expected, v.$par($separator), |it| it.collect::<Vec<_>>());
                    let mut copy = v.clone();
                    assert_schedules!(to_vecs(v.$std($separator)), copy.$par_mut($separator), |it| {
                        owned!(it).collect::<Vec<_>>()
                    });
                });
            }};
        }
        for_all_splits!(check);
    }

    /// Values written through the parts arrive in the right place.
    #[test]
    fn parts_can_be_written_to(v in prop::collection::vec(0..4_u8, 0..60), size in 1..12_usize) {
        macro_rules! check_write {
            ($std_mut:ident, $par_mut:ident, $argument:expr) => {{
                let (mut expected, mut written) = (v.clone(), v.clone());
                expected.$std_mut($argument).for_each(<[u8]>::reverse);
                assert_schedules!(expected, { written.clone_from(&v); written.$par_mut($argument) }, |it| {
                    it.map(<[u8]>::reverse).collect::<Vec<()>>();
                    written.clone()
                });
            }};
        }
        macro_rules! check {
            ($std:ident, $par:ident) => {};
            ($std:ident, $par:ident, $std_mut:ident, $par_mut:ident) => {
                check_write!($std_mut, $par_mut, size);
            };
            ($std:ident, $par:ident, $std_mut:ident, $par_mut:ident, $separator:expr) => {
                check_write!($std_mut, $par_mut, $separator);
            };
        }
        for_all_chunks!(check);
        for_all_splits!(check);
    }

    #[test]
    fn array_windows(v: Vec<u8>) {
        let expected: Vec<[u8; 3]> = v.windows(3).map(|window| window.try_into().unwrap()).collect();
        on_pools(|| {
            assert_schedules!(expected, v.par_array_windows(), |it| it.map(|window| *window).collect::<Vec<[u8; 3]>>());
        });
    }

    #[test]
    fn parts_together(v: Vec<u8>, size in 1..12_usize) {
        let expected: Vec<_> = v.chunks(size).zip(v.rchunks(size)).zip(v.windows(size)).collect();
        assert_schedules!(expected, v.par_chunks(size), |it| {
            it.zip(v.par_rchunks(size)).zip(v.par_windows(size)).collect::<Vec<_>>()
        });
    }
}

/// Lengths around powers of two (I2), with as many parts and as few as there can be.
#[test]
fn telling_lengths() {
    for len in LENGTHS {
        let mut v: Vec<usize> = (0..len).collect();
        for size in [1, 2, 64, 1000, usize::MAX] {
            let sums: Vec<usize> = v.chunks(size).map(|chunk| chunk.iter().sum()).collect();
            assert_schedules!(sums, v.par_chunks(size), |it| {
                it.map(|chunk| chunk.iter().sum::<usize>()).collect::<Vec<_>>()
            });
            assert_eq!(v.par_chunks_exact(size).remainder(), v.chunks_exact(size).remainder());
            assert_eq!(v.par_rchunks_exact(size).remainder(), v.rchunks_exact(size).remainder());
            let remainder = v.chunks_exact(size).remainder().to_vec();
            assert_eq!(v.par_chunks_exact_mut(size).remainder(), remainder);
            assert_eq!(v.par_chunks_exact_mut(size).into_remainder(), remainder);
            let remainder = v.rchunks_exact(size).remainder().to_vec();
            let mut chunks = v.par_rchunks_exact_mut(size);
            assert_eq!(chunks.take_remainder(), remainder);
            assert!(chunks.take_remainder().is_empty() && chunks.remainder().is_empty());
            assert_eq!(chunks.len(), len / size);
        }
    }
}

#[test]
fn elements_without_size() {
    let units = [(); 1000];
    assert_eq!(units.par_chunks(7).len(), 143);
    assert_eq!(units.par_windows(7).size_limit(1).map(<[()]>::len).sum::<usize>(), 994 * 7);
    assert_eq!(units.par_split(|()| true).size_limit(1).map(|_| 1).sum::<usize>(), 1001);
}

/// Mutable parts need `Send` only.
#[test]
fn elements_that_cannot_be_shared() {
    let mut cells: Vec<Cell<i32>> = (0..100).map(Cell::new).collect();
    cells.par_chunks_mut(7).map(|chunk| chunk[0].set(-1)).collect::<Vec<()>>();
    let below: Vec<i32> =
        cells.par_split_mut(|cell| cell.get() < 0).map(|part| part.iter().map(Cell::get).sum()).collect();
    let expected: Vec<i32> =
        std::iter::once(0).chain((0..100).step_by(7).map(|i| (i + 1..(i + 7).min(100)).sum())).collect();
    assert_eq!(below, expected);
    assert_eq!(cells.par_chunk_by_mut(|a, b| a.get() < b.get()).map(|_| 1).sum::<usize>(), 15);
}

#[test]
fn sizes_of_zero_are_refused() {
    let mut v = [1, 2, 3];
    macro_rules! check {
        ($std:ident, $par:ident $(, $std_mut:ident, $par_mut:ident)?) => {{
            let name = if stringify!($std) == "windows" { "window_size" } else { "chunk_size" };
            let refused = catch_unwind(|| drop(v.$par(0))).unwrap_err();
            assert_eq!(*refused.downcast_ref::<&str>().unwrap(), format!("{name} must not be zero"));
            $(
                let refused = catch_unwind(AssertUnwindSafe(|| drop(v.$par_mut(0)))).unwrap_err();
                assert_eq!(*refused.downcast_ref::<&str>().unwrap(), "chunk_size must not be zero");
            )?
        }};
    }
    for_all_chunks!(check);
}

/// Cuts at the nearest place to the middle: the first behind it, else the last before it.
#[test]
fn cut_near_the_middle() {
    fn halves(mut it: impl ParallelIterator<Item: AsRef<[u8]>>) -> [Vec<Vec<u8>>; 2] {
        fn vecs(part: impl IntoIterator<Item: AsRef<[u8]>>) -> Vec<Vec<u8>> {
            part.into_iter().map(|part| part.as_ref().to_vec()).collect()
        }
        let (left, right) = it.producer().divide();
        [vecs(left), vecs(right)]
    }
    assert_eq!(halves([1, 1, 2, 2].par_chunk_by(|x, y| x == y)), [vec![vec![1, 1]], vec![vec![2, 2]]]);
    assert_eq!(halves([1, 1, 1, 2].par_chunk_by(|x, y| x == y)), [vec![vec![1, 1, 1]], vec![vec![2]]]);
    assert_eq!(halves([1, 2, 2, 2].par_chunk_by(|x, y| x == y)), [vec![vec![1]], vec![vec![2, 2, 2]]]);
    assert_eq!(halves([1, 0, 2, 3, 4].par_split_mut(|x| *x == 0)), [vec![vec![1]], vec![vec![2, 3, 4]]]);
    assert_eq!(halves([1, 2, 3, 0].par_split_inclusive(|x| *x == 0)), [vec![vec![1, 2, 3, 0]], vec![]]);
    assert_eq!(halves([1, 2, 3, 0].par_split(|x| *x == 0)), [vec![vec![1, 2, 3]], vec![vec![]]]);
}

/// The predicate is called once for every element, or pair of neighbors, whatever the division tree (I4).
#[test]
fn work_is_linear_however_it_is_cut() {
    let mut slices = [vec![1; 50_000], [vec![1; 50_000], vec![0], vec![1; 50_000]].concat(), vec![0; 50_000]];
    for slice in &mut slices {
        let len = slice.len();
        let calls = AtomicUsize::new(0);
        let is_zero = |x: &u8| {
            calls.fetch_add(1, Relaxed);
            *x == 0
        };
        let same = |x: &u8, y: &u8| {
            calls.fetch_add(1, Relaxed);
            x == y
        };
        macro_rules! check {
            ($source:expr, $expected:expr, $calls:expr) => {{
                let (expected, expected_calls): (usize, usize) = ($expected, $calls);
                assert_eq!($source.sequential().drive(CountInNanoLoops), expected);
                assert_eq!(calls.swap(0, Relaxed), expected_calls);
                for limit in [1, 10, 300] {
                    assert_eq!($source.size_limit(limit).on(Inline).drive(CountInNanoLoops), expected);
                    assert_eq!(calls.swap(0, Relaxed), expected_calls);
                    assert_eq!($source.by_uniform_blocks(limit).count(), expected);
                    assert_eq!(calls.swap(0, Relaxed), expected_calls);
                }
                assert_eq!($source.force_depth(10).on(Inline).drive(CountInNanoLoops), expected);
                assert_eq!(calls.swap(0, Relaxed), expected_calls);
                assert_eq!($source.adaptive().count(), expected);
                assert_eq!(calls.swap(0, Relaxed), expected_calls);
            }};
        }
        let zeros = slice.iter().filter(|x| **x == 0).count();
        let runs = slice.chunk_by(|x, y| x == y).count();
        check!(slice.par_split(is_zero), zeros + 1, len);
        check!(slice.par_split_mut(is_zero), zeros + 1, len);
        check!(slice.par_chunk_by(same), runs, len.saturating_sub(1));
        check!(slice.par_chunk_by_mut(same), runs, len.saturating_sub(1));
    }
}

/// A predicate that panics does so in the caller, and the slice is intact afterwards.
#[test]
fn predicates_that_panic() {
    on_pools(|| {
        let mut v: Vec<u8> = (0..100).collect();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            v.par_split_mut(|&x| if x == 77 { panic!("77") } else { x % 10 == 0 })
                .size_limit(4)
                .map(|_| 1)
                .sum::<usize>()
        }));
        assert_eq!(*caught.unwrap_err().downcast_ref::<&str>().unwrap(), "77");
        assert!(v.into_iter().eq(0..100));
    });
}
