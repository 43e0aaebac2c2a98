//! `flat_map` and `flatten` divide inner iterators, under the chain's own schedule.

use crate::support::assert_schedules;
use furcate::Inline;
use furcate::policy::{AnyPolicy, BoundDepth, CancelToken};
use furcate::prelude::*;
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{ThreadId, current, sleep, yield_now};
use std::time::{Duration, Instant};
use testkit::drops::Ledger;
use testkit::panics::{planned_panic, survives};
use testkit::{on_pools, pools};

/// The threads that have computed something. Each waits, for a while, until there are as many as the pool has.
struct Threads {
    seen: Mutex<HashSet<ThreadId>>,
    begun: Instant,
}

impl Threads {
    fn new() -> Self {
        Threads { seen: Mutex::default(), begun: Instant::now() }
    }

    fn meet(&self, threads: usize) {
        self.seen.lock().unwrap().insert(current().id());
        while self.count() < threads && self.begun.elapsed() < Duration::from_secs(20) {
            yield_now();
        }
    }

    fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

/// As in rayon: one outer item keeps all threads busy.
#[test]
fn one_outer_item_is_for_all_threads() {
    for threads in [1, 2, 3, 8] {
        let pool = testkit::pool(threads);
        let one = || (0..1).into_par_iter().flat_map(|_| 0..20_000_usize);
        macro_rules! check {
            ($chain:expr) => {{
                let met = Threads::new();
                let sum = pool.install(|| $chain.inspect(|_| met.meet(threads)).sum::<usize>());
                assert_eq!(sum, 199_990_000);
                // While a thread waits, another one may replace it.
                assert!(
                    met.count() >= threads,
                    "{} of {threads} threads: {}",
                    met.count(),
                    stringify!($chain)
                );
            }};
        }
        check!(one());
        check!(one().size_limit(0).bound_depth(5).depjoin());
        check!((0..1).into_par_iter().map(|_| (0..20_000_usize).collect::<Vec<_>>()).flatten());
        check!((0..10).into_par_iter().filter(|x| *x == 7).flat_map(|_| 0..20_000_usize).force_depth(7));
        // The only item of another `flat_map`, or beside an empty side of a `chain`.
        check!((0..1).into_par_iter().chain(None).flat_map(|_| 0..20_000_usize));
        check!((0..1).into_par_iter().flat_map(|_| 0..1).flat_map(|_| 0..20_000_usize));
        check!(
            (0..1)
                .into_par_iter()
                .flat_map(|_| 0..3)
                .filter(|x| *x == 1)
                .flat_map(|_| 0..20_000_usize)
                .force_depth(7)
        );
    }
}

/// Thieves that ask during an inner iteration get a part of it. (An item must not wait for them: a task looks for
/// thieves between its loops.)
#[test]
fn an_adaptive_task_divides_its_last_inner_iterator() {
    for threads in [2, 3, 8] {
        let pool = testkit::pool(threads);
        for outer in [1, 5] {
            let (met, begun) = (Threads::new(), Instant::now());
            let rows = |x: usize| if x + 1 == outer { 0..usize::MAX } else { 0..3 };
            let chain = (0..outer).into_par_iter().adaptive().flat_map(rows).map(|_| {
                met.meet(1);
                sleep(Duration::from_micros(10));
            });
            // The endless iterator ends when every thread has a part, or after 20 s.
            let enough = || met.count() >= threads || begun.elapsed() > Duration::from_secs(20);
            pool.install(|| chain.any(|()| enough()));
            assert!(met.count() >= threads, "{} threads", met.count());
        }
    }
}

/// As in rayon: several threads work on a long inner iterator in the middle of a task, wherever it lies.
#[test]
fn a_long_inner_iterator_amid_a_task_is_divided() {
    for size in [1_usize, 2, 8] {
        let (pool, threads) = (testkit::pool(size), size.min(2));
        for place in [0, 517, 999] {
            let source = move || (0..1000_usize).into_par_iter();
            let rows = move |x: usize| if x == place { 0..50_000_usize } else { 0..1 };
            macro_rules! check {
                ($chain:expr) => {{
                    let met = Threads::new();
                    let meet = |x: &usize| {
                        if *x > 0 {
                            met.meet(threads);
                        }
                    };
                    let sum = pool.install(|| $chain.inspect(meet).sum::<usize>());
                    assert_eq!(sum, 49_999 * 25_000);
                    // While a thread waits, another one may replace it.
                    assert!(
                        met.count() >= threads,
                        "{} threads: {place}, {}",
                        met.count(),
                        stringify!($chain)
                    );
                }};
            }
            check!(source().flat_map(rows));
            check!(source().flat_map(rows).depjoin());
            check!(source().filter(|x| *x < 1000).flat_map(rows).map(|x| x).thief_splitting(6));
            check!(source().flat_map(rows).size_limit(500));
            check!(source().map(|x| rows(x).collect::<Vec<_>>()).flatten().filter(|_| true));
            check!(source().flat_map(|x| rows(x).into_par_iter().filter(|_| true)));
            check!(source().flat_map(rows).fold(|| 0, |a, b| a + b));
        }
    }
}

/// Thieves that ask while a long inner iterator is walked get a part of it, and the items behind it.
#[test]
fn an_adaptive_task_divides_a_long_inner_iterator_amid_others() {
    for threads in [2, 3, 8] {
        let pool = testkit::pool(threads);
        for place in [0, 1, 500, 517, 999] {
            let (met, begun) = (Threads::new(), Instant::now());
            let rows = |x: usize| if x == place { 0..usize::MAX } else { 0..3 };
            let chain = (0..1000).into_par_iter().adaptive().flat_map(rows).map(|x| {
                if x > 2 {
                    met.meet(1);
                    sleep(Duration::from_micros(10));
                }
            });
            // The endless iterator is walked to its end only if no thief comes.
            let enough = || met.count() >= threads || begun.elapsed() > Duration::from_secs(20);
            pool.install(|| chain.any(|()| enough()));
            assert!(met.count() >= threads, "{} threads", met.count());
        }
    }
}

/// A task is divided at long inner iterators if its policy says so, and the policy decides how long the parts are.
#[test]
fn policies_are_asked_about_long_inner_iterators() {
    let tasks = |limit| {
        let rows = |x| if x == 3 { 0..8000 } else { 0..1 };
        let chain = (0..8).into_par_iter().flat_map(rows).fold(|| 0, |count, _| count + 1).on(Inline);
        chain.size_limit(limit).collect::<Vec<usize>>()
    };
    assert_eq!(tasks(10_000), [8007], "all of it is within the limit");
    let parts = tasks(1000);
    assert_eq!(parts.iter().sum::<usize>(), 8007);
    assert!(parts.iter().all(|part| *part <= 1000), "{parts:?}");
    assert!(parts.len() < 20, "no more than needed: {parts:?}");
    assert_eq!(parts[0], 3, "what has been done before is a part");
    let one = (0..1).into_par_iter().flat_map(|_| 0..8000).fold(|| 0, |count, _| count + 1).on(Inline);
    let parts = one.size_limit(1000).collect::<Vec<usize>>();
    assert!(parts.iter().all(|part| *part <= 1000), "{parts:?}");
    // Division trees that are counted from the root are kept.
    let rows = |x| if x == 3 { 0..8000 } else { 0..1 };
    let flat = || (0..8).into_par_iter().flat_map(rows).fold(|| 0, |count, _| count + 1).on(Inline);
    assert_eq!(flat().bound_depth(1).collect::<Vec<usize>>(), [8003, 4]);
    assert_eq!(flat().sequential().collect::<Vec<usize>>(), [8007]);
    assert_eq!(flat().collect::<Vec<usize>>(), [8007], "one thread");
    assert_eq!(flat().cap(1).size_limit(1000).collect::<Vec<usize>>(), [8007], "no fork is allowed");
}

/// Inner iterators of about the same length divide a task once, not each time.
#[test]
fn even_inner_iterators_make_few_tasks() {
    for pool in pools() {
        let flat = (0..20_000).into_par_iter().flat_map(|_| 0..300).fold(|| 0, |count, _| count + 1);
        let tasks = pool.install(|| flat.collect::<Vec<usize>>());
        assert_eq!(tasks.iter().sum::<usize>(), 6_000_000);
        let threads = pool.current_num_threads();
        // A division at each of them would make more than 40,000 tasks. (More threads than processors steal more, and
        // every steal divides.)
        assert!(tasks.len() <= 20_000 / 2, "{} tasks on {threads} threads", tasks.len());
    }
}

/// Returns the sizes of the tasks that a schedule makes of the items, on one thread.
macro_rules! tasks {
    (|$it:ident| $schedule:expr) => {{
        let $it = (0..1).into_par_iter().flat_map(|_| 0..1000).fold(|| 0, |count, _| count + 1).on(Inline);
        $schedule.collect::<Vec<usize>>()
    }};
}

/// Policies treat inner parts like outer ones; `sequential` and `cap` keep their meaning.
#[test]
fn inner_parts_are_divided_by_the_chains_policy() {
    assert_eq!(tasks!(|it| it.bound_depth(3)), [125; 8]);
    assert_eq!(tasks!(|it| it.bound_depth(3).depjoin()), [125; 8]);
    assert_eq!(tasks!(|it| it.force_depth(2)), [250; 4]);
    assert_eq!(tasks!(|it| it.force_depth(2).adaptive()), [250; 4]);
    assert_eq!(tasks!(|it| it), [1000], "one thread");
    assert_eq!(tasks!(|it| it.adaptive()), [1000], "nobody asks");
    assert_eq!(tasks!(|it| it.bound_depth(3).sequential()), [1000]);
    assert_eq!(tasks!(|it| it.bound_depth(3).cap(1)), [1000]);
    for pool in pools() {
        let met = Threads::new();
        let chain = || (0..3).into_par_iter().flat_map(|_| 0..1000).inspect(|_| met.meet(1));
        pool.install(|| {
            assert_eq!(chain().cap(1).count(), 3000);
            assert_eq!(chain().sequential().count(), 3000);
        });
        assert!(met.count() == 1, "cap(1) and sequential() are one thread");
    }
}

/// Inner iterators' own policies and schedulers are not used.
#[test]
fn the_inner_schedule_is_not_used() {
    let flat = (0..1).into_par_iter().flat_map(|_| (0..1000).into_par_iter().bound_depth(0).sequential());
    let tasks: Vec<usize> = flat.fold(|| 0, |count, _| count + 1).bound_depth(2).on(Inline).collect();
    assert_eq!(tasks, [250; 4]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn as_in_std(lens in proptest::collection::vec(prop_oneof![4 => 0..4_usize, 1 => 0..3000_usize], 0..40)) {
        let expected: Vec<_> = lens.iter().enumerate().flat_map(|(i, &len)| (0..len).map(move |x| (i, x))).collect();
        let rows = |i: usize| (0..lens[i]).into_par_iter().map(move |x| (i, x));
        let vectors = |i: usize| (0..lens[i]).map(move |x| (i, x)).collect::<Vec<_>>();
        let source = || (0..lens.len()).into_par_iter();
        on_pools(|| {
            assert_schedules!(expected, source(), |it| it.map(vectors).flatten().collect::<Vec<_>>());
            assert_schedules!(expected, source().flat_map(rows), |it| it.collect::<Vec<_>>());
            assert_schedules!(expected, source().flat_map(|i| (i..=i).into_par_iter().flat_map(rows)), |it| it
                .collect::<Vec<_>>());
            assert_schedules!(expected, source().flat_map(|i| i..i + 1).flat_map(rows), |it| it.collect::<Vec<_>>());
            let longest = lens.iter().max().copied().unwrap_or(0);
            let filtered = || source().filter(|i| lens[*i] == longest).flat_map(rows);
            let some: Vec<_> = expected.iter().copied().filter(|(i, _)| lens[*i] == longest).collect();
            assert_schedules!(some, filtered(), |it| it.collect::<Vec<_>>());
            let twice = [expected.clone(), expected.clone()].concat();
            assert_schedules!(twice, source().flat_map(rows).chain(source().flat_map(rows)), |it| it.collect::<Vec<_>>());
            // Cut anywhere, and searched from both ends.
            let hit = expected.iter().position(|(_, x)| *x == 2).map(|place| expected[place]);
            assert_schedules!(hit, source().flat_map(rows), |it| it.find_first(|(_, x)| *x == 2));
            let last = expected.iter().rposition(|(_, x)| *x == 2).map(|place| expected[place]);
            assert_schedules!(last, source().flat_map(rows), |it| it.find_last(|(_, x)| *x == 2));
            assert_schedules!(last, source().flat_map(|i| i..i + 1).flat_map(rows), |it| it.find_last(|(_, x)| *x == 2));
        });
    }
}

/// Searches end in inner parts as they do elsewhere.
#[test]
fn early_ends() {
    let looks = AtomicUsize::new(0);
    let endless = || (0..3).into_par_iter().flat_map(|_| (0..u64::MAX).into_par_iter());
    for pool in pools() {
        pool.install(|| {
            assert_eq!(endless().find_first(|&x| x == 70_000), Some(70_000));
            assert_eq!(endless().find_any(|&x| x % 1000 == 5).map(|x| x % 1000), Some(5));
            assert_eq!(
                endless().map(|x| if x == 9 { Err(x) } else { Ok(x) }).try_for_each(|x| x.map(drop)),
                Err(9)
            );
        });
    }
    let hit = (0..1).into_par_iter().flat_map(|_| 0..100_000).on(Inline).find_first(|x| {
        looks.fetch_add(1, Relaxed);
        *x == 10
    });
    assert_eq!((hit, looks.into_inner()), (Some(10), 11));
    // An outer item that makes endlessly many items is not collected, and neither is the iterator before it.
    let first = (0..1).into_par_iter().flat_map_iter(|_| 0_u64..).flat_map(|x| [x, x]).bound_depth(4);
    assert_eq!(first.find_first(|&x| x == 1000), Some(1000));
}

/// A search from the back begins with the last item of the last inner iterator, however many items there are.
#[test]
fn the_last_of_endlessly_many() {
    const MANY: u64 = 1_000_000_000;
    let endless = || (0..3).into_par_iter().flat_map(|_| (0..u64::MAX).into_par_iter());
    let octillion = || {
        let quintillion =
            (0..MANY).into_par_iter().flat_map(|i| (0..MANY).into_par_iter().map(move |j| (i, j)));
        quintillion
            .map(|(i, j)| u128::from(i * MANY + j))
            .flat_map(|ij| (0..MANY).into_par_iter().map(move |k| ij * u128::from(MANY) + u128::from(k)))
    };
    let last = u128::from(MANY).pow(3) - 1;
    for pool in pools() {
        pool.install(|| {
            assert_eq!(endless().find_last(|_| true), Some(u64::MAX - 1));
            assert_eq!(endless().find_last(|x| *x < u64::MAX - 70_000), Some(u64::MAX - 70_001));
            let chained = (0..10).into_par_iter().chain(None::<u64>).flat_map(|_| 0..u64::MAX);
            assert_eq!(chained.find_last(|_| true), Some(u64::MAX - 1));
            assert_eq!(octillion().find_last(|_| true), Some(last));
            assert_eq!(octillion().find_last(|x| x % 70_001 == 5), Some(last - (last - 5) % 70_001));
        });
    }
    let looks = AtomicUsize::new(0);
    let hit = octillion().on(Inline).find_last(|x| {
        looks.fetch_add(1, Relaxed);
        *x % 10 == 0
    });
    assert_eq!(hit, Some(last - 9));
    assert!(looks.into_inner() <= 20, "ten, in blocks that double");
    // Then blocks are of outer items again: the first is the second last one.
    let looks = AtomicUsize::new(0);
    let two =
        (0..MANY).into_par_iter().flat_map(|i| (0..MANY / 100_000).into_par_iter().map(move |j| (i, j)));
    let hit = two.on(Inline).find_last(|(i, _)| {
        looks.fetch_add(1, Relaxed);
        *i < MANY - 1
    });
    assert_eq!(hit, Some((MANY - 2, MANY / 100_000 - 1)));
    assert!(looks.into_inner() <= 30_000, "the last one, and the one before it");
    // If outer items make nothing, the ones before them count.
    let some = |empty: u64| {
        (0..100 + empty)
            .into_par_iter()
            .flat_map(move |x| 0..if x < 100 { u64::MAX } else { 0 })
            .map(|x| 10 * (x / 10))
    };
    for empty in [0, 1, 7] {
        assert_eq!(some(empty).find_last(|_| true), Some(u64::MAX / 10 * 10));
    }
}

/// Fronts that turn out to be empty, because a gate inside has closed, do not end the search.
#[test]
fn a_search_from_the_back_passes_closed_gates() {
    on_pools(|| {
        let one_each =
            (0..4).into_par_iter().flat_map(|i| (0..100).into_par_iter().map(move |x| (i, x)).take_any(1));
        assert_eq!(one_each.find_last(|(i, _)| *i == 0).map(|(i, _)| i), Some(0));
        let one = (0..1).into_par_iter().flat_map(|_| 100..200).take_any(1);
        assert_eq!((0..10).into_par_iter().chain(one).find_last(|x| *x < 10), Some(9));
        // Fronts of an end that could not be counted.
        let endless = |i: u64| (0..u64::MAX).into_par_iter().map(move |x| (i, x));
        let hit = endless(0).chain(endless(1).take_any(5)).find_last(|(i, _)| *i == 0);
        assert_eq!(hit, Some((0, u64::MAX - 1)));
    });
}

/// A search from the back cuts no pieces, and makes nothing once the call is stopped. The sizes of blocks that are named hold.
#[test]
fn a_search_from_the_back_keeps_to_what_the_chain_says() {
    on_pools(|| {
        let pieces = || (0..1).into_par_iter().flat_map(|_| (0..100).wrap_iter()).bound_depth(0);
        assert_eq!(pieces().find_last(|piece| piece.len() == 100), Some(0..100));
        let further_in = || {
            (0..1)
                .into_par_iter()
                .flat_map(move |_| (0..1).into_par_iter().flat_map(|_| (0..100).wrap_iter()))
        };
        assert_eq!(further_in().bound_depth(0).find_last(|piece| piece.len() == 100), Some(0..100));
        let beside = (0..1).into_par_iter().flat_map(|_| vec![0..5, 0..6]).chain(pieces()).bound_depth(0);
        assert_eq!(beside.find_last(|piece| piece.len() == 100), Some(0..100));
        let token = CancelToken::new();
        token.cancel();
        let made = AtomicUsize::new(0);
        let numbers = (0..10_u64).into_par_iter().flat_map(|_| {
            made.fetch_add(1, Relaxed);
            0..u64::MAX
        });
        assert_eq!(numbers.stop_on(&token).find_last(|_| true).ok(), None);
        assert_eq!(made.into_inner(), 0);
    });
    let looks = AtomicUsize::new(0);
    let rows = || (0..100).into_par_iter().flat_map(|i| (0..10).into_par_iter().map(move |x| (i, x)));
    let found = rows().by_blocks([50]).on(Inline).find_last(|_| looks.fetch_add(1, Relaxed) < 1);
    assert_eq!((found, looks.into_inner()), (Some((50, 0)), 500));
}

/// A task has one state, and no outer item is computed twice.
#[test]
fn outer_states_and_items_are_made_once() {
    let (states, items) = (AtomicUsize::new(0), AtomicUsize::new(0));
    for adaptive in [false, true] {
        let chain = (0..50)
            .into_par_iter()
            .map_init(|| states.fetch_add(1, Relaxed), |_, x| x)
            .inspect(|_| {
                items.fetch_add(1, Relaxed);
            })
            .flat_map(|x| 0..x)
            .on(Inline);
        let count = if adaptive { chain.adaptive().count() } else { chain.count() };
        assert_eq!((count, states.swap(0, Relaxed), items.swap(0, Relaxed)), (49 * 25, 1, 50));
    }
    for pool in pools() {
        pool.install(|| {
            (0..100)
                .into_par_iter()
                .inspect(|_| {
                    items.fetch_add(1, Relaxed);
                })
                .flat_map(|x| 0..x)
                .count()
        });
        assert_eq!(items.swap(0, Relaxed), 100);
    }
}

/// Items owned by inner iterators are dropped once, also after a panic.
#[test]
fn owned_inner_items_are_dropped_once() {
    let ledger = Ledger::default();
    let rows = || (0..5).into_par_iter().flat_map(|n| ledger.values(100 * n));
    on_pools(|| {
        assert_schedules!(1000, rows(), |it| it.count());
        assert_schedules!(true, rows(), |it| it.any(|value| value.number == 30));
    });
    for pool in pools() {
        survives(|| {
            pool.install(|| {
                rows().bound_depth(6).for_each(|value| {
                    if value.number == 77 {
                        planned_panic()
                    }
                });
            });
        });
    }
    ledger.assert_settled("");
}

/// A gate in an inner iterator ends that iterator, and neither the task that walks it nor the call.
#[test]
fn a_gate_inside_ends_its_own_iterator() {
    fn check(chain: impl ParallelIterator<Item = u32>, name: &str, len: u32) {
        assert_eq!(chain.count(), 4 * 5, "{name} of {len}");
    }
    let pool = furcate::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for len in [10, 65, 257, 1000] {
        let inner = move || (0..len).into_par_iter();
        macro_rules! under_all {
            ($name:literal, $flat:expr) => {
                for policy in [AnyPolicy::default(), BoundDepth::new(0).into()] {
                    let flat = || $flat.with_policy(policy.clone());
                    check(flat(), $name, len);
                    check(flat().on(&pool), $name, len);
                    check(flat().depjoin(), $name, len);
                    check(flat().adaptive(), $name, len);
                    check(flat().with_scheduler(furcate::Suspending::new()), $name, len);
                    check(flat().sequential(), $name, len);
                }
            };
        }
        let outer = || (0..4_u32).into_par_iter();
        under_all!("take_any", outer().flat_map(move |_| inner().take_any(5)));
        under_all!("mapped", outer().flat_map(move |_| inner().take_any(5).map(|x| x + 1)));
        under_all!("flatten", outer().map(move |_| inner().take_any(5)).flatten());
        // In one task each, so that the items before the gate closes are counted exactly.
        under_all!(
            "while_some",
            outer().flat_map(move |_| inner().map(|x| (x < 5).then_some(x)).while_some()).bound_depth(0)
        );
    }
}
