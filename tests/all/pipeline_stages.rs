//! Stages of pipelines that drop items, or fail, and pipelines that collect, or are awaited.
//!
//! Not on the engine of rayon, which cannot suspend.
#![cfg(not(furcate_rayon))]

use crate::support::streams::{ALL_WAYS, Counted, assert_comes_to, census, numbers, pools, sorted};
use crate::support::{Ways, a_minute, after, assert_settles};
use furcate::prelude::*;
use furcate::stream::{Numbered, Pipeline, pipeline};
use futures_lite::StreamExt;
use futures_lite::future::{self, block_on};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Even numbers below `n` and their halves: odd numbers are dropped by stages.
fn halves(n: u64, ways: Ways) -> Pipeline<impl ParallelIterator<Item = Numbered<(u64, u64)>> + 'static> {
    pipeline(numbers(n, ways))
        .filter(|x| x % 3 != 2)
        .stage_async(move |x| ways.give(x, x))
        .filter_map(|x| (x % 2 == 0).then_some((x, x / 2)))
}

fn expected(n: u64) -> Vec<(u64, u64)> {
    (0..n).filter(|x| x % 3 != 2 && x % 2 == 0).map(|x| (x, x / 2)).collect()
}

#[test]
fn dropped_items_do_not_arrive_and_hold_up_no_other_item() {
    for pool in pools() {
        for ways in ALL_WAYS {
            for (bound, n) in [(1, 20), (2, 30), (7, 60), (64, 60)] {
                let items = || halves(n, ways).max_in_flight(bound);
                let run = || {
                    let mut arrived = vec![];
                    items().for_each(|x| arrived.push(x));
                    assert_eq!(arrived, expected(n));
                    assert_eq!(items().collect::<Vec<_>>(), expected(n));
                    let mut unordered: Vec<_> = items().unordered().collect();
                    unordered.sort_unstable();
                    assert_eq!(unordered, expected(n));
                    items().into_stream(3)
                };
                let stream = pool.install(run);
                assert_eq!(block_on(stream.collect::<Vec<_>>()), expected(n));
            }
        }
        assert_settles(&pool);
    }
}

/// An error skips the stages behind it. The first error in order ends a collection, and items under way are dropped.
#[test]
fn stages_that_fail() {
    let begun = Instant::now();
    for pool in pools() {
        for bound in [1, 4, 30] {
            let census = census();
            let result: Result<Vec<u64>, String> = pool.install(|| {
                pipeline(numbers(u64::MAX, Ways::Mixed(2)).map_items(|x| census.make(x)))
                    .stage(|item| if item.value == 52 { Err(item.value) } else { Ok(item) })
                    .and_then(|item| if item.value == 50 { Err(item.value) } else { Ok(item) })
                    .and_then_async(|item: Counted| async move {
                        assert!(
                            item.value != 50 && item.value != 52,
                            "an error goes past the stages behind it"
                        );
                        if item.value > 60 {
                            a_minute().await;
                        }
                        Ways::Mixed(4).wait(item.value).await;
                        Ok(item)
                    })
                    .stage(|item| item.map(|item| item.value).map_err(|at| format!("at {at}")))
                    .max_in_flight(bound)
                    .collect()
            });
            assert_eq!(result, Err("at 50".to_string()));
            assert_eq!(census.alive(), 0);
        }
        let all = || pipeline(numbers(30, Ways::Yields)).stage(Ok::<u64, String>).and_then(|x| Ok(x + 1));
        let sum: Result<Vec<u64>, String> = pool.install(|| all().collect());
        assert!(sum.unwrap().into_iter().eq(1..=30));
        let mut seen = vec![];
        let done = pool.install(|| all().try_for_each(|x| x.map(|x| seen.push(x))));
        assert!(done.is_ok() && seen.into_iter().eq(1..=30));
        assert_settles(&pool);
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

/// `map` of a stream's items, under a name that parallel iterators do not have.
trait MapItems: furcate::stream::Stream + Sized {
    fn map_items<R, F: FnMut(Self::Item) -> R>(self, map: F) -> futures_lite::stream::Map<Self, F> {
        futures_lite::StreamExt::map(self, map)
    }
}
impl<S: furcate::stream::Stream> MapItems for S {}

#[test]
fn sinks_that_are_awaited() {
    for pool in pools() {
        for ways in ALL_WAYS {
            let items = || halves(60, ways).max_in_flight(7);
            let arrived = Arc::new(Mutex::new(vec![]));
            let sink = |arrived: &Arc<Mutex<Vec<_>>>| {
                let arrived = Arc::clone(arrived);
                move |x| arrived.lock().unwrap().push(x)
            };
            let taken = |arrived: &Mutex<Vec<_>>| std::mem::take(&mut *arrived.lock().unwrap());

            let push = sink(&arrived);
            let done = items().async_try_for_each(move |x| {
                push(x);
                if x.0 < 30 { Ok(()) } else { Err(x) }
            });
            assert_eq!(block_on(pool.spawn_future(done)), Err((30, 15)));
            assert!(taken(&arrived).into_iter().eq(expected(60).into_iter().filter(|x| x.0 <= 30)));

            let push = Arc::new(Mutex::new(sink(&arrived)));
            let done = items().async_try_for_each_async(move |x| {
                let push = Arc::clone(&push);
                async move {
                    ways.wait(x.0).await;
                    push.lock().unwrap()(x);
                    Ok::<(), ()>(())
                }
            });
            assert_eq!(block_on(pool.spawn_future(done)), Ok(()));
            assert_eq!(taken(&arrived), expected(60));

            assert_eq!(block_on(pool.spawn_future(items().async_collect::<Vec<_>>())), expected(60));
            let until = items().stage(|x| if x.0 < 30 { Ok(x) } else { Err(x.1) });
            let until = until.async_collect::<Result<Vec<_>, _>>();
            assert_eq!(block_on(pool.spawn_future(until)), Err(15));
        }
        assert_settles(&pool);
    }
}

/// An awaited pipeline holds no thread. If it is dropped, it ends, and no more items arrive.
#[test]
fn a_dropped_pipeline_ends() {
    for pool in pools() {
        let census = census();
        let stuck = |_| {
            let items = numbers(u64::MAX, Ways::Ready).map_items(|x| census.make(x));
            let stages = pipeline(items).stage_async(|item| async move {
                if item.value == 3 {
                    a_minute().await;
                }
                item
            });
            let pipeline = stages.max_in_flight(5).async_for_each(|item| assert!(item.value < 3));
            pool.spawn_future(pipeline)
        };
        let all: Vec<_> = (0..100).map(stuck).collect();
        // Three of each have arrived, and five are under way.
        assert_comes_to(|| census.alive(), 500);
        assert_eq!(pool.install(|| 7), 7);
        for pipeline in all {
            // The pipeline is polled once, and dropped.
            let pipeline = async {
                pipeline.await;
                true
            };
            let begins = async {
                after(0).await;
                false
            };
            let ended = block_on(future::or(pipeline, begins));
            assert!(!ended);
        }
        drop(pool);
        census.assert_all_gone();
    }
}

/// With `par_bridge_async` and in pipelines: items of tokio's channels, and the lines of readers.
#[test]
fn sources_that_are_no_streams() {
    use furcate::stream::{from_poll, lines};
    let (sender, mut receiver) = tokio::sync::mpsc::channel(4);
    let sends = std::thread::spawn(move || (0..200_u64).for_each(|x| sender.blocking_send(x).unwrap()));
    let received = from_poll(move |context| receiver.poll_recv(context)).par_bridge_async();
    assert!(sorted(received.collect()).into_iter().eq(0..200));
    sends.join().unwrap();

    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    (0..200_u64).for_each(|x| sender.send(x).unwrap());
    drop(sender);
    let received = pipeline(from_poll(move |context| receiver.poll_recv(context))).stage(|x| x + 1);
    assert!(received.collect::<Vec<_>>().into_iter().eq(1..=200));

    let text: String = (0..2000).map(|x| format!("{x}\r\n")).collect();
    let text: &'static [u8] = text.leak().as_bytes();
    let parsed = pipeline(lines(text)).and_then(|line| line.parse::<u64>().map_err(std::io::Error::other));
    let parsed: std::io::Result<Vec<u64>> = parsed.collect();
    assert!(parsed.unwrap().into_iter().eq(0..2000));
}

/// The lines from one of tokio's sockets, in a pool that has entered its runtime.
#[test]
fn the_lines_of_a_tokio_reader() {
    use furcate::stream::tokio_lines;
    use tokio::io::AsyncWriteExt;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let pool =
        furcate::ThreadPoolBuilder::new().num_threads(2).tokio(runtime.handle().clone()).build().unwrap();
    let socket = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let writes = async move {
            let (mut socket, _) = listener.accept().await.unwrap();
            for x in 0..1000 {
                socket.write_all(format!("{x}\n").as_bytes()).await.unwrap();
            }
        };
        drop(tokio::spawn(writes));
        tokio::net::TcpStream::connect(address).await.unwrap()
    });
    let lines = pool.install(|| pipeline(tokio_lines(socket)).collect::<Result<Vec<String>, _>>()).unwrap();
    assert!(lines.into_iter().eq((0..1000).map(|x| x.to_string())));
}
