//! Parallel iterators as streams: the items are those of the iterator, no more of them are made than there is room for, and
//! nothing is left when somebody goes away.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]
#![cfg(feature = "stream")]

mod support;

use furcate::ThreadPool;
use furcate::iter::IoAwait;
use furcate::prelude::*;
use furcate::stream::IntoStream;
use futures_lite::{StreamExt, future};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use support::streams::{ALL_WAYS, Census, Counted, census, collect, numbers, pools, sorted};
use support::{Ways, a_minute, after, assert_settles, pool};

/// A parallel iterator whose items come in some way.
fn waits(n: u64, ways: Ways) -> impl ParallelIterator<Item = u64> + 'static {
    (0..n).into_par_iter().map(move |x| ways.give(x, x)).io_await()
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

/// The forms of a stream, and how many items may have been made and not been taken, by its capacity.
type Form = (fn(&ThreadPool, &'static Census, usize) -> IntoStream<Counted>, fn(usize) -> usize);

/// Of endless chains.
const FORMS: [Form; 5] = [
    (|pool, census, capacity| pool.install(|| endless(census).into_stream(capacity)), |capacity| capacity),
    (|pool, census, capacity| pool.install(|| waiting(census).into_stream(capacity)), |capacity| capacity),
    (
        |pool, census, capacity| pool.install(|| endless(census).into_stream_unordered(capacity)),
        |capacity| capacity,
    ),
    (
        |pool, census, capacity| pool.install(|| waiting(census).into_stream_unordered(capacity)),
        |capacity| 2 * capacity,
    ),
    (
        |pool, census, capacity| {
            pool.install(|| waiting(census).max_in_flight(2).into_stream_unordered(capacity))
        },
        |capacity| capacity + capacity.min(2),
    ),
];

fn endless(census: &'static Census) -> impl ParallelIterator<Item = Counted> + 'static {
    (0..u64::MAX).into_par_iter().map(|x| census.make(x))
}

fn waiting(
    census: &'static Census,
) -> IoAwait<impl ParallelIterator<Item: Future<Output = Counted> + Send> + 'static> {
    endless(census).map(|item| async move { Ways::Mixed(3).give(item.value, item).await }).io_await()
}

/// Of the items that are made all but so many have been taken. (The taker has one in its hand, besides.)
#[test]
fn a_stream_is_not_ahead_of_its_taker() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        for (form, (stream, bound)) in FORMS.into_iter().enumerate() {
            for capacity in [1, 2, 3, 10] {
                let (census, bound) = (census(), bound(capacity));
                let mut stream = stream(&pool, census, capacity);
                future::block_on(async {
                    for x in 0..40 {
                        if x % 8 == 0 {
                            after(2).await;
                        }
                        drop(stream.next().await.unwrap());
                    }
                });
                let most = census.most.load(Relaxed);
                assert!(
                    most <= bound + 1,
                    "{most} > {bound} of form {form}, {threads} threads, capacity {capacity}"
                );
                drop(stream);
                census.assert_all_gone();
                assert_settles(&pool);
            }
        }
    }
}

/// However long nobody comes; and it is ahead by half of its capacity at least.
#[test]
fn a_stream_that_nobody_takes_comes_to_rest() {
    for (form, (stream, bound)) in FORMS.into_iter().enumerate() {
        let (pool, census) = (pool(2), census());
        let mut stream = stream(&pool, census, 20);
        for taken in [0, 1, 15] {
            for _ in 0..taken {
                drop(future::block_on(stream.next()));
            }
            let ahead = census.at_rest() - (census.made.load(Relaxed) - census.alive.load(Relaxed));
            assert!((10..=bound(20)).contains(&ahead), "{ahead} ahead in form {form}");
        }
    }
}

/// A stream that is full holds no worker: the pool's only one does other work.
#[test]
fn a_full_stream_leaves_its_worker() {
    for (form, (stream, _)) in FORMS.into_iter().enumerate() {
        let (pool, census) = (pool(1), census());
        let mut stream = stream(&pool, census, 4);
        let made = census.at_rest();
        let sum =
            pool.install(|| (0..1000).into_par_iter().sum::<u64>() + waits(100, Ways::Mixed(1)).sum::<u64>());
        assert_eq!(sum, 499_500 + 4950);
        assert_eq!(census.made.load(Relaxed), made, "form {form}");
        assert!(future::block_on(stream.next()).is_some());
    }
}

/// Nor a thread, if it goes by blocks: there may be more of them than threads.
#[test]
fn full_streams_hold_no_threads() {
    let (pool, census) = (pool(1), census());
    let streams: Vec<_> = (0..200)
        .map(|i| {
            let form = if i % 2 == 0 { FORMS[0].0 } else { FORMS[2].0 };
            form(&pool, census, 4)
        })
        .collect();
    assert_eq!(census.at_rest(), 800);
    assert_eq!(pool.install(|| 7), 7);
    assert_eq!(pool.stats().workers.len(), 1, "no other thread was needed");
    for mut stream in streams {
        let first = future::block_on(stream.next()).unwrap();
        assert!(first.value < 4);
    }
    census.assert_all_gone();
}

/// A taker that is fast enough does not keep the only worker from others, if the stream goes by blocks.
#[test]
fn a_stream_that_is_never_full_lets_others_work() {
    for (stream, _) in &FORMS[..3] {
        let (pool, census) = (pool(1), census());
        let mut stream = stream(&pool, census, 1000);
        let stop = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !stop.load(Relaxed) {
                    drop(future::block_on(stream.next()));
                }
            });
            for _ in 0..3 {
                assert_eq!(pool.install(|| furcate::join(|| 1, || 2)), (1, 2));
            }
            stop.store(true, Relaxed);
        });
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

/// A pool that is dropped does not wait for who takes; and the taker is told, behind the items that there were.
#[test]
fn a_pool_that_is_dropped_ends_its_streams() {
    let begun = Instant::now();
    for threads in [1, 2] {
        for (stream, bound) in FORMS {
            let (pool, census) = (pool(threads), census());
            let mut stream = stream(&pool, census, 10);
            drop(future::block_on(stream.next()));
            drop(pool);
            let mut taken = 0;
            let told = catch_unwind(AssertUnwindSafe(|| {
                while future::block_on(stream.next()).is_some() {
                    taken += 1;
                }
            }));
            assert!(told.is_err() && taken <= bound(10));
            assert!(future::block_on(stream.next()).is_none());
            census.assert_all_gone();
        }
    }
    // One that waits for what does not come.
    for ordered in [false, true] {
        let pool = pool(2);
        let hangs = || (0..9).into_par_iter().map(|_: u32| a_minute()).io_await();
        let mut stream =
            pool.install(|| if ordered { hangs().into_stream(5) } else { hangs().into_stream_unordered(5) });
        std::thread::sleep(Duration::from_millis(20));
        drop(pool);
        assert!(catch_unwind(AssertUnwindSafe(|| future::block_on(stream.next()))).is_err());
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
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

#[test]
#[should_panic(expected = "a stream needs a capacity of at least 1")]
fn a_stream_without_room() {
    let _ = (0..3).into_par_iter().into_stream(0);
}
