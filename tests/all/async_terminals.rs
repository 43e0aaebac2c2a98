//! The `async_*` terminals, from any executor: the first poll begins them, a drop ends them, and they return the same
//! as the blocking terminals.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{Ways, a_minute, after, assert_settled, pool};
use furcate::iter::AsyncTerminal;
use furcate::policy::CancelToken;
use furcate::prelude::*;
use furcate::{Inline, Schedule, ThreadPool, ThreadPoolBuilder};
use futures_lite::future::block_on;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};
use testkit::until;

/// Counts the values that are alive.
#[derive(Clone, Default)]
struct Alive(Arc<AtomicUsize>);

impl Alive {
    fn one(&self) -> One {
        self.0.fetch_add(1, Relaxed);
        One(Alive(Arc::clone(&self.0)))
    }

    fn count(&self) -> usize {
        self.0.load(Relaxed)
    }
}

struct One(Alive);

impl Drop for One {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// Polls a future once, in this thread.
fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// A gate for which many futures wait.
#[derive(Clone, Default)]
struct Gate(Arc<Mutex<(bool, Vec<Waker>)>>);

impl Gate {
    fn open(&self) {
        let wakers = {
            let mut gate = self.0.lock().unwrap();
            gate.0 = true;
            std::mem::take(&mut gate.1)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    fn waiting(&self) -> usize {
        self.0.lock().unwrap().1.len()
    }

    async fn pass(self) {
        std::future::poll_fn(|context| {
            let mut gate = self.0.lock().unwrap();
            if gate.0 {
                return Poll::Ready(());
            }
            gate.1.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// Runs some terminals (`async_terminals_all` has all) on a chain whose items become ready in different ways.
async fn some_terminals(pool: &Arc<ThreadPool>, ways: Ways, len: u64) {
    let chain = |pool: &Arc<ThreadPool>| {
        (0..len)
            .into_par_iter()
            .map(move |x| ways.give(x, x))
            .io_await()
            .filter(|x| x % 3 != 1)
            .on(Arc::clone(pool))
    };
    let items: Vec<u64> = (0..len).filter(|x| x % 3 != 1).collect();
    let it = || chain(pool);
    assert_eq!(it().async_collect::<Vec<_>>().await, items);
    let text = it().map(|x| format!("{x} ")).async_reduce(String::new, |a, b| a + &b).await;
    assert_eq!(text, items.iter().map(|x| format!("{x} ")).collect::<String>());
    let seen = Arc::new(Mutex::new(vec![]));
    let see = Arc::clone(&seen);
    it().async_for_each(move |x| see.lock().unwrap().push(x)).await;
    seen.lock().unwrap().sort_unstable();
    assert_eq!(*seen.lock().unwrap(), items);
    assert_eq!(it().async_try_for_each(move |x| if x < len { Ok(()) } else { Err(x) }).await, Ok(()));
    assert_eq!(it().async_find_first(|x| *x > 2).await, items.iter().copied().find(|x| *x > 2));
}

const WAYS: [Ways; 5] = [Ways::Ready, Ways::Yields, Ways::Timers, Ways::Threads, Ways::Mixed(3)];

#[test]
fn from_a_plain_thread() {
    for threads in [1, 2, 4] {
        let pool = Arc::new(pool(threads));
        for ways in WAYS {
            for len in [0, 1, 2, 100] {
                block_on(some_terminals(&pool, ways, len));
            }
        }
        assert_settled(&pool);
    }
}

#[test]
fn from_the_threads_of_tokio() {
    let pool = Arc::new(pool(2));
    for mut builder in
        [tokio::runtime::Builder::new_current_thread(), tokio::runtime::Builder::new_multi_thread()]
    {
        let runtime = builder.worker_threads(2).build().unwrap();
        let mine = Arc::clone(&pool);
        runtime.block_on(async {
            some_terminals(&mine, Ways::Mixed(5), 50).await;
            // Many tasks, which move between threads.
            let tasks: Vec<_> = (0..50)
                .map(|i| {
                    let sum =
                        (0..i).into_par_iter().map(|x| Ways::Timers.give(x, x)).io_await().async_sum::<u64>();
                    (i, tokio::spawn(sum))
                })
                .collect();
            for (i, task) in tasks {
                assert_eq!(task.await.unwrap(), (0..i).sum::<u64>());
            }
        });
    }
    assert_settled(&pool);
}

/// Works also with one thread only: an awaiting task holds no worker that the computation needs.
#[test]
fn from_inside_the_pool() {
    for threads in [1, 4] {
        let pool = Arc::new(pool(threads));
        let sum = |len: u64| {
            (0..len).into_par_iter().map(|x| Ways::Mixed(x).give(x, x)).io_await().async_sum::<u64>()
        };
        // Awaited in a task.
        assert_eq!(furcate::block_on(pool.spawn_future(async move { sum(100).await })), 4950);
        // Awaited in `block_on`, on a thread of the pool.
        assert_eq!(pool.install(|| furcate::block_on(sum(100))), 4950);
        // Awaited in the futures of another chain, or only made there.
        let sums =
            |pool: &Arc<ThreadPool>| (0..20_u64).into_par_iter().map(sum).io_await().on(Arc::clone(pool));
        let expected: u64 = (0..20).map(|len| (0..len).sum::<u64>()).sum();
        assert_eq!(sums(&pool).sum::<u64>(), expected);
        assert_eq!(block_on(sums(&pool).async_sum::<u64>()), expected);
        let mine = Arc::clone(&pool);
        furcate::block_on(pool.spawn_future(async move { some_terminals(&mine, Ways::Mixed(7), 60).await }));
        assert_settled(&pool);
    }
}

#[test]
fn no_thread_waits() {
    let pool = Arc::new(pool(1));
    let gate = Gate::default();
    let mut sums: Vec<_> = (0..100_u64)
        .map(|i| {
            let gate = gate.clone();
            let wait = move |x| {
                let gate = gate.clone();
                async move {
                    gate.pass().await;
                    x
                }
            };
            (i..i + 3).into_par_iter().map(wait).io_await().on(Arc::clone(&pool)).async_sum::<u64>()
        })
        .collect();
    assert!(sums.iter_mut().all(|sum| poll(sum).is_pending()));
    until(|| gate.waiting() == 300);
    assert_eq!(pool.install(|| 1), 1);
    crate::support::assert_few_threads(&pool);
    gate.open();
    for (i, sum) in (0..).zip(sums) {
        assert_eq!(block_on(sum), 3 * i + 3);
    }
    assert_settled(&pool);
}

#[test]
fn nothing_happens_before_the_first_poll() {
    let (pool, alive) = (Arc::new(pool(2)), Alive::default());
    let (begun, one) = (Arc::new(AtomicBool::new(false)), alive.one());
    let (flag, policies) = (Arc::clone(&begun), Arc::new(AtomicUsize::new(0)));
    let count = (0..100)
        .into_par_iter()
        .inspect(move |_| {
            let _one = &one;
            flag.store(true, Relaxed);
        })
        .with_policy(Counted(Arc::clone(&policies)))
        .on(Arc::clone(&pool))
        .async_count();
    assert_eq!(pool.install(|| 1), 1);
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!((begun.load(Relaxed), policies.load(Relaxed), alive.count()), (false, 0, 1));
    assert_eq!(format!("{count:?}"), "AsyncTerminal(not begun)");
    // Dropped in this thread, at once.
    let spawns = pool.stats().total().spawns;
    drop(count);
    assert_eq!((begun.load(Relaxed), policies.load(Relaxed), alive.count()), (false, 0, 0));
    assert_eq!(pool.stats().total().spawns, spawns);
}

/// A policy that counts its calls.
#[derive(Clone)]
struct Counted(Arc<AtomicUsize>);

impl Policy for Counted {
    fn wants_split(&mut self, _: &furcate::Node) -> furcate::Verdict {
        self.0.fetch_add(1, Relaxed);
        furcate::Verdict::Pass
    }
}

#[test]
fn one_poll_is_enough_to_begin() {
    let (pool, alive) = (Arc::new(pool(2)), Alive::default());
    let one = alive.one();
    let done = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&done);
    let mut all = (0..100)
        .into_par_iter()
        .map(|x| Ways::Timers.give(x, x))
        .io_await()
        .on(Arc::clone(&pool))
        .async_for_each(move |_| {
            let _one = &one;
            counted.fetch_add(1, Relaxed);
        });
    let begun = poll(&mut all);
    until(|| alive.count() == 0);
    assert_eq!(done.load(Relaxed), 100);
    // The task that drops the closure may not have published the end yet.
    until(|| begun.is_ready() || poll(&mut all).is_ready());
}

/// Futures that are never woken, in all kinds of chains: they are dropped once, soon, with everything that the chain
/// owns.
#[test]
fn dropped_while_all_futures_wait() {
    type Chain = fn(Arc<ThreadPool>, Alive, Arc<AtomicUsize>) -> AsyncTerminal<usize>;
    let chains: [Chain; 5] = [
        |pool, alive, polled| endless(pool, alive, polled).async_count(),
        |pool, alive, polled| endless(pool, alive, polled).map(|x| x + 1).async_sum::<usize>(),
        |pool, alive, polled| endless(pool, alive, polled).map(|_| 1).async_reduce(|| 0, |a, b| a + b),
        // A second wait, behind the first.
        |pool, alive, polled| {
            let behind = move |x: usize| {
                let one = alive.one();
                async move {
                    let _one = one;
                    x
                }
            };
            endless(pool, Alive::default(), polled).map(behind).io_await().async_count()
        },
        // Most items have not even begun.
        |pool, alive, polled| {
            let items = (0..LEN).into_par_iter().map(wait_for_ever(alive, polled, 5));
            items.io_await().max_in_flight(5).on(pool).async_count()
        },
    ];
    for threads in [1, 4] {
        for chain in chains {
            let (pool, alive, polled) =
                (Arc::new(pool(threads)), Alive::default(), Arc::new(AtomicUsize::new(0)));
            let mut future = chain(Arc::clone(&pool), alive.clone(), Arc::clone(&polled));
            assert!(poll(&mut future).is_pending());
            until(|| polled.load(Relaxed) > 0);
            assert!(poll(&mut future).is_pending());
            let dropped = Instant::now();
            drop(future);
            // Only this thread's `Arc`s are left; the closures' `Arc`s are gone.
            until(|| Arc::strong_count(&alive.0) == 1 && Arc::strong_count(&polled) == 1);
            assert_eq!(alive.count(), 0);
            assert!(dropped.elapsed() < Duration::from_secs(20));
            // The chain's share of the pool is gone, too.
            until(|| Arc::strong_count(&pool) == 1);
            assert_settled(&pool);
        }
    }
}

const LEN: usize = 300;

fn wait_for_ever(
    alive: Alive,
    polled: Arc<AtomicUsize>,
    all: usize,
) -> impl Fn(usize) -> std::pin::Pin<Box<dyn Future<Output = usize> + Send>> + Send + Sync {
    let count = Arc::new(AtomicUsize::new(0));
    move |x| {
        let (one, polled, count) = (alive.one(), Arc::clone(&polled), Arc::clone(&count));
        Box::pin(async move {
            let _one = one;
            if count.fetch_add(1, Relaxed) + 1 == all {
                polled.fetch_add(1, Relaxed);
            }
            std::future::pending::<()>().await;
            x
        })
    }
}

fn endless(
    pool: Arc<ThreadPool>,
    alive: Alive,
    polled: Arc<AtomicUsize>,
) -> impl ParallelIterator<Item = usize, Schedule: Schedule<Executor = Arc<ThreadPool>>> + 'static {
    (0..LEN).into_par_iter().map(wait_for_ever(alive, polled, LEN)).io_await().on(pool)
}

/// Running tasks end soon. When the last one has ended, everything that they own is dropped.
#[test]
fn dropped_while_it_runs() {
    for threads in [1, 4] {
        macro_rules! check {
            ($($chain:ident)?) => {
                let (pool, alive, seen) = (Arc::new(pool(threads)), Alive::default(), Arc::new(AtomicUsize::new(0)));
                let (one, see) = (alive.one(), Arc::clone(&seen));
                let items = (0..u64::MAX).into_par_iter().map(move |x| {
                    let _one = &one;
                    see.fetch_add(1, Relaxed);
                    x % 2
                });
                let mut count = items$(.$chain())?.on(Arc::clone(&pool)).async_sum::<u64>();
                assert!(poll(&mut count).is_pending());
                until(|| seen.load(Relaxed) > 10_000);
                assert_eq!(alive.count(), 1);
                drop(count);
                until(|| alive.count() == 0);
                let after = seen.load(Relaxed);
                assert_eq!(pool.install(|| seen.load(Relaxed)), after);
            };
        }
        check!();
        check!(join);
        check!(depjoin);
        check!(adaptive);
        check!(sequential);
    }
    // The same behind an `io_await`.
    let (pool, alive, seen) = (Arc::new(pool(2)), Alive::default(), Arc::new(AtomicUsize::new(0)));
    let (one, see) = (alive.one(), Arc::clone(&seen));
    let mut count = (0..u64::MAX)
        .into_par_iter()
        .map(move |x| {
            let _one = &one;
            see.fetch_add(1, Relaxed);
            async move { x % 2 }
        })
        .io_await()
        .on(Arc::clone(&pool))
        .async_sum::<u64>();
    assert!(poll(&mut count).is_pending());
    until(|| seen.load(Relaxed) > 10_000);
    drop(count);
    until(|| alive.count() == 0);
}

/// Dropped in the manner of `select!` and timeouts.
#[test]
fn dropped_by_tokio() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let (pool, alive, polled) = (Arc::new(pool(2)), Alive::default(), Arc::new(AtomicUsize::new(0)));
    let count = endless(Arc::clone(&pool), alive.clone(), Arc::clone(&polled)).async_count();
    assert!(
        runtime.block_on(async { tokio::time::timeout(Duration::from_millis(50), count).await }).is_err()
    );
    until(|| Arc::strong_count(&alive.0) == 1);
    assert_eq!(alive.count(), 0);
    let polled = Arc::new(AtomicUsize::new(0));
    let task = runtime.spawn(endless(Arc::clone(&pool), alive.clone(), Arc::clone(&polled)).async_count());
    until(|| polled.load(Relaxed) == 1);
    task.abort();
    until(|| Arc::strong_count(&alive.0) == 1);
    assert_settled(&pool);
}

#[test]
fn forgotten() {
    let (pool, alive) = (Arc::new(pool(2)), Alive::default());
    let (one, gate, done) = (alive.one(), Gate::default(), Arc::new(AtomicUsize::new(0)));
    let (wait, count) = (gate.clone(), Arc::clone(&done));
    let mut all = (0..50)
        .into_par_iter()
        .map(move |_| wait.clone().pass())
        .io_await()
        .on(Arc::clone(&pool))
        .async_for_each(move |()| {
            let _one = &one;
            count.fetch_add(1, Relaxed);
        });
    assert!(poll(&mut all).is_pending());
    std::mem::forget(all);
    until(|| gate.waiting() == 50);
    gate.open();
    until(|| alive.count() == 0);
    assert_eq!(done.load(Relaxed), 50);
    until(|| Arc::strong_count(&pool) == 1);
}

/// When the result is there, nothing of the chain is left.
#[test]
fn nothing_is_left_when_the_result_is_there() {
    for threads in [1, 4] {
        let pool = Arc::new(pool(threads));
        for _ in 0..50 {
            let alive = Alive::default();
            let (one, each) = (alive.one(), alive.clone());
            let sum = (0..20_u64)
                .into_par_iter()
                .map(move |x| {
                    let (_one, in_future) = (&one, each.one());
                    async move {
                        let _one = in_future;
                        Ways::Mixed(9).give(x, x).await
                    }
                })
                .io_await()
                .on(Arc::clone(&pool))
                .async_sum::<u64>();
            assert_eq!(block_on(sum), 190);
            assert_eq!((alive.count(), Arc::strong_count(&alive.0)), (0, 1));
        }
    }
}

/// After an item that decides the result, nothing is awaited.
#[test]
fn ends_early() {
    for threads in [1, 2] {
        macro_rules! ends {
            ($($it:ident => $end:expr, $expected:expr;)+) => {$({
                let (pool, alive) = (Arc::new(pool(threads)), Alive::default());
                let each = alive.clone();
                let $it = (0..200_u64).into_par_iter().map(move |x| {
                    let one = each.one();
                    async move {
                        let _one = one;
                        if x == 117 { after(5).await } else { a_minute().await }
                        x
                    }
                }).io_await().on(Arc::clone(&pool));
                let begun = Instant::now();
                assert_eq!(block_on($end), $expected);
                assert_eq!(alive.count(), 0);
                assert!(begun.elapsed() < Duration::from_secs(30));
                assert_settled(&pool);
            })+};
        }
        ends! {
            it => it.async_any(|x| x == 117), true;
            it => it.async_all(|x| x != 117), false;
            it => it.async_find_any(|x| *x == 117), Some(117);
            it => it.async_try_for_each(Err::<(), _>), Err(117);
            it => it.map(Err).async_try_reduce(|| 0_u64, |a, b| Ok(a + b)), Err(117_u64);
            it => it.map(Err::<u8, _>).async_collect::<Result<Vec<_>, _>>(), Err(117);
            it => it.map(|x| (x != 117).then_some(x)).async_collect::<Option<HashSet<_>>>(), None;
            it => it.map(|x| Ok::<_, ()>((x != 117).then_some(x))).async_collect::<Result<Option<Vec<_>>, ()>>(), Ok(None);
            it => it.take_any(1).async_collect::<Vec<_>>(), [117];
            it => it.map(|x| (x != 117).then_some(x)).while_some().async_count(), 0;
        }
    }
}

#[test]
fn collects_the_same_as_collect() {
    let pool = Arc::new(pool(3));
    macro_rules! collects {
        ($($items:expr => $Collection:ty;)+) => {$({
            let items = || (0..300_u32).into_par_iter().on(Arc::clone(&pool));
            let awaited = || items().map(|x| Ways::Mixed(13).give(x.into(), x)).io_await();
            let expected: $Collection = items().map($items).collect();
            assert_eq!(block_on(items().map($items).async_collect::<$Collection>()), expected);
            assert_eq!(block_on(awaited().map($items).async_collect::<$Collection>()), expected);
        })+};
    }
    collects! {
        |x| x => Vec<u32>;
        |x| x => Box<[u32]>;
        |x| x => VecDeque<u32>;
        |x| x => LinkedList<u32>;
        |x| x % 100 => HashSet<u32>;
        |x| x % 100 => BTreeSet<u32>;
        |x| (x % 100, x) => HashMap<u32, u32>;
        |x| (x % 100, x) => BTreeMap<u32, u32>;
        |x| x.to_string() => String;
        |x| char::from_digit(x % 10, 10).unwrap() => String;
        |_| () => ();
        |x| (x, x.to_string()) => (Vec<u32>, String);
        Some => Option<Vec<u32>>;
        |x| if x < 300 { Ok(x) } else { Err("too large") } => Result<Vec<u32>, &'static str>;
        |x| if x < 30 { Ok(x) } else { Err("too large") } => Result<Vec<u32>, &'static str>;
    }
}

/// The message of a panic.
fn message<T>(computation: AsyncTerminal<T>) -> String {
    let Err(payload) = catch_unwind(AssertUnwindSafe(|| block_on(computation))) else {
        panic!("it did not panic")
    };
    payload
        .downcast_ref::<&str>()
        .map_or_else(|| payload.downcast_ref::<String>().unwrap().clone(), |s| (*s).into())
}

/// A value that panics when dropped.
struct Mine(bool);

impl Drop for Mine {
    fn drop(&mut self) {
        assert!(!self.0, "in drop");
    }
}

#[test]
fn panics_are_raised_where_it_is_awaited() {
    for threads in [1, 2, 4] {
        let (pool, alive) = (Arc::new(pool(threads)), Alive::default());
        let on = || Arc::clone(&pool);
        let items = || (0..100_u64).into_par_iter().on(on());
        let others = || {
            let alive = alive.clone();
            move |x: u64| {
                let one = alive.one();
                async move {
                    let _one = one;
                    if x != 50 {
                        a_minute().await;
                    }
                    after(2).await;
                    x
                }
            }
        };
        let begun = Instant::now();
        // A panic in a plain chain, under each scheduler.
        let panics = |x: u64| assert!(x != 50, "in map");
        assert_eq!(message(items().map(panics).async_count()), "in map");
        assert_eq!(message(items().depjoin().map(panics).async_count()), "in map");
        assert_eq!(message(items().adaptive().map(panics).async_count()), "in map");
        assert_eq!(message(items().sequential().map(panics).async_count()), "in map");
        // A panic while all other items wait.
        assert_eq!(message(items().map(others()).io_await().map(panics).async_count()), "in map");
        assert_eq!(message(items().map(others()).io_await().async_for_each(panics)), "in map");
        let in_future = |x: u64| async move {
            if x == 50 {
                after(1).await;
                panic!("in future");
            }
            a_minute().await;
        };
        assert_eq!(message(items().map(in_future).io_await().async_count()), "in future");
        let at_once = |x: u64| async move { assert!(x != 50, "at once") };
        assert_eq!(message(items().map(at_once).io_await().async_count()), "at once");
        let reduce = |_: u64, _: u64| panic!("in reduction");
        assert_eq!(
            message(items().map(|x| Ways::Timers.give(x, x)).io_await().async_reduce(|| 0, reduce)),
            "in reduction"
        );
        let identity = || panic!("in identity");
        assert_eq!(message(items().async_reduce(identity, |a: u64, b| a + b)), "in identity");
        let in_drop = |x| async move {
            let _mine = Mine(x == 50);
            after(1).await;
        };
        assert_eq!(message(items().map(in_drop).io_await().async_count()), "in drop");
        let item = |x| Mine(x == 50);
        assert_eq!(message(items().map(item).async_for_each(drop)), "in drop");
        // A panic in the drop of a value that the chain owns.
        let mine = Mine(true);
        let keeps = move |x: u64| {
            let _mine = &mine;
            x
        };
        assert_eq!(message(items().map(keeps).async_count()), "in drop");
        // A panic in the collection that is made at the end.
        assert_eq!(message(items().async_collect::<Refuses>()), "in collection");
        assert_eq!(alive.count(), 0);
        assert!(begun.elapsed() < Duration::from_secs(30));
        assert_eq!(block_on(items().async_count()), 100);
        assert_settled(&pool);
    }
}

struct Refuses;

impl FromParallelIterator<u64> for Refuses {
    fn from_par_iter<I: IntoParallelIterator<Item = u64>>(_: I) -> Self {
        panic!("in collection")
    }
}

/// A panic of a dropped terminal goes to the pool's handler.
#[test]
fn panics_of_dropped_terminals_go_to_the_handler() {
    let seen = Arc::new(AtomicUsize::new(0));
    let see = Arc::clone(&seen);
    let pool = ThreadPoolBuilder::new().num_threads(2).panic_handler(move |_| {
        see.fetch_add(1, Relaxed);
    });
    let pool = Arc::new(pool.build().unwrap());
    let made = Arc::new(AtomicUsize::new(0));
    let make = Arc::clone(&made);
    let mine = move |x: u64| {
        let mine = Mine(x == 7);
        make.fetch_add(1, Relaxed);
        async move {
            let _mine = mine;
            std::future::pending::<()>().await;
        }
    };
    let mut count = (0..20).into_par_iter().map(mine).io_await().on(Arc::clone(&pool)).async_count();
    assert!(poll(&mut count).is_pending());
    until(|| made.load(Relaxed) == 20);
    drop(count);
    until(|| Arc::strong_count(&pool) == 1);
    until(|| seen.load(Relaxed) == 1);
    assert_eq!(block_on((0..20).into_par_iter().on(Arc::clone(&pool)).async_count()), 20);
}

#[test]
#[should_panic(expected = "polled after it was ready")]
fn polled_after_it_was_ready() {
    let mut sum = (0..10).into_par_iter().async_sum::<i32>();
    assert_eq!(block_on(&mut sum), 45);
    let _ = poll(&mut sum);
}

/// Wakers of other executors run foreign code when they are dropped. They are dropped under no lock.
#[test]
fn a_waker_whose_drop_waits_for_the_end() {
    struct Ends(CancelToken, Arc<Woken>);
    impl Wake for Ends {
        fn wake(self: Arc<Self>) {
            panic!("it was replaced");
        }
    }
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.cancel();
            until(|| self.1.0.load(Relaxed) > 0);
        }
    }
    #[derive(Default)]
    struct Woken(AtomicUsize);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let pool = Arc::new(pool(2));
    let (end, woken) = (CancelToken::new(), Arc::<Woken>::default());
    let mut count = pin!([end.cancelled()].into_par_iter().io_await().on(Arc::clone(&pool)).async_count());
    let first = Waker::from(Arc::new(Ends(end, Arc::clone(&woken))));
    assert!(count.as_mut().poll(&mut Context::from_waker(&first)).is_pending());
    drop(first);
    let second = Waker::from(woken);
    // The first waker's last clone is dropped here, so the computation ends.
    assert!(count.as_mut().poll(&mut Context::from_waker(&second)).is_pending());
    assert_eq!(count.as_mut().poll(&mut Context::from_waker(&second)), Poll::Ready(1));
}

/// When a pool is dropped, the futures that wait in it are dropped, and the awaiting thread is told.
#[test]
fn the_pool_is_dropped() {
    for threads in [1, 4] {
        let (pool, alive, polled) = (pool(threads), Alive::default(), Arc::new(AtomicUsize::new(0)));
        let wait = wait_for_ever(alive.clone(), Arc::clone(&polled), LEN);
        let mut count = (0..LEN).into_par_iter().map(wait).io_await().async_count();
        // The future is first polled in this pool.
        assert!(pool.install(|| poll(&mut count).is_pending()));
        until(|| polled.load(Relaxed) == 1);
        // The result of this terminal is never taken; or the terminal has only just begun.
        let wait = wait_for_ever(alive.clone(), Arc::clone(&polled), usize::MAX);
        let mut other = (0..LEN).into_par_iter().map(wait).io_await().async_count();
        assert!(pool.install(|| poll(&mut other).is_pending()));
        drop(other);
        drop(pool);
        assert_eq!((alive.count(), Arc::strong_count(&alive.0)), (0, 1));
        assert_eq!(message(count), "the pool was dropped before the computation's end");
    }
}

/// A task that runs, and does not wait, comes to its end, as spawned jobs do. But nothing reports its end.
#[test]
fn the_pool_is_dropped_while_it_runs() {
    /// Opens a gate when the pool is dropped.
    struct Opens(Arc<AtomicBool>);
    impl Drop for Opens {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    for threads in [1, 3] {
        let (pool, gate, done) =
            (pool(threads), Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let begun = Arc::new(AtomicBool::new(false));
        let (begins, opens) = (Arc::clone(&begun), Arc::clone(&gate));
        let wait = move |_| {
            let opens = Opens(Arc::clone(&opens));
            begins.store(true, Relaxed);
            async move {
                let _opens = opens;
                std::future::pending::<()>().await;
            }
        };
        let mut waits = (0..1).into_par_iter().map(wait).io_await().async_count();
        assert!(pool.install(|| poll(&mut waits).is_pending()));
        until(|| begun.load(Relaxed));
        let (open, count) = (Arc::clone(&gate), Arc::clone(&done));
        let mut all = (0..100).into_par_iter().depjoin().async_for_each(move |_| {
            until(|| open.load(Relaxed));
            count.fetch_add(1, Relaxed);
        });
        assert!(pool.install(|| poll(&mut all).is_pending()));
        drop(pool);
        let done = done.load(Relaxed);
        let told = message(all);
        assert_eq!(told, "the pool was dropped before the computation's end");
        assert!(done == 100 || done == 0, "it has begun, or it has not: {done}");
    }
}

/// The chain has the last share of its pool. A worker drops that share.
#[test]
fn a_pool_that_only_the_chain_has() {
    for _ in 0..20 {
        let (pool, alive) = (pool(2), Alive::default());
        let one = alive.one();
        let sum = (0..100_u64)
            .into_par_iter()
            .map(move |x| {
                let _one = &one;
                Ways::Mixed(17).give(x, x)
            })
            .io_await()
            .on(Arc::new(pool))
            .async_sum::<u64>();
        assert_eq!(block_on(sum), 4950);
        assert_eq!(alive.count(), 0);
    }
}

#[test]
fn ten_thousand_at_once() {
    const MANY: u64 = 10_000;
    let (pool, gate, alive) = (Arc::new(pool(2)), Gate::default(), Alive::default());
    let mut sums: Vec<_> = (0..MANY)
        .map(|i| {
            let (gate, alive) = (gate.clone(), alive.clone());
            let wait = move |x| {
                let (gate, one) = (gate.clone(), alive.one());
                async move {
                    let _one = one;
                    gate.pass().await;
                    x
                }
            };
            (i..i + 2).into_par_iter().map(wait).io_await().on(Arc::clone(&pool)).async_sum::<u64>()
        })
        .collect();
    assert!(sums.iter_mut().all(|sum| poll(sum).is_pending()));
    until(|| gate.waiting() == 2 * MANY as usize);
    // Every third one is dropped unfinished.
    let mut i = 0;
    sums.retain(|_| {
        i += 1;
        i % 3 != 0
    });
    until(|| alive.count() == 2 * sums.len());
    gate.open();
    let numbers = (0..MANY).filter(|i| i % 3 != 2);
    for (i, sum) in numbers.zip(sums) {
        assert_eq!(block_on(sum), 2 * i + 1);
    }
    until(|| Arc::strong_count(&pool) == 1);
    assert_settled(&pool);
    assert_eq!(alive.count(), 0);
}

/// Many threads begin, poll, drop and end terminals at the same time.
#[test]
fn stampede() {
    let pool = Arc::new(pool(3));
    let alive = Alive::default();
    std::thread::scope(|threads| {
        for thread in 0..4_u64 {
            let (pool, alive) = (&pool, &alive);
            threads.spawn(move || {
                for round in 0..150_u64 {
                    let one = alive.one();
                    let mut sum = (0..round % 20)
                        .into_par_iter()
                        .map(move |x| {
                            let _one = &one;
                            Ways::Mixed(round * 4 + thread).give(x, x)
                        })
                        .io_await()
                        .on(Arc::clone(pool))
                        .async_sum::<u64>();
                    for _ in 0..round % 5 {
                        if poll(&mut sum).is_ready() {
                            break;
                        }
                        std::thread::yield_now();
                    }
                    if round % 2 == 0 {
                        drop(sum);
                    } else if format!("{sum:?}") != "AsyncTerminal(over)" {
                        assert_eq!(block_on(sum), (0..round % 20).sum::<u64>());
                    }
                }
            });
        }
    });
    until(|| Arc::strong_count(&pool) == 1);
    assert_eq!(alive.count(), 0);
    assert_settled(&pool);
}

#[test]
fn on_other_engines() {
    let log = Arc::new(Mutex::new(vec![]));
    let (mine, me) = (Arc::clone(&log), std::thread::current().id());
    let here = (0..10_u32)
        .into_par_iter()
        .map(|x| async move { x })
        .io_await()
        .inspect(move |_| mine.lock().unwrap().push(std::thread::current().id()))
        .on(Inline);
    let mut sum = here.async_sum::<u32>();
    assert!(log.lock().unwrap().is_empty());
    assert_eq!(poll(&mut sum), Poll::Ready(45));
    assert!(log.lock().unwrap().len() == 10 && log.lock().unwrap().iter().all(|thread| *thread == me));
    let panics = (0..10_u32).into_par_iter().map(|_| panic!("inline")).on(Inline);
    assert_eq!(message(panics.async_count()), "inline");
    // No pool is named.
    assert_eq!(block_on((0..10_u32).into_par_iter().async_sum::<u32>()), 45);
    // A pool that lives for ever.
    let pool: &'static ThreadPool = Box::leak(Box::new(pool(2)));
    assert_eq!(block_on((0..10_u32).into_par_iter().on(pool).async_sum::<u32>()), 45);
}

#[test]
fn on_rayon() {
    let sum = (0..100_u64).into_par_iter().map(|x| Ways::Mixed(3).give(x, x)).io_await().on(furcate::Rayon);
    assert_eq!(block_on(sum.async_sum::<u64>()), 4950);
    let panics = (0..10_u32).into_par_iter().map(|_| panic!("on rayon")).on(furcate::Rayon);
    assert_eq!(message(panics.async_count()), "on rayon");
}

/// All chains have the same type of future.
#[test]
fn one_type() {
    fn check<F: Future + Send + Unpin + 'static>(future: F) -> F {
        future
    }
    let sums: [AsyncTerminal<i32>; 3] = [
        (0..10).into_par_iter().async_sum(),
        vec![1, 2, 3].into_par_iter().filter(|x| x % 2 == 1).adaptive().async_reduce(|| 0, |a, b| a + b),
        (0..4).into_par_iter().map(|x| async move { x }).io_await().async_sum(),
    ];
    assert_eq!(sums.map(|sum| block_on(check(sum))), [45, 4, 6]);
}
