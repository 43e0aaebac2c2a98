//! The adaptors with a state for every task, driven by hand: by steps, from both ends, and not at all.

use crate::support::states::{Calls, position, push};
use crate::support::steps::{Every, in_steps, run_script, tasks};
use furcate::prelude::*;
use furcate::{Blocking, IndexedProducer, NextStep};
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use testkit::drops::Ledger;
use testkit::on_pools;

/// A fold in steps makes one accumulator and yields it once, at the end.
#[test]
fn fold_in_nano_loops() {
    let identities = Calls::default();
    for limit in [0, 1, 2, 3, 7, 99, 100, 101, usize::MAX] {
        let mut sum = (0..100).into_par_iter().fold(|| identities.counted(0), |sum, x| sum + x);
        let mut loops = in_steps(sum.producer(), std::iter::repeat(limit));
        assert_eq!(loops.pop(), Some(vec![4950]));
        assert_eq!(loops.len() + 1, 100_usize.div_ceil(limit.max(1)), "no units are as one");
        assert!(loops.iter().all(Vec::is_empty));
        assert_eq!(identities.take(), 1);
    }
}

/// A fold that is stopped yields its accumulator; the rest is dropped.
#[test]
fn stopped_folds() {
    let ledger = Ledger::default();
    for done in 0..12 {
        let mut lists = ledger.values(10).into_par_iter().fold(Vec::new, push);
        let (items, outcome) =
            run_script(lists.producer(), (0..done).map(|_| NextStep::Fold(1)).chain([NextStep::Stop]));
        assert!(outcome.given.is_empty());
        let lists = items.concat();
        assert_eq!(lists.len(), 1);
        assert_eq!(
            lists[0].iter().map(|v| v.number).collect::<Vec<_>>(),
            (0..done.min(10)).collect::<Vec<_>>()
        );
    }
    ledger.assert_settled("");
}

/// A part that is given away before the end lives on, with a state of its own. The rest of the task is dropped at once.
#[test]
fn stopped_after_a_division() {
    let ledger = Ledger::default();
    for done in 1..10 {
        let script = [NextStep::Fold(done), NextStep::Divide, NextStep::Stop];
        let given = (10 - done).div_ceil(2);
        let mut lists = ledger.values(10).into_par_iter().fold(Vec::new, push);
        let (items, outcome) = run_script(lists.producer(), script);
        assert_eq!(ledger.alive(), done + given, "folded, or given away");
        let (list, right): (Vec<_>, Vec<_>) =
            (items.concat().concat(), outcome.given.into_iter().flatten().collect());
        assert!(list.iter().map(|value| value.number).eq(0..done));
        assert!(right.concat().iter().map(|value| value.number).eq(10 - given..10));
    }
    ledger.assert_settled("");
}

/// States on states: each adaptor has one for every task, whatever adaptors are between them.
#[test]
fn states_on_states() {
    let (inner, outer) = (Calls::default(), Calls::default());
    let mut chain = (0..100_usize)
        .into_par_iter()
        .map_init(|| inner.counted(0), |n, x| (position(n, ()), x))
        .filter(|(_, x)| x % 3 > 0)
        .fold(|| outer.counted(vec![]), push)
        .inspect(|_| {});
    let steps = [NextStep::Fold(7), NextStep::Divide, NextStep::Fold(2), NextStep::Divide];
    let tasks = tasks(chain.producer(), &mut steps.into_iter().cycle());
    assert!(tasks.len() > 4);
    assert_eq!((inner.take(), outer.take()), (tasks.len(), tasks.len()));
    let lists = tasks.concat();
    assert!(lists.iter().flatten().map(|(_, x)| *x).eq((0..100).filter(|x| x % 3 > 0)));
    // All items of a list are counted from the same first item: that of their task.
    assert!(lists.iter().all(|list| list.iter().all(|(n, x)| x - n == list[0].1 - list[0].0)));
    let firsts = lists.iter().filter_map(|list| list.first()).map(|(n, x)| x - n);
    assert!(firsts.is_sorted_by(|a, b| a < b));
}

/// The leaf is lazy: nothing is folded before the item is asked for.
#[test]
fn fold_is_lazy() {
    let folded = Calls::default();
    let mut sum = (0..10).into_par_iter().fold(|| 0, |sum, x| folded.counted(sum + x));
    let mut leaf = sum.producer();
    assert_eq!((leaf.size_hint(), folded.take()), ((1, Some(1)), 0));
    assert_eq!((leaf.next(), leaf.next(), leaf.size_hint()), (Some(45), None, (0, Some(0))));
    assert_eq!(folded.take(), 10);
}

/// The producer's closures get units in order, also if a break ends everything.
#[test]
fn break_drops_the_state() {
    use std::ops::ControlFlow::{Break, Continue};
    let ledger = Ledger::default();
    let mut mapped = ledger.values(10).into_par_iter().map_with(ledger.value(0), |state, value| {
        state.number += 1;
        value
    });
    let found = mapped.producer().partial_fold(
        Blocking(None),
        |_, v: testkit::drops::DropCounter| if v.number == 4 { Break(Some(v)) } else { Continue(None) },
        &mut Every(7),
    );
    assert!(matches!(found, Break(Blocking(Some(ref value))) if value.number == 4));
    drop(found);
    drop(mapped);
    ledger.assert_settled("");
}

/// Indexed maps with a state can be walked from both ends, and collected in place.
#[test]
fn from_both_ends() {
    fn ends<P: IndexedProducer<Item = usize>>(producer: P) {
        let mut leaf = producer.into_iter();
        assert_eq!((leaf.len(), leaf.size_hint()), (5, (5, Some(5))));
        // There is one state, whichever end the items come from.
        assert_eq!((leaf.next(), leaf.next_back(), leaf.next()), (Some(0), Some(1), Some(2)));
        assert_eq!(leaf.rfold(0, |sum, x| sum * 10 + x), 34);
    }
    let v = [(); 5];
    assert_eq!(
        (v.par_iter().map_init(|| 0, position).len(), v.par_iter().map_with(0, position).len()),
        (5, 5)
    );
    assert_eq!(v.par_iter().map_init(|| 0, position).opt_len(), Some(5));
    assert_eq!(v.par_iter().fold(|| 0, |n, _| n + 1).opt_len(), None);
    ends(v.par_iter().map_init(|| 0, position).indexed_producer());
    ends(v.par_iter().map_with(0, position).indexed_producer());
}

/// States that are not `Sync`, and whose number of clones is known only at the end: channels.
#[test]
fn senders() {
    on_pools(|| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let sent: usize = (0..1000)
            .into_par_iter()
            .map_with(std::cell::RefCell::new(sender), |sender, x: i32| {
                sender.borrow_mut().send(x).map_or(0, |()| 1)
            })
            .sum();
        // All clones are gone, so this loop ends.
        let mut received: Vec<i32> = receiver.iter().collect();
        received.sort_unstable();
        assert_eq!((sent, received), (1000, (0..1000).collect()));
    });
}

/// Laziness (I5): neither a description nor a division makes a state.
#[test]
fn laziness() {
    let inits = Calls::default();
    let mut chain = (0..100)
        .into_par_iter()
        .map_init(|| inits.counted(()), |(), x| x)
        .fold(|| inits.counted(0), |sum, x| sum + x)
        .map_init(|| inits.counted(()), |(), x| x);
    let (left, right) = chain.producer().divide();
    assert_eq!(inits.take(), 0);
    assert_eq!(left.into_iter().sum::<i32>() + right.into_iter().sum::<i32>(), 4950);
    assert_eq!(inits.take(), 6);
}

/// A state is used by one task at a time, whether that task has migrated or not.
#[test]
fn states_are_exclusive() {
    let all = Mutex::new(Vec::new());
    on_pools(|| {
        let made = Calls::default();
        let number = || made.0.fetch_add(1, Relaxed);
        let pairs: Vec<(usize, usize)> =
            (0..4097_usize).into_par_iter().map_init(number, |number, x| (*number, x)).collect();
        // Items of one state are adjacent.
        let runs = pairs.chunk_by(|a, b| a.0 == b.0).count();
        assert_eq!(runs, made.take());
        all.lock().unwrap().push(runs);
    });
    assert!(all.into_inner().unwrap().iter().any(|&runs| runs > 1), "something was divided");
}
