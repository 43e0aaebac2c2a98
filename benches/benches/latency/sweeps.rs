//! Forks whose leaves wait.

use super::{Tables, millis, print_not_run};
use furcate_benches::latency::{
    AsyncExecutor, Blocking, Buffered, Cpu, Engine, Furcate, FurcateForked, Sweep, Tokio,
};
use furcate_benches::plot::{Plot, Scale};
use furcate_benches::{Contender, interleave, paper, quick};

impl Tables {
    pub(super) fn sweeps(&mut self) {
        let mut engines: Vec<Box<dyn Engine>> = vec![
            Box::new(Furcate::new(self.threads)),
            Box::new(FurcateForked::new(self.threads)),
            Box::new(Tokio::new(self.threads)),
            Box::new(AsyncExecutor::new(self.threads)),
            Box::new(Buffered::new(self.threads)),
        ];
        #[cfg(feature = "forte")]
        engines.push(Box::new(furcate_benches::latency::Forte::new(self.threads)));
        engines
            .extend([1, 8, 32].map(|times| Box::new(Blocking::new(self.threads, times)) as Box<dyn Engine>));
        for latency in [1, 10, 50, 150] {
            let time = millis(latency);
            let mut cpu = None;
            for probability in [0.0, 0.25, 0.5, 0.75, 1.0] {
                let title = format!(
                    "sweep: {probability} of the leaves wait for {latency} ms, the others compute as long"
                );
                if quick() && latency > 1 || !self.choice.has(&title) {
                    continue;
                }
                let cpu = *cpu.get_or_insert_with(|| Cpu::serial(time));
                let of = |n| Sweep { n, probability, latency: time, cpu };
                let good = millis(if quick() { 20 } else { 600 });
                let fits = |n: &u32| time * of(*n).leaves() as u32 <= good;
                // The paper has fib(14), with 610 leaves.
                let n = if paper() { 14 } else { (4..=14).rev().find(fits).unwrap_or(4) };
                let sweep = of(n);
                println!("\n{title}: {} of {}", sweep.waits(), sweep.leaves());
                println!("  {:<28} {:>10} {:>10}", "", "ms", "it/furcate");
                let (run, not_run) = self.choose(&engines, sweep.waits(), sweep.latency);
                let contender = |&i: &usize| -> Contender<'_, Option<u64>> {
                    let engine = &engines[i];
                    (engine.name().leak(), Box::new(move || engine.sweep(sweep)))
                };
                let mut contenders: Vec<_> = run.iter().map(contender).collect();
                let medians = interleave(&title, self.rounds, &mut contenders);
                let plot = self.plot(format!("sweep-{latency}-ms"), || {
                    let title =
                        format!("fib({n}), forked: some leaves wait for {latency} ms, the others compute");
                    Plot::new(title, ("share that waits", Scale::Linear), ("time, ms", Scale::Log))
                });
                for (&i, (_, median)) in run.iter().zip(&medians.rows) {
                    let name = if i == 0 { "furcate, io_await".into() } else { engines[i].name() };
                    plot.add(&name, probability, median.as_secs_f64() * 1e3);
                    println!(
                        "  {name:<28} {:>10.3} {:>10.2}",
                        median.as_secs_f64() * 1e3,
                        median.as_secs_f64() / medians.rows[0].1.as_secs_f64(),
                    );
                }
                print_not_run(&engines, &not_run);
            }
        }
    }
}
