//! I1: every ordered pair of policies gives the sequential result, and the division tree that the documentation's table
//! of verdicts promises, in either order.

use crate::support::{Collect, Entry, Piece, Place, Plant, TableNode, Tree, entries};
use furcate_schedulers::policy::{AnyPolicy, Both};
use furcate_schedulers::{Divisible, Join, Sequential, Verdict};

const LENGTHS: [usize; 9] = [0, 1, 2, 3, 8, 9, 63, 64, 200];

/// The tree by the rules of the table: *must* beats *too short* beats *too long* beats *may not* beats *would* beats the default's *would rather*. A
/// division that is not forced needs something to cut, and one that only would be made needs a permit.
fn oracle(chain: [&Entry; 2], piece: Piece, right: bool) -> Tree {
    let node = TableNode { len: piece.range.len(), depth: piece.depth, right };
    let says = |verdict| chain.iter().any(|entry| (entry.says)(&node) == verdict);
    let may = node.len > 1 && chain.iter().all(|entry| entry.forks) && !says(Verdict::MayNot);
    let too_long = says(Verdict::TooLong) && node.len > 1;
    let would = may && (says(Verdict::Would) || says(Verdict::Rather));
    let divides = says(Verdict::Must) || !says(Verdict::TooShort) && (too_long || would);
    if !divides {
        return Tree::Leaf(piece);
    }
    match piece.divide() {
        (empty, rest) | (rest, empty) if empty.range.is_empty() => oracle(chain, rest, false),
        (left, right) => {
            Tree::Fork(Box::new(oracle(chain, left, false)), Box::new(oracle(chain, right, true)))
        }
    }
}

fn for_each_pair(mut check: impl FnMut(&Entry, &Entry)) {
    for first in &entries() {
        for second in &entries() {
            check(first, second);
        }
    }
}

/// The same chain in the given order.
fn chain(first: &Entry, second: &Entry) -> Both<AnyPolicy, AnyPolicy> {
    Both::new(first.policy.clone(), second.policy.clone())
}

#[test]
fn the_tree_is_the_tables_in_either_order() {
    let mut forks = 0;
    for_each_pair(|first, second| {
        for len in LENGTHS {
            let tree = Place::Inline.run(Join, Piece::whole(len), chain(first, second), Plant);
            let expected = oracle([first, second], Piece::whole(len), false);
            assert_eq!(tree, expected, "{} then {} on {len}", first.name, second.name);
            forks += tree.divided().len();
        }
    });
    assert!(forks > 1000, "the pairs divide something");
}

/// A policy alone acts like a pair of itself.
#[test]
fn a_policy_alone_is_a_pair_of_itself() {
    for entry in &entries() {
        for len in LENGTHS {
            let alone = Place::Inline.run(Join, Piece::whole(len), entry.policy.clone(), Plant);
            assert_eq!(alone, oracle([entry, entry], Piece::whole(len), false), "{} on {len}", entry.name);
        }
    }
}

#[test]
fn every_pair_keeps_order_everywhere() {
    for place in Place::ALL {
        for_each_pair(|first, second| {
            for len in LENGTHS {
                let expected: Vec<usize> = (0..len).collect();
                let joined = place.run(Join, 0..len, chain(first, second), Collect);
                assert_eq!(joined, expected, "{} then {} on {len}, {place:?}", first.name, second.name);
                let sequential = place.run(Sequential, 0..len, chain(first, second), Collect);
                assert_eq!(sequential, expected);
            }
        });
    }
}

/// Policies that look at steals make other trees from run to run; all other policies make the same tree.
#[test]
fn trees_without_steals_in_them_are_the_same_everywhere() {
    let depends_on_steals = ["auto", "join_context(4)", "thief_splitting(4)"];
    let steady = |entry: &Entry| !depends_on_steals.contains(&entry.name);
    for place in Place::ALL {
        for_each_pair(|first, second| {
            if steady(first) && steady(second) {
                let tree = place.run(Join, Piece::whole(100), chain(first, second), Plant);
                let expected = oracle([first, second], Piece::whole(100), false);
                assert_eq!(tree, expected, "{} then {}, {place:?}", first.name, second.name);
            }
        });
    }
}
