//! A stop takes effect behind any backlog, and a client that leaves ends only its own call.
//!
//! Every test queues seconds of woken work, stops it, and counts the items that begin afterwards. A worker may have
//! checked for a stop just before the stop comes. So each worker may begin one more item, and no worker may begin two.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{a_minute, after, assert_settles, pool};
use furcate::policy::{CancelToken, Reason};
use furcate::prelude::*;
use furcate::{ThreadPool, ThreadPoolBuilder};
use futures_lite::future::{self, yield_now};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};
use testkit::process::{good_child, plays};
use testkit::spin;

const THREADS: usize = 2;

/// Number of items in a backlog.
const ITEMS: usize = 20_000;

/// Counts events; clones count together.
#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    fn add(&self) {
        self.0.fetch_add(1, SeqCst);
    }

    fn get(&self) -> usize {
        self.0.load(SeqCst)
    }

    /// Waits until there have been `n` events.
    #[track_caller]
    fn wait_for(&self, n: usize) {
        let begun = Instant::now();
        while self.get() < n {
            assert!(begun.elapsed() < Duration::from_secs(60), "{} of {n}", self.get());
            thread::sleep(Duration::from_micros(200));
        }
    }

    /// Checks that each of `workers` workers causes at most one event from now on, while `meanwhile` runs and some time
    /// after it.
    #[track_caller]
    fn stands_still<R>(&self, workers: usize, meanwhile: impl FnOnce() -> R) -> R {
        let before = self.get();
        let result = meanwhile();
        thread::sleep(Duration::from_millis(50));
        let late = self.get() - before;
        assert!(late <= workers, "{late} items began after the stop, on {workers} workers");
        result
    }
}

/// `n` items that all wake after a few milliseconds, and then compute for `time` each.
fn woken(
    pool: &Arc<ThreadPool>,
    n: usize,
    time: Duration,
    begun: &Count,
) -> impl ParallelIterator<Item = ()> + use<> {
    let begun = begun.clone();
    (0..n).into_par_iter().map(|_| after(5)).io_await().unbounded().on(Arc::clone(pool)).map(move |()| {
        begun.add();
        spin(time);
    })
}

fn shared(threads: usize) -> Arc<ThreadPool> {
    Arc::new(pool(threads))
}

/// A future that has been polled once: its computation has begun.
fn begun<F: Future + Unpin>(mut future: F) -> F {
    assert!(future::block_on(future::poll_once(&mut future)).is_none());
    future
}

#[test]
fn no_item_begins_behind_a_deadline() {
    for threads in [1, THREADS] {
        let pool = shared(threads);
        let (ran, late) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let begun = Instant::now();
        let deadline = begun + Duration::from_millis(200);
        let count = (0..ITEMS)
            .into_par_iter()
            .map(|_| after(20))
            .io_await()
            .unbounded()
            .on(&*pool)
            .map(|()| {
                if Instant::now() > deadline {
                    late.fetch_add(1, SeqCst);
                }
                spin(Duration::from_micros(500));
                ran.fetch_add(1, SeqCst);
            })
            .deadline(deadline)
            .count();
        let took = begun.elapsed();
        let interrupted = count.unwrap_err();
        assert_eq!(interrupted.reason(), Reason::DeadlineExceeded);
        let (ran, late) = (ran.into_inner(), late.into_inner());
        assert!(late <= threads, "{late} items began behind the deadline; the call took {took:?}");
        assert!(ran < ITEMS / 2, "{ran} items were computed");
        assert_eq!(interrupted.into_done(), ran, "the items that were computed are the result");
        assert_settles(&pool);
    }
}

/// The same if the futures themselves do the work.
#[test]
fn no_future_is_polled_behind_a_deadline() {
    for threads in [1, THREADS] {
        let pool = shared(threads);
        let late = AtomicUsize::new(0);
        let begun = Instant::now();
        let deadline = begun + Duration::from_millis(150);
        let count = (0..ITEMS)
            .into_par_iter()
            .map(|_| async {
                yield_now().await;
                if Instant::now() > deadline {
                    late.fetch_add(1, SeqCst);
                }
                spin(Duration::from_micros(500));
            })
            .io_await()
            .unbounded()
            .on(&*pool)
            .deadline(deadline)
            .count();
        let took = begun.elapsed();
        assert_eq!(count.unwrap_err().reason(), Reason::DeadlineExceeded);
        let late = late.into_inner();
        assert!(late <= threads, "{late} items began behind the deadline; the call took {took:?}");
        assert_settles(&pool);
    }
}

/// `Ok` means all items, wherever the stop comes.
#[test]
fn a_complete_result_has_all_items() {
    for threads in [1, 2, 4] {
        let pool = pool(threads);
        for n in (2..40).chain([1000]) {
            for at in [0, n / 2, n - 2, n - 1] {
                let token = CancelToken::new();
                let items = (0..n).into_par_iter().map(|x| {
                    if x == at {
                        token.cancel();
                    }
                    async move { x }
                });
                if let Ok(all) = items.io_await().stop_on(&token).on(&pool).collect::<Vec<_>>() {
                    assert!(all.iter().copied().eq(0..n), "{all:?} of {n}, stopped at {at}");
                }
            }
            let deadline = Instant::now() + Duration::from_micros(20 * n as u64);
            let items = (0..n).into_par_iter().map(|_| async { spin(Duration::from_micros(20)) });
            if let Ok(count) = items.io_await().deadline(deadline).on(&pool).count() {
                assert_eq!(count, n);
            }
        }
    }
}

#[test]
fn no_item_begins_behind_a_cancelled_token() {
    for workers in [1, THREADS] {
        let (pool, token, items) = (shared(workers), CancelToken::new(), Count::default());
        let work = woken(&pool, ITEMS, Duration::from_micros(500), &items);
        thread::scope(|threads| {
            let call = threads.spawn(|| work.stop_on(&token).count());
            items.wait_for(20);
            token.cancel();
            let count = items.stands_still(workers, || call.join().unwrap());
            let interrupted = count.unwrap_err();
            assert_eq!(interrupted.reason(), Reason::Cancelled);
            assert_eq!(interrupted.into_done(), items.get(), "the items that were computed are the result");
        });
        assert_settles(&pool);
    }
}

#[test]
fn a_dropped_terminal_does_not_delay_the_next_call() {
    for workers in [1, THREADS] {
        let (pool, items) = (shared(workers), Count::default());
        let terminal = begun(woken(&pool, 2 * ITEMS, Duration::from_micros(100), &items).async_count());
        items.wait_for(20);
        drop(terminal);
        items.stands_still(workers, || {
            assert_eq!((0..100).into_par_iter().map(|_| after(1)).io_await().on(&*pool).count(), 100);
        });
        assert_settles(&pool);
    }
}

/// Clients that leave a server end only their own calls.
#[test]
fn nothing_begins_for_clients_that_have_left() {
    for workers in [1, THREADS] {
        let (pool, items, stays) = (shared(workers), Count::default(), Count::default());
        let client = |n, items: &Count| begun(woken(&pool, n, Duration::from_millis(1), items).async_count());
        let clients: Vec<_> = (0..40).map(|_| client(200, &items)).collect();
        let stays = client(50, &stays);
        items.wait_for(20);
        drop(clients);
        items.stands_still(workers, || assert_eq!(future::block_on(stays), 50));
        assert_settles(&pool);
    }
}

/// Futures that wait for an event that never comes are dropped beside a backlog of other calls.
#[test]
fn pending_futures_are_dropped_beside_a_backlog_of_other_calls() {
    struct Alive(Count);
    impl Drop for Alive {
        fn drop(&mut self) {
            self.0.add();
        }
    }

    let (pool, items, dropped) = (shared(THREADS), Count::default(), Count::default());
    let others = begun(woken(&pool, ITEMS, Duration::from_micros(500), &items).async_count());
    let (waiting, gone) = (Count::default(), dropped.clone());
    let polled = waiting.clone();
    let waits = (0..100)
        .into_par_iter()
        .map(move |_| {
            let alive = Alive(gone.clone());
            let polled = polled.clone();
            async move {
                polled.add();
                let _alive = alive;
                a_minute().await;
            }
        })
        .io_await()
        .on(Arc::clone(&pool));
    let waits = begun(waits.async_count());
    waiting.wait_for(100);
    drop(waits);
    dropped.wait_for(100);
    let done = items.get();
    assert!(done < ITEMS * 9 / 10, "the futures were dropped behind {done} of {ITEMS} items of another call");
    drop(others);
}

#[test]
fn nothing_begins_behind_a_dropped_stream() {
    use furcate::stream::pipeline;
    use futures_lite::stream;

    let (pool, items) = (shared(THREADS), Count::default());
    let work = woken(&pool, ITEMS, Duration::from_micros(500), &items);
    let mut stream = work.into_stream_unordered(10_000);
    assert!(future::block_on(stream::StreamExt::next(&mut stream)).is_some());
    items.wait_for(20);
    drop(stream);
    items.stands_still(THREADS, || thread::sleep(Duration::from_millis(50)));
    assert_settles(&pool);

    let items = Count::default();
    let stage = {
        let items = items.clone();
        move |_| {
            items.add();
            spin(Duration::from_micros(500));
        }
    };
    let stream = pipeline(stream::iter(0..ITEMS))
        .stage_async(|_| after(5))
        .stage(stage)
        .max_in_flight(10_000)
        .into_stream(10_000);
    let stream = pool.install(|| begun_stream(stream));
    items.wait_for(20);
    drop(stream);
    items.stands_still(THREADS, || thread::sleep(Duration::from_millis(50)));
}

/// A stream that has been polled once.
fn begun_stream<S: furcate::stream::Stream + Unpin>(mut stream: S) -> S {
    // On a busy machine the first item may already be there.
    let _ = future::block_on(future::poll_once(futures_lite::stream::StreamExt::next(&mut stream)));
    stream
}

/// A token that is cancelled after the last item interrupts nothing.
#[test]
fn a_stop_behind_the_last_item_has_no_effect() {
    let pool = pool(THREADS);
    for _ in 0..200 {
        let (token, done) = (CancelToken::new(), AtomicUsize::new(0));
        let count = (0..50_usize)
            .into_par_iter()
            .map(|_| yield_now())
            .io_await()
            .on(&pool)
            .inspect(|()| {
                if done.fetch_add(1, SeqCst) == 49 {
                    token.cancel();
                }
            })
            .stop_on(&token)
            .count();
        assert_eq!(count, Ok(50));
    }
}

/// A stop comes while the future is polled, and then the future is ready.
#[test]
fn no_item_begins_whose_future_is_ready_behind_the_stop() {
    for threads in [1, THREADS] {
        let (pool, token, items) = (pool(threads), CancelToken::new(), Count::default());
        let count = (0..1)
            .into_par_iter()
            .map(|_| async {
                yield_now().await;
                token.cancel();
            })
            .io_await()
            .on(&pool)
            .inspect(|()| items.add())
            .stop_on(&token)
            .count();
        assert_eq!(count.unwrap_err().reason(), Reason::Cancelled);
        assert_eq!(items.get(), 0);
    }
}

/// The thread that drives the timers is busy with a waker of another executor.
#[test]
fn a_deadline_needs_no_timer() {
    struct Blocks {
        begun: Count,
        over: Count,
    }
    impl Wake for Blocks {
        fn wake(self: Arc<Self>) {
            self.begun.add();
            self.over.wait_for(1);
        }
    }

    // The other tests of this process need the timers.
    if !plays("victim") {
        return good_child("stops::a_deadline_needs_no_timer", "victim", &[]);
    }
    let (begun, over) = (Count::default(), Count::default());
    let waker = Waker::from(Arc::new(Blocks { begun: begun.clone(), over: over.clone() }));
    // Long enough for the poll to come first on a busy machine.
    let mut timer = async_io::Timer::after(Duration::from_millis(50));
    assert!(Pin::new(&mut timer).poll(&mut Context::from_waker(&waker)).is_pending());
    begun.wait_for(1);
    for threads in [1, THREADS] {
        let (pool, late) = (pool(threads), AtomicUsize::new(0));
        let deadline = Instant::now() + Duration::from_millis(100);
        let count = (0..ITEMS / 10)
            .into_par_iter()
            .map(|_| yield_now())
            .io_await()
            .unbounded()
            .on(&pool)
            .map(|()| {
                late.fetch_add(usize::from(Instant::now() > deadline), SeqCst);
                spin(Duration::from_micros(500));
            })
            .deadline(deadline)
            .count();
        assert_eq!(count.unwrap_err().reason(), Reason::DeadlineExceeded);
        let late = late.into_inner();
        assert!(late <= threads, "{late} items began behind the deadline");
    }
    over.add();
}

/// A client leaves, and an item of its call unwraps an error.
#[test]
fn a_panic_behind_a_dropped_terminal_does_not_end_the_process() {
    if !plays("victim") {
        const TEST: &str = "stops::a_panic_behind_a_dropped_terminal_does_not_end_the_process";
        return good_child(TEST, "victim", &[]);
    }
    let (pool, items, gate) = (shared(THREADS), Count::default(), Count::default());
    for _ in 0..2 {
        let (begins, open) = (items.clone(), gate.clone());
        let before = items.get();
        let terminal =
            (0..100).into_par_iter().map(|_| after(1)).io_await().on(Arc::clone(&pool)).map(move |()| {
                begins.add();
                open.wait_for(1);
                panic!("on purpose: behind the drop");
            });
        let terminal = begun(terminal.async_for_each(drop));
        items.wait_for(before + 1);
        drop(terminal);
        gate.add();
        thread::sleep(Duration::from_millis(20));
    }
    // The pool works on.
    assert_eq!((0..100).into_par_iter().map(|_| after(1)).io_await().on(&*pool).count(), 100);
}

/// The same panic goes to the pool's handler, if there is one.
#[test]
fn a_panic_behind_a_dropped_terminal_goes_to_the_handler() {
    let (handled, items, gate) = (Count::default(), Count::default(), Count::default());
    let handler = handled.clone();
    let pool = ThreadPoolBuilder::new().num_threads(1).panic_handler(move |_| handler.add()).build();
    let (begins, open) = (items.clone(), gate.clone());
    let terminal =
        (0..100).into_par_iter().map(|_| after(1)).io_await().on(Arc::new(pool.unwrap())).map(move |()| {
            begins.add();
            open.wait_for(1);
            panic!("on purpose: behind the drop");
        });
    let terminal = begun(terminal.async_for_each(drop));
    items.wait_for(1);
    drop(terminal);
    gate.add();
    handled.wait_for(1);
}

/// An urgent job drops futures that no event would ever wake. Workers inside a fork-join do not look for jobs, so one
/// of them releases a slot to a thread that does.
#[test]
fn a_deadline_is_heard_beside_fork_joins_on_all_threads() {
    fn fib(n: u32) -> u64 {
        if n < 2 {
            return n.into();
        }
        let (a, b) = furcate::join(|| fib(n - 1), || fib(n - 2));
        a + b
    }
    const LIMIT: Duration = Duration::from_secs(20);
    let pool = Arc::new(pool(THREADS));
    let over = Count::default();
    let busy: Vec<_> = (0..THREADS)
        .map(|_| {
            let (pool, over) = (Arc::clone(&pool), over.clone());
            thread::spawn(move || {
                pool.install(|| {
                    let begun = Instant::now();
                    while over.get() == 0 && begun.elapsed() < LIMIT {
                        fib(16);
                    }
                    over.get() > 0
                })
            })
        })
        .collect();
    thread::sleep(Duration::from_millis(20));
    let items = (0..10).into_par_iter().map(|_| a_minute()).io_await().on(&pool);
    let stopped = items.deadline(Instant::now() + Duration::from_millis(50)).count();
    assert_eq!(stopped.unwrap_err().reason(), Reason::DeadlineExceeded);
    over.add();
    let in_time: Vec<_> = busy.into_iter().map(|busy| busy.join().unwrap()).collect();
    assert!(in_time.iter().all(|&in_time| in_time), "the deadline was heard when the fork-joins had ended");
}
