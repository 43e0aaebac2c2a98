//! Parallel iterators as streams: the iterator's items come out, no more are made than there is room for,
//! and nothing is left when one side goes away.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::streams::{ALL_WAYS, census, collect, numbers, pools, sorted, waits};
use crate::support::{Ways, a_minute, assert_settles, pool};
use furcate::iter::from_producer;
use furcate::prelude::*;
use furcate::stream::IntoStream;
use furcate::{Divisible, Facts, Producer, ThreadPoolBuilder};
use futures_lite::{StreamExt, future};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use testkit::time::until;

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
        assert_settles(&pool);
    }
}

/// A sink that owns its state gets the items in order, one at a time, and its error ends the computation. As a task of a runtime.
#[test]
fn streams_are_drained_into_sinks() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    for pool in pools() {
        for ways in ALL_WAYS {
            let streams = pool.install(|| [waits(100, ways).into_stream(3), waits(100, ways).into_stream(3)]);
            let [whole, failing] = streams.map(|stream| {
                let mut next = 0;
                move |end| {
                    stream.drain_into(async move |item| {
                        assert_eq!(item, next);
                        next += 1;
                        future::yield_now().await;
                        if item < end { Ok(()) } else { Err(item) }
                    })
                }
            });
            let whole = runtime.spawn(whole(1000));
            let failing = runtime.spawn(failing(40));
            assert_eq!(runtime.block_on(whole).unwrap(), Ok(()), "{ways:?}");
            assert_eq!(runtime.block_on(failing).unwrap(), Err(40), "{ways:?}");
        }
        assert_settles(&pool);
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

/// From a stream to a parallel iterator and back.
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
    // A stream that the pool consumes itself, also with one thread.
    for threads in [1, 2] {
        let pool = crate::support::pool(threads);
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

/// A dropped stream stops its computation, and leaves nothing behind.
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
                assert_settles(&pool);
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
                let result = catch_unwind(AssertUnwindSafe(|| {
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
                assert_settles(&pool);
            }
        }
    }
}

/// Checks that a stream gives 0, 1, 2 and so on, and then panics with that message.
#[track_caller]
fn ends_in_order(mut stream: IntoStream<u64>, message: &str) {
    let mut taken = vec![];
    let result = catch_unwind(AssertUnwindSafe(|| {
        while let Some(item) = future::block_on(stream.next()) {
            taken.push(item);
        }
    }));
    assert_eq!(*result.unwrap_err().downcast::<&str>().unwrap(), message);
    assert!(taken.iter().copied().eq(0..taken.len() as u64), "{taken:?}");
}

/// Numbers. The worker that is about to begin with 0 is held up until 1 is done and 2 has panicked, if another worker has begun with 1.
struct HeldUp {
    numbers: Range<u64>,
    progress: Arc<Progress>,
}

#[derive(Default)]
struct Progress {
    /// The greatest number that has begun.
    begun: AtomicU64,
    /// Whether a worker was held up.
    held_up: AtomicBool,
}

impl Divisible for HeldUp {
    fn size(&self) -> usize {
        // The size is asked for before the other worker can begin with 1, and again afterwards.
        let asked = Instant::now();
        while self.numbers == (0..1) && asked.elapsed() < Duration::from_millis(100) {
            if self.progress.begun.load(Relaxed) > 0 {
                self.progress.held_up.store(true, Relaxed);
                until(|| self.progress.begun.load(Relaxed) == 2);
                // The panic is on its way to the call.
                std::thread::sleep(Duration::from_millis(100));
                break;
            }
        }
        self.numbers.size()
    }
    fn divide_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.numbers.divide_at(index);
        (
            HeldUp { numbers: left, progress: Arc::clone(&self.progress) },
            HeldUp { numbers: right, progress: self.progress },
        )
    }
}

impl IntoIterator for HeldUp {
    type Item = u64;
    type IntoIter = Range<u64>;
    fn into_iter(self) -> Range<u64> {
        self.numbers
    }
}

impl Producer for HeldUp {
    const FACTS: Facts = Facts::SINGLE;
}

/// A unit that has not begun when a later one panics gives no items. The items of the units between these two must not come: they would be
/// out of order.
#[test]
fn after_a_panic_no_item_comes_out_of_order() {
    let pool = pool(2);
    let held_up = || {
        let progress = Arc::<Progress>::default();
        let numbers = HeldUp { numbers: 0..3, progress: Arc::clone(&progress) };
        let items = from_producer(numbers).map({
            let progress = Arc::clone(&progress);
            move |x| {
                progress.begun.fetch_max(x, Relaxed);
                assert!(x < 2, "at 2");
                async move { x }
            }
        });
        ends_in_order(pool.install(|| items.io_await().into_stream(3)), "at 2");
        progress.held_up.load(Relaxed)
    };
    // On a busy machine the other worker may be without a core.
    assert!((0..20).any(|_| held_up()), "no worker was held up");
}

/// A panic in a future cancels the other tasks. A unit whose future is ready just then, and is not folded any more, gives no items.
#[test]
fn after_a_panic_in_a_future_no_item_comes_out_of_order() {
    const BEGUN: usize = 1;
    const PANICS: usize = 2;
    for is_suspended in [false, true] {
        for width in [1, 3] {
            let (pool, stage) = (pool(2), Arc::<AtomicUsize>::default());
            let items = (0..3_u64)
                .into_par_iter()
                .flat_map_iter(move |unit| width * unit..width * (unit + 1))
                .map(move |x| {
                    let stage = Arc::clone(&stage);
                    async move {
                        if x == 0 {
                            if is_suspended {
                                future::yield_now().await;
                            }
                            stage.store(BEGUN, Relaxed);
                            until(|| stage.load(Relaxed) == PANICS);
                            // The panic is on its way to the call.
                            std::thread::sleep(Duration::from_millis(50));
                        } else if x == 2 * width {
                            while stage.load(Relaxed) != BEGUN {
                                future::yield_now().await;
                            }
                            stage.store(PANICS, Relaxed);
                            panic!("at the third unit");
                        }
                        x
                    }
                });
            ends_in_order(pool.install(|| items.io_await().into_stream(3)), "at the third unit");
        }
    }
}

/// If a stream is not polled any more, its panic goes to the pool's handler.
#[test]
fn a_panic_behind_a_dropped_stream_is_the_pools() {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    let handler = move |payload: Box<dyn std::any::Any + Send>| {
        sender.send(*payload.downcast::<&str>().unwrap()).unwrap();
    };
    let pool = ThreadPoolBuilder::new().num_threads(2).panic_handler(handler).build().unwrap();
    // The computation has begun when the stream is dropped, and panics afterwards.
    let [begun, dropped] = [(); 2].map(|()| std::sync::Arc::new(std::sync::Barrier::new(2)));
    let barriers = [&begun, &dropped].map(std::sync::Arc::clone);
    let items = (0..1).into_par_iter().map(move |_: u32| {
        barriers.iter().for_each(|barrier| {
            barrier.wait();
        });
        panic!("too late");
    });
    let stream = pool.install(|| items.map(|(): ()| ()).into_stream(1));
    begun.wait();
    drop(stream);
    dropped.wait();
    assert_eq!(receiver.recv_timeout(Duration::from_secs(20)), Ok("too late"));
}

#[test]
fn an_ended_stream_stays_so() {
    fn is_unpin_and_send<T: Unpin + Send + Sync>(stream: T) -> T {
        stream
    }
    for (mut stream, n) in [
        (is_unpin_and_send((0..30_u32).into_par_iter().into_stream(7)), 30),
        ((0..30_u32).into_par_iter().into_stream_unordered(7), 30),
        ((0..0_u32).into_par_iter().map(|x| async move { x }).io_await().into_stream_unordered(7), 0),
    ] {
        assert_eq!(future::block_on((&mut stream).count()), n);
        for _ in 0..3 {
            assert_eq!(future::block_on(stream.next()), None);
        }
    }
}

/// Whenever and however a stream ends, nothing is left of it, and the pool works on.
#[test]
fn random_ends() {
    // The handler drops panics that come after a stream was dropped.
    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).panic_handler(drop).build().unwrap();
    let pools = [pool(1), pool(2), pool(3)];
    for seed in 0..150_u64 {
        let (pool, census) = (&pools[seed as usize % 3], census());
        let (n, faulty, capacity) = (seed * 7 % 100, seed * 11 % 150, 1 + seed as usize % 13);
        let made = (0..n).into_par_iter().map(move |x| {
            assert!(x != faulty || seed % 2 == 0, "faulty");
            census.make(x)
        });
        let waiting = move || {
            let made = made.map(move |item| async move {
                Ways::Mixed(seed).wait(item.value).await;
                assert!(item.value != faulty, "faulty");
                item
            });
            made.io_await()
        };
        let mut stream = pool.install(|| match seed % 4 {
            0 | 1 => waiting().into_stream(capacity),
            _ => waiting().into_stream_unordered(capacity),
        });
        let mut taken = 0;
        let end = catch_unwind(AssertUnwindSafe(|| {
            while taken < seed * 13 % 120 {
                if seed % 5 == taken % 5 {
                    future::block_on(Ways::Mixed(seed).wait(taken));
                }
                if future::block_on(stream.next()).is_none() {
                    return true;
                }
                taken += 1;
            }
            false
        }));
        match end {
            Ok(true) => assert_eq!(taken, n, "{seed}"),
            Ok(false) => assert_eq!(taken, seed * 13 % 120, "{seed}"),
            Err(_) => assert!(faulty < n, "{seed}"),
        }
        drop(stream);
        census.assert_all_gone();
    }
    for pool in &pools {
        assert_settles(pool);
        assert_eq!(pool.install(|| waits(100, Ways::Mixed(3)).sum::<u64>()), 4950);
    }
}

#[test]
#[should_panic(expected = "pass a capacity of 1 or more")]
fn a_stream_without_room() {
    let _ = (0..3).into_par_iter().into_stream(0);
}
