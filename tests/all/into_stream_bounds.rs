//! Streams of parallel iterators are ahead of their takers only up to a bound, and wait for them without a worker.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::streams::{Census, Counted, assert_comes_to, census, waits};
use crate::support::{Ways, a_minute, after, assert_settles, pool};
use furcate::ThreadPool;
use furcate::iter::IoAwait;
use furcate::prelude::*;
use furcate::stream::IntoStream;
use futures_lite::{StreamExt, future};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// The forms of a stream, and the greatest number of items that may have been made and not been taken, by the capacity.
type Form = (fn(&ThreadPool, &'static Census, usize) -> IntoStream<Counted>, fn(usize) -> usize);

/// Streams of endless chains.
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

/// All made items except a bounded number have been taken. (The taker has one more in its hand.)
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

/// A stream comes to rest if no item is taken. It is ahead by a minimum, too. An ordered stream of a chain that waits
/// begins items when there is room for an eighth of its capacity, at the latest. A stream of a chain that does not wait
/// is computed in blocks of half the capacity.
#[test]
fn a_stream_whose_items_are_not_taken_comes_to_rest() {
    for (form, (stream, bound)) in FORMS.into_iter().enumerate() {
        let (pool, census) = (pool(2), census());
        let mut stream = stream(&pool, census, 20);
        let mut taken = 0;
        for more in [0, 1, 15] {
            for _ in 0..more {
                drop(future::block_on(stream.next()));
            }
            taken += more;
            let bound = bound(20);
            let ahead = match form {
                0 | 2 => bound - taken % 10..=bound - taken % 10,
                1 => bound - 20 / 8..=bound,
                _ => bound..=bound,
            };
            assert_comes_to(|| usize::from(ahead.contains(&census.alive())), 1);
        }
    }
}

/// A full stream holds no worker: the pool's only worker does other work.
#[test]
fn a_full_stream_leaves_its_worker() {
    for (form, (stream, bound)) in FORMS.into_iter().enumerate() {
        let (pool, census) = (pool(1), census());
        let mut stream = stream(&pool, census, 4);
        assert_comes_to(|| census.alive(), bound(4));
        let made = census.made.load(Relaxed);
        let sum =
            pool.install(|| (0..1000).into_par_iter().sum::<u64>() + waits(100, Ways::Mixed(1)).sum::<u64>());
        assert_eq!(sum, 499_500 + 4950);
        assert_eq!(census.made.load(Relaxed), made, "form {form}");
        assert!(future::block_on(stream.next()).is_some());
    }
}

/// A full stream holds no thread either: there may be more streams than threads.
#[test]
fn full_streams_hold_no_threads() {
    let (pool, census) = (pool(1), census());
    // Ordered blocks that wait for futures block a thread, so that form is left out.
    let forms = [FORMS[0], FORMS[2], FORMS[3], FORMS[4]];
    let streams: Vec<_> = (0..200).map(|i| forms[i % 4].0(&pool, census, 4)).collect();
    assert_comes_to(|| census.alive(), 50 * forms.map(|(_, bound)| bound(4)).iter().sum::<usize>());
    assert_eq!(pool.install(|| 7), 7);
    crate::support::assert_few_threads(&pool);
    for mut stream in streams {
        assert!(future::block_on(stream.next()).is_some());
    }
    census.assert_all_gone();
}

/// A fast taker does not keep the only worker from other jobs.
#[test]
fn a_stream_that_is_never_full_lets_others_work() {
    for (stream, _) in FORMS {
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

/// A pool that is dropped does not wait for the taker. The taker is told behind the items that were made.
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
    // A stream whose items never come.
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
