//! Donation is even, taking is random, and nothing is lost.

use crate::engine::worker::{Entry, Header, JobRef, SpawnHeader, Stealable, Worker};
use std::collections::HashSet;
use std::ptr::{self, NonNull};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// Tasks that are never run.
struct Tasks(Vec<SpawnHeader>);

impl Tasks {
    /// Makes so many tasks of each scope.
    fn of(scopes: &[(u64, usize)]) -> Self {
        fn never(_: NonNull<Header>, _: &Worker, _: *const Worker) {
            unreachable!("nobody runs it");
        }
        let each = scopes.iter().flat_map(|&(scope, len)| std::iter::repeat_n(scope, len));
        // SAFETY: the task is never run.
        Tasks(each.map(|scope| unsafe { SpawnHeader::new(never, scope) }).collect())
    }

    fn refs(&self) -> impl Iterator<Item = JobRef> {
        self.0.iter().map(|task| JobRef::new(NonNull::from(task).cast(), ptr::null()))
    }

    /// Returns the index of an entry's task.
    fn index(&self, entry: Entry) -> usize {
        let Entry::Task(task) = entry else { unreachable!("there are tasks only") };
        let here = |header: &SpawnHeader| ptr::eq(ptr::from_ref(header).cast(), task.address());
        self.0.iter().position(here).expect("one of these")
    }
}

fn lengths(sets: &Stealable) -> Vec<usize> {
    sets.0.iter().map(|set| set.lock().len()).collect()
}

#[test]
fn donation_is_even() {
    // W7, W8: over many stretches of one thread's sequence, no set has more than a random choice gives it. (With so few tasks
    // per set as lg P the deviation is of the order of lg P; with more, of the square root of their number times that.)
    let mut most = 0.0_f64;
    for slots in [2, 3, 8, 16, 64] {
        for per_slot in [1, 4, 16] {
            let tasks = Tasks::of(&[(1, slots * per_slot)]);
            let mut total = vec![0; slots];
            for seed in 0..1000 {
                let sets = Stealable::new(slots);
                tasks.refs().for_each(|task| sets.add(Entry::Task(task)));
                let lengths = lengths(&sets);
                assert_eq!(lengths.iter().sum::<usize>(), slots * per_slot);
                let (mean, lg) = (per_slot as f64, (slots as f64).log2().max(1.0));
                let excess = (*lengths.iter().max().unwrap() as f64 - mean) / (lg + (mean * lg).sqrt());
                assert!(excess <= 3.0, "{slots} sets, {per_slot} for each, stretch {seed}: {lengths:?}");
                most = most.max(excess);
                total.iter_mut().zip(lengths).for_each(|(total, len)| *total += len);
            }
            // Nor is any set favored over all seeds.
            let mean = 1000.0 * per_slot as f64;
            for total in total {
                assert!((total as f64 - mean).abs() < 6.0 * mean.sqrt(), "{slots} sets: {total} of {mean}");
            }
        }
    }
    println!("15000 stretches; at most {most:.2} x (lg P + sqrt(D/P lg P)) above D/P");
}

#[test]
fn threads_that_wake_one_task_each_choose_different_sets() {
    let (sets, tasks) = (&Stealable::new(8), Tasks::of(&[(1, 160)]));
    for task in tasks.refs() {
        thread::scope(|threads| threads.spawn(move || sets.add(Entry::Task(task))).join().unwrap());
    }
    let lengths = lengths(sets);
    assert!(lengths.iter().all(|len| (1..80).contains(len)), "{lengths:?}");
}

#[test]
fn each_is_taken_once() {
    let (sets, tasks) = (Stealable::new(3), Tasks::of(&[(1, 3000)]));
    assert!(sets.is_empty());
    let (taken, donated) = (Mutex::new(HashSet::new()), AtomicUsize::new(0));
    thread::scope(|threads| {
        let (sets, tasks, taken, donated) = (&sets, &tasks, &taken, &donated);
        for half in 0..2 {
            threads.spawn(move || {
                for task in tasks.refs().skip(half).step_by(2) {
                    sets.add(Entry::Task(task));
                    donated.fetch_add(1, SeqCst);
                }
            });
        }
        for slot in 0..3 {
            threads.spawn(move || {
                let mut random = testkit::Random(slot as u64);
                loop {
                    let all = donated.load(SeqCst) == tasks.0.len();
                    let found =
                        sets.take(slot).or_else(|| sets.steal((slot + 1) % 3, |len| random.index(len)));
                    match found {
                        Some(task) => assert!(taken.lock().unwrap().insert(tasks.index(task)), "taken twice"),
                        None if all => return,
                        None => thread::yield_now(),
                    }
                }
            });
        }
    });
    assert_eq!(taken.into_inner().unwrap().len(), 3000);
    assert!(sets.is_empty());
}

#[test]
fn a_thiefs_choice_is_its_own() {
    // Any random number chooses an existing entry, and every entry can be chosen.
    let tasks = Tasks::of(&[(1, 10)]);
    let mut first = HashSet::new();
    for number in (0..40).chain([usize::MAX]) {
        let sets = Stealable::new(1);
        tasks.refs().for_each(|task| sets.add(Entry::Task(task)));
        first.insert(tasks.index(sets.steal(0, |len| number % len).expect("ten are there")));
        let rest: HashSet<_> =
            std::iter::from_fn(|| sets.steal(0, |len| number % len)).map(|task| tasks.index(task)).collect();
        assert_eq!(rest.len(), 9);
    }
    assert_eq!(first.len(), 10);
    let mut asked = false;
    assert!(Stealable::new(1).steal(0, |_| usize::from(std::mem::replace(&mut asked, true))).is_none());
    assert!(!asked, "a choice among none costs nothing");
}

#[test]
fn the_oldest_task_is_taken_first() {
    let (sets, tasks) = (Stealable::new(1), Tasks::of(&[(1, 100)]));
    let half = |half: usize| tasks.refs().skip(50 * half).take(50);
    half(0).for_each(|task| sets.add(Entry::Task(task)));
    let take = || sets.take(0).map(|task| tasks.index(task));
    assert!((0..20).all(|i| take() == Some(i)));
    half(1).for_each(|task| sets.add(Entry::Task(task)));
    assert!((20..100).all(|i| take() == Some(i)));
    assert_eq!(take(), None);
}

#[test]
fn tasks_of_a_scope_are_taken_from_all_sets() {
    let (sets, tasks) = (Stealable::new(4), Tasks::of(&[(1, 20), (2, 30)]));
    tasks.refs().for_each(|task| sets.add(Entry::Task(task)));
    assert!(sets.take_of(3, 3).is_none());
    let ones: HashSet<_> = std::iter::from_fn(|| sets.take_of(2, 1)).map(|task| tasks.index(task)).collect();
    assert_eq!(ones, (0..20).collect());
    assert_eq!(lengths(&sets).into_iter().sum::<usize>(), 30);
    assert_eq!(std::iter::from_fn(|| sets.take_of(0, 2)).count(), 30);
    assert!(sets.is_empty());
}

#[test]
fn a_scopes_tasks_are_looked_for_in_ones_own_set_first() {
    let (sets, tasks) = (Stealable::new(3), Tasks::of(&[(1, 60)]));
    tasks.refs().for_each(|task| sets.add(Entry::Task(task)));
    for slot in 0..3 {
        let before = lengths(&sets);
        assert!(before[slot] > 0 && sets.take_of(slot, 1).is_some());
        let taken: Vec<_> = lengths(&sets).iter().zip(&before).map(|(now, before)| before - now).collect();
        assert_eq!(taken, (0..3).map(|set| usize::from(set == slot)).collect::<Vec<_>>());
    }
}

#[test]
fn only_the_oldest_and_the_newest_are_looked_at() {
    // A set may be long, and a worker that looks for a scope's entries holds its lock meanwhile.
    let (sets, tasks) = (Stealable::new(1), Tasks::of(&[(2, 500), (1, 2), (2, 500), (3, 2)]));
    tasks.refs().for_each(|task| sets.add(Entry::Task(task)));
    let take_of = |scope| sets.take_of(0, scope).map(|task| tasks.index(task));
    assert_eq!(take_of(1), None);
    // The newest entry that is looked at comes from the new end; the oldest from the old end.
    assert_eq!(take_of(3), Some(1003));
    assert_eq!(take_of(2), Some(0));
    (1..480).for_each(|i| assert_eq!(sets.take(0).map(|task| tasks.index(task)), Some(i)));
    let take_of = |scope| sets.take_of(0, scope).map(|task| tasks.index(task));
    assert_eq!(take_of(1), Some(500), "the oldest first");
    assert_eq!(take_of(1), Some(501));
}

#[test]
fn calls_take_turns() {
    const QUANTUM: Duration = Duration::from_millis(1);
    let tasks = Tasks::of(&[(1, 100), (2, 100), (3, 2)]);
    let sets = Stealable::fair();
    let mut all = tasks.refs();
    all.by_ref().take(100).for_each(|task| sets.add(Entry::Task(task)));
    // The first call has used four turns when the others come.
    let first = sets.take(0).expect("there are tasks");
    assert_eq!((tasks.index(first), first.scope()), (0, 1));
    sets.charge(1, 4 * QUANTUM);
    all.for_each(|task| sets.add(Entry::Task(task)));
    let mut given = [1, 0, 0];
    let order: Vec<u64> = std::iter::from_fn(|| sets.take(5))
        .map(|entry| {
            // Within a call, the oldest task comes first.
            let call = entry.scope() as usize - 1;
            assert_eq!(tasks.index(entry), [0, 100, 200][call] + given[call]);
            given[call] += 1;
            // The third call's tasks take no time: they share a turn.
            sets.charge(entry.scope(), if call == 2 { Duration::ZERO } else { QUANTUM });
            entry.scope()
        })
        .collect();
    assert_eq!(order[..10], [2, 3, 3, 2, 2, 2, 1, 2, 1, 2]);
    assert_eq!(given, [100, 100, 2]);
    assert!(sets.is_empty());
}

#[test]
fn calls_of_one_task_keep_their_order() {
    let tasks = Tasks::of(&[(7, 1), (5, 1), (6, 1)]);
    let sets = Stealable::fair();
    tasks.refs().for_each(|task| sets.add(Entry::Task(task)));
    assert_eq!(sets.len(3), 3);
    assert_eq!(tasks.index(sets.take_of(2, 5).expect("it is there")), 1);
    assert!(sets.take_of(2, 5).is_none());
    let mut rest = tasks.refs();
    sets.add_behind(0, Entry::Task(rest.nth(1).expect("there are three")), Some(2));
    let order: Vec<usize> = std::iter::from_fn(|| sets.take_any(1)).map(|entry| tasks.index(entry)).collect();
    assert_eq!(order, [0, 2, 1]);
}

#[test]
fn an_entry_is_added_behind_the_oldest_ones() {
    for (sets, slot) in [(Stealable::new(1), 0), (Stealable::fair(), 3)] {
        let tasks = Tasks::of(&[(1, 6)]);
        let mut all = tasks.refs().map(Entry::Task);
        all.by_ref().take(3).for_each(|task| sets.add(task));
        let mut next = || all.next().expect("there are six");
        sets.add_behind(2, next(), Some(slot)); // before the third
        sets.add_behind(8, next(), Some(slot)); // there are not so many
        sets.add_behind(0, next(), Some(slot));
        let order: Vec<usize> =
            std::iter::from_fn(|| sets.take(slot)).map(|task| tasks.index(task)).collect();
        assert_eq!(order, [5, 0, 1, 3, 2, 4]);
    }
}

/// ProWS-R moves a deque from a random set into a set that has lost one (`rebalanceStealables`). Here the moves gain nothing, though one thread
/// does all the waking: each worker empties its own set, and then looks at all others. The greatest length is as often far above the mean
/// with the moves as without, and a worker finds an entry whenever there is one.
#[test]
fn moves_between_sets_do_not_even_them_out() {
    const SLOTS: usize = 8;
    const LIVE: usize = 50 * SLOTS;
    let run = |moves: bool| {
        let (sets, tasks) = (Stealable::new(SLOTS), Tasks::of(&[(1, LIVE)]));
        tasks.refs().for_each(|task| sets.add(Entry::Task(task)));
        let (mut greatest, rounds) = (0, 5000);
        for _ in 0..rounds {
            for slot in 0..SLOTS {
                let own = sets.take(slot);
                let from = if own.is_some() { slot } else { super::random(SLOTS) };
                let entry = own.or_else(|| sets.take_any(from)).expect("there are entries");
                let other = super::random(SLOTS);
                if moves && other != slot {
                    if let Some(moved) = sets.take(other) {
                        sets.add_behind(usize::MAX, moved, Some(slot));
                    }
                }
                // The task waits again, and the thread that wakes it adds it to a random set.
                sets.add(entry);
            }
            greatest += lengths(&sets).into_iter().max().expect("there are sets");
        }
        greatest as f64 / (rounds * LIVE / SLOTS) as f64
    };
    let mean = |moves| (0..10).map(|_| run(moves)).sum::<f64>() / 10.0;
    let (without, with) = (mean(false), mean(true));
    println!("greatest length over the mean: {without:.2} without moves, {with:.2} with them");
    assert!(without < 1.2 * with, "{without:.2} without moves, {with:.2} with them");
}
