//! Searches for the first hit, or the last one: they end as soon as no future before the hit is pending.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::{after, assert_settled, assert_settles, pool};
use furcate::ThreadPool;
use furcate::policy::CancelToken;
use furcate::prelude::*;
use proptest::prelude::*;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Counts the futures that were made and dropped.
#[derive(Default)]
struct Counts {
    made: AtomicUsize,
    dropped: AtomicUsize,
}

struct Counted<'a>(&'a Counts);

impl Counts {
    fn one_more(&self) -> Counted<'_> {
        self.made.fetch_add(1, Relaxed);
        Counted(self)
    }

    #[track_caller]
    fn assert_all_dropped(&self) {
        assert_eq!(self.made.load(Relaxed), self.dropped.load(Relaxed));
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Relaxed);
    }
}

/// Runs a test that may hang, in which case it fails.
#[track_caller]
fn soon<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let _ = sender.send(run());
    });
    match receiver.recv_timeout(Duration::from_secs(25)) {
        Ok(result) => result,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it waits for what it does not need"),
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            std::panic::resume_unwind(thread.join().expect_err("it has sent nothing"))
        }
    }
}

/// The way in which an item comes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Comes {
    Ready,
    After(u64),
    Never,
}

impl Comes {
    async fn wait(self) {
        match self {
            Comes::Ready => {}
            Comes::After(millis) => after(millis).await,
            Comes::Never => std::future::pending().await,
        }
    }
}

/// The numbers below `len`, which come as a function says: one type for all searches.
fn items<'c>(
    len: u64,
    comes: fn(u64) -> Comes,
    depth: u32,
    pool: &'c ThreadPool,
    counts: &'c Counts,
) -> impl ParallelIterator<Item = u64> + 'c {
    let items = (0..len).into_par_iter().bound_depth(depth).map(move |x| {
        let (counted, comes) = (counts.one_more(), comes(x));
        async move {
            let _counted = counted;
            comes.wait().await;
            x
        }
    });
    items.io_await().on(pool)
}

/// Searches for the first hit, from the front or from the back.
fn hit<'c>(
    items: impl ParallelIterator<Item = u64> + 'c,
    from_the_back: bool,
    is_hit: fn(&u64) -> bool,
) -> Option<u64> {
    if from_the_back { items.find_last(is_hit) } else { items.find_first(is_hit) }
}

/// Searches on pools of all sizes, from inside and from outside, undivided and divided. Checks the result, that it
/// comes soon, and that no future is left.
macro_rules! searches {
    ($($name:ident: $len:expr, |$x:ident| $comes:expr, |$it:ident| $result:expr, $expected:expr;)+) => {$(
        #[test]
        fn $name() {
            for threads in [1, 2, 5] {
                for (inside, depth) in [(false, 0), (true, 0), (false, 3), (true, 10)] {
                    soon(move || {
                        let (pool, counts) = (pool(threads), Counts::default());
                        let run = || {
                            let $it = items($len, |$x| $comes, depth, &pool, &counts);
                            $result
                        };
                        assert_eq!(if inside { pool.install(run) } else { run() }, $expected, "{threads} {depth}");
                        counts.assert_all_dropped();
                        assert_settled(&pool);
                    });
                }
            }
        }
    )+};
}

/// A number that looks random.
fn mixed(x: u64) -> u64 {
    x.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61
}

/// Items before 100 come some time, the hit sooner or later, and no item behind it ever.
fn up_to(x: u64, hit: u64) -> Comes {
    match x.cmp(&hit) {
        std::cmp::Ordering::Less => [Comes::Ready, Comes::After(mixed(x))][x as usize % 2],
        std::cmp::Ordering::Equal => Comes::After(3),
        std::cmp::Ordering::Greater => Comes::Never,
    }
}

searches! {
    a_hit_at_once: 300, |x| up_to(x, 0), |it| hit(it, false, |_| true), Some(0);
    a_ready_hit: 300, |x| if x == 0 { Comes::Ready } else { Comes::Never }, |it| hit(it, false, |_| true), Some(0);
    a_hit_in_the_middle: 300, |x| up_to(x, 100), |it| hit(it, false, |x| *x >= 100), Some(100);
    a_ready_hit_in_the_middle: 300, |x| if x == 100 { Comes::Ready } else { up_to(x, 100) }, |it| hit(it, false, |x| *x >= 100), Some(100);
    all_before_it_later: 300, |x| if x < 100 { Comes::After(20) } else { up_to(x, 100) }, |it| hit(it, false, |x| *x >= 100), Some(100);
    one_before_it_later: 300, |x| if x == 77 { Comes::After(30) } else { up_to(x, 100) }, |it| hit(it, false, |x| *x >= 100), Some(100);
    the_slower_one_comes_first: 300, |x| if x == 50 { Comes::After(30) } else { up_to(x, 100) }, |it| hit(it, false, |x| *x == 50 || *x == 100), Some(50);
    the_slower_one_is_next: 300, |x| if x == 99 { Comes::After(30) } else { up_to(x, 100) }, |it| hit(it, false, |x| *x >= 99), Some(99);
    mapped: 300, |x| up_to(x, 100), |it| it.find_map_first(|x| (x >= 100).then_some(x + 1)), Some(101);
    no_hit: 100, |x| up_to(x, 100), |it| hit(it, false, |x| *x >= 100), None;
    the_last_one: 300, |x| up_to(299 - x, 0), |it| hit(it, true, |_| true), Some(299);
    a_ready_last_one: 300, |x| if x == 299 { Comes::Ready } else { Comes::Never }, |it| hit(it, true, |_| true), Some(299);
    the_last_one_in_the_middle: 300, |x| up_to(299 - x, 100), |it| hit(it, true, |x| *x <= 199), Some(199);
    the_slower_one_comes_last: 300, |x| if x == 249 { Comes::After(30) } else { up_to(299 - x, 100) }, |it| hit(it, true, |x| *x == 249 || *x == 199), Some(249);
    mapped_last: 300, |x| up_to(299 - x, 100), |it| it.find_map_last(|x| (x <= 199).then_some(x + 1)), Some(200);
    many: 20_000, |x| up_to(x, 10_000), |it| hit(it, false, |x| *x >= 10_000), Some(10_000);
    // The chain continues behind the await.
    chained: 300, |x| up_to(x, 100), |it| it.map(|x| async move { up_to(x, 100).wait().await; x }).io_await().find_first(|x| *x >= 100), Some(100);
    another_wait: 300, |x| if !x.is_multiple_of(2) { Comes::Ready } else { Comes::After(mixed(x)) }, |it| it.map(|x| async move { up_to(x, 100).wait().await; x }).io_await().find_first(|x| *x >= 100), Some(100);
    another_wait_for_the_last: 300, |x| Comes::After(mixed(x)), |it| it.map(|x| async move { up_to(299 - x, 100).wait().await; x }).io_await().find_last(|x| *x <= 199), Some(199);
    filtered: 300, |x| up_to(x, 100), |it| it.filter(|x| x.is_multiple_of(50)).find_first(|x| *x >= 100), Some(100);
    several_of_one: 300, |x| up_to(x, 100), |it| it.flat_map_iter(|x| [x, x + 1, x + 2]).find_first(|x| *x >= 101), Some(101);
    before_a_chain: 300, |x| up_to(x, 100), |it| it.chain(0..3).find_first(|x| *x >= 100), Some(100);
    behind_a_chain: 300, |x| up_to(299 - x, 100), |it| it.chain(0..3).find_last(|x| *x == 2), Some(2);
    in_blocks: 300, |x| up_to(x, 100), |it| it.by_blocks([150]).find_first(|x| *x >= 100), Some(100);
    in_blocks_from_the_back: 300, |x| up_to(299 - x, 100), |it| it.by_blocks([150]).find_last(|x| *x <= 199), Some(199);
}

/// As few futures in flight as possible: futures behind the hit do not keep out those before it.
#[test]
fn with_a_bound() {
    for threads in [1, 2, 5] {
        for (bound, depth, hit) in
            [(1, 0, 0), (1, 0, 100), (1, 3, 0), (2, 0, 250), (3, 0, 299), (7, 0, 100), (64, 0, 100)]
        {
            // Under a division, an item that never comes could take the single permit. So in that case all items come.
            soon(move || {
                for _ in 0..2 {
                    let (pool, counts) = (pool(threads), Counts::default());
                    let first = (0..300).into_par_iter().bound_depth(depth).map(|x| {
                        let counted = counts.one_more();
                        async move {
                            let _counted = counted;
                            if depth > 0 && x > hit { Comes::After(1) } else { up_to(x, hit) }.wait().await;
                            x
                        }
                    });
                    let first = first.io_await().max_in_flight(bound).on(&pool).find_first(|x| *x >= hit);
                    assert_eq!(first, Some(hit));
                    counts.assert_all_dropped();
                    assert_settled(&pool);
                }
            });
        }
    }
}

/// Futures behind the hit that wait for room do not take it from those before the hit, although both wait in one queue.
#[test]
fn unneeded_items_do_not_begin() {
    for threads in [1, 2] {
        soon(move || {
            let (pool, looks) = (pool(threads), AtomicUsize::new(0));
            let first = (0..80_u64).into_par_iter().bound_depth(1).flat_map_iter(|x| {
                (4 * x..4 * x + 4).map(|x| async move {
                    if x <= 160 { Comes::After(1) } else { Comes::Never }.wait().await;
                    x
                })
            });
            let first = first.io_await().max_in_flight(1).on(&pool).find_first(|x| {
                looks.fetch_add(1, Relaxed);
                *x >= 160
            });
            assert_eq!((first, looks.into_inner()), (Some(160), 161));
            assert_settled(&pool);
        });
    }
}

/// Futures that a test makes ready one by one, with their outputs; some never.
#[derive(Default)]
struct Doors(Vec<Mutex<(bool, Option<Waker>)>>);

impl Doors {
    fn new(n: usize) -> Self {
        Doors((0..n).map(|_| Mutex::default()).collect())
    }

    fn open(&self, n: usize) {
        let waker = {
            let mut door = self.0[n].lock().unwrap();
            door.0 = true;
            door.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    async fn pass(&self, n: usize) {
        poll_fn(|context| {
            let mut door = self.0[n].lock().unwrap();
            if door.0 {
                return Poll::Ready(());
            }
            door.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// A hit becomes the result as soon as all items before it have come, neither earlier nor later.
#[test]
fn a_hit_is_the_result_as_soon_as_it_is_surely_the_first() {
    for (threads, depth, back) in
        [(1, 0, false), (1, 0, true), (2, 0, false), (2, 4, false), (2, 4, true), (5, 4, false), (5, 4, true)]
    {
        let pool = pool(threads);
        soon(move || {
            let (doors, begun, looked) = (Doors::new(40), AtomicUsize::new(0), AtomicUsize::new(0));
            let at = |x: usize| if back { 39 - x } else { x };
            let search = || {
                let it = (0..40_usize).into_par_iter().bound_depth(depth).map(|x| {
                    let (doors, begun, looked) = (&doors, &begun, &looked);
                    async move {
                        begun.fetch_add(1, Relaxed);
                        doors.pass(x).await;
                        looked.fetch_add(1, Relaxed);
                        x
                    }
                });
                let it = it.io_await().on(&pool);
                let is_hit = |x: &usize| at(*x) == 20 || at(*x) >= 25;
                if back { it.find_last(is_hit) } else { it.find_first(is_hit) }
            };
            let ended = AtomicBool::new(false);
            std::thread::scope(|threads| {
                let searcher = threads.spawn(|| {
                    let found = search();
                    ended.store(true, Relaxed);
                    found
                });
                let wait_for = |count: &AtomicUsize, n| {
                    while count.load(Relaxed) < n {
                        std::thread::yield_now();
                    }
                };
                wait_for(&begun, 40);
                // The second hit, the first one, and then all items before that except one.
                doors.open(at(25));
                wait_for(&looked, 1);
                [20].into_iter().chain((0..20).filter(|x| *x != 7)).for_each(|x| doors.open(at(x)));
                wait_for(&looked, 21);
                std::thread::sleep(Duration::from_millis(10));
                assert!(!ended.load(Relaxed), "what might be the first one has not come");
                doors.open(at(7));
                assert_eq!(searcher.join().unwrap(), Some(at(20)));
            });
            assert_eq!(looked.into_inner(), 22, "and nothing else has come");
            assert_settled(&pool);
        });
    }
}

/// A random search, with the futures of its items.
#[derive(Clone, Debug)]
struct Plan {
    comes: Vec<Comes>,
    hits: Vec<bool>,
    threads: usize,
    depth: u32,
    bound: Option<usize>,
    blocks: Option<usize>,
    stages: bool,
}

fn plans() -> impl Strategy<Value = Plan> {
    let comes = prop_oneof![Just(Comes::Ready), (0..3_u64).prop_map(Comes::After), Just(Comes::Never)];
    let items = prop::collection::vec((comes, prop::bool::weighted(0.1)), 0..200);
    let bound = prop::option::of(1..40_usize);
    (items, 1..5_usize, 0..6_u32, bound, prop::option::of(1..90_usize), any::<bool>()).prop_map(
        |(items, threads, depth, bound, blocks, stages)| {
            let (comes, hits) = items.into_iter().unzip();
            Plan { comes, hits, threads, depth, bound, blocks, stages }
        },
    )
}

impl Plan {
    /// Searches from either end. Needed items come; others may never come.
    fn check(mut self, back: bool) {
        let hit =
            if back { self.hits.iter().rposition(|hit| *hit) } else { self.hits.iter().position(|hit| *hit) };
        let is_needed = |x: usize| hit.is_none_or(|hit| if back { x >= hit } else { x <= hit });
        // An item that never comes keeps its permit for good, so parts before the hit could find none. And a search
        // from the back begins with the least needed items.
        let few = self.bound.is_some() && (back || self.depth > 0);
        for (x, comes) in self.comes.iter_mut().enumerate() {
            if *comes == Comes::Never && (is_needed(x) || few) {
                *comes = Comes::After(1);
            }
        }
        soon(move || {
            let (pool, counts) = (pool(self.threads), Counts::default());
            let plan = &self;
            let counts_of = &counts;
            let it = (0..self.hits.len()).into_par_iter().bound_depth(self.depth).map(move |x| {
                let counted = counts_of.one_more();
                async move {
                    let _counted = counted;
                    plan.comes[x].wait().await;
                    x
                }
            });
            let it = it.io_await().max_in_flight(self.bound.unwrap_or(1 << 16)).on(&pool);
            let is_hit = |x: &usize| plan.hits[*x];
            let again = |x: usize| async move {
                plan.comes[x].wait().await;
                x
            };
            let found = match (self.stages, self.blocks, back) {
                (false, None, false) => it.find_first(is_hit),
                (false, None, true) => it.find_last(is_hit),
                (false, Some(blocks), false) => it.by_uniform_blocks(blocks).find_first(is_hit),
                (false, Some(blocks), true) => it.by_uniform_blocks(blocks).find_last(is_hit),
                (true, _, false) => it.map(again).io_await().find_first(is_hit),
                (true, _, true) => it.map(again).io_await().find_last(is_hit),
            };
            assert_eq!(found, hit);
            counts.assert_all_dropped();
            assert_settled(&pool);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_the_sequential_search(plan in plans(), back: bool) {
        plan.check(back);
    }
}

/// A panic ends the search, before or behind the hit, unless the hit was there first.
#[test]
fn panics() {
    for threads in [1, 2, 5] {
        for (depth, bad) in [(0, 40), (0, 150), (4, 40), (4, 99)] {
            for in_future in [false, true] {
                soon(move || {
                    let (pool, counts) = (pool(threads), Counts::default());
                    let first = (0..300).into_par_iter().bound_depth(depth).map(|x| {
                        let counted = counts.one_more();
                        async move {
                            let _counted = counted;
                            // The panicking item comes first, and one before the hit never.
                            if x == bad {
                                after(1)
                            } else if x < 20 {
                                after(2)
                            } else {
                                after(60_000)
                            }
                            .await;
                            assert!(!in_future || x != bad, "planned");
                            x
                        }
                    });
                    let search = || {
                        first.io_await().on(&pool).find_first(|x| {
                            assert!(in_future || *x != bad, "planned");
                            *x >= 100
                        })
                    };
                    let payload = catch_unwind(AssertUnwindSafe(search)).expect_err("a panic");
                    assert_eq!(*payload.downcast::<&str>().unwrap(), "planned");
                    counts.assert_all_dropped();
                    assert_settled(&pool);
                    assert_eq!(pool.install(|| (0..100).into_par_iter().find_first(|x| *x > 7)), Some(8));
                });
            }
        }
    }
}

/// A hit that is found behind another one is dropped, and a panic in that drop is a panic of the search.
#[test]
fn hits_that_come_too_late_are_dropped_once() {
    struct Hit<'a>(usize, &'a Counts);
    impl Drop for Hit<'_> {
        fn drop(&mut self) {
            self.1.dropped.fetch_add(1, Relaxed);
        }
    }
    for (threads, depth) in [(1, 0), (2, 0), (2, 5), (5, 5)] {
        for back in [false, true] {
            let (pool, counts) = (pool(threads), Counts::default());
            let it = (0..200_usize).into_par_iter().bound_depth(depth);
            let it = it.map(|x| async move {
                after(x as u64 % 3).await;
                x
            });
            let it = it.io_await().on(&pool).map(|x| {
                counts.made.fetch_add(1, Relaxed);
                Hit(x, &counts)
            });
            let found = if back { it.find_last(|_| true) } else { it.find_first(|_| true) };
            assert_eq!(found.as_ref().map(|hit| hit.0), Some(if back { 199 } else { 0 }));
            assert_eq!(counts.made.load(Relaxed), counts.dropped.load(Relaxed) + 1);
            drop(found);
            counts.assert_all_dropped();
            assert_settled(&pool);
        }
    }
}

/// The same as a future: no thread waits.
#[test]
fn as_a_future() {
    for threads in [1, 2, 5] {
        let pool = Arc::new(pool(threads));
        for depth in [0, 5] {
            let pool = Arc::clone(&pool);
            soon(move || {
                let counts: &'static Counts = Box::leak(Box::default());
                let first = (0..300).into_par_iter().bound_depth(depth).map(|x| {
                    let counted = counts.one_more();
                    async move {
                        let _counted = counted;
                        up_to(x, 100).wait().await;
                        x
                    }
                });
                let first = first.io_await().on(Arc::clone(&pool)).async_find_first(|x| *x >= 100);
                assert_eq!(futures_lite::future::block_on(first), Some(100));
                counts.assert_all_dropped();
                assert_settles(&pool);
            });
        }
    }
}

/// A policy that stops is noticed in a search, too, and a search that has ended does not wait for it.
#[test]
fn with_a_token() {
    for threads in [1, 2, 5] {
        soon(move || {
            let (pool, token) = (pool(threads), CancelToken::new());
            let waits = |hit| {
                (0..300).into_par_iter().map(move |x| async move {
                    up_to(x, hit).wait().await;
                    x
                })
            };
            let found = waits(100).io_await().on(&pool).stop_on(&token).find_first(|x| *x >= 100);
            assert_eq!(found.unwrap(), Some(100));
            let stopped = waits(100).io_await().on(&pool).inspect(|x| {
                if *x == 100 {
                    token.cancel();
                }
            });
            assert!(stopped.stop_on(&token).find_first(|x| *x > 100).is_err());
            assert_settled(&pool);
        });
    }
}
