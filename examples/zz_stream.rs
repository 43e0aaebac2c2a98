use furcate::prelude::*;
use furcate::stream::IntoStream;
use futures_lite::{StreamExt, future};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

async fn buffered<A: Future<Output = u64>>(futures: impl Iterator<Item = A>, capacity: usize) -> u64 {
    let (mut futures, mut begun, mut taken) = (futures, VecDeque::<(Pin<Box<A>>, Option<u64>)>::new(), 0u64);
    poll_fn(|context| {
        let mut all = true;
        loop {
            let mut news = false;
            while begun.len() < capacity {
                let Some(future) = futures.next() else { break };
                let mut f = Box::pin(future);
                let o = match f.as_mut().poll(context) {
                    Poll::Ready(x) => Some(x),
                    Poll::Pending => None,
                };
                begun.push_back((f, o));
                news = true;
            }
            if all {
                for (future, output) in begun.iter_mut().filter(|(_, output)| output.is_none()) {
                    if let Poll::Ready(ready) = future.as_mut().poll(context) {
                        *output = Some(ready);
                    }
                }
                all = false;
            }
            while let Some((_, Some(output))) = begun.front() {
                taken += *output;
                begun.pop_front();
                news = true;
            }
            if begun.is_empty() && !news {
                return Poll::Ready(());
            }
            if !news {
                return Poll::Pending;
            }
        }
    })
    .await;
    taken
}
fn sum(s: IntoStream<u64>) -> u64 {
    future::block_on(s.fold(0, |a, b| a + b))
}
fn time(name: &str, n: u64, f: impl Fn() -> u64) {
    f();
    let b = Instant::now();
    let r = f();
    println!("{name}: {:.3} us/item ({r})", b.elapsed().as_secs_f64() * 1e6 / n as f64);
}
fn main() {
    let n = 200_000u64;
    for cap in [64, 1024] {
        time(&format!("buffered ready {cap}"), n, || {
            future::block_on(buffered((0..n).map(|x| async move { x }), cap))
        });
        time(&format!("ordered ready {cap}"), n, || {
            sum((0..n).into_par_iter().map(|x| async move { x }).io_await().into_stream(cap))
        });
        time(&format!("ordered seq ready {cap}"), n, || {
            sum((0..n).into_par_iter().sequential().map(|x| async move { x }).io_await().into_stream(cap))
        });
        time(&format!("unordered ready {cap}"), n, || {
            sum((0..n).into_par_iter().map(|x| async move { x }).io_await().into_stream_unordered(cap))
        });
        time(&format!("ordered yield {cap}"), n, || {
            sum((0..n)
                .into_par_iter()
                .map(|x| async move {
                    future::yield_now().await;
                    x
                })
                .io_await()
                .into_stream(cap))
        });
        time(&format!("unordered yield {cap}"), n, || {
            sum((0..n)
                .into_par_iter()
                .map(|x| async move {
                    future::yield_now().await;
                    x
                })
                .io_await()
                .into_stream_unordered(cap))
        });
        time(&format!("no wait {cap}"), n, || sum((0..n).into_par_iter().into_stream(cap)));
    }
    for cap in [64] {
        let m = 2000;
        let wait = |x: u64| async move {
            async_io::Timer::after(Duration::from_millis(1 + x.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 40))
                .await;
            x
        };
        time(&format!("buffered waits {cap}"), m, || future::block_on(buffered((0..m).map(wait), cap)));
        time(&format!("ordered waits {cap}"), m, || {
            sum((0..m).into_par_iter().map(wait).io_await().into_stream(cap))
        });
        time(&format!("unordered waits {cap}"), m, || {
            sum((0..m).into_par_iter().map(wait).io_await().into_stream_unordered(cap))
        });
    }
}
