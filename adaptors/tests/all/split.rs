//! `split`: every part of the value comes once, and in order, under every schedule.

use crate::support::{LENGTHS, assert_schedules};
use furcate::iter::split;
use furcate::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::on_pools;

/// Cuts a range at two thirds, down to pieces of at most `least` numbers.
fn cut(range: Range<usize>, least: usize) -> (Range<usize>, Option<Range<usize>>) {
    if range.len() <= least {
        return (range, None);
    }
    let at = range.start + (range.len() * 2).div_ceil(3).min(range.len() - 1);
    (range.start..at, Some(at..range.end))
}

#[test]
fn pieces_are_the_whole() {
    for n in LENGTHS {
        let expected: Vec<usize> = (0..n).collect();
        on_pools(|| {
            assert_schedules!(expected, split(0..n, |range| cut(range, 1)), |it| it
                .flatten_iter()
                .collect::<Vec<_>>());
            assert_schedules!(expected, split(0..n, |range| cut(range, 10)), |it| it
                .flatten_iter()
                .collect::<Vec<_>>());
        });
    }
}

#[test]
fn the_policy_decides_how_often_it_is_cut() {
    let cuts = AtomicUsize::new(0);
    let splitter = |range| {
        cuts.fetch_add(1, Relaxed);
        cut(range, 1)
    };
    assert_eq!(split(0..1000, splitter).sequential().count(), 1);
    assert_eq!(cuts.load(Relaxed), 0);
    assert_eq!(split(0..1000, splitter).bound_depth(3).join().count(), 8);
    assert_eq!(cuts.load(Relaxed), 7);
    // To the very end, as far as the closure cuts.
    assert_eq!(split(0..1000, splitter).size_limit(1).count(), 1000);
}

#[test]
fn a_value_that_is_not_cut_is_one_piece() {
    assert_schedules!(vec!["whole"], split("whole", |text| (text, None)), |it| it.collect::<Vec<_>>());
}

#[test]
fn pieces_without_an_end() {
    // Always cut in two, into the same again. Depths are bounded all the same.
    let pieces = split((), |()| ((), Some(())));
    assert_eq!(pieces.clone().bound_depth(4).join().count(), 16);
    assert!(pieces.clone().count() >= 1);
    assert!(pieces.any(|()| true));
}

#[test]
fn panics_in_the_closure() {
    let splitter =
        |range: Range<usize>| if range.start > 500 { panic!("cannot be cut") } else { cut(range, 1) };
    let panic = std::panic::catch_unwind(|| split(0..1000, splitter).size_limit(1).count()).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"cannot be cut"));
}
