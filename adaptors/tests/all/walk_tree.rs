//! `walk_tree`: every node comes once, in the order of a recursive walk, under every schedule.

use crate::support::assert_schedules;
use furcate::iter::{walk_tree, walk_tree_postfix, walk_tree_prefix};
use furcate::prelude::*;
use proptest::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use testkit::drops::{DropCounter, Ledger};
use testkit::on_pools;
use testkit::panics::{planned_panic, survives};

/// A tree by its parents: the children of each node, in order. Node 0 is the root.
#[derive(Clone, Debug)]
struct Tree(Vec<Vec<usize>>);

impl Tree {
    /// Node `i + 1` hangs on node `parents[i] % (i + 1)`.
    fn of(parents: &[usize]) -> Self {
        let mut children = vec![Vec::new(); parents.len() + 1];
        for (i, parent) in parents.iter().enumerate() {
            children[parent % (i + 1)].push(i + 1);
        }
        Tree(children)
    }

    fn chain(len: usize) -> Self {
        Tree((0..len).map(|i| if i + 1 < len { vec![i + 1] } else { vec![] }).collect())
    }

    fn star(len: usize) -> Self {
        Tree(std::iter::once((1..len).collect()).chain((1..len).map(|_| vec![])).collect())
    }

    fn binary(len: usize) -> Self {
        Tree(
            (0..len)
                .map(|i| [2 * i + 1, 2 * i + 2].into_iter().filter(|&child| child < len).collect())
                .collect(),
        )
    }

    fn children(&self, node: usize) -> Vec<usize> {
        self.0[node].clone()
    }

    fn walk(&self, prefix: bool) -> Vec<usize> {
        let mut order = Vec::new();
        let mut stack = vec![(0, false)];
        while let Some((node, done)) = stack.pop() {
            if done {
                order.push(node);
                continue;
            }
            if prefix {
                order.push(node);
            } else {
                stack.push((node, true));
            }
            stack.extend(self.0[node].iter().rev().map(|&child| (child, false)));
        }
        order
    }

    /// Takes steps and cuts, in a walk and in a list of nodes that says of each node how deep it is and whether it is open. A choice is a
    /// part, a kind (divide, cut, or else walk) and a count.
    fn check_cuts(&self, choices: &[(usize, usize, usize)]) {
        let children = |&node: &usize| self.children(node);
        let root = || List(vec![Known { node: 0, depth: 0, open: true }]);
        self.check_parts(vec![(walk_tree_prefix(0, children).producer(), root())], true, choices);
        self.check_parts(vec![(walk_tree_postfix(0, children).producer(), root())], false, choices);
    }

    fn check_parts<W>(&self, mut parts: Vec<(W, List)>, prefix: bool, choices: &[(usize, usize, usize)])
    where
        W: Divisible + Iterator<Item = usize>,
    {
        let mut walked = vec![Vec::new()];
        for &(part, kind, count) in choices {
            let at = part % parts.len();
            let (mut walk, mut list) = parts.remove(at);
            assert_eq!(walk.size(), list.0.len());
            assert_eq!(walk.should_be_divided(), list.0.len() > 1 || list.open_nodes() > 0);
            if kind > 1 || !walk.should_be_divided() {
                for _ in 0..count % 20 {
                    let node = walk.next();
                    assert_eq!(node, list.next(self, prefix));
                    walked[at].extend(node);
                }
                parts.insert(at, (walk, list));
                continue;
            }
            let index = count % (walk.size() + 1);
            let ((left, right), (of_left, of_right)) = match kind {
                0 => (walk.divide(), list.divide(self, prefix)),
                _ => (walk.divide_at(index), list.cut(index)),
            };
            parts.splice(at..at, [(left, of_left), (right, of_right)]);
            walked.insert(at + 1, Vec::new());
        }
        for (at, (walk, mut list)) in parts.into_iter().enumerate() {
            let rest: Vec<_> = walk.collect();
            assert_eq!(rest, std::iter::from_fn(|| list.next(self, prefix)).collect::<Vec<_>>());
            walked[at].extend(rest);
        }
        assert_eq!(walked.concat(), self.walk(prefix));
    }

    fn check(&self) {
        let (prefix, postfix) = (self.walk(true), self.walk(false));
        let children = |&node: &usize| self.children(node);
        assert_schedules!(prefix, walk_tree_prefix(0, children), |it| it.collect::<Vec<_>>());
        assert_schedules!(postfix, walk_tree_postfix(0, children), |it| it.collect::<Vec<_>>());
        let mut all = walk_tree(0, children).collect::<Vec<_>>();
        all.sort_unstable();
        assert_eq!(all, (0..self.0.len()).collect::<Vec<_>>());
    }
}

/// A node that is known and not walked. An open one stands for its subtree.
struct Known {
    node: usize,
    depth: usize,
    open: bool,
}

/// A part of a walk, the first node at the end.
struct List(Vec<Known>);

impl List {
    fn open_nodes(&self) -> usize {
        self.0.iter().filter(|known| known.open).count()
    }

    /// Opens the node at a place.
    fn open(&mut self, at: usize, tree: &Tree, prefix: bool) {
        let Known { node, depth, .. } = self.0[at];
        let children = tree.children(node).into_iter().rev();
        let children = children.map(|node| Known { node, depth: depth + 1, open: true });
        let done = Known { node, depth, open: false };
        let opened: Vec<_> = if prefix {
            children.chain([done]).collect()
        } else {
            std::iter::once(done).chain(children).collect()
        };
        self.0.splice(at..=at, opened);
    }

    fn next(&mut self, tree: &Tree, prefix: bool) -> Option<usize> {
        while self.0.last()?.open {
            self.open(self.0.len() - 1, tree, prefix);
        }
        self.0.pop().map(|known| known.node)
    }

    /// Cuts off the first nodes.
    fn cut(mut self, count: usize) -> (List, List) {
        let first = self.0.split_off(self.0.len() - count);
        (List(first), self)
    }

    /// Cuts in the middle of the open nodes that are nearest to the root. Opens up to 64 nodes while only one is open.
    fn divide(mut self, tree: &Tree, prefix: bool) -> (List, List) {
        for _ in 0..64 {
            if self.open_nodes() == 1 {
                self.open(self.0.iter().position(|known| known.open).unwrap(), tree, prefix);
            }
        }
        let nearest = self.0.iter().filter(|known| known.open).map(|known| known.depth).min();
        let is_nearest = |known: &Known| known.open && Some(known.depth) == nearest;
        let in_order = self.0.iter().rev().enumerate();
        let nearest: Vec<_> = in_order.filter(|(_, known)| is_nearest(known)).map(|(at, _)| at).collect();
        let count = match nearest.first() {
            None => self.0.len() / 2,
            Some(0) if nearest.len() == 1 => 1,
            Some(0) => nearest[nearest.len().div_ceil(2)],
            // All that is in front of the nearest ones counts as one of them.
            Some(_) => nearest[nearest.len() / 2],
        };
        self.cut(count)
    }
}

#[test]
fn shapes() {
    for len in [1, 2, 3, 10, 64, 65, 66, 100, 1000] {
        for tree in [Tree::chain(len), Tree::star(len), Tree::binary(len)] {
            on_pools(|| tree.check());
            tree.check_cuts(&[(0, 0, 0); 3]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_tree(
        parents in prop::collection::vec(any::<usize>(), 0..300),
        deep in any::<bool>(),
        choices in prop::collection::vec((any::<usize>(), 0..8_usize, any::<usize>()), 0..100),
    ) {
        let parents: Vec<usize> = if deep {
            parents.iter().enumerate().map(|(i, p)| i.saturating_sub(p % 3)).collect()
        } else {
            parents
        };
        let tree = Tree::of(&parents);
        tree.check();
        tree.check_cuts(&choices);
    }
}

/// A tree whose left children have everything below them, and one in which the right ones do.
#[test]
fn one_sided_trees_are_shared() {
    for side in [0, 1] {
        let (seen, begun) = (Mutex::new(std::collections::HashSet::new()), Instant::now());
        let walk = walk_tree_prefix(1_u64, |&n| {
            if n % 2 == side || n < 2 { vec![n + 2, n + 1] } else { vec![] }
                .into_iter()
                .filter(|&n| n < 3000)
                .collect::<Vec<_>>()
        });
        testkit::pool(3).install(|| {
            walk.for_each(|_| {
                let threads = {
                    let mut seen = seen.lock().unwrap();
                    seen.insert(std::thread::current().id());
                    seen.len()
                };
                // A second thread has time to come. (A node must not wait for it: a task may look for thieves between nodes.)
                if threads < 2 && begun.elapsed() < Duration::from_secs(20) {
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        });
        assert!(seen.lock().unwrap().len() > 1, "side {side}: one thread walked everything");
    }
}

#[test]
fn children_are_asked_for_once() {
    let tree = Tree::binary(5000);
    let asked: Vec<AtomicUsize> = (0..5000).map(|_| AtomicUsize::new(0)).collect();
    on_pools(|| {
        asked.iter().for_each(|count| count.store(0, Relaxed));
        let walk = walk_tree(0_usize, |&node| {
            asked[node].fetch_add(1, Relaxed);
            tree.children(node)
        });
        assert_eq!(walk.adaptive().nano_blocks(1, 1).count(), 5000);
        assert!(asked.iter().all(|count| count.load(Relaxed) == 1));
    });
}

#[test]
fn a_tree_without_an_end_is_searched() {
    let walk = || walk_tree_prefix(1_u64, |&n| [n.wrapping_mul(2), n.wrapping_mul(2) + 1]);
    assert_eq!(walk().find_first(|&n| n > 1000), Some(1024));
    assert!(walk().any(|n| n % 1000 == 0));
    assert_eq!(walk().take_any(100).count(), 100);
    let stopped = walk().deadline(Instant::now() + Duration::from_millis(20)).map(drop).count();
    assert!(stopped.is_err());
}

#[test]
fn nodes_are_dropped_once_when_a_closure_panics() {
    let tree = Tree::binary(300);
    // In the closure, or when a child is taken, before or after others.
    for (at, in_closure) in
        [0, 7, 100, 299].map(|at| (at, true)).into_iter().chain([1, 2, 7, 299].map(|at| (at, false)))
    {
        let (ledger, tree) = (&Ledger::default(), &tree);
        let children = move |node: &DropCounter| {
            if in_closure && node.number == at {
                planned_panic();
            }
            tree.children(node.number).into_iter().map(move |child| {
                if !in_closure && child == at {
                    planned_panic();
                }
                ledger.value(child)
            })
        };
        assert!(!survives(|| assert_eq!(walk_tree_prefix(ledger.value(0), children).map(drop).count(), 300)));
        assert!(!survives(|| assert_eq!(
            walk_tree_postfix(ledger.value(0), children).map(drop).count(),
            300
        )));
        ledger.assert_settled("");
    }
}
