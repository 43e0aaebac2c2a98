//! Ordered streams of chains that wait: they hold no thread, and begin a future whenever there is room for its result.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::streams::{assert_comes_to, assert_three_at_once, census, collect, numbers, waits};
use crate::support::{LONG, Ways, a_minute, after, assert_few_threads, assert_settles, pool, within};
use furcate::prelude::*;
use furcate::stream::{IntoStream, pipeline};
use futures_lite::{StreamExt, future};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::Poll;
use std::time::Instant;

/// Takes all items of all streams at the same time.
async fn collect_all(streams: Vec<IntoStream<u64>>) -> Vec<Vec<u64>> {
    let mut taken: Vec<_> = streams.into_iter().map(|stream| (Box::pin(collect(stream)), None)).collect();
    poll_fn(|context| {
        let mut all = true;
        for (taking, items) in taken.iter_mut().filter(|(_, items)| items.is_none()) {
            match taking.as_mut().poll(context) {
                Poll::Ready(taken) => *items = Some(taken),
                Poll::Pending => all = false,
            }
        }
        if all { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    taken.into_iter().filter_map(|(_, items)| items).collect()
}

/// A stream whose first item never comes.
fn stuck() -> impl ParallelIterator<Item = u64> + 'static {
    (0..100_u64).into_par_iter().map(|_| std::future::pending()).io_await()
}

#[test]
fn ordered_streams_end_beside_streams_that_never_produce() {
    let pool = within(LONG, || {
        let pool = pool(2);
        let (never, streams) = pool.install(|| {
            let never: Vec<_> = (0..100).map(|_| stuck().into_stream(8)).collect();
            let streams: Vec<_> = (0..100).map(|_| waits(50, Ways::Timers).into_stream(8)).collect();
            (never, streams)
        });
        let taken = future::block_on(collect_all(streams));
        assert_eq!(taken.len(), 100);
        assert!(taken.iter().all(|items| items.iter().copied().eq(0..50)));
        drop(never);
        pool
    });
    assert_few_threads(&pool);
    assert_settles(&pool);
}

#[test]
fn ten_thousand_ordered_streams_hold_no_thread() {
    const STREAMS: usize = 10_000;
    let pool = within(LONG, || {
        let (pool, begun) = (pool(2), Arc::new(AtomicUsize::new(0)));
        let mut streams: Vec<_> = pool.install(|| {
            let stream = |_| {
                let begun = Arc::clone(&begun);
                let items = (0..10_u64).into_par_iter().map(move |x| {
                    if x == 0 {
                        begun.fetch_add(1, Relaxed);
                    }
                    async move {
                        if x == 3 {
                            a_minute().await;
                        }
                        x
                    }
                });
                items.io_await().into_stream(5)
            };
            (0..STREAMS).map(stream).collect()
        });
        assert_comes_to(|| begun.load(Relaxed), STREAMS);
        for stream in &mut streams {
            let three = future::block_on(stream.take(3).collect::<Vec<_>>());
            assert_eq!(three, [0, 1, 2]);
        }
        // All streams wait now.
        assert_few_threads(&pool);
        drop(streams);
        pool
    });
    assert_settles(&pool);
}

/// A stream that has begun all of its items, and is dropped, waits for none of them.
#[test]
fn a_dropped_ordered_stream_drops_all_that_it_has_begun() {
    for threads in [1, 2, 3] {
        for taken in [0, 1, 2] {
            let (pool, census) = (pool(threads), census());
            let items = (0..4_u64).into_par_iter().map(|x| census.make(x)).map(|item| async move {
                if item.value >= 2 {
                    a_minute().await;
                }
                item
            });
            let mut stream = pool.install(|| items.io_await().into_stream(10));
            assert_comes_to(|| census.alive(), 4);
            for _ in 0..taken {
                assert!(future::block_on(stream.next()).is_some());
            }
            drop(stream);
            census.assert_all_gone();
            assert_settles(&pool);
        }
    }
}

/// Full streams of any kind leave the pool's only worker to other jobs.
#[test]
fn full_streams_hold_no_thread() {
    const STREAMS: usize = 100;
    let pool = within(LONG, || {
        let (pool, census) = (pool(1), census());
        let endless = || (0..u64::MAX).into_par_iter().map(|x| census.make(x));
        let waiting = || endless().map(|item| async move { item }).io_await();
        let streams: Vec<_> = pool.install(|| {
            let streams = |i| match i % 5 {
                0 => endless().into_stream(4),
                1 => waiting().into_stream(4),
                2 => endless().into_stream_unordered(4),
                3 => waiting().into_stream_unordered(2),
                _ => pipeline(numbers(u64::MAX, Ways::Ready).map(|x| census.make(x)))
                    .max_in_flight(2)
                    .into_stream(2),
            };
            (0..STREAMS).map(streams).collect()
        });
        assert_comes_to(|| census.alive(), STREAMS * 4);
        assert_eq!(pool.install(|| (0..1000_u64).into_par_iter().sum::<u64>()), 499_500);
        drop(streams);
        census.assert_all_gone();
        pool
    });
    assert_few_threads(&pool);
}

/// A future begins as soon as there is room for its result, also if the future before it is pending.
#[test]
fn an_ordered_stream_begins_what_it_has_room_for() {
    for capacity in [1, 2, 3, 10, 64] {
        let (pool, begun, opened) = (pool(2), Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (count, gate) = (Arc::clone(&begun), Arc::clone(&opened));
        let items = (0..u64::MAX).into_par_iter().map(move |x| {
            count.fetch_add(1, Relaxed);
            let gate = Arc::clone(&gate);
            async move {
                while gate.load(Relaxed) as u64 <= x {
                    after(1).await;
                }
                x
            }
        });
        let mut stream = pool.install(|| items.io_await().into_stream(capacity));
        assert_comes_to(|| begun.load(Relaxed), capacity);
        for taken in 1..=5 {
            opened.store(taken, Relaxed);
            assert_eq!(future::block_on(stream.next()), Some(taken as u64 - 1));
            assert_comes_to(|| begun.load(Relaxed), capacity + taken);
        }
    }
}

/// An item that is ready is yielded at once, also if the item behind it is pending.
#[test]
fn an_ordered_stream_keeps_nothing_back() {
    for capacity in [2, 8, 100] {
        let pool = pool(2);
        let items = (0..20_u64).into_par_iter().filter(|x| x % 5 != 2).map(|x| async move {
            if x == 13 {
                a_minute().await;
            }
            x
        });
        let stream = pool.install(|| items.io_await().into_stream(capacity));
        let taken = within(LONG, move || future::block_on(stream.take(10).collect::<Vec<_>>()));
        assert_eq!(taken, [0, 1, 3, 4, 5, 6, 8, 9, 10, 11]);
    }
}

/// All items that a chain makes of one item stay together and in order, also behind a second `io_await`.
#[test]
fn ordered_streams_of_chains_that_wait_twice() {
    let expected: Vec<u64> = (0..300).flat_map(|x| (0..x % 4).map(move |y| 10 * x + y)).collect();
    for threads in [1, 2, 3] {
        for capacity in [1, 2, 7, 64] {
            for seed in [3, 8] {
                let pool = pool(threads);
                let (first, second) = (Ways::Mixed(seed), Ways::Mixed(seed + 1));
                let items = (0..300_u64)
                    .into_par_iter()
                    .map(move |x| first.give(x, x))
                    .io_await()
                    .flat_map_iter(|x| (0..x % 4).map(move |y| 10 * x + y))
                    .map(move |x| second.give(x, x))
                    .io_await();
                let stream = pool.install(|| items.into_stream(capacity));
                let taken = within(LONG, move || future::block_on(collect(stream)));
                assert_eq!(taken, expected, "{threads} threads, capacity {capacity}");
            }
        }
    }
}

/// All workers run the work behind futures that are ready at once, at the same time.
#[test]
fn an_ordered_stream_runs_in_parallel() {
    assert_three_at_once(|pool, busy| {
        let ready = (0..60_u64).into_par_iter().map(|x| async move { x }).io_await();
        let items = ready.inspect(move |_| busy.sleep(5));
        let taken = future::block_on(collect(pool.install(|| items.into_stream(16))));
        assert!(taken.into_iter().eq(0..60));
    });
}

/// On an engine that cannot suspend, a full stream holds no thread of the pool.
#[test]
fn ordered_streams_on_an_engine_that_cannot_suspend() {
    let pool = pool(1);
    let streams: Vec<_> = pool.install(|| {
        let stream = |_| waits(50, Ways::Yields).on(furcate::Inline).into_stream(4);
        (0..20).map(stream).collect()
    });
    // Its only worker takes the items.
    let taken = within(LONG, move || future::block_on(pool.spawn_future(collect_all(streams))));
    assert!(taken.iter().all(|items| items.iter().copied().eq(0..50)) && taken.len() == 20);
}

/// Keeps at most `capacity` futures begun and not taken, in order, as `buffered` of the futures crate does.
async fn buffered<A: Future<Output = u64>>(futures: impl Iterator<Item = A>, capacity: usize) -> Vec<u64> {
    let (mut futures, mut begun, mut taken) =
        (futures, VecDeque::<(Pin<Box<A>>, Option<u64>)>::new(), vec![]);
    poll_fn(|context| {
        loop {
            while begun.len() < capacity {
                let Some(future) = futures.next() else { break };
                begun.push_back((Box::pin(future), None));
            }
            for (future, output) in begun.iter_mut().filter(|(_, output)| output.is_none()) {
                if let Poll::Ready(ready) = future.as_mut().poll(context) {
                    *output = Some(ready);
                }
            }
            let before = taken.len();
            while let Some((_, Some(output))) = begun.front() {
                taken.push(*output);
                begun.pop_front();
            }
            match (begun.is_empty(), taken.len() > before) {
                (true, false) => return Poll::Ready(()),
                (false, false) => return Poll::Pending,
                (_, true) => {}
            }
        }
    })
    .await;
    taken
}

/// Items wait as long as with `buffered`. No item waits for a block to end. A busy machine may delay one of the two
/// measurements; a stream that waits for blocks is slower in every try.
#[test]
fn an_ordered_stream_takes_no_longer_than_buffered() {
    const CAPACITY: usize = 64;
    let wait = |x: u64| async move {
        after(1 + x.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 40).await;
        x
    };
    let is_as_fast = || {
        let pool = pool(2);
        let begun = Instant::now();
        let expected = future::block_on(buffered((0..2000).map(wait), CAPACITY));
        let theirs = begun.elapsed();
        let begun = Instant::now();
        let stream = pool.install(|| (0..2000).into_par_iter().map(wait).io_await().into_stream(CAPACITY));
        let taken = future::block_on(collect(stream));
        let ours = begun.elapsed();
        assert_eq!(taken, expected);
        println!("ours {ours:?}, buffered {theirs:?}");
        ours < theirs * 3 / 2
    };
    assert!((0..10).any(|_| is_as_fast()), "slower than `buffered` in every try");
}
