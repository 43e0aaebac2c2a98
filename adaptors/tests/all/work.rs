//! `work`: one state and one item per task, steps that can be stopped and divided, pieces that grow.

use crate::support::steps::run_script;
use crate::support::{LENGTHS, assert_schedules};
use furcate::prelude::*;
use furcate::{Blocking, Inline, NextStep, Steps};
use proptest::prelude::*;
use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::drops::{DropCounter, Ledger, assert_dropped_once};
use testkit::on_pools;

/// Takes up to `n` numbers off a range, and lists them.
fn list(listed: &mut Vec<usize>, range: &mut Range<usize>, n: usize) {
    listed.extend(range.by_ref().take(n));
}

/// Returns the list of every task.
fn listing(range: Range<usize>) -> impl ParallelIterator<Item = Vec<usize>> {
    range.work(|_| vec![], list, |listed| listed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn all_is_done_in_order(len in 0_usize..3000, sizes in proptest::collection::vec(0_usize..200, 0..6)) {
        let expected: Vec<usize> = (0..len).collect();
        let append = |mut left: Vec<usize>, right: Vec<usize>| {
            left.extend(right);
            left
        };
        on_pools(|| {
            assert_schedules!(expected, listing(0..len), |it| it.reduce(Vec::new, append));
            let sizes = || sizes.clone();
            assert_eq!(listing(0..len).by_blocks(sizes()).reduce(Vec::new, append), expected);
            assert_eq!(listing(0..len).adaptive().by_blocks(sizes()).reduce(Vec::new, append), expected);
            assert_eq!(listing(0..len).size_limit(3).depjoin().by_blocks(sizes()).reduce(Vec::new, append), expected);
            assert_schedules!(expected, listing(0..len), |it| it.collect::<Vec<_>>().concat());
            assert_schedules!(None, listing(0..len), |it| it.find_first(|listed| listed.contains(&len)));
        });
    }

    /// However a scheduler divides between the steps, and takes parts back, everything is done once, by one state per
    /// task.
    #[test]
    fn divided_between_steps(
        len in 0_usize..300,
        script in proptest::collection::vec(prop_oneof![3 => (0_usize..20).prop_map(NextStep::Fold), 1 => Just(NextStep::Divide)], 0..60),
    ) {
        let states = AtomicUsize::new(0);
        let mut work = (0..len).work(
            |piece| {
                states.fetch_add(1, Relaxed);
                (piece.start, vec![])
            },
            |(_, listed), piece, n| list(listed, piece, n),
            |(start, listed)| (start, listed),
        );
        let (items, outcome) = run_script(work.producer(), script);
        let mut items: Vec<_> = items.into_iter().flatten().collect();
        prop_assert_eq!((items.len(), states.load(Relaxed)), (1, 1), "what is given away has no state yet");
        for given in outcome.given.into_iter().rev() {
            items.extend(given);
        }
        for (start, listed) in &items {
            prop_assert!(listed.iter().copied().eq(*start..*start + listed.len()), "the state is made of the piece");
        }
        prop_assert!(items.into_iter().flat_map(|(_, listed)| listed).eq(0..len));
    }
}

/// A policy's leaves are the tasks (I4), also for an empty value.
#[test]
fn one_item_per_task() {
    on_pools(|| {
        assert_eq!(listing(0..1000).bound_depth(3).count(), 8);
        assert_eq!(listing(0..1000).sequential().count(), 1);
        assert_eq!(listing(0..0).count(), 1);
        assert_eq!(listing(0..100).bound_depth(0).by_blocks([10, 20]).count(), 3);
        for len in LENGTHS {
            let lens = listing(0..len).size_limit(1).map(|listed| listed.len()).collect::<Vec<_>>();
            assert_eq!((lens.len(), lens.iter().sum()), (len.max(1), len));
        }
    });
}

/// A state never leaves its task: it need not be `Send`.
#[test]
fn states_stay_where_they_are() {
    let total = on_rc((0..1000_usize).work(
        |_| Rc::new(Cell::new(0)),
        |sum, piece, n| sum.set(sum.get() + piece.by_ref().take(n).sum::<usize>()),
        |sum| sum.get(),
    ));
    assert_eq!(total, 499_500);
}

fn on_rc(it: impl ParallelIterator<Item = usize>) -> usize {
    it.sum()
}

/// Steps are short if the task may be stopped, and else take the whole piece.
#[test]
fn the_lengths_of_steps() {
    let steps = Mutex::new(vec![]);
    let work = || {
        (0..10_000_usize).work(
            |_| (),
            |(), piece, n| {
                steps.lock().unwrap().push(n);
                piece.nth(n - 1);
            },
            |()| (),
        )
    };
    work().sequential().for_each(|()| ());
    assert_eq!(steps.lock().unwrap().drain(..).collect::<Vec<_>>(), [usize::MAX]);
    for all in [work().sequential().all(|()| true), work().bound_depth(0).all(|()| true)] {
        assert!(all);
    }
    let lengths = steps.into_inner().unwrap();
    assert!(lengths.len() > 2 && lengths.iter().all(|&n| (1..10_000).contains(&n)), "{lengths:?}");
}

/// A hit in one task ends the others within a step, and a task that is ended yields no item.
#[test]
fn a_stop_reaches_tasks_that_have_begun() {
    on_pools(|| {
        let hit = (0..u64::MAX)
            .work(
                |piece| (piece.start == 0, 0),
                |(first, done), piece, n| {
                    // The first task ends; the others would take for ever.
                    *done += 1;
                    *piece = if *first {
                        piece.end..piece.end
                    } else {
                        piece.start + (n as u64).min(1)..piece.end
                    };
                },
                |(first, _)| first,
            )
            .bound_depth(2)
            .find_any(|&first| first);
        assert_eq!(hit, Some(true));
    });
}

/// A list of trees, by their heights: each one has a node, and two trees below it.
struct Trees(Vec<u32>);

impl Divisible for Trees {
    fn size(&self) -> usize {
        self.0.len()
    }
    fn divide_at(mut self, index: usize) -> (Self, Self) {
        let right = self.0.split_off(index.min(self.0.len()));
        (self, Trees(right))
    }
}

fn count_nodes(nodes: &mut u64, trees: &mut Trees, n: usize) {
    for _ in 0..n {
        let Some(height) = trees.0.pop() else { return };
        *nodes += 1;
        if height > 0 {
            trees.0.extend([height - 1; 2]);
        }
    }
}

#[test]
fn pieces_that_grow() {
    let nodes = |height: u32| 2_u64.pow(height + 1) - 1;
    on_pools(|| {
        let work = || Trees(vec![10, 3, 0, 7, 10]).work(|_| 0, count_nodes, |nodes| nodes);
        let expected = [10, 3, 0, 7, 10].map(nodes).iter().sum::<u64>();
        assert_schedules!(expected, work(), |it| it.sum::<u64>());
        assert_eq!(work().by_blocks([1, 2]).sum::<u64>(), expected);
        assert_eq!(work().adaptive().by_blocks([1, 2]).sum::<u64>(), expected);
        assert_schedules!(None, work(), |it| it.find_any(|&nodes| nodes == 0));
    });
    // One tree cannot be divided, but its subtrees can. So adaptive schedulers divide between steps.
    let mut work = Trees(vec![10]).work(|_| 0, count_nodes, |nodes| nodes);
    let (items, outcome) = run_script(
        work.producer(),
        [NextStep::Fold(3), NextStep::Divide, NextStep::Fold(100), NextStep::Divide],
    );
    let given: Vec<u64> = outcome.given.into_iter().flatten().collect();
    assert_eq!(given.len(), 2);
    assert!(given.iter().all(|&part| part > 0));
    assert_eq!(items.into_iter().flatten().chain(given).sum::<u64>(), nodes(10));
}

/// A part that was not stolen comes back with a state of its own.
#[test]
fn taken_back() {
    struct GiveAndTake<P>(Vec<P>, usize);
    impl<P> Steps<P> for GiveAndTake<P> {
        fn next(&mut self, _size: usize) -> NextStep {
            self.1 += 1;
            if self.1 <= 3 { NextStep::Divide } else { NextStep::Fold(3) }
        }
        fn take(&mut self, right: P) {
            self.0.push(right);
        }
        fn take_back(&mut self) -> Option<P> {
            self.0.pop()
        }
    }
    let mut work = (0..80_usize).work(
        |piece| vec![piece.clone()],
        |seen, piece, n| {
            piece.nth(n.min(piece.len()) - 1);
            seen.push(piece.clone());
        },
        |seen| seen[0].clone(),
    );
    let push = |mut items: Vec<Range<usize>>, item| {
        items.push(item);
        ControlFlow::Continue(items)
    };
    let items = work.producer().partial_fold(Blocking(vec![]), push, &mut GiveAndTake(vec![], 0));
    // The first state was made before the piece was divided.
    assert_eq!(items, ControlFlow::Continue(Blocking(vec![0..80, 10..20, 20..40, 40..80])));
}

/// Pieces and states are dropped once, after every panic and every stop (P2).
#[test]
fn drops() {
    struct Pile(Vec<DropCounter>);
    impl Divisible for Pile {
        fn size(&self) -> usize {
            self.0.len()
        }
        fn divide_at(mut self, index: usize) -> (Self, Self) {
            let right = self.0.split_off(index.min(self.0.len()));
            (self, Pile(right))
        }
    }
    assert_dropped_once(20, |values, fuse| {
        let kept = Pile(values)
            .work(
                |_| {
                    fuse.burn();
                    vec![]
                },
                |kept, pile, n| {
                    fuse.burn();
                    kept.extend(pile.0.drain(..n.min(pile.0.len())));
                },
                |kept| {
                    fuse.burn();
                    kept
                },
            )
            .size_limit(5)
            .reduce_with(|mut left, right| {
                fuse.burn();
                left.extend(right);
                left
            });
        assert!(kept.unwrap().iter().map(|value| value.number).eq(0..20));
    });
    let ledger = Ledger::default();
    let found = Pile(ledger.values(1000))
        .work(|_| vec![], |kept, pile, n| kept.extend(pile.0.drain(..n.min(pile.0.len()))), |kept| kept)
        .size_limit(100)
        .on(Inline)
        .find_first(|kept| kept[0].number == 250);
    assert_eq!((found.map(|kept| kept.len()), ledger.alive()), (Some(62), 0));
    ledger.assert_settled("");
}
