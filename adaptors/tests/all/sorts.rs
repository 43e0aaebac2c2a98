//! Sorts of slices against std's, on every pool, at lengths on both sides of the parallel threshold.
//!
//! Panics at every comparison, and the paths of few elements, are tested beside the code.

use furcate::prelude::*;
use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
use std::cell::Cell;
use std::cmp::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use testkit::drops::{DropCounter, Ledger};
use testkit::panics::{planned_panic, survives};
use testkit::{Random, on_pools, pools};

const LENGTHS: [usize; 12] = [0, 1, 2, 3, 63, 64, 65, 4095, 4096, 4097, 8193, 20_011];

/// A scrambled number.
fn mix(x: usize) -> u64 {
    Random::nth(x as u64)
}

/// Keys in many shapes.
fn shapes(n: usize) -> Vec<Vec<u64>> {
    let of = |f: &dyn Fn(usize) -> u64| (0..n).map(f).collect::<Vec<_>>();
    vec![
        of(&mix),
        of(&|i| i as u64),
        of(&|i| (n - i) as u64),
        of(&|i| (n - i) as u64 / 2),
        of(&|i| mix(i) % 5),
        of(&|i| i as u64 % 100),
        of(&|i| ((i + n / 2) % n) as u64),
        of(&|i| i.min(n - i) as u64),
        of(&|i| if i < n / 10 * 9 { i as u64 } else { mix(i) % n as u64 }),
        of(&|i| if i < n / 10 { mix(i) % n as u64 } else { i as u64 }),
    ]
}

/// Compares all sorts with std's, on one input.
fn check_all(keys: &[u64]) {
    type Tagged = Vec<(u64, usize)>;
    let tagged: Tagged = keys.iter().copied().zip(0..).collect();
    let sorted = |sort: &dyn Fn(&mut Tagged)| {
        let mut v = tagged.clone();
        sort(&mut v);
        v
    };
    let ascending = sorted(&|v| v.sort_by_key(|x| x.0));
    let descending = sorted(&|v| v.sort_by_key(|x| std::cmp::Reverse(x.0)));
    // The order of the pairs shows whether equal keys kept their order.
    assert_eq!(sorted(&|v| v.par_sort_by(|a, b| a.0.cmp(&b.0))), ascending);
    assert_eq!(sorted(&|v| v.par_sort_by(|a, b| b.0.cmp(&a.0))), descending);
    assert_eq!(sorted(&|v| v.par_sort_by_key(|x| x.0)), ascending);
    assert_eq!(sorted(&|v| v.par_sort_by_cached_key(|x| x.0.to_be_bytes())), ascending);
    // All pairs are different, so these sorts have one result.
    assert_eq!(sorted(&|v| v.par_sort()), ascending);
    assert_eq!(sorted(&|v| v.par_sort_unstable()), ascending);
    assert_eq!(sorted(&|v| v.par_sort_unstable_by(|a, b| a.cmp(b))), ascending);
    assert_eq!(sorted(&|v| v.par_sort_unstable_by_key(|x| *x)), ascending);
    // This sort may have several results.
    let mut unstable = sorted(&|v| v.par_sort_unstable_by_key(|x| x.0));
    assert!(unstable.is_sorted_by_key(|x| x.0));
    unstable.sort();
    assert_eq!(unstable, ascending);
}

#[test]
fn as_std_on_every_pool() {
    on_pools(|| {
        for n in LENGTHS {
            for (i, keys) in shapes(n.max(1)).iter().enumerate() {
                // For the long inputs, all shapes with one of the lengths, and some shapes with the others.
                if n != 4095 && n != 8193 && n != 20_011 || i % 3 == n % 3 {
                    check_all(&keys[..n]);
                }
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn runs_of_any_lengths(
        runs in proptest::collection::vec((0..3000_usize, 0..50_u64, 0..4_u8), 1..12),
        pool in 0..4_usize,
    ) {
        let mut v = Vec::new();
        for (len, from, kind) in runs {
            v.extend((0..len).map(|i| match kind {
                0 => from + i as u64 / 7,
                1 => from + (len - i) as u64,
                2 => from,
                _ => mix(i) % (from + 1),
            }));
        }
        let tagged: Vec<_> = v.into_iter().zip(0..).collect();
        let (mut ours, mut stds, mut unstable) = (tagged.clone(), tagged.clone(), tagged);
        pools()[pool].install(|| {
            ours.par_sort_by_key(|&(key, _)| key);
            unstable.par_sort_unstable();
        });
        stds.sort_by_key(|&(key, _): &(u64, usize)| key);
        prop_assert_eq!(&ours, &stds);
        prop_assert_eq!(&unstable, &stds);
    }
}

const LEN: usize = 10_000;

/// Elements that own memory: a superfluous copy would be freed twice.
#[test]
fn strings_and_boxes() {
    on_pools(|| {
        let strings: Vec<String> = (0..LEN).map(|i| format!("{:x}", mix(i) % 5000)).collect();
        let mut expected = strings.clone();
        expected.sort();
        let (mut stable, mut unstable, mut cached) = (strings.clone(), strings.clone(), strings);
        stable.par_sort();
        unstable.par_sort_unstable();
        cached.par_sort_by_cached_key(String::clone);
        assert!(stable == expected && unstable == expected && cached == expected);
        let mut boxes: Vec<Box<dyn Fn() -> u64 + Send>> =
            (0..LEN).map(|i| Box::new(move || mix(i)) as Box<dyn Fn() -> u64 + Send>).collect();
        boxes.par_sort_by_key(|f| f());
        assert!(boxes.is_sorted_by_key(|f| f()));
    });
}

#[test]
fn elements_without_a_size() {
    let compared = AtomicUsize::new(0);
    on_pools(|| {
        let mut v = [(); LEN];
        v.par_sort();
        v.par_sort_unstable();
        v.par_sort_by(|(), ()| {
            compared.fetch_add(1, SeqCst);
            Ordering::Less
        });
        v.par_sort_by_cached_key(|()| ());
        assert_eq!(v.len(), LEN);
    });
}

/// A comparison, for both sorts.
type Compare<'a> = &'a (dyn Fn(&DropCounter, &DropCounter) -> Ordering + Sync);

const SORTS: [fn(&mut [DropCounter], Compare<'_>); 2] =
    [|v, compare| v.par_sort_by(compare), |v, compare| v.par_sort_unstable_by(compare)];

/// Arranges elements before they are sorted: in disorder, or in order except for a few.
const ARRANGED: [fn(&mut [DropCounter]); 2] =
    [|v| v.sort_by_key(|x| mix(x.number)), |v| (1..4).for_each(|i| v[i * 500..i * 3000].rotate_left(1))];

/// Runs a sort that may panic. Each element must be there afterwards, and be dropped once. Returns whether the sort
/// returned.
fn check_kept(
    sort: fn(&mut [DropCounter], Compare<'_>),
    compare: Compare<'_>,
    arrange: fn(&mut [DropCounter]),
) -> bool {
    let (ledger, mut v) = Ledger::items(LEN);
    arrange(&mut v);
    let returned = catch_unwind(AssertUnwindSafe(|| sort(&mut v, compare))).is_ok();
    let mut ids: Vec<usize> = v.iter().map(|x| x.number).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..LEN), "all are there, each once");
    assert!(ledger.counts().iter().all(|&drops| drops == 0), "none has been dropped yet");
    drop(v);
    ledger.assert_settled("afterwards");
    returned
}

/// I8, P2.
#[test]
fn a_panicking_comparison_loses_nothing() {
    for pool in pools() {
        for (sort, arrange) in SORTS.into_iter().flat_map(|sort| ARRANGED.map(|arrange| (sort, arrange))) {
            let comparisons = AtomicUsize::new(0);
            let counting = |a: &DropCounter, b: &DropCounter| {
                comparisons.fetch_add(1, SeqCst);
                a.number.cmp(&b.number)
            };
            assert!(pool.install(|| check_kept(sort, &counting, arrange)));
            let all = comparisons.into_inner();
            // From the first comparison to the last ones, with most panics in the merges at the end.
            let fuses =
                (0..5).chain((1..10).map(|i| i * all / 10)).chain((1..10).map(|i| all - all * i / 100));
            let mut panics = 0;
            for fuse in fuses {
                let left = AtomicUsize::new(fuse);
                let failing = |a: &DropCounter, b: &DropCounter| {
                    if left.fetch_sub(1, SeqCst) == 0 {
                        planned_panic();
                    }
                    a.number.cmp(&b.number)
                };
                panics += usize::from(!pool.install(|| check_kept(sort, &failing, arrange)));
            }
            // The number of comparisons depends on the divisions, so the last fuses may be too long.
            assert!(panics >= 14, "only {panics}");
        }
    }
}

/// I8: an order that contradicts itself. std may notice that, and panic. These sorts leave some order.
#[test]
fn an_inconsistent_order_loses_nothing() {
    let calls = AtomicUsize::new(0);
    let orders: [Compare<'_>; 4] = [
        &|_, _| (mix(calls.fetch_add(1, SeqCst)) % 3).cmp(&1),
        &|_, _| Ordering::Less,
        &|_, _| Ordering::Greater,
        &|a, b| (a.number % 3).cmp(&((b.number + 1) % 3)),
    ];
    for pool in pools() {
        for sort in SORTS {
            for compare in orders {
                for arrange in ARRANGED {
                    assert!(pool.install(|| check_kept(sort, compare, arrange)));
                }
            }
        }
    }
    // std finds contradictions in slices of plain data only.
    let floats: Vec<f64> =
        (0..20_011).map(|i| if mix(i) % 3 == 0 { f64::NAN } else { mix(i) as f64 }).collect();
    on_pools(|| {
        for len in [21, 64, 3000, floats.len()] {
            let mut sorted = floats[..len].to_vec();
            sorted.par_sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
            sorted.par_sort_unstable_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
            sorted.par_sort_by_key(|_| mix(calls.fetch_add(1, SeqCst)));
            sorted.par_sort_unstable_by_key(|_| mix(calls.fetch_add(1, SeqCst)));
            let mut bits: Vec<u64> = sorted.into_iter().map(f64::to_bits).collect();
            bits.par_sort_unstable_by_key(|_| mix(calls.fetch_add(1, SeqCst)));
            let mut expected: Vec<u64> = floats[..len].iter().copied().map(f64::to_bits).collect();
            bits.sort_unstable();
            expected.sort_unstable();
            assert_eq!(bits, expected);
        }
    });
}

/// I8: keys whose order contradicts itself.
#[test]
fn inconsistent_keys_lose_nothing() {
    #[derive(PartialEq, Eq)]
    struct Whim(usize);
    impl Ord for Whim {
        fn cmp(&self, other: &Self) -> Ordering {
            mix(self.0 ^ mix(other.0) as usize).cmp(&(u64::MAX / 2))
        }
    }
    impl PartialOrd for Whim {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }
    on_pools(|| {
        let (ledger, mut v) = Ledger::items(LEN);
        v.sort_by_key(|x| mix(x.number));
        v.par_sort_by_cached_key(|x| Whim(x.number));
        let mut ids: Vec<usize> = v.iter().map(|x| x.number).collect();
        ids.sort_unstable();
        assert!(ids.into_iter().eq(0..LEN));
        drop(v);
        ledger.assert_settled("by keys that contradict themselves");
    });
}

/// Elements need not be `Sync`, and changes that a comparison makes to them stay.
#[test]
fn comparisons_may_write_into_elements() {
    on_pools(|| {
        let compared: Vec<AtomicUsize> = (0..LEN).map(|_| AtomicUsize::new(0)).collect();
        let note = |x: &(usize, Cell<usize>)| {
            x.1.set(x.1.get() + 1);
            compared[x.0].fetch_add(1, SeqCst);
            mix(x.0)
        };
        let check = |v: &[(usize, Cell<usize>)]| {
            assert!(v.is_sorted_by_key(|x| mix(x.0)));
            assert!(v.iter().all(|x| x.1.get() == compared[x.0].load(SeqCst)));
        };
        let mut v: Vec<_> = (0..LEN).map(|i| (i, Cell::new(0))).collect();
        v.par_sort_by(|a, b| note(a).cmp(&note(b)));
        check(&v);
        v.sort_by_key(|x| x.0);
        v.par_sort_unstable_by_key(note);
        check(&v);
    });
}

#[test]
fn keys_are_computed_once_and_panics_leave_the_slice_as_it_was() {
    on_pools(|| {
        let (ledger, mut v) = Ledger::items(LEN);
        let calls = AtomicUsize::new(0);
        v.par_sort_by_cached_key(|x| {
            calls.fetch_add(1, SeqCst);
            mix(x.number)
        });
        assert_eq!(calls.load(SeqCst), LEN);
        assert!(v.is_sorted_by_key(|x| mix(x.number)));
        let before: Vec<usize> = v.iter().map(|x| x.number).collect();
        for at in [0, 1, LEN / 2, LEN - 1] {
            let key = |x: &DropCounter| if x.number == at { planned_panic() } else { x.number };
            assert!(!survives(|| v.par_sort_by_cached_key(key)));
            assert!(v.iter().map(|x| x.number).eq(before.iter().copied()));
        }
        // Keys with memory of their own, and slices of at most one element.
        v.par_sort_by_cached_key(|x| format!("{:08}", x.number));
        assert!(v.iter().map(|x| x.number).eq(0..LEN));
        v[..1].par_sort_by_cached_key(|_| -> u8 { planned_panic() });
        drop(v);
        ledger.assert_settled("sorted by cached keys");
    });
}

/// I4: the number of comparisons for a slice that is in order already.
#[test]
fn one_run_takes_n_comparisons() {
    on_pools(|| {
        for stable in [true, false] {
            let calls = AtomicUsize::new(0);
            let compare = |a: &usize, b: &usize| {
                calls.fetch_add(1, SeqCst);
                a.cmp(b)
            };
            for descending in [false, true] {
                let mut v: Vec<usize> = (0..100_000).collect();
                if descending {
                    v.reverse();
                }
                if stable {
                    v.par_sort_by(compare)
                } else {
                    v.par_sort_unstable_by(compare)
                }
                assert!(v.is_sorted());
                let calls = calls.swap(0, SeqCst);
                assert!(calls <= v.len() + 100, "{calls} comparisons");
            }
        }
    });
}
