//! The adaptors with a state for every task: one state per task, in leaves and in steps, and nothing lost.

use crate::support::states::{Calls, Cloned, position, push};
use crate::support::steps::{in_steps, run_script, tasks};
use crate::support::{LENGTHS, assert_schedules};
use furcate::NextStep;
use furcate::prelude::*;
use proptest::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use testkit::collect::CollectInSteps;
use testkit::on_pools;

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

    /// The accumulators in order, each with its items in order, make the whole sequence.
    #[test]
    fn fold_concatenates(v: Vec<u8>) {
        let expected: Vec<&u8> = v.iter().collect();
        prop_assert_eq!(&with_rayon::concatenated(&v), &expected);
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| {
                it.fold(Vec::new, push).collect::<Vec<_>>().concat()
            });
            assert_schedules!(expected, v.par_iter(), |it| {
                it.fold_with(Vec::new(), push).drive(CollectInSteps).concat()
            });
            // A fold of folds, over a base that loses items on the way.
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
                it.rev().map_init(|| 1, |one, &x| u32::from(x) + *one).drive(CollectInSteps)
            });
            assert_schedules!(expected, v.par_iter(), |it| {
                it.rev().filter(|_| true).map_with(1, |one, &x| u32::from(x) + *one).collect::<Vec<_>>()
            });
        });
    }

    /// Steps of one size, a half given away, steps of another size: there is one state on each side, nothing
    /// is lost, and the right side's state is independent of the left side's items.
    #[test]
    fn fold_given_away_between_nano_loops(
        v: Vec<u8>, limits in (1_usize..20, 1_usize..20), steps in 0_usize..10,
    ) {
        let identities = Calls::default();
        let mut called = v.par_iter().fold(|| identities.counted(Vec::new()), push);
        let tasks = check_fold(called.producer(), &v, limits, steps)?;
        prop_assert_eq!(identities.take(), tasks);

        let mut cloned = v.par_iter().fold_with(Vec::new(), push);
        check_fold(cloned.producer(), &v, limits, steps)?;
    }

    #[test]
    fn map_given_away_between_nano_loops(
        v: Vec<u8>, limits in (1_usize..20, 1_usize..20), steps in 0_usize..10,
    ) {
        let inits = Calls::default();
        let mut called = v.par_iter().map_init(|| inits.counted(0), position);
        let tasks = check_map(called.producer(), v.len(), limits, steps)?;
        prop_assert_eq!(inits.take(), tasks);

        let mut cloned = v.par_iter().map_with(0, position);
        check_map(cloned.producer(), v.len(), limits, steps)?;
    }

    /// Steps and divisions in any order: one state per task, made for it alone, and nothing lost.
    #[test]
    fn one_state_per_task_of_any_script(v: Vec<u8>, steps in proptest::collection::vec(step(), 1..12)) {
        // The last step folds, so that every task comes to its end.
        let script = || steps.clone().into_iter().chain([NextStep::Fold(1)]).cycle();
        let (made, whole) = (Calls::default(), v.iter().collect::<Vec<_>>());

        // The accumulator that a task yields holds its own items and no others.
        let mut called = v.par_iter().fold(|| made.counted(Vec::new()), push);
        let lists = tasks(called.producer(), &mut script());
        prop_assert_eq!(made.take(), lists.len());
        prop_assert!(lists.iter().all(|task| task.len() == 1));
        prop_assert_eq!(lists.concat().concat(), &whole[..]);
        let mut cloned = v.par_iter().fold_with(Vec::new(), push);
        prop_assert_eq!(tasks(cloned.producer(), &mut script()), lists);

        // A state has seen its own task's items and no others.
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

fn step() -> impl Strategy<Value = NextStep> {
    prop_oneof![2 => (0_usize..20).prop_map(NextStep::Fold), 1 => Just(NextStep::Divide)]
}

/// Some steps, a division, and other steps.
fn script(limits: (usize, usize), steps: usize) -> impl Iterator<Item = NextStep> {
    let repeat = |limit| std::iter::repeat(NextStep::Fold(limit));
    repeat(limits.0).take(steps).chain([NextStep::Divide]).chain(repeat(limits.1))
}

/// Returns the place where the script divides, if there are enough items.
fn place_of_division(len: usize, limit: usize, steps: usize) -> Option<usize> {
    let done = limit * steps;
    (steps == 0 || done < len).then(|| done + (len - done) / 2)
}

/// Checks a fold. Returns the number of tasks.
fn check_fold<'a, P: Producer<Item = Vec<&'a u8>>>(
    producer: P,
    v: &'a [u8],
    limits: (usize, usize),
    steps: usize,
) -> Result<usize, TestCaseError> {
    let (items, outcome) = run_script(producer, script(limits, steps));
    let cut = place_of_division(v.len(), limits.0, steps);
    // The accumulator comes out once, with the last loop.
    prop_assert_eq!(items.concat(), [v[..cut.unwrap_or(v.len())].iter().collect::<Vec<_>>()]);
    prop_assert_eq!(items.last().map(Vec::len), Some(1));
    prop_assert_eq!(outcome.given.len(), usize::from(cut.is_some()));
    for (right, cut) in outcome.given.into_iter().zip(cut) {
        prop_assert_eq!(right.size(), v.len() - cut);
        let right = in_steps(right, std::iter::repeat(limits.1)).concat();
        prop_assert_eq!(right, [v[cut..].iter().collect::<Vec<_>>()]);
    }
    Ok(1 + usize::from(cut.is_some()))
}

/// Checks a map. Returns the number of tasks.
fn check_map<P: Producer<Item = usize>>(
    producer: P,
    len: usize,
    limits: (usize, usize),
    steps: usize,
) -> Result<usize, TestCaseError> {
    let (items, outcome) = run_script(producer, script(limits, steps));
    let cut = place_of_division(len, limits.0, steps);
    prop_assert_eq!(items.concat(), (0..cut.unwrap_or(len)).collect::<Vec<_>>());
    prop_assert_eq!(outcome.given.len(), usize::from(cut.is_some()));
    for (right, cut) in outcome.given.into_iter().zip(cut) {
        let right = in_steps(right, std::iter::repeat(limits.1)).concat();
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
        let lens = (0..100_usize).into_par_iter().bound_depth(2).join().map_init(log, position);
        assert_eq!(lens.clone().collect::<Vec<_>>(), (0..4).flat_map(|_| 1..26).collect::<Vec<_>>());
        assert_eq!(lens.drive(CollectInSteps), (0..4).flat_map(|_| 1..26).collect::<Vec<_>>());
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

/// One state per task, counted (I4): 2^3 tasks, whether folded in one step or in several; 2^3 - 1 clones.
#[test]
fn one_state_per_task() {
    let calls = Calls::default();
    let state = || Cloned { clones: &calls, items: Vec::new() };
    on_pools(|| {
        // Counts are taken per call, because pools run this one after the other.
        let items = || (0..1000_usize).into_par_iter().bound_depth(3).join();
        assert_eq!(items().fold(|| calls.counted(0), |n, _| n + 1).collect::<Vec<_>>(), [125; 8]);
        assert_eq!(calls.take(), 8);
        assert_eq!(items().fold(|| calls.counted(0), |n, _| n + 1).drive(CollectInSteps), [125; 8]);
        assert_eq!(calls.take(), 8);

        let positions: Vec<usize> = (0..8).flat_map(|_| 0..125).collect();
        assert_eq!(items().map_init(|| calls.counted(0), position).collect::<Vec<_>>(), positions);
        assert_eq!(calls.take(), 8);
        assert_eq!(items().map_init(|| calls.counted(0), position).drive(CollectInSteps), positions);
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
        // In steps each task makes its state from a seed that stays: one more clone per task, and not one per
        // loop.
        let mapped = items().map_with(state(), |state, x| {
            state.items.push(x);
            state.items.len() - 1
        });
        assert_eq!(mapped.drive(CollectInSteps), positions);
        assert_eq!(calls.take(), 7 + 8);
    });
}

/// A single task has one state, and a value needs no clone at all.
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

/// A fold without items yields one identity, as in rayon; a map without items yields nothing.
#[test]
fn nothing() {
    let none = || Vec::<i32>::new().into_par_iter();
    assert_eq!(with_rayon::fold_of_nothing(), [7]);
    on_pools(|| {
        assert_schedules!(vec![7], none(), |it| it.fold(|| 7, |x, y| x + y).collect::<Vec<_>>());
        assert_schedules!(vec![7], none(), |it| it.fold_with(7, |x, y| x + y).drive(CollectInSteps));
        assert_schedules!(vec![], none(), |it| it.map_init(|| 7, |x, y| *x + y).collect::<Vec<_>>());
        assert_schedules!(vec![], none(), |it| it.map_with(7, |x, y| *x + y).drive(CollectInSteps));
    });
    // If all items are filtered out, every task still yields its identity.
    let tasks = (0..64).into_par_iter().bound_depth(2).filter(|_| false).fold(|| 7, |x, y: i32| x + y);
    assert_eq!(tasks.collect::<Vec<_>>(), [7; 4]);
}
