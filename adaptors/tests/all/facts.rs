//! Every adaptor passes on the constants of its base's producer.

use furcate::iter::{Either, IndexedParallelIterator, ParallelIterator};
use furcate::prelude::*;
use furcate::{Divisible, Facts, IndexedProducer, PeekProducer, Producer};
use std::any::type_name;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

const USUAL: Facts = Facts::ITEMS;
/// The unusual values.
const ODD: Facts = Facts {
    pieces: true,
    steps_cut: true,
    grows: true,
    costly_cuts: true,
    in_order: false,
    fetched: true,
    free: false,
    ..Facts::SINGLE
};

/// Numbers whose producer has the constants `ODD`, or the usual ones.
#[derive(Clone)]
struct Numbers<const IS_ODD: bool>(Range<u32>);

impl<const IS_ODD: bool> Divisible for Numbers<IS_ODD> {
    fn size(&self) -> usize {
        self.0.size()
    }

    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.divide_at(index);
        (Numbers(left), Numbers(right))
    }
}

impl<const IS_ODD: bool> IntoIterator for Numbers<IS_ODD> {
    type Item = u32;
    type IntoIter = std::vec::IntoIter<u32>;

    fn into_iter(self) -> std::vec::IntoIter<u32> {
        self.0.collect::<Vec<_>>().into_iter()
    }
}

impl<const IS_ODD: bool> Producer for Numbers<IS_ODD> {
    const FACTS: Facts = if IS_ODD { ODD } else { USUAL };
}

impl<const IS_ODD: bool> IndexedProducer for Numbers<IS_ODD> {}

impl<const IS_ODD: bool> PeekProducer for Numbers<IS_ODD> {
    fn peek(&self, index: usize) -> u32 {
        self.0.peek(index)
    }
}

/// A parallel iterator over [`Numbers`].
#[derive(Clone)]
struct Source<const IS_ODD: bool>;

impl<const IS_ODD: bool> ParallelIterator for Source<IS_ODD> {
    type Item = u32;
    type Producer<'a> = Numbers<IS_ODD>;
    type Schedule = furcate::Plan;

    fn producer(&mut self) -> Numbers<IS_ODD> {
        Numbers(0..10)
    }

    fn schedule(&self) -> furcate::Plan {
        furcate::Plan::new()
    }
}

impl<const IS_ODD: bool> IndexedParallelIterator for Source<IS_ODD> {
    type IndexedProducer<'a> = Numbers<IS_ODD>;

    fn indexed_producer(&mut self) -> Numbers<IS_ODD> {
        Numbers(0..10)
    }

    fn len(&self) -> usize {
        10
    }
}

impl<const IS_ODD: bool> furcate::iter::PeekParallelIterator for Source<IS_ODD> {
    type PeekProducer<'a> = Numbers<IS_ODD>;

    fn peek_producer(&mut self) -> Numbers<IS_ODD> {
        Numbers(0..10)
    }
}

fn facts_of<P: Producer>(_: P) -> Facts {
    P::FACTS
}

/// The adaptors that were seen, by the names of their types, and the mistakes.
#[derive(Default)]
struct Seen {
    adaptors: BTreeSet<String>,
    mistakes: Vec<String>,
}

impl Seen {
    fn name<I>(&mut self) -> String {
        let path = type_name::<I>().split('<').next().unwrap_or_default();
        let name = path.rsplit("::").next().unwrap_or_default().to_owned();
        self.adaptors.insert(name.clone());
        name
    }

    fn compare(&mut self, what: String, facts: Facts, expected: Facts) {
        // Where an operation is applied, items are no longer free.
        if facts != (Facts { free: facts.free && expected.free, ..expected }) {
            self.mistakes.push(format!("{what}: {facts:?}, not {expected:?}"));
        }
    }

    fn check<I: ParallelIterator>(&mut self, mut adaptor: I, expected: Facts) {
        let name = self.name::<I>();
        self.compare(name, facts_of(adaptor.producer()), expected);
    }

    fn check_indexed<I: IndexedParallelIterator + Clone>(&mut self, adaptor: I, expected: Facts) {
        let name = self.name::<I>();
        self.compare(format!("{name}, indexed"), facts_of(adaptor.clone().indexed_producer()), expected);
        self.check(adaptor, expected);
    }
}

/// Checks every adaptor of a source with the given constants.
fn check_all<const IS_ODD: bool>(seen: &mut Seen, facts: Facts) {
    let source = || Source::<IS_ODD>;
    // Items are results of tasks, and a cut makes one more task.
    let of_tasks = Facts { pieces: true, single: false, ..facts };
    // An item becomes several, or has to be awaited, or a state is kept for all items.
    let not_single = Facts { single: false, ..facts };
    let costly_cuts = Facts { costly_cuts: true, ..facts };

    seen.check_indexed(source().map(|x| x), facts);
    seen.check_indexed(source().inspect(|_| {}), facts);
    seen.check_indexed(source().log("numbers"), facts);
    seen.check_indexed(source().progress(|_| ()), facts);
    seen.check_indexed(source().update(|_| {}), facts);
    seen.check_indexed(source().map_init(|| (), |(), x| x), not_single);
    seen.check_indexed(source().map_with((), |(), x| x), not_single);
    seen.check(source().filter(|_| true), facts);
    seen.check(source().filter_map(Some), facts);
    seen.check(source().flat_map(|x| 0..x), not_single);
    seen.check(source().flat_map_iter(|x| 0..x), not_single);
    seen.check(source().map(|x| 0..x).flatten(), not_single);
    seen.check(source().map(|x| 0..x).flatten_iter(), not_single);
    static ITEM: u32 = 0;
    seen.check_indexed(source().map(|_| &ITEM).cloned(), facts);
    seen.check_indexed(source().map(|_| &ITEM).copied(), facts);
    seen.check_indexed(source().chain(source()), facts);
    seen.check_indexed(source().enumerate(), facts);
    seen.check_indexed(source().zip(source()), facts);
    seen.check_indexed(source().zip_eq(source()), facts);
    seen.check_indexed((source(), source(), source()).into_par_iter(), facts);
    seen.check_indexed(Either::<_, Source<IS_ODD>>::Left(source()), facts);
    seen.check_indexed(source().rev(), facts);
    seen.check_indexed(source().skip(1), facts);
    seen.check_indexed(source().take(1), facts);
    seen.check_indexed(source().step_by(2), facts);
    seen.check_indexed(source().chunks(2), facts);
    seen.check_indexed(source().fold_chunks(2, || 0, |a, b| a + b), facts);
    seen.check_indexed(source().fold_chunks_with(2, 0, |a, b| a + b), facts);
    seen.check_indexed(source().interleave(source()), facts);
    seen.check_indexed(source().interleave_shortest(source()), facts);
    seen.compare("Intersperse, indexed".into(), facts_of(source().intersperse(1).indexed_producer()), facts);
    // `intersperse` may have to collect the items. Collected items are in order.
    seen.check(source().intersperse(1), Facts { in_order: true, ..facts });
    seen.check_indexed(source().merge(source()), costly_cuts);
    seen.check_indexed(source().merge_by(source(), |a, b| a.cmp(b)), costly_cuts);
    seen.check_indexed(source().merge_by_key(source(), |a| *a), costly_cuts);
    seen.check(source().positions(|_| true), facts);
    seen.check_indexed(source().panic_fuse(), not_single);
    seen.check(source().map(Some).while_some(), facts);
    seen.check(source().fold(|| 0, |a, b| a + b), of_tasks);
    seen.check(source().fold_with(0, |a, b| a + b), of_tasks);
    seen.check(source().try_fold(|| 0, |a, b| Some(a + b)), of_tasks);
    seen.check(source().try_fold_with(0, |a, b| Some(a + b)), of_tasks);
    seen.check_indexed(source().with_min_len(2), facts);
    seen.check_indexed(source().with_max_len(2), facts);
    seen.check_indexed(source().by_exponential_blocks(), facts);
    seen.check_indexed(source().by_uniform_blocks(3), facts);
    seen.check_indexed(source().bound_depth(3), facts);
    seen.check_indexed(source().join(), facts);
    seen.check_indexed(source().on(furcate::Inline), facts);
    seen.check(source().map(std::future::ready).io_await(), not_single);
    seen.check(source().map(std::future::ready).io_await().timeout(Duration::from_secs(1)), not_single);

    seen.check(source().take_any(3), facts);
    seen.check(source().skip_any(3), facts);
    seen.check(source().take_any_while(|_| true), facts);
    seen.check(source().skip_any_while(|_| true), facts);
}

/// Names of the module that need no line: adaptors that have a line under another name, names that are not adaptors,
/// and scans, whose producers have no constants of the base.
const OTHERS: &[&str] = &[
    "ExponentialBlocks",
    "UniformBlocks",
    "MaxLen",
    "MinLen",
    "MergeBy",
    "MergeByKey",
    "Elapsed",
    "Timeout",
    "Timeouts",
    "PrefixScan",
    // What a tuple does with its items.
    "Unnest",
    // Traits.
    "AwaitedInOrder",
    "ProgressSink",
];

#[test]
fn every_adaptor_passes_the_facts_of_its_base_on() {
    let mut seen = Seen::default();
    check_all::<false>(&mut seen, USUAL);
    check_all::<true>(&mut seen, ODD);
    assert!(seen.mistakes.is_empty(), "{:#?}", seen.mistakes);
    let list = include_str!("../../src/iter/adaptors.rs");
    let exported = list.lines().filter_map(|line| line.strip_prefix("pub use ")?.split_once("::"));
    let names = exported.flat_map(|(_, names)| names.split([',', ' ', '{', '}', ';']));
    let missing: Vec<_> = names
        .filter(|name| !name.is_empty() && !OTHERS.contains(name) && !seen.adaptors.contains(*name))
        .collect();
    assert!(missing.is_empty(), "adaptors without a line in this test: {missing:?}");
}

/// Gates do not cut pieces: the policy decides how many are made.
#[test]
fn pieces_behind_gates_are_not_cut_into_blocks() {
    let pieces = AtomicUsize::new(0);
    let count = |piece: Range<usize>| {
        pieces.fetch_add(1, Relaxed);
        piece
    };
    let source = || (0..100_000_usize).wrap_iter().bound_depth(2).map(count);
    assert!(!source().map(Some).while_some().any(|piece| piece.is_empty()));
    assert_eq!(pieces.swap(0, Relaxed), 4, "while_some");
    assert!(!source().panic_fuse().any(|piece| piece.is_empty()));
    assert_eq!(pieces.swap(0, Relaxed), 4, "panic_fuse");
    assert!(!source().take_any(1_000_000).any(|piece| piece.is_empty()));
    assert_eq!(pieces.swap(0, Relaxed), 4, "take_any");
    assert!(!source().skip_any_while(|_| false).any(|piece| piece.is_empty()));
    assert_eq!(pieces.swap(0, Relaxed), 4, "skip_any_while");
}
