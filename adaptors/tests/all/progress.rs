//! `progress`: the count is that of the items that were dealt with.

use furcate::prelude::*;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

fn count(call: impl FnOnce(&AtomicU64)) -> u64 {
    let done = AtomicU64::new(0);
    call(&done);
    done.into_inner()
}

proptest! {
    /// Under any schedule each item is counted once.
    #[test]
    fn each_item_is_counted_once(n in 0..3000_u64, limit in 1..500_usize, from in 0..3000_u64) {
        let items = || (0..n).into_par_iter().map(|x| x ^ 5);
        let sum: u64 = (0..n).map(|x| x ^ 5).sum();
        let done = AtomicU64::new(0);
        let expect = |result: u64, expected: u64| {
            let counted = done.swap(0, Relaxed);
            (result, counted) == (sum, expected)
        };
        prop_assert!(expect(items().progress(&done).sum(), n));
        prop_assert!(expect(items().size_limit(limit).progress(&done).sum(), n));
        prop_assert!(expect(items().progress(&done).adaptive().sum(), n));
        prop_assert!(expect(items().progress(&done).depjoin().sum(), n));
        prop_assert!(expect(items().progress(&done).by_blocks(std::iter::repeat(limit)).sum(), n));
        prop_assert!(expect(items().progress(&done).rev().sum(), n));
        prop_assert!(expect(items().progress(&done).collect::<VecDeque<_>>().into_iter().sum(), n));
        prop_assert!(expect(items().progress(&done).zip(0..n).map(|(x, _)| x).sum(), n));
        prop_assert!(expect(items().filter(|x| *x >= from).progress(&done).sum::<u64>()
            + (0..n).map(|x| x ^ 5).filter(|x| *x < from).sum::<u64>(),
            (0..n).filter(|x| (x ^ 5) >= from).count() as u64));
        let ready = items().map(|x| async move { x }).io_await().progress(&done);
        prop_assert!(expect(ready.sum(), n));
        let rounds = items().map(|x| async move { futures_lite::future::yield_now().await; x });
        prop_assert!(expect(rounds.io_await().progress(&done).sum(), n));
    }
}

/// A search counts what it has looked at, and no more.
#[test]
fn what_is_not_looked_at_is_not_counted() {
    let looked = AtomicU64::new(0);
    let done = count(|done| {
        let chain = (0..100_000_u64).into_par_iter().progress(done).by_blocks(std::iter::repeat(100));
        let found = chain.find_first(|x| {
            looked.fetch_add(1, Relaxed);
            *x == 1000
        });
        assert_eq!(found, Some(1000));
    });
    assert_eq!(done, looked.into_inner());
    assert!((11..=1100).contains(&done), "{done}");
}

/// An item whose work panics is not counted; those before it are.
#[test]
fn items_that_panic_are_not_done() {
    let looked = AtomicU64::new(0);
    let done = count(|done| {
        let chain = (0..1000_u64).into_par_iter().sequential().progress(done);
        let result = catch_unwind(AssertUnwindSafe(|| {
            chain.for_each(|x| {
                assert!(x != 700, "the item 700");
                looked.fetch_add(1, Relaxed);
            });
        }));
        assert!(result.is_err());
    });
    assert_eq!((done, looked.into_inner()), (700, 700));
}

/// A leaf of many items tells the sink while it runs: seldom where items are short, after each one where they are long.
#[test]
fn the_sink_is_told_in_time() {
    let told = Mutex::new(Vec::new());
    let sink = |items: u64| told.lock().unwrap().push(items);
    let short = 10_000_000_u64;
    (0..short).into_par_iter().sequential().progress(sink).for_each(|x| _ = std::hint::black_box(x));
    let calls = std::mem::take(&mut *told.lock().unwrap());
    assert_eq!(calls.iter().sum::<u64>(), short);
    assert!((10..10_000).contains(&calls.len()), "{} calls", calls.len());

    let sink = |items: u64| told.lock().unwrap().push(items);
    let spin = |_| {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(30) {}
    };
    (0..10_u64).into_par_iter().sequential().progress(sink).for_each(spin);
    assert_eq!(*told.lock().unwrap(), [1; 10]);
}

/// Behind `io_await` the sink is told of each future at once.
#[test]
fn futures_that_are_ready_are_counted_at_once() {
    // Returns the greatest number of futures that were ready and not told of.
    let run = || {
        let (ready, told) = (AtomicU64::new(0), AtomicU64::new(0));
        let most = AtomicU64::new(0);
        let request = |x: u64| {
            let ready = &ready;
            async move {
                futures_lite::future::yield_now().await;
                ready.fetch_add(1, Relaxed);
                x
            }
        };
        let sink = |items: u64| {
            assert_eq!(items, 1);
            let told = told.fetch_add(1, Relaxed) + 1;
            most.fetch_max(ready.load(Relaxed).saturating_sub(told), Relaxed);
        };
        let pool = testkit::pool(2);
        let chain = (0..500_u64).into_par_iter().map(request).io_await().progress(sink);
        assert_eq!(chain.on(&pool).sum::<u64>(), 124_750);
        assert_eq!(told.into_inner(), 500);
        most.into_inner()
    };
    // A thread that tells has a future ready; so may have the others, of which a spare one stands in for each that is
    // interrupted. A thread that is interrupted between its two counts sees more.
    assert!((0..20).any(|_| run() <= 16), "many futures were ready and not told of, in every try");
}

/// In a sink, the limit tells how many futures are in flight, and an `inspect` before has counted the failures.
#[test]
fn a_sink_can_tell_what_is_in_flight_and_what_failed() {
    let limit = furcate::Limit::new(8);
    let (done, failed) = (AtomicU64::new(0), AtomicU64::new(0));
    let told = Mutex::new(Vec::new());
    let request = async |x: u64| {
        async_io::Timer::after(Duration::from_millis(1)).await;
        if x % 4 == 0 { Err(x) } else { Ok(x) }
    };
    let sink = |items| {
        done.fetch_add(items, Relaxed);
        told.lock().unwrap().push(limit.in_use());
    };
    let chain = (0..400).into_par_iter().map(request).io_await().limit(&limit);
    let chain = chain.inspect(|item| _ = failed.fetch_add(u64::from(item.is_err()), Relaxed)).progress(sink);
    assert_eq!(chain.filter(Result::is_ok).count(), 300);
    assert_eq!((done.load(Relaxed), failed.load(Relaxed), limit.in_use()), (400, 100, 0));
    let told = told.into_inner().unwrap();
    assert_eq!(told.len(), 400, "after each future, at once");
    assert!(told.iter().all(|in_use| *in_use <= 8) && told.iter().any(|in_use| *in_use > 4), "{told:?}");
}
