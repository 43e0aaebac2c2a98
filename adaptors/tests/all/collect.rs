//! Collecting and extending, against std.

use crate::support::steps::Every;
use crate::support::{LENGTHS, assert_schedules};
use either::Either;
use furcate::prelude::*;
use furcate::{Blocking, Executor, Producer, Reduction, Scheduler, Workload};
use proptest::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use testkit::on_pools;

/// Collects and extends, from an iterator of known length and from one of unknown length. std's collection is the
/// oracle. All collections use the same few reductions, so two schedules are enough, and keep the compile time in
/// bounds.
macro_rules! as_std {
    ($items:expr => $($Collection:ty),+ $(,)?) => {{
        let items: Vec<_> = $items;
        let (half, quarter) = (items.len() / 2, items.len() / 4);
        $({
            let expected: $Collection = items.iter().cloned().collect();
            let all = || items.clone().into_par_iter().size_limit(1);
            assert_eq!(all().collect::<$Collection>(), expected);
            assert_eq!(all().filter(|_| true).collect::<$Collection>(), expected);
            let start = || items[..half].iter().cloned().collect::<$Collection>();
            let mut expected = start();
            expected.extend(items[quarter..].iter().cloned());
            let rest = || items[quarter..].to_vec().into_par_iter();
            assert_eq!(extended(start(), rest()), expected);
            assert_eq!(extended(start(), rest().filter(|_| true)), expected);
        })+
    }};
}

fn extended<C, I>(mut collection: C, items: I) -> C
where
    I: ParallelIterator,
    C: ParallelExtend<I::Item>,
{
    collection.par_extend(items);
    collection
}

/// Fixes the type of a value: that of the expected value.
fn like<T>(_: &T, value: T) -> T {
    value
}

/// Pairs with many equal keys, which differ in their values.
fn pairs() -> impl Strategy<Value = Vec<(u8, u32)>> {
    proptest::collection::vec((0..20_u8, any::<u32>()), 0..150)
}

type Hasher = BuildHasherDefault<DefaultHasher>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn sequences(v: Vec<u16>) {
        on_pools(|| {
            as_std!(v.clone() => Vec<u16>, VecDeque<u16>, LinkedList<u16>);
            as_std!(v.iter().collect() => Vec<&u16>);
            let expected: Vec<u16> = [7].iter().chain(&v).copied().collect();
            assert_schedules!(expected, v.par_iter(), |it| extended(vec![7], it));
            assert_schedules!(expected, v.par_iter(), |it| extended(VecDeque::from([7]), it));
            assert_schedules!(expected, v.par_iter(), |it| Vec::from_iter(extended(LinkedList::from([7]), it)));
            assert_schedules!(v.clone().into_boxed_slice(), v.clone().into_par_iter(), |it| it.collect::<Box<[u16]>>());
        });
    }

    #[test]
    fn heaps(v: Vec<u16>) {
        let mut sorted = v.clone();
        sorted.sort_unstable();
        let mut twice: Vec<u16> = v.iter().chain(&v).copied().collect();
        twice.sort_unstable();
        on_pools(|| {
            let heap = || v.iter().copied().collect::<BinaryHeap<u16>>();
            assert_schedules!(sorted, v.clone().into_par_iter(), |it| it.collect::<BinaryHeap<_>>().into_sorted_vec());
            assert_schedules!(twice, v.clone().into_par_iter(), |it| extended(heap(), it).into_sorted_vec());
            assert_schedules!(twice, v.par_iter(), |it| extended(heap(), it).into_sorted_vec());
        });
    }

    #[test]
    fn the_last_of_equal_keys_counts(v in pairs()) {
        let keys: Vec<u8> = v.iter().map(|pair| pair.0).collect();
        on_pools(|| {
            as_std!(v.clone() => HashMap<u8, u32>, HashMap<u8, u32, Hasher>, BTreeMap<u8, u32>);
            as_std!(keys.clone() => HashSet<u8>, HashSet<u8, Hasher>, BTreeSet<u8>);
            let map: BTreeMap<u8, u32> = v.iter().copied().collect();
            assert_schedules!(map, map.iter().collect::<Vec<_>>().into_par_iter(), |it| extended(BTreeMap::new(), it));
            let map: HashMap<u8, u32> = v.iter().copied().collect();
            assert_schedules!(map, map.iter().collect::<Vec<_>>().into_par_iter(), |it| extended(HashMap::new(), it));
            assert_schedules!(keys.iter().copied().collect::<BTreeSet<_>>(), keys.par_iter(), |it| extended(BTreeSet::new(), it));
            assert_schedules!(keys.iter().copied().collect::<HashSet<_>>(), keys.par_iter(), |it| extended(HashSet::new(), it));
        });
    }

    #[test]
    fn strings(v in proptest::collection::vec(".{0,3}", 0..60)) {
        let chars: Vec<char> = v.concat().chars().collect();
        let os: Vec<OsString> = v.iter().map(OsString::from).collect();
        on_pools(|| {
            as_std!(v.clone() => String);
            as_std!(chars.clone() => String);
            as_std!(chars.iter().collect() => String);
            as_std!(v.iter().map(String::as_str).collect() => String);
            as_std!(v.iter().map(|s| s.clone().into_boxed_str()).collect() => String);
            as_std!(v.iter().enumerate().map(|(i, s)| if i % 2 == 0 { Cow::from(s) } else { Cow::from(s.clone()) }).collect() => String);
            as_std!(os.clone() => OsString);
            as_std!(os.iter().map(OsString::as_os_str).collect() => OsString);
            as_std!(os.iter().map(|s| Cow::from(s.as_os_str())).collect::<Vec<Cow<OsStr>>>() => OsString);
        });
        let whole: Box<str> = v.concat().into();
        prop_assert_eq!(&v.clone().into_par_iter().collect::<Box<str>>(), &whole);
        prop_assert_eq!(&v.par_iter().map(String::as_str).collect::<Box<str>>(), &whole);
        prop_assert_eq!(&chars.par_iter().collect::<Box<str>>(), &whole);
        prop_assert_eq!(&chars.into_par_iter().collect::<Box<str>>(), &whole);
        prop_assert_eq!(&v.par_iter().map(|s| Cow::from(s.as_str())).collect::<Box<str>>(), &whole);
        prop_assert_eq!(&v.into_par_iter().map(String::into_boxed_str).collect::<Box<str>>(), &whole);
    }

    #[test]
    fn failures(v in proptest::collection::vec(0..50_u8, 0..200), bad in 0..60_u8) {
        let option = |&x: &u8| (x != bad).then_some(x);
        // It is not specified which error is returned. But it must be one of the existing ones.
        let result = |(at, &x): (usize, &u8)| if x == bad { Err(at) } else { Ok(x) };
        let expected: Option<Vec<u8>> = v.iter().map(option).collect();
        on_pools(|| {
            assert_schedules!(expected, v.par_iter(), |it| it.map(option).collect::<Option<Vec<u8>>>());
            assert_schedules!(expected, v.par_iter(), |it| {
                let collected: Result<Vec<u8>, usize> = it.enumerate().map(result).collect();
                if let Err(at) = collected {
                    assert_eq!(v[at], bad);
                }
                collected.ok()
            });
        });
    }

    #[test]
    fn two_collections(v in pairs()) {
        let either = |&(key, value): &(u8, u32)| if key < 10 { Either::Left(key) } else { Either::Right(value) };
        let unzipped: (Vec<u8>, LinkedList<u32>) = v.iter().copied().unzip();
        let nested: (Vec<u8>, (Vec<u32>, String)) = v.iter().map(|&(k, x)| (k, (x, char::from(k)))).unzip();
        let parted: (VecDeque<_>, BTreeMap<_, _>) = {
            let (few, many): (Vec<_>, Vec<_>) = v.iter().copied().partition(|pair| pair.0 < 10);
            (few.into(), many.into_iter().collect())
        };
        let mapped: (Vec<u8>, Vec<u32>) = v.iter().map(either).fold((vec![], vec![]), |mut both, item| {
            match item {
                Either::Left(key) => both.0.push(key),
                Either::Right(value) => both.1.push(value),
            }
            both
        });
        on_pools(|| {
            let whole = || v.clone().into_par_iter();
            assert_schedules!(unzipped, whole(), |it| like(&unzipped, it.unzip()));
            assert_schedules!(unzipped, whole(), |it| like(&unzipped, it.filter(|_| true).unzip()));
            assert_schedules!(unzipped, whole(), |it| like(&unzipped, it.collect()));
            assert_schedules!(unzipped, whole(), |it| like(&unzipped, it.filter(|_| true).collect()));
            assert_schedules!(unzipped, whole(), |it| extended((vec![], LinkedList::new()), it));
            assert_schedules!(nested, whole(), |it| like(&nested, it.map(|(k, x)| (k, (x, char::from(k)))).unzip()));
            assert_schedules!(nested, whole(), |it| like(&nested, it.map(|(k, x)| (k, (x, char::from(k)))).collect()));
            assert_schedules!(parted, whole(), |it| like(&parted, it.partition(|pair| pair.0 < 10)));
            assert_schedules!(mapped, v.par_iter(), |it| like(&mapped, it.partition_map(either)));
            assert_schedules!(mapped, v.par_iter(), |it| like(&mapped, it.map(either).collect()));
            assert_schedules!(mapped, v.par_iter(), |it| extended((vec![], vec![]), it.map(either)));
            assert_schedules!(v, whole(), |it| {
                let (mut left, mut right) = (vec![1; 300], vec![]);
                it.unzip_into_vecs(&mut left, &mut right);
                left.into_iter().zip(right).collect::<Vec<_>>()
            });
        });
    }
}

#[test]
fn every_length() {
    for len in LENGTHS {
        let expected: Vec<usize> = (0..len).collect();
        on_pools(|| {
            assert_schedules!(expected, (0..len).into_par_iter(), |it| it.collect::<Vec<_>>());
            assert_schedules!(expected, (0..len).into_par_iter(), |it| {
                let lists = it.filter(|_| true).collect_vec_list();
                assert!(lists.iter().all(|list| !list.is_empty()));
                lists.into_iter().flatten().collect::<Vec<_>>()
            });
            assert_schedules!(len, (0..len).into_par_iter(), |it| {
                let lists = it.collect_vec_list();
                assert_eq!(lists.len(), len.min(1), "one vector, if the length is known");
                lists.into_iter().flatten().count()
            });
        });
    }
}

#[test]
fn wrapped_collections() {
    fn check<C: FromParallelIterator<usize> + AsRef<[usize]> + Debug>() {
        assert_eq!((0..100).into_par_iter().collect::<C>().as_ref(), (0..100).collect::<Vec<_>>());
    }
    check::<Rc<[usize]>>();
    check::<Arc<[usize]>>();
    check::<Cow<'static, [usize]>>();
    let text: Cow<'_, str> = ["a", "b"].par_iter().map(|&s| s).collect();
    assert_eq!(text, "ab");
    let mut either: Either<Vec<usize>, VecDeque<usize>> = Either::Right(VecDeque::new());
    either.par_extend((0..10).into_par_iter());
    assert_eq!(either.right().map(Vec::from), Some((0..10).collect()));
    let seen = AtomicUsize::new(0);
    let see = |_: usize| {
        seen.fetch_add(1, Relaxed);
    };
    (0..10).into_par_iter().map(see).collect::<()>();
    ().par_extend((0..10).into_par_iter().map(see));
    assert_eq!(seen.into_inner(), 20);
    let nothing: Option<()> = (0..10).into_par_iter().map(|x| (x < 5).then_some(())).collect();
    assert_eq!(nothing, None);
}

/// Old elements are dropped, buffers are kept, and new vectors take over the collected ones.
#[test]
fn buffers() {
    let drops = AtomicUsize::new(0);
    struct Dropped<'d>(&'d AtomicUsize);
    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let mut target: Vec<Dropped> = (0..100).map(|_| Dropped(&drops)).collect();
    let buffer = target.as_ptr();
    (0..50_usize).into_par_iter().map(|_| Dropped(&drops)).collect_into_vec(&mut target);
    assert_eq!((target.len(), target.as_ptr(), drops.load(Relaxed)), (50, buffer, 100));
    drop(target);
    assert_eq!(drops.into_inner(), 150);

    let (mut left, mut right) = (Vec::with_capacity(100), vec![0_u8; 100]);
    let buffers = (left.as_ptr(), right.as_ptr());
    let items = || (0..50_usize).into_par_iter().map(|x| (x, x as u8));
    items().unzip_into_vecs(&mut left, &mut right);
    assert_eq!((left.len(), right.len(), (left.as_ptr(), right.as_ptr())), (50, 50, buffers));
}

/// On one thread, a call from outside makes one list of its items, and no copy of them, unless a policy asks for more.
#[test]
fn one_thread_gathers_into_one_list() {
    for (threads, dividing) in [(1, 1), (2, 9)] {
        let pool = furcate::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let tasks = AtomicUsize::new(0);
        let numbers = || (0..1000_u32).into_par_iter().map_init(|| tasks.fetch_add(1, Relaxed), |_, x| x);
        let items = || numbers().filter(|x| x % 3 > 0);
        let check = |name: &str, least: usize| {
            let tasks = tasks.swap(0, Relaxed);
            assert!(tasks >= least && (threads > 1 || tasks == least), "{name} on {threads}: {tasks} tasks");
        };
        let collected: Vec<u32> = items().on(&pool).collect();
        check("collect", dividing);
        let _: Option<Vec<u32>> = items().map(Some).on(&pool).collect();
        check("of options", dividing);
        let _: (Vec<u32>, Vec<u32>) = items().on(&pool).partition(|x| x % 2 > 0);
        check("partition", dividing);
        let _: (Vec<u32>, Vec<u32>) = items().map(|x| (x, x)).on(&pool).unzip();
        check("unzip", dividing);
        let _: Vec<u32> = items().depjoin().on(&pool).collect();
        check("depjoin", dividing);
        let _: Vec<u32> = items().flat_map(|x| 0..x).on(&pool).collect();
        check("flat_map", dividing);
        let _: Vec<u32> = numbers().on(&pool).inclusive_scan(|a, b| a + b).collect();
        check("inclusive_scan", dividing);
        let divided: Vec<u32> = items().bound_depth(4).on(&pool).collect();
        check("bound_depth", 16);
        assert_eq!(divided, collected);
        items().on(&pool).count();
        check("count", 8);
    }
}

/// Collecting stops soon after the first failure, and the collected items are dropped.
#[test]
fn failures_end_the_computation() {
    let len = 1 << 20;
    on_pools(|| {
        let looks = AtomicUsize::new(0);
        let collected: Result<Vec<usize>, ()> = (0..len)
            .into_par_iter()
            .map(|x| {
                looks.fetch_add(1, Relaxed);
                if x % 1000 == 999 { Err(()) } else { Ok(x) }
            })
            .collect();
        assert_eq!(collected, Err(()));
        assert!(looks.into_inner() < len / 2);
    });
    let looks = AtomicUsize::new(0);
    let look = |x: usize| {
        looks.fetch_add(1, Relaxed);
        (x < 10).then_some(x)
    };
    let collected: Option<Vec<usize>> = (0..len).into_par_iter().on(furcate::Inline).map(look).collect();
    assert_eq!((collected, looks.into_inner()), (None, 11), "nothing behind the failure");
}

/// Also in steps nothing behind the failure is evaluated, neither in the step that has failed nor in the next.
#[test]
fn failures_end_a_task_in_nano_loops() {
    #[derive(Clone, Copy)]
    struct InEvery(usize);
    impl Scheduler for InEvery {
        fn schedule<W: Workload, E: Executor>(&self, work: W, _: &E) -> W::Output {
            let (producer, _, reduction) = work.parts();
            let step = |folded, item| reduction.fold_item(folded, item);
            let end = producer.partial_fold(Blocking(reduction.start()), step, &mut Every(self.0));
            reduction.finish(Blocking::at(end))
        }
    }
    for limit in [1, 2, 7, 1000] {
        for at in [0, 1, 6, 7, 8, 50, 99, 100] {
            let looks = AtomicUsize::new(0);
            let collected: Result<Vec<usize>, usize> = (0..100)
                .into_par_iter()
                .with_scheduler(InEvery(limit))
                .map(|x| {
                    looks.fetch_add(1, Relaxed);
                    if x == at { Err(x) } else { Ok(x) }
                })
                .collect();
            assert_eq!(collected, if at < 100 { Err(at) } else { Ok((0..100).collect()) });
            assert_eq!(looks.into_inner(), (at + 1).min(100), "in steps of {limit}");
        }
    }
}

/// A panic at every item in turn, while items are collected into all kinds of collections: no item leaks, and none is
/// dropped twice (P2).
#[test]
fn panics_drop_every_item_once() {
    struct Item<'a>(&'a AtomicUsize, usize);
    impl Drop for Item<'_> {
        fn drop(&mut self) {
            assert_ne!(self.0.fetch_sub(1, Relaxed), 0, "dropped twice");
        }
    }
    let len = 20;
    on_pools(|| {
        for at in 0..len {
            let alive = AtomicUsize::new(0);
            let make = |x: usize| {
                assert_ne!(x, at, "the panic of the test");
                alive.fetch_add(1, Relaxed);
                Item(&alive, x)
            };
            let items = || (0..len).into_par_iter().size_limit(3);
            let dropped = |run: &dyn Fn()| {
                assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
                assert_eq!(alive.load(Relaxed), 0, "leaked");
            };
            dropped(&|| drop(items().map(make).collect::<Vec<_>>()));
            dropped(&|| drop(items().map(make).filter(|_| true).collect::<Vec<_>>()));
            dropped(&|| drop(items().map(make).collect::<LinkedList<_>>()));
            dropped(&|| drop(items().map(|x| (x, make(x))).collect::<HashMap<_, _>>()));
            dropped(&|| drop(items().map(|x| Some(make(x))).collect::<Option<Vec<_>>>()));
            dropped(&|| drop(items().map(make).partition::<Vec<_>, Vec<_>, _>(|item| item.1 % 2 == 0)));
            // When the second half panics, the first half has been made.
            dropped(&|| {
                let (mut left, mut right) = (vec![], vec![]);
                items().map(|x| (make((x + 1) % len), make(x))).unzip_into_vecs(&mut left, &mut right);
            });
        }
    });
}
