//! Streams, into parallel iterators and out of them: the items are those of the stream, no more of them are made than there is
//! room for, and nothing is left when somebody goes away.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]
#![cfg(feature = "stream")]

mod support;

use furcate::prelude::*;
use furcate::stream::{Stream, pipeline};
use futures_lite::{StreamExt, future, stream};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use support::{Ways, a_minute, after, assert_settled, pool};

/// Pools for a test of its own, so that nobody else's tasks are counted.
fn pools() -> impl Iterator<Item = furcate::ThreadPool> {
    [1, 2, 3].into_iter().map(pool)
}

/// The numbers below `n`, each of which comes in some way.
fn numbers(n: u64, ways: Ways) -> impl Stream<Item = u64> + Send + 'static {
    stream::unfold(0, move |x| async move {
        if x == n {
            return None;
        }
        ways.wait(x).await;
        Some((x, x + 1))
    })
}

fn sorted(mut items: Vec<u64>) -> Vec<u64> {
    items.sort_unstable();
    items
}

/// Counts those that are alive, and the most that were.
#[derive(Default)]
struct Census {
    alive: AtomicUsize,
    most: AtomicUsize,
    made: AtomicUsize,
}

impl Census {
    const fn new() -> Self {
        Census { alive: AtomicUsize::new(0), most: AtomicUsize::new(0), made: AtomicUsize::new(0) }
    }

    fn make(&'static self, value: u64) -> Counted {
        self.made.fetch_add(1, Relaxed);
        self.most.fetch_max(self.alive.fetch_add(1, Relaxed) + 1, Relaxed);
        Counted { value, census: self }
    }

    #[track_caller]
    fn assert_all_gone(&self) {
        let begun = Instant::now();
        while self.alive.load(Relaxed) > 0 {
            assert!(begun.elapsed() < Duration::from_secs(20), "{} are left", self.alive.load(Relaxed));
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn census() -> &'static Census {
    Box::leak(Box::new(Census::new()))
}

struct Counted {
    value: u64,
    census: &'static Census,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let before = self.census.alive.fetch_sub(1, Relaxed);
        assert!(before > 0, "dropped twice");
    }
}

const ALL_WAYS: [Ways; 5] = [Ways::Ready, Ways::Yields, Ways::Timers, Ways::Threads, Ways::Mixed(11)];

// ------------------------------------------------------------------------------------------------ par_bridge_async

#[test]
fn a_bridge_gives_every_item_once() {
    for pool in pools() {
        for ways in ALL_WAYS {
            for n in [0, 1, 2, 100] {
                let items: Vec<u64> = numbers(n, ways).par_bridge_async().map(|x| 2 * x).on(&pool).collect();
                assert_eq!(sorted(items), (0..n).map(|x| 2 * x).collect::<Vec<_>>(), "{n} {ways:?}");
            }
        }
        assert_settled(&pool);
    }
}

/// How many are busy at the same time?
#[derive(Default)]
struct Busy {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Busy {
    fn begin(&self) {
        self.most.fetch_max(self.now.fetch_add(1, Relaxed) + 1, Relaxed);
    }

    fn sleep(&self, millis: u64) {
        self.begin();
        std::thread::sleep(Duration::from_millis(millis));
        self.now.fetch_sub(1, Relaxed);
    }
}

/// A stream that is always ready is not the work of one thread.
#[test]
fn a_ready_stream_runs_in_parallel() {
    let (pool, busy) = (pool(3), Busy::default());
    numbers(200, Ways::Ready).par_bridge_async().on(&pool).for_each(|_| busy.sleep(2));
    assert_eq!(busy.most.into_inner(), 3);
}

/// One whose items come one by one is not either.
#[test]
fn a_slow_stream_runs_in_parallel() {
    let (pool, busy) = (pool(3), Busy::default());
    numbers(60, Ways::Timers).par_bridge_async().on(&pool).for_each(|_| busy.sleep(20));
    assert_eq!(busy.most.into_inner(), 3);
}

/// Engines that cannot suspend wait in their threads.
#[test]
fn bridges_on_other_engines() {
    for ways in ALL_WAYS {
        let items: Vec<u64> = numbers(100, ways).par_bridge_async().on(furcate::Inline).collect();
        assert!(items.into_iter().eq(0..100), "one thread keeps the order");
        #[cfg(feature = "rayon")]
        assert_eq!(numbers(100, ways).par_bridge_async().on(furcate::Rayon).sum::<u64>(), 4950);
    }
}

/// No item is taken before somebody goes on with it.
#[test]
fn a_bridge_takes_what_it_runs() {
    for bound in [1, 2, 7] {
        let (pool, census) = (pool(2), census());
        let items = numbers(300, Ways::Ready).map(|x| census.make(x)).par_bridge_async();
        let slow = |item: Counted| async move {
            after(1).await;
            item.value
        };
        let sum: u64 = items.map(slow).io_await().max_in_flight(bound).on(&pool).sum();
        assert_eq!(sum, 44_850);
        assert!(census.most.load(Relaxed) <= bound, "{} > {bound}", census.most.load(Relaxed));
    }
}

/// The bound that was named holds for what comes behind, if that has none of its own.
#[test]
fn a_bound_is_passed_on() {
    let (pool, census) = (pool(2), census());
    let items = numbers(100, Ways::Ready).map(|x| census.make(x)).par_bridge_async().max_in_flight(3);
    let sum: u64 = items
        .map(|item| async move {
            after(1).await;
            item
        })
        .io_await()
        .map(|item| async move {
            after(1).await;
            item.value
        })
        .io_await()
        .on(&pool)
        .sum();
    assert_eq!(sum, 4950);
    // Those that are being folded, and are not in flight any more, besides.
    assert!(census.most.load(Relaxed) <= 3 + 2, "{}", census.most.load(Relaxed));
}

/// What was folded is reduced on the way, and does not wait for the end.
#[test]
fn a_long_stream_keeps_little() {
    for bound in [1, 4, 64] {
        let (pool, census) = (pool(2), census());
        let first = |left: Counted, _: Counted| left;
        let items = numbers(20_000, Ways::Yields).par_bridge_async().max_in_flight(bound);
        items.map(|x| census.make(x)).on(&pool).reduce(|| census.make(0), first);
        let range = (0..20_000).into_par_iter().map(|x| Ways::Yields.give(x, x));
        range
            .io_await()
            .max_in_flight(bound)
            .map(|x| census.make(x))
            .on(&pool)
            .reduce(|| census.make(0), first);
        let most = census.most.load(Relaxed);
        assert!(most < 200 + 10 * bound, "{most} with {bound} in flight");
    }
}

#[test]
fn endless_streams_end_with_the_search() {
    for pool in pools() {
        for ways in ALL_WAYS {
            let found = numbers(u64::MAX, ways).par_bridge_async().on(&pool).find_any(|&x| x % 50 == 49);
            assert_eq!(found.map(|x| x % 50), Some(49));
            let taken = numbers(u64::MAX, ways).par_bridge_async().take_any(30).on(&pool).count();
            assert_eq!(taken, 30, "{ways:?}");
        }
        assert_settled(&pool);
    }
}

/// The search ends also if nothing more comes.
#[test]
fn a_stream_that_hangs_does_not_hold_a_search() {
    let begun = Instant::now();
    let hangs = || {
        numbers(20, Ways::Yields).chain(stream::once_future(async {
            a_minute().await;
            99
        }))
    };
    assert_eq!(hangs().par_bridge_async().find_any(|&x| x == 15), Some(15));
    assert_eq!(hangs().par_bridge_async().take_any(20).count(), 20);
    let token = furcate::policy::CancelToken::new();
    let stopped = hangs()
        .par_bridge_async()
        .inspect(|&x| {
            if x == 19 {
                token.cancel()
            }
        })
        .stop_on(&token)
        .count();
    assert!(stopped.is_err());
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn bridges_inside_workers_and_other_runtimes() {
    let expected = 499_500;
    let sum = || numbers(1000, Ways::Yields).par_bridge_async().sum::<u64>();
    let pool = pool(2);
    assert_eq!(pool.install(sum), expected);
    assert_eq!(pool.install(|| furcate::join(sum, sum)), (expected, expected));
    assert_eq!(future::block_on(async { sum() }), expected);
}

#[test]
fn what_panics_ends_a_bridge() {
    let begun = Instant::now();
    for threads in [1, 2, 3] {
        let (pool, census) = (pool(threads), census());
        for (in_stream, in_map, in_future) in
            [(true, false, false), (false, true, false), (false, false, true)]
        {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let items = numbers(u64::MAX, Ways::Mixed(3)).map(|x| {
                    assert!(!(in_stream && x == 60), "the stream");
                    census.make(x)
                });
                let checked = |item: Counted| {
                    assert!(!(in_map && item.value == 60), "the map");
                    async move {
                        if item.value % 4 == 1 {
                            a_minute().await;
                        }
                        assert!(!(in_future && item.value == 60), "the future");
                        item.value
                    }
                };
                items.par_bridge_async().map(checked).io_await().on(&pool).sum::<u64>()
            }));
            let message = result.unwrap_err();
            let expected = if in_stream {
                "the stream"
            } else if in_map {
                "the map"
            } else {
                "the future"
            };
            assert_eq!(*message.downcast::<&str>().unwrap(), expected);
            assert_eq!(census.alive.load(Relaxed), 0);
        }
        assert_settled(&pool);
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// A stream that counts its polls after its end.
struct Strict(u32, bool);

impl Stream for Strict {
    type Item = u32;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<Option<u32>> {
        assert!(!self.1, "polled after its end");
        self.1 = self.0 == 0;
        self.0 = self.0.saturating_sub(1);
        std::task::Poll::Ready((!self.1).then_some(1))
    }
}

#[test]
fn nobody_polls_a_stream_after_its_end() {
    for pool in pools() {
        assert_eq!(Strict(500, false).par_bridge_async().on(&pool).sum::<u32>(), 500);
    }
}

// ------------------------------------------------------------------------------------------------------ into_stream

/// A parallel iterator whose items come in some way.
fn waits(n: u64, ways: Ways) -> impl ParallelIterator<Item = u64> + 'static {
    (0..n).into_par_iter().map(move |x| ways.give(x, x)).io_await()
}

async fn collect(stream: impl Stream<Item = u64>) -> Vec<u64> {
    stream.collect().await
}

#[test]
fn streams_give_the_items() {
    for pool in pools() {
        for ways in ALL_WAYS {
            for capacity in [1, 2, 3, 64] {
                let (ordered, unordered) = pool.install(|| {
                    (waits(100, ways).into_stream(capacity), waits(100, ways).into_stream_unordered(capacity))
                });
                let (ordered, unordered) =
                    future::block_on(future::zip(collect(ordered), collect(unordered)));
                assert!(ordered.into_iter().eq(0..100), "{ways:?}");
                assert!(sorted(unordered).into_iter().eq(0..100), "{ways:?}");
            }
        }
    }
}

#[test]
fn streams_of_chains_without_waiting() {
    let odd = || (0..10_000_u64).into_par_iter().filter(|x| x % 2 == 1).flat_map_iter(|x| [x, x]);
    let expected: Vec<u64> = (0..10_000).filter(|x| x % 2 == 1).flat_map(|x| [x, x]).collect();
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        let (ordered, unordered) = pool.install(|| (odd().into_stream(300), odd().into_stream_unordered(30)));
        assert_eq!(future::block_on(collect(ordered)), expected);
        assert_eq!(sorted(future::block_on(collect(unordered))), expected);
        assert!(future::block_on(collect(pool.install(|| (0..0).into_par_iter().into_stream(3)))).is_empty());
    }
}

/// There and back again.
#[test]
fn a_stream_of_a_stream() {
    for pool in pools() {
        let there = numbers(500, Ways::Mixed(5)).par_bridge_async().map(|x| x + 1);
        let back = pool.install(|| there.into_stream_unordered(10));
        assert!(sorted(future::block_on(collect(back))).into_iter().eq(1..=500));
        let there = numbers(500, Ways::Mixed(6)).par_bridge_async().map(|x| x + 1);
        let back = pool.install(|| there.into_stream(10));
        assert!(sorted(future::block_on(collect(back))).into_iter().eq(1..=500));
    }
}

#[test]
fn other_runtimes_and_workers_take_items() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let pool = pool(2);
    let both =
        || (waits(200, Ways::Mixed(1)).into_stream(7), waits(200, Ways::Mixed(2)).into_stream_unordered(7));
    let check = |(ordered, unordered): (Vec<u64>, Vec<u64>)| {
        assert!(ordered.into_iter().eq(0..200));
        assert!(sorted(unordered).into_iter().eq(0..200));
    };
    let (ordered, unordered) = both();
    check(runtime.block_on(async {
        let (ordered, unordered) = (tokio::spawn(collect(ordered)), tokio::spawn(collect(unordered)));
        (ordered.await.unwrap(), unordered.await.unwrap())
    }));
    // One that the pool produces for itself, and with one thread.
    for threads in [1, 2] {
        let pool = support::pool(threads);
        check(pool.install(|| {
            let (ordered, unordered) = both();
            furcate::block_on(future::zip(collect(ordered), collect(unordered)))
        }));
    }
    let (ordered, unordered) = pool.install(both);
    check(furcate::block_on(async {
        let (ordered, unordered) =
            (furcate::spawn_future(collect(ordered)), furcate::spawn_future(collect(unordered)));
        (ordered.await, unordered.await)
    }));
}

/// Items that are made and not taken are within the bound.
#[test]
fn a_stream_is_not_ahead_of_its_taker() {
    for threads in [1, 2, 3] {
        for capacity in [1, 2, 10] {
            let pool = pool(threads);
            let census = census();
            let made = move || (0..u64::MAX).into_par_iter().map(move |x| census.make(x));
            // With the one that the taker has in its hand.
            let take_some = |mut stream: furcate::stream::IntoStream<Counted>, bound: usize| {
                future::block_on(async {
                    for _ in 0..60 {
                        after(1).await;
                        let item = stream.next().await.unwrap();
                        drop(item);
                    }
                });
                let most = census.most.swap(0, Relaxed);
                assert!(most <= bound, "{most} > {bound} with {threads} threads and capacity {capacity}");
                drop(stream);
                census.assert_all_gone();
            };
            take_some(pool.install(|| made().into_stream(capacity)), capacity + 1);
            take_some(pool.install(|| made().into_stream_unordered(capacity)), capacity + 2 * threads + 1);
            let awaited = made().map(|item| async move { item }).io_await().max_in_flight(5);
            take_some(pool.install(|| awaited.into_stream_unordered(capacity)), capacity + 5 + 1);
        }
    }
}

/// Nothing goes on behind a stream that was dropped, and nothing is left of it.
#[test]
fn a_dropped_stream_cancels() {
    let begun = Instant::now();
    for threads in [1, 2, 3] {
        for taken in [0, 1, 30] {
            for ordered in [false, true] {
                let (pool, census) = (pool(threads), census());
                let items = (0..u64::MAX).into_par_iter().map(move |x| {
                    let item = census.make(x);
                    async move {
                        Ways::Mixed(4).wait(x).await;
                        if x == 45 {
                            a_minute().await;
                        }
                        item
                    }
                });
                let items = items.io_await().max_in_flight(20);
                let mut stream = pool.install(|| {
                    if ordered { items.into_stream(10) } else { items.into_stream_unordered(10) }
                });
                future::block_on(async {
                    for _ in 0..taken {
                        assert!(stream.next().await.is_some());
                    }
                });
                drop(stream);
                census.assert_all_gone();
            }
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn a_panic_is_raised_where_the_stream_is_polled() {
    for threads in [1, 2, 3] {
        for ordered in [false, true] {
            for in_future in [false, true] {
                let (pool, census) = (pool(threads), census());
                let items = (0..200_u64).into_par_iter().map(move |x| {
                    assert!(in_future || x != 77, "at 77");
                    let item = census.make(x);
                    async move {
                        Ways::Mixed(9).wait(x).await;
                        assert!(x != 77, "at 77");
                        item
                    }
                });
                let mut stream = pool.install(|| {
                    let items = items.io_await();
                    if ordered { items.into_stream(10) } else { items.into_stream_unordered(10) }
                });
                let mut taken = 0;
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    future::block_on(async {
                        while let Some(item) = stream.next().await {
                            assert!(!ordered || item.value == taken);
                            taken += 1;
                        }
                    });
                }));
                assert_eq!(*result.unwrap_err().downcast::<&str>().unwrap(), "at 77");
                assert!(taken <= if ordered { 77 } else { 199 });
                assert!(future::block_on(stream.next()).is_none());
                census.assert_all_gone();
            }
        }
    }
}

/// Of a stream that nobody polls any more the panic is the pool's.
#[test]
fn a_panic_behind_a_dropped_stream_is_the_pools() {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    let handler = move |payload: Box<dyn std::any::Any + Send>| {
        sender.send(*payload.downcast::<&str>().unwrap()).unwrap();
    };
    let pool = furcate::ThreadPoolBuilder::new().num_threads(2).panic_handler(handler).build().unwrap();
    // It has begun when the stream is dropped, and panics afterwards.
    let [begun, dropped] = [(); 2].map(|()| std::sync::Arc::new(std::sync::Barrier::new(2)));
    let barriers = [&begun, &dropped].map(std::sync::Arc::clone);
    let items = (0..1).into_par_iter().map(move |_: u32| {
        barriers.iter().for_each(|barrier| drop(barrier.wait()));
        panic!("too late");
    });
    let stream = pool.install(|| items.map(|(): ()| ()).into_stream(1));
    begun.wait();
    drop(stream);
    dropped.wait();
    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok("too late"));
}

#[test]
#[should_panic(expected = "a stream needs a capacity of at least 1")]
fn a_stream_without_room() {
    let _ = (0..3).into_par_iter().into_stream(0);
}

// --------------------------------------------------------------------------------------------------------- pipeline

/// Whatever comes in whatever way, and however much may wait: the items are those of the stream.
#[test]
fn random_streams() {
    let pools: Vec<_> = pools().collect();
    for seed in 0..40_u64 {
        let (pool, n) = (&pools[seed as usize % 3], seed * seed % 97);
        let (bound, capacity) = (1 + seed as usize % 6, 1 + seed as usize % 11);
        let (first, second) = (Ways::Mixed(3 * seed + 1), Ways::Mixed(5 * seed + 2));
        let give = move |x: u64| second.give(x, x + 1);
        let bridge = || numbers(n, first).par_bridge_async().map(give).io_await().max_in_flight(bound);
        let expected: Vec<u64> = (1..=n).collect();
        assert_eq!(sorted(bridge().on(pool).collect()), expected, "{seed}");
        let unordered = pool.install(|| bridge().into_stream_unordered(capacity));
        assert_eq!(sorted(future::block_on(collect(unordered))), expected, "{seed}");
        let staged = pool.install(|| {
            pipeline(numbers(n, first)).stage_async(give).max_in_flight(bound).into_stream(capacity)
        });
        let back =
            pool.install(|| pipeline(staged).stage_async(move |x| first.give(x, x)).into_stream(capacity));
        assert_eq!(future::block_on(collect(back)), expected, "{seed}");
    }
}

#[test]
fn a_pipeline_keeps_order() {
    for pool in pools() {
        for ways in ALL_WAYS {
            for bound in [1, 2, 5, 64] {
                let mut arrived = vec![];
                pool.install(|| {
                    pipeline(numbers(60, ways))
                        .stage(|x| x + 1)
                        .stage_async(|x| Ways::Mixed(8).give(x, x * 2))
                        .stage(|x| x.to_string())
                        .stage_async(|text| async move { text })
                        .max_in_flight(bound)
                        .for_each(|text| arrived.push(text));
                });
                assert!(arrived.into_iter().eq((1..=60).map(|x| (2 * x).to_string())), "{ways:?} {bound}");
            }
        }
        assert_settled(&pool);
    }
}

/// Whatever is slow, no more items than are allowed are between the stream and the sink's end.
#[test]
fn a_pipeline_is_bounded() {
    for slow in 0..4 {
        for bound in [1, 3, 8] {
            let (pool, census) = (pool(2), census());
            let wait = move |stage: u64, x: u64| async move {
                if slow == stage && x.is_multiple_of(10) {
                    after(5).await;
                }
            };
            let items = numbers(100, Ways::Ready).then(move |x| async move {
                wait(0, x).await;
                census.make(x)
            });
            let staged = |stage| {
                move |item: Counted| async move {
                    wait(stage, item.value).await;
                    item
                }
            };
            let mut expected = 0;
            pool.install(|| {
                pipeline(items)
                    .stage_async(staged(1))
                    .stage_async(staged(2))
                    .max_in_flight(bound)
                    .try_for_each_async(|item| {
                        assert_eq!(item.value, expected);
                        expected += 1;
                        async move {
                            wait(3, item.value).await;
                            drop(item);
                            Ok::<(), ()>(())
                        }
                    })
                    .unwrap();
            });
            assert_eq!((expected, census.made.load(Relaxed), census.alive.load(Relaxed)), (100, 100, 0));
            assert!(census.most.load(Relaxed) <= bound, "{} > {bound}", census.most.load(Relaxed));
        }
    }
}

/// A stage with a bound of its own holds up nobody for ever.
#[test]
fn a_stage_is_bounded() {
    for pool in pools() {
        for (in_stage, in_flight) in [(1, 1), (1, 20), (3, 20), (20, 3)] {
            let busy = Busy::default();
            let mut arrived = vec![];
            pool.install(|| {
                pipeline(numbers(100, Ways::Mixed(1)))
                    .stage_async_at_most(in_stage, |x| {
                        let busy = &busy;
                        busy.begin();
                        async move {
                            Ways::Mixed(6).wait(x).await;
                            busy.now.fetch_sub(1, Relaxed);
                            x
                        }
                    })
                    .stage_async(|x| Ways::Mixed(7).give(x, x))
                    .max_in_flight(in_flight)
                    .for_each(|x| arrived.push(x));
            });
            assert!(arrived.into_iter().eq(0..100));
            assert!(busy.most.into_inner() <= in_stage.min(in_flight));
        }
    }
}

/// A sink is called by one at a time, and sees nothing behind an error.
#[test]
fn a_pipeline_ends_with_the_first_error() {
    for pool in pools() {
        let census = census();
        let mut seen = vec![];
        let result = pool.install(|| {
            let items = numbers(u64::MAX, Ways::Mixed(2)).map(|x| census.make(x));
            let stage = |item: Counted| async move {
                if item.value == 95 {
                    a_minute().await;
                }
                item
            };
            pipeline(items).stage_async(stage).try_for_each(|item| {
                seen.push(item.value);
                if item.value == 70 { Err(item.value) } else { Ok(()) }
            })
        });
        assert_eq!(result, Err(70));
        assert!(seen.into_iter().eq(0..=70));
        assert_eq!(census.alive.load(Relaxed), 0);
    }
}

#[test]
fn what_panics_ends_a_pipeline() {
    let begun = Instant::now();
    for pool in pools() {
        for place in ["stream", "stage", "future", "sink"] {
            let census = census();
            let mut seen = 0;
            let check = move |here: &str, x: u64| assert!(here != place || x != 40, "in the {place}");
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                pool.install(|| {
                    let items = numbers(u64::MAX, Ways::Mixed(7)).map(|x| {
                        check("stream", x);
                        census.make(x)
                    });
                    pipeline(items)
                        .stage(|item| {
                            check("stage", item.value);
                            item
                        })
                        .stage_async(|item| async move {
                            Ways::Mixed(1).wait(item.value).await;
                            check("future", item.value);
                            if item.value == 50 {
                                a_minute().await;
                            }
                            item
                        })
                        .for_each(|item| {
                            check("sink", item.value);
                            assert_eq!(item.value, seen);
                            seen += 1;
                        });
                });
            }));
            assert_eq!(*result.unwrap_err().downcast::<String>().unwrap(), format!("in the {place}"));
            assert!(seen <= 40);
            assert_eq!(census.alive.load(Relaxed), 0);
        }
        assert_settled(&pool);
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn other_ends_of_pipelines() {
    for pool in pools() {
        let stages = || pipeline(numbers(300, Ways::Mixed(3))).stage_async(|x| Ways::Mixed(4).give(x, x));
        assert_eq!(pool.install(|| stages().max_in_flight(9).unordered().sum::<u64>()), 44_850);
        let arrived = future::block_on(collect(pool.install(|| stages().into_stream(3))));
        assert!(arrived.into_iter().eq(0..300));
        let begun = pool.install(|| stages().stage_async(|_| a_minute()).into_stream(3));
        drop(begun);
    }
}

/// Items wait at the same time, and stages run at the same time.
#[test]
fn a_pipeline_hides_latency_and_runs_in_parallel() {
    let (pool, waiting, busy) = (pool(3), Busy::default(), Busy::default());
    pool.install(|| {
        pipeline(numbers(90, Ways::Ready))
            .stage_async(|x| {
                let waiting = &waiting;
                async move {
                    waiting.begin();
                    after(100).await;
                    waiting.now.fetch_sub(1, Relaxed);
                    x
                }
            })
            .stage(|x| {
                busy.sleep(5);
                x
            })
            .max_in_flight(32)
            .for_each(drop);
    });
    assert_eq!((waiting.most.into_inner(), busy.most.into_inner()), (32, 3));
}
