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
            println!("  {:<28} {:>10} {:>10} {:>14}", "", "time", "cpu", "cpu/buffered");
            let server = Redis::new(in_flight);
            let pools = [1, self.threads].map(|threads| {
                let pool = furcate::ThreadPoolBuilder::new().num_threads(threads).build();
                pool.expect("threads can be started")
            });
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            let runtime =
                runtime.worker_threads(self.threads).enable_io().build().expect("threads can be started");
            let names = ["buffer_unordered", "furcate, 1 thread", "furcate", "tokio, a task per connection"];
            let mut costs = names.map(|_| Vec::<RedisCost>::new());
            for _ in 0..=self.rounds {
                costs[0].push(server.buffered(n, in_flight));
                costs[1].push(server.io_await(n, in_flight, &pools[0]));
                costs[2].push(server.io_await(n, in_flight, &pools[1]));
                costs[3].push(server.tokio_tasks(n, in_flight, &runtime));
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
                println!("  {name:<28} {time:>10.1} {cpu:>10.1} {:>14.2}", cpu / buffered);
            }
            if std::env::var_os("COUNTERS").is_some() {
                println!("{:#?}", pools[1].stats().total());
            }
        }
    }
}
