//! `into_iter_ordered` and `into_iter_unordered`: items in order, no more ahead than the bound, early ends, panics, and consumers inside the pool.
//!
//! Not on the engine of rayon, whose workers cannot give their place away.
#![cfg(not(furcate_rayon))]

use furcate::prelude::*;
use furcate::stream::BlockingIter;
use furcate::{Inline, block_on};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;
use testkit::panics::{payload, text};
use testkit::time::{LONG, until, within};
use testkit::{on_pools, pool, pools};

/// Makes an iterator of a capacity over numbers, each of which is counted, and then worked on, when it begins.
type Form = fn(usize, Arc<AtomicUsize>, fn(u64)) -> BlockingIter<u64>;

/// The greatest number of items that have begun and were not taken, for a capacity.
type Bound = fn(usize) -> usize;

/// Each form with its bound.
const FORMS: [(Form, Bound); 5] = [
    (|n, begun, work| numbers(begun, work).into_iter_ordered(n), |n| n),
    (|n, begun, work| numbers(begun, work).into_iter_unordered(n), |n| n),
    (|n, begun, work| numbers(begun, work).map(std::future::ready).io_await().into_iter_ordered(n), |n| n),
    (
        |n, begun, work| numbers(begun, work).map(std::future::ready).io_await().into_iter_unordered(n),
        |n| 2 * n,
    ),
    (
        |n, begun, work| {
            let source = (0..u64::MAX).inspect(move |_| _ = begun.fetch_add(1, SeqCst));
            source.par_bridge().ordered().inspect(move |&x| work(x)).into_iter_ordered(n)
        },
        |n| n,
    ),
];

fn numbers(begun: Arc<AtomicUsize>, work: fn(u64)) -> impl ParallelIterator<Item = u64> + 'static {
    (0..u64::MAX).into_par_iter().map(move |x| {
        begun.fetch_add(1, SeqCst);
        work(x);
        x
    })
}

/// Items of uneven cost, so that they are done in another order.
fn uneven(x: u64) {
    if x % 7 == 0 {
        thread::sleep(Duration::from_micros(300));
    }
}

#[test]
fn items_come_in_order() {
    within(LONG, || {
        on_pools(|| {
            for n in [1, 2, 3, 16, 1000] {
                for len in [0, 1, 2, 100] {
                    let items = || (0..len).into_par_iter().inspect(|&x| uneven(x));
                    assert!(items().into_iter_ordered(n).eq(0..len));
                    assert!(
                        items()
                            .filter(|x| x % 3 == 1)
                            .into_iter_ordered(n)
                            .eq((0..len).filter(|x| x % 3 == 1))
                    );
                    assert!(items().on(Inline).into_iter_ordered(n).eq(0..len));
                    assert!(items().map(async |x| x).io_await().into_iter_ordered(n).eq(0..len));
                    let bridged = (0..len).filter(|_| true).par_bridge().ordered().inspect(|&x| uneven(x));
                    assert!(bridged.into_iter_ordered(n).eq(0..len));
                    let mut any: Vec<u64> = items().into_iter_unordered(n).collect();
                    any.sort_unstable();
                    assert!(any.into_iter().eq(0..len));
                }
            }
        });
    });
}

#[test]
fn the_end_stays_the_end() {
    let mut items = (0..2).into_par_iter().into_iter_ordered(8);
    assert_eq!([items.next(), items.next(), items.next(), items.next()], [Some(0), Some(1), None, None]);
}

/// "At most `capacity` items have begun and were not yet returned": counted at each beginning of an item, over the lifetime of the iterator.
#[test]
fn no_more_items_begin_than_the_bound_says() {
    static MOST: [AtomicUsize; FORMS.len()] = [const { AtomicUsize::new(0) }; FORMS.len()];
    within(LONG, || {
        for pool in pools() {
            for (form, (make, bound)) in FORMS.into_iter().enumerate() {
                for n in [1, 2, 3, 10, 64] {
                    let begun = Arc::new(AtomicUsize::new(0));
                    let mut items = pool.install(|| {
                        make(n, Arc::clone(&begun), |x| {
                            if x % 16 == 0 {
                                uneven(0)
                            }
                        })
                    });
                    for taken in 0..200 {
                        if taken % 40 == 0 {
                            thread::sleep(Duration::from_millis(2));
                        }
                        // So many were returned; none is returned now.
                        let ahead = begun.load(SeqCst) - taken;
                        assert!(ahead <= bound(n), "{ahead} of form {form}, capacity {n}");
                        MOST[form].fetch_max(ahead * 100 / bound(n), SeqCst);
                        assert!(items.next().is_some());
                    }
                }
            }
        }
    });
    // The bound is reached: the items are computed ahead.
    assert!(MOST.iter().all(|most| most.load(SeqCst) == 100), "{MOST:?}");
}

/// After a drop, each worker begins at most one more item, and the computation's closures are dropped.
#[test]
fn an_early_drop_stops_the_work() {
    within(LONG, || {
        for pool in pools() {
            for (form, (make, _)) in FORMS.into_iter().enumerate() {
                let begun = Arc::new(AtomicUsize::new(0));
                let slow = |_| thread::sleep(Duration::from_millis(1));
                let mut items = pool.install(|| make(1000, Arc::clone(&begun), slow));
                if form != 0 && form != 4 {
                    assert!(items.next().is_some()); // a block of 500 slow items is not waited for
                }
                until(|| begun.load(SeqCst) > 2);
                drop(items);
                let before = begun.load(SeqCst);
                until(|| Arc::strong_count(&begun) == 1);
                let more = begun.load(SeqCst) - before;
                // A bridge fetches the items of a block before it works on them.
                let most = if form == 4 { 500 } else { pool.current_num_threads() };
                assert!(more <= most, "{more} items of form {form} began after the drop");
            }
        }
    });
}

#[test]
fn a_panic_is_raised_in_next() {
    within(LONG, || {
        for pool in pools() {
            for n in [1, 2, 9, 100] {
                for waits in [false, true] {
                    let items = (0..1000).into_par_iter().inspect(|&x| assert!(x != 50, "on purpose"));
                    let mut items = pool.install(|| {
                        if waits {
                            items.map(async |x| x).io_await().into_iter_ordered(n)
                        } else {
                            items.into_iter_ordered(n)
                        }
                    });
                    let mut taken = vec![];
                    assert_eq!(text(&*payload(|| taken.extend(&mut items))), "on purpose");
                    let half = n.div_ceil(2);
                    // Where blocks begin: first one item per thread, then twice as many, until half is begun.
                    let mut begins: Vec<usize> = (0..)
                        .map(|k| half.min(pool.current_num_threads() * ((1 << k) - 1)))
                        .take(10)
                        .collect();
                    begins.extend((1..=50).map(|k| k * half));
                    let begin = begins.into_iter().filter(|begin| *begin <= 50).max().unwrap();
                    let expected = if waits { taken.len() } else { begin };
                    assert!(taken.iter().copied().eq(0..expected), "{taken:?}");
                    assert!(taken.len() <= 50);
                    assert_eq!(items.next(), None, "after the panic");
                }
            }
            assert_eq!(pool.install(|| (0..100).into_par_iter().sum::<u32>()), 4950);
        }
    });
}

/// Before a sequential source has given half of the capacity.
#[test]
fn the_first_items_come_soon() {
    within(LONG, || {
        for pool in pools() {
            let (send, receive) = channel();
            let first = pool.current_num_threads() as u64;
            (0..first).for_each(|x| send.send(x).unwrap());
            let mut items =
                pool.install(|| receive.into_iter().par_bridge().ordered().into_iter_ordered(1000));
            assert!(items.by_ref().take(first as usize).eq(0..first));
            send.send(7).unwrap();
            drop(send);
            assert!(items.eq([7]));
        }
    });
}

/// The consumer is a job of the pool that computes: many at once, inside chains, two by turns, and under a `block_on`.
#[test]
fn consumers_may_be_jobs_of_the_pool() {
    within(LONG, || {
        for pool in pools() {
            let sums = pool.install(|| {
                (0..20_u64)
                    .into_par_iter()
                    .size_limit(1)
                    .map(|k| {
                        let numbers = || (0..100).into_par_iter().map(move |x| k * x);
                        let (left, right) = (numbers().into_iter_ordered(4), numbers().into_iter_ordered(7));
                        left.zip(right).map(|(a, b)| a + b).sum::<u64>()
                    })
                    .collect::<Vec<_>>()
            });
            assert!(sums.into_iter().eq((0..20).map(|k| 9900 * k)));
            let nested =
                (0..30_u64).into_par_iter().map(|x| (0..x).into_par_iter().into_iter_ordered(2).sum::<u64>());
            assert_eq!(
                pool.install(|| nested.into_iter_ordered(4).sum::<u64>()),
                (0..30).map(|x| x * (x.max(1) - 1) / 2).sum()
            );
            let in_task =
                pool.install(|| block_on(async { (0..50).into_par_iter().into_iter_ordered(4).count() }));
            assert_eq!(in_task, 50);
        }
    });
}

/// A slow consumer holds no worker: the pool's only worker runs other calls while the iterator is full.
#[test]
fn a_full_iterator_leaves_its_worker() {
    within(LONG, || {
        let pool = pool(1);
        for (make, bound) in FORMS {
            let begun = Arc::new(AtomicUsize::new(0));
            let mut items = pool.install(|| make(4, Arc::clone(&begun), |_| ()));
            until(|| begun.load(SeqCst) == bound(4));
            assert_eq!(pool.install(|| (0..100).into_par_iter().sum::<u32>()), 4950);
            assert_eq!(begun.load(SeqCst), bound(4));
            assert!(items.next().is_some());
        }
    });
}

#[test]
fn a_pool_that_is_dropped_ends_its_iterators() {
    within(LONG, || {
        let pool = pool(2);
        let mut items = pool.install(|| (0..u64::MAX).into_par_iter().into_iter_ordered(4));
        drop(pool);
        let message = payload(|| items.by_ref().for_each(drop));
        assert_eq!(text(&*message), "the pool was dropped before the stream's end");
        assert_eq!(items.next(), None);
    });
}

#[test]
fn a_capacity_of_0_is_refused() {
    for unordered in [false, true] {
        let items = || (0..9).into_par_iter();
        let message = payload(|| {
            drop(if unordered { items().into_iter_unordered(0) } else { items().into_iter_ordered(0) })
        });
        assert!(text(&*message).contains("capacity"));
    }
}
