//! Random chains of indexed adaptors, walked in every way, against std.

use crate::support::steps::in_steps;
use furcate::prelude::*;
use proptest::prelude::*;

/// The sequential form of adaptors that std does not have.
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

/// An adaptor from `i64`s to `i64`s, as data for random chains.
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

/// Returns a batch's length and its items in order, as one number.
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

    /// Applies the adaptor and continues with the result.
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

/// The continuation with the iterator that an [`Op`] makes.
trait Next {
    fn go<I: IndexedParallelIterator<Item = i64> + Clone>(self, it: I) -> Vec<i64>;
}

/// Continues with another adaptor (boxed on the way, so that two adaptors do not make 18^3 types).
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

/// A way to walk all items.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// In place, under a policy that cuts everywhere.
    Collect,
    /// With cuts that are not in the middle.
    Skewed(usize),
    /// From the back, leaf by leaf.
    Back,
    /// In steps of a few units.
    Steps,
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
                leaves.into_iter().flat_map(zigzag).collect()
            }
            Way::Back => {
                let (left, right) = it.indexed_producer().divide();
                let mut back: Vec<i64> = right.into_iter().rev().chain(left.into_iter().rev()).collect();
                back.reverse();
                back
            }
            Way::Steps => {
                let all = in_steps(it.clone().producer(), (0..4).cycle()).concat();
                assert_eq!(in_steps(it.indexed_producer(), (0..4).cycle()).concat(), all);
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

/// Takes all items from both ends in turn, and checks that the length is right all the time.
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

fn ways() -> impl Strategy<Value = Way> {
    prop_oneof![
        Just(Way::Collect),
        (0..40_usize).prop_map(Way::Skewed),
        Just(Way::Back),
        Just(Way::Steps),
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
