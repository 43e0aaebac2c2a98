//! `enumerate`, `zip`, `take`, `skip` and `chunks` behind `io_await` give the same as in std, in whichever order futures become ready.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{after, any_ways, assert_settled, pool};
use furcate::ThreadPool;
use furcate::prelude::*;
use proptest::prelude::*;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn as_in_std(len in 0..100_u64, n in 0..250_usize, size in 1..9_usize, ways in any_ways()) {
        static NUMBERS: [u64; 100] = [7; 100];
        // Pools of this test alone, because it counts their tasks.
        static POOLS: LazyLock<[ThreadPool; 4]> = LazyLock::new(|| [1, 2, 3, 8].map(pool));
        for pool in &*POOLS {
            let waits = || (0..len).into_par_iter().on(pool).map(move |x| ways.give(x, 3 * x)).io_await();
            let std = || (0..len).map(|x| 3 * x);
            let all: Vec<_> = std().collect();
            prop_assert_eq!(waits().enumerate().collect::<Vec<_>>(), std().enumerate().collect::<Vec<_>>());
            prop_assert_eq!(waits().take(n).collect::<Vec<_>>(), std().take(n).collect::<Vec<_>>());
            prop_assert_eq!(waits().skip(n).collect::<Vec<_>>(), std().skip(n).collect::<Vec<_>>());
            prop_assert_eq!(
                waits().zip(vec!["x".to_owned(); n]).collect::<Vec<_>>(),
                std().zip(vec!["x".to_owned(); n]).collect::<Vec<_>>()
            );
            let chunks: Vec<_> = all.chunks(size).map(<[_]>::to_vec).collect();
            prop_assert_eq!(waits().chunks(size).collect::<Vec<_>>(), chunks);
            // Several methods, and adaptors behind them.
            let several = waits().skip(1).enumerate().max_in_flight(7).take(n).map(|(i, x)| i as u64 + x).filter(|x| x % 2 > 0);
            let expected: Vec<_> = std().skip(1).enumerate().take(n).map(|(i, x)| i as u64 + x).filter(|x| x % 2 > 0).collect();
            prop_assert_eq!(several.collect::<Vec<_>>(), expected);
            // Also behind adaptors that make one item of each.
            let mapped = || {
                let items = (0..len).into_par_iter().on(pool).map(move |x| ways.give(x, &NUMBERS[x as usize])).io_await();
                items.inspect(|_| ()).copied().map(|x| x + 1).size_limit(3).update(|x| *x *= 2).on(pool)
            };
            let expected = || NUMBERS.iter().take(len as usize).map(|x| (x + 1) * 2);
            let all: Vec<_> = expected().collect();
            prop_assert_eq!(mapped().enumerate().collect::<Vec<_>>(), expected().enumerate().collect::<Vec<_>>());
            prop_assert_eq!(mapped().take(n).collect::<Vec<_>>(), expected().take(n).collect::<Vec<_>>());
            prop_assert_eq!(mapped().skip(n).collect::<Vec<_>>(), expected().skip(n).collect::<Vec<_>>());
            prop_assert_eq!(
                mapped().zip(vec!["x".to_owned(); n]).collect::<Vec<_>>(),
                expected().zip(vec!["x".to_owned(); n]).collect::<Vec<_>>()
            );
            let chunks: Vec<_> = all.chunks(size).map(<[_]>::to_vec).collect();
            prop_assert_eq!(mapped().chunks(size).collect::<Vec<_>>(), chunks);
            let cloned = (0..len).into_par_iter().on(pool).map(|x| ways.give(x, &NUMBERS[x as usize])).io_await().cloned();
            prop_assert_eq!(cloned.enumerate().collect::<Vec<_>>(), NUMBERS[..len as usize].iter().copied().enumerate().collect::<Vec<_>>());
            // Several methods, with adaptors between them.
            let several = mapped().skip(1).map(|x| x + 1).enumerate().inspect(|_| ()).take(n).map(|(i, x)| i as u64 + x);
            let expected: Vec<_> = expected().skip(1).map(|x| x + 1).enumerate().take(n).map(|(i, x)| i as u64 + x).collect();
            prop_assert_eq!(several.filter(|_| true).collect::<Vec<_>>(), expected);
            assert_settled(pool);
        }
    }
}

/// A chain with positions behind adaptors can be awaited.
#[test]
fn positions_behind_adaptors_can_be_awaited() {
    let waits = || (0..9_u64).into_par_iter().map(|x| async move { x }).io_await().map(|x| x * x);
    let numbered = futures_lite::future::block_on(waits().enumerate().async_collect::<Vec<_>>());
    assert_eq!(numbered, (0..9).map(|x| (x as usize, x * x)).collect::<Vec<_>>());
}

/// A chain with positions behind adaptors can be a stream.
#[test]
fn positions_behind_adaptors_can_be_a_stream() {
    let waits = || (0..9_u64).into_par_iter().map(|x| async move { x }).io_await().map(|x| x * x);
    let stream = waits().chunks(2).into_stream(3);
    let chunks: Vec<_> = futures_lite::future::block_on(futures_lite::StreamExt::collect(stream));
    assert_eq!(chunks.concat(), (0..9).map(|x| x * x).collect::<Vec<_>>());
}

/// A future that is not taken, or that has no partner, is not begun.
#[test]
fn futures_that_are_not_taken_are_not_begun() {
    let begun = AtomicUsize::new(0);
    let waits = || {
        (0..100_u64).into_par_iter().map(|x| {
            let begun = &begun;
            async move {
                begun.fetch_add(1, Relaxed);
                x
            }
        })
    };
    assert_eq!(waits().io_await().take(3).count(), 3);
    assert_eq!(begun.swap(0, Relaxed), 3);
    assert_eq!(waits().io_await().skip(90).count(), 10);
    assert_eq!(begun.swap(0, Relaxed), 10);
    assert_eq!(waits().io_await().zip(0..7).count(), 7);
    assert_eq!(begun.swap(0, Relaxed), 7);
    assert_eq!(waits().io_await().map(|x| x + 1).take(3).count(), 3);
    assert_eq!(begun.swap(0, Relaxed), 3);
    assert_eq!(waits().io_await().inspect(|_| ()).skip(90).count(), 10);
    assert_eq!(begun.swap(0, Relaxed), 10);
}

/// All items wait at the same time, also the items of one chunk.
#[test]
fn they_wait_together() {
    let pool = pool(2);
    let begun = Instant::now();
    let waits = || {
        (0..200_u64).into_par_iter().on(&pool).map(|x| async move {
            after(200).await;
            x
        })
    };
    assert_eq!(waits().io_await().enumerate().count(), 200);
    assert_eq!(waits().io_await().zip(0..200).count(), 200);
    assert_eq!(waits().io_await().chunks(50).map(|chunk| chunk.len()).sum::<usize>(), 200);
    assert!(begun.elapsed() < Duration::from_secs(10), "one after the other they take two minutes");
    assert_settled(&pool);
}
