//! Requests that are answered at once.

use super::Tables;
use furcate_benches::latency::{Redis, RedisCost};
use furcate_benches::quick;
use std::time::Duration;

impl Tables {
    /// Processor time of requests that wait for some 20 us.
    pub(super) fn redis(&mut self) {
        let n = if quick() { 1_000 } else { 50_000 };
        for in_flight in [1, 16, 64] {
            let title = format!("redis: {n} requests over loopback, {in_flight} in flight: us each");
            if !self.choice.has(&title) {
                continue;
            }
            println!("\n{title}");
            println!("  {:<32} {:>10} {:>10} {:>14}", "", "time", "cpu", "cpu/buffered");
            let server = Redis::new(in_flight);
            // While a pool drives the reactor, the reactor's own thread does less, for others too. So each run has a pool of its own.
            let pool = |threads, drives: bool| {
                let mut builder = furcate::ThreadPoolBuilder::new().num_threads(threads);
                if drives {
                    builder = builder.main_handler(|main| async_io::block_on(main));
                }
                builder.build().expect("threads can be started")
            };
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime =
                runtime.worker_threads(self.threads).enable_io().build().expect("threads can be started");
            let names = [
                "buffer_unordered",
                "furcate, 1 thread",
                "furcate",
                "furcate, main_handler, 1 thread",
                "furcate, main_handler",
                "tokio, a task per connection",
            ];
            let pools = [(1, false), (self.threads, false), (1, true), (self.threads, true)];
            let counters = std::env::var_os("COUNTERS").is_some();
            let mut costs = names.map(|_| Vec::<RedisCost>::new());
            for _ in 0..=self.rounds {
                costs[0].push(server.buffered(n, in_flight));
                for (costs, &(threads, drives)) in costs[1..].iter_mut().zip(&pools) {
                    let pool = pool(threads, drives);
                    costs.push(server.io_await(n, in_flight, &pool));
                    if counters {
                        println!("{threads} {drives}: {:#?}", pool.stats().total());
                    }
                }
                costs[1 + pools.len()].push(server.tokio_tasks(n, in_flight, &runtime));
            }
            let us = |time: Duration| time.as_nanos() as f64 / 1e3;
            let median = |costs: &[RedisCost], part: fn(&RedisCost) -> Duration| {
                // The first round warms up.
                let mut times: Vec<Duration> = costs[1..].iter().map(part).collect();
                times.sort();
                us(times[times.len() / 2])
            };
            let buffered = median(&costs[0], |cost| cost.cpu);
            for (name, costs) in names.iter().zip(&costs) {
                let (time, cpu) = (median(costs, |cost| cost.time), median(costs, |cost| cost.cpu));
                println!("  {name:<32} {time:>10.1} {cpu:>10.1} {:>14.2}", cpu / buffered);
            }
        }
    }
}
