//! The merge sort of the example: every combination of schedules against std's stable sort, on every pool.

use crate::merge_sort_example::sort::{MergeBy, MergeSort};
use furcate::{Inline, Plan, Policy, Schedule};
use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use testkit::{Random, on_pools};

/// A key that is compared, and a tag that tells equal keys apart.
type Item = (u32, usize);

/// A comparison of any kind.
type Compare<'a> = &'a (dyn Fn(&Item, &Item) -> Ordering + Sync);

/// A sort by any comparison.
type Sort = dyn Fn(&mut [Item], Compare<'_>) + Sync;

/// A schedule for each level, and the way of merging.
struct Combination {
    name: String,
    sort: Box<Sort>,
}

fn by_key(a: &Item, b: &Item) -> Ordering {
    a.0.cmp(&b.0)
}

/// Both ways of merging, under a schedule for each level.
fn add<S, M>(to: &mut Vec<Combination>, name: &str, sort_level: S, merge_level: M)
where
    S: Schedule + Clone + Sync + 'static,
    M: Schedule + Clone + Sync + 'static,
{
    for merge_by in [MergeBy::Iterators, MergeBy::Slices] {
        let sort = MergeSort { sort_level: sort_level.clone(), merge_level: merge_level.clone(), merge_by };
        to.push(Combination {
            name: format!("{name}, {merge_by:?}"),
            sort: Box::new(move |slice, compare| sort.sort_by(slice, compare)),
        });
    }
}

/// The 18 combinations of the paper's kind (Kvik, Section 3.6.1), with both ways of merging.
fn combinations() -> Vec<Combination> {
    fn by_policy<P: Policy + Sync + 'static>(to: &mut Vec<Combination>, name: &str, plan: Plan<P>) {
        by_scheduler(to, &format!("{name}, join"), plan.clone().join());
        by_scheduler(to, &format!("{name}, depjoin"), plan.depjoin());
    }
    fn by_scheduler<S: Schedule + Clone + Sync + 'static>(to: &mut Vec<Combination>, name: &str, plan: S) {
        add(to, &format!("{name}, adaptive"), plan.clone(), Plan::new().adaptive());
        add(to, &format!("{name}, thief_splitting"), plan.clone(), Plan::new().thief_splitting(3));
        add(to, &format!("{name}, sequential"), plan, Plan::new().sequential());
    }
    let mut all = Vec::new();
    by_policy(&mut all, "bound_depth", Plan::new().bound_depth(3));
    by_policy(&mut all, "join_context", Plan::new().join_context_policy(4));
    by_policy(&mut all, "thief_splitting", Plan::new().thief_splitting(2));
    assert_eq!(all.len(), 2 * 18);
    all
}

/// Schedules that divide unevenly, down to single elements, by blocks, on demand, or not at all.
fn odd_combinations() -> Vec<Combination> {
    let it = Plan::new;
    let mut all = Vec::new();
    add(&mut all, "the default", it(), it());
    add(&mut all, "size_limit(1)", it().size_limit(1), it().size_limit(1));
    add(&mut all, "cap", it().size_limit(9).cap(3), it().cap(2).adaptive().nano_blocks(1, 3));
    add(&mut all, "force_depth", it().force_depth(5), it().force_depth(3).depjoin());
    add(&mut all, "sequential", it().sequential(), it().bound_depth(2));
    add(&mut all, "adaptive", it().adaptive().nano_blocks(16, 64), it().size_limit(5).adaptive());
    add(&mut all, "blocks", it().by_blocks([1, 50, 3]), it().by_uniform_blocks(7));
    add(&mut all, "blocks of trees", it().bound_depth(3).by_uniform_blocks(60), it().by_exponential_blocks());
    add(&mut all, "inline", it().join_context_policy(5).on(Inline), it().thief_splitting(4).on(Inline));
    all
}

/// A scrambled number.
fn mix(x: usize) -> u32 {
    Random::nth(x as u64) as u32
}

/// Returns keys in one of six shapes.
fn shape(number: usize, len: usize) -> Vec<Item> {
    let key = |i: usize| match number % 6 {
        0 => mix(i),
        1 => i as u32,
        2 => (len - i) as u32,
        3 => mix(i) % 3,
        4 => i as u32 % 100,
        _ => (i as u32).min((len - i) as u32) / 2,
    };
    (0..len).map(|i| (key(i), i)).collect()
}
const SHAPES: usize = 6;

fn check(combination: &Combination, items: &[Item]) {
    let (mut ours, mut stds) = (items.to_vec(), items.to_vec());
    (combination.sort)(&mut ours, &by_key);
    stds.sort_by(by_key);
    assert!(ours == stds, "{} items, {}", items.len(), combination.name);
}

#[test]
fn as_std_on_every_pool() {
    on_pools(|| {
        for (number, combination) in combinations().iter().chain(&odd_combinations()).enumerate() {
            for len in [0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 255, 256, 257] {
                check(combination, &shape(number + len, len));
            }
            for shapes in [number, number / SHAPES] {
                check(combination, &shape(shapes, 1025));
            }
            check(combination, &shape(number + 1, 3001 + number));
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn runs_of_any_lengths(
        runs in proptest::collection::vec((0..200_usize, 0..50_u32, 0..3_u8), 0..8),
        number in 0..54_usize,
    ) {
        let keys = runs.into_iter().flat_map(|(len, from, kind)| (0..len).map(move |i| match kind {
            0 => from + i as u32 / 7,
            1 => from + (len - i) as u32,
            _ => mix(i) % (from + 1),
        }));
        let items: Vec<Item> = keys.zip(0..).collect();
        let (mut ours, mut stds) = (items.clone(), items);
        let mut all = combinations();
        all.extend(odd_combinations());
        (all[number].sort)(&mut ours, &by_key);
        stds.sort_by(by_key);
        prop_assert_eq!(ours, stds, "{}", all[number].name);
    }
}

/// Elements of every kind that is `Copy`, and several orders.
#[test]
fn elements_and_orders() {
    for merge_by in [MergeBy::Iterators, MergeBy::Slices] {
        let sort = MergeSort {
            sort_level: Plan::new().bound_depth(3),
            merge_level: Plan::new().adaptive(),
            merge_by,
        };
        let items = shape(0, 3000);
        let mut words: Vec<&str> =
            items.iter().map(|x| ["fig", "nut", "apple", "plum"][x.1 * 7 % 4]).collect();
        let mut large: Vec<[u64; 9]> = items.iter().map(|x| [u64::from(x.0); 9]).collect();
        let mut floats: Vec<f64> = items.iter().map(|x| f64::from(x.0) - 1e9).collect();
        let mut nothing = vec![(); 3000];
        let mut references: Vec<&Item> = items.iter().collect();

        let mut expected = words.clone();
        expected.sort_by_key(|word| word.len());
        sort.sort_by(&mut words, |a, b| a.len().cmp(&b.len()));
        assert_eq!(words, expected);
        sort.sort_by(&mut large, Ord::cmp);
        assert!(large.is_sorted());
        sort.sort_by(&mut floats, f64::total_cmp);
        assert!(floats.is_sorted());
        sort.sort_by(&mut nothing, Ord::cmp);
        sort.sort_by(&mut references, Ord::cmp);
        assert!(references.is_sorted());
    }
}

/// Sorts by a comparison that may panic, and checks that the slice has its elements afterwards. Returns whether the
/// sort returned.
fn check_kept(combination: &Combination, len: usize, compare: Compare<'_>) -> bool {
    let mut items = shape(0, len);
    let returned = catch_unwind(AssertUnwindSafe(|| (combination.sort)(&mut items, compare))).is_ok();
    let mut tags: Vec<usize> = items.iter().map(|x| x.1).collect();
    tags.sort_unstable();
    assert!(tags.into_iter().eq(0..len), "all are there, each once: {}", combination.name);
    assert!(items.iter().all(|x| x.0 == mix(x.1)), "and nothing else is");
    returned
}

/// I8, P2: wherever a comparison panics, the slice has its elements.
#[test]
fn a_panicking_comparison_loses_nothing() {
    const LEN: usize = 700;
    on_pools(|| {
        for combination in combinations().iter().chain(&odd_combinations()) {
            let comparisons = AtomicUsize::new(0);
            let counting = |a: &Item, b: &Item| {
                comparisons.fetch_add(1, SeqCst);
                by_key(a, b)
            };
            assert!(check_kept(combination, LEN, &counting));
            let all = comparisons.into_inner();
            // Panics in the leaves, and in the merges at the end, one of which goes home.
            let fuses = [0, 1, all / 2].into_iter().chain((1..8).map(|i| all - all * i / 32));
            let mut panics = 0;
            for fuse in fuses {
                let left = AtomicUsize::new(fuse);
                let failing = |a: &Item, b: &Item| {
                    if left.fetch_sub(1, SeqCst) == 0 {
                        std::panic::resume_unwind(Box::new("planned"));
                    }
                    by_key(a, b)
                };
                panics += usize::from(!check_kept(combination, LEN, &failing));
            }
            // The number of comparisons depends on the steals.
            assert!(panics >= 3, "{panics} panics: {}", combination.name);
        }
    });
}

/// I8: a comparison that contradicts itself, at random or by a rule.
#[test]
fn an_inconsistent_comparison_loses_nothing() {
    on_pools(|| {
        for combination in combinations().iter().chain(&odd_combinations()) {
            let calls = AtomicUsize::new(0);
            let whim = |_: &Item, _: &Item| match mix(calls.fetch_add(1, SeqCst)) % 3 {
                0 => Ordering::Less,
                1 => Ordering::Equal,
                _ => Ordering::Greater,
            };
            let rock_paper_scissors = |a: &Item, b: &Item| ((a.0 % 3 + 4 - b.0 % 3) % 3).cmp(&1);
            // std's sort may panic when it notices the contradiction.
            check_kept(combination, 700, &whim);
            check_kept(combination, 700, &rock_paper_scissors);
            check_kept(combination, 700, &|_, _| Ordering::Less);
            check_kept(combination, 700, &|_, _| Ordering::Greater);
        }
    });
}

/// I4: as in every merge sort no element is compared more often than there are levels, and std's sort does the rest.
#[test]
fn comparisons() {
    let comparisons = AtomicUsize::new(0);
    let mut items = shape(0, 1 << 14);
    let counting = |a: &Item, b: &Item| {
        comparisons.fetch_add(1, SeqCst);
        by_key(a, b)
    };
    let (sort_level, merge_level) = (Plan::new().bound_depth(4), Plan::new().sequential());
    MergeSort { sort_level, merge_level, merge_by: MergeBy::Slices }.sort_by(&mut items, counting);
    let in_parts = comparisons.swap(0, SeqCst);
    let mut items = shape(0, 1 << 14);
    items.chunks_mut(1 << 10).for_each(|leaf| leaf.sort_by(counting));
    let in_leaves = comparisons.into_inner();
    let in_merges = in_parts - in_leaves;
    // 4 levels of merges, each cut into four lanes for every merge.
    assert!((3 << 14..(4 << 14) + 15 * 3 * 14).contains(&in_merges), "{in_merges} comparisons in merges");
}
