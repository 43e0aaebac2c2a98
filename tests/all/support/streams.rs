//! Shared parts of the tests of streams: streams whose items come in all kinds of ways, and items that are counted.

use super::{Ways, pool};
use furcate::prelude::*;
use furcate::stream::Stream;
use futures_lite::{StreamExt, stream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Pools for one test alone, so that no other test's tasks are counted.
pub(crate) fn pools() -> impl Iterator<Item = furcate::ThreadPool> {
    [1, 2, 3].into_iter().map(pool)
}

/// The numbers below `n`, each of which comes in some way.
pub(crate) fn numbers(n: u64, ways: Ways) -> impl Stream<Item = u64> + Send + 'static {
    stream::unfold(0, move |x| async move {
        if x == n {
            return None;
        }
        ways.wait(x).await;
        Some((x, x + 1))
    })
}

pub(crate) fn sorted(mut items: Vec<u64>) -> Vec<u64> {
    items.sort_unstable();
    items
}

/// Counts the items that are alive, and the greatest number so far.
#[derive(Default)]
pub(crate) struct Census {
    pub(crate) alive: AtomicUsize,
    pub(crate) most: AtomicUsize,
    pub(crate) made: AtomicUsize,
}

impl Census {
    pub(crate) const fn new() -> Self {
        Census { alive: AtomicUsize::new(0), most: AtomicUsize::new(0), made: AtomicUsize::new(0) }
    }

    pub(crate) fn make(&'static self, value: u64) -> Counted {
        self.made.fetch_add(1, Relaxed);
        self.most.fetch_max(self.alive.fetch_add(1, Relaxed) + 1, Relaxed);
        Counted { value, census: self }
    }

    /// Returns the number of items that are alive.
    pub(crate) fn alive(&self) -> usize {
        self.alive.load(Relaxed)
    }

    #[track_caller]
    pub(crate) fn assert_all_gone(&self) {
        let begun = Instant::now();
        while self.alive.load(Relaxed) > 0 {
            assert!(begun.elapsed() < Duration::from_secs(20), "{} are left", self.alive.load(Relaxed));
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Waits until a count reaches its expected value, and checks that it stays there.
#[track_caller]
pub(crate) fn assert_comes_to(count: impl Fn() -> usize, expected: usize) {
    let begun = Instant::now();
    while count() != expected && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(count(), expected);
}

pub(crate) fn census() -> &'static Census {
    Box::leak(Box::new(Census::new()))
}

pub(crate) struct Counted {
    pub(crate) value: u64,
    pub(crate) census: &'static Census,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.census.alive.fetch_sub(1, Relaxed);
        assert!(before > 0, "dropped twice");
    }
}

pub(crate) const ALL_WAYS: [Ways; 5] =
    [Ways::Ready, Ways::Yields, Ways::Timers, Ways::Threads, Ways::Mixed(11)];

/// Counts the items that are processed at the same time.
#[derive(Default)]
pub(crate) struct Busy {
    pub(crate) now: AtomicUsize,
    pub(crate) most: AtomicUsize,
}

impl Busy {
    pub(crate) fn begin(&self) {
        self.most.fetch_max(self.now.fetch_add(1, Relaxed) + 1, Relaxed);
    }

    pub(crate) fn sleep(&self, millis: u64) {
        self.begin();
        std::thread::sleep(Duration::from_millis(millis));
        self.now.fetch_sub(1, Relaxed);
    }
}

/// Checks that three workers or more process items at the same time. On a busy machine a worker may be without a core, so
/// `run` has several tries, each on a pool of its own.
#[track_caller]
pub(crate) fn assert_three_at_once(run: impl Fn(&furcate::ThreadPool, &'static Busy)) {
    let most = || {
        let busy: &'static Busy = Box::leak(Box::<Busy>::default());
        run(&pool(3), busy);
        busy.most.load(Relaxed)
    };
    // While a worker waits, another one may replace it, so there may be more than three.
    assert!((0..20).any(|_| most() >= 3), "never three at once");
}

/// Collects all items of a stream.
pub(crate) async fn collect(stream: impl Stream<Item = u64>) -> Vec<u64> {
    stream.collect().await
}

/// A parallel iterator whose items come in some way.
pub(crate) fn waits(n: u64, ways: Ways) -> impl ParallelIterator<Item = u64> + 'static {
    (0..n).into_par_iter().map(move |x| ways.give(x, x)).io_await()
}
