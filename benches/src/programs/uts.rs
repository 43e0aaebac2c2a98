//! UTS, the unbalanced tree search benchmark of Olivier, Prins and others (LCPC 2006), as in its version 1.1.
//!
//! A tree is not stored but grown: a node is a SHA-1 digest, and its `i`-th child is the digest of the node and `i`.
//! The number of children is drawn from the last 31 bits. So subtrees of one node differ by orders of magnitude, and
//! their sizes are unknown before they are searched.

use std::ops::Range;

use sha1::{Digest, Sha1};

use super::Program;
use crate::fork::Fork;

/// A tree to be counted, forking over the children of every node.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    name: &'static str,
    shape: Shape,
    /// UTS's `-b`: children of a binomial tree's root; mean children of a geometric tree's nodes.
    branching: f64,
    /// UTS's `-r`.
    seed: u32,
    /// Number of the tree's nodes.
    nodes: u64,
}

/// Distribution of the number of children.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// `-t 0`: `children` (`-m`) with probability `probability` (`-q`), else none.
    Binomial {
        /// The probability.
        probability: f64,
        /// The number of children.
        children: u32,
    },
    /// `-t 1 -a 3`: geometric, the same mean down to `depth` (`-d`).
    Fixed {
        /// The depth of the leaves.
        depth: u32,
    },
    /// `-t 1 -a 2`: geometric, the mean going up and down with period `depth` (`-d`).
    Cyclic {
        /// The period.
        depth: u32,
    },
}

impl Tree {
    /// UTS's T1: `-t 1 -a 3 -d 10 -b 4 -r 19`.
    pub const T1: Self = Self::geometric("uts-t1", Shape::Fixed { depth: 10 }, 4.0, 19, 4_130_071);
    /// UTS's T2: `-t 1 -a 2 -d 16 -b 6 -r 502`.
    pub const T2: Self = Self::geometric("uts-t2", Shape::Cyclic { depth: 16 }, 6.0, 502, 4_117_769);
    /// UTS's T3: `-t 0 -b 2000 -q 0.124875 -m 8 -r 42`.
    pub const T3: Self = Self::binomial("uts-t3", 2_000.0, 0.124_875, 8, 42, 4_112_897);
    /// UTS's T1L: `-t 1 -a 3 -d 13 -b 4 -r 29`.
    pub const T1L: Self = Self::geometric("uts-t1l", Shape::Fixed { depth: 13 }, 4.0, 29, 102_181_082);
    /// UTS's T2L: `-t 1 -a 2 -d 23 -b 7 -r 220`.
    pub const T2L: Self = Self::geometric("uts-t2l", Shape::Cyclic { depth: 23 }, 7.0, 220, 96_793_510);
    /// UTS's T3L: `-t 0 -b 2000 -q 0.200014 -m 5 -r 7`.
    pub const T3L: Self = Self::binomial("uts-t3l", 2_000.0, 0.200_014, 5, 7, 111_345_631);
    /// A small tree of T1's kind.
    pub const SMALL_T1: Self = Self::geometric("uts-t1-small", Shape::Fixed { depth: 5 }, 4.0, 19, 3_987);
    /// A small tree of T3's kind.
    pub const SMALL_T3: Self = Self::binomial("uts-t3-small", 100.0, 0.12, 8, 42, 981);

    const fn geometric(name: &'static str, shape: Shape, branching: f64, seed: u32, nodes: u64) -> Self {
        Self { name, shape, branching, seed, nodes }
    }

    const fn binomial(
        name: &'static str,
        branching: f64,
        probability: f64,
        children: u32,
        seed: u32,
        nodes: u64,
    ) -> Self {
        Self { name, shape: Shape::Binomial { probability, children }, branching, seed, nodes }
    }

    fn root(&self) -> Node {
        let mut bytes = [0; 20];
        bytes[16..].copy_from_slice(&self.seed.to_be_bytes());
        Node { state: Sha1::digest(bytes).into(), height: 0 }
    }

    /// Returns the number of children of `node`.
    fn children(&self, node: &Node) -> u32 {
        match self.shape {
            Shape::Binomial { .. } if node.height == 0 => self.branching as u32,
            Shape::Binomial { probability, children } => {
                if node.draw() < probability {
                    children
                } else {
                    0
                }
            }
            Shape::Fixed { depth } => {
                node.draw_geometric(if node.height < depth { self.branching } else { 0.0 })
            }
            Shape::Cyclic { .. } if node.height == 0 => node.draw_geometric(self.branching),
            Shape::Cyclic { depth } if node.height > 5 * depth => 0,
            Shape::Cyclic { depth } => {
                let turn = std::f64::consts::TAU * f64::from(node.height) / f64::from(depth);
                node.draw_geometric(self.branching.powf(turn.sin()))
            }
        }
    }

    /// Returns the number of nodes from `node` down.
    fn plain(&self, node: &Node) -> u64 {
        1 + (0..self.children(node)).map(|i| self.plain(&node.child(i))).sum::<u64>()
    }

    /// Returns the number of nodes from `node` down, counted with forks.
    fn below<F: Fork>(&self, fork: &F, node: &Node) -> u64 {
        let children = self.children(node);
        if children == 0 { 1 } else { 1 + self.over_children(fork, node, 0..children) }
    }

    /// Returns the number of nodes below the given children of `node`, of which there is at least one.
    fn over_children<F: Fork>(&self, fork: &F, node: &Node, children: Range<u32>) -> u64 {
        if children.len() == 1 {
            return self.below(fork, &node.child(children.start));
        }
        let middle = children.start + (children.end - children.start) / 2;
        let (a, b) = fork.join(
            |fork| self.over_children(fork, node, children.start..middle),
            |fork| self.over_children(fork, node, middle..children.end),
        );
        a + b
    }
}

struct Node {
    state: [u8; 20],
    height: u32,
}

impl Node {
    /// Greatest number of children of a node, except a binomial tree's root.
    const MOST: u32 = 100;

    fn child(&self, i: u32) -> Self {
        let mut bytes = [0; 24];
        bytes[..20].copy_from_slice(&self.state);
        bytes[20..].copy_from_slice(&i.to_be_bytes());
        Self { state: Sha1::digest(bytes).into(), height: self.height + 1 }
    }

    /// Returns the node's own random number, from 0 up to 1.
    fn draw(&self) -> f64 {
        let [.., a, b, c, d] = self.state;
        f64::from(u32::from_be_bytes([a, b, c, d]) & 0x7FFF_FFFF) / f64::from(1_u32 << 31)
    }

    /// Draws a geometrically distributed number of the given mean.
    fn draw_geometric(&self, mean: f64) -> u32 {
        let p = 1.0 / (1.0 + mean);
        (((1.0 - self.draw()).ln() / (1.0 - p).ln()).floor() as u32).min(Self::MOST)
    }
}

impl Program for Tree {
    type Input = ();
    type Output = u64;

    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn input(&self) {}

    fn serial(&self, (): ()) -> u64 {
        self.plain(&self.root())
    }

    fn forked<F: Fork>(&self, fork: &F, (): ()) -> u64 {
        self.below(fork, &self.root())
    }

    fn check(&self, output: &u64) {
        assert_eq!(*output, self.nodes, "nodes of {}", self.name);
    }
}
