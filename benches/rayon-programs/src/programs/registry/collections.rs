//! Libraries of collections.

use super::against_one_thread;
use crate::random::{Random, mix};
use crate::{Case, Size};
use rayon::prelude::*;

/// Collects a map of random keys, and sorts it.
pub(super) fn indexmap(size: Size) -> Case {
    use indexmap::IndexMap;
    let keys = Random(80).numbers(size.pick(500_000, 5000));
    against_one_thread(move || {
        let mut map: IndexMap<u64, u64> = keys.par_iter().map(|key| (*key, mix(*key))).collect();
        map.par_sort_by(|_, left, _, right| left.cmp(right));
        map.into_iter().collect::<Vec<(u64, u64)>>()
    })
}

/// Finds what two sets have in common, and what only one of them has.
pub(super) fn hashbrown(size: Size) -> Case {
    use hashbrown::HashSet;
    let count = size.pick(1_000_000, 10_000);
    let numbers = Random(81).numbers(count + count / 2);
    let left: HashSet<u64> = numbers[..count].iter().copied().collect();
    let right: HashSet<u64> = numbers[count / 2..].iter().copied().collect();
    let common = numbers[count / 2..count].iter().fold(0, |sum: u64, x| sum.wrapping_add(mix(*x)));
    let only_left = numbers[..count / 2].iter().fold(0, |sum: u64, x| sum.wrapping_add(mix(*x)));
    Case::of((common, only_left), move || {
        let common = left.par_intersection(&right).map(|x| mix(*x)).reduce(|| 0, u64::wrapping_add);
        let only_left = left.par_difference(&right).map(|x| mix(*x)).reduce(|| 0, u64::wrapping_add);
        (common, only_left)
    })
}

/// Counts how often numbers occur, in a map that all workers change.
pub(super) fn dashmap(size: Size) -> Case {
    use dashmap::DashMap;
    let (count, kinds) = size.pick((1_500_000, 50_000), (15_000, 500));
    let numbers: Vec<u64> = Random(82).numbers(count).iter().map(|x| x % kinds).collect();
    against_one_thread(move || {
        let counts: DashMap<u64, u64> = DashMap::new();
        numbers.par_iter().for_each(|number| *counts.entry(*number).or_insert(0) += 1);
        let entries = counts.par_iter().map(|entry| mix(*entry.key()).wrapping_mul(*entry.value()));
        (counts.len(), entries.reduce(|| 0, u64::wrapping_add))
    })
}

/// Finds the shortest ways between all nodes of a graph.
pub(super) fn petgraph(size: Size) -> Case {
    use petgraph::algo::{johnson, parallel_johnson};
    use petgraph::graph::DiGraph;
    let count = size.pick(500, 40);
    let mut random = Random(83);
    let mut graph: DiGraph<(), i64> = DiGraph::new();
    let nodes: Vec<_> = (0..count).map(|_| graph.add_node(())).collect();
    for from in &nodes {
        for _ in 0..6 {
            let to = nodes[random.below(count) as usize];
            graph.add_edge(*from, to, 1 + random.below(100) as i64);
        }
    }
    let expected = johnson(&graph, |edge| *edge.weight()).expect("no weight is negative");
    Case::of(expected, move || {
        parallel_johnson(&graph, |edge| *edge.weight()).expect("no weight is negative")
    })
}
