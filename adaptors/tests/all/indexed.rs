//! The adaptors of indexed iterators, one by one: schedules, drops, panics, laziness, bounds.

use crate::support::{LENGTHS, assert_schedules};
use furcate::policy::{AnyPolicy, Auto, Both, MinLen};
use furcate::prelude::*;
use furcate::{Facts, IndexedProducer, Inline, Join, Plan, Reduction};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use testkit::on_pools;

/// Three and more adaptors on top of each other, under every schedule.
#[test]
fn adaptors_under_every_schedule() {
    for len in LENGTHS {
        let v: Vec<usize> = (0..len).collect();
        // 0, 0, 3, 1, 6, 2 ... while there are multiples of three, then the rest, in batches of four.
        let threes = len.div_ceil(3);
        let all: Vec<usize> = (0..threes).flat_map(|i| [3 * i, i]).chain(threes..len).collect();
        let expected: Vec<Vec<usize>> = all.chunks(4).map(<[_]>::to_vec).collect();
        let check = || {
            assert_schedules!(expected, v.clone().into_par_iter(), |it| {
                it.step_by(3).interleave(v.clone()).chunks(4).collect::<Vec<_>>()
            });
        };
        if len < 100 {
            on_pools(check)
        } else {
            check()
        }
        let twice = [&v[..], &v].concat();
        let expected: Vec<usize> =
            twice[len / 3..].iter().rev().flat_map(|x| [7, *x]).skip(1).take(len).collect();
        assert_schedules!(expected, v.clone().into_par_iter(), |it| {
            it.chain(v.clone()).skip(len / 3).rev().intersperse(7).take(len).collect::<Vec<_>>()
        });
        let expected: Vec<usize> = (0..len).filter(|i| (len - 1 - i) % 3 == 0).collect();
        assert_schedules!(expected, v.par_iter(), |it| it
            .rev()
            .positions(|x| x % 3 == 0)
            .collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Adaptors that std does not have, against rayon.
    #[test]
    fn as_rayon(v: Vec<u8>, w: Vec<u8>, size in 1..9_usize) {
        use rayon::iter::{IndexedParallelIterator as R, IntoParallelIterator as Into, ParallelIterator as P};
        let rayon = || Into::into_par_iter(v.clone());
        let ours = || IntoParallelIterator::into_par_iter(v.clone());
        macro_rules! same {
            ($it:ident => $adapted:expr, $rayon:expr) => {{
                let expected: Vec<_> = P::collect({ let $it = rayon(); $rayon });
                let all: Vec<_> = ParallelIterator::collect(ParallelIterator::size_limit({ let $it = ours(); $adapted }, 2));
                prop_assert_eq!(all, expected);
            }};
        }
        use IndexedParallelIterator as F;
        same!(it => F::interleave(it, w.clone()), R::interleave(it, w.clone()));
        same!(it => F::interleave_shortest(it, w.clone()), R::interleave_shortest(it, w.clone()));
        same!(it => F::chunks(it, size), R::chunks(it, size));
        let text = |text: String, x: u8| format!("{text}{x} ");
        same!(it => F::fold_chunks(it, size, String::new, text), R::fold_chunks(it, size, String::new, text));
        let init = "from ".to_string();
        same!(
            it => F::fold_chunks_with(it, size, init.clone(), text),
            R::fold_chunks_with(it, size, init.clone(), text)
        );
        same!(it => F::step_by(it, size), R::step_by(it, size));
        same!(it => F::positions(it, |x| x > 99), R::positions(it, |x| x > 99));
        same!(it => ParallelIterator::intersperse(it, 0), P::intersperse(it, 0));
    }
}

/// Every item of a vector is dropped once, whether it is passed on, cut off or hit by a panic (P2).
#[test]
fn drops_are_exact() {
    static DROPS: [AtomicUsize; 128] = [const { AtomicUsize::new(0) }; 128];
    #[derive(Clone)]
    struct Counted(usize);
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPS[self.0].fetch_add(1, SeqCst);
        }
    }
    fn run(len: usize, consume: impl Fn(Vec<Counted>, Vec<Counted>)) {
        for count in &DROPS {
            count.store(0, SeqCst);
        }
        let left = (0..len).map(Counted).collect();
        let right = (64..64 + len).map(Counted).collect();
        consume(left, right);
        for i in (0..len).chain(64..64 + len) {
            assert_eq!(DROPS[i].load(SeqCst), 1, "of item {i} of {len}");
        }
    }
    fn explode(item: &Counted) -> usize {
        assert!(item.0 != 13, "thirteen");
        item.0
    }
    for len in [0, 1, 2, 13, 14, 63] {
        run(len, |v, w| drop(v.into_par_iter().skip(5).chain(w).size_limit(3).collect::<Vec<_>>()));
        run(len, |v, w| {
            drop(v.into_par_iter().take(5).interleave(w.into_par_iter().step_by(3)).collect::<Vec<_>>())
        });
        run(len, |v, w| drop(v.into_par_iter().chain(w).chunks(4).take(3).rev().collect::<Vec<_>>()));
        run(len, |v, w| {
            drop(v.into_par_iter().interleave_shortest(w.into_par_iter().skip(1)).collect::<Vec<_>>())
        });
        // Not driven.
        run(len, |v, w| drop(v.into_par_iter().interleave(w).chunks(4)));
        run(len, |v, w| {
            let sum = || {
                let sum = |sum, item: Counted| sum + explode(&item);
                v.into_par_iter().interleave(w).size_limit(4).fold_chunks(3, || 0, sum).sum::<usize>()
            };
            assert_eq!(catch_unwind(AssertUnwindSafe(sum)).is_err(), len > 13);
        });
        run(len, |v, w| {
            let all = || {
                v.into_par_iter().chain(w).size_limit(4).map(|item| explode(&item)).rev().collect::<Vec<_>>()
            };
            assert_eq!(catch_unwind(AssertUnwindSafe(all)).is_err(), len > 13);
        });
    }
}

/// Items that are cut off are not run; other items are run once (I4).
#[test]
fn what_is_cut_off_is_not_run() {
    let runs = AtomicUsize::new(0);
    let counted = || (0..100).into_par_iter().inspect_count(&runs);
    assert_eq!(counted().take(7).collect::<Vec<_>>().len(), 7);
    assert_eq!(runs.swap(0, SeqCst), 7);
    assert_eq!(counted().interleave_shortest(0..10).collect::<Vec<_>>().len(), 21);
    assert_eq!(runs.swap(0, SeqCst), 11);
    drop(counted().chunks(8).rev().step_by(2).positions(|_| true));
    assert_eq!(runs.swap(0, SeqCst), 0);
}

trait InspectCount: IndexedParallelIterator<Item = i32> {
    fn inspect_count(self, runs: &AtomicUsize) -> impl IndexedParallelIterator<Item = i32> {
        self.map(|x| {
            runs.fetch_add(1, SeqCst);
            x
        })
    }
}
impl<I: IndexedParallelIterator<Item = i32>> InspectCount for I {}

/// Returns the lengths of the leaves, in order.
#[derive(Clone)]
struct Leaves;

impl<T> Reduction<T> for Leaves {
    type Accumulator = usize;
    type Output = Vec<usize>;
    fn start(&self) -> usize {
        0
    }
    fn fold_item(&self, len: usize, _: T) -> ControlFlow<usize, usize> {
        ControlFlow::Continue(len + 1)
    }
    fn finish(&self, len: usize) -> Vec<usize> {
        vec![len]
    }
    fn reduce(&self, left: Vec<usize>, right: Vec<usize>) -> Vec<usize> {
        [left, right].concat()
    }
}

#[test]
fn bounds_on_the_lengths_of_leaves() {
    on_pools(|| {
        let leaves = (0..1000).into_par_iter().with_max_len(60).drive(Leaves);
        assert!(leaves.iter().all(|len| *len <= 60), "{leaves:?}");
        let leaves = (0..1000).into_par_iter().bound_depth(20).with_min_len(60).drive(Leaves);
        assert!(leaves.iter().all(|len| *len >= 60), "{leaves:?}");
        assert_eq!(leaves.len(), 16);
        // Lengths are counted where the policy is named, and the policy of the first of two iterators holds for both.
        let chunks = (0..1000)
            .into_par_iter()
            .with_max_len(40)
            .chunks(10)
            .interleave((0..7).into_par_iter().chunks(1));
        let leaves = chunks.drive(Leaves);
        assert!(leaves.iter().all(|len| *len <= 4), "{leaves:?}");
        let items = || (0..1000).into_par_iter().bound_depth(20);
        let (at_run_time, boxed) =
            (AnyPolicy::from(MinLen::new(29)), AnyPolicy::of(Both::new(MinLen::new(29), Auto::new())));
        let leaves = [
            items().with_min_len(29).chunks(4).drive(Leaves),
            items().with_policy(at_run_time).chunks(4).drive(Leaves),
            items().with_policy(boxed).fold_chunks(4, || 0, |a, b| a + b).drive(Leaves),
            items().with_min_len(29).step_by(4).drive(Leaves),
            items().with_min_len(57).step_by(2).fold_chunks_with(4, 0, |a, b| a + b).drive(Leaves),
            items().chunks(4).with_min_len(8).drive(Leaves),
        ];
        assert!(leaves.iter().all(|leaves| leaves.iter().all(|len| (8..16).contains(len))), "{leaves:?}");
        let leaves = (0..1000).into_par_iter().size_limit(3).chunks(4).drive(Leaves);
        assert_eq!(leaves, [1; 250], "no chunk is divided");
        let leaves = (0..10).into_par_iter().with_max_len(0).drive(Leaves);
        assert_eq!(leaves, [1; 10]);
    });
}

/// I2: lengths up to the largest, at which nothing is lost or wraps around.
#[test]
fn the_largest_lengths() {
    const MAX: usize = usize::MAX;
    let all = || (0..MAX).into_par_iter();
    assert_eq!(all().step_by(MAX).collect::<Vec<_>>(), [0]);
    assert_eq!(all().step_by(MAX - 1).collect::<Vec<_>>(), [0, MAX - 1]);
    assert_eq!(all().step_by(MAX / 2 + 1).rev().collect::<Vec<_>>(), [MAX / 2 + 1, 0]);
    assert_eq!(all().skip(MAX - 2).collect::<Vec<_>>(), [MAX - 2, MAX - 1]);
    assert_eq!(all().skip(MAX).len(), 0);
    assert_eq!(all().rev().take(2).collect::<Vec<_>>(), [MAX - 1, MAX - 2]);
    assert_eq!(all().chunks(MAX).len(), 1);
    assert_eq!(all().chunks(3).skip(MAX / 3 - 1).collect::<Vec<_>>(), [vec![MAX - 3, MAX - 2, MAX - 1]]);
    assert_eq!(all().interleave_shortest(7..9).collect::<Vec<_>>(), [0, 7, 1, 8, 2]);
    assert_eq!(all().chain(0..0).len(), MAX);
    assert_eq!(all().chain(0..1).opt_len(), None);
    assert_eq!(all().intersperse(0).opt_len(), None);
    assert_eq!(all().skip(MAX / 2).intersperse(0).opt_len(), Some(MAX));
    assert_eq!(all().skip(MAX / 2).intersperse(7).skip(MAX - 2).collect::<Vec<_>>(), [7, MAX - 1]);
    // The last items of 2 MAX - 1, from a producer whose size says MAX.
    let mut interspersed = all().intersperse(0);
    assert_eq!(interspersed.producer().divide_at(MAX - 1).1.size(), MAX);
}

/// I2: a length that overflows is a clear panic.
#[test]
fn too_long_is_a_panic() {
    let all = || (0..usize::MAX).into_par_iter();
    fn panics<T>(f: impl FnOnce() -> T) -> bool {
        catch_unwind(AssertUnwindSafe(f)).map(drop).is_err()
    }
    assert!(panics(|| all().chain(0..1).len()));
    assert!(panics(|| all().chain(0..1).rev().take(1).collect::<Vec<_>>()));
    assert!(panics(|| all().interleave(0..1).len()));
    assert!(panics(|| all().interleave(0..1).take(1).collect::<Vec<_>>()));
    assert!(panics(|| all().intersperse(0).len()));
    assert!(panics(|| all().intersperse(0).enumerate().take(1).collect::<Vec<_>>()));
}

#[test]
#[should_panic(expected = "step must not be zero")]
fn step_by_0() {
    drop((0..10).into_par_iter().step_by(0));
}

#[test]
fn chunks_of_0() {
    let it = || (0..10).into_par_iter();
    let panics = [
        catch_unwind(|| drop(it().chunks(0))),
        catch_unwind(|| drop(it().fold_chunks(0, || 0, |a, b| a + b))),
        catch_unwind(|| drop(it().fold_chunks_with(0, 0, |a, b| a + b))),
    ];
    assert!(panics.iter().all(Result::is_err));
}

#[test]
#[should_panic(expected = "zip_eq: the iterators differ in length")]
fn zip_eq_of_unequal_lengths() {
    drop((0..10).into_par_iter().zip_eq(0..9));
}

/// A source that claims to have ten items, of which every cut puts none to the left (I3).
#[derive(Clone)]
struct Liar;

impl ParallelIterator for Liar {
    type Item = i32;
    type Producer<'a> = Lie;
    type Schedule = Plan<Auto, Join>;
    fn producer(&mut self) -> Lie {
        Lie
    }
    fn schedule(&self) -> Self::Schedule {
        Plan::new().join()
    }
}

impl IndexedParallelIterator for Liar {
    type IndexedProducer<'a> = Lie;
    fn indexed_producer(&mut self) -> Lie {
        Lie
    }
    fn len(&self) -> usize {
        10
    }
}

struct Lie;

impl Divisible for Lie {
    fn size(&self) -> usize {
        10
    }
    fn divide_at(self, _: usize) -> (Self, Self) {
        (Lie, Lie)
    }
}

impl IntoIterator for Lie {
    type Item = i32;
    type IntoIter = std::iter::Take<std::iter::RepeatN<i32>>;
    fn into_iter(self) -> Self::IntoIter {
        std::iter::repeat_n(1, 3).take(3)
    }
}

impl Producer for Lie {
    const FACTS: Facts = Facts::ITEMS;
}
impl IndexedProducer for Lie {}

#[test]
fn liars_end() {
    let it = || Liar.on(Inline).bound_depth(3);
    assert!(it().chunks(3).map(|chunk| chunk.len()).sum::<usize>() > 0);
    assert!(it().step_by(2).sum::<i32>() > 0);
    assert!(it().interleave(Liar).sum::<i32>() > 0);
    assert!(it().chain(Liar).skip(1).rev().take(100).sum::<i32>() > 0);
    assert!(it().intersperse(0).skip(1).take(9).sum::<i32>() > 0);
}

/// As std's `skip`: closures before it are called for the skipped items, and what costs nothing is cut off.
#[test]
fn skip_runs_the_closures_before_it() {
    let calls = AtomicUsize::new(0);
    let counted = |x: usize| {
        calls.fetch_add(1, SeqCst);
        x
    };
    let items = || (0..100_usize).into_par_iter().map(counted);
    for (n, len) in [(0, 100), (30, 70), (100, 0), (200, 0)] {
        assert_eq!(items().skip(n).count(), len);
        assert_eq!(calls.swap(0, SeqCst), 100, "map, {n}");
        assert_eq!((0..100_usize).into_par_iter().rev().inspect(|x| _ = counted(*x)).skip(n).count(), len);
        assert_eq!(calls.swap(0, SeqCst), 100, "inspect, {n}");
    }
    let sums = (0..100_usize).into_par_iter().fold_chunks(10, || 0, |sum, x| sum + counted(x));
    assert_eq!(sums.skip(9).collect::<Vec<_>>(), [945]);
    assert_eq!(calls.swap(0, SeqCst), 100);
    assert_eq!(
        (0..usize::MAX).into_par_iter().chunks(10).zip(0..usize::MAX).skip(usize::MAX / 10).count(),
        1
    );
}
