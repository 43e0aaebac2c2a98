//! Both sorts with tiny leaves and grains, so that few elements take every path.

use super::merge_sort::MergeSort;
use super::quick_sort::QuickSort;
use super::{MIN_GRAIN, PARALLEL_LEN, SortPlan};
use furcate_pool::{Context, Executor, Inline};
use furcate_schedulers::DefaultExecutor;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use testkit::Random;

pub(super) fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut random = Random(seed);
    move || random.next()
}

/// Keys in many shapes.
pub(super) fn shapes(len: usize) -> Vec<Vec<u32>> {
    let of = |f: &dyn Fn(usize) -> usize| (0..len).map(|i| f(i) as u32).collect::<Vec<_>>();
    let mut next = random(len as u64);
    let numbers: Vec<usize> = (0..len).map(|_| next() as usize >> 1).collect();
    vec![
        of(&|i| i),
        of(&|i| len - i),
        of(&|_| 7),
        of(&|i| i / 3),
        of(&|i| (len - i) / 3),
        of(&|i| numbers[i]),
        of(&|i| numbers[i] % 3),
        of(&|i| i % 5),
        of(&|i| i % (len / 4).max(1)),
        of(&|i| (i + len / 2) % len.max(1)),
        of(&|i| (i + len.div_ceil(2)) % len.max(1)),
        of(&|i| i.min(len - i)),
        of(&|i| if i < len / 2 { i } else { numbers[i] % len }),
        of(&|i| if i < len / 2 { numbers[i] % len } else { i }),
        of(&|i| if i < len - len / 20 { i } else { numbers[i] % len }),
        of(&|i| if i == len / 3 { 0 } else { i }),
    ]
}

const PLANS: [SortPlan; 7] = [
    SortPlan { levels: 0, grain: 1 },
    SortPlan { levels: 1, grain: 1 },
    SortPlan { levels: 2, grain: 3 },
    SortPlan { levels: 3, grain: 40 },
    SortPlan { levels: 4, grain: 1 },
    SortPlan { levels: 20, grain: 7 },
    SortPlan { levels: 2, grain: 600 },
];

fn stably<T: Send, E: Executor>(
    v: &mut [T],
    is_less: impl Fn(&T, &T) -> bool + Sync,
    plan: SortPlan,
    executor: E,
) {
    let sort_leaf = |leaf: &mut [T]| leaf.sort_by(|a, b| ordering(&is_less, a, b));
    MergeSort { is_less: &is_less, sort_leaf, plan, executor }.sort(v);
}

fn unstably<T: Send, E: Executor>(
    v: &mut [T],
    is_less: impl Fn(&T, &T) -> bool + Sync,
    plan: SortPlan,
    executor: E,
) {
    let sort_leaf = |leaf: &mut [T]| leaf.sort_unstable_by(|a, b| ordering(&is_less, a, b));
    QuickSort { is_less: &is_less, sort_leaf, grain: plan.grain, executor }.sort(v);
}

fn ordering<T>(is_less: impl Fn(&T, &T) -> bool, a: &T, b: &T) -> std::cmp::Ordering {
    is_less(b, a).cmp(&is_less(a, b))
}

#[test]
fn sorts_as_std_does() {
    for len in [0, 1, 2, 3, 4, 5, 8, 17, 64, 300, 1001] {
        for keys in shapes(len) {
            // Quicksort takes elements of this size for large.
            let tagged: Vec<(u32, [usize; 2])> = keys.iter().copied().zip((0..).map(|i| [i; 2])).collect();
            let mut expected = tagged.clone();
            expected.sort_by_key(|&(key, _)| key);
            for plan in PLANS {
                let mut v = tagged.clone();
                stably(&mut v, |a, b| a.0 < b.0, plan, Inline);
                assert_eq!(v, expected, "{plan:?}, inline, {keys:?}");
                v.clone_from(&tagged);
                stably(&mut v, |a, b| a.0 < b.0, plan, DefaultExecutor::default());
                assert_eq!(v, expected, "{plan:?}, {keys:?}");
                v.clone_from(&tagged);
                unstably(&mut v, |a, b| a < b, plan, DefaultExecutor::default());
                assert_eq!(v, expected, "{plan:?}, unstable, {keys:?}");
                v.clone_from(&tagged);
                unstably(&mut v, |a, b| a.0 < b.0, plan, Inline);
                assert!(v.is_sorted_by_key(|&(key, _)| key), "{plan:?}, unstable, {keys:?}");
                v.sort_by_key(|&(_, tag)| tag);
                assert_eq!(v, tagged, "unstable, the same elements");
            }
        }
    }
}

/// The history of elements that are `Send` but not `Sync`.
struct Ledger {
    /// Number of comparisons of each element.
    compared: Vec<AtomicU32>,
    dropped: Vec<AtomicU32>,
    /// Number of comparisons until one panics.
    fuse: AtomicUsize,
}

struct Element<'a> {
    key: u32,
    id: usize,
    /// Number of comparisons of this element: a lost or stale copy would disagree with the ledger.
    compared: Cell<u32>,
    ledger: &'a Ledger,
}

impl Ledger {
    fn new(len: usize, fuse: usize) -> Self {
        let zeros = || (0..len).map(|_| AtomicU32::new(0)).collect();
        Ledger { compared: zeros(), dropped: zeros(), fuse: AtomicUsize::new(fuse) }
    }

    fn elements(&self, keys: &[u32]) -> Vec<Element<'_>> {
        let element = |(id, &key)| Element { key, id, compared: Cell::new(0), ledger: self };
        keys.iter().enumerate().map(element).collect()
    }

    /// Checks that all elements are there, once, with all changes that comparisons have made to them.
    fn check(&self, elements: Vec<Element<'_>>, about: &str) {
        let mut seen = vec![false; elements.len()];
        for element in &elements {
            assert!(
                !std::mem::replace(&mut seen[element.id], true),
                "{about}: {} is there twice",
                element.id
            );
            assert_eq!(element.compared.get(), self.compared[element.id].load(SeqCst), "{about}");
        }
        drop(elements);
        assert!(self.dropped.iter().all(|drops| drops.load(SeqCst) == 1), "{about}: each is dropped once");
    }
}

impl Drop for Element<'_> {
    fn drop(&mut self) {
        self.ledger.dropped[self.id].fetch_add(1, SeqCst);
    }
}

struct Planned;

/// Notes the comparison in both elements before it answers.
fn noting(a: &Element<'_>, b: &Element<'_>) {
    for element in [a, b] {
        element.compared.set(element.compared.get() + 1);
        element.ledger.compared[element.id].fetch_add(1, SeqCst);
    }
    if a.ledger.fuse.fetch_sub(1, SeqCst) == 0 {
        resume_unwind(Box::new(Planned));
    }
}

/// P2, I8: the n-th comparison panics, for every n.
#[test]
fn a_panic_in_any_comparison_loses_nothing() {
    let is_less = |a: &Element<'_>, b: &Element<'_>| {
        noting(a, b);
        a.key < b.key
    };
    let mut panics = 0;
    let lens = [(5, 0..15), (21, 0..15), (70, 5..7), (230, 6..7)];
    for (len, shape) in lens {
        for keys in &shapes(len)[shape] {
            for (plan, stable, inline) in PLANS
                .into_iter()
                .flat_map(|plan| [(plan, true, true), (plan, true, false), (plan, false, false)])
            {
                // If there are many comparisons, only some of them.
                let step = (len / 20).max(1);
                for fuse in (0..).step_by(step) {
                    let ledger = Ledger::new(len, fuse);
                    let mut v = ledger.elements(keys);
                    let outcome = catch_unwind(AssertUnwindSafe(|| match (stable, inline) {
                        (true, true) => stably(&mut v, is_less, plan, Inline),
                        (true, false) => stably(&mut v, is_less, plan, DefaultExecutor::default()),
                        _ => unstably(&mut v, is_less, plan, DefaultExecutor::default()),
                    }));
                    let sorted = v.is_sorted_by_key(|element| element.key);
                    ledger.check(v, "after a panic");
                    match outcome {
                        Err(payload) => assert!(payload.is::<Planned>()),
                        Ok(()) => {
                            assert!(sorted && fuse > 0);
                            break;
                        }
                    }
                    panics += 1;
                }
            }
        }
    }
    assert!(panics > 10_000, "only {panics}");
}

/// I8: an order that contradicts itself. (Whether std panics is up to the leaf.)
#[test]
fn an_inconsistent_order_loses_nothing() {
    for seed in 0..300 {
        let len = 3 + seed as usize % 90;
        let state = AtomicUsize::new(seed as usize);
        let is_less = |a: &Element<'_>, b: &Element<'_>| {
            noting(a, b);
            Random(state.fetch_add(1, SeqCst) as u64).next().is_multiple_of(2 + seed % 3)
        };
        for plan in PLANS {
            for stable in [true, false] {
                let ledger = Ledger::new(len, usize::MAX);
                let mut v = ledger.elements(&vec![0; len]);
                let _ = catch_unwind(AssertUnwindSafe(|| match stable {
                    true => stably(&mut v, is_less, plan, DefaultExecutor::default()),
                    false => unstably(&mut v, is_less, plan, Inline),
                }));
                ledger.check(v, "with random comparisons");
            }
        }
    }
}

/// An engine that panics at its n-th call: before either closure, between them, or after both.
#[derive(Clone)]
struct Failing<'a> {
    calls: &'a AtomicUsize,
    after: usize,
}

impl Executor for Failing<'_> {
    type Scope<'scope> = furcate_pool::detach::Alone;

    fn detached<'scope, B, R>(&self, body: B) -> R
    where
        B: FnOnce(&Self::Scope<'scope>) -> R + Send,
        R: Send,
    {
        body(&furcate_pool::detach::Alone)
    }

    fn join_context<A, B, RA, RB>(&self, left: A, right: B) -> (RA, RB)
    where
        A: FnOnce(Context) -> RA + Send,
        B: FnOnce(Context) -> RB + Send,
        RA: Send,
        RB: Send,
    {
        let fails = self.calls.fetch_sub(1, SeqCst) == 0;
        let fail = |after| {
            if fails && after == self.after {
                resume_unwind(Box::new(Planned));
            }
        };
        fail(0);
        let left = left(Context::new(false));
        fail(1);
        let right = right(Context::new(true));
        fail(2);
        (left, right)
    }

    fn num_threads(&self) -> usize {
        2
    }
}

/// A closure that is dropped unrun does not lose a part of a merge or a sorted half.
#[test]
fn an_engine_that_fails_loses_nothing() {
    let is_less = |a: &Element<'_>, b: &Element<'_>| {
        noting(a, b);
        a.key < b.key
    };
    for keys in shapes(53) {
        for (after, stable) in [(0, true), (1, true), (2, true), (1, false)] {
            for plan in PLANS {
                for calls in 0.. {
                    let ledger = Ledger::new(keys.len(), usize::MAX);
                    let mut v = ledger.elements(&keys);
                    let engine = Failing { calls: &AtomicUsize::new(calls), after };
                    let outcome = catch_unwind(AssertUnwindSafe(|| match stable {
                        true => stably(&mut v, is_less, plan, engine),
                        false => unstably(&mut v, is_less, plan, engine),
                    }));
                    ledger.check(v, "after a failed join");
                    if outcome.is_ok() {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn plans_have_a_leaf_for_each_thread() {
    assert!(SortPlan::new(usize::MAX, 1).is_none());
    assert!(SortPlan::new(PARALLEL_LEN - 1, 2).is_none());
    for threads in [2, 3, 4, 5, 8, 16, 17, 64, 1000] {
        for len in [PARALLEL_LEN, 10_000, 10_000_000, usize::MAX] {
            let plan = SortPlan::new(len, threads).unwrap();
            assert!(plan.levels >= 1 && plan.grain >= MIN_GRAIN);
            assert!(len >> plan.levels >= MIN_GRAIN / 2, "leaves are not too short: {plan:?}");
        }
        let levels = SortPlan::new(usize::MAX, threads).unwrap().levels;
        assert!(
            levels.is_multiple_of(2)
                && 1 << levels >= threads
                && 1 << levels < 4 * threads.next_power_of_two()
        );
    }
    assert!(SortPlan::new(usize::MAX, usize::MAX).is_some_and(|plan| plan.grain == MIN_GRAIN));
}
