//! Terminals that fold all items, against std and rayon.

use crate::support::{LENGTHS, assert_schedules};
use furcate::prelude::*;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::on_pools;

/// Inputs with many ties: small keys, which differ in their positions.
fn keyed() -> impl Strategy<Value = Vec<(i8, usize)>> {
    proptest::collection::vec(-3..4_i8, 0..200)
        .prop_map(|keys| keys.into_iter().enumerate().map(|(position, key)| (key, position)).collect())
}

fn by_key(a: &(i8, usize), b: &(i8, usize)) -> Ordering {
    a.0.cmp(&b.0)
}

/// Rayon's results.
mod peer {
    use rayon::prelude::*;

    pub(crate) fn extremes(v: &[(i8, usize)]) -> [Option<&(i8, usize)>; 4] {
        [
            v.par_iter().min_by(|a, b| super::by_key(a, b)),
            v.par_iter().max_by(|a, b| super::by_key(a, b)),
            v.par_iter().min_by_key(|x| x.0),
            v.par_iter().max_by_key(|x| x.0),
        ]
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn sum_product_count(v: Vec<i32>) {
        let wrapping = |v: &Vec<i32>| v.iter().map(|&x| std::num::Wrapping(x)).collect::<Vec<_>>();
        let v = wrapping(&v);
        let odd = |x: &&std::num::Wrapping<i32>| x.0 % 2 != 0;
        on_pools(|| {
            assert_schedules!(v.iter().sum(), v.par_iter(), |it| it.sum::<std::num::Wrapping<i32>>());
            assert_schedules!(v.iter().product(), v.par_iter(), |it| it.product::<std::num::Wrapping<i32>>());
            assert_schedules!(v.iter().filter(odd).count(), v.par_iter(), |it| it.filter(odd).count());
            assert_schedules!(v.len(), v.par_iter(), |it| it.count());
        });
    }

    #[test]
    fn the_first_of_the_least_and_the_last_of_the_greatest(v in keyed()) {
        let keys: Vec<i8> = v.iter().map(|item| item.0).collect();
        let ours = [
            v.par_iter().min_by(|a, b| by_key(a, b)),
            v.par_iter().max_by(|a, b| by_key(a, b)),
            v.par_iter().min_by_key(|x| x.0),
            v.par_iter().max_by_key(|x| x.0),
        ];
        prop_assert_eq!(ours, peer::extremes(&v));
        on_pools(|| {
            assert_schedules!(v.iter().min_by(|a, b| by_key(a, b)), v.par_iter(), |it| it.min_by(|a, b| by_key(a, b)));
            assert_schedules!(v.iter().max_by(|a, b| by_key(a, b)), v.par_iter(), |it| it.max_by(|a, b| by_key(a, b)));
            assert_schedules!(v.iter().min_by_key(|x| x.0), v.par_iter(), |it| it.min_by_key(|x| x.0));
            assert_schedules!(v.iter().max_by_key(|x| x.0), v.par_iter(), |it| it.max_by_key(|x| x.0));
            // References to equal items, but to different ones.
            let address = |found: Option<&i8>| found.map(std::ptr::from_ref);
            assert_schedules!(address(keys.iter().min()), keys.par_iter(), |it| address(it.min()));
            assert_schedules!(address(keys.iter().max()), keys.par_iter(), |it| address(it.max()));
        });
    }

    #[test]
    fn reductions_keep_the_order(v: Vec<u8>) {
        let texts: Vec<String> = v.iter().map(|x| format!("{x} ")).collect();
        let expected = texts.concat();
        on_pools(|| {
            assert_schedules!(expected, texts.par_iter(), |it| it.map(String::clone).reduce(String::new, |a, b| a + &b));
            assert_schedules!((!v.is_empty()).then(|| expected.clone()), texts.par_iter(), |it| {
                it.map(String::clone).reduce_with(|a, b| a + &b)
            });
        });
    }
}

#[test]
fn every_length() {
    for len in LENGTHS {
        on_pools(|| {
            assert_schedules!((0..len).sum::<usize>(), (0..len).into_par_iter(), |it| it.sum::<usize>());
            assert_schedules!((0..len).max(), (0..len).into_par_iter(), |it| it.max());
            assert_schedules!((0..len).min(), (0..len).into_par_iter(), |it| it.min());
            assert_schedules!(len, (0..len).into_par_iter(), |it| it.count());
        });
    }
}

/// A leaf is one call of std's method: item by item these calls would take for ever.
#[test]
fn leaves_have_the_shortcuts_of_std() {
    assert_eq!((0..usize::MAX).into_par_iter().count(), usize::MAX);
    assert_eq!((0..usize::MAX).into_par_iter().max(), Some(usize::MAX - 1));
    assert_eq!((0..usize::MAX).into_par_iter().min(), Some(0));
}

/// Every item is visited once; every task has one state (I4).
#[test]
fn for_each_and_its_states() {
    struct State<'s> {
        clones: &'s AtomicUsize,
        seen: Vec<usize>,
        log: &'s Mutex<Vec<Vec<usize>>>,
    }
    impl Clone for State<'_> {
        fn clone(&self) -> Self {
            assert!(self.seen.is_empty(), "a used state was cloned");
            self.clones.fetch_add(1, Relaxed);
            State { seen: vec![], ..*self }
        }
    }
    impl Drop for State<'_> {
        fn drop(&mut self) {
            if !self.seen.is_empty() {
                self.log.lock().unwrap().push(std::mem::take(&mut self.seen));
            }
        }
    }

    on_pools(|| {
        let sum = AtomicUsize::new(0);
        (0..1000_usize).into_par_iter().for_each(|x| {
            sum.fetch_add(x, Relaxed);
        });
        assert_eq!(sum.into_inner(), 499_500);

        let (clones, log) = (AtomicUsize::new(0), Mutex::new(vec![]));
        let state = || State { clones: &clones, seen: vec![], log: &log };
        let tasks = || {
            let mut tasks = std::mem::take(&mut *log.lock().unwrap());
            tasks.sort();
            tasks
        };
        let expected: Vec<Vec<usize>> = (0..8).map(|task| (task * 125..(task + 1) * 125).collect()).collect();
        let items = || (0..1000_usize).into_par_iter().bound_depth(3);

        let made = AtomicUsize::new(0);
        let init = || {
            made.fetch_add(1, Relaxed);
            state()
        };
        items().for_each_init(init, |state, x| state.seen.push(x));
        assert_eq!((made.load(Relaxed), tasks()), (8, expected.clone()));
        items().for_each_with(state(), |state, x| state.seen.push(x));
        assert_eq!(tasks(), expected);
        // One clone for each of 8 tasks, two for each of 7 divisions.
        assert!(clones.load(Relaxed) <= 8 + 2 * 7, "{clones:?} clones");
    });
}

#[test]
fn one_identity_per_task_and_one_key_per_item() {
    on_pools(|| {
        let (identities, keys) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let zero = || {
            identities.fetch_add(1, Relaxed);
            0
        };
        assert_eq!((0..1000).into_par_iter().bound_depth(4).reduce(zero, |a, b| a + b), 499_500);
        assert_eq!(identities.into_inner(), 16);
        let key = |x: &i32| {
            keys.fetch_add(1, Relaxed);
            -x
        };
        assert_eq!((0..1000).into_par_iter().size_limit(1).min_by_key(key), Some(999));
        assert_eq!(keys.swap(0, Relaxed), 1000);
        assert_eq!((0..1000).into_par_iter().size_limit(1).max_by_key(key), Some(0));
        assert_eq!(keys.into_inner(), 1000);
    });
}

/// Checks that each item that was made is dropped once.
#[derive(Default)]
struct Census {
    alive: Mutex<HashSet<usize>>,
    next: AtomicUsize,
}

struct Citizen<'c> {
    census: &'c Census,
    id: usize,
}

impl Census {
    fn born(&self) -> Citizen<'_> {
        let id = self.next.fetch_add(1, Relaxed);
        assert!(self.alive.lock().unwrap().insert(id));
        Citizen { census: self, id }
    }
}

impl Drop for Citizen<'_> {
    fn drop(&mut self) {
        assert!(self.census.alive.lock().unwrap().remove(&self.id), "dropped twice");
    }
}

/// A fuse that burns by one with every call and panics at its end.
struct Fuse(AtomicUsize);

impl Fuse {
    fn burn(&self) {
        assert!(self.0.fetch_sub(1, Relaxed) != 1, "the fuse has burned down");
    }
}

/// A panic at every call of a closure in turn: it reaches the caller, and every item is dropped once (P2).
#[test]
fn panics_drop_every_item_once() {
    type Run = for<'c> fn(Vec<Citizen<'c>>, &'c Census, &Fuse);
    let runs: [Run; 6] = [
        |items, _, fuse| items.into_par_iter().size_limit(3).for_each(|_| fuse.burn()),
        |items, census, fuse| {
            items.into_par_iter().size_limit(3).for_each_init(
                || {
                    fuse.burn();
                    census.born()
                },
                |_, _| fuse.burn(),
            );
        },
        |items, census, fuse| {
            let identity = || census.born();
            let _ = items.into_par_iter().size_limit(3).reduce(identity, |a, _| {
                fuse.burn();
                a
            });
        },
        |items, _, fuse| {
            let _ = items.into_par_iter().size_limit(3).reduce_with(|a, _| {
                fuse.burn();
                a
            });
        },
        |items, _, fuse| {
            let _ = items.into_par_iter().size_limit(3).max_by(|a, b| {
                fuse.burn();
                a.id.cmp(&b.id)
            });
        },
        |items, _, fuse| {
            let _ = items.into_par_iter().size_limit(3).min_by_key(|item| {
                fuse.burn();
                item.id
            });
        },
    ];
    for run in runs {
        on_pools(|| {
            for calls in 1.. {
                let census = Census::default();
                let items = (0..20).map(|_| census.born()).collect();
                let fuse = Fuse(AtomicUsize::new(calls));
                let outcome = catch_unwind(AssertUnwindSafe(|| run(items, &census, &fuse)));
                assert!(census.alive.lock().unwrap().is_empty(), "something leaked after {calls} calls");
                if outcome.is_ok() {
                    assert!(calls >= 20, "only {calls} calls");
                    break;
                }
            }
        });
    }
}
