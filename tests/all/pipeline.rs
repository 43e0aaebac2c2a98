//! Pipelines: the items of the stream arrive in order, no more items are under way than allowed, and nothing is left
//! when one side goes away.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::streams::{
    ALL_WAYS, Busy, Counted, assert_comes_to, census, collect, numbers, pools, sorted,
};
use crate::support::{Ways, a_minute, after, assert_settled, assert_settles, pool};
use furcate::prelude::*;
use furcate::stream::pipeline;
use futures_lite::{StreamExt, future};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// The stream's items come out, however they come, and however many may wait.
#[test]
fn random_streams() {
    let pools: Vec<_> = pools().collect();
    for seed in 0..40_u64 {
        let (pool, n) = (&pools[seed as usize % 3], seed * seed % 97);
        let (bound, capacity) = (1 + seed as usize % 6, 1 + seed as usize % 11);
        let (first, second) = (Ways::Mixed(3 * seed + 1), Ways::Mixed(5 * seed + 2));
        let give = move |x: u64| second.give(x, x + 1);
        let bridge = || numbers(n, first).par_bridge_async().map(give).io_await().max_in_flight(bound);
        let expected: Vec<u64> = (1..=n).collect();
        assert_eq!(sorted(bridge().on(pool).collect()), expected, "{seed}");
        let unordered = pool.install(|| bridge().into_stream_unordered(capacity));
        assert_eq!(sorted(future::block_on(collect(unordered))), expected, "{seed}");
        let staged = pool.install(|| {
            pipeline(numbers(n, first)).stage_async(give).max_in_flight(bound).into_stream(capacity)
        });
        let back =
            pool.install(|| pipeline(staged).stage_async(move |x| first.give(x, x)).into_stream(capacity));
        assert_eq!(future::block_on(collect(back)), expected, "{seed}");
    }
}

#[test]
fn a_pipeline_keeps_order() {
    for pool in pools() {
        for ways in ALL_WAYS {
            for bound in [1, 2, 5, 64] {
                let mut arrived = vec![];
                pool.install(|| {
                    pipeline(numbers(60, ways))
                        .stage(|x| x + 1)
                        .stage_async(|x| Ways::Mixed(8).give(x, x * 2))
                        .stage(|x| x.to_string())
                        .stage_async(|text| async move { text })
                        .max_in_flight(bound)
                        .for_each(|text| arrived.push(text));
                });
                assert!(arrived.into_iter().eq((1..=60).map(|x| (2 * x).to_string())), "{ways:?} {bound}");
            }
        }
        assert_settled(&pool);
    }
}

/// Whichever part is slow, no more items than allowed are between the stream and the sink's end.
#[test]
fn a_pipeline_is_bounded() {
    for slow in 0..4 {
        for bound in [1, 3, 8] {
            let (pool, census) = (pool(2), census());
            let wait = move |stage: u64, x: u64| async move {
                if slow == stage && x.is_multiple_of(10) {
                    after(5).await;
                }
            };
            let items = numbers(100, Ways::Ready).then(move |x| async move {
                wait(0, x).await;
                census.make(x)
            });
            let staged = |stage| {
                move |item: Counted| async move {
                    wait(stage, item.value).await;
                    item
                }
            };
            let mut expected = 0;
            pool.install(|| {
                pipeline(items)
                    .stage_async(staged(1))
                    .stage_async(staged(2))
                    .max_in_flight(bound)
                    .try_for_each_async(|item| {
                        assert_eq!(item.value, expected);
                        expected += 1;
                        async move {
                            wait(3, item.value).await;
                            drop(item);
                            Ok::<(), ()>(())
                        }
                    })
                    .unwrap();
            });
            assert_eq!((expected, census.made.load(Relaxed), census.alive.load(Relaxed)), (100, 100, 0));
            assert!(census.most.load(Relaxed) <= bound, "{} > {bound}", census.most.load(Relaxed));
        }
    }
}

/// A blocked stage, or a blocked sink, holds up all stages before it, and the stream: no more items are taken than may
/// be under way.
#[test]
fn a_blocked_stage_holds_up_all_stages_before_it() {
    const STAGE: usize = 3;
    for pool in pools() {
        for slow in ["stage", "bounded stage", "sink"] {
            for bound in [1, 4, 10] {
                let (census, gate) = (census(), Arc::new(Gate::default()));
                let (begun, arrived) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let wait = |here: &str| {
                    let gate = (here == slow).then(|| Arc::clone(&gate));
                    async move {
                        if let Some(gate) = gate {
                            gate.pass().await;
                        }
                    }
                };
                let pipe = || {
                    pipeline(numbers(50, Ways::Mixed(3)).map(|x| census.make(x)))
                        .stage_async(|item| {
                            let wait = wait("stage");
                            async move {
                                wait.await;
                                item
                            }
                        })
                        .stage_async_at_most(STAGE, |item| {
                            begun.fetch_add(1, Relaxed);
                            let wait = wait("bounded stage");
                            async move {
                                wait.await;
                                item
                            }
                        })
                        .max_in_flight(bound)
                        .try_for_each_async(|item| {
                            let (wait, arrived) = (wait("sink"), &arrived);
                            async move {
                                wait.await;
                                drop(item);
                                arrived.fetch_add(1, Relaxed);
                                Ok::<(), ()>(())
                            }
                        })
                };
                std::thread::scope(|threads| {
                    let runs = threads.spawn(|| pool.install(pipe));
                    assert_comes_to(|| census.alive(), bound);
                    assert_eq!(arrived.load(Relaxed), 0, "{slow} {bound}");
                    let in_stage = match slow {
                        "stage" => 0,
                        "bounded stage" => bound.min(STAGE),
                        _ => bound,
                    };
                    assert_comes_to(|| begun.load(Relaxed), in_stage);
                    // All items wait, and the workers are free.
                    assert_eq!(pool.install(|| furcate::join(|| 1, || 2)), (1, 2));
                    gate.open();
                    assert_eq!(runs.join().unwrap(), Ok(()));
                });
                assert_eq!((arrived.into_inner(), census.alive.load(Relaxed)), (50, 0));
            }
        }
    }
}

/// A gate that is closed until it is opened.
#[derive(Default)]
struct Gate {
    open: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Gate {
    async fn pass(self: Arc<Self>) {
        poll_fn(|context| {
            let mut waiting = self.waiting.lock().unwrap();
            if self.open.load(Relaxed) {
                return Poll::Ready(());
            }
            waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn open(&self) {
        let waiting = {
            let mut waiting = self.waiting.lock().unwrap();
            self.open.store(true, Relaxed);
            std::mem::take(&mut *waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// Items that arrive, and are not taken, wait within the stream's bound and the pipeline's.
#[test]
fn a_pipelines_stream_is_not_ahead_of_its_taker() {
    // Returns the number of workers that have waited.
    let handovers = |threads: usize, bound: usize, capacity: usize| {
        let (pool, census) = (pool(threads), census());
        let items = numbers(u64::MAX, Ways::Mixed(1)).map(|x| census.make(x));
        let stages = || pipeline(items).stage_async(|item| async move { item }).max_in_flight(bound);
        let mut stream = pool.install(|| stages().into_stream(capacity));
        let mut expected = 0;
        for take in [0, 1, 20] {
            for _ in 0..take {
                assert_eq!(future::block_on(stream.next()).unwrap().value, expected);
                expected += 1;
            }
            // No item is held back, and no more are taken.
            assert_comes_to(|| census.alive(), bound + capacity);
            assert_eq!(pool.install(|| 7), 7);
        }
        let handovers = pool.stats().total().handovers;
        // One more item is in the taker's hand.
        assert!(census.most.load(Relaxed) <= bound + capacity + 1);
        drop(stream);
        census.assert_all_gone();
        assert_settles(&pool);
        handovers
    };
    for threads in [1, 2, 3] {
        for (bound, capacity) in [(1, 1), (3, 2), (8, 16)] {
            // No worker waits for the taker. But some may wait for thieves that have no core at the moment.
            let are_few = (0..20).any(|_| handovers(threads, bound, capacity) <= 2);
            assert!(are_few, "workers have waited: {threads} threads, bound {bound}, capacity {capacity}");
        }
    }
}

/// A stage with a bound of its own holds up no item for ever.
#[test]
fn a_stage_is_bounded() {
    for pool in pools() {
        for (in_stage, in_flight) in [(1, 1), (1, 20), (3, 20), (20, 3)] {
            let busy = Busy::default();
            let mut arrived = vec![];
            pool.install(|| {
                pipeline(numbers(100, Ways::Mixed(1)))
                    .stage_async_at_most(in_stage, |x| {
                        let busy = &busy;
                        busy.begin();
                        async move {
                            Ways::Mixed(6).wait(x).await;
                            busy.now.fetch_sub(1, Relaxed);
                            x
                        }
                    })
                    .stage_async(|x| Ways::Mixed(7).give(x, x))
                    .max_in_flight(in_flight)
                    .for_each(|x| arrived.push(x));
            });
            assert!(arrived.into_iter().eq(0..100));
            assert!(busy.most.into_inner() <= in_stage.min(in_flight));
        }
    }
}

/// A sink is called by one item at a time, and not after an error: its own, or one of a stage, which it returns.
#[test]
fn a_pipeline_ends_with_the_first_error() {
    for pool in pools() {
        for (sink_waits, in_stage) in [(false, false), (true, false), (false, true), (true, true)] {
            let (census, mut seen) = (census(), vec![]);
            let items = numbers(u64::MAX, Ways::Mixed(2)).map(|x| census.make(x));
            let stages = pipeline(items).stage_async(move |item| async move {
                if item.value == 95 {
                    a_minute().await;
                }
                if in_stage && item.value >= 70 { Err(item.value) } else { Ok(item) }
            });
            let mut sink = |item: Result<Counted, u64>| {
                seen.push(*item.as_ref().map_or_else(|at| at, |item| &item.value));
                if item?.value == 70 { Err(70_u64) } else { Ok(()) }
            };
            let result = pool.install(|| match sink_waits {
                false => stages.try_for_each(sink),
                true => stages.try_for_each_async(|item| {
                    let (value, done) = (item.as_ref().map_or(0, |item| item.value), sink(item));
                    Ways::Mixed(5).give(value, done)
                }),
            });
            assert_eq!(result, Err(70));
            assert!(seen.into_iter().eq(0..=70));
            assert_eq!(census.alive.load(Relaxed), 0);
        }
        assert_settled(&pool);
    }
}

#[test]
fn a_panic_ends_a_pipeline() {
    let begun = Instant::now();
    for pool in pools() {
        for place in ["stream", "stage", "future", "sink"] {
            let census = census();
            let mut seen = 0;
            let check = move |here: &str, x: u64| assert!(here != place || x != 40, "in the {place}");
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                pool.install(|| {
                    let items = numbers(u64::MAX, Ways::Mixed(7)).map(|x| {
                        check("stream", x);
                        census.make(x)
                    });
                    pipeline(items)
                        .stage(|item| {
                            check("stage", item.value);
                            item
                        })
                        .stage_async(|item| async move {
                            Ways::Mixed(1).wait(item.value).await;
                            check("future", item.value);
                            if item.value == 50 {
                                a_minute().await;
                            }
                            item
                        })
                        .for_each(|item| {
                            check("sink", item.value);
                            assert_eq!(item.value, seen);
                            seen += 1;
                        });
                });
            }));
            assert_eq!(*result.unwrap_err().downcast::<String>().unwrap(), format!("in the {place}"));
            assert!(seen <= 40);
            assert_eq!(census.alive.load(Relaxed), 0);
        }
        assert_settled(&pool);
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

#[test]
fn other_ends_of_pipelines() {
    for pool in pools() {
        let stages = || pipeline(numbers(300, Ways::Mixed(3))).stage_async(|x| Ways::Mixed(4).give(x, x));
        assert_eq!(pool.install(|| stages().max_in_flight(9).unordered().sum::<u64>()), 44_850);
        let arrived = future::block_on(collect(pool.install(|| stages().into_stream(3))));
        assert!(arrived.into_iter().eq(0..300));
        let begun = pool.install(|| stages().stage_async(|_| a_minute()).into_stream(3));
        drop(begun);
        assert_settles(&pool);
    }
}

/// Items wait at the same time, and stages run at the same time.
#[test]
fn a_pipeline_hides_latency_and_runs_in_parallel() {
    const BOUND: usize = 32;
    // Returns the greatest numbers of items that waited, and that were in the stage.
    let at_once = || {
        let (pool, waiting, busy) = (pool(3), Busy::default(), Busy::default());
        pool.install(|| {
            pipeline(numbers(90, Ways::Ready))
                .stage_async(|x| {
                    let waiting = &waiting;
                    async move {
                        waiting.begin();
                        after(100).await;
                        waiting.now.fetch_sub(1, Relaxed);
                        x
                    }
                })
                .stage(|x| {
                    busy.sleep(5);
                    x
                })
                .max_in_flight(BOUND)
                .for_each(drop);
        });
        (waiting.most.into_inner(), busy.most.into_inner())
    };
    // On a busy machine a worker may be without a core for the whole call.
    let is_parallel = || {
        let (waiting, busy) = at_once();
        assert!(waiting <= BOUND, "{waiting} in flight");
        waiting == BOUND && busy >= 3
    };
    assert!((0..20).any(|_| is_parallel()));
}
