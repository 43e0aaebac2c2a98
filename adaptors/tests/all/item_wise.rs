//! The adaptors that treat each item by itself, against std and rayon (I1), and their limits.

use crate::support::steps::{Every, in_steps};
use crate::support::{LENGTHS, assert_schedules};
use furcate::Blocking;
use furcate::prelude::*;
use proptest::collection;
use proptest::prelude::*;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::collect::CollectInSteps;
use testkit::drops::{DropCounter, Fuse, Ledger, assert_dropped_once};
use testkit::on_pools;

/// Keeps every third value, changed.
fn third(x: &i32) -> Option<i64> {
    (x % 3 == 0).then(|| i64::from(*x) * 2)
}

/// Makes a few items of each item, often none.
fn few(x: &i32) -> std::ops::Range<i32> {
    0..x.rem_euclid(5) - 1
}

/// The tested chains, as rayon runs them.
mod with_rayon {
    use rayon::prelude::*;

    pub(super) fn filter_map(v: &[i32]) -> Vec<i64> {
        v.par_iter().filter_map(super::third).collect()
    }
    pub(super) fn flat_map(v: &[i32]) -> Vec<i32> {
        v.par_iter().flat_map(super::few).collect()
    }
    pub(super) fn flat_map_iter(v: &[i32]) -> Vec<i32> {
        v.par_iter().flat_map_iter(super::few).collect()
    }
    pub(super) fn flatten(v: &[Vec<u8>]) -> Vec<&u8> {
        v.par_iter().flatten().collect()
    }
    pub(super) fn flatten_iter(v: &[Vec<u8>]) -> Vec<&u8> {
        v.par_iter().flatten_iter().collect()
    }
    pub(super) fn cloned_update(v: &[i32]) -> Vec<(usize, i32)> {
        v.par_iter().cloned().update(|x| *x = x.wrapping_mul(3)).enumerate().rev().collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn filter_map(v: Vec<i32>) {
        let expected: Vec<i64> = v.iter().filter_map(third).collect();
        assert_eq!(with_rayon::filter_map(&v), expected);
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| it.filter_map(third).collect::<Vec<_>>());
        });
    }

    #[test]
    fn flat_map(v: Vec<i32>) {
        let expected: Vec<i32> = v.iter().flat_map(few).collect();
        assert_eq!(with_rayon::flat_map(&v), expected);
        assert_eq!(with_rayon::flat_map_iter(&v), expected);
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| it.flat_map(few).collect::<Vec<_>>());
            assert_schedules!(expected, v.par_iter(), |it| it.flat_map_iter(few).collect::<Vec<_>>());
        });
    }

    #[test]
    fn flatten(v in collection::vec(any::<Vec<u8>>(), 0..40)) {
        let expected: Vec<&u8> = v.iter().flatten().collect();
        assert_eq!(with_rayon::flatten(&v), expected);
        assert_eq!(with_rayon::flatten_iter(&v), expected);
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| it.flatten().collect::<Vec<_>>());
            assert_schedules!(expected, v.par_iter(), |it| it.flatten_iter().collect::<Vec<_>>());
        });
    }

    /// Indexed chains, walked from the back too.
    #[test]
    fn cloned_copied_update(v: Vec<i32>) {
        let expected: Vec<(usize, i32)> = v.iter().map(|x| x.wrapping_mul(3)).enumerate().rev().collect();
        assert_eq!(with_rayon::cloned_update(&v), expected);
        let triple = |x: &mut i32| *x = x.wrapping_mul(3);
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| {
                it.cloned().update(triple).enumerate().rev().collect::<Vec<_>>()
            });
            assert_schedules!(expected, v.par_iter(), |it| {
                it.copied().update(triple).enumerate().rev().collect::<Vec<_>>()
            });
        });
    }

    /// Deep chains: every adaptor on top of every other one.
    #[test]
    fn chained(v in collection::vec(any::<Vec<i32>>(), 0..12)) {
        let expected: Vec<i64> = v
            .iter()
            .flatten()
            .copied()
            .map(|x| x / 2)
            .flat_map(|x| few(&x))
            .filter_map(|x| third(&x))
            .collect();
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| {
                it.flatten_iter()
                    .copied()
                    .update(|x| *x /= 2)
                    .inspect(|_| {})
                    .flat_map(|x| few(&x))
                    .filter_map(|x| third(&x))
                    .collect::<Vec<_>>()
            });
        });
    }

    /// Steps of any size yield the same as the leaf, and every unit in its own step.
    #[test]
    fn in_nano_loops(v: Vec<i32>, limit in 1_usize..40) {
        let mut expected: Vec<Vec<i32>> = v
            .chunks(limit)
            .map(|chunk| {
                let inner = chunk.iter().filter_map(third).map(|x| x as i32 / 7);
                inner.flat_map(|x| few(&x)).flat_map(|x| few(&x)).collect()
            })
            .collect();
        expected.resize(expected.len().max(1), vec![]); // of nothing there is one loop
        let mut chain = v
            .par_iter()
            .filter_map(third)
            .map(|x| x as i32)
            .update(|x| *x /= 7)
            .inspect(|_| {})
            .flat_map(|x| few(&x))
            .flat_map_iter(|x| few(&x));
        prop_assert_eq!(in_steps(chain.producer(), std::iter::repeat(limit)), expected);
    }

    #[test]
    fn in_indexed_nano_loops(v: Vec<i32>, limit in 1_usize..40) {
        let expected: Vec<i32> = v.iter().map(|x| x / 2).rev().collect();
        let mut chain = v.par_iter().copied().update(|x| *x /= 2).inspect(|_| {}).rev();
        prop_assert_eq!(in_steps(chain.producer(), std::iter::repeat(limit)).concat(), expected);
    }

    #[test]
    fn extend_by_reference(mut v: Vec<u16>, w: Vec<u16>) {
        let expected = [v.clone(), w.clone()].concat();
        v.par_extend(&w);
        prop_assert_eq!(v, expected);
    }
}

/// Lengths at which cuts go wrong (I2).
#[test]
fn boundary_lengths() {
    for len in LENGTHS {
        let v: Vec<i32> = (0..len as i32).collect();
        let filtered: Vec<i64> = v.iter().filter_map(third).collect();
        let flat: Vec<i32> = v.iter().flat_map(few).collect();
        assert_schedules!(filtered, v.par_iter(), |it| it.filter_map(third).collect::<Vec<_>>());
        assert_schedules!(flat, v.par_iter(), |it| it.flat_map_iter(few).collect::<Vec<_>>());
        assert_schedules!(v, v.par_iter(), |it| {
            it.copied().update(|x| *x += 1).update(|x| *x -= 1).collect::<Vec<_>>()
        });
        let inner: Vec<Vec<i32>> = v.iter().take(100).map(|&x| vec![x; x as usize % 3]).collect();
        let flat = inner.concat();
        assert_schedules!(flat, inner.clone().into_par_iter(), |it| it.flatten().collect::<Vec<_>>());
        assert_schedules!(flat, inner.clone().into_par_iter(), |it| it.flatten_iter().collect::<Vec<_>>());
    }
}

/// Chains that know their length report it; others do not.
#[test]
fn lengths() {
    let v = [1, 2, 3, 4, 5];
    assert_eq!(v.par_iter().cloned().len(), 5);
    assert_eq!(v.par_iter().copied().len(), 5);
    assert_eq!(v.par_iter().inspect(|_| {}).len(), 5);
    assert_eq!(v.par_iter().update(|_| {}).len(), 5);
    assert_eq!(v.par_iter().copied().inspect(|_| {}).update(|_| {}).opt_len(), Some(5));

    assert_eq!(v.par_iter().filter_map(|_| Some(1)).opt_len(), None);
    assert_eq!(v.par_iter().flat_map(|_| 0..1).opt_len(), None);
    assert_eq!(v.par_iter().flat_map_iter(|_| 0..1).opt_len(), None);
    assert_eq!([Some(1)].par_iter().flatten_iter().opt_len(), None);
    assert_eq!([[1]].par_iter().map(|row| &row[..]).flatten().opt_len(), None);
}

/// The leaf of `update` is an iterator of our own, and must follow std's protocol.
#[test]
fn update_from_both_ends() {
    let mut doubled = (0..10_i32).into_par_iter().update(|x| *x *= 2);
    let mut leaf = doubled.indexed_producer().into_iter();
    assert_eq!((leaf.len(), leaf.size_hint()), (10, (10, Some(10))));
    assert_eq!(
        (leaf.next(), leaf.next_back(), leaf.next_back(), leaf.next()),
        (Some(0), Some(18), Some(16), Some(2))
    );
    assert_eq!(leaf.len(), 6);
    assert_eq!(leaf.rfold(vec![], |v, x| [v, vec![x]].concat()), [14, 12, 10, 8, 6, 4]);

    let leaf = doubled.producer().into_iter();
    assert_eq!(leaf.fold(vec![], |v, x| [v, vec![x]].concat()), [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
}

/// A chain is a description: it calls nothing before it is driven (I5).
#[test]
fn laziness() {
    let calls = AtomicUsize::new(0);
    let called = || calls.fetch_add(1, Relaxed);
    let v = [1, 2, 3];
    let mut chain = v
        .par_iter()
        .inspect(|_| {
            called();
        })
        .update(|_| {
            called();
        })
        .filter_map(|x| {
            called();
            Some(x)
        })
        .flat_map(|x| {
            called();
            0..*x
        })
        .flat_map_iter(|x| {
            called();
            0..x
        });
    let (left, right) = chain.producer().divide();
    let (left, right) = (left.into_iter(), right.into_iter());
    assert_eq!(calls.load(Relaxed), 0);
    assert_eq!(left.count() + right.count(), 4);
    assert_eq!(calls.load(Relaxed), 3 + 3 + 3 + 3 + 6);
}

/// Every item passes all adaptors before the next one enters, in order within a task.
#[test]
fn item_by_item() {
    let log = Mutex::new(Vec::new());
    let items: Vec<i32> = (0..3)
        .into_par_iter()
        .sequential()
        .inspect(|x| log.lock().unwrap().push(("before", *x)))
        .update(|x| *x += 10)
        .inspect(|x| log.lock().unwrap().push(("after", *x)))
        .collect();
    assert_eq!(items, [10, 11, 12]);
    let log = log.into_inner().unwrap();
    assert_eq!(
        log,
        [("before", 0), ("after", 10), ("before", 1), ("after", 11), ("before", 2), ("after", 12)]
    );
}

/// A fold that breaks stops in the middle of an inner iterator (I4).
#[test]
fn break_in_the_middle() {
    use std::ops::ControlFlow::{Break, Continue};
    let until = |hit: i32| move |_, x| if x == hit { Break(x) } else { Continue(x) };
    let (outer, inner) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let rows = |row: i32| {
        outer.fetch_add(1, Relaxed);
        row * 10..row * 10 + 10
    };
    let seen = |_: &i32| {
        inner.fetch_add(1, Relaxed);
    };
    let counts = || (outer.swap(0, Relaxed), inner.swap(0, Relaxed));

    let mut chain = (0..100).into_par_iter().flat_map_iter(|row| rows(row).inspect(seen));
    assert!(matches!(
        chain.producer().partial_fold(Blocking(-1), until(23), &mut Every(50)),
        Break(Blocking(23))
    ));
    assert_eq!(counts(), (3, 24));

    let mut chain = (0..100).into_par_iter().flat_map(|row| rows(row).into_par_iter().inspect(seen));
    assert!(matches!(
        chain.producer().partial_fold(Blocking(-1), until(23), &mut Every(50)),
        Break(Blocking(23))
    ));
    assert_eq!(counts(), (3, 24));

    let mut chain = (0..100).into_par_iter().map(|row| rows(row).inspect(seen)).flatten_iter();
    assert!(matches!(
        chain.producer().partial_fold(Blocking(-1), until(23), &mut Every(50)),
        Break(Blocking(23))
    ));
    assert_eq!(counts(), (3, 24));

    let mut chain = (0..100).into_par_iter().map(rows).flatten().inspect(seen);
    assert!(matches!(
        chain.producer().partial_fold(Blocking(-1), until(23), &mut Every(50)),
        Break(Blocking(23))
    ));
    assert_eq!(counts(), (3, 24));
}

/// Sequential inner iterators stay in their task: they need not be `Send`.
#[test]
fn inner_iterators_of_one_thread() {
    let items: Vec<i32> = (0..100)
        .into_par_iter()
        .flat_map_iter(|x| {
            let shared = Rc::new(x);
            (0..2).map(move |y| *shared * 2 + y)
        })
        .collect();
    assert_eq!(items, (0..200).collect::<Vec<_>>());
}

/// The chain's schedule also holds for inner iterators.
#[test]
fn schedules_of_inner_iterators() {
    let threads = Mutex::new(HashSet::new());
    let pieces: Vec<usize> = (0..4)
        .into_par_iter()
        .sequential()
        .flat_map(|_| (0..64).wrap_iter().bound_depth(2).map(|piece| piece.len()))
        .inspect(|_| {
            threads.lock().unwrap().insert(std::thread::current().id());
        })
        .collect();
    assert_eq!(pieces, [64; 4]);
    assert_eq!(threads.into_inner().unwrap().len(), 1);
    // Nothing is collected: a search ends in the middle of a practically endless iterator.
    let endless = (0..4).into_par_iter().flat_map(|_| 0..u64::MAX);
    assert_eq!(endless.clone().find_any(|&x| x == 5), Some(5));
    assert_eq!(endless.find_first(|&x| x == 70_000), Some(70_000));
}

/// `cloned` clones each item once, `copied` and the others none.
#[test]
fn clones() {
    let ledger = Ledger::default();
    let values = ledger.values(100);
    let clones: Vec<DropCounter> = values.par_iter().size_limit(7).cloned().collect();
    assert_eq!(ledger.born(), 200);
    assert!(values.iter().zip(&clones).all(|(value, clone)| value.number == clone.number));
    let again = values.par_iter().sequential().cloned().drive(CollectInSteps);
    assert_eq!((again.len(), ledger.born()), (100, 300));
    let same: Vec<DropCounter> = clones.into_par_iter().inspect(|_| {}).update(|_| {}).collect();
    assert_eq!((same.len(), ledger.born()), (100, 300));
    drop((values, again, same));
    ledger.assert_settled("");
}

/// A panic at the n-th call of a closure, for every n (P2): items and the results made of them are dropped once, in
/// leaves and in steps.
#[test]
fn panics_drop_once() {
    let burnt = |fuse: &Fuse, value: DropCounter| {
        fuse.burn();
        value
    };
    assert_dropped_once(40, |values, fuse| {
        let chain = values.into_par_iter().size_limit(9);
        let kept = chain.filter_map(|value| Some(burnt(fuse, value)).filter(|value| value.number % 2 == 0));
        assert_eq!(kept.collect::<Vec<_>>().len(), 20);
    });
    assert_dropped_once(40, |values, fuse| {
        let chain = values.into_par_iter().sequential();
        let kept = chain.filter_map(|value| Some(burnt(fuse, value)).filter(|value| value.number % 2 == 0));
        assert_eq!(kept.drive(CollectInSteps).len(), 20);
    });
    assert_dropped_once(20, |values, fuse| {
        let chain = values.into_par_iter().size_limit(9);
        let doubled = chain.flat_map_iter(|value| [value.clone(), burnt(fuse, value)]);
        assert_eq!(doubled.inspect(|_| fuse.burn()).collect::<Vec<_>>().len(), 40);
    });
    assert_dropped_once(20, |values, fuse| {
        let chain = values.into_par_iter().size_limit(9);
        let doubled = chain.flat_map(|value| vec![value.clone(), burnt(fuse, value)]);
        assert_eq!(doubled.inspect(|_| fuse.burn()).drive(CollectInSteps).len(), 40);
    });
    assert_dropped_once(20, |values, fuse| {
        let rows = values.into_par_iter().size_limit(9).map(|value| vec![value.clone(), burnt(fuse, value)]);
        assert_eq!(rows.flatten().inspect(|_| fuse.burn()).collect::<Vec<_>>().len(), 40);
    });
    assert_dropped_once(20, |values, fuse| {
        let rows = values.into_par_iter().size_limit(9).map(|value| vec![value.clone(), burnt(fuse, value)]);
        assert_eq!(rows.flatten_iter().inspect(|_| fuse.burn()).drive(CollectInSteps).len(), 40);
    });
    assert_dropped_once(40, |values, fuse| {
        let chain = values.into_par_iter().size_limit(9).update(|_| fuse.burn()).inspect(|_| fuse.burn());
        assert_eq!(chain.rev().collect::<Vec<_>>().len(), 40);
    });
    assert_dropped_once(40, |values, fuse| {
        let chain =
            values.par_iter().size_limit(9).inspect(|_| fuse.burn()).cloned().inspect(|_| fuse.burn());
        assert_eq!(chain.collect::<Vec<_>>().len(), 40);
    });
}
