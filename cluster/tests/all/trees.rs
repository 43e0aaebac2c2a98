//! Values that travel: trees that are found while they are searched, and reductions that are not commutative.

use crate::support::{LONG, Random, busy, within};
use furcate::prelude::*;
use furcate_cluster::{SpreadOver, Threads};
use serde::{Deserialize, Serialize};

/// A random tree, not grown yet, or a row of such trees.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Forest {
    /// Seeds and heights of the trees.
    trees: Vec<(u64, u32)>,
}

impl Forest {
    fn root(seed: u64, height: u32) -> Self {
        Forest { trees: vec![(seed, height)] }
    }

    fn children(tree: (u64, u32)) -> Vec<(u64, u32)> {
        let (seed, height) = tree;
        let mut random = Random(seed);
        let number = if height == 0 { 0 } else { random.index(4) };
        (0..number)
            .map(|_| (random.next(), height - 1 - random.index(2).min(height as usize - 1) as u32))
            .collect()
    }

    /// All nodes, in order.
    fn walk(tree: (u64, u32), visit: &mut impl FnMut(u64)) {
        visit(tree.0);
        for child in Self::children(tree) {
            Self::walk(child, visit);
        }
    }
}

/// A single tree that is divided becomes its children; its root is lost. So only rows of trees are divided.
impl Divisible for Forest {
    fn size(&self) -> usize {
        self.trees.len()
    }

    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let right = self.trees.split_off(index.min(self.trees.len()));
        (self, Forest { trees: right })
    }
}

/// Nodes that are still to be visited, the next one last.
#[derive(Debug, Serialize, Deserialize)]
struct Stack(Vec<(u64, u32)>);

impl Divisible for Stack {
    fn size(&self) -> usize {
        self.0.len()
    }

    fn divide_at(mut self, index: usize) -> (Self, Self) {
        // The next nodes are the left part.
        let rest = self.0.len() - index.min(self.0.len());
        let next = self.0.split_off(rest);
        (Stack(next), self)
    }
}

/// A matrix of determinant 1 for each node. Products of such matrices depend on the order.
type Matrix = [[u64; 2]; 2];

fn matrix(node: u64) -> Matrix {
    [[1, node % 1000], [0, 1]].map(|row| row.map(|x| x % MODULUS)).swap_if(node % 2 == 0)
}

const MODULUS: u64 = 1_000_003;

trait SwapIf {
    fn swap_if(self, swaps: bool) -> Self;
}

impl SwapIf for Matrix {
    fn swap_if(self, swaps: bool) -> Self {
        let [[a, b], [c, d]] = self;
        if swaps { [[a, c], [b, d]] } else { self }
    }
}

fn product(a: Matrix, b: Matrix) -> Matrix {
    let entry = |i: usize, j: usize| (a[i][0] * b[0][j] + a[i][1] * b[1][j]) % MODULUS;
    [[entry(0, 0), entry(0, 1)], [entry(1, 0), entry(1, 1)]]
}

const ONE: Matrix = [[1, 0], [0, 1]];

#[test]
fn a_thousand_random_trees_in_order() {
    a_thousand_random_trees(1 << 30);
}

#[test]
fn a_thousand_random_trees_whose_outputs_are_held() {
    a_thousand_random_trees(0);
}

#[test]
fn a_thousand_random_trees_some_of_whose_outputs_are_held() {
    a_thousand_random_trees(20);
}

/// Runs the test with outputs that are sent at once up to this length.
fn a_thousand_random_trees(inline: u64) {
    within(LONG, move || {
        let ranks = Threads::new(3).inline(inline).run(|world| {
            let mut random = Random(5);
            for _ in 0..1000 {
                let height = random.index(7) as u32;
                let trees = (0..random.index(20)).map(|_| (random.next(), height)).collect();
                let forest = Forest { trees };
                let (mut text, mut expected) = (String::new(), ONE);
                for &tree in &forest.trees {
                    Forest::walk(tree, &mut |node| {
                        text += &format!("{} ", node % 100);
                        expected = product(expected, matrix(node));
                    });
                }
                let nodes = |piece: Forest| {
                    let mut nodes = Vec::new();
                    piece.trees.into_iter().for_each(|tree| Forest::walk(tree, &mut |node| nodes.push(node)));
                    nodes
                };
                let pieces = forest.clone().wrap_iter().map(|piece| {
                    let nodes = nodes(piece);
                    busy(nodes.len() as u64);
                    nodes.into_iter().map(|node| format!("{} ", node % 100)).collect::<String>()
                });
                assert_eq!(pieces.spread(world).reduce(String::new, |a, b| a + &b), text);
                let pieces =
                    forest.wrap_iter().map(|piece| nodes(piece).into_iter().map(matrix).fold(ONE, product));
                assert_eq!(pieces.spread(world).reduce(|| ONE, product), expected);
            }
            world.counts()
        });
        let fetched: u64 = ranks.iter().map(|counts| counts.fetched).sum();
        assert_eq!(fetched > 0, inline < 1000, "{ranks:?}");
    });
}

#[test]
fn stacks_that_grow_are_counted() {
    within(LONG, || {
        for ranks in [1, 2, 4] {
            for seed in 0..10 {
                let mut expected = 0_u64;
                Forest::walk((seed, 14), &mut |_| expected += 1);
                let counts = Threads::new(ranks).run(|world| {
                    let visit = |count: &mut u64, stack: &mut Stack, n: usize| {
                        for _ in 0..n {
                            let Some(tree) = stack.0.pop() else { break };
                            *count += 1;
                            stack.0.extend(Forest::children(tree));
                        }
                    };
                    let all = Stack(vec![(seed, 14)]).work(|_| 0, visit, |count| count);
                    all.spread(world).sum::<u64>()
                });
                assert_eq!(counts, vec![expected; ranks]);
            }
        }
    });
}

#[test]
fn an_empty_value_has_one_piece() {
    within(LONG, || {
        let here = Forest { trees: vec![] }.wrap_iter().count();
        let there = Threads::new(3).run(|world| Forest { trees: vec![] }.wrap_iter().spread(world).count());
        assert_eq!(there, [here as u64; 3]);
        let one = Threads::new(3).run(|world| Forest::root(1, 0).wrap_iter().spread(world).count());
        assert_eq!(one, [1; 3]);
    });
}
