//! A limit that several calls share: the number of futures in flight, the order of the calls, and the return of
//! permits.
#![cfg(not(furcate_rayon))]

use furcate::prelude::*;
use furcate::{Limit, ThreadPoolBuilder, block_on};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Counts futures in flight.
#[derive(Default)]
struct InFlight {
    now: AtomicUsize,
    most: AtomicUsize,
    begun: AtomicUsize,
}

struct One(Arc<InFlight>);

impl InFlight {
    fn one(self: &Arc<Self>) -> One {
        self.begun.fetch_add(1, Relaxed);
        self.most.fetch_max(self.now.fetch_add(1, Relaxed) + 1, Relaxed);
        One(Arc::clone(self))
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}

async fn sleep(millis: u64) {
    async_io::Timer::after(Duration::from_millis(millis)).await;
}

async fn wait(in_flight: Arc<InFlight>, x: u64, millis: u64) -> u64 {
    let _one = in_flight.one();
    sleep(millis).await;
    x
}

#[test]
fn all_calls_together_keep_to_it() {
    let (limit, in_flight, begun) = (Limit::new(5), Arc::<InFlight>::default(), Instant::now());
    let request = |x: u64| {
        let in_flight = Arc::clone(&in_flight);
        async move {
            let _one = in_flight.one();
            sleep(1).await;
            // The first futures wait until all of the limit is in use.
            while in_flight.most.load(Relaxed) < 5 && begun.elapsed() < Duration::from_secs(20) {
                sleep(1).await;
            }
            x
        }
    };
    let call = |ways: u64| {
        let items = (0..60_u64).into_par_iter().with_max_len(1);
        let items = items.map(request).io_await().limit(&limit);
        let items = if ways == 0 { items.max_in_flight(3) } else { items };
        items.map(request).io_await().sum::<u64>()
    };
    std::thread::scope(|threads| {
        let calls: Vec<_> = (0..4).map(|ways| threads.spawn(move || call(ways))).collect();
        calls.into_iter().for_each(|call| assert_eq!(call.join().unwrap(), 1770));
    });
    assert_eq!(in_flight.begun.load(Relaxed), 4 * 120);
    assert_eq!(in_flight.most.load(Relaxed), 5, "one number for all calls, and all of it is used");
    assert_eq!((limit.in_use(), limit.waiting()), (0, 0));
}

#[test]
fn a_small_call_is_not_behind_a_large_one() {
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(2).build().unwrap());
    let (limit, in_flight) = (Limit::new(2), Arc::<InFlight>::default());
    let large = Arc::clone(&in_flight);
    // A thousand tasks that wait for permits.
    let large = (0..1000).into_par_iter().with_max_len(1).map(move |x| wait(Arc::clone(&large), x, 5));
    let large = large.io_await().limit(&limit).on(&pool).async_count();
    let large = pool.spawn_future(large);
    while limit.waiting() == 0 || in_flight.begun.load(Relaxed) < 4 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let before = in_flight.begun.load(Relaxed);
    let small = (0..10).into_par_iter().with_max_len(1).map(|x| wait(Arc::default(), x, 5));
    assert_eq!(small.io_await().limit(&limit).on(&pool).count(), 10);
    let meanwhile = in_flight.begun.load(Relaxed) - before;
    // By turns it would be about 10, and some more while the small call is without a core. If the calls were served in the
    // order of their arrival, nearly all of the 1000 would begin first.
    assert!(meanwhile < 300, "by turns: 10 of the one call, and {meanwhile} of the other");
    large.cancel();
}

#[test]
fn permits_come_back_from_every_end() {
    let limit = Limit::new(4);
    let is_idle = |limit: &Limit| {
        for _ in 0..20_000 {
            if (limit.in_use(), limit.waiting()) == (0, 0) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    };
    let endless = |_: u32| std::future::pending::<u32>();
    // A deadline.
    let end = Instant::now() + Duration::from_millis(20);
    let late = (0..100).into_par_iter().map(endless).io_await().limit(&limit).deadline(end).count();
    assert!(late.is_err());
    assert_eq!((limit.in_use(), limit.waiting()), (0, 0), "when a blocking terminal returns all is over");
    // A search that hits.
    let hit = |x: u32| async move {
        sleep(if x == 50 { 1 } else { 2 }).await;
        x
    };
    assert_eq!((0..100).into_par_iter().map(hit).io_await().limit(&limit).find_any(|&x| x == 50), Some(50));
    assert_eq!((limit.in_use(), limit.waiting()), (0, 0));
    // Panics: of the future, of the closure that makes it, and behind it.
    let panics: [fn(u32) -> u32; 3] = [
        |place| if place == 0 { panic!("made") } else { place },
        |place| if place == 1 { panic!("awaited") } else { place },
        |place| if place == 2 { panic!("folded") } else { place },
    ];
    for panics in panics {
        let items = (0..100_u32).into_par_iter().map(|x| {
            panics(if x == 50 { 0 } else { 9 });
            async move {
                sleep(1).await;
                panics(if x == 50 { 1 } else { 9 });
                x
            }
        });
        let items = items.io_await().limit(&limit).map(|x| panics(if x == 50 { 2 } else { 9 }));
        catch_unwind(AssertUnwindSafe(|| items.count())).unwrap_err();
        assert_eq!((limit.in_use(), limit.waiting()), (0, 0));
    }
    // A client that leaves.
    let mut left = Box::pin((0..100).into_par_iter().map(endless).io_await().limit(&limit).async_count());
    assert!(block_on(futures_lite::future::poll_once(&mut left)).is_none());
    while limit.in_use() < 4 {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(left);
    assert!(is_idle(&limit));
    // Timeouts.
    let late =
        (0..10).into_par_iter().map(endless).io_await().timeout(Duration::from_millis(2)).limit(&limit);
    assert!(late.collect::<Vec<_>>().iter().all(Result::is_err));
    assert!(is_idle(&limit));
}

#[test]
fn a_rate_holds_for_all_calls_together() {
    let (limit, begin) = (Limit::new(100).per_second(1000), Instant::now());
    let call = || (0..100).into_par_iter().map(|x| async move { x }).io_await().limit(&limit).count();
    std::thread::scope(|threads| {
        threads.spawn(call);
        threads.spawn(call);
    });
    let time = begin.elapsed();
    assert!(time >= Duration::from_millis(189), "200 at 1000 a second, but for a burst of 10: {time:?}");
    assert!(time < Duration::from_secs(10), "{time:?}");
    assert_eq!((limit.in_use(), limit.waiting()), (0, 0));
}

/// The futures are ready at once, so their items are folded by the task that has their permits.
#[test]
fn chains_behind_the_last_await_may_be_under_the_same_limit() {
    for limit in [Limit::new(1), Limit::new(1).per_second(1000), Limit::new(3)] {
        let (send, receive) = mpsc::channel();
        // A thread of its own, so that a call that hangs fails the test.
        std::thread::spawn(move || {
            let ready = |x: u64| async move { x };
            let inner = || (0..4).into_par_iter().map(ready).io_await().limit(&limit).sum::<u64>();
            let outer = (0..8).into_par_iter().map(ready).io_await().limit(&limit);
            let sum = outer.map(|x| x + inner()).sum::<u64>();
            send.send((sum, limit.in_use(), limit.waiting())).unwrap();
        });
        let outcome = receive.recv_timeout(Duration::from_secs(60));
        assert_eq!(outcome, Ok((28 + 8 * 6, 0, 0)));
    }
}

#[test]
fn one_permit_is_sequential() {
    let (limit, in_flight) = (Limit::new(1), Arc::<InFlight>::default());
    let seen: Vec<u64> = (0..200)
        .into_par_iter()
        .map(|x| wait(Arc::clone(&in_flight), x, 0))
        .io_await()
        .limit(&limit)
        .collect();
    assert!(seen.into_iter().eq(0..200));
    assert_eq!(in_flight.most.load(Relaxed), 1);
}

#[test]
fn no_permits_at_all_are_refused() {
    let payload = catch_unwind(|| Limit::new(0)).unwrap_err();
    assert!(payload.downcast_ref::<&str>().unwrap().contains("needs at least 1"));
    let payload = catch_unwind(|| Limit::new(1).per_second(0)).unwrap_err();
    assert!(payload.downcast_ref::<&str>().unwrap().contains("needs at least 1"));
}

/// A call that names no bound, and ends early, has not begun everything.
#[test]
fn a_call_that_ends_early_begins_no_more_than_the_default_bound() {
    let in_flight = Arc::<InFlight>::default();
    let few =
        (0..10_000).into_par_iter().map(|x| wait(Arc::clone(&in_flight), x, 100)).io_await().take_any(5);
    assert_eq!(few.count(), 5);
    let begun = in_flight.begun.load(Relaxed);
    assert!(begun < 2048, "{begun} of 10,000 begun for 5");
}
