//! rayon's parallel iterators as chains, and chains as rayon's parallel iterators.

use furcate::iter::Partial;
use furcate::policy::CancelToken;
use furcate::prelude::*;
use furcate::{from_rayon, from_rayon_unindexed};
use proptest::prelude::*;
use rayon::iter::IndexedParallelIterator as RayonIndexed;
use rayon::iter::ParallelIterator as RayonIterator;
use rayon::iter::plumbing;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// An iterator whose producer refers to the frame of `with_producer`, and notices if it is used when that frame has ended. It can be
/// driven in no other way.
struct Framed {
    len: usize,
    /// Items that were made, and parts and items that live.
    made: Arc<AtomicUsize>,
    live: Arc<AtomicUsize>,
}

struct Frame {
    numbers: Vec<usize>,
    live: Arc<AtomicUsize>,
}

impl Drop for Frame {
    fn drop(&mut self) {
        assert!(std::thread::panicking() || self.live.load(Relaxed) == 0, "a part has outlived the frame");
        self.numbers.fill(usize::MAX);
    }
}

/// Counts a value that lives.
struct Live(Arc<AtomicUsize>);

impl Live {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Relaxed);
        Live(Arc::clone(count))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

struct FramedPart<'f> {
    numbers: &'f [usize],
    made: Arc<AtomicUsize>,
    live: Live,
}

struct FramedItems<'f> {
    numbers: std::slice::Iter<'f, usize>,
    made: Arc<AtomicUsize>,
    _live: Live,
}

impl Framed {
    fn new(len: usize) -> Self {
        Framed { len, made: Arc::default(), live: Arc::default() }
    }
}

impl RayonIterator for Framed {
    type Item = usize;
    fn drive_unindexed<C: plumbing::UnindexedConsumer<usize>>(self, _: C) -> C::Result {
        panic!("driven by rayon")
    }
}

impl RayonIndexed for Framed {
    fn len(&self) -> usize {
        self.len
    }
    fn drive<C: plumbing::Consumer<usize>>(self, _: C) -> C::Result {
        panic!("driven by rayon")
    }
    fn with_producer<C: plumbing::ProducerCallback<usize>>(self, callback: C) -> C::Output {
        let frame = Frame { numbers: (0..self.len).collect(), live: Arc::clone(&self.live) };
        let live = Live::new(&self.live);
        callback.callback(FramedPart { numbers: &frame.numbers, made: self.made, live })
    }
}

impl<'f> plumbing::Producer for FramedPart<'f> {
    type Item = usize;
    type IntoIter = FramedItems<'f>;
    fn into_iter(self) -> FramedItems<'f> {
        FramedItems { numbers: self.numbers.iter(), made: self.made, _live: self.live }
    }
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.numbers.split_at(index);
        let right =
            FramedPart { numbers: right, made: Arc::clone(&self.made), live: Live::new(&self.live.0) };
        (FramedPart { numbers: left, ..self }, right)
    }
}

impl Iterator for FramedItems<'_> {
    type Item = usize;
    fn next(&mut self) -> Option<usize> {
        let item = *self.numbers.next()?;
        self.made.fetch_add(1, Relaxed);
        Some(item)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl DoubleEndedIterator for FramedItems<'_> {
    fn next_back(&mut self) -> Option<usize> {
        self.made.fetch_add(1, Relaxed);
        self.numbers.next_back().copied()
    }
}

impl ExactSizeIterator for FramedItems<'_> {}

const LEN: usize = 10_000;
const SUM: usize = LEN * (LEN - 1) / 2;

fn framed() -> furcate::iter::FromRayon<Framed> {
    from_rayon(Lend(Framed::new(LEN)))
}

/// A parallel iterator is made of itself.
struct Lend<I>(I);

impl<I: RayonIterator> rayon::iter::IntoParallelIterator for Lend<I> {
    type Item = I::Item;
    type Iter = I;
    fn into_par_iter(self) -> I {
        self.0
    }
}

#[test]
fn every_terminal_runs_in_the_callback() {
    assert_eq!(framed().sum::<usize>(), SUM);
    assert_eq!(framed().map(|x| x + 1).filter(|x| x % 2 == 0).count(), LEN / 2);
    assert_eq!(framed().collect::<Vec<_>>(), (0..LEN).collect::<Vec<_>>());
    assert_eq!(framed().rev().enumerate().filter(|(i, x)| i + x != LEN - 1).count(), 0);
    assert_eq!(framed().find_first(|&x| x > 5000), Some(5001));
    assert_eq!(framed().find_last(|&x| x < 5000), Some(4999));
    assert!(framed().any(|x| x == 7777));
    assert_eq!(framed().fold(|| 0, |sum, x| sum + x).sum::<usize>(), SUM);
    assert_eq!(framed().chunks(7).map(|chunk| chunk.len()).sum::<usize>(), LEN);
    assert_eq!(framed().step_by(3).skip(1).take(10).max(), Some(30));
    assert_eq!(framed().map_init(|| 1, |one, x| x + *one).sum::<usize>(), SUM + LEN);
    let (even, odd): (Vec<usize>, Vec<usize>) = framed().partition(|x| x % 2 == 0);
    assert_eq!((even.len(), odd[1]), (LEN / 2, 3));
    let (a, b): (Vec<usize>, Vec<usize>) = framed().map(|x| (x, x)).unzip();
    assert_eq!(a, b);
    let mut target = vec![1, 2, 3];
    framed().collect_into_vec(&mut target);
    assert_eq!(target.len(), LEN);
    assert!(framed().eq(0..LEN));
}

#[test]
fn schedules_hold() {
    assert_eq!(framed().adaptive().sum::<usize>(), SUM);
    assert_eq!(framed().depjoin().size_limit(10).sum::<usize>(), SUM);
    assert_eq!(framed().by_blocks([10, 100, 1000]).sum::<usize>(), SUM);
    assert_eq!(framed().sequential().sum::<usize>(), SUM);
    assert_eq!(framed().on(furcate::Inline).bound_depth(3).fold(|| 0, |n, _| n + 1).count(), 8);
    assert_eq!(framed().on(furcate::Rayon).sum::<usize>(), SUM);
    let plan = furcate::Plan::new().even_levels().adaptive();
    assert_eq!(framed().with(plan).sum::<usize>(), SUM);
}

#[test]
fn several_sources_in_one_chain() {
    assert_eq!(framed().zip(framed()).map(|(a, b)| a + b).sum::<usize>(), 2 * SUM);
    assert_eq!(framed().chain(framed()).chain(framed()).sum::<usize>(), 3 * SUM);
    assert_eq!((0..LEN).into_par_iter().zip(framed()).filter(|(a, b)| a != b).count(), 0);
    assert_eq!((0..LEN).into_par_iter().chain(framed()).sum::<usize>(), 2 * SUM);
    assert_eq!(framed().interleave(framed().rev()).sum::<usize>(), 2 * SUM);
    assert_eq!(framed().interleave_shortest(framed()).zip_eq(framed().chain(framed())).count(), 2 * LEN);
}

#[test]
fn futures_are_awaited_in_the_callback() {
    let sum = framed()
        .map(|x| async move {
            futures_lite::future::yield_now().await;
            x
        })
        .io_await()
        .map(|x| x + 1)
        .sum::<usize>();
    assert_eq!(sum, SUM + LEN);
}

#[test]
fn stops_are_heard() {
    let token = CancelToken::new();
    let items = Framed::new(LEN);
    let made = Arc::clone(&items.made);
    let stopped = from_rayon(Lend(items)).stop_on(&token).run(|items: Partial<_, _>| {
        items.for_each(|x| {
            if x == 3 {
                token.cancel();
            }
        })
    });
    assert!(stopped.is_err());
    assert!(made.load(Relaxed) < LEN, "all items were made");
}

#[test]
fn a_panic_drops_everything_and_ends_the_frame_last() {
    for at in [0, 1, 4999, LEN - 1] {
        let items = Framed::new(LEN);
        let live = Arc::clone(&items.live);
        let end = catch_unwind(AssertUnwindSafe(|| {
            from_rayon(Lend(items)).for_each(|x| assert!(x != at, "as told"));
        }));
        assert!(end.is_err());
        assert_eq!(live.load(Relaxed), 0);
    }
}

/// Items that are owned are dropped once, whoever holds them when a consumer panics.
#[test]
fn owned_items_are_dropped_once() {
    let live = Arc::new(AtomicUsize::new(0));
    let items: Vec<Live> = (0..1000).map(|_| Live::new(&live)).collect();
    let seen = AtomicUsize::new(0);
    let end = catch_unwind(AssertUnwindSafe(|| {
        from_rayon(items).for_each(|item| {
            assert!(seen.fetch_add(1, Relaxed) != 500, "as told");
            drop(item);
        });
    }));
    assert!(end.is_err());
    assert_eq!(live.load(Relaxed), 0);
}

/// Where no terminal runs the chain, rayon collects the items.
#[test]
fn elsewhere_the_items_are_copied() {
    let numbers = || from_rayon(0..1000_usize);
    let mut blocks = numbers().map(|x| x + 1).blocks_iter([10, 100]);
    assert_eq!(blocks.items().sum::<usize>(), 500_500);
    assert_eq!(furcate::block_on(numbers().async_sum::<usize>()), 499_500);
    assert_eq!((0..3).into_par_iter().flat_map(|_| numbers()).sum::<usize>(), 3 * 499_500);
    let mut lent = numbers();
    let (left, right) = lent.producer().divide_at(10);
    assert_eq!((left.into_iter().sum::<usize>(), right.into_iter().len()), (45, 990));

    /// Does not pass on scopes: it cannot.
    struct Mine<I>(I);
    impl<I: ParallelIterator> ParallelIterator for Mine<I> {
        type Item = I::Item;
        type Producer<'a>
            = I::Producer<'a>
        where
            Self: 'a;
        type Schedule = I::Schedule;
        fn producer(&mut self) -> I::Producer<'_> {
            self.0.producer()
        }
        fn schedule(&self) -> I::Schedule {
            self.0.schedule()
        }
    }
    assert_eq!(Mine(numbers()).map(|x| x).sum::<usize>(), 499_500);
    assert_eq!(framed().zip(from_rayon(0..LEN).map(|x| x)).count(), LEN);
}

#[test]
fn min_len_is_kept() {
    let parts = from_rayon(rayon::iter::IndexedParallelIterator::with_min_len(
        rayon::iter::IntoParallelIterator::into_par_iter(0..1000_usize),
        300,
    ));
    assert_eq!(parts.force_depth(5).fold(|| 0, |n, _| n + 1).collect::<Vec<_>>(), [500, 500]);
}

#[test]
fn unindexed_iterators_are_collected() {
    let odd =
        || RayonIterator::filter(rayon::iter::IntoParallelIterator::into_par_iter(0..1000), |x| x % 2 == 1);
    assert_eq!(
        from_rayon_unindexed(odd()).collect::<Vec<i32>>(),
        (0..500).map(|i| 2 * i + 1).collect::<Vec<_>>()
    );
    assert_eq!(from_rayon_unindexed(odd()).bound_depth(2).find_first(|&x| x > 10), Some(11));
}

#[test]
fn chains_are_rayon_iterators() {
    let chain = || (0..1000_u64).into_par_iter().map(|x| x * x);
    let squares: Vec<u64> = (0..1000).map(|x| x * x).collect();
    assert_eq!(RayonIterator::collect::<Vec<_>>(chain().into_rayon()), squares);
    assert_eq!(RayonIterator::collect::<Vec<_>>(chain().into_rayon_unindexed()), squares);
    let even = || chain().filter(|x| x % 2 == 0).size_limit(10).into_rayon_unindexed();
    let expected: Vec<u64> = squares.iter().copied().filter(|x| x % 2 == 0).collect();
    assert_eq!(RayonIterator::collect::<Vec<_>>(even()), expected);
    assert_eq!(
        RayonIterator::find_first(even(), |&x| x > 5000),
        expected.iter().copied().find(|&x| x > 5000)
    );
    assert_eq!(
        RayonIterator::find_last(even(), |&x| x < 5000),
        expected.iter().copied().rfind(|&x| x < 5000)
    );
    assert!(RayonIterator::any(even(), |x| x == 4));
    assert_eq!(RayonIterator::sum::<u64>(RayonIterator::take_any(even(), 0)), 0);
    let strings = RayonIterator::map(chain().into_rayon(), |x| x.to_string());
    assert_eq!(
        RayonIterator::reduce(strings, String::new, |a, b| a + &b),
        squares.iter().map(u64::to_string).collect::<String>()
    );
    // Adaptors and searches that need positions.
    let zipped = RayonIndexed::zip(RayonIndexed::rev(chain().into_rayon()), chain().into_rayon());
    assert_eq!(RayonIterator::map(zipped, |(a, b)| a.abs_diff(b)).max(), squares.last().copied());
    assert_eq!(RayonIndexed::position_first(chain().into_rayon(), |x| x == 81), Some(9));
}

#[test]
fn a_chain_behind_io_await_is_a_rayon_iterator() {
    let answers = (0..100).into_par_iter().map(|x| async move { x }).io_await().into_rayon_unindexed();
    assert_eq!(RayonIterator::collect::<Vec<_>>(RayonIterator::filter(answers, |x| x % 3 == 0)).len(), 34);
}

#[test]
fn there_and_back_again() {
    let chain = || framed().map(|x| x + 1).into_rayon();
    assert_eq!(RayonIterator::sum::<usize>(chain()), SUM + LEN);
    assert_eq!(from_rayon(chain()).rev().take(1).sum::<usize>(), LEN);
    assert_eq!(RayonIterator::count(framed().into_rayon_unindexed()), LEN);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_schedule_gives_the_same(
        items in prop::collection::vec(any::<u16>(), 0..500), depth in 0..6_u32, limit in 1..50_usize, kind in 0..4,
    ) {
        let expected: Vec<u32> = items.iter().map(|&x| u32::from(x)).filter(|x| x % 3 != 0).collect();
        let chain = from_rayon(items.clone()).map(u32::from).filter(|x| x % 3 != 0);
        let chain = chain.bound_depth(depth).size_limit(limit);
        let found: Vec<u32> = match kind {
            0 => chain.collect(),
            1 => chain.adaptive().collect(),
            2 => chain.by_blocks([limit]).collect(),
            _ => RayonIterator::collect(chain.into_rayon_unindexed()),
        };
        prop_assert_eq!(found, expected);
    }
}

/// As rayon's own `skip` does.
#[test]
fn skip_calls_the_closures_of_a_rayon_chain_for_all_items() {
    let count = AtomicUsize::new(0);
    let numbers = rayon::iter::IntoParallelIterator::into_par_iter(0..10_u32);
    let counted = RayonIterator::inspect(numbers, |_| _ = count.fetch_add(1, Relaxed));
    let rest: Vec<u32> = from_rayon(counted).skip(3).collect();
    assert_eq!((rest, count.into_inner()), ((3..10).collect(), 10));
}
