//! The cost of futures that are woken by hand, and their delays from wake to poll.

use super::Tables;
use furcate_benches::latency::{AsyncExecutor, Buffered, Cpu, Engine, Furcate, Gates, Opened, Tokio};
use furcate_benches::plot::{Plot, Scale};
use furcate_benches::quick;
use std::time::Duration;

impl Tables {
    /// Measures the cost of gates, on one thread and on all.
    pub(super) fn costs(&mut self) {
        let sizes: &[usize] = if quick() { &[1_000] } else { &[100_000, 1_000_000] };
        for opened in [Opened::ByHand, Opened::ByThemselves] {
            for &n in sizes {
                let by = if opened == Opened::ByHand { "by hand" } else { "by themselves" };
                let title = format!("cost: {n} futures, woken {by}: ns each");
                if !self.choice.has(&title) {
                    continue;
                }
                println!("\n{title}");
                println!(
                    "  {:<28} {:>10} {:>10} {:>10} {:>10} {:>10}",
                    "", "suspended", "resumed", "together", "cpu", "cpu beyond"
                );
                let gates = Gates::leaked(n, opened, Cpu::Nothing);
                let mut engines: Vec<(usize, Box<dyn Engine>)> = vec![(1, Box::new(Buffered::new(1)))];
                for threads in [1, self.threads] {
                    engines.push((threads, Box::new(Furcate::new(threads))));
                    engines.push((threads, Box::new(AsyncExecutor::new(threads))));
                    engines.push((threads, Box::new(Tokio::new(threads))));
                }
                let costs = self.race_gates(gates, &engines);
                let each = |time: Duration| time.as_nanos() as f64 / n as f64;
                for (row, ((threads, engine), cost)) in engines.iter().zip(&costs).enumerate() {
                    let name = if row == 0 {
                        "bare FuturesUnordered".into()
                    } else {
                        format!("{}, {threads} thread(s)", engine.name())
                    };
                    println!(
                        "  {name:<28} {:>10.0} {:>10.0} {:>10.0} {:>10.0} {:>10.0}",
                        each(cost[0]),
                        each(cost[1]),
                        each(cost[0] + cost[1]),
                        each(cost[2]),
                        each(cost[2]) - each(costs[0][2]),
                    );
                }
            }
        }
    }

    /// Every engine's medians: until all are suspended, from then on, and the processors' time.
    fn race_gates(&self, gates: &'static Gates, engines: &[(usize, Box<dyn Engine>)]) -> Vec<[Duration; 3]> {
        let mut costs = vec![Vec::new(); engines.len()];
        for round in 0..=self.rounds {
            for (i, (_, engine)) in engines.iter().enumerate() {
                let cost = gates.run(&**engine).expect("it runs gates");
                if round > 0 {
                    costs[i].push([cost.suspended, cost.resumed, cost.cpu]);
                }
            }
        }
        let median = |costs: &Vec<[Duration; 3]>, part: usize| {
            let mut times: Vec<Duration> = costs.iter().map(|cost| cost[part]).collect();
            times.sort();
            times[times.len() / 2]
        };
        costs.iter().map(|costs| [0, 1, 2].map(|part| median(costs, part))).collect()
    }

    pub(super) fn wakes(&mut self) {
        let threads = self.threads;
        let pace = Duration::from_micros(200);
        for load in [0, 30] {
            let title = format!("wakes: one every {} us, {load} % load: us to its poll", pace.as_micros());
            if !self.choice.has(&title) {
                continue;
            }
            println!("\n{title}");
            println!("  {:<28} {:>10} {:>10} {:>10} {:>10}", "", "median", "p90", "p99", "longest");
            let cpu = if load == 0 { Cpu::Nothing } else { Cpu::serial(pace * threads as u32 * load / 100) };
            let gates = Gates::leaked(if quick() { 100 } else { 2_000 }, Opened::AtAPace(pace), cpu);
            let engines: [Box<dyn Engine>; 4] = [
                Box::new(Furcate::new(threads)),
                Box::new(Tokio::new(threads)),
                Box::new(AsyncExecutor::new(threads)),
                Box::new(Buffered::new(threads)),
            ];
            for (i, engine) in engines.iter().enumerate() {
                gates.run(&**engine).expect("it runs gates");
                let delays = [500, 900, 990, 1000].map(|part| gates.delay(part).as_nanos() as f64 / 1e3);
                let name = if i == 3 { "bare FuturesUnordered".into() } else { engine.name() };
                let plot = self.plot(format!("wakes-{load}"), || {
                    let title = format!("from wake to run, {load} % load");
                    let x = ["median", "90 %", "99 %", "longest"].map(String::from).into();
                    Plot::new(title, ("of all wakes", Scale::Places(x)), ("delay, us", Scale::Log))
                });
                delays.iter().enumerate().for_each(|(x, &delay)| plot.add(&name, x as f64, delay));
                let [median, p90, p99, longest] = delays;
                println!("  {name:<28} {median:>10.1} {p90:>10.1} {p99:>10.1} {longest:>10.1}");
            }
        }
    }
}
