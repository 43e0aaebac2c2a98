//! The adaptors of indexed iterators, against std, in every combination of a few.

mod support;

use furcate::policy::Auto;
use furcate::prelude::*;
use furcate::{DefaultExecutor, IndexedProducer, Inline, Join, Reduction};
use proptest::prelude::*;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use support::{LENGTHS, assert_schedules, on_pools};

/// What std has no adaptor for.
fn interleaved<T>(left: Vec<T>, right: Vec<T>, shortest: bool) -> Vec<T> {
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let mut all = Vec::new();
    loop {
        match left.next() {
            Some(item) => all.push(item),
            None if shortest => return all,
            None => {
                all.extend(right);
                return all;
            }
        }
        match right.next() {
            Some(item) => all.push(item),
            None if shortest => return all,
            None => {
                all.extend(left);
                return all;
            }
        }
    }
}

fn interspersed(items: Vec<i64>, separator: i64) -> Vec<i64> {
    items.into_iter().flat_map(|item| [separator, item]).skip(1).collect()
}

fn batches(items: &[i64], size: usize) -> Vec<i64> {
    items
        .chunks(size)
        .map(|batch| batch.iter().fold(batch.len() as i64, |all, x| all.wrapping_mul(3) ^ x))
        .collect()
}

/// An adaptor from `i64`s to `i64`s, as data: random chains are made of them.
#[derive(Clone, Debug)]
enum Op {
    Skip(usize),
    Take(usize),
    StepBy(usize),
    Rev,
    Enumerate,
    Map,
    Zip(Vec<i64>),
    ZipEq,
    Chunks(usize),
    FoldChunks(usize),
    FoldChunksWith(usize),
    Interleave(Vec<i64>),
    InterleavedBy(Vec<i64>),
    InterleaveShortest(Vec<i64>),
    ShortestInterleavedBy(Vec<i64>),
    Chain(Vec<i64>),
    ChainedBehind(Vec<i64>),
    Intersperse,
}

fn ops() -> impl Strategy<Value = Op> {
    let small = 1..7_usize;
    let other = || proptest::collection::vec(-100..100_i64, 0..24);
    prop_oneof![
        (0..20_usize).prop_map(Op::Skip),
        (0..40_usize).prop_map(Op::Take),
        prop_oneof![1..7_usize, Just(usize::MAX)].prop_map(Op::StepBy),
        Just(Op::Rev),
        Just(Op::Enumerate),
        Just(Op::Map),
        other().prop_map(Op::Zip),
        Just(Op::ZipEq),
        prop_oneof![1..7_usize, Just(usize::MAX)].prop_map(Op::Chunks),
        small.clone().prop_map(Op::FoldChunks),
        small.prop_map(Op::FoldChunksWith),
        other().prop_map(Op::Interleave),
        other().prop_map(Op::InterleavedBy),
        other().prop_map(Op::InterleaveShortest),
        other().prop_map(Op::ShortestInterleavedBy),
        other().prop_map(Op::Chain),
        other().prop_map(Op::ChainedBehind),
        Just(Op::Intersperse),
    ]
}

fn pair((a, b): (i64, i64)) -> i64 {
    a.wrapping_mul(31) ^ b
}

/// The batch's length and items in order, as one number.
fn batch(items: Vec<i64>) -> i64 {
    let start = items.len() as i64;
    items.iter().fold(start, |all, x| all.wrapping_mul(3) ^ x)
}

impl Op {
    fn on_vec(&self, v: Vec<i64>) -> Vec<i64> {
        match self.clone() {
            Op::Skip(n) => v.into_iter().skip(n).collect(),
            Op::Take(n) => v.into_iter().take(n).collect(),
            Op::StepBy(n) => v.into_iter().step_by(n).collect(),
            Op::Rev => v.into_iter().rev().collect(),
            Op::Enumerate => v.into_iter().enumerate().map(|(i, x)| pair((i as i64, x))).collect(),
            Op::Map => v.into_iter().map(|x| x ^ 5).collect(),
            Op::Zip(w) => v.into_iter().zip(w).map(pair).collect(),
            Op::ZipEq => v.iter().zip(&v.clone()).map(|(&a, &b)| pair((a, b))).collect(),
            Op::Chunks(n) => batches(&v, n),
            Op::FoldChunks(n) | Op::FoldChunksWith(n) => {
                v.chunks(n).map(|batch| batch.iter().fold(7, |all: i64, x| all.wrapping_mul(3) ^ x)).collect()
            }
            Op::Interleave(w) => interleaved(v, w, false),
            Op::InterleavedBy(w) => interleaved(w, v, false),
            Op::InterleaveShortest(w) => interleaved(v, w, true),
            Op::ShortestInterleavedBy(w) => interleaved(w, v, true),
            Op::Chain(w) => v.into_iter().chain(w).collect(),
            Op::ChainedBehind(w) => w.into_iter().chain(v).collect(),
            Op::Intersperse => interspersed(v, -1),
        }
    }

    /// Applies the adaptor and goes on with what comes out.
    fn then<I, N>(&self, it: I, next: N) -> Vec<i64>
    where
        I: IndexedParallelIterator<Item = i64> + Clone,
        N: Next,
    {
        match self.clone() {
            Op::Skip(n) => next.go(it.skip(n)),
            Op::Take(n) => next.go(it.take(n)),
            Op::StepBy(n) => next.go(it.step_by(n)),
            Op::Rev => next.go(it.rev()),
            Op::Enumerate => next.go(it.enumerate().map(|(i, x)| pair((i as i64, x)))),
            Op::Map => next.go(it.map(|x| x ^ 5)),
            Op::Zip(w) => next.go(it.zip(w).map(pair)),
            Op::ZipEq => next.go(it.clone().zip_eq(it).map(pair)),
            Op::Chunks(n) => next.go(it.chunks(n).map(batch)),
            Op::FoldChunks(n) => next.go(it.fold_chunks(n, || 7, |all: i64, x| all.wrapping_mul(3) ^ x)),
            Op::FoldChunksWith(n) => {
                next.go(it.fold_chunks_with(n, 7, |all: i64, x| all.wrapping_mul(3) ^ x))
            }
            Op::Interleave(w) => next.go(it.interleave(w)),
            Op::InterleavedBy(w) => next.go(w.into_par_iter().interleave(it)),
            Op::InterleaveShortest(w) => next.go(it.interleave_shortest(w)),
            Op::ShortestInterleavedBy(w) => next.go(w.into_par_iter().interleave_shortest(it)),
            Op::Chain(w) => next.go(it.chain(w)),
            Op::ChainedBehind(w) => next.go(w.into_par_iter().chain(it)),
            Op::Intersperse => next.go(it.intersperse(-1)),
        }
    }
}

/// What happens to the iterator that an [`Op`] gives.
trait Next {
    fn go<I: IndexedParallelIterator<Item = i64> + Clone>(self, it: I) -> Vec<i64>;
}

/// Another adaptor (boxed on the way, so that two adaptors do not make 18^3 types).
struct Then<'a>(&'a [Op], Way);

impl Next for Then<'_> {
    fn go<I: IndexedParallelIterator<Item = i64> + Clone>(self, it: I) -> Vec<i64> {
        let Then(ops, way) = self;
        match ops.split_first() {
            None => way.go(it),
            Some((op, _)) => op.then(it, way),
        }
    }
}

/// A way to look at all items.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// In place, under a policy that cuts everywhere.
    Collect,
    /// Where the cuts are not half.
    Skewed(usize),
    /// From the back, leaf by leaf.
    Back,
    /// In nano-loops of a few units.
    NanoLoops,
    /// One sequential leaf, by `fold`.
    Fold,
}

impl Next for Way {
    fn go<I: IndexedParallelIterator<Item = i64> + Clone>(self, mut it: I) -> Vec<i64> {
        let len = it.len();
        assert_eq!(it.opt_len(), Some(len));
        let all = match self {
            Way::Collect => it.size_limit(1).collect(),
            Way::Skewed(index) => {
                let (left, right) = it.indexed_producer().divide_at(index);
                assert_eq!(left.size(), index.min(len));
                assert_eq!(right.size(), len.saturating_sub(index));
                let (middle, right) = right.divide_at(index);
                let leaves = [left.into_iter(), middle.into_iter(), right.into_iter()];
                leaves.into_iter().flat_map(|leaf| zigzag(leaf)).collect()
            }
            Way::Back => {
                let (left, right) = it.indexed_producer().divide();
                let mut back: Vec<i64> = right.into_iter().rev().chain(left.into_iter().rev()).collect();
                back.reverse();
                back
            }
            Way::NanoLoops => {
                let all = nano_loops(it.clone().producer());
                assert_eq!(nano_loops(it.indexed_producer()), all);
                all
            }
            Way::Fold => it.producer().into_iter().fold(Vec::new(), |mut all, x| {
                all.push(x);
                all
            }),
        };
        assert_eq!(all.len(), len);
        all
    }
}

/// All items, taken from both ends in turn; the length is right all the time.
fn zigzag<T>(mut leaf: impl DoubleEndedIterator<Item = T> + ExactSizeIterator) -> Vec<T> {
    let (mut front, mut back) = (Vec::new(), Vec::new());
    while leaf.len() > 0 {
        let left = leaf.len();
        front.push(leaf.next().expect("an item, as the length says"));
        assert_eq!(leaf.len(), left - 1);
        back.extend(leaf.next_back());
    }
    assert!(leaf.next().is_none() && leaf.next_back().is_none());
    front.extend(back.into_iter().rev());
    front
}

/// All items by nano-loops of 0, 1, 2, 3, 0, 1 ... units.
fn nano_loops<P: Producer>(mut producer: P) -> Vec<P::Item> {
    let mut all = Vec::new();
    for limit in (0..4).cycle() {
        let size = producer.size();
        if size == 0 {
            break;
        }
        let step = |mut all: Vec<_>, item| {
            all.push(item);
            ControlFlow::<(), _>::Continue(all)
        };
        match producer.partial_fold(all, step, limit) {
            ControlFlow::Continue((folded, rest)) => (all, producer) = (folded, rest),
            ControlFlow::Break(()) => unreachable!(),
        }
        assert_eq!(producer.size(), size.saturating_sub(limit));
    }
    all.extend(producer);
    all
}

fn ways() -> impl Strategy<Value = Way> {
    prop_oneof![
        Just(Way::Collect),
        (0..40_usize).prop_map(Way::Skewed),
        Just(Way::Back),
        Just(Way::NanoLoops),
        Just(Way::Fold),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    /// Every adaptor on top of every other one, walked in every way.
    #[test]
    fn chains_of_two_adaptors(
        v in proptest::collection::vec(-100..100_i64, 0..40),
        ops in proptest::collection::vec(ops(), 1..=2),
        way in ways(),
    ) {
        let expected = ops.iter().fold(v.clone(), |v, op| op.on_vec(v));
        let (first, rest) = ops.split_first().unwrap();
        prop_assert_eq!(first.then(v.into_par_iter(), Then(rest, way)), expected);
    }
}

/// The same in full: every schedule, on every pool, three adaptors deep.
#[test]
fn adaptors_under_every_schedule() {
    for len in LENGTHS {
        let v: Vec<i64> = (0..len as i64).collect();
        let expected = [Op::StepBy(3), Op::Interleave(v.clone()), Op::Chunks(4)];
        let expected = expected.iter().fold(v.clone(), |v, op| op.on_vec(v));
        let check = || {
            assert_schedules!(expected, v.clone().into_par_iter(), |it| {
                it.step_by(3).interleave(v.clone()).chunks(4).map(batch).collect::<Vec<_>>()
            });
        };
        if len < 100 {
            on_pools(check)
        } else {
            check()
        }
        let expected = [Op::Chain(v.clone()), Op::Skip(len / 3), Op::Rev, Op::Intersperse, Op::Take(len)];
        let expected = expected.iter().fold(v.clone(), |v, op| op.on_vec(v));
        assert_schedules!(expected, v.clone().into_par_iter(), |it| {
            it.chain(v.clone()).skip(len / 3).rev().intersperse(-1).take(len).collect::<Vec<_>>()
        });
        let expected: Vec<usize> =
            v.iter().rev().enumerate().filter(|(_, x)| *x % 3 == 0).map(|(i, _)| i).collect();
        assert_schedules!(expected, v.par_iter(), |it| it
            .rev()
            .positions(|x| x % 3 == 0)
            .collect::<Vec<_>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// What std has no adaptor for, against rayon.
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

/// Every item of a vector is dropped once, whether it is passed on, cut off or met by a panic (P2).
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
        // Not driven at all.
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

/// What is cut off is not run; what is run, is run once (I4).
#[test]
fn what_is_cut_off_is_not_run() {
    let runs = AtomicUsize::new(0);
    let counted = || (0..100).into_par_iter().inspect_count(&runs);
    assert_eq!(counted().skip(70).collect::<Vec<_>>().len(), 30);
    assert_eq!(runs.swap(0, SeqCst), 30);
    assert_eq!(counted().take(7).collect::<Vec<_>>().len(), 7);
    assert_eq!(runs.swap(0, SeqCst), 7);
    assert_eq!(counted().interleave_shortest(0..10).collect::<Vec<_>>().len(), 21);
    assert_eq!(runs.swap(0, SeqCst), 11);
    assert_eq!(counted().chunks(8).skip(12).collect::<Vec<_>>().len(), 1);
    assert_eq!(runs.swap(0, SeqCst), 4);
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

/// The lengths of the leaves, in order.
#[derive(Clone)]
struct Leaves;

impl<T> Reduction<T> for Leaves {
    type Accumulator = usize;
    type Output = Vec<usize>;
    fn start(&self) -> usize {
        0
    }
    fn step(&self, len: usize, _: T) -> ControlFlow<usize, usize> {
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
        // Counted in chunks, and the policy of the first of two holds for both.
        let chunks = (0..1000)
            .into_par_iter()
            .with_max_len(10)
            .chunks(10)
            .interleave((0..7).into_par_iter().chunks(1));
        let leaves = chunks.drive(Leaves);
        assert!(leaves.iter().all(|len| *len <= 10), "{leaves:?}");
        let leaves = (0..10).into_par_iter().with_max_len(0).drive(Leaves);
        assert_eq!(leaves, [1; 10]);
    });
}

/// I2: lengths up to the largest, on which nothing is lost or wrapped around.
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

/// ... or the overflow is a clear panic.
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
#[should_panic(expected = "the step is 0")]
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

/// A source that says it has ten items, of which every cut gives nothing to the left (I3).
#[derive(Clone)]
struct Liar;

impl ParallelIterator for Liar {
    type Item = i32;
    type Producer<'a> = Lie;
    type Policy = Auto;
    type Scheduler = Join;
    type Executor = DefaultExecutor;
    fn producer(&mut self) -> Lie {
        Lie
    }
    fn policy(&self) -> Auto {
        Auto::new()
    }
    fn scheduler(&self) -> Join {
        Join
    }
    fn executor(&self) -> DefaultExecutor {
        DefaultExecutor::default()
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

impl Producer for Lie {}
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
