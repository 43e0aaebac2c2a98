//! The trees of UTS, the unbalanced tree search benchmark of Olivier, Prins and others (LCPC 2006), version 1.1.
//!
//! A tree is not stored but grown: a node is a SHA-1 digest, and its `i`-th child is the digest of the node and `i`. The number of children
//! is drawn from the last 31 bits. So subtrees of one node differ by orders of magnitude, and their sizes are unknown before they are
//! searched.

use furcate::prelude::*;
use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};

/// The parameters of a tree: the benchmark's own options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tree {
    /// `-t`: 0 binomial, 1 geometric, 2 hybrid.
    pub(crate) kind: u32,
    /// `-a`: 0 linear, 1 exponential, 2 cyclic, 3 fixed.
    pub(crate) shape: u32,
    /// `-d`: the depth of a geometric tree, or the period of a cyclic one.
    pub(crate) depth: u32,
    /// `-b`: children of the root, or mean children.
    pub(crate) branching: f64,
    /// `-r`: the seed.
    pub(crate) seed: u32,
    /// `-q`: probability that a node of a binomial tree has children.
    pub(crate) probability: f64,
    /// `-m`: number of those children.
    pub(crate) children: u32,
    /// `-f`: depth, as a part of `depth`, at which a hybrid tree becomes binomial.
    pub(crate) shift: f64,
}

/// A node's state, and its depth.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Node {
    state: [u8; 20],
    height: u32,
}

/// Greatest number of children, except of the root of a binomial tree.
const MOST: u32 = 100;

impl Tree {
    /// The benchmark's defaults.
    pub(crate) const DEFAULT: Self = Tree {
        kind: 1,
        shape: 0,
        depth: 6,
        branching: 4.0,
        seed: 0,
        probability: 15.0 / 64.0,
        children: 4,
        shift: 0.5,
    };

    /// The published trees: name, parameters, nodes. Shiina and Taura (IEEE Cluster 2022) use T1XXL and T1WL, which are
    /// for many machines.
    pub(crate) const PUBLISHED: [(&'static str, Self, u64); 8] = [
        ("T1", Tree { shape: 3, depth: 10, seed: 19, ..Self::DEFAULT }, 4_130_071),
        ("T1L", Tree { shape: 3, depth: 13, seed: 29, ..Self::DEFAULT }, 102_181_082),
        ("T1XXL", Tree { shape: 3, depth: 15, seed: 29, ..Self::DEFAULT }, 4_230_646_601),
        ("T1WL", Tree { shape: 3, depth: 18, seed: 19, ..Self::DEFAULT }, 270_751_679_750),
        ("T2", Tree { shape: 2, depth: 16, branching: 6.0, seed: 502, ..Self::DEFAULT }, 4_117_769),
        ("T2L", Tree { shape: 2, depth: 23, branching: 7.0, seed: 220, ..Self::DEFAULT }, 96_793_510),
        (
            "T3",
            Tree {
                kind: 0,
                branching: 2000.0,
                probability: 0.124_875,
                children: 8,
                seed: 42,
                ..Self::DEFAULT
            },
            4_112_897,
        ),
        (
            "T3L",
            Tree {
                kind: 0,
                branching: 2000.0,
                probability: 0.200_014,
                children: 5,
                seed: 7,
                ..Self::DEFAULT
            },
            111_345_631,
        ),
    ];

    pub(crate) fn root(&self) -> Node {
        let mut bytes = [0; 20];
        bytes[16..].copy_from_slice(&self.seed.to_be_bytes());
        Node { state: Sha1::digest(bytes).into(), height: 0 }
    }

    /// Returns the number of children of `node`.
    fn children(&self, node: &Node) -> u32 {
        let binomial = || if node.draw() < self.probability { self.children } else { 0 };
        match self.kind {
            0 if node.height == 0 => self.branching as u32,
            0 => binomial(),
            2 if f64::from(node.height) >= self.shift * f64::from(self.depth) => binomial().min(MOST),
            _ => node.draw_geometric(self.mean(node.height)),
        }
    }

    /// Returns the mean number of children at a depth of a geometric tree.
    fn mean(&self, height: u32) -> f64 {
        let (height_, depth) = (f64::from(height), f64::from(self.depth));
        match self.shape {
            _ if height == 0 => self.branching,
            0 => self.branching * (1.0 - height_ / depth),
            1 => self.branching * height_.powf(-self.branching.ln() / depth.ln()),
            2 if height > 5 * self.depth => 0.0,
            2 => self.branching.powf((std::f64::consts::TAU * height_ / depth).sin()),
            _ if height < self.depth => self.branching,
            _ => 0.0,
        }
    }

    /// Counts the nodes of some subtrees, one after the other.
    pub(crate) fn count(&self, node: &Node) -> u64 {
        1 + (0..self.children(node)).map(|i| self.count(&node.child(i))).sum::<u64>()
    }
}

impl Node {
    fn child(&self, i: u32) -> Self {
        let mut bytes = [0; 24];
        bytes[..20].copy_from_slice(&self.state);
        bytes[20..].copy_from_slice(&i.to_be_bytes());
        Node { state: Sha1::digest(bytes).into(), height: self.height + 1 }
    }

    /// Returns the node's own random number, from 0 up to 1.
    fn draw(&self) -> f64 {
        let [.., a, b, c, d] = self.state;
        f64::from(u32::from_be_bytes([a, b, c, d]) & 0x7FFF_FFFF) / f64::from(1_u32 << 31)
    }

    /// Draws a geometrically distributed number of the given mean.
    fn draw_geometric(&self, mean: f64) -> u32 {
        let p = 1.0 / (1.0 + mean);
        (((1.0 - self.draw()).ln() / (1.0 - p).ln()).floor() as u32).min(MOST)
    }
}

/// Children that are still to be counted: of each node the numbers from `first` to `end`. The next ones are at the end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Open(Vec<Branches>);

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Branches {
    node: Node,
    first: u32,
    end: u32,
}

impl Open {
    /// The children of the root.
    pub(crate) fn of_root(tree: &Tree) -> Self {
        let node = tree.root();
        Open(vec![Branches { node, first: 0, end: tree.children(&node) }])
    }

    /// Counts up to `n` nodes.
    pub(crate) fn step(&mut self, tree: &Tree, n: usize, count: &mut u64) {
        for _ in 0..n {
            let Some(last) = self.0.last_mut() else { return };
            if last.first == last.end {
                self.0.pop();
                continue;
            }
            let node = last.node.child(last.first);
            last.first += 1;
            if last.first == last.end {
                self.0.pop();
            }
            *count += 1;
            let children = tree.children(&node);
            if children > 0 {
                self.0.push(Branches { node, first: 0, end: children });
            }
        }
    }
}

/// The oldest branches are the largest, so they are given away.
impl Divisible for Open {
    fn size(&self) -> usize {
        self.0.iter().map(|branches| (branches.end - branches.first) as usize).sum()
    }

    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let mut to_give = self.size().saturating_sub(index);
        let mut given = Vec::new();
        let mut whole = 0;
        for branches in &mut self.0 {
            let size = (branches.end - branches.first) as usize;
            let now = size.min(to_give);
            given.push(Branches { end: branches.first + now as u32, ..*branches });
            branches.first += now as u32;
            to_give -= now;
            if now < size || to_give == 0 {
                break;
            }
            whole += 1;
        }
        self.0.drain(..whole);
        given.retain(|branches| branches.first < branches.end);
        (self, Open(given))
    }

    /// Half of the branches of every node, so that both parts have small subtrees and large ones.
    fn divide(mut self) -> (Self, Self) {
        let mut given = Vec::new();
        let mut odd = 0;
        for branches in &mut self.0 {
            let size = branches.end - branches.first;
            let now = (size + odd) / 2;
            if size % 2 == 1 {
                odd = 1 - odd;
            }
            if now > 0 {
                given.push(Branches { end: branches.first + now, ..*branches });
                branches.first += now;
            }
        }
        self.0.retain(|branches| branches.first < branches.end);
        (self, Open(given))
    }
}
