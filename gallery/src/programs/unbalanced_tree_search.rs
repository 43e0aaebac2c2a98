//! Counts the nodes of a tree that is generated while it is searched (classic: UTS, a binomial tree).

use crate::program::{Program, equal, reads};

pub(super) const PROGRAM: Program = Program {
    name: "unbalanced_tree_search",
    suite: "classic",
    what: "the number of nodes of a tree whose subtrees differ much in size",
    unit: "children of the root",
    size: 1 << 16,
    quick: 1 << 11,
    schedule: "",
    why: "faster, if built with link-time optimization: both libraries walk with a list of nodes, and cut it when a thread has nothing to do; the compiler makes one loop of furcate's walk, and rayon's calls a function for each node; with a `join` for each child, whose subtree may be large, furcate takes 56 ms and rayon 80",
    source: include_str!("unbalanced_tree_search.rs"),
    case: |size| {
        reads(size as u64, [sequential::run, rayon::run, furcate::run], |children, nodes| {
            equal(nodes, &by_stack(*children))
        })
    },
};

/// The root. A node is a random number. About one node in eight has children. A subtree has a hundred nodes on average.
const ROOT: u64 = 19;

fn children(node: u64) -> u64 {
    const SHARE: f64 = 0.99 / 8.0;
    if node < (SHARE * u64::MAX as f64) as u64 { 8 } else { 0 }
}

/// Returns a child by its number: some thirty nanoseconds of hashing (by splitmix64).
fn child(node: u64, number: u64) -> u64 {
    (0..8).fold(node.wrapping_add(number), |z, _| {
        let z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    })
}

/// Counts the nodes by a stack of nodes whose children have not been counted, for the check.
fn by_stack(children_of_root: u64) -> u64 {
    let mut count = 1;
    let mut stack = vec![(ROOT, children_of_root)];
    while let Some((node, count_of_children)) = stack.pop() {
        count += count_of_children;
        let below = (0..count_of_children).map(|number| child(node, number));
        stack.extend(below.map(|node| (node, children(node))).filter(|(_, children)| *children > 0));
    }
    count
}

mod sequential {
    use super::{ROOT, child, children};

    pub(super) fn run(children_of_root: &u64) -> u64 {
        count(ROOT, *children_of_root)
    }

    fn count(node: u64, children: u64) -> u64 {
        1 + (0..children).map(|number| count_below(child(node, number))).sum::<u64>()
    }

    fn count_below(node: u64) -> u64 {
        count(node, children(node))
    }
}

mod rayon {
    use super::{ROOT, child, children};
    use rayon::iter::walk_tree_prefix;
    use rayon::prelude::*;

    pub(super) fn run(children_of_root: &u64) -> u64 {
        // A node, and the number of its children.
        let root = (ROOT, *children_of_root);
        let below = |&(node, count): &(u64, u64)| {
            (0..count).map(move |number| child(node, number)).map(|child| (child, children(child)))
        };
        walk_tree_prefix(root, below).count() as u64
    }
}

mod furcate {
    use super::{ROOT, child, children};
    use furcate::iter::walk_tree_prefix;
    use furcate::prelude::*;

    pub(super) fn run(children_of_root: &u64) -> u64 {
        // A node, and the number of its children.
        let root = (ROOT, *children_of_root);
        let below = |&(node, count): &(u64, u64)| {
            (0..count).map(move |number| child(node, number)).map(|child| (child, children(child)))
        };
        walk_tree_prefix(root, below).count() as u64
    }
}
