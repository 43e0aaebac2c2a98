//! I4: the numbers of leaves and divisions, besides the results.

use crate::support::{Piece, Place, Plant, Tree, entries};
use furcate_schedulers::policy::{
    Auto, Both, BoundDepth, Cap, EvenLevels, ForceDepth, JoinContext, MaxLen, MinLen, SizeLimit,
    ThiefSplitting,
};
use furcate_schedulers::{Join, Policy, Scheduler, Sequential};
use proptest::prelude::*;

fn tree(place: Place, len: usize, policy: impl Policy) -> Tree {
    place.run(Join, Piece::whole(len), policy, Plant)
}

fn leaf_lengths(tree: &Tree) -> Vec<usize> {
    tree.leaves().iter().map(|leaf| leaf.range.len()).collect()
}

/// Places at which nothing is ever stolen.
const ALONE: [Place; 2] = [Place::Inline, Place::Pool(1)];

#[test]
fn bound_depth_3_makes_8_leaves_by_7_divisions() {
    for place in Place::ALL {
        let tree = tree(place, 1000, BoundDepth::new(3));
        assert_eq!(leaf_lengths(&tree), [125; 8]);
        assert_eq!(tree.divided().len(), 7);
    }
}

#[test]
fn bound_depth_divides_no_further_than_there_is_something() {
    assert_eq!(leaf_lengths(&tree(Place::Inline, 3, BoundDepth::new(u32::MAX))), [1, 1, 1]);
    assert_eq!(leaf_lengths(&tree(Place::Inline, 3, BoundDepth::new(0))), [3]);
    assert_eq!(leaf_lengths(&tree(Place::Inline, 0, BoundDepth::new(3))), [0]);
}

#[test]
fn sequential_never_divides() {
    for entry in &entries() {
        let tree = Place::Pool(3).run(Sequential, Piece::whole(100), entry.policy.clone(), Plant);
        assert_eq!(leaf_lengths(&tree), [100]);
    }
}

proptest! {
    #[test]
    fn size_limit_is_exact(len in 0_usize..3000, limit in 0_usize..200) {
        for place in [Place::Inline, Place::Pool(3)] {
            let tree = tree(place, len, SizeLimit::new(limit));
            prop_assert!(leaf_lengths(&tree).iter().all(|&leaf| leaf <= limit.max(1)));
            prop_assert!(tree.divided().iter().all(|&node| node > limit));
        }
    }

    #[test]
    fn force_depth_is_a_floor(len in 0_usize..300, depth in 0_u32..8) {
        let tree = tree(Place::Inline, len, Both::new(ForceDepth::new(depth), BoundDepth::new(0)));
        for leaf in tree.leaves() {
            prop_assert!(leaf.depth == depth || leaf.depth < depth && leaf.range.len() <= 1);
        }
    }

    #[test]
    fn min_len_and_max_len_bound_the_leaves(len in 0_usize..3000, min in 0_usize..100, more in 0_usize..100) {
        // A half of a part longer than the maximum is not shorter than the minimum.
        let max = 2 * min + more;
        for place in [Place::Inline, Place::Pool(3)] {
            let chain = Both::new(Both::new(ThiefSplitting::new(5), MinLen::new(min)), MaxLen::new(max));
            for leaf in leaf_lengths(&tree(place, len, chain)) {
                prop_assert!(leaf >= min.min(len) && leaf <= max.max(1), "{leaf} of {len}");
            }
        }
    }
}

/// If the two bounds contradict each other, the minimum counts, as in rayon.
#[test]
fn min_len_beats_max_len() {
    let tree = tree(Place::Inline, 64, Both::new(MinLen::new(64), MaxLen::new(8)));
    assert_eq!(leaf_lengths(&tree), [64]);
}

#[test]
fn even_levels_leaves_only_at_even_depths() {
    for entry in &entries() {
        for len in 0..200 {
            for place in [Place::Inline, Place::Pool(2)] {
                let inside = tree(place, len, Both::new(EvenLevels, entry.policy.clone()));
                let outside = tree(place, len, Both::new(entry.policy.clone(), EvenLevels));
                for leaf in inside.leaves().into_iter().chain(outside.leaves()) {
                    assert_eq!(leaf.depth % 2, 0, "{} on {len}: {leaf:?}", entry.name);
                }
            }
        }
    }
}

/// Kvik's paper (Section 3.3) leaves open what happens at odd depths at the limit; here the order of the chain does not matter.
#[test]
fn size_limit_inside_and_outside_of_even_levels_agree() {
    for len in 0..200 {
        for limit in [1, 2, 5, 16, 50] {
            let inside = tree(Place::Inline, len, Both::new(SizeLimit::new(limit), EvenLevels));
            let outside = tree(Place::Inline, len, Both::new(EvenLevels, SizeLimit::new(limit)));
            assert_eq!(inside, outside);
            assert!(leaf_lengths(&inside).iter().all(|&leaf| leaf <= limit));
            // A division at or below the limit only leaves an odd depth, so two such divisions never follow each other.
            assert!(leaf_lengths(&inside).iter().all(|&leaf| len <= limit || 4 * (leaf + 1) > limit));
        }
    }
}

#[test]
fn join_context_alone_makes_one_leaf_per_level_and_one() {
    for place in ALONE {
        for depth in [0, 1, 5, 10] {
            let tree = tree(place, 1 << 10, JoinContext::new(depth));
            let lengths = leaf_lengths(&tree);
            assert_eq!(lengths.len(), depth as usize + 1);
            // Each half as large as the next: 1 1 2 4 8 ...
            assert!(lengths[1..].windows(2).all(|pair| pair[1] == 2 * pair[0]), "{lengths:?}");
        }
    }
}

#[test]
fn thief_splitting_alone_makes_2_to_the_n_leaves() {
    for place in ALONE {
        for levels in [0, 1, 5] {
            let tree = tree(place, 1000, ThiefSplitting::new(levels));
            assert_eq!(leaf_lengths(&tree).len(), 1 << levels);
        }
    }
}

#[test]
fn thief_splitting_makes_at_least_2_to_the_n_leaves_anywhere() {
    for place in Place::ALL {
        assert!(leaf_lengths(&tree(place, 1000, ThiefSplitting::new(5))).len() >= 32);
    }
}

#[test]
fn auto_makes_a_bounded_number_of_leaves() {
    for (place, leaves) in [(Place::Inline, 4), (Place::Pool(1), 1)] {
        for len in [1000, 1_000_000, usize::MAX] {
            assert_eq!(leaf_lengths(&tree(place, len, Auto::new())).len(), leaves);
        }
    }
    for threads in [2, 3, 8] {
        for len in [1000, 1_000_000, usize::MAX] {
            let leaves = leaf_lengths(&tree(Place::Pool(threads), len, Auto::new())).len();
            assert!(leaves > threads, "{leaves} leaves on {threads} threads");
            // Every theft adds some leaves. Their number depends on the machine, but not on the length.
            assert!(leaves < 500 * threads, "{leaves} leaves on {threads} threads for {len}");
        }
    }
}

/// A call from outside makes as many parts as rayon does. (Rayon's engine enters its pool first.)
#[cfg(not(furcate_rayon))]
#[test]
fn auto_makes_more_leaves_of_a_call_from_outside() {
    let pool = testkit::pool(1);
    let outside = Join.schedule((Piece::whole(1000), Auto::new(), Plant), &&pool);
    assert_eq!(leaf_lengths(&outside).len(), 8);
    let inside = pool.install(|| Join.schedule((Piece::whole(1000), Auto::new(), Plant), &&pool));
    assert_eq!(leaf_lengths(&inside).len(), 1);
}

#[test]
fn a_cap_of_one_never_forks_what_only_would_be() {
    for place in Place::ALL {
        for chain in [BoundDepth::new(5), BoundDepth::new(u32::MAX)] {
            assert_eq!(leaf_lengths(&tree(place, 1000, Both::new(Cap::new(1), chain))), [1000]);
        }
    }
}

#[test]
fn a_cap_keeps_the_forced_shape() {
    for place in Place::ALL {
        for tasks in [1, 2, 3, 7] {
            let forced = Both::new(ForceDepth::new(5), Cap::new(tasks));
            assert_eq!(leaf_lengths(&tree(place, 64, forced)), [2; 32]);
        }
    }
}

#[test]
fn a_large_cap_is_none() {
    for len in [0, 1, 100, 1000] {
        let capped = tree(Place::Inline, len, Both::new(Cap::new(usize::MAX), SizeLimit::new(3)));
        assert_eq!(capped, tree(Place::Inline, len, SizeLimit::new(3)));
    }
}
