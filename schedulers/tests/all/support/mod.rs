//! Shared code of the integration tests: every policy behind one type, every place to run, and computations that record
//! how they were divided.

#[allow(dead_code, reason = "the unit tests use this file, too")]
pub(crate) mod samples;

use furcate_schedulers::DefaultExecutor;
use furcate_schedulers::policy::AnyPolicy;
use furcate_schedulers::{Divisible, Facts, Policy, Producer, Reduction, Scheduler, Verdict, policy};
use std::ops::{ControlFlow, Range};
use testkit::lone::Lone;

/// A place to run a computation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// In the calling thread, with policies that are told of two threads: every tree is as it is without steals.
    Inline,
    /// A pool with this number of threads.
    Pool(usize),
}

impl Place {
    /// Inline, and pools of 1, 2, 3 and 8 threads.
    pub(crate) const ALL: [Place; 5] =
        [Place::Inline, Place::Pool(1), Place::Pool(2), Place::Pool(3), Place::Pool(8)];

    pub(crate) fn run<P, L, R>(self, how: impl Scheduler + Sync, what: P, when: L, to: R) -> R::Output
    where
        P: Producer,
        L: Policy,
        R: Reduction<P::Item>,
    {
        match self {
            Place::Inline => how.schedule((what, when, to), &Lone { threads: 2, stolen: false }),
            Place::Pool(threads) => {
                pool(threads).install(|| how.schedule((what, when, to), &DefaultExecutor::default()))
            }
        }
    }
}

pub(crate) use testkit::collect::Collect;
pub(crate) use testkit::shared_pool as pool;

/// A node as the documentation's table describes it, on one thread: nothing migrates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableNode {
    pub(crate) len: usize,
    pub(crate) depth: u32,
    /// Whether the node is the right part of a division.
    pub(crate) right: bool,
}

/// A policy, and its line in the table of the module's documentation, written a second time.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) policy: AnyPolicy,
    pub(crate) says: fn(&TableNode) -> Verdict,
    pub(crate) forks: bool,
}

/// Every policy, with one or more typical parameters.
pub(crate) fn entries() -> Vec<Entry> {
    use Verdict::{MayNot, Must, Pass, Rather, RatherNot, TooLong, TooShort, Would};
    fn entry(name: &'static str, policy: impl Into<AnyPolicy>, says: fn(&TableNode) -> Verdict) -> Entry {
        Entry { name, policy: policy.into(), says, forks: true }
    }
    vec![
        entry("auto", policy::Auto::new(), |n| if n.depth < 2 { Rather } else { RatherNot }),
        entry("bound_depth(3)", policy::BoundDepth::new(3), |n| if n.depth < 3 { Would } else { MayNot }),
        entry("bound_depth(0)", policy::BoundDepth::new(0), |_| MayNot),
        entry("cap(1000)", policy::Cap::new(1000), |_| Pass),
        Entry { forks: false, ..entry("cap(1)", policy::Cap::new(1), |_| Pass) },
        entry("even_levels", policy::EvenLevels, |n| if n.depth % 2 == 1 { Must } else { Pass }),
        entry("force_depth(3)", policy::ForceDepth::new(3), |n| {
            if n.depth < 3 && n.len > 1 { Must } else { Pass }
        }),
        entry("join_context(4)", policy::JoinContext::new(4), |n| {
            if n.depth < 4 && !n.right { Would } else { MayNot }
        }),
        entry("max_len(9)", policy::MaxLen::new(9), |n| if n.len > 9 { TooLong } else { Pass }),
        entry("min_len(5)", policy::MinLen::new(5), |n| if n.len / 2 < 5 { TooShort } else { Pass }),
        entry("size_limit(6)", policy::SizeLimit::new(6), |n| if n.len > 6 { Would } else { MayNot }),
        entry(
            "thief_splitting(4)",
            policy::ThiefSplitting::new(4),
            |n| {
                if n.depth < 4 { Would } else { MayNot }
            },
        ),
    ]
}

/// A piece of a range. It gives one item, itself, and counts the cuts that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) range: Range<usize>,
    pub(crate) depth: u32,
}

impl Piece {
    pub(crate) fn whole(len: usize) -> Self {
        Piece { range: 0..len, depth: 0 }
    }
}

impl Divisible for Piece {
    fn size(&self) -> usize {
        self.range.len()
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.range.divide_at(index);
        let depth = self.depth + 1;
        (Piece { range: left, depth }, Piece { range: right, depth })
    }
}

impl IntoIterator for Piece {
    type Item = Piece;
    type IntoIter = std::iter::Once<Piece>;
    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self)
    }
}

impl Producer for Piece {
    const FACTS: Facts = Facts::ITEMS;
}

/// The division tree of a computation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    Leaf(Piece),
    Fork(Box<Tree>, Box<Tree>),
}

impl Tree {
    pub(crate) fn leaves(&self) -> Vec<&Piece> {
        match self {
            Tree::Leaf(piece) => vec![piece],
            Tree::Fork(left, right) => [left.leaves(), right.leaves()].concat(),
        }
    }

    /// Returns the lengths of all parts that were divided in two.
    pub(crate) fn divided(&self) -> Vec<usize> {
        match self {
            Tree::Leaf(_) => vec![],
            Tree::Fork(left, right) => {
                let len = self.leaves().iter().map(|piece| piece.range.len()).sum();
                [vec![len], left.divided(), right.divided()].concat()
            }
        }
    }
}

/// Reduces pieces to the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plant;

impl Reduction<Piece> for Plant {
    type Accumulator = Option<Tree>;
    type Output = Tree;
    fn start(&self) -> Option<Tree> {
        None
    }
    fn fold_item(&self, none: Option<Tree>, piece: Piece) -> ControlFlow<Option<Tree>, Option<Tree>> {
        assert_eq!(none, None, "a leaf is folded once");
        ControlFlow::Continue(Some(Tree::Leaf(piece)))
    }
    fn finish(&self, leaf: Option<Tree>) -> Tree {
        leaf.expect("a leaf has one item")
    }
    fn reduce(&self, left: Tree, right: Tree) -> Tree {
        Tree::Fork(Box::new(left), Box::new(right))
    }
}
