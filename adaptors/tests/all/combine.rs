//! `chain` and `intersperse` over iterators that do not know their length.

use crate::support::steps::{Every, in_steps, run_script};
use crate::support::{LENGTHS, assert_schedules};
use furcate::prelude::*;
use furcate::{Blocking, Divisible, NextStep};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use testkit::on_pools;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn chain_of_filtered(v: Vec<i32>, w: Vec<i32>) {
        let expected: Vec<i32> =
            v.iter().copied().filter(|x| x % 3 == 0).chain(w.iter().copied()).filter(|x| x % 2 == 0).collect();
        on_pools(|| {
            assert_schedules!(expected, v.clone().into_par_iter(), |it| {
                it.filter(|x| x % 3 == 0).chain(w.clone()).filter(|x| x % 2 == 0).collect::<Vec<_>>()
            });
        });
    }

    /// No separator stands before the first item or behind the last, wherever the empty parts are.
    #[test]
    fn intersperse_of_filtered(v in proptest::collection::vec(0..8, 0..50), keep in 0..8) {
        let expected: Vec<i32> =
            v.iter().copied().filter(|x| *x < keep).flat_map(|x| [-1, x]).skip(1).collect();
        on_pools(|| {
            assert_schedules!(expected, v.clone().into_par_iter(), |it| {
                it.filter(|x| *x < keep).intersperse(-1).collect::<Vec<_>>()
            });
            assert_schedules!(expected, v.clone().into_par_iter(), |it| {
                it.filter(|x| *x < keep).intersperse(-1).map(|x| x + 1).filter(|_| true).map(|x| x - 1).collect::<Vec<_>>()
            });
        });
    }
}

#[test]
fn nano_loops_go_over_the_seam() {
    for len in LENGTHS.into_iter().filter(|len| *len < 100) {
        let expected: Vec<usize> = (0..len).filter(|x| x % 2 == 0).chain(0..len).collect();
        let mut chain = (0..len).into_par_iter().filter(|x| x % 2 == 0).chain(0..len);
        for limit in 1..=2 * len + 1 {
            let loops = in_steps(chain.producer(), [limit, 0, 1, limit]);
            assert_eq!(loops.concat(), expected, "by {limit} of {len}");
            let (left, right) = chain.producer().divide_at(limit);
            let both = [in_steps(left, [limit / 2]), in_steps(right, [limit / 2])].concat().concat();
            assert_eq!(both, expected, "cut at {limit} of {len}");
        }
    }
}

/// A part is given away while the second side waits behind the first one. Whichever is longer, nothing is lost, the
/// order stays, and about half is given away.
#[test]
fn halves_given_away_around_the_seam() {
    for (first, second) in [(0, 0), (1, 0), (0, 1), (1, 1), (5, 100), (100, 5), (50, 50), (49, 50), (64, 63)]
    {
        let expected: Vec<usize> = (0..first).chain(100..100 + second).collect();
        let mut chain = (0..first).into_par_iter().filter(|_| true).chain(100..100 + second);
        for done in 0..first + second + 2 {
            let script = [NextStep::Fold(done), NextStep::Divide, NextStep::Fold(3), NextStep::Divide];
            let script = if done == 0 { &script[1..] } else { &script[..] };
            let (items, outcome) = run_script(chain.producer(), script.iter().copied());
            if let [first_given, ..] = &outcome.given[..] {
                let left = outcome.sizes[script.iter().position(|s| *s == NextStep::Divide).unwrap()];
                assert!(
                    first_given.size().abs_diff(left / 2) <= left / 6 + 1,
                    "{} of {left}",
                    first_given.size()
                );
                assert!(left < 2 || (1..left).contains(&first_given.size()), "all or nothing of {left}");
            }
            let mut all = items.concat();
            all.extend(outcome.given.into_iter().rev().flatten());
            assert_eq!(all, expected, "{first} and {second}, after {done}");
        }
    }
}

/// A part that cannot be cut has no right half: an empty one would yield an item that does not exist.
#[test]
fn no_empty_side_is_given_away() {
    /// A producer that lies entirely to the left of any cut.
    #[derive(Clone, Debug, PartialEq)]
    struct Whole(usize);
    impl Divisible for Whole {
        fn size(&self) -> usize {
            self.0
        }
        fn divide_at(self, _: usize) -> (Self, Self) {
            (self, Whole(0))
        }
    }
    for (first, second) in [(1, 4), (2, 4), (3, 4), (4, 4), (4, 3), (4, 2), (4, 1), (9, 1)] {
        for divisions in 1..4 {
            let mut chain = Whole(first).wrap_iter().chain(Whole(second).wrap_iter());
            let steps = std::iter::repeat_n(NextStep::Divide, divisions);
            let (items, outcome) = run_script(chain.producer(), steps);
            let mut pieces = items.concat();
            pieces.extend(outcome.given.into_iter().rev().flatten());
            assert_eq!(pieces, [Whole(first), Whole(second)], "after {divisions} divisions");
        }
    }
}

/// When the loops stop, no further item comes from either side.
#[test]
fn a_stop_ends_the_chain() {
    let mut chain = (0..10_usize).into_par_iter().chain(10..20);
    for done in 1..20 {
        let (items, _) = run_script(chain.producer(), [NextStep::Fold(done), NextStep::Stop]);
        // A loop does not cross the seam.
        assert_eq!(items.concat(), (0..done.min(10)).collect::<Vec<_>>());
    }
}

/// A fold that breaks ends both sides.
#[test]
fn a_break_ends_the_chain() {
    for stop in 0..20 {
        let mut chain = (0..10_usize).into_par_iter().chain(10..20);
        let broken = chain.producer().partial_fold(
            Blocking(0),
            |seen, item| {
                if item == stop { ControlFlow::Break(seen) } else { ControlFlow::Continue(seen + 1) }
            },
            &mut Every(usize::MAX),
        );
        assert!(matches!(broken, ControlFlow::Break(Blocking(seen)) if seen == stop));
    }
}

/// A base whose length is known is not collected: it is cut, and run under the chain's schedule.
#[test]
fn intersperse_of_known_length_is_lazy() {
    let runs = AtomicUsize::new(0);
    let counted = (0..100_usize).into_par_iter().map(|x| {
        runs.fetch_add(1, SeqCst);
        x
    });
    let mut interspersed = counted.intersperse(0);
    assert_eq!(interspersed.opt_len(), Some(199));
    assert_eq!(interspersed.producer().divide_at(11).0.into_iter().count(), 11);
    assert_eq!(runs.swap(0, SeqCst), 6);
}

/// The two sides of a chain are divided as one whole.
#[test]
fn unequal_sides_are_divided_evenly() {
    let (left, right) = (0..1_usize).into_par_iter().chain(0..999).producer().divide();
    assert_eq!((left.size(), right.size()), (500, 500));
}

#[test]
fn a_side_without_items_is_no_item() {
    // The middle lies inside a character, which goes to the left as a whole, so no text is to the right.
    let pieces: Vec<&str> = "\u{1F980}".wrap_iter().chain("ab".wrap_iter()).size_limit(1).collect();
    assert_eq!(pieces, ["\u{1F980}", "a", "b"]);
    // `wrap_iter` yields an item for its piece, even if the piece is empty. A cut must not make another one.
    for size in 1..5 {
        let pieces: Vec<_> = (0..4).wrap_iter().chain((4..8).wrap_iter()).size_limit(size).collect();
        assert!(pieces.iter().all(|piece| !piece.is_empty()), "{pieces:?}");
        assert_eq!(pieces.into_iter().flatten().collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    }
}
