//! The adaptors with a state for every task: one state per task, in leaves and in nano-loops, and nothing lost.

mod support;

use furcate::prelude::*;
use furcate::{IndexedProducer, Nano};
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use support::drops::Ledger;
use support::nano::{Every, Interruptible, nano_loops, run_script, tasks};
use support::{LENGTHS, assert_schedules, on_pools};

/// A fold that forgets nothing: not commutative, and every accumulator is told apart.
fn push<T>(mut list: Vec<T>, item: T) -> Vec<T> {
    list.push(item);
    list
}

/// Counts the calls of a function.
#[derive(Debug, Default)]
struct Calls(AtomicUsize);

impl Calls {
    fn counted<T>(&self, value: T) -> T {
        self.0.fetch_add(1, Relaxed);
        value
    }

    /// How many there have been since it was asked last.
    fn take(&self) -> usize {
        self.0.swap(0, Relaxed)
    }
}

/// A state that counts its clones.
#[derive(Debug)]
struct Cloned<'a> {
    clones: &'a Calls,
    items: Vec<usize>,
}

impl Clone for Cloned<'_> {
    fn clone(&self) -> Self {
        self.clones.counted(Cloned { clones: self.clones, items: self.items.clone() })
    }
}

/// How far a task has come: the position of every item in its task.
fn position<T>(state: &mut usize, _item: T) -> usize {
    *state += 1;
    *state - 1
}

mod with_rayon {
    use rayon::prelude::*;

    pub(super) fn fold_of_nothing() -> Vec<i32> {
        Vec::new().into_par_iter().fold(|| 7, |x, y: i32| x + y).collect()
    }
    pub(super) fn concatenated(v: &[u8]) -> Vec<&u8> {
        v.par_iter().fold(Vec::new, super::push).flatten_iter().collect()
    }
    pub(super) fn mapped(v: &[u8]) -> Vec<u32> {
        v.par_iter().map_init(|| 1, |one, &x| u32::from(x) + *one).rev().collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The accumulators in order, and in each its items in order, are the sequence.
    #[test]
    fn fold_concatenates(v: Vec<u8>) {
        let expected: Vec<&u8> = v.iter().collect();
        prop_assert_eq!(&with_rayon::concatenated(&v), &expected);
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| {
                it.fold(Vec::new, push).collect::<Vec<_>>().concat()
            });
            assert_schedules!(expected, v.par_iter(), |it| {
                it.fold_with(Vec::new(), push).drive(Interruptible).concat()
            });
            // A fold of folds; over a base that loses items on the way.
            assert_schedules!(expected, v.par_iter(), |it| {
                it.flat_map_iter(|x| [None, Some(x)])
                    .filter_map(|x| x)
                    .fold(Vec::new, push)
                    .map(|list| list)
                    .fold_with(Vec::new(), push)
                    .flatten_iter()
                    .flatten_iter()
                    .collect::<Vec<_>>()
            });
        });
    }

    #[test]
    fn map_init_and_with(v: Vec<u8>) {
        let expected: Vec<u32> = v.iter().map(|&x| u32::from(x) + 1).rev().collect();
        prop_assert_eq!(&with_rayon::mapped(&v), &expected);
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| {
                it.map_init(|| 1, |one, &x| u32::from(x) + *one).rev().collect::<Vec<_>>()
            });
            assert_schedules!(expected, v.par_iter(), |it| {
                it.map_with(1, |one, &x| u32::from(x) + *one).rev().collect::<Vec<_>>()
            });
            assert_schedules!(expected, v.par_iter(), |it| {
                it.rev().map_init(|| 1, |one, &x| u32::from(x) + *one).drive(Interruptible)
            });
            assert_schedules!(expected, v.par_iter(), |it| {
                it.rev().filter(|_| true).map_with(1, |one, &x| u32::from(x) + *one).collect::<Vec<_>>()
            });
        });
    }

    /// Nano-loops of one size, a half given away, nano-loops of another size: one state on each side, nothing lost,
    /// and the right side knows nothing of the left one's items.
    #[test]
    fn fold_given_away_between_nano_loops(
        v: Vec<u8>, limits in (1_usize..20, 1_usize..20), loops in 0_usize..10,
    ) {
        let identities = Calls::default();
        let mut called = v.par_iter().fold(|| identities.counted(Vec::new()), push);
        let tasks = check_fold(called.producer(), &v, limits, loops)?;
        prop_assert_eq!(identities.take(), tasks);

        let mut cloned = v.par_iter().fold_with(Vec::new(), push);
        check_fold(cloned.producer(), &v, limits, loops)?;
    }

    #[test]
    fn map_given_away_between_nano_loops(
        v: Vec<u8>, limits in (1_usize..20, 1_usize..20), loops in 0_usize..10,
    ) {
        let inits = Calls::default();
        let mut called = v.par_iter().map_init(|| inits.counted(0), position);
        let tasks = check_map(called.producer(), v.len(), limits, loops)?;
        prop_assert_eq!(inits.take(), tasks);

        let mut cloned = v.par_iter().map_with(0, position);
        check_map(cloned.producer(), v.len(), limits, loops)?;
    }

    /// Nano-loops and divisions in any order: one state per task, made for it alone, and nothing lost.
    #[test]
    fn one_state_per_task_of_any_script(v: Vec<u8>, steps in proptest::collection::vec(step(), 1..12)) {
        // The last step folds, so that every task comes to its end.
        let script = || steps.clone().into_iter().chain([Nano::Fold(1)]).cycle();
        let (made, whole) = (Calls::default(), v.iter().collect::<Vec<_>>());

        // The accumulator that a task gives holds its items and no others'.
        let mut called = v.par_iter().fold(|| made.counted(Vec::new()), push);
        let lists = tasks(called.producer(), &mut script());
        prop_assert_eq!(made.take(), lists.len());
        prop_assert!(lists.iter().all(|task| task.len() == 1));
        prop_assert_eq!(lists.concat().concat(), &whole[..]);
        let mut cloned = v.par_iter().fold_with(Vec::new(), push);
        prop_assert_eq!(tasks(cloned.producer(), &mut script()), lists);

        // A state has seen its task's items and no others'.
        let mut called = v.par_iter().map_init(|| made.counted(0), |n, x| (position(n, ()), x));
        let mapped = tasks(called.producer(), &mut script());
        prop_assert_eq!(made.take(), mapped.len());
        for task in &mapped {
            prop_assert!(task.iter().map(|(position, _)| *position).eq(0..task.len()));
        }
        prop_assert_eq!(mapped.concat().into_iter().map(|(_, x)| x).collect::<Vec<_>>(), whole);
        let mut cloned = v.par_iter().map_with(0, |n, x| (position(n, ()), x));
        prop_assert_eq!(tasks(cloned.producer(), &mut script()), mapped);
    }
}

fn step() -> impl Strategy<Value = Nano> {
    prop_oneof![2 => (0_usize..20).prop_map(Nano::Fold), 1 => Just(Nano::Divide)]
}

/// Some nano-loops, a division, and other nano-loops.
fn script(limits: (usize, usize), loops: usize) -> impl Iterator<Item = Nano> {
    let repeat = |limit| std::iter::repeat(Nano::Fold(limit));
    repeat(limits.0).take(loops).chain([Nano::Divide]).chain(repeat(limits.1))
}

/// Where the script divides, if the items last so long.
fn place_of_division(len: usize, limit: usize, loops: usize) -> Option<usize> {
    let done = limit * loops;
    (loops == 0 || done < len).then(|| done + (len - done) / 2)
}

/// How many tasks there were.
fn check_fold<'a, P: Producer<Item = Vec<&'a u8>>>(
    producer: P,
    v: &'a [u8],
    limits: (usize, usize),
    loops: usize,
) -> Result<usize, TestCaseError> {
    let (items, outcome) = run_script(producer, script(limits, loops));
    let cut = place_of_division(v.len(), limits.0, loops);
    // The accumulator comes out once, with the last loop.
    prop_assert_eq!(items.concat(), [v[..cut.unwrap_or(v.len())].iter().collect::<Vec<_>>()]);
    prop_assert_eq!(items.last().map(Vec::len), Some(1));
    prop_assert_eq!(outcome.given.len(), usize::from(cut.is_some()));
    for (right, cut) in outcome.given.into_iter().zip(cut) {
        prop_assert_eq!(right.size(), v.len() - cut);
        let right = nano_loops(right, std::iter::repeat(limits.1)).concat();
        prop_assert_eq!(right, [v[cut..].iter().collect::<Vec<_>>()]);
    }
    Ok(1 + usize::from(cut.is_some()))
}

/// How many tasks there were.
fn check_map<P: Producer<Item = usize>>(
    producer: P,
    len: usize,
    limits: (usize, usize),
    loops: usize,
) -> Result<usize, TestCaseError> {
    let (items, outcome) = run_script(producer, script(limits, loops));
    let cut = place_of_division(len, limits.0, loops);
    prop_assert_eq!(items.concat(), (0..cut.unwrap_or(len)).collect::<Vec<_>>());
    prop_assert_eq!(outcome.given.len(), usize::from(cut.is_some()));
    for (right, cut) in outcome.given.into_iter().zip(cut) {
        let right = nano_loops(right, std::iter::repeat(limits.1)).concat();
        prop_assert_eq!(right, (0..len - cut).collect::<Vec<_>>());
    }
    Ok(1 + usize::from(cut.is_some()))
}

/// A state never leaves its thread, so it need not be `Send`: as with rayon.
#[test]
fn states_that_are_not_send() {
    let log = || Rc::new(RefCell::new(Vec::new()));
    let position = |log: &mut Rc<RefCell<Vec<usize>>>, x| {
        log.borrow_mut().push(x);
        log.borrow().len()
    };
    on_pools(|| {
        let lens = (0..100_usize).into_par_iter().bound_depth(2).map_init(log, position);
        assert_eq!(lens.clone().collect::<Vec<_>>(), (0..4).flat_map(|_| 1..26).collect::<Vec<_>>());
        assert_eq!(lens.drive(Interruptible), (0..4).flat_map(|_| 1..26).collect::<Vec<_>>());
    });
}

#[test]
fn boundary_lengths() {
    for len in LENGTHS {
        let all: Vec<usize> = (0..len).collect();
        assert_schedules!(all, (0..len).into_par_iter(), |it| {
            it.fold(Vec::new, push).collect::<Vec<_>>().concat()
        });
        assert_schedules!(all, (0..len).into_par_iter(), |it| {
            it.map_init(|| (), |(), x| x).zip(0..len).map(|(x, _)| x).collect::<Vec<_>>()
        });
    }
}

/// One state per task, counted (I4): 2^3 tasks, whether folded at one go or in nano-loops; 2^3 - 1 clones.
#[test]
fn one_state_per_task() {
    let calls = Calls::default();
    let state = || Cloned { clones: &calls, items: Vec::new() };
    on_pools(|| {
        // Counts are taken per call: pools run this one after the other.
        let items = || (0..1000_usize).into_par_iter().bound_depth(3);
        assert_eq!(items().fold(|| calls.counted(0), |n, _| n + 1).collect::<Vec<_>>(), [125; 8]);
        assert_eq!(calls.take(), 8);
        assert_eq!(items().fold(|| calls.counted(0), |n, _| n + 1).drive(Interruptible), [125; 8]);
        assert_eq!(calls.take(), 8);

        let positions: Vec<usize> = (0..8).flat_map(|_| 0..125).collect();
        assert_eq!(items().map_init(|| calls.counted(0), position).collect::<Vec<_>>(), positions);
        assert_eq!(calls.take(), 8);
        assert_eq!(items().map_init(|| calls.counted(0), position).drive(Interruptible), positions);
        assert_eq!(calls.take(), 8);

        let folded = items().fold_with(state(), |mut state, x| {
            state.items.push(x);
            state
        });
        assert!(folded.collect::<Vec<_>>().iter().all(|state| state.items.len() == 125));
        assert_eq!(calls.take(), 7);

        let mapped = items().map_with(state(), |state, x| {
            state.items.push(x);
            state.items.len() - 1
        });
        assert_eq!(mapped.collect::<Vec<_>>(), positions);
        assert_eq!(calls.take(), 7);
        // In nano-loops each task makes its state from a seed that stays: one clone more each, and not one per loop.
        let mapped = items().map_with(state(), |state, x| {
            state.items.push(x);
            state.items.len() - 1
        });
        assert_eq!(mapped.drive(Interruptible), positions);
        assert_eq!(calls.take(), 7 + 8);
    });
}

/// One task: one state, and of a value no clone at all.
#[test]
fn one_task() {
    let calls = Calls::default();
    let state = Cloned { clones: &calls, items: Vec::new() };
    let lens = (0..100_usize).into_par_iter().sequential().map_with(state.clone(), |state, x| {
        state.items.push(x);
        state.items.len()
    });
    assert_eq!(lens.collect::<Vec<_>>(), (1..=100).collect::<Vec<_>>());
    let folded = (0..100_usize).into_par_iter().sequential().fold_with(state, |mut state, x| {
        state.items.push(x);
        state
    });
    assert_eq!(folded.collect::<Vec<_>>()[0].items.len(), 100);
    assert_eq!(calls.take(), 1, "the test's own");
}

/// Nothing to fold is one identity, as with rayon; a map has nothing to map.
#[test]
fn nothing() {
    let none = || Vec::<i32>::new().into_par_iter();
    assert_eq!(with_rayon::fold_of_nothing(), [7]);
    on_pools(|| {
        assert_schedules!(vec![7], none(), |it| it.fold(|| 7, |x, y| x + y).collect::<Vec<_>>());
        assert_schedules!(vec![7], none(), |it| it.fold_with(7, |x, y| x + y).drive(Interruptible));
        assert_schedules!(vec![], none(), |it| it.map_init(|| 7, |x, y| *x + y).collect::<Vec<_>>());
        assert_schedules!(vec![], none(), |it| it.map_with(7, |x, y| *x + y).drive(Interruptible));
    });
    // Where all items fall away, every task still gives its identity.
    let tasks = (0..64).into_par_iter().bound_depth(2).filter(|_| false).fold(|| 7, |x, y: i32| x + y);
    assert_eq!(tasks.collect::<Vec<_>>(), [7; 4]);
}

/// By hand: a fold in nano-loops makes one accumulator and gives it once, at the end.
#[test]
fn fold_in_nano_loops() {
    let identities = Calls::default();
    for limit in [0, 1, 2, 3, 7, 99, 100, 101, usize::MAX] {
        let mut sum = (0..100).into_par_iter().fold(|| identities.counted(0), |sum, x| sum + x);
        let mut loops = nano_loops(sum.producer(), std::iter::repeat(limit));
        assert_eq!(loops.pop(), Some(vec![4950]));
        assert_eq!(loops.len() + 1, 100_usize.div_ceil(limit.max(1)), "no units are as one");
        assert!(loops.iter().all(Vec::is_empty));
        assert_eq!(identities.take(), 1);
    }
}

/// A fold that is stopped gives what it has; the rest is dropped.
#[test]
fn stopped_folds() {
    let ledger = Ledger::default();
    for done in 0..12 {
        let mut lists = ledger.values(10).into_par_iter().fold(Vec::new, push);
        let (items, outcome) =
            run_script(lists.producer(), (0..done).map(|_| Nano::Fold(1)).chain([Nano::Stop]));
        assert!(outcome.given.is_empty());
        let lists = items.concat();
        assert_eq!(lists.len(), 1);
        assert_eq!(
            lists[0].iter().map(|v| v.number).collect::<Vec<_>>(),
            (0..done.min(10)).collect::<Vec<_>>()
        );
    }
    ledger.assert_settled();
}

/// What is given away before the end lives on, with a state of its own; the rest of the task is dropped at once.
#[test]
fn stopped_after_a_division() {
    let ledger = Ledger::default();
    for done in 1..10 {
        let script = [Nano::Fold(done), Nano::Divide, Nano::Stop];
        let given = (10 - done).div_ceil(2);
        let mut lists = ledger.values(10).into_par_iter().fold(Vec::new, push);
        let (items, outcome) = run_script(lists.producer(), script);
        assert_eq!(ledger.alive(), done + given, "folded, or given away");
        let (list, right): (Vec<_>, Vec<_>) =
            (items.concat().concat(), outcome.given.into_iter().flatten().collect());
        assert!(list.iter().map(|value| value.number).eq(0..done));
        assert!(right.concat().iter().map(|value| value.number).eq(10 - given..10));
    }
    ledger.assert_settled();
}

/// States on states: each adaptor has one for every task, whatever is between them.
#[test]
fn states_on_states() {
    let (inner, outer) = (Calls::default(), Calls::default());
    let mut chain = (0..100_usize)
        .into_par_iter()
        .map_init(|| inner.counted(0), |n, x| (position(n, ()), x))
        .filter(|(_, x)| x % 3 > 0)
        .fold(|| outer.counted(vec![]), push)
        .inspect(|_| {});
    let steps = [Nano::Fold(7), Nano::Divide, Nano::Fold(2), Nano::Divide];
    let tasks = tasks(chain.producer(), &mut steps.into_iter().cycle());
    assert!(tasks.len() > 4);
    assert_eq!((inner.take(), outer.take()), (tasks.len(), tasks.len()));
    let lists = tasks.concat();
    assert!(lists.iter().flatten().map(|(_, x)| *x).eq((0..100).filter(|x| x % 3 > 0)));
    // All items of a list count from the same first item: that of their task.
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

/// The producer's closures see units in order, also when a break ends everything.
#[test]
fn break_drops_the_state() {
    use std::ops::ControlFlow::{Break, Continue};
    let ledger = Ledger::default();
    let mut mapped = ledger.values(10).into_par_iter().map_with(ledger.value(0), |state, value| {
        state.number += 1;
        value
    });
    let found = mapped.producer().partial_fold(
        (),
        |(), v| if v.number == 4 { Break(v) } else { Continue(()) },
        &mut Every(7),
    );
    assert!(matches!(found, Break(ref value) if value.number == 4));
    drop(found);
    drop(mapped);
    ledger.assert_settled();
}

/// Indexed maps with a state can be walked from both ends, and collected in place.
#[test]
fn from_both_ends() {
    fn ends<P: IndexedProducer<Item = usize>>(producer: P) {
        let mut leaf = producer.into_iter();
        assert_eq!((leaf.len(), leaf.size_hint()), (5, (5, Some(5))));
        // One state, whichever end the items come from.
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

/// States that are not `Sync`, and a clone whose number is known only at the end: channels.
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
        // Every clone is gone, so this ends.
        let mut received: Vec<i32> = receiver.iter().collect();
        received.sort_unstable();
        assert_eq!((sent, received), (1000, (0..1000).collect()));
    });
}

/// Laziness (I5): a description makes no state, a division neither.
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

/// States are used by one task at a time, and by one that has migrated as by one that has not.
#[test]
fn states_are_exclusive() {
    let all = Mutex::new(Vec::new());
    on_pools(|| {
        let made = Calls::default();
        let number = || made.0.fetch_add(1, Relaxed);
        let pairs: Vec<(usize, usize)> =
            (0..4097_usize).into_par_iter().map_init(number, |number, x| (*number, x)).collect();
        // Items of one state lie together.
        let runs = pairs.chunk_by(|a, b| a.0 == b.0).count();
        assert_eq!(runs, made.take());
        all.lock().unwrap().push(runs);
    });
    assert!(all.into_inner().unwrap().iter().any(|&runs| runs > 1), "something was divided");
}
