//! `par_bridge`: every item of a sequential iterator comes once, the iterator is asked by one thread at a time, and waits for turns are short.

use crate::support::{LENGTHS, assert_schedules};
use furcate::iter::IterBridge;
use furcate::policy::CancelToken;
use furcate::prelude::*;
use proptest::prelude::*;
use std::collections::HashSet;
use std::iter::repeat;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};
use testkit::drops::Ledger;
use testkit::panics::{planned_panic, survives};
use testkit::{on_pools, pools};

/// An iterator that notices when two threads ask it at once, and when it is asked after its end.
struct Watched<I> {
    items: I,
    asked: AtomicBool,
    over: bool,
}

impl<I> Watched<I> {
    fn new(items: I) -> Self {
        Watched { items, asked: AtomicBool::new(false), over: false }
    }
}

impl<I: Iterator> Iterator for Watched<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        assert!(!self.asked.swap(true, SeqCst), "asked by two threads");
        assert!(!self.over, "asked after its end");
        let item = self.items.next();
        self.over = item.is_none();
        self.asked.store(false, SeqCst);
        item
    }
}

fn sorted(mut items: Vec<usize>) -> Vec<usize> {
    items.sort_unstable();
    items
}

#[test]
fn every_item_once_and_in_order() {
    for n in LENGTHS {
        let expected: Vec<usize> = (0..n).collect();
        let bridge = || Watched::new(0..n).par_bridge().ordered();
        let unsure = || Watched::new(0..n).filter(|_| true).par_bridge();
        on_pools(|| {
            assert_schedules!(expected, bridge(), |it| it.collect::<Vec<_>>());
            assert_schedules!(expected, unsure(), |it| sorted(it.map(Some).while_some().collect()));
            assert_schedules!(n, unsure(), |it| it.flat_map(|x| x..x + 1).count());
            assert_schedules!(n + 3, (0..3).into_par_iter().chain(bridge()), |it| it.count());
            assert_schedules!(n + 3, bridge().chain(0..3), |it| it.filter(|_| true).count());
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_length_speed_and_policy(
        n in 0..3000_usize,
        threads in 0..4_usize,
        slow_next in 0..200_usize,
        slow_item in 0..200_usize,
        limit in 1..500_usize,
    ) {
        let expected: Vec<usize> = (0..n).collect();
        let wait = |every: usize, i: usize| if every > 0 && i.is_multiple_of(every * 10) { thread::sleep(Duration::from_micros(200)) };
        let items = || Watched::new((0..n).inspect(move |&i| wait(slow_next, i)));
        pools()[threads].install(|| -> Result<(), TestCaseError> {
            let work = |i: usize| { wait(slow_item, i); i };
            macro_rules! all_come {
                ($($policy:tt)*) => {{
                    let in_order: Vec<_> = items().par_bridge().ordered()$($policy)*.map(work).collect();
                    prop_assert_eq!(&in_order, &expected);
                    let in_any = sorted(items().par_bridge()$($policy)*.map(work).collect());
                    prop_assert_eq!(&in_any, &expected);
                }};
            }
            all_come!();
            all_come!(.size_limit(limit));
            all_come!(.by_blocks([limit]));
            all_come!(.join());
            all_come!(.thief_splitting(limit as u32));
            let hit = items().par_bridge().ordered().map(work).find_first(|&i| i >= limit);
            prop_assert_eq!(hit, (limit < n).then_some(limit));
            Ok(())
        })?;
    }
}

/// A size that the iterator reports wrongly does no harm.
#[test]
fn wrong_hints() {
    struct Lies(std::ops::Range<usize>, usize);
    impl Iterator for Lies {
        type Item = usize;
        fn next(&mut self) -> Option<usize> {
            self.0.next()
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.1, Some(self.1))
        }
    }
    for hint in [0, 1, 100, usize::MAX] {
        on_pools(|| {
            assert_eq!(Lies(0..1000, hint).par_bridge().sum::<usize>(), 499_500, "{hint}");
            // Blocks have as many items as they are to have, also of an iterator that ends later than it says, or never.
            let mut blocks = Lies(0..usize::MAX, hint).par_bridge().ordered().blocks_iter([10, 200]);
            let lens: Vec<_> = blocks.iter().take(2).map(|block| block.count()).collect();
            assert_eq!(lens, [10, 200], "{hint}");
            assert_eq!(blocks.iter().next().and_then(|block| block.min()), Some(210), "{hint}");
            let searched = Lies(0..usize::MAX, hint).par_bridge().ordered().by_blocks(repeat(16));
            assert_eq!(searched.find_first(|x| x % 100 == 99), Some(99), "{hint}");
        });
    }
}

/// Items that take long are worked on by all threads at once, also if the iterator is slow.
#[test]
fn slow_items_run_side_by_side() {
    let most = || {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        testkit::pool(3).install(|| {
            (0..30).par_bridge().for_each(|_| {
                most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                thread::sleep(Duration::from_millis(5));
                running.fetch_sub(1, SeqCst);
            });
        });
        most.into_inner()
    };
    // On a busy machine a thread may be without a core for the whole call.
    assert!((0..20).any(|_| most() >= 3), "never three at once");
}

/// A list of work: each item is there when all items before have been worked on.
struct AfterOthers<'a> {
    given: usize,
    done: &'a AtomicUsize,
}

impl Iterator for AfterOthers<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let since = Instant::now();
        while self.done.load(SeqCst) < self.given {
            assert!(since.elapsed() < Duration::from_secs(20), "item {} is held back", self.given - 1);
            thread::yield_now();
        }
        self.given += 1;
        (self.given <= 2000).then_some(self.given)
    }
}

/// An iterator may wait for the items that it has given, as jwalk's does, and several may do so on one pool.
#[test]
fn the_iterator_may_wait_for_its_items() {
    let walk = |work: fn()| {
        let done = AtomicUsize::new(0);
        let count = AfterOthers { given: 0, done: &done }.par_bridge().map(|_| {
            work();
            done.fetch_add(1, SeqCst)
        });
        assert_eq!(count.count(), 2000);
    };
    on_pools(|| {
        for work in [|| {}, || testkit::time::spin(Duration::from_micros(2))] {
            walk(work);
            furcate::join(|| walk(work), || walk(work));
        }
    });
}

/// While one thread waits for the iterator's next item, the others finish theirs, and the items that have come are not held back.
#[test]
fn nobody_waits_with_the_iterator() {
    let (send, receive) = mpsc::channel::<u32>();
    let (done, finished) = mpsc::channel::<u32>();
    let call = thread::spawn(move || {
        testkit::pool(3).install(|| receive.into_iter().par_bridge().for_each(|i| done.send(i).unwrap()));
    });
    for i in 0..2000 {
        send.send(i).unwrap();
        assert_eq!(finished.recv_timeout(Duration::from_secs(20)), Ok(i), "an item waits for the next one");
    }
    drop(send);
    call.join().unwrap();
}

/// An iterator that uses the same pool, in each step.
#[test]
fn the_iterator_may_use_the_pool() {
    let sums = || (0..300_u64).map(|i| (0..i * 10).into_par_iter().size_limit(10).sum::<u64>());
    let expected: Vec<u64> = (0..300).map(|i: u64| (0..i * 10).sum()).collect();
    on_pools(|| {
        assert_eq!(sums().par_bridge().ordered().collect::<Vec<_>>(), expected);
        // And a bridge in the iterator of a bridge.
        let nested = (0..20_u64).map(|i| (0..i).par_bridge().map(|j| j * 2).sum::<u64>());
        assert_eq!(
            nested.par_bridge().sum::<u64>(),
            (0..20).map(|i: u64| i * (i - u64::from(i > 0))).sum::<u64>()
        );
    });
}

/// The items of an iterator that stops and goes come at once, if there are pauses between some of them.
#[test]
fn items_are_not_held_back_when_they_come_slowly() {
    let (send, receive) = mpsc::channel::<u32>();
    let (done, finished) = mpsc::channel::<u32>();
    let call = thread::spawn(move || {
        testkit::pool(2).install(|| receive.into_iter().par_bridge().for_each(|i| done.send(i).unwrap()));
    });
    for i in 0..20 {
        send.send(i).unwrap();
        assert_eq!(finished.recv_timeout(Duration::from_secs(20)), Ok(i), "an item waits for the next one");
        thread::sleep(Duration::from_micros(200));
    }
    drop(send);
    call.join().unwrap();
}

#[test]
fn it_stops_early() {
    on_pools(|| {
        assert!((0..).par_bridge().any(|i: u64| i > 10_000));
        assert_eq!((0..).par_bridge().ordered().find_first(|&i: &u64| i > 10_000), Some(10_001));
        assert_eq!((0..).par_bridge().take_any(100).map(|i: u64| i).count(), 100);
        assert!((0..).par_bridge().map(|i: u64| (i < 1000).then_some(i)).while_some().count() <= 1000);
        // A gate that closes within a run of cheap items, and more behind it.
        assert_eq!((0..1000).par_bridge().take_any(100).chain(0..3).count(), 103);
        assert_eq!((0..1000).par_bridge().take_any(100).chain(0..3).on(furcate::Inline).count(), 103);
        // The sizes of both are unknown.
        let two = (0..1000_u64).par_bridge().chain((0..).par_bridge());
        assert!(two.any(|i| i == 1_000_000));
        let token = CancelToken::new();
        let outcome = (0..).par_bridge().stop_on(&token).for_each(|i: u64| {
            if i == 1000 {
                token.cancel();
            }
        });
        assert!(outcome.is_err());
        let end = Instant::now() + Duration::from_millis(20);
        assert!((0_u64..).par_bridge().deadline(end).count().is_err());
    });
}

/// After an early end the iterator goes on behind the items that were worked on.
#[test]
fn little_is_fetched_in_vain() {
    let mut iter = 0..1_000_000_u64;
    let slow = |i: u64| {
        thread::sleep(Duration::from_micros(100));
        i >= 100
    };
    assert!(pools()[1].install(|| (&mut iter).par_bridge().any(slow)));
    assert!(iter.start < 100 + 200, "{} were fetched", iter.start);
}

#[test]
fn a_panic_ends_the_call() {
    for at in [0, 1, 70, 999] {
        on_pools(|| {
            let (ledger, items) = Ledger::items(1000);
            let watched = Watched::new(items.into_iter().inspect(|item| {
                if item.number == at {
                    planned_panic()
                }
            }));
            assert!(!survives(|| watched.par_bridge().for_each(drop)));
            ledger.assert_settled("the iterator panics");

            let (ledger, items) = Ledger::items(1000);
            let bridge = Watched::new(items.into_iter())
                .par_bridge()
                .map(|item| if item.number == at { planned_panic() } else { item });
            assert!(!survives(|| drop(bridge.collect::<Vec<_>>())));
            ledger.assert_settled("the chain panics");
        });
    }
}

#[test]
fn other_engines_and_places() {
    let bridge = || (0..1000_u64).filter(|i| i % 3 == 0).par_bridge();
    let expected: u64 = (0..1000).filter(|i| i % 3 == 0).sum();
    assert_eq!(bridge().on(furcate::Inline).sum::<u64>(), expected);
    assert_eq!(bridge().clone().sequential().sum::<u64>(), expected);
    assert_eq!(bridge().fold(|| 0, |a, b| a + b).sum::<u64>(), expected);
    assert_eq!(bridge().collect::<HashSet<_>>().len(), 334);
    let nothing: IterBridge<_> = std::iter::empty::<u64>().par_bridge();
    assert_eq!(nothing.max(), None);
    let seen = Mutex::new(Vec::new());
    bridge().for_each(|i| seen.lock().unwrap().push(i));
    assert_eq!(seen.into_inner().unwrap().iter().sum::<u64>(), expected);
    assert!(catch_unwind(AssertUnwindSafe(|| bridge().map(|i| 7 / i).count())).is_err());
}

/// Futures behind a bridge: all of them are in flight at once.
#[test]
fn futures_behind_a_bridge() {
    let (pending, most, since) = (AtomicUsize::new(0), AtomicUsize::new(0), Instant::now());
    let wait = |i: u64| {
        let (pending, most) = (&pending, &most);
        async move {
            most.fetch_max(pending.fetch_add(1, SeqCst) + 1, SeqCst);
            while most.load(SeqCst) <= 20 && since.elapsed() < Duration::from_secs(20) {
                async_io::Timer::after(Duration::from_millis(5)).await;
            }
            pending.fetch_sub(1, SeqCst);
            i
        }
    };
    let sum: u64 = testkit::pool(2).install(|| (0..200_u64).par_bridge().map(wait).io_await().sum());
    assert_eq!(sum, 19_900);
    assert!(most.load(SeqCst) > 20, "{} at once", most.load(SeqCst));
}
